"""The knockoff filter where the truth is known: is the share of false features kept, and how many true ones are found?

knockoffs.py [--repetitions 500] [--binary FILE]: normal features with correlations rho^|i - j|, or heavy-tailed ones of the same correlations (t, 5 degrees
of freedom), and labels by a logistic model of 20 of them (signal), or by the toss of a coin (null); --fdr 0.2. All methods have the same data. Writes
results/knockoffs.md after each kind of data; what is in results/knockoffs.json is not run again.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE, STORE = ROOT / "bench" / "results" / "knockoffs.md", ROOT / "bench" / "results" / "knockoffs.json"
METHODS = {
    "rfe, step half": ["-m", "rfe", "--step", "half", "--cost", "0.01"],
    "fgm, B = 30": ["-m", "fgm", "--subset-size", "30", "--cost", "0.1"],
    "info-gain, 5 bins": ["-m", "info-gain", "--binning", "5"],
}
# Samples, features, weight of a relevant feature, correlation of neighbours, tails.
DESIGNS = [(500, 100, 1.0, 0.0, "normal"), (500, 100, 1.0, 0.6, "normal"), (200, 400, 2.0, 0.3, "normal"), (500, 100, 1.0, 0.6, "t5")]
CASES = [(design, signal) for design in DESIGNS for signal in (True, False)]
# Ten draws on one kind of data: they take ten times as long.
DRAWS = {"rfe, step half, 10 draws": [*METHODS["rfe, step half"], "--draws", "10"]}
RELEVANT, FDR = 20, 0.2


def sample(n, p, weight, rho, tails, signal, seed):
    """Features, labels, and which features matter."""
    random = np.random.default_rng([seed, n, p, int(10 * rho), tails == "t5", signal])
    X = random.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + math.sqrt(1 - rho * rho) * X[:, j]
    if tails == "t5":
        X *= np.sqrt(5 / random.chisquare(5, size=(n, 1)))
    if not signal:
        return X, random.permutation(np.arange(n) % 2), set()
    true = random.choice(p, RELEVANT, replace=False)
    score = X[:, true] @ (weight * random.choice([-1.0, 1.0], RELEVANT))
    return X, (random.random(n) < 1 / (1 + np.exp(-score))).astype(int), set(true.tolist())


def run(binary, options, path, true, folder):
    """Share of false features among the selected ones, and of the relevant ones how many were found."""
    out = folder / "k.json"
    command = [binary, "knockoffs", path, *options, "--fdr", FDR, "--json", out, "--quiet", "--threads", 1]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    result = json.loads(out.read_text())
    found = set(result["selected_indices"])
    return len(found - true) / max(len(found), 1), len(found & true) / max(len(true), 1), len(found), result["separation"]


def measured(binary, design, signal, repetitions, folder):
    """The rows of all methods on one kind of data."""
    methods = METHODS | (DRAWS if design == DESIGNS[1] and signal else {})
    runs = {method: [] for method in methods}
    for seed in range(repetitions):
        X, y, true = sample(*design, signal, seed)
        path = folder / "d.npz"
        np.savez(path, X=X, y=y)
        for method, options in methods.items():
            runs[method].append(run(binary, options, path, true, folder))
    n, p, _, rho, tails = design
    rows = []
    for method, values in runs.items():
        values = np.array(values)
        false, power, count, separation = values.mean(axis=0)
        half = 1.96 * values[:, 0].std(ddof=1) / math.sqrt(len(values))
        cells = [method, f"{n} x {p}", f"{rho:g}, {tails}", str(RELEVANT if signal else 0)]
        cells += [f"{false:.3f} ({max(false - half, 0):.3f} to {false + half:.3f})", f"{100 * power:.0f} %" if signal else "-"]
        rows.append([*cells, f"{count:.1f}", f"{separation:.2f}"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--binary", default=ROOT / "target/release/fewest")
    arguments = parser.parse_args()
    what = f"`python bench/knockoffs.py --repetitions {arguments.repetitions}`: `--fdr {FDR}`; means over the repetitions, with the 95 % interval of the"
    lines = [
        "# The knockoff filter: is the share of false features kept?",
        "",
        f"{what} share of false features. Without a relevant feature every selection is false, so that the share is that of runs which select anything.",
        "",
        "| method | samples x features | correlation, tails | relevant | false share | relevant found | features | s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for design, signal in CASES:
        name = json.dumps([*design, signal, arguments.repetitions])
        if name not in store:
            with tempfile.TemporaryDirectory() as folder:
                store[name] = measured(arguments.binary, design, signal, arguments.repetitions, Path(folder))
            STORE.write_text(json.dumps(store, indent=1) + "\n")
        lines += [f"| {' | '.join(cells)} |" for cells in store[name]]
        print("\n".join(lines[-len(store[name]) :]), flush=True)
        PAGE.write_text("\n".join(lines) + "\n")
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
