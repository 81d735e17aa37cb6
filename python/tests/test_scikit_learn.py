"""scikit-learn's own checks, on every estimator; one that cannot hold is listed with its reason."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from correspondence import PUBLIC
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
    LinearSVC,
    MBPSelector,
    Study,
)
from fewest.papers import (
    BendersSelector,
    FlipSelector,
    FSVSelector,
    MILOKSelector,
    MILP1Selector,
    MILP2Selector,
    NMMKLSelector,
    QCQPSelector,
    RMILOKSelector,
)

# The exact methods of the papers take long for many features; small sizes keep their checks short.
ESTIMATORS = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="precomputed"),
    LinearSVC(),
    LinearSVC(penalty="l1"),
    LinearSVC(loss="hinge", intercept_scaling=None),
    SVMRFE(),
    SVMRFE(kernel="rbf"),
    SVMRFE(kernel="rbf", gamma="sigest"),
    SVMRFE(kernel="laplace", gamma="scale"),
    AlignmentSelector(kernel="laplace", n_features_to_select=2),
    SVC(kernel="laplace"),
    SVC(categorical_features=[0]),
    SVMRFE(cv=3),
    SVMRFE(Cs=(0.25, 4.0), cv=3),
    EvaluationRFE(Cs=(0.25, 4.0), cv=3),
    EvaluationRFE(kernel="rbf", Cs=(1.0,), cv=3),
    FlipSelector(n_features_to_select=2, cv=3),
    FlipSelector(flip="attribute", n_features_to_select=2, Cs=(0.5, 2.0), cv=3),
    ExactSelector(n_features_to_select=2),
    ExactSelector(loss="squared_hinge", intercept_scaling=1.0, n_features_to_select=2),
    BendersSelector(n_features_to_select=2),
    AlignmentSelector(n_features_to_select=2),
    AlignmentSelector(n_features_to_select=2, gamma="scale"),
    FeatureGeneratingMachine(),
    FeatureGeneratingMachine(subset_size=2),
    FeatureGeneratingMachine(fit_intercept=True, intercept_scaling=1.0),
    L1SVMSelector(),
    L1SVMSelector(loss="squared_hinge"),
    FSVSelector(),
    MBPSelector(),
    LagrangianSelector(),
    InformationGain(),
    MILP1Selector(n_features_to_select=1),
    MILP2Selector(n_features_to_select=2),
    QCQPSelector(n_features_to_select=2),
    NMMKLSelector(n_features_to_select=2),
    # A pair of samples is some columns of the program: the start, kta's local search, is what is
    # checked on most data.
    MILOKSelector(n_features_to_select=2, node_limit=1, time_limit=0.3),
    RMILOKSelector(n_features_to_select=2, node_limit=1, time_limit=0.3),
    Study(sizes=2, methods=["rfe", "info-gain"], cv=2, n_repeats=1, inner_cv=2, n_Cs=2),
]


def cannot_hold(estimator):
    """Checks that the problem itself rules out, and why."""
    if isinstance(estimator, MILP2Selector):
        why = "a class of next to no weight makes the program unbounded, which is an error that says so"
        overlap = "where classes overlap, the best margin is 0 at a cost that is large enough for a few samples"
        return {"check_class_weight_classifiers": why, "check_classifiers_train": overlap}
    if isinstance(estimator, FeatureGeneratingMachine) and not estimator.fit_intercept:
        return {
            "check_class_weight_classifiers": "without a bias, as in the paper, weights of classes cannot move a border off the origin"
        }
    if isinstance(estimator, Study):
        why = "folds are dealt among the samples as they are, and not among copies of them"
        copies = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
        calibrated = "probabilities are calibrated on samples held out, and predict goes by decision values, so that the two may differ"
        return {**dict.fromkeys(copies, why), "check_classifiers_train": calibrated}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_hold)
def test_checks(estimator, check):
    if "sample_weight_equivalence" in check.func.__name__ and estimator.get_params().get("tol", 0.0) > 1e-9:
        # Two trainings of one problem are compared to seven digits, as scikit-learn asks of its own at a tighter tol.
        estimator = clone(estimator).set_params(tol=1e-14 if isinstance(estimator, FeatureGeneratingMachine) else 1e-9)
    check(estimator)


def test_every_estimator_is_checked():
    public = {name for name in PUBLIC if hasattr(PUBLIC[name], "fit")}
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_default_constructible(estimator):
    assert type(estimator)().get_params().keys() == estimator.get_params().keys()
