"""The Python package beside scikit-learn: one-line replacements timed side by side, and what the call from Python costs.

    pip install ./python && python bench/python_peers.py [--only rfe linear rfecv overhead]

One core each, in one process, alternately; times are the least of the repetitions (RFECV of scikit-learn: one run).
Writes bench/results/python_peers.md.
"""

import argparse
import gzip
import os
import resource
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, RFECV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import LinearSVC as PeerLinearSVC

from fewest import SVMRFE, InformationGain, LinearSVC

DATA = Path(os.environ.get("FEWEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def least(run, repetitions):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        answer = run()
        times.append(time.perf_counter() - start)
    return min(times), answer


def leukemia():
    with gzip.open(DATA / "leukemia_golub.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1)
    return scale(rows[:, :-1]), rows[:, -1]


def rfe():
    X, y = leukemia()
    # At its default tolerance the peer ranks by where its solver stopped; at a tight one both rank
    # alike.
    for step, tol in ((0.1, 1e-3), (0.1, 1e-10), (1, 1e-10), (1, 1e-3)):
        peer, theirs = least(lambda: RFE(PeerSVC(kernel="linear", tol=tol), n_features_to_select=10, step=step).fit(X, y), 1)
        ours, mine = least(lambda: SVMRFE(n_features_to_select=10, step=step, n_jobs=1).fit(X, y), 3)
        same = int((theirs.support_ & mine.support_).sum())
        yield f"RFE to 10 of leukemia_golub, step {step}, SVC(tol={tol:g})", peer, ours, f"{same} of 10 features in common"


def linear():
    X, y = leukemia()
    for loss in ("squared_hinge", "hinge"):
        peer, theirs = least(lambda: PeerLinearSVC(loss=loss, tol=1e-6, max_iter=100_000, dual=True).fit(X, y), 3)
        ours, mine = least(lambda: LinearSVC(loss=loss, n_jobs=1).fit(X, y), 3)
        apart = np.abs(theirs.coef_ - mine.coef_).max() / np.abs(mine.coef_).max()
        yield f"LinearSVC({loss}) on leukemia_golub", peer, ours, f"weights agree within {apart:.0e}; ours to a gap of 1e-12"


def rfecv():
    X, y = make_classification(n_samples=500, n_features=1000, n_informative=20, random_state=0)
    X, cv = scale(X), StratifiedKFold(5)
    ours, mine = least(lambda: SVMRFE(cv=cv, n_jobs=1).fit(X, y), 2)
    two, _ = least(lambda: SVMRFE(cv=cv, n_jobs=2).fit(X, y), 2)
    peer, theirs = least(lambda: RFECV(PeerSVC(kernel="linear"), cv=cv).fit(X, y), 1)
    apart = np.abs(theirs.cv_results_["mean_test_score"] - mine.cv_results_["mean_test_score"])
    best = f"chosen {mine.n_features_} ({mine.cv_results_['mean_test_score'].max():.4f}), RFECV {theirs.n_features_} ({theirs.cv_results_['mean_test_score'].max():.4f})"
    yield "RFECV, 500 x 1000, 5 folds", peer, ours, f"{best}; mean scores differ by {apart.mean():.4f} on average; two threads {two:.2f} s"


def overhead():
    """What a fit takes beside what the engine says it took (the command's in-process time), and the memory it adds."""
    from fewest import _core

    rng = np.random.default_rng(0)
    for n, p in ((500, 1000), (2000, 20_000)):
        for order in "FC":
            X = np.asarray(rng.normal(size=(n, p)), order=order)
            y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
            engine = []

            def select(*arguments, original=_core.select):
                answer = original(*arguments)
                engine.append(answer["elapsed"])
                return answer

            def train(*arguments, original=_core.train):
                start = time.perf_counter()
                answer = original(*arguments)
                engine[-1] += time.perf_counter() - start
                return answer

            originals = _core.select, _core.train
            _core.select, _core.train = select, train
            selector = InformationGain(n_features_to_select=5, n_jobs=1)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            whole = []
            for _ in range(7):
                whole.append(least(lambda: selector.fit(X, y), 1)[0])
            _core.select, _core.train = originals
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            added = min(w - e for w, e in zip(whole, engine, strict=True))
            note = f"Python adds {1e3 * added:.2f} ms; peak memory grew by {grown / 1024:.1f} MB, X is {X.nbytes / 2**20:.0f} MB"
            yield f"info-gain, {n} x {p}, {order} order", min(engine), min(whole), note


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = {run.__name__: run for run in (rfe, linear, rfecv, overhead)}
    parser.add_argument("--only", nargs="*", choices=known, default=list(known))
    lines = ["| what | peer | fewest | ratio | |", "| --- | --- | --- | --- | --- |"]
    for name in parser.parse_args().only:
        for what, peer, ours, note in known[name]():
            lines.append(f"| {what} | {peer:.4g} s | {ours:.4g} s | {peer / ours:.1f} | {note} |")
            print(lines[-1], flush=True)
    (Path(__file__).parent / "results" / "python_peers.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
