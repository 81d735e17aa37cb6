//! What the results of folds say: intervals, tests between two methods, and which size to choose.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::Error;

/// Mean over folds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard error `sd / sqrt(m)` of m values, sd with m - 1; none for a single value.
    pub se: Option<f64>,
    /// 95 % interval by Student's t with m - 1 degrees of freedom. Folds share training samples, so
    /// that their variance is `sd^2 (1 / m + test / train)` (Nadeau, Bengio 2003), test and train
    /// the sizes of the two parts.
    pub ci95: Option<[f64; 2]>,
}

impl Summary {
    /// Summary of at least one value; `test_share` is the size of the test part over that of the
    /// training part (0: independent values).
    pub fn new(values: &[f64], test_share: f64) -> Self {
        let (mean, sd) = moments(values);
        let m = values.len() as f64;
        let radius = |sd: f64| student(m - 1.0).inverse_cdf(0.975) * sd * (1.0 / m + test_share).sqrt();
        Self { mean, se: sd.map(|sd| sd / m.sqrt()), ci95: sd.map(|sd| [mean - radius(sd), mean + radius(sd)]) }
    }

    /// The interval widened to hold another one; that one where there is none.
    #[must_use]
    pub fn covering(self, other: [f64; 2]) -> Self {
        let [low, high] = self.ci95.unwrap_or(other);
        Self { ci95: Some([low.min(other[0]), high.max(other[1])]), ..self }
    }

    /// The interval between these ends, or the mean where that is beyond one.
    #[must_use]
    pub fn between(self, ends: [f64; 2]) -> Self {
        Self { ci95: Some([ends[0].min(self.mean), ends[1].max(self.mean)]), ..self }
    }

    /// The interval cut to the values that are possible. Cutting takes nothing from its coverage.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Self {
        Self { ci95: self.ci95.map(|ends| ends.map(|end| end.clamp(least, most))), ..self }
    }
}

/// A one-sided test that a mean is above 0.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TTest {
    /// Statistic.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Probability of so large a t, were the mean 0.
    pub p: f64,
}

/// Paired t-test of differences, one for each fold or data set, as if they were independent. None
/// for fewer than two, or when all are the same.
pub fn t_test(differences: &[f64]) -> Option<TTest> {
    corrected_t_test(differences, 0.0)
}

/// Corrected resampled t-test (Nadeau, Bengio 2003; Bouckaert, Frank 2004) for repeated
/// cross-validation: variance `sd^2 (1 / m + test_share)`.
pub fn corrected_t_test(differences: &[f64], test_share: f64) -> Option<TTest> {
    let (mean, sd) = moments(differences);
    let sd = sd.filter(|&sd| sd > 1e-12 * mean.abs())?;
    let m = differences.len() as f64;
    let t = mean / (sd * (1.0 / m + test_share).sqrt());
    Some(TTest { t, df: m - 1.0, p: student(m - 1.0).sf(t) })
}

fn student(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df).expect("at least two values")
}

/// Mean and standard deviation (m - 1); no deviation of fewer than two values.
fn moments(values: &[f64]) -> (f64, Option<f64>) {
    let m = values.len() as f64;
    let mean = values.iter().sum::<f64>() / m;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (values.len() > 1).then(|| (squares / (m - 1.0)).sqrt()))
}

/// How alike the subsets of the folds are.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stability {
    /// 1 when all are the same, about 0 for random ones.
    pub index: f64,
    /// 95 % interval.
    pub ci95: [f64; 2],
}

/// Stability of subsets of p features (Nogueira, Sechidis, Brown, JMLR 18 (2018), Definition 4,
/// Theorem 7 and Corollary 9). None for fewer than two subsets, or when all are empty or full.
pub fn stability(subsets: &[Vec<usize>], p: usize) -> Option<Stability> {
    let (m, d) = (subsets.len() as f64, p as f64);
    let mut count = vec![0u32; p];
    subsets.iter().flatten().for_each(|&j| count[j] += 1);
    let share: Vec<f64> = count.iter().map(|&c| f64::from(c) / m).collect();
    let mean = share.iter().sum::<f64>() / d;
    let random = mean * (1.0 - mean);
    if subsets.len() < 2 || random <= 0.0 {
        return None;
    }
    let variance = m / (m - 1.0) * share.iter().map(|s| s * (1.0 - s)).sum::<f64>() / d;
    let index = 1.0 - variance / random;
    let part = |subset: &Vec<usize>| {
        let own = subset.len() as f64 / d;
        let overlap = subset.iter().map(|&j| share[j]).sum::<f64>() / d;
        (overlap - own * mean + 0.5 * index * (2.0 * own * mean - own - mean + 1.0)) / random
    };
    let parts: Vec<f64> = subsets.iter().map(part).collect();
    let middle = parts.iter().sum::<f64>() / m;
    let error = (4.0 / (m * m) * parts.iter().map(|v| (v - middle).powi(2)).sum::<f64>()).sqrt();
    let radius = Normal::standard().inverse_cdf(0.975) * error;
    Some(Stability { index, ci95: [index - radius, (index + radius).min(1.0)] })
}

/// Rule that chooses one of several sizes by their scores.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeRule {
    /// The largest mean score, ties to the smaller size.
    Best,
    /// The smallest size whose mean score is within one standard error of the best: the standard
    /// error over the folds of the scores of the best size (Breiman et al. 1984, section 3.4.3;
    /// Hastie et al. 2009, section 7.10).
    OneSe,
    /// The smallest size whose mean score is at least (1 - tolerance) times the best.
    Tolerance(f64),
}

/// The position of the chosen size; `scores[at]` holds the score of each fold at size number `at`,
/// sizes ascending.
///
/// # Errors
/// No sizes, no folds, or a tolerance outside [0, 1).
pub fn choose_size(scores: &[Vec<f64>], rule: SizeRule) -> Result<usize, Error> {
    if let SizeRule::Tolerance(t) = rule
        && !(0.0..1.0).contains(&t)
    {
        return Err(Error::setting("tolerance of the size", t, "from 0 to below 1"));
    }
    if scores.is_empty() || scores.iter().any(Vec::is_empty) {
        return Err(Error::Data("no scores to choose a size by".into()));
    }
    let means: Vec<f64> = scores.iter().map(|s| moments(s).0).collect();
    let mut best = 0;
    for at in 1..means.len() {
        if means[at] > means[best] + super::ROUNDING {
            best = at;
        }
    }
    let least = match rule {
        SizeRule::Best => means[best],
        SizeRule::OneSe => means[best] - Summary::new(&scores[best], 0.0).se.unwrap_or(0.0),
        SizeRule::Tolerance(t) => means[best] * (1.0 - t),
    };
    Ok(means.iter().position(|&mean| mean >= least - super::ROUNDING).unwrap_or(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_tests_agree_with_tables() {
        // t quantile 0.975 at 4 degrees of freedom is 2.776445.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let summary = Summary::new(&values, 0.0);
        let se = (2.5f64 / 5.0).sqrt();
        assert!((summary.mean - 3.0).abs() < 1e-15 && (summary.se.unwrap() - se).abs() < 1e-15);
        assert!((summary.ci95.unwrap()[1] - (3.0 + 2.776445 * se)).abs() < 1e-6);
        let wide = Summary::new(&values, 0.25).ci95.unwrap()[1];
        assert!((wide - (3.0 + 2.776445 * (2.5f64 * 0.45).sqrt())).abs() < 1e-6);
        // t = 3 / se = 4.2426 at 4 degrees of freedom: one-sided p = 0.0066 (R: pt(4.242641, 4,
        // lower = FALSE) = 0.006617)
        let test = t_test(&values).unwrap();
        assert!((test.t - 3.0 / se).abs() < 1e-12 && (test.p - 0.006617).abs() < 1e-5, "{test:?}");
        assert!(corrected_t_test(&values, 0.25).unwrap().p > test.p);
        let cut = Summary::new(&[1.0, 1.0, 0.9], 0.5).within(0.0, 1.0);
        assert!(cut.ci95.unwrap()[1] == 1.0 && cut.ci95.unwrap()[0] < cut.mean, "{cut:?}");
        assert_eq!((t_test(&[1.0]), t_test(&[2.0, 2.0]), Summary::new(&[1.0], 0.0).se), (None, None, None));
    }

    #[test]
    fn stability_of_equal_random_and_opposite_subsets() {
        let same = vec![vec![0, 3]; 6];
        let found = stability(&same, 10).unwrap();
        assert!(found.index == 1.0 && found.ci95.iter().all(|end| (end - 1.0).abs() < 1e-12), "{found:?}");
        assert_eq!((stability(&same[..1], 10), stability(&[vec![], vec![]], 10)), (None, None));
        // Two disjoint halves of 4 features: pairwise |A n B| = 0 where 1 is expected: (0 - 1) /
        // (2 - 1) = -1.
        assert!((stability(&[vec![0, 1], vec![2, 3]], 4).unwrap().index + 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_interval_of_stability_has_its_coverage() {
        let mut state = 5u64;
        let mut unit = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        // Features chosen independently with these probabilities: the population index follows from
        // the definition.
        let chance: Vec<f64> = (0..20).map(|j| if j < 5 { 0.9 } else { 0.15 }).collect();
        let mean = chance.iter().sum::<f64>() / 20.0;
        let truth = 1.0 - chance.iter().map(|c| c * (1.0 - c)).sum::<f64>() / 20.0 / (mean * (1.0 - mean));
        let mut covered = 0;
        for _ in 0..400 {
            let subsets: Vec<Vec<usize>> = (0..60).map(|_| (0..20).filter(|&j| unit() < chance[j]).collect()).collect();
            let found = stability(&subsets, 20).unwrap();
            covered += u32::from(found.ci95[0] <= truth && truth <= found.ci95[1]);
        }
        assert!((365..=395).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn the_size_is_within_one_standard_error_of_the_best() {
        // Means 0.80, 0.88, 0.90, 0.89; standard error of the third sqrt(0.001 / 3): 0.0183, 0.88 <
        // 0.8817.
        let mut scores = vec![vec![0.8; 4], vec![0.88; 4], vec![0.86, 0.94, 0.88, 0.92], vec![0.89; 4]];
        let of = |scores: &[Vec<f64>], rule| choose_size(scores, rule).unwrap();
        assert_eq!((of(&scores, SizeRule::Best), of(&scores, SizeRule::OneSe)), (2, 2));
        scores[1] = vec![0.883; 4];
        assert_eq!(of(&scores, SizeRule::OneSe), 1);
        let by = |t| of(&scores, SizeRule::Tolerance(t));
        assert_eq!((by(0.0), by(0.02), by(0.12)), (2, 1, 0));
        assert!(choose_size(&scores, SizeRule::Tolerance(1.0)).is_err() && choose_size(&[], SizeRule::Best).is_err());
    }
}
