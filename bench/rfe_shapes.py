"""SVM-RFE at every shape, beside scikit-learn's RFE with LinearSVC and with SVC(kernel="linear").

    python bench/rfe_shapes.py [FEWEST] [--grid | --certain] [--only TEXT ...] [--cap 60]

Writes bench/results/rfe_shapes.json and rfe_shapes.md. Without --grid: named shapes and sparse sets.
With it: all of n in {50, 500, 5000, 50000} x p in {20, 200, 2000, 20000} of at most 1e7 values, step
1, 0.1 and 0.5. Standardised `make_classification` (sparse sets as they are), one thread, C = 1 unless
said; a step below 1 is that share of the features at the start, as scikit-learn has it. Times are
those of the elimination alone; scikit-learn's tolerance is its default, ours the relative duality gap
1e-9. A peer is stopped at the cap, and in the grid once it has taken GIVE_UP times what ours took.
A row is kept when it is done; stored rows are not run again unless --only names them.
--certain: after how many steps the features that are left are certainly those of exact trainings.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile
import time
import warnings

import common as c
import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_classification
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

STORE = c.RESULTS / "rfe_shapes.json"
PAGE = c.RESULTS / "rfe_shapes.md"
# n, p, step, C
SHAPES = [
    (1000, 800, 1, 1.0),
    (2000, 500, 1, 1.0),
    (2000, 500, 0.1, 1.0),
    (5000, 200, 1, 1.0),
    (5000, 500, 0.1, 1.0),
    (5000, 2000, 0.1, 0.01),
    (20000, 100, 1, 1.0),
]
# name, features to keep, step
SPARSE = [("rcv1_small", 500, 0.1), ("w8a", 30, 0.05), ("a9a", 20, 1), ("basehock", 100, 0.1), ("farm_ads", 500, 0.1)]
FILES = c.FILES | {"basehock": ("basehock.svm.gz", 4862)}
N, P, STEPS = [50, 500, 5000, 50000], [20, 200, 2000, 20000], [1, 0.1, 0.5]
LARGEST = 1e7
CERTAIN = [("wdbc", 5), ("spambase", 5), ("madelon", 10), ("leukemia_golub", 5)]
GIVE_UP = 12.0


def cases(grid):
    if grid:
        shapes = [(n, p, step, 1.0) for n in N for p in P if n * p <= LARGEST for step in STEPS]
        return {f"grid {n} x {p}, {step}": (n, p, min(10, p // 2), step, C) for n, p, step, C in shapes}
    dense = {f"{n} x {p}, {step}" + (f", C = {C}" if C != 1 else ""): (n, p, 10, step, C) for n, p, step, C in SHAPES}
    return dense | {f"{name} to {keep}, {step}": (name, None, keep, step, 1.0) for name, keep, step in SPARSE}


def data(n, p):
    """X, y: generated for numbers, a shared set for a name."""
    if p is None:
        file, columns = FILES[n]
        X, y = load_svmlight_file(str(c.DATA / file), n_features=columns)
        return X, np.where(y > 0, 1, -1)
    X, y = make_classification(n, p, n_informative=min(20, p // 5), n_redundant=min(20, p // 5), random_state=0)
    return StandardScaler().fit_transform(X), 2 * y - 1


def write(X, y, folder):
    """The set as a file that ours reads."""
    if hasattr(X, "tocsr"):
        path = folder / "d.svm"
        dump_svmlight_file(X, y, str(path), zero_based=False)
        return path
    path = folder / "d.npz"
    np.savez(path, X=X, y=y)
    return path


def ours(fewest, path, keep, step, C, loss, cap, folder):
    """Seconds, CPU seconds, status and subset of ours."""
    result = folder / "result.json"
    command = [fewest, "select", path, "--method", "rfe", "--max-features", keep, "--loss", loss, "--scale", "none", "--cost", C]
    command += ["--step", step, "--threads", 1, "--time-limit", f"{cap}s", "--json", result, "--quiet"]
    command += ["--step-of", "original"] if step < 1 else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if not result.exists():
        raise RuntimeError(done.stderr)
    found = json.loads(result.read_text())
    result.unlink()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    answer = {"seconds": found["seconds"], "cpu": cpu, "status": found["status"], "subset": found["selected_indices"]}
    return answer | {"steps": found["elimination_steps"], "certain": found["certain_steps"]}


def eliminate(estimator, X, y, keep, step):
    warnings.simplefilter("ignore")
    machine = LinearSVC(dual="auto", C=estimator[1]) if estimator[0] == "LinearSVC" else SVC(kernel="linear", C=estimator[1])
    start = time.perf_counter()
    support = RFE(machine, n_features_to_select=keep, step=step).fit(X, y).support_
    return time.perf_counter() - start, np.flatnonzero(support).tolist()


def peer(name, X, y, keep, step, C, cap):
    """Seconds and subset of scikit-learn's elimination; no subset where it is not done in time."""
    found = c.capped(eliminate, cap, (name, C), X, y, keep, step)
    return {"seconds": cap, "subset": None} if found is None else {"seconds": found[0], "subset": found[1]}


def row(fewest, case, cap, grid):
    n, p, keep, step, C = case
    X, y = data(n, p)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = write(X, y, folder)
        found = {loss: ours(fewest, path, keep, step, C, loss, cap, folder) for loss in ("squared-hinge", "hinge")}
    slowest = max(found[loss]["seconds"] for loss in found)
    limit = min(cap, max(2.0, GIVE_UP * slowest)) if grid else cap
    found |= {name: peer(name, X, y, keep, step, C, limit) for name in ("LinearSVC", "SVC")}
    return found


def certain_row(fewest, name, keep, cap):
    X, y = c.load(name)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = write(X, y, folder)
        return {loss: ours(fewest, path, keep, 1, 1.0, loss, cap, folder) for loss in ("hinge", "squared-hinge")}


def table(rows):
    lines = [
        "| n x p, step | squared hinge, s | hinge, s | LinearSVC, s | SVC, s | LinearSVC / squared hinge | SVC / hinge | features shared |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, r in rows.items():
        squared, hinge, linear, svc = r["squared-hinge"], r["hinge"], r["LinearSVC"], r["SVC"]

        def mine(m):
            return f"{m['seconds']:.3g}" if m["status"] == "completed" else f"> {m['seconds']:.3g}"

        def more(m):
            return "> " if m["subset"] is None else ""

        def shared(a, b):
            return "-" if b["subset"] is None else f"{len(set(a['subset']) & set(b['subset']))} of {len(b['subset'])}"

        lines.append(
            f"| {name.removeprefix('grid ')} | {mine(squared)} | {mine(hinge)} | {more(linear)}{linear['seconds']:.3g} "
            f"| {more(svc)}{svc['seconds']:.3g} | {more(linear)}{linear['seconds'] / squared['seconds']:.1f} "
            f"| {more(svc)}{svc['seconds'] / hinge['seconds']:.1f} | {shared(squared, linear)}; {shared(hinge, svc)} |"
        )
    return lines


def page(rows):
    named = {k: r for k, r in rows.items() if not k.startswith(("grid", "certain"))}
    certain = {k.removeprefix("certain "): r for k, r in rows.items() if k.startswith("certain")}
    grid = {k: r for k, r in rows.items() if k.startswith("grid")}
    lines = ["# SVM-RFE at every shape", "", "`python bench/rfe_shapes.py`, one thread.", "", *table(named)]
    if grid:
        def least(row, names):
            return min((row[name]["seconds"] for name in names if row[name].get("status", "completed") == "completed"), default=None)

        ended = {k.removeprefix("grid "): (least(r, ("squared-hinge", "hinge")), least(r, ("LinearSVC", "SVC"))) for k, r in grid.items()}
        slower = [k for k, (own, peer) in ended.items() if own is not None and own > peer]
        without = [k for k, (own, _) in ended.items() if own is None]
        lines += ["", "## Grid", "", "`python bench/rfe_shapes.py --grid --cap 8`. LinearSVC has the squared hinge, SVC the hinge.", "", *table(grid), ""]
        lines += [f"Slower than the faster of the two, with the faster of our losses: {'; '.join(slower) or 'none'}."]
        lines += [f"Not ended by ours within the cap: {'; '.join(without) or 'none'}."]
    if certain:
        lines += ["", "## Certain steps", "", "`python bench/rfe_shapes.py --certain`, `--tolerance 1e-9`, standardised, step 1.", ""]
        lines += ["| data | certain, hinge | certain, squared hinge |", "| --- | --- | --- |"]
        of = lambda r: f"{r['certain']} of {r['steps']}"
        lines += [f"| {name} | {of(r['hinge'])} | {of(r['squared-hinge'])} |" for name, r in certain.items()]
    PAGE.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fewest", nargs="?", default=str(c.TARGET / "release" / "fewest"))
    parser.add_argument("--grid", action="store_true", help="all shapes of the grid in place of the named ones")
    parser.add_argument("--certain", action="store_true", help="how many steps are certain, in place of times")
    parser.add_argument("--only", nargs="+", default=[], help="cases whose name holds one of these, run again")
    parser.add_argument("--cap", type=float, default=60.0, help="seconds for one elimination")
    args = parser.parse_args()
    rows = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name, keep in CERTAIN if args.certain else []:
        rows[f"certain {name} to {keep}"] = certain_row(args.fewest, name, keep, args.cap)
        STORE.write_text(json.dumps(rows) + "\n")
    for name, case in {}.items() if args.certain else cases(args.grid).items():
        if name in rows and not args.only or args.only and not any(text in name for text in args.only):
            continue
        rows[name] = row(args.fewest, case, args.cap, args.grid)
        STORE.write_text(json.dumps(rows) + "\n")
        page(rows)
        print(table({name: rows[name]})[-1], flush=True)
    page(rows)


if __name__ == "__main__":
    main()
