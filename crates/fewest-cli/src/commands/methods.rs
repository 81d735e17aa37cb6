//! `fewest methods`: what each method solves, proves and accepts, and its paper.

use std::fmt::Write as _;

use serde_json::json;

use crate::args::low::MethodsArgs;
use crate::args::notation;
use crate::export::file::Sink;
use crate::export::table::{Table, pairs, paragraph};
use crate::export::{json as json_text, model_json::SCHEMA};
use crate::failure::Failure;
use crate::terminal::{Terminal, bold};

/// What is to be known of a method.
#[derive(Debug)]
pub(crate) struct Method {
    /// Name in `--method`.
    pub(crate) name: &'static str,
    /// In a few words.
    title: &'static str,
    /// What it solves, in a sentence.
    solves: &'static str,
    /// The formula.
    formula: &'static str,
    /// What its result proves.
    proves: &'static str,
    /// Kernels.
    kernels: &'static str,
    /// Classes.
    classes: &'static str,
    /// Rules it obeys.
    rules: &'static str,
    /// Cost of a run.
    cost: &'static str,
    /// Own options.
    options: &'static [(&'static str, &'static str)],
    /// Paper.
    paper: &'static str,
}

/// The rules every method here obeys.
const ALL_RULES: &str = "all: --max-features --require --forbid --implies --at-most --at-least --together --budget";

/// Own options of `qcqp-ssvm` and `nmmkl`.
const CONIC_OPTIONS: &[(&str, &str)] = &[
    ("--max-features B", "size of the subset, and B of the relaxation"),
    ("--cost C", "slack cost; default 1"),
    ("--loss hinge|squared-hinge", "default hinge for qcqp-ssvm, squared-hinge for nmmkl"),
    ("--bias free|none|NUMBER", "default free"),
    ("--class-weight, --sample-weights", "multiply the cost of a sample"),
    ("--gap G", "optimal means |objective - bound| is at most this share of the objective; default 1e-4"),
    ("--memory SIZE", "refuses a program whose estimate is beyond it"),
    ("--tolerance T", "relative duality gap of the last training; default 1e-6"),
    ("--time-limit TIME", "stop with the subset so far; exit code 3"),
];

/// The methods there are.
const METHODS: &[Method] = &[
    Method {
        name: "exact",
        title: "the best subset, by branch and bound",
        solves: "Finds the allowed subset whose linear SVM has the smallest objective, and proves it: bounds from the dual of the SVM with weights spread over the features still open, and a search where they do not decide. At a limit it returns the best subset so far with the bound and gap proven until then.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, v(z) = min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) with w_j = 0 where z_j = 0",
        proves: "the best subset, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "few nodes where C is small or few features stand out; grows with C, p and --max-features in the worst case exponentially",
        options: &[
            ("--max-features K, --penalty L|FILE", "size by a count, by a price per feature (lambda), or both"),
            ("--solutions N", "the N best subsets, all proven; default 1"),
            ("--gap G", "proven when |objective - bound| is at most this share of the objective; default 1e-4"),
            ("--node-limit N, --time-limit TIME", "stop with the best so far and its bound; exit code 3"),
            ("--cost C", "slack cost; default 1"),
            ("--loss hinge|squared-hinge", "default hinge"),
            ("--bias free|none|NUMBER", "default free"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "relative duality gap of each training; default 1e-6"),
        ],
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015, for the model; the branch and bound is ours.",
    },
    Method {
        name: "kta",
        title: "the best subset for a Gaussian kernel, by alignment",
        solves: "Finds the allowed subset on which the means of the classes lie farthest apart in the feature space of the Gaussian kernel (kernel-target alignment), and proves it, by branch and bound. No SVM takes part in the search; one is trained on the subset at the end. At a limit it returns the best subset so far with the bound and gap proven until then.",
        formula: "max over allowed z of sum_ih psi_i psi_h exp(-gamma sum_j z_j (x_ij - x_hj)^2), psi_i = y_i / size of i's class; for more classes the sum over all pairs of classes",
        proves: "the best subset, within --gap",
        kernels: "rbf",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "about n^2 p^2 / 2 operations per node; fast up to --max-features 5 or so",
        options: &[
            (
                "--max-features K",
                "size; without it the size of largest alignment is sought, which is slow for many features",
            ),
            (
                "--gamma NUMBER|sigest[:BETA]|scale",
                "default sigest: 1 / median of (K / p) |x_i - x_h|^2 over all features, times BETA",
            ),
            ("--solutions N", "the N best subsets, all proven; default 1"),
            ("--gap G", "proven when |objective - bound| is at most this share of the objective; default 1e-4"),
            ("--node-limit N, --time-limit TIME", "stop with the best so far and its bound; exit code 3"),
            ("--memory SIZE", "kernel values that do not fit are computed again"),
            ("--sample-weights", "weight of a sample in the mean of its class"),
            ("--cost C, --loss, --bias, --tolerance, --class-weight", "of the SVM trained on the subset"),
        ],
        paper: "K. Tamura, Y. Takano, R. Miyashiro: Feature subset selection for kernel SVM classification via mixed-integer optimization, 2022, for the model; the branch and bound is ours.",
    },
    #[cfg(feature = "highs")]
    Method {
        name: "gbd",
        title: "Generalized Benders Decomposition, as published",
        solves: "Trains the SVM on a subset, turns the training into a cut over all features, and asks a mixed-integer program (HiGHS) for the next subset, until bound and best subset meet. `exact` proves the same values, mostly sooner.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, by cuts eta >= sum_i alpha_i - 1/2 sum_j z_j c_j^2 + sum_j lambda_j z_j",
        proves: "the best subset, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "one training and one mixed-integer program per round; slow where --max-features is near half the features",
        options: &[
            ("--max-features K, --penalty L|FILE", "GBD-M, GBD-lambda, or both"),
            ("--max-cuts N", "stop after this many cuts; default 250, the paper's"),
            (
                "--validate FILE|FRACTION",
                "report the classifier of smallest error on these samples as well; --patience N stops when it no longer falls, --seed N draws the fraction",
            ),
            ("--plain", "the paper's text: no warm starts, no cuts at the relaxed master, one cut per round"),
            ("--gap G, --time-limit TIME", "as for exact"),
            ("--cost C", "slack cost; default 1"),
            ("--loss hinge|squared-hinge", "default hinge"),
            ("--bias free|none|NUMBER", "default free"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "relative duality gap of each training; default 1e-6"),
        ],
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015.",
    },
    Method {
        name: "fgm",
        title: "feature generating machine, for millions of sparse features",
        solves: "Generates the subset of --max-features that the classifier so far misses most, weighs all generated subsets by multiple kernel learning, and repeats, until the value of the mixture meets the bound. Keeps every feature of positive weight, which can be more than --max-features; each generated subset obeys the rules. With --top-b (FGM-B), the best subset of them that obeys the rules, and the SVM on it.",
        formula: "min over mixtures d = sum_t mu_t d_t of min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, y_i w.(x_i . d) >= rho - xi_i",
        proves: "a bound below every allowed subset; for --top-b optimal means the best subset, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "a few passes over the data, and some Newton steps on the columns of the generated subsets",
        options: &[
            ("--max-features B", "size of each generated subset"),
            ("--top-b", "return one subset that obeys the rules (FGM-B), not the mixture"),
            ("--gap G", "stop when |objective - bound| is at most this share of the objective; default 1e-4"),
            ("--mkl fast|simple", "Newton's method, or SimpleMKL as in the paper; default fast"),
            ("--plain", "the paper's text: a pass over all features for every subset, and SimpleMKL"),
            ("--cost C", "C of C/2 sum xi^2: half of it is what the squared hinge has elsewhere; default 1"),
            ("--bias none|free|NUMBER", "default none, the paper's"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "--top-b: relative duality gap of the last training; default 1e-6"),
            ("--time-limit TIME", "stop with the mixture so far and its bound; exit code 3"),
        ],
        paper: "M. Tan, L. Wang, I. W. Tsang: Learning sparse SVM for feature selection on very high dimensional datasets. ICML 2010.",
    },
    Method {
        name: "qcqp-ssvm",
        title: "sparse SVM with a one-norm in place of the count, as a cone program",
        solves: "Solves a convex relaxation of the sparse SVM whole, by an interior-point method (Clarabel), keeps the allowed subset of largest weights, and trains the SVM on it. fgm and nmmkl solve a tighter relaxation.",
        formula: "min 1/2 t + C sum_i loss(y_i (w.x_i + b)), |w|_2^2 <= t, |w|_1^2 <= B t",
        proves: "a bound below every subset of at most --max-features",
        kernels: "linear",
        classes: "two",
        rules: "all, for the subset; the relaxation knows --max-features and --forbid",
        cost: "some 15 factorizations of min(n, p)^2 max(n, p); refused where its memory is beyond --memory",
        options: CONIC_OPTIONS,
        paper: "A. B. Chan, N. Vasconcelos, G. R. G. Lanckriet: Direct convex relaxations of sparse SVM. ICML 2007.",
    },
    Method {
        name: "nmmkl",
        title: "non-monotonic feature selection: a kernel per feature, as a cone program",
        solves: "Weighs one kernel per feature, weights between 0 and 1 that sum to --max-features, by an interior-point method (Clarabel), keeps the allowed subset that counts most, and trains the SVM on it. fgm solves the same relaxation at any size.",
        formula: "min over z of min 1/2 sum_j w_j^2 / z_j + C sum_i loss(y_i (w.x_i + b)), 0 <= z_j <= 1, sum z <= B",
        proves: "a bound below every subset of at most --max-features",
        kernels: "linear",
        classes: "two",
        rules: "all, for the subset; the relaxation knows --max-features, --require and --forbid",
        cost: "some 15 factorizations of min(n, p)^2 max(n, p); refused where its memory is beyond --memory",
        options: CONIC_OPTIONS,
        paper: "Z. Xu, R. Jin, J. Ye, M. R. Lyu, I. King: Non-monotonic feature selection. ICML 2009.",
    },
    Method {
        name: "rfe",
        title: "SVM-RFE, recursive feature elimination",
        solves: "Trains the SVM, drops the features of smallest squared weight that the rules let go, and trains again, until the rules hold. Ranks all features by the step at which they left.",
        formula: "min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) over the surviving features; criterion w_j^2",
        proves: "nothing: a heuristic; its objective is the SVM's on the chosen subset",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "one warm-started training per step",
        options: &[
            ("--step N|FRACTION|half", "features that leave per step; default 1; a fraction is of those that remain"),
            ("--step-of remaining|original", "what the fraction is of; original is scikit-learn's rule"),
            ("--cost C", "slack cost; default 1"),
            ("--loss hinge|squared-hinge", "default hinge"),
            ("--bias free|none|NUMBER", "default free"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "relative duality gap of each training; default 1e-6"),
            ("--certify", "says how far the result is from the best subset of its size"),
        ],
        paper: "I. Guyon, J. Weston, S. Barnhill, V. Vapnik: Gene selection for cancer classification using support vector machines. Machine Learning 46 (2002), 389-422.",
    },
    Method {
        name: "info-gain",
        title: "information gain filter",
        solves: "Scores each feature by how much knowing its interval lowers the entropy of the class, and takes the allowed subset with the largest total.",
        formula: "gain_j = H(class) - H(class | interval of x_j), in bits; max sum of gains over the allowed subsets",
        proves: "the largest total gain under the rules; says nothing about the SVM",
        kernels: "none needed; the SVM trained at the end is linear",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "one sort per feature",
        options: &[
            (
                "--binning mdl|N",
                "cuts by the minimum description length rule of Fayyad and Irani (default), or N equally filled bins",
            ),
            ("--certify", "two classes: how far the SVM on the result is from that on the best subset of its size"),
        ],
        paper: "J. R. Quinlan: Induction of decision trees. Machine Learning 1 (1986), 81-106; cuts: U. Fayyad, K. Irani: Multi-interval discretization of continuous-valued attributes for classification learning. IJCAI 1993, 1022-1027.",
    },
];

/// A method by name.
///
/// # Errors
/// An unknown name, with the names there are.
pub(crate) fn find(name: &str) -> Result<&'static Method, Failure> {
    METHODS.iter().find(|m| m.name == name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        let hint = notation::closest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        Failure::Input(format!("there is no method {name}{hint}; available are {}", known.join(", ")))
    })
}

/// Runs the command.
///
/// # Errors
/// An unknown method, or an output that cannot be written.
pub(crate) fn run(args: &MethodsArgs, terminal: Terminal) -> Result<u8, Failure> {
    let chosen: Vec<&Method> = match &args.method {
        None => METHODS.iter().collect(),
        Some(name) => vec![find(name)?],
    };
    if let Some(sink) = Sink::open_if("--json", args.json.as_ref())? {
        let list: Vec<_> = chosen.iter().map(|m| value(m)).collect();
        sink.write(&json_text::text(&json!({"schema": SCHEMA, "methods": list})), terminal)?;
        if sink.is_stdout() {
            return Ok(0);
        }
    }
    terminal.out(&match &args.method {
        None => overview(&chosen),
        Some(_) => chosen.iter().map(|m| details(m)).collect(),
    })?;
    Ok(0)
}

fn value(method: &Method) -> serde_json::Value {
    let options: Vec<_> = method.options.iter().map(|(o, d)| json!({"option": o, "meaning": d})).collect();
    json!({
        "name": method.name, "title": method.title, "solves": method.solves, "formula": method.formula,
        "proves": method.proves, "kernels": method.kernels, "classes": method.classes, "rules": method.rules,
        "cost": method.cost, "options": options, "paper": method.paper
    })
}

fn overview(methods: &[&Method]) -> String {
    let mut table = Table::new(&["METHOD", "WHAT", "CLASSES", "PROVES"], 3);
    for m in methods {
        table.row([m.name, m.title, m.classes, m.proves].map(str::to_owned).to_vec());
    }
    table.render() + "\n`fewest methods NAME` describes one, with its options and its paper.\n"
}

fn details(method: &Method) -> String {
    let mut out = format!("{} - {}\n\n", bold(method.name), method.title);
    out += &paragraph(method.solves, 2);
    let _ = write!(out, "\n  {}\n\n", method.formula);
    for (label, text) in [
        ("Proves", method.proves),
        ("Kernels", method.kernels),
        ("Classes", method.classes),
        ("Rules", method.rules),
        ("Cost", method.cost),
    ] {
        out += &pairs(&[(&format!("{label:<8}"), text.to_owned())]);
    }
    let _ = write!(out, "\n{}\n", bold("Options"));
    let options: Vec<(&str, String)> = method.options.iter().map(|(o, d)| (*o, (*d).to_owned())).collect();
    out += &pairs(&options);
    out + &format!("\n{}\n", bold("Paper")) + &paragraph(method.paper, 2)
}
