//! The grid of a study: methods, sizes, costs of the selection and of the classifier, and the order
//! in which it is tried.

use fewest::Kernel;
use serde::{Deserialize, Serialize};

use super::part::PartSize;
use super::settings::{StudyMethod, StudySettings};

/// A candidate by its place on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Position of the size.
    pub size: usize,
    /// Position of the cost of the selection; 0 for a method without one.
    pub cost: usize,
    /// Position of the cost of the classifier.
    pub fit: usize,
    /// Position of the method.
    pub method: usize,
}

/// A question to a method on the samples of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// The linear methods at the cost of this position, every size.
    Cost(usize),
    /// The method of this position, which has no cost, every size.
    Method(usize),
}

/// The grid of costs, over `1 / mean |x|^2`: from the larger of this and 1 / n ...
const LOWEST: f64 = 1e-4;
/// ... to this. Below 1 / n no sample reaches the margin, and the subset stays the same.
const HIGHEST: f64 = 1e2;
/// Costs of the classifier, over 1 / mean |x|^2 of the chosen features alone.
pub(crate) const FIT: [f64; 7] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// What multiplies them for the Gaussian kernel.
const FIT_KERNEL: f64 = 10.0;
/// Places in [`FIT`] of the costs that are tried in short.
pub(crate) const FEW: [usize; 3] = [1, 3, 5];

/// What is tried, for all parts of a study.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) methods: Vec<StudyMethod>,
    pub(crate) sizes: Vec<usize>,
    /// Whether methods with a kernel are tried at few sizes and costs, and select by a part of the
    /// samples.
    pub(crate) in_short: bool,
    /// Methods that were not asked for and do not suit the data or the rules.
    pub(crate) left_out: Vec<StudyMethod>,
}

/// Costs of the selections in a part, ascending.
pub(crate) fn costs(part: PartSize, settings: &StudySettings) -> Vec<f64> {
    let centre = if part.mean_square > 0.0 { 1.0 / part.mean_square } else { 1.0 };
    relative_costs(part.samples, settings).into_iter().map(|cost| centre * cost).collect()
}

/// Costs of the selections among `n` samples, times mean |x|^2, ascending.
pub(crate) fn relative_costs(samples: usize, settings: &StudySettings) -> Vec<f64> {
    let (n, points) = (samples.max(1) as f64, settings.cost_points);
    let (low, high) = (LOWEST.max(1.0 / n).ln(), HIGHEST.ln());
    let at = |i: usize| if points == 1 { 0.5 } else { i as f64 / (points - 1) as f64 };
    (0..points).map(|i| (low + at(i) * (high - low)).exp()).collect()
}

/// The middle of the costs of a classifier.
pub(crate) fn fit_middle() -> usize {
    FIT.len() / 2
}

/// Cost number `fit` of a classifier on k features.
pub(crate) fn fit_cost(part: PartSize, kernel: Kernel, k: usize, fit: usize) -> f64 {
    if kernel != Kernel::Linear {
        return FIT_KERNEL * FIT[fit];
    }
    let each = part.mean_square / part.usable.max(1) as f64;
    FIT[fit] / (if each > 0.0 { each } else { 1.0 } * k as f64)
}

/// The jobs of a grid, coarse first: methods without a cost and the middle of the costs, then
/// costs half way to the ends, then all others.
pub(crate) fn levels(grid: &Grid, settings: &StudySettings) -> Vec<Vec<Job>> {
    let without = (0..grid.methods.len()).filter(|&at| !grid.methods[at].has_cost()).map(Job::Method);
    let mut levels: Vec<Vec<Job>> = vec![without.collect()];
    if grid.methods.iter().any(|method| method.has_cost()) {
        let points = settings.cost_points;
        let middle = points / 2;
        let between = [middle / 2, usize::midpoint(middle, points)];
        let level = |at: usize| usize::from(at != middle) + usize::from(at != middle && !between.contains(&at));
        for wanted in 0..3 {
            let jobs: Vec<Job> = (0..points).filter(|&at| level(at) == wanted).map(Job::Cost).collect();
            if wanted == 0 { levels[0].extend(jobs) } else { levels.push(jobs) }
        }
    }
    levels.retain(|jobs| !jobs.is_empty());
    levels
}
