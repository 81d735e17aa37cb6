//! How values are brought to a total and features scaled, and why, in words.

use fewest_data::{Dataset, ScaleKind, ScaleReason};

/// A scaling in words, with the reason where the data decided, and what was done to the values
/// before.
pub(crate) fn scaling_text((kind, reason): (ScaleKind, ScaleReason), data: &Dataset) -> String {
    let scaled = match reason {
        ScaleReason::Asked | ScaleReason::Dense => kind.to_string(),
        ScaleReason::AskedSparse | ScaleReason::Sparse | ScaleReason::UnitRows => {
            format!("{kind} ({})", reason.text())
        }
    };
    match data.normalized() {
        None => scaled,
        Some(done) => format!("{}; {scaled}", done.how.text()),
    }
}
