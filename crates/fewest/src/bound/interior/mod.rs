//! Primal-dual interior-point method for the saddle relaxation on few samples and few features.
//!
//! Solves   max over alpha, tau, s of   sum alpha - 1/2 alpha'R alpha - 1/2 sum_{j in} c_j^2 -
//!          b'tau - sum_u s_u + constant
//!          s.t.  q_u = s_u + (A'tau)_u + lambda_u - 1/2 |c_u|^2 >= 0,  s, tau >= 0,  0 <= alpha <=
//!          C,  y'alpha = e  (free bias),
//!          c = c0 + Z'alpha, with Z the signed rows y_i x_i; where weights are bounded, `1/2 c_j^2`
//!          is their gain (`sides.rs`).
//! Whose dual is the perspective relaxation: min over w, b, z of 1/2 sum_in w^2 + sum_u (|w_u|^2 /
//! (2 z_u) + lambda_u z_u) + loss,
//!          A z <= b, 0 <= z <= 1; there w_j = c_j on the features that are in and z_u c_j
//!          elsewhere.
//! Paper    steps of Mehrotra 1992, with the second-order error of both products and of the
//!          quadratic constraint.
//! Given    the restricted problem, a point to start from, what is to be reached (`Goal`).
//! Returns  the point reached; the caller turns it into a proven bound.
//! Steps    1. residuals  2. stop on the goal  3. factor  4. predictor  5. corrector  6. move
//! Cost     per round, m features and n samples: n m min(n, m) / 2 + min(n, m)^3 / 6.
//! Fails    never: ends with the point of the smallest gap.
//!
//! Eliminating everything but alpha and the bias leaves
//!
//! ```text
//! [H + Z E Z'   y] [dalpha]   [r]      H = R + low / alpha + high / (C - alpha)
//! [y'           0] [dbias ] = [e]      E = D - K'G^-1 K,  D = h (in), z h + theta rho rho' (unit),  K_r = A_ru theta_u rho_u,
//!                                      G = A theta A' + t / tau,  1 / theta = s / (1 - z) + q / z + kappa
//! ```
//!
//! with h = 1, rho = c and kappa = 0 where weights are free (`sides.rs`), solved as it stands when
//! there are fewer samples than features, and through `E^-1 + Z'H^-1 Z` otherwise, where `E^-1 =
//! D^-1 + D^-1 K'(t / tau + A diag(theta z / (z + theta rho'h^-1 rho)) A')^-1 K D^-1`.

mod block;
mod bordered;
mod coupled;
mod iterate;
mod sides;
mod system;

use std::ops::Range;

use super::model::Row;
use crate::dual::patience::Patience;
use crate::simd::{absolute_dot, dot};
use crate::{Clock, Interval};
pub(super) use block::{Block, Blocks};
use iterate::{Iterate, Residuals};
use sides::Side;
pub(super) use sides::sides;

// Tuning: `make bench-exact-real`; `bench/log/exact.md` has what was tried.

/// Share of the way to the boundary a step may go.
const BACK_OFF: f64 = 0.995;
/// Most rounds. A node that needs more keeps the bound of its last point, which is true: the cap
/// costs nodes, not truth.
const ROUNDS: u64 = 80;
/// What a row has left at the start, at least, as a share of its right side, or of 1.
const LEAST_SLACK: f64 = 0.1;
/// Share of the box within which a sample counts as being on its bound.
const NEAR: f64 = 1e-6;
/// A gap below this share of the best one is better.
const BETTER: f64 = 0.9;
/// Rounds without a better gap before it gives up. With bounded weights, whose first steps are
/// short, a round also counts as better if the residuals fall.
const PATIENCE: u32 = 8;
/// PATIENCE where weights are bounded.
const PATIENCE_WITHIN: u32 = 20;

/// Columns first..last of each problem's block belong to one unit that is free to be chosen, at
/// price `penalty`.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnitColumns {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) penalty: f64,
}

/// The relaxation restricted to some samples (the others keep their alpha) and some features (the
/// others are out).
#[derive(Debug)]
pub(super) struct Restricted {
    /// The columns of each problem, n x m: features that are fixed in first, then unit after unit.
    pub(super) z: Blocks,
    /// Label of each sample.
    pub(super) y: Vec<f64>,
    /// C_i, infinite for the squared hinge.
    pub(super) cost: Vec<f64>,
    /// R_i
    pub(super) ridge: Vec<f64>,
    /// c0: what the fixed samples add to c.
    pub(super) base: Vec<f64>,
    /// What the fixed samples add to the objective, and the penalties of the features that are in.
    pub(super) constant: f64,
    /// y'alpha of the samples here, by problem, with a free bias.
    pub(super) balance: Option<Vec<f64>>,
    /// No alpha of a solution is larger than this.
    pub(super) alpha_cap: f64,
    /// Columns of each problem that are in.
    pub(super) n_in: usize,
    pub(super) units: Vec<UnitColumns>,
    /// Over positions in `units`.
    pub(super) rows: Vec<Row>,
    /// The weights that each column may have; empty where all are free. A column whose only weight
    /// is 0 is empty.
    pub(super) weights: Vec<Interval>,
    /// The bounds among them that are not infinite.
    pub(super) sides: Vec<Side>,
}

/// A point: alpha by sample, share z by unit, price tau by row; of an answer also the weights at
/// share 1, by column.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) alpha: Vec<f64>,
    /// The bias of each problem.
    pub(super) bias: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) tau: Vec<f64>,
    pub(super) w: Vec<f64>,
}

/// When a value is known well enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// A lower value at or above this decides.
    pub(super) cutoff: f64,
    /// An upper value below the cutoff decides when the gap is at most this share of what is
    /// missing.
    pub(super) share: f64,
    /// A relative gap of this decides.
    pub(super) tolerance: f64,
    /// Mean product of the pairs at the start.
    pub(super) mu: f64,
}

impl Goal {
    /// Whether values between `lower` and `upper` say enough.
    pub(super) fn reached(&self, lower: f64, upper: f64) -> bool {
        let gap = upper - lower;
        lower >= self.cutoff
            || gap <= self.tolerance * upper.abs()
            || (self.cutoff.is_finite() && upper < self.cutoff && gap <= self.share * (self.cutoff - upper))
    }
}
impl Restricted {
    fn n(&self) -> usize {
        self.z.n()
    }

    /// Columns first..last of each problem.
    fn spans(&self, first: usize, last: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let m = self.z.m();
        (0..self.z.len()).map(move |t| t * m + first..t * m + last)
    }

    /// Columns of a unit, problem by problem.
    fn columns(&self, unit: &UnitColumns) -> impl Iterator<Item = usize> + use<> {
        self.spans(unit.first, unit.last).flatten()
    }

    /// a.b over the columns of a unit.
    fn dot_unit(&self, unit: &UnitColumns, a: &[f64], b: &[f64]) -> f64 {
        self.spans(unit.first, unit.last).map(|span| dot(&a[span.clone()], &b[span])).sum()
    }

    /// y_i b_t, by sample.
    fn offsets(&self, bias: &[f64]) -> Vec<f64> {
        let mut offsets = self.y.clone();
        for ((_, samples, _), b) in self.z.each().zip(bias) {
            offsets[samples].iter_mut().for_each(|y| *y *= b);
        }
        offsets
    }

    /// y'alpha by problem.
    fn balances(&self, alpha: &[f64]) -> Vec<f64> {
        self.z.each().map(|(_, samples, _)| dot(&self.y[samples.clone()], &alpha[samples])).collect()
    }

    /// The size alpha_i may have: C_i, or 2 C_i with the squared hinge, unless no solution reaches
    /// that.
    fn scale(&self, i: usize) -> f64 {
        let box_size = if self.cost[i].is_finite() { self.cost[i] } else { 1.0 / self.ridge[i] };
        box_size.min(self.alpha_cap)
    }

    /// Z'alpha + c0
    fn scores(&self, alpha: &[f64]) -> Vec<f64> {
        let mut c = self.base.clone();
        self.z.add_transposed_times(alpha, &mut c);
        c
    }

    /// (A'tau)_u + lambda_u
    fn prices(&self, tau: &[f64]) -> Vec<f64> {
        let mut prices: Vec<f64> = self.units.iter().map(|u| u.penalty).collect();
        for (row, tau) in self.rows.iter().zip(tau) {
            row.coefficients.iter().for_each(|&(u, a)| prices[u] += a * tau);
        }
        prices
    }

    /// What the columns that are in gain, and each unit: at least, where nu is not the best.
    fn gains(&self, r: &[f64], nu: &[f64]) -> (f64, Vec<f64>) {
        let half_square = |first: usize, last: usize| {
            self.spans(first, last).map(|span| 0.5 * dot(&r[span.clone()], &r[span])).sum::<f64>()
        };
        let mut inside = half_square(0, self.n_in);
        let mut gains: Vec<f64> = self.units.iter().map(|u| half_square(u.first, u.last)).collect();
        self.add_bounds(nu, &mut inside, &mut gains);
        (inside, gains)
    }

    /// [`Restricted::gains`] at the best nu.
    fn best_gains(&self, c: &[f64]) -> (f64, Vec<f64>) {
        if self.sides.is_empty() {
            return self.gains(c, &[]);
        }
        let gain = |first: usize, last: usize| {
            self.spans(first, last).flatten().map(|k| self.weights[k].gain(c[k])).sum::<f64>()
        };
        (gain(0, self.n_in), self.units.iter().map(|u| gain(u.first, u.last)).collect())
    }

    /// w of r at shares z.
    fn weights(&self, r: &[f64], z: &[f64]) -> Vec<f64> {
        let mut w = r.to_vec();
        for (u, z) in self.units.iter().zip(z) {
            self.spans(u.first, u.last).for_each(|span| w[span].iter_mut().for_each(|w| *w *= z));
        }
        w
    }

    /// Dual objective at alpha and tau, with the best s.
    fn lower(&self, alpha: &[f64], inside: f64, gains: &[f64], prices: &[f64], tau: &[f64]) -> f64 {
        let linear: f64 = alpha.iter().zip(&self.ridge).map(|(a, r)| a - 0.5 * r * a * a).sum();
        let excess: f64 = gains.iter().zip(prices).map(|(g, p)| (g - p).max(0.0)).sum();
        let rows: f64 = self.rows.iter().zip(tau).map(|(row, tau)| row.upper * tau).sum();
        self.constant + linear - inside - excess - rows
    }

    /// A point near the central path of `goal.mu` next to `start`.
    fn begin(&self, start: &Point, mu: f64) -> Iterate {
        let n = self.n();
        let c = self.scores(&start.alpha);
        let mut margins = vec![0.0; n];
        let nu = self.central(&c, &start.z, mu);
        self.z.add_times(&self.weights(&self.rest(&c, &nu), &start.z), &mut margins);
        let offsets = self.offsets(&start.bias);
        let slope = |i: usize, alpha: f64, margin: f64| 1.0 - self.ridge[i] * alpha - margin - offsets[i];
        let mut alpha: Vec<f64> = (0..n)
            .map(|i| {
                let push = mu / slope(i, start.alpha[i], margins[i]).abs().max(1e-3);
                let push = push.min(0.25 * self.scale(i));
                start.alpha[i].clamp(push, self.cost[i] - push)
            })
            .collect();
        self.rebalance(&mut alpha, |_, _| true);
        let c = self.scores(&alpha);
        let nu = self.central(&c, &start.z, mu);
        let r = self.rest(&c, &nu);
        let (_, gains) = self.gains(&r, &nu);
        // A row that the shares fill has a price from the start: a point whose rows lack far more
        // than they can have does not come back.
        let slack = |row: &Row, z: &[f64]| row.upper - row.coefficients.iter().map(|&(u, a)| a * z[u]).sum::<f64>();
        let least = |row: &Row| mu / slack(row, &start.z).max(LEAST_SLACK * row.upper.abs().max(1.0));
        let tau: Vec<f64> = self.rows.iter().zip(&start.tau).map(|(row, tau)| tau.max(least(row))).collect();
        let prices = self.prices(&tau);
        let (mut z, mut q, mut s) = (Vec::new(), Vec::new(), Vec::new());
        for u in 0..self.units.len() {
            let excess = gains[u] - prices[u];
            s.push(excess.max(0.0) + 2.0 * mu);
            q.push((-excess).max(0.0) + 2.0 * mu);
            let (least, most) = ((mu / q[u]).min(0.25), 1.0 - (mu / s[u]).min(0.25));
            z.push(start.z[u].clamp(least, most));
        }
        let mut margins = vec![0.0; n];
        self.z.add_times(&self.weights(&r, &z), &mut margins);
        let room: Vec<f64> = (0..n).map(|i| self.cost[i] - alpha[i]).collect();
        let (mut low, mut high) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let g = slope(i, alpha[i], margins[i]);
            let least = mu / if room[i].is_finite() { self.cost[i] } else { alpha[i] };
            low[i] = (-g).max(0.0) + least;
            high[i] = if room[i].is_finite() { g.max(0.0) + least } else { 0.0 };
        }
        let t = self.rows.iter().zip(&tau).map(|(row, tau)| slack(row, &z).max(mu / tau).max(1e-8)).collect();
        let v = z.iter().map(|z| 1.0 - z).collect();
        let left = self.lefts(&r, &nu, &z, mu);
        Iterate { alpha, room, low, high, bias: start.bias.clone(), z, v, q, s, tau, t, nu, left }
    }

    /// Steps 1 to 6. Returns the point and the rounds used.
    pub(super) fn solve(&self, start: &Point, goal: &Goal, clock: &Clock) -> (Point, u64) {
        let mut at = self.begin(start, goal.mu);
        let mut least = f64::INFINITY;
        let rounds = if self.sides.is_empty() { PATIENCE } else { PATIENCE_WITHIN };
        let mut patience = Patience::new(BETTER, rounds);
        // The point of the smallest gap before this one, and its gap; the first where none has one.
        let mut nearest = (f64::INFINITY, at.clone());
        let mut products = at.products();
        let mut round = 0;
        loop {
            // Step 1.
            let c = self.scores(&at.alpha);
            let bent = self.bent(&at, &c);
            let (inside, gains) = self.gains(&bent.r, &at.nu);
            let prices = self.prices(&at.tau);
            let mut held = vec![0.0; self.n()];
            self.z.add_times(&self.weights(&bent.r, &at.z), &mut held);
            let lacking = self.residuals(&at, &held, &gains, &prices, &bent.r);

            // Step 2. The gap is the sum of the products when nothing is lacking.
            let lower = self.lower(&at.alpha, inside, &gains, &prices, &at.tau);
            let gap = products
                + lacking.balance.iter().zip(&at.bias).map(|(e, b)| e.abs() * (1.0 + b.abs())).sum::<f64>()
                + absolute_dot(&lacking.t, &at.tau)
                + absolute_dot(&lacking.q, &at.z)
                + absolute_dot(&lacking.left, &at.nu)
                + absolute_dot(&lacking.alpha, &at.alpha);
            let lack = lacking.alpha.iter().fold(0.0, |most: f64, lack| most.max(lack.abs()));
            let within = !self.sides.is_empty();
            let closer = if within { gap < patience.best() || lack < 0.95 * least } else { patience.is_better(gap) };
            patience.judge(gap, closer, 1);
            least = least.min(lack);
            let nearer = gap < nearest.0;
            let most = 1e-7 * (1.0 + at.alpha.iter().sum::<f64>());
            let balanced = lacking.balance.iter().all(|e| e.abs() <= most);
            if balanced && goal.reached(lower, lower + gap) {
                return (self.settle(at, goal), round);
            }
            let end = |at: Iterate, before: Iterate| self.settle(if nearer { at } else { before }, goal);
            if round >= ROUNDS || patience.is_over() || clock.stop().is_some() {
                return (end(at, nearest.1), round);
            }
            round += 1;

            // Step 3.
            let Ok(system) = self.system(&at, &bent, clock) else { return (end(at, nearest.1), round) };

            // Step 4: aim at products 0.
            let mut aim = at.aim(0.0);
            let predictor = self.direction(&at, &bent, &system, &lacking, &aim);
            let length = at.longest(&predictor).min(1.0);
            let ahead = at.products_after(&predictor, length);
            let target = (ahead / products).powi(3) * products / at.pairs() as f64;

            // Step 5: centre, and undo the predictor's second-order errors.
            aim.correct(target, &predictor);
            let mut corrected = lacking;
            let mut turn = vec![0.0; c.len()];
            self.correct_left(&predictor.at.z, &predictor.r, &mut corrected.left);
            for (u, columns) in self.units.iter().enumerate() {
                corrected.q[u] -= 0.5 * self.dot_unit(columns, &predictor.r, &predictor.r);
                for k in self.columns(columns) {
                    turn[k] = -predictor.at.z[u] * predictor.r[k];
                }
            }
            self.z.add_times(&turn, &mut corrected.alpha);
            let step = self.direction(&at, &bent, &system, &corrected, &aim);

            // Step 6.
            let next = at.moved(&step, (BACK_OFF * at.longest(&step)).min(1.0));
            products = next.products();
            if !products.is_finite() {
                return (end(at, nearest.1), round);
            }
            let before = std::mem::replace(&mut at, next);
            if nearer {
                nearest = (gap, before);
            }
        }
    }

    /// The point, with samples next to a bound put on it and the balance restored by those between
    /// the bounds, unless that lowers the bound by more than the tolerance, or below a cutoff that
    /// it had reached.
    fn settle(&self, at: Iterate, &Goal { cutoff, tolerance, .. }: &Goal) -> Point {
        let mut alpha: Vec<f64> = (0..self.n())
            .map(|i| {
                if at.alpha[i] < self.scale(i) * at.low[i].min(NEAR) {
                    0.0
                } else if at.room[i] < self.scale(i) * at.high[i].min(NEAR) {
                    self.cost[i]
                } else {
                    at.alpha[i]
                }
            })
            .collect();
        self.rebalance(&mut alpha, |a, cost| a > 0.0 && a < cost);
        let lower = |alpha: &[f64]| {
            let (inside, gains) = self.best_gains(&self.scores(alpha));
            self.lower(alpha, inside, &gains, &self.prices(&at.tau), &at.tau)
        };
        let (snapped, raw) = (lower(&alpha), lower(&at.alpha));
        let w = self.settled_weights(&self.scores(&at.alpha), &at);
        if (snapped < cutoff && raw >= cutoff) || raw - snapped > tolerance * raw.abs() {
            alpha = at.alpha;
        }
        Point { alpha, bias: at.bias, z: at.z, tau: at.tau, w }
    }

    /// Moves the samples that may move towards the bound they have room to, until `y'alpha = e`.
    fn rebalance(&self, alpha: &mut [f64], may: impl Fn(f64, f64) -> bool) {
        let Some(balance) = &self.balance else { return };
        let balances = self.balances(alpha);
        for ((_, samples, _), off) in self.z.each().zip(balance.iter().zip(balances).map(|(e, is)| e - is)) {
            let room = |i: usize| match (may(alpha[i], self.cost[i]), self.y[i] * off > 0.0) {
                (false, _) => 0.0,
                (true, true) => (self.cost[i] - alpha[i]).min(1e3 * alpha[i]),
                (true, false) => alpha[i],
            };
            let reach: Vec<f64> = samples.clone().map(room).collect();
            let share = (off.abs() / reach.iter().sum::<f64>().max(f64::MIN_POSITIVE)).min(0.99);
            for (i, reach) in samples.zip(reach) {
                alpha[i] += (self.y[i] * off).signum() * share * reach;
            }
        }
    }

    fn residuals(&self, at: &Iterate, held: &[f64], gains: &[f64], prices: &[f64], r: &[f64]) -> Residuals {
        let offsets = self.offsets(&at.bias);
        let alpha = (0..self.n())
            .map(|i| 1.0 - self.ridge[i] * at.alpha[i] - held[i] - offsets[i] - at.high[i] + at.low[i])
            .collect();
        let q = (0..self.units.len()).map(|u| at.s[u] + prices[u] - gains[u] - at.q[u]).collect();
        let t = self
            .rows
            .iter()
            .zip(&at.t)
            .map(|(row, t)| row.upper - row.coefficients.iter().map(|&(u, a)| a * at.z[u]).sum::<f64>() - t)
            .collect();
        let left = self.lacking_left(at, r);
        let lacks = |balance: &Vec<f64>| balance.iter().zip(self.balances(&at.alpha)).map(|(e, is)| e - is).collect();
        let balance = self.balance.as_ref().map_or_else(|| vec![0.0; self.z.len()], lacks);
        Residuals { alpha, q, t, left, balance }
    }
}
