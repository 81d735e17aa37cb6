"""What the command's study says, Python's says: weights, JSON, page, model file, and the results of both choices."""

from __future__ import annotations

import html
import json
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import ExactSelector, Rules, SearchDisplay, SelectionPathDisplay, Study, _core, evaluate, export_model, load_model

SHORT = {"sizes": 3, "methods": ["rfe", "info-gain"], "cv": 3, "n_repeats": 1, "inner_cv": 3, "n_Cs": 3, "time_limit": 300}
OPTIONS = {
    "max-features": "1..3",
    "methods": "rfe,info-gain",
    "folds": 3,
    "repeats": 1,
    "inner-cv": 3,
    "cost-points": 3,
    "time-limit": 300,
}
#: What describes a file and a command, and what takes another time each run.
ELSEWHERE = {
    "command",
    "seconds",
    "milliseconds",
    "data",
    "format",
    "reading",
    "threads",
    "memory",
    "time_limit",
    "sample",
    "test_samples",
}


def people(n=100, classes=("sick", "well")):
    """Numbers with missing values, a column of text, weights."""
    X, y = make_classification(n, 5, n_informative=3, n_redundant=0, class_sep=1.5, random_state=5)
    frame = pd.DataFrame(np.round(X * [1.0, 10.0, 0.1, 1.0, 1.0], 6), columns=["age", "bmi", "dose", "z", "noise"])
    frame["smoke"] = np.where(X[:, 0] > 0.8, "heavy", np.where(X[:, 1] > 0, "never", "former"))
    frame.loc[::7, "age"] = np.nan
    return frame, pd.Series(np.asarray(classes)[y], name="state"), pd.Series(np.arange(n) % 4 + 0.5, name="times")


def command(tmp_path, frame, *options):
    frame.to_csv(tmp_path / "d.csv", index=False, float_format="%.17g")
    files = [str(tmp_path / name) for name in ("said.json", "model.json", "page.html")]
    default = [word for name, value in OPTIONS.items() if f"--{name}" not in options for word in (f"--{name}", str(value))]
    asked = ["fewest", "study", str(tmp_path / "d.csv"), *default, *options]
    assert _core.command([*asked, "--json", files[0], "--model", files[1], "--report", files[2], "--quiet"]) == 0
    return json.loads((tmp_path / "said.json").read_text())


def differences(ours, theirs, place=""):
    """Where two results differ: keys that one of them has, and numbers beyond rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() ^ theirs.keys()):
            if key not in ELSEWHERE:
                yield f"{place}.{key} is in {'Python' if key in ours else 'the command'} alone"
        for key in ours.keys() & theirs.keys() - ELSEWHERE:
            yield from differences(ours[key], theirs[key], f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{place}[{at}]")
    elif isinstance(ours, float) and isinstance(theirs, (int, float)):
        if ours != pytest.approx(theirs, rel=1e-9, abs=1e-12):
            yield f"{place}: {ours} and {theirs}"
    elif ours != theirs:
        yield f"{place}: {ours!r} and {theirs!r}"


def same(study, theirs):
    ours = json.loads(study.to_json())
    # The sentences of the reader are about a file, and those for a paper end with the command.
    told = [[of["item"] for of in one.pop("methods_text")] for one in (ours, theirs)]
    assert told[0] == told[1]
    return [one for one in differences(ours, theirs) if not one.startswith((".warnings", ".notes", ".settings.scale_reason"))]


CASES = {
    "plain": ({}, []),
    "weights": ({}, ["--sample-weights", "times"]),
    "positive": ({"pos_label": "sick", "sensitivity": 0.9}, ["--positive", "sick", "--sensitivity", "0.9"]),
    "smallest": ({"prefer": "smallest", "scoring": "roc_auc"}, ["--prefer", "smallest", "--choose", "auc"]),
    "svm": (
        {"class_weight": "balanced", "loss": "squared_hinge", "intercept_scaling": 1.0},
        ["--class-weight", "balanced", "--loss", "squared-hinge", "--bias", "1"],
    ),
    "exact": ({"methods": ["exact"]}, ["--methods", "exact"]),
    "range": ({"scale": "range"}, []),
    "points": ({"points": True, "pos_label": "sick"}, ["--points", "--positive", "sick"]),
    "rules": ({"rules": Rules(require=["bmi"], forbid=["z"])}, ["--require", "bmi", "--forbid", "z"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_json_is_that_of_the_command(tmp_path, case):
    X, y, weights = people()
    asked, options = CASES[case]
    table = X.assign(times=weights) if case == "weights" else X
    scale = asked.get("scale", "standard")
    study = Study(**{**SHORT, "scale": scale, **asked}, impute="median")
    study.fit(X, y, weights if case == "weights" else None)
    options = ["--missing", "median", "--scale", scale, "--target", "state", *options]
    theirs = command(tmp_path, table.assign(state=y), *options)
    assert same(study, theirs) == []
    # The page is made of it, and so is what the command makes of Python's.
    page = study.report()
    shown = study._repr_mimebundle_()["text/html"]
    assert shown.startswith("<iframe srcdoc=") and page in html.unescape(shown)
    assert "<iframe" not in Study()._repr_mimebundle_()["text/html"]
    assert page.startswith("<!DOCTYPE html>") and "state" in page
    study.report(tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_text() == page
    study.to_json(tmp_path / "ours.json")
    assert _core.command(["fewest", "report", str(tmp_path / "ours.json"), "--out", str(tmp_path / "again.html"), "--quiet"]) == 0
    assert (tmp_path / "again.html").read_text() == page
    # Both model files classify alike.
    export_model(study, tmp_path / "ours-model.json", target_name="state")
    ours, of_command = load_model(tmp_path / "ours-model.json"), load_model(tmp_path / "model.json")
    for model in (ours, of_command):
        assert (model.predict(X) == study.predict(X)).all()
        np.testing.assert_allclose(_of(model, X), _of(of_command, X), atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), study.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), study.predict_proba(X), atol=1e-9)


def _of(model, X):
    """The probability of a class whose place may be another one."""
    return model.predict_proba(X)[:, model.classes_.tolist().index("well")]


def numbers(n=80):
    X, y = make_classification(n, 6, n_informative=3, n_redundant=0, class_sep=1.5, random_state=2)
    return X, np.where(y == 1, "sick", "well")


QUICK = {**SHORT, "n_Cs": 2, "methods": ["rfe"]}


def test_rows_of_weight_0_are_no_samples_as_in_the_command(tmp_path):
    X, y, weights = people()
    weights[::5] = 0.0
    study = Study(**SHORT, impute="median", scale="standard").fit(X, y, weights)
    options = ["--missing", "median", "--scale", "standard", "--target", "state", "--sample-weights", "times"]
    assert same(study, command(tmp_path, X.assign(times=weights, state=y), *options)) == []
    assert sorted(row for fold in study.folds_ for row in fold["judgement"]["test"]) == np.flatnonzero(weights > 0).tolist()
    # The classifier is that of the command's panel.
    trained = json.loads(study.to_json())["panel"]["model"]["machines"][0]
    np.testing.assert_allclose(study.coef_[0, study.support_], trained["weights"], rtol=1e-3)
    assert (weights.to_numpy()[study.estimator_.support_] > 0).all()


def test_weights_and_classes_together_are_those_of_the_command(tmp_path):
    X, y, weights = people()
    study = Study(**SHORT, impute="median", scale="standard", class_weight="balanced").fit(X, y, weights)
    options = [
        "--missing",
        "median",
        "--scale",
        "standard",
        "--target",
        "state",
        "--sample-weights",
        "times",
        "--class-weight",
        "balanced",
    ]
    assert same(study, command(tmp_path, X.assign(times=weights, state=y), *options)) == []
    trained = json.loads(study.to_json())["panel"]["model"]["machines"][0]
    np.testing.assert_allclose(study.coef_[0, study.support_], trained["weights"], rtol=1e-3)


def test_weights_change_the_panel_and_are_routed():
    X, y = numbers()
    weights = np.linspace(0.1, 3.0, len(y))
    plain, weighed = Study(**QUICK).fit(X, y), Study(**QUICK).fit(X, y, weights)
    assert not np.allclose(plain.decision_function(X), weighed.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(weighed.predict(X), Study(**QUICK).fit(X, y, sample_weight=list(weights)).predict(X))
    groups = np.arange(len(y)) // 2
    with sklearn.config_context(enable_metadata_routing=True):
        study = Study(**QUICK).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        given = {"sample_weight": weights, "groups": groups}
        routed = cross_validate(study, X, y, cv=KFold(2), params=given, error_score="raise", return_estimator=True)
        for (train, _), fitted in zip(KFold(2).split(X), routed["estimator"], strict=True):
            want = Study(**QUICK).fit(X[train], y[train], weights[train], groups=groups[train])
            np.testing.assert_array_equal(fitted.support_, want.support_)
            np.testing.assert_allclose(fitted.coef_, want.coef_)
    assert len(evaluate(make_pipeline(StandardScaler(), Study(**QUICK)), X, y, cv=2, sample_weight=weights).folds) == 2


def test_weights_in_another_order_are_refused():
    X, y, weights = people()
    for frame in (X, X.drop(columns="smoke")):
        with pytest.raises(ValueError, match="sample_weight"):
            Study(**QUICK, impute="median").fit(frame, y, weights.iloc[::-1])
    with pytest.raises(ValueError, match="Negative values"):
        Study(**QUICK, impute="median").fit(X, y, weights - 1)
    with pytest.raises(ValueError, match="(?i)zero"):
        Study(**QUICK, impute="median").fit(X, y, 0 * weights)


@pytest.mark.parametrize("label", [None, "sick", "well"])
def test_what_outer_folds_say_is_counted_in_the_order_of_the_classes(label):
    X, y = numbers()
    study = Study(**QUICK, pos_label=label).fit(X, y)
    counts = np.zeros((2, 2), dtype=int)
    for fold in study.folds_:
        judged = fold["judgement"]
        np.add.at(counts, (np.searchsorted(study.classes_, y[judged["test"]]), judged["predicted"]), 1)
    assert study.confusion_.tolist() == counts.tolist() and counts.sum() == len(y)
    panels, positive = study.panels_, label or "well"
    assert panels["best"]["summary"] == study.summary_ and panels["best"]["stability"] == study.stability_
    assert panels["best"]["selected"].tolist() == study.get_support(indices=True).tolist()
    assert panels["best"]["names"] == [f"x{j}" for j in panels["best"]["selected"]]
    assert (panels["best"]["C"], panels["best"]["fit_C"], panels["best"]["method"]) == (study.C_, study.fit_C_, study.method_)
    assert panels["smallest"]["max_features"] <= panels["best"]["max_features"]
    # The folds have the other choice, which sums up to its summary.
    each = [(fold["other"] or fold)["judgement"] for fold in study.folds_]
    found = [np.mean(np.array(of["predicted"])[y[of["test"]] == positive] == list(study.classes_).index(positive)) for of in each]
    assert panels["smallest"]["summary"]["sensitivity"]["mean"] == pytest.approx(np.mean(found))
    assert panels["difference"]["mean"] == pytest.approx(
        panels["best"]["summary"]["accuracy"]["mean"] - panels["smallest"]["summary"]["accuracy"]["mean"]
    )
    smallest = clone(study).set_params(prefer="smallest").fit(X, y)
    assert smallest.get_support(indices=True).tolist() == panels["smallest"]["selected"].tolist()
    assert smallest.summary_ == panels["smallest"]["summary"]
    with pytest.raises(ValueError, match="prefer"):
        Study(**QUICK, prefer="largest").fit(X, y)


def test_sizes_effort_and_what_was_left_out():
    X, y = numbers()
    study = Study(**QUICK).fit(X, y)
    assert [size["max_features"] for size in study.sizes_] == [1, 2, 3]
    assert study.effort_["splits"] == 24 and study.effort_["folds_left"] == 0
    assert study.left_out_ == [] and study.largest_size_ == (study.panels_["best"]["max_features"] == 3)
    with pytest.warns(UserWarning, match="kta was left out: it keeps no bounds on weights"):
        bounded = Study(**{**QUICK, "methods": "auto"}, rules=Rules(signs={0: 1})).fit(X, y)
    assert [one["method"] for one in bounded.left_out_] == ["info-gain", "kta"]
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 400))])
    with pytest.warns(UserWarning, match=r"kta was left out: 80 samples of 406 features take it long; methods=\['exact', .*'kta'\]"):
        Study(**{**QUICK, "sizes": 2, "methods": "auto"}).fit(wide, y)


def test_without_outer_folds_nothing_is_known_and_all_of_it_says_so():
    X, y = numbers()
    with pytest.warns(ConvergenceWarning, match="0 of 3 outer folds done: how well the panel does is not known"):
        study = Study(**{**QUICK, "time_limit": 0.0}).fit(X, y)
    names = ["accuracy", "balanced_accuracy", "f1", "mcc", "auc", "log_loss", "brier", "n_features", "sensitivity", "specificity"]
    assert study.summary_ == dict.fromkeys(names)
    assert study.effort_["folds_left"] == 3 and study.confusion_.tolist() == [[0, 0], [0, 0]]
    assert study.recall_ == {"sick": None, "well": None}
    assert "not known: 0 of 3 outer folds done" in str(study)
    assert "not known" in study.report() and json.loads(study.to_json())["summary"] == {}
    assert study.predict(X).shape == y.shape


def test_a_study_that_came_to_no_panel_says_why(monkeypatch):
    X, y = numbers()
    asks = _core.study

    def stopped(*asked):
        answer = asks(*asked)
        none = {"panel": None, "panels": None, "folds": [], "tried": [], "status": "time_limit"}
        said = {"summary": {}, "decision_curve": None, "stability": None, "sizes": [], "recall": {}, "frequency": {}}
        answer["said"]["effort"]["folds_left"] = 3
        answer["said"] |= none | said
        return answer | none | {"recall": [], "frequency": []}

    monkeypatch.setattr(_core, "study", stopped)
    with pytest.warns(ConvergenceWarning, match="time allowed no choice"):
        study = Study(**QUICK, pos_label="sick").fit(X, y)
    assert study.panels_ is None and study.sizes_ == [] and study.bound_ is None and study.certificate_ is None
    assert "none: time was over" in str(study) and "No panel was found" in study.report()
    assert study.predict(X).shape == y.shape and not hasattr(study, "predict_proba")
    with pytest.raises(AttributeError, match=r"the study was stopped \(status_ 'time_limit'\).*raise time_limit"):
        study.predict_proba(X)
    with pytest.raises(ValueError, match="no sizes to show"):
        SelectionPathDisplay.from_estimator(study)


@pytest.mark.parametrize("method", ["rfe", "info-gain", "exact"])
@pytest.mark.parametrize("kind", ["two", "three"])
def test_what_is_proven_is_in_the_attributes_whoever_chose(method, kind):
    X, y = numbers() if kind == "two" else load_iris(return_X_y=True)
    study = Study(**{**QUICK, "sizes": [2], "methods": [method]}, scale="none").fit(X, y)
    assert study.bound_ <= study.objective_ <= study.baseline_
    assert study.gap_ == pytest.approx((study.objective_ - study.bound_) / (study.baseline_ - study.bound_))
    assert study.objective_gap_ == pytest.approx((study.objective_ - study.bound_) / study.objective_)
    assert (study.certificate_ is None) == (method == "exact")
    # The same is proven of the subset by a certificate of its own.
    cost = study.fit_C_ if study.C_ is None else study.C_
    other = ExactSelector(n_features_to_select=2, C=cost).fit(X, y)
    assert study.bound_ <= other.objective_ * (1 + 1e-6)
    if method == "exact":
        assert study.objective_ == pytest.approx(other.objective_, rel=1e-4)
    else:
        assert study.certificate_["gap"] == study.gap_ and study.certificate_["best_objective"] <= study.objective_ + 1e-9
    machines = len(study.classes_) * (len(study.classes_) - 1) // 2
    assert study.coef_.shape == (machines, X.shape[1]) and not study.coef_[:, ~study.support_].any()
    assert study.intercept_.shape == (machines,)


def test_the_model_file_has_all_that_predictions_need(tmp_path):
    X, y, _ = people()
    for pos_label in (None, "sick"):
        study = Study(**SHORT, impute="median", rules=Rules(require=["age", "smoke=heavy"]), pos_label=pos_label).fit(X, y)
        export_model(study, tmp_path / "model.json")
        model = load_model(tmp_path / "model.json")
        file = json.loads((tmp_path / "model.json").read_text())["model"]
        assert file["levels"] == {"smoke": ["former", "heavy", "never"]}
        assert file["imputation"]["rule"] == "median" and file["scaling"]["kind"] == "standard"
        assert model.classes_.tolist() == study.classes_.tolist()
        X.loc[3, "smoke"] = None
        np.testing.assert_allclose(model.decision_function(X), study.decision_function(X), atol=1e-9)
        assert (model.predict(X) == study.predict(X)).all()
        np.testing.assert_allclose(model.predict_proba(X), study.predict_proba(X), atol=1e-9)
        # And so does the command.
        X.to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
        words = ["predict", str(tmp_path / "model.json"), str(tmp_path / "x.csv"), "--out", str(tmp_path / "out.csv"), "--quiet"]
        assert _core.command(["fewest", *words]) == 0
        assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == study.predict(X).tolist()
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), Study(**QUICK, scale="none")).fit(X, y)
    export_model(pipeline, tmp_path / "model.json")
    np.testing.assert_allclose(load_model(tmp_path / "model.json").decision_function(X), pipeline.decision_function(X), atol=1e-9)
    with pytest.raises(TypeError, match="one scaling"):
        export_model(make_pipeline(StandardScaler(), Study(**QUICK)).fit(X, y), tmp_path / "model.json")
    X, y = load_iris(return_X_y=True)
    study = Study(**{**QUICK, "methods": ["exact"]}).fit(X, y)
    export_model(study, tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    assert (model.predict(X) == study.predict(X)).all()
    np.testing.assert_allclose(model.predict_proba(X), study.predict_proba(X), atol=1e-9)


def test_probabilities_of_a_rare_class_with_balanced_weights_are_what_it_has(tmp_path):
    X, y = make_classification(300, 6, n_informative=3, n_redundant=0, weights=[0.92], class_sep=0.5, flip_y=0.1, random_state=4)
    study = Study(**QUICK, class_weight="balanced").fit(X, y)
    found = study.predict_proba(X)
    # Most samples that predict calls rare are less likely so than not; their mean is the share of the class.
    rare = study.predict(X) == 1
    assert rare.mean() > 2 * y.mean() and (found[rare, 1] < 0.5).mean() > 0.5
    assert found[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)
    export_model(study, tmp_path / "model.json")
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(6)])
    np.testing.assert_allclose(load_model(tmp_path / "model.json").predict_proba(frame), found, atol=1e-9)
    frame.to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    words = ["predict", str(tmp_path / "model.json"), str(tmp_path / "x.csv"), "--out", str(tmp_path / "out.csv"), "--quiet"]
    assert _core.command(["fewest", *words]) == 0
    table = pd.read_csv(tmp_path / "out.csv")
    assert table["prediction"].tolist() == study.predict(X).tolist()
    np.testing.assert_allclose(table["probability_1"], found[:, 1], atol=1e-9)


def test_what_is_no_better_than_guessing_is_said_first():
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.tile([0, 1], 30)
    with pytest.warns(UserWarning, match="no better than guessing"):
        study = Study(**QUICK).fit(X, y)
    assert str(study).startswith("warning")
    said = json.loads(study.to_json())["warnings"][0]
    assert said.startswith("no better than guessing") and said[1:] in study.report()
    rare = (np.arange(60) % 12 == 0).astype(int)
    with pytest.warns(ConvergenceWarning, match='of use; one class is rare: class_weight="balanced"'):
        assert Study(**{**QUICK, "cv": 2, "inner_cv": 2}).fit(X, rare).n_features_ == 0


def test_displays_of_a_study():
    X, y = numbers()
    study = Study(**QUICK).fit(X, y)
    display = SelectionPathDisplay.from_estimator(make_pipeline(StandardScaler(), study).fit(X, y))
    assert display.n_features.tolist() == [1, 2, 3] and display.n_features_chosen in (1, 2, 3)
    assert display.mean_test_score.max() > 0.7 and (display.standard_error >= 0).all()
    with pytest.raises(ValueError, match="Study is many searches"):
        SearchDisplay.from_estimator(study)


def test_a_page_names_the_samples_that_folds_took_for_another_class(tmp_path):
    X, y = numbers()
    names = [f"person {i}" for i in range(len(y))]
    frame, state = pd.DataFrame(X, index=names).add_prefix("g"), pd.Series(y, index=names, name="state")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study = Study(**QUICK).fit(frame, state)
    said = json.loads(study.to_json())
    wrong = {
        row
        for fold in study.folds_
        for row, code in zip(fold["judgement"]["test"], fold["judgement"]["predicted"], strict=True)
        if study.classes_[code] != y[row]
    }
    assert {entry["row"] for entry in said["wrong"]} == wrong and len(wrong) == study.confusion_.sum() - np.trace(study.confusion_)
    assert all(entry["sample"] == names[entry["row"]] for entry in said["wrong"])
    assert said["target"] == "state" and said["folds"][0]["test_samples"][0].startswith("person ")
    assert not wrong or said["wrong"][0]["sample"] in study.report()


def test_rules_of_any_kind_are_written():
    X, y = numbers()
    rules = Rules(
        at_most=[(np.int64(2), np.arange(3))],
        implies=[(0, 1)],
        costs=np.arange(1.0, 7.0),
        budget=np.float64(9),
        bounds={2: (-1.0, np.inf)},
    )
    study = Study(**QUICK, rules=rules, class_weight={"sick": np.float64(2.0)}).fit(X, y)
    said = json.loads(study.to_json())["settings"]
    assert said["at_most"] == [[2, ["x0", "x1", "x2"]]] and said["implies"] == [["x0", "x1"]] and said["budget"] == 9.0
    assert said["feature_costs"]["x5"] == 6.0 and said["weight_bounds"] == {"x2": [-1.0, None]} and said["class_weight"] == "sick=2"
