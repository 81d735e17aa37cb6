//! What cells and columns mean, whatever the format: numbers, dates, missing values, classes,
//! categories.

pub(crate) mod binary;
pub(crate) mod cells;
pub(crate) mod dates;
pub(crate) mod dummies;
pub(crate) mod first_line;
pub(crate) mod header;
pub(crate) mod pattern;
pub(crate) mod problems;
pub(crate) mod target;
