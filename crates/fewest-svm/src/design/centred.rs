//! Sparse data with a constant taken off each feature, without its zeros being filled in.
//!
//! With centre m_j and scale s_j the value of a sample is `(x_ij - m_j) / s_j`, of a zero
//! `-m_j / s_j`. Products need what is stored alone:
//!
//! ```text
//! x_j . v   = (sum over stored x_ij v_i - m_j sum_i v_i) / s_j
//! |x_j|^2   = sum over stored ((x_ij - m_j) / s_j)^2 + zeros (m_j / s_j)^2
//! ```

use std::sync::Arc;

use rayon::prelude::*;

use super::{Design, RowMatrix};
use crate::{FeatureSet, simd};

/// Samples that one sum of `v` is taken over.
const BLOCK: usize = 1024;

/// Sparse features, and the centre and the scale of each.
#[derive(Clone)]
pub struct Centred {
    /// As they were read.
    sparse: Arc<dyn Design>,
    /// Bytes that they take.
    bytes: u64,
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// Squared length of each feature.
    squares: Vec<f64>,
    /// The largest absolute value.
    largest: f64,
    /// Features of which the two sums above may cancel: their values are made one by one.
    one_by_one: FeatureSet,
}

/// What is known of a feature.
struct Column {
    square: f64,
    largest: f64,
    cancels: bool,
}

/// `(x - centre) / scale`, for values as large as doubles are.
#[inline]
pub fn scaled(x: f64, centre: f64, scale: f64) -> f64 {
    // Of values near the largest double a difference may be beyond it. Powers of two are exact.
    let unit = if scale > 1e300 { 0.25 } else { 1.0 };
    (x * unit - centre * unit) / (scale * unit)
}

impl Centred {
    /// Sparse features and the bytes that they take, and the centre and the scale of each: length p,
    /// scales above 0.
    pub fn new(sparse: Arc<dyn Design>, bytes: u64, centre: Vec<f64>, scale: Vec<f64>) -> Self {
        let n = sparse.n_samples() as f64;
        let of = |(&centre, (j, &scale)): (&f64, (usize, &f64))| {
            let (mut stored, mut raw, mut square, mut largest) = (0.0, 0.0, 0.0, 0.0f64);
            sparse.each_in_column(j, &mut |_, x| {
                let value = scaled(x, centre, scale);
                stored += 1.0;
                raw += (x / scale) * (x / scale);
                square += value * value;
                largest = largest.max(value.abs());
            });
            let zero = scaled(0.0, centre, scale);
            if stored < n {
                square += (n - stored) * zero * zero;
                largest = largest.max(zero.abs());
            }
            // Bounds allow for a product that is wrong by n eps |x_j| |v|: here it is by that much or
            // less, where the sum of v is made of blocks.
            let wrong = stored * raw.sqrt() + 0.25 * n * zero.abs() * n.sqrt();
            Column { square, largest, cancels: wrong > n * square.sqrt() }
        };
        let columns: Vec<Column> = centre.par_iter().zip(scale.par_iter().enumerate()).map(of).collect();
        Self {
            squares: columns.iter().map(|column| column.square).collect(),
            largest: columns.iter().fold(0.0, |most, column| most.max(column.largest)),
            one_by_one: FeatureSet::of(columns.len(), |j| columns[j].cancels),
            sparse,
            bytes,
            centre,
            scale,
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.bytes + 24 * self.squares.len() as u64
    }

    /// The samples given, ascending.
    #[must_use]
    pub fn of_rows(&self, samples: &[usize]) -> Self {
        let some: Arc<dyn Design> = self.sparse.select_samples(samples).into();
        let bytes = 12 * some.stored() as u64 + 8 * self.squares.len() as u64;
        Self::new(some, bytes, self.centre.clone(), self.scale.clone())
    }

    fn value_of(&self, j: usize, x: f64) -> f64 {
        scaled(x, self.centre[j], self.scale[j])
    }

    /// `x_j . v` from the sum of what is stored and the sum of v.
    fn product(&self, j: usize, v: &[f64], of_stored: f64, of_all: f64) -> f64 {
        if self.one_by_one.contains(j) {
            let mut sum = 0.0;
            self.each_in_column(j, &mut |i, x| sum += x * v[i]);
            return sum;
        }
        (of_stored - self.centre[j] * of_all) / self.scale[j]
    }
}

/// The sum of v.
fn sum(v: &[f64]) -> f64 {
    let ones = [1.0; BLOCK];
    v.chunks(BLOCK).map(|block| simd::dot(block, &ones[..block.len()])).sum()
}

impl Design for Centred {
    fn n_samples(&self) -> usize {
        self.sparse.n_samples()
    }
    fn n_features(&self) -> usize {
        self.squares.len()
    }
    fn stored(&self) -> usize {
        self.n_samples() * self.n_features()
    }
    fn is_sparse(&self) -> bool {
        false
    }
    fn largest_value(&self) -> Option<f64> {
        Some(self.largest)
    }
    fn squared_norm(&self, j: usize) -> f64 {
        self.squares[j]
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        self.product(j, v, self.sparse.dot_column(j, v), sum(v))
    }
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        self.sparse.dot_columns(first, v, out);
        let all = sum(v);
        out.iter_mut().enumerate().for_each(|(k, out)| *out = self.product(first + k, v, *out, all));
    }
    fn dot_chosen(&self, features: &[usize], v: &[f64], out: &mut [f64]) {
        self.sparse.dot_chosen(features, v, out);
        let all = sum(v);
        out.iter_mut().zip(features).for_each(|(out, &j)| *out = self.product(j, v, *out, all));
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        self.each_in_column(j, &mut |i, x| out[i] += s * x);
    }
    /// All n values, in order.
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        let (zero, mut next) = (self.value_of(j, 0.0), 0);
        self.sparse.each_in_column(j, &mut |i, x| {
            (next..i).for_each(|i| f(i, zero));
            f(i, self.value_of(j, x));
            next = i + 1;
        });
        (next..self.n_samples()).for_each(|i| f(i, zero));
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let (n, k) = (self.n_samples(), features.len());
        let mut values = vec![0.0; n * k];
        for (at, &j) in features.iter().enumerate() {
            self.each_in_column(j, &mut |i, x| values[i * k + at] = x);
        }
        RowMatrix::dense(n, k, values)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        Box::new(self.of_rows(samples))
    }
}

impl std::fmt::Debug for Centred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Centred").field("centre", &self.centre).field("scale", &self.scale).finish_non_exhaustive()
    }
}
