"""
A border that is not linear
===========================

The class is the side of a circle in two of 30 features. Neither says anything by its sign, so that a linear selector is blind; the
kernel alignment finds both, and proves that no other pair agrees better with the classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import cross_val_score

from fewest import SVC, SVMRFE, AlignmentSelector, ExactSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 30))
y = (X[:, 3] ** 2 + X[:, 17] ** 2 + 0.3 * rng.normal(size=300) > 1.4).astype(int)

# %%
# Who finds features 3 and 17?
# ----------------------------

selectors = [
    ExactSelector(n_features_to_select=2, C=0.01),
    SVMRFE(kernel="rbf", n_features_to_select=2),
    AlignmentSelector(n_features_to_select=2),
]
for selector in selectors:
    accuracy = cross_val_score(selector, X, y, cv=5).mean()
    chosen = selector.fit(X, y).get_support(indices=True)
    print(f"{type(selector).__name__:18} {chosen}  accuracy {accuracy:.2f}, {selector.status_}")
print(f"SVC, all 30        accuracy {cross_val_score(SVC(kernel='rbf'), X, y, cv=5).mean():.2f}")

# %%
# The border on the two features
# ------------------------------

chosen = selectors[-1].get_support(indices=True)
classifier = SVC(kernel="rbf").fit(X[:, chosen], y)
display = DecisionBoundaryDisplay.from_estimator(classifier, X[:, chosen], response_method="predict", alpha=0.3)
display.ax_.scatter(*X[:, chosen].T, c=y, edgecolor="k", s=20)
display.ax_.set(xlabel=f"feature {chosen[0]}", ylabel=f"feature {chosen[1]}")
plt.show()
