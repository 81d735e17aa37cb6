//! What can be wrong with a file. Every text names the file, the place, what was found, and the
//! remedy.

mod text;

use std::io;

use crate::Format;
use crate::scale_kind::ScaleKind;
pub use text::bytes_text;

/// Place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// The position in the file.
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
    /// The place with the name of its column.
    pub(crate) fn column(mut self, name: impl Into<String>) -> Self {
        self.column = Some(name.into());
        self
    }
}

/// Columns that lack values and how many each of them lacks, and the number of rows.
pub type LackingColumns = (Vec<(String, usize)>, usize);

/// Why svmlight indices are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFault {
    /// An index 0; svmlight counts from 1.
    Zero,
    /// One index twice on a line.
    Repeated,
    /// An index after a larger one.
    Unordered,
}

/// Another way of writing numbers than the caller says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherStyle {
    /// The remedy, in words.
    pub remedy: String,
    /// The decimal sign and the sign between thousands, where there is one way.
    pub style: Option<(char, Option<char>)>,
}

/// An error in reading, writing or preparing data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No such file.
    NotFound {
        /// The file.
        file: String,
    },
    /// The operating system refused.
    Io {
        /// The file.
        file: String,
        /// The action that failed, e.g. `read`.
        action: &'static str,
        /// The reason.
        source: std::io::Error,
    },
    /// The ending of the name says no format.
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// Nothing in the file.
    Empty {
        /// The file.
        file: String,
    },
    /// A header but no rows.
    NoRows {
        /// The file.
        file: String,
    },
    /// The file has a target column and nothing else.
    NoFeatures {
        /// The file.
        file: String,
        /// The target column.
        target: String,
    },
    /// The first line is data, not names.
    NoHeader {
        /// The first line.
        place: Place,
        /// The first cells of the row.
        found: String,
        /// A cell that is a value of its column, too; none: they are numbers.
        repeated: Option<String>,
    },
    /// The first line is names, not data.
    NamesAsData {
        /// The first line.
        place: Place,
        /// The cell that shows it, and how.
        found: String,
    },
    /// The header has one name, which looks like several.
    Delimiter {
        /// The header.
        place: Place,
        /// It.
        found: String,
        /// The sign between them.
        delimiter: char,
    },
    /// A row with too few or too many cells.
    Ragged {
        /// The row.
        place: Place,
        /// Cells found.
        found: usize,
        /// Cells expected.
        expected: usize,
        /// The sign that the row begins with, where it may be a comment.
        comment: Option<char>,
    },
    /// A cell that should be a number.
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
    /// Numbers that are written in another way than is read.
    NumberStyle {
        /// The first of these cells, or the column.
        place: Place,
        /// The text of the cell.
        cell: String,
        /// That way.
        other: Box<OtherStyle>,
    },
    /// Missing values.
    NotFinite {
        /// The columns that lack values and how many each of them lacks, the rows, where it is known.
        columns: Option<Box<LackingColumns>>,
        /// The first one.
        place: Place,
        /// The cell's text.
        cell: String,
        /// How many there are.
        count: u64,
    },
    /// Infinite values.
    Infinite {
        /// The first one.
        place: Place,
        /// The cell's text.
        cell: String,
        /// How many there are.
        count: u64,
    },
    /// Rows without a class.
    NoClass {
        /// The first one.
        place: Place,
        /// The cell's text.
        cell: String,
        /// How many there are.
        count: u64,
    },
    /// No row has a class.
    BlankTarget {
        /// The column.
        place: Place,
    },
    /// All rows have the same class.
    OneClass {
        /// The file.
        file: String,
        /// The target column.
        column: String,
        /// The only class.
        class: String,
    },
    /// A synthetic set of one class only.
    OneSide {
        /// `training`, `validation` or `test`.
        part: &'static str,
        /// Samples drawn.
        samples: usize,
        /// Their class.
        class: &'static str,
    },
    /// A target with nearly as many values as rows.
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
    /// A table that seems to have features in its rows.
    FeaturesInRows {
        /// The file.
        file: String,
        /// Rows.
        rows: usize,
        /// Columns of numbers.
        columns: usize,
    },
    /// A target that is a quantity.
    Continuous {
        /// The file.
        file: String,
        /// The target column.
        column: String,
        /// Distinct values.
        classes: usize,
        /// Rows.
        rows: usize,
        /// One of them.
        example: String,
    },
    /// A name used twice.
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
    Identifier {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Distinct values.
        distinct: usize,
        /// Cells that are there.
        present: usize,
        /// One of the values.
        example: String,
        /// The unit behind the number of all values, such as `mg`.
        unit: Option<String>,
        /// It is the first column, and all its values differ.
        first: bool,
    },
    /// A column that was asked for is not there.
    UnknownColumn {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// The role: `target`, `text column`, ...
        role: &'static str,
        /// The columns there are.
        available: String,
    },
    /// A class that was asked for is not there.
    UnknownClass {
        /// The file.
        file: String,
        /// The class.
        name: String,
        /// The classes there are.
        available: String,
    },
    /// A feature that is needed (by a model, or by name) is not there.
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
    Index {
        /// The line.
        place: Place,
        /// The index found.
        index: u64,
        /// The index before it on the line, 0 if none.
        previous: u64,
        /// The fault.
        fault: IndexFault,
    },
    /// A feature number far beyond what the size of the file makes plausible.
    TooManyFeatures {
        /// The place.
        place: Place,
        /// The number found.
        index: u64,
        /// The largest allowed.
        allowed: u64,
    },
    /// Text that the format does not allow here.
    Malformed {
        /// The place.
        place: Place,
        /// The text that was found.
        found: String,
        /// The remedy.
        remedy: String,
    },
    /// Compressed or binary data that cannot be decoded.
    Damaged {
        /// The file.
        file: String,
        /// The decoder's message.
        what: String,
    },
    /// More memory than allowed.
    Memory {
        /// The file.
        file: String,
        /// The use of the memory.
        what: String,
        /// Bytes needed (at least).
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// The remedy.
        remedy: &'static str,
    },
    /// The output cannot be written.
    Output {
        /// The output file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The data do not fit the output format.
    Unsupported {
        /// The file.
        file: String,
        /// The thing that does not fit.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// A column whose values are too large or too close together to compute with.
    OutOfRange {
        /// The column.
        column: String,
        /// The value at fault.
        value: f64,
        /// The limit that is exceeded.
        limit: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A scaling under which the zeros of sparse data do not stay zeros.
    FillsIn {
        /// The column.
        column: String,
        /// The scaling.
        kind: ScaleKind,
        /// What its zeros would be.
        zero: f64,
    },
    /// A scaling made for another number of features.
    ScalingShape {
        /// Features of the scaling.
        expected: usize,
        /// Features of the data.
        found: usize,
    },
    /// An imputation made for another number of features.
    ImputationShape {
        /// Features of the imputation.
        expected: usize,
        /// Features of the data.
        found: usize,
    },
    /// The library refused the matrix.
    Design(#[from] fewest_svm::Error),
}

/// Cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user's input: a file, a name, a setting.
    Input,
    /// The machine: a full disk, a device that fails. The same call may do better another time.
    System,
}

impl DataError {
    /// The error of a file that is to be written in a format that is only read.
    pub fn not_written(path: &str, format: Format) -> Self {
        Self::Unsupported {
            file: path.into(),
            what: format!("files of the format {} are read, but not written", format.name()),
            remedy: "write .npz, .parquet or .csv".into(),
        }
    }

    /// Cause of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            DataError::Io { source, .. } | DataError::Output { source, .. } => kind_of(source),
            _ => ErrorKind::Input,
        }
    }
}

/// Paths and permissions are the user's; whatever else the operating system reports is the
/// machine's.
fn kind_of(error: &io::Error) -> ErrorKind {
    use io::ErrorKind as Io;
    match error.kind() {
        Io::NotFound
        | Io::PermissionDenied
        | Io::ReadOnlyFilesystem
        | Io::NotADirectory
        | Io::IsADirectory
        | Io::InvalidFilename
        | Io::InvalidInput
        | Io::InvalidData
        | Io::BrokenPipe => ErrorKind::Input,
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge | Io::WriteZero | Io::OutOfMemory => ErrorKind::System,
        _ if error.raw_os_error().is_some() => ErrorKind::System,
        _ => ErrorKind::Input,
    }
}

/// The malformed-text error.
pub(crate) fn malformed(place: Place, found: impl Into<String>, remedy: impl Into<String>) -> DataError {
    DataError::Malformed { place, found: found.into(), remedy: remedy.into() }
}
