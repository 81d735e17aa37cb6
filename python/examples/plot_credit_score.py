"""
A credit score with costs and rules
===================================

Asking an applicant for a field costs something, some fields may not be used, and some only together with others. What does each unit of
budget buy?
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from fewest import ExactSelector, Rules

path = Path(os.environ.get("FEWEST_DATA", ".")) / "german-numeric.csv"
if path.exists():
    data = pd.read_csv(path)
    X, y = data.drop(columns="y"), data["y"]
else:
    values, y = make_classification(1000, 24, n_informative=8, flip_y=0.2, weights=[0.7], random_state=0)
    X = pd.DataFrame(values, columns=[f"x{j + 1}" for j in range(24)])
X = pd.DataFrame(StandardScaler().fit_transform(X), columns=X.columns)

# %%
# Costs and rules
# ---------------
# The first four fields are known anyhow; a field of the credit bureau (the next six) costs 3, any
# other 1. ``x9`` and ``x10`` come from one form: both or none. ``x13`` (age) may not be used.

costs = {name: 1.0 for name in X.columns}
costs |= {name: 0.0 for name in X.columns[:4]} | {name: 3.0 for name in X.columns[4:10]}
score = ExactSelector(
    C=0.01,
    rules=Rules(costs=costs, budget=8.0, max_features=7, together=[["x9", "x10"]], forbid=["x13"]),
    class_weight="balanced",
    gap=0.01,
    time_limit=20,
)
score.fit(X, y)
chosen = score.get_feature_names_out()
print(f"{score.status_}, gap {score.gap_:.2%}; {len(chosen)} fields for {sum(costs[name] for name in chosen):.0f}: {', '.join(chosen)}")

# %%
# What a budget buys
# ------------------
# The objective and the bound for several budgets: where the two meet, no other choice of fields is
# better.

budgets, objectives, bounds = [2, 4, 6, 8, 10], [], []
for budget in budgets:
    rules = Rules(costs=costs, budget=float(budget), max_features=7, together=[["x9", "x10"]], forbid=["x13"])
    fitted = ExactSelector(C=0.01, rules=rules, class_weight="balanced", gap=0.01, time_limit=10).fit(X, y)
    objectives.append(fitted.objective_)
    bounds.append(fitted.bound_)
_, ax = plt.subplots()
ax.fill_between(budgets, bounds, objectives, alpha=0.2, label="not known")
ax.plot(budgets, objectives, marker="o", label="best choice found")
ax.plot(budgets, bounds, linestyle=":", label="bound")
ax.set(xlabel="Budget", ylabel="Objective of the SVM", xticks=budgets)
ax.legend()
plt.show()

# %%
# The score itself is linear in the fields chosen.

weights = pd.Series(score.estimator_.coef_[0], index=chosen).sort_values(key=np.abs, ascending=False)
print(weights.to_string())
