//! Classifiers on few features: trained on one part, judged on another.

use fewest::model::{FitSettings, Model, fit};
use fewest::validation::area;
use fewest::{Clock, Error, Kernel, SvmSettings};

use super::part::StudyPart;
use super::score::Scores;
use crate::part::HeldOut;
use crate::preparation::columns;

/// Relative duality gap of classifiers that are only judged.
const TOLERANCE: f64 = 1e-4;

/// Scores of the classifiers on these features, one for each cost; none where `clock` said so or no
/// cost is given.
pub(crate) fn judge(
    part: &StudyPart,
    held: &HeldOut,
    svm: &SvmSettings,
    features: &[usize],
    kernel: Kernel,
    costs: &[Option<f64>],
    clock: &Clock,
) -> Result<Vec<Option<Scores>>, Error> {
    let (inside, outside) = (part.columns(features), columns(held.design(), features));
    let all: Vec<usize> = (0..features.len()).collect();
    let codes = &part.prepared.target.codes;
    let mut found = Vec::new();
    for &cost in costs {
        let Some(cost) = cost.filter(|_| clock.stop().is_none()) else {
            found.push(None);
            continue;
        };
        let svm = SvmSettings { cost, tolerance: svm.tolerance.max(TOLERANCE), ..svm.clone() };
        let weight_bounds = part.weight_bounds.of_all(features);
        let settings = FitSettings { svm, kernel, weight_bounds, ..FitSettings::default() };
        let model = fit(&inside, &all, codes, &part.prepared.weights, &settings, clock)?;
        found.push(Some(scores(&model, &model.decisions(&outside), held)));
    }
    Ok(found)
}

/// A classifier on columns of its own, as it comes at this cost.
pub(crate) fn train(
    part: &StudyPart,
    svm: &SvmSettings,
    features: &[usize],
    kernel: Kernel,
    cost: f64,
    clock: &Clock,
) -> Result<Model, Error> {
    let (svm, weight_bounds) = (SvmSettings { cost, ..svm.clone() }, part.weight_bounds.of_all(features));
    let settings = FitSettings { svm, kernel, weight_bounds, ..FitSettings::default() };
    let all: Vec<usize> = (0..features.len()).collect();
    fit(&part.columns(features), &all, &part.prepared.target.codes, &part.prepared.weights, &settings, clock)
}

/// What decision values (sample after sample, one for each machine) are worth on the samples held
/// out.
fn scores(model: &Model, decisions: &[f64], held: &HeldOut) -> Scores {
    let (codes, weights, machines) = (&held.target.codes, &held.weights, model.machines.len());
    let total: f64 = weights.iter().sum();
    let mean = |sum: f64| (total > 0.0).then(|| sum / total);
    let votes = model.votes(decisions);
    let right: f64 = (0..codes.len()).filter(|&i| votes[i] == codes[i]).map(|i| weights[i]).sum();
    let (mut areas, mut hinge, mut judged) = (Vec::new(), 0.0, 0.0);
    for (at, machine) in model.machines.iter().enumerate() {
        let mut values = Vec::new();
        for i in (0..codes.len()).filter(|&i| codes[i] == machine.negative || codes[i] == machine.positive) {
            let (f, w) = (decisions[i * machines + at], weights[i]);
            let (y, sides) = if codes[i] == machine.positive { (1.0, (w, 0.0)) } else { (-1.0, (0.0, w)) };
            hinge += w * (1.0 - y * f).max(0.0);
            judged += w;
            values.push((f, sides.0, sides.1));
        }
        areas.extend(area(values));
    }
    let auc = (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64);
    Scores { accuracy: mean(right), auc, hinge: (judged > 0.0).then(|| hinge / judged) }
}
