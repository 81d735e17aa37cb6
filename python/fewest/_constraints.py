"""What values parameters may have, in the form of scikit-learn's validation."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from fewest._rules import Rules

COST = [Interval(Real, 0.0, None, closed="neither")]
POSITIVE_OR_NONE = [Interval(Real, 0.0, None, closed="neither"), None]
TOLERANCE = [Interval(Real, 0.0, 1.0, closed="neither")]
LOSS = [StrOptions({"hinge", "squared_hinge"})]
KERNEL = [StrOptions({"linear", "rbf", "poly", "sigmoid"})]
GAMMA = [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")]
CLASS_WEIGHT = [StrOptions({"balanced"}), dict, None]
JOBS = [Integral, None]
TIME = [Interval(Real, 0.0, None, closed="left"), None]
SIZE = [Interval(Integral, 1, None, closed="left"), None]
COMMON = {
    "n_features_to_select": SIZE,
    "rules": [Rules, None],
    "class_weight": CLASS_WEIGHT,
    "time_limit": TIME,
    "callback": [callable, None],
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    "n_jobs": JOBS,
}
GAP = {"gap": [Interval(Real, 0.0, None, closed="left")]}
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
