//! The check of all column starts, row indices and values of a column file, as they are read.
//!
//! They are read from the file in pieces, by all threads, and not through the map: its pages would
//! come one fault at a time, and most of the time of opening would be waiting for them. Where
//! columns start comes through the map once more with the row indices; its pages are given back
//! where they are more than may stay.
//!
//! Order    a row index that is not above the one before it is right where a column starts, and
//!          nowhere else; so both are counted, without reading single columns.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

use crc32fast::Hasher;
use rayon::prelude::*;

use super::{EntrySums, Layout};
use crate::Names;
use crate::matrix::mapped::{Map, column_starts};

/// Entries of a piece: 512 KiB of row indices, 1 MiB of values.
const PIECE: usize = 1 << 17;

/// What is wrong with a file.
pub(super) enum Flaw {
    /// It cannot be read.
    Read(io::Error),
    /// In words.
    Content(String),
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Self {
        Flaw::Read(error)
    }
}

/// The entries of some columns of a file with a matrix of n rows, whose column starts ascend.
pub(super) struct Entries<'a> {
    pub(super) file: &'a File,
    pub(super) map: &'a Map,
    pub(super) layout: &'a Layout,
    pub(super) n: u32,
    pub(super) columns: Range<usize>,
    /// The names of all columns of the file.
    pub(super) names: &'a Names,
}

impl Entries<'_> {
    /// Examines all of them; returns their checksums, and the largest size of a value.
    pub(super) fn check(&self) -> Result<(EntrySums, f64), Flaw> {
        let entries = self.range();
        let (rows, _) = each_piece(&entries, |at, count, buffer| Ok((self.rows(at, count, buffer)?, ())))?;
        let (values, largest) = each_piece(&entries, |at, count, buffer| self.values(at, count, buffer))?;
        Ok((EntrySums { stored: entries.len() as u64, rows, values }, largest.into_iter().fold(0.0, f64::max)))
    }

    /// Where its columns begin among the entries of the file.
    fn start(&self) -> &[usize] {
        column_starts(self.map.bytes(), self.layout.starts as usize, &self.columns)
    }

    /// The entries' range among those of the file.
    fn range(&self) -> Range<usize> {
        let start = self.start();
        start[0]..start[start.len() - 1]
    }

    /// Name of the column that entry k is in.
    fn name(&self, k: usize) -> Cow<'_, str> {
        self.names.get(self.columns.start + self.start().partition_point(|&s| s <= k) - 1)
    }

    fn rows(&self, at: usize, count: usize, buffer: &mut Vec<u64>) -> Result<Hasher, Flaw> {
        // With the entry before, which the first of these is held against.
        let start = self.start();
        let from = if at == start[0] { at } else { at - 1 };
        let bytes = read(self.file, self.layout.rows + 4 * from as u64, 4 * (at + count - from), buffer)?;
        let mut hasher = Hasher::new();
        hasher.update(&bytes[4 * (at - from)..]);
        let rows: &[u32] = bytemuck::cast_slice(bytes);
        let largest = rows.iter().fold(0, |most, &i| most.max(i));
        let falls: usize = rows.windows(2).map(|pair| usize::from(pair[0] >= pair[1])).sum();
        let falls_at = |k: usize| rows[k - 1 - from] >= rows[k - from];
        let starts = |k: usize| start.partition_point(|&s| s < k);
        let (first, last) = (starts(from + 1), starts(at + count));
        // Of empty columns that start at the same entry one counts.
        let expected: usize = start[first..=last].windows(2).map(|s| usize::from(s[0] != s[1] && falls_at(s[0]))).sum();
        self.map.passed(first, last, 8 * (last - first) as u64);
        if falls == expected && largest < self.n {
            return Ok(hasher);
        }
        let wrong =
            |k: &usize| rows[k - from] >= self.n || (*k > from && falls_at(*k) && start.binary_search(k).is_err());
        let k = (from..at + count).find(wrong).expect("counted");
        Err(Flaw::Content(format!("the row indices of {} are out of order", self.name(k))))
    }

    fn values(&self, at: usize, count: usize, buffer: &mut Vec<u64>) -> Result<(Hasher, f64), Flaw> {
        let bytes = read(self.file, self.layout.values + 8 * at as u64, 8 * count, buffer)?;
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        let values: &[f64] = bytemuck::cast_slice(bytes);
        // The bits of numbers without their sign are in the order of their size, NaN above all.
        let largest = f64::from_bits(values.iter().fold(0, |most, x| most.max(x.abs().to_bits())));
        if largest.is_finite() {
            return Ok((hasher, largest));
        }
        let k = at + values.iter().position(|x| !x.is_finite()).expect("just seen");
        Err(Flaw::Content(format!("{} has a value that is not finite", self.name(k))))
    }
}

/// Checksum of all column starts, and whether they ascend from one to the next by at most n.
pub(super) fn starts(file: &File, layout: &Layout, p: usize, n: usize) -> Result<(u32, bool), Flaw> {
    let piece = |at: usize, count: usize, buffer: &mut Vec<u64>| {
        // With the start before.
        let from = at.saturating_sub(1);
        let bytes = read(file, layout.starts + 8 * from as u64, 8 * (at + count - from), buffer)?;
        let mut hasher = Hasher::new();
        hasher.update(&bytes[8 * (at - from)..]);
        Ok((hasher, are_starts(bytemuck::cast_slice(bytes), n)))
    };
    let (sum, ascend) = each_piece(&(0..p + 1), piece)?;
    Ok((sum, !ascend.contains(&false)))
}

/// Whether columns begin in order, and none has more entries than there are rows.
pub(super) fn are_starts(start: &[usize], n: usize) -> bool {
    start.windows(2).all(|w| w[0] <= w[1] && w[1] - w[0] <= n)
}

/// Reads `bytes` bytes from `from` on.
fn read<'b>(file: &File, from: u64, bytes: usize, buffer: &'b mut Vec<u64>) -> io::Result<&'b [u8]> {
    buffer.resize(bytes.div_ceil(8), 0);
    let into = &mut bytemuck::cast_slice_mut(buffer)[..bytes];
    read_exact_at(file, into, from)?;
    Ok(into)
}

/// Every piece: the checksum of them together, and what is found of each, in order.
fn each_piece<T: Send>(
    entries: &Range<usize>,
    piece: impl Fn(usize, usize, &mut Vec<u64>) -> Result<(Hasher, T), Flaw> + Sync,
) -> Result<(u32, Vec<T>), Flaw> {
    let pieces = (0..entries.len().div_ceil(PIECE)).into_par_iter().map(|k| entries.start + k * PIECE);
    let one = |buffer: &mut Vec<u64>, at: usize| piece(at, PIECE.min(entries.end - at), buffer);
    let found: Vec<Result<(Hasher, T), Flaw>> = pieces.map_init(Vec::new, one).collect();
    let (mut all, mut each) = (Hasher::new(), Vec::with_capacity(found.len()));
    for piece in found {
        let (hasher, of_piece) = piece?;
        all.combine(&hasher);
        each.push(of_piece);
    }
    Ok((all.finalize(), each))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let got = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[got..];
        at += got as u64;
    }
    Ok(())
}

/// On one thread, as a position is of the file.
#[cfg(target_family = "wasm")]
fn read_exact_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The notes on a file of these columns.
    fn flaw(n: u32, start: &[usize], rows: &[u32], values: &[f64]) -> Option<String> {
        let (p, at) = (start.len() - 1, |count: usize| 8 * start.len() as u64 + 4 * count as u64);
        let mut file = tempfile::tempfile().unwrap();
        for bytes in [bytemuck::cast_slice(start), bytemuck::cast_slice(rows), bytemuck::cast_slice(values)] {
            file.write_all(bytes).unwrap();
        }
        let layout = Layout { starts: 0, rows: at(0), values: at(rows.len()), labels: 0, text: 0, end: 0 };
        let (names, map) = (Names::Numbered(p), Map::new(&file, 0).unwrap());
        let check = |columns| Entries { file: &file, map: &map, layout: &layout, n, columns, names: &names }.check();
        let found = |columns: Range<usize>| match check(columns.clone()) {
            Ok((sums, largest)) => {
                let (sum, entries) = (crc32fast::hash, start[columns.start]..start[columns.end]);
                assert_eq!(sums.rows, sum(bytemuck::cast_slice(&rows[entries.clone()])));
                assert_eq!(sums.values, sum(bytemuck::cast_slice(&values[entries.clone()])));
                assert_eq!(largest, values[entries].iter().fold(0.0f64, |most, x| most.max(x.abs())));
                None
            }
            Err(Flaw::Content(what)) => Some(what),
            Err(Flaw::Read(error)) => panic!("{error}"),
        };
        // A part says what the whole says, of the flaws in it.
        let (whole, parts) = (found(0..p), [found(0..p / 3), found(p / 3..p)]);
        assert_eq!(whole, parts.into_iter().flatten().next());
        whole
    }

    #[test]
    fn order_and_finite_values_are_checked_in_every_column_and_over_pieces() {
        // Columns of 0, 1, 2 and 3 entries in turn, over three pieces.
        let (mut start, mut rows) = (vec![0], Vec::new());
        while rows.len() < 2 * PIECE + 1000 {
            let length = start.len() as u32 % 4;
            let first = rows.len() as u32 % 5;
            rows.extend((0..length).map(|i| first + 2 * i));
            start.push(rows.len());
        }
        let values: Vec<f64> = (0..rows.len()).map(|k| 1.0 - k as f64).collect();
        assert_eq!(flaw(9, &start, &rows, &values), None);
        let column = |k: usize| start.partition_point(|&s| s <= k) - 1;
        for k in [0, 1, 5, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, rows.len() - 1] {
            let named = |what: &str| what.replace("x0", &format!("x{}", column(k) + 1));
            let (mut far, mut values) = (rows.clone(), values.clone());
            far[k] = 9;
            assert_eq!(flaw(9, &start, &far, &values), Some(named("the row indices of x0 are out of order")));
            values[k] = f64::NAN;
            assert_eq!(flaw(9, &start, &rows, &values), Some(named("x0 has a value that is not finite")));
            // Equal to the one before, in the same column.
            if k > 0 && column(k) == column(k - 1) {
                let mut equal = rows.clone();
                equal[k] = rows[k - 1];
                assert_eq!(
                    flaw(9, &start, &equal, &vec![1.0; rows.len()]),
                    Some(named("the row indices of x0 are out of order"))
                );
            }
        }
        assert_eq!(flaw(9, &[0, 0, 0], &[], &[]), None);
    }
}
