//! How well a method does on samples it has not seen. Everything that reads data happens on the
//! training part of a fold: preparation, tuning, selection, training.
//!
//! Given    a [`Scene`], folds ([`crate::folds`]), one [`Recipe`] or two that are compared.
//! Returns  what each fold found ([`FoldResult`]), and what these say together ([`Evaluation`]).
//! Steps    1. a cross-validation of the training part chooses among costs and sizes, where a
//!          recipe has several  2. the method selects, a classifier is trained  3. the samples held
//!          out are judged.
//! Fails    never on limits: a fold that was not begun in time is none.

mod fold;
mod report;

use std::time::Duration;

use crate::error::EvalError;
use crate::folds::Fold;
use crate::jobs::{self, OnDone};
use crate::selector::Scene;
use crate::time::FoldTimes;

pub use fold::{FoldResult, InnerFolds, InnerScore, Recipe};
pub use report::{Comparison, Evaluation};

/// Settings of [`evaluate`].
#[derive(Debug, Clone, Default)]
pub struct EvaluateSettings {
    /// Features that should be found, where that is known.
    pub truth: Option<Vec<usize>>,
    /// The time of all folds; none: no limit.
    pub time: Option<Duration>,
    /// Most time for one selection.
    pub selection_time: Option<Duration>,
}

/// Judges each recipe on each fold: recipe after recipe, a result for each fold. Those `known` from
/// an earlier run are taken over, where there is one for each.
///
/// # Errors
/// Samples that a method cannot learn from, with the fold.
pub fn evaluate(
    scene: &Scene<'_>,
    folds: &[Fold],
    recipes: &[Recipe<'_>],
    settings: &EvaluateSettings,
    known: Option<Vec<Option<FoldResult>>>,
    on_done: OnDone<'_, FoldResult>,
) -> Result<Vec<Option<FoldResult>>, EvalError> {
    let total = recipes.len() * folds.len();
    let known = known.filter(|known| known.len() == total).unwrap_or_else(|| vec![None; total]);
    let waiting = known.iter().filter(|result| result.is_none()).count();
    let times = FoldTimes::new(settings.time, settings.selection_time, waiting);
    let job = |at: usize| -> Result<Option<FoldResult>, EvalError> {
        if scene.cancel.is_cancelled() {
            return Ok(None);
        }
        let (recipe, fold) = (&recipes[at / folds.len()], &folds[at % folds.len()]);
        let mut time = times.next(recipe.selections());
        recipe.run(scene, fold, settings.truth.as_deref(), &mut time).map_err(|error| error.within(&fold.name))
    };
    jobs::each(known, &job, on_done)
}
