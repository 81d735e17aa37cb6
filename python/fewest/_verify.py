"""A proof file checked against arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewest import _core
from fewest._engine import coded_tasks, is_elsewhere, limits_of, validated
from fewest._several import PROBLEMS


@dataclass(frozen=True)
class Verification:
    """What :func:`verify` found; true where the proof is verified.

    Parameters
    ----------
    verified : bool
        Whether the file proves its claims about the data, and a bound of all subsets that the rules
        allow is one of them.
    reason : str or None
        The first fault, with the record of the file that holds it, or why the verdict is not more.
    selected : ndarray of int or None
        Indices of the best subset that the file lists.
    objective : float or None
        The objective of its SVM, prices of features included, is at most this; its alignment, for a
        proof of :class:`AlignmentSelector`, is at least this.
    bound : float or None
        No subset that the rules allow has a smaller objective, or a larger alignment. None where
        nothing is proven, or where no subset is allowed.
    gap : float or None
        ``abs(objective - bound) / objective``.
    solutions : list of (ndarray of int, float, float or None)
        Each listed subset, with the objective and the bound proven for it.
    rest : float or None
        No subset that is not listed has a better objective; None where no other is allowed, or nothing
        is proven of it.
    status : str or None
        What the file says of the run; it is not checked, and nothing rests on it.
    n_points, n_parts : int
        Dual points (models of alignments) in the file, and parts of all subsets that they close.
    verdict : {"verified", "objective_only", "nothing", "not_verified", "stopped"}
        What is proven: a bound; objectives of listed subsets, but nothing of others; nothing; the file
        has a fault; it asks for more work than a file of its size may.
    """

    verified: bool
    reason: str | None = None
    selected: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    solutions: list[tuple[np.ndarray, float, float | None]] | None = None
    rest: float | None = None
    status: str | None = None
    n_points: int = 0
    n_parts: int = 0
    verdict: str = "not_verified"

    def __bool__(self) -> bool:
        return self.verified


def verify(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    class_weight: dict[Any, float] | str | None = None,
    multi_class: str = "ovo",
    tasks: Any = None,
    memory: int = 1 << 30,
    n_jobs: int | None = None,
) -> Verification:
    """Check a proof file against the data, by a program that shares no code with the searches.

    Parameters
    ----------
    path : str or path-like
        The file that a selector wrote (``proof=``), or ``fewest select --proof``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples as the method saw them: what ``fit`` was given, or, for a proof of the command, the
        scaled features.
    y : array-like of shape (n_samples,)
        The class of each sample; as many classes as there were in ``fit``.
    sample_weight : array-like of shape (n_samples,), default=None
        What ``fit`` was given.
    class_weight : dict, "balanced" or None, default=None
        That of the selector.
    multi_class : {"ovo", "ovr"}, default="ovo"
        That of the selector, where there are more classes than two.
    tasks : array-like of shape (n_samples,), default=None
        What ``fit`` was given.
    memory : int, default=1 GiB
        Bytes that the rules and the open part of the proof may take.
    n_jobs : int, default=None
        Threads, as a selector counts them; the verdict does not depend on them.

    Returns
    -------
    verification : Verification
        What was proven, or the first fault.

    Raises
    ------
    OSError
        The file cannot be opened.
    ValueError
        It is no proof file, or X, y or a weight is out of range, or y has more than two classes and the
        proof is not about as many.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_classification
    >>> from fewest import ExactSelector, verify
    >>> X, y = make_classification(n_features=8, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     selector = ExactSelector(n_features_to_select=2, proof=folder + "/best.proof").fit(X, y)
    ...     verification = verify(selector.proof_, X, y)
    >>> verification.verified, verification.gap < 1e-3
    (True, True)
    """
    if is_elsewhere(X):
        raise TypeError("verify needs the samples in memory; give an array, such as X.compute() of a Dask collection")
    # A name for messages.
    who = type("verify", (BaseEstimator,), {"n_jobs": n_jobs})()
    samples = validated(who, X, y, sample_weight, class_weight, False)
    if multi_class not in PROBLEMS:
        raise ValueError(f"multi_class is {multi_class!r}, but must be 'ovo' or 'ovr'")
    codes = None if tasks is None else coded_tasks(samples, X, tasks)[1]
    found = _core.verify(os.fspath(path), *samples.arguments, memory, limits_of(who, None), PROBLEMS[multi_class], codes)
    if "solutions" not in found:
        return Verification(False, found["reason"], verdict=found["verdict"])

    def indices(features: Any) -> np.ndarray:
        return np.asarray(features, dtype=np.intp)

    same = {name: found[name] for name in ("reason", "objective", "bound", "gap", "rest", "status", "verdict")}
    return Verification(
        found["verified"],
        selected=None if found["selected_indices"] is None else indices(found["selected_indices"]),
        solutions=[(indices(one["selected_indices"]), one["objective"], one["bound"]) for one in found["solutions"]],
        n_points=found["counts"]["points"],
        n_parts=found["counts"]["parts"],
        **same,
    )
