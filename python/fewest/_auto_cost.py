"""``C="auto"``: the slack cost chosen by cross-validation of the samples that a selector is fitted on."""

from __future__ import annotations

from copy import copy
from time import monotonic
from typing import Any

import numpy as np

from fewest import _core
from fewest._engine import Samples, bias_of, limits_of, svm_of, weights_in
from fewest._folds import dealt
from fewest._parameters import value_of

#: Folds, where each class has this many samples, or with groups is in this many of them, and how often they are dealt.
FOLDS, REPEATS = 5, 2
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
    fewest = int(np.bincount(samples.codes).min())
    if fewest < 2:
        raise ValueError(
            f'C="auto" holds out samples of each class, but a class has {fewest} only; add samples, or give a number for C'
        )
    if samples.groups is not None:
        fewest = min(len(np.unique(samples.groups[samples.codes == code])) for code in range(int(samples.codes.max()) + 1))
        if fewest < 2:
            raise ValueError(
                'C="auto" holds out groups with samples of each class, but a class is in one group only; add groups, give a number, '
                "or leave groups out"
            )
    folds = dealt(samples.codes, min(FOLDS, fewest), REPEATS, 0, groups=samples.groups)
    if samples.groups is not None:
        # Groups may keep all samples of a class together, more so than samples one by one.
        folds = [fold for fold in folds if len(np.unique(samples.codes[fold[0]])) == len(np.unique(samples.codes))]
    splits = [(train.tolist(), test.tolist()) for train, test in folds]
    split_weights = [weights_in(samples, selector.class_weight, np.asarray(train)) for train, _ in splits]
    methods = []
    costs, fit_costs = _core.costs(samples.matrix, samples.sample_weight, rules["max_features"])
    if selector._tags.l1_cost:
        costs = _core.l1_costs(samples.matrix, samples.codes, samples.sample_weight)
    if not hasattr(selector, "fit_C"):  # it ends with its own classifier
        fit_costs = []
    for cost in costs:
        at_cost = copy(selector)
        at_cost.C = cost
        svm = svm_of(cost, value_of(selector, "loss"), bias_of(selector), TOLERANCE)
        methods.append((cost, at_cost._method(samples, rules), svm))
    fit_C = value_of(selector, "fit_C")
    half = None if selector.time_limit is None else selector.time_limit / 2
    limits = limits_of(selector, half)
    choice = _core.choose_cost(*samples.arguments, rules, methods, splits, split_weights, fit_costs, fit_C, limits)
    selector.cost_choice_, selector.C_ = choice, choice["cost"]
    chosen = copy(selector)
    chosen.C = choice["cost"]
    if hasattr(selector, "fit_C"):
        chosen.fit_C = selector.fit_C_ = choice["fit_cost"] if fit_C is None else fit_C
    if selector.time_limit is not None:
        chosen.time_limit = max(selector.time_limit - (monotonic() - begun), 0.0)
    return chosen
