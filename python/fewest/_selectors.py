"""The selectors, one class for each method; each says what it asks of the engine."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from fewest import _core
from fewest._base import COMMON, GAP, Selector
from fewest._engine import Listener, Samples, asked, svm, warn_of_limit
from fewest._svm import COST, GAMMA, KERNEL, LOSS, POSITIVE_OR_NONE, TOLERANCE, SVC, gamma_of, kernel_of, votes

SVM = {"C": COST, "loss": LOSS, "fit_intercept": ["boolean"], "intercept_scaling": POSITIVE_OR_NONE, "tol": TOLERANCE}
KERNELS = {
    "kernel": KERNEL,
    "gamma": GAMMA,
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}
CRITERION = {"criterion": [StrOptions({"auto", "weights", "margin", "input_weights"})]}
PENALTY = {"penalty": ["array-like", Interval(Real, 0.0, None, closed="left"), dict, None]}
AT_LEAST_ONE = [Interval(Integral, 1, None, closed="left")]
AT_LEAST_ONE_OR_NONE = [*AT_LEAST_ONE, None]
#: Features that a method without a size of its own selects where nothing is said.
FEW = 5


def _criterion(estimator: Any) -> str:
    if estimator.criterion != "auto":
        return estimator.criterion.replace("_", "-")
    return "weights" if estimator.kernel == "linear" else "margin"


def _indices(split: tuple[Any, Any], samples: Samples, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """A split's two parts as positions among the samples kept."""
    parts = [np.flatnonzero(part) if np.asarray(part).dtype == bool else np.asarray(part, dtype=np.intp) for part in split]
    if samples.kept is None:
        return parts[0], parts[1]
    place = np.full(n_samples, -1)
    place[samples.kept] = np.arange(len(samples.kept))
    train, test = (place[part] for part in parts)
    return train[train >= 0], test[test >= 0]


def _folds(splits: list[tuple[np.ndarray, np.ndarray]], samples: Samples) -> dict[str, Any]:
    """The fold of each sample; the test parts must share the samples out."""
    n_samples = len(samples.codes)
    of = np.full(n_samples, -1)
    for number, (_, test) in enumerate(splits):
        if (of[test] >= 0).any():
            raise ValueError("cv puts a sample into two test parts; this method needs folds, such as StratifiedKFold makes")
        of[test] = number
    if (of < 0).any():
        raise ValueError("cv leaves samples out of every test part; this method needs folds, such as StratifiedKFold makes")
    # A fold without samples of positive weight is none.
    _, of = np.unique(of, return_inverse=True)
    return {"of": of.ravel().tolist(), "weights": samples.sample_weight.tolist()}


class _CrossValidated(Selector):
    """A selector that judges subsets by cross-validation."""

    _binary_only = False

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Select features, and train a classifier on them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples. Taken as they are: scale features first where their units differ.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each counts as, 0 or more, in training and in accuracy; default 1.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples for the splitter ``cv``.

        Returns
        -------
        self : object
            Fitted.
        """
        samples = self._validated(X, y, sample_weight)
        y = np.asarray(y).ravel()
        splits = []
        if self.cv is not None:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, groups))
        return self._fit_on(samples, [_indices(split, samples, len(y)) for split in splits])

    def _fit_on(self, samples: Samples, splits: list[tuple[np.ndarray, np.ndarray]]) -> Any:
        """Fit, judging by these splits of the samples kept."""
        self._folds = _folds(splits, samples)
        try:
            return self._fit(samples)
        finally:
            del self._folds


class SVMRFE(_CrossValidated):
    """SVM recursive feature elimination: drops the features of smallest weight until few enough are left.

    One line in place of ``RFE(SVC(kernel="linear"), n_features_to_select=..., step=...)`` of scikit-learn, with the same ranking;
    every training starts from the last one. With ``cv`` it takes the place of ``RFECV``: the size is chosen by cross-validation,
    the elimination being repeated inside each fold.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: half of them, but
        2 at least; with ``cv`` the size is chosen.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    step : int or float, default=1
        Features dropped at a time; below 1: as a share of them.
    step_of : {"original", "remaining"}, default="original"
        What a share is taken of: all features (scikit-learn), or those that remain ("remaining" with 0.5 halves them).
    C : float, default=1.0
        Slack cost, above 0.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel of the SVM.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X), "auto": 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    criterion : {"auto", "weights", "margin", "input_weights"}, default="auto"
        What features are ranked by: squared weights (linear kernel), the change of the margin when a feature is left out with the
        dual variables fixed, or squared weights in input space. "auto": weights where the kernel is linear, else margin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    cv : int, splitter or iterable, default=None
        None: no cross-validation. Otherwise as scikit-learn's: the number of stratified folds, a splitter, or (train, test) pairs.
    scoring : str or callable, default=None
        Score of a size in a fold; None: accuracy. It may ask for ``predict`` and ``decision_function``.
    min_features_to_select : int, default=1
        The smallest size that cross-validation judges.
    size_rule : {"best", "1se"}, default="best"
        Which size is chosen: that of the best mean score (the smallest such), or the smallest within one standard error of it.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for those that left last, and so on; features that left together share a rank.
    objective_ : float
        Objective of the SVM on the selected features.
    bound_ : float or None
        None: the method proves nothing; :meth:`certify` does.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    cv_results_ : dict of ndarray
        With ``cv``: ``n_features``, ``mean_test_score``, ``std_test_score``, and for each split i ``split{i}_test_score``,
        ``split{i}_ranking``, ``split{i}_support``.

    See Also
    --------
    EvaluationRFE : Drops the feature whose removal cross-validates best.
    ExactSelector : The best subset, with proof.

    References
    ----------
    .. [1] Guyon, Weston, Barnhill, Vapnik, "Gene selection for cancer classification using support vector machines", Machine
       Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import SVMRFE
    >>> X, y = make_classification(n_features=30, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    >>> selector = SVMRFE(n_features_to_select=3).fit(X, y)
    >>> selector.get_support(indices=True)
    array([...])
    >>> certificate = selector.certify(X, y)
    >>> certificate["status"]
    'optimal'
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **KERNELS,
        **CRITERION,
        "step": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed="neither")],
        "step_of": [StrOptions({"original", "remaining"})],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "min_features_to_select": AT_LEAST_ONE,
        "size_rule": [StrOptions({"best", "1se"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        step=1,
        step_of='original',
        C=1.0,
        kernel='linear',
        gamma='scale',
        degree=3,
        coef0=0.0,
        criterion='auto',
        loss='hinge',
        fit_intercept=True,
        intercept_scaling=None,
        tol=1e-09,
        cv=None,
        scoring=None,
        min_features_to_select=1,
        size_rule='best',
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.step = step
        self.step_of = step_of
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.cv = cv
        self.scoring = scoring
        self.min_features_to_select = min_features_to_select
        self.size_rule = size_rule
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _fit_on(self, samples, splits):
        self._chosen = None
        if splits:
            self._chosen = self._cross_validate(samples, splits)
        try:
            return self._fit(samples)
        finally:
            del self._chosen

    def _default_size(self, n_features):
        return max(n_features // 2, min(2, n_features))

    def _rules(self, p):
        rules = super()._rules(p)
        if getattr(self, "_chosen", None) is not None:
            rules["max_features"] = self._chosen
        return rules

    def _request(self, samples, rules):
        if isinstance(self.step, Integral):
            step = {"count": int(self.step)}
        else:
            step = {self.step_of: float(self.step)}
        return {
            "name": "rfe",
            "svm": self._settings(),
            "kernel": kernel_of(self, samples),
            "criterion": _criterion(self),
            "step": step,
        }

    def _cross_validate(self, samples, splits):
        """Eliminate inside every split, score every size there, and choose one; sets ``cv_results_``."""
        p, rules = samples.X.shape[1], self._rules(samples.X.shape[1])
        # Without a size of its own the elimination judges every size.
        most = p if self.n_features_to_select is None and not (self.rules and self.rules.max_features) else rules["max_features"]
        rules["max_features"] = min(int(self.min_features_to_select), p)
        limits = asked(self.time_limit, None, self.n_jobs)
        listener = Listener(self, samples, int(self.verbose), self.callback)
        paths = _core.rfe_paths(
            *samples.arguments,
            rules,
            self._request(samples, rules),
            [(train.tolist(), test.tolist()) for train, test in splits],
            limits,
            listener if listener.wanted else None,
        )
        for path in paths:
            warn_of_limit(self, path, "Sizes that a split did not reach are not judged.")
        sizes = sorted(set.intersection(*(set(path["sizes"].tolist()) for path in paths)))
        sizes = [size for size in sizes if size <= most] or sizes[:1]
        scores = np.array([_scores(self, samples, test, path, sizes) for path, (_, test) in zip(paths, splits, strict=True)])
        mean, std = scores.mean(axis=0), scores.std(axis=0)
        best = int(mean.argmax())
        if self.size_rule == "1se":
            # Standard error of the mean, from the sample variance over the splits.
            error = scores[:, best].std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
            best = int(np.flatnonzero(mean >= mean[best] - error)[0])
        self.cv_results_ = {"n_features": np.array(sizes), "mean_test_score": mean, "std_test_score": std}
        for number, (path, score) in enumerate(zip(paths, scores, strict=True)):
            order = np.empty(p, dtype=int)
            order[path["ranked"]] = np.arange(1, p + 1)
            self.cv_results_[f"split{number}_test_score"] = score
            self.cv_results_[f"split{number}_ranking"] = order
            self.cv_results_[f"split{number}_support"] = order <= sizes[best]
        return sizes[best]


def _scores(estimator: SVMRFE, samples: Samples, test: np.ndarray, path: dict[str, Any], sizes: list[int]) -> list[float]:
    """Score of each size on the samples held out."""
    at = {size: place for place, size in enumerate(path["sizes"].tolist())}
    y, weights = samples.classes[samples.codes[test]], samples.sample_weight[test]
    scorer = check_scoring(scoring=estimator.scoring or "accuracy")
    # A scorer of the caller's own may not know weights.
    options = {} if callable(estimator.scoring) else {"sample_weight": weights}
    return [scorer(_Decided(samples.classes, path["decisions"][at[size]]), samples.X[test], y, **options) for size in sizes]


class _Decided(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions are known already; what a scorer sees."""

    def __init__(self, classes: np.ndarray, decisions: np.ndarray) -> None:
        self.classes_ = classes
        # Positive for the second class of each pair.
        self.decisions = decisions

    def decision_function(self, X: Any) -> np.ndarray:
        """As :class:`SVC` decides."""
        return self.decisions[:, 0] if len(self.classes_) == 2 else votes(-self.decisions, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """The class decided for."""
        decision = self.decision_function(X)
        return self.classes_[(decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]


class EvaluationRFE(_CrossValidated):
    """Evaluation-based recursive feature elimination: at each step the candidate whose removal cross-validates best leaves.

    Of the ``candidates`` features of smallest criterion each is left out in turn; the subset and the cost out of ``costs`` of largest
    cross-validated accuracy survive. The best subset seen on the way down is selected. Its accuracy was chosen among many and is
    optimistic: judge it on other samples.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: the size of largest accuracy.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    candidates : int, default=3
        Candidates per step, at least 1.
    adaptive : float, default=None
        Ratio of at least 1: only features whose criterion exceeds the smallest by at most (adaptive - 1) times its size are
        candidates.
    costs : sequence of float, default=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0)
        Slack costs to choose from, ascending.
    cv : int, splitter or iterable, default=5
        Folds, as scikit-learn's; the test parts must share the samples out.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel of the SVM.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X), "auto": 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    criterion : {"auto", "weights", "margin", "input_weights"}, default="auto"
        What features are ranked by: squared weights (linear kernel), the change of the margin when a feature is left out with the
        dual variables fixed, or squared weights in input space. "auto": weights where the kernel is linear, else margin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for those that left last, and so on.
    objective_ : float
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    C_ : float
        The cost chosen.
    curve_ : list of dict
        Every step: ``n_features``, ``accuracy``, ``cost``, ``candidates`` (their accuracies), ``folds``, ``left``.

    References
    ----------
    .. [1] Krupka, thesis, 2016, Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import EvaluationRFE
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = EvaluationRFE(costs=(0.25, 1.0), candidates=1, cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.objective_ > 0.95)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **{name: rule for name, rule in SVM.items() if name != "C"},
        **KERNELS,
        **CRITERION,
        "candidates": AT_LEAST_ONE,
        "adaptive": [Interval(Real, 1.0, None, closed="left"), None],
        "costs": ["array-like"],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        candidates=3,
        adaptive=None,
        costs=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        cv=5,
        kernel='linear',
        gamma='scale',
        degree=3,
        coef0=0.0,
        criterion='auto',
        loss='hinge',
        fit_intercept=True,
        intercept_scaling=None,
        tol=1e-09,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.candidates = candidates
        self.adaptive = adaptive
        self.costs = costs
        self.cv = cv
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _settings(self):
        return svm(1.0, self.loss, self._bias(), self.tol)

    def _request(self, samples, rules):
        return {
            "name": "eb-rfe",
            "svm": self._settings(),
            "kernel": kernel_of(self, samples),
            "criterion": _criterion(self),
            "candidates": int(self.candidates),
            "adaptive": None if self.adaptive is None else float(self.adaptive),
            "costs": [float(cost) for cost in self.costs],
            "folds": self._folds,
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.C_, self.curve_ = answer["more"]["cost"], answer["more"]["curve"]

    def _cost(self):
        return self.C_


class FlipSelector(_CrossValidated):
    """Bit-Flip and Attribute-Flip: a local search around a subset, judged by cross-validation.

    Starts from the features of largest information gain; one feature more or less ("bit"), or one for another ("attribute"), as long
    as the cross-validated accuracy grows.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: for the start, 5.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    flip : {"bit", "attribute"}, default="bit"
        Which subsets are neighbours.
    costs : sequence of float, default=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0)
        Slack costs to choose from, ascending.
    cv : int, splitter or iterable, default=5
        Folds, as scikit-learn's; the test parts must share the samples out.
    max_iter : int, default=100
        Most passes over the neighbours.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel of the SVM.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid"; "scale": 1 / (n_features x variance of X), "auto": 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Cross-validated accuracy of the subset.
    bound_ : float or None
        None: the method proves nothing.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    C_ : float
        The cost chosen.
    n_iter_ : int
        Passes done.

    References
    ----------
    .. [1] Samb, Camara, Ndiaye, Slimani, Esseghir, "A novel RFE-SVM-based feature selection approach for classification", 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import FlipSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = FlipSelector(n_features_to_select=3, costs=(1.0,), cv=3).fit(scale(X)[:150], y[:150])
    >>> bool(selector.n_features_ <= 3)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **{name: rule for name, rule in SVM.items() if name != "C"},
        **KERNELS,
        "flip": [StrOptions({"bit", "attribute"})],
        "costs": ["array-like"],
        "cv": ["cv_object"],
        "max_iter": AT_LEAST_ONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        flip='bit',
        costs=(0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        cv=5,
        max_iter=100,
        kernel='linear',
        gamma='scale',
        degree=3,
        coef0=0.0,
        loss='hinge',
        fit_intercept=True,
        intercept_scaling=None,
        tol=1e-09,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.flip = flip
        self.costs = costs
        self.cv = cv
        self.max_iter = max_iter
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _settings(self):
        return svm(1.0, self.loss, self._bias(), self.tol)

    def _request(self, samples, rules):
        sized = {**rules, "max_features": rules["max_features"] or min(FEW, samples.X.shape[1])}
        first = _core.select(*samples.arguments, sized, {"name": "info-gain", "bins": None}, {}, None)
        return {
            "name": "flip",
            "flip": self.flip,
            "svm": self._settings(),
            "kernel": kernel_of(self, samples),
            "costs": [float(cost) for cost in self.costs],
            "folds": self._folds,
            "passes": int(self.max_iter),
            "start": first["support"].tolist() or [0],
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.C_, self.n_iter_ = answer["more"]["cost"], max(len(answer["more"]["passes"]), 1)

    def _cost(self):
        return self.C_


class ExactSelector(Selector):
    r"""The best subset for a linear SVM, with proof: branch and bound on the SVM's own objective.

    .. math:: \min_{w, b, z} \; \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q + \sum_j \lambda_j z_j, \quad w_j = 0
        \text{ where } z_j = 0, \; z \text{ obeys the rules}

    with q = 1 for the hinge loss, 2 for the squared hinge loss, :math:`\lambda` = ``penalty``. Stopped early, it returns the best
    subset so far and how far from the best it can be at most.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features). With a penalty: no limit.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=None
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    n_solutions : int, default=1
        How many best subsets to prove.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    node_limit : int, default=None
        Most nodes of the search.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset.
    bound_ : float or None
        No allowed subset has a smaller objective.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    solutions_ : list of (ndarray of int, float)
        The best subsets and their objectives, best first.
    n_nodes_ : int
        Nodes of the search.

    See Also
    --------
    BendersSelector : The same problem by cuts.
    SVMRFE : A fast heuristic.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import ExactSelector, Rules
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X[:] = scale(X)
    >>> selector = ExactSelector(rules=Rules(max_features=3, require=["mean texture"])).fit(X, y)
    >>> selector.status_
    'optimal'
    >>> len(selector.get_feature_names_out()), "mean texture" in selector.get_feature_names_out()
    (3, True)
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
        **PENALTY,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        penalty=None,
        n_solutions=1,
        gap=0.0001,
        node_limit=None,
        loss='hinge',
        fit_intercept=True,
        intercept_scaling=None,
        tol=1e-09,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.n_solutions = n_solutions
        self.gap = gap
        self.node_limit = node_limit
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return None if self.penalty is not None else min(FEW, n_features)

    def _request(self, samples, rules):
        penalty, solutions = self._prices(self.penalty), int(self.n_solutions)
        return {"name": "exact", "svm": self._settings(), "penalty": penalty, "solutions": solutions, "start": []}

    def _limits(self):
        return {"nodes": self.node_limit}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_nodes_ = answer["counts"]["nodes"]


class BendersSelector(Selector):
    """The best subset for a linear SVM, with proof, by Generalized Benders Decomposition.

    The problem of :class:`ExactSelector`, solved by cuts of the SVM's dual and a mixed-integer program over them (HiGHS).

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features). With a penalty: no limit.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=None
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    max_iter : int, default=250
        Most cuts, which is as many trainings.
    plain : bool, default=False
        The paper's algorithm without improvements.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset.
    bound_ : float or None
        No allowed subset has a smaller objective.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    n_iter_ : int
        Cuts.

    References
    ----------
    .. [1] Aytug, "Feature selection for support vector machines using Generalized Benders Decomposition", European Journal of
       Operational Research 244, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import BendersSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BendersSelector(n_features_to_select=2).fit(scale(X), y).status_
    'optimal'
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
        **PENALTY,
        "max_iter": AT_LEAST_ONE,
        "plain": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        penalty=None,
        max_iter=250,
        plain=False,
        gap=0.0001,
        loss='hinge',
        fit_intercept=True,
        intercept_scaling=None,
        tol=1e-09,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.max_iter = max_iter
        self.plain = plain
        self.gap = gap
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return None if self.penalty is not None else min(FEW, n_features)

    def _request(self, samples, rules):
        penalty, cuts = self._prices(self.penalty), int(self.max_iter)
        return {"name": "gbd", "svm": self._settings(), "penalty": penalty, "max_cuts": cuts, "plain": bool(self.plain)}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_iter_ = max(answer["counts"]["cuts"], 1)


class AlignmentSelector(Selector):
    """The subset of largest alignment between a Gaussian kernel and the classes, with proof.

    Exact selection for Gaussian-kernel SVMs: branch and bound on the kernel-target alignment, for any number of classes. The
    classifier is an SVM with that kernel on the selected features.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features).
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    gamma : {"scale", "auto"} or float, default="scale"
        gamma of ``exp(-gamma ||x - x'||^2)``; "scale": 1 / (m x variance of X), "auto": 1 / m, m the most features allowed.
    C : float, default=1.0
        Slack cost of the classifier, above 0.
    n_solutions : int, default=1
        How many best subsets to prove.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    node_limit : int, default=None
        Most nodes of the search.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Alignment of the best subset; larger is better.
    bound_ : float or None
        No allowed subset has a larger alignment.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    gamma_ : float
        gamma.
    solutions_ : list of (ndarray of int, float)
        The best subsets and their alignments, best first.
    n_nodes_ : int
        Nodes of the search.

    References
    ----------
    .. [1] Tamura, Takano, Miyashiro, Nakata, "Feature subset selection for kernel SVM classification via mixed-integer
       optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import AlignmentSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> AlignmentSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        "gamma": GAMMA,
        "C": COST,
        "n_solutions": AT_LEAST_ONE,
        "node_limit": AT_LEAST_ONE_OR_NONE,
    }
    _binary_only = False
    kernel = "rbf"

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        gamma='scale',
        C=1.0,
        n_solutions=1,
        gap=0.0001,
        node_limit=None,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.gamma = gamma
        self.C = C
        self.n_solutions = n_solutions
        self.gap = gap
        self.node_limit = node_limit
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return min(FEW, n_features)

    def _request(self, samples, rules):
        self.gamma_ = gamma_of(self.gamma, samples, rules["max_features"])
        return {"name": "kta", "gamma": self.gamma_, "solutions": int(self.n_solutions)}

    def _limits(self):
        return {"nodes": self.node_limit}

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.n_nodes_ = answer["counts"]["nodes"]

    def _trainer(self, answer):
        return SVC(C=self.C, kernel="rbf", gamma=self.gamma_, n_jobs=self.n_jobs)


class FeatureGeneratingMachine(Selector):
    """Feature generating machine: a sparse linear SVM among millions of features, with the value of its relaxation proven.

    Subsets of ``n_features_to_select`` features are generated one by one, the most violated first, and weighed by multiple kernel
    learning. The features of positive weight are kept: they can be more than one subset has, see ``top_b``. Squared hinge loss.
    Dask arrays and lists of files, whose features are spread over workers, are taken as well (:mod:`fewest.dask`).

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features).
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0: ``C / 2 sum xi_i^2``.
    top_b : bool, default=False
        Keep the best allowed subset of the mixture only (FGM-B).
    fit_intercept : bool, default=True
        Whether there is a bias b; the paper has none.
    intercept_scaling : float or None, default=1.0
        Value s of the constant feature whose weight is the bias, above 0. None: the bias is not penalised.
    mkl : {"fast", "simple"}, default="fast"
        Solver of multiple kernel learning: Newton's method, or SimpleMKL.
    plain : bool, default=False
        The paper's algorithm without improvements.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    tol : float, default=1e-14
        Relative duality gap of the last training, between 0 and 1.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        Of the features kept: 1, and 2 for the others.
    objective_ : float
        Value of the mixture (of the subset, with ``top_b``).
    bound_ : float or None
        No allowed subset, and no mixture of them, has a smaller value.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    shares_ : ndarray of shape (n_features_,)
        Weight of each kept feature in the mixture, in (0, 1].
    rounds_ : list of dict
        Every round: ``upper``, ``lower``, ``subsets``, ``kept``.
    n_iter_ : int
        Rounds.

    References
    ----------
    .. [1] Tan, Wang, Tsang, "Learning sparse SVM for feature selection on very high dimensional datasets", ICML 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest import FeatureGeneratingMachine
    >>> X, y = make_classification(n_features=500, n_informative=4, n_redundant=0, random_state=0)
    >>> machine = FeatureGeneratingMachine(n_features_to_select=5, top_b=True).fit(X, y)
    >>> int(machine.n_features_)
    5
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        "C": COST,
        "top_b": ["boolean"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
        "mkl": [StrOptions({"fast", "simple"})],
        "plain": ["boolean"],
        "tol": TOLERANCE,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        top_b=False,
        fit_intercept=True,
        intercept_scaling=1.0,
        mkl='fast',
        plain=False,
        gap=0.0001,
        tol=1e-14,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.top_b = top_b
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.mkl = mkl
        self.plain = plain
        self.gap = gap
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return min(FEW, n_features)

    def _request(self, samples, rules):
        return {
            "name": "fgm",
            "cost": float(self.C),
            "bias": self._bias(),
            "simple": self.mkl == "simple",
            "top_b": bool(self.top_b),
            "plain": bool(self.plain),
            "tolerance": float(self.tol),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.shares_, self.rounds_ = np.asarray(answer["more"]["shares"]), answer["more"]["rounds"]
        self.n_iter_ = len(self.rounds_)


class L1SVMSelector(Selector):
    r"""L1-SVM: the features with weight in a linear SVM with the L1 penalty, and a bound on its objective.

    .. math:: \min_{w, b} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q

    with q = 1 for the hinge loss (a linear program), 2 for the squared hinge loss (what
    ``sklearn.svm.LinearSVC(penalty="l1")`` solves). Rules that the weights do not obey by themselves choose the allowed subset of
    largest weights.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: those that have weight.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss of a sample.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised (LIBSVM). A number s above 0: it is the weight of a constant feature of value s (LIBLINEAR).
    tol : float, default=1e-9
        Relative duality gap of a training, between 0 and 1.
    gap : float, default=1e-8
        Relative gap between the best subset and the bound at which the search ends.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the L1-SVM.
    bound_ : float or None
        No weights have a smaller objective.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import L1SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> L1SVMSelector(C=0.01).fit(scale(X), y).transform(X).shape
    (569, ...)
    """

    _parameter_constraints = {
        **COMMON,
        **SVM,
        **GAP,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        loss='squared_hinge',
        fit_intercept=True,
        intercept_scaling=None,
        gap=1e-08,
        tol=1e-09,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.gap = gap
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {"name": "l1-svm", "svm": self._settings()}


class FSVSelector(Selector):
    """Feature selection by concave minimisation (Bradley and Mangasarian): few non-zero weights, by successive linear programs.

    Minimises ``(1 - lam) (mean error of each class) + lam sum_j (1 - exp(-alpha |w_j|))``: classes count alike, whatever their sizes.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: those that have weight.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    lam : float, default=0.05
        How much features count beside errors, at least 0 and below 1.
    alpha : float, default=5.0
        How fast a weight counts as one, above 0.
    n_starts : int, default=5
        Starts: no weights, then random ones.
    max_iter : int, default=50
        Most linear programs from one start.
    random_state : int, RandomState instance or None, default=None
        Of the random starts.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Value of the concave objective.
    bound_ : float or None
        None: the method proves nothing; :meth:`certify` does.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    n_iter_ : int
        Linear programs of the longest start.
    starts_ : list of list of float
        The objective after every linear program of each start; it never rises.

    References
    ----------
    .. [1] Bradley, Mangasarian, "Feature selection via concave minimization and support vector machines", ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import FSVSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(FSVSelector(random_state=0).fit(scale(X), y).n_features_ < 15)
    True
    """

    _parameter_constraints = {
        **{name: rule for name, rule in COMMON.items() if name != "class_weight"},
        "lam": [Interval(Real, 0.0, 1.0, closed="left")],
        "alpha": COST,
        "n_starts": AT_LEAST_ONE,
        "max_iter": AT_LEAST_ONE,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        lam=0.05,
        alpha=5.0,
        n_starts=5,
        max_iter=50,
        random_state=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.lam = lam
        self.alpha = alpha
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.random_state = random_state
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    class_weight = None

    def _request(self, samples, rules):
        return {
            "name": "fsv",
            "lambda": float(self.lam),
            "alpha": float(self.alpha),
            "starts": int(self.n_starts),
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
            "max_steps": int(self.max_iter),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.starts_ = answer["more"]["starts"]
        self.n_iter_ = max(1, *(len(steps) for steps in self.starts_), 1)

    def _cost(self):
        return 1.0


class MBPSelector(Selector):
    r"""L1-SVM with a price for each feature, as a mixed-integer program, with proof.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does: from the weights of L1-SVMs at four
    costs, times a factor; a feature that never had weight is left out.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: no limit; the prices decide.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=1.0
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    weight_bound : float, default=None
        u, the same for every feature, above 0.
    plain : bool, default=False
        The program as printed, left to HiGHS.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset.
    bound_ : float or None
        No allowed subset has a smaller objective.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.

    References
    ----------
    .. [1] Gaudioso, Gorgone, Labbe, Rodriguez-Chia, "Lagrangian relaxation for SVM feature selection", Computers and Operations
       Research 87, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import MBPSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = MBPSelector(C=0.1, penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        **PENALTY,
        "C": COST,
        "weight_bound": POSITIVE_OR_NONE,
        "plain": ["boolean"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        penalty=1.0,
        weight_bound=None,
        plain=False,
        gap=0.0001,
        fit_intercept=True,
        intercept_scaling=None,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.weight_bound = weight_bound
        self.plain = plain
        self.gap = gap
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {
            "name": "mbp",
            "cost": float(self.C),
            "bias": self._bias(),
            "penalty": self._prices(self.penalty),
            "weight_bound": None if self.weight_bound is None else float(self.weight_bound),
            "plain": bool(self.plain),
        }


class LagrangianSelector(Selector):
    r"""L1-SVM with a price for each feature: good subsets fast and a bound, by Lagrangian relaxation and a bundle method.

    .. math:: \min_{w, b, z} \; \sum_j |w_j| + C \sum_i \max(0, 1 - y_i (w^T x_i + b)) + \sum_j D_j z_j, \quad |w_j| \le u_j z_j

    with D = ``penalty``. The bounds u are ``weight_bound`` or, without it, found as the paper does: from the weights of L1-SVMs at four
    costs, times a factor; a feature that never had weight is left out.
    The method is a heuristic with a bound: :class:`MBPSelector` proves the optimum where it can.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: no limit; the prices decide.
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    C : float, default=1.0
        Slack cost, above 0.
    penalty : float, array-like of shape (n_features,) or dict, default=1.0
        Price of each chosen feature, added to the objective: one for all, one for each, or by name.
    weight_bound : float, default=None
        u, the same for every feature, above 0.
    epsilon : float, default=1e-6
        A feature is among those of the restricted program when its weight is above this share of u, at least 0 and below 1.
    max_iter : int, default=1000
        Most linear programs.
    restricted_time : float, default=0.25
        Most seconds of one restricted program.
    gap : float, default=1e-4
        Relative gap between the best subset and the bound at which the search ends.
    tol : float, default=1e-7
        The ascent ends when the bundle promises less than this share of the bound.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    intercept_scaling : float or None, default=None
        None: the bias is not penalised. A number s above 0: it counts as ``|b / s|``.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    objective_ : float
        Objective of the best subset found.
    bound_ : float or None
        No allowed subset has a smaller objective.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : LinearSVC
        The method's own classifier on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    lagrangian_bound_ : float
        Value of the Lagrangian dual.
    steps_ : list of dict
        Every step: ``value``, ``lower``, ``upper``, ``serious``, ``omega``, ``seconds``.
    n_iter_ : int
        Steps.

    References
    ----------
    .. [1] Gaudioso, Gorgone, Labbe, Rodriguez-Chia, "Lagrangian relaxation for SVM feature selection", Computers and Operations
       Research 87, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import LagrangianSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = LagrangianSelector(C=0.1, penalty=0.5, time_limit=20).fit(scale(X)[:100], y[:100])
    >>> bool(selector.bound_ <= selector.objective_)
    True
    """

    _parameter_constraints = {
        **COMMON,
        **GAP,
        **PENALTY,
        "C": COST,
        "weight_bound": POSITIVE_OR_NONE,
        "epsilon": [Interval(Real, 0.0, 1.0, closed="left")],
        "max_iter": AT_LEAST_ONE,
        "restricted_time": [Interval(Real, 0.0, None, closed="left")],
        "tol": TOLERANCE,
        "fit_intercept": ["boolean"],
        "intercept_scaling": POSITIVE_OR_NONE,
    }

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        C=1.0,
        penalty=1.0,
        weight_bound=None,
        epsilon=1e-06,
        max_iter=1000,
        restricted_time=0.25,
        gap=0.0001,
        tol=1e-07,
        fit_intercept=True,
        intercept_scaling=None,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.C = C
        self.penalty = penalty
        self.weight_bound = weight_bound
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.restricted_time = restricted_time
        self.gap = gap
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _request(self, samples, rules):
        return {
            "name": "lagrangian",
            "cost": float(self.C),
            "bias": self._bias(),
            "penalty": self._prices(self.penalty),
            "weight_bound": None if self.weight_bound is None else float(self.weight_bound),
            "epsilon": float(self.epsilon),
            "max_steps": int(self.max_iter),
            "tolerance": float(self.tol),
            "restricted_seconds": float(self.restricted_time),
        }

    def _tell(self, answer, p):
        super()._tell(answer, p)
        self.lagrangian_bound_, self.steps_ = answer["more"]["lagrangian_bound"], answer["more"]["steps"]
        self.n_iter_ = max(len(self.steps_), 1)


class InformationGain(Selector):
    """Information gain: ranks features by how many bits knowing them tells about the class.

    Trains no SVM to select, and proves nothing about one; the fastest look at many features.

    Parameters
    ----------
    n_features_to_select : int, default=None
        At most this many features. None: min(5, n_features).
    rules : Rules, default=None
        Rules that the subset obeys: must-in, must-out, implications, groups, a budget.
    bins : int, default=None
        Intervals of equally many samples, at least 2. None: intervals of Fayyad and Irani, by minimum description length.
    C : float, default=1.0
        Slack cost of the classifier, above 0.
    class_weight : dict or "balanced", default=None
        Weights of classes; "balanced": inverse to their total sample weight.
    time_limit : float, default=None
        Most seconds of the search. The best subset so far is kept, and a :class:`~sklearn.exceptions.ConvergenceWarning` tells.
    callback : callable, default=None
        Called with a :class:`Progress` at every step; the search ends when it returns something true. With scikit-learn 1.9 or
        later ``set_callbacks`` takes callbacks of its protocol as well.
    verbose : int, default=0
        1: a line for each better subset and each second; 2: for each event.
    n_jobs : int, default=None
        Threads; None or -1: all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many they are.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature of largest gain, and so on.
    objective_ : float
        Total gain of the selected features, in bits; larger is better.
    bound_ : float or None
        None: the method proves nothing; :meth:`certify` does.
    gap_ : float or None
        ``|objective_ - bound_| / |objective_|``.
    status_ : str
        "optimal" (proven within the gap), "completed" (the method did all it does), or the limit that ended it: "time_limit",
        "call_limit", "node_limit", "cancelled", "stalled".
    trace_ : dict of ndarray
        ``time``, ``objective``, ``n_features`` and ``bound`` at every improvement.
    estimator_ : SVC
        The classifier trained on the selected features.
    coef_, intercept_ : ndarray
        Its weights, of shape (n_machines, n_features_), and biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, when X had any.
    scores_ : ndarray of shape (n_features,)
        Gain of each feature, in bits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _parameter_constraints = {
        **COMMON,
        "bins": [Interval(Integral, 2, None, closed="left"), None],
        "C": COST,
    }
    _binary_only = False

    def __init__(
        self,
        *,
        n_features_to_select=None,
        rules=None,
        bins=None,
        C=1.0,
        class_weight=None,
        time_limit=None,
        callback=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rules = rules
        self.bins = bins
        self.C = C
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_size(self, n_features):
        return min(FEW, n_features)

    def _request(self, samples, rules):
        return {"name": "info-gain", "bins": None if self.bins is None else int(self.bins)}

    def _tell(self, answer, p):
        self.scores_ = np.zeros(p)
        self.scores_[answer["ranked"]] = answer["criteria"]
        super()._tell(answer, p)

    def _ranking(self, answer):
        ranking = np.full(len(self.support_), len(answer["ranked"]) + 1)
        ranking[answer["ranked"]] = np.arange(1, len(answer["ranked"]) + 1)
        return ranking
