"""Selectors that cross-validate subset after subset: evaluation-based RFE and flips."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval, StrOptions

from fewest import _core
from fewest._constraints import (
    AT_LEAST_ONE,
    COMMON,
    CRITERION,
    FEW,
    KERNELS,
    SVM,
)
from fewest._cross_validated import CrossValidated, criterion_of
from fewest._svm import kernel_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fewest._engine import Progress
    from fewest._rules import Rules


class EvaluationRFE(CrossValidated):
    """Evaluation-based recursive feature elimination: at each step the candidate whose removal cross-validates best leaves.

    Of the ``candidates`` features of smallest criterion each is left out in turn; the subset and the cost out of ``costs`` of largest
    cross-validated accuracy survive. The best subset seen on the way down is selected. Its accuracy was chosen among many and is
    optimistic: judge it on other samples.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: the size of largest accuracy.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    candidates : int, default=3
        Candidates per step, at least 1.
    adaptive : float, default=None
        Ratio of at least 1: only features whose criterion exceeds the smallest by at most (adaptive - 1) times its size are
        candidates.
    costs : sequence of float, default=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0)
        Slack costs to choose from, ascending.
    cv : int, splitter or iterable, default=5
        Folds, as scikit-learn's; the test parts must share the samples out.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel of the SVM.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X), "auto": 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    criterion : {"auto", "weights", "margin", "input_weights"}, default="auto"
        What features are ranked by: squared weights (linear kernel), the change of the margin when a feature is left out with the
        dual variables fixed, or squared weights in input space. "auto": weights where the kernel is linear, else margin.
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
        1 for the selected features, 2 for those that left last, and so on.
    objective_ : float
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
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
    C_ : float
        The cost chosen.
    curve_ : list of dict
        Every step: ``n_features``, ``accuracy``, ``cost``, ``candidates`` (their accuracies), ``folds``, ``left``.

    References
    ----------
    .. [1] Krupka, thesis, 2016, Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import EvaluationRFE
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = EvaluationRFE(costs=(0.25, 1.0), candidates=1, cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.objective_ > 0.95)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **{name: rule for name, rule in SVM.items() if name != "C"},
        **KERNELS,
        **CRITERION,
        "candidates": AT_LEAST_ONE,
        "adaptive": [Interval(Real, 1.0, None, closed="left"), None],
        "costs": ["array-like"],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        candidates: int = 3,
        adaptive: float | None = None,
        costs: Sequence[float] = (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        cv: Any = 5,
        kernel: str = "linear",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        criterion: str = "auto",
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
        self.candidates = candidates
        self.adaptive = adaptive
        self.costs = costs
        self.cv = cv
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {
            "name": "eb-rfe",
            "svm": self._settings(),
            "kernel": kernel_of(self, samples),
            "criterion": criterion_of(self),
            "candidates": int(self.candidates),
            "adaptive": None if self.adaptive is None else float(self.adaptive),
            "costs": [float(cost) for cost in self.costs],
            "folds": self._folds,
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.C_, self.curve_ = answer["more"]["cost"], answer["more"]["curve"]


class FlipSelector(CrossValidated):
    """Bit-Flip and Attribute-Flip: a local search around a subset, judged by cross-validation.

    Starts from the features of largest information gain; one feature more or less ("bit"), or one for another ("attribute"), as long
    as the cross-validated accuracy grows.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: for the start, 5.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    flip : {"bit", "attribute"}, default="bit"
        Which subsets are neighbours.
    costs : sequence of float, default=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0)
        Slack costs to choose from, ascending.
    cv : int, splitter or iterable, default=5
        Folds, as scikit-learn's; the test parts must share the samples out.
    max_iter : int, default=100
        Most passes over the neighbours.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel of the SVM.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X), "auto": 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
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
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
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
    C_ : float
        The cost chosen.
    n_iter_ : int
        Passes done.

    References
    ----------
    .. [1] Samb, Camara, Ndiaye, Slimani, Esseghir, "A novel RFE-SVM-based feature selection approach for classification", 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import FlipSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = FlipSelector(n_features_to_select=3, costs=(1.0,), cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.n_features_ <= 3)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **{name: rule for name, rule in SVM.items() if name != "C"},
        **KERNELS,
        "flip": [StrOptions({"bit", "attribute"})],
        "costs": ["array-like"],
        "cv": ["cv_object"],
        "max_iter": AT_LEAST_ONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        flip: str = "bit",
        costs: Sequence[float] = (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        cv: Any = 5,
        max_iter: int = 100,
        kernel: str = "linear",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
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
        self.flip = flip
        self.costs = costs
        self.cv = cv
        self.max_iter = max_iter
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        sized = {**rules, "max_features": rules["max_features"] or min(FEW, samples.X.shape[1])}
        _core.check_rules(sized, self._names())
        first = _core.select(*samples.arguments, sized, {"name": "info-gain", "bins": None}, {}, None)
        return {
            "name": "flip",
            "flip": self.flip,
            "svm": self._settings(),
            "kernel": kernel_of(self, samples),
            "costs": [float(cost) for cost in self.costs],
            "folds": self._folds,
            "passes": int(self.max_iter),
            "start": first["support"].tolist(),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.C_, self.n_iter_ = answer["more"]["cost"], max(len(answer["more"]["passes"]), 1)
