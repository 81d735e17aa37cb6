"""
A panel of genes for all types of cells
=======================================

2,638 blood cells of eight types (PBMC 3k of 10x Genomics), 1,838 genes: which ten to order, what can take the place of a gene that
cannot be probed, what the panel is worth on cells not seen, and how it stands beside the list that most people make.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fewest import compare, markers, read_table

path = Path(os.environ.get("FEWEST_DATA", ".")) / "cells" / "pbmc3k.h5ad"
if path.exists():
    cells = read_table(path, target="celltype")
    X, types = pd.DataFrame(cells.X.toarray(), columns=cells.feature_names), np.asarray(cells.y)
else:
    rng = np.random.default_rng(0)
    types = np.repeat([f"type {kind}" for kind in range(8)], [300, 200, 200, 100, 100, 60, 40, 20])
    mean = pd.DataFrame(0.3, index=np.unique(types), columns=[f"gene{j}" for j in range(500)])
    for at, kind in enumerate(mean.index):
        mean.loc[kind, [f"gene{j}" for j in range(5 * at, 5 * at + 8)]] = [6.0, 5.0, 4.0, 4.0, 3.0, 3.0, 2.0, 2.0]
    X = np.log1p(pd.DataFrame(rng.poisson(mean.loc[types]), columns=mean.columns))
print(X.shape, pd.Series(types).value_counts().to_string(), sep="\n")

# %%
# Ten genes
# ---------
# Of all panels nearly as good as the best one, the one whose genes come back on halves of the cells. ``gap`` bounds what a better
# panel of ten could gain; macro F1 is of cells that took no part in the choice.

found = markers(X, types, 10, time_limit=60, node_limit=1, gap=0.05)
print(found)

# %%
# What to order
# -------------
# ``to_csv("panel.csv")`` writes the table that those who make the panel take: the type of each gene, what it is there for, and what
# can take its place at which price, as a share of what the panel gains.

print(found.to_csv())

# %%
# Each gene in each type
# ----------------------

means = found.table().pivot(index="gene", columns="type", values="mean").loc[found.genes]
picture = plt.imshow(means / means.max(axis=1).to_numpy()[:, None], cmap="Blues", aspect="auto")
plt.xticks(range(means.shape[1]), means.columns, rotation=90)
plt.yticks(range(means.shape[0]), means.index)
plt.colorbar(picture, label="mean over the largest of the row")
plt.tight_layout()
plt.show()

# %%
# Beside the usual list
# ---------------------
# Most take the genes that are highest in each type against all other cells. The same folds judge both lists; the difference has its
# interval. Both lists were made on these cells: other cells would judge them more strictly (:func:`fewest.compare`).

scaled = (X - X.mean()) / X.std().where(lambda spread: spread > 0, 1.0)
against = pd.DataFrame({kind: scaled[types == kind].mean() - scaled[types != kind].mean() for kind in found.classes})
ranked = [against[kind].sort_values(ascending=False).index for kind in found.classes]
usual = list(dict.fromkeys(gene for genes in zip(*ranked, strict=True) for gene in genes))[:10]
beside = compare(X, types, {"markers": found, "usual": usual})
print(beside)

# %%
# A panel that stands the loss of a probe
# ---------------------------------------

robust = markers(X, types, 20, robust=1, time_limit=60, node_limit=1, gap=0.05)
left = robust.result["without_one"]
print(f"macro F1 {robust.macro_f1['mean']:.3f}, {left['worst']['mean']:.3f} without the gene whose loss is worst")
