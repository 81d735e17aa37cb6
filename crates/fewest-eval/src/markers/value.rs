//! Markers as JSON, the same in every door; features and classes go by names.

use fewest::validation::macro_f1;
use fewest_data::by_class_key;
use serde_json::{Map, Value, json};

use super::report::{MarkerPanel, MarkersReport};
use super::settings::MarkersSettings;

impl MarkersReport {
    /// The report as JSON; `names` are those of all features, `classes` those of the classes.
    pub fn value(&self, settings: &MarkersSettings, names: &[String], classes: &[String]) -> Map<String, Value> {
        let text = |j: usize| names.get(j).map_or_else(|| j.to_string(), String::clone);
        let name = |j: usize| names.get(j).map_or_else(|| json!(j), |name| json!(name));
        let named = |features: &[usize]| features.iter().map(|&j| name(j)).collect::<Vec<Value>>();
        let fold = |fold: &crate::evaluate::FoldResult| {
            json!({
                "fold": fold.fold, "samples": fold.n_test, "cost": fold.cost, "macro_f1": macro_f1(&fold.confusion),
                "accuracy": fold.metrics.accuracy, "balanced_accuracy": fold.metrics.balanced_accuracy,
                "status": fold.status, "features": named(&fold.selected),
            })
        };
        let summaries = |list: Vec<(&'static str, fewest::validation::Summary)>| {
            list.into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect::<Map<_, _>>()
        };
        let tried = self.tried.iter().enumerate().map(|(at, tried)| {
            json!({"class_cost": tried.class_cost, "macro_f1": tried.mean(), "by_fold": tried.f1, "chosen": at == self.chosen})
        });
        let of_class = |(class, report): (&String, super::ClassReport)| {
            let mut value = json!(report);
            value["class"] = json!(class);
            value
        };
        let confused = self.confused().into_iter().map(|pair| {
            json!({
                "class": classes[pair.class as usize], "taken_for": classes[pair.taken_for as usize],
                "samples": pair.samples, "share": pair.share,
            })
        });
        let required = self.required_summaries().map(|list| {
            json!({
                "features": named(&settings.rules.require), "macro_f1": self.required_f1(), "summary": summaries(list),
                "difference": self.brought(),
            })
        });
        let value = json!({
            "status": self.status.name(),
            "classes": by_class_key(classes.iter().map(String::as_str)),
            "panel": self.panel.as_ref().map(|panel| self.panel_value(panel, settings, &name, classes)),
            "macro_f1": self.macro_f1(),
            "summary": summaries(self.summaries()),
            "by_class": classes.iter().zip(self.classes()).map(of_class).collect::<Vec<Value>>(),
            "confused": confused.collect::<Vec<Value>>(),
            "confusion": self.confusion(),
            "tried": tried.collect::<Vec<Value>>(),
            "folds": self.folds.iter().map(fold).collect::<Vec<Value>>(),
            "samples_in_folds": self.sampled,
            "effort": self.effort,
            "stability": self.stability(),
            "frequency": self.frequency().into_iter().map(|(j, share)| (text(j), json!(share))).collect::<Map<_, _>>(),
            "required": required,
        });
        let Value::Object(value) = value else { unreachable!("it is written as an object") };
        value
    }

    fn panel_value(
        &self,
        panel: &MarkerPanel,
        settings: &MarkersSettings,
        name: &dyn Fn(usize) -> Value,
        classes: &[String],
    ) -> Value {
        let outcome = &panel.outcome;
        let frequency = self.frequency();
        let often = |feature: usize| frequency.iter().find(|of| of.0 == feature).map_or(0.0, |of| of.1);
        let marker = |at: usize| {
            let (table, apart) = (&panel.table[at], &panel.apart[at]);
            let pairs = apart.pairs.iter().map(|pair| {
                json!({"high": classes[pair.high as usize], "low": classes[pair.low as usize], "share": pair.share})
            });
            json!({
                "feature": name(table.feature), "index": table.feature, "rank": at + 1,
                "highest": classes[table.highest()], "mean": table.mean, "share": table.share, "weight": apart.weight,
                "tells_apart": pairs.collect::<Vec<Value>>(), "frequency": often(table.feature),
            })
        };
        json!({
            "features": panel.features.iter().map(|&j| name(j)).collect::<Vec<Value>>(),
            "objective": outcome.objective, "bound": outcome.bound,
            "baseline": outcome.yardstick.map(|yardstick| yardstick.baseline),
            "gap": outcome.gap(), "objective_gap": outcome.objective_gap(),
            "status": outcome.status.name(), "seconds": outcome.elapsed.as_secs_f64(), "counts": outcome.counts,
            "cost": panel.svm.cost, "class_cost": self.tried[self.chosen].class_cost, "loss": panel.svm.loss,
            "multi_class": settings.multi_class.text(), "class_weight": settings.preparation.class_weight,
            "scale": panel.learnt.scaling.kind,
            "markers": (0..panel.features.len()).map(marker).collect::<Vec<Value>>(),
        })
    }
}
