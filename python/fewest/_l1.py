"""Sparse linear machines by themselves: the L1 penalty, and a concave one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from fewest._base import Selector
from fewest._constraints import AT_LEAST_ONE, COST, COST_OR_AUTO, SHARE, stores_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


class L1SVMSelector(Selector):
    r"""L1-SVM: the features with weight in a linear SVM with the L1 penalty, and a bound on its
    objective.

    .. math:: \min_{w, b} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q

    with q = 1 for the hinge loss (a linear program, the default), 2 for the squared hinge loss
    (what ``sklearn.svm.LinearSVC(penalty="l1")`` solves). Rules that the weights do not obey by
    themselves choose the allowed subset of largest weights.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found.
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one those that have weight.

    Attributes
    ----------
    objective_ : float
        Objective of the L1-SVM.
    bound_ : float or None
        No weights have a smaller objective.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import L1SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> L1SVMSelector(C=0.01).fit(scale(X), y).transform(X).shape
    (569, ...)
    """

    _parameter_constraints = {"C": COST_OR_AUTO}

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float | str = 1.0,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        gap: float = 1e-08,
        tol: float = 1e-09,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

    _finds_size = True

    def _method(self, samples, rules):
        return {"name": "l1-svm", "svm": self._svm()}


class FSVSelector(Selector):
    """Feature selection by concave minimisation (Bradley and Mangasarian): few non-zero weights, by
    successive linear programs.

    Minimises ``(1 - lam) (mean error of each class) + lam sum_j (1 - exp(-alpha |w_j|))``: classes
    count alike, whatever their sizes.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one those that have weight.
    lam : float, default=0.05
        How much features count beside errors, at least 0 and below 1.
    alpha : float, default=5.0
        How fast a weight counts as one, above 0.
    n_starts : int, default=5
        Starts: no weights, then random ones.
    max_iter : int, default=50
        At most this many linear programs from one start.
    random_state : int, RandomState instance or None, default=None
        Seed of the random starts.

    Attributes
    ----------
    objective_ : float
        Value of the concave objective.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
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
        "lam": SHARE,
        "alpha": COST,
        "n_starts": AT_LEAST_ONE,
        "random_state": ["random_state"],
    }

    @stores_arguments
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
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

    class_weight = None

    _finds_size = True

    def _method(self, samples, rules):
        return {
            "name": "fsv",
            "lambda": float(self.lam),
            "alpha": float(self.alpha),
            "starts": int(self.n_starts),
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
            "max_steps": int(self.max_iter),
        }

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.starts_ = answer["details"]["starts"]
        self.n_iter_ = max(1, *(len(steps) for steps in self.starts_), 1)
