//! What a knockoff filter reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::validation::Knockoffs;
use fewest_eval::knockoffs::{Draw, KnockoffReport};
use serde_json::{Map, Value, json};

use crate::args::notation;
use crate::cli::KnockoffArgs;
use crate::commands::prepare::PreparedData;
use crate::commands::reading::warnings;
use crate::export::model_json::{SCHEMA, classes_value, counts_value};
use crate::export::table::{self, Table, brief, number, pairs};
use crate::method_args::MethodOptions;

/// Features listed in the table, at least; all selected ones are.
const ROWS: usize = 20;
/// Separations below this tell little apart.
const SMALL: f64 = 0.05;

/// What the draws that are done say.
pub(super) struct Report<'a> {
    pub(super) args: &'a KnockoffArgs,
    pub(super) options: &'a MethodOptions,
    pub(super) prepared: &'a PreparedData,
    pub(super) found: KnockoffReport,
}

impl Report<'_> {
    fn name(&self, place: usize) -> String {
        self.prepared.data.names.get(self.found.features[place]).into_owned()
    }

    /// As JSON.
    pub(super) fn value(&self, command_line: &str) -> Value {
        let (args, prepared, report) = (self.args, self.prepared, &self.found);
        let (found, law, selected) = (&report.found, report.law.as_ref(), &report.found.selected);
        let indices: Vec<usize> = selected.iter().map(|&place| report.features[place]).collect();
        let by_name = |values: &[f64]| -> Map<String, Value> {
            values.iter().enumerate().map(|(place, value)| (self.name(place), json!(value))).collect()
        };
        let draw = |(draw, threshold): (&Draw, &Option<f64>)| json!({"threshold": threshold, "seconds": draw.seconds});
        let mut settings = self.options.settings();
        let Value::Object(own) = json!({
            "data": prepared.data.source, "target": prepared.target.column, "fdr": args.fdr, "draws": args.draws,
            "seed": args.seed, "missing": args.prepare.missing.name(), "scale": prepared.scale_name(),
            "scale_reason": prepared.scale_reason(), "time_limit": args.time_limit.map(|time| time.as_secs_f64())
        }) else {
            return Value::Null;
        };
        settings.extend(own);
        json!({
            "schema": SCHEMA, "kind": "knockoffs", "method": self.options.name(), "status": report.status.name(),
            "selected": selected.iter().map(|&place| self.name(place)).collect::<Vec<_>>(),
            "selected_indices": indices, "fdr": args.fdr, "least_selected": found.least_selected,
            "statistics": by_name(&found.statistics), "evidence": by_name(&found.evidence),
            "separation": law.map(Knockoffs::separation),
            "separations": by_name(law.map_or(&[], Knockoffs::separations)),
            "shrinkage": law.map(Knockoffs::shrinkage),
            "draws": report.draws.iter().zip(&found.thresholds).map(draw).collect::<Vec<_>>(),
            "seconds": report.draws.iter().map(|draw| draw.seconds).sum::<f64>(),
            "n_samples": prepared.target.codes.len(), "n_features": prepared.data.names.len(),
            "classes": classes_value(&prepared.target.classes), "class_counts": counts_value(&prepared.target),
            "warnings": warnings(&prepared.data), "settings": settings,
            "command": command_line, "version": env!("CARGO_PKG_VERSION")
        })
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (args, report, found) = (self.args, &self.found, &self.found.found);
        let selected = &found.selected;
        let separation = report.law.as_ref().map_or(0.0, Knockoffs::separation);
        let mut lines = vec![
            ("method", self.options.name().to_owned()),
            (
                "copies",
                format!(
                    "of {}, {}",
                    notation::plural(report.features.len(), "feature"),
                    notation::plural(report.draws.len(), "draw")
                ),
            ),
            ("of those selected", format!("at most {} % false on average", brief(100.0 * args.fdr))),
        ];
        if report.law.is_some() {
            lines.push(("a copy correlates", format!("{:.3} with its feature on average", 1.0 - separation)));
        }
        lines.push(("scaling", self.prepared.scaling_text()));
        lines.push(("status", report.status.name().to_owned()));
        let mut out = pairs(&lines) + "\n";
        let names: Vec<String> = selected.iter().map(|&place| self.name(place)).collect();
        if report.draws.is_empty() {
            return out;
        }
        if names.is_empty() {
            let least = notation::plural(found.least_selected, "feature");
            let each = if report.draws.len() > 1 { "each draw selects" } else { "it is" };
            let mut text = format!(
                "No feature is told from its copy with --fdr {}: {each} at least {least} at once, or none. Allow more, or use `fewest stability`.",
                args.fdr
            );
            if separation < SMALL {
                text += " Features are nearly sums of others, so that copies can hardly differ from their features; leave such features out.";
            }
            out += &table::paragraph(&text, 0);
        } else {
            let count = notation::plural(names.len(), "feature");
            let _ = writeln!(out, "{count} selected: {}\n", notation::some(&names));
        }
        let order = found.order();
        let shown = selected.len().max(ROWS);
        let mut best = Table::new(&["feature", "more than its copy", "evidence", "selected"], 0);
        for &place in order.iter().take(shown) {
            let is_selected = selected.binary_search(&place).is_ok();
            best.row(vec![
                self.name(place),
                number(found.statistics[place]),
                number(found.evidence[place]),
                if is_selected { "yes".to_owned() } else { String::new() },
            ]);
        }
        out += &best.render();
        let more = order.len().saturating_sub(shown);
        if more > 0 {
            let _ = writeln!(out, "... and {more} more; --json FILE holds them all");
        }
        out
    }
}
