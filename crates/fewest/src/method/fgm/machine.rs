//! The machine of a mixture: the squared-hinge SVM on the columns `sqrt(z_j) x_j`, for many z one
//! after another.
//!
//! Solves   min 1/2 sum_j w_j^2 / z_j + sum_i C_i xi_i^2, xi_i = max(0, 1 - y_i (w.x_i + b)), with
//!          w_j = 0 where z_j = 0, and s_j w_j >= 0 where it has the sign s_j.
//! Paper    Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale
//!          linear SVMs, JMLR 2005.
//! Given    rows (n x q) and box, once; z each time.      Returns  beta, scores, bias, upper value.
//! Steps    1. alpha, gradient, gap  2. the samples inside the margin change: update
//!          `G = sum 2 C_i x_i x_i'` over them
//!          3. direction: Cholesky of `I + sqrt(Z) G sqrt(Z)` over the columns with z_j > 0; with
//!             signs, the minimum within them of the model of that matrix (block principal pivoting:
//!             Judice and Pires, Computers and Operations Research 1994)
//!          4. exact line search, within the signs to the model's minimum at most
//! Cost     per step two passes over the rows and q^3 / 6; memory 3 q^2. G does not depend on z, so
//!          a new z needs no new pass over the samples inside; from the last z a few steps do.
//! Fails    never; stops with the gap reached.

use super::margin::MarginHessian;
use super::mixture::{Level, count, squared_hinge};
use super::tuning::machine::{PATIENCE, PIVOTS, ROUNDING, STEPS};
use crate::design::Rows;
use crate::dual::newton::flat_point;
use crate::dual::normal::{Extended, anchored};
use crate::dual::{BoxDual, kkt};
use crate::kernel::cholesky::Factor;
use crate::simd;
use crate::{Clock, Interval, WeightBounds};

/// The machine, with what the last z left behind.
pub(super) struct Machine<'a> {
    x: Extended<'a>,
    dual: &'a BoxDual,
    q: usize,
    hessian: MarginHessian<'a>,
    /// Signs of the weights, by column.
    signs: WeightBounds,
    /// w_j = sqrt(z_j) u_j; the bias's coefficient last.
    u: Vec<f64>,
    /// Steps taken.
    pub(super) steps: u64,
}

/// An answer of the machine.
pub(super) struct MachineAnswer {
    /// Feasible dual point, length n.
    pub(super) beta: Vec<f64>,
    /// w_j over the columns.
    pub(super) weights: Vec<f64>,
    /// c_j over the columns, as they count.
    pub(super) scores: Vec<f64>,
    /// b of the decision function, of each problem.
    pub(super) bias: Vec<f64>,
    /// Primal value.
    pub upper: f64,
    /// Value of beta at z.
    pub lower: f64,
    /// What beta is worth elsewhere.
    pub(super) level: Level,
}

impl<'a> Machine<'a> {
    /// `signs` of the weights, by column.
    pub(super) fn new(rows: Rows<'a>, dual: &'a BoxDual, signs: WeightBounds) -> Self {
        let x = Extended::new(rows, dual.bias);
        Self {
            x,
            dual,
            q: rows.n_features(),
            hessian: MarginHessian::new(x, dual.len()),
            signs,
            u: vec![0.0; x.width()],
            steps: 0,
        }
    }

    /// Trains at z (length q) until the gap is at most `tolerance`, or `clock` says so.
    pub(super) fn train(&mut self, z: &[f64], tolerance: f64, clock: &Clock) -> MachineAnswer {
        let (n, m, q) = (self.dual.len(), self.x.width(), self.q);
        let mut root: Vec<f64> = z.iter().map(|z| z.sqrt()).collect();
        root.resize(m, 1.0);
        let weighted = |u: &[f64]| -> Vec<f64> { u.iter().zip(&root).map(|(u, r)| u * r).collect() };
        for (u, r) in self.u.iter_mut().zip(&root).filter(|(_, r)| **r == 0.0) {
            *u = *r;
        }
        let (mut margins, mut along, mut beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.x.scores(&weighted(&self.u), &mut margins);
        let support: Vec<usize> = (0..m).filter(|&j| root[j] > 0.0).collect();
        let mut factor = Factor::new(support.len());
        let mut best_gap = f64::INFINITY;
        for step in 0.. {
            // Step 1.
            let loss = squared_hinge(self.dual, &margins, &mut beta);
            let c = self.x.weights(&beta);
            let penalised = self.x.penalised(&self.u);
            let upper = 0.5 * simd::dot(&self.u, &penalised) + loss;
            let level = Level::of(self.dual, &beta);
            let value = |c: &[f64]| (0..q).map(|j| z[j] * self.signs.of(j).weight(c[j]).powi(2)).sum::<f64>();
            // An unbalanced beta counts against a free bias.
            let off = if self.x.is_free() { c[q].abs() * (1.0 + self.u[q].abs()) } else { 0.0 };
            let gap = upper - level.value(value(&c)) + off;
            let stalled = step > 8 && gap > 0.5 * best_gap && gap <= ROUNDING * upper;
            best_gap = best_gap.min(gap);
            if gap <= tolerance * upper || step == STEPS || stalled || clock.stop().is_some() {
                let bias = self.u.get(q).map_or(0.0, |b| b * self.x.last);
                return self.answer((beta, c, upper), weighted(&self.u), bias, &value);
            }

            // Step 2.
            self.hessian.follow(self.dual, &beta);

            // Step 3.
            let down: Vec<f64> = support.iter().map(|&j| root[j] * c[j] - penalised[j]).collect();
            let solved = if self.signs.is_free() {
                self.factor(&mut factor, &support, &root);
                factor.solve(&down)
            } else {
                self.within_signs(&support, &root, &down)
            };
            let mut direction = vec![0.0; m];
            support.iter().zip(&solved).for_each(|(&j, d)| direction[j] = *d);

            // Step 4.
            self.x.scores(&weighted(&direction), &mut along);
            let slope = simd::dot(&penalised, &direction);
            let curve = simd::dot(&direction, &self.x.penalised(&direction));
            let t = self.line_search(&margins, &along, slope, curve, simd::dot(&down, &solved));
            let t = if self.signs.is_free() { t } else { t.min(1.0) };
            simd::axpy(t, &direction, &mut self.u);
            simd::axpy(t, &along, &mut margins);
            self.steps += 1;
        }
        unreachable!("the loop ends after {STEPS} steps")
    }

    /// How v curves at z, the point of the last training.
    pub(super) fn curvature(&self, z: &[f64]) -> Curvature<'_> {
        let m = self.x.width();
        let mut root: Vec<f64> = z.iter().map(|z| z.sqrt()).collect();
        root.resize(m, 1.0);
        // A weight that its sign keeps at 0 stays there.
        let moves = |j: usize| self.u[j] != 0.0 || j >= self.q || self.signs.of(j) == Interval::FREE;
        let support: Vec<usize> = (0..m).filter(|&j| root[j] > 0.0 && moves(j)).collect();
        let mut factor = Factor::new(support.len());
        self.factor(&mut factor, &support, &root);
        Curvature {
            gram: self.hessian.gram(),
            m,
            root,
            support,
            factor,
            products: Vec::new(),
            rests: Vec::new(),
            h: Vec::new(),
        }
    }

    /// The factor of `R + sqrt(Z) G sqrt(Z)` on the support.
    fn factor(&self, out: &mut Factor, support: &[usize], root: &[f64]) {
        out.fill(|a, b| self.entry(support[a], support[b], root));
        out.decompose();
    }

    /// An entry of `R + sqrt(Z) G sqrt(Z)`.
    fn entry(&self, i: usize, j: usize, root: &[f64]) -> f64 {
        let penalty = match (i == j, i < self.q) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => anchored(self.x.last_penalty, self.hessian.gram()[i * self.x.width() + i]),
        };
        penalty + root[i] * root[j] * self.hessian.gram()[i * self.x.width() + j]
    }

    /// Step 3 with signs: the d over the support of the smallest `1/2 d'Hd - down.d` with `u + d`
    /// within the signs.
    fn within_signs(&self, support: &[usize], root: &[f64], down: &[f64]) -> Vec<f64> {
        let sign = |j: usize| if j < self.q { self.signs.of(j) } else { Interval::FREE };
        let tiny = 1e-13 * down.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        // Those at 0, and whether they leave it where the slope is as given.
        let mut held: Vec<bool> =
            support.iter().zip(down).map(|(&j, &d)| self.u[j] == 0.0 && sign(j).weight(d) == 0.0).collect();
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let mut d = vec![0.0; support.len()];
        for _ in 0..PIVOTS {
            let (free, at_zero): (Vec<usize>, Vec<usize>) = (0..support.len()).partition(|&a| !held[a]);
            let mut rest = down.to_vec();
            for &b in &at_zero {
                d[b] = -self.u[support[b]];
                for (a, rest) in rest.iter_mut().enumerate().filter(|_| d[b] != 0.0) {
                    *rest -= self.entry(support[a], support[b], root) * d[b];
                }
            }
            let mut factor = Factor::new(free.len());
            factor.fill(|a, b| self.entry(support[free[a]], support[free[b]], root));
            factor.decompose();
            let solved = factor.solve(&free.iter().map(|&a| rest[a]).collect::<Vec<f64>>());
            free.iter().zip(solved).for_each(|(&a, s)| d[a] = s);
            // Those on the wrong side, and those at 0 that would leave it.
            let wrong = |a: usize| {
                let j = support[a];
                if !held[a] {
                    let to = self.u[j] + d[a];
                    return sign(j).weight(to) != to;
                }
                let slope = rest[a] - free.iter().map(|&b| self.entry(j, support[b], root) * d[b]).sum::<f64>();
                sign(j).weight(slope).abs() > tiny
            };
            let turned: Vec<usize> = (0..support.len()).filter(|&a| wrong(a)).collect();
            let Some(&last) = turned.last() else { break };
            patience = if turned.len() < fewest { PATIENCE } else { patience.saturating_sub(1) };
            fewest = fewest.min(turned.len());
            // One at a time ends in any case (Murty).
            let turned = if patience > 0 { turned } else { vec![last] };
            for a in turned {
                held[a] = !held[a];
            }
        }
        support.iter().zip(d).map(|(&j, d)| sign(j).weight(self.u[j] + d) - self.u[j]).collect()
    }

    /// The answer at a dual point, made feasible first.
    fn answer(
        &self,
        (mut beta, mut c, upper): (Vec<f64>, Vec<f64>, f64),
        mut weights: Vec<f64>,
        bias: f64,
        value: &dyn Fn(&[f64]) -> f64,
    ) -> MachineAnswer {
        if self.x.is_free() {
            kkt::make_feasible(self.dual, &mut beta);
            c = self.x.weights(&beta);
        }
        let level = Level::of(self.dual, &beta);
        let lower = level.value(value(&c));
        c.truncate(self.q);
        weights.truncate(self.q);
        count(&self.signs, &mut c);
        MachineAnswer { beta, weights, scores: c, bias: vec![bias], upper, lower, level }
    }

    /// The step t > 0 where the derivative along the direction is 0: it is piecewise linear and
    /// growing, so Newton steps kept inside the bracket end after a few pieces. `slope` and `curve`
    /// belong to the penalty, `-start` is the slope at 0.
    fn line_search(&self, margins: &[f64], along: &[f64], slope: f64, curve: f64, start: f64) -> f64 {
        let derivative = |t: f64| {
            let (mut first, mut second) = (slope + t * curve, curve);
            for i in 0..margins.len() {
                let slack = 1.0 - self.dual.y[i] * (margins[i] + t * along[i]);
                if slack > 0.0 {
                    let stiffness = 2.0 * self.dual.cost[i] * along[i];
                    first -= self.dual.y[i] * stiffness * slack;
                    second += stiffness * along[i];
                }
            }
            (first, second)
        };
        flat_point(derivative, 1e-3 * start)
    }
}

/// The second derivative of v along directions in z: with d a change of z and v = c . d (c the
/// scores), `d' V'' d = v' K v`, `K = G - G sqrt(Z) (R + sqrt(Z) G sqrt(Z))^-1 sqrt(Z) G`. For
/// subsets s and t that is `alpha' K_s Q^-1 K_t alpha`, Q the kernel of the mixture with its ridge.
pub(super) struct Curvature<'a> {
    gram: &'a [f64],
    m: usize,
    root: Vec<f64>,
    support: Vec<usize>,
    factor: Factor,
    /// For each direction, G v and v - sqrt(Z) (...)^-1 sqrt(Z) G v: their product is v' K v.
    products: Vec<Vec<f64>>,
    rests: Vec<Vec<f64>>,
    /// Lower triangle, row after row.
    h: Vec<Vec<f64>>,
}

impl Curvature<'_> {
    /// G v and its rest, for v given as (position, value).
    fn halves(&self, v: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, Vec<f64>) {
        let m = self.m;
        let (mut product, mut rest) = (vec![0.0; m], vec![0.0; m]);
        for (k, value) in v.filter(|(_, value)| *value != 0.0) {
            simd::axpy(value, &self.gram[k * m..(k + 1) * m], &mut product);
            rest[k] = value;
        }
        let pulled: Vec<f64> = self.support.iter().map(|&j| self.root[j] * product[j]).collect();
        for (&j, y) in self.support.iter().zip(self.factor.solve(&pulled)) {
            rest[j] -= self.root[j] * y;
        }
        (product, rest)
    }

    /// Adds the direction of a subset, with scores c over the columns.
    pub(super) fn push(&mut self, subset: &[u32], c: &[f64]) {
        let (product, rest) = self.halves(subset.iter().map(|&k| (k as usize, c[k as usize])));
        self.products.push(product);
        self.rests.push(rest);
        let last = self.rests.len() - 1;
        let with = |t: usize| {
            0.5 * (simd::dot(&self.products[last], &self.rests[t]) + simd::dot(&self.products[t], &self.rests[last]))
        };
        self.h.push((0..=last).map(with).collect());
    }

    /// The second derivatives between all subsets added, T x T.
    pub(super) fn matrix(&self) -> Vec<f64> {
        let count = self.h.len();
        let mut out = vec![0.0; count * count];
        for (s, row) in self.h.iter().enumerate() {
            for (t, &value) in row.iter().enumerate() {
                out[s * count + t] = value;
                out[t * count + s] = value;
            }
        }
        out
    }

    /// K v for v over the columns, length m.
    pub(super) fn apply(&self, v: &[f64]) -> Vec<f64> {
        let (_, rest) = self.halves(v.iter().copied().enumerate());
        let mut out = vec![0.0; self.m];
        for (k, &value) in rest.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            simd::axpy(value, &self.gram[k * self.m..(k + 1) * self.m], &mut out);
        }
        out
    }
}
