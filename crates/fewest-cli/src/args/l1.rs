//! The L1 family on the command line: `l1-svm`, `fsv`, `mbp`, `lagrangian`.

#[cfg(feature = "highs")]
use fewest::method::fsv::{FsvReport, FsvSettings};
use fewest::method::l1_svm::{L1Report, L1Settings};
#[cfg(feature = "highs")]
use fewest::method::lagrangian::{LagrangianReport, LagrangianSettings};
#[cfg(feature = "highs")]
use fewest::method::mbp::{MbpReport, MbpSettings};
#[cfg(feature = "highs")]
use fewest::{Bias, Loss, SvmSettings};
#[cfg(feature = "highs")]
use fewest_data::Names;
use serde_json::{Map, Value, json};

use super::high;
use super::low::SelectionArgs;
use super::method::Found;
#[cfg(feature = "highs")]
use super::values::{at_least_one, lp_name, priced};
use crate::failure::Failure;

/// `l1-svm`: its SVM, and its costs.
pub(super) fn l1(args: &SelectionArgs) -> Result<L1Settings, Failure> {
    let costs = args.own.costs.as_deref().map(high::costs).transpose()?.unwrap_or_default();
    let settings = L1Settings { svm: high::svm(&args.svm)?, costs };
    settings.check()?;
    Ok(settings)
}

/// The SVM of a method that the hinge loss is part of.
#[cfg(feature = "highs")]
fn hinge_only(args: &SelectionArgs, name: &str) -> Result<SvmSettings, Failure> {
    let svm = high::svm(&args.svm)?;
    if svm.loss == Loss::Hinge {
        return Ok(svm);
    }
    Err(Failure::Input(format!("{name} has --loss hinge only; leave --loss out, or use --method l1-svm")))
}

/// `fsv`.
#[cfg(feature = "highs")]
pub(super) fn fsv(args: &SelectionArgs) -> Result<FsvSettings, Failure> {
    if hinge_only(args, "fsv")?.bias != Bias::Free {
        return Err(Failure::input("fsv has --bias free only; leave --bias out"));
    }
    let base = FsvSettings::default();
    let settings = FsvSettings {
        lambda: args.own.lambda.unwrap_or(base.lambda),
        starts: at_least_one("starts", args.own.starts)?.map_or(base.starts, |n| n as usize),
        seed: args.own.seed.unwrap_or(base.seed),
        ..base
    };
    settings.check()?;
    Ok(settings)
}

/// `mbp`, and the program of `lagrangian`; the penalties are found with the data.
#[cfg(feature = "highs")]
pub(super) fn mbp(args: &SelectionArgs, name: &str) -> Result<MbpSettings, Failure> {
    let svm = hinge_only(args, name)?;
    if args.own.lp.is_some() && !args.own.plain {
        return Err(Failure::Input(format!(
            "--lp has a meaning for {name} with --plain only; add it, or leave --lp out"
        )));
    }
    let settings = MbpSettings {
        cost: svm.cost,
        bias: svm.bias,
        penalty: Vec::new(),
        weight_bound: args.own.weight_bound,
        plain: args.own.plain,
        interior: args.own.lp == Some(super::low::LpArg::Interior),
        memory: high::read_options(&args.data)?.memory(),
    };
    settings.check(0)?;
    Ok(settings)
}

impl From<L1Report> for Found {
    fn from(report: L1Report) -> Self {
        let mut more = Map::new();
        if report.grid.len() > 1 {
            more.insert("cost".to_owned(), json!(report.cost));
            more.insert("grid".to_owned(), json!(report.grid));
        }
        Found::new(report.model(), more, report.selection)
    }
}

#[cfg(feature = "highs")]
impl From<FsvReport> for Found {
    fn from(report: FsvReport) -> Self {
        let more = Map::from_iter([("starts".to_owned(), json!(report.steps))]);
        Found::new(report.model(), more, report.selection)
    }
}

/// What `mbp` and `lagrangian` tell besides the subset.
#[cfg(feature = "highs")]
fn program(report: &MbpReport) -> Map<String, Value> {
    let left_out = report.weight_bounds.iter().filter(|u| **u == 0.0).count();
    Map::from_iter([
        ("relaxation".to_owned(), json!(report.relaxation)),
        ("features_without_bound".to_owned(), json!(left_out - report.removed)),
        ("features_removed".to_owned(), json!(report.removed)),
        ("linear_programs".to_owned(), json!(report.programs)),
    ])
}

#[cfg(feature = "highs")]
impl From<MbpReport> for Found {
    fn from(report: MbpReport) -> Self {
        Found::new(report.model(), program(&report), report.selection)
    }
}

#[cfg(feature = "highs")]
impl From<LagrangianReport> for Found {
    fn from(report: LagrangianReport) -> Self {
        let mut own = Map::from_iter([
            ("dual".to_owned(), json!(report.dual)),
            ("dual_ceiling".to_owned(), json!(report.ceiling)),
            ("program_seconds".to_owned(), json!(report.program_seconds)),
            ("steps".to_owned(), json!(report.steps)),
        ]);
        let mut found = Found::from(report.found);
        found.more.append(&mut own);
        found
    }
}

/// The settings of `l1-svm` in a result.
pub(super) fn l1_settings(settings: &L1Settings) -> Vec<(&'static str, Value)> {
    vec![("costs", if settings.costs.is_empty() { Value::Null } else { json!(settings.costs) })]
}

/// Those of `fsv`.
#[cfg(feature = "highs")]
pub(super) fn fsv_settings(settings: &FsvSettings) -> Vec<(&'static str, Value)> {
    vec![
        ("lambda", json!(settings.lambda)),
        ("alpha", json!(settings.alpha)),
        ("starts", json!(settings.starts)),
        ("seed", json!(settings.seed)),
    ]
}

/// Those of `mbp`.
#[cfg(feature = "highs")]
pub(super) fn mbp_settings(settings: &MbpSettings, names: &Names) -> Vec<(&'static str, Value)> {
    vec![
        ("penalty", priced(&settings.penalty, names)),
        ("weight_bound", json!(settings.weight_bound)),
        ("plain", json!(settings.plain)),
        ("lp", json!(lp_name(settings.interior))),
    ]
}

/// Those of `lagrangian`.
#[cfg(feature = "highs")]
pub(super) fn lagrangian_settings(settings: &LagrangianSettings, names: &Names) -> Vec<(&'static str, Value)> {
    let mut own = mbp_settings(&settings.program, names);
    own.retain(|entry| entry.0 != "lp");
    own.extend([("epsilon", json!(settings.epsilon)), ("max_steps", json!(settings.max_steps))]);
    own
}
