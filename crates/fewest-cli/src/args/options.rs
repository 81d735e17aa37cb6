//! Which options belong to which methods.

use super::high;
use super::low::{KernelArg, SelectionArgs};
use crate::commands::methods;
use crate::failure::Failure;

/// Methods that prove a bound.
const PROVING: &[&str] = &["exact", "gbd", "kta", "milo-k", "rmilo-k", "milp1", "milp2", "fgm", "qcqp-ssvm", "nmmkl"];

/// Methods that maximise kernel-target alignment.
const ALIGNING: &[&str] = &["kta", "milo-k", "rmilo-k"];

/// Methods that are one mixed-integer program.
const MIXED_INTEGER: &[&str] = &["milo-k", "rmilo-k", "milp1", "milp2"];

/// Methods that search a tree.
const NODES: &[&str] = &["exact", "kta", "milo-k", "rmilo-k", "milp1", "milp2"];

/// Methods that eliminate features, with any kernel.
const ELIMINATING: &[&str] = &["rfe", "eb-rfe", "bit-flip", "attribute-flip"];

/// Methods that judge the neighbours of a subset.
const FLIPS: &[&str] = &["bit-flip", "attribute-flip"];

/// Methods that eliminate features one after the other without evaluation.
const STEPPING: &[&str] = &["rfe", "bit-flip", "attribute-flip"];

/// Methods that take a price per feature.
const PRICED: &[&str] = &["exact", "gbd"];

/// Options of single methods: the name, whether it is given, the methods that have it, and what else would give it a meaning.
fn own_options(args: &SelectionArgs) -> [(&'static str, bool, &'static [&'static str], &'static str); 31] {
    let (own, limits, certifies) = (&args.own, &args.limits, args.certify.is_some());
    [
        ("penalty", own.penalty.is_some(), PRICED, ""),
        ("max-cuts", own.max_cuts.is_some(), &["gbd"], ""),
        ("validate", own.validate.is_some(), &["gbd"], ""),
        ("patience", own.patience.is_some(), &["gbd"], ""),
        ("seed", own.seed.is_some(), &["gbd", "rfe", "eb-rfe", "bit-flip", "attribute-flip"], ""),
        ("plain", own.plain, &["gbd", "fgm", "milo-k", "rmilo-k", "milp1", "milp2"], ""),
        ("lp", own.lp.is_some(), MIXED_INTEGER, ""),
        ("big-m", own.big_m.is_some(), &["rmilo-k"], ""),
        ("weight-bound", own.weight_bound.is_some(), &["milp1"], ""),
        ("write-model", own.write_model.is_some(), MIXED_INTEGER, ""),
        ("top-b", own.top_b, &["fgm"], ""),
        ("mkl", own.mkl.is_some(), &["fgm"], ""),
        ("solutions", own.solutions.is_some(), &["exact", "kta"], ""),
        (
            "gamma",
            own.gamma.is_some(),
            &["kta", "milo-k", "rmilo-k", "rfe", "eb-rfe", "bit-flip", "attribute-flip"],
            "",
        ),
        ("coef0", own.coef0.is_some(), ELIMINATING, ""),
        ("degree", own.degree.is_some(), ELIMINATING, ""),
        ("criterion", own.criterion.is_some(), ELIMINATING, ""),
        ("costs", own.costs.is_some(), ELIMINATING, ""),
        ("cv", own.cv.is_some(), ELIMINATING, ""),
        ("folds", own.folds.is_some(), ELIMINATING, ""),
        ("retune", own.retune.is_some(), &["rfe"], ""),
        ("candidates", own.candidates.is_some(), &["eb-rfe"], ""),
        ("adaptive", own.adaptive.is_some(), &["eb-rfe"], ""),
        ("start", own.start.is_some(), FLIPS, ""),
        ("passes", own.passes.is_some(), FLIPS, ""),
        ("resume", own.resume.is_some(), &["eb-rfe"], ""),
        ("step", own.step.is_some(), STEPPING, ""),
        ("step-of", own.step_of.is_some(), STEPPING, ""),
        ("binning", own.binning.is_some(), &["info-gain"], ""),
        ("gap", limits.gap.is_some() && !certifies, PROVING, " or add --certify"),
        ("node-limit", limits.node_limit.is_some() && !certifies, NODES, " or add --certify"),
    ]
}

/// Refuses options that the method `name` does not have.
///
/// # Errors
/// An option of other methods, `--certify` with one that proves a bound, or a kernel it cannot take.
pub(super) fn check(args: &SelectionArgs, name: &str) -> Result<(), Failure> {
    if let Some((option, _, of, or)) = own_options(args).into_iter().find(|o| o.1 && !o.2.contains(&name)) {
        let of = match of {
            [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            one => one.concat(),
        };
        return Err(Failure::Input(format!("--{option} is an option of {of}, not of {name}; leave it out{or}")));
    }
    if args.certify.is_some() && PROVING.contains(&name) {
        return Err(Failure::Input(format!(
            "--certify looks for the best subset, but {name} does that itself and proves its bound; leave it out"
        )));
    }
    let own_kernel = if ALIGNING.contains(&name) { KernelArg::Rbf } else { KernelArg::Linear };
    let other = |kernel: &KernelArg| *kernel != own_kernel && !ELIMINATING.contains(&name);
    if let Some(kernel) = args.svm.kernel.filter(other) {
        let (asked, only) = (high::kernel_name(kernel), high::kernel_name(own_kernel));
        return Err(Failure::Input(format!(
            "{name} accepts --kernel {only} only, not {asked}; select first, then train with `fewest fit --kernel {asked}`"
        )));
    }
    Ok(())
}

/// Leaves out the options that the method does not have: for a second method run with the options of the first.
pub(crate) fn leave_out_foreign(args: &mut SelectionArgs) -> Result<(), Failure> {
    let name = methods::find(&args.method)?.name;
    let foreign: Vec<&str> = own_options(args).iter().filter(|o| o.1 && !o.2.contains(&name)).map(|o| o.0).collect();
    let (own, limits) = (&mut args.own, &mut args.limits);
    for option in foreign {
        match option {
            "penalty" => own.penalty = None,
            "max-cuts" => own.max_cuts = None,
            "validate" => own.validate = None,
            "patience" => own.patience = None,
            "seed" => own.seed = None,
            "plain" => own.plain = false,
            "lp" => own.lp = None,
            "big-m" => own.big_m = None,
            "weight-bound" => own.weight_bound = None,
            "write-model" => own.write_model = None,
            "top-b" => own.top_b = false,
            "mkl" => own.mkl = None,
            "solutions" => own.solutions = None,
            "gamma" => own.gamma = None,
            "coef0" => own.coef0 = None,
            "degree" => own.degree = None,
            "criterion" => own.criterion = None,
            "costs" => own.costs = None,
            "cv" => own.cv = None,
            "folds" => own.folds = None,
            "retune" => own.retune = None,
            "candidates" => own.candidates = None,
            "adaptive" => own.adaptive = None,
            "start" => own.start = None,
            "passes" => own.passes = None,
            "resume" => own.resume = None,
            "step" => own.step = None,
            "step-of" => own.step_of = None,
            "binning" => own.binning = None,
            "gap" => limits.gap = None,
            "node-limit" => limits.node_limit = None,
            other => unreachable!("--{other} is in the table of own options"),
        }
    }
    let own_kernel = if ALIGNING.contains(&name) { KernelArg::Rbf } else { KernelArg::Linear };
    if !ELIMINATING.contains(&name) {
        args.svm.kernel = args.svm.kernel.filter(|&kernel| kernel == own_kernel);
    }
    Ok(())
}

/// Whether the method deals samples into folds of its own, given these options.
pub(crate) fn has_own_folds(args: &SelectionArgs) -> bool {
    ELIMINATING.contains(&args.method.as_str()) && (args.method != "rfe" || args.own.costs.is_some())
}
