//! Settings: the name, default, range and meaning of each stand in one place, beside its field; and
//! how texts name them.

/// Facts of a field of a struct of settings, beside its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The field's name, in JSON as well.
    pub name: &'static str,
    /// The values allowed, which complete the sentence "must be ..."; none where the type says it.
    pub range: Option<&'static str>,
    /// The meaning, line by line.
    pub lines: &'static [&'static str],
    /// The field's own fields, where it is a struct of settings.
    pub group: &'static [Field],
}

/// A struct of settings, made by [`settings!`](crate::settings).
pub trait Settings: Default {
    /// The fields of the settings.
    const FIELDS: &'static [Field];
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
    "expression",
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
            const FIELDS: &'static [$crate::Field] =
                &[$($crate::settings!(@field $field, $type, [$($text),+] $(=> $range)?)),*];
        }
    };
    (@field $field:ident, $type:ty, [$($text:literal),+] => [group]) => {
        $crate::Field {
            name: stringify!($field),
            range: None,
            lines: &[$($text),+],
            group: <$type as $crate::Settings>::FIELDS,
        }
    };
    (@field $field:ident, $type:ty, [$($text:literal),+] => $range:literal) => {
        $crate::Field { name: stringify!($field), range: Some($range), lines: &[$($text),+], group: &[] }
    };
    (@field $field:ident, $type:ty, [$($text:literal),+]) => {
        $crate::Field { name: stringify!($field), range: None, lines: &[$($text),+], group: &[] }
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
