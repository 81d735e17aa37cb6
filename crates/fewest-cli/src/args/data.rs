//! The data file, how it is read and prepared, and data files that are written.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use fewest_data::{
    DataError, Features, Format, Labels, MissingRule, Normalization, ReadOptions, ScaleKind, ScaleReason, format_of,
};
use serde_json::{Map, Value, json};

use super::reading::ReadingArgs;
use super::{notation, values};
use crate::failure::Failure;

/// The data file and how to read it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DataArgs {
    /// Data file (.csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz, .h5ad, .h5 of 10x, .loom, .gctx,
    /// .mtx, each also .gz; .csc), a folder of Cell Ranger (10x), or - for standard input
    pub(crate) data: PathBuf,
    /// Format of the data [default: by the file's ending]
    #[arg(long, value_name = "FORMAT", value_parser = format_of, help_heading = "Data")]
    pub(crate) format: Option<Format>,
    /// Column that holds the class (of h5ad: of obs, as cell_type or obs/cell_type) [default: y,
    /// label, class or target, else the last column]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub(crate) target: Option<String>,
    /// Matrix to read where a file holds several: raw or the name of a layer (h5ad, loom), a genome
    /// or a type of features (10x), a sheet (xlsx, ods) [default: X, the first sheet]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub(crate) layer: Option<String>,
    /// Columns to leave out: a,b; also patterns: 'MT-*', '/^RP[SL]/'
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) drop: Vec<String>,
    /// The only columns to make features of: a,b, patterns as for --drop, or a file with one name per
    /// line
    #[arg(long, value_name = "NAMES|FILE", help_heading = "Data")]
    pub(crate) only: Vec<String>,
    /// Columns to read as categories even where they hold numbers: a,b
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) text: Vec<String>,
    /// How text is read.
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Largest svmlight feature number to accept [default: about the bytes of the file]
    #[arg(long, value_name = "N", value_parser = values::feature_number, help_heading = "Data")]
    pub(crate) index_limit: Option<u64>,
    /// Memory to keep within, e.g. 500M or 2G
    /// [default: three quarters of the machine's; 1G for kernel values]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) memory: Option<u64>,
}

impl DataArgs {
    /// How to read the data.
    ///
    /// # Errors
    /// A list of names that cannot be understood.
    pub(crate) fn read_options(&self) -> Result<ReadOptions, Failure> {
        let reading = &self.reading;
        Ok(ReadOptions {
            format: self.format,
            target: self.target.clone(),
            drop: names("--drop", &self.drop)?,
            only: names_or_file("--only", &self.only)?,
            text: names("--text", &self.text)?,
            missing_codes: names("--missing-codes", &reading.missing_codes)?,
            classes: names("--classes", &reading.classes)?,
            positive: reading.positive.clone(),
            no_header: reading.no_header,
            header: reading.header,
            drop_unlabelled: reading.drop_unlabelled,
            decimal: reading.decimal,
            thousands: reading.thousands,
            delimiter: reading.delimiter,
            comment: reading.comment,
            transpose: reading.transpose,
            labels: reading.labels.as_deref().map(Labels::from),
            by: reading.by.clone(),
            samples: reading.id.clone(),
            unique_names: reading.unique_names,
            zero_based: reading.zero_based,
            layer: self.layer.clone(),
            index_limit: self.index_limit,
            sum_by: names("--sum-by", &reading.sum_by)?,
            normalize: Normalization {
                total: reading.normalize_total,
                log1p: reading.log1p,
                ..Normalization::default()
            },
            memory_limit: self.memory,
            ..ReadOptions::default()
        })
    }

    /// What was typed of it, for [`ReadOptions`] of another file: `none` stands for no names and no
    /// positive class, and `"none"` for a class of this name.
    ///
    /// # Errors
    /// A list of names that cannot be understood.
    pub(crate) fn typed(&self) -> Result<Map<String, Value>, Failure> {
        let mut typed = self.read_options()?.said();
        let reading = &self.reading;
        let lists = [
            ("drop", &self.drop),
            ("only", &self.only),
            ("text", &self.text),
            ("missing_codes", &reading.missing_codes),
            ("classes", &reading.classes),
            ("sum_by", &reading.sum_by),
        ];
        for (key, _) in lists.iter().filter(|(_, typed)| *typed.as_slice() == ["none"]) {
            typed.insert((*key).to_owned(), json!([]));
        }
        match reading.positive.as_deref() {
            Some("none") => _ = typed.insert("positive".to_owned(), Value::Null),
            Some("\"none\"") => _ = typed.insert("positive".to_owned(), json!("none")),
            _ => {}
        }
        Ok(typed)
    }
}

/// How features are prepared.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PrepareArgs {
    /// Column with a weight for each sample; it is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) sample_weights: Option<String>,
    /// Feature scaling [default: standard for dense data; for sparse data none where rows have
    /// length 1 (text), else maxabs]
    #[arg(long, value_name = "KIND", value_parser = ScaleParser, help_heading = "Data")]
    pub(crate) scale: Option<ScaleKind>,
    /// Missing values.
    #[command(flatten)]
    pub(crate) missing: MissingArg,
}

impl PrepareArgs {
    /// The scaling asked for, or the default for the data, and why; `centred` as in
    /// [`fewest_eval::Preparation`].
    pub(crate) fn scaling(&self, features: &Features, centred: bool) -> (ScaleKind, ScaleReason) {
        fewest_eval::scale_kind(self.scale, features, centred)
    }
}

/// `--missing`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct MissingArg {
    /// What to do about missing values (blank cells, ?, NA, ..., see --missing-codes): refuse
    /// them, or fill them in by what the training samples have [default: error]
    #[arg(long, value_name = "RULE", help_heading = "Data")]
    missing: Option<MissingChoice>,
}

/// What to do about missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MissingChoice {
    /// Refuse the file
    Error,
    /// The mean of the feature
    Mean,
    /// The feature's median
    Median,
    /// The feature's most frequent value
    MostFrequent,
    /// The feature's mean, and a feature `NAME (missing)` of 0 and 1 that says where
    Indicator,
}

impl MissingArg {
    /// How missing values are filled in; none: they are refused.
    pub(crate) fn rule(self) -> Option<MissingRule> {
        match self.missing.unwrap_or(MissingChoice::Error) {
            MissingChoice::Error => None,
            MissingChoice::Mean => Some(MissingRule::Mean),
            MissingChoice::Median => Some(MissingRule::Median),
            MissingChoice::MostFrequent => Some(MissingRule::MostFrequent),
            MissingChoice::Indicator => Some(MissingRule::Indicator),
        }
    }

    /// The rule of this name in results.
    pub(crate) fn named(name: &str) -> Option<Self> {
        MissingChoice::from_str(name, false).ok().map(|missing| Self { missing: Some(missing) })
    }

    /// Whether it was typed.
    pub(crate) fn is_typed(self) -> bool {
        self.missing.is_some()
    }

    /// The name in results.
    pub(crate) fn name(self) -> &'static str {
        self.rule().map_or("error", MissingRule::name)
    }
}

/// `--scale` as text: what the library reads, with the kinds for help and completions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaleParser;

/// The kinds of scaling, and what each does.
const SCALES: [(&str, &str); 4] = [
    ("standard", "Centre at the mean, divide by the standard deviation (population variance)"),
    ("maxabs", "Divide by the largest absolute value"),
    ("range", "Bring the least value to -1 and the largest to 1; range:A..B, such as range:0..1: to A and B"),
    ("none", "As in the file"),
];

impl TypedValueParser for ScaleParser {
    type Value = ScaleKind;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<ScaleKind, clap::Error> {
        StringValueParser::new().try_map(|text| text.parse::<ScaleKind>()).parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(SCALES.iter().map(|(name, help)| PossibleValue::new(*name).help(*help))))
    }
}

/// The data path as the readers take it.
///
/// # Errors
/// A path that is no UTF-8.
pub(crate) fn path_text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::Input(format!("{}: the path is not valid UTF-8; rename it", path.display())))
}

/// The format to write a data file in: as named by `--out-format`, else by the ending of the path.
///
/// # Errors
/// An ending that tells nothing.
pub(crate) fn out_format(path: &str, named: Option<Format>) -> Result<Format, Failure> {
    let format = named.or_else(|| Format::of_path(path)).ok_or_else(|| {
        Failure::Input(format!(
            "{path}: the ending tells no format; use {} (also with .gz, .zst, .bz2, but for .csc), or name one with --out-format",
            Format::written_endings()
        ))
    })?;
    if format.is_written() { Ok(format) } else { Err(DataError::not_written(path, format).into()) }
}

/// The names in all values of a repeatable option.
///
/// # Errors
/// A list that cannot be understood.
pub(crate) fn names(option: &str, lists: &[String]) -> Result<Vec<String>, Failure> {
    let lists: Result<Vec<_>, _> = lists.iter().map(|l| notation::names(l)).collect();
    Ok(lists.map_err(|why| Failure::Input(format!("{option}: {why}")))?.concat())
}

/// Heads of the first column of a table of names.
const NAME_COLUMNS: [&str; 3] = ["gene", "feature", "name"];

/// The names in all values of an option of which each may be a file: with one name per line, a table
/// whose first column is `gene`, `feature` or `name`, or JSON with `selected` or `relevant`, or markers.
///
/// # Errors
/// A list that cannot be understood, a file that cannot be read or holds no name.
pub(crate) fn names_or_file(option: &str, values: &[String]) -> Result<Vec<String>, Failure> {
    let of = |text: &String| {
        let path = Path::new(text);
        let listed = if path.is_file() {
            names_of(&read_text(path)?)
        } else {
            notation::names(text).map_err(|why| Failure::Input(format!("{option}: {why}")))?
        };
        if listed.is_empty() {
            return Err(Failure::Input(format!(
                "{option} {text}: holds no feature names; give one per line, or JSON with \"selected\""
            )));
        }
        Ok(listed)
    };
    let all: Result<Vec<Vec<String>>, Failure> = values.iter().map(of).collect();
    Ok(all?.concat())
}

/// The names in a file: those of JSON, else one per line, or the first column of a table.
fn names_of(content: &str) -> Vec<String> {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(content) {
        let panel = &value["panel"];
        let list = [&value["selected"], &value["relevant"], &panel["features"], &panel["selected"], &value];
        let list = list.iter().find_map(|v| v.as_array()).cloned().unwrap_or_default();
        return list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    }
    let is_table = |table: &SmallTable| {
        table.lines.first().is_some_and(|(_, head)| head.len() > 1 && NAME_COLUMNS.contains(&head[0].as_str()))
    };
    match SmallTable::of(content).ok().filter(is_table) {
        Some(table) => table.lines.into_iter().skip(1).map(|(_, mut fields)| fields.swap_remove(0)).collect(),
        None => content.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect(),
    }
}

/// A small text file that the user named, read as data files are.
///
/// # Errors
/// A file that cannot be read or is no text.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    Ok(fewest_data::read_text(path_text(path)?)?)
}

/// A small table of names and numbers: as csv, or as spreadsheets write it where the decimal sign is a
/// comma, with semicolons.
pub(crate) struct SmallTable {
    /// The number of each line, from 1, and its fields.
    pub(crate) lines: Vec<(usize, Vec<String>)>,
    separator: char,
}

impl SmallTable {
    /// The lines of a text that are not blank.
    ///
    /// # Errors
    /// The line with a quote that is not closed.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let first = lines().next().map_or("", |(_, line)| line);
        // A name may hold other signs, in quotes.
        let splits = |sign: &char| notation::fields(first, *sign).is_ok_and(|fields| fields.len() > 1);
        let separator = [',', ';', '\t'].into_iter().filter(splits).max_by_key(|sign| *sign != ',').unwrap_or(',');
        let fields = |(at, line): (usize, &str)| match notation::fields(line, separator) {
            Ok(fields) => Ok((at + 1, fields)),
            Err(why) => Err(format!("line {}: {why}", at + 1)),
        };
        Ok(Self { lines: lines().map(fields).collect::<Result<_, _>>()?, separator })
    }

    /// A number of a field.
    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        let with_comma = || (self.separator != ',' && !field.contains('.')).then(|| field.replacen(',', ".", 1));
        field.parse().ok().or_else(|| with_comma()?.parse().ok())
    }
}

/// The names of the features selected in a result that `fewest select --json` wrote.
///
/// # Errors
/// A file that cannot be read or is no such result.
pub(crate) fn selected(path: &Path) -> Result<Vec<String>, Failure> {
    let place = path.display();
    let result: Option<Value> = serde_json::from_str(&read_text(path)?).ok();
    let selected = result.as_ref().and_then(|result| result["selected"].as_array());
    let names: Option<Vec<String>> =
        selected.and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    match names {
        Some(names) if !names.is_empty() => Ok(names),
        Some(_) => Err(Failure::Input(format!("{place}: no feature was selected; select again with other rules"))),
        None => Err(Failure::Input(format!(
            "{place}: not a result with selected features; give the file that `fewest select --json` wrote"
        ))),
    }
}
