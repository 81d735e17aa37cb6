//! How values are brought to a total and features scaled, and why, in words and in results.

use fewest_data::{Dataset, ScaleKind, ScaleReason, Scaling};

use fewest_result::FeatureScaling;

/// A scaling in words, with the reason where the data decided, and what was done to the values
/// before.
pub(crate) fn scaling_text((kind, reason): (ScaleKind, ScaleReason), data: &Dataset) -> String {
    let scaled = match reason {
        ScaleReason::Asked | ScaleReason::Dense => scale_name(kind).to_owned(),
        ScaleReason::AskedSparse | ScaleReason::Sparse | ScaleReason::UnitRows => {
            format!("{} ({})", scale_name(kind), reason.text())
        }
    };
    match data.normalized() {
        None => scaled,
        Some(done) => format!("{}; {scaled}", done.how.text()),
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

/// The scaling of some of the features that it was fitted on, in their order.
pub(crate) fn feature_scaling(scaling: &Scaling, features: &[usize]) -> FeatureScaling {
    let each = |list: &[f64], none: f64| features.iter().map(|&j| list.get(j).copied().unwrap_or(none)).collect();
    let kind = scale_name(scaling.kind).to_owned();
    FeatureScaling { kind, centre: each(&scaling.center, 0.0), scale: each(&scaling.scale, 1.0) }
}
