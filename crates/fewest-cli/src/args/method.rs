//! The methods on the command line: which options each has, what they mean, how it is called, and what its settings are in
//! a result. A new method is entered here, and described in [`crate::commands::methods`]; nothing else names methods.

use std::path::Path;
#[cfg(feature = "highs")]
use std::sync::Arc;

use fewest::method::conic;
use fewest::method::eb_rfe::EbRfeSettings;
use fewest::method::exact::{self, ExactSettings};
use fewest::method::fgm::{self, FgmSettings, Mkl};
use fewest::method::flip::Flip;
#[cfg(feature = "highs")]
use fewest::method::fsv::{self, FsvSettings};
#[cfg(feature = "highs")]
use fewest::method::gbd::{self, GbdReport, GbdSettings, Validation};
use fewest::method::info_gain::{self, Binning};
use fewest::method::kta::{self, KtaSettings};
use fewest::method::l1_svm::{self, L1Settings};
#[cfg(feature = "highs")]
use fewest::method::lagrangian::{self, LagrangianSettings};
#[cfg(feature = "highs")]
use fewest::method::mbp::{self, MbpSettings};
#[cfg(feature = "highs")]
use fewest::method::milo_k::{self, BigM, Formulation, MiloSettings};
#[cfg(feature = "highs")]
use fewest::method::milp::{self, MilpSettings};
use fewest::method::path::{self, PathPoint};
use fewest::method::rfe::RfeSettings;
use fewest::model::Model;
use fewest::{Bias, Classified, Kernel, Limits, Loss, Observer, Problem, Rules, Selection, Subset, SvmSettings};
use fewest_data::Names;
use serde_json::{Map, Value, json};

use super::elimination::{self, AskedEbRfe, AskedFlip, AskedRfe, FlipFrom};
#[cfg(feature = "highs")]
use super::low::LpArg;
use super::low::{LossArg, SelectionArgs, SvmArgs};
use super::rules::Features;
use super::values::{Gamma, Penalty, binning, mkl, priced, solutions};
#[cfg(feature = "highs")]
use super::values::{at_least_one, lp_name, milo};
use super::{high, l1 as family, notation, options};
use crate::commands::methods;
#[cfg(feature = "highs")]
use crate::commands::prepare::HeldOut;
use crate::commands::prepare::Prepared;
use crate::commands::resume::Resume;
use crate::failure::Failure;

/// A method with its options, checked as far as that needs no data.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    /// SVM-RFE.
    Rfe(AskedRfe),
    /// EB-RFE.
    EbRfe(AskedEbRfe),
    /// Bit-Flip or Attribute-Flip.
    Flip(AskedFlip),
    /// Information gain.
    InfoGain(Binning),
    /// L1-SVM.
    L1(L1Settings),
    /// Concave minimisation.
    #[cfg(feature = "highs")]
    Fsv(FsvSettings),
    /// L1-SVM with a price per feature.
    #[cfg(feature = "highs")]
    Mbp {
        /// D.
        penalty: Penalty,
        /// The program, but for D.
        settings: MbpSettings,
        /// By the bundle method.
        lagrangian: bool,
    },
    /// Branch and bound.
    Exact {
        /// Added per chosen feature.
        penalty: Penalty,
        /// How many best subsets.
        solutions: usize,
    },
    /// Kernel-target alignment.
    Kta {
        /// How gamma is found.
        gamma: Gamma,
        /// How many best subsets.
        solutions: usize,
    },
    /// Kernel-target alignment as a mixed-integer program.
    #[cfg(feature = "highs")]
    Milo {
        /// How gamma is found.
        gamma: Gamma,
        /// The program, but for gamma.
        settings: MiloSettings,
    },
    /// A linear classifier as a mixed-integer program; the cost of MILP2 is that of the SVM.
    #[cfg(feature = "highs")]
    Milp(MilpSettings),
    /// Generalized Benders Decomposition.
    #[cfg(feature = "highs")]
    Gbd {
        /// Added per chosen feature.
        penalty: Penalty,
        /// Cap on cuts.
        max_cuts: Option<u64>,
        /// Subsets without a smaller validation error before it stops.
        patience: Option<u64>,
        /// The paper's text, without improvements.
        plain: bool,
    },
    /// Feature generating machine.
    Fgm {
        /// Size of each generated subset.
        subset_size: Option<usize>,
        /// Solver of multiple kernel learning.
        mkl: Mkl,
        /// The paper's text, without improvements.
        plain: bool,
    },
    /// QCQP-SSVM.
    Qcqp,
    /// Non-monotonic feature selection.
    Nmmkl,
}

/// A method with all its settings.
#[derive(Debug)]
pub(crate) enum Method {
    /// SVM-RFE.
    Rfe(Box<RfeSettings>),
    /// EB-RFE.
    EbRfe(Box<EbRfeSettings>),
    /// Bit-Flip or Attribute-Flip.
    Flip(Box<FlipFrom>),
    /// Information gain.
    InfoGain(Binning),
    /// L1-SVM.
    L1(L1Settings),
    /// Concave minimisation.
    #[cfg(feature = "highs")]
    Fsv(FsvSettings),
    /// L1-SVM with a price per feature.
    #[cfg(feature = "highs")]
    Mbp(MbpSettings),
    /// The same by the bundle method.
    #[cfg(feature = "highs")]
    Lagrangian(Box<LagrangianSettings>),
    /// Branch and bound.
    Exact(ExactSettings),
    /// Kernel-target alignment, and the rule that gamma came from.
    Kta(KtaSettings, Gamma),
    /// Kernel-target alignment as a mixed-integer program, and the rule that gamma came from.
    #[cfg(feature = "highs")]
    Milo(MiloSettings, Gamma),
    /// A linear classifier as a mixed-integer program.
    #[cfg(feature = "highs")]
    Milp(MilpSettings),
    /// Generalized Benders Decomposition.
    #[cfg(feature = "highs")]
    Gbd(Box<GbdSettings>),
    /// Feature generating machine.
    Fgm(FgmSettings),
    /// QCQP-SSVM.
    Qcqp(SvmSettings),
    /// Non-monotonic feature selection.
    Nmmkl(SvmSettings),
}

/// What a method found.
pub(crate) struct Found {
    /// The subset of best objective, with its bound.
    pub(crate) selection: Selection,
    /// The method's own classifier, where it is not the SVM trained on the subset.
    pub(crate) model: Option<Model>,
    /// The subset of smallest error on the samples held out, where there are any.
    pub(crate) validated: Option<Validated>,
    /// The cost that was tuned, for the SVM on the subset.
    pub(crate) cost: Option<f64>,
    /// Entries of the result that the method alone has.
    pub(crate) more: Map<String, Value>,
}

impl From<Selection> for Found {
    fn from(selection: Selection) -> Self {
        Self { selection, model: None, validated: None, cost: None, more: Map::new() }
    }
}

impl Found {
    /// With the method's own classifier, which is none where it has no feature.
    pub(super) fn new(model: Option<Model>, more: Map<String, Value>, selection: Selection) -> Self {
        Self { model: model.filter(|m| !m.features.is_empty()), more, ..selection.into() }
    }
}

/// The subset whose classifier errs least on the samples held out.
pub(crate) struct Validated {
    /// The subset.
    pub(crate) subset: Subset,
    /// Its objective on the samples trained on.
    pub(crate) objective: f64,
    /// Share of the held-out samples that its classifier gets wrong.
    pub(crate) error: f64,
    /// The same of the subset of best objective.
    pub(crate) error_of_best: Option<f64>,
    /// Subsets judged.
    pub(crate) judged: usize,
}

#[cfg(feature = "highs")]
impl Validated {
    fn of(report: &GbdReport) -> Option<Self> {
        let trained = &report.trained[report.best_validated?];
        let best = report.selection.outcome.subset.as_ref();
        Some(Self {
            subset: trained.subset.clone(),
            objective: trained.objective,
            error: trained.validation_error?,
            error_of_best: report.trained.iter().find(|t| Some(&t.subset) == best).and_then(|t| t.validation_error),
            judged: report.trained.len(),
        })
    }
}

impl Asked {
    /// The method asked for, with its own options.
    ///
    /// # Errors
    /// An unknown method, an option that belongs to another method, or a value out of range.
    pub(crate) fn read(args: &SelectionArgs) -> Result<Self, Failure> {
        let name = methods::find(&args.method)?.name;
        options::check(args, name)?;
        let own = &args.own;
        Ok(match name {
            "rfe" => Asked::Rfe(AskedRfe::read(args.svm.kernel, own)?),
            "eb-rfe" => Asked::EbRfe(AskedEbRfe::read(args.svm.kernel, own)?),
            "bit-flip" => Asked::Flip(AskedFlip::read(Flip::Bit, &args.svm, own)?),
            "attribute-flip" => Asked::Flip(AskedFlip::read(Flip::Attribute, &args.svm, own)?),
            "info-gain" => Asked::InfoGain(binning(own.binning.as_deref())?),
            "l1-svm" => Asked::L1(family::l1(args)?),
            #[cfg(feature = "highs")]
            "fsv" => Asked::Fsv(family::fsv(args)?),
            #[cfg(feature = "highs")]
            "mbp" | "lagrangian" => Asked::Mbp {
                penalty: Penalty::read(own)?,
                settings: family::mbp(args, name)?,
                lagrangian: name == "lagrangian",
            },
            "exact" => Asked::Exact { penalty: Penalty::read(own)?, solutions: solutions(own)? },
            "kta" => Asked::Kta { gamma: Gamma::read(own.gamma.as_deref())?, solutions: solutions(own)? },
            #[cfg(feature = "highs")]
            "milo-k" | "rmilo-k" => Asked::Milo {
                gamma: Gamma::read(own.gamma.as_deref())?,
                settings: MiloSettings { memory: high::read_options(&args.data)?.memory(), ..milo(name, own) },
            },
            #[cfg(feature = "highs")]
            "milp1" | "milp2" => {
                let settings = MilpSettings {
                    formulation: if name == "milp1" {
                        milp::Formulation::Milp1 { weight_bound: own.weight_bound.unwrap_or(1.0) }
                    } else {
                        milp::Formulation::Milp2 { cost: args.svm.cost }
                    },
                    start: !own.plain,
                    interior: own.lp == Some(LpArg::Interior),
                    memory: high::read_options(&args.data)?.memory(),
                };
                settings.check()?;
                Asked::Milp(settings)
            }
            #[cfg(feature = "highs")]
            "gbd" => Asked::Gbd {
                penalty: Penalty::read(own)?,
                max_cuts: at_least_one("max-cuts", own.max_cuts)?,
                patience: at_least_one("patience", own.patience)?,
                plain: own.plain,
            },
            "fgm" => Asked::Fgm { subset_size: own.subset_size, mkl: mkl(own), plain: own.plain },
            "qcqp-ssvm" => Asked::Qcqp,
            "nmmkl" => Asked::Nmmkl,
            other => unreachable!("{other} is described, but has no arm here"),
        })
    }

    /// The SVM of the method: what is typed, and the method's own defaults for what is not.
    ///
    /// # Errors
    /// A value out of range, or one that the method does not have.
    pub(crate) fn svm(&self, args: &SvmArgs) -> Result<SvmSettings, Failure> {
        let mut svm = high::svm(args)?;
        if let Asked::Fgm { .. } = self {
            if args.loss == Some(LossArg::Hinge) {
                return Err(Failure::input("fgm has --loss squared-hinge only; leave --loss out"));
            }
            svm.loss = Loss::SquaredHinge;
            if args.bias.is_none() {
                svm.bias = Bias::None;
            }
        }
        if *self == Asked::Nmmkl && args.loss.is_none() {
            svm.loss = Loss::SquaredHinge;
        }
        Ok(svm)
    }

    /// Whether `--seed` deals samples into folds.
    pub(crate) fn deals_folds(&self) -> bool {
        matches!(self, Asked::Rfe(_) | Asked::EbRfe(_) | Asked::Flip(_))
    }

    /// Whether the method finds a size by itself, so that no rule need bound it.
    pub(crate) fn finds_size(&self) -> bool {
        let penalty = match self {
            Asked::Rfe(_) | Asked::InfoGain(_) | Asked::Qcqp | Asked::Nmmkl => return false,
            Asked::Fgm { subset_size, .. } => return subset_size.is_some(),
            Asked::Kta { .. } | Asked::EbRfe(_) | Asked::L1(_) => return true,
            #[cfg(feature = "highs")]
            Asked::Milo { .. } | Asked::Milp(_) | Asked::Fsv(_) => return true,
            Asked::Flip(asked) => return asked.start.is_some(),
            Asked::Exact { penalty, .. } => penalty,
            #[cfg(feature = "highs")]
            Asked::Gbd { penalty, .. } | Asked::Mbp { penalty, .. } => penalty,
        };
        !matches!(penalty, Penalty::None)
    }

    /// The settings, now that there are data, the size has a limit and the SVM its memory.
    ///
    /// # Errors
    /// A name that is no feature, a feature without a penalty, or values from which no gamma can be found.
    pub(crate) fn resolve(
        &self,
        svm: &SvmSettings,
        prepared: &Prepared,
        max_features: Option<usize>,
    ) -> Result<Method, Failure> {
        let (svm, features) = (svm.clone(), &Features::new(&prepared.data.names));
        Ok(match self {
            Asked::Rfe(asked) => Method::Rfe(Box::new(asked.resolve(svm, prepared, max_features)?)),
            Asked::EbRfe(asked) => Method::EbRfe(Box::new(asked.resolve(svm, prepared, max_features)?)),
            Asked::Flip(asked) => Method::Flip(Box::new(asked.resolve(svm, prepared, max_features)?)),
            Asked::InfoGain(binning) => Method::InfoGain(*binning),
            Asked::L1(settings) => Method::L1(L1Settings { svm, costs: settings.costs.clone() }),
            #[cfg(feature = "highs")]
            Asked::Fsv(settings) => Method::Fsv(*settings),
            #[cfg(feature = "highs")]
            Asked::Mbp { penalty, settings, lagrangian } => {
                let program = MbpSettings { penalty: penalty.resolve(features)?, ..settings.clone() };
                if *lagrangian {
                    Method::Lagrangian(Box::new(LagrangianSettings { program, ..LagrangianSettings::default() }))
                } else {
                    Method::Mbp(program)
                }
            }
            Asked::Exact { penalty, solutions } => {
                let (penalty, solutions) = (penalty.resolve(features)?, *solutions);
                Method::Exact(ExactSettings { svm, penalty, solutions, ..ExactSettings::default() })
            }
            Asked::Kta { gamma: rule, solutions } => {
                let gamma = rule.find(prepared.data.features.as_design(), max_features.unwrap_or(features.len()))?;
                let settings =
                    KtaSettings { gamma, solutions: *solutions, memory: svm.memory, ..KtaSettings::default() };
                settings.check()?;
                Method::Kta(settings, *rule)
            }
            #[cfg(feature = "highs")]
            Asked::Milo { gamma: rule, settings } => {
                let gamma = rule.find(prepared.data.features.as_design(), max_features.unwrap_or(features.len()))?;
                let settings = MiloSettings { gamma, ..settings.clone() };
                settings.check()?;
                Method::Milo(settings, *rule)
            }
            #[cfg(feature = "highs")]
            Asked::Milp(settings) => Method::Milp(settings.clone()),
            #[cfg(feature = "highs")]
            Asked::Gbd { penalty, max_cuts, patience, plain } => {
                let base = if *plain { GbdSettings::plain() } else { GbdSettings::default() };
                let (penalty, max_cuts) = (penalty.resolve(features)?, max_cuts.unwrap_or(base.max_cuts));
                let judge = |held: &HeldOut| Validation {
                    design: Arc::clone(&held.design),
                    labels: held.labels.clone(),
                    patience: *patience,
                };
                let validation = prepared.held_out.as_ref().map(judge);
                Method::Gbd(Box::new(GbdSettings { svm, penalty, max_cuts, validation, ..base }))
            }
            Asked::Qcqp => Method::Qcqp(svm),
            Asked::Nmmkl => Method::Nmmkl(svm),
            Asked::Fgm { subset_size, mkl, plain } => {
                let SvmSettings { cost, bias, tolerance, memory, .. } = svm;
                let (mkl, subset_size) = (*mkl, *subset_size);
                Method::Fgm(FgmSettings { cost, bias, mkl, reuse: !plain, subset_size, tolerance, memory })
            }
        })
    }
}

impl Method {
    /// Runs the method; `resume` is where a long run keeps how far it has come, and goes on from.
    ///
    /// # Errors
    /// Data that the method cannot take.
    pub(crate) fn select(
        &self,
        prepared: &Prepared,
        rules: &Rules,
        resume: Option<&Resume>,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Found, Failure> {
        Ok(match self {
            Method::Rfe(settings) => elimination::rfe(settings, &classified(prepared)?, rules, limits, observer)?,
            Method::EbRfe(settings) => {
                elimination::eb_rfe(settings, &classified(prepared)?, prepared, rules, resume, limits, observer)?
            }
            Method::Flip(settings) => settings.run(&classified(prepared)?, rules, limits, observer)?,
            Method::InfoGain(binning) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                info_gain::information_gain(design, classes, &prepared.weights, rules, *binning, limits, observer)?
                    .into()
            }
            Method::L1(settings) => {
                l1_svm::l1_svm(&two_classes(prepared, "l1-svm")?, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Fsv(settings) => {
                fsv::fsv(&two_classes(prepared, "fsv")?, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Mbp(settings) => {
                mbp::mbp(&two_classes(prepared, "mbp")?, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Lagrangian(settings) => {
                let problem = two_classes(prepared, "lagrangian")?;
                lagrangian::lagrangian(&problem, rules, settings, limits, observer)?.into()
            }
            Method::Exact(settings) => {
                exact::exact(&two_classes(prepared, "exact")?, rules, settings, limits, observer)?.into()
            }
            Method::Kta(settings, _) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                kta::kta(design, classes, &prepared.weights, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Milo(settings, _) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                milo_k::milo(design, classes, &prepared.weights, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Milp(settings) => {
                let problem = two_classes(prepared, settings.formulation.name())?;
                milp::milp(&problem, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => {
                let report = gbd::gbd(&two_classes(prepared, "gbd")?, rules, settings, limits, observer)?;
                let validated = Validated::of(&report);
                Found { validated, ..report.selection.into() }
            }
            Method::Fgm(settings) => {
                let report = fgm::fgm(&two_classes(prepared, "fgm")?, rules, settings, limits, observer)?;
                Found::new(Some(report.model()), Map::new(), report.selection)
            }
            Method::Qcqp(svm) => {
                conic::qcqp_ssvm(&two_classes(prepared, "qcqp-ssvm")?, rules, svm, limits, observer)?.selection.into()
            }
            Method::Nmmkl(svm) => {
                conic::nmmkl(&two_classes(prepared, "nmmkl")?, rules, svm, limits, observer)?.selection.into()
            }
        })
    }

    /// Writes the method's program for other solvers, whose format is that of the path's ending.
    ///
    /// # Errors
    /// Data that the method cannot take, a file that cannot be written.
    #[cfg_attr(
        not(feature = "highs"),
        expect(clippy::unused_self, unused_variables, reason = "no such method is built in")
    )]
    pub(crate) fn write_model(&self, prepared: &Prepared, rules: &Rules, path: &Path) -> Result<(), Failure> {
        #[cfg(feature = "highs")]
        match self {
            Method::Milo(settings, _) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                return Ok(milo_k::write_model(design, classes, &prepared.weights, rules, settings, path)?);
            }
            Method::Milp(settings) => {
                let problem = two_classes(prepared, settings.formulation.name())?;
                return Ok(milp::write_model(&problem, rules, settings, path)?);
            }
            Method::Mbp(settings) => {
                return Ok(mbp::write_model(&two_classes(prepared, "mbp")?, rules, settings, path)?);
            }
            _ => {}
        }
        unreachable!("--write-model is refused for other methods")
    }

    /// Runs the method for each size.
    ///
    /// # Errors
    /// Data that the method cannot take, or sizes out of range.
    pub(crate) fn path(
        &self,
        prepared: &Prepared,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<PathPoint>, Failure> {
        Ok(match self {
            Method::Rfe(settings) => {
                if settings.tuning.is_some() {
                    return Err(Failure::input(
                        "path has no rfe with --costs; use `fewest select` for each size, or leave out --costs",
                    ));
                }
                path::rfe_classes_path(&classified(prepared)?, rules, sizes, settings, limits, observer)?
            }
            Method::InfoGain(binning) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                path::information_gain_path(
                    design,
                    classes,
                    &prepared.weights,
                    rules,
                    sizes,
                    *binning,
                    limits,
                    observer,
                )?
            }
            Method::Exact(settings) => {
                path::exact_path(&two_classes(prepared, "exact")?, rules, sizes, settings, limits, observer)?
            }
            Method::Kta(settings, _) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                path::alignment_path(design, classes, &prepared.weights, rules, sizes, settings, limits, observer)?
            }
            #[cfg(feature = "highs")]
            Method::Milo(..) => {
                return Err(Failure::input(
                    "path has no milo-k or rmilo-k; use --method kta, which proves the same values, or `fewest select` for each size",
                ));
            }
            #[cfg(feature = "highs")]
            Method::Milp(settings) => {
                let name = settings.formulation.name();
                return Err(Failure::Input(format!("path has no {name}; use `fewest select` for each size")));
            }
            Method::EbRfe(_) => {
                return Err(Failure::input("path has no eb-rfe; the curve of `fewest select --json` holds every size"));
            }
            Method::Flip(_) => return Err(Failure::input("path has no flips; use `fewest select` for each size")),
            #[cfg(feature = "highs")]
            Method::Gbd(_) => {
                return Err(Failure::input(
                    "path has no gbd; use --method exact, which proves the same values, or `fewest select` for each size",
                ));
            }
            Method::L1(_) => {
                return Err(Failure::input(
                    "path has no l1-svm; `fewest select --costs` gives the whole grid in one run",
                ));
            }
            #[cfg(feature = "highs")]
            Method::Fsv(_) | Method::Mbp(_) | Method::Lagrangian(_) => {
                return Err(Failure::input("path has no fsv, mbp or lagrangian; use `fewest select` for each size"));
            }
            Method::Fgm(_) => {
                return Err(Failure::input("path has no fgm; use `fewest select --method fgm` for each size"));
            }
            Method::Qcqp(_) | Method::Nmmkl(_) => {
                return Err(Failure::input("path has no qcqp-ssvm or nmmkl; use `fewest select` for each size"));
            }
        })
    }

    /// The method's own entries in the settings of a result.
    pub(crate) fn settings(&self, names: &Names) -> Vec<(&'static str, Value)> {
        match self {
            Method::Rfe(settings) => elimination::rfe_settings(settings),
            Method::EbRfe(settings) => elimination::eb_rfe_settings(settings),
            Method::Flip(settings) => settings.settings(names),
            Method::InfoGain(Binning::Mdl) => vec![("binning", json!("mdl"))],
            Method::InfoGain(Binning::EqualFrequency(bins)) => vec![("binning", json!(bins))],
            Method::L1(settings) => family::l1_settings(settings),
            #[cfg(feature = "highs")]
            Method::Fsv(settings) => family::fsv_settings(settings),
            #[cfg(feature = "highs")]
            Method::Mbp(settings) => family::mbp_settings(settings, names),
            #[cfg(feature = "highs")]
            Method::Lagrangian(settings) => family::lagrangian_settings(settings, names),
            Method::Exact(settings) => {
                vec![("penalty", priced(&settings.penalty, names)), ("solutions", json!(settings.solutions))]
            }
            Method::Kta(settings, rule) => vec![
                ("gamma", json!(settings.gamma)),
                ("gamma_rule", json!(rule.text())),
                ("solutions", json!(settings.solutions)),
            ],
            #[cfg(feature = "highs")]
            Method::Milo(settings, rule) => {
                let mut own = vec![
                    ("gamma", json!(settings.gamma)),
                    ("gamma_rule", json!(rule.text())),
                    ("start", json!(settings.start)),
                    ("lp", json!(lp_name(settings.interior))),
                ];
                if let Formulation::Reduced(big) = settings.formulation {
                    own.push(("big_m", json!(if big == BigM::Tight { "tight" } else { "padded" })));
                }
                own
            }
            #[cfg(feature = "highs")]
            Method::Milp(settings) => {
                let mut own = vec![("start", json!(settings.start)), ("lp", json!(lp_name(settings.interior)))];
                if let milp::Formulation::Milp1 { weight_bound } = settings.formulation {
                    own.push(("weight_bound", json!(weight_bound)));
                }
                own
            }
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => vec![
                ("penalty", priced(&settings.penalty, names)),
                ("max_cuts", json!(settings.max_cuts)),
                ("patience", json!(settings.validation.as_ref().and_then(|v| v.patience))),
                ("warm_start", json!(settings.warm_start)),
                ("root_cuts", json!(settings.root_cuts)),
                ("core_cuts", json!(settings.core_cuts)),
                ("cutoff", json!(settings.cutoff)),
            ],
            Method::Fgm(settings) => {
                let size = ("subset_size", json!(settings.subset_size));
                vec![size, ("mkl", json!(settings.mkl)), ("reuse", json!(settings.reuse))]
            }
            Method::Qcqp(_) | Method::Nmmkl(_) => Vec::new(),
        }
    }

    /// Whether gap and node limit mean something to it.
    pub(crate) fn proves(&self) -> bool {
        #[cfg(feature = "highs")]
        if matches!(self, Method::Fsv(_)) {
            return false;
        }
        !matches!(self, Method::Rfe(_) | Method::EbRfe(_) | Method::Flip(_) | Method::InfoGain(_) | Method::L1(_))
    }

    /// What is added to the objective for each feature, length p; empty for nothing.
    pub(crate) fn penalty(&self) -> &[f64] {
        match self {
            Method::Exact(settings) => &settings.penalty,
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => &settings.penalty,
            #[cfg(feature = "highs")]
            Method::Mbp(settings) => &settings.penalty,
            #[cfg(feature = "highs")]
            Method::Lagrangian(settings) => &settings.program.penalty,
            _ => &[],
        }
    }

    /// The kernel of the SVM on what was selected, this many features.
    pub(crate) fn kernel(&self, features: usize) -> Kernel {
        match self {
            Method::Kta(settings, _) => Kernel::Rbf { gamma: settings.gamma },
            #[cfg(feature = "highs")]
            Method::Milo(settings, _) => Kernel::Rbf { gamma: settings.gamma },
            Method::Rfe(settings) => settings.kernel.at(features),
            Method::EbRfe(settings) => settings.kernel.at(features),
            Method::Flip(from) => from.flip.kernel.at(features),
            _ => Kernel::Linear,
        }
    }
}

/// The data as a problem of two or more classes.
///
/// # Errors
/// A class whose samples all have weight 0.
pub(crate) fn classified(prepared: &Prepared) -> Result<Classified<'_>, Failure> {
    Ok(Classified::new(prepared.data.features.as_design(), &prepared.target.codes, Some(&prepared.weights))?)
}

/// The data as a problem of two classes.
///
/// # Errors
/// More classes, or a class whose samples all have weight 0. `who` needs two.
pub(crate) fn two_classes<'a>(prepared: &'a Prepared, who: &str) -> Result<Problem<'a>, Failure> {
    let target = &prepared.target;
    if target.classes.len() != 2 {
        return Err(Failure::Input(format!(
            "{}: {who} needs two classes, but `{}` has {} ({}); keep two of them, or use --method rfe, kta or info-gain{}",
            prepared.data.source,
            target.column,
            target.classes.len(),
            notation::some(&target.classes),
            if who == "--certify" { " without it" } else { "" }
        )));
    }
    Ok(Problem::new(prepared.data.features.as_design(), &target.signs(), Some(&prepared.weights))?)
}
