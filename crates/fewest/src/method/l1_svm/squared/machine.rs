//! The current point (w, b), what it says about the dual, and the proximal Newton steps that
//! improve it.

use super::columns::Columns;
use super::lasso::Lasso;
use crate::design::keep;
use crate::dual::{BoxDual, kkt};
use crate::simd;
use crate::{Bias, Clock, DualSolution, Error, FeatureScore, Reserved, RowMatrix};

/// Tuning: chosen by hand; `bench/l1.py` shows what a change costs, `bench/log/l1.md` what was
/// tried.
mod tuning {
    /// Least size of a working set.
    pub(super) const LEAST: usize = 100;
    /// Share of the violation on the working set that a lasso is solved to: the samples inside the
    /// margin change anyway.
    pub(super) const INNER: f64 = 0.1;
    /// Sweeps of a lasso after a part of a way.
    pub(super) const FEW: u64 = 5;
    /// Lassos at most for one working set.
    pub(super) const STEPS: usize = 50;
    /// Points the line search tries at most.
    pub(super) const SEARCH: usize = 30;
    /// A weight this small beside the largest may be of rounding: where it moves no margin by more
    /// than the second.
    pub(super) const FEW_DIGITS: f64 = 1e-9;
    pub(super) const ROUNDING: f64 = 1e-10;
    /// The line search ends where the slope is this share of the first.
    pub(super) const FLAT: f64 = 0.1;
}
use tuning::{FEW, FEW_DIGITS, FLAT, INNER, LEAST, ROUNDING, SEARCH, STEPS};

/// w, b and the decision values.
pub(super) struct Machine<'a> {
    dual: &'a BoxDual,
    /// One weight per position; a penalised bias is the last, in units of its constant column.
    pub(super) w: Vec<f64>,
    /// A free bias, else 0.
    pub(super) bias: f64,
    /// x_i . w
    scores: Vec<f64>,
    /// Sweeps the next lasso may take: few while the samples inside the margin change so much that
    /// only a part of the way is gone.
    patience: u64,
    /// The last lasso's matrix, for its memory.
    memory: Option<RowMatrix>,
}

/// What (w, b) tells, b being at its best if it is free.
pub(super) struct Evaluation {
    pub(super) primal: f64,
    /// y_i alpha_i with alpha from the slacks.
    pub(super) beta: Vec<f64>,
    /// c_j of the positions that count, ascending ([`Columns::scores_seen`]), the largest among
    /// them.
    pub(super) scores: Vec<FeatureScore>,
    /// Largest violation.
    pub(super) violation: f64,
}

impl<'a> Machine<'a> {
    /// Weights that move no margin by more than rounding become 0.
    pub(super) fn clear_rounding(&mut self, columns: &Columns<'_, '_>) {
        let largest = self.w.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
        for j in 0..columns.features.len() {
            let w = self.w[j];
            if w == 0.0 || w.abs() > FEW_DIGITS * largest || columns.interval(j).weight(0.0) != 0.0 {
                continue;
            }
            if w != 0.0 && w.abs() * columns.largest(j) <= ROUNDING {
                self.w[j] = 0.0;
            }
        }
    }

    /// The columns of the weights that are not 0 must be here.
    pub(super) fn new(columns: &Columns<'_, '_>, dual: &'a BoxDual, start: Option<&DualSolution>) -> Self {
        let mut w = vec![0.0; columns.len()];
        let mut bias = 0.0;
        if let Some(start) = start {
            w[..start.weights.len()].copy_from_slice(&start.weights);
            match columns.bias {
                Bias::Free => bias = start.bias,
                Bias::Penalised(s) => w[columns.features.len()] = start.bias / s,
                Bias::None => {}
            }
        }
        let mut scores = vec![0.0; dual.len()];
        for (j, &w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            columns.add(j, w, &mut scores);
        }
        Self { dual, w, bias, scores, patience: FEW, memory: None }
    }

    /// Bias of the decision function.
    pub(super) fn decision_bias(&self, columns: &Columns<'_, '_>) -> f64 {
        columns.constant().map_or(self.bias, |s| s * self.w[columns.features.len()])
    }

    /// Step 1: a free bias goes to its best value first.
    pub(super) fn evaluation(&mut self, columns: &Columns<'_, '_>) -> Result<Evaluation, Error> {
        if columns.bias == Bias::Free {
            self.bias = kkt::best_bias(self.dual, &self.scores);
        }
        let loss = kkt::total_loss(self.dual, &self.scores, self.bias);
        let primal = self.w.iter().map(|w| w.abs()).sum::<f64>() + loss;
        let slack = |i: usize| (1.0 - self.dual.y[i] * (self.scores[i] + self.bias)).max(0.0);
        let mut beta: Vec<f64> =
            (0..self.dual.len()).map(|i| 2.0 * self.dual.cost[i] * self.dual.y[i] * slack(i)).collect();
        kkt::make_feasible(self.dual, &mut beta);
        let scores = columns.scores_seen(&self.w, &beta, room(self.n_used(columns)))?;
        let missed = |s: &FeatureScore| columns.interval(s.feature).violation(self.w[s.feature], s.score, 1.0, 1.0);
        let violation = scores.iter().map(missed).fold(0.0, f64::max);
        Ok(Evaluation { primal, beta, scores, violation })
    }

    /// Whether a position is in every working set: the weights that are not 0 and the constant
    /// column.
    fn is_used(&self, columns: &Columns<'_, '_>, position: usize) -> bool {
        self.w[position] != 0.0 || position == columns.features.len()
    }

    fn n_used(&self, columns: &Columns<'_, '_>) -> usize {
        (0..self.w.len()).filter(|&j| self.is_used(columns, j)).count()
    }

    /// Step 2: the columns of every working set, and as many of largest |c_j| as there is room and
    /// memory for; none where there is memory for no other.
    pub(super) fn working_set(
        &self,
        columns: &Columns<'_, '_>,
        evaluation: &Evaluation,
    ) -> Option<(Vec<usize>, Reserved)> {
        let most = room(self.n_used(columns));
        let halves = std::iter::successors(Some(most), |more| Some(more / 2)).take_while(|&more| more > 0);
        halves.map(|more| self.with_others(columns, evaluation, more)).find_map(|work| {
            let taken = columns.matrix.memory.take(columns.bytes(&work))?;
            Some((work, taken))
        })
    }

    /// The columns of every working set and this many of largest |c_j|, ascending.
    fn with_others(&self, columns: &Columns<'_, '_>, evaluation: &Evaluation, others: usize) -> Vec<usize> {
        let (used, mut rest): (Vec<FeatureScore>, Vec<FeatureScore>) =
            evaluation.scores.iter().partition(|s| self.is_used(columns, s.feature));
        for s in &mut rest {
            s.score = columns.interval(s.feature).worth(s.score);
        }
        keep(&mut rest, others);
        let mut work: Vec<usize> = used.iter().chain(&rest).map(|s| s.feature).collect();
        work.sort_unstable();
        work
    }

    /// Step 3: steps on the working set until its violation is at most `aim`. Returns the sweeps
    /// used.
    pub(super) fn improve(
        &mut self,
        columns: &Columns<'_, '_>,
        work: &[usize],
        aim: f64,
        most: u64,
        clock: &Clock,
    ) -> u64 {
        let n = self.dual.len();
        let (mut known, mut sweeps): (Option<Lasso<'_, '_>>, u64) = (None, 0);
        let (mut along, mut watched, mut stuck) = (vec![0.0; n], vec![false; n], false);
        for _ in 0..STEPS {
            let decisions: Vec<f64> = self.scores.iter().map(|f| f + self.bias).collect();
            let inside = |i: usize, decision: f64| self.dual.cost[i] > 0.0 && self.dual.y[i] * decision < 1.0;
            let samples: Vec<usize> = (0..n).filter(|&i| inside(i, decisions[i]) || watched[i]).collect();
            let mut lasso = match known.take() {
                Some(lasso) if lasso.inside == samples => lasso,
                old => {
                    let memory = old.map(Lasso::into_matrix).or_else(|| self.memory.take());
                    Lasso::new(columns, work, samples, &self.dual.cost, memory)
                }
            };
            lasso.begin(&self.dual.y, &decisions);
            let from: Vec<f64> = work.iter().map(|&j| self.w[j]).collect();
            let open = lasso.violation(&from);
            if open <= aim {
                known = Some(lasso);
                break;
            }
            let mut to = from.clone();
            let before = lasso.sweeps;
            let budget = self.patience.min(most - sweeps);
            lasso.solve(&mut to, (INNER * open).max(0.5 * aim), before + budget, clock);
            sweeps += lasso.sweeps - before;
            if sweeps >= most || clock.stop().is_some() {
                break;
            }
            let turn = lasso.bias_change();
            along.fill(turn);
            for ((&j, from), to) in work.iter().zip(&from).zip(&to) {
                if from != to {
                    columns.add(j, to - from, &mut along);
                }
            }
            let t = self.line_search(&from, &to, &decisions, &along);
            for i in 0..n {
                // Those that stood in the way.
                watched[i] = t < 1.0 && (watched[i] || inside(i, decisions[i] + along[i]));
            }
            if t == 0.0 && stuck {
                // Nothing that rounding lets one see is left to gain.
                break;
            }
            stuck = t == 0.0;
            for ((&j, from), to) in work.iter().zip(&from).zip(&to) {
                // Rounding may pass a bound.
                self.w[j] = if t == 1.0 { *to } else { columns.interval(j).weight(from + t * (to - from)) };
            }
            simd::axpy(t, &along, &mut self.scores);
            if columns.bias == Bias::Free {
                // `along` holds the bias's move too, which is kept apart.
                self.scores.iter_mut().for_each(|f| *f -= t * turn);
                self.bias += t * turn;
            }
            self.patience = if t == 1.0 { self.patience.saturating_mul(2) } else { (self.patience / 2).max(FEW) };
            known = Some(lasso);
        }
        self.memory = known.map(Lasso::into_matrix);
        sweeps
    }

    /// t in [0, 1] where the value falls no more on the way from `from` to `to`, a little before
    /// rather than behind.
    fn line_search(&self, from: &[f64], to: &[f64], decisions: &[f64], along: &[f64]) -> f64 {
        // First and second derivative at t; the first from the left.
        let derivatives = |t: f64| {
            let (mut first, mut second) = (0.0, 0.0);
            for (a, b) in from.iter().zip(to).filter(|(a, b)| a != b) {
                let before = if *a == 0.0 { *b } else { *a };
                let zero = if a * b < 0.0 { a / (a - b) } else { f64::INFINITY };
                first += (b - a) * if t > zero { -before.signum() } else { before.signum() };
            }
            for i in 0..along.len() {
                let (y, c) = (self.dual.y[i], self.dual.cost[i]);
                let slack = 1.0 - y * (decisions[i] + t * along[i]);
                if slack > 0.0 {
                    first -= 2.0 * c * slack * y * along[i];
                    second += 2.0 * c * along[i] * along[i];
                }
            }
            (first, second)
        };
        let inside = |i: usize, t: f64| self.dual.y[i] * (decisions[i] + t * along[i]) < 1.0;
        if (0..along.len()).all(|i| inside(i, 0.0) == inside(i, 1.0)) {
            // The lasso was the whole truth.
            return 1.0;
        }
        let start = derivatives(0.0).0;
        let (mut slope, mut curve) = derivatives(1.0);
        if slope <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high, mut t) = (0.0, 1.0, 1.0);
        for _ in 0..SEARCH {
            let newton = t - slope / curve;
            t = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            (slope, curve) = derivatives(t);
            if slope <= 0.0 {
                low = t;
                if slope >= FLAT * start {
                    break;
                }
            } else {
                high = t;
            }
        }
        low
    }
}

/// Room in a working set beside those used: for as many again, and one hundred in all at least.
fn room(used: usize) -> usize {
    LEAST.max(2 * used) - used
}
