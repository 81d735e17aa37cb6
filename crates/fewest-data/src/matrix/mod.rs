//! The data set: its matrix in memory or mapped, what is learnt from its values, what may be wrong
//! with them, and splits of its rows.

pub(crate) mod dataset;
pub(crate) mod grouped;
pub(crate) mod hints;
pub(crate) mod imputation;
pub(crate) mod mapped;
pub(crate) mod normalize;
pub(crate) mod random;
pub(crate) mod repeats;
pub(crate) mod sample_weights;
pub(crate) mod scaling;
pub(crate) mod split;
pub(crate) mod summary;
pub(crate) mod sums;
