"""The L1-SVM with squared hinge beside scikit-learn's LinearSVC(penalty="l1", dual=False), one thread, at equal violation.

Both solve min ||w||_1 + |b| + C sum_i max(0, 1 - y_i (w.x_i + b))^2. The peer runs at each tolerance of --tols with at most --iterations
iterations, and its violation of the optimality conditions is computed from its (w, b) by `violation` below; ours then gets the loosest
tolerance whose (w, b), measured by the same function, violates them no more. Two rows per set: scikit-learn at its default settings (which
end at 1000 iterations on most sets), and at the smallest violation any of its runs reaches. Fast cases are repeated and the least
time counts, for both. A third table: --grid costs from C / 1000 to C, each from the last one's solution or from 0.
"""
import os
import tempfile
import warnings

import numpy as np
from sklearn.svm import LinearSVC

import common as c

SETS = ["duke_breast", "arcene", "rcv1_small", "dorothea", "farm_ads"]


def violation(X, y, w, b, C):
    """(largest distance of c_j to the subdifferential of |w_j|, the bias as the weight of a constant feature of value 1; objective)"""
    alpha = 2 * C * np.maximum(0, 1 - y * (np.asarray(X @ w).ravel() + b))
    c_j = np.append(np.asarray(X.T @ (alpha * y)).ravel(), alpha @ y)
    v = np.append(w, b)
    distance = np.where(v != 0, np.abs(c_j - np.sign(v)), np.maximum(0, np.abs(c_j) - 1))
    return float(distance.max()), float(np.abs(v).sum() + alpha @ alpha / (4 * C))


def peer(X, y, C, tol, iterations):
    warnings.simplefilter("ignore")
    model = LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=C, tol=tol, max_iter=iterations, intercept_scaling=1, random_state=0)
    model, seconds = c.repeat(lambda: model.fit(X, y), 5)
    left, value = violation(X, y, model.coef_.ravel(), float(model.intercept_[0]), C)
    return {"tol": tol, "iterations": int(model.n_iter_), "theirs s": min(seconds), "violation": left, "objective": value}


def ours(path, X, y, C, tolerance, **options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "w")
        found = c.ours("l1", path, cost=C, bias="1", tolerance=float(tolerance), out=out, **options)
        numbers = np.fromfile(out)
    left, value = violation(X, y, numbers[1:], numbers[0], C)
    return {**found, "measured": left, "objective": value}


def reach(path, X, y, C, wanted):
    """Our run of the loosest tolerance that violates the conditions no more than `wanted`; the last one where none does."""
    for tolerance in [0.5, *10.0 ** -np.arange(0.5, 13.1, 0.5)]:
        if ours(path, X, y, C, tolerance)["measured"] <= wanted:
            break
    return ours(path, X, y, C, tolerance, repeats=5, seconds=2.0), float(tolerance)


def compare(name, C, tols, iterations):
    path, X, y = c.prepared(name)
    Xp = c.for_peer(X)
    default = peer(Xp, y, C, 1e-4, 1000)
    tight = [peer(Xp, y, C, tol, iterations) for tol in tols]
    for kind, run in (("default", default), ("tightest", min([default, *tight], key=lambda r: r["violation"]))):
        found, tolerance = reach(path, Xp, y, C, run["violation"])
        row = {"set": name, "C": C, "sklearn": kind, **run, "our violation": found["measured"], "our objective": found["objective"]}
        row |= {"ours s": min(found["seconds"]), "tolerance": tolerance, "nonzero": found["nonzero"]}
        row["ratio"] = row["ours s"] / row["theirs s"]
        below = found["objective"] <= run["objective"] * (1 + found["gap"])
        row["verdict"] = "OBJECTIVE ABOVE" if not below else "" if found["measured"] <= run["violation"] else "VIOLATION NOT REACHED"
        yield row


def grid(name, C, count):
    path, X, y = c.prepared(name)
    runs = {kind: c.ours("l1", path, cost=C, bias="1", costs=count, warm=warm, repeats=3, seconds=5.0) for kind, warm in (("warm", 1), ("cold", 0))}
    row = {"set": name, "costs": count, **{f"{kind} s": min(run["seconds"]) for kind, run in runs.items()}}
    return {**row, "worst gap": max(run["worst_gap"] for run in runs.values()), "warm / cold": row["warm s"] / row["cold s"]}


def main():
    a = c.arguments(
        __doc__,
        sets=(SETS, "data sets"),
        C=(1.0, "slack cost"),
        tols=([1e-4, 1e-6, 1e-8], "tolerances of the peer"),
        iterations=(20000, "iterations of the peer at most"),
        grid=(20, "costs of the grid"),
    )
    c.build()
    rows, grids = [], []
    for name in a.sets:
        for row in compare(name, a.C, a.tols, a.iterations):
            rows.append(row)
            print({k: c.shown(v) for k, v in row.items()}, flush=True)
        grids.append(grid(name, a.C, a.grid))
        print({k: c.shown(v) for k, v in grids[-1].items()}, flush=True)
    summary = {"geometric mean ours/theirs": c.geometric_mean([r["ratio"] for r in rows])}
    for kind in ("default", "tightest"):
        summary[f"geometric mean, sklearn {kind}"] = c.geometric_mean([r["ratio"] for r in rows if r["sklearn"] == kind])
    summary["largest ratio"] = max(r["ratio"] for r in rows)
    summary["wrong"] = sum(r["verdict"] != "" for r in rows)
    columns = ["set", "C", "sklearn", "iterations", "violation", "our violation", "objective", "our objective", "nonzero", "theirs s", "ours s", "ratio", "verdict"]
    c.save("l1", rows, columns, summary)
    summary = {"geometric mean warm / cold": c.geometric_mean([g["warm / cold"] for g in grids])}
    c.save("l1_grid", grids, ["set", "costs", "warm s", "cold s", "warm / cold", "worst gap"], summary)


if __name__ == "__main__":
    main()
