//! `study --proof`: the proof of the panel, as `fewest certify` writes it for the same list, rules and cost.

use std::ffi::OsString;
use std::path::Path;

use fewest_eval::study::{Panel, StudySettings};
use serde_json::Value;

use crate::cli::{CertifyArgs, StoryArgs, StudyArgs, parse};
use crate::commands::certify_list;
use crate::commands::invocation::Invocation;
use crate::failure::Failure;
use crate::terminal::{Level, Terminal};

/// Writes the proof of a panel with these names; none where its classifier has a kernel, of which there is
/// no such proof.
pub(super) fn write(
    args: &StudyArgs,
    path: &Path,
    settings: &StudySettings,
    panel: &Panel,
    names: &[String],
    invocation: &Invocation,
) -> Result<Option<String>, Failure> {
    if panel.report.kernel != fewest::Kernel::Linear {
        invocation
            .terminal
            .warn("no proof was written: the panel's classifier has a kernel, and such proofs are of linear ones");
        return Ok(None);
    }
    let quoted = |name: &String| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let features: Vec<String> = names.iter().map(quoted).collect();
    let mut rules = args.rules.clone();
    rules.max_features = Some(panel.choice.max_features.to_string());
    let list = CertifyArgs {
        data: args.data.clone(),
        features,
        groups: args.groups.clone(),
        prepare: args.prepare.clone(),
        rules,
        time_limit: Some(args.time_limit),
        json: None,
        report: None,
        story: StoryArgs { trace: None, describe: false },
    };
    let options = parse(&words(args, path, settings, panel)).ok().and_then(|line| line.method);
    let options = options.ok_or_else(|| Failure::Broken("the options of the proof do not fit certify".to_owned()))?;
    let quiet = invocation.told_by(Terminal::new(Level::Quiet));
    certify_list::prove(&list, &options, &quiet)
}

/// The command of the search, for its options: the data and the list are given apart.
fn words(args: &StudyArgs, path: &Path, settings: &StudySettings, panel: &Panel) -> Vec<OsString> {
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let svm = &settings.svm;
    let values = [
        ("--cost", panel.choice.cost.unwrap_or(panel.choice.fit_cost).to_string()),
        ("--loss", text(serde_json::json!(svm.loss))),
        ("--bias", text(serde_json::json!(svm.bias))),
        ("--tolerance", svm.tolerance.to_string()),
        ("--class-weight", args.margin.class_weight().text()),
        ("--gap", args.gap.to_string()),
        ("--node-limit", settings.proof_nodes.to_string()),
        ("--solutions", "1".to_owned()),
    ];
    let mut words: Vec<OsString> = ["fewest", "certify", "-", "--features", "x"].map(OsString::from).to_vec();
    words.extend(values.into_iter().map(|(option, value)| format!("{option}={value}").into()));
    words.extend(["--proof".into(), path.into()]);
    words
}
