//! The panel: what was chosen on all samples, its proof, what comes next to it, what could replace
//! what.

use fewest::method::certificate::{Certificate, certify_several};
use fewest::method::exact::ExactSettings;
use fewest::method::swaps::swaps;
use fewest::{Error, Kernel, Memory, Problem, Rules, Selection, Silent, Solution, Status, Subset, SvmSettings};

use super::grid::Grid;
use super::learn::{Calibrated, Learned, cut_short, fitted};
use super::report::Panel;
use super::search::Search;
use super::settings::{StudyMethod, StudySettings};
use crate::time::Deadline;

/// The list of the best subsets may take this many times the nodes of the proof.
const LIST_EFFORT: u64 = 10;

/// The panel with its proof; and whether time or the user cut the proof short.
pub(crate) fn panel(
    learned: Learned,
    calibrated: Calibrated,
    grid: &Grid,
    settings: &StudySettings,
    deadline: &Deadline,
) -> Result<(Panel, bool), Error> {
    let Learned { part, choice, mut report, mut features, model: mut trained } = learned;
    let search = Search::new(&part, settings, grid);
    let k = choice.max_features.min(part.size.usable.max(1));
    let linear = report.kernel == Kernel::Linear && !features.is_empty();
    let cost = choice.cost.unwrap_or(choice.fit_cost);
    let (mut certificate, mut solutions, mut cut) = (None, Vec::new(), false);
    if linear && choice.method == StudyMethod::Exact {
        let proof = prove(&search, settings, cost, k, &features, &report.selection, deadline)?;
        cut |= cut_short(proof.outcome.status);
        let found = proof.outcome.features();
        if !found.is_empty() {
            if found != features {
                trained = fitted(&part, settings, &found, report.kernel, choice.fit_cost)?;
                features = found;
            }
            report.selection = proof;
        }
        if report.selection.outcome.status == Status::Optimal && settings.solutions > 1 {
            solutions = several(&search, settings, cost, k, &features, &report.selection, deadline)?;
        }
    } else if linear {
        let (several, rules) = (part.several()?, part.rules(settings, Some(k))?);
        let found = certified(&several.problems(), &rules, settings, cost, &features, deadline)?;
        cut |= cut_short(found.status);
        certificate = Some(found);
    }
    if choice.method == StudyMethod::Kta && report.selection.outcome.status != Status::Optimal {
        let mut limits = deadline.limits(0.7);
        limits.nodes = Some(settings.proof_nodes);
        let proof = search.prove_alignment(k, &features, limits)?;
        cut |= cut_short(proof.selection.outcome.status);
        let found = proof.selection.outcome.features();
        if !found.is_empty() && found != features {
            trained = fitted(&part, settings, &found, proof.kernel, choice.fit_cost)?;
            features = found;
        }
        report = proof;
    }
    let swaps = if linear {
        let (several, rules) = (part.several()?, part.rules(settings, Some(k))?);
        let svm = SvmSettings { cost, ..settings.svm.clone() };
        let memory = Memory::new(svm.memory);
        swaps(&several.problems(), &rules, &features, &svm, &[], &memory, &deadline.clock())?
    } else {
        Vec::new()
    };
    let model = trained.map(|mut model| {
        model.features.clone_from(&features);
        calibrated.shifted(model)
    });
    let panel = Panel {
        choice,
        report,
        selected: features,
        model,
        calibration: calibrated.probabilities,
        threshold: calibrated.threshold,
        imputation: part.prepared.learnt.imputation,
        scaling: part.prepared.learnt.scaling,
        certificate,
        solutions,
        swaps,
    };
    Ok((panel, cut))
}

/// The search resumes from what it found, unless it was proven.
fn prove(
    search: &Search<'_>,
    settings: &StudySettings,
    cost: f64,
    k: usize,
    features: &[usize],
    known: &Selection,
    deadline: &Deadline,
) -> Result<Selection, Error> {
    if known.outcome.status == Status::Optimal {
        return Ok(known.clone());
    }
    let mut limits = deadline.limits(0.7);
    limits.nodes = Some(settings.proof_nodes);
    Ok(search.prove(cost, k, vec![features.to_vec()], 1, limits)?.selection)
}

/// The best subsets, where they can be proven for little more than the first one.
fn several(
    search: &Search<'_>,
    settings: &StudySettings,
    cost: f64,
    k: usize,
    features: &[usize],
    known: &Selection,
    deadline: &Deadline,
) -> Result<Vec<Solution>, Error> {
    let mut limits = deadline.limits(0.5);
    limits.nodes = Some((LIST_EFFORT * known.outcome.counts.nodes).max(settings.nodes));
    let found = search.prove(cost, k, vec![features.to_vec()], settings.solutions, limits)?.selection;
    Ok(if found.outcome.status == Status::Optimal { found.solutions } else { Vec::new() })
}

/// How far a subset of another method is from the best for a linear SVM at this cost.
fn certified(
    problems: &[Problem<'_>],
    rules: &Rules,
    settings: &StudySettings,
    cost: f64,
    features: &[usize],
    deadline: &Deadline,
) -> Result<Certificate, Error> {
    let mut limits = deadline.limits(0.7);
    limits.nodes = Some(settings.proof_nodes);
    let svm = SvmSettings { cost, ..settings.svm.clone() };
    let exact = ExactSettings { svm, ..ExactSettings::default() };
    let subset = Subset::from_indices(rules.p(), features.iter().copied());
    certify_several(problems, rules, &subset, &exact, limits, &mut Silent)
}
