//! NumPy archives: `X` (n x p) and `y`, optional `names` and `variables`, or the arrays of `scipy.sparse.save_npz`
//! with `y` beside them.

mod matrix;
mod npy;
mod numbers;
mod variables;
mod write;

use std::io::{self, BufReader};

use zip::ZipArchive;

use crate::error::malformed;
use crate::formats::columns::Sorted;
use crate::formats::compressed::{self, Form, Numbers as _};
use crate::io::memory::check_memory;
use crate::io::shared::{SharedFile, SharedReader};
use crate::io::source::Source;
use crate::meaning::header::check_distinct;
use crate::note::TargetRule;
use crate::{DataError, Dataset, Format, Names, Note, Place, ReadOptions, TextColumn, meaning::binary};
use matrix::Matrix;
use npy::{Array, HeaderError};
use numbers::Numbers;

pub(crate) use write::write;

/// Reads an archive.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut archive = Archive::open(source, options)?;
    let (file, form) = (archive.file, archive.form()?);
    let names = archive.names(&form)?;
    let features = compressed::features(&mut Matrix { archive: &mut archive, form })?;
    let finite = |j| names.get(j).into_owned();
    features.check_finite(file, options.missing, finite)?;
    let (target, rows, mut notes) = archive.target(form.n, options)?;
    notes.extend(variables::read(&mut archive, &form, &names)?);
    let mut column = |name: &String| -> Result<TextColumn, DataError> {
        Ok(TextColumn { name: name.clone(), values: archive.texts(name, form.n)? })
    };
    let samples = options.samples.as_ref().map(&mut column).transpose()?;
    let apart = options.apart.iter().map(column).collect::<Result<_, DataError>>()?;
    notes.extend(archive.note.take());
    let mut data =
        Dataset { features, names, target, samples, apart, notes, source: file.to_owned(), format: Format::Npz };
    data.refuse_text(options)?;
    data.drop_columns(&options.drop)?;
    if let Some(rows) = rows {
        data.keep_labelled(&rows);
    }
    Ok(data)
}

/// Reads what a column file at `out` is to hold; nothing is dropped.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    let mut archive = Archive::open(source, options)?;
    let form = archive.form()?;
    let names = archive.names(&form)?;
    let (values, normalized) = compressed::sorted(&mut Matrix { archive: &mut archive, form }, &names, options, out)?;
    let (target, _, mut notes) = archive.target(form.n, options)?;
    notes.extend(variables::read(&mut archive, &form, &names)?);
    notes.extend(normalized);
    notes.extend(archive.note.take());
    crate::matrix::dataset::refuse_text(archive.file, options)?;
    Ok(Sorted { values, names, target, notes })
}

fn damaged(file: &str, error: &dyn std::fmt::Display) -> DataError {
    DataError::Damaged { file: file.to_owned(), what: error.to_string() }
}

fn unzipped(file: &str, shared: &SharedFile) -> Result<ZipArchive<BufReader<SharedReader>>, DataError> {
    ZipArchive::new(BufReader::new(shared.part(0))).map_err(|e| damaged(file, &e))
}

/// An open archive.
struct Archive<'a> {
    file: &'a str,
    shared: SharedFile,
    zip: ZipArchive<BufReader<SharedReader>>,
    memory: u64,
    largest: u64,
    /// What to tell of its texts.
    note: Option<Note>,
}

impl<'a> Archive<'a> {
    fn open(source: &'a Source, options: &ReadOptions) -> Result<Self, DataError> {
        let file = &source.name;
        let shared = SharedFile::new(source.seekable()?).map_err(|e| damaged(file, &e))?;
        let zip = unzipped(file, &shared)?;
        Ok(Self {
            file,
            shared,
            zip,
            memory: options.memory(),
            largest: options.largest_index(source.trusted_bytes()),
            note: None,
        })
    }

    /// The archive once more, for a second array at the same time.
    fn again(&self) -> Result<Self, DataError> {
        let (file, shared) = (self.file, self.shared.clone());
        Ok(Self { zip: unzipped(file, &shared)?, shared, note: None, ..*self })
    }

    fn has(&self, key: &str) -> bool {
        self.zip.index_for_name(&format!("{key}.npy")).is_some()
    }

    fn unknown(&self, key: &str, role: &'static str) -> DataError {
        let names = self.zip.file_names().filter_map(Result::ok);
        let mut keys: Vec<String> = names.map(|n| n.strip_suffix(".npy").unwrap_or(&n).to_owned()).take(10).collect();
        keys.sort_unstable();
        DataError::UnknownColumn { file: self.file.to_owned(), name: key.into(), role, available: keys.join(", ") }
    }

    /// Runs `body` on an array whose size has been checked against its entry; `body` reads the
    /// values.
    fn array<T>(
        &mut self,
        key: &str,
        body: impl FnOnce(&Array, &mut dyn io::Read) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let file = self.file;
        if !self.has(key) {
            return Err(self.unknown(key, "array"));
        }
        let mut entry = self.zip.by_name(&format!("{key}.npy")).map_err(|e| damaged(file, &e))?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        let array = Array::read(&mut entry).map_err(|error| header_error(file, key, error))?;
        let bytes = array.count().and_then(|count| count.checked_mul(array.item.width)).map(|b| b as u64);
        // Deflate packs at most 1032 bytes into one; a size beyond that is a lie.
        let plausible = size <= packed.saturating_mul(1040).saturating_add(64);
        if bytes.map(|b| b + array.header as u64) != Some(size) || !plausible {
            let what = format!("array {key}: the shape {:?} does not fit the {size} bytes of the entry", array.shape);
            return Err(damaged(file, &what));
        }
        body(&array, &mut entry)
    }

    /// Runs `body` on a numeric array of one dimension.
    fn numbers<T>(
        &mut self,
        key: &str,
        body: impl FnOnce(Numbers<'_>) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let file = self.file;
        self.array(key, |array, input| {
            if !array.is_number() || array.shape.len() != 1 {
                return Err(shape_error(file, key, array, "one-dimensional and numeric"));
            }
            body(Numbers::new(file, key, array, input))
        })
    }

    /// All items of the array.
    fn all_numbers<T>(&mut self, key: &str, map: impl Fn(f64) -> T) -> Result<Vec<T>, DataError> {
        let (file, memory) = (self.file, self.memory);
        self.numbers(key, |mut numbers| {
            check_memory(file, &format!("array {key}"), (numbers.count() * size_of::<T>()) as u64, memory)?;
            let mut values = Vec::with_capacity(numbers.count());
            numbers.each(|_, x| {
                values.push(map(x));
                Ok(())
            })?;
            Ok(values)
        })
    }

    /// Names of the features.
    fn names(&mut self, form: &Form) -> Result<Names, DataError> {
        if !self.has("names") {
            return Ok(Names::Numbered(form.p));
        }
        let names = self.texts("names", form.p)?;
        check_distinct(self.file, names.iter().map(String::as_str))?;
        Ok(Names::Listed(names))
    }

    /// An array of `count` items as text.
    fn texts(&mut self, key: &str, count: usize) -> Result<Vec<String>, DataError> {
        let (file, memory) = (self.file, self.memory);
        let (values, windows) = self.array(key, |array, input| {
            let flat = array.shape.len() == 1 || array.shape.len() == 2 && array.shape.contains(&1);
            if !flat || array.count() != Some(count) {
                return Err(shape_error(file, key, array, &format!("of {count} values")));
            }
            // Characters of four bytes become one to four; numbers become text of up to 24.
            let bytes = count.saturating_mul(size_of::<String>() + array.item.width.max(24));
            check_memory(file, &format!("array {key} as text"), bytes as u64, memory)?;
            let (mut values, mut windows) = (Vec::with_capacity(count), false);
            let read = array.each(input, |_, bytes| {
                windows |= array.item.is_windows(bytes);
                values.push(array.item.text(bytes));
            });
            read.map_err(|e| damaged(file, &format!("array {key}: {e}")))?;
            Ok((values, windows))
        })?;
        if windows {
            let place = Place { file: file.to_owned(), ..Place::default() }.column(key);
            self.note.get_or_insert(Note::Windows { place });
        }
        Ok(values)
    }

    /// The target `y`, or the array the caller named (`y` by its name in the file, too), the rows that
    /// have a class where some have none, and the notes on it.
    fn target(&mut self, n: usize, options: &ReadOptions) -> Result<binary::FoundTarget, DataError> {
        let named = if self.has("target_name") { Some(self.texts("target_name", 1)?.swap_remove(0)) } else { None };
        let asked = options.target.clone().filter(|name| self.has(name) || named.as_ref() != Some(name));
        let key = asked.clone().unwrap_or_else(|| "y".into());
        if !self.has(&key) {
            return if options.target_optional {
                Ok((None, None, Vec::new()))
            } else {
                Err(self.unknown(&key, "target"))
            };
        }
        let texts = self.texts(&key, n)?;
        let column = named.filter(|_| asked.is_none()).unwrap_or(key);
        let rule = if options.target.is_some() { TargetRule::Asked } else { TargetRule::Format };
        binary::target_of(self.file, &column, &texts, rule, options)
    }
}

/// The error of an array that cannot be used.
fn header_error(file: &str, key: &str, error: HeaderError) -> DataError {
    match error {
        HeaderError::Damaged(what) => damaged(file, &format!("array {key}: {what}")),
        HeaderError::Items(kind) => DataError::Unsupported {
            file: file.into(),
            what: format!("array {key} holds {} (dtype {kind}), not numbers or text", items_text(&kind)),
            remedy: "save it with X.astype(float) or, for classes and names, with y.astype(str)".into(),
        },
    }
}

/// The items of a NumPy type in words.
fn items_text(kind: &str) -> &'static str {
    match kind.chars().nth(1) {
        _ if kind.starts_with('[') => "records",
        Some('c') => "complex numbers",
        Some('O') => "Python objects",
        Some('M' | 'm') => "dates or times",
        Some('f' | 'i' | 'u') => "numbers of a size that is not read here",
        _ => "items",
    }
}

fn shape_error(file: &str, key: &str, array: &Array, wanted: &str) -> DataError {
    let found = format!("array {key} has shape {:?}, but must be {wanted}", array.shape);
    malformed(Place { file: file.into(), ..Place::default() }, found, "save it in that form")
}
