//! The model of a step of `support_norm.rs` given s, minimised: coordinate descent over features,
//! the weights of one feature in all problems at once, and Newton steps where that is slow.
//!
//! Solves   min over u of sum_t (slope_t.(u_t - w_t) + 1/2 (u_t - w_t)'G_t (u_t - w_t)) + sum_j
//!          h_s(|u_j|), u_j the weights of feature j in the problems t; biases by themselves.
//! Steps    the minimiser for one feature: with b_t = a_t u_tj - slope_tj, a_t the diagonal of G_t, 0
//!          where |b| <= s; else `u_t = b_t / (a_t + r)`, r = 1 where that is longer than s, else the
//!          r > 1 of `|u| r = s`. Of one problem that is a closed form.

use super::support_norm::SupportNorm;
use super::tuning::support_norm::{SLOW, SWEEPS};
use crate::kernel::cholesky::Factor;
use crate::simd;

/// Newton steps of the root r; it converges from one side, each step doubling the digits.
const ROOT_STEPS: usize = 60;

/// A coordinate of the model: the weights of a feature, or the bias of a problem.
#[derive(Clone, Copy)]
enum At {
    Feature(usize),
    Bias(usize),
}

impl SupportNorm<'_> {
    /// The coordinates.
    fn coordinates(&self) -> Vec<At> {
        let biased = (0..self.blocks.len()).filter(|&t| self.blocks[t].x.width() > self.q);
        (0..self.q).map(At::Feature).chain(biased.map(At::Bias)).collect()
    }

    /// Coordinate descent given s.
    pub(super) fn descend(&self, u: &mut [Vec<f64>], slope: &mut [Vec<f64>], open: f64) {
        let all = self.coordinates();
        let (mut only, mut restricted): (Option<Vec<At>>, usize) = (None, 0);
        for _ in 0..SWEEPS {
            let mut gained = 0.0;
            for &at in only.as_ref().unwrap_or(&all) {
                gained += self.visit(at, u, slope);
            }
            if gained <= open {
                if only.is_none() {
                    return;
                }
                // Done among these: look at all again.
                only = None;
                restricted = 0;
            } else {
                restricted += 1;
                if restricted % SLOW == 0 {
                    self.newton_step(u, slope);
                }
                let moves = |at: &At| match at {
                    At::Feature(j) => u.iter().any(|own| own[*j] != 0.0),
                    At::Bias(_) => true,
                };
                only = Some(all.iter().copied().filter(moves).collect());
            }
        }
    }

    /// Minimises over one coordinate; returns about what that gained.
    fn visit(&self, at: At, u: &mut [Vec<f64>], slope: &mut [Vec<f64>]) -> f64 {
        let mut gained = 0.0;
        let mut step = |t: usize, j: usize, to: f64, u: &mut [Vec<f64>], slope: &mut [Vec<f64>]| {
            let (change, block) = (to - u[t][j], &self.blocks[t]);
            if change != 0.0 {
                let m = block.x.width();
                gained += 0.5 * change * change * block.curve(j, j).max(1e-12);
                u[t][j] = to;
                simd::axpy(change, &block.hessian.gram[j * m..(j + 1) * m], &mut slope[t]);
            }
        };
        match (at, &self.blocks[..]) {
            (At::Bias(t), blocks) => {
                let (j, curve) = (self.q, blocks[t].curve(self.q, self.q));
                let b = curve * u[t][j] - slope[t][j];
                step(t, j, b / (curve + blocks[t].x.last_penalty).max(1e-8), u, slope);
            }
            (At::Feature(j), [block]) => {
                let curve = block.curve(j, j);
                let to = self.minimiser(j, curve, curve * u[0][j] - slope[0][j]);
                step(0, j, to, u, slope);
            }
            (At::Feature(j), blocks) => {
                let curves: Vec<f64> = blocks.iter().map(|block| block.curve(j, j)).collect();
                let b: Vec<f64> = (0..blocks.len()).map(|t| curves[t] * u[t][j] - slope[t][j]).collect();
                let to = self.minimisers(j, &curves, b);
                to.into_iter().enumerate().for_each(|(t, to)| step(t, j, to, u, slope));
            }
        }
        gained
    }

    /// The u_j that minimises `1/2 curve u^2 - b u + penalty`, of one problem.
    fn minimiser(&self, j: usize, curve: f64, b: f64) -> f64 {
        if self.required[j] {
            return self.signed(j, b / (curve + 1.0));
        }
        let over = b.abs() - self.s;
        if over <= 0.0 {
            return 0.0;
        }
        let size = if over <= self.s * curve { over / curve } else { b.abs() / (curve + 1.0) };
        self.signed(j, size.copysign(b))
    }

    /// Those that minimise `sum_t (1/2 curve_t u_t^2 - b_t u_t) + penalty(|u|)`.
    fn minimisers(&self, j: usize, curves: &[f64], mut b: Vec<f64>) -> Vec<f64> {
        for b in &mut b {
            *b = self.signed(j, *b);
        }
        let at = |r: f64| b.iter().zip(curves).map(|(b, a)| b / (a + r)).collect::<Vec<f64>>();
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !self.required[j] && length(&b) <= self.s {
            return vec![0.0; b.len()];
        }
        let far = at(1.0);
        if self.required[j] || length(&far) >= self.s {
            return far;
        }
        // With v = 1 / r in (0, 1): the root of |x| = s, x_t = b_t / (1 + a_t v), which falls in v.
        // 1 / |x| is concave in v, so that Newton's steps from below stay there.
        let (mut v, mut x) = (0.0, b.clone());
        for _ in 0..ROOT_STEPS {
            x = b.iter().zip(curves).map(|(b, a)| b / (1.0 + a * v)).collect();
            let size = length(&x);
            let falls: f64 = x.iter().zip(curves).map(|(x, a)| x * x * a / (1.0 + a * v)).sum();
            let step = (size - self.s) * size * size / (self.s * falls);
            if step.is_nan() || step <= 1e-15 * v {
                break;
            }
            v += step;
        }
        x.into_iter().map(|x| v * x).collect()
    }

    /// The penalty of feature j at size |u_j| given s.
    fn penalty_of(&self, j: usize, size: f64) -> f64 {
        if self.required[j] || size > self.s {
            0.5 * (size * size + if self.required[j] { 0.0 } else { self.s * self.s })
        } else {
            self.s * size
        }
    }

    /// A Newton step of the model given s on the weights that are not 0; those of one problem whose
    /// sign would turn become 0. Taken as far as it gains.
    fn newton_step(&self, u: &mut [Vec<f64>], slope: &mut [Vec<f64>]) {
        let mut support: Vec<(usize, usize)> = Vec::new();
        for (t, own) in u.iter().enumerate() {
            support.extend((0..own.len()).filter(|&j| own[j] != 0.0).map(|j| (t, j)));
        }
        let sizes: Vec<f64> = (0..self.q).map(|j| Self::size(u, j)).collect();
        let is_ridge = |j: usize| self.required[j] || sizes[j] > self.s;
        // (derivative of the penalty at t, j)
        let penalty_slope = |t: usize, j: usize| match u[t][j] {
            u if j >= self.q => self.blocks[t].x.last_penalty * u,
            u if is_ridge(j) => u,
            u => self.s * u / sizes[j],
        };
        // Its second derivative at t, t' of feature j.
        let penalty_curve = |j: usize, t: usize, other: usize| {
            let same = f64::from(u8::from(t == other));
            if j >= self.q {
                same * self.blocks[t].x.last_penalty
            } else if is_ridge(j) {
                same
            } else {
                self.s / sizes[j] * (same - u[t][j] * u[other][j] / (sizes[j] * sizes[j]))
            }
        };
        let ridge = 1e-10 * support.iter().map(|&(t, j)| self.blocks[t].curve(j, j)).fold(1e-6, f64::max);
        let mut factor = Factor::new(support.len());
        factor.fill(|a, b| {
            let ((t, i), (other, j)) = (support[a], support[b]);
            let mut entry = if t == other { self.blocks[t].curve(i, j) } else { 0.0 };
            if i == j && (t == other || j < self.q) {
                entry += penalty_curve(j, t, other);
            }
            if a == b { entry + ridge } else { entry }
        });
        factor.decompose();
        let down: Vec<f64> = support.iter().map(|&(t, j)| -slope[t][j] - penalty_slope(t, j)).collect();
        let step = factor.solve(&down);
        for t in [1.0, 0.3, 0.1, 0.03] {
            let (mut next, mut moved, mut gain) = (slope.to_vec(), u.to_vec(), 0.0);
            for (&(at, j), step) in support.iter().zip(&step) {
                let from = u[at][j];
                let to = from + t * step;
                let turned = j < self.q && u.len() == 1 && !self.required[j] && to * from < 0.0;
                let to = if turned { 0.0 } else { self.signed(j, to) };
                let m = self.blocks[at].x.width();
                simd::axpy(to - from, &self.blocks[at].hessian.gram[j * m..(j + 1) * m], &mut next[at]);
                moved[at][j] = to;
            }
            for &(at, j) in &support {
                gain -= 0.5 * (slope[at][j] + next[at][j]) * (moved[at][j] - u[at][j]);
                if j >= self.q {
                    let square = |u: f64| 0.5 * self.blocks[at].x.last_penalty * u * u;
                    gain -= square(moved[at][j]) - square(u[at][j]);
                }
            }
            let changed = (0..self.q).filter(|&j| sizes[j] > 0.0);
            let risen = |j: usize| self.penalty_of(j, Self::size(&moved, j)) - self.penalty_of(j, sizes[j]);
            gain -= changed.map(risen).sum::<f64>();
            if gain > 0.0 {
                slope.clone_from_slice(&next);
                u.clone_from_slice(&moved);
                return;
            }
        }
    }

    /// The u_j next to `to` of the sign that it has to have.
    fn signed(&self, j: usize, to: f64) -> f64 {
        if j < self.q { self.signs.of(j).weight(to) } else { to }
    }
}
