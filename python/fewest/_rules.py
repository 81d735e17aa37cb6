"""Rules on the chosen features."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewest import _core
from fewest._frames import index_of
from fewest._variables import variables_of


@dataclass(eq=False)
class Rules:
    """Rules that every chosen subset obeys.

    A feature is named by its index (from 0) or, when ``X`` is a data frame, by the name of its
    column, or several by a pattern of names: ``"MT-*"``, ``"/^RP[SL]/"`` (a regular expression). Where all
    columns are named by integers other than 0, 1, 2, ..., such as wavelengths, an integer is a name. A set of
    features may also be a boolean mask of length n_features.

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
        Cost of each feature, 0 or more. A mapping names every feature; ``"*"`` is for all others:
        ``{"age": 2, "*": 1}``. Needed with a budget.
    signs : mapping or array-like of shape (n_features,), default=None
        Sign of the weight of a feature: 1 or "+" where it is 0 or more, so that the decision value
        never falls with the feature, -1 or "-" where it is 0 or less, 0 where it is free. As
        ``monotonic_cst`` of scikit-learn. For :class:`SVMRFE` with the linear kernel, :class:`ExactSelector`,
        :class:`MBPSelector`, :class:`LagrangianSelector`, :class:`L1SVMSelector`, and of :mod:`fewest.papers`
        ``BendersSelector``, ``FSVSelector``, ``MILP1Selector`` and ``MILP2Selector``; the others refuse it.
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
    def from_columns(cls, transformer: Any, *, count: str = "columns", **rules: Any) -> Rules:
        """Rules by which the columns that one variable became are in or out together.

        Parameters
        ----------
        transformer : ColumnTransformer, OneHotEncoder, KBinsDiscretizer, SplineTransformer or Pipeline
            Fitted; what comes before the selector. A pipeline may have steps that keep columns as they
            are, scale them or leave some out. Features are named by where they are in what it gives.
        count : {"columns", "variables"}, default="columns"
            What ``max_features`` counts. "variables": a variable counts once, however many columns it
            became; the size is then written as a budget of which each variable costs 1.
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
        >>> Rules.from_columns(transformer, max_features=1, count="variables")
        Rules(together=[[0, 1, 2]], budget=1, costs=[1, 0, 0, 1])
        """
        check_is_fitted(transformer)
        variables = variables_of(transformer)
        of_variable: dict[int, list[int]] = {}
        for at, variable in enumerate(variables):
            of_variable.setdefault(variable, []).append(at)
        groups = [columns for columns in of_variable.values() if len(columns) > 1]
        given = {**rules, "together": [*rules.get("together", ()), *groups]}
        if count == "columns":
            return cls(**given)
        if count != "variables":
            raise ValueError(f"count is {count!r}, but must be 'columns' or 'variables'")
        size = given.pop("max_features", None)
        if size is None or given.get("budget") is not None or given.get("costs") is not None:
            raise ValueError(
                "count='variables' writes max_features as a budget of which each variable costs 1; give max_features, and no budget "
                "and costs of your own"
            )
        first = {columns[0] for columns in of_variable.values()}
        costs = [int(at in first) for at in range(len(variables))]
        return cls(**given, budget=_integer(size, "max_features", 1), costs=costs)

    def __repr__(self) -> str:
        empty = Rules.__dataclass_fields__
        said = [
            f"{name}={value!r}"
            for name in empty
            if (value := getattr(self, name)) is not None and not (isinstance(value, tuple) and value == ())
        ]
        return f"Rules({', '.join(said)})"

    def __getstate__(self) -> dict[str, Any]:
        # Views of mappings can neither be copied nor sent to another process.
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in self.get_params().items()}

    def __sklearn_clone__(self) -> Rules:
        return deepcopy(self)

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
        return self.max_features is not None or self.budget is not None or len(_listed(self.at_most, "at_most")) > 0

    def _never_chosen(self, n_features: int, names: Any, size: int) -> list[int]:
        """The smallest group of features that are in or out together and are more than this size."""
        if len(_listed(self.together, "together")) == 0:
            return []
        index, group_of = _Index(n_features, names), list(range(n_features))
        members: dict[int, list[int]] = {at: [at] for at in range(n_features)}
        for entry in self.together:
            features = index.all(entry)
            for other in features[1:]:
                into, gone = group_of[features[0]], group_of[other]
                if into != gone:
                    members[into] += members.pop(gone)
                    for at in members[into]:
                        group_of[at] = into
        return min((sorted(group) for group in members.values() if len(group) > size), key=len, default=[])

    def _resolved(self, n_features: int, names: Any, max_features: int | None) -> dict[str, Any]:
        """The rules as the engine takes them: indices in place of names, and this size."""
        index = _Index(n_features, names)
        return {
            "max_features": None if max_features is None else _integer(max_features, "max_features", 1),
            "require": index.all(self.require),
            "forbid": index.all(self.forbid),
            "implies": index.pairs(self.implies),
            "at_most": [index.group(entry, "at_most") for entry in _listed(self.at_most, "at_most")],
            "at_least": [index.group(entry, "at_least") for entry in _listed(self.at_least, "at_least")],
            "together": [index.all(entry) for entry in _listed(self.together, "together")],
            "budget": None if self.budget is None else float(self.budget),
            "costs": [] if self.costs is None else index.numbers(self.costs, "costs"),
            "weights": weight_bounds(index, self.signs, self.bounds),
        }


def _equal(a: Any, b: Any) -> bool:
    """Whether two values of a rule are the same, arrays and series included."""
    if hasattr(a, "equals") and type(a) is type(b):
        return bool(a.equals(b))
    if hasattr(a, "__array__") or hasattr(b, "__array__"):
        return np.array_equal(a, b)
    return bool(a == b)


def _listed(value: Any, rule: str) -> Any:
    """A rule that is a list of entries."""
    if isinstance(value, (str, Mapping)) or not (isinstance(value, Iterable) and hasattr(value, "__len__")):
        raise ValueError(f"{rule} is {value!r}, but must be a list, with an entry for each such rule")
    return value


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
        self.names: dict[Any, int] | None = None if names is None else {name: at for at, name in enumerate(names)}
        #: Names that are integers, where all are: these are no places.
        self.numbered = self.names if self.names and all(name.isdecimal() for name in self.names) else None

    def __call__(self, feature: Any) -> int:
        if isinstance(feature, str):
            if self.names is None:
                raise ValueError(
                    f"{self.place} names the feature {feature!r}, but X has no names of columns; give a data frame or the index, "
                    'and in a pipeline set_output(transform="pandas") for the steps before'
                )
            if feature not in self.names:
                alike = [name for name in self.names if name.lower() == feature.lower()]
                near = alike or difflib.get_close_matches(feature, self.names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{self.place} names the feature {feature!r}, which X does not have{hint}")
            return self.names[feature]
        at = _integer(feature, f"a feature in {self.place}", 0)
        if self.numbered is not None:
            if str(at) not in self.numbered:
                some = ", ".join(list(self.numbered)[:5])
                raise ValueError(
                    f"{self.place} names feature {at}, but the columns of X are named by numbers ({some}, ...), and none is {at}; "
                    "a mask, or an array with one value for each, goes by place"
                )
            return self.numbered[str(at)]
        if not 0 <= at < self.n_features:
            raise ValueError(f"{self.place} names feature {at}, but X has {self.n_features} features, counted from 0")
        return at

    def all(self, features: Any) -> list[int]:
        """Indices of several features."""
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise ValueError(f"{self.place} has {features!r} in place of a list of features; write [{features!r}]")
        if isinstance(features, Mapping):
            raise ValueError(
                f"{self.place} has the mapping {features!r} in place of a list of features; give a list of them, or a mask of length "
                f"{self.n_features}"
            )
        if not hasattr(features, "__len__"):
            features = list(features)
        mask = np.asarray(features)
        if mask.dtype == object and any(isinstance(chosen, (bool, np.bool_)) for chosen in mask.flat):
            if not all(isinstance(chosen, (bool, np.bool_)) for chosen in mask.flat):
                raise ValueError(f"{self.place} has a mask with values that are neither True nor False: {features!r}")
            mask = mask.astype(bool)
        if mask.dtype == bool:
            if (labelled := self._labelled(features, self.place)) is not None:
                if len(labelled) != self.n_features:
                    raise ValueError(
                        f"{self.place} has a mask of {len(labelled)} features, but X has {self.n_features}; give one value for each"
                    )
                return sorted(at for at, chosen in labelled if chosen)
            if mask.shape != (self.n_features,):
                raise ValueError(
                    f"{self.place} has a mask of shape {mask.shape}, but X has {self.n_features} features; give one value each"
                )
            return np.flatnonzero(mask).tolist()
        return [at for feature in features for at in self.meant(feature)]

    def meant(self, feature: Any) -> list[int]:
        """Indices of what a name, a pattern of names such as ``"MT-*"`` or ``"/^RP[SL]/"``, or an index means."""
        if isinstance(feature, str) and self.names is not None and feature not in self.names:
            found = _core.matching(list(self.names), feature)
            if found == []:
                raise ValueError(f"{self.place} has the pattern {feature!r}, which no column of X fits")
            if found is not None:
                return found
        return [self(feature)]

    def pairs(self, implies: Any) -> list[tuple[int, int]]:
        """Pairs of features, of which the first implies the second; of a list in place of the second,
        each of it.
        """
        found = []
        for entry in implies.items() if isinstance(implies, Mapping) else _listed(implies, "implies"):
            if isinstance(entry, str) or not hasattr(entry, "__len__") or len(entry) != 2:
                raise ValueError(f"implies takes pairs (feature, feature), but has {entry!r}")
            first, second = entry
            several = isinstance(second, (list, tuple, set, np.ndarray))
            found += [(self(first), other) for other in (self.all(second) if several else [self(second)])]
        return found

    def group(self, entry: Any, rule: str) -> tuple[int, list[int]]:
        """A number and a group of features."""
        if not (isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], Integral)):
            raise ValueError(f"{rule} takes pairs (m, features) with a number m first, but has {entry!r}")
        return _integer(entry[0], f"m in {rule}", 0), self.all(entry[1])

    def entries(self, values: Any, what: str) -> list[tuple[int, Any]]:
        """The features that values are given for, each with its value."""
        if values is None:
            return []
        if (labelled := self._labelled(values, what)) is not None:
            return labelled
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != self.n_features:
            raise ValueError(
                f"{what} is {values!r}, but must be a mapping of features, or have one entry for each of the {self.n_features} features"
            )
        return list(enumerate(values.to_numpy() if hasattr(values, "to_numpy") else values))

    def numbers(self, values: Any, what: str) -> list[float]:
        """One number for each feature; what a mapping has at ``"*"`` is for those that it does not name."""
        labels = values if isinstance(values, Mapping) else index_of(values)
        rest: Any = None
        if labels is not None and "*" in labels and "*" not in (self.names or ()):
            if isinstance(values, Mapping):
                rest, values = values["*"], {name: value for name, value in values.items() if name != "*"}
            else:
                (rest,), values = np.ravel(values.loc[["*"]]), values.drop("*")
        if (labelled := self._labelled(values, what)) is not None:
            numbers = dict(labelled)
            missing = [at for at in range(self.n_features) if at not in numbers]
            if missing and rest is None:
                names = list(self.names or range(self.n_features))
                said = ", ".join(repr(names[at]) for at in missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
                raise ValueError(f"{what} has no value for {said}; give every feature one, 0 where it is free; '*' is for all others")
            return [float(numbers.get(at, rest)) for at in range(self.n_features)]
        out = np.asarray(values, dtype=np.float64)
        if out.ndim == 0:
            out = np.full(self.n_features, float(out))
        if out.shape != (self.n_features,):
            raise ValueError(f"{what} has shape {out.shape}, but X has {self.n_features} features; give one number each")
        return out.tolist()

    def _labelled(self, values: Any, what: str) -> list[tuple[int, Any]] | None:
        """The features, each with its value, where values are given by name: in a mapping, or a series
        or frame of pandas that has features for labels; None where they are given by position.
        """
        if isinstance(values, Mapping):
            found = [(at, value) for feature, value in values.items() for at in self.meant(feature)]
        elif (index := index_of(values)) is None:
            return None
        else:
            # Labels that are numbers, such as wavelengths, name columns whose names are.
            labels = [label if isinstance(label, str) or str(label) not in (self.names or ()) else str(label) for label in index]
            named = [label for label in labels if isinstance(label, str)]
            if len(named) < len(labels) and (named or self.names is not None):
                if labels == list(range(self.n_features)):
                    return None
                strange = next(label for label in labels if not isinstance(label, str))
                raise ValueError(
                    f"{what} is a {type(values).__name__} with the label {strange!r}, which is no name of a column of X; label it by "
                    f"the names of X, or give {what}.to_numpy(), one value for each feature in the order of X"
                )
            rows = values.to_numpy()
            if rows.ndim == 2 and rows.shape[1] == 1:
                rows = rows.ravel()
            elif rows.ndim == 2:
                # An empty cell is no bound.
                rows = [[None if value != value else value for value in row] for row in rows.tolist()]
            found = [(self(label), value) for label, value in zip(labels, rows, strict=True)]
        if len({at for at, _ in found}) < len(found):
            raise ValueError(f"{what} names a feature twice; give one value for each")
        return found
