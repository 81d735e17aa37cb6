"""
A panel of five genes
=====================

72 samples, 7129 genes (leukemia, Golub 1999). Which five genes, is there a better five, would other patients have given the same, and
what are they worth on patients not seen?
"""

import gzip
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, ExactSelector, SearchDisplay, SelectionPathDisplay, StabilityDisplay, evaluate

path = Path(os.environ.get("FEWEST_DATA", ".")) / "leukemia_golub.csv.gz"
if path.exists():
    with gzip.open(path, "rt") as file:
        data = pd.read_csv(file)
    X, y = data.iloc[:, :-1], data.iloc[:, -1]
else:
    values, y = make_classification(72, 7129, n_informative=20, n_redundant=20, class_sep=2.0, random_state=0)
    X = pd.DataFrame(values, columns=[f"gene{j}" for j in range(values.shape[1])])
Z = StandardScaler().set_output(transform="pandas").fit_transform(X)

# %%
# Five genes, at the cost that cross-validation chooses, with the proof
# ---------------------------------------------------------------------
# ``C="auto"`` tries 13 costs on inner folds and takes the smallest whose AUC is within one standard
# error of the best; the classifier on the five genes has a cost of its own. At a small cost all
# patients have a say, so that no single one decides, and the proof takes a moment.

panel = ExactSelector(n_features_to_select=5, C="auto", time_limit=60).fit(Z, y)
print(f"C = {panel.C_:.2g}, {panel.status_}: {', '.join(panel.get_feature_names_out())}")
print(f"objective {panel.objective_:.6g}; no five of the {Z.shape[1]} genes are below {panel.bound_:.6g}")

# %%
# How hard the search is depends on the cost, not on the number of genes. At a larger one it takes
# longer; here the gap closes at once.

harder = ExactSelector(n_features_to_select=5, C=0.03, time_limit=20).fit(Z, y)
print(f"C = 0.03, {harder.status_}, gap {harder.gap_:.2%}")
SearchDisplay.from_estimator(harder).plot()
plt.show()

# %%
# How far is elimination from it?
# -------------------------------

rfe = SVMRFE(n_features_to_select=5, C=panel.C_).fit(Z, y)
certificate = rfe.certify(Z, y)
above = certificate["objective"] / certificate["best_objective"] - 1
common = len(set(rfe.get_feature_names_out()) & set(panel.get_feature_names_out()))
print(f"elimination is {above:.2%} above the best five, and shares {common} genes with them")

# %%
# How many genes?
# ---------------
# The elimination is repeated inside every fold; the smallest size within one standard error of the
# best is chosen.

sizes = SVMRFE(step=0.2, step_of="remaining", C=0.01, cv=5, size_rule="one_se").fit(Z, y)
SelectionPathDisplay.from_estimator(sizes).plot()
plt.show()

# %%
# Would other patients have given the same panel?
# -----------------------------------------------
# Thirty random halves of the patients: how often each gene came back.

selector = ExactSelector(n_features_to_select=5, C=panel.C_, time_limit=5)
display = StabilityDisplay.from_estimator(selector, Z, y, n_splits=30, random_state=0)
display.plot(max_features=15)
plt.tight_layout()
plt.show()

# %%
# What is it worth?
# -----------------
# Scaling, both costs and the selection are inside the folds, so that no held-out patient has a say.

model = make_pipeline(StandardScaler(), ExactSelector(n_features_to_select=5, C="auto", time_limit=20))
found = evaluate(model, X, np.asarray(y), cv=5)
low, high = found.summary["accuracy"]["ci95"]
print(f"accuracy {found.summary['accuracy']['mean']:.3f} (95 % interval {low:.3f} to {high:.3f})")
print(f"stability of the five panels {found.stability['index']:.2f}")
