"""From data to a panel: method, costs and size chosen inside folds."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fewest import _core
from fewest._base import Selector
from fewest._call import limited
from fewest._columns import ColumnFile
from fewest._constraints import AT_LEAST_ONE, stores_arguments
from fewest._docs import completes_doc
from fewest._engine import Listener, Samples, bias_of, is_elsewhere, limits_of, seed_of, svm_of, warn_of_limit
from fewest._folds import said_groups
from fewest._frames import in_order, is_annotated, labels_in, named
from fewest._path import sizes_of
from fewest._positive import is_first, of_second, turned_bounds
from fewest._preparation import Preparation
from fewest._probabilities import agreeing, of_classes
from fewest._read import Coding, has_texts
from fewest._rules import Rules
from fewest._svc import SVC
from fewest._tables import table
from fewest._warn import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from fewest._engine import Progress

#: Methods that a study can try.
METHODS = ("exact", "rfe", "info-gain", "kta")
#: What the engine calls scores by.
SCORES = {"roc_auc": "auc", "log_loss": "log-loss"}
#: Sizes where none are given.
MOST = 10


class Absent:
    """A method of selectors that a study does not have, and why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __get__(self, study: object, owner: type | None = None) -> None:
        raise AttributeError(self.why)


class Study(Selector):
    """From data to a panel of features that can be defended: method, costs and size are chosen inside
    folds, and judged on the samples outside.

    Inside each outer fold the data are scaled, and every method, cost of selecting, cost of the
    classifier and size is tried on inner folds; what the rule takes is judged on the samples held
    out. Then the same choice is made on all samples: that is the panel, with a proof of how good it
    is. So ``summary_`` tells of the entire procedure on samples that none of it has seen. ``print`` of a
    fitted study shows what ``fewest study`` prints.

    Parameters
    ----------
    sizes : int or sequence of int, default=None
        Numbers of features to choose from, ascending; an int: from 1 to it. None: from 1 to 10.
    methods : "auto" or sequence of {"exact", "rfe", "info-gain", "kta"}, default="auto"
        Methods to try; "auto": those that suit the data, and where rules bound weights those that keep
        the bounds.
    scoring : {"combined", "accuracy", "roc_auc", "log_loss", "hinge"}, default="hinge"
        What candidates are judged by on the inner folds; the first is the mean of the others, with
        1 - log-loss and 1 - hinge.
    pick : {"best", "smooth", "one_se", "small_cost", "stable"}, default="smooth"
        Which one is taken: of the best mean score; of the best after averaging with the neighbours on
        the grid of costs and sizes of one feature more or fewer; of the smallest size and costs within
        one standard error of the best; of the smallest costs there at the size of the best; of the
        most stable subsets there.
    calibration : {"platt", "isotonic", "none"}, default="platt"
        How decision values of samples held out become probabilities, of more than two classes pair by
        pair: by a sigmoid, by any function that never falls (for many samples), or not at all.
    pos_label : bool, int, float or str, default=None
        The class of two that ``f1``, ``sensitivity`` and ``specificity``, the probabilities in ``folds_``,
        ``decision_curve_`` and ``threshold_`` are of; what ``--positive`` is to the command. Decision values,
        weights and signs of weights speak for ``classes_[1]`` whatever it is. None: ``classes_[1]``.
    sensitivity : float, default=None
        Share of the positive class that is to be found, above 0, up to 1: decision values are cut where so
        many of the samples held out inside the folds are found, in each outer fold and for the panel.
        ``summary_["sensitivity"]`` says what comes of it on samples not seen. None: they are cut at 0.
    cv : int, default=5
        Outer folds.
    n_repeats : int, default=2
        Times the outer folds are dealt.
    inner_cv : int, default=5
        Folds inside each training part.
    n_inner_repeats : int, default=1
        Times the inner folds are dealt.
    n_Cs : int, default=8
        Costs on the grid, from 1e-4 to 1e2 times 1 / mean \\|x\\|^2 of the scaled training samples.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        What stands in for missing values (NaN), learnt in each training part; the features that a column of
        text became are filled in together. None: missing values are an error.
    scale : {"standard", "maxabs", "none"}, default=None
        How features are scaled inside the folds. None: "standard" for dense X; for sparse X what
        ``fewest study`` takes.
    n_solutions : int, default=5
        How many best subsets to list beside the panel.
    gap : float, default=1e-4
        The search for the panel ends where at most this share of what features can gain over none is
        left open.
    node_limit : int, default=20000
        The proof of the panel ends after this many nodes.
    selection_time_limit : float, default=None
        Seconds that one selection may take. None: no limit but that of the study.
    compare_rules : bool, default=False
        Whether every other ``scoring`` and ``pick`` is judged on the outer folds, too, which takes
        longer; ``folds_`` has them as ``rules``.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced" as the selectors have it, in each training part.
    time_limit : float, default=600.0
        Seconds for all of it; None: no limit.
    random_state : int, RandomState instance or None, default=0
        How samples are dealt into folds.

    Attributes
    ----------
    summary_ : dict
        Mean, ``se`` and ``ci95`` of each measure over the outer folds: accuracy, balanced_accuracy,
        f1, mcc, auc, log_loss, brier, n_features; of two classes sensitivity and specificity, the shares
        of the positive class and of the other one that are classified right.
    recall_ : dict
        The share of each class that is classified right over the outer folds, as ``summary_`` has it; None
        for a class that none held out.
    decision_curve_ : list of dict or None
        For thresholds p of the probability from 0.01 to 0.99 what acting on the samples above it is worth in
        the outer folds: ``net_benefit``, TP / n - FP / n * p / (1 - p) (Vickers and Elkin 2006), beside
        ``treat_all`` and ``treat_none``. None without probabilities, or for more classes than two.
    threshold_ : dict or None
        With ``sensitivity``: ``value``, what the intercept of the classifier was shifted by, down by it, and
        ``trained_intercept``, the one before; weights and what is proven are those of the SVM as trained.
    folds_ : list of dict
        Every outer fold: what was chosen there, the features, the samples held out and how they were
        classified.
    frequency_ : ndarray of shape (n_features,)
        Share of the outer folds that chose each feature.
    stability_ : dict or None
        How alike their subsets are: ``index`` (Nogueira, Sechidis and Brown 2018) and ``ci95``.
    method_ : str
        The method that chose the panel.
    C_ : float or None
        Its cost; None for a method without one.
    fit_C_ : float
        The cost of the classifier.
    tried_ : list of dict
        Every method on all samples at its best.
    swaps_ : list of dict
        What could replace each feature of the panel.
    certificate_ : dict or None
        How far the panel is from the best subset of its size, for a linear method that proves
        nothing itself.
    center_, scale_ : ndarray of shape (n_selected,)
        What is subtracted from the panel's features, and what they are divided by.
    fill_ : ndarray of shape (n_selected,) or None
        What stands in for their missing values before that; None without ``impute``.
    estimator_ : SVC
        The classifier on the panel's features, scaled.
    coef_ : ndarray of shape (n_machines, n_features)
        Its weights for scaled features, 0 for the features that are not selected.
    objective_ : float
        Objective of the method on the panel.

    See Also
    --------
    ExactSelector : One method at given costs and size.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewest import Study
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> study = Study(sizes=3, cv=3, n_repeats=1, inner_cv=3, n_Cs=4, methods=["rfe"]).fit(X[:200], y[:200])
    >>> bool(study.summary_["accuracy"]["mean"] > 0.85), bool(study.n_features_ <= 3)
    (True, True)
    """

    _page = "docs/study.md"

    _parameter_constraints = {
        "sizes": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "methods": [StrOptions({"auto"}), "array-like"],
        "scoring": [StrOptions({"combined", "accuracy", "roc_auc", "log_loss", "hinge"})],
        "pick": [StrOptions({"best", "smooth", "one_se", "small_cost", "stable"})],
        "calibration": [StrOptions({"platt", "isotonic", "none"})],
        "pos_label": [Real, str, "boolean", None],
        "sensitivity": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": AT_LEAST_ONE,
        "inner_cv": [Interval(Integral, 2, None, closed="left")],
        "n_inner_repeats": AT_LEAST_ONE,
        "n_Cs": AT_LEAST_ONE,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE,
        "selection_time_limit": [Interval(Real, 0.0, None, closed="left"), None],
        "compare_rules": ["boolean"],
        "impute": [StrOptions({"mean", "median", "most_frequent"}), None],
        "scale": [StrOptions({"standard", "maxabs", "none"}), None],
        "random_state": ["random_state"],
        # The engine has no other weights that it finds in a training part.
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }
    _binary_only = False

    @stores_arguments
    def __init__(
        self,
        *,
        sizes: int | Sequence[int] | None = None,
        rules: Rules | None = None,
        methods: str | Sequence[str] = "auto",
        scoring: str = "hinge",
        pick: str = "smooth",
        calibration: str = "platt",
        pos_label: Any = None,
        sensitivity: float | None = None,
        cv: int = 5,
        n_repeats: int = 2,
        inner_cv: int = 5,
        n_inner_repeats: int = 1,
        n_Cs: int = 8,
        impute: str | None = None,
        scale: str | None = None,
        n_solutions: int = 5,
        gap: float = 1e-4,
        node_limit: int = 20000,
        selection_time_limit: float | None = None,
        compare_rules: bool = False,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        tol: float = 1e-6,
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = 600.0,
        random_state: Any = 0,
        on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...

    @_fit_context(prefer_skip_nested_validation=True)
    @completes_doc
    @limited
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Choose inside folds, judge outside, and do the same on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples, not scaled: that is done inside the folds. Of a frame with columns of text,
            categories or truth values these become features of 0 and 1 (``colour=red``), and dates are
            left out with a warning, as ``fewest study`` has it; ``feature_names_in_`` has the features.
        groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as a person or a batch: samples of one group stay together in
            the outer folds and in those inside.

        Returns
        -------
        self : object
            Fitted.
        """
        self._groups = groups
        try:
            return self._run(self._with_groups(self._validated(X, y, None), X, groups))
        finally:
            del self._groups

    @property
    def _deals_folds(self) -> bool:
        return True

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        self._coding: Coding | None = None
        if is_elsewhere(X) or isinstance(X, ColumnFile):
            return super()._validated(X, y, sample_weight)
        y, frame = labels_in(X, y), named(X)
        if not has_texts(frame):
            # An AnnData has names of its samples.
            return super()._validated(X if is_annotated(X) else frame, y, sample_weight)
        in_order(X, y=y)
        coding = Coding(frame)
        for note in coding.warnings:
            warn(note)
        features, coding.features = coding.features, None
        samples = super()._validated(features, y, sample_weight)
        self._coding = coding
        return samples

    def _coded(self, X: Any) -> Any:
        coding = getattr(self, "_coding", None)
        if coding is None or not has_texts(frame := named(X)):
            return X
        features, notes = coding.apply(frame)
        for note in notes:
            warn(note)
        return features

    def _fit(self, samples: Samples) -> None:
        begun, p = monotonic(), samples.X.shape[1]
        names = [str(label) for label in samples.classes.tolist()]
        # Measures are of the engine's second class.
        first = is_first(self.pos_label, samples.classes)
        if self.sensitivity is not None and len(names) != 2:
            raise ValueError(f"sensitivity is that of one of two classes, but there are {len(names)}: {names}; leave it out")
        limits = limits_of(self, self.time_limit, gap=float(self.gap))
        listener = Listener(self, samples, int(self.verbose), self.callback)
        wanted = listener if listener.wanted else None
        codes = (1 - samples.codes.astype(np.int64)).astype(np.uint32) if first else samples.codes
        asked = self._settings(samples, p, first)
        answer = _core.study(samples.matrix, codes, names[::-1] if first else names, asked, limits, wanted, samples.groups)
        answer = of_second(answer) if first else answer
        warn_of_limit(self, answer, "This is what is known so far.")
        self._set_study(answer, p)
        counts = np.bincount(samples.codes, minlength=len(names)).tolist()
        self._told = {
            "status": answer["status"],
            "classes": {str(code): name for code, name in enumerate(names)},
            "positive": names[0 if first else 1] if len(names) == 2 else None,
            "class_counts": {str(code): count for code, count in enumerate(counts)},
            "n_samples": sum(counts),
            "panel": answer["panel"],
            "effort": answer["effort"],
            "sizes": answer["inner"],
            "settings": {"folds": int(self.cv), "repeats": int(self.n_repeats), **said_groups(self._groups, samples.groups)},
            "seconds": monotonic() - begun,
        }
        self._train(samples, answer["panel"])

    def __str__(self) -> str:
        """The summary that ``fewest study`` prints; what it is made of, where it is not fitted."""
        if not hasattr(self, "_told"):
            return repr(self)
        p = len(self.support_)
        names, panel = self._names(), self._told["panel"]
        result = self._told | {
            "kind": "study",
            "n_features": p,
            "panel": None if panel is None else _named(panel, names),
            "summary": self.summary_,
            "recall": {str(label): recall for label, recall in self.recall_.items()},
            "stability": self.stability_,
            "folds": [{} for _ in self.folds_],
            "frequency": {names[j]: float(self.frequency_[j]) for j in np.flatnonzero(self.frequency_)},
            "tried": [tried | tried["choice"] for tried in self.tried_],
        }
        return table(result)

    def _settings(self, samples: Samples, p: int, first: bool) -> dict[str, Any]:
        """What the engine is asked to do; where the ``first`` class is positive, with both in the other order."""
        rules = self.rules or Rules()
        if rules.max_features is not None:
            raise ValueError(
                f"rules say max_features={rules.max_features}, but a study chooses the size; say sizes={rules.max_features}"
            )
        methods = [] if isinstance(self.methods, str) else [str(method) for method in self.methods]
        if unknown := sorted(set(methods) - set(METHODS)):
            raise ValueError(f"methods has {unknown}, but must be of {list(METHODS)}")
        weights: Any = "balanced" if self.class_weight == "balanced" else "none"
        if isinstance(self.class_weight, dict):
            weights = {"each": [float(self.class_weight.get(label, 1.0)) for label in samples.classes.tolist()]}
        resolved = rules._resolved(p, getattr(self, "feature_names_in_", None), None)
        if first:
            resolved["weights"] = turned_bounds(resolved["weights"])
            weights = {"each": weights["each"][::-1]} if isinstance(weights, dict) else weights
        pick = "" if self.pick == "best" else f":{self.pick.replace('_', '-')}"
        return {
            "sizes": self._sizes(p),
            "folds": int(self.cv),
            "repeats": int(self.n_repeats),
            "inner_folds": int(self.inner_cv),
            "inner_repeats": int(self.n_inner_repeats),
            "seed": seed_of(self.random_state),
            "methods": methods,
            "cost_points": int(self.n_Cs),
            "rule": f"{SCORES.get(self.scoring, self.scoring)}{pick}",
            "calibration": self.calibration,
            "sensitivity": None if self.sensitivity is None else float(self.sensitivity),
            "missing": self.impute and self.impute.replace("_", "-"),
            "texts": [] if self._coding is None else self._coding.texts,
            "scale": self.scale,
            "class_weight": weights,
            "rules": resolved,
            "solutions": int(self.n_solutions),
            "proof_nodes": int(self.node_limit),
            "selection_seconds": None if self.selection_time_limit is None else float(self.selection_time_limit),
            "compare_rules": bool(self.compare_rules),
            "svm": svm_of(1.0, self.loss, bias_of(self), self.tol),
        }

    def _sizes(self, p: int) -> list[int]:
        """The sizes to choose from, cut at the number of features where it is only an end of a range."""
        if self.sizes is None or isinstance(self.sizes, Integral):
            return list(range(1, min(MOST if self.sizes is None else int(self.sizes), p) + 1))
        return sizes_of(self.sizes, p)

    def _set_study(self, answer: dict[str, Any], p: int) -> None:
        """The attributes of a fitted study."""
        panel = answer["panel"]
        self.support_ = np.zeros(p, dtype=bool)
        if panel is None or not panel["selected"]:
            why = "none was of use" if answer["status"] == "completed" else "time allowed no choice"
            warn(f"{type(self).__name__} selected no features: {why}.", ConvergenceWarning)
        else:
            self.support_[panel["selected"]] = True
        panel = panel or {"choice": dict.fromkeys(("method", "cost", "fit_cost")), "center": [], "scale": []}
        self.n_features_ = int(self.support_.sum())
        self.ranking_ = np.where(self.support_, 1, 2)
        self.method_, self.C_ = panel["choice"]["method"], panel["choice"]["cost"]
        self.fit_C_ = panel["choice"]["fit_cost"]
        for name in ("objective", "bound", "baseline", "gap", "objective_gap"):
            setattr(self, f"{name}_", panel.get(name))
        self.status_, self.trace_ = answer["status"], {}
        self.center_, self.scale_ = np.asarray(panel["center"], dtype=float), np.asarray(panel["scale"], dtype=float)
        self.fill_ = None if panel.get("fill") is None else np.asarray(panel["fill"], dtype=float)
        self.solutions_ = [(np.asarray(subset, dtype=np.intp), value) for subset, value in panel.get("solutions", [])]
        self.swaps_, self.certificate_ = panel.get("swaps", []), panel.get("certificate")
        self.summary_, self.folds_, self.stability_ = answer["summary"], answer["folds"], answer["stability"]
        self.tried_, self.decision_curve_ = answer["tried"], answer["decision_curve"]
        self.recall_ = dict(zip(self.classes_.tolist(), answer["recall"], strict=False))
        self.threshold_ = panel.get("threshold")
        self.frequency_ = np.zeros(p)
        for feature, share in answer["frequency"]:
            self.frequency_[feature] = share
        self._calibration: Any = panel.get("calibration")

    def _train(self, samples: Samples, panel: dict[str, Any] | None) -> None:
        """The classifier of the panel, trained again at its cost on its features, scaled."""
        if panel is None or not self.support_.any():
            self.estimator_ = self._own(samples, self.support_, None)
            return
        kernel = {"kernel" if name == "kind" else name: value for name, value in panel["kernel"].items()}
        classifier = SVC(
            C=panel["choice"]["fit_cost"],
            loss=self.loss,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            tol=self.tol,
            n_jobs=self.n_jobs,
            **kernel,
        )
        classifier.n_features_in_ = self.n_features_
        classifier._bounds = self._bounds_of(self.support_)
        self.estimator_ = classifier._fit(samples.with_X(self._scaled(samples.X[:, self.support_])))
        if self.threshold_ is not None:
            self.estimator_.intercept_ = self.estimator_.intercept_ - self.threshold_["value"]

    def _scaled(self, X: Any) -> Any:
        """The panel's features, without missing values and scaled."""
        if self.fill_ is not None:
            X = Preparation(self.fill_, None, None).apply(X)
        if sp.issparse(X) and not self.center_.any():
            return sp.csr_matrix(X @ sp.diags_array(1.0 / self.scale_))
        return ((X.toarray() if sp.issparse(X) else X) - self.center_) / self.scale_

    def _reduced(self, X: Any) -> Any:
        reduced = super()._reduced(X)
        return self._scaled(reduced) if reduced.shape[1] else reduced

    def _has_probabilities(self) -> bool:
        if hasattr(self, "estimator_") and self._calibration is None:
            raise AttributeError("probabilities are there with a calibration, once the study has come to a choice")
        return True

    @available_if(_has_probabilities)
    @completes_doc
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, by ``calibration`` on the decision values of samples held out.

        Of more than two classes those of the pairs are coupled (Wu, Lin and Weng 2004). ``predict``
        goes by the sign of the decision value, or by votes, as in the folds: where another class is
        more probable than the one it names, both have the mean of their probabilities. With
        ``sensitivity`` it goes by the threshold, and probabilities are as they are.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class.
        """
        check_is_fitted(self)
        reduced, classes = self._reduced(X), self.estimator_.classes_
        decision = self.estimator_._by_pair(reduced)
        decision = -decision if decision.ndim > 1 else decision[:, None]
        probabilities = of_classes(self._calibration, decision, len(classes))
        if self.threshold_ is not None:
            return probabilities
        return agreeing(probabilities, np.searchsorted(classes, self._of(reduced, "predict")))

    def _how_prepared(self, support: np.ndarray) -> tuple[Any, Any, Any]:
        return self.fill_, self.center_, self.scale_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute is not None
        return tags

    certify = Absent("a study proves its panel by itself: see bound_, gap_ and certificate_")  # type: ignore[assignment]
    path = Absent("a study chooses the size; see tried_, or sizes")  # type: ignore[assignment]


def _named(panel: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """A panel with the keys of the command's JSON."""
    selected = [names[j] for j in panel["selected"]]
    model: dict[str, Any] = {"kernel": panel["kernel"]["kind"]}
    if panel["weights"] is not None:
        model["weights"] = dict(zip(selected, panel["weights"], strict=True))
    swaps = [
        {"feature": names[swap["feature"]], "by": [{"feature": names[j], "objective": value} for j, value in swap["by"]]}
        for swap in panel["swaps"]
    ]
    return panel | panel["choice"] | {"selected": selected, "model": model, "replacements": swaps}
