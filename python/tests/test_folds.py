"""Splits: one rule for all that judge by them."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVC, SVMRFE, EvaluationRFE, ExactSelector, evaluate
from fewest.papers import FlipSelector


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    X[:, :3] += y[:, None]
    return X, y


SELECTORS = {
    "rfe": SVMRFE(),
    "one_se": SVMRFE(size_rule="one_se"),
    "auc": SVMRFE(scoring="roc_auc"),
    "costs": SVMRFE(Cs=(0.1, 1.0), n_features_to_select=2),
    "eb": EvaluationRFE(Cs=(1.0,), candidates=1),
    "flips": FlipSelector(n_features_to_select=2),
}


def judged(name, cv, X, y, weights=None, groups=None):
    if name == "evaluate":
        return evaluate(SVMRFE(n_features_to_select=2), X, y, cv=cv, sample_weight=weights, groups=groups)
    return clone(SELECTORS[name]).set_params(cv=cv).fit(X, y, weights, groups)


@pytest.mark.parametrize("name", [*SELECTORS, "evaluate"])
def test_a_fold_without_weight_is_none(name, data):
    X, y = data
    weights = np.ones(40)
    weights[:10] = 0
    found = judged(name, KFold(4), X, y, weights)
    # What is without weight is not there.
    splits = [(np.setdiff1d(np.arange(30), part), part) for part in np.split(np.arange(30), 3)]
    want = judged(name, splits, X[10:], y[10:])
    if name == "evaluate":
        assert len(found.folds) == 3
        assert found.summary["accuracy"]["mean"] == pytest.approx(want.summary["accuracy"]["mean"])
        return
    np.testing.assert_array_equal(found.ranking_, want.ranking_)
    if hasattr(found, "cv_results_"):
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    # A split that holds nothing out is none, too.
    more = judged(name, [*splits, (np.arange(30), [])], X[10:], y[10:])
    np.testing.assert_array_equal(more.ranking_, want.ranking_)


@pytest.mark.parametrize("name", [*SELECTORS, "evaluate"])
def test_a_training_part_that_lacks_a_class_is_refused(name, data):
    X, y = data[0], np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match=r"training part of split 0 has no sample of class 0.*stratify the splits"):
        judged(name, KFold(2), X, y)
    with pytest.raises(ValueError, match=r"training part of split \d has no sample of class [01].*stratify"):
        judged(name, GroupKFold(2), X, y, groups=y)
    if name != "auc":
        three = np.r_[np.arange(36) % 2, 2, 2, 2, 2]
        with pytest.raises(ValueError, match=r"training part of split 9 has no sample of class 2"):
            judged(name, KFold(10), X, three)
    # Nor one whose samples of a class have no weight.
    weights = np.r_[np.zeros(18), np.ones(22)]
    with pytest.raises(ValueError, match="no sample of class 0"):
        judged(name, [(np.r_[0:18, 20:40], np.r_[18:20])], X, y, weights)


@pytest.mark.parametrize("name", [*SELECTORS, "evaluate"])
@pytest.mark.parametrize(
    ("cv", "what"),
    [
        ([], "no split"),
        ([(np.arange(40), [])], "holds no sample out"),
        ([(np.arange(40), np.zeros(40, dtype=bool))], "holds no sample out"),
        ([([], np.arange(40))], "split 0 trains on no sample"),
        ([(np.arange(20), np.arange(20, 40)), (np.arange(-5, 20), np.arange(20, 40))], "split 1 names sample -5, but there are 40"),
        ([(np.arange(20), np.arange(20, 41))], "split 0 names sample 40, but there are 40"),
        ([(np.arange(20) / 2, np.arange(20, 40))], "split 0 names the samples"),
        ([(np.ones(39, dtype=bool), np.arange(20, 40))], "mask of length 39"),
    ],
)
def test_splits_that_are_none_are_refused(name, cv, what, data):
    with pytest.raises(ValueError, match=what):
        judged(name, cv, *data)


def test_masks_and_positions_are_the_same(data):
    X, y = data
    splits = list(StratifiedKFold(3).split(X, y))
    masks = [tuple(np.isin(np.arange(40), part) for part in split) for split in splits]
    lists = [tuple(part.tolist() for part in split) for split in splits]
    want = SVMRFE(cv=splits).fit(X, y).cv_results_["mean_test_score"]
    for same in (masks, lists, iter(splits)):
        np.testing.assert_array_equal(SVMRFE(cv=same).fit(X, y).cv_results_["mean_test_score"], want)


def test_scores_that_are_none_are_refused(data):
    X, y = data[0], np.repeat([0, 1], 20)
    one_class = [(np.r_[5:40], np.r_[0:5]), (np.r_[0:30], np.r_[30:40])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"'roc_auc' .*split 0, which holds out the class 0 alone"):
            SVMRFE(cv=one_class, scoring="roc_auc").fit(X, y)
    nan = make_scorer(lambda truth, predicted: np.nan if truth[0] else 1.0)
    with pytest.raises(ValueError, match="NaN in split 1"):
        SVMRFE(cv=[(np.r_[5:40], np.r_[0:5]), (np.r_[0:30], np.r_[35:40])], scoring=nan).fit(X, y)
    for scoring in ("neg_log_loss", "roc_auc_ovr", "neg_brier_score"):
        with pytest.raises(ValueError, match=f"'{scoring}' asks for probabilities.*'roc_auc'"):
            SVMRFE(cv=3, scoring=scoring).fit(X, y)
    assert SVMRFE(cv=3, scoring="roc_auc").fit(X, y).n_features_ >= 1


def test_an_end_before_the_first_step_is_told():
    X, y = make_classification(400, 60, n_informative=10, n_classes=10, n_clusters_per_class=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        found = EvaluationRFE(time_limit=1e-6).fit(X, y)
    assert found.status_ == "time_limit" and found.cv_results_["mean_test_score"].shape == found.cv_results_["n_features"].shape


def test_groups_go_to_the_splitter(data):
    X, y = data
    groups = np.arange(40) // 4
    with sklearn.config_context(enable_metadata_routing=True):
        for selector in (SVMRFE(cv=GroupKFold(3)), EvaluationRFE(Cs=(1.0,), cv=GroupKFold(3)), FlipSelector(cv=GroupKFold(3))):
            routed = cross_validate(
                selector, X, y, cv=GroupKFold(3), params={"groups": groups}, error_score="raise", return_estimator=True
            )
            for (train, _), fitted in zip(GroupKFold(3).split(X, y, groups), routed["estimator"], strict=True):
                want = clone(selector).fit(X[train], y[train], groups=groups[train])
                np.testing.assert_array_equal(fitted.ranking_, want.ranking_)
            # Asked for by hand, as before.
            clone(selector).set_fit_request(groups=True, sample_weight=True).fit(X, y, groups=groups)


def test_chosen_costs_need_two_of_each_class(data):
    X, y = data
    rare = np.r_[np.zeros(39), 1].astype(int)
    with pytest.raises(ValueError, match="a class has 1 only"):
        ExactSelector(C="auto").fit(X, rare)
    weights = np.ones(40)
    weights[np.flatnonzero(y)[1:]] = 0
    with pytest.raises(ValueError, match="a class has 1 only"):
        SVMRFE(C="auto").fit(X, y, weights)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_probabilities_of_few_samples(kernel):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += 2 * y
    K = X @ X.T if kernel == "precomputed" else X
    weights = (y < 2).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        few = SVC(probability=True).fit(np.arange(8.0).reshape(-1, 1), [0] * 4 + [1] * 4)
        assert few.predict_proba([[0.0], [7.0]]).shape == (2, 2)
        assert SVC(probability=True).fit(np.arange(4.0).reshape(-1, 1), list("aabb")).predict_proba([[0.0]]).shape == (1, 2)
        with pytest.raises(ValueError, match="the class 'b' has one sample"):
            SVC(probability=True).fit(np.arange(5.0).reshape(-1, 1), list("aaaab"))
        names = np.array(list("xyz"))[y]
        few, all_of = (
            SVC(kernel=kernel, probability=True, random_state=0, class_weight=given).fit(K, names).predict_proba(K)
            for given in ({"z": 5.0}, {"x": 1.0, "y": 1, "z": 5.0})
        )
        np.testing.assert_array_equal(few, all_of)
        assert few.shape == (60, 3) and (few.argmax(axis=1) == y).mean() > 0.6
        for none in (weights, 2 * weights - 1):
            model = SVC(kernel=kernel, probability=True, random_state=0).fit(K, y, none)
            found = model.predict_proba(K)
            rows = y < 2
            part = K[np.ix_(rows, rows)] if kernel == "precomputed" else K[rows]
            want = SVC(kernel=kernel, probability=True, random_state=0).fit(part, y[rows])
            np.testing.assert_allclose(found[rows], want.predict_proba(part), atol=1e-6)


def test_probabilities_of_noise_do_not_run_against_decisions():
    rng = np.random.default_rng(0)
    flat = []
    for seed, n_classes in enumerate([2, 2, 2, 2, 3]):
        X, y = rng.normal(size=(60, 40)), np.arange(60) % n_classes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            model = SVC(kernel="linear", probability=True, random_state=seed).fit(X, y)
        p = model.predict_proba(X)
        flat.append(bool(np.ptp(p, axis=0).max() < 1e-9))
        if n_classes == 2:
            order = np.argsort(model.decision_function(X))
            assert (np.diff(p[order, 1]) >= 0.0).all()
    assert any(flat) and not all(flat)


def test_tasks_go_through_searches():
    rng = np.random.default_rng(0)
    X, y, tasks = rng.normal(size=(60, 5)), np.arange(60) % 2, np.arange(60) % 4 // 2
    X[:, 0] += 2 * y
    with sklearn.config_context(enable_metadata_routing=True):
        selector = ExactSelector(n_features_to_select=2).set_fit_request(tasks=True).set_score_request(tasks=True)
        for model in (selector, make_pipeline(StandardScaler(), selector)):
            scores = cross_validate(model, X, y, cv=3, params={"tasks": tasks}, error_score="raise")["test_score"]
            assert scores.mean() > 0.7
        search = GridSearchCV(selector, {"C": [0.1, 1.0]}, cv=3, error_score="raise").fit(X, y, tasks=tasks)
        assert search.best_score_ > 0.7
