"""``fewest.verify`` on proofs that selectors write, and on files that prove nothing."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification

from fewest import AlignmentSelector, ExactSelector, verify


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
