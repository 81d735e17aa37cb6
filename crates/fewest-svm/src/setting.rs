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

    /// Checks the fields whose range is a value, such as `[at least 2]`.
    ///
    /// # Errors
    /// The first setting out of its range.
    fn in_range(&self) -> Result<(), crate::Error>;
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
/// behind `=`, and then, behind `=>`, one of three: the values allowed, which complete the sentence
/// "must be ..."; a range that [`Settings::in_range`] checks (`[at least 2]`, `[above 0]`,
/// `[between 0 and 1]`, `[0 or more below 1]`); or `[group]`, where it is a struct of settings of its
/// own.
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

            fn in_range(&self) -> Result<(), $crate::Error> {
                $($($crate::settings!(@check self, $field, $range);)?)*
                Ok(())
            }
        }
    };
    (@check $self:ident, $field:ident, [at least $least:literal]) => {
        $crate::settings!(@refuse $self, $field, [at least $least], $self.$field < $least);
    };
    (@check $self:ident, $field:ident, [above 0]) => {
        $crate::settings!(@refuse $self, $field, [above 0], !($self.$field > 0.0 && $self.$field.is_finite()));
    };
    (@check $self:ident, $field:ident, [between 0 and 1]) => {
        $crate::settings!(@refuse $self, $field, [between 0 and 1], !($self.$field > 0.0 && $self.$field < 1.0));
    };
    (@check $self:ident, $field:ident, [0 or more below 1]) => {
        $crate::settings!(@refuse $self, $field, [0 or more below 1], !(0.0..1.0).contains(&$self.$field));
    };
    (@check $self:ident, $field:ident, $range:tt) => {};
    (@refuse $self:ident, $field:ident, $range:tt, $wrong:expr) => {
        if $wrong {
            return Err($crate::Error::setting(stringify!($field), $self.$field, $crate::settings!(@text $range)));
        }
    };
    (@text [at least $least:literal]) => { concat!("at least ", $least) };
    (@text [above 0]) => { "a finite number above 0" };
    (@text [between 0 and 1]) => { "between 0 and 1" };
    (@text [0 or more below 1]) => { "0 or more, below 1" };
    (@text $range:literal) => { $range };
    (@field $field:ident, $type:ty, [$($text:literal),+] => [group]) => {
        $crate::Field {
            name: stringify!($field),
            range: None,
            lines: &[$($text),+],
            group: <$type as $crate::Settings>::FIELDS,
        }
    };
    (@field $field:ident, $type:ty, [$($text:literal),+] => $range:tt) => {
        $crate::Field {
            name: stringify!($field),
            range: Some($crate::settings!(@text $range)),
            lines: &[$($text),+],
            group: &[],
        }
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
