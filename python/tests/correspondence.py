"""Where each method and option of the command is in Python.

``fewest methods --json -`` lists them; test_command.py holds this table to that list.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import fewest


class Place(NamedTuple):
    """Where an option is: parameters of the class, or parameters of one of its methods."""

    parameters: tuple[str, ...]
    method: str | None = None


def of(*parameters: str, method: str | None = None) -> Place:
    """A place."""
    return Place(parameters, method)


#: The class of each method, and the parameters that make it that method.
CLASSES: dict[str, tuple[type, dict[str, object]]] = {
    "exact": (fewest.ExactSelector, {}),
    "kta": (fewest.AlignmentSelector, {}),
    "milo-k": (fewest.MILOKSelector, {}),
    "rmilo-k": (fewest.RMILOKSelector, {}),
    "l1-svm": (fewest.L1SVMSelector, {}),
    "fsv": (fewest.FSVSelector, {}),
    "mbp": (fewest.MBPSelector, {}),
    "lagrangian": (fewest.LagrangianSelector, {}),
    "milp1": (fewest.MILP1Selector, {}),
    "milp2": (fewest.MILP2Selector, {}),
    "gbd": (fewest.BendersSelector, {}),
    "fgm": (fewest.FeatureGeneratingMachine, {}),
    "qcqp-ssvm": (fewest.QCQPSelector, {}),
    "nmmkl": (fewest.NMMKLSelector, {}),
    "rfe": (fewest.SVMRFE, {}),
    "eb-rfe": (fewest.EvaluationRFE, {}),
    "bit-flip": (fewest.FlipSelector, {"flip": "bit"}),
    "attribute-flip": (fewest.FlipSelector, {"flip": "attribute"}),
    "info-gain": (fewest.InformationGain, {}),
}

CERTIFY = {
    "certify": of("time_limit", method="certify"),
    "gap": of("gap", method="certify"),
    "node-limit": of("node_limit", method="certify"),
    "proof": of("proof", method="certify"),
}
#: Options that are in the same place wherever a method has them.
SHARED = {
    "penalty": of("penalty"),
    "solutions": of("n_solutions"),
    "gap": of("gap"),
    "node-limit": of("node_limit"),
    "proof": of("proof"),
    "cost": of("C"),
    "fit-cost": of("fit_cost"),
    "costs": of("costs"),
    "loss": of("loss"),
    "bias": of("fit_intercept", "intercept_scaling"),
    "tolerance": of("tol"),
    "class-weight": of("class_weight"),
    "resume": of("resume"),
    "resume-every": of("resume_every"),
    "kernel": of("kernel"),
    "gamma": of("gamma"),
    "coef0": of("coef0"),
    "degree": of("degree"),
    "criterion": of("criterion"),
    "step": of("step"),
    "step-of": of("step_of"),
    "plain": of("plain"),
    "lp": of("lp"),
    "write-model": of("path", method="write_model"),
    "weight-bound": of("weight_bound"),
    "big-m": of("big_m"),
    "max-cuts": of("max_iter"),
    "validate": of("validation_fraction"),
    "patience": of("patience"),
    "seed": of("random_state"),
    "subset-size": of("subset_size"),
    "mkl": of("mkl"),
    "lambda": of("lam"),
    "starts": of("n_starts"),
    "candidates": of("candidates"),
    "adaptive": of("adaptive"),
    "cv": of("cv"),
    "folds": of("cv"),
    "start": of("start"),
    "passes": of("max_iter"),
    "retune": of("retune"),
    "binning": of("bins"),
}
#: Where a method's place is another one.
OWN = {
    # A splitter holds its own seed.
    "rfe": {"seed": of("cv")},
    "eb-rfe": {"seed": of("cv")},
    "bit-flip": {"seed": of("cv")},
    "attribute-flip": {"seed": of("cv")},
    # The method trains no SVM: these are of the one that certify judges by.
    "fsv": {
        "cost": of("C", method="certify"),
        "loss": of("loss", method="certify"),
        "bias": of("fit_intercept", "intercept_scaling", method="certify"),
        "tolerance": of("tol", method="certify"),
        "class-weight": of("class_weight", method="certify"),
    },
}
#: Options that a method has with one value alone, which Python has no parameter for; so has
#: --kernel of every method that "has no other".
ONE_VALUE = {("mbp", "loss"): "hinge", ("lagrangian", "loss"): "hinge", ("fgm", "loss"): "squared-hinge"}


def place(method: str, option: str, certifies: bool) -> Place:
    """Where an option of a method is."""
    if option in OWN.get(method, {}):
        return OWN[method][option]
    if certifies and option in CERTIFY:
        return CERTIFY[option]
    return SHARED[option]


def methods() -> dict[str, Any]:
    """Each method of the command, as `fewest methods --json` lists it."""
    code = "import sys; from fewest import _core; sys.exit(_core.command(['fewest', 'methods', '--json', '-']))"
    # Sphinx changes the folder that a relative PYTHONPATH is of.
    home = Path(fewest.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=home)
    return {method["name"]: method for method in json.loads(done.stdout)["methods"]}


def options(method: dict[str, Any]) -> list[tuple[str, str]]:
    """Each option of a method: its name, and what it means."""
    return [(entry["option"].split()[0].removeprefix("--"), entry["meaning"]) for entry in method["options"]]


def options_table() -> str:
    """A table for the site: each method with its class, each option with its place."""
    lines = []
    for name, method in methods().items():
        cls, fixed = CLASSES[name]
        made = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
        title = f"``{name}``: :class:`fewest.{cls.__name__}`" + (f" with ``{made}``" if made else "")
        lines += ["", f".. list-table:: {title}", "   :header-rows: 1", "   :widths: 30 70", "", "   * - Option", "     - Python"]
        known = options(method)
        certifies = any(option == "certify" for option, _ in known)
        for option, meaning in known:
            where = place(name, option, certifies)
            told = ", ".join(f"``{parameter}``" for parameter in where.parameters)
            if where.method == "write_model":
                told = "``write_model(path, X, y)``"
            elif where.method:
                told = f"{told} of ``{where.method}``"
            elif (name, option) in ONE_VALUE or (option == "kernel" and "has no other" in meaning):
                told = "the only one"
            lines += [f"   * - ``--{option}``", f"     - {told}"]
    lines += [
        "",
        ".. list-table:: Options of every method",
        "   :header-rows: 1",
        "   :widths: 30 70",
        "",
        "   * - Option",
        "     - Python",
    ]
    for option, where_else in COMMON.items():
        lines += [f"   * - ``--{option}``", f"     - {where_else}"]
    return "\n".join(lines) + "\n"


#: Options of `fewest select` that every method has, and where they are.
COMMON = {
    "max-features": "``n_features_to_select``, ``Rules(max_features=)``",
    "require": "``Rules(require=)``",
    "forbid": "``Rules(forbid=)``",
    "implies": "``Rules(implies=)``",
    "at-most": "``Rules(at_most=)``",
    "at-least": "``Rules(at_least=)``",
    "together": "``Rules(together=)``, ``Rules.from_columns``",
    "budget": "``Rules(budget=)``",
    "feature-costs": "``Rules(costs=)``",
    "rules": "``Rules``",
    "variance-threshold": "``sklearn.feature_selection.VarianceThreshold`` before it",
    "time-limit": "``time_limit``",
    "memory": "``set_memory``",
    "threads": "``n_jobs``",
    "sample-weights": "``sample_weight`` of ``fit``",
    "scale": "``sklearn.preprocessing.StandardScaler`` or ``MaxAbsScaler`` before it",
    "missing": "``sklearn.impute.SimpleImputer`` before it",
    "format": "any reader: pandas, polars, scipy, ColumnFile",
    "target": "``y`` of ``fit``",
    "drop": "the columns of ``X``",
    "text": "``sklearn.preprocessing.OneHotEncoder`` before it",
    "no-header": "any reader",
    "index-limit": "``sklearn.datasets.load_svmlight_file``",
    "json": "the attributes of a fitted selector",
    "report": "fewest report of the command, displays",
    "trace": "``callback``, ``trace_``",
    "describe": "displays",
    "model": "``export_model``",
    "model-format": "json alone, by ``export_model``",
    "quiet": "``verbose``",
    "verbose": "``verbose``",
    "method": "the class",
}
