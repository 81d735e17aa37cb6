"""Experiment 3 takes M from the one-norm SVM (ONSVM): the number of non-zero weights of its solution.

    min sum_j |w_j| + C sum_i xi_i   s.t.  y_i (w.x_i + b) >= 1 - xi_i,  xi >= 0

solved by HiGHS through scipy, on the training rows, standardised by them; C of lowest validation error over 2^-2 ... 2^5, the
smallest such C. Writes onsvm.json beside this file. It is a
second opinion on the method l1-svm.

    python papers/aytug2015/onsvm.py [--data FOLDER] [NAME ...]          needs numpy and scipy
"""
import argparse
import json
import pathlib
import tempfile
import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import experiments
from common import DATA
from run import COSTS

OUT = pathlib.Path(__file__).with_name("onsvm.json")


def read(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return table[:, :-1], np.where(table[:, -1] > 0, 1.0, -1.0)


def solve(X, y, cost):
    """(w, b). Variables: u, v >= 0 with w = u - v, slacks xi >= 0, bias b free."""
    n, p = X.shape
    yX = sparse.csr_matrix(y[:, None] * X)
    A = sparse.hstack([-yX, yX, -sparse.identity(n), -sparse.csr_matrix(y[:, None])], format="csc")
    c = np.concatenate([np.ones(2 * p), np.full(n, cost), [0.0]])
    bounds = [(0, None)] * (2 * p + n) + [(None, None)]
    found = linprog(c, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return found.x[:p] - found.x[p : 2 * p], found.x[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=DATA)
    parser.add_argument("names", nargs="*", default=list(experiments.REAL))
    args = parser.parse_args()
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    for problem in experiments.experiment_3({}):
        name = problem.name[2:]
        if name not in args.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            files = experiments.split(args.data, problem, pathlib.Path(folder))
            sets = {part: read(path) for part, path in files.items()}
        X, _ = sets["train"]
        mean, scale = X.mean(axis=0), X.std(axis=0)
        scale[np.ptp(X, axis=0) == 0] = np.inf  # a constant feature becomes 0
        sets = {part: ((X - mean) / scale, y) for part, (X, y) in sets.items()}
        best = None
        for cost in COSTS:
            start = time.perf_counter()
            w, b = solve(*sets["train"], cost)
            seconds = time.perf_counter() - start
            error = {part: float(np.mean(np.where(X @ w + b > 0, 1.0, -1.0) != y)) for part, (X, y) in sets.items()}
            if best is None or error["validation"] < best["validation_error"]:
                best = {
                    "M": int(np.sum(np.abs(w) > 1e-9)),
                    "cost": cost,
                    "validation_error": error["validation"],
                    "test_error": error["test"],
                    "seconds": round(seconds, 3),
                }
        results[name] = best
        print(name, best, flush=True)
        OUT.write_text(json.dumps({k: results[k] for k in experiments.REAL if k in results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
