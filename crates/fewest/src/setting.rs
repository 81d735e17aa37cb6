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
            fn described(defaults: &serde_json::Value) -> Vec<$crate::Setting> {
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
