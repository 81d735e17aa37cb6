//! The master of SVM-RFE: who survives, who left when, and who may leave.

use super::oracle::{Course, Question, Ranking};
use super::{RfeSettings, Step, permitted};
use crate::subset_oracle::by_criterion;
use crate::{Choice, Error, Event, Master, Next, Oracle, Ranked, Rules, Run, Status, Subset};

/// Decides which units may leave under the rules.
pub(crate) struct RemovalRules<'a> {
    rules: &'a Rules,
    /// A small allowed subset of the survivors, ascending: a check of all survivors for each
    /// unit that leaves would cost p^2.
    witness: Vec<usize>,
    /// Units that may never leave any more.
    locked: Vec<bool>,
}

impl<'a> RemovalRules<'a> {
    pub(crate) fn new(rules: &'a Rules, survivors: &Subset) -> Self {
        let witness = rules.subset_within(survivors).expect("Rules::new found an allowed subset").iter().collect();
        let locked = rules.root().iter().map(|&c| c == Choice::In).collect();
        Self { rules, witness, locked }
    }

    /// Whether the rules let unit u go now: no survivor needs it, and the others still hold an
    /// allowed subset.
    pub(crate) fn may_leave(&mut self, u: usize, survivors: &Subset) -> bool {
        let rules = self.rules;
        let first = rules.unit(u)[0];
        // Of several units that were judged, another one may have left.
        if self.witness.iter().any(|&j| !survivors.contains(j)) {
            self.witness = rules.subset_within(survivors).expect("what left was allowed to").iter().collect();
        }
        if self.locked[u] || rules.needed_by(u).iter().any(|&by| survivors.contains(rules.unit(by)[0])) {
            return false;
        }
        if self.witness.binary_search(&first).is_ok() {
            let mut rest = survivors.clone();
            for &j in rules.unit(u) {
                rest.remove(j);
            }
            match rules.subset_within(&rest) {
                Some(witness) => self.witness = witness.iter().collect(),
                None => self.locked[u] = true,
            }
        }
        !self.locked[u]
    }
}

/// The master: who survives, who left when, and who may leave.
pub(super) struct Elimination<'a> {
    pub(super) rules: &'a Rules,
    step: Step,
    halve_above: Option<usize>,
    /// Features the elimination started with.
    start: usize,
    pub(super) survivors: Subset,
    pub(super) removal: RemovalRules<'a>,
    /// Step number of the features in `left`.
    pub(super) steps: u64,
    pub(super) left: Vec<Ranked>,
    /// Criteria of the survivors, once known for all of them.
    last: Vec<(usize, f64)>,
    /// The features of `left` that the oracle has not dropped yet.
    pub(super) leaving: Vec<usize>,
    pub(super) count: usize,
    pub(super) finished: bool,
    /// It pauses once no more features than this survive.
    pub(super) pause: Option<usize>,
    /// Steps after which the same features are left as by the optima themselves; none where the
    /// trainings do not say.
    pub(super) certain: Option<u64>,
    /// The start of the next training.
    pub(super) course: Course,
}

impl<'a> Elimination<'a> {
    pub(super) fn new(rules: &'a Rules, settings: &RfeSettings) -> Self {
        let survivors = permitted(rules);
        let forbidden = (0..rules.p()).filter(|&j| !survivors.contains(j));
        let left = forbidden.map(|feature| Ranked { feature, rank: 0, step: Some(0), criterion: 0.0 }).collect();
        let removal = RemovalRules::new(rules, &survivors);
        let mut master = Self {
            rules,
            step: settings.step,
            halve_above: settings.halve_above,
            start: survivors.len(),
            survivors,
            removal,
            steps: 0,
            left,
            last: Vec::new(),
            leaving: Vec::new(),
            count: 0,
            finished: false,
            pause: None,
            certain: Some(0),
            course: Course::default(),
        };
        master.count = master.candidates();
        master
    }

    /// Features to drop in the next step: the step size, but not past the size rule.
    fn quota(&self) -> usize {
        let now = self.survivors.len();
        let step = match self.step {
            // Half, and of an odd number that one of both next to it which is even.
            _ if self.halve_above.is_some_and(|above| now > above) => now / 2 + (now & (now / 2) & 1),
            Step::Count(k) => k,
            Step::Remaining(f) => (f * now as f64) as usize,
            Step::Original(f) => (f * self.start as f64) as usize,
        };
        let above = now.saturating_sub(self.rules.list().max_features.unwrap_or(now));
        if above > 0 { step.clamp(1, above) } else { step.max(1) }
    }

    /// Units to ask for: those that will leave and some spare for those that the rules keep; all,
    /// when this may be the end.
    fn candidates(&self) -> usize {
        if self.rules.allows(&self.survivors) { self.survivors.len() } else { self.quota() + 4 }
    }
}

impl<O: Oracle<Query = Question, Answer = Ranking>> Master<O> for Elimination<'_> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question>, Error> {
        if self.finished || self.pause.is_some_and(|most| self.survivors.len() <= most) {
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
            dropped.sort_by(by_criterion);
            for (feature, criterion) in dropped {
                self.survivors.remove(feature);
                self.left.push(Ranked { feature, rank: 0, step: Some(self.steps), criterion });
            }
        }
        if self.rules.allows(&self.survivors) {
            run.offer(&self.survivors, answer.objective);
            self.last = answer.smallest;
            self.finished = true;
            // What resumes from here trains on the survivors once more.
            self.keep(run.stop().is_none(), run);
            return Ok(());
        }
        if run.stop().is_some() {
            // A training that was cut short ranks nothing; the survivors stay as they are until the
            // wind-up.
            return Ok(());
        }
        self.course = answer.course;
        // Step 3.
        let quota = self.quota();
        let all_named = answer.smallest.len() < self.count;
        self.steps += 1;
        let (mut checked, mut kept) = (0, false);
        for &(u, criterion) in &answer.smallest {
            if self.leaving.len() >= quota || (!self.leaving.is_empty() && self.rules.allows(&self.survivors)) {
                break;
            }
            checked += 1;
            let leaves = self.removal.may_leave(u, &self.survivors);
            kept |= !leaves;
            if leaves {
                for &feature in self.rules.unit(u) {
                    self.survivors.remove(feature);
                    self.leaving.push(feature);
                    self.left.push(Ranked { feature, rank: 0, step: Some(self.steps), criterion });
                    run.tell(&Event::Eliminated { step: self.steps, feature, criterion });
                }
            }
        }
        if self.leaving.is_empty() {
            // The rules keep every unit named: ask again for more of them.
            assert!(!all_named, "a witness inside the survivors leaves some unit free to go");
            self.steps -= 1;
            self.count *= 2;
        } else {
            self.count = self.candidates();
            self.certain = self.certain.zip(answer.error).map(|(steps, error)| {
                let mut roots: Vec<f64> = answer.smallest.iter().map(|e| e.1.sqrt()).collect();
                // Beyond the last one named there is none, or one of which nothing is known.
                roots.push(if all_named { f64::INFINITY } else { f64::NEG_INFINITY });
                steps + u64::from(is_certain(&roots, checked, kept, error))
            });
        }
        self.keep(false, run);
        Ok(())
    }

    fn wind_up(&mut self, run: &mut Run<'_>) -> Option<Question> {
        // What leaves now, and only because the run was stopped, is no part of its state.
        self.keep(true, run);
        (!self.finished).then(|| Question::KeepBest { leaving: std::mem::take(&mut self.leaving) })
    }
}

/// Whether the first `checked` of the ascending roots would be the smallest at the optimum, too,
/// and in this order where the rules `kept` one of them. As one vector the roots are off by
/// `error`, so the difference of two is off by sqrt(2) times that at most.
fn is_certain(roots: &[f64], checked: usize, kept: bool, error: f64) -> bool {
    let first = if kept { 1 } else { checked };
    (first..=checked).all(|at| roots[at] - roots[at - 1] > std::f64::consts::SQRT_2 * error)
}

impl Elimination<'_> {
    /// Keeps the state.
    fn keep(&self, last: bool, run: &mut Run<'_>) {
        run.keep(super::NAME, last, |out| self.write(out));
    }

    /// All features, best first: survivors by their last criterion, then those that left, last ones
    /// first.
    pub(super) fn ranking(mut self) -> Vec<Ranked> {
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
