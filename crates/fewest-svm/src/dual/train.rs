//! One two-class training: picks the engine by the shape of the data.
//!
//! | kernel | data | engine |
//! | --- | --- | --- |
//! | linear | n at most [`WHOLE_GRAM`] and 2 p, above n^2 values | SMO on the n x n Gram matrix |
//! | linear | otherwise | rows: coordinate descent, then a second method ([`super::linear`]) |
//! | other | n at most [`WHOLE_GRAM`] | SMO on the whole kernel matrix |
//! | other | larger | SMO on cached kernel rows |
//!
//! SMO on a whole matrix has its active-set finish. The second method on rows is Newton's, or SMO
//! on the Gram matrix.

use super::active_set::ActiveSet;
use super::linear::MakeGram;
use super::{BoxDual, DualSolution, SvmSettings, smo};
use crate::kernel::Distances;
use crate::kernel::distance::ByFeature;
use crate::kernel::gram::GramMatrix;
use crate::kernel::rows::CachedRows;
use crate::problem::Labelled;
use crate::{Clock, Design, Error, Kernel, RowMatrix, Status};

/// Most samples whose Gram matrix is computed whole in f64 (50 MB).
pub const WHOLE_GRAM: usize = 2500;

/// Most samples whose Gram matrix is worth having when coordinate descent did not get there (200
/// MB).
const LARGEST_GRAM: usize = 5000;

/// Whether the n x n Gram matrix of p features is worth having: no larger than the data, few
/// samples, and it fits.
pub fn affords_gram(n: usize, p: usize, settings: &SvmSettings) -> bool {
    n <= WHOLE_GRAM && n <= 2 * p && GramMatrix::bytes(n) <= settings.memory
}

/// Trains on the given features (columns of `design`). `y` holds -1 or +1 and `weights` the cost
/// multipliers, length n each. Weights w of a linear machine come back in the order of `features`.
///
/// # Errors
/// Settings out of range; a precomputed kernel that is not a symmetric n x n matrix.
pub fn train(
    design: &dyn Design,
    features: &[usize],
    y: &[f64],
    weights: &[f64],
    kernel: Kernel,
    settings: &SvmSettings,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    train_categorical(design, features, Labelled { labels: y, weights }, kernel, &[], settings, clock)
}

/// [`train`], where some features hold categories: the kernel is then one of distances.
pub(crate) fn train_categorical(
    design: &dyn Design,
    features: &[usize],
    of_samples: Labelled<'_>,
    kernel: Kernel,
    categorical: &[usize],
    settings: &SvmSettings,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    settings.check()?;
    kernel.check()?;
    let n = design.n_samples();
    let dual = BoxDual::new(of_samples.labels, of_samples.weights, settings);
    let whole = n <= WHOLE_GRAM && GramMatrix::bytes(n) <= settings.memory;
    Ok(match kernel {
        Kernel::Linear => train_linear(design, features, &dual, None, settings, clock),
        Kernel::Precomputed => {
            if design.n_features() != n {
                let found = design.n_features();
                return Err(Error::Data(format!(
                    "a precomputed kernel of {n} samples needs {n} columns, but has {found}"
                )));
            }
            let mut values = vec![0.0; n * n];
            for j in 0..n {
                design.add_column(j, 1.0, &mut values[j * n..(j + 1) * n]);
            }
            smo::solve(&mut &GramMatrix::new(n, values)?, &dual, None, &mut ActiveSet::default(), settings, clock)
        }
        _ if whole => match whole_gram(design, features, kernel, categorical, clock) {
            Err(status) => DualSolution::zero(&dual, 0, status),
            Ok(gram) => smo::solve(&mut &gram, &dual, None, &mut ActiveSet::default(), settings, clock),
        },
        _ => {
            let rows = design.rows(features);
            let memory = settings.memory.saturating_sub(RowMatrix::bytes(design, features.len()));
            smo::solve(
                &mut CachedRows::categorical(&rows, kernel, ByFeature::new(kernel, features, categorical), memory),
                &dual,
                None,
                &mut ActiveSet::default(),
                settings,
                clock,
            )
        }
    })
}

/// The kernel matrix of some features.
fn whole_gram(
    design: &dyn Design,
    features: &[usize],
    kernel: Kernel,
    categorical: &[usize],
    clock: &Clock,
) -> Result<GramMatrix, Status> {
    let distances = Distances::new(&kernel, categorical);
    if kernel.distance().is_none() || distances.are_squared() {
        return Ok(GramMatrix::linear_until(design, features, clock)?.of_kernel(&kernel));
    }
    Ok(distances.matrix(design, features, clock)?.applied(&kernel))
}

/// The linear machine of [`train`] from `start` (length n; zeros when absent), which may be the
/// solution on other features.
pub fn train_linear(
    design: &dyn Design,
    features: &[usize],
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    let n = design.n_samples();
    if design.stored() > n * n && affords_gram(n, features.len(), settings) {
        let gram = match GramMatrix::linear_until(design, features, clock) {
            Ok(gram) => gram,
            Err(status) => return DualSolution::zero(dual, features.len(), status),
        };
        let mut solution = smo::solve(&mut &gram, dual, start, &mut ActiveSet::default(), settings, clock);
        solution.weights = features.iter().map(|&j| design.dot_column(j, &solution.beta)).collect();
        return solution;
    }
    let affordable = n <= LARGEST_GRAM && n <= 2 * features.len() && GramMatrix::bytes(n) <= settings.memory;
    let gram = |clock: &Clock| GramMatrix::linear_until(design, features, clock);
    let gram: Option<&MakeGram<'_>> = if affordable { Some(&gram) } else { None };
    super::linear::solve_linear(&design.rows(features), dual, start, gram, settings, clock)
}

/// [`train_linear`] on all columns of these rows, from a start that may be near the solution.
pub fn train_rows(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: &[f64],
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    if rows.n_samples() <= LARGEST_GRAM {
        // A Gram matrix is made of columns.
        let all: Vec<usize> = (0..rows.n_features()).collect();
        return train_linear(&*rows.design(), &all, dual, Some(start), settings, clock);
    }
    super::linear::refine(rows, dual, start, settings, clock)
}
