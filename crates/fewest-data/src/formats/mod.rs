//! The readers and writers of all formats.

mod annotations;
mod arff;
pub(crate) mod columns;
mod compressed;
mod csv;
pub(crate) mod foreign;
#[cfg(feature = "hdf5")]
mod h5;
#[cfg(not(feature = "hdf5"))]
#[path = "without_hdf5.rs"]
mod h5;
pub(crate) mod labels;
pub(crate) mod mtx;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet;
pub(crate) mod sparse;
pub(crate) mod spool;
mod svmlight;
mod table;
mod transposed;

use columns::Sorted;

use crate::io::output;
use crate::io::source::Source;
use crate::{DataError, Dataset, Format, Note, ReadOptions};

/// Reads a file, its values as they are there.
type Read = fn(&mut Source, Format, &ReadOptions) -> Result<Dataset, DataError>;
/// Makes the content of a column file, sorted on the disk; none where the data must be read whole.
type Sort = fn(&mut Source, Format, &ReadOptions, &str) -> Result<Option<Sorted>, DataError>;
/// Writes a file. Notes say what the format cannot hold.
type Write = fn(&str, &Dataset, Format) -> Result<Vec<Note>, DataError>;

/// Reader, sorter and writer of a format; each of the last two may lack.
fn functions(format: Format) -> (Read, Sort, Option<Write>) {
    match format {
        Format::Csv | Format::Tsv => (
            |source, format, options| match options.transpose {
                false => csv::read(source, format, options),
                true => transposed::read(source, format, options),
            },
            |source, format, options, out| csv::sorted(source, format, options, out).map(Some),
            Some(|path, data, format| written(output::save(path, |out| csv::write(data, format, out)))),
        ),
        Format::Svmlight => (
            |source, _, options| svmlight::read(source, options),
            |source, _, options, out| match options.missing_codes.is_empty() {
                true => svmlight::sorted(source, options, out).map(Some),
                false => Ok(None),
            },
            Some(|path, data, _| output::save(path, |out| svmlight::write(data, out)).map(|()| svmlight::losses(data))),
        ),
        Format::Arff => (
            |source, _, options| arff::read(source, options),
            |source, _, options, out| match options.missing_codes.is_empty() {
                true => arff::sorted(source, options, out).map(Some),
                false => Ok(None),
            },
            Some(|path, data, _| written(output::save(path, |out| arff::write(data, out)))),
        ),
        Format::Parquet => (
            |source, _, options| parquet::read(source, options),
            |source, _, options, out| match options.drop_unlabelled {
                false => parquet::sorted(source, options, out).map(Some),
                true => Ok(None),
            },
            Some(|path, data, _| written(output::save(path, |out| parquet::write(data, out)))),
        ),
        Format::Npz => (
            |source, _, options| npz::read(source, options),
            |source, _, options, out| match takes_all(options) {
                true => npz::sorted(source, options, out).map(Some),
                false => Ok(None),
            },
            Some(|path, data, _| written(output::save(path, |out| npz::write(data, out)))),
        ),
        Format::Csc => (
            |source, _, options| columns::read(source, options),
            whole,
            Some(|path, data, _| written(columns::write_dataset(path, data))),
        ),
        Format::Gct | Format::SeriesMatrix => (transposed::read, whole, None),
        Format::H5ad | Format::H5 | Format::Loom | Format::Gctx => (
            |source, _, options| h5::read(source, options),
            |source, _, options, out| match takes_all(options) {
                true => h5::sorted(source, options, out).map(Some),
                false => Ok(None),
            },
            None,
        ),
        Format::Mtx => (
            |source, _, options| mtx::read(source, options),
            |source, _, options, out| match takes_all(options) {
                true => mtx::sorted(source, options, out),
                false => Ok(None),
            },
            None,
        ),
        Format::Xlsx | Format::Ods | Format::Arrow => {
            (|_, _, _| unreachable!("its cells were spooled, and are read as csv"), whole, None)
        }
    }
}

/// For formats that are read whole.
fn whole(_: &mut Source, _: Format, _: &ReadOptions, _: &str) -> Result<Option<Sorted>, DataError> {
    Ok(None)
}

/// Whether a matrix of numbers is wanted with all its columns and rows, so that it can be sorted as
/// it is read.
fn takes_all(options: &ReadOptions) -> bool {
    !options.drop_unlabelled && options.missing_codes.is_empty() && options.drop.is_empty()
}

/// No note on what was written.
fn written(result: Result<(), DataError>) -> Result<Vec<Note>, DataError> {
    result.map(|()| Vec::new())
}

/// Reads a file of this format, its values as they are there.
pub(crate) fn read(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    functions(format).0(source, format, options)
}

/// What a column file at `out` is to hold, sorted by column on the disk; none where the data must be
/// read whole.
pub(crate) fn sorted(
    source: &mut Source,
    format: Format,
    options: &ReadOptions,
    out: &str,
) -> Result<Option<Sorted>, DataError> {
    functions(format).1(source, format, options, out)
}

/// Writes a file of this format; notes on what it cannot hold.
///
/// # Errors
/// A format that is not written, a file that cannot be.
pub(crate) fn write(path: &str, data: &Dataset, format: Format) -> Result<Vec<Note>, DataError> {
    let write = functions(format).2.ok_or_else(|| DataError::not_written(path, format))?;
    write(path, data, format)
}

#[cfg(test)]
mod tests {
    use super::{Format, functions};

    #[test]
    fn a_format_is_written_where_it_has_a_writer() {
        for format in Format::ALL {
            assert_eq!(format.is_written(), functions(format).2.is_some(), "{}", format.name());
        }
    }
}
