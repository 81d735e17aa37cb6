"""Synthetic data of the papers, with a known truth, and column files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest import _core
from fewest._columns import ColumnFile, label_texts
from fewest._docs import completes_data_doc
from fewest._engine import validated
from fewest._functions import under_name

__all__ = ["ColumnFile", "dump_columns", "make_composite", "make_correlated", "make_hyperplane", "make_ndcc", "make_text"]


def _made(kind: dict[str, Any], n_samples: int, part: str, return_truth: bool) -> Any:
    found = _core.generate({name: value for name, value in kind.items() if value is not None}, part, int(n_samples))
    X, y = found["x"], 2 * found["codes"].astype(np.int64) - 1
    if isinstance(X, tuple):
        n, starts, rows, values = X
        X = sp.csc_array((values, rows, starts), shape=(n, len(starts) - 1))
    return (X, y, found["support"], found["weights"]) if return_truth else (X, y)


@completes_data_doc
def make_ndcc(
    n_samples: int = 100,
    n_features: int = 20,
    n_informative: int = 3,
    *,
    expansion: float = 25.0,
    random_state: int = 1,
    part: str = "training",
    return_truth: bool = False,
) -> Any:
    """Normal clusters on cubes (NDCC), for non-linear classifiers, among standard normal features.

    The same numbers as ``fewest generate ndcc``, on every machine.

    Parameters
    ----------
    n_informative : int, default=3
        Features that matter; which ones is random.
    expansion : float, default=25.0
        How wide the clusters are; their centres lie 100, 300 and 500 from the origin.

    Examples
    --------
    >>> from fewest.datasets import make_ndcc
    >>> X, y, support, _ = make_ndcc(return_truth=True)
    >>> X.shape, len(support)
    ((100, 20), 3)
    """
    settings = {"features": n_features, "relevant": n_informative, "expansion": float(expansion)}
    return _made({"kind": "ndcc", **settings, "seed": random_state}, n_samples, part, return_truth)


@completes_data_doc
def make_hyperplane(
    n_samples: int = 100,
    n_features: int = 20,
    n_informative: int = 5,
    *,
    points: str = "ball",
    coefficients: str = "normal",
    noise: float = 0.0,
    random_state: int = 1,
    part: str = "training",
    return_truth: bool = False,
) -> Any:
    """Random points, labelled by the side of a hyperplane with few coefficients that are not 0.

    The same numbers as ``fewest generate hyperplane``, on every machine.

    Parameters
    ----------
    n_informative : int, default=5
        Coefficients that are not 0; which ones is random.
    points : {"ball", "normal"}, default="ball"
        Uniform in the ball of radius 1, or each feature standard normal.
    coefficients : {"normal", "signs"}, default="normal"
        Standard normal, or +1 and -1.
    noise : float, default=0.0
        Standard deviation of what is added to ``w.x`` before its sign is taken.

    Examples
    --------
    >>> from fewest.datasets import make_hyperplane
    >>> X, y, support, weights = make_hyperplane(return_truth=True)
    >>> bool(((X @ weights > 0) == (y > 0)).all())
    True
    """
    _among("points", points, ("ball", "normal"))
    _among("coefficients", coefficients, ("normal", "signs"))
    settings = {"features": n_features, "relevant": n_informative, "noise_sd": float(noise)}
    choices = {"points": points, "coefficients": coefficients}
    return _made({"kind": "hyperplane", **settings, **choices, "seed": random_state}, n_samples, part, return_truth)


@completes_data_doc
def make_composite(
    n_samples: int = 100,
    n_noise: int = 20,
    *,
    pair_shift: float = 0.4,
    correlation: float = 0.9,
    single_shift: float = 0.7,
    random_state: int = 1,
    part: str = "training",
    return_truth: bool = False,
) -> Any:
    """Two features that tell the classes apart only together, one that does alone, and noise.

    The same numbers as ``fewest generate composite``, on every machine.

    Parameters
    ----------
    n_noise : int, default=20
        Features of noise; there are three more.
    pair_shift : float, default=0.4
        Distance of the class means of the two features from 0.
    correlation : float, default=0.9
        Correlation of the two in each class, at least 0 and below 1.
    single_shift : float, default=0.7
        Distance of the class means of the third from 0.

    Examples
    --------
    >>> from fewest.datasets import make_composite
    >>> X, y = make_composite()
    >>> X.shape
    (100, 23)
    """
    shifts = {"pair_shift": float(pair_shift), "correlation": float(correlation), "single_shift": float(single_shift)}
    return _made({"kind": "composite", "noise": n_noise, **shifts, "seed": random_state}, n_samples, part, return_truth)


@completes_data_doc
def make_correlated(
    n_samples: int = 100,
    n_features: int = 20,
    n_informative: int = 5,
    *,
    correlation: float = 0.9,
    snr: float = 5.0,
    random_state: int = 1,
    part: str = "training",
    return_truth: bool = False,
) -> Any:
    """Normal features whose correlation falls with their distance, few of them informative.

    The same numbers as ``fewest generate correlated``, on every machine.

    Parameters
    ----------
    n_informative : int, default=5
        Features of weight 1, at equal distances; the others have weight 0.
    correlation : float, default=0.9
        Correlation of neighbours, at least 0 and below 1; features d apart have its d-th power.
    snr : float, default=5.0
        Variance of ``w.x`` over that of the noise added to it before its sign is taken; infinite for no noise.

    Examples
    --------
    >>> from fewest.datasets import make_correlated
    >>> X, y, support, weights = make_correlated(return_truth=True)
    >>> support.tolist()
    [3, 7, 11, 15, 19]
    """
    settings = {"features": n_features, "relevant": n_informative, "correlation": float(correlation), "snr": float(snr)}
    return _made({"kind": "correlated", **settings, "seed": random_state}, n_samples, part, return_truth)


@completes_data_doc
def make_text(
    n_samples: int = 100,
    n_features: int = 1000,
    n_informative: int | None = None,
    *,
    length: int = 455,
    topical: int | None = None,
    leak: float = 0.35,
    exponent: float = 0.85,
    random_state: int = 1,
    part: str = "training",
    return_truth: bool = False,
) -> Any:
    """A sparse bag of words with Zipf frequencies and planted informative words.

    The same numbers as ``fewest generate text``, on every machine.

    Parameters
    ----------
    n_features : int, default=1000
        Words; the first one is the commonest.
    n_informative : int, default=None
        Informative words. None: 200, or ``n_features`` if that is less.
    length : int, default=455
        Words drawn for a document, repeats included.
    topical : int, default=None
        Draws of a document that are of informative words. None: 12, or ``length`` if that is less.
    leak : float, default=0.35
        Probability that a word leaning to the other class is kept.
    exponent : float, default=0.85
        How fast frequencies fall with the rank.

    Examples
    --------
    >>> from fewest.datasets import make_text
    >>> X, y = make_text(n_samples=50, n_features=300)
    >>> X.shape
    (50, 300)
    """
    settings = {
        "words": n_features,
        "length": length,
        "relevant": min(200, n_features) if n_informative is None else n_informative,
        "topical": min(12, length) if topical is None else topical,
        "leak": float(leak),
        "exponent": float(exponent),
    }
    return _made({"kind": "text", **settings, "seed": random_state}, n_samples, part, return_truth)


def _among(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}, but must be one of {list(known)}")


def dump_columns(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target_name: str = "y",
) -> None:
    """Write a column file, which :class:`fewest.ColumnFile` maps.

    Parameters
    ----------
    path : str or path-like
        The file; its name ends with ``.csc``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels; classes are kept by name.
    feature_names : sequence of str, default=None
        Names of the features. None: those of a data frame, else x1, x2, ...
    target_name : str, default="y"
        Name of the labels.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from fewest import ColumnFile
    >>> from fewest.datasets import dump_columns
    >>> with TemporaryDirectory() as folder:
    ...     dump_columns(folder + "/small.csc", [[0, 1], [2, 0]], ["no", "yes"])
    ...     ColumnFile(folder + "/small.csc").target.tolist()
    ['no', 'yes']
    """
    place = os.fspath(path)
    if not place.endswith(".csc"):
        raise ValueError(f"path is {place!r}, but must end with .csc")
    who = under_name("dump_columns")()
    samples = validated(who, X, y, None, None, False)
    names = getattr(who, "feature_names_in_", None) if feature_names is None else feature_names
    if names is not None and len(names) != samples.X.shape[1]:
        raise ValueError(f"feature_names has {len(names)} names, but X has {samples.X.shape[1]} features")
    listed = None if names is None else [str(name) for name in names]
    classes = label_texts(samples.classes)
    _core.write_columns(place, samples.matrix, samples.codes, classes, target_name, listed)
