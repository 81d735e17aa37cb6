//! One fold: prepare, tune, select and train on its training part, then judge the samples held out.

use std::time::Instant;

use fewest::model::{FitSettings, Model};
use fewest::validation::{Folds, Metrics, Summary, choose_size, confusion, set_f1};
use fewest::{Cancel, Limits, Rules, Silent, Status, SvmSettings};
use fewest_data::Features;
use serde::{Deserialize, Serialize};

use super::plan::{Fold, Options};
use crate::args::high::{self, ClassWeight};
use crate::args::low::SelectionArgs;
use crate::args::method::{Asked, Found};
use crate::args::rules::RuleSource;
use crate::commands::prepare::{Preparation, Prepared, Raw, listed};
use crate::commands::selection::rules;
use crate::failure::Failure;
use crate::terminal::{Level, Terminal};

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
    /// Slack cost of the classifier.
    pub(crate) cost: f64,
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

/// How well a size does in the cross-validation inside a fold, with its best cost and gamma.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InnerScore {
    max_features: Option<usize>,
    /// Mean over the inner folds.
    accuracy: f64,
    /// Its standard error.
    se: Option<f64>,
}

/// A method with one choice of what is tuned.
struct Recipe {
    asked: Asked,
    svm: SvmSettings,
}

/// A method, ready to learn from any samples.
pub(crate) struct Learner<'a> {
    args: &'a SelectionArgs,
    options: &'a Options,
    class_weight: ClassWeight,
    limits: Limits,
    recipes: Vec<Recipe>,
    /// Rules by size.
    sources: Vec<RuleSource>,
}

/// Recipe and size, and how well each size did.
type Tuned = (usize, usize, Vec<InnerScore>);

/// Samples and what a classifier says of them.
struct Predictions {
    truth: Vec<u32>,
    predicted: Vec<u32>,
    /// Sample after sample, one for each machine; empty where the most frequent class is predicted.
    decisions: Vec<f64>,
}

/// Samples to judge, scaled as those learned from.
struct Held {
    features: Features,
    truth: Vec<u32>,
}

/// A classifier, and how it came about.
struct Learned {
    found: Found,
    model: Option<Model>,
    cost: f64,
}

impl<'a> Learner<'a> {
    /// The method with all choices of what is tuned.
    ///
    /// # Errors
    /// A value out of range, or one that the method does not have.
    pub(crate) fn new(args: &'a SelectionArgs, options: &'a Options) -> Result<Self, Failure> {
        let mut recipes = Vec::new();
        let costs = if options.costs.is_empty() { vec![args.svm.cost] } else { options.costs.clone() };
        let gammas: Vec<Option<String>> = match options.gammas.as_slice() {
            [] => vec![args.own.gamma.clone()],
            several => several.iter().cloned().map(Some).collect(),
        };
        for &cost in &costs {
            for gamma in &gammas {
                let mut args = args.clone();
                (args.svm.cost, args.own.gamma) = (cost, gamma.clone());
                let asked = Asked::read(&args)?;
                recipes.push(Recipe { svm: asked.svm(&args.svm)?, asked });
            }
        }
        let sources: Vec<RuleSource> =
            options.sizes.iter().map(|&size| RuleSource::read(&args.rules, size)).collect::<Result<_, _>>()?;
        if !sources[0].bounds_size() && !recipes[0].asked.finds_size() {
            return Err(Failure::input(
                "say how many features to keep: --max-features K, or K..L to choose the size inside each fold",
            ));
        }
        Ok(Self {
            args,
            options,
            class_weight: ClassWeight::read(&args.svm.class_weight)?,
            limits: high::limits(&args.limits)?,
            recipes,
            sources,
        })
    }

    /// The method's name.
    pub(crate) fn method(&self) -> &str {
        &self.args.method
    }

    fn preparation<'b>(&'b self, folds: Option<&'b str>) -> Preparation<'b> {
        Preparation {
            data: &self.args.data,
            prepare: &self.args.prepare,
            class_weight: &self.class_weight,
            variance_threshold: self.args.rules.variance_threshold,
            validate: None,
            folds,
        }
    }

    /// Reads the data; also the memory that is left for kernel values, for [`Learner::set_memory`].
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub(crate) fn load(&self, folds: Option<&str>, terminal: Terminal) -> Result<(Raw, u64), Failure> {
        let mut svm = self.recipes[0].svm.clone();
        let raw = self.preparation(folds).load(&mut svm, terminal)?;
        Ok((raw, svm.memory))
    }

    /// Sets the memory that a selection may use.
    pub(crate) fn set_memory(&mut self, memory: u64) {
        for recipe in &mut self.recipes {
            recipe.svm.memory = memory;
        }
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
        cancel: &Cancel,
        terminal: Terminal,
    ) -> Result<Option<FoldResult>, Failure> {
        let start = Instant::now();
        let train: Vec<usize> = (0..raw.target.codes.len()).filter(|i| fold.test.binary_search(i).is_err()).collect();
        let Some((recipe, size, inner)) = self.tune(raw, &train, cancel)? else { return Ok(None) };
        let prepared = self.prepare(raw, &train)?;
        let learned = self.learn(&prepared, recipe, size, cancel)?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        let judged = learned.predict(&prepared, &Held::new(raw, &fold.test, &prepared)?);
        let classes = raw.target.classes.len();
        let selected: Vec<usize> =
            learned.found.selection.outcome.subset.as_ref().map_or_else(Vec::new, |s| s.iter().collect());
        if selected.is_empty() {
            terminal.warn(&format!("{}: no feature was selected; the most frequent class is predicted", fold.name));
        }
        let status = learned.found.selection.outcome.status;
        Ok(Some(FoldResult {
            repeat: fold.repeat,
            fold: fold.name.clone(),
            metrics: Metrics::new(&judged.truth, &judged.predicted, &judged.decisions, classes),
            confusion: confusion(&judged.truth, &judged.predicted, classes),
            n_test: fold.test.len(),
            seconds,
            status: status.name().to_owned(),
            stopped: status.is_limit(),
            cost: learned.cost,
            gamma: learned.model.as_ref().and_then(|m| m.kernel.gamma()),
            max_features: self.options.sizes[size],
            inner,
            set_f1: truth.map(|truth| set_f1(&selected, truth)),
            selected,
        }))
    }

    /// The recipe and the size of best accuracy in a cross-validation of the training part; nothing when cancelled.
    fn tune(&self, raw: &Raw, rows: &[usize], cancel: &Cancel) -> Result<Option<Tuned>, Failure> {
        let (n_recipes, n_sizes) = (self.recipes.len(), self.sources.len());
        if n_recipes * n_sizes == 1 {
            return Ok(Some((0, 0, Vec::new())));
        }
        let part = raw.target.rows(rows);
        if self.options.inner > rows.len() {
            let (inner, n) = (self.options.inner, rows.len());
            return Err(Failure::Input(format!("--inner-cv is {inner}, but the training part has {n} samples")));
        }
        let folds = Folds::new(fewest_data::stratified_folds(&part, self.options.inner, self.options.seed))?;
        // By size and recipe, one for each inner fold.
        let mut scores = vec![vec![Vec::new(); n_recipes]; n_sizes];
        for f in 0..folds.count() {
            let (outside, inside) = folds.split(f);
            let of = |list: Vec<usize>| list.into_iter().map(|at| rows[at]).collect::<Vec<usize>>();
            let prepared = self.prepare(raw, &of(outside))?;
            let held = Held::new(raw, &of(inside), &prepared)?;
            for recipe in 0..n_recipes {
                for size in 0..n_sizes {
                    let learned = self.learn(&prepared, recipe, size, cancel)?;
                    if cancel.is_cancelled() {
                        return Ok(None);
                    }
                    let Predictions { truth, predicted, .. } = learned.predict(&prepared, &held);
                    let right = truth.iter().zip(&predicted).filter(|(t, p)| t == p).count();
                    scores[size][recipe].push(right as f64 / truth.len() as f64);
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
        Ok(Some((chosen[size], size, inner)))
    }

    /// These samples alone, prepared.
    fn prepare(&self, raw: &Raw, rows: &[usize]) -> Result<Prepared, Failure> {
        let prepared = self.preparation(None).prepare(raw.rows(rows), Terminal::new(Level::Quiet))?;
        match prepared.target.counts().iter().position(|&count| count == 0) {
            Some(class) => Err(Failure::Input(format!(
                "no sample of class {} is left to train on; use fewer or other folds, or leave that class out",
                prepared.target.classes[class]
            ))),
            None => Ok(prepared),
        }
    }

    /// Selects and trains on prepared samples alone.
    fn learn(&self, prepared: &Prepared, recipe: usize, size: usize, cancel: &Cancel) -> Result<Learned, Failure> {
        let Recipe { asked, svm } = &self.recipes[recipe];
        let list = rules(&self.sources[size], prepared, Terminal::new(Level::Quiet))?;
        let method = asked.resolve(svm, prepared, list.max_features)?;
        let rules = Rules::new(prepared.data.names.len(), list, listed(&prepared.data.names))?;
        let nodes = self.limits.nodes.filter(|_| method.proves());
        let limits = Limits { cancel: cancel.clone(), nodes, ..self.limits.clone() };
        let mut found = method.select(prepared, &rules, None, limits, &mut Silent)?;
        let cost = found.cost.unwrap_or(svm.cost);
        let features: Vec<usize> =
            found.selection.outcome.subset.as_ref().map_or_else(Vec::new, |s| s.iter().collect());
        let model = match found.model.take() {
            Some(model) => Some(model),
            None if features.is_empty() => None,
            None => {
                let svm = SvmSettings { cost, ..svm.clone() };
                let settings = FitSettings { svm, kernel: method.kernel(features.len()) };
                let mut stop = || cancel.is_cancelled().then_some(Status::Cancelled);
                Some(prepared.train(&features, &settings, &mut stop)?.model)
            }
        };
        Ok(Learned { found, model, cost })
    }
}

impl Held {
    fn new(raw: &Raw, rows: &[usize], prepared: &Prepared) -> Result<Self, Failure> {
        let part = raw.rows(rows);
        Ok(Self { truth: part.target.codes, features: prepared.scaled(part.data.features)? })
    }
}

impl Learned {
    /// Judges samples; `prepared` are those it learned from.
    fn predict(&self, prepared: &Prepared, held: &Held) -> Predictions {
        let truth = held.truth.clone();
        let Some(model) = &self.model else {
            let counts = prepared.target.counts();
            let most = counts.iter().max().copied().unwrap_or(0);
            let class = counts.iter().position(|&count| count == most).unwrap_or(0) as u32;
            return Predictions { predicted: vec![class; truth.len()], decisions: Vec::new(), truth };
        };
        let decisions = model.decisions(held.features.as_design());
        let predicted = model.votes(&decisions);
        Predictions { truth, predicted, decisions }
    }
}
