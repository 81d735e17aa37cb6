"""While a fit runs: limits, callbacks, Ctrl-C, threads, messages, and resuming from where one was stopped."""

import os
import re
import time
import warnings

import joblib
import pytest
from problems import ctrl_c, problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_validate

from fewest import SVMRFE, AlignmentSelector, EvaluationRFE, ExactSelector, MBPSelector, Progress
from fewest._engine import Listener, limits_of
from fewest.papers import BendersSelector


def test_one_thread_in_worker_processes():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    assert "threads" not in limits_of(SVMRFE(), None)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(limits_of, SVMRFE(), None).result()["threads"] == 1


def test_threads_are_those_that_joblib_is_told():
    with joblib.parallel_config(n_jobs=1):
        assert limits_of(SVMRFE(), None)["threads"] == 1
        assert limits_of(SVMRFE(n_jobs=3), None)["threads"] == 3
    for backend in ("threading", "loky"):
        in_workers = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(limits_of)(SVMRFE(), None) for _ in range(3))
        assert [limits["threads"] for limits in in_workers] == [1, 1, 1]
    assert limits_of(SVMRFE(n_jobs=-1), None)["threads"] == os.cpu_count()


def test_a_limit_is_a_warning_with_the_best_so_far():
    X, y = problem(n=200, p=60, seed=1)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        selector = ExactSelector(n_features_to_select=10, time_limit=0.2).fit(X, y)
    assert selector.status_ == "time_limit" and 0 < selector.n_features_ <= 10
    assert selector.bound_ is None or selector.bound_ < selector.objective_
    selector.predict(X)


def test_a_time_limit_is_shared_by_cross_validation_and_the_last_elimination(monkeypatch):
    from fewest import _core

    times = {}

    def spied(name, original):
        def spy(*arguments):
            times[name] = next(a["time"] for a in arguments if isinstance(a, dict) and "time" in a)
            return original(*arguments)

        return spy

    for name in ("rfe_paths", "select"):
        monkeypatch.setattr(_core, name, spied(name, getattr(_core, name)))
    SVMRFE(cv=4, time_limit=100).fit(*problem())
    assert times["rfe_paths"] == 80 < times["select"] < 100


def test_callbacks_see_and_stop():
    X, y = problem(n=100, p=30)
    seen = []

    def listen(progress):
        assert isinstance(progress, Progress)
        seen.append(progress)
        return progress.objective is not None and len(seen) > 5

    with pytest.warns(ConvergenceWarning, match="callback"):
        selector = ExactSelector(n_features_to_select=6, callback=listen).fit(X, y)
    assert selector.status_ == "cancelled" and selector.n_features_ > 0
    assert seen[-1].features is not None

    def broken(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        SVMRFE(callback=broken).fit(X, y)


def test_scikit_learn_s_callback_protocol():
    pytest.importorskip("sklearn.callback")
    X, y = problem(n=100, p=30)

    class Stop:
        begun = ended = 0
        scores = ()

        def setup(self, estimator, context):
            self.begun = self.ended = 0
            self.scores = []

        def teardown(self, estimator, context):
            self.torn_down = True

        def on_fit_task_begin(self, estimator, context):
            self.begun += 1

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.ended += 1
            if fitted_estimator is not None:
                self.scores.append(fitted_estimator.score(X, y))
            return self.ended >= 8

    stop = Stop()
    with pytest.warns(ConvergenceWarning, match="callback"):
        selector = ExactSelector(n_features_to_select=6).set_callbacks(stop).fit(X, y)
    # The task of the whole fit, and its steps.
    assert stop.begun == stop.ended >= 9 and stop.torn_down
    assert selector.status_ == "cancelled" and stop.scores and min(stop.scores) > 0.5
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    SVMRFE(n_features_to_select=3).set_callbacks(ProgressBar()).fit(X, y)


def test_ctrl_c_raises_or_keeps_the_best_so_far():
    X, y = problem(n=300, p=80, seed=2)
    selector = ExactSelector(n_features_to_select=15, gap=0.0, time_limit=60, on_interrupt="keep")
    begun = time.monotonic()
    with ctrl_c(0.5), pytest.warns(ConvergenceWarning, match="interrupted"):
        selector.fit(X, y)
    assert selector.status_ == "cancelled" and selector.n_features_ > 0
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        clone(selector).set_params(on_interrupt="raise").fit(X, y)
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        SVMRFE(n_features_to_select=15).fit(X, y).certify(X, y, time_limit=60)
    assert time.monotonic() - begun < 30


def test_ctrl_c_ends_a_cross_validation():
    X, y = problem(n=300, p=80, seed=2)
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        cross_validate(ExactSelector(n_features_to_select=15, gap=0.0, time_limit=20), X, y, cv=3, error_score="raise")


def test_lines_of_progress_come_while_the_engine_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr("fewest._engine.BETWEEN_LINES", 0.4)
    X, y = problem(n=300, p=60, seed=2)
    with pytest.warns(ConvergenceWarning):
        ExactSelector(n_features_to_select=15, gap=0.0, time_limit=2.5, verbose=1).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[ExactSelector] ")]
    assert 3 <= len(lines) <= 8
    assert lines[0].startswith("[ExactSelector] 0 s of at most 2.5 s")
    assert re.search(r", \d+ steps, 15 features, objective [\d.e-]+, bound [\d.e-]+, gap [\d.]+%, at most \d s left$", lines[-1])
    time.sleep(0.6)
    assert capsys.readouterr().out == ""


def test_a_line_of_progress_says_the_share_done_and_the_time_left(monkeypatch):
    estimator = ExactSelector(time_limit=None)
    estimator.callback = None
    listener = Listener(estimator, None)
    clock = [listener.begun]
    monkeypatch.setattr("fewest._engine.monotonic", lambda: clock[0])
    listener({"event": "step", "done": 0, "total": 40, "elapsed": 0.0})
    clock[0] += 10
    listener({"event": "step", "done": 10, "total": 40, "elapsed": 10.0})
    assert listener._text() == "10 s, 10 of 40 steps, 25 % done, about 30 s left"
    # All steps done, the proof goes on.
    listener({"event": "step", "done": 40, "total": 40, "elapsed": 10.0})
    assert listener._text() == "10 s, 40 of 40 steps"
    estimator.time_limit = 60
    assert listener._text().startswith("10 s of at most 60 s, ")


def test_verbose_and_logging(capsys, caplog):
    X, y = problem()
    with caplog.at_level("DEBUG", logger="fewest"):
        ExactSelector(n_features_to_select=3, verbose=1).fit(X, y)
    assert "[ExactSelector]" in capsys.readouterr().out
    assert any("incumbent" in record.message for record in caplog.records)


def test_threads_do_not_matter():
    X, y = problem(n=150, p=20)
    for selector in (ExactSelector(n_features_to_select=4), SVMRFE(cv=3), EvaluationRFE(Cs=(0.5, 2.0), cv=3)):
        one, two = (clone(selector).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
        assert (one.ranking_ == two.ranking_).all() and one.objective_ == two.objective_


@pytest.mark.parametrize(
    "selector",
    [
        ExactSelector(n_features_to_select=5, n_solutions=2),
        AlignmentSelector(n_features_to_select=4),
        BendersSelector(n_features_to_select=2, C=0.3),
        MBPSelector(feature_penalty=0.3, weight_bound=3.0),
        SVMRFE(n_features_to_select=3),
        SVMRFE(n_features_to_select=3, kernel="rbf"),
        EvaluationRFE(Cs=[0.1, 1.0], cv=3),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_fit_that_was_stopped_goes_on_to_the_same_answer(selector, tmp_path):
    X, y = problem(n=60, p=16)
    whole = clone(selector).fit(X, y)
    steps = 0

    def stop(progress):
        nonlocal steps
        steps += progress.event == "step"
        return steps > 3

    # The path of a string and of a path are one.
    stopped = clone(selector).set_params(resume=str(tmp_path / "state"), resume_every=0.0, callback=stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped.fit(X, y)
    resumed = clone(selector).set_params(resume=tmp_path / "state")
    resumed.fit(X, y)
    assert resumed.status_ == whole.status_
    assert resumed.support_.tolist() == whole.support_.tolist()
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    with pytest.raises(ValueError, match="other data"):
        resumed.fit(X + 1.0, y)
    with pytest.raises(ValueError, match="resume.*whose (rules|gamma) was"):
        clone(resumed).set_params(n_features_to_select=1).fit(X, y)
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:-1])
    with pytest.raises(ValueError, match="damaged"):
        clone(resumed).fit(X, y)
    with pytest.raises(ValueError, match="resume"):
        clone(resumed).set_params(resume=tmp_path / "no" / "folder").fit(X, y)
