//! The commands, one file each.

pub(crate) mod auto_cost;
pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod describe;
pub(crate) mod evaluate;
pub(crate) mod fit;
pub(crate) mod generate;
pub(crate) mod in_force;
pub(crate) mod invocation;
pub(crate) mod methods;
mod near;
mod part;
pub(crate) mod path;
pub(crate) mod predict;
pub(crate) mod prepare;
pub(crate) mod raw;
pub(crate) mod reading;
pub(crate) mod report;
pub(crate) mod scaled;
pub(crate) mod select;
pub(crate) mod selection;
pub(crate) mod share;
pub(crate) mod stability;
pub(crate) mod study;
pub(crate) mod verify;
