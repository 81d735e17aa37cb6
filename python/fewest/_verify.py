"""A proof file checked against arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fewest import _core
from fewest._columns import label_texts
from fewest._engine import bias_from, coded_tasks, limits_of, refuse_elsewhere, validated
from fewest._functions import under_name
from fewest._rules import Rules, _Index
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
    baseline : float or None
        The objective without features is at least this; 0 for alignments.
    gap : float or None
        The share of what features can gain over none that the best subset leaves out at most:
        ``(objective - bound) / (baseline - bound)``.
    objective_gap : float or None
        ``abs(objective - bound) / abs(objective)``.
    solutions : list of (ndarray of int, float, float or None)
        Each listed subset, with the objective and the bound proven for it.
    rest : float or None
        No subset that is not listed has a better objective; None where no other is allowed, or nothing
        is proven of it.
    own : dict or None
        The listed subset of which the file says that ``method`` chose it (a certificate's), or that it
        was to be judged: ``selected``, ``selected_indices``, ``objective``.
    status : str or None
        What the file says of the run; it is not checked, and nothing rests on it.
    n_points, n_parts : int
        Dual points (models of alignments) in the file, and parts of all subsets that they close.
    verdict : {"verified", "objective_only", "nothing", "not_within", "other_question", "not_verified", "stopped"}
        What is proven: a bound; objectives of listed subsets, but nothing of others; nothing; a bound,
        with a gap above the one asked for; something else than was asked; the file has a fault; it asks
        for more work than a file of its size may.
    question : dict or None
        Which question the proof answers, from its checked header and the data: objective, rules,
        samples by class, with the keys of docs/formats/verdict.md. Features that X does not name are x1, x2, ...
        None where the file has a fault.
    differences : list of dict
        Where that is not what was asked: ``key``, what the ``file`` says, what is ``asked`` and ``by``
        whom ("typed", "result" or "default").
    """

    verified: bool
    reason: str | None = None
    selected: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None
    baseline: float | None = None
    gap: float | None = None
    objective_gap: float | None = None
    solutions: list[tuple[np.ndarray, float, float | None]] | None = None
    rest: float | None = None
    own: dict[str, Any] | None = None
    status: str | None = None
    n_points: int = 0
    n_parts: int = 0
    verdict: str = "not_verified"
    question: dict[str, Any] | None = None
    differences: list[dict[str, Any]] = field(default_factory=list)

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
    as_: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    strict: bool = False,
    gap: float | None = None,
    method: str | None = None,
    n_features_to_select: int | None = None,
    rules: Rules | None = None,
    C: float | None = None,
    loss: str | None = None,
    fit_intercept: bool | None = None,
    intercept_scaling: float | None = None,
    feature_penalty: Any = None,
    weight_bound: float | None = None,
    kernel: str | None = None,
    gamma: float | None = None,
    categorical_features: Any = None,
    max_memory: int = 1 << 30,
    n_jobs: int | None = None,
) -> Verification:
    """Check a proof file against the data, by a program that shares no code with the searches.

    The proof says which question it answers, and ``question`` of the verification has it. What is
    asked here is held against it: where it is something else, the proof is not verified.

    Parameters
    ----------
    path : str or path-like
        The file that a selector wrote (``proof=``), or ``fewest select --proof``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples as the method saw them: what ``fit`` was given, or, for a proof of the command, the
        scaled features.
    y : array-like of shape (n_samples,)
        The class of each sample; as many classes as there were in ``fit``. For a proof of the command that was
        made with ``--positive``, labels of which the positive one sorts last.
    sample_weight : array-like of shape (n_samples,), default=None
        What ``fit`` was given.
    class_weight : dict, "balanced" or None, default=None
        That of the selector.
    multi_class : {"ovo", "ovr"}, default="ovo"
        That of the selector, where there are more classes than two.
    tasks : array-like of shape (n_samples,), default=None
        What ``fit`` was given.
    as_ : path-like or mapping, default=None
        A result of ``fewest select --json``, or its file: all that its settings say of the objective
        and the rules is asked, and that the proof lists the subset that it selected.
    strict : bool, default=False
        What is not asked has its default: C = 1, the hinge loss, a free bias, no rules, no prices.
        Otherwise it is as the proof says.
    gap : float, default=None
        Not verified unless both gaps proven, of the gain and of the objective, are at most this.
    method : str, default=None
        Name of the command's method whose objective is asked for: "exact", "mbp", "kta".
    n_features_to_select : int, default=None
        At most this many features are asked for.
    rules : Rules, default=None
        These rules are asked for; kinds that are empty are not, but with ``strict``.
    C, loss, fit_intercept, intercept_scaling, feature_penalty, weight_bound : default=None
        As of the selector; None: not asked.
    kernel, gamma, categorical_features : default=None
        Those of a proof of :class:`AlignmentSelector`, gamma as a number; None: not asked.
    max_memory : int, default=1 GiB
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
        proof is not about as many; what is asked is out of range or contradicts itself.

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
    >>> verification.question["cost"], verification.question["max_features"]
    (1.0, 2)
    """
    refuse_elsewhere(X, "verify needs")
    who = under_name("verify", n_jobs=n_jobs)()
    samples = validated(who, X, y, sample_weight, class_weight, False)
    if multi_class not in PROBLEMS:
        raise ValueError(f"multi_class is {multi_class!r}, but must be 'ovo' or 'ovr'")
    codes = None if tasks is None else coded_tasks(samples, X, tasks)[1]
    names = getattr(who, "feature_names_in_", None)
    about = {
        "multi_class": PROBLEMS[multi_class],
        "names": [] if names is None else [str(name) for name in names],
        "classes": label_texts(samples.classes),
    }
    if loss not in (None, "hinge", "squared_hinge"):
        raise ValueError(f"loss is {loss!r}, but must be 'hinge' or 'squared_hinge'")
    has_bias = fit_intercept is not None or intercept_scaling is not None
    problem = {
        "method": method,
        "cost": None if C is None else float(C),
        "loss": None if loss is None else loss.replace("_", "-"),
        "bias": bias_from(fit_intercept is not False, intercept_scaling) if has_bias else None,
        "weight_bound": None if weight_bound is None else float(weight_bound),
        "kernel": kernel,
        "gamma": None if gamma is None else float(gamma),
    }
    asked: dict[str, Any] = {key: value for key, value in problem.items() if value is not None}
    index = _Index(who.n_features_in_, names, "feature_penalty")
    if isinstance(feature_penalty, str):
        raise ValueError(
            f"feature_penalty is {feature_penalty!r}, but a proof is of numbers; give feature_penalty_ of the selector that wrote it"
        )
    if feature_penalty is not None:
        asked["penalty"] = index.numbers(feature_penalty, "feature_penalty")
    if categorical_features is not None:
        asked["categorical"] = index.all(categorical_features)
    size = n_features_to_select if rules is None or n_features_to_select is not None else rules.max_features
    asked["rules"] = (rules or Rules())._resolved(who.n_features_in_, names, size)
    # What the arrays were made by.
    prepared = [("multi_class", PROBLEMS[multi_class]), ("tasks", "tasks")][: 1 + (tasks is not None)]
    request = {"asked": asked, "result": _result(as_), "strict": strict, "gap": gap, "prepared": prepared}
    found = _core.verify(os.fspath(path), *samples.arguments, max_memory, limits_of(who, None), about, request, codes)
    question, differences = found.get("question"), found["differences"]
    if "solutions" not in found:
        return Verification(False, found["reason"], verdict=found["verdict"], question=question, differences=differences)

    def indices(features: Any) -> np.ndarray:
        return np.asarray(features, dtype=np.intp)

    same = {
        name: found[name]
        for name in ("reason", "objective", "bound", "baseline", "gap", "objective_gap", "rest", "status", "verdict", "own")
    }
    return Verification(
        found["verified"],
        selected=None if found["selected_indices"] is None else indices(found["selected_indices"]),
        solutions=[(indices(one["selected_indices"]), one["objective"], one["bound"]) for one in found["solutions"]],
        n_points=found["counts"]["points"],
        n_parts=found["counts"]["parts"],
        question=question,
        differences=differences,
        **same,
    )


def _result(as_: Any) -> Any:
    """The result that is asked for."""
    if as_ is None or isinstance(as_, Mapping):
        return None if as_ is None else dict(as_)
    with open(as_, encoding="utf-8") as file:
        return json.load(file)
