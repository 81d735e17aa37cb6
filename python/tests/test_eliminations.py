"""Eliminations as users ask for them: a start, sizes as shares, any splitter, preparation inside folds."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from problems import problem
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from fewest import SVC, SVMRFE, EvaluationRFE, export_model
from fewest.papers import FlipSelector


def units_and_gaps(seed=0, n=60, p=8):
    X, y = make_classification(n, p, n_informative=4, n_redundant=1, flip_y=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    X = X * 10.0 ** rng.integers(-2, 3, p) + rng.normal(size=p)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize("selector", [SVMRFE(n_features_to_select=2), EvaluationRFE(n_features_to_select=2, Cs=(1.0,), cv=3)])
def test_an_elimination_from_a_start_is_one_on_its_columns(selector):
    X, y = problem(n=40, p=9, seed=3)
    start = [1, 2, 5, 6, 8]
    alone = clone(selector).fit(X[:, start], y)
    for given in (start[::-1], np.isin(np.arange(9), start)):
        begun = clone(selector).set_params(start=given).fit(X, y)
        assert np.flatnonzero(begun.support_).tolist() == [start[j] for j in np.flatnonzero(alone.support_)]
        assert begun.objective_ == pytest.approx(alone.objective_, rel=1e-9)
        assert (begun.ranking_[start] == alone.ranking_).all()
        outside = np.setdiff1d(np.arange(9), start)
        assert begun.ranking_[outside].min() >= begun.ranking_[start].max()
    assert SVMRFE(start=start).fit(X, y).n_features_ == 2
    with pytest.raises(ValueError, match="start names feature 9"):
        clone(selector).set_params(start=[9]).fit(X, y)


@pytest.mark.parametrize("selector", [SVMRFE(), EvaluationRFE(Cs=(1.0,), cv=3), FlipSelector(cv=3)])
def test_a_size_may_be_a_share(selector):
    X, y = problem(n=40, p=8, seed=4)
    share, size = (clone(selector).set_params(n_features_to_select=k).fit(X, y) for k in (0.3, 2))
    assert (share.support_ == size.support_).all() and share.n_features_ <= 2


@pytest.mark.parametrize(
    "cv",
    [
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        StratifiedShuffleSplit(4, random_state=1),
        StratifiedShuffleSplit(1, random_state=2),
    ],
)
def test_any_splitter_judges_eliminations_and_flips(cv):
    X, y = problem(n=60, p=5, seed=5)
    cost = 0.3

    def accuracy(features):
        fits = ((SVC(kernel="linear", C=cost, tol=1e-6).fit(X[train][:, features], y[train]), test) for train, test in cv.split(X, y))
        return np.mean([model.score(X[test][:, features], y[test]) for model, test in fits])

    found = EvaluationRFE(Cs=(cost,), candidates=5, cv=cv).fit(X, y)
    assert found.objective_ == pytest.approx(accuracy(np.flatnonzero(found.support_)))
    table = found.cv_results_
    assert table["n_features"].tolist() == [1, 2, 3, 4, 5] and (table["cost"] == cost).all()
    splits = [table[f"split{number}_test_score"] for number in range(cv.get_n_splits(X, y))]
    np.testing.assert_allclose(table["mean_test_score"], np.mean(splits, axis=0))
    np.testing.assert_allclose(table["std_test_score"], np.std(splits, axis=0))
    assert table["mean_test_score"][-1] == pytest.approx(accuracy(range(5)))
    assert found.objective_ == pytest.approx(table["mean_test_score"].max())

    flips = FlipSelector(start=[0], C=cost, cv=cv, max_iter=None).fit(X, y)
    best = accuracy(np.flatnonzero(flips.support_))
    assert flips.objective_ == pytest.approx(best)
    for j in range(5):
        other = flips.support_ ^ (np.arange(5) == j)
        assert not other.any() or accuracy(np.flatnonzero(other)) <= best + 1e-9

    tuned = SVMRFE(Cs=(cost, 30.0), cv=cv, n_features_to_select=5).fit(X, y)
    assert tuned.tuned_[0]["accuracy"] >= accuracy(range(5)) - 1e-9


@pytest.mark.parametrize("impute", ["mean", "median", "most_frequent"])
def test_preparation_is_learnt_inside_each_fold(impute):
    X, y = units_and_gaps()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    found = SVMRFE(cv=cv, impute=impute, scale=True).fit(X, y)
    table = found.cv_results_
    for number, (train, test) in enumerate(cv.split(X, y)):
        prepare = make_pipeline(SimpleImputer(strategy=impute), StandardScaler())
        fold, held_out = prepare.fit_transform(X[train]), prepare.transform(X[test])
        order = SVMRFE(n_features_to_select=1).fit(fold, y[train])
        np.testing.assert_array_equal(table[f"split{number}_ranking"][0], order.ranking_)
        for at, size in enumerate(table["n_features"]):
            kept = order.ranking_ <= size
            model = SVC(kernel="linear", tol=1e-9).fit(fold[:, kept], y[train])
            assert table[f"split{number}_test_score"][at] == pytest.approx(model.score(held_out[:, kept], y[test]))
    # And the last elimination, and its classifier, from all samples.
    prepare = make_pipeline(SimpleImputer(strategy=impute), StandardScaler())
    whole = SVMRFE(n_features_to_select=found.n_features_).fit(prepare.fit_transform(X), y)
    assert (whole.support_ == found.support_).all()
    np.testing.assert_allclose(found.decision_function(X), whole.decision_function(prepare.transform(X)), rtol=1e-6, atol=1e-6)
    assert found.certify(X, y)["objective"] == pytest.approx(whole.objective_, rel=1e-6)
    np.testing.assert_array_equal(found.transform(X), X[:, found.support_])
    sized = SVMRFE(impute=impute, scale=True).path(X, y, [1, 3])
    assert sized[1].score(X, y) == SVMRFE(n_features_to_select=3).fit(prepare.transform(X), y).score(prepare.transform(X), y)


@pytest.mark.parametrize("sparse", [False, True])
def test_on_random_labels_sizes_are_judged_at_chance(sparse):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 300)) * 10.0 ** rng.integers(-3, 4, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.arange(80) % 2
    X = sp.csr_matrix(X) if sparse else X
    means = []
    for seed in range(6):
        found = SVMRFE(cv=5, step=0.5, step_of="remaining", scale=True, impute="mean").fit(X, rng.permutation(y) if seed else y)
        means.append(found.cv_results_["mean_test_score"].mean())
        # Judged on the samples that it was selected by, it would be far from chance.
        assert found.score(X, y) > 0.7 or seed
    assert 0.4 < np.mean(means) < 0.6, means


def test_sparse_samples_are_scaled_by_their_largest_value():
    X, y = units_and_gaps(seed=1)
    X = sp.csr_matrix(np.where(np.nan_to_num(X) > 0, np.nan_to_num(X), 0.0))
    found = SVMRFE(n_features_to_select=3, scale=True).fit(X, y)
    whole = make_pipeline(MaxAbsScaler(), SVMRFE(n_features_to_select=3)).fit(X, y)
    assert (found.support_ == whole[-1].support_).all()
    np.testing.assert_allclose(found.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-7)


def test_what_dense_samples_say_is_done_to_sparse_ones():
    X, y = units_and_gaps(seed=3)
    X = np.where(np.nan_to_num(X) > 0, np.nan_to_num(X), 0.0)
    found = SVMRFE(n_features_to_select=3, scale=True).fit(X, y)
    np.testing.assert_allclose(found.decision_function(sp.csr_matrix(X)), found.decision_function(X))


def test_a_prepared_selector_is_exported_with_its_preparation(tmp_path):
    X, y = units_and_gaps(seed=2)
    found = SVMRFE(n_features_to_select=3, impute="median", scale=True).fit(X, y)
    export_model(found, tmp_path / "model.json")
    model = json.loads((tmp_path / "model.json").read_text())["model"]
    assert model["imputation"]["rule"] == "median" and model["scaling"]["kind"] == "standard"
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    lines = [",".join(names), *(",".join("" if np.isnan(x) else repr(float(x)) for x in row) for row in X)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    code = "import sys; from fewest import _core; sys.exit(_core.command(['fewest', *sys.argv[1:]]))"
    words = ["predict", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), "--out", str(tmp_path / "p.csv")]
    subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)
    told = (tmp_path / "p.csv").read_text().split()[1:]
    assert [line.split(",")[0] for line in told] == [str(label) for label in found.predict(X)]


def test_preparation_and_a_chosen_cost_do_not_go_together():
    X, y = units_and_gaps(seed=3)
    for given, word in itertools.product([{"scale": True}, {"impute": "mean", "scale": True}], [{"C": "auto"}, {"Cs": (1.0, 2.0)}]):
        with pytest.raises(ValueError, match="pipeline"):
            SVMRFE(**given, **word).fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match="NaN"):
        SVMRFE(scale=True).fit(X, y)
