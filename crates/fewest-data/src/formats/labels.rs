//! Classes and other columns of the samples in a second file, joined by the names of the samples.

use std::collections::{HashMap, HashSet};

use crate::error::malformed;
use crate::formats::annotations::Annotations;
use crate::formats::csv::{self, Head};
use crate::formats::table::Rows as _;
use crate::io::source::{self, Source};
use crate::io::waves::{Piece, each_piece};
use crate::{
    DataError, Dataset, Format, Labels, Note, Place, ReadOptions, TextColumn, formats::parquet, formats::spool,
    meaning::first_line, meaning::header, names,
};

/// The columns of the second file.
struct Table {
    file: String,
    columns: Vec<TextColumn>,
    /// Rows are in the order of the samples, as in a class file.
    in_order: bool,
    /// What to tell of its text.
    note: Option<Note>,
}

/// Reads the data with `read`, and joins the columns of the second file.
///
/// # Errors
/// Those of `read`; a second file that cannot be read; samples without a row in it, or with two.
pub(crate) fn joined(
    labels: &Labels,
    options: &ReadOptions,
    mut read: impl FnMut(&ReadOptions) -> Result<Dataset, DataError>,
) -> Result<Dataset, DataError> {
    let table = Table::read(labels, options)?;
    let has = |name: &String| table.columns.iter().any(|column| column.name == *name);
    let in_data = labels.column.is_none() && options.target.as_ref().is_some_and(|name| !has(name));
    let mut own = ReadOptions {
        labels: None,
        apart: options.apart.iter().filter(|name| !has(name)).cloned().collect(),
        classes: Vec::new(),
        positive: None,
        ..options.clone()
    };
    if !in_data {
        own.target = None;
        own.target_optional = true;
        own.drop_unlabelled = false;
    }
    // The column of names may have the same name in both files.
    let columns = table.columns.iter().enumerate();
    let usual = columns.filter(|(c, column)| *c == 0 || is_usual(&column.name)).map(|(_, column)| &column.name);
    let candidates = options.by.iter().chain(usual).filter(|name| !name.is_empty());
    let mut data = None;
    for name in candidates.filter(|_| options.samples.is_none() && !table.in_order) {
        let named = ReadOptions { samples: Some(name.clone()), ..own.clone() };
        match read(&named) {
            Err(DataError::UnknownColumn { name: unknown, .. }) if unknown == *name => {}
            other => data = Some(other?),
        }
        if data.is_some() {
            break;
        }
    }
    let mut data = match data {
        Some(data) => data,
        None => read(&own)?,
    };
    data.notes.extend(table.note.clone());
    let chosen = table.target(labels, options)?;
    let columns = table.in_the_order_of(&mut data, options)?;
    let annotations = Annotations { columns, ..Annotations::default() };
    let mut apart: HashMap<String, TextColumn> = data.apart.drain(..).map(|c| (c.name.clone(), c)).collect();
    for name in options.apart.iter().filter(|name| has(name)) {
        let column = annotations.column(name).expect("it is there").clone();
        apart.insert(name.clone(), TextColumn { name: name.clone(), values: column.values });
    }
    data.apart = options.apart.iter().filter_map(|name| apart.remove(name)).collect();
    if in_data {
        return Ok(data);
    }
    let asked = ReadOptions { target: chosen.or(options.target.clone()), ..options.clone() };
    let (target, rows, notes) = annotations.target(&table.file, &asked)?;
    data.notes.extend(notes);
    data.target = target;
    if let Some(rows) = rows {
        data.keep_labelled(&rows);
    }
    Ok(data)
}

/// Usual names of a column with the names of samples.
const USUAL: [&str; 9] =
    ["id", "sample", "sample_id", "sampleid", "sample_name", "samples", "name", "barcode", "index"];

fn is_usual(name: &str) -> bool {
    USUAL.iter().any(|usual| usual.eq_ignore_ascii_case(name))
}

impl Table {
    fn read(labels: &Labels, options: &ReadOptions) -> Result<Self, DataError> {
        let own = ReadOptions { memory_limit: options.memory_limit, ..ReadOptions::default() };
        let ending = labels.file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let own =
            if ending.eq_ignore_ascii_case("cls") { ReadOptions { format: Some(Format::Csv), ..own } } else { own };
        let (mut source, format, _) = source::open(&labels.file, &own)?;
        let (columns, in_order) = match format {
            _ if ending.eq_ignore_ascii_case("cls") => (classes(&source)?, true),
            Format::Csv | Format::Tsv => (text_columns(&mut source, format, &own)?, false),
            Format::Parquet => (parquet::text_columns(&source, &own)?, false),
            Format::Xlsx | Format::Ods | Format::Arrow => match spool::text_of(&source, format, &own)? {
                Some((mut text, own)) => (text_columns(&mut text, Format::Csv, &own)?, false),
                None => (Vec::new(), false),
            },
            _ => {
                return Err(DataError::Unsupported {
                    file: labels.file.clone(),
                    what: format!("a file of labels is a table, not {}", format.name()),
                    remedy: "save it as csv".into(),
                });
            }
        };
        Ok(Self { file: labels.file.clone(), columns, in_order, note: source.note() })
    }

    /// The column with the classes, where the caller or the file says it.
    fn target(&self, labels: &Labels, options: &ReadOptions) -> Result<Option<String>, DataError> {
        if let Some(name) = &labels.column {
            if !self.columns.iter().any(|column| column.name == *name) {
                return Err(self.unknown(name, "target"));
            }
            return Ok(Some(name.clone()));
        }
        let free: Vec<&TextColumn> = self.columns.iter().skip(usize::from(!self.in_order)).collect();
        Ok(match &free[..] {
            [only] if options.target.is_none() => Some(only.name.clone()),
            _ => None,
        })
    }

    fn unknown(&self, name: &str, role: &'static str) -> DataError {
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        DataError::UnknownColumn { file: self.file.clone(), name: name.into(), role, available: names::some_of(&names) }
    }

    /// The columns, brought into the order of the samples of the data; an empty text where a sample
    /// has no row and is to be left out.
    fn in_the_order_of(&self, data: &mut Dataset, options: &ReadOptions) -> Result<Vec<TextColumn>, DataError> {
        let n = data.features.n_samples();
        if self.in_order {
            let rows = self.columns.first().map_or(0, |column| column.values.len());
            if rows != n {
                let found = format!("the file has {rows} classes, but the data have {n} samples");
                let place = Place { file: self.file.clone(), ..Place::default() };
                return Err(malformed(place, found, "give the class file of these data"));
            }
            return Ok(self.columns.clone());
        }
        let Some(samples) = &data.samples else {
            return Err(DataError::Unsupported {
                file: data.source.clone(),
                what: format!("the samples have no names by which the rows of {} could be found", self.file),
                remedy: "name the column that holds them with ⟦id⟧".into(),
            });
        };
        let key = self.key(options.by.as_ref(), samples)?;
        let mut rows: HashMap<&str, usize> = HashMap::new();
        let wanted: HashSet<&str> = samples.values.iter().map(String::as_str).collect();
        for (row, name) in key.values.iter().enumerate() {
            if rows.insert(name, row).is_some() && wanted.contains(name.as_str()) {
                let found = format!("the sample `{name}` has two rows");
                let place = Place { file: self.file.clone(), ..Place::default() }.column(&key.name);
                return Err(malformed(place, found, "leave one of them out, or name another column with ⟦by⟧"));
            }
        }
        let found: Vec<Option<usize>> = samples.values.iter().map(|name| rows.get(name.as_str()).copied()).collect();
        let without: Vec<&String> =
            samples.values.iter().zip(&found).filter(|(_, row)| row.is_none()).map(|(name, _)| name).collect();
        if !without.is_empty() && (!options.drop_unlabelled || without.len() == n) {
            return Err(self.unmatched(data, key, &without));
        }
        let unused = key.values.iter().filter(|name| !wanted.contains(name.as_str())).count();
        let note = Note::Joined { file: self.file.clone(), by: key.name.clone(), unused };
        let value =
            |column: &TextColumn, row: &Option<usize>| row.map_or(String::new(), |at| column.values[at].clone());
        let columns = self.columns.iter().map(|column| TextColumn {
            name: column.name.clone(),
            values: found.iter().map(|row| value(column, row)).collect(),
        });
        let columns = columns.collect();
        data.notes.push(note);
        Ok(columns)
    }

    /// The column with the names of the samples.
    fn key(&self, by: Option<&String>, samples: &TextColumn) -> Result<&TextColumn, DataError> {
        if let Some(by) = by {
            let named = self.columns.iter().find(|column| column.name == *by);
            return named.ok_or_else(|| self.unknown(by, "column with the names of samples"));
        }
        let wanted: HashSet<&str> = samples.values.iter().map(String::as_str).collect();
        let matches = |column: &&TextColumn| column.values.iter().filter(|name| wanted.contains(name.as_str())).count();
        // Of columns that hold as many, the first.
        let best = self.columns.iter().rev().max_by_key(matches);
        best.ok_or_else(|| DataError::Empty { file: self.file.clone() })
    }

    /// The error of samples without a row.
    fn unmatched(&self, data: &Dataset, key: &TextColumn, without: &[&String]) -> DataError {
        let n = data.features.n_samples();
        let few = |names: &[&String]| {
            let shown: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
            shown.join(", ")
        };
        let finder = data.names.finder();
        let (what, remedy) = if without.len() < n {
            (
                format!("{} of {n} samples have no row in {}: {}", without.len(), self.file, few(without)),
                "add them, or leave these samples out with ⟦drop_unlabelled⟧",
            )
        } else if self.columns.iter().any(|column| column.values.iter().any(|name| finder.position(name).is_some())) {
            (
                format!("the rows are no samples of {}, but some columns are", self.file),
                "say ⟦transpose⟧, as features are in the rows",
            )
        } else {
            let there: Vec<&String> = key.values.iter().collect();
            (
                format!("no sample has a row in {}: here they are {}, there {}", self.file, few(without), few(&there)),
                "name the columns that hold the same names with ⟦id⟧ (of the data) and ⟦by⟧ (of the labels)",
            )
        };
        DataError::Unsupported { file: data.source.clone(), what, remedy: remedy.into() }
    }
}

/// All columns of a table in text.
fn text_columns(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Vec<TextColumn>, DataError> {
    let head = Head::of(source, format, options)?;
    let names = match first_line::names(&source.name, head.line, &head.first, &head.rows, options) {
        Err(DataError::NoHeader { place, found, .. }) => {
            let found = format!("the first line ({found}) looks like data, not like names of columns");
            return Err(malformed(place, found, "add a header line, such as sample,class, to the file of labels"));
        }
        names => names?.map_or(Vec::new(), |(names, _)| names),
    };
    header::check_distinct(&source.name, names.iter().map(String::as_str).filter(|name| !name.is_empty()))?;
    let syntax: csv::Syntax<'_> = head.syntax(source, head.next_line, options);
    let mut columns: Vec<TextColumn> = names.into_iter().map(|name| TextColumn { name, values: Vec::new() }).collect();
    let (expected, mut bytes) = (columns.len(), 0);
    let rows = |piece: Piece<'_>| {
        let mut rows: Vec<Vec<String>> = Vec::new();
        syntax.each_row(piece, &mut |line, cells| {
            if cells.len() != expected {
                let place = Place::line(&source.name, line);
                return Err(DataError::Ragged { place, found: cells.len(), expected, comment: None });
            }
            rows.push(cells.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect());
            Ok(())
        })?;
        Ok(rows)
    };
    each_piece(source, &syntax, options.memory(), rows, |pieces| {
        for row in pieces.into_iter().flatten() {
            for (column, cell) in columns.iter_mut().zip(row) {
                bytes += cell.len() as u64 + size_of::<String>() as u64;
                column.values.push(cell);
            }
        }
        crate::io::memory::check_memory(&source.name, "the labels", bytes, options.memory())
    })?;
    if columns.first().is_none_or(|column| column.values.is_empty()) {
        return Err(DataError::NoRows { file: source.name.clone() });
    }
    Ok(columns)
}

/// The classes of a class file of the Broad Institute: counts, `# names`, the class of each sample.
fn classes(source: &Source) -> Result<Vec<TextColumn>, DataError> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = source.reader()?.take(64 << 20).read_to_string(&mut text);
    read.map_err(|e| source.read_error(e))?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let &[_, names, classes] = &lines[..] else {
        let found = format!("a class file has three lines, this one {}", lines.len());
        let place = Place { file: source.name.clone(), ..Place::default() };
        return Err(malformed(place, found, "give the counts, `# names`, and the class of each sample"));
    };
    let names: Vec<&str> = names.trim_start_matches('#').split_whitespace().collect();
    let class = |token: &str| {
        let number = token.parse::<usize>().ok().and_then(|at| names.get(at).copied());
        number.unwrap_or(token).to_owned()
    };
    Ok(vec![TextColumn { name: "class".into(), values: classes.split_whitespace().map(class).collect() }])
}
