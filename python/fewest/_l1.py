"""Sparse linear machines by themselves: the L1 penalty, and a concave one."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from fewest._base import Selector
from fewest._constraints import (
    AT_LEAST_ONE,
    COMMON,
    COST,
    GAP,
    SVM,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class L1SVMSelector(Selector):
    r"""L1-SVM: the features with weight in a linear SVM with the L1 penalty, and a bound on its objective.

    .. math:: \min_{w, b} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q

    with q = 1 for the hinge loss (a linear program), 2 for the squared hinge loss (what
    ``sklearn.svm.LinearSVC(penalty="l1")`` solves). Rules that the weights do not obey by themselves choose the allowed subset of
    largest weights.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: those that have weight.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    gap : float, default=1e-8
        Relative gap between the best subset and the bound at which the search ends.
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
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
        Objective of the L1-SVM.
    bound_ : float or None
        No weights have a smaller objective.
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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import L1SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> L1SVMSelector(C=0.01).fit(scale(X), y).transform(X).shape
    (569, ...)
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        gap: float = 1e-08,
        tol: float = 1e-09,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.gap = gap
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {"name": "l1-svm", "svm": self._settings()}


class FSVSelector(Selector):
    """Feature selection by concave minimisation (Bradley and Mangasarian): few non-zero weights, by successive linear programs.

    Minimises ``(1 - lam) (mean error of each class) + lam sum_j (1 - exp(-alpha |w_j|))``: classes count alike, whatever their sizes.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: those that have weight.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    lam : float, default=0.05
        How much features count beside errors, at least 0 and below 1.
    alpha : float, default=5.0
        How fast a weight counts as one, above 0.
    n_starts : int, default=5
        Starts: no weights, then random ones.
    max_iter : int, default=50
        Most linear programs from one start.
    random_state : int, RandomState instance or None, default=None
        Of the random starts.
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
        Value of the concave objective.
    bound_ : float or None
        None: the method proves nothing; :meth:`certify` does.
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
    n_iter_ : int
        Linear programs of the longest start.
    starts_ : list of list of float
        The objective after every linear program of each start; it never rises.

    References
    ----------
    .. [1] Bradley, Mangasarian, "Feature selection via concave minimization and support vector machines", ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import FSVSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(FSVSelector(random_state=0).fit(scale(X), y).n_features_ < 15)
    True
    """

    _parameter_constraints = {
        **{name: rule for name, rule in COMMON.items() if name != "class_weight"},
        "lam": [Interval(Real, 0.0, 1.0, closed="left")],
        "alpha": COST,
        "n_starts": AT_LEAST_ONE,
        "max_iter": AT_LEAST_ONE,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        lam: float = 0.05,
        alpha: float = 5.0,
        n_starts: int = 5,
        max_iter: int = 50,
        random_state: Any = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.lam = lam
        self.alpha = alpha
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.random_state = random_state
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    class_weight = None

    def _request(self, samples, rules):
        return {
            "name": "fsv",
            "lambda": float(self.lam),
            "alpha": float(self.alpha),
            "starts": int(self.n_starts),
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
            "max_steps": int(self.max_iter),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.starts_ = answer["more"]["starts"]
        self.n_iter_ = max(1, *(len(steps) for steps in self.starts_), 1)
