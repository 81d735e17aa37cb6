//! Certified list: how far a given list of features is from the best allowed one, and
//! what each of its features is worth.
//!
//! Solves   the problem of [`super::certificate`] at the size of the list, or at that of the rules.
//! Given    Samples, the list, Rules, [`ExactSettings`].
//! Returns  a [`Certificate`]; for each feature the objective without it and what could take its
//!          place; the N best subsets known.
//! Steps    1. exchange each feature ([`swaps`])  2. search from the list and its best exchanges.
//! Fails    never on limits. Errors: settings out of range; a list that is empty, names a feature
//!          twice or one that the data do not have; rules that contradict each other.

use std::time::Instant;

use super::Method;
use super::certificate::{Certificate, judge, recentred};
use super::exact::ExactSettings;
use super::swaps::{Swap, Trainer, swaps};
use crate::bound::saddle::without_features;
use crate::{
    Clock, Error, Limits, Observer, Problem, RuleList, Rules, Samples, Several, Solution, Subset, SvmSettings,
};

/// Share of the objective that a gain counts as at least.
const LEAST_GAIN: f64 = 1e-5;

/// Share of the time that exchanges may take.
const SWAPS: f64 = 0.5;

/// Findings about a list of features.
#[derive(Debug, Clone)]
pub struct CertifiedList {
    /// The features.
    pub subset: Subset,
    /// Whether the rules allow it, its size included; [`Rules::broken`] says which they are if not.
    pub allowed: bool,
    /// The list's objective, the bound of all allowed subsets, the best one known. Where the rules
    /// forbid the list, the best one is allowed, whether it is better or not.
    pub certificate: Certificate,
    /// The best allowed subsets known, best first.
    pub solutions: Vec<Solution>,
    /// The features that could replace each feature; without those that time was too short for.
    pub swaps: Vec<Swap>,
    /// Share of the objective by which a subset is better at least, so that rounding is no merit.
    tolerance: f64,
}

impl CertifiedList {
    /// The gap of the certificate; none where nothing was proven, or where the list breaks the
    /// rules and is better than all that they allow.
    pub fn gap(&self) -> Option<f64> {
        let Certificate { objective, bound, .. } = self.certificate;
        bound.filter(|bound| *bound <= objective).and_then(|_| self.certificate.gap())
    }

    /// The subsets known that are better than the list, best first.
    pub fn better(&self) -> impl Iterator<Item = &Solution> {
        let objective = self.certificate.objective;
        let below = objective - self.tolerance * objective.abs();
        self.solutions.iter().filter(move |one| one.subset != self.subset && one.objective < below)
    }

    /// Rise of the objective where this feature is left out, below 0 where it is not worth its
    /// price; none where it is not of the list, or where time was too short. A change that
    /// trainings cannot tell from none is 0.
    pub fn gain(&self, feature: usize) -> Option<f64> {
        let swap = self.swaps.iter().find(|swap| swap.feature == feature)?;
        let (objective, without) = (self.certificate.objective, swap.without);
        let differs = (without - objective).abs() > self.tolerance * objective.abs();
        Some(if differs { without - objective } else { 0.0 })
    }
}

/// Compares a list of features with the best subset of at most as many, or of as many as
/// `rules` say: with the [`ExactSettings::solutions`] best ones. A list that the rules forbid is
/// compared as well. [`ExactSettings::within`] is not used.
///
/// # Errors
/// As the module says.
///
/// ```
/// use fewest::method::certified_list::certify_list;
/// use fewest::method::exact::ExactSettings;
/// use fewest::{DenseDesign, Limits, Rules, Samples, Silent};
///
/// // Two features that tell the classes apart, and one that does not.
/// let columns = [[1.0, 2.0, 1.5, -1.0, -2.0, -1.5], [1.0, 1.0, 1.0, -1.0, -1.0, -0.5], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]];
/// let design = DenseDesign::new(6, 3, columns.concat())?;
/// let samples = Samples::new(&design, &[1, 1, 1, 0, 0, 0], None)?;
/// let (settings, limits) = (ExactSettings::default(), Limits::default());
/// let list = certify_list(&samples, &[0, 2], &Rules::none(3), &settings, limits, &mut Silent)?;
/// let better = list.better().next().expect("another subset of two");
/// assert_eq!(better.subset.iter().collect::<Vec<_>>(), [0, 1]);
/// assert!(list.certificate.bound.unwrap() <= better.objective && list.gap().unwrap() > 0.0);
/// // The third feature gains next to nothing, and the second could take its place.
/// let last = list.swaps.last().expect("time enough");
/// assert!((last.feature, last.by[0].0) == (2, 1) && list.gain(2) < list.gain(0));
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn certify_list(
    samples: &Samples<'_>,
    features: &[usize],
    rules: &Rules,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<CertifiedList, Error> {
    let begun = Instant::now();
    let p = rules.p();
    rules.check_features(samples.design().n_features())?;
    Method::check(settings, p)?;
    settings.penalty.check_given("for a certificate")?;
    let subset = listed(features, p)?;
    let size = rules.list().max_features.unwrap_or(features.len());
    let rules = Rules::new(p, RuleList { max_features: Some(size), ..rules.list().clone() }, &[])?;
    let several = Several::of(samples, settings.multi_class, &rules, &limits.memory)?;
    let of = |problems: &[Problem<'_>], observer: &mut dyn Observer| {
        of_problems(problems, &rules, subset, settings, limits.after(begun), observer)
    };
    let mut list = recentred(&several.problems(), settings, observer, of)?;
    list.certificate.elapsed = begun.elapsed();
    Ok(list)
}

/// The list as a subset.
fn listed(features: &[usize], p: usize) -> Result<Subset, Error> {
    let refused = |why: String| Err(Error::Rules(format!("the list of features cannot be certified: {why}")));
    if features.is_empty() {
        return refused("it is empty; name at least one feature".into());
    }
    let mut subset = Subset::empty(p);
    for &j in features {
        if j >= p {
            return refused(format!("it names feature index {j}, but there are {p} features, counted from 0"));
        }
        if subset.contains(j) {
            return refused(format!("it names feature index {j} twice; leave one out"));
        }
        subset.insert(j);
    }
    Ok(subset)
}

/// The settings, with trainings that tell gains apart: their tolerance is one of the objective, of
/// which the gain of the list may be a small share.
fn told_apart(
    problems: &[Problem<'_>],
    rules: &Rules,
    features: &[usize],
    settings: &ExactSettings,
    limits: &Limits,
) -> Result<ExactSettings, Error> {
    let (svm, penalty) = (&settings.svm, settings.penalty.prices());
    let trainer = Trainer { problems, rules, svm, penalty, memory: &limits.memory };
    let clock = Clock::new(limits);
    let objective = trainer.objective(features, &clock)?;
    let gain = (without_features(problems, svm) - objective) / objective;
    let tolerance = svm.tolerance * gain.clamp(LEAST_GAIN, 1.0);
    Ok(ExactSettings { svm: SvmSettings { tolerance, ..svm.clone() }, ..settings.clone() })
}

fn of_problems(
    problems: &[Problem<'_>],
    rules: &Rules,
    subset: Subset,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<CertifiedList, Error> {
    let begun = Instant::now();
    let features: Vec<usize> = subset.iter().collect();
    let settings = &told_apart(problems, rules, &features, settings, &limits)?;
    // Step 1.
    let clock = Clock::new(&Limits { time: limits.time.map(|time| time.mul_f64(SWAPS)), ..limits.clone() });
    let (svm, penalty) = (&settings.svm, settings.penalty.prices());
    let swaps = swaps(problems, rules, &features, svm, penalty, &limits.memory, &clock)?;
    // Step 2.
    let exchanged = swaps.iter().filter_map(|swap| {
        let mut other = subset.clone();
        other.remove(swap.feature);
        other.insert(swap.by.first()?.0);
        Some(other)
    });
    let settings =
        ExactSettings { start: settings.start.iter().cloned().chain(exchanged).collect(), ..settings.clone() };
    let (certificate, solutions) = judge(problems, rules, &subset, &settings, limits.after(begun), observer)?;
    let allowed = rules.allows(&subset);
    Ok(CertifiedList { subset, allowed, certificate, solutions, swaps, tolerance: settings.svm.tolerance })
}
