//! The program restricted to a few features, by HiGHS: subsets of `mbp` and `lagrangian`.

use crate::backend::highs::Effort;
use crate::master::program::measure_from_baseline;
use crate::{Error, Run, Subset};

use super::{BestClassifier, Model};

/// Solves the program of `features` from the best subset, if it lies there, and offers what it
/// finds. A limit of the run ends it.
///
/// # Errors
/// A failure of HiGHS; [`Error::Memory`] when the program does not fit.
pub(crate) fn solve_restricted<'a>(
    model: &Model<'a>,
    features: &Subset,
    found: &mut BestClassifier<'a>,
    effort: &Effort,
    run: &mut Run<'_>,
) -> Result<(), Error> {
    let features: Vec<usize> = features.iter().collect();
    let _taken = model.reserve(&features, u64::MAX, run.memory())?;
    let mut program = model.program(&features, false)?;
    if let Some(start) = found.start(model, &features) {
        program.set_start(&start)?;
    }
    measure_from_baseline(&mut program, model.units.cost(1.0), run)?;
    let answer = program.solve(effort, &run.counted_clock())?;
    if answer.values.is_empty() {
        return Ok(());
    }
    let q = features.len();
    let part = |k: usize| answer.values[q + k];
    let weight = |k: usize| model.units.weight_of(features[k], part(2 * k) - part(2 * k + 1));
    let chosen = (0..q).filter(|&k| answer.values[k] > 0.5).map(|k| (features[k], weight(k)));
    found.offer(model, &chosen.collect::<Vec<_>>(), run).map(|_| ())
}
