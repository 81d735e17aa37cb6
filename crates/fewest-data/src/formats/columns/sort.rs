//! Values in any order of columns, brought into column files: on the disk where they are more than
//! the memory holds.
//!
//! Ranges of columns are settled before the first value, so that one surely fits into memory. Each
//! value goes to the range of its column as it comes. When an eighth of the memory is full, or
//! 64 MiB, what is there goes to a file without a name beside the output, one block for each range.
//! In the end the ranges are read back in order, one on each thread, and every value goes to the
//! place that the counts of the columns tell: nothing is compared.
//!
//! So a source is read once for its values, whatever the memory is. To read it again for each range
//! would need no disk, but with an eighth of the data as memory it would be 16 passes over text
//! that must be split, and perhaps decompressed, each time; here every value is written and read
//! once, 16 bytes at the speed of a copy.
//!
//! Given    rows that ascend within a column; the order of columns is free.
//! Disk     16 bytes a value beside the output until it is written; none where all values take
//!          less than an eighth of the memory and 64 MiB.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use fewest_svm::AllOrFirst as _;
use fewest_svm::FeatureSet;
use rayon::prelude::*;

use super::write::{ENTRY, Facts, column_bytes, ranges, write};
use super::{check_place, starts};
use crate::error::malformed;
use crate::io::memory::check_memory;
use crate::io::waves::changed;
use crate::matrix::dataset::one_value;
use crate::{DataError, Names, Note, Place, Target, io::output};

/// A value with its place.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) column: u32,
    pub(crate) row: u32,
    pub(crate) value: f64,
}

/// Bytes of an entry, in memory and on the disk.
const HELD: u64 = 16;

/// Most bytes of a range: in a larger one the places of the values are far apart in memory.
const LARGEST_RANGE: u64 = 32 << 20;

/// Most bytes before the disk is asked: to hold more takes longer than to write and read it.
const MOST_HELD: u64 = 64 << 20;

impl Entry {
    fn bytes(self) -> [u8; HELD as usize] {
        let place = u128::from(self.column) | u128::from(self.row) << 32;
        (place | u128::from(self.value.to_bits()) << 64).to_le_bytes()
    }

    fn of(bytes: [u8; HELD as usize]) -> Self {
        let all = u128::from_le_bytes(bytes);
        Self { column: all as u32, row: (all >> 32) as u32, value: f64::from_bits((all >> 64) as u64) }
    }
}

/// The range that a column is in, given the first column of each.
fn range_of(firsts: &[u32], column: u32) -> usize {
    firsts.partition_point(|&first| first <= column).saturating_sub(1)
}

/// Values of a piece of the source, by range; for one thread to fill.
pub(crate) struct Buckets {
    firsts: Arc<[u32]>,
    at: usize,
    entries: Vec<Vec<Entry>>,
}

impl Buckets {
    /// Empty ones, given the first column of each, with room for about this many values together.
    pub(crate) fn new(firsts: &Arc<[u32]>, room: usize) -> Self {
        let entries = firsts.iter().map(|_| Vec::with_capacity(room / firsts.len())).collect();
        Self { firsts: Arc::clone(firsts), at: 0, entries }
    }

    /// What a range got, in order.
    pub(crate) fn range(&self, at: usize) -> &[Entry] {
        &self.entries[at]
    }

    /// Takes a value; rows may count from any first one.
    pub(crate) fn push(&mut self, column: u32, row: u32, value: f64) {
        let inside = self.firsts[self.at] <= column && self.firsts.get(self.at + 1).is_none_or(|&next| column < next);
        if !inside {
            self.at = range_of(&self.firsts, column);
        }
        self.entries[self.at].push(Entry { column, row, value });
    }
}

/// What is known of a range of columns.
struct ColumnRange {
    first: u32,
    /// Values of each column so far.
    counts: Vec<u32>,
    /// Values that are not on the disk.
    held: Vec<Entry>,
    /// Position and number of the values that are.
    blocks: Vec<(u64, usize)>,
}

impl ColumnRange {
    /// Takes a value; false where there is no such column.
    fn put(&mut self, entry: Entry) -> bool {
        let Some(count) = self.counts.get_mut(entry.column.wrapping_sub(self.first) as usize) else { return false };
        *count += 1;
        self.held.push(entry);
        true
    }
}

/// Rows and values of a range, and which of its columns have one value only.
type Columns = (Vec<u32>, Vec<f64>, Vec<usize>);

/// Takes values and writes the column file of them.
pub(crate) struct Sorter {
    /// The source, for messages.
    file: String,
    out: String,
    n: usize,
    /// Most values in memory as they come.
    most_held: u64,
    /// Bytes of columns in memory in the end, if one column is not more.
    at_once: u64,
    firsts: Arc<[u32]>,
    parts: Vec<ColumnRange>,
    /// Values in memory.
    held: u64,
    disk: Option<output::Draft>,
    /// Bytes on it.
    written: u64,
}

impl Sorter {
    /// For n rows, and columns of at most `most[j]` values, to be written to `out`.
    ///
    /// # Errors
    /// A place that cannot hold a column file; more rows than one can have; counts or a single
    /// column that `memory` (bytes) does not hold.
    pub(crate) fn new(file: &str, out: &str, n: usize, most: &[u32], memory: u64) -> Result<Self, DataError> {
        check_place(out)?;
        if u32::try_from(n).is_err() {
            return Err(malformed(Place::line(file, 1), "more than 4294967295 rows", "split the file"));
        }
        check_memory(file, "the counts of all columns", 8 * most.len() as u64 + 4 * n as u64, memory)?;
        let longest = most.iter().max().map_or(0, |&most| u64::from(most));
        check_memory(file, "a single column", 2 * ENTRY * longest, memory)?;
        let threads = rayon::current_num_threads() as u64;
        let range = (memory / 2 / threads).min(LARGEST_RANGE);
        let mut ranges = ranges(most, |&count| column_bytes(count), range);
        if ranges.is_empty() {
            ranges.push(0..0);
        }
        let part = |range: &std::ops::Range<usize>| ColumnRange {
            first: range.start as u32,
            counts: vec![0; range.len()],
            held: Vec::new(),
            blocks: Vec::new(),
        };
        Ok(Self {
            file: file.to_owned(),
            out: out.to_owned(),
            n,
            most_held: (memory / 8).min(MOST_HELD) / HELD,
            at_once: threads * range,
            firsts: ranges.iter().map(|range| range.start as u32).collect(),
            parts: ranges.iter().map(part).collect(),
            held: 0,
            disk: None,
            written: 0,
        })
    }

    /// The first column of each of its ranges.
    pub(crate) fn firsts(&self) -> Arc<[u32]> {
        Arc::clone(&self.firsts)
    }

    /// Takes the values of pieces of the source in order, the rows of each from a first one on.
    ///
    /// # Errors
    /// A value outside the matrix; a disk that does not take the values.
    pub(crate) fn put(&mut self, pieces: &[(usize, Buckets)]) -> Result<(), DataError> {
        let n = self.n;
        let fits = self.parts.par_iter_mut().enumerate().all(|(at, part)| {
            pieces.iter().all(|(base, piece)| {
                piece.range(at).iter().all(|entry| {
                    let row = base + entry.row as usize;
                    row < n && part.put(Entry { row: row as u32, ..*entry })
                })
            })
        });
        let taken: usize = pieces.iter().flat_map(|(_, piece)| &piece.entries).map(Vec::len).sum();
        self.took(taken, fits)
    }

    /// Takes values of one column, from a first row on; zeros are left out.
    ///
    /// # Errors
    /// As [`Sorter::put`].
    #[cfg(feature = "parquet")]
    pub(crate) fn put_column(&mut self, column: usize, row: usize, values: &[f64]) -> Result<(), DataError> {
        let column = column as u32;
        let part = &mut self.parts[range_of(&self.firsts, column)];
        let before = part.held.len();
        let mut others = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let fits = row + values.len() <= self.n
            && others.all(|(i, &value)| part.put(Entry { column, row: (row + i) as u32, value }));
        let taken = part.held.len() - before;
        self.took(taken, fits)
    }

    /// Counts values that were taken, and brings all that are held to the disk if they are many.
    fn took(&mut self, values: usize, fits: bool) -> Result<(), DataError> {
        if !fits {
            return Err(changed(&self.file));
        }
        self.held += values as u64;
        if self.held > self.most_held { self.spill() } else { Ok(()) }
    }

    /// Brings what is held to the disk.
    fn spill(&mut self) -> Result<(), DataError> {
        self.write_held().map_err(|source| DataError::Output { file: self.out.clone(), source })
    }

    fn write_held(&mut self) -> io::Result<()> {
        if self.disk.is_none() {
            self.disk = Some(output::Draft::new(&self.out)?);
        }
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut to = BufWriter::with_capacity(1 << 18, disk.file());
        let fair = (self.held as usize).div_ceil(self.parts.len());
        for part in self.parts.iter_mut().filter(|part| !part.held.is_empty()) {
            part.held.iter().try_for_each(|entry| to.write_all(&entry.bytes()))?;
            part.blocks.push((self.written, part.held.len()));
            self.written += HELD * part.held.len() as u64;
            part.held.clear();
            // What one range took may be another's next time.
            part.held.shrink_to(fair);
        }
        self.held = 0;
        to.flush()
    }

    /// The values of a range, column after column.
    fn columns(&self, part: &ColumnRange) -> io::Result<Columns> {
        let mut next = starts(&part.counts);
        let stored = next.pop().unwrap_or(0);
        let (mut rows, mut values) = (vec![0u32; stored], vec![0.0f64; stored]);
        let mut place = |entry: Entry| {
            let at = &mut next[(entry.column - part.first) as usize];
            (rows[*at], values[*at]) = (entry.row, entry.value);
            *at += 1;
        };
        if let Some(disk) = self.disk.as_ref().filter(|_| !part.blocks.is_empty()) {
            let mut from = BufReader::with_capacity(1 << 18, disk.reopen()?);
            let mut bytes = [0; HELD as usize];
            for &(at, entries) in &part.blocks {
                from.seek(SeekFrom::Start(at))?;
                for _ in 0..entries {
                    from.read_exact(&mut bytes)?;
                    place(Entry::of(bytes));
                }
            }
        }
        part.held.iter().for_each(|entry| place(*entry));
        let ends = || std::iter::once(&0).chain(&next).zip(&next).enumerate();
        let constant = ends().filter(|(_, (from, to))| one_value(self.n, &values[**from..**to]));
        let constant = constant.map(|(j, _)| part.first as usize + j).collect();
        Ok((rows, values, constant))
    }

    /// Writes the file. Returns the columns with one value only.
    fn write(mut self, names: &Names, target: Option<&Target>) -> Result<FeatureSet, DataError> {
        if self.disk.is_some() {
            self.spill()?;
        }
        let counts = self.parts.iter().flat_map(|part| &part.counts).copied().collect::<Vec<_>>();
        let facts = Facts { n: self.n, counts: &counts, names, target };
        let mut constant = FeatureSet::default();
        write(&self.out, &facts, |blocks| {
            let output = |source: io::Error| DataError::Output { file: self.out.clone(), source };
            for group in
                ranges(&self.parts, |part| part.counts.iter().map(|&count| column_bytes(count)).sum(), self.at_once)
            {
                let columns: io::Result<Vec<Columns>> =
                    self.parts[group].par_iter().map(|part| self.columns(part)).all_or_first();
                for (rows, values, same) in columns.map_err(output)? {
                    blocks.push(&rows, &values).map_err(output)?;
                    constant.extend(same);
                }
            }
            Ok(())
        })?;
        Ok(constant)
    }
}

/// A data file that was read, its values in a [`Sorter`].
pub(crate) struct Sorted {
    pub(crate) values: Sorter,
    /// Names of the p features.
    pub(crate) names: Names,
    /// Classes of the n rows.
    pub(crate) target: Option<Target>,
    /// Things to tell the user.
    pub(crate) notes: Vec<Note>,
}

impl Sorted {
    /// Samples and features.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.values.n, self.names.len())
    }

    /// Writes the column file. Returns all notes.
    pub(crate) fn write(self) -> Result<Vec<Note>, DataError> {
        let Self { values, names, target, mut notes } = self;
        notes.extend(Note::constant(&values.write(&names, target.as_ref())?, &names));
        Ok(notes)
    }
}
