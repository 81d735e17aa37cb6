//! How the cells of the training data were understood, as a model has it under `reading`: other files
//! are read so, too, where nothing else is typed.

use std::path::Path;

use fewest_data::{Format, ReadOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fields::wrong;

/// What changes the meaning of a cell or the name of a feature.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reading {
    /// `--missing-codes`.
    missing_codes: Vec<String>,
    /// `--decimal`.
    decimal: Option<char>,
    /// `--thousands`.
    thousands: Option<char>,
    /// `--zero-based`.
    zero_based: bool,
    /// `--layer`.
    layer: Option<String>,
    /// `--id`; a file without that column is read, too.
    id: Option<String>,
}

impl Reading {
    /// Reading of the training data.
    pub(crate) fn of(options: &ReadOptions) -> Self {
        Self {
            missing_codes: options.missing_codes.clone(),
            decimal: options.decimal,
            thousands: options.thousands,
            zero_based: options.zero_based,
            layer: options.layer.clone(),
            id: options.samples.clone(),
        }
    }

    /// The entry of a model; none where all is as by default.
    pub(super) fn value(&self) -> Option<Value> {
        (*self != Self::default()).then(|| json!(self))
    }

    /// Reading of a model; files of earlier versions have none.
    ///
    /// # Errors
    /// Values of another kind.
    pub(super) fn read(model: &Value) -> Result<Self, String> {
        match model.get("reading") {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(value) => serde_json::from_value(value.clone()).map_err(|_| {
                wrong("reading", "an object with missing_codes, decimal, thousands, zero_based, layer and id")
            }),
        }
    }

    /// Reads the file of this path so, but for what is typed.
    pub(crate) fn apply(&self, options: &mut ReadOptions, path: &Path) {
        let named = || path.to_str().and_then(Format::of_path);
        let folder = || path.is_dir().then_some(Format::Mtx);
        let has = |what: fn(Format) -> bool| options.format.or_else(named).or_else(folder).is_none_or(what);
        let (table, sparse, layers) =
            (has(Format::is_table), has(|format| format == Format::Svmlight), has(Format::has_layers));
        if options.missing_codes.is_empty() {
            options.missing_codes.clone_from(&self.missing_codes);
        }
        if table && options.decimal.is_none() && options.thousands.is_none() {
            (options.decimal, options.thousands) = (self.decimal, self.thousands);
        }
        options.zero_based |= sparse && self.zero_based;
        if layers && options.layer.is_none() {
            options.layer.clone_from(&self.layer);
        }
        if options.samples.is_none() {
            options.samples.clone_from(&self.id);
            options.samples_optional = true;
        }
    }
}
