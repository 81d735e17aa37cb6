//! The units that are tied at a node's relaxation, problem by problem: the directions of
//! `probe.rs`.

use super::model::WarmStart;
use super::node::Node;
use super::parts::StackedProblem;
use crate::dual::{Bias, Loss};
use crate::kernel::cholesky::Factor;
use crate::kernel::outer::OuterSum;
use crate::simd::{axpy, dot};
use crate::{Clock, Reserved};

// Tuning: `make bench-exact-real`.

/// Weights below this share of the largest count as 0.
const SLIGHT: f64 = 1e-9;
/// Ridge of a tied feature, as a share of the mean of the diagonal.
const SOFT: f64 = 1e-7;
/// Rows added between two checks of the clock.
const CHECK_EVERY: usize = 64;
/// Share of the way to the end of the box that may be gone.
const SHORT: f64 = 0.999;

/// The features in or tied, in each problem.
pub(super) struct FractionalUnits<'r, 'a> {
    pub(super) parts: Vec<FractionalProblem<'r, 'a>>,
    /// How much each feature of T counts in the bound: 1 where it is in, the share where it is
    /// tied.
    shares: Vec<f64>,
    /// Whether the loss adds a curve of its own.
    squared: bool,
}

/// The features in or tied, on the samples of one problem that can move.
pub(super) struct FractionalProblem<'r, 'a> {
    part: &'r StackedProblem<'a>,
    /// Among those of the problem.
    samples: Vec<usize>,
    /// W, by position in `samples`.
    weights: Vec<f64>,
    /// The features T of each of the samples, line by line, and the bias's constant feature.
    rows: Vec<f64>,
    m: usize,
    constant: f64,
    factor: Factor,
    /// Score of each feature of T, its weight at share 1, and whether that moves with the score.
    scores: Vec<f64>,
    weights_of: Vec<f64>,
    moves: Vec<bool>,
    /// R of each feature of T.
    ridge: Vec<f64>,
    /// `X_T' W (y - ridge beta)`, with the bias's constant feature last.
    slopes: Vec<f64>,
    /// The memory of all this.
    _taken: Reserved,
}

/// The combination of the columns of T that is a direction, by problem, and how the bound moves
/// along it as predicted from T alone.
pub(super) struct Step {
    pub(super) a: Vec<Vec<f64>>,
    /// Slope and curve of the bound, by side.
    pub(super) predicted: [(f64, f64); 2],
}

/// A direction of beta.
pub(super) struct Ray {
    /// Slope and curve of the part of the bound without scores.
    pub(super) slope: f64,
    pub(super) curve: f64,
    /// The box ends here, by side.
    pub(super) ends: [f64; 2],
    /// Scores along the direction, problem by problem: of the features that are in, then of free
    /// units.
    pub(super) scores: Vec<f64>,
    pub(super) direction: Vec<f64>,
}

impl<'r, 'a> FractionalUnits<'r, 'a> {
    /// None when no unit is tied, no sample can move, it is asked to stop, or it does not fit.
    pub(super) fn new(node: &Node<'r, 'a>, warm_start: &WarmStart, gap: f64, clock: &Clock) -> Option<Self> {
        let relaxation = node.relaxation;
        let mut features = node.features.clone();
        let mut shares = vec![1.0; features.len()];
        for &(u, share) in &warm_start.shares {
            features.extend(relaxation.rules.unit(u));
            shares.resize(features.len(), share);
        }
        let m = features.len();
        if m == node.features.len() {
            return None;
        }
        let n = relaxation.dual.len();
        let mu = gap.max(1e-12 * warm_start.beta.iter().map(|b| b.abs()).sum::<f64>()).max(f64::MIN_POSITIVE)
            / (2 * n + 2 * node.free.len()) as f64;
        let mut parts = Vec::with_capacity(relaxation.parts.len());
        for part in &relaxation.parts {
            parts.push(FractionalProblem::new(node, part, &features, part.of(&warm_start.beta), mu, clock)?);
        }
        let squared = relaxation.dual.loss == Loss::SquaredHinge;
        parts.iter().any(|part| !part.samples.is_empty()).then_some(Self { parts, shares, squared })
    }

    /// The direction that moves the scores of these features of T towards 0.
    pub(super) fn step(&self, unit: std::ops::Range<usize>) -> Step {
        let mut predicted = [(0.0, 0.0); 2];
        let mut a = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (own, parts) = part.step(unit.clone(), self);
            for (predicted, part) in predicted.iter_mut().zip(parts) {
                *predicted = (predicted.0 + part.0, predicted.1 + part.1);
            }
            a.push(own);
        }
        Step { a, predicted }
    }
}

impl<'r, 'a> FractionalProblem<'r, 'a> {
    fn new(
        node: &Node<'r, 'a>,
        part: &'r StackedProblem<'a>,
        features: &[usize],
        beta: &[f64],
        mu: f64,
        clock: &Clock,
    ) -> Option<Self> {
        let (relaxation, dual, design) = (node.relaxation, &part.dual, part.design());
        let (n, m, n_in) = (dual.len(), features.len(), node.features.len());
        let weight = |i: usize| {
            let (down, up) = (beta[i] - dual.lower[i], dual.upper[i] - beta[i]);
            if down <= 0.0 || up <= 0.0 { 0.0 } else { 1.0 / (dual.ridge[i] + mu / (down * down) + mu / (up * up)) }
        };
        let all: Vec<f64> = (0..n).map(weight).collect();
        let least = SLIGHT * all.iter().fold(0.0, |m: f64, w| m.max(*w));
        let samples: Vec<usize> = (0..n).filter(|&i| all[i] > least).collect();
        let weights: Vec<f64> = samples.iter().map(|&i| all[i]).collect();
        let taken = relaxation.reserve(samples.len(), m)?;
        let mut rows = vec![0.0; samples.len() * m];
        let mut full = vec![0.0; n];
        for (k, &j) in features.iter().enumerate() {
            let column = design.dense_column(j).unwrap_or_else(|| {
                full.fill(0.0);
                design.add_column(j, 1.0, &mut full);
                &full
            });
            samples.iter().enumerate().for_each(|(at, &i)| rows[at * m + k] = column[i]);
        }
        let (constant, anchor) = match dual.bias {
            Bias::None => (0.0, 0.0),
            // A free bias that no sample holds must still be able to move.
            Bias::Free => (1.0, 1e-10),
            Bias::Penalised(s) => (s, 1.0),
        };
        let biased = usize::from(constant != 0.0);
        let mut sum = OuterSum::new(m + biased);
        let (mut trace, mut slopes) = (0.0, vec![0.0; m + biased]);
        for (at, ((row, w), &i)) in rows.chunks_exact(m).zip(&weights).zip(&samples).enumerate() {
            if at % CHECK_EVERY == CHECK_EVERY - 1 && clock.stop().is_some() {
                return None;
            }
            sum.add(row, w.sqrt(), constant);
            trace += w * dot(row, row);
            let slope = w * (dual.y[i] - dual.ridge[i] * beta[i]);
            axpy(slope, row, &mut slopes[..m]);
            slopes[m..].iter_mut().for_each(|s| *s += slope * constant);
        }
        let mut factor = Factor::new(m + biased);
        factor.load(sum.tiles());
        let mut ridge = vec![1.0; n_in];
        // Without a sample that can move there is nothing to be soft against.
        ridge.resize(m, if samples.is_empty() { 1.0 } else { SOFT * trace / m as f64 });
        ridge.resize(m + biased, anchor);
        ridge.iter().enumerate().for_each(|(k, r)| factor.add(k, k, *r));
        factor.decompose_until(clock).ok()?;
        let scores: Vec<f64> = features.iter().map(|&j| design.dot_column(j, beta)).collect();
        let at = |k: usize| relaxation.interval(features[k]).weight(scores[k]);
        let weights_of: Vec<f64> = (0..m).map(at).collect();
        let moves = weights_of.iter().zip(&scores).map(|(w, c)| w == c).collect();
        Some(Self {
            part,
            samples,
            weights,
            rows,
            m,
            constant,
            factor,
            scores,
            weights_of,
            moves,
            ridge,
            slopes,
            _taken: taken,
        })
    }

    /// The combination that moves the scores of these features of T towards 0, and slope and curve
    /// of this problem's part of the bound, by side.
    fn step(&self, unit: std::ops::Range<usize>, fractional: &FractionalUnits<'_, '_>) -> (Vec<f64>, [(f64, f64); 2]) {
        let mut target = vec![0.0; self.ridge.len()];
        unit.clone().for_each(|k| target[k] = -self.scores[k]);
        let a = self.factor.solve(&target);
        // X_T' d = target - R a; the curve of the squared losses is at most d' W^-1 d = a' X_T' d.
        let moved: Vec<f64> = (0..a.len()).map(|k| target[k] - self.ridge[k] * a[k]).collect();
        let (slope, curve) = (dot(&self.slopes, &a), dot(&a, &moved));
        let predicted = [0.0, 1.0].map(|chosen| {
            let share = |k: usize| if unit.contains(&k) { chosen } else { fractional.shares[k] };
            let curve_of = |k: usize| if self.moves[k] { share(k) * moved[k] * moved[k] } else { 0.0 };
            let parts = (0..self.m).map(|k| (share(k) * self.weights_of[k] * moved[k], curve_of(k)));
            parts.fold((slope, if fractional.squared { curve } else { 0.0 }), |predicted, part| {
                (predicted.0 - part.0, predicted.1 + part.1)
            })
        });
        (a, predicted)
    }

    /// Adds the direction of a combination to a ray, whose scores it leaves.
    pub(super) fn add_to(&self, a: &[f64], beta: &[f64], ray: &mut Ray) {
        let dual = &self.part.dual;
        let offset = a.get(self.m).map_or(0.0, |a| a * self.constant);
        let rows = self.rows.chunks_exact(self.m);
        let mut along: Vec<f64> =
            rows.zip(&self.weights).map(|(row, w)| w * (dot(row, &a[..self.m]) + offset)).collect();
        if dual.bias == Bias::Free && !along.is_empty() {
            let excess = along.iter().sum::<f64>() / self.weights.iter().sum::<f64>();
            along.iter_mut().zip(&self.weights).for_each(|(d, w)| *d -= w * excess);
        }
        let beta = self.part.of(beta);
        for (&i, &along) in self.samples.iter().zip(&along) {
            ray.direction[self.part.samples.start + i] = along;
            ray.slope += along * (dual.y[i] - dual.ridge[i] * beta[i]);
            ray.curve += dual.ridge[i] * along * along;
            let (down, up) = (beta[i] - dual.lower[i], dual.upper[i] - beta[i]);
            let (back, ahead) = if along > 0.0 { (down, up) } else { (up, down) };
            if along != 0.0 {
                let ends = [SHORT * back / along.abs(), SHORT * ahead / along.abs()];
                ray.ends = [ray.ends[0].min(ends[0]), ray.ends[1].min(ends[1])];
            }
        }
        let (sum, moved) = (beta.iter().sum::<f64>(), along.iter().sum::<f64>());
        ray.slope -= dual.bias_square() * sum * moved;
        ray.curve += dual.bias_square() * moved * moved;
    }
}
