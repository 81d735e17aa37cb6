//! Column files (`.csc`): a matrix of compressed columns that is mapped, not read, so that it may
//! be larger than memory.
//!
//! Layout   version 1, all numbers little-endian, sections at multiples of 64 bytes with zeros
//!          between: header (128 bytes) | p + 1 column starts, u64 | row indices, u32 |
//!          values, f64 | class of each row, u32 | text
//! Header   0 "FEWESTCC" | 8 version, u32 | 12 classes k, u32 | 16 n, u64 | 24 p, u64 |
//!          32 stored values, u64 | 40 bytes of text, u64 |
//!          48 whether the names are in the text, u32 |
//!          52 CRC-32 (IEEE 802.3) of the five sections in order, u32 each | 72 zeros |
//!          124 CRC-32 of the bytes before, u32
//! Text     each a u32 length and as many bytes of UTF-8: where k > 0 the name of the target and
//!          the k classes; the p names unless they are x1 to xp. Where k = 0 there are no classes
//!          of rows.
//! Checks   on opening: magic, version, length and every checksum; that starts ascend, that row
//!          indices ascend within a column and are below n, that values are finite.
//! Fails    anything else is [`DataError::Damaged`] or, for a newer version,
//!          [`DataError::Unsupported`].

mod check;
mod read;
mod sort;
mod write;

pub(crate) use read::read;
pub use read::{ColumnOutline, ColumnPart, EntrySums, column_outline, column_part};
pub(crate) use sort::{Buckets, Entry, Sorted, Sorter};
pub(crate) use write::{Facts, write_dataset, write_in_parts};

use crate::{Compression, DataError};

const MAGIC: &[u8; 8] = b"FEWESTCC";
const VERSION: u32 = 1;
const HEADER: u64 = 128;

/// Where each column begins, and the end.
pub(crate) fn starts(counts: &[u32]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0);
    let ends = counts.iter().scan(0, |end, &count| {
        *end += count as usize;
        Some(*end)
    });
    starts.extend(ends);
    starts
}

/// Where the sections are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    starts: u64,
    rows: u64,
    values: u64,
    labels: u64,
    text: u64,
    end: u64,
}

impl Layout {
    /// For p columns with `stored` values, `labelled` rows and `text` bytes of text; none where
    /// that is beyond 2^64.
    fn new(p: u64, stored: u64, labelled: u64, text: u64) -> Option<Self> {
        let after = |from: u64, count: u64, width: u64| from.checked_add(count.checked_mul(width)?);
        let section = |from: u64, count: u64, width: u64| after(from, count, width)?.checked_next_multiple_of(64);
        let rows = section(HEADER, p.checked_add(1)?, 8)?;
        let values = section(rows, stored, 4)?;
        let labels = section(values, stored, 8)?;
        let text_at = section(labels, labelled, 4)?;
        Some(Self { starts: HEADER, rows, values, labels, text: text_at, end: after(text_at, text, 1)? })
    }
}

/// Refuses what a mapped file cannot be.
fn check_place(path: &str) -> Result<(), DataError> {
    let why = if path == "-" {
        "a column file is mapped from the disk and cannot go to standard output"
    } else if Compression::of_path(path) != Compression::Plain {
        "a column file is mapped as it lies on the disk and cannot be compressed"
    } else {
        return Ok(());
    };
    let remedy = "name a file that ends with .csc, or choose another format".into();
    Err(DataError::Unsupported { file: path.into(), what: why.into(), remedy })
}

fn wrong_sum(name: &str) -> String {
    format!("the checksum of the {name} is wrong")
}
