"""A study with the keys of the command's JSON; docs/formats/study.md says what each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewest import _core

#: Version of the layout.
SCHEMA = 1
#: The samples that are listed at most, as tables of many samples hold the rest.
MOST = 1000


class StudyResult:
    """What the engine says of a study, in names.

    Parameters
    ----------
    answer : dict
        What ``_core.study`` returns, before classes change places again.
    names : sequence of str
        Names of the features.
    classes : sequence of str
        Names of the classes in the engine's order, the positive one of two last.
    codes : ndarray of shape (n_samples,)
        The class of each sample in that order.
    about : dict
        What else results say: ``target``, ``samples`` (their names, or None), ``warnings``, ``settings``,
        ``command``, ``seconds``, ``left_out``, ``loss``, ``bias``, ``levels``, ``gap``.
    """

    def __init__(
        self, answer: dict[str, Any], names: Sequence[str], classes: Sequence[str], codes: np.ndarray, about: dict[str, Any]
    ) -> None:
        self.answer, self.names, self.classes, self.codes, self.about = answer, names, list(classes), codes, about

    def value(self) -> dict[str, Any]:
        """The whole result."""
        answer, about = self.answer, self.about
        said: dict[str, Any] = {
            "schema": SCHEMA,
            "kind": "study",
            "status": answer["status"],
            **self._data(),
            "positive": self.classes[1] if len(self.classes) == 2 else None,
            "warnings": about["warnings"],
            "notes": about["notes"],
            "summary": answer["summary"],
            "recall": dict(zip(self.classes, answer["recall"], strict=False)),
            "decision_curve": answer["decision_curve"],
            "confusion": confusion(answer["folds"], len(self.classes)).tolist(),
            "panel": None if answer["panel"] is None else self._panel(answer["panel"]),
            "prefer": about["settings"]["prefer"],
            "panels": None if answer["panels"] is None else self._panels(answer["panels"]),
            "largest_size": answer["grid"]["took_largest"],
            "left_out": about["left_out"],
            "frequency": {self.names[j]: share for j, share in answer["frequency"]},
            "stability": answer["stability"],
            "sizes": answer["inner"],
            "tried": [self._tried(tried) for tried in answer["tried"]],
            "effort": answer["effort"],
            "folds": [self._fold(fold) for fold in answer["folds"]],
            "wrong": self._wrong(),
            "settings": about["settings"],
            "command": about["command"],
            "seconds": about["seconds"],
            "version": _core.__version__,
        }
        if about["settings"]["points"]:
            said["points"] = self._points()
        if verdict := _core.study_verdict(said):
            said["warnings"] = [verdict, *said["warnings"]]
        said["methods_text"] = [{"item": item, "text": text} for item, text in _core.methods_text(said)]
        return said

    def _points(self) -> dict[str, Any] | None:
        """The panel as points, and what these are worth in the outer folds."""
        points, worth = self.answer["points"], self.answer["points_worth"] or {}
        if points is None:
            return None
        return {
            "features": [{"feature": self.names[of["feature"]], "levels": of["levels"]} for of in points["features"]],
            "threshold": points["threshold"],
            "probabilities": [{"total": total, "probability": probability} for total, probability in points["probabilities"]],
            "summary": worth.get("summary"),
            "difference": worth.get("difference"),
        }

    def _data(self) -> dict[str, Any]:
        keys = ["-1", "+1"] if len(self.classes) == 2 else [str(code) for code in range(len(self.classes))]
        counts = np.bincount(self.codes, minlength=len(keys)).tolist()
        return {
            "n_samples": len(self.codes),
            "n_features": len(self.names),
            "target": self.about["target"],
            "classes": dict(zip(keys, self.classes, strict=True)),
            "class_counts": dict(zip(keys, counts, strict=True)),
        }

    def _named(self, features: Sequence[int]) -> list[str]:
        return [self.names[j] for j in features]

    def _panels(self, panels: dict[str, Any]) -> dict[str, Any]:
        def one(of: dict[str, Any]) -> dict[str, Any]:
            return {**of["choice"], "selected": self._named(of["selected"]), "summary": of["summary"], "stability": of["stability"]}

        return {"best": one(panels["best"]), "smallest": one(panels["smallest"]), "difference": panels["difference"]}

    def _panel(self, panel: dict[str, Any]) -> dict[str, Any]:
        selected, certificate = self._named(panel["selected"]), panel["certificate"]
        solutions = panel["solutions"] or [(panel["selected"], panel["objective"])]
        said = {
            "schema": SCHEMA,
            "kind": "selection",
            **panel["choice"],
            "status": panel["status"],
            "selected": selected,
            "selected_indices": panel["selected"],
            **{key: panel[key] for key in ("objective", "sense", "bound", "baseline", "gap", "objective_gap", "seconds", "counts")},
            **self._data(),
            "settings": {**panel["choice"], "gap": self.about["gap"]},
            "model": None if panel["model"] is None else self._model(panel, selected),
            "ranking": [
                {"feature": self.names[j], "index": j, "rank": rank, "step": step, "criterion": criterion}
                for j, rank, step, criterion in panel["ranking"]
            ],
            "solutions": [
                {"selected": self._named(subset), "selected_indices": list(subset), "objective": objective}
                for subset, objective in solutions
            ],
            "replacements": [self._swap(swap) for swap in panel["swaps"]],
            "probabilities": None if panel["calibration"] is None else dict(panel["calibration"]),
            "version": _core.__version__,
        }
        del said["settings"]["method"]
        if panel["threshold"] is not None:
            said["threshold"] = dict(panel["threshold"])
        if certificate is not None:
            best = {"selected": self._named(certificate["best"]), "selected_indices": certificate["best"]}
            said["certificate"] = {
                **{key: value for key, value in certificate.items() if key != "best_objective"},
                "max_features": len(selected),
                "best": best | {"objective": certificate["best_objective"]},
            }
        return said

    def _swap(self, swap: dict[str, Any]) -> dict[str, Any]:
        by = [{"feature": self.names[j], "objective": objective} for j, objective in swap["by"]]
        return {"feature": self.names[swap["feature"]], "without": swap["without"], "by": by}

    def _model(self, panel: dict[str, Any], selected: list[str]) -> dict[str, Any]:
        """The classifier, as model files have it."""
        kernel, found = panel["kernel"], panel["model"]
        scaling = zip(selected, panel["center"], panel["scale"], strict=True)
        model: dict[str, Any] = {
            "kernel": kernel["kind"],
            **{key: value for key, value in kernel.items() if key != "kind"},
            **({} if kernel["kind"] == "linear" else {"categorical": [], "support_vectors": found["support_vectors"]}),
            "cost": panel["choice"]["fit_cost"],
            "loss": self.about["loss"],
            "bias": self.about["bias"],
            "features": selected,
            "feature_indices": panel["selected"],
            "scaling": {
                "kind": self.about["settings"]["scale"],
                "features": {name: {"centre": centre, "scale": scale} for name, centre, scale in scaling},
            },
            "imputation": None,
            "machines": [self._machine(machine) for machine in found["machines"]],
        }
        if panel["fill"] is not None:
            each = zip(selected, panel["fill"], strict=True)
            features = {name: {"fill": fill, "indicates": None} for name, fill in each}
            model["imputation"] = {"rule": self.about["settings"]["missing"], "features": features}
        if levels := self.about["levels"]:
            model["levels"] = levels
        if panel["calibration"] is not None:
            model["probabilities"] = dict(panel["calibration"])
        if len(found["machines"]) == 1:
            machine = found["machines"][0]
            model["intercept"] = machine["intercept"]
            if machine["weights"] is not None:
                model["weights"] = dict(zip(selected, machine["weights"], strict=True))
        return model

    def _machine(self, machine: dict[str, Any]) -> dict[str, Any]:
        own = {key: value for key, value in machine.items() if key not in ("weights", "coefficients") or value is not None}
        return own | {"negative": self.classes[machine["negative"]], "positive": self.classes[machine["positive"]]}

    def _tried(self, tried: dict[str, Any]) -> dict[str, Any]:
        score = self.about["settings"]["choose"].partition(":")[0]
        return {**tried["choice"], "accuracy": tried["accuracy"], score: tried["score"], "stability": tried["stability"]}

    def _fold(self, fold: dict[str, Any]) -> dict[str, Any]:
        judged = fold["judgement"]
        metrics = {**judged["metrics"], "log_loss": judged["log_loss"], "brier": judged["brier"]}
        if len(self.classes) == 2:
            metrics |= {"sensitivity": _recall(judged["confusion"], 1), "specificity": _recall(judged["confusion"], 0)}
        said = {
            "fold": str(fold["fold"] + 1),
            "repeat": fold["repeat"],
            **fold["choice"],
            "selected": self._named(fold["selected"]),
            "n_features": len(fold["selected"]),
            "metrics": metrics,
            "confusion": judged["confusion"],
            "n_test": len(judged["test"]),
            "test": self.about["rows"][judged["test"]].tolist(),
            "predicted": [self.classes[code] for code in judged["predicted"]],
            **{key: judged[key] for key in ("probabilities", "class_probabilities")},
            **{key: fold[key] for key in ("inner", "status", "stopped", "seconds")},
            "other": self._other(fold["other"]),
        }
        if (samples := self.about["samples"]) is not None:
            said["test_samples"] = [samples[self.about["rows"][at]] for at in judged["test"]]
        return said

    def _other(self, other: dict[str, Any] | None) -> dict[str, Any] | None:
        """The choice of a fold that is not the panel's."""
        if other is None:
            return None
        judged = other["judgement"]
        scores = {"accuracy": judged["metrics"]["accuracy"], "auc": judged["metrics"]["auc"], "log_loss": judged["log_loss"]}
        return {**other["choice"], "selected": self._named(other["selected"]), **scores}

    def _wrong(self) -> list[dict[str, Any]]:
        """The samples that outer folds took for another class, most often first."""
        times: dict[int, int] = {}
        taken: dict[int, list[int]] = {}
        for fold in self.answer["folds"]:
            judged = fold["judgement"]
            for at, code in zip(judged["test"], judged["predicted"], strict=True):
                times[at] = times.get(at, 0) + 1
                if code != self.codes[at]:
                    taken.setdefault(at, []).append(code)
        samples, rows = self.about["samples"], self.about["rows"].tolist()
        return [
            {
                "row": rows[at],
                "sample": None if samples is None else samples[rows[at]],
                "class": self.classes[self.codes[at]],
                "judged": times[at],
                "wrong": len(taken[at]),
                "predicted": [self.classes[code] for code in sorted(set(taken[at]))],
            }
            for at in sorted(taken, key=lambda at: (-len(taken[at]), at))[:MOST]
        ]


def confusion(folds: list[dict[str, Any]], n_classes: int) -> np.ndarray:
    """Samples held out over all outer folds: rows are true classes, columns predicted ones."""
    return sum((np.array(fold["judgement"]["confusion"]) for fold in folds), np.zeros((n_classes, n_classes), dtype=int))


def _recall(counts: list[list[int]], code: int) -> float | None:
    """The share of a class that is classified right; None without a sample of it."""
    total = sum(counts[code])
    return counts[code][code] / total if total else None


def sample_names(X: Any) -> list[str] | None:
    """Names of the samples, where the index of a frame or an AnnData has some."""
    index = getattr(X, "obs_names", getattr(X, "index", None))
    values: list[Any] = index.to_list() if index is not None and hasattr(index, "to_list") else []
    return values if values and all(isinstance(value, str) for value in values) else None


def said_rules(rules: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Rules by name, as the settings of a result have them."""

    def named(features: Sequence[int]) -> list[str]:
        return [names[j] for j in features]

    said: dict[str, Any] = {
        "require": named(rules["require"]),
        "forbid": named(sorted(set(rules["forbid"]))),
        "implies": [named(pair) for pair in rules["implies"]],
        "at_most": [[count, named(group)] for count, group in rules["at_most"]],
        "at_least": [[count, named(group)] for count, group in rules["at_least"]],
        "together": [named(group) for group in rules["together"]],
        "budget": rules["budget"],
    }
    if costs := {names[j]: cost for j, cost in enumerate(rules["costs"]) if cost}:
        said["feature_costs"] = costs
    if rules["weights"]:
        said["weight_bounds"] = _bounds(rules["weights"], names)
    return said


def _bounds(weights: list[dict[str, Any]], names: Sequence[str]) -> dict[str, list[float | None]]:
    """Bounds on weights by name; where a feature has several, the tighter ends."""
    found: dict[str, list[float | None]] = {}
    for bound in weights:
        ends = found.setdefault(names[bound["feature"]], [None, None])
        for at, (key, tighter) in enumerate((("lower", max), ("upper", min))):
            if (end := bound.get(key)) is not None:
                known = ends[at]
                ends[at] = end if known is None else tighter(known, end)
    return found
