"""No leak: on random labels, `fewest evaluate` stays at chance, where the same selection made before the split looks good.

usage: python bench/no_leak.py [--methods rfe info-gain ...] [--samples 200] [--features 10000] [--repetitions 50]
Each repetition draws standard normal features and random labels, half of each class. Printed for each method: the mean accuracy over
the repetitions of 5-fold cross-validation with the selection inside the folds and before them, with 95 % intervals (repetitions are
independent), and whether chance, 0.5, lies in the first.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
OPTIONS = {"rfe": ["--step", "half"], "info-gain": ["--binning", "5"], "fgm": ["--top-b"], "exact": ["--node-limit", "0"],
           "kta": ["--node-limit", "0"], "eb-rfe": ["--candidates", "2", "--costs", "1"], "bit-flip": ["--step", "half"],
           "attribute-flip": ["--step", "half"]}


def fewest(*arguments):
    ended = subprocess.run([str(a) for a in (TARGET / "release" / "fewest", *arguments, "-q")], stdout=subprocess.DEVNULL)
    assert ended.returncode in (0, 3), arguments


def accuracy(folder, data, method, k, more):
    out = folder / "e.json"
    fewest("evaluate", data, "--method", method, "--max-features", k, "--cv", 5, "--json", out, *more)
    return json.loads(out.read_text())["summary"]["accuracy"]["mean"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--methods", nargs="+", default=["rfe", "info-gain", "fgm"])
    options.add_argument("--samples", type=int, default=200)
    options.add_argument("--features", type=int, default=10_000)
    options.add_argument("--repetitions", type=int, default=50)
    options.add_argument("--keep", type=int, default=20)
    options = options.parse_args()
    n, p, k = options.samples, options.features, options.keep
    inside, before = ({m: [] for m in options.methods} for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for repetition in range(options.repetitions):
            random = np.random.default_rng(repetition)
            X, y = random.standard_normal((n, p)), random.permutation(np.arange(n) % 2)
            data = folder / "d.npz"
            np.savez(data, X=X, y=y)
            for method in options.methods:
                more = OPTIONS.get(method, [])
                inside[method].append(accuracy(folder, data, method, k, more))
                fewest("select", data, "--method", method, "--max-features", k, "--json", folder / "s.json", *more)
                chosen = json.loads((folder / "s.json").read_text())["selected_indices"]
                np.savez(folder / "chosen.npz", X=X[:, chosen], y=y)
                before[method].append(accuracy(folder, folder / "chosen.npz", "rfe", max(len(chosen), 1), []))
    print(f"{n} samples, {p} features, random labels, {options.repetitions} repetitions, at most {k} features, 5 folds")
    for method in options.methods:
        parts = []
        for values in (inside[method], before[method]):
            mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
            radius = stats.t.ppf(0.975, len(values) - 1) * error
            parts.append((mean, mean - radius, mean + radius))
        (a, low, high), (b, blow, bhigh) = parts
        print(f"{method:15s} inside the folds {a:.4f} ({low:.4f} to {high:.4f}), chance inside: {low <= 0.5 <= high}; "
              f"before the split {b:.4f} ({blow:.4f} to {bhigh:.4f})")


main()
