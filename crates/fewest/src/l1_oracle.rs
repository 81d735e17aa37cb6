//! The linear program of an L1-SVM with two prices per feature, solved again and again while the
//! prices change.
//!
//! Solves   min sum_j (up_j w_j^+ + down_j w_j^-) + sum_i C_i xi_i
//!          s.t. y_i (w.x_i + b) + xi_i >= 1, xi >= 0, w = w^+ - w^-, 0 <= w_j^+, w_j^- <= u_j
//!          (u_j may be infinite, and is 0 for a feature left out), w_j within the bounds of rules,
//!          where there are some; b free, penalised or absent
//! Dual     max sum_i alpha_i - sum_j g_j(c_j), the gains of `crate::weights` under an L1 penalty:
//!          u_j max(0, c_j - up_j, -c_j - down_j) where nothing else bounds w_j
//!          s.t. 0 <= alpha_i <= C_i, y'alpha = 0 with a free bias, c_j = sum_i alpha_i y_i x_ij
//! Paper    Gaudioso et al. 2017, (2.18)-(2.24) with the prices of a multiplier; Bradley,
//!          Mangasarian 1998 with those of a linearisation; with prices 1 the L1-SVM (ONSVM,
//!          LPSVM).
//! Source   column and constraint generation: Dedieu, Mazumder, Wang, JMLR 23 (2022).
//! Given    Problem (n samples, p features), C_i, prices and u (length p).
//! Returns  [`L1Point`]: w, b, alpha, the primal value of the one and the dual value of the other,
//!          both exact for what is returned.
//! Steps    1. HiGHS solves the program of some features and samples, from its last basis
//!          2. w and b are judged on all samples, alpha on all features
//!          3. done when the two values agree
//!          4. else the samples at fault join or, where none is, the parts of weights most at
//!          fault: the last basis stays feasible, in the dual or in the primal; go to 1
//! Cost     a round: one pass over the data and a linear program of the size of what joined.
//! Differs  prices change between solves: what joined stays, and the last basis is where the next
//!          solve starts.
//! Fails    never on limits: the point says that it was stopped, and its values are true all the
//!          same.

mod basis;
mod columns;
mod units;

pub(crate) use basis::L1Basis;
use columns::empty;
pub(crate) use units::Units;

use crate::backend::highs::{Effort, Lp, Program, SolveStatus};
use crate::{Bias, Clock, DualSolution, Error, Interval, Memory, Problem, Reserved, Status, WeightBounds};

/// Tuning: chosen by hand; `bench/l1_hinge.py` shows what a change costs, `bench/log/l1.md` what
/// was tried.
mod tuning {
    /// Rows join only where there are more samples than this.
    pub(super) const ALL_ROWS: usize = 1500;
    /// With more rows than this, the interior-point method finds the first basis and dual simplex
    /// goes on: primal simplex stalls.
    pub(super) const FEW_ROWS: usize = 500;
    /// Numbers kept for each feature: bounds, prices, columns, scores and their order.
    pub(super) const LISTS: u64 = 10;
    /// Features that join in a round, at least, and as a share of those that are in.
    pub(super) const JOIN: (usize, f64) = (20, 0.3);
    /// Values of the samples that join between two checks of the clock.
    pub(super) const JOINED: usize = 1 << 17;
    /// Violations of a price or a margin above this, relative to 1, are real, not within HiGHS's tolerances.
    pub(super) const MISSED: f64 = 1e-7;
    /// Slack below this is what rounding, and HiGHS's tolerance, leave where there is none.
    pub(super) const ROUNDING: f64 = 1e-6;
}
use tuning::{ALL_ROWS, FEW_ROWS, JOIN, LISTS, MISSED, ROUNDING};

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

impl L1Point {
    /// Neither weights nor alpha.
    pub(crate) fn nothing(samples: usize, features: usize) -> Self {
        Self { alpha: vec![0.0; samples], scores: vec![0.0; features], ..Self::default() }
    }
}

/// The positive or the negative part of a feature's weight: a column of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WeightSide {
    feature: usize,
    negative: bool,
}

impl WeightSide {
    /// Both of a feature.
    fn both(feature: usize) -> [Self; 2] {
        [false, true].map(|negative| Self { feature, negative })
    }

    fn sign(self) -> f64 {
        if self.negative { -1.0 } else { 1.0 }
    }
}

/// The program, alive between solves.
pub struct L1Oracle<'a> {
    problem: &'a Problem<'a>,
    cost: Vec<f64>,
    bias: Bias,
    up: Vec<f64>,
    down: Vec<f64>,
    bound: Vec<f64>,
    /// Bounds of the rules, where there are some.
    weights: Option<&'a WeightBounds>,
    units: Units,
    program: Program,
    _lists: Reserved,
    /// What the program takes its memory from.
    memory: Memory,
    /// Columns of b: one when it is free, one for each sign when it is penalised.
    intercept: Vec<usize>,
    /// Row of each sample, and the column of its slack.
    row: Vec<Option<(usize, usize)>>,
    /// Samples by row.
    samples: Vec<usize>,
    /// Columns of w_j^+ and w_j^- of each feature, where they have joined.
    column: Vec<[Option<u32>; 2]>,
    /// The parts of weights that have joined.
    parts: Vec<WeightSide>,
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
    pub fn new(problem: &'a Problem<'a>, cost: Vec<f64>, bias: Bias, bound: Vec<f64>) -> Result<Self, Error> {
        Self::within(problem, cost, bias, bound, &Memory::unlimited())
    }

    /// [`L1Oracle::new`], whose program takes no more than is left of `memory`.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS cannot start, [`Error::Memory`] when the samples do not fit; so
    /// with all that lets samples or features join.
    pub fn within(
        problem: &'a Problem<'a>,
        cost: Vec<f64>,
        bias: Bias,
        bound: Vec<f64>,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let (n, p) = (problem.n_samples(), problem.n_features());
        assert_eq!((cost.len(), bound.len()), (n, p), "one C per sample, one bound per feature");
        let lists = memory.lists("a linear program", LISTS, p)?;
        let units = Units::new(problem, &cost);
        let (program, intercept) = empty(bias, &units, memory)?;
        let mut oracle = Self {
            _lists: lists,
            problem,
            cost,
            bias,
            up: vec![1.0; p],
            down: vec![1.0; p],
            bound,
            weights: None,
            units,
            program,
            memory: memory.clone(),
            intercept,
            row: vec![None; n],
            samples: Vec::new(),
            column: vec![[None; 2]; p],
            parts: Vec::new(),
            infeasible: true,
            begun: false,
            solves: 0,
        };
        if n <= ALL_ROWS {
            oracle.join_spread(&Clock::unlimited())?;
        }
        Ok(oracle)
    }

    /// With these bounds on weights beside u; before any feature joins.
    #[must_use]
    pub fn bounded(self, weights: &'a WeightBounds) -> Self {
        Self { weights: Some(weights).filter(|weights| !weights.is_free()), ..self }
    }

    /// For prices of about this, which is 1 by default: the program is written in units that suit.
    pub fn priced(mut self, price: f64) -> Result<Self, Error> {
        self.units.set_price(price, &self.cost);
        self.price_program(true)?;
        Ok(self)
    }

    /// What the rules allow as w_j.
    fn allowed(&self, j: usize) -> Interval {
        self.weights.map_or(Interval::FREE, |weights| weights.of(j))
    }

    /// The weights that feature j may have.
    fn interval(&self, j: usize) -> Interval {
        self.allowed(j).within(self.bound[j])
    }

    /// What a part of a weight may be at most.
    fn limit(&self, part: WeightSide) -> f64 {
        let Interval { lower, upper } = self.interval(part.feature);
        if part.negative { -lower } else { upper }
    }

    /// What a part of a weight costs per unit.
    fn price(&self, part: WeightSide) -> f64 {
        if part.negative { self.down[part.feature] } else { self.up[part.feature] }
    }

    /// Excess of a score over the price of a part of a weight that the rules allow.
    fn fault(&self, part: WeightSide, c: f64) -> f64 {
        let Interval { lower, upper } = self.allowed(part.feature);
        let only = if part.negative { Interval { lower, upper: 0.0 } } else { Interval { lower: 0.0, upper } };
        only.excess(c, self.up[part.feature], self.down[part.feature])
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
            residual = residual.max(self.interval(j).violation(w, point.scores[j], self.up[j], self.down[j]));
        }
        let mut scores = vec![point.bias; labels.len()];
        point.weights.iter().for_each(|&(j, w)| self.problem.design().add_column(j, w, &mut scores));
        for i in (0..labels.len()).filter(|&i| self.cost[i] > 0.0) {
            let (margin, share) = (labels[i] * scores[i] - 1.0, point.alpha[i] / self.cost[i]);
            residual = residual.max(if margin > 0.0 { share * margin } else { (share - 1.0) * margin });
        }
        let close = point.primal - point.dual <= tolerance * point.primal.abs();
        DualSolution {
            beta: point.alpha.iter().zip(labels).map(|(a, y)| a * y).collect(),
            bias: point.bias,
            weights,
            primal: point.primal,
            dual: point.dual,
            absolute_gap: f64::INFINITY,
            kkt_residual: residual,
            iterations: point.programs,
            status: if close { Status::Optimal } else { point.stopped.unwrap_or(Status::Stalled) },
        }
    }

    /// The features that have joined, ascending.
    pub fn features(&self) -> Vec<usize> {
        let mut features: Vec<usize> = self.parts.iter().map(|part| part.feature).collect();
        features.sort_unstable();
        features.dedup();
        features
    }

    /// Solves until (primal - dual) / |primal| is at most `tolerance`.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; a limit is the status of the point.
    pub fn solve(&mut self, tolerance: f64, clock: &Clock) -> Result<L1Point, Error> {
        let none = L1Point { primal: f64::INFINITY, dual: f64::NEG_INFINITY, ..L1Point::default() };
        if self.samples.is_empty() {
            self.join_spread(clock)?;
        }
        // A program that is not begun is not built for nothing.
        if let Some(status) = clock.stop() {
            return Ok(self.or_zero(L1Point { stopped: Some(status), ..none }));
        }
        if self.parts.is_empty() {
            let start = self.strongest();
            self.join_parts(&start)?;
        }
        let mut best = none;
        loop {
            // Step 1.
            let mut stopped = None;
            let few = self.samples.len() <= FEW_ROWS;
            let lp = if few || self.begun { Lp::Simplex } else { Lp::Interior };
            let effort = Effort { lp, primal: few && !self.infeasible, ..Effort::default() };
            let answer = self.program.watch(&effort, &mut |_| {
                stopped = clock.stop();
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
            let missed_parts = self.judge_alpha(&answer.row_duals, &mut best);
            // Step 3.
            let close = best.primal - best.dual <= tolerance * best.primal.abs();
            if close || (missed_rows.is_empty() && missed_parts.is_empty()) {
                // Slack is left, so its cost counts as it is.
                if !close && self.units.uncap(&self.cost) {
                    self.price_program(true)?;
                    continue;
                }
                return Ok(best);
            }
            // Step 4.
            if missed_rows.is_empty() {
                self.join_parts(&missed_parts)?;
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
        // Rounding may leave a hair above the price where there is no bound.
        let gains = (0..scores.len()).map(|j| self.gain(j, scores[j])).filter(|gain| gain.is_finite());
        alpha.iter().sum::<f64>() - gains.sum::<f64>()
    }

    /// How much a feature of score c gains per weight, times the largest weight: what the dual
    /// value loses by it. Infinite where nothing bounds the weight.
    pub fn gain(&self, j: usize, c: f64) -> f64 {
        self.interval(j).priced_gain(c, self.up[j], self.down[j])
    }

    /// Judges the program's w and b on all samples, and keeps them when they are the best so far.
    /// Returns the samples that would have to join.
    fn judge_weights(&self, values: &[f64], best: &mut L1Point) -> Vec<usize> {
        let mut weights: Vec<(usize, f64)> = Vec::new();
        for &part in &self.parts {
            let w = self.units.weight_of(part.feature, values[self.column_of(part)]);
            let w = part.sign() * w.clamp(0.0, self.limit(part));
            if w != 0.0 {
                weights.push((part.feature, w));
            }
        }
        weights.sort_unstable_by_key(|e| e.0);
        // Both parts of a weight may be there where nothing is paid for it.
        weights.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        weights.retain(|e| e.1 != 0.0);
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
        let norm = weights.iter().map(price).sum::<f64>() + bias_price(self.bias, bias);
        if norm + loss < best.primal {
            (best.weights, best.bias, best.loss, best.primal) = (weights.clone(), bias, loss, norm + loss);
        }
        // Where no sample is inside the margin but for rounding, which a large C makes costly, a
        // slightly larger w has no slack at all.
        let least = (0..scores.len()).filter(|&i| self.cost[i] > 0.0).map(slack).fold(0.0, f64::max);
        let longer = (1.0 + 4.0 * f64::EPSILON) / (1.0 - least);
        if least > 0.0 && least < ROUNDING && norm * longer < best.primal {
            let within = weights.iter().all(|&(j, w)| self.interval(j).weight(w * longer) == w * longer);
            let clear = |i: usize| self.cost[i] == 0.0 || labels[i] * scores[i] * longer >= 1.0;
            if within && (0..scores.len()).all(clear) {
                for (_, w) in &mut weights {
                    *w *= longer;
                }
                (best.weights, best.bias, best.loss, best.primal) = (weights, bias * longer, 0.0, norm * longer);
            }
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
    /// the parts most at fault.
    fn judge_alpha(&self, row_duals: &[f64], best: &mut L1Point) -> Vec<WeightSide> {
        let labels = self.problem.labels();
        let mut alpha = vec![0.0; self.cost.len()];
        for (&i, dual) in self.samples.iter().zip(row_duals) {
            alpha[i] = self.units.cost_of(*dual).clamp(0.0, self.cost[i]);
        }
        let side = |y: f64| (0..alpha.len()).filter(|&i| labels[i] == y).map(|i| alpha[i]).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        if self.bias == Bias::Free {
            // HiGHS's tolerance: the heavier class gives the rest away.
            let (y, share) =
                if plus > minus { (1.0, minus / plus) } else { (-1.0, plus / minus.max(f64::MIN_POSITIVE)) };
            (0..alpha.len()).filter(|&i| labels[i] == y).for_each(|i| alpha[i] *= share);
        }
        let signed: Vec<f64> = alpha.iter().zip(labels).map(|(a, y)| a * y).collect();
        let mut scores = vec![0.0; self.bound.len()];
        self.problem.design().dot_columns(0, &signed, &mut scores);
        let fault = |part: WeightSide| self.fault(part, scores[part.feature]);
        let mut missed = Vec::new();
        for feature in (0..scores.len()).filter(|&j| self.bound[j] > 0.0) {
            missed.extend(
                WeightSide::both(feature)
                    .into_iter()
                    .filter(|part| self.find_column(*part).is_none() && fault(*part) > MISSED),
            );
        }
        let most = JOIN.0.max((JOIN.1 * self.parts.len() as f64) as usize);
        if missed.len() > most {
            missed.select_nth_unstable_by(most, |&a, &b| fault(b).total_cmp(&fault(a)).then(a.cmp(&b)));
            missed.truncate(most);
            missed.sort_unstable();
        }
        // Where there is no bound on w, prices bind: a smaller alpha keeps them.
        let mut share: f64 = if let Bias::Penalised(s) = self.bias { 1.0 / (s * (plus - minus).abs()) } else { 1.0 };
        for j in (0..scores.len()).filter(|&j| self.gain(j, scores[j]) == f64::INFINITY) {
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
    fn strongest(&self) -> Vec<WeightSide> {
        let labels = self.problem.labels();
        let side = |y: f64| (0..labels.len()).filter(|&i| labels[i] == y).map(|i| self.cost[i]).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        let share =
            |y: f64| if self.bias == Bias::Free { plus.min(minus) / if y > 0.0 { plus } else { minus } } else { 1.0 };
        let signed: Vec<f64> = labels.iter().zip(&self.cost).map(|(&y, c)| y * c * share(y)).collect();
        let mut scores = vec![0.0; self.bound.len()];
        self.problem.design().dot_columns(0, &signed, &mut scores);
        let size = |j: usize| self.allowed(j).worth(scores[j]);
        let mut order: Vec<usize> = (0..scores.len()).filter(|&j| !self.interval(j).is_zero()).collect();
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(JOIN.0 + labels.len().min(ALL_ROWS) / 4);
        order.into_iter().map(|feature| WeightSide { feature, negative: scores[feature] < 0.0 }).collect()
    }
}

/// What a bias costs under an L1 penalty.
pub(crate) fn bias_price(kind: Bias, bias: f64) -> f64 {
    if let Bias::Penalised(s) = kind { bias.abs() / s } else { 0.0 }
}
