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
from fewest import datasets, papers

#: Where the package lies: Sphinx changes the folder that a relative PYTHONPATH is of.
HOME = Path(fewest.__file__).parents[1]


#: What is public, in both modules.
PUBLIC: dict[str, Any] = {name: getattr(module, name) for module in (fewest, papers) for name in module.__all__}


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
    "milo-k": (papers.MILOKSelector, {}),
    "rmilo-k": (papers.RMILOKSelector, {}),
    "l1-svm": (fewest.L1SVMSelector, {}),
    "fsv": (papers.FSVSelector, {}),
    "mbp": (fewest.MBPSelector, {}),
    "lagrangian": (fewest.LagrangianSelector, {}),
    "milp1": (papers.MILP1Selector, {}),
    "milp2": (papers.MILP2Selector, {}),
    "gbd": (papers.BendersSelector, {}),
    "fgm": (fewest.FeatureGeneratingMachine, {}),
    "qcqp-ssvm": (papers.QCQPSelector, {}),
    "nmmkl": (papers.NMMKLSelector, {}),
    "rfe": (fewest.SVMRFE, {}),
    "eb-rfe": (fewest.EvaluationRFE, {}),
    "bit-flip": (papers.FlipSelector, {"flip": "bit"}),
    "attribute-flip": (papers.FlipSelector, {"flip": "attribute"}),
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
    "penalty": of("feature_penalty"),
    "solutions": of("n_solutions"),
    "within": of("within"),
    "gap": of("gap"),
    "node-limit": of("node_limit"),
    "proof": of("proof"),
    "multi-class": of("multi_class"),
    "tasks": of("tasks", method="fit"),
    "cost": of("C"),
    "fit-cost": of("fit_C"),
    "costs": of("Cs"),
    "loss": of("loss"),
    "bias": of("fit_intercept", "intercept_scaling"),
    "tolerance": of("tol"),
    "class-weight": of("class_weight"),
    "resume": of("resume"),
    "resume-every": of("resume_every"),
    "kernel": of("kernel"),
    "categorical": of("categorical_features"),
    "gamma": of("gamma"),
    "coef0": of("coef0"),
    "degree": of("degree"),
    "criterion": of("criterion"),
    "step": of("step"),
    "step-of": of("step_of"),
    "halve-above": of("halve_above"),
    "resamples": of("resamples"),
    "resampling": of("resampling"),
    "plain": of("plain"),
    "lp": of("lp"),
    "write-model": of("path", method="write_model"),
    "weight-bound": of("weight_bound"),
    "epsilon": of("epsilon"),
    "restricted-time": of("restricted_time"),
    "max-steps": of("max_iter"),
    "big-m": of("big_m"),
    "max-cuts": of("max_iter"),
    "validate": of("validation_fraction"),
    "patience": of("patience"),
    "seed": of("random_state"),
    "subset-size": of("subset_size"),
    "mkl": of("mkl"),
    "improve": of("improve"),
    "lambda": of("lam"),
    "starts": of("n_starts"),
    "candidates": of("candidates"),
    "adaptive": of("adaptive"),
    "accuracy-loss": of("accuracy_loss"),
    "deals": of("cv"),
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
    "rfe": {"seed": of("cv", "random_state"), "folds": of("cv", "resamples")},
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOME)
    return {method["name"]: method for method in json.loads(done.stdout)["methods"]}


def options(method: dict[str, Any]) -> list[tuple[str, str]]:
    """Each option of a method: its name, and what it means."""
    return [(entry["option"].split()[0].removeprefix("--"), entry["meaning"]) for entry in method["options"]]


def home_of(cls: type) -> str:
    """The module that a class is public in."""
    return "fewest" if cls.__name__ in fewest.__all__ else "fewest.papers"


def options_table() -> str:
    """A table for the site: each method with its class, each option with its place."""
    lines = []
    for name, method in methods().items():
        cls, fixed = CLASSES[name]
        made = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
        title = f"``{name}``: :class:`{home_of(cls)}.{cls.__name__}`" + (f" with ``{made}``" if made else "")
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
    for name, command in COMMANDS.items():
        title = f"``fewest {name}``: ``{command.function.__name__}``, beside options of every method"
        lines += ["", f".. list-table:: {title}", "   :header-rows: 1", "   :widths: 30 70", "", "   * - Option", "     - Python"]
        for option, where in command.own.items():
            told = where if isinstance(where, str) else ", ".join(f"``{parameter}``" for parameter in where.parameters)
            lines += [f"   * - ``--{option}``", f"     - {told}"]
    return "\n".join(lines) + "\n"


#: Options of `fewest select` that every method has, and where they are.
COMMON = {
    "max-features": "``n_features_to_select``, ``Rules(max_features=)``",
    "max-variables": "``Rules(at_most=, together=)``, ``Rules.from_columns``",
    "require": "``Rules(require=)``",
    "forbid": "``Rules(forbid=)``",
    "implies": "``Rules(implies=)``",
    "at-most": "``Rules(at_most=)``",
    "at-least": "``Rules(at_least=)``",
    "together": "``Rules(together=)``, ``Rules.from_columns``",
    "budget": "``Rules(budget=)``",
    "feature-costs": "``Rules(costs=)``",
    "sign": "``Rules(signs=)``",
    "weight-bounds": "``Rules(bounds=)``",
    "rules": "``Rules``",
    "variance-threshold": "``sklearn.feature_selection.VarianceThreshold`` before it",
    "time-limit": "``time_limit``",
    "memory": "``set_memory``",
    "threads": "``n_jobs``",
    "sample-weights": "``sample_weight`` of ``fit``",
    "scale": "``scale`` of ``SVMRFE`` and ``Study``; ``StandardScaler``, ``MaxAbsScaler`` or ``MinMaxScaler`` before it",
    "groups": "``groups`` of ``fit``",
    "missing": "``impute`` of ``SVMRFE`` and ``Study``, ``sklearn.impute.SimpleImputer`` before it",
    "target": "``y`` of ``fit``; ``target`` of ``read_table``",
    "layer": "``layer`` of ``read_table``, ``adata.layers`` of an AnnData",
    "text": "``text`` of ``read_table``, ``sklearn.preprocessing.OneHotEncoder`` before it",
    "no-header": "``header=False`` of ``read_table``",
    "header": "``header=True`` of ``read_table``",
    "format": "``format`` of ``read_table``",
    "drop": "``drop`` of ``read_table``",
    "only": "``only`` of ``read_table``",
    "delimiter": "``delimiter`` of ``read_table``",
    "comment": "``comment`` of ``read_table``",
    "transpose": "``transpose`` of ``read_table``",
    "labels": "``labels`` of ``read_table``",
    "by": "``by`` of ``read_table``",
    "zero-based": "``zero_based`` of ``read_table``",
    "unique-names": "``unique_names`` of ``read_table``",
    "id": "``id`` of ``read_table``",
    "decimal": "``decimal`` of ``read_table``",
    "thousands": "``thousands`` of ``read_table``",
    "missing-codes": "``missing_codes`` of ``read_table``",
    "drop-unlabelled": "``drop_unlabelled`` of ``read_table``",
    "classes": "``classes`` of ``read_table``",
    "positive": "``pos_label`` of ``Study`` and ``evaluate``; otherwise weights and decision values speak for ``classes_[1]``",
    "index-limit": "``index_limit`` of ``read_table``",
    "normalize-total": "``normalize_total`` of ``read_table``",
    "log1p": "``log1p`` of ``read_table``",
    "sum-by": "``sum_by`` of ``read_table``",
    "json": "the attributes of a fitted selector, ``to_json`` of ``Study``",
    "report": "``report`` of ``Study``, fewest report of the command, displays",
    "trace": "``callback``, ``trace_``",
    "describe": "displays",
    "model": "``export_model``",
    "model-format": "json alone, by ``export_model``",
    "quiet": "``verbose``",
    "verbose": "``verbose``",
    "method": "the class",
}

#: What the commands of a run have beside its method: where it comes from and where it goes.
_DATA = {
    *("format", "target", "drop", "only", "text", "no-header", "header", "delimiter", "comment", "decimal", "thousands"),
    *("missing-codes", "drop-unlabelled", "classes", "positive", "transpose", "labels", "by", "id", "unique-names", "zero-based"),
    *("layer", "index-limit", "sum-by", "normalize-total", "log1p", "sample-weights", "scale", "missing", "memory", "threads"),
}
_RULES = {
    *("max-features", "max-variables", "require", "forbid", "implies", "at-most", "at-least", "together", "budget", "rules"),
    *("feature-costs", "sign", "weight-bounds", "variance-threshold"),
}
_SAID = {"json", "report", "quiet", "verbose"}


class Command(NamedTuple):
    """A command beside ``select``: what it is in Python, and the places of options of its own."""

    function: Any
    #: Options whose place is that of COMMON.
    common: set[str]
    #: A parameter of the function, or, where there is none, what stands for it.
    own: dict[str, Place | str]


_SETS = {
    "samples": of("n_samples"),
    "validation": of("part"),
    "test": of("part"),
    "validation-samples": "``n_samples`` with ``part`` validation",
    "test-samples": "``n_samples`` with ``part`` test",
    "truth": of("return_truth"),
    "seed": of("random_state"),
    "out": "what is returned",
    "out-format": "what is returned; ``dump_columns`` writes",
}
_SIZED = {"features": of("n_features"), "relevant": of("n_informative")}
_GENERATED = {"memory", "threads", "quiet", "verbose"}
_RESUME = "the command alone; ``resume`` of a selector"

#: Options of ``markers`` and ``compare``: those that are no parameters, and those of both that are.
_DATA_OF_PANELS = (
    _DATA - {"layer", "sum-by", "normalize-total", "log1p", "sample-weights", "scale", "missing", "memory", "threads", "positive"}
    | _SAID - {"json", "report", "verbose"}
    | {"missing", "positive"}
)
_PANELS: dict[str, Place | str] = {
    "layer": of("layer"),
    "normalize-total": of("normalize_total"),
    "log1p": of("log1p"),
    "sample-weights": of("sample_weight"),
    "scale": of("scale"),
    "memory": of("max_memory"),
    "threads": of("n_jobs"),
    "verbose": of("verbose"),
    "multi-class": of("multi_class"),
    "folds": of("cv"),
    "groups": of("groups"),
    "sum-by": of("sum_by"),
    "hierarchy": of("hierarchy"),
    "level-weights": of("level_weights"),
    "sample": of("sample"),
    "seed": of("random_state"),
    "cost": of("C"),
    "loss": of("loss"),
    "class-weight": of("class_weight"),
    "time-limit": of("time_limit"),
    "gap": of("gap"),
    "report": "``report``",
}

#: The commands that Python has, and each option that ``--help`` of one lists.
COMMANDS: dict[str, Command] = {
    "path": Command(
        fewest.ExactSelector.path,
        _DATA | _RULES | _SAID | {"time-limit", "trace", "describe", "method"},
        {
            "groups": of("groups"),
            "resume": _RESUME,
            "resume-every": _RESUME,
            "cv": "``fewest.evaluate`` of each size; ``cv`` of ``SVMRFE``",
            "repeats": "``n_repeats`` of ``fewest.evaluate``",
            "reach": "``sensitivity`` and ``specificity`` of ``fewest.evaluate`` of each size",
            "seed": "``random_state`` of ``fewest.evaluate``",
            "inner-cv": "``cv`` of the selector",
        },
    ),
    "evaluate": Command(
        fewest.evaluate,
        (_DATA - {"positive"}) | _RULES | _SAID | {"time-limit", "method"},
        {
            "cv": of("cv"),
            "folds": of("cv"),
            "leave-one-out": of("cv"),
            "seed": of("random_state"),
            "repeats": of("n_repeats"),
            "against": of("against"),
            "truth": of("truth"),
            "groups": of("groups"),
            "selection-time-limit": "``time_limit`` of the selector",
            "positive": of("pos_label"),
            "tune": "``GridSearchCV`` as the estimator",
            "inner-cv": "``cv`` of ``GridSearchCV``",
            "choose": "``refit`` of ``GridSearchCV``; ``size_rule`` of ``SVMRFE``",
            "resume": _RESUME,
        },
    ),
    "stability": Command(
        fewest.stability,
        _DATA | _RULES | _SAID | {"time-limit", "method"},
        {
            "pairs": of("n_pairs"),
            "threshold": of("threshold"),
            "max-false": of("max_false"),
            "assume": of("assume"),
            "groups": of("groups"),
            "seed": of("random_state"),
            "selection-time-limit": "``time_limit`` of the selector",
            "resume": _RESUME,
        },
    ),
    "knockoffs": Command(
        fewest.knockoffs,
        _DATA | _SAID | {"time-limit", "method"},
        {"fdr": of("fdr"), "draws": of("n_draws"), "seed": of("random_state")},
    ),
    "certify": Command(
        fewest.certify,
        _DATA | (_RULES - {"max-features"}) | _SAID | {"time-limit", "trace", "describe"},
        {
            "features": of("features"),
            "max-features": "``rules=Rules(max_features=)``",
            "kernel": "the only one",
            **{option: SHARED[option] for option in ("cost", "loss", "bias", "tolerance", "class-weight", "penalty", "multi-class")},
            **{option: SHARED[option] for option in ("solutions", "gap", "node-limit", "proof")},
            "tasks": of("tasks"),
        },
    ),
    "markers": Command(
        fewest.markers,
        _DATA_OF_PANELS | (_RULES - {"max-features"}) | {"model", "model-format"},
        _PANELS
        | {
            "max-features": of("n_genes"),
            "per-class": of("per_class"),
            "robust": of("robust"),
            "slack": of("slack"),
            "halves": of("halves"),
            "panel": "``to_csv``",
            "expression": of("expression"),
            "node-limit": of("node_limit"),
            "json": "``to_json`` of ``Markers``, attributes",
            "proof": "the command alone, which reads what the proof is about",
        },
    ),
    "compare": Command(fewest.compare, _DATA_OF_PANELS, _PANELS | {"json": "``to_json`` of ``Comparison``, attributes"}),
    "study": Command(
        fewest.Study,
        (_DATA - {"scale", "missing", "positive"})
        | _RULES - {"max-features"}
        | _SAID - {"json", "report"}
        | {"time-limit", "model", "model-format", "groups"},
        {
            "json": "``to_json``, attributes",
            "report": "``report``",
            "max-features": of("sizes"),
            "methods": of("methods"),
            "scale": of("scale"),
            "missing": of("impute"),
            "prefer": of("prefer"),
            "folds": of("cv"),
            "repeats": of("n_repeats"),
            "inner-cv": of("inner_cv"),
            "inner-repeats": of("n_inner_repeats"),
            "seed": of("random_state"),
            "cost-points": of("n_Cs"),
            "choose": of("scoring"),
            "positive": of("pos_label"),
            "sensitivity": of("sensitivity"),
            "points": of("points"),
            "external": "``Study.score`` on other samples; the table of the command alone",
            "show-samples": "``show_samples`` of ``report``",
            "proof": "the command alone, which reads what the proof is about",
            "selection-time-limit": of("selection_time_limit"),
            "gap": of("gap"),
            "node-limit": of("node_limit"),
            "loss": of("loss"),
            "bias": of("fit_intercept", "intercept_scaling"),
            "tolerance": of("tol"),
            "class-weight": of("class_weight"),
            "solutions": of("n_solutions"),
            "resume": "the command alone",
        },
    ),
    "predict": Command(
        fewest.load_model,
        (_DATA - {"scale", "missing", "sample-weights"}) | {"json", "report", "quiet", "verbose"},
        {"out": "what ``predict``, ``decision_function`` and ``predict_proba`` of the model return"},
    ),
    "verify": Command(
        fewest.verify,
        _DATA - {"memory", "threads", "sample-weights", "positive"} | _RULES - {"max-features"} | {"json", "quiet", "verbose"},
        {
            "memory": of("max_memory"),
            "threads": of("n_jobs"),
            "sample-weights": of("sample_weight"),
            "positive": "``y``: the label that sorts last",
            "as": of("as_"),
            "strict": of("strict"),
            "gap": of("gap"),
            "method": of("method"),
            "max-features": of("n_features_to_select"),
            "cost": of("C"),
            "loss": of("loss"),
            "bias": of("fit_intercept", "intercept_scaling"),
            "class-weight": of("class_weight"),
            "penalty": of("feature_penalty"),
            "weight-bound": of("weight_bound"),
            "kernel": of("kernel"),
            "gamma": of("gamma"),
            "categorical": of("categorical_features"),
            "multi-class": of("multi_class"),
            "tasks": of("tasks"),
            "groups": "the columns of ``X``",
            "validate": "the rows of ``X`` and ``y``",
            "seed": "the rows of ``X`` and ``y``",
            "folds": "the columns of ``X``",
            "allow-unproven": "the ``verdict`` of what it returns",
            "time-limit": "the command alone",
        },
    ),
    "generate ndcc": Command(datasets.make_ndcc, _GENERATED, {**_SETS, **_SIZED, "expansion": of("expansion")}),
    "generate hyperplane": Command(
        datasets.make_hyperplane,
        _GENERATED,
        {**_SETS, **_SIZED, "points": of("points"), "coefficients": of("coefficients"), "noise-sd": of("noise")},
    ),
    "generate composite": Command(
        datasets.make_composite,
        _GENERATED,
        {
            **_SETS,
            "noise": of("n_noise"),
            "pair-shift": of("pair_shift"),
            "correlation": of("correlation"),
            "single-shift": of("single_shift"),
        },
    ),
    "generate correlated": Command(
        datasets.make_correlated,
        _GENERATED,
        {**_SETS, **_SIZED, "correlation": of("correlation"), "snr": of("snr")},
    ),
    "generate text": Command(
        datasets.make_text,
        _GENERATED,
        {
            **_SETS,
            "words": of("n_features"),
            "relevant": of("n_informative"),
            "length": of("length"),
            "topical": of("topical"),
            "leak": of("leak"),
            "exponent": of("exponent"),
        },
    ),
    "convert": Command(
        datasets.dump_columns,
        _DATA - {"sample-weights"} | {"quiet", "verbose"},
        {"features": of("feature_names"), "out-format": "column files; other formats by their own writers"},
    ),
}
