//! Apache Parquet: flat tables of numbers, booleans and text, read column by column and written.

mod chunks;
mod decode;
mod kinds;
mod pages;
mod thrift;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::column::reader::ColumnReader;
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use fewest_svm::AllOrFirst as _;
use rayon::prelude::*;

use crate::formats::columns::{Sorted, Sorter};
use crate::io::shared::SharedFile;
use crate::io::source::Source;
use crate::matrix::normalize::ColumnKind;
use crate::meaning::binary::Labelled;
use crate::meaning::cells::{Cells, is_padded};
use crate::meaning::dummies::{Categories, TextColumnUse, text_column, wanted_as_text};
use crate::meaning::header::{Header, Role, check_distinct, check_left};
use crate::meaning::problems::NotFinite;
use crate::meaning::target::{Target, class_name};
use crate::{DataError, Dataset, Format, Names, Note, Place, ReadOptions, TextColumn, meaning::binary, number};
use decode::{BATCH, Batch, Codes, damaged, decode, integers, numeric};
use kinds::{Kind, check_codec, kinds};

pub(crate) use write::write;

/// Column that pandas adds for an index with no name.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a table. A panic of the decoder on a damaged file becomes [`DataError::Damaged`].
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    with_table(source, options, |table| table.load(options))
}

/// Reads what a column file at `out` is to hold, with the same care.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    with_table(source, options, |table| table.sorted(options, out))
}

/// All columns as text.
pub(crate) fn text_columns(source: &Source, options: &ReadOptions) -> Result<Vec<TextColumn>, DataError> {
    let options = ReadOptions { target_optional: true, ..options.clone() };
    with_table(source, &options, |table| {
        let used = (0..table.kinds.len()).filter(|&c| table.header.roles[c] != Role::Ignored);
        used.map(|c| Ok(TextColumn { name: table.header.names[c].clone(), values: table.strings(c)? })).collect()
    })
}

fn with_table<T>(
    source: &Source,
    options: &ReadOptions,
    body: impl FnOnce(Table<'_>) -> Result<T, DataError>,
) -> Result<T, DataError> {
    let caught = catch_unwind(AssertUnwindSafe(|| open_table(source, options, body)));
    caught.unwrap_or_else(|_| Err(damaged(&source.name, &"the decoder failed")))
}

fn open_table<T>(
    source: &Source,
    options: &ReadOptions,
    body: impl FnOnce(Table<'_>) -> Result<T, DataError>,
) -> Result<T, DataError> {
    let file = &source.name;
    let input = source.seekable()?;
    let shared = SharedFile::new(input).map_err(|e| damaged(file, &e))?;
    pages::check_footer(&shared).map_err(|e| damaged(file, &e))?;
    let reader = SerializedFileReader::new(shared.clone()).map_err(|e| damaged(file, &e))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let mut header = Header::new(file, names, &without_index(options, schema.columns()))?;
    header.notes.retain(|n| !matches!(n, Note::Ignored { count: 0 }));
    let kinds = kinds(&header, schema.columns())?;
    let cells = Cells::new(options);
    let mut table = Table { reader, shared, header: &header, kinds, cells, rows: 0, memory: options.memory() };
    table.rows = table.count_rows(options)?;
    if table.rows == 0 {
        return Err(DataError::NoRows { file: file.clone() });
    }
    body(table)
}

/// The pandas index has the names of the samples; what else it has is dropped like a column the
/// caller named.
fn without_index(options: &ReadOptions, columns: &[Arc<ColumnDescriptor>]) -> ReadOptions {
    let mut options = options.clone();
    let mut index = columns.iter().map(|c| c.name()).filter(|name| name.starts_with(PANDAS_INDEX)).map(str::to_owned);
    if options.samples.is_none() {
        options.samples = index.next();
    }
    options.drop.extend(index);
    options
}

/// What becomes of the columns of a table.
struct Plan {
    features: Vec<Feature>,
    names: Vec<String>,
    /// What each feature is to the totals of samples.
    parts: Vec<ColumnKind>,
    notes: Vec<Note>,
}

/// A column that becomes one feature, or several if it holds text.
struct Feature {
    column: usize,
    /// The first of its features.
    first: usize,
    /// What becomes of its text.
    text: Option<Text>,
}

/// What becomes of a column of text.
enum Text {
    Categories(Categories),
    /// All of it are numbers, as csv has them.
    Numbers,
}

impl Feature {
    fn width(&self) -> usize {
        match &self.text {
            Some(Text::Categories(categories)) => categories.width(),
            Some(Text::Numbers) | None => 1,
        }
    }
}

/// An open table.
struct Table<'a> {
    reader: SerializedFileReader<SharedFile>,
    shared: SharedFile,
    header: &'a Header,
    kinds: Vec<Kind>,
    cells: Cells,
    rows: usize,
    /// Most bytes that may be taken.
    memory: u64,
}

impl Table<'_> {
    /// All of it, in memory.
    fn load(self, options: &ReadOptions) -> Result<Dataset, DataError> {
        let (file, n) = (&self.header.file, self.rows);
        let Plan { features, names, parts, notes } = self.plan(options)?;
        let mut values = binary::zeros(file, n, names.len(), options.memory())?;
        let mut jobs = Vec::with_capacity(features.len());
        let mut rest = &mut values[..];
        for feature in &features {
            let (own, more) = rest.split_at_mut(feature.width() * n);
            rest = more;
            jobs.push((feature, own));
        }
        let read = jobs.into_par_iter().map(|(feature, own)| {
            self.each_part(feature, |at, row, part| {
                own[at * n + row..][..part.len()].copy_from_slice(part);
                Ok(())
            })
        });
        read.all_or_first::<()>()?;
        binary::check_finite(file, n, &values, options.missing, |j| names[j].clone())?;
        let (target, rows) = self.target(options)?;
        let apart = options.apart.iter().map(|name| {
            let c = self.header.names.iter().position(|n| n == name).unwrap_or(0);
            Ok(TextColumn { name: name.clone(), values: self.strings(c)? })
        });
        let apart = apart.collect::<Result<_, DataError>>()?;
        let samples = self.samples()?;
        let notes = with_target(notes, target.as_ref(), options);
        let data = Dataset::dense(file, n, values, names, target, apart, notes, Format::Parquet)?;
        let mut data = Dataset { samples, ..data }.normalized_table(options, &parts)?;
        if let Some(rows) = rows {
            data.keep_labelled(&rows);
        }
        Ok(data)
    }

    /// What a column file at `out` is to hold.
    fn sorted(self, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
        let (file, n) = (&self.header.file, self.rows);
        let Plan { features, names, notes, .. } = self.plan(options)?;
        let values = Mutex::new(Sorter::new(file, out, n, &vec![n as u32; names.len()], options.memory())?);
        let read_feature = |feature: &Feature| {
            let mut bad = NotFinite::default();
            self.each_part(feature, |at, row, part| {
                let j = feature.first + at;
                binary::find_not_finite(file, row, part, options.missing, || names[j].clone(), &mut bad);
                values.lock().unwrap_or_else(PoisonError::into_inner).put_column(j, row, part)
            })?;
            Ok(bad)
        };
        let found: Result<Vec<NotFinite>, DataError> = features.par_iter().map(read_feature).all_or_first();
        NotFinite::merged(found?).check()?;
        let (target, _) = self.target(options)?;
        // A column file has no names of samples; a damaged column is reported even so.
        self.samples()?;
        let notes = with_target(notes, target.as_ref(), options);
        let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Sorted { values, names: Names::Listed(names), target, notes })
    }

    /// Whether the values of text column `c` are numbers, given what a model wants of it.
    ///
    /// # Errors
    /// [`DataError::NotANumber`] where it wants numbers and they are not.
    fn holds_numbers(&self, c: usize, values: &[String], wanted_as_text: Option<bool>) -> Result<bool, DataError> {
        let number = |value: &&String| self.cells.number(value.as_bytes()).is_some_and(f64::is_finite);
        let other = values.iter().find(|v| !number(v) && !self.cells.is_missing_number(v.as_bytes()));
        let numbers = values.iter().filter(number).count();
        match (wanted_as_text, other) {
            (Some(true), _) => Ok(false),
            (Some(false), Some(cell)) => Err(DataError::NotANumber {
                place: Place { file: self.header.file.clone(), ..Place::default() }.column(&self.header.names[c]),
                cell: cell.clone(),
                numbers: numbers as u64,
                total: values.len() as u64,
            }),
            (Some(false), None) => Ok(true),
            (None, other) => Ok(other.is_none() && numbers > 0 && !values.iter().any(|v| is_padded(v.as_bytes()))),
        }
    }

    /// What becomes of the columns.
    fn plan(&self, options: &ReadOptions) -> Result<Plan, DataError> {
        let (header, n) = (self.header, self.rows);
        let (features, names, parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Plan { features, names, parts, notes: header.notes.clone() };
        for c in (0..self.kinds.len()).filter(|&c| header.roles[c] == Role::Feature) {
            let (name, first) = (&header.names[c], plan.names.len());
            let number = if self.kinds[c] == Kind::Boolean { ColumnKind::Category } else { ColumnKind::Number };
            let text = if self.kinds[c] == Kind::Text || wanted_as_text(name, options) == Some(true) {
                let codes = self.codes(c)?;
                if let (Some(&row), false) = (codes.missing.first(), options.missing) {
                    let place = Place::row(&header.file, row as u64 + 1).column(name);
                    let (cell, count) = ("null".into(), codes.missing.len() as u64);
                    return Err(DataError::NotFinite { place, cell, count, columns: None });
                }
                let there = codes.values.iter().filter(|value| !self.cells.is_missing(value.as_bytes())).cloned();
                let (values, present) = (there.collect(), n - codes.missing.len());
                let values: Vec<String> = values;
                if self.kinds[c] == Kind::Text && self.holds_numbers(c, &values, wanted_as_text(name, options))? {
                    plan.names.push(name.clone());
                    plan.parts.push(ColumnKind::Number);
                    plan.features.push(Feature { column: c, first, text: Some(Text::Numbers) });
                    continue;
                }
                match text_column(header, c, (values, None), present, &self.cells, options)? {
                    TextColumnUse::LeftOut(note) => {
                        plan.notes.push(note);
                        continue;
                    }
                    TextColumnUse::Categories(categories, note) => {
                        plan.notes.push(categories.note(name));
                        plan.notes.extend(note);
                        plan.notes.extend(self.unseen(name, &categories, &codes, options));
                        plan.names.extend(categories.names().cloned());
                        plan.parts.resize(plan.names.len(), ColumnKind::Category);
                        Some(Text::Categories(categories))
                    }
                }
            } else {
                plan.names.push(name.clone());
                plan.parts.push(number);
                None
            };
            plan.features.push(Feature { column: c, first, text });
        }
        check_left(header, !plan.names.is_empty(), options)?;
        self.count(&mut plan)?;
        check_distinct(&header.file, plan.names.iter().map(String::as_str))?;
        Ok(plan)
    }

    /// Adds the columns that are no features but count in the totals of samples.
    fn count(&self, plan: &mut Plan) -> Result<(), DataError> {
        for c in (0..self.kinds.len()).filter(|&c| self.header.roles[c] == Role::Counted) {
            let text = match self.kinds[c] {
                Kind::Unused | Kind::Boolean => continue,
                Kind::Text => {
                    let codes = self.codes(c)?;
                    let there = codes.values.iter().filter(|value| !self.cells.is_missing(value.as_bytes())).cloned();
                    if !self.holds_numbers(c, &there.collect::<Vec<_>>(), None)? {
                        continue;
                    }
                    Some(Text::Numbers)
                }
                Kind::Number | Kind::Single | Kind::Unsigned => None,
            };
            plan.features.push(Feature { column: c, first: plan.names.len(), text });
            plan.names.push(self.header.names[c].clone());
            plan.parts.push(ColumnKind::Counted);
        }
        Ok(())
    }

    /// The names of the samples.
    fn samples(&self) -> Result<Option<TextColumn>, DataError> {
        let at = self.header.roles.iter().position(|role| *role == Role::Samples);
        let Some(c) = at else { return Ok(None) };
        Ok(Some(TextColumn { name: self.header.names[c].clone(), values: self.strings(c)? }))
    }

    fn target(&self, options: &ReadOptions) -> Result<Labelled, DataError> {
        let header = self.header;
        let Some(c) = header.roles.iter().position(|r| *r == Role::Target) else { return Ok((None, None)) };
        let codes = self.codes(c)?;
        let class = |value: &String| match (self.kinds[c], number::parse(value.as_bytes())) {
            _ if self.cells.is_missing(value.as_bytes()) => String::new(),
            // As Python and NumPy write them.
            (Kind::Boolean, Some(value)) => if value == 0.0 { "False" } else { "True" }.to_owned(),
            (Kind::Single, Some(value)) => class_name(&number::text_of_single(value)),
            _ => class_name(value),
        };
        let classes: Vec<String> = codes.values.iter().map(class).collect();
        let rows = codes.rows.iter().map(|&code| classes[code as usize].as_str());
        binary::target(&header.file, &header.names[c], rows, options)
    }

    /// Runs `take(at, row, values)` on the values of a column, some at a time, row `row` first;
    /// those of dummy column `at` where it holds text. A missing value is NaN.
    fn each_part(
        &self,
        feature: &Feature,
        mut take: impl FnMut(usize, usize, &[f64]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let c = feature.column;
        if let Some(Text::Numbers) = &feature.text {
            let codes = self.codes(c)?;
            let number = |v: &String| self.cells.number(v.as_bytes()).unwrap_or(f64::NAN);
            let value: Vec<f64> = codes.values.iter().map(number).collect();
            for (part, rows) in codes.rows.chunks(BATCH).enumerate() {
                let values: Vec<f64> = rows.iter().map(|&code| value[code as usize]).collect();
                take(0, part * BATCH, &values)?;
            }
            return Ok(());
        }
        if let Some(Text::Categories(categories)) = &feature.text {
            let codes = self.codes(c)?;
            let missing = |value: &String| self.cells.is_missing(value.as_bytes());
            for at in 0..categories.width() {
                let value = |v| if missing(v) { f64::NAN } else { categories.value(at, categories.code(v)) };
                let value: Vec<f64> = codes.values.iter().map(value).collect();
                for (part, rows) in codes.rows.chunks(BATCH).enumerate() {
                    let values: Vec<f64> = rows.iter().map(|&code| value[code as usize]).collect();
                    take(at, part * BATCH, &values)?;
                }
            }
            return Ok(());
        }
        let mut row = 0;
        self.each_batch(c, false, |batch| {
            let Batch::Numbers(values) = batch else { return Err(self.wrong_length(c)) };
            if values.len() > self.rows - row {
                return Err(self.wrong_length(c));
            }
            if self.cells.has_codes() {
                let decoded = |x: &f64| if self.cells.is_code(*x) { f64::NAN } else { *x };
                take(0, row, &values.iter().map(decoded).collect::<Vec<f64>>())?;
            } else {
                take(0, row, values)?;
            }
            row += values.len();
            Ok(())
        })?;
        if row == self.rows { Ok(()) } else { Err(self.wrong_length(c)) }
    }

    /// Rows of the file, counted by decoding the first wanted column: the metadata may say
    /// anything.
    fn count_rows(&self, options: &ReadOptions) -> Result<usize, DataError> {
        let Some(c) = self.kinds.iter().position(|k| *k != Kind::Unused) else {
            return Err(DataError::NoFeatures { file: self.header.file.clone(), target: String::new() });
        };
        let said: i64 =
            self.reader.metadata().row_groups().iter().map(|g| g.num_rows().max(0)).fold(0, i64::saturating_add);
        let mut rows = 0usize;
        self.each_batch(c, false, |values| {
            rows += values.len();
            let bytes = 8 * rows as u64;
            crate::io::memory::check_memory(&self.header.file, "a single column", bytes, options.memory())
        })?;
        if rows as i64 == said { Ok(rows) } else { Err(self.wrong_length(c)) }
    }

    fn wrong_length(&self, c: usize) -> DataError {
        damaged(
            &self.header.file,
            &format!("column `{}` does not have the stated number of rows", self.header.names[c]),
        )
    }

    /// Decodes a column batch by batch; `as_text`: large integers, too.
    fn each_batch(
        &self,
        c: usize,
        as_text: bool,
        mut batch: impl FnMut(Batch<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let file = &self.header.file;
        let unsigned = self.kinds[c] == Kind::Unsigned;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| damaged(file, &e))?;
            let page = self.check_pages(group.metadata(), c)?;
            match group.get_column_reader(c).map_err(|e| damaged(file, &e))? {
                ColumnReader::BoolColumnReader(r) => numeric(file, r, |x| f64::from(u8::from(*x)), &mut batch),
                ColumnReader::Int32ColumnReader(r) if unsigned => {
                    numeric(file, r, |x| f64::from(*x as u32), &mut batch)
                }
                ColumnReader::Int32ColumnReader(r) => numeric(file, r, |x| f64::from(*x), &mut batch),
                ColumnReader::Int64ColumnReader(r) if as_text => integers(file, r, unsigned, &mut batch),
                ColumnReader::Int64ColumnReader(r) if unsigned => numeric(file, r, |x| *x as u64 as f64, &mut batch),
                ColumnReader::Int64ColumnReader(r) => numeric(file, r, |x| *x as f64, &mut batch),
                ColumnReader::FloatColumnReader(r) => numeric(file, r, |x| f64::from(*x), &mut batch),
                ColumnReader::DoubleColumnReader(r) => numeric(file, r, |x| *x, &mut batch),
                ColumnReader::ByteArrayColumnReader(r) => {
                    decode::<ByteArrayType>(file, r, self.texts_at_once(page), &mut |levels, values| {
                        let mut next = values.iter();
                        let cells: Vec<Option<&[u8]>> = levels
                            .map(|present| if present { next.next().map(ByteArray::data) } else { None })
                            .collect();
                        batch(Batch::Text(&cells))
                    })
                }
                _ => Err(damaged(file, &"a column changed its type")),
            }?;
        }
        Ok(())
    }

    /// Checks the pages of a column before they are decoded. Returns the most bytes that a page
    /// takes.
    fn check_pages(&self, group: &RowGroupMetaData, c: usize) -> Result<u64, DataError> {
        let (file, name) = (&self.header.file, &self.header.names[c]);
        let chunk = group.columns().get(c).ok_or_else(|| self.wrong_length(c))?;
        check_codec(file, name, chunk)?;
        let bytes = pages::check_chunk(&self.shared, chunk, group.num_rows())
            .map_err(|e| damaged(file, &format!("column `{name}`: {e}")))?;
        crate::io::memory::check_memory(file, &format!("a page of column `{name}`"), bytes, self.memory)?;
        Ok(bytes)
    }

    /// Texts that are decoded at once. Where a text is stored as its difference from the one
    /// before, each of them may be as long as all that a page of `page` bytes holds.
    fn texts_at_once(&self, page: u64) -> usize {
        ((self.memory / 4 / page.max(1)) as usize).clamp(1, BATCH)
    }

    /// The note on values that a model has not seen.
    fn unseen(&self, name: &str, categories: &Categories, codes: &Codes, options: &ReadOptions) -> Option<Note> {
        let new = |v: &String| !self.cells.is_missing(v.as_bytes()) && categories.unseen(categories.code(v));
        let unknown: Vec<bool> = codes.values.iter().map(new).collect();
        let mut rows = codes.rows.iter().filter(|&&code| unknown[code as usize]);
        let first = *rows.next()?;
        Some(Note::Unseen {
            column: name.into(),
            value: codes.values[first as usize].clone(),
            rows: 1 + rows.count() as u64,
            known: options.levels.iter().any(|(column, _)| column == name),
        })
    }

    /// A column as codes of its distinct values.
    fn codes(&self, c: usize) -> Result<Codes, DataError> {
        let mut codes = Codes::default();
        self.each_batch(c, true, |batch| {
            batch.each_cell(|cell| codes.push(cell, &self.cells));
            let what = format!("the values of column `{}`", self.header.names[c]);
            crate::io::memory::check_memory(&self.header.file, &what, codes.bytes(), self.memory)?;
            if codes.rows.len() > self.rows { Err(self.wrong_length(c)) } else { Ok(()) }
        })?;
        if codes.rows.len() == self.rows { Ok(codes) } else { Err(self.wrong_length(c)) }
    }

    /// A column as text, missing values as empty text.
    fn strings(&self, c: usize) -> Result<Vec<String>, DataError> {
        let codes = self.codes(c)?;
        let what = format!("column `{}` as text", self.header.names[c]);
        crate::io::memory::check_memory(&self.header.file, &what, codes.text_bytes(), self.memory)?;
        let mut values: Vec<String> = codes.rows.iter().map(|&code| codes.values[code as usize].clone()).collect();
        codes.missing.iter().for_each(|&row| values[row].clear());
        Ok(values)
    }
}

/// The notes, and that on the classes.
fn with_target(notes: Vec<Note>, target: Option<&Target>, options: &ReadOptions) -> Vec<Note> {
    notes.into_iter().chain(target.filter(|_| !options.target_optional).and_then(Target::note)).collect()
}
