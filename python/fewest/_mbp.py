"""L1-SVM with a price for each feature: as a mixed-integer program, and by Lagrangian relaxation."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval

from fewest._base import Selector
from fewest._constraints import COST_OR_AUTO, SHARE, stores_arguments
from fewest._engine import bias_of
from fewest._program import WritesModel

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from fewest._engine import Progress
    from fewest._rules import Rules


def _program(selector: Any) -> dict[str, Any]:
    """The program of both methods, as the engine takes it."""
    return {
        "cost": float(selector.C),
        "bias": bias_of(selector),
        "penalty": selector._prices(selector.feature_penalty),
        "weight_bound": None if selector.weight_bound is None else float(selector.weight_bound),
    }


class MBPSelector(WritesModel, Selector):
    r"""L1-SVM with a price for each feature, as a mixed-integer program, with proof.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``feature_penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does:
    the largest weight of the feature in L1-SVMs at C = 0.1, 1, 10 and 100. A feature that never had
    weight is left out: the paper's choice, no proof.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found.
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one no limit where there are
        prices, or where rules have a budget or ``at_most``, else min(5, n_features).
    plain : bool, default=False
        The program as printed, left to HiGHS.
    lp : {"simplex", "interior"}, default="simplex"
        With ``plain``: how HiGHS solves linear programs.
    proof : path-like, default=None
        File for a proof of the result, which :func:`fewest.verify` checks; where ``rules`` have no size,
        budget, groups or implications, and without ``plain``, ``n_solutions`` and ``within``.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.

    Attributes
    ----------
    bound_ : float or None
        No allowed subset has a smaller objective.
    solutions_ : list of (ndarray of int, float)
        With ``n_solutions`` or ``within``: the best subsets and their objectives, best first.
    proof_ : str or None
        The file of the proof; None without ``proof``.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.

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
    >>> selector = MBPSelector(C=0.1, feature_penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _page = "docs/methods/mbp.md"

    _parameter_constraints = {"C": COST_OR_AUTO}

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float | str = 1.0,
        feature_penalty: Any = None,
        weight_bound: float | None = None,
        n_solutions: int | None = None,
        within: float | None = None,
        plain: bool = False,
        lp: str = "simplex",
        gap: float = 0.0001,
        node_limit: int | None = None,
        proof: str | os.PathLike[str] | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        resume: str | os.PathLike[str] | None = None,
        resume_every: float = 30.0,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...

    def _method(self, samples, rules):
        if self.lp != "simplex" and not self.plain:
            raise ValueError(f"lp is {self.lp!r}, which has a meaning with plain=True only; leave it out, or set plain")
        return {"name": "mbp", **_program(self), **self._wanted(), "plain": bool(self.plain), "lp": self.lp}

    def _limits(self):
        return {"nodes": self.node_limit}


class LagrangianSelector(Selector):
    r"""L1-SVM with a price for each feature: good subsets fast and a bound, by Lagrangian
    relaxation and a bundle method.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``feature_penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does:
    the largest weight of the feature in L1-SVMs at C = 0.1, 1, 10 and 100. A feature that never had
    weight is left out: the paper's choice, no proof. The method is a heuristic with a bound:
    :class:`MBPSelector` proves the optimum where it can.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found.
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one no limit where there are
        prices, or where rules have a budget or ``at_most``, else min(5, n_features).
    epsilon : float, default=1e-6
        A feature is among those of the restricted program when its weight is above this share of u,
        at least 0 and below 1.
    max_iter : int, default=1000
        At most this many linear programs.
    restricted_time : float, default=None
        Time limit of one restricted program in seconds. None: 0.25, and no limit with ``plain``.
    plain : bool, default=False
        The paper's text: no reweighting, no bound before the ascent, restricted programs of all
        features in use and of no others.
    tol : float, default=1e-7
        The ascent ends when the bundle promises less than this share of the bound.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.

    Attributes
    ----------
    objective_ : float
        Objective of the best subset found.
    bound_ : float or None
        No allowed subset has a smaller objective.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
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
    >>> selector = LagrangianSelector(C=0.1, feature_penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _page = "docs/methods/mbp.md"

    _parameter_constraints = {
        "C": COST_OR_AUTO,
        "epsilon": SHARE,
        "restricted_time": [Interval(Real, 0.0, None, closed="left"), None],
    }

    @stores_arguments
    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        rules: Rules | None = None,
        C: float | str = 1.0,
        feature_penalty: Any = None,
        weight_bound: float | None = None,
        epsilon: float = 1e-06,
        max_iter: int = 1000,
        restricted_time: float | None = None,
        plain: bool = False,
        gap: float = 0.0001,
        tol: float = 1e-07,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...

    def _method(self, samples, rules):
        return {
            "name": "lagrangian",
            "program": {**_program(self), "plain": bool(self.plain)},
            "epsilon": float(self.epsilon),
            "max_steps": int(self.max_iter),
            "tolerance": float(self.tol),
            "restricted_time": None if self.restricted_time is None else float(self.restricted_time),
        }

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.lagrangian_bound_, self.steps_ = answer["details"]["dual"], answer["details"]["steps"]
        self.n_iter_ = max(len(self.steps_), 1)
