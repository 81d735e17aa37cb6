"""Support vector classification with kernels."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import _fit_context, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, pairwise_kernels
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from fewest import _signatures
from fewest._call import limited
from fewest._engine import Samples, bias_of, came_to_its_end, checked, class_weights, svm_of, validated
from fewest._frames import in_order, labels_in
from fewest._parameters import COST
from fewest._svm import _Classifier, categories_of, elected, kernel_of, linear_decision, voted, votes
from fewest._warn import warn

if TYPE_CHECKING:
    from typing_extensions import Self

#: What C=inf is, over the mean squared distance of samples from their centre: no dual variable
#: comes near it.
HARD_MARGIN = 1e10
#: What rounding may add to the exponent of a kernel value.
ROUNDING = 1e-9


class SVC(_signatures.SVC, _Classifier):
    """Support vector classification with any kernel, one machine for each pair of classes, solved
    to a tight duality gap.

    A drop-in for :class:`sklearn.svm.SVC`: the same problem and attributes. What it adds is a
    choice of loss and bias, and that sample weights mean what they say.

    Parameters
    ----------
    C : float, default=1.0
        Slack cost, above 0; ``inf`` is 1e10 over the mean squared distance of samples from their centre, in the kernel's space.
    kernel : {"linear", "rbf", "laplace", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel k(x, x'). "laplace": ``exp(-gamma sum_j |x_j - x'_j|)``. "precomputed": X holds its
        values, for ``fit`` of shape (n_samples, n_samples). A callable gets two sets of samples as
        they were given and returns the values of each pair.
    gamma : {"scale", "auto", "sigest"} or float, default="scale"
        Coefficient of "rbf", "laplace", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X,
        samples counted by weight), with "laplace" 1 / (n_features x its standard deviation), "auto":
        1 / n_features, "sigest": 1 / median squared distance of two samples, with "laplace" their
        sum of absolute differences, "sigest:BETA" BETA times that. Features that hold categories
        count in the distances, not in the variance.
    shrinking : bool, default=True
        As scikit-learn has it; the solution does not depend on it.
    probability : bool, default="deprecated"
        True: ``predict_proba`` by Platt's sigmoid of decision values of five folds, fewer where a
        class has fewer samples; one that would fall where they rise is constant, the share of the class.
        As scikit-learn has it since 1.9: use ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    cache_size : float, default=None
        Megabytes for kernel values. None: what ``set_memory`` allows.
    verbose : bool or int, default=False
        True: a line when training has ended.
    break_ties : bool, default=False
        For more than two classes: whether ``predict`` takes the class of largest decision value,
        and not the first one of most votes. With "ovr" only.
    random_state : int, RandomState instance or None, default=None
        How samples are dealt into folds for ``probability``; nothing else is random.
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
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Signed dual variables, laid out as scikit-learn's; of several classes positive ones belong to
        the first of the pair.
    coef_ : ndarray of shape (n_machines, n_features)
        Weights w; linear kernel only.
    intercept_ : ndarray of shape (n_machines,)
        Biases b.
    n_support_ : ndarray of int of shape (n_classes,)
        Support vectors of each class.
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class.
    n_iter_ : ndarray of int of shape (n_machines,)
        Iterations of each machine.
    fit_status_ : int
        0 where training came to its end, else 1.
    shape_fit_ : tuple of int
        Shape of the samples it was trained on.

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

    _takes = (
        "C, kernel: str | Callable[[Any, Any], Any] = 'rbf', degree, gamma='scale', categorical_features, coef0, "
        "shrinking: bool = True, probability: bool | str = 'deprecated', loss, fit_intercept, intercept_scaling, tol=1e-12, "
        "cache_size: float | None = None, class_weight, verbose=False, max_iter=-1, decision_function_shape: str = 'ovr', "
        "break_ties: bool = False, random_state=None, time_limit, n_jobs, max_memory"
    )
    _parameter_constraints = {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "kernel": [StrOptions({"linear", "rbf", "laplace", "poly", "sigmoid", "precomputed"}), callable],
        "shrinking": ["boolean"],
        "probability": ["boolean", StrOptions({"deprecated"})],
        "cache_size": [*COST, None],
        "break_ties": ["boolean"],
        "verbose": ["verbose"],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    n_features_in_: int
    #: The samples that a kernel of the caller's own was given, and the calibrated classifier.
    _trained_on: Any = None
    _probabilities: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """
        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or the values of a precomputed kernel; with a kernel of your own, what it takes.
        """
        if self.probability != "deprecated":
            warn(
                "The `probability` parameter was deprecated, as scikit-learn's in 1.9: use "
                "`CalibratedClassifierCV(SVC(), ensemble=False)` instead of `SVC(probability=True)`",
                FutureWarning,
            )
        samples = self._samples(X, y, sample_weight)
        self._fit(samples)
        self._probabilities = None
        if self.probability is True:
            self._probabilities = self._calibrated(samples, X)
        return self

    def _calibrated(self, samples: Samples, X: Any) -> tuple[Any, Any]:
        """A calibrated classifier, and which of the samples it was given; None: all."""
        counts = np.bincount(samples.codes)
        if counts.min() < 2:
            raise ValueError(
                "probability=True judges decision values on samples held out, but the class "
                f"{samples.classes.tolist()[counts.argmin()]!r} has one sample of positive "
                "weight; add samples of it, or leave probability out"
            )
        if samples.kept is not None:
            # A sample without weight is none.
            X = self._rows(_safe_indexing(X, samples.kept), samples.kept)
        folds = StratifiedKFold(int(min(counts.min(), 5)), shuffle=True, random_state=self.random_state)
        plain = clone(self).set_params(probability="deprecated")
        if isinstance(self.class_weight, dict):
            # Classes have numbers here, as scikit-learn's folds give them.
            plain.class_weight = {at: self.class_weight.get(label, 1.0) for at, label in enumerate(samples.classes.tolist())}
        calibrated = CalibratedClassifierCV(plain, method="sigmoid", cv=folds, ensemble=False)
        calibrated.fit(X, samples.codes.astype(int), sample_weight=samples.sample_weight)
        # Probabilities do not run against decisions, as those of noise may: they are then the share of the class.
        shares = np.bincount(samples.codes, weights=samples.sample_weight) / samples.sample_weight.sum()
        [only] = calibrated.calibrated_classifiers_
        for sigmoid, share in zip(only.calibrators, shares[-len(only.calibrators) :], strict=True):
            if sigmoid.a_ > 0.0:
                sigmoid.a_, sigmoid.b_ = 0.0, np.log((1.0 - share) / share)
        return calibrated, samples.kept

    def _rows(self, X: Any, kept: np.ndarray | None) -> Any:
        """Of a kernel's values those with these samples."""
        return X if kept is None or self.kernel != "precomputed" else np.asarray(X)[:, kept]

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        """Validated samples; of a kernel's values where those are given or computed."""
        self._trained_on = None
        if sp.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        given, y = X, labels_in(X, y)
        if callable(self.kernel):
            in_order(X, y=y, sample_weight=sample_weight)
            check_consistent_length(X, y)
            X, self._trained_on = np.asarray(self.kernel(X, X), dtype=np.float64), X
        samples = validated(self, X, y, sample_weight, self.class_weight, binary_only=False, drops_negative=True)
        self.shape_fit_ = samples.X.shape if samples.kept is None else (len(np.asarray(y)), samples.X.shape[1])
        if callable(self.kernel) or self.kernel == "precomputed":
            if self.shape_fit_[0] != self.shape_fit_[1]:
                rows, columns = self.shape_fit_
                raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {rows}x{columns} matrix.")
            if samples.kept is not None:
                samples = samples.with_X(np.ascontiguousarray(samples.X[:, samples.kept]))
        if callable(self.kernel):
            shape: Any = getattr(given, "shape", (len(given),))
            self.shape_fit_ = tuple(shape)
            del self.n_features_in_
            if len(shape) == 2:
                self.n_features_in_ = shape[1]
        return samples

    def _fit(self, samples: Samples) -> SVC:
        settings = svm_of(self._cost(samples), self.loss, bias_of(self), self.tol, self.max_iter)
        if self.cache_size is not None:
            settings["memory"] = int(self.cache_size * 2**20)
        of_values = callable(self.kernel) or self.kernel == "precomputed"
        kernel: Any = "precomputed" if of_values else kernel_of(self, samples, samples.X.shape[1])
        answer = self._train(samples, kernel, settings)
        self._kernel = kernel if of_values else answer["kernel"]
        self._categories = categories_of(self, samples.X.shape[1])
        self._gamma = 0.0 if of_values else self._kernel.get("gamma", 0.0)
        self.classes_ = samples.classes
        # Of several classes scikit-learn's machines are positive for the first of the pair, the
        # engine's for the second.
        sign = 1.0 if len(self.classes_) == 2 else -1.0
        # As scikit-learn orders them: by class.
        order = np.argsort(samples.codes[answer["support"]], kind="stable")
        support = answer["support"][order]
        self.support_ = (support if samples.kept is None else samples.kept[support]).astype(np.int32)
        self.n_support_ = np.bincount(samples.codes[support], minlength=len(self.classes_)).astype(np.int32)
        self._n_support = self.n_support_
        self.support_vectors_: Any = np.empty((len(support), 0))
        if not of_values:
            self.support_vectors_ = samples.X.tocsr()[support] if sp.issparse(samples.X) else samples.X[support]
        self._pair_coef: Any = sign * answer["dual_coef"][:, order]
        self.dual_coef_ = by_classes(self._pair_coef, samples.codes[support], len(self.classes_))
        self.intercept_ = sign * answer["intercept"]
        self._coef: Any = None if answer["coef"] is None else sign * answer["coef"]
        if self._coef is not None:
            self._coef.flags.writeable = False
        self.class_weight_ = class_weights(self.class_weight, samples.classes, samples.codes, samples.sample_weight)
        self.n_iter_ = np.maximum(answer["iterations"], 1).astype(np.int32)
        self.fit_status_ = int(not came_to_its_end(answer))
        self.objective_, self.gap_ = answer["objective"], answer["gap"]
        return self

    def _cost(self, samples: Samples) -> float:
        """C, or what stands for an infinite one."""
        if np.isfinite(self.C):
            return float(self.C)
        X = samples.X
        if self.kernel in ("rbf", "laplace", "sigmoid"):
            spread = 1.0
        elif self.kernel == "precomputed" or callable(self.kernel):
            spread = float(np.mean(np.diag(X)) - np.mean(X))
        else:
            mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
            if sp.issparse(X):
                spread = float(X.multiply(X).sum(dtype=np.float64) / X.shape[0] - mean @ mean)
            else:
                spread = float(np.mean([np.sum((x - mean) ** 2) for x in X]))
        return HARD_MARGIN / spread if spread > 0.0 else HARD_MARGIN

    @property
    def coef_(self) -> np.ndarray:
        """Weights w of shape (n_machines, n_features); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        if not hasattr(self, "_coef"):
            raise AttributeError("coef_ is there once fit was called")
        return self._coef

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

    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "support_")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decision = self._by_pair(X)
        if decision.ndim == 1:
            return elected(self.classes_, decision)
        if self.break_ties:
            return elected(self.classes_, votes(decision, len(self.classes_)))
        return voted(self.classes_, decision)

    def _has_probabilities(self) -> bool:
        if self.probability is not True:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class.
        """
        check_is_fitted(self, "support_")
        if self._probabilities is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        calibrated, kept = self._probabilities
        return calibrated.predict_proba(self._rows(X, kept))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of the probability of each class.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class.
        """
        return np.log(self.predict_proba(X))

    def _by_pair(self, X):
        check_is_fitted(self, "support_")
        if self._n_support.sum() != len(self.support_):
            raise ValueError("The internal representation of SVC was altered")
        if self._trained_on is not None:
            K = np.asarray(self.kernel(X, self._trained_on), dtype=np.float64)
        else:
            X = checked(self, X, accept_sparse="csr", reset=False)
            if self._coef is not None:
                return linear_decision(X, self._coef, self.intercept_)
            K = X if self._kernel == "precomputed" else None
        if K is None:
            K = self._values(X)
        else:
            K = K[:, self.support_]
        decision = K @ self._pair_coef.T + self.intercept_
        return decision.ravel() if decision.shape[1] == 1 else decision

    def _values(self, X):
        """Kernel values between samples and support vectors."""
        vectors, options = self.support_vectors_, {name: value for name, value in self._kernel.items() if name != "kind"}
        kind = self._kernel["kind"]
        if not vectors.shape[0]:
            # Training was stopped before it had any.
            return np.zeros((X.shape[0], 0))
        if kind not in ("rbf", "laplace"):
            return pairwise_kernels(X, vectors, metric=kind, **options)
        distance = np.zeros((X.shape[0], vectors.shape[0]))
        numbers = np.setdiff1d(np.arange(X.shape[1]), self._categories)
        if len(numbers):
            A, B = (X, vectors) if len(numbers) == X.shape[1] else (X[:, numbers], vectors[:, numbers])
            distance += manhattan_distances(_narrow(A), _narrow(B)) if kind == "laplace" else _squared_distances(A, B, options["gamma"])
        for j in self._categories:
            x, of_vectors = (_dense(A[:, [j]]) for A in (X, vectors))
            distance += x != of_vectors.T
        return np.exp(-options["gamma"] * distance)


def _squared_distances(A: Any, B: Any, gamma: float) -> np.ndarray:
    """Squared distances between rows, as exact as a kernel with this gamma needs: ``|a|^2 - 2 a.b + |b|^2``
    loses what is far below ``|a|^2``, so columns of large values are taken by their differences.
    """
    if not sp.issparse(A):
        # A constant that is added to a column changes no distance.
        centre = np.mean(_dense(B), axis=0, dtype=np.float64)
        A, B = _dense(A) - centre, _dense(B) - centre
    sizes = np.maximum(*(_column_sizes(M) for M in (A, B)))
    with np.errstate(over="ignore"):
        far = ~(gamma * np.finfo(float).eps * sizes**2 * len(sizes) <= ROUNDING)
    if not far.any():
        return euclidean_distances(_narrow(A), _narrow(B), squared=True)
    distance = cdist(*(_dense(M[:, far]).astype(np.float64) for M in (A, B)), "sqeuclidean")
    if not far.all():
        distance += euclidean_distances(*(_narrow(M[:, ~far]) for M in (A, B)), squared=True)
    return distance


def _column_sizes(M: Any) -> np.ndarray:
    """The largest absolute value of each column."""
    sizes: Any = abs(M).max(axis=0) if M.shape[0] else np.zeros(M.shape[1])
    return np.asarray(sizes.toarray() if sp.issparse(sizes) else sizes, dtype=np.float64).ravel()


def _narrow(X: Any) -> Any:
    """With indices of 32 bits, which scikit-learn's distances need, where it is sparse."""
    if not sp.issparse(X):
        return X
    return sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def by_classes(coef: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Dual variables of the machines of each pair as LIBSVM lays them out: row r of a support vector
    is that of its machine against the r-th of the other classes.
    """
    if n_classes == 2:
        return coef.copy()
    out = np.zeros((n_classes - 1, coef.shape[1]))
    for pair, (a, b) in enumerate(combinations(range(n_classes), 2)):
        of_a, of_b = codes == a, codes == b
        out[b - 1, of_a] = coef[pair, of_a]
        out[a, of_b] = coef[pair, of_b]
    return out
