"""Lists of genes side by side on the same samples held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fewest import _core
from fewest._call import limited
from fewest._engine import Listener, limits_of, warn_of_limit
from fewest._figure import PALE, caps, finish, name_rows, new_axes
from fewest._frames import is_annotated
from fewest._functions import searches
from fewest._markers import Judge, Markers
from fewest._several import SeveralProblems
from fewest._tables import Told
from fewest._warn import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress


@dataclass(frozen=True)
class Comparison(Told):
    """What :func:`compare` found; ``print`` shows the tables of ``fewest compare``.

    Parameters
    ----------
    names : list of str
        The lists.
    macro_f1 : dict of str to dict
        Macro F1 of each list on samples held out: ``mean``, ``se``, ``ci95``; None without a fold.
    difference : dict of str to dict
        The same less that of the first list, fold by fold; None of the first.
    gap : dict of str to float
        The share of what features can gain over none that each list leaves open at most, beside all lists
        of its size; None where time did not allow a bound.
    status : str
        How it ended: "completed", or the limit that was met.
    result : dict
        All of it, with the keys of the JSON of ``fewest compare``.
    """

    names: list[str]
    macro_f1: dict[str, dict[str, Any] | None]
    difference: dict[str, dict[str, Any] | None]
    gap: dict[str, float | None]
    status: str
    result: dict[str, Any] = field(repr=False, compare=False)

    def table(self) -> Any:
        """A data frame with a row for each list: ``size``, ``macro_f1``, ``low`` and ``high`` (its 95 % interval),
        ``difference`` (less that of the first), ``rare_recall``, ``neighbours``, ``nmi``, ``ari``, ``gap``.

        Returns
        -------
        table : DataFrame
            Rows by the names of the lists.
        """
        rows = []
        for of in self.result["lists"]:
            f1, clusters = of["macro_f1"] or {}, of["clusters"] or {}
            low, high = f1.get("ci95") or (None, None)
            means = {name: (of[name] or {}).get("mean") for name in ("difference", "rare_recall")}
            rows.append(
                {
                    "list": of["name"],
                    "size": len(of["features"]),
                    "macro_f1": f1.get("mean"),
                    "low": low,
                    "high": high,
                    **means,
                    **{name: clusters.get(name) for name in ("neighbours", "nmi", "ari")},
                    "gap": of["gap"],
                }
            )
        return import_module("pandas").DataFrame(rows).set_index("list")

    def plot(self, ax: Any = None, *, figsize: Any = None) -> Any:
        """Draw macro F1 of each list with its 95 % interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure, with a row for each list.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on.
        """
        lists = [of for of in self.result["lists"] if of["macro_f1"] is not None]
        if not lists:
            raise ValueError("no fold was done in time, so that nothing is compared; raise time_limit")
        own = ax is None
        ax = new_axes("Comparison.plot", ax, figsize, len(lists))
        places = name_rows(ax, [f"{of['name']} ({len(of['features'])})" for of in lists])
        f1 = [of["macro_f1"] for of in lists]
        ends = [of.get("ci95") or (None, None) for of in f1]
        caps(ax, places, [of["mean"] for of in f1], [low for low, _ in ends], [high for _, high in ends])
        ax.grid(axis="y", color=PALE, linestyle=":")
        ax.set(xlabel="Macro F1 (95 % interval)")
        finish(ax, own, figsize, f"Lists on the same samples held out: {self.result['target']}")
        return ax

    def types(self) -> Any:
        """A data frame with a row for each list and type: ``list``, ``type``, ``recall``, ``precision``, ``f1``,
        ``samples``, ``difference`` (F1 less that of the first list).

        Returns
        -------
        types : DataFrame
            One row for each list and type.
        """
        rows = [
            {
                "list": of["name"],
                "type": by["class"],
                **{name: by[name] for name in ("recall", "precision", "f1", "samples")},
                "difference": (by["difference"] or {}).get("mean"),
            }
            for of in self.result["lists"]
            for by in of["by_class"]
        ]
        return import_module("pandas").DataFrame(rows)


class _Comparer(Judge):
    """The comparison, with its checks of parameters and samples."""

    _tags = replace(SeveralProblems._tags, remedy="A longer time_limit, or fewer genes in X.")

    @limited
    def _find(self, adata: Any, groupby: Any, lists: Any, **of_samples: Any) -> Comparison:
        """What :func:`compare` returns."""
        self._validate_params()
        given = lists if isinstance(lists, Mapping) else {f"list {at + 1}": of for at, of in enumerate(lists)}
        if not 2 <= len(given) <= 10:
            raise ValueError(f"lists holds {len(given)} lists, but two to ten are compared")
        samples, classes, (weights, caller), levels = self._asked(adata, groupby, **of_samples)
        place = {str(name): at for at, name in enumerate(self._names())}
        chosen, missing = zip(*[self._indices(str(name), of, adata, place) for name, of in given.items()], strict=True)
        limits = limits_of(self, self.time_limit, gap=float(self.gap))
        listener = Listener(self, samples).wanted
        names = [str(name) for name in given]
        lists_of = (names, list(chosen), list(missing))
        result, stopped = _core.compare(
            samples.matrix,
            samples.codes,
            weights,
            classes,
            lists_of,
            self._judge_settings(samples, levels),
            caller,
            limits,
            listener,
            samples.groups,
        )
        ended = {"status": result["status"], "interrupted": stopped}
        warn_of_limit(self, ended, "What is None was not computed.")
        found = result["lists"]
        return Comparison(
            names=names,
            status=result["status"],
            result=result,
            **{key: {of["name"]: of[key] for of in found} for key in ("macro_f1", "difference", "gap")},
        )

    def _said(self, adata: Any, groupby: Any) -> list[str]:
        return [*super()._said(adata, groupby), "lists"]

    def _indices(self, name: str, given: Any, adata: Any, place: dict[str, int]) -> tuple[list[int], list[str]]:
        """Places of the genes of a list, ascending, and the genes that X does not have."""
        if isinstance(given, Markers):
            given = given.genes
        if isinstance(given, str):
            if not is_annotated(adata):
                raise ValueError(f"list {name!r} is {given!r}, which names a column of var of an AnnData; give the names of genes")
            if given not in adata.var:
                raise ValueError(f"list {name!r}: adata.var has no column {given!r}; it has {', '.join(map(str, adata.var.columns))}")
            column = adata.var[given]
            inside = column.to_numpy() if column.dtype == bool else column.notna().to_numpy()
            given = adata.var_names[inside]
        genes = [str(gene) for gene in np.asarray(given, dtype=object).ravel()]
        missing = [gene for gene in genes if gene not in place]
        if missing and len(missing) == len(genes):
            raise ValueError(f"list {name!r}: X has no gene {missing[0]!r}, nor any other of the list")
        if missing:
            named = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
            warn(f"list {name!r}: {len(missing)} of {len(genes)} genes are not in X, and count for nothing: {named}")
        twice = sorted({gene for gene in genes if genes.count(gene) > 1})
        if twice or not genes:
            raise ValueError(f"list {name!r} names {twice[0]!r} twice; leave one out" if twice else f"list {name!r} is empty")
        return sorted(place[gene] for gene in genes if gene in place), missing


@searches(_Comparer, "adata", "groupby", "lists", "groups", "sample_weight", "sum_by", "hierarchy")
def compare(  # type: ignore[empty-body]
    adata: Any,
    groupby: Any,
    lists: Any,
    *,
    layer: str | None = None,
    use_raw: bool | None = None,
    normalize_total: float | None = None,
    log1p: bool = False,
    groups: Any = None,
    sample_weight: Any = None,
    sum_by: Any = None,
    hierarchy: Any = None,
    level_weights: Any = None,
    C: float | str = "auto",
    loss: str = "squared_hinge",
    multi_class: str = "ovo",
    class_weight: dict[Any, float] | str | None = "balanced",
    scale: str = "standard",
    cv: int = 3,
    sample: int = 20_000,
    random_state: Any = 0,
    time_limit: float | None = 120.0,
    gap: float = 0.01,
    on_interrupt: str = "raise",
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
) -> Comparison:
    """Put lists of genes side by side on the same samples held out, each with how far it is from the best of its size.

    What ``fewest compare`` does: in each fold a classifier on each list, at one cost for all lists; macro F1,
    each type, and the differences from the first list fold by fold. On all samples: nearest neighbours and
    Leiden clusters by each list alone, and a bound on every list of the same size. A list that was chosen on
    these samples has seen those held out.

    Parameters
    ----------
    adata : AnnData, or {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples (cells) with their features (genes).
    groupby : str or array-like of shape (n_samples,)
        The type of each sample: a column of ``obs`` of an AnnData, or the labels.
    lists : dict of str to list, or list of lists
        Two to ten lists: names of genes, a :class:`Markers`, or the name of a column of ``var`` of an AnnData:
        of True and False, or with a value where a gene is in the list. The first is what the others are
        compared with.
    layer : str, default=None
        The layer of an AnnData to take in place of X.
    use_raw : bool, default=None
        Whether to take ``raw`` of an AnnData. None: where there is one and no layer is named, as
        scanpy's functions on genes do.
    normalize_total : float, default=None
        Multiply the values of each sample so that they sum up to this, such as 1e4; for counts. On a
        copy.
    log1p : bool, default=False
        Take ln(1 + x) of each value, after that. On a copy.
    groups : str or array-like of shape (n_samples,), default=None
        Samples of one group, such as a donor, stay together in all folds: a column of ``obs``, or one
        entry for each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        How many samples each counts as.
    sum_by : str, array-like of shape (n_samples,) or list of them, default=None
        Samples of one type that agree in these columns are summed up to one sample, as in :func:`markers`.
    hierarchy : str, dict, array-like of shape (n_samples,) or list of them, default=None
        Levels above the types, from coarse to fine, as in :func:`markers`; each list is judged at each.
    level_weights : array-like of float, default=None
        What the pairs of each level weigh together, those of the types themselves last. None: 1 each.
    C : float or "auto", default="auto"
        Slack cost of every list. "auto": 0.3 ``n_types / sum of weights``: the samples of a type cost 0.3
        together.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss; the bound is of the squared hinge.
    multi_class : {"ovo", "ovr"}, default="ovo"
        A problem for each pair of types, or for each type against the others.
    class_weight : dict, "balanced", "cw2", "cw3" or None, default="balanced"
        Factor of C by type.
    scale : {"standard", "maxabs", "range", "none"}, default="standard"
        Scaling, learnt inside the folds. "range" is to [-1, 1], "range:0..1" to [0, 1]. Sparse data are
        divided alone, not centred, which is the same, as the bias is free.
    cv : int, default=3
        Folds.
    sample : int, default=20000
        Make the folds of this many samples at most, of rare types all of them.
    random_state : int, RandomState instance or None, default=0
        How samples are dealt into folds, and the seed of the clusters.
    time_limit : float, default=120.0
        Seconds for all of it.
    gap : float, default=0.01
        A bound is good enough where the list is within this share of what features can gain.
    on_interrupt : {"raise", "keep"}, default="raise"
        After Ctrl-C: raise ``KeyboardInterrupt``, or return what is known.
    callback : callable, default=None
        Receives the progress; returns True to stop.
    verbose : int, default=0
        1: print the progress.
    n_jobs : int, default=None
        Threads.
    max_memory : int or str, default=None
        Bytes to keep within, such as "2G"; None: :func:`fewest.set_memory`.

    Returns
    -------
    found : Comparison
        Macro F1 of each list with its interval, differences, types, clusters, gaps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fewest import compare
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = compare(X, y, {"three": ["flavanoids", "proline", "color_intensity"], "two": ["ash", "hue"]})
    >>> found.difference["two"]["mean"] < 0, found.gap["three"] < found.gap["two"]
    (True, True)
    """
