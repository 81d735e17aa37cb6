//! SUB, the trainings of `gbd`.

use super::GbdSettings;
use super::cuts::indicator;
use fewest::bound::saddle::{AlphaHalf, Cut, Value};
use fewest::bound::{Relaxation, WarmStart};
use fewest::dual::DualSolution;
use fewest::dual::kkt::relative_gap;
use fewest::{Clock, Error, Oracle, Problem, Rules, Run, Subset};

/// A subset's value is known well enough at this share of the gap asked for. Where the training
/// ends short of it, the exact engines go on.
const KNOWN: f64 = 0.05;
/// No training is asked for more than this.
pub(super) const FINEST: f64 = 1e-9;

/// Where the SVM is trained.
#[derive(Debug, Clone)]
pub(super) enum Query {
    /// On a subset: an upper value and a cut.
    Subset(Subset),
    /// On a mixture of features, z_j in [0, 1]: a cut.
    Mixture(Vec<f64>),
}

impl Query {
    /// z of all features, length p.
    pub(super) fn z(&self) -> Vec<f64> {
        match self {
            Query::Subset(subset) => indicator(subset),
            Query::Mixture(z) => z.clone(),
        }
    }
}

/// SUB-M and SUB-lambda, (5) and (12), of each problem.
pub(super) struct Trainer<'a> {
    problems: &'a [Problem<'a>],
    rules: &'a Rules,
    settings: &'a GbdSettings,
    pub(super) halves: Vec<AlphaHalf<'a>>,
    /// The exact engines of each, once they were needed.
    exact: Vec<Option<Relaxation<'a>>>,
}

/// A training of each problem; objectives and cuts add.
pub(super) struct Trained {
    pub(super) machines: Vec<DualSolution>,
    pub(super) cut: Cut,
    pub(super) primal: f64,
}

impl Trained {
    fn new(values: Vec<Value>) -> Self {
        let primal = values.iter().map(|value| value.solution.primal).sum();
        let (machines, cuts): (Vec<_>, Vec<_>) = values.into_iter().map(|value| (value.solution, value.cut)).unzip();
        Self { machines, cut: Cut::sum(cuts), primal }
    }

    /// The relative gap of their sum.
    pub(super) fn gap(&self) -> f64 {
        relative_gap(self.primal, self.machines.iter().map(|machine| machine.dual).sum())
    }

    /// beta of all, one after the other.
    pub(super) fn beta(&self) -> Vec<f64> {
        self.machines.iter().flat_map(|machine| &machine.beta).copied().collect()
    }
}

impl<'a> Trainer<'a> {
    pub(super) fn new(problems: &'a [Problem<'a>], rules: &'a Rules, settings: &'a GbdSettings) -> Result<Self, Error> {
        let half = |problem| {
            let half = AlphaHalf::new(problem, &settings.svm, settings.warm_start)?;
            Ok(half.within(rules.weight_bounds().clone()))
        };
        let halves = problems.iter().map(half).collect::<Result<_, Error>>()?;
        Ok(Self { problems, rules, settings, halves, exact: problems.iter().map(|_| None).collect() })
    }

    /// One problem's value of a subset, to this tolerance.
    fn value(&mut self, at: usize, subset: &Subset, tolerance: f64, clock: &Clock) -> Value {
        let value = self.halves[at].at(subset, clock);
        let mut value = if value.solution.gap() > tolerance && clock.stop().is_none() {
            self.finish(at, subset, value, tolerance, clock)
        } else {
            value
        };
        // Losses of columns whose terms cancel are rounded, too; the cut knows by how much.
        value.solution.primal = value.solution.primal.max(value.cut.at(subset));
        value
    }

    /// The value of a subset whose training ended short of `tolerance`, by the exact engines. Both
    /// sides are values of feasible points, so that the better of each is kept.
    fn finish(&mut self, at: usize, subset: &Subset, value: Value, tolerance: f64, clock: &Clock) -> Value {
        let (problem, rules, settings) = (&self.problems[at], self.rules, self.settings);
        let new = || Relaxation::new(std::slice::from_ref(problem), rules, &settings.svm, &[]);
        let exact = self.exact[at].get_or_insert_with(new);
        let mut units: Vec<usize> = subset.iter().map(|j| rules.unit_of(j)).collect();
        units.sort_unstable();
        units.dedup();
        let trained = &value.solution;
        let warm_start = WarmStart { beta: trained.beta.clone(), bias: vec![trained.bias], ..exact.cold() };
        let (found, iterations) = exact.train(&units, &warm_start, tolerance, clock);
        if found.lower <= trained.dual && found.upper >= trained.primal {
            return value;
        }
        let weight =
            |j: usize| rules.weight_bounds().of(j).weight(problem.design().dot_column(j, &found.warm_start.beta));
        let solution = DualSolution {
            weights: subset.iter().map(weight).collect(),
            bias: found.warm_start.bias[0],
            primal: found.upper.min(trained.primal),
            dual: found.lower.max(trained.dual),
            absolute_gap: f64::INFINITY,
            iterations: trained.iterations + iterations,
            beta: found.warm_start.beta,
            ..value.solution
        };
        self.halves[at].take(solution)
    }

    /// Number of samples of all problems.
    pub(super) fn n_samples(&self) -> usize {
        self.problems.iter().map(Problem::n_samples).sum()
    }

    /// The cut of a beta of an earlier run, of as many numbers.
    pub(super) fn cut(&self, beta: &[f64]) -> Cut {
        Cut::sum(self.halves.iter().zip(self.apart(beta)).map(|(half, beta)| half.cut(beta)).collect())
    }

    /// Starts the next trainings from this beta.
    pub(super) fn start_from(&mut self, beta: &[f64]) {
        let parts: Vec<Vec<f64>> = self.apart(beta).map(<[f64]>::to_vec).collect();
        self.halves.iter_mut().zip(parts).for_each(|(half, beta)| half.start_from(beta));
    }

    /// The beta of each problem.
    fn apart<'b>(&self, mut beta: &'b [f64]) -> impl Iterator<Item = &'b [f64]> + use<'a, 'b> {
        let problems = self.problems;
        problems.iter().map(move |problem| {
            let (own, rest) = beta.split_at(problem.n_samples());
            beta = rest;
            own
        })
    }
}

impl Oracle for Trainer<'_> {
    type Query = Query;
    type Answer = Trained;

    fn ask(&mut self, query: &Query, run: &mut Run<'_>) -> Result<Trained, Error> {
        let winds_up = run.stop().is_some();
        let clock = if winds_up { run.late_clock(1.0) } else { run.counted_clock() };
        let asked = run.incumbent().map_or(0.0, |(_, best)| run.gaps().share(best));
        let tolerance = (KNOWN * asked).max(FINEST);
        let problems = 0..self.problems.len();
        let value = |at: usize| match query {
            Query::Subset(subset) => self.value(at, subset, tolerance, &clock),
            Query::Mixture(z) => self.halves[at].at_weights(z, &clock),
        };
        let trained = Trained::new(problems.map(value).collect());
        run.counts.solver_iterations += trained.machines.iter().map(|machine| machine.iterations).sum::<u64>();
        Ok(trained)
    }
}
