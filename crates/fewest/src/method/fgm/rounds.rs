//! Steps 1, 3 and 4 of the feature generating machine: the most violated subset, value and bound,
//! the end.

use std::time::{Duration, Instant};

use super::mixture::{Level, Point};
use super::mixture_oracle::{MixtureAnswer, MixtureOracle, MixtureQuery};
use super::part::{SourceProblem, make_feasible};
use super::separation::{Separation, ViolatedSubset};
use super::tuning::{MKL_SHARE, POOL_OF_GAP, POOL_SHARE, SMALLEST};
use super::{Round, paper_value};
use crate::run::relative_gap;
use crate::{Error, Event, Master, Next, Run, Status};

/// Steps 1, 3 and 4: seeks the most violated subset, and knows value and bound.
pub(super) struct Rounds<'a> {
    parts: &'a [SourceProblem<'a>],
    separation: &'a Separation<'a>,
    violated: Option<ViolatedSubset>,
    /// Time of the last separation.
    separated: Duration,
    /// Gap of the relaxation at the last separation.
    gap: f64,
    /// Whether the last subset was known and the gap did not fall.
    stale: bool,
    /// The best mixture; over the columns of its round, which come first among the current ones.
    pub(super) best: Option<Point>,
    pub(super) history: Vec<Round>,
    /// The bound of the relaxation, with margins of 1.
    pub(super) lower: f64,
    /// Whether that is a bound of the run, whatever will be kept.
    pub(super) proves: bool,
    /// Whether a pass searches for more columns than those of its subset.
    grows: bool,
}

impl<'a> Rounds<'a> {
    /// Nothing learnt yet.
    pub(super) fn new(
        parts: &'a [SourceProblem<'a>],
        separation: &'a Separation<'a>,
        proves: bool,
        grows: bool,
    ) -> Self {
        Self {
            parts,
            separation,
            violated: None,
            separated: Duration::ZERO,
            gap: 1.0,
            stale: false,
            best: None,
            history: Vec::new(),
            lower: 0.0,
            proves,
            grows,
        }
    }

    /// The most violated subset at beta; raises the bound.
    fn separate(&mut self, beta: &[f64], run: &mut Run<'_>) -> Result<(), Error> {
        let start = Instant::now();
        // The current columns are mostly among the largest: as many again are new ones.
        let at_hand = self.history.last().map_or(0, |round| round.columns);
        let next = if self.grows { 2 * at_hand } else { 0 };
        let violated = self.separation.all(self.parts, beta, next, &run.counted_clock())?;
        self.lower = self.lower.max(Level::of_all(self.parts, beta).value(violated.most));
        if self.proves {
            run.raise_bound(paper_value(self.lower));
        }
        self.violated = Some(violated);
        self.separated = start.elapsed();
        Ok(())
    }

    /// Step 1. A sample of weight 2 starts as two samples do.
    pub(super) fn first(&mut self, run: &mut Run<'_>) -> Result<(), Error> {
        let each = || self.parts.iter().flat_map(|part| part.dual.y.iter().zip(&part.dual.cost));
        let total: f64 = each().map(|(_, cost)| cost).sum();
        let mut beta: Vec<f64> = each().map(|(y, cost)| y * (cost / total)).collect();
        make_feasible(self.parts, &mut beta);
        self.separate(&beta, run)
    }

    /// Bound on the value of the subsets of these rules, with margins of 1, by one more pass.
    pub(super) fn bound_at(&self, point: &Point, rules: &Separation<'_>, run: &Run<'_>) -> Result<f64, Error> {
        let most = rules.all(self.parts, &point.beta, 0, &run.late_clock(1.0))?.most;
        Ok(Level::of_all(self.parts, &point.beta).value(most))
    }

    fn query(&mut self, run: &Run<'_>, late: f64) -> MixtureQuery {
        // The gap as a share of the larger value: below 1.
        let open = self.gap / (1.0 + self.gap);
        let value = self.best.as_ref().map_or(paper_value(self.lower), |best| paper_value(best.upper));
        let pool = (POOL_SHARE * open).max(POOL_OF_GAP * run.gaps().share(value)).max(SMALLEST);
        let violated = self.violated.take().expect("separated before");
        MixtureQuery { violated, pool, tolerance: (MKL_SHARE * pool).max(SMALLEST), late }
    }
}

impl Master<MixtureOracle<'_>> for Rounds<'_> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<MixtureQuery>, Error> {
        let Some(best) = &self.best else {
            return Ok(Next::Ask(self.query(run, 0.0)));
        };
        if run.gaps().closed(paper_value(best.upper), paper_value(self.lower)) {
            return Ok(Next::Done(Status::Completed));
        }
        if self.stale {
            return Ok(Next::Done(Status::Stalled));
        }
        run.tell(&Event::Progress { done: self.history.len() as u64, total: None, elapsed: run.elapsed() });
        Ok(Next::Ask(self.query(run, 0.0)))
    }

    fn learn(&mut self, _: MixtureQuery, answer: MixtureAnswer, run: &mut Run<'_>) -> Result<(), Error> {
        let MixtureAnswer { point, fresh, columns, subsets, seconds } = answer;
        self.separate(&point.beta, run)?;
        let kept = point.z.iter().filter(|z| **z > 0.0).count();
        if self.best.as_ref().is_none_or(|best| point.upper <= best.upper) {
            self.best = Some(point);
        }
        let upper = paper_value(self.best.as_ref().expect("just set").upper);
        let lower = paper_value(self.lower);
        let gap = relative_gap(upper, lower);
        self.stale = !fresh && gap > 0.9 * self.gap;
        self.gap = gap;
        let separation_seconds = self.separated.as_secs_f64();
        self.history.push(Round { upper, lower, subsets, columns, kept, mkl_seconds: seconds, separation_seconds });
        Ok(())
    }

    fn wind_up(&mut self, run: &mut Run<'_>) -> Option<MixtureQuery> {
        self.best.is_none().then(|| self.query(run, 0.5))
    }
}
