//! svmlight / LIBSVM text, `label index:value ... # comment`, read and written.
//!
//! Indices count from 1 and ascend within a line. Zeros in the file are dropped, `qid` entries
//! passed over.

use std::borrow::Cow;
use std::io::{self, Write};

use fewest_svm::Design;
use fewest_svm::design::Row;

use crate::error::IndexFault;
use crate::error::malformed;
use crate::formats::columns::Sorted;
use crate::formats::sparse::{self, Head, SparseRows};
use crate::io::source::Source;
use crate::io::waves::shown;
use crate::meaning::target::Target;
use crate::names::numbered;
use crate::note::TargetRule;
use crate::{DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, number};
/// Name of the target of a format that has none.
pub(crate) const TARGET: &str = "y";

/// Reads a data set; the target has the name `y`, the features are `x1` to `xp`.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let table = sparse::read(source, &Reader::new(source, options)?, TARGET, options)?;
    Ok(Dataset {
        names: Names::Numbered(table.design.n_features()),
        features: Features::Sparse(table.design),
        notes: notes(table.target.as_ref(), table.queries, options),
        target: table.target,
        samples: None,
        apart: Vec::new(),
        source: source.name.clone(),
        format: Format::Svmlight,
    })
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    let (mut sorted, queries) = sparse::sorted(source, &Reader::new(source, options)?, TARGET, None, options, out)?;
    sorted.notes = notes(sorted.target.as_ref(), queries, options);
    Ok(sorted)
}

fn notes(target: Option<&Target>, queries: u64, options: &ReadOptions) -> Vec<Note> {
    let target = target.map_or_else(Vec::new, |target| target.notes(TargetRule::Format, options));
    target.into_iter().chain((queries > 0).then_some(Note::QueryIds { lines: queries })).collect()
}

/// Refuses wishes for columns by name, which svmlight does not have.
fn check_wishes(file: &str, options: &ReadOptions) -> Result<(), DataError> {
    let target = options.target.iter().filter(|name| *name != TARGET && !options.target_optional);
    let named = [&options.apart, &options.drop, &options.text].into_iter().flatten().chain(target).next();
    match named {
        None => Ok(()),
        Some(name) => Err(DataError::Unsupported {
            file: file.into(),
            what: format!("column `{name}` was asked for, but svmlight columns have no names"),
            remedy: "use csv for data with named columns".into(),
        }),
    }
}

/// What both passes need to know to read a line.
struct Reader<'a> {
    file: &'a str,
    largest: u64,
    optional: bool,
    /// Indices begin at 0.
    zero_based: bool,
}

impl SparseRows for Reader<'_> {
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
                return Ok(Some(Head { label: label.map(Cow::Borrowed), query }));
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
            let index = index.saturating_add(u64::from(self.zero_based));
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

    fn place(&self, line: u64, column: u32) -> Place {
        Place::line(self.file, line).column(format!("x{}", column + 1))
    }

    fn features(&self) -> usize {
        0
    }
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, options: &ReadOptions) -> Result<Self, DataError> {
        let file = &source.name;
        check_wishes(file, options)?;
        Ok(Self {
            file,
            largest: options.largest_index(source.trusted_bytes()),
            optional: options.target_optional,
            zero_based: options.zero_based || says_zero_based(source)?,
        })
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
            if token.contains(&b',') {
                let found = format!("the line has several classes (`{}`): a multi-label file", shown(token));
                let remedy = "make a file for each class, in which it is 1 and all others are -1";
                return Err(malformed(Place::line(self.file, line), found, remedy));
            }
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
        let base = u64::from(self.zero_based);
        let fault = match index {
            0 => IndexFault::Zero,
            _ if index == previous => IndexFault::Repeated,
            _ => IndexFault::Unordered,
        };
        let (index, previous) = (index - base, previous.saturating_sub(base));
        DataError::Index { place: Place::line(self.file, line), index, previous, fault }
    }
}

/// Whether a comment at the start of the file says that indices begin at 0, as that of
/// `sklearn.datasets.dump_svmlight_file`.
fn says_zero_based(source: &Source) -> Result<bool, DataError> {
    use std::io::Read as _;
    let mut head = Vec::new();
    source.reader()?.take(1 << 12).read_to_end(&mut head).map_err(|e| source.read_error(e))?;
    let comments = head.split(|&b| b == b'\n').take_while(|line| line.starts_with(b"#"));
    Ok(comments.into_iter().any(|line| String::from_utf8_lossy(line).to_ascii_lowercase().contains("zero-based")))
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

/// Labels for the classes: their names if all are numbers, else -1 and 1 for two classes, 1, 2, ...
/// for more.
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
