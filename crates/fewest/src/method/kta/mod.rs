//! Exact selection for kernels that are products over features: branch and bound on kernel-target
//! alignment.
//!
//! Solves   max_z f(z) s.t. rules, f(z) = sum_(c < c') |mu_c - mu_c'|^2, mu_c the mean of class c
//!          in the feature space of the kernel exp(-gamma sum_j z_j d_j(x_ij, x_hj)): d_j is the
//!          squared difference (Gaussian kernel), the absolute one (Laplace), or, of a feature that
//!          holds categories, 1 where they differ. For two classes f is sum_ih psi_i psi_h K_ih
//!          with psi_i = y_i over the size of i's class. No SVM is trained: no loss, cost or bias.
//! Paper    Tamura, Takano, Miyashiro, Feature subset selection for kernel SVM classification via
//!          mixed-integer optimization, 2022: problem INLO-K, eqs. (27)-(29), gamma by eq. (54).
//!          The search is ours, not the paper's linear program.
//! Given    a design (n samples, p features), classes, sample weights, Rules, [`KtaSettings`].
//! Returns  the N best subsets or all within a share of the best, objective, bound, status.
//! Steps    1. merge equal samples and equal pairs
//!          2. first subsets: the best single gains, then local search
//!          3. take the open nodes of largest bound; products of two to four columns, summed over
//!             all pairs, give for each an upper model of f in pairs and triples of the completion
//!             (`products.rs`, `triples.rs`), exact for the last two or three units
//!          4. search the model: what is not above the cutoff is done, the rest become children
//!             with fewer units to choose from
//!          5. until no open node is above
//! Cost     per node: n^2 m^2 / 4 multiply-adds in single precision for m units left, n^2 m^2 / 2
//!          above the last levels; n^2 m^3 / 12 more for triples, n^2 m^4 / 48 for fours; memory:
//!          n p values, m^2 to m^4 / 24 sums per node of a batch, and as much of the n^2 p / 2
//!          kernel values as `memory` allows.
//! Differs  from the paper: more than two classes (one-vs-one, as the SVM is trained), sample
//!          weights, every rule, other kernels than the Gaussian one.
//! Fails    never on limits: the open node of largest bound is then the bound of the run, and a run
//!          that is stopped before its first pair has neither subset nor bound. Errors: settings,
//!          shapes, one class, more memory needed than allowed.

mod model;
mod node;
#[doc(hidden)]
pub mod pairs;
pub mod path;
mod products;
mod search;
mod start;
mod state;
mod triples;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::path::{SizeReport, reports};
use super::{ALL_RULES, Classes, Info, Method, Report};
use crate::kernel::{DistanceKernel, Distances, Gamma};
use crate::problem;
use crate::proof::AlignmentProof;
use crate::search::{NearBest, Wanted};
use crate::{Choice, Clock, Design, Error, Limits, Observer, Rules, Run, Samples, Selection, Sense, Subset, drive};
use pairs::{Need, Pairs};
use search::{Search, Tree};

/// The name of the method, on the command line and in its states.
const NAME: &str = "kta";

crate::settings! {
    /// Settings of [`kta`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct KtaSettings {
        /// Kernel of the features that hold numbers.
        pub kernel: DistanceKernel = DistanceKernel::default(),
        /// gamma of the kernel, for features of every kind.
        pub gamma: Gamma = Gamma::Sigest(1.0),
        /// Features that hold categories, from 0: their distance is 1 where two values differ, else 0.
        pub categorical: Vec<usize> = Vec::new(),
        /// How many best subsets to prove and return, at least 1; with `within` at most this many.
        pub solutions: usize = 1 => "at least 1",
        /// E, 0 or more: all subsets whose alignment is at least (1 - E) times the best one are wanted,
        /// smaller ones than `max_features` among them.
        pub within: Option<f64> = None => "0 or more",
        /// Bytes for the columns, the sums of nodes of a batch, kernel values that are kept, and
        /// open nodes. With fewer, kernel values are computed again; what one node takes must fit.
        pub memory: u64 = 1 << 30,
        /// Subsets to start from; those the rules forbid are ignored.
        pub start: Vec<Subset> = Vec::new(),
    }
}

impl KtaSettings {
    fn wanted(&self) -> Wanted {
        Wanted { most: self.solutions, within: self.within }
    }

    fn distances(&self) -> Distances {
        Distances::new(&self.kernel.with_gamma(1.0), &self.categorical)
    }
}

impl Method for KtaSettings {
    const INFO: Info = Info {
        name: NAME,
        title: "the best subset for a Gaussian or Laplace kernel, by alignment",
        solves: "Finds the allowed subset on which the means of the classes lie farthest apart in the feature space of the Gaussian or Laplace kernel (kernel-target alignment), and proves it, by branch and bound. Features that hold categories may be among them. No SVM takes part in the search; one is trained on the subset at the end. At a limit it returns the best subset so far with the bound and gap proven until then.",
        formula: "max over allowed z of sum_ih psi_i psi_h exp(-gamma sum_j z_j d_j(x_ij, x_hj)), d_j = (x - x')^2 or |x - x'|, of categories 1 where they differ; psi_i = y_i / size of i's class; for more classes the sum over all pairs of classes",
        proves: "the best subset, within `gap`",
        bounds: true,
        searches: true,
        kernels: "rbf, laplace",
        classes: Classes::Any,
        rules: ALL_RULES,
        cost: "about n^2 p^2 / 2 operations per node, n^2 p^4 / 48 up to 40 features; fast up to `max_features` 8 of some 40 features, 3 of some hundreds",
        paper: "R. Tamura, Y. Takano, R. Miyashiro: Feature subset selection for kernel SVM classification via mixed-integer optimization, 2022, for the model; the branch and bound is ours.",
    };

    fn absorbs_constants(&self) -> bool {
        true
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.gamma.check()?;
        check_categorical(&self.categorical, p)?;
        self.wanted().check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let settings = Self { start: super::subsets(&self.start, rules)?, ..self.clone() };
        let labels = Labels { classes: samples.classes(), weights: samples.weights(), counts: samples.counts() };
        let found = search(samples.design(), &labels, rules, &settings, limits, observer)?;
        // A run that was stopped before gamma was found has no number, and no subset.
        let kernel = self.kernel.with_gamma(found.gamma.unwrap_or(f64::NAN));
        let report = Report::new(found.selection, kernel).with_categorical(self.categorical.clone());
        Ok(report.with_near(found.near))
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
        // One gamma for all sizes, that of the largest.
        let most = sizes.last().copied().unwrap_or(rules.p());
        let (start, clock) = (Instant::now(), Clock::new(limits));
        check_memory(samples.n_samples(), rules, limits.memory.at_most(self.memory))?;
        let found = self.gamma.number_within(samples.design(), samples.counts(), most, &self.distances(), &clock)?;
        // Without a number the time is over, and every size ends at once.
        let settings = Self { gamma: found.map_or(self.gamma, Gamma::Number), ..self.clone() };
        let limits = limits.clone().after(start);
        let (design, classes, weights) = (samples.design(), samples.classes(), samples.weights());
        let points = path::alignment_path(design, classes, weights, rules, sizes, &settings, &limits, observer)?;
        let mut reports = reports(points, |_| self.kernel.with_gamma(found.unwrap_or(f64::NAN)));
        for of_size in &mut reports {
            of_size.report.categorical.clone_from(&self.categorical);
            if found.is_none() {
                // What a size found by a gamma of its own is no point of this path.
                let outcome = &mut of_size.report.selection.outcome;
                (outcome.subset, outcome.objective, outcome.bound) = (None, None, None);
            }
        }
        Ok(reports)
    }
}

/// `kta`: the allowed subset of largest alignment, with proof. `classes` holds the class of each
/// sample (0, 1, ..., any number of them), `weights` its weight in the mean of its class (length n;
/// 1 for the paper's problem).
///
/// # Errors
/// Settings out of range, shapes that do not fit, values that are not finite, fewer than two
/// classes with weight, more memory needed than allowed.
///
/// # Examples
/// ```
/// use fewest::method::kta::{KtaSettings, kta};
/// use fewest::{DenseDesign, Limits, Rules, Silent};
///
/// // The second column holds the classes, the first does not.
/// let design = DenseDesign::new(4, 2, vec![1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0])?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let (classes, weights, settings) = ([1, 1, 0, 0], [1.0; 4], KtaSettings::default());
/// let limits = Limits::default();
/// let found = kta(&design, &classes, &weights, &rules, &settings, limits, &mut Silent)?;
/// assert_eq!(found.outcome.subset.unwrap().iter().collect::<Vec<_>>(), [1]);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn kta(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    settings: &KtaSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let labels = Labels { classes, weights, counts: None };
    search(design, &labels, rules, settings, limits, observer).map(|found| found.selection)
}

/// What is known of each sample beside its values.
struct Labels<'a> {
    classes: &'a [u32],
    weights: &'a [f64],
    /// How many samples it counts as where gamma is learnt; none: 1.
    counts: Option<&'a [f64]>,
}

/// The result of a search.
struct Searched {
    selection: Selection,
    /// gamma of the kernel; none where it was not found in time.
    gamma: Option<f64>,
    /// Summary of all subsets within a share of the best, where these are wanted.
    near: Option<NearBest>,
}

/// [`kta`], and what else was found.
fn search(
    design: &dyn Design,
    labels: &Labels<'_>,
    rules: &Rules,
    settings: &KtaSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Searched, Error> {
    settings.check(rules.p())?;
    let settings = &KtaSettings { memory: limits.memory.at_most(settings.memory), ..settings.clone() };
    check_memory(design.n_samples(), rules, settings.memory)?;
    // The rest of its memory only makes it fast, and is what others leave.
    let least = limits.memory.take(Need::new(design.n_samples(), rules).least());
    let shares = shares(design, labels.classes, labels.weights, rules)?;
    let mut run = Run::new(rules, limits, Sense::Max, observer)?;
    // A run that has no time at all may still find a first subset of small data.
    let clock = run.wind_up(1.0);
    let distances = settings.distances();
    let gamma = settings.gamma.number_within(design, labels.counts, rules.most_features(), &distances, &clock)?;
    let of = |gamma| Pairs::new(design, &shares, rules, gamma, &distances, settings.memory, &clock);
    let Some((number, pairs)) = gamma.and_then(|gamma| Some((gamma, of(gamma)?))) else {
        let status = clock.stop().expect("pairs are left out only when the clock says stop");
        let outcome = run.finish(status);
        let selection = Selection { outcome, ranking: Vec::new(), solutions: Vec::new() };
        return Ok(Searched { selection, gamma, near: None });
    };
    let mut search = Search::new(pairs, rules, &run);
    let mut tree = Tree::new(&search, settings, &run);
    if let Some(state) = run.resume(NAME)? {
        tree.restore(state, &mut search, &mut run)?;
    } else {
        tree.plant(&mut search, settings, &mut run);
        let centre = search.features(&tree.favoured);
        let about = (settings.kernel, number, &settings.categorical[..]);
        tree.proof = AlignmentProof::begin(design, labels.classes, labels.weights, about, &centre, &mut run);
        if tree.proof.is_some() {
            AlignmentProof::limit(0, &mut run);
        }
        tree.keep(&[], false, &mut run);
    }
    search.proving = tree.proof.is_some();
    let status = drive(&mut search, &mut tree, &mut run)?;
    tree.keep(&[], true, &mut run);
    drop(least);
    let near = tree.near();
    tree.prove(run.earned(status), &mut run);
    let solutions = tree.pool.solutions();
    Ok(Searched { selection: Selection { outcome: run.finish(status), ranking: Vec::new(), solutions }, gamma, near })
}

/// Refuses data whose first node alone would take more than `memory` bytes.
fn check_memory(n: usize, rules: &Rules, memory: u64) -> Result<(), Error> {
    let needed = Need::new(n, rules).least();
    if needed <= memory {
        return Ok(());
    }
    let units = rules.root().iter().filter(|choice| **choice == Choice::Free).count();
    Err(Error::Memory {
        what: format!("kta on {n} samples and {units} features to choose from"),
        needed,
        allowed: memory,
        remedy: "allow more with `memory`, or leave fewer features to choose from, with `forbid` for those that a filter such as info-gain ranks last".to_owned(),
    })
}

/// Refuses features that hold categories and are none of the p.
#[doc(hidden)]
pub fn check_categorical(categorical: &[usize], p: usize) -> Result<(), Error> {
    match categorical.iter().find(|j| **j >= p) {
        Some(j) => Err(Error::setting("categorical", j, format!("a feature of the {p} there are, counted from 0"))),
        None => Ok(()),
    }
}

/// The share of each sample in each class that has weight, class by class.
///
/// # Errors
/// Classes, weights or values that the method does not take, or fewer than two classes with weight.
pub fn shares(design: &dyn Design, classes: &[u32], weights: &[f64], rules: &Rules) -> Result<Vec<Vec<f64>>, Error> {
    problem::check_classes(design.n_samples(), classes)?;
    problem::checked_weights(design.n_samples(), Some(weights))?;
    rules.check_features(design.n_features())?;
    problem::check_values(design, 0)?;
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for (&class, weight) in classes.iter().zip(weights) {
        *totals.entry(class).or_default() += weight;
    }
    totals.retain(|_, total| *total > 0.0);
    if totals.len() < 2 {
        let found = totals.len();
        return Err(Error::Data(format!("{found} class has samples with positive weight; two or more are needed")));
    }
    let share = |class: u32, total: f64| {
        let own = classes.iter().zip(weights).map(|(&c, w)| if c == class { w / total } else { 0.0 });
        own.collect()
    };
    Ok(totals.into_iter().map(|(class, total)| share(class, total)).collect())
}
