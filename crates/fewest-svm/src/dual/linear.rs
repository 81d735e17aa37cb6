//! One entry for linear machines: coordinate descent as long as it is the cheaper way, then a
//! second-order method.
//!
//! Solves   the dual of [`super`] for a linear kernel, hinge or squared hinge, any bias.
//! Given    rows (n x p), box, optional start.
//! Returns  beta, w, bias, both objectives, status.
//! Steps    1. coordinate descent for a share of what step 2 is expected to cost  2. from there the
//!          cheaper of semismooth Newton (p x p matrices) and SMO with its active-set finish (the n
//!          x n Gram matrix), where they fit the memory
//!          3. interior point where Newton stalled
//! Cost     counted in visited values (one multiply-add on a stored value): a Newton round is about
//!          two passes and p^3 / 6 tile operations, and every sample enters the Hessian about
//!          twice. So the whole is some `1 + SHARE` times the Newton cost, and plain coordinate
//!          descent where that is cheaper than the share, or where its pace says that it is cheaper
//!          than Newton's method; where the pace slackens, `1 + MOST` times that cost.
//! Fails    never; stops with a status and the gap reached.

use super::active_set::ActiveSet;
use super::coordinate::Work;
use super::{BoxDual, DualSolution, Loss, SvmSettings, coordinate, interior, newton, smo};
use crate::kernel::gram::GramMatrix;
use crate::kernel::outer::TILE_SPEED;
use crate::{Clock, RowMatrix, Status};

/// Tuning: the numbers of a cost model, chosen by hand; `make bench-train` shows what a change
/// costs, `bench/log/training.md` what one did.
mod tuning {
    /// Share of the expected Newton cost that coordinate descent may use first.
    pub(super) const SHARE: f64 = 0.3;
    /// And as long as its pace says that it ends within this share.
    pub(super) const MOST: f64 = 1.0;
    /// Rounds Newton's method is expected to take.
    pub(super) const HINGE_ROUNDS: f64 = 12.0;
    pub(super) const SQUARED_ROUNDS: f64 = 8.0;
    /// Passes over the rows per round, work on n-vectors included.
    pub(super) const PASSES: f64 = 2.5;
    /// Pair steps of SMO per sample, as visited values: rows of the Gram matrix stream by.
    pub(super) const PAIR_STEPS: f64 = 30.0;
}
use tuning::{HINGE_ROUNDS, MOST, PAIR_STEPS, PASSES, SHARE, SQUARED_ROUNDS};

/// Makes a Gram matrix, or names the limit that came first.
pub type MakeGram<'a> = dyn Fn(&Clock) -> Result<GramMatrix, Status> + 'a;

/// Trains a linear machine from `start` (length n; zeros when absent). `gram` makes the Gram matrix
/// of the rows, where the caller can have it.
pub fn solve_linear(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    gram: Option<&MakeGram<'_>>,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    // Step 1.
    let newton_work = newton_work(rows, dual, settings.memory).unwrap_or(f64::INFINITY);
    let gram_work = gram.map_or(f64::INFINITY, |_| gram_work(rows));
    let second = newton_work.min(gram_work);
    let work = Work { least: SHARE * second, most: MOST * second };
    let first = coordinate::descend(rows, dual, start, settings, settings.max_epochs, work, clock);
    let out_of_work = first.status == Status::CallLimit && first.iterations < settings.max_epochs;
    if !out_of_work {
        return first;
    }

    // Step 2.
    let left = SvmSettings { max_epochs: settings.max_epochs - first.iterations, ..settings.clone() };
    if let Some(gram) = gram.filter(|_| gram_work < newton_work) {
        let gram = match gram(clock) {
            Ok(gram) => gram,
            Err(status) => return DualSolution { status, ..first },
        };
        let mut second = smo::solve(&mut &gram, dual, Some(&first.beta), &mut ActiveSet::default(), &left, clock);
        second.weights = rows.combination(&second.beta);
        return better(first, second);
    }
    let second = newton::solve(rows, dual, Some(&first.beta), &left, clock);
    let second = better(first, second);
    if second.status != Status::Stalled || dual.loss == Loss::SquaredHinge || second.iterations >= settings.max_epochs {
        return second;
    }

    // Step 3.
    let left = SvmSettings { max_epochs: settings.max_epochs - second.iterations, ..settings.clone() };
    let third = interior::hinge(rows, dual, Some(second.clone()), &left, clock);
    better(second, third)
}

/// [`solve_linear`] from a start that is known to be good. Newton's method takes few steps from
/// there: of the squared hinge it comes first where a step takes little more than its passes over
/// the rows, which threads share.
pub(super) fn refine(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: &[f64],
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    let p = rows.n_features() as f64;
    let is_cheap = p * p * p / (6.0 * TILE_SPEED) <= PASSES * rows.stored() as f64;
    if dual.loss == Loss::Hinge || !is_cheap || newton_work(rows, dual, settings.memory).is_none() {
        return solve_linear(rows, dual, Some(start), None, settings, clock);
    }
    let first = newton::solve(rows, dual, Some(start), settings, clock);
    if first.status != Status::Stalled || first.iterations >= settings.max_epochs {
        return first;
    }
    let left = SvmSettings { max_epochs: settings.max_epochs - first.iterations, ..settings.clone() };
    let second = solve_linear(rows, dual, Some(&first.beta), None, &left, clock);
    better(first, second)
}

/// The one of smaller gap, with the later one's status and the work of both.
fn better(earlier: DualSolution, later: DualSolution) -> DualSolution {
    let (status, iterations) = (later.status, earlier.iterations + later.iterations);
    let best = if later.gap() <= earlier.gap() { later } else { earlier };
    DualSolution { iterations, status, ..best }
}

/// Expected cost of Newton's method in visited values; nothing where its matrices do not fit.
fn newton_work(rows: &RowMatrix, dual: &BoxDual, memory: u64) -> Option<f64> {
    let (n, p, stored) = (rows.n_samples() as f64, rows.n_features() as f64, rows.stored() as f64);
    if 3.0 * 8.0 * p * p > memory as f64 {
        return None;
    }
    let rounds = match dual.loss {
        Loss::Hinge => HINGE_ROUNDS,
        Loss::SquaredHinge => SQUARED_ROUNDS,
    };
    let row = stored / n.max(1.0);
    let outer = (0.5 * p * p / TILE_SPEED).min(0.5 * row * row);
    Some(rounds * (PASSES * stored + p * p * p / (6.0 * TILE_SPEED)) + 2.0 * n * outer)
}

/// Expected cost of the Gram matrix (the squared non-zeros of every column) and of SMO on it, in
/// visited values.
fn gram_work(rows: &RowMatrix) -> f64 {
    let (n, p) = (rows.n_samples() as f64, rows.n_features());
    let pairs = match rows.csr() {
        None => 0.5 * n * n * p as f64 / TILE_SPEED,
        Some((_, columns, _)) => {
            let mut count = vec![0u32; p];
            for &j in columns {
                count[j as usize] += 1;
            }
            count.iter().map(|&c| f64::from(c) * f64::from(c)).sum()
        }
    };
    pairs + PAIR_STEPS * n * n
}
