"""What has names goes by names; a name that names nothing is refused."""

import warnings
from collections import UserDict
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pytest
from problems import problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, cross_val_score, train_test_split
from test_every_estimator import ALL, SELECTORS, made

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    ExactSelector,
    LinearSVC,
    MBPSelector,
    Rules,
    StabilityDisplay,
    Study,
    certify,
    evaluate,
    knockoffs,
    markers,
    stability,
    verify,
)
from fewest.datasets import dump_columns
from fewest.papers import BendersSelector, FlipSelector, FSVSelector

NAMES = list("abcd")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=NAMES, index=[f"s{i}" for i in range(80)])
    y = pd.Series((X.b - X.d + 0.3 * rng.normal(size=80) > 0).astype(int), index=X.index)
    return X, y


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


#: The same values for features, by name, in another order than the columns.
KINDS = {
    "dict": dict,
    "mapping": lambda d: MappingProxyType(d),
    "UserDict": UserDict,
    "Series": pd.Series,
    "shuffled": lambda d: pd.Series(d).iloc[::-1],
    "object": lambda d: pd.Series(d, dtype=object),
    "nullable": lambda d: pd.Series(d, dtype="Float64"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_features_go_by_name(data, kind):
    X, y = data
    given = KINDS[kind]
    price = given({"d": 9.0, "c": 1.0, "b": 1.0, "a": 1.0})
    found = ExactSelector(rules=Rules(budget=2, costs=price)).fit(X, y)
    assert set(found.get_feature_names_out()) == {"b", "c"} or found.support_.tolist() == [True, True, False, False]
    assert not found.support_[3]
    assert ExactSelector(feature_penalty=given({"d": 1e6, "a": 0.0, "*": 0.0})).fit(X, y).support_.tolist() == [True, True, True, False]
    assert MBPSelector(feature_penalty=given({"d": 1e6, "b": 0.1, "*": 0.0})).fit(X, y).support_[3] == np.False_
    signs = given({"d": 1, "b": 0})
    signed = ExactSelector(n_features_to_select=4, rules=Rules(signs=signs)).fit(X, y)
    assert signed.coef_[0, 3] >= 0 and signed.coef_[0, 1] > 0
    assert LinearSVC(monotonic_cst=signs).fit(X, y).coef_[0, 3] >= 0


def test_every_feature_has_a_cost(data):
    X, y = data
    assert Rules(budget=1, costs={"d": 9, "*": 1})._resolved(4, NAMES, None)["costs"] == [1.0, 1.0, 1.0, 9.0]
    assert Rules(budget=1, costs=pd.Series({"*": 1, "d": 9}))._resolved(4, NAMES, None)["costs"] == [1.0, 1.0, 1.0, 9.0]
    assert Rules(budget=1, costs={3: 9, "*": 1})._resolved(4, None, None)["costs"] == [1.0, 1.0, 1.0, 9.0]
    with pytest.raises(ValueError, match=r"costs has no value for 'a', 'c'; .* '\*' is for all others"):
        ExactSelector(rules=Rules(budget=2, costs={"b": 1, "d": 0})).fit(X, y)
    with pytest.raises(ValueError, match="costs has no value for 0, 1, 2; "):
        ExactSelector(rules=Rules(budget=2, costs={3: 1})).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="feature_penalty has no value for 'a', 'b', 'c'"):
        ExactSelector(feature_penalty={"d": 1}).fit(X, y)


def test_a_series_by_position_and_one_of_other_labels(data):
    X, y = data
    plain = pd.Series([1.0, 1.0, 1.0, 9.0])
    assert not ExactSelector(rules=Rules(budget=2, costs=plain)).fit(X, y).support_[3]
    assert not ExactSelector(rules=Rules(budget=2, costs=pl.Series(plain.tolist()))).fit(X, y).support_[3]
    for wrong in (plain.set_axis([3, 2, 1, 0]), plain.set_axis(["a", "b", "c", "e"]), plain.iloc[::-1], plain.iloc[1:]):
        with pytest.raises(ValueError, match=r"label|'e'"):
            ExactSelector(rules=Rules(budget=2, costs=wrong)).fit(X, y)
        with pytest.raises(ValueError, match=r"label|'e'"):
            LinearSVC(monotonic_cst=wrong * 0).fit(X, y)
    # Without names the numbers of features are their labels.
    turned = plain.set_axis([3, 2, 1, 0])
    assert not ExactSelector(rules=Rules(budget=2, costs=turned)).fit(X.to_numpy(), y).support_[0]
    with pytest.raises(ValueError, match="no names"):
        ExactSelector(rules=Rules(budget=2, costs=plain.set_axis(NAMES))).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="twice"):
        ExactSelector(rules=Rules(budget=2, costs=plain.set_axis(list("aabc")))).fit(X, y)


def test_masks_and_bounds_go_by_name(data):
    X, y = data
    mask = pd.Series({"d": True, "c": False, "b": False, "a": False})
    for one in (mask, mask.astype("boolean"), mask.astype(object)):
        assert SVMRFE(n_features_to_select=1, rules=Rules(require=one)).fit(X, y).support_.tolist() == [False] * 3 + [True]
        assert not ExactSelector(rules=Rules(forbid=one)).fit(X, y).support_[3]
        assert SVMRFE(start=one).fit(X, y).support_.tolist() == [False] * 3 + [True]
        assert FlipSelector(start=one, cv=3, n_features_to_select=1).fit(X, y).n_features_ == 1
    categories = AlignmentSelector(n_features_to_select=1, categorical_features=mask).fit(X.assign(d=X.d.round()), y)
    assert categories.n_features_ == 1
    with pytest.raises(ValueError, match="neither True nor False"):
        ExactSelector(rules=Rules(forbid=mask.astype("boolean").where(mask.index != "a"))).fit(X, y)
    with pytest.raises(ValueError, match="mask of 3"):
        ExactSelector(rules=Rules(forbid=mask.iloc[:3])).fit(X, y)
    with pytest.raises(ValueError, match="mapping"):
        ExactSelector(rules=Rules(forbid={"a": False})).fit(X, y)
    bounds = pd.DataFrame({"lower": [0.0, None], "upper": [None, 0.1]}, index=["d", "b"])
    weights = LinearSVC(weight_bounds=bounds).fit(X, y).coef_[0]
    assert weights[3] >= 0 and weights[1] <= 0.1 + 1e-9
    bounded = ExactSelector(n_features_to_select=4, rules=Rules(bounds=bounds)).fit(X, y).coef_[0]
    assert bounded[3] >= 0 and bounded[1] <= 0.1 + 1e-9
    assert Rules(costs=mask) == Rules(costs=mask.copy()) and Rules(costs=mask) != Rules(costs=~mask)


def test_names_that_are_numbers(data):
    X, y = data
    waves = X.set_axis([900, 902, 904, 906], axis=1)
    found = ExactSelector(n_features_to_select=2, rules=Rules(forbid=["906"])).fit(waves, y)
    assert list(found.feature_names_in_) == ["900", "902", "904", "906"] and "906" not in found.get_feature_names_out()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.predict(waves)
        found.transform(waves)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(waves[waves.columns[::-1]])
    assert list(waves.columns) == [900, 902, 904, 906]
    prices = pd.Series({906: 9.0, 904: 1.0, 902: 1.0, 900: 1.0})
    assert not ExactSelector(rules=Rules(budget=2, costs=prices)).fit(waves, y).support_[3]
    assert not hasattr(SVMRFE().fit(X.set_axis(range(4), axis=1), y), "feature_names_in_")
    # An integer is a name wherever it stands, and none where columns are merely counted.
    turned = X.set_axis([3, 2, 1, 0], axis=1)
    for values in ({3: -1}, pd.Series({3: -1})):
        assert ExactSelector(n_features_to_select=4, rules=Rules(signs=values)).fit(turned, y).coef_[0, 0] <= 0.0
        assert LinearSVC(monotonic_cst=values).fit(turned, y).coef_[0, 0] <= 0.0
    for prices in ({3: 9.0, "*": 1.0}, pd.Series({3: 9.0, 2: 1.0, 1: 1.0, 0: 1.0})):
        assert not ExactSelector(rules=Rules(budget=2, costs=prices)).fit(turned, y).support_[0]
    assert SVMRFE(n_features_to_select=1, rules=Rules(require=[3])).fit(turned, y).support_.tolist() == [True] + [False] * 3
    assert SVMRFE(n_features_to_select=1, rules=Rules(require=[3])).fit(X.to_numpy(), y).support_[3]
    with pytest.raises(ValueError, match="named by numbers .*, and none is 0"):
        SVMRFE(rules=Rules(require=[0])).fit(waves, y)
    mixed = X.set_axis(["a", 1, 2.5, "d"], axis=1)
    assert list(SVC().fit(mixed, y).feature_names_in_) == ["a", "1", "2.5", "d"]


def of_samples():
    """Every place that takes values of samples, as a function of X, y, w."""
    for name in ALL:
        estimator = made(name)
        yield f"{name}.fit", lambda X, y, w, e=estimator: clone(e).fit(X, y)
        yield f"{name}.fit weights", lambda X, y, w, e=estimator: clone(e).fit(X, y.to_numpy(), w)
        yield f"{name}.score", lambda X, y, w, e=estimator: clone(e).fit(X, y.to_numpy()).score(X, y, w)
    rfe = SVMRFE(n_features_to_select=2)
    fitted = lambda X, y: clone(rfe).fit(X, y.to_numpy())
    yield "score", lambda X, y, w: fitted(X, y).score(X, y)
    yield "score weights", lambda X, y, w: fitted(X, y).score(X, y.to_numpy(), w)
    yield "certify", lambda X, y, w: fitted(X, y).certify(X, y)
    yield "certify weights", lambda X, y, w: fitted(X, y).certify(X, y.to_numpy(), w)
    yield "certify a list", lambda X, y, w: certify(X, y, [0, 1])
    yield "certify a list weights", lambda X, y, w: certify(X, y.to_numpy(), [0, 1], w)
    yield "certify a list tasks", lambda X, y, w: certify(X, y.to_numpy(), [0, 1], tasks=w > 1.5)
    yield "path", lambda X, y, w: rfe.path(X, y, 2)
    yield "groups", lambda X, y, w: SVMRFE(cv=GroupKFold(3)).fit(X, y.to_numpy(), groups=w)
    yield "tasks", lambda X, y, w: ExactSelector().fit(X, y.to_numpy(), tasks=w > 1.5)
    yield "evaluate", lambda X, y, w: evaluate(rfe, X, y, cv=2)
    yield "evaluate weights", lambda X, y, w: evaluate(rfe, X, y.to_numpy(), cv=2, sample_weight=w)
    yield "evaluate groups", lambda X, y, w: evaluate(rfe, X, y.to_numpy(), cv=GroupKFold(2), groups=w)
    yield "stability", lambda X, y, w: stability(rfe, X, y, n_pairs=2)
    yield "stability weights", lambda X, y, w: stability(rfe, X, y.to_numpy(), n_pairs=2, sample_weight=w)
    yield "knockoffs", lambda X, y, w: knockoffs(rfe, X, y)
    yield "knockoffs weights", lambda X, y, w: knockoffs(rfe, X, y.to_numpy(), sample_weight=w)
    yield "markers", lambda X, y, w: markers(X, y, 2)
    yield "markers weights", lambda X, y, w: markers(X, y.to_numpy(), 2, sample_weight=w)
    yield "markers groups", lambda X, y, w: markers(X, y.to_numpy(), 2, groups=w)
    yield "display", lambda X, y, w: StabilityDisplay.from_estimator(rfe, X, y, n_splits=2)
    yield "columns", lambda X, y, w: dump_columns("/nowhere/x.csc", X, y)
    yield "validation", lambda X, y, w: BendersSelector(n_features_to_select=1).fit(X, y.to_numpy(), X_val=X, y_val=y)
    yield "kernel", lambda X, y, w: SVC(kernel=lambda A, B: np.asarray(A) @ np.asarray(B).T).fit(X, y)
    yield "verify", lambda X, y, w: verify("/nowhere/x.proof", X, y)


@pytest.mark.parametrize(("place", "call"), [pytest.param(*one, id=one[0]) for one in of_samples()])
def test_samples_in_another_order_are_refused(data, place, call):
    X, y = data
    X, y = X.iloc[:60], y.iloc[:60]
    weights = pd.Series(np.arange(60) % 3 + 1.0, index=X.index)
    turned = np.random.default_rng(1).permutation(60)
    with pytest.raises(ValueError, match="another order"):
        call(X, y.iloc[turned], weights.iloc[turned])


class Frame(pd.DataFrame):
    """As libraries derive theirs from pandas."""


class Column(pd.Series):
    """And its columns."""


def test_what_derives_from_pandas_has_names(data):
    X, y = data
    with pytest.raises(ValueError, match="another order"):
        SVC().fit(Frame(X), Column(y.iloc[::-1]))
    prices = Column({"d": 9.0, "c": 1.0, "b": 1.0, "a": 1.0})
    assert not ExactSelector(rules=Rules(budget=2, costs=prices)).fit(Frame(X), Column(y)).support_[3]


def test_other_samples_are_warned_of(data):
    X, y = data
    SVMRFE().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train, _, labels, _ = train_test_split(X, y, random_state=0)
        SVMRFE().fit(train, labels).score(X, y)
        SVMRFE().fit(train, labels.to_numpy())
        SVMRFE().fit(train.to_numpy(), labels)
        cross_val_score(SVMRFE(), X, y, cv=3, error_score="raise")
        repeated = np.r_[0:40, 0:40]
        SVMRFE().fit(X.iloc[repeated], y.iloc[repeated])
    with pytest.warns(UserWarning, match="index of y is not that of X"):
        SVMRFE().fit(X, y.set_axis([f"t{i}" for i in range(80)]))
    with pytest.warns(UserWarning, match="row 0 is 0 in y and 's0' in X"):
        SVC().fit(X, y.reset_index(drop=True))


@pytest.mark.parametrize("name", [name for name in ALL if "class_weight" in made(name).get_params()])
def test_weights_of_classes_that_there_are_not_are_refused(name, data):
    X, y = data
    X = X.to_numpy()
    for labels, wrong in (
        (y, {"0": 1, "1": 20}),
        (y, {2: 3}),
        (y, {1: 2, "0": 3}),
        (y.map({0: "a", 1: "b"}), {"a": 5, "B": 3}),
        (y.map({0: "a", 1: "b"}), {0: 5, 1: 3}),
        (y.astype(bool), {"True": 2}),
    ):
        with pytest.raises(ValueError, match=r"not in class_weight"):
            made(name, class_weight=wrong).fit(X, labels)
    # As scikit-learn has it: others may be named where all that there are have a weight.
    for right in ({1: 2.0}, {0: 1.0, 1: 2.0, 2: 5.0}, {0.0: 1, True: 2}):
        made(name, class_weight=right).fit(X, y)


def test_weights_of_classes_elsewhere(data, tmp_path):
    X, y = data
    with pytest.raises(ValueError, match="not in class_weight"):
        evaluate(SVMRFE(class_weight={"1": 2}), X, y, cv=2)
    fsv = FSVSelector(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="not in class_weight"):
        fsv.certify(X, y, class_weight={"1": 2})
    with pytest.raises(ValueError, match="class_weight is 'balance'"):
        fsv.certify(X, y, class_weight="balance")
    with pytest.raises(ValueError, match="class_weight"):
        verify(tmp_path / "x.proof", X, y, class_weight="cw4")
    with pytest.raises(ValueError, match="class_weight"):
        Study(class_weight="cw2").fit(X, y)
    # In a fold that lacks a class, a weight of each one is fine.
    rare = np.r_[np.zeros(40), np.ones(37), np.full(3, 2)].astype(int)
    splits = [(np.arange(77), np.arange(77, 80)), (np.arange(3, 80), np.arange(3))]
    cross_val_score(LinearSVC(class_weight={0: 1, 1: 2, 2: 9}), X, rare, cv=splits, error_score="raise")


@pytest.mark.parametrize("name", SELECTORS)
def test_features_that_there_are_not_are_refused(name, data):
    X, y = data
    for rules, what in (
        (Rules(forbid=["z"]), "'z'"),
        (Rules(forbid=[4]), "feature 4"),
        (Rules(forbid=[-1]), "-1"),
        (Rules(forbid=[1.5]), "1.5"),
        (Rules(at_most=[(1, ["a", "A"])]), "'A'"),
        (Rules(together=[["a", "z"]]), "'z'"),
        (Rules(implies=[("a", "z")]), "'z'"),
        (Rules(budget=2, costs={"z": 1}), "'z'"),
    ):
        with pytest.raises(ValueError, match=what):
            made(name, rules=rules).fit(X, y)


def test_rules_say_what_they_take(data):
    X, y = data
    with pytest.raises(ValueError, match=r"write \[3\]"):
        ExactSelector(rules=Rules(require=3)).fit(X, y)
    several = Rules(implies=[("a", ["b", "c"])])._resolved(4, NAMES, None)["implies"]
    assert several == [(0, 1), (0, 2)] == Rules(implies={"a": ["b", "c"]})._resolved(4, NAMES, None)["implies"]
    assert Rules(implies={"a": "b"})._resolved(4, NAMES, None)["implies"] == [(0, 1)]
    for wrong in ({"at_most": 3}, {"together": "ab"}, {"at_least": {"a": 1}}, {"implies": 3}):
        with pytest.raises(ValueError, match="must be a list"):
            SVMRFE(rules=Rules(**wrong)).fit(X, y)
    with pytest.warns(UserWarning, match="forbid every feature"):
        assert ExactSelector(rules=Rules(forbid=NAMES)).fit(X, y).n_features_ == 0
    with pytest.warns(UserWarning, match="never chosen"):
        ExactSelector(rules=Rules(max_features=2, together=[["a", "b"], ["b", "c"]])).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ExactSelector(rules=Rules(max_features=3, together=[["a", "b"], ["b", "c"]])).fit(X, y)


def test_tasks_that_there_are_not_are_refused(data):
    X, y = data
    tasks = np.where(np.arange(80) % 2, "east", "west")
    fitted = ExactSelector(n_features_to_select=2).fit(X, y, tasks=tasks)
    predicted = fitted.predict(X, tasks=tasks)
    for name, classifier in zip(fitted.tasks_, fitted.estimators_, strict=True):
        np.testing.assert_array_equal(predicted[tasks == name], classifier.predict(fitted.transform(X)[tasks == name]))
    assert fitted.score(X, y, tasks=tasks) == pytest.approx((predicted == y).mean()) and fitted.score(X, y, tasks=tasks) > 0.8
    assert ((fitted.decision_function(X, tasks=tasks) > 0) == (predicted == 1)).all()
    with pytest.raises(ValueError, match="'north'"):
        fitted.predict(X, tasks=np.where(tasks == "east", "north", tasks))
    with pytest.raises(ValueError, match="tasks has 1 missing entries, the first at 5"):
        ExactSelector().fit(X, y, tasks=np.where(np.arange(80) == 5, None, tasks))
    with pytest.raises(ValueError, match="79 entries"):
        fitted.predict(X, tasks=tasks[1:])
    with pytest.raises(AttributeError, match="give predict"):
        fitted.predict(X)
    with pytest.raises(ValueError, match="without tasks"):
        ExactSelector().fit(X, y).predict(X, tasks=tasks)
    found = evaluate(ExactSelector(n_features_to_select=2), X, y, cv=4, tasks=tasks)
    assert found.summary["accuracy"]["mean"] > 0.8 and "auc" in found.summary
    three, labels = problem(90, classes=3)
    tasks = np.arange(90) % 2
    fitted = ExactSelector(n_features_to_select=3).fit(three, labels, tasks=tasks)
    assert fitted.score(three, labels, tasks=tasks) > 0.5
    with pytest.raises(ValueError, match="two classes"):
        fitted.decision_function(three, tasks=tasks)
