//! `fewest check`: what is in a data file, and what is wrong with it.

use std::fmt::Write as _;

use fewest_data::{DataError, Dataset, Note, ReadOptions, Summary, bytes_text};
use fewest_result::{Check, Column, Document, Fault, Kind};

use super::reading;
use crate::args::data;
use crate::args::notation;
use crate::cli::CheckArgs;
use crate::export::file::Sink;
use crate::export::json as json_text;
use crate::export::table::{self, Table};
use crate::failure::{Failure, in_option_words, told};
use crate::terminal::{Terminal, bold};

/// What to do about missing values.
const REMEDY: &str = "to fill them in, say --missing mean, median, most-frequent or indicator (the mean, and a feature that says where); as it is, the other commands refuse the file";

/// Features listed in the table; the JSON has them all.
const ROWS: usize = 20;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, terminal: Terminal) -> Result<u8, Failure> {
    let json = Sink::open_if("--json", args.json.as_ref())?;
    let options = ReadOptions { missing: true, ..args.data.read_options()? };
    let Checked { mut data, faults } = Checked::read(data::path_text(&args.data.data)?, options)?;
    let hints = fewest_data::hints(&data);
    data.notes.extend(hints);
    if data.names.is_empty() {
        return Err(Failure::Input(format!(
            "{}: there are no features, only the target; add columns, or name another target with --target",
            data.source
        )));
    }
    let (columns, summary) = (columns(&data), fewest_data::summary(&data));
    if let Some(sink) = &json {
        let found = Check::new(&data, &columns, &summary, notes(&data, &summary), &faults);
        sink.write(&json_text::text(&Document::new(Kind::Check, found).value()), terminal)?;
    }
    if !json.as_ref().is_some_and(Sink::is_stdout) {
        terminal.out(&report(&data, &columns, &summary))?;
    }
    let lacking = data.notes.iter().find(|note| matches!(note, Note::Missing { .. }));
    let lacking = lacking.filter(|_| args.missing.rule().is_none());
    match (lacking, &faults[..]) {
        (None, []) => Ok(0),
        (Some(note), []) => Err(Failure::Input(format!("{}: {note}; {REMEDY}", data.source))),
        (lacking, faults) => {
            let missing = lacking
                .map(|note| Fault { text: format!("{}: {note}", data.source), option: "--missing mean".to_owned() });
            Err(Failure::Input(listed(&faults.iter().cloned().chain(missing).collect::<Vec<Fault>>())))
        }
    }
}

/// A file that was read, and what had to be got past.
struct Checked {
    data: Dataset,
    faults: Vec<Fault>,
}

impl Checked {
    /// Reads a file; behind a fault that an option gets past it goes on with that option.
    ///
    /// # Errors
    /// A fault that no option gets past, and those before it.
    fn read(path: &str, mut options: ReadOptions) -> Result<Self, Failure> {
        let mut faults: Vec<Fault> = Vec::new();
        loop {
            let error = match fewest_data::read(path, &options) {
                Ok(data) => return Ok(Self { data, faults }),
                Err(error) => error,
            };
            match error.mended(&options) {
                // A fault that the option does not get past would come again and again.
                Some((mended, option)) if faults.iter().all(|fault| fault.text != told(&error)) => {
                    options = mended;
                    faults.push(Fault { text: told(&error), option: in_option_words(&option) });
                }
                _ if !options.target_optional && is_matrix_without_target(&error, path, &options) => {
                    faults.push(Fault { text: told(&error), option: "--target NAME".to_owned() });
                    options.target_optional = true;
                }
                _ if faults.is_empty() => return Err(reading::near_class(error)),
                _ => {
                    faults.push(Fault { text: told(&error), option: String::new() });
                    return Err(Failure::Input(listed(&faults)));
                }
            }
        }
    }
}

/// Whether a file of a matrix can be read but for the class, of which the error tells.
fn is_matrix_without_target(error: &DataError, path: &str, options: &ReadOptions) -> bool {
    let other = || fewest_data::read(path, &ReadOptions { target_optional: true, ..options.clone() });
    options.target.is_none()
        && matches!(error, DataError::Unsupported { .. } | DataError::UnknownColumn { .. })
        && other().is_ok_and(|data| data.target.is_none() && !data.format.is_table())
}

/// The text of some faults, and with which options the file opens.
fn listed(faults: &[Fault]) -> String {
    let mut text: String = faults.iter().enumerate().fold(String::new(), |mut text, (at, fault)| {
        let _ = match faults.len() {
            1 => write!(text, "{}", fault.text),
            _ => write!(text, "{}{}. {}", if at == 0 { "" } else { "\n" }, at + 1, fault.text),
        };
        text
    });
    if faults.iter().all(|fault| !fault.option.is_empty()) {
        let options: Vec<&str> = faults.iter().map(|fault| fault.option.as_str()).collect();
        let _ = write!(text, "\nthe file opens with {}", options.join(" "));
    }
    text
}

/// Every feature in numbers.
fn columns(data: &Dataset) -> Vec<Column> {
    let (design, n) = (data.features.as_design(), data.features.n_samples());
    let variances = fewest_data::variances(&data.features);
    let one = |j: usize| {
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (mut stored, mut nonzero, mut missing) = (0, 0, 0);
        design.each_in_column(j, &mut |_, x| {
            stored += 1;
            if x.is_nan() {
                missing += 1;
                return;
            }
            (min, max, sum) = (min.min(x), max.max(x), sum + x);
            nonzero += usize::from(x != 0.0);
        });
        if stored < n {
            (min, max) = (min.min(0.0), max.max(0.0));
        }
        Column { min, mean: sum / (n - missing) as f64, max, deviation: variances[j].sqrt(), nonzero, missing }
    };
    (0..design.n_features()).map(one).collect()
}

/// What is to be known about the file, as sentences.
fn notes(data: &Dataset, summary: &Summary) -> Vec<String> {
    let mut notes: Vec<String> = data.notes.iter().map(told).collect();
    if !summary.duplicates.is_empty() {
        let pair = |d: &fewest_data::Duplicate| format!("{} = {}", data.names.get(d.feature), data.names.get(d.of));
        let pairs: Vec<String> = summary.duplicates.iter().map(pair).collect();
        notes.push(format!("features that repeat an earlier one: {}", notation::some(&pairs)));
    }
    notes
}

/// A number of a column; nothing where it has no values.
fn shown(value: f64) -> String {
    if value.is_finite() { table::number(value) } else { String::new() }
}

fn report(data: &Dataset, columns: &[Column], summary: &Summary) -> String {
    let kind = if data.features.as_design().is_sparse() { "sparse" } else { "dense" };
    let mut lines = vec![
        ("file", data.source.clone()),
        ("format", data.format.name().to_owned()),
        ("samples", data.features.n_samples().to_string()),
        ("features", columns.len().to_string()),
        (
            "values",
            format!(
                "{kind}, {:.2} % not zero, {} in memory",
                100.0 * summary.density,
                bytes_text(data.features.bytes())
            ),
        ),
    ];
    if let Some(target) = &data.target {
        let counts = target.counts();
        let text = |at: usize, sign: &str| format!("{sign}{} ({})", target.classes[at], counts[at]);
        let all: Vec<String> = match target.classes.len() {
            2 => vec![text(0, "-1 = "), text(1, "+1 = ")],
            k => (0..k).map(|at| text(at, "")).collect(),
        };
        lines.push(("target", format!("{}: {}", target.column, all.join(", "))));
        lines.extend(target.positive().map(|class| ("positive", class.to_owned())));
    }
    let mut out = table::pairs(&lines);
    let lacking = columns.iter().any(|c| c.missing > 0);
    let mut headings = vec!["feature", "min", "mean", "max", "std", "nonzero"];
    headings.extend(lacking.then_some("missing"));
    let mut features = Table::new(&headings, 0);
    for (j, c) in columns.iter().enumerate().take(ROWS) {
        let mut cells = vec![
            data.names.get(j).into_owned(),
            shown(c.min),
            shown(c.mean),
            shown(c.max),
            shown(c.deviation),
            c.nonzero.to_string(),
        ];
        cells.extend(lacking.then(|| c.missing.to_string()));
        features.row(cells);
    }
    let _ = write!(out, "\n{}", features.render(table::style()));
    if columns.len() > ROWS {
        let _ = writeln!(out, "... and {} more; --json FILE holds them all", columns.len() - ROWS);
    }
    let notes = notes(data, summary);
    let _ = write!(out, "\n{}\n", bold(if notes.is_empty() { "Nothing is wrong with this file." } else { "To know" }));
    for note in notes {
        let text = table::paragraph(&note, 4);
        let _ = write!(out, "  - {}", text.trim_start());
    }
    out
}
