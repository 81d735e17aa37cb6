"""``C="auto"``: the slack cost chosen by cross-validation of the samples that a selector is fitted on."""

from __future__ import annotations

from copy import copy
from time import monotonic
from typing import Any

from fewest import _core
from fewest._engine import Samples, bias_of, class_weights, limits_of, svm_of
from fewest._parameters import value_of

#: Relative duality gap of a training that is only judged.
TOLERANCE = 1e-6


def check_one_choice(selector: Any) -> None:
    """Raise where both the cost and the size are to be chosen by cross-validation."""
    if selector.C == "auto" and selector.cv is not None:
        name = type(selector).__name__
        raise ValueError(f'C is "auto" and cv is {selector.cv!r}, but {name} chooses either the cost or the size; give a number for C')


def with_costs(selector: Any, samples: Samples, rules: dict[str, Any]) -> Any:
    """The selector with numbers in place of "auto"; sets ``C_``, ``fit_C_`` and
    ``cost_choice_``.
    """
    for name in ("C_", "fit_C_", "cost_choice_"):
        vars(selector).pop(name, None)
    if value_of(selector, "C") != "auto":
        return selector
    name, begun = type(selector).__name__, monotonic()
    if not isinstance(samples, Samples):
        raise TypeError(f'C is "auto", but {name} chooses it from samples in memory only; give a number, or an array for X')

    def at_cost(cost: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """The method and the SVM at this cost."""
        tried = copy(selector)
        tried.C = cost
        return tried._method(samples, rules), svm_of(cost, value_of(selector, "loss"), bias_of(selector), TOLERANCE)

    # Without fit_C it ends with its own classifier.
    fit_C = value_of(selector, "fit_C")
    about = {
        "rules": rules,
        "class_weight": _class_weight(selector.class_weight, samples),
        "fit_cost": fit_C,
        "has_own_classifier": not hasattr(selector, "fit_C"),
    }
    half = None if selector.time_limit is None else selector.time_limit / 2
    classes = [str(name) for name in samples.classes]
    arguments = (samples.matrix, samples.codes, samples.sample_weight, classes)
    choice = _core.choose_cost(*arguments, about, at_cost, limits_of(selector, half), samples.groups)
    selector.cost_choice_, selector.C_ = choice, choice["cost"]
    chosen = copy(selector)
    chosen.C = choice["cost"]
    if hasattr(selector, "fit_C"):
        chosen.fit_C = selector.fit_C_ = choice["fit_cost"] if fit_C is None else fit_C
    if selector.time_limit is not None:
        chosen.time_limit = max(selector.time_limit - (monotonic() - begun), 0.0)
    return chosen


def _class_weight(class_weight: Any, samples: Samples) -> Any:
    """Weights of classes as the library has them."""
    if class_weight is None or isinstance(class_weight, str):
        return {None: "none", "cw2": "inverse", "cw3": "softened"}.get(class_weight, class_weight)
    return {"each": class_weights(class_weight, samples.classes, samples.codes, samples.sample_weight).tolist()}
