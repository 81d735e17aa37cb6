//! The formats: a row of facts for each of them. The functions that read and write it are a row in
//! `formats/mod.rs`.

use Format::{
    Arff, Arrow, Csc, Csv, Gct, Gctx, H5, H5ad, Loom, Mtx, Npz, Ods, Parquet, SeriesMatrix, Svmlight, Tsv, Xlsx,
};

use crate::Compression;

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

/// Facts of a format.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Row {
    format: Format,
    /// The name in settings, results and messages.
    name: &'static str,
    /// Other names that are understood.
    aliases: &'static [&'static str],
    /// Endings of file names, without the point and compression.
    endings: &'static [&'static str],
    /// It has columns of their own kinds, and is no matrix of numbers.
    table: bool,
    /// It is text.
    text: bool,
    /// It is read by way of text, see [`crate::spool`].
    spooled: bool,
    /// It may hold several matrices, see [`crate::ReadOptions::layer`].
    layers: bool,
    /// It is written, too.
    written: bool,
    /// Whether data that begin so are of the format, for what has a sign of its own.
    begins: fn(&[u8]) -> bool,
}

/// A matrix in a binary file that is read alone.
const MATRIX: Row = Row {
    format: Csv,
    name: "",
    aliases: &[],
    endings: &[],
    table: false,
    text: false,
    spooled: false,
    layers: false,
    written: false,
    begins: |_| false,
};

/// A table in text that is written, too.
const TABLE: Row = Row { table: true, text: true, written: true, ..MATRIX };

/// One row a format, in the order of [`Format`]; signs are tried in this order.
const FORMATS: &[Row] = &[
    Row { format: Csv, name: "csv", endings: &["csv"], ..TABLE },
    Row { format: Tsv, name: "tsv", endings: &["tsv", "tab"], ..TABLE },
    Row {
        format: Svmlight,
        name: "svmlight",
        aliases: &["svm", "libsvm"],
        endings: &["svm", "libsvm", "svmlight"],
        text: true,
        written: true,
        ..MATRIX
    },
    Row { format: Arff, name: "arff", endings: &["arff"], ..TABLE },
    Row {
        format: Parquet,
        name: "parquet",
        endings: &["parquet", "pq"],
        text: false,
        begins: |head| head.starts_with(b"PAR1"),
        ..TABLE
    },
    Row {
        format: Npz,
        name: "npz",
        endings: &["npz"],
        written: true,
        begins: |head| is_zip_of(head, &[""]) && !is_zip_of(head, WORKBOOK) && !is_zip_of(head, OPEN_DOCUMENT),
        ..MATRIX
    },
    Row {
        format: Csc,
        name: "csc",
        endings: &["csc"],
        written: true,
        begins: |head| head.starts_with(b"FEWESTCC"),
        ..MATRIX
    },
    Row {
        format: Gct,
        name: "gct",
        endings: &["gct"],
        text: true,
        begins: |head| head.starts_with(b"#1.2") || head.starts_with(b"#1.3"),
        ..MATRIX
    },
    Row {
        format: SeriesMatrix,
        name: "series-matrix",
        text: true,
        begins: |head| head.starts_with(b"!Series_") || head.starts_with(b"!Sample_"),
        ..MATRIX
    },
    Row {
        format: Xlsx,
        name: "xlsx",
        endings: &["xlsx", "xlsm"],
        table: true,
        spooled: true,
        layers: true,
        begins: |head| is_zip_of(head, WORKBOOK),
        ..MATRIX
    },
    Row {
        format: Ods,
        name: "ods",
        endings: &["ods"],
        table: true,
        spooled: true,
        layers: true,
        begins: |head| is_zip_of(head, OPEN_DOCUMENT) && !is_zip_of(head, WORKBOOK),
        ..MATRIX
    },
    Row {
        format: Arrow,
        name: "arrow",
        aliases: &["feather"],
        endings: &["feather", "arrow", "ipc"],
        table: true,
        spooled: true,
        begins: |head| head.starts_with(b"ARROW1"),
        ..MATRIX
    },
    Row { format: H5ad, name: "h5ad", endings: &["h5ad"], layers: true, ..MATRIX },
    Row {
        format: H5,
        name: "10x-h5",
        aliases: &["h5", "hdf5"],
        endings: &["h5", "hdf5"],
        layers: true,
        begins: is_hdf5,
        ..MATRIX
    },
    Row { format: Loom, name: "loom", endings: &["loom"], layers: true, ..MATRIX },
    Row { format: Gctx, name: "gctx", endings: &["gctx"], ..MATRIX },
    Row {
        format: Mtx,
        name: "mtx",
        endings: &["mtx"],
        text: true,
        layers: true,
        begins: |head| head.starts_with(b"%%MatrixMarket"),
        ..MATRIX
    },
];

/// Endings of text that say no more: a table, until its first bytes say something else.
const ANY_TEXT: [&str; 6] = ["txt", "dat", "data", "text", "asc", "data-numeric"];

/// Parts of a workbook of Excel.
const WORKBOOK: &[&str] = &["[Content_Types].xml", "xl/"];
/// A part of a document of OpenDocument.
const OPEN_DOCUMENT: &[&str] = &["opendocument"];

/// Whether data begin with a zip archive that holds one of these parts.
fn is_zip_of(head: &[u8], parts: &[&str]) -> bool {
    let holds = |part: &&str| memchr::memmem::find(head, part.as_bytes()).is_some();
    head.starts_with(b"PK\x03\x04") && parts.iter().any(holds)
}

/// Whether data begin with HDF5, perhaps behind a block of another program.
fn is_hdf5(head: &[u8]) -> bool {
    [0, 512, 1024, 2048, 4096].iter().any(|&at| head.get(at..).is_some_and(|b| b.starts_with(b"\x89HDF\r\n\x1a\n")))
}

impl Format {
    /// All formats.
    pub const ALL: [Format; FORMATS.len()] = {
        let mut all = [Csv; FORMATS.len()];
        let mut at = 0;
        while at < FORMATS.len() {
            all[at] = FORMATS[at].format;
            assert!(all[at] as usize == at, "rows are in the order of the formats");
            at += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &FORMATS[self as usize]
    }

    /// Format by the ending of a file name, compressed or not.
    pub fn of_path(path: &str) -> Option<Format> {
        let ending = ending(path)?;
        let of = |row: &&Row| row.endings.contains(&ending.as_str());
        let any_text = || ANY_TEXT.contains(&ending.as_str()).then_some(Csv);
        FORMATS.iter().find(of).map(|row| row.format).or_else(any_text)
    }

    /// Whether the ending of a name says no more than that the file is text.
    pub(crate) fn is_any_text(path: &str) -> bool {
        ending(path).is_some_and(|ending| ANY_TEXT.contains(&ending.as_str()))
    }

    /// The endings of files that are read, for messages: `.csv, .tsv, .txt, ...`.
    pub(crate) fn endings() -> String {
        let endings = FORMATS.iter().flat_map(|row| row.endings.iter().take(2)).chain(&ANY_TEXT[..1]);
        endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
    }

    /// The endings of files that are written, for messages.
    pub fn written_endings() -> String {
        let written = FORMATS.iter().filter(|row| row.written);
        written.map(|row| format!(".{}", row.endings[0])).collect::<Vec<_>>().join(", ")
    }

    /// Whether a file of the format has columns of their own kinds, and is no matrix of numbers.
    pub fn is_table(self) -> bool {
        self.row().table
    }

    /// Whether a file of the format is text.
    pub(crate) fn is_text(self) -> bool {
        self.row().text
    }

    /// Whether a file of the format is read by way of text.
    pub(crate) fn is_spooled(self) -> bool {
        self.row().spooled
    }

    /// Whether a file of the format may hold several matrices, see [`crate::ReadOptions::layer`].
    pub fn has_layers(self) -> bool {
        self.row().layers
    }

    /// Whether files of the format are written, too.
    pub fn is_written(self) -> bool {
        self.row().written
    }

    /// The name in options, results and messages.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a format by its name (also `svm`, `libsvm`, `feather`, `h5` and `hdf5`).
    pub fn by_name(name: &str) -> Option<Format> {
        let named = |row: &&Row| row.name == name || row.aliases.contains(&name);
        FORMATS.iter().find(named).map(|row| row.format)
    }

    /// Guess from the first bytes of (uncompressed) data; `Csv` where nothing speaks for another
    /// format.
    pub(crate) fn sniff(head: &[u8]) -> Format {
        if let Some(row) = FORMATS.iter().find(|row| (row.begins)(head)) {
            return row.format;
        }
        let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
        let Some(line) = lines.into_iter().find(|l| !l.is_empty() && !l.starts_with(b"#") && !l.starts_with(b"%"))
        else {
            return Csv;
        };
        if line.len() >= 9 && line[..9].eq_ignore_ascii_case(b"@relation") {
            return Arff;
        }
        let mut tokens = line.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty());
        let pair = |token: &[u8]| {
            let mut parts = token.splitn(2, |&b| b == b':');
            parts.next().is_some_and(|i| !i.is_empty() && i.iter().all(u8::is_ascii_digit))
                && parts.next().is_some_and(|v| crate::number::parse(v).is_some())
        };
        if tokens.nth(1).is_some_and(pair) {
            return Svmlight;
        }
        if line.contains(&b'\t') && !line.contains(&b',') { Tsv } else { Csv }
    }
}

/// The ending of a name in small letters, without that of compression.
fn ending(path: &str) -> Option<String> {
    let lower = path.to_ascii_lowercase();
    let stem = Compression::ENDINGS.iter().find_map(|(ending, _)| lower.strip_suffix(ending)).unwrap_or(&lower);
    Some(stem.rsplit_once('.')?.1.to_owned())
}
