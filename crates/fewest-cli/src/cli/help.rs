//! Longer texts of `--help`.

/// Examples shown under `fewest --help`.
pub(super) const EXAMPLES: &str = "\
Examples:
  fewest check wdbc.csv                                    what is in the file, and what is wrong with it
  fewest study wdbc.csv --report study.html                a panel with an honest accuracy and a proof
  fewest select wdbc.csv --method rfe --max-features 5     keep the five best features, print a table
  fewest select genes.csv.gz --method rfe --max-features 10 --step half --require TP53 --json result.json
  fewest select wdbc.csv --method exact --max-features 5   the best five, proven
  fewest path wdbc.csv --method exact --max-features 1..8  the best one, two, ... eight
  fewest path wdbc.csv --method exact --max-features 1..8 --report path.html    a page with charts, for people
  fewest select wdbc.csv --method kta --max-features 5     the best five for a Gaussian kernel, proven
  fewest certify wdbc.csv --features worst_area,mean_texture,area_error       how far a list is from the best three
  fewest verify best.proof wdbc.csv                        check what select --proof best.proof wrote, from the data alone
  fewest fit wdbc.csv --result result.json --model wdbc.model
  fewest predict wdbc.model new.csv --out predictions.csv
  fewest generate hyperplane --samples 500 --features 20 --relevant 5 --out d.csv    data with a known truth
  fewest methods rfe                                       what the method solves, its options, its paper
  fewest select --method rfe --help                        everything that select takes with it

Names that contain a comma: repeat the option, quote the name (--require '\"a,b\",c') or escape the comma (--require 'a\\,b').
A colon or equals sign inside a name of --implies, --at-most, --class-weight is quoted or escaped in the same way.

Exit codes: 0 finished, 1 failure (verify: not verified), 2 usage or bad input, 3 stopped at a limit or by Ctrl-C with the best subset so far
written, 4 no subset satisfies the rules.";

/// How data are read, and exit codes, shown under `fewest verify --help`.
pub(super) const VERIFY_NOTES: &str = "\
Data are read, weighted and scaled as the proof says they were; options given here, and the result of --as, stand above
that. A proof that Python wrote is about the arrays as they were given (--scale none). The verdict says which question the
proof answers, and who says each part of it.

To ask for a question: type options of select, or name its result with --as. Where the proof answers another one it is not
verified. `none` switches off what the proof says: --drop none, --text none, --sample-weights none, --tasks none, --groups none.

Examples:
  fewest verify best.proof wdbc.csv
  fewest verify best.proof wdbc.csv --as result.json --gap 1%
  fewest verify best.proof wdbc.csv --strict --method exact --max-features 5 --cost 1

Exit codes: 0 verified, 1 not verified (the first record that fails, and why; what differs from the question asked; the gap),
2 no proof file or bad data, 3 stopped by a limit or Ctrl-C before the end. docs/formats/proof.md has the format and the argument.";

/// Format of the rules file, shown under `fewest select --help`.
pub(super) const RULES_FORMAT: &str = "\
Each method has options of its own: `fewest select --method exact --help` shows them with these, `fewest methods exact`
alone, and `fewest methods` lists the methods.

Rules file (--rules FILE.toml), every key optional:
  max_features = 5                     budget = 12.5
  max_variables = 3                    # a text column is one, whatever columns it became
  require = [\"age\"]                    forbid = [\"id\"]
  implies = [[\"a\", \"b\"]]               together = [[\"c\", \"d\"]]
  at_most = [{ count = 2, of = [\"a\", \"b\", \"c\"] }]
  at_least = [{ count = 1, of = [\"a\", \"b\"] }]
  [costs]                              # cost of each feature for the budget; \"*\" is for all others
  age = 1.0
  [weights]                            # signs and bounds of weights
  age = \"+\"                            # or [lower, upper], such as [-0.5, 0.5]
or one table per rule, in any order and number:
  [[rule]]
  implies = [\"a\", \"b\"]                 # a needs b
  [[rule]]
  at_most = 2
  of = [\"a\", \"b\", \"c\"]
Options on the command line are added to those of the file; a size or a budget stands in one of the two only.

Examples:
  fewest select wdbc.csv --method rfe --max-features 5
  fewest select wdbc.csv --method rfe --max-features 5 --require mean_area --at-most 1:mean_radius,worst_radius
  fewest select wdbc.csv --method rfe --max-features 5 --certify          how far this is from the best five
  fewest select wdbc.csv --method exact --penalty 2 --solutions 3         size by a price per feature; the three best
  fewest select wdbc.csv --method rfe --budget 12.5 --feature-costs costs.csv --json -
  fewest select a9a.svm.gz --method info-gain --max-features 20";

/// Shown under `fewest path --help`.
pub(super) const PATH_EXAMPLES: &str = "\
Each method has options of its own: `fewest path --method exact --help` shows them with these.
Each size starts from what the sizes before it found. The time limit is for the whole path.

Examples:
  fewest path wdbc.csv --method exact --max-features 1..10
  fewest path wdbc.csv --method rfe --max-features 1,2,5,10 --certify --json path.json
  fewest path genes.csv.gz --method exact --max-features 2..20:2 --cost 0.01 --time-limit 10m
  fewest path genes.csv.gz --method rfe --max-features 1..20 --cv 10 --report path.html";

/// Shown under `fewest evaluate --help`.
pub(super) const EVALUATE_EXAMPLES: &str = "\
Each method has options of its own: `fewest evaluate --method exact --help` shows them with these.
Scaling, constant and low-variance features, class weights, gammas, tuning and selection are all found on the training part of each
fold. The time limit is for all of it. Ranges of --max-features make the size a choice inside the folds.

Examples:
  fewest evaluate wdbc.csv --method rfe --max-features 5 --cv 10 --repeats 5
  fewest evaluate wdbc.csv --method exact --max-features 1..8 --choose one-se --tune C=0.1,1,10
  fewest evaluate wdbc.csv --method exact --max-features 5 --against rfe --json report.json
  fewest evaluate d.csv --method rfe --max-features 5 --truth x1,x7,x9";

/// Shown under `fewest stability --help`.
pub(super) const STABILITY_EXAMPLES: &str = "\
Each method has options of its own: `fewest stability --method exact --help` shows them with these.
The method runs on both halves of the samples, again and again; scaling, constant features and class weights are found in each half alone.
False is a feature that a half selects no more often than q of p features by chance, with q features to a half (docs/use/stability.md).

Examples:
  fewest stability genes.csv.gz --method rfe --step half --max-features 10
  fewest stability wdbc.csv --method exact --cost 0.1 --max-features 5 --max-false 0.5 --report stability.html
  fewest stability wdbc.csv --method rfe --max-features 5 --threshold 0.9 --pairs 100 --assume any";

/// Shown under `fewest knockoffs --help`.
pub(super) const KNOCKOFF_EXAMPLES: &str = "\
Each method has options of its own: `fewest knockoffs --method rfe --help` shows them with these.
A feature is false where, given all others, it says nothing of the class. At least 1 / Q features are selected, or none (docs/use/knockoffs.md).

Examples:
  fewest knockoffs genes.csv.gz --method rfe --step half
  fewest knockoffs genes.csv.gz --method fgm --subset-size 50 --fdr 0.1 --draws 20 --json found.json";

/// Shown under `fewest certify --help`.
pub(super) const CERTIFY_EXAMPLES: &str = "\
The list may come from anywhere: a publication, a colleague, another program. It is compared with the best subset of at most as many
features (--max-features: of another size) for a linear SVM, under the rules; a list that breaks them is judged nevertheless, and the
rules it breaks are named. For each of its features: the objective without it, and which other one could best take its place.

Examples:
  fewest certify wdbc.csv --features worst_area,mean_texture,area_error
  fewest certify genes.csv.gz --features signature.txt --cost 0.01 --time-limit 5m --proof signature.proof
  fewest certify wdbc.csv --features draft.txt --forbid worst_area --solutions 10 --json verdict.json

Exit codes: 0 finished, 2 usage or bad input, 3 stopped at a limit or by Ctrl-C with what is proven so far, 4 no subset of that size
satisfies the rules.";

/// Shown under `fewest study --help`.
pub(super) const STUDY_EXAMPLES: &str = "\
Inside each outer fold, without its samples: scaling, constant and low-variance features, class weights, and the choice of method,
cost of the selection, cost of the classifier and size, by inner folds. Then the same on all samples, for the panel; its proof comes
last. The time limit is for all of it. The same seed gives the same answer on any number of threads, as long as no limit is met.

Examples:
  fewest study wdbc.csv --report study.html
  fewest study genes.csv.gz --max-features 1..20 --require TP53 --json study.json --model panel.json
  fewest study genes.csv.gz --methods exact,rfe --time-limit 1h --resume study.state
  fewest study wdbc.csv --proof panel.proof; fewest verify panel.proof wdbc.csv
  fewest study clinic.csv --points --external other_clinic.csv --report study.html";

/// Shown under `fewest markers --help`.
pub(super) const MARKERS_EXAMPLES: &str = "\
The model: an SVM for each pair of classes on the shared features, each class of equal weight, so that a pair that is hard to tell apart
costs most and a rare class as much as a frequent one. Of the panels nearly as good as the best, the one that halves of the samples choose again.
Counts of cells: add --normalize-total 1e4 --log1p.

Examples:
  fewest markers cells.h5ad --target obs/cell_type --max-features 50 --groups obs/donor --report markers.html
  fewest markers cells.h5ad --target cell_type --max-features 50 --per-class 2 --forbid 'MT-*,/^RP[SL]/' --expression ..3
  fewest markers cells.h5ad --target cell_type --max-features 20 --require CD3D,MS4A1 --json markers.json";

/// Shown under `fewest compare --help`.
pub(super) const COMPARE_EXAMPLES: &str = "\
Each list has a classifier in each fold, at one cost for all; everything is scaled inside the folds. A list that was chosen on these samples
has seen those held out, too: give other samples, or read its F1 as too high.

Examples:
  fewest compare cells.h5ad --target cell_type ours=markers.json theirs=panel.txt --groups donor --report compare.html
  fewest compare cells.h5ad --target cell_type CD3D,MS4A1,NKG7 CD3D,MS4A1,NKG7,LYZ --json compare.json";

/// Shown under `fewest report --help`.
pub(super) const REPORT_EXAMPLES: &str = "\
The page is one file, loads nothing, and is the one that --report writes. Stand-ins, correlations and the strength of single features are
in it where the JSON was written with --describe or --report.

Examples:
  fewest select wdbc.csv --method exact --max-features 5 --describe --json result.json
  fewest report result.json -o result.html";
