"""Selectors that leave a mixed-integer program to HiGHS, as published."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from fewest import _core, _signatures
from fewest._base import Selector
from fewest._docs import SELECTOR_ATTRIBUTES
from fewest._engine import limits_of
from fewest._estimator import Estimator, Tags
from fewest._parameters import COST
from fewest._svm import OfDistances

if TYPE_CHECKING:
    from fewest._engine import Samples


class WritesModel(Estimator):
    """A selector whose method is one mixed-integer program."""

    def write_model(self, path: str | os.PathLike[str], X: Any, y: Any, sample_weight: Any = None) -> None:
        """Write the mixed-integer program of these samples for another solver, without solving it.

        Parameters
        ----------
        path : str or path-like
            A file that ends in ``.mps`` or ``.lp``, which says the format.
        """
        selector: Any = clone(self)  # type: ignore[type-var]
        selector._validate_params()
        if not str(path).endswith((".mps", ".lp")):
            raise ValueError(f"path is {os.fspath(path)!r}, but must end in .mps or .lp, which says the format")
        if selector.C == "auto":
            raise ValueError('C is "auto", but a program is of one cost; give a number')
        samples: Samples = selector._validated(X, y, sample_weight)
        rules = selector._rules(samples.X.shape[1])
        selector._kernel = selector._kernel_rule(samples, rules)
        settings = selector._method_settings(samples, rules)
        _core.write_program(*samples.arguments, rules, settings, os.fspath(path), limits_of(selector, selector.time_limit))


class _Program(WritesModel, Selector):
    """What the selectors below share."""

    _attributes = {**SELECTOR_ATTRIBUTES, "n_nodes_": ("int", "Nodes of HiGHS's search.")}
    _counts = {"n_nodes_": "nodes"}

    def _effort(self) -> dict[str, Any]:
        """How HiGHS is asked, as the engine takes it."""
        return {"start": not self.plain, "lp": self.lp}


class MILP1Selector(_signatures.MILP1Selector, _Program):
    r"""Least slack with bounded weights, as a mixed-integer program (MILP1), with HiGHS's proof.

    .. math:: \min_{w, b, z} \; \sum_i \max(0, 1 - y_i (w^T x_i + b)), \quad |w_j| \le u z_j, \; z \text{ obeys the rules}

    with u = ``weight_bound``. An SVM of cost ``C`` is then trained on the subset.

    Parameters
    ----------
    weight_bound : float, default=1.0
        u, the largest absolute weight, above 0.
    C : float or "auto", default=1.0
        Slack cost of the classifier, above 0; the program has none. "auto": chosen by
        cross-validation, and so is ``fit_C`` where it is None.

    Attributes
    ----------
    objective_ : float
        Slack of the best classifier found.
    bound_ : float or None
        No allowed subset has less slack, by HiGHS and within its tolerances.

    References
    ----------
    .. [1] Maldonado, Perez, Weber, Labbe, "Feature selection for support vector machines via mixed integer linear
       programming", Information Sciences 279, 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest.papers import MILP1Selector
    >>> X, y = make_classification(n_samples=40, n_features=6, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
    >>> MILP1Selector(n_features_to_select=2).fit(X, y).status_
    'optimal'
    """

    _tags = Tags(page="docs/methods/milp1.md")
    _takes = "SIZE, weight_bound: float = 1.0, C: 'auto', fit_C, plain: 'program', lp, gap, node_limit, SVM, RUN"
    _parameter_constraints = {"weight_bound": COST}

    def _method(self, samples, rules):
        return {"name": "milp1", "weight_bound": float(self.weight_bound), **self._effort()}


class MILP2Selector(_signatures.MILP2Selector, _Program):
    r"""Largest margin of the LP-SVM, as a mixed-integer program (MILP2), with HiGHS's proof.

    .. math:: \max_{w, b, z, r \ge 0} \; r - C \sum_i \max(0, r - y_i (w^T x_i + b)), \quad |w_j| \le z_j, \; z \text{ obeys the rules}

    An SVM of cost ``C`` is then trained on the subset.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Slack cost, above 0; below 1 over twice the number of samples of the smaller class the
        program is unbounded. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None.

    Attributes
    ----------
    objective_ : float
        Margin less slack of the best classifier found; larger is better.
    bound_ : float or None
        No allowed subset has more, by HiGHS and within its tolerances.

    References
    ----------
    .. [1] Maldonado, Perez, Weber, Labbe, "Feature selection for support vector machines via mixed integer linear
       programming", Information Sciences 279, 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from fewest.papers import MILP2Selector
    >>> X, y = make_classification(n_samples=40, n_features=6, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
    >>> MILP2Selector(n_features_to_select=2, C=0.05).fit(X, y).status_
    'optimal'
    """

    _tags = Tags(page="docs/methods/milp1.md")
    _takes = "SIZE, C: 'auto', fit_C, plain: 'program', lp, gap, node_limit, SVM, RUN"
    # The costs that "auto" tries leave the program unbounded.
    _parameter_constraints = {"C": COST}

    def _method(self, samples, rules):
        return {"name": "milp2", "cost": float(self.C), **self._effort()}


class _Alignment(OfDistances, _Program):
    """What the two programs of the kernel's alignment share."""

    _tags = Tags(page="docs/methods/milo-k.md", binary_only=False)
    _attributes = {
        **SELECTOR_ATTRIBUTES,
        "objective_": ("float", "Alignment of the subset; larger is better."),
        "bound_": ("float or None", "No allowed subset has a larger alignment, by HiGHS and within its tolerances."),
        "gamma_": ("float", "gamma."),
        "n_nodes_": _Program._attributes["n_nodes_"],
    }


class MILOKSelector(_signatures.MILOKSelector, _Alignment):
    """Kernel-target alignment as a mixed-integer program (MILO-K), as published.

    The problem of :class:`~fewest.AlignmentSelector`, written out feature by feature for HiGHS: some
    ``n_samples ** 2 * n_features`` columns, minutes to hours for 50 samples and 35 features.

    See Also
    --------
    fewest.AlignmentSelector : The same problem by branch and bound, for hundreds of samples.

    References
    ----------
    .. [1] R. Tamura, Takano, Miyashiro, "Feature subset selection for kernel SVM classification via mixed-integer
       optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest.papers import MILOKSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> MILOKSelector(n_features_to_select=1).fit(X[::12], y[::12]).get_support(indices=True)
    array([2])
    """

    _takes = (
        "SIZE, kernel: 'distance', categorical_features, gamma: 'distance', C: 'classifier', fit_C, plain: 'program', lp, gap, "
        "node_limit, SVM, RUN"
    )

    def _method(self, samples, rules):
        return {"name": "milo-k", **self._distances(samples), **self._effort()}


class RMILOKSelector(_signatures.RMILOKSelector, _Alignment):
    """Kernel-target alignment as a reduced mixed-integer program (RMILO-K), as published.

    As :class:`~fewest.papers.MILOKSelector`, with each pair of samples once, only the rows that can bind, and a
    smaller big-M.

    Parameters
    ----------
    big_m : {"padded", "tight"}, default="padded"
        Big-M of a row: one less its kernel value, or that and 0.1 more, as in the paper's
        experiments.

    See Also
    --------
    fewest.AlignmentSelector : The same problem by branch and bound, for hundreds of samples.

    References
    ----------
    .. [1] R. Tamura, Takano, Miyashiro, "Feature subset selection for kernel SVM classification via mixed-integer
       optimization", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest.papers import RMILOKSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> RMILOKSelector(n_features_to_select=1).fit(X[::12], y[::12]).get_support(indices=True)
    array([2])
    """

    _takes = (
        "SIZE, kernel: 'distance', categorical_features, gamma: 'distance', big_m: str = 'padded', C: 'classifier', fit_C, "
        "plain: 'program', lp, gap, node_limit, SVM, RUN"
    )
    _parameter_constraints = {"big_m": [StrOptions({"padded", "tight"})]}

    def _method(self, samples, rules):
        return {"name": "rmilo-k", **self._distances(samples), "big_m": self.big_m, **self._effort()}
