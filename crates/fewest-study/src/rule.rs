//! Rules of choice: which candidate of a table of inner scores is taken.
//!
//! Every rule reads the same [`Table`], so one run can report what each would have chosen.

use serde::{Deserialize, Serialize};

use crate::score::Score;
use crate::table::{Judged, Key, Line, Table};

/// Which of the candidates is taken, once they are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The best mean.
    Best,
    /// The best mean after averaging with the neighbours on the grid of both costs and sizes.
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
        Self { score: Score::Combined, pick: Pick::Smooth }
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
        let value = |at: usize| match self.pick {
            Pick::Smooth => smoothed(&lines, lines[at].0.key),
            _ => lines[at].1.mean,
        };
        // In a tie the earlier one: lines are in the order of size, costs, method.
        let mut best = 0;
        for at in 1..lines.len() {
            if value(at) > value(best) + ROUNDING {
                best = at;
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

/// Mean over the candidates of the same method whose costs and size are at most one step away.
fn smoothed(lines: &[(&Line, Judged)], key: Key) -> f64 {
    let near = |other: Key| {
        other.method == key.method
            && other.size.abs_diff(key.size) <= 1
            && other.cost.abs_diff(key.cost) <= 1
            && other.fit.abs_diff(key.fit) <= 1
    };
    let (sum, count) = lines
        .iter()
        .filter(|(line, _)| near(line.key))
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
