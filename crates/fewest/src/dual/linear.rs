//! Linear machines from rows: placeholder until the row solvers land.

use super::{BoxDual, DualSolution, SvmSettings, smo};
use crate::kernel::rows::CachedRows;
use crate::{Kernel, RowMatrix, Status};

/// Best beta and w for the rows given.
pub fn solve_linear(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let mut solution = smo::solve(
        &mut CachedRows::new(rows, Kernel::Linear, settings.memory),
        dual,
        start,
        &mut crate::dual::active_set::ActiveSet::default(),
        settings,
        stop,
    );
    let mut w = vec![0.0; rows.n_features()];
    for (i, &b) in solution.beta.iter().enumerate().filter(|b| *b.1 != 0.0) {
        rows.row(i).add_to(b, &mut w);
    }
    solution.weights = w;
    solution
}
