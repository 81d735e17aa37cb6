#!/usr/bin/env python3
"""The experiments of tan2010 with `fewest`, LIBLINEAR's L1 machine beside it: runs what is missing, then writes the tables.

    python3 papers/tan2010/run.py [--only figure2 | figure3 | tables | figure4 ...] [--fewest PATH] [--seeds 20] [--repeats 5] [--time-limit 60]

Every run is a line of results/runs.jsonl; an interrupted run goes on where it was, when started again in the same way. The tables are
results/{figure2,figure3,tables,figure4}.md. Needs numpy, scipy and scikit-learn (bench/requirements.txt); one thread.
"""
import argparse
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402
import tables  # noqa: E402

ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
NOISE = [100, 300, 1000, 3000, 10_000]  # figure 2, at 500 samples
SAMPLES = [100, 200, 300, 500, 1000]  # figure 3, at 2000 noise features
# figure 4: name: (training file, test file or None, B, features RFE drops at a time)
LARGE = {
    "rcv1_small": ("rcv1_small_train.svm.gz", "rcv1_small_test.svm.gz", [10, 50, 100], 100),
    "farm_ads": ("farm_ads.svm.gz", None, [10, 50, 100], 1000),
    "dorothea": ("dorothea_train.svm.gz", "dorothea_valid.svm.gz", [5, 20, 50], 1000),
    "basehock": ("basehock.svm.gz", None, [10, 50, 100], 100),
    "a9a": ("a9a.svm.gz", "a9a.t.svm.gz", [10, 20, 50], 10),
    "w8a": ("w8a.svm.gz", None, [10, 30, 100], 10),
    "news20-like": ((1_355_191, 10_000, 455), "generated", [10, 50, 100], 10_000),
    "url-like": ((3_231_961, 16_000, 119), "generated", [10, 30, 60], 10_000),
}


class Fewest:
    """The binary."""

    def __init__(self, path, time_limit):
        self.path, self.time_limit = path, time_limit

    def run(self, *words, codes=(0,)):
        done = subprocess.run([str(w) for w in (self.path, *words)], capture_output=True, text=True)
        if done.returncode not in codes:
            raise RuntimeError(f"exit code {done.returncode}: {' '.join(map(str, words))}\n{done.stderr.strip()}")
        return done

    def select(self, folder, train, test, method, B, cost, *options, size="--max-features"):
        """What is found, its seconds (reading excluded) and its accuracy on the test file; none where the memory is too small."""
        out, model, scored = (folder / f"{n}.json" for n in ("result", "model", "scored"))
        words = ["select", train, "-m", method, size, B, "--cost", cost, "--time-limit", f"{self.time_limit}s", "--threads", 1]
        done = self.run(*words, "--quiet", "--json", out, "--model", model, *options, codes=(0, 2, 3))
        if done.returncode == 2:
            if "--memory" in done.stderr or "allowed" in done.stderr:
                return {"refused": done.stderr.strip()}
            raise RuntimeError(done.stderr.strip())
        found = json.loads(out.read_text())
        self.run("predict", model, test, "--quiet", "--out", os.devnull, "--json", scored)
        return {
            "selected": found["selected_indices"],
            "seconds": found["seconds"],
            "status": found["status"],
            "gap": found["gap"],
            "weights": [w for w in found["model"]["weights"].values()],
            "accuracy": json.loads(scored.read_text())["accuracy"],
        }

    def rfe(self, folder, train, test, p, B, cost, *options):
        """SVM-RFE as the paper runs it on small sets: 10 features a step, one below 200."""
        if p <= 200:
            return self.select(folder, train, test, "rfe", B, cost, "--step", 1, *options)
        first = self.select(folder, train, test, "rfe", max(200, B), cost, "--step", 10, *options)
        small, small_test = folder / "small.npz", folder / "small_test.npz"
        names = ",".join(f"x{j + 1}" for j in first["selected"])
        for source, kept in ((train, small), (test, small_test)):
            self.run("convert", source, kept, "--features", names)
        found = self.select(folder, small, small_test, "rfe", B, cost, "--step", 1, *options)
        found["selected"] = [first["selected"][j] for j in found["selected"]]
        found["seconds"] += first["seconds"]
        return found


def l1(X, y, Xt, yt, cost):
    """LIBLINEAR's L1 machine; weights below 1e-4 of the largest count as zero, as in the paper."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = LinearSVC(penalty="l1", dual=False, C=cost).fit(X, y)
    seconds = time.perf_counter() - start
    w = np.abs(machine.coef_.ravel())
    kept = np.flatnonzero(w > 1e-4 * w.max()) if w.max() > 0 else []
    order = np.argsort(-w)
    return {
        "selected": [int(j) for j in kept],
        "first": [int(j) for j in order[:2]],
        "seconds": seconds,
        "accuracy": float(np.mean(machine.predict(Xt) == yt)),
        "converged": not caught,
    }


def archive(path):
    """X (dense or CSR) and y of a file of fewest."""
    with np.load(path) as f:
        y = f["y"].astype(float)
        if "X" in f:
            return f["X"], y
        form = sparse.csc_matrix if f["format"] == b"csc" else sparse.csr_matrix
        return form((f["data"], f["indices"], f["indptr"]), shape=f["shape"]).tocsr(), y


def standardised(X, Xt):
    mean, sd = X.mean(axis=0), X.std(axis=0)
    sd[sd == 0] = 1
    return (X - mean) / sd, (Xt - mean) / sd


def largest_one(X, Xt):
    largest = np.abs(X).max(axis=0).toarray().ravel()
    scale = sparse.diags(1 / np.where(largest == 0, 1, largest))
    return (X @ scale).tocsr(), (Xt @ scale).tocsr()


def composite(fewest, runs, figure, seeds):
    """Figures 2 and 3: C = 0.1, B = 2; LIBLINEAR's cost is half of it."""
    settings = [(500, noise) for noise in NOISE] if figure == "figure2" else [(n, 2000) for n in SAMPLES]
    for n, noise in settings:
        for seed in range(1, seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                train, test = folder / "train.npz", folder / "test.npz"
                made = []

                def files():
                    if not made:
                        words = ["--samples", n, "--noise", noise, "--seed", seed, "--out", train, "--test", test, "--test-samples", 500]
                        fewest.run("generate", "composite", *words)
                        made.append(1)
                    return train, test

                def matrices():
                    (X, y), (Xt, yt) = (archive(f) for f in files())
                    X, Xt = standardised(X, Xt)
                    return X, y, Xt, yt

                key = {"part": figure, "n": n, "noise": noise, "seed": seed}
                none = ("--bias", "none")
                todo = {
                    "FGM": lambda: fewest.select(folder, *files(), "fgm", 2, 0.1, "--gap", "1e-3", size="--subset-size"),
                    "FGM-B": lambda: fewest.select(folder, *files(), "fgm", 2, 0.1, "--gap", "1e-3"),
                    "SVM-RFE": lambda: fewest.rfe(folder, *files(), noise + 3, 2, 0.05, "--loss", "squared-hinge", *none),
                    "L1": lambda: l1(*matrices(), 0.05),
                    "SVM(all)": lambda: fewest.select(folder, *files(), "rfe", noise + 3, 0.05, "--loss", "squared-hinge", *none),
                    "SVM(ideal)": lambda: fewest.select(
                        folder, *files(), "rfe", 2, 0.05, "--step", noise + 1, "--require", "x1,x2", "--loss", "squared-hinge", *none
                    ),
                }
                # The cone programs take seconds to minutes: three seeds.
                if seed <= 3 and figure == "figure2":
                    todo["QCQP-SSVM"] = lambda: fewest.select(folder, *files(), "qcqp-ssvm", 2, 0.1, "--memory", "1G")
                    todo["NMMKL"] = lambda: fewest.select(folder, *files(), "nmmkl", 2, 0.05, "--memory", "1G")
                for method, work in todo.items():
                    runs.once(key | {"method": method}, work)


def digits():
    """241 features of scikit-learn's 8 x 8 digits, 2 and 5 against the rest, in place of USPS: the 64 pixels, 49 sums of 2 x 2, 56 differences
    each way, 16 sums of 5 x 5."""
    from sklearn.datasets import load_digits

    images, labels = load_digits().images, load_digits().target
    sums = lambda k: sum(images[:, i : 9 - k + i, j : 9 - k + j] for i in range(k) for j in range(k))
    parts = [images, sums(2), np.diff(images, axis=1), np.diff(images, axis=2), sums(5)]
    X = np.hstack([part.reshape(len(images), -1) for part in parts])
    assert X.shape[1] == 241
    chosen = np.random.default_rng(0).permutation(len(X))[:1500]
    return X[chosen], np.where(np.isin(labels[chosen], (2, 5)), 1.0, -1.0)


def table(name):
    """(X, y, B, C) of a small set."""
    if name == "digits":
        X, y = digits()
        return X, y, [24, 48, 72, 96], 0.5
    file = {"wdbc": "wdbc.csv", "breast_west_er": "breast_west_er.csv.gz", "leukemia": "leukemia_golub.csv.gz"}[name]
    with (gzip.open if file.endswith(".gz") else open)(DATA / file, "rt") as f:
        header = f.readline().strip().split(",")
        rows = [line.strip().split(",") for line in f]
    at = next((header.index(t) for t in ("y", "label", "class", "target") if t in header), len(header) - 1)
    classes = sorted({row[at] for row in rows})
    y = np.array([1.0 if row[at] == classes[1] else -1.0 for row in rows])
    keep = [j for j, h in enumerate(header) if j != at and h != "id"]
    X = np.array([[float(row[j]) for j in keep] for row in rows])
    return (X, y, [3, 6, 9, 12], 0.5) if name == "wdbc" else (X, y, [2, 5, 10, 20], 0.01)


def small(fewest, runs, repeats):
    """Tables 2 to 4: random splits of 60/40."""
    for name in ("wdbc", "digits", "breast_west_er", "leukemia"):
        X, y, sizes, cost = table(name)
        for repeat in range(repeats):
            rng = np.random.default_rng(repeat)
            train = np.concatenate([rng.permutation(np.flatnonzero(y == c))[: round(0.6 * np.sum(y == c))] for c in (-1.0, 1.0)])
            held = np.setdiff1d(np.arange(len(y)), train)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                files = folder / "train.npz", folder / "test.npz"
                for file, rows in zip(files, (train, held)):
                    np.savez(file, X=X[rows], y=y[rows])
                key = {"part": "tables", "set": name, "p": X.shape[1], "repeat": repeat}
                A, At = standardised(X[train], X[held])
                runs.once(key | {"method": "L1", "B": 0}, lambda: l1(A, y[train], At, y[held], 0.5 * cost))
                plain = ("--loss", "squared-hinge", "--bias", "none")
                for B in sizes:
                    todo = {
                        "FGM": lambda: fewest.select(folder, *files, "fgm", B, cost, "--gap", "1e-3", size="--subset-size"),
                        "FGM-B": lambda: fewest.select(folder, *files, "fgm", B, cost, "--gap", "1e-3"),
                        "QCQP-SSVM": lambda: fewest.select(folder, *files, "qcqp-ssvm", B, cost, "--memory", "1G"),
                        "NMMKL": lambda: fewest.select(folder, *files, "nmmkl", B, 0.5 * cost, "--memory", "1G"),
                        "SVM-RFE": lambda: fewest.rfe(folder, *files, X.shape[1], B, 0.5 * cost, *plain),
                    }
                    # A cone program of 7129 features takes seconds: one split.
                    if X.shape[1] > 1000 and repeat > 0:
                        del todo["QCQP-SSVM"], todo["NMMKL"]
                    for method, work in todo.items():
                        runs.once(key | {"method": method, "B": B}, work)


def large(fewest, runs):
    """Figures 4 and 5: C = 5."""
    for name, (train, test, sizes, step) in LARGE.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            made = []

            def files():
                if made:
                    return made[0]
                if test == "generated":
                    words, documents, length = train
                    made.append((folder / "train.npz", folder / "test.npz"))
                    options = ["--words", words, "--samples", documents, "--length", length, "--seed", 1]
                    fewest.run("generate", "text", *options, "--out", made[0][0], "--test", made[0][1])
                elif test:
                    made.append((DATA / train, DATA / test))
                else:
                    made.append((folder / "train.svm", folder / "test.svm"))
                    held = None
                    with gzip.open(DATA / train, "rt") as f:
                        lines = f.readlines()
                    held = np.random.default_rng(0).permutation(len(lines)) < len(lines) // 10
                    for file, which in zip(made[0], (~held, held)):
                        file.write_text("".join(line for line, w in zip(lines, which) if w))
                return made[0]

            def matrices():
                if test == "generated":
                    (X, y), (Xt, yt) = (archive(f) for f in files())
                    return X, y, Xt, yt
                from sklearn.datasets import load_svmlight_file

                X, y = load_svmlight_file(str(files()[0]))
                Xt, yt = load_svmlight_file(str(files()[1]), n_features=X.shape[1])
                X, Xt = largest_one(X, Xt)
                return X, np.where(y > 0, 1.0, -1.0), Xt, np.where(yt > 0, 1.0, -1.0)

            key = {"part": "figure4", "set": name}
            runs.once(key | {"method": "L1", "B": 0}, lambda: l1(*matrices(), 1.0))
            # Text has rows of length 1; the others columns of largest value 1.
            scale = ("--scale", "none" if test == "generated" else "maxabs")
            plain = ("--loss", "squared-hinge", "--bias", "none", "--step", step)
            for B in sizes:
                todo = {
                    "FGM": lambda: fewest.select(folder, *files(), "fgm", B, 5, "--gap", "1e-3", *scale, size="--subset-size"),
                    "FGM-B": lambda: fewest.select(folder, *files(), "fgm", B, 5, "--gap", "1e-3", *scale),
                    "SVM-RFE": lambda: fewest.select(folder, *files(), "rfe", B, 2.5, *plain, *scale),
                }
                for method, work in todo.items():
                    runs.once(key | {"method": method, "B": B}, work)


class Runs:
    """The lines of runs.jsonl: a run that is there is not done again."""

    def __init__(self, path):
        self.path = path
        self.list = [json.loads(line) for line in common.whole_lines(path)]
        self.keys = {self.key(r) for r in self.list}

    @staticmethod
    def key(run):
        return tuple(str(run.get(k)) for k in ("part", "set", "n", "noise", "seed", "repeat", "method", "B"))

    def once(self, key, work):
        if self.key(key) in self.keys:
            return
        done = key | work()
        if "weights" in done:
            w = np.abs(done.pop("weights"))
            done["kept"] = int(np.sum(w > 1e-4 * w.max())) if len(w) else 0
        elif "selected" in done:
            done["kept"] = len(done["selected"])
        # Long lists tell nothing in the tables.
        done["selected"] = done.get("selected", [])[:10]
        self.list.append(done)
        self.keys.add(self.key(key))
        with self.path.open("a") as f:
            f.write(json.dumps(done) + "\n")
        print(*(f"{k}={v}" for k, v in done.items() if k not in ("selected", "part", "refused")), flush=True)


def main():
    parts = ["figure2", "figure3", "tables", "figure4"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "fewest"
    parser.add_argument("--fewest", default=default, help="the binary [default: of the release build]")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--seeds", type=int, default=20, help="data sets of figures 2 and 3")
    parser.add_argument("--repeats", type=int, default=5, help="splits of the tables; the paper has 30")
    parser.add_argument("--time-limit", type=float, default=60, help="seconds a run")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    fewest, runs = Fewest(a.fewest, a.time_limit), Runs(a.out / "runs.jsonl")
    # A run that is stopped writes what there is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for part in a.only:
            if part in ("figure2", "figure3"):
                composite(fewest, runs, part, a.seeds)
            elif part == "tables":
                small(fewest, runs, a.repeats)
            else:
                large(fewest, runs)
    finally:
        for part in parts:
            text = tables.text(part, [r for r in runs.list if r["part"] == part])
            if text:
                (a.out / f"{part}.md").write_text(text)


if __name__ == "__main__":
    main()
