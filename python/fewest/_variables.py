"""Which variable each column came from, through the transformers of scikit-learn."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, SplineTransformer


def variables_of(transformer: Any) -> list[int]:
    """A number for each column that a fitted transformer gives, the same for columns that one variable
    became.
    """
    new = count()
    width = int(getattr(transformer, "n_features_in_", 0))
    return _given(transformer, [next(new) for _ in range(width)], new)


def _given(transformer: Any, variables: list[int], new: Any) -> list[int]:
    """The variables of the columns that a transformer gives, from those of the columns it takes."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            if step is not None and step != "passthrough":
                variables = _given(step, variables, new)
        return variables
    if isinstance(transformer, ColumnTransformer):
        return _of_parts(transformer, variables, new)
    if isinstance(transformer, FeatureUnion):
        parts = [part for _, part in transformer.transformer_list if part != "drop"]
        taken = [_apart(variables, variables, new) for _ in parts]
        return [v for part, own in zip(parts, taken, strict=True) for v in (own if part == "passthrough" else _given(part, own, new))]
    widths = _widths(transformer)
    if widths is not None:
        return [variable for variable, width in zip(variables, widths, strict=True) for _ in range(width)]
    if isinstance(transformer, SelectorMixin):
        return np.asarray(variables)[transformer.get_support()].tolist()
    if hasattr(transformer, "add_indicator"):
        # An imputer leaves empty columns out, and adds some of its own.
        names = getattr(transformer, "feature_names_in_", [f"x{j}" for j in range(len(variables))])
        of = dict(zip(names, variables, strict=True))
        return [of[name] if name in of else next(new) for name in transformer.get_feature_names_out()]
    if isinstance(transformer, OneToOneFeatureMixin) or getattr(transformer, "feature_names_out", None) == "one-to-one":
        return variables
    if len(set(variables)) < len(variables):
        raise ValueError(
            f"{type(transformer).__name__} comes after columns that one variable became, and what it makes of them is not known; give "
            "the transformer before it, or the groups as together of Rules"
        )
    try:
        return [next(new) for _ in transformer.get_feature_names_out()]
    except (AttributeError, ValueError):
        raise ValueError(
            f"Rules.from_columns does not know which columns {type(transformer).__name__} makes of a variable; it knows "
            "ColumnTransformer, OneHotEncoder, KBinsDiscretizer, SplineTransformer, what keeps columns, and pipelines of these; give "
            "the groups as together of Rules"
        ) from None


def _of_parts(transformer: ColumnTransformer, variables: list[int], new: Any) -> list[int]:
    """Those of a column transformer, which puts the columns of its parts side by side."""
    places = {name: at for name, at in transformer.output_indices_.items() if at.stop > at.start}
    found = [-1] * max((at.stop for at in places.values()), default=0)
    for name, inner, _ in transformer.transformers_:
        if name not in places:
            continue
        at = places[name]
        given: list[int] | None = None
        if inner != "drop" and name in transformer._transformer_to_input_indices:
            taken = _apart([variables[j] for j in transformer._transformer_to_input_indices[name]], variables, new)
            given = taken if inner == "passthrough" else _known(inner, taken, new)
        if given is None or len(given) != at.stop - at.start:
            # Columns of nothing that is known, such as words.
            given = [next(new) for _ in range(at.start, at.stop)]
        found[at] = given
    return found


def _apart(taken: list[int], variables: list[int], new: Any) -> list[int]:
    """What a part takes: a column that several parts take is a variable of its own in each, unless it is
    one of several that a variable became before.
    """
    times = Counter(variables)
    own = {variable: next(new) for variable in taken if times[variable] == 1}
    return [own.get(variable, variable) for variable in taken]


def _known(transformer: Any, variables: list[int], new: Any) -> list[int] | None:
    """Those of a part; None where it is of a kind that is not known."""
    try:
        return _given(transformer, variables, new)
    except ValueError:
        return None


def _widths(transformer: Any) -> list[int] | None:
    """How many columns each column becomes, where that is known."""
    if isinstance(transformer, OneHotEncoder):
        return [int(width) for width in transformer._n_features_outs]
    if isinstance(transformer, KBinsDiscretizer):
        return [1] * transformer.n_features_in_ if transformer.encode == "ordinal" else [int(bins) for bins in transformer.n_bins_]
    if isinstance(transformer, SplineTransformer):
        return [transformer.n_features_out_ // transformer.n_features_in_] * transformer.n_features_in_
    return None
