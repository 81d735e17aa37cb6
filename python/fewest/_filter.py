"""Selection without training."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._param_validation import Interval

from fewest._base import Selector
from fewest._constraints import COST_OR_AUTO, stores_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class InformationGain(Selector):
    """Information gain: ranks features by how many bits knowing them tells about the class.

    Trains no SVM to select, and proves nothing about one; the fastest on many features. Dask
    arrays and lists of files, whose features are spread over workers, are taken as well
    (:mod:`fewest.dask`).

    Parameters
    ----------
    bins : int, default=None
        Intervals of equally many samples, at least 2. None: intervals of Fayyad and Irani, by
        minimum description length.
    C : float or "auto", default=1.0
        Slack cost of the classifier, above 0. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None; ``C_``, ``fit_C_`` and ``cost_choice_`` (all scores) say what was found. Not with columns on workers.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature of largest gain, and so on.
    objective_ : float
        Total gain of the selected features, in bits; larger is better.
    scores_ : ndarray of shape (n_features,)
        Gain of each feature, in bits.
    traffic_ : dict of ndarray
        With Dask: bytes ``sent`` to the workers and ``received`` (arrays alone), and the
        ``seconds`` until the answers were there, of the one round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _page = "docs/methods/info-gain.md"

    _parameter_constraints = {
        "C": COST_OR_AUTO,
        "bins": [Interval(Integral, 2, None, closed="left"), None],
    }
    _binary_only = False
    _takes_shards = True
    _binary_on_shards = False

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        bins: int | None = None,
        C: float | str = 1.0,
        fit_C: float | None = None,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...

    def _to_select(self, samples):
        return samples.as_many()

    def _method(self, samples, rules):
        return {"name": "info-gain", "binning": "mdl" if self.bins is None else {"equal-frequency": int(self.bins)}}

    def _set_results(self, answer, p):
        self.scores_ = np.zeros(p)
        self.scores_[answer["ranked"]] = answer["criteria"]
        super()._set_results(answer, p)

    def _ranking(self, answer):
        ranking = np.full(len(self.support_), len(answer["ranked"]) + 1)
        ranking[answer["ranked"]] = np.arange(1, len(answer["ranked"]) + 1)
        return ranking
