"""L1-SVM with a price for each feature: as a mixed-integer program, and by Lagrangian relaxation."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval

from fewest._base import Selector
from fewest._constraints import (
    AT_LEAST_ONE,
    COMMON,
    COST,
    GAP,
    PENALTY,
    POSITIVE_OR_NONE,
    TOLERANCE,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class MBPSelector(Selector):
    r"""L1-SVM with a price for each feature, as a mixed-integer program, with proof.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does: the largest weight of the
    feature in L1-SVMs at C = 0.1, 1, 10 and 100. A feature that never had weight is left out: the paper's choice, no proof.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: no limit; the prices decide.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=1.0
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    weight_bound : float, default=None
        u, the same for every feature, above 0.
    plain : bool, default=False
        The program as printed, left to HiGHS.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.
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
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset.
    bound_ : float or None
        No allowed subset has a smaller objective.
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

    References
    ----------
    .. [1] Gaudioso, Gorgone, Labbe, Rodriguez-Chia, "Lagrangian relaxation for SVM feature selection", Computers and Operations
       Research 87, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import MBPSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = MBPSelector(C=0.1, penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        **PENALTY,
        "C": COST,
        "weight_bound": POSITIVE_OR_NONE,
        "plain": ["boolean"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        penalty: Any = 1.0,
        weight_bound: float | None = None,
        plain: bool = False,
        gap: float = 0.0001,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.weight_bound = weight_bound
        self.plain = plain
        self.gap = gap
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {
            "name": "mbp",
            "cost": float(self.C),
            "bias": self._bias(),
            "penalty": self._prices(self.penalty),
            "weight_bound": None if self.weight_bound is None else float(self.weight_bound),
            "plain": bool(self.plain),
        }


class LagrangianSelector(Selector):
    r"""L1-SVM with a price for each feature: good subsets fast and a bound, by Lagrangian relaxation and a bundle method.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does: the largest weight of the
    feature in L1-SVMs at C = 0.1, 1, 10 and 100. A feature that never had weight is left out: the paper's choice, no proof.
    The method is a heuristic with a bound: :class:`MBPSelector` proves the optimum where it can.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: no limit; the prices decide.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=1.0
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    weight_bound : float, default=None
        u, the same for every feature, above 0.
    epsilon : float, default=1e-6
        A feature is among those of the restricted program when its weight is above this share of u, at least 0 and below 1.
    max_iter : int, default=1000
        Most linear programs.
    restricted_time : float, default=0.25
        Most seconds of one restricted program.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    tol : float, default=1e-7
        The ascent ends when the bundle promises less than this share of the bound.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.
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
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset found.
    bound_ : float or None
        No allowed subset has a smaller objective.
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
    lagrangian_bound_ : float
        Value of the Lagrangian dual.
    steps_ : list of dict
        Every step: ``value``, ``lower``, ``upper``, ``serious``, ``omega``, ``seconds``.
    n_iter_ : int
        Steps.

    References
    ----------
    .. [1] Gaudioso, Gorgone, Labbe, Rodriguez-Chia, "Lagrangian relaxation for SVM feature selection", Computers and Operations
       Research 87, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import LagrangianSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = LagrangianSelector(C=0.1, penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        **PENALTY,
        "C": COST,
        "weight_bound": POSITIVE_OR_NONE,
        "epsilon": [Interval(Real, 0.0, 1.0, closed="left")],
        "max_iter": AT_LEAST_ONE,
        "restricted_time": [Interval(Real, 0.0, None, closed="left")],
        "tol": TOLERANCE,
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        penalty: Any = 1.0,
        weight_bound: float | None = None,
        epsilon: float = 1e-06,
        max_iter: int = 1000,
        restricted_time: float = 0.25,
        gap: float = 0.0001,
        tol: float = 1e-07,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.weight_bound = weight_bound
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.restricted_time = restricted_time
        self.gap = gap
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {
            "name": "lagrangian",
            "cost": float(self.C),
            "bias": self._bias(),
            "penalty": self._prices(self.penalty),
            "weight_bound": None if self.weight_bound is None else float(self.weight_bound),
            "epsilon": float(self.epsilon),
            "max_steps": int(self.max_iter),
            "tolerance": float(self.tol),
            "restricted_seconds": float(self.restricted_time),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.lagrangian_bound_, self.steps_ = answer["more"]["lagrangian_bound"], answer["more"]["steps"]
        self.n_iter_ = max(len(self.steps_), 1)
