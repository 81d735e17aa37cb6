"""Missing values and scales, learnt from some samples and applied to these and to others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest import _core


class Preparation:
    """What was learnt of every feature.

    Parameters
    ----------
    fill : ndarray of shape (n_features,) or None
        Put in place of NaN.
    center, scale : ndarray of shape (n_features,) or None
        Subtracted, and divided by then. None: 0, and 1.
    """

    def __init__(self, fill: Any, center: Any, scale: Any) -> None:
        self.fill, self.center, self.scale = (None if part is None else np.asarray(part) for part in (fill, center, scale))

    @classmethod
    def learnt(cls, matrix: Any, sample_weight: np.ndarray, how: dict[str, Any]) -> Preparation:
        """From a matrix as the engine takes it, how many samples each counts as, and what is to be done."""
        return cls(**_core.preparation(matrix, np.ascontiguousarray(sample_weight), how))

    def part(self, support: np.ndarray) -> Preparation:
        """That of some features."""
        parts = (self.fill, self.center, self.scale)
        return Preparation(*(None if part is None else part[support] for part in parts))

    def apply(self, X: Any) -> Any:
        """Samples as they are trained on, a copy in double precision."""
        values: Any
        # The feature of each value.
        at: Any
        if sp.issparse(X) and self.center is not None and self.center.any():
            X = X.toarray()
        if sp.issparse(X):
            X = X.tocsc().astype(np.float64, copy=True)
            values, at = X.data, np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        else:
            X = np.array(X, dtype=np.float64, order="F")
            values, at = X, slice(None)
        if self.fill is not None:
            missing = np.isnan(values)
            values[missing] = np.broadcast_to(self.fill[at], values.shape)[missing]
        if self.center is not None:
            values -= self.center[at]
        if self.scale is not None:
            values /= self.scale[at]
        return X
