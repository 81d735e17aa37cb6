//! Where `select` and `path`, `study`, `markers` and `compare` write.

use std::path::PathBuf;

use super::fit::ModelSink;
use crate::cli::{ModelArgs, SelectionArgs};
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::method_args::MethodOptions;

/// Where the result goes besides the table.
pub(crate) struct Sinks {
    /// `--json`.
    pub(crate) json: Option<Sink>,
    /// `--trace`.
    pub(crate) trace: Option<Sink>,
    /// `--report`.
    pub(crate) report: Option<Sink>,
    /// Whether something else than the table goes to standard output, so that the table is left
    /// out.
    pub(crate) taken: bool,
}

impl Sinks {
    /// Opens them; `model`, `program` and `proof` are the places of `--model`, `--write-model` and
    /// `--proof`.
    ///
    /// # Errors
    /// A path that cannot be written, two files at one place, several outputs on standard output.
    pub(crate) fn open(
        args: &SelectionArgs,
        trace: Option<&PathBuf>,
        (model, program, proof): (Option<&Sink>, Option<&Sink>, Option<&Sink>),
    ) -> Result<Self, Failure> {
        let json = Sink::open_if("--json", args.json.as_ref())?;
        let trace = Sink::open_if("--trace", trace)?;
        let report = Sink::open_if("--report", args.report.as_ref())?;
        let outputs = [
            ("--json", json.as_ref()),
            ("--proof", proof),
            ("--model", model),
            ("--report", report.as_ref()),
            ("--trace", trace.as_ref()),
            ("--write-model", program),
        ];
        Sink::apart(&outputs)?;
        let taken = outputs.iter().filter_map(|output| output.1).any(Sink::is_stdout);
        Ok(Self { json, trace, report, taken })
    }
}

/// Where `study`, `markers` and `compare` write.
pub(crate) struct PanelSinks {
    /// `--json`.
    pub(crate) json: Option<Sink>,
    /// `--report`.
    pub(crate) page: Option<Sink>,
    /// `--model`.
    pub(crate) model: Option<ModelSink>,
    /// `--panel`.
    pub(crate) panel: Option<Sink>,
    /// Whether something else than the summary goes to standard output, so that the summary is left
    /// out.
    pub(crate) taken: bool,
}

impl PanelSinks {
    /// Opens them.
    pub(crate) fn open(
        (json, page): (Option<&PathBuf>, Option<&PathBuf>),
        model: Option<&ModelArgs>,
        (proof, panel): (Option<&PathBuf>, Option<&PathBuf>),
    ) -> Result<Self, Failure> {
        let proof = proof_file(proof)?;
        let panel = Sink::open_if("--panel", panel)?;
        let json = Sink::open_if("--json", json)?;
        let page = Sink::open_if("--report", page)?;
        let model = model.map_or(Ok(None), ModelSink::open)?;
        let outputs = [
            ("--json", json.as_ref()),
            ("--report", page.as_ref()),
            ("--model", model.as_ref().map(ModelSink::sink)),
            ("--panel", panel.as_ref()),
            ("--proof", proof.as_ref()),
        ];
        Sink::apart(&outputs)?;
        let taken = outputs.iter().filter_map(|output| output.1).any(Sink::is_stdout);
        Ok(Self { json, page, model, panel, taken })
    }
}

/// The place of `--proof`, checked before the run.
pub(crate) fn proof_sink(options: &MethodOptions) -> Result<Option<Sink>, Failure> {
    proof_file(options.value::<PathBuf>("proof").as_ref())
}

fn proof_file(path: Option<&PathBuf>) -> Result<Option<Sink>, Failure> {
    let sink = Sink::open_if("--proof", path)?;
    match &sink {
        None | Some(Sink::File(_)) => Ok(sink),
        Some(Sink::Stdout | Sink::Stream(_)) => {
            Err(Failure::input("--proof needs a file, which takes its place when it is complete; name one"))
        }
    }
}
