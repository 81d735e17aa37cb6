//! SVM-RFE: ranks features by dropping those of smallest squared weight, and returns the first surviving set the rules allow.
//!
//! Solves   nothing exactly: a greedy descent on `v(z)`, the optimum of the linear SVM (any loss and bias) on subset z.
//! Paper    Guyon, Weston, Barnhill, Vapnik, Machine Learning 46 (2002), section 3; Krupka 2016, Algorithm 1.
//! Given    Problem (n samples, p features), Rules, [`RfeSettings`].      Returns  subset, its objective, the full ranking; no bound.
//! Steps    1. train on the surviving features  2. rank them by w_j^2 (a unit by the sum over its features)
//!          3. drop the smallest that the rules let go, `step` at a time  4. until the rules allow what survives
//! Rules    a feature may go when no survivor implies it and what is left still holds an allowed subset (a witness is kept);
//!          features joined by `together` go as one unit.
//! Cost     per step, p >> n and dense: n^2 for the Gram matrix, a warm-started training, a few columns of length n
//!          ([`crate::subset_oracle`]); memory: the Gram matrix. Otherwise one warm-started training on rows.
//! Differs  from the paper: weights are compared at a tight duality gap, so that the order is not the solver's noise;
//!          in a tie the feature of larger index goes first.
//! Fails    never on limits: what the last ranking says is then applied at once, and the status says so.

use std::time::Duration;

use crate::subset_oracle::SubsetOracle;
use crate::{
    Choice, Error, Event, Limits, Master, Next, Observer, Oracle, Problem, Ranked, Rules, Run, Selection, Sense,
    Status, Subset, SvmSettings, drive,
};

/// What a training may still take after a limit was reached, so that the reported objective means something.
const WIND_UP: Duration = Duration::from_secs(1);

/// How many features leave in one step.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// This many, at least 1.
    Count(usize),
    /// This share of the features that remain, in (0, 1), rounded down, at least 1.
    Remaining(f64),
    /// This share of the features at the start, in (0, 1), rounded down, at least 1 (scikit-learn's rule).
    Original(f64),
}

/// Settings of [`rfe`].
#[derive(Debug, Clone, PartialEq)]
pub struct RfeSettings {
    /// The SVM trained at every step; its kernel is linear. Default as [`SvmSettings`], but with tolerance 1e-9.
    pub svm: SvmSettings,
    /// Features per step. Default 1. "Halving" is `Remaining(0.5)`.
    pub step: Step,
}

impl Default for RfeSettings {
    fn default() -> Self {
        Self { svm: SvmSettings { tolerance: 1e-9, ..SvmSettings::default() }, step: Step::Count(1) }
    }
}

impl RfeSettings {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting out of range.
    pub fn check(&self) -> Result<(), Error> {
        self.svm.check()?;
        match self.step {
            Step::Count(0) => Err(Error::setting("step", 0, "at least 1")),
            Step::Remaining(f) | Step::Original(f) if !(f > 0.0 && f < 1.0) => {
                Err(Error::setting("step", f, "a share between 0 and 1, or a whole number of features"))
            }
            _ => Ok(()),
        }
    }
}

/// SVM-RFE: drops the features of smallest squared weight until the rules (size, budget, ...) hold. Features the rules
/// forbid are never trained on.
///
/// # Errors
/// Settings out of range.
pub fn rfe(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    settings.check()?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let mut oracle = RankingOracle::new(problem, rules, settings)?;
    let mut master = Elimination::new(rules, settings.step);
    let status = drive(&mut oracle, &mut master, &mut run)?;
    Ok(Selection { ranking: master.ranking(), solutions: Vec::new(), outcome: run.finish(status) })
}

/// What elimination asks.
#[derive(Debug)]
enum Question {
    /// Take these features out, train, and name the `count` units of smallest criterion.
    Rank { leaving: Vec<usize>, count: usize },
    /// Take these features out, keep only the best allowed subset by the last criteria, and train on it.
    KeepBest { leaving: Vec<usize> },
}

/// What it learns.
#[derive(Debug)]
struct Ranking {
    /// Objective of the surviving set.
    objective: f64,
    /// (unit, criterion), smallest first.
    smallest: Vec<(usize, f64)>,
    /// Features that left, with the criteria they left with (only after `KeepBest`).
    dropped: Vec<(usize, f64)>,
}

/// Trains on the surviving features and ranks their units.
struct RankingOracle<'a> {
    oracle: SubsetOracle<'a>,
    rules: &'a Rules,
}

impl<'a> RankingOracle<'a> {
    fn new(problem: &'a Problem<'a>, rules: &'a Rules, settings: &RfeSettings) -> Result<Self, Error> {
        Ok(Self { oracle: SubsetOracle::new(problem, rules, permitted(rules), &settings.svm)?, rules })
    }

    /// Trains until the gap is met or `grace` after a limit was reached.
    fn train(&mut self, run: &mut Run<'_>, grace: Duration) {
        let over = run.elapsed() + grace;
        let solution = self.oracle.train(&mut || run.stop().filter(|_| run.elapsed() >= over));
        run.counts.solver_iterations += solution.iterations;
    }
}

impl Oracle for RankingOracle<'_> {
    type Query = Question;
    type Answer = Ranking;

    fn ask(&mut self, question: &Question, run: &mut Run<'_>) -> Result<Ranking, Error> {
        let mut dropped = Vec::new();
        let (count, stale) = match question {
            Question::Rank { leaving, count } => {
                self.oracle.remove(leaving);
                (*count, !leaving.is_empty() || self.oracle.solution().is_none())
            }
            Question::KeepBest { leaving } => {
                self.oracle.remove(leaving);
                if self.oracle.solution().is_none_or(|s| s.status.is_limit()) {
                    self.train(run, WIND_UP);
                }
                let criteria: Vec<(usize, f64)> =
                    self.oracle.units().iter().map(|&u| (u, self.oracle.criterion(u))).collect();
                // A little more than nothing for weights of 0, so that as many features stay as the rules allow; -1e100
                // stands for "not among the survivors": no rule can make such a feature pay.
                let little = 1e-9 * criteria.iter().map(|c| c.1).fold(1e-9, f64::max);
                let mut gains = vec![-1e100; self.rules.p()];
                for (u, criterion) in criteria {
                    let unit = self.rules.unit(u);
                    for &j in unit {
                        gains[j] = criterion / unit.len() as f64 + little;
                    }
                }
                let (best, _) = self.rules.best_subset(&gains).expect("the survivors hold an allowed subset");
                let leaving: Vec<usize> = self.oracle.subset().difference(&best).collect();
                dropped = leaving.iter().map(|&j| (j, gains[j])).collect();
                self.oracle.remove(&leaving);
                (self.oracle.units().len(), true)
            }
        };
        if stale {
            self.train(run, if matches!(question, Question::KeepBest { .. }) { WIND_UP } else { Duration::ZERO });
        }
        let smallest = self.oracle.smallest(count);
        let objective = self.oracle.solution().map_or(f64::INFINITY, |s| s.primal);
        Ok(Ranking { objective, smallest, dropped })
    }
}

/// Every feature the rules do not forbid.
fn permitted(rules: &Rules) -> Subset {
    let units = (0..rules.n_units()).filter(|&u| rules.root()[u] != Choice::Out);
    Subset::from_indices(rules.p(), units.flat_map(|u| rules.unit(u).iter().copied()))
}

/// The master: who survives, who left when, and who may leave.
struct Elimination<'a> {
    rules: &'a Rules,
    step: Step,
    /// Features the elimination started with.
    start: usize,
    survivors: Subset,
    /// An allowed subset of the survivors.
    witness: Subset,
    /// Units that may never leave any more.
    locked: Vec<bool>,
    /// Step number of the features in `left`.
    steps: u64,
    left: Vec<Ranked>,
    /// Criteria of the survivors, once known for all of them.
    last: Vec<(usize, f64)>,
    leaving: Vec<usize>,
    count: usize,
    finished: bool,
}

impl<'a> Elimination<'a> {
    fn new(rules: &'a Rules, step: Step) -> Self {
        let survivors = permitted(rules);
        let forbidden = (0..rules.p()).filter(|&j| !survivors.contains(j));
        let left = forbidden.map(|feature| Ranked { feature, rank: 0, step: Some(0), criterion: 0.0 }).collect();
        let witness = rules.subset_within(&survivors).expect("Rules::new found an allowed subset");
        let locked = rules.root().iter().map(|&c| c == Choice::In).collect();
        let mut master = Self {
            rules,
            step,
            start: survivors.len(),
            survivors,
            witness,
            locked,
            steps: 0,
            left,
            last: Vec::new(),
            leaving: Vec::new(),
            count: 0,
            finished: false,
        };
        master.count = master.candidates();
        master
    }

    /// Features to drop in the next step: the step size, but not past the size rule.
    fn quota(&self) -> usize {
        let now = self.survivors.len();
        let step = match self.step {
            Step::Count(k) => k,
            Step::Remaining(f) => (f * now as f64) as usize,
            Step::Original(f) => (f * self.start as f64) as usize,
        };
        let above = now.saturating_sub(self.rules.list().max_features.unwrap_or(now));
        if above > 0 { step.clamp(1, above) } else { step.max(1) }
    }

    /// Units to ask for: those that will leave and some spare for what the rules hold back; all, when this may be the end.
    fn candidates(&self) -> usize {
        if self.rules.allows(&self.survivors) { self.survivors.len() } else { self.quota() + 4 }
    }

    /// Whether the rules let unit u go now.
    fn may_leave(&mut self, u: usize) -> bool {
        let rules = self.rules;
        let first = rules.unit(u)[0];
        if self.locked[u] || rules.needed_by(u).iter().any(|&by| self.survivors.contains(rules.unit(by)[0])) {
            return false;
        }
        if self.witness.contains(first) {
            let mut rest = self.survivors.clone();
            for &j in rules.unit(u) {
                rest.remove(j);
            }
            match rules.subset_within(&rest) {
                Some(witness) => self.witness = witness,
                None => self.locked[u] = true,
            }
        }
        !self.locked[u]
    }
}

impl<'a> Master<RankingOracle<'a>> for Elimination<'a> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question>, Error> {
        if self.finished {
            return Ok(Next::Done(Status::Completed));
        }
        let (done, total) =
            (self.left.len() as u64, self.rules.list().max_features.map(|k| (self.rules.p() - k) as u64));
        run.tell(&Event::Progress { done, total, elapsed: run.elapsed() });
        Ok(Next::Ask(Question::Rank { leaving: std::mem::take(&mut self.leaving), count: self.count }))
    }

    fn learn(&mut self, question: Question, answer: Ranking, run: &mut Run<'_>) -> Result<(), Error> {
        if matches!(question, Question::KeepBest { .. }) {
            self.steps += 1;
            let mut dropped = answer.dropped;
            dropped.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            for (feature, criterion) in dropped {
                self.survivors.remove(feature);
                self.left.push(Ranked { feature, rank: 0, step: Some(self.steps), criterion });
            }
        }
        if self.rules.allows(&self.survivors) {
            run.offer(&self.survivors, answer.objective);
            self.last = answer.smallest;
            self.finished = true;
            return Ok(());
        }
        if run.stop().is_some() {
            // A training that was cut short ranks nothing; the survivors stay as they are until the wind-up.
            return Ok(());
        }
        // Step 3.
        let quota = self.quota();
        let asked_for_all = answer.smallest.len() < self.count;
        self.steps += 1;
        for (u, criterion) in answer.smallest {
            if self.leaving.len() >= quota || (!self.leaving.is_empty() && self.rules.allows(&self.survivors)) {
                break;
            }
            if self.may_leave(u) {
                for &feature in self.rules.unit(u) {
                    self.survivors.remove(feature);
                    self.leaving.push(feature);
                    self.left.push(Ranked { feature, rank: 0, step: Some(self.steps), criterion });
                    run.tell(&Event::Eliminated { step: self.steps, feature, criterion });
                }
            }
        }
        if self.leaving.is_empty() {
            // The rules held back every unit named: ask again for more of them.
            assert!(!asked_for_all, "a witness inside the survivors leaves some unit free to go");
            self.steps -= 1;
            self.count *= 2;
        } else {
            self.count = self.candidates();
        }
        Ok(())
    }

    fn wind_up(&mut self, _: &mut Run<'_>) -> Option<Question> {
        (!self.finished).then(|| Question::KeepBest { leaving: std::mem::take(&mut self.leaving) })
    }
}

impl Elimination<'_> {
    /// All features, best first: survivors by their last criterion, then those that left, last ones first.
    fn ranking(mut self) -> Vec<Ranked> {
        for &(u, criterion) in &self.last {
            for &feature in self.rules.unit(u) {
                self.left.push(Ranked { feature, rank: 0, step: None, criterion });
            }
        }
        self.left.reverse();
        for (at, ranked) in self.left.iter_mut().enumerate() {
            ranked.rank = at + 1;
        }
        self.left
    }
}
