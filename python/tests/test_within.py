"""All subsets within a share of the best."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from fewest import SVC, AlignmentSelector, ExactSelector, MBPSelector


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:120, [0, 1, 6, 7, 20, 21, 22]], y[:120]


def test_exact_lists_what_enumeration_finds(data):
    X, y = data
    selector = ExactSelector(n_features_to_select=3, C=0.1, within=0.1, gap=1e-6).fit(X, y)
    subsets = [list(s) for size in (1, 2, 3) for s in combinations(range(7), size)]
    values = {tuple(s): SVC(C=0.1, kernel="linear", tol=1e-10).fit(X[:, s], y).objective_ for s in subsets}
    near = selector.within_
    assert near["complete"] and near["within"] == near["complete_within"] == 0.1
    # Of a free bias alone the smaller class has all the slack.
    best, baseline = min(values.values()), 2 * 0.1 * np.bincount(y).min()
    assert near["threshold"] == pytest.approx(best + 0.1 * (baseline - best), rel=1e-6)
    assert selector.baseline_ == pytest.approx(baseline)
    assert selector.gap_ == pytest.approx((selector.objective_ - selector.bound_) / (baseline - selector.bound_))
    assert selector.objective_gap_ == pytest.approx((selector.objective_ - selector.bound_) / selector.objective_)
    expected = {s for s, value in values.items() if value <= near["threshold"]}
    assert {tuple(subset) for subset, _ in selector.solutions_} == expected
    assert 1 < len(expected) == near["subsets"] < len(subsets)
    for feature in near["features"]:
        j = feature["feature"]
        assert feature["share"] == pytest.approx(np.mean([j in s for s in expected]))
        assert feature["best_with"] == pytest.approx(min(values[s] for s in expected if j in s), rel=1e-6)
        without = [values[s] for s in expected if j not in s]
        assert feature["best_without"] == (pytest.approx(min(without), rel=1e-6) if without else None)
    for swap in near["replacements"]:
        j, other = swap["feature"], swap["by"]
        pairs = [s for s in expected if j in s and other not in s and tuple(sorted({*s, other} - {j})) in expected]
        assert swap["pairs"] == len(pairs)


@pytest.mark.parametrize(
    "selector",
    [AlignmentSelector(n_features_to_select=2), MBPSelector(C=1.0, feature_penalty=0.5, weight_bound=2.0)],
    ids=lambda selector: type(selector).__name__,
)
def test_a_longer_list_begins_with_them(data, selector):
    X, y = data
    near = selector.set_params(within=0.05).fit(X, y)
    found = near.solutions_
    assert near.within_["complete"] and near.within_["subsets"] == len(found)
    longer = selector.set_params(within=None, n_solutions=len(found) + 1).fit(X, y)
    assert longer.within_ is None
    assert {tuple(s) for s, _ in longer.solutions_[:-1]} == {tuple(s) for s, _ in found}
    beyond = abs(longer.solutions_[-1][1] - found[0][1])
    assert beyond > 0.05 * abs(near.baseline_ - found[0][1])


def test_a_list_that_is_cut_says_so(data):
    X, y = data
    selector = ExactSelector(n_features_to_select=3, C=0.1, within=0.5, n_solutions=2).fit(X, y)
    assert not selector.within_["complete"] and len(selector.solutions_) == selector.within_["most"] == 2
    assert selector.within_["complete_within"] < 0.5
    with pytest.warns(ConvergenceWarning):
        selector = ExactSelector(n_features_to_select=3, C=100.0, within=0.5, node_limit=1).fit(X, y)
    assert not selector.within_["complete"]


def test_what_it_does_not_go_with_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="within"):
        ExactSelector(within=-0.1).fit(X, y)
    with pytest.raises(ValueError, match="left out of a path"):
        ExactSelector(within=0.1).path(X, y, 2)
    with pytest.raises(ValueError, match="left out where several subsets are wanted"):
        MBPSelector(within=0.1, plain=True).fit(X, y)
    with pytest.raises(ValueError, match="left out where a proof is written"):
        MBPSelector(within=0.1, proof="x.proof").fit(X, y)
