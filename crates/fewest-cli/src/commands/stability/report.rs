//! What a stability selection reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::Status;
use fewest::validation::{ShareLaw, stability};
use fewest_report::expected;
use serde_json::{Map, Value, json};

use super::{Candidates, PairResult};
use crate::args::notation;
use crate::cli::StabilityArgs;
use crate::commands::raw::Raw;
use crate::commands::reading::warnings;
use crate::commands::scaled::{scale_name, scaling_kind, scaling_text};
use crate::commands::share::ended;
use crate::export::model_json::{SCHEMA, classes_value, counts_value};
use crate::export::table::{self, Table, brief, pairs};
use crate::method_args::MethodOptions;

/// Features listed in the table, at least; all stable ones are.
const ROWS: usize = 20;

/// What the pairs that are done say.
pub(super) struct Report<'a> {
    args: &'a StabilityArgs,
    options: &'a MethodOptions,
    raw: &'a Raw,
    candidates: &'a Candidates,
    pairs: Vec<&'a PairResult>,
    status: Status,
    /// Features that some half selects, with how many halves and how many pairs do; most first.
    counts: Vec<FeatureCount>,
    /// What a half selects, at most or on average.
    q: f64,
    /// Halves that have to agree; none: not even all of them keep the bound.
    threshold: Option<usize>,
}

/// How often a feature was selected.
struct FeatureCount {
    feature: usize,
    halves: usize,
    /// Pairs of which both halves select it.
    both: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a StabilityArgs,
        options: &'a MethodOptions,
        raw: &'a Raw,
        candidates: &'a Candidates,
        results: &'a [Option<PairResult>],
        cancelled: bool,
    ) -> Self {
        let pairs: Vec<&PairResult> = results.iter().flatten().collect();
        let cut = pairs.len() < results.len() || pairs.iter().any(|pair| pair.stopped);
        let status = ended(cancelled, cut);
        let mut halves = vec![[0; 2]; raw.data.names.len()];
        for pair in &pairs {
            let [first, second] = &pair.selected;
            first.iter().chain(second).for_each(|&j| halves[j][0] += 1);
            first.iter().filter(|j| second.binary_search(j).is_ok()).for_each(|&j| halves[j][1] += 1);
        }
        let count = |(feature, [halves, both]): (usize, [usize; 2])| FeatureCount { feature, halves, both };
        let mut counts: Vec<FeatureCount> = halves.into_iter().enumerate().map(count).collect();
        counts.retain(|count| count.halves > 0);
        counts.sort_by_key(|count| (usize::MAX - count.halves, usize::MAX - count.both, count.feature));
        let total: usize = counts.iter().map(|count| count.halves).sum();
        let q = candidates.most.map_or(total as f64 / (2 * pairs.len()).max(1) as f64, |most| most as f64);
        let asked = |share: f64| (share * (2 * pairs.len()) as f64 - 1e-9).ceil() as usize;
        let fewest = || args.assume.fewest_halves(q, candidates.count, pairs.len(), args.max_false);
        let threshold = args.threshold.map_or_else(fewest, |share| Some(asked(share))).filter(|_| !pairs.is_empty());
        Self { args, options, raw, candidates, pairs, status, counts, q, threshold }
    }

    fn n_halves(&self) -> usize {
        2 * self.pairs.len()
    }

    fn share(&self, halves: usize) -> f64 {
        halves as f64 / self.n_halves() as f64
    }

    fn name(&self, feature: usize) -> String {
        self.raw.data.names.get(feature).into_owned()
    }

    /// The stable features, ascending.
    fn stable(&self) -> Vec<usize> {
        let Some(threshold) = self.threshold else { return Vec::new() };
        let stable = self.counts.iter().take_while(|count| count.halves >= threshold);
        let mut stable: Vec<usize> = stable.map(|count| count.feature).collect();
        stable.sort_unstable();
        stable
    }

    /// The expected number of false features under this assumption, at most.
    fn expected(&self, law: ShareLaw) -> Option<f64> {
        Some(law.false_selections(self.q, self.candidates.count, self.threshold?, self.pairs.len()))
    }

    /// As JSON.
    pub(super) fn value(&self, command_line: &str) -> Value {
        let (args, raw, stable) = (self.args, self.raw, self.stable());
        let by_name = |of: &dyn Fn(&FeatureCount) -> f64| -> Map<String, Value> {
            self.counts.iter().map(|count| (self.name(count.feature), json!(of(count)))).collect()
        };
        let names = |features: &[usize]| features.iter().map(|&j| self.name(j)).collect::<Vec<String>>();
        let pair = |pair: &&PairResult| {
            json!({
                "selected": [names(&pair.selected[0]), names(&pair.selected[1])],
                "status": pair.status, "seconds": pair.seconds
            })
        };
        let laws: Map<String, Value> =
            ShareLaw::ALL.iter().map(|law| (law.name().to_owned(), json!(self.expected(*law)))).collect();
        let subsets: Vec<Vec<usize>> = self.pairs.iter().flat_map(|pair| pair.selected.clone()).collect();
        let (kind, reason) = scaling_kind(args.selection.prepare.scale, &raw.data.features);
        let mut settings = self.options.settings();
        let Value::Object(own) = json!({
            "data": raw.data.source, "target": raw.target.column, "pairs": args.pairs,
            "max_features": self.candidates.most, "max_false": args.threshold.is_none().then_some(args.max_false),
            "seed": args.seed, "missing": args.selection.prepare.missing.name(), "scale": scale_name(kind),
            "scale_reason": reason.text(), "time_limit": args.selection.time_limit.map(|time| time.as_secs_f64())
        }) else {
            return Value::Null;
        };
        settings.extend(own);
        json!({
            "schema": SCHEMA, "kind": "stability", "method": self.options.name(), "status": self.status.name(),
            "selected": names(&stable), "selected_indices": stable,
            "threshold": self.threshold.map(|halves| self.share(halves)),
            "false_selections": {
                "bound": self.expected(args.assume), "assumption": args.assume.name(), "by_assumption": laws,
                "features_per_half": self.q, "features_per_half_is": if self.candidates.most.is_some() { "most" } else { "mean" },
                "candidates": self.candidates.count, "chance": self.q / self.candidates.count.max(1) as f64
            },
            "frequency": by_name(&|count| self.share(count.halves)),
            "both_halves": by_name(&|count| count.both as f64 / self.pairs.len() as f64),
            "pairs": self.pairs.iter().map(pair).collect::<Vec<_>>(),
            "stability": stability(&subsets, raw.data.names.len()),
            "seconds": self.pairs.iter().map(|pair| pair.seconds).sum::<f64>(),
            "n_samples": raw.target.codes.len(), "n_features": raw.data.names.len(),
            "classes": classes_value(&raw.target.classes), "class_counts": counts_value(&raw.target),
            "warnings": warnings(&raw.data),
            "settings": settings,
            "command": command_line, "version": env!("CARGO_PKG_VERSION")
        })
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (args, stable) = (self.args, self.stable());
        let (n, done) = (self.raw.target.codes.len() / 2, self.pairs.len());
        let (kind, reason) = scaling_kind(args.selection.prepare.scale, &self.raw.data.features);
        let chance = 100.0 * self.q / self.candidates.count.max(1) as f64;
        let mut lines = vec![
            ("method", self.options.name().to_owned()),
            ("halves", format!("{} of {n} samples each, {done} pairs that share none", self.n_halves())),
            ("a half selects", format!("{} of {} features", self.q_text(), self.candidates.count)),
        ];
        if let (Some(halves), Some(bound)) = (self.threshold, self.expected(args.assume)) {
            lines.push(("stable is", format!("what {halves} of {} halves select", self.n_halves())));
            let others = ShareLaw::ALL.iter().filter(|law| **law != args.assume);
            let other = |law: &ShareLaw| {
                format!("{} assuming {}", self.expected(*law).map_or_else(String::new, expected), words(*law))
            };
            lines.push((
                "of these false",
                format!(
                    "at most {} expected, assuming {} ({})",
                    expected(bound),
                    words(args.assume),
                    others.map(other).collect::<Vec<_>>().join(", ")
                ),
            ));
            lines.push(("false is", format!("what a half selects with a probability of at most {chance:.3} %")));
        }
        lines.push(("scaling", scaling_text(kind, reason)));
        lines.push(("status", self.status.name().to_owned()));
        let mut out = pairs(&lines) + "\n";
        if self.threshold.is_none() && done > 0 {
            out += &table::paragraph(
                &format!(
                    "No share of the halves keeps --max-false {}: a half selects {} features on average. Let it select fewer, or allow more.",
                    args.max_false,
                    brief(self.q)
                ),
                0,
            );
        } else if done > 0 {
            let count = notation::plural(stable.len(), "stable feature");
            let _ = writeln!(
                out,
                "{count}{} {}\n",
                if stable.is_empty() { "" } else { ":" },
                notation::some(&stable.iter().map(|&j| self.name(j)).collect::<Vec<_>>())
            );
        }
        let mut often = Table::new(&["feature", "share of halves", "of pairs, both", "stable"], 0);
        for count in self.counts.iter().take(stable.len().max(ROWS)) {
            let is_stable = stable.binary_search(&count.feature).is_ok();
            often.row(vec![
                self.name(count.feature),
                format!("{:.0} %", 100.0 * self.share(count.halves)),
                format!("{:.0} %", 100.0 * count.both as f64 / done as f64),
                if is_stable { "yes".to_owned() } else { String::new() },
            ]);
        }
        if !self.counts.is_empty() {
            out += &often.render();
        }
        let more = self.counts.len().saturating_sub(stable.len().max(ROWS));
        if more > 0 {
            let _ = writeln!(out, "... and {more} more; --json FILE holds them all");
        }
        out
    }

    fn q_text(&self) -> String {
        match self.candidates.most {
            Some(most) => format!("at most {most}"),
            None => format!("{} on average", brief(self.q)),
        }
    }
}

/// An assumption in words.
fn words(law: ShareLaw) -> &'static str {
    match law {
        ShareLaw::Any => "nothing",
        ShareLaw::Unimodal => "unimodal shares",
        ShareLaw::RConcave => "r-concave shares",
    }
}
