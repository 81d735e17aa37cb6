"""One problem in another form has the same answer: other orders, weights, scales, offsets, threads."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from correspondence import PUBLIC
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from test_every_estimator import ALL, SHORT

import fewest

N, P = 40, 5
#: Powers of two, so that nothing is rounded: about 1e-8 and 1e8.
SCALES = {"small": 2.0**-27, "large": 2.0**27}


def problem(seed=0):
    """Samples whose best two features are beyond doubt."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    y = (X[:, 1] - 0.8 * X[:, 3] + 0.3 * rng.normal(size=N) > 0).astype(int)
    return X, y


#: What each estimator is asked for, as a function of the scale of X: the same problem at each.
ASKED = {
    "AlignmentSelector": lambda s: {"kernel": "rbf"},
    "BendersSelector": lambda s: {"C": s**-2},
    "EvaluationRFE": lambda s: {"Cs": (s**-2,), "cv": FOLDS},
    "ExactSelector": lambda s: {"C": s**-2},
    "FSVSelector": lambda s: {"alpha": 5 * s, "n_starts": 1, "random_state": 0},
    "FeatureGeneratingMachine": lambda s: {"C": s**-2, "fit_intercept": True},
    "FlipSelector": lambda s: {"C": s**-2, "cv": FOLDS},
    "InformationGain": lambda s: {"C": s**-2},
    "L1SVMSelector": lambda s: {"C": 1 / s},
    "LagrangianSelector": lambda s: {"C": 1 / s, "feature_penalty": 0.5 / s, "weight_bound": 4 / s},
    "LinearSVC": lambda s: {"C": s**-2, "intercept_scaling": None},
    "MBPSelector": lambda s: {"C": 1 / s, "feature_penalty": 0.5 / s, "weight_bound": 4 / s},
    "MILOKSelector": lambda s: {},
    "MILP1Selector": lambda s: {"weight_bound": 2 / s, "C": s**-2},
    "MILP2Selector": lambda s: {"C": 1.0, "fit_C": s**-2},
    "NMMKLSelector": lambda s: {"C": s**-2},
    "QCQPSelector": lambda s: {"C": s**-2},
    "RMILOKSelector": lambda s: {},
    "SVC": lambda s: {"gamma": 0.2 / s**2},
    "SVMRFE": lambda s: {"C": s**-2},
    "Study": lambda s: {},
}
FORMS = [
    *((name, {}) for name in ALL),
    ("SVC", {"kernel": "linear"}),
    ("SVC", {"kernel": "laplace", "gamma": "sigest"}),
    ("SVC", {"kernel": "linear", "loss": "squared_hinge"}),
    ("LinearSVC", {"loss": "hinge"}),
    ("SVMRFE", {"kernel": "rbf", "gamma": "sigest"}),
    ("SVMRFE", {"loss": "squared_hinge"}),
    ("SVMRFE", {"kernel": "linear", "scale": True}),
    ("AlignmentSelector", {"kernel": "laplace"}),
    ("L1SVMSelector", {"loss": "squared_hinge"}),
    ("ExactSelector", {"loss": "squared_hinge"}),
]
FOLDS = [(np.flatnonzero(np.arange(N) % 4 != f), np.flatnonzero(np.arange(N) % 4 == f)) for f in range(4)]
#: Minutes with HiGHS, or folds that are dealt among samples.
SLOW = {"MILOKSelector", "RMILOKSelector"}


def made(name, option, scale=1.0):
    short = {key: value for key, value in SHORT.get(name, {}).items() if key not in ("Cs", "cv")}
    asked = {**short, **ASKED[name](scale), **option}
    if name == "SVC" and option.get("kernel") == "linear":
        asked["C"] = scale**-2
    if name == "SVMRFE" and (option.get("kernel") == "rbf" or option.get("scale")):
        asked["C"] = 1.0
    if name == "L1SVMSelector" and option:
        asked["C"] = 0.3 / scale
    estimator = PUBLIC[name](**asked)
    if "n_features_to_select" in estimator.get_params():
        estimator.set_params(n_features_to_select=2)
    return estimator


def ids(forms, *kinds):
    """The forms, each with every kind."""
    found = []
    for name, option in forms:
        text = "-".join([name, *map(str, option.values())])
        for kind in kinds or (None,):
            values = (name, option) if kind is None else (name, option, kind)
            found.append(pytest.param(*values, id=text if kind is None else f"{text}-{kind}"))
    return found


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def same(found, want, X, Z, tolerance=1e-4):
    if hasattr(want, "get_support"):
        np.testing.assert_array_equal(found.get_support(), want.get_support())
    is_of, of = found.decision_function(Z), want.decision_function(X)
    if isinstance(want, fewest.FeatureGeneratingMachine):
        # The margin is a variable of it, so that its units are those of X.
        is_of, of = (values / np.abs(values).max() for values in (is_of, of))
    np.testing.assert_allclose(is_of, of, atol=tolerance * max(1.0, np.abs(of).max()))


def folded(estimator, order):
    """Splits of the same samples in another order."""
    if "cv" in estimator.get_params() and estimator.cv is FOLDS:
        place = np.argsort(order)
        estimator.set_params(cv=[tuple(place[part] for part in split) for split in FOLDS])
    return estimator


@pytest.mark.parametrize(("name", "option"), ids([form for form in FORMS if form[0] not in SLOW | {"Study"}]))
def test_other_orders_weights_threads_and_processes(name, option):
    X, y = problem()
    want = made(name, option).fit(X, y)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(N), rng.permutation(P)
    turned = folded(made(name, option), rows).fit(X[rows], y[rows])
    same(turned, want, X, X)
    frame = pd.DataFrame(X, columns=list("abcde"))
    moved = made(name, option).fit(frame.iloc[:, columns], y)
    if hasattr(want, "get_support"):
        assert set(moved.get_feature_names_out()) == set(np.array(list("abcde"))[want.get_support()])
    np.testing.assert_allclose(moved.decision_function(frame.iloc[:, columns]), want.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(want)).decision_function(X), want.decision_function(X))
    for threads in (1, 2):
        again = clone(want).set_params(n_jobs=threads).fit(X, y)
        np.testing.assert_array_equal(again.decision_function(X), want.decision_function(X))
    if option.get("gamma") == "sigest" or name in ("AlignmentSelector", "SVC"):
        # gamma is a rule of distances between samples, in which a sample twice is at none.
        want = want.set_params(gamma=0.2).fit(X, y)
    twice = np.r_[0:10]
    both = np.r_[np.arange(N), twice]
    copies = clone(want)
    if "cv" in copies.get_params() and copies.cv is not None:
        splits = [tuple(np.flatnonzero(np.isin(both, part)) for part in split) for split in FOLDS]
        copies.set_params(cv=splits)
    weights = 1.0 + np.isin(np.arange(N), twice)
    same(copies.fit(X[both], y[both]), clone(want).fit(X, y, weights), X, X)


@pytest.mark.parametrize(("name", "option", "units"), ids([form for form in FORMS if form[0] not in SLOW], *SCALES))
def test_other_units_are_the_same_problem(name, option, units):
    (X, y), scale = problem(), SCALES[units]
    same(made(name, option, scale).fit(X * scale, y), made(name, option).fit(X, y), X, X * scale)


@pytest.mark.parametrize(("name", "option", "offset"), ids([form for form in FORMS if form[0] not in SLOW], "one", "all", "constant"))
def test_a_constant_that_is_added_changes_nothing(name, option, offset):
    """With a free bias, and for distances."""
    X, y = problem()
    X = np.round(X, 3)
    far = X + (1024.0 if offset == "all" else np.array([0.0, 4096, 0, 0, 0]))
    if offset == "constant":
        X, far = np.c_[X, np.zeros(N)], np.c_[X, np.full(N, 1.7e9)]
    same(made(name, option).fit(far, y), made(name, option).fit(X, y), X, far, 2e-3)
