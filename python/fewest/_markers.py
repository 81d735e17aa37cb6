"""The few features that tell all classes apart, such as genes that tell cell types."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field, replace
from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from fewest import _core
from fewest._call import limited
from fewest._caller import called_with, caller_of, column_name
from fewest._engine import Listener, Samples, limits_of, said_class_weights, seed_of, summed, warn_of_limit
from fewest._figure import FIRST, MUTED, finish, name_rows, new_axes, shades, short
from fewest._folds import keep_groups
from fewest._frames import index_of, is_annotated, labels_in, native, sample_names
from fewest._functions import searches
from fewest._parameters import AT_LEAST_ONE, AT_LEAST_TWO, COST, COST_OR_AUTO, COUNT_OR_NONE, handed
from fewest._rules import Rules
from fewest._several import PROBLEMS, SeveralProblems
from fewest._sums import Sums, label_columns, levels_of
from fewest._tables import Told, written
from fewest._warn import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from fewest._engine import Progress


#: Parameters that say which values of an AnnData are analysed.
OF_VALUES = ("layer", "use_raw", "normalize_total", "log1p")


#: Shares in the legend of dots.
SHOWN = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Markers(Told):
    """What :func:`markers` found; ``print`` shows the tables of ``fewest markers``.

    Parameters
    ----------
    genes : list of str
        The panel in order: the first is the one that an elimination among them leaves last. Empty
        where time did not allow a panel.
    classes : list of str
        The types.
    objective : float or None
        The sum of the objectives of the SVMs of all pairs of types on the panel.
    bound : float or None
        No allowed panel has a smaller objective.
    gap : float or None
        The share of what features can gain over none that the panel leaves open at most.
    macro_f1 : dict or None
        Macro F1 in the folds, on samples that took no part in the choice: ``mean``, ``se``, ``ci95``.
    status : str
        How it ended: "completed", or the limit that was met.
    result : dict
        All of it, with the keys of the JSON of ``fewest markers``.
    analysed : dict
        What was taken of an AnnData: ``layer``, ``use_raw``, ``normalize_total``, ``log1p``; empty for arrays.
    """

    genes: list[str]
    classes: list[str]
    objective: float | None
    bound: float | None
    gap: float | None
    macro_f1: dict[str, Any] | None
    status: str
    result: dict[str, Any] = field(repr=False, compare=False)
    analysed: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _markers(self) -> list[dict[str, Any]]:
        return [] if self.result["panel"] is None else self.result["panel"]["markers"]

    def table(self) -> Any:
        """A data frame with a row for each gene and type, genes in order: ``gene``, ``rank``, ``type``,
        ``mean`` and ``share`` above 0 in the type, ``weight`` (above 0 where the gene speaks for the
        type), ``highest`` (whether its mean is largest there).

        Returns
        -------
        table : DataFrame
            One row for each gene and type.
        """
        rows = [
            {
                "gene": marker["feature"],
                "rank": marker["rank"],
                "type": name,
                **{key: marker[key][name] for key in ("mean", "share", "weight")},
                "highest": marker["highest"] == name,
            }
            for marker in self._markers()
            for name in self.classes
        ]
        return import_module("pandas").DataFrame(rows, columns=["gene", "rank", "type", "mean", "share", "weight", "highest"])

    def replaceable(self) -> Any:
        """A data frame of what may take the place of a gene: ``gene``, ``by``, ``price`` (the share of what the
        panel gains that is lost), ``recurs`` (the share of halves that keep the gene).

        Returns
        -------
        stand_ins : DataFrame
            Up to three rows for each gene, the cheapest first.
        """
        rows = [
            {"gene": marker["feature"], "by": other["feature"], "price": other["price"], "recurs": marker["recurs"]}
            for marker in self._markers()
            for other in marker["replaceable_by"]
        ]
        return import_module("pandas").DataFrame(rows, columns=["gene", "by", "price", "recurs"])

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The panel as a table that vendors take: ``gene``, ``rank``, ``type``, ``role``, ``replaceable_by``: what
        ``fewest markers --panel`` writes.

        Parameters
        ----------
        path : str or path-like, default=None
            The file. None: the text is returned.

        Returns
        -------
        text : str or None
            The table, where no file is named.
        """
        return written(_core.panel_table(self.result), path)

    def apart(self) -> Any:
        """A data frame of the pairs of types that each gene does most for: ``gene``, ``high`` and ``low``
        (types of larger and of smaller mean), ``share`` of the distance between both.

        Returns
        -------
        pairs : DataFrame
            Up to three pairs for each gene.
        """
        rows = [{"gene": marker["feature"], **pair} for marker in self._markers() for pair in marker["tells_apart"]]
        return import_module("pandas").DataFrame(rows, columns=["gene", "high", "low", "share"])

    def types(self) -> Any:
        """A data frame of the types in the folds: ``recall``, ``precision``, ``f1``, ``samples``.

        Returns
        -------
        types : DataFrame
            One row for each type.
        """
        return (
            import_module("pandas")
            .DataFrame(self.result["by_class"], columns=["class", "samples", "recall", "precision", "f1"])
            .set_index("class")
        )

    def confusion(self) -> Any:
        """A data frame of the samples held out: true types (rows) and predicted ones.

        Returns
        -------
        counts : DataFrame
            How many samples.
        """
        return import_module("pandas").DataFrame(self.result["confusion"], index=self.classes, columns=self.classes)

    def confused(self) -> Any:
        """A data frame of the types told apart poorly, the worst first: ``class``, ``taken_for``, ``samples``,
        ``share``.

        Returns
        -------
        pairs : DataFrame
            One row for each pair of types.
        """
        return import_module("pandas").DataFrame(self.result["confused"], columns=["class", "taken_for", "samples", "share"])

    def by_type(self) -> dict[str, list[str]]:
        """The genes by the type in which their mean is largest, for plots of scanpy.

        Returns
        -------
        genes : dict of str to list of str
            Types without a gene are left out.
        """
        found = {name: [m["feature"] for m in self._markers() if m["highest"] == name] for name in self.classes}
        return {name: genes for name, genes in found.items() if genes}

    def dotplot(self, adata: Any, groupby: str, **options: Any) -> Any:
        """The dot plot of scanpy, genes by the type in which they are highest, of the values that were analysed:
        the same layer, normalised alike. ``options`` are scanpy's own; with ``layer`` or ``use_raw`` among them
        the values are those of ``adata`` as they are. :meth:`plot_dots` needs neither scanpy nor cells.

        Parameters
        ----------
        adata : AnnData
            Cells, the same or others with these genes.
        groupby : str
            The column of ``obs`` with the types.
        **options : dict
            Options of scanpy's function.

        Returns
        -------
        plot : object
            What scanpy returns.
        """
        return self._by_scanpy("dotplot", adata, groupby, options)

    def matrixplot(self, adata: Any, groupby: str, **options: Any) -> Any:
        """The matrix plot of scanpy, as :meth:`dotplot`.

        Parameters
        ----------
        adata : AnnData
            Cells, the same or others with these genes.
        groupby : str
            The column of ``obs`` with the types.
        **options : dict
            Options of scanpy's function.

        Returns
        -------
        plot : object
            What scanpy returns.
        """
        return self._by_scanpy("matrixplot", adata, groupby, options)

    def _by_scanpy(self, name: str, adata: Any, groupby: str, options: dict[str, Any]) -> Any:
        plot = getattr(import_module("scanpy").pl, name)
        if self.analysed and not {"layer", "use_raw"} & set(options):
            adata, options = _as_analysed(adata, groupby, self.genes, self.analysed), {**options, "use_raw": False}
        return plot(adata, self.by_type(), groupby, **options)

    def plot_dots(self, ax: Any = None, *, figsize: Any = None) -> Any:
        """Draw the markers by type, along the diagonal: the size of a dot is the share of the samples of the type
        above 0, its colour the mean, from the smallest to the largest of the marker.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure, with a row for each type.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on.
        """
        place = {name: at for at, name in enumerate(self.classes)}
        ordered = sorted(self._markers(), key=lambda marker: (place[marker["highest"]], marker["rank"]))
        if not ordered:
            raise ValueError("time allowed no panel, so that there are no markers to draw; raise time_limit")
        genes, n_types = [marker["feature"] for marker in ordered], len(self.classes)
        mean, share = (np.array([[marker[key][name] for marker in ordered] for name in self.classes]) for key in ("mean", "share"))
        least, wide = mean.min(axis=0), np.ptp(mean, axis=0)
        own, size = ax is None, figsize
        if own and size is None:
            size = (max(6.4, 0.24 * len(genes) + 0.08 * max(map(len, self.classes)) + 1.6), 0.28 * n_types + 2.2)
        ax = new_axes("Markers.plot_dots", ax, size, n_types + 6, least=8)
        name_rows(ax, self.classes)
        ax.set_xticks(np.arange(len(genes)), [short(gene) for gene in genes], rotation=90)
        ax.tick_params(axis="x", length=0)
        ax.set_xlim(-0.6, len(genes) - 0.4)
        rows, columns = np.indices(mean.shape)
        relative = (mean - least) / np.where(wide > 0, wide, 1.0)
        dots = ax.scatter(
            columns.ravel(),
            rows.ravel(),
            s=share.ravel(),
            c=relative.ravel(),
            cmap=shades(),
            vmin=0,
            vmax=1,
            edgecolors=MUTED,
            linewidths=0.4,
        )
        for shown in SHOWN:
            ax.scatter(
                [],
                [],
                s=shown,
                color=FIRST,
                edgecolors=MUTED,
                linewidths=0.4,
                label=f"{100 * shown:g} %{' of samples above 0' if shown == 1 else ''}",
            )
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], shrink=0.5, aspect=10, label="Mean of the marker")
        bar.ax.set_yticklabels(["smallest", "largest"])
        finish(ax, own, figsize, f"Markers by type: {self.result['target']}", 3)
        # Dots fill a cell, which has its size by now.
        ax.figure.canvas.draw()
        box = ax.get_window_extent()
        largest = min(0.9 * min(box.width / len(genes), box.height / n_types) / ax.figure.dpi * 72, 14.0) ** 2
        dots.set_sizes(largest * share.ravel())
        for handle, shown in zip((ax.get_legend() or ax.figure.legends[-1]).legend_handles, SHOWN, strict=True):
            handle.set_sizes([largest * shown])
        return ax

    def plot_confusion(self, ax: Any = None, *, figsize: Any = None, **options: Any) -> Any:
        """The confusion of the samples held out as scikit-learn draws it, rows in per cent of the type; a new figure is
        as large as the types need.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None: a new figure.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.
        **options : dict
            Options of ``ConfusionMatrixDisplay.plot``.

        Returns
        -------
        display : ConfusionMatrixDisplay
            Its ``figure_`` and ``ax_`` can be changed.
        """
        counts = np.asarray(self.result["confusion"], dtype=float)
        percent = 100.0 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        names = [short(name) for name in self.classes]
        if figsize is None and ax is None:
            side = 0.36 * len(names) + 0.08 * max(map(len, names)) + 1.0
            figsize = (side + 1.0, side)
        own = ax is None
        ax = new_axes("Markers.plot_confusion", ax, figsize, aspect=0.9)
        given = {
            "values_format": ".0f",
            "xticks_rotation": "vertical",
            "cmap": shades("#ffffff"),
            "im_kw": {"vmin": 0, "vmax": 100},
            **options,
        }
        display = import_module("sklearn.metrics").ConfusionMatrixDisplay(percent, display_labels=names).plot(ax=ax, **given)
        if display.text_ is not None:
            for text in display.text_.ravel():
                # Cells of a few are not those of none.
                if text.get_text() == "0":
                    text.set_text("")
        ax.set(xlabel="Predicted type", ylabel="Type")
        finish(ax, own, figsize, "Held out, % of the type")
        ax.spines[:].set_visible(True)
        return display

    def store(self, adata: Any, key: str = "fewest") -> None:
        """Write into an AnnData: ``var[key]`` (whether a gene is in the panel), ``var[key + "_rank"]``,
        ``varm[key + "_weights"]`` (genes by types, in the order of ``classes``), ``uns[key]``
        (``genes``, ``classes``, ``objective``, ``bound``, ``gap``, ``macro_f1``, ``json``: all of the
        result). Genes that are in raw alone are in ``uns`` alone; a warning names them.

        Parameters
        ----------
        adata : AnnData
            Where to write.
        key : str, default="fewest"
            The name to write under.
        """
        names = [str(name) for name in adata.var_names]
        place = {name: at for at, name in enumerate(names)}
        chosen, rank = np.zeros(len(names), dtype=bool), np.full(len(names), np.nan)
        weights, missing = np.zeros((len(names), len(self.classes))), []
        for marker in self._markers():
            name, at = marker["feature"], marker["index"]
            if at >= len(names) or names[at] != name:
                if name not in place:
                    missing.append(name)
                    continue
                at = place[name]
            chosen[at], rank[at], weights[at] = True, marker["rank"], [marker["weight"][name] for name in self.classes]
        if missing:
            warn(f"genes of the panel that var of adata does not have are in uns[{key!r}] alone: {', '.join(missing)}")
        adata.var[key], adata.var[f"{key}_rank"] = chosen, rank
        adata.varm[f"{key}_weights"] = weights
        numbers = {"objective": self.objective, "bound": self.bound, "gap": self.gap, "macro_f1": (self.macro_f1 or {}).get("mean")}
        told = {name: float(value) for name, value in numbers.items() if value is not None}
        adata.uns[key] = {
            "genes": np.array(self.genes, dtype=object),
            "classes": np.array(self.classes, dtype=object),
            "status": self.status,
            "json": self.to_json(),
            **told,
        }


class Judge(SeveralProblems):
    """Samples of an AnnData or of arrays, and the folds and classifiers that panels are judged by."""

    _parameter_constraints = {
        "layer": [str, None],
        "use_raw": ["boolean", None],
        "normalize_total": [*COST, None],
        "log1p": ["boolean"],
        "C": COST_OR_AUTO,
        "level_weights": ["array-like", None],
        "scale": [str],
        "cv": AT_LEAST_TWO,
        "sample": AT_LEAST_ONE,
    }

    def _asked(
        self, adata: Any, groupby: Any, groups: Any, sample_weight: Any, sum_by: Any, hierarchy: Any
    ) -> tuple[Samples, list[str], tuple[Any, ...], list[dict[str, Any]]]:
        """The samples, their classes, what the engine takes of them before and after its settings, and the levels above
        the classes.
        """
        for name, value in (("groupby", groupby), ("groups", groups)):
            if isinstance(value, str) and not is_annotated(adata):
                raise ValueError(f"{name} is {value!r}, which names a column of an AnnData; give an entry for each sample")
        y, groups = labels_in(adata, groupby, "groupby", "adata"), labels_in(adata, groups, "groups", "adata")
        X, of_samples, names, summed = self._matrix(adata), y, sample_names(adata), None
        if sum_by is not None:
            columns = label_columns(adata, sum_by, "sum_by", X.shape[0])
            if isinstance(groupby, str):
                columns.pop(groupby, None)
            sums = Sums(columns, y)
            counts = sums.matrix(X.X if is_annotated(X) else X)
            X = _View(counts, X.obs.iloc[sums.first], X.var_names) if is_annotated(X) else counts
            y, groups, sample_weight = (
                sums.same(values, name) for name, values in (("groupby", y), ("groups", groups), ("sample_weight", sample_weight))
            )
            names, summed = sums.names, sums.said
        given = {"y": y, "weights": sample_weight, "groups": groups, "samples": names, "X": adata}
        X = self._normalized(X)
        if (self.normalize_total is not None or self.log1p) and self.layer is None and "log1p" in getattr(adata, "uns", {}):
            warn(
                "the values are logarithms already, as adata.uns['log1p'] says; leave out normalize_total and log1p, or name the "
                "counts with layer"
            )
        samples = self._validated(X, y, sample_weight)
        if groups is not None:
            keep_groups(samples, X, groups)
        classes = [str(label) for label in samples.classes.tolist()]
        caller = caller_of(self, samples, self._names(), given, called_with(repr(self), *self._said(adata, groupby)), summed=summed)
        levels = levels_of(adata, hierarchy, of_samples, classes, column_name(y))
        return samples, classes, (np.ascontiguousarray(samples.sample_weight), caller), levels

    def _said(self, adata: Any, groupby: Any) -> list[str]:
        """The words for the data in the call."""
        return ["adata" if is_annotated(adata) else "X", repr(groupby) if isinstance(groupby, str) else "y"]

    def _matrix(self, adata: Any) -> Any:
        """The matrix asked for, with names."""
        if not is_annotated(adata):
            if self.layer is not None or self.use_raw:
                raise ValueError("layer and use_raw are of an AnnData; leave them out")
            return adata
        raw = use_raw_of(adata, self.layer, self.use_raw)
        if (raw or self.layer is None) and getattr(adata, "isbacked", False):
            raise TypeError("adata is on the disk; give adata.to_memory()")
        if raw:
            return _View(adata.raw.X, adata.obs, adata.raw.var_names)
        if self.layer is None:
            if adata.X is None:
                there = ", ".join(map(repr, adata.layers))
                raise ValueError(
                    f"adata has no X; name a layer, of which there are {there}" if there else "adata has no X and no layer"
                )
            return adata
        if self.layer not in adata.layers:
            there = ", ".join(map(str, adata.layers)) or "none"
            raise ValueError(f"layer is {self.layer!r}, but adata has no such layer; it has {there}")
        return _View(adata.layers[self.layer], adata.obs, adata.var_names)

    def _normalized(self, X: Any) -> Any:
        """A copy whose samples sum up to ``normalize_total``, of which ln(1 + x) is taken; X itself where
        nothing is asked.
        """
        values = X.X if is_annotated(X) else native(X)
        if self.normalize_total is None and not self.log1p:
            if _are_counts(values):
                warn(
                    "the values are whole numbers, as counts are, which are larger where a cell has more of all; "
                    "normalize_total=1e4 and log1p=True make cells comparable"
                )
            return X
        if getattr(self, "verbose", 0):
            # The first sign, as the engine has its data later.
            print(f"[{type(self).__name__}] 0 s, normalising {X.shape[0]} samples of {X.shape[1]} features", flush=True)
        try:
            matrix: Any = summed(values).tocsr().astype(np.float64) if sp.issparse(values) else np.array(values, dtype=np.float64)
        except (ValueError, TypeError):
            # The validation says what is wrong.
            return X
        least = matrix.data.min(initial=0.0) if sp.issparse(matrix) else matrix.min(initial=0.0)
        if np.isnan(least) or matrix.ndim != 2:
            return X
        if least < 0.0:
            raise ValueError(
                f"the smallest value is {least:g}, but normalize_total and log1p are for counts, 0 or more; leave them out, or "
                "name the layer that holds counts"
            )
        if self.normalize_total is not None:
            if not _are_whole(matrix):
                warn("some values are no whole numbers: leave out normalize_total if they were normalised already")
            sums = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
            factors = np.divide(float(self.normalize_total), sums, out=np.ones_like(sums), where=sums > 0)
            matrix = sp.diags_array(factors).tocsr() @ matrix if sp.issparse(matrix) else matrix * factors[:, None]
        if self.log1p:
            matrix = matrix.log1p() if sp.issparse(matrix) else np.log1p(matrix)
        if is_annotated(X):
            return _View(matrix, X.obs, X.var_names)
        columns = getattr(values, "column_names", getattr(values, "columns", None))
        return matrix if columns is None else import_module("pandas").DataFrame(matrix, columns=columns, index=index_of(values))

    def _judge_settings(self, samples: Samples, levels: list[dict[str, Any]]) -> dict[str, Any]:
        """What the engine is asked of folds and classifiers."""
        weights: Any = said_class_weights(self.class_weight, samples.classes)
        weights = weights or {None: "none", "cw2": "inverse", "cw3": "softened"}.get(self.class_weight, "balanced")
        return {
            "cost": None if self.C == "auto" else float(self.C),
            "loss": self.loss.replace("_", "-"),
            "multi_class": PROBLEMS[self.multi_class],
            "hierarchy": levels,
            "level_weights": [] if self.level_weights is None else [float(weight) for weight in self.level_weights],
            "preparation": {"scale": self.scale, "class_weight": weights},
            "seed": seed_of(self.random_state),
            **handed(self, "sample", folds="cv"),
        }


class _Finder(Judge):
    """The search, with its checks of parameters and samples."""

    _parameter_constraints = {
        **Judge._parameter_constraints,
        "n_genes": COUNT_OR_NONE,
        "per_class": [Interval(Integral, 0, None, closed="left")],
        "robust": [Interval(Integral, 0, None, closed="left")],
        "expression": [tuple, list, None],
        "halves": [Interval(Integral, 0, None, closed="left")],
        "slack": [Interval(Real, 0, 1, closed="left")],
    }
    _tags = replace(SeveralProblems._tags, remedy="A longer time_limit, or fewer genes in X.", size_name="n_genes")

    @property
    def n_features_to_select(self) -> int | None:
        """The size under the name that selectors have for it."""
        return self.n_genes

    def _find(self, adata: Any, groupby: Any, key_added: str | None, **given: Any) -> Markers:
        """What :func:`markers` returns."""
        found = self._found(adata, groupby, **given)
        if key_added is not None and is_annotated(adata):
            found.store(adata, key_added)
        return found

    @limited
    def _found(self, adata: Any, groupby: Any, **given: Any) -> Markers:
        self._validate_params()
        if self.n_genes is None and (self.rules or Rules()).max_features is None:
            raise ValueError("say how many genes there may be: n_genes=50")
        if self.expression is not None and len(self.expression) != 2:
            raise ValueError(
                f"expression is {self.expression!r}, but must be a smallest and a largest value, such as (0.5, 3) or (None, 3)"
            )
        if self.halves % 2:
            raise ValueError(f"halves is {self.halves}, but must be an even number, as halves are pairs; 0 for none")
        samples, classes, (weights, caller), levels = self._asked(adata, groupby, **given)
        limits = limits_of(self, self.time_limit, gap=float(self.gap), nodes=self.node_limit)
        listener = Listener(self, samples).wanted
        result, stopped = _core.markers(
            samples.matrix, samples.codes, weights, classes, self._settings(samples, levels), caller, limits, listener, samples.groups
        )
        ended = {"status": result["status"], "interrupted": stopped}
        warn_of_limit(self, ended, f"The panel so far is returned, with the bound proven by then.{_not_done(result['effort'])}")
        panel = result["panel"] or {}
        return Markers(
            genes=panel.get("features", []),
            classes=classes,
            macro_f1=result["macro_f1"],
            status=result["status"],
            result=result,
            analysed={name: getattr(self, name) for name in OF_VALUES} if is_annotated(adata) else {},
            **{name: panel.get(name) for name in ("objective", "bound", "gap")},
        )

    def _settings(self, samples: Samples, levels: list[dict[str, Any]]) -> dict[str, Any]:
        """What the engine is asked to do."""
        low, high = (None, None) if self.expression is None else self.expression
        return {
            "rules": self._rules(samples.X.shape[1]),
            "expression": [None if low is None else float(low), None if high is None else float(high)],
            "slack": float(self.slack),
            **handed(self, "per_class", "robust", "halves"),
            **self._judge_settings(samples, levels),
        }


@searches(_Finder, "adata", "groupby", "groups", "sample_weight", "sum_by", "hierarchy", "key_added")
def markers(  # type: ignore[empty-body]
    adata: Any,
    groupby: Any,
    n_genes: int | None = None,
    *,
    layer: str | None = None,
    use_raw: bool | None = None,
    normalize_total: float | None = None,
    log1p: bool = False,
    rules: Rules | None = None,
    per_class: int = 0,
    robust: int = 0,
    expression: tuple[float | None, float | None] | None = None,
    slack: float = 0.01,
    halves: int = 20,
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
    node_limit: int | None = None,
    key_added: str | None = "fewest",
    on_interrupt: str = "raise",
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
) -> Markers:
    """Find the few genes that tell all cell types apart, with a bound on how far they are from the best.

    What ``fewest markers`` does: an SVM for each pair of types on the shared genes, each type of equal
    weight, so that a pair that is hard to tell apart costs most and a rare type as much as a frequent
    one. An elimination on all samples, and a search from its panel for a better one and for the bound; of
    the panels nearly as good the one whose genes come back on halves of the samples. The panel is judged in
    folds, with scaling and selection again in each.

    Parameters
    ----------
    adata : AnnData, or {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples (cells) with their features (genes).
    groupby : str or array-like of shape (n_samples,)
        The type of each sample: a column of ``obs`` of an AnnData, or the labels.
    n_genes : int, default=None
        At most this many genes; None: the size of ``rules``.
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
    rules : Rules, default=None
        Rules on the panel: must-in and must-out by name, families, a budget.
    per_class : int, default=0
        At least this many genes of the panel are high in each type: their mean there is the largest of
        all types.
    robust : int, default=0
        Number of genes that may be lost, such as probes that fail: each pair of types is told apart by one gene
        more by themselves: by half of the distance at least that the best gene for this pair has.
    expression : tuple of (float or None), default=None
        Smallest and largest value that the largest mean of a type may have; genes outside are left out.
    slack : float, default=0.01
        Of the panels that gain this share less than the best known one at most, the one is taken whose
        genes come back most on halves of the samples; 0 takes the best.
    halves : int, default=20
        Halves of the samples that say how often a gene comes back, an even number; 0: none.
    groups : str or array-like of shape (n_samples,), default=None
        Samples of one group, such as a donor, stay together in all folds, and in halves where they allow
        that: a column of ``obs``, or one entry for each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        How many samples each counts as.
    sum_by : str, array-like of shape (n_samples,) or list of them, default=None
        Samples of one type that agree in these columns, such as the cells of a donor, are summed up to one sample
        (pseudobulk), before ``normalize_total``: columns of ``obs``, or an entry for each sample. Takes counts.
    hierarchy : str, dict, array-like of shape (n_samples,) or list of them, default=None
        Levels above the types, from coarse to fine, such as lineages: columns of ``obs``, an entry for each sample, or
        a dict from types to their coarse types. Pairs of types weigh by the level at which they part, and each
        level is judged: ``result["levels"]``.
    level_weights : array-like of float, default=None
        What the pairs of each level weigh together, those of the types themselves last. None: 1 each.
    C : float or "auto", default="auto"
        Slack cost. "auto": 0.3 ``n_types / sum of weights``: the samples of a type cost 0.3 together.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss.
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
        Make the folds of this many samples at most, of rare types all of them. The panel and its bound
        are of all samples.
    random_state : int, RandomState instance or None, default=0
        How samples are dealt into folds.
    time_limit : float, default=120.0
        Seconds for all of it.
    gap : float, default=0.01
        The search ends where at most this share of what features can gain is left open.
    node_limit : int, default=None
        Nodes that the search may take.
    key_added : str, default="fewest"
        Where results go in an AnnData (:meth:`Markers.store`); None: nowhere.
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
    found : Markers
        The panel in order, tables by gene and by type, objective and bound.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fewest import markers
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = markers(X, y, 4)
    >>> found.genes
    ['od280/od315_of_diluted_wines', 'proline', 'flavanoids', 'color_intensity']
    >>> found.macro_f1["mean"] > 0.9, found.gap < 0.02
    (True, True)
    """


def _as_analysed(adata: Any, groupby: str, genes: list[str], analysed: dict[str, Any]) -> Any:
    """An AnnData of these genes, its values those that were analysed."""
    judge: Any = Judge.__new__(Judge)
    vars(judge).update(analysed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = judge._normalized(judge._matrix(adata))
    place = {str(name): at for at, name in enumerate(values.var_names)}
    if missing := [gene for gene in genes if gene not in place]:
        raise ValueError(f"adata has no gene {missing[0]!r}, which is in the panel")
    frame = import_module("pandas").DataFrame
    columns = values.X[:, [place[gene] for gene in genes]]
    return import_module("anndata").AnnData(columns, obs=adata.obs[[groupby]].copy(), var=frame(index=genes))


def _values_of(matrix: Any) -> np.ndarray | None:
    """The values that are stored, None where they are no numbers."""
    values = matrix.data if sp.issparse(matrix) else np.asarray(matrix)
    return values if values.dtype.kind in "iuf" else None


def _are_whole(matrix: Any) -> bool:
    values = _values_of(matrix)
    return values is not None and (values.dtype.kind != "f" or bool(np.all(values == np.floor(values))))


def _are_counts(matrix: Any) -> bool:
    """Whether the values are whole numbers of 0 or more, some of them above 50."""
    values = _values_of(matrix)
    return values is not None and bool(values.max(initial=0) > 50 and values.min(initial=0) >= 0) and _are_whole(matrix)


class _View:
    """A matrix of an AnnData with what belongs to it."""

    def __init__(self, X: Any, obs: Any, var_names: Any) -> None:
        self.X, self.obs, self.var_names = X, obs, var_names

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return tuple(self.X.shape)

    def __len__(self) -> int:
        return int(self.X.shape[0])


def use_raw_of(adata: Any, layer: str | None, use_raw: bool | None) -> bool:
    """Whether raw of an AnnData is taken."""
    there = getattr(adata, "raw", None) is not None
    if use_raw and layer is not None:
        raise ValueError(f"use_raw is True and layer is {layer!r}; give one of them")
    if use_raw and not there:
        raise ValueError("use_raw is True, but adata has no raw; leave it out")
    return there and layer is None if use_raw is None else use_raw


def _not_done(effort: dict[str, int]) -> str:
    """What time did not allow."""
    left = effort["folds_left"]
    return f" Not judged, and counted nowhere: {left} fold{'s' if left > 1 else ''}." if left else ""
