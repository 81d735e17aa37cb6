//! The verdict on a proof: what is proven, of which question, as JSON and for people.

use std::borrow::Cow;

use fewest::Sense;
use fewest_data::Names;
use fewest_result::{CheckCounts, Document, Kind, ListedSubset, OwnSubset, ProvenBound, Verification, VerifiedFiles};
use fewest_verify::{Error, Listed, Progress, Strength, Verdict};
use serde_json::Value;

use super::asked::Difference;
use super::question::Question;
use crate::args::notation;
use crate::export::table;
use crate::terminal::bold;

/// Exit code of a proof that is not verified, or proves less than was asked.
const NOT_VERIFIED: u8 = 1;
/// Exit code of a check that was stopped.
const STOPPED: u8 = 3;

/// Columns that the name of a method may take, which a file states as it likes.
const METHOD: usize = 20;

/// Why a proof without a fault may be none of what was asked.
const OTHER: &str = "the proof answers another question than the one asked";

/// What a check found, and what was asked of it.
pub(super) struct Judgement<'a> {
    pub(super) found: Result<Verdict, Error>,
    /// The question, where the file has no fault.
    pub(super) question: Option<Question<'a>>,
    /// How the data were prepared that is not as the proof says.
    pub(super) prepared: Vec<Difference>,
    /// The largest gap that is accepted.
    pub(super) gap: Option<f64>,
    pub(super) names: &'a Names,
    pub(super) own: Own,
}

/// What the file says of a listed subset besides the best one.
pub(super) struct Own {
    /// Who chose it.
    pub(super) method: String,
    /// The features of the subset, ascending.
    pub(super) features: Vec<usize>,
}

impl Own {
    /// The subset as it is listed.
    fn listed<'v>(&self, verdict: &'v Verdict) -> Option<&'v Listed> {
        verdict.listed.iter().find(|one| !one.features.is_empty() && one.features == self.features)
    }
}

/// A verdict in words.
struct Judged {
    /// The word in JSON.
    word: &'static str,
    /// The first words of the text.
    first: String,
    /// Why it is not more.
    reason: Option<String>,
}

impl Judged {
    fn new(word: &'static str, first: impl Into<String>, reason: Option<String>) -> Self {
        Self { word, first: first.into(), reason }
    }
}

/// What the numbers of a verdict are multiplied by to be those of the method.
fn sign(verdict: &Verdict) -> f64 {
    if verdict.maximised { -1.0 } else { 1.0 }
}

/// Both gaps of the best listed subset; none where one of them is not finite.
fn gaps(verdict: &Verdict) -> Option<String> {
    let of = match verdict {
        Verdict { maximised: true, .. } => "bound",
        verdict if verdict.is_loss() => "loss",
        _ => "gain",
    };
    let (gap, of_objective) = (verdict.gap()?, verdict.objective_gap()?);
    // All is open: rounded up it would be more.
    let shown = |gap: f64| fewest_report::at_most(if (1.0..1.0 + 1e-9).contains(&gap) { 1.0 } else { gap });
    let [gap, of_objective] = [gap, of_objective].map(shown);
    Some(format!("{gap} of the {of} and {of_objective} of the objective"))
}

/// A number of the verdict; null where it is infinite.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl Judgement<'_> {
    fn said(&self) -> Judged {
        let verdict = match &self.found {
            Ok(verdict) => verdict,
            Err(error @ (Error::Stopped | Error::TooMuchWork { .. })) => {
                let remedy = if *error == Error::Stopped { "" } else { "; give --time-limit to let it take its time" };
                return Judged::new("stopped", "NOT VERIFIED", Some(format!("{error}{remedy}")));
            }
            Err(error) => {
                let parts = self.prepared.iter().map(Difference::text).chain([error.to_string()]);
                return Judged::new("not_verified", "NOT VERIFIED", Some(parts.collect::<Vec<_>>().join("; ")));
            }
        };
        if let Some(first) = self.differences().first() {
            let more = match self.differences().len() {
                1 => String::new(),
                count => format!("; and {} more", count - 1),
            };
            let reason = format!("{OTHER}: {}{more}", first.text());
            return Judged::new("other_question", "NOT VERIFIED", Some(reason));
        }
        let wide =
            |asked: &f64| [verdict.gap(), verdict.objective_gap()].iter().any(|gap| gap.is_none_or(|gap| gap > *asked));
        if let Some(asked) = self.gap.filter(wide) {
            let proven =
                gaps(verdict).map_or("no gap is proven".to_owned(), |gaps| format!("the gap proven is {gaps}"));
            let reason = format!("{proven}, asked is one of at most {}", fewest_report::percent(asked));
            return Judged::new("not_within", "NOT VERIFIED", Some(reason));
        }
        self.strength(verdict)
    }

    /// What a file without a fault proves.
    fn strength(&self, verdict: &Verdict) -> Judged {
        match verdict.strength() {
            Strength::Bound => Judged::new("verified", self.verified(verdict), None),
            Strength::ObjectiveOnly => {
                let open = gaps(verdict).map(|gaps| format!("the bound leaves {gaps} open"));
                let why = open.unwrap_or_else(|| "nothing is proven of other subsets".to_owned());
                Judged::new("objective_only", "VERIFIED objective only", Some(why))
            }
            Strength::Nothing => {
                let why = "no subset is listed and no bound is proven";
                Judged::new("nothing", "VERIFIED nothing", Some(why.to_owned()))
            }
        }
    }

    /// The first words where there is a bound.
    fn verified(&self, verdict: &Verdict) -> String {
        let condition = self.question.as_ref().map_or("", Question::condition);
        match (gaps(verdict), verdict.listed.is_empty()) {
            (Some(_), _) if verdict.gap() == Some(0.0) && verdict.objective_gap() > Some(0.0) => {
                let of_objective = verdict.objective_gap().map_or_else(String::new, fewest_report::at_most);
                format!("VERIFIED within {of_objective} of the objective: {}{condition}", fewest_report::NOTHING_GAINED)
            }
            (Some(gaps), _) => format!("VERIFIED within {gaps}{condition}"),
            (None, true) if verdict.bound() == f64::INFINITY => {
                format!("VERIFIED a bound only: no subset is allowed{condition}")
            }
            (None, true) => format!("VERIFIED a bound only: no subset is listed{condition}"),
            (None, false) => format!("VERIFIED objective and bound{condition}"),
        }
    }

    fn differences(&self) -> &[Difference] {
        self.question.as_ref().map_or(&[], Question::differences)
    }

    /// The exit code.
    pub(super) fn code(&self, allow_unproven: bool) -> u8 {
        match self.said().word {
            "verified" => 0,
            "objective_only" | "nothing" if allow_unproven => 0,
            "stopped" => STOPPED,
            _ => NOT_VERIFIED,
        }
    }

    /// As JSON; of a proof file `files` says which.
    pub(super) fn value(&self, files: Option<VerifiedFiles>) -> Value {
        let Judged { word, reason, .. } = self.said();
        let differences = self.differences().iter().chain(self.prepared.iter().filter(|_| self.found.is_err()));
        let proven = self.found.as_ref().ok().filter(|_| self.differences().is_empty());
        let verification = Verification {
            verified: word == "verified",
            verdict: word,
            reason,
            differences: differences.map(Difference::record).collect(),
            question: self.question.as_ref().map(Question::value),
            proven: proven.map(|verdict| self.proven(verdict)),
            files,
        };
        Document::new(Kind::Verification, verification).value()
    }

    fn proven(&self, verdict: &Verdict) -> ProvenBound {
        let best = verdict.best();
        let (sign, finite) = (sign(verdict), |x: f64| finite(sign(verdict) * x));
        let listed = verdict.listed.iter().map(|one| ListedSubset {
            selected: self.named(&one.features),
            selected_indices: one.features.clone(),
            objective: sign * one.objective,
            bound: finite(one.bound),
        });
        let own = self.own.listed(verdict).map(|one| OwnSubset {
            method: self.own.method.clone(),
            selected: self.named(&one.features),
            selected_indices: one.features.clone(),
            objective: sign * one.objective,
        });
        let Progress { records, points, parts, .. } = verdict.progress;
        ProvenBound {
            selected: best.map(|best| self.named(&best.features)),
            selected_indices: best.map(|best| best.features.clone()),
            objective: best.map(|best| sign * best.objective),
            sense: if verdict.maximised { Sense::Max } else { Sense::Min },
            bound: finite(verdict.bound()),
            baseline: verdict.baseline,
            gap: verdict.gap(),
            objective_gap: verdict.objective_gap(),
            rest: finite(verdict.rest),
            solutions: listed.collect(),
            own,
            status: verdict.status.clone(),
            counts: CheckCounts { records, points, parts },
        }
    }

    /// For people.
    pub(super) fn text(&self, seconds: f64) -> String {
        let Judged { first, reason, .. } = self.said();
        let reason = reason.map(|reason| fewest_report::visible(&reason));
        let not = first.starts_with("NOT");
        let why = reason.map_or(String::new(), |reason| format!("{}{reason}", if not { "  " } else { ": " }));
        let head = format!("{}{why}\n", bold(&first));
        match &self.found {
            Err(_) => head,
            Ok(_) if !self.differences().is_empty() => {
                let lines: Vec<_> = self.differences().iter().map(|one| ("differs", one.text())).collect();
                format!("{}  {OTHER}\n{}", bold(&first), table::pairs(&lines))
            }
            Ok(verdict) => head + &table::pairs(&self.lines(verdict, seconds)),
        }
    }

    fn lines(&self, verdict: &Verdict, seconds: f64) -> Vec<(&'static str, String)> {
        let Progress { points, parts, .. } = verdict.progress;
        // Where the method maximises, what is at most so much for the checker is at least that much.
        let bound = |x: f64, above: bool| fewest_report::bound(sign(verdict) * x, above != verdict.maximised);
        let condition = self.question.as_ref().map_or("", Question::condition);
        let below = |x: f64| match x {
            x if x == f64::INFINITY => "no other subset is allowed".to_owned(),
            x if x == f64::NEG_INFINITY => "none".to_owned(),
            x => bound(x, false) + condition,
        };
        let side = if verdict.maximised { "at least" } else { "at most" };
        let own = self.own.listed(verdict);
        let mut lines = Vec::new();
        if let Some(own) = own {
            let (method, subset) = (fewest_report::shorten(&self.own.method, METHOD), self.subset(own));
            let objective = format!("{side} {}", bound(own.objective, true));
            lines.push(("judged", format!("{subset}, objective {objective} (the file says: of {method})")));
        }
        if let Some(best) = verdict.best() {
            lines.push((if own.is_some() { "best" } else { "selected" }, self.subset(best)));
            lines.push(("objective", format!("{side} {}", bound(best.objective, true))));
        }
        lines.push(("bound", below(verdict.bound())));
        lines.extend(gaps(verdict).map(|gaps| ("gap", gaps)));
        if verdict.is_loss() {
            lines.push(("loss", "the best listed subset is worse than no features".to_owned()));
        }
        if verdict.listed.len() > 1 {
            lines.push(("listed", notation::plural(verdict.listed.len(), "subset")));
            lines.push(("all others", below(verdict.rest)));
        }
        lines.extend(self.question.iter().flat_map(Question::lines));
        lines.push(("claimed", format!("the file says of itself (not checked): \"{}\"", verdict.status)));
        let point = if verdict.maximised { "model" } else { "dual point" };
        let (points, parts) = (notation::plural(points as usize, point), notation::plural(parts as usize, "part"));
        lines.push(("checked", format!("{points}, {parts}, in {}", table::seconds(seconds))));
        lines
    }

    fn subset(&self, one: &Listed) -> String {
        let count = format!("{} of {}", one.features.len(), notation::plural(self.names.len(), "feature"));
        if one.features.is_empty() { count } else { format!("{count}: {}", self.named(&one.features).join(", ")) }
    }

    fn named(&self, features: &[usize]) -> Vec<String> {
        features.iter().map(|&j| self.names.get(j)).map(Cow::into_owned).collect()
    }
}
