"""
A panel of five genes
=====================

72 samples, 7129 genes (leukemia, Golub 1999). A heuristic finds a panel in a moment; how far is it from the best one, and would
another half of the patients have given the same panel?
"""

import gzip
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewest import SVMRFE, ExactSelector, SearchDisplay, SelectionPathDisplay, StabilityDisplay

path = Path(os.environ.get("FEWEST_DATA", ".")) / "leukemia_golub.csv.gz"
if path.exists():
    with gzip.open(path, "rt") as file:
        names = np.array(file.readline().strip().split(",")[:-1])
        rows = np.loadtxt(file, delimiter=",")
    X, y = rows[:, :-1], rows[:, -1]
else:
    X, y = make_classification(72, 7129, n_informative=20, n_redundant=20, class_sep=2.0, random_state=0)
    names = np.array([f"gene{j}" for j in range(X.shape[1])])

# %%
# Recursive elimination, scored by cross-validation
# -------------------------------------------------
# The whole elimination is repeated inside every fold, so that no held-out patient has a say in the
# panel.

X = StandardScaler().fit_transform(X)
path = SVMRFE(step=0.2, step_of="remaining", cv=5, size_rule="1se").fit(X, y)
SelectionPathDisplay.from_selector(path).plot()
plt.show()
print("chosen:", path.n_features_, "genes:", ", ".join(names[path.support_][:10]))

# %%
# Five genes, and a certificate
# -----------------------------
# Among the 200 genes that differ most between the classes, the best panel of five, and how far
# elimination is from it. Stopped after ten seconds, the search still says how far from the best its
# panel can be at most.

few = SelectKBest(k=200).fit(X, y)
names_few = names[few.get_support()]
heuristic = SVMRFE(n_features_to_select=5).fit(few.transform(X), y)
certificate = heuristic.certify(few.transform(X), y, time_limit=5)
print(f"elimination: objective {certificate['objective']:.4f}, no panel of five is below {certificate['bound']:.4f}")

best = ExactSelector(n_features_to_select=5, time_limit=10).fit(few.transform(X), y)
print(f"search: {best.status_}, objective {best.objective_:.4f}, gap {best.gap_:.1%}:", ", ".join(names_few[best.support_]))
SearchDisplay.from_selector(best).plot()
plt.show()

# %%
# How stable is the panel?
# ------------------------

display = StabilityDisplay.from_estimator(
    SVMRFE(n_features_to_select=5, step=0.5, step_of="remaining"), X, y, n_runs=30, random_state=0
)
display.names = names
display.plot(max_features=15)
plt.tight_layout()
plt.show()

# %%
# An honest accuracy
# ------------------
# The selection is part of the pipeline, so that it is repeated in every fold.

pipeline = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=5, step=0.5, step_of="remaining"))
print(f"cross-validated accuracy: {cross_val_score(pipeline, X, y, cv=5).mean():.3f}")
