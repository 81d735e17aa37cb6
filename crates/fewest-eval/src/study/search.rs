//! Selections inside a part: quick ones for the grid, and the one that is judged or reported.
//!
//! Quick `exact`: SVM-RFE at the same cost ranks the features; the first of the ranking
//! ([`CANDIDATES`]), and those that a rule names, are searched by `exact` from the subset that
//! SVM-RFE ends with, without a tree: relaxation of the root, and its rounding. It proves nothing,
//! and a grid point costs little more than its elimination.

use fewest::method::exact::{ExactSettings, exact};
use fewest::method::info_gain::InfoGainSettings;
use fewest::method::kta::KtaSettings;
use fewest::method::path::SizeReport;
use fewest::method::rfe::{RfeSettings, Step};
use fewest::{
    AnyMethod, Error, Gamma, Kernel, Limits, Method, Problem, Report, RuleList, Rules, Selection, Silent, Subset,
    SvmSettings,
};

use super::part::StudyPart;
use super::settings::{StudyMethod, StudySettings};

/// Features that a quick `exact` searches: as many as this with up to [`MANY`] samples, fewer in
/// proportion with more, but at least twice the largest size. The cost of a search grows with the
/// samples and the square of the candidates; many samples rank the features well.
const CANDIDATES: usize = 64;
const MANY: usize = 1000;
/// Relative gap at which a quick `exact` is content.
const QUICK_GAP: f64 = 1e-3;
/// Share of the features that leave in one step of SVM-RFE.
const STEP: Step = Step::Remaining(0.1);
/// Relative duality gap of the trainings of SVM-RFE.
const TOLERANCE: f64 = 1e-6;

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

/// What is searched in a part.
pub(crate) struct Search<'a> {
    part: &'a StudyPart,
    settings: &'a StudySettings,
    methods: &'a [StudyMethod],
    sizes: &'a [usize],
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        part: &'a StudyPart,
        settings: &'a StudySettings,
        methods: &'a [StudyMethod],
        sizes: &'a [usize],
    ) -> Self {
        Self { part, settings, methods, sizes }
    }

    fn svm(&self, cost: f64) -> SvmSettings {
        SvmSettings { cost, ..self.settings.svm.clone() }
    }

    fn place(&self, method: StudyMethod) -> Option<usize> {
        self.methods.iter().position(|&known| known == method)
    }

    /// The linear methods at a cost, every size.
    pub(crate) fn at_cost(&self, cost: f64, limits: &Limits) -> Result<Vec<Found>, Error> {
        let Eliminated { survivors, ranking } = self.eliminate(cost, self.sizes, limits)?;
        let mut out = Vec::new();
        if let Some(method) = self.place(StudyMethod::Exact) {
            for (size, features) in self.polish(cost, &survivors, &ranking, limits)? {
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
        // Of a search by bounds its start is enough to judge by.
        let limits = Limits { nodes: Some(1), ..limits.clone() };
        let (samples, sizes) = (self.part.prepared.samples()?, self.usable(self.sizes));
        let reports = self.method(method, 1.0)?.path(&samples, &rules, &sizes, &limits, &mut Silent)?;
        Ok(self.found(reports, at))
    }

    fn method(&self, method: StudyMethod, cost: f64) -> Result<AnyMethod, Error> {
        Ok(match method {
            StudyMethod::Exact => ExactSettings { svm: self.svm(cost), ..ExactSettings::default() }.into(),
            StudyMethod::Rfe => self.elimination(cost).into(),
            StudyMethod::InfoGain => InfoGainSettings::default().into(),
            StudyMethod::Kta => {
                let gamma = self.kernel(method)?.gamma().map_or(KtaSettings::default().gamma, Gamma::Number);
                KtaSettings { gamma, memory: self.settings.svm.memory, ..KtaSettings::default() }.into()
            }
        })
    }

    /// The kernel of a method's classifiers.
    pub(crate) fn kernel(&self, method: StudyMethod) -> Result<Kernel, Error> {
        if !method.has_kernel() {
            return Ok(Kernel::Linear);
        }
        let gamma = KtaSettings::default().gamma.number(self.part.prepared.design(), self.largest())?;
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
        let mut chosen: Vec<usize> = ranking.iter().copied().take(self.candidates()).collect();
        chosen.extend(starts.iter().flat_map(|start| &start.1));
        chosen.extend(named(&self.settings.rules));
        chosen.sort_unstable();
        chosen.dedup();
        let (design, part) = (self.part.columns(&chosen), self.part);
        let labels = part.problem()?.labels().to_vec();
        let problem = Problem::new(&design, &labels, Some(&part.prepared.weights))?;
        let mut out = Vec::new();
        for (size, start) in starts {
            let list = restricted(&part.rule_list(self.settings, Some(self.sizes[*size])), &chosen);
            let Ok(rules) = Rules::new(chosen.len(), list, &[]) else { continue };
            let inside = start.iter().filter_map(|j| chosen.binary_search(j).ok());
            let settings = ExactSettings {
                svm: self.svm(cost),
                start: vec![Subset::from_indices(chosen.len(), inside)],
                ..ExactSettings::default()
            };
            let limits = Limits { nodes: Some(1), gap_rel: QUICK_GAP.max(limits.gap_rel), ..limits.clone() };
            let found = exact(&problem, &rules, &settings, limits, &mut Silent)?.outcome.subset;
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

    /// The selection that is judged or reported: `exact` goes on from its quick subset, on all
    /// features.
    pub(crate) fn select(&self, method: StudyMethod, cost: f64, size: usize, limits: Limits) -> Result<Report, Error> {
        let k = self.sizes[size].min(self.part.size.usable.max(1));
        if method != StudyMethod::Exact {
            let rules = self.part.rules(self.settings, Some(k))?;
            return self.method(method, cost)?.select(&self.part.prepared.samples()?, &rules, limits, &mut Silent);
        }
        let Eliminated { survivors, ranking } = self.eliminate(cost, &[k], &limits)?;
        let mut start = Vec::new();
        let survivors: Vec<(usize, Vec<usize>)> = survivors.into_iter().map(|s| (size, s.1)).collect();
        for (_, features) in self.polish(cost, &survivors, &ranking, &limits)?.into_iter().chain(survivors) {
            start.push(features);
        }
        Ok(Report::new(self.prove(cost, k, start, 1, limits)?, Kernel::Linear))
    }

    /// `exact` on all features from these subsets; the best `solutions` subsets.
    pub(crate) fn prove(
        &self,
        cost: f64,
        k: usize,
        start: Vec<Vec<usize>>,
        solutions: usize,
        limits: Limits,
    ) -> Result<Selection, Error> {
        let rules = self.part.rules(self.settings, Some(k))?;
        let start = start.into_iter().map(|features| Subset::from_indices(rules.p(), features)).collect();
        let settings = ExactSettings { svm: self.svm(cost), start, solutions, ..ExactSettings::default() };
        exact(&self.part.problem()?, &rules, &settings, limits, &mut Silent)
    }
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
