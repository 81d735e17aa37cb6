//! The check of all row indices and values of a column file, as they are read.
//!
//! They are read from the file in pieces, by all threads, and not through the map: its pages would
//! come one fault at a time, and most of the time of opening would be waiting for them.
//!
//! Order    a row index that is not above the one before it is right where a column starts, and
//!          nowhere else; so both are counted, without a look at single columns.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use crc32fast::Hasher;
use rayon::prelude::*;

use super::{EntrySums, Layout};
use crate::Names;

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

/// The entries of columns of a matrix of n rows: `layout` says where they begin, `start` where each
/// column does among them.
pub(super) struct Entries<'a> {
    pub(super) file: &'a File,
    pub(super) layout: &'a Layout,
    pub(super) n: u32,
    pub(super) start: &'a [usize],
    /// Of all columns of the file; the first one here is `first`.
    pub(super) names: &'a Names,
    pub(super) first: usize,
}

impl Entries<'_> {
    /// Looks at all of them; returns their checksums.
    pub(super) fn check(&self) -> Result<EntrySums, Flaw> {
        Ok(EntrySums {
            stored: self.start[self.start.len() - 1] as u64,
            rows: self.all(|at, count, buffer| self.rows(at, count, buffer))?,
            values: self.all(|at, count, buffer| self.values(at, count, buffer))?,
        })
    }

    /// Every piece, and the checksum of them together.
    fn all(&self, piece: impl Fn(usize, usize, &mut Vec<u64>) -> Result<Hasher, Flaw> + Sync) -> Result<u32, Flaw> {
        let stored = self.start[self.start.len() - 1];
        let pieces = (0..stored.div_ceil(PIECE)).into_par_iter();
        let one = |buffer: &mut Vec<u64>, at: usize| piece(at * PIECE, PIECE.min(stored - at * PIECE), buffer);
        let found: Vec<Result<Hasher, Flaw>> = pieces.map_init(Vec::new, one).collect();
        let mut all = Hasher::new();
        for hasher in found {
            all.combine(&hasher?);
        }
        Ok(all.finalize())
    }

    /// Name of the column that entry k is in.
    fn name(&self, k: usize) -> Cow<'_, str> {
        self.names.get(self.first + self.start.partition_point(|&s| s <= k) - 1)
    }

    /// Reads `bytes` bytes from `from` on.
    fn read<'b>(&self, from: u64, bytes: usize, buffer: &'b mut Vec<u64>) -> io::Result<&'b [u8]> {
        buffer.resize(bytes.div_ceil(8), 0);
        let into = &mut bytemuck::cast_slice_mut(buffer)[..bytes];
        read_exact_at(self.file, into, from)?;
        Ok(into)
    }

    fn rows(&self, at: usize, count: usize, buffer: &mut Vec<u64>) -> Result<Hasher, Flaw> {
        // With the entry before, which the first of these is held against.
        let from = at.saturating_sub(1);
        let bytes = self.read(self.layout.rows + 4 * from as u64, 4 * (at + count - from), buffer)?;
        let mut hasher = Hasher::new();
        hasher.update(&bytes[4 * (at - from)..]);
        let rows: &[u32] = bytemuck::cast_slice(bytes);
        let largest = rows.iter().fold(0, |most, &i| most.max(i));
        let falls: usize = rows.windows(2).map(|pair| usize::from(pair[0] >= pair[1])).sum();
        let falls_at = |k: usize| rows[k - 1 - from] >= rows[k - from];
        let starts = |k: usize| self.start.partition_point(|&s| s < k);
        let columns = &self.start[starts(from + 1)..=starts(at + count)];
        // Of empty columns that start at the same entry one counts.
        let expected: usize = columns.windows(2).map(|s| usize::from(s[0] != s[1] && falls_at(s[0]))).sum();
        if falls == expected && largest < self.n {
            return Ok(hasher);
        }
        let wrong =
            |k: &usize| rows[k - from] >= self.n || (*k > from && falls_at(*k) && self.start.binary_search(k).is_err());
        let k = (from..at + count).find(wrong).expect("counted");
        Err(Flaw::Content(format!("the row indices of {} are out of order", self.name(k))))
    }

    fn values(&self, at: usize, count: usize, buffer: &mut Vec<u64>) -> Result<Hasher, Flaw> {
        let bytes = self.read(self.layout.values + 8 * at as u64, 8 * count, buffer)?;
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        let values: &[f64] = bytemuck::cast_slice(bytes);
        if values.iter().fold(true, |all, x| all & x.is_finite()) {
            return Ok(hasher);
        }
        let k = at + values.iter().position(|x| !x.is_finite()).expect("just seen");
        Err(Flaw::Content(format!("{} has a value that is not finite", self.name(k))))
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// What is said of a file of these columns.
    fn flaw(n: u32, start: &[usize], rows: &[u32], values: &[f64]) -> Option<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytemuck::cast_slice(rows)).unwrap();
        file.write_all(bytemuck::cast_slice(values)).unwrap();
        let layout = Layout { starts: 0, rows: 0, values: 4 * rows.len() as u64, labels: 0, text: 0, end: 0 };
        let names = Names::Numbered(start.len() - 1);
        match (Entries { file: &file, layout: &layout, n, start, names: &names, first: 0 }).check() {
            Ok(sums) => {
                let sum = crc32fast::hash;
                assert_eq!(sums.rows, sum(bytemuck::cast_slice(rows)));
                assert_eq!(sums.values, sum(bytemuck::cast_slice(values)));
                None
            }
            Err(Flaw::Content(what)) => Some(what),
            Err(Flaw::Read(error)) => panic!("{error}"),
        }
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
        let values = vec![1.0; rows.len()];
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
