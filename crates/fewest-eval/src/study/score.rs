//! What candidates are judged by.

use serde::{Deserialize, Serialize};

/// Score of a candidate on the samples held out inside a training part, and so the rule of choice:
/// what has the best mean after averaging with its neighbours (costs one step away on the grid,
/// sizes of one feature more or fewer that do about as well, the other method with a linear SVM and
/// a cost), less 0.01 for each step of the grid between the costs and those that need no data: 0.01
/// of the selection and 0.1 of the classifier, for standardised features.
///
/// As text, and so in JSON, `combined:shrunk`; `combined` is read, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Score {
    /// Mean of accuracy, AUC and 1 - hinge: on few samples each alone is coarse, and they err in
    /// different ways.
    #[default]
    Combined,
    /// Share of the samples classified right, each by its weight.
    Accuracy,
    /// Area under the ROC curve.
    Auc,
}

/// What follows the name of a score as a rule of choice.
const PICK: &str = ":shrunk";

impl Score {
    /// All of them.
    pub const ALL: [Score; 3] = [Score::Combined, Score::Accuracy, Score::Auc];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Score::Combined => "combined",
            Score::Accuracy => "accuracy",
            Score::Auc => "auc",
        }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{PICK}", self.name())
    }
}

impl From<Score> for String {
    fn from(score: Score) -> Self {
        score.to_string()
    }
}

impl TryFrom<String> for Score {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for Score {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_suffix(PICK).unwrap_or(text);
        let known = Score::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| "must be a score: combined, accuracy or auc".to_owned())
    }
}

/// Scores of a candidate on samples held out; none where a measure has no meaning. In a state three
/// numbers, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "[Option<f64>; 3]", into = "[Option<f64>; 3]")]
pub struct Scores {
    /// Share classified right.
    pub accuracy: Option<f64>,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
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
        }
    }
}

impl From<[Option<f64>; 3]> for Scores {
    fn from([accuracy, auc, hinge]: [Option<f64>; 3]) -> Self {
        Self { accuracy, auc, hinge }
    }
}

impl From<Scores> for [Option<f64>; 3] {
    fn from(scores: Scores) -> Self {
        [scores.accuracy, scores.auc, scores.hinge]
    }
}
