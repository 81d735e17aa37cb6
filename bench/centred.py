"""Does tan2010's own scaling, mean 0 and variance 1, serve sparse data better than the default? Judged on samples that took no part.

    centred.py [--sets SET ...] [--fewest FILE] [--report]

`fewest evaluate -m fgm --max-features B` (no bias, as the paper) on the same stratified folds by each scaling, at the best of COSTS of each.
Rows are kept in results/centred.jsonl, and what is not yet there is run, by one thread. Writes results/centred.md.
"""

import argparse
import itertools
import statistics

import common as c
from weight_bound import asked

SETS = ("dorothea_train", "basehock", "a9a", "w8a", "farm_ads", "rcv1_small_train")
SCALES, COSTS, SIZE, FOLDS, SECONDS = ("maxabs", "none", "standard"), (0.001, 0.01, 0.1, 1), 20, 5, 150


def run(a, kept, binary, version):
    for name, scale, cost in itertools.product(a.sets or SETS, SCALES, COSTS):
        case = f"{name}, C = {cost}"
        if kept.get(scale, case):
            continue
        words = [c.DATA / f"{name}.svm.gz", "--method", "fgm", "--max-features", SIZE, "--cost", cost, "--scale", scale]
        found = asked(binary, ["evaluate", *words, "--cv", FOLDS, "--seed", 0, "--time-limit", f"{SECONDS}s"])
        folds = [fold for fold in found["folds"] if fold.get("metrics")]
        row = {key: [fold["metrics"][key] for fold in folds] for key in ("balanced_accuracy", "accuracy", "auc")}
        row |= {"seconds": [fold["seconds"] for fold in folds], "status": [fold["status"] for fold in folds], "version": version}
        kept.add(scale, case, **row)
        print(case, scale, len(folds), [f"{statistics.fmean(row[key]):.4f}" for key in ("balanced_accuracy", "auc") if row[key]], flush=True)


def page(kept):
    head = ["# Scaling of sparse data: `fgm`", ""]
    head += [f"`bench/centred.py`: {SIZE} features, no bias, {FOLDS} folds, each scaling at the C of {', '.join(map(str, COSTS))} of the largest balanced accuracy; "]
    head[-1] += f"a run ends after {SECONDS} s. Balanced accuracy, AUC in % (mean of the folds that ended, ± their standard deviation), C, seconds a fold by one thread."
    lines = [*head, "", "| set | " + " | ".join(f"`{scale}`" for scale in SCALES) + " |", "| --- |" + " --- |" * len(SCALES)]
    for name in SETS:
        cells = []
        for scale in SCALES:
            rows = [(cost, kept.get(scale, f"{name}, C = {cost}")) for cost in COSTS]
            done = [(cost, row) for cost, row in rows if row and len(row["auc"]) == FOLDS]
            if not done:
                cells.append("-")
                continue
            cost, row = max(done, key=lambda of: statistics.fmean(of[1]["balanced_accuracy"]))
            of = lambda key: f"{100 * statistics.fmean(row[key]):.1f} ± {100 * statistics.stdev(row[key]):.1f}"
            cells.append(f"{of('balanced_accuracy')}, {of('auc')}, C = {cost}, {statistics.fmean(row['seconds']):.2g} s")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    (c.RESULTS / "centred.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS)
    parser.add_argument("--fewest", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="only the page, from the rows kept")
    a = parser.parse_args()
    kept = c.Kept("centred")
    if not a.report:
        run(a, kept, *c.program(a.fewest))
    page(kept)


if __name__ == "__main__":
    main()
