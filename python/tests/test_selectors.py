"""What selectors promise beyond scikit-learn's checks: peers' answers, bounds, rules, names, callbacks, pickles, Ctrl-C."""

import itertools
import os
import pickle
import re
import signal
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import LinearSVC as PeerLinearSVC

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    BendersSelector,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    FlipSelector,
    FSVSelector,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
    LinearSVC,
    MBPSelector,
    Progress,
    Rules,
    verify,
)
from fewest._engine import limits_of


def problem(n=60, p=12, seed=0, classes=2):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return scale(X), y


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
    smaller = SVMRFE(cv=cv, size_rule="1se").fit(X, y)
    assert smaller.n_features_ <= ours.n_features_
    by_area = SVMRFE(cv=cv, scoring="roc_auc").fit(X, y)
    peer = RFECV(PeerSVC(kernel="linear", tol=1e-9), cv=cv, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(by_area.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])


def test_groups_reach_the_splitter():
    X, y = problem(n=60)
    groups = np.arange(60) // 6
    with pytest.raises(ValueError, match="groups"):
        SVMRFE(cv=GroupKFold(3)).fit(X, y)
    selector = SVMRFE(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert len(selector.cv_results_["split0_test_score"]) == 12
    EvaluationRFE(cv=GroupKFold(3), costs=(1.0,), candidates=1).fit(X, y, groups=groups)


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
        MBPSelector(penalty=0.5, proof=tmp_path / "mbp.proof"),
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
    with pytest.raises(ValueError, match="mbp writes a proof"):
        MBPSelector(n_features_to_select=2, proof=tmp_path / "no.proof").fit(X, y)


def test_bounds_are_bounds():
    X, y = problem(n=40, p=8)
    exact = MBPSelector(penalty=0.5, gap=1e-8).fit(X, y)
    lagrangian = LagrangianSelector(penalty=0.5).fit(X, y)
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
    assert tuple(np.flatnonzero(found.support_)) == max(subsets, key=alignment)
    assert found.status_ == "optimal"


def test_layouts_and_types_of_x_give_the_same():
    X, y = problem()
    want = SVMRFE(n_features_to_select=4).fit(X, y)
    for same in (np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X), X[::1], np.vstack([X, X])[: len(X)]):
        found = SVMRFE(n_features_to_select=4).fit(same, y)
        assert (found.ranking_ == want.ranking_).all()
        assert found.objective_ == pytest.approx(want.objective_, rel=1e-8)
    assert (SVMRFE(n_features_to_select=4).fit(X.astype(np.float32), y).support_ == want.support_).all()
    strided = np.repeat(X, 2, axis=0)[::2]
    assert (SVMRFE(n_features_to_select=4).fit(strided, y).ranking_ == want.ranking_).all()


def test_unsorted_and_repeated_entries_of_sparse_matrices():
    X, y = problem()
    rows, columns = np.nonzero(X)
    halves = sp.coo_matrix((np.r_[X[rows, columns] / 2] * 1.0, (rows, columns)), shape=X.shape)
    both = sp.csc_matrix(
        (np.concatenate([halves.data, halves.data]), (np.concatenate([rows, rows]), np.concatenate([columns, columns]))),
        shape=X.shape,
    )
    raw = sp.csr_matrix((X.ravel()[::-1].copy(), np.tile(np.arange(X.shape[1])[::-1], len(X)), np.arange(0, X.size + 1, X.shape[1])))
    raw = raw[::-1].copy()
    before = raw.copy()
    for same in (both, raw):
        assert (SVMRFE(n_features_to_select=4).fit(same, y).support_ == SVMRFE(n_features_to_select=4).fit(X, y).support_).all()
    assert (raw.indices == before.indices).all()


def test_names_of_data_frames_survive():
    pd = pytest.importorskip("pandas")
    frame = load_breast_cancer(as_frame=True)
    X, y = pd.DataFrame(scale(frame.data), columns=frame.data.columns), frame.target
    rules = Rules(max_features=3, require=["mean texture"], forbid=["mean area"])
    selector = ExactSelector(rules=rules, time_limit=30).set_output(transform="pandas").fit(X, y)
    names = selector.get_feature_names_out()
    assert "mean texture" in names and "mean area" not in names
    assert list(selector.transform(X).columns) == list(names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.predict(X)
    with pytest.raises(ValueError, match="did you mean 'mean area'"):
        SVMRFE(rules=Rules(require=["mean arae"])).fit(X, y)
    pl = pytest.importorskip("polars")
    polars = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    selector = SVMRFE(n_features_to_select=3).set_output(transform="polars").fit(polars, y)
    assert selector.transform(polars).columns == list(selector.get_feature_names_out())


def test_bad_rules_are_named():
    X, y = problem()
    with pytest.raises(ValueError, match="contradict|required and forbidden"):
        ExactSelector(rules=Rules(require=[1], forbid=[1])).fit(X, y)
    with pytest.raises(ValueError, match="x1 is both required and forbidden"):
        SVMRFE(rules=Rules(require=[1], forbid=[1])).fit(X, y)
    with pytest.raises(ValueError, match="leave one of them out"):
        SVMRFE(n_features_to_select=2, rules=Rules(max_features=3)).fit(X, y)
    with pytest.raises(ValueError, match="write \\['a'\\]"):
        SVMRFE(rules=Rules(require="a")).fit(X, y)
    with pytest.raises(ValueError, match="12 features"):
        SVMRFE(rules=Rules(budget=1, costs=[1.0, 2.0])).fit(X, y)
    with pytest.warns(UserWarning, match="12 features"):
        assert SVMRFE(n_features_to_select=50).fit(X, y).n_features_ == 12


def test_rules_without_a_size():
    X, y = problem(p=12)
    # A budget or a group bounds the size: what is found is what a size of all features finds.
    # Without them it is 5.
    budget, groups = {"budget": 7, "costs": np.ones(12)}, {"at_most": [(2, range(4))]}
    selectors = (ExactSelector(), BendersSelector(C=0.01), AlignmentSelector(gamma=1e-3), InformationGain(bins=4), SVMRFE())
    for selector, rules in itertools.product([*selectors, FlipSelector(cv=3)], (budget, groups)):
        free, all_features = (clone(selector).set_params(rules=r).fit(X, y) for r in (Rules(**rules), Rules(**rules, max_features=12)))
        assert (free.support_ == all_features.support_).all()
    assert ExactSelector(rules=Rules(**budget)).fit(X, y).n_features_ == 7
    assert ExactSelector(rules=Rules(**groups)).fit(X, y).n_features_ > 6
    for rules in (None, Rules(require=[3]), Rules(implies=[(0, 1)])):
        assert ExactSelector(rules=rules).fit(X, y).n_features_ == 5
    assert SVMRFE().fit(X, y).n_features_ == 6


def test_features_of_rules():
    X, y = problem(p=6)
    mask = np.array([False, True, False, False, True, False])
    selector = SVMRFE(rules=Rules(max_features=3, require=mask)).fit(X, y)
    assert selector.support_[[1, 4]].all()
    assert SVMRFE(rules=Rules(max_features=3, forbid=mask.tolist())).fit(X, y).support_[[1, 4]].sum() == 0
    wrong = {
        "mask of shape": Rules(require=mask[:4]),
        "2.9.*integer": Rules(require=[2.9]),
        "True.*integer": Rules(implies=[(True, 1)]),
        "max_features is -1": Rules(max_features=-1),
        "max_features is 2.5": Rules(max_features=2.5),
        "at_most takes pairs": Rules(at_most=[([0, 1], 1)]),
        "m in at_least is -1": Rules(at_least=[(-1, [0, 1])]),
        "implies takes pairs": Rules(implies=["ab"]),
        "6 features, counted from 0": Rules(forbid=[6]),
        "set_output": Rules(require=["age"]),
    }
    for message, rules in wrong.items():
        with pytest.raises(ValueError, match=message):
            SVMRFE(rules=rules).fit(X, y)


def test_rules_can_be_searched_and_compared():
    X, y = problem()
    selector = SVMRFE(rules=Rules(require=[1]))
    search = GridSearchCV(selector, {"rules__max_features": [1, 3]}, cv=3).fit(X, y)
    assert search.best_estimator_.n_features_ == search.best_params_["rules__max_features"]
    assert selector.rules == Rules(require=[1])
    assert Rules(costs=np.ones(3)) == Rules(costs=np.ones(3)) != Rules(costs=np.zeros(3))
    assert Rules(costs=np.ones(3)) != Rules(costs={0: 1.0})
    with pytest.raises(ValueError, match="no rule 'size'"):
        Rules().set_params(size=3)


def test_unaligned_arrays_are_taken():
    X, y = problem()
    raw = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:]
    unaligned = raw.view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    want = SVMRFE(n_features_to_select=4).fit(X, y)
    assert (SVMRFE(n_features_to_select=4).fit(unaligned, y).ranking_ == want.ranking_).all()
    sparse = sp.csc_array(X)
    sparse.data = np.frombuffer(b"x" + sparse.data.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert not sparse.data.flags.aligned
    assert (SVMRFE(n_features_to_select=4).fit(sparse, y).ranking_ == want.ranking_).all()


def test_certify_checks_what_it_is_given():
    pd = pytest.importorskip("pandas")
    X, y = problem()
    selector = SVMRFE(n_features_to_select=3).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        selector.certify(selector.transform(X), y)
    with pytest.raises(ValueError, match="classes"):
        selector.certify(X, np.where(y == 1, "a", "b"))
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    selector = SVMRFE(n_features_to_select=3).fit(frame, y)
    with pytest.raises(ValueError, match="order"):
        selector.certify(frame[frame.columns[::-1]], y)
    with pytest.raises(AttributeError) as caught:
        SVMRFE().fit(*load_iris(return_X_y=True)).certify(X, y)
    assert "two classes" in str(caught.value.__cause__)
    # More features than the default size, chosen by cross-validation.
    wide = SVMRFE(cv=3, min_features_to_select=9).fit(X, y)
    assert wide.certify(X, y)["status"] == "optimal"


def test_a_panic_is_a_runtime_error():
    from fewest import _core

    X, y = problem()
    arguments = np.asfortranarray(X), y.astype(np.uint32), np.ones(len(y))
    with pytest.raises(RuntimeError, match="report it"):
        _core.certify(*arguments, {"max_features": 3}, [99], {"cost": 1.0}, {})


def test_settings_that_there_are_not_are_refused():
    from fewest import _core

    X, y = problem()
    arguments = np.asfortranarray(X), y.astype(np.uint32), np.ones(len(y))
    with pytest.raises(ValueError, match="class_weight"):
        _core.select(*arguments, {"max_features": 3}, {"name": "fsv", "class_weight": "balanced"}, {}, None)
    with pytest.raises(TypeError, match="class_weight"):
        FSVSelector(class_weight="balanced")
    with pytest.raises(ValueError, match="gamma"):
        SVMRFE(kernel="rbf", gamma="large").fit(X, y)
    with pytest.raises(ValueError, match="min_features_to_select is 10"):
        SVMRFE(cv=3, n_features_to_select=3, min_features_to_select=10).fit(X, y)


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


def test_docstrings_are_complete():
    import inspect

    import fewest

    for name in fewest.__all__:
        estimator = getattr(fewest, name)
        if hasattr(estimator, "get_params") and name != "Rules":
            described = re.findall(r"^(\w+) : .*default=", estimator.__doc__.split("Attributes\n---")[0], re.MULTILINE)
            assert described == list(inspect.signature(estimator).parameters), name


def test_one_thread_in_worker_processes():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    assert "threads" not in limits_of(SVMRFE(), None)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(limits_of, SVMRFE(), None).result()["threads"] == 1


def test_inside_scikit_learn_s_tools(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = problem(n=80)
    pipeline = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=4))
    search = GridSearchCV(pipeline, {"svmrfe__C": [0.1, 1.0], "svmrfe__n_features_to_select": [2, 4]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.6
    scores = cross_validate(make_pipeline(InformationGain(n_features_to_select=4), PeerSVC()), X, y, cv=3)
    assert scores["test_score"].mean() > 0.6
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    both = ColumnTransformer([("few", SVMRFE(n_features_to_select=2), list(frame)[:6])], remainder="drop").fit(frame, y)
    assert len(both.get_feature_names_out()) == 2
    fitted = pipeline.fit(X, y)
    assert (pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(X)).all()
    import joblib

    joblib.dump(fitted, tmp_path / "fitted.joblib")
    assert (joblib.load(tmp_path / "fitted.joblib").predict(X) == fitted.predict(X)).all()


def test_weights_are_routed_through_a_pipeline():
    import sklearn

    X, y = problem()
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            SVMRFE(n_features_to_select=3).set_fit_request(sample_weight=True),
        )
        routed = pipeline.fit(X, y, sample_weight=weights)[-1]
    alone = SVMRFE(n_features_to_select=3).fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    assert (routed.ranking_ == alone.ranking_).all()


def test_zero_weights_with_folds():
    X, y = problem(n=70)
    weights = np.ones(70)
    weights[::7] = 0
    kept = weights > 0
    cv = np.arange(70) % 3
    splits = [(np.flatnonzero(cv != f), np.flatnonzero(cv == f)) for f in range(3)]
    place = np.cumsum(kept) - 1
    fewer = [tuple(place[part[kept[part]]] for part in split) for split in splits]
    for selector in (SVMRFE(), EvaluationRFE(costs=(1.0,), candidates=2)):
        a = clone(selector).set_params(cv=splits).fit(X, y, sample_weight=weights)
        b = clone(selector).set_params(cv=fewer).fit(X[kept], y[kept])
        assert (a.ranking_ == b.ranking_).all() and a.objective_ == pytest.approx(b.objective_)


def test_folds_that_do_not_share_the_samples_out_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="share|folds"):
        EvaluationRFE(cv=[(np.arange(30), np.arange(30, 50))]).fit(X, y)
    with pytest.raises(ValueError, match="two test parts"):
        EvaluationRFE(cv=[(np.arange(30), np.arange(30, 60)), (np.arange(30), np.arange(20, 60))]).fit(X, y)


def test_a_limit_is_a_warning_with_the_best_so_far():
    X, y = problem(n=200, p=60, seed=1)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        selector = ExactSelector(n_features_to_select=10, time_limit=0.2).fit(X, y)
    assert selector.status_ == "time_limit" and 0 < selector.n_features_ <= 10
    assert selector.bound_ is None or selector.bound_ < selector.objective_
    selector.predict(X)


def test_a_time_limit_is_shared_by_cross_validation_and_the_last_elimination(monkeypatch):
    from fewest import _core

    times = {}

    def spied(name, original):
        def spy(*arguments):
            times[name] = next(a["time"] for a in arguments if isinstance(a, dict) and "time" in a)
            return original(*arguments)

        return spy

    for name in ("rfe_paths", "select"):
        monkeypatch.setattr(_core, name, spied(name, getattr(_core, name)))
    SVMRFE(cv=4, time_limit=100).fit(*problem())
    assert times["rfe_paths"] == 80 < times["select"] < 100


def test_callbacks_see_and_stop():
    X, y = problem(n=100, p=30)
    seen = []

    def listen(progress):
        assert isinstance(progress, Progress)
        seen.append(progress)
        return progress.objective is not None and len(seen) > 5

    with pytest.warns(ConvergenceWarning, match="callback"):
        selector = ExactSelector(n_features_to_select=6, callback=listen).fit(X, y)
    assert selector.status_ == "cancelled" and selector.n_features_ > 0
    assert seen[-1].features is not None

    def broken(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        SVMRFE(callback=broken).fit(X, y)


def test_scikit_learn_s_callback_protocol():
    pytest.importorskip("sklearn.callback")
    X, y = problem(n=100, p=30)

    class Stop:
        begun = ended = 0
        scores = ()

        def setup(self, estimator, context):
            self.begun = self.ended = 0
            self.scores = []

        def teardown(self, estimator, context):
            self.torn_down = True

        def on_fit_task_begin(self, estimator, context):
            self.begun += 1

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.ended += 1
            if fitted_estimator is not None:
                self.scores.append(fitted_estimator.score(X, y))
            return self.ended >= 8

    stop = Stop()
    with pytest.warns(ConvergenceWarning, match="callback"):
        selector = ExactSelector(n_features_to_select=6).set_callbacks(stop).fit(X, y)
    # The task of the whole fit, and its steps.
    assert stop.begun == stop.ended >= 9 and stop.torn_down
    assert selector.status_ == "cancelled" and stop.scores and min(stop.scores) > 0.5
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    SVMRFE(n_features_to_select=3).set_callbacks(ProgressBar()).fit(X, y)


@contextmanager
def ctrl_c(after):
    """One SIGINT to this process after some seconds."""
    # What runs in the background is started with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_raises_or_keeps_the_best_so_far():
    X, y = problem(n=300, p=80, seed=2)
    selector = ExactSelector(n_features_to_select=15, gap=0.0, time_limit=60, on_interrupt="keep")
    begun = time.monotonic()
    with ctrl_c(0.5), pytest.warns(ConvergenceWarning, match="interrupted"):
        selector.fit(X, y)
    assert selector.status_ == "cancelled" and selector.n_features_ > 0
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        clone(selector).set_params(on_interrupt="raise").fit(X, y)
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        SVMRFE(n_features_to_select=15).fit(X, y).certify(X, y, time_limit=60)
    assert time.monotonic() - begun < 30


def test_ctrl_c_ends_a_cross_validation():
    X, y = problem(n=300, p=80, seed=2)
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        cross_validate(ExactSelector(n_features_to_select=15, gap=0.0, time_limit=20), X, y, cv=3, error_score="raise")


def test_verbose_and_logging(capsys, caplog):
    X, y = problem()
    with caplog.at_level("DEBUG", logger="fewest"):
        ExactSelector(n_features_to_select=3, verbose=1).fit(X, y)
    assert "[ExactSelector]" in capsys.readouterr().out
    assert any("incumbent" in record.message for record in caplog.records)


def test_threads_do_not_matter():
    X, y = problem(n=150, p=20)
    for selector in (ExactSelector(n_features_to_select=4), SVMRFE(cv=3), EvaluationRFE(costs=(0.5, 2.0), cv=3)):
        one, two = (clone(selector).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
        assert (one.ranking_ == two.ranking_).all() and one.objective_ == two.objective_


def test_no_feature_selected_still_predicts():
    X, y = problem(n=61)
    with pytest.warns(UserWarning):
        selector = L1SVMSelector(C=1e-9).fit(X, y)
        assert selector.transform(X).shape == (61, 0)
    assert (selector.predict(X) == np.bincount(y).argmax()).all()


def test_the_command_comes_along():
    from fewest import _core

    assert _core.command(["fewest", "--version"]) == 0
    assert _core.command(["fewest", "select", "no-such-file.csv", "--method", "rfe", "--max-features", "2"]) == 2


@pytest.mark.parametrize(
    "selector",
    [
        ExactSelector(n_features_to_select=5, n_solutions=2),
        AlignmentSelector(n_features_to_select=4),
        BendersSelector(n_features_to_select=2, C=0.3),
        MBPSelector(penalty=0.3, weight_bound=3.0),
        SVMRFE(n_features_to_select=3),
        SVMRFE(n_features_to_select=3, kernel="rbf"),
        EvaluationRFE(costs=[0.1, 1.0], cv=3),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_fit_that_was_stopped_goes_on_to_the_same_answer(selector, tmp_path):
    X, y = problem(n=60, p=16)
    whole = clone(selector).fit(X, y)
    steps = 0

    def stop(progress):
        nonlocal steps
        steps += progress.event == "step"
        return steps > 3

    # The path of a string and of a path are one.
    stopped = clone(selector).set_params(resume=str(tmp_path / "state"), resume_every=0.0, callback=stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped.fit(X, y)
    resumed = clone(selector).set_params(resume=tmp_path / "state")
    resumed.fit(X, y)
    assert resumed.status_ == whole.status_
    assert resumed.support_.tolist() == whole.support_.tolist()
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    with pytest.raises(ValueError, match="other data"):
        resumed.fit(X + 1.0, y)
    with pytest.raises(ValueError, match="resume.*whose (rules|gamma) was"):
        clone(resumed).set_params(n_features_to_select=1).fit(X, y)
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:-1])
    with pytest.raises(ValueError, match="damaged"):
        clone(resumed).fit(X, y)
    with pytest.raises(ValueError, match="resume"):
        clone(resumed).set_params(resume=tmp_path / "no" / "folder").fit(X, y)


@pytest.mark.parametrize("largest", [1e71, 1e300, 1.7e308])
def test_values_that_cannot_be_squared_are_refused_by_name(largest):
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[7, 2] = largest
    y = np.arange(30) % 2
    for selector in (ExactSelector(n_features_to_select=2), InformationGain(n_features_to_select=2)):
        with pytest.raises(ValueError, match="sample 7, feature 2 is .* scale the feature"):
            selector.fit(X, y)
