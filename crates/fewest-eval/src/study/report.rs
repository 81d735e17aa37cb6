//! What a study reports. Features, samples and classes are indices, from 0.

use std::collections::BTreeMap;

use fewest::method::certificate::Certificate;
use fewest::method::swaps::Swap;
use fewest::model::Model;
use fewest::validation::{
    FoldMetrics, Metrics, Stability, Summary, loss_summary, measure_summary, recalls, stability, summaries,
};
use fewest::{Outcome, Report, Solution, Status};
use fewest_data::{Imputation, Scaling};
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::decision_curve::{NetBenefit, decision_curve};
use super::points::{Points, PointsFold, PointsWorth};
use super::probabilities::{Losses, Probabilities};
use super::roc::{RocPoint, roc};
use super::settings::{Prefer, StudyMethod};

/// Choice made inside a training part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The method.
    pub method: StudyMethod,
    /// At most this many features.
    pub max_features: usize,
    /// Slack cost of the selection, for a method that has one.
    pub cost: Option<f64>,
    /// Slack cost of the classifier.
    pub fit_cost: f64,
}

/// How well a size did inside a training part, with the costs and the method that are best there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InnerSize {
    /// At most this many features.
    pub max_features: usize,
    /// Mean accuracy over the inner splits, and its standard error.
    pub accuracy: f64,
    /// Standard error; none for a single split.
    pub se: Option<f64>,
}

/// A method on the inner splits of all samples, at its best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The best choice with this method by the rule's score.
    pub choice: Choice,
    /// Accuracy of that over the inner splits.
    pub accuracy: Option<f64>,
    /// The rule's score of it over the inner splits.
    pub score: f64,
    /// Stability of its subsets over the inner splits.
    pub stability: Option<f64>,
}

/// How samples that were held out are classified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Agreement with the truth.
    pub metrics: Metrics,
    /// Mean of -ln(probability of the true class).
    pub log_loss: Option<f64>,
    /// Mean squared difference of probability and class: of two classes that of the second, of more
    /// summed over the classes.
    pub brier: Option<f64>,
    /// Rows: true classes, columns: predicted ones.
    pub confusion: Vec<Vec<u64>>,
    /// The samples, ascending.
    pub test: Vec<usize>,
    /// Predicted class of each.
    pub predicted: Vec<u32>,
    /// Probability of the second class of each; two classes.
    pub probabilities: Option<Vec<f64>>,
    /// Probability of each class of each; more than two classes.
    #[serde(default)]
    pub class_probabilities: Option<Vec<Vec<f64>>>,
    /// Log-loss and Brier score of each; empty without probabilities, or in a state that an earlier
    /// version kept.
    #[serde(default)]
    pub losses: Vec<Losses>,
}

/// Probabilities of the second of two classes on samples that took no part, and what they are worth.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedProbabilities {
    /// Whether they mean what they say: of each sample the mean over the repetitions.
    pub calibration: Calibration,
    /// Whether they put the samples in order.
    pub roc: Vec<RocPoint>,
    /// What acting by them is worth.
    pub decision_curve: Vec<NetBenefit>,
}

/// An outer fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldReport {
    /// Repetition, from 0.
    pub repeat: usize,
    /// Fold of the repetition, from 0.
    pub fold: usize,
    /// The choice made inside its training part.
    pub choice: Choice,
    /// Features, ascending.
    pub selected: Vec<usize>,
    /// How the selection ended.
    pub status: Status,
    /// The samples held out.
    pub judgement: Judgement,
    /// The other of the two choices; none where both are the same.
    #[serde(default)]
    pub other: Option<OtherFold>,
    /// The points score of the choice, with `points`.
    #[serde(default)]
    pub points: Option<PointsFold>,
    /// Sizes inside the training part.
    pub inner: Vec<InnerSize>,
    /// Time used.
    pub seconds: f64,
    /// Whether time or the user cut something short.
    pub stopped: bool,
}

impl FoldReport {
    /// What it says on the samples held out.
    fn judged(&self) -> FoldMetrics<'_> {
        self.chosen().judged()
    }

    /// The repetition, the classifier and its points score; none without points.
    fn with_points(&self) -> Option<(usize, &Metrics, &PointsFold)> {
        Some((self.repeat, &self.judgement.metrics, self.points.as_ref()?))
    }

    fn chosen(&self) -> Chosen<'_> {
        Chosen { repeat: self.repeat, judgement: &self.judgement, selected: &self.selected }
    }

    /// The result of the other choice, which may be the same.
    fn other(&self) -> Chosen<'_> {
        let same = self.chosen();
        self.other.as_ref().map_or(same, |o| Chosen { judgement: &o.judgement, selected: &o.selected, ..same })
    }
}

/// A choice in an outer fold.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    repeat: usize,
    judgement: &'a Judgement,
    selected: &'a [usize],
}

impl<'a> Chosen<'a> {
    fn judged(self) -> FoldMetrics<'a> {
        let Judgement { metrics, confusion, .. } = self.judgement;
        FoldMetrics { repeat: self.repeat, metrics, confusion }
    }
}

/// The choice that is not the panel's in an outer fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherFold {
    /// The choice made inside the training part.
    pub choice: Choice,
    /// Features, ascending.
    pub selected: Vec<usize>,
    /// The samples held out.
    pub judgement: Judgement,
}

/// A choice on all samples, and the result of the same way of choosing in the outer folds.
#[derive(Debug, Clone, Serialize)]
pub struct ChoiceReport {
    /// The choice.
    pub choice: Choice,
    /// Features, ascending.
    pub selected: Vec<usize>,
    /// Each measure over the outer folds.
    pub summary: BTreeMap<&'static str, Summary>,
    /// How alike the subsets of the outer folds are.
    pub stability: Option<Stability>,
}

/// The choice on all samples that is not the panel's.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherPanel {
    /// The choice.
    pub choice: Choice,
    /// Features, ascending.
    pub selected: Vec<usize>,
}

/// The panel: chosen and trained on all samples.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The choice.
    pub choice: Choice,
    /// The method's result: subset, objective, bound, status.
    pub report: Report,
    /// The features, ascending.
    pub selected: Vec<usize>,
    /// The classifier; its features are columns of the data. None without a feature.
    pub model: Option<Model>,
    /// From decision values to the probability of each class, where asked for.
    pub calibration: Option<Probabilities>,
    /// The value taken from the bias of the classifier, for the sensitivity asked for.
    pub threshold: Option<f64>,
    /// The values for missing ones, before scaling; none: there are none.
    pub imputation: Option<Imputation>,
    /// Scaling of all features.
    pub scaling: Scaling,
    /// How far the subset is from the best one of its size for a linear SVM at the cost, for a
    /// linear method that proves nothing itself.
    pub certificate: Option<Certificate>,
    /// The best subsets by the objective, best first, proven; empty where that was not done.
    pub solutions: Vec<Solution>,
    /// The features that could replace each feature, by the objective; empty where time did not
    /// allow it, or for a method without a linear SVM.
    pub swaps: Vec<Swap>,
}

impl Panel {
    /// How the selection ended.
    pub fn outcome(&self) -> &Outcome {
        &self.report.selection.outcome
    }
}

/// Work that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Selections on inner splits.
    pub selections: u64,
    /// Classifiers trained on inner splits.
    pub trainings: u64,
    /// Inner splits.
    pub splits: u64,
    /// Inner splits that were not begun, for lack of time.
    pub splits_left: u64,
    /// Selections on inner splits that were not made, for lack of time.
    pub selections_left: u64,
    /// Outer folds that were not done, for lack of time.
    pub folds_left: u64,
    /// Time of the inner splits, one after the other.
    pub milliseconds: u64,
}

impl Effort {
    /// Time of the inner splits in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.milliseconds as f64 / 1000.0
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            selections: self.selections + other.selections,
            trainings: self.trainings + other.trainings,
            splits: self.splits + other.splits,
            splits_left: self.splits_left + other.splits_left,
            selections_left: self.selections_left + other.selections_left,
            folds_left: self.folds_left + other.folds_left,
            milliseconds: self.milliseconds + other.milliseconds,
        }
    }
}

/// Result of a study.
#[derive(Debug, Clone)]
pub struct StudyReport {
    /// `Completed`, or the limit that cut it short.
    pub status: Status,
    /// The panel; none where time did not allow any choice.
    pub panel: Option<Panel>,
    /// The other choice; none where it is the panel's, or there was no time for it.
    pub other: Option<OtherPanel>,
    /// The panel as a points score, with `points`.
    pub points: Option<Points>,
    /// The methods tried on all samples, in the order asked for.
    pub tried: Vec<Tried>,
    /// Sizes on all samples, inner splits.
    pub inner: Vec<InnerSize>,
    /// The outer folds that were done.
    pub folds: Vec<FoldReport>,
    /// Errors that ended an outer fold, which say which one.
    pub faults: Vec<String>,
    /// Methods, costs and what was left.
    pub effort: Effort,
    /// Methods of the grid.
    pub methods: Vec<StudyMethod>,
    /// Methods that were not tried, as the data are too large for them or they do not keep the rules.
    pub left_out: Vec<StudyMethod>,
    /// Sizes of the grid.
    pub sizes: Vec<usize>,
    /// Size of the test part over that of the training part.
    pub test_share: f64,
    /// Number of features.
    pub n_features: usize,
}

impl StudyReport {
    /// Mean of each measure over the outer folds, with its interval.
    pub fn summary(&self) -> Vec<(&'static str, Summary)> {
        self.summary_of(&self.folds.iter().map(FoldReport::chosen).collect::<Vec<_>>())
    }

    /// The summary of the other choice.
    pub fn other_summary(&self) -> Vec<(&'static str, Summary)> {
        self.summary_of(&self.folds.iter().map(FoldReport::other).collect::<Vec<_>>())
    }

    /// How much more accurate the panel's choice is than the other one, fold by fold; none without
    /// folds.
    pub fn difference(&self) -> Option<Summary> {
        let accuracy = |chosen: Chosen<'_>| chosen.judgement.metrics.accuracy;
        let values: Vec<f64> = self.folds.iter().map(|fold| accuracy(fold.chosen()) - accuracy(fold.other())).collect();
        (!values.is_empty()).then(|| measure_summary("difference", &values, self.test_share, &[]))
    }

    /// How alike the subsets of the other choice are.
    pub fn other_stability(&self) -> Option<Stability> {
        stability(&self.folds.iter().map(|fold| fold.other().selected.to_vec()).collect::<Vec<_>>(), self.n_features)
    }

    /// The rule's choice and the smallest size that is as good, first the one that `prefer` makes
    /// the panel; none without a panel.
    pub fn choices(&self, prefer: Prefer) -> Option<[ChoiceReport; 2]> {
        let panel = self.panel.as_ref()?;
        let summary = |of: Vec<(&'static str, Summary)>| of.into_iter().collect();
        let own = ChoiceReport {
            choice: panel.choice,
            selected: panel.selected.clone(),
            summary: summary(self.summary()),
            stability: self.stability(),
        };
        let (choice, selected) = match &self.other {
            Some(other) => (other.choice, other.selected.clone()),
            None => (own.choice, own.selected.clone()),
        };
        let summary = summary(self.other_summary());
        let other = ChoiceReport { choice, selected, summary, stability: self.other_stability() };
        Some(match prefer {
            Prefer::Best => [own, other],
            Prefer::Smallest => [other, own],
        })
    }

    /// Quality of the points scores of the outer folds; none without any.
    pub fn points_worth(&self) -> Option<PointsWorth> {
        let each = self.folds.iter().filter_map(FoldReport::with_points);
        PointsWorth::new(&each.collect::<Vec<_>>(), self.test_share)
    }

    /// Whether the panel has the largest of several sizes, so that larger ones may be better.
    pub fn took_largest(&self) -> bool {
        let largest = self.sizes.last().copied();
        let is_largest = |panel: &Panel| Some(panel.selected.len()) == largest;
        self.sizes.len() > 1 && self.panel.as_ref().is_some_and(is_largest)
    }

    fn summary_of(&self, folds: &[Chosen<'_>]) -> Vec<(&'static str, Summary)> {
        let mut out = summaries(&folds.iter().map(|chosen| chosen.judged()).collect::<Vec<_>>(), self.test_share);
        let losses = sample_losses(folds);
        let mut add = |name: &'static str, values: Vec<f64>, of: fn(&Losses) -> f64| {
            if !values.is_empty() {
                let each: Vec<f64> = losses.iter().map(of).collect();
                out.push((name, loss_summary(name, &values, self.test_share, &each)));
            }
        };
        add("log_loss", folds.iter().filter_map(|of| of.judgement.log_loss).collect(), |loss| loss.log_loss);
        add("brier", folds.iter().filter_map(|of| of.judgement.brier).collect(), |loss| loss.brier);
        let sizes: Vec<f64> = folds.iter().map(|of| of.selected.len() as f64).collect();
        if !sizes.is_empty() {
            out.push(("n_features", measure_summary("n_features", &sizes, self.test_share, &[])));
        }
        out
    }

    /// Share of each class that the outer folds classify right, with its interval.
    pub fn recall(&self) -> Vec<Option<Summary>> {
        recalls(&self.folds.iter().map(FoldReport::judged).collect::<Vec<_>>(), self.test_share)
    }

    /// What the probabilities of the outer folds are worth; none without any, or for more classes than
    /// two. `codes` has the class of each sample of the data.
    pub fn probabilities(&self, codes: &[u32]) -> Option<JudgedProbabilities> {
        let of = |fold: &FoldReport| {
            let judged = &fold.judgement;
            let known = judged.probabilities.as_deref().unwrap_or_default();
            judged.test.iter().zip(known).map(|(&row, &p)| (row, p)).collect::<Vec<_>>()
        };
        let folds: Vec<Vec<(usize, f64)>> = self.folds.iter().map(of).filter(|fold| !fold.is_empty()).collect();
        let judged = |fold: &Vec<(usize, f64)>| fold.iter().map(|&(row, p)| (p, codes[row] == 1)).collect::<Vec<_>>();
        let of_folds: Vec<Vec<(f64, bool)>> = folds.iter().map(judged).collect();
        // The mean over the repetitions of each sample.
        let mut each: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for &(row, p) in folds.iter().flatten() {
            let of = each.entry(row).or_default();
            *of = (of.0 + p, of.1 + 1.0);
        }
        let once: Vec<(f64, bool)> = each.iter().map(|(&row, of)| (of.0 / of.1, codes[row] == 1)).collect();
        let positives = once.iter().filter(|sample| sample.1).count();
        Some(JudgedProbabilities {
            calibration: Calibration::new(&once)?,
            roc: roc(&of_folds, positives, self.test_share),
            decision_curve: decision_curve(&of_folds.concat()),
        })
    }

    /// Share of the outer folds that chose each feature, largest first; those never chosen are left
    /// out.
    pub fn frequency(&self) -> Vec<(usize, f64)> {
        let mut count = vec![0u32; self.n_features];
        self.folds.iter().flat_map(|fold| &fold.selected).for_each(|&j| count[j] += 1);
        let mut chosen: Vec<usize> = (0..count.len()).filter(|&j| count[j] > 0).collect();
        chosen.sort_by(|&a, &b| count[b].cmp(&count[a]).then(a.cmp(&b)));
        chosen.into_iter().map(|j| (j, f64::from(count[j]) / self.folds.len() as f64)).collect()
    }

    /// How alike the subsets of the outer folds are.
    pub fn stability(&self) -> Option<Stability> {
        stability(&self.folds.iter().map(|fold| fold.selected.clone()).collect::<Vec<_>>(), self.n_features)
    }
}

/// What the probabilities of each sample are worth, by its number: the mean over the repetitions.
fn sample_losses(folds: &[Chosen<'_>]) -> Vec<Losses> {
    let mut of: BTreeMap<usize, Vec<Losses>> = BTreeMap::new();
    for (&row, &loss) in folds.iter().flat_map(|chosen| chosen.judgement.test.iter().zip(&chosen.judgement.losses)) {
        of.entry(row).or_default().push(loss);
    }
    of.values().map(|each| Losses::mean(each)).collect()
}
