"""Support vector classifiers on fewest's engine."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from fewest import _core, _signatures
from fewest._call import limited
from fewest._columns import ColumnFile
from fewest._docs import CLASSIFIER_ATTRIBUTES
from fewest._engine import Samples, bias_of, checked, limits_of, svm_of, validated, warn_of_limit
from fewest._estimator import Estimator, Tags
from fewest._frames import in_order, labels_in
from fewest._parameters import value_of
from fewest._rules import Rules, _Index, weight_bounds

if TYPE_CHECKING:
    from typing_extensions import Self


#: gamma is 1 / the number of features trained on; scikit-learn says "auto".
PER_FEATURE = "1/p"
#: The largest value that the engine takes.
LARGEST = 1e70


def kernel_of(estimator: Any, samples: Samples, most: int) -> dict[str, Any]:
    """The kernel of an estimator as the engine takes it; ``most``: the most features that may be
    selected.
    """
    kind = value_of(estimator, "kernel")
    if kind == "linear":
        return {"kind": kind}
    per_feature = estimator.gamma in ("auto", PER_FEATURE)
    out: dict[str, Any] = {"kind": kind, "gamma": PER_FEATURE if per_feature else gamma_of(estimator, samples, most)}
    if kind in ("poly", "sigmoid"):
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
    limits = limits_of(estimator, estimator.time_limit)
    categorical = categories_of(estimator, samples.X.shape[1])
    return _core.gamma(samples.matrix, samples.sample_weight, rule, most, {"kind": estimator.kernel}, categorical, limits)


def categories_of(estimator: Any, n_features: int) -> list[int]:
    """The features that hold categories, ascending."""
    given = value_of(estimator, "categorical_features")
    if given is None:
        return []
    if estimator.kernel not in ("rbf", "laplace"):
        raise ValueError(
            "categorical_features needs the kernel 'rbf' or 'laplace', which are made of distances, but kernel is "
            f"{estimator.kernel!r}; leave categorical_features out, or take one of these kernels"
        )
    index = _Index(n_features, getattr(estimator, "feature_names_in_", None), "categorical_features")
    return sorted(set(index.all(given)))


class OfDistances(Estimator):
    """A selector by the alignment of a kernel of distances."""

    def _kernel_rule(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        self.gamma_ = gamma_of(self, samples, rules["max_features"] or samples.X.shape[1])
        return {"kind": self.kernel, "gamma": self.gamma_}

    def _distances(self, samples: Samples) -> dict[str, Any]:
        """Kernel, gamma and categories, as the engine takes them."""
        categorical = categories_of(self, samples.X.shape[1])
        return {"kernel": self.kernel, "gamma": self.gamma_, "categorical": categorical}


class Scored(ClassifierMixin):
    """A classifier whose score refuses labels in another order than the samples."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each counts as.

        Returns
        -------
        score : float
            Share of the samples whose class is predicted.
        """
        y = labels_in(X, y)
        in_order(X, y=y, sample_weight=sample_weight)
        score: float = super().score(X, y, sample_weight)
        return score


class _Classifier(Scored, Estimator):
    """What both classifiers share: machines with coefficients, and what they decide."""

    _tags = Tags(page="python/docs/from_scikit_learn.rst", binary_only=False)
    _attributes = CLASSIFIER_ATTRIBUTES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _train(self, samples: Samples, kernel: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(samples.X, ColumnFile) and (largest := float(max(samples.X.max(), -samples.X.min()))) > LARGEST:
            raise ValueError(
                f"The dual coefficients or intercepts are not finite where a value is {largest:.3g}: values of at most {LARGEST:g} "
                "in size can be squared and summed up; scale the features first"
            )
        limits, categorical = limits_of(self, self.time_limit), categories_of(self, samples.X.shape[1])
        answer = _core.train(*samples.arguments, kernel, settings, limits, self._weight_bounds(), categorical)
        warn_of_limit(self, answer, "The classifier is what training had found until then.")
        self._tell(answer)
        return answer

    def _weight_bounds(self) -> list[dict[str, Any]]:
        """Bounds on weights as the engine takes them; those that a selector's rules have."""
        return getattr(self, "_bounds", [])

    def _tell(self, answer: dict[str, Any]) -> None:
        if self.verbose:
            iterations, objective, gap = answer["iterations"].max(), answer["objective"], answer["gap"]
            print(f"[{type(self).__name__}] {iterations} iterations, objective {objective:.6g}, gap {gap:.2g}, {answer['status']}")

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
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


def voted(classes: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """The label of most votes, ties to the smaller class, from one value for each pair of classes
    (positive: the first of the pair).
    """
    n_classes, count = len(classes), np.zeros((len(decision), len(classes)), dtype=int)
    for pair, (a, b) in enumerate(combinations(range(n_classes), 2)):
        count[:, a] += decision[:, pair] > 0
        count[:, b] += decision[:, pair] <= 0
    return classes[count.argmax(axis=1)]


def votes(decision: np.ndarray, n_classes: int) -> np.ndarray:
    """One value for each class from one for each pair of classes (positive: the first of the pair)."""
    return _ovr_decision_function(decision < 0, -decision, n_classes)


class LinearSVC(_signatures.LinearSVC, SparseCoefMixin, _Classifier):
    r"""Linear support vector classification, one against the rest, solved to a tight duality gap.

    A drop-in for :class:`sklearn.svm.LinearSVC`: the same problem, the same attributes. With the
    ridge penalty it has a unique solution and ends near it, so that weights of samples mean what
    they say: weight 2 is the sample twice, weight 0 is no sample.

    .. math:: \min_{w, b} \; P(w) + \tfrac12 (b / s)^2 + C \sum_i c_i \max(0, 1 - y_i (w^T x_i + b))^q

    with :math:`P(w) = \tfrac12 \|w\|^2`, q = 2 for the squared hinge loss, 1 for the hinge loss, s =
    ``intercept_scaling``, c the weights of samples. With the L1 penalty :math:`P(w) = \|w\|_1`, and
    the bias counts as :math:`|b / s|`.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Penalty of the weights. "l1" goes with the squared hinge loss.
    dual : "auto" or bool, default="auto"
        As scikit-learn has it, whose solvers differ by it: what it refuses together with ``penalty``
        and ``loss`` is refused here. The solution does not depend on it.
    multi_class : {"ovr"}, default="ovr"
        One against the rest. scikit-learn's "crammer_singer" is not there.
    random_state : int, RandomState instance or None, default=None
        As scikit-learn has it; nothing here is random.
    verbose : int, default=0
        1: a line for each machine.
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
    monotonic_cst : mapping or array-like of shape (n_features,), default=None
        1 where the decision value must never fall with a feature (its weight is 0 or more), -1 where
        it must never rise, 0 where it is free; as scikit-learn has it. For two classes and the ridge
        penalty.
    weight_bounds : mapping or array-like of shape (n_features, 2), default=None
        Smallest weight, 0 or less, and largest weight, 0 or more, of a feature, None for no bound.
        As ``monotonic_cst``.

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

    _takes = (
        "penalty: str = 'l2', loss='squared_hinge', dual: str | bool = 'auto', C, multi_class='ovr', fit_intercept, "
        "intercept_scaling=1.0, tol=1e-12, class_weight, verbose, random_state=None, max_iter=100000, time_limit, "
        "monotonic_cst: Any = None, weight_bounds: Any = None, n_jobs, max_memory"
    )
    _parameter_constraints = {
        "penalty": [StrOptions({"l1", "l2"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "multi_class": [StrOptions({"ovr"})],
        "monotonic_cst": ["array-like", dict, None],
        "weight_bounds": ["array-like", dict, None],
    }

    def _fit(self, samples: Samples) -> LinearSVC:
        self._check_combination()
        self._check_bounds(samples)
        self.classes_ = samples.classes
        n_classes = len(self.classes_)
        codes = [samples.codes]
        if n_classes > 2:
            codes = [(samples.codes == k).astype(np.uint32) for k in range(n_classes)]
        machine = self._sparse_machine if self.penalty == "l1" else self._machine
        answers = []
        for code in codes:
            samples.codes = code
            answers.append(machine(samples))
        self.coef_ = np.vstack([answer["coef"] for answer in answers])
        self.intercept_ = np.concatenate([answer["intercept"] for answer in answers])
        self.n_iter_ = int(max(1, *(answer["iterations"].max() for answer in answers), 1))
        self.objective_ = sum(answer["objective"] for answer in answers)
        self.gap_ = max(answer["gap"] for answer in answers)
        return self

    def _check_combination(self) -> None:
        """Refuse what scikit-learn refuses together."""
        dual = self.dual != "auto" and bool(self.dual)
        wrong = self.penalty == "l1" and (self.loss == "hinge" or dual)
        if wrong or (self.penalty == "l2" and self.loss == "hinge" and self.dual != "auto" and not dual):
            raise ValueError(
                "Unsupported set of arguments: the combination is not supported, "
                f"Parameters: penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
            )

    def _weight_bounds(self) -> list[dict[str, Any]]:
        return weight_bounds(self._index(), self.monotonic_cst, self.weight_bounds)

    def _check_bounds(self, samples: Samples) -> None:
        """Refuse bounds on weights that cannot be kept."""
        bounds = self._weight_bounds()
        if bounds and (self.penalty == "l1" or len(samples.classes) > 2):
            found = "penalty='l1'" if self.penalty == "l1" else f"{len(samples.classes)} classes"
            raise ValueError(
                f"monotonic_cst and weight_bounds are for penalty='l2' and two classes, but there are {found}; leave them out"
            )
        named = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        _core.check_rules({"weights": bounds}, [str(name) for name in named])

    def _machine(self, samples: Samples) -> dict[str, Any]:
        """A machine with the ridge penalty."""
        return self._train(samples, {"kind": "linear"}, svm_of(self.C, self.loss, bias_of(self), self.tol, self.max_iter))

    def _sparse_machine(self, samples: Samples) -> dict[str, Any]:
        """A machine with the L1 penalty."""
        p = samples.X.shape[1]
        settings = svm_of(self.C, self.loss, bias_of(self), self.tol, self.max_iter)
        limits = limits_of(self, self.time_limit, gap=self.tol)
        answer = samples.select(Rules()._resolved(p, None, None), {"name": "l1-svm", "svm": settings}, limits, None)
        warn_of_limit(self, answer, "The classifier is what training had found until then.")
        coef, model = np.zeros(p), answer["model"]
        if model is not None:
            coef[answer["support"]] = model["weights"]
        found = {**answer, "coef": coef[None], "intercept": np.array([model["bias"] if model else 0.0])}
        found["iterations"] = np.array([max(answer["counts"]["oracle_calls"], 1)])
        found["gap"] = answer["gap"] or 0.0
        self._tell(found)
        return found

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
        X = checked(self, X, accept_sparse="csr", reset=False)
        return linear_decision(X, self.coef_, self.intercept_)


def linear_decision(X: Any, coef: Any, intercept: np.ndarray) -> np.ndarray:
    decision = safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return decision.ravel() if decision.shape[1] == 1 else decision
