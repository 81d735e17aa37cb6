//! The texts of errors. Each names the place, what was found, and the remedy.
//!
//! What they quote comes from files, so that all of it passes [`fewest_text::Display`].

use std::fmt;

use crate::Told;

use super::{DataError, ErrorKind, IndexFault, Place, Position};

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", fewest_text::Display(&self.file))?;
        match self.position {
            Position::Line(line) => write!(f, ", line {line}")?,
            Position::Row(row) => write!(f, ", row {row}")?,
            Position::File => {}
        }
        match &self.column {
            Some(column) => write!(f, ", column `{}`", fewest_text::Display(column)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|setting| setting.to_string()))
    }
}

impl Told for DataError {
    fn marked(&self) -> String {
        fewest_text::Display(Message(self)).to_string()
    }
}

/// The text of an error as it is put together.
struct Message<'a>(&'a DataError);

impl fmt::Display for Message<'_> {
    #[expect(clippy::too_many_lines, reason = "a list of texts, one for each error")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DataError::NotFound { file } => write!(f, "{file}: no such file; check the path"),
            DataError::Io { file, action, source } => write!(f, "{file}: cannot {action}: {source}"),
            DataError::UnknownFormat { file } => write!(
                f,
                "{file}: the ending tells no format; use {} (also with .gz, .zst, .bz2, but for .csc) or a folder of Cell Ranger, or name one with ⟦format⟧",
                crate::Format::endings()
            ),
            DataError::Empty { file } => write!(f, "{file}: the file is empty; it needs at least one row of data"),
            DataError::NoRows { file } => write!(f, "{file}: there is a header but no row of data below it; add rows"),
            DataError::NoFeatures { file, target } => write!(
                f,
                "{file}: there is no feature column besides `{target}`; add feature columns or name another ⟦target⟧"
            ),
            DataError::NoHeader { place, found, repeated: None } => write!(
                f,
                "{place}: the first line holds numbers ({found}); say ⟦no_header⟧ if it is data, or ⟦header⟧ if these are the names of the columns"
            ),
            DataError::NoHeader { place, found, repeated: Some(cell) } => write!(
                f,
                "{place}: the first line ({found}) looks like data, as `{cell}` is a value of its column, too; say ⟦no_header⟧ if it is, or ⟦header⟧ if these are the names of the columns"
            ),
            DataError::NamesAsData { place, found } => write!(
                f,
                "{place}: the first line holds names, as {found}; leave out ⟦no_header⟧ (or, if it is data, move that line down)"
            ),
            DataError::Delimiter { place, found, delimiter } => write!(
                f,
                "{place}: the header is one name, `{found}`; {}",
                match delimiter {
                    '\t' => "if tabs are between the columns, say ⟦delimiter=tab⟧".to_owned(),
                    sign => format!("if `{sign}` is between the columns, say ⟦delimiter={sign}⟧"),
                }
            ),
            DataError::Ragged { place, found, expected, comment: None } => write!(
                f,
                "{place}: {found} cells, but the header has {expected}; fix the row (a missing or extra delimiter, an unclosed quote)"
            ),
            DataError::Ragged { place, found, expected, comment: Some(sign) } => write!(
                f,
                "{place}: {found} cells, but the header has {expected}; say ⟦comment={sign}⟧ if lines that begin so are comments, else fix the row"
            ),
            DataError::NotANumber { place, cell, numbers, total } => write!(
                f,
                "{place}: `{cell}` is not a number, but {numbers} of the {total} cells of this column are; fix the cell, say ⟦missing_codes={}⟧ if it stands for a missing value, or ⟦text={}⟧ to read the column as categories",
                cell,
                place.column.as_deref().unwrap_or_default()
            ),
            DataError::NumberStyle { place, cell, other } => write!(
                f,
                "{place}: `{cell}` is a number written in another way; {} (or ⟦text={}⟧, to read the column as categories)",
                other.remedy,
                place.column.as_deref().unwrap_or_default()
            ),
            DataError::NotFinite { place, cell, count, columns } => {
                write!(f, "{place}: `{cell}` is missing; the file has {count} such value(s), this is the first")?;
                let (columns, n) = columns.as_deref().map_or((&[][..], 0), |(columns, n)| (&columns[..], *n));
                if columns.len() > 1 {
                    let each: Vec<String> = columns.iter().map(|(name, count)| format!("{name} ({count})")).collect();
                    write!(f, ", in {}", crate::names::some_of(&each))?;
                }
                if let Some((blank, _)) = columns.iter().find(|(_, count)| *count == n) {
                    write!(f, "; `{blank}` is blank throughout: say ⟦drop={blank}⟧")?;
                }
                f.write_str("; say ⟦missing⟧ mean, median, most-frequent or indicator to fill in missing values, or correct those cells, or drop their rows or columns")
            }
            DataError::Infinite { place, cell, count } => write!(
                f,
                "{place}: `{cell}` is not finite; the file has {count} such value(s), this is the first; correct those cells, or say ⟦missing_codes={cell}⟧ if it stands for a missing value, which is filled in as others are"
            ),
            DataError::BlankTarget { place } => {
                let column = place.column.as_deref().unwrap_or_default();
                write!(
                    f,
                    "{place}: the column was taken as that of the class, but is blank throughout; name the class with ⟦target⟧, or leave the column out with ⟦drop={column}⟧"
                )
            }
            DataError::NoClass { place, cell, count } => write!(
                f,
                "{place}: `{cell}` is no class; {count} row(s) have none, this is the first; give every row a class, or say ⟦drop_unlabelled⟧ to leave those rows out"
            ),
            DataError::OneClass { file, column, class } => write!(
                f,
                "{file}: every row has `{column}` = {class}; an SVM needs at least two classes; add rows of another class or name another ⟦target⟧"
            ),
            DataError::OneSide { part, samples, class } => write!(
                f,
                "all {samples} samples of the {part} set are of class {class}, but a data set needs both classes; ask for more samples or another ⟦seed⟧"
            ),
            DataError::TooManyClasses { file, column, classes, rows } => write!(
                f,
                "{file}: the target column `{column}` has {classes} different values in {rows} rows, which are not classes; name another ⟦target⟧"
            ),
            DataError::Continuous { file, column, classes, rows, example } => write!(
                f,
                "{file}: the target `{column}` is continuous: {classes} different numbers in {rows} rows, some with fractions (such as {example}); name another ⟦target⟧, or make classes of it (such as low and high)"
            ),
            DataError::DuplicateName { file, name, first, second } => write!(
                f,
                "{file}: the name `{name}` is used by columns {first} and {second}; rename one of them, or say ⟦unique_names⟧ to tell them apart by .1, .2 and so on"
            ),
            DataError::Identifier { file, column, distinct, present, example, unit: None, first: true } => write!(
                f,
                "{file}: text column `{column}` has {distinct} different values in {present} rows, such as `{example}`, and looks like an identifier; say ⟦id={column}⟧ if it names the samples, ⟦transpose⟧ if it names features and the other columns are samples, else ⟦drop={column}⟧, or ⟦text={column}⟧ to make a feature of each value"
            ),
            DataError::FeaturesInRows { file, rows, columns } => write!(
                f,
                "{file}: {rows} rows with names, {columns} columns of numbers, and no column with classes: say ⟦transpose⟧ if features are in the rows (and give the classes with ⟦labels⟧ FILE), else name the ⟦target⟧"
            ),
            DataError::Identifier { file, column, distinct, present, example, unit: None, first: false } => write!(
                f,
                "{file}: text column `{column}` has {distinct} different values in {present} rows, such as `{example}`, and looks like an identifier or free text; say ⟦drop={column}⟧, or ⟦text={column}⟧ to make a feature of each value"
            ),
            DataError::Identifier { file, column, distinct, example, unit: Some(unit), .. } => write!(
                f,
                "{file}: text column `{column}` has {distinct} numbers with `{unit}` behind them, such as `{example}`; write the numbers alone, or say ⟦text={column}⟧ to make a feature of each value"
            ),
            DataError::UnknownColumn { file, name, role, available } => {
                let same = |other: &&str| *other != name && other.to_lowercase() == name.to_lowercase();
                let near = available.split(", ").find(same).map(|other| format!(" (did you mean `{other}`?)"));
                let near = near.unwrap_or_default();
                write!(f, "{file}: there is no column `{name}` to be the {role}{near}; the columns are {available}")
            }
            DataError::UnknownClass { file, name, available } => {
                write!(f, "{file}: there is no class {name}; the classes are {available}")
            }
            DataError::MissingFeature { file, name, missing, needed } => write!(
                f,
                "{file}: feature `{name}` is needed but missing ({missing} of {needed} are); add the column, or check its spelling"
            ),
            DataError::Index { place, index, previous, fault } => {
                write!(f, "{place}: feature index {index} {}", index_text(*fault, *previous))
            }
            DataError::TooManyFeatures { place, index, allowed } if *allowed == u64::from(u32::MAX) => write!(
                f,
                "{place}: feature number {index} is beyond {allowed}, the largest that can be read; number the features from 1 without gaps"
            ),
            DataError::TooManyFeatures { place, index, allowed } => write!(
                f,
                "{place}: feature number {index} is beyond {allowed}, the most that a file of this size is trusted with; if it is right, raise the limit with ⟦index_limit⟧"
            ),
            DataError::Malformed { place, found, remedy } => write!(f, "{place}: {found}; {remedy}"),
            DataError::Damaged { file, what } => {
                write!(f, "{file}: the file is damaged or cut short ({what}); copy or download it again")
            }
            DataError::Memory { file, what, needed, allowed, remedy } => write!(
                f,
                "{file}: {what} needs {}, but only {} are allowed; {remedy}",
                bytes_text(*needed),
                bytes_text(*allowed)
            ),
            DataError::Output { file, source } => {
                write!(f, "{file}: cannot write: {source}; {}; nothing was left behind", output_remedy(self.0))
            }
            DataError::Unsupported { file, what, remedy } => write!(f, "{file}: {what}; {remedy}"),
            DataError::OutOfRange { column, value, limit, remedy } => {
                write!(f, "{column}: {value:e} is {limit}; {remedy}")
            }
            DataError::FillsIn { column, kind, zero } => write!(
                f,
                "{column}: ⟦scale={kind}⟧ makes {zero} of 0, which would fill in the zeros of sparse data; say \
                 ⟦scale=maxabs⟧, which keeps them"
            ),
            DataError::ScalingShape { expected, found } => write!(
                f,
                "the scaling is for {expected} features, but the data have {found}; fit it on the same columns"
            ),
            DataError::ImputationShape { expected, found } => write!(
                f,
                "the imputation is for {expected} features, but the data have {found}; fit it on the same columns"
            ),
            DataError::Design(error) => write!(f, "{error}"),
        }
    }
}

/// What to do where a file cannot be written.
fn output_remedy(error: &DataError) -> &'static str {
    match error.kind() {
        ErrorKind::Input => "check that the folder exists and that you may write there",
        ErrorKind::System => "free some space there, or write to another disk",
    }
}

/// The rest of the sentence "feature index 7 ...".
fn index_text(fault: IndexFault, previous: u64) -> String {
    match fault {
        IndexFault::Zero => {
            "is not allowed, svmlight counts features from 1; say ⟦zero_based⟧ if the file counts from 0".into()
        }
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
