//! Whether what was judged is better than guessing, and what helps where a class is rare.

use crate::common::sentence_case;
use crate::read::Json;
use crate::words::percent;

/// First words of a judgement that guessing is as good.
pub(crate) const NO_BETTER: &str = "no better than guessing";

/// Shares of the rarest class, of the most frequent one, and of a single sample.
fn shares(result: Json<'_>) -> Option<(f64, f64, f64)> {
    let counts: Vec<f64> = result.at("class_counts").entries().filter_map(|c| c.1.number()).collect();
    let total: f64 = counts.iter().sum();
    let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
    (total > 0.0).then(|| (least / total, counts.iter().copied().fold(0.0, f64::max) / total, 1.0 / total))
}

/// The share of the rarest class, where that is well below an equal one: of two classes, below 20 %.
pub(crate) fn rare(result: Json<'_>) -> Option<f64> {
    let classes = result.at("class_counts").entries().count().max(1);
    shares(result).map(|of| of.0).filter(|&share| share < 0.4 / classes as f64)
}

/// That what is judged in `summary` is no better than guessing: of an AUC of at most one half; or right
/// no more often than the most frequent class is, but for one sample, and not clearly more often than by chance where the
/// classes count alike.
pub(crate) fn no_better(result: Json<'_>) -> Option<String> {
    let (summary, (_, most, one)) = (result.at("summary"), shares(result)?);
    let mean = |name: &str| summary.at(name).at("mean").number();
    let accuracy = mean("accuracy")?;
    let classes = result.at("class_counts").entries().count() as f64;
    let by_chance = |name: &str, chance: f64| {
        let least = summary.at(name).at("ci95").pair().map(|ends| ends.0).or(mean(name));
        least.is_none_or(|least| least <= chance)
    };
    let no_order = mean("auc").is_some_and(|auc| auc <= 0.5);
    if !no_order && (accuracy > most + one || !by_chance("balanced_accuracy", 1.0 / classes)) {
        return None;
    }
    let shown = [("auc", "AUC"), ("sensitivity", "sensitivity"), ("specificity", "specificity")];
    let more: String = shown.iter().filter_map(|(name, label)| Some(format!(", {label} {:.3}", mean(name)?))).collect();
    Some(format!(
        "{NO_BETTER}: right on {}, and always saying the most frequent class on {}{more}",
        percent(accuracy),
        percent(most)
    ))
}

/// What a reader must know first: that no feature is of use, or that the panel is no better than
/// guessing; with what helps where a class is rare, which is `helps`.
pub(crate) fn verdict(result: Json<'_>, helps: &str) -> Option<String> {
    let completed = result.at("status").text() == Some("completed");
    let text = if completed && !result.at("panel").is_there() {
        "no method found a feature of use".to_owned()
    } else {
        no_better(result)?
    };
    let weighed = result.at("settings").at("class_weight").text().is_some_and(|weights| weights != "none");
    let helps = if weighed { None } else { rare(result).map(|_| helps) };
    Some(helps.map_or(text.clone(), |helps| format!("{text}; one class is rare: {helps}")))
}

/// A sentence where what is judged is no better than guessing.
pub(crate) fn guessing(result: Json<'_>) -> Option<String> {
    no_better(result).map(|text| sentence_case(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A study of 100 samples with these means, each plus or minus 0.05.
    fn study(rare: u64, means: &[(&str, f64)]) -> Value {
        let of = |mean: f64| json!({"mean": mean, "ci95": [mean - 0.05, mean + 0.05]});
        let summary: serde_json::Map<String, Value> =
            means.iter().map(|(name, mean)| ((*name).to_owned(), of(*mean))).collect();
        json!({
            "kind": "study", "status": "completed", "panel": {"selected": ["a"]}, "folds": [{}], "summary": summary,
            "class_counts": {"-1": 100 - rare, "+1": rare}, "settings": {"class_weight": "none"}
        })
    }

    #[test]
    fn guessing_is_judged_by_the_classes_alike_and_by_order() {
        let said = |rare, means: &[(&str, f64)]| verdict(Json(&study(rare, means)), "WEIGH");
        let blind = [("accuracy", 0.92), ("balanced_accuracy", 0.5), ("auc", 0.51), ("sensitivity", 0.0)];
        assert_eq!(
            said(8, &blind).unwrap(),
            "no better than guessing: right on 92.0 %, and always saying the most frequent class on 92.0 %, AUC 0.510, sensitivity 0.000; one class is rare: WEIGH"
        );
        // Weighed classes are right less often, and better than chance in each.
        assert_eq!(said(8, &[("accuracy", 0.6), ("balanced_accuracy", 0.65), ("auc", 0.66)]), None);
        assert_eq!(said(40, &[("accuracy", 0.7), ("balanced_accuracy", 0.53), ("auc", 0.66)]), None);
        // Means of folds that are dealt unevenly.
        assert!(said(8, &[("accuracy", 0.9201), ("balanced_accuracy", 0.5), ("auc", 0.55)]).is_some());
        assert!(
            said(40, &[("accuracy", 0.7), ("balanced_accuracy", 0.7), ("auc", 0.5)]).unwrap().ends_with("AUC 0.500")
        );
        assert_eq!(said(8, &[]), None);
        let mut none = study(8, &[]);
        none["panel"] = Value::Null;
        assert_eq!(
            verdict(Json(&none), "WEIGH").unwrap(),
            "no method found a feature of use; one class is rare: WEIGH"
        );
        none["settings"]["class_weight"] = json!("balanced");
        assert_eq!(verdict(Json(&none), "WEIGH").unwrap(), "no method found a feature of use");
    }

    #[test]
    fn page_and_text_of_a_study_begin_with_it() {
        let blind =
            [("accuracy", 0.92), ("balanced_accuracy", 0.5), ("auc", 0.51), ("sensitivity", 0.0), ("specificity", 1.0)];
        let mut value = study(8, &blind);
        value["warnings"] = json!(["no better than guessing"]);
        let page = crate::page(&value).expect("a page");
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place("No better than guessing") < place("AUC 0.510 (0.460 to 0.560), sensitivity 0.000"));
        assert!(place("AUC 0.510 (0.460 to 0.560)") < place("Right on 92.0 %"));
        let words =
            crate::Words { rest: "", max_false: "", fdr: "", stability: "", sizes: |_| String::new(), rare: "WEIGH" };
        let door = crate::Door { style: crate::Style::default(), words: &words, scaling: None };
        assert!(crate::text(&value, door).expect("a text").starts_with("warning"));
    }
}
