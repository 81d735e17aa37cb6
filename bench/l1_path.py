"""A path of costs of `l1-svm` (squared hinge) from column files, beside LIBLINEAR, skglm and celer on the same numbers, one thread.

All but celer solve min |w|_1 + C sum_i max(0, 1 - y_i w.x_i)^2 (no bias) at --costs costs from C / --span to C. Ours twice: `fewest select
--costs`, the whole command with opening and checking the file, and `fewest-bench l1`, the solves alone. Each but LIBLINEAR, which has no
warm start, resumes from the last cost's weights. skglm (BSD-3-Clause) has no squared hinge: `squared_hinge` below is a datafit in its
terms. celer (BSD-3-Clause) has none either and takes none: it runs the logistic loss at 1 / (4 C), where the first feature has weight at
the same C, which is another problem; its excess is its own largest relative gap. Peers get the matrix in memory in their layout, and
numba's compilation is not counted. A peer is ended after --limit CPU seconds; what it had done by then is kept.

CPU seconds throughout. Excess: the largest of (objective - bound) / objective over the costs, every objective by `objective` below, every
bound the largest that ours proved. Rows are kept in bench/results/l1_path.jsonl as they are taken, and a run goes on where the last one
stopped; the file of a size is kept until all its rows are there.
"""
import json
import os
import signal
import subprocess
import sys
import time
import warnings

import common as c
import numpy as np
from scale import columns, command

SIZES = [(3000, 400_000), (10_000, 1_355_191), (130_000, 1_000_000)]
OURS = ["fewest select", "fewest 1e-6", "fewest 1e-4", "fewest 1e-9"]
PEERS = ["LIBLINEAR 0.001", "skglm CD 0.001", "skglm Newton 0.001", "celer 1e-4"]


def objective(X, y, w, C):
    return float(np.abs(w).sum() + C * (np.maximum(0, 1 - y * (X @ w)) ** 2).sum())


def path(C, span, count):
    return C * span ** np.linspace(-1, 0, count)


def in_memory(file):
    """X (CSC with indices of 32 bits, as skglm and celer ask for) and y, copied from the mapped file."""
    X, y = columns(file)
    X.data, X.indices, X.indptr = np.array(X.data), np.array(X.indices), X.indptr.astype(np.int32)
    return X, y


def liblinear(X, y, costs, tolerance):
    from sklearn.svm import LinearSVC

    X = X.tocsr()
    yield None
    for C in costs:
        start = time.process_time()
        fit = LinearSVC(penalty="l1", dual=False, C=C, tol=tolerance, fit_intercept=False, random_state=0, max_iter=10_000).fit(X, y)
        yield time.process_time() - start, fit.coef_[0]


def squared_hinge():
    """sum_i max(0, 1 - y_i (Xw)_i)^2 as a datafit of skglm."""
    from skglm.datafits.base import BaseDatafit

    class SquaredHinge(BaseDatafit):
        def __init__(self):
            pass

        def get_spec(self):
            return ()

        def params_to_dict(self):
            return dict()

        def initialize(self, X, y):
            pass

        def initialize_sparse(self, X_data, X_indptr, X_indices, y):
            pass

        def value(self, y, w, Xw):
            return (np.maximum(0.0, 1.0 - y * Xw) ** 2).sum()

        def raw_grad(self, y, Xw):
            return -2.0 * y * np.maximum(0.0, 1.0 - y * Xw)

        def raw_hessian(self, y, Xw):
            return 2.0 * (1.0 - y * Xw > 0.0).astype(np.float64)

        def get_lipschitz(self, X, y):
            return 2.0 * (X**2).sum(axis=0)

        def get_lipschitz_sparse(self, X_data, X_indptr, X_indices, y):
            out = np.zeros(len(X_indptr) - 1)
            for j in range(len(out)):
                for at in range(X_indptr[j], X_indptr[j + 1]):
                    out[j] += 2.0 * X_data[at] ** 2
            return out

        def gradient_scalar(self, X, y, w, Xw, j):
            return X[:, j] @ self.raw_grad(y, Xw)

        def gradient_scalar_sparse(self, X_data, X_indptr, X_indices, y, Xw, j):
            out = 0.0
            for at in range(X_indptr[j], X_indptr[j + 1]):
                i = X_indices[at]
                slack = 1.0 - y[i] * Xw[i]
                if slack > 0.0:
                    out -= 2.0 * X_data[at] * y[i] * slack
            return out

        def full_grad_sparse(self, X_data, X_indptr, X_indices, y, Xw):
            raw = self.raw_grad(y, Xw)
            out = np.zeros(len(X_indptr) - 1)
            for j in range(len(out)):
                for at in range(X_indptr[j], X_indptr[j + 1]):
                    out[j] += X_data[at] * raw[X_indices[at]]
            return out

        def intercept_update_step(self, y, Xw):
            return np.sum(self.raw_grad(y, Xw)) / (2.0 * len(y))

    return SquaredHinge()


def skglm(X, y, costs, tolerance, newton):
    """The tolerance is of the violation as a share of the price 1 / C of a weight, as LIBLINEAR's and ours."""
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton

    warnings.simplefilter("ignore")
    datafit = squared_hinge()
    kind = (lambda tol: ProxNewton(tol=tol, fit_intercept=False, max_iter=200)) if newton else (lambda tol: AndersonCD(tol=tol, fit_intercept=False, max_iter=200))
    few = X[:, :50].tocsc()
    kind(1e-3).solve(few, y, datafit, L1(0.01))
    yield None
    w, Xw = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    for C in costs:
        start = time.process_time()
        w = kind(tolerance / C).solve(X, y, datafit, L1(1 / C), w, Xw)[0]
        Xw = X @ w
        yield time.process_time() - start, w


def celer(X, y, costs, tolerance):
    from celer.homotopy import celer_path

    warnings.simplefilter("ignore")
    yield None
    start = time.process_time()
    alphas, coefs, gaps = celer_path(X, y, "logreg", alphas=1 / (4 * costs), tol=tolerance, max_iter=200)
    seconds = (time.process_time() - start) / len(costs)
    for alpha, w, gap in zip(alphas, coefs.T, gaps):
        value = np.logaddexp(0, -y * (X @ w)).sum() + alpha * np.abs(w).sum()
        yield seconds, w, {"objective": float(value), "own gap": float(gap / value)}


def peer(name, file, C, span, count, limit):
    """One peer in a process of its own: a line for each cost as it is done."""
    who, *kind, tolerance = name.split()
    X, y = in_memory(file)
    costs, tolerance = path(C, span, count), float(tolerance)
    run = {"LIBLINEAR": liblinear, "celer": celer}.get(who)
    steps = run(X, y, costs, tolerance) if run else skglm(X, y, costs, tolerance, kind == ["Newton"])
    next(steps)
    # The system ends the process, whatever code it is in.
    signal.setitimer(signal.ITIMER_PROF, limit)
    for C, (seconds, w, *more) in zip(costs, steps):
        row = {"cost": C, "CPU s": seconds, "features": int((w != 0).sum())} | (more[0] if more else {"objective": objective(X, y, w, C)})
        print(json.dumps(row), flush=True)


def run_peer(name, file, a, C):
    words = [sys.executable, __file__, "--peer", name, file, C, a.span, a.costs, a.limit]
    process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    grid = [json.loads(line) for line in process.stdout]
    _, status, usage = os.wait4(process.pid, 0)
    assert status in (0, signal.SIGPROF), (name, status)
    ended = status == signal.SIGPROF
    return {"grid": grid, "ended": ended, "CPU s": a.limit if ended else sum(g["CPU s"] for g in grid), "peak MiB": usage.ru_maxrss / 1024}


def run_ours(name, file, a, C):
    if name == "fewest select":
        fewest, out = c.TARGET / "release" / "fewest", c.CACHE / "l1_path.json"
        costs = ",".join(repr(float(cost)) for cost in path(C, a.span, a.costs))
        words = [fewest, "select", file, "-m", "l1-svm", "--loss", "squared-hinge", "--bias", "none", "--costs", costs]
        seconds, whole, _ = command([*words, "--scale", "none", "--threads", 1, "--memory", a.memory, "--quiet", "--json", out])
        return {"grid": json.loads(out.read_text())["grid"], "CPU s": seconds, "whole s": whole}
    options = dict(cost=C, bias="none", costs=a.costs, span=a.span, warm=1, tolerance=float(name.split()[1]), weights=1, seconds=0.1)
    found, (X, y), grid = c.ours("l1", file, **options), columns(file), []
    for step in found["grid"]:
        w = np.zeros(X.shape[1])
        at, values = np.array(step["weights"]).reshape(-1, 2).T
        w[at.astype(int)] = values
        grid.append({"cost": step["cost"], "CPU s": step["CPU s"], "features": step["nonzero"], "objective": objective(X, y, w, step["cost"]), "bound": step["dual"]})
    return {"grid": grid, "CPU s": sum(g["CPU s"] for g in grid), "whole s": found["seconds"][0], "peak MiB": found["peak_bytes"] / 2**20}


def excess(row, bounds):
    """Largest relative distance of an objective of the row from the bound at its cost."""
    own = [g["own gap"] for g in row["grid"] if "own gap" in g]
    found = own or [(g["objective"] - b) / g["objective"] for g, b in zip(row["grid"], bounds)]
    return float(max(found)) if found else None


def summed(rows):
    for row in rows:
        of = [r for r in rows if (r["size"], r["C"], r["costs"]) == (row["size"], row["C"], row["costs"]) and r["program"] in OURS]
        bounds = np.max([[g["bound"] for g in r["grid"]] for r in of], axis=0)
        grid, done = row["grid"], len(row["grid"])
        line = {"size": row["size"], "C": row["C"], "program": row["program"], "CPU s": row["CPU s"], "s a cost": row["CPU s"] / done if done else None}
        line |= {"costs": f"{done} of {row['costs']}" + (", ended" if row.get("ended") else ""), "excess": excess(row, bounds)}
        line |= {"features": f"{grid[0]['features']} to {grid[-1]['features']}" if done else None, "peak MiB": row.get("peak MiB"), "load": row["load"]}
        yield line


def main():
    if sys.argv[1:2] == ["--peer"]:
        name, file, *numbers = sys.argv[2:]
        C, span, count, limit = map(float, numbers)
        return peer(name, file, C, span, int(count), limit)
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        length=(455, "draws a document"),
        C=([1.0, 10.0], "largest cost of a path"),
        costs=(20, "costs of a path"),
        span=(1000.0, "largest over smallest cost"),
        limit=(300.0, "CPU seconds after which a peer is ended"),
        memory=("4G", "--memory of `fewest select`"),
        most=(1e8, "draws at most of a size that is run"),
        again=([""], "programs whose rows are measured again, such as ours of a new build"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    kept = c.RESULTS / "l1_path.jsonl"
    c.CACHE.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    rows = [r for r in rows if r["program"] not in a.again]
    for n, p in SIZES:
        size, file = f"{n} x {p}", c.CACHE / f"l1_path_{n}_{p}.csc"
        have = {(r["C"], r["program"]) for r in rows if r["size"] == size and r["costs"] == a.costs}
        wanted = [(C, name) for C in a.C for name in OURS + PEERS if (C, name) not in have]
        if n * a.length > a.most or not wanted:
            continue
        if not file.exists():
            words = ["--samples", n, "--words", p, "--length", a.length, "--memory", "20G", "--out", file, "--quiet"]
            command([c.TARGET / "release" / "fewest", "generate", "text", *words])
        for C, name in wanted:
            load = round(os.getloadavg()[0], 1)
            row = {"size": size, "C": C, "costs": a.costs, "program": name, "load": load}
            rows.append(row | (run_ours if name in OURS else run_peer)(name, file, a, C))
            print(next(line for line in summed(rows[::-1])), flush=True)
            kept.write_text("".join(json.dumps(r) + "\n" for r in rows))
        file.unlink()
    table = list(summed(rows))
    about = {"costs": f"{a.costs} from C / {a.span:g} to C", "limit of a peer, CPU s": a.limit, "note": a.note or "nothing else running"}
    about["celer"] = "logistic loss, excess: its own largest relative gap"
    c.save("l1_path", table, ["size", "C", "program", "CPU s", "s a cost", "costs", "excess", "features", "peak MiB", "load"], about)


if __name__ == "__main__":
    main()
