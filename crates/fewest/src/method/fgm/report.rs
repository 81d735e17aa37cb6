//! What `fgm` returns: of one problem in the paper's scale, of several with margins of 1.

use serde::Serialize;

use super::mixture_oracle::MarginOne;
use super::part::joint;
use super::{Improve, paper_value};
use crate::dual::DualSolution;
use crate::method::Report;
use crate::model::{Machine, Model};
use crate::{Kernel, Ranked, RowMatrix, Selection};

/// A feature kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectedFeature {
    /// Index, from 0.
    pub feature: usize,
    /// z_j = sum_t mu_t d_tj, in (0, 1]; 1 where a subset is kept.
    pub share: f64,
    /// w_j of the decision function (sec. 2.5); of several problems the length of their w_j.
    pub weight: f64,
}

/// What improved the subset kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Improved {
    /// Never [`Improve::Auto`].
    pub by: Improve,
    /// Samples of the smaller class; of several problems the smallest of all.
    pub smaller: usize,
    /// Features asked for.
    pub size: usize,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    /// Value of the best mixture so far: Theorem 1's beta_k, negated.
    pub upper: f64,
    /// Bound proven so far: Theorem 1's phi_k, negated.
    pub lower: f64,
    /// Subsets generated so far.
    pub subsets: usize,
    /// Columns gathered so far.
    pub columns: usize,
    /// Features of positive weight.
    pub kept: usize,
    /// Seconds of multiple kernel learning, its trainings and the subsets it reused columns for.
    pub mkl_seconds: f64,
    /// Seconds of the pass over all features and the selection of the most violated subset.
    pub separation_seconds: f64,
}

/// Result of [`super::fgm()`].
#[derive(Debug, Clone)]
pub struct FgmReport {
    /// The features kept, value, bound, status. The objective is that of the SVM on the subset, or
    /// the mixture's value where the mixture is kept; status `optimal` says that the features are
    /// an allowed subset of at most B features and that the gap is closed, `completed` that the
    /// relaxation is solved within the gap. The ranking lists the features kept, by falling |w_j|;
    /// its criterion is z_j.
    pub selection: Selection,
    /// The features kept, ascending.
    pub kept: Vec<SelectedFeature>,
    /// The machine behind w and b, in the paper's scale: |beta_i| sum to 1. Its objectives are
    /// those of its own SVM, on the columns `sqrt(z_j) x_j`.
    pub solution: DualSolution,
    /// Every round, in order.
    pub rounds: Vec<Round>,
    /// What improved the subset, where a size is the only rule.
    pub improved: Option<Improved>,
}

impl FgmReport {
    /// The classifier `f(x) = sum_j w_j x_j + b` of section 2.5 on the features kept.
    pub fn model(&self) -> Model {
        let features = self.kept.iter().map(|k| k.feature).collect();
        linear_model(features, 2, vec![machine_of(0, 1, self.solution.clone())])
    }
}

impl From<FgmReport> for Report {
    fn from(report: FgmReport) -> Self {
        let model = report.model();
        report_of(report.selection, &report.kept, report.rounds, report.improved).with_model(Some(model))
    }
}

pub(super) fn report_of(
    selection: Selection,
    kept: &[SelectedFeature],
    rounds: Vec<Round>,
    improved: Option<Improved>,
) -> Report {
    let shares: Vec<f64> = kept.iter().map(|k| k.share).collect();
    let report = Report::new(selection, Kernel::Linear).detail("shares", shares).detail("rounds", rounds);
    report.detail("improved", improved)
}

/// Result of [`super::fgm_several`].
#[derive(Debug, Clone)]
pub struct FgmSeveralReport {
    /// As in [`FgmReport`]; the value is -1 / (4 V), V the sum of the values of the machines.
    pub selection: Selection,
    /// The features kept, ascending.
    pub kept: Vec<SelectedFeature>,
    /// The machine of each problem with margins of 1, in their order: w and b, and its own values,
    /// on the columns `sqrt(z_j) x_j`.
    pub machines: Vec<DualSolution>,
    /// Every round, in order.
    pub rounds: Vec<Round>,
    /// What improved the subset, where a size is the only rule.
    pub improved: Option<Improved>,
}

/// A machine of a linear model.
pub(super) fn machine_of(negative: u32, positive: u32, solution: DualSolution) -> Machine {
    let (weights, bias) = (solution.weights.clone(), solution.bias);
    Machine { negative, positive, weights, coefficients: Vec::new(), bias, solution }
}

/// A linear model on features, ascending.
pub(super) fn linear_model(features: Vec<usize>, n_classes: u32, machines: Vec<Machine>) -> Model {
    let support_vectors = RowMatrix::dense(0, features.len(), Vec::new());
    Model { features, kernel: Kernel::Linear, categorical: Vec::new(), n_classes, machines, support_vectors }
}

/// What was found.
pub(super) struct Generated {
    pub(super) selection: Selection,
    pub(super) kept: MarginOne,
    pub(super) rounds: Vec<Round>,
    pub(super) improved: Option<Improved>,
}

impl Generated {
    /// For one problem, its machine in the paper's scale.
    pub(super) fn of_one(mut self) -> FgmReport {
        let solution = paper_solution(self.kept.machines.remove(0));
        let kept = selected(&self.kept.shares, &solution.weights);
        FgmReport { selection: self.selection, kept, solution, rounds: self.rounds, improved: self.improved }
    }

    pub(super) fn of_several(self) -> FgmSeveralReport {
        let MarginOne { shares, machines, .. } = self.kept;
        let kept = selected(&shares, &lengths(&machines, shares.len()));
        FgmSeveralReport { selection: self.selection, kept, machines, rounds: self.rounds, improved: self.improved }
    }
}

/// A solution with margins of 1 in the paper's scale: alpha sums to 1.
fn paper_solution(solution: DualSolution) -> DualSolution {
    let scale = 1.0 / solution.beta.iter().map(|b| b.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
    let scaled = |x: Vec<f64>| x.into_iter().map(|x| scale * x).collect();
    DualSolution {
        beta: scaled(solution.beta),
        bias: scale * solution.bias,
        weights: scaled(solution.weights),
        primal: paper_value(solution.primal),
        dual: paper_value(solution.dual),
        absolute_gap: f64::INFINITY,
        ..solution
    }
}

/// The weights of one machine, or the lengths of those of several, length `features`.
pub(super) fn lengths(machines: &[DualSolution], features: usize) -> Vec<f64> {
    let weights: Vec<f64> = machines.iter().flat_map(|machine| &machine.weights).copied().collect();
    joint(&weights, features)
}

fn selected(shares: &[(usize, f64)], weights: &[f64]) -> Vec<SelectedFeature> {
    let each = shares.iter().zip(weights);
    each.map(|(&(feature, share), &weight)| SelectedFeature { feature, share, weight }).collect()
}

/// Best first: by falling |w_j|, ties to the smaller index.
pub(super) fn ranking(kept: &MarginOne) -> Vec<Ranked> {
    let kept = selected(&kept.shares, &lengths(&kept.machines, kept.shares.len()));
    let mut order: Vec<&SelectedFeature> = kept.iter().collect();
    order.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(a.feature.cmp(&b.feature)));
    let ranked = |(at, k): (usize, &&SelectedFeature)| Ranked {
        feature: k.feature,
        rank: at + 1,
        step: None,
        criterion: k.share,
    };
    order.iter().enumerate().map(ranked).collect()
}
