//! What a stability selection reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::validation::ShareLaw;
use fewest_eval::stability::{Candidates, FeatureCount, PairResult, StabilityReport, StabilitySettings};
use fewest_report::expected;
use serde_json::{Map, Value, json};

use crate::args::notation;
use crate::cli::StabilityArgs;
use crate::commands::raw::Raw;
use crate::commands::reading::warnings;
use crate::commands::scaled::{scale_name, scaling_text};
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
    pairs: Vec<&'a PairResult>,
    found: StabilityReport,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a StabilityArgs,
        options: &'a MethodOptions,
        raw: &'a Raw,
        (candidates, settings): (Candidates, &StabilitySettings),
        results: &'a [Option<PairResult>],
        cancelled: bool,
    ) -> Self {
        let pairs: Vec<&PairResult> = results.iter().flatten().collect();
        let left = pairs.len() < results.len() || pairs.iter().any(|pair| pair.stopped);
        let halves: Vec<&[Vec<usize>; 2]> = pairs.iter().map(|pair| &pair.selected).collect();
        let found = StabilityReport::new(&halves, raw.data.names.len(), candidates, settings, (cancelled, left));
        Self { args, options, raw, pairs, found }
    }

    fn name(&self, feature: usize) -> String {
        self.raw.data.names.get(feature).into_owned()
    }

    /// As JSON.
    pub(super) fn value(&self, command_line: &str) -> Value {
        let (args, raw, found, stable) = (self.args, self.raw, &self.found, self.found.stable());
        let by_name = |of: &dyn Fn(&FeatureCount) -> f64| -> Map<String, Value> {
            found.counts.iter().map(|count| (self.name(count.feature), json!(of(count)))).collect()
        };
        let names = |features: &[usize]| features.iter().map(|&j| self.name(j)).collect::<Vec<String>>();
        let pair = |pair: &&PairResult| {
            json!({
                "selected": [names(&pair.selected[0]), names(&pair.selected[1])],
                "status": pair.status, "seconds": pair.seconds
            })
        };
        let laws: Map<String, Value> =
            ShareLaw::ALL.iter().map(|law| (law.name().to_owned(), json!(found.false_selections(*law)))).collect();
        let (kind, reason) = args.selection.prepare.scaling(&raw.data.features);
        let mut settings = self.options.settings();
        let Value::Object(own) = json!({
            "data": raw.data.source, "target": raw.target.column, "pairs": args.pairs,
            "max_features": found.candidates.most, "max_false": args.threshold.is_none().then_some(args.max_false),
            "seed": args.seed, "missing": args.selection.prepare.missing.name(), "scale": scale_name(kind),
            "scale_reason": reason.text(), "time_limit": args.selection.time_limit.map(|time| time.as_secs_f64())
        }) else {
            return Value::Null;
        };
        settings.extend(own);
        json!({
            "schema": SCHEMA, "kind": "stability", "method": self.options.name(), "status": found.status.name(),
            "selected": names(&stable), "selected_indices": stable,
            "threshold": found.threshold.map(|halves| found.share(halves)),
            "false_selections": {
                "bound": found.false_selections(args.assume), "assumption": args.assume.name(), "by_assumption": laws,
                "features_per_half": found.q, "features_per_half_is": if found.candidates.most.is_some() { "most" } else { "mean" },
                "candidates": found.candidates.count, "chance": found.chance()
            },
            "frequency": by_name(&|count| found.share(count.halves)),
            "both_halves": by_name(&|count| count.both as f64 / found.pairs as f64),
            "pairs": self.pairs.iter().map(pair).collect::<Vec<_>>(),
            "stability": found.stability,
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
        let (args, found, stable) = (self.args, &self.found, self.found.stable());
        let (n, done) = (self.raw.target.codes.len() / 2, self.pairs.len());
        let chance = 100.0 * found.q / found.candidates.count.max(1) as f64;
        let mut lines = vec![
            ("method", self.options.name().to_owned()),
            ("halves", format!("{} of {n} samples each, {done} pairs that share none", found.n_halves())),
            ("a half selects", format!("{} of {} features", self.q_text(), found.candidates.count)),
        ];
        if let (Some(halves), Some(bound)) = (found.threshold, found.false_selections(args.assume)) {
            lines.push(("stable is", format!("what {halves} of {} halves select", found.n_halves())));
            let others = ShareLaw::ALL.iter().filter(|law| **law != args.assume);
            let other = |law: &ShareLaw| {
                format!("{} assuming {}", found.false_selections(*law).map_or_else(String::new, expected), words(*law))
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
        lines.push(("scaling", scaling_text(args.selection.prepare.scaling(&self.raw.data.features))));
        lines.push(("status", found.status.name().to_owned()));
        let mut out = pairs(&lines) + "\n";
        if found.threshold.is_none() && done > 0 {
            out += &table::paragraph(
                &format!(
                    "No share of the halves keeps --max-false {}: a half selects {} features on average. Let it select fewer, or allow more.",
                    args.max_false,
                    brief(found.q)
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
        for count in found.counts.iter().take(stable.len().max(ROWS)) {
            let is_stable = stable.binary_search(&count.feature).is_ok();
            often.row(vec![
                self.name(count.feature),
                format!("{:.0} %", 100.0 * found.share(count.halves)),
                format!("{:.0} %", 100.0 * count.both as f64 / done as f64),
                if is_stable { "yes".to_owned() } else { String::new() },
            ]);
        }
        if !found.counts.is_empty() {
            out += &often.render();
        }
        let more = found.counts.len().saturating_sub(stable.len().max(ROWS));
        if more > 0 {
            let _ = writeln!(out, "... and {more} more; --json FILE holds them all");
        }
        out
    }

    fn q_text(&self) -> String {
        match self.found.candidates.most {
            Some(most) => format!("at most {most}"),
            None => format!("{} on average", brief(self.found.q)),
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
