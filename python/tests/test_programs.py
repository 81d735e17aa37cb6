"""The methods that leave a program to HiGHS or Clarabel, by enumeration, and the programs as files."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from fewest import SVC, AlignmentSelector, ExactSelector, MBPSelector, Rules
from fewest.papers import MILOKSelector, MILP1Selector, MILP2Selector, NMMKLSelector, QCQPSelector, RMILOKSelector


def problem(n=24, p=5, seed=0):
    X, y = make_classification(n, p, n_informative=3, n_redundant=0, flip_y=0.1, random_state=seed)
    return scale(X), y


@pytest.mark.parametrize("plain", [False, True])
def test_milp1_has_the_least_slack(plain):
    from scipy.optimize import linprog

    X, y = problem()
    sign, n = np.where(y == 1, 1.0, -1.0), len(y)

    def slack(subset):
        w = len(subset)
        rows = np.hstack([-sign[:, None] * X[:, subset], -sign[:, None], -np.eye(n)])
        costs = np.r_[np.zeros(w + 1), np.ones(n)]
        bounds = [(-1.5, 1.5)] * w + [(None, None)] + [(0, None)] * n
        return linprog(costs, rows, -np.ones(n), bounds=bounds).fun

    best = min(slack(list(subset)) for subset in itertools.combinations(range(5), 2))
    found = MILP1Selector(n_features_to_select=2, weight_bound=1.5, plain=plain, gap=1e-9).fit(X, y)
    assert found.status_ == "optimal"
    assert found.objective_ == pytest.approx(best, rel=1e-6)
    assert found.bound_ == pytest.approx(best, rel=1e-5)
    assert slack(np.flatnonzero(found.support_).tolist()) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("lp", ["simplex", "interior"])
def test_milp2_has_the_largest_margin(lp):
    from scipy.optimize import linprog

    X, y = problem()
    sign, n, C = np.where(y == 1, 1.0, -1.0), len(y), 0.06

    def margin(subset):
        w = len(subset)
        rows = np.hstack([-sign[:, None] * X[:, subset], -sign[:, None], -np.eye(n), np.ones((n, 1))])
        costs = np.r_[np.zeros(w + 1), np.full(n, C), -1.0]
        bounds = [(-1, 1)] * w + [(None, None)] + [(0, None)] * (n + 1)
        return -linprog(costs, rows, np.zeros(n), bounds=bounds).fun

    best = max(margin(list(subset)) for subset in itertools.combinations(range(5), 2))
    found = MILP2Selector(n_features_to_select=2, C=C, lp=lp, gap=1e-9).fit(X, y)
    assert found.status_ == "optimal"
    assert found.objective_ == pytest.approx(best, rel=1e-6)
    assert found.estimator_.C == C


@pytest.mark.parametrize(
    "program",
    [MILOKSelector(), RMILOKSelector(), RMILOKSelector(big_m="tight", plain=True), RMILOKSelector(lp="interior")],
    ids=repr,
)
@pytest.mark.parametrize("gamma", ["sigest", 0.3])
def test_alignment_programs_find_what_the_search_proves(program, gamma):
    X, y = problem(14, 4)
    search = AlignmentSelector(n_features_to_select=2, gamma=gamma, gap=1e-9).fit(X, y)
    found = program.set_params(n_features_to_select=2, gamma=gamma, gap=1e-7).fit(X, y)
    assert found.status_ == "optimal"
    assert found.gamma_ == search.gamma_
    assert found.objective_ == pytest.approx(search.objective_, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_relaxations_are_in_order(loss):
    X, y = problem(60, 12)
    best = ExactSelector(n_features_to_select=3, loss=loss, gap=1e-8).fit(X, y)
    wide = QCQPSelector(n_features_to_select=3, loss=loss).fit(X, y)
    tight = NMMKLSelector(n_features_to_select=3, loss=loss).fit(X, y)
    assert wide.bound_ <= tight.bound_ * (1 + 1e-6) <= best.objective_ * (1 + 2e-6)
    for found in (wide, tight):
        assert best.objective_ <= found.objective_ * (1 + 1e-6)
        trained = SVC(kernel="linear", loss=loss).fit(X[:, found.support_], y)
        assert found.objective_ == pytest.approx(trained.objective_, rel=1e-5)
        assert found.certify(X, y)["best_objective"] == pytest.approx(best.objective_, rel=1e-3)


@pytest.mark.parametrize("ending", ["mps", "lp"])
@pytest.mark.parametrize(
    "selector",
    [MBPSelector(feature_penalty=0.5), MILP1Selector(), MILP2Selector(), MILOKSelector(), RMILOKSelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_programs_are_written_for_other_solvers(selector, ending, tmp_path):
    X, y = problem(12, 4)
    path = tmp_path / f"program.{ending}"
    selector.set_params(n_features_to_select=2).write_model(path, X, y)
    text = path.read_text()
    assert ("ROWS" in text) if ending == "mps" else ("subject to" in text.lower() or "st" in text.lower())
    assert not hasattr(selector, "support_")
    with pytest.raises(ValueError, match=r"must end in \.mps or \.lp"):
        selector.write_model(tmp_path / "program.txt", X, y)


def test_alignment_has_the_kernels_of_its_search():
    X, y = problem(14, 4)
    X[:, 1:3] = X[:, 1:3].round()
    asked = {"n_features_to_select": 2, "kernel": "laplace", "categorical_features": [1, 2]}
    best = AlignmentSelector(**asked).fit(X, y)
    for program in (MILOKSelector(**asked), RMILOKSelector(**asked)):
        found = program.fit(X, y)
        assert found.objective_ == pytest.approx(best.objective_, rel=2e-4)
        assert found.gamma_ == best.gamma_
        assert (found.support_ == best.support_).all() and found.score(X, y) == best.score(X, y)


def test_options_without_a_meaning_are_refused():
    X, y = problem(12, 4)
    with pytest.raises(ValueError, match="plain=True only"):
        MBPSelector(lp="interior").fit(X, y)
    with pytest.raises(ValueError, match="at least"):
        MILP2Selector(C=1e-6).fit(X, y)
    assert not hasattr(ExactSelector(), "write_model")
    allowed = MILP1Selector(rules=Rules(max_features=2, require=[3])).fit(X, y)
    assert allowed.support_[3]
