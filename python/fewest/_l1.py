"""Sparse linear machines by themselves: the L1 penalty, and a concave one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.metaestimators import available_if

from fewest import _signatures
from fewest._base import Selector
from fewest._engine import Samples, bias_from, seed_of, svm_of
from fewest._estimator import Tags
from fewest._parameters import AT_LEAST_ONE, COST, SHARE, handed

if TYPE_CHECKING:
    import os


class L1SVMSelector(_signatures.L1SVMSelector, Selector):
    r"""L1-SVM: the features with weight in a linear SVM with the L1 penalty, and a bound on its
    objective.

    .. math:: \min_{w, b} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q

    with q = 1 for the hinge loss (a linear program, the default), 2 for the squared hinge loss
    (what ``sklearn.svm.LinearSVC(penalty="l1")`` solves). Rules that the weights do not obey by
    themselves choose the allowed subset of largest weights. With the squared hinge loss Dask arrays
    and lists of files, whose features are spread over workers, are taken as well
    (:mod:`fewest.dask`).

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found. Not with columns on workers.
    Cs : sequence of float, default=None
        Several slack costs in place of ``C``, ascending, each from the solution of the one before:
        the result is that of the largest at which the rules are kept. None: C alone.

    Attributes
    ----------
    C_ : float
        With ``Cs``, the one chosen; with ``C="auto"``, what cross-validation chose.
    grid_ : list of dict
        With ``Cs``: ``cost``, ``objective``, ``bound`` and ``features`` of each.
    objective_ : float
        Objective of the L1-SVM.
    bound_ : float or None
        No weights have a smaller objective.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    traffic_ : dict of ndarray
        With Dask: bytes ``sent`` to the workers and ``received`` (arrays alone), and the
        ``seconds`` until the answers were there, for every round.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import L1SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> L1SVMSelector(C=0.01).fit(scale(X), y).transform(X).shape
    (569, ...)
    """

    _tags = Tags(page="docs/methods/l1-svm.md", finds_size=True, shards="binary")
    _takes = "n_features_to_select: 'sparse', rules, C: 'own', Cs, loss, fit_intercept, intercept_scaling, gap, tol, RUN"

    def _method(self, samples, rules):
        return {"name": "l1-svm", "svm": self._svm(), **({} if self.Cs is None else handed(self, costs="Cs"))}

    def _fit(self, samples):
        if self.Cs is not None and self.C == "auto":
            raise ValueError('C="auto" and Cs both choose the cost; leave one of them out')
        if self.loss == "hinge" and not isinstance(samples, Samples):
            raise ValueError(
                'loss is "hinge", but columns on workers are for loss="squared_hinge": the linear program of the hinge needs X in '
                "memory; set that loss, or give an array, such as X.compute() of a Dask collection"
            )
        super()._fit(samples)

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        if self.Cs is not None:
            # One cost alone is not reported as a choice.
            self.C_ = answer["details"].get("cost", float(self.Cs[0]))
            self.grid_ = answer["details"].get("grid", [])


class FSVSelector(_signatures.FSVSelector, Selector):
    """Feature selection by concave minimisation (Bradley and Mangasarian): few non-zero weights, by
    successive linear programs.

    Minimises ``(1 - lam) (mean error of each class) + lam sum_j (1 - exp(-alpha |w_j|))``: classes
    count alike, whatever their sizes.

    Parameters
    ----------
    lam : float, default=0.05
        How much features count beside errors, at least 0 and below 1.
    alpha : float, default=5.0
        How fast a weight counts as one, above 0.
    n_starts : int, default=5
        Starts: no weights, then random ones.
    max_iter : int, default=50
        At most this many linear programs from one start.
    random_state : int, RandomState instance or None, default=0
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
    >>> from fewest.papers import FSVSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(FSVSelector(random_state=0).fit(scale(X), y).n_features_ < 15)
    True
    """

    _tags = Tags(page="docs/methods/fsv.md", finds_size=True)
    _takes = (
        "n_features_to_select: 'sparse', rules, lam: float = 0.05, alpha: float = 5.0, n_starts: int = 5, max_iter=50, "
        "random_state, time_limit, LISTENED"
    )
    _parameter_constraints = {"lam": SHARE, "alpha": COST, "n_starts": AT_LEAST_ONE}

    class_weight = None

    def _method(self, samples, rules):
        settings = handed(self, "alpha", **{"lambda": "lam"}, starts="n_starts", max_steps="max_iter")
        return {"name": "fsv", "seed": seed_of(self.random_state), **settings}

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.starts_ = answer["details"]["starts"]
        self.n_iter_ = max(1, *(len(steps) for steps in self.starts_), 1)

    @available_if(Selector._certifiable)
    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        tol: float = 1e-6,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = 10.0,
        gap: float = 1e-4,
        node_limit: int | None = None,
        proof: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """How far the selected subset is from the best one of at most as many features by the value
        of an SVM, which the method itself has none of.

        Parameters
        ----------
        C : float, default=1.0
            Slack cost of the SVM, above 0.
        loss : {"hinge", "squared_hinge"}, default="hinge"
            Its loss.
        fit_intercept : bool, default=True
            Whether it has a bias.
        intercept_scaling : float or None, default=None
            None: the bias is not penalised. A number s: it is the weight of a constant feature of
            value s.
        tol : float, default=1e-6
            Relative duality gap of a training.
        class_weight : dict, "balanced", "cw2" or "cw3", default=None
            Weights of classes.

        Returns
        -------
        certificate : dict
            As that of every selector: ``objective``, ``bound``, ``gap``, ``best``,
            ``best_objective``, ``status``, ``elapsed``, ``proof``.
        """
        judge = svm_of(C, loss, bias_from(fit_intercept, intercept_scaling), tol), class_weight
        search = {"gap": gap, "nodes": node_limit}
        return self._certificate(X, y, sample_weight, time_limit, search, proof, judge=judge)
