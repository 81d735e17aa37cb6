"""Model files read in Python, beside ``fewest predict``, and classifiers of scikit-learn's own parts."""

import json
import re
import shutil
import subprocess
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from correspondence import PUBLIC
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC as PeerSVC

import fewest
from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    LinearSVC,
    MBPSelector,
    Study,
    _core,
    export_model,
    load_model,
)
from fewest._probabilities import of_classes

DOCS = Path(__file__).parents[2] / "docs"


def people():
    """Numbers, a text column, and values that are missing; two classes."""
    X, y = make_classification(120, 4, n_informative=3, n_redundant=0, random_state=5)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X * [1.0, 10.0, 0.1, 1.0] + [0.0, 3.0, 0.0, -2.0], columns=["age", "bmi, now", "dose", "z"])
    frame["smoke"] = np.where(X[:, 0] + rng.normal(size=120) > 0.5, "heavy", np.where(X[:, 1] > 0, "never", "former"))
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::11, "smoke"] = None
    frame["y"] = np.where(y == 1, "sick", "well")
    return frame


def flowers():
    """Three classes whose names are numbers."""
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y + 1)


def command(*words):
    assert _core.command(["fewest", *map(str, words), "--quiet"]) == 0


def predicted(folder, model="m.json", data="new.csv"):
    """The table of ``fewest predict``."""
    command("predict", folder / model, folder / data, "--out", folder / "p.csv")
    return pd.read_csv(folder / "p.csv")


def agrees(model, frame, table, tolerance=1e-12):
    """The model says of a frame what the command says."""
    classes = [str(name) for name in model.classes_]
    assert model.predict(frame).astype(str).tolist() == table["prediction"].astype(str).tolist()
    decision = model.decision_function(frame)
    columns = ["decision"] if len(classes) == 2 else [f"score_{name}" for name in classes]
    np.testing.assert_allclose(decision.reshape(len(table), -1), table[columns], rtol=tolerance, atol=tolerance)
    given = [f"probability_{name}" for name in (classes[1:] if len(classes) == 2 else classes)]
    assert hasattr(model, "predict_proba") == (given[0] in table)
    if given[0] in table:
        found = model.predict_proba(frame)
        assert found.shape == (len(table), len(classes))
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found[:, -len(given) :], table[given], rtol=1e-9, atol=tolerance)


STUDY = ["--methods", "rfe", "--folds", "2", "--repeats", "1", "--inner-cv", "3", "--cost-points", "2"]


@pytest.mark.parametrize(
    "words",
    [
        ["select", "-m", "rfe", "--max-features", "5", "--missing", "indicator"],
        ["select", "-m", "rfe", "--max-features", "4", "--missing", "median", "--scale", "maxabs"],
        ["fit", "--features", "age,z,smoke=heavy", "--kernel", "rbf", "--missing", "mean"],
        ["fit", "--features", "age,dose", "--kernel", "laplace", "--missing", "most-frequent"],
        ["fit", "--features", "age,dose,z", "--kernel", "poly", "--degree", "2", "--missing", "mean"],
        ["study", *STUDY, "--max-features", "4", "--missing", "indicator"],
        ["study", *STUDY, "--max-features", "3", "--missing", "mean"],
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_model_of_two_classes_says_what_the_command_says(words, tmp_path):
    frame = people()
    frame[:80].to_csv(tmp_path / "d.csv", index=False)
    frame[80:].to_csv(tmp_path / "new.csv", index=False)
    command(words[0], tmp_path / "d.csv", *words[1:], "--model", tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    assert model.classes_.tolist() == ["sick", "well"] and model.target_name_ == "y"
    # Other columns, in another order.
    agrees(model, frame[80:].sample(frac=1, axis=1, random_state=1), predicted(tmp_path))


@pytest.mark.parametrize(
    "words",
    [
        ["select", "-m", "rfe", "--max-features", "2"],
        ["fit", "--features", "b,d", "--kernel", "rbf"],
        ["study", *STUDY, "--max-features", "2"],
    ],
    ids=lambda words: words[0],
)
def test_a_model_of_three_classes_says_what_the_command_says(words, tmp_path):
    frame = flowers()
    frame.to_csv(tmp_path / "new.csv", index=False)
    command(words[0], tmp_path / "new.csv", *words[1:], "--model", tmp_path / "m.json")
    model, table = load_model(tmp_path / "m.json"), predicted(tmp_path)
    assert model.classes_.tolist() == [1, 2, 3] and model.score(frame, frame["y"]) > 0.9
    agrees(model, frame, table)
    # Arrays: the features of the model, or all columns of training.
    few, all_columns = frame[list(model.selected_features_)].to_numpy(), frame[["a", "b", "c", "d"]].to_numpy()
    for X in (few, all_columns, sp.csr_matrix(all_columns)):
        np.testing.assert_allclose(model.decision_function(X), model.decision_function(frame), rtol=1e-12)
    plain = model.to_sklearn()
    np.testing.assert_allclose(plain.decision_function(frame), model.decision_function(frame), atol=1e-9)
    assert (plain.predict(frame) == model.predict(frame)).all()


def test_what_is_no_model_and_what_does_not_fit_is_named(tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "d.csv", index=False)
    command("fit", tmp_path / "d.csv", "--features", "dose,z,smoke=heavy", "--missing", "mean", "--model", tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    with pytest.raises(ValueError, match="no column 'smoke'"):
        model.predict(frame.drop(columns="smoke"))
    with pytest.raises(ValueError, match="has 2 features, but the model takes its 3"):
        model.predict(np.zeros((4, 2)))
    with pytest.raises(TypeError, match="'smoke=heavy' is made of another column"):
        model.to_sklearn()
    assert not hasattr(model, "predict_proba")
    command("fit", tmp_path / "d.csv", "--features", "dose,z", "--drop", "age,smoke", "--model", tmp_path / "n.json")
    with pytest.raises(ValueError, match="NaN"):
        load_model(tmp_path / "n.json").predict(np.full((1, 2), np.nan))
    for text, why in [("solver", "not JSON"), ("[]", "schema"), ('{"schema": 1}', "no model"), ('{"schema": 2}', "schema is 2")]:
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(ValueError, match=why):
            load_model(tmp_path / "wrong.json")
    file = json.loads((tmp_path / "n.json").read_text())
    del file["model"]["machines"]
    (tmp_path / "wrong.json").write_text(json.dumps(file))
    with pytest.raises(ValueError, match="machines"):
        load_model(tmp_path / "wrong.json")


@pytest.mark.parametrize("data", [people, flowers])
def test_a_file_of_export_model_comes_back(data, tmp_path):
    frame = data()
    X, y = frame[[name for name in frame if name not in ("y", "smoke")]], frame["y"]
    selector = SVMRFE(n_features_to_select=3, scale=True, impute="mean").fit(X, y)
    export_model(selector, tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    assert (model.predict(frame) == selector.predict(X)).all() and model.classes_.dtype == selector.estimator_.classes_.dtype
    np.testing.assert_allclose(model.decision_function(frame), selector.decision_function(X), rtol=1e-9, atol=1e-12)
    frame.to_csv(tmp_path / "new.csv", index=False)
    agrees(model, frame, predicted(tmp_path))


def page_lines(language):
    text = (DOCS / "formats" / "model.md").read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.S)[1]


@pytest.mark.parametrize("language", ["python", "r"])
def test_the_lines_of_the_page_apply_a_model(language, tmp_path):
    program = {"python": sys.executable, "r": shutil.which("Rscript")}[language]
    if program is None:
        pytest.skip("there is no Rscript")
    lines = page_lines(language)
    assert len(lines.strip().splitlines()) == 6
    frame = people()[["age", "bmi, now", "dose", "z", "y"]].dropna()
    frame[:70].to_csv(tmp_path / "d.csv", index=False)
    frame[70:].to_csv(tmp_path / "new.csv", index=False)
    command("study", tmp_path / "d.csv", *STUDY, "--max-features", "3", "--model", tmp_path / "model.json")
    tell = {
        "python": "print(json.dumps([decision.tolist(), probability.tolist()]))",
        "r": "cat(toJSON(list(as.vector(decision), as.vector(probability)), digits = 17))",
    }
    (tmp_path / "lines").write_text(lines + tell[language])
    done = subprocess.run([program, "lines"], cwd=tmp_path, capture_output=True, text=True, check=True)
    decision, probability = json.loads(done.stdout)
    table = predicted(tmp_path, "model.json")
    np.testing.assert_allclose(decision, table["decision"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(probability, table["probability_well"], rtol=1e-12)


def test_coupled_probabilities_are_those_of_libsvm():
    X, y = make_classification(200, 6, n_informative=4, n_classes=4, n_clusters_per_class=1, flip_y=0.1, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        peer = PeerSVC(probability=True, decision_function_shape="ovo", random_state=0).fit(X, y)
        expected, (slope, shift) = peer.predict_proba(X), (peer.probA_, peer.probB_)
    # LIBSVM gives the probability of the first of a pair.
    first = 1.0 / (1.0 + np.exp(slope * peer.decision_function(X) + shift))
    # That of the second has the same slope and shift.
    pairs = [{"a": float(a), "b": float(b)} for a, b in zip(slope, shift, strict=True)]
    found = of_classes({"pairs": pairs}, peer.decision_function(X), 4)
    # LIBSVM's rounds end at 0.005 / 4.
    np.testing.assert_allclose(found, expected, atol=2e-3)

    # The objective of the paper is least there.
    def objective(p):
        pairs = enumerate(combinations(range(4), 2))
        return sum(((1.0 - first[:, at]) * p[:, a] - first[:, at] * p[:, b]) ** 2 for at, (a, b) in pairs)

    rng = np.random.default_rng(1)
    for _ in range(200):
        other = np.abs(found + 0.02 * rng.normal(size=found.shape))
        assert (objective(other / other.sum(axis=1, keepdims=True)) >= objective(found) - 1e-12).all()


def test_a_study_of_three_classes_has_probabilities(tmp_path):
    X, y = load_iris(return_X_y=True)
    asked = {"sizes": [2], "cv": 2, "n_repeats": 1, "inner_cv": 3, "n_Cs": 2, "methods": ["rfe"], "scale": "standard"}
    study = Study(**asked).fit(X, y)
    found = study.predict_proba(X)
    assert found.shape == (150, 3) and (found.argmax(axis=1) == y).mean() > 0.9
    assert 0.0 < study.summary_["log_loss"]["mean"] < np.log(3)
    fold = study.folds_[0]["judgement"]
    assert np.shape(fold["class_probabilities"]) == (len(fold["test"]), 3) and fold["probabilities"] is None
    # The command on the same samples.
    pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y).to_csv(tmp_path / "new.csv", index=False)
    command("study", tmp_path / "new.csv", *STUDY, "--max-features", "2..2", "--model", tmp_path / "m.json")
    of_file = load_model(tmp_path / "m.json").predict_proba(X)
    np.testing.assert_allclose(of_file, found, rtol=1e-5, atol=1e-6)
    plain = study.to_sklearn()
    np.testing.assert_allclose(plain.decision_function(X), study.decision_function(X), atol=1e-9)


SELECTORS = {
    "SVMRFE": SVMRFE(n_features_to_select=3, scale=True),
    "SVMRFE, kernel": SVMRFE(n_features_to_select=3, kernel="poly", degree=2),
    "ExactSelector": ExactSelector(n_features_to_select=3, time_limit=20),
    "AlignmentSelector": AlignmentSelector(n_features_to_select=2, time_limit=20),
    "FeatureGeneratingMachine": FeatureGeneratingMachine(n_features_to_select=3),
    "InformationGain": InformationGain(n_features_to_select=3),
    "L1SVMSelector": L1SVMSelector(C=0.1),
    "MBPSelector": MBPSelector(n_features_to_select=3, time_limit=20),
    "Study": Study(sizes=[3], cv=2, n_repeats=1, inner_cv=2, n_Cs=2, methods=["rfe"]),
}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("named", [True, False])
def test_a_selector_of_scikit_learn_s_parts_decides_as_ours(name, named):
    X, y = make_classification(90, 8, n_informative=4, random_state=4)
    X, y = X + 3.0, np.where(y == 1, "yes", "no")
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(8)]) if named else X
    ours = SELECTORS[name].fit(X, y)
    plain = ours.to_sklearn()
    assert all(type(step).__module__.startswith("sklearn.") for _, step in plain.steps)
    np.testing.assert_allclose(plain.decision_function(X), ours.decision_function(X), atol=1e-9)
    assert (plain.predict(X) == ours.predict(X)).all() and plain.classes_.tolist() == ["no", "yes"]
    assert hasattr(plain, "feature_names_in_") == named
    assert plain[-1].n_features_in_ == ours.n_features_


@pytest.mark.parametrize("selector", [SVMRFE(n_features_to_select=2), AlignmentSelector(n_features_to_select=2)])
def test_a_selector_of_three_classes_decides_as_ours(selector):
    X, y = load_iris(return_X_y=True)
    ours = selector.fit(X, y)
    plain = ours.to_sklearn()
    assert type(plain[-1]) is PeerSVC
    np.testing.assert_allclose(plain.decision_function(X), ours.decision_function(X), atol=1e-9)
    plain[-1].decision_function_shape = "ovo"
    np.testing.assert_allclose(plain.decision_function(X), ours.estimator_._by_pair(ours._reduced(X)), atol=1e-9)
    assert (plain.predict(X) == ours.predict(X)).all()


def test_missing_values_are_filled_in_by_scikit_learn_s_part_too():
    X, y = make_classification(90, 6, n_informative=4, random_state=4)
    X[::5, 2] = np.nan
    ours = SVMRFE(n_features_to_select=4, impute="median", scale=True).fit(X, y)
    plain = ours.to_sklearn()
    assert [name for name, _ in plain.steps] == ["columns", "imputer", "scaler", "classifier"]
    np.testing.assert_allclose(plain.decision_function(X), ours.decision_function(X), atol=1e-9)


def test_what_has_no_plain_form_says_why():
    X, y = make_classification(60, 5, random_state=0)
    with pytest.raises(TypeError, match="the kernel laplace.*use kernel="):
        AlignmentSelector(n_features_to_select=2, kernel="laplace").fit(X, y).to_sklearn()
    tasks = np.arange(60) % 2
    with pytest.raises(TypeError, match="each task has a classifier"):
        ExactSelector(n_features_to_select=2, time_limit=20).fit(X, y, tasks=tasks).to_sklearn()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        empty = L1SVMSelector(C=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="no feature is selected"):
        empty.to_sklearn()
    assert all(hasattr(cls, "to_sklearn") for cls in PUBLIC.values() if hasattr(cls, "get_support"))


def test_a_linear_classifier_of_ours_is_scikit_learn_s():
    X, y = load_iris(return_X_y=True)
    for ours in (LinearSVC(), SVC(kernel="linear"), SVC(gamma=0.3, decision_function_shape="ovo")):
        plain = fewest._plain.plain(ours.fit(X, y))
        np.testing.assert_allclose(plain.decision_function(X), ours.decision_function(X), atol=1e-9)
        assert (plain.predict(X) == ours.predict(X)).all()


def test_codes_of_missing_values_in_training_are_said(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    export_model(SVMRFE(n_features_to_select=1).fit(X, y), tmp_path / "m.json")
    file = json.loads((tmp_path / "m.json").read_text())
    file["model"]["reading"] = {"missing_codes": ["-999"]}
    (tmp_path / "m.json").write_text(json.dumps(file))
    with pytest.warns(UserWarning, match=r"-999 means a missing value.*missing_codes=\['-999'\]"):
        assert load_model(tmp_path / "m.json").reading_ == {"missing_codes": ["-999"]}
