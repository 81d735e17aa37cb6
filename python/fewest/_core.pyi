"""The engine: arrays and settings in, dictionaries out. Internal; the estimators are what to use."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_Csc = tuple[int, NDArray[np.int64], NDArray[Any], NDArray[np.float64]]
_Sums = tuple[int, int, int]

@final
class ColumnFile:
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def target(self) -> tuple[str, list[str], NDArray[np.uint32]] | None: ...
    @property
    def sums(self) -> _Sums | None: ...
    def __new__(cls, path: str, memory: int | None = None, columns: tuple[int, int] | None = None) -> ColumnFile: ...
    def columns(self, features: Sequence[int]) -> _Csc: ...
    def __reduce__(self) -> tuple[type[ColumnFile], tuple[str, int | None, tuple[int, int] | None]]: ...

@final
class Knockoffs:
    def __new__(cls, x: _Matrix, features: Sequence[int], limits: dict[str, Any]) -> Knockoffs: ...
    def draw(self, seed: int, stream: int, limits: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
    @property
    def separations(self) -> NDArray[np.float64]: ...
    @property
    def shrinkage(self) -> float: ...

_Matrix = NDArray[np.float64] | NDArray[np.float32] | ColumnFile | tuple[int, NDArray[np.int64], NDArray[Any], NDArray[np.float64]]
_Listener = Callable[[dict[str, Any]], object] | None

__all__ = [
    "ColumnFile",
    "Knockoffs",
    "Shard",
    "__version__",
    "broken_rules",
    "candidates",
    "certify",
    "certify_list",
    "check_rules",
    "choose_cost",
    "class_probabilities",
    "column_outline",
    "command",
    "folds",
    "gamma",
    "generate",
    "halves",
    "joined_sums",
    "knockoff_selection",
    "markers",
    "matching",
    "measures",
    "methods_text",
    "page",
    "path",
    "preparation",
    "read_table",
    "rfe_paths",
    "select",
    "select_from",
    "set_f1",
    "stability_selection",
    "study",
    "study_verdict",
    "subset_stability",
    "summary",
    "t_test",
    "table",
    "train",
    "verify",
    "write_columns",
    "write_program",
]
__version__: str

def select(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    limits: dict[str, Any],
    listener: _Listener,
    proof: dict[str, Any] | None = None,
    held_out: tuple[_Matrix, NDArray[np.uint32], int | None] | None = None,
    tasks: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def path(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    sizes: Sequence[int],
    limits: dict[str, Any],
    listener: _Listener,
    tasks: NDArray[np.uint32] | None = None,
) -> list[dict[str, Any]]: ...
def write_program(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    path: str,
    limits: dict[str, Any],
) -> None: ...
def generate(kind: dict[str, Any], part: str, samples: int) -> dict[str, Any]: ...
def measures(
    truth: NDArray[np.uint32], predicted: NDArray[np.uint32], decisions: NDArray[np.float64], n_classes: int
) -> dict[str, float | None]: ...
def set_f1(selected: Sequence[int], truth: Sequence[int]) -> float: ...
def summary(measure: str, values: NDArray[np.float64], test_share: float, judged: list[float]) -> dict[str, Any]: ...
def subset_stability(subsets: Sequence[Sequence[int]], p: int) -> dict[str, Any] | None: ...
def folds(
    codes: NDArray[np.uint32],
    n_classes: int,
    count: int,
    repeats: int,
    seed: int,
    tasks: Sequence[str] | None = None,
    groups: NDArray[np.uint32] | None = None,
) -> list[list[int]]: ...
def halves(
    codes: NDArray[np.uint32], n_classes: int, pairs: int, seed: int, groups: NDArray[np.uint32] | None = None
) -> list[list[list[int]]]: ...
def candidates(rules: dict[str, Any], p: int, constant: Sequence[int], sized: bool) -> tuple[int, int | None]: ...
def stability_selection(
    pairs: Sequence[Sequence[Sequence[int]]],
    p: int,
    candidates: tuple[int, int | None],
    threshold: float | None,
    max_false: float,
    assume: str,
) -> dict[str, Any]: ...
def knockoff_selection(draws: Sequence[Sequence[float]], q: float) -> dict[str, Any]: ...
def t_test(differences: NDArray[np.float64], test_share: float) -> dict[str, float] | None: ...
def write_columns(
    path: str,
    x: _Matrix,
    codes: NDArray[np.uint32],
    classes: Sequence[str],
    target: str,
    names: Sequence[str] | None,
) -> None: ...
def rfe_paths(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    splits: Sequence[tuple[Sequence[int], Sequence[int]]],
    split_weights: Sequence[NDArray[np.float64]] | None,
    limits: dict[str, Any],
    listener: _Listener,
    raw: tuple[_Matrix, NDArray[np.float64], dict[str, Any]] | None = None,
) -> list[dict[str, Any]]: ...
def preparation(x: _Matrix, weights: NDArray[np.float64], how: dict[str, Any]) -> dict[str, list[float] | None]: ...
def choose_cost(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    classes: Sequence[str],
    about: dict[str, Any],
    method: Callable[[float], tuple[dict[str, Any], dict[str, Any]]],
    limits: dict[str, Any],
    groups: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def class_probabilities(calibration: dict[str, Any], decisions: NDArray[np.float64]) -> NDArray[np.float64]: ...
def column_outline(
    path: str, pieces: int
) -> tuple[list[int], list[str] | None, tuple[str, list[str], NDArray[np.uint32]] | None, _Sums]: ...
def joined_sums(parts: Sequence[_Sums]) -> _Sums: ...
def read_table(path: str, reading: dict[str, Any], wanted: dict[str, Any], frame: bool) -> dict[str, Any]: ...
def check_rules(rules: dict[str, Any], names: Sequence[str]) -> None: ...
def gamma(
    x: _Matrix,
    counts: NDArray[np.float64],
    rule: str | float,
    most: int,
    kernel: dict[str, Any],
    categorical: Sequence[int],
    limits: dict[str, Any],
) -> float: ...
def train(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    kernel: dict[str, Any] | str,
    svm: dict[str, Any],
    limits: dict[str, Any],
    bounds: Sequence[dict[str, Any]],
    categorical: Sequence[int],
) -> dict[str, Any]: ...
def certify(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    subset: Sequence[int],
    svm: dict[str, Any],
    limits: dict[str, Any],
    proof: dict[str, Any] | None = None,
    tasks: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def certify_list(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    features: Sequence[int],
    method: dict[str, Any],
    limits: dict[str, Any],
    proof: dict[str, Any] | None = None,
    tasks: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def broken_rules(rules: dict[str, Any], names: Sequence[str], subset: Sequence[int]) -> list[str]: ...
def select_from(
    shape: tuple[int, int],
    stored: tuple[int, bool],
    source: Any,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    rules: dict[str, Any],
    method: dict[str, Any],
    limits: dict[str, Any],
    listener: _Listener,
) -> dict[str, Any]: ...
def study(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    classes: Sequence[str],
    given: dict[str, Any],
    limits: dict[str, Any],
    listener: _Listener,
    groups: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def markers(
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    classes: Sequence[str],
    names: Sequence[str],
    given: dict[str, Any],
    limits: dict[str, Any],
    listener: _Listener,
    groups: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def table(result: dict[str, Any]) -> str: ...
def page(result: dict[str, Any]) -> str: ...
def matching(names: list[str], text: str) -> list[int] | None: ...
def methods_text(result: dict[str, Any]) -> list[tuple[str, str]]: ...
def study_verdict(result: dict[str, Any]) -> str | None: ...
def verify(
    path: str,
    x: _Matrix,
    codes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    memory: int,
    limits: dict[str, Any],
    about: dict[str, Any],
    request: dict[str, Any],
    tasks: NDArray[np.uint32] | None = None,
) -> dict[str, Any]: ...
def command(arguments: Sequence[str]) -> int: ...

@final
class Shard:
    @property
    def shape(self) -> tuple[int, int, int, int, bool]: ...
    @property
    def sums(self) -> _Sums | None: ...
    def __new__(cls, first: int, matrix: _Matrix) -> Shard: ...
    def largest(
        self,
        v: NDArray[np.float64],
        most: int,
        always: Sequence[int],
        never: Sequence[int],
        positive: Sequence[int],
        negative: Sequence[int],
        threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def scores(self, v: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def gains(
        self, codes: NDArray[np.uint32], weights: NDArray[np.float64], binning: str | dict[str, int], threads: int
    ) -> NDArray[np.float64]: ...
    def gram(self, features: NDArray[np.int64], threads: int) -> NDArray[np.float64]: ...
    def product(self, features: NDArray[np.int64], v: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def columns(self, features: Sequence[int]) -> _Matrix: ...
    def __reduce__(self) -> tuple[type[Shard], tuple[int, Any]]: ...
