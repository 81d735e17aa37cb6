//! `--certify`: how far the subset found is from the best of its size.

use std::fmt::Write as _;
use std::time::Duration;

use fewest::method::certificate::{self, Certificate};
use fewest::method::exact::ExactSettings;
use fewest::{Limits, MultiClass, Several, Status, Subset};
use fewest_data::Names;
use fewest_report::at_most;

use super::selection::Task;
use crate::args::notation;
use crate::export::table::number;
use crate::failure::Failure;
use crate::method_args::Certify;
use crate::progress::Watch;

/// Time for the search where neither `--certify` nor `--time-limit` names one.
const TIME: Duration = Duration::from_secs(60);

/// Time for a search when this much is left of the time limit.
fn time(certify: Certify, left: Option<Duration>) -> Duration {
    match (certify.time, left) {
        (Some(named), Some(left)) => named.min(left),
        (named, left) => named.or(left).unwrap_or(TIME),
    }
}

impl Task<'_> {
    /// The certificate of a subset, if asked for; `start` are further subsets to start from, and
    /// `left` is the time it may take of the time limit.
    pub(crate) fn certificate(
        &self,
        subset: Option<&Subset>,
        start: &[Subset],
        left: Option<Duration>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Certificate>, Failure> {
        let (Some(certify), Some(subset)) = (self.certify(), subset.filter(|s| !s.is_empty())) else { return Ok(None) };
        watch.certifying(subset);
        let samples = self.prepared.samples()?;
        let several = Several::new(&samples, MultiClass::default(), &self.limits.memory)?;
        let settings = ExactSettings { svm: self.svm().clone(), start: start.to_vec(), ..ExactSettings::default() };
        let limits = Limits { time: Some(time(certify, left)), ..self.limits.clone() };
        Ok(Some(certificate::certify_several(&several.problems(), &self.rules, subset, &settings, limits, watch)?))
    }
}

/// The certificate in a sentence.
pub(crate) fn sentence(certificate: &Certificate, subset: &Subset, names: &Names) -> String {
    format!("certificate: {}", words(certificate, (subset, subset.len()), names))
}

/// What it says of a subset against all others of at most `size` features.
pub(super) fn words(certificate: &Certificate, (subset, size): (&Subset, usize), names: &Names) -> String {
    let size = notation::plural(size, "feature");
    let Certificate { objective, best, bound, status, yardstick, .. } = certificate;
    let (own, open) = (number(*objective), certificate.gap().filter(|gap| gap.is_finite()).map(at_most));
    if let (Status::Optimal, Some(open), true) = (status, &open, best.subset == *subset) {
        return format!(
            "this subset, at {own}, is the best allowed one of at most {size}: at most {open} of what they can gain is left out"
        );
    }
    let worth = |open: &str| match yardstick.baseline {
        baseline if *objective > baseline + yardstick.nothing => {
            format!("is worse than no feature, at {}", number(baseline))
        }
        _ => format!("leaves out at most {open} of what they can gain"),
    };
    let mut text = match bound.zip(open) {
        Some((bound, open)) => format!(
            "no allowed subset of at most {size} is better than {}; this one, at {own}, {}",
            fewest_report::bound(bound, false),
            worth(&open)
        ),
        None => format!("no bound was proven for subsets of at most {size}; this one is at {own}"),
    };
    if best.subset != *subset {
        let names: Vec<String> = best.subset.iter().map(|j| names.get(j).into_owned()).collect();
        let names = if names.is_empty() { "no feature".to_owned() } else { names.join(", ") };
        let _ = write!(text, " (a better one: {names} at {})", number(best.objective));
    }
    text + match status {
        Status::TimeLimit => "; stopped at the time limit, with more time the bound may rise",
        Status::NodeLimit => "; stopped at the node limit, with more nodes the bound may rise",
        Status::Cancelled => "; cancelled",
        Status::Stalled => "; rounding, or a training that could not be ended, kept the bound from rising further",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fewest::method::certificate::Certificate;
    use fewest::{Counts, Solution, Status, Subset, Yardstick};
    use fewest_data::Names;

    use super::sentence;

    #[test]
    fn what_is_printed_is_proven() {
        let (names, subset) = (Names::Numbered(3), Subset::from_indices(3, [0]));
        let best = Solution { subset: Subset::from_indices(3, [1]), objective: 140.0 };
        let of = |bound: f64, objective: f64| {
            let (status, elapsed, counts) = (Status::TimeLimit, Duration::ZERO, Counts::default());
            let yardstick = Yardstick { baseline: 424.0, price: 0.0, nothing: 0.0 };
            let certificate =
                Certificate { objective, best: best.clone(), bound: Some(bound), yardstick, status, elapsed, counts };
            sentence(&certificate, &subset, &names)
        };
        let text = of(100.0, 150.616);
        assert!(text.contains("better than 100.000; ") && text.contains("leaves out at most 15.7 % of"), "{text}");
        let loss = of(100.0, 500.0);
        assert!(loss.contains("this one, at 500.000, is worse than no feature, at 424.000"), "{loss}");
        // A bound is not rounded up, a distance not down.
        for step in 0..200 {
            let (bound, objective) = (100.0 + 0.000_37 * f64::from(step), 150.0 + 0.0123 * f64::from(step));
            let text = of(bound, objective);
            let after = |words: &str| -> f64 {
                text.split(words).nth(1).unwrap().split([' ', ';']).next().unwrap().parse().unwrap()
            };
            assert!(after("is better than ") <= bound, "{text} {bound}");
            let open = (objective - bound) / (424.0 - bound);
            assert!(after("leaves out at most ") / 100.0 >= open * (1.0 - 1e-12), "{text}");
        }
    }
}
