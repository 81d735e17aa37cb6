"""Selection without training."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._param_validation import Interval

from fewest._base import Selector
from fewest._constraints import (
    COMMON,
    COST,
    FEW,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class InformationGain(Selector):
    """Information gain: ranks features by how many bits knowing them tells about the class.

    Trains no SVM to select, and proves nothing about one; the fastest look at many features.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features).
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    bins : int, default=None
        Intervals of equally many samples, at least 2. None: intervals of Fayyad and Irani, by minimum description length.
    C : float, default=1.0
        Slack cost of the classifier, above 0.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature of largest gain, and so on.
    objective_ : float
        Total gain of the selected features, in bits; larger is better.
    bound_ : float or None
        None: the method proves nothing; :meth:`certify` does.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_selected), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    scores_ : ndarray of shape (n_features,)
        Gain of each feature, in bits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _parameter_constraints = {
        **COMMON,
        "bins": [Interval(Integral, 2, None, closed="left"), None],
        "C": COST,
    }
    _binary_only = False

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        bins: int | None = None,
        C: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.bins = bins
        self.C = C
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return min(FEW, n_features)

    def _request(self, samples, rules):
        return {"name": "info-gain", "bins": None if self.bins is None else int(self.bins)}

    def _tell(self, answer, p):
        self.scores_ = np.zeros(p)
        self.scores_[answer["ranked"]] = answer["criteria"]
        super()._tell(answer, p)

    def _ranking(self, answer):
        ranking = np.full(len(self.support_), len(answer["ranked"]) + 1)
        ranking[answer["ranked"]] = np.arange(1, len(answer["ranked"]) + 1)
        return ranking
