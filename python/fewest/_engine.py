"""From what scikit-learn's users hold to what the engine takes, and back."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Integral
from time import monotonic
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib.parallel import effective_n_jobs, get_active_backend
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, _check_y, check_consistent_length, validate_data

from fewest import _core
from fewest._call import memory_left, time_left
from fewest._columns import ColumnFile
from fewest._estimator import tags_of
from fewest._frames import (
    in_order,
    labels_in,
    missing_labels,
    named,
    names_beside,
    plain_labels,
    refuse_dates,
    refuse_missing_labels,
    refuse_texts,
)
from fewest._memory import method_with_memory, with_memory
from fewest._parameters import value_of
from fewest._warn import warn

logger = logging.getLogger("fewest")

#: A relative gap that rounding alone may leave, and that no user misses.
ROUNDING = 1e-8
DTYPES: Any = (np.float64, np.float32)
#: Endings of the files that :mod:`fewest.dask` takes; other texts are texts.
FILES = re.compile(r"\.((svm|libsvm|svmlight)(\.gz|\.bz2)?|npz|parquet|csc)$", re.IGNORECASE)
#: Weights of classes that are found from y.
CLASS_WEIGHTS = ("balanced", "cw2", "cw3")


def matrix(X: Any) -> Any:
    """What the engine takes for X, an array or sparse matrix that was validated. Copied are only
    rows that become columns, and arrays that are not contiguous or not aligned, as those out of a
    message may be.
    """
    if isinstance(X, ColumnFile):
        return X._file
    if not sp.issparse(X):
        contiguous = X.flags.c_contiguous or X.flags.f_contiguous
        return np.require(X if contiguous else np.ascontiguousarray(X), requirements="A")
    X = summed(X).tocsc()
    starts, data = X.indptr.astype(np.int64, copy=False), np.ascontiguousarray(X.data, dtype=np.float64)
    return (X.shape[0], *(np.require(part, requirements="A") for part in (starts, X.indices, data)))


def summed(X: Any) -> Any:
    """X, or, where it is sparse and its entries are unsorted or repeated, a copy where they are not:
    what reads such matrices may sort and sum it where it lies, or take a half for the whole.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


@dataclass
class Samples:
    """Validated samples of positive weight."""

    X: Any
    codes: np.ndarray
    """Class of each sample, 0, 1, ..."""
    weights: np.ndarray
    """Cost weight of each sample: its sample weight times its class weight."""
    sample_weight: np.ndarray
    """Its sample weight alone."""
    classes: np.ndarray
    kept: np.ndarray | None
    """Which of the caller's samples these are; none when all of them are."""
    tasks: np.ndarray | None = None
    """Task of each sample, 0, 1, ...; none without tasks."""
    groups: np.ndarray | None = None
    """Group of each sample, where some stay together in the folds that choose the cost."""
    matrix: Any = field(init=False)

    def __post_init__(self) -> None:
        self.matrix = matrix(self.X)

    def select(
        self,
        rules: dict[str, Any],
        method: dict[str, Any],
        limits: dict[str, Any],
        listener: Any,
        proof: dict[str, Any] | None = None,
        held_out: Any = None,
    ) -> dict[str, Any]:
        """The engine's answer; ``proof`` says where its proof goes and what it says of the run,
        ``held_out`` what classifiers are judged by.
        """
        return _core.select(*self.arguments, rules, method_with_memory(method), limits, listener, proof, held_out, self.tasks)

    @property
    def arguments(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """The first arguments of the engine's functions."""
        return self.matrix, self.codes, self.weights

    def as_many(self) -> Samples:
        """The same samples, of as much weight as they are many: weights of classes change shares alone."""
        return replace(self, weights=self.weights * (self.sample_weight.sum() / self.weights.sum()))

    def with_X(self, X: Any) -> Samples:
        """The same samples with other columns."""
        return Samples(X, self.codes, self.weights, self.sample_weight, self.classes, self.kept, groups=self.groups)


def is_elsewhere(X: Any) -> bool:
    """Whether :mod:`fewest.dask`, which few import, knows how to take X: a Dask collection, a list
    of files, or its shards.
    """
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(x, os.PathLike) or (isinstance(x, str) and FILES.search(x)) for x in X)
    module = type(X).__module__
    return module == "fewest.dask" or module.partition(".")[0] in ("dask", "dask_expr")


def refuse_elsewhere(X: Any, who: str) -> None:
    """Raise where X is not in memory; ``who`` needs it there."""
    if is_elsewhere(X):
        raise TypeError(f"{who} the samples in memory; give an array, such as X.compute() of a Dask collection")


def checked(estimator: Any, *arrays: Any, **options: Any) -> Any:
    """X, or X and y, as ``validate_data`` of scikit-learn returns them; its refusal of missing
    values says what to do about them.
    """
    if isinstance(arrays[0], ColumnFile):
        return _checked_file(estimator, *arrays, **options)
    if type(arrays[0]).__module__ == "fewest.dask":
        raise TypeError(
            f"{type(estimator).__name__} needs the samples in memory here, not Shards; give shards[:, features], which brings "
            "columns here. fit of FeatureGeneratingMachine, L1SVMSelector (squared hinge), SVMRFE and InformationGain takes shards"
        )
    name = type(estimator).__name__
    if isinstance(arrays[0], (str, os.PathLike)):
        raise TypeError(f"X is {os.fspath(arrays[0])!r}, but must be an array or a frame; fewest.read_table reads a file")
    if value_of(estimator, "impute") is not None:
        options["ensure_all_finite"] = "allow-nan"
    X, y = named(arrays[0]), arrays[1:]
    names = names_beside(X)
    refuse_dates(X)
    for labels in y:
        if labels is not None:
            refuse_missing_labels(labels)
    y = tuple(plain_labels(labels) for labels in y)
    try:
        who, values = (estimator, X) if names is None else (_without_names(estimator, options), X.plain())
        found = validate_data(who, values, *y, **{"accept_sparse": ("csc", "csr"), "dtype": DTYPES, **options})
    except (ValueError, TypeError) as error:
        refuse_texts(X, name, error)
        if "Input X contains NaN" not in str(error):
            raise
        if tags_of(estimator).is_function:
            raise ValueError(
                f"Input X contains NaN. {name} takes no missing values: fill them in, or leave out what has some"
            ) from None
        own = f', or by {name}(impute="median")' if hasattr(estimator, "impute") else ""
        raise ValueError(
            f"Input X contains NaN. {name} takes no missing values: fill them in before it, so that this is learnt inside each fold, "
            f"too, as in make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), {name}()){own}"
        ) from None
    if names is not None:
        _keep_names(estimator, np.array(names, dtype=object), "X", options)
    return (summed(found[0]), *found[1:]) if y else summed(found)


def _without_names(estimator: Any, options: dict[str, Any]) -> Any:
    """Who validates a matrix whose names scikit-learn does not see: without ``reset`` a copy that knows
    none, so that it misses none.
    """
    if options.get("reset", True):
        return estimator
    who = copy(estimator)
    vars(who).pop("feature_names_in_", None)
    return who


def _keep_names(estimator: Any, names: np.ndarray, what: str, options: dict[str, Any]) -> None:
    """Names of features as those of the estimator, or, without ``reset``, compared with them."""
    if options.get("reset", True):
        estimator.feature_names_in_ = names
    elif not np.array_equal(getattr(estimator, "feature_names_in_", names), names):
        raise ValueError(f"The feature names of {what} should match those that were passed during fit of {type(estimator).__name__}.")


def _checked_file(estimator: Any, X: ColumnFile, *y: Any, reset: bool = True) -> Any:
    """The same of a column file, which was checked when it was opened."""
    name, p = type(estimator).__name__, X.shape[1]
    if reset:
        estimator.n_features_in_ = p
        vars(estimator).pop("feature_names_in_", None)
    elif p != estimator.n_features_in_:
        raise ValueError(f"X has {p} features, but {name} is expecting {estimator.n_features_in_} features as input")
    if X.feature_names is not None:
        _keep_names(estimator, X.feature_names, repr(X), {"reset": reset})
    if not y:
        return X
    labels = _check_y(*y)
    check_consistent_length(X, labels)
    return X, labels


def validated(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    binary_only: bool,
    reset: bool = True,
    drops_negative: bool = False,
) -> Samples:
    """Check X, y and weights; set ``classes_``, ``n_features_in_``, ``feature_names_in_``, or,
    without ``reset``, compare with them. A negative weight is an error, or, as for LIBSVM, no
    sample. Those of weight 0 are left out.
    """
    y = labels_in(X, y)
    in_order(X, y=y, sample_weight=sample_weight)
    X, y = checked(estimator, X, y, reset=reset)
    check_classification_targets(y)
    check_class_weight(class_weight, y)
    if drops_negative and sample_weight is not None and not (np.asarray(sample_weight) > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=not drops_negative)
    kept = None
    if not (sample_weight > 0).all():
        kept = np.flatnonzero(sample_weight > 0)
        if kept.size == 0:
            raise ValueError("all sample weights are zero; at least one sample of each of two classes needs a weight")
        if drops_negative and len(np.unique(y[kept])) == 1 < len(np.unique(y)):
            raise ValueError("Invalid input - all samples with positive weights belong to the same class")
        X, y, sample_weight = X[kept], y[kept], sample_weight[kept]
    classes, codes = np.unique(y, return_inverse=True)
    check_classes(estimator, classes, y, binary_only)
    if reset:
        estimator.classes_ = classes
    elif not np.array_equal(classes, estimator.classes_):
        raise ValueError(f"y has the classes {classes.tolist()}, but the fit had {estimator.classes_.tolist()}; give the same samples")
    weights = sample_weight * class_weights(class_weight, classes, codes, sample_weight)[codes]
    return Samples(X, codes.astype(np.uint32).ravel(), weights, sample_weight, classes, kept)


def check_classes(estimator: Any, classes: np.ndarray, y: np.ndarray, binary_only: bool) -> None:
    """Raise where there are fewer than two classes, or more than the estimator takes."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes, but the data contain one class: {classes.tolist()[0]!r}"
        )
    if binary_only and len(classes) > 2:
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")


def check_class_weight(class_weight: Any, y: np.ndarray) -> None:
    """Raise where weights of classes name an unknown class; as for scikit-learn, names of other
    classes are fine where every class has a weight.
    """
    if isinstance(class_weight, str) and class_weight not in CLASS_WEIGHTS:
        raise ValueError(f"class_weight is {class_weight!r}, but must be a dict or one of {', '.join(map(repr, CLASS_WEIGHTS))}")
    if not isinstance(class_weight, dict):
        return
    labels = np.unique(y).tolist()
    unknown, unnamed = [key for key in class_weight if key not in labels], [label for label in labels if label not in class_weight]
    if unknown and unnamed:
        raise ValueError(
            f"The classes, {unnamed}, are not in class_weight, which names {unknown}, but y has no such class; "
            f"the classes of y are {labels}"
        )


def class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray) -> np.ndarray:
    """Weight of each class."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        # A class that a training part lacks has no samples there to weigh.
        totals[totals == 0] = 1.0
        if class_weight == "balanced":
            return sample_weight.sum() / (len(classes) * totals)
        return 1.0 / totals + (len(classes) if class_weight == "cw3" else 0.0)
    known = {label: at for at, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    for label, weight in class_weight.items():
        if label in known:
            weights[known[label]] = weight
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"class_weight is {class_weight!r}, but weights must be finite and above zero")
    return weights


def said_class_weights(class_weight: Any, classes: np.ndarray) -> dict[str, list[float]] | None:
    """Weights that a mapping gives to classes, as the engine takes them; None where it is none."""
    if not isinstance(class_weight, dict):
        return None
    return {"each": [float(class_weight.get(label, 1.0)) for label in classes.tolist()]}


def weights_in(samples: Samples, class_weight: Any, train: np.ndarray) -> np.ndarray:
    """The cost weight of each sample where weights of classes are a function of a training part."""
    codes, sample_weight = samples.codes[train], samples.sample_weight[train]
    return samples.sample_weight * class_weights(class_weight, samples.classes, codes, sample_weight)[samples.codes]


#: Seconds between two lines of ``verbose=1``.
BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Progress:
    """The progress of a fit; what ``callback=`` receives.

    Parameters
    ----------
    event : str
        What happened: "step", "incumbent" (a better subset), "bound" (a better proof), "eliminated"
        (a feature left), "plan" (what the next pass will cost).
    elapsed : float
        Seconds since the start of the search.
    done, total : int or None
        Steps done, and steps expected where that is known.
    objective, bound, gap : float or None
        Objective of the best subset so far, the proven bound, and the share of what features can gain
        over none that is left open between them.
    features : ndarray of int or None
        Indices of the best subset so far.
    feature : int or None
        With "eliminated": the feature that left.
    criterion : float or None
        Its criterion.
    """

    event: str
    elapsed: float
    done: int | None = None
    total: int | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    features: np.ndarray | None = None
    feature: int | None = None
    criterion: float | None = None


class Listener:
    """Hands the events of a run to its listeners; the engine asks it whether to stop."""

    def __init__(self, estimator: Any, samples: Samples) -> None:
        self.estimator, self.samples = estimator, samples
        self.verbose, self.callback = int(estimator.verbose), getattr(estimator, "callback", None)
        self.context: Any = getattr(estimator, "_callback_fit_ctx", None)
        self.protocol = self.context is not None and bool(getattr(estimator, "_skl_callbacks", None))
        self.state: dict[str, Any] = {}
        #: Steps of what the same fit did before.
        self.before = getattr(estimator, "_steps_before", 0)
        self.begun = self.since = monotonic()
        #: When a line was printed; None before the first.
        self.printed: float | None = None

    @property
    def wanted(self) -> Listener | None:
        """The listener where anything listens; without one the run is not interrupted by events."""
        return self if self.verbose or self.callback or self.protocol or logger.isEnabledFor(logging.DEBUG) else None

    @property
    def lines(self) -> Listener | None:
        """The listener where lines are printed, which nothing else hears."""
        self.callback, self.protocol = None, False
        return self if self.verbose else None

    def __call__(self, event: dict[str, Any]) -> bool:
        kind = event.pop("event")
        if kind == "tick":
            self._print_when_due()
            return False
        lasting = ("elapsed", "done", "total", "objective", "bound", "gap")
        counted = {name: self.before + event[name] for name in ("done", "total") if event.get(name) is not None}
        if "total" in event and event["total"] is None:
            self.state.pop("total", None)
        if counted.get("total") != self.state.get("total"):
            self.since = monotonic()
        self.state.update({name: value for name, value in {**event, **counted}.items() if name in lasting and value is not None})
        if "features" in event:
            self.state["features"] = np.asarray(event["features"], dtype=np.intp)
        now = {"event": kind, "feature": event.get("feature"), "criterion": event.get("criterion")}
        progress = Progress(**{"elapsed": 0.0, **self.state, **now})
        logger.debug("%s: %s", kind, self._text())
        self._print_when_due(every=self.verbose > 1)
        stop = bool(self.callback and self.callback(progress))
        if self.protocol and kind in ("step", "incumbent"):
            stop |= self._step()
        return stop

    def _print_when_due(self, every: bool = False) -> None:
        """The first line at once, then one every ten seconds, or each."""
        if self.verbose and (every or self.printed is None or monotonic() - self.printed >= BETWEEN_LINES):
            self.printed = monotonic()
            print(f"[{type(self.estimator).__name__}] {self._text()}", flush=True)

    def _text(self) -> str:
        """What is done, the best so far, the share that is done and the time left, as the command says it."""
        now, limit, rest = monotonic(), self.estimator.time_limit, time_left(None)
        done, total = self.state.get("done"), self.state.get("total")
        said = [f"{now - self.begun:.0f} s" + (f" of at most {limit:g} s" if limit is not None else "")]
        if done is not None:
            said.append(f"{done} of {total} steps" if total else f"{done} steps")
        if "features" in self.state:
            said.append(f"{len(self.state['features'])} features")
        said += [f"{name} {self.state[name]:.6g}" for name in ("objective", "bound") if name in self.state]
        if "gap" in self.state:
            said.append(f"gap {self.state['gap']:.2%}")
        left = None
        if done and total and total > done:
            said.append(f"{100 * done // total} % done")
            # The first steps say little of the others.
            left = (now - self.since) * (total - done) / done if now - self.since >= 1 else None
        if left is not None and (rest is None or left <= rest):
            said.append(f"about {left:.0f} s left")
        elif rest is not None:
            said.append(f"at most {rest:.0f} s left")
        return ", ".join(said)

    def _step(self) -> bool:
        """One task of scikit-learn's callback protocol; its callbacks may ask for an estimator of
        the best subset so far.
        """
        step = self.context.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator)
        features = self.state.get("features")

        def best_so_far() -> dict[str, Any] | None:
            if features is None:
                return None
            support = np.zeros(self.samples.X.shape[1], dtype=bool)
            support[features] = True
            classifier = self.estimator._classifier(self.samples, support, None)
            return {"support_": support, "estimator_": classifier, "classes_": self.samples.classes}

        return bool(step.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=best_so_far))


def threads_of(n_jobs: int | None) -> int | None:
    """``n_jobs`` as scikit-learn counts it; None is what a ``joblib.parallel_config`` says, one in a
    worker (process or thread), and else None, for all cores.
    """
    cores = os.cpu_count() or 1
    if n_jobs is not None:
        return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)
    backend, configured = get_active_backend()
    if multiprocessing.current_process().name != "MainProcess" or backend.nesting_level:
        return 1
    return None if configured is None else min(effective_n_jobs(None), cores)


def limits_of(estimator: Any, time_limit: float | None, **more: Any) -> dict[str, Any]:
    """The limits and threads of a call; without ``threads`` it takes all cores."""
    keep = value_of(estimator, "on_interrupt") == "keep"
    given = {
        "time": time_left(time_limit),
        "threads": threads_of(estimator.n_jobs),
        "keep_on_interrupt": keep,
        "memory": memory_left(estimator),
        **more,
    }
    return {name: value for name, value in given.items() if value is not None}


def subsets_of(listed: Any) -> list[tuple[np.ndarray, float]]:
    """Subsets with their objectives, from the engine's lists."""
    return [(np.asarray(subset, dtype=np.intp), objective) for subset, objective in listed]


def seed_of(random_state: Any) -> int:
    """A number for what scikit-learn takes as ``random_state``."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def svm_of(C: float, loss: str, bias: str | float, tol: float, max_iter: int = -1) -> dict[str, Any]:
    """Settings of an SVM as the engine takes them."""
    settings = with_memory({"cost": float(C), "loss": loss.replace("_", "-"), "bias": bias, "tolerance": float(tol)})
    return settings if max_iter <= 0 else {**settings, "max_epochs": int(max_iter)}


def bias_of(estimator: Any) -> str | float:
    """The bias of an estimator as the engine takes it."""
    return bias_from(value_of(estimator, "fit_intercept"), value_of(estimator, "intercept_scaling"))


def bias_from(fit_intercept: bool, intercept_scaling: float | None) -> str | float:
    """A bias as the engine takes it: "free" (not penalised), "none", or the value of the constant feature whose
    weight it is.
    """
    if not fit_intercept:
        return "none"
    return "free" if intercept_scaling is None else float(intercept_scaling)


def came_to_its_end(answer: dict[str, Any]) -> bool:
    """Whether the engine was not stopped before its end."""
    status, gap = answer["status"], answer.get("gap")
    return status in ("optimal", "completed", "infeasible") or (status == "stalled" and gap is not None and gap <= ROUNDING)


def warn_of_limit(estimator: Any, answer: dict[str, Any], what: str) -> None:
    """A ``ConvergenceWarning`` when the engine did not finish."""
    if came_to_its_end(answer):
        return
    status, gap = answer["status"], answer.get("gap")
    why = {
        "time_limit": "time_limit was reached; raise it",
        "call_limit": "the limit on iterations was reached; raise it",
        "node_limit": "the limit on nodes was reached; raise it",
        "memory_limit": "memory was used up; allow more",
        "cancelled": "it was interrupted" if answer["interrupted"] else "a callback stopped it",
        "stalled": "rounding ended its progress; scale the features, or raise tol",
    }[status]
    known = f" At most {gap:.2%} of what features can gain is left out." if gap is not None and np.isfinite(gap) else ""
    said = f"{type(estimator).__name__} stopped before its end: {why}. {what}{known} {tags_of(estimator).remedy}".rstrip()
    warn(said, ConvergenceWarning)


def coded_tasks(samples: Samples, X: Any, tasks: Any) -> tuple[np.ndarray, np.ndarray]:
    """The names of the tasks, and that of each sample, of X, as 0, 1, ..."""
    in_order(X, tasks=tasks)
    missing, tasks = missing_labels(tasks), column_or_1d(tasks, warn=True)
    if missing.size:
        raise ValueError(f"tasks has {missing.size} missing entries, the first at {missing[0]}; give each sample a task")
    if samples.kept is None:
        if len(tasks) != len(samples.codes):
            raise ValueError(f"tasks has {len(tasks)} entries, but X has {len(samples.codes)} samples; give one for each")
    elif len(tasks) <= samples.kept.max():
        raise ValueError(f"tasks has {len(tasks)} entries, but X has more samples; give one for each")
    else:
        tasks = tasks[samples.kept]
    names, places = np.unique(tasks, return_inverse=True)
    codes = places.astype(np.uint32).ravel()
    for task, name in enumerate(names.tolist()):
        if len(np.unique(samples.codes[codes == task])) < 2:
            raise ValueError(f"all samples of the task {name!r} are of one class, but a classifier needs two; leave it out")
    return names, codes
