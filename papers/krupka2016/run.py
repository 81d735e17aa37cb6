#!/usr/bin/env python3
"""The experiments of krupka2016 with `fewest` on public sets: runs what is missing, then writes the tables.

    python papers/krupka2016/run.py [--fewest PATH] [--only zoo --only wdbc ...] [--quick]

Models R1 to R5 (SVM-RFE, cost tuned at every step, best subset returned: `eb-rfe --candidates 1`) and EB3 to EB20 (R5 with 3, 5, 8, 12
and 20 candidates). Each model is judged twice: by the thesis, where the 9 folds that choose the subset also give its accuracy, and by
nested cross-validation, 5 folds outside and 9 inside each. Then the thesis's tests across data sets: relative improvements with one-sided
t-tests; beside them Friedman's test, Wilcoxon's signed ranks and the sign test.

Expected time on a core of its own: all sets 15 minutes, --quick (three small sets, three models) 20 seconds. Every run is one line of
OUT/runs.jsonl; an interrupted run goes on where it was. The tables are OUT/tables.md. Needs numpy, scipy and scikit-learn.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE), str(HERE.parent)]

import common  # noqa: E402
import sets  # noqa: E402

ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
FIVE, SIX = "0.25,1,4,16,64", "0.0625,0.25,1,4,16,64"
# Candidates, variance threshold, class weights, costs: Table 2.2 and section 3.3.
MODELS = {
    "R1": (1, 0.05, "none", FIVE), "R2": (1, 0.05, "cw3", FIVE), "R3": (1, 0.05, "cw2", FIVE), "R4": (1, 0.02, "none", SIX),
    "R5": (1, 0.02, "cw3", SIX), "EB3": (3, 0.02, "cw3", SIX), "EB5": (5, 0.02, "cw3", SIX), "EB8": (8, 0.02, "cw3", SIX),
    "EB12": (12, 0.02, "cw3", SIX), "EB20": (20, 0.02, "cw3", SIX),
}
CHAIN = ["R5", "EB3", "EB5", "EB8", "EB12", "EB20"]
QUICK = (["zoo", "soybean-small", "hepatitis"], ["R5", "EB3", "EB20"])
INNER, OUTER = 9, 5


class Set:
    """One data set, as a file while the script runs."""

    def __init__(self, name, make, folder):
        self.name = name
        self.X, y = sets.prepared(make)
        self.classes = len(np.unique(y))
        self.file = folder / "d.csv"
        header = ",".join([*(f"x{j + 1}" for j in range(self.X.shape[1])), "y"])
        lines = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(self.X, y)]
        self.file.write_text("\n".join([header, *lines]) + "\n")

    def threshold(self, wanted):
        """The variance threshold, halved until it leaves half of the features: the thesis's are made for rare binary features."""
        while np.mean(self.X.var(axis=0) > wanted) < 0.5:
            wanted /= 2
        return wanted


def run(fewest, command, words):
    """The JSON that `fewest` prints, and its CPU seconds."""
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    start = used()
    done = subprocess.run([fewest, command, *map(str, words), "--json", "-", "--quiet", "--threads", "1"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command} {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout), used() - start


def judge(fewest, data, model):
    """One model on one set: by the thesis, and nested."""
    candidates, variance, weights, costs = MODELS[model]
    threshold = data.threshold(variance)
    words = [data.file, "--text", "y", "--method", "eb-rfe", "--kernel", "rbf", "--gamma", "1/p", "--criterion", "input-weights",
             "--candidates", candidates, "--costs", costs, "--class-weight", weights, "--variance-threshold", threshold]
    found, seconds = run(fewest, "select", [*words, "--cv", INNER])
    nested, nested_seconds = run(fewest, "evaluate", [*words, "--cv", OUTER, "--inner-cv", INNER])
    return {
        "threshold": threshold, "accuracy": found["accuracy"], "features": len(found["selected"]),
        "cost": found["cost"], "seconds": seconds, "nested_accuracy": nested["summary"]["accuracy"]["mean"],
        "nested_features": nested["summary"]["n_features"]["mean"], "nested_seconds": nested_seconds,
    }


def one_sided(values):
    """p of a one-sided t-test that the mean is above 0."""
    return stats.ttest_1samp(values, 0, alternative="greater").pvalue if np.ptp(values) > 0 else float("nan")


def signed(values):
    """p of Wilcoxon's one-sided signed rank test; 1 when all are 0."""
    return stats.wilcoxon(values, alternative="greater").pvalue if np.any(values) else 1.0


def claims(table, accuracy, features, models):
    """One table for each claim: improvements over R5 and over the model to the left, with tests across the sets."""
    for what, better in ((accuracy, "accuracy"), (features, "number of features, fewer is better")):
        # Rounded, so that equal means of the same folds are equal.
        values = {m: np.round([row[m][what] for row in table], 9) for m in models}
        gain = (lambda a, b: 100 * (b - a) / a) if what == accuracy else (lambda a, b: 100 * (a - b) / a)
        yield f"Relative improvement in {better}, mean over {len(table)} sets in %; one-sided tests that it is above 0:"
        yield ""
        yield "| model | mean | over the one to the left | over R5 | t-test p | Wilcoxon p | better, same, worse | sign test p |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
        for at, m in enumerate(models):
            cells = [m, f"{100 * values[m].mean():.2f} %" if what == accuracy else f"{values[m].mean():.1f}"]
            if at == 0:
                cells += [""] * 6
            else:
                over = gain(values["R5"], values[m])
                up, down = int((over > 0).sum()), int((over < 0).sum())
                sign = stats.binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
                cells += [f"{gain(values[models[at - 1]], values[m]).mean():+.2f}", f"{over.mean():+.2f}", f"{one_sided(over):.2g}",
                          f"{signed(over):.2g}", f"{up}, {len(table) - up - down}, {down}", f"{sign:.2g}"]
            yield f"| {' | '.join(cells)} |"
        yield ""
        if len(models) > 2 and len(table) > 1:
            sides = [values[m] if what == accuracy else -values[m] for m in models]
            ranks = np.mean([stats.rankdata(-np.array(row)) for row in zip(*sides)], axis=0)
            test = stats.friedmanchisquare(*sides)
            yield (f"Friedman: chi-squared {test.statistic:.2f} with {len(models) - 1} degrees of freedom, p = {test.pvalue:.2g}; mean ranks (1 is best) "
                   + ", ".join(f"{m} {r:.2f}" for m, r in zip(models, ranks)) + ".")
            yield ""


def tables(rows, done, models):
    """All tables, from the rows of the sets that every model has been judged on."""
    table = [done[name] for name in rows]
    chain = [m for m in CHAIN if m in models]
    yield f"Sets: {len(table)}. Accuracy in % and number of features, by the thesis (choosing and judging by the same {INNER} folds):"
    yield ""
    for label, accuracy, features in (("", "accuracy", "features"), ("nested", "nested_accuracy", "nested_features")):
        if label:
            yield f"By nested cross-validation ({OUTER} folds outside, {INNER} inside; features are a mean over the outer folds):"
            yield ""
        yield f"| set | n, p, classes | {' | '.join(models)} |"
        yield f"| --- | --- | {' | '.join('---' for _ in models)} |"
        for name, row in zip(rows, table):
            shape = row["shape"]
            cells = [f"{100 * row[m][accuracy]:.1f}, {row[m][features]:.3g}" for m in models]
            yield f"| {name} | {shape[0]}, {shape[1]}, {shape[2]} | {' | '.join(cells)} |"
        means = [f"{100 * np.mean([r[m][accuracy] for r in table]):.2f}, {np.mean([r[m][features] for r in table]):.1f}" for m in models]
        yield f"| mean | | {' | '.join(means)} |"
        yield ""
    for label, accuracy, features in (("By the thesis", "accuracy", "features"), ("Nested", "nested_accuracy", "nested_features")):
        yield f"## {label}"
        yield ""
        yield from claims(table, accuracy, features, chain)
    total = sum(r[m]["seconds"] + r[m]["nested_seconds"] for r in table for m in models)
    yield f"All runs together: {total / 60:.1f} CPU minutes."


def main():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fewest", default=str(target / "release" / "fewest"), help="the binary [default: %(default)s]")
    parser.add_argument("--only", action="append", default=[], help="a set; repeat freely [default: all]")
    parser.add_argument("--out", help="folder of the results [default: results beside this file; .quick with --quick]")
    parser.add_argument("--quick", action="store_true", help="three small sets and three models, to see that all works")
    args = parser.parse_args()
    known = sets.sources(DATA)
    if unknown := [name for name in args.only if name not in known]:
        sys.exit(f"--only {unknown[0]}: the sets are {', '.join(known)}")
    if not DATA.is_dir():
        sys.exit(f"there is no folder {DATA}; name the one with the data in FEWEST_DATA")
    if not pathlib.Path(args.fewest).is_file():
        sys.exit(f"{args.fewest} is missing: cargo build --release -p fewest-cli, or name the binary with --fewest PATH")
    names, models = (args.only or QUICK[0], QUICK[1]) if args.quick else (args.only or list(known), list(MODELS))
    out = pathlib.Path(args.out or HERE / (".quick" if args.quick else "results"))
    out.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([args.fewest, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    log = out / "runs.jsonl"
    runs = {(row["set"], row["model"]): row for row in map(json.loads, common.whole_lines(log))}
    done, finished = {}, []
    try:
        for name in names:
            missing = [model for model in models if (name, model) not in runs]
            with tempfile.TemporaryDirectory() as folder:
                data = Set(name, known[name], pathlib.Path(folder)) if missing else None
                for model in missing:
                    shape = (*data.X.shape, data.classes)
                    runs[name, model] = {"set": name, "shape": shape, "model": model, **judge(args.fewest, data, model)}
                    with open(log, "a") as file:
                        file.write(json.dumps(runs[name, model]) + "\n")
                    print(json.dumps(runs[name, model]), flush=True)
            row = {"shape": runs[name, models[0]]["shape"], **{model: runs[name, model] for model in models}}
            done[name] = row
            finished.append(name)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here")
    if finished:
        head = f"Written by `papers/krupka2016/run.py`, fewest {version}, one thread, {common.processor()}."
        text = ["# krupka2016", "", head, "", *tables(finished, done, models)]
        (out / "tables.md").write_text("\n".join(text) + "\n")
        print(f"wrote {out / 'tables.md'}")


if __name__ == "__main__":
    main()
