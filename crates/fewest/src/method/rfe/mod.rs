//! SVM-RFE: ranks features by dropping those of smallest criterion, and returns the first surviving
//! set the rules allow.
//!
//! Solves   nothing exactly: a greedy descent on `v(z)`, the optimum of the SVM (any kernel, loss
//!          and bias) on subset z.
//! Paper    Guyon, Weston, Barnhill, Vapnik, Machine Learning 46 (2002), section 3 and, for other
//!          kernels, section 7; Krupka 2016, Algorithm 2 and section 2.6.
//! Given    [`Samples`] (n samples, p features, k classes), or a [`GramSource`] of its columns
//!          (linear kernel, one cost); Rules, [`RfeSettings`].
//! Returns  subset, its objective (the sum over the pairs of classes), the full ranking, the costs
//!          tuned; no bound.
//! Steps    1. now and then, if asked for: the cost of largest cross-validated accuracy  2. train
//!          on the surviving features
//!          3. rank them by the criterion ([`Criterion`]; a unit by all of its features)
//!          4. drop the smallest that may leave, `step` at a time  5. until the rules allow
//!             what survives
//! Rules    a feature may go when no survivor implies it and what is left still holds an allowed
//!          subset (a witness is kept); features joined by `together` go as one unit.
//! Cost     linear kernel, for each pair of classes: n^2 for the Gram matrix when p >> n, a
//!          warm-started training, a few columns of length n ([`crate::subset_oracle`]); otherwise
//!          one warm-started training on rows. Other kernels, tuning, and more classes than two of
//!          samples few enough, work on one n x n matrix ([`crate::kernel_oracle`]): per step n^2 for each feature that leaves, and for
//!          the margin criterion s^2 / 2 kernel values for each that stays, s support vectors.
//!          Columns elsewhere: until the features left fit here, per step n^2 for each feature that
//!          leaves, there, and a training on n x n products, here; where these do not fit, of the
//!          squared hinge, n for each feature that stays and step of the conjugate gradients, there
//!          (`dual/conjugate.rs`).
//! Resamples of the samples may rank instead of all of them (Duan et al. 2005): `multiple.rs`.
//! Differs  from the paper: weights are compared at a tight duality gap, so that the order is not
//!          the solver's noise; in a tie the feature of larger index goes first. One machine per
//!          pair of classes; criteria are summed over pairs.
//! Fails    never on limits: what the last ranking says is then applied at once, and the status
//!          says so.

mod elsewhere;
mod held_out;
pub(crate) mod master;
mod multiple;
mod oracle;
mod pairs;
pub mod path;
mod resamples;
#[doc(hidden)]
pub mod splits;
mod state;

pub(super) use oracle::best_of;
pub use resamples::{Resamples, Resampling};

use serde::{Deserialize, Serialize};

use super::kernel_setup::{begin, check_start, within, without_gamma};
use super::path::{PathPoint, SizeReport, reports};
use super::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use crate::design::Scattered;
use crate::kernel::KernelRule;
use crate::kernel::gram::GramSource;
use crate::kernel_oracle::Criterion;
use crate::problem::checked_classes;
use crate::validation::{Folds, SamplesByClass, check_costs};
use crate::{
    Choice, Error, Limits, Observer, Problem, Rules, Run, Samples, Selection, Sense, Subset, SvmSettings, drive,
};
use elsewhere::SourceOracle;
use held_out::{HeldOut, HeldOutDecisions};
use master::Elimination;
use multiple::ResampledMachines;
use oracle::RankingOracle;
use pairs::{Pair, PairSamples, trains_pairs};

/// The name of the method, on the command line and in its states.
const NAME: &str = "rfe";

/// The number of features that leave in one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// This many, at least 1.
    Count(usize),
    /// This share of the features that remain, in (0, 1), rounded down, at least 1.
    Remaining(f64),
    /// This share of the features at the start, in (0, 1), rounded down, at least 1 (scikit-learn's
    /// rule).
    Original(f64),
}

crate::settings! {
    /// Tuning chooses the cost again by cross-validation now and then.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Tuning {
        /// Costs to choose from, ascending; in a tie the smaller one is taken.
        pub costs: Vec<f64> = Vec::new() => "ascending numbers above 0",
        /// Folds of the samples.
        pub folds: Folds = Folds::default(),
        /// Steps between two choices, at least 1.
        pub retune: u64 = 1 => [at least 1],
    }
}

crate::settings! {
    /// Settings of [`rfe`] and [`rfe_classes`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RfeSettings {
        /// The SVM trained at every step.
        pub svm: SvmSettings = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() } => [group],
        /// The kernel of that SVM.
        pub kernel: KernelRule = KernelRule::default(),
        /// What features are ranked by.
        pub criterion: Criterion = Criterion::Weights,
        /// Features per step. "Halving" is `Remaining(0.5)`.
        pub step: Step = Step::Count(1),
        /// While more features than this survive, half of them leave in one step.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub halve_above: Option<usize> = None => "at least 1",
        /// Resamples whose machines rank the features together: multiple SVM-RFE.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resamples: Option<Resamples> = None,
        /// Whether and how the cost is tuned on the way.
        pub tuning: Option<Tuning> = None,
        /// The features that it begins with, in any order; the others never enter.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub start: Option<Vec<usize>> = None,
    }
}

impl RfeSettings {
    /// The settings with gamma as a number, unless it depends on the features that survive.
    fn resolved(&self, data: &Samples<'_>, rules: &Rules) -> Result<Self, Error> {
        Ok(Self { kernel: self.kernel.resolve(data.design(), rules.most_features())?, ..self.clone() })
    }
}

impl RfeSettings {
    /// Refuses what machines of resamples do not rank by.
    fn check_resampled(&self, resamples: &Resamples) -> Result<(), Error> {
        let refused = if !self.kernel.is_linear() {
            "with the linear kernel only: other machines have no weights; leave the resamples out, or the kernel"
        } else if self.criterion != Criterion::Weights {
            "with the criterion weights only: theirs is a mean of squared weights by a deviation; leave one of both out"
        } else if self.tuning.is_some() {
            "at one cost; leave the costs to choose from out, or the resamples"
        } else {
            return Ok(());
        };
        Err(Error::setting("resamples", resamples.count, refused))
    }
}

impl Method for RfeSettings {
    const WEIGHT_BOUNDS: bool = true;
    const INFO: Info = Info {
        name: NAME,
        title: "SVM-RFE, recursive feature elimination",
        solves: "Trains the SVM, drops the features of smallest criterion that may leave under the rules, and trains again, until the rules hold. Ranks all features by the step at which they left. The cost can be tuned on the way.",
        formula: "min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) over the surviving features; criterion w_j^2, or the change of alpha'H alpha / 2 without feature j; summed over the pairs of classes",
        proves: "nothing: a heuristic; its objective is the SVM's on the chosen subset",
        bounds: false,
        searches: false,
        kernels: "linear, rbf, laplace, poly, sigmoid",
        classes: Classes::Any,
        rules: RULES_AND_BOUNDS,
        cost: "one warm-started training per step",
        paper: "I. Guyon, J. Weston, S. Barnhill, V. Vapnik: Gene selection for cancer classification using support vector machines. Machine Learning 46 (2002), 389-422.",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias.absorbs_constants(self.kernel.kernel())
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        check_start(self.start.as_deref(), p)?;
        self.kernel.check()?;
        check_criterion(self.criterion, &self.kernel)?;
        if let Some(tuning) = &self.tuning {
            check_costs(&tuning.costs)?;
            crate::Settings::in_range(tuning)?;
        }
        if self.halve_above == Some(0) {
            return Err(Error::setting("halve_above", 0, "at least 1"));
        }
        if let Some(resamples) = &self.resamples {
            resamples.check()?;
            self.check_resampled(resamples)?;
        }
        match self.step {
            Step::Count(0) => Err(Error::setting("step", 0, "at least 1")),
            Step::Remaining(f) | Step::Original(f) if !(f > 0.0 && f < 1.0) => {
                Err(Error::setting("step", f, "a share between 0 and 1, or a number of features"))
            }
            _ => Ok(()),
        }
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let (kernel, limits) =
            match begin(&self.kernel, samples, rules, rules.most_features(), limits, Sense::Min, observer)? {
                Ok(begun) => begun,
                Err(stopped) => return Ok(without_gamma(*stopped, &self.kernel)),
            };
        let settings = Self { kernel, ..self.clone() };
        Ok(rfe_classes(samples, rules, &settings, limits, observer)?.report(&settings))
    }

    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        // One gamma for all sizes, that of the largest.
        let most = sizes.last().copied().unwrap_or(rules.p());
        let begun = begin(&self.kernel, samples, rules, most, limits.clone(), Sense::Min, observer)?;
        let (kernel, limits) = match begun {
            Ok(begun) => begun,
            Err(stopped) => {
                let nothing = |&k: &usize| PathPoint { max_features: k, selection: stopped.as_ref().clone() };
                return Ok(reports(sizes.iter().map(nothing).collect(), |_| self.kernel.without_gamma()));
            }
        };
        let settings = Self { kernel, ..self.clone() };
        let points = path::rfe_classes_path(samples, rules, sizes, &settings, &limits, observer)?;
        Ok(reports(points, |features| settings.kernel.at(features)))
    }

    fn finds_size(&self) -> bool {
        false
    }
}

/// Refuses squared weights where there are none.
pub(super) fn check_criterion(criterion: Criterion, kernel: &KernelRule) -> Result<(), Error> {
    if criterion == Criterion::Weights && !kernel.is_linear() {
        return Err(Error::setting(
            "criterion",
            "weights",
            "margin or input-weights: only a linear kernel has weights",
        ));
    }
    Ok(())
}

/// The cost chosen at a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Step, from 1.
    pub step: u64,
    /// Surviving features.
    pub n_features: usize,
    /// The cost.
    pub cost: f64,
    /// Accuracy at this cost, the mean over the folds.
    pub accuracy: f64,
}

/// The result of [`rfe_classes`].
#[derive(Debug, Clone)]
pub struct RfeReport {
    /// Subset, objective, ranking.
    pub selection: Selection,
    /// The cost of the last training.
    pub cost: f64,
    /// Every choice of the cost, in order; empty without tuning.
    pub tuned: Vec<Tuned>,
    /// Steps of the elimination.
    pub steps: u64,
    /// Steps after which, by the duality gaps, the same features are left as by trainings without
    /// any error; the others are ties within the tolerance. None where the criterion is not the
    /// squared weights.
    pub certain_steps: Option<u64>,
}

impl RfeReport {
    /// The report of a method; `settings` are those of the elimination.
    pub fn report(self, settings: &RfeSettings) -> Report {
        let mut out = Report::of_rule(self.selection, &settings.kernel).detail("elimination_steps", self.steps);
        if let Some(certain) = self.certain_steps {
            out = out.detail("certain_steps", certain);
        }
        match settings.tuning {
            Some(_) => out.with_cost(self.cost).detail("cost", self.cost).detail("tuned", self.tuned),
            None => out,
        }
    }
}

/// SVM-RFE: drops the features of smallest criterion until the rules (size, budget, ...) hold.
/// Features the rules forbid are never trained on.
///
/// # Errors
/// Settings out of range, or more memory needed than allowed.
pub fn rfe(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    Ok(rfe_classes(&problem.into(), rules, settings, limits, observer)?.selection)
}

/// [`rfe`] for two or more classes, with the costs that tuning chose.
///
/// # Errors
/// Settings out of range, or more memory needed than allowed.
pub fn rfe_classes(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<RfeReport, Error> {
    Ok(eliminate(data, rules, settings, None, limits, observer)?.0)
}

/// [`rfe_classes`], judging samples that are held out at every training.
fn eliminate(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    held_out: Option<HeldOut<'_>>,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<(RfeReport, Option<HeldOutDecisions>), Error> {
    settings.check(rules.p())?;
    let rules = &*within(rules, settings.start.as_deref())?;
    let settings = &settings.resolved(data, rules)?;
    let mut run = Run::bounded(rules, limits, Sense::Min, observer)?;
    let plain = data.n_classes() == 2
        && settings.kernel.is_linear()
        && settings.tuning.is_none()
        && held_out.is_none()
        && settings.criterion == Criterion::Weights;
    if !plain && !rules.weight_bounds().is_free() {
        return Err(Error::Rules(
            "rfe obeys bounds on weights with the linear kernel, two classes, the criterion weights and one cost alone, \
             and not while it judges samples held out; leave the bounds out, or select by exact"
                .to_owned(),
        ));
    }
    if settings.resamples.is_some() && !rules.weight_bounds().is_free() {
        return Err(Error::Rules(
            "machines of resamples obey no bounds on weights; leave the bounds out, or the resamples".to_owned(),
        ));
    }
    let (pairs, problems, grouped);
    let mut oracle = if trains_pairs(data, rules, settings) {
        pairs = PairSamples::new(data, rules, permitted(rules).len(), &settings.svm, run.memory())?;
        problems = pairs.problems()?;
        RankingOracle::linear(&pairs, &problems, rules, &permitted(rules), settings)?
    } else {
        grouped = SamplesByClass::new(data, &settings.svm, run.memory())?;
        RankingOracle::kernel(&grouped, rules, settings)?
    };
    oracle.hold_out(held_out);
    let resampled = |of: &Resamples| ResampledMachines::new(data, rules, &settings.svm, of, run.memory());
    oracle.rank_by(settings.resamples.as_ref().map(resampled).transpose()?);
    let mut master = Elimination::new(rules, settings);
    if let Some(state) = run.resume(NAME)? {
        master.restore(state, &mut oracle)?;
    }
    let status = drive(&mut oracle, &mut master, &mut run)?;
    let status = oracle.earned(status, &run);
    let cost = oracle.cost();
    let (tuned, decisions) = oracle.into_parts();
    let (steps, certain_steps) = (master.steps, master.certain);
    let selection = Selection { ranking: master.ranking(), solutions: Vec::new(), outcome: run.finish(status) };
    Ok((RfeReport { selection, cost, tuned, steps, certain_steps }, decisions))
}

/// [`rfe_classes`] on a matrix that may be elsewhere, with the classes (0, 1, ..., all present) and
/// weights (default all 1) of its n samples. The columns stay where they are while more features
/// survive than fit into a quarter of [`SvmSettings::memory`]; then the survivors' are copied, and
/// it goes on with these. The maker of the source has checked its values
/// ([`crate::check_values`]).
///
/// # Errors
/// Those of [`rfe_classes`] and of [`Samples::new`], those of the source; a kernel other than
/// linear, a criterion other than the weights, tuning, resamples, bounds on weights; more memory
/// needed than allowed, or, for the n x n products, than eight times [`SvmSettings::memory`].
pub fn rfe_from(
    source: &dyn GramSource,
    classes: &[u32],
    weights: Option<&[f64]>,
    rules: &Rules,
    settings: &RfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<RfeReport, Error> {
    settings.check(rules.p())?;
    let p = source.n_features();
    rules.check_features(p)?;
    let plain = settings.tuning.is_none() && settings.resamples.is_none();
    if !settings.kernel.is_linear() || settings.criterion != Criterion::Weights || !plain {
        return Err(Error::Data(
            "columns elsewhere are eliminated by the weights of linear machines at one cost, of all samples; have X in \
             memory, or leave the resamples out"
                .into(),
        ));
    }
    let (n_classes, weights) = checked_classes(source.n_samples(), classes, weights)?;
    let rules = &*within(rules, settings.start.as_deref())?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let mut master = Elimination::new(rules, settings);
    let mut there = SourceOracle::new(source, Pair::all(classes, n_classes, &weights), rules, &settings.svm);
    master.pause = Some(there.most_that_fit());
    let mut status = drive(&mut there, &mut master, &mut run)?;
    let betas = there.into_betas();
    if !master.finished && !status.is_limit() {
        // Few enough are left: on with copies of them.
        master.pause = None;
        master.leaving.clear();
        let survivors: Vec<usize> = master.survivors.iter().collect();
        let what = || format!("a copy of the {} features left", survivors.len());
        let _taken = run.memory().reserve(source.bytes(survivors.len()), what, "start with fewer features")?;
        let design = Scattered::new(&source.rows(&survivors)?, &survivors, p);
        let samples = Samples::of_parts(&design, classes, n_classes, &weights);
        let pairs = PairSamples::new(&samples, rules, survivors.len(), &settings.svm, run.memory())?;
        let problems = pairs.problems()?;
        let mut here = RankingOracle::linear(&pairs, &problems, rules, &master.survivors, settings)?;
        here.start_from(betas)?;
        status = drive(&mut here, &mut master, &mut run)?;
        status = here.earned(status, &run);
    }
    let (cost, steps, certain_steps) = (settings.svm.cost, master.steps, master.certain);
    let selection = Selection { ranking: master.ranking(), solutions: Vec::new(), outcome: run.finish(status) };
    Ok(RfeReport { selection, cost, tuned: Vec::new(), steps, certain_steps })
}

/// Every feature the rules do not forbid.
pub(super) fn permitted(rules: &Rules) -> Subset {
    let units = (0..rules.n_units()).filter(|&u| rules.root()[u] != Choice::Out);
    Subset::from_indices(rules.p(), units.flat_map(|u| rules.unit(u).iter().copied()))
}
