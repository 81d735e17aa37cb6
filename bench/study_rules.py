"""Which rule of choice does best: every rule of `fewest study --choose` on the same outer folds, on the shared gene sets.

study_rules.py [SET ...]: runs what is not in results/study_rules.json yet, then writes results/study_rules.md. All rules read the same
inner table of a fold, so they differ by the choice alone. Accuracy, AUC and log-loss are means over the outer folds; nothing is timed.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "bench" / "results"
STORE, PAGE = RESULTS / "study_rules.json", RESULTS / "study_rules.md"
SETS = [
    "breast_west_er", "breast_west_nodal", "cns_pomeroy", "dlbcl_shipp", "glioma_4434", "leukemia_golub", "ovarian_1536",
    "breast_gravier", "huntington_borovecki", "wpbc", "parkinsons", "ionosphere",
]
SIZES = ["5", "10", "1..10"]


def run(binary, name, sizes, repeats):
    """The means of every rule over the outer folds."""
    file = next(path for path in [DATA / f"{name}.csv.gz", DATA / f"{name}.csv"] if path.exists())
    command = [binary, "study", file, "--max-features", sizes, "--repeats", str(repeats), "--compare-rules", "--solutions", "1",
               "--node-limit", "0", "--time-limit", "4h", "--threads", "1", "--json", "-", "--quiet"]
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}, {sizes}: exit {done.returncode}: {done.stderr}")
    result = json.loads(done.stdout)
    stability = result["stability"]
    return {"rules": result["rules"], "folds": len(result["folds"]), "stability": stability and stability["index"],
            "chosen": [[fold["method"], fold["max_features"], fold["cost"], fold["fit_cost"]] for fold in result["folds"]]}


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else float("nan")


def ranks(values):
    """1 for the largest; ties share the mean of their ranks."""
    return [1 + sum(other > value for other in values) + 0.5 * (sum(other == value for other in values) - 1) for value in values]


def page(store):
    lines = ["# Rules of choice", "", "`bench/study_rules.py`: `fewest study --compare-rules`, 5 outer folds, 5 inner folds; means over the outer folds of all deals.", ""]
    for sizes in SIZES:
        runs = {name: store[key] for key in store for name, of in [key.split("|")] if of == sizes}
        if not runs:
            continue
        rules = list(next(iter(runs.values()))["rules"])
        table = {name: [run["rules"][rule]["accuracy"] for rule in rules] for name, run in runs.items()}
        ranked = {name: ranks(values) for name, values in table.items()}
        lines += [f"## Sizes {sizes}: {len(runs)} sets", "", "| rule | accuracy | mean rank | AUC | log-loss | features |", "| --- | --- | --- | --- | --- | --- |"]
        rows = []
        for at, rule in enumerate(rules):
            of = [run["rules"][rule] for run in runs.values()]
            rows.append((mean([one["accuracy"] for one in of]), mean([ranked[name][at] for name in ranked]), mean([one["auc"] for one in of]),
                         mean([one["log_loss"] for one in of]), mean([one["n_features"] for one in of]), rule))
        for accuracy, rank, auc, loss, features, rule in sorted(rows, key=lambda row: -row[0]):
            lines.append(f"| {rule} | {accuracy:.4f} | {rank:.2f} | {auc:.4f} | {loss:.4f} | {features:.1f} |")
        lines += ["", "Sets: " + ", ".join(f"{name} ({run['folds']} folds)" for name, run in runs.items()) + ".", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--sizes", nargs="*", default=SIZES)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--binary", default=ROOT / "target/release/fewest")
    arguments = parser.parse_args()
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for sizes in arguments.sizes:
        for name in arguments.sets:
            key = f"{name}|{sizes}"
            if key in store:
                continue
            store[key] = run(arguments.binary, name, sizes, arguments.repeats)
            STORE.write_text(json.dumps(store, indent=1) + "\n")
            best = max(store[key]["rules"].items(), key=lambda rule: rule[1]["accuracy"])
            print(f"{name}, {sizes}: best {best[0]} {best[1]['accuracy']:.4f}", flush=True)
    PAGE.write_text(page(store))


if __name__ == "__main__":
    main()
