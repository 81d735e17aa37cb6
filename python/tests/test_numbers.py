"""Numbers of any size: offsets, scales, costs; and labels, variables and words in files and folds."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC as PeerSVC

from fewest import (
    SVC,
    SVMRFE,
    AlignmentSelector,
    ColumnFile,
    ExactSelector,
    Rules,
    StabilityDisplay,
    Study,
    _core,
    evaluate,
    export_model,
    knockoffs,
    markers,
    stability,
)
from fewest._columns import label_texts
from fewest.datasets import dump_columns


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_large_costs_are_trained_as_given(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    small = X * 1e-7
    gamma = {"gamma": 0.1e14 if kernel == "rbf" else "auto"}
    # What scaling both does not change: C / scale^2 for the linear kernel.
    cost = 1e14 if kernel == "linear" else 1.0
    found = SVC(kernel=kernel, C=cost, **gamma).fit(small, y)
    peer = PeerSVC(kernel=kernel, C=cost, **gamma).fit(small, y)
    assert found.score(small, y) >= peer.score(small, y) - 0.02 and found.score(small, y) > 0.8
    if kernel == "linear":
        same = SVC(kernel="linear", C=1.0).fit(X, y)
        np.testing.assert_allclose(found.decision_function(small), same.decision_function(X), atol=1e-5)
        exact = ExactSelector(n_features_to_select=2, C=1e14).fit(small, y)
        np.testing.assert_array_equal(exact.predict(small), ExactSelector(n_features_to_select=2).fit(X, y).predict(X))
        assert exact.score(small, y) > 0.8


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_a_hard_margin_is_one_at_every_scale(scale):
    X = np.array([[0.0, 0], [1, 0], [0, 1], [3, 3], [4, 3], [3, 4]]) * scale + 5 * scale
    y = np.repeat([0, 1], 3)
    for M in (X, sp.csr_array(X)):
        found = SVC(kernel="linear", C=np.inf).fit(M, y)
        assert found.score(M, y) == 1.0
        # The margin of the closest two: (1, 0) and (0, 1) against (3, 3).
        assert 2 / np.linalg.norm(found.coef_) == pytest.approx(scale * 2.5 * np.sqrt(2), rel=1e-4)
    assert SVC(kernel="precomputed", C=np.inf).fit(X @ X.T, y).score(X @ X.T, y) == 1.0


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
@pytest.mark.parametrize("kind", ["constant", "common", "float32", "binary", "sparse"])
def test_predictions_keep_their_digits(kernel, kind):
    """Distances of large numbers that lie close together."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 2)), 6)
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    model = SVC(kernel=kernel, gamma=0.25).fit(X, y)
    want = model.decision_function(X)
    moved = {
        "constant": np.c_[X, np.full(200, 1.7e9)],
        "common": X + 1e8,
        "float32": np.c_[X, np.full(200, 20240115)].astype(np.float32),
        "binary": np.c_[X, 1e9 * (np.arange(200) % 2)],
        "sparse": sp.csr_array(np.c_[X, np.full(200, 1.7e9), np.zeros(200)]),
    }[kind]
    # The classifier that training on it gives, were training exact: the same dual variables.
    model.n_features_in_ = moved.shape[1]
    model.support_vectors_ = moved[model.support_]
    if kind == "binary":
        near = (np.arange(200)[:, None] - model.support_[None, :]) % 2 == 0
        apart = X[:, None] - X[model.support_][None]
        K = np.exp(-0.25 * (apart**2 if kernel == "rbf" else abs(apart)).sum(2))
        want = ((K * near) @ model._pair_coef.T + model.intercept_).ravel()
    tolerance = {"common": 1e-6, "float32": 1e-5}.get(kind, 1e-9)
    np.testing.assert_allclose(model.decision_function(moved), want, atol=tolerance * 50)


def test_a_stopped_training_says_so():
    X, y = make_classification(300, 20, flip_y=0.3, random_state=0)
    for loss in ("hinge", "squared_hinge"):
        stopped = SVC(kernel="linear", C=100.0, loss=loss, max_iter=1, tol=1e-14).fit(X, y)
        with pytest.warns(ConvergenceWarning):
            clone(stopped).fit(X, y)
        assert stopped.fit_status_ == 1 and SVC().fit(X, y).fit_status_ == 0


LABELS = {
    "float": [0.0, 1.0],
    "negative zero": [-0.0, 1.0],
    "bool": [True, False],
    "blanks": [" a", "b "],
    "numbers as text": ["1.0", "2.0"],
    "signed": ["+1", "-1"],
    "integer": [3, 7],
    "nullable": pd.array([0, 1], dtype="Int64"),
    "nullable bool": pd.array([True, False], dtype="boolean"),
    "nullable float": pd.array([0.0, 1.0], dtype="Float64"),
    "category": pd.Categorical(["x", "y"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_go_through_a_file(kind, tmp_path, capfd):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    first = (X.a + 0.3 * rng.normal(size=60) > 0).to_numpy()
    values = pd.Series(LABELS[kind])
    y = values[first.astype(int)].reset_index(drop=True)
    fitted = SVMRFE(n_features_to_select=1).fit(X, y)
    export_model(fitted, tmp_path / "m.json")
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    assert _core.command(["fewest", "predict", str(tmp_path / "m.json"), str(tmp_path / "d.csv")]) == 0
    said = "".join(capfd.readouterr())
    assert "does not know" not in said and f"{100 * fitted.score(X, y):.1f}" in said
    dump_columns(tmp_path / "d.csc", X, y)
    assert len(np.unique(ColumnFile(tmp_path / "d.csc").target)) == 2


def test_labels_that_a_file_holds_in_one_form_only(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    fitted = SVC().fit(X, np.where(np.arange(30) % 2, "1", "1.0"))
    with pytest.raises(ValueError, match=r"'1' and '1.0' are both '1'"):
        export_model(fitted, tmp_path / "m.json")
    with pytest.raises(ValueError, match="are both 'a'"):
        dump_columns(tmp_path / "m.csc", X, np.where(np.arange(30) % 2, "a", "a "))
    export_model(SVC().fit(X, np.where(np.arange(30) % 2, 3.0, -0.0)), tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["classes"] == {"-1": "0", "+1": "3"}
    texts = ["-0", "1e-7", "0.1", "1E3", "nan", "1_0", "True", "123456789012345680"]
    assert label_texts(texts) == ["0", "1e-7", "0.1", "1000", "nan", "1_0", "True", "123456789012345680"]


def documents():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    docs, y = [], np.arange(60) % 2
    for label in y:
        docs.append(" ".join([*rng.choice(words, 12), *(["alpha"] if label else ["omega"])]))
    return docs, y


def test_features_that_differ_by_fold_are_joined_by_name():
    docs, y = documents()
    model = make_pipeline(TfidfVectorizer(), SVMRFE(n_features_to_select=3, step=0.5))
    folds = StratifiedKFold(3)
    found = evaluate(model, docs, y, cv=folds)
    names = found.feature_names.tolist()
    assert found.frequency[names.index("alpha")] == 1.0 and len(found.frequency) == len(names)
    assert found.summary["accuracy"]["mean"] == pytest.approx(cross_val_score(model, docs, y, cv=folds).mean())
    for fold in found.folds:
        assert {"alpha", "omega"} & {names[j] for j in fold["selected"]}
    halves = stability(model, docs, y, n_pairs=3)
    assert {"alpha"} <= set(halves.feature_names[halves.frequency == 1.0])
    display = StabilityDisplay.from_estimator(model, docs, y, n_splits=4, random_state=0)
    assert display.frequency[list(display.names).index("alpha")] == 1.0
    # As many words in each fold, but not the same ones.
    few = evaluate(make_pipeline(TfidfVectorizer(max_features=20), SVMRFE(n_features_to_select=3)), docs, y, cv=3)
    assert len(few.frequency) > 20 and few.frequency[few.feature_names.tolist().index("alpha")] == 1.0


def test_indicators_and_categories_that_differ_by_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    X[3, 2] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), ExactSelector(n_features_to_select=2))
    found = evaluate(model, X, y, cv=5)
    assert found.frequency[0] == 1.0 and len(found.frequency) == 5 and found.feature_names[-1].startswith("missingindicator")
    table = pd.DataFrame({"purpose": ["car"] * 30 + ["tv"] * 29 + ["boat"], "amount": X[:, 0]})
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["purpose"]), remainder="passthrough")
    found = evaluate(make_pipeline(encoder, ExactSelector(n_features_to_select=1)), table, y, cv=4)
    assert found.frequency[found.feature_names.tolist().index("remainder__amount")] == 1.0
    stable = evaluate(make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=1)), table[["amount"]].assign(b=1.0), y, cv=3)
    assert stable.feature_names is None
    hidden = make_pipeline(FunctionTransformer(lambda A: A[:, : 2 + len(A) % 2]), SVMRFE(n_features_to_select=1))
    with pytest.raises(ValueError, match="does not name them"):
        evaluate(hidden, np.nan_to_num(X), y, cv=KFold(7))


def test_groups_are_found_through_steps_that_keep_columns():
    X = pd.DataFrame({"colour": list("rgb") * 20, "size": list("sl") * 30, "age": np.arange(60.0), "one": 1.0})
    encoder = make_column_transformer((OneHotEncoder(), ["colour", "size"]), (MinMaxScaler(), ["age", "one"]), sparse_threshold=0)
    for more in ([], [StandardScaler(with_mean=False)], [StandardScaler(), MinMaxScaler(), "passthrough"], [SimpleImputer()]):
        assert Rules.from_columns(make_pipeline(encoder, *more).fit(X)).together == [[0, 1, 2], [3, 4]]
    same = FunctionTransformer(np.log1p, feature_names_out="one-to-one")
    for step in (same, KNNImputer(add_indicator=True), make_column_transformer((StandardScaler(), [0, 3]), remainder="passthrough")):
        assert len(Rules.from_columns(make_pipeline(encoder, step).fit(X)).together) == 2
    gone = make_pipeline(encoder, VarianceThreshold(), StandardScaler()).fit(X)
    assert Rules.from_columns(gone).together == [[0, 1, 2], [3, 4]]
    assert Rules.from_columns(make_pipeline(FeatureUnion([("few", encoder), ("same", encoder)])).fit(X)).together == [
        [0, 1, 2],
        [3, 4],
        [7, 8, 9],
        [10, 11],
    ]
    for step in (PCA(2), FunctionTransformer(np.log1p)):
        with pytest.raises(ValueError, match=type(step).__name__):
            Rules.from_columns(make_pipeline(encoder, step).fit(X))
    assert Rules.from_columns(StandardScaler().fit(X[["age"]])).together == []


def test_variables_are_counted():
    rng = np.random.default_rng(0)
    purpose = rng.integers(0, 8, 300)
    table = pd.DataFrame({"purpose": [f"p{i}" for i in purpose], **{f"n{j}": rng.normal(size=300) for j in range(4)}})
    y = ((purpose % 2) + 0.2 * table.n0 > 0.5).astype(int)
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["purpose"]), remainder="passthrough").fit(table)
    X = encoder.transform(table)
    with pytest.warns(UserWarning, match=r"8 features .*more than the 3 .*count=\"variables\""):
        columns = ExactSelector(rules=Rules.from_columns(encoder, max_features=3)).fit(X, y)
    assert not columns.support_[:8].any()
    rules = Rules.from_columns(encoder, max_features=3, count="variables", forbid=[11])
    found = ExactSelector(rules=rules).fit(X, y)
    assert found.support_[:8].all() and found.support_[8:].sum() <= 2 and not found.support_[11] and found.score(X, y) > 0.9
    assert SVMRFE(rules=rules).fit(X, y).support_[8:].sum() <= 3
    with pytest.raises(ValueError, match="no budget"):
        Rules.from_columns(encoder, max_features=3, count="variables", budget=2.0)
    with pytest.raises(ValueError, match="'variables'"):
        Rules.from_columns(encoder, max_features=3, count="columns and variables")


def test_what_holds_more_than_numbers_is_refused_with_a_remedy():
    docs, y = documents()
    X = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    dates = pd.Series(pd.date_range("2024-01-01", periods=60))
    rfe = SVMRFE(n_features_to_select=1)
    for selector in (rfe, ExactSelector(), SVC(), Study(), AlignmentSelector()):
        for texts in (docs, np.array(docs), np.array(docs, dtype=object), pd.Series(docs)):
            kind = TypeError if isinstance(texts, list) else ValueError
            with pytest.raises(kind, match=r"TfidfVectorizer\(\)|Expected 2D|1-dimensional|Expected a 2-dimensional"):
                selector.fit(texts, y)
        if isinstance(selector, Study):
            # It makes features of them.
            continue
        with pytest.raises(ValueError, match=r"column 'purpose' of X holds texts \('education'\).*OneHotEncoder"):
            selector.fit(frame.assign(purpose="education"), y)
        with pytest.raises(ValueError, match=r"column 'purpose' of X holds texts"):
            selector.fit(frame.assign(purpose=pd.Categorical(["education"] * 60)), y)
        with pytest.raises(ValueError, match=r"column 'purpose' of X holds texts"):
            selector.fit(pl.from_pandas(frame).with_columns(purpose=pl.lit("education")), y)
        with pytest.raises(ValueError, match=r"column 'day' of X holds dates .2024-01-01"):
            selector.fit(frame.assign(day=dates), y)
        with pytest.raises(ValueError, match=r"column 3 of X holds texts \('x'\)"):
            selector.fit(np.c_[X.astype(object), np.full(60, "x", dtype=object)], y)
    days = frame.assign(day=dates)[["day"]]
    for values in (days, pl.from_pandas(frame.assign(day=dates)), pa.Table.from_pandas(days), days - dates.min(), days.assign(a=1.0)):
        with pytest.raises(ValueError, match=r"column 'day' of X holds dates"):
            rfe.fit(values, y)
    with pytest.raises(ValueError, match="X holds dates"):
        SVC().fit(days.to_numpy(), y)
    assert SVMRFE().fit(frame.astype(str), y).n_features_ == 2


@pytest.mark.parametrize("selector", [SVMRFE(), SVC(), Study(), ExactSelector(C="auto")])
def test_missing_labels_are_counted(selector):
    X = np.random.default_rng(0).normal(size=(20, 3))
    number = np.arange(20) % 2 * 1.0
    number[[3, 7]] = np.nan
    text = np.array(["a", "b"] * 10, dtype=object)
    text[[3, 7]] = None
    for y in (
        number,
        text,
        pd.Series(number),
        pd.Series(text),
        pd.Series(number).astype("Int64"),
        pl.Series(text),
        pd.Categorical(text),
    ):
        with pytest.raises(ValueError, match=r"y contains NaN: 2 of 20 samples have no label, at 3, 7"):
            selector.fit(X, y)
    masked = np.ma.masked_array(np.arange(20) % 2, np.isnan(number))
    with pytest.raises(ValueError, match="2 of 20"):
        selector.fit(X, masked)
    with pytest.raises(ValueError, match="X contains NaN"):
        selector.fit(np.ma.masked_array(X, X > 1), np.arange(20) % 2)
    for call in (evaluate, stability, knockoffs):
        with pytest.raises(ValueError, match="2 of 20"):
            call(SVMRFE(), X, number)
    with pytest.raises(ValueError, match="2 of 20"):
        markers(X, number, 2)


def test_small_things():
    X, y = make_classification(60, 8, random_state=0)
    for selector in (SVMRFE(n_jobs=0), SVC(n_jobs=0), Study(n_jobs=0)):
        with pytest.raises(ValueError, match="n_jobs"):
            selector.fit(X, y)
    assert SVMRFE(n_features_to_select=1.0).fit(X, y).n_features_ == 8
    with pytest.raises(ValueError, match="n_features_to_select"):
        SVMRFE(n_features_to_select=True).fit(X, y)
    small = {"methods": ["rfe"], "cv": 2, "n_repeats": 1, "inner_cv": 2, "n_Cs": 2}
    with pytest.raises(ValueError, match=r"ascending, each once; give \[3, 5\]"):
        SVMRFE().path(X, y, [5, 3])
    with pytest.raises(ValueError, match=r"ascending, each once; give \[3, 5\]"):
        Study(sizes=[5, 3], **small).fit(X, y)
    for state in (None, np.random.RandomState(0), 3):
        Study(sizes=[1], random_state=state, **small).fit(X, y)
        stability(SVMRFE(), X, y, n_pairs=1, random_state=state)
    for call in (lambda: SVC(max_iter=1).fit(X, y), lambda: cross_val_score(SVMRFE(n_features_to_select=9), X, y, cv=2)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert {warning.filename for warning in told} == {__file__}
    found = evaluate(SVMRFE(n_features_to_select=2), X, y, cv=3)
    assert repr(found).startswith("Evaluation(3 folds: accuracy 0.") and len(repr(found)) < 1000
    assert len(repr(stability(SVMRFE(), X, y, n_pairs=2))) < 300 and len(repr(knockoffs(SVMRFE(), X, y))) < 300


@pytest.mark.parametrize(
    "selector", [ExactSelector(n_features_to_select=3, C=0.1), SVMRFE(cv=3), SVMRFE(), AlignmentSelector(n_features_to_select=2)]
)
def test_progress_runs_forwards(selector):
    X, y = make_classification(120, 20, n_informative=6, random_state=0)
    done = []
    selector.set_params(callback=lambda progress: done.append((progress.done, progress.total)) and False).fit(X, y)
    counted = [count for count, _ in done if count is not None]
    assert counted and counted == sorted(counted)
