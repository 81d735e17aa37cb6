"""Data frames of any kind in, names throughout, and what they become out."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, SplineTransformer, StandardScaler

from fewest import SVC, SVMRFE, ExactSelector, InformationGain, LinearSVC, Rules, Study, evaluate

FRAMES = {"pandas": lambda X: X, "polars": pl.from_pandas, "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False)}


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8]
    return (X - X.mean()) / X.std(), y.to_numpy()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_keeps_its_names(kind, data):
    X, y = data
    frame = FRAMES[kind](X)
    selector = SVMRFE(n_features_to_select=3, rules=Rules(require=["mean texture"])).fit(frame, y)
    reference = SVMRFE(n_features_to_select=3, rules=Rules(require=[1])).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(selector.support_, reference.support_)
    assert list(selector.feature_names_in_) == list(X.columns)
    assert list(selector.get_feature_names_out()) == list(X.columns[reference.support_])
    np.testing.assert_array_equal(selector.predict(frame), reference.predict(X.to_numpy()))
    for container, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = selector.set_output(transform=container).transform(frame)
        assert isinstance(out, cls) and list(out.columns) == list(X.columns[reference.support_])
    names = list(X.columns)[::-1]
    turned = frame.select(names) if kind != "pandas" else frame[names]
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(turned)
    found = evaluate(SVMRFE(n_features_to_select=2), frame, y, cv=3)
    assert found.summary["accuracy"]["mean"] > 0.8


def table():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 120)
    size = rng.choice(["small", "large"], 120)
    age = rng.normal(size=120)
    y = ((colour == "red") + age + 0.3 * rng.normal(size=120) > 0.5).astype(int)
    return pd.DataFrame({"colour": colour, "size": size, "age": age}), y


def test_one_hot_columns_go_together():
    X, y = table()
    transformer = make_column_transformer((OneHotEncoder(), ["colour", "size"]), (StandardScaler(), ["age"]), sparse_threshold=0)
    with pytest.raises(NotFittedError):
        Rules.from_columns(transformer)
    rules = Rules.from_columns(transformer.fit(X), max_features=4, together=[[5]])
    assert rules.together == [[5], [0, 1, 2], [3, 4]]
    names = transformer.get_feature_names_out()
    assert [name.split("__")[1].split("_")[0] for name in names[:5]] == ["colour"] * 3 + ["size"] * 2
    model = make_pipeline(transformer, ExactSelector(rules=rules)).fit(X, y)
    support = model[-1].support_
    assert len(set(support[:3])) == len(set(support[3:5])) == 1 and support.sum() <= 4
    assert support[0]


def test_what_becomes_of_a_variable_is_known():
    X, _ = table()
    dropping = OneHotEncoder(drop="first", sparse_output=False).fit(X[["colour", "size"]])
    assert Rules.from_columns(dropping).together == [[0, 1]]
    bins = {"encode": "onehot-dense", "quantile_method": "averaged_inverted_cdf"}
    mixed = ColumnTransformer(
        [
            ("kept", "passthrough", ["age"]),
            ("left", "drop", ["size"]),
            (
                "bins",
                make_pipeline(StandardScaler(), KBinsDiscretizer(3, **bins)),
                ["age"],
            ),
            ("curve", SplineTransformer(n_knots=3), ["age"]),
            ("rare", OneHotEncoder(max_categories=2, sparse_output=False), ["colour"]),
        ]
    ).fit(X)
    width = mixed.transform(X).shape[1]
    assert Rules.from_columns(mixed).together == [[1, 2, 3], [4, 5, 6, 7, 8], [9, 10]]
    assert width == 11
    assert Rules.from_columns(KBinsDiscretizer(2, **{**bins, "encode": "ordinal"}).fit(X[["age"]])).together == []


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_are_routed_into_folds_and_scores(data, routing):
    X, y = data
    weights = np.where(y == 1, 5.0, 0.2)
    seen = []

    def score(truth, predicted, sample_weight=None):
        seen.append(None if sample_weight is None else np.unique(sample_weight))
        return accuracy_score(truth, predicted, sample_weight=sample_weight)

    scorer = make_scorer(score).set_score_request(sample_weight=True)
    weighted = SVMRFE(cv=3, scoring=scorer).fit(X, y, sample_weight=weights)
    assert all(np.array_equal(one, [0.2, 5.0]) for one in seen)
    by_name = SVMRFE(cv=3, scoring="accuracy").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.cv_results_["mean_test_score"], by_name.cv_results_["mean_test_score"])
    seen.clear()
    SVMRFE(cv=3, scoring=make_scorer(score)).fit(X, y, sample_weight=weights)
    assert all(one is None for one in seen)


def test_weights_go_through_pipelines_and_cross_validation(data, routing):
    X, y = data
    weights = np.r_[np.zeros(100), np.ones(len(y) - 100)]
    selector = SVMRFE(n_features_to_select=2).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    model = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), selector)
    routed = model.fit(X, y, sample_weight=weights)
    plain = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=2)).fit(X[100:], y[100:])
    np.testing.assert_array_equal(routed[-1].support_, plain[-1].support_)
    np.testing.assert_allclose(routed[-1].coef_, plain[-1].coef_, atol=1e-6)
    scores = cross_validate(model, X, y, params={"sample_weight": weights}, cv=StratifiedKFold(3), error_score="raise")
    assert len(scores["test_score"]) == 3


@pytest.mark.parametrize("estimator", [SVMRFE(), InformationGain(), SVC(), LinearSVC(), Study()], ids=lambda one: type(one).__name__)
def test_the_html_display_links_to_docs(estimator):
    link = estimator._get_doc_link()
    assert link.startswith("https://") and link in estimator._repr_html_()
    page = link.split("/blob/main/")[1]
    assert (Path(__file__).parents[2] / page).exists()
