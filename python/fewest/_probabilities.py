"""From decision values to the probability of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewest import _core


def of_classes(probabilities: dict[str, Any], decision: np.ndarray, n_classes: int) -> np.ndarray:
    """Probability of each class.

    Parameters
    ----------
    probabilities : dict
        As a model file has it: of two classes a calibration, of more ``pairs``, one for each.
    decision : ndarray of shape (n_samples, n_pairs)
        Decision values, positive for the second of a pair.
    n_classes : int
        How many classes there are.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        One column for each class.
    """
    flat = np.ascontiguousarray(decision, dtype=np.float64).ravel()
    return _core.class_probabilities(probabilities, flat).reshape(-1, n_classes)


def agreeing(probabilities: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Probabilities whose largest is that of the class predicted: where others are larger, these and
    that one get their mean.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        One column for each class.
    predicted : ndarray of shape (n_samples,)
        The column of the class predicted of each sample.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        The same where the two agree.
    """
    out = probabilities.copy()
    for i in np.flatnonzero(out.argmax(axis=1) != predicted):
        own, pool = predicted[i], [predicted[i]]
        for other in np.argsort(-out[i], kind="stable"):
            if out[i, other] <= out[i, pool].mean():
                break
            pool.append(other)
        mean = out[i, pool].mean()
        out[i, pool] = mean
        # The next number above it has its class by argmax, too.
        out[i, own] = np.nextafter(mean, 1.0)
    return out
