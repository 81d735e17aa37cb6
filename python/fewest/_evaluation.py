"""Selectors that cross-validate subset after subset: evaluation-based RFE and flips."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval, StrOptions

from fewest._constraints import AT_LEAST_ONE, stores_arguments
from fewest._cross_validated import CrossValidated, criterion_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fewest._engine import Progress
    from fewest._rules import Rules


class EvaluationRFE(CrossValidated):
    """Evaluation-based recursive feature elimination: at each step the candidate whose removal
    cross-validates best leaves.

    Of the ``candidates`` features of smallest criterion each is left out in turn; the subset and
    the cost out of ``costs`` of largest cross-validated accuracy survive. The best subset seen on
    the way down is selected. Its accuracy was chosen among many and is optimistic: judge it on
    other samples.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one that of the largest
        accuracy.
    candidates : int, default=3
        Candidates per step, at least 1.
    adaptive : float, default=None
        Ratio of at least 1: only features whose criterion exceeds the smallest by at most
        ``adaptive - 1`` times its size are candidates.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for those that left last, and so on.
    objective_ : float
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
    C_ : float
        The cost chosen.
    curve_ : list of dict
        Every step: ``n_features``, ``accuracy``, ``cost``, ``candidates`` (their accuracies),
        ``folds``, ``left``.

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
        "candidates": AT_LEAST_ONE,
        "adaptive": [Interval(Real, 1.0, None, closed="left"), None],
    }

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        candidates: int = 3,
        adaptive: float | None = None,
        costs: Sequence[float] = (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        fit_cost: float | None = None,
        cv: Any = 5,
        kernel: str = "linear",
        gamma: str | float = "1/p",
        degree: int = 3,
        coef0: float = 0.0,
        criterion: str = "auto",
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
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
        return {
            "name": "eb-rfe",
            "svm": self._svm(),
            "kernel": self._kernel,
            "criterion": criterion_of(self),
            "candidates": int(self.candidates),
            "adaptive": None if self.adaptive is None else float(self.adaptive),
            "costs": [float(cost) for cost in self.costs],
            "folds": self._folds,
        }

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.C_, self.curve_ = answer["cost"], answer["details"]["curve"]


class FlipSelector(CrossValidated):
    """Bit-Flip and Attribute-Flip: a local search around a subset, judged by cross-validation.

    Starts from the features that SVM-RFE leaves. A pass cross-validates every allowed subset with
    one feature more or less ("bit"), or one for another ("attribute"); the best one takes the
    subset's place if its accuracy is larger, or as large with fewer features.

    Parameters
    ----------
    flip : {"bit", "attribute"}, default="bit"
        Which subsets are neighbours.
    C : float, default=1.0
        Slack cost of SVM-RFE, above 0, and of the search where ``costs`` has none.
    costs : sequence of float, default=None
        Slack costs that the search chooses from, ascending. None: C alone.
    max_iter : int, default=1
        The search ends after this many passes over the neighbours.

    Attributes
    ----------
    objective_ : float
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
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
    >>> selector = FlipSelector(n_features_to_select=3, cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.n_features_ <= 3)
    True
    """

    _parameter_constraints = {
        "flip": [StrOptions({"bit", "attribute"})],
        "costs": ["array-like", None],
    }

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        flip: str = "bit",
        C: float = 1.0,
        costs: Sequence[float] | None = None,
        fit_cost: float | None = None,
        cv: Any = 5,
        max_iter: int = 1,
        kernel: str = "linear",
        gamma: str | float = "1/p",
        degree: int = 3,
        coef0: float = 0.0,
        criterion: str = "auto",
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        tol: float = 1e-09,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

    def _method(self, samples, rules):
        return {
            "name": f"{self.flip}-flip",
            "svm": self._svm(),
            "kernel": self._kernel,
            "costs": [float(cost) for cost in ([self.C] if self.costs is None else self.costs)],
            "folds": self._folds,
            "passes": int(self.max_iter),
            "start": {"rfe": {"step": {"count": 1}, "criterion": criterion_of(self)}},
        }

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.C_, self.n_iter_ = answer["cost"], max(len(answer["details"]["passes"]), 1)
