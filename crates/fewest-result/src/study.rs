//! What a study found, as its file has it. docs/formats/study.md says what each entry is.

use std::collections::BTreeMap;

use fewest::validation::{Stability, Summary};
use fewest::{Bias, Loss, Sense, Status, SvmSettings};
use fewest_data::{Indicator, Normalized, Note, ReadOptions};
use fewest_eval::study::{
    Calibration, Choice, ChoiceReport, Effort, FoldReport, InnerSize, NetBenefit, Panel as PanelReport, PointsLevel,
    Prefer, Probabilities, RocPoint, Score, StudyMethod, StudyReport, StudySettings, Tried as TriedReport,
};
use serde::Serialize;

use crate::{
    About, Asked, ByName, Certificate, ClassNames, Document, FeatureImputation, FeatureScaling, JudgedSamples, Kind,
    Measures, ModelRecord, NamedData, Place, Proven, Solution, TrainedModel, WrongSample, entries, levels_of,
    measures_and_losses,
};

/// The data and the settings of a study, by name.
pub struct StudyContext<'a> {
    /// Features, classes and samples.
    pub data: NamedData<'a>,
    /// Features that mark missing values.
    pub indicators: &'a [Indicator],
    /// What reading did; of it the values of text columns.
    pub read: &'a [Note],
    /// What is done to values as they are read.
    pub normalized: Option<&'a Normalized>,
    /// How the cells were understood.
    pub reading: &'a ReadOptions,
    /// What was asked of the study.
    pub settings: &'a StudySettings,
    /// Share of the gain at which the proof of the panel may end.
    pub gap: f64,
    /// What it found.
    pub found: &'a StudyReport,
}

/// A study: a panel, and what it is worth on samples that took no part in the choice.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::option_option, reason = "what was not asked has no entry, what was and is not known is null")]
pub struct Study {
    status: Status,
    #[serde(flatten)]
    about: About,
    summary: ByName<Summary>,
    recall: ByName<Option<Summary>>,
    roc: Option<Vec<RocPoint>>,
    calibration: Option<Calibration>,
    decision_curve: Option<Vec<NetBenefit>>,
    confusion: Vec<Vec<u64>>,
    panel: Option<Document<Panel>>,
    prefer: Prefer,
    panels: Option<Panels>,
    largest_size: bool,
    left_out: Vec<LeftOut>,
    frequency: ByName<f64>,
    stability: Option<Stability>,
    sizes: Vec<InnerSize>,
    tried: Vec<Tried>,
    effort: Effort,
    folds: Vec<OuterFold>,
    wrong: Vec<WrongSample>,
    settings: Asked,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Option<Points>>,
    /// What the panel is worth on the samples of another file, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<Option<JudgedSamples>>,
    command: String,
    seconds: f64,
}

/// The panel, with the keys of a selection.
#[derive(Debug, Clone, Serialize)]
struct Panel {
    #[serde(flatten)]
    choice: Choice,
    n_samples: usize,
    n_features: usize,
    target: String,
    classes: ClassNames,
    class_counts: ByName<u64>,
    #[serde(flatten)]
    proven: Proven,
    sense: Sense,
    selected: Vec<String>,
    selected_indices: Vec<usize>,
    settings: PanelSettings,
    model: Option<ModelRecord>,
    ranking: Vec<Place>,
    solutions: Vec<Solution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    replacements: Vec<Replacements>,
    probabilities: Option<Probabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<Threshold>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct PanelSettings {
    max_features: usize,
    cost: Option<f64>,
    fit_cost: f64,
    gap: f64,
}

/// What could take the place of a feature.
#[derive(Debug, Clone, Serialize)]
struct Replacements {
    feature: String,
    without: f64,
    by: Vec<ReplacedBy>,
}

#[derive(Debug, Clone, Serialize)]
struct ReplacedBy {
    feature: String,
    objective: f64,
}

/// The threshold that the wanted sensitivity led to, and the bias that the classifier was trained to;
/// that of the model is less by the threshold.
#[derive(Debug, Clone, Copy, Serialize)]
struct Threshold {
    sensitivity: Option<f64>,
    value: f64,
    trained_intercept: Option<f64>,
}

/// What the rule takes and the smallest size that is as good, each with what it comes to in the outer
/// folds.
#[derive(Debug, Clone, Serialize)]
struct Panels {
    best: OnePanel,
    smallest: OnePanel,
    difference: Option<Summary>,
}

#[derive(Debug, Clone, Serialize)]
struct OnePanel {
    #[serde(flatten)]
    choice: Choice,
    selected: Vec<String>,
    summary: BTreeMap<&'static str, Summary>,
    stability: Option<Stability>,
}

/// A method that was not tried.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    /// The method.
    pub method: StudyMethod,
    /// The reason.
    pub why: String,
}

/// A method at its best; the score has the name of the rule.
#[derive(Debug, Clone, Serialize)]
struct Tried {
    #[serde(flatten)]
    choice: Choice,
    accuracy: Option<f64>,
    #[serde(flatten)]
    score: ByName<f64>,
    stability: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
struct OuterFold {
    fold: String,
    repeat: usize,
    #[serde(flatten)]
    choice: Choice,
    selected: Vec<String>,
    n_features: usize,
    metrics: Measures,
    confusion: Vec<Vec<u64>>,
    n_test: usize,
    test: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_samples: Option<Vec<String>>,
    predicted: Vec<String>,
    probabilities: Option<Vec<f64>>,
    class_probabilities: Option<Vec<Vec<f64>>>,
    inner: Vec<InnerSize>,
    status: Status,
    stopped: bool,
    seconds: f64,
    other: Option<OtherChoice>,
}

/// The choice of a fold that is not the panel's.
#[derive(Debug, Clone, Serialize)]
struct OtherChoice {
    #[serde(flatten)]
    choice: Choice,
    selected: Vec<String>,
    accuracy: f64,
    auc: Option<f64>,
    log_loss: Option<f64>,
}

/// The panel as points, and what these are worth in the outer folds.
#[derive(Debug, Clone, Serialize)]
struct Points {
    features: Vec<PointsOf>,
    threshold: i64,
    probabilities: Vec<TotalProbability>,
    summary: Option<BTreeMap<&'static str, Summary>>,
    difference: Option<BTreeMap<&'static str, Summary>>,
}

#[derive(Debug, Clone, Serialize)]
struct PointsOf {
    feature: String,
    levels: Vec<PointsLevel>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct TotalProbability {
    total: i64,
    probability: f64,
}

impl StudyContext<'_> {
    /// The panel's classifier with its names and scaling; none without a panel.
    pub fn trained(&self) -> Option<TrainedModel> {
        let panel = self.found.panel.as_ref()?;
        let names = self.data.named(&panel.selected);
        let imputation = panel.imputation.as_ref();
        Some(TrainedModel {
            scaling: FeatureScaling::new(&panel.scaling, &panel.selected),
            normalized: self.normalized.cloned(),
            reading: self.reading.clone(),
            levels: levels_of(self.read, &names),
            imputation: imputation
                .map(|i| FeatureImputation::new(i, self.indicators, self.data.names, &panel.selected)),
            model: panel.model.clone()?,
            classes: self.data.target.classes.clone(),
            target: self.data.target.column.clone(),
            n_columns: self.data.names.len(),
            svm: SvmSettings { cost: panel.choice.fit_cost, ..self.settings.svm.clone() },
            calibration: panel.calibration.clone(),
            names,
        })
    }

    /// What was asked: of the data what `asked` says, of the study its settings and what it made of them.
    fn asked(&self, asked: Asked) -> Asked {
        let settings = self.settings;
        let own = StudyAsked {
            sensitivity: settings.sensitivity,
            max_features: &self.found.sizes,
            methods: &self.found.methods,
            folds: settings.folds,
            repeats: settings.repeats,
            inner_cv: settings.inner_folds,
            inner_repeats: settings.inner_repeats,
            seed: settings.seed,
            cost_points: settings.cost_points,
            choose: settings.rule,
            prefer: settings.prefer,
            calibration: "platt",
            loss: settings.svm.loss,
            bias: settings.svm.bias,
            tolerance: settings.svm.tolerance,
            memory: settings.svm.memory,
            selection_time_limit: settings.selection_seconds,
            gap: self.gap,
            node_limit: settings.proof_nodes,
            solutions: settings.solutions,
            points: settings.points,
        };
        let mut all = entries(&own);
        all.extend(asked.own);
        Asked { variance_threshold: settings.variance_threshold, own: all, ..asked }
    }

    /// Methods that were not tried, and why; `again` says how one is tried nevertheless.
    pub fn left_out(&self, again: &dyn Fn(StudyMethod) -> String) -> Vec<LeftOut> {
        let (n, p) = (self.data.target.codes.len(), self.data.names.len());
        let why = |method: StudyMethod| match method {
            method if self.settings.bounds_weights() && !method.keeps_bounds() => {
                "it keeps no bounds on weights".to_owned()
            }
            StudyMethod::Kta if self.settings.points => {
                "points need a linear classifier, and its own has a kernel".to_owned()
            }
            method => format!("{n} samples of {p} features take it long; {}", again(method)),
        };
        self.found.left_out.iter().map(|&method| LeftOut { method, why: why(method) }).collect()
    }

    /// The study; `about` is of the data, `asked` says what was asked of the data and of the door.
    pub fn study(&self, about: About, asked: Asked, left_out: Vec<LeftOut>, (command, seconds): (&str, f64)) -> Study {
        let (found, settings) = (self.found, self.settings);
        let judged = found.folds.iter().map(|fold| &fold.judgement);
        let worth = found.probabilities(&self.data.target.codes);
        let (calibration, curves) = worth.map(|of| (of.calibration, (of.roc, of.decision_curve))).unzip();
        let (roc, decision_curve) = curves.unzip();
        Study {
            status: found.status,
            summary: found.summary().into_iter().collect(),
            recall: ByName::new(self.data.target.classes.iter().cloned(), found.recall()),
            roc,
            calibration,
            decision_curve,
            confusion: self.confusion(),
            panel: found.panel.as_ref().map(|panel| Document::new(Kind::Selection, self.panel(panel, &about))),
            prefer: settings.prefer,
            panels: found.choices(settings.prefer).map(|[best, smallest]| Panels {
                best: self.one_panel(best),
                smallest: self.one_panel(smallest),
                difference: found.difference(),
            }),
            largest_size: found.took_largest(),
            left_out,
            frequency: found.frequency().into_iter().map(|(j, share)| (self.data.name(j), share)).collect(),
            stability: found.stability(),
            sizes: found.inner.clone(),
            tried: found.tried.iter().map(|tried| self.tried(tried)).collect(),
            effort: found.effort,
            folds: found.folds.iter().map(|fold| self.fold(fold)).collect(),
            wrong: self.data.wrong(judged.map(|judged| (&judged.test[..], &judged.predicted[..]))),
            settings: self.asked(asked),
            points: settings.points.then(|| self.points()),
            external: None,
            command: command.to_owned(),
            seconds,
            about,
        }
    }

    /// Rows: true classes, columns: predicted ones; over all outer folds.
    fn confusion(&self) -> Vec<Vec<u64>> {
        let k = self.data.target.classes.len();
        let mut total = vec![vec![0; k]; k];
        for fold in &self.found.folds {
            for (sum, row) in total.iter_mut().zip(&fold.judgement.confusion) {
                sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            }
        }
        total
    }

    fn panel(&self, panel: &PanelReport, about: &About) -> Panel {
        let (choice, selection) = (panel.choice, &panel.report.selection);
        let own =
            selection.outcome.subset.as_ref().map(|of| Solution::new(of, selection.outcome.objective, self.data.names));
        let solutions: Vec<Solution> =
            panel.solutions.iter().map(|of| Solution::new(&of.subset, Some(of.objective), self.data.names)).collect();
        let by = |&(j, objective): &(usize, f64)| ReplacedBy { feature: self.data.name(j), objective };
        let replacements = panel.swaps.iter().map(|swap| Replacements {
            feature: self.data.name(swap.feature),
            without: swap.without,
            by: swap.by.iter().map(by).collect(),
        });
        let trained_intercept =
            panel.model.as_ref().and_then(|model| model.machines.first()).map(|machine| machine.solution.bias);
        Panel {
            choice,
            n_samples: about.n_samples,
            n_features: about.n_features,
            target: about.target.clone(),
            classes: about.classes.clone(),
            class_counts: about.class_counts.clone(),
            proven: panel.outcome().into(),
            sense: panel.outcome().sense,
            selected: self.data.named(&panel.selected),
            selected_indices: panel.selected.clone(),
            settings: PanelSettings {
                max_features: choice.max_features,
                cost: choice.cost,
                fit_cost: choice.fit_cost,
                gap: self.gap,
            },
            model: self.trained().map(|trained| trained.record()),
            ranking: selection.ranking.iter().map(|of| Place::new(of, self.data.name(of.feature))).collect(),
            solutions: if solutions.is_empty() { own.into_iter().collect() } else { solutions },
            certificate: panel.certificate.as_ref().map(|c| Certificate::new(c, panel.selected.len(), self.data.names)),
            proof: None,
            replacements: replacements.collect(),
            probabilities: panel.calibration.clone(),
            threshold: panel.threshold.map(|value| Threshold {
                sensitivity: self.settings.sensitivity,
                value,
                trained_intercept,
            }),
        }
    }

    fn one_panel(&self, of: ChoiceReport) -> OnePanel {
        let selected = self.data.named(&of.selected);
        OnePanel { choice: of.choice, selected, summary: of.summary, stability: of.stability }
    }

    fn tried(&self, tried: &TriedReport) -> Tried {
        Tried {
            choice: tried.choice,
            accuracy: tried.accuracy,
            score: ByName::new([self.settings.rule.name()], [tried.score]),
            stability: tried.stability,
        }
    }

    fn fold(&self, fold: &FoldReport) -> OuterFold {
        let judged = &fold.judgement;
        OuterFold {
            fold: (fold.fold + 1).to_string(),
            repeat: fold.repeat,
            choice: fold.choice,
            selected: self.data.named(&fold.selected),
            n_features: fold.selected.len(),
            metrics: measures_and_losses(&judged.metrics, &judged.confusion, [judged.log_loss, judged.brier]),
            confusion: judged.confusion.clone(),
            n_test: judged.test.len(),
            test: self.data.rows(&judged.test),
            test_samples: self.data.sample_names(&judged.test),
            predicted: self.data.classes(&judged.predicted),
            probabilities: judged.probabilities.clone(),
            class_probabilities: judged.class_probabilities.clone(),
            inner: fold.inner.clone(),
            status: fold.status,
            stopped: fold.stopped,
            seconds: fold.seconds,
            other: fold.other.as_ref().map(|other| OtherChoice {
                choice: other.choice,
                selected: self.data.named(&other.selected),
                accuracy: other.judgement.metrics.accuracy,
                auc: other.judgement.metrics.auc,
                log_loss: other.judgement.log_loss,
            }),
        }
    }

    fn points(&self) -> Option<Points> {
        let points = self.found.points.as_ref()?;
        let worth = self.found.points_worth();
        let (summary, difference) = worth.map(|worth| (worth.summary, worth.difference)).unzip();
        let features = points.features.iter();
        let totals = points.probabilities.iter();
        Some(Points {
            features: features
                .map(|of| PointsOf { feature: self.data.name(of.feature), levels: of.levels.clone() })
                .collect(),
            threshold: points.threshold,
            probabilities: totals.map(|&(total, probability)| TotalProbability { total, probability }).collect(),
            summary,
            difference,
        })
    }
}

impl Study {
    /// The file of the panel's proof, once it is written.
    pub fn proven_in(&mut self, file: String) {
        if let Some(panel) = &mut self.panel {
            panel.found.proof = Some(file);
        }
    }
}

/// Settings of a study as its result has them.
#[derive(Debug, Serialize)]
struct StudyAsked<'a> {
    sensitivity: Option<f64>,
    max_features: &'a [usize],
    methods: &'a [StudyMethod],
    folds: usize,
    repeats: usize,
    inner_cv: usize,
    inner_repeats: usize,
    seed: u64,
    cost_points: usize,
    choose: Score,
    prefer: Prefer,
    calibration: &'static str,
    loss: Loss,
    bias: Bias,
    tolerance: f64,
    memory: u64,
    selection_time_limit: Option<f64>,
    gap: f64,
    node_limit: u64,
    solutions: usize,
    points: bool,
}
