"""Rules on the chosen features."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rules:
    """Rules that every chosen subset obeys.

    A feature is named by its index (from 0) or, when ``X`` is a data frame, by the name of its column.

    Parameters
    ----------
    max_features : int, default=None
        At most this many features; at least 1.
    require : sequence of features, default=()
        Features that must be in.
    forbid : sequence of features, default=()
        Features that must be out.
    implies : sequence of (feature, feature), default=()
        Pairs (a, b): if a is in, b must be in.
    at_most : sequence of (int, sequence of features), default=()
        Pairs (m, group): at most m of the group.
    at_least : sequence of (int, sequence of features), default=()
        Pairs (m, group): at least m of the group.
    together : sequence of sequences of features, default=()
        Groups that are in or out as a whole, such as the columns of one one-hot variable.
    budget : float, default=None
        The costs of the chosen features sum to at most this.
    costs : mapping or array-like of shape (n_features,), default=None
        Cost of each feature, 0 or more; features that a mapping does not name cost 0. Needed with a budget.

    Examples
    --------
    >>> from fewest import Rules
    >>> Rules(max_features=3, require=["age"], implies=[("age_squared", "age")])
    Rules(max_features=3, require=['age'], implies=[('age_squared', 'age')])
    """

    max_features: int | None = None
    require: Any = ()
    forbid: Any = ()
    implies: Any = ()
    at_most: Any = ()
    at_least: Any = ()
    together: Any = ()
    budget: float | None = None
    costs: Any = None

    def __repr__(self) -> str:
        empty = Rules.__dataclass_fields__
        said = [
            f"{name}={value!r}"
            for name in empty
            if (value := getattr(self, name)) is not None and not (isinstance(value, tuple) and value == ())
        ]
        return f"Rules({', '.join(said)})"

    def _resolved(self, n_features: int, names: Any, max_features: int | None) -> dict[str, Any]:
        """The rules as the engine takes them: indices in place of names, and this size."""
        index = _Index(n_features, names)
        pair = lambda entry: (index(entry[0]), index(entry[1]))
        group = lambda entry: (int(entry[0]), index.all(entry[1]))
        return {
            "max_features": max_features,
            "require": index.all(self.require),
            "forbid": index.all(self.forbid),
            "implies": [pair(entry) for entry in self.implies],
            "at_most": [group(entry) for entry in self.at_most],
            "at_least": [group(entry) for entry in self.at_least],
            "together": [index.all(entry) for entry in self.together],
            "budget": None if self.budget is None else float(self.budget),
            "costs": [] if self.costs is None else index.numbers(self.costs, "costs"),
        }


class _Index:
    """Where a feature is, by index or name."""

    def __init__(self, n_features: int, names: Any) -> None:
        self.n_features = n_features
        self.names = None if names is None else {name: at for at, name in enumerate(names)}

    def __call__(self, feature: Any) -> int:
        if isinstance(feature, str):
            if self.names is None:
                raise ValueError(
                    f"a rule names the feature {feature!r}, but X has no names of columns; give a data frame, or the index"
                )
            if feature not in self.names:
                near = difflib.get_close_matches(feature, self.names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"a rule names the feature {feature!r}, which X does not have{hint}")
            return self.names[feature]
        at = int(feature)
        if not 0 <= at < self.n_features:
            raise ValueError(f"a rule names feature {at}, but X has {self.n_features} features, counted from 0")
        return at

    def all(self, features: Any) -> list[int]:
        """Indices of several features."""
        if isinstance(features, str):
            raise ValueError(f"a rule has {features!r} in place of a list of features; write [{features!r}]")
        return [self(feature) for feature in features]

    def numbers(self, values: Any, what: str) -> list[float]:
        """One number for each feature."""
        if isinstance(values, dict):
            out = np.zeros(self.n_features)
            for feature, value in values.items():
                out[self(feature)] = value
        else:
            out = np.asarray(values, dtype=np.float64)
            if out.ndim == 0:
                out = np.full(self.n_features, float(out))
        if out.shape != (self.n_features,):
            raise ValueError(f"{what} has shape {out.shape}, but X has {self.n_features} features; give one number each")
        return out.tolist()
