//! `--validate`: which samples are held out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::args::values;

/// Samples that are judged and not trained on.
#[derive(Debug, Clone)]
pub(crate) enum Validate {
    /// A fraction of each class.
    Share(f64),
    /// The samples of a file.
    File(PathBuf),
}

impl Validate {
    /// Reads the option.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wanted = "must be a fraction between 0 and 1, or a file";
        match text.parse::<f64>() {
            Ok(_) => values::share(text).map(Self::Share).map_err(|_| wanted.to_owned()),
            Err(_) if Path::new(text).exists() => Ok(Self::File(text.into())),
            Err(_) => Err(format!("{wanted}, and there is no such file")),
        }
    }

    /// As a result shows it.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Share(share) => json!(share),
            Self::File(path) => json!(path.display().to_string()),
        }
    }
}
