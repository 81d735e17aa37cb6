//! Opening a column file: every byte is checked once.

use std::ops::Range;
use std::sync::Arc;

use crc32fast::Hasher;

use super::check::{self, Entries, Flaw};
use super::{HEADER, Layout, MAGIC, VERSION, wrong_sum};
use crate::io::memory::check_memory;
use crate::io::source::Source;
use crate::matrix::mapped::{Map, MappedDesign, Sections, column_starts};
use crate::meaning::header::check_distinct;
use crate::note::TargetRule;
use crate::{DataError, Dataset, Features, Format, Names, Note, ReadOptions, Target};

/// Opens a data set whose matrix stays in the file.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let file = &source.name;
    check_wishes(file, options)?;
    let Opened { mut map, head, layout, names, target } = open(source, options.memory())?;
    // Where the file is small enough it may stay in memory as a whole; else a quarter is for the
    // map, the rest for the method.
    map.limit = limit(layout.end, options.memory());
    let (columns, handle) = (0..head.p as usize, source.plain_file()?);
    let entries =
        Entries { file: handle, map: &map, layout: &layout, n: head.n as u32, columns: columns.clone(), names: &names };
    let (sums, largest) = said(source, entries.check())?;
    map.give_back();
    for (what, sum, expected) in [("row indices", sums.rows, head.sums[1]), ("values", sums.values, head.sums[2])] {
        if sum != expected {
            return Err(DataError::Damaged { file: file.clone(), what: wrong_sum(what) });
        }
    }
    let design = MappedDesign::new(head.n as usize, columns, Arc::new(map), layout.sections(&head), largest);
    let target = match target {
        Some(target) => {
            let asked = options.target.as_ref().filter(|name| **name != target.column);
            if let Some(name) = asked {
                let (name, available) = (name.clone(), target.column);
                return Err(DataError::UnknownColumn { file: file.clone(), name, role: "target", available });
            }
            if !options.target_optional {
                target.check(file)?;
            }
            Some(target)
        }
        None => None,
    };
    let notes =
        target.iter().map(|t| Note::TargetColumn { name: t.column.clone(), rule: TargetRule::Format }).collect();
    let features = Features::Mapped(design);
    Ok(Dataset {
        features,
        names,
        target,
        samples: None,
        apart: vec![],
        notes,
        source: file.clone(),
        format: Format::Csc,
    })
}

/// A column file in which all but the entries was checked.
struct Opened {
    map: Map,
    head: Head,
    layout: Layout,
    names: Names,
    target: Option<Target>,
}

/// Opens a file; `memory`: bytes that the classes and names may take.
fn open(source: &Source, memory: u64) -> Result<Opened, DataError> {
    let file = &source.name;
    let damaged = |what: String| DataError::Damaged { file: file.clone(), what };
    let (map, head, layout) = mapped(source)?;
    let (n, p, stored) = (head.n as usize, head.p as usize, head.stored as usize);
    check_memory(file, "the classes and names", 4 * head.n + layout.end - layout.text, memory)?;

    let section = |at: u64, bytes: usize| &map.bytes()[at as usize..at as usize + bytes];
    let summed = |name: &str, at: u64, bytes: usize, expected: u32| {
        let bytes = section(at, bytes);
        let mut hasher = Hasher::new();
        bytes.chunks(1 << 20).for_each(|part| hasher.update(part));
        if hasher.finalize() == expected { Ok(bytes) } else { Err(damaged(wrong_sum(name))) }
    };
    let (sum, ascend) = said(source, check::starts(source.plain_file()?, &layout, p, n))?;
    if sum != head.sums[0] {
        return Err(damaged(wrong_sum("column starts")));
    }
    let start = column_starts(map.bytes(), layout.starts as usize, &(0..p));
    if !ascend || start[0] != 0 || start[p] != stored {
        return Err(damaged(OUT_OF_ORDER.into()));
    }
    let labelled = if head.classes == 0 { 0 } else { n };
    let codes: Vec<u32> = summed("classes", layout.labels, 4 * labelled, head.sums[3])?
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect();
    if codes.iter().any(|&code| code >= head.classes) {
        return Err(damaged("a row has a class that is not in the list".into()));
    }
    let text = summed("text", layout.text, (layout.end - layout.text) as usize, head.sums[4])?;
    let (target, names) = texts(text, &head, codes).ok_or_else(|| damaged("its names cannot be read".into()))?;
    if let Names::Listed(names) = &names {
        check_distinct(file, names.iter().map(String::as_str))?;
    }
    map.give_back();
    Ok(Opened { map, head, layout, names, target })
}

/// The map of a file with its header.
fn mapped(source: &Source) -> Result<(Map, Head, Layout), DataError> {
    let file = &source.name;
    if cfg!(any(target_endian = "big", not(target_pointer_width = "64"))) {
        let what = "column files are mapped on little-endian machines of 64 bits only".into();
        let remedy = "use svmlight here".into();
        return Err(DataError::Unsupported { file: file.clone(), what, remedy });
    }
    let map = Map::new(source.plain_file()?, u64::MAX).map_err(|e| source.read_error(e))?;
    let (head, layout) = header(file, map.bytes())?;
    Ok((map, head, layout))
}

const OUT_OF_ORDER: &str = "its column starts are out of order";

/// Memory for a sort of `bytes` bytes: all where half of the memory holds them, else a quarter of
/// it.
fn limit(bytes: u64, memory: u64) -> u64 {
    if bytes <= memory / 2 { u64::MAX } else { memory / 4 }
}

/// What a check found, or what is wrong with the file.
fn said<T>(source: &Source, found: Result<T, Flaw>) -> Result<T, DataError> {
    found.map_err(|flaw| match flaw {
        Flaw::Read(error) => source.read_error(error),
        Flaw::Content(what) => DataError::Damaged { file: source.name.clone(), what },
    })
}

/// Checksums of the entries of some columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntrySums {
    /// Entries.
    pub stored: u64,
    /// CRC-32 of their row indices.
    pub rows: u32,
    /// CRC-32 of their values.
    pub values: u32,
}

impl EntrySums {
    /// Sums of all columns, joined from those of parts in the order of the columns.
    pub fn joined(parts: &[EntrySums]) -> EntrySums {
        let of = |width: u64, sum: fn(&EntrySums) -> u32| {
            let mut all = Hasher::new();
            for part in parts {
                all.combine(&Hasher::new_with_initial_len(sum(part), width * part.stored));
            }
            all.finalize()
        };
        let stored = parts.iter().map(|part| part.stored).sum();
        EntrySums { stored, rows: of(4, |part| part.rows), values: of(8, |part| part.values) }
    }
}

/// Outline of a column file: all that it holds beside its entries, checked.
#[derive(Debug)]
pub struct ColumnOutline {
    /// Number of samples.
    pub n_samples: usize,
    /// The best cuts between columns, from 0 to their number.
    pub cuts: Vec<usize>,
    /// Names of the features.
    pub names: Names,
    /// Classes of the samples, where the file has them.
    pub target: Option<Target>,
    /// The checksums that the entries must have.
    pub sums: EntrySums,
}

/// Examines a column file without its entries, and cuts it into at most `pieces` parts of whole
/// columns that take about as long to pass over.
///
/// # Errors
/// As [`crate::read`].
pub fn column_outline(path: &str, pieces: usize) -> Result<ColumnOutline, DataError> {
    let options = ReadOptions { format: Some(Format::Csc), ..ReadOptions::default() };
    let (source, ..) = crate::io::source::open(path, &options)?;
    let Opened { map, head, layout, names, target } = open(&source, options.memory())?;
    let p = head.p as usize;
    let start = column_starts(map.bytes(), layout.starts as usize, &(0..p));
    // A column takes about as long as five of its entries.
    let work = |j: usize| start[j] + 5 * j;
    let share = work(p).div_ceil(pieces);
    let mut cuts = vec![0];
    for j in 1..p {
        if work(j) >= share * cuts.len() {
            cuts.push(j);
        }
    }
    cuts.push(p);
    let sums = EntrySums { stored: head.stored, rows: head.sums[1], values: head.sums[2] };
    Ok(ColumnOutline { n_samples: head.n as usize, cuts, names, target, sums })
}

/// Some columns of a column file, mapped, and their checksums.
#[derive(Debug)]
pub struct ColumnPart {
    /// The columns.
    pub design: MappedDesign,
    /// To be held against the file's by [`EntrySums::joined`].
    pub sums: EntrySums,
}

/// Maps columns of a column file and checks them; nothing else of the file is read. `memory`:
/// bytes of them that may stay in memory, as for [`crate::read`].
///
/// # Errors
/// As [`crate::read`].
pub fn column_part(path: &str, columns: Range<usize>, memory: u64) -> Result<ColumnPart, DataError> {
    let options = ReadOptions { format: Some(Format::Csc), ..ReadOptions::default() };
    let (source, ..) = crate::io::source::open(path, &options)?;
    let (mut map, head, layout) = mapped(&source)?;
    let damaged = |what: String| DataError::Damaged { file: path.into(), what };
    let (n, p) = (head.n as usize, head.p as usize);
    if columns.is_empty() || columns.end > p {
        return Err(damaged(format!("columns {columns:?} were asked for, but it has {p}")));
    }
    let start = column_starts(map.bytes(), layout.starts as usize, &columns);
    if !check::are_starts(start, n) || start[columns.len()] as u64 > head.stored {
        return Err(damaged(OUT_OF_ORDER.into()));
    }
    let bytes = 12 * (start[columns.len()] - start[0]) + 8 * start.len();
    map.limit = limit(bytes as u64, memory);
    map.give_back();
    let (file, names) = (source.plain_file()?, Names::Numbered(p));
    let entries =
        Entries { file, map: &map, layout: &layout, n: head.n as u32, columns: columns.clone(), names: &names };
    let (sums, largest) = said(&source, entries.check())?;
    map.give_back();
    Ok(ColumnPart { design: MappedDesign::new(n, columns, Arc::new(map), layout.sections(&head), largest), sums })
}

/// Refuses wishes for columns that a column file does not keep.
fn check_wishes(file: &str, options: &ReadOptions) -> Result<(), DataError> {
    let Some(name) = [&options.apart, &options.drop, &options.text].into_iter().flatten().next() else { return Ok(()) };
    Err(DataError::Unsupported {
        file: file.into(),
        what: format!("column `{name}` was asked for, but a column file holds features and classes only"),
        remedy: "say so when it is converted (fewest convert), or use the file it was made from".into(),
    })
}

/// The header in numbers.
struct Head {
    n: u64,
    p: u64,
    stored: u64,
    classes: u32,
    named: bool,
    /// The checksums of starts, rows, values, classes, text.
    sums: [u32; 5],
}

/// The header, held against the length of the file.
fn header(file: &str, bytes: &[u8]) -> Result<(Head, Layout), DataError> {
    let damaged = |what: String| DataError::Damaged { file: file.into(), what };
    if !bytes.starts_with(MAGIC) {
        return Err(damaged("it does not begin as a column file of fewest".into()));
    }
    let Some(header) = bytes.get(..HEADER as usize) else {
        return Err(damaged(format!("it has {} bytes, fewer than its header of {HEADER}", bytes.len())));
    };
    let small = |at: usize| u32::from_le_bytes(*header[at..].first_chunk().expect("within the header"));
    let large = |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("within the header"));
    if small(8) != VERSION {
        return Err(DataError::Unsupported {
            file: file.into(),
            what: format!("it is a column file of version {}, but version {VERSION} is what can be read", small(8)),
            remedy: "use a newer fewest, or convert the data again".into(),
        });
    }
    if crc32fast::hash(&header[..124]) != small(124) {
        return Err(damaged(wrong_sum("header")));
    }
    let head = Head {
        classes: small(12),
        n: large(16),
        p: large(24),
        stored: large(32),
        named: small(48) != 0,
        sums: [52, 56, 60, 64, 68].map(small),
    };
    let labelled = if head.classes == 0 { 0 } else { head.n };
    let layout = Layout::new(head.p, head.stored, labelled, large(40));
    let layout = layout.filter(|_| [head.n, head.p].into_iter().all(|size| u32::try_from(size).is_ok()));
    let Some(layout) = layout else { return Err(damaged("its sizes are out of range".into())) };
    if layout.end != bytes.len() as u64 {
        return Err(damaged(format!("it has {} bytes, but its header says {}", bytes.len(), layout.end)));
    }
    Ok((head, layout))
}

impl Layout {
    /// Where the matrix is.
    fn sections(&self, head: &Head) -> Sections {
        let [starts, rows, values] = [self.starts, self.rows, self.values].map(|at| at as usize);
        Sections { starts, rows, values, stored: head.stored as usize }
    }
}

/// Target and names.
fn texts(mut text: &[u8], head: &Head, codes: Vec<u32>) -> Option<(Option<Target>, Names)> {
    let mut next = || -> Option<String> {
        let (length, rest) = text.split_first_chunk::<4>()?;
        let (word, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        text = rest;
        String::from_utf8(word.to_vec()).ok()
    };
    let mut target = None;
    if head.classes > 0 {
        let column = next()?;
        let classes = (0..head.classes).map(|_| next()).collect::<Option<Vec<String>>>()?;
        target = Some(Target { column, classes, codes });
    }
    let names = if head.named {
        Names::Listed((0..head.p).map(|_| next()).collect::<Option<Vec<String>>>()?)
    } else {
        Names::Numbered(head.p as usize)
    };
    text.is_empty().then_some((target, names))
}
