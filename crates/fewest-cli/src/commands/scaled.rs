//! How features are scaled, and why, in words.

use fewest_data::{ScaleKind, ScaleReason};

/// A scaling in words, with the reason where the data decided.
pub(crate) fn scaling_text((kind, reason): (ScaleKind, ScaleReason)) -> String {
    match reason {
        ScaleReason::Asked | ScaleReason::Dense => scale_name(kind).to_owned(),
        ScaleReason::Sparse | ScaleReason::UnitRows => format!("{} ({})", scale_name(kind), reason.text()),
    }
}

/// The name of a scaling in options and results.
pub(crate) fn scale_name(kind: ScaleKind) -> &'static str {
    match kind {
        ScaleKind::Standard => "standard",
        ScaleKind::MaxAbs => "maxabs",
        ScaleKind::None => "none",
    }
}
