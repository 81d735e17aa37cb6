"""What selectors share whose objective may be a sum: over pairs of classes, and over tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fewest._base import Selector
from fewest._call import limited
from fewest._engine import Samples, coded_tasks
from fewest._estimator import Tags
from fewest._frames import in_order, labels_in
from fewest._parameters import value_of

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

#: What the engine calls the ways to make two-class problems.
PROBLEMS = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}


class SeveralProblems(Selector):
    """Selectors that take more classes than two and tasks."""

    _tags = Tags(binary_only=False)

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, tasks: Any = None, groups: Any = None) -> Self:
        """
        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, such as a site or a cohort. Each task has a classifier of its
            own, ``estimators_``, on the one subset that is best for all together.
        """
        samples = self._with_groups(self._validated(X, y, sample_weight), X, groups)
        return self._run(self._with_tasks(samples, X, tasks))

    @limited
    def path(self, X: Any, y: Any, sizes: Any, sample_weight: Any = None, *, tasks: Any = None, groups: Any = None) -> list[Self]:
        """
        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, as in ``fit``.

        Returns
        -------
        selectors : list of object
            A fitted selector for each size, with ``n_features_to_select`` set to it; fewer where
            the search was stopped. ``time_limit`` is for all of them.
        """
        return self._sized(X, y, sizes, sample_weight, tasks, groups)

    @available_if(Selector._certifiable)
    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        tasks: Any = None,
        time_limit: float | None = 10.0,
        gap: float = 1e-4,
        node_limit: int | None = None,
        proof: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """How far the selected subset is from the best one of at most as many features, under the
        same rules. For more classes than two the objective is the sum over all pairs of classes,
        with tasks over those of each task.

        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample; needed where it was fitted with tasks.
        proof : path-like, default=None
            File for a proof of the bound, which :func:`fewest.verify` checks. Two classes, no
            tasks.

        Returns
        -------
        certificate : dict
            ``objective`` of the SVMs on the subset, ``bound`` below that of every subset of at most
            as many features, ``baseline`` without features, ``gap`` (the share of what features can
            gain over none that may be left out), ``objective_gap``, ``best`` (indices of the best
            subset known) and ``best_objective``, ``status`` ("optimal" when ``best`` is proven),
            ``elapsed`` seconds, ``proof`` (its file, or None).
        """
        if hasattr(self, "tasks_") and tasks is None:
            raise ValueError("it was fitted with tasks; give those of the samples as tasks, so that the same sum is certified")
        return self._certificate(X, y, sample_weight, time_limit, {"gap": gap, "nodes": node_limit}, proof, tasks)

    def _with_tasks(self, samples: Samples, X: Any, tasks: Any) -> Samples:
        """The samples, of X, with their tasks; sets ``tasks_``."""
        for name in ("tasks_", "estimator_", "estimators_"):
            if hasattr(self, name):
                delattr(self, name)
        if tasks is None:
            return samples
        for name, value in (("C", self.C == "auto"), ("fit_C", value_of(self, "fit_C") is not None)):
            if value:
                why = "is chosen by one classifier for all samples" if name == "C" else "is the cost of one classifier for all samples"
                raise ValueError(f"{name} is {getattr(self, name)!r}, which {why}, but tasks have one each; leave one of them out")
        self.tasks_, samples.tasks = coded_tasks(samples, X, tasks)
        return samples

    def _keep_classifier(self, chosen, samples, answer):
        if samples.tasks is None:
            super()._keep_classifier(chosen, samples, answer)
            return
        self.estimators_ = []
        for task in range(len(self.tasks_)):
            of = np.flatnonzero(samples.tasks == task)
            classes, codes = np.unique(samples.codes[of], return_inverse=True)
            codes = codes.astype(np.uint32).ravel()
            part = Samples(samples.X[of], codes, samples.weights[of], samples.sample_weight[of], samples.classes[classes], None)
            self.estimators_.append(chosen._classifier(part, self.support_, answer))

    def decision_function(self, X: Any, *, tasks: Any = None) -> np.ndarray:
        """
        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, where it was fitted with tasks; two classes.
        """
        return super().decision_function(X) if tasks is None else self._by_task(X, tasks, "decision_function")

    def predict(self, X: Any, *, tasks: Any = None) -> np.ndarray:
        """
        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, where it was fitted with tasks: each is classified by the
            classifier of its task.
        """
        return super().predict(X) if tasks is None else self._by_task(X, tasks, "predict")

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, tasks: Any = None) -> float:
        """
        Parameters
        ----------
        tasks : array-like of shape (n_samples,), default=None
            The task of each sample, where it was fitted with tasks.
        """
        if tasks is None:
            return super().score(X, y, sample_weight)
        y = labels_in(X, y)
        in_order(X, y=y, sample_weight=sample_weight, tasks=tasks)
        return float(accuracy_score(y, self.predict(X, tasks=tasks), sample_weight=sample_weight))

    def _by_task(self, X: Any, tasks: Any, method: str) -> np.ndarray:
        """What the classifiers of the tasks say of their samples."""
        check_is_fitted(self)
        if not hasattr(self, "estimators_"):
            raise ValueError("it was fitted without tasks, so that there is one classifier for all; leave tasks out")
        in_order(X, tasks=tasks)
        reduced, tasks = self._reduced(X), column_or_1d(tasks, warn=True)
        if len(tasks) != reduced.shape[0]:
            raise ValueError(f"tasks has {len(tasks)} entries, but X has {reduced.shape[0]} samples; give one for each")
        known = self.tasks_.tolist()
        if unknown := sorted({task for task in tasks.tolist() if task not in known}, key=str):
            raise ValueError(f"there is no classifier of the task {unknown[0]!r}; the tasks it was fitted with are {known}")
        if method == "decision_function" and len(self.classes_) > 2:
            raise ValueError(
                "decision values of tasks are for two classes, as tasks may have different ones; use predict, or estimators_"
            )
        found: Any = np.empty(len(tasks), dtype=float if method == "decision_function" else self.classes_.dtype)
        for name, classifier in zip(known, self.estimators_, strict=True):
            of = np.flatnonzero(tasks == name)
            if of.size:
                found[of] = self._of(reduced[of], method, classifier)
        return found

    def _fitted(self):
        if hasattr(self, "estimators_"):
            raise AttributeError(
                "fitted with tasks, which have a classifier each: give predict, score and decision_function the tasks of the samples, "
                "or use estimators_, in the order of tasks_"
            )
        return super()._fitted()
