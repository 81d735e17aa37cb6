"""``pos_label``, sensitivity, specificity, the threshold of a wanted sensitivity, decision curves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from fewest import SVMRFE, Rules, Study, evaluate


def samples(n=90):
    random = np.random.default_rng(3)
    y = np.where(np.arange(n) % 3 == 0, "case", "control")
    X = random.standard_normal((n, 4))
    X[:, :2] += np.where(y == "case", -0.9, 0.9)[:, None]
    return X, y


SMALL = {"sizes": 2, "cv": 3, "n_repeats": 2, "inner_cv": 3, "n_Cs": 2, "methods": ["rfe"]}


@pytest.fixture(scope="module")
def studies():
    X, y = samples()
    return {label: Study(**SMALL, pos_label=label).fit(X, y) for label in (None, "control", "case")}


def judged(study, y):
    """The true and predicted class and the probability of each sample of each outer fold."""
    for fold in study.folds_:
        of = fold["judgement"]
        yield y[of["test"]], study.classes_[of["predicted"]], np.array(of["probabilities"])


@pytest.mark.parametrize("label", ["case", "control"])
def test_measures_of_a_study_are_those_of_scikit_learn_for_the_class(studies, label):
    y = samples()[1]
    study, other = studies[label], {"case": "control", "control": "case"}[label]
    each = list(judged(study, y))
    for name, by in (
        ("f1", lambda t, p: f1_score(t, p, pos_label=label)),
        ("sensitivity", lambda t, p: recall_score(t, p, pos_label=label)),
        ("specificity", lambda t, p: recall_score(t, p, pos_label=other)),
    ):
        assert study.summary_[name]["mean"] == pytest.approx(np.mean([by(t, p) for t, p, _ in each])), name
        low, high = study.summary_[name]["ci95"]
        assert low <= study.summary_[name]["mean"] <= high
    assert study.recall_[label] == study.summary_["sensitivity"]
    assert study.recall_[other] == study.summary_["specificity"]
    # Probabilities in the folds are of the class.
    brier = [np.mean((p - (t == label)) ** 2) for t, _, p in each]
    assert study.summary_["brier"]["mean"] == pytest.approx(np.mean(brier))
    assert f"positive class  {label}" in str(study)


def test_the_classifier_does_not_depend_on_the_positive_class(studies):
    X, y = samples()
    plain, turned = studies[None], studies["case"]
    assert plain.classes_.tolist() == turned.classes_.tolist() == ["case", "control"]
    assert plain.summary_ == studies["control"].summary_
    # Folds are dealt by the order of classes: the panel is that of other inner folds, at the same costs here.
    assert turned.get_support().tolist() == plain.get_support().tolist()
    assert turned.score(X, y) > 0.85
    probability, decision = turned.predict_proba(X)[:, 1], turned.decision_function(X)
    # Decision values and probabilities speak for classes_[1].
    assert np.corrcoef(probability, decision)[0, 1] > 0.8
    assert np.mean(probability[y == "control"]) > 0.7 > 0.3 > np.mean(probability[y == "case"])
    assert np.abs(probability - plain.predict_proba(X)[:, 1]).max() < 0.2


def test_probabilities_of_a_turned_study_are_those_of_the_turned_labels():
    X, y = samples()
    # Labels that sort the other way around are the same study without pos_label.
    names = {"case": "z-case", "control": "control"}
    turned = Study(**SMALL, pos_label="case").fit(X, y)
    renamed = Study(**SMALL).fit(X, np.array([names[label] for label in y]))
    assert renamed.summary_ == turned.summary_
    np.testing.assert_allclose(turned.predict_proba(X)[:, 0], renamed.predict_proba(X)[:, 1], atol=1e-6)
    np.testing.assert_allclose(turned.decision_function(X), -renamed.decision_function(X), atol=1e-4)


def test_signs_are_of_weights_that_speak_for_the_second_class_of_scikit_learn():
    X, y = samples()
    rules = Rules(require=[0], signs={0: "-"})
    study = Study(**SMALL, rules=rules, pos_label="case", class_weight={"case": 2.0, "control": 1.0}).fit(X, y)
    assert study.coef_[0, 0] <= 0.0
    named = Study(**SMALL, rules=Rules(require=[0], signs={0: "+"}), pos_label="case").fit(X, y)
    assert named.coef_[0, 0] > 0.0


@pytest.mark.parametrize("label", [None, "case", "control"])
def test_a_wanted_sensitivity_shifts_the_intercept_and_nothing_else(label):
    X, y = samples()
    asked = {**SMALL, "pos_label": label}
    plain, cut = Study(**asked).fit(X, y), Study(**asked, sensitivity=0.97).fit(X, y)
    positive = label or "control"
    assert plain.threshold_ is None and cut.threshold_["sensitivity"] == 0.97
    assert cut.summary_["sensitivity"]["mean"] >= plain.summary_["sensitivity"]["mean"]
    found = [recall_score(t, p, pos_label=positive) for t, p, _ in judged(cut, y)]
    assert cut.summary_["sensitivity"]["mean"] == pytest.approx(np.mean(found))
    np.testing.assert_allclose(cut.coef_, plain.coef_)
    np.testing.assert_allclose(cut.decision_function(X), plain.decision_function(X) - cut.threshold_["value"], atol=1e-9)
    assert cut.threshold_["trained_intercept"] == pytest.approx(plain.intercept_[0], abs=1e-3)
    assert cut.summary_["auc"]["mean"] == pytest.approx(plain.summary_["auc"]["mean"])
    # Samples are predicted by the shifted values, here and in what is exported.
    assert (cut.predict(X) == np.where(cut.decision_function(X) > 0, "control", "case")).all()
    assert (cut.to_sklearn().predict(X) == cut.predict(X)).all()
    # The probabilities are not shifted with the threshold.
    np.testing.assert_allclose(cut.predict_proba(X)[:, 1].mean(), plain.predict_proba(X)[:, 1].mean(), atol=0.02)
    assert "threshold" in str(cut)


@pytest.mark.parametrize("label", ["case", "control"])
def test_net_benefit_is_that_of_its_formula(studies, label):
    y = samples()[1]
    study = studies[label]
    each = list(judged(study, y))
    truth, p = np.concatenate([t for t, _, _ in each]) == label, np.concatenate([p for _, _, p in each])
    assert [at["threshold"] for at in study.decision_curve_] == pytest.approx(np.arange(1, 100) / 100)
    for at in study.decision_curve_:
        weight = at["threshold"] / (1 - at["threshold"])
        acted = p >= at["threshold"]
        assert at["net_benefit"] == pytest.approx(np.mean(acted & truth) - np.mean(acted & ~truth) * weight)
        assert at["treat_all"] == pytest.approx(np.mean(truth) - np.mean(~truth) * weight)
        assert at["treat_none"] == 0.0


def test_intervals_of_losses_are_no_shorter_than_those_of_independent_samples(studies):
    y = samples()[1]
    study, n = studies["case"], len(y)
    squares = np.zeros(n)
    for fold, (t, _, p) in zip(study.folds_, judged(study, y), strict=True):
        squares[fold["judgement"]["test"]] += (p - (t == "case")) ** 2 / 2
    low, high = study.summary_["brier"]["ci95"]
    # The t quantile of 89 degrees of freedom.
    radius = 1.986979 * squares.std(ddof=1) / np.sqrt(n)
    mean = study.summary_["brier"]["mean"]
    assert low <= max(mean - radius, 0.0) + 1e-9 and high >= mean + radius - 1e-9


@pytest.mark.parametrize("label", ["case", "control"])
def test_evaluate_takes_the_class(label):
    X, y = samples()
    found = evaluate(SVMRFE(n_features_to_select=2), X, y, cv=4, pos_label=label)
    other = {"case": "control", "control": "case"}[label]
    each = [(y[fold["test"]], fold["predicted"]) for fold in found.folds]
    for name, score in (
        ("f1", lambda t, p: f1_score(t, p, pos_label=label)),
        ("sensitivity", lambda t, p: recall_score(t, p, pos_label=label)),
        ("specificity", lambda t, p: recall_score(t, p, pos_label=other)),
    ):
        values = [score(t, p) for t, p in each]
        assert [fold["metrics"][name] for fold in found.folds] == pytest.approx(values)
        assert found.summary[name]["mean"] == pytest.approx(np.mean(values))
    assert found.recall[label] == found.summary["sensitivity"] and found.recall[other] == found.summary["specificity"]
    assert found.summary["auc"] == evaluate(SVMRFE(n_features_to_select=2), X, y, cv=4).summary["auc"]
    assert f"positive class  {label}" in str(found) and "recall" in str(found)


def test_more_classes_have_a_share_each_and_no_positive_one():
    X, y = samples()
    y = np.where(np.arange(len(y)) % 4 == 1, "other", y)
    found = evaluate(SVMRFE(n_features_to_select=2), X, y, cv=3)
    assert set(found.recall) == {"case", "control", "other"} and "sensitivity" not in found.summary
    study = Study(**SMALL).fit(X, y)
    assert set(study.recall_) == {"case", "control", "other"} and study.decision_curve_ is None
    for wrong in (lambda: evaluate(SVMRFE(), X, y, pos_label="case"), lambda: Study(**SMALL, pos_label="case").fit(X, y)):
        with pytest.raises(ValueError, match="there are 3"):
            wrong()
    with pytest.raises(ValueError, match="sensitivity is that of one of two classes, but there are 3"):
        Study(**SMALL, sensitivity=0.9).fit(X, y)
    X, y = samples()
    with pytest.raises(ValueError, match="must be one of the classes"):
        Study(**SMALL, pos_label="cases").fit(X, y)
    for share in (0.0, 1.1):
        with pytest.raises(ValueError, match="sensitivity"):
            Study(**SMALL, sensitivity=share).fit(X, y)


def test_numbers_are_classes_as_well():
    X, y = samples()
    codes = (y == "control").astype(int)
    found = evaluate(SVMRFE(n_features_to_select=2), X, codes, cv=3, pos_label=0)
    named = evaluate(SVMRFE(n_features_to_select=2), X, y, cv=3, pos_label="case")
    assert found.summary == named.summary
    assert json.dumps(found.recall[0]) == json.dumps(named.recall["case"])
