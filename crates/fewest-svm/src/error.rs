//! What can go wrong: bad input and broken parts. Reaching a limit is a [`crate::Status`], never an
//! error.

/// An error of the library. Its text names the thing, the value found and the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data do not make a valid problem (shapes, labels, NaN, one class only).
    #[error("{0}")]
    Data(String),
    /// A setting is outside its range.
    #[error("{name} is {value}, but must be {range}")]
    Setting {
        /// Name of the setting as the user knows it, e.g. `cost`.
        name: &'static str,
        /// The value found.
        value: String,
        /// The values allowed, e.g. `a number above 0`.
        range: String,
    },
    /// The rules on features are malformed or contradict each other.
    #[error("{0}")]
    Rules(String),
    /// A solver of another project failed.
    #[error("{0}")]
    Solver(String),
    /// Columns that are kept elsewhere could not be read ([`crate::Source`]).
    #[error("{0}")]
    Source(String),
    /// More memory is needed than the caller allows.
    #[error("{what} needs {needed} bytes, but only {allowed} are allowed; {remedy}")]
    Memory {
        /// The use of the memory.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// The remedy.
        remedy: String,
    },
}

impl Error {
    /// A setting out of range; `range` completes the sentence "must be ...".
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and fresh strings")]
    pub fn setting(name: &'static str, value: impl ToString, range: impl Into<String>) -> Self {
        Error::Setting { name, value: value.to_string(), range: range.into() }
    }
}
