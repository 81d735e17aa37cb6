//! Formats that are read by way of text: their cells go to a temporary file of comma-separated
//! values without a name, which is read as any other. Lines of it are rows of the sheet or table.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_layout;
#[cfg(feature = "workbook")]
mod ods;
#[cfg(feature = "workbook")]
mod xlsx;

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::source::Source;
use crate::{DataError, Delimiter, Format, ReadOptions};

/// Bytes of text for each byte of a file (when uncompressed): what lies between cells that are far
/// apart is blank, and takes as many commas.
const MOST_TEXT: u64 = 64;

/// Bytes of text that any file may take.
const ANY_TEXT: u64 = 64 << 20;

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
        #[cfg(not(all(feature = "arrow", feature = "workbook")))]
        Format::Xlsx | Format::Ods | Format::Arrow => {
            return Err(DataError::Unsupported {
                file: source.name.clone(),
                what: format!("{} is not built in", format.name()),
                remedy: "save the file as csv, or use a build with the features workbook and arrow".into(),
            });
        }
        _ => return Ok(None),
    };
    let options = ReadOptions { delimiter: Some(Delimiter::Sign(b',')), layer: None, ..options.clone() };
    Ok(Some((Source::of_text(text.name, text.file, options.memory()), options)))
}

/// Cells as text, and the name of where they are from.
struct Text {
    name: String,
    file: File,
}

/// Writes rows of cells as text.
struct TextWriter<'a> {
    file: &'a str,
    out: BufWriter<File>,
    written: u64,
    most: u64,
    /// Cells of the row so far.
    cells: usize,
}

impl<'a> TextWriter<'a> {
    /// For a file of so many (uncompressed) bytes.
    fn new(file: &'a str, bytes: u64) -> Result<Self, DataError> {
        let out = tempfile::tempfile().map_err(|error| failed(file, error))?;
        let most = bytes.saturating_mul(MOST_TEXT).max(ANY_TEXT);
        Ok(Self { file, out: BufWriter::with_capacity(1 << 16, out), written: 0, most, cells: 0 })
    }

    /// A cell of text; quoted, as it may hold anything.
    fn text(&mut self, text: &str) -> Result<(), DataError> {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        self.plain(if text.is_empty() { "" } else { &quoted })
    }

    /// A cell that holds no comma, quote or line end.
    fn plain(&mut self, text: &str) -> Result<(), DataError> {
        if self.cells > 0 {
            self.put(b",")?;
        }
        self.cells += 1;
        self.put(text.as_bytes())
    }

    /// A number.
    fn number(&mut self, value: f64) -> Result<(), DataError> {
        self.plain(&crate::number::text(value))
    }

    /// Blank cells up to column `column`, and the end of the row.
    fn end_row(&mut self, columns: usize) -> Result<(), DataError> {
        while self.cells < columns {
            self.plain("")?;
        }
        self.cells = 0;
        self.put(b"\n")
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.written += bytes.len() as u64;
        if self.written > self.most {
            return Err(DataError::Damaged {
                file: self.file.to_owned(),
                what: "nearly all of its cells are blank, and far apart".into(),
            });
        }
        self.out.write_all(bytes).map_err(|error| failed(self.file, error))
    }

    fn finish(self) -> Result<File, DataError> {
        self.out.into_inner().map_err(|error| failed(self.file, error.into_error()))
    }
}

/// The error of a temporary file.
fn failed(file: &str, source: io::Error) -> DataError {
    DataError::Io { file: file.into(), action: "make a temporary file for", source }
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
        remedy: format!("name one with --layer: {}", names.join(", ")),
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
    let mut zip = zip::ZipArchive::new(io::BufReader::new(input)).map_err(|error| damaged(error.to_string()))?;
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
    crate::options::check_memory(file, "the unpacked workbook", bytes.saturating_mul(2), memory)?;
    Ok(bytes)
}
