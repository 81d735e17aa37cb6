//! What an evaluation reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::validation::{Stability, Summary, TTest};
use fewest_data::Names;
use fewest_eval::evaluate::{Comparison, Evaluation, FoldResult};
use fewest_eval::folds::{Fold, test_share};
use serde_json::{Map, Value, json};

use super::plan::{Options, Recipes};
use crate::commands::raw::Raw;
use crate::commands::reading::warnings;
use crate::commands::scaled::{scale_name, scaling_text};
use crate::export::model_json::{SCHEMA, classes_value, counts_value};
use crate::export::table::{self, Table, pairs};

/// Features listed by frequency in the table.
const ROWS: usize = 20;

/// Results of all folds.
pub(crate) struct Report<'a> {
    options: &'a Options<'a>,
    raw: &'a Raw,
    methods: Vec<MethodReport<'a>>,
}

/// Results of one method.
struct MethodReport<'a> {
    name: &'a str,
    found: Evaluation<'a>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        options: &'a Options<'a>,
        raw: &'a Raw,
        folds: &[Fold],
        results: &'a [Option<FoldResult>],
    ) -> Self {
        let (share, p) = (test_share(folds, raw.target.codes.len()), raw.data.names.len());
        let of = |(recipes, results): (&'a Recipes, &'a [Option<FoldResult>])| MethodReport {
            name: recipes.name,
            found: Evaluation::new(results, share, p),
        };
        Self { options, raw, methods: options.methods.iter().zip(results.chunks(folds.len())).map(of).collect() }
    }

    /// As JSON: the method, and under `against` the one it is compared with.
    pub(crate) fn value(&self, command_line: &str) -> Value {
        let (options, raw) = (self.options, self.raw);
        let mut value = self.methods[0].value(raw);
        let scheme = match (&options.fold_column, options.leave_one_out) {
            (Some(column), _) => json!({"folds": column}),
            (None, true) => json!("leave-one-out"),
            (None, false) => json!({"cv": options.cv, "repeats": options.repeats, "seed": options.seed}),
        };
        let prepare = &options.selection.prepare;
        let (kind, reason) = prepare.scaling(&raw.data.features);
        value["settings"] = json!({
            "data": raw.data.source, "target": raw.target.column, "missing": prepare.missing.name(),
            "scale": scale_name(kind), "scale_reason": reason.text(), "scheme": scheme, "inner_cv": options.inner,
            "tune": {"C": options.tuned.costs, "fit_cost": options.tuned.fit_costs, "gamma": options.tuned.gammas}, "sizes": options.sizes, "choose": options.choose
        });
        if let Some(column) = options.methods[0].choices[0].text("tasks") {
            value["settings"]["tasks"] = json!(column);
        }
        if let [first, second] = self.methods.as_slice() {
            value["against"] = second.value(raw);
            value["comparison"] = comparison(first, second);
        }
        value["command"] = json!(command_line);
        value["version"] = json!(env!("CARGO_PKG_VERSION"));
        value
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let (options, raw) = (self.options, self.raw);
        let mut out = String::new();
        for method in &self.methods {
            let scheme = match (&options.fold_column, options.leave_one_out) {
                (Some(column), _) => format!("the folds of `{column}`"),
                (None, true) => "leave-one-out".to_owned(),
                (None, false) if options.repeats > 1 => format!("{} folds, {} times", options.cv, options.repeats),
                (None, false) => format!("{} folds", options.cv),
            };
            let found = &method.found;
            let sizes = Summary::new(&found.sizes(), 0.0);
            let seconds: f64 = found.folds.iter().map(|f| f.seconds).sum();
            let mut lines = vec![
                ("method", method.name.to_owned()),
                ("judged by", scheme),
                ("features", format!("{} on average of {}", table::brief(sizes.mean), raw.data.names.len())),
            ];
            if let Some(Stability { index, ci95: [low, high] }) = found.stability() {
                lines.push(("stability", format!("{index:.3} (95 %: {low:.3} to {high:.3})")));
            }
            lines.push(("scaling", scaling_text(options.selection.prepare.scaling(&raw.data.features))));
            lines.push(("time", format!("{} per fold", table::seconds(seconds / found.folds.len().max(1) as f64))));
            out += &pairs(&lines);
            out.push('\n');
            let mut measures = Table::new(&["measure", "mean", "std error", "95 % interval"], 4);
            for (name, summary) in found.summaries() {
                let interval = summary.ci95.map_or_else(String::new, |[low, high]| format!("{low:.4} to {high:.4}"));
                let error = summary.se.map_or_else(String::new, |se| format!("{se:.4}"));
                measures.row(vec![name.to_owned(), format!("{:.4}", summary.mean), error, interval]);
            }
            out += &measures.render();
            if let Some(text) = method.undefined_text() {
                out += &table::paragraph(&text, 0);
            }
            out.push('\n');
            let mut frequent = Table::new(&["feature", "share of folds"], 1);
            let frequency = method.frequency(&raw.data.names);
            for (name, share) in frequency.iter().take(ROWS) {
                frequent.row(vec![name.clone(), format!("{:.0} %", 100.0 * share)]);
            }
            out += &frequent.render();
            if frequency.len() > ROWS {
                let _ = writeln!(out, "... and {} more; --json FILE holds them all", frequency.len() - ROWS);
            }
            out.push('\n');
        }
        if let [first, second] = self.methods.as_slice() {
            let compared = Comparison::new(&first.found, &second.found);
            let differences = &compared.differences;
            let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
            let told = |test: Option<TTest>| {
                test.map_or_else(|| "all differences are the same".to_owned(), |t| format!("p = {:.4}", t.p))
            };
            out += &table::paragraph(
                &format!(
                    "{} is {} by {:.4} in accuracy than {}; one-sided tests that it is better: paired t {}, corrected for shared training samples {}",
                    first.name,
                    if mean >= 0.0 { "better" } else { "worse" },
                    mean.abs(),
                    second.name,
                    told(compared.t_test()),
                    told(compared.corrected_t_test())
                ),
                0,
            );
        }
        out
    }
}

impl MethodReport<'_> {
    fn undefined_text(&self) -> Option<String> {
        // Of more classes than two, some measures never have one.
        let folds = &self.found.folds;
        let lacking = self.found.undefined().into_iter().filter(|_| folds.iter().all(|fold| fold.confusion.len() == 2));
        let each: Vec<String> =
            lacking.map(|(name, count)| format!("{name} has no value in {count} of {} folds", folds.len())).collect();
        (!each.is_empty()).then(|| format!("{}, whose samples or predictions are of one class", each.join(", ")))
    }

    /// Share of the folds that chose each feature, by name, largest first.
    fn frequency(&self, names: &Names) -> Vec<(String, f64)> {
        self.found.frequency().into_iter().map(|(j, share)| (names.get(j).into_owned(), share)).collect()
    }

    fn value(&self, raw: &Raw) -> Value {
        let names = &raw.data.names;
        let fold = |f: &&FoldResult| {
            let selected: Vec<String> = f.selected.iter().map(|&j| names.get(j).into_owned()).collect();
            let metrics: Map<String, Value> =
                f.metrics.named().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
            let mut value = json!({
                "fold": f.fold, "repeat": f.repeat, "selected": selected, "n_features": f.selected.len(),
                "metrics": metrics, "confusion": f.confusion, "n_test": f.n_test, "seconds": f.seconds, "status": f.status,
                "cost": f.cost, "fit_cost": f.fit_cost, "gamma": f.gamma, "max_features": f.max_features, "inner": f.inner
            });
            if let Some(set_f1) = f.set_f1 {
                value["metrics"]["set_f1"] = json!(set_f1);
            }
            value
        };
        let summary: Map<String, Value> =
            self.found.summaries().into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect();
        let frequency: Map<String, Value> =
            self.frequency(names).into_iter().map(|(name, share)| (name, json!(share))).collect();
        let undefined: Map<String, Value> =
            self.found.undefined().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
        let total = self.found.confusion(raw.target.classes.len());
        json!({
            "schema": SCHEMA, "method": self.name, "n_samples": raw.target.codes.len(), "n_features": names.len(),
            "classes": classes_value(&raw.target.classes), "class_counts": counts_value(&raw.target),
            "warnings": warnings(&raw.data), "folds": self.found.folds.iter().map(fold).collect::<Vec<_>>(),
            "summary": summary, "undefined": undefined, "confusion": total, "frequency": frequency, "stability": self.found.stability()
        })
    }
}

fn comparison(first: &MethodReport<'_>, second: &MethodReport<'_>) -> Value {
    let compared = Comparison::new(&first.found, &second.found);
    json!({
        "measure": "accuracy", "difference": compared.summary(), "hypothesis": format!("{} is better", first.name),
        "t_test": compared.t_test(), "corrected_t_test": compared.corrected_t_test()
    })
}
