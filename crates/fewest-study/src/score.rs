//! What candidates are judged by.

use serde::{Deserialize, Serialize};

/// What a candidate is judged by on the samples held out inside a training part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
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
    /// All of them, in the order of [`Scores`].
    pub const ALL: [Score; 4] = [Score::Accuracy, Score::Auc, Score::LogLoss, Score::Hinge];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Score::Accuracy => "accuracy",
            Score::Auc => "auc",
            Score::LogLoss => "log-loss",
            Score::Hinge => "hinge",
        }
    }

    /// 1 where larger is better, -1 where smaller is.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Score::Accuracy | Score::Auc => 1.0,
            Score::LogLoss | Score::Hinge => -1.0,
        }
    }
}

/// One value for each of [`Score::ALL`]; none where a score has no meaning.
pub type Scores = [Option<f64>; 4];
