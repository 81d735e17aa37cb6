//! Lists of features side by side, as their file has them. docs/formats/comparison.md says what each entry
//! is.

use fewest::validation::Summary;
use fewest::{Loss, MultiClass, Status};
use fewest_data::ScaleKind;
use fewest_eval::ClassWeights;
use fewest_eval::markers::{ClassReport, Clusters, CompareReport, MarkersSettings};
use serde::Serialize;

use crate::markers::{Confused, MarkersAsked, OfLevel};
use crate::{About, Asked, ByName, NamedData, entries};

/// Lists with names: of themselves, of features, classes and settings.
#[derive(Clone, Copy)]
pub struct ComparisonContext<'a> {
    /// Features, classes and samples.
    pub data: NamedData<'a>,
    /// The name of each list.
    pub lists: &'a [String],
    /// The names in each list that the data do not have.
    pub missing: &'a [Vec<String>],
    /// What was asked.
    pub settings: &'a MarkersSettings,
    /// Share of the gain at which the search for a bound may end.
    pub gap: f64,
}

/// Lists of features on the same samples held out.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    status: Status,
    #[serde(flatten)]
    about: About,
    lists: Vec<List>,
    common: Vec<Common>,
    rare: Vec<String>,
    model: ModelOfAll,
    folds: Vec<String>,
    samples_in_folds: usize,
    settings: Asked,
    command: String,
    seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
struct List {
    name: String,
    features: Vec<String>,
    missing: Vec<String>,
    macro_f1: Option<Summary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<OfLevel>,
    /// Less that of the first list, fold by fold.
    difference: Option<Summary>,
    rare_recall: Option<Summary>,
    summary: ByName<Summary>,
    by_class: Vec<OfClass>,
    confused: Vec<Confused>,
    clusters: Option<Clusters>,
    objective: Option<f64>,
    baseline: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
    /// The best of its size that is known.
    best: Option<Best>,
}

#[derive(Debug, Clone, Serialize)]
struct OfClass {
    class: String,
    #[serde(flatten)]
    worth: ClassReport,
    /// F1 less that of the first list.
    difference: Option<Summary>,
}

#[derive(Debug, Clone, Serialize)]
struct Best {
    features: Vec<String>,
    objective: Option<f64>,
}

/// What two lists share.
#[derive(Debug, Clone, Serialize)]
struct Common {
    first: String,
    second: String,
    features: Vec<String>,
    jaccard: f64,
}

/// The SVM on each list.
#[derive(Debug, Clone, Serialize)]
struct ModelOfAll {
    cost: f64,
    class_cost: Option<f64>,
    loss: Loss,
    multi_class: MultiClass,
    class_weight: ClassWeights,
    scale: Option<ScaleKind>,
}

impl ComparisonContext<'_> {
    /// The lists that were compared; `about` is of the data, `asked` of the data and the settings
    /// ([`ComparisonContext::asked`]).
    pub fn comparison(
        &self,
        found: &CompareReport,
        about: About,
        asked: Asked,
        (command, seconds): (&str, f64),
    ) -> Comparison {
        let (data, settings) = (self.data, self.settings);
        let first = found.lists.first().map(|list| &list.judged);
        let pairs = (0..found.lists.len()).flat_map(|a| (a + 1..found.lists.len()).map(move |b| (a, b)));
        Comparison {
            status: found.status,
            lists: (0..found.lists.len()).map(|at| self.list(at, found)).collect(),
            common: pairs.map(|(a, b)| self.common(found, (a, b))).collect(),
            rare: found.rare.iter().map(|&class| data.class(class as u32)).collect(),
            model: ModelOfAll {
                cost: found.svm.cost,
                class_cost: settings.cost.is_none().then_some(settings.class_cost),
                loss: found.svm.loss,
                multi_class: settings.multi_class,
                class_weight: settings.preparation.class_weight.clone(),
                scale: settings.preparation.scale,
            },
            folds: first.map(|of| of.folds.iter().map(|fold| fold.fold.clone()).collect()).unwrap_or_default(),
            samples_in_folds: found.sampled,
            settings: asked,
            command: command.to_owned(),
            seconds,
            about,
        }
    }

    fn list(&self, at: usize, found: &CompareReport) -> List {
        let (data, list, is_first) = (self.data, &found.lists[at], at == 0);
        let (judged, first) = (&list.judged, &found.lists[0].judged);
        let of_class = |(class, worth)| OfClass {
            class: data.class(class as u32),
            worth,
            difference: if is_first { None } else { judged.less_in_class(first, class) },
        };
        let best = list.best.as_ref();
        List {
            name: self.lists[at].clone(),
            features: data.named(&list.features),
            missing: self.missing[at].clone(),
            macro_f1: judged.macro_f1(),
            levels: OfLevel::all(judged, self.settings, data),
            difference: if is_first { None } else { judged.less(first) },
            rare_recall: judged.recall_of(&found.rare),
            summary: judged.summaries().into_iter().collect(),
            by_class: judged.classes().into_iter().enumerate().map(of_class).collect(),
            confused: Confused::all(judged, data),
            clusters: list.clusters,
            objective: list.objective,
            baseline: best.and_then(|best| best.yardstick).map(|of| of.baseline),
            bound: best.and_then(|best| best.bound),
            gap: list.gap(),
            best: best.map(|best| Best { features: data.named(&best.features()), objective: best.objective }),
        }
    }

    fn common(&self, found: &CompareReport, (a, b): (usize, usize)) -> Common {
        let (first, second) = (&found.lists[a].features, &found.lists[b].features);
        let shared: Vec<usize> = first.iter().copied().filter(|j| second.contains(j)).collect();
        let union = (first.len() + second.len() - shared.len()).max(1);
        Common {
            first: self.lists[a].clone(),
            second: self.lists[b].clone(),
            jaccard: shared.len() as f64 / union as f64,
            features: self.data.named(&shared),
        }
    }

    /// What was asked: of the data what `asked` says, of the lists and the classifier their settings.
    #[must_use]
    pub fn asked(&self, asked: Asked) -> Asked {
        let mut all = entries(&MarkersAsked::new(self.settings, self.gap, None));
        for of_panels in ["max_features", "per_class", "robust", "expression", "halves", "slack", "node_limit"] {
            all.remove(of_panels);
        }
        all.extend(asked.own);
        Asked { own: all, ..asked }
    }
}
