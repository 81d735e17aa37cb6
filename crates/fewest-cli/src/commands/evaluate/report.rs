//! What an evaluation reports, as JSON and for people.

use fewest_data::Names;
use fewest_eval::evaluate::{Comparison, Evaluation, FoldResult};
use fewest_eval::folds::{Fold, test_share};
use fewest_result::{
    Kind, WrongSample, classes_value, counts_value, document, entries, measures, positive, sample_names,
};
use serde_json::{Map, Value, json};

use super::plan::{Options, Recipes};
use crate::commands::asked::asked_of_method;
use crate::commands::data_as_read::DataAsRead;
use crate::commands::reading::{notes, warnings};
use crate::commands::scaling_words::scaling_text;
use crate::export::classes::by_class;

/// Results of all folds.
pub(crate) struct Report<'a> {
    options: &'a Options<'a>,
    raw: &'a DataAsRead,
    methods: Vec<MethodReport<'a>>,
}

/// Results of one method.
struct MethodReport<'a> {
    name: &'a str,
    found: Evaluation<'a>,
    /// Folds that were not done, or cut.
    left: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        options: &'a Options<'a>,
        raw: &'a DataAsRead,
        folds: &[Fold],
        results: &'a [Option<FoldResult>],
    ) -> Self {
        let (share, p) = (test_share(folds, raw.target.codes.len()), raw.data.names.len());
        let of = |(recipes, results): (&'a Recipes, &'a [Option<FoldResult>])| MethodReport {
            name: recipes.name,
            found: Evaluation::new(results, share, p),
            left: results.iter().filter(|fold| fold.is_none()).count(),
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
        let mut own = options.methods[0].choices[0].settings();
        // What folds choose is no setting of all.
        own.retain(|key, _| !self.options.tunes(key));
        own.extend(entries(&json!({
            "positive": options.selection.data.reading.positive, "scheme": scheme, "inner_cv": options.inner,
            "tune": {"C": options.tuned.costs, "fit_cost": options.tuned.fit_costs, "gamma": options.tuned.gammas},
            "sizes": options.sizes, "choose": options.choose
        })));
        value["settings"] = json!(asked_of_method(own, options.selection, raw));
        if let [first, second] = self.methods.as_slice() {
            value["against"] = second.value(raw);
            value["comparison"] = comparison(first, second);
        }
        value["command"] = json!(command_line);
        value
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let scaling = self.options.selection.prepare.scaling(&self.raw.data.features);
        crate::commands::report::text(&self.value(""), Some(&scaling_text(scaling, &self.raw.data)))
    }
}

impl MethodReport<'_> {
    /// Share of the folds that chose each feature, by name, largest first.
    fn frequency(&self, names: &Names) -> Vec<(String, f64)> {
        self.found.frequency().into_iter().map(|(j, share)| (names.get(j).into_owned(), share)).collect()
    }

    fn value(&self, raw: &DataAsRead) -> Value {
        let names = &raw.data.names;
        let fold = |f: &&FoldResult| {
            let selected: Vec<String> = f.selected.iter().map(|&j| names.get(j).into_owned()).collect();
            let metrics = measures(&f.metrics, &f.confusion);
            let mut value = json!({
                "fold": f.fold, "repeat": f.repeat, "selected": selected, "n_features": f.selected.len(),
                "metrics": metrics, "confusion": f.confusion, "n_test": f.n_test, "seconds": f.seconds, "status": f.status,
                "cost": f.cost, "fit_cost": f.fit_cost, "gamma": f.gamma, "penalty": f.penalty, "max_features": f.max_features, "inner": f.inner
            });
            if !f.test.is_empty() {
                value["test"] = json!(raw.rows_of(&f.test));
                value["predicted"] =
                    f.predicted.iter().map(|&class| json!(raw.target.classes[class as usize])).collect();
                if let Some(names) = sample_names(raw.data.samples.as_ref(), &f.test) {
                    value["test_samples"] = json!(names);
                }
            }
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
        let parts = self.found.folds.iter().map(|fold| (&fold.test[..], &fold.predicted[..]));
        let codes = &raw.target.codes;
        let row_of = |sample: usize| raw.rows_of(&[sample])[0];
        let wrong = WrongSample::all(&raw.target.classes, &|row| codes[row], raw.data.samples.as_ref(), &row_of, parts);
        let total = self.found.confusion(raw.target.classes.len());
        let found = json!({
            "method": self.name, "n_samples": raw.target.codes.len(), "n_features": names.len(),
            "classes": classes_value(&raw.target.classes), "class_counts": counts_value(&raw.target),
            "positive": positive(&raw.target.classes), "recall": by_class(&raw.target.classes, &self.found.recall()),
            "warnings": warnings(&raw.data), "notes": notes(&raw.data), "folds": self.found.folds.iter().map(fold).collect::<Vec<_>>(),
            "summary": summary, "undefined": undefined, "confusion": total, "frequency": frequency, "stability": self.found.stability(),
            "wrong": wrong, "effort": {"folds_left": self.left}
        });
        document(Kind::Evaluation, found)
    }
}

fn comparison(first: &MethodReport<'_>, second: &MethodReport<'_>) -> Value {
    let compared = Comparison::new(&first.found, &second.found);
    json!({
        "measure": "accuracy", "difference": compared.summary(), "hypothesis": format!("{} is better", first.name),
        "t_test": compared.t_test(), "corrected_t_test": compared.corrected_t_test()
    })
}
