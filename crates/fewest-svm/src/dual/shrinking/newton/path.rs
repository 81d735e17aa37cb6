//! Step 1: the way from one optimum to the next while features leave.
//!
//! Solves   min over the other weights at weights (1 - t) w_S of the features S that leave, for all
//!          t in [0, 1].
//! Paper    Hastie, Rosset, Tibshirani, Zhu, JMLR 2004 (a path that is linear between changes of
//!          sides), along weights instead of costs.
//! Given    the optimum at t = 0 and H^-1 of the others.
//! Returns  the optimum at t = 1, sides and H^-1 there.
//! Steps    1. the next sample i whose margin becomes 1, and all up to there
//!          2. u = H^-1 x_i and X u, of the samples that are next in line at once
//!          3. i changes sides, and with it the direction: `d -= (+-k (Xd)_i / (1 +- k x_i'u)) u`
//!          4. at the end the changes of H^-1 at once
//! Cost     a change of sides: 2 p^2 and n p, at the speed of matrix products.
//! Differs  from Newton's method, which takes many changes at once and swings where nearly every
//!          sample is at margin 1. The optimum is unique and continuous in t: a sample that changes
//!          sides stays there for a while, and the path ends however many change.
//! Fails    never; where digits are lost, or the path takes long, Newton's method continues.

use super::ShrinkingNewton;
use crate::kernel::gemm::{View, add_product};
use crate::simd;

/// Numbers that steer the choice, chosen by hand; `make bench-rfe` shows what a change costs.
mod tuning {
    /// Samples whose lines are computed at once.
    pub(super) const BATCH: usize = 16;
    /// Lines kept before H^-1 takes them in.
    pub(super) const LINES: usize = 64;
    /// Multiply-adds for each sample and feature to find the sample that changes sides next.
    pub(super) const SEARCH: usize = 40;
    /// Share of the latest work in what a way is expected to cost.
    pub(super) const LATEST: f64 = 0.3;
    /// What the way not taken is expected to cost is forgotten by this factor.
    pub(super) const FORGETS: f64 = 0.98;
    /// A path is left once it has cost this many times what Newton's method is expected to.
    pub(super) const TOO_LONG: f64 = 2.0;
}
use super::tuning::PRODUCTS;
use tuning::{BATCH, FORGETS, LATEST, LINES, SEARCH, TOO_LONG};

/// The work left after features left, at t = 0.
pub(super) struct Leaving {
    /// dv / dt of the features that are left.
    pub(super) direction: Vec<f64>,
    /// X_S w_S
    pub(super) falling: Vec<f64>,
}

/// Multiply-adds that each of the two ways is expected to take; none before it was taken.
#[derive(Default)]
pub(super) struct Effort {
    path: Option<f64>,
    newton: Option<f64>,
}

impl Effort {
    /// Whether to follow the path: what Newton's method costs is to be known.
    pub(super) fn prefers_path(&self) -> bool {
        self.newton.is_some_and(|newton| self.path.is_none_or(|path| path <= newton))
    }

    /// A training by one of the ways took so much.
    pub(super) fn learn(&mut self, by_path: bool, work: f64) {
        let (taken, other) =
            if by_path { (&mut self.path, &mut self.newton) } else { (&mut self.newton, &mut self.path) };
        *taken = Some(taken.map_or(work, |known| known + LATEST * (work - known)));
        *other = other.map(|known| FORGETS * known);
    }
}

/// Vectors over the features, and over the samples what X makes of them.
#[derive(Default)]
struct Lines {
    features: Vec<f64>,
    scores: Vec<f64>,
}

impl Lines {
    fn push(&mut self, features: &[f64], scores: &[f64]) {
        self.features.extend_from_slice(features);
        self.scores.extend_from_slice(scores);
    }
}

/// Steps 2 and 4: the changes of H^-1 that it has not taken in, and lines of samples ahead.
#[derive(Default)]
struct Changes {
    /// u, X u of each change, and its factor.
    lines: Lines,
    factors: Vec<f64>,
    /// H^-1 x_i, X H^-1 x_i of samples, without the changes.
    ahead: Vec<usize>,
    ahead_lines: Lines,
}

impl ShrinkingNewton<'_> {
    /// Follows the path to its end, or until it is not worth it.
    pub(super) fn follow_path(&mut self, Leaving { mut direction, falling }: Leaving) {
        let mut along = vec![0.0; self.samples.len()];
        self.extended().scores(&direction, &mut along);
        simd::axpy(-1.0, &falling, &mut along);
        self.work += self.pass();
        let most = self.work + TOO_LONG * self.effort.newton.unwrap_or(0.0);
        let (mut rest, mut changes) = (1.0, Changes::default());
        loop {
            // Step 1.
            let (t, changing) = self.next_change(&along, rest);
            simd::axpy(t, &direction, &mut self.v);
            simd::axpy(t, &along, &mut self.scores);
            rest -= t;
            let Some(i) = changing else { break };
            // Steps 2 and 3.
            if self.work > most || !self.change_side(i, &mut changes, &mut direction, &mut along) {
                simd::axpy(1.0, &falling, &mut along);
                simd::axpy(-rest, &falling, &mut self.scores);
                self.take_in(&mut changes);
                self.advance_along(&direction, &along);
                self.follow_sides();
                return;
            }
        }
        self.take_in(&mut changes);
    }

    /// Multiply-adds of a line of step 2.
    fn line_work(&self) -> f64 {
        ((self.v.len() as f64).powi(2) + self.columns.rows.stored() as f64) / PRODUCTS
    }

    /// The distance until the sample is at margin 1 on its way to the other side.
    fn until_change(&self, i: usize, along: &[f64]) -> f64 {
        let s = &self.samples[i];
        let (slack, speed) = (1.0 - s.y * self.scores[i], s.y * along[i]);
        let leaves = if self.inside[i] { speed > 0.0 } else { speed < 0.0 };
        if leaves && s.stiffness > 0.0 { (slack / speed).max(0.0) } else { f64::INFINITY }
    }

    /// The distance until the next sample changes sides, at most `rest`, and which one.
    fn next_change(&self, along: &[f64], rest: f64) -> (f64, Option<usize>) {
        let mut first = (rest, None);
        for i in 0..along.len() {
            let t = self.until_change(i, along);
            if t < first.0 {
                first = (t, Some(i));
            }
        }
        first
    }

    /// Sample i changes sides; false where the digits are lost.
    fn change_side(&mut self, i: usize, changes: &mut Changes, direction: &mut [f64], along: &mut [f64]) -> bool {
        if changes.factors.len() == LINES {
            self.take_in(changes);
        }
        let (mut u, mut scores) = self.line(i, changes, along);
        let (m, n) = (u.len(), scores.len());
        self.work += ((changes.factors.len() + SEARCH) * (m + n)) as f64;
        for (r, factor) in changes.factors.iter().enumerate() {
            let known = &changes.lines.scores[r * n..(r + 1) * n];
            simd::axpy(-factor * known[i], &changes.lines.features[r * m..(r + 1) * m], &mut u);
            simd::axpy(-factor * known[i], known, &mut scores);
        }
        let stiffness = if self.inside[i] { -self.samples[i].stiffness } else { self.samples[i].stiffness };
        let curve = 1.0 + stiffness * scores[i];
        if curve.is_nan() || curve < 1e-8 {
            self.inverse.clear();
            return false;
        }
        self.inside[i] = !self.inside[i];
        let factor = stiffness / curve;
        let turn = -factor * along[i];
        simd::axpy(turn, &u, direction);
        simd::axpy(turn, &scores, along);
        changes.lines.push(&u, &scores);
        changes.factors.push(factor);
        true
    }

    /// Step 2.
    fn line(&mut self, i: usize, changes: &mut Changes, along: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (m, n) = (self.v.len(), along.len());
        let at = changes.ahead.iter().position(|&k| k == i).unwrap_or_else(|| {
            let mut next: Vec<(f64, usize)> = (0..n).map(|k| (self.until_change(k, along), k)).collect();
            next.retain(|e| e.0.is_finite() && e.1 != i && !changes.ahead.contains(&e.1));
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if next.len() >= BATCH {
                next.select_nth_unstable_by(BATCH - 1, order);
                next.truncate(BATCH - 1);
            }
            let batch: Vec<usize> = std::iter::once(i).chain(next.into_iter().map(|e| e.1)).collect();
            self.work += batch.len() as f64 * self.line_work();
            let lines = self.lines(&batch);
            changes.ahead_lines.push(&lines.features, &lines.scores);
            changes.ahead.extend(&batch);
            changes.ahead.len() - batch.len()
        });
        let Lines { features, scores } = &changes.ahead_lines;
        (features[at * m..(at + 1) * m].to_vec(), scores[at * n..(at + 1) * n].to_vec())
    }

    /// H^-1 x_i and X H^-1 x_i of these samples.
    fn lines(&self, samples: &[usize]) -> Lines {
        let (m, n, s) = (self.v.len(), self.samples.len(), samples.len());
        let (p, x) = (self.columns.len(), self.extended());
        let mut own = vec![0.0; s * m];
        own.chunks_exact_mut(m).zip(samples).for_each(|(line, &i)| self.copy_row(i, 1.0, line));
        let mut features = vec![0.0; s * m];
        add_product(&mut features, m, 1.0, View::rows(&own, s, m, m), View::rows(&self.inverse, m, m, m));
        let mut scores = vec![0.0; s * n];
        if let Some(values) = self.columns.rows.dense_values() {
            for (line, u) in scores.chunks_exact_mut(n).zip(features.chunks_exact(m)) {
                line.fill(u.get(p).map_or(0.0, |bias| bias * x.last));
            }
            let (weights, values) = (View::rows(&features, s, p, m), View::rows(values, n, p, p));
            add_product(&mut scores, n, 1.0, weights, values.transposed());
        } else {
            scores.chunks_exact_mut(n).zip(features.chunks_exact(m)).for_each(|(line, u)| x.scores(u, line));
        }
        Lines { features, scores }
    }

    /// Step 4.
    fn take_in(&mut self, changes: &mut Changes) {
        let Changes { lines, factors, .. } = std::mem::take(changes);
        let (m, s) = (self.v.len(), factors.len());
        if s == 0 || self.inverse.is_empty() {
            return;
        }
        let mut scaled = lines.features.clone();
        for (line, factor) in scaled.chunks_exact_mut(m).zip(&factors) {
            for value in line.iter_mut() {
                *value *= factor;
            }
        }
        self.change_inverse(-1.0, &lines.features, &scaled, s);
        self.work += (s * m * m) as f64 / PRODUCTS;
    }
}
