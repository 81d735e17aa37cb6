"""Do our defaults win? Our methods as they come and eight peers (bench/benefit_peers.py) on a half of the corpus (bench/corpus.py), at most ten features.

    defaults.py --half first [--sets SET ...] [--methods METHOD ...] [--report]

The first half is to tune on; the second is opened once, when the choice stands (--half second). Rows are kept in results/defaults_HALF.jsonl, and what is
not yet there is run: five outer folds, seconds and limits are those of bench/benefit.py. Writes results/defaults_HALF.md. Rules of choice of a study are
compared by bench/study_rules.py.
"""

import gzip
import math
import time

import benefit
import benefit_peers
import benefit_report as b
import common as c
import corpus
import numpy as np

SIZE = 10
PEERS = ["ANOVA", "mutual information", "random forest", "L1", "RFE", "RFECV", "mRMR", "HSIC Lasso"]
METHODS = [*(name for name in benefit.OURS if name != "kta, auto"), *PEERS]
# Larger is better, or smaller.
MEASURES = {"accuracy": 1, "auc": 1, "log_loss": -1}


def kept(half):
    return c.RESULTS / f"defaults_{half}.jsonl"


def opened(path, p):
    """(X, y) of a file of the corpus, -1 and 1."""
    if ".svm" in path.name:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(path), n_features=p)
        return X.toarray(), y
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1)
    return rows[:, :-1], np.where(rows[:, -1] > 0, 1, -1)


def run(sets, a):
    binary, version = c.program(a.fewest)
    rows, trouble = benefit.Rows(kept(a.half)), []
    for one in sets:
        path = a.folder / one["file"]
        (X, y), names = opened(path, one["features"]), [f"x{j + 1}" for j in range(one["features"])]
        place = {"set": one["name"], "repeat": 0}
        missing = [m for m in a.methods if not all(rows.has(**place, method=m, size=SIZE, fold=fold) for fold in range(benefit.FOLDS))]
        folds = benefit.outer(binary, np.arange(len(y), dtype=float)[:, None], y, 0) if missing else []
        for method in missing:
            start = time.perf_counter()
            try:
                if method in PEERS:
                    benefit.peers(rows, place, X, y, method, folds, a.limit, [SIZE])
                    continue
                benefit.ours(binary, version, rows, place, path, names, method, SIZE, folds, a.limit)
            except RuntimeError as why:
                trouble.append(f"{one['name']}, {method}: {why}")
                print(trouble[-1], flush=True)
            print(f"{one['name']} {method}: {time.perf_counter() - start:.1f} s", flush=True)
    return trouble


def report(sets, half, trouble):
    widths, methods = {one["name"]: one["features"] for one in sets}, [*METHODS[:1], b.SMALLEST, *METHODS[1:]]
    table = b.cells([row for row in b.rows(kept(half)) if row["set"] in widths], SIZE, benefit.FOLDS, widths)
    methods = [method for method in methods if any(method in of for of in table.values())]
    # A method that is done on few sets, as others take it too long, is not ranked.
    done = {method: [of for of in table.values() if method in of] for method in methods}
    ranked = [method for method in methods if len(done[method]) >= 0.8 * len(table)]
    whole = {name: of for name, of in table.items() if all(method in of for method in ranked)}
    page = [f"# Defaults, the {half} half of the corpus", "", f"    python3 bench/corpus.py; python3 bench/defaults.py --half {half}", ""]
    page += [f"Ranks and means over the {len(whole)} of {len(sets)} sets on which the ranked methods are done (others: means over their own sets); five outer folds, at most {SIZE} features. Ranks: 1 is the best of the set, ties shared.", ""]
    ranks = {}
    for measure, sign in MEASURES.items():
        # evaluate and the peers have no probabilities.
        known = [method for method in ranked if all(getattr(at[method], measure) is not None for at in whole.values())]
        ranks[measure] = b.ranked(whole, known, measure, sign)[0]
    heads = ["method", "sets", *(f"rank, {measure.replace('_', '-')}" for measure in MEASURES), *(measure.replace("_", "-") for measure in MEASURES), "features", "stability", "s / fold"]
    lines = []
    for method in sorted(methods, key=lambda method: ranks["accuracy"].get(method, math.inf)):
        over = list(whole.values()) if method in ranked else done[method]
        of = lambda what, method=method, over=over: b.mean([getattr(known[method], what) for known in over])
        line = [method, str(len(over)), *(b.shown(ranks[measure].get(method), 2) for measure in MEASURES), *(b.shown(of(measure)) for measure in MEASURES)]
        lines.append([*line, b.shown(of("features"), 1), b.shown(of("stability")), b.shown(of("seconds"), 2)])
    page += b.grid(heads, lines)
    if len(ranked) > 1 and whole:
        page += ["", f"Mean ranks differ at 5 % from {b.critical_difference(len(ranked), len(whole)):.2f} on (Nemenyi, all pairs)."]
    page += ["", *b.grid(["accuracy", *methods], [[name, *(b.shown(table[name][m].accuracy) if m in table[name] else "-" for m in methods)] for name in sorted(table)])]
    page += ["", "Not done: " + ("; ".join(trouble) or "none") + ".", "", f"{c.cpu()}, {c.versions()}."]
    (c.RESULTS / f"defaults_{half}.md").write_text("\n".join(page) + "\n")


def main():
    parser = corpus.options(__doc__)
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds of a fold")
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    a = parser.parse_args()
    trouble = [] if a.report else run(corpus.of_half(a.folder, a.half, a.sets), a)
    report(corpus.of_half(a.folder, a.half), a.half, trouble)
    if trouble:
        raise SystemExit("\n".join(trouble))


if __name__ == "__main__":
    main()
