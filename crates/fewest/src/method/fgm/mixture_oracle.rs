//! Step 2 of a round: weighs the generated subsets. Its last point becomes the machine that is
//! returned.

use std::time::Instant;

use super::machines::Machines;
use super::mixture::{Columns, Level, Point, Subsets};
use super::part::{SourceProblem, joint};
use super::separation::{Separation, ViolatedSubset};
use super::support_norm::{Start, SupportNorm, has_hessian};
use super::tuning::GROWTH;
use super::{FgmSettings, Mkl, mkl};
use crate::design::Rows;
use crate::dual::{Bias, BoxDual, DualSolution, kkt};
use crate::{Clock, Error, Memory, Oracle, Run, ScoreQuery, Status, SvmSettings, WeightBounds};

/// What is kept, with margins of 1.
pub(super) struct MarginOne {
    /// The features, ascending, and z_j of each.
    pub(super) shares: Vec<(usize, f64)>,
    /// The machine of each problem, on them.
    pub(super) machines: Vec<DualSolution>,
    /// The sum of their values.
    pub(super) value: f64,
}

/// What a round asks.
#[derive(Debug)]
pub(super) struct MixtureQuery {
    /// A subset to add.
    pub(super) violated: ViolatedSubset,
    /// Gap of the current columns at which to answer.
    pub(super) pool: f64,
    /// Gap of multiple kernel learning.
    pub(super) tolerance: f64,
    /// Share of what winding up a run may take that it has once a limit is reached.
    pub(super) late: f64,
}

/// What it learns.
#[derive(Debug)]
pub(super) struct MixtureAnswer {
    pub(super) point: Point,
    /// Whether the subset added was new, or a column.
    pub(super) fresh: bool,
    pub(super) columns: usize,
    pub(super) subsets: usize,
    pub(super) seconds: f64,
}

/// Step 2: the best mixture of the generated subsets.
pub(super) struct MixtureOracle<'a> {
    pub(super) parts: &'a [SourceProblem<'a>],
    pub(super) svm: &'a SvmSettings,
    pub(super) settings: &'a FgmSettings,
    separation: &'a Separation<'a>,
    /// Signs of the weights.
    pub(super) signs: &'a WeightBounds,
    pub(super) columns: Columns,
    pub(super) subsets: Subsets,
    last: Option<Point>,
    /// What [`SupportNorm`] left behind.
    start: Option<Start>,
}

impl Oracle for MixtureOracle<'_> {
    type Query = MixtureQuery;
    type Answer = MixtureAnswer;

    fn ask(&mut self, query: &MixtureQuery, run: &mut Run<'_>) -> Result<MixtureAnswer, Error> {
        let start = Instant::now();
        let clock = run.late_clock(query.late);
        let before = self.columns.features.len();
        let new_subset = self.add(&query.violated)?;
        let added = self.columns.features.len() - before;
        let fresh = new_subset || added > 0;
        let grown = before > 0 && added > 0;
        let point = match self.separation {
            Separation::Largest(ScoreQuery { most, always, .. }) if self.grows() => {
                self.without_list(*most, always, grown, query.pool, &clock)
            }
            _ => self.over_list(query, &clock),
        };
        run.counts.solver_iterations += point.iterations;
        let (columns, subsets) = (self.columns.features.len(), self.subsets.len());
        Ok(MixtureAnswer { point, fresh, columns, subsets, seconds: start.elapsed().as_secs_f64() })
    }
}

impl<'a> MixtureOracle<'a> {
    /// No subset yet.
    pub(super) fn new(
        parts: &'a [SourceProblem<'a>],
        svm: &'a SvmSettings,
        settings: &'a FgmSettings,
        separation: &'a Separation<'a>,
        signs: &'a WeightBounds,
        memory: &Memory,
    ) -> Self {
        Self {
            parts,
            svm,
            settings,
            separation,
            signs,
            columns: Columns::new(parts, memory),
            subsets: Subsets::default(),
            last: None,
            start: None,
        }
    }

    /// Whether all subsets of the current columns are weighed, none of them listed, so that columns
    /// may join that are in no generated subset.
    pub(super) fn grows(&self) -> bool {
        let settings = self.settings;
        settings.mkl == Mkl::Fast && settings.reuse && matches!(self.separation, Separation::Largest(_))
    }

    /// Gathers the subset's columns and adds it; returns whether it is new. With others that are
    /// about to have a weight, as many as there are columns.
    fn add(&mut self, violated: &ViolatedSubset) -> Result<bool, Error> {
        let before = self.columns.features.len();
        self.columns.gather(self.parts, &violated.features)?;
        // Models made of columns need no matrix of all.
        let matrices =
            if self.grows() && !self.columns.rows().into_iter().any(has_hessian) { 0 } else { self.parts.len() };
        // Those of several problems are not copied while nearly all weights are in use.
        let bytes = if matrices > 1 { 16 } else { 24 };
        let needed = |q: usize| bytes * matrices as u64 * (q as u64).pow(2);
        let q = self.columns.features.len();
        if self.settings.mkl == Mkl::Fast && needed(q) > self.settings.memory {
            return Err(Error::Memory {
                what: format!("weighing subsets of {q} features"),
                needed: needed(q),
                allowed: self.settings.memory,
                remedy: "choose fewer features a subset, or `simple` MKL".into(),
            });
        }
        let positions = self.columns.positions(&violated.features).expect("just gathered");
        let fresh = self.subsets.add(positions);
        let level = self.start.as_ref().map_or(0.0, |start| start.s);
        let missing = violated.next.iter().filter(|s| s.score.abs() > level && !self.columns.has(s.feature));
        let mut more: Vec<usize> =
            missing.map(|s| s.feature).take(((GROWTH * before as f64) as usize).saturating_sub(q)).collect();
        while !more.is_empty() && needed(q + more.len()) > self.settings.memory {
            more.truncate(more.len() / 2);
        }
        // Of those that do not fit, the ones of larger scores.
        loop {
            match self.columns.gather(self.parts, &more) {
                Err(Error::Memory { .. }) if !more.is_empty() => more.truncate(more.len() / 2),
                gathered => return gathered.map(|()| fresh),
            }
        }
    }

    /// The best mixture of all subsets of the current columns, none of them listed; where columns
    /// were added (`grown`), a mixture on the way to it.
    fn without_list(&mut self, most: usize, always: &[usize], grown: bool, tolerance: f64, clock: &Clock) -> Point {
        let features = &self.columns.features;
        let required = features.iter().map(|j| always.binary_search(j).is_ok()).collect();
        let (rows, signs, start) = (self.columns.rows(), self.signs.of_all(features), self.start.take());
        let mut problem = SupportNorm::new(&rows, self.parts, required, most, signs, self.settings.memory, start);
        let at_hand = self.separation.at_hand(features);
        let most_violated = |scores: &[f64]| at_hand.most_violated(scores).most;
        let point = problem.solve(tolerance, grown, &most_violated, clock);
        self.start = Some(problem.into_start());
        point
    }

    /// The best mixture of the subsets listed. With `reuse` subsets of the current columns join the
    /// list until none of them is violated by more than the gap asked for.
    fn over_list(&mut self, query: &MixtureQuery, clock: &Clock) -> Point {
        let signs = self.signs.of_all(&self.columns.features);
        let q = self.columns.features.len();
        let at_hand = self.separation.at_hand(&self.columns.features);
        let mut machine = Machines::new(&self.columns.rows(), self.parts, q, &signs);
        let designs = || self.columns.rows().into_iter().map(Rows::design).collect::<Vec<_>>();
        let designs = (self.settings.mkl == Mkl::Simple).then(designs);
        let mut iterations = 0;
        loop {
            let mut mu = self.last.as_ref().map_or_else(|| vec![1.0], |p| p.mu.clone());
            mu.resize(self.subsets.len(), 0.0);
            let point = match &designs {
                None => {
                    let most_violated =
                        |scores: &[f64]| self.columns.positions(&at_hand.most_violated(scores).features);
                    let pool = mkl::Pool { most_violated: &most_violated, gap: query.pool };
                    let pool = Some(&pool).filter(|_| self.settings.reuse);
                    mkl::fast(&mut machine, &mut self.subsets, q, mu, query.tolerance, pool, clock)
                }
                Some(designs) => {
                    let (parts, svm, columns, subsets) = (self.parts, self.svm, &self.columns, &self.subsets);
                    let start = self.last.as_ref().map(|p| &p.beta[..]);
                    let simple = mkl::Simple { designs, parts, svm, columns, subsets, signs: &signs };
                    simple.solve(mu, start, query.tolerance, clock)
                }
            };
            iterations += point.iterations;
            self.last = Some(point.clone());
            if !self.settings.reuse || clock.stop().is_some() {
                return Point { iterations, ..point };
            }
            let pool = at_hand.most_violated(&joint(&point.scores, q));
            let level = Level::of_all(self.parts, &point.beta);
            if kkt::relative_gap(point.upper, level.value(pool.most)) <= query.pool {
                return Point { iterations, ..point };
            }
            // A subset that the rules fill up with other columns waits for the next pass.
            let positions = self.columns.positions(&pool.features);
            if !positions.is_some_and(|subset| self.subsets.add(subset)) {
                return Point { iterations, ..point };
            }
        }
    }

    /// The features of positive weight in a mixture, and its machines.
    pub(super) fn mixture(&self, point: &Point, status: Status) -> MarginOne {
        let (features, q) = (&self.columns.features, point.z.len());
        let mut used: Vec<usize> = (0..q).filter(|&k| point.z[k] > 0.0).collect();
        used.sort_unstable_by_key(|&k| features[k]);
        let mut machines = Vec::new();
        for (t, (part, rows)) in self.parts.iter().zip(self.columns.rows()).enumerate() {
            let own: Vec<f64> = used.iter().map(|&k| point.weights[t * q + k]).collect();
            let mut weights = vec![0.0; features.len()];
            used.iter().zip(&own).for_each(|(&k, w)| weights[k] = *w);
            let mut scores = vec![0.0; part.dual.len()];
            rows.scores(&weights, 0.0, &mut scores);
            let squares = used.iter().map(|&k| point.z[k] * point.scores[t * q + k].powi(2)).sum();
            let (beta, bias) = (part.own(&point.beta).to_vec(), point.bias[t]);
            let ridges = used.iter().zip(&own).map(|(&k, w)| w * w / point.z[k]).sum::<f64>();
            let primal = if self.parts.len() == 1 { point.upper } else { primal(&part.dual, &scores, bias, ridges) };
            machines.push(DualSolution {
                bias,
                primal,
                dual: Level::of(&part.dual, &beta).value(squares),
                absolute_gap: f64::INFINITY,
                kkt_residual: kkt::residual(&part.dual, &beta, &scores),
                iterations: point.iterations,
                status,
                weights: own,
                beta,
            });
        }
        let shares = used.iter().map(|&k| (features[k], point.z[k])).collect();
        MarginOne { shares, machines, value: point.upper }
    }
}

/// The value of weights, with `ridges` = sum_j w_j^2 / z_j, that give these scores.
pub(super) fn primal(dual: &BoxDual, scores: &[f64], bias: f64, ridges: f64) -> f64 {
    let of_bias = match dual.bias {
        Bias::Penalised(s) => (bias / s) * (bias / s),
        Bias::Free | Bias::None => 0.0,
    };
    0.5 * (ridges + of_bias) + kkt::total_loss(dual, scores, bias)
}
