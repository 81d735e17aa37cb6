"""A selector fitted once for each of several sizes."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from fewest import _core
from fewest._auto_cost import with_costs
from fewest._engine import Listener, limits_of, warn_of_limit

if TYPE_CHECKING:
    from fewest._engine import Samples


def sizes_of(sizes: Any, p: int) -> list[int]:
    """Sizes as a list, ascending; an int is a range from 1."""
    if np.ndim(sizes) == 0 and not isinstance(sizes, Integral):
        raise ValueError(f"sizes is {sizes!r}, but must be an integer of at least 1, or several of them")
    wanted = list(range(1, int(sizes) + 1)) if np.ndim(sizes) == 0 else np.asarray(sizes).tolist()
    if not wanted or any(not isinstance(size, int) or isinstance(size, bool) or size < 1 for size in wanted):
        raise ValueError(f"sizes is {sizes!r}, but must be integers of at least 1")
    if wanted != sorted(set(wanted)):
        raise ValueError(f"sizes is {wanted}, but must be ascending, each once; give {sorted(set(wanted))}")
    if wanted[-1] > p:
        raise ValueError(f"sizes go up to {wanted[-1]}, but X has {p} features")
    return wanted


def fitted_path(selector: Any, samples: Samples, sizes: Any) -> list[Any]:
    """A fitted copy of the selector for each size; the selector was validated, and holds what
    depends on the samples.
    """
    p = samples.X.shape[1]
    if selector.n_features_to_select is not None or (selector.rules and selector.rules.max_features is not None):
        raise ValueError("sizes say how many features are selected; leave out n_features_to_select and max_features of the rules")
    wanted = sizes_of(sizes, p)
    selector.n_features_to_select = wanted[-1]
    rules = selector._rules(p)
    selector._kernel = selector._kernel_rule(samples, rules)
    chosen = with_costs(selector, samples, rules)
    limits = limits_of(chosen, chosen.time_limit, **chosen._search())
    to_select: Samples = selector._to_select(samples)
    answers = _core.path(
        *to_select.arguments,
        {**rules, "max_features": None},
        chosen._method_settings(samples, rules),
        wanted,
        limits,
        Listener(selector, samples).wanted,
        samples.tasks,
    )
    return [_fitted(selector, chosen, samples, answer) for answer in answers]


def _fitted(selector: Any, chosen: Any, samples: Samples, answer: dict[str, Any]) -> Any:
    """The selector of one size."""
    size = answer["max_features"]
    fitted = clone(selector).set_params(n_features_to_select=size)
    # What was learnt before any size: classes, names, the kernel, the cost.
    learnt = vars(selector).keys() - vars(fitted).keys()
    vars(fitted).update({name: vars(selector)[name] for name in learnt})
    warn_of_limit(fitted, answer, f"This is the best subset so far of at most {size} features.")
    fitted._set_results({"proof": False, **answer}, samples.X.shape[1])
    fitted._keep_classifier(chosen, samples, answer)
    return fitted
