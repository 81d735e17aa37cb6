"""SVM-RFE, with and without cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import get_routing_for_object

from fewest import _core, _signatures
from fewest._auto_cost import check_one_choice
from fewest._call import holding, limited
from fewest._columns import ColumnFile
from fewest._cross_validated import CrossValidated, criterion_of, folds_of, step_of
from fewest._engine import Listener, Samples, limits_of, refuse_elsewhere, seed_of, warn_of_limit, weights_in
from fewest._estimator import Tags
from fewest._parameters import AT_LEAST_ONE, COUNT_OR_NONE, NOT_BELOW_0, handed
from fewest._path import fitted_path
from fewest._preparation import Preparation
from fewest._svm import voted, votes

if TYPE_CHECKING:
    from typing_extensions import Self


class SVMRFE(_signatures.SVMRFE, CrossValidated):
    """SVM recursive feature elimination: drops the features of smallest weight until few enough are
    left.

    One line in place of ``RFE(SVC(kernel="linear"), n_features_to_select=..., step=...)`` of
    scikit-learn, with the same ranking; every training starts from the last one. With ``cv`` it
    takes the place of ``RFECV``: the size is chosen by cross-validation, the elimination being
    repeated inside each fold.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None; ``C_``, ``fit_C_`` and ``cost_choice_`` (all scores) say what was found.
        Not together with ``cv``.
    n_features_to_select : int or float, default=None
        At most this many features; a number below 1 is a share of all. None: the size of ``rules``; without one the size is chosen
        where there is ``cv``, there is no limit where rules have a budget or ``at_most``, and it is
        half of the features that it begins with, but at least 2, otherwise.
    fit_C : float, default=None
        Slack cost of the classifier on the selected features, above 0. None: C. Cross-validation
        judges sizes by the SVMs of the elimination, which are trained at C.
    step : int or float, default=1
        Features dropped at a time; below 1: as a share of them.
    step_of : {"original", "remaining"}, default="original"
        What a share is taken of: all features (scikit-learn), or those that remain ("remaining"
        with 0.5 halves them).
    halve_above : int, default=None
        While more features than this survive, half of them leave in one step. None: never.
    resamples : int, splitter or iterable, default=None
        Multiple SVM-RFE [2]_: features are ranked by SVMs trained on this many resamples of the samples,
        by the mean of ``w_j ** 2 / |w| ** 2`` over them, divided by its standard deviation. A splitter, or (train, test) pairs:
        the training parts are the resamples, the same at each step; a sample named twice counts twice. None: all samples rank,
        by ``w_j ** 2``. Linear kernel, one C.
    resampling : {"folds", "fixed_folds", "bootstrap"}, default="folds"
        With a number of ``resamples``: that many stratified folds, of which each resample leaves one
        out, dealt again at each step, or once ("fixed_folds"); "bootstrap": draws with replacement within each class, as many as
        it has samples, again at each step.
    random_state : int, RandomState instance or None, default=0
        With a number of ``resamples``: what they are drawn by.
    Cs : sequence of float, default=None
        Slack costs to choose from by cross-validated accuracy on the way, ascending: ``cv`` are
        then the splits of that choice, and the size is not chosen. None: C alone.
    retune : int, default=1
        With ``Cs``: the cost is chosen again each time this many steps are done.
    cv : int, splitter or iterable, default=None
        None: no cross-validation. Otherwise as scikit-learn's: the number of stratified folds, a
        splitter, or (train, test) pairs. With ``Cs`` None is 5.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        What stands in for missing values (NaN). With ``cv`` it is learnt from the training part of
        each split. None: there may be none.
    scale : bool, default=False
        Features are given mean 0 and variance 1, or, where X is sparse, largest absolute value 1.
        With ``cv`` this, too, is learnt from the training part of each split, and at the end, as
        for ``predict``, from all samples; ``coef_`` is of the features scaled. A sample counts as often as its
        weight says. ``impute`` and ``scale`` go with one C: where ``C="auto"`` or ``Cs`` choose it, put the selector behind
        scikit-learn's transformers in a pipeline.
    scoring : str or callable, default=None
        Score of a size in a fold; None: accuracy. It may ask for ``predict`` and
        ``decision_function``.
    min_features_to_select : int, default=1
        The smallest size that cross-validation judges.
    size_rule : {"best", "one_se"} or float, default="best"
        Which size is chosen: that of the best mean score (the smallest such), the smallest within
        one standard error of it, or the smallest whose mean score is at most this much lower.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for those that left last, and so on; features that left
        together share a rank.
    elimination_order_ : ndarray of int
        Features that left, the first one first; of those that left together, the smallest criterion
        first.
    elimination_steps_ : int
        Steps of the elimination.
    certain_steps_ : int or None
        After how many of them the same features are left as by trainings without any error: their
        criteria differ by more than what the duality gaps leave open. The others are ties within
        ``tol`` or rounding. None where the criterion is not the squared weights, and with ``resamples``.
    objective_ : float
        Objective of the SVM on the selected features.
    preparation_ : object or None
        With ``impute`` or ``scale``, what was learnt from all samples: ``fill``, ``center``,
        ``scale``, ndarrays of shape (n_features,) or None.
    tuned_ : list of dict
        With ``Cs``, every choice of the cost: ``step``, ``n_features``, ``cost``, ``accuracy``.
    cv_results_ : dict of array-like of length n_sizes
        With ``cv``: ``n_features``, ``mean_test_score``, ``std_test_score``, and for each split i
        ``split{i}_test_score``, and at each size ``split{i}_ranking`` and ``split{i}_support``.

    See Also
    --------
    EvaluationRFE : Drops the feature whose removal cross-validates best.
    ExactSelector : The best subset, with proof.

    References
    ----------
    .. [1] Guyon, Weston, Barnhill, Vapnik, "Gene selection for cancer classification using support vector machines", Machine
       Learning 46, 2002.
    .. [2] Duan, Rajapakse, Wang, Azuaje, "Multiple SVM-RFE for gene selection in cancer classification with expression data",
       IEEE Transactions on NanoBioscience 4, 2005.

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

    _tags = replace(CrossValidated._tags, page="docs/methods/rfe.md", shards="any")
    _takes = (
        "n_features_to_select: 'share', rules, step, step_of, halve_above: int | None = None, resamples: Any = None, "
        "resampling: str = 'folds', random_state, start, C: 'auto', Cs, retune: int = 1, fit_C, KERNEL, loss, fit_intercept, "
        "intercept_scaling, tol=1e-09, cv=None, impute, scale: bool = False, scoring: Any = None, min_features_to_select: int = 1, "
        "size_rule: str | float = 'best', RESUMED"
    )

    _parameter_constraints = {
        "halve_above": COUNT_OR_NONE,
        "resamples": ["cv_object"],
        "resampling": [StrOptions({"folds", "fixed_folds", "bootstrap"})],
        "scale": ["boolean"],
        "retune": AT_LEAST_ONE,
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "min_features_to_select": AT_LEAST_ONE,
        "size_rule": [StrOptions({"best", "one_se"}), *NOT_BELOW_0],
    }

    @_fit_context(prefer_skip_nested_validation=False)
    @limited
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """
        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples. Taken as they are, unless ``scale`` says otherwise.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each counts as, 0 or more, in training and in scores; default 1.
        """
        if self._chooses_size:
            _check_scoring(self.scoring)
        raw = self._validated(X, y, sample_weight)
        if not isinstance(raw, Samples):
            self._check_for_shards()
        if self.C == "auto" or not self.__fewest_tags__().deals_folds:
            raw = self._with_groups(raw, X, groups)
        tuning, resamples = self._tuned(raw, X, y, groups), self._resampled(raw, X, y, groups)
        with holding(self, _tuning=tuning, _resamples=resamples, _raw=None if self._how() is None else raw):
            samples = self._learnt(raw)
            return self._run(samples, self._splits(self.cv if self._chooses_size else None, samples, X, y, groups))

    def _check_for_shards(self) -> None:
        """Refuse what columns on workers are not asked for."""
        plain: dict[str, tuple[Any, ...]] = {
            "kernel": ("linear",),
            "criterion": ("auto", "weights"),
            **dict.fromkeys(("Cs", "cv", "impute", "resume", "resamples"), (None,)),
            "scale": (False,),
        }
        for name, values in plain.items():
            if (given := getattr(self, name)) not in values:
                raise ValueError(
                    f"{name} is {given!r}, but columns on workers are eliminated by the weights of linear SVMs at one cost, as they "
                    f"are, from the beginning to the end; leave {name} out, or give an array, such as X.compute() of a Dask collection"
                )

    def _how(self) -> dict[str, Any] | None:
        """How samples are prepared, as the engine takes it."""
        if self.impute is None and not self.scale:
            return None
        return {"impute": self.impute and self.impute.replace("_", "-"), "scale": bool(self.scale)}

    def _learnt(self, raw: Samples) -> Samples:
        """The samples prepared by what they say themselves."""
        self.preparation_ = None
        if (how := self._how()) is None:
            return raw
        if isinstance(raw.X, ColumnFile):
            raise TypeError("impute and scale need the samples in memory; write the column file from samples that are prepared")
        if self.C == "auto" or self.Cs is not None:
            raise ValueError(
                "impute and scale are learnt again in the splits that judge sizes, not in those that choose a cost (C='auto', Cs); "
                "put the selector behind SimpleImputer or StandardScaler in a pipeline"
            )
        self.preparation_ = Preparation.learnt(raw.matrix, raw.sample_weight, how)
        return self._prepared(raw)

    def _prepared(self, samples: Samples) -> Samples:
        return samples if self.preparation_ is None else samples.with_X(self.preparation_.apply(samples.X))

    def _reduced(self, X: Any) -> Any:
        reduced = super()._reduced(X)
        return reduced if self.preparation_ is None else self.preparation_.part(self.support_).apply(reduced)

    @property
    def _chooses_size(self) -> bool:
        """Whether cross-validation chooses the size."""
        return self.cv is not None and self.Cs is None

    def __fewest_tags__(self) -> Tags:
        fixed = self.resamples is not None and not isinstance(self.resamples, Integral)
        deals_folds = self.C == "auto" or self.cv is not None or self.Cs is not None or fixed
        return replace(self._tags, deals_folds=deals_folds, chooses_size=self._chooses_size)

    def _tuned(self, samples: Samples, X: Any, y: Any, groups: Any) -> dict[str, Any] | None:
        """How the cost is tuned, as the engine takes it."""
        if self.Cs is None:
            if self.retune != 1:
                raise ValueError(f"retune is {self.retune}, which says how often one of Cs is chosen; give Cs, or leave it out")
            return None
        if self.C == "auto":
            raise ValueError('C="auto" and Cs both choose the cost; leave one of them out')
        folds = folds_of(self._splits(5 if self.cv is None else self.cv, samples, X, y, groups), samples, self.class_weight)
        return {"folds": folds, **handed(self, "retune", costs="Cs")}

    def _resampled(self, samples: Samples, X: Any, y: Any, groups: Any) -> dict[str, Any] | None:
        """The resamples that rank features, as the engine takes them."""
        how = self.resampling.replace("_", "-")
        if self.resamples is None:
            if self.resampling != "folds":
                raise ValueError(
                    f"resampling is {self.resampling!r}, which says how resamples are drawn; give resamples, or leave it out"
                )
            return None
        if self.Cs is not None:
            raise ValueError("resamples rank at one C, and Cs are several; leave one of them out")
        if self.kernel != "linear" or criterion_of(self) != "weights":
            raise ValueError(
                f"resamples rank by the weights of linear SVMs, but kernel is {self.kernel!r} and criterion is {self.criterion!r}; "
                "leave these out, or resamples"
            )
        if isinstance(self.resamples, Integral):
            return {"count": int(self.resamples), "resampling": how, "seed": seed_of(self.random_state)}
        if self._chooses_size or self.C == "auto":
            raise ValueError(
                "resamples are splits of all samples, but cv and C='auto' eliminate on parts of them; give a number of resamples, "
                "which are drawn in each"
            )
        if self.resampling != "folds":
            raise ValueError(f"resampling is {self.resampling!r}, but resamples are splits already; leave it out, or give a number")
        folds = folds_of(self._splits(self.resamples, samples, X, y, groups), samples, self.class_weight)
        return {"count": len(folds["splits"]), "folds": folds}

    @limited
    def path(self, X: Any, y: Any, sizes: Any, sample_weight: Any = None, groups: Any = None) -> list[Self]:
        for name in ("cv", "Cs"):
            if (given := getattr(self, name)) is not None:
                raise ValueError(
                    f"{name} is {given!r}, but a path has every size at one cost, so that none is chosen; leave {name} out"
                )
        refuse_elsewhere(X, "path needs")
        selector = clone(self)
        selector._validate_params()
        raw = selector._with_groups(selector._validated(X, y, sample_weight), X, groups)
        with holding(selector, _resamples=selector._resampled(raw, X, y, groups)):
            return fitted_path(selector, selector._learnt(raw), sizes)

    def _fit_on(self, samples, splits):
        check_one_choice(self)
        with holding(self, _chosen=None, _steps_before=0):
            if self._chooses_size:
                if isinstance(samples.X, np.ndarray):
                    # Every split copies its columns anyhow, and they lie together in this order.
                    samples = samples.with_X(np.asfortranarray(samples.X))
                self._chosen = self._cross_validate(samples, splits)
            self._fit(samples)

    def _default_size(self, n_features):
        begun = self._begun()
        begins = n_features if begun is None else len(begun)
        return max(begins // 2, min(2, begins))

    def _rules(self, p):
        rules = super()._rules(p)
        if getattr(self, "_chosen", None) is not None:
            rules["max_features"] = self._chosen
        return rules

    def _most(self, rules, p):
        # With cv every size is judged with the gamma that is chosen in the end.
        return super()._most(rules, p) if not self._chooses_size else min(self._given_size() or p, p)

    def _method(self, samples, rules):
        tuning = getattr(self, "_tuning", None)
        how = {"criterion": criterion_of(self), "step": step_of(self), "tuning": tuning, "start": self._begun()}
        more = {"halve_above": self.halve_above, "resamples": getattr(self, "_resamples", None)}
        return {"name": "rfe", "svm": self._svm(), "kernel": self._kernel, **how, **more}

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        details = answer["details"]
        self.elimination_order_ = answer["ranked"][answer["steps"] > 0][::-1]
        self.elimination_steps_, self.certain_steps_ = details.get("elimination_steps", 0), details.get("certain_steps")
        if self.Cs is not None:
            self.C_, self.tuned_ = answer["cost"] or self.C, details.get("tuned", [])

    def _cross_validate(self, samples, splits):
        """Eliminate inside every split, score every size there, and choose one; sets
        ``cv_results_``.
        """
        p = samples.X.shape[1]
        paths, most = self._paths(samples, splits), self._most({}, p)
        for path in paths:
            warn_of_limit(self, path, "Sizes that a split did not reach are not judged.")
        sizes = sorted(set.intersection(*(set(path["sizes"].tolist()) for path in paths)))
        sizes = [size for size in sizes if size <= most] or sizes[:1]
        parts = enumerate(zip(paths, splits, strict=True))
        scores = np.array([_scores(self, samples, test, path, sizes, number) for number, (path, (_, test)) in parts])
        mean = scores.mean(axis=0)
        best = int(mean.argmax())
        if self.size_rule != "best":
            less = self.size_rule
            if less == "one_se":
                # Standard error of the mean, from the sample variance over the splits.
                less = scores[:, best].std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
            best = int(np.flatnonzero(mean >= mean[best] - less)[0])
        self._set_cv_results(paths, sizes, scores, p)
        return sizes[best]

    def _paths(self, samples, splits):
        """The elimination inside every split, down to the smallest size that is judged."""
        p, least, most = samples.X.shape[1], int(self.min_features_to_select), self._given_size()
        if most is not None and least > most:
            raise ValueError(f"min_features_to_select is {least}, but at most {most} features may be selected; lower it")
        rules = {**self._rules(p), "max_features": min(least, p)}
        _core.check_rules(rules, self._names())
        self._kernel = self._kernel_rule(samples, rules)
        listener = Listener(self, samples)
        # The elimination on all samples, which comes last, takes about as long as that of one
        # split.
        share = None if self.time_limit is None else self.time_limit * len(splits) / (len(splits) + 1)
        paths = _core.rfe_paths(
            *samples.arguments,
            rules,
            self._method(samples, rules),
            [(train.tolist(), test.tolist()) for train, test in splits],
            self._split_weights(samples, splits),
            limits_of(self, share),
            listener.wanted,
            None if self._raw is None else (self._raw.matrix, self._raw.sample_weight, self._how()),
        )
        self._steps_before = listener.state.get("done") or 0
        return paths

    def _split_weights(self, samples, splits):
        """The weights of each split's samples, where those of classes depend on the training
        part.
        """
        if not isinstance(self.class_weight, str):
            return None
        return [weights_in(samples, self.class_weight, train) for train, _ in splits]

    def _set_cv_results(self, paths, sizes, scores, p):
        mean, std = scores.mean(axis=0), scores.std(axis=0)
        self.cv_results_ = {"n_features": np.array(sizes), "mean_test_score": mean, "std_test_score": std}
        for number, (path, score) in enumerate(zip(paths, scores, strict=True)):
            self.cv_results_[f"split{number}_test_score"] = score
            self.cv_results_[f"split{number}_ranking"] = BySize(path["ranked"], path["sizes"], sizes, p, ranks=True)
            self.cv_results_[f"split{number}_support"] = BySize(path["ranked"], path["sizes"], sizes, p, ranks=False)


class BySize(Sequence):
    """A split's ranking or support at every size, as scikit-learn's RFECV keeps it; made when asked
    for, since all of them take n_sizes x n_features numbers.
    """

    def __init__(self, ranked: np.ndarray, passed: np.ndarray, sizes: Sequence[int], p: int, *, ranks: bool) -> None:
        self.ranked, self.passed, self.sizes, self.p, self.ranks = ranked, np.asarray(passed, dtype=int), sizes, p, ranks

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        size = self.sizes[at]
        if not self.ranks:
            support = np.zeros(self.p, dtype=bool)
            support[self.ranked[:size]] = True
            return support
        # Features that left in the same step share a rank; the last to leave have 2.
        larger = np.sort(self.passed[self.passed > size])
        ranking = np.empty(self.p, dtype=int)
        ranking[self.ranked] = 1 + np.searchsorted(np.r_[size, larger[:-1]] if len(larger) else [size], np.arange(self.p), side="right")
        return ranking

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(list(self), dtype=dtype)


def _scores(estimator: SVMRFE, samples: Samples, test: np.ndarray, path: dict[str, Any], sizes: list[int], number: int) -> np.ndarray:
    """Score of each size on the samples held out by the split of this number."""
    decisions = path["decisions"][np.searchsorted(-path["sizes"].astype(int), -np.array(sizes))]
    y, weights = samples.codes[test], samples.sample_weight[test]
    if len(samples.classes) == 2:
        decisions = decisions[:, :, 0]
        predicted = (decisions > 0).astype(y.dtype)
    else:
        # Positive for the second class of each pair.
        of_pairs, classes = -decisions.reshape(-1, decisions.shape[2]), np.arange(len(samples.classes))
        predicted = voted(classes, of_pairs).reshape(len(sizes), len(test)).astype(y.dtype)
        decisions = votes(of_pairs, len(classes)).reshape(len(sizes), len(test), -1)
    if estimator.scoring in (None, "accuracy"):
        return (predicted == y) @ weights / weights.sum()
    scorer = check_scoring(scoring=estimator.scoring)
    options = {"sample_weight": weights} if _takes_weights(estimator.scoring, scorer) else {}
    X, labels = samples.X[test], samples.classes[y]
    judged = [_DecisionTable(samples.classes, *both) for both in zip(decisions, predicted, strict=True)]
    held_out = np.unique(labels).tolist()
    why = (
        f", which holds out the class {held_out[0]!r} alone; stratify the splits"
        if len(held_out) == 1
        else "; a score has to be a number"
    )
    try:
        scores = np.array([scorer(decided, X, labels, **options) for decided in judged], dtype=float)
    except ValueError as error:
        raise ValueError(f"scoring {_name_of(estimator.scoring)} fails in split {number}{why.partition(';')[0]}: {error}") from error
    if np.isnan(scores).any():
        raise ValueError(f"scoring {_name_of(estimator.scoring)} gives NaN in split {number}{why}, or take another scoring")
    return scores


def _name_of(scoring: Any) -> str:
    return repr(scoring) if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))


def _check_scoring(scoring: Any) -> None:
    """Raise where a score asks for probabilities, which the SVMs of an elimination do not have."""
    if scoring is None:
        return
    asked = getattr(check_scoring(scoring=scoring), "_response_method", None)
    if asked == "predict_proba":
        raise ValueError(
            f"scoring {_name_of(scoring)} asks for probabilities, but a size is judged by predict and decision_function; take one that "
            "asks for these, such as 'roc_auc', 'average_precision', 'accuracy' or 'balanced_accuracy'"
        )


def _takes_weights(scoring: Any, scorer: Any) -> bool:
    """Whether a score is one of weighted samples: by name it is; a scorer of the caller's own may not
    know weights, and says so by metadata routing.
    """
    if not callable(scoring):
        return True
    if not get_config()["enable_metadata_routing"] or not hasattr(scorer, "get_metadata_routing"):
        return False
    return bool(get_routing_for_object(scorer).consumes("score", ["sample_weight"]))


class _DecisionTable(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions are known already; what a scorer sees."""

    def __init__(self, classes: np.ndarray, decisions: np.ndarray, predicted: np.ndarray) -> None:
        self.classes_, self.decisions, self.predicted = classes, decisions, predicted

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values."""
        return self.decisions

    def predict(self, X: Any) -> np.ndarray:
        """The classes decided for."""
        return self.classes_[self.predicted]
