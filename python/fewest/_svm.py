"""Support vector classifiers on fewest's engine."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from fewest import _core
from fewest._constraints import COST, complete_constraints, stores_arguments
from fewest._docs import CLASSIFIER_ATTRIBUTES, complete_class, completes_doc
from fewest._engine import DTYPES, Samples, bias_of, limits_of, svm_of, validated, warn_of_limit

if TYPE_CHECKING:
    from typing_extensions import Self


#: gamma is 1 / the number of features trained on; scikit-learn says "auto".
PER_FEATURE = "1/p"


def kernel_of(estimator: Any, samples: Samples, most: int) -> dict[str, Any]:
    """The kernel of an estimator as the engine takes it; ``most``: the most features that may be
    selected.
    """
    kind = getattr(estimator, "kernel", "linear")
    if kind == "linear":
        return {"kind": kind}
    per_feature = estimator.gamma in ("auto", PER_FEATURE)
    out: dict[str, Any] = {"kind": kind, "gamma": PER_FEATURE if per_feature else gamma_of(estimator, samples, most)}
    if kind != "rbf":
        out["coef0"] = float(estimator.coef0)
    if kind == "poly":
        out["degree"] = int(estimator.degree)
    return out


def gamma_of(estimator: Any, samples: Samples, most: int) -> float:
    """An estimator's gamma, found from the samples where it is a rule."""
    gamma = estimator.gamma
    if not isinstance(gamma, str):
        return float(gamma)
    rule = PER_FEATURE if gamma == "auto" else gamma
    return _core.gamma(samples.matrix, samples.sample_weight, rule, most, limits_of(estimator, estimator.time_limit))


class _Classifier(ClassifierMixin, BaseEstimator):
    """What both classifiers share: machines with coefficients, and what they decide."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        complete_class(cls, CLASSIFIER_ATTRIBUTES)
        complete_constraints(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _train(self, samples: Samples, kernel: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        answer = _core.train(*samples.arguments, kernel, settings, limits_of(self, self.time_limit))
        warn_of_limit(self, answer, "The classifier is what training had found until then.")
        return answer

    @_fit_context(prefer_skip_nested_validation=True)
    @completes_doc
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self : object
            Trained.
        """
        return self._fit(validated(self, X, y, sample_weight, self.class_weight, binary_only=False))

    @completes_doc
    def predict(self, X: Any) -> np.ndarray:
        """Class of each sample.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        decision = self._by_class(X)
        return elected(self.classes_, decision)


def elected(classes: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """The label of each sample from its decision value (two classes) or values (one for each
    class).
    """
    return classes[(decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]


def votes(decision: np.ndarray, n_classes: int) -> np.ndarray:
    """One value for each class from one for each pair of classes (positive: the first of the pair)."""
    return _ovr_decision_function(decision < 0, -decision, n_classes)


class LinearSVC(SparseCoefMixin, _Classifier):
    r"""Linear support vector classification, one against the rest, solved to a tight duality gap.

    A drop-in for :class:`sklearn.svm.LinearSVC` with the ridge penalty: the same problem, the same
    attributes. It has a unique solution and ends near it, so that weights of samples mean what they
    say: weight 2 is the sample twice, weight 0 is no sample.

    .. math:: \min_{w, b} \; \tfrac12 \|w\|^2 + \tfrac12 (b / s)^2 + C \sum_i c_i \max(0, 1 - y_i (w^T x_i + b))^q

    with q = 2 for the squared hinge loss, 1 for the hinge loss, s = ``intercept_scaling``, c the
    weights of samples.

    Parameters
    ----------
    intercept_scaling : float or None, default=1.0
        Value s of the constant feature whose weight is the bias, above 0. None: the bias is not
        penalised.
    tol : float, default=1e-12
        Relative duality gap at which training ends, between 0 and 1.
    max_iter : int, default=100000
        Training ends after this many passes over the data.
    time_limit : float, default=None
        Time limit of each machine in seconds, with a
        :class:`~sklearn.exceptions.ConvergenceWarning`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases b.
    n_iter_ : int
        Passes of the slowest machine.

    See Also
    --------
    SVC : Other kernels; several classes by pairs.
    L1SVMSelector : The L1 penalty.

    References
    ----------
    .. [1] Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import LinearSVC
    >>> X, y = make_classification(random_state=0)
    >>> LinearSVC().fit(X, y).score(X, y)
    0.94
    """

    @stores_arguments
    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = 1.0,
        tol: float = 1e-12,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = 100_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

    def _fit(self, samples: Samples) -> LinearSVC:
        settings = svm_of(self.C, self.loss, bias_of(self), self.tol, self.max_iter)
        self.classes_ = samples.classes
        n_classes = len(self.classes_)
        codes = [samples.codes]
        if n_classes > 2:
            codes = [(samples.codes == k).astype(np.uint32) for k in range(n_classes)]
        answers = []
        for code in codes:
            samples.codes = code
            answers.append(self._train(samples, {"kind": "linear"}, settings))
        self.coef_ = np.vstack([answer["coef"] for answer in answers])
        self.intercept_ = np.concatenate([answer["intercept"] for answer in answers])
        self.n_iter_ = max(1, *(answer["iterations"] for answer in answers), 1)
        self.objective_ = sum(answer["objective"] for answer in answers)
        self.gap_ = max(answer["gap"] for answer in answers)
        return self

    @completes_doc
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance (times ``||w||``) of each sample to each hyperplane.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values; for two classes positive ones speak for ``classes_[1]``.
        """
        return self._by_class(X)

    def _by_class(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)
        return _linear(X, self.coef_, self.intercept_)


def _linear(X: Any, coef: Any, intercept: np.ndarray) -> np.ndarray:
    decision = safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return decision.ravel() if decision.shape[1] == 1 else decision


class SVC(_Classifier):
    """Support vector classification with any kernel, one machine for each pair of classes, solved
    to a tight duality gap.

    A drop-in for :class:`sklearn.svm.SVC`: the same problem and attributes. What it adds is a
    choice of loss and bias, and that sample weights mean what they say.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="rbf"
        Kernel k(x, x').
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X, samples
        counted by weight), "auto": 1 / n_features.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it is the weight of a constant feature
        of value s.
    tol : float, default=1e-12
        Relative duality gap at which training ends, between 0 and 1.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For more than two classes: one value for each class, or for each pair.
    max_iter : int, default=-1
        Training ends after this many passes over the data; -1: 100 000.
    time_limit : float, default=None
        Time limit of each machine in seconds, with a
        :class:`~sklearn.exceptions.ConvergenceWarning`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        The support vectors.
    dual_coef_ : ndarray of shape (n_machines, n_SV)
        Signed dual variables; of several classes positive ones belong to the first of the pair.
    coef_ : ndarray of shape (n_machines, n_features)
        Weights w; linear kernel only.
    intercept_ : ndarray of shape (n_machines,)
        Biases b.
    n_iter_ : int
        Iterations of the slowest machine.

    See Also
    --------
    LinearSVC : Linear, one against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> SVC().fit(X, y).score(X, y)
    0.97...
    """

    _parameter_constraints = {
        "gamma": [StrOptions({"scale", "auto"}), *COST],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    @stores_arguments
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        tol: float = 1e-12,
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

    def _fit(self, samples: Samples) -> SVC:
        settings = svm_of(self.C, self.loss, bias_of(self), self.tol, self.max_iter)
        answer = self._train(samples, kernel_of(self, samples, samples.X.shape[1]), settings)
        self._kernel = answer["kernel"]
        self.classes_ = samples.classes
        # Of several classes scikit-learn's machines are positive for the first of the pair, the
        # engine's for the second.
        sign = 1.0 if len(self.classes_) == 2 else -1.0
        self.support_ = answer["support"].astype(np.int32) if samples.kept is None else samples.kept[answer["support"]]
        self.support_vectors_ = samples.X.tocsr()[answer["support"]] if sp.issparse(samples.X) else samples.X[answer["support"]]
        self.dual_coef_ = sign * answer["dual_coef"]
        self.intercept_ = sign * answer["intercept"]
        self._coef: Any = None if answer["coef"] is None else sign * answer["coef"]
        self.n_iter_ = max(answer["iterations"], 1)
        self.objective_, self.gap_ = answer["objective"], answer["gap"]
        return self

    @property
    def coef_(self) -> np.ndarray:
        """Weights w of shape (n_machines, n_features); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        if not hasattr(self, "_coef"):
            raise AttributeError("coef_ is there once fit was called")
        return self._coef

    @completes_doc
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of each sample.

        Returns
        -------
        decision : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Values; for two classes positive ones speak for ``classes_[1]``, for a pair of several
            for its first.
        """
        if self.decision_function_shape == "ovo":
            return self._by_pair(X)
        return self._by_class(X)

    def _by_class(self, X):
        decision = self._by_pair(X)
        return votes(decision, len(self.classes_)) if decision.ndim > 1 else decision

    def _by_pair(self, X):
        check_is_fitted(self, "support_")
        X = validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)
        if self._coef is not None:
            return _linear(X, self._coef, self.intercept_)
        options = {name: value for name, value in self._kernel.items() if name != "kind"}
        K = pairwise_kernels(X, self.support_vectors_, metric=self._kernel["kind"], **options)
        decision = K @ self.dual_coef_.T + self.intercept_
        return decision.ravel() if decision.shape[1] == 1 else decision
