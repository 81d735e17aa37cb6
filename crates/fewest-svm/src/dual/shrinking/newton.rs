//! Newton's method for the squared hinge on features that leave: the inverse of the Hessian, the
//! scores and the sides of the samples are kept from one training to the next.
//!
//! Solves   min 1/2 v'R v + sum_i C_i max(0, 1 - y_i x_i.v)^2, v = (w, bias) as in
//!          [`crate::dual::normal`].
//! Paper    Keerthi and DeCoste, JMLR 2005 (finite Newton); inverse by Sherman, Morrison, Woodbury.
//! Given    rows of the features at the start, box, the solution on them.
//! Returns  beta, w, bias, both objectives, status.
//! Steps    a feature set S leaves: 1. H^-1 loses S; then along the path of the optima while w_S goes
//!          to 0 ([`path`]), or `v -= H^-1_.S (H^-1_SS)^-1 w_S`, the optimum of the others if no
//!          sample changes sides, by a line search: what has cost less before
//!          2. gradient and gap; stop  3. direction by the inverse, exact line search
//!          4. samples that changed sides: the inverse is updated by their number, or built again
//! Cost     a feature that leaves: 2 p^2 and two passes over the rows; a sample that changes sides
//!          2 p^2, on the path n p more; each round two passes. Memory: rows, p^2 and O(n).
//! Fails    never; stops with a status and the gap reached.

mod path;

use super::columns::LiveColumns;
use crate::design::Row;
use crate::dual::newton::{Point, Sample, line_search};
use crate::dual::normal::{Extended, anchored, scatter};
use crate::dual::{BoxDual, DualSolution, SvmSettings, kkt};
use crate::kernel::gemm::{View, add_product};
use crate::kernel::inverse::invert;
use crate::{Clock, Status, simd};

/// Numbers that steer the method, chosen by hand; `make bench-rfe` shows what a change costs.
mod tuning {
    /// Samples that change sides are put into the inverse one by one up to this share of the
    /// features; beyond it is built again.
    pub(super) const FOLLOW: f64 = 0.4;
    /// Rounds without a better gap before it gives up.
    pub(super) const PATIENCE: u32 = 8;
    /// The relative gap from which a path may start: the sides of the samples are right there.
    pub(super) const EXACT: f64 = 1e-10;
    /// Samples for each feature beyond which no path is tried: its changes of side cost n p each,
    /// those of Newton's method p^2.
    pub(super) const CROWDED: f64 = 10.0;
    /// Speed of products of matrices, in that of passes over one.
    pub(super) const PRODUCTS: f64 = 6.0;
    /// Rows gathered at a time for the Hessian.
    pub(super) const PANEL: usize = 256;
}
use path::{Effort, Leaving};
use tuning::{CROWDED, EXACT, FOLLOW, PANEL, PATIENCE, PRODUCTS};

/// The state between trainings.
pub struct ShrinkingNewton<'a> {
    columns: LiveColumns<'a>,
    dual: BoxDual,
    samples: Vec<Sample>,
    /// (w, bias), 0 for features that left.
    v: Vec<f64>,
    /// x_i.v
    scores: Vec<f64>,
    /// y_i alpha_i
    beta: Vec<f64>,
    /// Samples with a loss.
    inside: Vec<bool>,
    /// The inverse of the Hessian, m x m; lines of features that left are 0. Empty when it must be
    /// built.
    inverse: Vec<f64>,
    /// Features that left, before the others have followed.
    pending: Option<Leaving>,
    effort: Effort,
    /// Multiply-adds of the current training.
    work: f64,
}

impl<'a> ShrinkingNewton<'a> {
    /// The training on these features, from a solution on them.
    pub(super) fn new(columns: LiveColumns<'a>, dual: &BoxDual, start: &DualSolution) -> Self {
        let x = Extended::new(&columns.rows, dual.bias);
        let mut v = start.weights.clone();
        if x.width() > columns.len() {
            // The constant feature's weight, of value `last`.
            v.push(start.bias / x.last);
        }
        let mut scores = vec![0.0; dual.len()];
        x.scores(&v, &mut scores);
        let samples: Vec<Sample> = (0..dual.len()).map(|i| Sample::of_squared_hinge(dual, i)).collect();
        Self {
            columns,
            dual: dual.clone(),
            inside: vec![false; samples.len()],
            beta: vec![0.0; samples.len()],
            samples,
            v,
            scores,
            inverse: Vec::new(),
            pending: None,
            effort: Effort::default(),
            work: 0.0,
        }
    }

    /// Whether the next optimum is reached along the path.
    fn prefers_path(&self) -> bool {
        self.samples.len() as f64 <= CROWDED * self.v.len() as f64 && self.effort.prefers_path()
    }

    fn extended(&self) -> Extended<'_> {
        Extended::new(&self.columns.rows, self.dual.bias)
    }

    /// Step 1: takes features out.
    pub fn remove(&mut self, leaving: &[usize]) {
        let m = self.v.len();
        // A path that is pending is not followed any further.
        let follows = self.pending.take().is_none() && leaving.len() as f64 <= FOLLOW * m as f64;
        if follows && self.inverse.is_empty() && self.prefers_path() {
            self.build();
        }
        let at = self.columns.remove(leaving);
        if !follows || self.inverse.is_empty() {
            self.drop_weights(&at);
        } else {
            self.downdate(&at);
        }
        if let Some(mut kept) = self.columns.compact() {
            kept.extend((self.extended().width() > self.columns.len()).then_some(m - 1));
            let take = |v: &[f64]| kept.iter().map(|&k| v[k]).collect::<Vec<f64>>();
            self.v = take(&self.v);
            if let Some(pending) = &mut self.pending {
                pending.direction = take(&pending.direction);
            }
            if !self.inverse.is_empty() {
                self.inverse = kept.iter().flat_map(|&k| take(&self.inverse[k * m..(k + 1) * m])).collect();
            }
        }
    }

    /// The weights leave; the inverse is built at the next training.
    fn drop_weights(&mut self, at: &[usize]) {
        for &k in at {
            self.v[k] = 0.0;
        }
        self.inverse.clear();
        let mut scores = std::mem::take(&mut self.scores);
        self.extended().scores(&self.v, &mut scores);
        self.scores = scores;
    }

    fn downdate(&mut self, at: &[usize]) {
        let (m, s) = (self.v.len(), at.len());
        // A = H^-1_SS, W = H^-1_S. (lines of the leaving features)
        let mut corner = vec![0.0; s * s];
        let mut lines = vec![0.0; s * m];
        for (r, &k) in at.iter().enumerate() {
            lines[r * m..(r + 1) * m].copy_from_slice(&self.inverse[k * m..(k + 1) * m]);
            for (c, &l) in at.iter().enumerate() {
                corner[r * s + c] = self.inverse[k * m + l];
            }
        }
        let least = (0..s).map(|r| corner[r * s + r]).fold(f64::INFINITY, f64::min);
        invert(&mut corner, s, s, 1e-14 * least);
        let mut scaled = vec![0.0; s * m];
        add_product(&mut scaled, m, 1.0, View::rows(&corner, s, s, s), View::rows(&lines, s, m, m));
        // The direction: -W' A^-1 v_S.
        let mut direction = vec![0.0; m];
        for (r, &k) in at.iter().enumerate() {
            simd::axpy(-self.v[k], &scaled[r * m..(r + 1) * m], &mut direction);
        }
        self.change_inverse(-1.0, &lines, &scaled, s);
        let mut falling = vec![0.0; self.scores.len()];
        for &k in at {
            let weight = std::mem::take(&mut self.v[k]);
            self.columns.design.add_column(self.columns.features[k], weight, &mut falling);
            direction[k] = 0.0;
            self.inverse[k * m..(k + 1) * m].fill(0.0);
            (0..m).for_each(|l| self.inverse[l * m + k] = 0.0);
        }
        self.pending = Some(Leaving { direction, falling });
    }

    /// H^-1 += sign lines' scaled, both of s lines of length m.
    fn change_inverse(&mut self, sign: f64, lines: &[f64], scaled: &[f64], s: usize) {
        let m = self.v.len();
        if s == 1 {
            for (k, &a) in lines.iter().enumerate().filter(|e| *e.1 != 0.0) {
                simd::axpy(sign * a, scaled, &mut self.inverse[k * m..(k + 1) * m]);
            }
            return;
        }
        let (lines, scaled) = (View::rows(lines, s, m, m), View::rows(scaled, s, m, m));
        add_product(&mut self.inverse, m, sign, lines.transposed(), scaled);
    }

    /// Trains on the features that are left.
    pub fn train(&mut self, settings: &SvmSettings, clock: &Clock) -> DualSolution {
        self.work = 0.0;
        let mut by_path = false;
        if let Some(leaving) = self.pending.take() {
            by_path = self.prefers_path();
            if by_path {
                self.follow_path(leaving);
            } else {
                simd::axpy(-1.0, &leaving.falling, &mut self.scores);
                self.advance(&leaving.direction);
                self.follow_sides();
            }
        }
        let solution = self.newton(settings, clock);
        self.effort.learn(by_path, self.work);
        solution
    }

    /// Steps 2 to 4 from the current point.
    fn newton(&mut self, settings: &SvmSettings, clock: &Clock) -> DualSolution {
        let (mut round, mut idle, mut best) = (0, 0, f64::INFINITY);
        let mut point = self.evaluate();
        // A path starts at the optimum itself.
        let aim = if self.prefers_path() { EXACT.min(settings.tolerance) } else { settings.tolerance };
        loop {
            // Step 2.
            let gap = point.gap;
            (idle, best) = if gap < 0.9 * best { (0, gap) } else { (idle + 1, best) };
            let limit = clock
                .stop()
                .or((round >= settings.max_epochs).then_some(Status::CallLimit))
                .or((idle > PATIENCE || !gap.is_finite()).then_some(Status::Stalled));
            let met = gap <= settings.tolerance * point.primal.abs();
            if gap <= aim * point.primal.abs() {
                return self.solution(&point, round, Status::Optimal);
            }
            if let Some(status) = limit.or((met && idle > 0).then_some(Status::Optimal)) {
                return self.solution(&point, round, if met { Status::Optimal } else { status });
            }
            // Step 3.
            round += 1;
            if self.inverse.is_empty() {
                self.build();
            }
            let direction = self.multiply(&point.downhill);
            self.advance(&direction);
            // Step 4.
            let changed = self.follow_sides();
            let before = gap;
            point = self.evaluate();
            if changed == 0 && point.gap > 0.5 * before {
                // The inverse no longer is one.
                self.inverse.clear();
            }
        }
    }

    /// (feature, w) of the features that are left, ascending.
    pub fn weights(&self) -> Vec<(usize, f64)> {
        self.columns.weights(&self.v)
    }

    fn solution(&self, point: &Point, iterations: u64, status: Status) -> DualSolution {
        let x = self.extended();
        DualSolution {
            kkt_residual: kkt::residual(&self.dual, &self.beta, &self.scores),
            beta: self.beta.clone(),
            bias: self.v.get(self.columns.len()).map_or(0.0, |b| x.last * b),
            weights: self.columns.weights(&self.v).into_iter().map(|e| e.1).collect(),
            primal: point.primal,
            dual: point.primal - point.gap,
            absolute_gap: point.unsettled + kkt::ROUNDING * point.primal,
            iterations,
            status,
        }
    }

    /// Step 2: alpha, gradient and both objectives.
    fn evaluate(&mut self) -> Point {
        self.work += self.pass();
        let x = Extended::new(&self.columns.rows, self.dual.bias);
        let pull = |beta: &[f64]| {
            let mut pull = x.weights(beta);
            self.columns.clear_dead(&mut pull);
            pull
        };
        Point::new(x, &self.dual, &self.samples, &self.scores, &self.v, &mut self.beta, pull)
    }

    /// Multiply-adds of a pass over the rows, and some vectors beside it.
    fn pass(&self) -> f64 {
        (self.columns.rows.stored() + 10 * self.samples.len()) as f64
    }

    /// H^-1 a
    fn multiply(&self, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; a.len()];
        simd::combination(&self.inverse, a, &mut out);
        out
    }

    /// Moves to the minimum along the direction.
    fn advance(&mut self, direction: &[f64]) {
        let mut along = vec![0.0; self.samples.len()];
        self.extended().scores(direction, &mut along);
        self.work += self.pass();
        self.advance_along(direction, &along);
    }

    /// Moves to the minimum along the direction, `along = X direction`.
    fn advance_along(&mut self, direction: &[f64], along: &[f64]) {
        let penalised = self.extended().penalised(direction);
        let slope = simd::dot(&self.v, &penalised);
        let curve = simd::dot(direction, &penalised);
        let pull: f64 =
            self.samples.iter().zip(&self.scores).zip(along).map(|((s, f), a)| s.y * a * s.pull(*f).max(0.0)).sum();
        let step = line_search(&self.samples, &self.scores, along, slope, curve, (pull - slope).max(0.0));
        simd::axpy(step, direction, &mut self.v);
        simd::axpy(step, along, &mut self.scores);
    }

    /// Step 4: the inverse follows the samples that changed sides; how many.
    fn follow_sides(&mut self) -> usize {
        let (mut entering, mut leaving) = (Vec::new(), Vec::new());
        for (i, s) in self.samples.iter().enumerate() {
            let now = s.stiffness > 0.0 && s.y * self.scores[i] < 1.0;
            if now != self.inside[i] {
                if now { &mut entering } else { &mut leaving }.push(i);
                self.inside[i] = now;
            }
        }
        let changed = entering.len() + leaving.len();
        let is_worth_it = !self.inverse.is_empty() && changed as f64 <= FOLLOW * self.v.len() as f64;
        if !(is_worth_it && self.change_sides(&entering, 1.0) && self.change_sides(&leaving, -1.0)) {
            self.inverse.clear();
        }
        changed
    }

    /// H += sign sum_i k_i x_i x_i': H^-1 -= sign U' (K^-1 + sign X U')^-1 U with U = X H^-1; false
    /// where the digits are lost.
    fn change_sides(&mut self, samples: &[usize], sign: f64) -> bool {
        let (m, s) = (self.v.len(), samples.len());
        if s == 0 {
            return true;
        }
        let mut lines = vec![0.0; s * m];
        lines.chunks_exact_mut(m).zip(samples).for_each(|(line, &i)| self.copy_row(i, 1.0, line));
        self.work += 2.0 * (s * m * m) as f64 / if s > 1 { PRODUCTS } else { 1.0 };
        let mut moved = vec![0.0; s * m];
        if s == 1 {
            simd::combination(&self.inverse, &lines, &mut moved);
        } else {
            add_product(&mut moved, m, 1.0, View::rows(&lines, s, m, m), View::rows(&self.inverse, m, m, m));
        }
        let mut middle = vec![0.0; s * s];
        add_product(&mut middle, s, sign, View::rows(&lines, s, m, m), View::rows(&moved, s, m, m).transposed());
        let mut least = f64::INFINITY;
        for (r, &i) in samples.iter().enumerate() {
            middle[r * s + r] += 1.0 / self.samples[i].stiffness;
            least = least.min(middle[r * s + r] * self.samples[i].stiffness);
        }
        if least < 1e-8 {
            return false;
        }
        invert(&mut middle, s, s, 0.0);
        let mut scaled = vec![0.0; s * m];
        add_product(&mut scaled, m, 1.0, View::rows(&middle, s, s, s), View::rows(&moved, s, m, m));
        self.change_inverse(-sign, &moved, &scaled, s);
        self.inverse.iter().step_by(m + 1).all(|d| d.is_finite() && *d >= 0.0)
    }

    /// A row of zeros gets this many times the sample's.
    fn copy_row(&self, i: usize, factor: f64, line: &mut [f64]) {
        let p = self.columns.len();
        self.columns.rows.row(i).add_to(factor, &mut line[..p]);
        if let Some(last) = line.get_mut(p) {
            *last = factor * self.extended().last;
        }
    }

    /// H += sum_i k_i x_i x_i' over sparse rows, entry by entry.
    fn scatter_rows(&self, samples: &[usize], hessian: &mut [f64]) {
        let m = self.v.len();
        let last = (m > self.columns.len()).then_some(self.extended().last);
        for &i in samples {
            if let Row::Sparse(columns, values) = self.columns.rows.row(i) {
                scatter(columns, values, self.samples[i].stiffness, last, m, hessian);
            }
        }
        for k in 0..m {
            for l in 0..k {
                hessian[l * m + k] = hessian[k * m + l];
            }
        }
    }

    /// H += sum_i k_i x_i x_i' in products of panels of rows.
    fn multiply_rows(&self, samples: &[usize], hessian: &mut [f64]) {
        let m = self.v.len();
        let mut panel = vec![0.0; PANEL * m];
        for block in samples.chunks(PANEL) {
            let panel = &mut panel[..block.len() * m];
            panel.fill(0.0);
            for (line, &i) in panel.chunks_exact_mut(m).zip(block) {
                self.copy_row(i, self.samples[i].stiffness.sqrt(), line);
            }
            let lines = View::rows(panel, block.len(), m, m);
            add_product(hessian, m, 1.0, lines.transposed(), lines);
        }
    }

    /// Builds the inverse in full.
    fn build(&mut self) {
        let m = self.v.len();
        let mut hessian = vec![0.0; m * m];
        for (i, s) in self.samples.iter().enumerate() {
            self.inside[i] = s.stiffness > 0.0 && s.y * self.scores[i] < 1.0;
        }
        let inside: Vec<usize> = (0..self.samples.len()).filter(|&i| self.inside[i]).collect();
        let row = self.columns.rows.stored() as f64 / self.samples.len() as f64;
        let by_row = if self.columns.rows.is_sparse() { row * row } else { f64::INFINITY };
        let by_product = (m * m) as f64 / PRODUCTS;
        self.work += inside.len() as f64 * by_row.min(by_product) + m as f64 * by_product;
        if by_row < by_product {
            self.scatter_rows(&inside, &mut hessian);
        } else {
            self.multiply_rows(&inside, &mut hessian);
        }
        for k in 0..m {
            let held = hessian[k * m + k];
            hessian[k * m + k] +=
                if k < self.columns.len() { 1.0 } else { anchored(self.extended().last_penalty, held) };
        }
        invert(&mut hessian, m, m, 0.0);
        for k in (0..self.columns.len()).filter(|&k| !self.columns.alive[k]) {
            // The inverse of the part of the others.
            let pivot = hessian[k * m + k];
            let line: Vec<f64> = hessian[k * m..(k + 1) * m].to_vec();
            for (l, &a) in line.iter().enumerate().filter(|e| *e.1 != 0.0) {
                simd::axpy(-a / pivot, &line, &mut hessian[l * m..(l + 1) * m]);
            }
            hessian[k * m..(k + 1) * m].fill(0.0);
            (0..m).for_each(|l| hessian[l * m + k] = 0.0);
        }
        self.inverse = hessian;
    }
}
