//! What a knockoff filter reports, as JSON and for people.

use fewest::validation::Knockoffs;
use fewest_eval::knockoffs::{Draw, KnockoffReport};
use fewest_result::{Kind, classes_value, counts_value, document, entries};
use serde_json::{Map, Value, json};

use crate::cli::KnockoffArgs;
use crate::commands::asked::of_method;
use crate::commands::prepare::PreparedData;
use crate::commands::reading::{notes, warnings};
use crate::method_args::MethodOptions;

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
        let mut own = self.options.settings();
        own.extend(entries(&json!({"fdr": args.fdr, "draws": args.draws, "seed": args.seed})));
        let time_limit = args.time_limit.map(|time| time.as_secs_f64());
        let settings = of_method(own, time_limit, prepared.asked(&args.prepare, None));
        let found = json!({
            "method": self.options.name(), "status": report.status.name(),
            "selected": selected.iter().map(|&place| self.name(place)).collect::<Vec<_>>(),
            "selected_indices": indices, "fdr": args.fdr, "n_copied": report.features.len(), "least_selected": found.least_selected,
            "statistics": by_name(&found.statistics), "evidence": by_name(&found.evidence),
            "separation": law.map(Knockoffs::separation),
            "separations": by_name(law.map_or(&[], Knockoffs::separations)),
            "shrinkage": law.map(Knockoffs::shrinkage),
            "draws": report.draws.iter().zip(&found.thresholds).map(draw).collect::<Vec<_>>(),
            "seconds": report.draws.iter().map(|draw| draw.seconds).sum::<f64>(),
            "n_samples": prepared.target.codes.len(), "n_features": prepared.data.names.len(),
            "classes": classes_value(&prepared.target.classes), "class_counts": counts_value(&prepared.target),
            "warnings": warnings(&prepared.data), "notes": notes(&prepared.data), "settings": settings,
            "command": command_line
        });
        document(Kind::Knockoffs, found)
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        crate::commands::report::text(&self.value(""), Some(&self.prepared.scaling_text()))
    }
}
