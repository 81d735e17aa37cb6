"""From data to a panel: method, costs and size chosen inside folds."""

from __future__ import annotations

import json
import os
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from fewest import _core, _signatures
from fewest._available import Absent, available_where
from fewest._base import Selector
from fewest._call import holding, limited
from fewest._caller import caller_of
from fewest._columns import ColumnFile
from fewest._engine import (
    Listener,
    Samples,
    is_elsewhere,
    limits_of,
    said_class_weights,
    seed_of,
    subsets_of,
    warn_of_limit,
)
from fewest._estimator import Tags
from fewest._frames import in_order, is_annotated, labels_in, named, sample_names
from fewest._parameters import AT_LEAST_ONE, AT_LEAST_TWO, NOT_BELOW_0, handed
from fewest._path import sizes_of
from fewest._positive import is_first, of_second, turned_bounds
from fewest._preparation import Preparation
from fewest._probabilities import of_classes
from fewest._read import Coding, has_texts
from fewest._rules import Rules
from fewest._tables import framed, table, written
from fewest._warn import warn

if TYPE_CHECKING:
    from typing_extensions import Self


#: Methods that a study can try.
METHODS = ("exact", "rfe", "info-gain", "kta")
#: What the engine calls scores by.
SCORES = {"roc_auc": "auc"}
#: Sizes where none are given.
MOST = 10
#: What outer folds are summed up by; of two classes alone the second list.
MEASURES = ("accuracy", "balanced_accuracy", "f1", "mcc", "auc", "log_loss", "brier", "n_features")
OF_TWO = ("sensitivity", "specificity")


def _says_probabilities(study: Any) -> None:
    """Raise an AttributeError that says why a fitted study has no probabilities."""
    if not hasattr(study, "estimator_") or study._calibration is not None:
        return
    if study.status_ == "completed":
        raise AttributeError("there are no probabilities, as no panel was found")
    raise AttributeError(
        f"there are no probabilities: the study was stopped (status_ {study.status_!r}) before samples were held out for them; "
        "raise time_limit"
    )


class Study(_signatures.Study, Selector):
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
    scoring : {"combined", "accuracy", "roc_auc"}, default="combined"
        What candidates are judged by on the inner folds; the first is the mean of accuracy, AUC and
        1 - hinge. The best one is taken after averaging with the neighbours on the grid of costs and sizes
        of one feature more or fewer, less 0.01 for each step of the grid between the costs and those that
        need no data (0.01 of the selection, 0.1 of the classifier).
    prefer : {"best", "smallest"}, default="best"
        Which of two choices is the panel: what ``scoring`` takes, or the smallest number of features within one
        standard error of that which loses at most 1 % of accuracy on the inner folds. Both are judged on
        the outer folds; ``panels_`` has both.
    points : bool, default=False
        Whether the panel is a points score, too: small integers for levels of its features, for two
        classes and linear methods; judged on the outer folds (``points_``).
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
    n_inner_repeats : int, default=2
        Times the inner folds are dealt.
    n_Cs : int, default=8
        Costs on the grid, from 1e-4 to 1e2 times 1 / mean \\|x\\|^2 of the scaled training samples.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        What stands in for missing values (NaN), learnt in each training part; the features that a column of
        text became are filled in together. None: missing values are an error.
    scale : {"standard", "maxabs", "range", "none"}, default=None
        How features are scaled inside the folds. "range" is to [-1, 1], "range:0..1" to [0, 1]. None:
        "standard" for dense X; for sparse X what ``fewest study`` takes.
    n_solutions : int, default=5
        How many best subsets to list beside the panel.
    gap : float, default=1e-4
        The search for the panel ends where at most this share of what features can gain over none is
        left open.
    node_limit : int, default=20000
        The proof of the panel ends after this many nodes.
    selection_time_limit : float, default=None
        Seconds that one selection may take. None: no limit but that of the study.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced" as the selectors have it, in each training part.
    time_limit : float, default=600.0
        Seconds for all of it; None: no limit.
    random_state : int, RandomState instance or None, default=0
        How samples are dealt into folds.

    Attributes
    ----------
    summary_ : dict
        ``mean``, ``se`` and ``ci95`` of each measure over the outer folds: accuracy, balanced_accuracy,
        f1, mcc, auc, log_loss, brier, n_features; of two classes sensitivity and specificity, the shares
        of the positive class and of the other one that are classified right. None for one that is not
        known: log_loss and brier without probabilities, all of them where no outer fold was done in time.
    panels_ : dict or None
        The two choices, ``best`` and ``smallest`` (the same, where no smaller size is as good), each with
        ``method``, ``max_features``, ``C``, ``fit_C``, ``selected`` (indices), ``names``, and ``summary`` and
        ``stability`` of the result of the same way of choosing in the outer folds; ``difference``: how much
        more accurate the panel's choice is than the other one, fold by fold, or None. None without a panel.
    sizes_ : list of dict
        Accuracy by number of features over the inner splits of all samples: ``max_features``, ``accuracy``,
        ``se``. These values guided the choice; ``summary_`` is the estimate.
    largest_size_ : bool
        Whether the panel has the largest of several sizes, so that larger ones may be better.
    confusion_ : ndarray of shape (n_classes, n_classes)
        Samples held out over all outer folds: rows are true classes, columns predicted ones, in the order of
        ``classes_``.
    points_ : dict or None
        With ``points=True`` the levels and points of each feature, by name, the ``threshold`` from which
        a total says the second class (with ``pos_label`` the positive one), its probability by total,
        and what the score is worth in the outer folds: ``summary``, and ``difference``, what the
        classifier has more.
    left_out_ : list of dict
        The methods that ``methods="auto"`` did not try: ``method`` and ``why``.
    effort_ : dict
        What was done on inner splits, ``selections``, ``trainings``, ``splits``, ``milliseconds``, and what
        time did not allow: ``splits_left``, ``selections_left``, ``folds_left``.
    recall_ : dict
        The share of each class that is classified right over the outer folds, as ``summary_`` has it; None
        for a class that none held out.
    roc_ : list of dict or None
        Mean ROC curve of the outer folds: ``false_positive``, ``true_positive``, ``ci95``; None for more classes than two.
    calibration_ : dict or None
        Calibration of the probabilities of the outer folds: ``slope``, ``intercept``, ``expected``, ``observed``, ``bins``;
        None for more classes than two.
    decision_curve_ : list of dict or None
        For thresholds p of the probability from 0.01 to 0.99 what acting on the samples above it is worth in
        the outer folds: ``net_benefit``, TP / n - FP / n * p / (1 - p) (Vickers and Elkin 2006), beside
        ``treat_all`` and ``treat_none``. None without probabilities, or for more classes than two.
    threshold_ : dict or None
        With ``sensitivity``: ``value``, what the intercept of the classifier was shifted by, down by it, and
        ``trained_intercept``, the one before; weights and what is proven are those of the SVM as trained.
    folds_ : list of dict
        Every outer fold: ``choice`` made there, ``selected`` features, ``judgement`` of the samples held out
        (``test`` their positions, ``predicted`` codes of classes, ``confusion``, ``metrics``,
        ``probabilities`` of the positive class), ``other``: the same three of the other choice, None where it is
        the same, ``status``, ``seconds``.
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
    bound_ : float or None
        What is proven of the panel, by the search of its method or, where that proves nothing (rfe,
        info-gain), by ``certificate_``, as are ``gap_``, ``objective_gap_`` and ``baseline_``. None where time
        allowed no proof.
    certificate_ : dict or None
        How far the panel is from the best subset of its size, for a linear method that proves
        nothing itself: ``objective``, ``bound``, ``baseline``, ``gap``, ``objective_gap``, ``best`` (indices of the
        best subset known) and ``best_objective``, ``status``, ``elapsed``, as ``certify`` of other selectors
        returns it.
    center_, scale_ : ndarray of shape (n_selected,)
        What is subtracted from the panel's features, and what they are divided by.
    fill_ : ndarray of shape (n_selected,) or None
        What stands in for their missing values before that; None without ``impute``.
    estimator_ : SVC
        The classifier on the panel's features, scaled.
    coef_ : ndarray of shape (n_machines, n_features)
        Its weights for scaled features, 0 for the features that are not selected.
    objective_ : float
        Objective of the method on the panel, which ``bound_`` bounds: that of ``certificate_`` where there
        is one.

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

    _tags = Tags(page="docs/use/study.md", binary_only=False, deals_folds=True)
    _takes = (
        "sizes: int | Sequence[int] | None = None, rules, methods: str | Sequence[str] = 'auto', scoring: str = 'combined', "
        "prefer: str = 'best', points: bool = False, pos_label: Any = None, "
        "sensitivity: float | None = None, cv: int = 5, n_repeats: int = 2, inner_cv: int = 5, n_inner_repeats: int = 2, "
        "n_Cs: int = 8, impute, scale: str | None = None, n_solutions: int = 5, gap, node_limit: int = 20000, "
        "selection_time_limit: float | None = None, SVM, class_weight, time_limit=600.0, "
        "random_state, LISTENED"
    )
    _parameter_constraints = {
        "sizes": [*AT_LEAST_ONE, "array-like", None],
        "methods": [StrOptions({"auto"}), "array-like"],
        "scoring": [StrOptions({"combined", "accuracy", "roc_auc"})],
        "prefer": [StrOptions({"best", "smallest"})],
        "points": ["boolean"],
        "pos_label": [Real, str, "boolean", None],
        "sensitivity": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "cv": AT_LEAST_TWO,
        "n_repeats": AT_LEAST_ONE,
        "inner_cv": AT_LEAST_TWO,
        "n_inner_repeats": AT_LEAST_ONE,
        "n_Cs": AT_LEAST_ONE,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE,
        "selection_time_limit": [*NOT_BELOW_0, None],
        "scale": [str, None],
        # The engine has no other weights that it finds in a training part.
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose inside folds, judge outside, and do the same on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples, not scaled: that is done inside the folds. Of a frame with columns of text,
            categories or truth values these become features of 0 and 1 (``colour=red``), and dates are
            left out with a warning, as ``fewest study`` has it; ``feature_names_in_`` has the features.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each counts as in trainings, scales, weights of classes and the scores of the
            inner folds, 0 or more; one of weight 0 is left out. The outer folds are dealt by sample, and
            their measures count each once.
        groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as a person or a batch: samples of one group stay together in
            the outer folds and in those inside.
        """
        given = {"y": y, "weights": sample_weight, "groups": groups, "samples": sample_names(X), "X": X}
        with holding(self, _given=given):
            return self._run(self._with_groups(self._validated(X, y, sample_weight), X, groups))

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        self._coding: Coding | None = None
        if is_elsewhere(X) or isinstance(X, ColumnFile):
            return super()._validated(X, y, sample_weight)
        y, frame = labels_in(X, y), named(X)
        if not has_texts(frame):
            # An AnnData has names of its samples.
            return super()._validated(X if is_annotated(X) else frame, y, sample_weight)
        in_order(X, y=y, sample_weight=sample_weight)
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
        p = samples.X.shape[1]
        names = [str(label) for label in samples.classes.tolist()]
        # Measures are of the engine's second class.
        first = is_first(self.pos_label, samples.classes)
        if self.sensitivity is not None and len(names) != 2:
            raise ValueError(f"sensitivity is that of one of two classes, but there are {len(names)}: {names}; leave it out")
        limits = limits_of(self, self.time_limit, gap=float(self.gap))
        codes = (1 - samples.codes.astype(np.int64)).astype(np.uint32) if first else samples.codes
        asked = self._settings(samples, p, first)
        classes = names[::-1] if first else names
        weights = np.ascontiguousarray(samples.sample_weight)
        caller, listener = self._caller(samples), Listener(self, samples).wanted
        answer = _core.study(samples.matrix, codes, weights, classes, asked, caller, limits, listener, samples.groups)
        self._said = answer["said"]
        self._warn_of(answer)
        for fold in answer["folds"]:
            fold["judgement"]["test"] = [caller["rows"][at] for at in fold["judgement"]["test"]]
        self._set_study(of_second(answer) if first else answer, p)
        self._train(samples, answer["panel"])

    def _warn_of(self, answer: dict[str, Any]) -> None:
        """Warnings of what time did not allow, and of methods that are left out."""
        done, left = len(answer["folds"]), self._said["effort"]["folds_left"]
        known = ": how well the panel does is not known." if done == 0 else "; this is what is known so far."
        warn_of_limit(self, answer, f"{done} of {done + left} outer folds done{known}")
        for fault in answer["faults"]:
            warn(fault)
        for left_out in self._said["left_out"]:
            warn(f"{left_out['method']} was left out: {left_out['why']}")

    def _caller(self, samples: Samples) -> dict[str, Any]:
        coding, positive = self._coding, None if self.pos_label is None else str(self.pos_label)
        notes, texts = ([], []) if coding is None else (coding.warnings, coding.columns_of_text)
        command = f"{self!r}.fit(X, y)"
        return caller_of(self, samples, self._names(), self._given, command, notes=notes, texts=texts, positive=positive)

    def __str__(self) -> str:
        """The summary that ``fewest study`` prints; what it is made of, where it is not fitted."""
        return table(self._said) if hasattr(self, "_said") else repr(self)

    def _html_repr(self) -> str:
        """What a notebook shows: the first part of the page; the parameters, where it is not fitted."""
        return framed(_core.page(self._said)) if hasattr(self, "_said") else str(super()._html_repr())

    def report(self, path: str | os.PathLike[str] | None = None, show_samples: bool = False) -> str | None:
        """The study as one HTML page, which needs no other file: what ``fewest study --report`` writes.

        Parameters
        ----------
        path : str or path-like, default=None
            The file. None: the page is returned.
        show_samples : bool, default=False
            Whether samples are named where there are more than 100, too: names may be those of persons.

        Returns
        -------
        page : str or None
            The page, where no file is named.
        """
        check_is_fitted(self)
        said = self._said
        if show_samples:
            said = {**said, "settings": {**said["settings"], "show_samples": True}}
        return written(_core.page(said), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The study with the keys of ``fewest study --json`` (docs/formats/study.md), names in place of indices;
        ``fewest report`` makes the page of it. With ``pos_label`` the positive class is ``+1`` there,
        as with ``--positive``, and weights speak for it.

        Parameters
        ----------
        path : str or path-like, default=None
            The file. None: the text is returned.

        Returns
        -------
        text : str or None
            The JSON, where no file is named.
        """
        check_is_fitted(self)
        return written(json.dumps(self._said, indent=1, ensure_ascii=False) + "\n", path)

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
        weights: Any = said_class_weights(self.class_weight, samples.classes) or self.class_weight or "none"
        resolved = rules._resolved(p, getattr(self, "feature_names_in_", None), None)
        if first:
            resolved["weights"] = turned_bounds(resolved["weights"])
            weights = {"each": weights["each"][::-1]} if isinstance(weights, dict) else weights
        return {
            "sizes": self._sizes(p),
            "seed": seed_of(self.random_state),
            "methods": methods,
            "rule": SCORES.get(self.scoring, self.scoring),
            "missing": self.impute and self.impute.replace("_", "-"),
            "texts": [] if self._coding is None else self._coding.texts,
            "class_weight": weights,
            "rules": resolved,
            "svm": self._svm(1.0),
            **handed(self, "prefer", "points", "sensitivity", "scale"),
            **handed(
                self, folds="cv", repeats="n_repeats", inner_folds="inner_cv", inner_repeats="n_inner_repeats", cost_points="n_Cs"
            ),
            **handed(self, solutions="n_solutions", proof_nodes="node_limit", selection_seconds="selection_time_limit"),
        }

    def _sizes(self, p: int) -> list[int]:
        """The sizes to choose from, cut at the number of features where it is only an end of a range."""
        if self.sizes is None or isinstance(self.sizes, Integral):
            return list(range(1, min(MOST if self.sizes is None else int(self.sizes), p) + 1))
        return sizes_of(self.sizes, p)

    def _set_study(self, answer: dict[str, Any], p: int) -> None:
        """The attributes of a fitted study."""
        panel, verdict, said = answer["panel"], answer["verdict"], self._said
        self.support_ = np.zeros(p, dtype=bool)
        if panel is None or not panel["selected"]:
            why = "time allowed no choice" if verdict is None else verdict
            warn(f"{type(self).__name__} selected no features: {why}.", ConvergenceWarning)
        else:
            self.support_[panel["selected"]] = True
            if verdict is not None:
                warn(f"{type(self).__name__}: {verdict}.")
        panel = panel or {"choice": dict.fromkeys(("method", "cost", "fit_cost")), "center": [], "scale": []}
        self.n_features_ = int(self.support_.sum())
        self.ranking_ = np.where(self.support_, 1, 2)
        self.method_, self.C_ = panel["choice"]["method"], panel["choice"]["cost"]
        self.fit_C_ = panel["choice"]["fit_cost"]
        self.certificate_ = _certificate(panel.get("certificate"))
        for name in ("objective", "bound", "baseline", "gap", "objective_gap"):
            setattr(self, f"{name}_", (self.certificate_ or said["panel"] or {}).get(name))
        self.status_, self.trace_ = answer["status"], {}
        self.center_, self.scale_ = np.asarray(panel["center"], dtype=float), np.asarray(panel["scale"], dtype=float)
        self.fill_ = None if panel.get("fill") is None else np.asarray(panel["fill"], dtype=float)
        self.solutions_ = subsets_of(panel.get("solutions", []))
        self.swaps_ = panel.get("swaps", [])
        measures = MEASURES + (OF_TWO if len(self.classes_) == 2 else ())
        self.summary_ = {name: said["summary"].get(name) for name in measures}
        self.folds_, self.stability_ = answer["folds"], said["stability"]
        self.confusion_ = sum(
            (np.array(fold["judgement"]["confusion"]) for fold in self.folds_), np.zeros((len(self.classes_),) * 2, int)
        )
        self.panels_ = self._both(answer["panels"])
        self.sizes_, self.effort_ = said["sizes"], said["effort"]
        self.points_ = said.get("points")
        self.largest_size_, self.left_out_ = said["largest_size"], said["left_out"]
        self._scaling = answer["scale"]
        self.tried_, self.decision_curve_ = answer["tried"], said["decision_curve"]
        self.roc_, self.calibration_ = said["roc"], said["calibration"]
        self.recall_ = dict(zip(self.classes_.tolist(), answer["recall"] or [None] * len(self.classes_), strict=True))
        self.threshold_ = panel.get("threshold")
        self.frequency_ = np.zeros(p)
        for feature, share in answer["frequency"]:
            self.frequency_[feature] = share
        self._calibration: Any = panel.get("calibration")

    def _both(self, panels: list[dict[str, Any]] | None) -> dict[str, Any] | None:
        """The two choices, in the words of Python."""
        if panels is None:
            return None
        names = self._names()

        def one(of: dict[str, Any]) -> dict[str, Any]:
            choice = of["choice"]
            return {
                "method": choice["method"],
                "max_features": choice["max_features"],
                "C": choice["cost"],
                "fit_C": choice["fit_cost"],
                "selected": np.asarray(of["selected"], dtype=np.intp),
                "names": [names[j] for j in of["selected"]],
                "summary": {name: of["summary"].get(name) for name in self.summary_},
                "stability": of["stability"],
            }

        best, smallest = map(one, panels)
        return {"best": best, "smallest": smallest, "difference": self._said["panels"]["difference"]}

    def _train(self, samples: Samples, panel: dict[str, Any] | None) -> None:
        """The classifier of the panel, trained again at its cost on its features, scaled."""
        if panel is None or not self.support_.any():
            self.estimator_ = self._own(samples, self.support_, None)
            return
        kernel = {"kernel" if name == "kind" else name: value for name, value in panel["kernel"].items()}
        classifier = self._svc(panel["choice"]["fit_cost"], loss=self.loss, **kernel)
        classifier.n_features_in_ = self.n_features_
        classifier._bounds = self._bounds_of(self.support_)
        self.estimator_ = classifier._fit(_of_weight(samples, self._scaled(samples.X[:, self.support_])))
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

    @available_where(_says_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, by Platt's sigmoid on the decision values of samples held out, as the
        command and a model file give it.

        Of more than two classes those of the pairs are coupled (Wu, Lin and Weng 2004). ``predict`` goes by
        the sign of the decision value, or by votes, as in the folds, so another class than the one it names
        can be more probable: with ``class_weight="balanced"`` or ``sensitivity`` it finds rare classes whose
        probability is below 0.5.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class.
        """
        check_is_fitted(self)
        decision = self.estimator_._by_pair(self._reduced(X))
        decision = -decision if decision.ndim > 1 else decision[:, None]
        return of_classes(self._calibration, decision, len(self.estimator_.classes_))

    def _how_prepared(self, support: np.ndarray) -> tuple[Any, Any, Any]:
        return self.fill_, self.center_, self.scale_

    certify = Absent("a study proves its panel by itself: see bound_, gap_ and certificate_")  # type: ignore[assignment]
    path = Absent("a study chooses the size; see tried_, or sizes")  # type: ignore[assignment]


def _certificate(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """A certificate with the keys that ``certify`` of selectors has."""
    if found is None:
        return None
    kept = {key: value for key, value in found.items() if key not in ("seconds", "counts")}
    return kept | {"best": np.asarray(found["best"], dtype=np.intp), "elapsed": found["seconds"]}


def _of_weight(samples: Samples, X: Any) -> Samples:
    """These columns of the samples that have a weight."""
    there = np.flatnonzero(samples.weights > 0)
    if len(there) == len(samples.weights):
        return samples.with_X(X)
    codes, weights, sample_weight = (part[there] for part in (samples.codes, samples.weights, samples.sample_weight))
    return Samples(X[there], codes, weights, sample_weight, samples.classes, there)
