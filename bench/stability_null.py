"""Stability selection where nothing is to be found, and where something is: is the bound kept, and what is found?

stability_null.py [--repetitions 500] [--binary FILE]: data of independent normal features and labels by the toss of a coin (null), or by the sign
of the sum of five features plus noise (signal), 40 pairs, --max-false 1. Writes results/stability_null.md. False features are all (null) or all but
the five (signal).
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "bench" / "results" / "stability_null.md"
# Name, options, samples, features, whether there is a signal.
CASES = [
    ("info-gain, q = 5", ["-m", "info-gain", "--max-features", "5"], 100, 50, False),
    ("rfe, q = 5", ["-m", "rfe", "--max-features", "5"], 100, 50, False),
    ("rfe, q = 10, step half", ["-m", "rfe", "--max-features", "10", "--step", "half"], 60, 500, False),
    ("exact at cost 0.01, q = 4", ["-m", "exact", "--cost", "0.01", "--max-features", "4", "--gap", "0.01"], 60, 40, False),
    ("info-gain, q = 5", ["-m", "info-gain", "--max-features", "5"], 100, 50, True),
    ("rfe, q = 5", ["-m", "rfe", "--max-features", "5"], 100, 50, True),
    ("rfe, q = 10, step half", ["-m", "rfe", "--max-features", "10", "--step", "half"], 60, 500, True),
    ("exact at cost 0.01, q = 4", ["-m", "exact", "--cost", "0.01", "--max-features", "4", "--gap", "0.01"], 60, 40, True),
]
PAIRS, RELEVANT = 40, 5


def run(binary, options, n, p, signal, seed, folder):
    random = np.random.default_rng([seed, n, p, signal])
    X = random.standard_normal((n, p))
    y = random.permutation(np.arange(n) % 2) if not signal else (X[:, :RELEVANT].sum(axis=1) + random.standard_normal(n) > 0).astype(int)
    data, out = folder / "d.csv", folder / "s.json"
    names = ",".join(f"x{j}" for j in range(p))
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header=f"{names},y", comments="", fmt=["%.6f"] * p + ["%d"])
    command = [binary, "stability", data, *options, "--pairs", str(PAIRS), "--json", out, "--quiet"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    result = json.loads(out.read_text())
    found = set(result["selected_indices"])
    true = set(range(RELEVANT)) if signal else set()
    return len(found - true), len(found & true), result["false_selections"]["bound"], result["threshold"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--binary", default=ROOT / "target/release/fewest")
    arguments = parser.parse_args()
    lines = [
        "# Stability selection: is the bound kept?",
        "",
        f"`python bench/stability_null.py --repetitions {arguments.repetitions}`: {PAIRS} pairs, `--max-false 1`, r-concave; means over the repetitions,"
        " with the 95 % interval of the false ones.",
        "",
        "| method | samples x features | relevant | threshold | bound | false features | relevant found |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, options, n, p, signal in CASES:
            rows = np.array(
                [run(arguments.binary, options, n, p, signal, seed, Path(folder)) for seed in range(arguments.repetitions)], dtype=float
            )
            false, true, bound, threshold = rows.mean(axis=0)
            half = 1.96 * rows[:, 0].std(ddof=1) / math.sqrt(len(rows))
            found = f"{true:.2f} of {RELEVANT}" if signal else "-"
            cells = [name, f"{n} x {p}", str(RELEVANT if signal else 0), f"{threshold:.2f}", f"{bound:.3f}"]
            cells += [f"{false:.3f} ({max(false - half, 0):.3f} to {false + half:.3f})", found]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
