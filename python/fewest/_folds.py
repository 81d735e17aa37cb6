"""The one rule on splits: how the library deals them, which are taken, which are none, and what is refused."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d

from fewest import _core
from fewest._engine import seed_of
from fewest._frames import in_order, missing_labels
from fewest._warn import warn

Split = tuple[np.ndarray, np.ndarray]


#: Folds where cv is None, as scikit-learn has it.
FOLDS = 5


def keep_groups(samples: Any, X: Any, groups: Any) -> None:
    """Give the samples, of X, their groups."""
    codes = coded_groups(X, groups, X.shape[0] if hasattr(X, "shape") else len(X))
    samples.groups = codes if samples.kept is None else codes[samples.kept]


def coded_groups(X: Any, groups: Any, n: int) -> np.ndarray:
    """The group of each of n samples, of X, as a number."""
    in_order(X, groups=groups)
    missing, groups = missing_labels(groups), column_or_1d(groups, warn=True)
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries, but X has {n} samples; give one for each")
    if missing.size:
        raise ValueError(f"groups has {missing.size} missing entries, the first at {missing[0]}; give each sample a group")
    names, places = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups has one group only, {names[0]!r}, which cannot be in several folds; leave groups out")
    if len(names) == n:
        warn("groups has another value for each sample, so that no samples stay together")
    return places.astype(np.uint32).ravel()


def said_groups(groups: Any, codes: np.ndarray | None) -> dict[str, Any]:
    """What the settings of a result say of groups: what they are called, and how many there are."""
    if codes is None:
        return {}
    name = getattr(groups, "name", None)
    return {"groups": {"column": "group" if name is None else str(name), "count": len(np.unique(codes))}}


def dealt(
    codes: np.ndarray,
    count: int,
    repeats: int,
    random_state: Any,
    tasks: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> list[Split]:
    """The folds that the command deals: stratified, each repetition with the next seed; samples whose
    groups, numbers, are the same are in one fold.
    """
    if not isinstance(repeats, Integral) or repeats < 1:
        raise ValueError(f"repeats is {repeats}, but must be a number, at least 1")
    if count < 2:
        raise ValueError(f"cv is {count}, but must be at least 2, or a splitter")
    names, n_classes = None if tasks is None else [str(task) for task in tasks], int(codes.max()) + 1
    tests = _core.folds(codes.astype(np.uint32), n_classes, count, int(repeats), seed_of(random_state), names, groups)
    return [(np.setdiff1d(np.arange(len(codes)), test), np.asarray(test)) for test in tests]


def splits_of(cv: Any, X: Any, y: np.ndarray, groups: Any, weights: np.ndarray | None = None) -> list[Split]:
    """The splits of a splitter, as positions of samples of positive weight. One that holds no such
    sample out is none.

    Every class has to be in every training part: a classifier of fewer classes is judged by luck. A
    number with groups: this many folds as the command deals, of whole groups; a splitter is given the
    groups.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if groups is not None and (cv is None or isinstance(cv, Integral)):
        cv = dealt(codes.ravel(), FOLDS if cv is None else int(cv), 1, 0, groups=coded_groups(X, groups, len(y)))
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
