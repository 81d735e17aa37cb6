//! Settings: the name, default, range and meaning of each stand in one place, beside its field.

use serde::Serialize;
use serde_json::Value;

/// A setting of a method, as the command, Python and the pages tell it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Name of its field, and in JSON.
    pub name: &'static str,
    /// The default, as in JSON.
    pub default: Value,
    /// The values allowed, which complete the sentence "must be ..."; none where the type says it.
    pub range: Option<&'static str>,
    /// What it means.
    pub text: String,
}

/// What a struct made by [`settings!`](crate::settings) knows of its fields.
pub trait Settings: Default + Serialize {
    /// Its settings, with these defaults, which are the struct in JSON. Those of a group stand in
    /// the place of the group.
    fn described(defaults: &Value) -> Vec<Setting>;

    /// Its settings.
    fn settings() -> Vec<Setting> {
        let defaults = serde_json::to_value(Self::default()).expect("settings are numbers, lists and names");
        Self::described(&defaults)
    }
}

impl Setting {
    /// A setting of these lines of documentation.
    #[doc(hidden)]
    pub fn of(name: &'static str, default: &Value, range: Option<&'static str>, lines: &[&str]) -> Self {
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        Self { name, default: default.clone(), range, text: words.join(" ") }
    }
}

/// Settings, rules and limits that texts of the library name, in backticks.
const NAMED: &[&str] = &[
    "at_least",
    "at_most",
    "big_m",
    "budget",
    "candidates",
    "certify",
    "costs",
    "forbid",
    "gap",
    "implies",
    "max_cuts",
    "max_features",
    "memory",
    "plain",
    "require",
    "restricted_time",
    "signs",
    "subset_size",
    "together",
    "validation",
    "weight_bounds",
];

/// A text of the library in the words of who tells it: `word` of each setting, rule or limit that
/// the text names in backticks. The library itself says the names of fields: `max_features`.
pub fn in_words(text: &str, word: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let quoted = at % 2 == 1 && at + 1 < parts.len();
        if quoted && NAMED.contains(part) {
            out += &word(part);
        } else {
            let tick = if at % 2 == 1 { "`" } else { "" };
            out = out + tick + part + if quoted { tick } else { "" };
        }
    }
    out
}

/// Makes a struct of settings with its `Default` and its [`Settings`]. A field has its default
/// behind `=`, and then, behind `=>`, either the values allowed, which complete the sentence "must
/// be ...", or `[group]`, where it is a struct of settings of its own.
#[macro_export]
#[doc(hidden)]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $struct:ident {
            $(
                $(#[doc = $text:literal])+
                $(#[serde($($serde:tt)*)])?
                pub $field:ident: $type:ty = $default:expr $(=> $range:tt)?
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        pub struct $struct {
            $(
                $(#[doc = $text])+
                #[doc = ""]
                #[doc = concat!("Default `", stringify!($default), "`.")]
                $(#[serde($($serde)*)])?
                pub $field: $type,
            )*
        }

        impl Default for $struct {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::Settings for $struct {
            fn described(defaults: &$crate::SettingValue) -> Vec<$crate::Setting> {
                #[allow(unused_mut, reason = "a method may have no settings")]
                let (mut all, _) = (Vec::new(), defaults);
                $($crate::settings!(@field all, defaults, $field, $type, [$($text),+] $(=> $range)?);)*
                all
            }
        }
    };
    (@field $all:ident, $defaults:ident, $field:ident, $type:ty, [$($text:literal),+] => [group]) => {
        $all.extend(<$type as $crate::Settings>::described(&$defaults[stringify!($field)]));
    };
    (@field $all:ident, $defaults:ident, $field:ident, $type:ty, [$($text:literal),+] => $range:literal) => {
        $all.push($crate::Setting::of(stringify!($field), &$defaults[stringify!($field)], Some($range), &[$($text),+]));
    };
    (@field $all:ident, $defaults:ident, $field:ident, $type:ty, [$($text:literal),+]) => {
        $all.push($crate::Setting::of(stringify!($field), &$defaults[stringify!($field)], None, &[$($text),+]));
    };
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn names_of_settings_get_their_words_and_others_stay() {
        let option = |name: &str| format!("[{name}]");
        for (text, told) in [
            ("within `gap`", "within [gap]"),
            ("`max_features` K, `exact` or `max_cuts`", "[max_features] K, `exact` or [max_cuts]"),
            ("a lone ` and `memory", "a lone ` and `memory"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(in_words(text, option), told);
        }
    }
}
