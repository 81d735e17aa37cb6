//! Selections inside a part: quick ones for the grid, and the one that is judged or reported.
//!
//! Quick `exact`: SVM-RFE at the same cost ranks the features; the first of the ranking
//! ([`CANDIDATES`]), and those that a rule names, are searched by `exact` from the subset that
//! SVM-RFE ends with, without a tree: relaxation of the root, and its rounding. It proves nothing,
//! and a grid point costs little more than its elimination.

use std::time::Instant;

use fewest::method::exact::{ExactSettings, RootPoint, exact_from, exact_several};
use fewest::method::info_gain::InfoGainSettings;
use fewest::method::kta::KtaSettings;
use fewest::method::path::SizeReport;
use fewest::method::rfe::{RfeSettings, Step};
use fewest::{
    AnyMethod, Design, Error, Gamma, Kernel, Limits, Memory, Method, MultiClass, Report, RuleList, Rules, Samples,
    Several, Silent, Subset, SvmSettings,
};

use super::grid::Grid;
use super::part::StudyPart;
use super::settings::{StudyMethod, StudySettings};

/// Features that a quick `exact` searches: as many as this with up to [`MANY`] samples, fewer in
/// proportion with more, but at least twice the largest size. The cost of a search grows with the
/// samples and the square of the candidates; many samples rank the features well.
const CANDIDATES: usize = 64;
const MANY: usize = 1000;
/// Relative gap at which a quick `exact` is content.
const QUICK_GAP: f64 = 1e-2;
/// Share of the features that leave in one step of SVM-RFE.
const STEP: Step = Step::Remaining(0.1);
/// Relative duality gap of the trainings of SVM-RFE.
const TOLERANCE: f64 = 1e-6;

/// Nodes of a search by `kta` on an inner split.
const NODES: u64 = 200;
/// Sizes up to which `kta` searches for more than its start inside the folds.
const PROVEN: usize = 3;
/// Values of the matrix that `kta` in short selects by.
const VALUES: usize = 16_000;
/// How samples for it are drawn.
const SEED: u64 = 0;

/// What a grid point found at one size.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Position of the size.
    pub(crate) size: usize,
    /// Position of the method.
    pub(crate) method: usize,
    /// Ascending.
    pub(crate) features: Vec<usize>,
    pub(crate) kernel: Kernel,
}

/// What SVM-RFE leaves.
struct Eliminated {
    /// Position of the size, and the subset.
    survivors: Vec<(usize, Vec<usize>)>,
    /// All features, best first.
    ranking: Vec<usize>,
}

/// Some samples of a part.
struct SomeSamples {
    design: Box<dyn Design>,
    codes: Vec<u32>,
    weights: Vec<f64>,
    counts: Vec<f64>,
}

impl SomeSamples {
    fn samples(&self) -> Result<Samples<'_>, Error> {
        Samples::new(&*self.design, &self.codes, Some(&self.weights))?.counted(&self.counts)
    }
}

/// What is searched in a part.
pub(crate) struct Search<'a> {
    part: &'a StudyPart,
    settings: &'a StudySettings,
    grid: &'a Grid,
    sizes: &'a [usize],
}

impl<'a> Search<'a> {
    pub(crate) fn new(part: &'a StudyPart, settings: &'a StudySettings, grid: &'a Grid) -> Self {
        Self { part, settings, grid, sizes: &grid.sizes }
    }

    fn svm(&self, cost: f64) -> SvmSettings {
        SvmSettings { cost, ..self.settings.svm.clone() }
    }

    fn place(&self, method: StudyMethod) -> Option<usize> {
        self.grid.methods.iter().position(|&known| known == method)
    }

    /// The linear methods at a cost, every size.
    pub(crate) fn at_cost(&self, cost: f64, limits: &Limits) -> Result<Vec<Found>, Error> {
        let begun = Instant::now();
        let Eliminated { survivors, ranking } = self.eliminate(cost, self.sizes, limits)?;
        let mut out = Vec::new();
        if let Some(method) = self.place(StudyMethod::Exact) {
            for (size, features) in self.polish(cost, &survivors, &ranking, &limits.clone().after(begun))? {
                out.push(Found { size, method, features, kernel: Kernel::Linear });
            }
        }
        if let Some(method) = self.place(StudyMethod::Rfe) {
            let found = |(size, features)| Found { size, method, features, kernel: Kernel::Linear };
            out.extend(survivors.into_iter().map(found));
        }
        Ok(out)
    }

    /// A method without a cost, every size.
    pub(crate) fn without_cost(&self, method: StudyMethod, limits: &Limits) -> Result<Vec<Found>, Error> {
        let Some(at) = self.place(method) else { return Ok(Vec::new()) };
        if self.part.size.usable == 0 {
            return Ok(Vec::new());
        }
        let rules = self.part.rules(self.settings, None)?;
        let some = self.some(method);
        let samples = some.as_ref().map_or_else(|| self.part.prepared.samples(), SomeSamples::samples)?;
        let mut sizes = self.usable(self.sizes);
        sizes.retain(|&k| k <= PROVEN || !(method.has_kernel() && self.grid.in_short));
        let mut out = Vec::new();
        let begun = Instant::now();
        for sizes in sizes.chunk_by(|&a, &b| !method.has_kernel() || kernel_size(a) == kernel_size(b)) {
            let limits = limits.clone().after(begun);
            let limits = Limits { nodes: Some(nodes(method, sizes[0], NODES)), ..limits };
            let reports = self.method(method, 1.0, sizes[0])?.path(&samples, &rules, sizes, &limits, &mut Silent)?;
            out.extend(self.found(reports, at));
        }
        Ok(out)
    }

    fn method(&self, method: StudyMethod, cost: f64, k: usize) -> Result<AnyMethod, Error> {
        Ok(match method {
            StudyMethod::Exact => ExactSettings { svm: self.svm(cost), ..ExactSettings::default() }.into(),
            StudyMethod::Rfe => self.elimination(cost).into(),
            StudyMethod::InfoGain => InfoGainSettings::default().into(),
            StudyMethod::Kta => self.alignment(k)?.into(),
        })
    }

    fn alignment(&self, k: usize) -> Result<KtaSettings, Error> {
        let gamma = self.kernel(StudyMethod::Kta, k)?.gamma().map_or(KtaSettings::default().gamma, Gamma::Number);
        Ok(KtaSettings { gamma, memory: self.settings.svm.memory, ..KtaSettings::default() })
    }

    /// The samples that a method in short selects by: as many of each class as its share of those that
    /// the features allow; none: all of them.
    fn some(&self, method: StudyMethod) -> Option<SomeSamples> {
        let (part, most) = (&self.part.prepared, VALUES / self.part.size.usable.max(1));
        if !(method.has_kernel() && self.grid.in_short && part.weights.len() > most) {
            return None;
        }
        let rows = fewest_data::stratified(&part.target, most as f64 / part.weights.len() as f64, SEED).1;
        let of = |list: &[f64]| rows.iter().map(|&i| list[i]).collect();
        let codes = rows.iter().map(|&i| part.target.codes[i]).collect();
        let (weights, counts) = (of(&part.weights), of(&part.sample_weights));
        Some(SomeSamples { design: part.design().select_samples(&rows), codes, weights, counts })
    }

    /// The kernel of a method's classifiers on k features.
    pub(crate) fn kernel(&self, method: StudyMethod, k: usize) -> Result<Kernel, Error> {
        if !method.has_kernel() {
            return Ok(Kernel::Linear);
        }
        let most = kernel_size(k).min(self.largest());
        let gamma = KtaSettings::default().gamma.number(self.part.prepared.design(), most)?;
        Ok(Kernel::Rbf { gamma })
    }

    fn elimination(&self, cost: f64) -> RfeSettings {
        let svm = self.svm(cost);
        let svm = SvmSettings { tolerance: svm.tolerance.min(TOLERANCE), ..svm };
        RfeSettings { svm, step: STEP, ..RfeSettings::default() }
    }

    /// The sizes that the samples allow.
    fn usable(&self, sizes: &[usize]) -> Vec<usize> {
        sizes.iter().copied().filter(|&k| k <= self.part.size.usable).collect()
    }

    fn found(&self, reports: Vec<SizeReport>, method: usize) -> Vec<Found> {
        let found = |SizeReport { max_features, report }: SizeReport| {
            let size = self.sizes.iter().position(|&k| k == max_features)?;
            let features: Vec<usize> = report.selection.outcome.subset?.iter().collect();
            Some(Found { size, method, features, kernel: report.kernel })
        };
        reports.into_iter().filter_map(found).filter(|found| !found.features.is_empty()).collect()
    }

    /// SVM-RFE at these sizes.
    fn eliminate(&self, cost: f64, sizes: &[usize], limits: &Limits) -> Result<Eliminated, Error> {
        let (samples, rules) = (self.part.prepared.samples()?, self.part.rules(self.settings, None)?);
        let reports = self.elimination(cost).path(&samples, &rules, &self.usable(sizes), limits, &mut Silent)?;
        let mut ranked: Vec<(usize, usize)> = Vec::new();
        if let Some(first) = reports.iter().find(|point| point.report.selection.outcome.subset.is_some()) {
            ranked = first.report.selection.ranking.iter().map(|r| (r.rank, r.feature)).collect();
            ranked.sort_unstable();
        }
        let survivors = self.found(reports, 0).into_iter().map(|found| (found.size, found.features)).collect();
        Ok(Eliminated { survivors, ranking: ranked.into_iter().map(|r| r.1).collect() })
    }

    /// Quick `exact` from the subsets of SVM-RFE: (position of the size, subset).
    fn polish(
        &self,
        cost: f64,
        starts: &[(usize, Vec<usize>)],
        ranking: &[usize],
        limits: &Limits,
    ) -> Result<Vec<(usize, Vec<usize>)>, Error> {
        let begun = Instant::now();
        let mut chosen: Vec<usize> = ranking.iter().copied().take(self.candidates()).collect();
        chosen.extend(starts.iter().flat_map(|start| &start.1));
        chosen.extend(named(&self.settings.rules));
        chosen.sort_unstable();
        chosen.dedup();
        let (design, part) = (self.part.columns(&chosen), self.part);
        let samples = Samples::new(&design, &part.prepared.target.codes, Some(&part.prepared.weights))?;
        let several = Several::new(&samples, MultiClass::default(), &Memory::unlimited())?;
        let problems = several.problems();
        let (mut root, mut out) = (RootPoint::default(), Vec::new());
        for (size, start) in starts {
            let list = restricted(&part.rule_list(self.settings, Some(self.sizes[*size])), &chosen);
            let Ok(rules) = Rules::new(chosen.len(), list, &[]) else { continue };
            let inside = start.iter().filter_map(|j| chosen.binary_search(j).ok());
            let settings = ExactSettings {
                svm: self.svm(cost),
                start: vec![Subset::from_indices(chosen.len(), inside)],
                ..ExactSettings::default()
            };
            let limits = limits.clone().after(begun);
            let limits = Limits { nodes: Some(1), gap_rel: QUICK_GAP.max(limits.gap_rel), ..limits };
            let found = exact_from(&mut root, &problems, &rules, &settings, limits, &mut Silent)?.outcome.subset;
            let features = found.map_or_else(|| start.clone(), |subset| subset.iter().map(|at| chosen[at]).collect());
            out.push((*size, features));
        }
        Ok(out)
    }

    /// How many features of a ranking a quick `exact` searches.
    fn candidates(&self) -> usize {
        let most = CANDIDATES * MANY / self.part.prepared.weights.len().max(MANY);
        most.max(2 * self.largest())
    }

    fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// The selection that is judged or reported: `exact` resumes from its quick subset, on all
    /// features, and has at least half of the time; without that subset it begins with the
    /// [`Self::fallback`]'s.
    pub(crate) fn select(&self, method: StudyMethod, cost: f64, size: usize, limits: Limits) -> Result<Report, Error> {
        let begun = Instant::now();
        let k = self.sizes[size].min(self.part.size.usable.max(1));
        if method != StudyMethod::Exact {
            let some = self.some(method);
            let samples = some.as_ref().map_or_else(|| self.part.prepared.samples(), SomeSamples::samples)?;
            let rules = self.part.rules(self.settings, Some(k))?;
            let limits = Limits { nodes: limits.nodes.map(|most| nodes(method, k, most)), ..limits };
            return self.method(method, cost, k)?.select(&samples, &rules, limits, &mut Silent);
        }
        let quick = Limits { time: limits.time.map(|time| time / 2), ..limits.clone() };
        let Eliminated { survivors, ranking } = self.eliminate(cost, &[k], &quick)?;
        let survivors: Vec<(usize, Vec<usize>)> = survivors.into_iter().map(|s| (size, s.1)).collect();
        let polished = self.polish(cost, &survivors, &ranking, &quick.after(begun))?;
        let mut start: Vec<Vec<usize>> = polished.into_iter().chain(survivors).map(|found| found.1).collect();
        if start.is_empty() {
            start.push(self.fallback(cost, k)?.1.selection.outcome.features());
        }
        self.prove(cost, k, start, 1, limits.after(begun))
    }

    /// An answer whatever the limits are, and the method that gives it: the filter by information gain, one
    /// pass. Where rules bound weights, which it does not keep, SVM-RFE by halves among the first of the
    /// filter; no subset where the other rules leave none among these.
    pub(crate) fn fallback(&self, cost: f64, k: usize) -> Result<(StudyMethod, Report), Error> {
        let (samples, usable) = (self.part.prepared.samples()?, self.part.size.usable.max(1));
        let (filter, k): (AnyMethod, usize) = (InfoGainSettings::default().into(), k.min(usable));
        let p = self.part.prepared.design().n_features();
        let filtered = |size: usize| -> Result<Report, Error> {
            let list = RuleList { weights: Vec::new(), ..self.part.rule_list(self.settings, Some(size)) };
            filter.select(&samples, &Rules::new(p, list, &[])?, Limits::default(), &mut Silent)
        };
        if !self.settings.bounds_weights() {
            return Ok((StudyMethod::InfoGain, filtered(k)?));
        }
        let mut report = filtered(k.max(CANDIDATES).min(usable))?;
        let first = report.selection.outcome.features();
        let mut list = self.part.rule_list(self.settings, Some(k));
        list.forbid.extend((0..p).filter(|j| first.binary_search(j).is_err()));
        let elimination = RfeSettings { step: Step::Remaining(0.5), ..self.elimination(cost) };
        match Rules::new(p, list, &[]) {
            Ok(rules) if !first.is_empty() => {
                report = elimination.select(&samples, &rules, Limits::default(), &mut Silent)?;
            }
            _ => report.selection.outcome.subset = None,
        }
        Ok((StudyMethod::Rfe, report))
    }

    /// `kta` from this subset, with its tree.
    pub(crate) fn prove_alignment(&self, k: usize, start: &[usize], limits: Limits) -> Result<Report, Error> {
        let rules = self.part.rules(self.settings, Some(k))?;
        let start = vec![Subset::from_indices(rules.p(), start.iter().copied())];
        let settings = KtaSettings { start, ..self.alignment(k)? };
        settings.select(&self.part.prepared.samples()?, &rules, limits, &mut Silent)
    }

    /// `exact` on all features from these subsets; the best `solutions` subsets.
    pub(crate) fn prove(
        &self,
        cost: f64,
        k: usize,
        start: Vec<Vec<usize>>,
        solutions: usize,
        limits: Limits,
    ) -> Result<Report, Error> {
        let rules = self.part.rules(self.settings, Some(k))?;
        let start = start.into_iter().map(|features| Subset::from_indices(rules.p(), features)).collect();
        let settings = ExactSettings { svm: self.svm(cost), start, solutions, ..ExactSettings::default() };
        let several = self.part.several()?;
        let selection = exact_several(&several.problems(), &rules, &settings, limits, &mut Silent)?;
        Ok(Report::new(selection, Kernel::Linear).with_several(&several, MultiClass::default()))
    }
}

/// The number of features that gamma is for, so that sizes of about as many share their kernel
/// matrices: the next power of two.
fn kernel_size(k: usize) -> usize {
    k.next_power_of_two()
}

/// The nodes of a selection, at most this many: the start of `kta` is enough to judge it by where
/// its search would take long.
fn nodes(method: StudyMethod, k: usize, most: u64) -> u64 {
    if method.has_kernel() && k > PROVEN { 1 } else { most }
}

/// Features that a rule other than a cost or a prohibition names.
fn named(list: &RuleList) -> Vec<usize> {
    let groups = list.at_most.iter().chain(&list.at_least).map(|group| &group.1).chain(&list.together);
    let pairs = list.implies.iter().flat_map(|&(a, b)| [a, b]);
    list.require.iter().copied().chain(pairs).chain(groups.flatten().copied()).collect()
}

/// The rules on these features alone, by their positions; `chosen` ascends and holds all that are
/// [`named`].
fn restricted(list: &RuleList, chosen: &[usize]) -> RuleList {
    let at = |j: &usize| chosen.binary_search(j).ok();
    let all = |features: &[usize]| features.iter().filter_map(at).collect::<Vec<usize>>();
    RuleList {
        max_features: list.max_features.map(|k| k.min(chosen.len())),
        require: all(&list.require),
        forbid: (0..chosen.len()).filter(|&at| list.forbid.contains(chosen[at])).collect(),
        implies: list.implies.iter().filter_map(|(a, b)| Some((at(a)?, at(b)?))).collect(),
        at_most: list.at_most.iter().map(|(m, group)| (*m, all(group))).collect(),
        at_least: list.at_least.iter().map(|(m, group)| (*m, all(group))).collect(),
        together: list.together.iter().map(|group| all(group)).collect(),
        budget: list.budget,
        costs: if list.costs.is_empty() { Vec::new() } else { chosen.iter().map(|&j| list.costs[j]).collect() },
        weights: list
            .weights
            .iter()
            .filter_map(|w| Some(fewest::WeightBound { feature: at(&w.feature)?, ..*w }))
            .collect(),
    }
}
