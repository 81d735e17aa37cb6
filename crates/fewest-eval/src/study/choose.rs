//! Which candidate of a table of inner scores is taken, and the smallest one that is as good.

use std::collections::BTreeMap;

use fewest::validation::Summary;

use super::grid::Key;
use super::prior::WEIGHT;
use super::score::Score;
use super::table::{Judged, Line, Table};

impl Score {
    /// The candidate of best mean score; none where no candidate has this score on every split.
    pub(crate) fn best(self, table: &Table) -> Option<Key> {
        Valued::plain(self, table).top()
    }

    /// The candidate that is taken; none where no candidate has this score on every split.
    pub(crate) fn choose(self, table: &Table) -> Option<Key> {
        Valued::shrunk(self, table).top()
    }

    /// The smallest size that is as good as the candidate taken ([`Valued::smallest`]).
    pub(crate) fn smallest(self, table: &Table, taken: Key, test_share: f64) -> Key {
        Valued::shrunk(self, table).smallest(&Valued::shrunk(Score::Accuracy, table), taken, test_share)
    }
}

/// Differences below this are rounding.
const ROUNDING: f64 = 1e-12;

/// Accuracy that the smallest size may lose inside the folds.
const MOST_LOST: f64 = 0.01;

/// Accuracy, and score, whose loss is of no account, however sure it is.
const NO_ACCOUNT: [f64; 2] = [0.005, 0.01];

/// Candidates with their values by split, as they are compared.
struct Valued<'t> {
    lines: Vec<(&'t Line, Judged)>,
    /// The score of each candidate on each split; none where the score has no meaning.
    splits: Vec<Vec<Option<f64>>>,
    /// What a candidate loses for its distance from the prior.
    lost: Vec<f64>,
}

impl<'t> Valued<'t> {
    fn plain(score: Score, table: &'t Table) -> Self {
        let lines: Vec<(&Line, Judged)> =
            table.lines.iter().filter_map(|line| Some((line, line.judged(score)?))).collect();
        let splits =
            lines.iter().map(|(line, _)| line.scores.iter().map(|scores| scores.value(score)).collect()).collect();
        let lost = vec![0.0; lines.len()];
        Self { lines, splits, lost }
    }

    /// With the neighbours, less the distance from the prior.
    fn shrunk(score: Score, table: &'t Table) -> Self {
        let plain = Self::plain(score, table);
        let splits = smoothed(&plain.lines, &plain.splits);
        let lost = plain.lines.iter().map(|(line, _)| WEIGHT * line.steps).collect();
        Self { splits, lost, ..plain }
    }

    /// The best of all.
    fn top(&self) -> Option<Key> {
        self.best(|_| true).map(|at| self.lines[at].0.key)
    }

    /// The smallest size that is as good as the candidate taken: going down from its size, the last
    /// one before a size whose best candidate is not as good. It is where it loses at most 1 % of
    /// accuracy and no more of the score than one standard error of the difference, which is paired
    /// over the splits, or so little that it is of no account: 0.5 % of accuracy and 0.01 of the
    /// score. `test_share` is the size of the part held out over that of the part learned from. The
    /// candidate itself where no smaller one is as good.
    fn smallest(&self, accuracy: &Self, taken: Key, test_share: f64) -> Key {
        let Some(start) = self.place(taken) else { return taken };
        let (mut smallest, mut size) = (taken, taken.size);
        while size > 0 {
            size -= 1;
            let Some(at) = self.best(|key| key.size == size) else { break };
            let key = self.lines[at].0.key;
            let differences = paired(&self.splits[start], &self.splits[at]);
            if differences.is_empty() {
                break;
            }
            let lost = Summary::new(&differences, test_share);
            let less = match (accuracy.place(taken), accuracy.place(key)) {
                (Some(of_taken), Some(of_key)) => {
                    let differences = paired(&accuracy.splits[of_taken], &accuracy.splits[of_key]);
                    if differences.is_empty() { 0.0 } else { Summary::new(&differences, 0.0).mean }
                }
                _ => 0.0,
            };
            let on_done = lost.mean > lost.se.unwrap_or(0.0) + ROUNDING || less > MOST_LOST + ROUNDING;
            let matters = less > NO_ACCOUNT[0] + ROUNDING || lost.mean > NO_ACCOUNT[1] + ROUNDING;
            if on_done && matters {
                break;
            }
            smallest = key;
        }
        smallest
    }

    /// The best of some, by their mean over the splits; in a tie the one of better mean without its
    /// neighbours, then the earlier one: lines are in the order of size, costs, method.
    fn best(&self, of: impl Fn(Key) -> bool) -> Option<usize> {
        let mut best: Option<(usize, [f64; 2])> = None;
        for (at, (line, judged)) in self.lines.iter().enumerate().filter(|(_, (line, _))| of(line.key)) {
            debug_assert_eq!(line.scores.len(), self.splits[at].len());
            let known: Vec<f64> = self.splits[at].iter().flatten().copied().collect();
            let here = [known.iter().sum::<f64>() / known.len() as f64 - self.lost[at], judged.mean];
            let better = best.is_none_or(|(_, most)| {
                let same = (here[0] - most[0]).abs() <= ROUNDING;
                here[0] > most[0] + ROUNDING || (same && here[1] > most[1] + ROUNDING)
            });
            if better {
                best = Some((at, here));
            }
        }
        best.map(|found| found.0)
    }

    /// The place of a candidate.
    fn place(&self, key: Key) -> Option<usize> {
        self.lines.iter().position(|(line, _)| line.key == key)
    }
}

/// Differences of two candidates on the splits where both have a value.
fn paired(first: &[Option<f64>], second: &[Option<f64>]) -> Vec<f64> {
    first.iter().zip(second).filter_map(|(a, b)| Some((*a)? - (*b)?)).collect()
}

/// The mean of each candidate and its neighbours, split by split: costs at most one step away, of
/// the same method or another linear one with a cost, and sizes that differ by at most one feature
/// and do about as well.
fn smoothed(lines: &[(&Line, Judged)], own: &[Vec<Option<f64>>]) -> Vec<Vec<Option<f64>>> {
    // The best of each kind and size, with its standard error.
    let mut tops: BTreeMap<(usize, usize), Judged> = BTreeMap::new();
    for (line, judged) in lines {
        let top = tops.entry((line.kind, line.key.size)).or_insert(*judged);
        if judged.mean > top.mean {
            *top = *judged;
        }
    }
    let near_size = |a: &Line, b: &Line| {
        let (top, other) = (tops[&(a.kind, a.key.size)], tops[&(b.kind, b.key.size)]);
        a.key.size == b.key.size
            || (a.max_features.abs_diff(b.max_features) <= 1 && (top.mean - other.mean).abs() <= top.se.max(other.se))
    };
    let near = |a: &Line, b: &Line| {
        a.kind == b.kind
            && a.key.cost.abs_diff(b.key.cost) <= 1
            && a.key.fit.abs_diff(b.key.fit) <= 1
            && near_size(a, b)
    };
    let of_line = |(line, _): &(&Line, Judged)| {
        let neighbours: Vec<usize> = (0..lines.len()).filter(|&at| near(line, lines[at].0)).collect();
        let of_split = |split: usize| {
            let known: Vec<f64> = neighbours.iter().filter_map(|&at| own[at].get(split).copied().flatten()).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        (0..line.scores.len()).map(of_split).collect()
    };
    lines.iter().map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::Valued;
    use crate::study::grid::Key;
    use crate::study::score::{Score, Scores};
    use crate::study::table::{Line, Table};

    /// Sizes with these accuracies in three splits: less `spread`, as given, and more.
    fn table(of: &[(usize, f64)], spread: f64) -> Table {
        let scores = |accuracy: f64| {
            let one = |add: f64| Scores { accuracy: Some(accuracy + add), ..Scores::default() };
            vec![one(-spread), one(0.0), one(spread)]
        };
        let line = |(size, &(max_features, accuracy)): (usize, &(usize, f64))| Line {
            key: Key { size, cost: 0, fit: 0, method: 0 },
            max_features,
            kind: 0,
            steps: 0.0,
            scores: scores(accuracy),
            stability: None,
        };
        Table { lines: of.iter().enumerate().map(line).collect() }
    }

    /// The size that is taken by accuracy.
    fn size(of: &[(usize, f64)], spread: f64) -> usize {
        of[Score::Accuracy.choose(&table(of, spread)).unwrap().size].0
    }

    #[test]
    fn sizes_next_to_each_other_are_smoothed_where_they_are_as_good() {
        // A single peak is luck where scores spread; three in a row are not.
        let peak = [(1, 0.5), (2, 0.95), (3, 0.5), (4, 0.9), (5, 0.9), (6, 0.9)];
        assert_eq!(size(&peak, 1.0), 5);
        // It is none where they do not.
        assert_eq!(size(&peak, 0.01), 2);
        // Two sizes have the same neighbours: the better one is taken.
        assert_eq!(size(&[(1, 0.75), (2, 0.95)], 1.0), 2);
        assert_eq!(size(&[(1, 0.95), (2, 0.75)], 1.0), 1);
        // Sizes far apart have none.
        assert_eq!(size(&[(2, 0.8), (5, 0.95), (10, 0.93)], 1.0), 5);
        assert_eq!(Score::default().choose(&Table::default()), None);
    }

    #[test]
    fn a_candidate_makes_up_for_its_distance_from_the_prior() {
        let mut table = table(&[(2, 0.9), (5, 0.915)], 0.1);
        table.lines[1].steps = 2.0;
        let rule = Score::Accuracy;
        assert_eq!(rule.choose(&table).unwrap().size, 0);
        table.lines[1].steps = 1.0;
        assert_eq!(rule.choose(&table).unwrap().size, 1);
    }

    #[test]
    fn the_smallest_size_is_as_good_split_by_split() {
        let smallest = |table: &Table| {
            let valued = Valued::plain(Score::Accuracy, table);
            let taken = valued.top().unwrap();
            (taken.size, valued.smallest(&valued, taken, 0.25).size)
        };
        // All differences are the same: no error, whatever the scores spread.
        assert_eq!(smallest(&table(&[(1, 0.5), (2, 0.894), (3, 0.9)], 0.2)), (2, 2));
        // A loss that is sure, but of no account.
        assert_eq!(smallest(&table(&[(1, 0.5), (2, 0.896), (3, 0.9)], 0.2)), (2, 1));
        let mut noisy = table(&[(1, 0.5), (2, 0.894), (3, 0.895), (4, 0.9)], 0.2);
        // Split by split the sizes 2 and 3 are now better, now worse.
        noisy.lines[1].scores.reverse();
        noisy.lines[2].scores.reverse();
        assert_eq!(smallest(&noisy), (3, 1));
        // More than 1 % is lost, within the error or not.
        let mut worse = table(&[(1, 0.88), (2, 0.9)], 0.2);
        worse.lines[0].scores.reverse();
        assert_eq!(smallest(&worse), (1, 1));
        // A size that is not as good ends the way down.
        let mut gap = table(&[(1, 0.899), (2, 0.5), (3, 0.9)], 0.2);
        gap.lines[0].scores.reverse();
        assert_eq!(smallest(&gap), (2, 2));
        assert_eq!(smallest(&table(&[(4, 0.7)], 0.1)), (0, 0));
    }
}
