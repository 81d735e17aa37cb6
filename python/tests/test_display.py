"""Displays."""

import itertools
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import (
    SVMRFE,
    DecisionCurveDisplay,
    ExactSelector,
    L1SVMSelector,
    SearchDisplay,
    SelectionPathDisplay,
    StabilityDisplay,
    Study,
    certify,
    compare,
    evaluate,
    knockoffs,
    stability,
)
from fewest._figure import FIRST

plt = pytest.importorskip("matplotlib.pyplot")
to_rgba = pytest.importorskip("matplotlib.colors").to_rgba
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


@pytest.fixture(scope="module")
def study():
    X, y = make_classification(90, 12, n_informative=3, random_state=0)
    return Study(sizes=3, cv=3, n_repeats=1, inner_cv=3, n_inner_repeats=1, n_Cs=3, methods=["rfe"]).fit(X, y)


def test_a_study_shows_the_outer_folds_beside_the_inner_ones(study):
    display = SelectionPathDisplay.from_estimator(study).plot()
    ax, accuracy = display.ax_, study.summary_["accuracy"]
    curve = ax.lines[0]
    assert curve.get_ydata().tolist() == [size["accuracy"] for size in study.sizes_]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "3"]
    (estimate,) = ax.containers
    point, caps, (bar,) = estimate.lines
    assert point.get_ydata().tolist() == [accuracy["mean"]] and len(caps) == 2
    assert bar.get_segments()[0][:, 1].tolist() == pytest.approx(accuracy["ci95"])
    assert point.get_xdata().tolist() == [study.panels_["best"]["max_features"]]
    assert any("outer folds: the estimate" in text.get_text() for text in display.figure_.legends[0].get_texts())
    low, high = ax.get_ylim()
    assert low <= accuracy["ci95"][0] and accuracy["ci95"][1] <= high
    assert ax.get_ylabel() == "Accuracy" and ax.get_title(loc="left") == "Accuracy by number of features"


def test_features_of_the_outer_folds(study):
    display = StabilityDisplay.from_study(study).plot()
    bars = [bar.get_width() for bar in display.ax_.patches]
    assert bars == sorted(study.frequency_[study.frequency_ > 0], reverse=True)
    assert display.ax_.get_xlabel() == "Share of outer folds"
    assert f"stability {study.stability_['index']:.2f}" in display.ax_.get_title(loc="left")


def test_a_decision_curve(study, data):
    display = DecisionCurveDisplay.from_estimator(study).plot(line_kw={"color": "k"})
    ours, all_of_them, none = display.ax_.lines
    assert ours.get_color() == "k" and len(ours.get_xdata()) == 99
    assert all_of_them.get_ydata().tolist() == [point["treat_all"] for point in study.decision_curve_]
    assert set(none.get_ydata()) == {0.0} and display.ax_.get_xlim() == (0, 1)
    assert display.ax_.get_ylim()[1] >= max(display.net_benefit)
    with pytest.raises(ValueError, match="no decision curve"):
        DecisionCurveDisplay.from_estimator(SVMRFE().fit(*data))


@pytest.mark.parametrize(("figsize", "width"), [("single", 85), ("double", 170)])
def test_figures_of_a_journal(study, figsize, width):
    display = SelectionPathDisplay.from_estimator(study).plot(figsize=figsize)
    figure, ax = display.figure_, display.ax_
    assert figure.get_size_inches()[0] == pytest.approx(width / 25.4)
    figure.canvas.draw()
    texts = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.title, *figure.legends[0].get_texts()]
    assert {text.get_fontsize() for text in texts} == {7.0}
    # Nothing is cut, and the legend covers nothing.
    whole = figure.get_tightbbox()
    assert whole.x0 >= -0.01 and whole.x1 <= width / 25.4 + 0.01
    assert figure.legends[0].get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0
    with pytest.raises(ValueError, match="'single', 'double'"):
        display.plot(figsize="wide")
    # Axes of the caller keep their size and text.
    other, axes = plt.subplots(figsize=(5, 4))
    before = axes.xaxis.label.get_fontsize()
    SelectionPathDisplay.from_estimator(study).plot(ax=axes, figsize="single")
    assert other.get_size_inches().tolist() == [5, 4] and axes.xaxis.label.get_fontsize() == before and axes.get_legend() is not None
    plt.close("all")


def test_lists_are_points_with_intervals(data):
    found = compare(*data, {"three": ["x0", "x1", "x2"], "a list with a name that does not end here": ["x3"]})
    ax = found.plot(figsize="single")
    (container,) = ax.containers
    points, caps, (bars,) = container.lines
    assert points.get_xdata().tolist() == [found.macro_f1[name]["mean"] for name in found.names] and len(caps) == 2
    ends = [segment[:, 0].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx(found.macro_f1[name]["ci95"]) for name in found.names]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["three (3)", "a list with a name that does n.."]
    ax.figure.canvas.draw()
    assert min(label.get_window_extent().x0 for label in ax.get_yticklabels()) >= 0
    plt.close(ax.figure)


def test_rows_have_the_room_they_need():
    names = [f"feature number {j}" for j in range(40)]
    heights = []
    for count in (5, 40):
        display = StabilityDisplay(frequency=np.linspace(0.1, 1, count), names=names[:count], stability=0.5).plot(max_features=40)
        display.figure_.canvas.draw()
        boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
        assert all(upper.y0 > lower.y1 for upper, lower in itertools.pairwise(boxes))
        assert display.ax_.get_yticklabels()[0].get_text() == names[count - 1]
        heights.append(display.figure_.get_size_inches()[1])
    assert heights[1] > 2 * heights[0]
    plt.close("all")


def test_results_of_functions_are_drawn(data):
    X, y = data
    judged = evaluate(SVMRFE(n_features_to_select=3), X, y, cv=3)
    ax = judged.plot()
    points, _, (intervals,) = ax.containers[0].lines
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown[:2] == ["accuracy", "AUC"] and points.get_xdata()[0] == judged.summary["accuracy"]["mean"]
    assert intervals.get_segments()[0][:, 0].tolist() == pytest.approx(judged.summary["accuracy"]["ci95"])
    guesses = next(line for line in ax.lines if line.get_label() == "guessing")
    assert guesses.get_xdata()[1] == 0.5 and guesses.get_xdata()[0] == pytest.approx(np.bincount(y).max() / len(y), abs=0.02)

    halves = stability(SVMRFE(n_features_to_select=3), X, y, n_pairs=10, random_state=0)
    ax = halves.plot(max_features=6)
    widths = sorted((bar.get_width() for bar in ax.patches), reverse=True)
    assert widths == sorted(halves.frequency, reverse=True)[:6]
    coloured = [bar for bar in ax.patches if bar.get_facecolor() == to_rgba(FIRST)]
    assert len(coloured) == len(halves.selected)
    assert halves.threshold is None or ax.lines[0].get_xdata()[0] == halves.threshold

    copies = knockoffs(L1SVMSelector(C=0.1), X, y, random_state=0)
    ax = copies.plot()
    assert sorted(bar.get_width() for bar in ax.patches) == sorted(copies.statistics.tolist())
    assert "false discovery rate of 0.2" in ax.get_title(loc="left")

    list_of_two = certify(X, y, [0, 1])
    ax = list_of_two.plot(figsize="single")
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1)
    assert ax.patches[0].get_width() == pytest.approx(1 - list_of_two.gap)
    assert "reached by the list" in ax.figure.legends[0].get_texts()[0].get_text()
    plt.close("all")


def test_matplotlib_is_imported_only_to_draw():
    import subprocess

    code = "import sys, fewest; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
