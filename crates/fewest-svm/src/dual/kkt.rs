//! Objectives, best bias and optimality residual of an SVM at any dual point: every solver's one
//! judge.
//!
//! In all functions `scores` are the kernel sums without bias, `f_i = sum_k K_ik beta_k` (length
//! n).

use super::{Bias, BoxDual, Loss};

/// beta_i this near to one of its bounds counts as being there, as a share of the largest |beta_i|.
const AT_BOUND: f64 = 1e-12;

/// Rounding error of a sum of products, as a share of their sizes.
pub const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Objectives of one dual point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objectives {
    /// Primal objective with the bias below.
    pub primal: f64,
    /// Dual objective. A lower bound of the optimum provided beta is feasible.
    pub dual: f64,
    /// Bias used in `primal`: the exact minimiser when it is free.
    pub bias: f64,
    /// At least primal - dual: summed sample by sample from parts that are never negative, so that
    /// no digits cancel, with an allowance for rounding.
    pub absolute_gap: f64,
}

/// (primal - dual) / |primal|, 0 when both are 0.
pub fn relative_gap(primal: f64, dual: f64) -> f64 {
    if primal == dual { 0.0 } else { (primal - dual) / primal.abs().max(f64::MIN_POSITIVE) }
}

/// [`super::DualSolution::weight_error`] by the gap alone.
pub fn weight_error(absolute_gap: f64) -> f64 {
    (2.0 * absolute_gap.max(0.0)).sqrt()
}

/// Primal and dual objective at a feasible `beta`, with the best bias.
pub fn objectives(dual: &BoxDual, beta: &[f64], scores: &[f64]) -> Objectives {
    let (mut linear, mut quadratic, mut ridge, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..dual.len() {
        linear += dual.y[i] * beta[i];
        quadratic += beta[i] * scores[i];
        ridge += dual.ridge[i] * beta[i] * beta[i];
        sum += beta[i];
    }
    let s2 = dual.bias_square();
    let norm = quadratic + s2 * sum * sum;
    let bias = match dual.bias {
        Bias::Free => best_bias(dual, scores),
        Bias::Penalised(_) => s2 * sum,
        Bias::None => 0.0,
    };
    let primal = 0.5 * norm + total_loss(dual, scores, bias);
    // No optimum is above the value of w = 0; what rounding puts there is no bound.
    let lower = (linear - 0.5 * (norm + ridge)).min(dual.cost.iter().sum());
    let absolute_gap = absolute_gap(dual, beta, scores, bias) + ROUNDING * primal;
    match longer(dual, scores, bias) {
        // The machine that many times as long has no slack. Where that is worth little, the value is
        // that of this one to the last digit.
        Some(t) if 0.5 * t * t * norm < (1.0 - WORTH) * primal => {
            let primal = 0.5 * t * t * norm;
            let rounding = ROUNDING * (primal + norm + linear.abs());
            Objectives {
                primal,
                dual: lower,
                bias,
                absolute_gap: absolute_gap.min((primal - lower).max(0.0) + rounding),
            }
        }
        _ => Objectives { primal, dual: lower, bias, absolute_gap },
    }
}

/// Slack below this is what rounding leaves where there is none.
const NO_SLACK: f64 = 1e-12;

/// Share of the objective that slack of rounding must make up to be left out.
const WORTH: f64 = 1e-8;

/// The factor by which a machine must be longer to have no slack, where rounding alone leaves it
/// some: with a large C that slack is costly.
fn longer(dual: &BoxDual, scores: &[f64], bias: f64) -> Option<f64> {
    let counted = || (0..dual.len()).filter(|&i| dual.cost[i] > 0.0);
    let margin = |i: usize| dual.y[i] * (scores[i] + bias);
    let least = counted().map(margin).fold(f64::INFINITY, f64::min);
    if !(1.0 - NO_SLACK..1.0).contains(&least) {
        return None;
    }
    let t = (1.0 + 4.0 * f64::EPSILON) / least;
    counted().all(|i| t * margin(i) >= 1.0).then_some(t)
}

/// Primal less dual objective at a feasible beta and its scores: of the hinge `(C - alpha) u` where
/// u = 1 - y (f + b) is positive, `-alpha u` elsewhere; of the squared hinge `C (u - alpha / 2C)^2`
/// and `alpha^2 / 4C - alpha u`.
fn absolute_gap(dual: &BoxDual, beta: &[f64], scores: &[f64], bias: f64) -> f64 {
    let (mut gap, mut size, mut sum) = (0.0, 0.0, 0.0);
    for i in (0..dual.len()).filter(|&i| dual.cost[i] > 0.0) {
        let (cost, alpha) = (dual.cost[i], dual.y[i] * beta[i]);
        let slack = 1.0 - dual.y[i] * (scores[i] + bias);
        gap += match (dual.loss, slack > 0.0) {
            (Loss::Hinge, true) => (cost - alpha) * slack,
            (Loss::Hinge, false) => -alpha * slack,
            (Loss::SquaredHinge, true) => cost * (slack - alpha / (2.0 * cost)).powi(2),
            (Loss::SquaredHinge, false) => alpha * (alpha / (4.0 * cost) - slack),
        };
        size += alpha * (1.0 + scores[i].abs());
        sum += beta[i];
    }
    // What is left of sum beta counts against a free bias.
    let off = if dual.bias == Bias::Free { sum.abs() * bias.abs() } else { 0.0 };
    gap + off + ROUNDING * size
}

/// sum_i of the loss at decision values `scores + bias`.
pub fn total_loss(dual: &BoxDual, scores: &[f64], bias: f64) -> f64 {
    let slacks = (0..dual.len()).map(|i| (dual.cost[i], (1.0 - dual.y[i] * (scores[i] + bias)).max(0.0)));
    match dual.loss {
        Loss::Hinge => slacks.map(|(c, xi)| c * xi).sum(),
        Loss::SquaredHinge => slacks.map(|(c, xi)| c * xi * xi).sum(),
    }
}

/// The least objective without features, by a bias alone, whose price is half its square over s^2
/// where it is penalised.
pub fn without_features(dual: &BoxDual) -> f64 {
    let classes = Classes::new(dual);
    let b = classes.bias(dual.bias);
    let price = if let Bias::Penalised(s) = dual.bias { 0.5 * (b / s).powi(2) } else { 0.0 };
    classes.loss_at(b) + price
}

/// The dual point and the bias of [`without_features`]: alpha_i is the same multiple of C_i for all
/// samples of a class.
pub fn bias_alone(dual: &BoxDual) -> (Vec<f64>, f64) {
    let classes = Classes::new(dual);
    let Classes { more, less, loss, sign } = classes;
    let b = classes.bias(dual.bias);
    let (of_more, of_less) = match (loss, dual.bias) {
        (Loss::SquaredHinge, _) => (2.0 * (1.0 - b), 2.0 * (1.0 + b)),
        (Loss::Hinge, Bias::Free) if more > 0.0 => (less / more, 1.0),
        (Loss::Hinge, Bias::Penalised(s)) if b == 1.0 => ((less + 1.0 / (s * s)) / more, 1.0),
        (Loss::Hinge, _) => (1.0, 1.0),
    };
    let alpha = |i: usize| dual.cost[i] * if dual.y[i] == sign { of_more } else { of_less };
    ((0..dual.len()).map(|i| dual.y[i] * alpha(i)).collect(), sign * b)
}

/// [`without_features`] where the price of a penalised bias is |b| / s.
pub fn without_features_l1(dual: &BoxDual) -> f64 {
    let Bias::Penalised(s) = dual.bias else { return without_features(dual) };
    let classes = Classes::new(dual);
    let Classes { more, less, loss, .. } = classes;
    match loss {
        Loss::Hinge => classes.loss_at(0.0).min(classes.loss_at(1.0) + 1.0 / s),
        Loss::SquaredHinge if more > 0.0 => {
            let b = ((more - less - 0.5 / s) / (more + less)).max(0.0);
            classes.loss_at(b) + b / s
        }
        Loss::SquaredHinge => 0.0,
    }
}

/// The sums of C of the larger and of the smaller class, for a bias b that speaks for the larger
/// one, from 0 to 1.
struct Classes {
    more: f64,
    less: f64,
    loss: Loss,
    /// Label of the larger one.
    sign: f64,
}

impl Classes {
    fn new(dual: &BoxDual) -> Self {
        let side = |y: f64| (0..dual.len()).filter(|&i| dual.y[i] == y).map(|i| dual.cost[i]).sum::<f64>();
        let (positive, negative) = (side(1.0), side(-1.0));
        let sign = if positive >= negative { 1.0 } else { -1.0 };
        Self { more: positive.max(negative), less: positive.min(negative), loss: dual.loss, sign }
    }

    /// The best bias, for the larger class.
    fn bias(&self, bias: Bias) -> f64 {
        let Self { more, less, .. } = *self;
        match (bias, self.loss) {
            _ if more == 0.0 => 0.0,
            (Bias::None, _) => 0.0,
            (Bias::Free, Loss::Hinge) => 1.0,
            (Bias::Free, Loss::SquaredHinge) => (more - less) / (more + less),
            (Bias::Penalised(s), Loss::Hinge) => (s * s * (more - less)).min(1.0),
            (Bias::Penalised(s), Loss::SquaredHinge) => (more - less) / (more + less + 0.5 / (s * s)),
        }
    }

    fn loss_at(&self, b: f64) -> f64 {
        match self.loss {
            Loss::Hinge => self.more * (1.0 - b) + self.less * (1.0 + b),
            Loss::SquaredHinge => self.more * (1.0 - b).powi(2) + self.less * (1.0 + b).powi(2),
        }
    }
}

/// The bias that minimises the total loss at fixed scores, exactly: the loss is convex in b with
/// kinks at `t_i = y_i - f_i`, a positive sample counting while b < t_i and a negative one while
/// b > t_i. Where a whole interval is optimal, its middle.
pub fn best_bias(dual: &BoxDual, scores: &[f64]) -> f64 {
    let mut kinks: Vec<(f64, usize)> =
        (0..dual.len()).filter(|&i| dual.cost[i] > 0.0).map(|i| (dual.y[i] - scores[i], i)).collect();
    if kinks.is_empty() {
        return 0.0;
    }
    let ascending = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    match dual.loss {
        // The slope starts at -(sum of C over positives) and grows by C_i at every kink: the first
        // kink behind which it is not negative is found by halving the kinks that are left, not by
        // sorting them.
        Loss::Hinge => {
            let total: f64 = kinks.iter().filter(|k| dual.y[k.1] > 0.0).map(|k| dual.cost[k.1]).sum();
            let scale = 1e-12 * total.max(f64::MIN_POSITIVE);
            let (mut slope, mut first, mut last) = (-total, 0, kinks.len());
            while last - first > 1 {
                let middle = usize::midpoint(first, last);
                kinks[first..last].select_nth_unstable_by(middle - first, ascending);
                let gain: f64 = kinks[first..middle].iter().map(|k| dual.cost[k.1]).sum();
                if slope + gain >= -scale {
                    last = middle;
                } else {
                    (slope, first) = (slope + gain, middle);
                }
            }
            let kink = kinks[first].0;
            let next = kinks[first + 1..].iter().map(|k| k.0).fold(f64::INFINITY, f64::min);
            let flat = (slope + dual.cost[kinks[first].1]).abs() <= scale && next < f64::INFINITY;
            if flat { 0.5 * (kink + next) } else { kink }
        }
        // Between kinks the slope is 2 (b W - T), W and T the sums of C and C t over the samples
        // that count.
        Loss::SquaredHinge => {
            kinks.sort_unstable_by(ascending);
            let (mut weight, mut moment) = (0.0, 0.0);
            for &(kink, i) in kinks.iter().filter(|k| dual.y[k.1] > 0.0) {
                weight += dual.cost[i];
                moment += dual.cost[i] * kink;
            }
            for &(kink, i) in &kinks {
                if kink * weight - moment >= 0.0 && weight > 0.0 {
                    return moment / weight;
                }
                let sign = -dual.y[i];
                weight += sign * dual.cost[i];
                moment += sign * dual.cost[i] * kink;
            }
            if weight > 0.0 { moment / weight } else { kinks[kinks.len() - 1].0 }
        }
    }
}

/// Largest violation of the optimality conditions, in units of the margin. With
/// `v_i = y_i - f_i - ridge_i beta_i` (and `- s^2 sum beta` for a penalised bias): free bias:
/// `max {v_i : beta_i < upper_i} - min {v_i : beta_i > lower_i}` (Keerthi et al. 2001; LIBSVM's
/// stopping rule); otherwise the largest `v_i` that could still grow or `-v_i` that could still
/// shrink.
pub fn residual(dual: &BoxDual, beta: &[f64], scores: &[f64]) -> f64 {
    let offset = dual.bias_square() * beta.iter().sum::<f64>();
    let (mut up, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
    let slack = AT_BOUND * largest(beta);
    for i in 0..dual.len() {
        let v = dual.y[i] - scores[i] - dual.ridge[i] * beta[i] - offset;
        if beta[i] < dual.upper[i] - slack {
            up = up.max(v);
        }
        if beta[i] > dual.lower[i] + slack {
            low = low.min(v);
        }
    }
    match dual.bias {
        Bias::Free => (up - low).max(0.0),
        Bias::Penalised(_) | Bias::None => up.max(-low).max(0.0),
    }
}

/// The largest |beta_i|. Bounds may be far beyond it: a large C asks for a hard margin.
pub fn largest(beta: &[f64]) -> f64 {
    beta.iter().fold(0.0, |most: f64, b| most.max(b.abs()))
}

/// Moves `beta` inside its box and, with a free bias, onto `sum beta = 0` by shrinking the side
/// that is too large. Shrinking towards 0 keeps the box, so the result is feasible and its dual
/// value a valid bound.
pub fn make_feasible(dual: &BoxDual, beta: &mut [f64]) {
    let (mut positive, mut negative) = (0.0, 0.0);
    for i in 0..dual.len() {
        beta[i] = beta[i].clamp(dual.lower[i], dual.upper[i]);
        if beta[i] > 0.0 {
            positive += beta[i];
        } else {
            negative -= beta[i];
        }
    }
    if dual.bias == Bias::Free && positive != negative {
        let (scale, larger_is_positive) =
            if positive > negative { (negative / positive, true) } else { (positive / negative, false) };
        for b in beta.iter_mut().filter(|b| (**b > 0.0) == larger_is_positive) {
            *b *= scale;
        }
    }
}
