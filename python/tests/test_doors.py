"""Python and the command say the same, digit for digit: folds, halves, draws, and what is found in them."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from fewest import SVMRFE, ExactSelector, InformationGain, Rules, Study, _core, evaluate, knockoffs, stability


def correlated():
    X, y = make_classification(90, 12, n_informative=4, n_redundant=3, shuffle=False, flip_y=0.1, random_state=3)
    return X, np.where(y == 1, "sick", "well")


def cells():
    X, y = load_breast_cancer(return_X_y=True)
    keep = np.r_[0:70, 500:569]
    return X[keep, :12] / X[keep, :12].std(axis=0), y[keep]


def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


SETS = pytest.mark.parametrize("data", [correlated, cells, iris])


def said(folder, X, y, *words, **columns):
    """What the command says of the same samples."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(**columns, y=y)
    frame.to_csv(folder / "d.csv", index=False)
    command, *options = words
    more = ["--target", "y", "--scale", "none", "--json", str(folder / "out.json"), "--quiet"]
    assert _core.command(["fewest", command, str(folder / "d.csv"), *options, *more]) == 0
    return json.loads((folder / "out.json").read_text())


#: What the command calls things, and Python.
WORDS = {
    "--json FILE": "the result",
    "--max-false": "max_false",
    "--fdr": "fdr",
    "fewest stability": "fewest.stability",
    "info-gain": "InformationGain",
    "rfe": "SVMRFE",
}


def same_tables(found, theirs, words=WORDS):
    """The tables of both, but for times and how features are scaled, which only the command knows."""
    for old, new in words.items():
        theirs = theirs.replace(old, new)
    timeless = re.sub(r"[\d.]+ s (?=per|for)", "", theirs)
    ours = re.sub(r"[\d.]+ s (?=per|for)", "", str(found))
    assert ours.split() == re.sub(r"^scaling .*\n", "", timeless, flags=re.M).split()


def plain(value):
    """With lists in place of tuples, as JSON has them; numbers stay as they are."""
    return json.loads(json.dumps(value))


def indices(names):
    return [int(name[1:]) for name in names]


def same_evaluation(found, said, n_features):
    for ours, theirs in zip(found.folds, said["folds"], strict=True):
        assert ours["selected"].tolist() == indices(theirs["selected"])
        assert {name: value for name, value in ours["metrics"].items() if name != "n_features"} == theirs["metrics"]
        assert len(ours["test"]) == theirs["n_test"] and ours["status"] == theirs["status"]
    assert plain(found.summary) == said["summary"]
    assert plain(found.stability) == said["stability"]
    assert found.confusion.tolist() == said["confusion"]
    assert {f"x{j}": found.frequency[j] for j in np.flatnonzero(found.frequency)} == said["frequency"]
    assert len(found.frequency) == n_features


@SETS
@pytest.mark.parametrize("repeats", [1, 3])
def test_evaluate(tmp_path, capfd, data, repeats):
    X, y = data()
    options = ["-m", "rfe", "--max-features", "3", "--cost", "0.5", "--tolerance", "1e-9", "--cv", "4", "--seed", "5"]
    theirs = said(tmp_path, X, y, "evaluate", *options, "--repeats", str(repeats), "--against", "info-gain")
    first = SVMRFE(n_features_to_select=3, C=0.5, tol=1e-9)
    second = InformationGain(n_features_to_select=3, C=0.5, tol=1e-9)
    found = evaluate(first, X, y, cv=4, n_repeats=repeats, random_state=5, against=second)
    same_evaluation(found, theirs, X.shape[1])
    same_evaluation(found.against, theirs["against"], X.shape[1])
    assert plain(found.comparison["difference"]) == theirs["comparison"]["difference"]
    same_tables(found, capfd.readouterr().out)
    assert found.comparison["t_test"] == theirs["comparison"]["corrected_t_test"]


def test_evaluate_with_tasks(tmp_path):
    X, y = correlated()
    site = np.array(["north", "south", "east"])[np.arange(len(y)) // 2 % 3]
    options = ["-m", "exact", "--max-features", "2", "--tolerance", "1e-9", "--cv", "3", "--tasks", "site"]
    theirs = said(tmp_path, X, y, "evaluate", *options, site=site)
    found = evaluate(ExactSelector(n_features_to_select=2, tol=1e-9), X, y, cv=3, tasks=site)
    same_evaluation(found, theirs, X.shape[1])


@SETS
@pytest.mark.parametrize("assume", ["r-concave", "any"])
def test_stability(tmp_path, capfd, data, assume):
    X, y = data()
    options = ["-m", "rfe", "--max-features", "2", "--tolerance", "1e-9", "--pairs", "7", "--max-false", "4", "--seed", "3"]
    theirs = said(tmp_path, X, y, "stability", *options, "--assume", assume, "--forbid", "x1")
    selector = SVMRFE(rules=Rules(max_features=2, forbid=[1]), tol=1e-9)
    found = stability(selector, X, y, n_pairs=7, max_false=4.0, assume=assume, random_state=3)
    assert found.selected.tolist() == theirs["selected_indices"]
    same_tables(found, capfd.readouterr().out)
    assert found.threshold == theirs["threshold"]
    bounds = theirs["false_selections"]
    assert (found.false_selections, found.chance) == (bounds["by_assumption"] if found.threshold else {}, bounds["chance"])
    for name, values in [("frequency", found.frequency), ("both_halves", found.both_halves)]:
        assert {f"x{j}": values[j] for j in np.flatnonzero(found.frequency)} == theirs[name]
    assert plain(found.stability) == theirs["stability"]
    assert [[half.tolist() for half in pair] for pair in found.pairs] == [
        [indices(half) for half in pair["selected"]] for pair in theirs["pairs"]
    ]


@SETS
def test_knockoffs(tmp_path, capfd, data):
    X, y = data()
    theirs = said(tmp_path, X, y, "knockoffs", "-m", "info-gain", "--draws", "3", "--seed", "6", "--fdr", "0.6")
    found = knockoffs(InformationGain(), X, y, fdr=0.6, n_draws=3, random_state=6)
    assert found.selected.tolist() == theirs["selected_indices"]
    for name in ("statistics", "evidence", "separations"):
        assert {f"x{j}": value for j, value in enumerate(getattr(found, name))} == theirs[name]
    same_tables(found, capfd.readouterr().out)
    assert found.shrinkage == theirs["shrinkage"]
    assert found.thresholds == [draw["threshold"] for draw in theirs["draws"]]


@SETS
def test_study(tmp_path, capfd, data):
    X, y = data()
    options = ["--max-features", "1..2", "--methods", "rfe", "--folds", "3", "--repeats", "1", "--inner-cv", "3", "--cost-points", "4"]
    theirs = said(tmp_path, X, y, "study", *options, "--time-limit", "300")
    study = Study(sizes=2, methods=["rfe"], cv=3, n_repeats=1, inner_cv=3, n_Cs=4, scale="none").fit(X, y)
    # What to try in each door's own words.
    same_tables(study, capfd.readouterr().out, {"--max-features 1..4": "sizes=range(1, 5)"})
    assert plain(study.summary_) == theirs["summary"]
    assert np.flatnonzero(study.support_).tolist() == theirs["panel"]["selected_indices"]
    assert plain(study.stability_) == theirs["stability"]
    assert {f"x{j}": study.frequency_[j] for j in np.flatnonzero(study.frequency_)} == theirs["frequency"]
