"""The classifier of a selector: trained on the selected features, and what it decides."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import safe_mask
from sklearn.utils.validation import check_is_fitted

from fewest import _plain
from fewest._columns import ColumnFile
from fewest._engine import Samples, checked
from fewest._estimator import Estimator
from fewest._frames import named, names_beside
from fewest._parameters import value_of
from fewest._rules import Rules, weight_bounds
from fewest._svc import SVC
from fewest._svm import PER_FEATURE, LinearSVC, Scored, categories_of, elected


class Classifies(Scored, SelectorMixin, Estimator, metaclass=ABCMeta):
    """What selectors are as transformers and as classifiers."""

    def transform(self, X: Any) -> Any:
        """The selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with all features.

        Returns
        -------
        X_selected : array of shape (n_samples, n_selected)
            Samples, with the selected features.
        """
        X = X if isinstance(X, ColumnFile) else self._coded(named(X))
        if isinstance(X, ColumnFile) or names_beside(X) is not None:
            return self._selected(X)
        return super().transform(X)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def _coded(self, X: Any) -> Any:
        """Samples as the selector's features are made of them."""
        return X

    def _selected(self, X: Any) -> Any:
        """The selected features of samples as they are."""
        check_is_fitted(self)
        X = checked(self, self._coded(X), reset=False)
        return X[:, safe_mask(X, self.support_)]

    def _reduced(self, X: Any) -> Any:
        """The selected features as the classifier takes them."""
        return self._selected(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the classifier on the selected features.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values; for two classes positive ones speak for ``classes_[1]``.
        """
        return self._of(self._reduced(X), "decision_function")

    def predict(self, X: Any) -> np.ndarray:
        """Class of each sample, by the classifier on the selected features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        return self._of(self._reduced(X), "predict")

    def _of(self, X: Any, method: str, classifier: Any = None) -> np.ndarray:
        fitted = self._fitted() if classifier is None else classifier
        if X.shape[1]:
            return getattr(fitted, method)(X)
        # scikit-learn's validation refuses a matrix without columns.
        decision = np.broadcast_to(fitted.intercept_, (X.shape[0], len(fitted.intercept_)))
        decision = decision.ravel() if decision.shape[1] == 1 else decision
        if method == "decision_function":
            return decision.copy()
        return elected(fitted.classes_, decision)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the classifier, of shape (n_machines, n_features), 0 for the features that are
        not selected.
        """
        own = self._fitted().coef_
        coef = np.zeros((own.shape[0], len(self.support_)))
        coef[:, self.support_] = own
        return coef

    @property
    def intercept_(self) -> np.ndarray:
        """Its biases, of shape (n_machines,)."""
        return self._fitted().intercept_

    def _fitted(self) -> Any:
        if not hasattr(self, "estimator_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.estimator_

    def _classifier(self, samples: Samples, support: np.ndarray, answer: dict[str, Any] | None) -> Any:
        """The classifier on the selected features: the method's own, or an SVM trained on them."""
        own = answer and answer["model"]
        if own or not support.any():
            return self._own(samples, support, own)
        classifier = self._trainer(answer)
        classifier.n_features_in_ = int(support.sum())
        classifier._bounds = self._bounds_of(support)
        if categorical := categories_of(self, len(support)):
            chosen = np.cumsum(support) - 1
            classifier.categorical_features = [int(chosen[j]) for j in categorical if support[j]]
        return classifier._fit(samples.with_X(samples.X[:, safe_mask(samples.X, support)]))

    def _bounds_of(self, support: np.ndarray) -> list[dict[str, Any]]:
        """The bounds that the rules put on the weights of the selected features, counted among these."""
        rules, place = self.rules or Rules(), np.cumsum(support) - 1
        bounds = weight_bounds(self._index(), rules.signs, rules.bounds)
        return [{**bound, "feature": int(place[bound["feature"]])} for bound in bounds if support[bound["feature"]]]

    def _trainer(self, answer: dict[str, Any] | None) -> Any:
        """An untrained classifier with this selector's settings, the kernel that the method found,
        and ``fit_C``, else the cost that it found.
        """
        answer = answer or {"cost": None, "kernel": self._kernel}
        kernel = {"kernel" if name == "kind" else name: value for name, value in answer["kernel"].items()}
        if kernel.get("gamma") == PER_FEATURE:
            kernel["gamma"] = "auto"
        cost = value_of(self, "fit_C") or answer["cost"] or value_of(self, "C")
        return self._svc(cost, loss=value_of(self, "loss"), **kernel)

    def _svc(self, C: float, **more: Any) -> SVC:
        """An untrained classifier with this selector's bias, tolerance and threads."""
        return SVC(
            C=C,
            fit_intercept=value_of(self, "fit_intercept"),
            intercept_scaling=value_of(self, "intercept_scaling"),
            tol=value_of(self, "tol"),
            n_jobs=self.n_jobs,
            **more,
        )

    def _own(self, samples: Samples, support: np.ndarray, own: dict[str, Any] | None) -> LinearSVC:
        """A classifier of given weights; without any feature it names the class of more weight."""
        classifier = LinearSVC(C=value_of(self, "C"), loss=value_of(self, "loss"))
        classifier.classes_ = samples.classes
        classifier.n_features_in_ = int(support.sum())
        if own:
            classifier.coef_ = np.atleast_2d(own["weights"])
            classifier.intercept_ = np.array([own["bias"]])
        else:
            of_class = np.bincount(samples.codes, weights=samples.weights)
            rows = 1 if len(of_class) == 2 else len(of_class)
            classifier.coef_ = np.zeros((rows, 0))
            classifier.intercept_ = np.sign([of_class[1] - of_class[0]]) if rows == 1 else of_class / of_class.sum()
        return classifier

    def to_sklearn(self) -> Pipeline:
        """The same classifier of scikit-learn's own parts, for what knows no other, such as skl2onnx.

        Returns
        -------
        pipeline : Pipeline
            Fitted: the selected columns (by name where ``fit`` saw names), what stands in for missing
            values and the scaling where this selector does them, and ``sklearn.svm.LinearSVC``, or
            ``sklearn.svm.SVC`` for other kernels and for more than two classes. Its decisions are those
            of this selector.
        """
        check_is_fitted(self)
        if hasattr(self, "tasks_"):
            raise TypeError("each task has a classifier of its own; fit a selector for one task, or without tasks")
        support = np.flatnonzero(self.support_)
        return _plain.pipeline(
            self._fitted(), len(self.support_), support, getattr(self, "feature_names_in_", None), *self._how_prepared(support)
        )

    def _how_prepared(self, support: np.ndarray) -> tuple[Any, Any, Any]:
        """What is put in place of NaN, subtracted from the selected features, and divided by."""
        prepared = getattr(self, "preparation_", None)
        if prepared is None:
            return None, None, None
        part = prepared.part(support)
        return part.fill, part.center, part.scale
