//! `--certify`: how far the subset found is from the best of its size.

use std::fmt::Write as _;
use std::time::Duration;

use fewest::method::certificate::{Certificate, certify};
use fewest::method::exact::ExactSettings;
use fewest::{Limits, Status, Subset};
use fewest_data::Names;
use serde_json::{Value, json};

use super::selection::Task;
use crate::args::method::two_classes;
use crate::args::notation;
use crate::export::table::number;
use crate::failure::Failure;
use crate::progress::Watch;

/// Time for the search where neither `--certify` nor `--time-limit` names one.
const TIME: Duration = Duration::from_secs(60);

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certify {
    /// Time for each search, if named.
    time: Option<Duration>,
}

impl Certify {
    /// The option: not given, without a value (an empty text), or with a time.
    ///
    /// # Errors
    /// A value that is no time.
    pub(crate) fn read(text: Option<&str>) -> Result<Option<Self>, Failure> {
        match text {
            None => Ok(None),
            Some("") => Ok(Some(Self { time: None })),
            Some(text) => match notation::time(text) {
                Ok(time) => Ok(Some(Self { time: Some(time) })),
                Err(why) => Err(Failure::Input(format!("--certify: {why}"))),
            },
        }
    }

    /// Time for a search when this much is left of the time limit.
    fn time(self, left: Option<Duration>) -> Duration {
        match (self.time, left) {
            (Some(named), Some(left)) => named.min(left),
            (named, left) => named.or(left).unwrap_or(TIME),
        }
    }
}

impl Task<'_> {
    /// The certificate of a subset, if asked for; `start` are further subsets to start from, and `left` is the time it may
    /// take of the time limit.
    ///
    /// # Errors
    /// Bad input, which the run before has already been through.
    pub(crate) fn certificate(
        &self,
        subset: Option<&Subset>,
        start: &[Subset],
        left: Option<Duration>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Certificate>, Failure> {
        let (Some(asked), Some(subset)) = (self.certify, subset.filter(|s| !s.is_empty())) else { return Ok(None) };
        watch.certifying(subset.len());
        let problem = two_classes(&self.prepared, "--certify")?;
        let settings = ExactSettings { svm: self.svm().clone(), start: start.to_vec(), ..ExactSettings::default() };
        let limits = Limits { time: Some(asked.time(left)), ..self.limits.clone() };
        Ok(Some(certify(&problem, &self.rules, subset, &settings, limits, watch)?))
    }
}

/// The certificate in a result.
pub(crate) fn value(certificate: &Certificate, max_features: usize, names: &Names) -> Value {
    let best: Vec<usize> = certificate.best.subset.iter().collect();
    let selected: Vec<String> = best.iter().map(|&j| names.get(j).into_owned()).collect();
    json!({
        "status": certificate.status.name(),
        "max_features": max_features,
        "objective": certificate.objective,
        "bound": certificate.bound,
        "gap": certificate.gap(),
        "best": {"selected": selected, "selected_indices": best, "objective": certificate.best.objective},
        "seconds": certificate.elapsed.as_secs_f64(),
        "counts": certificate.counts,
    })
}

/// The certificate in a sentence.
pub(crate) fn sentence(certificate: &Certificate, subset: &Subset, names: &Names) -> String {
    let size = notation::plural(subset.len(), "feature");
    let Certificate { objective, best, bound, status, .. } = certificate;
    if let (Status::Optimal, Some(gap), true) = (status, certificate.gap(), best.subset == *subset) {
        return format!(
            "certificate: no allowed subset of at most {size} is better than this one, at {} (gap {gap:.2e})",
            number(*objective)
        );
    }
    let mut text = match bound {
        Some(bound) if *bound > 0.0 => format!(
            "certificate: no allowed subset of at most {size} is better than {}; this one is at {}, at most {} above the best",
            number(*bound),
            number(*objective),
            percent((objective - bound) / bound)
        ),
        _ => {
            format!(
                "certificate: no bound was proven for subsets of at most {size}; this one is at {}",
                number(*objective)
            )
        }
    };
    if best.subset != *subset {
        let names: Vec<String> = best.subset.iter().map(|j| names.get(j).into_owned()).collect();
        let _ = write!(text, " (a better one: {} at {})", names.join(", "), number(best.objective));
    }
    text + match status {
        Status::TimeLimit => "; stopped at the time limit, with more time the bound may rise",
        Status::NodeLimit => "; stopped at the node limit, with more nodes the bound may rise",
        Status::Cancelled => "; cancelled",
        Status::Stalled => "; rounding kept the search from raising the bound further",
        _ => "",
    }
}

/// A share in percent.
fn percent(share: f64) -> String {
    match 100.0 * share {
        x if x >= 10.0 => format!("{x:.1} %"),
        x if x >= 0.01 => format!("{x:.2} %"),
        x => format!("{x:.1e} %"),
    }
}
