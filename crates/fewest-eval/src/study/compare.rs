//! What rules of choice are compared by: every candidate inside each outer fold, and the same
//! candidates on the samples that the fold holds out.

use fewest::{Error, Limits};
use serde::Serialize;

use super::folds::{check, outer_deals, parts};
use super::grid::{costs, levels};
use super::inner::row;
use super::part::StudyPart;
use super::settings::{StudyMethod, StudySettings};
use super::table::Row;
use crate::part::Data;
use crate::time::Deadline;

/// An outer fold with the scores of every candidate.
#[derive(Debug, Clone, Serialize)]
pub struct FoldTable {
    /// Repetition, from 0.
    pub repeat: usize,
    /// Fold of the repetition, from 0.
    pub fold: usize,
    /// Samples learned from.
    pub samples: usize,
    /// Methods of the grid.
    pub methods: Vec<StudyMethod>,
    /// Sizes of the grid.
    pub sizes: Vec<usize>,
    /// Costs of the selections in the whole training part, ascending.
    pub costs: Vec<f64>,
    /// Every candidate on the inner splits.
    pub inner: Vec<Row>,
    /// Every candidate selected and trained on the training part, judged on the samples held out.
    pub outer: Row,
}

/// The tables of the outer folds, one after the other, as [`super::study`] deals them. A candidate
/// of `outer` is selected as on an inner split, without a tree.
///
/// # Errors
/// As [`super::study`]; whatever `each` refuses.
pub fn fold_tables(
    data: &Data<'_>,
    settings: &StudySettings,
    limits: &Limits,
    each: &mut dyn FnMut(FoldTable) -> Result<(), Error>,
) -> Result<(), Error> {
    let (grid, _) = check(data, settings, limits)?;
    let outer = outer_deals(data, settings)?;
    let (deadline, jobs) = (Deadline::new(limits, None), levels(&grid, settings).concat());
    for part in parts(data, settings, &outer)?.iter().skip(1) {
        let row = |deal| row(data, deal, &grid, &jobs, settings, &deadline);
        let inner = part.splits.iter().map(row).collect::<Result<_, Error>>()?;
        let size = StudyPart::new(data, &part.deal.inside, settings)?.size;
        each(FoldTable {
            repeat: part.repeat,
            fold: part.fold,
            samples: part.deal.inside.len(),
            methods: grid.methods.clone(),
            sizes: grid.sizes.clone(),
            costs: costs(size, settings),
            inner,
            outer: row(&part.deal)?,
        })?;
    }
    Ok(())
}
