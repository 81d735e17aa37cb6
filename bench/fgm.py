"""The feature generating machine beside LIBLINEAR's L1 machine, one core, reading excluded.

Generated bags of words of the shape of news20.binary and of a URL set (`fewest generate text`, row lengths drawn so that the non-zeros
agree), and real sparse sets. fgm stops at a relative gap of 1e-3; its cost is the paper's, C = 5 (section 3.5), unless --cost says
otherwise (2 is the cost of LinearSVC(C=1), as the paper halves it). Both see the same scaled matrix (generated text: rows of length 1; real sets: columns over their largest value).
Peak memory is VmHWM of fewest-bench from start to end, reading included, over the bytes of the CSC arrays.

The rounds of each run go into bench/results/fgm.json; `--composite` runs the FGM-B experiment instead (20 seeds),
`--scores` the score pass alone, beside a copy of the same bytes.

`--grid` runs every sparse set at B in GRID_SIZES and LIBLINEAR's C in GRID_COSTS (fgm's cost is twice that), all columns over their
largest value, in CPU seconds: of fgm without reading, of LIBLINEAR those of `fit`, the least of the runs. What was taken with this
build is kept (results/fgm_grid.jsonl), so that the command goes on where it was stopped.
"""
import os
import resource
import warnings

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

import common as c

# name: (words, documents of the training and test set, draws a document, B)
TEXTS = {"news20-like": (1_355_191, 10_000, 455, 100), "url-like": (3_231_961, 16_000, 119, 60)}
# name: (test file or None, B)
REAL = {
    "rcv1_small": ("rcv1_small_test.svm.gz", 50),
    "farm_ads": (None, 50),
    "dorothea": ("dorothea_valid.svm.gz", 20),
    "basehock": (None, 50),
    "a9a": ("a9a.t.svm.gz", 20),
    "w8a": (None, 30),
}
GRID_SETS = ["a9a", "w8a", "rcv1_small", "farm_ads", "dorothea", "basehock"]
GRID_SIZES = [10, 50, 100, 500]
GRID_COSTS = [0.1, 1.0, 10.0]
GRID_LIMIT = 60  # CPU seconds of a run
c.FILES["basehock"] = ("basehock.svm.gz", 4862)


def npz(path):
    """(X in columns, y) of an archive that `fewest generate` wrote."""
    with np.load(path) as f:
        X = sparse.csc_matrix((f["data"], f["indices"], f["indptr"]), shape=f["shape"]) if f["format"] == b"csc" else \
            sparse.csr_matrix((f["data"], f["indices"], f["indptr"]), shape=f["shape"]).tocsc()
        return X, f["y"].astype(float)


def text(name):
    """(matrix file, X, y, X of the test set, its y); files are made once."""
    words, documents, length, _ = TEXTS[name]
    train, test, path = (c.CACHE / f"{name}{end}" for end in (".npz", "_test.npz", ".bin"))
    if not path.exists():
        c.CACHE.mkdir(parents=True, exist_ok=True)
        command = [c.TARGET / "release" / "fewest", "generate", "text", "--words", words, "--samples", documents, "--length", length]
        c.subprocess.run([str(w) for w in [*command, "--seed", 1, "--out", train, "--test", test]], check=True)
        c.write_matrix(path, *npz(train))
    return path, *npz(train), *npz(test)


def real(name):
    """As `text`; the test set is scaled as the training set, and a tenth of the samples where there is no test file."""
    from sklearn.datasets import load_svmlight_file

    file, p = c.FILES[name]
    X, y = load_svmlight_file(str(c.DATA / file), n_features=p)
    if REAL[name][0]:
        Xt, yt = load_svmlight_file(str(c.DATA / REAL[name][0]), n_features=p)
    else:
        held = np.random.default_rng(0).permutation(len(y)) < len(y) // 10
        X, y, Xt, yt = X[~held], y[~held], X[held], y[held]
    largest = np.abs(X).max(axis=0).toarray().ravel()
    scale = sparse.diags(1 / np.where(largest == 0, 1, largest))
    X, Xt = (X @ scale).tocsc(), (Xt @ scale).tocsc()
    X.sort_indices()
    y, yt = np.where(y > 0, 1.0, -1.0), np.where(yt > 0, 1.0, -1.0)
    path = c.CACHE / f"fgm_{name}.bin"
    c.CACHE.mkdir(parents=True, exist_ok=True)
    c.write_matrix(path, X, y)
    return path, X, y, Xt, yt


def accuracy(X, y, w, b):
    return float(np.mean(np.where(X @ w + b >= 0, 1, -1) == y))


def compare(name, repeats, peer, cost):
    path, X, y, Xt, yt = text(name) if name in TEXTS else real(name)
    features = TEXTS[name][3] if name in TEXTS else REAL[name][1]
    out = c.CACHE / "fgm.out"
    found = c.ours("fgm", path, features=features, cost=cost, gap=1e-3, repeats=repeats, seconds=20, out=out)
    model = np.fromfile(out, "<f8")
    rounds = found["rounds"]
    total = lambda key: sum(r[key] for r in rounds)
    row = {
        "set": name,
        "n": found["n"],
        "p": found["p"],
        "nnz": found["stored"],
        "B": features,
        "s": min(found["seconds"]),
        "rounds": len(rounds),
        "subsets": rounds[-1]["subsets"],
        "score+select s a round": total("separation_seconds") / len(rounds),
        "mkl s": total("mkl_seconds"),
        "gap": found["gap"],
        "kept": len(found["selected"]),
        "accuracy": accuracy(Xt, yt, model[1:], model[0]),
        "peak / CSC": found["peak_bytes"] / found["data_bytes"],
    }
    if peer:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows = c.for_peer(X)
            fitted, seconds = c.repeat(lambda: LinearSVC(penalty="l1", dual=False, C=1).fit(rows, y), repeats, 20)
        w = fitted.coef_.ravel()
        row |= {
            "L1 s": min(seconds),
            "L1 kept": int(np.count_nonzero(w)),
            "L1 accuracy": accuracy(Xt, yt, w, fitted.intercept_[0]),
            "L1 converged": not caught,
            "s / L1 s": row["s"] / min(seconds),
        }
    return row, rounds


def composite(seeds, noise, peer):
    """How often FGM-B and RFE (10 features a step, one below 200) find x1 and x2 at B = 2, C = 0.1, 500 samples."""
    from sklearn.feature_selection import RFE

    rows = []
    for seed in range(1, seeds + 1):
        train, path = c.CACHE / "composite.npz", c.CACHE / "composite.bin"
        c.CACHE.mkdir(parents=True, exist_ok=True)
        command = [c.TARGET / "release" / "fewest", "generate", "composite", "--samples", 500, "--noise", noise, "--seed", seed]
        c.subprocess.run([str(w) for w in [*command, "--out", train]], check=True)
        with np.load(train) as f:
            X, y = c.standardise(f["X"]), f["y"].astype(float)
        c.write_matrix(path, X, y)
        found = c.ours("fgm", path, features=2, cost=0.1, gap=1e-3, mixture=0)
        rows.append({"seed": seed, "s": min(found["seconds"]), "FGM-B": found["selected"], "gap": found["gap"]})
        if not peer:
            continue
        svm = LinearSVC(C=0.05, fit_intercept=False, dual=True)
        many = RFE(svm, n_features_to_select=200, step=10).fit(X, y).get_support(indices=True)
        rfe = many[RFE(svm, n_features_to_select=2, step=1).fit(X[:, many], y).get_support(indices=True)]
        rows[-1]["RFE"] = rfe.tolist()
    right = {who: sum(set(r[who]) == {0, 1} for r in rows) for who in ("FGM-B", "RFE") if who in rows[0]}
    c.save("fgm_composite", rows, list(rows[0]), {f"{who} finds x1 and x2": f"{count} of {seeds}" for who, count in right.items()})


def scores(repeats, note):
    """A pass over all columns, and one that keeps the 100 largest scores, beside reading as many bytes and copying them; the least of the repeats."""
    rows = []
    for name in (*TEXTS, "farm_ads"):
        path = (text(name) if name in TEXTS else real(name))[0]
        found = c.ours("pass", path, repeats=repeats, seconds=3)
        columns = ("pass_seconds", "select_seconds", "read_seconds", "copy_seconds", "pass_gb_per_second", "read_gb_per_second", "copy_gb_per_second")
        row = {"set": name, "p": found["p"], "nnz": found["stored"], "MB": found["data_bytes"] / 1e6}
        rows.append(row | {k.replace("_", " "): found[k] for k in columns} | {"pass / read": found["pass_seconds"] / found["read_seconds"]})
    c.save("pass", rows, list(rows[0]), {"note": note or "nothing else on the core"})


def liblinear(X, y, cost, repeats):
    """CPU seconds of LinearSVC's L1 machine, the least of the runs, in a process that ends at the limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (GRID_LIMIT, GRID_LIMIT))
    rows = c.for_peer(X)
    seconds = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(repeats):
            machine = LinearSVC(penalty="l1", dual=False, C=cost)
            seconds.append(c.cpu_seconds(lambda: machine.fit(rows, y)))
            if sum(seconds) > 5:
                break
    return {"cpu_s": min(seconds), "kept": int(np.count_nonzero(machine.coef_)), "converged": not caught}


def grid_run(path, size, cost, repeats):
    """CPU seconds of fgm, or that it was over the limit."""
    words = ["prlimit", f"--cpu={GRID_LIMIT}", c.BINARY, "fgm", path, "--features", size, "--cost", 2 * cost, "--gap", 1e-3]
    done = c.subprocess.run([str(w) for w in [*words, "--repeats", repeats, "--seconds", 5]], capture_output=True, text=True)
    if done.returncode < 0:
        return {"cpu_s": None, "status": f"over {GRID_LIMIT} CPU s"}
    if done.returncode:
        return {"cpu_s": None, "status": done.stderr.strip()}
    found = c.json.loads(done.stdout)
    kept = {name: found[name] for name in ("status", "gap", "objective", "bound", "steps")}
    rounds = found["rounds"]
    return {"cpu_s": found["cpu_seconds"], **kept, "rounds": len(rounds), "columns": rounds[-1]["columns"], "kept": len(found["selected"])}


def grid(sets, repeats, note):
    """Every set, size and cost; rows taken with this build are kept."""
    digest = c.program(c.BINARY)[1]
    kept = c.Kept("fgm_grid")
    rows = []
    for name in sets:
        path, X, y = c.prepared(name)
        for cost in GRID_COSTS:
            peer = kept.get("LIBLINEAR", f"{name} C={cost:g}")
            if peer is None:
                load = os.getloadavg()[0]
                try:
                    peer = c.capped(liblinear, 20 * GRID_LIMIT, X, y, cost, repeats)
                except RuntimeError:
                    peer = {"cpu_s": None, "kept": None, "converged": False}
                peer = kept.add("LIBLINEAR", f"{name} C={cost:g}", **peer, load=load)
            for size in (size for size in GRID_SIZES if size <= X.shape[1]):
                case = f"{name} B={size} C={cost:g}"
                ours = kept.get("fewest", case)
                if ours is None or ours["binary"] != digest:
                    load = os.getloadavg()[0]
                    ours = kept.add("fewest", case, **grid_run(path, size, cost, repeats), binary=digest, load=load)
                rows.append(grid_row(name, size, cost, ours, peer))
                print(" ".join(f"{k}={c.shown(v)}" for k, v in rows[-1].items()), flush=True)
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    above = {f"cells above {most:g}": f"{sum(r is None or r > most for r in [row['ratio'] for row in rows])} of {len(rows)}" for most in (0.5, 1)}
    c.save("fgm_grid", rows, list(rows[0]), {**above, "geometric mean": c.geometric_mean(ratios), "binary": digest, "note": note or "nothing else on the cores"})


def grid_row(name, size, cost, ours, peer):
    ratio = ours["cpu_s"] / peer["cpu_s"] if ours["cpu_s"] and peer["cpu_s"] else None
    row = {"set": name, "B": size, "C": cost, "CPU s": ours["cpu_s"], "L1 CPU s": peer["cpu_s"], "ratio": ratio}
    row |= {"L1 converged": peer["converged"], "rounds": ours.get("rounds"), "columns": ours.get("columns"), "steps": ours.get("steps")}
    row |= {"kept": ours.get("kept"), "L1 kept": peer["kept"], "gap": ours.get("gap"), "status": ours["status"]}
    return row | {"objective": ours.get("objective"), "load": ours["load"], "L1 load": peer["load"]}


def main():
    a = c.arguments(
        __doc__,
        sets=([*TEXTS, *REAL], "data sets"),
        core=(0, "core to run on"),
        cost=(5.0, "C of fgm"),
        repeats=(3, "runs, the fastest counts"),
        alone=(False, "without the peer"),
        composite=(False, "the FGM-B experiment"),
        seeds=(20, "its seeds"),
        scores=(False, "the score pass beside a copy"),
        noise=(10_000, "its noise features"),
        grid=(False, "every sparse set, size and cost, in CPU seconds"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    if a.scores:
        scores(20, a.note)
        return
    if a.grid:
        grid([name for name in a.sets if name in GRID_SETS], a.repeats, a.note)
        return
    if a.composite:
        composite(a.seeds, a.noise, not a.alone)
        return
    done = [compare(name, a.repeats, not a.alone, a.cost) for name in a.sets]
    rows = [row | {"rounds each": rounds} for row, rounds in done]
    columns = [k for k in done[0][0]]
    c.save("fgm", rows, columns, {"largest gap": max(r["gap"] for r in rows), "cost of fgm": a.cost, "note": a.note or "nothing else on the core"})


if __name__ == "__main__":
    main()
