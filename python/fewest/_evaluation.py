"""Selectors that cross-validate subset after subset: evaluation-based RFE and flips."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from fewest import _signatures
from fewest._cross_validated import CrossValidated, criterion_of, step_of
from fewest._parameters import AT_LEAST_ONE, COUNT_OR_NONE, SHARE, handed


class EvaluationRFE(_signatures.EvaluationRFE, CrossValidated):
    """Evaluation-based recursive feature elimination: at each step the candidate whose removal
    cross-validates best leaves.

    Of the ``candidates`` features of smallest criterion each is left out in turn; the subset and
    the cost out of ``Cs`` of largest cross-validated accuracy survive. The best subset seen on
    the way down is selected. Its accuracy was chosen among many and is optimistic: judge it on
    other samples.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        At most this many features; a number below 1 is a share of all. None: the size of ``rules``;
        without one that of the largest accuracy.
    candidates : int, default=3
        Candidates per step, at least 1.
    adaptive : float, default=None
        Ratio of at least 1: only features whose criterion exceeds the smallest by at most
        ``adaptive - 1`` times its size are candidates.
    accuracy_loss : float or None, default=0.0
        The smallest subset is taken whose accuracy is at most this below the best one's: 0.01 is one
        sample of a hundred. In [0, 1). None: one standard error of the best one's over the splits.

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
    cv_results_ : dict of ndarray of shape (n_sizes,)
        The same by size, ascending: ``n_features``, ``mean_test_score``, ``std_test_score``,
        ``split{i}_test_score`` for each split i, and ``cost``, the one of these scores.

    References
    ----------
    .. [1] Krupka, thesis, 2016, Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import EvaluationRFE
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = EvaluationRFE(Cs=(0.25, 1.0), candidates=1, cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.objective_ > 0.95)
    True
    """

    _tags = replace(CrossValidated._tags, page="docs/methods/eb-rfe.md", finds_size=True)
    _takes = (
        "n_features_to_select: 'share', rules, start, candidates: int = 3, adaptive: float | None = None, "
        "accuracy_loss: float | None = 0.0, Cs: 'grid', fit_C, cv, KERNEL, SVM, RESUMED"
    )
    _parameter_constraints = {
        "candidates": AT_LEAST_ONE,
        "adaptive": [Interval(Real, 1.0, None, closed="left"), None],
        "accuracy_loss": [*SHARE, None],
    }

    def _method(self, samples, rules):
        return {
            "name": "eb-rfe",
            "svm": self._svm(),
            "kernel": self._kernel,
            "criterion": criterion_of(self),
            "folds": self._folds,
            "start": self._begun(),
            **handed(self, "candidates", "adaptive", "accuracy_loss", costs="Cs"),
        }

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.C_, self.curve_ = answer["cost"], answer["details"]["curve"]
        rows = self.curve_[::-1]
        # Without a row, where time was over before the first, there is no score.
        scores = np.array([row["folds"] for row in rows]).reshape(len(rows), -1 if rows else 0)
        self.cv_results_ = {
            "n_features": np.array([row["n_features"] for row in rows], dtype=int),
            "mean_test_score": scores.mean(axis=1) if rows else np.zeros(0),
            "std_test_score": scores.std(axis=1) if rows else np.zeros(0),
            "cost": np.array([row["cost"] for row in rows]),
            **{f"split{number}_test_score": score for number, score in enumerate(scores.T)},
        }


class FlipSelector(_signatures.FlipSelector, CrossValidated):
    """Bit-Flip and Attribute-Flip: a local search around a subset, judged by cross-validation.

    Starts from the features that SVM-RFE leaves. A pass cross-validates every allowed subset with
    one feature more or less ("bit"), or one for another ("attribute"); the best one takes the
    subset's place if its accuracy is larger, or as large with fewer features.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        At most this many features; a number below 1 is a share of all. None: the size of ``rules``;
        without one no limit where there is ``start`` or rules have a budget or ``at_most``, and 5
        otherwise.
    flip : {"bit", "attribute"}, default="bit"
        Which subsets are neighbours.
    C : float, default=1.0
        Slack cost of SVM-RFE, above 0, and of the search where ``Cs`` has none.
    Cs : sequence of float, default=None
        Slack costs that the search chooses from, ascending. None: C alone.
    max_iter : int or None, default=1
        The search ends after this many passes over the neighbours. None: once nothing improves.
    start : sequence of features, default=None
        Features to start from, by index, name or mask. None: what SVM-RFE leaves.
    step : int or float, default=1
        Features that SVM-RFE drops at a time; below 1: as a share of them.
    step_of : {"original", "remaining"}, default="original"
        What a share is taken of: all features, or those that remain.

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
    >>> from fewest.papers import FlipSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = FlipSelector(n_features_to_select=3, cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.n_features_ <= 3)
    True
    """

    _tags = replace(CrossValidated._tags, page="docs/methods/flips.md")
    _takes = (
        "n_features_to_select: 'share', rules, flip: str = 'bit', C, Cs, fit_C, cv, max_iter: int | None = 1, start, step, "
        "step_of, KERNEL, SVM, RUN"
    )
    _parameter_constraints = {"flip": [StrOptions({"bit", "attribute"})], "max_iter": COUNT_OR_NONE}

    def _method(self, samples, rules):
        return {
            "name": f"{self.flip}-flip",
            "svm": self._svm(),
            "kernel": self._kernel,
            "costs": [float(cost) for cost in ([self.C] if self.Cs is None else self.Cs)],
            "folds": self._folds,
            "start": self._start(),
            **handed(self, passes="max_iter"),
        }

    def _start(self):
        """Where the search starts, as the engine takes it."""
        if self.start is None:
            return {"rfe": {"step": step_of(self), "criterion": criterion_of(self)}}
        if (self.step, self.step_of, self.criterion) != (1, "original", "auto"):
            raise ValueError("step, step_of and criterion are of the SVM-RFE that finds a start, but start names one; leave them out")
        return {"features": self._begun()}

    def _default_size(self, n_features):
        return None if self.start is not None else super()._default_size(n_features)

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.C_, self.n_iter_ = answer["cost"], max(len(answer["details"].get("passes", ())), 1)
