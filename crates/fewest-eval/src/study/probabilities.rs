//! From decision values to the probability of each class: of two classes by one calibration, of
//! more by that of each pair's machine, coupled.
//!
//! Solves   min over p (sum 1) of `sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2`, where r_ij is the
//!          probability of class i among the pair (i, j).
//! Paper    T.-F. Wu, C.-J. Lin, R. C. Weng, JMLR 5 (2004), 975-1005, the second method, (14) to
//!          (20); LIBSVM has it, too.
//! Given    one decision value for each pair of classes, ordered (0,1), (0,2), ..., (1,2), ...
//! Returns  a probability for each class, 0 or more, of sum 1.
//! Differs  the linear system (20) is solved at once instead of by rounds: there is no tolerance.
//! Cost     k^3 for k classes, each sample.

use fewest::model::class_pairs;
use serde::{Deserialize, Serialize};

use super::calibration::EDGE;
use super::platt::Sigmoid;
use crate::classifier::Predictions;

/// How decision values become the probability of each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Probabilities {
    /// Two classes.
    Two(Sigmoid),
    /// More.
    Pairs {
        /// The calibration of each pair's machine, in their order.
        pairs: Vec<Sigmoid>,
    },
}

/// Losses of probabilities on samples whose classes are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Mean of -ln(probability of the true class).
    pub log_loss: f64,
    /// Mean squared difference of probability and class: of two classes that of the second, of more
    /// summed over the classes.
    pub brier: f64,
}

impl Losses {
    /// Mean of at least one value of each loss.
    pub(crate) fn mean(each: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| each.iter().map(of).sum::<f64>() / each.len() as f64;
        Self { log_loss: mean(|loss| loss.log_loss), brier: mean(|loss| loss.brier) }
    }
}

impl Probabilities {
    /// Fits the decision values of samples (one for each machine, sample after sample) to their
    /// classes, each pair on its own samples; none where a class has no sample.
    pub fn fit(decisions: &[f64], codes: &[u32], n_classes: usize) -> Option<Self> {
        let pairs = class_pairs(n_classes as u32);
        let of_pair = |(at, &(a, b)): (usize, &(u32, u32))| {
            let own = (0..codes.len()).filter(|&i| codes[i] == a || codes[i] == b);
            let (values, second): (Vec<f64>, Vec<bool>) =
                own.map(|i| (decisions[i * pairs.len() + at], codes[i] == b)).unzip();
            Sigmoid::fit(&values, &second)
        };
        let mut each: Vec<Sigmoid> = pairs.iter().enumerate().map(of_pair).collect::<Option<_>>()?;
        Some(if n_classes == 2 { Self::Two(each.remove(0)) } else { Self::Pairs { pairs: each } })
    }

    /// Pairs of classes that it has a calibration of.
    pub fn pairs(&self) -> usize {
        match self {
            Self::Two(_) => 1,
            Self::Pairs { pairs } => pairs.len(),
        }
    }

    /// The probability of each class for a sample, from its decision value for each pair.
    pub fn of(&self, decisions: &[f64]) -> Vec<f64> {
        match self {
            Self::Two(calibration) => {
                let second = calibration.probability(decisions[0]);
                vec![1.0 - second, second]
            }
            Self::Pairs { pairs } => {
                let second: Vec<f64> = pairs.iter().zip(decisions).map(|(pair, &f)| pair.probability(f)).collect();
                coupled(&second)
            }
        }
    }

    /// The probability of each class, of each sample.
    pub fn of_each(&self, decisions: &[f64]) -> Vec<Vec<f64>> {
        decisions.chunks(self.pairs()).map(|values| self.of(values)).collect()
    }

    /// Losses of the probabilities of samples; of at least one.
    pub fn losses(&self, of: &Predictions) -> Losses {
        Losses::mean(&self.each_loss(of))
    }

    /// The losses of each sample alone.
    pub fn each_loss(&self, of: &Predictions) -> Vec<Losses> {
        let one = |(values, &class): (&[f64], &u32)| Losses {
            log_loss: self.log_loss(values, class),
            brier: self.brier(values, class),
        };
        of.decisions.chunks(self.pairs()).zip(&of.truth).map(one).collect()
    }

    /// The probability of the second class of each sample, and whether it is of that; two classes.
    pub fn second(&self, of: &Predictions) -> Option<Vec<(f64, bool)>> {
        let Self::Two(calibration) = self else { return None };
        let each = of.decisions.iter().zip(&of.truth);
        Some(each.map(|(&f, &class)| (calibration.probability(f), class == 1)).collect())
    }

    /// -ln of the probability of a sample's class; one of 0 counts as the smallest step above it.
    pub(crate) fn log_loss(&self, decisions: &[f64], class: u32) -> f64 {
        match self {
            Self::Two(calibration) => calibration.log_loss(decisions[0], class == 1),
            Self::Pairs { .. } => -self.of(decisions)[class as usize].max(f64::EPSILON).ln(),
        }
    }

    /// Squared difference of the probabilities and the class: of two classes that of the second's
    /// probability, of more the sum over the classes.
    fn brier(&self, decisions: &[f64], class: u32) -> f64 {
        let each =
            self.of(decisions).into_iter().zip(0..).map(|(p, at)| (p - f64::from(u8::from(at == class))).powi(2));
        each.skip(usize::from(matches!(self, Self::Two(_)))).sum()
    }
}

/// Probabilities of k classes from that of the second class in each pair.
fn coupled(second: &[f64]) -> Vec<f64> {
    // k (k - 1) / 2 pairs.
    let k = (1 + 8 * second.len()).isqrt().div_ceil(2);
    // Q p + b e = 0, e'p = 1 with Q_ii = sum_s r_si^2, Q_ij = -r_ji r_ij.
    let mut rows = vec![vec![0.0; k + 2]; k + 1];
    for (&(a, b), &p) in class_pairs(k as u32).iter().zip(second) {
        let (a, b, of_b) = (a as usize, b as usize, p.clamp(EDGE, 1.0 - EDGE));
        let of_a = 1.0 - of_b;
        rows[a][a] += of_b * of_b;
        rows[b][b] += of_a * of_a;
        rows[a][b] = -of_a * of_b;
        rows[b][a] = -of_a * of_b;
    }
    for at in 0..k {
        (rows[at][k], rows[k][at]) = (1.0, 1.0);
    }
    rows[k][k + 1] = 1.0;
    let mut p = solved(rows);
    p.truncate(k);
    // What rounding leaves.
    let sum: f64 = p.iter().map(|p| p.max(0.0)).sum();
    p.iter().map(|p| p.max(0.0) / sum).collect()
}

/// The solution of linear equations, their right side in the last column, by elimination with the
/// largest pivot of a column.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for at in 0..n {
        let pivot = (at..n).max_by(|&i, &j| rows[i][at].abs().total_cmp(&rows[j][at].abs())).unwrap_or(at);
        rows.swap(at, pivot);
        let (done, rest) = rows.split_at_mut(at + 1);
        let top = &done[at];
        for row in rest {
            let factor = row[at] / top[at];
            row[at..].iter_mut().zip(&top[at..]).for_each(|(x, t)| *x -= factor * t);
        }
    }
    let mut x = vec![0.0; n];
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|j| rows[at][j] * x[j]).sum();
        x[at] = (rows[at][n] - known) / rows[at][at];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::calibration::Calibration;
    use super::*;

    /// The objective of the paper.
    fn objective(second: &[f64], p: &[f64]) -> f64 {
        let pairs = class_pairs(p.len() as u32);
        let one = |(&(a, b), &of_b): (&(u32, u32), &f64)| (of_b * p[a as usize] - (1.0 - of_b) * p[b as usize]).powi(2);
        2.0 * pairs.iter().zip(second).map(one).sum::<f64>()
    }

    #[test]
    fn coupled_probabilities_are_the_best_on_a_fine_grid() {
        let steps = 120;
        for second in [[0.2, 0.7, 0.9], [0.5, 0.5, 0.5], [0.01, 0.999, 0.3], [0.9, 0.1, 0.9]] {
            let p = coupled(&second);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|&p| p >= 0.0), "{p:?}");
            let least = objective(&second, &p);
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let q = [i, j, steps - i - j].map(|c| f64::from(c) / f64::from(steps));
                    assert!(objective(&second, &q) >= least - 1e-12, "{second:?}: {q:?} is better than {p:?}");
                }
            }
        }
    }

    /// Rounds of LIBSVM 3.3, `multiclass_probability`, to the end.
    fn by_rounds(second: &[f64], k: usize) -> Vec<f64> {
        let mut r = vec![vec![0.0; k]; k];
        for (&(a, b), &of_b) in class_pairs(k as u32).iter().zip(second) {
            (r[a as usize][b as usize], r[b as usize][a as usize]) = (1.0 - of_b, of_b);
        }
        let q = |t: usize, j: usize| {
            if t == j { (0..k).filter(|&s| s != t).map(|s| r[s][t] * r[s][t]).sum() } else { -r[j][t] * r[t][j] }
        };
        let mut p = vec![1.0 / k as f64; k];
        for _ in 0..5000 {
            for t in 0..k {
                let qp: Vec<f64> = (0..k).map(|i| (0..k).map(|j| q(i, j) * p[j]).sum()).collect();
                let pqp: f64 = p.iter().zip(&qp).map(|(p, q)| p * q).sum();
                p[t] += (pqp - qp[t]) / q(t, t);
                let sum: f64 = p.iter().sum();
                p = p.iter().map(|p| p / sum).collect();
            }
        }
        p
    }

    #[test]
    fn coupled_probabilities_are_those_of_libsvms_rounds() {
        for k in 3..7 {
            let pairs = k * (k - 1) / 2;
            let second: Vec<f64> = (0..pairs).map(|at| 0.05 + 0.9 * ((7 * at + 3) % 11) as f64 / 10.0).collect();
            for (a, b) in coupled(&second).iter().zip(by_rounds(&second, k)) {
                assert!((a - b).abs() < 1e-9, "{k}: {a} {b}");
            }
        }
    }

    #[test]
    fn pairs_that_agree_give_what_they_are_made_of() {
        let p = [0.1, 0.2, 0.3, 0.4];
        let second: Vec<f64> =
            class_pairs(4).iter().map(|&(a, b)| p[b as usize] / (p[a as usize] + p[b as usize])).collect();
        for (a, b) in coupled(&second).iter().zip(p) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        // Certain pairs leave a certain class.
        let certain = coupled(&[1.0, 1.0, 0.0]);
        assert!((certain[1] - 1.0).abs() < 1e-5, "{certain:?}");
    }

    #[test]
    fn right_probabilities_have_slope_one_and_intercept_zero() {
        // Of each value of the odds, as large a share of the second class as it says.
        let sigmoid = Sigmoid { a: 2.0, b: -0.5 };
        let (mut truth, mut decisions) = (Vec::new(), Vec::new());
        for step in -8..=8 {
            let f = 0.1 * f64::from(step);
            let of_second = (1e4 * sigmoid.probability(f)).round() as usize;
            truth.extend((0..10_000).map(|at| u32::from(at < of_second)));
            decisions.extend(vec![f; 10_000]);
        }
        let of = Predictions { predicted: truth.clone(), truth, decisions };
        let line = Calibration::new(&Probabilities::Two(sigmoid).second(&of).unwrap()).unwrap();
        assert!((line.slope.unwrap() - 1.0).abs() < 1e-3 && line.intercept.unwrap().abs() < 1e-3, "{line:?}");
        assert!((line.expected - line.observed).abs() < 1e-4);
        // Twice as extreme odds have half the slope.
        let extreme = Probabilities::Two(Sigmoid { a: 4.0, b: -1.0 });
        let line = Calibration::new(&extreme.second(&of).unwrap()).unwrap();
        assert!((line.slope.unwrap() - 0.5).abs() < 1e-3 && line.intercept.unwrap().abs() < 1e-3, "{line:?}");
    }

    #[test]
    fn each_pair_is_fitted_on_its_own_samples() {
        let codes = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let decisions: Vec<f64> = (0..27).map(|at| f64::from((at * 5 + 2) % 9) - 4.0).collect();
        let found = Probabilities::fit(&decisions, &codes, 3).unwrap();
        let Probabilities::Pairs { pairs } = &found else { panic!("three classes") };
        let own: Vec<f64> = [3, 4, 5, 6, 7, 8].map(|i| decisions[3 * i + 2]).to_vec();
        let alone = Sigmoid::fit(&own, &[false, false, false, true, true, true]).unwrap();
        assert_eq!(pairs[2], alone);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Probabilities>(&text).unwrap(), found);
        let two = Probabilities::fit(&own, &[0, 0, 0, 1, 1, 1], 2).unwrap();
        assert_eq!(two, Probabilities::Two(alone));
        assert_eq!(Probabilities::fit(&decisions, &[0; 9], 3), None);
    }
}
