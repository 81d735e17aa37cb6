"""Displays in the manner of scikit-learn's; matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fewest._evaluate import fitted_on, joined, seen_by, together
from fewest._figure import FIRST, MUTED, PALE, SECOND, caps, finish, name_rows, new_axes


def _last_step(selector: Any) -> Any:
    """The fitted selector, the last step where it is in a pipeline."""
    selector = selector[-1] if isinstance(selector, Pipeline) else selector
    check_is_fitted(selector)
    return selector


class _Display:
    def _axes(self, ax: Any, figsize: Any, rows: int | None = None) -> Any:
        self._own = ax is None
        ax = new_axes(f"{type(self).__name__}.plot", ax, figsize, rows)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class SelectionPathDisplay(_Display):
    """Cross-validated score by number of features, with one standard error, the size chosen and the bar
    of the one-standard-error rule; of a study the estimate of the outer folds.

    Parameters
    ----------
    n_features : array-like of shape (n_sizes,)
        Sizes, ascending.
    mean_test_score : array-like of shape (n_sizes,)
        Mean score over the splits.
    standard_error : array-like of shape (n_sizes,)
        Standard error of the mean.
    n_features_chosen : int, default=None
        The size chosen.
    estimate : dict, default=None
        What samples say that took no part in the choice: ``mean`` and ``ci95``, as in ``summary_`` of a study.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        What was drawn on.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import SVMRFE, SelectionPathDisplay
    >>> X, y = make_classification(n_features=10, random_state=0)
    >>> display = SelectionPathDisplay.from_estimator(SVMRFE(cv=5).fit(X, y))
    >>> len(display.n_features)
    10
    """

    def __init__(self, *, n_features, mean_test_score, standard_error, n_features_chosen=None, estimate=None):
        self.n_features = np.asarray(n_features)
        self.mean_test_score = np.asarray(mean_test_score)
        self.standard_error = np.asarray(standard_error)
        self.n_features_chosen = n_features_chosen
        self.estimate = estimate

    @classmethod
    def from_estimator(cls, estimator):
        """From a fitted :class:`SVMRFE` with ``cv``, or a :class:`Study`, without drawing.

        Parameters
        ----------
        estimator : SVMRFE or Study
            Fitted, ``SVMRFE`` with ``cv``, or a pipeline that ends with it; scikit-learn's ``RFECV`` is taken,
            too. Of a study it is the accuracy over the inner splits, ``sizes_``, which guided the choice, and beside
            it, as the estimate, that of the outer folds.

        Returns
        -------
        display : SelectionPathDisplay
            The display.
        """
        selector = _last_step(estimator)
        if (sizes := getattr(selector, "sizes_", None)) is not None:
            return cls._from_sizes(selector, sizes)
        if not hasattr(selector, "cv_results_"):
            raise ValueError(f"{type(selector).__name__} has no cv_results_; fit it with cv, such as cv=5")
        return cls.from_cv_results(selector.cv_results_, n_features_chosen=selector.n_features_)

    @classmethod
    def _from_sizes(cls, study, sizes):
        if not sizes:
            raise ValueError(f"{type(study).__name__} has no sizes to show: it was stopped before any was judged; raise time_limit")
        panel = None if study.panels_ is None else study.panels_[study.prefer]
        return cls(
            n_features=[size["max_features"] for size in sizes],
            mean_test_score=[size["accuracy"] for size in sizes],
            standard_error=[size["se"] or 0.0 for size in sizes],
            n_features_chosen=panel and panel["max_features"],
            estimate=study.summary_["accuracy"],
        )

    @classmethod
    def from_cv_results(cls, cv_results, *, n_features_chosen=None):
        """From ``cv_results_``, without drawing.

        Parameters
        ----------
        cv_results : dict of ndarray
            With ``n_features``, ``mean_test_score`` and ``split{i}_test_score``.
        n_features_chosen : int, default=None
            The size chosen.

        Returns
        -------
        display : SelectionPathDisplay
            The display.
        """
        splits = np.array([cv_results[key] for key in cv_results if key.startswith("split") and key.endswith("_test_score")])
        count = len(splits)
        error = splits.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(splits.shape[1])
        return cls(
            n_features=cv_results["n_features"],
            mean_test_score=cv_results["mean_test_score"],
            standard_error=error,
            n_features_chosen=n_features_chosen,
        )

    def plot(self, ax=None, *, line_kw=None, fill_kw=None, figsize=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure.
        line_kw : dict, default=None
            For matplotlib, of the line of the mean: ``{"color": "k"}``.
        fill_kw : dict, default=None
            For matplotlib, of the area beside it.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: "single" and "double" are the columns of a journal, 85 and 170 mm wide with text of 7
            points; or width and height in inches. None: as wide as matplotlib has it.

        Returns
        -------
        display : SelectionPathDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = self._axes(ax, figsize)
        mean, error, sizes = self.mean_test_score, self.standard_error, self.n_features
        outer = (self.estimate or {}).get("mean")
        fill = {"alpha": 0.2, "color": FIRST, "label": "one standard error", **(fill_kw or {})}
        ax.fill_between(sizes, mean - error, mean + error, **fill)
        inner = "mean test score" if outer is None else "inner folds, which guided the choice"
        ax.plot(sizes, mean, **{"label": inner, "color": FIRST, "marker": "o", "markersize": 4, **(line_kw or {})})
        best = int(mean.argmax())
        if outer is None:
            ax.axhline(mean[best] - error[best], linestyle=":", color=MUTED, label="best less one standard error")
        if self.n_features_chosen is not None:
            ax.axvline(self.n_features_chosen, linestyle="--", color=MUTED, label=f"chosen: {self.n_features_chosen}")
        if outer is not None:
            at = sizes.max() if self.n_features_chosen is None else self.n_features_chosen
            low, high = self.estimate.get("ci95") or (None, None)
            label = "outer folds: the estimate (95 % interval)"
            caps(ax, [at], [outer], [low], [high], upright=True, fmt="D", color=SECOND, capsize=4, elinewidth=2, zorder=4, label=label)
        if sizes.max() > 50 * max(sizes.min(), 1) or (
            sizes.max() >= 10 * max(sizes.min(), 1) and len(sizes) <= sizes.max() - sizes.min()
        ):
            ax.set_xscale("log")
        if len(sizes) <= 12:
            ax.set_xticks(sizes, [str(size) for size in sizes], minor=False)
            ax.set_xticks([], minor=True)
        ax.set(xlabel="Number of features", ylabel="Score" if outer is None else "Accuracy")
        finish(ax, self._own, figsize, f"{ax.get_ylabel()} by number of features", 1)
        return self


class SearchDisplay(_Display):
    """Objective of the best subset and proven bound over time: the gap between them is not closed
    yet.

    Parameters
    ----------
    time : array-like of shape (n_events,)
        Seconds, ascending.
    objective : array-like of shape (n_events,)
        Objective of the best subset at that time; NaN before there is one.
    bound : array-like of shape (n_events,)
        The proven bound; NaN before there is one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        What was drawn on.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import ExactSelector, SearchDisplay
    >>> X, y = make_classification(n_features=15, random_state=0)
    >>> display = SearchDisplay.from_estimator(ExactSelector(n_features_to_select=3).fit(X, y))
    >>> bool(display.bound[-1] <= display.objective[-1])
    True
    """

    def __init__(self, *, time, objective, bound):
        self.time, self.objective, self.bound = np.asarray(time), np.asarray(objective), np.asarray(bound)

    @classmethod
    def from_estimator(cls, estimator):
        """From the ``trace_`` of a fitted selector, without drawing.

        Parameters
        ----------
        estimator : object
            A fitted selector of fewest, or a pipeline that ends with one.

        Returns
        -------
        display : SearchDisplay
            The display.
        """
        selector = _last_step(estimator)
        trace = selector.trace_
        if "objective" not in trace:
            raise ValueError(f"{type(selector).__name__} is many searches, of which none is shown; take a selector of its method_")
        if np.isfinite([trace["objective"], trace["bound"]]).sum() < 2:
            raise ValueError(f"{type(selector).__name__} has no search to show; its trace_ has fewer than two values")
        return cls(time=trace["time"], objective=trace["objective"], bound=trace["bound"])

    def plot(self, ax=None, *, line_kw=None, fill_kw=None, figsize=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure.
        line_kw : dict, default=None
            For matplotlib, of the line of the objective: ``{"color": "k"}``.
        fill_kw : dict, default=None
            For matplotlib, of the area beside it.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure, as in :meth:`SelectionPathDisplay.plot`.

        Returns
        -------
        display : SearchDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = self._axes(ax, figsize)
        both = np.isfinite(self.objective) & np.isfinite(self.bound)
        fill = {"step": "post", "alpha": 0.2, "color": PALE, "label": "not decided", **(fill_kw or {})}
        ax.fill_between(self.time[both], self.bound[both], self.objective[both], **fill)
        ax.step(self.time, self.objective, **{"where": "post", "label": "best subset", "color": FIRST, **(line_kw or {})})
        ax.step(self.time, self.bound, where="post", label="bound: no subset is below", color=SECOND, linestyle="--")
        ax.set(xlabel="Time [s]", ylabel="Objective")
        finish(ax, self._own, figsize, "Best subset and bound over time", 1)
        return self


class StabilityDisplay(_Display):
    """How often each feature is selected on random halves of the samples, or in the outer folds of a study.

    Parameters
    ----------
    frequency : array-like of shape (n_features,)
        Share of the subsamples in which a feature was selected.
    names : array-like of str of shape (n_features,)
        Names of the features.
    stability : float
        Nogueira's measure of stability, at most 1; 0 is what chance gives.
    of : str, default="subsamples"
        What the shares are of.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        What was drawn on.

    References
    ----------
    .. [1] Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18, 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import StabilityDisplay, SVMRFE
    >>> X, y = make_classification(n_features=10, random_state=0)
    >>> display = StabilityDisplay.from_estimator(SVMRFE(n_features_to_select=2), X, y, n_splits=10, random_state=0)
    >>> bool(display.frequency.sum() == 2)
    True
    """

    def __init__(self, *, frequency, names, stability, of="subsamples"):
        self.frequency, self.names, self.stability, self.of = np.asarray(frequency), np.asarray(names), stability, of

    @classmethod
    def from_study(cls, study):
        """From the outer folds of a fitted :class:`Study`, without drawing.

        Parameters
        ----------
        study : Study
            Fitted, or a pipeline that ends with one.

        Returns
        -------
        display : StabilityDisplay
            The features that an outer fold chose.
        """
        study = _last_step(study)
        chosen = np.flatnonzero(study.frequency_ > 0)
        names, index = study._names(), (study.stability_ or {}).get("index", float("nan"))
        return cls(frequency=study.frequency_[chosen], names=[names[j] for j in chosen], stability=index, of="outer folds")

    @classmethod
    def from_estimator(cls, estimator, X, y, *, n_splits=50, share=0.5, random_state=None, n_jobs=None):
        """Select on random subsamples of each class; the runs go through joblib (any of its
        backends, Dask's too).

        Parameters
        ----------
        estimator : object
            A selector, or a pipeline that ends with one, which is cloned.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        n_splits : int, default=50
            Subsamples, at least 2.
        share : float, default=0.5
            Share of the samples in each, above 0 and below 1.
        random_state : int, RandomState instance or None, default=None
            Of the subsamples.
        n_jobs : int, default=None
            Runs at a time, as scikit-learn counts.

        Returns
        -------
        display : StabilityDisplay
            The display.
        """
        from sklearn.model_selection import StratifiedShuffleSplit
        from sklearn.utils.parallel import Parallel, delayed

        X, y = together(X, y)
        seed = check_random_state(random_state).randint(2**31 - 1)
        splits = StratifiedShuffleSplit(n_splits=n_splits, train_size=share, random_state=seed).split(np.zeros(len(y)), y)

        def run(train):
            model = clone(estimator)
            chooser = fitted_on(model, X, y, train)
            return chooser.get_support(indices=True), seen_by(model, chooser)

        runs = Parallel(n_jobs=n_jobs)(delayed(run)(train) for train, _ in splits)
        size, names, places = joined([seen for _, seen in runs])
        supports = np.zeros((len(runs), size), dtype=bool)
        for support, (chosen, _), place in zip(supports, runs, places, strict=True):
            support[place[chosen]] = True
        if names is None:
            names = runs[0][1][1]
        names = [f"x{j}" for j in range(size)] if names is None else list(names)
        return cls(frequency=supports.mean(axis=0), names=names, stability=_stability(supports))

    def plot(self, ax=None, *, max_features=30, bar_kw=None, figsize=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure, with a row for each feature.
        max_features : int, default=30
            At most this many features are shown, the most frequent first.
        bar_kw : dict, default=None
            For matplotlib, of the bars.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure, as in :meth:`SelectionPathDisplay.plot`.

        Returns
        -------
        display : StabilityDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        order = np.argsort(-self.frequency, kind="stable")[:max_features]
        ax = self._axes(ax, figsize, len(order))
        places = name_rows(ax, self.names[order])
        ax.barh(places, self.frequency[order], **{"color": FIRST, "height": 0.72, **(bar_kw or {})})
        known = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        ax.set(xlabel=f"Share of {self.of}", xlim=(0, 1))
        finish(ax, self._own, figsize, f"Features by share of {self.of}{known}")
        return self


class DecisionCurveDisplay(_Display):
    """What acting on the probabilities of a study is worth in the outer folds, by threshold.

    Parameters
    ----------
    threshold : array-like of shape (n_thresholds,)
        Probability from which a sample is acted on.
    net_benefit : array-like of shape (n_thresholds,)
        Net benefit: the share of true positives less that of false ones, these weighed by the odds of the threshold.
    treat_all : array-like of shape (n_thresholds,)
        The same of acting on all samples.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        What was drawn on.

    References
    ----------
    .. [1] Vickers, Elkin, "Decision curve analysis", Medical Decision Making 26, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewest import DecisionCurveDisplay, Study
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> study = Study(sizes=2, cv=3, n_repeats=1, inner_cv=3, n_Cs=4, methods=["rfe"]).fit(X[:200], y[:200])
    >>> display = DecisionCurveDisplay.from_estimator(study)
    >>> len(display.threshold)
    99
    """

    def __init__(self, *, threshold, net_benefit, treat_all):
        self.threshold, self.net_benefit, self.treat_all = np.asarray(threshold), np.asarray(net_benefit), np.asarray(treat_all)

    @classmethod
    def from_estimator(cls, estimator):
        """From ``decision_curve_`` of a fitted :class:`Study` of two classes, without drawing.

        Parameters
        ----------
        estimator : Study
            Fitted, or a pipeline that ends with one.

        Returns
        -------
        display : DecisionCurveDisplay
            The display.
        """
        study = _last_step(estimator)
        curve = getattr(study, "decision_curve_", None)
        if not curve:
            raise ValueError(f"{type(study).__name__} has no decision curve; a Study of two classes with probabilities has one")
        return cls(**{name: [point[name] for point in curve] for name in ("threshold", "net_benefit", "treat_all")})

    def plot(self, ax=None, *, line_kw=None, figsize=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure.
        line_kw : dict, default=None
            For matplotlib, of the line of the study: ``{"color": "k"}``.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure, as in :meth:`SelectionPathDisplay.plot`.

        Returns
        -------
        display : DecisionCurveDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = self._axes(ax, figsize)
        ours = {"color": FIRST, "linewidth": 2, "label": "acting on the probabilities of the panel", **(line_kw or {})}
        ax.plot(self.threshold, self.net_benefit, **ours)
        ax.plot(self.threshold, self.treat_all, color=SECOND, linestyle="--", label="acting on all")
        ax.axhline(0.0, color=MUTED, linestyle=":", label="acting on none")
        top = max(self.net_benefit.max(), self.treat_all.max())
        ax.set(xlabel="Threshold of the probability", ylabel="Net benefit", xlim=(0, 1), ylim=(-0.15 * top, 1.05 * top))
        finish(ax, self._own, figsize, "Decision curve, outer folds", 1)
        return self


def _stability(supports: np.ndarray) -> float:
    """Nogueira, Sechidis, Brown 2018, eq. (4), for runs x features; 1 where every run selects the
    same, all or nothing.
    """
    runs, p = supports.shape
    share = supports.mean(axis=0)
    size = share.sum() / p
    if runs < 2 or size in (0.0, 1.0):
        return 1.0
    variance = runs / (runs - 1) * share * (1 - share)
    return float(1 - variance.mean() / (size * (1 - size)))
