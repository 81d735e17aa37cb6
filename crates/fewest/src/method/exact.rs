//! Exact selection: branch and bound on the saddle relaxation; finds the best subset for a linear
//! SVM and proves it.
//!
//! Solves   min_z v(z) + sum_j lambda_j z_j  s.t. rules, with hinge or squared hinge, ridge 1/2
//!          |w|^2, any bias.
//! Paper    Aytug 2015, problems FSP-M and FSP-lambda; bound of the saddle form (ARCHITECTURE.md,
//!          "The idea"); tree as in Hazimeh, Mazumder, Saab, Sparse regression at scale, Math.
//!          Programming 196 (2022).
//! Given    Problem (n samples, p features) or several, Rules, [`ExactSettings`].
//! Returns  the N best subsets or all within a share of the best, objective, bound, status.
//! Steps    1. first subsets: those given, and the largest gains unless one of them is of
//!             the size allowed  2. relax the root
//!          3. improve, unless that closes the gap: round, swap, exchange  4. decide features by
//!             their price and by probing
//!          5. take the open nodes of lowest bound and dive from each: relax, decide, round, branch
//!             on the largest product of promised rises, go on with one child while the bound is
//!             low  6. until no node is open below the incumbent
//! Cost     per node: a few rounds on the samples near the margin (`relaxation`); memory: 8 n bytes
//!          per open node, up to `svm.memory`; nodes beyond start from the root's answer.
//! Several  problems that share the subset add their objectives: more classes than two, tasks
//!          (`crate::several`).
//! Weights  with bounds gain as `crate::weights` says.
//! Differs  from the paper: no master problem; a node's bound is the relaxation at the end of all
//!          its cuts.
//! Fails    never on limits: the open node of lowest bound is then the bound of the run.

mod dive;
mod exchange;
mod node;
pub mod path;
mod state;
mod tree;

use serde::{Deserialize, Serialize};

use super::path::{SizeReport, reports};
use super::penalty::Penalty;
use super::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use crate::bound::{Relaxation, WarmStart};
use crate::proof::{Claim, Gain, HELD_BACK, ProofWriter};
use crate::search::{NearBest, Wanted};
use crate::several::check_several;
use crate::{
    Bias, Error, Kernel, Limits, MultiClass, Observer, Problem, Rules, Run, Samples, Selection, Sense, Several, Subset,
    SvmSettings, Yardstick, drive,
};
use dive::Search;
use tree::Tree;

/// Name of the method, on the command line and in its states.
const NAME: &str = "exact";
/// Numbers kept for each feature: norms and prices, gains and their order at the nodes being
/// solved.
const LISTS: u64 = 10;

crate::settings! {
    /// Settings of [`exact`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ExactSettings {
        /// Loss, cost C, bias and tolerance of the SVM.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// lambda_j added to the objective for each chosen feature, length p, each 0 or more; empty for
        /// none. `auto`: one number, found from the SVM on all features, at which about
        /// `max_features` of them are worth it.
        pub penalty: Penalty = Penalty::NONE => "one number for each feature, 0 or more, or none, or auto",
        /// How many best subsets to prove and return, at least 1; with `within` at most this many.
        pub solutions: usize = 1 => "at least 1",
        /// E, 0 or more: all subsets whose gain is at least (1 - E) times that of the best are wanted,
        /// smaller ones than `max_features` among them.
        pub within: Option<f64> = None => "0 or more",
        /// Subsets to start from, as first incumbents; those the rules forbid are ignored.
        pub start: Vec<Subset> = Vec::new(),
        /// How more classes than two become two-class problems, whose objectives add.
        pub multi_class: MultiClass = MultiClass::default(),
    }
}

impl ExactSettings {
    fn wanted(&self) -> Wanted {
        Wanted { most: self.solutions, within: self.within }
    }

    /// With a number in place of a penalty of `auto`, that number, and what is left of the limits.
    fn priced(
        &self,
        problems: &[Problem<'_>],
        rules: &Rules,
        limits: Limits,
    ) -> Result<(Self, Option<f64>, Limits), Error> {
        let (penalty, price, limits) = self.penalty.found(problems, rules, &self.svm, limits)?;
        Ok((Self { penalty, ..self.clone() }, price, limits))
    }

    /// What a proof of a run speaks of.
    fn claim(&self) -> Claim<'_> {
        let SvmSettings { cost, loss, bias, .. } = self.svm;
        Claim { gain: Gain::Ridge, loss, bias, cost, penalty: self.penalty.prices(), weight_bounds: &[] }
    }
}

impl Method for ExactSettings {
    const WEIGHT_BOUNDS: bool = true;
    const TASKS: bool = true;
    const INFO: Info = Info {
        name: NAME,
        title: "the best subset, by branch and bound",
        solves: "Finds the allowed subset whose linear SVM has the smallest objective, and proves it: bounds from the dual of the SVM with weights spread over the features still open, and a search where they do not decide. At a limit it returns the best subset so far with the bound and gap proven until then.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, v(z) = min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) with w_j = 0 where z_j = 0",
        proves: "the best subset, within `gap`",
        bounds: true,
        searches: true,
        kernels: "linear",
        classes: Classes::Any,
        rules: RULES_AND_BOUNDS,
        cost: "few nodes where C is small or few features stand out; grows with C, p and `max_features` in the worst case exponentially",
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015, for the model; the branch and bound is ours.",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias == Bias::Free
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        self.wanted().check()?;
        self.penalty.check(p)
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let settings = Self { start: super::subsets(&self.start, rules)?, ..self.clone() };
        let several = Several::of(samples, self.multi_class, rules, &limits.memory)?;
        let problems = several.problems();
        settings.check(check_several(&problems)?)?;
        let (settings, price, limits) = settings.priced(&problems, rules, limits)?;
        let (selection, near) = search(&problems, rules, &settings, None, &mut RootPoint::default(), limits, observer)?;
        let report = Report::new(selection, Kernel::Linear).with_penalty(price).with_near(near);
        Ok(report.with_several(&several, self.multi_class))
    }

    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        self.wanted().check_path()?;
        if self.penalty == Penalty::Auto {
            // Each size has a price of its own.
            return super::path::each(self, samples, rules, sizes, limits, observer);
        }
        let several = Several::of(samples, self.multi_class, rules, &limits.memory)?;
        let points = path::exact_path_several(&several.problems(), rules, sizes, self, limits, observer)?;
        let reports = reports(points, |_| Kernel::Linear);
        Ok(reports.into_iter().map(|size| size.map(|report| report.with_several(&several, self.multi_class))).collect())
    }

    fn finds_size(&self) -> bool {
        self.penalty.is_some()
    }

    fn penalty(&self) -> &[f64] {
        self.penalty.prices()
    }
}

/// `exact`: the allowed subset of smallest objective, with proof. `Selection::solutions` holds the
/// N best, or all within a share of the best, best first; whether these are all is in
/// [`Method::select`] alone.
///
/// # Errors
/// Settings out of range, or more memory needed than allowed.
pub fn exact(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    exact_several(std::slice::from_ref(problem), rules, settings, limits, observer)
}

/// [`exact`] of several problems on the same features, whose objectives add: the one subset that is
/// best for all together.
///
/// # Errors
/// As [`exact`]; no problem, or problems on other numbers of features.
pub fn exact_several(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    exact_from(&mut RootPoint::default(), problems, rules, settings, limits, observer)
}

/// A point of the root of a search, where that of the next one starts.
#[derive(Debug, Default)]
pub struct RootPoint(Option<WarmStart>);

impl RootPoint {
    /// The point, feasible for these problems; a cold one where these are others, or their rules have
    /// other rows.
    fn of(&self, relaxation: &Relaxation<'_>) -> WarmStart {
        let known = self.0.as_ref().filter(|at| relaxation.fits(at));
        let Some(mut at) = known.cloned() else { return relaxation.cold() };
        relaxation.make_feasible(&mut at.beta);
        at
    }
}

/// [`exact_several`] under one set of rules after the other, with the same settings besides: each
/// search takes the point of the root before it, and leaves its own.
pub fn exact_from(
    root: &mut RootPoint,
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    search(problems, rules, settings, None, root, limits, observer).map(|found| found.0)
}

/// [`exact_several`], whose proof lists a subset besides the best ones.
pub(crate) fn exact_beside(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &ExactSettings,
    listed: &Subset,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    search(problems, rules, settings, Some(listed), &mut RootPoint::default(), limits, observer).map(|found| found.0)
}

/// [`exact`], and what the subsets within a share of the best tell, where these are wanted; `listed`
/// is one that a proof lists whatever is found.
fn search(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &ExactSettings,
    listed: Option<&Subset>,
    root: &mut RootPoint,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<(Selection, Option<NearBest>), Error> {
    let p = check_several(problems)?;
    settings.check(p)?;
    let (settings, _, limits) = &settings.priced(problems, rules, limits)?;
    let mut run = Run::bounded(rules, limits.clone(), Sense::Min, observer)?;
    // Norms of each problem's columns are kept twice.
    let lists = if problems.len() > 1 { LISTS + 3 * problems.len() as u64 } else { LISTS };
    let _lists = run.memory().lists(NAME, lists, p)?;
    let relaxation = Relaxation::new(problems, rules, &settings.svm, settings.penalty.prices());
    run.measure_by(Yardstick::new(relaxation.baseline(), settings.penalty.prices()));
    let mut relaxation = relaxation.within(run.memory());
    if run.proof().is_some() {
        run.hold_back(HELD_BACK);
        relaxation.keep_points();
    }
    let mut search = Search::new(&relaxation, &run);
    let mut tree = Tree::new(&relaxation, settings, &run);
    if let Some(state) = run.resume(NAME)? {
        tree.restore(state, &relaxation, &mut run)?;
    } else {
        tree.proof = ProofWriter::begin(problems, &settings.claim(), &mut run);
        tree.plant(&mut search, settings, root, &mut run);
        relaxation.afforded()?;
    }
    if let Some(listed) = listed {
        tree.list(listed, &search, &mut run);
    }
    let status = drive(&mut search, &mut tree, &mut run)?;
    tree.keep(&[], true, &mut run);
    let near = tree.near();
    let status = tree.prove(run.earned(status), &mut run);
    let solutions = tree.pool.solutions();
    Ok((Selection { outcome: run.finish(status), ranking: Vec::new(), solutions }, near))
}
