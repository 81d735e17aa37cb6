//! Options that several methods share, and what settings are made of besides options.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "highs")]
use fewest::Lp;
use fewest::kernel::DistanceKernel;
use fewest::validation::Folds;
use fewest::{Design, Gamma, MultiClass, SvmSettings};
use fewest_data::{Names, Target};
use fewest_eval::ClassWeights;
use fewest_eval::folds::dealt;

use crate::args::data::selected;
use crate::args::features::Features;
use crate::args::notation::NameList;
use crate::args::svm::gamma;
use crate::args::{notation, values};
use crate::failure::Failure;

/// Heading of the options that have a meaning with `--certify` only.
pub(crate) const CERTIFICATE: &str = "Certificate";

/// What settings are made of besides the options: the data, as far as they matter.
pub(crate) struct MethodData<'a> {
    /// Name of the data file.
    pub(crate) source: &'a str,
    /// Names of the features.
    pub(crate) names: &'a Names,
    /// Classes.
    pub(crate) target: &'a Target,
    /// Weights of classes.
    pub(crate) class_weights: &'a ClassWeights,
    /// Weight of each sample without that of its class.
    pub(crate) sample_weights: &'a [f64],
    /// The name of each sample's fold, where a column says it.
    pub(crate) folds: Option<&'a [String]>,
    /// The group of each sample, where some stay together.
    pub(crate) groups: Option<&'a [u32]>,
    /// Samples that are not trained on.
    #[cfg_attr(
        not(all(feature = "highs", feature = "papers")),
        expect(dead_code, reason = "gbd alone judges by them")
    )]
    pub(crate) held_out: Option<&'a HeldOutSamples>,
    /// Features that hold categories.
    pub(crate) categorical: &'a [usize],
    /// Bytes for kernel values, where `--memory` says it.
    pub(crate) kernel_memory: Option<u64>,
    /// Bytes allowed in all.
    pub(crate) memory: u64,
}

impl MethodData<'_> {
    /// With the memory that it may use for kernel values.
    pub(crate) fn svm(&self, mut svm: SvmSettings) -> SvmSettings {
        svm.memory = self.kernel_memory.unwrap_or(svm.memory);
        svm
    }
}

/// Samples to judge classifiers by, scaled as those that are trained on.
pub(crate) struct HeldOutSamples {
    /// Their features.
    #[cfg_attr(
        not(all(feature = "highs", feature = "papers")),
        expect(dead_code, reason = "gbd alone judges by them")
    )]
    pub(crate) design: Arc<dyn Design>,
    /// Their labels, -1 or +1.
    pub(crate) labels: Vec<f64>,
}

/// `--gap`.
#[derive(Debug, clap::Args)]
pub(crate) struct GapArg {
    /// Proven best means that at most this share of what features can gain is left open, and of the
    /// objective [default: 1e-4]
    #[arg(long, value_name = "G", value_parser = values::not_negative, allow_negative_numbers = true, help_heading = "Limits")]
    gap: Option<f64>,
}

/// `--resume` and `--resume-every`, which the command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Keep here the progress of the run, and resume from there when started again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    resume: Option<PathBuf>,
    /// Time between two writings of the file of --resume [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::time, requires = "resume", help_heading = "Output")]
    resume_every: Option<Duration>,
}

/// Limits of a search: `--gap` and `--node-limit`.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    gap: GapArg,
    /// Stop after this many nodes of the search
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Limits")]
    node_limit: Option<u64>,
}

/// `--multi-class` and `--tasks`, which the command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct ProblemsArgs {
    /// How more classes than two become two-class problems, whose objectives add: one for each pair
    /// of classes, as the classifier trained afterwards has them, or one for each class against
    /// the rest
    #[arg(long, value_name = "HOW", default_value = "one-vs-one", help_heading = "Method")]
    multi_class: MultiClassChoice,
    /// Column that names the task of each sample, such as a site or a cohort: each task has
    /// classifiers of its own, on one subset that is best for all together; the column is set apart
    /// and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Method")]
    tasks: Option<String>,
}

impl ProblemsArgs {
    /// How classes become problems.
    pub(crate) fn multi_class(&self) -> MultiClass {
        self.multi_class.into()
    }
}

/// `--multi-class`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MultiClassChoice {
    /// Each pair of classes
    OneVsOne,
    /// Each class against all others
    OneVsRest,
}

impl From<MultiClassChoice> for MultiClass {
    fn from(choice: MultiClassChoice) -> Self {
        match choice {
            MultiClassChoice::OneVsOne => MultiClass::OneVsOne,
            MultiClassChoice::OneVsRest => MultiClass::OneVsRest,
        }
    }
}

/// `--proof`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProofArg {
    /// Write a proof of the result to this file, which `fewest verify FILE DATA` checks; `path`
    /// writes one for each size K, with -kK in its name
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    proof: Option<std::path::PathBuf>,
}

/// `--certify`, and the limits of its search.
#[derive(Debug, clap::Args)]
pub(crate) struct CertifyArgs {
    /// Say how far the subset found is from the best of its size, by the search of exact (of more
    /// classes than two: for the sum over their pairs); it never changes the subset. Takes what is
    /// left of the time limit, 60s without one, and no more than TIME
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "",
        value_parser = Certify::read, help_heading = CERTIFICATE)]
    certify: Option<Certify>,
    /// Proven best means that at most this share of what features can gain is left open, and of the
    /// objective [default: 1e-4]
    #[arg(long, value_name = "G", value_parser = values::not_negative, allow_negative_numbers = true, help_heading = CERTIFICATE)]
    gap: Option<f64>,
    /// Stop after this many nodes of the search
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = CERTIFICATE)]
    node_limit: Option<u64>,
    /// Write the proof of the search to this file, which `fewest verify FILE DATA` checks; `path`
    /// writes one for each size K, with -kK in its name
    #[arg(long, value_name = "FILE", help_heading = CERTIFICATE)]
    proof: Option<std::path::PathBuf>,
}

/// `--certify`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certify {
    /// Most time for each search, if named.
    pub(crate) time: Option<Duration>,
}

impl Certify {
    /// Without a value (an empty text), or with a time.
    fn read(text: &str) -> Result<Self, String> {
        Ok(Self { time: if text.is_empty() { None } else { Some(values::time(text)?) } })
    }
}

/// Most subsets that `--within` lists where `--solutions` does not say it.
const MOST: usize = 1000;

/// `--solutions` and `--within`.
#[derive(Debug, clap::Args)]
pub(crate) struct SolutionsArgs {
    /// Find and prove this many best subsets; with --within at most this many [default: 1, with
    /// --within 1000]
    #[arg(long, value_name = "N", value_parser = values::size, help_heading = "Method")]
    solutions: Option<usize>,
    /// Find all subsets whose gain over no features is within this share of the best one's, such as
    /// 2% or 0.02, and prove that these are all
    #[arg(long, value_name = "E", value_parser = values::percentage, allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) within: Option<f64>,
}

impl SolutionsArgs {
    /// How many subsets are wanted, at most.
    pub(crate) fn most(&self) -> usize {
        self.solutions.unwrap_or(if self.within.is_some() { MOST } else { 1 })
    }
}

/// `--kernel` and `--categorical`: the distances of features that a kernel is made of.
#[derive(Debug, clap::Args)]
pub(crate) struct DistanceArgs {
    /// Kernel, of the search and of the SVM on the chosen features
    #[arg(long, value_name = "KERNEL", default_value = "rbf", value_parser = values::choice::<DistanceKernel>(KERNELS),
        help_heading = "SVM")]
    pub(crate) kernel: DistanceKernel,
    /// Columns of numbers that are categories, separated by commas: their distance in the kernel is
    /// 1 where two values differ, else 0. They are not scaled
    #[arg(long, value_name = "NAMES", value_parser = NameList::read, help_heading = "Method")]
    categorical: Option<NameList>,
}

/// The kernels of distances by name.
const KERNELS: &[(&str, &str)] = &[("rbf", "exp(-gamma |x - x'|^2)"), ("laplace", "exp(-gamma sum |x_j - x'_j|)")];

/// `--gamma` of the methods that maximise kernel-target alignment.
#[derive(Debug, clap::Args)]
pub(crate) struct AlignmentArgs {
    /// gamma of the kernel: a number, sigest[:BETA] = BETA / median distance, scale =
    /// 1 / (K Var(X)), of laplace 1 / (K sd(X)), both for K features on average, or 1/p for 1 / K
    #[arg(long, value_name = "GAMMA", default_value_t = Gamma::Sigest(1.0), value_parser = gamma,
        allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) gamma: Gamma,
}

/// How HiGHS solves a mixed-integer program.
#[cfg(feature = "highs")]
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    /// The paper's text, without our improvements
    #[arg(long, help_heading = "Method")]
    pub(crate) plain: bool,
    /// How linear programs are solved [default: simplex]
    #[arg(long, value_name = "SOLVER", help_heading = "Method")]
    pub(crate) lp: Option<LpSolver>,
    /// Before solving it, write the mixed-integer program to this file for another solver
    #[arg(long, value_name = "FILE.mps|.lp", value_parser = program_path, help_heading = "Output")]
    write_model: Option<std::path::PathBuf>,
}

#[cfg(feature = "highs")]
impl ProgramArgs {
    /// How linear programs are solved.
    pub(crate) fn lp(&self) -> Lp {
        match self.lp {
            Some(LpSolver::Interior) => Lp::Interior,
            _ => Lp::Simplex,
        }
    }
}

/// Solver of linear programs.
#[cfg(feature = "highs")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LpSolver {
    /// Simplex
    Simplex,
    /// Interior point, as in the paper
    Interior,
}

#[cfg(feature = "highs")]
fn program_path(text: &str) -> Result<std::path::PathBuf, String> {
    let path = Path::new(text);
    match path.extension() {
        Some(ending) if ending == "mps" || ending == "lp" => Ok(path.to_owned()),
        _ => Err("must end in .mps or .lp, which says the format".to_owned()),
    }
}

/// The folds of a method's own cross-validation.
#[derive(Debug, clap::Args)]
pub(crate) struct FoldsArgs {
    /// Number of stratified folds [default: 5]
    #[arg(long, value_name = "F", value_parser = values::folds, help_heading = "Method")]
    cv: Option<usize>,
    /// Column with the fold of each sample; it is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Method", conflicts_with = "cv")]
    folds: Option<String>,
    /// How samples are dealt into the folds of --cv [default: 0]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Method", conflicts_with = "folds")]
    seed: Option<u64>,
}

impl FoldsArgs {
    /// Folds where nothing is typed.
    const COUNT: usize = 5;

    /// The first option typed, if any.
    pub(crate) fn typed(&self) -> Option<&'static str> {
        let all = [("cv", self.cv.is_some()), ("folds", self.folds.is_some()), ("seed", self.seed.is_some())];
        all.into_iter().find(|option| option.1).map(|option| option.0)
    }

    /// `--folds`.
    pub(crate) fn column(&self) -> Option<&str> {
        self.folds.as_deref()
    }

    /// `--seed`.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The folds of the current samples.
    ///
    /// # Errors
    /// More folds than samples, a column of one fold.
    pub(crate) fn resolve(&self, data: &MethodData<'_>) -> Result<Folds, Failure> {
        self.resolve_deals(data, 1)
    }

    /// The folds of the current samples, dealt several times; once where a column says them.
    ///
    /// # Errors
    /// Those of [`Self::resolve`].
    pub(crate) fn resolve_deals(&self, data: &MethodData<'_>, deals: usize) -> Result<Folds, Failure> {
        let (source, n) = (data.source, data.target.codes.len());
        let Some(names) = data.folds else {
            let count = self.cv.unwrap_or(Self::COUNT);
            if count > n {
                return Err(Failure::Input(format!("{source}: --cv is {count}, but there are {n} samples")));
            }
            let deal = |number: usize| {
                let of = dealt(data.target, data.groups, count, self.seed().wrapping_add(number as u64));
                checked(of.map_err(|error| Failure::Input(format!("{source}: --cv: {error}")))?, data)
            };
            let mut folds: Vec<Folds> = (0..deals).map(deal).collect::<Result<_, _>>()?;
            if let [_] = folds[..] {
                return weighted(folds.swap_remove(0), data);
            }
            return weighted(Folds::of_splits(n, folds.iter().flat_map(Folds::splits).collect())?, data);
        };
        let mut known: Vec<&String> = names.iter().collect();
        known.sort_unstable();
        known.dedup();
        if known.len() < 2 {
            let column = self.folds.as_deref().unwrap_or_default();
            return Err(Failure::Input(format!(
                "{source}: the column `{column}` has one fold only, but cross-validation needs at least 2"
            )));
        }
        let code = |name: &String| known.binary_search(&name).expect("listed above") as u32;
        let of: Vec<u32> = names.iter().map(code).collect();
        weighted(checked(of, data)?, data)
    }
}

/// Folds whose training parts have every class.
///
/// # Errors
/// A fold whose training part lacks one.
fn checked(of: Vec<u32>, data: &MethodData<'_>) -> Result<Folds, Failure> {
    for fold in 0..=of.iter().copied().max().unwrap_or(0) {
        let trained = |class: u32| of.iter().zip(&data.target.codes).any(|(&of, &code)| of != fold && code == class);
        if let Some(class) = (0..data.target.classes.len()).find(|&class| !trained(class as u32)) {
            return Err(Failure::no_sample_left(&data.target.classes[class]).within(&format!("fold {}", fold + 1)));
        }
    }
    Ok(Folds::new(of)?)
}

/// Folds, where weights of classes that depend on how many samples each has are those of the
/// training part.
fn weighted(folds: Folds, data: &MethodData<'_>) -> Result<Folds, Failure> {
    if matches!(data.class_weights, ClassWeights::None | ClassWeights::Each(_)) {
        return Ok(folds);
    }
    let codes = &data.target.codes;
    let training = |fold| {
        let mut totals = vec![0.0; data.target.classes.len()];
        folds.split(fold).0.into_iter().for_each(|i| totals[codes[i] as usize] += data.sample_weights[i]);
        let of_class = data.class_weights.of(&totals);
        codes.iter().zip(data.sample_weights).map(|(&code, weight)| weight * of_class[code as usize]).collect()
    };
    let weights = (0..folds.count()).map(training).collect();
    Ok(folds.training_weighted(weights)?)
}

/// Names of the features that a search starts from.
#[derive(Debug, Clone)]
pub(crate) struct StartNames(Vec<String>);

impl StartNames {
    /// Names separated by commas, or the file of a result.
    ///
    /// # Errors
    /// A file that is no result, an empty name.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if Path::new(text).extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
            return selected(Path::new(text)).map(Self).map_err(Failure::into_text);
        }
        notation::names(text).map(Self)
    }

    /// The features, ascending.
    pub(crate) fn indices(&self, names: &Names) -> Result<Vec<usize>, Failure> {
        let mut features = Features::new(names).indices(&self.0, "--start")?;
        features.sort_unstable();
        features.dedup();
        Ok(features)
    }
}

/// `mbp has two classes` in words: refuses options that the method has, but not together with
/// others.
pub(crate) fn needs(option: &str, other: &str) -> Failure {
    Failure::Input(format!("--{option} has a meaning with --{other} only; add it, or leave --{option} out"))
}

/// The names in a list, for messages: `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        one => one.concat(),
    }
}

/// A name like this one among these, as a question in brackets.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    notation::closest(name, known.iter().copied()).map_or_else(String::new, |near| format!(" (did you mean {near}?)"))
}
