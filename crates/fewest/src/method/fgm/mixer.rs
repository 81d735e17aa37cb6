//! Step 2 of a round: weighs the generated subsets, and makes the machine that is returned.

use std::time::{Duration, Instant};

use super::machine::Machine;
use super::mixture::{Columns, Level, Point, Subsets};
use super::separation::{Separation, Violated};
use super::source::{Source, Wanted};
use super::spread::Spread;
use super::{FgmSettings, Kept, Mkl, mkl, paper_value};
use crate::dual::train::train_linear;
use crate::dual::{BoxDual, DualSolution, kkt};
use crate::{Error, Oracle, Rules, Run, Status, SvmSettings};

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
        ..solution
    }
}

/// What a round asks.
#[derive(Debug)]
pub(super) struct Question {
    /// A subset to add.
    pub(super) violated: Violated,
    /// Gap of the columns at hand at which to answer.
    pub(super) pool: f64,
    /// Gap of multiple kernel learning.
    pub(super) tolerance: f64,
    /// Time allowed after a limit was reached.
    pub(super) grace: Duration,
}

/// What it learns.
#[derive(Debug)]
pub(super) struct Mixed {
    pub(super) point: Point,
    /// Whether the subset added was new.
    pub(super) fresh: bool,
    pub(super) columns: usize,
    pub(super) subsets: usize,
    pub(super) seconds: f64,
}

/// Step 2: weighs the generated subsets.
pub(super) struct Mixer<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) dual: &'a BoxDual,
    pub(super) svm: &'a SvmSettings,
    pub(super) settings: &'a FgmSettings,
    pub(super) separation: &'a Separation<'a>,
    pub(super) columns: Columns,
    pub(super) subsets: Subsets,
    pub(super) last: Option<Point>,
    /// What [`Spread`] left behind.
    pub(super) start: Option<(Vec<f64>, f64)>,
}

impl Oracle for Mixer<'_> {
    type Query = Question;
    type Answer = Mixed;

    fn ask(&mut self, question: &Question, run: &mut Run<'_>) -> Result<Mixed, Error> {
        let start = Instant::now();
        let over = run.elapsed() + question.grace;
        let mut stop = || run.stop().filter(|_| run.elapsed() >= over);
        self.columns.gather(self.source, &question.violated.features)?;
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
        let positions = self.columns.positions(&question.violated.features).expect("just gathered");
        let fresh = self.subsets.add(positions);
        if let (Mkl::Fast, true, Separation::Largest(Wanted { most, always, .. })) =
            (self.settings.mkl, self.settings.reuse, self.separation)
        {
            let point = self.spread(*most, always, question.pool, &mut stop);
            run.counts.solver_iterations += point.iterations;
            let (columns, subsets, seconds) = (q, self.subsets.len(), start.elapsed().as_secs_f64());
            return Ok(Mixed { point, fresh, columns, subsets, seconds });
        }
        let mut machine = Machine::new(&self.columns.rows, self.dual);
        let design = (self.settings.mkl == Mkl::Simple).then(|| self.columns.rows.design());
        let p = self.source.n_features();
        let mut iterations = 0;
        let point = loop {
            let mut mu = self.last.as_ref().map_or_else(|| vec![1.0], |p| p.mu.clone());
            mu.resize(self.subsets.len(), 0.0);
            let point = match &design {
                None => {
                    let most_violated = |scores: &[f64]| {
                        self.columns.positions(&self.separation.among(p, &self.columns.features, scores).features)
                    };
                    let pool = mkl::Pool { most_violated: &most_violated, gap: question.pool };
                    let pool = Some(&pool).filter(|_| self.settings.reuse);
                    mkl::fast(&mut machine, &mut self.subsets, q, mu, question.tolerance, pool, &mut stop)
                }
                Some(design) => {
                    let (dual, svm, columns, subsets) = (self.dual, self.svm, &self.columns, &self.subsets);
                    let start = self.last.as_ref().map(|p| &p.beta[..]);
                    mkl::Simple { design: &**design, dual, svm, columns, subsets }.solve(
                        mu,
                        start,
                        question.tolerance,
                        &mut stop,
                    )
                }
            };
            iterations += point.iterations;
            self.last = Some(point.clone());
            if !self.settings.reuse || stop().is_some() {
                break point;
            }
            let pool = self.separation.among(p, &self.columns.features, &point.scores);
            let level = Level::of(self.dual, &point.beta);
            if kkt::relative_gap(point.upper, level.value(pool.most)) <= question.pool {
                break point;
            }
            // A subset that the rules fill up with other columns waits for the next pass.
            let at_hand = self.columns.positions(&pool.features);
            if !at_hand.is_some_and(|subset| self.subsets.add(subset)) {
                break point;
            }
        };
        run.counts.solver_iterations += iterations;
        let (columns, subsets, seconds) = (q, self.subsets.len(), start.elapsed().as_secs_f64());
        Ok(Mixed { point, fresh, columns, subsets, seconds })
    }
}

impl Mixer<'_> {
    /// The best mixture of all subsets of the columns at hand.
    fn spread(
        &mut self,
        most: usize,
        always: &[usize],
        tolerance: f64,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Point {
        let features = &self.columns.features;
        let fixed = features.iter().map(|j| always.binary_search(j).is_ok()).collect();
        let mut spread = Spread::new(&self.columns.rows, self.dual, fixed, most, self.start.as_ref());
        let p = self.source.n_features();
        let most_violated = |scores: &[f64]| self.separation.among(p, features, scores).most;
        let point = spread.solve(tolerance, &most_violated, stop);
        self.start = Some(spread.into_start());
        point
    }

    /// The features of positive weight in a mixture, ascending, and its machine.
    pub(super) fn mixture(&self, point: &Point, status: Status) -> (Vec<Kept>, DualSolution) {
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
            kkt_residual: kkt::residual(self.dual, &point.beta, &scores),
            iterations: point.iterations,
            status,
        });
        let shares = used.iter().map(|&k| (features[k], point.z[k])).zip(&solution.weights);
        (shares.map(|((feature, share), &weight)| Kept { feature, share, weight }).collect(), solution)
    }

    /// FGM-B: the best allowed subset by z_j c_j^2, and the SVM on it.
    pub(super) fn top_b(
        &mut self,
        rules: &Rules,
        point: &Point,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<(Vec<Kept>, DualSolution), Error> {
        let scores: Vec<f64> = point.scores.iter().zip(&point.z).map(|(c, z)| c * z.sqrt()).collect();
        let features = self.separation.among(rules.p(), &self.columns.features[..scores.len()], &scores).features;
        // Rules may have filled it up with columns that no round asked for.
        self.columns.gather(self.source, &features)?;
        let at: Vec<usize> = features.iter().map(|j| self.columns.position[j] as usize).collect();
        let design = self.columns.rows.design();
        let solution = train_linear(&*design, &at, self.dual, Some(&point.beta[..]), self.svm, stop);
        let solution = paper_solution(solution);
        let kept = features.iter().zip(&solution.weights);
        Ok((kept.map(|(&feature, &weight)| Kept { feature, share: 1.0, weight }).collect(), solution))
    }
}
