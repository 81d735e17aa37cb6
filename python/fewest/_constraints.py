"""What values parameters may have, in the form of scikit-learn's validation, and how estimators
take them.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

from fewest._rules import Rules

Init = TypeVar("Init", bound=Callable[..., None])

COST = [Interval(Real, 0.0, None, closed="neither")]
COST_OR_AUTO = [*COST, StrOptions({"auto"})]
SHARE = [Interval(Real, 0.0, 1.0, closed="left")]
TOLERANCE = [Interval(Real, 0.0, 1.0, closed="neither")]
AT_LEAST_ONE = [Interval(Integral, 1, None, closed="left")]
PRICES = ["array-like", Interval(Real, 0.0, None, closed="left"), dict, None]
PRICES_OR_AUTO = [*PRICES, StrOptions({"auto"})]
#: Parameters that mean the same in every estimator, by name.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [*AT_LEAST_ONE, None],
    "rules": [Rules, None],
    "C": COST,
    "fit_C": [*COST, None],
    "feature_penalty": PRICES,
    "n_solutions": [*AT_LEAST_ONE, None],
    "within": [Interval(Real, 0.0, None, closed="left"), None],
    "weight_bound": [*COST, None],
    "plain": ["boolean"],
    "gap": [Interval(Real, 0.0, None, closed="left")],
    "node_limit": [*AT_LEAST_ONE, None],
    "proof": [str, os.PathLike, None],
    "lp": [StrOptions({"simplex", "interior"})],
    "max_iter": AT_LEAST_ONE,
    "Cs": ["array-like"],
    "cv": ["cv_object"],
    "kernel": [StrOptions({"linear", "rbf", "laplace", "poly", "sigmoid"})],
    "categorical_features": ["array-like", None],
    # Of texts the engine says which it takes.
    "gamma": [str, *COST],
    "degree": AT_LEAST_ONE,
    "coef0": [Interval(Real, None, None, closed="neither")],
    "criterion": [StrOptions({"auto", "weights", "margin", "input_weights"})],
    "loss": [StrOptions({"hinge", "squared_hinge"})],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [*COST, None],
    "tol": TOLERANCE,
    "class_weight": [StrOptions({"balanced", "cw2", "cw3"}), dict, None],
    "time_limit": [Interval(Real, 0.0, None, closed="left"), None],
    "resume": [str, PathLike, None],
    "resume_every": [Interval(Real, 0.0, None, closed="left")],
    "on_interrupt": [StrOptions({"raise", "keep"})],
    "callback": [callable, None],
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
    "max_memory": [*AT_LEAST_ONE, str, None],
}
#: Most subsets that ``within`` lists where ``n_solutions`` does not say it.
MOST_WITHIN = 1000
#: Relative duality gap of a training where a selector has no parameter for it; as the library has it.
TOL = 1e-6
#: Features that a method without a size of its own selects by default.
FEW = 5


def complete_constraints(cls: Any) -> None:
    """Put the constraints that a class shares with others beside its own."""
    own = vars(cls).get("_parameter_constraints", {})
    names = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
    cls._parameter_constraints = {name: own.get(name) or CONSTRAINTS[name] for name in names}


def stores_arguments(init: Init) -> Init:
    """An ``__init__`` of keyword arguments and without a body that stores each of them under its
    name.
    """
    parameters = list(inspect.signature(init).parameters.values())[1:]
    defaults = {parameter.name: parameter.default for parameter in parameters}

    @functools.wraps(init)
    def store(self: Any, **given: Any) -> None:
        # Refuses unknown arguments.
        init(self, **given)
        vars(self).update(defaults | given)

    return store  # type: ignore[return-value]
