//! Notes on a file, which are no errors but should reach the user.

use std::fmt;

use fewest_svm::FeatureSet;

use crate::{Names, Normalized, Place, Summed, Told};

/// How the target column was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetRule {
    /// The caller named it.
    Asked,
    /// It has one of the usual names: y, label, class, target.
    UsualName,
    /// It is the last column.
    Last,
    /// The format has one place for it.
    Format,
}

/// Something to tell the user. `Display` gives one sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The column that is the target.
    TargetColumn {
        /// The column's name.
        name: String,
        /// Why it.
        rule: TargetRule,
    },
    /// A text column was replaced by 0/1 columns.
    Dummies {
        /// The text column.
        column: String,
        /// The columns made of it.
        made: Vec<String>,
        /// All values of the text column, sorted.
        values: Vec<String>,
    },
    /// A text column of dates or times was left out.
    Dates {
        /// The column.
        column: String,
        /// One of them.
        example: String,
    },
    /// A text column may be an identifier: half of its cells or more differ.
    ManyValues {
        /// The column.
        column: String,
        /// Distinct values.
        distinct: usize,
        /// Cells that are there.
        present: usize,
    },
    /// A column that may say which rows belong together, whose values repeat.
    Repeats {
        /// The column; empty for names of the samples in a column without a name.
        column: String,
        /// The number of different values.
        values: usize,
        /// The rows.
        rows: usize,
        /// These are what its values, each of which is there once, have before a last number.
        stems: bool,
    },
    /// A column of digits was read as text, as some of its numbers begin with a zero.
    LeadingZeros {
        /// The column.
        column: String,
    },
    /// The names of columns in the first line are numbers, some of them at least.
    NumberNames {
        /// The first of these.
        names: Vec<String>,
    },
    /// The classes are numbers that may be a quantity.
    NumberClasses {
        /// The target column.
        column: String,
        /// How many.
        classes: usize,
        /// Some have a fraction.
        fraction: bool,
    },
    /// The class that is +1 by default has a name that other classes mostly have.
    PositiveClass {
        /// The class that is +1.
        positive: String,
        /// The other one.
        other: String,
    },
    /// Rows of weight 0 were left out.
    Weightless {
        /// How many.
        rows: usize,
    },
    /// Two classes differ in the case of letters or in blanks alone.
    AlikeClasses {
        /// The target column.
        column: String,
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// Rows without a class were left out.
    Unlabelled {
        /// How many.
        rows: usize,
    },
    /// Rows of other classes than those asked for were left out.
    OtherClasses {
        /// How many.
        rows: usize,
    },
    /// A column that counts the rows, or numbers them in another way.
    Counter {
        /// The column.
        column: String,
        /// It counts them in the order of the file.
        ordered: bool,
    },
    /// Features that tell the classes apart, each of them alone.
    Perfect {
        /// How many.
        count: usize,
        /// The first ten.
        names: Vec<String>,
    },
    /// A value far from all others of its column, such as a code for missing values.
    LoneValue {
        /// The column.
        column: String,
        /// The value.
        value: f64,
        /// In how many rows.
        rows: usize,
        /// The range of the other values.
        others: (f64, f64),
    },
    /// Features that the rules keep from being chosen, against what they seem to say.
    NeverChosen {
        /// Which, and why.
        text: String,
    },
    /// Features with one value only; they can never be selected.
    Constant {
        /// How many.
        count: usize,
        /// Positions of all of them, ascending.
        features: FeatureSet,
        /// Names of the first ten.
        names: Vec<String>,
    },
    /// Values are missing.
    Missing {
        /// How many.
        values: usize,
        /// Columns that lack any.
        columns: usize,
        /// The first ten of those, and how many values each of them lacks.
        names: Vec<(String, usize)>,
    },
    /// `qid:` entries of svmlight were passed over.
    QueryIds {
        /// On how many lines.
        lines: u64,
    },
    /// Text values that the model has not seen; their dummy columns are all 0.
    Unseen {
        /// The text column.
        column: String,
        /// The first such value.
        value: String,
        /// How many rows.
        rows: u64,
        /// The values that were seen are known; else those only that features stand for.
        known: bool,
    },
    /// Features the model knows and a sparse file does not mention: zero.
    Padded {
        /// How many.
        count: usize,
    },
    /// Features of the file that were not asked for.
    Ignored {
        /// How many.
        count: usize,
    },
    /// A text is written in another way than its format has it.
    TextForm {
        /// The form in which it was read: `with semicolons between the cells`, ...
        told: Vec<String>,
    },
    /// Text that is no UTF-8 was read as Windows-1252.
    Windows {
        /// The first such place.
        place: Place,
    },
    /// Columns of a second file were joined.
    Joined {
        /// That file.
        file: String,
        /// The column with the names of the samples.
        by: String,
        /// The number of rows that belong to no sample.
        unused: usize,
    },
    /// Columns that describe the features of a transposed table were left out.
    FeatureColumns {
        /// Their names.
        columns: Vec<String>,
    },
    /// Features of other types than those that are taken, such as antibodies beside genes.
    OtherTypes {
        /// The type that is taken.
        kept: String,
        /// The others, and how many features each has.
        left: Vec<(String, usize)>,
    },
    /// Values look like counts that were not normalised.
    Counts,
    /// Values to be normalised are logarithms already, as the file says.
    Logged,
    /// Values were brought to a total, or their logarithms taken.
    Normalized(Box<Normalized>),
    /// Samples were summed up.
    Summed(Summed),
    /// The format of standard input was guessed.
    Guessed {
        /// The name of the format.
        format: &'static str,
    },
    /// Class names that the output format cannot hold.
    ClassesRenamed {
        /// Pairs of old and new name.
        renamed: Vec<(String, String)>,
    },
    /// Feature names that the output format cannot hold.
    NamesDropped,
}

impl Note {
    /// The note on constant features, if there are any.
    pub(crate) fn constant(features: &FeatureSet, names: &Names) -> Option<Note> {
        if features.is_empty() {
            return None;
        }
        let first = features.iter().take(10).map(|j| names.get(j).into_owned()).collect();
        Some(Note::Constant { count: features.len(), features: features.clone(), names: first })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|setting| setting.to_string()))
    }
}

impl Told for Note {
    fn marked(&self) -> String {
        fewest_text::Display(Sentence(self)).to_string()
    }
}

/// The sentence of a note, before characters that act are made visible.
struct Sentence<'a>(&'a Note);

impl fmt::Display for Sentence<'_> {
    #[expect(clippy::too_many_lines, reason = "a list of texts, one for each note")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Note::TargetColumn { name, rule } => {
                let why = match rule {
                    TargetRule::Asked => "as asked",
                    TargetRule::UsualName => "by its name",
                    TargetRule::Last => "the last column, as none is named y, label, class or target",
                    TargetRule::Format => "as the format has it",
                };
                write!(f, "the target is `{name}` ({why})")
            }
            Note::Dummies { column, made, .. } => {
                write!(f, "text column `{column}` became {} column(s) of 0 and 1: ", made.len())?;
                list(f, made, made.len())
            }
            Note::Constant { count, names, .. } => {
                write!(f, "{count} feature(s) have one value only and are never selected: ")?;
                list(f, names, *count)
            }
            Note::Missing { values, columns, names } => {
                write!(f, "{values} value(s) are missing in {columns} column(s): ")?;
                let texts: Vec<String> = names.iter().map(|(name, count)| format!("{name} ({count})")).collect();
                list(f, &texts, *columns)
            }
            Note::QueryIds { lines } => write!(f, "`qid` entries on {lines} line(s) were passed over"),
            Note::Unseen { column, value, rows, known: true } => write!(
                f,
                "column `{column}` has values the model has not seen on {rows} row(s), the first is `{value}`; they count as none of the known values"
            ),
            Note::Unseen { column, value, rows, known: false } => write!(
                f,
                "column `{column}` has values that no feature of the model stands for on {rows} row(s), the first is `{value}`; whether it was in training the model does not say"
            ),
            Note::Dates { column, example } => write!(
                f,
                "column `{column}` holds dates or times (such as `{example}`) and is left out; write them as numbers, such as days since a day, to use them, or say ⟦text={column}⟧"
            ),
            Note::ManyValues { column, distinct, present } => write!(
                f,
                "text column `{column}` has {distinct} different values in {present} rows; if it is an identifier, say ⟦drop={column}⟧"
            ),
            Note::Repeats { column, values, rows, stems } => {
                let named = match column.as_str() {
                    "" => "the first column".to_owned(),
                    name => format!("column `{name}`"),
                };
                if *stems {
                    return write!(
                        f,
                        "{named} has another name in each of the {rows} rows, but with only {values} beginnings before a last number, so that rows of one may be on both sides of a fold; a column of these beginnings, as ⟦groups⟧, keeps them together"
                    );
                }
                let (one, keeps) = match column.as_str() {
                    "" => ("of them", "a name for it, as ⟦groups⟧,".to_owned()),
                    name => (name, format!("⟦groups={name}⟧")),
                };
                write!(
                    f,
                    "{named} has {values} values on {rows} rows, so that rows of one {one} may be on both sides of a fold; {keeps} keeps them together"
                )
            }
            Note::LeadingZeros { column } => write!(
                f,
                "column `{column}` is read as text, as some of its numbers begin with a zero; write them without it if they are quantities"
            ),
            Note::NumberNames { names } => {
                f.write_str("the first line was taken as column names, though some are numbers (")?;
                list(f, names, names.len())?;
                f.write_str("); say ⟦no_header⟧ if it is data, or ⟦header⟧ if it is not")
            }
            Note::NumberClasses { column, classes, fraction } => write!(
                f,
                "the target `{column}` has {classes} different numbers{}, and each is a class; name another ⟦target⟧ if it is a quantity",
                if *fraction { ", some with fractions" } else { "" }
            ),
            Note::PositiveClass { positive, other } => write!(
                f,
                "the class {positive} is the positive one (+1), as it is the later of the two; if {other} is the class you want to find, say ⟦positive={other}⟧"
            ),
            Note::Weightless { rows } => write!(f, "{rows} row(s) of weight 0 are left out"),
            Note::AlikeClasses { column, first, second } => write!(
                f,
                "the classes `{first}` and `{second}` of `{column}` differ in letters of another case or in blanks alone; write them alike in the file if they are one class"
            ),
            Note::Unlabelled { rows } => write!(f, "{rows} row(s) without a class are left out"),
            Note::OtherClasses { rows } => write!(f, "{rows} row(s) of other classes are left out"),
            Note::Counter { column, ordered } => write!(
                f,
                "`{column}` {}; if it is an identifier, say ⟦drop={}⟧",
                if *ordered { "counts the rows" } else { "has another whole number in nearly every row" },
                column
            ),
            Note::Perfect { count, names } => {
                let [word, is] = if *count == 1 { ["tells", "is it"] } else { ["each tell", "are they"] };
                list(f, names, *count)?;
                write!(
                    f,
                    " alone {word} the classes apart (AUC 1.000): {is} known before the class is? If not, use ⟦drop⟧"
                )
            }
            Note::NeverChosen { text } => f.write_str(text),
            Note::LoneValue { column, value, rows, others } => write!(
                f,
                "`{column}` is {value} on {rows} row(s) and from {} to {} on all others; if {value} stands for a missing value, say ⟦missing_codes={value}⟧",
                others.0, others.1
            ),
            Note::Padded { count } => write!(f, "{count} feature(s) are not in the file and count as zero"),
            Note::Ignored { count } => write!(f, "{count} column(s) of the file were not asked for and are ignored"),
            Note::TextForm { told } => {
                f.write_str("the text is read ")?;
                told.iter().enumerate().try_for_each(|(at, how)| write!(f, "{}{how}", if at == 0 { "" } else { ", " }))
            }
            Note::Windows { place } => write!(
                f,
                "{place}: the text is no UTF-8 and was read as Windows-1252; if its letters are wrong, save it as UTF-8"
            ),
            Note::Joined { file, by, unused } => {
                let by = if by.is_empty() { "first column".to_owned() } else { format!("column `{by}`") };
                write!(f, "the samples were found in {file} by its {by}")?;
                if *unused > 0 { write!(f, "; {unused} row(s) of it are of no sample") } else { Ok(()) }
            }
            Note::FeatureColumns { columns } => {
                f.write_str("columns that describe the features are left out: ")?;
                list(f, columns, columns.len())
            }
            Note::OtherTypes { kept, left } => {
                write!(f, "only features of the type {kept} are taken; left out: ")?;
                let texts: Vec<String> = left.iter().map(|(name, count)| format!("{name} ({count})")).collect();
                list(f, &texts, texts.len())?;
                let other = left.first().map_or("", |(name, _)| name);
                write!(f, "; for those say ⟦layer={other}⟧")
            }
            Note::Counts => f.write_str(
                "the values are whole numbers, as counts are, which are larger where a sample has more of all; ⟦normalize_total=10000⟧ and ⟦log1p⟧ make samples comparable",
            ),
            Note::Logged => f.write_str(
                "the values are logarithms already, as uns/log1p of the file says; leave out ⟦normalize_total⟧ and ⟦log1p⟧, or name the counts with ⟦layer⟧",
            ),
            Note::Summed(Summed { by, samples, smallest }) => write!(
                f,
                "{samples} samples are summed up, those of one {} to one; the smallest sum is of {smallest}",
                by.iter().map(String::as_str).chain(["class"]).collect::<Vec<&str>>().join(" and ")
            ),
            Note::Normalized(done) => normalized(f, done),
            Note::Guessed { format } => write!(f, "the input looks like {format} and was read so"),
            Note::ClassesRenamed { renamed } => {
                f.write_str("class names became numbers, which is all the format holds:")?;
                renamed.iter().try_for_each(|(from, to)| write!(f, " {from} is {to}"))
            }
            Note::NamesDropped => f.write_str("feature names were dropped, which the format cannot hold"),
        }
    }
}

/// What was done to the values of each sample.
fn normalized(f: &mut fmt::Formatter<'_>, done: &Normalized) -> fmt::Result {
    if let Some(total) = done.how.total {
        write!(
            f,
            "the values of each sample were multiplied so that their total over {} features is {total}",
            done.features
        )?;
        if done.empty > 0 {
            write!(f, " ({} sample(s) have none and stay 0)", done.empty)?;
        }
    }
    match (done.how.total.is_some(), done.how.log1p) {
        (true, true) => f.write_str("; then each value x became ln(1 + x)"),
        (false, true) => f.write_str("each value x became ln(1 + x)"),
        _ => Ok(()),
    }?;
    match done.how.total {
        Some(_) if done.fractions => f.write_str(
            "; but some values were no whole numbers: leave out ⟦normalize_total⟧ if they were normalised already",
        ),
        _ => Ok(()),
    }
}

/// At most ten names, then dots.
fn list(f: &mut fmt::Formatter<'_>, names: &[String], count: usize) -> fmt::Result {
    for (at, name) in names.iter().take(10).enumerate() {
        write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
    }
    if count > 10 { f.write_str(", ...") } else { Ok(()) }
}
