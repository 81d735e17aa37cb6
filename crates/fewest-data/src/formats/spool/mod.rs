//! Formats that are read by way of text: their cells go to a temporary file of comma-separated
//! values without a name, which is read as any other. Lines of it are rows of the sheet or table.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_layout;
#[cfg(feature = "workbook")]
mod ods;
#[cfg(any(feature = "arrow", feature = "workbook"))]
mod writer;
#[cfg(feature = "workbook")]
mod xlsx;

use std::fs::File;

use crate::io::source::Source;
use crate::{DataError, Delimiter, Format, ReadOptions};

/// The cells of a workbook or an Arrow file as text, and the options to read it with; none for other
/// formats.
///
/// # Errors
/// A damaged file, a sheet that is not there, a format that is not built in, a full disk.
pub(crate) fn text_of(
    source: &Source,
    format: Format,
    options: &ReadOptions,
) -> Result<Option<(Source, ReadOptions)>, DataError> {
    let text = match format {
        #[cfg(feature = "workbook")]
        Format::Xlsx => xlsx::text(source, options)?,
        #[cfg(feature = "workbook")]
        Format::Ods => ods::text(source, options)?,
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::text(source, options)?,
        #[cfg(not(feature = "workbook"))]
        Format::Xlsx | Format::Ods => not_built_in(source, format)?,
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => not_built_in(source, format)?,
        _ => return Ok(None),
    };
    let options = ReadOptions { delimiter: Some(Delimiter::Sign(b',')), layer: None, ..options.clone() };
    Ok(Some((Source::of_text(text.name, text.file, options.memory()), options)))
}

/// The error of a format that this build does not read.
#[cfg(not(all(feature = "arrow", feature = "workbook")))]
fn not_built_in(source: &Source, format: Format) -> Result<Text, DataError> {
    Err(DataError::Unsupported {
        file: source.name.clone(),
        what: format!("{} is not built in", format.name()),
        remedy: "save the file as csv, or use a build with the features workbook and arrow".into(),
    })
}

/// Cells as text, and the name of where they are from.
struct Text {
    name: String,
    file: File,
}

/// The sheet asked for, else the first, and the name of the file with it where there are others.
///
/// # Errors
/// A name that is not there.
#[cfg(feature = "workbook")]
fn sheet<'n>(file: &str, names: &'n [String], options: &ReadOptions) -> Result<(&'n String, String), DataError> {
    let found = match &options.layer {
        None => names.first(),
        Some(asked) => names.iter().find(|name| *name == asked),
    };
    let found = found.ok_or_else(|| DataError::Unsupported {
        file: file.into(),
        what: format!("there is no sheet {}", options.layer.clone().unwrap_or_default()),
        remedy: format!("name one with ⟦layer⟧: {}", names.join(", ")),
    })?;
    let others = options.layer.is_none() && names.len() > 1;
    let name = if others { format!("{file} (the first sheet, {found}, of {})", names.len()) } else { file.to_owned() };
    Ok((found, name))
}

/// Refuses an archive whose parts are larger than the memory allows when they are unpacked. Returns
/// their bytes.
#[cfg(feature = "workbook")]
fn check_archive(source: &Source, input: &File, memory: u64) -> Result<u64, DataError> {
    let file = &source.name;
    let damaged = |what: String| DataError::Damaged { file: file.clone(), what };
    let mut zip = zip::ZipArchive::new(std::io::BufReader::new(input)).map_err(|error| damaged(error.to_string()))?;
    let mut bytes = 0u64;
    for at in 0..zip.len() {
        let entry = zip.by_index_raw(at).map_err(|error| damaged(error.to_string()))?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        // Deflate packs at most 1032 bytes into one; a size beyond that is a lie.
        if size > packed.saturating_mul(1040).saturating_add(64) {
            return Err(damaged(format!("part {} says that it holds {size} bytes", at + 1)));
        }
        bytes = bytes.saturating_add(size);
    }
    crate::io::memory::check_memory(file, "the unpacked workbook", bytes.saturating_mul(2), memory)?;
    Ok(bytes)
}
