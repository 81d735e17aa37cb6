//! File formats and what a caller may ask of a reader.

use crate::{DataError, Normalization};

/// The first bytes of HDF5.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A data format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated with a header line.
    Csv,
    /// Tab-separated with a header line.
    Tsv,
    /// LIBSVM / svmlight text: `label index:value ...`, indices from 1.
    Svmlight,
    /// WEKA's attribute-relation file format.
    Arff,
    /// Apache Parquet.
    Parquet,
    /// NumPy archive with `X` and `y`, or the layout of `scipy.sparse.save_npz`.
    Npz,
    /// Compressed columns in a file that is mapped, see docs/formats/column-file.md.
    Csc,
    /// GCT of the Broad Institute: features in rows.
    Gct,
    /// The series matrix of GEO: features in rows.
    SeriesMatrix,
    /// A workbook of Excel.
    Xlsx,
    /// A workbook of OpenDocument.
    Ods,
    /// Arrow IPC, which feather (version 2) is.
    Arrow,
    /// AnnData in HDF5.
    H5ad,
    /// HDF5 of Cell Ranger (10x); h5ad, loom and gctx are recognised by their content.
    H5,
    /// Loom, genes x cells in HDF5.
    Loom,
    /// GCT in HDF5.
    Gctx,
    /// Matrix Market; with features and barcodes beside it a folder of Cell Ranger (10x).
    Mtx,
}

/// Endings of text that say no more.
const ANY_TEXT: [&str; 6] = ["txt", "dat", "data", "text", "asc", "data-numeric"];

impl Format {
    /// All formats.
    pub const ALL: [Format; 17] = [
        Format::Csv,
        Format::Tsv,
        Format::Svmlight,
        Format::Arff,
        Format::Parquet,
        Format::Npz,
        Format::Csc,
        Format::Gct,
        Format::SeriesMatrix,
        Format::Xlsx,
        Format::Ods,
        Format::Arrow,
        Format::H5ad,
        Format::H5,
        Format::Loom,
        Format::Gctx,
        Format::Mtx,
    ];

    /// Format by the ending of a file name, a compression ending left out.
    pub fn of_path(path: &str) -> Option<Format> {
        let lower = path.to_ascii_lowercase();
        let stem = Compression::ENDINGS.iter().find_map(|(ending, _)| lower.strip_suffix(ending)).unwrap_or(&lower);
        match stem.rsplit_once('.')?.1 {
            "csv" => Some(Format::Csv),
            ending if ANY_TEXT.contains(&ending) => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "svm" | "libsvm" | "svmlight" => Some(Format::Svmlight),
            "arff" => Some(Format::Arff),
            "parquet" | "pq" => Some(Format::Parquet),
            "npz" => Some(Format::Npz),
            "csc" => Some(Format::Csc),
            "gct" => Some(Format::Gct),
            "xlsx" | "xlsm" => Some(Format::Xlsx),
            "ods" => Some(Format::Ods),
            "feather" | "arrow" | "ipc" => Some(Format::Arrow),
            "h5ad" => Some(Format::H5ad),
            "h5" | "hdf5" => Some(Format::H5),
            "loom" => Some(Format::Loom),
            "gctx" => Some(Format::Gctx),
            "mtx" => Some(Format::Mtx),
            _ => None,
        }
    }

    /// Whether the ending of a name says no more than that the file is text.
    pub(crate) fn is_any_text(path: &str) -> bool {
        let lower = path.to_ascii_lowercase();
        let stem = Compression::ENDINGS.iter().find_map(|(ending, _)| lower.strip_suffix(ending)).unwrap_or(&lower);
        stem.rsplit_once('.').is_some_and(|(_, ending)| ANY_TEXT.contains(&ending))
    }

    /// Whether a file of the format has columns of their own kinds, and is no matrix of numbers.
    pub fn is_table(self) -> bool {
        use Format::{Arff, Arrow, Csv, Ods, Parquet, Tsv, Xlsx};
        matches!(self, Csv | Tsv | Arff | Parquet | Xlsx | Ods | Arrow)
    }

    /// Whether a file of the format is text.
    pub(crate) fn is_text(self) -> bool {
        use Format::{Arff, Csv, Gct, Mtx, SeriesMatrix, Svmlight, Tsv};
        matches!(self, Csv | Tsv | Svmlight | Arff | Gct | SeriesMatrix | Mtx)
    }

    /// Whether a file of the format may hold several matrices, see [`ReadOptions::layer`].
    pub fn has_layers(self) -> bool {
        use Format::{H5, H5ad, Loom, Mtx, Ods, Xlsx};
        matches!(self, H5ad | H5 | Loom | Mtx | Xlsx | Ods)
    }

    /// Whether files of the format are written, too.
    pub fn is_written(self) -> bool {
        use Format::{Arff, Csc, Csv, Npz, Parquet, Svmlight, Tsv};
        matches!(self, Csv | Tsv | Svmlight | Arff | Parquet | Npz | Csc)
    }

    /// The name as used by `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Svmlight => "svmlight",
            Format::Arff => "arff",
            Format::Parquet => "parquet",
            Format::Npz => "npz",
            Format::Csc => "csc",
            Format::Gct => "gct",
            Format::SeriesMatrix => "series-matrix",
            Format::Xlsx => "xlsx",
            Format::Ods => "ods",
            Format::Arrow => "arrow",
            Format::H5ad => "h5ad",
            Format::H5 => "10x-h5",
            Format::Loom => "loom",
            Format::Gctx => "gctx",
            Format::Mtx => "mtx",
        }
    }

    /// Finds a format by the name that `--format` takes (also `svm`, `libsvm`, `h5` and `hdf5`).
    pub fn by_name(name: &str) -> Option<Format> {
        match name {
            "svm" | "libsvm" => Some(Format::Svmlight),
            "feather" => Some(Format::Arrow),
            "h5" | "hdf5" => Some(Format::H5),
            _ => Format::ALL.into_iter().find(|f| f.name() == name),
        }
    }

    /// Guess from the first bytes of (uncompressed) data; `Csv` where nothing speaks for another
    /// format.
    pub(crate) fn sniff(head: &[u8]) -> Format {
        if head.starts_with(b"PAR1") {
            return Format::Parquet;
        }
        if head.starts_with(b"PK\x03\x04") {
            let holds = |part: &[u8]| memchr::memmem::find(head, part).is_some();
            return match () {
                () if holds(b"[Content_Types].xml") || holds(b"xl/") => Format::Xlsx,
                () if holds(b"opendocument") => Format::Ods,
                () => Format::Npz,
            };
        }
        if head.starts_with(b"ARROW1") {
            return Format::Arrow;
        }
        if head.starts_with(b"FEWESTCC") {
            return Format::Csc;
        }
        if head.starts_with(b"#1.2") || head.starts_with(b"#1.3") {
            return Format::Gct;
        }
        if head.starts_with(b"!Series_") || head.starts_with(b"!Sample_") {
            return Format::SeriesMatrix;
        }
        // HDF5 may begin behind a block of another program.
        if [0, 512, 1024, 2048, 4096].iter().any(|&at| head.get(at..).is_some_and(|b| b.starts_with(HDF5))) {
            return Format::H5;
        }
        if head.starts_with(b"%%MatrixMarket") {
            return Format::Mtx;
        }
        let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
        let Some(line) = lines.into_iter().find(|l| !l.is_empty() && !l.starts_with(b"#") && !l.starts_with(b"%"))
        else {
            return Format::Csv;
        };
        if line.len() >= 9 && line[..9].eq_ignore_ascii_case(b"@relation") {
            return Format::Arff;
        }
        let mut tokens = line.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty());
        let pair = |token: &[u8]| {
            let mut parts = token.splitn(2, |&b| b == b':');
            parts.next().is_some_and(|i| !i.is_empty() && i.iter().all(u8::is_ascii_digit))
                && parts.next().is_some_and(|v| crate::number::parse(v).is_some())
        };
        if tokens.nth(1).is_some_and(pair) {
            return Format::Svmlight;
        }
        if line.contains(&b'\t') && !line.contains(&b',') { Format::Tsv } else { Format::Csv }
    }
}

/// Compression of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// gzip, one or more members.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
}

impl Compression {
    pub(crate) const ENDINGS: [(&'static str, Compression); 3] =
        [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".bz2", Compression::Bzip2)];

    /// Compression by the ending of a file name.
    pub fn of_path(path: &str) -> Compression {
        let lower = path.to_ascii_lowercase();
        Self::ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending)).map_or(Compression::Plain, |e| e.1)
    }

    /// Compression by the first bytes of a file.
    pub(crate) fn of_bytes(head: &[u8]) -> Compression {
        if head.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else if head.len() >= 10 && head.starts_with(b"BZh") && &head[4..10] == b"1AY&SY" {
            Compression::Bzip2
        } else {
            Compression::Plain
        }
    }

    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }
}

/// Options of a reader: what to read and how. `ReadOptions::default()` reads a training file.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ReadOptions {
    /// Target column; default the column `y`, `label`, `class` or `target` (any case), else the
    /// last one.
    pub target: Option<String>,
    /// Read a file for prediction: the target column may be missing, the last column is then a
    /// feature, and one class only is allowed.
    pub target_optional: bool,
    /// Format; default by the ending of the name, or by the first bytes for standard input.
    pub format: Option<Format>,
    /// Most bytes that the reader may take; default three quarters of the physical memory.
    pub memory_limit: Option<u64>,
    /// Columns to set apart as text (fold numbers, identifiers), see [`crate::Dataset::apart`].
    pub apart: Vec<String>,
    /// Columns to drop; each a name or a pattern, see [`crate::matching`].
    pub drop: Vec<String>,
    /// The only columns to make features of; each a name or a pattern. Default all.
    pub only: Vec<String>,
    /// Columns to read as categories even where they hold numbers.
    pub text: Vec<String>,
    /// Keep exactly these features, in this order (a model's). Dummy columns are made to fit, other
    /// columns are ignored and may hold anything.
    pub features: Option<Vec<String>>,
    /// The values of text columns that a model has seen, beside those that its features name.
    pub levels: Vec<(String, Vec<String>)>,
    /// The csv file has no header: features are named x1, x2, ..., the last column is `y`.
    pub no_header: bool,
    /// The first line of the csv file is a header, whatever it looks like.
    pub header: bool,
    /// The sign between the cells of csv and tsv; default what the first rows show.
    pub delimiter: Option<Delimiter>,
    /// Lines of csv and tsv that begin with this ASCII character hold no data; default none, but
    /// for titles above the header.
    pub comment: Option<char>,
    /// Features are in the rows of csv and tsv, samples in the columns.
    pub transpose: bool,
    /// The decimal sign of numbers in text; default a point.
    pub decimal: Option<char>,
    /// The sign between the thousands of numbers in text; default none.
    pub thousands: Option<char>,
    /// Codes of a missing value besides empty cells, `?`, `NA` and the like: texts, and numbers
    /// however they are written.
    pub missing_codes: Vec<String>,
    /// Let missing values of features through, as NaN. Otherwise they are an error. Infinities
    /// always are.
    pub missing: bool,
    /// Leave out rows without a class, which are an error otherwise.
    pub drop_unlabelled: bool,
    /// Keep the rows of these classes only.
    pub classes: Vec<String>,
    /// The class of two that is +1; default the later one, see [`crate::Target::classes`]. A file for
    /// prediction has its classes from the model, and does not need it.
    pub positive: Option<String>,
    /// The normalization of each sample, before any feature is left out.
    pub normalize: Normalization,
    /// The matrix to read of a file that holds several: `X`, `raw`, or the name of a layer; default
    /// `X`.
    pub layer: Option<String>,
    /// A second file with the classes, or other columns of the samples.
    pub labels: Option<Labels>,
    /// Column with the names of the samples, see [`crate::Dataset::samples`]; default the names
    /// that the file has.
    pub samples: Option<String>,
    /// That column may be missing.
    pub samples_optional: bool,
    /// Make equal names of columns different: `TP53`, `TP53.1`. Otherwise they are an error.
    pub unique_names: bool,
    /// Feature numbers of svmlight begin at 0, as scikit-learn writes them by default.
    pub zero_based: bool,
    /// Largest svmlight (or sparse arff) feature number; default 4 Mi plus the bytes of the file.
    pub index_limit: Option<u64>,
}

/// A second file with columns of the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The file: a table in text, parquet or a spreadsheet, or a class file (.cls).
    pub file: String,
    /// The column with the classes; default [`ReadOptions::target`], else one of a usual name, else
    /// the only one besides the names of the samples.
    pub column: Option<String>,
    /// The column with the names of the samples; default the first where that has no name, else the
    /// one that holds most of them.
    pub by: Option<String>,
}

/// Sign between the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// An ASCII character.
    Sign(u8),
    /// Blanks or tabs, one or more.
    Blanks,
}

impl Delimiter {
    /// Finds a delimiter by the name that `--delimiter` takes: one ASCII character that is no
    /// letter, digit or quote, or `tab`, `comma`, `semicolon`, `pipe`, `blanks`.
    pub fn by_name(name: &str) -> Option<Delimiter> {
        match name {
            "tab" | "\\t" => Some(Delimiter::Sign(b'\t')),
            "comma" => Some(Delimiter::Sign(b',')),
            "semicolon" => Some(Delimiter::Sign(b';')),
            "pipe" => Some(Delimiter::Sign(b'|')),
            "blanks" | " " => Some(Delimiter::Blanks),
            _ => match name.as_bytes() {
                [sign] if sign.is_ascii_punctuation() && *sign != b'"' || *sign == b'\t' => {
                    Some(Delimiter::Sign(*sign))
                }
                _ => None,
            },
        }
    }

    /// The name that [`Delimiter::by_name`] knows.
    pub fn name(self) -> String {
        match self {
            Delimiter::Sign(b'\t') => "tab".to_owned(),
            Delimiter::Sign(sign) => char::from(sign).to_string(),
            Delimiter::Blanks => "blanks".to_owned(),
        }
    }

    /// The byte between cells in the text as it is read.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Delimiter::Sign(sign) => sign,
            Delimiter::Blanks => b'\t',
        }
    }
}

impl ReadOptions {
    /// Bytes allowed in effect: the limit, or three quarters of the machine's memory.
    pub fn memory(&self) -> u64 {
        self.memory_limit.unwrap_or_else(default_memory)
    }

    /// Largest feature number allowed for a file of that many (uncompressed) bytes.
    pub(crate) fn largest_index(&self, bytes: u64) -> u64 {
        self.index_limit.unwrap_or((4 << 20) + bytes).min(u64::from(u32::MAX))
    }
}

/// Three quarters of physical memory, 8 GiB where that is unknown.
fn default_memory() -> u64 {
    let known = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    known.map_or(8 << 30, |kib| kib * 1024 / 4 * 3)
}

/// An error when more than `allowed` bytes are needed.
pub(crate) fn check_memory(file: &str, what: &str, needed: u64, allowed: u64) -> Result<(), DataError> {
    let remedy = "raise --memory, drop columns, or use a sparse format such as svmlight";
    check_memory_with(file, what, needed, allowed, remedy)
}

/// As [`check_memory`], with a remedy of its own.
pub(crate) fn check_memory_with(
    file: &str,
    what: &str,
    needed: u64,
    allowed: u64,
    remedy: &'static str,
) -> Result<(), DataError> {
    if needed <= allowed {
        return Ok(());
    }
    Err(DataError::Memory { file: file.into(), what: what.into(), needed, allowed, remedy })
}
