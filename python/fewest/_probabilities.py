"""From decision values to the probability of each class."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

#: Probabilities of a pair stay this far from 0 and 1, as LIBSVM's do.
EDGE = 1e-7


def second(calibration: dict[str, Any], decision: np.ndarray) -> np.ndarray:
    """Probability of the second of two classes: by a sigmoid, or linear between values."""
    if "a" in calibration:
        return expit(calibration["a"] * decision + calibration["b"])
    return np.interp(decision, calibration["decisions"], calibration["probabilities"])


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
    if "pairs" not in probabilities:
        of_second = second(probabilities, decision[:, 0])
        return np.column_stack([1.0 - of_second, of_second])
    return coupled(np.column_stack([second(pair, decision[:, at]) for at, pair in enumerate(probabilities["pairs"])]), n_classes)


def coupled(of_second: np.ndarray, n_classes: int) -> np.ndarray:
    """Probability of each class from that of the second class in each pair, by the second method of Wu,
    Lin and Weng (JMLR 5, 2004), as LIBSVM's but without its tolerance.

    Parameters
    ----------
    of_second : ndarray of shape (n_samples, n_pairs)
        Pairs in the order (0,1), (0,2), ..., (1,2), ...
    n_classes : int
        How many classes there are.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        One column for each class.
    """
    n, k = len(of_second), n_classes
    # Q p + b e = 0, e'p = 1 with Q_ii = sum_s r_si^2, Q_ij = -r_ji r_ij.
    left = np.zeros((n, k + 1, k + 1))
    left[:, :k, k] = left[:, k, :k] = 1.0
    for pair, (a, b) in enumerate(combinations(range(k), 2)):
        of_b = np.clip(of_second[:, pair], EDGE, 1.0 - EDGE)
        of_a = 1.0 - of_b
        left[:, a, a] += of_b**2
        left[:, b, b] += of_a**2
        left[:, a, b] = left[:, b, a] = -of_a * of_b
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    found = np.maximum(np.linalg.solve(left, right)[:, :k, 0], 0.0)
    return found / found.sum(axis=1, keepdims=True)


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
