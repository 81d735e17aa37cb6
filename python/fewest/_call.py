"""What all parts of one call share: its time and its memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from time import monotonic
from typing import Any, TypeVar

from fewest._memory import OWN, allowed, bytes_of

Method = TypeVar("Method", bound=Callable[..., Any])

#: Seconds that the last part of a call may take whose time is over: without it there would be no
#: subset, or no classifier.
LEAST = 0.15
#: When the time of the current call is over, as ``monotonic`` counts.
_END: ContextVar[float | None] = ContextVar("end", default=None)


def limited(method: Method) -> Method:
    """A method of an estimator whose parts share the estimator's ``time_limit`` and ``max_memory``,
    and those of the call that it is a part of.
    """

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.time_limit is not None and not isinstance(self.time_limit, Real):
            raise TypeError(f"time_limit is {self.time_limit!r}, but must be a number of seconds, such as 600, or None")
        outer = _END.get()
        ends = [outer, None if self.time_limit is None else monotonic() + float(self.time_limit)]
        end = _END.set(min((end for end in ends if end is not None), default=None))
        own = OWN.set(OWN.get() if self.max_memory is None else bytes_of(self.max_memory))
        try:
            return method(self, *args, **kwargs)
        finally:
            OWN.reset(own)
            _END.reset(end)

    return call  # type: ignore[return-value]


@contextmanager
def holding(estimator: Any, **values: Any) -> Iterator[None]:
    """An estimator that has these attributes for one call, which its parts read."""
    vars(estimator).update(values)
    try:
        yield
    finally:
        for name in values:
            vars(estimator).pop(name, None)


def time_left(limit: float | None) -> float | None:
    """Seconds for a part of the call that may take no more than ``limit``."""
    end = _END.get()
    left = None if end is None else max(end - monotonic(), LEAST)
    return min((seconds for seconds in (limit, left) if seconds is not None), default=None)


def memory_left(estimator: Any) -> int | None:
    """Bytes that a part of the call may take: what the estimator says, else the call, else
    ``set_memory``.
    """
    own = getattr(estimator, "max_memory", None)
    return allowed() if own is None else bytes_of(own)
