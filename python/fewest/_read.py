"""Files and frames of text as the command reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest import _core
from fewest._columns import label_texts, labels_of
from fewest._memory import bytes_of

#: Functions of pyreadstat by the endings of statistics packages.
_STATISTICS = {
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
}


@dataclass(repr=False)
class Table:
    """What :func:`read_table` returns.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_samples, n_features)
        The values in double precision, in Fortran order; sparse where the file is. NaN where a value is
        missing.
    y : ndarray of shape (n_samples,) or None
        The class of each sample, as numbers where all classes are numbers; None where there is no target.
    feature_names : list of str
        Names of the features; ``colour=red`` for a value of a text column.
    sample_names : list of str or None
        Names of the samples, where the file has them.
    columns : dict of str to ndarray of shape (n_samples,)
        The columns asked for with ``columns``, as text.
    notes : list of str
        What the reader did, and what may be wrong with the file.
    target_name : str or None
        The column of the classes.

    See Also
    --------
    read_table : Makes one.
    """

    X: Any
    y: np.ndarray | None
    feature_names: list[str]
    sample_names: list[str] | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    target_name: str | None = None

    def __repr__(self) -> str:
        n, p = self.X.shape
        of = "" if self.y is None else f", {len(np.unique(self.y))} classes of {self.target_name!r}"
        return f"Table({n} samples, {p} features{', sparse' if sp.issparse(self.X) else ''}{of})"

    def to_frame(self) -> Any:
        """The values as a frame of pandas, which must be installed.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_samples, n_features)
            The index are the names of the samples, the columns those of the features.
        """
        pandas = _imported("pandas", "to_frame needs pandas", "pandas")
        make = pandas.DataFrame.sparse.from_spmatrix if sp.issparse(self.X) else pandas.DataFrame
        return make(self.X, index=self.sample_names, columns=self.feature_names)


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    labels: str | os.PathLike[str] | tuple[str | os.PathLike[str], str] | None = None,
    by: str | None = None,
    id: str | None = None,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    only: Sequence[str] = (),
    text: Sequence[str] = (),
    classes: Sequence[Any] = (),
    drop_unlabelled: bool = False,
    transpose: bool = False,
    layer: str | None = None,
    format: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing_codes: Sequence[Any] = (),
    unique_names: bool = False,
    zero_based: bool = False,
    index_limit: int | None = None,
    sum_by: Sequence[str] = (),
    normalize_total: float | None = None,
    log1p: bool = False,
    target_optional: bool = False,
    max_memory: int | str | None = None,
) -> Table:
    """Read a data file as the command does: text columns become columns of 0 and 1, columns of dates are
    left out, a first column without a name holds the names of the samples.

    Files of SAS, SPSS and Stata (.sas7bdat, .xpt, .sav, .zsav, .por, .dta) are read by pyreadstat
    (``pip install 'fewest[stat]'``), with labels in place of the values of a column each of which has one,
    and zarr by anndata (``pip install 'fewest[zarr]'``).

    Parameters
    ----------
    path : str or path-like
        The file: text with commas, semicolons, tabs, bars or blanks between the cells, svmlight, arff,
        parquet, feather, npz, a column file, xlsx, ods, gct, a series matrix of GEO, h5ad, 10x, loom; each
        text also .gz, .bz2 or .zst.
    target : str, default=None
        Column of the classes. None: y, label, class or target, else the last one; of a matrix that says
        nothing of classes there is none.
    labels : path-like or (path-like, str), default=None
        A second file with the class of each sample, and its column where there are several. Its rows are
        found by the names of the samples.
    by : str, default=None
        Column of ``labels`` with the names of the samples. None: a first column without a name, else the
        one that holds most of them.
    id : str, default=None
        Column with the names of the samples. None: a first column without a name.
    columns : sequence of str, default=()
        Columns to set apart, of the file or of ``labels``, such as donors; they are no features.
    drop : sequence of str, default=()
        Columns to leave out: names, and patterns such as ``"MT-*"`` or ``"/^RP[SL]/"``.
    only : sequence of str, default=()
        The only columns to make features of: names and patterns.
    text : sequence of str, default=()
        Columns to read as categories even where they hold numbers.
    classes : sequence, default=()
        Keep the samples of these classes only.
    drop_unlabelled : bool, default=False
        Whether samples without a class are left out. Otherwise they are an error.
    transpose : bool, default=False
        Whether features are in the rows of a text or sheet, samples in its columns.
    layer : str, default=None
        Which of several matrices, or which sheet of a workbook. None: the first, or ``X``.
    format : str, default=None
        Format of the file, as ``--format`` has it. None: by the ending, and by what the file shows.
    header : bool, default=None
        Whether the first line holds the names of the columns. None: what it looks like.
    delimiter : str, default=None
        Sign between cells, or ``"tab"`` or ``"blanks"``. None: what the first rows show.
    comment : str, default=None
        Lines that begin with this sign are passed over.
    decimal, thousands : str, default=None
        Signs of numbers in text. None: a point, and none.
    missing_codes : sequence, default=()
        What stands for a missing value, in any column, beside blank cells, NA, ? and the like.
    unique_names : bool, default=False
        Whether equal names of columns are made different (TP53, TP53.1). Otherwise they are an error.
    zero_based : bool, default=False
        Whether feature numbers of svmlight begin at 0. False: as a comment at its start says, else at 1.
    index_limit : int, default=None
        Largest feature number of svmlight. None: about the bytes of the file.
    sum_by : sequence of str, default=()
        Counts: samples of one class that agree in these columns, such as the cells of a donor, are summed up to one,
        before ``normalize_total``. The columns are set apart.
    normalize_total : float, default=None
        Counts: the values of each sample are multiplied so that their sum over all features is this, such as
        1e4, before features are left out; a sample of zeros stays as it is.
    log1p : bool, default=False
        Counts: whether each value x becomes ln(1 + x), after ``normalize_total``.
    target_optional : bool, default=False
        Whether it is a file to predict: without a target of a usual name, ``y`` is None and the last
        column a feature; one class is enough.
    max_memory : int or str, default=None
        Bytes that the reader may take, or a size such as ``"2G"``. None: three quarters of the machine's.

    Returns
    -------
    table : Table
        ``X``, ``y``, ``feature_names``, ``sample_names``, ``columns``, ``notes``.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        What is wrong with the file, and what to do.
    ImportError
        A package that reads the format is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fewest import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "small.csv")
    ...     _ = file.write_text("age;colour;y\\n1,5;red;no\\n2,5;blue;yes\\n;red;yes\\n")
    ...     table = read_table(file, decimal=",")
    >>> table.feature_names, table.y.tolist()
    (['age', 'colour=red'], ['no', 'yes', 'yes'])
    >>> table.X[:, 0].tolist()
    [1.5, 2.5, nan]
    """
    second = labels if isinstance(labels, tuple) else None if labels is None else (labels, None)
    if by is not None and second is None:
        raise ValueError(f"by is {by!r}, but there are no labels; name the second file with labels, or the column of this one with id")
    reading: dict[str, Any] = {
        "format": format,
        "target": target,
        "drop": _listed(drop),
        "only": _listed(only),
        "text": _listed(text),
        "missing_codes": [str(code) for code in _listed(missing_codes)],
        "classes": label_texts(_listed(classes)),
        "no_header": None if header is None else not header,
        "header": None if header is None else bool(header),
        "drop_unlabelled": bool(drop_unlabelled),
        "decimal": decimal,
        "thousands": thousands,
        "delimiter": delimiter,
        "comment": comment,
        "transpose": bool(transpose),
        "by": by,
        "id": id,
        "unique_names": bool(unique_names),
        "zero_based": bool(zero_based),
        "layer": layer,
        "index_limit": index_limit,
        "sum_by": _listed(sum_by),
        "normalize_total": None if normalize_total is None else float(normalize_total),
        "log1p": bool(log1p),
    }
    wanted = {
        "columns": _listed(columns),
        "target_optional": bool(target_optional),
        "memory": None if max_memory is None else bytes_of(max_memory),
    }
    with (
        _readable(path, format) as (file, said, labelled),
        _readable(None if second is None else second[0], None) as (other, _, _),
    ):
        reading = {**said, **{name: value for name, value in reading.items() if value is not None}}
        if second is not None:
            reading["labels"] = (other, second[1])
        called = {file: os.fspath(path), other: os.fspath(second[0]) if second else ""}
        found, notes = _read(file, reading, wanted, called)
    target_name, codes = None, None
    if found["target"] is not None:
        target_name, names, codes = found["target"]
    return Table(
        X=_matrix(found["x"]),
        y=None if codes is None else labels_of(names)[codes],
        feature_names=found["names"],
        sample_names=found["samples"],
        columns={name: np.array(values, dtype=object) for name, values in found["columns"]},
        notes=[*labelled, *(note for note, _ in notes)],
        target_name=target_name,
    )


def _listed(names: Any) -> list[Any]:
    """A sequence of names, of which there may be one alone."""
    return [names] if isinstance(names, (str, int, float)) else list(names)


def _matrix(found: Any) -> Any:
    if not isinstance(found, tuple):
        return found
    n, starts, rows, values = found
    return sp.csc_array((values, rows, starts), shape=(n, len(starts) - 1))


def _read(
    file: str, reading: dict[str, Any], wanted: dict[str, Any], called: dict[str, str], *, frame: bool = False
) -> tuple[dict[str, Any], list[tuple[str, bool]]]:
    """What the reader finds, and its notes, with files as the user called them."""

    def said(text: str) -> str:
        for name, instead in called.items():
            text = text.replace(name, instead) if name and instead else text
        return text

    try:
        found = _core.read_table(file, reading, wanted, frame)
    except (ValueError, OSError) as error:
        raise type(error)(said(str(error))) from None
    return found, [(said(note), loud) for note, loud in found["notes"]]


@contextmanager
def _readable(path: str | os.PathLike[str] | None, format: str | None) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """A file that the reader takes in place of one that it does not, how it is to be read, and notes on it."""
    file = "" if path is None else os.fspath(path)
    name = file.lower().rstrip("/" + os.sep)
    ending = os.path.splitext(name)[1]
    inside = (".zgroup", ".zattrs", "zarr.json")
    zarr = name.endswith((".zarr", ".zarr.zip")) or any(os.path.exists(os.path.join(file, part)) for part in inside if file)
    if format is not None or not (ending in _STATISTICS or zarr):
        yield file, {}, []
        return
    if not os.path.exists(file):
        raise FileNotFoundError(f"{file}: no such file; check the path")
    with TemporaryDirectory() as folder:
        if zarr:
            made = os.path.join(folder, "table.h5ad")
            _of_zarr(file).write_h5ad(made)
            yield made, {}, []
        else:
            made = os.path.join(folder, "table.csv")
            frame, notes = _of_statistics(file, _STATISTICS[ending])
            frame.to_csv(made, index=False)
            yield made, {"header": True, "delimiter": ","}, notes


def _of_statistics(file: str, reader: str) -> tuple[Any, list[str]]:
    """A frame of a file of SAS, SPSS or Stata, with the labels of its values, and notes on these; what users
    or the format call missing is missing.
    """
    pyreadstat = _imported("pyreadstat", f"{file}: files of SAS, SPSS and Stata need pyreadstat", "'fewest[stat]'")
    try:
        frame, about = getattr(pyreadstat, reader)(file)
    except pyreadstat.ReadstatError as error:
        raise ValueError(f"{file}: the file is damaged, or of another format ({error}); copy it again") from None
    each = (_put_labels(frame, name, labels) for name, labels in about.variable_value_labels.items() if name in frame)
    return frame, [note for note in each if note]


def _put_labels(frame: Any, name: str, labels: dict[Any, str]) -> str | None:
    """Puts labels in place of the values of a column where each value has one of its own; else it keeps its
    values, such as numbers of which only 0 has a label, and a note says so.
    """
    there = frame[name].dropna().unique().tolist()
    words = [labels[value] for value in there if value in labels]
    coded = all(isinstance(value, (int, float)) for value in labels) and any(map(_is_number, words))
    if len(words) == len(there) and len(set(words)) == len(words) and not coded:
        frame[name] = frame[name].map(labels).astype(object)
        return None
    if not words:
        return None
    told = [value for value in there if value in labels]
    shown = ", ".join(f"{value:g} ({labels[value]})" if isinstance(value, float) else f"{value} ({labels[value]})" for value in told)
    return f"`{name}` keeps its values, as labels do not tell all of them apart: {shown}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_zarr(file: str) -> Any:
    """The AnnData of a folder of zarr, or of one that was packed."""
    anndata = _imported("anndata", f"{file}: zarr needs anndata", "'fewest[zarr]'")
    if os.path.isdir(file):
        return anndata.read_zarr(file)
    zarr = _imported("zarr", f"{file}: zarr needs anndata", "'fewest[zarr]'")
    store = zarr.storage.ZipStore(file, mode="r")
    try:
        return anndata.read_zarr(store)
    finally:
        store.close()


def _imported(module: str, why: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{why}: pip install {package}") from error


class Coding:
    """How the columns of a frame became features: what the command's reader makes of the same table.

    Parameters
    ----------
    frame : data frame of shape (n_samples, n_columns)
        Columns of numbers, text, categories, dates, truth values.

    Attributes
    ----------
    features : DataFrame of shape (n_samples, n_features)
        The features of the frame, until they are taken.
    columns_of_text : list of tuple
        Each column of text: its name, the names of the features made of it, its values.
    texts : list of list of int
        The features that each column of text became.
    warnings : list of str
        What its user should know.
    """

    def __init__(self, frame: Any) -> None:
        self._text = _categories(frame)
        found, notes = _read_frame(frame, self._text, {})
        self._names = found["names"]
        at = {name: j for j, name in enumerate(self._names)}
        self.columns_of_text = found["texts"]
        self._levels = [(column, values) for column, _, values in self.columns_of_text]
        self.texts = [[at[name] for name in made if name in at] for _, made, _ in self.columns_of_text]
        made = {name for _, names, _ in self.columns_of_text for name in names}
        self._columns = [column for column, _ in self._levels] + [name for name in self._names if name not in made]
        self.warnings = [note for note, loud in notes if loud]
        self.features = self._frame(found["x"], frame)

    def levels(self, support: Iterable[int]) -> dict[str, list[str]]:
        """All values of the columns of text that some of these features are made of, by column."""
        chosen = set(support)
        each = zip(self._levels, self.texts, strict=True)
        return {column: list(values) for (column, values), made in each if chosen.intersection(made)}

    def apply(self, frame: Any) -> tuple[Any, list[str]]:
        """The same features of another frame, and what its user should know."""
        there = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
        if missing := [column for column in self._columns if column not in there]:
            raise ValueError(
                f"X has no column {missing[0]!r}, which it had in fit ({len(missing)} of {len(self._columns)} are missing)"
            )
        found, notes = _read_frame(frame, self._text, {"features": self._names, "levels": self._levels})
        return self._frame(found["x"], frame), [note for note, loud in notes if loud]

    def _frame(self, values: Any, frame: Any) -> Any:
        index = getattr(frame, "index", None)
        return import_module("pandas").DataFrame(_matrix(values), index=index, columns=self._names)


def _read_frame(frame: Any, text: list[str], wanted: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, bool]]]:
    """What the reader finds in a frame, which has no column of classes."""
    pandas = _imported("pandas", "a frame with columns of text needs pandas", "pandas")
    if not hasattr(frame, "to_csv"):
        # polars and pyarrow call it in two ways.
        columns = frame.column_names if hasattr(frame, "column_names") else frame.columns
        values = {name: frame[name] for name in columns}
        frame = pandas.DataFrame({name: of.to_pylist() if hasattr(of, "to_pylist") else of.to_list() for name, of in values.items()})
    # Rows have numbers in a first column without a name, so that none is blank.
    reading = {"header": True, "delimiter": ",", "target": "\0", "text": text}
    with TemporaryDirectory() as folder:
        file = Path(folder, "X.csv")
        frame.reset_index(drop=True).to_csv(file)
        return _read(str(file), reading, {**wanted, "target_optional": True}, {str(file): "X"}, frame=True)


def _categories(frame: Any) -> list[str]:
    """Columns of pandas that hold categories, which may be numbers and no quantities."""
    kinds = zip(frame.columns, getattr(frame, "dtypes", ()), strict=False) if hasattr(frame, "iloc") else ()
    return [str(name) for name, kind in kinds if kind.name == "category"]


def has_texts(X: Any) -> bool:
    """Whether X is a frame with columns that are no numbers."""
    if hasattr(X, "schema") and hasattr(X, "column_names"):
        types = import_module("pyarrow.types")
        return not all(types.is_integer(kind) or types.is_floating(kind) for kind in X.schema.types)
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")) or sp.issparse(X):
        return False
    return not all(kind.is_numeric() if hasattr(kind, "is_numeric") else getattr(kind, "kind", "O") in "iuf" for kind in X.dtypes)
