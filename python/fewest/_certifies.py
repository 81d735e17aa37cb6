"""How far the subset of a selector is from the best one, and proofs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fewest import _core
from fewest._engine import Listener, Samples, bias_of, coded_tasks, limits_of, refuse_elsewhere, svm_of, validated
from fewest._estimator import Estimator
from fewest._parameters import value_of


class Certifies(Estimator):
    """What selectors prove of the subset that they selected."""

    def _certifiable(self) -> bool:
        if value_of(self, "kernel") != "linear":
            raise AttributeError("certify is for the linear kernel")
        return True

    @available_if(_certifiable)
    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        time_limit: float | None = 10.0,
        gap: float = 1e-4,
        node_limit: int | None = None,
        proof: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """How far the selected subset is from the best one of at most as many features, under the
        same rules. For more classes than two the objective is the sum over all pairs of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples it was fitted on, with all features.
        time_limit : float, default=10.0
            Seconds to search for a better subset and a better bound.
        gap : float, default=1e-4
            The search ends where at most this share of what features can gain over none is left open.
        node_limit : int, default=None
            The search ends after this many nodes.
        proof : path-like, default=None
            File for a proof of the bound, which :func:`fewest.verify` checks.

        Returns
        -------
        certificate : dict
            ``objective`` of the SVM on the subset, ``bound`` below that of every subset of at most
            as many features, ``baseline`` without features, ``gap`` (the share of what features can
            gain over none that may be left out), ``objective_gap``, ``best`` (indices of the best
            subset known) and ``best_objective``, ``status`` ("optimal" when ``best`` is proven),
            ``elapsed`` seconds, ``proof`` (its file, or None).
        """
        return self._certificate(X, y, sample_weight, time_limit, {"gap": gap, "nodes": node_limit}, proof)

    def _certificate(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        time_limit: float | None,
        search: dict[str, Any],
        proof: str | os.PathLike[str] | None,
        tasks: Any = None,
        judge: tuple[dict[str, Any], Any] | None = None,
    ) -> dict[str, Any]:
        """What certify returns; ``judge``: the SVM and the weights of its classes, where they are not the selector's."""
        check_is_fitted(self)
        refuse_elsewhere(X, "certify needs")
        svm, class_weight = judge or (self._svm(self._cost()), self.class_weight)
        samples = validated(self, X, y, sample_weight, class_weight, self._tags.binary_only, reset=False)
        if not self.support_.any():
            raise ValueError("no feature is selected, so that there is no subset to certify")
        # At most the features selected, which may be more than was asked for where a method keeps a
        # mixture.
        rules = {**self._rules(samples.X.shape[1]), "max_features": self.n_features_}
        prepared: Samples = self._prepared(samples)
        subset = np.flatnonzero(self.support_).tolist()
        request = None if proof is None else self._proof_request(proof, type(self).__name__, {"svm": svm}, {"own": subset})
        codes = None if tasks is None else coded_tasks(prepared, X, tasks)[1]
        listener = Listener(self, prepared).lines
        certificate = _core.certify(
            *prepared.arguments, rules, subset, svm, limits_of(self, time_limit, **search), request, codes, listener
        )
        certificate["best"] = np.asarray(certificate["best"], dtype=np.intp)
        certificate["proof"] = os.fspath(proof) if proof is not None and certificate["proof"] else None
        return certificate

    def _proof_request(
        self, path: str | os.PathLike[str], method: str, settings: dict[str, Any], more: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Where a proof goes, and what it says of the run."""
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        made = {
            "method": method,
            "version": _core.__version__,
            "settings": settings,
            **({"names": names} if names else {}),
            **(more or {}),
        }
        return {"path": os.fspath(path), "made": made}

    def _cost(self) -> float:
        """The slack cost: the one chosen, the one given, or 1."""
        return getattr(self, "C_", value_of(self, "C"))

    def _svm(self, cost: float | None = None) -> dict[str, Any]:
        """Cost, the selector's where none is given, loss, bias and tolerance as the engine takes them."""
        cost = value_of(self, "C") if cost is None else cost
        return svm_of(cost, value_of(self, "loss"), bias_of(self), value_of(self, "tol"))
