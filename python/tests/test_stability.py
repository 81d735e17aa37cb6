"""`fewest.stability`: the command's answer, what is counted, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, ExactSelector, Rules, _core, stability


def data(n=80, p=12, seed=0):
    return make_classification(n, p, n_informative=3, n_redundant=0, shuffle=False, random_state=seed)


def test_it_is_what_the_command_says(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "s.json"
    options = ["-m", "rfe", "--max-features", "3", "--cost", "0.1", "--pairs", "8", "--seed", "4", "--json", str(out), "--quiet"]
    assert _core.command(["fewest", "stability", str(tmp_path / "d.csv"), *options]) == 0
    said = json.loads(out.read_text())
    model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=3, C=0.1))
    found = stability(model, frame, y, n_pairs=8, random_state=4)
    names = np.asarray(frame.columns)
    for pair, (first, second) in zip(said["pairs"], found.pairs, strict=True):
        assert pair["selected"] == [names[first].tolist(), names[second].tolist()]
    assert said["selected_indices"] == found.selected.tolist()
    assert said["threshold"] == found.threshold
    assert said["false_selections"]["by_assumption"] == pytest.approx(found.false_selections)
    assert {names[j]: found.frequency[j] for j in np.flatnonzero(found.frequency)} == pytest.approx(said["frequency"])


def test_any_selector_and_any_number_of_jobs():
    X, y = data(seed=1)
    one = stability(SelectKBest(k=3), X, y, n_pairs=6, threshold=0.75)
    two = stability(SelectKBest(k=3), X, y, n_pairs=6, threshold=0.75, n_jobs=2)
    np.testing.assert_array_equal(one.frequency, two.frequency)
    np.testing.assert_array_equal(one.selected, np.flatnonzero(one.frequency >= 0.75))
    assert one.threshold == 0.75
    assert one.chance == pytest.approx(3 / 12)
    assert one.false_selections["any"] == pytest.approx(9 / 12 / 0.5)


def test_features_that_cannot_be_selected_do_not_count():
    X, y = data(seed=2)
    X[:, 5] = 1.0
    model = ExactSelector(rules=Rules(max_features=2, forbid=[7, 8]), C=0.01)
    found = stability(model, X, y, n_pairs=3, threshold=0.9)
    assert found.chance == pytest.approx(2 / 9)
    assert found.frequency[[5, 7, 8]].max() == 0.0


def test_no_threshold_keeps_too_small_a_bound():
    X, y = data(seed=3)
    found = stability(SelectKBest(k=6), X, y, n_pairs=2, max_false=0.01)
    assert found.threshold is None and found.false_selections == {} and len(found.selected) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold": 0.5}, "threshold is 0.5, but must be above 0.5"),
        ({"max_false": 0.0}, "max_false is 0.0"),
        ({"assume": "normal"}, "assume is 'normal', but must be one of any, unimodal, r-concave"),
        ({"n_pairs": 0}, "n_pairs is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        stability(SelectKBest(k=3), X, y, **given)


def test_a_class_with_one_sample_is_refused():
    X, y = data()
    y[0] = 2
    with pytest.raises(ValueError, match="class 2 has one sample"):
        stability(SelectKBest(k=3), X, y)
