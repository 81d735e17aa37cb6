"""How much memory a call may take."""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from typing import Any

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_FORMAT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def bytes_of(limit: int | str) -> int:
    """The number of bytes; ``ValueError`` for anything else than a size of at least one byte."""
    if isinstance(limit, str):
        parts = _FORMAT.fullmatch(limit.strip())
        found = int(float(parts[1]) * _UNITS[parts[2].upper()]) if parts else 0
    else:
        found = 0 if isinstance(limit, bool) else int(limit)
    if found < 1:
        raise ValueError(f"memory is {limit!r}, but must be bytes above zero, such as 2147483648 or '2G'")
    return found


_allowed: int | None = bytes_of(os.environ["FEWEST_MEMORY"]) if os.environ.get("FEWEST_MEMORY") else None


def set_memory(limit: int | str | None) -> int | None:
    """Set how much memory each fit from now on may take beside the data.

    What does not fit is computed again when it is needed, or raises ``MemoryError`` before it is
    taken, with the need and what to do. The environment variable ``FEWEST_MEMORY`` is the limit that
    a process begins with; workers of joblib and Dask are processes of their own and have it from
    there.

    Parameters
    ----------
    limit : int, str or None
        Bytes, or a size such as ``"500M"`` or ``"2G"`` (powers of 1024). None for the default of
        each method: 1 GiB, more where HiGHS solves the whole problem.

    Returns
    -------
    int or None
        The limit before, to be set again.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewest
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> before = fewest.set_memory("10K")
    >>> fewest.AlignmentSelector(n_features_to_select=3).fit(X, y)
    Traceback (most recent call last):
        ...
    MemoryError: kta on 569 samples and 30 features to choose from needs ... bytes, but only 10240 are allowed; ...
    >>> fewest.set_memory(before)
    10240
    """
    global _allowed
    before, _allowed = _allowed, None if limit is None else bytes_of(limit)
    return before


#: What the current call may take, where its estimator says it.
OWN: ContextVar[int | None] = ContextVar("own", default=None)


def allowed() -> int | None:
    """What the current call may take: what its estimator says, else :func:`set_memory`."""
    own = OWN.get()
    return _allowed if own is None else own


def with_memory(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that have a memory of their own, with the limit."""
    limit = allowed()
    return settings if limit is None else {**settings, "memory": limit}


def method_with_memory(method: dict[str, Any]) -> dict[str, Any]:
    """A method's settings with the limit, where it is not only that of its SVM."""
    if method["name"] in ("kta", "fgm", "mbp", "milo-k", "rmilo-k", "milp1", "milp2"):
        return with_memory(method)
    if method["name"] == "lagrangian":
        return {**method, "program": with_memory(method["program"])}
    return method
