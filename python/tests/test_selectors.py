"""What selectors find: peers' answers, enumeration, bounds, proofs, sizes, gamma, coefficients."""

import itertools

import numpy as np
import pytest
from problems import problem
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import LinearSVC as PeerLinearSVC

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    ExactSelector,
    FeatureGeneratingMachine,
    L1SVMSelector,
    LagrangianSelector,
    LinearSVC,
    MBPSelector,
    Rules,
    verify,
)
from fewest.papers import BendersSelector


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_exact_and_benders_equal_enumeration_under_rules(seed, loss):
    X, y = problem(n=40, p=7, seed=seed)
    rules = Rules(max_features=3, implies=[(0, 1)], at_most=[(1, [2, 3])], budget=2.5, costs=[1, 0.5, 1, 1, 0.5, 2, 0.1])

    def allowed(subset):
        cost = sum(rules.costs[j] for j in subset)
        return (0 not in subset or 1 in subset) and not {2, 3} <= set(subset) and cost <= 2.5

    best = np.inf
    for size in range(1, 4):
        for subset in filter(allowed, itertools.combinations(range(7), size)):
            best = min(best, SVC(kernel="linear", loss=loss).fit(X[:, subset], y).objective_)
    for method in (ExactSelector, BendersSelector):
        selector = method(rules=rules, loss=loss, gap=1e-7).fit(X, y)
        assert selector.status_ == "optimal"
        assert selector.objective_ == pytest.approx(best, rel=1e-6)
        assert selector.bound_ <= best * (1 + 1e-9)
        assert allowed(np.flatnonzero(selector.support_))


def test_classifiers_solve_the_peers_problems():
    X, y = problem()
    peer = PeerSVC(kernel="linear", tol=1e-10).fit(X, y)
    ours = SVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-5, atol=1e-5)
    X, y = load_iris(return_X_y=True)
    for kernel in ("linear", "rbf", "poly"):
        peer = PeerSVC(kernel=kernel, tol=1e-10).fit(X, y)
        ours = SVC(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-4, atol=1e-4)
        assert (ours.predict(X) == peer.predict(X)).all()
        pairs = (
            clone(peer).set_params(decision_function_shape="ovo").fit(X, y),
            clone(ours).set_params(decision_function_shape="ovo").fit(X, y),
        )
        np.testing.assert_allclose(pairs[0].decision_function(X), pairs[1].decision_function(X), rtol=1e-4, atol=1e-4)
    peer = PeerLinearSVC(tol=1e-10, max_iter=1_000_000, dual=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(LinearSVC().fit(X, y).coef_, peer.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("step", [1, 3, 0.2])
def test_rfe_is_one_line_away(step):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    peer = RFE(PeerSVC(kernel="linear", tol=1e-8), n_features_to_select=5, step=step).fit(X, y)
    ours = SVMRFE(n_features_to_select=5, step=step).fit(X, y)
    assert (ours.support_ == peer.support_).all()
    assert (ours.ranking_ == peer.ranking_).all()
    assert ours.score(X, y) == pytest.approx(peer.score(X, y))


def test_rfe_with_cv_is_rfecv():
    X, y = problem(n=120, p=15, seed=3)
    cv = StratifiedKFold(4)
    peer = RFECV(PeerSVC(kernel="linear", tol=1e-9), cv=cv).fit(X, y)
    ours = SVMRFE(cv=cv).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.cv_results_["std_test_score"], peer.cv_results_["std_test_score"])
    assert (ours.support_ == peer.support_).all()
    for split in range(4):
        for what in ("ranking", "support"):
            np.testing.assert_array_equal(ours.cv_results_[f"split{split}_{what}"], peer.cv_results_[f"split{split}_{what}"])
    by_four = SVMRFE(cv=cv, step=4).fit(X, y)
    peer_by_four = RFECV(PeerSVC(kernel="linear", tol=1e-9), cv=cv, step=4).fit(X, y)
    np.testing.assert_array_equal(by_four.cv_results_["split2_ranking"], peer_by_four.cv_results_["split2_ranking"])
    smaller = SVMRFE(cv=cv, size_rule="one_se").fit(X, y)
    assert smaller.n_features_ <= ours.n_features_
    mean = np.asarray(ours.cv_results_["mean_test_score"])
    for less in (0, 0.03, 1):
        fewer = SVMRFE(cv=cv, size_rule=less).fit(X, y)
        enough = np.flatnonzero(mean >= mean.max() - less)[0]
        assert fewer.n_features_ == ours.cv_results_["n_features"][enough]
    with pytest.raises(ValueError, match="size_rule"):
        SVMRFE(cv=cv, size_rule=-0.1).fit(X, y)
    by_area = SVMRFE(cv=cv, scoring="roc_auc").fit(X, y)
    peer = RFECV(PeerSVC(kernel="linear", tol=1e-9), cv=cv, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(by_area.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])


def test_the_order_of_elimination_and_how_many_steps_are_certain():
    X, y = problem(seed=5)
    p = X.shape[1]
    one = SVMRFE(n_features_to_select=3).fit(X, y)
    np.testing.assert_array_equal(one.ranking_[one.elimination_order_], np.arange(p - 2, 1, -1))
    assert (one.elimination_steps_, one.certain_steps_) == (p - 3, p - 3)
    two = SVMRFE(n_features_to_select=3, step=2, rules=Rules(forbid=[4])).fit(X, y)
    assert set(two.elimination_order_) == set(range(p)) - set(np.flatnonzero(two.support_)) - {4}
    assert (np.diff(two.ranking_[two.elimination_order_]) <= 0).all()
    twice = SVMRFE(n_features_to_select=2 * p - 1).fit(np.hstack([X, X]), y)
    assert (twice.elimination_steps_, twice.certain_steps_) == (1, 0)
    assert SVMRFE(n_features_to_select=3, kernel="rbf").fit(X, y).certain_steps_ is None


def test_a_certificate_brackets_the_heuristic():
    X, y = problem(seed=5)
    heuristic = SVMRFE(n_features_to_select=3).fit(X, y)
    certificate = heuristic.certify(X, y)
    best = ExactSelector(n_features_to_select=3, gap=1e-8).fit(X, y)
    assert certificate["status"] == "optimal"
    assert certificate["objective"] == pytest.approx(heuristic.objective_, rel=1e-6)
    assert certificate["bound"] <= best.objective_ * (1 + 1e-6)
    assert certificate["best_objective"] == pytest.approx(best.objective_, rel=1e-3)
    assert not hasattr(SVMRFE(kernel="rbf"), "certify")


def test_proofs_are_verified(tmp_path):
    X, y = make_classification(n_samples=60, n_features=6, random_state=3)
    weights = np.linspace(0.5, 1.5, len(y))
    selectors = [
        ExactSelector(n_features_to_select=2, class_weight="balanced", proof=tmp_path / "exact.proof"),
        BendersSelector(n_features_to_select=2, proof=str(tmp_path / "gbd.proof")),
        MBPSelector(feature_penalty=0.5, proof=tmp_path / "mbp.proof"),
    ]
    for selector in selectors:
        selector.fit(X, y, sample_weight=weights)
        found = verify(selector.proof_, X, y, weights, class_weight=selector.class_weight)
        assert found.verified, found
        assert found.gap <= 1.1e-4
        assert found.bound <= selector.objective_ * (1 + 1e-6)
        assert not verify(selector.proof_, X + 1e-9, y, weights, class_weight=selector.class_weight).verified
    assert ExactSelector(n_features_to_select=2).fit(X, y).proof_ is None
    selector = SVMRFE(n_features_to_select=2).fit(X, y)
    certificate = selector.certify(X, y, proof=tmp_path / "rfe.proof")
    assert verify(certificate["proof"], X, y).verified
    with pytest.raises(OSError, match="nowhere"):
        ExactSelector(proof="/nowhere/x.proof").fit(X, y)
    with pytest.raises(ValueError, match="mbp can write a proof"):
        MBPSelector(n_features_to_select=2, proof=tmp_path / "no.proof").fit(X, y)


def test_bounds_are_bounds():
    X, y = problem(n=40, p=8)
    exact = MBPSelector(feature_penalty=0.5, gap=1e-8).fit(X, y)
    lagrangian = LagrangianSelector(feature_penalty=0.5).fit(X, y)
    assert lagrangian.bound_ <= exact.objective_ * (1 + 1e-7) <= lagrangian.objective_ * (1 + 2e-7)
    machine = FeatureGeneratingMachine(n_features_to_select=3).fit(X, y)
    assert machine.bound_ <= machine.objective_
    for loss, power in (("hinge", 1), ("squared_hinge", 2)):
        l1 = L1SVMSelector(C=0.1, loss=loss).fit(X, y)
        w, b = l1.coef_[0], l1.intercept_[0]
        slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ w + b))
        assert l1.objective_ == pytest.approx(np.abs(w).sum() + 0.1 * (slack**power).sum(), rel=1e-7)


def test_a_size_is_a_promise():
    X, y = make_classification(200, 300, n_informative=20, random_state=0)
    machine = FeatureGeneratingMachine(n_features_to_select=10).fit(X, y)
    mixture = FeatureGeneratingMachine(subset_size=10).fit(X, y)
    assert machine.n_features_ <= 10 < mixture.n_features_
    assert FeatureGeneratingMachine(n_features_to_select=4, subset_size=10).fit(X, y).n_features_ <= 4
    assert FeatureGeneratingMachine().fit(X, y).n_features_ <= 5
    assert FeatureGeneratingMachine(rules=Rules(at_most=[(1, [0, 1])])).fit(X, y).n_features_ <= 5
    # More features than any size that was asked for.
    certificate = mixture.certify(X, y, time_limit=1)
    assert certificate["bound"] <= certificate["objective"]


def test_gaussian_alignment_is_the_largest():
    X, y = problem(n=40, p=6)
    found = AlignmentSelector(n_features_to_select=2, gamma=0.5, gap=1e-9).fit(X, y)

    def alignment(subset):
        part = X[:, subset]
        K = np.exp(-0.5 * ((part[:, None] - part[None]) ** 2).sum(-1))
        share = np.where(y == 1, 1 / (y == 1).sum(), -1 / (y == 0).sum())
        return share @ K @ share

    subsets = [s for size in (1, 2) for s in itertools.combinations(range(6), size)]
    best = max(subsets, key=alignment)
    assert tuple(np.flatnonzero(found.support_)) == best
    assert found.objective_ == pytest.approx(alignment(best), rel=1e-8)
    assert found.status_ == "optimal"


def test_alignment_of_many_classes_is_the_sum_over_pairs():
    """The formula of the docstring, which is above 1 where classes are far apart."""
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    found = AlignmentSelector(n_features_to_select=2, gamma=2.0).fit(X, y)
    part = X[:, found.support_]
    K = np.exp(-2.0 * ((part[:, None] - part[None]) ** 2).sum(-1))
    shares = [(y == a) / (y == a).sum() for a in range(3)]
    pairs = [a - b for a, b in itertools.combinations(shares, 2)]
    assert found.objective_ == pytest.approx(sum(psi @ K @ psi for psi in pairs), rel=1e-8)
    assert "from 0 to 2" in AlignmentSelector.__doc__


def test_a_run_is_repeated_to_the_last_bit():
    X, y = problem(n=80, p=15)
    found = [LagrangianSelector(feature_penalty=0.5, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 2)]
    assert len({(one.objective_, one.bound_, tuple(one.coef_[0])) for one in found}) == 1


def test_gamma_is_scikit_learn_s_and_the_papers():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    repeated = X.repeat(weights.astype(int), axis=0)
    selector = AlignmentSelector(n_features_to_select=2, gamma="scale").fit(X, y, sample_weight=weights)
    assert selector.gamma_ == pytest.approx(1 / (2 * repeated.var()))
    distances = ((repeated[:, None] - repeated[None]) ** 2).sum(-1)[np.triu_indices(len(repeated), 1)]
    for gamma, beta in (("sigest", 1.0), ("sigest:0.5", 0.5)):
        selector = AlignmentSelector(n_features_to_select=2, gamma=gamma).fit(X, y, sample_weight=weights)
        assert selector.gamma_ == pytest.approx(beta / (2 / 4 * np.median(distances)))
        assert selector.estimator_.gamma == selector.gamma_
    for gamma in ("1/p", "auto"):
        selector = SVMRFE(n_features_to_select=2, kernel="rbf", gamma=gamma).fit(X, y)
        assert selector.estimator_.gamma == 0.5


def test_coefficients_of_all_features():
    X, y = problem()
    selector = L1SVMSelector(C=0.05).fit(X, y)
    assert selector.coef_.shape == (1, 12) and ((selector.coef_[0] != 0) == selector.support_).all()
    np.testing.assert_allclose(selector.decision_function(X), X @ selector.coef_[0] + selector.intercept_[0])
    assert (SelectFromModel(selector, threshold=1e-12).fit(X, y).get_support() == selector.support_).all()


def test_no_feature_selected_still_predicts():
    X, y = problem(n=61)
    with pytest.warns(UserWarning):
        selector = L1SVMSelector(C=1e-9).fit(X, y)
        assert selector.transform(X).shape == (61, 0)
    assert (selector.predict(X) == np.bincount(y).argmax()).all()


@pytest.mark.parametrize("Selector", [ExactSelector, BendersSelector])
def test_tasks_share_one_subset_and_have_classifiers_of_their_own(Selector):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    sites = np.array(["north", "south", "east"])[np.arange(len(y)) % 3]
    selector = Selector(n_features_to_select=3).fit(X, y, tasks=sites)
    assert selector.status_ == "optimal"
    assert selector.tasks_.tolist() == ["east", "north", "south"]
    # The sum of what each task's own classifier costs, on the one subset.
    total = 0.0
    for site, classifier in zip(selector.tasks_, selector.estimators_, strict=True):
        of, signs = sites == site, np.where(y == 1, 1, -1)
        slack = np.maximum(0, 1 - signs[of] * classifier.decision_function(selector.transform(X)[of]))
        total += 0.5 * np.sum(classifier.coef_**2) + slack.sum()
    assert total == pytest.approx(selector.objective_, rel=1e-4)
    with pytest.raises(AttributeError, match="estimators_"):
        selector.predict(X)
    with pytest.raises(ValueError, match="one class"):
        Selector(n_features_to_select=3).fit(X, y, tasks=y)
    with pytest.raises(ValueError, match="3 entries"):
        Selector(n_features_to_select=3).fit(X, y, tasks=sites[:3])
    with pytest.raises(ValueError, match="C is 'auto'"):
        Selector(C="auto").fit(X, y, tasks=sites)
    certificate = selector.certify(X, y, tasks=sites)
    assert certificate["status"] == "optimal"
    assert certificate["objective"] == pytest.approx(selector.objective_, rel=1e-4)
    with pytest.raises(ValueError, match="fitted with tasks"):
        selector.certify(X, y)
    sizes = Selector().path(X, y, 3, tasks=sites)
    assert [one.n_features_ for one in sizes] == [1, 2, 3]
    assert sizes[2].objective_ == pytest.approx(selector.objective_, rel=2e-4)
    assert all(len(one.estimators_) == 3 and one.tasks_.tolist() == selector.tasks_.tolist() for one in sizes)
    assert not hasattr(selector.fit(X, y), "tasks_")
    assert selector.score(X, y) > 0.9


def test_fgm_takes_tasks_and_many_classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    sites = np.array(["north", "south", "east"])[np.arange(len(y)) % 3]
    machine = FeatureGeneratingMachine(n_features_to_select=4, C=0.5).fit(X, y, tasks=sites)
    assert machine.n_features_ == 4
    assert machine.bound_ <= machine.objective_
    # V is the sum of what each task's own classifier costs; the value is -1 / (4 V).
    total = 0.0
    for site, classifier in zip(machine.tasks_, machine.estimators_, strict=True):
        of, signs = sites == site, np.where(y == 1, 1, -1)
        slack = np.maximum(0, 1 - signs[of] * classifier.decision_function(machine.transform(X)[of]))
        total += 0.5 * (np.sum(classifier.coef_**2) + np.sum(classifier.intercept_**2)) + 0.25 * (slack**2).sum()
    assert -0.25 / total == pytest.approx(machine.objective_, rel=1e-4)
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    for how in ("ovo", "ovr"):
        machine = FeatureGeneratingMachine(n_features_to_select=4, multi_class=how, fit_intercept=True, intercept_scaling=1.0).fit(X, y)
        assert machine.score(X, y) > 0.9
        best = ExactSelector(n_features_to_select=4, multi_class=how, loss="squared_hinge", C=0.5, intercept_scaling=1.0).fit(X, y)
        value = -0.25 / best.objective_
        assert machine.bound_ <= value + 1e-4 * abs(value)
        assert machine.objective_ >= value - 1e-4 * abs(value)


@pytest.mark.parametrize("how", ["ovo", "ovr"])
def test_many_classes_are_the_same_problem_by_two_methods_and_certified(how):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    exact = ExactSelector(n_features_to_select=3, multi_class=how).fit(X, y)
    benders = BendersSelector(n_features_to_select=3, multi_class=how).fit(X, y)
    assert exact.status_ == benders.status_ == "optimal"
    assert exact.objective_ == pytest.approx(benders.objective_, rel=2e-4)
    assert exact.coef_.shape == (3, 13)
    if how == "ovo":
        certificate = SVMRFE(n_features_to_select=3).fit(X, y).certify(X, y)
        assert certificate["best_objective"] == pytest.approx(exact.objective_, rel=2e-4)
