//! From a choice to a classifier: select on a whole part, train, find the probabilities, judge.

use fewest::model::Model;
use fewest::{AllOrFirst as _, Clock, Design, Error, Kernel, Report, Status, Subset};
use rayon::prelude::*;

use super::folds::Deal;
use super::grid::{Grid, Key, costs, fit_cost};
use super::judge::train;
use super::part::{PartSize, StudyPart};
use super::probabilities::{Losses, Probabilities};
use super::report::{Choice, Judgement};
use super::search::Search;
use super::settings::StudySettings;
use super::table::Row;
use super::threshold::threshold;
use crate::classifier::Predictions;
use crate::part::{Data, HeldOut};
use crate::preparation::columns;
use crate::time::Deadline;

/// What was learned from a part.
pub(crate) struct Learned {
    pub(crate) part: StudyPart,
    pub(crate) choice: Choice,
    /// What the method found.
    pub(crate) report: Report,
    /// Ascending; empty where nothing was found.
    pub(crate) features: Vec<usize>,
    /// The classifier on these features, in their order; none without a feature.
    pub(crate) model: Option<Model>,
}

/// What the decision values of samples that inner splits held out say of a choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calibrated {
    /// From decision values, less the threshold, to probabilities.
    pub(crate) probabilities: Option<Probabilities>,
    /// Where to cut them for the sensitivity asked for.
    pub(crate) threshold: Option<f64>,
}

impl Calibrated {
    /// The classifier whose decision values are less the threshold; its solution keeps the bias that
    /// it was trained to.
    pub(crate) fn shifted(&self, mut model: Model) -> Model {
        if let (Some(threshold), [machine]) = (self.threshold, &mut model.machines[..]) {
            machine.bias -= threshold;
        }
        model
    }
}

/// The costs and names of a place on the grid, in a part.
pub(crate) fn choice(part: PartSize, grid: &Grid, settings: &StudySettings, key: Key) -> Choice {
    let method = grid.methods[key.method];
    let kernel = if method.has_kernel() { Kernel::Rbf { gamma: 1.0 } } else { Kernel::Linear };
    Choice {
        method,
        max_features: grid.sizes[key.size],
        cost: method.has_cost().then(|| costs(part, settings)[key.cost]),
        fit_cost: fit_cost(part, kernel, grid.sizes[key.size], key.fit),
    }
}

/// Selects on a part and trains on what was found.
pub(crate) fn learn(
    data: &Data<'_>,
    rows: &[usize],
    grid: &Grid,
    settings: &StudySettings,
    key: Key,
    deadline: &Deadline,
) -> Result<Learned, Error> {
    let part = StudyPart::new(data, rows, settings)?;
    let mut choice = choice(part.size, grid, settings, key);
    let search = Search::new(&part, settings, grid);
    let mut limits = deadline.limits(0.8);
    limits.nodes = Some(settings.nodes);
    let mut report = search.select(choice.method, choice.cost.unwrap_or(1.0), key.size, limits)?;
    let status = report.selection.outcome.status;
    if report.selection.outcome.features().is_empty() && cut_short(status) {
        // An answer at any moment.
        let cost = choice.cost.unwrap_or(1.0);
        (choice.method, report) = search.fallback(cost, choice.max_features)?;
        choice.cost = choice.method.has_cost().then_some(cost);
        report.selection.outcome.status = status;
    }
    let mut features = report.selection.outcome.features();
    let mut model = fitted(&part, settings, &features, report.kernel, choice.fit_cost)?;
    if model.as_ref().is_some_and(|model| !tells(model, &part.columns(&features)))
        && part.rules(settings, None)?.allows(&Subset::empty(data.features.n_features()))
    {
        (features, model) = (Vec::new(), None);
    }
    Ok(Learned { part, choice, report, features, model })
}

/// Margins by which decision values differ where features are of use; others are zeros and rounding, as
/// where a class is so rare that no weight lowers the loss.
const OF_USE: f64 = 1e-6;

/// Whether a classifier says different things of its own samples.
fn tells(model: &Model, own: &dyn Design) -> bool {
    let (decisions, machines) = (model.decisions(own), model.machines.len());
    let differ = |at: usize| {
        let values = || decisions.iter().skip(at).step_by(machines).copied();
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min) > OF_USE
    };
    (0..machines).any(differ)
}

/// The classifier on these features; none without a feature.
pub(crate) fn fitted(
    part: &StudyPart,
    settings: &StudySettings,
    features: &[usize],
    kernel: Kernel,
    cost: f64,
) -> Result<Option<Model>, Error> {
    if features.is_empty() {
        return Ok(None);
    }
    // A training on few features is short: it is not interrupted, so that there is a classifier.
    train(part, &settings.svm, features, kernel, cost, &Clock::unlimited()).map(Some)
}

/// A choice on an inner split: its own subset and classifier, and the samples held out.
pub(crate) struct SplitModel<'a> {
    pub(crate) deal: &'a Deal,
    pub(crate) part: &'a StudyPart,
    pub(crate) held: &'a HeldOut,
    pub(crate) features: &'a [usize],
    pub(crate) model: Model,
}

/// What `each` says of a choice on every inner split that has a subset of it.
pub(crate) fn split_models<T: Send>(
    data: &Data<'_>,
    deals: &[Deal],
    rows: &[Option<Row>],
    grid: &Grid,
    settings: &StudySettings,
    key: Key,
    each: impl Fn(SplitModel<'_>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let place = Key { fit: 0, ..key };
    let one = |(deal, row): (&Deal, &Option<Row>)| -> Result<Option<T>, Error> {
        let subset = row.as_ref().and_then(|row| row.subsets.iter().find(|entry| entry.0 == place));
        let Some((_, features)) = subset else { return Ok(None) };
        let part = StudyPart::new(data, &deal.inside, settings)?;
        let held = part.hold_out(data, &deal.outside)?;
        let kernel = Search::new(&part, settings, grid).kernel(grid.methods[key.method], grid.sizes[key.size])?;
        let choice = choice(part.size, grid, settings, key);
        let Some(model) = fitted(&part, settings, features, kernel, choice.fit_cost)? else { return Ok(None) };
        each(SplitModel { deal, part: &part, held: &held, features, model }).map(Some)
    };
    let found: Result<Vec<Option<T>>, Error> = deals.par_iter().zip(rows).map(one).all_or_first();
    Ok(found?.into_iter().flatten().collect())
}

/// Probabilities and threshold of a choice, from the decision values of samples that inner splits
/// held out: their own subsets and classifiers. None where none are asked for.
pub(crate) fn calibrate(
    data: &Data<'_>,
    deals: &[Deal],
    rows: &[Option<Row>],
    grid: &Grid,
    settings: &StudySettings,
    key: Key,
) -> Result<Calibrated, Error> {
    let one = |split: SplitModel<'_>| -> Result<(Vec<f64>, Vec<u32>), Error> {
        let decisions = split.model.decisions(&columns(split.held.design(), split.features));
        Ok((decisions, split.held.target.codes.clone()))
    };
    let parts = split_models(data, deals, rows, grid, settings, key, one)?;
    let (decisions, codes): (Vec<Vec<f64>>, Vec<Vec<u32>>) = parts.into_iter().unzip();
    let (decisions, codes) = (decisions.concat(), codes.concat());
    let threshold = settings.sensitivity.and_then(|share| threshold(&decisions, &codes, share));
    let shift = threshold.unwrap_or(0.0);
    let decisions: Vec<f64> = decisions.iter().map(|f| f - shift).collect();
    let n_classes = data.target.classes.len();
    Ok(Calibrated { probabilities: Probabilities::fit(&decisions, &codes, n_classes), threshold })
}

/// Judges what was learned on other samples, with the threshold in effect.
pub(crate) fn judge(
    data: &Data<'_>,
    learned: &Learned,
    calibrated: &Calibrated,
    rows: &[usize],
) -> Result<Judgement, Error> {
    let held = learned.part.hold_out(data, rows)?;
    let classes = data.target.classes.len();
    let columns = columns(held.design(), &learned.features);
    let model = learned.model.clone().map(|model| calibrated.shifted(model));
    let judged = Predictions::of(model.as_ref(), &columns, &learned.part.prepared, &held);
    let calibration = calibrated.probabilities.as_ref().filter(|_| !judged.decisions.is_empty());
    let losses = calibration.map(|calibration| calibration.each_loss(&judged)).unwrap_or_default();
    let mean = (!losses.is_empty()).then(|| Losses::mean(&losses));
    let each = calibration.map(|calibration| calibration.of_each(&judged.decisions));
    let (probabilities, class_probabilities) = match each {
        Some(each) if classes == 2 => (Some(each.iter().map(|of_class| of_class[1]).collect()), None),
        each => (None, each),
    };
    Ok(Judgement {
        metrics: judged.metrics(classes),
        log_loss: mean.map(|losses| losses.log_loss),
        brier: mean.map(|losses| losses.brier),
        confusion: judged.confusion(classes),
        test: rows.to_vec(),
        predicted: judged.predicted,
        probabilities,
        class_probabilities,
        losses,
    })
}

/// Whether a limit cut a selection short that is no limit of its effort.
pub(crate) fn cut_short(status: Status) -> bool {
    matches!(status, Status::TimeLimit | Status::Cancelled)
}
