"""The instances of `exact_scip.py` with a proof: what the checker says of it, and whether SCIP's subsets, trained again, agree.

    python bench/proof_scip.py [FEWEST]        writes bench/results/proof_scip.md

SCIP's subsets are those of bench/results/exact_scip.jsonl. Its own values are off by up to 4e-4, so LIBSVM (scikit-learn's SVC,
tolerance 1e-8) trains on each subset, and the objective is computed from its w with the best bias. Checked, and the script fails
if not so: every proof is verified; no verified bound is above the value of SCIP's subset; our objective is below it or within the
gap that both were asked for.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.svm import SVC

import common as c
import exact_scip
import svm_values

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEWEST = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "fewest")
GAP, ROUNDING = 1e-4, 1e-9


def trained(X, y, features, C):
    """The objective of LIBSVM's machine on these features."""
    if not features:
        return 2 * C * min((y > 0).sum(), (y < 0).sum())
    machine = SVC(C=C, kernel="linear", tol=1e-8, cache_size=500).fit(X[:, features], y)
    weights = np.zeros(X.shape[1])
    weights[features] = machine.coef_[0]
    return float(svm_values.linear_primal(X, y, weights, 0.0, C, "hinge", "free"))


def run(*words):
    return subprocess.run([FEWEST, *map(str, words), "--quiet"], check=False, capture_output=True, text=True)


def main():
    kept = [json.loads(line) for line in (ROOT / "bench" / "results" / "exact_scip.jsonl").read_text().splitlines()]
    theirs = {row["case"]: row for row in kept if row["who"] == "scip"}
    rows, faults, total = [], [], np.zeros(2)
    with tempfile.TemporaryDirectory() as folder:
        proof, result, verdict = (pathlib.Path(folder) / name for name in ("x.proof", "result.json", "verdict.json"))
        for case in exact_scip.cases():
            name, (p, n, M, C, seed) = c.case_name(case), case.values()
            X, y = exact_scip.instance(p, n, M, seed)
            path = c.npz(c.CACHE / f"fspm_{p}_{n}_{M}_{seed}.npz", lambda: (X, y))
            words = ["--max-features", M, "--cost", C, "--bias", "free", "--scale", "none", "--threads", 1, "--time-limit", "120s"]
            run("select", path, "--method", "exact", *words, "--json", result, "--proof", proof)
            done = run("verify", proof, path, "--json", verdict)
            ours, said = json.loads(result.read_text()), json.loads(verdict.read_text())
            value = trained(X, y, theirs[name]["selected"], C) if name in theirs and theirs[name]["objective"] is not None else None
            total += ours["seconds"], said["seconds"]
            if done.returncode != 0:
                faults.append(f"{name}: {said.get('reason')}")
            elif value is not None:
                if said["bound"] > value * (1 + ROUNDING):
                    faults.append(f"{name}: the verified bound {said['bound']} is above SCIP's subset, {value}")
                if ours["status"] == "optimal" and ours["objective"] > value * (1 + GAP + ROUNDING):
                    faults.append(f"{name}: {ours['objective']} is called optimal, SCIP's subset has {value}")
            word = "VERIFIED" if done.returncode == 0 else "not verified"
            cells = [p, n, M, C, seed, ours["status"], ours["counts"]["nodes"], proof.stat().st_size, f"{ours['seconds']:.3f}"]
            cells += [f"{said['seconds']:.3f}", word, f"{said.get('bound', float('nan')):.8g}", f"{said.get('objective', float('nan')):.8g}"]
            cells += ["-" if value is None else f"{value:.8g}"]
            rows.append("| " + " | ".join(map(str, cells)) + " |")
            print(rows[-1], flush=True)
    head = "| p | n | M | C | seed | status | nodes | file, bytes | search, s | verify, s | verdict | bound proven | objective proven | SCIP's subset |"
    lines = ["# Proofs of SCIP's instances", "", "`python bench/proof_scip.py`, one thread, other work beside: seconds say little.", "", head]
    lines += ["| --- " * 14 + "|", *rows, ""]
    lines += [f"In all: search {total[0]:.1f} s, verify {total[1]:.1f} s. Faults: {len(faults) or 'none'}.", *[f"- {f}" for f in faults]]
    (ROOT / "bench" / "results" / "proof_scip.md").write_text("\n".join(lines) + "\n")
    raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    main()
