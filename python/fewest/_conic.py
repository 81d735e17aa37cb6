"""Convex relaxations of the sparse SVM that an interior-point method solves at once."""

from __future__ import annotations

from fewest import _signatures
from fewest._base import Selector
from fewest._estimator import Tags
from fewest._parameters import COUNT_OR_NONE, handed


class _Conic(Selector):
    """What the selectors below share."""

    def _default_size(self, n_features):
        return None if self.subset_size is not None else super()._default_size(n_features)

    def _method(self, samples, rules):
        return {"name": self._name, "svm": self._svm(), **handed(self, "subset_size")}


class QCQPSelector(_signatures.QCQPSelector, _Conic):
    r"""QCQP-SSVM: a sparse SVM with a one-norm in place of the count, as a cone program.

    .. math:: \min_{w, b, t} \; \tfrac12 t + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q, \quad \|w\|_2^2 \le t, \; \|w\|_1^2 \le B t

    with B = ``n_features_to_select``, q = 1 for the hinge loss, 2 for the squared hinge loss. The
    allowed subset of largest weights is kept, and the SVM trained on it. The relaxation knows the
    size and must-out; the other rules hold for the subset.

    Parameters
    ----------
    subset_size : int, default=None
        B where no size is given: every feature of weight is kept, more than 1e-4 of the largest.

    Attributes
    ----------
    objective_ : float
        Objective of the SVM on the subset.
    bound_ : float or None
        No subset of at most this many features has a smaller objective.

    See Also
    --------
    fewest.papers.NMMKLSelector, fewest.FeatureGeneratingMachine : A tighter relaxation.
    fewest.ExactSelector : The best subset.

    References
    ----------
    .. [1] Chan, Vasconcelos, Lanckriet, "Direct convex relaxations of sparse SVM", ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest.papers import QCQPSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = QCQPSelector(n_features_to_select=5, C=0.01).fit(scale(X)[:100], y[:100])
    >>> bool(0 < selector.bound_ <= selector.objective_)
    True
    """

    _tags = Tags(page="docs/methods/qcqp-ssvm.md")
    _takes = "SIZE, subset_size: int | None = None, C: 'auto', fit_C, gap, SVM, RUN"
    _parameter_constraints = {"subset_size": COUNT_OR_NONE}
    _name = "qcqp-ssvm"


class NMMKLSelector(_signatures.NMMKLSelector, _Conic):
    r"""Non-monotonic feature selection: a kernel for each feature, weighed by a cone program.

    .. math:: \min_{w, b, z} \; \tfrac12 \sum_j w_j^2 / z_j + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q, \quad 0 \le z_j \le 1,
        \; \sum_j z_j \le B

    with B = ``n_features_to_select``, q = 2 for the squared hinge loss (the default), 1 for the
    hinge loss. The allowed subset that counts most is kept, and the SVM trained on it. The
    relaxation knows the size, must-in and must-out; the other rules hold for the subset.

    Parameters
    ----------
    subset_size : int, default=None
        B where no size is given: every feature of weight is kept.

    Attributes
    ----------
    objective_ : float
        Objective of the SVM on the subset.
    bound_ : float or None
        No subset of at most this many features has a smaller objective.

    See Also
    --------
    fewest.FeatureGeneratingMachine : The same relaxation at any size.
    fewest.ExactSelector : The best subset.

    References
    ----------
    .. [1] Xu, Jin, Ye, Lyu, King, "Non-monotonic feature selection", ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest.papers import NMMKLSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = NMMKLSelector(n_features_to_select=5, C=0.01).fit(scale(X)[:100], y[:100])
    >>> bool(0 < selector.bound_ <= selector.objective_)
    True
    """

    _tags = Tags(page="docs/methods/nmmkl.md")
    _takes = (
        "SIZE, subset_size: int | None = None, C: 'auto', fit_C, gap, loss='squared_hinge', fit_intercept, intercept_scaling, tol, RUN"
    )
    _parameter_constraints = {"subset_size": COUNT_OR_NONE}
    _name = "nmmkl"
