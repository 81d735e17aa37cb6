//! The model of a step of `support_norm.rs`, minimised: coordinate descent over features, the
//! weights of one feature in all problems at once, and Newton steps where that is slow.
//!
//! Solves   given s, min over u of sum_t (slope_t.(u_t - w_t) + 1/2 (u_t - w_t)'G_t (u_t - w_t)) +
//!          sum_j h_s(|u_j|), u_j the weights of feature j in the problems t; biases by themselves.
//! Steps    1. the minimiser for one feature: with b_t = a_t u_tj - slope_tj, a_t the diagonal of
//!             G_t, 0 where |b| <= s; else `u_t = b_t / (a_t + r)`, r = 1 where that is longer than
//!             s, else the r > 1 of `|u| r = s`. Of one problem that is a closed form.
//!          2. after a sweep over all, sweeps over the weights that are not 0, on their part of G
//!          3. when these cost as much as a Newton step on those weights, that step, to its end or to
//!             where fewer weights have turned, which stay at 0. s follows the weights in it, so that
//!             the minimum over s comes near as well
//! Order    random, as in `l1_svm/squared/lasso.rs`; the seed is fixed.

use super::penalty::{SupportPenalty, size};
use super::quadratic::Quadratic;
use super::tuning::support_norm::{NEARLY, PACE, SLOW, SWEEPS};
use crate::Clock;
use crate::dual::sweep::Shuffle;
use crate::kernel::cholesky::Factor;

/// Points along a Newton step that are tried.
const LEAPS: usize = 16;
/// Newton steps of the root r; it converges from one side, each step doubling the digits.
const ROOT_STEPS: usize = 60;

/// The model: the quadratic of each problem (over the columns, then its bias), and the penalty.
pub(super) struct Model<'a> {
    pub(super) penalty: &'a SupportPenalty,
    pub(super) quadratics: Vec<Quadratic<'a>>,
    pub(super) s: f64,
    /// Order of the sweeps.
    pub(super) shuffle: Shuffle,
    /// Sweeps over the weights that are not 0 since the last Newton step,
    pub(super) since: usize,
    /// and for the price of how many such steps the next is due.
    pub(super) care: usize,
    /// Weights at most of a Newton step.
    pub(super) most: usize,
    /// When to leave the model as it is.
    pub(super) clock: &'a Clock,
}

/// When a descent ends.
pub(super) struct Enough {
    /// A sweep that gains no more than this,
    pub(super) open: f64,
    /// or than this share of what was gained so far.
    pub(super) share: f64,
    pub(super) gained: f64,
}

impl Enough {
    /// Counts what a sweep gained; returns whether that was little.
    fn see(&mut self, gained: f64) -> bool {
        self.gained += gained;
        gained <= self.open.max(self.share * self.gained)
    }
}

impl Model<'_> {
    /// Steps 1 to 3, from u.
    pub(super) fn descend(&mut self, u: &mut [Vec<f64>], enough: &mut Enough) {
        let mut order: Vec<usize> = (0..self.penalty.q).collect();
        let mut sweeps = 0;
        while sweeps < SWEEPS {
            sweeps += 1;
            let gained = self.sweep(u, &mut order);
            if enough.see(gained) || self.clock.stop().is_some() {
                return;
            }
            sweeps += self.settle(u, enough);
        }
    }

    /// Steps 2 and 3; returns how many sweeps that took.
    fn settle(&mut self, u: &mut [Vec<f64>], enough: &mut Enough) -> usize {
        let columns: Vec<usize> = (0..self.penalty.q).filter(|&j| u.iter().any(|own| own[j] != 0.0)).collect();
        // A copy of G that leaves out few, and is not for a Newton step, is not worth its time.
        if u.len() * columns.len() > self.most.max(self.penalty.q)
            && columns.len() as f64 > NEARLY * self.penalty.q as f64
        {
            return 0;
        }
        let penalty = self.penalty.restricted(&columns);
        let places: Vec<Vec<usize>> = (0..u.len())
            .map(|t| columns.iter().copied().chain(self.penalty.biases[t].map(|_| self.penalty.q)).collect())
            .collect();
        let mut v: Vec<Vec<f64>> =
            u.iter().zip(&places).map(|(own, places)| places.iter().map(|&j| own[j]).collect()).collect();
        let quadratics: Vec<Quadratic<'static>> =
            self.quadratics.iter_mut().zip(&places).map(|(quadratic, places)| quadratic.part(places)).collect();
        let pace = quadratics.iter().map(Quadratic::sweeps_a_step).sum::<Option<usize>>();
        let pace = pace.unwrap_or(columns.len() / PACE) + SLOW;
        let mut small = Model {
            penalty: &penalty,
            quadratics,
            s: self.s,
            shuffle: self.shuffle.clone(),
            since: self.since,
            care: self.care,
            most: self.most,
            clock: self.clock,
        };
        let mut order: Vec<usize> = (0..columns.len()).collect();
        let mut sweeps = 0;
        while sweeps < SWEEPS {
            sweeps += 1;
            small.since += 1;
            let gained = small.sweep(&mut v, &mut order);
            if enough.see(gained) || small.clock.stop().is_some() {
                break;
            }
            if small.since >= small.care * pace && u.len() * columns.len() <= small.most {
                small.since = 0;
                // As long as a step that a weight cuts short gains more than sweeps for its price.
                loop {
                    let (leap, whole) = small.newton_step(&mut v);
                    enough.gained += leap;
                    let pays = leap > gained * pace as f64;
                    small.care = if pays { 1 } else { 2 * small.care };
                    if whole || !pays || leap <= enough.open {
                        break;
                    }
                }
            }
        }
        self.s = small.s;
        self.shuffle = small.shuffle;
        (self.since, self.care) = (small.since, small.care);
        for (t, (quadratic, part)) in self.quadratics.iter_mut().zip(small.quadratics).enumerate() {
            let moved = places[t].iter().zip(&v[t]).map(|(&j, to)| (j, to - u[t][j]));
            let changes: Vec<(usize, f64)> = moved.filter(|(_, change)| *change != 0.0).collect();
            places[t].iter().zip(&v[t]).for_each(|(&j, to)| u[t][j] = *to);
            quadratic.join(part, &changes);
        }
        sweeps
    }

    /// Minimises over each coordinate in turn, in an order drawn again; returns about what that
    /// gained.
    pub(super) fn sweep(&mut self, u: &mut [Vec<f64>], order: &mut [usize]) -> f64 {
        let mut gained = 0.0;
        let blocks = self.has_blocks();
        for at in 0..order.len() {
            let j = self.shuffle.draw(order, at);
            if blocks {
                continue;
            }
            let curve = |t: usize| self.quadratics[t].curve(j);
            if let [own] = u {
                let to = self.minimiser(j, curve(0), curve(0) * own[j] - self.quadratics[0].slope(j));
                gained += self.step(0, j, to, u);
            } else {
                let curves: Vec<f64> = (0..u.len()).map(curve).collect();
                let b = (0..u.len()).map(|t| curves[t] * u[t][j] - self.quadratics[t].slope(j)).collect();
                let to = self.minimisers(j, &curves, b);
                gained += to.into_iter().enumerate().map(|(t, to)| self.step(t, j, to, u)).sum::<f64>();
            }
        }
        if blocks {
            gained += self.sweep_blocks(u, order);
        }
        for t in 0..u.len() {
            if let Some(ridge) = self.penalty.biases[t] {
                let j = self.penalty.q;
                let curve = self.quadratics[t].curve(j);
                let b = curve * u[t][j] - self.quadratics[t].slope(j);
                gained += self.step(t, j, b / (curve + ridge).max(f64::MIN_POSITIVE), u);
            }
        }
        gained
    }

    /// Makes a coefficient `to`; returns about what that gained.
    fn step(&mut self, t: usize, j: usize, to: f64, u: &mut [Vec<f64>]) -> f64 {
        let change = to - u[t][j];
        if change == 0.0 {
            return 0.0;
        }
        u[t][j] = to;
        self.quadratics[t].advance(j, change);
        0.5 * change * change * self.quadratics[t].curve(j)
    }

    /// The u_j that minimises `1/2 curve u^2 - b u + penalty`, of one problem.
    fn minimiser(&self, j: usize, curve: f64, b: f64) -> f64 {
        if self.penalty.required[j] {
            return self.penalty.signed(j, b / (curve + 1.0));
        }
        let over = b.abs() - self.s;
        if over <= 0.0 {
            return 0.0;
        }
        let size = if over <= self.s * curve { over / curve } else { b.abs() / (curve + 1.0) };
        self.penalty.signed(j, size.copysign(b))
    }

    /// Weights of feature j that minimise `sum_t (1/2 curve_t u_t^2 - b_t u_t) + penalty(|u|)`.
    pub(super) fn minimisers(&self, j: usize, curves: &[f64], mut b: Vec<f64>) -> Vec<f64> {
        for b in &mut b {
            *b = self.penalty.signed(j, *b);
        }
        let at = |r: f64| b.iter().zip(curves).map(|(b, a)| b / (a + r)).collect::<Vec<f64>>();
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !self.penalty.required[j] && length(&b) <= self.s {
            return vec![0.0; b.len()];
        }
        let far = at(1.0);
        if self.penalty.required[j] || length(&far) >= self.s {
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

    /// A Newton step of the model, s following the weights, on those that are not 0; those of one
    /// problem whose sign would turn become 0. Taken as far as it gains, which is returned.
    ///
    /// With f the weights of size s and more, the penalty's second derivative is that given s, and
    /// `t t' / (B - f)` for the way in which s follows, t_j = u_j / |u_j| where |u_j| < s, else 0.
    fn newton_step(&mut self, u: &mut [Vec<f64>]) -> (f64, bool) {
        // Of each problem its weights, the entries of G among them, and where they begin.
        let (mut support, mut minors): (Vec<(usize, usize)>, _) = (Vec::new(), Vec::new());
        for (t, own) in u.iter().enumerate() {
            let places: Vec<usize> = (0..own.len()).filter(|&j| own[j] != 0.0).collect();
            minors.push((support.len(), places.len(), self.quadratics[t].minor(&places)));
            support.extend(places.into_iter().map(|j| (t, j)));
        }
        let sizes: Vec<f64> = (0..self.penalty.q).map(|j| size(u, j)).collect();
        let (level, full) = self.penalty.threshold(u);
        let is_ridge = |j: usize| self.penalty.required[j] || sizes[j] >= level;
        let follows = if level > 0.0 { 1.0 / (self.penalty.most - full as f64) } else { 0.0 };
        let tilt: Vec<f64> = support
            .iter()
            .map(|&(t, j)| if j >= self.penalty.q || is_ridge(j) { 0.0 } else { u[t][j] / sizes[j] })
            .collect();
        // The derivative of the penalty at t, j.
        let penalty_slope = |t: usize, j: usize| match u[t][j] {
            u if j >= self.penalty.q => self.penalty.biases[t].unwrap_or(0.0) * u,
            u if is_ridge(j) => u,
            u => level * u / sizes[j],
        };
        // Its second derivative given s at t, t' of feature j.
        let penalty_curve = |j: usize, t: usize, other: usize| {
            let same = f64::from(u8::from(t == other));
            if j >= self.penalty.q {
                same * self.penalty.biases[t].unwrap_or(0.0)
            } else if is_ridge(j) {
                same
            } else {
                level / sizes[j] * (same - u[t][j] * u[other][j] / (sizes[j] * sizes[j]))
            }
        };
        let ridge = 1e-10 * support.iter().map(|&(t, j)| self.quadratics[t].curve(j)).fold(f64::MIN_POSITIVE, f64::max);
        let mut factor = Factor::new(support.len());
        factor.fill(|a, b| {
            let ((t, i), (other, j)) = (support[a], support[b]);
            let (first, m, minor) = &minors[t];
            let mut entry = if t == other { minor[(a - first) * m + b - first] } else { 0.0 };
            entry += follows * tilt[a] * tilt[b];
            if i == j && (t == other || j < self.penalty.q) {
                entry += penalty_curve(j, t, other);
            }
            if a == b { entry + ridge } else { entry }
        });
        factor.decompose();
        let down: Vec<f64> = support.iter().map(|&(t, j)| -self.quadratics[t].slope(j) - penalty_slope(t, j)).collect();
        let step = factor.solve(&down);
        // Where along the step a weight of one problem turns: there it stays, at 0.
        let turns = |(&(_, j), (from, step)): (&(usize, usize), (f64, f64))| {
            let may_turn = j >= self.penalty.q || u.len() > 1 || self.penalty.required[j];
            if may_turn || from * step >= 0.0 { f64::INFINITY } else { -from / step }
        };
        let from = support.iter().map(|&(t, j)| u[t][j]);
        let stays: Vec<f64> = support.iter().zip(from.zip(step.iter().copied())).map(turns).collect();
        let mut ends: Vec<f64> = stays.iter().copied().filter(|t| *t < 1.0).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let (before, mut t, mut turned) = (self.penalty.value(u), 1.0, ends.len());
        // To the end first, then to where half as many weights have turned, and so on.
        for _ in 0..LEAPS {
            let (mut moved, mut moves) = (u.to_vec(), vec![Vec::new(); u.len()]);
            for ((&(at, j), step), stays) in support.iter().zip(&step).zip(&stays) {
                let from = u[at][j];
                let to = if t >= *stays { 0.0 } else { self.penalty.signed(j, from + t * step) };
                moves[at].push((j, to - from));
                moved[at][j] = to;
            }
            let each = || self.quadratics.iter().zip(&moves);
            let along: Vec<Vec<f64>> = each().map(|(quadratic, moves)| quadratic.along(moves)).collect();
            let rise: f64 = each().zip(&along).map(|((quadratic, moves), along)| quadratic.rise(moves, along)).sum();
            let gain = before - self.penalty.value(&moved) - rise;
            if gain > 0.0 {
                let (level, _) = self.penalty.threshold(&moved);
                if self.s > 0.0 && level > 0.0 {
                    self.s = level;
                }
                self.quadratics.iter_mut().zip(&along).for_each(|(quadratic, along)| quadratic.follow(along));
                u.clone_from_slice(&moved);
                return (gain, turned == 0);
            }
            turned /= 2;
            t = if t > ends.first().copied().unwrap_or(1.0) { ends[turned] } else { 0.3 * t };
        }
        (0.0, true)
    }
}
