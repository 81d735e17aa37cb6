"""What every selector shares: a fit that asks the engine, a mask of features, a classifier on them."""

from __future__ import annotations

import inspect
import os
from abc import ABCMeta
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import safe_mask
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fewest import _core, _plain
from fewest._auto_cost import with_costs
from fewest._call import limited
from fewest._columns import ColumnFile
from fewest._docs import SELECTOR_ATTRIBUTES, WITHIN_ATTRIBUTES, Linked, complete_class, completes_doc
from fewest._engine import (
    Listener,
    Samples,
    bias_of,
    checked,
    coded_tasks,
    is_elsewhere,
    limits_of,
    svm_of,
    validated,
    warn_of_limit,
)
from fewest._folds import coded_groups
from fewest._frames import named, names_beside
from fewest._memory import method_with_memory
from fewest._parameters import FEW, MOST_WITHIN, TOL, has_signature
from fewest._path import fitted_path
from fewest._rules import Rules, _Index, weight_bounds
from fewest._svc import SVC
from fewest._svm import PER_FEATURE, LinearSVC, Scored, categories_of, elected, kernel_of
from fewest._tables import names_of
from fewest._warn import warn

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin where there is none."""


class Selector(Linked, CallbackSupportMixin, Scored, SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of all selectors; a subclass names its method and its settings."""

    _binary_only = True
    #: Whether the method finds a size by itself, so that none need be given.
    _finds_size = False
    #: Whether it takes columns that are spread over workers, and whether of two classes only.
    _takes_shards = False
    _binary_on_shards = True
    #: Whether C weighs the loss against an L1 penalty.
    _has_l1_cost = False
    #: What the parameter of the size is called.
    _size_name = "n_features_to_select"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if has_signature(cls):
            lists = "within" in inspect.signature(cls.__init__).parameters
            complete_class(cls, SELECTOR_ATTRIBUTES | (WITHIN_ATTRIBUTES if lists else {}))

    def _method(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        """The method's name and settings, as the engine takes them."""
        raise NotImplementedError

    def _wanted(self) -> dict[str, Any]:
        """Which subsets are wanted, as the engine takes it."""
        most = MOST_WITHIN if self.within is not None else 1
        return {
            "solutions": int(self.n_solutions or most),
            "within": None if self.within is None else float(self.within),
        }

    def _kernel_rule(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        """The kernel as the engine takes it."""
        return kernel_of(self, samples, self._most(rules, samples.X.shape[1]))

    def _most(self, rules: dict[str, Any], p: int) -> int:
        """Most features that may be selected."""
        return rules["max_features"] or p

    def _default_size(self, n_features: int) -> int | None:
        """Most features where neither the user nor a rule says anything; None: no limit."""
        priced = getattr(self, "feature_penalty", None) is not None
        return None if self._finds_size or priced else min(FEW, n_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self._binary_only
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    @completes_doc
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Select features, and train a classifier on them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples. Taken as they are: scale features first where their units differ.

        Returns
        -------
        self : object
            Fitted.
        """
        return self._run(self._with_groups(self._validated(X, y, sample_weight), X, groups))

    @completes_doc
    @limited
    def path(self, X: Any, y: Any, sizes: Any, sample_weight: Any = None, *, groups: Any = None) -> list[Self]:
        """Select features for each of several sizes, each from what the size before found.

        Parameters
        ----------
        sizes : int or sequence of int
            Most features of each, ascending; an int: from 1 to it.

        Returns
        -------
        selectors : list of object
            A fitted selector for each size, with ``n_features_to_select`` set to it; fewer where
            the search was stopped. A kernel's gamma is that of the largest size. ``time_limit`` is
            for all of them.
        """
        return self._sized(X, y, sizes, sample_weight, None, groups)

    def get_metadata_routing(self) -> Any:
        """How metadata go on: groups to what deals folds, without being asked for.

        Returns
        -------
        routing : MetadataRequest or MetadataRouter
            As scikit-learn has it.
        """
        requests = self._get_metadata_request()
        of_fit = requests.fit.requests
        if of_fit.get("groups") is None:
            # The splitter asks for them by itself.
            of_fit.pop("groups", None)
        if not self._deals_folds:
            return requests
        router = MetadataRouter(owner=self).add_self_request(requests)
        return router.add(splitter=self._splitter(), method_mapping=MethodMapping().add(caller="fit", callee="split"))

    @property
    def _deals_folds(self) -> bool:
        """Whether something is chosen by folds."""
        return getattr(self, "C", None) == "auto"

    def _splitter(self) -> Any:
        """The splitter of the folds, from which callers learn whether it takes groups."""
        return StratifiedGroupKFold()

    def _with_groups(self, samples: Samples, X: Any, groups: Any) -> Samples:
        """The samples, of X, with the groups that the choice of the cost keeps together."""
        if groups is None:
            return samples
        if not self._deals_folds:
            raise ValueError(
                "groups say which samples stay together in folds, but nothing is dealt into folds here; leave groups out"
                + (', or let folds choose the cost: C="auto"' if hasattr(self, "C") else "")
            )
        if is_elsewhere(X) or not isinstance(samples, Samples):
            raise TypeError("groups need the samples in memory; give an array, such as X.compute() of a Dask collection")
        codes = coded_groups(X, groups, X.shape[0] if hasattr(X, "shape") else len(X))
        samples.groups = codes if samples.kept is None else codes[samples.kept]
        return samples

    def _sized(self, X: Any, y: Any, sizes: Any, sample_weight: Any, tasks: Any, groups: Any) -> list[Self]:
        """What path returns; ``tasks`` where the selector takes some."""
        if is_elsewhere(X):
            raise TypeError("path needs the samples in memory; give an array, such as X.compute() of a Dask collection")
        selector = clone(self)
        selector._validate_params()
        samples = selector._validated(X, y, sample_weight)
        samples = selector._with_groups(samples, X, groups)
        if tasks is not None:
            samples = selector._with_tasks(samples, X, tasks)
        return fitted_path(selector, samples, sizes)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        if self._takes_shards and is_elsewhere(X):
            try:
                from fewest.dask import ShardSamples
            except ImportError as why:
                raise ImportError("Dask collections and lists of files need Dask: pip install 'fewest[dask]'") from why
            samples: Any = ShardSamples(self, X, y, sample_weight)
            return samples
        return validated(self, X, y, sample_weight, self.class_weight, self._binary_only)

    def _prepared(self, samples: Samples) -> Samples:
        """The samples as the selector trains on them."""
        return samples

    def _run(self, samples: Samples, splits: Any = ()) -> Any:
        """Fit as one task of scikit-learn's callback protocol."""
        context = None
        if hasattr(self, "_init_callback_context"):
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self)
        self._fit_on(samples, splits)
        if context is not None:
            fitted = {name: getattr(self, name) for name in ("support_", "estimator_", "classes_") if hasattr(self, name)}
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=fitted)
        return self

    def _fit_on(self, samples: Samples, splits: Any) -> None:
        """Fit, judging by these splits of the samples."""
        self._fit(samples)

    def _fit(self, samples: Samples) -> None:
        p = samples.X.shape[1]
        rules = self._rules(p)
        self._kernel = self._kernel_rule(samples, rules)
        # The same selector, unless the cost is to be chosen.
        chosen = with_costs(self, samples, rules)
        answer = chosen._select(samples, chosen._method(samples, rules), rules)
        self._set_results(answer, p)
        self._keep_classifier(chosen, samples, answer)

    def _keep_classifier(self, chosen: Any, samples: Samples, answer: dict[str, Any]) -> None:
        """Train on the selected features, with the costs that were chosen."""
        self.estimator_ = chosen._classifier(samples, self.support_, answer)

    def _given_size(self) -> int | None:
        """Most features as the user says, by the parameter or by the rules."""
        size, by_rules = self.n_features_to_select, (self.rules or Rules()).max_features
        if isinstance(size, (bool, np.bool_)):
            raise ValueError(f"{self._size_name} is {size}, but must be a number of features, or None")
        if size is not None and by_rules is not None and size != by_rules:
            raise ValueError(f"{self._size_name} is {size}, but rules say max_features={by_rules}; leave one of them out")
        return by_rules if size is None else size

    def _rules(self, p: int) -> dict[str, Any]:
        """Rules and size as the engine takes them."""
        rules, size = self.rules or Rules(), self._given_size()
        if size is not None and size > p:
            warn(f"{self._size_name} is {size}, but X has {p} features; all of them may be selected.")
        if size is None and not rules._bound_size:
            size = self._default_size(p)
        if size is not None and size < p and (group := rules._never_chosen(p, getattr(self, "feature_names_in_", None), int(size))):
            warn(
                f"a group of together has {len(group)} features ({', '.join(self._names()[j] for j in group[:3])}, ...), more than the "
                f"{size} that may be selected, so that it is never chosen; allow more, or count variables and not their columns: "
                'Rules.from_columns(..., count="variables")'
            )
        resolved = rules._resolved(p, getattr(self, "feature_names_in_", None), size)
        if len(set(resolved["forbid"])) == p:
            warn("rules forbid every feature, so that none can be selected.")
        return resolved if size is None else {**resolved, "max_features": min(int(size), p)}

    def _names(self) -> list[str]:
        """Names of the features, x0, x1, ... where X has none."""
        return names_of(getattr(self, "feature_names_in_", None), self.n_features_in_)

    def _prices(self, value: Any) -> list[float] | str:
        """One price for each feature from a number, a sequence, or a mapping of names; "auto" stays."""
        if value is None:
            return []
        if isinstance(value, str):
            return value
        return _Index(self.n_features_in_, getattr(self, "feature_names_in_", None)).numbers(value, "feature_penalty")

    def _to_select(self, samples: Samples) -> Samples:
        """The samples as the method takes them."""
        return samples

    def _select(self, samples: Samples, method: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
        limits = limits_of(self, self.time_limit, gap=getattr(self, "gap", None), **self._limits(), **self._kept())
        listener = Listener(self, samples, int(self.verbose), self.callback)
        asked = {**self._proof(method), **self._judged()}
        try:
            answer = self._to_select(samples).select(rules, method, limits, listener if listener.wanted else None, **asked)
        except ValueError:
            # If it is the rules, it is repeated with the names of the features.
            _core.check_rules(rules, self._names())
            raise
        warn_of_limit(self, answer, "The best subset so far is kept.")
        return answer

    def _method_settings(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        """The method's settings, memory included."""
        return method_with_memory(self._method(samples, rules))

    def _judged(self) -> dict[str, Any]:
        """Samples that classifiers are judged by, if there are any."""
        return {}

    def _proof(self, method: dict[str, Any]) -> dict[str, Any]:
        """Where the proof goes, if there is to be one, and what it says of the run."""
        path = getattr(self, "proof", None)
        settings = {key: value for key, value in method.items() if key != "name"}
        return {} if path is None else {"proof": self._proof_request(path, method["name"], settings)}

    def _proof_request(
        self, path: str | os.PathLike[str], method: str, settings: dict[str, Any], more: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Where a proof goes, and what it says of the run."""
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        made = {
            "method": method,
            "version": _core.__version__,
            "settings": settings,
            **({"names": names} if names else {}),
            **(more or {}),
        }
        return {"path": os.fspath(path), "made": made}

    def _kept(self) -> dict[str, Any]:
        """Where the search keeps its progress, and how often."""
        if getattr(self, "resume", None) is None:
            return {}
        return {"resume": os.fspath(self.resume), "resume_every": float(self.resume_every)}

    def _limits(self) -> dict[str, Any]:
        """Limits besides time and gap."""
        return {}

    def _set_results(self, answer: dict[str, Any], p: int) -> None:
        """The attributes of a fitted selector."""
        support = answer["support"]
        self.support_ = np.zeros(p, dtype=bool)
        if support is None:
            ended = {"infeasible": "no subset obeys the rules", "completed": "rounding left no objective; scale the features"}
            why = ended.get(answer["status"], "none was found in time")
            warn(f"{type(self).__name__} selected no features: {why}.", ConvergenceWarning)
        else:
            self.support_[support] = True
        self.n_features_ = int(self.support_.sum())
        for name in ("objective", "bound", "baseline", "gap", "objective_gap"):
            setattr(self, f"{name}_", answer[name])
        self.status_, self.trace_ = answer["status"], answer["trace"]
        self.ranking_ = self._ranking(answer)
        if hasattr(self, "proof"):
            self.proof_ = os.fspath(self.proof) if answer["proof"] else None
        if hasattr(self, "within"):
            self.within_ = answer["details"].get("within")
        if "traffic" in answer["details"]:
            self.traffic_ = answer["details"]["traffic"]
        if answer["solutions"]:
            self.solutions_ = [(np.asarray(subset, dtype=np.intp), value) for subset, value in answer["solutions"]]

    def _ranking(self, answer: dict[str, Any]) -> np.ndarray:
        """1 for the selected, more for those that left earlier."""
        ranking = np.where(self.support_, 1, 2)
        steps = answer["steps"]
        if (steps >= 0).any():
            # Features that left in the same step share a rank, as scikit-learn's do.
            left = np.unique(steps[steps >= 0])[::-1]
            place = {step: rank for rank, step in enumerate(left, start=2)}
            ranking[answer["ranked"]] = [place.get(step, 1) for step in steps]
            ranking[self.support_] = 1
        return ranking

    def _tolerance(self) -> float:
        """Relative duality gap of a training; the library's default where the method trains no SVM."""
        return getattr(self, "tol", TOL)

    def _svm(self) -> dict[str, Any]:
        """Cost, loss, bias and tolerance as the engine takes them."""
        return svm_of(getattr(self, "C", 1.0), getattr(self, "loss", "hinge"), bias_of(self), self.tol)

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
        index = _Index(self.n_features_in_, getattr(self, "feature_names_in_", None))
        bounds = weight_bounds(index, rules.signs, rules.bounds)
        return [{**bound, "feature": int(place[bound["feature"]])} for bound in bounds if support[bound["feature"]]]

    def _trainer(self, answer: dict[str, Any] | None) -> Any:
        """An untrained classifier with this selector's settings, the kernel that the method found,
        and ``fit_C``, else the cost that it found.
        """
        answer = answer or {"cost": None, "kernel": self._kernel}
        kernel = {"kernel" if name == "kind" else name: value for name, value in answer["kernel"].items()}
        if kernel.get("gamma") == PER_FEATURE:
            kernel["gamma"] = "auto"
        return SVC(
            C=getattr(self, "fit_C", None) or answer["cost"] or getattr(self, "C", 1.0),
            loss=getattr(self, "loss", "hinge"),
            fit_intercept=getattr(self, "fit_intercept", True),
            intercept_scaling=getattr(self, "intercept_scaling", None),
            tol=self._tolerance(),
            n_jobs=self.n_jobs,
            **kernel,
        )

    def _own(self, samples: Samples, support: np.ndarray, own: dict[str, Any] | None) -> LinearSVC:
        """A classifier of given weights; without any feature it names the class of more weight."""
        classifier = LinearSVC(C=getattr(self, "C", 1.0), loss=getattr(self, "loss", "hinge"))
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

    @completes_doc
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the classifier on the selected features.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values; for two classes positive ones speak for ``classes_[1]``.
        """
        return self._of(self._reduced(X), "decision_function")

    @completes_doc
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

    def _certifiable(self) -> bool:
        if getattr(self, "kernel", "linear") != "linear":
            raise AttributeError("certify is for the linear kernel")
        return True

    @available_if(_certifiable)
    @completes_doc
    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        time_limit: float | None = 10.0,
        gap: float = 1e-4,
        node_limit: int | None = None,
        proof: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """How far the selected subset is from the best one of at most as many features, under the
        same rules. For more classes than two the objective is the sum over all pairs of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples it was fitted on, with all features.
        time_limit : float, default=10.0
            Seconds to search for a better subset and a better bound.
        gap : float, default=1e-4
            The search ends where at most this share of what features can gain over none is left open.
        node_limit : int, default=None
            The search ends after this many nodes.
        proof : path-like, default=None
            File for a proof of the bound, which :func:`fewest.verify` checks.

        Returns
        -------
        certificate : dict
            ``objective`` of the SVM on the subset, ``bound`` below that of every subset of at most
            as many features, ``baseline`` without features, ``gap`` (the share of what features can
            gain over none that may be left out), ``objective_gap``, ``best`` (indices of the best
            subset known) and ``best_objective``, ``status`` ("optimal" when ``best`` is proven),
            ``elapsed`` seconds, ``proof`` (its file, or None).
        """
        return self._certified(X, y, sample_weight, time_limit, {"gap": gap, "nodes": node_limit}, proof, None)

    def _certified(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        time_limit: float | None,
        search: dict[str, Any],
        proof: str | os.PathLike[str] | None,
        tasks: Any,
    ) -> dict[str, Any]:
        """What certify returns, of the SVM of this selector."""
        svm = svm_of(self._cost(), getattr(self, "loss", "hinge"), bias_of(self), self._tolerance())
        return self._certificate(X, y, sample_weight, svm, self.class_weight, time_limit, search, proof, tasks)

    def _certificate(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        svm: dict[str, Any],
        class_weight: Any,
        time_limit: float | None,
        search: dict[str, Any],
        proof: str | os.PathLike[str] | None,
        tasks: Any = None,
    ) -> dict[str, Any]:
        """What certify returns, of this SVM; ``tasks`` where the selector takes some."""
        check_is_fitted(self)
        if is_elsewhere(X):
            raise TypeError("certify needs the samples in memory; give an array, such as X.compute() of a Dask collection")
        samples = validated(self, X, y, sample_weight, class_weight, self._binary_only, reset=False)
        if not self.support_.any():
            raise ValueError("no feature is selected, so that there is no subset to certify")
        # At most the features selected, which may be more than was asked for where a method keeps a
        # mixture.
        rules = {**self._rules(samples.X.shape[1]), "max_features": self.n_features_}
        samples, subset = self._prepared(samples), np.flatnonzero(self.support_).tolist()
        own = {"own": subset}
        request = None if proof is None else self._proof_request(proof, type(self).__name__, {"svm": svm}, own)
        limits = limits_of(self, time_limit, **search)
        codes = None if tasks is None else coded_tasks(samples, X, tasks)[1]
        certificate = _core.certify(*samples.arguments, rules, subset, svm, limits, request, codes)
        certificate["best"] = np.asarray(certificate["best"], dtype=np.intp)
        certificate["proof"] = os.fspath(proof) if proof is not None and certificate["proof"] else None
        return certificate

    def _cost(self) -> float:
        """The slack cost: the one chosen, the one given, or 1."""
        return getattr(self, "C_", getattr(self, "C", 1.0))
