"""Signs and bounds on weights: kept by the classifier, equal to enumeration, refused where they cannot be kept."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from fewest import (
    SVMRFE,
    AlignmentSelector,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
    LinearSVC,
    MBPSelector,
    Rules,
    Study,
    verify,
)
from fewest.papers import BendersSelector, FSVSelector, MILP1Selector, MILP2Selector


@pytest.fixture
def data():
    return make_classification(n_samples=60, n_features=6, n_informative=4, n_redundant=1, flip_y=0.1, random_state=3)


def objective(svc, X, y):
    """Ridge of weights and bias, and the loss, from their definitions."""
    signs = np.where(y == svc.classes_[1], 1, -1)
    slack = np.maximum(0, 1 - signs * svc.decision_function(X))
    bias = 0.0 if svc.intercept_scaling is None else svc.intercept_[0] / svc.intercept_scaling
    loss = slack if svc.loss == "hinge" else slack**2
    return 0.5 * (svc.coef_**2).sum() + 0.5 * bias**2 + svc.C * loss.sum()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_keeps_bounds_and_no_allowed_step_is_better(data, loss):
    X, y = data
    free = LinearSVC(loss=loss, tol=1e-9).fit(X, y)
    j = int(np.abs(free.coef_[0]).argmax())
    sign = np.sign(free.coef_[0, j])
    bounds = {j: (None, 0) if sign > 0 else (0, None), (j + 1) % 6: (-0.05, 0.05)}
    svc = LinearSVC(loss=loss, tol=1e-9, weight_bounds=bounds).fit(X, y)
    assert svc.coef_[0, j] * sign <= 0
    assert abs(svc.coef_[0, (j + 1) % 6]) <= 0.05
    value = objective(svc, X, y)
    assert svc.objective_ == pytest.approx(value, rel=1e-8)
    assert value > 1.01 * objective(free, X, y)
    lower, upper = np.full(6, -np.inf), np.full(6, np.inf)
    for at, (low, high) in bounds.items():
        lower[at], upper[at] = -np.inf if low is None else low, np.inf if high is None else high
    rng, best = np.random.default_rng(0), svc.coef_.copy()
    for scale in (1e-1, 1e-2, 1e-3):
        for _ in range(200):
            svc.coef_ = np.clip(best + scale * rng.normal(size=best.shape), lower, upper)
            assert objective(svc, X, y) >= value * (1 - 1e-8)


def test_monotonic_cst_is_a_sign_by_position_or_name(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    signs = [1, -1, 0, 1, -1, 0]
    by_position = LinearSVC(monotonic_cst=signs).fit(X, y)
    by_name = LinearSVC(monotonic_cst=dict(zip("abcdef", signs, strict=True))).fit(frame, y)
    np.testing.assert_array_equal(by_position.coef_, by_name.coef_)
    assert (by_position.coef_[0] * signs >= 0).all()
    assert (clone(by_position).fit(X, y).coef_ == by_position.coef_).all()
    moved = frame.assign(a=frame["a"] + 1)
    assert (by_name.decision_function(moved) >= by_name.decision_function(frame)).all()


def test_exact_selector_equals_enumeration_and_its_classifier_keeps_the_bounds(data):
    X, y = data
    signs, bounds = {0: 1, 1: -1, 2: "+"}, {3: (-0.1, 0.1)}
    selector = ExactSelector(rules=Rules(max_features=2, signs=signs, bounds=bounds), gap=1e-6, C=0.5).fit(X, y)
    assert selector.status_ == "optimal"

    def value(subset):
        place = {j: at for at, j in enumerate(subset)}
        own = LinearSVC(
            C=0.5,
            loss="hinge",
            intercept_scaling=None,
            tol=1e-9,
            monotonic_cst={place[j]: 1 if sign == "+" else sign for j, sign in signs.items() if j in place},
            weight_bounds={place[j]: pair for j, pair in bounds.items() if j in place},
        )
        return own.fit(X[:, subset], y).objective_

    best = min(value(list(subset)) for size in (1, 2) for subset in combinations(range(6), size))
    assert selector.objective_ == pytest.approx(best, rel=1e-5)
    assert selector.objective_ > 1.001 * ExactSelector(n_features_to_select=2, C=0.5).fit(X, y).objective_
    chosen, coef = selector.get_support(indices=True), selector.estimator_.coef_[0]
    for j, weight in zip(chosen, coef, strict=True):
        assert weight * {0: 1, 1: -1, 2: 1}.get(j, 0) >= 0
        assert abs(weight) <= (0.1 if j == 3 else np.inf)
    for of_size in ExactSelector(rules=Rules(signs=signs)).path(X, y, [1, 2]):
        for j, weight in zip(of_size.get_support(indices=True), of_size.estimator_.coef_[0], strict=True):
            assert weight * {0: 1, 1: -1, 2: 1}.get(j, 0) >= 0


def test_other_selectors_that_keep_bounds(data):
    X, y = data
    rules = Rules(max_features=3, signs=[1, -1, 1, 0, 0, 0], bounds={4: (None, 0.2)})
    exact = ExactSelector(rules=rules, gap=1e-6).fit(X, y)
    benders = BendersSelector(rules=rules, gap=1e-6).fit(X, y)
    assert benders.objective_ == pytest.approx(exact.objective_, rel=3e-6)
    rfe = SVMRFE(rules=rules).fit(X, y)
    assert rfe.objective_ >= exact.objective_ * (1 - 1e-6)
    for selector in (exact, benders, rfe):
        for j, weight in zip(selector.get_support(indices=True), selector.estimator_.coef_[0], strict=True):
            assert weight * {0: 1, 1: -1, 2: 1}.get(j, 0) >= 0
            assert weight <= (0.2 if j == 4 else np.inf)
    with pytest.raises(ValueError, match="rfe obeys bounds on weights with the linear kernel"):
        SVMRFE(rules=rules, kernel="rbf", criterion="margin").fit(X, y)


@pytest.mark.parametrize(
    "selector", [L1SVMSelector, FSVSelector, LagrangianSelector, MBPSelector, MILP1Selector, MILP2Selector], ids=lambda s: s.__name__
)
def test_selectors_of_linear_programs_keep_bounds(data, selector):
    X, y = data
    free = selector(rules=Rules(max_features=3)).fit(X, y)
    signs = [-1 if weight > 0 else 1 for weight in np.cov(X.T, y)[-1, :-1]]
    found = selector(rules=Rules(max_features=3, signs=signs, bounds={4: (-0.2, 0.2)})).fit(X, y)
    for j, weight in zip(found.get_support(indices=True), found.estimator_.coef_[0], strict=True):
        assert weight * signs[j] >= 0
        assert abs(weight) <= (0.2 if j == 4 else np.inf)
    if selector is MILP2Selector:  # Its margin less slack, which is maximised, is 0 here either way.
        assert free.objective_ >= found.objective_
    else:
        assert found.objective_ >= free.objective_ + 1e-6 or selector is FSVSelector


def test_fgm_keeps_signs(data):
    X, y = data
    free = FeatureGeneratingMachine(n_features_to_select=3).fit(X, y)
    signs = {int(j): -np.sign(free.coef_[0, j]) for j in np.flatnonzero(free.support_)[:2]}
    found = FeatureGeneratingMachine(rules=Rules(max_features=3, signs=signs)).fit(X, y)
    assert all(found.coef_[0, j] * sign >= 0 for j, sign in signs.items())
    assert found.objective_ > free.objective_ + 1e-9
    assert found.bound_ <= found.objective_


def test_a_study_keeps_signs(data):
    X, y = data
    free = LinearSVC().fit(X, y).coef_[0]
    signs = {j: -np.sign(free[j]) for j in range(6)}
    short = {"sizes": [2, 3], "cv": 3, "n_repeats": 1, "inner_cv": 3, "n_Cs": 3}
    study = Study(rules=Rules(signs=signs, require=[0]), **short).fit(X, y)
    assert {entry["choice"]["method"] for entry in study.tried_} == {"exact", "rfe"}
    chosen = np.flatnonzero(study.support_)
    assert all(w * signs[j] >= 0 for j, w in zip(chosen, study.estimator_.coef_[0], strict=True))


def test_a_proof_holds_the_bounds(data, tmp_path):
    X, y = data
    free = LinearSVC().fit(X, y).coef_[0]
    rules = Rules(max_features=3, bounds={j: (-0.1, 1) if free[j] < 0 else (-1, 0.1) for j in range(6)})
    selector = ExactSelector(rules=rules, proof=tmp_path / "bounded.proof").fit(X, y)
    found = verify(selector.proof_, X, y)
    assert found
    assert found.gap < 1e-3
    assert found.objective == pytest.approx(selector.objective_, rel=1e-4)


def test_what_cannot_be_kept_is_refused(data):
    X, y = data
    for selector in (AlignmentSelector, InformationGain):
        with pytest.raises(ValueError, match=r"does not obey signs of weights.*exact"):
            selector(rules=Rules(max_features=2, signs={0: 1})).fit(X, y)
    with pytest.raises(ValueError, match=r"fgm keeps signs of weights.*signs alone"):
        FeatureGeneratingMachine(rules=Rules(max_features=2, bounds={0: (0, 1)})).fit(X, y)
    with pytest.raises(ValueError, match=r"info-gain does not obey signs of weights.*exact and rfe alone"):
        Study(rules=Rules(signs={0: 1}), methods=("exact", "info-gain")).fit(X, y)
    with pytest.raises(ValueError, match="the lower bound on the weight of x1 is 0.5, but must be 0 or less"):
        ExactSelector(rules=Rules(max_features=2, bounds={1: (0.5, 1)})).fit(X, y)
    with pytest.raises(ValueError, match="the upper bound on the weight of x2 is -1"):
        LinearSVC(weight_bounds={2: (None, -1)}).fit(X, y)
    with pytest.raises(ValueError, match="the sign of feature 0 is 2, but must be 1"):
        LinearSVC(monotonic_cst=[2, 0, 0, 0, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="one entry for each of the 6 features"):
        LinearSVC(monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ValueError, match="must be a pair"):
        LinearSVC(weight_bounds={0: 1}).fit(X, y)
    with pytest.raises(ValueError, match="for penalty='l2' and two classes, but there are penalty='l1'"):
        LinearSVC(penalty="l1", monotonic_cst={0: 1}).fit(X, y)
    with pytest.raises(ValueError, match="but there are 3 classes"):
        LinearSVC(monotonic_cst={0: 1}).fit(X, np.arange(60) % 3)
