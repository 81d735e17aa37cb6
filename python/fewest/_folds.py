"""The one rule on splits: how the library deals them, which are taken, which are none, and what is refused."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from fewest import _core
from fewest._engine import seed_of

Split = tuple[np.ndarray, np.ndarray]


def dealt(codes: np.ndarray, count: int, repeats: int, random_state: Any, tasks: np.ndarray | None = None) -> list[Split]:
    """The folds that the command deals: stratified, each repetition with the next seed."""
    if not isinstance(repeats, Integral) or repeats < 1:
        raise ValueError(f"repeats is {repeats}, but must be a number, at least 1")
    if count < 2:
        raise ValueError(f"cv is {count}, but must be at least 2, or a splitter")
    names, n_classes = None if tasks is None else [str(task) for task in tasks], int(codes.max()) + 1
    tests = _core.folds(codes.astype(np.uint32), n_classes, count, int(repeats), seed_of(random_state), names)
    return [(np.setdiff1d(np.arange(len(codes)), test), np.asarray(test)) for test in tests]


def splits_of(cv: Any, X: Any, y: np.ndarray, groups: Any, weights: np.ndarray | None = None) -> list[Split]:
    """The splits of a splitter, as positions of samples of positive weight. One that holds no such
    sample out is none.

    Every class has to be in every training part: a classifier of fewer classes is judged by luck.
    """
    classes, codes = np.unique(y, return_inverse=True)
    n, kept = len(y), None if weights is None else np.asarray(weights) > 0
    present = np.unique(codes if kept is None else codes[kept])
    found, number = [], -1
    for number, split in enumerate(check_cv(cv, y, classifier=True).split(X, y, groups)):
        train, test = (_positions(part, n, number) for part in split)
        if kept is not None:
            train, test = train[kept[train]], test[kept[test]]
        if not test.size:
            continue
        if not train.size:
            raise ValueError(f"split {number} trains on no sample; give each split samples to train on")
        for code in np.setdiff1d(present, codes[train]):
            raise ValueError(
                f"the training part of split {number} has no sample of class {classes[code]!s} with positive weight; "
                "stratify the splits, or use fewer"
            )
        found.append((train, test))
    if number < 0:
        raise ValueError("cv has no split and holds no sample out; give folds, such as StratifiedKFold makes, or other splits")
    if not found:
        raise ValueError("cv holds no sample out that has a weight; give folds, such as StratifiedKFold makes, or other splits")
    return found


def _positions(part: Any, n: int, number: int) -> np.ndarray:
    """A part of a split as positions."""
    at = np.asarray(part)
    if at.dtype == bool:
        if at.shape != (n,):
            raise ValueError(f"split {number} has a mask of length {at.size}, but there are {n} samples; give one value for each")
        return np.flatnonzero(at)
    if at.size and at.dtype.kind not in "iu":
        raise ValueError(
            f"split {number} names the samples {at.ravel()[:3].tolist()}, ..., but must have positions (integers) or a mask"
        )
    at = at.astype(np.intp).ravel()
    for wrong in at[(at < 0) | (at >= n)]:
        raise ValueError(f"split {number} names sample {wrong}, but there are {n}, counted from 0")
    return at
