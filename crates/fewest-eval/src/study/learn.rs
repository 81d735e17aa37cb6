//! From a choice to a classifier: select on a whole part, train, find the probabilities, judge.

use fewest::model::Model;
use fewest::{Clock, Error, Kernel, Report, Status};
use rayon::prelude::*;

use super::calibration::{Calibration, CalibrationRule};
use super::inner::{Deal, Grid, costs, fit_cost};
use super::judge::train;
use super::part::{PartSize, StudyPart};
use super::report::{Choice, Judgement};
use super::search::Search;
use super::settings::StudySettings;
use super::table::{Key, Row};
use crate::classifier::Predictions;
use crate::part::Data;
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
    let choice = choice(part.size, grid, settings, key);
    let search = Search::new(&part, settings, &grid.methods, &grid.sizes);
    let mut limits = deadline.limits(0.8);
    limits.nodes = Some(settings.nodes);
    let report = search.select(choice.method, choice.cost.unwrap_or(1.0), key.size, limits)?;
    let features = report.selection.outcome.features();
    let model = fitted(&part, settings, &features, report.kernel, choice.fit_cost)?;
    Ok(Learned { part, choice, report, features, model })
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

/// The probabilities of a choice, from the decision values of samples that inner splits held out:
/// their own subsets and classifiers. None for more than two classes, or where none are asked for.
pub(crate) fn calibrate(
    data: &Data<'_>,
    deals: &[Deal],
    rows: &[Option<Row>],
    grid: &Grid,
    settings: &StudySettings,
    key: Key,
) -> Result<Option<Calibration>, Error> {
    if data.target.classes.len() != 2 || settings.calibration == CalibrationRule::None {
        return Ok(None);
    }
    let place = Key { fit: 0, ..key };
    let one = |(deal, row): (&Deal, &Option<Row>)| -> Result<Vec<(f64, bool)>, Error> {
        let subset = row.as_ref().and_then(|row| row.subsets.iter().find(|entry| entry.0 == place));
        let Some((_, features)) = subset else { return Ok(Vec::new()) };
        let part = StudyPart::new(data, &deal.inside, settings)?;
        let held = part.hold_out(data, &deal.outside)?;
        let kernel = Search::new(&part, settings, &grid.methods, &grid.sizes).kernel(grid.methods[key.method])?;
        let choice = choice(part.size, grid, settings, key);
        let Some(model) = fitted(&part, settings, features, kernel, choice.fit_cost)? else { return Ok(Vec::new()) };
        let decisions = model.decisions(&columns(held.design(), features));
        Ok(decisions.into_iter().zip(held.target.codes.iter().map(|&code| code == 1)).collect())
    };
    let parts: Vec<Vec<(f64, bool)>> = deals.par_iter().zip(rows).map(one).collect::<Result<_, Error>>()?;
    let (decisions, second): (Vec<f64>, Vec<bool>) = parts.into_iter().flatten().unzip();
    Ok(Calibration::fit(settings.calibration, &decisions, &second))
}

/// Judges what was learned on other samples.
pub(crate) fn judge(
    data: &Data<'_>,
    learned: &Learned,
    calibration: Option<&Calibration>,
    rows: &[usize],
) -> Result<Judgement, Error> {
    let held = learned.part.hold_out(data, rows)?;
    let classes = data.target.classes.len();
    let columns = columns(held.design(), &learned.features);
    let judged = Predictions::of(learned.model.as_ref(), &columns, &learned.part.prepared, &held);
    let Predictions { truth, decisions, .. } = &judged;
    let two = classes == 2 && !decisions.is_empty();
    let calibration = calibration.filter(|_| two);
    let probabilities: Option<Vec<f64>> = calibration.map(|c| decisions.iter().map(|&f| c.probability(f)).collect());
    let mean = |value: &dyn Fn(usize) -> f64| (0..truth.len()).map(value).sum::<f64>() / truth.len() as f64;
    let log_loss = calibration.map(|c| mean(&|i| c.log_loss(decisions[i], truth[i] == 1)));
    let brier = probabilities.as_ref().map(|p| mean(&|i| (p[i] - f64::from(truth[i])).powi(2)));
    Ok(Judgement {
        metrics: judged.metrics(classes),
        log_loss,
        brier,
        confusion: judged.confusion(classes),
        test: rows.to_vec(),
        predicted: judged.predicted,
        probabilities,
    })
}

/// Whether a limit cut a selection short that is no limit of its effort.
pub(crate) fn cut_short(status: Status) -> bool {
    matches!(status, Status::TimeLimit | Status::Cancelled)
}
