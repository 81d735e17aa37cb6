//! What stands in for HDF5 where it is not built in (feature `hdf5`): a refusal.

use crate::formats::columns::Sorted;
use crate::io::source::Source;
use crate::{DataError, Dataset, ReadOptions};

fn refused(source: &Source) -> DataError {
    let what = "HDF5 (h5ad, 10x, loom, gctx) is not built in".to_owned();
    let remedy = "convert the file to csv, or use a build with the feature hdf5".into();
    DataError::Unsupported { file: source.name.clone(), what, remedy }
}

pub(crate) fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, DataError> {
    Err(refused(source))
}

pub(crate) fn sorted(source: &Source, _: &ReadOptions, _: &str) -> Result<Sorted, DataError> {
    Err(refused(source))
}
