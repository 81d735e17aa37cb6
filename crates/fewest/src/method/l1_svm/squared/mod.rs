//! The l1-penalised machine with squared hinge loss: its optimum, few weights not 0, and the dual
//! point that proves it.
//!
//! Solves   min over w, b of  ||w||_1 + sum_i C_i max(0, 1 - y_i (w.x_i + b))^2, C_i = cost
//!          weight_i, w on the columns allowed, within the bounds of rules; b is free, penalised as
//!          the weight of a constant column of value s (adds |b / s|), or 0.
//! Source   the problem is LIBLINEAR's -s 5 (Fan et al., JMLR 9, 2008). Working sets: Massias,
//!          Gramfort, Salmon, ICML 2018 (Celer); Johnson, Guestrin, ICML 2015 (Blitz). Screening:
//!          Ndiaye, Fercoq, Gramfort, Salmon, JMLR 18, 2017. Proximal Newton: Lee, Sun, Saunders,
//!          SIAM J. Optim. 24, 2014.
//! Dual     max sum_i alpha_i - alpha_i^2 / (4 C_i)  s.t. alpha >= 0, |c_j| <= 1 for c_j = sum_i
//!          alpha_i y_i x_ij of every column allowed, the constant one included, and y'alpha = 0
//!          for a free bias. At the optimum alpha_i = 2 C_i max(0, 1 - m_i). Where w_j is bounded,
//!          the value loses its gain g_j(c_j) (`crate::weights`), and |c_j| <= 1 binds only on a
//!          side without bound.
//! Given    Problem, columns allowed, SvmSettings, a solution at another cost to start from.
//! Returns  DualSolution: w, b; beta_i = y_i alpha_i, feasible, whose value is the proven lower
//!          bound; the largest violation.
//! Steps    1. alpha from the slacks at the best free bias, all c_j, alpha scaled to the feasible
//!          point of largest value; stop at the gap
//!          2. working set: the weights that are not 0, as many others again of largest |c_j|
//!          3. on it, until its violation is a share of that of all: the lasso of the samples
//!             inside the margin (`lasso.rs`), exact line search to its solution
//! Cost     per round a pass over the columns, and descents on the working set; memory
//!          some copies of the working set.
//! Differs  no screening (Ndiaye et al.): it gained no time, and would need all scores and the
//!          lengths of columns elsewhere; the violation, not the gap, says when a working set is
//!          done; |c_j| itself, not its distance to 1 over ||x_j||, orders columns; bounds on
//!          weights.
//! Fails    never on limits (`max_epochs` counts sweeps and passes; `MemoryLimit` where the copy of
//!          a working set does not fit); `Stalled` may come first on separable data at costs of 1e5
//!          and more; errors: settings out of range.

mod columns;
mod lasso;
mod machine;
mod proof;

use columns::Columns;
pub(super) use columns::Matrix;
use machine::Machine;
use proof::Proof;

use crate::dual::patience::Patience;
use crate::dual::{BoxDual, kkt};
use crate::problem::Labelled;
use crate::{Clock, DualSolution, Error, Loss, Memory, Problem, Status, SvmSettings, WeightBounds};

/// Tuning: chosen by hand; `bench/l1.py` shows what a change costs, `bench/log/l1.md` what was
/// tried.
mod tuning {
    /// Share of the violation of all columns that the working set is solved to.
    pub(super) const SHARE: f64 = 0.3;
    /// A gap below this share of the best one is better.
    pub(super) const BETTER: f64 = 0.9;
    /// Rounds without a better gap or value before it gives up.
    pub(super) const PATIENCE: u32 = 40;
}
use tuning::{BETTER, PATIENCE, SHARE};

/// Solves the problem above. `features`: the columns allowed, ascending. `start`: a solution on the
/// same columns at another cost.
///
/// The solution's `weights` are those of `features`, in that order; `kkt_residual` is the largest
/// distance of c_j, at the alpha of (w, b), to the subdifferential of |w_j|: |c_j - sign w_j|, or
/// max(0, |c_j| - 1) where w_j = 0, a penalised bias included and a free one at its best.
///
/// # Errors
/// [`Error::Setting`] when a setting is out of range; `loss` is not read.
pub fn squared_hinge(
    problem: &Problem<'_>,
    features: &[usize],
    settings: &SvmSettings,
    start: Option<&DualSolution>,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    let mut matrix = Matrix::here(problem.design(), &Memory::unlimited());
    bounded_squared_hinge(&mut matrix, problem.labelled(), features, &WeightBounds::default(), settings, start, clock)
}

/// [`squared_hinge`] with weights within these bounds. The violation of a weight is what a unit
/// more or less of it, where that is allowed, would gain.
pub(super) fn bounded_squared_hinge(
    matrix: &mut Matrix<'_>,
    of_samples: Labelled<'_>,
    features: &[usize],
    bounds: &WeightBounds,
    settings: &SvmSettings,
    start: Option<&DualSolution>,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    settings.check()?;
    let mut columns = Columns { matrix, features, bias: settings.bias, bounds };
    let settings = SvmSettings { loss: Loss::SquaredHinge, ..settings.clone() };
    let dual = BoxDual::new(of_samples.labels, of_samples.weights, &settings);
    let used = start.iter().flat_map(|start| (0..features.len()).filter(|&j| start.weights[j] != 0.0));
    columns.fetch(used)?;
    let mut machine = Machine::new(&columns, &dual, start);
    let mut proof = Proof::new(&dual);
    let (mut epochs, mut lowest, mut patience) = (0, f64::INFINITY, Patience::new(BETTER, PATIENCE));
    loop {
        // Step 1.
        let evaluation = machine.evaluation(&columns)?;
        epochs += 1;
        proof.learn(&columns, &evaluation);
        let gap = kkt::relative_gap(evaluation.primal, proof.value());
        let falls = evaluation.primal < lowest - 0.01 * (evaluation.primal - proof.value());
        patience.judge(gap, patience.is_better(gap) || falls, 1);
        lowest = lowest.min(evaluation.primal);
        let status = match clock.stop() {
            _ if gap <= settings.tolerance => Some(Status::Optimal),
            Some(status) => Some(status),
            None if epochs >= settings.max_epochs => Some(Status::CallLimit),
            None if patience.is_over() => Some(Status::Stalled),
            None => None,
        };
        // Step 2.
        let next = status.map_or_else(|| machine.working_set(&columns, &evaluation).ok_or(Status::MemoryLimit), Err);
        let (work, _taken) = match next {
            Ok(next) => next,
            Err(status) => {
                machine.clear_rounding(&columns);
                return Ok(DualSolution {
                    bias: machine.decision_bias(&columns),
                    weights: machine.w[..features.len()].to_vec(),
                    primal: evaluation.primal,
                    dual: proof.value(),
                    absolute_gap: f64::INFINITY,
                    beta: proof.into_beta(),
                    kkt_residual: evaluation.violation,
                    iterations: epochs,
                    status,
                });
            }
        };
        // Step 3.
        columns.fetch(work.iter().copied())?;
        epochs += machine.improve(&columns, &work, SHARE * evaluation.violation, settings.max_epochs - epochs, clock);
    }
}
