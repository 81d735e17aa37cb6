"""What a selector selects on halves of the samples again and again, with a bound on false features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone

from fewest import _core
from fewest._base import Selector
from fewest._engine import seed_of, summed
from fewest._estimator import tags_of
from fewest._evaluate import fitted_on, joined, seen_by, together
from fewest._figure import SECOND, bars, finish
from fewest._folds import coded_groups, said_groups
from fewest._rules import Rules
from fewest._tables import called, most_first, names_of, table

#: What may be assumed, the weakest first.
_LAWS = ("any", "unimodal", "r-concave")


@dataclass(frozen=True)
class Stability:
    """What :func:`stability` found; ``print`` shows the tables of ``fewest stability``.

    Parameters
    ----------
    selected : ndarray of int
        The stable features, ascending.
    frequency : ndarray of shape (n_features,)
        Share of the halves that select each feature.
    both_halves : ndarray of shape (n_features,)
        Share of the pairs of which both halves select it.
    threshold : float or None
        Share of the halves from which on a feature is stable; None: not even all halves agreeing keep
        ``max_false``.
    false_selections : dict
        Expected number of false features among the stable ones, at most, by assumption: ``any``,
        ``unimodal``, ``r-concave``; empty without a threshold.
    chance : float
        A feature is false where a half selects it with at most this probability: what a half selects,
        at most where the selector says how many, else on average, as a share of the features that can
        be selected.
    stability : dict or None
        How alike the subsets of the halves are: ``index`` (Nogueira, Sechidis and Brown 2018) and
        ``ci95``.
    pairs : list of tuple of ndarray
        What both halves of each pair select.
    feature_names : ndarray of str or None
        Names of the features that all this counts, where the estimator makes them again in each half:
        those that any half has. None: they are the same in each.
    asked : dict
        What was asked, and of which features, as the table says it: ``method``, ``names`` and so on.
    """

    selected: np.ndarray
    frequency: np.ndarray
    both_halves: np.ndarray
    threshold: float | None
    false_selections: dict[str, float]
    chance: float
    stability: dict[str, Any] | None
    pairs: list[tuple[np.ndarray, np.ndarray]]
    feature_names: np.ndarray | None = None
    asked: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def plot(self, ax: Any = None, *, max_features: int = 30, figsize: Any = None) -> Any:
        """Draw the share of halves that select each feature, stable ones in colour, and the threshold.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure, with a row for each feature.
        max_features : int, default=30
            At most this many features are shown, the largest first.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on.
        """
        names = names_of(self.asked.get("names"), len(self.frequency))
        said = ("Features by share of halves that selected them", "Share of halves")
        ax, own = bars("Stability.plot", ax, figsize, names, self.frequency, self.selected, said, max_features)
        if self.threshold is not None:
            ax.axvline(self.threshold, color=SECOND, linestyle="--", label=f"threshold {self.threshold:.3g}")
        ax.set_xlim(0, 1)
        finish(ax, own, figsize, said[0], 3)
        return ax

    def __str__(self) -> str:
        """The tables that ``fewest stability`` prints."""
        names, said = names_of(self.asked.get("names"), len(self.frequency)), self.asked
        frequency, both = most_first(names, self.frequency, self.both_halves)
        count, most = said.get("candidates", (len(self.frequency), None))
        sizes = [len(half) for pair in self.pairs for half in pair]
        return table(
            {
                "kind": "stability",
                "method": said.get("method"),
                "status": "completed",
                "selected": [names[j] for j in self.selected],
                "threshold": self.threshold,
                "false_selections": {
                    "bound": self.false_selections.get(said.get("assume", "any")),
                    "assumption": said.get("assume", "any"),
                    "by_assumption": self.false_selections,
                    "features_per_half": sum(sizes) / max(len(sizes), 1) if most is None else most,
                    "features_per_half_is": "mean" if most is None else "most",
                    "candidates": count,
                },
                "frequency": frequency,
                "both_halves": both,
                "pairs": [{} for _ in self.pairs],
                "n_samples": said.get("n_samples"),
                "settings": {"max_false": said.get("max_false"), **said.get("settings", {})},
            }
        )

    def __repr__(self) -> str:
        bound = "".join(f", at most {most:.3g} false expected ({law})" for law, most in list(self.false_selections.items())[-1:])
        threshold = "no threshold" if self.threshold is None else f"threshold {self.threshold:.3g}"
        return f"Stability({len(self.pairs)} pairs of halves: selected {self.selected.tolist()}, {threshold}{bound})"


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_pairs: int = 50,
    threshold: float | None = None,
    max_false: float = 1.0,
    assume: str = "r-concave",
    random_state: Any = 0,
    groups: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Complementary pairs stability selection with any selector (Shah and Samworth 2013).

    What ``fewest stability`` does: the samples are dealt into two halves ``n_pairs`` times, the
    estimator selects on each half alone, and a feature is stable where at least a share ``threshold``
    of the halves selects it. The expected number of false features among these is bounded, whatever
    the selector. Put a scaler before the selector in a pipeline, so that each half is scaled by itself.

    Parameters
    ----------
    estimator : estimator
        A selector, a pipeline that ends with one, or a search over either.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels, at least two of each.
    n_pairs : int, default=50
        Pairs of halves.
    threshold : float, default=None
        Share of the halves, above 0.5, up to 1; None: the smallest that keeps ``max_false``.
    max_false : float, default=1.0
        Expected number of false features that may be among the stable ones; used without a
        ``threshold``.
    assume : {"any", "unimodal", "r-concave"}, default="r-concave"
        What is assumed of the shares of halves that select a false feature: nothing, that they have
        one mode, or that they fall off as in all experiments of the paper.
    random_state : int, RandomState instance or None, default=0
        How samples are dealt into halves.
    groups : array-like of shape (n_samples,), default=None
        The group of each sample, such as a person or a batch: samples of one group stay together, in the
        halves and in the folds that a selector deals inside them (``cv``, ``C="auto"``).
    sample_weight : array-like of shape (n_samples,), default=None
        How many samples each counts as in training, 0 or more.
    n_jobs : int, default=None
        Pairs at a time, as joblib counts.

    Returns
    -------
    found : Stability
        The stable features, how often each was selected, the bounds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fewest import SVMRFE, stability
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=5, C=0.1))
    >>> found = stability(model, X, y, n_pairs=20)
    >>> found.false_selections["r-concave"] <= 1.0, 20 in found.selected
    (True, True)
    """
    if threshold is not None and not 0.5 < threshold <= 1.0:
        raise ValueError(f"threshold is {threshold}, but must be above 0.5 and at most 1")
    if not max_false > 0.0:
        raise ValueError(f"max_false is {max_false}, but must be above 0")
    if assume not in _LAWS:
        raise ValueError(f"assume is {assume!r}, but must be one of {', '.join(_LAWS)}")
    if n_pairs < 1:
        raise ValueError(f"n_pairs is {n_pairs}, but must be at least 1")
    named_groups = groups
    X, y, groups, sample_weight = together(X, y, groups=groups, sample_weight=sample_weight)
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError(f"class {classes[counts.argmin()]} has one sample, so that one half has none of it; leave that class out")
    of = None if groups is None else coded_groups(X, groups, len(y))
    halves = _core.halves(codes.ravel().astype(np.uint32), len(classes), n_pairs, seed_of(random_state), of)
    run = delayed(_pair)
    found = Parallel(n_jobs=n_jobs)(run(estimator, X, y, pair, sample_weight, groups) for pair in halves)
    p, names, places = joined([seen for _, of_halves, _ in found for seen in of_halves])
    halves_of = [half for pair, *_ in found for half in pair]
    chosen = [place[half] for half, place in zip(halves_of, places, strict=True)]
    pairs = list(zip(chosen[::2], chosen[1::2], strict=True))
    # Features that no half can select do not count: the bound would be too small.
    candidates = max((of_pair for *_, of_pair in found), key=lambda one: one[0])
    listed = [[sorted(half.tolist()) for half in pair] for pair in pairs]
    said = _core.stability_selection(listed, p, candidates, threshold, float(max_false), assume)
    return Stability(
        selected=np.asarray(said["selected"], dtype=int),
        frequency=np.asarray(said["frequency"]),
        both_halves=np.asarray(said["both_halves"]),
        threshold=said["threshold"],
        false_selections=said["false_selections"],
        chance=said["chance"],
        stability=said["stability"],
        pairs=pairs,
        feature_names=names,
        asked={
            "method": called(estimator),
            "names": found[0][1][0][1] if names is None else names,
            "assume": assume,
            "candidates": candidates,
            "n_samples": len(y),
            "max_false": float(max_false),
            "settings": said_groups(named_groups, of),
        },
    )


def _pair(estimator, X, y, halves, sample_weight, groups):
    """What both halves select, what features the selector saw in each, and what it may select."""
    selected, seen, candidates = [], [], []
    for rows in halves:
        model = clone(estimator)
        selector = fitted_on(model, X, y, rows, sample_weight, groups)
        selected.append(np.flatnonzero(selector.get_support()))
        seen.append(seen_by(model, selector))
        candidates.append(_candidates(selector, X))
    return tuple(selected), seen, max(candidates, key=lambda one: one[0])


def _candidates(selector, X):
    """Features that are neither forbidden nor, where the selector sees X as it is, constant, and the
    most of them that a selector of ours may keep; None: it finds a size by itself.
    """
    p = selector.n_features_in_
    constant = np.flatnonzero(_is_constant(X)).tolist() if getattr(X, "shape", (0, 0))[1] == p else []
    if not isinstance(selector, Selector) or tags_of(selector).chooses_size:
        rules = getattr(selector, "rules", None) or Rules()
        return _core.candidates(rules._resolved(p, getattr(selector, "feature_names_in_", None), None), p, constant, False)
    with warnings.catch_warnings():
        # The fit has said them.
        warnings.simplefilter("ignore")
        rules = selector._rules(p)
    sized = rules["max_features"] is not None or (selector.rules or Rules())._bound_size
    return _core.candidates(rules, p, constant, sized)


def _is_constant(X):
    """Whether each column has one value only."""
    if sparse.issparse(X):
        X = summed(X)
        return (X.max(axis=0) - X.min(axis=0)).toarray().ravel() == 0
    values = np.asarray(X)
    return (values == values[:1]).all(axis=0)
