"""Selection without training."""

from __future__ import annotations

import numpy as np

from fewest import _signatures
from fewest._base import Selector
from fewest._estimator import Tags
from fewest._parameters import AT_LEAST_TWO


class InformationGain(_signatures.InformationGain, Selector):
    """Information gain: ranks features by how many bits knowing them tells about the class.

    Trains no SVM to select, and proves nothing about one; the fastest on many features. Dask
    arrays and lists of files, whose features are spread over workers, are taken as well
    (:mod:`fewest.dask`).

    Parameters
    ----------
    bins : int, default=None
        Intervals of equally many samples, at least 2. None: intervals of Fayyad and Irani, by
        minimum description length.
    C : float or "auto", default=1.0
        Slack cost of the classifier, above 0. "auto": chosen by cross-validation, and so is ``fit_C`` where it is
        None; ``C_``, ``fit_C_`` and ``cost_choice_`` (all scores) say what was found. Not with columns on workers.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature of largest gain, and so on.
    objective_ : float
        Total gain of the selected features, in bits; larger is better.
    scores_ : ndarray of shape (n_features,)
        Gain of each feature, in bits.
    traffic_ : dict of ndarray
        With Dask: bytes ``sent`` to the workers and ``received`` (arrays alone), and the
        ``seconds`` until the answers were there, of the one round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewest import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _tags = Tags(page="docs/methods/info-gain.md", binary_only=False, shards="any")
    _takes = "SIZE, bins: int | None = None, C: 'auto', fit_C, SVM, RUN"
    _parameter_constraints = {"bins": [*AT_LEAST_TWO, None]}

    def _to_select(self, samples):
        return samples.as_many()

    def _method(self, samples, rules):
        return {"name": "info-gain", "binning": "mdl" if self.bins is None else {"equal-frequency": int(self.bins)}}

    def _set_results(self, answer, p):
        self.scores_ = np.zeros(p)
        self.scores_[answer["ranked"]] = answer["criteria"]
        super()._set_results(answer, p)

    def _ranking(self, answer):
        ranking = np.full(len(self.support_), len(answer["ranked"]) + 1)
        ranking[answer["ranked"]] = np.arange(1, len(answer["ranked"]) + 1)
        return ranking
