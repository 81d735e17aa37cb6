//! NumPy archives: `X` (n x p) and `y`, optional `names`, or the arrays of `scipy.sparse.save_npz`
//! with `y` beside them.

mod npy;
mod write;

use std::fs::File;
use std::io::{self, BufReader};

use fewest::{DenseDesign, SparseDesign};
use zip::ZipArchive;

use crate::header::check_distinct;
use crate::note::TargetRule;
use crate::options::check_memory;
use crate::source::Source;
use crate::target::class_name;
use crate::waves::malformed;
use crate::{DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, TextColumn, binary};
use npy::{Array, HeaderError};

pub(crate) use write::write;

/// Reads an archive.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let file = &source.name;
    let zip = ZipArchive::new(BufReader::new(source.seekable()?)).map_err(|e| damaged(file, &e))?;
    let mut archive =
        Archive { file, zip, memory: options.memory(), largest: options.largest_index(source.trusted_bytes()) };
    let features = if archive.has("X") {
        archive.dense()?
    } else if archive.has("indptr") {
        archive.sparse()?
    } else {
        return Err(archive.unknown("X", "matrix"));
    };
    let (n, p) = (features.n_samples(), features.n_features());
    if n == 0 {
        return Err(DataError::NoRows { file: file.clone() });
    }
    let names = if archive.has("names") { Names::Listed(archive.texts("names", p)?) } else { Names::Numbered(p) };
    if let Names::Listed(names) = &names {
        check_distinct(file, names.iter().map(String::as_str))?;
    }
    let finite = |j| names.get(j).into_owned();
    match &features {
        Features::Dense(design) => binary::check_finite(file, n, design.values(), options.missing, finite)?,
        Features::Sparse(design) => check_sparse(file, design, options.missing, finite)?,
        Features::Mapped(_) => unreachable!("archives are read into memory"),
    }
    let mut notes = Vec::new();
    let target = archive.target(n, options)?;
    if let Some(target) = &target {
        let rule = if options.target.is_some() { TargetRule::Asked } else { TargetRule::Format };
        notes.push(Note::TargetColumn { name: target.column.clone(), rule });
    }
    let apart = options.apart.iter().map(|name| {
        let values = archive.texts(name, n)?;
        Ok(TextColumn { name: name.clone(), values })
    });
    let apart = apart.collect::<Result<_, DataError>>()?;
    let mut data = Dataset { features, names, target, apart, notes, source: file.clone(), format: Format::Npz };
    if let Some(name) = options.text.first() {
        let what = format!("column `{name}` was asked for as text, but the matrix of a NumPy archive holds numbers");
        return Err(DataError::Unsupported { file: file.clone(), what, remedy: "use csv for text".into() });
    }
    drop_columns(&mut data, &options.drop)?;
    Ok(data)
}

/// The not-finite check of a sparse matrix.
fn check_sparse(
    file: &str,
    design: &SparseDesign<'_>,
    missing: bool,
    name: impl Fn(usize) -> String,
) -> Result<(), DataError> {
    let mut all = crate::problems::NotFinite::default();
    let (start, _, _) = design.parts();
    for j in 0..start.len() - 1 {
        let (rows, values) = design.column(j);
        for (&i, x) in rows.iter().zip(values).filter(|(_, x)| binary::is_bad(**x, missing)) {
            let mut one = crate::problems::NotFinite::default();
            one.add(|| (Place::row(file, u64::from(i) + 1).column(name(j)), x.to_string()));
            all.merge(one);
        }
    }
    all.check()
}

/// Leaves out columns by name.
fn drop_columns(data: &mut Dataset, drop: &[String]) -> Result<(), DataError> {
    if drop.is_empty() {
        return Ok(());
    }
    for name in drop {
        if data.names.position(name).is_none() {
            return Err(DataError::UnknownColumn {
                file: data.source.clone(),
                name: name.clone(),
                role: "dropped column",
                available: data.names.iter().take(10).collect::<Vec<_>>().join(", "),
            });
        }
    }
    let keep: Vec<usize> = (0..data.names.len()).filter(|&j| !drop.iter().any(|d| *d == data.names.get(j))).collect();
    data.features = data.features.select(&keep.iter().map(|&j| Some(j)).collect::<Vec<_>>());
    data.names = Names::Listed(keep.iter().map(|&j| data.names.get(j).into_owned()).collect());
    Ok(())
}

fn damaged(file: &str, error: &dyn std::fmt::Display) -> DataError {
    DataError::Damaged { file: file.to_owned(), what: error.to_string() }
}

/// An open archive.
struct Archive<'a> {
    file: &'a str,
    zip: ZipArchive<BufReader<File>>,
    memory: u64,
    largest: u64,
}

impl Archive<'_> {
    fn has(&self, key: &str) -> bool {
        self.zip.index_for_name(&format!("{key}.npy")).is_some()
    }

    fn unknown(&self, key: &str, role: &'static str) -> DataError {
        let mut keys: Vec<&str> = self.zip.file_names().map(|n| n.strip_suffix(".npy").unwrap_or(n)).take(10).collect();
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
        let bytes = array.count().and_then(|count| count.checked_mul(array.width)).map(|b| b as u64);
        // Deflate packs at most 1032 bytes into one; a size beyond that is a lie.
        let plausible = size <= packed.saturating_mul(1040).saturating_add(64);
        if bytes.map(|b| b + array.header as u64) != Some(size) || !plausible {
            let what = format!("array {key}: the shape {:?} does not fit the {size} bytes of the entry", array.shape);
            return Err(damaged(file, &what));
        }
        body(&array, &mut entry)
    }

    /// All items of a numeric array with `count` items (any number if `None`), changed by `map`.
    fn numbers<T>(&mut self, key: &str, map: impl Fn(f64) -> T) -> Result<Vec<T>, DataError> {
        let (file, memory) = (self.file, self.memory);
        self.array(key, |array, input| {
            if !array.is_number() || array.shape.len() != 1 {
                return Err(shape_error(file, key, array, "one-dimensional and numeric"));
            }
            let count = array.count().unwrap_or(0);
            check_memory(file, &format!("array {key}"), (count * size_of::<T>()) as u64, memory)?;
            let mut values = Vec::with_capacity(count);
            let read = array.each(input, |_, bytes| values.push(map(array.number(bytes))));
            read.map_err(|e| damaged(file, &format!("array {key}: {e}")))?;
            Ok(values)
        })
    }

    /// An array of `count` items as text.
    fn texts(&mut self, key: &str, count: usize) -> Result<Vec<String>, DataError> {
        let (file, memory) = (self.file, self.memory);
        self.array(key, |array, input| {
            let flat = array.shape.len() == 1 || array.shape.len() == 2 && array.shape.contains(&1);
            if !flat || array.count() != Some(count) {
                return Err(shape_error(file, key, array, &format!("of {count} values")));
            }
            // Characters of four bytes become one to four; numbers become text of up to 24.
            let bytes = count.saturating_mul(size_of::<String>() + array.width.max(24));
            check_memory(file, &format!("array {key} as text"), bytes as u64, memory)?;
            let mut values = Vec::with_capacity(count);
            let read = array.each(input, |_, bytes| values.push(array.text(bytes)));
            read.map_err(|e| damaged(file, &format!("array {key}: {e}")))?;
            Ok(values)
        })
    }

    /// The dense matrix `X`.
    fn dense(&mut self) -> Result<Features, DataError> {
        let (file, memory) = (self.file, self.memory);
        self.array("X", |array, input| {
            let &[n, p] = &array.shape[..] else {
                return Err(shape_error(file, "X", array, "two-dimensional"));
            };
            if !array.is_number() {
                return Err(shape_error(file, "X", array, "numeric"));
            }
            let mut values = binary::zeros(file, n, p, memory)?;
            let read = if array.fortran {
                array.each(input, |at, bytes| values[at] = array.number(bytes))
            } else {
                let (mut i, mut j) = (0, 0);
                array.each(input, |_, bytes| {
                    values[j * n + i] = array.number(bytes);
                    j += 1;
                    if j == p {
                        (i, j) = (i + 1, 0);
                    }
                })
            };
            read.map_err(|e| damaged(file, &format!("array X: {e}")))?;
            Ok(Features::Dense(DenseDesign::new(n, p, values)?))
        })
    }

    /// The matrix of `scipy.sparse.save_npz` in CSR or CSC form.
    fn sparse(&mut self) -> Result<Features, DataError> {
        let file = self.file;
        let form = self.array("format", |array, input| {
            let mut form = String::new();
            let read = array.each(input, |_, bytes| form = array.text(bytes));
            read.map(|()| form).map_err(|e| damaged(file, &e))
        })?;
        let shape = self.numbers("shape", |x| x as u64)?;
        let (&[n, p], true) = (&shape[..], form == "csr" || form == "csc") else {
            let what = format!("a sparse matrix in `{form}` form");
            return Err(DataError::Unsupported {
                file: file.into(),
                what,
                remedy: "save it with tocsc() or tocsr()".into(),
            });
        };
        if let Some(&index) = [n, p].iter().find(|&&d| d > self.largest) {
            return Err(DataError::TooManyFeatures {
                place: Place { file: file.into(), ..Place::default() },
                index,
                allowed: self.largest,
            });
        }
        let start = self.numbers("indptr", |x| x as usize)?;
        let index = self.numbers("indices", |x| if (0.0..4294967295.0).contains(&x) { x as u32 } else { u32::MAX })?;
        let values = self.numbers("data", |x| x)?;
        let arrays = SparseArrays { start, index, values };
        let (major, minor) = if form == "csc" { (p, n) } else { (n, p) };
        let needed = (12 * arrays.values.len() as u64 + 8 * (n.max(p) + 1)) * 2;
        check_memory(file, "the sparse matrix", needed, self.memory)?;
        if !arrays.fits(major as usize, minor as usize) {
            return Err(damaged(file, &"the arrays of the sparse matrix do not fit together"));
        }
        // Transposing sorts; twice brings back the same order.
        let once = arrays.transposed(minor as usize);
        let columns = if form == "csc" { once.transposed(major as usize) } else { once };
        let columns = columns.summed();
        Ok(Features::Sparse(SparseDesign::new(n as usize, columns.start, columns.index, columns.values)?))
    }

    /// The target `y`, or the array the caller named.
    fn target(&mut self, n: usize, options: &ReadOptions) -> Result<Option<crate::Target>, DataError> {
        let key = options.target.clone().unwrap_or_else(|| "y".into());
        if !self.has(&key) {
            return if options.target_optional { Ok(None) } else { Err(self.unknown(&key, "target")) };
        }
        let names: Vec<String> = self.texts(&key, n)?.iter().map(|name| class_name(name)).collect();
        let column = if self.has("target_name") && options.target.is_none() {
            self.texts("target_name", 1)?.swap_remove(0)
        } else {
            key
        };
        binary::target(self.file, &column, names.iter().map(String::as_str), options.target_optional)
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

/// Compressed rows or columns; indices may be in any order.
struct SparseArrays {
    start: Vec<usize>,
    index: Vec<u32>,
    values: Vec<f64>,
}

impl SparseArrays {
    /// Whether the arrays make a matrix of `major` slices with indices below `minor`.
    fn fits(&self, major: usize, minor: usize) -> bool {
        self.start.len() == major + 1
            && self.start[0] == 0
            && self.start[major] == self.values.len()
            && self.index.len() == self.values.len()
            && self.start.windows(2).all(|w| w[0] <= w[1])
            && self.index.iter().all(|&i| (i as usize) < minor)
    }

    /// The other compression, indices ascending, zeros left out.
    fn transposed(&self, minor: usize) -> SparseArrays {
        let mut start = vec![0usize; minor + 1];
        let kept = || self.index.iter().zip(&self.values).filter(|(_, v)| **v != 0.0);
        kept().for_each(|(&i, _)| start[i as usize + 1] += 1);
        (0..minor).for_each(|i| start[i + 1] += start[i]);
        let stored = start[minor];
        let mut next = start.clone();
        let (mut index, mut values) = (vec![0u32; stored], vec![0.0; stored]);
        for (major, w) in self.start.windows(2).enumerate() {
            for (&i, &value) in self.index[w[0]..w[1]].iter().zip(&self.values[w[0]..w[1]]).filter(|(_, v)| **v != 0.0)
            {
                let at = next[i as usize];
                (index[at], values[at]) = (major as u32, value);
                next[i as usize] += 1;
            }
        }
        SparseArrays { start, index, values }
    }

    /// Entries at the same place added up, as scipy does.
    fn summed(mut self) -> SparseArrays {
        let (mut kept, mut begin) = (0, 0);
        for j in 0..self.start.len() - 1 {
            let (first, end) = (kept, self.start[j + 1]);
            for at in begin..end {
                if kept > first && self.index[kept - 1] == self.index[at] {
                    self.values[kept - 1] += self.values[at];
                } else {
                    (self.index[kept], self.values[kept]) = (self.index[at], self.values[at]);
                    kept += 1;
                }
            }
            (begin, self.start[j + 1]) = (end, kept);
        }
        self.index.truncate(kept);
        self.values.truncate(kept);
        self
    }
}
