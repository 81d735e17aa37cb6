//! Tables with features in rows and samples in columns: GCT, the series matrix of GEO, and any text
//! where the caller says so. A row of features is a column of the matrix as it lies in memory.
//!
//! A row most of whose cells are text describes the samples: it is no feature, but may be the
//! target. So may the rows that the formats have for that.

mod delimited;
mod gct;
mod geo;

use std::borrow::Cow;

use fewest_svm::DenseDesign;

use crate::error::malformed;
use crate::formats::annotations::Annotations;
use crate::formats::csv::Syntax;
use crate::formats::table::Rows;
use crate::io::memory::check_memory;
use crate::io::source::Source;
use crate::io::waves::{Piece, each_piece, shown};
use crate::meaning::cells::Cells;
use crate::meaning::problems::NotFinite;
use crate::{
    DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, TextColumn, meaning::header, names,
};

/// What stands above the rows of features, and how these are split.
struct Frame<'a> {
    syntax: Syntax<'a>,
    format: Format,
    /// Cells before those of the samples, the name of the feature first.
    skip: usize,
    /// Names of the n samples.
    samples: Vec<String>,
    /// The facts of the samples that stand above the rows.
    columns: Vec<TextColumn>,
    notes: Vec<Note>,
}

/// Features of some rows, in their order.
#[derive(Default)]
struct Body {
    names: Vec<String>,
    /// n values for each name.
    values: Vec<f64>,
    columns: Vec<TextColumn>,
    bad: NotFinite,
}

/// Reads a table with features in rows.
pub(crate) fn read(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    match format {
        Format::Gct => gct::frame(source, options.memory())?.read(source, options),
        Format::SeriesMatrix => geo::frame(source, options.memory())?.read(source, options),
        _ => delimited::read(source, format, options),
    }
}

impl Frame<'_> {
    /// Reads the rows.
    fn read(self, source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
        let (file, n) = (&source.name, self.samples.len());
        let (cells, memory) = (Cells::new(options), options.memory());
        let mut all = Body::default();
        each_piece(
            source,
            &self.syntax,
            memory,
            |piece| self.parse(piece, &cells, options),
            |pieces| {
                for piece in pieces {
                    let values = (all.values.len() + piece.values.len()) as u64;
                    // The list is copied where it grows.
                    check_memory(file, &format!("the dense matrix of {n} samples"), 16 * values, memory)?;
                    all.names.extend(piece.names);
                    all.values.extend(piece.values);
                    all.columns.extend(piece.columns);
                    all.bad.join(piece.bad);
                }
                Ok(())
            },
        )?;
        all.bad.check()?;
        if all.names.is_empty() && !all.columns.is_empty() {
            let place = Place { file: file.clone(), ..Place::default() };
            let found = "no row holds numbers, though the options say that features are in rows";
            return Err(malformed(place, found, "leave out ⟦transpose⟧ if samples are in the rows"));
        }
        if all.names.is_empty() {
            return Err(DataError::NoRows { file: file.clone() });
        }
        let names = if options.unique_names { names::unique(all.names) } else { all.names };
        header::check_distinct(file, names.iter().map(String::as_str))?;
        let features = Features::Dense(DenseDesign::new(n, names.len(), all.values)?);
        let samples = Some(TextColumn { name: String::new(), values: self.samples });
        let columns = self.columns.into_iter().chain(all.columns).collect();
        let annotations = Annotations { samples, columns, ..Annotations::default() };
        annotations.dataset(file, self.format, features, Names::Listed(names), self.notes, options)
    }

    /// Reads the rows of a piece.
    fn parse(&self, piece: Piece<'_>, cells: &Cells, options: &ReadOptions) -> Result<Body, DataError> {
        let mut out = Body::default();
        let width = self.skip + self.samples.len();
        self.syntax.each_row(piece, &mut |line, row| {
            let trailing = row.len() > width && row[width..].iter().all(|cell| cell.is_empty());
            if row.len() != width && !trailing {
                let place = Place::line(self.syntax.file, line);
                return Err(DataError::Ragged { place, found: row.len(), expected: width, comment: None });
            }
            let name = String::from_utf8_lossy(row[0].trim_ascii()).into_owned();
            if name.is_empty() {
                let place = Place::line(self.syntax.file, line);
                return Err(malformed(place, "the row has no name", "name every row in the first column"));
            }
            let row = &row[self.skip..width];
            if Self::describes(&name, row, cells, options) {
                let text = |cell: &Cow<'_, [u8]>| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
                out.columns.push(TextColumn { name, values: row.iter().map(text).collect() });
                return Ok(());
            }
            self.numbers(line, &name, row, cells, options, &mut out)?;
            out.names.push(name);
            Ok(())
        })?;
        Ok(out)
    }

    /// Whether a row describes the samples: the caller asks for it, or most of its cells are text.
    fn describes(name: &String, row: &[Cow<'_, [u8]>], cells: &Cells, options: &ReadOptions) -> bool {
        if options.target.as_ref() == Some(name) || options.apart.contains(name) {
            return true;
        }
        let text = |cell: &&Cow<'_, [u8]>| cells.number(cell).is_none() && !cells.is_missing_number(cell);
        // Most rows are known by their first cells.
        if !row.iter().take(3).any(|cell| text(&cell)) {
            return false;
        }
        let texts: Vec<String> =
            row.iter().filter(text).map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        texts.len() * 2 > row.len() && cells.other_style(texts.iter().map(String::as_str)).is_none()
    }

    /// Reads the numbers of a row.
    fn numbers(
        &self,
        line: u64,
        name: &str,
        row: &[Cow<'_, [u8]>],
        cells: &Cells,
        options: &ReadOptions,
        out: &mut Body,
    ) -> Result<(), DataError> {
        for (i, cell) in row.iter().enumerate() {
            let place = || Place::line(self.syntax.file, line).column(&self.samples[i]);
            let missing = || cells.is_missing_number(cell).then_some(f64::NAN);
            let Some(x) = cells.number(cell).or_else(missing) else {
                let texts = row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect::<Vec<_>>();
                let remedy = match cells.other_style(texts.iter().map(String::as_str)) {
                    Some(other) => other.remedy,
                    None => {
                        format!("correct it, or say ⟦missing_codes={}⟧ if it stands for a missing value", shown(cell))
                    }
                };
                let found = format!("`{}` is not a number, but most cells of the row `{name}` are", shown(cell));
                return Err(malformed(place(), found, remedy));
            };
            if crate::meaning::binary::is_bad(x, options.missing) {
                out.bad.add(x, || (place(), shown(cell)));
            }
            out.values.push(x);
        }
        Ok(())
    }
}

/// The cells of the first lines of a text, with their lines from 1, until `take` says that it has
/// enough; the line after the last one.
fn each_line(
    source: &Source,
    syntax: &Syntax<'_>,
    memory: u64,
    mut take: impl FnMut(u64, Vec<String>) -> Result<bool, DataError>,
) -> Result<u64, DataError> {
    use std::io::BufRead;
    let mut reader = std::io::BufReader::with_capacity(1 << 16, source.reader()?);
    let (mut line, mut text) = (0, Vec::new());
    loop {
        text.clear();
        line += 1;
        let read = std::io::Read::take(&mut reader, memory / 16).read_until(b'\n', &mut text);
        if read.map_err(|e| source.read_error(e))? == 0 {
            return Ok(line);
        }
        if !text.ends_with(b"\n") && text.len() as u64 >= memory / 16 {
            check_memory(&source.name, "a single line", 16 * text.len() as u64 + 1, memory)?;
        }
        if !take(line, syntax.cells(&text).into_iter().map(|cell| cell.text).collect())? {
            return Ok(line + 1);
        }
    }
}
