"""What a first day with the package found (faults 6, 7, 11 and 13), and what it must not find again."""

import contextlib
import warnings
from time import process_time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFECV
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import LinearSVC as PeerLinearSVC

import fewest
from fewest import SVC, SVMRFE, AlignmentSelector, EvaluationRFE, ExactSelector, LinearSVC, _core, set_memory
from fewest.papers import BendersSelector, FlipSelector


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "selector",
    [EvaluationRFE(cv=3), FlipSelector(cv=3, n_features_to_select=2), SVMRFE(kernel="rbf"), AlignmentSelector(), BendersSelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_a_want_of_memory_names_what_python_has(selector):
    X, y = make_classification(300, 12, random_state=0)
    before = set_memory("20K")
    try:
        with pytest.raises(MemoryError, match="set_memory") as caught:
            clone(selector).fit(X, y)
    finally:
        set_memory(before)
    assert "--" not in str(caught.value)


def test_balanced_weights_are_those_of_the_training_part():
    """Folds that drift: the share of a class is another one in each."""
    X, y = make_classification(150, 8, n_informative=4, weights=[0.7], flip_y=0.2, random_state=2)
    order = np.argsort(y + np.random.default_rng(0).normal(scale=0.4, size=len(y)))
    X, y, cv = scale(X)[order], y[order], KFold(4)
    peer = RFECV(PeerSVC(kernel="linear", class_weight="balanced", tol=1e-10), cv=cv).fit(X, y)
    ours = SVMRFE(class_weight="balanced", cv=cv).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert ours.n_features_ == peer.n_features_


@pytest.mark.parametrize("class_weight", ["balanced", "cw3"])
def test_methods_that_judge_by_accuracy_weigh_so_too(class_weight):
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, weights=[0.7], flip_y=0.2, random_state=2)
    order = np.argsort(y + np.random.default_rng(0).normal(scale=0.4, size=len(y)))
    X, y, cv = scale(X)[order], y[order], KFold(4)

    def weights(train):
        counts = np.bincount(y[train])
        return class_weight if class_weight == "balanced" else dict(enumerate(1 / counts + 2))

    def accuracy(features):
        scores = []
        for train, test in cv.split(X):
            peer = PeerSVC(kernel="linear", class_weight=weights(train), tol=1e-6)
            scores.append(peer.fit(X[train][:, features], y[train]).score(X[test][:, features], y[test]))
        return np.mean(scores)

    everything = list(range(5))
    neighbours = [everything, *([i for i in everything if i != j] for j in everything)]
    # The accuracy hangs on single samples; trainings that only judge end at 100 times tol.
    given = {"cv": cv, "class_weight": class_weight, "tol": 1e-9}
    evaluation = EvaluationRFE(Cs=(1.0,), candidates=1, **given).fit(X, y)
    assert evaluation.curve_[0]["accuracy"] == pytest.approx(accuracy(everything))
    assert evaluation.objective_ == pytest.approx(accuracy(np.flatnonzero(evaluation.support_)))
    flips = FlipSelector(start=everything, **given).fit(X, y)
    assert flips.objective_ == pytest.approx(max(accuracy(subset) for subset in neighbours))
    tuned = SVMRFE(Cs=(1.0,), n_features_to_select=2, **given).fit(X, y)
    assert tuned.tuned_[0]["accuracy"] == pytest.approx(accuracy(everything))


def test_class_weights_of_the_command():
    X, y = make_classification(60, 5, weights=[0.7], random_state=0)
    counts = np.bincount(y)
    for name, weights in {"cw2": 1 / counts, "cw3": 1 / counts + 2}.items():
        named = LinearSVC(class_weight=name).fit(X, y)
        given = LinearSVC(class_weight=dict(enumerate(weights))).fit(X, y)
        np.testing.assert_allclose(named.coef_, given.coef_)


def test_kernels_that_are_given(iris):
    X, y = iris
    linear = SVC(kernel="linear", C=0.1).fit(X, y)
    given = SVC(kernel="precomputed", C=0.1).fit(X @ X.T, y)
    own = SVC(kernel=lambda a, b: a @ b.T, C=0.1).fit(X, y)
    peer = PeerSVC(kernel="precomputed", C=0.1, tol=1e-10).fit(X @ X.T, y)
    for ours, samples in ((linear, X), (given, X @ X.T), (own, X)):
        np.testing.assert_allclose(ours.decision_function(samples), peer.decision_function(X @ X.T), atol=1e-6)
        np.testing.assert_array_equal(ours.n_support_, peer.n_support_)
        np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, atol=1e-5)
    weights = np.r_[np.zeros(10), np.ones(140)]
    left_out = SVC(kernel="precomputed").fit(X @ X.T, y, sample_weight=weights)
    without = SVC(kernel="linear").fit(X[10:], y[10:])
    np.testing.assert_allclose(left_out.decision_function(X @ X.T), without.decision_function(X), atol=1e-7)
    assert left_out.support_.min() >= 10
    with pytest.raises(ValueError, match="square"):
        SVC(kernel="precomputed").fit(X, y)


def test_the_rest_of_a_drop_in(iris):
    X, y = iris
    ours, peer = SVC(class_weight="balanced").fit(X[20:], y[20:]), PeerSVC(class_weight="balanced", tol=1e-10).fit(X[20:], y[20:])
    np.testing.assert_allclose(ours.class_weight_, peer.class_weight_)
    np.testing.assert_array_equal(ours.support_, peer.support_)
    np.testing.assert_allclose(ours.support_vectors_, peer.support_vectors_)
    assert ours.shape_fit_ == peer.shape_fit_ and ours.fit_status_ == peer.fit_status_ == 0
    assert SVC(cache_size=0.1).fit(X, y).score(X, y) == SVC().fit(X, y).score(X, y)
    with pytest.warns(FutureWarning, match="CalibratedClassifierCV"):
        calibrated = SVC(probability=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert (calibrated.predict_proba(X).argmax(axis=1) == y).mean() > 0.9
    assert not hasattr(SVC().fit(X, y), "predict_proba")
    sigest = SVC(gamma="sigest").fit(X, y)
    assert sigest._gamma == pytest.approx(SVC(gamma="sigest:2").fit(X, y)._gamma / 2)
    with pytest.raises(ValueError, match="gamma"):
        SVC(gamma="large").fit(X, y)


def test_ties_are_broken_as_asked_for():
    X, y = make_classification(200, 2, n_informative=2, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=3)
    grid = np.random.default_rng(0).uniform(-3, 3, (2000, 2))
    for ties in (False, True):
        ours, peer = SVC(break_ties=ties).fit(X, y), PeerSVC(break_ties=ties, tol=1e-10).fit(X, y)
        assert (ours.predict(grid) == peer.predict(grid)).mean() > 0.999
    assert (SVC().fit(X, y).predict(grid) != SVC(break_ties=True).fit(X, y).predict(grid)).any()


@pytest.mark.parametrize("scaling", [1.0, 10.0])
def test_the_l1_penalty_is_the_peers(scaling):
    X, y = make_classification(120, 20, n_informative=4, random_state=1)
    options = {"penalty": "l1", "C": 0.1, "intercept_scaling": scaling}
    ours = LinearSVC(**options, tol=1e-9).fit(X, y)
    peer = PeerLinearSVC(**options, dual=False, tol=1e-10, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    assert 0 < (ours.coef_ == 0).sum() < 20
    with pytest.raises(ValueError, match="Unsupported set of arguments"):
        LinearSVC(penalty="l1", dual=True).fit(X, y)
    with pytest.raises(ValueError, match="crammer_singer"):
        LinearSVC(multi_class="crammer_singer").fit(X, y)


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_cuts_prove_three_of_thirty_features():
    """In seconds of the processor; with every master left to HiGHS they were 54."""
    X, y = load_breast_cancer(return_X_y=True)
    begun = process_time()
    found = BendersSelector(n_features_to_select=3, n_jobs=1).fit(scale(X), y)
    assert process_time() - begun < 10
    best = ExactSelector(n_features_to_select=3).fit(scale(X), y)
    assert found.status_ == "optimal" and found.gap_ <= 1e-4
    assert found.bound_ <= best.objective_ * (1 + 1e-9) and found.objective_ >= best.bound_ * (1 - 1e-9)


def test_a_slow_search_names_the_fast_one():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="ExactSelector proves the same problem"):
        BendersSelector(n_features_to_select=3, max_iter=3).fit(scale(X), y)
    assert "ExactSelector" in BendersSelector.__doc__.split("See Also")[1]


def test_no_panic_reaches_python():
    """Whatever the engine is called with, what it raises is an Exception, and a fault of its own says so."""
    X, y = make_classification(20, 4, random_state=0)
    x, codes, weights = np.asfortranarray(X), y.astype(np.uint32), np.ones(20)
    rules = fewest.Rules()._resolved(4, None, 2)
    svm = {"cost": 1.0}
    with pytest.raises(RuntimeError, match=r"fewest has a fault: .*Please report it"):
        _core.certify(x, codes, weights, rules, [9], svm, {})
    strange = [x, x[:3], codes, codes[:5], weights, -weights, weights * np.nan, rules, {}, None, [], [99], [(0, 1)], 3, "exact", svm]
    calls = {
        _core.train: 8,
        _core.certify: 7,
        _core.certify_list: 7,
        _core.select: 7,
        _core.gamma: 7,
        _core.path: 8,
        _core.subset_stability: 2,
        _core.stability_selection: 6,
        _core.candidates: 4,
    }
    calls |= {
        _core.t_test: 2,
        _core.measures: 4,
        _core.set_f1: 2,
        _core.summary: 4,
        _core.generate: 3,
        _core.check_rules: 2,
        _core.write_program: 8,
    }
    random = np.random.default_rng(0)
    good = {
        _core.train: [x, codes, weights, {"kind": "linear"}, svm, {}, [], []],
        _core.certify: [x, codes, weights, rules, [0, 1], svm, {}],
        _core.certify_list: [x, codes, weights, rules, [0, 1], {"name": "exact"}, {}],
        _core.select: [x, codes, weights, rules, {"name": "rfe"}, {}, None],
        _core.path: [x, codes, weights, rules, {"name": "info-gain"}, [1, 2], {}, None],
    }
    for call, count in calls.items():
        for _ in range(60):
            arguments = list(good.get(call, [strange[i] for i in random.integers(len(strange), size=count)]))
            arguments[random.integers(count)] = strange[random.integers(len(strange))]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # A PanicException is no Exception.
                with contextlib.suppress(Exception):
                    call(*arguments)


def test_width_and_names_are_checked_everywhere():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    selector = SVMRFE(n_features_to_select=2).fit(X, y)
    for method in ("predict", "transform", "decision_function", "certify"):
        rest = (y,) if method == "certify" else ()
        with pytest.raises(ValueError, match="6 features"):
            getattr(selector, method)(X.to_numpy()[:, :5], *rest)
        with pytest.raises(ValueError, match="feature names"):
            getattr(selector, method)(X.iloc[:, ::-1], *rest)
