"""Paths, evaluations, synthetic data, column files, and the options that the command has beside them."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, scale

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    ColumnFile,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
    LinearSVC,
    Rules,
    Study,
    _core,
    datasets,
    evaluate,
    export_model,
    verify,
)
from fewest.papers import BendersSelector, FlipSelector, FSVSelector


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:150, :10], y[:150]


SELECTORS = [
    SVMRFE(),
    SVMRFE(kernel="rbf"),
    ExactSelector(C=0.1),
    AlignmentSelector(),
    InformationGain(),
    EvaluationRFE(Cs=(1.0,), candidates=1, cv=3),
    FeatureGeneratingMachine(),
    FlipSelector(cv=3),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_path_is_the_fit_of_each_size(selector, data):
    X, y = data
    path = selector.path(X, y, [1, 2, 4])
    assert not hasattr(selector, "support_") and [one.n_features_to_select for one in path] == [1, 2, 4]
    for one in path:
        assert one.n_features_ <= one.n_features_to_select
        alone = clone(one).fit(X, y)
        # rfe's path resumes from the size before, and gamma is that of the largest size.
        if not isinstance(selector, (AlignmentSelector,)) and getattr(selector, "kernel", "linear") == "linear":
            assert one.objective_ == pytest.approx(alone.objective_, rel=2e-4)
        np.testing.assert_array_equal(one.classes_, alone.classes_)
        assert one.predict(X).shape == y.shape
    assert [one.n_features_ for one in selector.path(X, y, 3)] == [one.n_features_ for one in selector.path(X, y, [1, 2, 3])]


def test_a_path_takes_what_sizes_leave_open(data):
    X, y = data
    path = ExactSelector(C="auto", rules=Rules(require=[3])).path(X, y, [1, 3])
    assert path[0].C_ == path[1].C_ and all(one.support_[3] for one in path)
    with pytest.raises(ValueError, match="leave out n_features_to_select"):
        ExactSelector(n_features_to_select=2).path(X, y, 3)
    with pytest.raises(ValueError, match="cv is 3"):
        SVMRFE(cv=3).path(X, y, 3)
    with pytest.raises(ValueError, match="go up to 11"):
        SVMRFE().path(X, y, [1, 11])
    with pytest.raises(ValueError, match="ascending"):
        SVMRFE().path(X, y, [3, 1])


def test_a_study_and_a_column_on_a_worker_have_no_path(data):
    assert not hasattr(Study(), "path")
    with pytest.raises(TypeError, match="in memory"):
        FeatureGeneratingMachine().path(["data.svm"], None, 3)


def test_an_evaluation_is_the_command_s(data, tmp_path):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=3))
    folds = np.arange(len(y)) % 5
    table = tmp_path / "data.csv"
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "fold", "y"])
    np.savetxt(table, np.c_[X, folds, y], delimiter=",", header=header, comments="", fmt="%.17g")
    said = tmp_path / "evaluation.json"
    options = ["--method", "rfe", "--max-features", "3", "--folds", "fold", "--json", str(said), "--quiet"]
    assert _core.command(["fewest", "evaluate", str(table), *options]) == 0
    import json

    theirs = json.loads(said.read_text())
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
    ours = evaluate(pipeline, X, y, cv=splits)
    for name in ("accuracy", "balanced_accuracy", "f1", "mcc", "auc", "n_features"):
        for part in ("mean", "se"):
            assert ours.summary[name][part] == pytest.approx(theirs["summary"][name][part], rel=1e-6)
        np.testing.assert_allclose(ours.summary[name]["ci95"], theirs["summary"][name]["ci95"], rtol=1e-6)
    assert ours.stability["index"] == pytest.approx(theirs["stability"]["index"])
    assert {f"x{j}": share for j, share in enumerate(ours.frequency) if share} == pytest.approx(theirs["frequency"])
    np.testing.assert_array_equal(ours.confusion, theirs["confusion"])


def test_an_evaluation_of_many_classes_and_of_a_truth_is_the_command_s(tmp_path):
    import json

    X, y = load_iris(return_X_y=True)
    folds = np.arange(len(y)) % 5
    table, said = tmp_path / "data.csv", tmp_path / "evaluation.json"
    np.savetxt(table, np.c_[X, folds, y], delimiter=",", header="a,b,c,d,fold,y", comments="", fmt="%.17g")
    options = ["--max-features", "2", "--folds", "fold", "--truth", "a,c", "--json", str(said), "--quiet"]
    assert _core.command(["fewest", "evaluate", str(table), "--method", "rfe", *options]) == 0
    theirs = json.loads(said.read_text())["summary"]
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
    model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=2))
    ours = evaluate(model, X, y, cv=splits, truth=[0, 2]).summary
    assert ours.keys() == theirs.keys() >= {"auc", "set_f1"}
    for name, summary in theirs.items():
        assert ours[name]["mean"] == pytest.approx(summary["mean"], rel=1e-6), name
    assert ours["auc"]["mean"] < 1 and 0 < ours["set_f1"]["mean"] < 1
    with pytest.raises(ValueError, match="7"):
        evaluate(model, X, y, cv=splits, truth=[7])


def test_evaluations_compare_tune_and_group(data):
    X, y = data
    search = GridSearchCV(SVMRFE(), {"n_features_to_select": [1, 3]}, cv=3)
    found = evaluate(search, X, y, cv=3, against=InformationGain(n_features_to_select=3), n_repeats=2)
    assert len(found.folds) == len(found.against.folds) == 6
    by_hand = [a["metrics"]["accuracy"] - b["metrics"]["accuracy"] for a, b in zip(found.folds, found.against.folds, strict=True)]
    assert found.comparison["difference"]["mean"] == pytest.approx(np.mean(by_hand))
    assert np.array_equal(np.sort(np.concatenate([fold["test"] for fold in found.folds[:3]])), np.arange(len(y)))
    grouped = evaluate(InformationGain(), X, y, cv=GroupKFold(3), groups=np.arange(len(y)) // 10)
    assert len(grouped.folds) == 3
    several = evaluate(SVMRFE(n_features_to_select=2), *load_iris(return_X_y=True), cv=3)
    assert several.confusion.shape == (3, 3) and several.summary["accuracy"]["mean"] > 0.85
    with pytest.raises(TypeError, match="no selector"):
        evaluate(SVC(), X, y, cv=3)
    with pytest.raises(ValueError, match="number for cv"):
        evaluate(SVMRFE(), X, y, cv=StratifiedKFold(3), n_repeats=2)


@pytest.mark.parametrize(
    ("make", "kind", "options"),
    [
        (datasets.make_ndcc, "ndcc", ["--features", "7", "--relevant", "2", "--expansion", "40"]),
        (datasets.make_hyperplane, "hyperplane", ["--features", "7", "--relevant", "2", "--noise-sd", "0.5", "--points", "normal"]),
        (datasets.make_composite, "composite", ["--noise", "4", "--correlation", "0.5"]),
        (datasets.make_correlated, "correlated", ["--features", "7", "--relevant", "2", "--correlation", "0.5", "--snr", "2"]),
        (datasets.make_text, "text", ["--words", "40", "--length", "30", "--relevant", "5"]),
    ],
)
def test_synthetic_data_are_the_command_s(make, kind, options, tmp_path):
    ours = {
        "ndcc": {"n_features": 7, "n_informative": 2, "expansion": 40.0},
        "hyperplane": {"n_features": 7, "n_informative": 2, "noise": 0.5, "points": "normal"},
        "composite": {"n_noise": 4, "correlation": 0.5},
        "correlated": {"n_features": 7, "n_informative": 2, "correlation": 0.5, "snr": 2.0},
        "text": {"n_features": 40, "length": 30, "n_informative": 5},
    }[kind]
    out = tmp_path / "out.npz"
    test = tmp_path / "test.npz"
    arguments = ["--samples", "30", "--seed", "9", "--out", str(out), "--test", str(test), "--quiet"]
    assert _core.command(["fewest", "generate", kind, *options, *arguments]) == 0
    for part, file in (("training", out), ("test", test)):
        X, y, support, _ = make(30, **ours, random_state=9, part=part, return_truth=True)
        there = np.load(file)
        if sp.issparse(X):
            np.testing.assert_array_equal(X.toarray(), sp.load_npz(file).toarray())
        else:
            np.testing.assert_array_equal(X, there["X"])
        np.testing.assert_array_equal(y, there["y"])
        assert len(support) == {"composite": 3, "text": 5}.get(kind, 2)
    with pytest.raises(ValueError):
        make(1)
    with pytest.raises(ValueError, match="part"):
        make(10, part="all")


@pytest.mark.parametrize("sparse", [False, True])
def test_column_files_give_the_same(sparse, tmp_path, data):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    names = [f"gene {j}" for j in range(10)]
    labels = np.where(y == 1, "benign", "malignant")
    path = tmp_path / "data.csc"
    datasets.dump_columns(path, sp.csr_array(X) if sparse else X, labels, feature_names=names)
    file = ColumnFile(path)
    assert file.shape == (150, 10) and file.nnz == np.count_nonzero(X) and len(file) == 150
    np.testing.assert_array_equal(file.target, labels)
    for selector in (SVMRFE(n_features_to_select=3), InformationGain(n_features_to_select=3), L1SVMSelector(C=0.1)):
        mapped, memory = clone(selector).fit(file, file.target), clone(selector).fit(sp.csc_array(X), labels)
        np.testing.assert_array_equal(mapped.support_, memory.support_)
        np.testing.assert_array_equal(mapped.predict(file), memory.predict(X))
        assert list(mapped.get_feature_names_out()) == [names[j] for j in np.flatnonzero(mapped.support_)]
        assert mapped.transform(file).shape == (150, mapped.n_features_)
        assert mapped.certify(file, file.target, time_limit=5)["gap"] >= 0
    weights = np.arange(1, 151) / 50
    mapped = SVMRFE(n_features_to_select=2).fit(file, file.target, sample_weight=weights)
    assert mapped.objective_ == pytest.approx(SVMRFE(n_features_to_select=2).fit(sp.csc_array(X), labels, weights).objective_)
    again = pickle.loads(pickle.dumps(file))
    np.testing.assert_array_equal(again[:, [1, 3]].toarray(), X[:, [1, 3]])
    np.testing.assert_array_equal(LinearSVC().fit(file[:, :], labels).predict(X), LinearSVC().fit(sp.csc_array(X), labels).predict(X))
    with pytest.raises(TypeError, match="columns only"):
        file[:10]
    with pytest.raises(ValueError, match="9 features"):
        SVMRFE().fit(X[:, :9], labels).predict(file)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"data\.csc"):
        ColumnFile(path)
    with pytest.raises(OSError, match="nowhere"):
        ColumnFile("/nowhere/data.csc")


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=3)),
        make_pipeline(MaxAbsScaler(), SVC()),
        make_pipeline(MinMaxScaler((-1, 1)), SVC(kernel="linear")),
        make_pipeline(MinMaxScaler(), SVMRFE(n_features_to_select=3)),
        L1SVMSelector(C=0.1),
        LinearSVC(),
        SVC(kernel="poly", degree=2, coef0=1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_command_predicts_by_exported_models(model, classes, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    if classes == 2:
        X, y = X[50:], y[50:]
    model = clone(model)
    if classes == 3 and isinstance(model, L1SVMSelector):
        pytest.skip("two classes only")
    model.fit(X, y)
    place, table, out = tmp_path / "model.json", tmp_path / "data.csv", tmp_path / "predicted.csv"
    if classes == 3 and isinstance(model, LinearSVC):
        with pytest.raises(TypeError, match="each pair of classes"):
            export_model(model, place)
        return
    export_model(model, place, target_name="species")
    if isinstance(getattr(model, "steps", [[None, None]])[0][1], MinMaxScaler):
        kind = {(-1, 1): "range", (0, 1): "range:0..1"}[model[0].feature_range]
        assert json.loads(place.read_text())["model"]["scaling"]["kind"] == kind
        with pytest.raises(TypeError, match="clip=False"):
            export_model(make_pipeline(MinMaxScaler(clip=True), clone(model[-1])).fit(X, y), place)
    X.to_csv(table, index=False)
    assert _core.command(["fewest", "predict", str(place), str(table), "--out", str(out), "--quiet"]) == 0
    predicted = np.genfromtxt(out, delimiter=",", names=True)
    found = np.array([row[0] for row in predicted])
    np.testing.assert_array_equal(found, model.predict(X))
    if classes == 2:
        np.testing.assert_allclose([row[1] for row in predicted], model.decision_function(X), rtol=1e-9, atol=1e-9)


def test_what_a_model_file_cannot_hold(tmp_path, data):
    X, y = data
    with pytest.raises(TypeError, match="a model file holds"):
        export_model(make_pipeline(PCA(2), SVC()).fit(X, y), tmp_path / "m.json")
    with pytest.raises(TypeError, match="given as values"):
        export_model(SVC(kernel="precomputed").fit(X @ X.T, y), tmp_path / "m.json")


def test_costs_are_tuned_in_rfe(data):
    X, y = data
    tuned = SVMRFE(n_features_to_select=3, Cs=(0.01, 1.0), cv=3, retune=2).fit(X, y)
    assert tuned.C_ in (0.01, 1.0) and tuned.estimator_.C == tuned.C_
    assert [entry["step"] for entry in tuned.tuned_] == sorted(entry["step"] for entry in tuned.tuned_)
    assert {entry["cost"] for entry in tuned.tuned_} <= {0.01, 1.0}
    assert len(tuned.tuned_) < len(SVMRFE(n_features_to_select=3, Cs=(0.01, 1.0), cv=3).fit(X, y).tuned_)
    with pytest.raises(ValueError, match="retune"):
        SVMRFE(retune=2).fit(X, y)
    with pytest.raises(ValueError, match="both choose the cost"):
        SVMRFE(C="auto", Cs=(1.0,)).fit(X, y)
    share = SVMRFE(n_features_to_select=0.3).fit(X, y)
    assert share.n_features_ == 3


def test_benders_judges_by_samples_held_out(data):
    X, y = data
    selector = BendersSelector(n_features_to_select=2, max_iter=8, plain=True)
    held_out = selector.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    found = held_out.validated_
    assert found["judged"] >= 2 and len(found["selected_indices"]) <= 2
    trained = SVC(kernel="linear").fit(X[:100][:, found["selected_indices"]], y[:100])
    assert found["error"] == pytest.approx(1 - trained.score(X[100:][:, found["selected_indices"]], y[100:]))
    assert found["error"] <= found["error_of_best"]
    share = BendersSelector(n_features_to_select=2, validation_fraction=0.3, patience=2, random_state=1).fit(X, y)
    assert share.validated_["judged"] >= 2
    assert BendersSelector(n_features_to_select=1).fit(X, y).validated_ is None
    for options, message in [({"y_val": y}, "go together"), ({"X_val": X, "y_val": y[:3]}, "inconsistent")]:
        with pytest.raises(ValueError, match=message):
            BendersSelector().fit(X, y, **options)
    with pytest.raises(ValueError, match="patience has a meaning"):
        BendersSelector(patience=2).fit(X, y)


def test_flips_start_where_they_are_told(data):
    X, y = data
    told = FlipSelector(start=[0, 1], max_iter=None, cv=3).fit(X, y)
    assert told.n_iter_ >= 1 and told.objective_ >= FlipSelector(start=[0, 1], max_iter=1, cv=3).fit(X, y).objective_
    named = FlipSelector(start=[False, True] * 5, cv=3).fit(X, y)
    assert 1 <= named.n_features_ <= 6
    halved = FlipSelector(n_features_to_select=2, step=0.5, step_of="remaining", cv=3).fit(X, y)
    assert halved.n_features_ <= 2
    with pytest.raises(ValueError, match="start names one"):
        FlipSelector(start=[0], step=2).fit(X, y)


def test_the_l1_svm_takes_several_costs(data):
    X, y = data
    path = L1SVMSelector(n_features_to_select=3, Cs=(0.01, 0.1, 1.0)).fit(X, y)
    kept = [entry["cost"] for entry in path.grid_ if entry["features"] <= 3]
    assert max(kept) == path.C_ and path.n_features_ <= 3
    assert L1SVMSelector(C=path.C_).fit(X, y).objective_ == pytest.approx(path.objective_, rel=1e-6)
    with pytest.raises(ValueError, match="both choose the cost"):
        L1SVMSelector(C="auto", Cs=(1.0,)).fit(X, y)


def test_every_linear_selector_has_a_certificate(data, tmp_path):
    X, y = data
    chosen = FSVSelector(random_state=0).fit(X, y)
    small, large = (chosen.certify(X, y, C=C, loss="squared_hinge", intercept_scaling=1.0) for C in (0.01, 1.0))
    trained = LinearSVC(C=0.01).fit(X[:, chosen.support_], y)
    assert small["objective"] == pytest.approx(trained.objective_, rel=1e-6) and small["objective"] < large["objective"]
    selectors = [InformationGain(), L1SVMSelector(C=0.1), FeatureGeneratingMachine(), LagrangianSelector(feature_penalty=0.5), SVMRFE()]
    for selector in selectors:
        proof = tmp_path / "certificate.proof"
        certificate = selector.fit(X, y).certify(X, y, time_limit=5, gap=0.05, node_limit=50, proof=proof)
        assert certificate["bound"] <= certificate["best_objective"] <= certificate["objective"] * (1 + 1e-9)
        assert verify(proof, X, y).verified


def test_settings_reach_the_classifier(data):
    X, y = data
    for selector in (InformationGain(n_features_to_select=3), AlignmentSelector(n_features_to_select=2)):
        fitted = selector.set_params(loss="squared_hinge", intercept_scaling=1.0, C=0.5).fit(X, y)
        assert (fitted.estimator_.loss, fitted.estimator_.intercept_scaling, fitted.estimator_.C) == ("squared_hinge", 1.0, 0.5)
    plain = FeatureGeneratingMachine(plain=True)
    assert plain._method is not None and plain.mkl is None
    plain.n_features_in_ = 10
    assert plain._method(None, {})["mkl"] == "simple"
    assert FeatureGeneratingMachine(plain=True, mkl="fast").fit(X, y).n_features_ <= 5
    lagrangian = LagrangianSelector(feature_penalty=0.5, plain=True).fit(X, y)
    assert lagrangian.bound_ <= lagrangian.objective_


def test_chosen_costs_weigh_classes_by_the_training_part():
    X, y = make_classification(80, 6, weights=[0.8], random_state=4)
    chosen = InformationGain(n_features_to_select=3, C="auto", class_weight="balanced").fit(X, y)
    assert chosen.cost_choice_["cost"] == chosen.C_
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(X, y))
    assert len(folds) == 10


def test_evaluations_run_in_processes(data):
    """What a fold returns is pickled."""
    code = (
        "from sklearn.datasets import make_classification; from fewest import InformationGain, evaluate;"
        "X, y = make_classification(60, 6, random_state=0);"
        "print(evaluate(InformationGain(n_features_to_select=2), X, y, cv=3, n_jobs=2).summary['accuracy']['mean'] > 0.5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
