"""`fgm` and `l1-svm` from column files of growing size beside LIBLINEAR on the same file, and beside reading it.

Each size is a bag of words that `fewest generate text` writes as a column file; the file is deleted after its rows are taken. What is done is
kept in bench/results/scale.jsonl by size and program, so that a run goes on where the last one stopped; `--again` begins anew. Seconds are
CPU seconds: of the whole command for ours (opening and checking the file included), of `fit` alone for LinearSVC. LIBLINEAR is left out
where its copy would take more than `--peer` bytes. Gaps are proven: of LinearSVC against our bound on the same problem, without a bias.
"""
import json
import resource
import subprocess
import sys
import time

import common as c
import numpy as np
from scipy import sparse

SIZES = [(3000, 400_000), (10_000, 1_355_191), (40_000, 2_000_000), (130_000, 1_000_000), (400_000, 10_000_000)]


def columns(path):
    """X (CSC, mapped) and y in -1, 1 of a column file: crates/fewest-data/src/columns/mod.rs has its layout."""
    bytes_ = np.memmap(path, np.uint8, "r")
    n, p, stored = (int(x) for x in bytes_[16:40].view(np.uint64))
    at, parts = 128, []
    for kind, count in ((np.uint64, p + 1), (np.uint32, stored), (np.float64, stored), (np.uint32, n)):
        size = np.dtype(kind).itemsize * count
        parts.append(bytes_[at : at + size].view(kind))
        at = -(-(at + size) // 64) * 64
    start, rows, values, codes = parts
    return sparse.csc_matrix((values, rows.astype(np.int32), start.astype(np.int64)), shape=(n, p)), 2.0 * codes - 1


def liblinear(path, tolerance):
    """One LinearSVC in a process of its own, so that its peak is its own."""
    from sklearn.svm import LinearSVC

    X, y = columns(path)
    X = X.tocsr()
    start = time.process_time()
    fit = LinearSVC(penalty="l1", dual=False, C=1.0, tol=tolerance, fit_intercept=False, random_state=0).fit(X, y)
    seconds = time.process_time() - start
    w = fit.coef_[0]
    objective = np.abs(w).sum() + (np.maximum(0, 1 - y * (X @ w)) ** 2).sum()
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"CPU s": seconds, "objective": objective, "features": int((w != 0).sum()), "peak MiB": peak / 2**20}))


def command(words):
    """CPU seconds and seconds of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    whole, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, words
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, whole, done.stdout


def main():
    if sys.argv[1:2] == ["--liblinear"]:
        return liblinear(sys.argv[2], float(sys.argv[3]))
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        length=(455, "draws a document"),
        memory=("4G", "--memory of ours"),
        peer=(8e9, "bytes that LIBLINEAR's copy may take"),
        most=(1e9, "draws at most of a size that is run"),
        again=(0, "1 begins anew"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    fewest, kept = c.TARGET / "release" / "fewest", c.RESULTS / "scale.jsonl"
    c.CACHE.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() and not a.again else []
    for n, p in SIZES:
        size, path, out = f"{n} x {p}", c.CACHE / f"scale_{n}_{p}.csc", c.CACHE / "scale.json"
        wanted = [name for name in ("read", "fgm", "l1-svm", "LIBLINEAR 0.1", "LIBLINEAR 0.001") if not any((r["size"], r["program"]) == (size, name) for r in rows)]
        if n * a.length > a.most or not wanted:
            continue
        sizes = ["--samples", n, "--words", p, "--length", a.length]
        command([fewest, "generate", "text", *sizes, "--memory", "20G", "--out", path, "--quiet"])
        X, _ = columns(path)
        facts = {"size": size, "non-zeros": int(X.nnz), "file MiB": path.stat().st_size / 2**20}
        del X
        for name in wanted:
            row = {**facts, "program": name}
            if name == "read":
                row["CPU s"], row["whole s"], _ = command(["sh", "-c", f"cat '{path}' | cat >/dev/null"])
            elif name.startswith("LIBLINEAR"):
                if 24 * facts["non-zeros"] + 16 * p > a.peer:
                    continue
                row |= json.loads(command([sys.executable, __file__, "--liblinear", path, name.split()[1]])[2])
            else:
                asked = ["--max-features", 100, "--gap", "1e-4"] if name == "fgm" else ["--loss", "squared-hinge", "--bias", "none"]
                words = [fewest, "select", path, "-m", name, *asked, "--cost", 1, "--scale", "none", "--threads", 1, "--memory", a.memory, "--quiet", "--json", out]
                row["CPU s"], row["whole s"], _ = command(words)
                found = json.loads(out.read_text())
                row |= {key: found[key] for key in ("objective", "bound", "gap")} | {"features": len(found["selected"])}
                if name == "fgm":
                    last = found["rounds"][-1]
                    row["gap"] = (last["upper"] - last["lower"]) / abs(last["upper"])
            rows.append(row)
            with kept.open("a" if len(rows) > 1 else "w") as f:
                f.write(json.dumps(row) + "\n")
        path.unlink()
    bounds = {r["size"]: r["bound"] for r in rows if r["program"] == "l1-svm"}
    for row in rows:
        if row["program"].startswith("LIBLINEAR"):
            row["gap"] = (row["objective"] - bounds[row["size"]]) / row["objective"]
    names = ["size", "non-zeros", "file MiB", "program", "CPU s", "whole s", "features", "objective", "gap", "peak MiB"]
    table = [{name: row.get(name, "") for name in names} for row in rows]
    c.save("scale", table, names, {"cost": 1, "--memory": a.memory, "gap of fgm": "that of its relaxation", "note": a.note or "nothing else running"})


if __name__ == "__main__":
    main()
