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
/// Makes the content of a column file, sorted on the disk, where the options allow it; none where
/// these data must be read whole.
type Sort =
    (fn(&ReadOptions) -> bool, fn(&mut Source, Format, &ReadOptions, &str) -> Result<Option<Sorted>, DataError>);
/// Writes a file. Notes say what the format cannot hold.
type Write = fn(&str, &Dataset, Format) -> Result<Vec<Note>, DataError>;

/// Reader, sorter and writer of a format; without a sorter it is read whole, without a writer it is only
/// read.
fn functions(format: Format) -> (Read, Option<Sort>, Option<Write>) {
    match format {
        Format::Csv | Format::Tsv => (
            |source, format, options| {
                if options.transpose {
                    transposed::read(source, format, options)
                } else {
                    csv::read(source, format, options)
                }
            },
            Some((|_| true, |source, format, options, out| csv::sorted(source, format, options, out).map(Some))),
            Some(|path, data, format| written(output::save(path, |out| csv::write(data, format, out)))),
        ),
        Format::Svmlight => (
            |source, _, options| svmlight::read(source, options),
            Some((no_codes, |source, _, options, out| svmlight::sorted(source, options, out).map(Some))),
            Some(|path, data, _| output::save(path, |out| svmlight::write(data, out)).map(|()| svmlight::losses(data))),
        ),
        Format::Arff => (
            |source, _, options| arff::read(source, options),
            Some((no_codes, |source, _, options, out| arff::sorted(source, options, out).map(Some))),
            Some(|path, data, _| written(output::save(path, |out| arff::write(data, out)))),
        ),
        Format::Parquet => (
            |source, _, options| parquet::read(source, options),
            Some((all_rows, |source, _, options, out| parquet::sorted(source, options, out).map(Some))),
            Some(|path, data, _| written(output::save(path, |out| parquet::write(data, out)))),
        ),
        Format::Npz => (
            |source, _, options| npz::read(source, options),
            Some((takes_all, |source, _, options, out| npz::sorted(source, options, out).map(Some))),
            Some(|path, data, _| written(output::save(path, |out| npz::write(data, out)))),
        ),
        Format::Csc => (
            |source, _, options| columns::read(source, options),
            None,
            Some(|path, data, _| written(columns::write_dataset(path, data))),
        ),
        Format::Gct | Format::SeriesMatrix => (transposed::read, None, None),
        Format::H5ad | Format::H5 | Format::Loom | Format::Gctx => (
            |source, _, options| h5::read(source, options),
            Some((takes_all, |source, _, options, out| h5::sorted(source, options, out).map(Some))),
            None,
        ),
        Format::Mtx => (
            |source, _, options| mtx::read(source, options),
            Some((takes_all, |source, _, options, out| mtx::sorted(source, options, out))),
            None,
        ),
        Format::Xlsx | Format::Ods | Format::Arrow => {
            (|_, _, _| unreachable!("its cells were spooled, and are read as csv"), None, None)
        }
    }
}

fn no_codes(options: &ReadOptions) -> bool {
    options.missing_codes.is_empty()
}

fn all_rows(options: &ReadOptions) -> bool {
    !options.drop_unlabelled
}

/// Whether all columns and rows of a matrix are wanted as they are.
fn takes_all(options: &ReadOptions) -> bool {
    no_codes(options) && all_rows(options) && options.drop.is_empty()
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
    match functions(format).1 {
        Some((allows, sort)) if allows(options) => sort(source, format, options, out),
        _ => Ok(None),
    }
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
