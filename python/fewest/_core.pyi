"""The engine: arrays and settings in, dictionaries out. Internal; the estimators are what to use."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Matrix = NDArray[np.float64] | NDArray[np.float32] | tuple[int, NDArray[np.int64], NDArray[Any], NDArray[np.float64]]
_Told = Callable[[dict[str, Any]], object] | None

__all__ = ["__version__", "certify", "command", "rfe_paths", "select", "train"]
__version__: str

def select(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    asked: dict[str, Any],
    told: _Told,
) -> dict[str, Any]: ...
def rfe_paths(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    splits: Sequence[tuple[Sequence[int], Sequence[int]]],
    asked: dict[str, Any],
    told: _Told,
) -> list[dict[str, Any]]: ...
def train(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    kernel: dict[str, Any],
    svm: dict[str, Any],
    asked: dict[str, Any],
) -> dict[str, Any]: ...
def certify(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    subset: Sequence[int],
    svm: dict[str, Any],
    asked: dict[str, Any],
) -> dict[str, Any]: ...
def command(arguments: Sequence[str]) -> int: ...
