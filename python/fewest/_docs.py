"""Docstrings in numpydoc's form: what many classes and methods share is written here once, and put
in when a class is made.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

#: Where the pages of docs/ can be read: the repository that Cargo.toml names.
SITE = "https://github.com/fewest/fewest/blob/main/"


class Linked:
    """An estimator whose HTML display links to the page of its method."""

    _doc_link_module = "fewest"
    _doc_link_template = SITE + "{page}"
    #: Its page in the repository.
    _page = "docs/use/choosing.md"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": self._page}


#: Parameters of estimators, by name: type and text. The default is read from the signature.
PARAMETERS = {
    "n_features_to_select": (
        "int",
        """At most this many features. None: the size of ``rules``; without one no limit where rules
        have a budget or ``at_most``, else min(5, n_features).""",
    ),
    "rules": ("Rules", "Rules that the subset obeys: must-in, must-out, implications, groups, a budget."),
    "C": ("float", "Slack cost, above 0."),
    "fit_C": (
        "float",
        """Slack cost of the classifier on the selected features, above 0. None: the cost of
        selecting. A small cost of selecting gives stable subsets, a larger one here a bias that
        fits them.""",
    ),
    "feature_penalty": (
        "float, array-like of shape (n_features,) or dict",
        """Price of each chosen feature, added to the objective: one for all, one for each, or by name,
        where ``"*"`` is for all others.""",
    ),
    "n_solutions": ("int", "How many best subsets to prove. None: 1, and with ``within`` at most 1000."),
    "within": (
        "float",
        """E, 0 or more, such as 0.02: all subsets whose gain over no features is at most this share below
        that of the best one are found, and proven to be all, as far as they are at most
        ``n_solutions``. Subsets of fewer features are among them. ``solutions_`` lists them, ``within_`` says what they tell.""",
    ),
    "weight_bound": ("float", "u, the same for every feature, above 0."),
    "plain": ("bool", "The paper's algorithm without improvements."),
    "gap": (
        "float",
        """The search ends where at most this share of what features can gain over none is left open, and
        this share of the objective.""",
    ),
    "node_limit": ("int", "The search ends after this many nodes."),
    "lp": ('{"simplex", "interior"}', "How HiGHS solves linear programs: simplex, or interior point as in the paper."),
    "proof": ("path-like", "File for a proof of the result, which :func:`fewest.verify` checks."),
    "Cs": ("sequence of float", "Slack costs to choose from, ascending."),
    "cv": (
        "int, splitter or iterable",
        "Splits, as scikit-learn's: the number of stratified folds, a splitter, or (train, test) pairs.",
    ),
    "kernel": (
        '{"linear", "rbf", "laplace", "poly", "sigmoid"}',
        """Kernel of the SVM. "laplace": ``exp(-gamma sum_j |x_j - x'_j|)``.""",
    ),
    "categorical_features": (
        "array-like of bool, int or str",
        """Features that hold categories: a mask, indices, or names of columns. In the kernel their
        distance is 1 where two values differ, else 0; the kernel is "rbf" or "laplace". Leave them
        out where the others are scaled.""",
    ),
    "gamma": (
        '{"1/p", "scale", "sigest"} or float',
        """Coefficient of every kernel but "linear". "1/p" (scikit-learn's "auto"): 1 / features
        trained on, at every step. "scale": 1 / (m x variance of X), with "laplace" its standard
        deviation. "sigest": 1 / (m / n_features x median squared distance of two samples), with
        "laplace" their median sum of absolute differences, "sigest:BETA" BETA times that. m: the
        most features that may be selected.""",
    ),
    "degree": ("int", 'Degree of "poly", at least 1.'),
    "coef0": ("float", 'Constant of "poly" and "sigmoid".'),
    "criterion": (
        '{"auto", "weights", "margin", "input_weights"}',
        """What features are ranked by: squared weights (linear kernel), the change of the margin
        when a feature is left out with the dual variables fixed, or squared weights in input space.
        "auto": weights where the kernel is linear, else margin.""",
    ),
    "loss": ('{"hinge", "squared_hinge"}', "Loss of a sample."),
    "fit_intercept": ("bool", "Whether there is a bias b."),
    "intercept_scaling": (
        "float or None",
        """None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a
        constant feature of value s (LIBLINEAR).""",
    ),
    "tol": ("float", "Relative duality gap of a training, between 0 and 1."),
    "class_weight": (
        'dict, "balanced", "cw2" or "cw3"',
        """Weights of classes. "balanced": n / (k n_c), n_c of the n samples being of the class, one
        of k; "cw2": 1 / n_c; "cw3": 1 / n_c + k. Samples are counted by weight.""",
    ),
    "time_limit": (
        "float",
        """Time limit of the search in seconds. The best subset so far is kept, with a
        :class:`~sklearn.exceptions.ConvergenceWarning`.""",
    ),
    "resume": (
        "str or path-like",
        """File in which the search keeps its progress. A fit with the same parameters on the
        same data resumes from there, and gives the same answer as one that was not stopped; where
        the file is of another fit, it raises ValueError.""",
    ),
    "resume_every": ("float", "Seconds between two writings of that file; it is written at the end, too."),
    "on_interrupt": (
        '{"raise", "keep"}',
        """What Ctrl-C does. "raise": KeyboardInterrupt. "keep": the best subset so far is kept,
        with a
        :class:`~sklearn.exceptions.ConvergenceWarning`.""",
    ),
    "callback": (
        "callable",
        """Called with a :class:`Progress` at every step; the search ends when it returns something
        true. With scikit-learn 1.9 or later ``set_callbacks`` takes callbacks of its protocol as
        well.""",
    ),
    "verbose": ("int", "1: a line for each better subset and each second; 2: for each event."),
    "n_jobs": (
        "int",
        """Threads, -1 for all cores. None: all cores, as scikit-learn's own threaded code takes them,
        but one in a worker of joblib or Dask, and what ``joblib.parallel_config`` says inside of one.
        The result does not depend on it.""",
    ),
    "max_memory": (
        "int or str",
        """Bytes, or a size such as "2G", that a fit may take beside the data; what does not fit raises
        MemoryError. None: what :func:`fewest.set_memory` allows.""",
    ),
}

_LABELS = {
    "classes_": ("ndarray of shape (n_classes,)", "Labels."),
    "n_features_in_": ("int", "Number of features."),
    "feature_names_in_": ("ndarray of str", "Their names, when X had any."),
}

#: Attributes of selectors.
SELECTOR_ATTRIBUTES = {
    "support_": ("ndarray of bool of shape (n_features,)", "The features selected."),
    "n_features_": ("int", "How many they are."),
    "ranking_": ("ndarray of int of shape (n_features,)", "1 for the selected features, 2 for the others."),
    "objective_": ("float", "Objective of the best subset."),
    "bound_": ("float or None", "None: the method proves nothing; :meth:`certify` does."),
    "baseline_": ("float or None", "Objective without features, of a bias alone; 0 where it is maximised."),
    "gap_": (
        "float or None",
        """``|objective_ - bound_| / |baseline_ - bound_|``: of what features can gain over none, the share
        that may be left out.""",
    ),
    "objective_gap_": ("float or None", "``|objective_ - bound_| / |objective_|``."),
    "status_": (
        "str",
        """"optimal" (proven within the gap), "completed" (the method did all it does), or the limit
        that ended it: "time_limit", "call_limit", "node_limit", "memory_limit", "cancelled", "stalled".""",
    ),
    "trace_": ("dict of ndarray", "``time``, ``objective``, ``n_features`` and ``bound`` at every improvement."),
    "estimator_": ("SVC", "The classifier trained on the selected features."),
    "coef_": ("ndarray of shape (n_machines, n_features)", "Its weights, 0 for the features that are not selected."),
    "intercept_": ("ndarray of shape (n_machines,)", "Its biases."),
    **_LABELS,
}

#: Attributes of selectors that list all subsets within a share of the best.
WITHIN_ATTRIBUTES = {
    "within_": (
        "dict or None",
        """With ``within``: ``subsets`` listed, ``complete`` (whether they are all up to ``threshold``),
        ``complete_within`` (the share up to which they are all), ``others`` (no subset that is not
        listed is better), ``in_all`` (features of all), ``features`` (each with the ``share`` of the
        subsets that hold it, and the best objective with it and without it), ``replacements``
        (``feature``, ``by``: one can take the place of the other, in this many ``pairs`` of subsets).""",
    ),
}

#: Attributes of classifiers.
CLASSIFIER_ATTRIBUTES = {
    "objective_": ("float", "Objective, summed over the machines."),
    "gap_": ("float", "Largest relative duality gap of a machine."),
    **_LABELS,
}

#: Parameters of methods.
METHOD_PARAMETERS = {
    "X": ("{array-like, sparse matrix} of shape (n_samples, n_features)", "Samples, with all features."),
    "y": ("array-like of shape (n_samples,)", "Labels."),
    "sample_weight": (
        "array-like of shape (n_samples,)",
        "How many samples each counts as, 0 or more; default 1.",
    ),
    "groups": (
        "array-like of shape (n_samples,)",
        """The group of each sample, such as a person or a batch: samples of one group stay together in the folds
        that choose (``cv``, ``C="auto"``). A splitter is given them.""",
    ),
}

#: Parameters of synthetic data.
DATA_PARAMETERS = {
    "n_samples": ("int", "Samples, at least 2."),
    "n_features": ("int", "Features."),
    "random_state": ("int", "Seed: the same seed and settings give the same numbers on every machine."),
    "part": (
        '{"training", "validation", "test"}',
        "Which set of the same truth; each has a stream of its own.",
    ),
    "return_truth": ("bool", "Whether to return the features that matter, too."),
}
_DATA_RETURNS = """
Returns
-------
X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    Samples.
y : ndarray of shape (n_samples,)
    Labels -1 and 1.
support : ndarray of int
    With ``return_truth``: the features that matter, ascending.
weights : ndarray of shape (n_features,) or None
    With ``return_truth``: of the true linear classifier, which has no bias; None where the truth is
    not linear.

Examples
--------"""

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def complete_class(cls: type, attributes: Mapping[str, tuple[str, str]]) -> None:
    """Put the shared parameters and attributes that a class's docstring does not describe by itself
    into it.
    """
    if cls.__doc__ is not None:
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        cls.__doc__ = _completed(cls.__doc__, cls.__name__, signature, PARAMETERS, attributes)


def completes_doc(method: Documented) -> Documented:
    """Put the shared parameters that a method's docstring does not describe by itself into it."""
    if method.__doc__ is not None:
        method.__doc__ = _completed(method.__doc__, method.__qualname__, inspect.signature(method), METHOD_PARAMETERS, {})
    return method


def completes_data_doc(function: Documented) -> Documented:
    """The same for a function that makes data; what it returns is put in, too."""
    if function.__doc__ is not None:
        doc = inspect.cleandoc(function.__doc__).replace("\nExamples\n--------", _DATA_RETURNS)
        function.__doc__ = _completed(doc, function.__qualname__, inspect.signature(function), DATA_PARAMETERS, {})
    return function


def _completed(
    doc: str,
    where: str,
    signature: inspect.Signature,
    parameters: Mapping[str, tuple[str, str]],
    attributes: Mapping[str, tuple[str, str]],
) -> str:
    parts = _SECTION.split(inspect.cleandoc(doc))
    head, sections = parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))
    own = _entries(sections.pop("Parameters", ""))
    names = [name for name in signature.parameters if name != "self"]
    if unknown := own.keys() - set(names):
        raise TypeError(f"the docstring of {where} describes {sorted(unknown)}, which its signature does not have")
    blocks = [own.get(name) or _block(name, *parameters[name], (signature.parameters[name].default,)) for name in names]
    described = {name: _block(name, *text) for name, text in attributes.items()} | _entries(sections.pop("Attributes", ""))
    complete = {"Parameters": "".join(blocks), "Attributes": "".join(described.values()), **sections}
    texts = [f"{name}\n{'-' * len(name)}\n{body.rstrip()}\n" for name, body in complete.items() if body]
    return "\n".join([head.rstrip() + "\n", *texts])


def _entries(section: str) -> dict[str, str]:
    """The entries of a section by name."""
    return {entry.split(" : ")[0]: entry.rstrip() + "\n" for entry in _ENTRY.split(section) if entry.strip()}


def _block(name: str, kind: str, text: str, defaults: tuple[Any, ...] = ()) -> str:
    for default in defaults:
        if default is not inspect.Parameter.empty:
            kind += f', default="{default}"' if isinstance(default, str) else f", default={default!r}"
    lines = inspect.cleandoc(text).split("\n")
    return "".join([f"{name} : {kind}\n", *(f"    {line}\n" for line in lines)])
