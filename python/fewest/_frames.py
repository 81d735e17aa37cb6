"""Frames of any kind as one that scikit-learn knows."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def native(X: Any) -> Any:
    """X, or, where it is a frame that scikit-learn would read without its names, one that it knows:
    what a frame of narwhals holds, and a table of pyarrow, polars or pandas, whichever is there, of
    anything that hands its columns over by Arrow's interface or by the interchange protocol (DuckDB,
    Ibis, Modin, ...).
    """
    if type(X).__module__.partition(".")[0] == "narwhals":
        X = X.to_native()
    if type(X).__module__.partition(".")[0] in ("polars", "pyarrow", "pandas", "numpy"):
        # Lazy frames are computed.
        return X.collect() if hasattr(X, "collect") else X
    if hasattr(X, "__arrow_c_stream__"):
        for module, name in (("pyarrow", "table"), ("polars", "DataFrame")):
            if find_spec(module):
                return getattr(import_module(module), name)(X)
    if hasattr(X, "__dataframe__") and not hasattr(X, "__array__") and find_spec("pandas"):
        return import_module("pandas.api.interchange").from_dataframe(X)
    return X
