"""Column files: a matrix that stays on the disk."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewest import _core


class ColumnFile:
    """A matrix in a column file (``.csc``), which is mapped and not read, so that it may be larger
    than memory.

    Every selector takes one in place of ``X``, and examines its columns where they lie. Written by
    :func:`fewest.datasets.dump_columns`, or by ``fewest convert DATA FILE.csc``; every byte is
    checked when it is opened.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_memory : int, default=None
        Bytes of it that may stay in memory. None: three quarters of the machine's.

    Attributes
    ----------
    shape : tuple of int
        Samples and features.
    nnz : int
        Stored values.
    feature_names : ndarray of str or None
        Names of the features; None where they are numbered.
    target : ndarray of shape (n_samples,) or None
        The class of each sample, as numbers where all classes are numbers; None where the file has
        none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from fewest import ColumnFile, SVMRFE
    >>> from fewest.datasets import dump_columns, make_text
    >>> X, y = make_text(n_samples=60, n_features=500, n_informative=20)
    >>> with TemporaryDirectory() as folder:
    ...     dump_columns(folder + "/words.csc", X, y)
    ...     words = ColumnFile(folder + "/words.csc")
    ...     selector = SVMRFE(n_features_to_select=5, step=0.5).fit(words, words.target)
    ...     predicted = selector.predict(words)
    >>> words.shape, selector.n_features_
    ((60, 500), 5)
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, path: str | os.PathLike[str], *, max_memory: int | None = None) -> None:
        self.path, self.max_memory = os.fspath(path), max_memory
        self._file = _core.ColumnFile(self.path, max_memory)
        n, p, self.nnz = self._file.shape
        self.shape = (n, p)
        names = self._file.names
        self.feature_names = None if names is None else np.array(names, dtype=object)
        self.target = None
        if (found := self._file.target) is not None:
            _, classes, codes = found
            self.target = labels_of(classes)[codes]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"ColumnFile({self.path!r}, shape={self.shape})"

    def __reduce__(self) -> Any:
        return _opened, (self.path, self.max_memory)

    def __getitem__(self, key: Any) -> sp.csc_array:
        """Columns in memory: ``file[:, features]``."""
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if columns is None or not (isinstance(rows, slice) and rows == slice(None)):
            raise TypeError("a column file gives columns only, such as file[:, [0, 3]]; samples cannot be taken out of it")
        features = np.arange(self.shape[1])[columns]
        n, starts, indices, values = self._file.columns(np.atleast_1d(features).tolist())
        return sp.csc_array((values, indices, starts), shape=(n, len(starts) - 1))


def _opened(path: str, memory: int | None) -> ColumnFile:
    """What a pickled one becomes."""
    return ColumnFile(path, max_memory=memory)


def label_texts(labels: Any) -> list[str]:
    """Labels as fewest reads them from the cells of a file: numbers in their shortest form, so that 1.0
    and "1" are the class 1, integers with all their digits, True and False as pandas writes them, texts without outer blanks.
    """
    texts = [_label_text(label) for label in np.asarray(labels).tolist()]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        same = [label for label, text in zip(np.asarray(labels).tolist(), texts, strict=True) if text == twice]
        raise ValueError(f"the classes {same[0]!r} and {same[1]!r} are both {twice!r} in a file; give them other names")
    return texts


def _label_text(label: Any) -> str:
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    text = str(label).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    if not np.isfinite(number) or "_" in text or not text.isascii():
        return text
    if number == 0.0:
        return "0"
    # Numbers of double precision are not all integers from here on.
    if 2**53 <= abs(number) < 1e30 and text.lstrip("+-").isdigit():
        return str(int(text))
    if 1e-5 <= abs(number) < 1e30:
        return np.format_float_positional(number, trim="-")
    digits, exponent = np.format_float_scientific(number, trim="-").split("e")
    return f"{digits}e{int(exponent)}"


def labels_of(classes: list[str]) -> np.ndarray:
    """Classes as integers or numbers where all of them are, and are written so."""
    for kind in (int, float):
        try:
            numbers = np.array([kind(name) for name in classes])
        except ValueError:
            continue
        if label_texts(numbers) == classes:
            return numbers
    return np.array(classes, dtype=object)
