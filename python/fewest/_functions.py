"""Public functions that check and search as estimators do, under their own names in messages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from fewest._estimator import Estimator

Function = TypeVar("Function", bound=Callable[..., Any])


def under_name(name: str, base: Any = Estimator, **members: Any) -> Any:
    """A class of estimators that messages, scikit-learn's included, call by the name of a function."""
    return type(name, (base,), {"_tags": replace(base._tags, is_function=True), **members})


def searches(base: type, *given: str) -> Callable[[Function], Function]:
    """A function without a body. Its arguments are the parameters of an estimator of its name, derived from ``base``,
    but for those ``given`` to the method ``_find`` of that estimator, which says what is returned.
    """

    def made(function: Function) -> Function:
        signature = inspect.signature(function)
        settings = [parameter for name, parameter in signature.parameters.items() if name not in given]

        def init(self: Any, **settings: Any) -> None:
            vars(self).update(settings)

        self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        by_name = [setting.replace(kind=inspect.Parameter.KEYWORD_ONLY) for setting in settings]
        init.__signature__ = inspect.Signature([self, *by_name])  # type: ignore[attr-defined]
        search = under_name(function.__name__, base, __init__=init)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            # Refuses unknown arguments.
            function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = bound.arguments
            found = search(**{setting.name: values[setting.name] for setting in settings})
            return found._find(**{name: values[name] for name in given})

        return call  # type: ignore[return-value]

    return made
