"""What all parts of one call share: its time and its memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from fewest._memory import allowed, bytes_of

Method = TypeVar("Method", bound=Callable[..., Any])

#: Seconds that the last part of a call may take whose time is over: without it there would be no
#: subset, or no classifier.
LEAST = 0.15


@dataclass(frozen=True)
class Call:
    """A call of ``fit`` or ``path``."""

    end: float | None = None
    """When its time is over, as ``monotonic`` counts."""
    memory: int | None = None
    """Bytes that it may take beside the data."""


_call: ContextVar[Call] = ContextVar("call", default=Call())  # noqa: B039


def limited(method: Method) -> Method:
    """A method of an estimator whose parts share the estimator's ``time_limit`` and ``memory``,
    and those of the call that it is a part of.
    """

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer = _call.get()
        ends = [outer.end, None if self.time_limit is None else monotonic() + self.time_limit]
        end = min((end for end in ends if end is not None), default=None)
        memory = outer.memory if self.memory is None else bytes_of(self.memory)
        token = _call.set(Call(end, memory))
        try:
            return method(self, *args, **kwargs)
        finally:
            _call.reset(token)

    return call  # type: ignore[return-value]


def time_left(limit: float | None) -> float | None:
    """Seconds for a part of the call that may take no more than ``limit``."""
    end = _call.get().end
    left = None if end is None else max(end - monotonic(), LEAST)
    return min((seconds for seconds in (limit, left) if seconds is not None), default=None)


def memory_left(estimator: Any) -> int | None:
    """Bytes that a part of the call may take: what the call says, else the estimator, else
    ``set_memory``.
    """
    own = getattr(estimator, "memory", None)
    return _call.get().memory or (allowed() if own is None else bytes_of(own))
