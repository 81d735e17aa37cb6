"""`fewest.certify`: the command's answer, what has names by names, proofs, what is refused."""

import html
import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import fewest.datasets
from fewest import SVC, SVMRFE, ExactSelector, Rules, certify, verify


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(60, 7, n_informative=3, random_state=3)
    return scale(X), y


def objective(X, y, subset, C=1.0):
    """Of the SVM on some columns."""
    model = SVC(kernel="linear", C=C, tol=1e-9).fit(X[:, subset], y)
    w, margin = model.coef_.ravel(), np.where(y == 1, 1, -1) * model.decision_function(X[:, subset])
    return 0.5 * w @ w + C * np.maximum(0, 1 - margin).sum()


def test_it_is_what_enumeration_says(data):
    X, y = data
    found = certify(X, y, [6, 1], n_solutions=4)
    values = {subset: objective(X, y, list(subset)) for k in (1, 2) for subset in combinations(range(7), k)}
    own, ordered = values[1, 6], sorted(values.items(), key=lambda one: one[1])
    assert found.selected.tolist() == [1, 6] and found.objective == pytest.approx(own, rel=1e-5)
    assert found.status == "optimal" and found.bound == pytest.approx(ordered[0][1], rel=2e-4)
    assert found.allowed and found.broken_rules == [] and found.proof is None and 0 < found.gap < 1
    better = [subset for subset, value in ordered if value < own][:4]
    assert [tuple(subset.tolist()) for subset, _ in found.better] == better and len(found.solutions) == 4
    for one, other in zip(found.features, (6, 1), strict=True):
        assert one["without"] == pytest.approx(values[other,], rel=1e-5)
        assert one["gain"] == pytest.approx(values[other,] - own, abs=1e-4 * own)
        swaps = {j: values[tuple(sorted((j, other)))] for j in range(7) if j not in (1, 6)}
        assert one["replacement"] == min(swaps, key=swaps.get) and one["objective"] == pytest.approx(min(swaps.values()), rel=1e-5)
    best = certify(X, y, found.solutions[0][0])
    assert best.better == [] and best.gap <= 1e-4
    assert len(repr(found)) < 200 and repr(found).startswith("Certificate(2 of 7 features, objective ")


def test_what_has_names_goes_by_names(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    by_index, mask = certify(X, y, [1, 6]), np.isin(np.arange(7), [1, 6])
    for X_, features in ((frame, ["g", "b"]), (frame, pd.Index(["b", "g"])), (frame, mask), (X, mask), (frame, (1, 6))):
        found = certify(X_, y, features)
        assert found.objective == by_index.objective and found.selected.tolist() == [1, 6]
        named = X_ is frame
        assert [one["feature"] for one in found.features] == (["b", "g"] if named else [1, 6])
        worth = by_index.features[0]["replacement"]
        assert found.features[0]["replacement"] == ("abcdefg"[worth] if named else worth)
    assert pd.DataFrame(certify(frame, y, ["b"]).features).index.size == 1


def test_the_command_says_the_same(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(y=np.where(y == 1, "yes", "no"))
    frame.to_csv(tmp_path / "d.csv", index=False)
    command = [
        "certify",
        str(tmp_path / "d.csv"),
        "--features",
        "g,b",
        "--scale",
        "none",
        "--json",
        str(tmp_path / "r.json"),
        "--quiet",
    ]
    more = ["--cost", "0.5", "--loss", "squared-hinge", "--forbid", "b", "--max-features", "3", "--class-weight", "balanced"]
    assert fewest._core.command(["fewest", *command, *more]) == 0
    said = json.loads((tmp_path / "r.json").read_text())
    with pytest.warns(UserWarning, match="the list breaks a rule: b is forbidden, but is in it"):
        found = certify(
            pd.read_csv(tmp_path / "d.csv").drop(columns="y"),
            frame["y"],
            ["b", "g"],
            rules=Rules(max_features=3, forbid=["b"]),
            C=0.5,
            loss="squared_hinge",
            class_weight="balanced",
        )
    assert found.broken_rules == said["broken_rules"] and not found.allowed and not said["allowed"]
    for name in ("objective", "bound", "gap"):
        assert getattr(found, name) == pytest.approx(said[name], rel=1e-4), name
    assert [subset.tolist() for subset, _ in found.better] == [one["selected_indices"] for one in said["better"]]
    for one, other in zip(found.features, said["features"], strict=True):
        assert (one["feature"], one["replacement"]) == (other["name"], (other["replacement"] or {}).get("name"))


def test_a_list_better_than_the_rules_allow_has_no_gap(data):
    X, y = data
    best = ExactSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    with pytest.warns(UserWarning, match="breaks a rule"):
        found = certify(X, y, best, rules=Rules(forbid=[int(best[0])]))
    assert found.gap is None and found.bound > found.objective and found.better == []


def test_proofs_list_what_was_judged(data, tmp_path):
    X, y = data
    found = certify(X, y, [1, 6], proof=tmp_path / "list.proof")
    verdict = verify(found.proof, X, y)
    listed = {tuple(subset.tolist()): value for subset, value, _ in verdict.solutions}
    assert verdict.verified and listed[1, 6] == pytest.approx(found.objective, rel=1e-5)
    assert verdict.objective == pytest.approx(found.solutions[0][1], rel=1e-5)
    # That of a selector holds its own subset.
    selector = SVMRFE(n_features_to_select=2, rules=Rules(forbid=[int(found.solutions[0][0][0])])).fit(X, y)
    poor = certify(X, y, selector.get_support())
    certificate = selector.certify(X, y, proof=tmp_path / "rfe.proof")
    listed = {tuple(subset.tolist()) for subset, _, _ in verify(certificate["proof"], X, y).solutions}
    assert tuple(poor.selected.tolist()) in listed


def test_weights_tasks_and_more_classes_are_those_of_the_selector():
    X, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=1)
    X, weights, tasks = scale(X), np.linspace(0.0, 2.0, 90), np.arange(90) % 2
    for more in ({}, {"multi_class": "ovr"}, {"class_weight": "balanced", "loss": "squared_hinge"}, {"feature_penalty": 0.1}):
        best = ExactSelector(n_features_to_select=2, **more).fit(X, y, weights)
        found = certify(X, y, best.get_support(), weights, **more)
        assert found.objective == pytest.approx(best.objective_, rel=1e-4) and found.better == []
    best = ExactSelector(n_features_to_select=2).fit(X, y, tasks=tasks)
    assert certify(X, y, best.get_support(), tasks=tasks).objective == pytest.approx(best.objective_, rel=1e-4)


def test_a_limit_is_warned_of_and_what_is_proven_returned():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="certify stopped before its end: the limit on nodes"):
        found = certify(scale(X), y, [0, 1, 2, 3, 4, 5], C=10, node_limit=1)
    assert found.status == "node_limit" and found.bound < found.objective and found.features[0]["gain"] > 0
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        found = certify(scale(X), y, [0, 1], time_limit=0)
    assert found.status == "time_limit" and found.features[0]["gain"] is None


@pytest.mark.parametrize(
    ("features", "more", "words"),
    [
        ([], {}, "features names no feature"),
        (np.zeros(7, bool), {}, "features names no feature"),
        ([1, 1], {}, "features names 'b' twice"),
        (["b", "a", "b"], {}, "features names 'b' twice"),
        ([7], {}, "features names feature 7, but X has 7 features"),
        (["gg"], {}, "did you mean 'g'"),
        ("a", {}, "in place of a list"),
        (["a"], {"C": "auto"}, "certify takes a number"),
        (["a"], {"C": 0.0}, "'C' parameter of certify"),
        (["a"], {"n_solutions": 0}, "'n_solutions' parameter of certify"),
        (["a"], {"rules": Rules(require=["a", "b"])}, "n_features_to_select is 1 but 2 features must be in"),
        (["a"], {"rules": Rules(require=["h"])}, "'h', which X does not have"),
    ],
)
def test_bad_lists_are_refused(data, features, more, words):
    X, y = data
    with pytest.raises(ValueError, match=words):
        certify(pd.DataFrame(X, columns=list("abcdefg")), y, features, **more)


def test_names_need_a_frame(data):
    with pytest.raises(ValueError, match="X has no names of columns"):
        certify(*data, ["a"])


@pytest.mark.parametrize(
    "function",
    [
        lambda X, y: certify(X, y, [0]),
        lambda X, y: verify("none.proof", X, y),
        lambda X, y: fewest.knockoffs(SVMRFE(), X, y),
        lambda X, y: fewest.datasets.dump_columns("none.csc", X, y),
    ],
)
def test_missing_values_have_a_remedy_that_a_function_has(data, function):
    X, y = data
    with pytest.raises(ValueError, match="takes no missing values: fill them in, or leave out what has some$"):
        function(np.where(X[0, 0] == X, np.nan, X), y)


def test_it_has_a_page_that_a_notebook_shows(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(7)])
    found = certify(frame, pd.Series(y, name="outcome"), ["g6", "g1"])
    page = found.report()
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and page in html.unescape(shown)
    for text in ("2 of 7 features judged", "outcome", "<bdi>g1</bdi>", "<bdi>g6</bdi>", found.features[0]["replacement"]):
        assert text in page, text
    said = json.loads(found.to_json())
    assert said["command"] == "certify(X, y, ['g1', 'g6'])"
    assert said["selected"] == ["g1", "g6"] and said["gap"] == found.gap
    assert [tuple(one["selected_indices"]) for one in said["better"]] == [tuple(subset.tolist()) for subset, _ in found.better]


def test_progress_is_said(data, capsys):
    certify(*data, [0, 1], verbose=1)
    assert re.match(r"\[certify\] 0 s, ", capsys.readouterr().out)
    SVMRFE(n_features_to_select=2, verbose=1).fit(*data).certify(*data)
    assert "[SVMRFE] 0 s, " in capsys.readouterr().out
