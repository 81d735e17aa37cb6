//! Rules of choice: what candidates are judged by, and which of them is taken.

use serde::{Deserialize, Serialize};

use super::score::Score;

/// Rule that takes one of the candidates, once they are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The best mean.
    Best,
    /// The best mean after averaging with the neighbours: costs one step away on the grid, sizes of
    /// one feature more or fewer that do about as well, the other method with a linear SVM and a
    /// cost.
    Smooth,
    /// As `Smooth`, less 0.01 for each step of the grid between the costs and those that need no
    /// data: 0.01 of the selection and 0.1 of the classifier, for standardised features.
    Shrunk,
    /// The smallest size, then the smallest costs, within one standard error of the best.
    OneSe,
    /// The size of the best; the smallest costs within one standard error of it.
    SmallCost,
    /// The most stable subsets within one standard error of the best.
    Stable,
}

impl Pick {
    /// All of them.
    pub const ALL: [Pick; 6] = [Pick::Best, Pick::Smooth, Pick::Shrunk, Pick::OneSe, Pick::SmallCost, Pick::Stable];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pick::Best => "best",
            Pick::Smooth => "smooth",
            Pick::Shrunk => "shrunk",
            Pick::OneSe => "one-se",
            Pick::SmallCost => "small-cost",
            Pick::Stable => "stable",
        }
    }
}

/// A rule of choice. As text, and so in JSON: `SCORE` for the best mean, or `SCORE:PICK`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ChoiceRule {
    /// The score of candidates.
    pub score: Score,
    /// The rule that takes one of them.
    pub pick: Pick,
}

impl Default for ChoiceRule {
    fn default() -> Self {
        Self { score: Score::Combined, pick: Pick::Shrunk }
    }
}

impl ChoiceRule {
    /// The texts that are accepted.
    pub const FORMAT: &str = "a score (combined, accuracy, auc, log-loss, hinge), alone or followed by :best, :smooth, :shrunk, :one-se, :small-cost or :stable";

    /// Every rule.
    pub fn all() -> Vec<ChoiceRule> {
        Score::ALL.into_iter().flat_map(|score| Pick::ALL.map(|pick| ChoiceRule { score, pick })).collect()
    }
}

impl From<ChoiceRule> for String {
    fn from(rule: ChoiceRule) -> Self {
        rule.to_string()
    }
}

impl std::fmt::Display for ChoiceRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.score.name(), self.pick.name())
    }
}

impl TryFrom<String> for ChoiceRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for ChoiceRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (score, pick) = text.split_once(':').unwrap_or((text, "best"));
        let score = Score::ALL.into_iter().find(|known| known.name() == score);
        let pick = Pick::ALL.into_iter().find(|known| known.name() == pick);
        match (score, pick) {
            (Some(score), Some(pick)) => Ok(Self { score, pick }),
            _ => Err(format!("must be {}", Self::FORMAT)),
        }
    }
}
