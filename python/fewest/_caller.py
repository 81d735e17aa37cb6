"""What only Python knows of the data and of the call, for results that the engine writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fewest._engine import threads_of
from fewest._folds import said_groups

if TYPE_CHECKING:
    from fewest._engine import Samples


def column_name(y: Any) -> str:
    """The name of the column of the classes: ``y`` where it has none."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return "y" if name is None else str(name)


def file_of(X: Any) -> str | None:
    """The file that X lies in: a column file, an AnnData on the disk."""
    path = getattr(X, "filename", None) or getattr(X, "path", None)
    return os.fspath(path) if isinstance(path, (str, os.PathLike)) else None


def called_with(call: str, *given: str) -> str:
    """A call without its data, such as ``markers(n_genes=3)``, with the words for them in front."""
    name, _, settings = call.partition("(")
    return f"{name}({', '.join(given)}{'' if settings == ')' else ', '}{settings}"


def caller_of(
    estimator: Any,
    samples: Samples,
    names: list[str],
    given: dict[str, Any],
    command: str,
    *,
    notes: list[str] | None = None,
    texts: list[Any] | None = None,
    summed: dict[str, Any] | None = None,
    **asked: Any,
) -> dict[str, Any]:
    """The entries that ``Caller`` of the engine is made of.

    ``given`` has what the caller gave: ``X``, ``y``, ``weights``, ``groups`` and ``samples`` (their names).
    """
    weights, class_weight = given["weights"], estimator.class_weight
    if isinstance(class_weight, dict):
        class_weight = ",".join(f"{label}={weight:g}" for label, weight in class_weight.items())
    target = column_name(given["y"])
    return {
        "names": names,
        "target": target,
        "samples": given["samples"],
        "rows": list(range(len(samples.codes))) if samples.kept is None else samples.kept.tolist(),
        "notes": notes or [],
        "texts": texts or [],
        "summed": summed,
        "command": " ".join(command.split()),
        "asked": {
            "format": type(given["X"]).__name__,
            "data": file_of(given["X"]),
            "target": target,
            "class_weight": class_weight or "none",
            "sample_weights": None if weights is None else str(getattr(weights, "name", None) or "sample_weight"),
            "time_limit": estimator.time_limit,
            "threads": threads_of(estimator.n_jobs) or os.cpu_count(),
            **said_groups(given["groups"], samples.groups),
            **asked,
        },
    }
