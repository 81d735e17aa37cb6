//! `lagrangian`: the L1-SVM with a price per feature by Lagrangian relaxation and a bundle method.
//!
//! Solves   the program of [`crate::method::mbp`], approximately, with a bound
//! Paper    Gaudioso, Gorgone, Labbe, Rodriguez-Chia, COR 2017: the dual (2.17), its linear program
//!          (2.18)-(2.24), the algorithm of section 3.
//! Given    Problem (n samples, p features), Rules, [`LagrangianSettings`].
//! Returns  the subset, its objective with the best w and b on it, a bound, the classifier, and
//!          every step of the ascent.
//! Dual     with |w_k| <= u_k y_k relaxed by lambda_k and mu_k = D_k / u_k - lambda_k (2.10),
//!          0 <= lambda_k <= D_k / u_k:
//!          z(lambda) = min |w|_1 + C sum xi + sum_k (2 lambda_k - D_k / u_k) w_k
//!                      s.t. (2.2), (2.3), |w_k| <= u_k, w_k within the bounds of the rules;
//!          a supergradient is 2 w(lambda). Here in x_k = 2 lambda_k u_k / D_k - 1, which is in
//!          [-1, 1]: the supergradient is D_k w_k / u_k.
//! Steps    0. u; x = 0; z and the subset of its solution  1. the bundle proposes x; a linear
//!          program gives z and w
//!          2. serious: the restricted program on Omega = {k: |w_k| > epsilon u_k}  3. again, until
//!             the model promises nothing
//! Rules    hold for the subset, in step 2; the bound does not use them (but for features left
//!          out and bounds on weights), so it stays one.
//! Differs  from the paper, unless `plain`: the bound starts from the linear relaxation, which is
//!          the dual's value (integrality property); subsets by reweighting (`mbp/reweight.rs`)
//!          come before step 1, and smaller u by reduced costs (`mbp/reduce.rs`); Omega holds the best
//!          subset so far, too; step 2 is capped in time, and left out while it has taken longer than
//!          step 1.
//! Cost     a linear program of milliseconds per step; step 2 is exponential in the size of Omega
//!          at worst.
//! Fails    never on limits. Errors: settings, a failure of HiGHS.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use crate::backend::highs::Effort;
use crate::l1_oracle::{L1Oracle, L1Point};
use crate::master::bundle::{Bundle, BundleStep};
use crate::method::mbp::{
    BestClassifier, LISTS, MbpReport, MbpSettings, Model, TIGHT, lower_bounds, reweight, solve_restricted,
};
use crate::{Bias, Error, Limits, Observer, Problem, Rules, Run, Samples, Sense, Status, Subset, Yardstick};

/// Time for one restricted program where none is given.
const RESTRICTED_TIME: Duration = Duration::from_millis(250);
/// Number of restricted programs that run without a check of their share of the time.
const FREE: f64 = 10.0;

crate::settings! {
    /// Settings of [`lagrangian`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct LagrangianSettings {
        /// The program. `plain` leaves out what the paper does not have; `interior` and `memory` have
        /// no use here.
        pub program: MbpSettings = MbpSettings::default() => [group],
        /// A feature is in Omega when |w_k| is above this share of u_k; in [0, 1).
        pub epsilon: f64 = 1e-6 => [0 or more below 1],
        /// Linear programs, at most.
        pub max_steps: u64 = 1000 => [at least 1],
        /// The ascent ends when the model promises less than this share of z.
        pub tolerance: f64 = 1e-7 => [between 0 and 1],
        /// Time for one restricted program, in seconds in JSON. None: 250 ms, and no limit with
        /// `plain`.
        #[serde(with = "super::seconds")]
        pub restricted_time: Option<Duration> = None,
    }
}

impl Method for LagrangianSettings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: "lagrangian",
        title: "L1-SVM with a price per feature by Lagrangian relaxation and a bundle method",
        solves: "Maximises the Lagrangian dual of mbp by a proximal bundle method; at every serious step the program restricted to the features in use is solved, which gives subsets. Reweighting gives more of them beforehand, unless `plain`. The classifier is the program's own.",
        formula: "min |w|_1 + C sum_i xi_i + sum_j D_j y_j, s_i (w.x_i + b) >= 1 - xi_i, |w_j| <= u_j y_j, y_j in {0, 1}, rules on y",
        proves: "a bound, that of the linear relaxation; optimal where the two meet, within `gap`",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: RULES_AND_BOUNDS,
        cost: "some dozens of linear programs of milliseconds, and restricted programs of at most 250 ms each (`restricted_time`)",
        paper: "M. Gaudioso, E. Gorgone, M. Labbe, A. M. Rodriguez-Chia: Lagrangian relaxation for SVM feature selection. Computers and Operations Research 87 (2017), 137-145.",
    };

    fn absorbs_constants(&self) -> bool {
        self.program.bias == Bias::Free
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.program.check(p)?;
        crate::Settings::in_range(self)?;
        if self.program.several().is_some() {
            return Err(Error::setting(
                "solutions",
                "set",
                "left out, as within: lagrangian finds one subset; select with mbp",
            ));
        }
        Ok(())
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let report = lagrangian(&samples.problem()?, rules, self, limits, observer)?;
        Ok(report
            .found
            .into_report(self.program.weight_rule())
            .detail("dual", report.dual)
            .detail("dual_ceiling", report.ceiling)
            .detail("program_seconds", report.program_seconds)
            .detail("steps", report.steps))
    }

    fn finds_size(&self) -> bool {
        !self.program.penalty.is_empty()
    }

    fn penalty(&self) -> &[f64] {
        &self.program.penalty
    }
}

/// One evaluation of z.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Ascent {
    /// z(lambda).
    pub value: f64,
    /// The largest z so far.
    pub lower: f64,
    /// The smallest objective of a subset so far.
    pub upper: Option<f64>,
    /// Whether the centre moved here.
    pub serious: bool,
    /// Size of Omega, where a restricted program was solved.
    pub omega: Option<usize>,
    /// Seconds since the start.
    pub seconds: f64,
}

/// Result of [`lagrangian`].
#[derive(Debug, Clone)]
pub struct LagrangianReport {
    /// The report of [`crate::method::mbp::mbp`], too.
    pub found: MbpReport,
    /// Every evaluation of z, in order.
    pub steps: Vec<Ascent>,
    /// The largest z: the Lagrangian bound.
    pub dual: f64,
    /// The dual's value is not above this.
    pub ceiling: f64,
    /// Seconds in linear programs of the ascent.
    pub program_seconds: f64,
}

/// `lagrangian`; see the head of this file.
///
/// # Examples
/// ```
/// use fewest::method::lagrangian::{LagrangianSettings, lagrangian};
/// use fewest::method::mbp::{MbpSettings, WeightRule};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let penalty = vec![0.1, 0.1];
/// let program = MbpSettings { penalty, weight_bound: Some(WeightRule::Number(1.0)), ..MbpSettings::default() };
/// let settings = LagrangianSettings { program, ..LagrangianSettings::default() };
/// let report = lagrangian(&problem, &Rules::none(2), &settings, Limits::default(), &mut Silent)?;
/// assert_eq!(report.found.model().unwrap().features, [0]);
/// assert!((report.found.selection.outcome.bound.unwrap() - 1.1).abs() < 1e-6);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn lagrangian(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &LagrangianSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<LagrangianReport, Error> {
    settings.check(problem.n_features())?;
    let mut run = Run::bounded(rules, limits, Sense::Min, observer)?;
    let _lists = run.memory().lists("lagrangian", LISTS, problem.n_features())?;
    let mut model = Model::new(problem, rules, &settings.program, run.memory(), &run.counted_clock())?;
    run.measure_by(Yardstick::new(model.without_features(), &settings.program.penalty));
    let mut found = BestClassifier::new(&model, run.memory())?;
    let mut oracle = model.oracle(run.memory())?;
    let (mut relaxation, weighted) = (None, model.weighted());
    if !settings.program.plain {
        let point = oracle.solve(TIGHT, &run.counted_clock())?;
        run.raise_bound(point.dual);
        found.offer(&model, &point.weights, &mut run)?;
        let point = lower_bounds(point, &mut model, &mut oracle, &mut found, &mut None, &mut run)?;
        reweight(&model, &mut oracle, &point, &mut found, u64::MAX, &mut run)?;
        let point = lower_bounds(point, &mut model, &mut oracle, &mut found, &mut None, &mut run)?;
        relaxation = Some(point.dual);
    }
    let removed = weighted - model.weighted();
    let mut ascent = Dual { model: &model, oracle, seconds: 0.0 };
    let mut restricted = RestrictedProgram { model: &model, settings, tried: Vec::new(), seconds: 0.0 };
    let mut steps = Vec::new();

    // Step 0.
    let point = ascent.evaluate(&vec![0.0; rules.p()], &run)?;
    run.raise_bound(point.dual);
    let omega = restricted.solve(&point, &mut found, &mut run)?;
    let (_, gradient) = ascent.plane(&point);
    let mut bundle = Bundle::new(vec![0.0; rules.p()], point.dual, gradient);
    steps.push(Ascent::new(point.dual, &bundle, true, omega, &run));

    let mut status = Status::Completed;
    while (steps.len() as u64) < settings.max_steps {
        // Step 1.
        if let Some(stopped) = run.stop() {
            status = stopped;
            break;
        }
        let x = bundle.propose().to_vec();
        let scale = settings.tolerance * bundle.value().abs();
        if bundle.promised() <= scale || bundle.ceiling() - bundle.value() <= scale || run.closed() {
            break;
        }
        let point = ascent.evaluate(&x, &run)?;
        run.raise_bound(point.dual);
        let (value, gradient) = ascent.plane(&point);
        // Step 2.
        let serious = bundle.learn(point.dual, value, gradient) == BundleStep::Serious;
        let worth = serious && restricted.in_time(ascent.seconds);
        let omega = if worth { restricted.solve(&point, &mut found, &mut run)? } else { None };
        steps.push(Ascent::new(point.dual, &bundle, serious, omega, &run));
    }
    if steps.len() as u64 >= settings.max_steps {
        status = Status::CallLimit;
    }
    let (dual, ceiling, program_seconds) = (bundle.value(), bundle.ceiling(), ascent.seconds);
    found.programs += ascent.oracle.solves;
    let found = found.report(&model, run, status, relaxation, removed, None)?;
    Ok(LagrangianReport { found, steps, dual, ceiling, program_seconds })
}

impl Ascent {
    fn new(value: f64, bundle: &Bundle, serious: bool, omega: Option<usize>, run: &Run<'_>) -> Self {
        let upper = run.incumbent().map(|b| b.1);
        Self { value, lower: bundle.value(), upper, serious, omega, seconds: run.elapsed().as_secs_f64() }
    }
}

/// z and its planes.
struct Dual<'a, 'b> {
    model: &'a Model<'b>,
    oracle: L1Oracle<'b>,
    seconds: f64,
}

impl Dual<'_, '_> {
    /// The linear program (2.18)-(2.24) at `2 lambda_k - D_k / u_k = x_k D_k / u_k`.
    fn evaluate(&mut self, x: &[f64], run: &Run<'_>) -> Result<L1Point, Error> {
        let shift = |sign: f64| -> Vec<f64> { (0..x.len()).map(|k| 1.0 + sign * x[k] * self.rate(k)).collect() };
        let (up, down) = (shift(1.0), shift(-1.0));
        let start = Instant::now();
        self.oracle.set_prices(&up, &down)?;
        let point = self.oracle.solve(TIGHT, &run.counted_clock())?;
        self.seconds += start.elapsed().as_secs_f64();
        Ok(point)
    }

    /// D_k / u_k
    fn rate(&self, k: usize) -> f64 {
        if self.model.bound[k] > 0.0 { self.model.penalty[k] / self.model.bound[k] } else { 0.0 }
    }

    /// `|w|_1 + C sum xi + sum_k x_k D_k w_k / u_k`, which is nowhere below z: w and xi are
    /// feasible for every x.
    fn plane(&self, point: &L1Point) -> (f64, Vec<(usize, f64)>) {
        let gradient: Vec<(usize, f64)> = point.weights.iter().map(|&(k, w)| (k, self.rate(k) * w)).collect();
        let norm: f64 = point.weights.iter().map(|e| e.1.abs()).sum();
        (norm + self.model.bias_price(point.bias) + point.loss, gradient)
    }
}

/// Step 2: the program restricted to a few features.
struct RestrictedProgram<'a, 'b> {
    model: &'a Model<'b>,
    settings: &'a LagrangianSettings,
    /// Every Omega so far.
    tried: Vec<Subset>,
    /// Time they took.
    seconds: f64,
}

impl<'b> RestrictedProgram<'_, 'b> {
    /// Whether there is time for another one, beside the ascent's own linear programs of this many
    /// seconds.
    fn in_time(&self, ascent: f64) -> bool {
        self.settings.program.plain || self.seconds <= FREE * self.cap().as_secs_f64() + ascent
    }

    /// Time for each of them.
    fn cap(&self) -> Duration {
        let own = if self.settings.program.plain { Duration::MAX } else { RESTRICTED_TIME };
        self.settings.restricted_time.unwrap_or(own)
    }

    /// The restricted program on Omega, unless it was solved on a set that holds it. Returns the
    /// size of Omega.
    fn solve(
        &mut self,
        point: &L1Point,
        found: &mut BestClassifier<'b>,
        run: &mut Run<'_>,
    ) -> Result<Option<usize>, Error> {
        let (model, rules) = (self.model, self.model.rules);
        found.offer(model, &point.weights, run)?;
        let large = point.weights.iter().filter(|e| e.1.abs() > self.settings.epsilon * model.bound[e.0]).map(|e| e.0);
        let mut omega = Subset::from_indices(rules.p(), large);
        // The incumbent makes the program feasible, whatever the rules are; the paper has none.
        if let Some((best, _)) = run.incumbent()
            && !(self.settings.program.plain && rules.allows(&Subset::empty(rules.p())))
        {
            omega.extend(best.iter());
        }
        if run.stop().is_some() || run.closed() || self.tried.iter().any(|s| omega.difference(s).next().is_none()) {
            return Ok(None);
        }
        let begun = Instant::now();
        let cap = run.remaining().map_or(self.cap(), |left| left.min(self.cap()));
        let effort = Effort { time: (cap < Duration::MAX).then_some(cap), gap: run.gap_of_gain(), ..Effort::default() };
        solve_restricted(model, &omega, found, &effort, run)?;
        let q = omega.len();
        self.tried.push(omega);
        self.seconds += begun.elapsed().as_secs_f64();
        Ok(Some(q))
    }
}
