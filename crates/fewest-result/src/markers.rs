//! The markers that tell classes apart, as their file has them. docs/formats/markers.md says what each
//! entry is.

use fewest::validation::{Stability, Summary, macro_f1};
use fewest::{Loss, MultiClass, Status, WeightBounds};
use fewest_data::ScaleKind;
use fewest_eval::ClassWeights;
use fewest_eval::evaluate::FoldResult;
use fewest_eval::markers::{
    ClassReport, JudgedFolds, LevelClasses, Lost, MarkerPanel, MarkersEffort, MarkersReport, MarkersSettings,
};
use serde::Serialize;

use crate::{About, Asked, ByName, NamedData, Proven, RulesAsked, entries};

/// Markers with names: of features, classes and settings.
#[derive(Clone, Copy)]
pub struct MarkersContext<'a> {
    /// Features, classes and samples.
    pub data: NamedData<'a>,
    /// What was asked of the markers.
    pub settings: &'a MarkersSettings,
    /// Share of the gain at which the search may end.
    pub gap: f64,
    /// Nodes at which it may end.
    pub node_limit: Option<u64>,
}

/// The few features that tell all classes apart, and what they are worth in folds.
#[derive(Debug, Clone, Serialize)]
pub struct Markers {
    status: Status,
    #[serde(flatten)]
    about: About,
    panel: Option<Panel>,
    macro_f1: Option<Summary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<OfLevel>,
    summary: ByName<Summary>,
    by_class: Vec<OfClass>,
    confused: Vec<Confused>,
    confusion: Vec<Vec<u64>>,
    folds: Vec<MarkersFold>,
    samples_in_folds: usize,
    effort: MarkersEffort,
    stability: Option<Stability>,
    frequency: ByName<f64>,
    required: Option<Required>,
    /// Macro F1 in folds without one marker.
    without_one: Option<Lost>,
    settings: Asked,
    command: String,
    seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
struct Panel {
    features: Vec<String>,
    #[serde(flatten)]
    proven: Proven,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    cost: f64,
    class_cost: Option<f64>,
    loss: Loss,
    multi_class: MultiClass,
    class_weight: ClassWeights,
    scale: ScaleKind,
    markers: Vec<Marker>,
}

#[derive(Debug, Clone, Serialize)]
struct Marker {
    feature: String,
    index: usize,
    rank: usize,
    /// The class of the largest mean.
    highest: String,
    mean: ByName<f64>,
    share: ByName<f64>,
    weight: ByName<f64>,
    tells_apart: Vec<Contribution>,
    /// Share of the folds that chose it.
    frequency: f64,
    /// Share of the halves whose elimination keeps it.
    recurs: Option<f64>,
    replaceable_by: Vec<StandIn>,
}

/// A feature that can take the place of a marker, at this share of what the panel gains.
#[derive(Debug, Clone, Serialize)]
struct StandIn {
    feature: String,
    index: usize,
    price: f64,
}

/// A pair of classes that a marker separates.
#[derive(Debug, Clone, Serialize)]
struct Contribution {
    high: String,
    low: String,
    share: f64,
}

#[derive(Debug, Clone, Serialize)]
struct OfClass {
    class: String,
    #[serde(flatten)]
    worth: ClassReport,
}

/// A level of the hierarchy of classes in the folds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OfLevel {
    name: String,
    classes: Vec<String>,
    macro_f1: Option<Summary>,
}

impl OfLevel {
    /// The levels, coarse to fine, the classes themselves last; none without a hierarchy.
    pub(crate) fn all(judged: &JudgedFolds, settings: &MarkersSettings, data: NamedData<'_>) -> Vec<Self> {
        let of = |level: LevelClasses| Self {
            macro_f1: judged.macro_f1_of(&level.of),
            name: level.name,
            classes: level.classes,
        };
        settings.levels(data.target).into_iter().map(of).collect()
    }
}

/// A pair of classes that is told apart poorly.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Confused {
    class: String,
    taken_for: String,
    samples: u64,
    share: f64,
}

#[derive(Debug, Clone, Serialize)]
struct MarkersFold {
    fold: String,
    samples: usize,
    cost: f64,
    macro_f1: f64,
    accuracy: f64,
    balanced_accuracy: f64,
    status: String,
    features: Vec<String>,
}

/// The required features alone, and what the others add.
#[derive(Debug, Clone, Serialize)]
struct Required {
    features: Vec<String>,
    macro_f1: Option<Summary>,
    summary: ByName<Summary>,
    difference: Option<Summary>,
}

/// Settings of markers as their result has them.
#[derive(Debug, Serialize)]
pub(crate) struct MarkersAsked {
    max_features: Option<usize>,
    per_class: usize,
    robust: usize,
    expression: [Option<f64>; 2],
    multi_class: MultiClass,
    hierarchy: Vec<String>,
    level_weights: Vec<f64>,
    folds: usize,
    sample: usize,
    seed: u64,
    cost: Option<f64>,
    class_cost: f64,
    halves: usize,
    slack: f64,
    loss: Loss,
    gap: f64,
    node_limit: Option<u64>,
}

impl MarkersAsked {
    /// These settings, and what may end a search.
    pub(crate) fn new(settings: &MarkersSettings, gap: f64, node_limit: Option<u64>) -> Self {
        Self {
            max_features: settings.rules.max_features,
            per_class: settings.per_class,
            robust: settings.robust,
            expression: settings.expression,
            multi_class: settings.multi_class,
            hierarchy: settings.hierarchy.iter().map(|level| level.name.clone()).collect(),
            level_weights: settings.level_weights.clone(),
            folds: settings.folds,
            sample: settings.sample,
            seed: settings.seed,
            cost: settings.cost,
            class_cost: settings.class_cost,
            halves: settings.halves,
            slack: settings.slack,
            loss: settings.loss,
            gap,
            node_limit,
        }
    }
}

impl Confused {
    /// The pairs by name, the worst first.
    pub(crate) fn all(judged: &JudgedFolds, data: NamedData<'_>) -> Vec<Self> {
        let named = |pair: fewest_eval::markers::Confused| Self {
            class: data.class(pair.class),
            taken_for: data.class(pair.taken_for),
            samples: pair.samples,
            share: pair.share,
        };
        judged.confused().into_iter().map(named).collect()
    }
}

impl Markers {
    /// The file of the panel's proof, once it is written.
    pub fn proven_in(&mut self, file: String) {
        if let Some(panel) = &mut self.panel {
            panel.proof = Some(file);
        }
    }
}

impl MarkersContext<'_> {
    /// The markers that were found; `about` is of the data, `asked` of the data and the settings
    /// ([`MarkersContext::asked`]).
    pub fn markers(
        &self,
        found: &MarkersReport,
        about: About,
        asked: Asked,
        (command, seconds): (&str, f64),
    ) -> Markers {
        let data = self.data;
        let classes = data.target.classes.iter().cloned().zip(found.judged.classes());
        Markers {
            status: found.status,
            panel: found.panel.as_ref().map(|panel| self.panel(panel, found)),
            macro_f1: found.judged.macro_f1(),
            levels: OfLevel::all(&found.judged, self.settings, data),
            summary: found.judged.summaries().into_iter().collect(),
            by_class: classes.map(|(class, worth)| OfClass { class, worth }).collect(),
            confused: Confused::all(&found.judged, data),
            confusion: found.judged.confusion(),
            folds: found.judged.folds.iter().map(|fold| self.fold(fold)).collect(),
            samples_in_folds: found.sampled,
            effort: found.effort,
            stability: found.judged.stability(),
            frequency: found.judged.frequency().into_iter().map(|(j, share)| (data.name(j), share)).collect(),
            required: found.required.as_ref().map(|alone| Required {
                features: data.named(&self.settings.rules.require),
                macro_f1: alone.macro_f1(),
                summary: alone.summaries().into_iter().collect(),
                difference: found.judged.less(alone),
            }),
            without_one: found.lost,
            settings: asked,
            command: command.to_owned(),
            seconds,
            about,
        }
    }

    fn fold(&self, fold: &FoldResult) -> MarkersFold {
        MarkersFold {
            fold: fold.fold.clone(),
            samples: fold.n_test,
            cost: fold.cost,
            macro_f1: macro_f1(&fold.confusion),
            accuracy: fold.metrics.accuracy,
            balanced_accuracy: fold.metrics.balanced_accuracy,
            status: fold.status.clone(),
            features: self.data.named(&fold.selected),
        }
    }

    fn panel(&self, panel: &MarkerPanel, found: &MarkersReport) -> Panel {
        let frequency = found.judged.frequency();
        let often = |feature: usize| frequency.iter().find(|of| of.0 == feature).map_or(0.0, |of| of.1);
        let class = |code| self.data.class(code);
        let by_class = |values: &[f64]| ByName::new(self.data.target.classes.clone(), values.iter().copied());
        let stand_in = |of: &fewest_eval::markers::StandIn| StandIn {
            feature: self.data.name(of.feature),
            index: of.feature,
            price: of.price,
        };
        let each = panel.table.iter().zip(&panel.apart).zip(&panel.standing);
        let markers = each.enumerate().map(|(at, ((table, apart), standing))| {
            let pairs = apart.pairs.iter();
            Marker {
                feature: self.data.name(table.feature),
                index: table.feature,
                rank: at + 1,
                highest: class(table.highest() as u32),
                mean: by_class(&table.mean),
                share: by_class(&table.share),
                weight: by_class(&apart.weight),
                tells_apart: pairs
                    .map(|pair| Contribution { high: class(pair.high), low: class(pair.low), share: pair.share })
                    .collect(),
                frequency: often(table.feature),
                recurs: standing.recurs,
                replaceable_by: standing.replaceable_by.iter().map(stand_in).collect(),
            }
        });
        Panel {
            features: self.data.named(&panel.features),
            proven: (&panel.outcome).into(),
            proof: None,
            cost: panel.svm.cost,
            class_cost: self.settings.cost.is_none().then_some(self.settings.class_cost),
            loss: panel.svm.loss,
            multi_class: self.settings.multi_class,
            class_weight: self.settings.preparation.class_weight.clone(),
            scale: panel.learnt.scaling.kind,
            markers: markers.collect(),
        }
    }

    /// What was asked: of the data what `asked` says, of the markers their settings.
    #[must_use]
    pub fn asked(&self, asked: Asked) -> Asked {
        let settings = self.settings;
        let own = MarkersAsked::new(settings, self.gap, self.node_limit);
        let mut all = entries(&own);
        all.extend(asked.own);
        Asked {
            variance_threshold: settings.preparation.variance_threshold,
            rules: Some(RulesAsked::new(&settings.rules, &WeightBounds::default(), self.data.names)),
            own: all,
            ..asked
        }
    }
}
