"""The engine: arrays and settings in, dictionaries out. Internal; the estimators are what to use."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_Codes = NDArray[np.uint32]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Json = dict[str, Any]
_Csc = tuple[int, _Ints, NDArray[Any], _Floats]
_Sums = tuple[int, int, int]

@final
class ColumnFile:
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def target(self) -> tuple[str, list[str], _Codes] | None: ...
    @property
    def sums(self) -> _Sums | None: ...
    def __new__(cls, path: str, memory: int | None = None, columns: tuple[int, int] | None = None) -> ColumnFile: ...
    def columns(self, features: Sequence[int]) -> _Csc: ...
    def __reduce__(self) -> tuple[type[ColumnFile], tuple[str, int | None, tuple[int, int] | None]]: ...

@final
class Knockoffs:
    def __new__(cls, x: _Matrix, features: Sequence[int], limits: _Json) -> Knockoffs: ...
    def draw(self, seed: int, stream: int, limits: _Json) -> tuple[_Floats, NDArray[np.bool_]]: ...
    @property
    def separations(self) -> _Floats: ...
    @property
    def shrinkage(self) -> float: ...

_Matrix = _Floats | NDArray[np.float32] | ColumnFile | _Csc
_Listener = Callable[[_Json], object] | None

# fmt: off
__all__ = [
    "ColumnFile", "Knockoffs", "Shard", "__version__", "broken_rules", "candidates", "certify", "certify_list", "check_rules",
    "choose_cost", "class_probabilities", "column_outline", "command", "compare", "folds", "gamma", "generate", "halves",
    "joined_sums", "knockoff_selection", "markers", "matching", "measures", "page", "panel_table", "path", "preparation",
    "range_scaling", "read_table", "rfe_paths", "select", "select_from", "set_f1", "stability_selection", "study",
    "subset_stability", "summaries", "summary", "t_test", "table", "train", "verify", "write_columns", "write_program",
]
# fmt: on
__version__: str

def select(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    method: _Json,
    limits: _Json,
    listener: _Listener,
    proof: _Json | None = None,
    held_out: tuple[_Matrix, _Codes, int | None] | None = None,
    tasks: _Codes | None = None,
) -> _Json: ...
def path(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    method: _Json,
    sizes: Sequence[int],
    limits: _Json,
    listener: _Listener,
    tasks: _Codes | None = None,
) -> list[_Json]: ...
def write_program(x: _Matrix, codes: _Codes, weights: _Floats, rules: _Json, method: _Json, path: str, limits: _Json) -> None: ...
def generate(kind: _Json, part: str, samples: int) -> _Json: ...
def measures(truth: _Codes, predicted: _Codes, decisions: _Floats, n_classes: int) -> dict[str, float | None]: ...
def set_f1(selected: Sequence[int], truth: Sequence[int]) -> float: ...
def summaries(measures: _Json, confusions: _Json, times: float, test_share: float) -> _Json: ...
def summary(measure: str, values: _Floats, test_share: float, judged: list[float]) -> _Json: ...
def subset_stability(subsets: Sequence[Sequence[int]], p: int) -> _Json | None: ...
def folds(
    codes: _Codes, n_classes: int, count: int, repeats: int, seed: int, tasks: Sequence[str] | None = None, groups: _Codes | None = None
) -> list[list[int]]: ...
def halves(codes: _Codes, n_classes: int, pairs: int, seed: int, groups: _Codes | None = None) -> list[list[list[int]]]: ...
def candidates(rules: _Json, p: int, constant: Sequence[int], sized: bool) -> tuple[int, int | None]: ...
def stability_selection(
    pairs: Sequence[Sequence[Sequence[int]]],
    p: int,
    candidates: tuple[int, int | None],
    threshold: float | None,
    max_false: float,
    assume: str,
) -> _Json: ...
def knockoff_selection(draws: Sequence[Sequence[float]], q: float) -> _Json: ...
def t_test(differences: _Floats, test_share: float) -> dict[str, float] | None: ...
def write_columns(path: str, x: _Matrix, codes: _Codes, classes: Sequence[str], target: str, names: Sequence[str] | None) -> None: ...
def rfe_paths(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    method: _Json,
    splits: Sequence[tuple[Sequence[int], Sequence[int]]],
    split_weights: Sequence[_Floats] | None,
    limits: _Json,
    listener: _Listener,
    raw: tuple[_Matrix, _Floats, _Json] | None = None,
) -> list[_Json]: ...
def preparation(x: _Matrix, weights: _Floats, how: _Json) -> dict[str, list[float] | None]: ...
def range_scaling(low: float, high: float) -> str: ...
def choose_cost(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    classes: Sequence[str],
    about: _Json,
    method: Callable[[float], tuple[_Json, _Json]],
    limits: _Json,
    groups: _Codes | None = None,
) -> _Json: ...
def class_probabilities(calibration: _Json, decisions: _Floats) -> _Floats: ...
def column_outline(path: str, pieces: int) -> tuple[list[int], list[str] | None, tuple[str, list[str], _Codes] | None, _Sums]: ...
def joined_sums(parts: Sequence[_Sums]) -> _Sums: ...
def read_table(path: str, reading: _Json, wanted: _Json, frame: bool) -> _Json: ...
def check_rules(rules: _Json, names: Sequence[str]) -> None: ...
def gamma(
    x: _Matrix, counts: _Floats, rule: str | float, most: int, kernel: _Json, categorical: Sequence[int], limits: _Json
) -> float: ...
def train(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    kernel: _Json | str,
    svm: _Json,
    limits: _Json,
    bounds: Sequence[_Json],
    categorical: Sequence[int],
) -> _Json: ...
def certify(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    subset: Sequence[int],
    svm: _Json,
    limits: _Json,
    proof: _Json | None = None,
    tasks: _Codes | None = None,
    listener: _Listener = None,
) -> _Json: ...
def certify_list(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    features: Sequence[int],
    method: _Json,
    limits: _Json,
    proof: _Json | None = None,
    tasks: _Codes | None = None,
    listener: _Listener = None,
) -> _Json: ...
def broken_rules(rules: _Json, names: Sequence[str], subset: Sequence[int]) -> list[str]: ...
def select_from(
    shape: tuple[int, int],
    stored: tuple[int, bool],
    source: Any,
    codes: _Codes,
    weights: _Floats,
    rules: _Json,
    method: _Json,
    limits: _Json,
    listener: _Listener,
) -> _Json: ...
def study(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    classes: Sequence[str],
    given: _Json,
    caller: _Json,
    limits: _Json,
    listener: _Listener,
    groups: _Codes | None = None,
) -> _Json: ...
def markers(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    classes: Sequence[str],
    given: _Json,
    caller: _Json,
    limits: _Json,
    listener: _Listener,
    groups: _Codes | None = None,
) -> tuple[_Json, bool]: ...
def compare(
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    classes: Sequence[str],
    lists: tuple[list[str], list[list[int]], list[list[str]]],
    given: _Json,
    caller: _Json,
    limits: _Json,
    listener: _Listener,
    groups: _Codes | None = None,
) -> tuple[_Json, bool]: ...
def table(result: _Json) -> str: ...
def panel_table(result: _Json) -> str: ...
def page(result: _Json) -> str: ...
def matching(names: list[str], text: str) -> list[int] | None: ...
def verify(
    path: str,
    x: _Matrix,
    codes: _Codes,
    weights: _Floats,
    memory: int,
    limits: _Json,
    about: _Json,
    request: _Json,
    tasks: _Codes | None = None,
) -> _Json: ...
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
        v: _Floats,
        most: int,
        always: Sequence[int],
        never: Sequence[int],
        positive: Sequence[int],
        negative: Sequence[int],
        threads: int,
    ) -> tuple[_Ints, _Floats]: ...
    def scores(self, v: _Floats, threads: int) -> _Floats: ...
    def gains(self, codes: _Codes, weights: _Floats, binning: str | dict[str, int], threads: int) -> _Floats: ...
    def gram(self, features: _Ints, threads: int) -> _Floats: ...
    def product(self, features: _Ints, v: _Floats, threads: int) -> _Floats: ...
    def columns(self, features: Sequence[int]) -> _Matrix: ...
    def __reduce__(self) -> tuple[type[Shard], tuple[int, Any]]: ...
