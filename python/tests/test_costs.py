"""Costs of selecting and of the classifier, and the refusal of missing values."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import fewest
from fewest import SVC, SVMRFE, AlignmentSelector, BendersSelector, EvaluationRFE, ExactSelector, FlipSelector, InformationGain


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
    EvaluationRFE(n_features_to_select=2, costs=(0.01,), candidates=1, cv=3),
    FlipSelector(n_features_to_select=2, C=0.01, cv=3),
]


@pytest.mark.parametrize("selector", TRAINS, ids=lambda selector: f"{type(selector).__name__}")
def test_the_subset_is_that_of_the_cost_and_the_classifier_that_of_the_fit_cost(selector):
    X, y = problem()
    one, two = clone(selector).fit(X, y), clone(selector).set_params(fit_cost=5.0).fit(X, y)
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
        with pytest.raises(TypeError, match="fit_cost"):
            getattr(fewest, name)(fit_cost=1.0)
    X, y = problem()
    with pytest.raises(ValueError, match="'fit_cost' parameter of ExactSelector"):
        ExactSelector(fit_cost=0.0).fit(X, y)


def test_fit_cost_can_be_searched():
    X, y = problem()
    grid = {"C": [0.01, 1.0], "fit_cost": [0.1, 1.0]}
    search = GridSearchCV(ExactSelector(n_features_to_select=3), grid, cv=3).fit(X, y)
    assert search.best_estimator_.estimator_.C == search.best_params_["fit_cost"]


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
