//! What can be wrong with a file. Every text names the file, the place, what was found, and the remedy.

use std::fmt;

/// Where in a file something was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Where in it.
    pub position: Position,
    /// Column or feature.
    pub column: Option<String>,
}

/// A line or a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Position {
    /// Line of a text file, counted from 1.
    Line(u64),
    /// Row of data of a binary file, counted from 1.
    Row(u64),
    /// The whole file.
    #[default]
    File,
}

impl Place {
    /// A line of a text file.
    pub(crate) fn line(file: &str, line: u64) -> Self {
        Self { file: file.into(), position: Position::Line(line), column: None }
    }
    /// A data row of a binary file.
    pub(crate) fn row(file: &str, row: u64) -> Self {
        Self { file: file.into(), position: Position::Row(row), column: None }
    }
    /// The same place, in a named column.
    pub(crate) fn column(mut self, name: impl Into<String>) -> Self {
        self.column = Some(name.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.position {
            Position::Line(line) => write!(f, ", line {line}")?,
            Position::Row(row) => write!(f, ", row {row}")?,
            Position::File => {}
        }
        match &self.column {
            Some(column) => write!(f, ", column `{column}`"),
            None => Ok(()),
        }
    }
}

/// Why svmlight indices are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFault {
    /// An index 0; svmlight counts from 1.
    Zero,
    /// The same index twice on a line.
    Repeated,
    /// An index after a larger one.
    Unordered,
}

/// An error in reading, writing or preparing data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No such file.
    #[error("{file}: no such file; check the path")]
    NotFound {
        /// The file.
        file: String,
    },
    /// The operating system refused.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// The reason.
        source: std::io::Error,
    },
    /// The ending of the name says no format.
    #[error(
        "{file}: the ending tells no format; use .csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz (also with .gz, .zst, .bz2) or .csc, or name one with --format"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// Nothing in the file.
    #[error("{file}: the file is empty; it needs at least one row of data")]
    Empty {
        /// The file.
        file: String,
    },
    /// A header but no rows.
    #[error("{file}: there is a header but no row of data below it; add rows")]
    NoRows {
        /// The file.
        file: String,
    },
    /// The file has a target column and nothing else.
    #[error("{file}: there is no feature column besides `{target}`; add feature columns or name another --target")]
    NoFeatures {
        /// The file.
        file: String,
        /// The target column.
        target: String,
    },
    /// The first line is data, not names.
    #[error("{place}: the first line holds numbers ({found}), not column names; add a header line, or say --no-header")]
    NoHeader {
        /// The first line.
        place: Place,
        /// Its first cells.
        found: String,
    },
    /// A row with too few or too many cells.
    #[error(
        "{place}: {found} cells, but the header has {expected}; fix the row (a missing or extra delimiter, an unclosed quote)"
    )]
    Ragged {
        /// The row.
        place: Place,
        /// Cells found.
        found: usize,
        /// Cells expected.
        expected: usize,
    },
    /// A cell that should be a number.
    #[error(
        "{place}: `{cell}` is not a number, but {numbers} of the {total} cells of this column are; fix the cell, or say --text {} to read the column as categories",
        .place.column.as_deref().unwrap_or_default()
    )]
    NotANumber {
        /// The first such cell.
        place: Place,
        /// The text of the cell.
        cell: String,
        /// Numeric cells in the column.
        numbers: u64,
        /// Cells in the column.
        total: u64,
    },
    /// Missing, NaN or infinite values.
    #[error(
        "{place}: `{cell}` is missing or not finite; the file has {count} such value(s), this is the first; fill them in, or drop those rows or columns"
    )]
    NotFinite {
        /// The first one.
        place: Place,
        /// Its text.
        cell: String,
        /// How many there are.
        count: u64,
    },
    /// All rows have the same class.
    #[error(
        "{file}: every row has `{column}` = {class}; an SVM needs at least two classes; add rows of another class or name another --target"
    )]
    OneClass {
        /// The file.
        file: String,
        /// The target column.
        column: String,
        /// The only class.
        class: String,
    },
    /// A synthetic set of one class only.
    #[error(
        "all {samples} samples of the {part} set are of class {class}, but a data set needs both classes; ask for more samples or another --seed"
    )]
    OneSide {
        /// `training`, `validation` or `test`.
        part: &'static str,
        /// Samples drawn.
        samples: usize,
        /// Their class.
        class: &'static str,
    },
    /// A target with nearly as many values as rows.
    #[error(
        "{file}: the target column `{column}` has {classes} different values in {rows} rows, which are not classes; name another --target"
    )]
    TooManyClasses {
        /// The file.
        file: String,
        /// The target column.
        column: String,
        /// Distinct values.
        classes: usize,
        /// Rows.
        rows: usize,
    },
    /// A name used twice.
    #[error("{file}: the name `{name}` is used by columns {first} and {second}; rename one of them")]
    DuplicateName {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// First position, from 1.
        first: usize,
        /// Second position, from 1.
        second: usize,
    },
    /// A text column with too many values to be categories.
    #[error(
        "{file}: text column `{column}` has {distinct} different values in {rows} rows, such as `{example}`, and looks like an identifier or free text; say --drop {column}, or --text {column} to make a feature of each value"
    )]
    Identifier {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Distinct values.
        distinct: usize,
        /// Rows.
        rows: usize,
        /// One of the values.
        example: String,
    },
    /// A column that was asked for is not there.
    #[error("{file}: there is no column `{name}` to be the {role}; the columns are {available}")]
    UnknownColumn {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// What for: `target`, `text column`, ...
        role: &'static str,
        /// The columns there are.
        available: String,
    },
    /// A feature that is needed (by a model, or by name) is not there.
    #[error(
        "{file}: feature `{name}` is needed but missing ({missing} of {needed} are); add the column, or check its spelling"
    )]
    MissingFeature {
        /// The file.
        file: String,
        /// The first missing feature.
        name: String,
        /// How many are missing.
        missing: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Bad svmlight index.
    #[error("{place}: feature index {index} {}", index_text(*.fault, *.previous))]
    Index {
        /// The line.
        place: Place,
        /// The index found.
        index: u64,
        /// The index before it on the line, 0 if none.
        previous: u64,
        /// What is wrong with it.
        fault: IndexFault,
    },
    /// A feature number far beyond what the size of the file makes plausible.
    #[error(
        "{place}: feature number {index} is beyond {allowed}, the most that a file of this size is trusted with; if it is right, raise the limit with --index-limit"
    )]
    TooManyFeatures {
        /// The place.
        place: Place,
        /// The number found.
        index: u64,
        /// The largest allowed.
        allowed: u64,
    },
    /// Text that the format does not allow here.
    #[error("{place}: {found}; {remedy}")]
    Malformed {
        /// The place.
        place: Place,
        /// What was found.
        found: String,
        /// What to do.
        remedy: String,
    },
    /// Compressed or binary data that cannot be decoded.
    #[error("{file}: the file is damaged or cut short ({what}); copy or download it again")]
    Damaged {
        /// The file.
        file: String,
        /// What the decoder said.
        what: String,
    },
    /// More memory than allowed.
    #[error("{file}: {what} needs {}, but only {} are allowed; {remedy}", bytes_text(*.needed), bytes_text(*.allowed))]
    Memory {
        /// The file.
        file: String,
        /// What the memory is for.
        what: String,
        /// Bytes needed (at least).
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// The output cannot be written.
    #[error(
        "{file}: cannot write: {source}; check that the folder exists and that you may write there; nothing was left behind"
    )]
    Output {
        /// The output file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The data do not fit the output format.
    #[error("{file}: {what}; {remedy}")]
    Unsupported {
        /// The file.
        file: String,
        /// What does not fit.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// `standard` scaling of sparse data.
    #[error(
        "standard scaling subtracts the mean, which would fill in the zeros of sparse data; say --scale maxabs or --scale none"
    )]
    SparseStandard,
    /// A scaling made for another number of features.
    #[error("the scaling is for {expected} features, but the data have {found}; fit it on the same columns")]
    ScalingShape {
        /// Features of the scaling.
        expected: usize,
        /// Features of the data.
        found: usize,
    },
    /// The library refused the matrix.
    #[error(transparent)]
    Design(#[from] fewest::Error),
}

/// The rest of the sentence "feature index 7 ...".
fn index_text(fault: IndexFault, previous: u64) -> String {
    match fault {
        IndexFault::Zero => "is not allowed, svmlight counts features from 1; add 1 to every index of the file".into(),
        IndexFault::Repeated => "appears twice on this line; keep one of the two values".into(),
        IndexFault::Unordered => {
            format!("comes after {previous}, but indices must ascend within a line; sort each line by index")
        }
    }
}

/// A byte count for people: `1.50 GiB`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.2} {}", UNITS[unit]) }
}
