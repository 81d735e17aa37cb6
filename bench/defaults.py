"""Which defaults win? Forms of a study and of fixed costs on a half of the corpus (bench/corpus.py), five outer folds, at most ten features.

    defaults.py --half first [--sets SET ...] [--methods METHOD ...] [--report]

The first half is to tune on; the second is opened once, when the choice stands (--half second). Rows are kept in bench/.cache/defaults.jsonl, and what
is not yet there is run: the outer folds, seconds and limits are those of bench/benefit.py. Writes results/defaults_HALF.md.
"""

import argparse
import json
import math
import time

import benefit
import benefit_report as b
import common as c
import corpus
import numpy as np

SIZE = 10
KEPT = c.CACHE / "defaults.jsonl"
METHODS = [*(name for name in benefit.OURS if name != "kta, auto"), *benefit.VARIANTS]
# Larger is better, or smaller.
MEASURES = {"accuracy": 1, "auc": 1, "log_loss": -1}


def labels(path):
    """The labels of a file of the corpus."""
    import gzip

    lines = gzip.open(path, "rt").read().splitlines()
    return np.array([int(line.split(" ", 1)[0]) for line in lines] if ".svm" in path.name else [int(line.rpartition(",")[2]) for line in lines[1:]])


def run(sets, a):
    binary, version = c.program(a.fewest)
    rows, trouble = benefit.Rows(KEPT), []
    for one in sets:
        path = a.folder / one["file"]
        y, names = labels(path), [f"x{j + 1}" for j in range(one["features"])]
        place = {"set": one["name"], "repeat": 0}
        missing = [m for m in a.methods if not all(rows.has(**place, method=m, size=SIZE, fold=fold) for fold in range(benefit.FOLDS))]
        folds = benefit.outer(binary, np.arange(len(y), dtype=float)[:, None], y, 0) if missing else []
        for method in missing:
            start = time.perf_counter()
            try:
                benefit.ours(binary, version, rows, place, path, names, method, SIZE, folds, a.limit)
            except RuntimeError as why:
                trouble.append(f"{one['name']}, {method}: {why}")
                print(trouble[-1], flush=True)
            print(f"{one['name']} {method}: {time.perf_counter() - start:.1f} s", flush=True)
    return trouble


def report(sets, half, trouble):
    widths, methods = {one["name"]: one["features"] for one in sets}, [*METHODS[:1], b.SMALLEST, *METHODS[1:]]
    table = b.cells([row for row in b.rows(KEPT) if row["set"] in widths], SIZE, benefit.FOLDS, widths)
    methods = [method for method in methods if any(method in of for of in table.values())]
    whole = {name: of for name, of in table.items() if all(method in of for method in methods)}
    page = [f"# Defaults, the {half} half of the corpus", "", f"    python3 bench/corpus.py; python3 bench/defaults.py --half {half}", ""]
    page += [f"{len(whole)} of {len(sets)} sets, on which all forms are done; five outer folds, at most {SIZE} features. Ranks: 1 is the best of the set, ties shared.", ""]
    ranks = {}
    for measure, sign in MEASURES.items():
        # evaluate has no probabilities.
        known = [method for method in methods if all(getattr(at[method], measure) is not None for at in whole.values())]
        ranks[measure] = b.ranked(whole, known, measure, sign)[0]
    heads = ["form", *(f"rank, {measure.replace('_', '-')}" for measure in MEASURES), *(measure.replace("_", "-") for measure in MEASURES), "features", "stability", "s / fold"]
    lines = []
    for method in sorted(methods, key=lambda method: ranks["accuracy"].get(method, math.inf)):
        of = lambda what, method=method: b.mean([getattr(known[method], what) for known in whole.values()])
        line = [method, *(b.shown(ranks[measure].get(method), 2) for measure in MEASURES), *(b.shown(of(measure)) for measure in MEASURES)]
        lines.append([*line, b.shown(of("features"), 1), b.shown(of("stability")), b.shown(of("seconds"), 2)])
    page += b.grid(heads, lines)
    if len(methods) > 1 and whole:
        page += ["", f"Mean ranks differ at 5 % from {b.critical_difference(len(methods), len(whole)):.2f} on (Nemenyi, all pairs)."]
    page += ["", *b.grid(["accuracy", *methods], [[name, *(b.shown(table[name][m].accuracy) if m in table[name] else "-" for m in methods)] for name in sorted(table)])]
    page += ["", "Not done: " + ("; ".join(trouble) or "none") + ".", "", f"{c.cpu()}, {c.versions()}."]
    (c.RESULTS / f"defaults_{half}.md").write_text("\n".join(page) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["first", "second"], required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds of a fold")
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    parser.add_argument("--folder", type=corpus.pathlib.Path, default=corpus.FOLDER)
    parser.add_argument("--report", action="store_true", help="write the results of what is known, run nothing")
    a = parser.parse_args()
    sets = [one for one in json.loads((a.folder / "sets.json").read_text()) if one["half"] == a.half]
    trouble = [] if a.report else run([one for one in sets if a.sets is None or one["name"] in a.sets], a)
    report(sets, a.half, trouble)
    if trouble:
        raise SystemExit("\n".join(trouble))


if __name__ == "__main__":
    main()
