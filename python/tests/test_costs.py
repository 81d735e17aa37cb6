"""Costs of selecting and of the classifier, and the refusal of missing values."""

import numpy as np
import pytest
from correspondence import PUBLIC
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
)
from fewest.papers import BendersSelector, FlipSelector


def problem(n=60, p=10, seed=0):
    X, y = make_classification(n, p, n_informative=4, n_redundant=0, n_clusters_per_class=1, flip_y=0.1, random_state=seed)
    return scale(X), y


TRAINS = [
    ExactSelector(n_features_to_select=2, C=0.01),
    BendersSelector(n_features_to_select=2, C=0.01),
    AlignmentSelector(n_features_to_select=2, C=0.01),
    InformationGain(n_features_to_select=2, C=0.01),
    SVMRFE(n_features_to_select=2, C=0.01),
    SVMRFE(n_features_to_select=2, C=0.01, kernel="rbf", cv=3),
    EvaluationRFE(n_features_to_select=2, Cs=(0.01,), candidates=1, cv=3),
    FlipSelector(n_features_to_select=2, C=0.01, cv=3),
]


@pytest.mark.parametrize("selector", TRAINS, ids=lambda selector: f"{type(selector).__name__}")
def test_the_subset_is_that_of_the_cost_and_the_classifier_that_of_the_fit_cost(selector):
    X, y = problem()
    selector = clone(selector).set_params(tol=1e-9)
    one, two = clone(selector).fit(X, y), clone(selector).set_params(fit_C=5.0).fit(X, y)
    assert np.array_equal(one.support_, two.support_)
    assert one.objective_ == two.objective_
    assert one.estimator_.C == 0.01
    assert two.estimator_.C == 5.0
    kernel = {name: value for name, value in two.estimator_.get_params().items() if name in ("kernel", "gamma")}
    peer = SVC(C=5.0, **kernel).fit(X[:, two.support_], y)
    np.testing.assert_allclose(two.decision_function(X), peer.decision_function(X[:, two.support_]), atol=1e-5)
    assert np.abs(one.decision_function(X) - two.decision_function(X)).max() > 1e-3


def test_fit_cost_is_refused_where_the_method_has_its_own_classifier_and_checked_elsewhere():
    for name in ("L1SVMSelector", "FSVSelector", "MBPSelector", "LagrangianSelector", "FeatureGeneratingMachine"):
        with pytest.raises(TypeError, match="fit_C"):
            PUBLIC[name](fit_C=1.0)
    X, y = problem()
    with pytest.raises(ValueError, match="'fit_C' parameter of ExactSelector"):
        ExactSelector(fit_C=0.0).fit(X, y)


def test_fit_cost_can_be_searched():
    X, y = problem()
    grid = {"C": [0.01, 1.0], "fit_C": [0.1, 1.0]}
    search = GridSearchCV(ExactSelector(n_features_to_select=3), grid, cv=3).fit(X, y)
    assert search.best_params_["fit_C"] == search.best_estimator_.estimator_.C


@pytest.mark.parametrize("selector", [ExactSelector(n_features_to_select=2), SVMRFE(n_features_to_select=2), SVC()])
def test_missing_values_are_refused_with_the_remedy(selector):
    X, y = problem()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN[\s\S]*SimpleImputer"):
        clone(selector).fit(X, y)
    filled = make_pipeline(SimpleImputer(add_indicator=True), clone(selector)).fit(X, y)
    assert filled.predict(X).shape == y.shape


def test_missing_values_are_refused_in_prediction():
    X, y = problem()
    selector = ExactSelector(n_features_to_select=2).fit(X, y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN[\s\S]*SimpleImputer"):
        selector.predict(X)
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        selector.predict(X)


AUTO = [
    ExactSelector(n_features_to_select=2, C="auto"),
    SVMRFE(n_features_to_select=2, C="auto"),
    AlignmentSelector(n_features_to_select=2, C="auto"),
    L1SVMSelector(n_features_to_select=2, C="auto"),
    LagrangianSelector(n_features_to_select=2, feature_penalty=0.1, C="auto", time_limit=20),
    FeatureGeneratingMachine(n_features_to_select=2, C="auto"),
]


@pytest.mark.parametrize("selector", AUTO, ids=lambda selector: f"{type(selector).__name__}")
def test_the_cost_is_chosen_as_the_table_says(selector):
    X, y = problem(n=50, p=6)
    chosen = clone(selector).fit(X, y)
    table = chosen.cost_choice_["costs"]
    if isinstance(selector, L1SVMSelector):
        # From where the first feature has weight.
        classes = [X[y == label] for label in np.unique(y)]
        apart = np.abs(classes[0].mean(axis=0) - classes[1].mean(axis=0)).max()
        expected = 50 / (4 * len(classes[0]) * len(classes[1]) * apart) * 10.0 ** (np.arange(1, 10) / 2)
    else:
        # Columns of variance 1: the mean squared length is their number.
        expected = 10.0 ** (np.arange(13) / 2 - 4) / 6
    np.testing.assert_allclose([row["cost"] for row in table], expected)
    best = max(table, key=lambda row: row["auc"])
    expected = next(row["cost"] for row in table if row["auc"] >= best["auc"] - best["se"] - 1e-9)
    # Not below the cost up to which the subset stays the same.
    assert max(expected, chosen.cost_choice_["filter_up_to"] or 0.0) == chosen.C_
    numbers = {"C": chosen.C_}
    if hasattr(selector, "fit_C"):
        numbers["fit_C"] = chosen.fit_C_
        assert chosen.fit_C_ == min(chosen.cost_choice_["fit_costs"], key=lambda row: row["hinge"])["cost"]
        assert chosen.fit_C_ == chosen.estimator_.C
    again = clone(selector).set_params(**numbers).fit(X, y)
    assert np.array_equal(again.support_, chosen.support_)
    np.testing.assert_allclose(again.decision_function(X), chosen.decision_function(X), atol=1e-6)
    assert not hasattr(chosen.set_params(**numbers).fit(X, y), "cost_choice_")


def test_a_cost_that_cannot_be_chosen_is_refused():
    X, y = problem(n=40, p=5)
    with pytest.raises(ValueError, match="either the cost or the size"):
        SVMRFE(C="auto", cv=3).fit(X, y)
    few = np.array([0] * 39 + [1])
    with pytest.raises(ValueError, match="a class has 1 only"):
        ExactSelector(n_features_to_select=2, C="auto").fit(X, few)
    with pytest.raises(ValueError, match="'C' parameter of FlipSelector"):
        FlipSelector(C="auto", cv=3).fit(X, y)
    with pytest.raises(ValueError, match="'C' parameter of ExactSelector"):
        ExactSelector(C="automatic").fit(X, y)
    fixed = ExactSelector(n_features_to_select=2, C="auto", fit_C=3.0).fit(X, y)
    assert fixed.fit_C_ == fixed.estimator_.C == 3.0
    assert fixed.cost_choice_["fit_cost"] is None
