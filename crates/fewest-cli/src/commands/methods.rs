//! `fewest methods`: what each method solves, proves and accepts, and its paper.

use std::fmt::Write as _;

use clap::Arg;
use fewest_result::SCHEMA;
use serde_json::{Value, json};

use crate::cli::MethodsArgs;
use crate::export::file::Sink;
use crate::export::json as json_text;
use crate::export::table::{self, Table, pairs, paragraph};
use crate::failure::{Failure, in_options};
use crate::method_args::{Entry, find, methods, of_paper, paper_names, settings};
use crate::terminal::{Terminal, bold};

/// Runs the command.
pub(crate) fn run(args: &MethodsArgs, terminal: Terminal) -> Result<u8, Failure> {
    let chosen: Vec<&Entry> = match &args.method {
        None => methods().collect(),
        Some(name) => vec![find(of_paper(name).unwrap_or(name))?],
    };
    if let Some(sink) = Sink::open_if("--json", args.json.as_ref())? {
        let list: Vec<_> = chosen.iter().map(|entry| value(entry)).collect();
        sink.write(&json_text::text(&json!({"schema": SCHEMA, "methods": list})), terminal)?;
        if sink.is_stdout() {
            return Ok(0);
        }
    }
    terminal.out(&match &args.method {
        None => overview(&chosen),
        Some(_) => chosen.iter().map(|entry| details(entry)).collect(),
    })?;
    Ok(0)
}

/// The options of a method: each as typed, and what it means.
fn options(entry: &Entry) -> Vec<(String, String)> {
    entry.arguments().iter().map(|arg| (typed(arg), meaning(arg))).collect()
}

/// An option as typed: `--gap G`.
fn typed(arg: &Arg) -> String {
    let name = arg.get_long().unwrap_or_default();
    match arg.get_value_names().unwrap_or_default() {
        [value] if arg.get_action().takes_values() => format!("--{name} {value}"),
        _ => format!("--{name}"),
    }
}

/// What an option means, its values and its default.
fn meaning(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let flag = !arg.get_action().takes_values();
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !flag && values.len() > 1 {
        let _ = write!(text, ": {}", values.join("|"));
    }
    let default: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !flag && !default.is_empty() {
        let _ = write!(text, " [default: {}]", default.join(","));
    }
    text
}

fn value(entry: &Entry) -> Value {
    let mut value = json!(entry.info());
    for text in value.as_object_mut().into_iter().flatten().map(|(_, value)| value) {
        if let Value::String(told) = text {
            *told = in_options(told);
        }
    }
    let options = options(entry).into_iter().map(|(option, meaning)| json!({"option": option, "meaning": meaning}));
    value["options"] = options.collect();
    value["settings"] = json!(settings(entry));
    value
}

fn overview(methods: &[&Entry]) -> String {
    let mut table = Table::new(&["METHOD", "WHAT", "CLASSES", "PROVES"], 3);
    for info in methods.iter().map(|entry| entry.info()) {
        table.row([info.name, info.title, info.classes.text(), info.proves].map(in_options).to_vec());
    }
    table.render(table::style()) + "\n`fewest methods NAME` describes one, with its options and its paper.\n"
}

fn details(entry: &Entry) -> String {
    let info = entry.info();
    let mut out = format!("{} - {}\n\n", bold(info.name), info.title);
    let called: Vec<&str> = paper_names(info.name).collect();
    if !called.is_empty() {
        out += &paragraph(&format!("Papers call it {}.", called.join(", ")), 2);
    }
    out += &paragraph(&in_options(info.solves), 2);
    let _ = write!(out, "\n  {}\n\n", in_options(info.formula));
    for (label, text) in [
        ("Proves", info.proves),
        ("Kernels", info.kernels),
        ("Classes", info.classes.text()),
        ("Rules", info.rules),
        ("Cost", info.cost),
    ] {
        out += &pairs(&[(&format!("{label:<8}"), in_options(text))]);
    }
    let _ = write!(out, "\n{}\n", bold("Options, beside those of every method"));
    let options = options(entry);
    out += &pairs(&options.iter().map(|(option, meaning)| (option.as_str(), meaning.clone())).collect::<Vec<_>>());
    out + &format!("\n{}\n", bold("Paper")) + &paragraph(info.paper, 2)
}
