//! What clap refuses, in our words: the option, the value, what it must be.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The name of the option that an error is about, without what is around it: `step` of
/// `--step <N>`.
pub(crate) fn option(error: &clap::Error) -> Option<String> {
    let text = string(error, ContextKind::InvalidArg)?;
    let name = text.strip_prefix("--")?.split([' ', '=', '[', '<']).next()?;
    Some(name.to_owned())
}

/// An error in our words where it is about a value, else in clap's.
pub(crate) fn text(error: &clap::Error) -> String {
    of_value(error).unwrap_or_else(|| {
        let text = error.render().to_string();
        text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
    })
}

fn of_value(error: &clap::Error) -> Option<String> {
    let name = option(error)?;
    let value = string(error, ContextKind::InvalidValue)?;
    match error.kind() {
        ErrorKind::ValueValidation => {
            let why = error.source()?.to_string();
            Some(match why.strip_prefix("must ") {
                Some(must) => format!("--{name} is {value}, but must {must}"),
                None if why.contains(&value) => format!("--{name}: {why}"),
                None => format!("--{name} is {value}: {why}"),
            })
        }
        ErrorKind::InvalidValue if !value.is_empty() => {
            let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) else { return None };
            Some(format!("--{name} is {value}, but must be {}", one_of(valid)))
        }
        _ => None,
    }
}

fn string(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// `a`, `a or b`, `a, b or c`
fn one_of(names: &[String]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        one => one.concat(),
    }
}
