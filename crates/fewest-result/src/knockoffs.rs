//! What a knockoff filter found. docs/use/knockoffs.md says what each entry is.

use fewest::Status;
use fewest::validation::Knockoffs as Law;
use fewest_eval::knockoffs::KnockoffReport;
use serde::Serialize;

use crate::{About, Asked, ByName, NamedData};

/// What stands out from copies.
#[derive(Debug, Clone, Serialize)]
pub struct Knockoffs {
    method: String,
    status: Status,
    #[serde(flatten)]
    about: About,
    selected: Vec<String>,
    selected_indices: Vec<usize>,
    fdr: f64,
    n_copied: usize,
    least_selected: usize,
    statistics: ByName<f64>,
    evidence: ByName<f64>,
    separation: Option<f64>,
    separations: ByName<f64>,
    shrinkage: Option<f64>,
    draws: Vec<Draw>,
    seconds: f64,
    settings: Asked,
    command: String,
}

/// A draw of the copies.
#[derive(Debug, Clone, Copy, Serialize)]
struct Draw {
    threshold: Option<f64>,
    seconds: f64,
}

impl Knockoffs {
    /// What the draws say at the share `fdr` of false discoveries, with names.
    pub fn new(
        data: NamedData<'_>,
        about: About,
        method: &str,
        (report, fdr): (&KnockoffReport, f64),
        (settings, command): (Asked, &str),
    ) -> Self {
        let (found, law) = (&report.found, report.law.as_ref());
        let selected_indices: Vec<usize> = found.selected.iter().map(|&place| report.features[place]).collect();
        let by_name = |values: &[f64]| ByName::new(data.named(&report.features), values.iter().copied());
        let draws = report.draws.iter().zip(&found.thresholds);
        Self {
            method: method.to_owned(),
            status: report.status,
            about,
            selected: data.named(&selected_indices),
            selected_indices,
            fdr,
            n_copied: report.features.len(),
            least_selected: found.least_selected,
            statistics: by_name(&found.statistics),
            evidence: by_name(&found.evidence),
            separation: law.map(Law::separation),
            separations: by_name(law.map_or(&[], Law::separations)),
            shrinkage: law.map(Law::shrinkage),
            draws: draws.map(|(draw, &threshold)| Draw { threshold, seconds: draw.seconds }).collect(),
            seconds: report.draws.iter().map(|draw| draw.seconds).sum(),
            settings,
            command: command.to_owned(),
        }
    }
}
