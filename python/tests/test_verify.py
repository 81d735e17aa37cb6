"""``fewest.verify`` on proofs that selectors write, and on files that prove nothing."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification

from fewest import AlignmentSelector, ExactSelector, MBPSelector, Rules, _core, verify


@pytest.fixture
def data():
    return make_classification(n_samples=80, n_features=8, n_informative=3, random_state=1)


@pytest.fixture
def fitted(data, tmp_path):
    X, y = data
    return ExactSelector(n_features_to_select=2, proof=tmp_path / "best.proof").fit(X, y)


def test_a_proof_is_verified_with_the_numbers_of_the_fit(data, fitted):
    X, y = data
    found = verify(fitted.proof_, X, y)
    assert found and found.verified and found.reason is None and found.verdict == "verified"
    np.testing.assert_array_equal(found.selected, np.flatnonzero(fitted.support_))
    assert found.objective == pytest.approx(fitted.objective_, rel=1e-6)
    assert found.bound <= found.objective and found.gap <= 1e-4
    assert found.rest >= found.bound and found.status == "optimal"
    assert len(found.solutions) == 1 and found.n_points > 0 and found.n_parts > 0
    again = verify(fitted.proof_, sp.csr_matrix(X), y, n_jobs=1)
    assert again and again.gap == pytest.approx(found.gap, abs=1e-9)


def test_other_data_labels_and_weights_are_refused(data, fitted):
    X, y = data
    other = X.copy()
    other[3, 4] += 1e-9
    for arguments in [(other, y), (X, np.where(np.arange(len(y)) == 5, 1 - y, y)), (X, y, np.full(len(y), 2.0))]:
        found = verify(fitted.proof_, *arguments)
        assert not found and "fingerprint" in found.reason and found.objective is None
    assert "about 80 and 8" in verify(fitted.proof_, X[:, :7], y).reason


def test_weights_and_classes_are_those_of_the_fit(data, tmp_path):
    X, y = data
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.5)
    selector = ExactSelector(n_features_to_select=2, class_weight="balanced", proof=tmp_path / "w.proof")
    selector.fit(X, y, sample_weight=weight)
    assert verify(selector.proof_, X, y, weight, class_weight="balanced")
    assert not verify(selector.proof_, X, y, weight)


def test_alignments_of_any_number_of_classes_are_verified(data, fitted, tmp_path):
    X, y = load_iris(return_X_y=True)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.5)
    selector = AlignmentSelector(n_features_to_select=2, n_solutions=3, proof=tmp_path / "a.proof").fit(X, y, weight)
    found = verify(selector.proof_, X, y, weight)
    assert found and found.status == "optimal" and len(found.solutions) == 3
    np.testing.assert_array_equal(found.selected, np.flatnonzero(selector.support_))
    assert found.objective == pytest.approx(selector.objective_, rel=1e-9) and found.objective <= found.bound
    assert abs(found.gap) <= 1e-4 and found.rest <= found.bound
    assert "fingerprint" in verify(selector.proof_, X, np.roll(y, 1), weight).reason
    with pytest.raises(ValueError, match="about two classes, but y has 3"):
        verify(fitted.proof_, X, y)


def test_a_damaged_file_names_its_record(data, fitted, tmp_path):
    X, y = data
    content = gzip.decompress(Path(fitted.proof_).read_bytes())
    cut = tmp_path / "cut.proof"
    cut.write_bytes(gzip.compress(content[:-20]))
    found = verify(cut, X, y)
    assert not found and found.reason.startswith("record ") and found.verdict == "not_verified"


def test_a_file_without_a_bound_is_not_true(data, fitted, tmp_path):
    X, y = data
    header = gzip.decompress(Path(fitted.proof_).read_bytes()).split(b"\n", 1)[0]
    end = b"\x06" + np.float64(-np.inf).tobytes() + b"\x07optimal"
    # The subset of no feature, with a bias of 0: C for each sample.
    empty = b"\x05\x00" + np.array([80.0, -np.inf]).tobytes() + b"\x00" + np.float64(0).tobytes()
    for body, verdict, objective in [(end, "nothing", None), (empty + end, "objective_only", pytest.approx(80.0))]:
        (tmp_path / "none.proof").write_bytes(gzip.compress(header + b"\n" + body))
        found = verify(tmp_path / "none.proof", X, y)
        assert not found and found.verdict == verdict and found.bound is None and found.status == "optimal"
        assert found.objective == objective and found.reason.endswith("proven" if objective is None else "subsets")


def test_what_is_no_proof_raises(data, tmp_path):
    X, y = data
    with pytest.raises(OSError, match=r"none\.proof"):
        verify(tmp_path / "none.proof", X, y)
    (tmp_path / "text").write_text("no proof")
    with pytest.raises(ValueError, match="not a proof file"):
        verify(tmp_path / "text", X, y)
    with pytest.raises(ValueError, match="2 classes"):
        verify(tmp_path / "text", X, np.zeros(len(y)))


def test_the_sum_over_classes_and_tasks_is_verified(data, tmp_path):
    X, y = data
    three = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
    sites = np.where(np.arange(len(y)) % 2, "north", "south")
    selector = ExactSelector(n_features_to_select=2, multi_class="ovr", proof=tmp_path / "classes.proof").fit(X, three)
    assert verify(selector.proof_, X, three, multi_class="ovr").objective == pytest.approx(selector.objective_, rel=1e-4)
    assert verify(selector.proof_, X, three).reason.endswith(f"the proof is about {3 * len(y)} and 8")
    selector = ExactSelector(n_features_to_select=2, proof=tmp_path / "tasks.proof").fit(X, y, tasks=sites)
    assert verify(selector.proof_, X, y, tasks=sites).gap < 1e-3
    assert verify(selector.proof_, X, y).reason == "header: the data are of 1 problem, the proof is about 2"
    with pytest.raises(ValueError, match="multi_class is 'all', but must be 'ovo' or 'ovr'"):
        verify(selector.proof_, X, y, multi_class="all")


def test_the_question_is_told(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(8)])
    rules = Rules(max_features=3, forbid=["g1"], require=["g2"], signs={"g3": "-"})
    selector = ExactSelector(rules=rules, C=0.5, feature_penalty=0.25, proof=tmp_path / "x.proof").fit(
        frame, np.where(y, "ill", "well")
    )
    found = verify(selector.proof_, frame, np.where(y, "ill", "well"))
    assert found and found.differences == []
    known = {
        **{"gain": "ridge", "cost": 0.5, "loss": "hinge", "bias": "free", "penalty": 0.25, "max_features": 3},
        **{"require": ["g2"], "forbid": ["g1"], "weight_bounds": {"g3": [None, 0.0]}, "n_samples": 80, "n_features": 8},
        **{"classes": {"-1": "ill", "+1": "well"}, "class_counts": {"-1": int(y.sum()), "+1": 80 - int(y.sum())}},
    }
    assert {key: found.question[key] for key in known} == known
    assert found.question["origin"]["cost"] == "file"
    unnamed = verify(selector.proof_, X, np.where(y, "ill", "well"), C=0.5)
    assert unnamed.question["forbid"] == ["x2"] and unnamed.question["origin"]["cost"] == "typed"


def test_what_is_asked_is_held_against_the_proof(data, tmp_path):
    X, y = data
    rules = Rules(forbid=[1])
    proof = ExactSelector(n_features_to_select=2, rules=rules, feature_penalty=0.25, proof=tmp_path / "x.proof").fit(X, y).proof_
    same = {
        "n_features_to_select": 2,
        "rules": rules,
        "C": 1,
        "loss": "hinge",
        "fit_intercept": True,
        "feature_penalty": 0.25,
        "method": "exact",
    }
    assert verify(proof, X, y, **same) and verify(proof, X, y, **same, strict=True) and verify(proof, X, y, gap=1.0)
    for asked, key in [
        ({"n_features_to_select": 3}, "max_features"),
        ({"rules": Rules(forbid=[2])}, "forbid"),
        ({"rules": Rules(signs={0: 1})}, "weight_bounds"),
        ({"C": 2}, "cost"),
        ({"loss": "squared_hinge"}, "loss"),
        ({"fit_intercept": False}, "bias"),
        ({"intercept_scaling": 1.0}, "bias"),
        ({"feature_penalty": np.arange(8.0)}, "penalty"),
        ({"method": "mbp"}, "gain"),
        ({"kernel": "rbf"}, "kernel"),
        ({"gamma": 1.0}, "gamma"),
        ({"weight_bound": 1.0}, "weight_bound"),
        ({"strict": True, **{name: value for name, value in same.items() if name != "rules"}}, "forbid"),
    ]:
        found = verify(proof, X, y, **asked)
        assert not found and found.verdict == "other_question" and found.objective is None, asked
        assert found.differences[0]["key"] == key and key.replace("_", " ") in found.reason
        assert found.differences[0]["by"] == ("default" if "strict" in asked else "typed")
    found = verify(proof, X, y, gap=0.0)
    assert not found and found.verdict == "not_within" and found.gap > 0
    for asked, message in [
        ({"loss": "log"}, "loss is 'log', but must be"),
        ({"method": "none_such"}, "there is no method none_such"),
        ({"as_": {"path": []}}, "the result is not one of `fewest select --json`"),
        ({"rules": Rules(require=[1], forbid=[1])}, "x2"),
    ]:
        with pytest.raises(ValueError, match=message):
            verify(proof, X, y, **asked)


def test_a_result_of_the_command_asks(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(8)])
    table, result, proof = (str(tmp_path / name) for name in ("d.csv", "r.json", "x.proof"))
    frame.assign(y=y).to_csv(table, index=False)
    run = ["fewest", "select", table, "-m", "exact", "--max-features", "2", "--scale", "none", "--quiet"]
    assert _core.command([*run, "--cost", "0.5", "--json", result, "--proof", proof]) == 0
    frame = pd.read_csv(table).drop(columns="y")
    asked = json.loads(Path(result).read_text())
    assert verify(proof, frame, y, as_=result) and verify(proof, frame, y, as_=asked) and verify(proof, frame.to_numpy(), y, as_=asked)
    for change in [{"settings": {**asked["settings"], "cost": 1.0}}, {"selected": ["g0", "g7"]}]:
        found = verify(proof, frame, y, as_={**asked, **change})
        assert not found and [one["by"] for one in found.differences] == ["result"]


def test_a_proof_within_weights_says_so(data, tmp_path):
    X, y = data
    proof = MBPSelector(feature_penalty=0.5, weight_bound=0.05, proof=tmp_path / "x.proof").fit(X, y).proof_
    found = verify(proof, X, y, weight_bound=0.05)
    assert found and found.question["gain"] == "l1" and found.question["weights_within"] == 0.05
    assert verify(proof, X, y, weight_bound=1.0).differences[0]["key"] == "weights_within"
