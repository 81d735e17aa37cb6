"""Features that say nothing alone: in what share of runs is the true set found, by kta and by five peers?

interactions.py [--repetitions 5] [--slow 1] [--cap 60]: 50 features, of which the class depends on a few that are independent of it one by one (but for
rings); every method is given their number. What is in results/interactions.jsonl is not run again, so a run that was stopped goes on. Writes
results/interactions.json and .md. LassoNet, which takes longest, runs on the first --slow repetitions, with steps of its path of 5 % in
place of 2 %, and for at most --cap CPU seconds; a peer that is not installed is left out and named. One core.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"

import contextlib
import importlib.util
import signal
import tempfile
import time
import warnings
from pathlib import Path

import common as c
import numpy as np
from benefit_peers import PEERS, by_score

P = 50
SIZES = [50, 100, 200, 500, 1000]
PEER_NAMES = ["random forest", "mutual information", "mRMR", "HSIC Lasso", "LassoNet"]
SLOW = "LassoNet"
# Seconds for one search; what it has then counts.
LIMIT = 20


def booleans(r, n):
    return r.integers(0, 2, (n, P)).astype(float)


def xor(r, n):
    """The class is the sign of a product of two normal features."""
    X = r.standard_normal((n, P))
    return X, X[:, 0] * X[:, 1] > 0, 2, 0


def rings(r, n):
    """The class is which of two rings around the origin a point of two features lies on; the other features are normal of the same variance."""
    y = np.arange(n) % 2 == 0
    radius, angle = np.where(y, 1.0, 2.0) + 0.15 * r.standard_normal(n), r.uniform(0, 2 * np.pi, n)
    X = np.sqrt(1.25) * r.standard_normal((n, P))
    X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return X, y, 2, 0


def parity(r, n):
    """The class is the parity of three booleans: no two of them say anything either."""
    X = booleans(r, n)
    return X, X[:, :3].sum(axis=1) % 2 == 1, 3, P


def two_of_four(r, n):
    """The class is whether exactly two of four booleans hold."""
    X = booleans(r, n)
    return X, X[:, :4].sum(axis=1) == 2, 4, P


def mixed(r, n):
    """A category of four values says which side of a number the class is on; half of all features are categories."""
    X = r.standard_normal((n, P))
    X[:, : P // 2] = r.integers(0, 4, (n, P // 2))
    turned = (X[:, 0] == 0) | (X[:, 0] == 2)
    # The true ones are the first category and the first number.
    X[:, [1, P // 2]] = X[:, [P // 2, 1]]
    return X, turned ^ (X[:, 1] > 0), 2, P // 2


# By name: n samples with the true features first, their classes, how many are true, and how many features hold categories (booleans do).
CASES = {"XOR of two": xor, "rings": rings, "parity of three": parity, "two of four": two_of_four, "category and number": mixed}
OURS = {"kta rbf": ("rbf", False), "kta laplace": ("laplace", False), "kta rbf, categories": ("rbf", True)}


def drawn(case, n, seed):
    """Features in random order, classes, the true ones, those that hold categories, all counted from 0."""
    r = np.random.default_rng([seed, n, sum(case.encode())])
    X, y, true, categories = CASES[case](r, n)
    holds = np.arange(P) < categories
    if case == "category and number":
        holds[[1, P // 2]] = holds[[P // 2, 1]]
    y = y ^ (r.random(n) < NOISE)
    order = r.permutation(P)
    return X[:, order], np.where(y, 1, -1), set(np.flatnonzero(order < true).tolist()), np.flatnonzero(holds[order])


# Share of classes that are turned over.
NOISE = 0.05


def by_kta(binary, path, true, categories, kernel):
    options = {"method": "kta", "max_features": len(true), "kernel": kernel, "time_limit": f"{LIMIT}s"}
    if len(categories):
        options["categorical"] = ",".join(f"x{j + 1}" for j in categories)
    found = c.fewest(binary, "select", path, **options)
    return set(found["selected_indices"]), found["status"]


class Over(BaseException):
    """The CPU seconds are used up. No `Exception`, so that no peer takes it for one of its own."""


def within(seconds, call):
    """What call() returns, or None when it takes more CPU seconds than these."""

    def over(*_):
        raise Over

    signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return call()
    except Over:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def lassonet(X, y, count):
    """The features that the path keeps longest, as in benefit_peers.py, on a coarser path."""
    from lassonet import LassoNetClassifier

    machine = LassoNetClassifier(random_state=0, torch_seed=0, path_multiplier=1.05)
    machine.path(X.astype(np.float32), (y > 0).astype(int))
    return by_score(np.asarray(machine.feature_importances_, float), [count])


def by_peer(name, X, y, true, cap):
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        if name == SLOW:
            found = within(cap, lambda: lassonet(X, y, len(true)))
        else:
            found = PEERS[name].select(X, y, [len(true)], None)
    return (set(), "over") if found is None else (set(found[len(true)]), "-")


def measured(who, X, y, true, categories, binary, path, cap=60.0):
    start = time.perf_counter()
    if who in OURS:
        kernel, by_category = OURS[who]
        found, status = by_kta(binary, path, true, categories if by_category else [], kernel)
    else:
        found, status = by_peer(who, X, y, true, cap)
    return {"found": found == true, "hits": len(found & true), "status": status, "seconds": time.perf_counter() - start}


def row_of(case, n, kept, methods, repetitions):
    row = {"case": case, "n": n}
    for who in methods:
        records = [kept.get(who, key(case, n, seed)) for seed in range(repetitions)]
        records = [record for record in records if record]
        if records:
            ended = [record["found"] for record in records if record["status"] != "over"]
            row[who] = f"{sum(ended)}/{len(ended)}" if ended else "over"
            row[f"{who}, s"] = float(np.mean([record["seconds"] for record in records]))
            if who in OURS:
                row[f"{who}, proven"] = sum(record["status"] == "optimal" for record in records)
    return row


def key(case, n, seed):
    return f"{case}, n={n}, seed={seed}"


def main():
    a = c.arguments(
        __doc__,
        fewest=("", "the command (target/release/fewest)"),
        repetitions=(5, "data sets of each kind and size"),
        slow=(1, "how many of them LassoNet sees"),
        cap=(60.0, "CPU seconds for a run of LassoNet"),
        methods=([*OURS, *PEER_NAMES], "which methods"),
        cases=(list(CASES), "which kinds of data"),
        sizes=(SIZES, "which numbers of samples"),
        core=(1, "core to run on"),
    )
    c.pin(a.core)
    binary, digest = c.program(a.fewest)
    missing = [name for name in a.methods if name not in OURS and not importlib.util.find_spec(PEERS[name].needs)]
    methods = [name for name in a.methods if name not in missing]
    kept, rows = c.Kept("interactions"), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.npz"
        for n in a.sizes:
            for case in a.cases:
                for seed in range(a.repetitions):
                    X, y, true, categories = drawn(case, n, seed)
                    np.savez(path, X=X, y=y)
                    for who in methods:
                        idle = (who == SLOW and seed >= a.slow) or (who in OURS and OURS[who][1] and not len(categories))
                        # Ours count for the binary that they came from.
                        by, known = digest if who in OURS else None, kept.get(who, key(case, n, seed))
                        if not idle and not (known and known["binary"] == by):
                            found = measured(who, X, y, true, categories, binary, path, a.cap)
                            kept.add(who, key(case, n, seed), **found, binary=by)
    for case in a.cases:
        for n in a.sizes:
            rows.append(row_of(case, n, kept, methods, a.repetitions))
    summary = {"command": f"{binary.name} {digest}", "features": P, "share of classes turned over": NOISE, "seconds for each kta": LIMIT}
    summary["not installed"] = missing or "none"
    times = {f"mean seconds of {who}": float(np.mean([row[f"{who}, s"] for row in rows if f"{who}, s" in row])) for who in methods}
    proven = {f"proven by {who}": sum(row.get(f"{who}, proven", 0) for row in rows) for who in methods if who in OURS}
    c.save("interactions", rows, ["case", "n", *methods], summary | proven | times)


if __name__ == "__main__":
    main()
