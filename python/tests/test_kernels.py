"""Kernels of distances: Laplace, and features that hold categories."""

import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewest
from fewest import SVC, SVMRFE, AlignmentSelector, export_model

CATEGORIES = [0, 2]


def problem(n=90, seed=0):
    """Three columns of codes (two of them categories) and three of numbers; one code turns the sign of a number over."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, :3] = random.integers(0, 4, size=(n, 3))
    return X, (np.isin(X[:, 0], [0, 3]) ^ (X[:, 4] > 0)).astype(int)


def values(A, B, gamma, kernel, categories):
    apart = np.abs(A[:, None] - B[None])
    apart = apart if kernel == "laplace" else apart**2
    apart[:, :, categories] = (A[:, None] != B[None])[:, :, categories]
    return np.exp(-gamma * apart.sum(axis=2))


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
@pytest.mark.parametrize("categories", [[], CATEGORIES, [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("sparse", [False, True])
def test_svc_is_that_of_the_kernels_values(kernel, categories, sparse):
    X, y = problem()
    given = sp.csr_matrix(X) if sparse else X
    ours = SVC(kernel=kernel, gamma=0.4, categorical_features=categories).fit(given, y)
    K = values(X, X, 0.4, kernel, categories)
    peer = SVC(kernel="precomputed").fit(K, y)
    assert ours.objective_ == pytest.approx(peer.objective_, rel=1e-10)
    np.testing.assert_allclose(ours.decision_function(given), peer.decision_function(K), atol=1e-6)
    new = problem(40, seed=1)[0]
    expected = values(new, X[ours.support_], 0.4, kernel, categories) @ ours.dual_coef_.ravel() + ours.intercept_
    np.testing.assert_allclose(ours.decision_function(sp.csr_matrix(new) if sparse else new), expected, atol=1e-9)


def test_rules_for_gamma():
    X, y = problem()
    numbers = [j for j in range(6) if j not in CATEGORIES]
    pairs = np.triu_indices(len(X), 1)
    for kernel, unit in (("rbf", X[:, numbers].var()), ("laplace", X[:, numbers].std())):
        scale = SVC(kernel=kernel, categorical_features=CATEGORIES).fit(X, y)
        assert scale._gamma == pytest.approx(1 / (6 * unit))
        sigest = AlignmentSelector(kernel=kernel, categorical_features=CATEGORIES, n_features_to_select=3).fit(X, y)
        median = np.median(-np.log(values(X, X, 1.0, kernel, CATEGORIES))[pairs])
        assert sigest.gamma_ == pytest.approx(1 / (3 / 6 * median))


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
def test_the_best_subset_is_that_of_enumeration_and_its_classifier_has_the_kernel(kernel, tmp_path):
    X, y = problem()
    proof = tmp_path / "x.proof"
    selector = AlignmentSelector(n_features_to_select=2, kernel=kernel, categorical_features=CATEGORIES, gap=0.0, proof=proof).fit(X, y)
    psi = np.where(y == 1, 1 / (y == 1).sum(), -1 / (y == 0).sum())

    def alignment(subset):
        own = [at for at, j in enumerate(subset) if j in CATEGORIES]
        return psi @ values(X[:, subset], X[:, subset], selector.gamma_, kernel, own) @ psi

    best = max(alignment(list(subset)) for k in (1, 2) for subset in combinations(range(6), k))
    assert selector.objective_ == pytest.approx(best, rel=1e-12)
    assert selector.get_support(indices=True).tolist() == [0, 4]
    assert selector.estimator_.kernel == kernel
    assert selector.estimator_.categorical_features == [0]
    assert selector.score(X, y) > 0.9
    verdict = fewest.verify(proof, X, y)
    assert verdict.verified
    assert verdict.objective == pytest.approx(best)
    # Categories by mask and by name are the same; on a path, too.
    frame = pd.DataFrame(X, columns=list("abcdef"))
    settings = {"n_features_to_select": 2, "kernel": kernel}
    for given in ("ac", np.isin(range(6), CATEGORIES)):
        same = AlignmentSelector(**settings, categorical_features=list(given)).fit(frame, y)
        assert same.objective_ == pytest.approx(best, rel=1e-4)
    path = AlignmentSelector(kernel=kernel, categorical_features=CATEGORIES).path(X, y, [1, 2])
    assert path[1].estimator_.categorical_features == [0]
    assert path[1].objective_ == pytest.approx(best, rel=1e-4)


def test_a_resumed_search_is_one_of_the_same_kernel(tmp_path):
    X, y = problem()
    of = {"n_features_to_select": 2, "gamma": 0.4, "resume": tmp_path / "state"}
    AlignmentSelector(**of, kernel="laplace", categorical_features=CATEGORIES).fit(X, y)
    for other in ({"kernel": "rbf", "categorical_features": CATEGORIES}, {"kernel": "laplace", "categorical_features": [1]}):
        with pytest.raises(ValueError, match="kernel|categorical"):
            AlignmentSelector(**of, **other).fit(X, y)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_command_predicts_by_an_exported_model(scaled, tmp_path):
    X, y = problem()
    selector = AlignmentSelector(n_features_to_select=3, kernel="laplace", categorical_features=CATEGORIES)
    model = make_pipeline(StandardScaler(), selector) if scaled else selector
    model.fit(X, y)
    export_model(model, tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["model"]["categorical"] == ["x1"]
    new, labels = problem(30, seed=2)
    table = pd.DataFrame(new, columns=[f"x{j + 1}" for j in range(6)]).assign(y=labels)
    table.to_csv(tmp_path / "new.csv", index=False)
    code = "import sys; from fewest import _core; sys.exit(_core.command(['fewest', *sys.argv[1:]]))"
    words = ["predict", str(tmp_path / "m.json"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "p.csv")]
    subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert (predicted.iloc[:, 0].to_numpy() == model.predict(new)).all()


def test_what_has_no_distances_is_refused_by_name():
    X, y = problem()
    with pytest.raises(ValueError, match=r"categorical_features needs the kernel 'rbf' or 'laplace'.*'poly'"):
        SVC(kernel="poly", categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="categorical_features names feature 6"):
        AlignmentSelector(categorical_features=[6]).fit(X, y)
    with pytest.raises(ValueError, match="'kernel' parameter of AlignmentSelector"):
        AlignmentSelector(kernel="poly").fit(X, y)


def test_elimination_with_the_laplace_kernel():
    X, y = problem()
    selector = SVMRFE(kernel="laplace", n_features_to_select=2, gamma="scale").fit(X, y)
    assert selector.estimator_.kernel == "laplace"
    assert selector.n_features_ == 2
