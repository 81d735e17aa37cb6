//! What candidates are judged by.

use serde::{Deserialize, Serialize};

/// Score of a candidate on the samples held out inside a training part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Mean of accuracy, AUC and 1 - hinge: on few samples each alone is coarse, and they err in
    /// different ways.
    Combined,
    /// Share of the samples classified right, each by its weight.
    Accuracy,
    /// Area under the ROC curve.
    Auc,
    /// Mean of -ln(probability of the true class); the sigmoid is fitted on the samples trained on.
    LogLoss,
    /// Mean of max(0, 1 - y f): the loss that the SVM itself minimises.
    Hinge,
}

impl Score {
    /// All of them.
    pub const ALL: [Score; 5] = [Score::Combined, Score::Accuracy, Score::Auc, Score::LogLoss, Score::Hinge];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Score::Combined => "combined",
            Score::Accuracy => "accuracy",
            Score::Auc => "auc",
            Score::LogLoss => "log-loss",
            Score::Hinge => "hinge",
        }
    }

    /// 1 where larger is better, -1 where smaller is.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Score::Combined | Score::Accuracy | Score::Auc => 1.0,
            Score::LogLoss | Score::Hinge => -1.0,
        }
    }
}

/// Scores of a candidate on samples held out; none where a measure has no meaning. In a state four
/// numbers, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "[Option<f64>; 4]", into = "[Option<f64>; 4]")]
pub struct Scores {
    /// Share classified right.
    pub accuracy: Option<f64>,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// Mean of -ln(probability of the true class).
    pub log_loss: Option<f64>,
    /// Mean of max(0, 1 - y f).
    pub hinge: Option<f64>,
}

impl Scores {
    /// The value of a score.
    pub fn value(&self, score: Score) -> Option<f64> {
        match score {
            Score::Combined => {
                let (accuracy, auc, hinge) = (self.accuracy?, self.auc?, self.hinge?);
                Some((accuracy + auc + 1.0 - hinge) / 3.0)
            }
            Score::Accuracy => self.accuracy,
            Score::Auc => self.auc,
            Score::LogLoss => self.log_loss,
            Score::Hinge => self.hinge,
        }
    }
}

impl From<[Option<f64>; 4]> for Scores {
    fn from([accuracy, auc, log_loss, hinge]: [Option<f64>; 4]) -> Self {
        Self { accuracy, auc, log_loss, hinge }
    }
}

impl From<Scores> for [Option<f64>; 4] {
    fn from(scores: Scores) -> Self {
        [scores.accuracy, scores.auc, scores.log_loss, scores.hinge]
    }
}
