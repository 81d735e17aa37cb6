//! A study as JSON; docs/formats/study.md says what each key is.

use fewest::model::Model;
use fewest::{SvmSettings, WeightBounds};
use fewest_eval::study::{
    Choice, FoldReport, InnerSize, Panel, PointsFeature, StudyMethod, StudyReport, StudySettings, Tried,
};
use fewest_result::{
    About, Asked, Certificate, Kind, RulesAsked, Selection, TrainedModel, WrongSample, classes_value, counts_value,
    document, entries, levels_of, positive, sample_names,
};
use serde_json::{Map, Value, json};

use crate::cli::StudyArgs;
use crate::commands::data_as_read::DataAsRead;
use crate::commands::invocation::Invocation;
use crate::commands::reading::{notes, warnings};
use crate::commands::report;
use crate::commands::scaling_words::feature_scaling;
use crate::export::classes::{by_class, of_two};
use crate::export::result::selection_document;

/// A study with all that its JSON and its summary are made of.
pub(super) struct View<'a> {
    pub(super) args: &'a StudyArgs,
    pub(super) raw: &'a DataAsRead,
    pub(super) settings: &'a StudySettings,
    pub(super) bounds: &'a WeightBounds,
    pub(super) found: &'a StudyReport,
    pub(super) invocation: &'a Invocation,
    /// What the panel is worth on the samples of `--external`.
    pub(super) external: Option<Value>,
    /// The file of the panel's proof.
    pub(super) proof: Option<Value>,
}

impl View<'_> {
    /// A feature's name.
    pub(super) fn name(&self, j: usize) -> String {
        self.raw.data.names.get(j).into_owned()
    }

    /// Names of features.
    pub(super) fn names(&self, features: &[usize]) -> Vec<String> {
        features.iter().map(|&j| self.name(j)).collect()
    }

    /// The panel's classifier with its names and scaling; none without a panel.
    pub(super) fn trained(&self) -> Option<TrainedModel> {
        let panel = self.found.panel.as_ref()?;
        let model: Model = panel.model.clone()?;
        Some(TrainedModel {
            names: self.names(&panel.selected),
            scaling: feature_scaling(&panel.scaling, &panel.selected),
            normalized: self.raw.data.normalized().cloned(),
            reading: self.raw.reading.clone(),
            levels: levels_of(&self.raw.data, &self.names(&panel.selected)),
            imputation: panel.imputation.as_ref().map(|i| self.raw.imputation_of(i, &panel.selected)),
            model,
            classes: self.raw.target.classes.clone(),
            target: self.raw.target.column.clone(),
            n_columns: self.raw.data.names.len(),
            svm: SvmSettings { cost: panel.choice.fit_cost, ..self.settings.svm.clone() },
            calibration: panel.calibration.clone(),
        })
    }

    /// The whole result.
    pub(super) fn value(&self) -> Value {
        let (found, raw) = (self.found, self.raw);
        let summary: Map<String, Value> =
            found.summary().into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect();
        let frequency: Map<String, Value> =
            found.frequency().into_iter().map(|(j, share)| (self.name(j), json!(share))).collect();
        let notices = [warnings(&raw.data), found.faults.clone()].concat();
        let about = json!({
            "status": found.status.name(),
            "n_samples": raw.target.codes.len(),
            "n_features": raw.data.names.len(),
            "target": raw.target.column,
            "classes": classes_value(&raw.target.classes),
            "class_counts": counts_value(&raw.target),
            "positive": positive(&raw.target.classes),
            "warnings": notices, "notes": notes(&raw.data),
            "summary": summary,
            "recall": by_class(&raw.target.classes, &found.recall()),
            "decision_curve": found.decision_curve(&raw.target.codes),
            "confusion": self.confusion(),
            "panel": found.panel.as_ref().map(|panel| self.panel(panel)),
            "prefer": self.settings.prefer,
            "panels": self.panels(),
            "largest_size": found.took_largest(),
            "left_out": self.left_out(),
            "frequency": frequency,
            "stability": found.stability(),
            "sizes": found.inner.iter().map(size).collect::<Vec<_>>(),
            "tried": found.tried.iter().map(|tried| self.tried(tried)).collect::<Vec<_>>(),
            "effort": found.effort,
            "folds": found.folds.iter().map(|fold| self.fold(fold)).collect::<Vec<_>>(),
            "wrong": self.wrong(),
            "settings": self.settings_value(),
            "command": self.invocation.command_line,
            "seconds": self.invocation.elapsed().as_secs_f64(),
        });
        let mut value = document(Kind::Study, about);
        if self.settings.points {
            value["points"] = self.points();
        }
        if self.args.external.is_some() {
            value["external"] = json!(self.external);
        }
        if let (Some(text), Some(warnings)) = (report::verdict(&value), value["warnings"].as_array_mut()) {
            warnings.insert(0, text.into());
        }
        let sentences = fewest_report::methods_text(&value);
        value["methods_text"] = sentences.iter().map(|(item, text)| json!({"item": item, "text": text})).collect();
        value
    }

    /// What the rule takes and the smallest size that is as good, each with what it comes to in the
    /// outer folds; null without a panel.
    fn panels(&self) -> Value {
        let Some(choices) = self.found.choices(self.settings.prefer) else { return Value::Null };
        let [best, smallest] = choices.map(|of| {
            let mut value = choice(&of.choice);
            value.insert("selected".to_owned(), json!(self.names(&of.selected)));
            value.insert("summary".to_owned(), json!(of.summary));
            value.insert("stability".to_owned(), json!(of.stability));
            Value::Object(value)
        });
        json!({"best": best, "smallest": smallest, "difference": self.found.difference()})
    }

    /// The panel as points, and what these are worth in the outer folds; null without a panel.
    fn points(&self) -> Value {
        let Some(points) = &self.found.points else { return Value::Null };
        let feature = |of: &PointsFeature| json!({"feature": self.name(of.feature), "levels": of.levels});
        let probability = |&(total, probability): &(i64, f64)| json!({"total": total, "probability": probability});
        let worth = self.found.points_worth();
        json!({
            "features": points.features.iter().map(feature).collect::<Vec<_>>(), "threshold": points.threshold,
            "probabilities": points.probabilities.iter().map(probability).collect::<Vec<_>>(),
            "summary": worth.as_ref().map(|worth| &worth.summary),
            "difference": worth.as_ref().map(|worth| &worth.difference)
        })
    }

    /// Methods that were not tried, and why.
    fn left_out(&self) -> Vec<Value> {
        let why = |method: &StudyMethod| left_out(*method, self.settings, self.raw);
        self.found.left_out.iter().map(|method| json!({"method": method, "why": why(method)})).collect()
    }

    /// Rows: true classes, columns: predicted ones; over all outer folds.
    pub(super) fn confusion(&self) -> Vec<Vec<u64>> {
        let k = self.raw.target.classes.len();
        let mut total = vec![vec![0; k]; k];
        for fold in &self.found.folds {
            for (sum, row) in total.iter_mut().zip(&fold.judgement.confusion) {
                sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            }
        }
        total
    }

    /// The samples that outer folds took for another class.
    fn wrong(&self) -> Vec<WrongSample> {
        let target = &self.raw.target;
        let parts = self.found.folds.iter().map(|fold| (&fold.judgement.test[..], &fold.judgement.predicted[..]));
        let row_of = |sample: usize| self.raw.rows_of(&[sample])[0];
        WrongSample::all(&target.classes, &|row| target.codes[row], self.raw.data.samples.as_ref(), &row_of, parts)
    }

    fn panel(&self, panel: &Panel) -> Value {
        let trained = self.trained();
        let names = &self.raw.data.names;
        let mut selection = panel.report.selection.clone();
        selection.solutions.clone_from(&panel.solutions);
        let mut more = choice(&panel.choice);
        let replacements: Vec<Value> = panel
            .swaps
            .iter()
            .map(|swap| {
                let by = |&(j, objective): &(usize, f64)| json!({"feature": self.name(j), "objective": objective});
                json!({
                    "feature": self.name(swap.feature), "without": swap.without,
                    "by": swap.by.iter().map(by).collect::<Vec<_>>()
                })
            })
            .collect();
        more.insert("replacements".to_owned(), Value::Array(replacements));
        more.insert("probabilities".to_owned(), json!(panel.calibration));
        more.extend(self.proof.iter().map(|file| ("proof".to_owned(), file.clone())));
        if let Some(threshold) = self.threshold(panel) {
            more.insert("threshold".to_owned(), threshold);
        }
        let about = About::new(names, &self.raw.target, Vec::new(), Vec::new());
        let mut own = choice(&panel.choice);
        own.remove("method");
        own.insert("gap".to_owned(), json!(self.args.gap));
        let found = Selection {
            model: trained.as_ref().map(TrainedModel::record),
            certificate: panel.certificate.as_ref().map(|c| Certificate::new(c, panel.selected.len(), names)),
            details: more,
            ..Selection::new(panel.choice.method.name(), &selection, about, names)
        };
        let mut value = selection_document(Kind::Selection, &found, &selection.ranking, names).into_value();
        // Of the whole study, which has them.
        if let Some(entries) = value.as_object_mut() {
            entries.retain(|key, _| !["positive", "warnings", "notes", "trace"].contains(&key.as_str()));
        }
        value["settings"] = Value::Object(own);
        value
    }

    /// The threshold that the wanted sensitivity led to, and the bias that the classifier was trained
    /// to; that of the model is less by the threshold.
    fn threshold(&self, panel: &Panel) -> Option<Value> {
        let (threshold, model) = (panel.threshold?, panel.model.as_ref()?);
        Some(json!({
            "sensitivity": self.settings.sensitivity, "value": threshold,
            "trained_intercept": model.machines.first().map(|machine| machine.solution.bias)
        }))
    }

    fn fold(&self, fold: &FoldReport) -> Value {
        let judged = &fold.judgement;
        let class = |code: &u32| self.raw.target.classes[*code as usize].clone();
        let mut metrics: Map<String, Value> =
            judged.metrics.named().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        metrics.extend(of_two(&judged.confusion));
        metrics.insert("log_loss".to_owned(), json!(judged.log_loss));
        metrics.insert("brier".to_owned(), json!(judged.brier));
        let mut value = Map::from_iter([
            ("fold".to_owned(), json!((fold.fold + 1).to_string())),
            ("repeat".to_owned(), json!(fold.repeat)),
            ("selected".to_owned(), json!(self.names(&fold.selected))),
            ("n_features".to_owned(), json!(fold.selected.len())),
            ("metrics".to_owned(), Value::Object(metrics)),
            ("confusion".to_owned(), json!(judged.confusion)),
            ("n_test".to_owned(), json!(judged.test.len())),
            ("test".to_owned(), json!(self.raw.rows_of(&judged.test))),
            ("predicted".to_owned(), judged.predicted.iter().map(class).collect()),
            ("probabilities".to_owned(), json!(judged.probabilities)),
            ("class_probabilities".to_owned(), json!(judged.class_probabilities)),
            ("inner".to_owned(), fold.inner.iter().map(size).collect()),
            ("status".to_owned(), json!(fold.status.name())),
            ("stopped".to_owned(), json!(fold.stopped)),
            ("seconds".to_owned(), json!(fold.seconds)),
        ]);
        let other = fold.other.as_ref().map(|other| {
            let mut value = choice(&other.choice);
            value.insert("selected".to_owned(), json!(self.names(&other.selected)));
            value.insert("accuracy".to_owned(), json!(other.judgement.metrics.accuracy));
            value.insert("auc".to_owned(), json!(other.judgement.metrics.auc));
            value.insert("log_loss".to_owned(), json!(other.judgement.log_loss));
            Value::Object(value)
        });
        value.insert("other".to_owned(), json!(other));
        let names = sample_names(self.raw.data.samples.as_ref(), &judged.test);
        value.extend(names.map(|names| ("test_samples".to_owned(), json!(names))));
        value.extend(choice(&fold.choice));
        Value::Object(value)
    }

    fn tried(&self, tried: &Tried) -> Value {
        let mut value = choice(&tried.choice);
        value.insert("accuracy".to_owned(), json!(tried.accuracy));
        value.insert(self.settings.rule.name().to_owned(), json!(tried.score));
        value.insert("stability".to_owned(), json!(tried.stability));
        Value::Object(value)
    }

    fn settings_value(&self) -> Asked {
        let (args, settings) = (self.args, self.settings);
        let own = json!({
            "positive": args.data.reading.positive, "sensitivity": settings.sensitivity, "max_features": self.found.sizes,
            "methods": self.found.methods, "folds": settings.folds, "repeats": settings.repeats,
            "inner_cv": settings.inner_folds, "inner_repeats": settings.inner_repeats, "seed": settings.seed,
            "cost_points": settings.cost_points, "choose": settings.rule, "prefer": settings.prefer, "calibration": "platt",
            "loss": settings.svm.loss, "bias": settings.svm.bias, "tolerance": settings.svm.tolerance,
            "memory": settings.svm.memory, "selection_time_limit": settings.selection_seconds, "gap": args.gap,
            "node_limit": settings.proof_nodes, "solutions": settings.solutions, "points": settings.points
        });
        let mut own = entries(&own);
        if args.show_samples {
            own.insert("show_samples".to_owned(), json!(true));
        }
        if let Some(path) = &args.external {
            own.insert("external".to_owned(), json!(path.display().to_string()));
        }
        Asked {
            class_weight: Some(args.margin.class_weight().text()),
            variance_threshold: settings.variance_threshold,
            rules: Some(RulesAsked::new(&settings.rules, self.bounds, &self.raw.data.names)),
            time_limit: Some(args.time_limit.as_secs_f64()),
            own,
            ..self.raw.asked(&args.prepare, args.groups.as_deref())
        }
    }
}

/// Why a method was not tried.
pub(super) fn left_out(method: StudyMethod, settings: &StudySettings, raw: &DataAsRead) -> String {
    if settings.bounds_weights() && !method.keeps_bounds() {
        return "it keeps no bounds on weights".to_owned();
    }
    if settings.points && method == StudyMethod::Kta {
        return "--points needs a linear classifier, and its own has a kernel".to_owned();
    }
    let (n, p) = (raw.target.codes.len(), raw.data.names.len());
    format!("{n} samples of {p} features take it long; name it in --methods to try it")
}

/// Method, size and costs of a choice.
fn choice(choice: &Choice) -> Map<String, Value> {
    Map::from_iter([
        ("method".to_owned(), json!(choice.method)),
        ("max_features".to_owned(), json!(choice.max_features)),
        ("cost".to_owned(), json!(choice.cost)),
        ("fit_cost".to_owned(), json!(choice.fit_cost)),
    ])
}

fn size(size: &InnerSize) -> Value {
    json!({"max_features": size.max_features, "accuracy": size.accuracy, "se": size.se})
}
