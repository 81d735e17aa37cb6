"""Data that many tests use."""

from sklearn.datasets import make_classification
from sklearn.preprocessing import scale


def problem(n=60, p=12, seed=0, classes=2):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return scale(X), y
