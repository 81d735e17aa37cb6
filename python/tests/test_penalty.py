"""``feature_penalty="auto"``: the number found, inside folds, and where it is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from fewest import SVC, ExactSelector, MBPSelector, Rules, certify, verify
from fewest.papers import BendersSelector


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def gains(X, y, C=1.0):
    """Half the squared weights of the SVM on all features, the largest first."""
    weights = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y).coef_[0]
    return np.sort(weights**2 / 2)[::-1]


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_price_is_the_gain_of_the_last_feature(data, C):
    X, y = data
    own = ExactSelector(n_features_to_select=3, feature_penalty="auto", C=C, tol=1e-9).fit(X, y)
    assert own.feature_penalty_ == pytest.approx(gains(X, y, C)[2], rel=1e-4)
    given = ExactSelector(n_features_to_select=3, feature_penalty=own.feature_penalty_, C=C, tol=1e-9).fit(X, y)
    assert given.feature_penalty_ is None
    assert given.objective_ == pytest.approx(own.objective_, rel=1e-9)
    assert (given.support_ == own.support_).all()
    # A size may be a rule, and the cuts of Benders solve the same problem.
    cuts = BendersSelector(rules=Rules(max_features=3), feature_penalty="auto", C=C, tol=1e-9).fit(X, y)
    assert cuts.feature_penalty_ == own.feature_penalty_
    assert cuts.objective_ == pytest.approx(own.objective_, rel=2e-4)
    sizes = ExactSelector(feature_penalty="auto", C=C, tol=1e-9).path(X, y, [1, 3])
    assert [size.feature_penalty_ for size in sizes] == pytest.approx(list(gains(X, y, C)[[0, 2]]), rel=1e-4)


def test_a_proof_is_of_the_number(data, tmp_path):
    X, y = data
    own = ExactSelector(n_features_to_select=3, feature_penalty="auto", C=0.1, proof=tmp_path / "x.proof").fit(X, y)
    asked = {"n_features_to_select": 3, "C": 0.1, "feature_penalty": own.feature_penalty_}
    assert verify(own.proof_, X, y, **asked).verified
    with pytest.raises(ValueError, match="feature_penalty is 'auto', but a proof is of numbers"):
        verify(own.proof_, X, y, feature_penalty="auto")


def test_what_has_no_price_to_find_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="feature_penalty is auto, but must be a number, or come with n_features_to_select"):
        ExactSelector(feature_penalty="auto").fit(X, y)
    with pytest.raises(ValueError, match="feature_penalty is 'auto', but certify takes numbers"):
        certify(X, y, [0, 1], feature_penalty="auto")
    for selector in (MBPSelector(feature_penalty="auto"), ExactSelector(feature_penalty="automatic")):
        with pytest.raises(ValueError, match="feature_penalty"):
            selector.fit(X, y)
