"""Do the 95 % intervals of `fewest study` hold the truth in 95 % of runs? Data that are made up, with the truth from 5,000 other samples.

coverage.py [--runs 100] [--sets genes,credit] [--binary FILE]: runs what is not in bench/.cache/coverage.json yet, and writes results/coverage.md and coverage.json after each run. Each run draws a training set, studies it with small
settings (rfe and info-gain, sizes 1 to 5, 5 folds once), and asks `fewest predict` what the panel is worth on other samples of the same kind. Two truths: that of the current panel, and that of the procedure, which is its mean over the
runs. Cross-validation is about the second; the first varies around it from training set to training set, and intervals mostly hold it less often.

genes: 60 x 300, half of each class, eight features shifted by +-0.55. credit: 300 x 40, a quarter of the second class, whose log-odds are linear in six features.
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "bench" / "results" / "coverage.md"
STORE = ROOT / "bench" / ".cache" / "coverage.json"
MEASURES = ("accuracy", "auc", "log_loss", "brier", "sensitivity", "specificity")
OTHERS = 5_000


def genes(random, n):
    """Half of each class, eight of 300 features that tell."""
    labels = np.arange(n) % 2
    values = random.standard_normal((n, 300))
    values[:, :8] += 0.55 * (2 * labels[:, None] - 1) * np.where(np.arange(8) % 2 == 0, 1, -1)
    return values, labels


def credit(random, n):
    """The second class by odds that six of 40 features say."""
    values = random.standard_normal((n, 40))
    odds = -1.5 + values[:, :6] @ np.array([1.0, -0.8, 0.7, 0.6, -0.5, 0.4])
    return values, (random.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


SETS = {"genes": (genes, 60), "credit": (credit, 300)}


def write(file, values, labels):
    header = ",".join([*(f"x{j}" for j in range(values.shape[1])), "y"])
    np.savetxt(file, np.column_stack([values, labels]), delimiter=",", fmt="%.6g", comments="", header=header)


def run(command):
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}")


def one(binary, folder, name, seed):
    """By measure the mean and interval of a study, and what its panel is worth on other samples."""
    make, n = SETS[name]
    random = np.random.default_rng([seed, n])
    train, other, model, found, worth = (folder / file for file in ("d.csv", "o.csv", "m.json", "s.json", "w.json"))
    write(train, *make(random, n))
    small = ["--methods", "rfe,info-gain", "--max-features", "1..5", "--repeats", "1", "--cost-points", "4"]
    run([binary, "study", train, *small, "--seed", seed, "--node-limit", "0", "--solutions", "1", "--json", found, "--model", model, "--quiet"])
    write(other, *make(random, OTHERS))
    run([binary, "predict", model, other, "--out", folder / "p.csv", "--json", worth, "--quiet"])
    study, truth = json.loads(found.read_text())["summary"], json.loads(worth.read_text())["metrics"]
    return {measure: {"mean": study[measure]["mean"], "ci95": study[measure]["ci95"], "truth": truth[measure]} for measure in MEASURES}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--binary", default=os.environ.get("FEWEST", ROOT / "target/release/fewest"))
    arguments = parser.parse_args()
    STORE.parent.mkdir(parents=True, exist_ok=True)
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.runs):
            for name in arguments.sets.split(","):
                if (key := f"{name}, {seed}") in store:
                    continue
                store[key] = one(arguments.binary, Path(folder), name, seed)
                STORE.write_text(json.dumps(store) + "\n")
                result = {of: summed([run for key, run in store.items() if key.startswith(f"{of},")]) for of in SETS}
                PAGE.write_text(page({of: found for of, found in result.items() if found}))
                told = {"version": version(arguments.binary), "machine": platform.machine(), "sets": result, "runs": store}
                PAGE.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n")
                print(key, {measure: round(of["mean"], 3) for measure, of in store[key].items()}, flush=True)


def version(binary):
    return subprocess.run([str(binary), "--version"], check=True, capture_output=True, text=True).stdout.strip()


def summed(runs):
    """By measure how often the intervals hold both truths."""
    out = {}
    for measure in MEASURES if runs else ():
        truths = np.array([run[measure]["truth"] for run in runs])
        low, high = np.array([run[measure]["ci95"] for run in runs]).T
        procedure = float(truths.mean())
        out[measure] = {
            "runs": len(runs),
            "estimate": float(np.mean([run[measure]["mean"] for run in runs])),
            "truth": procedure,
            "length": float(np.mean(high - low)),
            "panel": int(np.sum((low <= truths) & (truths <= high))),
            "procedure": int(np.sum((low <= procedure) & (procedure <= high))),
        }
    return out


def page(sets):
    lines = ["# How often the intervals of a study hold the truth", "", "`bench/coverage.py`, whose first lines say how. 95 % are promised."]
    for name, found in sets.items():
        lines += ["", f"## {name}", "", "| measure | mean estimate | truth | mean length | holds that of the panel | holds that of the procedure |", "| --- | --- | --- | --- | --- | --- |"]
        for measure, of in found.items():
            held = " | ".join(f"{of[what]} of {of['runs']}" for what in ("panel", "procedure"))
            lines.append(f"| {measure} | {of['estimate']:.3f} | {of['truth']:.3f} | {of['length']:.3f} | {held} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
