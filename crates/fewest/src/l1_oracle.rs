//! The linear program of an L1-SVM with two prices per feature, solved again and again while the
//! prices change.
//!
//! Solves   min sum_j (up_j w_j^+ + down_j w_j^-) + sum_i C_i xi_i  s.t. y_i (w.x_i + b) + xi_i >=
//!          1, xi >= 0, w = w^+ - w^-, 0 <= w_j^+, w_j^- <= u_j (u_j may be infinite, and is 0 for
//!          a feature left out); b free, penalised or absent dual: max sum_i alpha_i - sum_j u_j
//!          max(0, c_j - up_j, -c_j - down_j)  s.t. 0 <= alpha_i <= C_i, y'alpha = 0 with a free
//!          bias, c_j = sum_i alpha_i y_i x_ij
//! Paper    Gaudioso et al. 2017, (2.18)-(2.24) with the prices of a multiplier; Bradley,
//!          Mangasarian 1998 with those of a linearisation; with prices 1 the L1-SVM (ONSVM,
//!          LPSVM).
//! Source   column and constraint generation: Dedieu, Mazumder, Wang, JMLR 23 (2022).
//! Given    Problem (n samples, p features), C_i, prices and u (length p).
//! Returns  [`L1Point`]: w, b, alpha, the primal value of the one and the dual value of the other,
//!          both exact for what is returned.
//! Steps    1. HiGHS solves the program of some features and samples, from its last basis  2. w and
//!          b are judged on all samples, alpha on all features  3. done when the two values agree
//!          4. else the samples at fault join or, where none is, the features most at fault: the
//!          last basis stays feasible, in the dual or in the primal; go to 1
//! Cost     a round: one pass over the data and a linear program of the size of what joined.
//! Differs  prices change between solves: what joined stays, and the last basis is where the next
//!          solve starts.
//! Fails    never on limits: the point says that it was stopped, and its values are true all the
//!          same.

use crate::backend::highs::{Column, Effort, Entries, Program, Rows, SMALLEST, SolveStatus};
use crate::{Bias, DualSolution, Error, Problem, Status};

/// Rows join only where there are more samples than this.
const ALL_ROWS: usize = 1500;
/// With more rows than this, the interior-point method finds the first basis and dual simplex goes
/// on: primal simplex stalls.
const FEW_ROWS: usize = 500;
/// Features that join in a round, at least, and as a share of those that are in.
const JOIN: (usize, f64) = (20, 0.3);
/// A price or a margin missed by this much, relative to 1, is none of HiGHS's tolerances.
const MISSED: f64 = 1e-7;

/// A point of the program and one of its dual.
#[derive(Debug, Clone, Default)]
pub struct L1Point {
    /// The features of non-zero weight, ascending, and their weights.
    pub weights: Vec<(usize, f64)>,
    /// Bias b.
    pub bias: f64,
    /// Sum of C_i xi_i.
    pub loss: f64,
    /// Objective of w and b: an upper value.
    pub primal: f64,
    /// Objective of alpha: no w and b have a smaller one.
    pub dual: f64,
    /// alpha (length n).
    pub alpha: Vec<f64>,
    /// c_j of alpha (length p).
    pub scores: Vec<f64>,
    /// Linear programs it took.
    pub programs: u64,
    /// The limit that stopped the solve, if one did.
    pub stopped: Option<Status>,
}

/// The program, alive between solves.
pub struct L1Oracle<'a> {
    problem: &'a Problem<'a>,
    cost: Vec<f64>,
    bias: Bias,
    up: Vec<f64>,
    down: Vec<f64>,
    bound: Vec<f64>,
    program: Program,
    /// Columns of b: one when it is free, one for each sign when it is penalised.
    intercept: Vec<usize>,
    /// Row of each sample, and the column of its slack.
    row: Vec<Option<(usize, usize)>>,
    /// Samples by row.
    samples: Vec<usize>,
    /// Column of w_j^+ of each feature that has joined; that of w_j^- is the next.
    column: Vec<Option<usize>>,
    /// The features that have joined.
    features: Vec<usize>,
    /// Whether rows have joined or bounds were changed since the last solve, so that the last basis
    /// is not feasible.
    infeasible: bool,
    /// Whether there is a last basis.
    begun: bool,
    /// Linear programs solved.
    pub solves: u64,
}

impl<'a> L1Oracle<'a> {
    /// A program without features, all prices 1; `cost` is C_i (length n), `bound` is u (length p).
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS cannot start.
    pub fn new(problem: &'a Problem<'a>, cost: Vec<f64>, bias: Bias, bound: Vec<f64>) -> Result<Self, Error> {
        let (n, p) = (problem.n_samples(), problem.n_features());
        assert_eq!((cost.len(), bound.len()), (n, p), "one C per sample, one bound per feature");
        let (program, intercept) = empty(bias)?;
        let mut oracle = Self {
            problem,
            cost,
            bias,
            up: vec![1.0; p],
            down: vec![1.0; p],
            bound,
            program,
            intercept,
            row: vec![None; n],
            samples: Vec::new(),
            column: vec![None; p],
            features: Vec::new(),
            infeasible: true,
            begun: false,
            solves: 0,
        };
        if n <= ALL_ROWS {
            oracle.join_spread()?;
        }
        Ok(oracle)
    }

    /// Of the samples that count, some of each class, evenly spread; the others join when they are
    /// needed.
    fn join_spread(&mut self) -> Result<(), Error> {
        let counts: Vec<usize> = (0..self.cost.len()).filter(|&i| self.cost[i] > 0.0).collect();
        let step = counts.len().div_ceil(ALL_ROWS).max(1);
        self.join_rows(&counts.iter().copied().step_by(step).collect::<Vec<_>>())
    }

    /// Once more than `most` features have joined, lets all leave but the half that `point` uses or
    /// comes nearest to using.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn forget(&mut self, point: &L1Point, most: usize) -> Result<(), Error> {
        if self.features.len() <= most {
            return Ok(());
        }
        let slack = |j: usize| {
            let used = point.weights.binary_search_by_key(&j, |e| e.0).is_ok();
            if used { f64::NEG_INFINITY } else { (self.up[j] - point.scores[j]).min(self.down[j] + point.scores[j]) }
        };
        let mut keep = std::mem::take(&mut self.features);
        keep.sort_by(|&a, &b| slack(a).total_cmp(&slack(b)).then(a.cmp(&b)));
        keep.truncate(most / 2);
        (self.program, self.intercept) = empty(self.bias)?;
        self.begun = false;
        self.column.fill(None);
        self.row.fill(None);
        let samples = std::mem::take(&mut self.samples);
        self.join_samples(&samples)?;
        self.join(&keep)
    }

    /// Lets features in before they are asked for.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn join(&mut self, features: &[usize]) -> Result<(), Error> {
        let new: Vec<usize> =
            features.iter().copied().filter(|&j| self.column[j].is_none() && self.bound[j] > 0.0).collect();
        let (mut columns, mut entries) = (Vec::with_capacity(2 * new.len()), Entries::default());
        let mut column = Vec::new();
        for (k, &j) in new.iter().enumerate() {
            self.column[j] = Some(self.program.columns() + 2 * k);
            for (sign, cost) in [(1.0, self.up[j]), (-1.0, self.down[j])] {
                column.clear();
                self.problem.design().each_in_column(j, &mut |i, x| {
                    if let Some((row, _)) = self.row[i].filter(|_| x.abs() > SMALLEST) {
                        column.push((row, sign * self.problem.labels()[i] * x));
                    }
                });
                entries.push(&column);
                columns.push(Column { cost, lower: 0.0, upper: self.bound[j], integer: false });
            }
        }
        self.program.add_filled_columns(&columns, &entries)?;
        self.features.extend(new);
        Ok(())
    }

    /// Lets samples in before they are found missing; where none was, the first solve begins with
    /// an even choice.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn join_rows(&mut self, samples: &[usize]) -> Result<(), Error> {
        let new = |&i: &usize| self.row[i].is_none() && self.cost[i] > 0.0;
        self.join_samples(&samples.iter().copied().filter(new).collect::<Vec<_>>())
    }

    /// Sets the prices of w_j > 0 and w_j < 0 (length p each); a negative one needs a finite u_j.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn set_prices(&mut self, up: &[f64], down: &[f64]) -> Result<(), Error> {
        let mut changed = Vec::new();
        for &j in &self.features {
            let column = self.column[j].expect("has joined");
            for (at, new, old) in [(column, up[j], self.up[j]), (column + 1, down[j], self.down[j])] {
                if new.to_bits() != old.to_bits() {
                    changed.push((at, new));
                }
            }
        }
        self.up.copy_from_slice(up);
        self.down.copy_from_slice(down);
        self.program.set_costs(&changed)
    }

    /// Sets u_j (length p).
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn set_bounds(&mut self, bound: &[f64]) -> Result<(), Error> {
        for &j in self.features.iter().filter(|&&j| bound[j].to_bits() != self.bound[j].to_bits()) {
            let column = self.column[j].expect("has joined");
            self.program.set_bounds(column, 0.0, bound[j])?;
            self.program.set_bounds(column + 1, 0.0, bound[j])?;
            self.infeasible = true;
        }
        self.bound.copy_from_slice(bound);
        Ok(())
    }

    /// Sets C_i (length n); a sample that weighed nothing must still do so.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails.
    pub fn set_cost(&mut self, cost: &[f64]) -> Result<(), Error> {
        self.cost.copy_from_slice(cost);
        let slacks = self.samples.iter().map(|&i| (self.row[i].expect("has joined").1, cost[i]));
        self.program.set_costs(&slacks.collect::<Vec<_>>())
    }

    /// A point as the solution of a classifier with weights for `features` (ascending), outside of
    /// which it has none.
    pub fn solution(&self, point: &L1Point, features: &[usize], tolerance: f64) -> DualSolution {
        let labels = self.problem.labels();
        let mut weights = vec![0.0; features.len()];
        for &(j, w) in &point.weights {
            weights[features.binary_search(&j).expect("one of the features")] = w;
        }
        // What each condition of optimality misses: prices that bind, and slacks that pay.
        let mut residual: f64 = 0.0;
        for (&j, &w) in features.iter().zip(&weights) {
            let (c, up, down) = (point.scores[j], self.up[j], self.down[j]);
            let inside = (c - up).max(-c - down).max(0.0);
            residual = residual.max(match w {
                _ if w.abs() >= self.bound[j] => 0.0,
                0.0 => inside,
                w if w > 0.0 => (c - up).abs(),
                _ => (c + down).abs(),
            });
        }
        let mut scores = vec![point.bias; labels.len()];
        point.weights.iter().for_each(|&(j, w)| self.problem.design().add_column(j, w, &mut scores));
        for i in (0..labels.len()).filter(|&i| self.cost[i] > 0.0) {
            let (margin, share) = (labels[i] * scores[i] - 1.0, point.alpha[i] / self.cost[i]);
            residual = residual.max(if margin > 0.0 { share * margin } else { (share - 1.0) * margin });
        }
        let close = point.primal - point.dual <= tolerance * point.primal.abs().max(1e-9);
        DualSolution {
            beta: point.alpha.iter().zip(labels).map(|(a, y)| a * y).collect(),
            bias: point.bias,
            weights,
            primal: point.primal,
            dual: point.dual,
            kkt_residual: residual,
            iterations: point.programs,
            status: if close { Status::Optimal } else { point.stopped.unwrap_or(Status::Stalled) },
        }
    }

    /// The features that have joined.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// Solves until (primal - dual) / max(|primal|, 1e-9) is at most `tolerance`.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; a limit is the status of the point.
    pub fn solve(&mut self, tolerance: f64, stop: &mut dyn FnMut() -> Option<Status>) -> Result<L1Point, Error> {
        if self.samples.is_empty() {
            self.join_spread()?;
        }
        if self.features.is_empty() {
            let start = self.strongest();
            self.join(&start)?;
        }
        let mut best = L1Point { primal: f64::INFINITY, dual: f64::NEG_INFINITY, ..L1Point::default() };
        loop {
            // Step 1.
            let mut stopped = None;
            let few = self.samples.len() <= FEW_ROWS;
            let (interior, primal) = (!few && !self.begun, few && !self.infeasible);
            let effort = Effort { interior, primal, ..Effort::default() };
            let answer = self.program.solve(&effort, &mut || {
                stopped = stop();
                stopped.is_some()
            })?;
            self.solves += 1;
            best.programs += 1;
            if answer.status != SolveStatus::Optimal {
                best.stopped = Some(match (stopped, answer.status) {
                    (Some(status), _) => status,
                    // With prices 0 and no bound HiGHS may lose itself in a ray: what is there is
                    // as good as it gets.
                    (None, SolveStatus::Unbounded) => Status::Completed,
                    (None, status) => return Err(Error::Solver(format!("HiGHS calls a linear program {status:?}"))),
                });
                return Ok(self.or_zero(best));
            }
            (self.infeasible, self.begun) = (false, true);
            // Step 2.
            let missed_rows = self.judge_weights(&answer.values, &mut best);
            let missed_features = self.judge_alpha(&answer.row_duals, &mut best);
            // Step 3.
            let close = best.primal - best.dual <= tolerance * best.primal.abs().max(1e-9);
            if close || (missed_rows.is_empty() && missed_features.is_empty()) {
                return Ok(best);
            }
            // Step 4.
            if missed_rows.is_empty() {
                self.join(&missed_features)?;
            } else {
                self.join_samples(&missed_rows)?;
            }
        }
    }

    /// w = 0 and alpha = 0 where nothing is known.
    fn or_zero(&self, mut best: L1Point) -> L1Point {
        if best.primal == f64::INFINITY {
            best.loss = self.cost.iter().sum();
            best.primal = best.loss;
        }
        if best.dual == f64::NEG_INFINITY {
            (best.alpha, best.scores) = (vec![0.0; self.cost.len()], vec![0.0; self.bound.len()]);
            best.dual = self.dual_value(&best.alpha, &best.scores);
        }
        best
    }

    /// The dual value at alpha, whose scores c keep the prices wherever w has no bound.
    fn dual_value(&self, alpha: &[f64], scores: &[f64]) -> f64 {
        // Rounding may leave a hair of a gain where the bound is infinite.
        let bounded = (0..scores.len()).filter(|&j| self.bound[j] < f64::INFINITY);
        alpha.iter().sum::<f64>() - bounded.map(|j| self.gain(j, scores[j])).sum::<f64>()
    }

    /// How much a feature of score c gains per weight, times the largest weight: what the dual
    /// value loses by it.
    pub fn gain(&self, j: usize, c: f64) -> f64 {
        let gain = (c - self.up[j]).max(-c - self.down[j]).max(0.0);
        if gain > 0.0 { gain * self.bound[j] } else { 0.0 }
    }

    /// Judges the program's w and b on all samples, and keeps them when they are the best so far.
    /// Returns the samples that would have to join.
    fn judge_weights(&self, values: &[f64], best: &mut L1Point) -> Vec<usize> {
        let mut weights: Vec<(usize, f64)> = Vec::new();
        for &j in &self.features {
            let column = self.column[j].expect("has joined");
            let w = values[column].clamp(0.0, self.bound[j]) - values[column + 1].clamp(0.0, self.bound[j]);
            if w != 0.0 {
                weights.push((j, w));
            }
        }
        weights.sort_unstable_by_key(|e| e.0);
        let bias = match self.intercept[..] {
            [b] => values[b],
            [up, down] => values[up] - values[down],
            _ => 0.0,
        };
        let mut scores = vec![bias; self.cost.len()];
        for &(j, w) in &weights {
            self.problem.design().add_column(j, w, &mut scores);
        }
        let labels = self.problem.labels();
        let slack = |i: usize| (1.0 - labels[i] * scores[i]).max(0.0);
        let loss = (0..scores.len()).filter(|&i| self.cost[i] > 0.0).map(|i| self.cost[i] * slack(i)).sum::<f64>();
        let price = |&(j, w): &(usize, f64)| if w > 0.0 { self.up[j] * w } else { -self.down[j] * w };
        let primal = weights.iter().map(price).sum::<f64>() + bias_price(self.bias, bias) + loss;
        if primal < best.primal {
            (best.weights, best.bias, best.loss, best.primal) = (weights, bias, loss, primal);
        }
        let out = |i: usize| self.row[i].is_none() && self.cost[i] > 0.0 && slack(i) > MISSED;
        let mut missed: Vec<usize> = (0..scores.len()).filter(|&i| out(i)).collect();
        let most = self.samples.len().max(ALL_ROWS / 2);
        if missed.len() > most {
            missed.sort_by(|&a, &b| slack(b).total_cmp(&slack(a)).then(a.cmp(&b)));
            missed.truncate(most);
        }
        missed
    }

    /// Judges the program's alpha on all features, and keeps it when it is the best so far. Returns
    /// the features most at fault.
    fn judge_alpha(&self, row_duals: &[f64], best: &mut L1Point) -> Vec<usize> {
        let labels = self.problem.labels();
        let mut alpha = vec![0.0; self.cost.len()];
        for (&i, dual) in self.samples.iter().zip(row_duals) {
            alpha[i] = dual.clamp(0.0, self.cost[i]);
        }
        let side = |y: f64| (0..alpha.len()).filter(|&i| labels[i] == y).map(|i| alpha[i]).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        if self.bias == Bias::Free {
            // HiGHS's tolerance: the heavier class gives the rest away.
            let (y, share) = if plus > minus { (1.0, minus / plus) } else { (-1.0, plus / minus.max(1e-300)) };
            (0..alpha.len()).filter(|&i| labels[i] == y).for_each(|i| alpha[i] *= share);
        }
        let signed: Vec<f64> = alpha.iter().zip(labels).map(|(a, y)| a * y).collect();
        let mut scores = vec![0.0; self.bound.len()];
        self.problem.design().dot_columns(0, &signed, &mut scores);
        let fault = |j: usize| (scores[j] - self.up[j]).max(-scores[j] - self.down[j]);
        let mut missed: Vec<usize> = (0..scores.len())
            .filter(|&j| self.column[j].is_none() && self.bound[j] > 0.0 && fault(j) > MISSED)
            .collect();
        let most = JOIN.0.max((JOIN.1 * self.features.len() as f64) as usize);
        if missed.len() > most {
            missed.select_nth_unstable_by(most, |&a, &b| fault(b).total_cmp(&fault(a)).then(a.cmp(&b)));
            missed.truncate(most);
            missed.sort_unstable();
        }
        // Where there is no bound on w, prices bind: a smaller alpha keeps them.
        let mut share: f64 = if let Bias::Penalised(s) = self.bias { 1.0 / (s * (plus - minus).abs()) } else { 1.0 };
        for j in (0..scores.len()).filter(|&j| self.bound[j] == f64::INFINITY) {
            let price = if scores[j] > 0.0 { self.up[j] } else { self.down[j] };
            if scores[j].abs() > price {
                share = share.min(price / scores[j].abs());
            }
        }
        if share < 1.0 {
            alpha.iter_mut().chain(&mut scores).for_each(|x| *x *= share);
        }
        let dual = self.dual_value(&alpha, &scores);
        if dual > best.dual {
            (best.alpha, best.scores, best.dual) = (alpha, scores, dual);
        }
        missed
    }

    /// The features that gain most per weight where all samples of the smaller class and as much of
    /// the other are support vectors.
    fn strongest(&self) -> Vec<usize> {
        let labels = self.problem.labels();
        let side = |y: f64| (0..labels.len()).filter(|&i| labels[i] == y).map(|i| self.cost[i]).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        let share =
            |y: f64| if self.bias == Bias::Free { plus.min(minus) / if y > 0.0 { plus } else { minus } } else { 1.0 };
        let signed: Vec<f64> = labels.iter().zip(&self.cost).map(|(&y, c)| y * c * share(y)).collect();
        let mut scores = vec![0.0; self.bound.len()];
        self.problem.design().dot_columns(0, &signed, &mut scores);
        let mut order: Vec<usize> = (0..scores.len()).filter(|&j| self.bound[j] > 0.0).collect();
        order.sort_by(|&a, &b| scores[b].abs().total_cmp(&scores[a].abs()).then(a.cmp(&b)));
        order.truncate(JOIN.0 + labels.len().min(ALL_ROWS) / 4);
        order
    }

    fn join_samples(&mut self, samples: &[usize]) -> Result<(), Error> {
        let none = f64::INFINITY;
        let slack = |&i: &usize| Column { cost: self.cost[i], lower: 0.0, upper: none, integer: false };
        let slacks = self.program.add_columns(&samples.iter().map(slack).collect::<Vec<_>>())?;
        let first = self.program.rows();
        let labels = self.problem.labels();
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(samples.len());
        for (k, &i) in samples.iter().enumerate() {
            self.row[i] = Some((first + k, slacks + k));
            let signs = [1.0, -1.0];
            let intercept = self.intercept.iter().zip(signs).map(|(&b, sign)| (b, sign * labels[i]));
            rows.push(intercept.chain([(slacks + k, 1.0)]).collect());
        }
        for &j in &self.features {
            let column = self.column[j].expect("has joined");
            self.problem.design().each_in_column(j, &mut |i, x| {
                if let Some((row, _)) = self.row[i].filter(|r| r.0 >= first && x.abs() > SMALLEST) {
                    rows[row - first].extend([(column, labels[i] * x), (column + 1, -labels[i] * x)]);
                }
            });
        }
        let mut gathered = Rows::default();
        for row in &rows {
            gathered.push(row, 1.0, none);
        }
        self.program.add_rows(&gathered)?;
        self.samples.extend(samples);
        self.infeasible = true;
        Ok(())
    }
}

/// What a bias costs under an L1 penalty.
pub(crate) fn bias_price(kind: Bias, bias: f64) -> f64 {
    if let Bias::Penalised(s) = kind { bias.abs() / s } else { 0.0 }
}

/// A program of the bias alone, and its columns.
fn empty(bias: Bias) -> Result<(Program, Vec<usize>), Error> {
    let mut program = Program::new()?;
    let column = |cost: f64, lower: f64| Column { cost, lower, upper: f64::INFINITY, integer: false };
    let intercept = match bias {
        Bias::Free => vec![program.add_column(column(0.0, f64::NEG_INFINITY))?],
        Bias::Penalised(s) => {
            vec![program.add_column(column(1.0 / s, 0.0))?, program.add_column(column(1.0 / s, 0.0))?]
        }
        Bias::None => Vec::new(),
    };
    Ok((program, intercept))
}
