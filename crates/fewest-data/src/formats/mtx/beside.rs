//! The files beside a matrix of Cell Ranger: the names of its features and of its cells.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::malformed;
use crate::io::memory::check_memory;
use crate::{DataError, Format, Note, Place, ReadOptions, io::source};

/// Endings of a file that may be compressed.
const ENDINGS: [&str; 4] = ["", ".gz", ".zst", ".bz2"];

/// Names of the files with the features, since version 3 of Cell Ranger and before.
const FEATURES: [&str; 2] = ["features.tsv", "genes.tsv"];

const BARCODES: [&str; 1] = ["barcodes.tsv"];

/// Most bytes of a line.
const LONGEST: u64 = 1 << 16;

/// What is beside a matrix.
pub(super) struct Beside {
    /// Names of the features, in the order of the file.
    pub(super) features: Vec<String>,
    /// Their types, if the file has them.
    pub(super) kinds: Vec<String>,
    /// Names of the cells, if there is a file with them.
    pub(super) barcodes: Option<Vec<String>>,
    /// What to tell of the text.
    pub(super) notes: Vec<Note>,
}

impl Beside {
    /// Whether the features are in the rows of the matrix, as usual.
    ///
    /// # Errors
    /// Other numbers of names than the matrix has rows and columns.
    pub(super) fn fits(&self, file: &str, rows: usize, columns: usize) -> Result<bool, DataError> {
        let is = |features: usize, cells: usize| {
            self.features.len() == features && self.barcodes.as_ref().is_none_or(|names| names.len() == cells)
        };
        if is(rows, columns) || is(columns, rows) {
            return Ok(is(rows, columns));
        }
        let cells = self.barcodes.as_ref().map_or(String::new(), |names| format!(" and {} barcodes", names.len()));
        Err(DataError::Unsupported {
            file: file.into(),
            what: format!(
                "the matrix has {rows} rows and {columns} columns, but beside it are {} features{cells}",
                self.features.len()
            ),
            remedy: "put the files of one matrix into a folder of their own".into(),
        })
    }
}

/// The matrix in a folder.
///
/// # Errors
/// None, several, or one without the names of its features.
pub(crate) fn in_folder(folder: &str) -> Result<String, DataError> {
    let refused = |what: String, remedy: String| DataError::Unsupported { file: folder.into(), what, remedy };
    let listed = std::fs::read_dir(folder);
    let listed = listed.map_err(|source| DataError::Io { file: folder.into(), action: "read", source })?;
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|name| Format::of_path(name) == Some(Format::Mtx)).collect();
    found.sort_unstable();
    let whole = found.iter().position(|name| ENDINGS.iter().any(|ending| *name == format!("matrix.mtx{ending}")));
    let name = match (whole, &found[..]) {
        (Some(at), _) => &found[at],
        (None, [one]) => one,
        (None, []) => {
            let what =
                "it is a folder, and holds no matrix of Cell Ranger (matrix.mtx, features.tsv, barcodes.tsv)".into();
            return Err(refused(what, "name a data file".into()));
        }
        (None, some) => {
            let what = format!("the folder holds {} matrices", some.len());
            return Err(refused(what, format!("name one: {}", crate::names::some_of(some))));
        }
    };
    let path = Path::new(folder).join(name).to_string_lossy().into_owned();
    if files(&path).is_none() {
        let what = format!("there is no features.tsv (or genes.tsv) beside {name} to name its genes");
        return Err(refused(what, format!("add it, or name the file {name} to read its rows as samples")));
    }
    Ok(path)
}

/// The files that are read for a path: itself, or the matrix of a folder, and those beside a matrix.
pub fn files_of(path: &str) -> Vec<String> {
    let path = if Path::new(path).is_dir() { in_folder(path).unwrap_or_default() } else { path.to_owned() };
    let beside = Some(&path).filter(|path| Format::of_path(path) == Some(Format::Mtx)).and_then(|path| files(path));
    let beside = beside.into_iter().flat_map(|(features, barcodes)| [features].into_iter().chain(barcodes));
    beside.chain([path.clone()]).collect()
}

/// The file with the features of a matrix, and the one with its barcodes.
fn files(path: &str) -> Option<(String, Option<String>)> {
    let at = Path::new(path);
    let folder = at.parent()?;
    let name = at.file_name()?.to_str()?;
    let stem = &name[..name.to_ascii_lowercase().find(".mtx")?];
    let prefixes =
        [stem.strip_suffix("matrix").unwrap_or(stem), stem.rfind(['_', '.', '-']).map_or("", |end| &stem[..=end]), ""];
    let find = |prefix: &str, names: &[&str]| {
        let all = names.iter().flat_map(|name| ENDINGS.map(|ending| folder.join(format!("{prefix}{name}{ending}"))));
        all.into_iter().find(|path| path.is_file()).map(|path| path.to_string_lossy().into_owned())
    };
    prefixes.iter().find_map(|prefix| Some((find(prefix, &FEATURES)?, find(prefix, &BARCODES))))
}

/// What is beside the matrix of a path; none where it is alone.
///
/// # Errors
/// Files that cannot be read.
pub(super) fn names(path: &str, options: &ReadOptions) -> Result<Option<Beside>, DataError> {
    let Some((features, barcodes)) = files(path) else { return Ok(None) };
    let (mut names, mut kinds) = (Vec::new(), Vec::new());
    let mut notes = Vec::new();
    let note = each_line(&features, options, |line| {
        let mut cells = line.split('\t').map(str::trim);
        let id = cells.next().unwrap_or_default();
        let symbol = cells.next().filter(|symbol| !symbol.is_empty());
        names.push(symbol.unwrap_or(id).to_owned());
        kinds.extend(cells.next().map(str::to_owned));
    })?;
    notes.extend(note);
    if kinds.len() != names.len() {
        kinds.clear();
    }
    let barcodes = match barcodes {
        None => None,
        Some(path) => {
            let mut names = Vec::new();
            let take = |line: &str| names.push(line.split('\t').next().unwrap_or_default().to_owned());
            notes.extend(each_line(&path, options, take)?);
            Some(names)
        }
    };
    Ok(Some(Beside { features: names, kinds, barcodes, notes }))
}

/// Runs `take` on the lines of a text file that are not blank; what to tell of the text.
fn each_line(path: &str, options: &ReadOptions, mut take: impl FnMut(&str)) -> Result<Option<Note>, DataError> {
    let options = ReadOptions { format: Some(Format::Tsv), ..options.clone() };
    let (source, _, _) = source::open(path, &options)?;
    let mut input = BufReader::new(source.reader()?);
    let (mut line, mut at, mut bytes) = (Vec::new(), 0u64, 0u64);
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(|e| source.read_error(e))?;
        if read == 0 {
            return Ok(source.note());
        }
        at += 1;
        if read as u64 == LONGEST {
            return Err(malformed(
                Place::line(path, at),
                "the line is longer than 64 KiB",
                "write one name in each line",
            ));
        }
        // Names and types are two texts.
        bytes += read as u64 + 80;
        check_memory(path, "the names", bytes, options.memory())?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() {
            take(text);
        }
    }
}
