//! Step 2 of a round: weighs the generated subsets. Its last point becomes the machine that is
//! returned.

use std::time::Instant;

use super::machine::Machine;
use super::mixture::{Columns, Level, Point, Subsets};
use super::separation::{Separation, ViolatedSubset};
use super::source::{ScoreQuery, Source};
use super::support_norm::SupportNorm;
use super::{FgmSettings, Mkl, SelectedFeature, mkl, paper_value};
use crate::dual::train::train_linear;
use crate::dual::{BoxDual, DualSolution, kkt};
use crate::saddle::train_within;
use crate::{Error, Memory, Oracle, Run, Status, SvmSettings, WeightBounds};

/// A solution with margins of 1 in the paper's scale: alpha sums to 1.
fn paper_solution(solution: DualSolution) -> DualSolution {
    let scale = 1.0 / solution.beta.iter().map(|b| b.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
    let scaled = |x: Vec<f64>| x.into_iter().map(|x| scale * x).collect();
    DualSolution {
        beta: scaled(solution.beta),
        bias: scale * solution.bias,
        weights: scaled(solution.weights),
        primal: paper_value(solution.primal),
        dual: paper_value(solution.dual),
        absolute_gap: f64::INFINITY,
        ..solution
    }
}

/// What a round asks.
#[derive(Debug)]
pub(super) struct MixtureQuery {
    /// A subset to add.
    pub(super) violated: ViolatedSubset,
    /// Gap of the columns at hand at which to answer.
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
    /// Whether the subset added was new.
    pub(super) fresh: bool,
    pub(super) columns: usize,
    pub(super) subsets: usize,
    pub(super) seconds: f64,
}

/// Step 2: the best mixture of the generated subsets.
pub(super) struct MixtureOracle<'a> {
    source: &'a dyn Source,
    dual: &'a BoxDual,
    svm: &'a SvmSettings,
    settings: &'a FgmSettings,
    separation: &'a Separation<'a>,
    /// Signs of the weights, and labels and weights of the samples.
    signs: &'a WeightBounds,
    of_samples: (&'a [f64], &'a [f64]),
    columns: Columns,
    pub(super) subsets: Subsets,
    last: Option<Point>,
    /// What [`SupportNorm`] left behind.
    start: Option<(Vec<f64>, f64)>,
}

impl Oracle for MixtureOracle<'_> {
    type Query = MixtureQuery;
    type Answer = MixtureAnswer;

    fn ask(&mut self, query: &MixtureQuery, run: &mut Run<'_>) -> Result<MixtureAnswer, Error> {
        let start = Instant::now();
        let mut stop = || run.stop_late(query.late);
        let fresh = self.add(&query.violated)?;
        let point = match (self.settings.mkl, self.settings.reuse, self.separation) {
            (Mkl::Fast, true, Separation::Largest(ScoreQuery { most, always, .. })) => {
                self.without_list(*most, always, query.pool, &mut stop)
            }
            _ => self.over_list(query, &mut stop),
        };
        run.counts.solver_iterations += point.iterations;
        let (columns, subsets) = (self.columns.features.len(), self.subsets.len());
        Ok(MixtureAnswer { point, fresh, columns, subsets, seconds: start.elapsed().as_secs_f64() })
    }
}

impl<'a> MixtureOracle<'a> {
    /// No subset yet.
    pub(super) fn new(
        source: &'a dyn Source,
        dual: &'a BoxDual,
        svm: &'a SvmSettings,
        settings: &'a FgmSettings,
        separation: &'a Separation<'a>,
        signs: &'a WeightBounds,
        of_samples: (&'a [f64], &'a [f64]),
        memory: &Memory,
    ) -> Self {
        Self {
            source,
            dual,
            svm,
            settings,
            separation,
            signs,
            of_samples,
            columns: Columns::new(dual.len(), memory),
            subsets: Subsets::default(),
            last: None,
            start: None,
        }
    }

    /// Gathers the subset's columns and adds it; returns whether it is new.
    fn add(&mut self, violated: &ViolatedSubset) -> Result<bool, Error> {
        self.columns.gather(self.source, &violated.features)?;
        let q = self.columns.features.len();
        let needed = 24 * (q as u64).pow(2);
        if self.settings.mkl == Mkl::Fast && needed > self.settings.memory {
            return Err(Error::Memory {
                what: format!("weighing subsets of {q} features"),
                needed,
                allowed: self.settings.memory,
                remedy: "choose fewer features a subset, or `simple` MKL".into(),
            });
        }
        let positions = self.columns.positions(&violated.features).expect("just gathered");
        Ok(self.subsets.add(positions))
    }

    /// The best mixture of all subsets of the columns at hand, none of them listed.
    fn without_list(
        &mut self,
        most: usize,
        always: &[usize],
        tolerance: f64,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Point {
        let features = &self.columns.features;
        let required = features.iter().map(|j| always.binary_search(j).is_ok()).collect();
        let (rows, signs, start) = (&self.columns.rows, self.signs.of_all(features), self.start.as_ref());
        let mut problem = SupportNorm::new(rows, self.dual, required, most, signs, start);
        let p = self.source.n_features();
        let most_violated = |scores: &[f64]| self.separation.among(p, features, scores).most;
        let point = problem.solve(tolerance, &most_violated, stop);
        self.start = Some(problem.into_start());
        point
    }

    /// The best mixture of the subsets listed. With `reuse` subsets of the columns at hand join the
    /// list until none of them is violated by more than the gap asked for.
    fn over_list(&mut self, query: &MixtureQuery, stop: &mut dyn FnMut() -> Option<Status>) -> Point {
        let signs = self.signs.of_all(&self.columns.features);
        let mut machine = Machine::new(&self.columns.rows, self.dual, signs.clone());
        let design = (self.settings.mkl == Mkl::Simple).then(|| self.columns.rows.design());
        let (p, q) = (self.source.n_features(), self.columns.features.len());
        let mut iterations = 0;
        loop {
            let mut mu = self.last.as_ref().map_or_else(|| vec![1.0], |p| p.mu.clone());
            mu.resize(self.subsets.len(), 0.0);
            let point = match &design {
                None => {
                    let most_violated = |scores: &[f64]| {
                        self.columns.positions(&self.separation.among(p, &self.columns.features, scores).features)
                    };
                    let pool = mkl::Pool { most_violated: &most_violated, gap: query.pool };
                    let pool = Some(&pool).filter(|_| self.settings.reuse);
                    mkl::fast(&mut machine, &mut self.subsets, q, mu, query.tolerance, pool, stop)
                }
                Some(design) => {
                    let (dual, svm, columns, subsets) = (self.dual, self.svm, &self.columns, &self.subsets);
                    let start = self.last.as_ref().map(|p| &p.beta[..]);
                    let (design, signs, of_samples) = (&**design, &signs, self.of_samples);
                    let simple = mkl::Simple { design, dual, svm, columns, subsets, signs, of_samples };
                    simple.solve(mu, start, query.tolerance, stop)
                }
            };
            iterations += point.iterations;
            self.last = Some(point.clone());
            if !self.settings.reuse || stop().is_some() {
                return Point { iterations, ..point };
            }
            let pool = self.separation.among(p, &self.columns.features, &point.scores);
            let level = Level::of(self.dual, &point.beta);
            if kkt::relative_gap(point.upper, level.value(pool.most)) <= query.pool {
                return Point { iterations, ..point };
            }
            // A subset that the rules fill up with other columns waits for the next pass.
            let at_hand = self.columns.positions(&pool.features);
            if !at_hand.is_some_and(|subset| self.subsets.add(subset)) {
                return Point { iterations, ..point };
            }
        }
    }

    /// The features of positive weight in a mixture, ascending, and its machine.
    pub(super) fn mixture(&self, point: &Point, status: Status) -> (Vec<SelectedFeature>, DualSolution) {
        let features = &self.columns.features;
        let mut used: Vec<usize> = (0..point.z.len()).filter(|&k| point.z[k] > 0.0).collect();
        used.sort_unstable_by_key(|&k| features[k]);
        let mut weights = vec![0.0; features.len()];
        for &k in &used {
            weights[k] = point.weights[k];
        }
        let scores: Vec<f64> = (0..self.dual.len()).map(|i| self.columns.rows.row(i).dot(&weights)).collect();
        let squares = used.iter().map(|&k| weights[k] * point.scores[k]).sum();
        let solution = paper_solution(DualSolution {
            beta: point.beta.clone(),
            bias: point.bias,
            weights: used.iter().map(|&k| weights[k]).collect(),
            primal: point.upper,
            dual: Level::of(self.dual, &point.beta).value(squares),
            absolute_gap: f64::INFINITY,
            kkt_residual: kkt::residual(self.dual, &point.beta, &scores),
            iterations: point.iterations,
            status,
        });
        let shares = used.iter().map(|&k| (features[k], point.z[k])).zip(&solution.weights);
        (shares.map(|((feature, share), &weight)| SelectedFeature { feature, share, weight }).collect(), solution)
    }

    /// The better of two subsets that the rules of `separation` allow, with the SVM trained on it:
    /// that of the largest `sum_j z_j c_j^2` in the mixture (FGM-B), and that of the largest
    /// `sum_j w_j^2`.
    pub(super) fn best_subset(
        &mut self,
        separation: &Separation<'_>,
        point: &Point,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<(Vec<SelectedFeature>, DualSolution), Error> {
        let by_score: Vec<f64> = point.scores.iter().zip(&point.z).map(|(c, z)| c * z.sqrt()).collect();
        let columns = &self.columns.features[..by_score.len()];
        let p = self.source.n_features();
        let first = separation.among(p, columns, &by_score).features;
        let second = separation.among(p, columns, &point.weights).features;
        let same = first == second;
        let mut best = self.train(&first, point, stop)?;
        if !same {
            let other = self.train(&second, point, stop)?;
            if other.1.primal < best.1.primal {
                best = other;
            }
        }
        Ok(best)
    }

    /// The SVM on a subset.
    fn train(
        &mut self,
        features: &[usize],
        start: &Point,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<(Vec<SelectedFeature>, DualSolution), Error> {
        // Rules may have filled the subset up with columns that no round asked for.
        self.columns.gather(self.source, features)?;
        let at: Vec<usize> = features.iter().map(|j| self.columns.position[j] as usize).collect();
        let design = self.columns.rows.design();
        let solution = if self.signs.is_free() {
            train_linear(&*design, &at, self.dual, Some(&start.beta[..]), self.svm, stop)
        } else {
            let (signs, memory) = (self.signs.of_all(&self.columns.features), Memory::new(self.svm.memory));
            train_within(&*design, &at, &signs, self.of_samples, self.svm, &memory, stop)?
        };
        let solution = paper_solution(solution);
        let kept = features.iter().zip(&solution.weights);
        Ok((kept.map(|(&feature, &weight)| SelectedFeature { feature, share: 1.0, weight }).collect(), solution))
    }
}
