"""Methods on more data than one machine holds: columns spread over the workers of a Dask cluster.

:class:`~fewest.FeatureGeneratingMachine`, :class:`~fewest.L1SVMSelector` (squared hinge),
:class:`~fewest.SVMRFE` and :class:`~fewest.InformationGain` take a Dask array, a list of files or
:class:`Shards` where they take an array elsewhere, and find what they would find with all of it in
memory. Each worker keeps some of the features, with the values of all samples. The first two go in
rounds: the driver sends alpha (8 bytes for each sample) to each worker; each shard answers with its
best features and their scores (16 bytes each) and, once for each feature, with the column of those
that are chosen. The driver learns on these columns. The elimination asks for the products of the
samples over the features that left, which the workers add, and for the weight of each feature; the
driver trains on the products, and goes on with the columns once few are left. Of samples too many
for n x n numbers it trains by products with vectors of n numbers. Information gain is
one round: classes and weights there, a gain of each feature back.

Shards are futures, not actors, so Dask knows how they are made: when a worker dies, its shards are
made again from their source elsewhere, and the round goes on. So the source (files, or what the
Dask array is made from) must be within reach of every worker.
"""

from __future__ import annotations

import copy
import copyreg
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask import delayed
from distributed import Client, get_client, get_worker
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from fewest import _core
from fewest._columns import labels_of
from fewest._engine import DTYPES, Samples, check_class_weight, check_classes, class_weights, matrix
from fewest._estimator import tags_of
from fewest._frames import in_order
from fewest._memory import method_with_memory

__all__ = ["Shards"]

SVMLIGHT = {".svm", ".libsvm", ".svmlight"}
PACKED = {".gz", ".bz2"}
#: A quarter of this many bytes of a column file is mapped at a time by each thread that reads a
#: shard of it: pages that are mapped count as memory of the worker.
MAPPED = 64 << 20
#: Shards that are made for each worker where they take no memory, so that what a dead worker had
#: is shared out, and a new one gets some.
EACH = 4


# On the workers.


def _aligned(answer: Any) -> Any:
    """Arrays as the engine takes them: those out of a message may begin anywhere."""
    if isinstance(answer, tuple):
        return tuple(_aligned(part) for part in answer)
    return np.require(answer, requirements="A") if isinstance(answer, np.ndarray) else answer


def _made(first: int, columns: Any) -> _core.Shard:
    return _core.Shard(first, _aligned(columns))


def _reduced(shard: _core.Shard) -> tuple[Callable[..., _core.Shard], tuple[Any, ...]]:
    return _made, shard.__reduce__()[1]


# For a shard that Dask moves or spills.
copyreg.pickle(_core.Shard, _reduced)


def _cut(X: Any, ends: list[int]) -> list[Any]:
    """The columns of X between the ends."""
    # Copies: views would keep all of X in memory.
    if sp.issparse(X):
        X = X.tocsc()
        return [X[:, a:b].copy() for a, b in pairwise(ends)]
    return [X[:, a:b].copy(order="K") for a, b in pairwise(ends)]


def _shard(first: int, parts: list[Any]) -> _core.Shard:
    """The shard of features from ``first`` on, whose samples come in parts."""
    if sp.issparse(parts[0]):
        X = sp.vstack(parts, format="csc") if len(parts) > 1 else parts[0].tocsc()
    else:
        X = np.concatenate(parts) if len(parts) > 1 else np.asarray(parts[0])
    return _made(first, matrix(X if X.dtype in DTYPES else X.astype(np.float64)))


def _read(path: str, target: str, n_features: int | None) -> tuple[Any, np.ndarray | None]:
    """Matrix and labels of a file."""
    kind = _kind(path)
    if kind == ".npz":
        with np.load(path) as file:
            y = np.asarray(file[target]) if target in file else None
        return sp.load_npz(path), y
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, n_features=n_features, zero_based=False)


def _parquet_outline(path: str, target: str) -> tuple[int, list[str], np.ndarray | None]:
    """Samples, names of the features and labels of a parquet file."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        names = file.schema_arrow.names
        for name, kind in zip(names, file.schema_arrow.types, strict=True):
            if name != target and not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
                raise ValueError(
                    f"column {name!r} of {path} holds {kind}, not numbers; leave it out, or, where it holds vectors of Spark, "
                    'write these by format("libsvm")'
                )
        y = file.read([target])[target].to_numpy() if target in names else None
        return file.metadata.num_rows, [name for name in names if name != target], y


def _parquet_shard(first: int, files: list[str], n_samples: int, names: list[str]) -> _core.Shard:
    """The shard of columns of parquet files, of which no more than a row group of these columns is
    in memory beside it.
    """
    from pyarrow.parquet import ParquetFile

    X, begin = np.empty((n_samples, len(names)), order="F"), 0
    for path in files:
        with ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=names)
                end = begin + table.num_rows
                for j, name in enumerate(names):
                    X[begin:end, j] = table[name].to_numpy()
                begin = end
    return _made(first, X)


def _mapped_shard(first: int, path: str, a: int, b: int) -> _core.Shard:
    """The shard of columns a to b of a column file, which stay there."""
    return _core.Shard(first, _core.ColumnFile(path, MAPPED, (a, b)))


def _column_outline(path: str, pieces: int) -> tuple[list[int], list[str] | None, np.ndarray | None, Any]:
    """Where a column file is cut, names of its features, labels, and checksums."""
    cuts, names, target, sums = _core.column_outline(path, pieces)
    return cuts, names, None if target is None else labels_of(target[1])[target[2]], sums


def _same(v: Any) -> Any:
    return v


def _ask(shard: _core.Shard, method: str, v: Any, *own: Any) -> Any:
    """What a shard answers to ``v``, which each worker is sent, and to what it is sent alone."""
    return getattr(shard, method)(*_aligned(v if isinstance(v, tuple) else (v,)), *own, get_worker().state.nthreads)


def _ask_of(shard: _core.Shard, method: str, bits: np.ndarray, *v: np.ndarray) -> np.ndarray:
    """What a shard answers of its features whose bits are set."""
    first, _, p, *_ = shard.shape
    features = first + np.flatnonzero(np.unpackbits(_aligned(bits), count=p))
    answer: np.ndarray = getattr(shard, method)(features, *_aligned(v), get_worker().state.nthreads)
    return answer


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def _columns(shard: _core.Shard, features: list[int]) -> Any:
    return shard.columns(features)


# On the driver.


def _kind(path: str) -> str:
    """Ending of a file, without that of its compression."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    kind = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in PACKED else "".join(suffixes[-1:])
    if kind not in SVMLIGHT | {".npz", ".parquet", ".csc"}:
        raise ValueError(
            f"a list of texts is taken for files, but the ending {kind!r} of {path[:80]!r} is none of .svm, .libsvm, .svmlight "
            "(also .gz, .bz2), .npz, .parquet, .csc; turn texts into numbers first, by TfidfVectorizer for example"
        )
    return kind


def _bytes(answer: Any) -> int:
    """Bytes of the arrays and numbers in an answer."""
    if isinstance(answer, (tuple, list)):
        return sum(_bytes(part) for part in answer)
    return answer.nbytes if isinstance(answer, np.ndarray) else 8


class Shards:
    """The columns of a matrix, spread over the workers of a Dask cluster and kept there as long as
    this object is.

    Making one reads the data once; selectors can then be fitted on it several times. Use :meth:`from_array` or :meth:`from_files`.

    Attributes
    ----------
    shape : tuple of int
        n_samples, n_features.
    y : ndarray of shape (n_samples,) or None
        Labels, where the files have them.
    feature_names : list of str or None
        Names of the features, where the files have them (parquet).
    stored : int
        Values stored in all shards.
    futures : list of distributed.Future
        The shards, in order of their features.
    """

    def __init__(self, shards: list[Any], client: Client, labels: Sequence[Any] = ()):
        """``shards``: Delayed, in order of their features; ``labels``: Delayed labels of each part of
        the samples.
        """
        self.client = client
        self.feature_names: list[str] | None = None
        # In one go, so that a file is read once.
        futures = client.compute([*shards, *labels])
        self.futures, labels = futures[: len(shards)], client.gather(futures[len(shards) :])
        self.y = _joined(labels)
        shapes = client.gather(client.map(lambda shard: shard.shape, self.futures, pure=False))
        firsts, samples, sizes, stored, sparse = zip(*shapes, strict=True)
        if len(set(samples)) > 1:
            raise ValueError(
                f"the parts of the features have {sorted(set(samples))} samples; all need the same samples in the same order"
            )
        if len(set(sparse)) > 1:
            raise ValueError("some parts of the features are sparse and some dense; make them alike")
        self.shape, self.stored, self._sparse = (samples[0], sum(sizes)), sum(stored), sparse[0]
        self._bounds = np.array([*firsts, self.shape[1]])

    def __getitem__(self, at: tuple[slice, Any]) -> Any:
        """``shards[:, features]``: the columns of some features, as indices or a mask, as a matrix
        in this process.
        """
        rows, features = at
        if rows != slice(None):
            raise IndexError("shards hold all samples of a feature; take [:, features], then samples of that")
        features = np.asarray(features)
        features = np.flatnonzero(features) if features.dtype == bool else features.astype(np.int64)
        ascending, back = np.unique(features, return_inverse=True)
        parts = Source(self).columns(ascending.tolist())
        if not parts:
            return np.empty((self.shape[0], 0))
        if isinstance(parts[0], np.ndarray):
            return np.hstack(parts)[:, back]
        n = self.shape[0]
        blocks = [sp.csc_matrix((data, rows, start), shape=(n, len(start) - 1)) for _, start, rows, data in parts]
        return sp.hstack(blocks, format="csc")[:, back]

    @classmethod
    def of(cls, X: Any) -> Shards:
        """X as shards: a Dask array or data frame, a list of files, or shards as they are."""
        if isinstance(X, Shards):
            return X
        return cls.from_array(X) if hasattr(X, "to_delayed") else cls.from_files(X)

    @classmethod
    def from_array(cls, X: Any, *, client: Client | None = None) -> Shards:
        """From a Dask array.

        Parameters
        ----------
        X : dask.array.Array of shape (n_samples, n_features)
            Its blocks may be dense or scipy's sparse ones, and are best made of all samples of some
            features (``X.rechunk((-1, "auto"))`` for dense ones): other blocks are joined and cut
            on the way, which sends the data between workers once. A Dask data frame, whose blocks
            are samples, will do.
        client : distributed.Client, default=None
            None: the current one.

        Returns
        -------
        shards : Shards
            One for each column of blocks, or more so that each worker has one.
        """
        names = None
        if hasattr(X, "to_dask_array"):
            names = [str(name) for name in X.columns]
            X = X.to_dask_array(lengths=True)
        if X.ndim != 2 or np.isnan(X.shape).any():
            raise ValueError(f"X has shape {X.shape}, but needs two known numbers; X.compute_chunk_sizes() finds unknown ones")
        client = _client(client)
        shards = cls(_of_blocks(X.to_delayed().tolist(), X.chunks[1], client), client)
        shards.feature_names = names
        return shards

    @classmethod
    def from_files(
        cls,
        files: Sequence[Any],
        *,
        axis: int = 0,
        n_features: int | None = None,
        target: str = "y",
        client: Client | None = None,
    ) -> Shards:
        """From files that all workers can read.

        Parameters
        ----------
        files : sequence of paths
            svmlight (``.svm``, ``.libsvm``, ``.svmlight``, also ``.gz``, ``.bz2``; indices from 1),
            ``.npz`` as
            :func:`scipy.sparse.save_npz` and ``fewest generate`` write it, ``.parquet`` (numbers, one
            column for each feature), or column files (``.csc``, :class:`fewest.ColumnFile`), which
            stay on the disk: a shard of one takes 8 bytes of memory for each feature.
        axis : {0, 1}, default=0
            0: the files hold different samples of the same features; each is read once, cut by
            features, and the pieces are sent to where their shard is. Of parquet files each shard
            reads its own columns, a row group at a time. 1: the files hold different features of
            the same samples, and become a shard each as they are. For one column file both are the
            same: it is cut by features.
        n_features : int, default=None
            Number of features of svmlight files, which need not name the last ones; None: the
            largest index of all files.
        target : str, default="y"
            Column (parquet) or array (npz) of the labels. Files need not have it.
        client : distributed.Client, default=None
            None: the current one.

        Returns
        -------
        shards : Shards
            With the labels of the files as ``y``.
        """
        # Before the client: what is no list of files needs none.
        kinds = {_kind(str(file)) for file in files}
        if kinds & {".parquet", ".csc"} and len(kinds) > 1:
            raise ValueError(f"the files are of different kinds, {sorted(kinds)}; parquet and column files do not go with others")
        client, files = _client(client), [str(Path(file).absolute()) for file in files]
        if kinds == {".csc"}:
            return cls._from_column_files(files, axis, client)
        if kinds == {".parquet"}:
            return cls._from_parquet(files, axis, target, client)
        reads = [delayed(_read, nout=2, pure=False)(file, target, n_features) for file in files]
        # Kept until they are shards, so that finding the number of features does not read them
        # twice.
        reads = client.persist(reads)
        blocks, labels = [read[0] for read in reads], [read[1] for read in reads]
        widths = client.gather(client.compute([delayed(lambda X: X.shape[1], pure=False)(block) for block in blocks]))
        if axis == 1:
            # Every file may have the labels; those of the first count.
            return cls(_of_blocks([blocks], widths, client), client, labels[:1])
        if kinds <= SVMLIGHT:
            widest = n_features or max(widths)
            blocks = [delayed(_widened, pure=False)(block, widest) for block in blocks]
        elif len(set(widths)) > 1:
            raise ValueError(f"the files have {sorted(set(widths))} features; all need the same")
        else:
            widest = widths[0]
        return cls(_of_blocks([[block] for block in blocks], [widest], client), client, labels)

    @classmethod
    def _from_parquet(cls, files: list[str], axis: int, target: str, client: Client) -> Shards:
        outlines = client.gather(client.map(_parquet_outline, files, [target] * len(files), pure=False))
        samples, names, labels = zip(*outlines, strict=True)
        if axis == 0:
            for file, found in zip(files, names, strict=True):
                if found != names[0]:
                    raise ValueError(f"{file} has other columns than {files[0]}; all need the same in the same order")
            groups, names, labels = [(files, sum(samples))], names[:1], labels
        else:
            groups, labels = [([file], n) for file, n in zip(files, samples, strict=True)], labels[:1]
        shards, first = [], 0
        for (group, n), listed in zip(groups, names, strict=True):
            ends = _ends(len(listed), len(groups), client)
            shards += [delayed(_parquet_shard, pure=False)(first + a, group, n, listed[a:b]) for a, b in pairwise(ends)]
            first += len(listed)
        made = cls(shards, client)
        made.y = _joined(labels)
        made.feature_names = [name for listed in names for name in listed]
        return made

    @classmethod
    def _from_column_files(cls, files: list[str], axis: int, client: Client) -> Shards:
        if axis == 0 and len(files) > 1:
            raise ValueError(
                f"{len(files)} column files: give axis=1 if they hold different features of the same samples; "
                "different samples need one file, made of all data by `fewest convert`"
            )
        pieces = max(-(-EACH * len(client.ncores()) // len(files)), 1)
        outlines = client.gather(client.map(_column_outline, files, [pieces] * len(files), pure=False))
        shards, first, counts = [], 0, []
        for file, (cuts, *_) in zip(files, outlines, strict=True):
            shards += [delayed(_mapped_shard, pure=False)(first + a, file, a, b) for a, b in pairwise(cuts)]
            counts.append(len(cuts) - 1)
            first += cuts[-1]
        _, names, labels, sums = zip(*outlines, strict=True)
        made = cls(shards, client)
        made.y = labels[0]
        found = client.gather(client.map(lambda shard: shard.sums, made.futures, pure=False))
        ends = np.cumsum([0, *counts]).tolist()
        for file, expected, (a, b) in zip(files, sums, pairwise(ends), strict=True):
            if _core.joined_sums(found[a:b]) != expected:
                raise ValueError(
                    f"{file} is damaged, or workers see different files of that name: "
                    "the checksum of its row indices or values is wrong"
                )
        if all(listed is not None for listed in names):
            made.feature_names = [name for listed in names for name in listed]
        return made


def _joined(labels: Sequence[Any]) -> np.ndarray | None:
    """Labels of all samples from those of parts, where all have them."""
    return np.concatenate(labels) if labels and all(part is not None for part in labels) else None


def _ends(width: int, groups: int, client: Client) -> list[int]:
    """Where the features of one of several groups are cut, so that each worker has a shard."""
    pieces = -(-len(client.ncores()) // groups)
    return np.linspace(0, width, max(min(pieces, width), 1) + 1).astype(int).tolist()


def _of_blocks(grid: list[list[Any]], widths: Sequence[int], client: Client) -> list[Any]:
    """Delayed shards of Delayed blocks, grid[i][j] the i-th part of the samples and the j-th part of
    the features, which has ``widths[j]`` features.
    """
    shards, first = [], 0
    for j, width in enumerate(widths):
        ends = _ends(width, len(widths), client)
        blocks = [row[j] for row in grid]
        if len(ends) == 2:
            parts = [[block] for block in blocks]
        else:
            parts = [delayed(_cut, nout=len(ends) - 1, pure=False)(block, ends) for block in blocks]
        for k, a in enumerate(ends[:-1]):
            shards.append(delayed(_shard, pure=False)(first + a, [part[k] for part in parts]))
        first += width
    return shards


def _widened(X: Any, n_features: int) -> Any:
    """X with more columns, of zeros."""
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))


def _client(client: Client | None) -> Client:
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError("there is no Dask client; start one first: client = distributed.Client(...)") from None


class Source:
    """What the engine asks in a round, put to all shards at once; counts what is sent."""

    def __init__(self, shards: Shards):
        self.shards, self.client, self.bounds = shards, shards.client, shards._bounds
        self.rounds: list[dict[str, float]] = []

    def largest(
        self, v: np.ndarray, most: int, always: list[int], never: list[int], positive: list[int], negative: list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """At least the ``most`` features of the largest (x_j . v)^2, those of ``always``, none of
        ``never``; and x_j . v, as 0 where it is below 0 in ``positive`` or above 0 in ``negative``.
        """
        lists = [self._own(features) for features in (always, never, positive, negative)]
        wanted = [(most, *own) for own in zip(*lists, strict=True)]
        features, scores = zip(*self._round("largest", v, wanted), strict=True)
        return np.concatenate(features), np.concatenate(scores)

    def scores(self, v: np.ndarray) -> np.ndarray:
        """x_j . v of all features."""
        return np.concatenate(self._round("scores", v, [()] * len(self.shards.futures)))

    def gains(self, codes: np.ndarray, weights: np.ndarray, binning: Any) -> np.ndarray:
        """Information gain of all features, in bits."""
        return np.concatenate(self._round("gains", (codes, weights), [(binning,)] * len(self.shards.futures)))

    def gram(self, features: np.ndarray) -> np.ndarray:
        """x_i . x_k over features, which ascend: the lower triangle of the n x n matrix, row after
        row.
        """
        return self._sum("gram", features)

    def product(self, features: np.ndarray, v: np.ndarray) -> np.ndarray:
        """sum_j x_j (x_j . v) over features, which ascend."""
        return self._sum("product", features, v)

    def _sum(self, method: str, features: np.ndarray, *v: np.ndarray) -> np.ndarray:
        """The sum of what shards answer that have some of the features: a bit for each feature is
        sent to its shard, and ``v`` to each worker.
        """
        start = time.perf_counter()
        self._begin()
        asked = np.zeros(self.shards.shape[1], dtype=bool)
        asked[features] = True
        bits = [np.packbits(asked[a:b]) for a, b in pairwise(self.bounds)]
        shared = [self._sent(x) for x in v]
        shards = zip(self.shards.futures, bits, strict=True)
        parts = [self.client.submit(_ask_of, shard, method, own, *shared, pure=False) for shard, own in shards if own.any()]
        # In pairs, on the workers; which ones are added does not depend on where they are.
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [self.client.submit(_sum, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs]
        answer: np.ndarray = parts[0].result()
        self._count(_bytes(bits) + _bytes(v) * len(self.client.ncores()), _bytes(answer), start)
        return _aligned(answer)

    def columns(self, features: list[int]) -> list[Any]:
        """The columns of features, which ascend: side by side those of the answer."""
        start = time.perf_counter()
        if not self.rounds:
            self._begin()
        asked = [(shard, own) for shard, own in zip(self.shards.futures, self._own(features), strict=True) if own]
        futures = [self.client.submit(_columns, shard, own, pure=False) for shard, own in asked]
        answers = self.client.gather(futures)
        self._count(8 * len(features), _bytes(answers), start)
        return [_aligned(answer) for answer in answers]

    def _own(self, features: list[int]) -> list[list[int]]:
        """For each shard its features of an ascending list."""
        at = np.searchsorted(features, self.bounds).tolist()
        return [features[a:b] for a, b in pairwise(at)]

    def _round(self, method: str, v: Any, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """The answers of all shards to what is sent to each worker, ``v``, and to each shard."""
        start = time.perf_counter()
        self._begin()
        alpha = self._sent(v)
        shards = zip(self.shards.futures, arguments, strict=True)
        answers = self.client.gather([self.client.submit(_ask, shard, method, alpha, *own, pure=False) for shard, own in shards])
        sent = _bytes(v) * len(self.client.ncores()) + sum(_bytes(own) for own in arguments)
        self._count(sent, _bytes(answers), start)
        return answers

    def _sent(self, v: Any) -> Any:
        """v, for the workers."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            # A task, and not scattered: where the worker that has it dies, Dask still knows it.
            return self.client.submit(_same, v, pure=False)

    def _begin(self) -> None:
        self.rounds.append({"sent": 0, "received": 0, "seconds": 0.0})

    def _count(self, sent: int, received: int, start: float) -> None:
        now = self.rounds[-1]
        now["sent"] += sent
        now["received"] += received
        now["seconds"] += time.perf_counter() - start


class ShardSamples:
    """Samples whose features are spread over workers; stands where :class:`fewest._engine.Samples`
    stands on one machine.
    """

    kept = None
    tasks = None

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any):
        """Check labels and weights; set ``classes_``, ``n_features_in_``, ``feature_names_in_``."""
        self.X = Shards.of(X)
        y = self.X.y if y is None else y
        if y is None:
            raise ValueError("y is None, and the files have no labels; give y, or name its column as `target` of Shards.from_files")
        in_order(None, y=y, sample_weight=sample_weight)
        y = column_or_1d(y.compute() if hasattr(y, "compute") else y, warn=True)
        check_classification_targets(y)
        n, p = self.X.shape
        if len(y) != n:
            raise ValueError(f"X has {n} samples, but y has {len(y)}")
        sample_weight = sample_weight.compute() if hasattr(sample_weight, "compute") else sample_weight
        sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        check_class_weight(estimator.class_weight, y)
        self.classes = np.unique(y[sample_weight > 0])
        check_classes(estimator, self.classes, y, tags_of(estimator).shards == "binary")
        # A sample of no weight may be of any class.
        self.codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1).astype(np.uint32)
        kept = sample_weight > 0
        of_class = class_weights(estimator.class_weight, self.classes, self.codes[kept], sample_weight[kept])
        self.sample_weight, self.weights = sample_weight, sample_weight * of_class[self.codes]
        estimator.classes_, estimator.n_features_in_ = self.classes, p
        if self.X.feature_names is not None:
            estimator.feature_names_in_ = np.asarray(self.X.feature_names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def as_many(self) -> ShardSamples:
        """The same samples, of as much weight as they are many: weights of classes change shares alone."""
        kept, scaled = self.sample_weight > 0, copy.copy(self)
        scaled.weights = self.weights * (self.sample_weight[kept].sum() / self.weights[kept].sum())
        return scaled

    def with_X(self, X: Any) -> Samples:
        """The same samples with columns that are here."""
        kept = self.sample_weight > 0
        return Samples(X[kept], self.codes[kept], self.weights[kept], self.sample_weight[kept], self.classes, None)

    def select(self, rules: dict[str, Any], method: dict[str, Any], limits: dict[str, Any], listener: Any) -> dict[str, Any]:
        """The engine's answer; its ``details`` have the ``traffic``."""
        source = Source(self.X)
        stored = (self.X.stored, self.X._sparse)
        of_samples = (self.codes, self.weights)
        answer = _core.select_from(self.X.shape, stored, source, *of_samples, rules, method_with_memory(method), limits, listener)
        names = ("sent", "received", "seconds")
        answer["details"]["traffic"] = {name: np.array([now[name] for now in source.rounds]) for name in names}
        return answer
