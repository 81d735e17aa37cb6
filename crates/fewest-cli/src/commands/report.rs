//! `fewest report`: a page from a result, and `--report` of the commands that make results.

use fewest_report::{Door, Words};
use serde_json::Value;

use crate::cli::ReportArgs;
use crate::export::file::Sink;
use crate::export::json::Document;
use crate::export::table::style;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What users of the command call things.
const WORDS: Words = Words {
    rest: "--json FILE holds them all",
    max_false: "--max-false",
    fdr: "--fdr",
    stability: "`fewest stability`",
    sizes: |most| format!("--max-features 1..{most}"),
    rare: "--class-weight balanced weighs the classes alike, --choose auc goes by the order of the samples",
};

/// The tables of a result that has some; `scaling`: how features are scaled.
pub(crate) fn text(result: &Value, scaling: Option<&str>) -> String {
    let door = Door { style: style(), words: &WORDS, scaling };
    fewest_report::text(result, door).unwrap_or_default()
}

/// Adds its words to a study: what its reader must know first, which is returned, and those on its methods.
pub(crate) fn add_words(study: &mut Value) -> Option<String> {
    fewest_report::add_words(study, &WORDS)
}

/// Runs the command.
pub(crate) fn run(args: &ReportArgs, terminal: Terminal) -> Result<u8, Failure> {
    let sink = Sink::open("--out", &args.out)?;
    let place = args.result.display();
    let text = std::fs::read_to_string(&args.result)
        .map_err(|error| Failure::Input(format!("{place}: cannot be read: {}", crate::failure::plain(&error))))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::Input(format!(
            "{place}: no JSON ({error}); name a file that --json of select, path, certify, evaluate, stability, knockoffs, study, markers, compare or predict wrote"
        ))
    })?;
    if args.show_samples && value["settings"].is_object() {
        value["settings"]["show_samples"] = true.into();
    }
    let page = fewest_report::page(&value).map_err(|error| match error {
        fewest_report::Error::NoResult => {
            Failure::Input(format!("{place}: {error}; name a file that --json of one of these wrote"))
        }
        fewest_report::Error::Broken(_) => Failure::Broken(format!("{place}: {error}")),
    })?;
    sink.write(&page, terminal)?;
    Ok(0)
}

/// Writes a result of this run to `--json`, and its page to `--report`, where they were asked for;
/// its text goes to standard output where neither of them does. `scaling`: how features are scaled.
pub(crate) fn tell(
    value: Value,
    scaling: &str,
    [json, page]: [Option<&Sink>; 2],
    terminal: Terminal,
) -> Result<(), Failure> {
    let taken = [json, page].into_iter().flatten().any(Sink::is_stdout);
    let text = (!taken).then(|| text(&value, Some(scaling)));
    write(Document::Value(value), json, page, terminal)?;
    text.map_or(Ok(()), |text| terminal.out(&text))
}

/// Writes a result of this run to `--json`, and its page to `--report`, where they were asked for.
pub(crate) fn write(
    result: Document<'_>,
    json: Option<&Sink>,
    page: Option<&Sink>,
    terminal: Terminal,
) -> Result<(), Failure> {
    if let Some(sink) = json {
        sink.write_with(&mut |out| result.write(out), terminal)?;
    }
    if let Some(sink) = page {
        let page = fewest_report::page(&result.into_value()).map_err(|error| Failure::Broken(error.to_string()))?;
        sink.write(&page, terminal)?;
    }
    Ok(())
}
