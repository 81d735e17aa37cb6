//! What Python asks for: the methods with their settings, as dictionaries, and how each is called.

use std::time::Duration;

use fewest::kernel_oracle::{Criterion, KernelRule};
use fewest::method::eb_rfe::{EbRfeSettings, eb_rfe};
use fewest::method::exact::{ExactSettings, exact};
use fewest::method::fgm::{FgmSettings, Mkl, Source, fgm_from};
use fewest::method::flip::{Flip, FlipSettings, flip};
use fewest::method::fsv::{FsvSettings, fsv};
use fewest::method::gbd::{self, GbdSettings};
use fewest::method::info_gain::{Binning, information_gain};
use fewest::method::kta::{self, KtaSettings};
use fewest::method::l1_svm::{L1Settings, l1_svm};
use fewest::method::lagrangian::{LagrangianSettings, lagrangian};
use fewest::method::mbp::{MbpSettings, mbp};
use fewest::method::rfe::{RfeSettings, Step, rfe_classes};
use fewest::validation::Folds;
use fewest::{
    Bias, Classified, Design, Error, Kernel, Limits, Loss, Observer, Problem, Rules, Subset, SvmSettings, check_values,
};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::labels;

/// An SVM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Svm {
    cost: f64,
    loss: Loss,
    /// Value of the constant feature whose weight is the bias; 0: no bias; none: a bias that is not penalised.
    bias: Option<f64>,
    tolerance: f64,
    max_epochs: Option<u64>,
    memory: Option<u64>,
}

impl Svm {
    /// Checked.
    pub(crate) fn settings(&self) -> Result<SvmSettings, Error> {
        let base = SvmSettings::default();
        let settings = SvmSettings {
            cost: self.cost,
            loss: self.loss,
            bias: bias(self.bias),
            tolerance: self.tolerance,
            max_epochs: self.max_epochs.unwrap_or(base.max_epochs),
            memory: self.memory.unwrap_or(base.memory),
        };
        settings.check()?;
        Ok(settings)
    }
}

/// Folds, and how many samples each sample counts as in their accuracy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FoldList {
    of: Vec<u32>,
    weights: Vec<f64>,
}

impl FoldList {
    fn folds(&self) -> Result<Folds, Error> {
        Folds::new(self.of.clone())?.weighted(&self.weights)
    }
}

/// A method and its settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Method {
    /// SVM-RFE.
    Rfe { svm: Svm, kernel: Kernel, criterion: Criterion, step: Step },
    /// EB-RFE.
    EbRfe {
        svm: Svm,
        kernel: Kernel,
        criterion: Criterion,
        candidates: usize,
        adaptive: Option<f64>,
        costs: Vec<f64>,
        folds: FoldList,
    },
    /// Bit-Flip, Attribute-Flip.
    Flip {
        flip: Flip,
        svm: Svm,
        kernel: Kernel,
        costs: Vec<f64>,
        folds: FoldList,
        passes: Option<u64>,
        start: Vec<usize>,
    },
    /// Information gain; no bins: Fayyad and Irani.
    InfoGain { bins: Option<usize> },
    /// Branch and bound.
    Exact { svm: Svm, penalty: Vec<f64>, solutions: usize, start: Vec<Vec<usize>> },
    /// Generalized Benders Decomposition.
    Gbd { svm: Svm, penalty: Vec<f64>, max_cuts: Option<u64>, plain: bool },
    /// Kernel-target alignment.
    Kta { gamma: f64, solutions: usize },
    /// Feature generating machine.
    Fgm { cost: f64, bias: Option<f64>, simple: bool, subset_size: Option<usize>, plain: bool, tolerance: f64 },
    /// L1-SVM.
    L1Svm { svm: Svm },
    /// Concave minimisation.
    Fsv { lambda: f64, alpha: f64, starts: usize, seed: u64, max_steps: usize },
    /// L1-SVM with a price per feature.
    Mbp { cost: f64, bias: Option<f64>, penalty: Vec<f64>, weight_bound: Option<f64>, plain: bool },
    /// The same by the bundle method.
    Lagrangian {
        cost: f64,
        bias: Option<f64>,
        penalty: Vec<f64>,
        weight_bound: Option<f64>,
        epsilon: f64,
        max_steps: u64,
        tolerance: f64,
        restricted_seconds: f64,
    },
}

/// A bias as Python says it; see [`Svm`].
fn bias(s: Option<f64>) -> Bias {
    match s {
        None => Bias::Free,
        Some(0.0) => Bias::None,
        Some(s) => Bias::Penalised(s),
    }
}

impl Method {
    /// Runs the feature generating machine on columns that may be elsewhere. `codes`: class of each sample, `weights`: its weight.
    pub(crate) fn select_from(
        self,
        source: &dyn Source,
        codes: &[u32],
        weights: &[f64],
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Answer, Error> {
        let Method::Fgm { cost, bias: s, simple, subset_size, plain, tolerance } = self else {
            return Err(Error::Data("columns elsewhere are for the feature generating machine alone".into()));
        };
        let mkl = if simple { Mkl::Simple } else { Mkl::Fast };
        let base = FgmSettings::default();
        let settings = FgmSettings { cost, bias: bias(s), mkl, reuse: !plain, subset_size, tolerance, ..base };
        let report = fgm_from(source, &labels(codes), Some(weights), rules, &settings, limits, observer)?;
        let shares: Vec<f64> = report.kept.iter().map(|k| k.share).collect();
        let rounds: Vec<_> = (report.rounds.iter())
            .map(|r| json!({ "upper": r.upper, "lower": r.lower, "subsets": r.subsets, "kept": r.kept }))
            .collect();
        let model = Some(report.model());
        Ok(Answer { model, more: json!({ "shares": shares, "rounds": rounds }), ..report.selection.into() })
    }

    /// The settings of SVM-RFE.
    pub(crate) fn rfe(self) -> Result<RfeSettings, Error> {
        let Method::Rfe { svm, kernel, criterion, step } = self else {
            return Err(Error::setting("name", "another method", "rfe"));
        };
        Ok(RfeSettings { svm: svm.settings()?, kernel: kernel.into(), criterion, step, tuning: None })
    }

    /// Runs the method. `codes`: class of each sample, `weights`: its weight.
    pub(crate) fn select(
        self,
        design: &dyn Design,
        codes: &[u32],
        weights: &[f64],
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Answer, Error> {
        let two = || Problem::new(design, &labels(codes), Some(weights));
        let many = || Classified::new(design, codes, Some(weights));
        Ok(match self {
            Method::Rfe { .. } => rfe_classes(&many()?, rules, &self.rfe()?, limits, observer)?.selection.into(),
            Method::EbRfe { svm, kernel, criterion, candidates, adaptive, costs, folds } => {
                let (svm, kernel, folds) = (svm.settings()?, KernelRule::from(kernel), folds.folds()?);
                let settings = EbRfeSettings { svm, kernel, criterion, candidates, adaptive, costs, folds };
                let report = eb_rfe(&many()?, rules, &settings, None, &mut |_| {}, limits, observer)?;
                let more = json!({ "cost": report.cost, "curve": report.curve, "trainings": report.trainings });
                Answer { more, ..report.selection.into() }
            }
            Method::Flip { flip: kind, svm, kernel, costs, folds, passes, start } => {
                let (svm, kernel, folds) = (svm.settings()?, KernelRule::from(kernel), folds.folds()?);
                let settings = FlipSettings { flip: kind, svm, kernel, costs, folds, passes };
                let start = Subset::from_indices(rules.p(), start);
                let report = flip(&many()?, rules, &start, &settings, limits, observer)?;
                let more = json!({
                    "cost": report.cost, "start": report.start, "passes": report.passes, "trainings": report.trainings,
                });
                Answer { more, ..report.selection.into() }
            }
            Method::InfoGain { bins } => {
                let binning = bins.map_or(Binning::Mdl, Binning::EqualFrequency);
                information_gain(design, codes, weights, rules, binning, limits, observer)?.into()
            }
            Method::Exact { svm, penalty, solutions, start } => {
                let start = start.into_iter().map(|s| Subset::from_indices(rules.p(), s)).collect();
                let settings = ExactSettings { svm: svm.settings()?, penalty, solutions, start };
                exact(&two()?, rules, &settings, limits, observer)?.into()
            }
            Method::Gbd { svm, penalty, max_cuts, plain } => {
                let base = if plain { GbdSettings::plain() } else { GbdSettings::default() };
                let max_cuts = max_cuts.unwrap_or(base.max_cuts);
                let settings = GbdSettings { svm: svm.settings()?, penalty, max_cuts, ..base };
                gbd::gbd(&two()?, rules, &settings, limits, observer)?.selection.into()
            }
            Method::Kta { gamma, solutions } => {
                let settings = KtaSettings { gamma, solutions, ..KtaSettings::default() };
                kta::kta(design, codes, weights, rules, &settings, limits, observer)?.into()
            }
            fgm @ Method::Fgm { .. } => {
                check_values(design, 0)?;
                fgm.select_from(&design, codes, weights, rules, limits, observer)?
            }
            Method::L1Svm { svm } => {
                let settings = L1Settings { svm: svm.settings()?, costs: Vec::new() };
                let report = l1_svm(&two()?, rules, &settings, limits, observer)?;
                Answer { model: report.model(), ..report.selection.into() }
            }
            Method::Fsv { lambda, alpha, starts, seed, max_steps } => {
                let settings = FsvSettings { lambda, alpha, starts, seed, max_steps };
                let report = fsv(&two()?, rules, &settings, limits, observer)?;
                Answer { model: report.model(), more: json!({ "starts": report.steps }), ..report.selection.into() }
            }
            Method::Mbp { cost, bias: s, penalty, weight_bound, plain } => {
                let settings =
                    MbpSettings { cost, bias: bias(s), penalty, weight_bound, plain, ..MbpSettings::default() };
                let report = mbp(&two()?, rules, &settings, limits, observer)?;
                let more = json!({ "relaxation": report.relaxation, "removed": report.removed });
                Answer { model: report.model(), more, ..report.selection.into() }
            }
            Method::Lagrangian {
                cost,
                bias: s,
                penalty,
                weight_bound,
                epsilon,
                max_steps,
                tolerance,
                restricted_seconds,
            } => {
                let program = MbpSettings { cost, bias: bias(s), penalty, weight_bound, ..MbpSettings::default() };
                let restricted_time = Duration::try_from_secs_f64(restricted_seconds).map_err(|_| {
                    Error::setting("restricted_seconds", restricted_seconds, "a number of seconds, 0 or more")
                })?;
                let settings = LagrangianSettings { program, epsilon, max_steps, tolerance, restricted_time };
                let report = lagrangian(&two()?, rules, &settings, limits, observer)?;
                let more = json!({
                    "relaxation": report.found.relaxation, "removed": report.found.removed,
                    "lagrangian_bound": report.dual, "steps": report.steps,
                });
                Answer { model: report.found.model(), more, ..report.found.selection.into() }
            }
        })
    }
}
