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
