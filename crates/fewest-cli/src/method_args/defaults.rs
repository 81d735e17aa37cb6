//! The settings of a method beside its options: `fewest methods --json` lists them, and a test
//! holds what nothing typed means, and what help says of it, to the library.

use serde_json::{Value, json};

use super::Entry;
use crate::AnyMethod;

/// Settings whose option has another name.
const OPTIONS: &[(&str, &str)] = &[("folds", "cv")];

/// Each setting of a method: name, option, default, range, what it means.
pub(crate) fn settings(entry: &Entry) -> Vec<Value> {
    let all = AnyMethod::settings().into_iter().find(|of| of.0 == entry.name).expect("the library has every method").1;
    let told = |setting: &fewest::Setting| {
        let mut value = json!(setting);
        value["option"] = json!(option(entry, setting.name));
        value
    };
    all.iter().map(told).collect()
}

/// Id of the option of a setting, if it has one.
fn option(entry: &Entry, setting: &str) -> Option<String> {
    let named = OPTIONS.iter().find(|named| named.0 == setting).map_or(setting, |named| named.1);
    entry.has(named).then(|| named.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Arg;
    use fewest_data::{Names, Target};
    use fewest_eval::ClassWeights;
    use serde_json::{Map, Value};

    use super::super::{Entry, MethodData, methods};
    use super::option;
    use crate::AnyMethod;

    /// Settings that are made from the data or from the machine.
    const MADE: &[&str] = &["folds", "memory"];

    /// The method of nothing typed.
    fn untyped(entry: &Entry) -> AnyMethod {
        let target = Target {
            column: "y".into(),
            classes: vec!["a".into(), "b".into()],
            codes: (0..20).map(|i| i % 2).collect(),
        };
        let data = MethodData {
            source: "data",
            names: &Names::Listed(vec!["a".into(), "b".into()]),
            target: &target,
            class_weights: &ClassWeights::None,
            sample_weights: &[1.0; 20],
            folds: None,
            groups: None,
            held_out: None,
            categorical: &[],
            kernel_memory: None,
            memory: 1 << 33,
        };
        let matches = entry.command().try_get_matches_from(Vec::<&str>::new()).unwrap();
        (entry.read)(&matches).unwrap().method(&data).unwrap()
    }

    /// Settings without their groups.
    fn flat(settings: &Value, out: &mut Map<String, Value>) {
        for (name, value) in settings.as_object().into_iter().flatten() {
            match name.as_str() {
                "svm" | "program" => flat(value, out),
                _ => _ = out.insert(name.clone(), value.clone()),
            }
        }
    }

    /// The default that help names for a method: of `[default: free; fgm none]` one of both.
    fn told(arg: &Arg, method: &str) -> Option<String> {
        if let [value] = arg.get_default_values() {
            return Some(value.to_string_lossy().into_owned());
        }
        let help = arg.get_help()?.to_string();
        let text = help.split_once("[default: ")?.1.split_once(']')?.0.to_owned();
        let own = text.split("; ").find_map(|part| part.strip_prefix(method)?.strip_prefix(' ').map(str::to_owned));
        // Of `1, with --within 1000` and `weights for a linear kernel` the first words.
        let first = || text.split([';', ',']).next()?.split(" for ").next();
        let whole = || text.contains(',').then(|| text.clone()).filter(|text| text.starts_with(char::is_numeric));
        own.or_else(|| whole().filter(|text| !text.contains("with"))).or_else(|| first().map(str::to_owned))
    }

    /// Whether a default as help has it is this one.
    fn same(text: &str, default: &Value) -> bool {
        if text.starts_with("--") {
            return true;
        }
        let number = |text: &str| text.parse::<f64>().ok();
        match default {
            Value::Number(value) => number(text) == value.as_f64(),
            Value::String(value) => text == value,
            Value::Array(values) if !values.is_empty() => {
                let numbers: Vec<_> = text.split(',').map(number).collect();
                numbers == values.iter().map(Value::as_f64).collect::<Vec<_>>()
            }
            // `count` of a step, `number` of gamma.
            Value::Object(one) if one.len() == 1 => one.values().all(|value| same(text, value)),
            Value::Object(kernel) if kernel.contains_key("kind") => same(text, &kernel["kind"]),
            _ => true,
        }
    }

    #[test]
    fn nothing_typed_means_the_defaults_of_the_library() {
        let library = AnyMethod::settings();
        for (entry, (name, settings)) in methods().zip(library) {
            assert_eq!(entry.name, name);
            let mut asked = Map::new();
            flat(&serde_json::to_value(untyped(entry)).unwrap(), &mut asked);
            for setting in settings.iter().filter(|setting| !MADE.contains(&setting.name) && setting.name != "gap") {
                let asked = asked.get(setting.name).unwrap_or(&Value::Null);
                assert_eq!(asked, &setting.default, "{} of {name}", setting.name);
            }
        }
    }

    #[test]
    fn help_names_the_defaults_of_the_library() {
        let mut compared = 0;
        for (entry, (name, settings)) in methods().zip(AnyMethod::settings()) {
            for setting in settings.iter().filter(|setting| !MADE.contains(&setting.name)) {
                let Some(id) = option(entry, setting.name) else { continue };
                let arg = entry.arguments().into_iter().find(|arg| arg.get_id() == id.as_str()).unwrap();
                let Some(text) = told(&arg, name) else { continue };
                assert!(
                    same(&text, &setting.default),
                    "{} of {name} is {}, but help says {text}",
                    setting.name,
                    setting.default
                );
                compared += 1;
            }
        }
        assert!(compared > 100, "only {compared} were compared");
    }

    #[test]
    fn every_setting_has_a_sentence() {
        for (name, settings) in AnyMethod::settings() {
            for setting in settings {
                assert!(setting.text.ends_with('.') && setting.text.len() > 4, "{} of {name}", setting.name);
            }
        }
    }
}
