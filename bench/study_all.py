"""`fewest study` as it comes, on every shared set of at most 10,000 samples: does it end in its ten minutes, and with what?

study_all.py [SET ...] [--binary FILE]: runs what is not in results/study_all.json yet, then writes results/study_all.md. Seconds are those of
the command on all cores.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "bench" / "results"
STORE, PAGE = RESULTS / "study_all.json", RESULTS / "study_all.md"
# Not the sets of more samples (a9a, w8a), raw files beside their prepared ones, and test parts.
LEFT_OUT = ("a9a", "a9a.t", "w8a", "leukemia_golub_test", "madelon_valid", "dorothea_valid", "rcv1_small_test")
SHOWN = ["samples", "features", "status", "seconds", "accuracy", "low", "high", "auc", "stability", "panel", "method", "gap"]


def sets():
    files = [path for path in sorted(DATA.iterdir()) if path.name.endswith((".csv", ".csv.gz", ".svm.gz"))]
    named = {path.name.removesuffix(".gz").removesuffix(".csv").removesuffix(".svm"): path for path in files}
    return {name: path for name, path in named.items() if name not in LEFT_OUT}


def run(binary, path):
    command = [str(binary), "study", str(path), "--json", "-", "--quiet"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return {"status": f"exit code {done.returncode}: {done.stderr.strip().splitlines()[-1]}"}
    result = json.loads(done.stdout)
    accuracy, panel = result["summary"].get("accuracy"), result["panel"] or {}
    return {
        "samples": result["n_samples"], "features": result["n_features"], "status": result["status"], "seconds": round(result["seconds"], 1),
        "accuracy": accuracy and accuracy["mean"], "low": accuracy and accuracy["ci95"][0], "high": accuracy and accuracy["ci95"][1],
        "auc": result["summary"].get("auc", {}).get("mean"), "stability": result["stability"] and result["stability"]["index"],
        "panel": len(panel.get("selected", [])), "method": panel.get("method"),
        "gap": panel.get("gap") if panel.get("method") == "exact" else (panel.get("certificate") or {}).get("gap"), "effort": result["effort"],
    }


def shown(value):
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sets()
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(known)}")
    parser.add_argument("--binary", default=ROOT / "target/release/fewest")
    arguments = parser.parse_args()
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in arguments.sets or known:
        if name not in store:
            store[name] = run(arguments.binary, known[name])
            STORE.write_text(json.dumps(store, indent=1) + "\n")
            print(name, store[name]["status"], store[name].get("seconds"), flush=True)
    lines = ["# `fewest study` as it comes", "", "`bench/study_all.py`: all defaults (10 minutes, 5 folds twice, sizes 1 to 10).", ""]
    lines += ["| set | " + " | ".join(SHOWN) + " |", "| --- " * (len(SHOWN) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(shown(row.get(key)) for key in SHOWN) + " |" for name, row in sorted(store.items())]
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
