"""Rules: what they accept, what they say of contradictions and typing errors, and searches over them."""

import itertools

import numpy as np
import pytest
from problems import problem
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from fewest import SVMRFE, AlignmentSelector, ExactSelector, InformationGain, Rules
from fewest.papers import BendersSelector, FlipSelector


def test_bad_rules_are_named():
    X, y = problem()
    with pytest.raises(ValueError, match="contradict|required and forbidden"):
        ExactSelector(rules=Rules(require=[1], forbid=[1])).fit(X, y)
    with pytest.raises(ValueError, match="x1 is both required and forbidden"):
        SVMRFE(rules=Rules(require=[1], forbid=[1])).fit(X, y)
    with pytest.raises(ValueError, match="leave one of them out"):
        SVMRFE(n_features_to_select=2, rules=Rules(max_features=3)).fit(X, y)
    with pytest.raises(ValueError, match="write \\['a'\\]"):
        SVMRFE(rules=Rules(require="a")).fit(X, y)
    with pytest.raises(ValueError, match="12 features"):
        SVMRFE(rules=Rules(budget=1, costs=[1.0, 2.0])).fit(X, y)
    with pytest.warns(UserWarning, match="12 features"):
        assert SVMRFE(n_features_to_select=50).fit(X, y).n_features_ == 12


def test_rules_without_a_size():
    X, y = problem(p=12)
    # A budget or a group bounds the size: what is found is what a size of all features finds.
    # Without them it is 5.
    budget, groups = {"budget": 7, "costs": np.ones(12)}, {"at_most": [(2, range(4))]}
    selectors = (ExactSelector(), BendersSelector(C=0.01), AlignmentSelector(gamma=1e-3), InformationGain(bins=4), SVMRFE())
    for selector, rules in itertools.product([*selectors, FlipSelector(cv=3)], (budget, groups)):
        free, all_features = (clone(selector).set_params(rules=r).fit(X, y) for r in (Rules(**rules), Rules(**rules, max_features=12)))
        assert (free.support_ == all_features.support_).all()
    assert ExactSelector(rules=Rules(**budget)).fit(X, y).n_features_ == 7
    assert ExactSelector(rules=Rules(**groups)).fit(X, y).n_features_ > 6
    for rules in (None, Rules(require=[3]), Rules(implies=[(0, 1)])):
        assert ExactSelector(rules=rules).fit(X, y).n_features_ == 5
    assert SVMRFE().fit(X, y).n_features_ == 6


def test_features_of_rules():
    X, y = problem(p=6)
    mask = np.array([False, True, False, False, True, False])
    selector = SVMRFE(rules=Rules(max_features=3, require=mask)).fit(X, y)
    assert selector.support_[[1, 4]].all()
    assert SVMRFE(rules=Rules(max_features=3, forbid=mask.tolist())).fit(X, y).support_[[1, 4]].sum() == 0
    wrong = {
        "mask of shape": Rules(require=mask[:4]),
        "2.9.*integer": Rules(require=[2.9]),
        "True.*integer": Rules(implies=[(True, 1)]),
        "max_features is -1": Rules(max_features=-1),
        "max_features is 2.5": Rules(max_features=2.5),
        "at_most takes pairs": Rules(at_most=[([0, 1], 1)]),
        "m in at_least is -1": Rules(at_least=[(-1, [0, 1])]),
        "implies takes pairs": Rules(implies=["ab"]),
        "6 features, counted from 0": Rules(forbid=[6]),
        "set_output": Rules(require=["age"]),
    }
    for message, rules in wrong.items():
        with pytest.raises(ValueError, match=message):
            SVMRFE(rules=rules).fit(X, y)


def test_patterns_mean_the_columns_that_fit():
    pd = pytest.importorskip("pandas")
    X, y = problem(p=6)
    X = pd.DataFrame(X, columns=["MT-1", "MT-2", "RPS3", "RPL4", "x*", "x1"])
    found = ExactSelector(n_features_to_select=6, rules=Rules(forbid=["MT-*", "/^RP[SL]/"], costs={"x?": 1, "*": 0}, budget=1)).fit(
        X, y
    )
    assert found.support_.sum() == 1 and found.support_[:4].sum() == 0
    # A name is itself.
    assert SVMRFE(rules=Rules(max_features=1, require=["x*"])).fit(X, y).support_[4]
    for pattern, why in [("HLA-*", "no column of X fits"), ("/(/", "regular expression"), ("mt-1", "did you mean 'MT-1'")]:
        with pytest.raises(ValueError, match=why):
            SVMRFE(rules=Rules(forbid=[pattern])).fit(X, y)


def test_rules_can_be_searched_and_compared():
    X, y = problem()
    selector = SVMRFE(rules=Rules(require=[1]))
    search = GridSearchCV(selector, {"rules__max_features": [1, 3]}, cv=3).fit(X, y)
    assert search.best_estimator_.n_features_ == search.best_params_["rules__max_features"]
    assert selector.rules == Rules(require=[1])
    assert Rules(costs=np.ones(3)) == Rules(costs=np.ones(3)) != Rules(costs=np.zeros(3))
    assert Rules(costs=np.ones(3)) != Rules(costs={0: 1.0})
    with pytest.raises(ValueError, match="no rule 'size'"):
        Rules().set_params(size=3)
