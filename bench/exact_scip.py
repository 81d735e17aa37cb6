"""`fewest select --method exact` against SCIP on the same files: hinge loss, free bias, at most M features, gap 1e-4, one core.
One command: `make bench-exact-scip`.

SCIP solves the perspective formulation of FSP-M, min 1/2 sum t_j + C sum xi_i with w_j^2 <= t_j z_j and sum z_j <= M, one
thread, 120 s of CPU time; building the model is not timed. The instances are those of shared/peers/gbd_python.py. Ours runs first, SCIP in
the same minute; both are kept in bench/results/exact_scip.jsonl. Ours runs again when its binary has changed, SCIP only with
--fresh, which pairs what this binary has not yet run side by side. Rows that were not are marked: their times say little.

Checked, and the script fails if not so: no bound is above the other's objective, and the values that the issue quotes.
"""
import math

import numpy as np

import common as c
import svm_values

LIMIT, LARGE_LIMIT = 120, 60
# Values of SCIP that the issue quotes, to the digits given there; seed 1 of the last is not in the
# grid otherwise.
QUOTED = {
    "p=20 n=500 M=5 C=1 seed=0": 169.21186,
    "p=20 n=500 M=10 C=32 seed=0": 1690.162,
    "p=50 n=500 M=10 C=1 seed=0": 210.35746,
    "p=50 n=500 M=25 C=32 seed=1": 1434.1252,
}


def cases():
    for p in (20, 50):
        for n in (500, 1000):
            for share in (0.1, 0.3, 0.5):
                for C in (0.25, 1, 32):
                    yield {"p": p, "n": n, "M": round(share * p), "C": C, "seed": 0}
    # Quoted, and off the grid.
    yield {"p": 20, "n": 500, "M": 5, "C": 1, "seed": 0}
    yield {"p": 50, "n": 500, "M": 10, "C": 1, "seed": 0}
    yield {"p": 50, "n": 500, "M": 25, "C": 32, "seed": 1}
    # Beyond SCIP; ours has LARGE_LIMIT.
    yield {"p": 100, "n": 1000, "M": 20, "C": 4, "seed": 0}
    yield {"p": 100, "n": 5000, "M": 50, "C": 1, "seed": 0}


def instance(p, n, M, seed):
    """(X, y) of shared/peers/gbd_python.py, number for number."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, p))
    X /= np.maximum(1, np.linalg.norm(X, axis=1).max())
    w = np.zeros(p)
    S = r.choice(p, M, replace=False)
    w[S] = r.standard_normal(M)
    return X, np.where(X @ w > 0, 1, -1)


def scip(X, y, M, C, limit):
    """SCIP's result. `objective` is that of its w on its subset with the best bias, by definition: SCIP's own value may have an error of
    its feasibility tolerances."""
    from pyscipopt import Model, quicksum

    n, p = X.shape
    m = Model()
    m.hideOutput()
    m.setParam("limits/time", limit)
    m.setParam("limits/gap", 1e-4)
    m.setParam("timing/clocktype", 1)  # CPU time
    m.setParam("parallel/maxnthreads", 1)
    w = [m.addVar(lb=None) for _ in range(p)]
    z = [m.addVar(vtype="B") for _ in range(p)]
    t = [m.addVar(lb=0) for _ in range(p)]
    b = m.addVar(lb=None)
    xi = [m.addVar(lb=0) for _ in range(n)]
    for i in range(n):
        m.addCons(int(y[i]) * (quicksum(float(X[i, j]) * w[j] for j in range(p)) + b) + xi[i] >= 1)
    for j in range(p):
        m.addCons(w[j] * w[j] <= t[j] * z[j])
    m.addCons(quicksum(z) <= M)
    m.setObjective(0.5 * quicksum(t) + C * quicksum(xi), "minimize")
    seconds = c.cpu_seconds(m.optimize)
    found = {"status": "optimal" if m.getStatus() in ("optimal", "gaplimit") else m.getStatus()}
    found |= {"scip objective": m.getPrimalbound(), "bound": m.getDualbound(), "seconds": seconds, "nodes": m.getNNodes()}
    if m.getNSols() == 0:
        return {**found, "objective": None, "gap": None}
    weights = np.array([m.getVal(w[j]) if m.getVal(z[j]) > 0.5 else 0.0 for j in range(p)])
    objective = float(svm_values.linear_primal(X, y, weights, 0.0, C, "hinge", "free"))
    return {**found, "objective": objective, "gap": (objective - found["bound"]) / objective, "selected": np.flatnonzero(weights).tolist()}


def wrong(name, ours, theirs):
    """What contradicts what, or None."""
    for who, record in (("ours", ours), ("SCIP", theirs)):
        if record and name in QUOTED and c.is_proven(record) and not math.isclose(record["objective"], QUOTED[name], rel_tol=2e-4):
            return f"{name}: {who} has {record['objective']}, the issue quotes {QUOTED[name]}"
    return c.contradiction(name, ours, theirs, 1e-5)


def main():
    a = c.arguments(__doc__, **c.PAIR_OPTIONS)
    c.pin(a.core)
    binary, digest = (None, None) if a.peer else c.program(a.fewest)
    everything, kept = list(cases()), c.Kept("exact_scip")
    for case in c.chosen(everything, a.only):
        name, (p, n, M, C, seed) = c.case_name(case), case.values()

        def ours():
            path = c.npz(c.CACHE / f"fspm_{p}_{n}_{M}_{seed}.npz", lambda: instance(p, n, M, seed))
            limit = LARGE_LIMIT if p == 100 else LIMIT
            return c.exact(binary, path, limit, max_features=M, cost=C, loss="hinge", bias="free")

        def theirs():
            return c.capped(scip, 3 * LIMIT + 300, *instance(p, n, M, seed), M, C, LIMIT)

        pair = c.pair(kept, name, "scip", ours, theirs, digest, a.fresh, a.note)
        print({k: c.shown(v) for k, v in c.pair_row(case, *pair).items()}, flush=True)
    c.save_pairs(kept, "scip", everything, LIMIT, wrong, ["p", "n", "M", "C", "seed"])


if __name__ == "__main__":
    main()
