"""Methods that an estimator has under a condition, with an error that says why it does not."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class Absent:
    """A method of selectors that an estimator does not have, and why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __get__(self, estimator: object, owner: type | None = None) -> None:
        raise AttributeError(self.why)


class Available:
    """A method that is there unless ``check`` raises an AttributeError: scikit-learn's ``available_if``
    hides what it says behind "has no attribute".

    Parameters
    ----------
    method : callable
        The method.
    check : callable
        Given the estimator.
    """

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], object]) -> None:
        self.fn = self.__wrapped__ = method
        self.__doc__, self.__name__ = method.__doc__, method.__name__
        self.check = check

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self.__wrapped__
        self.check(estimator)
        return MethodType(self.__wrapped__, estimator)


def available_where(check: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Any]:
    """A method that is there where ``check`` raises no AttributeError."""

    def made(method: Callable[..., Any]) -> Any:
        return Available(method, check)

    return made
