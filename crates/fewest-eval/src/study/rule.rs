//! Rules of choice: which candidate of a table of inner scores is taken.
//!
//! Every rule reads the same [`Table`], so one run can report what each would have chosen.

use serde::{Deserialize, Serialize};

use super::score::Score;
use super::table::{Judged, Key, Line, Table};

/// Which of the candidates is taken, once they are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The best mean.
    Best,
    /// The best mean after averaging with the neighbours: costs one step away on the grid, sizes of
    /// one feature more or fewer.
    Smooth,
    /// The smallest size, then the smallest costs, within one standard error of the best.
    OneSe,
    /// The size of the best; the smallest costs within one standard error of it.
    SmallCost,
    /// The most stable subsets within one standard error of the best.
    Stable,
}

impl Pick {
    /// All of them.
    pub const ALL: [Pick; 5] = [Pick::Best, Pick::Smooth, Pick::OneSe, Pick::SmallCost, Pick::Stable];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pick::Best => "best",
            Pick::Smooth => "smooth",
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
    /// What candidates are judged by.
    pub score: Score,
    /// Which of them is taken.
    pub pick: Pick,
}

impl Default for ChoiceRule {
    fn default() -> Self {
        Self { score: Score::Hinge, pick: Pick::Smooth }
    }
}

impl ChoiceRule {
    /// What a text must be.
    pub const FORMAT: &str = "a score (combined, accuracy, auc, log-loss, hinge), alone or followed by :best, :smooth, :one-se, :small-cost or :stable";

    /// Every rule.
    pub fn all() -> Vec<ChoiceRule> {
        Score::ALL.into_iter().flat_map(|score| Pick::ALL.map(|pick| ChoiceRule { score, pick })).collect()
    }

    /// The candidate of best mean score; none where no candidate has this score on every split.
    pub(crate) fn best(self, table: &Table) -> Option<Key> {
        ChoiceRule { pick: Pick::Best, ..self }.choose(table)
    }

    /// The candidate that the rule takes; none where no candidate has this score on every split.
    pub(crate) fn choose(self, table: &Table) -> Option<Key> {
        let lines: Vec<(&Line, Judged)> =
            table.lines.iter().filter_map(|line| Some((line, line.judged(self.score)?))).collect();
        // Where sizes have all their neighbours in common, what they are without them decides.
        let values = |at: usize| match self.pick {
            Pick::Smooth => [1, 0].map(|sizes| smoothed(&lines, lines[at].0, sizes)),
            _ => [lines[at].1.mean; 2],
        };
        // In a tie the earlier one: lines are in the order of size, costs, method.
        let mut best = 0;
        let mut most = [f64::NEG_INFINITY; 2];
        for at in 0..lines.len() {
            let here = values(at);
            let same = (here[0] - most[0]).abs() <= ROUNDING;
            if here[0] > most[0] + ROUNDING || (same && here[1] > most[1] + ROUNDING) {
                (best, most) = (at, here);
            }
        }
        let (top, judged) = lines.get(best)?;
        let least = judged.mean - judged.se - ROUNDING;
        let mut within = lines.iter().filter(|(_, j)| j.mean >= least);
        let found = match self.pick {
            Pick::Best | Pick::Smooth => top,
            // Lines ascend in size, then in costs.
            Pick::OneSe => within.next()?.0,
            Pick::SmallCost => within.find(|(line, _)| line.key.size == top.key.size)?.0,
            Pick::Stable => {
                let stability = |line: &Line| line.stability.unwrap_or(-1.0);
                let first = within.next()?.0;
                within.fold(
                    first,
                    |most, (line, _)| {
                        if stability(line) > stability(most) + ROUNDING { line } else { most }
                    },
                )
            }
        };
        Some(found.key)
    }
}

/// Differences below this are rounding.
const ROUNDING: f64 = 1e-12;

/// Mean over the candidates of the same method whose costs are at most one step away, and whose
/// sizes differ by at most `sizes` features.
fn smoothed(lines: &[(&Line, Judged)], line: &Line, sizes: usize) -> f64 {
    let near = |other: &Line| {
        other.key.method == line.key.method
            && other.max_features.abs_diff(line.max_features) <= sizes
            && other.key.cost.abs_diff(line.key.cost) <= 1
            && other.key.fit.abs_diff(line.key.fit) <= 1
    };
    let (sum, count) = lines
        .iter()
        .filter(|(other, _)| near(other))
        .fold((0.0, 0.0), |(sum, count), (_, judged)| (sum + judged.mean, count + 1.0));
    sum / count
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

#[cfg(test)]
mod tests {
    use super::{ChoiceRule, Pick};
    use crate::study::score::{Score, Scores};
    use crate::study::table::{Key, Line, Table};

    /// The size that `accuracy:smooth` takes of sizes with these accuracies.
    fn size(of: &[(usize, f64)]) -> usize {
        let line = |(size, &(max_features, accuracy)): (usize, &(usize, f64))| Line {
            key: Key { size, cost: 0, fit: 0, method: 0 },
            max_features,
            scores: vec![Scores { accuracy: Some(accuracy), ..Scores::default() }; 3],
            stability: None,
        };
        let table = Table { lines: of.iter().enumerate().map(line).collect() };
        let rule = ChoiceRule { score: Score::Accuracy, pick: Pick::Smooth };
        of[rule.choose(&table).unwrap().size].0
    }

    #[test]
    fn sizes_next_to_each_other_are_smoothed() {
        // A single peak is luck; three in a row are not.
        assert_eq!(size(&[(1, 0.5), (2, 0.95), (3, 0.5), (4, 0.9), (5, 0.9), (6, 0.9)]), 5);
        // Two sizes have the same neighbours: the better one is taken.
        assert_eq!(size(&[(1, 0.75), (2, 0.95)]), 2);
        assert_eq!(size(&[(1, 0.95), (2, 0.75)]), 1);
        // Sizes far apart have none.
        assert_eq!(size(&[(2, 0.8), (5, 0.95), (10, 0.93)]), 5);
        assert_eq!(ChoiceRule::default().choose(&Table::default()), None);
    }
}
