"""The knockoff filter where the truth is known: is the share of false features kept, and how many true ones are found?

knockoffs.py [--repetitions 500] [--binary FILE]: normal features with correlations rho^|i - j|, or heavy-tailed ones of the same correlations (t, 5 degrees
of freedom), and labels by a logistic model of 20 of them (signal), or by the toss of a coin (null); --fdr 0.2. Writes results/knockoffs.md.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "bench" / "results" / "knockoffs.md"
METHODS = {
    "rfe, step half": ["-m", "rfe", "--step", "half", "--cost", "0.01"],
    "fgm, B = 30": ["-m", "fgm", "--subset-size", "30", "--cost", "0.1"],
    "info-gain, 5 bins": ["-m", "info-gain", "--binning", "5"],
}
DRAWS = "rfe, step half, 10 draws"
# Samples, features, weight of a relevant feature, correlation of neighbours, tails.
DESIGNS = [(500, 100, 1.0, 0.0, "normal"), (500, 100, 1.0, 0.6, "normal"), (200, 400, 2.0, 0.3, "normal"), (500, 100, 1.0, 0.6, "t5")]
CASES = [(design, signal, method) for design in DESIGNS for signal in (True, False) for method in METHODS]
CASES += [(DESIGNS[1], signal, DRAWS) for signal in (True, False)]
METHODS[DRAWS] = [*METHODS["rfe, step half"], "--draws", "10"]
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


def run(binary, options, data, folder):
    """Share of false features among the selected ones, and of the relevant ones how many were found."""
    X, y, true = data
    path, out = folder / "d.csv", folder / "k.json"
    names = ",".join(f"x{j}" for j in range(X.shape[1]))
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=f"{names},y", comments="", fmt=["%.6f"] * X.shape[1] + ["%d"])
    command = [binary, "knockoffs", path, *options, "--fdr", FDR, "--json", out, "--quiet", "--threads", 1]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    result = json.loads(out.read_text())
    found = set(result["selected_indices"])
    return len(found - true) / max(len(found), 1), len(found & true) / max(len(true), 1), len(found), result["separation"]


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
    with tempfile.TemporaryDirectory() as folder:
        for (n, p, weight, rho, tails), signal, method in CASES:
            samples = (sample(n, p, weight, rho, tails, signal, seed) for seed in range(arguments.repetitions))
            rows = np.array([run(arguments.binary, METHODS[method], data, Path(folder)) for data in samples])
            false, power, count, separation = rows.mean(axis=0)
            half = 1.96 * rows[:, 0].std(ddof=1) / math.sqrt(len(rows))
            cells = [method, f"{n} x {p}", f"{rho:g}, {tails}", str(RELEVANT if signal else 0)]
            cells += [f"{false:.3f} ({max(false - half, 0):.3f} to {false + half:.3f})", f"{100 * power:.0f} %" if signal else "-"]
            cells += [f"{count:.1f}", f"{separation:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
