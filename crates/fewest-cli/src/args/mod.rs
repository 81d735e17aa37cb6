//! What options are made of: groups of options that several commands share, the notations of their
//! values, and what is refused. Nothing here knows a command or a method.

pub(crate) mod data;
pub(crate) mod features;
pub(crate) mod generate;
pub(crate) mod notation;
pub(crate) mod reading;
pub(crate) mod resolver;
pub(crate) mod rules;
pub(crate) mod svm;
pub(crate) mod usage;
pub(crate) mod values;
pub(crate) mod weights;
