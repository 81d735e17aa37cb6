//! Feature generating machine: a sparse linear SVM among millions of features, with the value of
//! its relaxation proven.
//!
//! Solves   min_d min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, s.t. y_i (w.(x_i . d) + b) >= rho - xi_i,
//!          over the subsets d that the rules allow, relaxed to their mixtures sum_t mu_t d_t.
//!          Squared hinge, ridge; no bias, unless asked for.
//! Paper    Tan, Wang, Tsang, Learning sparse SVM for feature selection on very high dimensional
//!          datasets, ICML 2010: Algorithm 1, eqs. (1)-(9), Theorem 1, sections 2.2 to 2.5.
//! Given    Problem (n samples, p features), or a [`Source`] of its columns; Rules,
//!          [`FgmSettings`].
//! Returns  the features kept, their mu-weights z_j = sum_t mu_t d_tj, w, the mixture's value, the
//!          proven bound, status.
//! Steps    1. alpha = 1/n (samples by their weights); the most violated subset (`separation`)
//!          2. multiple kernel learning over the subsets so far (`mkl`, `support_norm`)
//!          3. at its alpha: the most violated subset, and the bound of Theorem 1
//!          4. until value and bound meet
//!          5. the features kept, and the SVM on them
//! Size     `subset_size`, the paper's B, is the size of each generated subset; by default the size
//!          of the rules.
//! Keeps    a subset that the rules allow, always. Where the rules have a size: the best of some
//!          subsets of the mixture's columns, each retrained (`best_subset`): that of the largest
//!          sum of z_j c_j^2 (FGM-B), and by `improve` that of the largest sum of w_j^2, what SVM-RFE
//!          leaves, and what exchanges lead to. Where they have none, but `subset_size` is set: every
//!          feature of positive weight, the paper's own output, if the other rules allow it.
//! Signs    of weights: `s_j w_j >= 0`. With margins of 1 only what a feature gains changes,
//!          `max(0, s_j c_j)^2 / 2`, which is of degree 2 in alpha as before, so that the factor
//!          between both scales stays. A bound other than 0 is refused: the paper's rho leaves the
//!          length of w open, so that a bound would be one on w / rho.
//! Several  problems (more classes than two, tasks) are one whose matrix is block-diagonal, with one
//!          rho: V is the sum of theirs, squared scores add over them, mu and z are shared
//!          ([`fgm_several`]). Those of classes and tasks share the matrix and the rows of their
//!          samples: one walk along its values gives the scores of all, and nothing is copied but the
//!          columns of the generated subsets. Threads share the problems.
//! Bound    -S(alpha, d) at the most violated d (Theorem 1): no allowed subset, and no mixture, has
//!          a smaller value. Under a budget, groups or implications the sum it counts is raised by
//!          the slack the search may have left, 1e-6. Where a subset is kept and B is not the size
//!          of the rules, d is searched for once more, at the last alpha, under the rules.
//! Cost     per round one pass over X, and on the q columns of the generated subsets a few dozen
//!          steps of two passes and some sweeps each; memory: those columns, and 24 q^2 bytes unless
//!          they are sparse and many (`support_norm`). p only enters by the pass. Of T problems the
//!          sweeps of each, and 16 T q^2 bytes.
//! Differs  from the paper: margins are 1 while it computes: with V the value of that problem, this
//!          one's is -1 / (4 V), so both have the same subsets and mixtures. Improvements, each
//!          with its setting:
//!          - `reuse`: between two passes the best mixture of all subsets of the current columns is
//!            found, not of those listed: under a size limit without a list (`support_norm`), under
//!            other rules by seeking subsets among the columns (`mkl`);
//!          - `mkl`: Newton's method in place of SimpleMKL's reduced gradient;
//!          - each round's MKL is solved to a share of the gap still open;
//!          - `improve`: another ranking after the last round, and, with a size alone, SVM-RFE and
//!            exchanges; where nothing is asked, with `reuse`, the latter with many samples.
//! Fails    never on limits: the mixture so far is returned, and so it is where the columns of later
//!          subsets do not fit the memory. Errors: settings out of range; no memory for the first.

mod best_subset;
mod blocks;
mod descent;
mod machine;
mod machines;
mod margin;
mod mixture;
mod mixture_oracle;
mod mkl;
mod part;
mod penalty;
mod quadratic;
mod report;
mod rounds;
mod samples;
mod separation;
mod support_norm;
mod tuning;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Classes, Info, Method, RULES_AND_SIGNS, Report};
use crate::dual::{Bias, DualSolution, Loss, kkt};
use crate::model::{self, FitSettings, Model};
use crate::problem::checked_labels;
use crate::several::{Shared, SubProblem, check_several};
use crate::{
    Clock, Design, Error, Interval, Limits, MultiClass, Observer, Problem, RuleList, Rules, Run, Samples, Selection,
    Sense, Several, Source, Status, Subset, SvmSettings, WeightBounds, Yardstick, drive,
};
use mixture_oracle::{MarginOne, MixtureOracle};
use part::SourceProblem;
pub use report::{FgmReport, FgmSeveralReport, Improved, Round, SelectedFeature};
use report::{Generated, linear_model, machine_of, ranking, report_of};
use rounds::Rounds;
use separation::Separation;
use tuning::subset::ENOUGH;

/// How the generated subsets are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mkl {
    /// Newton's method on the weights, with the exact curvature.
    #[default]
    Fast,
    /// SimpleMKL, the paper's choice.
    Simple,
}

/// What improves the subset kept from a mixture; SVM-RFE and exchanges where a size is the only rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Improve {
    /// Without `reuse` nothing; else both where the smaller class has at least 16 samples for each
    /// feature asked for, and the rankings where it has fewer.
    #[default]
    Auto,
    /// Nothing: the paper's FGM-B, the best features by score.
    None,
    /// The best features by weight, where they are the better subset; the others below begin with
    /// it.
    Rankings,
    /// SVM-RFE from the largest features of the mixture.
    Rfe,
    /// Exchanges.
    Exchanges,
    /// SVM-RFE, then exchanges.
    Both,
}

crate::settings! {
    /// Settings of [`fgm`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FgmSettings {
        /// C > 0 of `C/2 sum_i xi_i^2`, which is twice the cost of a squared-hinge SVM elsewhere in
        /// this library.
        pub cost: f64 = SvmSettings::default().cost => "a finite number above 0",
        /// Bias b.
        pub bias: Bias = Bias::None,
        /// Solver of multiple kernel learning.
        pub mkl: Mkl = Mkl::default(),
        /// Seek subsets among the current columns before all features are examined again.
        pub reuse: bool = true,
        /// What improves the subset of the size asked for at the end.
        pub improve: Improve = Improve::default(),
        /// B, the size of each generated subset, from 1 to p; none: the size of the rules. With a value here and no size in the
        /// rules every feature of the mixture is kept, as in the paper.
        pub subset_size: Option<usize> = None => "from 1 to the number of features",
        /// Relative duality gap of the last training on a subset, in (0, 1).
        pub tolerance: f64 = SvmSettings::default().tolerance => "between 0 and 1",
        /// Bytes that the matrices of multiple kernel learning may use.
        pub memory: u64 = SvmSettings::default().memory,
        /// How more classes than two become two-class problems, whose values add.
        pub multi_class: MultiClass = MultiClass::default(),
    }
}

impl FgmSettings {
    /// The SVM with margins of 1: its cost is that of `cost sum_i xi_i^2`.
    pub fn svm(&self) -> SvmSettings {
        SvmSettings {
            cost: 0.5 * self.cost,
            loss: Loss::SquaredHinge,
            bias: self.bias,
            tolerance: self.tolerance,
            memory: self.memory,
            ..SvmSettings::default()
        }
    }
}

impl FgmSettings {
    /// What improves a subset of this size: by the rule, or what is asked.
    fn improvement(&self, parts: &[SourceProblem<'_>], size: usize) -> Improved {
        let smaller = parts.iter().map(SourceProblem::smaller_class).min().unwrap_or(0);
        let enough = smaller >= ENOUGH * size;
        let by = match self.asked() {
            Improve::Auto if enough => Improve::Both,
            Improve::Auto => Improve::Rankings,
            asked => asked,
        };
        Improved { by, smaller, size }
    }

    /// What is to improve the subset; without `reuse` nothing, unless it is asked for.
    fn asked(&self) -> Improve {
        if self.improve == Improve::Auto && !self.reuse { Improve::None } else { self.improve }
    }
}

/// The paper's value for one with margins of 1: `-1 / (4 V)`, and back.
fn paper_value(value: f64) -> f64 {
    -0.25 / value
}

impl Method for FgmSettings {
    const WEIGHT_BOUNDS: bool = true;
    const TASKS: bool = true;
    const INFO: Info = Info {
        name: "fgm",
        title: "feature generating machine, for millions of sparse features",
        solves: "Generates the subset of `subset_size` features (default: `max_features`) that the classifier so far misses most, weighs all generated subsets by multiple kernel learning, and repeats, until the value of the mixture meets the bound. With `max_features` it keeps the best subset of the mixture that obeys the rules, and the SVM on it. Without, every feature of positive weight, the paper's output.",
        formula: "min over mixtures d = sum_t mu_t d_t of min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, y_i w.(x_i . d) >= rho - xi_i",
        proves: "a bound below every allowed subset; optimal means the best subset, within `gap`",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Any,
        rules: RULES_AND_SIGNS,
        cost: "a few passes over the data, and some Newton steps on the columns of the generated subsets",
        paper: "M. Tan, L. Wang, I. W. Tsang: Learning sparse SVM for feature selection on very high dimensional datasets. ICML 2010.",
    };

    fn absorbs_constants(&self) -> bool {
        self.bias == Bias::Free
    }

    fn check(&self, _p: usize) -> Result<(), Error> {
        SvmSettings { cost: self.cost, ..self.svm() }.check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let shared = Shared::of(samples, self.multi_class, rules, &limits.memory)?;
        if shared.parts().len() == 1 {
            let several = Several::of(samples, self.multi_class, rules, &limits.memory)?;
            return Ok(fgm(&several.problems()[0], rules, self, limits, observer)?.into());
        }
        let found = generate(&SourceProblem::shared(&shared, &self.svm()), rules, self, limits, observer)?.of_several();
        let model = self.classifier(samples, shared.parts(), &found)?;
        Ok(report_of(found.selection, &found.kept, found.rounds, found.improved)
            .with_model(model)
            .with_parts(shared.parts(), self.multi_class))
    }

    fn finds_size(&self) -> bool {
        self.subset_size.is_some()
    }
}

impl FgmSettings {
    /// The classifier of more classes than two, a machine for each pair; none with tasks, which
    /// have classifiers of their own.
    fn classifier(
        &self,
        samples: &Samples<'_>,
        parts: &[SubProblem],
        found: &FgmSeveralReport,
    ) -> Result<Option<Model>, Error> {
        let features: Vec<usize> = found.kept.iter().map(|k| k.feature).collect();
        if samples.tasks().is_some() || features.is_empty() {
            return Ok(None);
        }
        if self.multi_class == MultiClass::OneVsRest {
            let settings = FitSettings { svm: self.svm(), ..FitSettings::default() };
            let (design, classes) = (samples.design(), samples.classes());
            return model::fit(design, &features, classes, samples.weights(), &settings, &Clock::unlimited()).map(Some);
        }
        let machine = |(part, solution): (&SubProblem, &DualSolution)| {
            machine_of(part.negative.unwrap_or(0), part.positive, solution.clone())
        };
        let machines = parts.iter().zip(&found.machines).map(machine).collect();
        Ok(Some(linear_model(features, samples.n_classes(), machines)))
    }
}

/// The feature generating machine; see the head of this file.
///
/// ```
/// use fewest::method::fgm::{FgmSettings, fgm};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let report = fgm(&problem, &rules, &FgmSettings::default(), Limits::default(), &mut Silent)?;
/// // One feature was allowed, and one is kept.
/// assert_eq!(report.kept.iter().map(|k| k.feature).collect::<Vec<_>>(), [0]);
/// assert!(report.kept[0].weight > 0.0);
/// assert!(report.selection.outcome.gap().unwrap() <= 1e-4);
///
/// // No size in the rules, but one for the generated subsets: the paper's mixture.
/// let settings = FgmSettings { subset_size: Some(1), ..FgmSettings::default() };
/// let mixture = fgm(&problem, &Rules::none(2), &settings, Limits::default(), &mut Silent)?;
/// assert!(mixture.kept.iter().map(|k| k.share).sum::<f64>() <= 1.0 + 1e-9);
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; neither a size nor a budget in the rules and no `subset_size`; more
/// columns in the first subset than the memory allows.
pub fn fgm(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmReport, Error> {
    let source = problem.design();
    let parts = SourceProblem::all(vec![(&source, problem.labels(), problem.weights())], &settings.svm());
    Ok(generate(&parts, rules, settings, limits, observer)?.of_one())
}

/// [`fgm`] of several problems on the same features, whose values add: one margin rho for all, one
/// subset, a classifier for each.
///
/// # Errors
/// As [`fgm`]; no problem, or problems on other numbers of features.
pub fn fgm_several(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmSeveralReport, Error> {
    check_several(problems)?;
    let designs: Vec<&dyn Design> = problems.iter().map(Problem::design).collect();
    let part = |(design, problem)| -> (&dyn Source, &[f64], &[f64]) {
        let (design, problem): (&&dyn Design, &Problem<'_>) = (design, problem);
        (design, problem.labels(), problem.weights())
    };
    let parts = SourceProblem::all(designs.iter().zip(problems).map(part).collect(), &settings.svm());
    generate(&parts, rules, settings, limits, observer).map(Generated::of_several)
}

/// [`fgm`] on a matrix that may be elsewhere, with the labels (-1 or 1) and weights (default all 1)
/// of its n samples. The result is that of the same columns in memory, bit for bit where the
/// source's scores are. The maker of the source has checked its values ([`crate::check_values`]).
///
/// # Errors
/// Those of [`fgm`] and of [`Problem::new`], and those of the source.
pub fn fgm_from(
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmReport, Error> {
    let weights = checked_labels(source.n_samples(), labels, weights)?;
    let parts = SourceProblem::all(vec![(source, labels, &weights)], &settings.svm());
    Ok(generate(&parts, rules, settings, limits, observer)?.of_one())
}

fn generate(
    parts: &[SourceProblem<'_>],
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Generated, Error> {
    settings.check(rules.p())?;
    let generated = rules_of_subsets(rules, settings.subset_size)?;
    let signs = signs_of(rules)?;
    let mut run = Run::bounded(rules, limits, Sense::Min, observer)?;
    let svm = settings.svm();
    run.measure_by(Yardstick::new(paper_value(parts.iter().map(|part| kkt::without_features(&part.dual)).sum()), &[]));
    let separation = Separation::new(&generated);
    let mut oracle = MixtureOracle::new(parts, &svm, settings, &separation, signs, run.memory());
    let proves = matches!(generated, Cow::Borrowed(_)) || allows_every_union(rules);
    let mut rounds = Rounds::new(parts, &separation, proves, oracle.grows());
    // Steps 1 to 4.
    rounds.first(&mut run)?;
    let status = match drive(&mut oracle, &mut rounds, &mut run) {
        // Columns that do not fit end the rounds; where there was one, it has a mixture and a bound.
        Err(Error::Memory { .. }) if rounds.best.is_some() => Status::MemoryLimit,
        driven => driven?,
    };
    // Step 5.
    let (kept, improved) = keep(&mut oracle, &rounds, settings, &mut run)?;
    let subset = subset_of(rules.p(), &kept);
    run.offer(&subset, paper_value(kept.value));
    // A mixture of more than B features is no answer to the question for subsets of B.
    let answers = rules.list().max_features.is_some() || generated.allows(&subset);
    let proven = run.closed() && answers;
    let mut outcome = run.finish(if proven { Status::Optimal } else { status });
    outcome.counts.cuts = oracle.subsets.len() as u64;
    let selection = Selection { outcome, ranking: ranking(&kept), solutions: Vec::new() };
    Ok(Generated { selection, kept, rounds: rounds.history, improved })
}

/// Step 5: every feature of the mixture, where no size was asked and the rules allow it; else the
/// best allowed subset of it. Raises the bound to that of what is kept.
fn keep(
    oracle: &mut MixtureOracle<'_>,
    rounds: &Rounds<'_>,
    settings: &FgmSettings,
    run: &mut Run<'_>,
) -> Result<(MarginOne, Option<Improved>), Error> {
    let rules = run.rules();
    let best = rounds.best.as_ref().expect("a limit before the first answer is wound up by one");
    if rules.list().max_features.is_none() && settings.subset_size.is_some() {
        let mixture = oracle.mixture(best, run.stop().unwrap_or(Status::Optimal));
        if rules.allows(&subset_of(rules.p(), &mixture)) {
            run.raise_bound(paper_value(rounds.lower));
            return Ok((mixture, None));
        }
    }
    let separation = Separation::new(rules);
    if !rounds.proves {
        run.raise_bound(paper_value(rounds.bound_at(best, &separation, run)?));
    }
    oracle.best_subset(&separation, best, &run.late_clock(1.0))
}

fn subset_of(p: usize, kept: &MarginOne) -> Subset {
    Subset::from_indices(p, kept.shares.iter().map(|share| share.0))
}

/// The rules of each generated subset: those of the run, with `size` as their size where it is set.
fn rules_of_subsets(rules: &Rules, size: Option<usize>) -> Result<Cow<'_, Rules>, Error> {
    let (list, p) = (rules.list(), rules.p());
    let Some(size) = size.filter(|size| list.max_features != Some(*size)) else {
        if list.max_features.is_none() && list.budget.is_none() {
            return Err(Error::Rules(
                "fgm generates subsets of a size, but the rules have none: `max_features` K keeps at most K \
                 features, `subset_size` B every feature of a mixture of subsets of B"
                    .into(),
            ));
        }
        return Ok(Cow::Borrowed(rules));
    };
    if size == 0 || size > p {
        return Err(Error::setting("subset_size", size, format!("between 1 and the number of features, {p}")));
    }
    let list = RuleList { max_features: Some(size), ..list.clone() };
    let rules = Rules::new(p, list, &[]);
    rules.map(Cow::Owned).map_err(|why| Error::setting("subset_size", size, format!("a size the rules allow ({why})")))
}

/// The bounds of the rules on weights, which may be signs alone.
fn signs_of(rules: &Rules) -> Result<&WeightBounds, Error> {
    let bounds = rules.weight_bounds();
    match bounds.bounded().find(|(_, interval)| interval.is_boxed()) {
        None => Ok(bounds),
        Some((j, Interval { lower, upper })) => Err(Error::Rules(format!(
            "fgm keeps signs of weights, but the weight of feature {j} is bounded by {lower} and {upper}: its margin \
             rho leaves the length of w open, so that only bounds of 0 have a meaning; give signs alone, or use exact"
        ))),
    }
}

/// Whether any union of allowed subsets is allowed.
fn allows_every_union(rules: &Rules) -> bool {
    let list = rules.list();
    list.max_features.is_none() && list.budget.is_none() && list.at_most.is_empty()
}
