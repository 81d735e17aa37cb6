"""L1-SVM with a price for each feature: as a mixed-integer program, and by Lagrangian relaxation."""

from __future__ import annotations

import numbers
from typing import Any

from fewest import _signatures
from fewest._base import Selector
from fewest._engine import bias_of
from fewest._estimator import Tags
from fewest._parameters import NOT_BELOW_0, SHARE, handed
from fewest._program import WritesModel


def _program(selector: Any) -> dict[str, Any]:
    """The program of both methods, as the engine takes it."""
    prices, bound = selector._prices(selector.feature_penalty), selector.weight_bound
    bound = float(bound) if isinstance(bound, numbers.Real) else bound
    return {"cost": float(selector.C), "bias": bias_of(selector), "penalty": prices, "weight_bound": bound}


class MBPSelector(_signatures.MBPSelector, WritesModel, Selector):
    r"""L1-SVM with a price for each feature, as a mixed-integer program, with proof.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``feature_penalty`` and u = ``weight_bound``. The proof is of classifiers within u.

    Parameters
    ----------
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

    _tags = Tags(page="docs/methods/mbp.md")
    _takes = (
        "n_features_to_select: 'prices', rules, C: 'own', feature_penalty, weight_bound, n_solutions, within, plain, lp, gap, "
        "node_limit, proof, fit_intercept, intercept_scaling, RESUMED"
    )

    def _method(self, samples, rules):
        if self.lp != "simplex" and not self.plain:
            raise ValueError(f"lp is {self.lp!r}, which has a meaning with plain=True only; leave it out, or set plain")
        return {"name": "mbp", **_program(self), **self._wanted(), **handed(self, "plain", "lp")}


class LagrangianSelector(_signatures.LagrangianSelector, Selector):
    r"""L1-SVM with a price for each feature: good subsets fast and a bound, by Lagrangian
    relaxation and a bundle method.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``feature_penalty`` and u = ``weight_bound``. The bound is on classifiers within u. The method is a heuristic with a bound:
    :class:`MBPSelector` proves the optimum where it can.

    Parameters
    ----------
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

    _tags = Tags(page="docs/methods/mbp.md")
    _takes = (
        "n_features_to_select: 'prices', rules, C: 'own', feature_penalty, weight_bound, epsilon: float = 1e-06, max_iter=1000, "
        "restricted_time: float | None = None, plain, gap, tol=1e-07, fit_intercept, intercept_scaling, RUN"
    )
    _parameter_constraints = {"epsilon": SHARE, "restricted_time": [*NOT_BELOW_0, None]}

    def _method(self, samples, rules):
        settings = handed(self, "epsilon", "restricted_time", max_steps="max_iter", tolerance="tol")
        return {"name": "lagrangian", "program": {**_program(self), **handed(self, "plain")}, **settings}

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.lagrangian_bound_, self.steps_ = answer["details"]["dual"], answer["details"]["steps"]
        self.n_iter_ = max(len(self.steps_), 1)
