"""What every estimator of the package keeps to, each of them asked."""

import warnings
from time import process_time

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from correspondence import PUBLIC
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import Rules, Study

#: What keeps a fit short.
SHORT = {
    "EvaluationRFE": {"Cs": (1.0,), "candidates": 1, "cv": 3},
    "FlipSelector": {"cv": 3},
    "MILOKSelector": {"node_limit": 1, "time_limit": 0.5},
    "RMILOKSelector": {"node_limit": 1, "time_limit": 0.5},
    "Study": {"sizes": [1, 2], "methods": ["rfe"], "cv": 2, "n_repeats": 1, "inner_cv": 2, "n_Cs": 2},
}
ALL = sorted(name for name in PUBLIC if hasattr(PUBLIC[name], "fit"))
SELECTORS = [name for name in ALL if hasattr(PUBLIC[name], "get_support")]


def made(name, **more):
    estimator = PUBLIC[name](**SHORT.get(name, {}), **more)
    known = {"n_features_to_select": 2, "random_state": 0}
    estimator.set_params(**{key: value for key, value in known.items() if key in estimator.get_params()})
    return estimator


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:60, [0, 1, 4, 6]]
    return (X - X.mean()) / X.std(), y.to_numpy()[:60]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("name", ALL)
def test_width_and_names_are_checked(name, data):
    X, y = data
    fitted = made(name).fit(X, y)
    kept_apart = {"SVC": (), "LinearSVC": ()}
    methods = [m for m in ("predict", "transform", "decision_function", "predict_proba", "score", "certify") if hasattr(fitted, m)]
    assert len(methods) >= 3 or name in kept_apart
    for method in methods:
        rest = (y,) if method in ("score", "certify") else ()
        call = getattr(fitted, method)
        if isinstance(fitted, Study) and method == "certify":
            continue
        with pytest.raises(ValueError, match="3 features"):
            call(X.to_numpy()[:, :3], *rest)
        with pytest.raises(ValueError, match="feature names"):
            call(X.iloc[:, ::-1], *rest)
        with pytest.raises(ValueError, match="feature names"):
            call(X.rename(columns={"mean radius": "radius"}), *rest)


FRAMES = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "narwhals": nw.from_native,
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", ALL)
def test_every_frame_is_taken_with_its_names(name, kind, data):
    X, y = data
    frame = FRAMES[kind](X)
    fitted = made(name).fit(frame, y)
    assert list(fitted.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(fitted.predict(frame), made(name).fit(X, y).predict(X))


@pytest.mark.parametrize("name", SELECTORS)
def test_output_is_the_frame_asked_for(name, data):
    X, y = data
    fitted = made(name).fit(X, y)
    names = list(X.columns[fitted.get_support()])
    for container, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = clone(fitted).set_output(transform=container).fit(X, y).transform(X)
        assert isinstance(out, cls) and list(out.columns) == names
        np.testing.assert_allclose(out.to_numpy(), X[names].to_numpy())
    assert list(fitted.get_feature_names_out()) == names


@pytest.mark.parametrize("name", ALL)
def test_weights_are_routed_through_a_pipeline(name, data):
    """Samples of weight 0 are none, for the scaler before it, too."""
    X, y = data
    estimator = made(name)
    if isinstance(estimator, Study):
        pytest.skip("its folds are dealt among all samples")
    weights = np.r_[np.zeros(10), np.ones(50)]
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, clone(estimator).set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weights)
    if "cv" in SHORT.get(name, {}):
        # The folds are dealt before samples without weight are left out.
        assert routed[-1].predict(scaler.fit_transform(X)).shape == y.shape
        return
    plain = make_pipeline(StandardScaler(), estimator).fit(X[10:], y[10:])
    np.testing.assert_array_equal(routed.predict(X), plain.predict(X))


@pytest.mark.parametrize("name", SELECTORS)
def test_the_html_display_and_the_union(name, data):
    X, y = data
    union = FeatureUnion([("few", made(name)), ("directions", PCA(1))]).set_output(transform="pandas")
    out = make_pipeline(StandardScaler().set_output(transform="pandas"), union).fit(X, y)
    assert len(out.get_feature_names_out()) == out[-1].transformer_list[0][1].n_features_ + 1
    assert made(name)._get_doc_link() in out._repr_html_()


@pytest.mark.parametrize("name", ["SVMRFE", "ExactSelector", "InformationGain", "FeatureGeneratingMachine"])
def test_searches_and_cross_validation(name):
    X, y = make_classification(240, 8, random_state=0)
    model = make_pipeline(StandardScaler(), made(name))
    assert cross_validate(model, X, y, cv=3, error_score="raise")["test_score"].mean() > 0.7
    grid = {f"{name.lower()}__n_features_to_select": [1, 2, 4], f"{name.lower()}__rules": [None, Rules(forbid=[0])]}
    search = HalvingGridSearchCV(model, grid, cv=3, random_state=0, min_resources=80, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7 and search.n_iterations_ > 1


@pytest.mark.parametrize("name", ALL)
def test_a_time_limit_ends_a_fit(name):
    """In seconds of the processor, which do not grow where others use it, too; fault 4 was 30 of them."""
    limits = {"Study": 1.0}
    X, y = make_classification(8000, 40, n_informative=10, flip_y=0.3, random_state=0)
    estimator = made(name, n_jobs=1)
    if "time_limit" not in estimator.get_params():
        pytest.skip("it has no time limit")
    limit = limits.get(name, 0.3)
    begun = process_time()
    try:
        estimator.set_params(time_limit=limit).fit(X, y)
    except (MemoryError, RuntimeError) as error:
        # Nothing can be selected where there is no gamma yet.
        assert "set_memory" in str(error) or "gamma was not found in time" in str(error)
    assert process_time() - begun < limit + 1.5


class Relation:
    """As DuckDB's: columns by Arrow's interface, and nothing else."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.Table.from_pandas(self.frame, preserve_index=False).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", [Relation, lambda X: pl.from_pandas(X).lazy()], ids=["arrow", "lazy"])
def test_what_hands_over_its_columns_is_a_frame(kind, data):
    X, y = data
    fitted = made("SVMRFE").fit(kind(X), y)
    assert list(fitted.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(fitted.predict(kind(X)), fitted.predict(X))
    assert fitted.transform(kind(X)).shape == (60, 2)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(kind(X.iloc[:, ::-1]))
