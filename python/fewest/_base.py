"""What every selector shares: a fit that asks the engine, a mask of features, a classifier on them."""

from __future__ import annotations

import os
from abc import ABCMeta
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from fewest import _core
from fewest._auto_cost import with_costs
from fewest._call import limited
from fewest._certifies import Certifies
from fewest._classifies import Classifies
from fewest._docs import SELECTOR_ATTRIBUTES
from fewest._engine import (
    Listener,
    Samples,
    is_elsewhere,
    limits_of,
    refuse_elsewhere,
    subsets_of,
    validated,
    warn_of_limit,
)
from fewest._estimator import Tags
from fewest._folds import keep_groups
from fewest._memory import method_with_memory
from fewest._parameters import FEW, MOST_WITHIN, handed, value_of
from fewest._path import fitted_path
from fewest._rules import Rules
from fewest._svm import kernel_of
from fewest._tables import names_of
from fewest._warn import warn

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin where there is none."""


class Selector(CallbackSupportMixin, Classifies, Certifies, metaclass=ABCMeta):
    """Base of all selectors; a subclass names its method and its settings."""

    _attributes = SELECTOR_ATTRIBUTES
    #: Attributes that are counts of the engine, by their names there.
    _counts: Mapping[str, str] = {}

    def _method(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        """The method's name and settings, as the engine takes them."""
        raise NotImplementedError

    def _wanted(self) -> dict[str, Any]:
        """Which subsets are wanted, as the engine takes it."""
        most = MOST_WITHIN if self.within is not None else 1
        return {"solutions": int(self.n_solutions or most), **handed(self, "within")}

    def _kernel_rule(self, samples: Samples, rules: dict[str, Any]) -> dict[str, Any]:
        """The kernel as the engine takes it."""
        return kernel_of(self, samples, self._most(rules, samples.X.shape[1]))

    def _most(self, rules: dict[str, Any], p: int) -> int:
        """Most features that may be selected."""
        return rules["max_features"] or p

    def _default_size(self, n_features: int) -> int | None:
        """Most features where neither the user nor a rule says anything; None: no limit."""
        priced = value_of(self, "feature_penalty") is not None
        return None if self._tags.finds_size or priced else min(FEW, n_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = value_of(self, "impute") is not None
        tags.classifier_tags.multi_class = not self._tags.binary_only
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
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
        if not self.__fewest_tags__().deals_folds:
            return requests
        router = MetadataRouter(owner=self).add_self_request(requests)
        return router.add(splitter=self._splitter(), method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def __fewest_tags__(self) -> Tags:
        return replace(self._tags, deals_folds=self._tags.deals_folds or value_of(self, "C") == "auto")

    def _splitter(self) -> Any:
        """The splitter of the folds, from which callers learn whether it takes groups."""
        return StratifiedGroupKFold()

    def _with_groups(self, samples: Samples, X: Any, groups: Any) -> Samples:
        """The samples, of X, with the groups that the choice of the cost keeps together."""
        if groups is None:
            return samples
        if not self.__fewest_tags__().deals_folds:
            raise ValueError(
                "groups say which samples stay together in folds, but nothing is dealt into folds here; leave groups out"
                + (', or let folds choose the cost: C="auto"' if hasattr(self, "C") else "")
            )
        if is_elsewhere(X) or not isinstance(samples, Samples):
            raise TypeError("groups need the samples in memory; give an array, such as X.compute() of a Dask collection")
        keep_groups(samples, X, groups)
        return samples

    def _sized(self, X: Any, y: Any, sizes: Any, sample_weight: Any, tasks: Any, groups: Any) -> list[Self]:
        """What path returns; ``tasks`` where the selector takes some."""
        refuse_elsewhere(X, "path needs")
        selector = clone(self)
        selector._validate_params()
        samples = selector._validated(X, y, sample_weight)
        samples = selector._with_groups(samples, X, groups)
        if tasks is not None:
            samples = selector._with_tasks(samples, X, tasks)
        return fitted_path(selector, samples, sizes)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        if self._tags.shards != "none" and is_elsewhere(X):
            try:
                from fewest.dask import ShardSamples
            except ImportError as why:
                raise ImportError("Dask collections and lists of files need Dask: pip install 'fewest[dask]'") from why
            samples: Any = ShardSamples(self, X, y, sample_weight)
            return samples
        return validated(self, X, y, sample_weight, self.class_weight, self._tags.binary_only)

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
            raise ValueError(f"{self._tags.size_name} is {size}, but must be a number of features, or None")
        if size is not None and by_rules is not None and size != by_rules:
            raise ValueError(f"{self._tags.size_name} is {size}, but rules say max_features={by_rules}; leave one of them out")
        return by_rules if size is None else size

    def _rules(self, p: int) -> dict[str, Any]:
        """Rules and size as the engine takes them."""
        rules, size = self.rules or Rules(), self._given_size()
        if size is not None and size > p:
            warn(f"{self._tags.size_name} is {size}, but X has {p} features; all of them may be selected.")
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
        return self._index().numbers(value, "feature_penalty")

    def _to_select(self, samples: Samples) -> Samples:
        """The samples as the method takes them."""
        return samples

    def _select(self, samples: Samples, method: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
        limits = limits_of(self, self.time_limit, **self._search())
        listener = Listener(self, samples).wanted
        asked = {**self._proof(method), **self._judged()}
        try:
            answer = self._to_select(samples).select(rules, method, limits, listener, **asked)
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
        path = value_of(self, "proof")
        settings = {key: value for key, value in method.items() if key != "name"}
        return {} if path is None else {"proof": self._proof_request(path, method["name"], settings)}

    def _search(self) -> dict[str, Any]:
        """Limits of the search besides time: its gap, its nodes, and where it keeps its progress, and how often."""
        limits = {"gap": getattr(self, "gap", None), "nodes": getattr(self, "node_limit", None)}
        if value_of(self, "resume") is None:
            return limits
        return {**limits, "resume": os.fspath(self.resume), **handed(self, "resume_every")}

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
        for name, key in self._counts.items():
            setattr(self, name, answer["counts"][key])
        self.status_, self.trace_ = answer["status"], answer["trace"]
        self.ranking_ = self._ranking(answer)
        if hasattr(self, "proof"):
            self.proof_ = os.fspath(self.proof) if answer["proof"] else None
        if hasattr(self, "within"):
            self.within_ = answer["details"].get("within")
        if "traffic" in answer["details"]:
            self.traffic_ = answer["details"]["traffic"]
        if answer["solutions"]:
            self.solutions_ = subsets_of(answer["solutions"])

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
