//! Writing a column file: rows and values go to their sections side by side, block after block, so
//! that no more than a block of them need be in memory.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;

use crc32fast::Hasher;

use super::{HEADER, Layout, MAGIC, VERSION, check_place};
use crate::{DataError, Dataset, Names, Target, io::output};

/// What is known before the first block.
pub(crate) struct Facts<'a> {
    /// Samples.
    pub(crate) n: usize,
    /// Stored values of each column, length p.
    pub(crate) counts: &'a [u32],
    /// Names of the p features.
    pub(crate) names: &'a Names,
    /// Classes of the n rows.
    pub(crate) target: Option<&'a Target>,
}

/// Bytes written one after another from some place of a file, and their checksum.
struct Section {
    out: BufWriter<File>,
    hasher: Hasher,
    written: u64,
}

impl Section {
    fn new(mut file: File, at: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(at))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 18, file), hasher: Hasher::new(), written: 0 })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn sum(mut self) -> io::Result<u32> {
        self.out.flush()?;
        Ok(self.hasher.finalize())
    }
}

/// Takes the matrix, column after column.
pub(crate) struct Blocks {
    rows: Section,
    values: Section,
    buffer: Vec<u8>,
}

impl Blocks {
    /// Rows and values of whole columns or parts of them.
    pub(crate) fn push(&mut self, rows: &[u32], values: &[f64]) -> io::Result<()> {
        for part in rows.chunks(1 << 14) {
            self.buffer.clear();
            for i in part {
                self.buffer.extend_from_slice(&i.to_le_bytes());
            }
            self.rows.put(&self.buffer)?;
        }
        for part in values.chunks(1 << 14) {
            self.buffer.clear();
            for x in part {
                self.buffer.extend_from_slice(&x.to_le_bytes());
            }
            self.values.put(&self.buffer)?;
        }
        Ok(())
    }
}

/// Writes a file of which `body` brings the entries; it appears complete or not at all.
pub(super) fn write(
    path: &str,
    facts: &Facts<'_>,
    body: impl FnOnce(&mut Blocks) -> Result<(), DataError>,
) -> Result<(), DataError> {
    check_place(path)?;
    let output = |source: io::Error| DataError::Output { file: path.into(), source };
    let draft = output::Draft::new(path).map_err(output)?;
    let section = |at: u64| draft.reopen().and_then(|handle| Section::new(handle, at)).map_err(output);

    let text = texts(facts);
    let labels = facts.target.map_or(&[][..], |t| &t.codes);
    let stored: usize = facts.counts.iter().map(|&count| count as usize).sum();
    let layout = Layout::new(facts.counts.len() as u64, stored as u64, labels.len() as u64, text.len() as u64);
    let layout = layout.expect("what is in memory or in a file fits into 2^64 bytes");
    // The gaps between the sections are holes, which read as zeros.
    draft.file().set_len(layout.end).map_err(output)?;

    let mut starts = section(layout.starts)?;
    let mut next = 0u64;
    starts.put(&next.to_le_bytes()).map_err(output)?;
    for &count in facts.counts {
        next += u64::from(count);
        starts.put(&next.to_le_bytes()).map_err(output)?;
    }
    let mut blocks = Blocks { rows: section(layout.rows)?, values: section(layout.values)?, buffer: Vec::new() };
    body(&mut blocks)?;
    let brought = (blocks.rows.written, blocks.values.written);
    assert_eq!(brought, (4 * stored as u64, 8 * stored as u64), "the entries are as many as the counts say");
    let mut classes = section(layout.labels)?;
    labels.iter().try_for_each(|code| classes.put(&code.to_le_bytes())).map_err(output)?;
    let mut words = section(layout.text)?;
    words.put(&text).map_err(output)?;

    let mut header = Vec::with_capacity(HEADER as usize);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&(facts.target.map_or(0, |t| t.classes.len()) as u32).to_le_bytes());
    for size in [facts.n, facts.counts.len(), stored, text.len()] {
        header.extend_from_slice(&(size as u64).to_le_bytes());
    }
    header.extend_from_slice(&u32::from(matches!(facts.names, Names::Listed(_))).to_le_bytes());
    for section in [starts, blocks.rows, blocks.values, classes, words] {
        header.extend_from_slice(&section.sum().map_err(output)?.to_le_bytes());
    }
    header.resize(HEADER as usize - 4, 0);
    header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
    let mut front = section(0)?;
    front.put(&header).and_then(|()| front.sum()).map_err(output)?;
    draft.put().map_err(output)
}

/// Bytes of an entry.
pub(super) const ENTRY: u64 = 12;

/// Bytes of a column of `count` entries, with the place of the next one.
pub(super) fn column_bytes(count: u32) -> u64 {
    8 + ENTRY * u64::from(count)
}

/// Ranges of columns, or of other items with these bytes, in order: each of at most `most` bytes,
/// or of one.
pub(super) fn ranges<T>(of: &[T], bytes: impl Fn(&T) -> u64, most: u64) -> Vec<Range<usize>> {
    let (mut ranges, mut first) = (Vec::new(), 0);
    while first < of.len() {
        let mut held = 0u64;
        let fits = |one: &&T| {
            held = held.saturating_add(bytes(one));
            held <= most
        };
        let last = first + of[first..].iter().take_while(fits).count().max(1);
        ranges.push(first..last);
        first = last;
    }
    ranges
}

/// Writes a file whose entries need not fit into memory together: `part` brings those of a range of
/// columns, as many at a time as half of `memory` (bytes) holds, one at least.
pub(crate) fn write_in_parts(
    path: &str,
    facts: &Facts<'_>,
    memory: u64,
    mut part: impl FnMut(Range<usize>) -> Result<(Vec<u32>, Vec<f64>), DataError>,
) -> Result<(), DataError> {
    write(path, facts, |blocks| {
        for range in ranges(facts.counts, |&count| column_bytes(count), memory / 2) {
            let (rows, values) = part(range)?;
            blocks.push(&rows, &values).map_err(|source| DataError::Output { file: path.into(), source })?;
        }
        Ok(())
    })
}

/// Writes a data set from memory (or from another map); zeros are left out.
pub(crate) fn write_dataset(path: &str, data: &Dataset) -> Result<(), DataError> {
    let (design, names) = (data.features.as_design(), &data.names);
    let count = |j: usize| {
        let mut count = 0;
        design.each_in_column(j, &mut |_, x| count += u32::from(x != 0.0));
        count
    };
    let counts: Vec<u32> = (0..design.n_features()).map(count).collect();
    let facts = Facts { n: design.n_samples(), counts: &counts, names, target: data.target.as_ref() };
    write(path, &facts, |blocks| {
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for j in 0..design.n_features() {
            rows.clear();
            values.clear();
            design.each_in_column(j, &mut |i, x| {
                if x != 0.0 {
                    rows.push(i as u32);
                    values.push(x);
                }
            });
            blocks.push(&rows, &values).map_err(|source| DataError::Output { file: path.into(), source })?;
        }
        Ok(())
    })
}

/// The text section.
fn texts(facts: &Facts<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut put = |word: &str| {
        text.extend_from_slice(&(word.len() as u32).to_le_bytes());
        text.extend_from_slice(word.as_bytes());
    };
    if let Some(target) = facts.target {
        put(&target.column);
        for class in &target.classes {
            put(class);
        }
    }
    if let Names::Listed(names) = facts.names {
        for name in names {
            put(name);
        }
    }
    text
}
