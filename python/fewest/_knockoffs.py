"""Which features a method finds more important than random copies of them: the knockoff filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from fewest import _core
from fewest._engine import checked, seed_of
from fewest._evaluate import last_step, routed
from fewest._figure import SECOND, bars, finish
from fewest._frames import in_order, labels_in
from fewest._functions import under_name
from fewest._memory import allowed
from fewest._stability import _is_constant
from fewest._tables import called, names_of, table


@dataclass(frozen=True)
class Knockoffs:
    """What :func:`knockoffs` found; ``print`` shows the tables of ``fewest knockoffs``.

    Parameters
    ----------
    selected : ndarray of int
        The features that stand out from their copies, ascending.
    statistics : ndarray of shape (n_features,)
        The importance of each feature less that of its copy, averaged over the draws.
    evidence : ndarray of shape (n_features,)
        Evidence for each feature (its e-value), averaged over the draws; 0 for constant features.
    thresholds : list of (float or None)
        From which statistic on a draw selects; None: it selects nothing.
    separations : ndarray of shape (n_features,)
        1 less the correlation of each feature with its copy; 0 for constant features. Near 0 a feature
        does not stand out from its copy.
    shrinkage : float
        The share of the correlations between features that was given up, as best on average.
    asked : dict
        What was asked, and of which features, as the table says it: ``method``, ``names`` and so on.
    """

    selected: np.ndarray
    statistics: np.ndarray
    evidence: np.ndarray
    thresholds: list[float | None]
    separations: np.ndarray
    shrinkage: float
    asked: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def plot(self, ax: Any = None, *, max_features: int = 30, figsize: Any = None) -> Any:
        """Draw the statistic of each feature with the threshold, of several draws the evidence; selected ones in colour.

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
        names = names_of(self.asked.get("names"), len(self.statistics))
        one = len(self.thresholds) == 1
        values = self.statistics if one else self.evidence
        axis = "Statistic: the feature less its copy" if one else f"Evidence (e-value) over {len(self.thresholds)} draws"
        said = (f"Knockoff filter at a false discovery rate of {self.asked.get('fdr', 0.2):g}", axis)
        ax, own = bars("Knockoffs.plot", ax, figsize, names, values, self.selected, said, max_features)
        if one and self.thresholds[0] is not None:
            ax.axvline(self.thresholds[0], color=SECOND, linestyle="--", label=f"threshold {self.thresholds[0]:.3g}")
        finish(ax, own, figsize, said[0], 3)
        return ax

    def __str__(self) -> str:
        """The tables that ``fewest knockoffs`` prints."""
        names = names_of(self.asked.get("names"), len(self.statistics))
        copied = self.asked.get("copied", range(len(names)))
        return table(
            {
                "kind": "knockoffs",
                "method": self.asked.get("method"),
                "status": "completed",
                "fdr": self.asked.get("fdr"),
                "n_copied": len(copied),
                "least_selected": self.asked.get("least_selected"),
                "draws": [{} for _ in self.thresholds],
                "separation": sum(self.separations.tolist()) / len(copied),
                "selected": [names[j] for j in self.selected],
                "statistics": {names[j]: float(self.statistics[j]) for j in copied},
                "evidence": {names[j]: float(self.evidence[j]) for j in copied},
            }
        )

    def __repr__(self) -> str:
        return f"Knockoffs(selected {self.selected.tolist()} of {len(self.statistics)} features, {len(self.thresholds)} draws)"


def knockoffs(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    fdr: float = 0.2,
    n_draws: int = 1,
    importance_getter: str | Callable[[Any], Any] = "auto",
    random_state: Any = 0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Knockoffs:
    """The knockoff filter: features that matter, with a bound on the share of false ones.

    What ``fewest knockoffs`` does: each feature gets a random copy, which stands to the other
    features as it does but says nothing of the class. The estimator is fitted to features and copies
    together, and a feature is selected where it is more important than its copy by more than features
    without a meaning are. Of the selected ones at most a share ``fdr`` is false on average, whatever
    the estimator, where the features are normal. A feature is false where, given all others, it says
    nothing of the class. At least ``1 / fdr`` features are selected, or none.

    Parameters
    ----------
    estimator : estimator
        What says how important each column is, or a pipeline that ends with it. It sees twice as many
        columns as X has.
    X : {array-like, data frame} of shape (n_samples, n_features)
        Samples; numbers, none missing.
    y : array-like of shape (n_samples,)
        Labels.
    fdr : float, default=0.2
        Share of the selected features that may be false, on average; in (0, 1).
    n_draws : int, default=1
        How often the copies are drawn. The evidence of several draws is averaged (Ren and Barber
        2024): less depends on chance, each draw selects at ``fdr / 2``.
    importance_getter : {"auto"}, str or callable, default="auto"
        Where the importance of each column is: the name of an attribute, a function of the fitted
        estimator, or ``auto``: ``scores_``, else 1 / ``ranking_`` where it has more than two ranks, else
        ``coef_`` (the largest absolute value), else ``feature_importances_``.
    random_state : int, RandomState instance or None, default=0
        How copies are drawn.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for the estimator. The copies take all samples alike.
    n_jobs : int, default=None
        Draws at a time, as joblib counts.

    Returns
    -------
    found : Knockoffs
        The selected features, statistics, evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from fewest import SVMRFE, knockoffs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 40))
    >>> y = X[:, :8].sum(axis=1) + rng.normal(size=300) > 0
    >>> found = knockoffs(SVMRFE(n_features_to_select=1, C=0.1), X, y, fdr=0.2)
    >>> np.isin(range(8), found.selected).all(), len(found.selected) <= 10
    (np.True_, True)
    """
    if not 0.0 < fdr < 1.0:
        raise ValueError(f"fdr is {fdr}, but must be above 0 and below 1")
    if n_draws < 1:
        raise ValueError(f"n_draws is {n_draws}, but must be at least 1")
    y = labels_in(X, y)
    in_order(X, y=y, sample_weight=sample_weight)
    who = under_name("knockoffs")()
    random_state = seed_of(random_state)
    X, y = checked(who, X, y, dtype=np.float64, accept_sparse=False)
    features = np.flatnonzero(~_is_constant(X))
    if len(features) == 0:
        raise ValueError("every feature has one value only, so that there is nothing to copy")
    limits = {} if (memory := allowed()) is None else {"memory": memory}
    law = _core.Knockoffs(np.asfortranarray(X), features.tolist(), limits)
    run = delayed(_statistics)
    both = (law.draw(random_state, draw, limits) for draw in range(n_draws))
    sample_weight = None if sample_weight is None else np.asarray(sample_weight)
    draws = Parallel(n_jobs=n_jobs)(run(estimator, *copies, y, importance_getter, sample_weight) for copies in both)
    found = _core.knockoff_selection(draws, float(fdr))
    statistics, evidence, separations = np.zeros((3, X.shape[1]))
    statistics[features], evidence[features], separations[features] = found["statistics"], found["evidence"], law.separations
    return Knockoffs(
        selected=features[found["selected"]],
        statistics=statistics,
        evidence=evidence,
        thresholds=found["thresholds"],
        separations=separations,
        shrinkage=law.shrinkage,
        asked={
            "method": called(estimator),
            "names": getattr(who, "feature_names_in_", None),
            "fdr": float(fdr),
            "copied": features.tolist(),
            "least_selected": found["least_selected"],
        },
    )


def _statistics(estimator, both, swapped, y, importance_getter, sample_weight):
    """The importance of each feature less that of its copy."""
    model = clone(estimator)
    weights = {} if sample_weight is None else {routed(model, "sample_weight"): sample_weight}
    model.fit(both, y, **weights)
    importance = np.asarray(_importance(model, importance_getter), dtype=np.float64).ravel()
    if importance.shape != (both.shape[1],):
        raise ValueError(f"{importance.size} importances of {both.shape[1]} columns; name another importance_getter")
    p = len(swapped)
    return (np.where(swapped, -1.0, 1.0) * (importance[:p] - importance[p:])).tolist()


def _importance(model, getter):
    """Of each column."""
    model = last_step(model)
    if callable(getter):
        return getter(model)
    if getter != "auto":
        return getattr(model, getter)
    if hasattr(model, "scores_"):
        return model.scores_
    if len(np.unique(getattr(model, "ranking_", ()))) > 2:
        return 1.0 / np.asarray(model.ranking_)
    if hasattr(model, "coef_"):
        return np.abs(np.atleast_2d(model.coef_)).max(axis=0)
    if hasattr(model, "feature_importances_"):
        return model.feature_importances_
    raise ValueError(f"{type(model).__name__} says nothing of importance; name an attribute or a function as importance_getter")
