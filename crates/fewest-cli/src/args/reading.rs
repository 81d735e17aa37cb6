//! How text is read: header, numbers, missing values, rows to leave out.

use fewest_data::{Delimiter, comment_of, decimal_of, delimiter_of, thousands_of};

use super::values;

/// How text is read.
#[derive(Debug, Clone, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct ReadingArgs {
    /// The csv file has no header line: features are x1, x2, ... and the last column is the class
    #[arg(long, help_heading = "Data", conflicts_with = "header")]
    pub(crate) no_header: bool,
    /// The first line of the csv file is its header, although it looks like data
    #[arg(long, help_heading = "Data")]
    pub(crate) header: bool,
    /// What stands between the cells of a text: a sign such as ; or |, or tab or blanks [default: what
    /// the first rows show]
    #[arg(long, value_name = "SIGN", value_parser = delimiter_of, allow_hyphen_values = true, help_heading = "Data")]
    pub(crate) delimiter: Option<Delimiter>,
    /// Pass over lines that begin with this sign, such as #
    #[arg(long, value_name = "SIGN", value_parser = comment_of, help_heading = "Data")]
    pub(crate) comment: Option<char>,
    /// Features are in the rows of the text, samples in its columns
    #[arg(long, help_heading = "Data")]
    pub(crate) transpose: bool,
    /// A second file with the class of each sample, and the column that holds it where there are
    /// several; rows are found by the names of the samples. Other columns of it can be named, too
    #[arg(long, value_name = "FILE[:COLUMN]", help_heading = "Data")]
    pub(crate) labels: Option<String>,
    /// Column of --labels with the names of the samples [default: a first column without a name, else
    /// the one that holds most of them]
    #[arg(long, value_name = "COLUMN", help_heading = "Data", requires = "labels")]
    pub(crate) by: Option<String>,
    /// Feature numbers of svmlight begin at 0 [default: as a comment at its start says, else 1]
    #[arg(long, help_heading = "Data")]
    pub(crate) zero_based: bool,
    /// Make equal names of columns different: TP53, TP53.1 [default: they are an error]
    #[arg(long, help_heading = "Data")]
    pub(crate) unique_names: bool,
    /// Column with the names of the samples; it is kept beside them and never selected [default: a
    /// first column without a name]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) id: Option<String>,
    /// Decimal sign of the numbers, . or , [default: .]
    #[arg(long, value_name = "SIGN", value_parser = decimal_of, help_heading = "Data")]
    pub(crate) decimal: Option<char>,
    /// Sign between the thousands of numbers, such as , or . or a blank [default: none]
    #[arg(long, value_name = "SIGN", value_parser = thousands_of, help_heading = "Data")]
    pub(crate) thousands: Option<char>,
    /// What stands for a missing value, in any column: -999,unknown (besides blank cells, ?, NA,
    /// NaN, null, <NA>, #N/A, \N; among numbers also None, ., - and --)
    #[arg(long, value_name = "CODES", allow_hyphen_values = true, help_heading = "Data")]
    pub(crate) missing_codes: Vec<String>,
    /// Counts: sum up the samples of one class that agree in these columns, such as the cells of a donor, to
    /// one sample; before --normalize-total. The columns are set apart and never selected
    #[arg(long, value_name = "COLUMNS", help_heading = "Data")]
    pub(crate) sum_by: Vec<String>,
    /// Counts: multiply the values of each sample so that their sum over all features is N, such as
    /// 10000; before features are left out, missing values filled in and features scaled
    #[arg(long, value_name = "N", value_parser = values::positive, help_heading = "Data")]
    pub(crate) normalize_total: Option<f64>,
    /// Counts: take ln(1 + x) of every value, after --normalize-total
    #[arg(long, help_heading = "Data")]
    pub(crate) log1p: bool,
    /// Leave out rows without a class
    #[arg(long, help_heading = "Data")]
    pub(crate) drop_unlabelled: bool,
    /// Keep the rows of these classes only: a,b
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, help_heading = "Data")]
    pub(crate) classes: Vec<String>,
    /// The class of two that is +1: weights, decision values and probabilities speak for it, F1,
    /// sensitivity and specificity are of it [default: the later one, by value or alphabet]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = "Data")]
    pub(crate) positive: Option<String>,
}
