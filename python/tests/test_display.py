"""Displays."""

import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, ExactSelector, SearchDisplay, SelectionPathDisplay, StabilityDisplay

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")


@pytest.fixture
def data():
    return make_classification(80, 12, n_informative=3, random_state=0)


def test_selection_path(data):
    selector = SVMRFE(cv=4).fit(*data)
    display = SelectionPathDisplay.from_estimator(selector)
    scores = np.array([selector.cv_results_[f"split{i}_test_score"] for i in range(4)])
    np.testing.assert_allclose(display.standard_error, scores.std(axis=0, ddof=1) / 2)
    assert display.plot() is display and display.ax_.get_xlabel() == "Number of features"
    assert any(line.get_xdata()[0] == selector.n_features_ for line in display.ax_.lines if len(set(line.get_xdata())) == 1)
    styled = display.plot(line_kw={"color": "red", "label": "mine"}, fill_kw={"alpha": 0.1})
    assert styled.ax_.lines[0].get_color() == "red" and styled.ax_.lines[0].get_label() == "mine"
    assert styled.ax_.collections[0].get_alpha() == 0.1
    with pytest.raises(ValueError, match="cv"):
        SelectionPathDisplay.from_estimator(SVMRFE().fit(*data))


def test_search(data):
    selector = ExactSelector(n_features_to_select=3).fit(*data)
    display = SearchDisplay.from_estimator(selector)
    assert display.objective[-1] == pytest.approx(selector.objective_)
    assert (np.diff(display.bound[np.isfinite(display.bound)]) >= 0).all()
    pipeline = make_pipeline(StandardScaler(), ExactSelector(n_features_to_select=3)).fit(*data)
    assert len(SearchDisplay.from_estimator(pipeline).time) > 0
    with pytest.raises(ValueError, match="no search to show"):
        SearchDisplay.from_estimator(SVMRFE(n_features_to_select=3).fit(*data))
    _, ax = plt.subplots()
    assert display.plot(ax=ax, line_kw={"linestyle": "--"}, fill_kw={"alpha": 0.3}).ax_ is ax
    assert ax.lines[0].get_linestyle() == "--" and ax.collections[0].get_alpha() == 0.3


def test_stability(data):
    X, y = data
    display = StabilityDisplay.from_estimator(SVMRFE(n_features_to_select=3), X, y, n_splits=12, random_state=0)
    assert display.frequency.sum() == pytest.approx(3) and display.stability <= 1
    again = StabilityDisplay.from_estimator(SVMRFE(n_features_to_select=3), X, y, n_splits=12, random_state=0, n_jobs=2)
    assert (again.frequency == display.frequency).all()
    bars = display.plot(max_features=5, bar_kw={"height": 0.5}).ax_.patches
    assert len(bars) == 5 and bars[0].get_height() == 0.5
    always = StabilityDisplay.from_estimator(SVMRFE(n_features_to_select=12), X, y, n_splits=3, random_state=0)
    assert always.stability == 1


def test_matplotlib_is_imported_only_to_draw():
    import subprocess

    code = "import sys, fewest; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
