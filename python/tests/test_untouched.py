"""An input is never written to, whatever it is and whatever reads it."""

import hashlib
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from correspondence import PUBLIC
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_every_estimator import ALL, made

from fewest import (
    SVC,
    SVMRFE,
    ColumnFile,
    ExactSelector,
    L1SVMSelector,
    LinearSVC,
    MBPSelector,
    Rules,
    StabilityDisplay,
    Study,
    certify,
    evaluate,
    export_model,
    knockoffs,
    markers,
    stability,
    verify,
)
from fewest.datasets import dump_columns


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def counts(n=48, p=6, seed=0):
    """Small whole numbers, which sums give exactly, and labels that three of them tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, p)).astype(float)
    y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(scale=0.7, size=n) > 1.5).astype(int)
    return X, y


def repeated(X, kind):
    """The same matrix with every entry in two or three parts, in any order."""
    rng = np.random.default_rng(1)
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    rows, columns = np.tile(rows, 3), np.tile(columns, 3)
    values = np.concatenate([values / 2, values / 4, values / 4])
    order = rng.permutation(len(rows))
    rows, columns, values = rows[order], columns[order], values[order]
    if kind == "coo":
        return sp.coo_matrix((values, (rows, columns)), shape=X.shape)
    major, minor = (rows, columns) if kind == "csr" else (columns, rows)
    order = np.argsort(major, kind="stable")
    starts = np.searchsorted(major[order], np.arange(X.shape[kind == "csc"] + 1))
    raw = {"csr": sp.csr_matrix, "csc": sp.csc_array}[kind]((values[order], minor[order].astype(np.int32), starts), shape=X.shape)
    assert not raw.has_canonical_format
    return raw


def unsorted(X):
    raw = sp.csr_matrix(X)
    indices, data = raw.indices.copy(), raw.data.copy()
    for a, b in zip(raw.indptr[:-1], raw.indptr[1:], strict=True):
        indices[a:b], data[a:b] = indices[a:b][::-1].copy(), data[a:b][::-1].copy()
    return sp.csr_matrix((data, indices, raw.indptr), shape=X.shape)


def wide(M):
    M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
    return M


def read_only(M):
    for part in (M.data, M.indices, M.indptr) if sp.issparse(M) else (M,):
        part.flags.writeable = False
    return M


STORED = {
    "C": lambda X: X.copy(),
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1].copy()[::-1],
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "read only": lambda X: read_only(X.copy()),
    "frame": lambda X: pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])]),
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_matrix,
    "dok": sp.dok_array,
    "dia": sp.dia_array,
    "bsr": lambda X: sp.bsr_array(X, blocksize=(2, 3)),
    "wide indices": lambda X: wide(repeated(X, "csr")),
    "unsorted": unsorted,
    "read only csr": lambda X: read_only(repeated(X, "csr")),
    "repeated csr": lambda X: repeated(X, "csr"),
    "repeated csc": lambda X: repeated(X, "csc"),
    "repeated coo": lambda X: repeated(X, "coo"),
    "float32 csr": lambda X: repeated(X, "csr").astype(np.float32),
}


#: Seconds for each fit.
SLOW = {"Study", "MILOKSelector", "RMILOKSelector", "EvaluationRFE", "LagrangianSelector", "MBPSelector"}


def digest(value):
    """What is in an input, to the byte and in this order."""
    if sp.issparse(value) and value.format in ("csr", "csc"):
        parts = (value.data, value.indices, value.indptr)
    elif sp.issparse(value) and value.format == "coo":
        parts = (value.data, *value.coords)
    elif sp.issparse(value):
        return digest(value.toarray())
    elif isinstance(value, np.ndarray) and value.dtype != object:
        parts = (np.ascontiguousarray(value),)
    elif isinstance(value, (pd.DataFrame, pd.Series)):
        return digest(value.to_numpy()) + digest(np.asarray(value.index.astype(str), dtype="U"))
    elif isinstance(value, Rules):
        return digest(value.get_params())
    else:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    found = hashlib.sha256()
    for part in parts:
        found.update(str((part.dtype, part.shape)).encode() + part.tobytes())
    return found.hexdigest()


class Untouched:
    """Holds that what it was given is the same in the end."""

    def __init__(self, *inputs):
        self.inputs = inputs

    def __enter__(self):
        self.before = [digest(one) for one in self.inputs]

    def __exit__(self, *failure):
        if failure[0] is None:
            assert [digest(one) for one in self.inputs] == self.before


@pytest.mark.parametrize("name", ALL)
def test_no_estimator_writes_to_what_it_is_given(name):
    D, y = counts()
    kinds = ["read only", "repeated csr"] if name in SLOW else STORED
    for kind in kinds:
        X, weights, labels = STORED[kind](D), np.linspace(1, 2, len(y)), y.copy()
        estimator = made(name)
        if "class_weight" in estimator.get_params():
            estimator.set_params(class_weight={0: 1.0, 1: 2.0})
        with Untouched(X, labels, weights, estimator.get_params()):
            fitted = estimator.fit(X, labels, sample_weight=weights)
            for method in ("predict", "decision_function", "transform"):
                if hasattr(fitted, method):
                    getattr(fitted, method)(X)
            fitted.score(X, labels, weights)
            if name != "Study" and hasattr(fitted, "certify"):
                fitted.certify(X, labels, weights, time_limit=1.0)


def test_no_method_writes_to_what_it_is_given(tmp_path):
    D, y = counts(60)
    for kind in ("F", "frame", "repeated csr", "repeated csc", "unsorted", "read only csr"):
        X, labels, weights = STORED[kind](D), y.copy(), np.linspace(1, 2, len(y))
        tasks, groups = np.arange(len(y)) % 2, np.arange(len(y)) % 5
        mask, costs = np.arange(6) > 0, np.arange(1.0, 7.0)
        rules = Rules(require=mask & (np.arange(6) == 1), budget=9.0, costs=costs, signs=np.zeros(6))
        proof = str(tmp_path / "one.proof")
        with Untouched(X, labels, weights, tasks, groups, mask, costs, rules):
            exact = ExactSelector(rules=rules, proof=proof).fit(X, labels, weights)
            assert verify(proof, X, labels, weights)
            certify(X, labels, mask, weights, rules=rules, feature_penalty=costs / 10, tasks=tasks, time_limit=1)
            ExactSelector(n_features_to_select=2).fit(X, labels, weights, tasks=tasks).predict(X, tasks=tasks)
            exact.set_params(rules=None, proof=None).path(X, labels, 2, weights)
            MBPSelector(feature_penalty=costs / 10, C=0.1, time_limit=1).fit(X, labels)
            SVMRFE(cv=3, start=mask, scale=True, class_weight="balanced").fit(X, labels, weights, groups)
            SVMRFE(kernel="rbf", Cs=(0.1, 1.0), cv=3).fit(X, labels).predict(X)
            L1SVMSelector(C=0.1, loss="squared_hinge").fit(X, labels, weights)
            for model in (
                SVMRFE(n_features_to_select=2),
                make_pipeline(StandardScaler(with_mean=False), SVMRFE(n_features_to_select=2)),
            ):
                evaluate(model, X, labels, cv=2, groups=groups, sample_weight=weights)
                stability(model, X, labels, n_pairs=2, sample_weight=weights)
                StabilityDisplay.from_estimator(model, X, labels, n_splits=2)
            markers(X, labels, 2, sample_weight=weights, groups=groups, C=0.1, normalize_total=10, log1p=True)
            markers(X, labels, rules=Rules(require=[1], max_features=2), class_weight={0: 1.0, 1: 2.0})
            export_model(exact, tmp_path / "model.json")
            dump_columns(str(tmp_path / "x.csc"), X, labels)
            assert ColumnFile(str(tmp_path / "x.csc")).shape == (60, 6)
            if not sp.issparse(X):
                knockoffs(SVMRFE(n_features_to_select=1), X, labels, sample_weight=weights)
                SVC(kernel="precomputed").fit(D @ D.T, labels).predict(D @ D.T)


@pytest.mark.parametrize(
    "estimator", [LinearSVC(n_jobs=1), SVC(n_jobs=1, gamma=0.01), SVMRFE(n_features_to_select=5, step=0.5, n_jobs=1)]
)
def test_threads_share_a_matrix(estimator):
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 300, 80) for _ in range(120)]
    starts = np.cumsum([0] + [len(w) for w in words])
    X = sp.csr_matrix((np.ones(starts[-1]), np.concatenate(words), starts), shape=(120, 300))
    D = X.toarray()
    y = (D[:, :9].sum(1) > D[:, 9:18].sum(1)).astype(int)
    with Untouched(X):
        several = Parallel(n_jobs=4, prefer="threads")(delayed(clone(estimator).fit)(X, y) for _ in range(8))
        seen = Parallel(n_jobs=4, prefer="threads")(delayed(fitted.predict)(X) for fitted in several)
    np.testing.assert_array_equal(seen[0], estimator.fit(D, y).predict(D))


def test_processes_share_a_file(tmp_path):
    """joblib hands a large matrix to processes as a file that is mapped read-only."""
    X = sp.random(200, 4000, 0.02, format="csr", random_state=0)[:, ::-1]
    y = np.arange(200) % 3
    joblib.dump(X, tmp_path / "x.joblib")
    mapped = joblib.load(tmp_path / "x.joblib", mmap_mode="r")
    assert not mapped.data.flags.writeable
    for estimator in (LinearSVC(C=0.1), SVC(), SVMRFE(n_features_to_select=5, step=0.5)):
        estimator.fit(mapped, y).predict(mapped)
    OneVsRestClassifier(LinearSVC(C=0.1, n_jobs=1), n_jobs=2).fit(X, y)


def test_a_study_writes_to_nothing():
    D, y = counts(60)
    for kind in ("F", "repeated csc"):
        X, labels = STORED[kind](D), y.copy()
        study = Study(sizes=[1, 2], methods=["rfe"], cv=2, n_repeats=1, inner_cv=2, n_Cs=2)
        with Untouched(X, labels):
            study.fit(X, labels)
            study.predict_proba(X)
            study.score(X, labels)


@pytest.mark.parametrize("name", ALL)
def test_one_matrix_has_one_answer_however_it_is_stored(name):
    D, y = counts()
    options = [{}]
    if name == "SVC":
        options = [{"kernel": kernel} for kernel in ("linear", "rbf", "laplace", "poly", "sigmoid")]
    elif name == "SVMRFE":
        options = [{}, {"kernel": "rbf"}, {"kernel": "poly"}]
    elif name == "AlignmentSelector":
        options = [{"kernel": "rbf"}, {"kernel": "laplace"}, {"categorical_features": [0, 3]}]
    # A study of sparse data scales otherwise.
    kinds = [kind for kind in STORED if kind not in ("float32", "float32 csr")] if name != "Study" else ["F", "strided", "int8"]
    if name in SLOW - {"Study"}:
        kinds = ["F", "csr", "repeated csr", "repeated csc"]
    for option in options:
        gamma = {"gamma": 0.1} if name == "SVC" else {}
        want = made(name, **option, **gamma).fit(D, y)
        decisions = want.decision_function(D)
        for kind in kinds:
            X = STORED[kind](D)
            found = made(name, **option, **gamma).fit(X, y)
            plain = X.to_numpy() if isinstance(X, pd.DataFrame) else X
            if hasattr(found, "get_support"):
                np.testing.assert_array_equal(found.get_support(), want.get_support(), err_msg=kind)
            np.testing.assert_allclose(found.decision_function(X), decisions, rtol=1e-5, atol=1e-5, err_msg=kind)
            # Fitted on the dense matrix, and asked about this one.
            np.testing.assert_allclose(want.decision_function(plain), decisions, rtol=1e-9, atol=1e-9, err_msg=kind)
            assert want.score(plain, y) == pytest.approx(want.score(D, y))


def test_every_public_estimator_is_asked():
    assert {name for name in PUBLIC if hasattr(PUBLIC[name], "fit")} == set(ALL)
