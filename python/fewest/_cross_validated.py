"""Selectors that judge by cross-validation: the splits of the caller, as the engine takes them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.model_selection import check_cv

from fewest._base import Selector
from fewest._call import holding, limited
from fewest._engine import Samples, weights_in
from fewest._estimator import Tags
from fewest._folds import splits_of
from fewest._frames import in_order, labels_in, named
from fewest._path import fitted_path
from fewest._rules import Rules

if TYPE_CHECKING:
    from typing_extensions import Self


def criterion_of(estimator: Any) -> str:
    """The criterion as the engine takes it."""
    if estimator.criterion != "auto":
        return estimator.criterion.replace("_", "-")
    return "weights" if estimator.kernel == "linear" else "margin"


def step_of(estimator: Any) -> dict[str, Any]:
    """The step of SVM-RFE as the engine takes it."""
    if isinstance(estimator.step, Integral):
        return {"count": int(estimator.step)}
    return {estimator.step_of: float(estimator.step)}


def folds_of(splits: list[tuple[np.ndarray, np.ndarray]], samples: Samples, class_weight: Any) -> dict[str, Any]:
    """The two parts of each split, and, where those of classes depend on the training part, the
    weights of each training.
    """
    if not splits:
        raise ValueError("cv is None, but subsets are judged by cross-validation; give a number of folds, a splitter, or splits")
    parts = [{"training": train.tolist(), "held_out": test.tolist()} for train, test in splits]
    folds = {"splits": parts, "weights": samples.sample_weight.tolist()}
    if not isinstance(class_weight, str):
        return folds
    of_split = [weights_in(samples, class_weight, train) for train, _ in splits]
    return {**folds, "training": [weights.tolist() for weights in of_split]}


class CrossValidated(Selector):
    """A selector that judges subsets by cross-validation."""

    _tags = Tags(binary_only=False, deals_folds=True)

    @_fit_context(prefer_skip_nested_validation=False)
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """
        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each counts as, 0 or more, in training and in accuracy; default 1.
        """
        samples = self._validated(X, y, sample_weight)
        return self._run(samples, self._splits(self.cv, samples, X, y, groups))

    @limited
    def path(self, X: Any, y: Any, sizes: Any, sample_weight: Any = None, groups: Any = None) -> list[Self]:
        """Select features for each of several sizes."""
        selector = clone(self)
        selector._validate_params()
        samples = selector._validated(X, y, sample_weight)
        return selector._fitted_path(samples, selector._splits(self.cv, samples, X, y, groups), sizes)

    def _splitter(self) -> Any:
        # A number with groups deals folds of whole groups.
        return super()._splitter() if self.cv is None or isinstance(self.cv, Integral) else check_cv(self.cv, classifier=True)

    def _given_size(self) -> int | None:
        size = self.n_features_to_select
        if size is None or isinstance(size, Integral):
            return super()._given_size()
        if (self.rules or Rules()).max_features is not None:
            raise ValueError("n_features_to_select and max_features of the rules both give a size; leave one of them out")
        return max(int(size * self.n_features_in_), 1)

    def _begun(self) -> list[int] | None:
        """The features of ``start``, ascending."""
        if self.start is None:
            return None
        return sorted(set(self._index("start").all(self.start)))

    def _fitted_path(self, samples: Samples, splits: Any, sizes: Any) -> list[Any]:
        with holding(self, _folds=folds_of(splits, samples, self.class_weight)):
            return fitted_path(self, samples, sizes)

    def _splits(self, cv: Any, samples: Samples, X: Any, y: Any, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """The splits of a splitter, as positions among the samples kept."""
        if cv is None:
            return []
        in_order(X, groups=groups)
        y, weights, place = np.asarray(labels_in(X, y)).ravel(), None, None
        if samples.kept is not None:
            weights, place = np.zeros(len(y)), np.full(len(y), -1)
            weights[samples.kept], place[samples.kept] = 1.0, np.arange(len(samples.kept))
        splits = splits_of(cv, named(X), y, groups, weights)
        return splits if place is None else [(place[train], place[test]) for train, test in splits]

    def _fit_on(self, samples: Samples, splits: Any) -> None:
        with holding(self, _folds=folds_of(splits, samples, self.class_weight)):
            self._fit(samples)
