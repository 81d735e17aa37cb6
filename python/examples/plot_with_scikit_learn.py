"""
Inside scikit-learn's tools
===========================

A selector is a transformer and a classifier, so that it goes wherever one of them does: beside other features in a ``FeatureUnion``,
into ``cross_validate`` with sample weights, under a search that halves.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, ExactSelector, LinearSVC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
sklearn.set_config(transform_output="pandas")

# %%
# Five features, and three directions of the others
# -------------------------------------------------

union = FeatureUnion([("chosen", ExactSelector(n_features_to_select=5, C=0.01)), ("directions", PCA(3))])
model = make_pipeline(StandardScaler(), union, LinearSVC(C=0.1)).fit(X, y)
print(*model[-1].feature_names_in_, sep=", ")

# %%
# Scores in which some samples count more
# ---------------------------------------
# With metadata routing the weights reach the scaler, the selector and the score, inside every fold.

weights = np.where(y == 0, 2.0, 1.0)
with sklearn.config_context(enable_metadata_routing=True):
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    selector = SVMRFE(n_features_to_select=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scores = cross_validate(make_pipeline(scaler, selector), X, y, params={"sample_weight": weights}, cv=5)
print(f"weighted accuracy {scores['test_score'].mean():.3f}")

# %%
# A search that halves
# --------------------
# Sizes and costs are tried on few samples first, and the better third on three times as many.

grid = {"exactselector__n_features_to_select": [1, 2, 3, 5], "exactselector__C": [0.003, 0.03, 0.3]}
search = HalvingGridSearchCV(make_pipeline(StandardScaler(), ExactSelector(time_limit=5)), grid, cv=5, random_state=0).fit(X, y)
print(search.best_params_)
print(f"{search.n_iterations_} rounds with {search.n_resources_} samples; cross-validated accuracy {search.best_score_:.3f}")

# %%
# The search says which sizes did well.

results = search.cv_results_
plt.scatter(results["param_exactselector__n_features_to_select"], results["mean_test_score"], c=results["iter"], cmap="viridis")
plt.colorbar(label="Round")
plt.xlabel("Number of features")
plt.ylabel("Cross-validated accuracy")
plt.show()
