"""Selectors that prove their subset best: branch and bound, Benders' cuts, kernel alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewest._base import Selector
from fewest._constraints import (
    AT_LEAST_ONE,
    AT_LEAST_ONE_OR_NONE,
    COMMON,
    COST,
    FEW,
    GAMMA,
    GAP,
    PENALTY,
    SVM,
)
from fewest._svm import SVC, gamma_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class ExactSelector(Selector):
    r"""The best subset for a linear SVM, with proof: branch and bound on the SVM's own objective.

    .. math:: \min_{w, b, z} \; \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q + \sum_j \lambda_j z_j, \quad w_j = 0
        \text{ where } z_j = 0, \; z \text{ obeys the rules}

    with q = 1 for the hinge loss, 2 for the squared hinge loss, :math:`\lambda` = ``penalty``. Stopped early, it returns the best
    subset so far and how far from the best it can be at most.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features). With a penalty: no limit.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=None
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    n_solutions : int, default=1
        How many best subsets to prove.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    node_limit : int, default=None
        Most nodes of the search.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
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
    solutions_ : list of (ndarray of int, float)
        The best subsets and their objectives, best first.
    n_nodes_ : int
        Nodes of the search.

    See Also
    --------
    BendersSelector : The same problem by cuts.
    SVMRFE : A fast heuristic.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import ExactSelector, Rules
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X[:] = scale(X)
    >>> selector = ExactSelector(rules=Rules(max_features=3, require=["mean texture"])).fit(X, y)
    >>> selector.status_
    'optimal'
    >>> len(selector.get_feature_names_out()), "mean texture" in selector.get_feature_names_out()
    (3, True)
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
        **PENALTY,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        penalty: Any = None,
        n_solutions: int = 1,
        gap: float = 0.0001,
        node_limit: int | None = None,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
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
        self.penalty = penalty
        self.n_solutions = n_solutions
        self.gap = gap
        self.node_limit = node_limit
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return None if self.penalty is not None else min(FEW, n_features)

    def _request(self, samples, rules):
        penalty, solutions = self._prices(self.penalty), int(self.n_solutions)
        return {"name": "exact", "svm": self._settings(), "penalty": penalty, "solutions": solutions, "start": []}

    def _limits(self):
        return {"nodes": self.node_limit}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_nodes_ = answer["counts"]["nodes"]


class BendersSelector(Selector):
    """The best subset for a linear SVM, with proof, by Generalized Benders Decomposition.

    The problem of :class:`ExactSelector`, solved by cuts of the SVM's dual and a mixed-integer program over them (HiGHS).

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features). With a penalty: no limit.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=None
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    max_iter : int, default=250
        Most cuts, which is as many trainings.
    plain : bool, default=False
        The paper's algorithm without improvements.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
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
    n_iter_ : int
        Cuts.

    References
    ----------
    .. [1] Aytug, "Feature selection for support vector machines using Generalized Benders Decomposition", European Journal of
       Operational Research 244, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import BendersSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BendersSelector(n_features_to_select=2).fit(scale(X), y).status_
    'optimal'
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
        **PENALTY,
        "max_iter": AT_LEAST_ONE,
        "plain": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float = 1.0,
        penalty: Any = None,
        max_iter: int = 250,
        plain: bool = False,
        gap: float = 0.0001,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
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
        self.penalty = penalty
        self.max_iter = max_iter
        self.plain = plain
        self.gap = gap
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return None if self.penalty is not None else min(FEW, n_features)

    def _request(self, samples, rules):
        penalty, cuts = self._prices(self.penalty), int(self.max_iter)
        return {"name": "gbd", "svm": self._settings(), "penalty": penalty, "max_cuts": cuts, "plain": bool(self.plain)}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_iter_ = max(answer["counts"]["cuts"], 1)


class AlignmentSelector(Selector):
    """The subset of largest alignment between a Gaussian kernel and the classes, with proof.

    Exact selection for Gaussian-kernel SVMs: branch and bound on the kernel-target alignment, for any number of classes. The
    classifier is an SVM with that kernel on the selected features.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features).
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    gamma : {"scale", "auto"} or float, default="scale"
        gamma of ``exp(-gamma ||x - x'||^2)``; "scale": 1 / (m x variance of X), "auto": 1 / m, m the most features allowed.
    C : float, default=1.0
        Slack cost of the classifier, above 0.
    n_solutions : int, default=1
        How many best subsets to prove.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    node_limit : int, default=None
        Most nodes of the search.
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
        Alignment of the best subset; larger is better.
    bound_ : float or None
        No allowed subset has a larger alignment.
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
    gamma_ : float
        gamma.
    solutions_ : list of (ndarray of int, float)
        The best subsets and their alignments, best first.
    n_nodes_ : int
        Nodes of the search.

    References
    ----------
    .. [1] Tamura, Takano, Miyashiro, Nakata, "Feature subset selection for kernel SVM classification via mixed-integer
       optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import AlignmentSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> AlignmentSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        "gamma": GAMMA,
        "C": COST,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE_OR_NONE,
    }
    _binary_only = False
    kernel = "rbf"

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        gamma: str | float = "scale",
        C: float = 1.0,
        n_solutions: int = 1,
        gap: float = 0.0001,
        node_limit: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.gamma = gamma
        self.C = C
        self.n_solutions = n_solutions
        self.gap = gap
        self.node_limit = node_limit
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return min(FEW, n_features)

    def _request(self, samples, rules):
        self.gamma_ = gamma_of(self.gamma, samples, rules["max_features"])
        return {"name": "kta", "gamma": self.gamma_, "solutions": int(self.n_solutions)}

    def _limits(self):
        return {"nodes": self.node_limit}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_nodes_ = answer["counts"]["nodes"]

    def _trainer(self, answer):
        return SVC(C=self.C, kernel="rbf", gamma=self.gamma_, n_jobs=self.n_jobs)
