//! `fewest compare`: lists of features side by side ([`fewest_eval::markers::compare`]).

use std::path::Path;

use fewest::{Limits, Status};
use fewest_data::Names;
use fewest_eval::markers::{CompareReport, compare};
use fewest_result::{ComparisonContext, Document, Kind};

use super::invocation::Invocation;
use super::markers::scale_of;
use super::prepare::listed;
use super::report;
use super::scaling_words::scaling_text;
use super::sinks::PanelSinks;
use crate::args::data::names_or_file;
use crate::args::features::Features;
use crate::cli::CompareArgs;
use crate::export::json::Document as Written;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &CompareArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let (terminal, judge) = (invocation.terminal, &args.judge);
    let sinks = PanelSinks::open((judge.json.as_ref(), judge.report.as_ref()), None, (None, None))?;
    let typed = args.lists.iter().enumerate().map(|(at, text)| Typed::read(text, at + 1));
    let typed = typed.collect::<Result<Vec<Typed>, Failure>>()?;
    let names: Vec<String> = typed.iter().map(|list| list.name.clone()).collect();
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        let name = &names[twice];
        return Err(Failure::Input(format!("two lists are named {name}; name them by NAME=LIST")));
    }
    let raw = judge.load(&args.data, &args.prepare, terminal)?;
    let constant = raw.data.features.constant();
    let known = Features::new(&raw.data.names).with_variables(raw.texts(), &[&constant]);
    let known = |list: &Typed| list.indices(&known, &raw.data.names, terminal);
    let (lists, missing): (Vec<Vec<usize>>, Vec<Vec<String>>) =
        typed.iter().map(known).collect::<Result<Vec<_>, Failure>>()?.into_iter().unzip();
    let settings = judge.settings(&args.prepare, &raw)?;
    let limits = Limits { cancel: interrupt::listen(terminal)?, ..judge.limits(&raw, invocation) };
    let mut watch = Watch::new(&raw.data.names, terminal, None).proving(None, None)?;
    let found = compare(&raw.samples(), &lists, &settings, listed(&raw.data.names), &limits, &mut watch);
    let found = found.map_err(|error| raw.failure(error))?;
    watch.finish()?;
    let context =
        ComparisonContext { data: raw.named(), lists: &names, missing: &missing, settings: &settings, gap: judge.gap };
    let asked = context.asked(judge.asked(&args.prepare, &raw));
    let took = (invocation.command_line.as_str(), invocation.elapsed().as_secs_f64());
    let said = context.comparison(&found, raw.about(), asked, took);
    let value = Document::new(Kind::Comparison, said).value();
    if sinks.json.is_some() || sinks.page.is_some() {
        report::write(Written::Value(value.clone()), sinks.json.as_ref(), sinks.page.as_ref(), terminal)?;
    }
    if !sinks.taken {
        let scaling = scaling_text(scale_of(&args.prepare, &raw), &raw.data);
        terminal.out(&report::text(&value, Some(&scaling)))?;
    }
    Ok(ending(&found, terminal))
}

/// Missing features that a warning names.
const NAMED: usize = 8;

/// A list as typed.
struct Typed {
    name: String,
    features: Vec<String>,
}

impl Typed {
    /// NAME=LIST or LIST, the list at this place, from 1.
    ///
    /// # Errors
    /// A file that cannot be read or holds no name.
    fn read(text: &str, at: usize) -> Result<Self, Failure> {
        let (name, list) = match text.split_once('=') {
            Some((name, list)) if !Path::new(text).is_file() && !name.is_empty() => (Some(name.to_owned()), list),
            _ => (None, text),
        };
        let features = names_or_file("LIST", &[list.to_owned()])?;
        let of_file = Path::new(list).is_file().then(|| Path::new(list).file_stem()).flatten();
        let stem = of_file.map(|stem| stem.to_string_lossy().into_owned());
        Ok(Self { name: name.or(stem).unwrap_or_else(|| format!("list {at}")), features })
    }

    /// The features, ascending, and the names of those that the data do not have, which a warning says.
    ///
    /// # Errors
    /// No feature that the data have, one that is named twice.
    fn indices(
        &self,
        known: &Features<'_>,
        names: &Names,
        terminal: Terminal,
    ) -> Result<(Vec<usize>, Vec<String>), Failure> {
        let (mut features, mut missing, mut why) = (Vec::new(), Vec::new(), None);
        for feature in &self.features {
            match known.all_meant(std::slice::from_ref(feature), &self.name) {
                Ok(found) => features.extend(found),
                Err(error) => {
                    missing.push(feature.clone());
                    why = why.or(Some(error));
                }
            }
        }
        if let Some(why) = why.filter(|_| features.is_empty()) {
            return Err(why);
        }
        if !missing.is_empty() {
            let (count, of) = (missing.len(), self.features.len());
            let (named, more) = (missing[..count.min(NAMED)].join(", "), if count > NAMED { ", ..." } else { "" });
            terminal.warn(&format!(
                "{}: {count} of {of} features are not in the data, and count for nothing: {named}{more}",
                self.name
            ));
        }
        features.sort_unstable();
        match features.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let (list, name) = (&self.name, names.get(pair[0]));
                Err(Failure::Input(format!("{list} names {name} twice; leave one out")))
            }
            None => Ok((features, missing)),
        }
    }
}

/// The exit code; says what was cut short.
fn ending(found: &CompareReport, terminal: Terminal) -> u8 {
    match found.status {
        Status::Completed => 0,
        Status::Cancelled => {
            terminal.note("cancelled; what is not there was not computed");
            3
        }
        _ => {
            terminal.note("stopped at the time limit; what is not there was not computed; --time-limit sets another");
            3
        }
    }
}
