//! The problems that share one subset. Their samples stand one after the other, so that beta and
//! margins of all are one vector each.

use std::ops::Range;

use crate::dual::BoxDual;
use crate::{Design, Problem, SvmSettings};

/// One problem.
pub(super) struct StackedProblem<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) dual: BoxDual,
    /// The problem's samples among those of all problems.
    pub(super) samples: Range<usize>,
}

impl<'a> StackedProblem<'a> {
    /// All problems, one after the other.
    pub(super) fn all(problems: &'a [Problem<'a>], svm: &SvmSettings) -> Vec<Self> {
        let mut first = 0;
        let part = |problem: &'a Problem<'a>| {
            let dual = BoxDual::new(problem.labels(), problem.weights(), svm);
            let samples = first..first + dual.len();
            first = samples.end;
            Self { problem, dual, samples }
        };
        problems.iter().map(part).collect()
    }

    pub(super) fn design(&self) -> &'a dyn Design {
        self.problem.design()
    }

    /// The problem's values in a vector over the samples of all problems.
    pub(super) fn of<'v, T>(&self, values: &'v [T]) -> &'v [T] {
        &values[self.samples.clone()]
    }

    /// c_j at the beta of all problems.
    pub(super) fn score(&self, j: usize, beta: &[f64]) -> f64 {
        self.design().dot_column(j, self.of(beta))
    }
}

/// The dual of all samples, where each problem has a bias of its own: for what concerns samples
/// alone.
pub(super) fn dual_of_all(parts: &[StackedProblem<'_>]) -> BoxDual {
    let mut all = parts[0].dual.clone();
    for BoxDual { y, cost, lower, upper, ridge, .. } in parts[1..].iter().map(|part| &part.dual) {
        all.y.extend(y);
        all.cost.extend(cost);
        all.lower.extend(lower);
        all.upper.extend(upper);
        all.ridge.extend(ridge);
    }
    all
}
