"""The feature generating machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from fewest._base import Selector
from fewest._constraints import (
    COMMON,
    COST,
    FEW,
    GAP,
    POSITIVE_OR_NONE,
    SIZE,
    TOLERANCE,
)
from fewest._engine import is_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class FeatureGeneratingMachine(Selector):
    """Feature generating machine: a sparse linear SVM among millions of features, with the value of its relaxation proven.

    Subsets of ``n_features_to_select`` features are generated one by one, the most violated first, and weighed by multiple kernel
    learning. The best subset of their mixture that obeys size and rules is kept. Squared hinge loss.
    Dask arrays and lists of files, whose features are spread over workers, are taken as well (:mod:`fewest.dask`).

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features), or with ``subset_size`` every feature of the mixture.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0: ``C / 2 sum xi_i^2``.
    subset_size : int, default=None
        Size of each generated subset, the paper's B. None: ``n_features_to_select``.
    fit_intercept : bool, default=True
        Whether there is a bias b; the paper has none.
    intercept_scaling : float or None, default=1.0
        Value s of the constant feature whose weight is the bias, above 0. None: the bias is not penalised.
    mkl : {"fast", "simple"}, default="fast"
        Solver of multiple kernel learning: Newton's method, or SimpleMKL.
    plain : bool, default=False
        The paper's algorithm without improvements.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    tol : float, default=1e-14
        Relative duality gap of the last training, between 0 and 1.
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
        Of the features kept: 1, and 2 for the others.
    objective_ : float
        Value of the SVM on the subset, or of the mixture where every feature of it is kept.
    bound_ : float or None
        No allowed subset, and no mixture of them, has a smaller value.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_selected), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    shares_ : ndarray of shape (n_selected,)
        Weight of each kept feature in the mixture, in (0, 1]; 1 where a subset is kept.
    rounds_ : list of dict
        Every round: ``upper``, ``lower``, ``subsets``, ``kept``.
    n_iter_ : int
        Rounds.
    traffic_ : dict of ndarray
        With Dask: bytes ``sent`` to the workers and ``received`` (arrays alone), and the ``seconds`` until the answers were there, for
        every round.

    References
    ----------
    .. [1] Tan, Wang, Tsang, "Learning sparse SVM for feature selection on very high dimensional datasets", ICML 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import FeatureGeneratingMachine
    >>> X, y = make_classification(n_features=500, n_informative=4, n_redundant=0, random_state=0)
    >>> machine = FeatureGeneratingMachine(n_features_to_select=5).fit(X, y)
    >>> int(machine.n_features_)
    5
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        "C": COST,
        "subset_size": SIZE,
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
        "mkl": [StrOptions({"fast", "simple"})],
        "plain": ["boolean"],
        "tol": TOLERANCE,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        subset_size: int | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float | None = 1.0,
        mkl: str = "fast",
        plain: bool = False,
        gap: float = 0.0001,
        tol: float = 1e-14,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.subset_size = subset_size
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.mkl = mkl
        self.plain = plain
        self.gap = gap
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _validated(self, X, y, sample_weight):
        if is_elsewhere(X):
            try:
                from fewest.dask import Spread
            except ImportError as why:
                raise ImportError("Dask collections and lists of files need Dask: pip install 'fewest[dask]'") from why
            return Spread(self, X, y, sample_weight)
        return super()._validated(X, y, sample_weight)

    def _default_size(self, n_features):
        return min(FEW, n_features) if self.subset_size is None else None

    def _request(self, samples, rules):
        return {
            "name": "fgm",
            "cost": float(self.C),
            "bias": self._bias(),
            "simple": self.mkl == "simple",
            "subset_size": None if self.subset_size is None else min(int(self.subset_size), self.n_features_in_),
            "plain": bool(self.plain),
            "tolerance": float(self.tol),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.shares_, self.rounds_ = np.asarray(answer["more"]["shares"]), answer["more"]["rounds"]
        self.n_iter_ = len(self.rounds_)
        if "traffic" in answer["more"]:
            self.traffic_ = answer["more"]["traffic"]
