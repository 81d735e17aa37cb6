//! How far two samples are apart, feature by feature: what kernels that are products over features
//! are made of.
//!
//! ```text
//! k(x, x') = exp(-gamma sum_j d_j(x_j, x'_j))
//! d_j = (x - x')^2             RBF
//!       |x - x'|               Laplace
//!       0 if x = x', else 1    a feature that holds categories, whatever the kernel
//! ```
//!
//! Each factor is a positive semi-definite kernel with values in (0, 1], and so is their product.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Kernel;
use super::gram::GramMatrix;
use crate::design::Row;
use crate::{Clock, Design, RowMatrix, Status, simd};

/// Rows of a matrix of distances that one thread computes between two checks of the clock.
const CHECK_EVERY: usize = 64;

/// d of one feature; 0 or more, and 0 between equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// `(x - x')^2`
    Squared,
    /// `|x - x'|`
    Absolute,
    /// 0 if `x = x'`, else 1
    Unequal,
}

impl Distance {
    /// d(a, b).
    #[inline]
    pub fn between(self, a: f64, b: f64) -> f64 {
        match self {
            Distance::Squared => (a - b) * (a - b),
            Distance::Absolute => (a - b).abs(),
            Distance::Unequal => f64::from(u8::from(a != b)),
        }
    }

    /// out += s d(a, x), x and out of one length.
    pub fn add(self, s: f64, a: f64, x: &[f64], out: &mut [f64]) {
        match self {
            Distance::Squared => simd::add_squared_differences(s, a, x, out),
            Distance::Absolute => simd::add_absolute_differences(s, a, x, out),
            Distance::Unequal => simd::add_inequalities(s, a, x, out),
        }
    }
}

/// The distance of each feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distances {
    /// The distance of features that hold numbers.
    numbers: Distance,
    /// Features that hold categories, ascending.
    categorical: Vec<usize>,
}

impl Distances {
    /// The distances of a kernel, squared differences where it has none of its own; the features of
    /// `categorical`, in any order, hold categories.
    pub fn new(kernel: &Kernel, categorical: &[usize]) -> Self {
        let mut categorical = categorical.to_vec();
        categorical.sort_unstable();
        categorical.dedup();
        Self { numbers: kernel.distance().unwrap_or(Distance::Squared), categorical }
    }

    /// Squared differences of all features.
    pub fn squared() -> Self {
        Self { numbers: Distance::Squared, categorical: Vec::new() }
    }

    /// The distance of features that hold numbers.
    pub fn of_numbers(&self) -> Distance {
        self.numbers
    }

    /// Whether feature j holds categories.
    pub fn is_categorical(&self, j: usize) -> bool {
        self.categorical.binary_search(&j).is_ok()
    }

    /// The distance of feature j.
    pub fn of(&self, j: usize) -> Distance {
        if self.is_categorical(j) { Distance::Unequal } else { self.numbers }
    }

    /// Whether all are squared, so that inner products give them.
    pub(crate) fn are_squared(&self) -> bool {
        self.numbers == Distance::Squared && self.categorical.is_empty()
    }

    /// `sum_j d_j(x_ij, x_kj)` over the given features for all samples i and k. Cost n^2 for each
    /// feature.
    ///
    /// # Errors
    /// The limit that `clock` names before it is done.
    pub fn matrix(&self, design: &dyn Design, features: &[usize], clock: &Clock) -> Result<GramMatrix, Status> {
        let n = design.n_samples();
        let columns: Vec<(Distance, Vec<f64>)> = features.iter().map(|&j| (self.of(j), column(design, j))).collect();
        let mut values = vec![0.0; n * n];
        let rows = CHECK_EVERY * rayon::current_num_threads();
        for (block, values) in values.chunks_mut((n * rows).max(1)).enumerate() {
            if block > 0
                && let Some(status) = clock.stop()
            {
                return Err(status);
            }
            values.par_chunks_mut(n).enumerate().for_each(|(at, out)| {
                for (distance, x) in &columns {
                    distance.add(1.0, x[block * rows + at], x, out);
                }
            });
        }
        Ok(GramMatrix::from_values(n, values))
    }
}

fn column(design: &dyn Design, j: usize) -> Vec<f64> {
    let mut out = vec![0.0; design.n_samples()];
    design.add_column(j, 1.0, &mut out);
    out
}

/// A kernel of distances that inner products do not give, on the columns of a [`RowMatrix`].
#[derive(Debug, Clone)]
pub struct ByFeature {
    kernel: Kernel,
    /// The distance of each column.
    distances: Vec<Distance>,
}

impl ByFeature {
    /// The distances of a kernel on `features`, one for each column; none where inner products are
    /// enough.
    pub fn new(kernel: Kernel, features: &[usize], categorical: &[usize]) -> Option<Self> {
        kernel.distance()?;
        let all = Distances::new(&kernel, categorical);
        let distances: Vec<Distance> = features.iter().map(|&j| all.of(j)).collect();
        distances.iter().any(|d| *d != Distance::Squared).then_some(Self { kernel, distances })
    }

    /// Kernel values between x (one value for each column) and these rows.
    pub fn values(&self, x: &[f64], rows: &RowMatrix, list: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut filled = vec![0.0; x.len()];
        let sum = |y: &[f64]| x.iter().zip(y).zip(&self.distances).map(|((a, b), d)| d.between(*a, *b)).sum();
        let mut values: Vec<f64> = list
            .map(|i| match rows.row(i) {
                Row::Dense(y) => sum(y),
                row @ Row::Sparse(..) => {
                    filled.fill(0.0);
                    row.add_to(1.0, &mut filled);
                    sum(&filled)
                }
            })
            .collect();
        self.kernel.apply(&mut values);
        values
    }
}

/// A kernel of distances by name, as methods that need one take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DistanceKernel {
    /// [`Kernel::Rbf`]
    #[default]
    Rbf,
    /// [`Kernel::Laplace`]
    Laplace,
}

impl DistanceKernel {
    /// The kernel.
    pub fn with_gamma(self, gamma: f64) -> Kernel {
        match self {
            DistanceKernel::Rbf => Kernel::Rbf { gamma },
            DistanceKernel::Laplace => Kernel::Laplace { gamma },
        }
    }
}
