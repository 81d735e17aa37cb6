"""On random labels, is chance inside the interval of `fewest study`? Fifty made-up sets without any signal.

study_null.py [--runs 50] [--binary FILE]: runs what is not in bench/.cache/study_null.json yet, and writes results/study_null.md after each run. Each run draws n x p normal numbers and a label by a coin for each
sample. Chance is 0.5 for the balanced accuracy and the AUC, and the share of the most frequent class at best for the accuracy.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "bench" / "results" / "study_null.md"
STORE = ROOT / "bench" / ".cache" / "study_null.json"


def one(binary, folder, seed, n, p):
    """Intervals of balanced accuracy and AUC of a study of noise."""
    random = np.random.default_rng(seed)
    labels = (np.arange(n) < n // 2).astype(int)
    random.shuffle(labels)
    table = np.column_stack([random.standard_normal((n, p)), labels])
    file = Path(folder) / "noise.csv"
    np.savetxt(file, table, delimiter=",", fmt="%.6g", comments="", header=",".join([*(f"x{j}" for j in range(p)), "y"]))
    command = [str(binary), "study", str(file), "--max-features", "1..5", "--repeats", "1", "--seed", str(seed), "--node-limit", "0", "--json", "-", "--quiet"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"seed {seed}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["summary"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--binary", default=os.environ.get("FEWEST", ROOT / "target/release/fewest"))
    arguments = parser.parse_args()
    STORE.parent.mkdir(parents=True, exist_ok=True)
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.runs):
            key = f"{arguments.samples} x {arguments.features}, {seed}"
            if key in store:
                continue
            store[key] = one(arguments.binary, folder, seed, arguments.samples, arguments.features)
            STORE.write_text(json.dumps(store) + "\n")
            found = [of for name, of in store.items() if name.startswith(f"{arguments.samples} x {arguments.features},")]
            PAGE.write_text(page(found, arguments))
            print(seed, {name: round(store[key][name]["mean"], 3) for name in ("accuracy", "auc")}, flush=True)


def page(found, arguments):
    lines = [
        "# A study of noise",
        "",
        f"`bench/study_null.py`: {len(found)} sets of {arguments.samples} samples, half of each class, and {arguments.features} features without signal; 5 folds; sizes 1 to 5.",
        "",
        "| measure | mean | lowest | highest | chance 0.5 inside the 95 % interval |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in ("accuracy", "balanced_accuracy", "auc"):
        means = [summary[name]["mean"] for summary in found]
        inside = sum(summary[name]["ci95"][0] <= 0.5 <= summary[name]["ci95"][1] for summary in found)
        lines.append(f"| {name} | {np.mean(means):.3f} | {min(means):.3f} | {max(means):.3f} | {inside} of {len(found)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
