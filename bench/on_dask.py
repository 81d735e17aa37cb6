"""Methods over the workers of a Dask cluster beside one process: the same result, what is sent, a killed worker.

The news20-like set of fgm.py (10 000 x 1 355 191, made there), its documents in four files, on a LocalCluster of separate processes. For
`fgm`, `l1-svm` (squared hinge) and `info-gain`: the result of the same estimator on the whole matrix in this process; on the shards, twice;
and with one worker killed (SIGKILL) as round 3 begins, or the only one of `info-gain`. Each is compared with the run in this process and with
the first on the shards, to the last bit and by the largest relative difference of value, bound and weights. CPU seconds are those of the driver and all workers
together, without those of the worker that was killed. Last, the costs that python/docs/dask.md multiplies: a pass, by fit of a line through
two matrices of different fullness; bytes to all workers and back. Loopback bytes are all that crossed the interface, the scheduler's
heartbeats included. `--genes`: `rfe` on 200 x 500 000 dense values, which each worker makes, instead. `--patients`: on 100 000 x 1 000. `--doors`: `evaluate`, `stability` and
`knockoffs` through joblib's Dask backend instead.

Runs in an environment with fewest[dask] and psutil.
"""

import os
import signal
import time

import common as c
import numpy as np
from scipy import sparse


def timed(f):
    start = time.perf_counter()
    value = f()
    return value, time.perf_counter() - start


def loopback():
    import psutil

    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def cpu(client=None):
    """CPU seconds of each process so far: this one, and the workers."""
    here = {os.getpid(): time.process_time()}
    return here if client is None else here | dict(client.run(lambda: (os.getpid(), time.process_time())).values())


def difference(a, b):
    """Largest relative difference of value, bound and weights; 0 where all bits of them and of the subset are the same."""
    if not np.array_equal(a.support_, b.support_):
        return np.inf
    pairs = [(a.objective_, b.objective_), (a.bound_, b.bound_)]
    off = max(abs(x - y) / abs(y) for x, y in pairs if y is not None)
    return float(max(off, np.abs(a.coef_ - b.coef_).max() / np.abs(b.coef_).max()))


def fitted(what, selector, X, y, beside=(), client=None):
    """A row of the table, and the fitted selector; `beside`: selectors to compare with."""
    busy, lo = cpu(client), loopback()
    selector, seconds = timed(lambda: selector.fit(X, y))
    lo, now = loopback() - lo, cpu(client)
    off = [difference(selector, other) for other in beside]
    traffic = getattr(selector, "traffic_", None)
    numbers = lambda name: [int(x) for x in traffic[name]] if traffic else None
    return selector, {
        "run": what,
        "s": seconds,
        "CPU s": sum(used - busy.get(process, 0.0) for process, used in now.items()),
        "rounds": len(traffic["sent"]) if traffic else None,
        "features": int(selector.n_features_),
        "objective": selector.objective_,
        "gap": selector.gap_,
        "off one process": off[0] if off else None,
        "off first on Dask": off[1] if len(off) > 1 else None,
        "same bits as these": ["yes" if o == 0.0 else "no" for o in off] or None,
        "sent a round": numbers("sent"),
        "received a round": numbers("received"),
        "ask s a round": None if traffic is None else [float(x) for x in traffic["seconds"]],
        "loopback bytes": lo if traffic else None,
    }


def killing(client, number):
    """Kills a worker once, as this round begins; returns those killed, and what takes the killer away."""
    from fewest.dask import Source

    begin, killed = Source._begin, []

    def begin_and_kill(source):
        begin(source)
        if len(source.rounds) == number and not killed:
            # The one that has most of the shards: after a death that may be all of them.
            most = max(client.has_what().items(), key=lambda has: len(has[1]))[0]
            killed.append(client.run(os.getpid)[most])
            os.kill(killed[0], signal.SIGKILL)

    Source._begin = begin_and_kill
    return killed, lambda: setattr(Source, "_begin", begin)


def pass_costs(client, n):
    """ns for a stored value and for a column of one pass in a worker's one thread, by two matrices of n samples and a million columns."""
    from fewest import _core
    from fewest._engine import matrix

    def measure(per_column):
        rng = np.random.default_rng(0)
        p = 1_000_000
        rows = rng.integers(0, n // per_column, (p, per_column), dtype=np.int32)
        rows += (np.arange(per_column) * (n // per_column)).astype(np.int32)
        start = np.arange(0, p * per_column + 1, per_column, dtype=np.int32)
        X = sparse.csc_matrix((rng.random(p * per_column), rows.ravel(), start), shape=(n, p))
        shard, v = _core.Shard(0, matrix(X)), rng.normal(size=n)
        return min(timed(lambda: shard.largest(v, 100, [], [], [], [], 1))[1] for _ in range(7))

    few, many = client.submit(measure, 2).result(), client.submit(measure, 22).result()
    value = (many - few) / 20e6
    return {f"pass at n = {n:.0e}, ns a value": 1e9 * value, f"pass at n = {n:.0e}, ns a column": 1e9 * (few - 2e6 * value) / 1e6}


def line_costs(client):
    """Bytes a second of alpha to each worker and of an answer back, and seconds of a round of nothing, all by the way the rounds go."""
    from distributed import wait

    from fewest.dask import _same

    def ask(v):
        alpha = client.submit(_same, v, pure=False)
        client.gather([client.submit(len, alpha, workers=[worker], pure=False) for worker in client.ncores()])

    v = np.random.default_rng(0).random(1_000_000)
    least = lambda f: min(timed(f)[1] for _ in range(7))
    nothing = least(lambda: ask(v[:1]))
    out = least(lambda: ask(v)) - nothing
    made = client.submit(lambda: np.random.default_rng(1).random(10_000_000), pure=False)
    wait(made)
    return {
        "round of nothing s": nothing,
        "bytes/s of alpha, all workers together": v.nbytes * len(client.ncores()) / out,
        "bytes/s back": 8e7 / least(made.result),
    }


def doors(a):
    """What fans out by joblib, here and through its Dask backend: the same, and its time. Saved on its own."""
    import joblib
    from distributed import Client, LocalCluster

    from fewest import SVMRFE, evaluate, knockoffs, stability
    from fewest.datasets import make_correlated

    X, y = make_correlated(n_samples=300, n_features=2000, random_state=0)
    few = X[:, :100]
    rfe = SVMRFE(n_features_to_select=10, step=0.1, n_jobs=1)
    calls = {
        "evaluate, SVMRFE, 10 folds, 300 x 2000": lambda: evaluate(rfe, X, y, cv=10, n_jobs=a.workers).summary,
        "stability, SVMRFE, 10 pairs, 300 x 2000": lambda: stability(rfe, X, y, n_pairs=10, n_jobs=a.workers).frequency.tolist(),
        "knockoffs, SVMRFE, 10 draws, 300 x 100": lambda: knockoffs(rfe, few, y, n_draws=10, n_jobs=a.workers).statistics.tolist(),
    }
    rows = []
    cluster = LocalCluster(processes=True, n_workers=a.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    with cluster, Client(cluster) as client:
        for name, call in calls.items():
            # Once before: the workers import what they need.
            for kept in (False, True):
                with joblib.parallel_config(backend="sequential"):
                    busy = time.process_time()
                    here, seconds = timed(call)
                    busy = time.process_time() - busy
                before, lo = cpu(client), loopback()
                with joblib.parallel_config(backend="dask"):
                    there, spread = timed(call)
                lo, now = loopback() - lo, cpu(client)
                if kept:
                    used = sum(seconds - before.get(process, 0.0) for process, seconds in now.items())
                    same = "yes" if there == here else "no"
                    of = {"run": name, "s": seconds, "CPU s": busy, "workers s": spread, "workers CPU s": used}
                    rows.append(of | {"same": same, "loopback bytes": lo})
    c.save("on_dask_doors", rows, list(rows[0]), {"workers": a.workers, "load at the end": list(os.getloadavg()), "note": a.note})
    assert all(row["same"] == "yes" for row in rows)


def block(k, n, width):
    return np.asfortranarray(np.random.default_rng(k).standard_normal((n, width)))


def genes(a):
    """`rfe` that halves, to 20 features, of columns here and on workers, which also die. Saved on its own."""
    eliminations(a, "on_dask_genes", (200, 62_500, 8), "64M", {}, 3)


def patients(a):
    """The same on samples too many for n x n products: machines are trained by products with vectors."""
    eliminations(a, "on_dask_patients", (100_000, 125, 8), "64M", {"loss": "squared_hinge", "C": 1e-3}, 30)


def eliminations(a, name, size, memory, options, number):
    """`size`: samples, features of a block, blocks; a worker dies in round `number`."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    from fewest import SVMRFE
    from fewest.dask import Shards

    n, width, blocks = size
    X = np.concatenate([block(k, n, width) for k in range(blocks)], axis=1)
    y = X[:, :: width * 2].sum(axis=1) > 0
    rfe = lambda **more: SVMRFE(n_features_to_select=20, step=0.5, step_of="remaining", n_jobs=1, **options, **more)
    here, row = fitted("rfe, one process", rfe(), np.asfortranarray(X), y)
    del X
    rows = [row]
    cluster = LocalCluster(processes=True, n_workers=a.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    with cluster, Client(cluster) as client:
        parts = [da.from_delayed(delayed(block)(k, n, width), shape=(n, width), dtype=float) for k in range(blocks)]
        shards = Shards.from_array(da.concatenate(parts, axis=1))
        there, row = fitted("rfe, Dask", rfe(max_memory=memory), shards, y, (here,), client)
        rows += [row, fitted("rfe, Dask again", rfe(max_memory=memory), shards, y, (here, there), client)[1]]
        killed, end = killing(client, number)
        rows.append(fitted(f"rfe, Dask, a worker killed in round {number}", rfe(max_memory=memory), shards, y, (here, there), client)[1])
        end()
    assert len(killed) == 1
    c.save(name, rows, list(rows[0]), {"workers": a.workers, "load at the end": list(os.getloadavg()), "note": a.note})
    assert all(row["off one process"] in (None, 0.0) or row["off one process"] < 1e-6 for row in rows)


def main():
    a = c.arguments(
        __doc__,
        core=(0, "core to run on; -1: all"),
        workers=(2, "workers, one thread each"),
        features=(100, "B of fgm, size of info-gain"),
        gap=(1e-6, "relative gap of fgm and l1-svm; small, so that there are rounds"),
        methods=(["fgm", "l1-svm", "info-gain"], "methods"),
        genes=(False, "only rfe, on dense data"),
        patients=(False, "only rfe, on samples too many for n x n products"),
        doors=(False, "only what fans out by joblib: evaluate, stability, knockoffs"),
        note=("", "what else was running"),
    )
    if a.core >= 0:
        c.pin(a.core)
    if a.doors:
        return doors(a)
    if a.genes:
        return genes(a)
    if a.patients:
        return patients(a)
    from distributed import Client, LocalCluster

    from fewest import FeatureGeneratingMachine, InformationGain, L1SVMSelector
    from fewest.dask import Shards

    with np.load(c.CACHE / "news20-like.npz") as f:
        kind = sparse.csc_matrix if f["format"] == b"csc" else sparse.csr_matrix
        X, y = kind((f["data"], f["indices"], f["indptr"]), shape=f["shape"]), f["y"]
    files = []
    by_rows = X.tocsr()
    for k, part in enumerate(np.array_split(np.arange(X.shape[0]), 4)):
        files.append(c.CACHE / f"news20-like.part{k}.npz")
        if not files[-1].exists():
            sparse.save_npz(files[-1], by_rows[part], compressed=False)
    X = X.tocsc()
    del by_rows
    made_of = {
        "fgm": lambda: FeatureGeneratingMachine(subset_size=a.features, C=5.0, fit_intercept=False, gap=a.gap, n_jobs=1),
        "l1-svm": lambda: L1SVMSelector(C=1.0, loss="squared_hinge", fit_intercept=False, gap=a.gap, tol=a.gap, n_jobs=1),
        "info-gain": lambda: InformationGain(n_features_to_select=a.features, n_jobs=1),
    }
    rows, deaths = [], 0
    here, first = {}, {}
    for name in a.methods:
        here[name], row = fitted(f"{name}, one process", made_of[name](), X, y)
        rows.append(row)
    cluster = LocalCluster(processes=True, n_workers=a.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    with cluster, Client(cluster) as client:
        before = loopback()
        shards, reading = timed(lambda: Shards.from_files(files))
        made = loopback() - before
        for name in a.methods:
            first[name], row = fitted(f"{name}, Dask", made_of[name](), shards, y, (here[name],), client)
            rows.append(row)
            rows.append(fitted(f"{name}, Dask again", made_of[name](), shards, y, (here[name], first[name]), client)[1])
        # Behind all others: for a while after it Dask moves shards to the worker that takes the place of the dead one.
        for name in a.methods:
            number = 1 if name == "info-gain" else 3
            killed, end = killing(client, number)
            what = f"{name}, Dask, a worker killed in round {number}"
            rows.append(fitted(what, made_of[name](), shards, y, (here[name], first[name]), client)[1])
            end()
            deaths += len(killed)
            client.wait_for_workers(a.workers)
        costs = {**pass_costs(client, 10_000), **pass_costs(client, 10_000_000), **line_costs(client)}
    rows.sort(key=lambda row: a.methods.index(row["run"].split(",")[0]))
    summary = {
        "n, p, values": [*X.shape, X.nnz],
        "workers": a.workers,
        "killed": deaths,
        "reading and turning files into shards, s": reading,
        "loopback bytes of that": made,
        **costs,
        "load at the end": list(os.getloadavg()),
        "note": a.note or "nothing else on the core",
    }
    c.save("on_dask", rows, list(rows[0]), summary)
    assert deaths == len(a.methods)
    for row in rows:
        assert all(bits == "yes" for bits in row["same bits as these"] or []), row


if __name__ == "__main__":
    main()
