"""Is multiple SVM-RFE (Duan et al. 2005) more accurate, or steadier, than SVM-RFE?

usage: python bench/multiple_rfe.py [--sets leukemia_golub ...] [--repeats 2] [--minutes 15]
Nested: `fewest evaluate` selects again in each of ten folds, dealt `--repeats` times, the same for all; one feature at a time below
`--halve-above`. Each run is a line of results/multiple_rfe.jsonl, so that it goes on where it was stopped.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "papers"))

from paired import Paired  # noqa: E402

DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
FEWEST = pathlib.Path(os.environ.get("FEWEST", ROOT / "target" / "release" / "fewest"))
RESULTS = ROOT / "bench" / "results"
SETS = [
    "leukemia_golub", "breast_gravier", "cns_pomeroy", "dlbcl_shipp", "huntington_borovecki",
    "breast_west_er", "breast_west_nodal", "glioma_4434", "arcene", "ovarian_1536",
]
SIZES = [5, 10, 20, 50]
WAYS = {
    "rfe": [],
    "10 folds, dealt at each step": ["--resamples", "10"],
    "10 folds, dealt once": ["--resamples", "10", "--resampling", "fixed-folds"],
    "10 bootstraps": ["--resamples", "10", "--resampling", "bootstrap"],
}
FOLDS, HALVE_ABOVE = 10, 500


def evaluated(name, size, way, repeats):
    """A run as a line of results."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "e.json"
        more = ["--cv", FOLDS, "--repeats", repeats, "--halve-above", HALVE_ABOVE, "--threads", 1, "--json", out, "-q", *WAYS[way]]
        words = [FEWEST, "evaluate", DATA / f"{name}.csv.gz", "--target", "y", "--method", "rfe", "--max-features", size, *more]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, (words, done.stderr)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        found = json.loads(out.read_text())
    folds = [fold["metrics"]["accuracy"] for fold in found["folds"]]
    row = {"set": name, "size": size, "way": way, "repeats": repeats, "seconds": round(seconds, 2), "accuracies": folds}
    return {**row, "stability": found["stability"]}


def stability(row):
    return row["stability"]["index"]


def written(rows):
    """The page."""
    by = collections.defaultdict(dict)
    for row in rows:
        by[row["set"], row["size"]][row["way"]] = row
    by = {key: ways for key, ways in by.items() if len(ways) == len(WAYS)}
    others = [way for way in WAYS if way != "rfe"]
    lines = [
        "# Multiple SVM-RFE beside SVM-RFE", "",
        f"`bench/multiple_rfe.py`: C = 1, nested, {FOLDS} folds, the same for all; `--halve-above {HALVE_ABOVE}`. Differences of accuracy are "
        "to `rfe`, in points, paired by fold, with the standard error of Nadeau and Bengio; stability is Nogueira's. Seconds are CPU, one thread.",
        "", "## Over the sets", "",
        "| size | sets | " + " | ".join(f"{way}: accuracy, stability" for way in WAYS) + " |", "| " + "--- | " * (2 + len(WAYS)),
    ]
    for size in SIZES:
        here = [ways for (_, s), ways in by.items() if s == size]
        if here:
            mean = lambda way: (np.mean([np.mean(w[way]["accuracies"]) for w in here]), np.mean([stability(w[way]) for w in here]))
            lines.append(f"| {size} | {len(here)} | " + " | ".join("{:.3f}, {:.3f}".format(*mean(way)) for way in WAYS) + " |")
    lines += ["", "Mean difference to `rfe` over sets and its standard error over sets (sets are independent, sizes of one set are not):", ""]
    lines += ["| way | " + " | ".join(f"{s}: accuracy, points" for s in SIZES) + " | " + " | ".join(f"{s}: stability" for s in SIZES) + " |"]
    lines += ["| " + "--- | " * (1 + 2 * len(SIZES))]
    for way in others:
        cells = []
        for what, scale in ((lambda row: np.mean(row["accuracies"]), 100), (stability, 1)):
            for size in SIZES:
                here = [w for (_, s), w in by.items() if s == size]
                d = Paired([scale * what(w[way]) for w in here], [scale * what(w["rfe"]) for w in here])
                cells.append(f"{d.mean:+.1f} ± {d.error:.1f}" if scale == 100 else f"{d.mean:+.3f} ± {d.error:.3f}")
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    beyond = {way: [0, 0] for way in others}
    lines += ["", "## Each set", ""]
    lines += ["| set | size | rfe: accuracy | " + " | ".join(f"{way}: points" for way in others)]
    lines[-1] += " | " + " | ".join(f"{way}: stability" for way in WAYS) + " | CPU s |"
    lines += ["| " + "--- | " * (4 + len(others) + len(WAYS))]
    for (name, size), ways in sorted(by.items()):
        cells = []
        for way in others:
            d = Paired(ways[way]["accuracies"], ways["rfe"]["accuracies"], share=1 / (FOLDS - 1))
            cells.append(f"{100 * d.mean:+.1f} ± {100 * d.error:.1f}")
            if abs(d.mean) > 2 * d.error:
                beyond[way][int(d.mean < 0)] += 1
        steady = " | ".join(f"{stability(ways[way]):.3f}" for way in WAYS)
        seconds = ", ".join(f"{ways[way]['seconds']:.1f}" for way in WAYS)
        lines.append(f"| {name} | {size} | {np.mean(ways['rfe']['accuracies']):.3f} | " + " | ".join(cells) + f" | {steady} | {seconds} |")
    told = "; ".join(f"{way}: {more} better, {less} worse" for way, (more, less) in beyond.items())
    lines += ["", f"Beyond two corrected errors, of {len(by)} rows: {told}."]
    absent = [name for name in SETS if not any(name == known for known, _ in by)]
    lines += ["", f"Not run, for lack of time: {', '.join(absent)}."] if absent else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options.add_argument("--repeats", type=int, default=2)
    options.add_argument("--minutes", type=float, default=15, help="no run begins after this many of CPU time")
    options = options.parse_args()
    kept = RESULTS / "multiple_rfe.jsonl"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known = {(row["set"], row["size"], row["way"], row["repeats"]) for row in rows}
    used, began = 0.0, time.monotonic()
    for name in options.sets:
        for size in SIZES:
            for way in WAYS:
                if (name, size, way, options.repeats) in known or used > 60 * options.minutes:
                    continue
                row = evaluated(name, size, way, options.repeats)
                used += row["seconds"]
                rows.append(row)
                with kept.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{time.monotonic() - began:6.0f} s  {name} {size} {way}: {np.mean(row['accuracies']):.3f}, {row['seconds']} CPU s", flush=True)
    (RESULTS / "multiple_rfe.md").write_text(written([row for row in rows if row["repeats"] == options.repeats]))


if __name__ == "__main__":
    main()
