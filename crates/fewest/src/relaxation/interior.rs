//! Primal-dual interior-point method for the saddle relaxation on few samples and few features.
//!
//! Solves   max over alpha, tau, s of   sum alpha - 1/2 alpha'R alpha - 1/2 sum_{j in} c_j^2 - b'tau - sum_u s_u + constant
//!          s.t.  q_u = s_u + (A'tau)_u + lambda_u - 1/2 |c_u|^2 >= 0,  s, tau >= 0,  0 <= alpha <= C,  y'alpha = e  (free bias),
//!          c = c0 + Z'alpha, with Z the signed rows y_i x_i.
//! Whose dual is the perspective relaxation: min over w, b, z of 1/2 sum_in w^2 + sum_u (|w_u|^2 / (2 z_u) + lambda_u z_u) + loss,
//!          A z <= b, 0 <= z <= 1; there w_j = c_j on the features that are in and z_u c_j elsewhere.
//! Paper    steps of Mehrotra 1992, with the second-order error of both products and of the quadratic constraint.
//! Given    the restricted problem, a point to start from, what is worth knowing (`Goal`).
//! Returns  the point reached; the caller turns it into a proven bound.
//! Steps    1. residuals  2. stop on the goal  3. factor  4. predictor  5. corrector  6. move
//! Cost     per round, m features and n samples: n m min(n, m) / 2 + min(n, m)^3 / 6.
//! Fails    never: ends with the last finite point.
//!
//! Eliminating everything but alpha and the bias leaves
//!
//! ```text
//! [H + Z E Z'   y] [dalpha]   [r]      H = R + low / alpha + high / (C - alpha)
//! [y'           0] [dbias ] = [e]      E = D - K'G^-1 K,  D = 1 (in), z I + theta c c' (unit),  K_r = A_ru theta_u c_u,
//!                                      G = A theta A' + t / tau,  1 / theta = s / (1 - z) + q / z
//! ```
//!
//! solved as it stands when there are fewer samples than features, and through `E^-1 + Z'H^-1 Z` otherwise, where
//! `E^-1 = D^-1 + D^-1 K'(t / tau + A diag(theta z / (z + theta |c|^2)) A')^-1 K D^-1`.

use super::Row;
use crate::Status;
use crate::kernel::cholesky::Factor;
use crate::kernel::inverse::invert;
use crate::kernel::outer::OuterSum;
use crate::simd::{PADDING, add_combination, add_dots, axpy, dot};

/// Share of the way to the boundary a step may go.
const BACK_OFF: f64 = 0.995;
/// Most rounds.
const ROUNDS: u64 = 80;
/// Share of the box within which a sample counts as being on its bound.
const NEAR: f64 = 1e-6;
/// Rounds without a better gap before it gives up.
const PATIENCE: u32 = 8;

/// The signed rows y_i x_i of the restricted problem, stored in lines along the shorter side, padded with zeros.
#[derive(Debug)]
pub(super) struct Block {
    n: usize,
    m: usize,
    /// Rows (n lines) when m <= n, else columns (m lines), at distance `stride`.
    lines: Vec<f64>,
    stride: usize,
}

impl Block {
    /// From columns: `fill(k, column)` writes column k (length n).
    pub(super) fn new(n: usize, m: usize, mut fill: impl FnMut(usize, &mut [f64])) -> Self {
        let stride = n.min(m).next_multiple_of(PADDING);
        let mut lines = vec![0.0; n.max(m) * stride];
        if m <= n {
            let mut column = vec![0.0; n];
            for k in 0..m {
                fill(k, &mut column);
                for (i, &x) in column.iter().enumerate() {
                    lines[i * stride + k] = x;
                }
            }
        } else {
            for k in 0..m {
                fill(k, &mut lines[k * stride..k * stride + n]);
            }
        }
        Self { n, m, lines, stride }
    }

    fn by_rows(&self) -> bool {
        self.m <= self.n
    }

    fn line(&self, at: usize) -> &[f64] {
        &self.lines[at * self.stride..at * self.stride + self.n.min(self.m)]
    }

    /// out += Z v
    fn add_times(&self, v: &[f64], out: &mut [f64]) {
        if self.by_rows() { self.along(v, out) } else { self.across(v, out) }
    }

    /// out += Z'a
    fn add_transposed_times(&self, a: &[f64], out: &mut [f64]) {
        if self.by_rows() { self.across(a, out) } else { self.along(a, out) }
    }

    /// out_i += line_i . v
    fn along(&self, v: &[f64], out: &mut [f64]) {
        let mut padded = v.to_vec();
        padded.resize(self.stride, 0.0);
        add_dots(&self.lines, &padded, out);
    }

    /// out += sum_i a_i line_i
    fn across(&self, a: &[f64], out: &mut [f64]) {
        let mut padded = vec![0.0; self.stride];
        add_combination(&self.lines, a, &mut padded);
        out.iter_mut().zip(&padded).for_each(|(out, x)| *out += x);
    }
}

/// Columns first..last of the block belong to one unit that is free to be chosen, at price `penalty`.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnitColumns {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) penalty: f64,
}

/// The relaxation restricted to some samples (the others keep their alpha) and some features (the others are out).
#[derive(Debug)]
pub(super) struct Restricted {
    /// n x m, features that are in first, then unit after unit.
    pub(super) z: Block,
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
    /// y'alpha of the samples here, with a free bias.
    pub(super) balance: Option<f64>,
    /// No alpha of a solution is larger than this.
    pub(super) reach: f64,
    /// Columns that are in.
    pub(super) n_in: usize,
    pub(super) units: Vec<UnitColumns>,
    /// Over positions in `units`.
    pub(super) rows: Vec<Row>,
}

/// A point: alpha by sample, share z by unit, price tau by row.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) alpha: Vec<f64>,
    pub(super) bias: f64,
    pub(super) z: Vec<f64>,
    pub(super) tau: Vec<f64>,
}

/// When a value is known well enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// A lower value at or above this decides.
    pub(super) cutoff: f64,
    /// An upper value below the cutoff decides when the gap is at most this share of what is missing.
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

/// Everything that stays positive, and the bias.
#[derive(Debug, Clone)]
struct Iterate {
    alpha: Vec<f64>,
    /// C - alpha; infinite where there is no upper bound.
    room: Vec<f64>,
    /// Multipliers of alpha >= 0 and of alpha <= C.
    low: Vec<f64>,
    high: Vec<f64>,
    bias: f64,
    z: Vec<f64>,
    /// 1 - z
    v: Vec<f64>,
    q: Vec<f64>,
    s: Vec<f64>,
    tau: Vec<f64>,
    /// b - A z
    t: Vec<f64>,
}

/// Products the next step aims at, less what they are: one number per pair.
struct Aim {
    low: Vec<f64>,
    high: Vec<f64>,
    zq: Vec<f64>,
    vs: Vec<f64>,
    tau: Vec<f64>,
}

/// What the conditions lack.
struct Residuals {
    alpha: Vec<f64>,
    q: Vec<f64>,
    t: Vec<f64>,
    balance: f64,
}

/// The system of step 3.
struct System {
    /// 1 / H
    inverse_h: Vec<f64>,
    theta: Vec<f64>,
    /// G^-1, rows x rows.
    g: Vec<f64>,
    factor: Factor,
    /// M^-1 y when the n x n system was factored and there is a free bias.
    bordered: Option<Vec<f64>>,
}

impl Restricted {
    fn n(&self) -> usize {
        self.z.n
    }

    /// The size alpha_i may have: C_i, or 2 C_i with the squared hinge, unless no solution reaches that.
    fn scale(&self, i: usize) -> f64 {
        let box_size = if self.cost[i].is_finite() { self.cost[i] } else { 1.0 / self.ridge[i] };
        box_size.min(self.reach)
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

    fn gains(&self, c: &[f64]) -> Vec<f64> {
        self.units.iter().map(|u| 0.5 * dot(&c[u.first..u.last], &c[u.first..u.last])).collect()
    }

    /// w at shares z.
    fn weights(&self, c: &[f64], z: &[f64]) -> Vec<f64> {
        let mut w = c.to_vec();
        for (u, z) in self.units.iter().zip(z) {
            w[u.first..u.last].iter_mut().for_each(|w| *w *= z);
        }
        w
    }

    /// Dual objective at alpha and tau, with the best s.
    fn lower(&self, alpha: &[f64], c: &[f64], gains: &[f64], prices: &[f64], tau: &[f64]) -> f64 {
        let linear: f64 = alpha.iter().zip(&self.ridge).map(|(a, r)| a - 0.5 * r * a * a).sum();
        let inside = dot(&c[..self.n_in], &c[..self.n_in]);
        let excess: f64 = gains.iter().zip(prices).map(|(g, p)| (g - p).max(0.0)).sum();
        let rows: f64 = self.rows.iter().zip(tau).map(|(row, tau)| row.upper * tau).sum();
        self.constant + linear - 0.5 * inside - excess - rows
    }

    /// A point near the central path of `goal.mu` next to `start`.
    fn begin(&self, start: &Point, mu: f64) -> Iterate {
        let n = self.n();
        let c = self.scores(&start.alpha);
        let mut margins = vec![0.0; n];
        self.z.add_times(&self.weights(&c, &start.z), &mut margins);
        let slope = |i: usize, alpha: f64, margin: f64| 1.0 - self.ridge[i] * alpha - margin - self.y[i] * start.bias;
        let mut alpha: Vec<f64> = (0..n)
            .map(|i| {
                let push = mu / slope(i, start.alpha[i], margins[i]).abs().max(1e-3);
                let push = push.min(0.25 * self.scale(i));
                start.alpha[i].clamp(push, self.cost[i] - push)
            })
            .collect();
        self.rebalance(&mut alpha, |_, _| true);
        let c = self.scores(&alpha);
        let gains = self.gains(&c);
        let tau: Vec<f64> = start.tau.iter().map(|t| t.max(1e-3 * mu)).collect();
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
        self.z.add_times(&self.weights(&c, &z), &mut margins);
        let room: Vec<f64> = (0..n).map(|i| self.cost[i] - alpha[i]).collect();
        let (mut low, mut high) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let g = slope(i, alpha[i], margins[i]);
            let least = mu / if room[i].is_finite() { self.cost[i] } else { alpha[i] };
            low[i] = (-g).max(0.0) + least;
            high[i] = if room[i].is_finite() { g.max(0.0) + least } else { 0.0 };
        }
        let t = self
            .rows
            .iter()
            .zip(&tau)
            .map(|(row, tau)| {
                let slack = row.upper - row.coefficients.iter().map(|&(u, a)| a * z[u]).sum::<f64>();
                slack.max(mu / tau).max(1e-8)
            })
            .collect();
        let v = z.iter().map(|z| 1.0 - z).collect();
        Iterate { alpha, room, low, high, bias: start.bias, z, v, q, s, tau, t }
    }

    /// Steps 1 to 6. Returns the point and the rounds used.
    pub(super) fn solve(&self, start: &Point, goal: &Goal, stop: &mut dyn FnMut() -> Option<Status>) -> (Point, u64) {
        let mut at = self.begin(start, goal.mu);
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut round = 0;
        loop {
            // Step 1.
            let c = self.scores(&at.alpha);
            let gains = self.gains(&c);
            let prices = self.prices(&at.tau);
            let mut held = vec![0.0; self.n()];
            self.z.add_times(&self.weights(&c, &at.z), &mut held);
            let lacking = self.residuals(&at, &held, &gains, &prices);

            // Step 2. The gap is the sum of the products when nothing is lacking.
            let lower = self.lower(&at.alpha, &c, &gains, &prices, &at.tau);
            let products = at.products();
            let gap = products
                + lacking.balance.abs() * (1.0 + at.bias.abs())
                + lacking.t.iter().zip(&at.tau).map(|(r, tau)| r.abs() * tau).sum::<f64>()
                + lacking.q.iter().zip(&at.z).map(|(r, z)| r.abs() * z).sum::<f64>()
                + lacking.alpha.iter().zip(&at.alpha).map(|(r, a)| r.abs() * a).sum::<f64>();
            (best, idle) = if gap < 0.9 * best { (gap, 0) } else { (best, idle + 1) };
            let balanced = lacking.balance.abs() <= 1e-7 * (1.0 + at.alpha.iter().sum::<f64>());
            if (balanced && goal.reached(lower, lower + gap)) || round >= ROUNDS || idle > PATIENCE || stop().is_some()
            {
                return (self.settle(at, goal), round);
            }
            round += 1;

            // Step 3.
            let system = self.system(&at, &c);

            // Step 4: aim at products 0.
            let mut aim = at.aim(0.0);
            let predictor = self.direction(&at, &c, &system, &lacking, &aim);
            let length = at.longest(&predictor).min(1.0);
            let ahead = at.moved(&predictor, length).products();
            let target = (ahead / products).powi(3) * products / at.pairs() as f64;

            // Step 5: centre, and undo the predictor's second-order errors.
            aim.correct(target, &predictor);
            let mut corrected = lacking;
            let mut turn = vec![0.0; c.len()];
            for (u, columns) in self.units.iter().enumerate() {
                let dc = &predictor.c[columns.first..columns.last];
                corrected.q[u] -= 0.5 * dot(dc, dc);
                for (turn, dc) in turn[columns.first..columns.last].iter_mut().zip(dc) {
                    *turn = -predictor.at.z[u] * dc;
                }
            }
            self.z.add_times(&turn, &mut corrected.alpha);
            let step = self.direction(&at, &c, &system, &corrected, &aim);

            // Step 6.
            let next = at.moved(&step, (BACK_OFF * at.longest(&step)).min(1.0));
            if !next.products().is_finite() {
                return (self.settle(at, goal), round);
            }
            at = next;
        }
    }

    /// The point, with samples next to a bound put on it and the balance restored by those between the bounds, unless that
    /// lowers the bound by more than the tolerance, or below a cutoff that it had reached.
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
            let c = self.scores(alpha);
            self.lower(alpha, &c, &self.gains(&c), &self.prices(&at.tau), &at.tau)
        };
        let (snapped, raw) = (lower(&alpha), lower(&at.alpha));
        if (snapped < cutoff && raw >= cutoff) || raw - snapped > tolerance * raw.abs() {
            alpha = at.alpha;
        }
        Point { alpha, bias: at.bias, z: at.z, tau: at.tau }
    }

    /// Moves the samples that may move towards the bound they have room to, until `y'alpha = e`.
    fn rebalance(&self, alpha: &mut [f64], may: impl Fn(f64, f64) -> bool) {
        let Some(e) = self.balance else { return };
        let off = e - dot(&self.y, alpha);
        let reach: Vec<f64> = (0..self.n())
            .map(|i| match (may(alpha[i], self.cost[i]), self.y[i] * off > 0.0) {
                (false, _) => 0.0,
                (true, true) => (self.cost[i] - alpha[i]).min(1e3 * alpha[i]),
                (true, false) => alpha[i],
            })
            .collect();
        let share = (off.abs() / reach.iter().sum::<f64>().max(f64::MIN_POSITIVE)).min(0.99);
        for i in 0..self.n() {
            alpha[i] += (self.y[i] * off).signum() * share * reach[i];
        }
    }

    fn residuals(&self, at: &Iterate, held: &[f64], gains: &[f64], prices: &[f64]) -> Residuals {
        let alpha = (0..self.n())
            .map(|i| 1.0 - self.ridge[i] * at.alpha[i] - held[i] - self.y[i] * at.bias - at.high[i] + at.low[i])
            .collect();
        let q = (0..self.units.len()).map(|u| at.s[u] + prices[u] - gains[u] - at.q[u]).collect();
        let t = self
            .rows
            .iter()
            .zip(&at.t)
            .map(|(row, t)| row.upper - row.coefficients.iter().map(|&(u, a)| a * at.z[u]).sum::<f64>() - t)
            .collect();
        Residuals { alpha, q, t, balance: self.balance.map_or(0.0, |e| e - dot(&self.y, &at.alpha)) }
    }

    /// Step 3.
    fn system(&self, at: &Iterate, c: &[f64]) -> System {
        let (n, m, rows) = (self.n(), c.len(), self.rows.len());
        let inverse_h: Vec<f64> =
            (0..n).map(|i| 1.0 / (self.ridge[i] + at.low[i] / at.alpha[i] + at.high[i] / at.room[i])).collect();
        let theta: Vec<f64> = (0..self.units.len()).map(|u| 1.0 / (at.s[u] / at.v[u] + at.q[u] / at.z[u])).collect();
        let square = |u: &UnitColumns| dot(&c[u.first..u.last], &c[u.first..u.last]);
        // A diag(share) A' + t / tau, inverted.
        let gathered = |share: &dyn Fn(usize) -> f64| {
            let mut dense = vec![0.0; self.units.len()];
            let mut g = vec![0.0; rows * rows];
            for r in 0..rows {
                self.rows[r].coefficients.iter().for_each(|&(u, a)| dense[u] = a * share(u));
                for k in 0..rows {
                    g[r * rows + k] = self.rows[k].coefficients.iter().map(|&(u, a)| a * dense[u]).sum();
                }
                g[r * rows + r] += at.t[r] / at.tau[r];
                self.rows[r].coefficients.iter().for_each(|&(u, _)| dense[u] = 0.0);
            }
            g
        };
        let mut g = gathered(&|u| theta[u]);
        invert(&mut g, rows, rows.max(1), 1e-300);

        if self.z.by_rows() {
            let biased = usize::from(self.balance.is_some());
            let mut sum = OuterSum::new(m + biased);
            for i in 0..n {
                sum.add(self.z.line(i), inverse_h[i].sqrt(), if biased == 1 { self.y[i] } else { 0.0 });
            }
            if rows > 0 {
                // The rows of L^-1 K D^-1 with L L' the matrix in E^-1: K D^-1 has entries A_ru theta c / (z + theta |c|^2).
                let shrunk: Vec<f64> = self
                    .units
                    .iter()
                    .enumerate()
                    .map(|(u, columns)| theta[u] / (at.z[u] + theta[u] * square(columns)))
                    .collect();
                let lines = lower_factor(&gathered(&|u| shrunk[u] * at.z[u]), rows);
                let mut done: Vec<Vec<f64>> = Vec::with_capacity(rows);
                for r in 0..rows {
                    let mut line = vec![0.0; m];
                    for &(u, a) in &self.rows[r].coefficients {
                        for k in self.units[u].first..self.units[u].last {
                            line[k] += a * shrunk[u] * c[k];
                        }
                    }
                    for (k, before) in done.iter().enumerate() {
                        axpy(-lines[r * rows + k], before, &mut line);
                    }
                    let scale = 1.0 / lines[r * rows + r];
                    for x in &mut line {
                        *x *= scale;
                    }
                    sum.add(&line, 1.0, 0.0);
                    done.push(line);
                }
            }
            let mut factor = Factor::new(m + biased);
            factor.load(sum.tiles());
            (0..self.n_in).for_each(|k| factor.add(k, k, 1.0));
            for (u, columns) in self.units.iter().enumerate() {
                let inverse = 1.0 / at.z[u];
                let share = inverse * theta[u] / (at.z[u] + theta[u] * square(columns));
                for i in columns.first..columns.last {
                    for k in columns.first..=i {
                        factor.add(i, k, if i == k { inverse } else { 0.0 } - share * c[i] * c[k]);
                    }
                }
            }
            if biased == 1 {
                // A free bias that no sample holds must still be able to move.
                factor.add(m, m, 1e-10 * inverse_h.iter().sum::<f64>().min(1.0));
            }
            factor.decompose();
            return System { inverse_h, theta, g, factor, bordered: None };
        }

        let mut sum = OuterSum::new(n);
        if rows > 0 {
            // -Z K'G^-1 K Z' = -(Z K' U)(Z K' U)' with G^-1 = U U'.
            let half = lower_factor(&g, rows);
            let mut lines = vec![vec![0.0; n]; rows];
            for r in 0..rows {
                let mut kr = vec![0.0; m];
                for &(u, a) in &self.rows[r].coefficients {
                    for k in self.units[u].first..self.units[u].last {
                        kr[k] += a * theta[u] * c[k];
                    }
                }
                let mut image = vec![0.0; n];
                self.z.add_times(&kr, &mut image);
                for k in 0..=r {
                    axpy(half[r * rows + k], &image, &mut lines[k]);
                }
            }
            for line in &lines {
                sum.add(line, 1.0, 0.0);
            }
            sum.scale(-1.0);
        }
        (0..self.n_in).for_each(|k| sum.add(self.z.line(k), 1.0, 0.0));
        for (u, columns) in self.units.iter().enumerate() {
            if columns.last - columns.first == 1 {
                let k = columns.first;
                sum.add(self.z.line(k), (at.z[u] + theta[u] * c[k] * c[k]).sqrt(), 0.0);
                continue;
            }
            let mut image = vec![0.0; n];
            for k in columns.first..columns.last {
                sum.add(self.z.line(k), at.z[u].sqrt(), 0.0);
                axpy(c[k], self.z.line(k), &mut image);
            }
            sum.add(&image, theta[u].sqrt(), 0.0);
        }
        let mut factor = Factor::new(n);
        factor.load(sum.tiles());
        (0..n).for_each(|i| factor.add(i, i, 1.0 / inverse_h[i]));
        factor.decompose();
        let bordered = self.balance.map(|_| factor.solve(&self.y));
        System { inverse_h, theta, g, factor, bordered }
    }

    /// Steps 4 and 5.
    fn direction(&self, at: &Iterate, c: &[f64], system: &System, lacking: &Residuals, aim: &Aim) -> Step {
        let (n, m, rows, units) = (self.n(), c.len(), self.rows.len(), self.units.len());
        let theta = &system.theta;
        let rho: Vec<f64> = (0..units).map(|u| -lacking.q[u] - aim.vs[u] / at.v[u] + aim.zq[u] / at.z[u]).collect();
        let g: Vec<f64> = (0..rows)
            .map(|r| {
                let across: f64 = self.rows[r].coefficients.iter().map(|&(u, a)| a * theta[u] * rho[u]).sum();
                across - lacking.t[r] + aim.tau[r] / at.tau[r]
            })
            .collect();
        let solve_g = |right: &[f64]| -> Vec<f64> {
            (0..rows).map(|r| dot(&system.g[r * rows..(r + 1) * rows], right)).collect()
        };
        // r = r_alpha + to_low / alpha - to_high / room + Z h,  h = c theta (A'G^-1 g - rho)
        let mut shift: Vec<f64> = rho.iter().map(|r| -r).collect();
        for (row, price) in self.rows.iter().zip(solve_g(&g)) {
            row.coefficients.iter().for_each(|&(u, a)| shift[u] += a * price);
        }
        let mut h = vec![0.0; m];
        for (u, columns) in self.units.iter().enumerate() {
            for k in columns.first..columns.last {
                h[k] = c[k] * theta[u] * shift[u];
            }
        }
        let mut right: Vec<f64> =
            (0..n).map(|i| lacking.alpha[i] + aim.low[i] / at.alpha[i] - aim.high[i] / at.room[i]).collect();
        self.z.add_times(&h, &mut right);

        let (alpha, bias) = if self.z.by_rows() {
            let scaled: Vec<f64> = right.iter().zip(&system.inverse_h).map(|(r, h)| r * h).collect();
            let mut small = vec![0.0; m];
            self.z.add_transposed_times(&scaled, &mut small);
            if self.balance.is_some() {
                small.push(dot(&self.y, &scaled) - lacking.balance);
            }
            let u = system.factor.solve(&small);
            let bias = u.get(m).copied().unwrap_or(0.0);
            let mut back = vec![0.0; n];
            self.z.add_times(&u[..m], &mut back);
            let alpha = (0..n).map(|i| scaled[i] - system.inverse_h[i] * (back[i] + self.y[i] * bias)).collect();
            (alpha, bias)
        } else {
            let mut alpha = system.factor.solve(&right);
            let mut bias = 0.0;
            if let Some(border) = &system.bordered {
                bias = (dot(&self.y, &alpha) - lacking.balance) / dot(&self.y, border);
                axpy(-bias, border, &mut alpha);
            }
            (alpha, bias)
        };

        let mut dc = vec![0.0; m];
        self.z.add_transposed_times(&alpha, &mut dc);
        let along: Vec<f64> = self.units.iter().map(|u| dot(&c[u.first..u.last], &dc[u.first..u.last])).collect();
        let tau = solve_g(
            &(0..rows)
                .map(|r| g[r] + self.rows[r].coefficients.iter().map(|&(u, a)| a * theta[u] * along[u]).sum::<f64>())
                .collect::<Vec<f64>>(),
        );
        let mut priced: Vec<f64> = (0..units).map(|u| along[u] + rho[u]).collect();
        for (row, tau) in self.rows.iter().zip(&tau) {
            row.coefficients.iter().for_each(|&(u, a)| priced[u] -= a * tau);
        }
        let z: Vec<f64> = (0..units).map(|u| theta[u] * priced[u]).collect();
        let step = Iterate {
            low: (0..n).map(|i| (aim.low[i] - at.low[i] * alpha[i]) / at.alpha[i]).collect(),
            high: (0..n).map(|i| (aim.high[i] + at.high[i] * alpha[i]) / at.room[i]).collect(),
            room: alpha.iter().map(|a| -a).collect(),
            alpha,
            bias,
            q: (0..units).map(|u| (aim.zq[u] - at.q[u] * z[u]) / at.z[u]).collect(),
            s: (0..units).map(|u| (aim.vs[u] + at.s[u] * z[u]) / at.v[u]).collect(),
            v: z.iter().map(|z| -z).collect(),
            z,
            t: (0..rows).map(|r| (aim.tau[r] - at.t[r] * tau[r]) / at.tau[r]).collect(),
            tau,
        };
        Step { at: step, c: dc }
    }
}

/// A direction, and how c moves along it.
struct Step {
    at: Iterate,
    c: Vec<f64>,
}

impl Iterate {
    /// The pairs whose products vanish at the optimum.
    fn each_pair(&self) -> [(&[f64], &[f64]); 5] {
        [
            (&self.alpha, &self.low),
            (&self.room, &self.high),
            (&self.z, &self.q),
            (&self.v, &self.s),
            (&self.tau, &self.t),
        ]
    }

    /// Sum of all products.
    fn products(&self) -> f64 {
        let pairs = self.each_pair().into_iter().flat_map(|(a, b)| a.iter().zip(b));
        pairs.filter(|(a, _)| a.is_finite()).map(|(a, b)| a * b).sum()
    }

    fn pairs(&self) -> usize {
        self.each_pair().into_iter().flat_map(|(a, _)| a).filter(|a| a.is_finite()).count()
    }

    fn aim(&self, target: f64) -> Aim {
        let aim = |(a, b): (&[f64], &[f64])| {
            a.iter().zip(b).map(|(a, b)| if a.is_finite() { target - a * b } else { 0.0 }).collect()
        };
        let [low, high, zq, vs, tau] = self.each_pair().map(aim);
        Aim { low, high, zq, vs, tau }
    }

    /// The longest step that keeps everything positive.
    fn longest(&self, step: &Step) -> f64 {
        // The largest share of a value that a unit step takes away; an absent bound gives 0 / 0, which no comparison takes.
        let mut taken = 0.0;
        for ((a, b), (da, db)) in self.each_pair().into_iter().zip(step.at.each_pair()) {
            for (values, steps) in [(a, da), (b, db)] {
                for (x, dx) in values.iter().zip(steps) {
                    let share = -dx / x;
                    taken = if share > taken { share } else { taken };
                }
            }
        }
        if taken > 0.0 { 1.0 / taken } else { f64::INFINITY }.min(1.0 / BACK_OFF)
    }

    fn moved(&self, step: &Step, length: f64) -> Iterate {
        let add = |a: &[f64], d: &[f64]| a.iter().zip(d).map(|(a, d)| a + length * d).collect();
        let d = &step.at;
        Iterate {
            alpha: add(&self.alpha, &d.alpha),
            room: add(&self.room, &d.room),
            low: add(&self.low, &d.low),
            high: add(&self.high, &d.high),
            bias: self.bias + length * d.bias,
            z: add(&self.z, &d.z),
            v: add(&self.v, &d.v),
            q: add(&self.q, &d.q),
            s: add(&self.s, &d.s),
            tau: add(&self.tau, &d.tau),
            t: add(&self.t, &d.t),
        }
    }
}

impl Aim {
    /// Adds the target and takes off the products of the predictor's steps.
    fn correct(&mut self, target: f64, predictor: &Step) {
        let d = &predictor.at;
        for (aim, (da, db)) in
            [&mut self.low, &mut self.high, &mut self.zq, &mut self.vs, &mut self.tau].into_iter().zip(d.each_pair())
        {
            for (aim, (da, db)) in aim.iter_mut().zip(da.iter().zip(db)) {
                *aim += target - da * db;
            }
        }
    }
}

/// L with L L' = the small symmetric positive definite matrix given.
fn lower_factor(a: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..=i {
            let value = a[i * n + k] - dot(&l[i * n..i * n + k], &l[k * n..k * n + k]);
            l[i * n + k] =
                if i == k { value.max(1e-14 * a[i * n + i]).max(1e-300).sqrt() } else { value / l[k * n + k] };
        }
    }
    l
}
