//! What an evaluation reports, as JSON and for people.

use std::fmt::Write as _;

use fewest::validation::{
    FoldMetrics, Stability, Summary, TTest, corrected_t_test, measure_summary, stability, summaries, t_test,
};
use fewest_data::Names;
use serde_json::{Map, Value, json};

use super::fold::{FoldResult, Learner};
use super::plan::Options;
use crate::args::data::PrepareArgs;
use crate::commands::deal::Fold;
use crate::commands::raw::Raw;
use crate::commands::reading::warnings;
use crate::commands::scaled::{scale_name, scaling_kind, scaling_text};
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
    folds: Vec<&'a FoldResult>,
    /// Size of the test part over that of the training part, on average.
    test_share: f64,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        options: &'a Options<'a>,
        learners: &'a [Learner<'a>],
        raw: &'a Raw,
        folds: &[Fold],
        results: &'a [Option<FoldResult>],
    ) -> Self {
        let test_share = Fold::test_share(folds, raw.target.codes.len());
        let of = |(learner, results): (&'a Learner<'a>, &'a [Option<FoldResult>])| MethodReport {
            name: learner.method(),
            folds: results.iter().flatten().collect(),
            test_share,
        };
        Self { options, raw, methods: learners.iter().zip(results.chunks(folds.len())).map(of).collect() }
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
        let PrepareArgs { missing, scale, .. } = &options.selection.prepare;
        let (kind, reason) = scaling_kind(*scale, &raw.data.features);
        value["settings"] = json!({
            "data": raw.data.source, "target": raw.target.column, "missing": missing.name(),
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
            let sizes = Summary::new(&method.sizes(), 0.0);
            let seconds: f64 = method.folds.iter().map(|f| f.seconds).sum();
            let mut lines = vec![
                ("method", method.name.to_owned()),
                ("judged by", scheme),
                ("features", format!("{} on average of {}", table::brief(sizes.mean), raw.data.names.len())),
            ];
            if let Some(Stability { index, ci95: [low, high] }) = method.stability(raw.data.names.len()) {
                lines.push(("stability", format!("{index:.3} (95 %: {low:.3} to {high:.3})")));
            }
            let (kind, reason) = scaling_kind(options.selection.prepare.scale, &raw.data.features);
            lines.push(("scaling", scaling_text(kind, reason)));
            lines.push(("time", format!("{} per fold", table::seconds(seconds / method.folds.len().max(1) as f64))));
            out += &pairs(&lines);
            out.push('\n');
            let mut measures = Table::new(&["measure", "mean", "std error", "95 % interval"], 4);
            for (name, summary) in method.summaries() {
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
            let (differences, share) = (differences(first, second), first.test_share);
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
                    told(t_test(&differences)),
                    told(corrected_t_test(&differences, share))
                ),
                0,
            );
        }
        out
    }
}

impl MethodReport<'_> {
    fn sizes(&self) -> Vec<f64> {
        let sizes: Vec<f64> = self.folds.iter().map(|f| f.selected.len() as f64).collect();
        if sizes.is_empty() { vec![f64::NAN] } else { sizes }
    }

    /// Mean over the folds in which a measure has a meaning.
    fn summaries(&self) -> Vec<(&'static str, Summary)> {
        if self.folds.is_empty() {
            return Vec::new();
        }
        let folds: Vec<FoldMetrics<'_>> = self.folds.iter().map(|fold| fold.judged()).collect();
        let mut out = summaries(&folds, self.test_share);
        let sets: Vec<f64> = self.folds.iter().filter_map(|f| f.set_f1).collect();
        if !sets.is_empty() {
            out.push(("set_f1", measure_summary("set_f1", &sets, self.test_share, &[])));
        }
        out.push(("n_features", measure_summary("n_features", &self.sizes(), self.test_share, &[])));
        out
    }

    /// The measures that have no value in some folds, and in how many.
    fn undefined(&self) -> Vec<(&'static str, usize)> {
        let mut out: Vec<(&'static str, usize)> = Vec::new();
        for (name, _) in self.folds.iter().flat_map(|fold| fold.metrics.named()).filter(|(_, value)| value.is_none()) {
            match out.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => out.push((name, 1)),
            }
        }
        out
    }

    fn undefined_text(&self) -> Option<String> {
        // Of more classes than two, some measures never have one.
        let lacking = self.undefined().into_iter().filter(|_| self.folds.iter().all(|fold| fold.confusion.len() == 2));
        let each: Vec<String> = lacking
            .map(|(name, count)| format!("{name} has no value in {count} of {} folds", self.folds.len()))
            .collect();
        (!each.is_empty()).then(|| format!("{}, whose samples or predictions are of one class", each.join(", ")))
    }

    /// Share of the folds that chose each feature, largest first; those never chosen are left out.
    fn frequency(&self, names: &Names) -> Vec<(String, f64)> {
        let mut count = vec![0u32; names.len()];
        self.folds.iter().flat_map(|f| &f.selected).for_each(|&j| count[j] += 1);
        let mut chosen: Vec<usize> = (0..count.len()).filter(|&j| count[j] > 0).collect();
        chosen.sort_by(|&a, &b| count[b].cmp(&count[a]).then(a.cmp(&b)));
        let share = |&j: &usize| (names.get(j).into_owned(), f64::from(count[j]) / self.folds.len() as f64);
        chosen.iter().map(share).collect()
    }

    fn stability(&self, p: usize) -> Option<Stability> {
        stability(&self.folds.iter().map(|f| f.selected.clone()).collect::<Vec<_>>(), p)
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
            self.summaries().into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect();
        let frequency: Map<String, Value> =
            self.frequency(names).into_iter().map(|(name, share)| (name, json!(share))).collect();
        let undefined: Map<String, Value> =
            self.undefined().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
        let classes = raw.target.classes.len();
        let mut total = vec![vec![0u64; classes]; classes];
        for f in &self.folds {
            for (sum, row) in total.iter_mut().zip(&f.confusion) {
                sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            }
        }
        json!({
            "schema": SCHEMA, "method": self.name, "n_samples": raw.target.codes.len(), "n_features": names.len(),
            "classes": classes_value(&raw.target.classes), "class_counts": counts_value(&raw.target),
            "warnings": warnings(&raw.data), "folds": self.folds.iter().map(fold).collect::<Vec<_>>(),
            "summary": summary, "undefined": undefined, "confusion": total, "frequency": frequency, "stability": self.stability(names.len())
        })
    }
}

/// Accuracy of the first less that of the second, by fold; folds that one of them lacks are left
/// out.
fn differences(first: &MethodReport<'_>, second: &MethodReport<'_>) -> Vec<f64> {
    let same = |a: &FoldResult, b: &FoldResult| a.fold == b.fold && a.repeat == b.repeat;
    let other =
        |a: &&FoldResult| second.folds.iter().find(|b| same(a, b)).map(|b| a.metrics.accuracy - b.metrics.accuracy);
    first.folds.iter().filter_map(other).collect()
}

fn comparison(first: &MethodReport<'_>, second: &MethodReport<'_>) -> Value {
    let differences = differences(first, second);
    let summary = (!differences.is_empty()).then(|| measure_summary("difference", &differences, first.test_share, &[]));
    json!({
        "measure": "accuracy", "difference": summary, "hypothesis": format!("{} is better", first.name),
        "t_test": t_test(&differences), "corrected_t_test": corrected_t_test(&differences, first.test_share)
    })
}
