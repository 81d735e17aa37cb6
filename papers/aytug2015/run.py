#!/usr/bin/env python3
"""The experiments of aytug2015 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/aytug2015/run.py [--fewest PATH] [--only 1 | --only '1/n500-*' ...] [--methods RFE,GBD-M]

For each problem and method: `fewest select` on the training set, at one cost C or several; of
several, the classifier of lowest validation error counts (the smallest C among equals), and its
test error is reported, as in the paper. RFE, InfoGain, ONSVM, GBD-M and `exact` each have their own C,
as in the paper; GBD as printed, GBD-lambda, the proofs of `exact`, and all that solve the problem in
experiment 2, have that of RFE. FSV has C = 1.

GBD judges every subset it tries on the validation set, too (`gbd --validate`): a row has the
classifier of best objective, and that of lowest validation error, which is what the paper reports.
The pages are OUT/experiment{1,2,3}.md and OUT/tuned.md. The claims of docs/reproduction.md need scipy.
"""

import fnmatch
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402
import experiments  # noqa: E402
import tables  # noqa: E402
from methods import METHODS, Method  # noqa: E402

COSTS = [2.0**k for k in range(-2, 6)]  # the paper's
# In experiment 2, where one solve of RFE at a small C takes up to a minute: by M, what RFE is run at on
# every instance. On the first of each M all C were run, and none of those left out had the lowest
# validation error. ONSVM stops at 4, where its linear programs take longest.
FEW = {20: COSTS[5:], 100: COSTS[5:], 200: COSTS[5:], 400: COSTS[3:], 600: COSTS[3:]}
SHARES = [0.25, 1.0, 4.0]  # of the penalised form's first guess of lambda
# FSV's lambda, "between zero and one" in the paper. At the paper's 1 errors do not count, so that no
# feature is best, and `fsv` refuses it. At 0 features do not count: that is a linear program of the
# errors, not a selection. Older rows have it; the pages leave it out.
LAMBDAS = [0.01, 0.05, 0.25, 0.5]


def select(fewest, method, problem, files, cost, share, folder):
    """The result of `fewest select`, and the price of a feature in the penalised form."""
    price = share and share * first_lambda(fewest, problem, files, cost, folder) if method.form == "lambda" else None
    words = ["-m", method.name, "--scale", problem.scale, "--time-limit", f"{method.within(problem.experiment):g}s"]
    words += {"M": ["--max-features", problem.M], "lambda": ["--penalty", price], "free": []}.get(
        method.form, ["--max-features", problem.M, "--lambda", share]
    )
    words += [] if method.form == "fsv" else ["--cost", cost]
    options = method.options.replace("--validate", f"--validate {files['validation']}").split()
    return fewest.select(files["train"], *words, *options), price


def first_lambda(fewest, problem, files, cost, folder):
    """Half the squared M-th largest weight of the SVM on all features: by (15) of the paper, the
    lambda up to which the first cut keeps M features. It is the number of `--penalty auto`, which
    holds the subset to M features, too, as GBD-lambda is not.
    """
    words = ["--all-features", "--cost", cost, "--scale", problem.scale, "--threads", 1]
    weights = fewest.json("fit", files["train"], *words)["model"]["weights"]
    squares = sorted((w * w for w in weights.values()), reverse=True)
    return squares[min(problem.M, len(squares)) - 1] / 2


def measures(result, truth):
    """Overlap (p minus the Hamming distance of the supports) and inner product of the normalised weights."""
    weights = {name: w for name, w in result["model"]["weights"].items() if w != 0.0}
    true = truth["weights"]
    overlap = truth["n_features"] - len(weights.keys() ^ true.keys())
    dot = sum(w * true.get(name, 0.0) for name, w in weights.items())
    norms = [sum(w * w for w in ws.values()) ** 0.5 for ws in (weights, true)]
    return {"overlap": overlap, "inner_product": dot / (norms[0] * norms[1]) if all(norms) else 0.0}


def solve(fewest, method, problem, files, cost, share, folder):
    """What a row holds."""
    result, price = select(fewest, method, problem, files, cost, share, folder)
    row = {"n": result["n_samples"], "p": result["n_features"], "M": problem.M, "lambda": price}
    row |= {k: result[k] for k in ("status", "objective", "bound", "seconds")}
    row |= {"cuts": result["counts"]["cuts"], "nodes": result["counts"]["nodes"], "n_selected": len(result["selected"])}
    if result["model"] is None:
        return row | {"empty": True}
    truth = json.loads((folder / "truth.json").read_text()) if problem.experiment != 3 else None
    row |= judged(fewest, result, files, folder, truth)
    best = result.get("validated")
    if best and best["selected"]:
        # The paper reports the classifier of lowest validation error of all iterations.
        words = ["--features", ",".join(best["selected"]), "--cost", cost, "--scale", problem.scale, "--threads", 1]
        row["validated"] = judged(fewest, fewest.json("fit", files["train"], *words), files, folder, truth)
        row["validated"] |= {"n_selected": len(best["selected"]), "objective": best["objective"], "judged": best["judged"]}
    return row


def judged(fewest, result, files, folder, truth):
    out = {f"{part}_error": 1 - fewest.judged(result, files[part], folder) for part in ("validation", "test")}
    return out | (measures(result, truth) if truth else {})


def ask(fewest, rows, problem, methods, args):
    """All solves of a problem; its files are made when the first solve needs them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files, rfe_cost = {}, None
        for method in methods:
            if problem.experiment not in method.experiments:
                continue
            costs = [1.0] if method.form == "fsv" else args.costs or grid(problem, method) if problem.experiment in method.tuned else [rfe_cost]
            if costs == [None]:
                continue  # RFE failed, so that there is no cost to use
            found = []
            for cost in costs:
                for share in {"lambda": args.shares, "fsv": args.lambdas}.get(method.form, [None]):
                    key = {
                        "problem": problem.name,
                        "method": method.key,
                        "cost": cost,
                        "share": share,
                        "limit": method.within(problem.experiment),
                        "options": method.options,
                    }

                    def work():
                        if not files and problem.experiment == 3:
                            files.update(experiments.split(common.data(), problem, folder))
                        elif not files:
                            files.update(experiments.generate(fewest, problem, folder))
                        return solve(fewest, method, problem, files, cost, share, folder)

                    found.append(rows.get(key, work))
            if method.label == "RFE":
                # Among all costs that were run, as the tables choose.
                best = tables.chosen(rows.where(problem=problem.name, method="RFE", limit=method.within(problem.experiment)))
                rfe_cost = best and best["key"]["cost"]


def grid(problem, method):
    """The values of C of a tuned method."""
    if problem.experiment == 2 and method.label in ("RFE", "ONSVM"):
        return FEW[problem.M] if method.label == "RFE" else COSTS[:5]
    return COSTS


def onsvm():
    """What onsvm.py found on the real data, by name."""
    return json.loads((HERE / "onsvm.json").read_text())


def problems(args):
    """The problems asked for."""
    every = experiments.experiment_1() + experiments.experiment_2()
    every += experiments.experiment_3({name: entry["M"] for name, entry in onsvm().items()})
    if args.quick:
        every = [p for p in every if experiments.quick(p)]
    patterns = [f"{only}/*" if only in ("1", "2", "3") else only for only in args.only]
    chosen = [p for p in every if not patterns or any(fnmatch.fnmatch(p.name, pattern) for pattern in patterns)]
    if not chosen:
        sys.exit(f"--only {' '.join(args.only)} names no problem; names look like 1/n500-p20/0, 2/M100/0 and 3/wdbc")
    return chosen


def run(fewest, rows, args):
    wanted = set(args.methods.split(",")) if args.methods else {m.label for m in METHODS}
    # RFE has the C of those that are not tuned.
    needed = {"RFE"} if any(m.tuned != (1, 2, 3) and m.form != "fsv" for m in METHODS if m.label in wanted) else set()
    limited = lambda m: vars(m) | ({"limit": args.time_limit, "second": None} if args.time_limit and m.label in wanted else {})
    methods = [Method(**limited(m)) for m in METHODS if m.label in wanted | needed]
    for problem in problems(args):
        ask(fewest, rows, problem, methods, args)


def main():
    options = common.parser(__doc__)
    options.add_argument(
        "--methods", help="labels of the methods to run, with commas; RFE comes along [default: all]"
    )
    options.add_argument("--time-limit", type=float, help="seconds for each solve of these methods [default: those of methods.py]")
    costs = lambda text: [float(c) for c in text.split(",")]
    options.add_argument("--costs", type=costs, help="values of C, with commas [default: 0.25 to 32, the paper's; of RFE and ONSVM fewer in experiment 2]")
    args = options.parse_args()
    labels = [m.label for m in METHODS]
    if unknown := [m for m in (args.methods or "").split(",") if m and m not in labels]:
        sys.exit(f"--methods {','.join(unknown)}: there are {', '.join(labels)}")
    options.set_defaults(shares=SHARES, lambdas=LAMBDAS)
    if args.quick:
        options.set_defaults(costs=[1.0, 32.0], shares=[1.0], lambdas=[0.05], time_limit=0.3)
    common.main(HERE, options, run, tables.pages, tables.blocks, claims, shown)


def claims(rows):
    """The paper's claims."""
    from claims import claims as of_rows

    return of_rows(rows)


def shown():
    """The paper's tables and figures."""
    from claims import SHOWN

    return SHOWN


if __name__ == "__main__":
    main()
