//! Writing results: files whole or not at all, JSON, tables, and the model files of LIBLINEAR and
//! LIBSVM.

pub(crate) mod chart;
pub(crate) mod file;
pub(crate) mod json;
pub(crate) mod liblinear;
pub(crate) mod libsvm;
pub(crate) mod result;
pub(crate) mod settings;
pub(crate) mod table;
