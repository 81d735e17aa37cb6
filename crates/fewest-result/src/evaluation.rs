//! What an evaluation found. docs/use/evaluate.md says what each entry is.

use fewest::validation::{Stability, Summary, TTest};
use fewest_eval::evaluate::{Comparison, Evaluation as Judged, FoldResult, InnerScore};
use serde::Serialize;

use crate::{About, Asked, ByName, Document, Kind, Measures, NamedData, WrongSample, measures};

/// A method judged in folds, and the one that it is compared with.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    #[serde(flatten)]
    first: JudgedMethod,
    settings: Asked,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Document<JudgedMethod>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Compared>,
    command: String,
}

/// A method in all folds.
#[derive(Debug, Clone, Serialize)]
struct JudgedMethod {
    method: String,
    #[serde(flatten)]
    about: About,
    recall: ByName<Option<Summary>>,
    folds: Vec<EvaluatedFold>,
    summary: ByName<Summary>,
    undefined: ByName<usize>,
    confusion: Vec<Vec<u64>>,
    frequency: ByName<f64>,
    stability: Option<Stability>,
    wrong: Vec<WrongSample>,
    effort: Effort,
}

/// What time did not allow.
#[derive(Debug, Clone, Copy, Serialize)]
struct Effort {
    folds_left: usize,
}

#[derive(Debug, Clone, Serialize)]
struct EvaluatedFold {
    fold: String,
    repeat: usize,
    selected: Vec<String>,
    n_features: usize,
    metrics: Measures,
    confusion: Vec<Vec<u64>>,
    n_test: usize,
    seconds: f64,
    status: String,
    cost: f64,
    fit_cost: Option<f64>,
    gamma: Option<f64>,
    penalty: Option<f64>,
    max_features: Option<usize>,
    inner: Vec<InnerScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_samples: Option<Vec<String>>,
}

/// The accuracy of a method less that of another in the same folds.
#[derive(Debug, Clone, Serialize)]
struct Compared {
    measure: &'static str,
    difference: Option<Summary>,
    hypothesis: String,
    t_test: Option<TTest>,
    corrected_t_test: Option<TTest>,
}

impl Evaluation {
    /// The results of one method, or of two that are compared: each with its name, and the folds that
    /// were not done.
    pub fn new(
        data: NamedData<'_>,
        about: &About,
        methods: &[(&str, Judged<'_>, usize)],
        settings: Asked,
        command: &str,
    ) -> Self {
        let judged =
            |(name, found, left): &(&str, Judged<'_>, usize)| JudgedMethod::new(data, about, name, found, *left);
        let second = methods.get(1);
        let compared = second.map(|second| Comparison::new(&methods[0].1, &second.1));
        Self {
            first: judged(&methods[0]),
            settings,
            against: second.map(|second| Document::new(Kind::Evaluation, judged(second))),
            comparison: compared.map(|compared| Compared {
                measure: "accuracy",
                difference: compared.summary(),
                hypothesis: format!("{} is better", methods[0].0),
                t_test: compared.t_test(),
                corrected_t_test: compared.corrected_t_test(),
            }),
            command: command.to_owned(),
        }
    }
}

impl JudgedMethod {
    fn new(data: NamedData<'_>, about: &About, method: &str, found: &Judged<'_>, folds_left: usize) -> Self {
        let classes = &data.target.classes;
        Self {
            method: method.to_owned(),
            about: about.clone(),
            recall: ByName::new(classes.iter().cloned(), found.recall()),
            folds: found.folds.iter().map(|fold| EvaluatedFold::new(data, fold)).collect(),
            summary: found.summaries().into_iter().collect(),
            undefined: found.undefined().into_iter().collect(),
            confusion: found.confusion(classes.len()),
            frequency: found.frequency().into_iter().map(|(j, share)| (data.name(j), share)).collect(),
            stability: found.stability(),
            wrong: data.wrong(found.folds.iter().map(|fold| (&fold.test[..], &fold.predicted[..]))),
            effort: Effort { folds_left },
        }
    }
}

impl EvaluatedFold {
    fn new(data: NamedData<'_>, found: &FoldResult) -> Self {
        let mut metrics = measures(&found.metrics, &found.confusion);
        metrics.0.extend(found.set_f1.map(|f1| ("set_f1".to_owned(), Some(f1))));
        let judged = !found.test.is_empty();
        Self {
            fold: found.fold.clone(),
            repeat: found.repeat,
            selected: data.named(&found.selected),
            n_features: found.selected.len(),
            metrics,
            confusion: found.confusion.clone(),
            n_test: found.n_test,
            seconds: found.seconds,
            status: found.status.clone(),
            cost: found.cost,
            fit_cost: found.fit_cost,
            gamma: found.gamma,
            penalty: found.penalty,
            max_features: found.max_features,
            inner: found.inner.clone(),
            test: judged.then(|| data.rows(&found.test)),
            predicted: judged.then(|| data.classes(&found.predicted)),
            test_samples: data.sample_names(&found.test).filter(|_| judged),
        }
    }
}
