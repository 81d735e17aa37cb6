//! Sentences for the methods part of a paper, from the JSON of a study. Every one of them is true
//! of that run: what it does not say, no sentence says.

use super::external;
use super::wording::{Panels, folds, judged, less};
use crate::common::{is_uncentred, normalized, sentence_case};
use crate::measures::measured;
use crate::read::Json;
use crate::words::{Proof, brief, percent, plural, range, some};

/// What a study did, by items of TRIPOD+AI (G. S. Collins and others, BMJ 385 (2024), e078378): the
/// item and the sentences on it.
pub(crate) fn methods_text(result: Json<'_>) -> Vec<(&'static str, String)> {
    let items = [
        ("Data and participants", participants(result)),
        ("Outcome and predictors", predictors(result)),
        ("Missing data", missing(result)),
        ("Analytical methods", methods(result)),
        ("Class imbalance and model output", output(result)),
        ("Training versus evaluation", evaluation(result)),
        ("Model and its performance", performance(result)),
        ("Code", software(result)),
    ];
    items.into_iter().filter(|item| !item.1.is_empty()).collect()
}

fn joined(sentences: Vec<Option<String>>) -> String {
    sentences.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

/// `a, b and c`
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn participants(result: Json<'_>) -> String {
    let (settings, n) = (result.at("settings"), result.at("n_samples").count());
    let counts: Vec<(String, u64)> = result
        .at("classes")
        .entries()
        .filter_map(|(key, name)| Some((name.text()?.to_owned(), result.at("class_counts").at(key).count()?)))
        .collect();
    let each: Vec<String> = counts.iter().map(|(name, count)| format!("{count} of class {name}")).collect();
    let features = result.at("n_features").count();
    let rarest = counts.iter().map(|count| count.1).min();
    let sizes = n.map(|n| {
        let file = settings.at("data").text().map_or_else(String::new, |file| format!(" ({file})"));
        format!("The data{file} have {}: {}.", plural(n, "sample"), listed(&each))
    });
    let events = rarest.zip(features).filter(|of| of.1 > 0).map(|(rarest, p)| {
        let ratio = rarest as f64 / p as f64;
        let digits = if ratio < 0.1 { 4 } else { 2 };
        format!(
            "There are {} to choose from, {ratio:.digits$} samples of the rarest class for each.",
            plural(p, "feature")
        )
    });
    let groups = settings.at("groups").at("count").count().map(|count| {
        let column = settings.at("groups").at("column").text().unwrap_or("group");
        format!("Samples of one {column} ({} in all) stay together in every fold.", plural(count, "group"))
    });
    let weights = settings.at("sample_weights").text();
    joined(vec![sizes, events, groups, weights.map(|column| format!("Samples are weighted by the column {column}."))])
}

fn predictors(result: Json<'_>) -> String {
    let settings = result.at("settings");
    let outcome = result.at("target").text().map(|target| {
        let positive =
            result.at("positive").text().map_or_else(String::new, |class| format!("; {class} is the positive class"));
        format!("The outcome is the column {target}{positive}.")
    });
    let counts = normalized(settings)
        .map(|text| format!("The values of each sample were normalised as they were read ({text})."));
    let scaled = match settings.at("scale").text() {
        Some("standard") if is_uncentred(settings) => Some(
            "Features were divided by their standard deviations and not centred, as the data are sparse".to_owned(),
        ),
        Some("standard") => Some("Features were standardised".to_owned()),
        Some("maxabs") => Some("Features were divided by their largest absolute value".to_owned()),
        kind => kind.and_then(range).map(|range| {
            let but = if is_uncentred(settings) { " but for a constant, as the data are sparse" } else { "" };
            format!("Features were scaled to {range}{but}")
        }),
    };
    let scaled = match (scaled, settings.at("scale").text()) {
        (Some(words), _) => Some(format!("{words}, as learnt from each training part alone.")),
        (None, Some("none")) => Some("Features were not scaled.".to_owned()),
        _ => None,
    };
    let low = settings.at("variance_threshold").number();
    let low = low.map(|least| format!(" or a variance of at most {} there", brief(least))).unwrap_or_default();
    let constant =
        settings.is_there().then(|| format!("Features of one value in a training part{low} were not selected."));
    joined(vec![outcome, counts, scaled, constant, rules(settings)])
}

/// Rules on the chosen features.
fn rules(settings: Json<'_>) -> Option<String> {
    let names = |key: &str| settings.at(key).texts();
    let mut parts = Vec::new();
    if !names("require").is_empty() {
        parts.push(format!("{} had to be selected", some(&names("require"))));
    }
    if !names("forbid").is_empty() {
        parts.push(format!("{} could not be selected", some(&names("forbid"))));
    }
    let kinds = [
        ("implies", "features that need others"),
        ("together", "features that stay together"),
        ("at_most", "limits on groups of features"),
        ("at_least", "least numbers of groups of features"),
    ];
    let others: Vec<String> =
        kinds.iter().filter(|kind| settings.at(kind.0).items().len() > 0).map(|kind| kind.1.to_owned()).collect();
    if !others.is_empty() {
        parts.push(format!("there were rules on {}", listed(&others)));
    }
    if let Some(budget) = settings.at("budget").number() {
        parts.push(format!("the features together cost at most {}", brief(budget)));
    }
    let bounds = settings.at("weight_bounds").entries().count() as u64;
    if bounds > 0 {
        parts.push(format!("the weights of {} were bounded or of a given sign", plural(bounds, "feature")));
    }
    (!parts.is_empty()).then(|| sentence_case(&parts.join("; ")))
}

fn missing(result: Json<'_>) -> String {
    let by = match result.at("settings").at("missing").text() {
        Some("error") => return "No value was missing.".to_owned(),
        Some("mean") => "the mean of the feature",
        Some("median") => "the median of the feature",
        Some("most-frequent") => "the most frequent value of the feature",
        Some("indicator") => "the mean of the feature, and a feature of 0 and 1 says where it was missing",
        _ => return String::new(),
    };
    format!("What stands in for missing values was learnt from each training part alone: {by}.")
}

/// The methods by name, in words.
fn method_words(name: &str) -> String {
    match name {
        "exact" => "best-subset search for the linear SVM (exact)".to_owned(),
        "rfe" => "recursive feature elimination (rfe)".to_owned(),
        "info-gain" => "the filter by information gain (info-gain)".to_owned(),
        "kta" => "kernel-target alignment with a Gaussian kernel (kta)".to_owned(),
        other => other.to_owned(),
    }
}

fn methods(result: Json<'_>) -> String {
    let settings = result.at("settings");
    let known = settings.at("methods").texts();
    let candidates = (!known.is_empty()).then(|| {
        let names: Vec<String> = known.iter().map(|name| method_words(name)).collect();
        let sizes: Vec<u64> = settings.at("max_features").items().filter_map(Json::count).collect();
        let sizes = match sizes.as_slice() {
            [] => String::new(),
            [one] => format!(", of at most {}", plural(*one, "feature")),
            [first, .., last] if last - first == sizes.len() as u64 - 1 => format!(", of at most {first} to {last} features"),
            all => format!(", of at most {} features", listed(&all.iter().map(u64::to_string).collect::<Vec<_>>())),
        };
        let costs = settings.at("cost_points").count().filter(|_| known.iter().any(|name| matches!(*name, "exact" | "rfe")));
        let costs = costs.map_or_else(String::new, |count| format!(", the selection at {}", plural(count, "slack cost")));
        format!("Candidates were the subsets by {}{sizes}{costs}, each with a support vector machine at several slack costs of its own.", listed(&names))
    });
    let [inner, repeats] = ["inner_cv", "inner_repeats"].map(|key| settings.at(key).count());
    let inside = inner.map(|inner| {
        let times = dealt(repeats);
        format!(
            "They were judged by {inner}-fold cross-validation inside each training part{times}, stratified by class"
        )
    });
    let rule = settings.at("choose").text().map(|rule| {
        let (score, pick) = rule.split_once(':').unwrap_or((rule, "best"));
        let prefer = match settings.at("prefer").text() {
            Some("smallest") => "; of that, the panel is the smallest size that is as good (within one standard error, at most 1 % of accuracy less)",
            _ => "",
        };
        format!("the choice was by {}, {}{prefer}", score_words(score), pick_words(pick))
    });
    let chosen = inside.map(|inside| format!("{inside}{}.", rule.map_or_else(String::new, |rule| format!("; {rule}"))));
    joined(vec![candidates, chosen])
}

fn score_words(score: &str) -> &str {
    match score {
        "combined" => "the mean of accuracy, AUC and 1 - hinge loss",
        "auc" => "the AUC",
        "log-loss" => "the log-loss",
        "hinge" => "the hinge loss",
        other => other,
    }
}

fn pick_words(pick: &str) -> &str {
    match pick {
        "best" => "the best mean",
        "smooth" => "the best mean after averaging with neighbours on the grid",
        "shrunk" => "the best mean after averaging with neighbours on the grid, drawn towards costs that need no data",
        "one-se" => "the smallest size within one standard error of the best",
        "small-cost" => "the smallest costs within one standard error of the best",
        "stable" => "the most stable subsets within one standard error of the best",
        other => other,
    }
}

fn output(result: Json<'_>) -> String {
    let settings = result.at("settings");
    let weights = match settings.at("class_weight").text() {
        Some("none") => Some("Classes were neither weighted nor resampled.".to_owned()),
        Some(words) => Some(format!("Classes were weighted ({words}) and not resampled.")),
        None => None,
    };
    let how = match settings.at("calibration").text() {
        Some("platt") => Some("Platt's sigmoid"),
        Some("isotonic") => Some("isotonic regression"),
        _ => None,
    };
    let probabilities = how.map(|how| {
        format!("Probabilities come from the decision values of samples that inner folds held out, by {how}.")
    });
    let cut = settings.at("sensitivity").number().map(|share| {
        format!("The threshold was set so that inner folds find {} of the positive class.", percent(share))
    });
    joined(vec![weights, probabilities, cut])
}

fn evaluation(result: Json<'_>) -> String {
    let settings = result.at("settings");
    let [asked, repeats] = ["folds", "repeats"].map(|key| settings.at(key).count());
    let scheme = asked.map(|asked| {
        let times = dealt(repeats);
        format!(
            "Performance was estimated by nested cross-validation with {asked} outer folds{times}: preparation, choice, selection and training were done again without the samples of the fold, which were then classified."
        )
    });
    let (done, all) = folds(result);
    let left = (done < all).then(|| {
        let why =
            if result.at("status").text() == Some("cancelled") { "the run was cancelled" } else { "time was over" };
        format!("{done} of {all} outer folds were done before {why}.")
    });
    let rest: Vec<String> = [("splits_left", "inner split"), ("selections_left", "grid point")]
        .into_iter()
        .filter_map(|(key, noun)| Some((result.at("effort").at(key).count().filter(|&count| count > 0)?, noun)))
        .map(|(count, noun)| plural(count, noun))
        .collect();
    let cut = (!rest.is_empty()).then(|| format!("For lack of time {} were left out.", listed(&rest)));
    let intervals = (done > 1).then(|| {
        "95 % intervals allow for training samples that folds share (Nadeau and Bengio 2003): for accuracy and shares of classes they are score intervals (Wilson 1927) of the number of samples over the design effect of the folds (Rao and Scott 1992), for balanced accuracy, F1 and MCC these together (Zou and Donner 2008), for others Student's t, of AUC no shorter than for independent samples (Newcombe 2006).".to_owned()
    });
    joined(vec![scheme, left, cut, intervals])
}

/// How often folds were dealt, where that was more than once.
fn dealt(times: Option<u64>) -> String {
    match times.unwrap_or(1) {
        1 => String::new(),
        2 => ", dealt twice".to_owned(),
        times => format!(", dealt {times} times"),
    }
}

fn performance(result: Json<'_>) -> String {
    let panel = result.at("panel");
    if !panel.is_there() {
        return "No panel was found.".to_owned();
    }
    let names = panel.at("selected").texts();
    let cost = panel.at("cost").number().map_or_else(String::new, |cost| format!(" at C = {}", brief(cost)));
    let model = format!(
        "The panel has {} ({}), selected on all samples by {}{cost}; its classifier is a {} support vector machine at C = {}.",
        plural(names.len() as u64, "feature"),
        names.join(", "),
        method_words(panel.at("method").text().unwrap_or_default()),
        if panel.at("model").at("kernel").text() == Some("rbf") { "Gaussian" } else { "linear" },
        brief(panel.at("fit_cost").number().unwrap_or(f64::NAN))
    );
    let shown =
        [("accuracy", "accuracy"), ("auc", "AUC"), ("sensitivity", "sensitivity"), ("specificity", "specificity")];
    let one = |(name, label): (&str, &str)| Some(format!("{label} {}", measured(result.at("summary").at(name))?));
    let worth: Vec<String> = shown.into_iter().filter_map(one).collect();
    let worth = if worth.is_empty() {
        "How well it does on samples that took no part is not known: no outer fold was done.".to_owned()
    } else {
        format!("On samples that took no part (95 % interval): {}.", worth.join(", "))
    };
    let other = Panels::of(result)
        .filter(|panels| !panels.same)
        .map(|panels| format!("The {} has {}.", panels.called, panels.line(usize::MAX)));
    joined(vec![Some(model), Some(worth), other, points(result), external_words(result), proof(panel)])
}

fn points(result: Json<'_>) -> Option<String> {
    let points = result.at("points");
    let own = measured(points.at("summary").at("accuracy"))?;
    let lost = points.at("difference").at("accuracy").at("mean").number()?;
    Some(format!(
        "As whole points, made again in each outer fold, the accuracy is {own}, against that of the classifier {}.",
        less(lost)
    ))
}

fn external_words(result: Json<'_>) -> Option<String> {
    Some(format!("External validation without retraining: {}.", external::line(result)?))
}

/// What is proven of the selection, on all samples.
fn proof(panel: Json<'_>) -> Option<String> {
    let of = judged(panel);
    let (objective, bound) = (of.at("objective").number()?, of.at("bound").number()?);
    let maximised = !panel.at("certificate").is_there() && panel.at("sense").text() == Some("max");
    let (status, max_features) = (of.at("status").text().unwrap_or_default(), panel.at("max_features").count());
    let gap = of.at("gap").number();
    let what = if maximised { "kernel alignment" } else { "objective of the linear SVM" };
    let sentence =
        Proof { objective, bound: Some(bound), gap, maximised, status, max_features, condition: None }.sentence();
    Some(format!("By the {what} on all samples, {sentence}."))
}

fn software(result: Json<'_>) -> String {
    let version = result.at("version").text().map(|version| format!("Software: fewest {version}."));
    let command = result.at("command").text().map(|command| format!("Command: {command}."));
    let seed = result.at("settings").at("seed").count().map(|seed| format!("Seed: {seed}."));
    joined(vec![version, command, seed])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::methods_text;
    use crate::read::Json;

    fn study() -> Value {
        let of = |mean: f64| json!({"mean": mean, "se": 0.01, "ci95": [mean - 0.02, mean + 0.02]});
        json!({
            "kind": "study", "status": "completed", "n_samples": 100, "n_features": 50, "target": "died",
            "classes": {"-1": "no", "+1": "yes"}, "class_counts": {"-1": 80, "+1": 20}, "positive": "yes",
            "settings": {
                "data": "d.csv", "missing": "error", "scale": "standard", "methods": ["exact", "rfe"],
                "max_features": [1, 2, 3], "cost_points": 8, "inner_cv": 5, "inner_repeats": 1, "choose": "combined:shrunk",
                "prefer": "best", "calibration": "platt", "sensitivity": null, "class_weight": "none", "folds": 5,
                "repeats": 2, "seed": 7, "require": [], "sample_weights": null, "budget": null
            },
            "folds": vec![json!({}); 10], "effort": {"folds_left": 0, "splits_left": 0, "selections_left": 0},
            "summary": {"accuracy": of(0.9), "auc": of(0.95)},
            "panel": {
                "method": "exact", "selected": ["age", "dose"], "max_features": 2, "cost": 0.01, "fit_cost": 0.1,
                "model": {"kernel": "linear"}, "objective": 5.0, "bound": 5.0, "gap": 0.0, "status": "optimal", "sense": "min"
            },
            "version": "9.9", "command": "fewest study d.csv"
        })
    }

    fn whole(value: &Value) -> String {
        methods_text(Json(value)).into_iter().fold(String::new(), |out, (item, text)| out + item + ": " + &text + "\n")
    }

    #[test]
    fn each_item_says_what_was_done() {
        let text = whole(&study());
        for part in [
            "The data (d.csv) have 100 samples: 80 of class no and 20 of class yes.",
            "50 features to choose from, 0.40 samples of the rarest class for each.",
            "The outcome is the column died; yes is the positive class. Features were standardised",
            "No value was missing.",
            "(exact) and recursive feature elimination (rfe), of at most 1 to 3 features, the selection at 8 slack costs",
            "by 5-fold cross-validation inside each training part, stratified by class; the choice was by the mean of",
            "Classes were neither weighted nor resampled. Probabilities come from",
            "with 5 outer folds, dealt twice: preparation",
            "(Nadeau and Bengio 2003)",
            "The panel has 2 features (age, dose), selected on all samples by best-subset search",
            "accuracy 0.900 (0.880 to 0.920), AUC 0.950 (0.930 to 0.970).",
            "By the objective of the linear SVM on all samples, no allowed subset of at most 2 features is better",
            "Software: fewest 9.9. Command: fewest study d.csv. Seed: 7.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        for part in [
            "smallest size",
            "group",
            "weighted by",
            "threshold",
            "bounded",
            "External",
            "points",
            "left out",
            "before",
        ] {
            assert!(!text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn settings_change_the_sentences() {
        let mut value = study();
        let more = json!({
            "missing": "median", "scale": "none", "methods": ["kta"], "max_features": [2], "prefer": "smallest",
            "calibration": "none", "sensitivity": 0.95, "class_weight": "balanced", "require": ["age"], "repeats": 1,
            "sample_weights": "w", "groups": {"column": "person", "count": 30}, "weight_bounds": {"age": [0.0, null]},
            "choose": "auc", "together": [["age", "dose"]], "budget": 3.0
        });
        for (key, entry) in more.as_object().expect("an object") {
            value["settings"][key] = entry.clone();
        }
        value["status"] = json!("time_limit");
        value["folds"] = json!([{}, {}, {}]);
        value["effort"] = json!({"folds_left": 2, "splits_left": 3, "selections_left": 0});
        let text = whole(&value);
        for part in [
            "Samples of one person (30 groups in all) stay together in every fold. Samples are weighted by the column w.",
            "Features were not scaled.",
            "Age had to be selected; there were rules on features that stay together; the features together cost at most 3; the weights of 1 feature were bounded",
            "learnt from each training part alone: the median of the feature.",
            "kernel-target alignment with a Gaussian kernel (kta), of at most 2 features, each with",
            "the choice was by the AUC, the best mean; of that, the panel is the smallest size that is as good",
            "Classes were weighted (balanced) and not resampled. The threshold was set so that inner folds find 95.0 %",
            "with 5 outer folds: preparation",
            "3 of 5 outer folds were done before time was over. For lack of time 3 inner splits were left out.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("Probabilities") && !text.contains("slack costs,"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut none = study();
        (none["panel"], none["folds"], none["summary"]) = (Value::Null, json!([]), json!({}));
        none["effort"] = json!({"folds_left": 10});
        let text = whole(&none);
        assert!(text.contains("No panel was found.") && text.contains("0 of 10 outer folds were done"), "{text}");
        assert!(!text.contains("Nadeau") && !text.contains("accuracy 0"), "{text}");
        assert_eq!(whole(&json!({"kind": "study"})), "Model and its performance: No panel was found.\n");
        let mut value = study();
        value["points"] = json!({"summary": {"accuracy": {"mean": 0.88}}, "difference": {"accuracy": {"mean": 0.02}}});
        value["external"] =
            json!({"scored": 40, "data": "e.csv", "summary": {"accuracy": {"mean": 0.85, "ci95": [0.7, 0.9]}}});
        let text = whole(&value);
        assert!(text.contains("the accuracy is 0.880, against that of the classifier 0.020 less."), "{text}");
        assert!(text.contains("without retraining: accuracy 0.850 (0.700 to 0.900); 40 samples of e.csv."), "{text}");
    }
}
