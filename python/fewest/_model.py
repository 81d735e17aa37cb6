"""Model files of the command, read."""

from __future__ import annotations

import json
import os
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function

from fewest import _plain
from fewest._columns import labels_of
from fewest._docs import completes_doc
from fewest._export import SCHEMA
from fewest._frames import named, names_beside
from fewest._preparation import Preparation
from fewest._probabilities import of_classes
from fewest._svc import SVC, by_classes
from fewest._svm import elected, voted


class TrainedModel(ClassifierMixin, BaseEstimator):
    """A model file of the command, or of :func:`export_model`, that classifies samples as ``fewest
    predict`` does: the same classes, decision values and probabilities.

    It takes samples as they are in the data: missing values are filled in and features scaled as the
    file says, text columns become what they were in training.

    Parameters
    ----------
    path : str or path-like
        A file that ``--model`` or :func:`export_model` wrote, or the JSON result of ``fewest select``;
        docs/formats/model.md describes it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, as numbers where all of them are numbers.
    selected_features_ : ndarray of shape (n_selected,) of str
        Names of the features that it uses.
    feature_names_in_ : ndarray of shape (n_selected,) of str
        The same: a frame must have these columns (those that they are made of), in any order and
        among others.
    n_features_in_ : int
        How many there are.
    target_name_ : str
        Name of the column of classes in training.
    estimator_ : SVC
        The classifier on these features, scaled.
    normalization_ : dict or None
        What was done to counts as they were read in training: ``total``, ``log1p``, and ``n_features`` in the
        totals. The model does not do it to X, which has a few of these features: read X with the same
        ``normalize_total`` and ``log1p`` of :func:`read_table`. A warning says so.
    reading_ : dict or None
        How the training file was read: the options of reading that were given, by the names that they have in
        :func:`read_table`. A warning names the codes of missing values, which X must have as NaN.

    See Also
    --------
    export_model : Writes a model file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewest import SVMRFE, export_model, load_model
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = SVMRFE(n_features_to_select=3, scale=True).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     export_model(selector, folder + "/model.json")
    ...     model = load_model(folder + "/model.json")
    >>> bool((model.predict(X) == selector.predict(X)).all())
    True
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with open(path, encoding="utf-8") as text:
            try:
                file = json.load(text)
            except ValueError as error:
                raise ValueError(f"{path}: not JSON ({error}); name a file that --model or export_model wrote") from None
        found = file.get("schema") if isinstance(file, dict) else None
        if found != SCHEMA:
            raise ValueError(f"{path}: its schema is {found!r}, but this version of fewest reads {SCHEMA}; write the model again")
        if file.get("task_models"):
            raise ValueError(f"{path}: it has a classifier for each task, which fewest predict alone applies; fit one for each task")
        if not file.get("model"):
            raise ValueError(f"{path}: there is no model in it; name a file that --model or export_model wrote")
        try:
            self._read(file)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: the model is not whole ({error}); write it again with this version of fewest") from None

    def _read(self, file: dict[str, Any]) -> None:
        model = file["model"]
        names = [str(name) for name in model["features"]]
        self.classes_ = labels_of([*file["classes"].values()])
        self.selected_features_ = self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_, self.target_name_ = len(names), str(file.get("target") or "")
        self._indices, self._n_columns = np.asarray(model["feature_indices"], dtype=int), int(file["n_features"])
        self.normalization_ = model.get("normalization")
        if self.normalization_ is not None:
            warnings.warn(_normalized(self.normalization_), UserWarning, stacklevel=4)
        self.reading_ = model.get("reading")
        if codes := (self.reading_ or {}).get("missing_codes"):
            asked = f"read_table(path, missing_codes={codes!r})"
            means = f"the model was trained on a file where {', '.join(codes)} means a missing value"
            warnings.warn(f"{means}: give X as {asked} has it", UserWarning, stacklevel=4)
        scaling = [model["scaling"]["features"][name] for name in names]
        imputation = (model.get("imputation") or {}).get("features")
        fill = None if imputation is None else [imputation[name]["fill"] for name in names]
        self._indicates = {} if imputation is None else {name: of for name in names if (of := imputation[name].get("indicates"))}
        self._preparation = Preparation(fill, [entry["centre"] for entry in scaling], [entry["scale"] for entry in scaling])
        self._levels: dict[str, tuple[str, str]] = {
            f"{column}={value}": (column, value) for column, values in model.get("levels", {}).items() for value in values
        }
        self._calibration = model.get("probabilities")
        self.estimator_ = _classifier(model, self.classes_, names)

    def _values(self, X: Any) -> Any:
        """The selected features as they are in the data, of shape (n_samples, n_selected)."""
        X = named(X)
        columns = getattr(X, "columns", None)
        if columns is not None and not sp.issparse(X):
            known = [str(column) for column in columns]
            each = [self._column(X, known, name) for name in self.feature_names_in_]
            return self._finite(np.column_stack(each))
        if (beside := names_beside(X)) is not None:
            at = {name: j for j, name in enumerate(beside)}
            if missing := [name for name in self.feature_names_in_ if name not in at]:
                raise ValueError(_no_column(missing[0], self.feature_names_in_))
            return self._finite(sp.csc_array(X)[:, [at[name] for name in self.feature_names_in_]])
        width = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
        if width not in (self.n_features_in_, self._n_columns):
            raise ValueError(
                f"X has {width} features, but the model takes its {self.n_features_in_} features in their order "
                f"({', '.join(self.feature_names_in_[:5])}{', ...' if self.n_features_in_ > 5 else ''}), all {self._n_columns} of "
                "its training, or a frame that has them by name"
            )
        if width != self.n_features_in_:
            X = (sp.csc_array(X) if sp.issparse(X) else np.asarray(X))[:, self._indices]
        return self._finite(X)

    def _column(self, X: Any, known: list[str], name: str) -> np.ndarray:
        """A feature of a frame: a column, a value of a text column, or where a column has no value."""
        if name in known:
            return np.asarray(X[X.columns[known.index(name)]], dtype=np.float64)
        of = self._indicates.get(name)
        # What a text column lacks, each of its values lacks.
        column, value = self._levels.get(of or name, (of or name, None))
        if column not in known:
            raise ValueError(_no_column(column, self.feature_names_in_))
        cells = X[X.columns[known.index(column)]]
        missing = np.asarray([cell is None or cell != cell for cell in cells])
        if of is not None:
            return missing.astype(np.float64)
        texts = ["" if gone else text for gone, text in zip(missing, (str(cell).strip() for cell in cells), strict=True)]
        return np.where(missing, np.nan, np.asarray([text == value for text in texts], dtype=np.float64))

    def _finite(self, X: Any) -> Any:
        allowed: Any = True if self._preparation.fill is None else "allow-nan"
        return check_array(X, accept_sparse=("csc", "csr"), dtype=np.float64, ensure_all_finite=allowed, estimator=self)

    def _by_pair(self, X: Any) -> np.ndarray:
        """Decision values of shape (n_samples, n_pairs), positive for the second of a pair."""
        prepared = self._preparation.apply(self._values(X))
        decision = self.estimator_._by_pair(prepared.tocsr() if sp.issparse(prepared) else np.ascontiguousarray(prepared))
        return decision[:, None] if decision.ndim == 1 else -decision

    @completes_doc
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values, of more than two classes a score for each.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``. More: the ``score_`` columns of
            ``fewest predict``, the votes of a class and less than half a vote for how sure they are.
        """
        decision, k = self._by_pair(X), len(self.classes_)
        if k == 2:
            return decision[:, 0]
        # A value of 0 is a vote for the second, as in the command.
        return _ovr_decision_function(decision >= 0, decision, k)

    @completes_doc
    def predict(self, X: Any) -> np.ndarray:
        """Class of each sample.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        decision = self._by_pair(X)
        return elected(self.classes_, decision[:, 0]) if len(self.classes_) == 2 else voted(self.classes_, -decision)

    def _has_probabilities(self) -> bool:
        if getattr(self, "_calibration", None) is None:
            raise AttributeError("the model file has no probabilities; fewest study writes one that has")
        return True

    @available_if(_has_probabilities)
    @completes_doc
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, as ``fewest predict`` gives it. Near a tie it may be largest for
        another class than ``predict`` names.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class.
        """
        return of_classes(self._calibration, self._by_pair(X), len(self.classes_))

    def to_sklearn(self) -> Pipeline:
        """The same classifier of scikit-learn's own parts, for what knows no other, such as skl2onnx.

        Returns
        -------
        pipeline : Pipeline
            Fitted: the features by name (numbers; a text column has no plain form), what stands in for
            missing values, the scaling, and ``LinearSVC``, or ``SVC`` for other kernels and for more
            than two classes.
        """
        if made := [name for name in self.feature_names_in_ if name in self._indicates or name in self._levels]:
            raise TypeError(
                f"the feature {made[0]!r} is made of another column, which scikit-learn's parts here do not do; make such "
                "columns of numbers before training (OneHotEncoder, MissingIndicator)"
            )
        n, prepared = self.n_features_in_, self._preparation
        return _plain.pipeline(self.estimator_, n, np.arange(n), self.feature_names_in_, prepared.fill, prepared.center, prepared.scale)


def load_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Read a model file of the command, or of :func:`export_model`.

    Parameters
    ----------
    path : str or path-like
        A file that ``--model`` or :func:`export_model` wrote, or the JSON result of ``fewest select``.

    Returns
    -------
    model : TrainedModel
        It classifies samples as ``fewest predict`` does.
    """
    return TrainedModel(path)


def _normalized(how: dict[str, Any]) -> str:
    """What to do where counts were normalised as they were read."""
    total = [] if how["total"] is None else [f"normalize_total={how['total']:g}"]
    asked = ", ".join([*total, *(["log1p=True"] if how["log1p"] else [])])
    return f"the model was trained on values that were read with {asked}: give X as read_table(path, {asked}) has it"


def _no_column(column: str, needed: np.ndarray) -> str:
    return f"X has no column {column!r}, which the model needs; it needs {', '.join(needed)}"


def _classifier(model: dict[str, Any], classes: np.ndarray, names: list[str]) -> SVC:
    """The machines of a model file as our SVC has them after training."""
    parameters = {name: model[name] for name in ("gamma", "coef0", "degree") if name in model}
    made = SVC(C=model["cost"], kernel=model["kernel"], **parameters)
    sign = 1.0 if len(classes) == 2 else -1.0
    machines = model["machines"]
    made.classes_, made.n_features_in_ = classes, len(names)
    made.intercept_ = sign * np.array([machine["intercept"] for machine in machines], dtype=np.float64)
    made._kernel = {"kind": model["kernel"], **parameters}
    made._gamma = parameters.get("gamma", 0.0)
    made._categories = [names.index(name) for name in model.get("categorical") or []]
    made._coef = None
    vectors = np.array(model.get("support_vectors", []), dtype=np.float64).reshape(-1, len(names))
    if model["kernel"] == "linear":
        made._coef = sign * np.array([machine["weights"] for machine in machines], dtype=np.float64)
    coef = np.zeros((len(machines), len(vectors)))
    for row, machine in zip(coef, machines, strict=True):
        for at, value in machine.get("coefficients", []):
            row[at] = sign * value
    # A support vector is of the class that its coefficients speak for.
    of_class = np.zeros(len(vectors), dtype=int)
    for (a, b), row in zip(combinations(range(len(classes)), 2), sign * coef, strict=True):
        of_class[row < 0] = a
        of_class[row > 0] = b
    order = np.argsort(of_class, kind="stable")
    made.support_vectors_, made.support_ = vectors[order], order.astype(np.int32)
    made.n_support_ = made._n_support = np.bincount(of_class, minlength=len(classes)).astype(np.int32)
    made._pair_coef = coef[:, order]
    made.dual_coef_ = by_classes(made._pair_coef, of_class[order], len(classes))
    return made
