"""Selectors that prove their subset best: branch and bound, Benders' cuts, kernel alignment."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.model_selection import train_test_split
from sklearn.utils._param_validation import Interval

from fewest import _signatures
from fewest._base import Selector
from fewest._call import holding, limited
from fewest._engine import Samples, check_classes, class_weights, matrix, validated
from fewest._estimator import Tags
from fewest._frames import in_order
from fewest._parameters import COUNT_OR_NONE
from fewest._several import PROBLEMS, SeveralProblems
from fewest._svm import OfDistances

if TYPE_CHECKING:
    from typing_extensions import Self


class ExactSelector(_signatures.ExactSelector, SeveralProblems):
    r"""The best subset for a linear SVM, with proof: branch and bound on the SVM's own objective.

    .. math:: \min_{w, b, z} \; \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i (w^T x_i + b))^q + \sum_j \lambda_j z_j, \quad w_j = 0
        \text{ where } z_j = 0, \; z \text{ obeys the rules}

    with q = 1 for the hinge loss, 2 for the squared hinge loss, :math:`\lambda` = ``feature_penalty``.
    Stopped early, it returns the best subset so far and how far from the best it can be at most.

    Attributes
    ----------
    bound_ : float or None
        No allowed subset has a smaller objective.
    feature_penalty_ : float or None
        The price that "auto" found; None where it was given.
    solutions_ : list of (ndarray of int, float)
        The best subsets and their objectives, best first.
    proof_ : str or None
        The file of the proof; None without ``proof``.
    n_nodes_ : int
        Nodes of the search.
    tasks_ : ndarray
        Names of the tasks, where ``fit`` was given some.
    estimators_ : list of object
        Then the classifier of each of them; there is no ``estimator_``.

    See Also
    --------
    fewest.papers.BendersSelector : The same problem by cuts.
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

    _tags = replace(SeveralProblems._tags, page="docs/methods/exact.md", remedy="A smaller C, or fewer features, is proven sooner.")
    _counts = {"n_nodes_": "nodes"}
    _takes = (
        "n_features_to_select: 'priced', rules, C: 'auto', fit_C, feature_penalty: 'auto', multi_class, n_solutions, within, gap, "
        "node_limit, proof, SVM, RESUMED"
    )

    def _method(self, samples, rules):
        sums = {"multi_class": PROBLEMS[self.multi_class]}
        return {"name": "exact", "svm": self._svm(), "penalty": self._prices(self.feature_penalty), **sums, **self._wanted()}

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.feature_penalty_ = answer["penalty"]


class BendersSelector(_signatures.BendersSelector, SeveralProblems):
    """The best subset for a linear SVM, with proof, by Generalized Benders Decomposition.

    The problem of :class:`~fewest.ExactSelector`, solved by cuts of the SVM's dual and a mixed-integer
    program over them: by examining every subset where the rules allow few (at most 5 of 30
    features, 3 of 80), by HiGHS, which takes minutes rather than a second, where they allow more.

    Parameters
    ----------
    proof : path-like, default=None
        File for a proof of the result, which :func:`fewest.verify` checks. The search of
        :class:`~fewest.ExactSelector` starts from the subset found and writes it.
    max_iter : int, default=250
        The search ends after this many cuts, which is as many trainings.
    validation_fraction : float, default=None
        Share of each class that is not trained on: the classifier of every subset tried is judged
        by it, and ``validated_`` has the one of smallest error beside the one of best objective.
        ``fit`` takes such samples as ``X_val`` and ``y_val``, too.
    patience : int, default=None
        With samples to judge by: the search ends after this many subsets in a row without a
        smaller error.
    random_state : int, RandomState instance or None, default=0
        Which samples ``validation_fraction`` sets apart.

    Attributes
    ----------
    bound_ : float or None
        No allowed subset has a smaller objective.
    feature_penalty_ : float or None
        The price that "auto" found; None where it was given.
    proof_ : str or None
        The file of the proof; None without ``proof``.
    n_iter_ : int
        Cuts.
    validated_ : dict or None
        With samples to judge by: ``selected_indices`` and ``error`` of the subset of smallest
        error, its ``objective``, ``error_of_best`` of the subset selected, ``judged`` subsets.
    tasks_ : ndarray
        Names of the tasks, where ``fit`` was given some.
    estimators_ : list of object
        Then the classifier of each of them; there is no ``estimator_``.

    See Also
    --------
    fewest.ExactSelector : The same problem by branch and bound, which proves the subset with fewer trainings:
        5 of the 30 features of the breast cancer data, where ``max_iter`` cuts leave a gap.

    References
    ----------
    .. [1] Aytug, "Feature selection for support vector machines using Generalized Benders Decomposition", European Journal of
       Operational Research 244, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fewest.papers import BendersSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BendersSelector(n_features_to_select=2).fit(scale(X), y).status_
    'optimal'
    """

    _tags = replace(SeveralProblems._tags, page="docs/methods/gbd.md", remedy="ExactSelector proves the same problem, mostly sooner.")
    _takes = (
        "n_features_to_select: 'priced', rules, C: 'auto', fit_C, feature_penalty: 'auto', multi_class, max_iter=250, plain, "
        "validation_fraction: float | None = None, patience: int | None = None, random_state, gap, proof, SVM, RESUMED"
    )
    _parameter_constraints = {
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "patience": COUNT_OR_NONE,
    }

    def _method(self, samples, rules):
        improvements = dict.fromkeys(("warm_start", "root_cuts", "core_cuts", "cutoff", "list"), not self.plain)
        penalty, cuts = self._prices(self.feature_penalty), int(self.max_iter)
        improvements["multi_class"] = PROBLEMS[self.multi_class]
        return {"name": "gbd", "svm": self._svm(), "penalty": penalty, "max_cuts": cuts, **improvements}

    @_fit_context(prefer_skip_nested_validation=True)
    @limited
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        tasks: Any = None,
        groups: Any = None,
    ) -> Self:
        """
        Parameters
        ----------
        X_val : {array-like, sparse matrix} of shape (n_validation_samples, n_features), default=None
            Samples that every classifier is judged by, and that none is trained on.
        y_val : array-like of shape (n_validation_samples,), default=None
            Their labels; two classes.
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: give both or none")
        if X_val is not None and self.validation_fraction is not None:
            raise ValueError("X_val and validation_fraction both name samples to judge by; leave one of them out")
        if self.patience is not None and X_val is None and self.validation_fraction is None:
            raise ValueError("patience has a meaning with samples to judge by only: give validation_fraction, or X_val to fit")
        samples = self._with_groups(self._validated(X, y, sample_weight), X, groups)
        if groups is not None and self.validation_fraction is not None:
            raise ValueError("validation_fraction holds out single samples, but groups keep some together; give X_val and y_val")
        if X_val is not None or self.validation_fraction is not None:
            check_classes(self, samples.classes, samples.classes, True)
            if tasks is not None:
                raise ValueError("samples to judge by are for one classifier, but tasks have one each; leave one of them out")
        samples = self._with_tasks(samples, X, tasks)
        if self.validation_fraction is not None:
            samples, X_val, codes = self._apart(samples)
        elif X_val is not None:
            in_order(X_val, given="X_val", y_val=y_val)
            judged = validated(self, X_val, y_val, None, None, True, reset=False)
            X_val, codes = judged.X, judged.codes
        with holding(self, _held_out=None if X_val is None else (matrix(X_val), codes, self.patience)):
            return self._run(samples)

    def _apart(self, samples):
        """Samples to train on, and matrix and classes of those set apart."""
        train, test = train_test_split(
            np.arange(len(samples.codes)),
            test_size=self.validation_fraction,
            stratify=samples.codes,
            random_state=self.random_state,
        )
        kept = train if samples.kept is None else samples.kept[train]
        sample_weight = samples.sample_weight[train]
        factor = class_weights(self.class_weight, samples.classes, samples.codes[train], sample_weight)
        weights = sample_weight * factor[samples.codes[train]]
        part = Samples(samples.X[train], samples.codes[train], weights, sample_weight, samples.classes, kept)
        return part, samples.X[test], samples.codes[test]

    def _judged(self):
        held_out = getattr(self, "_held_out", None)
        return {} if held_out is None else {"held_out": held_out}

    def _set_results(self, answer, p):
        super()._set_results(answer, p)
        self.feature_penalty_ = answer["penalty"]
        self.n_iter_ = max(answer["counts"]["cuts"], 1)
        self.validated_ = answer["details"].get("validated")


class AlignmentSelector(_signatures.AlignmentSelector, OfDistances, Selector):
    r"""The subset of largest alignment between a kernel of distances and the classes, with proof.

    Exact selection for SVMs with the Gaussian or the Laplace kernel: branch and bound on the
    kernel-target alignment, for any number of classes,

    .. math:: \max_z \; \sum_{a < b} \sum_{i, h} \psi^{ab}_i \psi^{ab}_h \exp(-\gamma \sum_j z_j d_j(x_{ij}, x_{hj})), \quad z
        \text{ obeys the rules},

    where :math:`\psi^{ab}_i` is 1 / (size of class a) for a sample of class a, -1 / (size of class
    b) for one of class b, and 0 for others. A term is the squared distance between the means of two
    classes in the kernel's space, from 0 to 2. :math:`d_j` is the squared difference (Gaussian) or
    the absolute one (Laplace), and of a feature that holds categories 1 where values differ, else 0.
    The classifier is an SVM with that kernel on the selected features.

    Parameters
    ----------
    kernel : {"rbf", "laplace"}, default="rbf"
        Kernel of the search and of the classifier: ``exp(-gamma sum_j (x_j - x'_j)^2)`` or
        ``exp(-gamma sum_j |x_j - x'_j|)``.
    gamma : {"sigest", "scale", "1/p"} or float, default="sigest"
        gamma of the kernel. "sigest", the paper's: 1 / (m / n_features x median distance of two
        samples), the distance being the sum in the kernel, "sigest:BETA" BETA times that; "scale": 1
        / (m x variance of X), with "laplace" 1 / (m x its standard deviation), of the features that
        hold numbers; "1/p": 1 / m. m: the most features that may be selected.
    C : float or "auto", default=1.0
        Slack cost of the classifier, above 0. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None; ``C_``, ``fit_C_`` and ``cost_choice_`` (all scores) say what was found.

    Attributes
    ----------
    objective_ : float
        Alignment of the best subset, the value of the formula above; larger is better.
    bound_ : float or None
        No allowed subset has a larger alignment.
    gamma_ : float
        gamma.
    solutions_ : list of (ndarray of int, float)
        The best subsets and their alignments, best first.
    proof_ : str or None
        The file of the proof; None without ``proof``.
    n_nodes_ : int
        Nodes of the search.

    References
    ----------
    .. [1] R. Tamura, Takano, Miyashiro, "Feature subset selection for kernel SVM classification via mixed-integer
       optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import AlignmentSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> AlignmentSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _tags = Tags(page="docs/methods/kta.md", binary_only=False)
    _counts = {"n_nodes_": "nodes"}
    _takes = (
        "SIZE, kernel: 'distance', categorical_features, gamma: 'distance', C: 'auto', fit_C, n_solutions, within, gap, "
        "node_limit, SVM, proof, RESUMED"
    )

    def _method(self, samples, rules):
        return {"name": "kta", **self._distances(samples), **self._wanted()}
