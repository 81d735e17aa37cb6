"""The feature generating machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from fewest import _signatures
from fewest._call import limited
from fewest._engine import bias_of, refuse_elsewhere
from fewest._parameters import COUNT_OR_NONE, FEW, handed
from fewest._several import PROBLEMS, SeveralProblems

if TYPE_CHECKING:
    from typing_extensions import Self


class FeatureGeneratingMachine(_signatures.FeatureGeneratingMachine, SeveralProblems):
    """Feature generating machine: a sparse linear SVM among millions of features, with the value of
    its relaxation proven.

    Subsets are generated one by one, the most violated first, and weighed by multiple kernel
    learning. With a size or a budget the best subset of their mixture that obeys it is kept; with
    ``subset_size`` alone, as in the paper, every feature of the mixture, often about twice as many.
    Squared hinge loss. Dask arrays and lists of files, whose features are spread over workers, are
    taken as well (:mod:`fewest.dask`).

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0: ``C / 2 sum xi_i^2``. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found. Not with columns on workers.
    n_features_to_select : int, default=None
        At most this many features. None: the size of ``rules``; without one no limit where rules
        have a budget; every feature of the mixture where there is ``subset_size``; else min(5,
        n_features).
    subset_size : int, default=None
        Size of each generated subset, the paper's B. None: ``n_features_to_select``.
    fit_intercept : bool, default=False
        Whether there is a bias b; the paper has none. Without one centre the features first, or say
        True where the classes differ in size.
    intercept_scaling : float or None, default=None
        With ``fit_intercept``: value s of the constant feature whose weight is the bias, above 0.
        None: the bias is not penalised.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more classes than two become two-class problems, whose values add: each pair of classes,
        or each class against the rest. Two classes with columns on workers.
    mkl : {"fast", "simple"}, default=None
        Solver of multiple kernel learning: Newton's method, or SimpleMKL. None: "fast", with
        ``plain`` "simple", the paper's.
    improve : {"auto", "none", "rankings", "rfe", "exchanges", "both"}, default="auto"
        What improves the subset, the best features by score: "rankings", the best by weight where they are better; then, where
        a size is the only rule, SVM-RFE from the largest features of the mixture, exchanges, or both. "auto": both where the
        smaller class has at least 16 samples for each feature asked for, else "rankings"; with ``plain`` none.
    tol : float, default=1e-6
        Relative duality gap of the last training, between 0 and 1.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        Of the features kept: 1, and 2 for the others.
    objective_ : float
        Value of the SVM on the subset, or of the mixture where every feature of it is kept.
    bound_ : float or None
        No allowed subset, and no mixture of them, has a smaller value.
    estimator_ : LinearSVC or SVC
        The method's own classifier on the selected features; for more classes than two the SVC
        trained on them, with squared hinge loss at ``C / 2``. Not with tasks.
    tasks_ : ndarray
        Names of the tasks, where ``fit`` was given some.
    estimators_ : list of SVC
        The classifier of each task, as for more classes, in the order of ``tasks_``.
    shares_ : ndarray of shape (n_selected,)
        Weight of each kept feature in the mixture, in (0, 1]; 1 where a subset is kept.
    improved_ : dict or None
        What improved the subset (``by``), the samples of the smaller class (``smaller``) and the ``size``.
    rounds_ : list of dict
        Every round: ``upper``, ``lower``, ``subsets``, ``kept``.
    n_iter_ : int
        Rounds.
    traffic_ : dict of ndarray
        With Dask: bytes ``sent`` to the workers and ``received`` (arrays alone), and the
        ``seconds`` until the answers were there, for every round.

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

    _tags = replace(SeveralProblems._tags, page="docs/methods/fgm.md", finds_size=True, shards="binary")
    _takes = (
        "SIZE, C: 'own', subset_size: int | None = None, fit_intercept=False, intercept_scaling, multi_class, "
        "mkl: str | None = None, improve: str = 'auto', plain, gap, tol, RUN"
    )
    _parameter_constraints = {
        "subset_size": COUNT_OR_NONE,
        "mkl": [StrOptions({"fast", "simple"}), None],
        "improve": [StrOptions({"auto", "none", "rankings", "rfe", "exchanges", "both"})],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, tasks: Any = None, groups: Any = None) -> Self:
        """
        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples. Taken as they are: scale features first where their units differ. Or columns
            spread over workers, see
            :mod:`fewest.dask`.
        y : array-like of shape (n_samples,), default=None
            Labels. None: those in the files that X names.
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, such as a site or a cohort. Each task has a classifier of its
            own, ``estimators_``, on the one subset that is best for all together. Not with columns
            on workers.
        """
        if tasks is not None:
            refuse_elsewhere(X, "tasks need")
        samples = self._with_groups(self._validated(X, y, sample_weight), X, groups)
        return self._run(self._with_tasks(samples, X, tasks))

    def _rules(self, p):
        rules = super()._rules(p)
        # Neither groups nor prices give the subsets that are generated a size.
        if rules["max_features"] is None and rules["budget"] is None and self.subset_size is None:
            rules["max_features"] = min(FEW, p)
        return rules

    def _method(self, samples, rules):
        return {
            "name": "fgm",
            "cost": float(self.C),
            "bias": bias_of(self),
            "mkl": self.mkl or ("simple" if self.plain else "fast"),
            "subset_size": None if self.subset_size is None else min(int(self.subset_size), self.n_features_in_),
            "reuse": not self.plain,
            "improve": self.improve,
            "multi_class": PROBLEMS[self.multi_class],
            **handed(self, tolerance="tol"),
        }

    def _trainer(self, answer):
        # C is that of C / 2 sum xi_i^2.
        return self._svc(self._cost() / 2, loss="squared_hinge", kernel="linear")

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.shares_, self.rounds_ = np.asarray(answer["details"]["shares"]), answer["details"]["rounds"]
        self.n_iter_, self.improved_ = len(self.rounds_), answer["details"]["improved"]
