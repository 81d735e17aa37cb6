//! How features are scaled, and why.

use fewest::DenseDesign;
use fewest_data::{Features, ScaleKind, ScaleReason, Scaling};

use crate::args::data::ScaleArg;
use crate::failure::Failure;

/// The scaling asked for, or the default for the data, and why.
pub(crate) fn scaling_kind(asked: Option<ScaleArg>, features: &Features) -> (ScaleKind, ScaleReason) {
    let kind = match asked {
        Some(ScaleArg::Maxabs) => ScaleKind::MaxAbs,
        Some(ScaleArg::None) => ScaleKind::None,
        Some(ScaleArg::Standard) => ScaleKind::Standard,
        None => return ScaleKind::default_for(features),
    };
    (kind, ScaleReason::Asked)
}

/// Scales features by what was fitted on others. Centring fills sparse data in: they hold few
/// features then.
///
/// # Errors
/// Another number of features.
pub(crate) fn rescale(scaling: &Scaling, features: &mut Features) -> Result<(), Failure> {
    let design = features.as_design();
    if scaling.kind == ScaleKind::Standard && design.is_sparse() {
        let (n, p) = (design.n_samples(), design.n_features());
        let mut values = vec![0.0; n * p];
        for j in 0..p {
            design.each_in_column(j, &mut |i, x| values[j * n + i] = x);
        }
        *features = Features::Dense(DenseDesign::new(n, p, values)?);
    }
    Ok(scaling.apply(features)?)
}

/// A scaling in words, with the reason where the data decided.
pub(crate) fn scaling_text(kind: ScaleKind, reason: ScaleReason) -> String {
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
