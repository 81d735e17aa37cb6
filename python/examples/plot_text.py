"""
Words out of a million
======================

A row for each document, a column for each word, few of them in any document. The feature generating machine picks some hundreds of a
million columns, and says how far from the best its relaxation can be.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from fewest import FeatureGeneratingMachine, L1SVMSelector, SearchDisplay
from fewest.datasets import make_text

# %%
# Documents
# ---------
# Word frequencies as in language; 200 words lean towards one class or the other.

settings = {"n_samples": 5000, "n_features": 1_000_000, "return_truth": True}
X, y, telling, _ = make_text(**settings)
unseen, truth, _, _ = make_text(**settings, part="test")
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz} counts")

# %%
# A hundred words at a time
# -------------------------

models = {
    "feature generating machine": FeatureGeneratingMachine(subset_size=100),
    "L1 penalty": L1SVMSelector(C=0.1, loss="squared_hinge"),
}
for name, selector in models.items():
    model = make_pipeline(MaxAbsScaler(), selector)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    right = len(set(np.flatnonzero(selector.support_)) & set(telling))
    print(f"{name}: {seconds:.2f} s, {selector.n_features_} words, {right} of the 200 among them,")
    print(f"    accuracy on other documents {model.score(unseen, truth):.3f}")

# %%
# On these documents the L1 penalty is faster and a little more accurate; how many words it keeps is
# known afterwards only. ``n_features_to_select=`` of either is a promise.

# %%
# Value of the mixture and bound, round by round
# ----------------------------------------------

machine = models["feature generating machine"]
print(f"{machine.n_iter_} rounds, gap {machine.gap_:.1e}")
SearchDisplay.from_estimator(machine).plot()
plt.show()
