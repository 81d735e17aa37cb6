"""Rules on the chosen features."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, SplineTransformer
from sklearn.utils.validation import check_is_fitted


@dataclass(eq=False)
class Rules:
    """Rules that every chosen subset obeys.

    A feature is named by its index (from 0) or, when ``X`` is a data frame, by the name of its
    column; a set of features may also be a boolean mask of length n_features.

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
        Cost of each feature, 0 or more; features that a mapping does not name cost 0. Needed with a
        budget.
    signs : mapping or array-like of shape (n_features,), default=None
        Sign of the weight of a feature: 1 or "+" where it is 0 or more, so that the decision value
        never falls with the feature, -1 or "-" where it is 0 or less, 0 where it is free. As
        ``monotonic_cst`` of scikit-learn. For :class:`ExactSelector`, :class:`BendersSelector`,
        :class:`MBPSelector`, :class:`LagrangianSelector`, :class:`L1SVMSelector`,
        :class:`FSVSelector`, :class:`MILP1Selector`, :class:`MILP2Selector` and :class:`SVMRFE` with
        the linear kernel; the others refuse it.
    bounds : mapping or array-like of shape (n_features, 2), default=None
        Smallest weight, 0 or less, and largest weight, 0 or more, of a feature, None for no bound;
        of the columns as they are given, scaled or not. As ``signs``.

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
    signs: Any = None
    bounds: Any = None

    @classmethod
    def from_columns(cls, transformer: Any, **rules: Any) -> Rules:
        """Rules by which the columns that one variable became are in or out together.

        Parameters
        ----------
        transformer : ColumnTransformer, OneHotEncoder, KBinsDiscretizer, SplineTransformer or Pipeline
            Fitted; the step before the selector. Of a pipeline the last step. Features are named by
            where they are in what it gives.
        **rules : dict
            Other rules; groups of ``together`` among them are kept as well.

        Returns
        -------
        rules : Rules
            With a group in ``together`` for each variable that became several columns.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.compose import make_column_transformer
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> from fewest import Rules
        >>> X = np.array([["red", 1], ["blue", 2], ["green", 3]], dtype=object)
        >>> transformer = make_column_transformer((OneHotEncoder(), [0]), remainder="passthrough").fit(X)
        >>> Rules.from_columns(transformer, max_features=3)
        Rules(max_features=3, together=[[0, 1, 2]])
        """
        check_is_fitted(transformer)
        groups = [list(range(first, first + width)) for first, width in _variables(transformer) if width > 1]
        return cls(**{**rules, "together": [*rules.get("together", ()), *groups]})

    def __repr__(self) -> str:
        empty = Rules.__dataclass_fields__
        said = [
            f"{name}={value!r}"
            for name in empty
            if (value := getattr(self, name)) is not None and not (isinstance(value, tuple) and value == ())
        ]
        return f"Rules({', '.join(said)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        return all(_equal(a, b) for a, b in zip(self.get_params().values(), other.get_params().values(), strict=True))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The rules by name, so that a search can set one: ``rules__max_features``.

        Parameters
        ----------
        deep : bool, default=True
            As scikit-learn has it; no rule has parameters of its own.

        Returns
        -------
        params : dict
            Every rule.
        """
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def set_params(self, **params: Any) -> Rules:
        """Set rules by name.

        Parameters
        ----------
        **params : dict
            Rules.

        Returns
        -------
        self : Rules
            These rules.
        """
        for name, value in params.items():
            if name not in self.__dataclass_fields__:
                raise ValueError(f"there is no rule {name!r}; the rules are {', '.join(self.__dataclass_fields__)}")
            setattr(self, name, value)
        return self

    @property
    def _bound_size(self) -> bool:
        """Whether a rule bounds the number of features: a size, a budget, or a group of which some
        must be out.
        """
        return self.max_features is not None or self.budget is not None or len(self.at_most) > 0

    def _resolved(self, n_features: int, names: Any, max_features: int | None) -> dict[str, Any]:
        """The rules as the engine takes them: indices in place of names, and this size."""
        index = _Index(n_features, names)
        return {
            "max_features": None if max_features is None else _integer(max_features, "max_features", 1),
            "require": index.all(self.require),
            "forbid": index.all(self.forbid),
            "implies": [index.pair(entry) for entry in self.implies],
            "at_most": [index.group(entry, "at_most") for entry in self.at_most],
            "at_least": [index.group(entry, "at_least") for entry in self.at_least],
            "together": [index.all(entry) for entry in self.together],
            "budget": None if self.budget is None else float(self.budget),
            "costs": [] if self.costs is None else index.numbers(self.costs, "costs"),
            "weights": weight_bounds(index, self.signs, self.bounds),
        }


def _variables(transformer: Any) -> list[tuple[int, int]]:
    """Where the columns of each variable begin in what a fitted transformer gives, and how many they
    are.
    """
    if isinstance(transformer, Pipeline):
        return _variables(transformer[-1])
    if isinstance(transformer, ColumnTransformer):
        found = []
        for name, inner, _ in transformer.transformers_:
            place = transformer.output_indices_.get(name, slice(0, 0))
            if place.stop > place.start and not isinstance(inner, str):
                found += [(place.start + first, width) for first, width in _variables(inner)]
        return found
    widths: list[int] = []
    if isinstance(transformer, OneHotEncoder):
        widths = list(transformer._n_features_outs)
    elif isinstance(transformer, KBinsDiscretizer) and transformer.encode != "ordinal":
        widths = [int(bins) for bins in transformer.n_bins_]
    elif isinstance(transformer, SplineTransformer):
        widths = [transformer.n_features_out_ // transformer.n_features_in_] * transformer.n_features_in_
    starts = np.cumsum([0, *widths])
    return [(int(first), int(width)) for first, width in zip(starts, widths, strict=False)]


def _equal(a: Any, b: Any) -> bool:
    """Whether two values of a rule are the same, arrays included."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


def _integer(value: Any, what: str, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{what} is {value!r}, but must be an integer of at least {least}")
    return int(value)


#: What a sign of a weight is called.
SIGNS = {"+": 1, 1: 1, "-": -1, -1: -1, 0: 0}


def weight_bounds(index: _Index, signs: Any, bounds: Any) -> list[dict[str, Any]]:
    """Bounds on weights as the engine takes them."""
    found: list[dict[str, Any]] = []
    for at, sign in index.entries(signs, "signs"):
        if not isinstance(sign, (str, Real)) or sign not in SIGNS:
            raise ValueError(f"the sign of feature {at} is {sign!r}, but must be 1 or '+', -1 or '-', or 0")
        if SIGNS[sign]:
            found.append({"feature": at, "lower" if SIGNS[sign] > 0 else "upper": 0.0})
    for at, pair in index.entries(bounds, "bounds"):
        if isinstance(pair, str) or np.ndim(pair) != 1 or len(pair) != 2:
            raise ValueError(f"the bounds of feature {at} are {pair!r}, but must be a pair (lower, upper), None for no bound")
        lower, upper = (None if bound is None or np.isinf(bound) else float(bound) for bound in pair)
        found.append({"feature": at, "lower": lower, "upper": upper})
    return found


class _Index:
    """Where a feature is, by index or name; ``place`` names the list in messages."""

    def __init__(self, n_features: int, names: Any, place: str = "a rule") -> None:
        self.n_features, self.place = n_features, place
        self.names = None if names is None else {name: at for at, name in enumerate(names)}

    def __call__(self, feature: Any) -> int:
        if isinstance(feature, str):
            if self.names is None:
                raise ValueError(
                    f"{self.place} names the feature {feature!r}, but X has no names of columns; give a data frame or the index, "
                    'and in a pipeline set_output(transform="pandas") for the steps before'
                )
            if feature not in self.names:
                near = difflib.get_close_matches(feature, self.names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{self.place} names the feature {feature!r}, which X does not have{hint}")
            return self.names[feature]
        at = _integer(feature, f"a feature in {self.place}", 0)
        if not 0 <= at < self.n_features:
            raise ValueError(f"{self.place} names feature {at}, but X has {self.n_features} features, counted from 0")
        return at

    def all(self, features: Any) -> list[int]:
        """Indices of several features."""
        if isinstance(features, str):
            raise ValueError(f"{self.place} has {features!r} in place of a list of features; write [{features!r}]")
        mask = np.asarray(features)
        if mask.dtype == bool:
            if mask.shape != (self.n_features,):
                raise ValueError(
                    f"{self.place} has a mask of shape {mask.shape}, but X has {self.n_features} features; give one value each"
                )
            return np.flatnonzero(mask).tolist()
        return [self(feature) for feature in features]

    def pair(self, entry: Any) -> tuple[int, int]:
        """Two features, of which the first implies the second."""
        if isinstance(entry, str) or len(entry) != 2:
            raise ValueError(f"implies takes pairs (feature, feature), but has {entry!r}")
        return self(entry[0]), self(entry[1])

    def group(self, entry: Any, rule: str) -> tuple[int, list[int]]:
        """A number and a group of features."""
        if not (isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], Integral)):
            raise ValueError(f"{rule} takes pairs (m, features) with a number m first, but has {entry!r}")
        return _integer(entry[0], f"m in {rule}", 0), self.all(entry[1])

    def entries(self, values: Any, what: str) -> list[tuple[int, Any]]:
        """The features that values are given for, each with its value."""
        if values is None:
            return []
        if isinstance(values, dict):
            return [(self(feature), value) for feature, value in values.items()]
        if isinstance(values, str) or len(values) != self.n_features:
            raise ValueError(
                f"{what} is {values!r}, but must be a mapping of features, or have one entry for each of the {self.n_features} features"
            )
        return list(enumerate(values))

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
