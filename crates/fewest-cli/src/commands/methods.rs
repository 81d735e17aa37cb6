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

/// Options of the flips.
const FLIP_OPTIONS: &[(&str, &str)] = &[
    ("--start RESULT.json", "the features to start from; default: the result of rfe with --max-features and --step"),
    ("--passes N|all", "passes over all neighbours, or until nothing improves; default 1"),
    ("--costs C,C,...", "default --cost alone"),
    ("--cv F, --seed N, --folds COLUMN", "folds; default 5 stratified ones"),
    ("--kernel, --gamma, --coef0, --degree", "as for rfe; --criterion for the rfe that finds the start"),
    ("--loss, --bias, --class-weight, --sample-weights, --tolerance, --time-limit", "as for rfe"),
];

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
        name: "milo-k",
        title: "alignment as a mixed-integer program, as published",
        solves: "Writes kernel-target alignment as a mixed-integer linear program, the product of kernels feature by feature, and has HiGHS solve it. `kta` proves the same values, much sooner.",
        formula: "max over allowed z of sum_ih psi_i psi_h e_(ih,p+1), with e_(ih,j+1) = e_ihj where z_j = 0 and exp(-gamma (x_ij - x_hj)^2) e_ihj where z_j = 1, by big-M = 1",
        proves: "the best subset, within --gap and the tolerances of HiGHS",
        kernels: "rbf",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "n^2 p columns: some dozens of samples and features",
        options: MILO_OPTIONS,
        paper: TAMURA,
    },
    #[cfg(feature = "highs")]
    Method {
        name: "rmilo-k",
        title: "alignment as a reduced mixed-integer program, as published",
        solves: "As milo-k, with each pair of samples once, only the rows that can bind, and a smaller big-M.",
        formula: "as milo-k, over the pairs i < h; big-M 1 - exp(-gamma (x_ij - x_hj)^2), with --big-m padded 0.1 more",
        proves: "the best subset, within --gap and the tolerances of HiGHS",
        kernels: "rbf",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "n^2 p / 2 columns; minutes to hours for 50 samples and 35 features",
        options: MILO_OPTIONS,
        paper: TAMURA,
    },
    Method {
        name: "l1-svm",
        title: "SVM with L1 penalty (ONSVM, LPSVM): most weights are 0",
        solves: "Trains the L1-SVM on all features that are not forbidden; the subset is what has weight. With --costs, at the largest cost at which the rules are kept. Where they are not, the allowed subset of largest total |w|, and the L1-SVM of that subset alone. The classifier is the L1-SVM itself.",
        formula: "min |w|_1 + sum_i C_i loss(y_i (w.x_i + b))",
        proves: "a bound: at this cost no allowed subset has a smaller objective; optimal means that the two meet",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "milliseconds to seconds; hinge: linear programs of the features and samples that matter",
        options: &[
            (
                "--loss hinge|squared-hinge",
                "default hinge, a linear program; squared-hinge is LIBLINEAR's -s 5, scikit-learn's LinearSVC(penalty='l1')",
            ),
            ("--cost C", "slack cost; default 1"),
            (
                "--costs C,C,...",
                "several costs, each from the solution of the one before; the result is that of the largest at which the rules are kept",
            ),
            (
                "--bias free|none|NUMBER",
                "NUMBER: as the weight of a constant feature of this value, |b / NUMBER|, as in LIBLINEAR; default free",
            ),
            ("--max-features K and other rules", "without any, what has weight"),
            ("--tolerance, --time-limit", "relative duality gap; stop with the best so far; exit code 3"),
            ("--sample-weights, --class-weight", "multiply the cost of a sample"),
            ("--certify SECONDS", "judge the subset by the value of the SVM on it"),
        ],
        paper: "P. S. Bradley, O. L. Mangasarian: Feature selection via concave minimization and support vector machines. ICML 1998. R.-E. Fan et al.: LIBLINEAR. JMLR 9 (2008).",
    },
    #[cfg(feature = "highs")]
    Method {
        name: "fsv",
        title: "feature selection by concave minimisation",
        solves: "Counts features by 1 - exp(-5 |w_j|) and minimises that beside the mean slack by successive linearization: linear programs whose solutions are vertices, until the objective falls no more; the best of several starts.",
        formula: "min (1 - lambda) (mean xi of one class + mean xi of the other) + lambda sum_j (1 - exp(-5 |w_j|)), y_i (w.x_i + b) + xi_i >= 1",
        proves: "nothing; --certify judges the subset by the value of the SVM on it",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "some 5 to 10 linear programs per start",
        options: &[
            ("--lambda L", "how much features count beside errors, 0 to below 1; default 0.05"),
            ("--starts N, --seed N", "starts: no weights, then random ones; default 5"),
            ("--max-features K and other rules", "without any, what has weight"),
            ("--sample-weights, --class-weight", "weight of a sample in the mean of its class"),
            ("--time-limit TIME", "stop with the best so far; exit code 3"),
        ],
        paper: "P. S. Bradley, O. L. Mangasarian: Feature selection via concave minimization and support vector machines. ICML 1998.",
    },
    #[cfg(feature = "highs")]
    Method {
        name: "mbp",
        title: "L1-SVM with a price per feature, to a proof",
        solves: "Finds the allowed subset of the least L1-SVM objective and prices: bound from the linear relaxation, subsets by reweighting, features removed by reduced costs, then branch and bound. With --plain the paper's mixed binary program goes to HiGHS untouched. The classifier is the program's own.",
        formula: MBP,
        proves: "the best subset, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "exponential in the worst case; with the paper's u milliseconds",
        options: &[
            ("--penalty D|FILE", "price per feature: one number, or a file with one each"),
            ("--cost C", "slack cost; default 1"),
            (
                "--weight-bound U",
                "u, the same for every feature; default: the largest |w_j| of the linear relaxation for C in {0.1, 1, 10, 100}, as in the paper, which leaves out features that never have weight",
            ),
            ("--bias free|none|NUMBER", "default free, the paper's"),
            ("--plain", "the program as printed, solved by HiGHS; --lp simplex|interior says how"),
            ("--write-model FILE.mps|.lp", "write the program first, for another solver"),
            ("--gap G, --node-limit N, --time-limit TIME", "stop with the best so far and its bound; exit code 3"),
            ("--sample-weights, --class-weight", "multiply the cost of a sample"),
            ("--memory SIZE", "a program that HiGHS would need more for is refused"),
        ],
        paper: GAUDIOSO,
    },
    #[cfg(feature = "highs")]
    Method {
        name: "lagrangian",
        title: "L1-SVM with a price per feature by Lagrangian relaxation and a bundle method",
        solves: "Maximises the Lagrangian dual of mbp by a proximal bundle method; at every serious step the program restricted to the features in use is solved, which gives subsets. Reweighting gives more of them beforehand, unless --plain. The classifier is the program's own.",
        formula: MBP,
        proves: "a bound, that of the linear relaxation; optimal where the two meet, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "some dozens of linear programs of milliseconds, and restricted programs of at most 250 ms each",
        options: &[
            ("--penalty D|FILE, --cost C, --weight-bound U, --bias", "as for mbp"),
            ("--plain", "the paper's text: no reweighting, no bound before the ascent"),
            ("--gap G, --time-limit TIME", "stop with the best so far and its bound; exit code 3"),
            ("--sample-weights, --class-weight", "multiply the cost of a sample"),
        ],
        paper: GAUDIOSO,
    },
    #[cfg(feature = "highs")]
    Method {
        name: "milp1",
        title: "least slack with bounded weights, as a mixed-integer program",
        solves: "Has HiGHS find the allowed subset and the linear classifier on it with the least slack at margin 1, each weight being at most U. An SVM is then trained on the subset.",
        formula: "min sum_i xi_i, y_i (w.x_i + b) >= 1 - xi_i, -U v_j <= w_j <= U v_j, v_j in {0, 1}, rules on v",
        proves: "the best subset, within --gap and the tolerances of HiGHS",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "exponential in the worst case; seconds for some dozens of features",
        options: MILP_OPTIONS,
        paper: MALDONADO,
    },
    #[cfg(feature = "highs")]
    Method {
        name: "milp2",
        title: "largest margin of the LP-SVM, as a mixed-integer program",
        solves: "Has HiGHS find the allowed subset and the linear classifier on it with the largest margin less slack, each weight being at most 1 (MILO-L). An SVM is then trained on the subset.",
        formula: "max r - C sum_i xi_i, y_i (w.x_i + b) >= r - xi_i, -v_j <= w_j <= v_j, r >= 0, v_j in {0, 1}, rules on v",
        proves: "the best subset, within --gap and the tolerances of HiGHS",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "exponential in the worst case; seconds for some dozens of features",
        options: MILP_OPTIONS,
        paper: MALDONADO,
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
        solves: "Generates the subset of --subset-size (by default --max-features) that the classifier so far misses most, weighs all generated subsets by multiple kernel learning, and repeats, until the value of the mixture meets the bound. Then keeps the best subset of the mixture that obeys the rules, and trains the SVM on it. With --subset-size and no --max-features, keeps every feature of positive weight in the mixture, as in the paper.",
        formula: "min over mixtures d = sum_t mu_t d_t of min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, y_i w.(x_i . d) >= rho - xi_i",
        proves: "a bound below every allowed subset; optimal means the best subset, within --gap",
        kernels: "linear",
        classes: "two",
        rules: ALL_RULES,
        cost: "a few passes over the data, and some Newton steps on the columns of the generated subsets",
        options: &[
            ("--max-features K", "keep at most K features"),
            (
                "--subset-size B",
                "size of each generated subset; default K. Without K: keep every feature of the mixture",
            ),
            ("--gap G", "stop when |objective - bound| is at most this share of the objective; default 1e-4"),
            ("--mkl fast|simple", "Newton's method, or SimpleMKL as in the paper; default fast"),
            ("--plain", "the paper's text: a pass over all features for every subset, and SimpleMKL"),
            ("--cost C", "C of C/2 sum xi^2: half of it is what the squared hinge has elsewhere; default 1"),
            ("--bias none|free|NUMBER", "default none, the paper's"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "relative duality gap of the last training; default 1e-6"),
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
        solves: "Trains the SVM, drops the features of smallest criterion that the rules let go, and trains again, until the rules hold. Ranks all features by the step at which they left. The cost can be tuned on the way.",
        formula: "min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) over the surviving features; criterion w_j^2, or the change of alpha'H alpha / 2 without feature j; summed over the pairs of classes",
        proves: "nothing: a heuristic; its objective is the SVM's on the chosen subset",
        kernels: "linear, rbf, poly, sigmoid",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "one warm-started training per step",
        options: &[
            ("--step N|FRACTION|half", "features that leave per step; default 1; a fraction is of those that remain"),
            ("--step-of remaining|original", "what the fraction is of; original is scikit-learn's rule"),
            (
                "--kernel K, --gamma 1/p|NUMBER|scale|sigest[:BETA]",
                "default linear; gamma 1/p, p the surviving features; --coef0, --degree",
            ),
            (
                "--criterion weights|margin|input-weights",
                "default weights for a linear kernel, else margin: the change of alpha'H alpha / 2 (Guyon); input-weights is Krupka's",
            ),
            (
                "--costs C,C,... --retune N",
                "cost of largest cross-validated accuracy, chosen anew every N steps; --cv F with --seed N, or --folds COLUMN",
            ),
            ("--cost C", "slack cost; default 1"),
            ("--loss hinge|squared-hinge", "default hinge"),
            ("--bias free|none|NUMBER", "default free"),
            ("--class-weight, --sample-weights", "multiply the cost of a sample"),
            ("--tolerance T", "relative duality gap of each training; default 1e-6"),
            ("--certify", "linear, two classes: says how far the result is from the best subset of its size"),
        ],
        paper: "I. Guyon, J. Weston, S. Barnhill, V. Vapnik: Gene selection for cancer classification using support vector machines. Machine Learning 46 (2002), 389-422.",
    },
    Method {
        name: "eb-rfe",
        title: "evaluation-based elimination: cross-validation picks among the smallest",
        solves: "At each step cross-validates the K subsets that lack one of the K features of smallest criterion, for every cost, keeps the best, and goes on until one feature is left. Returns the best subset seen, ties to the smaller one, and the curve of all steps. --candidates 1 is SVM-RFE with its cost tuned at every step.",
        formula: "criterion as for rfe; next set = argmax of the mean accuracy over the folds, over K candidates and all costs",
        proves: "nothing: a heuristic; its objective is the accuracy it chose by, which is optimistic (see fewest evaluate)",
        kernels: "linear, rbf, poly, sigmoid",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "per step K x folds x costs x pairs of classes warm-started trainings on one n x n matrix",
        options: &[
            ("--candidates K", "candidates per step; default 3"),
            ("--adaptive RATIO", "fewer where the smallest criteria differ by more than (RATIO - 1) of the smallest"),
            ("--costs C,C,...", "default 0.0625,0.25,1,4,16,64"),
            ("--cv F, --seed N, --folds COLUMN", "folds; default 5 stratified ones"),
            ("--kernel, --gamma, --coef0, --degree, --criterion", "as for rfe"),
            ("--resume FILE", "keeps how far the run has come, and goes on from there"),
            ("--max-features K", "only subsets of at most K features count as best"),
            ("--loss, --bias, --class-weight, --sample-weights, --tolerance, --time-limit", "as for rfe"),
        ],
        paper: "M. Krupka: SVM classifiers and heuristics for feature selection. 2016, Algorithm 3.",
    },
    Method {
        name: "bit-flip",
        title: "cross-validates all subsets with one feature more or less",
        solves: "Cross-validates every allowed subset that differs from the start in one feature and moves to the best one, if it is better or as good and smaller. Says how many trainings that takes before it begins.",
        formula: "argmax of the mean accuracy over the folds, over the neighbours and all costs",
        proves: "nothing: a local search; its objective is the accuracy it chose by, which is optimistic (see fewest evaluate)",
        kernels: "linear, rbf, poly, sigmoid",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "p x folds x costs x pairs of classes warm-started trainings per pass",
        options: FLIP_OPTIONS,
        paper: "M. L. Samb, F. Camara, S. Ndiaye, Y. Slimani, M. A. Esseghir: A novel RFE-SVM-based feature selection approach for classification. International Journal of Advanced Science and Technology 43 (2012), 27-36; Krupka 2016.",
    },
    Method {
        name: "attribute-flip",
        title: "cross-validates all subsets with one feature swapped",
        solves: "Cross-validates every allowed subset that has one feature of the start swapped for another and moves to the best one, if it is better. Says how many trainings that takes before it begins.",
        formula: "argmax of the mean accuracy over the folds, over the neighbours and all costs",
        proves: "nothing: a local search; its objective is the accuracy it chose by, which is optimistic (see fewest evaluate)",
        kernels: "linear, rbf, poly, sigmoid",
        classes: "two or more",
        rules: ALL_RULES,
        cost: "k (p - k) x folds x costs x pairs of classes warm-started trainings per pass, for k features of p",
        options: FLIP_OPTIONS,
        paper: "M. L. Samb, F. Camara, S. Ndiaye, Y. Slimani, M. A. Esseghir: A novel RFE-SVM-based feature selection approach for classification. International Journal of Advanced Science and Technology 43 (2012), 27-36; Krupka 2016.",
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

#[cfg(feature = "highs")]
const TAMURA: &str = "K. Tamura, Y. Takano, R. Miyashiro: Feature subset selection for kernel SVM classification via mixed-integer optimization, 2022.";

#[cfg(feature = "highs")]
const GAUDIOSO: &str = "M. Gaudioso, E. Gorgone, M. Labbe, A. M. Rodriguez-Chia: Lagrangian relaxation for SVM feature selection. Computers and Operations Research 87 (2017), 137-145.";

#[cfg(feature = "highs")]
const MBP: &str = "min |w|_1 + C sum_i xi_i + sum_j D_j y_j, s_i (w.x_i + b) >= 1 - xi_i, |w_j| <= u_j y_j, y_j in {0, 1}, rules on y";

#[cfg(feature = "highs")]
const MALDONADO: &str = "S. Maldonado, J. Perez, R. Weber, M. Labbe: Feature selection for support vector machines via mixed integer linear programming. Information Sciences 279 (2014), 163-175.";

#[cfg(feature = "highs")]
const MILP_OPTIONS: &[(&str, &str)] = &[
    ("--max-features K, --budget", "size; without a rule any number of features"),
    ("--weight-bound U", "milp1: largest |w_j|; default 1"),
    (
        "--cost C",
        "milp2: slack cost, at least 1 / (2 n_c), n_c the smaller class; default 1, for classes that a plane parts: if the objective is 0, take less",
    ),
    ("--lp simplex|interior", "how linear programs are solved; default simplex"),
    ("--write-model FILE.mps|.lp", "write the program first, for another solver; it minimises"),
    ("--plain", "do not start from a rounding of the linear relaxation"),
    ("--gap G, --node-limit N, --time-limit TIME", "stop with the best so far and its bound; exit code 3"),
    ("--sample-weights, --class-weight", "multiply the slack of a sample"),
    ("--memory SIZE", "a program that HiGHS would need more for is refused"),
];

#[cfg(feature = "highs")]
const MILO_OPTIONS: &[(&str, &str)] = &[
    ("--max-features K, --gamma, --sample-weights", "as for kta"),
    ("--big-m tight|padded", "rmilo-k: eq. (50) or, the default, (53)"),
    ("--lp simplex|interior", "how linear programs are solved; default simplex"),
    ("--write-model FILE.mps|.lp", "write the program first, for another solver; its objective is minus the alignment"),
    ("--plain", "do not start from the subset of kta's local search"),
    ("--gap G, --node-limit N, --time-limit TIME", "as for kta"),
    ("--memory SIZE", "a program that HiGHS would need more for is refused"),
    ("--cost C, --loss, --bias, --tolerance, --class-weight", "of the SVM trained on the subset"),
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
