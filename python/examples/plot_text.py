"""
Words out of a million
======================

A text set: a row for each document, a column for each word, few of them in any document. The feature generating machine
picks a few hundred columns, and proves how good its relaxation is.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from fewest import FeatureGeneratingMachine, SearchDisplay

# %%
# Documents
# ---------
# 5000 documents of some 200 words each out of 200 000; forty words lean towards one class.

rng = np.random.default_rng(0)
n, p = 5000, 200_000
y = rng.integers(0, 2, n)
common = np.minimum((p * rng.random((n, 200)) ** 3).astype(np.int64), p - 1)
telling = rng.choice(p, 40, replace=False)
for word in range(40):
    leaning = rng.random(n) < np.where(y == word % 2, 0.25, 0.05)
    common[leaning, word] = telling[word]
rows = np.repeat(np.arange(n), 200)
X = sp.csr_matrix((np.ones(n * 200), (rows, common.ravel())), shape=(n, p))
X.sum_duplicates()
X.data[:] = 1 / np.sqrt(200)
train, test = slice(0, 4000), slice(4000, n)

# %%
# Forty words at a time
# ---------------------

start = time.perf_counter()
machine = FeatureGeneratingMachine(subset_size=40, C=20.0).fit(X[train], y[train])
seconds = time.perf_counter() - start
print(f"{seconds:.2f} s, {machine.n_iter_} rounds, {machine.n_features_} words, gap {machine.gap_:.1e}, status {machine.status_}")
print(f"accuracy on unseen documents: {machine.score(X[test], y[test]):.3f}")
print(f"{len(set(np.flatnonzero(machine.support_)) & set(telling))} of the 40 telling words are among them")

# %%
# Value of the mixture and bound, round by round
# ----------------------------------------------

SearchDisplay.from_selector(machine).plot()
plt.show()
