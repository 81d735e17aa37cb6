//! The settings of a method in a result: those of the library, flat, under the names of the
//! options.

use crate::AnyMethod;
use fewest::Kernel;
use fewest_data::Names;
use serde_json::{Map, Value};

/// The settings of a method; `kernel` is the one that was used, once that is known, and `price`
/// that of each feature, where the method found it.
pub(crate) fn of_method(
    method: &AnyMethod,
    names: &Names,
    kernel: Option<&Kernel>,
    price: Option<f64>,
) -> Map<String, Value> {
    let settings = serde_json::to_value(method).expect("settings are numbers, lists and names");
    let mut out = Map::new();
    // With a rule for its kernel, gamma may depend on how many features are trained on.
    let own = !settings["kernel"].is_object();
    flatten(settings, names, &mut out);
    out.remove("name");
    if let Some(gamma) = kernel.and_then(Kernel::gamma) {
        gamma_used(&mut out, gamma, own);
    }
    if let Some(price) = price {
        out.insert("penalty".to_owned(), price.into());
    }
    out
}

/// Adds each setting under the name of its option.
fn flatten(settings: Value, names: &Names, out: &mut Map<String, Value>) {
    let Value::Object(settings) = settings else { return };
    for (key, value) in settings {
        match (key.as_str(), value) {
            // An SVM, how its cost is tuned, the program of lagrangian, the kernel: groups of options.
            ("svm" | "tuning", group) => flatten(group, names, out),
            ("program", mut group) => {
                // It finds one subset, whatever the program of mbp may be asked for.
                for several in ["solutions", "within"] {
                    group.as_object_mut().and_then(|group| group.remove(several));
                }
                flatten(group, names, out);
            }
            ("kernel", Value::Object(mut kernel)) => {
                out.insert("kernel".to_owned(), kernel.remove("kind").unwrap_or_default());
                out.extend(kernel);
            }
            ("resamples", Value::Object(group)) => add_resamples(group, out),
            ("folds", folds) => _ = out.insert("cv".to_owned(), fold_count(&folds)),
            ("step", step) => add_step(&step, out),
            ("categorical", features) => {
                let name = |j: &Value| j.as_u64().map(|j| names.get(j as usize).into_owned());
                let listed = features.as_array().into_iter().flatten().filter_map(name);
                out.insert(key, listed.collect());
            }
            ("penalty", prices) => {
                let auto = prices.is_string();
                out.insert("penalty_rule".to_owned(), if auto { "auto" } else { "given" }.into());
                out.insert(
                    key,
                    if auto { prices } else { priced(prices.as_array().map_or(&[][..], Vec::as_slice), names) },
                );
            }
            ("costs", Value::Array(costs)) if costs.is_empty() => _ = out.insert(key, Value::Null),
            ("start", start @ Value::Bool(_)) => _ = out.insert(key, start),
            ("start", start) => add_start(start, names, out),
            ("passes", Value::Null) => _ = out.insert(key, "all".into()),
            ("binning", Value::Object(bins)) => {
                out.insert(key, bins.into_iter().next().map_or(Value::Null, |(_, count)| count));
            }
            (_, value) => _ = out.insert(key, value),
        }
    }
}

/// The number of folds, of the fold of each sample.
fn fold_count(folds: &Value) -> Value {
    let of = folds["of"].as_array().into_iter().flatten();
    of.filter_map(Value::as_u64).max().map_or(0, |last| last + 1).into()
}

/// How many resamples rank, and how they are drawn where they are.
fn add_resamples(mut group: Map<String, Value>, out: &mut Map<String, Value>) {
    out.insert("resamples".to_owned(), group.remove("count").unwrap_or_default());
    if !group.contains_key("folds") {
        out.extend(group);
    }
}

/// How many features leave in one step, and of what a fraction is.
fn add_step(step: &Value, out: &mut Map<String, Value>) {
    if let Some((of, count)) = step.as_object().and_then(|step| step.iter().next()) {
        out.insert("step".to_owned(), count.clone());
        out.insert("step_of".to_owned(), of.as_str().into());
    }
}

/// Where an elimination or a flip starts: from features, or from what rfe ends with. Subsets that a
/// search starts from are none of the options.
fn add_start(start: Value, names: &Names, out: &mut Map<String, Value>) {
    let name = |j: &Value| j.as_u64().map(|j| names.get(j as usize).into_owned());
    let named = |features: &[Value]| features.iter().filter_map(name).collect::<Value>();
    let mut start = match start {
        Value::Object(start) => start,
        Value::Array(features) if features.iter().any(Value::is_u64) => {
            out.insert("start".to_owned(), named(&features));
            return;
        }
        _ => return,
    };
    if let Some(Value::Array(features)) = start.remove("features") {
        out.insert("start".to_owned(), named(&features));
    } else if let Some(rfe) = start.remove("rfe") {
        out.insert("start".to_owned(), "rfe".into());
        flatten(rfe, names, out);
    }
}

/// Prices: null, one number, or one by name.
pub(crate) fn priced<T: Clone + PartialEq + Into<Value>>(prices: &[T], names: &Names) -> Value {
    match prices {
        [] => Value::Null,
        [first, rest @ ..] if rest.iter().all(|price| price == first) => first.clone().into(),
        each => names.iter().zip(each).map(|(name, price)| (name.into_owned(), price.clone())).collect(),
    }
}

/// The number that a rule for gamma came to; a rule for each number of features stays a rule, but
/// where gamma is a setting of its own.
fn gamma_used(out: &mut Map<String, Value>, gamma: f64, own: bool) {
    let Some(rule) = out.get_mut("gamma") else { return };
    let text = rule.as_str().map_or_else(|| "number".to_owned(), str::to_owned);
    if own || text != "1/p" {
        *rule = gamma.into();
    }
    out.insert("gamma_rule".to_owned(), text.into());
}

/// What a method tells, with features by name where a result has names.
pub(crate) fn details(details: &Map<String, Value>, names: &Names) -> Map<String, Value> {
    let mut out = details.clone();
    let name = |j: &Value| Value::from(j.as_u64().map(|j| names.get(j as usize).into_owned()));
    if let Some(Value::Array(curve)) = out.get_mut("curve") {
        for left in curve.iter_mut().filter_map(|step| step["left"].as_array_mut()) {
            for feature in left {
                *feature = name(&feature[0]);
            }
        }
    }
    if let Some(within) = out.get_mut("within") {
        for feature in within["in_all"].as_array_mut().into_iter().flatten() {
            *feature = name(feature);
        }
        for (list, keys) in [("features", &["feature"][..]), ("replacements", &["feature", "by"])] {
            for entry in within[list].as_array_mut().into_iter().flatten() {
                for key in keys {
                    entry[key] = name(&entry[key]);
                }
            }
        }
    }
    if let Some(validated) = out.get_mut("validated") {
        let chosen = validated["selected_indices"].as_array().into_iter().flatten();
        validated["selected"] = chosen.map(name).collect();
        validated["error_of_best_objective"] = validated["error_of_best"].take();
        validated.as_object_mut().and_then(|entries| entries.remove("error_of_best"));
    }
    out
}

#[cfg(test)]
mod tests {
    use fewest::kernel_oracle::Criterion;
    use fewest::method::exact::ExactSettings;
    use fewest::method::kta::KtaSettings;
    use fewest::method::penalty::Penalty;
    use fewest::method::rfe::{RfeSettings, Step, Tuning};
    use fewest::validation::Folds;
    use fewest::{Gamma, Kernel, KernelRule};
    use fewest_data::Names;
    use serde_json::json;

    use super::of_method;
    use crate::AnyMethod;

    #[test]
    fn settings_stand_under_the_names_of_the_options() {
        let names = Names::Listed(vec!["a".into(), "b".into()]);
        let tuning = Tuning { costs: vec![1.0, 2.0], folds: Folds::new(vec![0, 1, 2, 0]).unwrap(), retune: 3 };
        let kernel = KernelRule::new(Kernel::Poly { gamma: 1.0, coef0: 0.5, degree: 2 }, Gamma::Scale);
        let (step, criterion) = (Step::Remaining(0.5), Criterion::Margin);
        let start = Some(vec![1]);
        let rfe = RfeSettings { kernel, step, criterion, tuning: Some(tuning), start, ..RfeSettings::default() };
        let used = Kernel::Poly { gamma: 0.25, coef0: 0.5, degree: 2 };
        let settings = of_method(&rfe.into(), &names, Some(&used), None);
        for (key, value) in [
            ("kernel", json!("poly")),
            ("gamma", json!(0.25)),
            ("gamma_rule", json!("scale")),
            ("coef0", json!(0.5)),
            ("degree", json!(2)),
            ("costs", json!([1.0, 2.0])),
            ("cv", json!(3)),
            ("retune", json!(3)),
            ("step", json!(0.5)),
            ("step_of", json!("remaining")),
            ("criterion", json!("margin")),
            ("start", json!(["b"])),
            ("loss", json!("hinge")),
        ] {
            assert_eq!(settings[key], value, "{key}");
        }
        let exact = ExactSettings { penalty: vec![1.0, 2.0].into(), ..ExactSettings::default() };
        let settings = of_method(&exact.into(), &names, None, None);
        assert_eq!((&settings["penalty"], settings.get("start")), (&json!({"a": 1.0, "b": 2.0}), None));
        let auto: AnyMethod = ExactSettings { penalty: Penalty::Auto, ..ExactSettings::default() }.into();
        for (price, shown) in [(None, json!("auto")), (Some(0.25), json!(0.25))] {
            let settings = of_method(&auto, &names, None, price);
            assert_eq!((&settings["penalty"], &settings["penalty_rule"]), (&shown, &json!("auto")));
        }
        let used = Kernel::Rbf { gamma: 0.1 };
        let settings = of_method(&KtaSettings::default().into(), &names, Some(&used), None);
        assert_eq!((&settings["gamma"], &settings["gamma_rule"]), (&json!(0.1), &json!("sigest:1")));
    }
}
