//! `fewest verify`: checks a proof file against the data, by the checker of `fewest-verify`.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use fewest::{Design, Memory, MultiClass, Samples, Several};
use fewest_data::{Format, Names};
use fewest_verify::{Data, Error, Progress, Proof, Strength, Verdict};
use indicatif::ProgressBar;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::args::data::{DataArgs, PrepareArgs, ScaleArg, path_text};
use crate::args::notation;
use crate::args::reading::ReadingArgs;
use crate::args::svm::ClassWeight;
use crate::cli::VerifyArgs;
use crate::commands::invocation::Invocation;
use crate::commands::prepare::{Preparation, PreparedData};
use crate::export::file::Sink;
use crate::export::model_json::SCHEMA;
use crate::export::{json as json_text, table};
use crate::failure::{Failure, plain};
use crate::interrupt;
use crate::method_args::Validate;
use crate::terminal::{Terminal, bold};

/// Exit code of a proof that is not verified, or proves nothing of subsets that it does not list.
const NOT_VERIFIED: u8 = 1;
/// Exit code of a check that was stopped.
const STOPPED: u8 = 3;
/// Time between two looks of the progress line.
const REFRESH: Duration = Duration::from_millis(200);
/// The most names that a list in a proof may tell to read the data.
const MOST_NAMES: usize = 1 << 20;

/// What the command needs of a proof's header besides what the checker reads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Made {
    method: String,
    settings: Settings,
    read: Reading,
}

/// How the data were prepared: settings of the result under their names there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    format: Option<String>,
    target: Option<String>,
    scale: Option<String>,
    missing: Option<String>,
    class_weight: Option<String>,
    sample_weights: Option<String>,
    folds: Option<String>,
    #[serde(deserialize_with = "few")]
    categorical: Vec<String>,
    #[serde(deserialize_with = "share")]
    validate: Option<f64>,
    seed: Option<u64>,
    tasks: Option<String>,
    multi_class: Option<MultiClass>,
}

/// How the data were read, where settings do not say it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reading {
    #[serde(deserialize_with = "few")]
    drop: Vec<String>,
    #[serde(deserialize_with = "few")]
    text: Vec<String>,
    no_header: bool,
    header: bool,
    decimal: Option<char>,
    thousands: Option<char>,
    #[serde(deserialize_with = "few")]
    missing_codes: Vec<String>,
    drop_unlabelled: bool,
    #[serde(deserialize_with = "few")]
    classes: Vec<String>,
    index_limit: Option<u64>,
}

/// A list that is refused before it takes much memory.
fn few<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Few;
    impl<'de> Visitor<'de> for Few {
        type Value = Vec<String>;

        fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            to.write_str("a list of names")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut out = Vec::new();
            while let Some(name) = list.next_element()? {
                if out.len() == MOST_NAMES {
                    return Err(A::Error::custom("too many names"));
                }
                out.push(name);
            }
            Ok(out)
        }
    }
    from.deserialize_seq(Few)
}

/// A number, or none where there is another scalar.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    struct Share;
    impl Visitor<'_> for Share {
        type Value = Option<f64>;

        fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            to.write_str("a share or a file")
        }

        fn visit_f64<E>(self, share: f64) -> Result<Option<f64>, E> {
            Ok(Some(share))
        }

        fn visit_str<E>(self, _: &str) -> Result<Option<f64>, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Option<f64>, E> {
            Ok(None)
        }
    }
    from.deserialize_any(Share)
}

/// Runs the command.
///
/// # Errors
/// A file that is no proof, or data that cannot be read.
pub(crate) fn run(args: &VerifyArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let json = Sink::open_if("--json", args.json.as_ref())?;
    Sink::apart(&[("--json", json.as_ref())], &[("the proof", &args.proof), ("the data", &args.data.data)])?;
    let place = args.proof.display();
    let file = File::open(&args.proof)
        .map_err(|error| Failure::Input(format!("{place}: cannot be read: {}; name a proof file", plain(&error))))?;
    let no_proof = |error: Error| {
        Failure::Input(format!("{place}: {error}; give the file that `fewest select --proof FILE` wrote"))
    };
    let mut proof = Proof::open(file).map_err(no_proof)?;
    if args.time_limit.is_some() {
        proof = proof.without_work_limit();
    }
    let made = made(proof.header());
    let prepared = read(args, &made, terminal)?;
    if !proof.takes_classes() && proof.problems() == 1 {
        prepared.needs_two_classes("a proof of one linear SVM")?;
    }
    let samples = prepared.samples()?;
    let multi_class = made.settings.multi_class.unwrap_or_default();
    let data = ProofSamples::new(&samples, multi_class, proof.takes_classes(), &prepared.account)?;
    terminal.detail(&format!("read the data in {}", table::seconds(invocation.elapsed().as_secs_f64())));

    let cancel = interrupt::listen(terminal)?;
    let (start, mut line) = (Instant::now(), Line::new(terminal));
    let memory = prepared.left_of_memory();
    let found = data.check(proof, memory, &mut |progress| {
        line.show(progress);
        let over = invocation.left(args.time_limit).is_some_and(|left| left.is_zero());
        if over || cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.clear();
    match found {
        Err(error @ Error::NotAProof(_)) => return Err(no_proof(error)),
        Err(Error::Stopped) if !cancel.is_cancelled() => {
            terminal.note("stopped at the time limit; nothing is proven, give more time with --time-limit");
        }
        _ => {}
    }
    let (seconds, names) = (start.elapsed().as_secs_f64(), &prepared.data.names);
    if let Some(sink) = &json {
        let mut value = verification(&found, names);
        let entries = [
            ("proof", json!(args.proof.display().to_string())),
            ("data", json!(prepared.data.source)),
            ("method", json!(made.method)),
            ("seconds", json!(seconds)),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        for (key, entry) in entries {
            value[key] = entry;
        }
        sink.write(&json_text::text(&value), terminal)?;
    }
    if !json.as_ref().is_some_and(Sink::is_stdout) {
        terminal.out(&text(&found, names, seconds))?;
    }
    Ok(match found {
        Ok(verdict) if verdict.strength() == Strength::Bound || args.allow_unproven => 0,
        Err(Error::Stopped | Error::TooMuchWork { .. }) => STOPPED,
        Ok(_) | Err(_) => NOT_VERIFIED,
    })
}

/// What made the proof, as far as its header tells.
fn made(header: &str) -> Made {
    #[derive(Deserialize)]
    struct Header {
        #[serde(default)]
        made: Made,
    }
    let header: Option<Header> = serde_json::from_str(header).ok();
    header.map(|header| header.made).unwrap_or_default()
}

/// Reads and prepares the data as the proof says, except where options say otherwise.
fn read(args: &VerifyArgs, made: &Made, terminal: Terminal) -> Result<PreparedData, Failure> {
    let Made { settings, read, .. } = made;
    let or = |typed: &Vec<String>, said: &Vec<String>| -> Vec<String> {
        let quoted = |name: &String| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        if typed.is_empty() { said.iter().map(quoted).collect() } else { typed.clone() }
    };
    let known = Format::of_path(path_text(&args.data.data)?).is_some();
    let said = settings.format.as_deref().filter(|_| !known).and_then(Format::by_name);
    let data = DataArgs {
        format: args.data.format.or(said),
        target: args.data.target.clone().or_else(|| settings.target.clone()),
        drop: or(&args.data.drop, &read.drop),
        text: or(&args.data.text, &read.text),
        reading: ReadingArgs {
            no_header: args.data.reading.no_header || read.no_header,
            header: args.data.reading.header || read.header,
            decimal: args.data.reading.decimal.or(read.decimal),
            thousands: args.data.reading.thousands.or(read.thousands),
            missing_codes: or(&args.data.reading.missing_codes, &read.missing_codes),
            drop_unlabelled: args.data.reading.drop_unlabelled || read.drop_unlabelled,
            classes: or(&args.data.reading.classes, &read.classes),
        },
        index_limit: args.data.index_limit.or(read.index_limit),
        ..args.data.clone()
    };
    let scale = args.prepare.scale.unwrap_or(match settings.scale.as_deref() {
        Some("standard") => ScaleArg::Standard,
        Some("maxabs") => ScaleArg::Maxabs,
        _ => ScaleArg::None,
    });
    let sample_weights = args.prepare.sample_weights.clone().or_else(|| settings.sample_weights.clone());
    let missing = args.prepare.missing.or_said(settings.missing.as_deref());
    let prepare = PrepareArgs { scale: Some(scale), sample_weights, missing };
    let said = settings.class_weight.as_deref().map(ClassWeight::read).transpose();
    let said = said.map_err(|why| Failure::Input(format!("the proof's class weights: {why}; give --class-weight")))?;
    let validate = settings.validate.map(Validate::Share);
    let preparation = Preparation {
        data: &data,
        prepare: &prepare,
        class_weight: args.class_weight.as_ref().or(said.as_ref()),
        variance_threshold: None,
        validate: validate.as_ref().map(|validate| (validate, settings.seed.unwrap_or(0))),
        folds: settings.folds.as_deref(),
        categorical: &settings.categorical,
        tasks: settings.tasks.as_deref(),
    };
    preparation.run(terminal)
}

/// Samples as the checker takes them: classes, or the two-class problems that they are taken apart
/// into.
pub enum ProofSamples<'a> {
    /// With the class of each sample.
    Classes(&'a Samples<'a>, Vec<f64>),
    /// Two classes each.
    Problems(Several<'a>),
}

impl<'a> ProofSamples<'a> {
    /// `classes`: where [`Proof::takes_classes`].
    ///
    /// # Errors
    /// Those of [`Several::new`].
    pub fn new(
        samples: &'a Samples<'a>,
        multi_class: MultiClass,
        classes: bool,
        memory: &Memory,
    ) -> Result<Self, fewest::Error> {
        Ok(if classes {
            Self::Classes(samples, samples.classes().iter().map(|&code| f64::from(code)).collect())
        } else {
            Self::Problems(Several::new(samples, multi_class, memory)?)
        })
    }

    /// Checks a proof about them; `memory` and `watch` as there.
    ///
    /// # Errors
    /// Those of [`Proof::check`].
    pub fn check<R: Read>(
        &self,
        proof: Proof<R>,
        memory: u64,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Verdict, Error> {
        let problems = if let Self::Problems(several) = self { several.problems() } else { Vec::new() };
        let mut all: Vec<ProofData<'_>> = problems
            .iter()
            .map(|of| ProofData { design: of.design(), labels: of.labels(), weights: of.weights() })
            .collect();
        if let Self::Classes(samples, labels) = self {
            all.push(ProofData { design: samples.design(), labels, weights: samples.weights() });
        }
        proof.check(&all.iter().map(|data| data as &dyn Data).collect::<Vec<_>>(), memory, watch)
    }
}

/// A design with labels and weights as the checker takes them.
#[derive(Clone, Copy)]
struct ProofData<'a> {
    design: &'a dyn Design,
    labels: &'a [f64],
    weights: &'a [f64],
}

impl Data for ProofData<'_> {
    fn samples(&self) -> usize {
        self.design.n_samples()
    }

    fn features(&self) -> usize {
        self.design.n_features()
    }

    fn labels(&self) -> &[f64] {
        self.labels
    }

    fn weights(&self) -> &[f64] {
        self.weights
    }

    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        self.design.each_in_column(j, f);
    }

    fn dense(&self, j: usize) -> Option<&[f64]> {
        self.design.dense_column(j)
    }
}

/// How far the check has come, on a terminal.
struct Line {
    bar: Option<ProgressBar>,
    shown: Instant,
}

impl Line {
    fn new(terminal: Terminal) -> Self {
        Self { bar: terminal.shows_progress().then(ProgressBar::new_spinner), shown: Instant::now() }
    }

    fn show(&mut self, progress: &Progress) {
        let Some(bar) = self.bar.as_ref().filter(|_| self.shown.elapsed() >= REFRESH) else { return };
        self.shown = Instant::now();
        let Progress { records, parts, open, .. } = progress;
        bar.set_message(format!("{records} records, {parts} parts closed, {open} boxes open"));
        bar.tick();
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn named(features: &[usize], names: &Names) -> Vec<String> {
    features.iter().map(|&j| names.get(j)).map(Cow::into_owned).collect()
}

/// What the numbers of a verdict are multiplied by to be those of the method.
fn sign(verdict: &Verdict) -> f64 {
    if verdict.maximised { -1.0 } else { 1.0 }
}

/// A number of the verdict; null where it is infinite.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// What a verdict is in a word of JSON, the first words of the text, and why it is not more.
fn said(found: &Result<Verdict, Error>) -> (&'static str, &'static str, Option<String>) {
    let others = "nothing is proven of other subsets";
    match found {
        Ok(verdict) => match verdict.strength() {
            Strength::Bound => ("verified", "VERIFIED", None),
            Strength::ObjectiveOnly => ("objective_only", "VERIFIED objective only", Some(others.to_owned())),
            Strength::Nothing => {
                let why = "no subset is listed and no bound is proven";
                ("nothing", "VERIFIED nothing", Some(why.to_owned()))
            }
        },
        Err(error @ (Error::Stopped | Error::TooMuchWork { .. })) => {
            let remedy = if *error == Error::Stopped { "" } else { "; give --time-limit to let it take its time" };
            ("stopped", "NOT VERIFIED", Some(format!("{error}{remedy}")))
        }
        Err(error) => ("not_verified", "NOT VERIFIED", Some(error.to_string())),
    }
}

/// The verdict as JSON; docs/verify.md lists the keys.
pub fn verification(found: &Result<Verdict, Error>, names: &Names) -> Value {
    let (word, _, reason) = said(found);
    let mut out = json!({ "schema": SCHEMA, "kind": "verification", "verified": word == "verified" });
    (out["verdict"], out["reason"]) = (json!(word), json!(reason));
    match found {
        Err(_) => {}
        Ok(verdict) => {
            let best = verdict.best();
            let features = best.map(|best| &best.features);
            let (sign, finite) = (sign(verdict), |x: f64| finite(sign(verdict) * x));
            out["selected"] = json!(features.map(|features| named(features, names)));
            out["selected_indices"] = json!(features);
            out["objective"] = json!(best.map(|best| sign * best.objective));
            out["sense"] = json!(if verdict.maximised { "max" } else { "min" });
            out["bound"] = json!(finite(verdict.bound()));
            out["gap"] = json!(verdict.gap());
            out["rest"] = json!(finite(verdict.rest));
            let listed = verdict.listed.iter().map(|one| {
                json!({ "selected": named(&one.features, names), "selected_indices": one.features,
                    "objective": sign * one.objective, "bound": finite(one.bound) })
            });
            out["solutions"] = listed.collect();
            out["status"] = json!(verdict.status);
            let Progress { records, points, parts, .. } = verdict.progress;
            out["counts"] = json!({ "records": records, "points": points, "parts": parts });
        }
    }
    out
}

/// The verdict for people.
fn text(found: &Result<Verdict, Error>, names: &Names, seconds: f64) -> String {
    let (_, word, reason) = said(found);
    let reason = reason.map(|reason| fewest_report::visible(&reason));
    let Ok(verdict) = found else {
        return format!("{}  {}\n", bold(word), reason.unwrap_or_default());
    };
    let Progress { points, parts, .. } = verdict.progress;
    // Where the method maximises, what is at most so much for the checker is at least that much.
    let bound = |x: f64, above: bool| fewest_report::bound(sign(verdict) * x, above != verdict.maximised);
    let below = |x: f64| match x {
        x if x == f64::INFINITY => "no other subset is allowed".to_owned(),
        x if x == f64::NEG_INFINITY => "none".to_owned(),
        x => bound(x, false),
    };
    let mut lines = Vec::new();
    if let Some(best) = verdict.best() {
        let chosen = notation::some(&named(&best.features, names));
        let count = format!("{} of {}", best.features.len(), notation::plural(names.len(), "feature"));
        lines.push(("selected", if best.features.is_empty() { count } else { format!("{count}: {chosen}") }));
        let side = if verdict.maximised { "at least" } else { "at most" };
        lines.push(("objective", format!("{side} {}", bound(best.objective, true))));
    }
    lines.push(("bound", below(verdict.bound())));
    if let Some(gap) = verdict.gap() {
        lines.push(("gap", table::gap(gap)));
    }
    if verdict.listed.len() > 1 {
        lines.push(("listed", notation::plural(verdict.listed.len(), "subset")));
        lines.push(("all others", below(verdict.rest)));
    }
    lines.push(("claimed", format!("the file says of itself (not checked): \"{}\"", verdict.status)));
    let point = if verdict.maximised { "model" } else { "dual point" };
    let (points, parts) = (notation::plural(points as usize, point), notation::plural(parts as usize, "part"));
    lines.push(("checked", format!("{points}, {parts}, in {}", table::seconds(seconds))));
    let why = reason.map_or(String::new(), |reason| format!(": {reason}"));
    format!("{}{why}\n{}", bold(word), table::pairs(&lines))
}
