//! Objectives in double-double arithmetic: some 31 digits.

use super::{Bias, Problem, features};

/// A number as the sum of two doubles, the second at most half a unit in the last place of the
/// first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twice(pub f64, pub f64);

impl Twice {
    fn add(self, other: Self) -> Self {
        let s = self.0 + other.0;
        let t = s - self.0;
        let error = (self.0 - (s - t)) + (other.0 - t) + self.1 + other.1;
        Self::of(s, error)
    }

    fn times(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let error = self.0.mul_add(other.0, -product) + self.0 * other.1 + self.1 * other.0;
        Self::of(product, error)
    }

    fn of(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }

    /// Whether a double is above it; of what overflowed none is.
    pub fn is_below(self, x: f64) -> bool {
        self.0.is_finite() && self.1.is_finite() && (x > self.0 || (x == self.0 && self.1 < 0.0))
    }
}

fn one(x: f64) -> Twice {
    Twice(x, 0.0)
}

/// F at w (length p) and b on a subset; what is not a number compares as above all.
pub fn primal(problem: &Problem, z: u32, w: &[f64], b: f64) -> Twice {
    let l1 = problem.l1.is_some();
    let own = |w: f64| if l1 { one(w.abs()) } else { one(0.5 * w).times(one(w)) };
    let mut total = match problem.bias {
        // Tests have s that is a power of two: the quotient is exact.
        Bias::Penalised(s) => own(b / s),
        Bias::Free | Bias::None => one(0.0),
    };
    for j in features(z) {
        total = total.add(own(w[j])).add(one(problem.price(j)));
    }
    for i in 0..problem.n() {
        let score = features(z).into_iter().fold(one(b), |sum, j| sum.add(one(w[j]).times(one(problem.columns[j][i]))));
        let slack = one(1.0).add(one(-problem.y[i]).times(score));
        if slack.0 > 0.0 || slack.0.is_nan() {
            let loss = if problem.squared { slack.times(slack) } else { slack };
            total = total.add(one(problem.cost_of(i)).times(loss));
        }
    }
    total
}
