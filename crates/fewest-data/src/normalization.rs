//! What may be done to counts as they are read, and what was done.

use serde::{Deserialize, Serialize};

use crate::DataError;

/// Normalization of the values of each sample as they are read: first the total, then the
/// logarithm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Normalization {
    /// The sum of a sample's values over all features is made this, above 0; a sample whose sum is
    /// 0 stays as it is. None: sums stay as they are.
    #[serde(rename = "normalize_total")]
    pub total: Option<f64>,
    /// x becomes ln(1 + x).
    pub log1p: bool,
    /// Columns of a table that hold numbers and are no counts: totals leave them out, besides the
    /// target and columns that are set apart or read as categories.
    #[serde(skip)]
    pub uncounted: Vec<String>,
}

/// Normalization that was done, for those who apply it to other samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Normalized {
    /// The normalization asked for; `uncounted` are all columns that the totals left out by name.
    pub how: Normalization,
    /// Features in the totals.
    pub features: usize,
    /// Samples whose total is 0.
    pub empty: usize,
    /// Some values were no whole numbers.
    pub fractions: bool,
}

/// Samples that were summed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summed {
    /// The columns that the samples of a sum agree in, besides the class.
    pub by: Vec<String>,
    /// How many samples there were.
    pub samples: usize,
    /// Samples of the smallest sum.
    pub smallest: usize,
}

impl Normalization {
    /// Whether nothing is done.
    pub fn is_none(&self) -> bool {
        self.total.is_none() && !self.log1p
    }

    /// In a few words: `total 10000, then ln(1 + x)`.
    pub fn text(&self) -> String {
        match (self.total, self.log1p) {
            (Some(total), true) => format!("total {total}, then ln(1 + x)"),
            (Some(total), false) => format!("total {total}"),
            (None, true) => "ln(1 + x)".to_owned(),
            (None, false) => "as in the file".to_owned(),
        }
    }

    /// Options of the command that ask for it.
    pub fn options(&self) -> String {
        let total = self.total.map(|total| format!("⟦normalize_total={total}⟧"));
        total.into_iter().chain(self.log1p.then(|| "⟦log1p⟧".to_owned())).collect::<Vec<_>>().join(" ")
    }

    /// Refuses an invalid total.
    pub(crate) fn check(&self, file: &str) -> Result<(), DataError> {
        match self.total {
            Some(total) if !(total > 0.0 && total.is_finite()) => Err(DataError::Unsupported {
                file: file.into(),
                what: format!("⟦normalize_total⟧ is {total}, but must be a number above 0"),
                remedy: "give one such as 10000".into(),
            }),
            _ => Ok(()),
        }
    }

    /// What a value becomes, given the total of its sample.
    pub(crate) fn value(&self, x: f64, total: f64) -> f64 {
        let x = match self.total {
            Some(wanted) if total > 0.0 => x / total * wanted,
            _ => x,
        };
        if self.log1p { libm::log1p(x) } else { x }
    }
}
