//! The oracle of SVM-RFE: trains on the surviving features and ranks their units.

use serde::{Deserialize, Serialize};

use super::held_out::{HeldOut, HeldOutDecisions, PairMachine};
use super::multiple::ResampledMachines;
use super::pairs::{PairSamples, PairsOracle};
use super::{RfeSettings, Tuned, permitted};
use crate::kernel_oracle::{Criterion, KernelOracle};
use crate::run::state::stranger;
use crate::validation::{CrossValidation, CvScore, SamplesByClass};
use crate::{Clock, DualSolution, Error, Kernel, Oracle, Problem, Rules, Run, Status, Subset};

/// The question of elimination to its oracle.
#[derive(Debug)]
pub(super) enum Question {
    /// Take these features out, train, and name the `count` units of smallest criterion.
    Rank { leaving: Vec<usize>, count: usize },
    /// Take these features out, keep only the best allowed subset by the last criteria, and train
    /// on it.
    KeepBest { leaving: Vec<usize> },
}

/// The answer of the oracle.
#[derive(Debug)]
pub(super) struct Ranking {
    /// Objective of the surviving set.
    pub(super) objective: f64,
    /// (unit, criterion), smallest first.
    pub(super) smallest: Vec<(usize, f64)>,
    /// How far the roots of the criteria are from those of the optimum, as one vector; none where
    /// the training does not say.
    pub(super) error: Option<f64>,
    /// Features that left, with the criteria they left with (only after `KeepBest`).
    pub(super) dropped: Vec<(usize, f64)>,
    /// The start of the next training.
    pub(super) course: Course,
}

/// The start of a training, and the progress of the tuning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Course {
    /// The signed dual point of each machine; none before the first training.
    beta: Vec<Vec<f64>>,
    cost: f64,
    tuned: Vec<Tuned>,
    pub(super) trainings: u64,
    scored: Option<CvScore>,
    /// The signed dual point of each machine of a resample, in a record of its own.
    #[serde(skip)]
    pub(super) resampled: Option<Vec<Vec<f64>>>,
}

/// Trains on the surviving features and ranks their units.
pub(super) struct RankingOracle<'a> {
    engine: Engine<'a>,
    rules: &'a Rules,
    criterion: Criterion,
    validation: Option<CrossValidation<'a>>,
    every: u64,
    trainings: u64,
    tuned: Vec<Tuned>,
    held_out: Option<HeldOut<'a>>,
    /// What ranks in place of the engine, which then trains on what is left in the end.
    resampled: Option<ResampledMachines<'a>>,
}

/// The two ways to train and rank.
enum Engine<'a> {
    /// Linear kernel: updates of the Gram matrix or rows, and lazy weights; the cost.
    Linear(Box<PairsOracle<'a>>, &'a PairSamples<'a>, f64),
    /// Any kernel and number of classes, on one n x n matrix.
    Kernel(Box<KernelOracle<'a>>),
}

impl<'a> RankingOracle<'a> {
    pub(super) fn linear(
        samples: &'a PairSamples<'a>,
        problems: &'a [Problem<'a>],
        rules: &'a Rules,
        subset: &Subset,
        settings: &RfeSettings,
    ) -> Result<Self, Error> {
        let oracle = PairsOracle::new(problems, rules, subset, &settings.svm)?;
        Ok(Self::new(Engine::Linear(Box::new(oracle), samples, settings.svm.cost), rules, settings, None))
    }

    pub(super) fn kernel(
        grouped: &'a SamplesByClass<'a>,
        rules: &'a Rules,
        settings: &RfeSettings,
    ) -> Result<Self, Error> {
        let oracle = KernelOracle::new(grouped, rules, permitted(rules), settings.kernel, &settings.svm)?;
        let validation = |t: &super::Tuning| CrossValidation::new(grouped, &t.folds, &t.costs, &settings.svm);
        let validation = settings.tuning.as_ref().map(validation).transpose()?;
        Ok(Self::new(Engine::Kernel(Box::new(oracle)), rules, settings, validation))
    }

    /// Starts the first trainings from these betas, of each pair's samples.
    ///
    /// # Errors
    /// Betas of other samples.
    pub(super) fn start_from(&mut self, beta: Vec<Vec<f64>>) -> Result<(), Error> {
        self.restore(Course { beta, ..Course::default() }, std::iter::empty())
    }

    fn new(
        engine: Engine<'a>,
        rules: &'a Rules,
        settings: &RfeSettings,
        validation: Option<CrossValidation<'a>>,
    ) -> Self {
        let every = settings.tuning.as_ref().map_or(1, |t| t.retune);
        let (criterion, tuned) = (settings.criterion, Vec::new());
        Self { engine, rules, criterion, validation, every, trainings: 0, tuned, held_out: None, resampled: None }
    }

    /// Records the decision values of these samples at every training from now on.
    pub(super) fn hold_out(&mut self, samples: Option<HeldOut<'a>>) {
        self.held_out = samples;
    }

    /// Ranks by these machines from now on.
    pub(super) fn rank_by(&mut self, machines: Option<ResampledMachines<'a>>) {
        self.resampled = machines;
    }

    /// Whether machines of resamples rank.
    pub(super) fn is_resampled(&self) -> bool {
        self.resampled.is_some()
    }

    fn record(&mut self) {
        if let Some(mut held_out) = self.held_out.take() {
            held_out.record(self.subset(), &self.machines());
            self.held_out = Some(held_out);
        }
    }

    /// The cost of the last training.
    pub(super) fn cost(&self) -> f64 {
        match &self.engine {
            Engine::Linear(.., cost) => *cost,
            Engine::Kernel(oracle) => oracle.cost(),
        }
    }

    /// Every choice of the cost, and the decision values of the samples held out.
    pub(super) fn into_parts(self) -> (Vec<Tuned>, Option<HeldOutDecisions>) {
        (self.tuned, self.held_out.map(HeldOut::into_decisions))
    }

    fn subset(&self) -> &Subset {
        match &self.engine {
            Engine::Linear(oracle, ..) => oracle.subset(),
            Engine::Kernel(oracle) => oracle.subset(),
        }
    }

    fn remove(&mut self, leaving: &[usize]) {
        if let Some(machines) = &mut self.resampled {
            machines.remove(leaving);
        }
        match &mut self.engine {
            Engine::Linear(oracle, ..) => oracle.remove(leaving),
            Engine::Kernel(oracle) => oracle.remove(leaving),
        }
    }

    /// Whether there is a training.
    fn is_trained(&self) -> bool {
        if let Some(machines) = &self.resampled {
            return machines.is_trained();
        }
        match &self.engine {
            Engine::Linear(oracle, ..) => !oracle.solutions().is_empty(),
            Engine::Kernel(oracle) => oracle.machines().is_some(),
        }
    }

    /// Whether the last training, however short, gave any feature a weight.
    fn tells_apart(&self) -> bool {
        if let Some(machines) = &self.resampled {
            return machines.tells_apart();
        }
        let moved = |solution: &DualSolution| solution.beta.iter().any(|b| *b != 0.0);
        match &self.engine {
            Engine::Linear(oracle, ..) => oracle.solutions().into_iter().any(moved),
            Engine::Kernel(oracle) => oracle.machines().is_some_and(|machines| machines.iter().any(moved)),
        }
    }

    /// The machines of the last training, by sample.
    fn machines(&self) -> Vec<PairMachine> {
        let machine = |beta, s: &DualSolution| PairMachine { beta, bias: s.bias, weights: s.weights.clone() };
        match &self.engine {
            Engine::Linear(oracle, samples, _) => oracle.machines(samples),
            Engine::Kernel(oracle) => {
                let solutions = oracle.machines().into_iter().flatten().enumerate();
                solutions.map(|(pair, s)| machine(oracle.grouped().by_sample(pair, &s.beta), s)).collect()
            }
        }
    }

    /// How the elimination ended: stalled where the last training did not end, and not within the gap asked
    /// for. (Kernels that are not positive semi-definite have no gap to speak of.)
    pub(super) fn earned(&self, status: Status, run: &Run<'_>) -> Status {
        let machines: Vec<&DualSolution> = match &self.engine {
            Engine::Linear(oracle, ..) => oracle.solutions(),
            Engine::Kernel(oracle) => oracle.machines().into_iter().flatten().collect(),
        };
        let (primal, dual) = machines.iter().fold((0.0, 0.0), |sum, m| (sum.0 + m.primal, sum.1 + m.dual));
        let stalled = machines.iter().any(|m| m.status != Status::Optimal) && !self.is_indefinite();
        if status == Status::Completed && stalled && !run.is_within_asked(primal, dual) {
            Status::Stalled
        } else {
            status
        }
    }

    fn is_indefinite(&self) -> bool {
        matches!(&self.engine, Engine::Kernel(oracle) if matches!(oracle.kernel(), Kernel::Sigmoid { .. }))
    }

    fn objective(&self) -> f64 {
        match &self.engine {
            Engine::Linear(oracle, ..) if oracle.solutions().is_empty() => f64::INFINITY,
            Engine::Linear(oracle, ..) => oracle.solutions().iter().map(|s| s.primal).sum(),
            Engine::Kernel(oracle) => oracle.machines().map_or(f64::INFINITY, |m| m.iter().map(|s| s.primal).sum()),
        }
    }

    /// The `count` units of smallest criterion; where time is over before a costly criterion is
    /// known of all, by their squared weights.
    fn smallest(&mut self, count: usize, clock: &Clock) -> Vec<(usize, f64)> {
        if let Some(machines) = &self.resampled {
            return machines.smallest(count);
        }
        let share = self.share_of_squares();
        match &mut self.engine {
            Engine::Linear(oracle, ..) => {
                oracle.smallest(count).into_iter().map(|(unit, criterion)| (unit, share * criterion)).collect()
            }
            Engine::Kernel(oracle) => {
                let mut ranking = oracle.ranking(self.criterion, clock).unwrap_or_else(|| oracle.ranking_by_weights());
                ranking.truncate(count);
                ranking
            }
        }
    }

    /// How far the roots of the criteria are from those of the optimum: a root is the norm of a
    /// unit's weights, of all pairs of classes.
    fn error(&self) -> Option<f64> {
        if self.is_resampled() {
            return None;
        }
        let solutions: Vec<&DualSolution> = match (&self.engine, self.criterion) {
            (Engine::Linear(oracle, ..), _) => oracle.solutions(),
            (Engine::Kernel(oracle), Criterion::Weights) => oracle.machines()?.iter().collect(),
            (Engine::Kernel(_), _) => return None,
        };
        Some((self.share_of_squares() * solutions.iter().map(|s| s.weight_error().powi(2)).sum::<f64>()).sqrt())
    }

    /// Factor on the squared weights in the criterion of a linear machine.
    fn share_of_squares(&self) -> f64 {
        if self.criterion == Criterion::Margin { 0.5 } else { 1.0 }
    }

    /// The start of the next training.
    fn course(&self) -> Course {
        let (beta, scored) = match &self.engine {
            Engine::Linear(oracle, ..) => (oracle.solutions().iter().map(|s| s.beta.clone()).collect(), None),
            Engine::Kernel(oracle) => {
                let beta = oracle.machines().into_iter().flatten().map(|machine| machine.beta.clone());
                (beta.collect(), oracle.scored().cloned())
            }
        };
        let resampled = self.resampled.as_ref().map(ResampledMachines::betas);
        Course { beta, cost: self.cost(), tuned: self.tuned.clone(), trainings: self.trainings, scored, resampled }
    }

    /// Resumes from a course of an earlier run, whose steps took out these features.
    ///
    /// # Errors
    /// A course over other samples.
    pub(super) fn restore<'b>(
        &mut self,
        course: Course,
        steps: impl Iterator<Item = &'b [usize]>,
    ) -> Result<(), Error> {
        // One step after the other, so that sums are rounded as they were.
        let resampled = self.is_resampled();
        steps.for_each(|leaving| match &mut self.engine {
            _ if resampled => self.remove(leaving),
            Engine::Linear(oracle, ..) => oracle.remove(leaving),
            Engine::Kernel(oracle) => oracle.remove_again(leaving),
        });
        if let (Some(machines), Some(betas)) = (&mut self.resampled, course.resampled) {
            machines.start_from(betas)?;
        }
        (self.tuned, self.trainings) = (course.tuned, course.trainings);
        match &mut self.engine {
            Engine::Linear(oracle, ..) => oracle.start_from(course.beta)?,
            Engine::Kernel(oracle) => {
                let (ranges, pairs) = (oracle.grouped().ranges(), oracle.grouped().pairs());
                let length = |pair: &(usize, usize)| ranges[pair.0].len() + ranges[pair.1].len();
                let lengths: Vec<usize> = course.beta.iter().map(Vec::len).collect();
                if !lengths.is_empty() && lengths != pairs.iter().map(length).collect::<Vec<_>>() {
                    return Err(stranger("it has other samples or classes"));
                }
                oracle.set_cost(course.cost);
                if !lengths.is_empty() {
                    oracle.start_training_from(course.beta.into_iter().map(DualSolution::unjudged).collect());
                }
                if let Some(scored) = course.scored {
                    oracle.start_from(scored);
                }
            }
        }
        Ok(())
    }

    /// Trains the machines of the resamples, and, where they are asked for, those of all samples.
    fn train_all(&mut self, run: &mut Run<'_>, share: f64, whole: bool) {
        if let Some(machines) = &mut self.resampled {
            self.trainings += 1;
            run.counts.solver_iterations += machines.train(self.trainings, &run.wind_up(share));
        }
        if whole || self.resampled.is_none() {
            self.train(run, share);
        }
    }

    /// Chooses the cost when it is due, then trains until the gap is met or a limit is reached, and
    /// then for this share of what winding up may take.
    fn train(&mut self, run: &mut Run<'_>, share: f64) {
        if let (Engine::Kernel(oracle), Some(validation)) = (&mut self.engine, &self.validation)
            && self.trainings.is_multiple_of(self.every)
            && let Some(scored) = oracle.cross_validate(validation, &run.clock())
        {
            let (at, accuracy) = scored.best();
            run.counts.solver_iterations += scored.iterations;
            let (cost, n_features) = (validation.costs()[at], oracle.subset().len());
            oracle.set_cost(cost);
            self.tuned.push(Tuned { step: self.trainings + 1, n_features, cost, accuracy });
        }
        self.trainings += u64::from(self.resampled.is_none());
        let clock = run.wind_up(share);
        let iterations: u64 = match &mut self.engine {
            Engine::Linear(oracle, ..) => oracle.train(&clock).iter().map(|s| s.iterations).sum(),
            Engine::Kernel(oracle) => oracle.train(&run.late_clock(share)).iter().map(|s| s.iterations).sum(),
        };
        run.counts.solver_iterations += iterations;
    }
}

impl Oracle for RankingOracle<'_> {
    type Query = Question;
    type Answer = Ranking;

    fn ask(&mut self, question: &Question, run: &mut Run<'_>) -> Result<Ranking, Error> {
        let mut dropped = Vec::new();
        let (count, stale) = match question {
            Question::Rank { leaving, count } => {
                self.remove(leaving);
                (*count, !leaving.is_empty() || !self.is_trained())
            }
            Question::KeepBest { leaving } => {
                self.remove(leaving);
                // Even a training that was cut short tells features apart; one that found nothing
                // has half of what may still be taken.
                if !self.tells_apart() {
                    self.train_all(run, 0.5, false);
                }
                let clock = run.wind_up(1.0);
                let criteria = self.smallest(usize::MAX, &clock);
                dropped = keep_best(self.rules, &criteria, self.subset(), &clock);
                self.remove(&dropped.iter().map(|left| left.0).collect::<Vec<usize>>());
                (usize::MAX, true)
            }
        };
        let last = matches!(question, Question::KeepBest { .. }) || self.rules.allows(self.subset());
        if stale {
            let share = if matches!(question, Question::KeepBest { .. }) { 1.0 } else { 0.0 };
            self.train_all(run, share, last || self.held_out.is_some());
        }
        let smallest = self.smallest(count, &run.clock());
        // A training that was cut short says little, unless it is the last one.
        if run.stop().is_none() || last {
            self.record();
        }
        Ok(Ranking { objective: self.objective(), smallest, error: self.error(), dropped, course: self.course() })
    }
}

/// What leaves so that the survivors of largest criteria that the rules allow are left, and the
/// criterion that each feature leaves with. `criteria` are those of the units of all survivors.
pub(super) fn keep_best(
    rules: &Rules,
    criteria: &[(usize, f64)],
    survivors: &Subset,
    clock: &Clock,
) -> Vec<(usize, f64)> {
    // A little more than nothing for weights of 0, so that as many features stay as the rules
    // allow; -1e100 stands for "not among the survivors": no rule can make that feature pay. The
    // margin criterion can be negative, and then all are raised.
    //
    // A criterion without end is worth twice the largest that has one.
    let finite = criteria.iter().map(|c| c.1.abs()).filter(|c| c.is_finite()).fold(0.0, f64::max);
    let largest = if criteria.iter().any(|c| c.1 == f64::INFINITY) { 2.0 * finite.max(0.5) } else { finite };
    let little = 1e-9 * if largest > 0.0 { largest } else { 1.0 };
    let raise = criteria.iter().map(|c| -c.1).fold(0.0, f64::max) + little;
    let mut gains = vec![-1e100; rules.p()];
    for &(u, criterion) in criteria {
        let unit = rules.unit(u);
        for &j in unit {
            gains[j] = criterion.min(largest) / unit.len() as f64 + raise;
        }
    }
    let best = best_of(rules, &gains, survivors, clock);
    survivors.difference(&best).map(|j| (j, gains[j])).collect()
}

/// The allowed subset of largest gain; once the clock says stop, an allowed one of large gain. It
/// holds survivors alone: those that do not survive have gains far below 0.
pub(in crate::method) fn best_of(rules: &Rules, gains: &[f64], survivors: &Subset, clock: &Clock) -> Subset {
    let best = rules.best_subset_until(gains, Rules::EXACT, clock).subset;
    if best.difference(survivors).next().is_none() {
        return best;
    }
    rules.subset_within(survivors).expect("the survivors hold an allowed subset")
}
