//! No command writes over what it reads: one guard over all options of every command.
//!
//! Options that write are found by their heading, [`OUTPUT`]. Whatever else is typed and names a
//! file that there is counts as read, so that no option can be forgotten.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::export::file::is_same;
use crate::failure::Failure;

/// The heading of options that write.
const OUTPUT: &str = "Output";

/// Refuses an output over a file that is read.
pub(super) fn check(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let typed = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        matches!(matches.try_contains_id(id), Ok(true)) && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let mut read: Vec<(&Arg, PathBuf)> = Vec::new();
    for arg in command.get_arguments().filter(typed).filter(|arg| !is_output(arg) || is_kept(arg)) {
        for value in values(matches, arg) {
            read.extend(files(value, is_kept(arg)).into_iter().map(|path| (arg, path)));
        }
    }
    for output in command.get_arguments().filter(typed).filter(|arg| is_output(arg)) {
        for path in values(matches, output).map(Path::new).filter(|path| !path.exists() || path.is_file()) {
            let over = read.iter().find(|(arg, input)| arg.get_id() != output.get_id() && is_same(path, input));
            let Some((arg, _)) = over else { continue };
            let name = output.get_long().map_or("the output".to_owned(), |long| format!("--{long}"));
            let what =
                arg.get_long().map_or_else(|| format!("the {}", arg.get_id()), |long| format!("the file of --{long}"));
            return Err(Failure::Input(format!(
                "{name} {}: that is {what}, and would be written over; name another file",
                path.display()
            )));
        }
    }
    Ok(())
}

fn values<'m>(matches: &'m ArgMatches, arg: &Arg) -> impl Iterator<Item = &'m OsStr> + use<'m> {
    matches.get_raw(arg.get_id().as_str()).into_iter().flatten()
}

/// Whether an argument names a file that is written.
fn is_output(arg: &Arg) -> bool {
    let file = arg.get_value_names().is_some_and(|names| names[0].starts_with("FILE"));
    let option = arg.get_long().is_some() && (arg.get_help_heading() == Some(OUTPUT) || arg.get_id() == "proof");
    arg.get_id() == "out" || option && file
}

/// Whether it is read, too.
fn is_kept(arg: &Arg) -> bool {
    arg.get_id() == "resume"
}

/// The files that a value names, and those beside them that are read with them; `all`: also one that
/// is not there yet.
fn files(value: &OsStr, all: bool) -> Vec<PathBuf> {
    let whole = Path::new(value);
    if all && !whole.exists() {
        return vec![whole.to_owned()];
    }
    let Some(text) = value.to_str() else { return vec![whole.to_owned()] };
    // A column may stand behind a colon.
    let path = if whole.exists() { text } else { text.rsplit_once(':').map_or(text, |(file, _)| file) };
    if !Path::new(path).exists() {
        return Vec::new();
    }
    fewest_data::files_of(path).into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::super::{Cli, ParseEnd, parse, with_all_methods};
    use super::{Arg, Command, is_kept, is_output};
    use crate::method_args::{Entry, methods};

    /// What each command needs beside an argument.
    fn needed(command: &str, input: &str) -> &'static [&'static str] {
        match command {
            "fit" if matches!(input, "features" | "result") => &["d.csv"],
            "certify" => &["d.csv", "--features=a"],
            "fit" => &["d.csv", "--all-features"],
            "predict" => &["m.json", "d.csv"],
            "verify" => &["p.proof", "d.csv"],
            "compare" => &["d.csv", "a,b", "a"],
            "report" | "convert" | "check" | "knockoffs" | "study" | "markers" => &["d.csv"],
            _ => &["d.csv", "--max-features=2"],
        }
    }

    /// Whether an argument may name a file that is read.
    fn reads(arg: &Arg) -> bool {
        let names = arg.get_value_names().unwrap_or_default();
        !is_output(arg) && names.iter().any(|name| name.contains("FILE") || name.contains("RESULT"))
    }

    fn typed(arg: &Arg, path: &str) -> String {
        arg.get_long().map_or(path.to_owned(), |long| format!("--{long}={path}"))
    }

    /// Whether the command refuses to read and to write one file.
    fn refuses(command: &Command, method: &str, input: &Arg, output: &Arg, path: &str) -> bool {
        let mut words = vec!["fewest".to_owned(), command.get_name().to_owned()];
        words.extend((!method.is_empty()).then(|| format!("--method={method}")));
        let at = command.get_positionals().position(|arg| arg.get_id() == input.get_id());
        let own = input.get_long().map_or(" ".to_owned(), |long| format!("--{long}="));
        let needs = needed(command.get_name(), input.get_id().as_str()).iter().enumerate();
        let others = needs.filter(|(i, word)| Some(*i) != at && !word.starts_with(&own));
        let mut others: Vec<String> = others.map(|(_, word)| (*word).to_owned()).collect();
        others.insert(at.unwrap_or(0), typed(input, path));
        others.push(typed(output, path));
        words.extend(others);
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        matches!(parse(&words), Err(ParseEnd::Refused(failure)) if failure.to_string().contains("would be written over"))
    }

    #[test]
    fn no_output_of_any_command_is_written_over_what_it_reads() {
        let path = std::env::temp_dir().join(format!("fewest-guard-{}.mps", std::process::id()));
        let path = path.to_str().expect("UTF-8");
        let (own, mut pairs) = (Cli::command(), 0);
        for command in with_all_methods().get_subcommands() {
            let own = own.find_subcommand(command.get_name()).expect("a command");
            let takes = own.get_opts().any(|arg| arg.get_id() == "method");
            let has = |name: &str, arg: &Arg| {
                let mut of_method = methods().filter(|entry| entry.info().name == name).flat_map(Entry::arguments);
                own.get_arguments().any(|other| other.get_id() == arg.get_id())
                    || of_method.any(|other| other.get_id() == arg.get_id())
            };
            let names: Vec<&str> = if takes { methods().map(|entry| entry.info().name).collect() } else { vec![""] };
            for output in command.get_arguments().filter(|arg| is_output(arg)) {
                let positional = command.get_positionals().filter(|arg| !is_output(arg) && arg.get_id() != "method");
                let options = command.get_opts().filter(|arg| reads(arg) || is_kept(arg));
                for input in positional.chain(options).filter(|arg| arg.get_id() != output.get_id()) {
                    let together: Vec<&&str> =
                        names.iter().filter(|name| !takes || has(name, input) && has(name, output)).collect();
                    // Prices, and a result.
                    let refused = ["a,1\n", "{\"selected\": [\"a\"]}"].iter().any(|content| {
                        std::fs::write(path, content).expect("written");
                        together.iter().any(|name| refuses(command, name, input, output, path))
                    });
                    let what = format!("{}: {} over {}", command.get_name(), output.get_id(), input.get_id());
                    assert!(refused || together.is_empty(), "{what}");
                    pairs += usize::from(refused);
                }
            }
        }
        std::fs::remove_file(path).expect("removed");
        assert!(pairs > 100, "{pairs}");
    }
}
