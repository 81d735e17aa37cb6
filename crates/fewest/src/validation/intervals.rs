//! Measures over folds, with intervals that are never shorter than those of independent samples.
//!
//! The variance over a few folds is itself a guess, and 0 where all folds are alike. A share
//! (accuracy, recall) has the score interval of Wilson (1927) for as many independent samples as tell
//! as much: those that were held out, over the design effect, which is the variance of the mean over
//! folds that share samples (Nadeau, Bengio 2003) over that of independent samples, at least 1 (Rao,
//! Scott 1992). Balanced accuracy, F1 and the correlation of Matthews have the intervals of the shares
//! of the classes together (Zou, Donner 2008). The area under the ROC curve of two classes, and a mean
//! loss, have Student's interval of the folds, widened to hold that of as many independent samples:
//! Newcombe (2006, method 5), and Student's of the samples' own losses. All but the last have a length
//! above 0 where every sample is right. `bench/results/coverage.md` has how often they hold the truth.

use std::collections::BTreeSet;

use super::metrics::{Agreement, Metrics};
use super::statistics::Summary;

/// Quantile 0.975 of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Metrics of a fold on the samples it held out.
#[derive(Debug, Clone, Copy)]
pub struct FoldMetrics<'a> {
    /// Repetition of the cross-validation.
    pub repeat: usize,
    /// Agreement with the truth.
    pub metrics: &'a Metrics,
    /// Rows: true classes, columns: predicted ones.
    pub confusion: &'a [Vec<u64>],
}

/// Mean over the folds of each measure, where it has a meaning, as [`measure_summary`] gives it; of
/// two classes sensitivity and specificity, too: the shares of the second class and of the first
/// that are classified right.
pub fn summaries(folds: &[FoldMetrics<'_>], test_share: f64) -> Vec<(&'static str, Summary)> {
    summaries_of(folds, times(folds), test_share)
}

/// The [`summaries`] of splits that hold each sample out this many times on average, which may
/// overlap.
pub fn summaries_of(folds: &[FoldMetrics<'_>], times: f64, test_share: f64) -> Vec<(&'static str, Summary)> {
    let Some(first) = folds.first() else { return Vec::new() };
    let (pooled, recalls) = (pooled(folds, times), recalls_of(folds, times, test_share));
    let counts = judged(&pooled);
    let of_measure = |(at, (name, _)): (usize, (&'static str, _))| {
        let values: Vec<f64> = folds.iter().filter_map(|fold| fold.metrics.named()[at].1).collect();
        let summary = (!values.is_empty()).then(|| measure_summary(name, &values, test_share, &counts))?;
        let of_shares = matches!(name, "balanced_accuracy" | "f1" | "mcc");
        let interval = of_shares.then(|| agreement_interval(name, &pooled, &recalls)).flatten();
        Some((name, interval.map_or(summary, |ends| possible(name, summary.between(ends)))))
    };
    let mut out: Vec<_> = first.metrics.named().into_iter().enumerate().filter_map(of_measure).collect();
    if let [specificity, sensitivity] = recalls[..] {
        let both = [("sensitivity", sensitivity), ("specificity", specificity)];
        out.extend(both.into_iter().filter_map(|(name, summary)| Some((name, summary?))));
    }
    out
}

/// Share of the samples of a class that are classified right; none without a sample of it. Rows of
/// `confusion`: true classes, columns: predicted ones.
pub fn recall(confusion: &[Vec<u64>], class: usize) -> Option<f64> {
    let row = &confusion[class];
    let all = row.iter().sum::<u64>();
    (all > 0).then(|| row[class] as f64 / all as f64)
}

/// Mean over the folds of the share of each class that is classified right, over those that held
/// samples of it out; none where no fold did.
pub fn recalls(folds: &[FoldMetrics<'_>], test_share: f64) -> Vec<Option<Summary>> {
    recalls_of(folds, times(folds), test_share)
}

/// The [`recalls`] of splits that hold each sample out this many times on average.
pub fn recalls_of(folds: &[FoldMetrics<'_>], times: f64, test_share: f64) -> Vec<Option<Summary>> {
    if folds.is_empty() {
        return Vec::new();
    }
    let of_class = |(class, &count): (usize, &f64)| {
        let values: Vec<f64> = folds.iter().filter_map(|fold| recall(fold.confusion, class)).collect();
        (!values.is_empty()).then(|| measure_summary("recall", &values, test_share, &[count]))
    };
    judged(&pooled(folds, times)).iter().enumerate().map(of_class).collect()
}

/// Mean over folds of a loss, as [`measure_summary`] gives it, with an interval no shorter than that
/// of as many independent samples: the mean, and t sd / sqrt(n) to both sides. `losses` has the loss
/// of each sample that was held out, once.
pub fn loss_summary(name: &str, values: &[f64], test_share: f64, losses: &[f64]) -> Summary {
    let summary = measure_summary(name, values, test_share, &[]);
    let Some([low, high]) = (!losses.is_empty()).then(|| Summary::new(losses, 0.0).ci95).flatten() else {
        return summary;
    };
    let radius = 0.5 * (high - low);
    summary.covering([(summary.mean - radius).max(0.0), summary.mean + radius])
}

/// Mean of a measure's values, at least one, with its 95 % interval: for accuracy and recall Wilson's
/// score interval (1927), the samples over the design effect of the folds (Rao, Scott 1992); for others
/// Student's t with the variance of folds that share samples ([`Summary::new`]), for the AUC of two
/// classes no shorter than for independent samples; cut to the values that are possible. `judged` says how
/// many samples of each class were held out (of recall those of its class), each counted once; it is
/// not used for other measures.
pub fn measure_summary(name: &str, values: &[f64], test_share: f64, judged: &[f64]) -> Summary {
    let summary = Summary::new(values, test_share);
    let summary = match (name, judged) {
        ("accuracy" | "recall" | "sensitivity" | "specificity", [_, ..]) => {
            let samples: f64 = judged.iter().sum();
            summary.between(share_interval(summary.mean, samples / design_effect(summary, values, test_share, samples)))
        }
        ("auc", &[a, b]) if a > 0.0 && b > 0.0 => summary.covering(area_interval(summary.mean, a, b)),
        _ => summary,
    };
    possible(name, summary)
}

/// The interval of a measure cut to the values that are possible.
fn possible(name: &str, summary: Summary) -> Summary {
    match name {
        "mcc" | "difference" => summary.within(-1.0, 1.0),
        "n_features" | "log_loss" => summary.within(0.0, f64::INFINITY),
        _ => summary.within(0.0, 1.0),
    }
}

/// How often each sample was held out: the repetitions.
fn times(folds: &[FoldMetrics<'_>]) -> f64 {
    folds.iter().map(|fold| fold.repeat).collect::<BTreeSet<_>>().len() as f64
}

/// Samples of each class.
fn judged(confusion: &[Vec<f64>]) -> Vec<f64> {
    confusion.iter().map(|row| row.iter().sum()).collect()
}

/// Samples of each true (rows) and predicted class that were held out, each counted once.
fn pooled(folds: &[FoldMetrics<'_>], times: f64) -> Vec<Vec<f64>> {
    let classes = folds[0].confusion.len();
    let mut counts = vec![vec![0.0; classes]; classes];
    for (class, row) in folds.iter().flat_map(|fold| fold.confusion.iter().enumerate()) {
        counts[class].iter_mut().zip(row).for_each(|(sum, &count)| *sum += count as f64 / times);
    }
    counts
}

/// Variance of the mean of shares of folds that share samples over that of `samples` independent ones,
/// at least 1: what many samples are to be divided by to be worth as many independent ones (J. N. K.
/// Rao, A. J. Scott, Biometrics 48 (1992), 577-585). Folds that are all right, or all wrong, have the
/// variance of half a sample.
fn design_effect(summary: Summary, values: &[f64], test_share: f64, samples: f64) -> f64 {
    let (p, folds) = (summary.mean, values.len() as f64);
    let independent = (p * (1.0 - p)).max(0.25 / samples) / samples;
    let seen = summary.se.map_or(0.0, |se| se * se * (1.0 + folds * test_share));
    (seen / independent).max(1.0)
}

/// 95 % interval of a probability that was seen as the share p of n independent samples: the
/// theta with `|p - theta| <= z sqrt(theta (1 - theta) / n)` (E. B. Wilson, JASA 22 (1927),
/// 209-212).
fn share_interval(p: f64, n: f64) -> [f64; 2] {
    let middle = p + Z * Z / (2.0 * n);
    let radius = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    [middle - radius, middle + radius].map(|end| end / (1.0 + Z * Z / n))
}

/// 95 % interval of a measure ([`Agreement::named`]) that was seen on independent samples of each class:
/// the square root of the sum of squares of what it changes by where the share of each class that is
/// classified right goes to an end of its own interval, which `recalls` has (G. Y. Zou, A. Donner,
/// Statistics in Medicine 27 (2008), 1693-1702). The samples that are wrong keep their shares of the
/// other classes, and are spread evenly where there are none. None where the measure has no meaning.
fn agreement_interval(name: &str, confusion: &[Vec<f64>], recalls: &[Option<Summary>]) -> Option<[f64; 2]> {
    let seen = Agreement::new(confusion).named(name)?;
    let mut squares = [0.0; 2];
    for (class, (row, recall)) in confusion.iter().zip(recalls).enumerate() {
        let Some(ends) = recall.and_then(|recall| recall.ci95) else { continue };
        let all = row.iter().sum::<f64>();
        let wrong = all - row[class];
        for share in ends {
            let missed = (1.0 - share) * all;
            let moved = |(at, &count): (usize, &f64)| match at {
                at if at == class => share * all,
                _ if wrong > 0.0 => count * missed / wrong,
                _ => missed / (row.len() - 1) as f64,
            };
            let mut other = confusion.to_vec();
            other[class] = row.iter().enumerate().map(moved).collect();
            let change = Agreement::new(&other).named(name).map_or(0.0, |value| value - seen);
            squares[usize::from(change > 0.0)] += change * change;
        }
    }
    Some([seen - squares[0].sqrt(), seen + squares[1].sqrt()])
}

/// 95 % interval of an area under the ROC curve that was seen as A on a and b independent samples
/// of two classes: the theta with `|A - theta| <= z sqrt(V(theta))`, where `V(theta) = theta
/// (1 - theta) (1 + m (1 - theta) / (2 - theta) + m theta / (1 + theta)) / (a b)` and `m = (a + b) /
/// 2 - 1` (R. G. Newcombe, Statistics in Medicine 25 (2006), 559-573, method 5).
fn area_interval(area: f64, a: f64, b: f64) -> [f64; 2] {
    let m = (0.5 * (a + b) - 1.0).max(0.0);
    let variance = |t: f64| t * (1.0 - t) * (1.0 + m * (1.0 - t) / (2.0 - t) + m * t / (1.0 + t)) / (a * b);
    // Halving between a point inside the interval and an end of the range.
    let end = |mut outside: f64| {
        let mut inside = area;
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            let near = (area - middle).abs() <= Z * variance(middle).sqrt();
            *(if near { &mut inside } else { &mut outside }) = middle;
        }
        inside
    };
    [end(0.0), end(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_intervals_agree_with_their_equations() {
        // R: prop.test(81, 263, correct = FALSE)$conf.int is 0.2553 to 0.3662 (Newcombe 1998).
        let [low, high] = share_interval(81.0 / 263.0, 263.0);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        // All of ten right: n / (n + z^2).
        let [low, high] = share_interval(1.0, 10.0);
        assert!((low - 10.0 / (10.0 + Z * Z)).abs() < 1e-12 && (high - 1.0).abs() < 1e-12);
        // At 0.5 the variance is (a + b + 1) / 12 a b, that of Mann and Whitney's statistic.
        let (a, b) = (7.0f64, 12.0f64);
        let theta = 0.5f64;
        let area = theta + Z * ((a + b + 1.0) / (12.0 * a * b)).sqrt();
        assert!((area_interval(area, a, b)[0] - theta).abs() < 1e-9);
        let [low, high] = area_interval(1.0, a, b);
        assert!(low > 0.6 && low < 0.95 && (high - 1.0).abs() < 1e-12, "{low} {high}");
    }

    #[test]
    fn an_interval_of_agreement_puts_those_of_the_classes_together() {
        let of = |name: &str, confusion: &[Vec<f64>]| {
            let recall = |(class, row): (usize, &Vec<f64>)| {
                let all = row.iter().sum::<f64>();
                Some(measure_summary("recall", &[row[class] / all], 0.0, &[all]))
            };
            agreement_interval(name, confusion, &confusion.iter().enumerate().map(recall).collect::<Vec<_>>())
        };
        let confusion = [vec![30.0, 10.0], vec![4.0, 16.0]];
        let [specificity, sensitivity] = [(0.75, 40.0), (0.8, 20.0)].map(|(p, n)| share_interval(p, n));
        // The half of a sum of two independent shares.
        let radius = 0.5 * ((0.75 - specificity[0]).powi(2) + (0.8 - sensitivity[0]).powi(2)).sqrt();
        assert!((of("balanced_accuracy", &confusion).unwrap()[0] - (0.775 - radius)).abs() < 1e-12);
        // F1 is 2 s P / (P + s P + (1 - c) N) for sensitivity s and specificity c.
        let f1 = |s: f64, c: f64| 40.0 * s / (20.0 + 20.0 * s + 40.0 * (1.0 - c));
        let changes = [f1(sensitivity[1], 0.75) - f1(0.8, 0.75), f1(0.8, specificity[1]) - f1(0.8, 0.75)];
        let [low, high] = of("f1", &confusion).unwrap();
        assert!((high - f1(0.8, 0.75) - changes[0].hypot(changes[1])).abs() < 1e-12 && low < f1(0.8, 0.75));
        // None is found: the interval has a length, as other samples may be found.
        let none = [vec![40.0, 0.0], vec![8.0, 0.0]];
        let [low, high] = of("f1", &none).unwrap();
        assert!(low == 0.0 && high > 0.3, "{low} {high}");
        assert_eq!(of("mcc", &none), None);
        // All are right, of three classes.
        let [low, high] = of("f1", &[vec![9.0, 0.0, 0.0], vec![0.0, 9.0, 0.0], vec![0.0, 0.0, 9.0]]).unwrap();
        assert!(low > 0.7 && low < 0.9 && high == 1.0, "{low} {high}");
    }

    #[test]
    fn an_interval_of_folds_that_are_alike_is_that_of_independent_samples() {
        let (truth, decisions) = ([0, 0, 0, 1, 1, 1], [-1.0, -2.0, -0.5, 1.0, 2.0, 0.5]);
        let right = Metrics::new(&truth, &truth, &decisions, 2);
        let confusion = vec![vec![3, 0], vec![0, 3]];
        let fold = |repeat| FoldMetrics { repeat, metrics: &right, confusion: &confusion };
        let folds = [fold(0), fold(0), fold(1), fold(1)];
        let found = summaries(&folds, 0.5);
        let of = |name: &str| found.iter().find(|entry| entry.0 == name).unwrap().1.ci95.unwrap();
        // 12 samples, each held out twice, all right.
        let share = share_interval(1.0, 12.0);
        assert!((of("accuracy")[0] - share[0]).abs() < 1e-12 && of("accuracy")[1] == 1.0);
        assert!((of("auc")[0] - area_interval(1.0, 6.0, 6.0)[0]).abs() < 1e-12);
        // Six of each class.
        let share = share_interval(1.0, 6.0);
        assert!((of("sensitivity")[0] - share[0]).abs() < 1e-12 && of("sensitivity") == of("specificity"));
    }

    #[test]
    fn folds_that_differ_are_worth_fewer_samples() {
        // 40 samples in two folds that learn from as many: sd 0.2 sqrt 2, variance 0.08 (1 / 2 + 1) = 0.12.
        let found = measure_summary("accuracy", &[0.6, 1.0], 1.0, &[20.0, 20.0]);
        let effect = 0.12 / (0.8 * 0.2 / 40.0);
        let expected = share_interval(0.8, 40.0 / effect);
        assert!(found.ci95.unwrap().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        // Folds that are alike are worth all of theirs.
        let found = measure_summary("accuracy", &[0.8, 0.8], 1.0, &[20.0, 20.0]).ci95.unwrap();
        assert!((found[0] - share_interval(0.8, 40.0)[0]).abs() < 1e-12);
    }

    #[test]
    fn shares_of_classes_are_of_the_folds_that_held_them_out() {
        let (truth, predicted) = ([[0, 1, 1, 1], [1, 1, 1, 1]], [[0, 1, 1, 0], [1, 0, 1, 1]]);
        let metrics = [0, 1].map(|at| Metrics::new(&truth[at], &predicted[at], &[], 2));
        let counts = [0, 1].map(|at| crate::validation::confusion(&truth[at], &predicted[at], 2));
        let fold = |at: usize| FoldMetrics { repeat: 0, metrics: &metrics[at], confusion: &counts[at] };
        let folds = [fold(0), fold(1)];
        let [specificity, sensitivity] = recalls(&folds, 0.5)[..] else { panic!("there are two classes") };
        // 2 of 3 and 3 of 4; the one sample of the first class is in the first fold.
        assert!((sensitivity.unwrap().mean - 17.0 / 24.0).abs() < 1e-15);
        assert_eq!(specificity.unwrap().mean, 1.0);
        let [low, _] = specificity.unwrap().ci95.unwrap();
        assert!((low - share_interval(1.0, 1.0)[0]).abs() < 1e-12);
        let named = summaries(&folds, 0.5);
        assert_eq!(named.iter().find(|entry| entry.0 == "sensitivity").unwrap().1, sensitivity.unwrap());
    }

    #[test]
    fn an_interval_of_a_loss_is_no_shorter_than_that_of_independent_samples() {
        let losses = [0.1, 0.2, 0.3, 0.6];
        // Folds alike: t quantile 0.975 at 3 degrees of freedom is 3.182446, sd 0.2160247.
        let found = loss_summary("log_loss", &[0.3, 0.3], 1.0, &losses).ci95.unwrap();
        let radius = 3.182446 * 0.216_024_69 / 2.0;
        assert!((found[1] - (0.3 + radius)).abs() < 1e-6 && found[0] == 0.0, "{found:?}");
        // Folds that differ more keep their own interval.
        let wide = measure_summary("log_loss", &[0.1, 0.5], 1.0, &[]);
        assert_eq!(loss_summary("log_loss", &[0.1, 0.5], 1.0, &losses), wide);
        assert!(loss_summary("brier", &[0.1], 0.0, &[0.1]).ci95.is_none());
    }
}
