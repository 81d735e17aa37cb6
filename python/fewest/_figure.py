"""What figures have in common: colours, sizes, axes, legends; matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

#: Colours of the pages of results: what is shown, what it is beside, text, lines.
FIRST, SECOND, MUTED, PALE = "#0a6fb8", "#b4540a", "#545b64", "#c9ced6"
#: From the smallest to the largest.
SHADES = ("#eef4fa", FIRST, "#05294a")
#: Widths of columns of a journal, in millimetres.
WIDTHS = {"single": 85.0, "double": 170.0}
#: Points of the text there.
POINTS = 7.0
MILLIMETRES = 25.4


def new_axes(who: str, ax: Any, figsize: Any, rows: float | None = None, aspect: float | None = None, least: float = 3.0) -> Any:
    """The axes to draw on: those given, or those of a new figure with room for these rows of text, or that is
    ``aspect`` as high as wide.
    """
    check_matplotlib_support(who)
    if isinstance(figsize, str) and figsize not in WIDTHS:
        raise ValueError(f"figsize is {figsize!r}, but must be 'single', 'double', or a width and a height in inches")
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    if figsize is None or isinstance(figsize, str):
        aspect = aspect or (0.6 if figsize == "double" else 0.8)
        width = plt.rcParams["figure.figsize"][0] if figsize is None else WIDTHS[figsize] / MILLIMETRES
        row = (plt.rcParams["font.size"] if figsize is None else POINTS) * 1.6 / 72
        figsize_ = (width, width * aspect if rows is None else max(rows, least) * row + 9 * row)
    else:
        figsize_ = tuple(figsize)
    return plt.subplots(figsize=figsize_, layout="constrained")[1]


def finish(ax: Any, own: bool, figsize: Any, title: str, legend: int = 0) -> None:
    """Title, a legend of this number of columns and the size of the text; in a figure of our ``own`` the legend stands
    below, where it covers nothing.
    """
    ax.set_title(title, loc="left", fontweight="bold", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    if legend and own:
        ax.figure.legend(
            *ax.get_legend_handles_labels(), loc="outside lower left", frameon=False, ncols=legend, columnspacing=1.2, handletextpad=0.5
        )
    elif legend:
        ax.legend()
    if own and isinstance(figsize, str):
        for text in ax.figure.findobj(match=lambda artist: hasattr(artist, "set_fontsize")):
            text.set_fontsize(POINTS)
        for each in ax.figure.axes:
            each.tick_params(labelsize=POINTS)


def name_rows(ax: Any, names: Any) -> np.ndarray:
    """Rows from the top, with a name each; returns their places."""
    places = np.arange(len(names))
    ax.set_yticks(places, [short(str(name)) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    return places


def shades(least: str = SHADES[0]) -> Any:
    """A colour map from ``least`` to the darkest shade."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("fewest", (least, *SHADES[1:]))


def percent(share: float) -> str:
    """A share in per cent, to three digits; what is none but for rounding is 0."""
    return f"{0.0 if share < 1e-5 else 100 * share:.3g} %"


def short(name: str, most: int = 32) -> str:
    """A name that fits beside a figure."""
    return name if len(name) <= most else name[: most - 2] + ".."


def caps(ax: Any, at: Any, mean: Any, low: Any, high: Any, *, upright: bool = False, **options: Any) -> Any:
    """Points with intervals that have caps; those without an interval are points alone."""
    mean, low, high = (np.asarray([np.nan if x is None else x for x in xs], dtype=float) for xs in (mean, low, high))
    reach = np.nan_to_num(np.stack([mean - low, high - mean])).clip(0)
    given = {"fmt": "o", "capsize": 3, "color": FIRST, **options}
    return ax.errorbar(at, mean, yerr=reach, **given) if upright else ax.errorbar(mean, at, xerr=reach, **given)


def bars(who: str, ax: Any, figsize: Any, names: list[str], values: np.ndarray, chosen: Any, said: tuple[str, str], most: int) -> Any:
    """Bars by feature, the largest first, those ``chosen`` in colour; ``said`` are the title and the name of the axis."""
    order = np.argsort(-values, kind="stable")[:most]
    own, inside = ax is None, np.isin(order, chosen)
    ax = new_axes(who, ax, figsize, len(order))
    places = name_rows(ax, [names[j] for j in order])
    for label, shown, colour in (("selected", inside, FIRST), ("not selected", ~inside, PALE)):
        if shown.any():
            ax.barh(places[shown], values[order][shown], height=0.72, color=colour, label=label)
    ax.set_xlabel(said[1])
    return ax, own
