//! The elimination family on the command line: `rfe`, `eb-rfe`, `bit-flip` and `attribute-flip`.

use std::path::Path;

use fewest::kernel_oracle::{Criterion, KernelRule};
use fewest::method::eb_rfe::{self, EbRfeSettings, EbRfeState, EbStep};
use fewest::method::flip::{self, Flip, FlipSettings};
use fewest::method::rfe::{self, RfeSettings, Step, Tuning};
use fewest::validation::Folds;
use fewest::{Classified, Kernel, Limits, Observer, Rules, Subset, SvmSettings};
use fewest_data::Names;
use serde_json::{Value, json};

use super::high;
use super::low::{CriterionArg, KernelArg, OwnArgs, StepOf, SvmArgs};
use super::method::Found;
use super::rules::Features;
use super::values::{Gamma, at_least_one};
use crate::commands::prepare::Prepared;
use crate::commands::resume::Resume;
use crate::failure::Failure;

/// `rfe` with its options.
#[derive(Debug, PartialEq)]
pub(crate) struct AskedRfe {
    step: Step,
    kernel: AskedKernel,
    criterion: Criterion,
    costs: Option<Vec<f64>>,
    every: u64,
    folds: AskedFolds,
}

impl AskedRfe {
    /// As typed.
    ///
    /// # Errors
    /// A value out of range, or an option without a meaning here.
    pub(crate) fn read(kernel: Option<KernelArg>, own: &OwnArgs) -> Result<Self, Failure> {
        let costs = own.costs.as_deref().map(high::costs).transpose()?;
        let unused = [
            ("retune", own.retune.is_some()),
            ("cv", own.cv.is_some()),
            ("folds", own.folds.is_some()),
            ("seed", own.seed.is_some()),
        ];
        if let Some((option, _)) = unused.into_iter().find(|o| o.1 && costs.is_none()) {
            return Err(Failure::Input(format!("--{option} has a meaning with --costs only; add it")));
        }
        let kernel = AskedKernel::read(kernel, own)?;
        Ok(Self {
            step: step(own.step.as_deref(), own.step_of)?,
            criterion: kernel.criterion(own.criterion)?,
            kernel,
            costs,
            every: at_least_one("retune", own.retune)?.unwrap_or(1),
            folds: AskedFolds::read(own)?,
        })
    }

    /// The settings, now that there are data.
    ///
    /// # Errors
    /// Values from which no gamma can be found, or folds that the samples do not fill.
    pub(crate) fn resolve(
        &self,
        svm: SvmSettings,
        prepared: &Prepared,
        max_features: Option<usize>,
    ) -> Result<RfeSettings, Failure> {
        let kernel = self.kernel.resolve(prepared, max_features)?;
        let tuning = match &self.costs {
            Some(costs) => {
                Some(Tuning { costs: costs.clone(), folds: self.folds.resolve(prepared)?, every: self.every })
            }
            None => None,
        };
        Ok(RfeSettings { svm, kernel, criterion: self.criterion, step: self.step, tuning })
    }
}

/// Runs `rfe`.
///
/// # Errors
/// More memory needed than allowed.
pub(crate) fn rfe(
    settings: &RfeSettings,
    data: &Classified<'_>,
    rules: &Rules,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Found, Failure> {
    let report = rfe::rfe_classes(data, rules, settings, limits, observer)?;
    let mut found: Found = report.selection.into();
    if settings.tuning.is_some() {
        found.cost = Some(report.cost);
        found.more.insert("cost".to_owned(), json!(report.cost));
        found.more.insert("tuned".to_owned(), json!(report.tuned));
    }
    Ok(found)
}

/// The entries of `rfe` in the settings of a result.
pub(crate) fn rfe_settings(settings: &RfeSettings) -> Vec<(&'static str, Value)> {
    let (step, of) = match settings.step {
        Step::Count(count) => (json!(count), "count"),
        Step::Remaining(share) => (json!(share), "remaining"),
        Step::Original(share) => (json!(share), "original"),
    };
    let mut entries = vec![("step", step), ("step_of", json!(of))];
    entries.extend(kernel_settings(&settings.kernel, Some(settings.criterion)));
    if let Some(tuning) = &settings.tuning {
        let folds = tuning.folds.count();
        entries.extend([("costs", json!(tuning.costs)), ("retune", json!(tuning.every)), ("cv", json!(folds))]);
    }
    entries
}

/// `eb-rfe` with its options.
#[derive(Debug, PartialEq)]
pub(crate) struct AskedEbRfe {
    kernel: AskedKernel,
    criterion: Criterion,
    candidates: usize,
    adaptive: Option<f64>,
    costs: Vec<f64>,
    folds: AskedFolds,
}

impl AskedEbRfe {
    /// Candidates per step, unless `--candidates` says otherwise: the smallest number of the paper's table.
    const CANDIDATES: u64 = 3;

    /// As typed.
    ///
    /// # Errors
    /// A value out of range, or an option without a meaning here.
    pub(crate) fn read(kernel: Option<KernelArg>, own: &OwnArgs) -> Result<Self, Failure> {
        let kernel = AskedKernel::read(kernel, own)?;
        if let Some(ratio) = own.adaptive.filter(|r| !(*r >= 1.0 && r.is_finite())) {
            return Err(Failure::Input(format!("--adaptive is {ratio}, but must be a finite number, 1 or more")));
        }
        Ok(Self {
            criterion: kernel.criterion(own.criterion)?,
            kernel,
            candidates: at_least_one("candidates", own.candidates)?.unwrap_or(Self::CANDIDATES) as usize,
            adaptive: own.adaptive,
            costs: own.costs.as_deref().map_or_else(|| Ok(EbRfeSettings::COSTS.to_vec()), high::costs)?,
            folds: AskedFolds::read(own)?,
        })
    }

    /// The settings, now that there are data.
    ///
    /// # Errors
    /// Values from which no gamma can be found, or folds that the samples do not fill.
    pub(crate) fn resolve(
        &self,
        svm: SvmSettings,
        prepared: &Prepared,
        max_features: Option<usize>,
    ) -> Result<EbRfeSettings, Failure> {
        Ok(EbRfeSettings {
            svm,
            kernel: self.kernel.resolve(prepared, max_features)?,
            criterion: self.criterion,
            candidates: self.candidates,
            adaptive: self.adaptive,
            costs: self.costs.clone(),
            folds: self.folds.resolve(prepared)?,
        })
    }
}

/// Runs `eb-rfe`, from where `resume` left off.
///
/// # Errors
/// More memory needed than allowed, or a file to resume from that does not fit or cannot be written.
pub(crate) fn eb_rfe(
    settings: &EbRfeSettings,
    data: &Classified<'_>,
    prepared: &Prepared,
    rules: &Rules,
    resume: Option<&Resume>,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Found, Failure> {
    let state: Option<EbRfeState> = resume.map_or(Ok(None), Resume::load)?;
    let mut broken = None;
    let mut keep = |state: &EbRfeState| {
        if let Some(resume) = resume
            && broken.is_none()
        {
            broken = resume.keep(state, false).err();
        }
    };
    let report = eb_rfe::eb_rfe(data, rules, settings, state, &mut keep, limits, observer)?;
    if let Some(failure) = broken {
        return Err(failure);
    }
    let name = |&(j, _): &(usize, f64)| prepared.data.names.get(j).into_owned();
    let step = |step: &EbStep| {
        let left: Vec<String> = step.left.iter().map(name).collect();
        json!({"n_features": step.n_features, "accuracy": step.accuracy, "cost": step.cost, "left": left,
               "candidates": step.candidates, "folds": step.folds})
    };
    let mut found: Found = report.selection.into();
    found.cost = Some(report.cost);
    for (key, value) in [
        ("accuracy", json!(found.selection.outcome.objective)),
        ("cost", json!(report.cost)),
        ("trainings", json!(report.trainings)),
        ("curve", report.curve.iter().map(step).collect()),
    ] {
        found.more.insert(key.to_owned(), value);
    }
    Ok(found)
}

/// The entries of `eb-rfe` in the settings of a result.
pub(crate) fn eb_rfe_settings(settings: &EbRfeSettings) -> Vec<(&'static str, Value)> {
    let mut entries = vec![("candidates", json!(settings.candidates)), ("adaptive", json!(settings.adaptive))];
    entries.extend([("costs", json!(settings.costs)), ("cv", json!(settings.folds.count()))]);
    entries.extend(kernel_settings(&settings.kernel, Some(settings.criterion)));
    entries
}

/// `bit-flip` or `attribute-flip` with its options.
#[derive(Debug, PartialEq)]
pub(crate) struct AskedFlip {
    flip: Flip,
    /// Names of the features to start from; else the result of `rfe` is the start.
    pub(crate) start: Option<Vec<String>>,
    rfe: AskedRfe,
    costs: Vec<f64>,
    passes: Option<u64>,
}

impl AskedFlip {
    /// As typed.
    ///
    /// # Errors
    /// A value out of range, an option without a meaning here, or a file that holds no result.
    pub(crate) fn read(flip: Flip, svm: &SvmArgs, own: &OwnArgs) -> Result<Self, Failure> {
        let kernel = AskedKernel::read(svm.kernel, own)?;
        let rfe = AskedRfe {
            step: step(own.step.as_deref(), own.step_of)?,
            criterion: kernel.criterion(own.criterion)?,
            kernel,
            costs: None,
            every: 1,
            folds: AskedFolds::read(own)?,
        };
        let used = [("step", own.step.is_some()), ("criterion", own.criterion.is_some())];
        if let Some((option, _)) = used.into_iter().find(|o| o.1 && own.start.is_some()) {
            return Err(Failure::Input(format!(
                "--{option} is for the rfe that finds the start, but --start names one; leave one of them out"
            )));
        }
        let passes = match own.passes.as_deref() {
            None => Some(1),
            Some("all") => None,
            Some(text) => match text.parse() {
                Ok(passes) if passes > 0 => Some(passes),
                _ => {
                    return Err(Failure::Input(format!(
                        "--passes is {text}, but must be a number, at least 1, or all"
                    )));
                }
            },
        };
        Ok(Self {
            flip,
            start: own.start.as_deref().map(start).transpose()?,
            rfe,
            costs: own.costs.as_deref().map_or_else(|| Ok(vec![svm.cost]), high::costs)?,
            passes,
        })
    }

    /// The settings, now that there are data.
    ///
    /// # Errors
    /// A feature that is not there, values from which no gamma can be found, or folds that the samples do not fill.
    pub(crate) fn resolve(
        &self,
        svm: SvmSettings,
        prepared: &Prepared,
        max_features: Option<usize>,
    ) -> Result<FlipFrom, Failure> {
        let features = Features::new(&prepared.data.names);
        let start = match &self.start {
            Some(names) => Some(names.iter().map(|name| features.index(name, "--start")).collect::<Result<_, _>>()?),
            None => None,
        };
        let rfe = self.rfe.resolve(svm.clone(), prepared, max_features)?;
        let flip = FlipSettings {
            flip: self.flip,
            svm,
            kernel: rfe.kernel,
            costs: self.costs.clone(),
            folds: self.rfe.folds.resolve(prepared)?,
            passes: self.passes,
        };
        Ok(FlipFrom { flip, rfe, start })
    }
}

/// A flip and where it starts.
#[derive(Debug)]
pub(crate) struct FlipFrom {
    /// The flip.
    pub(crate) flip: FlipSettings,
    rfe: RfeSettings,
    start: Option<Vec<usize>>,
}

impl FlipFrom {
    /// Runs `rfe` for the start, unless one was named, then the flip.
    ///
    /// # Errors
    /// More memory needed than allowed, or a start that the rules forbid.
    pub(crate) fn run(
        &self,
        data: &Classified<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Found, Failure> {
        let begun = std::time::Instant::now();
        let start = if let Some(features) = &self.start {
            Subset::from_indices(rules.p(), features.iter().copied())
        } else {
            let found = rfe::rfe_classes(data, rules, &self.rfe, limits.clone(), observer)?.selection;
            let Some(subset) = found.outcome.subset.clone() else { return Ok(found.into()) };
            subset
        };
        let limits = Limits { time: limits.time.map(|t| t.saturating_sub(begun.elapsed())), ..limits };
        let report = flip::flip(data, rules, &start, &self.flip, limits, observer)?;
        let mut found: Found = report.selection.into();
        found.selection.outcome.elapsed = begun.elapsed();
        found.cost = report.cost;
        for (key, value) in [
            ("accuracy", json!(found.selection.outcome.objective)),
            ("cost", json!(report.cost)),
            ("start", json!({"selected_indices": start.iter().collect::<Vec<_>>(), "accuracy": report.start})),
            ("passes", json!(report.passes)),
            ("trainings", json!(report.trainings)),
        ] {
            found.more.insert(key.to_owned(), value);
        }
        Ok(found)
    }

    /// The method's entries in the settings of a result.
    pub(crate) fn settings(&self, names: &Names) -> Vec<(&'static str, Value)> {
        let flip = &self.flip;
        let mut entries = vec![
            ("passes", flip.passes.map_or_else(|| json!("all"), |p| json!(p))),
            ("costs", json!(flip.costs)),
            ("cv", json!(flip.folds.count())),
        ];
        if let Some(features) = &self.start {
            let names: Vec<String> = features.iter().map(|&j| names.get(j).into_owned()).collect();
            entries.push(("start", json!(names)));
            entries.extend(kernel_settings(&flip.kernel, None));
        } else {
            entries.push(("start", json!("rfe")));
            entries.extend(rfe_settings(&self.rfe));
        }
        entries
    }
}

/// The features selected in a result that `fewest select --json` wrote.
fn start(path: &Path) -> Result<Vec<String>, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("--start {place}: cannot be read: {error}")))?;
    let result: Option<Value> = serde_json::from_str(&text).ok();
    let selected = result.as_ref().and_then(|r| r["selected"].as_array());
    let names: Option<Vec<String>> =
        selected.and_then(|s| s.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    names.filter(|names| !names.is_empty()).ok_or_else(|| {
        Failure::Input(format!(
            "--start {place}: not a result with selected features; give the file that `fewest select --json` wrote"
        ))
    })
}

/// `--kernel` and its parameters, of methods that take any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AskedKernel {
    /// The kernel; its gamma holds for a number only.
    kernel: Kernel,
    gamma: Gamma,
}

impl AskedKernel {
    fn read(kind: Option<KernelArg>, own: &OwnArgs) -> Result<Self, Failure> {
        let kind = kind.unwrap_or(KernelArg::Linear);
        let given = [
            ("gamma", own.gamma.is_some(), kind != KernelArg::Linear),
            ("coef0", own.coef0.is_some(), matches!(kind, KernelArg::Poly | KernelArg::Sigmoid)),
            ("degree", own.degree.is_some(), kind == KernelArg::Poly),
        ];
        if let Some((option, ..)) = given.into_iter().find(|(_, given, used)| *given && !used) {
            let name = high::kernel_name(kind);
            return Err(Failure::Input(format!(
                "--{option} has no meaning for the {name} kernel; leave it out or choose another --kernel"
            )));
        }
        let gamma = match own.gamma.as_deref() {
            None | Some("1/p") => Gamma::PerFeature,
            other => Gamma::read(other).map_err(|_| {
                Failure::Input(format!(
                    "--gamma is {}, but must be a number above 0, 1/p, scale, sigest, or sigest:BETA with BETA above 0",
                    other.unwrap_or_default()
                ))
            })?,
        };
        let number = if let Gamma::Number(number) = gamma { number } else { 1.0 };
        let (coef0, degree) = (own.coef0.unwrap_or(0.0), own.degree.unwrap_or(3));
        let kernel = match kind {
            KernelArg::Linear => Kernel::Linear,
            KernelArg::Rbf => Kernel::Rbf { gamma: number },
            KernelArg::Poly => Kernel::Poly { gamma: number, coef0, degree },
            KernelArg::Sigmoid => Kernel::Sigmoid { gamma: number, coef0 },
        };
        kernel.check()?;
        Ok(Self { kernel, gamma })
    }

    /// `--criterion`, or what suits the kernel.
    fn criterion(&self, asked: Option<CriterionArg>) -> Result<Criterion, Failure> {
        let linear = self.kernel == Kernel::Linear;
        match asked {
            Some(CriterionArg::Weights) if !linear => Err(Failure::input(
                "--criterion is weights, but only a linear kernel has weights; use margin or input-weights",
            )),
            Some(CriterionArg::InputWeights) => Ok(Criterion::InputWeights),
            Some(CriterionArg::Margin) => Ok(Criterion::Margin),
            None if !linear => Ok(Criterion::Margin),
            Some(CriterionArg::Weights) | None => Ok(Criterion::Weights),
        }
    }

    /// With gamma found from the data, for as many features as may be chosen.
    fn resolve(self, prepared: &Prepared, max_features: Option<usize>) -> Result<KernelRule, Failure> {
        if self.kernel == Kernel::Linear || self.gamma == Gamma::PerFeature {
            return Ok(KernelRule { kernel: self.kernel, per_feature: true });
        }
        let theta = max_features.unwrap_or(prepared.data.names.len());
        let gamma = self.gamma.find(prepared.data.features.as_design(), theta)?;
        Ok(self.kernel.with_gamma(gamma).into())
    }
}

/// The entries of a kernel and a criterion in the settings of a result.
fn kernel_settings(rule: &KernelRule, criterion: Option<Criterion>) -> Vec<(&'static str, Value)> {
    let mut entries: Vec<(&'static str, Value)> = criterion.map(|c| ("criterion", json!(c))).into_iter().collect();
    if let Some(gamma) = rule.kernel.gamma() {
        entries.push(("gamma", if rule.per_feature { json!("1/p") } else { json!(gamma) }));
    }
    if let Kernel::Poly { coef0, .. } | Kernel::Sigmoid { coef0, .. } = rule.kernel {
        entries.push(("coef0", json!(coef0)));
    }
    if let Kernel::Poly { degree, .. } = rule.kernel {
        entries.push(("degree", json!(degree)));
    }
    entries
}

/// `--cv`, `--folds` and `--seed`: the folds of a method's own cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskedFolds {
    /// Number of stratified folds, where no column says them.
    count: usize,
    seed: u64,
    column: Option<String>,
}

impl AskedFolds {
    /// Folds of a method's own cross-validation, unless `--cv` or a column says otherwise.
    const COUNT: usize = 5;

    fn read(own: &OwnArgs) -> Result<Self, Failure> {
        if own.folds.is_some() && own.seed.is_some() {
            return Err(Failure::input(
                "--seed deals the samples into the folds of --cv, but --folds names them; leave it out",
            ));
        }
        let count = own.cv.unwrap_or(Self::COUNT);
        if count < 2 {
            return Err(Failure::Input(format!("--cv is {count}, but must be at least 2")));
        }
        Ok(Self { count, seed: own.seed.unwrap_or(0), column: own.folds.clone() })
    }

    /// The folds of the samples at hand.
    fn resolve(&self, prepared: &Prepared) -> Result<Folds, Failure> {
        let (source, n) = (&prepared.data.source, prepared.target.codes.len());
        let Some(names) = &prepared.folds else {
            if self.count > n {
                return Err(Failure::Input(format!("{source}: --cv is {}, but there are {n} samples", self.count)));
            }
            return Ok(Folds::new(fewest_data::stratified_folds(&prepared.target, self.count, self.seed))?);
        };
        let mut known: Vec<&String> = names.iter().collect();
        known.sort_unstable();
        known.dedup();
        if known.len() < 2 {
            let column = self.column.as_deref().unwrap_or_default();
            return Err(Failure::Input(format!(
                "{source}: the column `{column}` has one fold only, but cross-validation needs at least 2"
            )));
        }
        let code = |name: &String| known.binary_search(&name).expect("listed above") as u32;
        Ok(Folds::new(names.iter().map(code).collect())?)
    }
}

/// `--step` and `--step-of`.
fn step(text: Option<&str>, of: Option<StepOf>) -> Result<Step, Failure> {
    let share = |share: f64| if of == Some(StepOf::Original) { Step::Original(share) } else { Step::Remaining(share) };
    let text = text.unwrap_or("1");
    let step = if text == "half" {
        share(0.5)
    } else if let Ok(count) = text.parse::<usize>() {
        Step::Count(count)
    } else {
        share(text.parse().unwrap_or(f64::NAN))
    };
    match step {
        Step::Count(0) | Step::Remaining(_) | Step::Original(_) if !fraction_fits(step) => Err(Failure::Input(
            format!("--step is {text}, but must be a whole number, at least 1, a fraction between 0 and 1, or half"),
        )),
        Step::Count(_) if of.is_some() => Err(Failure::Input(format!(
            "--step-of says what a fraction is a fraction of, but --step is {text}; leave it out"
        ))),
        _ => Ok(step),
    }
}

fn fraction_fits(step: Step) -> bool {
    match step {
        Step::Count(count) => count > 0,
        Step::Remaining(share) | Step::Original(share) => share > 0.0 && share < 1.0,
    }
}
