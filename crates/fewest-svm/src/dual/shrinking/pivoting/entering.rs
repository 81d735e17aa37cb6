//! Step 4: samples that violate the conditions move, and enter F.

use super::tuning::{LISTED, MOVES, NEAR, ROUNDS, SINGULAR};
use super::{Length, Moved, Pivoting};
use crate::dual::Bias;
use crate::{Clock, simd};

impl Pivoting<'_> {
    /// Adds the samples listed and all of F; at first also those outside F that violate the
    /// conditions most, or are nearest to it.
    pub(super) fn add_near(&self, near: &mut Vec<usize>, listed: &[usize]) {
        if near.is_empty() {
            let offset = self.offset() + self.bias;
            let beyond = |i: usize| {
                let g = self.dual.y[i] - self.scores[i] - offset;
                if self.beta[i] >= self.dual.upper[i] { -g } else { g }
            };
            let outside = (0..self.beta.len()).filter(|&i| !self.is_free[i] && self.dual.lower[i] < self.dual.upper[i]);
            let mut found: Vec<(f64, usize)> = outside.map(|i| (beyond(i), i)).collect();
            let most = NEAR + self.free.len();
            if found.len() > most {
                found.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                found.truncate(most);
            }
            near.extend(found.into_iter().map(|e| e.1));
        }
        near.extend(listed.iter().chain(&self.free));
        near.sort_unstable();
        near.dedup();
    }

    /// The samples of `samples` outside F of largest violation, at most [`LISTED`].
    pub(super) fn list(&self, samples: impl Iterator<Item = usize>, spread: f64) -> Vec<usize> {
        let offset = self.offset() + self.bias;
        let least = (2.0 * spread).max(1e-13);
        let mut found: Vec<(f64, usize)> = samples
            .filter(|&i| !self.is_free[i])
            .map(|i| (self.violation(i, offset).abs(), i))
            .filter(|e| e.0 > least)
            .collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if found.len() > LISTED {
            found.select_nth_unstable_by(LISTED, order);
            found.truncate(LISTED);
        }
        found.sort_unstable_by(order);
        found.into_iter().map(|e| e.1).collect()
    }

    /// Step 4, from these samples on; how many moves.
    pub(super) fn improve_near(&mut self, mut listed: Vec<usize>, near: &[usize], spread: f64, clock: &Clock) -> u64 {
        let mut moves = 0;
        for _ in 0..ROUNDS {
            moves += self.improve(listed, spread, clock);
            for &i in near.iter().filter(|&&i| !self.is_free[i]) {
                self.scores[i] = self.columns.rows.row(i).dot(&self.w);
            }
            listed = self.list(near.iter().copied(), spread);
            if listed.is_empty() || clock.stop().is_some() {
                break;
            }
        }
        moves
    }

    /// Step 4, over these samples; how many moves.
    fn improve(&mut self, mut listed: Vec<usize>, spread: f64, clock: &Clock) -> u64 {
        let (least, most) = ((2.0 * spread).max(1e-13), 4 * listed.len() as u64);
        let mut moves = 0;
        while moves < most {
            let offset = self.offset() + self.bias;
            let worst = listed.iter().enumerate().map(|(at, &i)| (self.violation(i, offset).abs(), at));
            let Some((violation, at)) = worst.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { break };
            if violation <= least {
                break;
            }
            moves += 1;
            if moves.is_multiple_of(MOVES) && clock.stop().is_some() {
                break;
            }
            let i = listed.swap_remove(at);
            let left = self.admit(i, &listed);
            listed.extend(left);
        }
        moves
    }

    /// Moves sample i, and F with it so that v stays b there, until v_i = b or i is at its bound;
    /// who left F. `listed` are the samples whose scores are kept.
    fn admit(&mut self, i: usize, listed: &[usize]) -> Vec<usize> {
        let mut own = vec![0.0; self.columns.len()];
        self.columns.rows.row(i).add_to(1.0, &mut own);
        self.columns.clear_dead(&mut own);
        let diagonal = simd::dot(&own, &own) + self.shift;
        let is_free = self.dual.bias == Bias::Free;
        let mut g = self.dual.y[i] - self.scores[i] - self.offset() - self.bias;
        let sign = g.signum();
        let bound = if sign > 0.0 { self.dual.upper[i] } else { self.dual.lower[i] };
        let mut k: Vec<f64> = self.free.iter().map(|&f| self.columns.rows.row(f).dot(&own) + self.shift).collect();
        let mut q = self.inverse.multiply(&k);
        let (before, mut moved, mut left) = (self.beta[i], Moved::default(), Vec::new());
        self.note(&mut moved);
        loop {
            if is_free && self.free.is_empty() {
                // Nothing moves alone.
                self.bias += g;
                self.enter(i, &[], diagonal);
                break;
            }
            let curvature = diagonal - simd::dot(&k, &q);
            // With the constraint on the sum: that F follows costs a change of the bias.
            let (short, ones) = (1.0 - q.iter().sum::<f64>(), self.ones.iter().sum::<f64>());
            let lift = if is_free { -short / ones } else { 0.0 };
            let mut d: Vec<f64> = q.iter().map(|q| -sign * q).collect();
            if is_free {
                simd::axpy(sign * lift, &self.ones, &mut d);
            }
            let curve = (curvature - lift * short).max(f64::MIN_POSITIVE);
            let (room, full) = ((bound - self.beta[i]).abs(), g.abs() / curve);
            let Length { t, blocking } = self.length(&d, room.min(full));
            self.move_free(&d, t);
            self.bias -= sign * t * lift;
            g -= sign * t * curve;
            if blocking.is_none() && room <= full {
                self.beta[i] = bound;
                break;
            }
            self.beta[i] = (self.beta[i] + t * sign).clamp(self.dual.lower[i], self.dual.upper[i]);
            let Some((position, bound)) = blocking else {
                if curvature > SINGULAR * diagonal {
                    self.enter(i, &q, curvature);
                }
                break;
            };
            k.swap_remove(position);
            left.push(self.leave(position, bound, &mut q));
        }
        let change = self.apply(&moved, Some((&own, self.beta[i] - before)));
        for &l in listed {
            self.scores[l] += self.columns.rows.row(l).dot(&change);
        }
        for &l in left.iter().chain([&i]) {
            self.scores[l] = self.columns.rows.row(l).dot(&self.w);
        }
        left
    }

    /// Sample i joins F: `q = R k`.
    fn enter(&mut self, i: usize, q: &[f64], curvature: f64) {
        if self.dual.bias == Bias::Free {
            let factor = (1.0 - q.iter().sum::<f64>()) / curvature;
            simd::axpy(-factor, q, &mut self.ones);
            self.ones.push(factor);
        }
        self.inverse.border(q, curvature);
        self.free.push(i);
        self.is_free[i] = true;
    }
}
