"""The parameters that estimators share: type, default, allowed values and text of each, written once.

A class says in ``_takes`` which it takes, as a signature would: ``"SIZE, C: 'auto', lam: float = 0.05, RUN"``. A
name alone has type and default of the table, a text in place of a type names a row of it (``C: 'auto'`` is ``"C.auto"``), words in
capitals are groups. ``.ci/signatures`` writes the signatures from that, into ``_signatures.py``.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from fewest._rules import Rules

Init = TypeVar("Init", bound=Callable[..., None])

COST = [Interval(Real, 0.0, None, closed="neither")]
COST_OR_AUTO = [*COST, StrOptions({"auto"})]
SHARE = [Interval(Real, 0.0, 1.0, closed="left")]
AT_LEAST_ONE = [Interval(Integral, 1, None, closed="left")]
COUNT_OR_NONE = [*AT_LEAST_ONE, None]
AT_LEAST_TWO = [Interval(Integral, 2, None, closed="left")]
NOT_BELOW_0 = [Interval(Real, 0.0, None, closed="left")]
PRICES = ["array-like", *NOT_BELOW_0, dict, None]
FILE = [str, PathLike, None]
#: Most subsets that ``within`` lists where ``n_solutions`` does not say it.
MOST_WITHIN = 1000
#: Features that a method without a size of its own selects by default.
FEW = 5


class Parameter(NamedTuple):
    """A parameter that means the same wherever it is."""

    kind: str
    """Type, as a signature writes it."""
    default: Any
    """Default; ``...`` where every class has its own."""
    allowed: list[Any]
    """Values, in the form of scikit-learn's validation."""
    told: str = ""
    """Type, as docstrings write it."""
    text: str = ""
    """What it means; empty where every class says it."""


#: Parameters that are taken together, in this order.
GROUPS = {
    "SIZE": "n_features_to_select, rules",
    "KERNEL": "kernel, gamma, degree, coef0, criterion",
    "SVM": "loss, fit_intercept, intercept_scaling, tol",
    "RUN": "class_weight, time_limit, LISTENED",
    "RESUMED": "class_weight, time_limit, resume, resume_every, LISTENED",
    "LISTENED": "on_interrupt, callback, verbose, n_jobs, max_memory",
}

# One row to a parameter.
# fmt: off
PARAMETERS = {
    "n_features_to_select": Parameter("int | None", None, COUNT_OR_NONE, "int",
        """At most this many features. None: the size of ``rules``; without one no limit where rules
        have a budget or ``at_most``, else min(5, n_features)."""),
    "n_features_to_select.priced": Parameter("int | None", None, COUNT_OR_NONE, "int",
        """At most this many features. None: the size of ``rules``; without one no limit where there is
        a penalty, or where rules have a budget or ``at_most``, else min(5, n_features)."""),
    "n_features_to_select.prices": Parameter("int | None", None, COUNT_OR_NONE, "int",
        """At most this many features. None: the size of ``rules``; without one no limit where there are
        prices, or where rules have a budget or ``at_most``, else min(5, n_features)."""),
    "n_features_to_select.sparse": Parameter("int | None", None, COUNT_OR_NONE, "int",
        "At most this many features. None: the size of ``rules``; without one those that have weight."),
    "n_features_to_select.share": Parameter("float | None", None,
        [*AT_LEAST_ONE, Interval(RealNotInt, 0.0, 1.0, closed="right"), None]),
    "rules": Parameter("Rules | None", None, [Rules, None], "Rules",
        "Rules that the subset obeys: must-in, must-out, implications, groups, a budget."),
    "C": Parameter("float", 1.0, COST, "float", "Slack cost, above 0."),
    "C.auto": Parameter("float | str", 1.0, COST_OR_AUTO, 'float or "auto"',
        """Slack cost, above 0. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None; ``C_``, ``fit_C_`` and ``cost_choice_`` (all scores) say what was found."""),
    "C.own": Parameter("float | str", 1.0, COST_OR_AUTO, 'float or "auto"',
        """Slack cost, above 0. "auto": chosen by cross-validation; ``C_`` and ``cost_choice_`` (all
        scores) say what was found."""),
    "C.classifier": Parameter("float | str", 1.0, COST_OR_AUTO, 'float or "auto"',
        """Slack cost of the classifier, above 0. "auto": chosen by cross-validation, and so is
        ``fit_C`` where it is None."""),
    "fit_C": Parameter("float | None", None, [*COST, None], "float",
        """Slack cost of the classifier on the selected features, above 0. None: the cost of
        selecting. A small cost of selecting gives stable subsets, a larger one here a bias that
        fits them."""),
    "feature_penalty": Parameter("Any", None, PRICES, "float, array-like of shape (n_features,) or dict",
        """Price of each chosen feature, added to the objective: one for all, one for each, or by name,
        where ``"*"`` is for all others."""),
    "feature_penalty.auto": Parameter("Any", None, [*PRICES, StrOptions({"auto"})],
        'float, array-like of shape (n_features,), dict or "auto"',
        """Price of each chosen feature, added to the objective: one for all, one for each, or by name,
        where ``"*"`` is for all others.
        "auto": one for all, at which about ``n_features_to_select`` features are worth it, found
        from the SVM on all features; ``feature_penalty_`` says which."""),
    "multi_class": Parameter("str", "ovo", [StrOptions({"ovo", "ovr"})], '{"ovo", "ovr"}',
        """How more classes than two become two-class problems, whose objectives add: one for each pair
        of classes, as the classifier has them, or one for each class against the rest."""),
    "n_solutions": Parameter("int | None", None, COUNT_OR_NONE, "int",
        "How many best subsets to prove. None: 1, and with ``within`` at most 1000."),
    "within": Parameter("float | None", None, [*NOT_BELOW_0, None], "float",
        """E, 0 or more, such as 0.02: all subsets whose gain over no features is at most this share below
        that of the best one are found, and proven to be all, as far as they are at most
        ``n_solutions``. Subsets of fewer features are among them. ``solutions_`` lists them, ``within_`` says what they tell."""),
    "weight_bound": Parameter("str | float | None", None, [str, *COST, None], '"auto", "none", "paper" or float',
        """u, the largest absolute weight of a feature. "auto": that of the L1-SVM of the same ``C``, "auto:K": K times
        that. "none": what no best classifier exceeds, so that bounds have no condition. "paper": of each feature
        the largest in L1-SVMs at C = 0.1, 1, 10 and 100, so that a feature that never had weight is left out.
        None: "auto", and with ``plain`` "paper"."""),
    "plain": Parameter("bool", False, ["boolean"], "bool", "The paper's algorithm without improvements."),
    "plain.program": Parameter("bool", False, ["boolean"], "bool", "The paper's program alone, without a subset to start from."),
    "gap": Parameter("float", 0.0001, NOT_BELOW_0, "float",
        """The search ends where at most this share of what features can gain over none is left open, and
        this share of the objective."""),
    "node_limit": Parameter("int | None", None, COUNT_OR_NONE, "int", "The search ends after this many nodes."),
    "proof": Parameter("str | os.PathLike[str] | None", None, FILE, "path-like",
        "File for a proof of the result, which :func:`fewest.verify` checks."),
    "lp": Parameter("str", "simplex", [StrOptions({"simplex", "interior"})], '{"simplex", "interior"}',
        "How HiGHS solves linear programs: simplex, or interior point as in the paper."),
    "max_iter": Parameter("int", ..., AT_LEAST_ONE),
    "random_state": Parameter("Any", 0, ["random_state"]),
    "Cs": Parameter("Sequence[float] | None", None, ["array-like", None]),
    "Cs.grid": Parameter("Sequence[float]", (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0), ["array-like"], "sequence of float",
        "Slack costs to choose from, ascending."),
    "cv": Parameter("Any", 5, ["cv_object"], "int, splitter or iterable",
        "Splits, as scikit-learn's: the number of stratified folds, a splitter, or (train, test) pairs."),
    "start": Parameter("Any", None, ["array-like", None], "sequence of features",
        "Start features, by index, name or mask; the others never enter. None: all."),
    "step": Parameter("float", 1, [*AT_LEAST_ONE, Interval(RealNotInt, 0.0, 1.0, closed="neither")]),
    "step_of": Parameter("str", "original", [StrOptions({"original", "remaining"})]),
    "impute": Parameter("str | None", None, [StrOptions({"mean", "median", "most_frequent"}), None]),
    "kernel": Parameter("str", "linear", [StrOptions({"linear", "rbf", "laplace", "poly", "sigmoid"})],
        '{"linear", "rbf", "laplace", "poly", "sigmoid"}',
        """Kernel of the SVM. "laplace": ``exp(-gamma sum_j |x_j - x'_j|)``."""),
    "kernel.distance": Parameter("str", "rbf", [StrOptions({"rbf", "laplace"})], '{"rbf", "laplace"}',
        """Kernel of the program and of the classifier: ``exp(-gamma sum_j (x_j - x'_j)^2)`` or
        ``exp(-gamma sum_j |x_j - x'_j|)``."""),
    "categorical_features": Parameter("Any", None, ["array-like", None], "array-like of bool, int or str",
        """Features that hold categories: a mask, indices, or names of columns. In the kernel their
        distance is 1 where two values differ, else 0; the kernel is "rbf" or "laplace". Leave them
        out where the others are scaled."""),
    # Of texts the engine says which it takes.
    "gamma": Parameter("str | float", "1/p", [str, *COST], '{"1/p", "scale", "sigest"} or float',
        """Coefficient of every kernel but "linear". "1/p" (scikit-learn's "auto"): 1 / features
        trained on, at every step. "scale": 1 / (m x variance of X), with "laplace" its standard
        deviation. "sigest": 1 / (m / n_features x median squared distance of two samples), with
        "laplace" their median sum of absolute differences, "sigest:BETA" BETA times that. m: the
        most features that may be selected."""),
    "gamma.distance": Parameter("str | float", "sigest", [str, *COST], '{"sigest", "scale", "1/p"} or float',
        "gamma of the kernel, as :class:`~fewest.AlignmentSelector` has it."),
    "degree": Parameter("int", 3, AT_LEAST_ONE, "int", 'Degree of "poly", at least 1.'),
    "coef0": Parameter("float", 0.0, [Interval(Real, None, None, closed="neither")], "float", 'Constant of "poly" and "sigmoid".'),
    "criterion": Parameter("str", "auto", [StrOptions({"auto", "weights", "margin", "input_weights"})],
        '{"auto", "weights", "margin", "input_weights"}',
        """What features are ranked by: squared weights (linear kernel), the change of the margin
        when a feature is left out with the dual variables fixed, or squared weights in input space.
        "auto": weights where the kernel is linear, else margin."""),
    "loss": Parameter("str", "hinge", [StrOptions({"hinge", "squared_hinge"})], '{"hinge", "squared_hinge"}', "Loss of a sample."),
    "fit_intercept": Parameter("bool", True, ["boolean"], "bool", "Whether there is a bias b."),
    "intercept_scaling": Parameter("float | None", None, [*COST, None], "float or None",
        """None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a
        constant feature of value s (LIBLINEAR)."""),
    "tol": Parameter("float", 1e-06, [Interval(Real, 0.0, 1.0, closed="neither")], "float",
        "Relative duality gap of a training, between 0 and 1."),
    "class_weight": Parameter("dict[Any, float] | str | None", None, [StrOptions({"balanced", "cw2", "cw3"}), dict, None],
        'dict, "balanced", "cw2" or "cw3"',
        """Weights of classes. "balanced": n / (k n_c), n_c of the n samples being of the class, one
        of k; "cw2": 1 / n_c; "cw3": 1 / n_c + k. Samples are counted by weight."""),
    "time_limit": Parameter("float | None", None, [*NOT_BELOW_0, None], "float",
        """Time limit of the search in seconds. The best subset so far is kept, with a
        :class:`~sklearn.exceptions.ConvergenceWarning`."""),
    "resume": Parameter("str | os.PathLike[str] | None", None, FILE, "str or path-like",
        """File in which the search keeps its progress. A fit with the same parameters on the
        same data resumes from there, and gives the same answer as one that was not stopped; where
        the file is of another fit, it raises ValueError."""),
    "resume_every": Parameter("float", 30.0, NOT_BELOW_0, "float",
        "Seconds between two writings of that file; it is written at the end, too."),
    "on_interrupt": Parameter("str", "raise", [StrOptions({"raise", "keep"})], '{"raise", "keep"}',
        """What Ctrl-C does. "raise": KeyboardInterrupt. "keep": the best subset so far is kept,
        with a
        :class:`~sklearn.exceptions.ConvergenceWarning`."""),
    "callback": Parameter("Callable[[Progress], object] | None", None, [callable, None], "callable",
        """Called with a :class:`Progress` at every step; the search ends when it returns something
        true. With scikit-learn 1.9 or later ``set_callbacks`` takes callbacks of its protocol as
        well."""),
    "verbose": Parameter("int", 0, [Interval(Integral, 0, None, closed="left"), "boolean"], "int",
        "1: a line for each better subset and each second; 2: for each event."),
    "n_jobs": Parameter("int | None", None, [*AT_LEAST_ONE, Interval(Integral, None, -1, closed="right"), None], "int",
        """Threads, -1 for all cores. None: all cores, as scikit-learn's own threaded code takes them,
        but one in a worker of joblib or Dask, and what ``joblib.parallel_config`` says inside of one.
        The result does not depend on it."""),
    "max_memory": Parameter("int | str | None", None, [*AT_LEAST_ONE, str, None], "int or str",
        """Bytes, or a size such as "2G", that a fit may take beside the data; what does not fit raises
        MemoryError. None: what :func:`fewest.set_memory` allows."""),
}
# fmt: on


def rows_of(takes: str) -> dict[str, str]:
    """The row of the table of each parameter that a class takes, in order; its own name where the table has none."""
    signature: Any = ast.parse(f"def f(*, {takes}): ...").body[0]
    rows: dict[str, str] = {}
    for parameter in signature.args.kwonlyargs:
        name, row = parameter.arg, getattr(parameter.annotation, "value", None)
        if name in GROUPS:
            rows |= rows_of(GROUPS[name])
        else:
            rows[name] = f"{name}.{row}" if isinstance(row, str) else name
    return rows


def parameters_of(cls: Any) -> dict[str, Parameter]:
    """What the table has of the parameters of a class, by name."""
    rows = rows_of(cls._takes) if hasattr(cls, "_takes") else {}
    found = {name: rows.get(name, name) for name in inspect.signature(cls.__init__).parameters if name != "self"}
    return {name: PARAMETERS[row] for name, row in found.items() if row in PARAMETERS}


def value_of(estimator: Any, name: str) -> Any:
    """A parameter of an estimator; of one that does not take it the default of all others."""
    return getattr(estimator, name, PARAMETERS[name].default)


#: How values become what the engine takes, by the type that a signature says first.
HANDED: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "float": float,
    "int": int,
    "Sequence[float]": lambda values: [float(value) for value in values],
}


def handed(estimator: Any, *same: str, **named: str) -> dict[str, Any]:
    """Parameters as the engine takes them, None as it is: some under their names, others under the engine's."""
    found = {}
    for setting, name in {**dict(zip(same, same, strict=True)), **named}.items():
        value, kind = getattr(estimator, name), estimator._kinds[name].split(" | ")
        converted = HANDED.get(kind[0]) if value is not None and "str" not in kind else None
        found[setting] = converted(value) if converted else value
    return found


class Signature:
    """A signature that ``.ci/signatures`` wrote; the class that has it as a base is an estimator of that name."""


def has_signature(cls: type) -> bool:
    """Whether a class has a signature of its own, written by hand or not."""
    return "__init__" in vars(cls) or any(Signature in base.__bases__ for base in cls.__bases__)


def stores_arguments(init: Init) -> Init:
    """An ``__init__`` of keyword arguments and without a body that stores each of them under its
    name.
    """
    parameters = list(inspect.signature(init).parameters.values())[1:]
    defaults = {parameter.name: parameter.default for parameter in parameters}

    @functools.wraps(init)
    def store(self: Any, **given: Any) -> None:
        # Refuses unknown arguments.
        init(self, **given)
        vars(self).update(defaults | given)

    return store  # type: ignore[return-value]
