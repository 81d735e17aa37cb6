"""``fewest.set_memory``: what does not fit is refused before it is taken."""

import numpy as np
import pytest

import fewest
from fewest import papers
from fewest._memory import method_with_memory


@pytest.fixture
def limited():
    """Sets a limit, and takes it back."""
    yield fewest.set_memory
    fewest.set_memory(None)


@pytest.fixture(scope="module")
def data():
    r = np.random.default_rng(3)
    X = r.standard_normal((40, 30))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    "selector",
    [fewest.AlignmentSelector(n_features_to_select=3), papers.BendersSelector(n_features_to_select=3)],
    ids=lambda s: type(s).__name__,
)
def test_what_does_not_fit_is_a_memory_error(selector, data, limited):
    assert limited("10K") is None
    with pytest.raises(MemoryError, match="bytes, but only 10240 are allowed"):
        selector.fit(*data)
    assert limited(None) == 10240
    assert 1 <= selector.fit(*data).support_.sum() <= 3


def test_every_method_with_a_memory_of_its_own_has_the_limit(limited):
    limited(5000)
    assert method_with_memory({"name": "kta"})["memory"] == 5000
    assert method_with_memory({"name": "lagrangian", "program": {}})["program"]["memory"] == 5000
    assert "memory" not in method_with_memory({"name": "info-gain"})


@pytest.mark.parametrize("limit", [0, -1, "two", "2X", "", True])
def test_a_limit_is_a_size(limit):
    with pytest.raises(ValueError, match="memory is"):
        fewest.set_memory(limit)


def test_sizes_are_powers_of_1024(limited):
    for text, size in [("1000", 1000), ("2k", 2048), ("1.5M", 3 << 19), ("2 GiB", 2 << 30), (7, 7)]:
        limited(text)
        assert limited(None) == size


def test_an_estimator_has_a_memory_of_its_own(data):
    selector = fewest.AlignmentSelector(n_features_to_select=3, max_memory="10K")
    with pytest.raises(MemoryError, match="bytes, but only 10240 are allowed"):
        selector.fit(*data)
    assert 1 <= selector.set_params(max_memory=10**8).fit(*data).support_.sum() <= 3
    # What it selects by cross-validation, and the classifier that it trains, draw on one account.
    with pytest.raises(MemoryError, match="allow more with"):
        fewest.SVMRFE(n_features_to_select=3, max_memory=5000).fit(*data)
    with pytest.raises(MemoryError, match="training on 40 samples and 30 features"):
        fewest.LinearSVC(max_memory=5000).fit(*data)
    with pytest.raises(ValueError, match="memory is 'much'"):
        fewest.LinearSVC(max_memory="much").fit(*data)
