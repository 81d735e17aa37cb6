"""Inside scikit-learn's tools, and what comes with the package: docstrings and the command."""

import pickle
import re

import numpy as np
import pytest
from correspondence import HOME, PUBLIC
from problems import problem
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PeerSVC

from fewest import (
    SVMRFE,
    EvaluationRFE,
    InformationGain,
)


def test_groups_reach_the_splitter():
    X, y = problem(n=60)
    groups = np.arange(60) // 6
    with pytest.raises(ValueError, match="groups"):
        SVMRFE(cv=GroupKFold(3)).fit(X, y)
    selector = SVMRFE(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert len(selector.cv_results_["split0_test_score"]) == 12
    EvaluationRFE(cv=GroupKFold(3), Cs=(1.0,), candidates=1).fit(X, y, groups=groups)


def test_docstrings_are_complete():
    import inspect

    for name, estimator in PUBLIC.items():
        if hasattr(estimator, "get_params") and name not in ("Rules", "TrainedModel"):
            described = re.findall(r"^(\w+) : .*default=", estimator.__doc__.split("Attributes\n---")[0], re.MULTILINE)
            assert described == list(inspect.signature(estimator).parameters), name


def test_it_works_without_docstrings():
    import subprocess
    import sys

    subprocess.run([sys.executable, "-OO", "-c", "import fewest.datasets, fewest.papers"], check=True, cwd=HOME)


def test_inside_scikit_learn_s_tools(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = problem(n=80)
    pipeline = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=4))
    search = GridSearchCV(pipeline, {"svmrfe__C": [0.1, 1.0], "svmrfe__n_features_to_select": [2, 4]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.6
    scores = cross_validate(make_pipeline(InformationGain(n_features_to_select=4), PeerSVC()), X, y, cv=3)
    assert scores["test_score"].mean() > 0.6
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    both = ColumnTransformer([("few", SVMRFE(n_features_to_select=2), list(frame)[:6])], remainder="drop").fit(frame, y)
    assert len(both.get_feature_names_out()) == 2
    fitted = pipeline.fit(X, y)
    assert (pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(X)).all()
    import joblib

    joblib.dump(fitted, tmp_path / "fitted.joblib")
    assert (joblib.load(tmp_path / "fitted.joblib").predict(X) == fitted.predict(X)).all()


def test_weights_are_routed_through_a_pipeline():
    import sklearn

    X, y = problem()
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            SVMRFE(n_features_to_select=3).set_fit_request(sample_weight=True),
        )
        routed = pipeline.fit(X, y, sample_weight=weights)[-1]
    alone = SVMRFE(n_features_to_select=3).fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    assert (routed.ranking_ == alone.ranking_).all()


def test_the_command_comes_along():
    from fewest import _core

    assert _core.command(["fewest", "--version"]) == 0
    assert _core.command(["fewest", "select", "no-such-file.csv", "--method", "rfe", "--max-features", "2"]) == 2
