"""No leak: on random labels, `fewest evaluate` stays at chance, where the same selection made before the split seems good.

usage: python bench/no_leak.py [--methods rfe info-gain ...] [--repetitions 50] [--features 10000]
Each repetition draws 200 samples of standard normal features and random labels, half of each class (arcene's shape; fewer features and
repetitions for the methods whose cost grows faster than the data: PLAN). Printed for each method: the mean accuracy over the repetitions
of 5-fold cross-validation with the selection inside the folds and before them, with 95 % intervals (repetitions are independent), and
whether chance, 0.5, lies in the first.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SAMPLES, KEEP = 200, 20
# Method: repetitions, features, options.
PLAN = {
    "info-gain": (50, 10_000, ["--binning", "5"]),
    "rfe": (50, 10_000, ["--step", "half"]),
    "fgm": (50, 10_000, []),
    "exact": (50, 10_000, ["--node-limit", "0"]),
    "kta": (50, 10_000, ["--node-limit", "0"]),
    "bit-flip": (50, 1000, ["--step", "half", "--costs", "1", "--passes", "1"]),
    "eb-rfe": (20, 100, ["--candidates", "3", "--costs", "1"]),
    "attribute-flip": (20, 40, ["--step", "half", "--costs", "1", "--passes", "1"]),
    "qcqp-ssvm": (10, 100, []),
    "nmmkl": (10, 100, []),
}


def fewest(*arguments):
    ended = subprocess.run([str(a) for a in (TARGET / "release" / "fewest", *arguments, "-q")], stdout=subprocess.DEVNULL)
    assert ended.returncode in (0, 3), arguments


def accuracy(folder, data, method, k, more):
    out = folder / "e.json"
    fewest("evaluate", data, "--method", method, "--max-features", k, "--cv", 5, "--json", out, *more)
    return json.loads(out.read_text())["summary"]["accuracy"]["mean"]


def data(folder, features, repetition):
    """A file of random data, and its parts."""
    random = np.random.default_rng(repetition)
    X, y = random.standard_normal((SAMPLES, features)), random.permutation(np.arange(SAMPLES) % 2)
    np.savez(folder / "d.npz", X=X, y=y)
    return folder / "d.npz", X, y


def interval(values):
    """Mean of independent values, and the ends of its 95 % interval."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    radius = stats.t.ppf(0.975, len(values) - 1) * error
    return mean, mean - radius, mean + radius


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--methods", nargs="+", default=list(PLAN), choices=list(PLAN))
    options.add_argument("--repetitions", type=int, help="at most this many")
    options.add_argument("--features", type=int, help="at most this many")
    options = options.parse_args()
    print(f"{SAMPLES} samples, random labels, at most {KEEP} features, 5 folds; 95 % intervals", flush=True)
    print("| method | features | repetitions | selection inside the folds | chance inside | before the split | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for method in options.methods:
            repetitions, features, more = PLAN[method]
            repetitions, features = min(repetitions, options.repetitions or repetitions), min(features, options.features or features)
            begun, inside, before = time.perf_counter(), [], []
            for repetition in range(repetitions):
                file, X, y = data(folder, features, repetition)
                inside.append(accuracy(folder, file, method, KEEP, more))
                fewest("select", file, "--method", method, "--max-features", KEEP, "--json", folder / "s.json", *more)
                chosen = json.loads((folder / "s.json").read_text())["selected_indices"]
                np.savez(folder / "chosen.npz", X=X[:, chosen], y=y)
                before.append(accuracy(folder, folder / "chosen.npz", "rfe", max(len(chosen), 1), []))
            (a, low, high), (b, blow, bhigh) = interval(inside), interval(before)
            print(f"| {method} | {features} | {repetitions} | {a:.4f} ({low:.4f} to {high:.4f}) | {'yes' if low <= 0.5 <= high else 'no'} | "
                  f"{b:.4f} ({blow:.4f} to {bhigh:.4f}) | {time.perf_counter() - begun:.0f} |", flush=True)


main()
