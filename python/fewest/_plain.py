"""Fitted estimators of ours as scikit-learn's own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.svm
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fewest._svc import SVC
from fewest._svm import LinearSVC

#: Kernels that scikit-learn's SVC has, too.
KERNELS = ("linear", "rbf", "poly", "sigmoid")


def pipeline(classifier: Any, n_features: int, support: np.ndarray, names: Any, fill: Any, center: Any, scale: Any) -> Pipeline:
    """The columns, what stands in for missing values, the scaling and a plain classifier, fitted.

    Parameters
    ----------
    classifier : SVC or LinearSVC
        Ours, fitted on the selected columns as they come out of the scaling.
    n_features : int
        Columns of X.
    support : ndarray of shape (n_selected,)
        Indices of those that it takes.
    names : ndarray of shape (n_features,) or None
        Names of all columns, where they have names.
    fill, center, scale : ndarray of shape (n_selected,) or None
        Put in place of NaN, subtracted, and divided by.

    Returns
    -------
    pipeline : Pipeline
        Fitted; its last step is ``sklearn.svm.LinearSVC`` or ``sklearn.svm.SVC``.
    """
    if not len(support):
        raise ValueError("no feature is selected, so that there is no classifier; select at least one feature")
    last = plain(classifier)
    steps: list[tuple[str, Any]] = [("columns", _columns(n_features, support, names))]
    if fill is not None:
        steps.append(("imputer", SimpleImputer().fit(np.asarray(fill, dtype=np.float64)[None])))
    if center is not None or scale is not None:
        steps.append(("scaler", _scaler(center, scale, len(support))))
    return Pipeline([*steps, ("classifier", last)])


def plain(classifier: Any) -> Any:
    """scikit-learn's ``LinearSVC`` or ``SVC`` with the decisions of ours, fitted."""
    if isinstance(classifier, LinearSVC):
        return _linear(classifier.classes_, classifier.coef_, classifier.intercept_, float(classifier.C))
    kind = classifier._kernel if isinstance(classifier._kernel, str) else classifier._kernel["kind"]
    if kind not in KERNELS or classifier._categories:
        what = "categories" if kind in KERNELS else "precomputed values" if kind == "precomputed" else f"the kernel {kind}"
        raise TypeError(
            f"scikit-learn's SVC has no {what}: this classifier has no plain form; use kernel='linear' or 'rbf', "
            "or keep this estimator (joblib.dump)"
        )
    if classifier._coef is not None and len(classifier.classes_) == 2:
        return _linear(classifier.classes_, classifier._coef, classifier.intercept_, float(classifier.C))
    return _kernel(classifier, kind)


def _linear(classes: np.ndarray, coef: Any, intercept: np.ndarray, cost: float) -> Any:
    made = sklearn.svm.LinearSVC(C=cost, dual="auto")
    made.classes_, made.n_features_in_, made.n_iter_ = classes, coef.shape[1], 1
    made.coef_, made.intercept_ = np.array(coef, dtype=np.float64), np.array(intercept, dtype=np.float64)
    return made


def _kernel(classifier: SVC, kind: str) -> Any:
    """By support vectors; those of a linear classifier of several classes are the weights of its
    machines, each with the coefficient 1 in its own machine.
    """
    classes, p = classifier.classes_, classifier.n_features_in_
    k = len(classes)
    if classifier._coef is not None:
        vectors, coef, counts = _weights_as_vectors(classifier._coef, k)
    else:
        vectors, coef = classifier.support_vectors_, classifier.dual_coef_
        vectors, counts = np.asarray(vectors.toarray() if sp.issparse(vectors) else vectors, dtype=np.float64), classifier.n_support_
    options = {} if classifier._coef is not None else {name: x for name, x in classifier._kernel.items() if name != "kind"}
    made = sklearn.svm.SVC(C=float(classifier.C), kernel=kind, decision_function_shape=classifier.decision_function_shape, **options)
    made.break_ties = classifier.break_ties
    # A fit on other samples gives it every attribute that it has; then come those that decide.
    made.fit(np.vstack([np.zeros((k, p)), np.eye(k, p)]), np.tile(classes, 2))
    sign = -1.0 if k == 2 else 1.0
    made.support_vectors_ = np.ascontiguousarray(vectors)
    made.support_ = np.arange(len(vectors), dtype=np.int32)
    made._n_support = np.asarray(counts, dtype=np.int32)
    made.dual_coef_ = np.ascontiguousarray(coef, dtype=np.float64)
    made.intercept_ = np.array(classifier.intercept_, dtype=np.float64)
    made._dual_coef_, made._intercept_ = sign * made.dual_coef_, sign * made.intercept_
    made.shape_fit_ = (len(vectors), p)
    return made


def _weights_as_vectors(coef: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Support vectors, their coefficients as LIBSVM lays them out, and how many each class has."""
    pairs = list(combinations(range(n_classes), 2))
    laid = np.zeros((n_classes - 1, len(pairs)))
    counts = np.zeros(n_classes, dtype=np.int32)
    for at, (a, b) in enumerate(pairs):
        laid[b - 1, at] = 1.0
        counts[a] += 1
    return np.array(coef, dtype=np.float64), laid, counts


def _columns(n_features: int, support: np.ndarray, names: Any) -> ColumnTransformer:
    """Takes columns, by name where they have names."""
    X: Any = np.zeros((1, n_features))
    chosen: list[Any] = [int(j) for j in support]
    if names is not None:
        import pandas as pd

        X, chosen = pd.DataFrame(X, columns=[str(name) for name in names]), [str(names[j]) for j in support]
    made = ColumnTransformer([("selected", "passthrough", chosen)], sparse_threshold=0.0, verbose_feature_names_out=False)
    return made.fit(X)


def _scaler(center: Any, scale: Any, n_features: int) -> StandardScaler:
    made = StandardScaler(with_mean=center is not None, with_std=scale is not None)
    mean = np.zeros(n_features) if center is None else np.array(center, dtype=np.float64)
    width = np.ones(n_features) if scale is None else np.array(scale, dtype=np.float64)
    made.fit(np.vstack([mean - width, mean + width]))
    made.mean_ = mean
    if scale is not None:
        made.scale_, made.var_ = width, width**2
    return made
