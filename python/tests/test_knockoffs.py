"""`fewest.knockoffs`: the command's answer, any estimator, what is refused."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from problems import ctrl_c
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewest
from fewest import SVMRFE, FeatureGeneratingMachine, InformationGain, L1SVMSelector, _core, knockoffs


def data(n=300, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.logspace(-1, 2, p) + 5.0
    Z = (X - 5.0) / np.logspace(-1, 2, p)
    return X, (Z[:, :8].sum(axis=1) + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (["-m", "rfe", "--cost", "0.1"], SVMRFE(n_features_to_select=1, C=0.1)),
        (["-m", "l1-svm", "--cost", "0.1"], L1SVMSelector(C=0.1)),
        (["-m", "fgm", "--subset-size", "10", "--cost", "0.1"], FeatureGeneratingMachine(subset_size=10, C=0.1)),
        (["-m", "info-gain", "--binning", "4"], InformationGain(bins=4)),
    ],
    ids=["rfe", "l1", "fgm", "gain"],
)
def test_it_is_what_the_command_says(tmp_path, options, model):
    X, y = data()
    X[:, 7] = 1.0
    pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "k.json"
    more = ["--draws", "2", "--seed", "4", "--fdr", "0.4", "--json", str(out), "--quiet"]
    assert _core.command(["fewest", "knockoffs", str(tmp_path / "d.csv"), *options, *more]) == 0
    said = json.loads(out.read_text())
    found = knockoffs(make_pipeline(StandardScaler(), model), X, y, fdr=0.4, n_draws=2, random_state=4)
    assert said["selected_indices"] == found.selected.tolist()
    statistics = {f"x{j}": w for j, w in enumerate(found.statistics) if j != 7}
    assert statistics == pytest.approx(said["statistics"], rel=1e-3, abs=1e-3)
    assert found.statistics[7] == 0.0 and 7 not in found.selected
    assert {f"x{j}": s for j, s in enumerate(found.separations) if j != 7} == pytest.approx(said["separations"])
    assert said["shrinkage"] == pytest.approx(found.shrinkage)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(C=0.1), RandomForestClassifier(n_estimators=300, random_state=0), SelectKBest(k=1)],
    ids=["weights", "forest", "scores"],
)
def test_any_estimator_that_says_what_is_important(model):
    X, y = data(n=600)
    found = knockoffs(make_pipeline(StandardScaler(), model), X, y, fdr=0.4, n_draws=5, random_state=1)
    assert np.isin(found.selected, range(8)).sum() >= 5
    assert (~np.isin(found.selected, range(8))).sum() <= 3
    assert len(found.thresholds) == 5 and (found.evidence[found.selected] > 0).all()


def test_jobs_change_nothing_and_weights_reach_the_estimator():
    X, y = data(seed=1)
    model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=1, step=0.5))
    one = knockoffs(model, X, y, n_draws=3)
    two = knockoffs(model, X, y, n_draws=3, n_jobs=2)
    np.testing.assert_array_equal(one.statistics, two.statistics)
    plain = LogisticRegression()
    weighted = knockoffs(plain, X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    assert not np.array_equal(weighted.statistics, knockoffs(plain, X, y).statistics)


def test_what_makes_no_sense_is_refused():
    X, y = data()
    for given, words in [({"fdr": 0.0}, "fdr is 0.0"), ({"fdr": 1.0}, "fdr is 1.0"), ({"n_draws": 0}, "n_draws is 0")]:
        with pytest.raises(ValueError, match=words):
            knockoffs(LogisticRegression(), X, y, **given)
    with pytest.raises(ValueError, match="GaussianNB says nothing of importance"):
        knockoffs(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="120 importances of 60 columns"):
        knockoffs(GaussianNB(), X, y, importance_getter="theta_")
    with pytest.raises(ValueError, match="one value only"):
        knockoffs(LogisticRegression(), np.ones((10, 3)), np.tile([0, 1], 5))
    with pytest.raises(ValueError, match="draws of different lengths"):
        _core.knockoff_selection([[1.0], [1.0, 2.0]], 0.2)
    with pytest.raises(ValueError, match="feature 3 of 3"):
        _core.Knockoffs(np.eye(3), [3], {})


def test_memory_and_time_are_kept_while_copies_are_made():
    X, y = data()
    before = fewest.set_memory("100K")
    try:
        with pytest.raises(MemoryError, match="copies of 30 features in 300 samples needs"):
            knockoffs(LogisticRegression(), X, y)
    finally:
        fewest.set_memory(before)
    with pytest.raises(TimeoutError, match="the time was over"):
        _core.Knockoffs(X, list(range(30)), {"time": 0.0})


def test_ctrl_c_ends_the_making_of_copies():
    X = np.random.default_rng(0).normal(size=(3000, 2500))
    begun = time.monotonic()
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        knockoffs(LogisticRegression(), X, np.tile([0, 1], 1500))
    assert time.monotonic() - begun < 10
