//! SMO: sequential minimal optimisation of the SVM dual for any kernel, with second-order working
//! sets and shrinking.
//!
//! Solves   the dual of [`super`] for any kernel matrix, any loss and bias.
//! Paper    Platt 1998; Keerthi et al. 2001 (violating pair); Fan, Chen, Lin, JMLR 2005, WSS 2
//!          (second-order choice); Joachims 1999 and Chang, Lin 2011, section 4 (shrinking, cache).
//! Given    [`KernelRows`], [`BoxDual`], a start (optional), settings.
//! Returns  beta, scores f = K beta, bias.
//! Steps    with the dual gradient `v_t = y_t - f_t - ridge_t beta_t - s^2 sum beta`:
//!          1. i = argmax {v_t : beta_t < upper_t}
//!          2. j = the partner among {beta_t > lower_t} with the largest gain
//!             `(v_i - v_t)^2 / curvature`
//!          3. beta_i += d, beta_j -= d, d the Newton step cut to the box;  v -= d (K_i - K_j)
//!          4. now and then: the duality gap over the active samples; stop, or drop samples that
//!             sit at a bound
//!          5. before stopping: v of all samples in full, in f64, samples that violate come back
//!          6. where the whole matrix is stored: rounds of the active-set method
//!             ([`super::active_set`]), at once from a warm start, else after n pair steps; it ends
//!             the slow tail of pair steps on ill-conditioned free sets
//!          Without the equality (penalised or no bias) one variable moves at a time: 1'. the
//!          largest gain `v^2 / K_tt`.
//! Cost     per step O(active samples) and two kernel rows; memory: the rows' cache and 6 n
//!          numbers.
//! Differs  from LIBSVM: signed variables, so rows need no labels; stopping on the relative duality
//!          gap; rows in f32 are corrected by step 5 (an iterative refinement), so the gap reported
//!          is that of the f64 problem.
//! Fails    never; a limit or numerical end is a status. A run that is stopped where there is no
//!          time for step 5 keeps its beta and bias; its objectives are those of the last step 5.

mod active;
mod loops;
mod schedule;
mod settle;

pub use settle::{Room, settle};

use active::{Active, Pair};
use loops::largest_growing;
use schedule::{ExactSchedule, GapSchedule, Pace, exact_cost, shrink_period};

use std::time::{Duration, Instant};

use super::active_set::ActiveSet;
use super::{Bias, BoxDual, DualSolution, SvmSettings, kkt};
use crate::kernel::rows::KernelRows;
use crate::{Clock, Status};

/// Numbers that steer the method, chosen by hand; `make bench-train` shows what a change costs.
mod tuning {
    /// A pair or variable violating by less than this (in units of the margin) cannot be improved
    /// in f64.
    pub(super) const LEAST_VIOLATION: f64 = 1e-14;
    /// Fresh evaluations in a row that do not halve the gap before it gives up.
    pub(super) const PATIENCE: u32 = 3;
    /// Windows of steps that closing the gap may take at the pace of the last one.
    pub(super) const MOST_WINDOWS: f64 = 10_000.0;
    /// From a relative gap above this, pair steps come before the exact ones, which move one variable
    /// each...
    pub(super) const FAR: f64 = 0.03;
    /// ... unless there are fewer samples than this: exact steps are cheap then.
    pub(super) const FEW: usize = 256;
    /// Shrinking that leaves more than this share of the samples is not worth compacting the cached
    /// rows.
    pub(super) const WORTH_SHRINKING: f64 = 0.9;
}
use tuning::{LEAST_VIOLATION, PATIENCE};

/// Pair steps between two checks of the limits in a run on computed rows.
const ASKS: u64 = 16;
/// Time that the evaluation of the last beta may take once a limit was reached.
const JUDGING: Duration = Duration::from_millis(100);

/// Best beta for the kernel rows given. `memory` carries the free set from one training to the next
/// (first, [`ActiveSet::default`]). `weights` of the solution are left empty: only linear
/// callers know the features.
pub fn solve<R: KernelRows>(
    rows: &mut R,
    dual: &BoxDual,
    start: Option<&[f64]>,
    memory: &mut ActiveSet,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    let mut solver = Solver::new(rows, dual, start, memory, settings);
    let status = loop {
        // Steps 1 and 2.
        let pair = solver.choose();
        // Steps 4 and 5.
        match solver.check(&pair, clock) {
            Check::Done(status) => break status,
            Check::Restart => {
                solver.first();
                continue;
            }
            Check::Step => {}
        }
        solver.iterations += 1;
        // Step 6.
        if solver.exact_steps(clock) {
            solver.first();
            continue;
        }
        // Step 3.
        solver.step(&pair);
    };
    solver.memory.trained();
    solver.solution(status)
}

/// The problem, the point, and when to do what besides pair steps.
struct Solver<'a, R: KernelRows> {
    rows: &'a mut R,
    dual: &'a BoxDual,
    settings: &'a SvmSettings,
    memory: &'a mut ActiveSet,
    /// Feasible beta of all samples at the last evaluation.
    beta: Vec<f64>,
    evaluation: Evaluation,
    active: Active,
    /// Step 1: the variable that grows, and its v.
    i: usize,
    top: f64,
    /// s^2 of a penalised bias.
    shift: f64,
    iterations: u64,
    /// Most iterations.
    cap: u64,
    /// Whether every sample is active and v is fresh.
    is_fresh: bool,
    /// Bias and violation of a beta that there was no time to evaluate.
    unjudged: Option<(f64, f64)>,
    /// Evaluations in a row that brought nothing.
    idle: u32,
    schedule: GapSchedule,
    pace: Pace,
    next_shrink: u64,
    exact: ExactSchedule,
}

/// The action that the check of the gap asks for.
enum Check {
    /// A pair step.
    Step,
    /// Step 1 on an active part that changed.
    Restart,
    /// The end.
    Done(Status),
}

impl<'a, R: KernelRows> Solver<'a, R> {
    fn new(
        rows: &'a mut R,
        dual: &'a BoxDual,
        start: Option<&[f64]>,
        memory: &'a mut ActiveSet,
        settings: &'a SvmSettings,
    ) -> Self {
        let n = dual.len();
        let mut beta = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
        let evaluation = Evaluation::new(rows, dual, &mut beta);
        let active = Active::all(rows, dual, &beta, &evaluation);
        let exact = ExactSchedule::new(n, memory.is_new(), evaluation.gap());
        let (i, top) = largest_growing(&active.v, &active.grow);
        Self {
            i,
            top,
            shift: dual.bias_square(),
            iterations: 0,
            cap: settings.max_epochs.saturating_mul(n.max(1) as u64),
            is_fresh: true,
            unjudged: None,
            idle: 0,
            schedule: GapSchedule::new(active.len()),
            pace: Pace::new(n, 0, active.value),
            next_shrink: shrink_period(n),
            exact,
            rows,
            dual,
            settings,
            memory,
            beta,
            evaluation,
            active,
        }
    }

    /// Step 1.
    #[inline]
    fn first(&mut self) {
        (self.i, self.top) = largest_growing(&self.active.v, &self.active.grow);
    }

    /// Steps 1 and 2.
    #[inline]
    fn choose(&mut self) -> Pair {
        match self.dual.bias {
            Bias::Free => Pair::choose(self.rows, &self.active, self.i, self.top),
            Bias::Penalised(_) | Bias::None => Pair::choose_one(&self.active),
        }
    }

    /// Step 3: moves the pair, and finds the next i on the way.
    #[inline]
    fn step(&mut self, pair: &Pair) {
        (self.i, self.top) = self.active.step(self.rows, self.dual, pair, self.shift);
    }

    /// Steps 4 and 5, where it is time for them.
    #[inline]
    fn check(&mut self, pair: &Pair, clock: &Clock) -> Check {
        // Rows that are computed take milliseconds each where samples are many.
        if self.iterations.is_multiple_of(ASKS)
            && self.rows.whole().is_none()
            && let Some(limit) = clock.stop()
        {
            return self.end(limit, pair);
        }
        // A variable that moves alone is measured by its own v, not by that of step 1.
        let scale = if self.dual.bias == Bias::Free { self.top.abs() } else { 0.0 };
        let is_rounding = pair.violation <= LEAST_VIOLATION * (1.0 + scale);
        if !is_rounding && !self.schedule.due(pair.violation, self.iterations) {
            self.is_fresh = false;
            return Check::Step;
        }
        self.check_gap(pair, is_rounding, clock)
    }

    /// Step 4: the gap over the active samples; evaluates all samples, drops some, or ends at a
    /// limit.
    fn check_gap(&mut self, pair: &Pair, is_rounding: bool, clock: &Clock) -> Check {
        let (gap, primal) = self.active.gap(self.dual, pair.middle);
        let is_over = is_rounding | self.pace.hopeless(self.iterations, self.active.value, gap);
        let allowed = self.settings.tolerance * primal.abs();
        self.schedule.checked(pair.violation, gap, allowed, self.iterations);
        if gap <= allowed || is_over {
            if self.is_fresh && gap <= allowed {
                return Check::Done(Status::Optimal);
            }
            return self.evaluate_all(pair, clock);
        }
        if self.iterations >= self.next_shrink && self.rows.can_shrink() {
            self.next_shrink = self.iterations + shrink_period(self.dual.len());
            self.active.write_back(&mut self.beta);
            if self.active.shrink(self.rows, self.dual, pair.middle, pair.violation) {
                self.is_fresh = false;
                return Check::Restart;
            }
        }
        let limit = if self.iterations >= self.cap { Some(Status::CallLimit) } else { clock.stop() };
        if let Some(limit) = limit {
            return self.end(limit, pair);
        }
        self.is_fresh = false;
        Check::Step
    }

    /// The end at a limit, judged if there is time.
    fn end(&mut self, limit: Status, pair: &Pair) -> Check {
        let in_time = Clock::until(Instant::now() + JUDGING);
        self.evaluate(pair, &if limit == Status::CallLimit { Clock::unlimited() } else { in_time });
        Check::Done(limit)
    }

    /// Scores and objectives of all samples in full, in f64. False where the clock left no time.
    fn evaluate(&mut self, pair: &Pair, clock: &Clock) -> bool {
        self.active.write_back(&mut self.beta);
        let judged = Evaluation::until(self.rows, self.dual, &mut self.beta, clock);
        let in_time = judged.is_some();
        if let Some(evaluation) = judged {
            self.evaluation = evaluation;
        } else {
            let bias = match self.dual.bias {
                Bias::Free => pair.middle,
                Bias::Penalised(_) | Bias::None => self.shift * self.beta.iter().sum::<f64>(),
            };
            self.unjudged = Some((bias, pair.violation));
        }
        in_time
    }

    /// Step 5: every sample comes back, unless the gap is met or nothing is left to gain.
    fn evaluate_all(&mut self, pair: &Pair, clock: &Clock) -> Check {
        let (before, n) = (self.evaluation.gap(), self.dual.len());
        let was_shrunk = self.active.len() < n;
        if !self.evaluate(pair, clock) {
            return Check::Done(clock.stop().expect("only a limit stops it"));
        }
        if self.evaluation.gap() <= self.settings.tolerance {
            return Check::Done(Status::Optimal);
        }
        let progress = was_shrunk || self.evaluation.gap() < 0.5 * before;
        self.idle = if progress { 0 } else { self.idle + 1 };
        if self.idle > PATIENCE {
            return Check::Done(Status::Stalled);
        }
        self.active.restore(self.rows, self.dual, &self.beta, &self.evaluation);
        self.is_fresh = true;
        self.pace = Pace::new(n, self.iterations, self.active.value);
        self.schedule = GapSchedule::new(self.active.len());
        self.next_shrink = self.iterations + shrink_period(n);
        Check::Restart
    }

    /// Step 6, where it is time for it and there is a whole matrix; returns whether it was done.
    #[inline]
    fn exact_steps(&mut self, clock: &Clock) -> bool {
        if self.iterations < self.exact.next {
            return false;
        }
        let Some(gram) = self.rows.whole() else { return false };
        let active = &mut self.active;
        if !self.exact.is_worth_it(self.iterations, || exact_cost(active.free(), self.dual.len())) {
            return false;
        }
        let rounds = 50 + active.len() as u64 / 4;
        let used = active.exact_steps(gram, self.dual, self.memory, rounds, self.settings.tolerance, clock);
        self.iterations += used;
        self.exact.done(self.iterations, used);
        true
    }

    fn solution(self, status: Status) -> DualSolution {
        let Evaluation { scores, objectives } = self.evaluation;
        let judged = || (objectives.bias, kkt::residual(self.dual, &self.beta, &scores));
        let (bias, kkt_residual) = self.unjudged.unwrap_or_else(judged);
        DualSolution {
            kkt_residual,
            beta: self.beta,
            bias,
            weights: Vec::new(),
            primal: objectives.primal,
            dual: objectives.dual,
            absolute_gap: objectives.absolute_gap,
            iterations: self.iterations,
            status,
        }
    }
}

/// A feasible beta with its f64 scores and objectives.
struct Evaluation {
    scores: Vec<f64>,
    objectives: kkt::Objectives,
}

impl Evaluation {
    /// Makes beta feasible and evaluates it.
    fn new<R: KernelRows>(rows: &R, dual: &BoxDual, beta: &mut [f64]) -> Self {
        Self::until(rows, dual, beta, &Clock::unlimited()).expect("nothing stops it")
    }

    /// Makes beta feasible, and evaluates it unless `clock` says that there is no time.
    fn until<R: KernelRows>(rows: &R, dual: &BoxDual, beta: &mut [f64], clock: &Clock) -> Option<Self> {
        kkt::make_feasible(dual, beta);
        let zero = beta.iter().all(|&b| b == 0.0);
        let scores = if zero { vec![0.0; dual.len()] } else { rows.scores_until(beta, clock)? };
        let objectives = kkt::objectives(dual, beta, &scores);
        Some(Self { scores, objectives })
    }

    fn gap(&self) -> f64 {
        kkt::relative_gap(self.objectives.primal, self.objectives.dual)
    }
}
