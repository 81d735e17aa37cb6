//! Which options belong to which methods.

use super::high;
use super::low::{KernelArg, SelectionArgs};
use crate::commands::methods;
use crate::failure::Failure;

/// Methods that prove a bound.
const PROVING: &[&str] =
    &["exact", "gbd", "kta", "milo-k", "rmilo-k", "milp1", "milp2", "mbp", "lagrangian", "fgm", "qcqp-ssvm", "nmmkl"];

/// Methods that maximise kernel-target alignment.
const ALIGNING: &[&str] = &["kta", "milo-k", "rmilo-k"];

/// Methods that are one mixed-integer program.
const MIXED_INTEGER: &[&str] = &["milo-k", "rmilo-k", "milp1", "milp2", "mbp"];

/// Methods that search a tree.
const NODES: &[&str] = &["exact", "kta", "milo-k", "rmilo-k", "milp1", "milp2", "mbp"];

/// Methods that eliminate features, with any kernel.
const ELIMINATING: &[&str] = &["rfe", "eb-rfe", "bit-flip", "attribute-flip"];

/// Methods that judge the neighbours of a subset.
const FLIPS: &[&str] = &["bit-flip", "attribute-flip"];

/// Methods that eliminate features one after the other without evaluation.
const STEPPING: &[&str] = &["rfe", "bit-flip", "attribute-flip"];

/// Methods that take a price per feature.
const PRICED: &[&str] = &["exact", "gbd", "mbp", "lagrangian"];

/// An option that only some methods have.
struct OwnOption {
    name: &'static str,
    /// The methods that have it.
    of: &'static [&'static str],
    given: fn(&SelectionArgs) -> bool,
    clear: fn(&mut SelectionArgs),
    /// Whether `--certify` gives it a meaning too.
    certifies: bool,
}

/// Whether an option is there: it is not what clap leaves where nothing is typed.
fn given<T: Default + PartialEq>(value: &T) -> bool {
    *value != T::default()
}

/// The entry of an option: its name, its field in [`SelectionArgs`], the methods, and whether `--certify` gives it a meaning.
macro_rules! own {
    ($name:literal, $group:ident.$field:ident, $of:expr) => {
        own!($name, $group.$field, $of, false)
    };
    ($name:literal, $group:ident.$field:ident, $of:expr, $certifies:literal) => {
        OwnOption {
            name: $name,
            of: $of,
            given: |args| given(&args.$group.$field),
            clear: |args| args.$group.$field = Default::default(),
            certifies: $certifies,
        }
    };
}

/// Options of single methods.
const OWN: &[OwnOption] = &[
    own!("penalty", own.penalty, PRICED),
    own!("max-cuts", own.max_cuts, &["gbd"]),
    own!("validate", own.validate, &["gbd"]),
    own!("patience", own.patience, &["gbd"]),
    own!("seed", own.seed, &["gbd", "rfe", "eb-rfe", "bit-flip", "attribute-flip", "fsv"]),
    own!("plain", own.plain, &["gbd", "fgm", "milo-k", "rmilo-k", "milp1", "milp2", "mbp", "lagrangian"]),
    own!("lp", own.lp, MIXED_INTEGER),
    own!("big-m", own.big_m, &["rmilo-k"]),
    own!("weight-bound", own.weight_bound, &["milp1", "mbp", "lagrangian"]),
    own!("lambda", own.lambda, &["fsv"]),
    own!("starts", own.starts, &["fsv"]),
    own!("write-model", own.write_model, MIXED_INTEGER),
    own!("subset-size", own.subset_size, &["fgm"]),
    own!("mkl", own.mkl, &["fgm"]),
    own!("solutions", own.solutions, &["exact", "kta"]),
    own!("gamma", own.gamma, &["kta", "milo-k", "rmilo-k", "rfe", "eb-rfe", "bit-flip", "attribute-flip"]),
    own!("coef0", own.coef0, ELIMINATING),
    own!("degree", own.degree, ELIMINATING),
    own!("criterion", own.criterion, ELIMINATING),
    own!("costs", own.costs, &["rfe", "eb-rfe", "bit-flip", "attribute-flip", "l1-svm"]),
    own!("cv", own.cv, ELIMINATING),
    own!("folds", own.folds, ELIMINATING),
    own!("retune", own.retune, &["rfe"]),
    own!("candidates", own.candidates, &["eb-rfe"]),
    own!("adaptive", own.adaptive, &["eb-rfe"]),
    own!("start", own.start, FLIPS),
    own!("passes", own.passes, FLIPS),
    own!("resume", own.resume, &["eb-rfe"]),
    own!("step", own.step, STEPPING),
    own!("step-of", own.step_of, STEPPING),
    own!("binning", own.binning, &["info-gain"]),
    own!("gap", limits.gap, PROVING, true),
    own!("node-limit", limits.node_limit, NODES, true),
];

/// The options given that the method `name` does not have.
fn foreign<'a>(args: &'a SelectionArgs, name: &'a str) -> impl Iterator<Item = &'static OwnOption> + 'a {
    let meant = move |option: &OwnOption| option.of.contains(&name) || (option.certifies && args.certify.is_some());
    OWN.iter().filter(move |option| (option.given)(args) && !meant(option))
}

/// The kernel of a method that has one only.
fn only_kernel(name: &str) -> Option<KernelArg> {
    let kernel = if ALIGNING.contains(&name) { KernelArg::Rbf } else { KernelArg::Linear };
    (!ELIMINATING.contains(&name)).then_some(kernel)
}

/// Refuses options that the method `name` does not have.
///
/// # Errors
/// An option of other methods, `--certify` with one that proves a bound, or a kernel it cannot take.
pub(super) fn check(args: &SelectionArgs, name: &str) -> Result<(), Failure> {
    if let Some(OwnOption { name: option, of, certifies, .. }) = foreign(args, name).next() {
        let of = match of {
            [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            one => one.concat(),
        };
        let or = if *certifies { " or add --certify" } else { "" };
        return Err(Failure::Input(format!("--{option} is an option of {of}, not of {name}; leave it out{or}")));
    }
    if args.certify.is_some() && PROVING.contains(&name) {
        return Err(Failure::Input(format!(
            "--certify looks for the best subset, but {name} does that itself and proves its bound; leave it out"
        )));
    }
    if let (Some(kernel), Some(only)) = (args.svm.kernel, only_kernel(name))
        && kernel != only
    {
        let (asked, only) = (high::kernel_name(kernel), high::kernel_name(only));
        return Err(Failure::Input(format!(
            "{name} accepts --kernel {only} only, not {asked}; select first, then train with `fewest fit --kernel {asked}`"
        )));
    }
    Ok(())
}

/// Leaves out the options that the method does not have: for a second method run with the options of the first.
pub(crate) fn leave_out_foreign(args: &mut SelectionArgs) -> Result<(), Failure> {
    let name = methods::find(&args.method)?.name;
    let clear: Vec<fn(&mut SelectionArgs)> = foreign(args, name).map(|option| option.clear).collect();
    for clear in clear {
        clear(args);
    }
    args.svm.kernel = args.svm.kernel.filter(|&kernel| only_kernel(name).is_none_or(|only| kernel == only));
    Ok(())
}

/// Whether the method deals samples into folds of its own, given these options.
pub(crate) fn has_own_folds(args: &SelectionArgs) -> bool {
    ELIMINATING.contains(&args.method.as_str()) && (args.method != "rfe" || args.own.costs.is_some())
}
