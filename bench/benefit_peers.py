"""The peers of bench/benefit.py: selectors of scikit-learn and PyPI, each followed by a linear SVM.

A selector is called as select(X, y, sizes, cost), X standardised; it returns {size: features}, at most `size` of them, counted from 0.
Costs are chosen by the accuracy of 5 stratified inner folds, the smallest first in a tie. `inside` says whether the selection is made again
in each of them; where it is not (it takes too long), the inner folds choose the cost of the SVM on features that are fixed already.
"""

import contextlib
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector, f_classif, mutual_info_classif
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

FIT_COSTS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
INNER = 5
# SVM-RFE drops a tenth of the features a step down to these, then one at a time.
LAST = 50
TREES = 200


@dataclass
class Peer:
    select: Callable
    inside: bool = True
    costs: list = field(default_factory=lambda: [None])
    needs: str = "sklearn"


def firsts(order, sizes):
    return {size: [int(j) for j in order[:size]] for size in sizes}


def by_score(scores, sizes):
    """The features of largest score; no number counts least, ties go to the earlier feature."""
    return firsts(np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable"), sizes)


def anova(X, y, sizes, _):
    return by_score(f_classif(X, y)[0], sizes)


def mutual_information(X, y, sizes, _):
    return by_score(mutual_info_classif(X, y, random_state=0), sizes)


def forest(X, y, sizes, _):
    return by_score(RandomForestClassifier(TREES, random_state=0, n_jobs=1).fit(X, y).feature_importances_, sizes)


def l1(X, y, sizes, cost):
    weights = np.abs(LinearSVC(penalty="l1", dual=False, C=cost, random_state=0).fit(X, y).coef_[0])
    found = by_score(weights, sizes)
    return {size: [j for j in features if weights[j] > 0] for size, features in found.items()}


def shrunk(X, y, cost):
    """The features that SVM-RFE with large steps leaves."""
    if X.shape[1] <= LAST:
        return np.arange(X.shape[1])
    return RFE(SVC(kernel="linear", C=cost), n_features_to_select=LAST, step=0.1).fit(X, y).get_support(indices=True)


def rfe(X, y, sizes, cost):
    left, found = shrunk(X, y, cost), {}
    for size in sorted(sizes, reverse=True):
        if len(left) > size:
            left = left[RFE(SVC(kernel="linear", C=cost), n_features_to_select=size, step=1).fit(X[:, left], y).support_]
        found[size] = [int(j) for j in left]
    return found


def rfecv(X, y, sizes, cost):
    """The size, too, by cross-validation, from 1 to the size asked for."""
    left, found = shrunk(X, y, cost), {}
    judged = RFECV(SVC(kernel="linear", C=cost), step=1, cv=StratifiedKFold(INNER)).fit(X[:, left], y)
    scores = dict(zip(judged.cv_results_["n_features"], judged.cv_results_["mean_test_score"], strict=True))
    for size in sizes:
        best = min((k for k in scores if k <= size), key=lambda k: (-scores[k], k))
        ranked = RFE(SVC(kernel="linear", C=cost), n_features_to_select=int(best), step=1).fit(X[:, left], y)
        found[size] = [int(j) for j in left[ranked.support_]]
    return found


def sequential(X, y, sizes, _):
    one = lambda size: SequentialFeatureSelector(SVC(kernel="linear", C=1.0), n_features_to_select=size, cv=INNER).fit(X, y)
    return {size: [int(j) for j in one(size).get_support(indices=True)] for size in sizes}


def mrmr(X, y, sizes, _):
    import pandas
    from mrmr import mrmr_classif

    table = pandas.DataFrame(X)
    keep = table.columns[table.std() > 0]
    order = mrmr_classif(table[keep], pandas.Series(y), K=max(sizes), n_jobs=1, show_progress=False)
    return firsts(order, sizes)


def boruta(X, y, sizes, _):
    """Features in the order of Boruta's ranks, within a rank by the importance of a forest: it has no size of its own."""
    from boruta import BorutaPy

    trees = RandomForestClassifier(max_depth=5, random_state=0, n_jobs=1)
    ranks = BorutaPy(trees, n_estimators="auto", max_iter=50, random_state=0).fit(X, y).ranking_
    worth = RandomForestClassifier(TREES, random_state=0, n_jobs=1).fit(X, y).feature_importances_
    return firsts(np.lexsort((-worth, ranks)), sizes)


def hsic_lasso(X, y, sizes, _):
    """Blocks of 20 samples where n x n x p numbers are more than 500 MB."""
    from pyHSICLasso import HSICLasso

    blocks = 20 if 8 * len(y) ** 2 * X.shape[1] > 5e8 else 0
    found = {}
    for size in sizes:
        machine = HSICLasso()
        machine.input(X, y.astype(int))
        machine.classification(size, B=blocks, n_jobs=1)
        found[size] = [int(j) for j in machine.get_index()][:size]
    return found


def lassonet(X, y, sizes, _):
    """Features in the order in which the path keeps them longest."""
    from lassonet import LassoNetClassifier

    machine = LassoNetClassifier(random_state=0, torch_seed=0)
    machine.path(X.astype(np.float32), (y > 0).astype(int))
    return by_score(np.asarray(machine.feature_importances_, float), sizes)


WIDE = [1e-3, 0.03, 1.0]
PEERS = {
    "ANOVA": Peer(anova),
    "mutual information": Peer(mutual_information, inside=False),
    "random forest": Peer(forest),
    "L1": Peer(l1, costs=[0.02, 0.05, 0.1, 0.3, 1.0, 3.0]),
    "RFE": Peer(rfe, costs=WIDE),
    "RFECV": Peer(rfecv, inside=False, costs=WIDE),
    "mRMR": Peer(mrmr, needs="mrmr"),
    "HSIC Lasso": Peer(hsic_lasso, inside=False, needs="pyHSICLasso"),
    "Boruta": Peer(boruta, inside=False, needs="boruta"),
    "LassoNet": Peer(lassonet, inside=False, needs="lassonet"),
    "sequential": Peer(sequential, inside=False),
}


def chosen_cost(peer, X, y, sizes, fixed):
    """By size (cost of the selection, cost of the SVM): the most inner samples classified right. `fixed`, by cost and size: the features
    of a selection that is not made again."""
    right = {size: np.zeros((len(peer.costs), len(FIT_COSTS))) for size in sizes}
    folds = min(INNER, np.bincount(y > 0).min())
    for inside, outside in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[inside])
        A, B = scaler.transform(X[inside]), scaler.transform(X[outside])
        for at, cost in enumerate(peer.costs):
            found = fixed[cost] if fixed else peer.select(A, y[inside], sizes, cost)
            for size, features in found.items():
                if not features:
                    continue
                for fit, C in enumerate(FIT_COSTS):
                    machine = SVC(kernel="linear", C=C).fit(A[:, features], y[inside])
                    right[size][at, fit] += np.sum(machine.predict(B[:, features]) == y[outside])
    best = {size: np.unravel_index(np.argmax(table), table.shape) for size, table in right.items()}
    return {size: (peer.costs[at], FIT_COSTS[fit]) for size, (at, fit) in best.items()}


class Over(BaseException):
    """The CPU seconds are used up. No `Exception`, so that no peer takes it for one of its own."""


def limited(seconds, *arguments):
    """judged(*arguments) in at most this many CPU seconds, else None. For a process of its own."""

    def over(*_):
        raise Over

    signal.signal(signal.SIGXCPU, over)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), resource.RLIM_INFINITY))
    try:
        return judged(*arguments)
    except Over:
        return None


def judged(name, X, y, train, test, sizes):
    """By size: accuracy, AUC, features and the CPU seconds of all sizes shared out evenly."""
    peer, start = PEERS[name], time.process_time()
    scaler = StandardScaler().fit(X[train])
    A, B, t = scaler.transform(X[train]), scaler.transform(X[test]), y[train]
    out = {}
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        known = {} if peer.inside else {cost: peer.select(A, t, sizes, cost) for cost in peer.costs}
        for size, (cost, C) in chosen_cost(peer, X[train], t, sizes, known).items():
            if cost not in known:
                known[cost] = peer.select(A, t, sizes, cost)
            features = known[cost][size]
            machine = SVC(kernel="linear", C=C).fit(A[:, features], t) if features else None
            predicted = machine.predict(B[:, features]) if machine else np.full(len(test), np.sign(t.sum() + 0.5))
            values = machine.decision_function(B[:, features]) if machine else np.zeros(len(test))
            out[size] = {
                "accuracy": float(np.mean(predicted == y[test])),
                "auc": float(roc_auc_score(y[test], values)),
                "selected": sorted(features),
                "cost": cost,
                "fit_cost": C,
            }
    seconds = (time.process_time() - start) / len(sizes)
    return {size: {**found, "seconds": seconds} for size, found in out.items()}
