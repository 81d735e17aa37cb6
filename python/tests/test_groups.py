"""Groups of samples that stay together: in folds, halves, and the folds inside them."""

import json
from functools import wraps

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedGroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, EvaluationRFE, ExactSelector, InformationGain, Study, _core, evaluate, stability
from fewest._folds import dealt


@pytest.fixture
def data():
    """Samples of 24 groups in no order, of two classes; the first feature tells them apart."""
    rng = np.random.default_rng(4)
    groups = rng.permutation(np.repeat(np.arange(24), rng.integers(2, 7, 24)))
    y = groups % 2
    X = rng.normal(size=(len(y), 6))
    X[:, 0] += 1.5 * y
    return X, y, groups


def whole(rows, groups):
    """Whether rows have all samples of each of their groups."""
    return np.isin(groups, groups[rows]).sum() == len(rows)


def essence(study):
    """What a study found in each fold."""
    return [(fold["selected"], fold["judgement"]["test"], fold["judgement"]["predicted"]) for fold in study.folds_]


def test_folds_are_balanced_as_scikit_learn_balances(data):
    X, y, groups = data
    for seed in range(5):
        ours = [test for _, test in dealt(y, 5, 1, seed, groups=groups.astype(np.uint32))]
        theirs = [test for _, test in StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(X, y, groups)]
        assert all(whole(test, groups) for test in ours)
        np.testing.assert_array_equal(np.sort(np.concatenate(ours)), np.arange(len(y)))

        def unevenness(tests):
            counts = np.array([np.bincount(y[test], minlength=2) for test in tests])
            return np.std(counts / np.bincount(y), axis=0).mean()

        assert unevenness(ours) <= unevenness(theirs) + 0.03
    # Names of groups do not matter.
    named = np.unique([f"g{group * 7 % 24}" for group in groups], return_inverse=True)[1]
    for ours, other in zip(
        dealt(y, 4, 2, 3, groups=groups.astype(np.uint32)), dealt(y, 4, 2, 3, groups=named.astype(np.uint32)), strict=True
    ):
        np.testing.assert_array_equal(ours[1], other[1])


def test_evaluate_keeps_groups_together_inside_folds_too(data, monkeypatch):
    X, y, groups = data
    chosen = {"n_features_to_select": 2}
    for of in (SVMRFE(cv=3), SVMRFE(C="auto", **chosen), EvaluationRFE(Cs=(1.0,), cv=3), SVMRFE(**chosen)):
        for model in (of, make_pipeline(StandardScaler(), of)):
            given, fit = [], type(of).fit

            @wraps(fit)
            def noting(self, X, y, *, groups=None, given=given, fit=fit):
                given.append(groups)
                return fit(self, X, y, groups=groups)

            monkeypatch.setattr(type(of), "fit", noting)
            found = evaluate(model, X, y, cv=4, groups=groups)
            monkeypatch.undo()
            assert all(whole(fold["test"], groups) for fold in found.folds)
            assert "samples of one group stay together (24 groups)" in str(found)
            for fold, inside in zip(found.folds, given, strict=True):
                train = np.setdiff1d(np.arange(len(y)), fold["test"])
                wanted = groups[train] if of.__fewest_tags__().deals_folds else None
                np.testing.assert_array_equal(inside, wanted)
    # A search whose splitter takes groups.
    search = GridSearchCV(SVMRFE(n_features_to_select=2), {"C": [0.1, 1.0]}, cv=GroupKFold(3))
    assert all(whole(fold["test"], groups) for fold in evaluate(search, X, y, cv=3, groups=groups).folds)
    by_splitter = evaluate(SVMRFE(n_features_to_select=2), X, y, cv=GroupKFold(4), groups=groups)
    assert all(whole(fold["test"], groups) for fold in by_splitter.folds)


def test_numbers_of_folds_with_groups_are_those_that_are_dealt(data):
    X, y, groups = data
    splits = dealt(y, 4, 1, 0, groups=groups.astype(np.uint32))
    for selector in (SVMRFE(), EvaluationRFE(Cs=(1.0, 4.0))):
        by_number = clone(selector).set_params(cv=4).fit(X, y, groups=groups)
        by_splits = clone(selector).set_params(cv=splits).fit(X, y)
        np.testing.assert_array_equal(by_number.ranking_, by_splits.ranking_)
        for name, scores in by_splits.cv_results_.items():
            np.testing.assert_array_equal(by_number.cv_results_[name], scores)


def test_groups_reach_folds_without_a_request(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        for selector in (SVMRFE(cv=3), SVMRFE(n_features_to_select=2, C="auto"), ExactSelector(n_features_to_select=2, C="auto")):
            routed = cross_validate(
                selector, X, y, cv=GroupKFold(3), params={"groups": groups}, error_score="raise", return_estimator=True
            )
            for (train, _), fitted in zip(GroupKFold(3).split(X, y, groups), routed["estimator"], strict=True):
                want = clone(selector).fit(X[train], y[train], groups=groups[train])
                np.testing.assert_array_equal(fitted.ranking_, want.ranking_)
                assert getattr(fitted, "C_", None) == getattr(want, "C_", None)
        # Where nothing is dealt they are not asked for either.
        cross_validate(ExactSelector(n_features_to_select=2), X, y, cv=GroupKFold(3), params={"groups": groups}, error_score="raise")
        found = evaluate(make_pipeline(StandardScaler(), SVMRFE(cv=3)), X, y, cv=3, groups=groups)
        assert all(whole(fold["test"], groups) for fold in found.folds)


def test_stability_and_study_keep_groups_together(data):
    X, y, groups = data
    found = stability(SVMRFE(n_features_to_select=2), X, y, n_pairs=4, groups=groups, threshold=0.8)
    assert "samples of one group stay together (24 groups)" in str(found)
    plain = stability(SVMRFE(n_features_to_select=2), X, y, n_pairs=4, threshold=0.8)
    assert any((a != b).any() for pair, other in zip(found.pairs, plain.pairs, strict=True) for a, b in zip(pair, other, strict=True))
    short = Study(sizes=[1, 2], cv=3, n_repeats=1, inner_cv=3, n_Cs=2, methods=["rfe"])
    study = clone(short).fit(X, y, groups=pd.Series(groups, name="person"))
    assert all(whole(fold["judgement"]["test"], groups) for fold in study.folds_)
    assert "samples of one person stay together (24 groups)" in str(study)
    assert essence(study) != essence(clone(short).fit(X, y))
    assert essence(study) == essence(clone(short).fit(X, y, groups=np.array(list("abcdefghijklmnopqrstuvwx"))[groups]))


def test_the_command_deals_the_same_folds(data, tmp_path):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(person=[f"p{group}" for group in groups], y=np.array(["no", "yes"])[y])
    frame.to_csv(tmp_path / "d.csv", index=False, float_format="%.17g")

    def command(*words):
        name, *options = words
        said = tmp_path / "said.json"
        assert _core.command(["fewest", name, str(tmp_path / "d.csv"), *options, "--json", str(said), "--quiet"]) == 0
        return json.loads(said.read_text())

    base = ["--groups", "person", "--scale", "none"]
    said = command("evaluate", *base, "-m", "rfe", "--max-features", "2", "--cv", "4", "--repeats", "2", "--seed", "3")
    found = evaluate(SVMRFE(n_features_to_select=2, step=1), X, y, cv=4, n_repeats=2, random_state=3, groups=groups)
    for fold, ours in zip(said["folds"], found.folds, strict=True):
        assert fold["test"] == ours["test"].tolist()
        assert fold["selected"] == ["abcdef"[j] for j in ours["selected"]]
    said = command("stability", *base, "-m", "info-gain", "--max-features", "2", "--pairs", "3", "--threshold", "0.8")
    halves = stability(InformationGain(n_features_to_select=2), X, y, n_pairs=3, groups=groups, threshold=0.8)
    assert [pair["selected"] for pair in said["pairs"]] == [[["abcdef"[j] for j in half] for half in pair] for pair in halves.pairs]
    said = command("select", *base, "-m", "rfe", "--max-features", "2", "--cost", "auto")
    chosen = SVMRFE(n_features_to_select=2, step=1, C="auto").fit(X, y, groups=groups)
    assert said["cost_choice"]["cost"] == pytest.approx(chosen.C_, rel=1e-9)
    assert said["cost_choice"]["splits"] == chosen.cost_choice_["splits"]
    assert [row["auc"] for row in said["cost_choice"]["costs"]] == pytest.approx([row["auc"] for row in chosen.cost_choice_["costs"]])
    said = command("select", *base, "-m", "eb-rfe", "--max-features", "2", "--cv", "4", "--costs", "1")
    assert said["selected"] == [
        "abcdef"[j] for j in EvaluationRFE(n_features_to_select=2, Cs=(1.0,), cv=4).fit(X, y, groups=groups).get_support(True)
    ]


def test_what_groups_cannot_do_is_refused(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="nothing is dealt into folds here; leave groups out, or let folds choose the cost"):
        ExactSelector().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="nothing is dealt into folds here"):
        SVMRFE().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="groups has one group only"):
        evaluate(SVMRFE(), X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="there are 24 groups of samples; use at most 24"):
        evaluate(SVMRFE(), X, y, cv=30, groups=groups)
    missing = groups.astype(object)
    missing[[3, 8]] = None
    for call in (lambda given: evaluate(SVMRFE(), X, y, groups=given), lambda given: Study().fit(X, y, groups=given)):
        with pytest.raises(ValueError, match="groups has 2 missing entries, the first at 3"):
            call(missing)
    with pytest.raises(ValueError, match="groups has 3 entries"):
        SVMRFE(cv=3).fit(X, y, groups=groups[:3])
    frame, named = pd.DataFrame(X), pd.Series(groups)
    for call in (
        lambda given: evaluate(SVMRFE(), frame, y, groups=given),
        lambda given: stability(SVMRFE(), frame, y, groups=given),
        lambda given: Study().fit(frame, y, groups=given),
        lambda given: SVMRFE(cv=3).fit(frame, y, groups=given),
        lambda given: ExactSelector(C="auto").fit(frame, y, groups=given),
    ):
        with pytest.raises(ValueError, match="the samples of groups are those of X in another order"):
            call(named.iloc[::-1])
    with pytest.raises(ValueError, match="a class is in one group only"):
        ExactSelector(C="auto").fit(X, y, groups=np.where(y == 1, 99, groups))
    with pytest.raises(ValueError, match="in 1 of the groups"):
        stability(SVMRFE(), X, y, n_pairs=2, groups=np.where(y == 1, 99, groups))
    with pytest.warns(UserWarning, match="another value for each sample"):
        evaluate(SVMRFE(n_features_to_select=2), X, y, cv=3, groups=np.arange(len(y)))
