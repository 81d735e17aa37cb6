//! Sparse text (svmlight, sparse arff) read in two parallel passes.
//!
//! Pass 1 checks every line and counts the non-zeros of each column; pass 2 reads the values again
//! and puts them at their final place in exactly sized arrays. So the peak is the finished matrix
//! plus a few waves of text, and the row order inside a column is that of the file for any number
//! of threads.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use fewest_svm::SparseDesign;
use rayon::prelude::*;

use crate::error::malformed;
use crate::formats::columns::{Buckets, Entry, Sorted, Sorter, starts};
use crate::io::memory::check_memory;
use crate::io::source::Source;
use crate::io::waves::{Lines, Piece, changed, each_piece};
use crate::meaning::binary::is_bad;
use crate::meaning::problems::NotFinite;
use crate::meaning::target::{Labels, Target, class_name};
use crate::{DataError, Names, Place, ReadOptions};

/// A row without its entries.
pub(crate) struct Head<'a> {
    /// The class as written; `None` where a line has no label.
    pub(crate) label: Option<Cow<'a, [u8]>>,
    /// The line has a `qid` entry.
    pub(crate) query: bool,
}

/// Reads the lines of a sparse format.
pub(crate) trait SparseRows: Sync {
    /// Calls `entry(column, value)` for the pairs of a line, columns strictly ascending from 0;
    /// zeros and values that are not finite may be among them. `None` for a line without data.
    fn line<'t>(&self, line: u64, text: &'t [u8], entry: impl FnMut(u32, f64)) -> Result<Option<Head<'t>>, DataError>;

    /// Where a value is, for messages.
    fn place(&self, line: u64, column: u32) -> Place;

    /// Number of features, 0 where the largest index tells.
    fn features(&self) -> usize;
}

/// What the two passes give.
pub(crate) struct SparseTable {
    pub(crate) design: SparseDesign<'static>,
    pub(crate) target: Option<Target>,
    /// Lines with a `qid` entry.
    pub(crate) queries: u64,
}

/// What pass 1 finds.
struct Survey {
    /// Rows.
    rows: usize,
    /// Non-zeros of each column, length p.
    columns: Vec<u32>,
    target: Option<Target>,
    /// Lines with a `qid` entry.
    queries: u64,
}

/// What must fit into memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoryUse {
    /// The matrix.
    Matrix,
    /// Counts of the columns and classes of the rows.
    Counts,
}

/// Reads matrix and target; `target` is the name of the target column.
pub(crate) fn read<R: SparseRows>(
    source: &Source,
    reader: &R,
    target: &str,
    options: &ReadOptions,
) -> Result<SparseTable, DataError> {
    let Survey { rows, columns, target, queries } = survey(source, reader, target, options, MemoryUse::Matrix)?;
    let (start, indices, values) = fill(source, reader, options, columns, rows)?;
    let design = SparseDesign::new(rows, start, indices, values).map_err(|_| changed(&source.name))?;
    Ok(SparseTable { design, target, queries })
}

/// Reads names, target and values for a column file at `out`; the values may be more than the
/// memory holds. `names` are x1, x2, ... if none are given.
pub(crate) fn sorted<R: SparseRows>(
    source: &Source,
    reader: &R,
    target: &str,
    names: Option<Vec<String>>,
    options: &ReadOptions,
    out: &str,
) -> Result<(Sorted, u64), DataError> {
    let Survey { rows, columns, target, queries } = survey(source, reader, target, options, MemoryUse::Counts)?;
    let names = names.map_or(Names::Numbered(columns.len()), Names::Listed);
    let mut values = Sorter::new(&source.name, out, rows, &columns, options.memory())?;
    let (firsts, mut base) = (values.firsts(), 0);
    each_piece(
        source,
        &Lines,
        options.memory(),
        |piece| entries(reader, piece, Buckets::new(&firsts, room(piece))),
        |pieces| values.put(&placed(pieces, &mut base)),
    )?;
    if base != rows {
        return Err(changed(&source.name));
    }
    Ok((Sorted { values, names, target, notes: Vec::new() }, queries))
}

/// Pass 1.
fn survey<R: SparseRows>(
    source: &Source,
    reader: &R,
    target: &str,
    options: &ReadOptions,
    used: MemoryUse,
) -> Result<Survey, DataError> {
    let file = &source.name;
    let mut counts = Counts { columns: vec![0; reader.features()], ..Counts::default() };
    each_piece(
        source,
        &Lines,
        options.memory(),
        |piece| count(reader, piece, options.missing),
        |pieces| {
            for piece in pieces {
                counts.add(piece);
            }
            match used {
                MemoryUse::Matrix => check_memory(file, "the sparse matrix", counts.bytes(), options.memory()),
                MemoryUse::Counts => {
                    check_memory(file, "the counts of all columns", counts.held_bytes(), options.memory())
                }
            }
        },
    )?;
    if counts.rows == 0 {
        return Err(if reader.features() == 0 {
            DataError::Empty { file: file.clone() }
        } else {
            DataError::NoRows { file: file.clone() }
        });
    }
    counts.bad.check()?;
    if u32::try_from(counts.rows).is_err() {
        return Err(malformed(Place::line(file, 1), "more than 4294967295 rows", "split the file"));
    }
    let labels = counts.target(file, target, options)?;
    if counts.columns.is_empty() && !options.target_optional {
        return Err(DataError::NoFeatures { file: file.clone(), target: target.into() });
    }
    Ok(Survey { rows: counts.rows as usize, columns: counts.columns, target: labels, queries: counts.queries })
}

/// Pass 1 on one piece; `missing`: NaN is accepted.
fn count<R: SparseRows>(reader: &R, piece: Piece<'_>, missing: bool) -> Result<PieceCount, DataError> {
    let mut out = PieceCount { columns: Vec::with_capacity(piece.text.len() / 8), ..PieceCount::default() };
    let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
    for (line, text) in piece.lines() {
        let (columns, bad) = (&mut out.columns, &mut out.bad);
        let head = reader.line(line, text, |column, value| {
            if value != 0.0 {
                columns.push(column);
                if is_bad(value, missing) {
                    bad.add(value, || (reader.place(line, column), value.to_string()));
                }
            }
            out.p = out.p.max(column + 1);
        })?;
        let Some(head) = head else { continue };
        out.rows += 1;
        out.queries += u64::from(head.query);
        let Some(label) = head.label else {
            out.first_unlabelled.get_or_insert(line);
            continue;
        };
        let code = known.get(&*label).copied().unwrap_or_else(|| {
            let code = known.len() as u32;
            known.insert(label.to_vec(), code);
            out.classes.push(class_name(&String::from_utf8_lossy(&label)));
            code
        });
        out.codes.push(code);
    }
    Ok(out)
}

/// Pass 2 on one piece: its number of rows, and its values in the buckets, rows from its own first.
fn entries<R: SparseRows>(reader: &R, piece: Piece<'_>, mut buckets: Buckets) -> Result<(usize, Buckets), DataError> {
    let mut rows = 0;
    for (line, text) in piece.lines() {
        let head = reader.line(line, text, |column, value| {
            if value != 0.0 {
                buckets.push(column, rows, value);
            }
        })?;
        rows += u32::from(head.is_some());
    }
    Ok((rows as usize, buckets))
}

/// About the values in so much text.
fn room(piece: Piece<'_>) -> usize {
    piece.text.len() / 6
}

/// Pass 1: what one piece holds.
#[derive(Default)]
struct PieceCount {
    rows: u64,
    p: u32,
    columns: Vec<u32>,
    classes: Vec<String>,
    codes: Vec<u32>,
    queries: u64,
    first_unlabelled: Option<u64>,
    bad: NotFinite,
}

/// Pass 1: what the file holds so far.
#[derive(Default)]
struct Counts {
    rows: u64,
    columns: Vec<u32>,
    stored: u64,
    labels: Labels,
    queries: u64,
    first_unlabelled: Option<u64>,
    bad: NotFinite,
}

impl Counts {
    fn add(&mut self, piece: PieceCount) {
        if self.columns.len() < piece.p as usize {
            self.columns.resize(piece.p as usize, 0);
        }
        for &column in &piece.columns {
            self.columns[column as usize] += 1;
        }
        self.stored += piece.columns.len() as u64;
        let codes: Vec<u32> = piece.classes.iter().map(|name| self.labels.code(name)).collect();
        piece.codes.iter().for_each(|&code| self.labels.push_code(codes[code as usize]));
        self.rows += piece.rows;
        self.queries += piece.queries;
        self.first_unlabelled = self.first_unlabelled.or(piece.first_unlabelled);
        self.bad.join(piece.bad);
    }

    fn bytes(&self) -> u64 {
        12 * self.stored + self.held_bytes()
    }

    /// Without the matrix.
    fn held_bytes(&self) -> u64 {
        8 * (self.columns.len() as u64 + 1) + 4 * self.rows
    }

    /// The target, or none when no line has a label.
    fn target(&mut self, file: &str, column: &str, options: &ReadOptions) -> Result<Option<Target>, DataError> {
        if let Some(line) = self.first_unlabelled {
            if self.labels.len() == 0 {
                return Ok(None);
            }
            let found = "this line has no label, but others have";
            return Err(malformed(Place::line(file, line), found, "label all lines or none"));
        }
        let target = std::mem::take(&mut self.labels).finish(column.into());
        if !options.target_optional {
            target.check(file)?;
        }
        Ok(Some(target))
    }
}

/// Starts, row indices and values of columns.
type Arrays = (Vec<usize>, Vec<u32>, Vec<f64>);

/// Pass 2: `counts[j]` non-zeros are in column j.
fn fill<R: SparseRows>(
    source: &Source,
    reader: &R,
    options: &ReadOptions,
    counts: Vec<u32>,
    n: usize,
) -> Result<Arrays, DataError> {
    // The next free place of each column.
    let mut next = starts(&counts);
    drop(counts);
    let stored = next.pop().unwrap_or(0);
    let bounds: Arc<[u32]> = column_bounds(&next, stored).into();
    let offsets: Vec<usize> = bounds.iter().map(|&b| next.get(b as usize).copied().unwrap_or(stored)).collect();
    let (mut rows, mut values) = (vec![0u32; stored], vec![0.0f64; stored]);
    let mut base = 0usize;
    each_piece(
        source,
        &Lines,
        options.memory(),
        |piece| entries(reader, piece, Buckets::new(&bounds, room(piece))),
        |pieces| {
            let pieces = placed(pieces, &mut base);
            let buckets = split(&bounds, &offsets, &mut next, &mut rows, &mut values);
            let fits = buckets
                .into_par_iter()
                .enumerate()
                .map(|(at, mut bucket)| pieces.iter().all(|(base, piece)| bucket.put(*base, piece.range(at))));
            if fits.collect::<Vec<_>>().contains(&false) { Err(changed(&source.name)) } else { Ok(()) }
        },
    )?;
    // Every cursor has moved to the start of the following column.
    next.insert(0, 0);
    if base != n {
        return Err(changed(&source.name));
    }
    Ok((next, rows, values))
}

/// What pieces hold, each with its first row instead of their number; `base` moves on.
pub(crate) fn placed<T>(pieces: Vec<(usize, T)>, base: &mut usize) -> Vec<(usize, T)> {
    let mut first = |rows: usize| std::mem::replace(base, base.saturating_add(rows));
    pieces.into_iter().map(|(rows, piece)| (first(rows), piece)).collect()
}

/// First columns of the buckets, about the same number of values in each, one bucket a thread.
pub(crate) fn column_bounds(start: &[usize], stored: usize) -> Vec<u32> {
    let buckets = rayon::current_num_threads().clamp(1, 16);
    let mut bounds: Vec<u32> =
        (0..buckets).map(|b| start.partition_point(|&s| s < stored / buckets * b) as u32).collect();
    bounds[0] = 0;
    bounds.dedup();
    bounds
}

/// A range of columns with its part of the arrays, for one thread to fill.
pub(crate) struct Bucket<'a> {
    first_column: usize,
    offset: usize,
    next: &'a mut [usize],
    rows: &'a mut [u32],
    values: &'a mut [f64],
}

impl Bucket<'_> {
    /// Puts the entries at their places; false when there is no such place.
    fn put(&mut self, base: usize, entries: &[Entry]) -> bool {
        entries
            .iter()
            .all(|entry| self.put_one(entry.column as usize, (base as u32).wrapping_add(entry.row), entry.value))
    }

    /// Puts an entry at its place; false when there is no such place.
    pub(crate) fn put_one(&mut self, column: usize, row: u32, value: f64) -> bool {
        let Some(next) = self.next.get_mut(column - self.first_column) else { return false };
        let at = *next - self.offset;
        let (Some(row_at), Some(value_at)) = (self.rows.get_mut(at), self.values.get_mut(at)) else { return false };
        (*row_at, *value_at) = (row, value);
        *next += 1;
        true
    }

    /// The columns of the bucket.
    pub(crate) fn columns(&self) -> Range<usize> {
        self.first_column..self.first_column + self.next.len()
    }
}

/// Cuts the arrays into buckets: columns from `bounds[b]`, values from `offsets[b]`.
pub(crate) fn split<'a>(
    bounds: &[u32],
    offsets: &[usize],
    next: &'a mut [usize],
    rows: &'a mut [u32],
    values: &'a mut [f64],
) -> Vec<Bucket<'a>> {
    let bounds: Vec<usize> = bounds.iter().map(|&first| first as usize).collect();
    let arrays = parts(next, &bounds).into_iter().zip(parts(rows, offsets)).zip(parts(values, offsets));
    let firsts = bounds.iter().zip(offsets);
    let bucket =
        |(((next, rows), values), (&first_column, &offset))| Bucket { first_column, offset, next, rows, values };
    arrays.zip(firsts).map(bucket).collect()
}

/// The parts of a slice that begin at `firsts`, of which the first is 0; the last part is the rest.
pub(crate) fn parts<'s, T>(mut all: &'s mut [T], firsts: &[usize]) -> Vec<&'s mut [T]> {
    let mut parts = Vec::with_capacity(firsts.len());
    for at in 0..firsts.len() {
        let (part, rest) = all.split_at_mut(firsts.get(at + 1).map_or(all.len(), |&next| next - firsts[at]));
        parts.push(part);
        all = rest;
    }
    parts
}
