"""What `exact` does on the instances at its frontier: status, gap, nodes and CPU seconds of each within a short limit.

    python bench/frontier_marks.py [--fewest BINARY] [--only NAME ...] [--limit SECONDS] [--again]

One command, which goes on where it was stopped: a row that is there for this binary and limit is kept. Writes bench/results/frontier_marks.json and .md; a
row says binary, commit, command, CPU seconds and load. The rows of older binaries stay, and the table has the newest of each binary's side by side.
The limit is one of CPU seconds, kept by Ctrl-C, so that other work on the machine changes little. Columns of unit norm and the correlated design are written once,
under bench/.cache. One thread.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

import common as c
import numpy as np
from scipy import sparse

PATH = c.RESULTS / "frontier_marks.json"
UNIT = "--scale none --max-features 45 --cost 0.5"


def dorothea_unit():
    """dorothea's training set, each column divided by its norm, as .npz."""
    path = c.CACHE / "dorothea_unit.svm"
    if not path.exists():
        from sklearn.datasets import dump_svmlight_file, load_svmlight_file

        X, y = load_svmlight_file(str(c.DATA / "dorothea_train.svm.gz"), n_features=100_000)
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
        norms[norms == 0] = 1
        c.CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        dump_svmlight_file(X @ sparse.diags(1 / norms), y, str(part), zero_based=False)
        os.replace(part, path)
    return path


def correlated(samples, features):
    def made(binary):
        path = c.CACHE / f"correlated_{samples}_{features}.npz"
        if not path.exists():
            c.CACHE.mkdir(parents=True, exist_ok=True)
            sizes = ["--samples", str(samples), "--features", str(features), "--relevant", "10"]
            subprocess.run([str(binary), "generate", "correlated", *sizes, "--out", str(path), "--quiet"], check=True)
        return path

    return made


def shared(name):
    return lambda _: c.DATA / name


leukemia, dorothea = shared("leukemia_golub.csv.gz"), shared("dorothea_train.svm.gz")
CASES = {f"leukemia_golub, K = 5, C = {C}": (leukemia, f"--max-features 5 --cost {C}") for C in (0.03, 0.1, 0.3, 1)}
CASES |= {
    "dorothea, unit norm, k = 45, C = 0.5, hinge": (lambda _: dorothea_unit(), UNIT),
    "dorothea, unit norm, k = 45, C = 0.5, squared hinge": (lambda _: dorothea_unit(), UNIT + " --loss squared-hinge"),
    "dorothea, k = 45, C = 0.5, squared hinge": (dorothea, "--max-features 45 --cost 0.5 --loss squared-hinge"),
    "correlated 500 x 500, k = 10, C = 0.5, hinge": (correlated(500, 500), "--max-features 10 --cost 0.5"),
    "correlated 500 x 500, k = 10, C = 0.5, squared hinge": (correlated(500, 500), "--max-features 10 --cost 0.5 --loss squared-hinge"),
    "correlated 500 x 500, k = 10, C = 0.01, hinge": (correlated(500, 500), "--max-features 10 --cost 0.01"),
    "wdbc, K = 5": (shared("wdbc.csv"), "--max-features 5"),
    "ionosphere, K = 3": (shared("ionosphere.csv"), "--max-features 3"),
    "ionosphere, K = 5, C = 0.1": (shared("ionosphere.csv"), "--max-features 5 --cost 0.1"),
    "parkinsons, K = 5": (shared("parkinsons.csv"), "--max-features 5"),
    "german-numeric, K = 5": (shared("german-numeric.csv"), "--max-features 5"),
    "german-numeric, K = 8, C = 0.1": (shared("german-numeric.csv"), "--max-features 8 --cost 0.1"),
    "spambase, K = 5, C = 0.01": (shared("spambase.csv"), "--max-features 5 --cost 0.01"),
    "spambase, lambda = 20, C = 0.1": (shared("spambase.csv"), "--penalty 20 --cost 0.1"),
    "duke_breast, K = 4, C = 0.03": (shared("duke_breast.svm.gz"), "--max-features 4 --cost 0.03"),
}


def table(rows):
    binaries = list(dict.fromkeys(row["binary"] for row in rows))
    lines = ["| case | limit, CPU s | build | status | objective | gap | nodes | nodes / CPU s | CPU s | load |", "| --- " * 10 + "|"]
    for case in dict.fromkeys(row["case"] for row in rows):
        mine = [row for row in rows if row["case"] == case]
        for row in sorted(mine, key=lambda row: (row["limit"], binaries.index(row["binary"]))):
            gap = "-" if row["gap"] is None else f"{100 * row['gap']:.3g} %"
            numbers = [f"{row['objective']:.6g}", gap, row["nodes"], f"{row['nodes'] / row['cpu']:.3g}", f"{row['cpu']:.2f}", f"{row['load']:.1f}"]
            cells = [case, f"{row['limit']:g}", row["build"], row["status"], *map(str, numbers)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fewest", default="")
    parser.add_argument("--only", nargs="*", default=[], help="cases whose name holds one of these")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--build", default="", help="a name for this binary in the table; default: the commit")
    parser.add_argument("--again", action="store_true")
    a = parser.parse_args()
    binary, digest = c.program(a.fewest)
    rows = json.loads(PATH.read_text()) if PATH.exists() else []
    for case, (file, options) in CASES.items():
        if a.only and not any(word in case for word in a.only):
            continue
        key = (case, digest, a.limit)
        known = [row for row in rows if (row["case"], row["binary"], row["limit"]) == key]
        if known and not a.again:
            continue
        path = file(binary)
        words = ["--method", "exact", *options.split(), "--threads", "1", "--quiet"]
        found, cpu = c.interrupted(binary, ["select", str(path), *words], a.limit)
        command = " ".join(["fewest", "select", path.name, *words])
        row = {"case": case, "binary": digest, "limit": a.limit, "build": a.build or c.commit(), "commit": c.commit(), "command": command, "cpu": cpu}
        row |= {name: found[name] for name in ("status", "objective", "bound", "gap", "seconds", "selected")}
        row |= {"nodes": found["counts"]["nodes"], "load": os.getloadavg()[0], "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "machine": c.cpu()}
        rows = [old for old in rows if (old["case"], old["binary"], old["limit"]) != key] + [row]
        c.RESULTS.mkdir(parents=True, exist_ok=True)
        PATH.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        gap = "-" if row["gap"] is None else f"{100 * row['gap']:.4g} %"
        print(f"{case}: {row['status']}, gap {gap}, {row['nodes']} nodes, {cpu:.2f} CPU s, load {row['load']:.1f}", flush=True)
    PATH.with_suffix(".md").write_text("# exact at its frontier\n\n`python bench/frontier_marks.py`, one thread.\n\n" + table(rows))


if __name__ == "__main__":
    main()
