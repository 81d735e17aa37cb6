"""An AnnData, or what is built like one, in place of X, with names of its columns of labels in place of y."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from fewest import (
    SVC,
    SVMRFE,
    EvaluationRFE,
    ExactSelector,
    LinearSVC,
    Rules,
    Study,
    certify,
    evaluate,
    export_model,
    knockoffs,
    load_model,
    stability,
    verify,
)
from fewest.datasets import dump_columns


class Annotated:
    """As AnnData is: values, a table of the samples, names of the features; examined item by item it takes for ever."""

    def __init__(self, X, obs, names):
        self.X, self.obs, self.var_names = X, obs, pd.Index(names)

    @property
    def shape(self):
        return self.X.shape

    def __len__(self):
        return self.X.shape[0]

    def __getitem__(self, at):
        raise AssertionError("examined")


def build(X, obs, names):
    """The same by the package itself, where it is installed."""
    if importlib.util.find_spec("anndata") is None:
        return Annotated(X, obs, names)
    return importlib.import_module("anndata").AnnData(X, obs=obs, var=pd.DataFrame(index=names))


def view(X):
    """Rows of a larger matrix."""
    return np.vstack([X, X])[: len(X)]


FORMS = {
    "dense": np.array,
    "float32": lambda X: X.astype(np.float32),
    "view": view,
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "csr_array": sp.csr_array,
}


def cells(form=np.array, n=90, p=12):
    rng = np.random.default_rng(0)
    X = np.round(rng.exponential(size=(n, p)), 2)
    X[X < 0.7] = 0.0
    y = np.where(X[:, 3] + X[:, 5] + 0.1 * rng.normal(size=n) > 1.5, "T", "B")
    obs = pd.DataFrame({"cell_type": pd.Categorical(y), "donor": rng.integers(0, 3, n)}, index=[f"cell{i}" for i in range(n)])
    return build(form(X), obs, [f"g{j}" for j in range(p)]), X, y


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_matrix_keeps_its_names(form):
    adata, X, y = cells(FORMS[form])
    before = adata.X.copy()
    selector = SVMRFE(n_features_to_select=2, rules=Rules(require=["g3"])).fit(adata, "cell_type")
    want = SVMRFE(n_features_to_select=2, rules=Rules(require=[3])).fit(FORMS[form](X), y)
    assert list(selector.feature_names_in_) == [f"g{j}" for j in range(12)]
    np.testing.assert_array_equal(selector.support_, want.support_)
    assert list(selector.get_feature_names_out()) == [f"g{j}" for j in np.flatnonzero(want.support_)]
    np.testing.assert_array_equal(selector.predict(adata), want.predict(FORMS[form](X)))
    assert selector.score(adata, "cell_type") == selector.score(adata, adata.obs["cell_type"]) == want.score(FORMS[form](X), y)
    chosen = selector.transform(adata)
    assert sp.issparse(chosen) == sp.issparse(adata.X)
    np.testing.assert_allclose(chosen.toarray() if sp.issparse(chosen) else chosen, X[:, want.support_], rtol=1e-6)
    assert (before != adata.X).sum() == 0
    other = build(FORMS[form](X), adata.obs, [f"h{j}" for j in range(12)])
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(other)


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_every_function_takes_one(form, tmp_path):
    adata, X, y = cells(FORMS[form])
    plain, rfe = FORMS[form](X), SVMRFE(n_features_to_select=2)
    found, want = evaluate(rfe, adata, "cell_type", cv=3), evaluate(rfe, plain, y, cv=3)
    np.testing.assert_array_equal(found.frequency, want.frequency)
    assert found.asked["names"] == [f"g{j}" for j in range(12)]
    whole = evaluate(make_pipeline(MaxAbsScaler(), rfe), adata, "cell_type", cv=3)
    assert whole.summary["accuracy"]["mean"] > 0.8
    np.testing.assert_array_equal(
        stability(rfe, adata, "cell_type", n_pairs=2).frequency, stability(rfe, plain, y, n_pairs=2).frequency
    )
    proof = tmp_path / "a.proof"
    exact = ExactSelector(n_features_to_select=2, proof=proof).fit(adata, "cell_type")
    assert verify(proof, adata, "cell_type").verdict == "verified"
    assert exact.certify(adata, "cell_type")["gap"] <= 1e-4
    assert certify(adata, "cell_type", ["g3", "g5"]).gap <= 1e-4
    assert [one.n_features_ for one in ExactSelector().path(adata, "cell_type", 2)] == [1, 2]
    for estimator in (LinearSVC(), SVC(), EvaluationRFE(n_features_to_select=2, cv=3)):
        assert estimator.fit(adata, "cell_type").score(adata, "cell_type") > 0.8
    export_model(rfe.fit(adata, "cell_type"), tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(adata), rfe.predict(adata))
    dump_columns(tmp_path / "a.csc", adata, "cell_type")
    study = Study(sizes=2, methods=["rfe"], cv=3, n_repeats=1, inner_cv=3, n_Cs=3).fit(adata, "cell_type")
    assert study.predict(adata).shape == (90,) and set(study.get_feature_names_out()) <= {"g3", "g5"}
    chosen = study.transform(adata)
    np.testing.assert_array_equal(chosen.toarray() if sp.issparse(chosen) else chosen, X[:, study.support_])


def test_knockoffs_of_dense_values():
    adata, X, y = cells()
    rfe = SVMRFE(n_features_to_select=1, C=0.1)
    np.testing.assert_array_equal(knockoffs(rfe, adata, "cell_type").statistics, knockoffs(rfe, X, y).statistics)


def test_labels_are_found_by_name_and_in_order():
    adata, _, y = cells()
    with pytest.raises(ValueError, match="y is 'type', but obs of X has no such column; it has cell_type, donor"):
        SVMRFE().fit(adata, "type")
    with pytest.raises(ValueError, match="the samples of y are those of X in another order"):
        SVMRFE().fit(adata, adata.obs["cell_type"][::-1])
    np.testing.assert_array_equal(SVMRFE().fit(adata, y).support_, SVMRFE().fit(adata, "cell_type").support_)


def test_what_is_not_in_memory_is_refused():
    adata, X, y = cells()
    backed = Annotated(X, adata.obs, adata.var_names)
    backed.isbacked = True
    with pytest.raises(TypeError, match=r"on the disk; give adata.to_memory\(\)"):
        SVMRFE().fit(backed, y)
    with pytest.raises(TypeError, match=r"not there; give layers\[name\]"):
        SVMRFE().fit(_without(adata), y)


def _without(adata):
    """One without a matrix."""
    found = Annotated(np.empty((len(adata.obs), 0)), adata.obs, [])
    found.X = None
    return found


@pytest.mark.parametrize("X", [["an apple.red", "a pear.green"], ["good", "bad"], "cells.h5ad"])
def test_texts_in_place_of_numbers(X):
    with pytest.raises(TypeError, match=r"X is (a list of texts|'cells.h5ad'), but must (hold numbers|be an array or a frame)"):
        SVMRFE().fit(X, [0, 1])
