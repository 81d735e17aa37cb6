"""Models for ``fewest predict``."""

from __future__ import annotations

import json
import os
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from fewest import _core
from fewest._base import Selector
from fewest._columns import label_texts
from fewest._svc import SVC
from fewest._svm import LinearSVC

#: The version of the format, docs/formats/model.md.
SCHEMA = 1

#: Scalers of scikit-learn that a model file holds, and their names there; a MinMaxScaler has its range.
SCALERS = {StandardScaler: "standard", MaxAbsScaler: "maxabs", MinMaxScaler: "range"}


def export_model(estimator: Any, path: str | os.PathLike[str], *, target_name: str = "y") -> None:
    """Write a trained classifier as the model file that ``fewest predict`` and :func:`load_model` read;
    docs/formats/model.md describes it.

    Parameters
    ----------
    estimator : selector, SVC, LinearSVC or Pipeline
        Fitted. A pipeline is a ``StandardScaler``, ``MaxAbsScaler`` or ``MinMaxScaler`` (without ``clip``) and one
        of the others; the scaling becomes part of the model, and of a :class:`Study` its own scaling, what stands in for missing
        values, columns of text and probabilities do. Features are named as the columns were, else x1, x2, ...
        as the command names them.
    path : str or path-like
        The file; JSON.
    target_name : str, default="y"
        Name of the labels.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fewest import SVMRFE, export_model
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=3)).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     export_model(model, folder + "/model.json")  # then: fewest predict model.json data.csv
    """
    check_is_fitted(estimator)
    scaler, last = _parts(estimator)
    p, support = last.n_features_in_, np.arange(last.n_features_in_)
    classifier = last
    if isinstance(last, Selector):
        classifier, support = last.estimator_, np.flatnonzero(last.support_)
    names = getattr(estimator, "feature_names_in_", getattr(last, "feature_names_in_", None))
    listed = [f"x{j + 1}" if names is None else str(names[j]) for j in support]
    fill, center, scale, kind = _prepared(scaler, last, support)
    classes = label_texts(classifier.classes_)
    kernel, machines, vectors = _machines(classifier, classes)
    model: dict[str, Any] = {
        **kernel,
        "cost": float(classifier.C),
        "features": listed,
        "feature_indices": support.tolist(),
        "scaling": {
            "kind": kind,
            "features": {name: {"centre": c, "scale": s} for name, c, s in zip(listed, center.tolist(), scale.tolist(), strict=True)},
        },
        "imputation": _imputation(last, listed, fill),
        "machines": machines,
    }
    if (coding := getattr(last, "_coding", None)) is not None and (levels := coding.levels(support.tolist())):
        model["levels"] = levels
    if (calibration := getattr(last, "_calibration", None)) is not None:
        model["probabilities"] = calibration
    if categories := getattr(classifier, "_categories", []):
        model["categorical"] = [listed[at] for at in categories]
    if len(machines) == 1:
        model["intercept"] = machines[0]["intercept"]
        if "weights" in machines[0]:
            model["weights"] = dict(zip(listed, machines[0]["weights"], strict=True))
    if vectors is not None:
        model["support_vectors"] = vectors
    keys = ["-1", "+1"] if len(classes) == 2 else [str(at) for at in range(len(classes))]
    file = {
        "schema": SCHEMA,
        "kind": "model",
        "version": _core.__version__,
        "target": target_name,
        "classes": dict(zip(keys, classes, strict=True)),
        "n_features": p,
        "model": model,
    }
    with open(path, "w", encoding="utf-8") as out:
        json.dump(file, out, indent=1, allow_nan=False)


def _parts(estimator: Any) -> tuple[Any, Any]:
    """The scaler, if there is one, and the selector or classifier."""
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    scaler, last = (None, *steps)[-2:]
    known = scaler is None or type(scaler) in SCALERS
    if len(steps) > 2 or not known or not isinstance(last, (Selector, SVC, LinearSVC)):
        raise TypeError(
            "a model file holds a selector, SVC or LinearSVC, or a pipeline of StandardScaler, MaxAbsScaler or MinMaxScaler and one of "
            f"them, not {estimator!r}"
        )
    return scaler, last


def _prepared(scaler: Any, last: Any, support: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, str]:
    """What stands in for missing values of these features, what is subtracted from them, what they are
    divided by, and the name of that.
    """
    fill, center, scale = last._how_prepared(support) if isinstance(last, Selector) else (None, None, None)
    own = getattr(last, "_scaling", None)
    if own == "none":
        center, scale = None, None
    if scaler is not None:
        if not (fill is None and center is None and scale is None):
            raise TypeError("a model file has one scaling; leave out the scaler, or scale and impute of the selector")
        center, scale, own = _of_scaler(scaler)
        center, scale = (None if part is None else part[support] for part in (center, scale))
    kind = own or ("none" if scale is None else "maxabs" if center is None else "standard")
    k = len(support)
    return fill, np.zeros(k) if center is None else center, np.ones(k) if scale is None else scale, kind


def _of_scaler(scaler: Any) -> tuple[Any, Any, str]:
    """What a scaler of scikit-learn subtracts and divides by, and the name of that."""
    if not isinstance(scaler, MinMaxScaler):
        center = scaler.mean_ if getattr(scaler, "with_mean", False) else None
        return center, scaler.scale_, SCALERS[type(scaler)]
    if scaler.clip:
        raise TypeError("a model file holds no scaling that cuts values; give MinMaxScaler clip=False")
    low, high = scaler.feature_range
    # As x * scale_ + min_, where a constant feature becomes the low end.
    return -scaler.min_ / scaler.scale_, 1.0 / scaler.scale_, _core.range_scaling(low, high)


def _imputation(selector: Any, names: list[str], fill: Any) -> dict[str, Any] | None:
    """What stands in for missing values."""
    if fill is None:
        return None
    each = {name: {"fill": float(value), "indicates": None} for name, value in zip(names, fill, strict=True)}
    return {"rule": selector.impute.replace("_", "-"), "features": each}


def _machines(classifier: Any, classes: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]], Any]:
    """The kernel, one machine for each pair of classes, positive for the second, and the support
    vectors.
    """
    pairs = list(combinations(classes, 2))
    if isinstance(classifier, LinearSVC) and len(pairs) > 1:
        raise TypeError("a model file has one machine for each pair of classes, LinearSVC one for each class; use SVC(kernel='linear')")
    if getattr(classifier, "_kernel", None) == "precomputed":
        raise TypeError("a model file has no kernel that was given as values, or is a function of the caller's own")
    sign = 1.0 if len(classes) == 2 else -1.0
    biases = (sign * classifier.intercept_).tolist()
    machines: list[dict[str, Any]] = [
        {"negative": a, "positive": b, "intercept": bias} for (a, b), bias in zip(pairs, biases, strict=True)
    ]
    coef = classifier.coef_ if isinstance(classifier, LinearSVC) else classifier._coef
    if coef is not None:
        for machine, weights in zip(machines, coef, strict=True):
            machine["weights"] = (sign * weights).tolist()
        return {"kernel": "linear"}, machines, None
    for machine, betas in zip(machines, classifier._pair_coef, strict=True):
        machine["coefficients"] = [[int(at), float(sign * betas[at])] for at in np.flatnonzero(betas)]
    vectors = classifier.support_vectors_
    parameters = {"kernel" if name == "kind" else name: value for name, value in classifier._kernel.items()}
    return parameters, machines, (vectors.toarray() if sp.issparse(vectors) else vectors).tolist()
