"""Docstrings in numpydoc's form: what many classes and methods share is written here once, and put
in when a class is made.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fewest._parameters import parameters_of

Documented = TypeVar("Documented", bound=Callable[..., Any])

#: Where the pages of docs/ can be read: the repository that Cargo.toml names.
SITE = "https://github.com/fewest/fewest/blob/main/"


# One row to an attribute or a parameter.
# fmt: off
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
    "gap_": ("float or None",
        """``|objective_ - bound_| / |baseline_ - bound_|``: of what features can gain over none, the share
        that may be left out."""),
    "objective_gap_": ("float or None", "``|objective_ - bound_| / |objective_|``."),
    "status_": ("str",
        """"optimal" (proven within the gap), "completed" (the method did all it does), or the limit
        that ended it: "time_limit", "call_limit", "node_limit", "memory_limit", "cancelled", "stalled"."""),
    "trace_": ("dict of ndarray", "``time``, ``objective``, ``n_features`` and ``bound`` at every improvement."),
    "estimator_": ("SVC", "The classifier trained on the selected features."),
    "coef_": ("ndarray of shape (n_machines, n_features)", "Its weights, 0 for the features that are not selected."),
    "intercept_": ("ndarray of shape (n_machines,)", "Its biases."),
    **_LABELS,
    "within_": ("dict or None",
        """With ``within``: ``subsets`` listed, ``complete`` (whether they are all up to ``threshold``),
        ``complete_within`` (the share up to which they are all), ``others`` (no subset that is not
        listed is better), ``in_all`` (features of all), ``features`` (each with the ``share`` of the
        subsets that hold it, and the best objective with it and without it), ``replacements``
        (``feature``, ``by``: one can take the place of the other, in this many ``pairs`` of subsets)."""),
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
    "sample_weight": ("array-like of shape (n_samples,)", "How many samples each counts as, 0 or more; default 1."),
    "groups": ("array-like of shape (n_samples,)",
        """The group of each sample, such as a person or a batch: samples of one group stay together in the folds
        that choose (``cv``, ``C="auto"``). A splitter is given them."""),
}

#: Parameters of synthetic data.
DATA_PARAMETERS = {
    "n_samples": ("int", "Samples, at least 2."),
    "n_features": ("int", "Features."),
    "random_state": ("int", "Seed: the same seed and settings give the same numbers on every machine."),
    "part": ('{"training", "validation", "test"}', "Which set of the same truth; each has a stream of its own."),
    "return_truth": ("bool", "Whether to return the features that matter, too."),
}
# fmt: on
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


def complete_class(cls: Any, attributes: Mapping[str, tuple[str, str]]) -> None:
    """Put what a class shares with others beside its own: constraints of parameters, and in its docstring the
    parameters and attributes that it does not describe by itself.
    """
    shared, own = parameters_of(cls), getattr(cls, "_parameter_constraints", {})
    signature = inspect.signature(cls.__init__)
    names = [name for name in signature.parameters if name != "self"]
    cls._parameter_constraints = {name: own.get(name) or shared[name].allowed for name in names}
    # A class that users derive may leave some out, or their types.
    kinds = {name: signature.parameters[name].annotation for name in names}
    said = {name: kind if isinstance(kind, str) else inspect.formatannotation(kind) for name, kind in kinds.items()}
    known = {name: kind for name, kind in said.items() if kinds[name] is not inspect.Parameter.empty}
    cls._kinds = getattr(cls, "_kinds", {}) | known
    if cls.__doc__ is not None:
        texts = {name: (parameter.told, parameter.text) for name, parameter in shared.items() if parameter.text}
        attributes = {name: text for name, text in attributes.items() if name != "within_" or "within" in names}
        cls.__doc__ = _completed(cls.__doc__, cls.__name__, signature, texts, attributes)


def complete_methods(cls: type) -> None:
    """Put into the docstrings of a class's methods what they share with those that they override, and with others."""
    for name, member in vars(cls).items() if cls.__module__.startswith("fewest.") else ():
        # What is available under a condition holds its function.
        method = member if inspect.isfunction(member) else getattr(member, "fn", None)
        bases = [vars(base).get(name) for base in cls.__mro__[1:] if base.__module__.startswith("fewest.")]
        above = next((base.__doc__ for base in bases if base is not None and base.__doc__), "")
        # Python of -OO has no docstrings.
        if method is None or name.startswith("_") or not (method.__doc__ or above):
            continue
        where = f"{cls.__qualname__}.{name}"
        doc = _completed(method.__doc__ or "", where, inspect.signature(method), METHOD_PARAMETERS, {}, above)
        method.__doc__ = member.__doc__ = doc


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
    above: str = "",
) -> str:
    (head, sections), (head_above, sections_above) = _parts(doc), _parts(above)
    own = _entries(sections.pop("Parameters", ""))
    names = [name for name in signature.parameters if name != "self"]
    if unknown := own.keys() - set(names):
        raise TypeError(f"the docstring of {where} describes {sorted(unknown)}, which its signature does not have")
    told = _entries(sections_above.pop("Parameters", "")) | own
    if unsaid := [name for name in names if name not in told and name not in parameters]:
        raise TypeError(f"the docstring of {where} does not describe {unsaid}")
    blocks = [told.get(name) or _block(name, *parameters[name], (signature.parameters[name].default,)) for name in names]
    described = {name: _block(name, *text) for name, text in attributes.items()} | _entries(sections.pop("Attributes", ""))
    complete = {"Parameters": "".join(blocks), "Attributes": "".join(described.values()), **sections_above, **sections}
    texts = [f"{name}\n{'-' * len(name)}\n{body.rstrip()}\n" for name, body in complete.items() if body]
    return "\n".join([(head or head_above).rstrip() + "\n", *texts])


def _parts(doc: str) -> tuple[str, dict[str, str]]:
    """What comes before the sections of a docstring, and each of them by name."""
    parts = _SECTION.split(inspect.cleandoc(doc))
    return parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))


def _entries(section: str) -> dict[str, str]:
    """The entries of a section by name."""
    return {entry.split(" : ")[0]: entry.rstrip() + "\n" for entry in _ENTRY.split(section) if entry.strip()}


def _block(name: str, kind: str, text: str, defaults: tuple[Any, ...] = ()) -> str:
    for default in defaults:
        if default is not inspect.Parameter.empty:
            kind += f', default="{default}"' if isinstance(default, str) else f", default={default!r}"
    lines = inspect.cleandoc(text).split("\n")
    return "".join([f"{name} : {kind}\n", *(f"    {line}\n" for line in lines)])
