"""The class of two that measures are of."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_first(pos_label: Any, classes: np.ndarray) -> bool:
    """Whether the positive class is the first of two; it is the second without being asked for.

    Parameters
    ----------
    pos_label : object
        The class that is positive; None: the second.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.

    Returns
    -------
    first : bool
        Whether codes have to change places.
    """
    if pos_label is None:
        return False
    known = classes.tolist()
    if pos_label not in known:
        raise ValueError(f"pos_label is {pos_label!r}, but must be one of the classes {known}")
    if len(known) != 2:
        raise ValueError(f"pos_label is {pos_label!r}, the positive class of two, but there are {len(known)}: {known}; leave it out")
    return bool(known[0] == pos_label)


def of_second(answer: dict[str, Any]) -> dict[str, Any]:
    """What the engine says of a study whose two classes had changed places, with decision values that speak for
    the second class again. What concerns the positive class stays: measures, thresholds of the probability,
    the probabilities of samples; so does ``panel["model"]``, whose classes are those of the engine.

    Parameters
    ----------
    answer : dict
        What ``_core.study`` returns.

    Returns
    -------
    answer : dict
        The same.
    """
    for of in (of for fold in answer["folds"] for of in (fold, fold["other"]) if of is not None):
        judged = of["judgement"]
        judged["predicted"] = [1 - code for code in judged["predicted"]]
        judged["confusion"] = [row[::-1] for row in judged["confusion"][::-1]]
    answer["recall"] = answer["recall"][::-1]
    if (panel := answer["panel"]) is None:
        return answer
    if panel["threshold"] is not None:
        panel["threshold"]["value"] *= -1.0
        panel["threshold"]["trained_intercept"] *= -1.0
    if (known := panel["calibration"]) is None:
        return answer
    if "b" in known:
        # One less the sigmoid of -f.
        known["b"] = -known["b"]
    else:
        known["decisions"] = [-f for f in known["decisions"][::-1]]
        known["probabilities"] = [1.0 - p for p in known["probabilities"][::-1]]
    return answer


def turned_bounds(bounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bounds on weights where the two classes change places.

    Parameters
    ----------
    bounds : list of dict
        As rules give them to the engine.

    Returns
    -------
    bounds : list of dict
        Of weights with the other sign.
    """

    def turned(end: float | None) -> float | None:
        return None if end is None else -end

    return [bound | {"lower": turned(bound.get("upper")), "upper": turned(bound.get("lower"))} for bound in bounds]
