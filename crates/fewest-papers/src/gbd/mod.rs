//! GBD: the allowed subset with the best SVM, proven, by Generalized Benders Decomposition.
//!
//! Solves   min_z v(z) + sum_j lambda_j z_j  s.t. rules, v(z) the optimum of the linear SVM (hinge
//!          or squared hinge, any bias) on the features of z. GBD-M is a size limit in the rules
//!          and no lambda; GBD-lambda is a lambda.
//! Paper    Aytug, Feature selection for support vector machines using Generalized Benders
//!          Decomposition, EJOR 244 (2015): FSP-M, FSP-lambda, GBD-M (Table 1), GBD-lambda;
//!          eqs. (5)-(15).
//! Given    Problem (n samples, p features) or several, whose objectives and cuts add, Rules,
//!          [`GbdSettings`].
//! Returns  subset, objective, proven bound, status; every subset trained on, with its objective
//!          and validation error.
//! Steps    1. SUB: train the SVM on a subset; its objective is an upper value
//!          2. cut: `eta >= constant - sum_j z_j c_j^2 / 2` over all p features ([`fewest::bound::saddle`])
//!          3. RMP: the subset of least value by the cuts, a mixed-integer program
//!             (`cuts.rs`); its bound is proven
//!          4. until the gap is met, or a limit, the cap on cuts, or the validation rule says stop
//! Rules    rows of the master; no feasibility cuts are needed, since every subset has an SVM.
//! Cost     per cut: a training and n p; the masters take most of the time, and more with every
//!          cut; memory: cuts times p.
//! Differs  from the paper: written as a minimisation, so its UB is our bound and its LB our
//!          objective. The first subset, which the paper leaves open, is the first features by
//!          index that the rules allow. In the master eta is at least 0, which holds for every
//!          subset; the paper's is free. [`GbdSettings::plain`] differs in nothing else; by default
//!          there are improvements, each with its setting:
//!          - `warm_start`: a training starts from the last beta, a master from the best subset
//!            (the paper's own suggestion);
//!          - `root_cuts`: before step 3 the master with fractional z is solved, by cuts at
//!            fractional points (the SVM on columns `sqrt(z_j) x_j`), each halfway between the best
//!            fractional point known and the relaxation's optimum (in-out separation: Ben-Ameur,
//!            Neto, Networks 49 (2007)), from the middle of what the rules allow. The best
//!            fractional point is rounded to a subset whenever that gives a new one;
//!          - `core_cuts`: each round adds a second cut, at the core point, a moving average of the
//!            subsets the masters gave; it has all its z_j above 0 at first, so the cut is
//!            Pareto-optimal (Magnanti, Wong 1981; Papadakos 2008);
//!          - `cutoff`: a master only searches for subsets better than the best known by more than
//!            the gap allowed, and takes one as soon as its own gap is as small as the run's. When
//!            there is none, the proof is complete;
//!          - `list`: where the rules allow few subsets, a master examines each of them instead of
//!            asking HiGHS (`list.rs`); it then gives the one of least value, as the paper's.
//! Bound    HiGHS's, which the library checks before it closes the gap (`relaxed.rs`); a
//!          subset whose training ends short of a tenth of the gap asked for ends as `stalled`, as
//!          do gaps below HiGHS's tolerance, 1e-6 of the objective.
//! Proof    The cuts give none that another program could follow. Where a proof is wanted, the
//!          search of `exact` starts from the subset found and writes its own, in what is left of
//!          the time.
//! Fails    never on limits: the best subset so far is returned. Errors: settings out of range, a
//!          failure of HiGHS.

mod benders;
mod cuts;
mod list;
mod relaxed;
mod state;
mod trainer;
mod validation;

use serde::{Deserialize, Serialize};

use fewest::bound;
use fewest::bound::saddle::without_features;
use fewest::internals::ForProof;
use fewest::internals::check_several;
use fewest::method::exact::{ExactSettings, exact_several};
use fewest::method::penalty::Penalty;
use fewest::method::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use fewest::{
    Bias, Error, Kernel, Limits, Memory, MultiClass, Observer, Outcome, Problem, Reserved, Rules, Run, Samples,
    Selection, Sense, Several, Status, Subset, SvmSettings, Yardstick, drive,
};
use list::List;

use benders::Benders;
use trainer::Trainer;
pub use validation::Validation;
use validation::least_error;

/// Name of the method, on the command line and in its states.
const NAME: &str = "gbd";

/// Share of the objective without features that trainings and cuts are known to.
const KNOWN: f64 = 1e-8;

fewest::settings! {
    /// Settings of [`gbd`].
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct GbdSettings {
        /// The SVM of v. Its tolerance should be well below the gap asked for.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// lambda_j, the price of each feature, length p, each finite and 0 or more; empty for none.
        /// `auto`: one number, found from the SVM on all features, at which about `max_features` of
        /// them are worth it.
        pub penalty: Penalty = Penalty::NONE => "one number for each feature, 0 or more, or none, or auto",
        /// Stop after this many cuts, which is as many trainings; at least 1. The master is solved once
        /// more after the last.
        pub max_cuts: u64 = 250 => [at least 1],
        /// Judge every classifier on these data.
        #[serde(skip)]
        pub validation: Option<Validation> = None,
        /// Start each training and each master from the last.
        pub warm_start: bool = true,
        /// Solve the relaxation of the master first, by cuts at fractional points.
        pub root_cuts: bool = true,
        /// A second cut per round, at the core point.
        pub core_cuts: bool = true,
        /// Let a master search only for subsets that improve on the best, and end early.
        pub cutoff: bool = true,
        /// Examine every subset where the rules allow few, instead of solving masters by HiGHS.
        pub list: bool = true,
        /// How more classes than two become two-class problems, whose objectives add.
        pub multi_class: MultiClass = MultiClass::default(),
    }
}

impl GbdSettings {
    /// The paper's text: no improvement. Only the master's eta is at least 0, where the paper's is free.
    pub fn plain() -> Self {
        Self {
            svm: SvmSettings::default(),
            penalty: Penalty::NONE,
            max_cuts: 250,
            validation: None,
            warm_start: false,
            root_cuts: false,
            core_cuts: false,
            cutoff: false,
            list: false,
            multi_class: MultiClass::default(),
        }
    }
}

impl Method for GbdSettings {
    const WEIGHT_BOUNDS: bool = true;
    const TASKS: bool = true;
    const INFO: Info = Info {
        name: NAME,
        title: "Generalized Benders Decomposition, with improvements",
        solves: "Trains the SVM on a subset, turns the training into a cut over all features, and asks a mixed-integer program (HiGHS) for the next subset, until bound and best subset meet. `exact` proves the same values, mostly sooner.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, by cuts eta >= sum_i alpha_i - 1/2 sum_j z_j c_j^2 + sum_j lambda_j z_j",
        proves: "the best subset, within `gap`",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Any,
        rules: RULES_AND_BOUNDS,
        cost: "one training and one mixed-integer program per round; slow where `max_features` is near half the features",
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015.",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias == Bias::Free
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        fewest::Settings::in_range(self)?;
        self.penalty.check(p)?;
        self.validation.as_ref().map_or(Ok(()), |validation| validation.check(p))
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let several = Several::of(samples, self.multi_class, rules, &limits.memory)?;
        let report = gbd_several(&several.problems(), rules, self, limits, observer)?;
        let validated = report.validated();
        let out = Report::new(report.selection, Kernel::Linear).with_penalty(report.penalty);
        let out = out.with_several(&several, self.multi_class);
        Ok(match validated {
            Some(validated) => out.detail("validated", validated),
            None => out,
        })
    }

    fn finds_size(&self) -> bool {
        self.penalty.is_some()
    }

    fn penalty(&self) -> &[f64] {
        self.penalty.prices()
    }
}

/// One subset that was trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedSubset {
    /// Masters solved before: the paper's iteration; 0 for the first subset.
    pub round: u64,
    /// The subset.
    pub subset: Subset,
    /// The subset's objective, price included.
    pub objective: f64,
    /// The best objective so far.
    pub upper: f64,
    /// The bound proven so far.
    pub bound: Option<f64>,
    /// Share of the validation samples that its classifier gets wrong.
    pub validation_error: Option<f64>,
}

/// Result of [`gbd`].
#[derive(Debug, Clone)]
pub struct GbdReport {
    /// The subset of best objective, bound, status.
    pub selection: Selection,
    /// Every subset trained on, in order.
    pub trained: Vec<TrainedSubset>,
    /// The subset of smallest validation error, ties to the better objective.
    pub best_validated: Option<usize>,
    /// The price of each feature, where it was to be found.
    pub penalty: Option<f64>,
}

impl GbdReport {
    /// The subset of smallest validation error for the report, where there is one.
    fn validated(&self) -> Option<serde_json::Value> {
        let best = &self.trained[self.best_validated?];
        let of_best = self.selection.outcome.subset.as_ref();
        let of_best = self.trained.iter().find(|t| Some(&t.subset) == of_best).and_then(|t| t.validation_error);
        Some(serde_json::json!({
            "selected_indices": best.subset.iter().collect::<Vec<_>>(),
            "objective": best.objective,
            "error": best.validation_error,
            "error_of_best": of_best,
            "judged": self.trained.len(),
        }))
    }
}

/// Bytes of each gain of each cut: in the two programs, HiGHS's copies of them, and here.
const BYTES: u64 = 150;

/// Whether subsets are listed where they are few: where the longest list is a small part of the
/// memory, whatever others have taken of it.
fn lists(rules: &Rules, settings: &GbdSettings, memory: &Memory) -> bool {
    let allowed = settings.svm.memory.min(memory.allowed());
    settings.list && rules.n_units() <= list::MOST_UNITS && list::BYTES <= allowed / 16
}

/// Takes the memory of a list, and of as many cuts as there may be, so that no run ends for lack of
/// it midway.
fn reserve(rules: &Rules, settings: &GbdSettings, memory: &Memory) -> Result<Reserved, Error> {
    let (units, allowed) = (rules.n_units() as u64, memory.at_most(settings.svm.memory));
    let listed = if lists(rules, settings, memory) { list::BYTES } else { 0 };
    let needed = BYTES.saturating_mul(units).saturating_mul(settings.max_cuts).saturating_add(listed);
    let taken = if needed <= allowed { memory.take(needed) } else { None };
    taken.ok_or_else(|| Error::Memory {
        what: format!("gbd with {} cuts of {units} features (an estimate)", settings.max_cuts),
        needed,
        allowed,
        remedy: format!(
            "allow more with `memory`, or at most {} cuts with `max_cuts`",
            (allowed / BYTES.saturating_mul(units).max(1)).max(1)
        ),
    })
}

/// Generalized Benders Decomposition; see the head of this file.
///
/// ```
/// use fewest_papers::gbd::{GbdSettings, gbd};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent, Status};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let report = gbd(&problem, &rules, &GbdSettings::default(), Limits::default(), &mut Silent)?;
/// let outcome = report.selection.outcome;
/// assert_eq!(outcome.status, Status::Optimal);
/// assert!(outcome.subset.unwrap().contains(0));
/// assert!((outcome.objective.unwrap() - 0.5).abs() < 1e-6); // w = 1, no slack
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; more cuts than the memory allows; a failure of HiGHS.
pub fn gbd(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &GbdSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<GbdReport, Error> {
    gbd_several(std::slice::from_ref(problem), rules, settings, limits, observer)
}

/// [`gbd`] of several problems on the same features, whose objectives add, and so do their cuts.
///
/// # Errors
/// As [`gbd`]; no problem, problems on other numbers of features, validation data, which judge one
/// classifier.
pub fn gbd_several(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &GbdSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<GbdReport, Error> {
    let p = check_several(problems)?;
    settings.check(p)?;
    if problems.len() > 1 && settings.validation.is_some() {
        return Err(Error::Data(format!(
            "validation data judge one two-class classifier, but there are {}, of more classes or tasks; leave \
             `validation` out",
            problems.len()
        )));
    }
    rules.check_features(p)?;
    let (penalty, price, limits) = settings.penalty.found(problems, rules, &settings.svm, limits)?;
    let settings = &GbdSettings { penalty, ..settings.clone() };
    let _cuts = reserve(rules, settings, &limits.memory)?;
    let mut run = Run::bounded(rules, limits.clone(), Sense::Min, observer)?;
    let yardstick = Yardstick::new(without_features(problems, &settings.svm), settings.penalty.prices());
    run.measure_by(yardstick.known_to(KNOWN));
    let bounded = !rules.weight_bounds().is_free();
    // What trains within bounds has a block of its own.
    let largest = problems.iter().map(Problem::n_samples).max().unwrap_or(0);
    let _block = if bounded { Some(bound::reserve(largest, p, run.memory())?) } else { None };
    let listed = lists(rules, settings, &limits.memory);
    let list = if listed { List::new(rules, &run.counted_clock()) } else { None };
    let mut oracle = Trainer::new(problems, rules, settings)?;
    let mut master = Benders::new(rules, settings, list)?;
    if let Some(state) = run.resume(NAME)? {
        master.restore(state, &mut oracle)?;
    }
    let status = drive(&mut oracle, &mut master, &mut run)?;
    master.keep(true, &mut run);
    let (best_validated, trained) = (least_error(&master.trained, true), master.trained);
    let mut selection = Selection { ranking: Vec::new(), solutions: Vec::new(), outcome: run.finish(status) };
    if observer.proof().is_some() {
        let proven = prove(problems, rules, settings, limits, &selection.outcome, observer)?;
        if selection.outcome.status == Status::Optimal {
            selection.outcome.status = proven;
        }
    }
    Ok(GbdReport { selection, trained, best_validated, penalty: price })
}

/// Writes the proof of an outcome: that of a search that starts from its subset. Returns the status
/// that the file proves.
fn prove(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &GbdSettings,
    limits: Limits,
    outcome: &Outcome,
    observer: &mut dyn Observer,
) -> Result<Status, Error> {
    let start = outcome.subset.iter().cloned().collect();
    let (svm, penalty) = (settings.svm.clone(), settings.penalty.clone());
    let time = limits.time.map(|time| time.saturating_sub(outcome.elapsed));
    let limits = Limits { time, oracle_calls: None, ..limits };
    let settings = ExactSettings { svm, penalty, start, ..ExactSettings::default() };
    exact_several(problems, rules, &settings, limits, &mut ForProof(observer)).map(|found| found.outcome.status)
}
