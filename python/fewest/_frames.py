"""Frames of any kind as one that scikit-learn knows, and what their indices say."""

from __future__ import annotations

from abc import ABCMeta
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest._warn import warn


def native(X: Any) -> Any:
    """X, or, where it is a frame that scikit-learn would read without its names, one that it knows:
    what a frame of narwhals holds, and a table of pyarrow, polars or pandas, whichever is there, of
    anything that hands its columns over by Arrow's interface or by the interchange protocol (DuckDB,
    Ibis, Modin, ...). An AnnData becomes a frame of pandas, or a :class:`_Named` sparse matrix.
    """
    if _library(X) == "narwhals":
        X = X.to_native()
    if _library(X) in ("polars", "pyarrow", "pandas", "numpy"):
        # Lazy frames are computed.
        return X.collect() if hasattr(X, "collect") else X
    if is_annotated(X):
        return _of_annotated(X)
    if hasattr(X, "__arrow_c_stream__"):
        for module, name in (("pyarrow", "table"), ("polars", "DataFrame")):
            if find_spec(module):
                return getattr(import_module(module), name)(X)
    if hasattr(X, "__dataframe__") and not hasattr(X, "__array__") and find_spec("pandas"):
        return import_module("pandas.api.interchange").from_dataframe(X)
    return X


def is_annotated(X: Any) -> bool:
    """Whether X is an AnnData: a matrix, a table of its rows, and names of its columns in one."""
    return all(hasattr(X, part) for part in ("X", "obs", "var_names"))


def _of_annotated(adata: Any) -> Any:
    """The matrix of an AnnData with the names of its columns, and of its rows where it is dense;
    nothing is copied.
    """
    values = adata.X
    if getattr(adata, "isbacked", False) or values is None:
        remedy = "layers[name] of it, as in adata.X = adata.layers[name]" if values is None else "adata.to_memory()"
        raise TypeError(f"X of {type(adata).__name__} is {'not there' if values is None else 'on the disk'}; give {remedy}")
    names = [str(name) for name in adata.var_names]
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise ValueError(
            f"the name {twice!r} is used by several columns of {type(adata).__name__}; adata.var_names_make_unique() tells them apart"
        )
    if sp.issparse(values):
        return _NamedColumns.of(values, names) if values.format == "csc" else _NamedRows.of(values.tocsr(), names)
    return import_module("pandas").DataFrame(np.asarray(values), index=adata.obs.index, columns=names)


class _Named:
    """A sparse matrix whose columns have names; samples of it have them, too."""

    names: list[str] | None = None

    @classmethod
    def of(cls, X: Any, names: list[str]) -> Any:
        """The same matrix, in the same memory."""
        made = cls((X.data, X.indices, X.indptr), shape=X.shape, copy=False)  # type: ignore[call-arg]
        made.names = names
        return made

    def __getitem__(self, key: Any) -> Any:
        return self._with_names(super().__getitem__(key))  # type: ignore[misc]

    def copy(self) -> Any:
        """A copy."""
        return self._with_names(super().copy())  # type: ignore[misc]

    def plain(self) -> Any:
        """The same matrix without names, in the same memory."""
        kind: Any = sp.csr_array if isinstance(self, sp.csr_array) else sp.csc_array
        return kind((self.data, self.indices, self.indptr), shape=self.shape, copy=False)  # type: ignore[attr-defined]

    def _with_names(self, found: Any) -> Any:
        if isinstance(found, _Named) and found.shape[1:] == self.shape[1:]:  # type: ignore[attr-defined]
            found.names = self.names
        return found


class _NamedRows(_Named, sp.csr_array, metaclass=ABCMeta):
    """Of compressed rows."""


class _NamedColumns(_Named, sp.csc_array, metaclass=ABCMeta):
    """Of compressed columns."""

    def tocsr(self, copy: bool = False) -> Any:
        """The same of compressed rows."""
        made = super().tocsr(copy)
        return made if self.names is None else _NamedRows.of(made, self.names)


def names_beside(X: Any) -> list[str] | None:
    """Names of the columns of a matrix that scikit-learn would not search for."""
    return X.names if isinstance(X, _Named) else None


def labels_in(X: Any, y: Any, given: str = "y", of: str = "X") -> Any:
    """y, or, where it is a name and X an AnnData, the column of that name of the table of its samples.
    They are called ``given`` and ``of``.
    """
    if not (isinstance(y, str) and is_annotated(X)):
        return y
    if y not in X.obs:
        raise ValueError(f"{given} is {y!r}, but obs of {of} has no such column; it has {', '.join(map(str, X.obs.columns)) or 'none'}")
    return X.obs[y]


def named(X: Any) -> Any:
    """As :func:`native`; names of columns that are no texts, such as wavelengths, as texts. Columns
    that are merely counted have no names.
    """
    X = native(X)
    if isinstance(X, np.ma.MaskedArray):
        # What is masked is missing.
        return np.where(np.ma.getmaskarray(X), np.nan, X.data)
    columns = getattr(X, "columns", None)
    if _library(X) != "pandas" or columns is None or all(isinstance(name, str) for name in columns):
        return X
    if list(columns) == list(range(len(columns))):
        return X
    X = X.copy(deep=False)
    X.columns = [str(name) for name in columns]
    return X


def _library(X: Any) -> str:
    """The library that X is of, or that what it derives from is of."""
    found = [kind.__module__.partition(".")[0] for kind in type(X).__mro__]
    return next((name for name in found if name in _LIBRARIES), found[0])


#: Libraries whose frames, series and arrays are recognised by name.
_LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "narwhals")


def index_of(values: Any) -> Any:
    """The labels of the rows of a frame or series of pandas, or of an AnnData; None of anything else."""
    if is_annotated(values):
        values = values.obs
    return values.index if _library(values) == "pandas" and hasattr(values, "iloc") else None


def in_order(X: Any, *, given: str = "X", **others: Any) -> None:
    """Raise where X, which is called ``given``, or the first of the others that has labels of rows, and
    another one name the same samples in another order; warn where they name other samples.
    """
    of, labels = given, index_of(X)
    for name, values in others.items():
        found = index_of(values)
        if found is None or found is labels:
            continue
        if labels is None:
            of, labels = name, found
            continue
        if len(found) != len(labels) or found.equals(labels):
            continue
        at = next((at for at, (a, b) in enumerate(zip(labels, found, strict=True)) if a != b), None)
        if at is None:
            # The same labels, of another type.
            continue
        if _counted(found) == _counted(labels):
            raise ValueError(
                f"the samples of {name} are those of {of} in another order, by their indices; give {name}.loc[{of}.index], "
                f"or {name}.to_numpy() where they go by position"
            )
        warn(
            f"the index of {name} is not that of {of}: row {at} is {found[at]!r} in {name} and {labels[at]!r} in {of}. Both are taken "
            f"in the order they have; {name}.to_numpy() says that this is right.",
            UserWarning,
        )


def _counted(labels: Any) -> dict[Any, int]:
    """How often each label is there."""
    return dict(labels.value_counts(dropna=False).items())


def plain_labels(y: Any) -> Any:
    """Labels, and those of a nullable type of pandas as numpy has them: none is missing."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if plain is None or _library(y) != "pandas" else y.astype(plain)


def missing_labels(y: Any) -> np.ndarray:
    """Positions of missing labels."""
    if isinstance(y, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(y)
    elif hasattr(y, "isna"):
        missing = np.asarray(y.isna())
    elif hasattr(y, "is_null") and _library(y) in ("polars", "pyarrow"):
        missing = np.asarray(y.is_null())
    else:
        values = np.asarray(y)
        if values.dtype.kind == "f":
            missing = np.isnan(values)
        elif values.dtype == object:
            missing = np.array([_is_missing(label) for label in values.ravel()], dtype=bool)
        else:
            return np.empty(0, dtype=int)
    return np.flatnonzero(missing.ravel())


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)


def refuse_missing_labels(y: Any) -> None:
    """Raise where labels are missing, saying how many and where."""
    missing = missing_labels(y)
    if missing.size:
        where = ", ".join(str(at) for at in missing[:5]) + (", ..." if missing.size > 5 else "")
        # scikit-learn's words first, which tests of estimators search for.
        raise ValueError(
            f"Input y contains NaN: {missing.size} of {np.size(y)} samples have no label, at {where} (counted from 0); leave them out "
            "of X and y, as in X[y.notna()], y[y.notna()]"
        )


def refuse_dates(X: Any) -> None:
    """Raise where X, or a column of it, holds dates: as numbers they would be nanoseconds, or days."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise ValueError(f"X {_DATES.format(X.ravel()[0] if X.size else X.dtype)}")
        return
    library = _library(X)
    if library == "pandas" and hasattr(X, "columns"):
        of_dates = [getattr(kind, "kind", "O") in "mM" for kind in X.dtypes]
    elif library == "polars" and hasattr(X, "dtypes"):
        of_dates = [kind.is_temporal() for kind in X.dtypes]
    elif library == "pyarrow" and hasattr(X, "schema"):
        of_dates = [import_module("pyarrow.types").is_temporal(kind) for kind in X.schema.types]
    else:
        return
    if any(of_dates):
        at = of_dates.index(True)
        column = X.column(at).to_pylist() if library == "pyarrow" else X.iloc[:, at] if library == "pandas" else X.to_series(at)
        name = (X.column_names if library == "pyarrow" else X.columns)[at]
        raise ValueError(f"the column {name!r} of X {_DATES.format(next(iter(column), 'none'))}")


_DATES = "holds dates ({}), not numbers; give what of them matters, such as days since a day: (dates - dates.min()).dt.days"


def refuse_texts(X: Any, name: str, why: Exception) -> None:
    """Raise what is to be done about an X that holds texts or dates, which are no numbers; ``why``:
    what scikit-learn says of it.
    """
    X = native(X)
    if isinstance(X, (list, tuple)) and X and all(isinstance(text, str) for text in X):
        files = "files on workers end with .svm, .npz, .parquet or .csc, and fewest.read_table reads a file of any other kind"
        what = "X is a list of texts, but must hold numbers, of shape (n_samples, n_features)"
        raise TypeError(f"{_of_texts(what, name)}; {files}") from why
    columns = X.column_names if _library(X) == "pyarrow" else getattr(X, "columns", None)
    if columns is None:
        values = X if isinstance(X, np.ndarray) else _object_array(X)
        if values is None or values.dtype.kind not in "OUSmM":
            return
        if values.ndim == 1 and isinstance(values.flat[0], str):
            raise ValueError(_of_texts("X is an array of texts", name)) from why
        if values.ndim != 2:
            return
        for j, column in enumerate(values.T):
            _refuse_column(f"column {j} of X", str(j), column, name, why)
        return
    for column in columns:
        values = X[column]
        if _library(X) != "pandas":
            values = np.asarray(values.to_pylist() if hasattr(values, "to_pylist") else values.to_list(), dtype=object)
        elif values.ndim == 1:
            values = values.to_numpy(dtype=object)
        else:
            continue
        _refuse_column(f"the column {column!r} of X", repr(column), values, name, why)


def _object_array(X: Any) -> np.ndarray | None:
    try:
        return np.array(X, dtype=object)
    except ValueError:
        return None


def _of_texts(what: str, name: str) -> str:
    return f"{what}; turn texts into numbers before {name}, as in make_pipeline(TfidfVectorizer(), {name}())"


def _refuse_column(what: str, column: str, values: np.ndarray, name: str, why: Exception) -> None:
    """Raise where a column holds dates, or a text that is no number."""
    for value in values.tolist() if values.dtype != object else values:
        if hasattr(value, "isoformat") or isinstance(value, np.datetime64) or type(value).__name__ in ("timedelta", "Timedelta"):
            raise ValueError(f"{what} {_DATES.format(value)}") from why
        if isinstance(value, (str, bytes)) and not _is_number(value):
            raise ValueError(
                f"{what} holds texts ({str(value)[:40]!r}), not numbers; encode it before {name}, as in make_pipeline("
                f'make_column_transformer((OneHotEncoder(handle_unknown="ignore"), [{column}]), remainder="passthrough"), {name}())'
            ) from why


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def sample_names(X: Any) -> list[str] | None:
    """Names of the samples, where the index of a frame or an AnnData has some."""
    index = getattr(X, "obs_names", getattr(X, "index", None))
    values: list[Any] = index.to_list() if index is not None and hasattr(index, "to_list") else []
    return values if values and all(isinstance(value, str) for value in values) else None
