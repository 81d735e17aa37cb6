"""Results as the tables that the command prints."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from fewest import _core


def table(result: dict[str, Any]) -> str:
    """The text of a result with the keys of the command's JSON."""
    return _core.table(result).rstrip("\n")


def written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """The text, or, where a file is named, nothing but that file."""
    if path is None:
        return text
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return None


def framed(page: str) -> str:
    """A page in a frame of a notebook, which shows its first part."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" title="result of fewest" '
        'width="100%" height="520" style="border: 1px solid #c9ced6"></iframe>'
    )


class Paged:
    """A result with its page and its JSON; a notebook shows the page."""

    result: dict[str, Any]

    def _repr_html_(self) -> str:
        return framed(_core.page(self.result))

    def report(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The result as one HTML page, which needs no other file: what ``--report`` of the command writes.

        Parameters
        ----------
        path : str or path-like, default=None
            The file. None: the page is returned.

        Returns
        -------
        page : str or None
            The page, where no file is named.
        """
        return written(_core.page(self.result), path)

    def to_json(self) -> str:
        """What ``--json`` of the command writes of the result.

        Returns
        -------
        text : str
            The JSON.
        """
        return json.dumps(self.result, indent=1)


class Told(Paged):
    """A result that prints the tables of its command, too."""

    def __str__(self) -> str:
        """The tables that the command of this name prints."""
        return table(self.result)


def names_of(names: Any, n_features: int) -> list[str]:
    """Names of the features; without any the ones that scikit-learn gives."""
    return [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]


def most_first(names: Sequence[str], *shares: np.ndarray) -> list[dict[str, float]]:
    """Each list of shares by name, without the features of which the first says 0; the largest first."""
    order = np.lexsort((np.arange(len(names)), *(-share for share in reversed(shares))))
    order = order[shares[0][order] > 0]
    return [{names[j]: float(share[j]) for j in order} for share in shares]


def called(estimator: Any) -> str:
    """What a selector is called; of a pipeline or a search the selector inside."""
    inner = getattr(estimator, "estimator", estimator)
    return called(inner.steps[-1][1]) if isinstance(inner, Pipeline) else type(inner).__name__
