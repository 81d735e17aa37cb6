"""Data frames of any kind in, names throughout, and what they become out."""

import json
import pickle
import subprocess
import sys
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

from fewest import SVC, SVMRFE, ExactSelector, InformationGain, LinearSVC, Rules, Study, evaluate, load_model

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


def survey(n=90):
    """A table as people have it, and its classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(rng.choice(["s", "l"], n)),
            "flag": rng.random(n) < 0.5,
            "age": rng.normal(40, 9, n).round(1),
            "day": pd.date_range("2024-01-01", periods=n),
            "zip": rng.integers(0, 50, n),
        }
    )
    y = np.where((frame.colour == "red") * 2 + (frame.age - 40) / 9 + 0.3 * rng.normal(size=n) > 0.5, "sick", "well")
    frame.loc[3, "age"], frame.loc[5, "colour"] = np.nan, None
    # A row of nothing is a sample, too.
    frame.loc[[n - 1], ["colour", "size", "age", "day"]] = None
    return frame, y


SHORT = {"sizes": 2, "methods": ["rfe"], "cv": 3, "n_repeats": 1, "inner_cv": 3, "n_Cs": 4}


def test_a_study_of_a_frame_of_text_is_the_commands(tmp_path):
    frame, y = survey()
    before = frame.copy()
    frame.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match="`day` holds dates or times .* and is left out"):
        study = Study(**SHORT, impute="median").fit(frame, y)
    pd.testing.assert_frame_equal(frame, before)
    code = "import sys; from fewest import _core; sys.exit(_core.command(['fewest', *sys.argv[1:]]))"
    asked = ["--max-features", "1,2", "--methods", "rfe", "--folds", "3", "--repeats", "1", "--inner-cv", "3", "--cost-points", "4"]
    files = ["--json", str(tmp_path / "r.json"), "--model", str(tmp_path / "m.json"), "--quiet"]
    run = [sys.executable, "-c", code, "study", str(tmp_path / "a.csv"), *asked, "--missing", "median", *files]
    subprocess.run(run, check=True, cwd=Path(__file__).parents[1], capture_output=True)
    wanted = json.loads((tmp_path / "r.json").read_text())
    assert list(study.get_feature_names_out()) == sorted(wanted["panel"]["selected"], key=list(study.feature_names_in_).index)
    assert study.objective_ == pytest.approx(wanted["panel"]["objective"], rel=1e-9)
    assert study.summary_["accuracy"]["mean"] == wanted["summary"]["accuracy"]["mean"]
    model = load_model(tmp_path / "m.json")
    np.testing.assert_allclose(study.decision_function(frame), model.decision_function(frame), atol=1e-9)
    assert (study.predict(frame) == y).mean() > 0.9


def test_a_study_of_text_takes_other_frames_of_the_same_columns():
    frame, y = survey()
    frame = frame.drop(columns="day")
    study = Study(**SHORT, impute="most_frequent").fit(frame, y)
    assert {"colour=red", "size=s", "flag=True", "age", "zip"} <= set(study.feature_names_in_)
    want = study.decision_function(frame)
    for same in (frame[frame.columns[::-1]], frame.assign(more="x"), pl.from_pandas(frame), pickle.loads(pickle.dumps(frame))):
        np.testing.assert_allclose(study.decision_function(same), want)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(study)).decision_function(frame[:7]), want[:7])
    assert study.transform(frame).shape == (len(y), study.n_features_)
    with pytest.warns(UserWarning, match="`colour` has values the model has not seen on 1 row"):
        study.predict(frame[:1].assign(colour="pink"))
    with pytest.raises(ValueError, match="X has no column 'colour', which it had in fit"):
        study.predict(frame.drop(columns="colour"))
    with pytest.raises(ValueError, match=r"Input X contains NaN.*Study\(impute=\"median\"\)"):
        Study(**SHORT).fit(frame, y)
    named = frame.assign(name=[f"p{i}" for i in range(90)])
    remedies = r"; say X\.drop\(columns=\[\"name\"\]\), or X\[\"name\"\]\.astype\(\"category\"\) to make a feature of each value$"
    with pytest.raises(ValueError, match=r"^X: text column `name` has 90 different values.*" + remedies):
        Study(**SHORT).fit(named, y)
    # Both of them work.
    categories = named.assign(name=named["name"].astype("category"))
    assert {"name=p0", "name=p89"} <= set(Study(**SHORT, impute="median").fit(categories, y).feature_names_in_)
    numbers = Study(**SHORT, impute="median").fit(frame[["age", "zip"]], y)
    assert list(numbers.feature_names_in_) == ["age", "zip"]
    again = numbers.fit(frame[["zip", "age"]].assign(level=pd.Categorical([1, 2, 3] * 30)), y)
    assert {"level=1", "level=2", "level=3"} <= set(again.feature_names_in_)


def test_names_that_are_numbers_are_names():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[:, :8], columns=range(900, 916, 2))
    selector = SVMRFE(n_features_to_select=2).fit(frame, y)
    want = [str(900 + 2 * j) for j in np.flatnonzero(selector.support_)]
    assert list(selector.get_feature_names_out()) == want
    assert list(selector.set_output(transform="pandas").transform(frame).columns) == want
    found = evaluate(make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=2)), frame, y, cv=3)
    assert found.asked["names"] == [str(name) for name in frame.columns]
