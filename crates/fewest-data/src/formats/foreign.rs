//! Paths that are no plain file of one of our formats: a folder of Cell Ranger (10x), and what is
//! refused with what to do instead.

use std::borrow::Cow;
use std::path::Path;

use crate::{DataError, formats::mtx};

/// Endings of files that are not read: what they are, and what to do.
const REFUSED: [(&str, &str, &str); 5] = [
    (".zarr", ZARR.0, ZARR.1),
    (".zarr.zip", ZARR.0, ZARR.1),
    (".h5seurat", "h5Seurat files are not read", "write h5ad in R: SeuratDisk::Convert('x.h5seurat', dest = 'h5ad')"),
    (".rds", R.0, R.1),
    (".rdata", R.0, R.1),
];

const ZARR: (&str, &str) =
    ("zarr is read through Python", "write h5ad there: anndata.read_zarr(path).write_h5ad('x.h5ad')");

const R: (&str, &str) = (
    "files of R objects are not read",
    "write a table in R, with write.csv, or h5ad: anndataR::write_h5ad(object, 'x.h5ad')",
);

/// The file to open for a path: itself, or the matrix of a folder.
///
/// # Errors
/// Files of other programs; a folder without a matrix.
pub(crate) fn path_of(path: &str) -> Result<Cow<'_, str>, DataError> {
    let at = Path::new(path);
    if path == "-" || !at.exists() {
        return Ok(path.into());
    }
    let refuse = |(what, remedy): (&str, &str)| {
        Err(DataError::Unsupported { file: path.into(), what: what.into(), remedy: remedy.into() })
    };
    let lower = path.trim_end_matches('/').to_ascii_lowercase();
    if let Some((_, what, remedy)) = REFUSED.iter().find(|(ending, _, _)| lower.ends_with(ending)) {
        return refuse((what, remedy));
    }
    if !at.is_dir() {
        return Ok(path.into());
    }
    if [".zgroup", ".zattrs", "zarr.json"].iter().any(|name| at.join(name).exists()) {
        return refuse(ZARR);
    }
    mtx::in_folder(path).map(Cow::Owned)
}
