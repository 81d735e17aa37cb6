//! Isotonic regression: from the decision value f to the probability of the second class.
//!
//! Solves   min over g, never falling, of sum_i (g(f_i) - t_i)^2, t_i = 1 for the second class,
//!          else 0. Between two values g is linear, beyond the last ones constant.
//! Paper    Zadrozny, Elkan 2002; pools of adjacent violators (Ayer and others 1955). Equal
//!          decision values count as one, as in scikit-learn's
//!          `IsotonicRegression(out_of_bounds="clip")`.
//! Given    decision values and classes.
//! Returns  the values between which g is linear, ascending, and g there.
//! Cost     a sort and one pass.
//! Fails    never.

use serde::{Deserialize, Serialize};

/// A function that never falls and is linear between some values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Points")]
pub struct Isotonic {
    decisions: Vec<f64>,
    probabilities: Vec<f64>,
}

/// As in a file, not checked yet.
#[derive(Deserialize)]
struct Points {
    decisions: Vec<f64>,
    probabilities: Vec<f64>,
}

impl TryFrom<Points> for Isotonic {
    type Error = String;

    fn try_from(Points { decisions, probabilities }: Points) -> Result<Self, String> {
        let ascends = decisions.is_sorted_by(|a, b| a < b) && decisions.iter().all(|f| f.is_finite());
        let rises = probabilities.is_sorted() && probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if decisions.is_empty() || decisions.len() != probabilities.len() || !ascends || !rises {
            return Err("decisions must ascend, and as many probabilities from 0 to 1 must not fall".to_owned());
        }
        Ok(Self { decisions, probabilities })
    }
}

/// Samples with one fitted value.
struct Pool {
    /// Their decision values, from and to.
    first: f64,
    last: f64,
    /// Their number, and how many of them are of the second class.
    count: f64,
    second: f64,
}

impl Isotonic {
    /// Fits decision values to classes (`true`: the second class); none without samples.
    pub fn fit(decisions: &[f64], second: &[bool]) -> Option<Self> {
        let mut samples: Vec<(f64, f64)> =
            decisions.iter().zip(second).map(|(&f, &s)| (f, f64::from(u8::from(s)))).collect();
        samples.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut pools: Vec<Pool> = Vec::new();
        for same in samples.chunk_by(|a, b| a.0 == b.0) {
            let second: f64 = same.iter().map(|sample| sample.1).sum();
            let mut now = Pool { first: same[0].0, last: same[0].0, count: same.len() as f64, second };
            // The mean must not be below that of the pool before.
            while let Some(before) = pools.pop_if(|before| before.second * now.count >= now.second * before.count) {
                now = Pool {
                    first: before.first,
                    last: now.last,
                    count: before.count + now.count,
                    second: before.second + now.second,
                };
            }
            pools.push(now);
        }
        let mut found = Self { decisions: Vec::new(), probabilities: Vec::new() };
        for Pool { first, last, count, second } in pools {
            let ends = if first < last { vec![first, last] } else { vec![first] };
            for end in ends {
                found.decisions.push(end);
                found.probabilities.push(second / count);
            }
        }
        (!found.decisions.is_empty()).then_some(found)
    }

    /// Probability of the second class at a decision value.
    pub fn probability(&self, decision: f64) -> f64 {
        let (f, p) = (&self.decisions, &self.probabilities);
        match f.partition_point(|&known| known < decision) {
            0 => p[0],
            at if at == f.len() => p[at - 1],
            at => p[at - 1] + (p[at] - p[at - 1]) * (decision - f[at - 1]) / (f[at] - f[at - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Isotonic;

    /// scikit-learn 1.9.1: `IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")`, fitted to
    /// f and second, its `predict(at)`.
    #[test]
    fn agrees_with_scikit_learn() {
        let f = [-2.0, -1.0, -0.5, 0.2, 0.4, 1.0, 1.5, -0.1, 0.3, 0.4, 0.4, 2.0, -1.0];
        let second = [0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1].map(|s| s == 1);
        let at = [-3.0, -2.0, -1.5, -1.0, -0.7, -0.5, 0.0, 0.25, 0.35, 0.4, 0.7, 1.0, 3.0];
        let expected = [
            0.0,
            0.0,
            0.25,
            0.5,
            0.5,
            0.5,
            0.5,
            0.5,
            0.5833333333333333,
            0.6666666666666666,
            0.8333333333333333,
            1.0,
            1.0,
        ];
        let found = Isotonic::fit(&f, &second).unwrap();
        for (at, expected) in at.into_iter().zip(expected) {
            let p = found.probability(at);
            assert!((p - expected).abs() < 1e-12, "{at}: {p}, not {expected}");
        }
        assert_eq!(Isotonic::fit(&[], &[]), None);
    }

    #[test]
    fn is_read_only_as_it_may_be() {
        let read = |text: &str| serde_json::from_str::<Isotonic>(text);
        let found = read(r#"{"decisions": [-1.0, 1.0], "probabilities": [0.25, 0.75]}"#).unwrap();
        assert!((found.probability(0.5) - 0.625).abs() < 1e-15);
        for bad in [
            r#"{"decisions": [], "probabilities": []}"#,
            r#"{"decisions": [1.0, 1.0], "probabilities": [0.25, 0.75]}"#,
            r#"{"decisions": [-1.0, 1.0], "probabilities": [0.75, 0.25]}"#,
            r#"{"decisions": [-1.0, 1.0], "probabilities": [0.25]}"#,
            r#"{"decisions": [-1.0, 1.0], "probabilities": [0.25, 1.5]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
