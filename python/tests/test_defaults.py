"""A default is the library's: what a selector of no arguments asks for, and what commands say.

The library's are those of `fewest methods --json`, which a test of the command holds to its options.
"""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from correspondence import CLASSES, COMMANDS, HOME, PUBLIC, Place, methods

from fewest import _core

#: What is made from the data or set for the whole process.
MADE = {"name", "folds", "memory", "kernel", "gamma"}
#: Options with a default that is another in Python, and why.
DIFFER = {
    ("markers", "scale"): "the command says what other commands do with sparse data, too",
    ("study", "methods"): "None and a list in Python, a text in the command",
    ("study", "choose"): "one text in the command",
    ("study", "time-limit"): "seconds in Python, a text in the command",
}


#: What a text is in Python.
NOTATIONS = {"one-vs-one": "ovo", "squared-hinge": "squared_hinge", "2m": 120.0}


class Asked(Exception):
    """What a selector asks the engine for."""


def asked(selector, monkeypatch):
    def select(x, codes, weights, rules, method, limits, *_):
        raise Asked(method, limits)

    monkeypatch.setattr(_core, "select", select)
    X, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 2
    with pytest.raises(Asked) as caught:
        selector.fit(X, y)
    return caught.value.args


def flat(settings):
    """Settings without their groups."""
    out = {}
    for name, value in settings.items():
        out |= flat(value) if name in ("svm", "tuning", "program") and value is not None else {name: value}
    return out


@pytest.mark.parametrize("name", CLASSES)
def test_a_selector_asks_for_the_defaults_of_the_library(name, monkeypatch):
    cls, fixed = CLASSES[name]
    method, limits = asked(cls(**fixed), monkeypatch)
    library = {setting["name"]: setting["default"] for setting in methods()[name]["settings"]}
    assert method["name"] == name
    compared = {key: value for key, value in flat(method).items() if key not in MADE}
    assert compared == {key: library.get(key) for key in compared}
    assert "gap" not in library or limits["gap"] == library["gap"]


#: Where a parameter of the same name has another default, and why.
OTHERWISE = {
    "Cs": "a grid is what EvaluationRFE is about; for others there is one C",
    "cv": "folds of a choice that SVMRFE makes where it is asked to",
    "fit_intercept": "the feature generating machine of the paper has no bias",
    "gamma": "the alignment's own, the paper's",
    "kernel": "the alignment is of a kernel of distances",
    "loss": "nmmkl's own, the paper's",
    "max_iter": "counts other things",
    "n_solutions": "a study lists some beside its panel",
    "node_limit": "a study ends by itself",
    "scale": "a study scales; for others a pipeline does",
    "scoring": "a study chooses by a score of its own",
    "time_limit": "a study ends by itself",
    "tol": "an elimination ranks by weights, in which digits decide ties; the ascent of lagrangian",
    "weight_bound": "MILP1 needs one; MBP finds it",
}


def test_a_parameter_has_one_default():
    """The signatures are written out for the sake of editors; this holds their tails together."""
    found = {}
    for cls in PUBLIC.values():
        if hasattr(cls, "get_support"):
            for name, parameter in inspect.signature(cls).parameters.items():
                found.setdefault(name, {}).setdefault(repr(parameter.default), []).append(cls.__name__)
    several = {name: values for name, values in found.items() if len(values) > 1}
    assert several.keys() <= OTHERWISE.keys(), {name: several[name] for name in several.keys() - OTHERWISE.keys()}


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("command", ["evaluate", "stability", "knockoffs", "certify", "markers", "study"])
def test_a_function_has_the_defaults_of_its_command(command):
    code = f"import sys; from fewest import _core; sys.exit(_core.command(['fewest', {command!r}, '--help']))"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOME).stdout
    told = {}
    for option in re.split(r"\n +(?:-\w, )?--", text)[1:]:
        if default := re.search(r"\[default:\s+([^\];]*)", option):
            told[re.match(r"[\w-]+", option)[0]] = number(re.sub(r"\s+", " ", default[1]))
    places = {option: place for option, place in COMMANDS[command].own.items() if isinstance(place, Place)}
    parameters = inspect.signature(COMMANDS[command].function).parameters
    compared = 0
    for option, place in places.items():
        if option in told and len(place.parameters) == 1 and (command, option) not in DIFFER:
            default = parameters[place.parameters[0]].default
            if default not in (None, inspect.Parameter.empty) and isinstance(told[option], float) == isinstance(default, (int, float)):
                assert NOTATIONS.get(told[option], told[option]) == default, option
                compared += 1
    assert compared > 0
