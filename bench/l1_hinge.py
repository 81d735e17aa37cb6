"""The L1-SVM with hinge loss beside the linear program written out whole, solved by HiGHS (simplex and interior point), one thread.

Both solve min ||w||_1 + C sum_i max(0, 1 - y_i (w.x_i + b)), b free; ours to a relative gap of 1e-9 of values computed over all samples and features.
The peer is given --cap seconds for each of its two solvers; the sooner one counts, and where neither ends the cap is a lower bound of its time. Only the
solve is timed on both sides.
"""
import time

import highspy
import numpy as np
from scipy import sparse

import common as c

SETS = ["duke_breast", "arcene", "rcv1_small", "dorothea", "farm_ads"]


def whole(X, y, C):
    """The program with w = positive - negative part: columns w+, w-, b, xi."""
    n, p = X.shape
    Y = sparse.csc_matrix(sparse.diags(y) @ sparse.csc_matrix(X))
    A = sparse.hstack([Y, -Y, sparse.csc_matrix(y[:, None]), sparse.eye(n)]).tocsc()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = A.shape[1], n
    lp.col_cost_ = np.concatenate([np.ones(2 * p), [0], np.full(n, C)])
    lower = np.zeros(A.shape[1])
    lower[2 * p] = -highspy.kHighsInf
    lp.col_lower_, lp.col_upper_ = lower, np.full(A.shape[1], highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    return lp


def peer(lp, solver, cap):
    """(seconds, objective; none when the cap came first)"""
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("solver", solver), ("time_limit", float(cap))):
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    start = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - start
    solved = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return seconds, highs.getInfo().objective_function_value if solved else None


def compare(name, C, cap):
    path, X, y = c.prepared(name)
    found = c.ours("l1-hinge", path, cost=C, bias="free", tolerance=1e-9, repeats=3, seconds=5.0)
    lp = whole(X, y, C)
    runs = {solver: peer(lp, solver, cap) for solver in ("simplex", "ipm")}
    ended = [run for run in runs.values() if run[1] is not None]
    row = {"set": name, "C": C, "features": found["nonzero"], "ours s": min(found["seconds"]), "objective": found["primal"], "gap": found["gap"]}
    row |= {f"{solver} s": run[0] for solver, run in runs.items()}
    row["ratio"] = row["ours s"] / (min(run[0] for run in ended) if ended else cap)
    off = [abs(run[1] - found["primal"]) / abs(found["primal"]) for run in ended]
    row["verdict"] = "OBJECTIVES DIFFER" if any(d > 1e-7 for d in off) else "" if ended else "at most: HiGHS at its cap"
    return row


def main():
    a = c.arguments(__doc__, sets=(SETS, "data sets"), C=(1.0, "slack cost"), cap=(60.0, "seconds for each solver of the peer"))
    c.build()
    rows = []
    for name in a.sets:
        rows.append(compare(name, a.C, a.cap))
        print({k: c.shown(v) for k, v in rows[-1].items()}, flush=True)
    summary = {"geometric mean ours/theirs": c.geometric_mean([r["ratio"] for r in rows]), "largest ratio": max(r["ratio"] for r in rows)}
    c.save("l1_hinge", rows, list(rows[0]), summary)


if __name__ == "__main__":
    main()
