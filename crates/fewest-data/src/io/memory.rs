//! The memory that a reader may take.

use crate::DataError;

/// An error when more than `allowed` bytes are needed.
pub(crate) fn check_memory(file: &str, what: &str, needed: u64, allowed: u64) -> Result<(), DataError> {
    let remedy = "raise ⟦memory⟧, drop columns, or use a sparse format such as svmlight";
    check_memory_with(file, what, needed, allowed, remedy)
}

/// As [`check_memory`], with a remedy of its own.
pub(crate) fn check_memory_with(
    file: &str,
    what: &str,
    needed: u64,
    allowed: u64,
    remedy: &'static str,
) -> Result<(), DataError> {
    if needed <= allowed {
        return Ok(());
    }
    Err(DataError::Memory { file: file.into(), what: what.into(), needed, allowed, remedy })
}
