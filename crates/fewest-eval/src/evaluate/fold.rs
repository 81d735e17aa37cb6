//! One fold: prepare, tune, select and train on its training part, then judge the samples held out.

use std::time::Instant;

use fewest::validation::{FoldMetrics, Folds, Metrics, SizeRule, Summary, choose_size, set_f1};
use serde::{Deserialize, Serialize};

use crate::auto_cost;
use crate::classifier::{FoldModel, Predictions};
use crate::error::EvalError;
use crate::folds::Fold;
use crate::preparation::Preparation;
use crate::selector::{PartSelector, Scene};
use crate::time::FoldTime;

/// Result of a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldResult {
    /// Repetition, from 0.
    pub repeat: usize,
    /// The name of the fold.
    pub fold: String,
    /// Chosen features, ascending.
    pub selected: Vec<usize>,
    /// Agreement on the samples held out.
    pub metrics: Metrics,
    /// Rows: true classes, columns: predicted ones.
    pub confusion: Vec<Vec<u64>>,
    /// Samples held out.
    pub n_test: usize,
    /// The samples held out; empty in a state that an earlier version kept.
    #[serde(default)]
    pub test: Vec<usize>,
    /// Predicted class of each.
    #[serde(default)]
    pub predicted: Vec<u32>,
    /// Time of tuning, selection and training.
    pub seconds: f64,
    /// Status of the selection.
    pub status: String,
    /// Whether a limit stopped it.
    pub stopped: bool,
    /// Slack cost of selecting.
    pub cost: f64,
    /// Slack cost of the classifier trained on the chosen features; none: the method's own.
    #[serde(default)]
    pub fit_cost: Option<f64>,
    /// gamma of its kernel.
    pub gamma: Option<f64>,
    /// Price of each feature, where the method found it.
    #[serde(default)]
    pub penalty: Option<f64>,
    /// The size rule in effect.
    pub max_features: Option<usize>,
    /// Accuracy of each size inside the fold, where the size is chosen there.
    #[serde(default)]
    pub inner: Vec<InnerScore>,
    /// F1 of the chosen set against the true one.
    pub set_f1: Option<f64>,
}

impl FoldResult {
    /// What was selected, and how the samples held out were judged, of `classes` classes; the rest
    /// is the caller's to say.
    pub(crate) fn new(fold: &Fold, selected: Vec<usize>, judged: Predictions, classes: usize) -> Self {
        Self {
            repeat: fold.repeat,
            fold: fold.name.clone(),
            selected,
            metrics: judged.metrics(classes),
            confusion: judged.confusion(classes),
            n_test: fold.test.len(),
            test: fold.test.clone(),
            predicted: judged.predicted,
            seconds: 0.0,
            status: String::new(),
            stopped: false,
            cost: f64::NAN,
            fit_cost: None,
            gamma: None,
            penalty: None,
            max_features: None,
            inner: Vec::new(),
            set_f1: None,
        }
    }

    /// Metrics on the samples held out.
    pub fn judged(&self) -> FoldMetrics<'_> {
        FoldMetrics { repeat: self.repeat, metrics: &self.metrics, confusion: &self.confusion }
    }
}

/// How well a size does in the cross-validation inside a fold, with its best cost and gamma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InnerScore {
    /// The size rule.
    pub max_features: Option<usize>,
    /// Mean over the inner folds.
    pub accuracy: f64,
    /// The standard error of the score.
    pub se: Option<f64>,
}

/// The folds inside a training part, and how a size is chosen by them.
#[derive(Debug, Clone, Copy)]
pub struct InnerFolds {
    /// How many.
    pub count: usize,
    /// How samples are dealt into them.
    pub seed: u64,
    /// How a size is chosen.
    pub choose: SizeRule,
}

impl Default for InnerFolds {
    fn default() -> Self {
        Self { count: 5, seed: 0, choose: SizeRule::Best }
    }
}

/// A method with all that is chosen inside each fold.
pub struct Recipe<'a> {
    /// Sizes to choose from, ascending; none: no size rule.
    pub sizes: Vec<Option<usize>>,
    /// The selectors by choice of cost and gamma, and by size.
    pub selectors: Vec<Vec<Box<dyn PartSelector + 'a>>>,
    /// Costs of the classifier on the chosen features; none: the cost of selecting.
    pub fit_costs: Vec<Option<f64>>,
    /// How all that is chosen.
    pub inner: InnerFolds,
    /// How parts are prepared for it; none: as the scene says.
    pub preparation: Option<&'a Preparation>,
}

/// What a cross-validation inside a fold chose.
struct TuningChoice {
    /// Which choice of what selects.
    choice: usize,
    /// Which cost of the final classifier.
    fit: usize,
    /// Which size.
    size: usize,
    /// How well each size did.
    inner: Vec<InnerScore>,
}

impl<'a> Recipe<'a> {
    /// A method of which nothing is chosen.
    pub fn of(selector: impl PartSelector + 'a) -> Self {
        Self {
            sizes: vec![None],
            selectors: vec![vec![Box::new(selector)]],
            fit_costs: vec![None],
            inner: InnerFolds::default(),
            preparation: None,
        }
    }

    /// How many selections a fold takes at most.
    pub fn selections(&self) -> usize {
        let selections = self.selectors.len() * self.sizes.len();
        match &self.selectors[0][0] {
            _ if self.is_tuned() => selections * self.inner.count + 1,
            // Half of the time for the choice of the cost.
            selector if selector.chooses_cost() => 2,
            _ => 1,
        }
    }

    /// Whether there is anything to choose inside a fold.
    fn is_tuned(&self) -> bool {
        self.selectors.len() * self.sizes.len() * self.fit_costs.len() > 1
    }

    /// Learns from the samples outside the fold and judges those inside; nothing when cancelled, or
    /// where time cut a selection.
    ///
    /// # Errors
    /// Samples that the method cannot learn from.
    pub fn run(
        &self,
        scene: &Scene<'_>,
        fold: &Fold,
        truth: Option<&[usize]>,
        time: &mut FoldTime,
    ) -> Result<Option<FoldResult>, EvalError> {
        let start = Instant::now();
        let scene = &Scene { preparation: self.preparation.unwrap_or(scene.preparation), ..scene.clone() };
        let train = fold.train(scene.data.n());
        let Some(TuningChoice { choice, fit, size, inner }) = self.tune(scene, &train, time)? else {
            return Ok(None);
        };
        let asked = &*self.selectors[choice][size];
        let chosen = auto_cost::chosen(scene, &train, asked, time)?;
        let selector = chosen.as_deref().unwrap_or(asked);
        let fit_cost = self.fit_costs[fit].or(selector.fit_cost());
        let part = scene.part(&train)?;
        let found = selector.ask(&part)?.select(scene, &part, time)?;
        let learned = FoldModel::train(scene, &part, &found, fit_cost)?;
        if scene.cancel.is_cancelled() || time.is_cut() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        let judged = learned.predict(&part, &scene.hold_out(&part, &fold.test)?)?;
        let classes = scene.data.target.classes.len();
        let (report, selected) = (&found.report, found.features());
        let status = report.selection.outcome.status;
        let trained = report.model.is_none() && !selected.is_empty();
        Ok(Some(FoldResult {
            seconds,
            status: status.name().to_owned(),
            stopped: status.is_limit() || time.cut_short(),
            cost: report.cost.unwrap_or(found.ask.svm.cost),
            fit_cost: trained.then(|| report.fit_settings(&found.ask.svm, fit_cost, &found.ask.rules).svm.cost),
            gamma: learned.gamma(),
            penalty: report.penalty,
            max_features: self.sizes[size],
            inner,
            set_f1: truth.map(|truth| set_f1(&selected, truth)),
            ..FoldResult::new(fold, selected, judged, classes)
        }))
    }

    /// The choice and the size of best accuracy in a cross-validation of the training part; nothing
    /// when cancelled.
    fn tune(&self, scene: &Scene<'_>, rows: &[usize], time: &mut FoldTime) -> Result<Option<TuningChoice>, EvalError> {
        if !self.is_tuned() {
            return Ok(Some(TuningChoice { choice: 0, fit: 0, size: 0, inner: Vec::new() }));
        }
        let Some(scores) = self.inner_scores(scene, rows, time)? else { return Ok(None) };
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let best = |ways: &Vec<Vec<f64>>| {
            let means: Vec<f64> = ways.iter().map(mean).collect();
            (0..means.len()).fold(0, |best, at| if means[at] > means[best] + 1e-12 { at } else { best })
        };
        let chosen: Vec<usize> = scores.iter().map(best).collect();
        let of_size: Vec<Vec<f64>> = chosen.iter().zip(&scores).map(|(&at, scores)| scores[at].clone()).collect();
        let size = choose_size(&of_size, self.inner.choose)?;
        let inner = |(scores, &max_features): (&Vec<f64>, &Option<usize>)| {
            let summary = Summary::new(scores, 0.0);
            InnerScore { max_features, accuracy: summary.mean, se: summary.se }
        };
        let several = self.sizes.len() > 1;
        let inner = if several { of_size.iter().zip(&self.sizes).map(inner).collect() } else { Vec::new() };
        let (choice, fit) = (chosen[size] / self.fit_costs.len(), chosen[size] % self.fit_costs.len());
        Ok(Some(TuningChoice { choice, fit, size, inner }))
    }

    /// Accuracies by size, then by choice and cost of the classifier; one for each inner fold.
    /// Nothing when cancelled.
    fn inner_scores(
        &self,
        scene: &Scene<'_>,
        rows: &[usize],
        time: &mut FoldTime,
    ) -> Result<Option<Vec<Vec<Vec<f64>>>>, EvalError> {
        let (n_choices, n_sizes, n_fits) = (self.selectors.len(), self.sizes.len(), self.fit_costs.len());
        let InnerFolds { count, seed, .. } = self.inner;
        if count > rows.len() {
            return Err(EvalError::TooManyFolds { folds: count, samples: rows.len(), inner: true });
        }
        let folds = Folds::new(scene.data.deal(rows, count, seed).map_err(EvalError::inside)?)?;
        let mut scores = vec![vec![Vec::new(); n_choices * n_fits]; n_sizes];
        for f in 0..folds.count() {
            let (outside, inside) = folds.split(f);
            let of = |list: Vec<usize>| list.into_iter().map(|at| rows[at]).collect::<Vec<usize>>();
            let part = scene.part(&of(outside))?;
            let held = scene.hold_out(&part, &of(inside))?;
            for (choice, by_size) in self.selectors.iter().enumerate() {
                for (size, selector) in by_size.iter().enumerate() {
                    let found = selector.ask(&part)?.select(scene, &part, time)?;
                    for (fit, &fit_cost) in self.fit_costs.iter().enumerate() {
                        let learned = FoldModel::train(scene, &part, &found, fit_cost)?;
                        if scene.cancel.is_cancelled() {
                            return Ok(None);
                        }
                        scores[size][choice * n_fits + fit].push(learned.predict(&part, &held)?.accuracy());
                    }
                }
            }
        }
        Ok(Some(scores))
    }
}
