//! Platt's sigmoid: from the decision value f to the probability of the second class.
//!
//! Solves   min over (a, b) of the negative log likelihood of `1 / (1 + exp(-(a f + b)))` against
//!          targets `(n1 + 1) / (n1 + 2)` and `1 / (n0 + 2)`.
//! Paper    Platt 1999; the Newton method with backtracking of Lin, Lin, Weng, A note on Platt's
//!          probabilistic outputs for support vector machines, Machine Learning 68 (2007),
//!          Algorithm 1.
//! Given    decision values and classes, both classes present.
//! Returns  a, 0 or more, and b.
//! Method   on decisions of mean 0 and deviation 1, so that the two unknowns do not get in each
//!          other's way. Decisions that hardly differ (a classifier that says one class of all) tell
//!          nothing: their slope is 0, not one that rounding made up. So is the slope of decisions that
//!          speak for the wrong class, as those of noise may: probabilities do not run against what is
//!          predicted.
//! Cost     about ten passes.
//! Fails    never; after 100 rounds it is as good as it is.

/// Rounds at most, smallest step, curvature added, gradient that counts as 0.
const ROUNDS: usize = 100;
const LEAST_STEP: f64 = 1e-10;
const RIDGE: f64 = 1e-12;
const FLAT: f64 = 1e-5;
/// Standard deviation of decisions, in margins, up to which they are as good as the same: they come
/// from trainings to a gap of about 1e-4.
const SAME: f64 = 1e-3;

/// A sigmoid `1 / (1 + exp(-(a f + b)))`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sigmoid {
    /// Slope.
    pub a: f64,
    /// Value at f = 0.
    pub b: f64,
}

impl Sigmoid {
    /// Fits decision values to classes (`true`: the second class); none without samples of both.
    pub fn fit(decisions: &[f64], second: &[bool]) -> Option<Self> {
        let positive = second.iter().filter(|&&s| s).count() as f64;
        let negative = second.len() as f64 - positive;
        if positive == 0.0 || negative == 0.0 {
            return None;
        }
        let start = ((positive + 1.0) / (negative + 1.0)).ln();
        let targets = [1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0)];
        let found = Self::fit_to(decisions, second, targets, start)?;
        Some(if found.a < 0.0 { Self { a: 0.0, b: start } } else { found })
    }

    /// The sigmoid of largest likelihood, without Platt's targets; none without samples of both
    /// classes, where the values separate them, or where they hardly differ.
    pub(crate) fn likeliest(decisions: &[f64], second: &[bool]) -> Option<Self> {
        let of = |class: bool| decisions.iter().zip(second).filter(move |(_, s)| **s == class).map(|(f, _)| *f);
        let ends = |class: bool| (of(class).fold(f64::INFINITY, f64::min), of(class).fold(f64::NEG_INFINITY, f64::max));
        let ((low, high), (least, most)) = (ends(false), ends(true));
        if low > high || least > most || high <= least || most <= low {
            return None;
        }
        let ratio = of(true).count() as f64 / of(false).count() as f64;
        Self::fit_to(decisions, second, [0.0, 1.0], ratio.ln())
    }

    /// The sigmoid that is nearest to a target for each class, from a value of b to start with.
    fn fit_to(decisions: &[f64], second: &[bool], [low, high]: [f64; 2], start: f64) -> Option<Self> {
        let target = |s: bool| if s { high } else { low };
        let n = decisions.len() as f64;
        let mean = decisions.iter().sum::<f64>() / n;
        let deviation = (decisions.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt();
        if deviation <= SAME {
            return Some(Self { a: 0.0, b: start });
        }
        let decisions: Vec<f64> = decisions.iter().map(|f| (f - mean) / deviation).collect();
        let loss = |a: f64, b: f64| -> f64 {
            let one = |(f, &s): (&f64, &bool)| cross_entropy(a * f + b, target(s));
            decisions.iter().zip(second).map(one).sum()
        };
        let (mut a, mut b) = (0.0, start);
        let mut value = loss(a, b);
        for _ in 0..ROUNDS {
            let (mut haa, mut hbb, mut hab, mut ga, mut gb) = (RIDGE, RIDGE, 0.0, 0.0, 0.0);
            for (&f, &s) in decisions.iter().zip(second) {
                let p = logistic(a * f + b);
                let (curvature, slope) = (p * (1.0 - p), p - target(s));
                haa += f * f * curvature;
                hbb += curvature;
                hab += f * curvature;
                ga += f * slope;
                gb += slope;
            }
            if ga.abs() < FLAT && gb.abs() < FLAT {
                break;
            }
            let det = haa * hbb - hab * hab;
            let (da, db) = (-(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det);
            let descent = ga * da + gb * db;
            let mut step = 1.0;
            while step >= LEAST_STEP {
                let (na, nb) = (a + step * da, b + step * db);
                let now = loss(na, nb);
                if now < value + 1e-4 * step * descent {
                    (a, b, value) = (na, nb, now);
                    break;
                }
                step /= 2.0;
            }
            if step < LEAST_STEP {
                break;
            }
        }
        let found = Self { a: a / deviation, b: b - a * mean / deviation };
        (found.a.is_finite() && found.b.is_finite()).then_some(found)
    }

    /// Probability of the second class at a decision value.
    pub fn probability(&self, decision: f64) -> f64 {
        logistic(self.a * decision + self.b)
    }

    /// -ln of the probability of the true class.
    pub fn log_loss(&self, decision: f64, second: bool) -> f64 {
        cross_entropy(self.a * decision + self.b, f64::from(u8::from(second)))
    }
}

/// 1 / (1 + exp(-x)) without overflow.
fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// -t ln p - (1 - t) ln (1 - p) at p = 1 / (1 + exp(-x)).
fn cross_entropy(x: f64, t: f64) -> f64 {
    x.max(0.0) - t * x + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::Sigmoid;

    #[test]
    fn the_sigmoid_is_the_minimum_and_orders_the_samples() {
        let decisions = [-2.0, -1.0, -0.5, 0.2, 0.4, 1.0, 1.5, -0.1, 0.3];
        let second = [false, false, false, false, true, true, true, true, false];
        let found = Sigmoid::fit(&decisions, &second).unwrap();
        // The gradient of the likelihood at the answer, from its definition.
        let (high, low) = (5.0 / 6.0, 1.0 / 7.0);
        let slope = |f: f64, s: bool| found.probability(f) - if s { high } else { low };
        let (mut ga, mut gb) = (0.0, 0.0);
        for (&f, &s) in decisions.iter().zip(&second) {
            ga += f * slope(f, s);
            gb += slope(f, s);
        }
        assert!(ga.abs() < 1e-4 && gb.abs() < 1e-4, "{ga} {gb}");
        assert!(found.a > 0.0 && found.probability(1.0) > found.probability(-1.0));
        let both = [found.log_loss(1.0, true), -found.probability(1.0).ln()];
        assert!((both[0] - both[1]).abs() < 1e-12, "{both:?}");
        assert_eq!(Sigmoid::fit(&decisions, &[true; 9]), None);
    }

    #[test]
    fn decisions_that_are_all_but_the_same_say_how_many_there_are_of_each_class() {
        let second = [true, false, false, true, false, false];
        let noise = [3e-9, -1e-9, 2e-9, 4e-9, -5e-9, 0.0].map(|e| -1.0 + e);
        let found = Sigmoid::fit(&noise, &second).unwrap();
        for f in [-1.0, -0.9, 3.0] {
            let p = found.probability(f);
            assert!((p - 3.0 / 8.0).abs() < 1e-12, "{p}");
        }
        // Far from 0 the answer is that of the same decisions around 0.
        let near = [-2.0, 1.0, -0.5, 1.5, 0.3, -1.0];
        let [a, b] = [near, near.map(|f| f + 1e6)].map(|f| Sigmoid::fit(&f, &second).unwrap());
        assert!((a.probability(0.7) - b.probability(1e6 + 0.7)).abs() < 1e-6);
    }

    #[test]
    fn probabilities_do_not_run_against_decisions() {
        let second = [true, true, false, true, false, false, false];
        let decisions = [-2.0, -1.0, -0.5, 0.3, 0.5, 1.0, 1.5];
        let found = Sigmoid::fit(&decisions, &second).unwrap();
        assert_eq!(found.a, 0.0);
        assert!((found.probability(-3.0) - 4.0 / 9.0).abs() < 1e-12);
        // Turned around they have a slope; what judges probabilities says both.
        let turned = decisions.map(|f| -f);
        assert!(Sigmoid::fit(&turned, &second).unwrap().a > 0.0);
        assert!(Sigmoid::likeliest(&decisions, &second).unwrap().a < 0.0);
    }

    #[test]
    fn the_likeliest_sigmoid_has_the_share_and_the_mean_of_the_classes() {
        let decisions = [-2.0, -1.0, 0.5, 1.0, 2.0, -0.5, 0.1];
        let second = [false, true, false, true, true, false, true];
        let found = Sigmoid::likeliest(&decisions, &second).unwrap();
        // The equations of the likelihood: sum (p - y) = 0 and sum (p - y) f = 0.
        let off = |f: f64, s: bool| found.probability(f) - f64::from(u8::from(s));
        let each = || decisions.iter().zip(second);
        assert!(each().map(|(&f, s)| off(f, s)).sum::<f64>().abs() < 1e-4);
        assert!(each().map(|(&f, s)| f * off(f, s)).sum::<f64>().abs() < 1e-4);
        assert_eq!(Sigmoid::likeliest(&[-1.0, 0.0, 1.0], &[false, false, true]), None);
        assert_eq!(Sigmoid::likeliest(&[-1.0, 0.0, 1.0], &[true; 3]), None);
    }

    #[test]
    fn separated_samples_stay_short_of_certainty() {
        let found = Sigmoid::fit(&[-3.0, -2.0, 2.0, 3.0], &[false, false, true, true]).unwrap();
        let p = found.probability(3.0);
        assert!(p > 0.6 && p < 0.9, "{p}");
    }
}
