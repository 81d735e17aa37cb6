"""What X and y may be: layouts, types, alignment, names, weights, folds; and what is refused by name."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from problems import problem
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from fewest import SVMRFE, EvaluationRFE, ExactSelector, InformationGain, Rules
from fewest.papers import FSVSelector


def test_layouts_and_types_of_x_give_the_same():
    X, y = problem()
    want = SVMRFE(n_features_to_select=4).fit(X, y)
    for same in (np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X), X[::1], np.vstack([X, X])[: len(X)]):
        found = SVMRFE(n_features_to_select=4).fit(same, y)
        assert (found.ranking_ == want.ranking_).all()
        assert found.objective_ == pytest.approx(want.objective_, rel=1e-8)
    assert (SVMRFE(n_features_to_select=4).fit(X.astype(np.float32), y).support_ == want.support_).all()
    strided = np.repeat(X, 2, axis=0)[::2]
    assert (SVMRFE(n_features_to_select=4).fit(strided, y).ranking_ == want.ranking_).all()


def test_unsorted_and_repeated_entries_of_sparse_matrices():
    X, y = problem()
    rows, columns = np.nonzero(X)
    halves = sp.coo_matrix((np.r_[X[rows, columns] / 2] * 1.0, (rows, columns)), shape=X.shape)
    both = sp.csc_matrix(
        (np.concatenate([halves.data, halves.data]), (np.concatenate([rows, rows]), np.concatenate([columns, columns]))),
        shape=X.shape,
    )
    raw = sp.csr_matrix((X.ravel()[::-1].copy(), np.tile(np.arange(X.shape[1])[::-1], len(X)), np.arange(0, X.size + 1, X.shape[1])))
    raw = raw[::-1].copy()
    before = raw.copy()
    for same in (both, raw):
        assert (SVMRFE(n_features_to_select=4).fit(same, y).support_ == SVMRFE(n_features_to_select=4).fit(X, y).support_).all()
    assert (raw.indices == before.indices).all()


def test_names_of_data_frames_survive():
    pd = pytest.importorskip("pandas")
    frame = load_breast_cancer(as_frame=True)
    X, y = pd.DataFrame(scale(frame.data), columns=frame.data.columns), frame.target
    rules = Rules(max_features=3, require=["mean texture"], forbid=["mean area"])
    selector = ExactSelector(rules=rules, time_limit=30).set_output(transform="pandas").fit(X, y)
    names = selector.get_feature_names_out()
    assert "mean texture" in names and "mean area" not in names
    assert list(selector.transform(X).columns) == list(names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.predict(X)
    with pytest.raises(ValueError, match="did you mean 'mean area'"):
        SVMRFE(rules=Rules(require=["mean arae"])).fit(X, y)
    pl = pytest.importorskip("polars")
    polars = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    selector = SVMRFE(n_features_to_select=3).set_output(transform="polars").fit(polars, y)
    assert selector.transform(polars).columns == list(selector.get_feature_names_out())


def test_unaligned_arrays_are_taken():
    X, y = problem()
    raw = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:]
    unaligned = raw.view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    want = SVMRFE(n_features_to_select=4).fit(X, y)
    assert (SVMRFE(n_features_to_select=4).fit(unaligned, y).ranking_ == want.ranking_).all()
    sparse = sp.csc_array(X)
    sparse.data = np.frombuffer(b"x" + sparse.data.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert not sparse.data.flags.aligned
    assert (SVMRFE(n_features_to_select=4).fit(sparse, y).ranking_ == want.ranking_).all()


def test_certify_checks_what_it_is_given():
    pd = pytest.importorskip("pandas")
    X, y = problem()
    selector = SVMRFE(n_features_to_select=3).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        selector.certify(selector.transform(X), y)
    with pytest.raises(ValueError, match="classes"):
        selector.certify(X, np.where(y == 1, "a", "b"))
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    selector = SVMRFE(n_features_to_select=3).fit(frame, y)
    with pytest.raises(ValueError, match="order"):
        selector.certify(frame[frame.columns[::-1]], y)
    three = load_iris(return_X_y=True)
    assert SVMRFE().fit(*three).certify(*three)["status"] == "optimal"
    # More features than the default size, chosen by cross-validation.
    wide = SVMRFE(cv=3, min_features_to_select=9).fit(X, y)
    assert wide.certify(X, y)["status"] == "optimal"


def test_a_panic_is_a_runtime_error():
    from fewest import _core

    X, y = problem()
    arguments = np.asfortranarray(X), y.astype(np.uint32), np.ones(len(y))
    with pytest.raises(RuntimeError, match="report it"):
        _core.certify(*arguments, {"max_features": 3}, [99], {"cost": 1.0}, {})


def test_settings_that_there_are_not_are_refused():
    from fewest import _core

    X, y = problem()
    arguments = np.asfortranarray(X), y.astype(np.uint32), np.ones(len(y))
    with pytest.raises(ValueError, match="class_weight"):
        _core.select(*arguments, {"max_features": 3}, {"name": "fsv", "class_weight": "balanced"}, {}, None)
    with pytest.raises(TypeError, match="class_weight"):
        FSVSelector(class_weight="balanced")
    with pytest.raises(ValueError, match="gamma"):
        SVMRFE(kernel="rbf", gamma="large").fit(X, y)
    with pytest.raises(ValueError, match="min_features_to_select is 10"):
        SVMRFE(cv=3, n_features_to_select=3, min_features_to_select=10).fit(X, y)


def test_zero_weights_with_folds():
    X, y = problem(n=70)
    weights = np.ones(70)
    weights[::7] = 0
    kept = weights > 0
    cv = np.arange(70) % 3
    splits = [(np.flatnonzero(cv != f), np.flatnonzero(cv == f)) for f in range(3)]
    place = np.cumsum(kept) - 1
    fewer = [tuple(place[part[kept[part]]] for part in split) for split in splits]
    for selector in (SVMRFE(), EvaluationRFE(Cs=(1.0,), candidates=2)):
        a = clone(selector).set_params(cv=splits).fit(X, y, sample_weight=weights)
        b = clone(selector).set_params(cv=fewer).fit(X[kept], y[kept])
        assert (a.ranking_ == b.ranking_).all() and a.objective_ == pytest.approx(b.objective_)


def test_splits_with_an_empty_part_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="split 0 trains on no sample"):
        EvaluationRFE(cv=[(np.arange(0), np.arange(30, 50))]).fit(X, y)
    with pytest.raises(ValueError, match="holds no sample out"):
        EvaluationRFE(cv=[(np.arange(30), np.arange(0))]).fit(X, y)


@pytest.mark.parametrize("largest", [1e71, 1e300, 1.7e308])
def test_values_that_cannot_be_squared_are_refused_by_name(largest):
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[7, 2] = largest
    y = np.arange(30) % 2
    for selector in (ExactSelector(n_features_to_select=2), InformationGain(n_features_to_select=2)):
        with pytest.raises(ValueError, match="sample 7, feature 2 is .* scale the feature"):
            selector.fit(X, y)
