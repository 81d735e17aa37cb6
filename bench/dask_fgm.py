"""The feature generating machine over the workers of a Dask cluster beside one process: the same result, what is sent, a killed worker.

The news20-like set of fgm.py (10 000 x 1 355 191, made there), its documents in four files, on a LocalCluster of separate processes. The result
is compared with that of the same estimator on the whole matrix in this process, to the last bit and to 1e-8. Then the same again with
one worker killed (SIGKILL) in round 3. Last, the costs that docs/python/dask.md multiplies: a pass, by fit of a line through two matrices of
different fullness; bytes to all workers and back. Loopback bytes are all that crossed the interface, the scheduler's heartbeats included.

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


def same(there, here):
    """(largest relative difference of value, bound and weights; whether features and all bits are the same)."""
    features = np.array_equal(there.support_, here.support_)
    if not features:
        return np.inf, False
    pairs = [(there.objective_, here.objective_), (there.bound_, here.bound_)]
    off = max(abs(a - b) / abs(b) for a, b in pairs)
    off = max(off, np.abs(there.coef_ - here.coef_).max() / np.abs(here.coef_).max())
    return off, off == 0.0


def row(what, machine, seconds, here=None, lo=None):
    off, bits = same(machine, here) if here is not None else (None, None)
    traffic = getattr(machine, "traffic_", None)
    numbers = lambda name: [int(x) for x in traffic[name]] if traffic else None
    return {
        "run": what,
        "s": seconds,
        "rounds": machine.n_iter_,
        "features": int(machine.n_features_),
        "objective": machine.objective_,
        "gap": machine.gap_,
        "largest difference": off,
        "same bits": bits,
        "sent a round": numbers("sent"),
        "received a round": numbers("received"),
        "ask s a round": None if traffic is None else [float(x) for x in traffic["seconds"]],
        "loopback bytes": lo,
    }


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
        return min(timed(lambda: shard.largest(v, 100, [], [], 1))[1] for _ in range(7))

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


def main():
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        workers=(2, "workers, one thread each"),
        features=(100, "B"),
        gap=(1e-6, "relative gap; small, so that there are rounds"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    from distributed import Client, LocalCluster

    from fewest import FeatureGeneratingMachine
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
    machine = lambda **more: FeatureGeneratingMachine(
        subset_size=a.features, C=5.0, fit_intercept=False, gap=a.gap, n_jobs=1, **more
    )
    here, seconds = timed(lambda: machine().fit(X, y))
    rows = [row("one process", here, seconds)]
    cluster = LocalCluster(processes=True, n_workers=a.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    with cluster, Client(cluster) as client:
        before = loopback()
        shards, reading = timed(lambda: Shards.from_files(files))
        made = loopback() - before
        for what in ("Dask", "Dask again"):
            before = loopback()
            there, seconds = timed(lambda: machine().fit(shards, y))
            rows.append(row(what, there, seconds, here, loopback() - before))
        killed = []

        def kill(progress):
            if progress.event == "step" and progress.done == 3 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        before = loopback()
        there, seconds = timed(lambda: machine(callback=kill).fit(shards, y))
        rows.append(row("Dask, a worker killed in round 3", there, seconds, here, loopback() - before))
        client.wait_for_workers(a.workers)
        costs = {**pass_costs(client, 10_000), **pass_costs(client, 10_000_000), **line_costs(client)}
    summary = {
        "n, p, values": [*X.shape, X.nnz],
        "workers": a.workers,
        "killed": len(killed),
        "reading and turning files into shards, s": reading,
        "loopback bytes of that": made,
        **costs,
        "note": a.note or "nothing else on the core",
    }
    c.save("dask_fgm", rows, list(rows[0]), summary)
    assert len(killed) == 1 and all(r["largest difference"] <= 1e-8 for r in rows[1:]), rows


if __name__ == "__main__":
    main()
