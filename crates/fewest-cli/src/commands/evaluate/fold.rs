//! One fold: prepare, tune, select and train on its training part, then judge the samples held out.

use std::time::Instant;

use fewest::Cancel;
use fewest::validation::{FoldMetrics, Folds, Metrics, Summary, choose_size, set_f1};
use serde::{Deserialize, Serialize};

use super::plan::{Options, Recipes};
use crate::args::rules::RuleSource;
use crate::commands::deal::Fold;
use crate::commands::held_out::{FoldModel, HeldOut};
use crate::commands::in_force::selected;
use crate::commands::part::{PartLearner, PartSelection};
use crate::commands::raw::Raw;
use crate::commands::share::FoldTime;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What a fold found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FoldResult {
    /// Repetition, from 0.
    pub(crate) repeat: usize,
    /// What the fold is called.
    pub(crate) fold: String,
    /// Chosen features, ascending.
    pub(crate) selected: Vec<usize>,
    /// Agreement on the samples held out.
    pub(crate) metrics: Metrics,
    /// Rows: true classes, columns: predicted ones.
    pub(crate) confusion: Vec<Vec<u64>>,
    /// Samples held out.
    pub(crate) n_test: usize,
    /// Time of tuning, selection and training.
    pub(crate) seconds: f64,
    /// Status of the selection.
    pub(crate) status: String,
    /// Whether a limit stopped it.
    pub(crate) stopped: bool,
    /// Slack cost of selecting.
    pub(crate) cost: f64,
    /// Slack cost of the classifier trained on the chosen features; none: the method's own.
    #[serde(default)]
    pub(crate) fit_cost: Option<f64>,
    /// gamma of its kernel.
    pub(crate) gamma: Option<f64>,
    /// The size rule in force.
    pub(crate) max_features: Option<usize>,
    /// Accuracy of each size inside the fold, where the size is chosen there.
    #[serde(default)]
    pub(crate) inner: Vec<InnerScore>,
    /// F1 of the chosen set against the true one.
    pub(crate) set_f1: Option<f64>,
}

impl FoldResult {
    /// What it says on the samples held out.
    pub(crate) fn judged(&self) -> FoldMetrics<'_> {
        FoldMetrics { repeat: self.repeat, metrics: &self.metrics, confusion: &self.confusion }
    }
}

/// How well a size does in the cross-validation inside a fold, with its best cost and gamma.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InnerScore {
    max_features: Option<usize>,
    /// Mean over the inner folds.
    accuracy: f64,
    /// Its standard error.
    se: Option<f64>,
}

/// A method, ready to learn from any samples.
pub(crate) struct Learner<'a> {
    options: &'a Options<'a>,
    recipes: &'a Recipes,
    part: PartLearner<'a>,
    /// Rules by size.
    sources: Vec<RuleSource>,
}

/// What a cross-validation inside a fold chose.
struct TuningChoice {
    /// Which choice of what selects.
    recipe: usize,
    /// Which cost of the final classifier.
    fit: usize,
    /// Which size.
    size: usize,
    /// How well each size did.
    inner: Vec<InnerScore>,
}

impl<'a> Learner<'a> {
    /// The method with all choices of what is tuned.
    ///
    /// # Errors
    /// Rules that cannot be understood, or that leave the size open to a method that needs one.
    pub(crate) fn new(recipes: &'a Recipes, options: &'a Options<'a>) -> Result<Self, Failure> {
        let rules = &options.selection.rules;
        let sources: Vec<RuleSource> =
            options.sizes.iter().map(|&size| RuleSource::read(rules, size)).collect::<Result<_, _>>()?;
        sources[0].weights().obeyed_by(recipes.name)?;
        if !sources[0].bounds_size() && !recipes.choices[0].args().finds_size() {
            return Err(Failure::input(
                "say how many features to keep: --max-features K, or K..L to choose the size inside each fold",
            ));
        }
        let part = PartLearner::new(options.selection, &recipes.choices[0]);
        Ok(Self { options, recipes, part, sources })
    }

    /// The method's name.
    pub(crate) fn method(&self) -> &'static str {
        self.recipes.name
    }

    /// The rules of the largest size.
    pub(crate) fn largest(&self) -> &RuleSource {
        &self.sources[self.sources.len() - 1]
    }

    /// How many selections a fold takes at most.
    pub(crate) fn selections(&self) -> usize {
        let selections = self.recipes.choices.len() * self.sources.len();
        match &self.recipes.choices[0] {
            _ if self.is_tuned() => selections * self.options.inner + 1,
            // Half of the time for the choice of the cost.
            options if options.chooses_cost() => 2,
            _ => 1,
        }
    }

    /// Whether there is anything to choose inside a fold.
    fn is_tuned(&self) -> bool {
        self.recipes.count() * self.sources.len() > 1
    }

    /// Reads the data.
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub(crate) fn load(&self, folds: Option<&str>, terminal: Terminal) -> Result<Raw, Failure> {
        self.part.load(folds, terminal)
    }

    /// Learns from the samples outside the fold and judges those inside; nothing when cancelled.
    ///
    /// # Errors
    /// Data that the method cannot learn from.
    pub(crate) fn run(
        &self,
        raw: &Raw,
        fold: &Fold,
        truth: Option<&[usize]>,
        time: &mut FoldTime,
        cancel: &Cancel,
        terminal: Terminal,
    ) -> Result<Option<FoldResult>, Failure> {
        let start = Instant::now();
        let train = fold.train(raw.target.codes.len());
        let Some(choice) = self.tune(raw, &train, time, cancel)? else { return Ok(None) };
        let TuningChoice { recipe, fit, size, inner } = choice;
        let options = &self.recipes.choices[recipe];
        let options = self.part.with_costs(raw, &train, options, &self.sources[0], time, cancel)?;
        let fit_cost = self.recipes.fit_costs[fit].or(options.fit_cost());
        let prepared = self.part.prepare(raw, &train)?;
        let found = PartLearner::select(&prepared, &options, &self.sources[size], time, cancel)?;
        let learned = FoldModel::train(&prepared, &found, (&options, fit_cost), cancel)?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        let judged = learned.predict(&prepared, &HeldOut::new(raw, &fold.test, &prepared)?)?;
        let classes = raw.target.classes.len();
        let PartSelection { report, svm, rules } = &found;
        let selected = selected(report);
        if selected.is_empty() {
            terminal.warn(&format!("{}: no feature was selected; the most frequent class is predicted", fold.name));
        }
        let status = report.selection.outcome.status;
        let trained = report.model.is_none() && !selected.is_empty();
        Ok(Some(FoldResult {
            repeat: fold.repeat,
            fold: fold.name.clone(),
            metrics: judged.metrics(classes),
            confusion: judged.confusion(classes),
            n_test: fold.test.len(),
            seconds,
            status: status.name().to_owned(),
            stopped: status.is_limit() || time.cut_short(),
            cost: report.cost.unwrap_or(svm.cost),
            fit_cost: trained.then(|| report.fit_settings(svm, fit_cost, rules).svm.cost),
            gamma: learned.gamma(),
            max_features: self.options.sizes[size],
            inner,
            set_f1: truth.map(|truth| set_f1(&selected, truth)),
            selected,
        }))
    }

    /// The recipe and the size of best accuracy in a cross-validation of the training part; nothing
    /// when cancelled.
    fn tune(
        &self,
        raw: &Raw,
        rows: &[usize],
        time: &mut FoldTime,
        cancel: &Cancel,
    ) -> Result<Option<TuningChoice>, Failure> {
        let (n_recipes, n_sizes) = (self.recipes.choices.len(), self.sources.len());
        let n_fits = self.recipes.fit_costs.len();
        if !self.is_tuned() {
            return Ok(Some(TuningChoice { recipe: 0, fit: 0, size: 0, inner: Vec::new() }));
        }
        let part = raw.strata().rows(rows);
        if self.options.inner > rows.len() {
            let (inner, n) = (self.options.inner, rows.len());
            return Err(Failure::Input(format!("--inner-cv is {inner}, but the training part has {n} samples")));
        }
        let folds = Folds::new(fewest_data::stratified_folds(&part, self.options.inner, self.options.seed))?;
        // By size, and by recipe and cost of the classifier; one for each inner fold.
        let mut scores = vec![vec![Vec::new(); self.recipes.count()]; n_sizes];
        for f in 0..folds.count() {
            let (outside, inside) = folds.split(f);
            let of = |list: Vec<usize>| list.into_iter().map(|at| rows[at]).collect::<Vec<usize>>();
            let prepared = self.part.prepare(raw, &of(outside))?;
            let held = HeldOut::new(raw, &of(inside), &prepared)?;
            for recipe in 0..n_recipes {
                for size in 0..n_sizes {
                    let (options, source) = (&self.recipes.choices[recipe], &self.sources[size]);
                    let found = PartLearner::select(&prepared, options, source, time, cancel)?;
                    for fit in 0..n_fits {
                        let learned =
                            FoldModel::train(&prepared, &found, (options, self.recipes.fit_costs[fit]), cancel)?;
                        if cancel.is_cancelled() {
                            return Ok(None);
                        }
                        scores[size][recipe * n_fits + fit].push(learned.predict(&prepared, &held)?.accuracy());
                    }
                }
            }
        }
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let best = |recipes: &Vec<Vec<f64>>| {
            let means: Vec<f64> = recipes.iter().map(mean).collect();
            (0..means.len()).fold(0, |best, at| if means[at] > means[best] + 1e-12 { at } else { best })
        };
        let chosen: Vec<usize> = scores.iter().map(best).collect();
        let of_size: Vec<Vec<f64>> = chosen.iter().zip(&scores).map(|(&at, scores)| scores[at].clone()).collect();
        let size = choose_size(&of_size, self.options.choose)?;
        let inner = |(scores, &max_features): (&Vec<f64>, &Option<usize>)| {
            let summary = Summary::new(scores, 0.0);
            InnerScore { max_features, accuracy: summary.mean, se: summary.se }
        };
        let inner = if n_sizes > 1 { of_size.iter().zip(&self.options.sizes).map(inner).collect() } else { Vec::new() };
        let (recipe, fit) = (chosen[size] / n_fits, chosen[size] % n_fits);
        Ok(Some(TuningChoice { recipe, fit, size, inner }))
    }
}
