"""How far a given list of features is from the best one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from fewest import _core
from fewest._call import limited
from fewest._caller import called_with, column_name
from fewest._engine import Listener, Samples, coded_tasks, limits_of, refuse_elsewhere, subsets_of, warn_of_limit
from fewest._exact import ExactSelector
from fewest._figure import FIRST, PALE, SECOND, finish, new_axes, percent
from fewest._functions import searches
from fewest._memory import method_with_memory
from fewest._rules import Rules
from fewest._several import PROBLEMS
from fewest._tables import Paged
from fewest._warn import warn


@dataclass(frozen=True)
class Certificate(Paged):
    """What :func:`certify` found of a list of features.

    Parameters
    ----------
    selected : ndarray of int
        Indices of the features of the list, ascending.
    objective : float
        The objective of the SVM on them, prices of features included.
    bound : float or None
        No subset that the rules allow has a smaller objective, of at most as many features as the list
        has, or as ``rules`` say. None where nothing is proven.
    baseline : float
        The objective without features.
    gap : float or None
        The share of what features can gain over none that the list leaves out at most, as ``gap_`` of a
        selector. None where nothing is proven, or where the list breaks the rules and is better than
        all that they allow.
    objective_gap : float or None
        ``|objective - bound| / |objective|``.
    status : str
        How the search ended; "optimal" where the best subsets are proven.
    features : list of dict
        For each feature of the list: ``feature`` (its name where X has names, else its index),
        ``index``, ``gain`` (by how much the objective rises where it is left out and the SVM is trained
        again), ``without`` (the objective then), ``replacement`` (the feature outside the list that
        could best take its place, or None), ``objective`` (with that one in its place). None where time
        was too short.
    better : list of (ndarray of int, float)
        The subsets found that are better than the list, with their objectives, best first.
    solutions : list of (ndarray of int, float)
        The best allowed subsets known, best first, ``n_solutions`` of them.
    allowed : bool
        Whether the list obeys the rules.
    broken_rules : list of str
        Those that it breaks, in words.
    proof : str or None
        The file of the proof.
    n_features : int
        Features that X has.
    result : dict
        The same with names of features, under the keys of the JSON of ``fewest certify``.
    """

    selected: np.ndarray
    objective: float
    bound: float | None
    baseline: float
    gap: float | None
    objective_gap: float | None
    status: str
    features: list[dict[str, Any]]
    better: list[tuple[np.ndarray, float]]
    solutions: list[tuple[np.ndarray, float]]
    allowed: bool
    broken_rules: list[str]
    proof: str | None
    n_features: int
    result: dict[str, Any] = field(repr=False, compare=False)

    def plot(self, ax: Any = None, *, figsize: Any = None) -> Any:
        """Draw how much of what this number of features can gain over none the list reaches, how much a better list is
        known to gain more, and what is left open.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: those of a new figure.
        figsize : {"single", "double"} or tuple of float, default=None
            Of a new figure: 85 or 170 mm wide with text of 7 points, or width and height in inches.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on.
        """
        if self.gap is None or self.bound is None:
            raise ValueError("nothing is proven of the list, so that its gain is not known; raise time_limit")
        best = min([objective for _, objective in self.better], default=self.objective)
        known = min((self.objective - best) / (self.baseline - self.bound), self.gap)
        parts = {"reached by the list": 1 - self.gap, "a better list is known": known, "open": self.gap - known}
        own = ax is None
        ax = new_axes("Certificate.plot", ax, figsize, 2, least=2)
        left = 0.0
        for (label, share), colour in zip(parts.items(), (FIRST, SECOND, PALE), strict=True):
            if share > 0:
                ax.barh([0], [share], left=left, height=0.6, color=colour, label=f"{label}: {percent(share)}")
            left += share
        ax.set(xlim=(0, 1), ylim=(-0.5, 0.5), yticks=[], xlabel="Share of the gain over no features")
        size = len(self.selected)
        finish(ax, own, figsize, f"{size} features reach at least {percent(1 - self.gap)} of what any {size} can gain", 1)
        return ax

    def __repr__(self) -> str:
        bound = "none" if self.bound is None else f"{self.bound:.6g}"
        return (
            f"Certificate({len(self.selected)} of {self.n_features} features, objective {self.objective:.6g}, bound {bound}, "
            f"{self.status}, {len(self.better)} better)"
        )


class _Certifier(ExactSelector):
    """The search, with its checks of parameters and samples."""

    n_features_to_select: int | None = None

    @limited
    def _find(self, X: Any, y: Any, features: Any, sample_weight: Any, tasks: Any) -> Certificate:
        """What :func:`certify` returns."""
        refuse_elsewhere(X, "certify needs")
        self._validate_params()
        if self.C == "auto":
            raise ValueError("C is 'auto', but certify takes a number; ExactSelector(C=\"auto\") chooses one, C_")
        if isinstance(self.feature_penalty, str):
            raise ValueError(
                "feature_penalty is 'auto', but certify takes numbers; ExactSelector(feature_penalty=\"auto\") finds one, "
                "feature_penalty_"
            )
        samples = self._validated(X, y, sample_weight)
        chosen = self._listed(features)
        if (self.rules or Rules()).max_features is None:
            self.n_features_to_select = len(chosen)
        p = samples.X.shape[1]
        rules = self._rules(p)
        codes = None if tasks is None else coded_tasks(samples, X, tasks)[1]
        broken = _core.broken_rules(rules, self._names(), chosen)
        for rule in broken:
            warn(f"the list breaks a rule: {rule}")
        method = {
            "name": "exact",
            "svm": self._svm(),
            "penalty": self._prices(self.feature_penalty),
            "solutions": int(self.n_solutions),
        }
        method = method_with_memory({**method, "multi_class": PROBLEMS[self.multi_class]})
        own = {} if broken else {"own": chosen}
        request = None if self.proof is None else self._proof_request(self.proof, "certify", method, own)
        limits = limits_of(self, self.time_limit, gap=self.gap, nodes=self.node_limit)
        found = _core.certify_list(*samples.arguments, rules, chosen, method, limits, request, codes, Listener(self, samples).lines)
        warn_of_limit(self, found, "What is proven so far is returned.")
        worth = self._worth(chosen, found["swaps"])
        values = {name: found[name] for name in ("objective", "bound", "baseline", "gap", "objective_gap", "status", "allowed")}
        return Certificate(
            selected=np.asarray(chosen, dtype=np.intp),
            features=worth,
            better=subsets_of(found["better"]),
            solutions=subsets_of(found["solutions"]),
            broken_rules=broken,
            proof=os.fspath(self.proof) if found["proof"] else None,
            n_features=p,
            result=self._said(samples, column_name(y), worth, broken, found, values),
            **values,
        )

    def _said(
        self,
        samples: Samples,
        target: str,
        worth: list[dict[str, Any]],
        broken: list[str],
        found: dict[str, Any],
        values: dict[str, Any],
    ) -> dict[str, Any]:
        """What the page of the certificate is made of."""
        names, classes = self._names(), [str(label) for label in samples.classes.tolist()]
        keys = ("-1", "+1") if len(classes) == 2 else tuple(str(at) for at in range(len(classes)))
        chosen = [one["index"] for one in worth]

        def subset(of: list[int], objective: float) -> dict[str, Any]:
            return {"selected": [names[j] for j in of], "selected_indices": of, "objective": objective}

        def feature(one: dict[str, Any]) -> dict[str, Any]:
            by = None if one["replacement"] is None else {"name": str(one["replacement"]), "objective": one["objective"]}
            return {"name": names[one["index"]], **{key: one[key] for key in ("index", "gain", "without")}, "replacement": by}

        return {
            "schema": 1,
            "kind": "certificate",
            "method": "certify",
            "n_samples": len(samples.codes),
            "n_features": len(names),
            "target": target,
            "classes": dict(zip(keys, classes, strict=True)),
            "class_counts": dict(zip(keys, np.bincount(samples.codes).tolist(), strict=True)),
            **values,
            **subset(chosen, values["objective"]),
            "max_features": (self.rules or Rules()).max_features or len(chosen),
            "broken_rules": broken,
            "features": [feature(one) for one in worth],
            "better": [subset(*one) for one in found["better"]],
            "solutions": [subset(*one) for one in found["solutions"]],
            "command": called_with(" ".join(repr(self).split()), "X", "y", repr([names[j] for j in chosen])),
            "version": _core.__version__,
        }

    def _listed(self, features: Any) -> list[int]:
        """The list as indices, ascending."""
        chosen = sorted(self._index("features").all(features))
        if not chosen:
            raise ValueError("features names no feature; give at least one")
        twice = next((one for one, other in pairwise(chosen) if one == other), None)
        if twice is not None:
            raise ValueError(f"features names {self._label(twice)!r} twice; leave one out")
        return chosen

    def _label(self, feature: int | None) -> Any:
        """The name of a feature where X has names, else its index."""
        named = getattr(self, "feature_names_in_", None)
        return feature if named is None or feature is None else str(named[feature])

    def _worth(self, chosen: list[int], swaps: list[Any]) -> list[dict[str, Any]]:
        """What is known of each feature of the list."""
        known = {swap[0]: swap[1:] for swap in swaps}
        found = []
        for feature in chosen:
            gain, without, by = known.get(feature, (None, None, None))
            replacement, objective = by or (None, None)
            worth = {"gain": gain, "without": without, "replacement": self._label(replacement), "objective": objective}
            found.append({"feature": self._label(feature), "index": feature, **worth})
        return found


@searches(_Certifier, "X", "y", "features", "sample_weight", "tasks")
def certify(  # type: ignore[empty-body]
    X: Any,
    y: Any,
    features: Any,
    sample_weight: Any = None,
    *,
    rules: Rules | None = None,
    C: float = 1.0,
    feature_penalty: Any = None,
    multi_class: str = "ovo",
    tasks: Any = None,
    n_solutions: int = 3,
    gap: float = 0.0001,
    node_limit: int | None = None,
    proof: str | os.PathLike[str] | None = None,
    loss: str = "hinge",
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    tol: float = 1e-06,
    class_weight: dict[Any, float] | str | None = None,
    time_limit: float | None = None,
    on_interrupt: str = "raise",
    verbose: int = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
) -> Certificate:
    """How far a list of features is from the best one: a published signature, a colleague's draft, the
    choice of another tool.

    What ``fewest certify`` does. The list is compared with the best subset of at most as many features
    for a linear SVM, by the search of :class:`ExactSelector`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples. Taken as they are: scale features first where their units differ.
    y : array-like of shape (n_samples,)
        The class of each sample.
    features : sequence of features
        The list: names of columns where X is a data frame, or indices from 0; or a boolean mask of
        length n_features. At least one feature, each once.
    sample_weight : array-like of shape (n_samples,), default=None
        How many samples each counts as.
    rules : Rules, default=None
        Rules that the subsets obey which the list is compared with; ``max_features`` is their size. A
        list that breaks them is judged even so.
    C : float, default=1.0
        Slack cost, above 0.
    feature_penalty : float, array-like of shape (n_features,) or dict, default=None
        Price of each feature, added to the objective.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more classes than two become two-class problems, whose objectives add.
    tasks : array-like of shape (n_samples,), default=None
        The task of each sample, such as a site; the objectives of all tasks add.
    n_solutions : int, default=3
        How many best subsets to find and prove.
    gap : float, default=1e-4
        The search ends where at most this share of what features can gain over none is left open.
    node_limit : int, default=None
        The search ends after this many nodes.
    proof : path-like, default=None
        File for a proof of the bound, which :func:`fewest.verify` checks. It lists the list and the best
        subsets; not a list that breaks the rules.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss.
    fit_intercept : bool, default=True
        Whether there is a bias.
    intercept_scaling : float, default=None
        Value of a constant feature whose weight is the bias, and penalised; None: it is not penalised.
    tol : float, default=1e-6
        Relative gap of a training.
    class_weight : dict, "balanced", "cw2", "cw3" or None, default=None
        Factor of ``C`` by class.
    time_limit : float, default=None
        Seconds; what is proven until then is returned, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        After Ctrl-C: raise ``KeyboardInterrupt``, or return what is proven.
    verbose : int, default=0
        1: print the progress.
    n_jobs : int, default=None
        Threads, as a selector counts them.
    max_memory : int or str, default=None
        Bytes to keep within, such as "2G"; None: :func:`fewest.set_memory`.

    Returns
    -------
    certificate : Certificate
        Objective, bound, what each feature is worth and could be replaced by, better lists.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest import certify
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X[:] = scale(X)
    >>> certificate = certify(X, y, ["mean texture", "mean radius"], C=0.1)
    >>> certificate.status, certificate.bound <= certificate.better[0][1] < certificate.objective
    ('optimal', True)
    >>> X.columns[certificate.better[0][0]].tolist()
    ['worst radius', 'worst concave points']
    >>> [one["replacement"] for one in certificate.features]
    ['worst perimeter', 'worst concave points']
    """
