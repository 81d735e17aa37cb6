//! Data for `fewest`: readers and writers, the target column, scaling, what is wrong with a file,
//! synthetic data.
//!
//! [`read`] takes a file in any [`Format`] to a [`Dataset`]; [`fn@write`] does the reverse. Nothing
//! is printed: what the user should know is in [`Dataset::notes`], what is wrong is a [`DataError`]
//! whose text names place, finding and remedy.

mod compression;
mod error;
mod format;
mod formats;
pub mod generate;
mod io;
mod matrix;
mod meaning;
mod mend;
mod names;
mod normalization;
mod note;
mod number;
mod reading;
mod scale_kind;
mod words;

pub use compression::Compression;
pub use error::{DataError, ErrorKind, IndexFault, LackingColumns, OtherStyle, Place, Position, bytes_text};
pub use format::Format;
pub use formats::columns::{ColumnOutline, ColumnPart, EntrySums, column_outline, column_part};
pub use formats::mtx::files_of;
pub use io::output::Draft;
pub use matrix::dataset::{Dataset, Features, TextColumn};
pub use matrix::grouped::{DealError, grouped_folds, grouped_halves};
pub use matrix::hints::hints;
pub use matrix::imputation::{Imputation, Indicator, MissingRule, missing_counts};
pub use matrix::mapped::MappedDesign;
pub use matrix::repeats::repeats;
pub use matrix::sample_weights::SampleWeights;
pub use matrix::scaling::{ScaleReason, Scaling, low_variance, variances};
pub use matrix::split::{sampled, stratified, stratified_folds, stratified_halves};
pub use matrix::summary::{Duplicate, Summary, summary};
pub use meaning::pattern::matching;
pub use meaning::target::{Target, class_position, key_of_class};
pub use names::{Finder, Names};
pub use normalization::{Normalization, Normalized, Summed};
pub use note::{Note, TargetRule};
pub use reading::{Delimiter, Labels, ReadOptions, comment_of, decimal_of, delimiter_of, format_of, thousands_of};
pub use scale_kind::{Interval, ScaleKind};
pub use words::{Remedy, Takes, Told, in_words};

use formats::columns::Sorted;
use formats::{foreign, labels, spool};
use io::memory;
use io::source::{self, Source};
use meaning::{cells, header};

/// Reads a data set from a file, or from standard input when `path` is `-`.
///
/// The format follows [`ReadOptions::format`], else the ending of the name, else (standard input)
/// the first bytes; compression follows the first bytes. All values are finite, or missing where
/// [`ReadOptions::missing`] says so, and names distinct in what is returned.
///
/// # Errors
/// Every [`DataError`] about input; the text names the place and the remedy.
pub fn read(path: &str, options: &ReadOptions) -> Result<Dataset, DataError> {
    let (mut source, format, guessed) = source::open(&foreign::path_of(path)?, options)?;
    check_options(&source.name, format, options)?;
    match read_source(&mut source, format, guessed, options) {
        Err(DataError::UnknownColumn { name, .. })
            if options.samples_optional && options.samples.as_ref() == Some(&name) =>
        {
            let options = ReadOptions { samples: None, ..options.clone() };
            read_source(&mut source, format, guessed, &options)
        }
        Err(DataError::UnknownColumn { file, name, available, .. }) if options.sum_by.contains(&name) => {
            Err(DataError::UnknownColumn { file, name, role: "column of ⟦sum_by⟧", available })
        }
        Err(DataError::NotFinite { place, cell, count, columns: None }) => {
            let data = read_source(&mut source, format, guessed, &ReadOptions { missing: true, ..options.clone() });
            Err(DataError::NotFinite {
                place,
                cell,
                count,
                columns: data.ok().map(|data| Box::new(data.lacking_columns())),
            })
        }
        read => read,
    }
}

/// The text of a small file that the user wrote, such as a list of names: UTF-8, UTF-16 or
/// Windows-1252, as that of data files.
///
/// # Errors
/// A file that cannot be read, is larger than the memory allows, or is no text.
pub fn read_text(path: &str) -> Result<String, DataError> {
    use std::io::Read as _;
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let memory = options.memory();
    let source = match source::open(path, &options) {
        Err(DataError::Empty { .. }) => return Ok(String::new()),
        source => source?.0,
    };
    let mut text = String::new();
    let read = source.reader()?.take(memory.saturating_add(1)).read_to_string(&mut text);
    read.map_err(|error| source.read_error(error))?;
    memory::check_memory(path, "the text", text.len() as u64, memory)?;
    Ok(text)
}

/// Refuses options that have no meaning for the format, or none at all.
fn check_options(file: &str, format: Format, options: &ReadOptions) -> Result<(), DataError> {
    options.normalize.check(file)?;
    let sheet = format.is_spooled();
    let csv = matches!(format, Format::Csv | Format::Tsv) || sheet;
    let asked = [
        ("header", options.header && !csv, "for csv and tsv"),
        ("no_header", options.no_header && !csv, "for csv and tsv"),
        ("zero_based", options.zero_based && format != Format::Svmlight, "for svmlight"),
        ("transpose", options.transpose && !csv, "for csv and tsv"),
        ("delimiter", options.delimiter.is_some() && (!csv || sheet), "for csv and tsv"),
        ("comment", options.comment.is_some() && !csv, "for csv and tsv"),
        ("decimal", options.decimal.is_some() && !format.is_table(), "for text"),
        ("thousands", options.thousands.is_some() && !format.is_table(), "for text"),
        ("layer", options.layer.is_some() && !format.has_layers(), "for h5ad, loom and 10x"),
    ];
    let decimal = options.decimal.unwrap_or('.');
    match asked.into_iter().find(|asked| asked.1) {
        None if options.thousands == Some(decimal) => Err(DataError::Unsupported {
            file: file.into(),
            what: format!("⟦thousands⟧ is {decimal}, but that is the decimal sign"),
            remedy: "name another ⟦decimal⟧, too".into(),
        }),
        None => Ok(()),
        Some((option, _, which)) => Err(DataError::Unsupported {
            file: file.into(),
            what: format!("⟦{option}⟧ has a meaning {which}, but the format is {}", format.name()),
            remedy: "leave it out".into(),
        }),
    }
}

fn read_source(source: &mut Source, format: Format, guessed: bool, wanted: &ReadOptions) -> Result<Dataset, DataError> {
    let summed = wanted.before_sums(format);
    let options = summed.as_ref().unwrap_or(wanted);
    let mut data = match &options.labels {
        Some(labels) => labels::joined(labels, options, |options| read_format(source, format, options))?,
        None => read_format(source, format, options)?,
    };
    if guessed {
        data.notes.push(Note::Guessed { format: data.format.name() });
    }
    data.notes.extend(source.note());
    if !options.classes.is_empty() {
        data.keep_classes(&options.classes, options.target_optional)?;
        if let (Some(target), false) = (&data.target, options.target_optional) {
            target.check(&data.source)?;
        }
    }
    if summed.is_some() {
        data.sum_up(wanted, options)?;
    }
    if let Some(features) = &wanted.features {
        data.align(features)?;
    }
    if !options.target_optional {
        data.make_positive(options.positive.as_deref())?;
        data.note_constant();
    }
    data.note_missing();
    Ok(data)
}

/// Reads the file itself.
fn read_format(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    if let Some((mut text, options)) = spool::text_of(source, format, options)? {
        let data = read_format(&mut text, Format::Csv, &options)?;
        return Ok(Dataset { format, ..data });
    }
    // Readers of tables do it themselves, as they know which columns hold categories.
    if options.normalize.is_none() || format.is_table() && !options.transpose {
        return read_values(source, format, options);
    }
    let drop = if format == Format::Svmlight { options.drop.clone() } else { Vec::new() };
    let whole = ReadOptions { drop, only: Vec::new(), ..options.clone() };
    let mut data = read_values(source, format, &whole)?;
    data.normalize(options, |_| true)?;
    data.drop_columns(&options.drop)?;
    data.only_columns(&options.only)?;
    Ok(data)
}

/// Reads the file itself, its values as they are there.
fn read_values(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut data = formats::read(source, format, options)?;
    if data.samples.is_none() && options.samples.is_some() {
        // A column that is set apart, too.
        data.samples = data.apart.iter().find(|column| Some(&column.name) == options.samples.as_ref()).cloned();
    }
    if !format.is_table() {
        data.only_columns(&options.only)?;
    }
    let cells = cells::Cells::new(options);
    // Codes for missing values are found as cells of text are read, else among the numbers.
    let by_cell = format.is_table() || matches!(format, Format::Gct | Format::SeriesMatrix);
    let matrix = !by_cell || matches!(data.features, Features::Sparse(_));
    if cells.has_codes() && matrix {
        data.decode_missing(&cells, options.missing)?;
    }
    Ok(data)
}

/// Result of [`to_columns`].
#[derive(Debug)]
pub struct Conversion {
    /// Samples.
    pub n_samples: usize,
    /// Features.
    pub n_features: usize,
    /// Things to tell the user.
    pub notes: Vec<Note>,
}

/// Makes a column file ([`Format::Csc`]) of a data file, which may be larger than
/// [`ReadOptions::memory_limit`]: its values are sorted by column on the disk, where they are more
/// than the memory holds (16 bytes a value, beside the output, until that is written). A wish for
/// certain features, columns apart or missing values, and another column file, are read whole.
///
/// # Errors
/// As [`fn@read`] and [`fn@write`].
pub fn to_columns(path: &str, options: &ReadOptions, out: &str) -> Result<Conversion, DataError> {
    let (mut source, format, guessed) = source::open(&foreign::path_of(path)?, options)?;
    check_options(&source.name, format, options)?;
    let sorted = sorted(&mut source, format, options, out)?;
    if let Some(mut sorted) = sorted {
        sorted.notes.extend(guessed.then_some(Note::Guessed { format: format.name() }));
        sorted.notes.extend(source.note());
        check_names(out, &sorted.names, sorted.target.as_ref())?;
        let (n_samples, n_features) = sorted.size();
        return Ok(Conversion { n_samples, n_features, notes: sorted.write()? });
    }
    let mut data = read_source(&mut source, format, guessed, options)?;
    let mut notes = std::mem::take(&mut data.notes);
    notes.extend(write_as(out, &data, Format::Csc)?);
    Ok(Conversion { n_samples: data.features.n_samples(), n_features: data.features.n_features(), notes })
}

/// What a column file at `out` is to hold, sorted by column on the way; none where the data must be
/// read whole.
fn sorted(source: &mut Source, format: Format, options: &ReadOptions, out: &str) -> Result<Option<Sorted>, DataError> {
    if !options.normalize.is_none() && (format.is_text() || format.is_table()) && format != Format::Mtx {
        return Ok(None);
    }
    let apart = !options.apart.is_empty() || !options.sum_by.is_empty();
    let others = options.features.is_some() || options.labels.is_some() || apart;
    let rows = options.missing || options.transpose || !options.classes.is_empty() || options.positive.is_some();
    if others || rows || !format.is_table() && !options.only.is_empty() {
        return Ok(None);
    }
    if let Some((mut text, options)) = spool::text_of(source, format, options)? {
        return sorted(&mut text, Format::Csv, &options, out);
    }
    formats::sorted(source, format, options, out)
}

/// Writes a data set in the format of the ending (`-` needs [`write_as`]).
///
/// The file appears complete or not at all: it is written beside its place and renamed. Values read
/// back exactly. Returns notes on what the format cannot hold.
///
/// # Errors
/// [`DataError::UnknownFormat`], [`DataError::Output`], [`DataError::DuplicateName`].
pub fn write(path: &str, data: &Dataset) -> Result<Vec<Note>, DataError> {
    let format = Format::of_path(path).ok_or_else(|| DataError::UnknownFormat { file: path.into() })?;
    write_as(path, data, format)
}

/// Writes a data set in a given format; `-` is standard output.
///
/// # Errors
/// As [`fn@write`].
pub fn write_as(path: &str, data: &Dataset, format: Format) -> Result<Vec<Note>, DataError> {
    check_names(path, &data.names, data.target.as_ref())?;
    formats::write(path, data, format)
}

/// Refuses names that would not read back as different columns; numbered names differ by
/// themselves.
fn check_names(path: &str, names: &Names, target: Option<&Target>) -> Result<(), DataError> {
    let target = target.map(|t| t.column.as_str());
    match names {
        Names::Listed(names) => header::check_distinct(path, names.iter().map(String::as_str).chain(target)),
        numbered @ Names::Numbered(_) => match target.and_then(|name| Some((name, numbered.position(name)?))) {
            None => Ok(()),
            Some((name, at)) => Err(DataError::DuplicateName {
                file: path.into(),
                name: name.into(),
                first: at + 1,
                second: numbered.len() + 1,
            }),
        },
    }
}
