"""Sums of the samples of one class that agree in columns (pseudobulk), and levels above the classes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest._frames import is_annotated, labels_in, missing_labels, native


def label_columns(adata: Any, given: Any, name: str, n: int) -> dict[str, np.ndarray]:
    """The columns that are named or given, by name, each with a text for each of n samples."""
    several = isinstance(given, (list, tuple)) and (is_annotated(adata) or any(np.ndim(entry) for entry in given))
    columns = {}
    for at, entry in enumerate(given if several else [given]):
        if isinstance(entry, str) and not is_annotated(adata):
            raise ValueError(f"{name} is {entry!r}, which names a column of an AnnData; give an entry for each sample")
        values = labels_in(adata, entry, name, "adata")
        called = entry if isinstance(entry, str) else getattr(entry, "name", None) or f"{name} {at + 1}"
        labels = np.asarray(values, dtype=object).ravel()
        if len(labels) != n:
            raise ValueError(f"{name} has {len(labels)} entries, but X has {n} samples; give one for each")
        if missing := missing_labels(values).tolist():
            raise ValueError(f"{name} has {len(missing)} missing entries, the first at {missing[0]}; give each sample one")
        columns[str(called)] = labels.astype(str)
    return columns


class Sums:
    """Which samples make which sum, sums in the order of their first samples."""

    def __init__(self, columns: dict[str, np.ndarray], y: Any) -> None:
        labels = [*columns.values(), np.asarray(y, dtype=object).astype(str)]
        keys = [np.unique(values, return_inverse=True)[1].ravel() for values in labels]
        _, first, of = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.first, self.of = first[order], np.argsort(order)[of.ravel()]
        self.names = [", ".join(values[at] for values in labels) for at in self.first]
        self.said = {"by": list(columns), "samples": len(self.of), "smallest": int(np.bincount(self.of).min())}

    def same(self, values: Any, name: str) -> Any:
        """The value of each sum, which its samples share."""
        if values is None:
            return None
        labels = np.asarray(values, dtype=object).ravel()
        if len(labels) != len(self.of):
            raise ValueError(f"{name} has {len(labels)} entries, but X has {len(self.of)} samples; give one for each")
        if (differ := np.flatnonzero(labels != labels[self.first][self.of])).size:
            at = differ[0]
            raise ValueError(
                f"{name} is {labels[at]!r} for sample {at}, but {labels[self.first[self.of[at]]]!r} for another one of the same sum; "
                f"sum by {name}, too"
            )
        return values.iloc[self.first] if hasattr(values, "iloc") else np.asarray(values)[self.first]

    def matrix(self, X: Any) -> Any:
        """The sums of a matrix or frame of counts; of a frame they are one of pandas."""
        values = native(X)
        names = getattr(values, "column_names", getattr(values, "columns", None))
        counts: Any = values.tocsr() if sp.issparse(values) else np.asarray(values, dtype=np.float64)
        stored = counts.data if sp.issparse(counts) else counts.ravel()
        wrong = ~((stored >= 0) & (stored == np.floor(stored)))
        if wrong.any():
            raise ValueError(
                f"a value is {stored[wrong][0]:g}, but sums are of counts, whole numbers of 0 or more; name the layer that holds "
                "counts, or leave out sum_by"
            )
        n = len(self.of)
        into = sp.csr_array((np.ones(n), (self.of, np.arange(n))), shape=(len(self.first), n))
        sums = into @ counts
        return sums if names is None else import_module("pandas").DataFrame(sums, columns=list(names))


def levels_of(adata: Any, given: Any, y: Any, classes: list[str], target: str) -> list[dict[str, Any]]:
    """The levels of a hierarchy as the engine takes them: columns, or dictionaries from classes to their coarse ones."""
    if given is None:
        return []
    labels = np.asarray(y, dtype=object).astype(str)
    levels = []
    for at, entry in enumerate(given if isinstance(given, (list, tuple)) else [given]):
        name, within = f"level {at + 1}", entry
        if isinstance(entry, str) and entry == target:
            name, within = target, {label: label for label in classes}
        elif not isinstance(entry, Mapping):
            ((name, values),) = label_columns(adata, [entry] if is_annotated(adata) else entry, "hierarchy", len(labels)).items()
            within = {}
            for label, value in zip(labels, values, strict=True):
                if within.setdefault(label, value) != value:
                    raise ValueError(
                        f"class {label} is in {within[label]} and in {value} of {name}, but a class is in one; correct {name}"
                    )
        within = {str(label): str(value) for label, value in within.items()}
        if missing := [label for label in classes if label not in within]:
            raise ValueError(f"hierarchy does not say where class {missing[0]} is in {name}; name it there")
        levels.append({"name": name, "of": [within[label] for label in classes]})
    return levels
