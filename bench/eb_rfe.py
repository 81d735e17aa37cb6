"""EB-RFE beside a plain scikit-learn loop: 250 samples, 300 features, 6 classes, K = 20, 6 costs, 9 folds, RBF with gamma = 1/p.

usage: python bench/eb_rfe.py [--steps 20] [--threads 1] [--ours-only]
Both rank by the squared input-space weights summed over the pairs of classes, train with the best cost, and break ties in the same
way, so that the accuracies of all candidates can be compared step by step. Ours runs the released command; its seconds per step are
those of the trace; CPU seconds per step, which other work on the core does not change, are those of the process over all of its steps.
scikit-learn trains to its default tolerance (1e-3) and, with --tight, to 1e-7.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WORK = ROOT / "bench" / ".cache"
COSTS = [1 / 16, 0.25, 1, 4, 16, 64]
N, P, CLASSES, K, FOLDS = 250, 300, 6, 20, 9


def data():
    X, y = make_classification(N, P, n_informative=15, n_redundant=10, n_classes=CLASSES, random_state=0)
    return (X - X.mean(0)) / X.std(0), y


def weights(model, X):
    """Sum over the pairs of classes of (sum_i beta_i x_ij)^2, from LIBSVM's layout of the coefficients."""
    start = np.concatenate([[0], np.cumsum(model.n_support_)])
    total = np.zeros(X.shape[1])
    for a in range(CLASSES):
        for b in range(a + 1, CLASSES):
            in_a, in_b = slice(start[a], start[a + 1]), slice(start[b], start[b + 1])
            w = model.dual_coef_[b - 1, in_a] @ model.support_vectors_[in_a]
            total += (w + model.dual_coef_[a, in_b] @ model.support_vectors_[in_b]) ** 2
    return total


def loop(X, y, fold, steps, tolerance):
    """Algorithm 3 with scikit-learn: the accuracies of the candidates of each step, and CPU seconds per step."""
    train = lambda S, c, rows: SVC(C=c, gamma=1 / len(S), tol=tolerance).fit(X[np.ix_(rows, S)], y[rows])
    candidates, found, seconds = [np.arange(P)], [], []
    for _ in range(steps):
        begun = time.process_time()
        table = []
        for S in candidates:
            score = lambda c, f: train(S, c, fold != f).score(X[np.ix_(fold == f, S)], y[fold == f])
            table.append([np.mean([score(c, f) for f in range(FOLDS)]) for c in COSTS])
        table = np.round(table, 12)
        best = table.max(1)
        S, cost = candidates[int(best.argmax())], COSTS[int(table[best.argmax()].argmax())]
        model = train(S, cost, np.ones(N, bool))
        order = np.argsort(weights(model, X[:, S]), kind="stable")[:K]
        candidates = [np.delete(S, j) for j in order]
        found.append(best.tolist())
        seconds.append(time.process_time() - begun)
    return found, seconds


def ours(X, y, fold, steps, threads, limit):
    """The same by `fewest select --method eb-rfe`, stopped after some time; also the time of every step."""
    WORK.mkdir(exist_ok=True)
    table, trace, out = WORK / "eb_rfe.csv", WORK / "eb_rfe.jsonl", WORK / "eb_rfe.json"
    header = ",".join([f"x{j}" for j in range(P)] + ["fold", "y"])
    np.savetxt(table, np.column_stack([X, fold, y]), delimiter=",", header=header, comments="", fmt="%.17g")
    command = [
        TARGET / "release" / "fewest", "select", table, "--method", "eb-rfe", "--kernel", "rbf", "--criterion", "input-weights",
        "--candidates", K, "--costs", ",".join(map(str, COSTS)), "--folds", "fold", "--scale", "none",
        "--trace", trace, "--json", out, "--threads", threads, "-q", "--time-limit", f"{limit}s",
    ]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL)
    assert ended.returncode in (0, 3), ended
    total = time.perf_counter() - begun
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    curve = json.loads(out.read_text())["curve"]
    marks = [json.loads(line) for line in trace.read_text().splitlines()]
    marks = [m["seconds"] for m in marks if m["event"] == "progress"]
    return [step["candidates"] for step in curve[:steps]], np.diff(marks)[:steps].tolist(), len(curve), total, cpu


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--limit", type=int, default=60)
    options.add_argument("--tight", action="store_true")
    options.add_argument("--ours-only", action="store_true")
    options = options.parse_args()
    X, y = data()
    fold = np.arange(N) % FOLDS
    mine, seconds, done, total, cpu = ours(X, y, fold, options.steps, options.threads, options.limit)
    full = np.median(seconds[1:])
    print(f"fewest: {full:.4f} s per step of {K} candidates (median of {len(seconds) - 1}), {done} of {P} steps in {total:.1f} s, "
          f"{options.threads} thread(s), {cpu / done:.4f} CPU s per step")
    if options.ours_only:
        return
    theirs, their_seconds = loop(X, y, fold, options.steps, 1e-7 if options.tight else 1e-3)
    loop_full = np.median(their_seconds[1:])
    same = sum(np.allclose(a, b, atol=1e-9) for a, b in zip(mine, theirs, strict=True))
    worst = max(np.abs(np.subtract(a, b)).max() for a, b in zip(mine, theirs, strict=True) if len(a) == len(b))
    print(f"scikit-learn: {loop_full:.2f} CPU s per step; fewest needs {loop_full / (cpu / done):.0f} times less")
    print(f"steps with the same accuracies of all candidates: {same} of {options.steps}; largest difference {worst:.4g}")
    sys.exit(same < options.steps)


main()
