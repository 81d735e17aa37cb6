//! What a study would take without reading its data, and how far a candidate is from that.
//!
//! On few samples the best of a thousand candidates is the luckiest: its score is too good by about
//! as much as candidates differ. So a candidate has to make up for its distance from one that is
//! good on most data: a linear SVM at `C = 0.01 / s`, its classifier at `0.1 / s`, s being the mean
//! square of a feature (1 for standardised ones). `bench/results/study_rules.md` has the measurement.

use super::grid::{FIT, Grid, Key, relative_costs};
use super::settings::StudySettings;

/// Cost of the selection, times the mean square of a feature.
const SELECTION: f64 = 0.01;
/// Cost of the classifier, times the mean square of a feature.
const CLASSIFIER: f64 = 0.1;
/// Distance of a method without a linear SVM, in steps.
const OTHER: f64 = 1.0;
/// What a score loses for each step of the grid between a candidate and the prior.
pub(crate) const WEIGHT: f64 = 0.01;

/// Distances on the grid of a part.
pub(crate) struct Prior<'a> {
    grid: &'a Grid,
    /// Logarithms of the costs of the selection, times the mean square of a feature.
    costs: Vec<f64>,
}

impl<'a> Prior<'a> {
    /// For these numbers of samples and of features that can be chosen.
    pub(crate) fn new(grid: &'a Grid, settings: &StudySettings, samples: usize, usable: usize) -> Self {
        let costs = relative_costs(samples, settings).into_iter();
        Self { grid, costs: costs.map(|cost| (cost / usable.max(1) as f64).ln()).collect() }
    }

    /// Steps of the grid between a candidate and the prior: those of the cost of the selection and
    /// those of the classifier's.
    pub(crate) fn steps(&self, key: Key) -> f64 {
        let method = self.grid.methods[key.method];
        let step = match self.costs[..] {
            [first, second, ..] => second - first,
            _ => 1.0,
        };
        let selection = if method.has_cost() { (self.costs[key.cost] - SELECTION.ln()).abs() / step } else { OTHER };
        let fit = (FIT[1] / FIT[0]).ln();
        let classifier = if method.has_kernel() {
            key.fit.abs_diff(FIT.len() / 2) as f64
        } else {
            ((FIT[key.fit] / self.grid.sizes[key.size] as f64).ln() - CLASSIFIER.ln()).abs() / fit
        };
        selection + classifier
    }
}
