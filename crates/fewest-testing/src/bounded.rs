//! An independent judge of linear machines with bounds on their weights.

use fewest::dual::{BoxDual, DualSolution};
use fewest::{Bias, Design, Interval, Loss};

use crate::{Bracket, Rng, dense_copy};

/// Panics unless the solution on all columns of the design is feasible, its objectives are those of
/// its weights, bias and beta, and the relative duality gap is within `tol`.
pub fn assert_bounded(design: &dyn Design, bounds: &[Interval], dual: &BoxDual, solution: &DualSolution, tol: f64) {
    let Bracket { lower: value, upper: primal } = bounded_bracket(design, bounds, dual, solution);
    let scale = primal.abs().max(1e-300);
    assert!((solution.primal - primal).abs() <= 1e-9 * scale, "primal is {}, recomputed {primal}", solution.primal);
    assert!(solution.dual <= value + 1e-9 * scale, "dual is {}, recomputed {value}", solution.dual);
    assert!(value <= primal + 1e-10 * scale, "dual {value} exceeds primal {primal}");
    assert!(primal - value <= tol * scale, "gap {} exceeds {tol}", (primal - value) / scale);
}

/// The values of a solution on all columns of the design, from their definitions; panics unless it is
/// feasible. The dual side is `sum y beta - ridge - sum_j g_j`, each `g_j` the largest of
/// `c w - w^2 / 2` at the bounds and, where allowed, at w = c.
pub fn bounded_bracket(design: &dyn Design, bounds: &[Interval], dual: &BoxDual, solution: &DualSolution) -> Bracket {
    let rows = dense_copy(design);
    let (n, beta, w, b) = (rows.len(), &solution.beta, &solution.weights, solution.bias);
    assert_eq!((w.len(), beta.len()), (bounds.len(), n), "a weight per column and a beta per sample");
    for (j, (w, interval)) in w.iter().zip(bounds).enumerate() {
        assert!(*w >= interval.lower && *w <= interval.upper, "weight {j} is {w}, outside {interval:?}");
    }
    for i in 0..n {
        let alpha = dual.y[i] * beta[i];
        let most = if dual.loss == Loss::Hinge { dual.cost[i] } else { f64::INFINITY };
        assert!(alpha >= 0.0 && alpha <= most && (dual.cost[i] > 0.0 || alpha == 0.0), "alpha {i} is {alpha}");
    }
    let (sum, absolute) = (beta.iter().sum::<f64>(), beta.iter().map(|b| b.abs()).sum::<f64>());
    let (shift, norm_of_bias) = match dual.bias {
        Bias::Free => {
            assert!(sum.abs() <= 1e-11 * absolute, "sum of beta is {sum} with a free bias");
            (0.0, 0.0)
        }
        Bias::Penalised(s) => (0.5 * s * s * sum * sum, 0.5 * (b / s) * (b / s)),
        Bias::None => {
            assert_eq!(b, 0.0, "there is no bias");
            (0.0, 0.0)
        }
    };
    let loss = |i: usize| {
        let score: f64 = rows[i].iter().zip(w).map(|(x, w)| x * w).sum();
        let slack = (1.0 - dual.y[i] * (score + b)).max(0.0);
        dual.cost[i] * if dual.loss == Loss::Hinge { slack } else { slack * slack }
    };
    let primal = 0.5 * w.iter().map(|w| w * w).sum::<f64>() + norm_of_bias + (0..n).map(loss).sum::<f64>();
    let gain = |j: usize| {
        let c: f64 = rows.iter().zip(beta).map(|(row, b)| row[j] * b).sum();
        let at = |w: f64| if w.is_finite() { c * w - 0.5 * w * w } else { f64::NEG_INFINITY };
        let Interval { lower, upper } = bounds[j];
        let free = if c >= lower && c <= upper { at(c) } else { f64::NEG_INFINITY };
        at(lower).max(at(upper)).max(free)
    };
    let ridge = |i: usize| match dual.loss {
        Loss::SquaredHinge if dual.cost[i] > 0.0 => beta[i] * beta[i] / (4.0 * dual.cost[i]),
        Loss::Hinge | Loss::SquaredHinge => 0.0,
    };
    let value =
        (0..n).map(|i| dual.y[i] * beta[i] - ridge(i)).sum::<f64>() - shift - (0..bounds.len()).map(gain).sum::<f64>();
    Bracket { lower: value, upper: primal }
}

/// Random bounds for p features: free ones, signs, boxes of many sizes, now and then nothing but 0.
pub fn random_bounds(rng: &mut Rng, p: usize) -> Vec<Interval> {
    let bound = |rng: &mut Rng| [0.0, 0.02, 0.1, 0.5, 3.0, f64::INFINITY, f64::INFINITY][rng.below(7)];
    (0..p).map(|_| Interval { lower: -bound(rng), upper: bound(rng) }).collect()
}
