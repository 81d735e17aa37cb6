//! What a knockoff filter reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::Status;
use fewest::validation::{KnockoffSelection, Knockoffs};
use serde_json::{Map, Value, json};

use super::Draw;
use crate::args::notation;
use crate::cli::KnockoffArgs;
use crate::commands::prepare::PreparedData;
use crate::commands::reading::warnings;
use crate::commands::share::ended;
use crate::export::model_json::{SCHEMA, classes_value, counts_value};
use crate::export::table::{self, Table, brief, number, pairs};
use crate::method_args::MethodOptions;

/// Features listed in the table, at least; all selected ones are.
const ROWS: usize = 20;
/// Separations below this tell little apart.
const SMALL: f64 = 0.05;

/// What the draws that are done say.
pub(super) struct Report<'a> {
    args: &'a KnockoffArgs,
    options: &'a MethodOptions,
    prepared: &'a PreparedData,
    /// The features that were to be copied.
    features: &'a [usize],
    /// None where there was no time for it.
    model: Option<&'a Knockoffs>,
    draws: &'a [Draw],
    selection: &'a KnockoffSelection,
    status: Status,
    /// W of each copied feature, averaged over the draws.
    means: Vec<f64>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a KnockoffArgs,
        options: &'a MethodOptions,
        prepared: &'a PreparedData,
        features: &'a [usize],
        model: Option<&'a Knockoffs>,
        draws: &'a [Draw],
        selection: &'a KnockoffSelection,
        cancelled: bool,
    ) -> Self {
        let status = ended(cancelled, draws.len() < args.draws);
        let mut means = vec![0.0; if draws.is_empty() { 0 } else { features.len() }];
        for draw in draws {
            means.iter_mut().zip(&draw.statistics).for_each(|(mean, w)| *mean += w / draws.len() as f64);
        }
        Self { args, options, prepared, features, model, draws, selection, status, means }
    }

    fn name(&self, place: usize) -> String {
        self.prepared.data.names.get(self.features[place]).into_owned()
    }

    /// Places by falling evidence, then by falling statistic.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.means.len()).collect();
        let evidence = &self.selection.evidence;
        let at = |place: usize| evidence.get(place).copied().unwrap_or(0.0);
        order.sort_by(|&a, &b| at(b).total_cmp(&at(a)).then(self.means[b].total_cmp(&self.means[a])).then(a.cmp(&b)));
        order
    }

    /// As JSON.
    pub(super) fn value(&self, command_line: &str) -> Value {
        let (args, prepared, selected) = (self.args, self.prepared, &self.selection.selected);
        let indices: Vec<usize> = selected.iter().map(|&place| self.features[place]).collect();
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
            "schema": SCHEMA, "kind": "knockoffs", "method": self.options.name(), "status": self.status.name(),
            "selected": selected.iter().map(|&place| self.name(place)).collect::<Vec<_>>(),
            "selected_indices": indices, "fdr": args.fdr, "least_selected": self.least(),
            "statistics": by_name(&self.means), "evidence": by_name(&self.selection.evidence),
            "separation": self.model.map(Knockoffs::separation),
            "separations": by_name(self.model.map_or(&[], Knockoffs::separations)),
            "shrinkage": self.model.map(Knockoffs::shrinkage),
            "draws": self.draws.iter().zip(&self.selection.thresholds).map(draw).collect::<Vec<_>>(),
            "seconds": self.draws.iter().map(|draw| draw.seconds).sum::<f64>(),
            "n_samples": prepared.target.codes.len(), "n_features": prepared.data.names.len(),
            "classes": classes_value(&prepared.target.classes), "class_counts": counts_value(&prepared.target),
            "warnings": warnings(&prepared.data), "settings": settings,
            "command": command_line, "version": env!("CARGO_PKG_VERSION")
        })
    }

    /// The fewest features that can be selected, but for none: 1 / q, or 2 / q in each of several draws.
    fn least(&self) -> usize {
        let q = if self.draws.len() > 1 { 0.5 * self.args.fdr } else { self.args.fdr };
        (1.0 / q - 1e-9).ceil() as usize
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (args, selected) = (self.args, &self.selection.selected);
        let separation = self.model.map_or(0.0, Knockoffs::separation);
        let mut lines = vec![
            ("method", self.options.name().to_owned()),
            (
                "copies",
                format!(
                    "of {}, {}",
                    notation::plural(self.features.len(), "feature"),
                    notation::plural(self.draws.len(), "draw")
                ),
            ),
            ("of those selected", format!("at most {} % false on average", brief(100.0 * args.fdr))),
        ];
        if self.model.is_some() {
            lines.push(("a copy correlates", format!("{:.3} with its feature on average", 1.0 - separation)));
        }
        lines.push(("scaling", self.prepared.scaling_text()));
        lines.push(("status", self.status.name().to_owned()));
        let mut out = pairs(&lines) + "\n";
        let names: Vec<String> = selected.iter().map(|&place| self.name(place)).collect();
        if self.draws.is_empty() {
            return out;
        }
        if names.is_empty() {
            let least = notation::plural(self.least(), "feature");
            let each = if self.draws.len() > 1 { "each draw selects" } else { "it is" };
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
        let order = self.order();
        let shown = selected.len().max(ROWS);
        let mut best = Table::new(&["feature", "more than its copy", "evidence", "selected"], 0);
        for &place in order.iter().take(shown) {
            let is_selected = selected.binary_search(&place).is_ok();
            best.row(vec![
                self.name(place),
                number(self.means[place]),
                number(self.selection.evidence[place]),
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
