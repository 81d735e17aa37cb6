//! What a stability selection reports, as JSON and for people.

use fewest::validation::ShareLaw;
use fewest_eval::stability::{Candidates, FeatureCount, PairResult, StabilityReport, StabilitySettings};
use fewest_result::{Kind, classes_value, counts_value, document, entries};
use serde_json::{Map, Value, json};

use crate::cli::StabilityArgs;
use crate::commands::asked::asked_of_method;
use crate::commands::data_as_read::DataAsRead;
use crate::commands::reading::{notes, warnings};
use crate::commands::scaling_words::scaling_text;
use crate::method_args::MethodOptions;

/// What the pairs that are done say.
pub(super) struct Report<'a> {
    args: &'a StabilityArgs,
    options: &'a MethodOptions,
    raw: &'a DataAsRead,
    pairs: Vec<&'a PairResult>,
    found: StabilityReport,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a StabilityArgs,
        options: &'a MethodOptions,
        raw: &'a DataAsRead,
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
        let mut own = self.options.settings();
        own.extend(entries(&json!({
            "pairs": args.pairs, "max_features": found.candidates.most,
            "max_false": args.threshold.is_none().then_some(args.max_false), "seed": args.seed
        })));
        let settings = asked_of_method(own, &args.selection, raw);
        let value = json!({
            "method": self.options.name(), "status": found.status.name(),
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
            "warnings": warnings(&raw.data), "notes": notes(&raw.data),
            "settings": settings,
            "command": command_line
        });
        document(Kind::Stability, value)
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let scaling = self.args.selection.prepare.scaling(&self.raw.data.features);
        crate::commands::report::text(&self.value(""), Some(&scaling_text(scaling, &self.raw.data)))
    }
}
