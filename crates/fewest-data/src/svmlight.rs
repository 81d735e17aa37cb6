//! svmlight / LIBSVM text, `label index:value ... # comment`, read in two parallel passes and written.
//!
//! Pass 1 checks every line and counts the non-zeros of each column; pass 2 reads the values again and puts them at their
//! final place in exactly sized arrays. So the peak is the finished matrix plus a few waves of text, and the row order
//! inside a column is that of the file for any number of threads.

use std::collections::HashMap;
use std::io::{self, Write};

use fewest::design::Row;
use fewest::{Design, SparseDesign};
use rayon::prelude::*;

use crate::error::IndexFault;
use crate::names::numbered;
use crate::note::TargetRule;
use crate::options::check_memory;
use crate::problems::NotFinite;
use crate::source::Source;
use crate::target::{Labels, Target, class_name};
use crate::waves::{Lines, Piece, each_piece, malformed, shown};
use crate::{DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, number};

/// Name of the target of a format that has none.
pub(crate) const TARGET: &str = "y";

/// Reads a data set; the target has the name `y`, the features are `x1` to `xp`.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let file = &source.name;
    let reader =
        Reader { file, largest: options.largest_index(source.trusted_bytes()), optional: options.target_optional };
    let mut counts = Counts::default();
    each_piece(
        source,
        &Lines,
        options.memory(),
        |piece| reader.count(piece),
        |pieces| {
            pieces.into_iter().for_each(|piece| counts.add(piece));
            check_memory(file, "the sparse matrix", counts.bytes(), options.memory())
        },
    )?;
    if counts.rows == 0 {
        return Err(DataError::Empty { file: file.clone() });
    }
    counts.bad.check()?;
    if u32::try_from(counts.rows).is_err() {
        return Err(malformed(Place::line(file, 1), "more than 4294967295 rows", "split the file"));
    }
    let target = counts.target(file, options)?;
    if counts.columns.is_empty() && !options.target_optional {
        return Err(DataError::NoFeatures { file: file.clone(), target: TARGET.into() });
    }
    let (rows, queries) = (counts.rows as usize, counts.queries);
    let design = fill(source, &reader, options, counts.columns, rows)?;
    let p = design.n_features();
    let mut notes = Vec::new();
    if target.is_some() {
        notes.push(Note::TargetColumn { name: TARGET.into(), rule: TargetRule::Format });
    }
    if queries > 0 {
        notes.push(Note::QueryIds { lines: queries });
    }
    Ok(Dataset {
        features: Features::Sparse(design),
        names: Names::Numbered(p),
        target,
        apart: Vec::new(),
        notes,
        source: file.clone(),
        format: Format::Svmlight,
    })
}

/// What both passes need to know to read a line.
struct Reader<'a> {
    file: &'a str,
    largest: u64,
    optional: bool,
}

/// A line without its entries.
struct Head<'a> {
    label: Option<&'a [u8]>,
    query: bool,
}

impl Reader<'_> {
    /// Calls `entry(column, value)` for each pair of a line, zeros and values that are not finite included.
    /// `None` for a blank line. Columns count from 0.
    fn line<'t>(
        &self,
        line: u64,
        text: &'t [u8],
        mut entry: impl FnMut(u32, f64),
    ) -> Result<Option<Head<'t>>, DataError> {
        let text = memchr::memchr(b'#', text).map_or(text, |at| &text[..at]);
        let mut rest = text.trim_ascii();
        if rest.is_empty() {
            return Ok(None);
        }
        let label = self.label(line, &mut rest)?;
        let (mut previous, mut query) = (0u64, false);
        loop {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return Ok(Some(Head { label, query }));
            }
            let Some((index, value, used)) = pair(rest) else {
                let token = first_token(rest);
                if token.starts_with(b"qid:") {
                    query = true;
                    rest = &rest[token.len()..];
                    continue;
                }
                return Err(self.bad_pair(line, token));
            };
            if index <= previous {
                return Err(self.bad_index(line, index, previous));
            }
            if index > self.largest {
                let place = Place::line(self.file, line);
                return Err(DataError::TooManyFeatures { place, index, allowed: self.largest });
            }
            entry((index - 1) as u32, value);
            previous = index;
            rest = &rest[used..];
        }
    }

    /// The first token, which is the label unless it is a pair and labels are optional.
    fn label<'t>(&self, line: u64, rest: &mut &'t [u8]) -> Result<Option<&'t [u8]>, DataError> {
        let token = first_token(rest);
        if token.contains(&b':') {
            if self.optional {
                return Ok(None);
            }
            let found = format!("the line begins with `{}` instead of a label", shown(token));
            return Err(malformed(
                Place::line(self.file, line),
                found,
                "begin each line with the label, such as -1 or +1",
            ));
        }
        if !number::parse(token).is_some_and(f64::is_finite) {
            let found = format!("the label `{}` is not a number", shown(token));
            return Err(malformed(Place::line(self.file, line), found, "number the classes, or use csv to name them"));
        }
        *rest = &rest[token.len()..];
        Ok(Some(token))
    }

    fn bad_pair(&self, line: u64, token: &[u8]) -> DataError {
        let found = format!("`{}` is not of the form index:value", shown(token));
        malformed(Place::line(self.file, line), found, "write entries as 3:0.5, separated by blanks")
    }

    fn bad_index(&self, line: u64, index: u64, previous: u64) -> DataError {
        let fault = match index {
            0 => IndexFault::Zero,
            _ if index == previous => IndexFault::Repeated,
            _ => IndexFault::Unordered,
        };
        DataError::Index { place: Place::line(self.file, line), index, previous, fault }
    }

    /// Pass 1 on one piece.
    fn count(&self, piece: Piece<'_>) -> Result<PieceCount, DataError> {
        let mut out = PieceCount { columns: Vec::with_capacity(piece.text.len() / 8), ..PieceCount::default() };
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        for (line, text) in piece.lines() {
            let (columns, bad) = (&mut out.columns, &mut out.bad);
            let head = self.line(line, text, |column, value| {
                if value != 0.0 {
                    columns.push(column);
                    if !value.is_finite() {
                        bad.add(|| {
                            (Place::line(self.file, line).column(format!("x{}", column + 1)), value.to_string())
                        });
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
            let code = known.get(label).copied().unwrap_or_else(|| {
                let code = known.len() as u32;
                known.insert(label.to_vec(), code);
                out.classes.push(class_name(&String::from_utf8_lossy(label)));
                code
            });
            out.codes.push(code);
        }
        Ok(out)
    }

    /// Pass 2 on one piece: entries sorted into buckets of columns that begin at `bounds`.
    fn entries(&self, piece: Piece<'_>, bounds: &[u32]) -> Result<PieceEntries, DataError> {
        let room = piece.text.len() / (6 * bounds.len());
        let mut buckets: Vec<Vec<Entry>> = bounds.iter().map(|_| Vec::with_capacity(room)).collect();
        let mut rows = 0;
        for (line, text) in piece.lines() {
            let mut at = 0;
            let head = self.line(line, text, |column, value| {
                if value != 0.0 {
                    // Columns ascend within a line, so the bucket only moves forward.
                    while bounds.get(at + 1).is_some_and(|&bound| column >= bound) {
                        at += 1;
                    }
                    buckets[at].push(Entry { column, row: rows, value });
                }
            })?;
            rows += u32::from(head.is_some());
        }
        Ok(PieceEntries { rows, buckets })
    }
}

/// Up to the next blank.
fn first_token(text: &[u8]) -> &[u8] {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    &text[..end]
}

/// `index:value` at the start of `text`: index, value, bytes used. `None` when it is not that.
#[inline]
fn pair(text: &[u8]) -> Option<(u64, f64, usize)> {
    let mut index = 0u64;
    let mut at = 0;
    while let Some(d) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d <= 9) {
        index = index.checked_mul(10)?.checked_add(u64::from(d))?;
        at += 1;
    }
    if at == 0 || text.get(at) != Some(&b':') {
        return None;
    }
    at += 1;
    let (value, used) = value(&text[at..])?;
    at += used;
    text.get(at).is_none_or(u8::is_ascii_whitespace).then_some((index, value, at))
}

/// A number at the start of `text` and its length; one digit, the commonest value, goes fast.
#[inline]
fn value(text: &[u8]) -> Option<(f64, usize)> {
    let digit = text.first()?.wrapping_sub(b'0');
    if digit <= 9 && text.get(1).is_none_or(u8::is_ascii_whitespace) {
        return Some((f64::from(digit), 1));
    }
    fast_float2::parse_partial::<f64, _>(text).ok()
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
    columns: Vec<usize>,
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
        12 * self.stored + 8 * (self.columns.len() as u64 + 1) + 4 * self.rows
    }

    /// The target, or none when no line has a label.
    fn target(&mut self, file: &str, options: &ReadOptions) -> Result<Option<Target>, DataError> {
        if let Some(line) = self.first_unlabelled {
            if self.labels.len() == 0 {
                return Ok(None);
            }
            let found = "this line has no label, but others have";
            return Err(malformed(Place::line(file, line), found, "label all lines or none"));
        }
        let target = std::mem::take(&mut self.labels).finish(TARGET.into());
        if !options.target_optional {
            target.check(file)?;
        }
        Ok(Some(target))
    }
}

/// A value with its place.
struct Entry {
    column: u32,
    row: u32,
    value: f64,
}

/// Pass 2: one piece; rows count from its own first.
struct PieceEntries {
    rows: u32,
    buckets: Vec<Vec<Entry>>,
}

/// Pass 2: `counts[j]` non-zeros are in column j.
fn fill(
    source: &Source,
    reader: &Reader<'_>,
    options: &ReadOptions,
    mut counts: Vec<usize>,
    n: usize,
) -> Result<SparseDesign, DataError> {
    counts.reserve_exact(1);
    let mut stored = 0;
    for count in &mut counts {
        stored += std::mem::replace(count, stored);
    }
    // Now the next free place of each column.
    let mut next = counts;
    let bounds = column_bounds(&next, stored);
    let offsets: Vec<usize> = bounds.iter().map(|&b| next.get(b as usize).copied().unwrap_or(stored)).collect();
    let (mut rows, mut values) = (vec![0u32; stored], vec![0.0f64; stored]);
    let mut base = 0u32;
    let changed = || DataError::Damaged { file: source.name.clone(), what: "it changed while it was read".into() };
    each_piece(
        source,
        &Lines,
        options.memory(),
        |piece| reader.entries(piece, &bounds),
        |pieces| {
            let mut bases = Vec::with_capacity(pieces.len());
            for piece in &pieces {
                bases.push(base);
                base = base.saturating_add(piece.rows);
            }
            let buckets = split(&bounds, &offsets, &mut next, &mut rows, &mut values);
            let fits = buckets.into_par_iter().enumerate().map(|(at, mut bucket)| {
                pieces.iter().zip(&bases).all(|(piece, &base)| bucket.put(base, &piece.buckets[at]))
            });
            if fits.collect::<Vec<_>>().contains(&false) { Err(changed()) } else { Ok(()) }
        },
    )?;
    // Every cursor has moved to the start of the following column.
    next.insert(0, 0);
    if base as usize != n {
        return Err(changed());
    }
    SparseDesign::new(n, next, rows, values).map_err(|_| changed())
}

/// First columns of the buckets, about the same number of values in each, one bucket a thread.
fn column_bounds(start: &[usize], stored: usize) -> Vec<u32> {
    let buckets = rayon::current_num_threads().clamp(1, 16);
    let mut bounds: Vec<u32> =
        (0..buckets).map(|b| start.partition_point(|&s| s < stored / buckets * b) as u32).collect();
    bounds[0] = 0;
    bounds.dedup();
    bounds
}

/// A range of columns with its part of the arrays, for one thread to fill.
struct Bucket<'a> {
    first_column: usize,
    offset: usize,
    next: &'a mut [usize],
    rows: &'a mut [u32],
    values: &'a mut [f64],
}

impl Bucket<'_> {
    /// Puts the entries at their places; false when there is no such place.
    fn put(&mut self, base: u32, entries: &[Entry]) -> bool {
        for entry in entries {
            let Some(next) = self.next.get_mut(entry.column as usize - self.first_column) else { return false };
            let at = *next - self.offset;
            let (Some(row), Some(value)) = (self.rows.get_mut(at), self.values.get_mut(at)) else { return false };
            (*row, *value) = (base.wrapping_add(entry.row), entry.value);
            *next += 1;
        }
        true
    }
}

/// Cuts the arrays into buckets: columns from `bounds[b]`, values from `offsets[b]`.
fn split<'a>(
    bounds: &[u32],
    offsets: &[usize],
    mut next: &'a mut [usize],
    mut rows: &'a mut [u32],
    mut values: &'a mut [f64],
) -> Vec<Bucket<'a>> {
    let mut buckets = Vec::with_capacity(bounds.len());
    for b in 0..bounds.len() {
        let columns = bounds.get(b + 1).map_or(next.len(), |&end| (end - bounds[b]) as usize);
        let places = offsets.get(b + 1).map_or(rows.len(), |&end| end - offsets[b]);
        let (next_here, next_rest) = next.split_at_mut(columns);
        let (rows_here, rows_rest) = rows.split_at_mut(places);
        let (values_here, values_rest) = values.split_at_mut(places);
        (next, rows, values) = (next_rest, rows_rest, values_rest);
        buckets.push(Bucket {
            first_column: bounds[b] as usize,
            offset: offsets[b],
            next: next_here,
            rows: rows_here,
            values: values_here,
        });
    }
    buckets
}

/// Writes a data set. Without a target every label is 0.
pub(crate) fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let labels = numeric_classes(data.target.as_ref());
    let all: Vec<usize> = (0..data.names.len()).collect();
    let mut text = Vec::new();
    let rows = data.features.as_design().rows(&all);
    for i in 0..data.features.n_samples() {
        match data.target.as_ref() {
            Some(target) => text.extend_from_slice(labels[target.codes[i] as usize].as_bytes()),
            None => text.push(b'0'),
        }
        match rows.row(i) {
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| write_pair(&mut text, j, x)),
            Row::Sparse(columns, values) => {
                columns.iter().zip(values).for_each(|(&j, &x)| write_pair(&mut text, j as usize, x));
            }
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// Notes on what the format loses: names other than x1 to xp, class names that are no numbers.
pub(crate) fn losses(data: &Dataset) -> Vec<Note> {
    let mut notes = Vec::new();
    if !data.names.iter().enumerate().all(|(j, name)| numbered(&name) == Some(j)) {
        notes.push(Note::NamesDropped);
    }
    if let Some(target) = &data.target {
        let labels = numeric_classes(Some(target));
        if labels != target.classes {
            notes.push(Note::ClassesRenamed { renamed: target.classes.iter().cloned().zip(labels).collect() });
        }
    }
    notes
}

/// Labels for the classes: their names if all are numbers, else -1 and 1 for two classes, 1, 2, ... for more.
fn numeric_classes(target: Option<&Target>) -> Vec<String> {
    let classes = target.map_or(&[][..], |t| &t.classes);
    if classes.iter().all(|c| number::parse(c.as_bytes()).is_some_and(f64::is_finite)) {
        classes.to_vec()
    } else if classes.len() == 2 {
        vec!["-1".into(), "1".into()]
    } else {
        (1..=classes.len()).map(|c| c.to_string()).collect()
    }
}

fn write_pair(text: &mut Vec<u8>, j: usize, x: f64) {
    if x != 0.0 {
        text.push(b' ');
        text.extend_from_slice((j + 1).to_string().as_bytes());
        text.push(b':');
        number::write(text, x);
    }
}
