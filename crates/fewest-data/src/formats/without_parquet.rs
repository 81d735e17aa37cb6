//! What stands in for parquet where it is not built in (feature `parquet`): a refusal.

use std::io;

use crate::formats::columns::Sorted;
use crate::io::source::Source;
use crate::{DataError, Dataset, ReadOptions, TextColumn};

const REMEDY: &str = "convert the file to csv, or use a build with the feature parquet";

fn refused(source: &Source) -> DataError {
    let what = "parquet is not built in".to_owned();
    DataError::Unsupported { file: source.name.clone(), what, remedy: REMEDY.into() }
}

pub(crate) fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, DataError> {
    Err(refused(source))
}

pub(crate) fn sorted(source: &Source, _: &ReadOptions, _: &str) -> Result<Sorted, DataError> {
    Err(refused(source))
}

pub(crate) fn text_columns(source: &Source, _: &ReadOptions) -> Result<Vec<TextColumn>, DataError> {
    Err(refused(source))
}

pub(crate) fn write(_: &Dataset, _: &mut (dyn io::Write + Send)) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("parquet is not built in; {REMEDY}")))
}
