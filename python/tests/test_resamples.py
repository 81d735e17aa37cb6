"""Multiple SVM-RFE against a loop over scikit-learn's SVC, and what it refuses."""

import numpy as np
import pytest
from problems import problem
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from fewest import SVMRFE, Rules


def loop(X, y, resamples, size, leaving=lambda _: 1):
    """Duan et al.'s loop: the features in the order they leave, and the closest call among them."""
    alive, left, closest = np.arange(X.shape[1]), [], np.inf
    while len(alive) > size:
        shares = []
        for train in resamples:
            squares = np.square(SVC(kernel="linear", tol=1e-10).fit(X[np.ix_(train, alive)], y[train]).coef_).sum(axis=0)
            shares.append(squares / squares.sum())
        criterion = np.mean(shares, axis=0) / np.std(shares, axis=0, ddof=1)
        order, drop = np.argsort(criterion), min(leaving(len(alive)), len(alive) - size)
        ordered = criterion[order[: drop + 1]]
        closest = min(closest, (np.diff(ordered) / ordered[1:]).min())
        left += alive[order[:drop]].tolist()
        alive = np.delete(alive, order[:drop])
    return left, closest


def bootstraps(y, count, seed):
    rng = np.random.default_rng(seed)
    return [np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in np.unique(y)]) for _ in range(count)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_ranking_is_that_of_a_loop_over_scikit_learn(bootstrap, classes):
    compared = 0
    for seed in range(6):
        X, y = problem(n=36, p=60, seed=seed)
        if classes == 3:
            y = np.where(X[:, 3] > 0.7, 2, y > y.min())
        if bootstrap:
            trains = bootstraps(y, 5, seed)
        else:
            trains = [train for train, _ in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)]
        splits = [(train, np.setdiff1d(np.arange(len(y)), train)) for train in trains]
        halving = seed % 2 == 1
        left, closest = loop(X, y, trains, 4, (lambda now: round(now / 2) if now > 20 else 1) if halving else lambda _: 1)
        if closest < 1e-5:
            continue
        compared += 1
        found = SVMRFE(n_features_to_select=4, resamples=splits, halve_above=20 if halving else None, tol=1e-11).fit(X, y)
        assert found.elimination_order_.tolist() == left
        assert found.certain_steps_ is None
        whole = SVC(kernel="linear", tol=1e-10).fit(X[:, found.support_], y)
        assert whole.coef_ == pytest.approx(found.estimator_.coef_, abs=1e-4)
    assert compared > 2


def test_drawn_resamples_depend_on_the_seed_alone():
    X, y = problem(n=40, p=50, seed=1)
    orders = {}
    for resampling in ("folds", "fixed_folds", "bootstrap"):
        one = SVMRFE(n_features_to_select=3, resamples=6, resampling=resampling, random_state=4)
        fits = [clone(one).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
        assert fits[0].elimination_order_.tolist() == fits[1].elimination_order_.tolist()
        other = clone(one).set_params(random_state=5).fit(X, y)
        assert other.elimination_order_.tolist() != fits[0].elimination_order_.tolist()
        orders[resampling] = tuple(fits[0].elimination_order_)
        for size, selector in zip((2, 3, 30), clone(one).set_params(n_features_to_select=None).path(X, y, [2, 3, 30]), strict=True):
            alone = clone(one).set_params(n_features_to_select=size).fit(X, y)
            assert (selector.support_ == alone.support_).all()
            assert selector.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    assert len(set(orders.values())) == 3


def test_rules_and_sizes_by_cross_validation_work_with_resamples():
    X, y = problem(n=45, p=12, seed=2)
    rules = Rules(require=[7], together=[[1, 2]], forbid=[0])
    found = SVMRFE(n_features_to_select=4, rules=rules, resamples=5).fit(X, y)
    assert found.support_[7] and not found.support_[0] and found.support_[1] == found.support_[2]
    chosen = SVMRFE(resamples=4, cv=3).fit(X, y)
    assert chosen.cv_results_["n_features"].tolist() == list(range(1, 13))
    assert SVMRFE(n_features_to_select=2, resamples=4, C="auto").fit(X, y).n_features_ <= 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"resampling": "bootstrap"}, "resampling is 'bootstrap', .* give resamples"),
        ({"resamples": 1}, "resamples"),
        ({"resamples": 41}, "resamples is 41, but must be at most 40"),
        ({"resamples": 5, "kernel": "rbf"}, "kernel is 'rbf'"),
        ({"resamples": 5, "criterion": "margin"}, "criterion is 'margin'"),
        ({"resamples": 5, "Cs": [1, 2]}, "resamples rank at one C"),
        ({"resamples": StratifiedKFold(3), "cv": 3}, "give a number of resamples"),
        ({"resamples": StratifiedKFold(3), "resampling": "bootstrap"}, "splits already"),
        ({"halve_above": 0}, "halve_above"),
    ],
)
def test_what_does_not_fit_is_refused(parameters, message):
    X, y = problem(n=40, p=9, seed=3)
    with pytest.raises(ValueError, match=message):
        SVMRFE(n_features_to_select=2, **parameters).fit(X, y)
