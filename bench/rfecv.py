"""SVM-RFE inside every fold down to one feature, beside scikit-learn's RFECV(SVC(kernel="linear"), step=1), one core each; where there
are many samples, beside RFECV(LinearSVC(dual=False), step=1), both with the squared hinge.

usage: python bench/rfecv.py [--tight] [--again] [--shapes 500x1000 2000x500]      (cargo build --release -p fewest-bench comes first)
make_classification(n, p, n_informative=20, random_state=0), standardised; StratifiedKFold(5); C = 1. Both sides count CPU seconds, which
other work on the core changes little. With the same splits the accuracies by size can be compared fold by fold: they differ from where on
scikit-learn's tolerance ranks two features the other way round. With --tight a smaller set follows, 200 x 300, where scikit-learn trains with
tol=1e-10 as well. Its runs take minutes; each is kept in bench/.cache and runs again only with --again.
"""
import argparse
import json
import resource

import common as c
import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFECV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

FOLDS = 5
#: Samples, features, scikit-learn's machine, its tolerances (the first is its default).
CASES = [
    (500, 1000, "SVC", [1e-3]),
    (2000, 500, "LinearSVC", [1e-4]),
    (200, 300, "SVC", [1e-3, 1e-10]),
]
#: Our options for the same problem.
OPTIONS = {"SVC": {}, "LinearSVC": {"loss": "squared-hinge", "bias": "1"}}


def data(n, p):
    X, y = make_classification(n, p, n_informative=20, random_state=0)
    X = c.standardise(X)
    fold = np.empty(n, int)
    for at, (_, held_out) in enumerate(StratifiedKFold(FOLDS).split(X, y)):
        fold[held_out] = at
    return X, y, fold


def theirs(X, y, machine, tol, again):
    """CPU seconds, and of each fold the accuracy by size (1 to p) and the ranks of the features."""
    n, p = X.shape
    path = c.CACHE / f"rfecv_sklearn_{machine}_{n}_{p}_{tol:g}.json"
    if path.exists() and not again:
        return json.loads(path.read_text())
    estimator = SVC(kernel="linear", tol=tol) if machine == "SVC" else LinearSVC(dual=False, tol=tol)
    search = RFECV(estimator, step=1, cv=StratifiedKFold(FOLDS))
    seconds = c.cpu_seconds(lambda: search.fit(X, y))
    found = search.cv_results_
    assert found["n_features"].tolist() == list(range(1, p + 1))
    results = [
        {"accuracies": found[f"split{f}_test_score"].tolist(), "ranking": found[f"split{f}_ranking"][0].tolist()} for f in range(FOLDS)
    ]
    kept = {"seconds": seconds, "folds": results, "versions": c.versions(), "cpu": c.cpu()}
    path.write_text(json.dumps(kept))
    return kept


def ours(X, y, fold, machine):
    """CPU seconds of the least of some runs (the whole process for one run), seconds on the wall of each, and the same of each fold."""
    path, folds = c.CACHE / "rfecv.bin", c.CACHE / "rfecv.folds"
    c.write_matrix(path, X, np.where(y > 0, 1.0, -1.0))
    fold.astype(np.uint8).tofile(folds)
    cpu, wall = [], []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = c.ours("rfecv", path, folds=folds, features=1, step=1, cost=1.0, tolerance=1e-9, **OPTIONS[machine])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        wall.append(found["seconds"][0])
    for one in found["folds"]:
        assert one["status"] == "completed" and one["sizes"] == list(range(X.shape[1], 0, -1)), one["status"]
        one["accuracies"].reverse()
    return min(cpu), wall, found["folds"]


def compare(mine, their):
    """How far two runs agree: accuracies at each size, by fold and in the mean, and how many features leave in the same order."""
    a, b = (np.array([f["accuracies"] for f in folds]) for folds in (mine, their))
    means = np.abs(a.mean(0) - b.mean(0))
    same_order = []
    for m, t in zip(mine, their):
        left = np.argsort(t["ranking"], kind="stable")[::-1]
        same_order.append(int(np.argmin(np.append(np.array(m["ranking"])[::-1] == left, False))))
    return {
        "sizes with the same mean score": int((means < 1e-12).sum()),
        "largest difference of a mean score": round(float(means.max()), 12),
        "mean over the sizes of the difference, ours less theirs": round(float((a - b).mean()), 6),
        "sizes with the same score, by fold": (np.abs(a - b) < 1e-12).sum(1).tolist(),
        "features that leave before the first difference, by fold": same_order,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tight", action="store_true", help="200 x 300 with tol=1e-10, too")
    options.add_argument("--again", action="store_true", help="run scikit-learn although its result is known")
    options.add_argument("--shapes", nargs="+", default=["500x1000", "2000x500"], help="which of the cases")
    options = options.parse_args()
    c.CACHE.mkdir(parents=True, exist_ok=True)
    wanted = [*options.shapes, *(["200x300"] if options.tight else [])]
    for n, p, machine, tols in (case for case in CASES if f"{case[0]}x{case[1]}" in wanted):
        X, y, fold = data(n, p)
        cpu, wall, mine = ours(X, y, fold, machine)
        print(f"{n} x {p}: fewest {cpu:.2f} CPU s, start-up and reading included; {min(wall):.2f} s on the wall", flush=True)
        for tol in tols:
            their = theirs(X, y, machine, tol, options.again)
            print(f"scikit-learn, {machine}, tol {tol:g}: {their['seconds']:.1f} CPU s, {their['seconds'] / cpu:.1f} times ours")
            for what, value in compare(mine, their["folds"]).items():
                print(f"  {what}: {value}", flush=True)


main()
