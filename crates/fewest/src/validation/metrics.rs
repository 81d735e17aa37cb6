//! How well predicted classes agree with the true ones.
use crate::problem::class_pairs;

/// Agreement of predictions with the truth; `None` where a measure has no meaning for these
/// samples.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Metrics {
    /// Share of the samples classified right.
    pub accuracy: f64,
    /// Mean over the classes there are of the share classified right.
    pub balanced_accuracy: f64,
    /// Two classes: harmonic mean of precision and recall of the second class. More: the mean over
    /// the classes there are or were predicted.
    pub f1: Option<f64>,
    /// Matthews correlation coefficient, in its form for k classes (Gorodkin 2004); none where all
    /// samples, or all predictions, are of one class.
    pub mcc: Option<f64>,
    /// Area under the ROC curve of the decision values; for more than two classes the mean over the
    /// pairs of classes, each judged by its own machine on its own samples (Hand, Till 2001). None
    /// where no pair has samples of both classes.
    pub auc: Option<f64>,
}

/// Rows: true classes, columns: predicted classes.
pub fn confusion(truth: &[u32], predicted: &[u32], n_classes: usize) -> Vec<Vec<u64>> {
    let mut counts = vec![vec![0; n_classes]; n_classes];
    for (&t, &p) in truth.iter().zip(predicted) {
        counts[t as usize][p as usize] += 1;
    }
    counts
}

/// Harmonic mean of precision and recall of a class; none where it is neither there nor predicted.
/// Rows of `confusion`: true classes, columns: predicted ones.
pub fn class_f1(confusion: &[Vec<u64>], class: usize) -> Option<f64> {
    f1(&real(confusion), class)
}

/// The mean of [`class_f1`] over the classes there are or were predicted.
pub fn macro_f1(confusion: &[Vec<u64>]) -> f64 {
    mean_f1(&real(confusion))
}

fn real(confusion: &[Vec<u64>]) -> Vec<Vec<f64>> {
    confusion.iter().map(|row| row.iter().map(|&count| count as f64).collect()).collect()
}

fn f1(confusion: &[Vec<f64>], class: usize) -> Option<f64> {
    let predicted: f64 = confusion.iter().map(|row| row[class]).sum();
    let all = confusion[class].iter().sum::<f64>() + predicted;
    (all > 0.0).then(|| 2.0 * confusion[class][class] / all)
}

fn mean_f1(confusion: &[Vec<f64>]) -> f64 {
    let known: Vec<f64> = (0..confusion.len()).filter_map(|class| f1(confusion, class)).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// The measures of [`Metrics`] that follow from the numbers of samples of each true and predicted
/// class.
pub(super) struct Agreement {
    pub(super) accuracy: f64,
    pub(super) balanced_accuracy: f64,
    pub(super) f1: Option<f64>,
    pub(super) mcc: Option<f64>,
}

impl Agreement {
    /// Agreement of at least one sample. Rows of `confusion`: true classes, columns: predicted ones.
    pub(super) fn new(confusion: &[Vec<f64>]) -> Self {
        let n_classes = confusion.len();
        let of_class: Vec<f64> = (0..n_classes).map(|c| confusion[c].iter().sum()).collect();
        let predicted: Vec<f64> = (0..n_classes).map(|c| confusion.iter().map(|row| row[c]).sum()).collect();
        let (all, total): (f64, f64) = (of_class.iter().sum(), (0..n_classes).map(|c| confusion[c][c]).sum());
        let there: Vec<usize> = (0..n_classes).filter(|&c| of_class[c] > 0.0).collect();
        let recall = there.iter().map(|&c| confusion[c][c] / of_class[c]).sum::<f64>();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let spread = (all * all - dot(&predicted, &predicted)) * (all * all - dot(&of_class, &of_class));
        Self {
            accuracy: total / all,
            balanced_accuracy: recall / there.len() as f64,
            f1: if n_classes == 2 { f1(confusion, 1) } else { Some(mean_f1(confusion)) },
            mcc: (spread > 0.0).then(|| (total * all - dot(&predicted, &of_class)) / spread.sqrt()),
        }
    }

    /// A measure by its name in [`Metrics::named`].
    pub(super) fn named(&self, name: &str) -> Option<f64> {
        match name {
            "accuracy" => Some(self.accuracy),
            "balanced_accuracy" => Some(self.balanced_accuracy),
            "f1" => self.f1,
            "mcc" => self.mcc,
            _ => None,
        }
    }
}

impl Metrics {
    /// Metrics of at least one sample. `decisions` holds, sample after sample, the value of each
    /// pair's machine ((0,1), (0,2), ...; positive for the second class), or of the one machine of
    /// two classes.
    pub fn new(truth: &[u32], predicted: &[u32], decisions: &[f64], n_classes: usize) -> Self {
        let counts = confusion(truth, predicted, n_classes);
        let Agreement { accuracy, balanced_accuracy, f1, mcc } = Agreement::new(&real(&counts));
        let pairs = class_pairs(n_classes as u32);
        let areas: Vec<f64> = pairs
            .iter()
            .enumerate()
            .filter_map(|(pair, &(a, b))| {
                let side = |i: usize, class: u32| f64::from(u8::from(truth[i] == class));
                let value = |i: usize| decisions.get(i * pairs.len() + pair).map(|&d| (d, side(i, b), side(i, a)));
                let both = (0..truth.len()).filter(|&i| truth[i] == a || truth[i] == b).map(value);
                area(both.collect::<Option<Vec<_>>>()?)
            })
            .collect();
        Self {
            accuracy,
            balanced_accuracy,
            f1,
            mcc,
            auc: (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64),
        }
    }

    /// The measures by name.
    pub fn named(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("accuracy", Some(self.accuracy)),
            ("balanced_accuracy", Some(self.balanced_accuracy)),
            ("f1", self.f1),
            ("mcc", self.mcc),
            ("auc", self.auc),
        ]
    }
}

/// Mean hinge loss max(0, 1 - m) of the decision values, as [`Metrics::new`] takes them; m is the
/// margin. For more than two classes the mean over the pairs of classes that there are samples of.
pub fn hinge_loss(truth: &[u32], decisions: &[f64], n_classes: usize) -> f64 {
    let pairs = class_pairs(n_classes as u32);
    let of_pair = |(pair, &(a, b)): (usize, &(u32, u32))| {
        let of_sample = |(i, &class): (usize, &u32)| {
            let decision = decisions[i * pairs.len() + pair];
            (1.0 - if class == b { decision } else { -decision }).max(0.0)
        };
        let samples = truth.iter().enumerate().filter(|(_, class)| **class == a || **class == b);
        let losses: Vec<f64> = samples.map(of_sample).collect();
        (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    };
    let losses: Vec<f64> = pairs.iter().enumerate().filter_map(of_pair).collect();
    losses.iter().sum::<f64>() / losses.len() as f64
}

/// Area under the ROC curve of (value, positive samples of this value, negative samples of it): the
/// share of the pairs of a positive and a negative sample in the right order, ties counting half;
/// none without both.
pub fn area(mut values: Vec<(f64, f64, f64)>) -> Option<f64> {
    let (positive, negative) = values.iter().fold((0.0, 0.0), |sum, v| (sum.0 + v.1, sum.1 + v.2));
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0.0, 0.0);
    for tied in values.chunk_by(|a, b| a.0 == b.0) {
        let (wins, losses) = tied.iter().fold((0.0, 0.0), |sum, v| (sum.0 + v.1, sum.1 + v.2));
        won += wins * (below + 0.5 * losses);
        below += losses;
    }
    Some(won / (positive * negative))
}

/// F1 of a selected set against the true one: the harmonic mean of precision and recall (Tamura et
/// al. 2022, SetF1); 1 when both are empty.
pub fn set_f1(selected: &[usize], truth: &[usize]) -> f64 {
    let common = selected.iter().filter(|j| truth.contains(j)).count() as f64;
    let all = (selected.len() + truth.len()) as f64;
    if all > 0.0 { 2.0 * common / all } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hinge_loss_is_the_mean_over_samples_and_over_pairs() {
        // Losses 0, 1 + 0.5, 1 - 0.25.
        assert!((hinge_loss(&[1, 0, 1], &[2.0, 0.5, 0.25], 2) - 0.75).abs() < 1e-15);
        // Pairs (0,1): samples 0 and 1; (0,2): 0 alone; (1,2): 1 alone.
        let decisions = [-1.0, 0.0, 9.0, 0.5, 9.0, -3.0];
        let expected = (0.25 + 1.0 + 0.0) / 3.0;
        assert!((hinge_loss(&[0, 1], &decisions, 3) - expected).abs() < 1e-15);
    }

    #[test]
    fn two_classes_by_hand() {
        // Truth 0 0 0 1 1 1, one error on each side; 7 of 9 pairs in order, one tied.
        let (truth, predicted) = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]);
        let m = Metrics::new(&truth, &predicted, &[-2.0, -1.0, 0.5, 0.5, 2.0, -0.5], 2);
        let third = 1.0 / 3.0;
        assert_eq!(confusion(&truth, &predicted, 2), [[2, 1], [1, 2]]);
        for (a, b) in [(m.accuracy, 2.0 * third), (m.balanced_accuracy, 2.0 * third), (m.f1.unwrap(), 2.0 * third)] {
            assert!((a - b).abs() < 1e-15);
        }
        assert!((m.mcc.unwrap() - third).abs() < 1e-15 && (m.auc.unwrap() - 7.5 / 9.0).abs() < 1e-15);
    }

    #[test]
    fn what_has_no_meaning_is_none() {
        let m = Metrics::new(&[1], &[1], &[0.3], 2);
        assert_eq!((m.accuracy, m.balanced_accuracy, m.mcc, m.auc), (1.0, 1.0, None, None));
        assert_eq!(Metrics::new(&[0], &[0], &[-0.3], 2).f1, None);
        assert_eq!((set_f1(&[], &[]), set_f1(&[1], &[]), set_f1(&[1, 2, 3], &[2, 3, 4])), (1.0, 0.0, 4.0 / 6.0));
    }

    #[test]
    fn three_classes_by_hand() {
        let (truth, predicted) = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2]);
        let mut decisions = vec![0.0; 18];
        // Machine (0,1) orders its classes, (0,2) reverses them, (1,2) ties them.
        for i in 0..6 {
            (decisions[3 * i], decisions[3 * i + 1]) = (i as f64, -(i as f64));
        }
        let m = Metrics::new(&truth, &predicted, &decisions, 3);
        assert!((m.auc.unwrap() - 0.5).abs() < 1e-15 && (m.balanced_accuracy - 2.5 / 3.0).abs() < 1e-15);
        assert!((m.f1.unwrap() - (1.0 + 2.0 / 3.0 + 0.8) / 3.0).abs() < 1e-15);
        // (c s - sum p_k t_k) / sqrt((s^2 - sum p^2) (s^2 - sum t^2)) with c = 5, s = 6, p = (2, 1,
        // 3), t = (2, 2, 2)
        assert!((m.mcc.unwrap() - 18.0 / (22.0f64 * 24.0).sqrt()).abs() < 1e-15);
    }
}
