"""A selector judged on samples that none of it has seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from time import monotonic
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import get_routing_for_object

from fewest import _core
from fewest._engine import summed
from fewest._estimator import tags_of
from fewest._figure import MUTED, PALE, caps, finish, name_rows, new_axes
from fewest._folds import coded_groups, dealt, said_groups, splits_of
from fewest._frames import in_order, labels_in, named, plain_labels, refuse_missing_labels
from fewest._positive import is_first
from fewest._rules import _Index
from fewest._tables import called, most_first, names_of, table

#: Measures that are shares, and what a figure calls them.
SHARES = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
}


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` found; ``print`` shows the tables of ``fewest evaluate``.

    Parameters
    ----------
    folds : list of dict
        Each fold: ``selected`` (indices), ``metrics`` by name, ``test`` (positions held out),
        ``predicted``, ``seconds``, ``status``.
    summary : dict
        Of each measure the ``mean`` over the folds, its standard error ``se``, and ``ci95``, the 95 %
        interval that allows for training samples that folds share (Nadeau and Bengio 2003): for
        accuracy and shares of classes that of Wilson (1927), the samples over the design effect of
        the folds (Rao and Scott 1992); for balanced accuracy, F1 and MCC those of the classes
        together (Zou and Donner 2008); for others Student's t.
    frequency : ndarray of shape (n_features,)
        Share of the folds that chose each feature.
    stability : dict or None
        How alike their subsets are: ``index`` (Nogueira, Sechidis and Brown 2018) and ``ci95``.
    confusion : ndarray of shape (n_classes, n_classes)
        Samples held out, by true and predicted class.
    against : Evaluation or None
        The same of the estimator that it is compared with.
    comparison : dict or None
        ``difference`` in accuracy (a summary), and ``t_test``, one-sided, corrected as above: that
        the first is better.
    recall : dict
        The share of each class that is classified right, as ``summary`` has it; None for a class that no
        fold held out.
    feature_names : ndarray of str or None
        Names of the features that ``frequency`` and ``selected`` count, where the estimator makes
        them again in each fold, such as words: those that any fold has. None: they are the same in
        each fold.
    asked : dict
        What was asked, and of which features, as the table says it: ``method``, ``names`` and so on.
    """

    folds: list[dict[str, Any]]
    summary: dict[str, dict[str, Any]]
    frequency: np.ndarray
    stability: dict[str, Any] | None
    confusion: np.ndarray
    against: Evaluation | None = None
    comparison: dict[str, Any] | None = None
    recall: dict[Any, dict[str, Any] | None] = field(default_factory=dict)
    feature_names: np.ndarray | None = None
    asked: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """The tables that ``fewest evaluate`` prints."""
        return table(self._result())

    def plot(self, ax: Any = None, *, figsize: Any = None) -> Any:
        """Draw the measures that are shares with their 95 % intervals, beside what guessing gives.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure, with a row for each measure.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on.
        """
        names = [name for name in SHARES if (self.summary.get(name) or {}).get("mean") is not None]
        own = ax is None
        ax = new_axes("Evaluation.plot", ax, figsize, len(names))
        places = name_rows(ax, [SHARES[name] for name in names])
        found = [self.summary[name] for name in names]
        low, high = zip(*[of.get("ci95") or (None, None) for of in found], strict=True)
        caps(ax, places, [of["mean"] for of in found], low, high, label="samples held out (95 % interval)")
        classes = self.confusion.sum(axis=1)
        guess = {"accuracy": classes.max() / max(classes.sum(), 1), "auc": 0.5, "balanced_accuracy": 1 / max(len(classes), 1)}
        known = [at for at, name in enumerate(names) if name in guess]
        ax.plot([guess[names[at]] for at in known], known, "|", color=MUTED, markersize=12, markeredgewidth=2, label="guessing")
        ax.grid(axis="y", color=PALE, linestyle=":")
        ax.set(xlabel="Share")
        finish(ax, own, figsize, "On samples held out", 1)
        return ax

    def _result(self) -> dict[str, Any]:
        """With the keys of the command's JSON."""
        metrics = [fold["metrics"] for fold in self.folds]
        counts = {name: sum(of[name] is None for of in metrics) for of in metrics for name in of}
        result: dict[str, Any] = {
            "method": self.asked.get("method"),
            "n_features": len(self.frequency),
            "classes": dict.fromkeys(map(str, range(len(self.confusion)))),
            "folds": [{"seconds": fold["seconds"]} for fold in self.folds],
            "summary": self.summary,
            "recall": {str(label): recall for label, recall in self.recall.items()},
            "positive": self.asked.get("positive"),
            "undefined": {name: count for name, count in counts.items() if count},
            "frequency": most_first(names_of(self.asked.get("names"), len(self.frequency)), self.frequency)[0],
            "stability": self.stability,
            "settings": self.asked.get("settings", {}),
        }
        if self.against is not None and self.comparison is not None:
            # Without a share of common samples it is the paired test.
            paired = _core.t_test(_differences(self, self.against), 0.0)
            result["against"] = self.against._result()
            result["comparison"] = self.comparison | {"t_test": paired, "corrected_t_test": self.comparison["t_test"]}
        return result

    def __repr__(self) -> str:
        said = ", ".join(f"{name} {_interval(summary)}" for name, summary in self.summary.items())
        return f"Evaluation({len(self.folds)} folds: {said})"


def _differences(first: Evaluation, second: Evaluation) -> np.ndarray:
    """The accuracy of the first less that of the second, by fold."""
    pairs = zip(first.folds, second.folds, strict=True)
    return np.array([a["metrics"]["accuracy"] - b["metrics"]["accuracy"] for a, b in pairs])


def _interval(summary: dict[str, Any]) -> str:
    """A mean with its interval."""
    low, high = summary.get("ci95") or (None, None)
    return f"{summary['mean']:.3g}" + (f" ({low:.3g} to {high:.3g})" if low is not None and high is not None else "")


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    n_repeats: int = 1,
    random_state: int | None = 0,
    groups: Any = None,
    sample_weight: Any = None,
    tasks: Any = None,
    truth: Any = None,
    against: Any = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Judge a selector by cross-validation: the selection is made again inside each fold.

    What ``fewest evaluate`` does, of any estimator: put a scaler before the selector in a pipeline,
    and the pipeline into a ``GridSearchCV`` where costs or sizes are to be tuned inside the folds.

    Parameters
    ----------
    estimator : estimator
        A selector, a pipeline that ends with one, or a search over either.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels.
    cv : int, splitter or iterable, default=10
        Folds; an int: this many stratified ones, shuffled, which are those of ``fewest evaluate`` for the
        same seed.
    n_repeats : int, default=1
        With an int for ``cv``: times the folds are dealt.
    random_state : int, default=0
        With an int for ``cv``: how they are dealt.
    groups : array-like of shape (n_samples,), default=None
        The group of each sample, such as a person or a batch: samples of one group stay together, in the
        folds and in those that a selector deals inside them (``cv``, ``C="auto"``). A splitter is given
        them, and so is that of a search, where it takes some.
    sample_weight : array-like of shape (n_samples,), default=None
        How many samples each counts as in training, 0 or more.
    tasks : array-like of shape (n_samples,), default=None
        The task of each sample, for a selector that takes some: it is fitted with them, and each
        sample is classified by the classifier of its task.
    truth : sequence of features, default=None
        Features that matter, where that is known: indices, names of columns, or a mask. Adds the
        measure ``set_f1``, the F1 of the selected set against them (Tamura et al. 2022).
    against : estimator, default=None
        Judged on the same folds, and compared.
    pos_label : bool, int, float or str, default=None
        The class of two that ``f1``, ``sensitivity`` and ``specificity`` are of; what ``--positive`` is to the
        command. None: the later one.
    n_jobs : int, default=None
        Folds at a time, as joblib counts.

    Returns
    -------
    evaluation : Evaluation
        Measures with intervals, how often each feature was chosen, how stable the choice is.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fewest import SVMRFE, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = evaluate(make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=5)), X, y, cv=5)
    >>> found.summary["accuracy"]["mean"] > 0.9, found.stability["index"] > 0.3
    (True, True)
    """
    named_groups = groups
    X, y, groups, sample_weight, tasks = together(X, y, groups=groups, sample_weight=sample_weight, tasks=tasks)
    classes, codes = np.unique(y, return_inverse=True)
    codes = codes.ravel()
    first = is_first(pos_label, classes)
    if isinstance(cv, Integral):
        of = None if groups is None else coded_groups(X, groups, len(y))
        splitter: Any = dealt(codes, int(cv), n_repeats, random_state, tasks, of)
    elif n_repeats != 1:
        raise ValueError(
            f"n_repeats is {n_repeats}, which has a meaning with a number for cv only; leave it out, or give a number for cv"
        )
    else:
        splitter = cv
    splits = splits_of(splitter, X, y, groups, sample_weight)
    share = float(np.mean([len(test) / len(train) for train, test in splits]))
    scheme = {"cv": int(cv), "repeats": n_repeats} if isinstance(cv, Integral) else {}
    settings = {"scheme": scheme, **said_groups(named_groups, groups)}
    found = [
        _evaluation(one, X, y, classes, codes, splits, (sample_weight, tasks, groups), truth, share, n_jobs, settings, first)
        for one in ([estimator] if against is None else [estimator, against])
    ]
    if against is None:
        return found[0]
    first, second = found
    differences = _differences(first, second)
    comparison = {
        "measure": "accuracy",
        "difference": _core.summary("difference", differences, share, []),
        "t_test": _core.t_test(differences, share),
    }
    return replace(first, against=second, comparison=comparison)


def together(X: Any, y: Any, **others: Any) -> list[Any]:
    """X, the labels as an array, and what else there is of each sample, of one length and in one order."""
    y = labels_in(X, y)
    in_order(X, y=y, **others)
    refuse_missing_labels(y)
    X, y, *rest = indexable(named(X), y, *others.values())
    return [summed(X), np.asarray(plain_labels(y)).ravel(), *(None if one is None else np.asarray(one).ravel() for one in rest)]


def _evaluation(estimator, X, y, classes, codes, splits, beside, truth, share, n_jobs, settings, first):
    """One estimator on all folds."""
    run = delayed(_fold)
    folds = Parallel(n_jobs=n_jobs)(run(clone(estimator), X, y, classes, codes, split, beside, truth, first) for split in splits)
    seen = [fold.pop("seen") for fold in folds]
    n_features, names, places = joined(seen)
    for fold, place in zip(folds, places, strict=True):
        fold["selected"] = place[fold["selected"]]
    confusions = []
    for fold in folds:
        counts = np.zeros((len(classes), len(classes)), dtype=int)
        np.add.at(counts, (codes[fold["test"]], np.searchsorted(classes, fold["predicted"])), 1)
        confusions.append(counts)
    # How often a sample was held out.
    times = sum(len(fold["test"]) for fold in folds) / len(np.unique(np.concatenate([fold["test"] for fold in folds])))
    # The second class is the positive one.
    turned = slice(None, None, -1 if first else 1)
    counts = [of[turned, turned].tolist() for of in confusions]
    found = _core.summaries([fold["metrics"] for fold in folds], counts, times, share)
    recall = dict(zip(classes.tolist()[turned], found["recall"], strict=True))
    recall = {label: recall[label] for label in classes.tolist()}
    summary = found["summary"]
    for name in ("n_features", "set_f1"):
        if name in folds[0]["metrics"]:
            values = np.array([fold["metrics"][name] for fold in folds], dtype=float)
            summary[name] = _core.summary(name, values, share, [])
    subsets = [fold["selected"].tolist() for fold in folds]
    frequency = np.bincount(np.concatenate([fold["selected"] for fold in folds]), minlength=n_features) / len(folds)
    stable = _core.subset_stability(subsets, n_features)
    said = {"method": called(estimator), "names": seen[0][1] if names is None else names, "settings": settings}
    said["positive"] = str(classes[0 if first else 1]) if len(classes) == 2 else None
    return Evaluation(folds, summary, frequency, stable, sum(confusions), recall=recall, feature_names=names, asked=said)


def joined(seen: list[tuple[int, Any]]) -> tuple[int, np.ndarray | None, list[np.ndarray]]:
    """How many features there are, by number and names of those that a selector saw in each of several
    fits; the names, where they differ; and where the features of each fit are among them.
    """
    sizes, first = {size for size, _ in seen}, seen[0][1]
    if len(sizes) == 1 and all(names is None or first is None or np.array_equal(names, first) for _, names in seen):
        size = sizes.pop()
        return size, None, [np.arange(size)] * len(seen)
    if any(names is None for _, names in seen):
        raise ValueError(
            f"the selector saw {sorted(sizes)} features in different folds, and a step before it does not name them; give that step "
            "get_feature_names_out, by which they are joined"
        )
    at: dict[str, int] = {}
    places = [np.array([at.setdefault(name, len(at)) for name in names], dtype=np.intp) for _, names in seen]
    return len(at), np.array(list(at), dtype=object), places


def seen_by(estimator: Any, selector: Any) -> tuple[int, Any]:
    """How many features the selector inside a fitted estimator saw, and their names; None without."""
    names = getattr(selector, "feature_names_in_", None)
    inner = getattr(estimator, "best_estimator_", estimator)
    if names is None and isinstance(inner, Pipeline):
        at = next(at for at, (_, step) in enumerate(inner.steps) if step is selector)
        try:
            names = inner[:at].get_feature_names_out() if at else None
        except (AttributeError, ValueError, NotFittedError):
            names = None
    return selector.n_features_in_, None if names is None else [str(name) for name in names]


def _fold(estimator, X, y, classes, codes, split, beside, truth, first):
    """One fold; ``beside``: weights, tasks and groups of all samples."""
    (train, test), (sample_weight, tasks, groups) = split, beside
    begun = monotonic()
    selector = fitted_on(estimator, X, y, train, sample_weight, groups, tasks)
    seconds = monotonic() - begun
    held_out = _safe_indexing(X, test)
    if tasks is None:
        predicted, decisions = estimator.predict(held_out), _decisions(estimator, held_out, len(classes))
    else:
        predicted, decisions = _of_tasks(estimator, selector, held_out, tasks[test], len(classes))
    of = np.searchsorted(classes, predicted).astype(np.uint32)
    known = codes[test].astype(np.uint32)
    if first:
        # Measures are of the engine's second class.
        known, of, decisions = 1 - known, 1 - of, -decisions
    metrics = _core.measures(known, of, decisions, len(classes))
    if len(classes) == 2:
        for name, code in (("sensitivity", 1), ("specificity", 0)):
            metrics[name] = float(np.mean(of[known == code] == code)) if (known == code).any() else None
    selected = np.flatnonzero(selector.get_support())
    metrics["n_features"] = float(len(selected))
    if truth is not None:
        index = _Index(selector.n_features_in_, getattr(selector, "feature_names_in_", None))
        metrics["set_f1"] = _core.set_f1(selected.tolist(), sorted(index.all(truth)))
    return {
        "selected": selected,
        "metrics": metrics,
        "test": np.asarray(test),
        "predicted": predicted,
        "seconds": seconds,
        "status": getattr(selector, "status_", None),
        "seen": seen_by(estimator, selector),
    }


def fitted_on(estimator, X, y, rows, sample_weight=None, groups=None, tasks=None):
    """Fit an estimator on some samples; returns the selector inside it."""
    weights = {} if sample_weight is None else {routed(estimator, "sample_weight"): sample_weight[rows]}
    of_tasks = {} if tasks is None else {routed(estimator, "tasks"): tasks[rows]}
    of_groups = {} if groups is None else dict.fromkeys(dealing(estimator), groups[rows])
    estimator.fit(_safe_indexing(X, rows), y[rows], **weights, **of_tasks, **of_groups)
    return _selector(estimator)


def _of_tasks(estimator: Any, selector: Any, X: Any, tasks: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes and decision values by the classifiers of tasks."""
    inner = getattr(estimator, "best_estimator_", estimator)
    if inner is not selector:
        X = inner[:-1].transform(X)
    decisions = selector.decision_function(X, tasks=tasks) if n_classes == 2 else np.empty(0)
    return selector.predict(X, tasks=tasks), decisions


def _decisions(estimator: Any, X: Any, n_classes: int) -> np.ndarray:
    """The value of each pair of classes, sample after sample, positive for the second; none where the
    classifier has no machine for each pair.
    """
    if not hasattr(estimator, "decision_function"):
        return np.empty(0)
    sign = 1.0
    if n_classes > 2:
        machines = getattr(last_step(estimator), "estimator_", last_step(estimator))
        if not hasattr(machines, "decision_function_shape"):
            return np.empty(0)
        # The classifier is the fold's own. scikit-learn's pairs speak for their first class.
        machines.decision_function_shape, machines.break_ties, sign = "ovo", False, -1.0
    decisions = sign * np.asarray(estimator.decision_function(X), dtype=np.float64)
    pairs = n_classes * (n_classes - 1) // 2
    return np.ravel(decisions) if decisions.size == decisions.shape[0] * pairs else np.empty(0)


def last_step(estimator: Any) -> Any:
    """The end of a fitted estimator: of a search that of the best one, of a pipeline its last step."""
    inner = getattr(estimator, "best_estimator_", estimator)
    return inner.steps[-1][1] if isinstance(inner, Pipeline) else inner


def _selector(estimator: Any) -> Any:
    """The selector inside a fitted estimator."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    for step in reversed(steps):
        if hasattr(step, "get_support"):
            return step
    raise TypeError(f"{type(estimator).__name__} has no selector; a step with get_support is needed")


def dealing(estimator: Any) -> list[str]:
    """The names under which fit takes the groups, where it deals folds: of a search, and of steps."""
    inner, names = getattr(estimator, "estimator", estimator), []
    if inner is not estimator and hasattr(estimator, "cv"):
        splitter = get_routing_for_object(check_cv(estimator.cv, classifier=True))
        names += ["groups"] if splitter.split.requests.get("groups") else []
    steps = inner.steps if isinstance(inner, Pipeline) else [("", inner)]
    names += [f"{name}__groups" if name else "groups" for name, step in steps if tags_of(step).deals_folds]
    # Routed metadata have one name.
    return ["groups"] if names and get_config()["enable_metadata_routing"] else names


def routed(estimator: Any, name: str) -> str:
    """The name under which fit takes what is for the last step, such as sample weights."""
    inner = getattr(estimator, "estimator", estimator)
    return f"{inner.steps[-1][0]}__{name}" if isinstance(inner, Pipeline) else name
