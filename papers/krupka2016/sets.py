"""The data sets of `run.py`: at most 200 samples and 60 features of public data (GENES: 500 to 2000), every feature scaled to the range 0 to 1.

Samples (stratified) and features are drawn at random with a fixed seed where there are more; labels play no part in which features.
Classes with fewer than 4 samples after that are left out. The range makes the thesis's variance thresholds mean the same everywhere.
"""
import csv
import gzip

import numpy as np

SAMPLES, FEATURES, LEAST = 200, 60, 4


def table(path, target, drop=(), header=True, delimiter=","):
    """Values and labels of a text file; `target` and `drop` are column numbers. Rows with a `?` are left out."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        if delimiter:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
        else:
            rows = [line.split() for line in file if line.strip()]
    rows = [row for row in rows[header:] if "?" not in row]
    target %= len(rows[0])
    kept = [j for j in range(len(rows[0])) if j != target and j not in drop]
    return np.array([[float(row[j]) for j in kept] for row in rows]), np.array([row[target] for row in rows])


def bundled(name):
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y.astype(str)


def with_noise(X, y, count):
    """Adds so many standard normal features."""
    return np.hstack([X, np.random.default_rng(7).standard_normal((len(X), count))]), y


def sources(data):
    """Name of each set, and how it is read; those that take longest last."""
    plain = lambda name: lambda: table(data / name, -1)
    return {
        "zoo": lambda: table(data / "zoo.data", -1, drop=(0,), header=False),
        "soybean-small": lambda: table(data / "soybean-small.data", -1, header=False),
        "wine": lambda: bundled("wine"),
        "wine+noise": lambda: with_noise(*bundled("wine"), 30),
        "wdbc": plain("wdbc.csv"),
        "leukemia": plain("leukemia_5327.csv.gz"),
        "dlbcl": plain("dlbcl_5469.csv.gz"),
        "glioma": plain("glioma_4434.csv.gz"),
        "cns": plain("cns_pomeroy.csv.gz"),
        "ionosphere": plain("ionosphere.csv"),
        "parkinsons": plain("parkinsons.csv"),
        "hepatitis": plain("hepatitis.csv"),
        "gravier": plain("breast_gravier.csv.gz"),
        "wpbc": plain("wpbc.csv"),
        "german": plain("german-numeric.csv"),
        "spambase": plain("spambase.csv"),
        "madelon": plain("madelon_train.csv.gz"),
        "digits": lambda: bundled("digits"),
        "breast-er": plain("breast_west_er.csv.gz"),
    }


# Sets with more features than samples, the thesis's regime: name, file, features kept.
GENES = {
    "leukemia-500": ("leukemia", 500),
    "cns-500": ("cns", 500),
    "glioma-500": ("glioma", 500),
    "dlbcl-1000": ("dlbcl", 1000),
    "breast-er-2000": ("breast-er", 2000),
}


def prepared(make, features=FEATURES):
    """Values between 0 and 1, and labels."""
    X, y = make()
    rng = np.random.default_rng(0)
    if len(X) > SAMPLES:
        order = rng.permutation(len(X))
        share = SAMPLES / len(X)
        rows = np.sort(np.concatenate([(of := order[y[order] == c])[: round(share * len(of))] for c in np.unique(y)]))
        X, y = X[rows], y[rows]
    names, counts = np.unique(y, return_counts=True)
    rows = np.isin(y, names[counts >= LEAST])
    X, y = X[rows], y[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    if X.shape[1] > features:
        X = X[:, np.sort(rng.permutation(X.shape[1])[:features])]
    low = X.min(axis=0)
    return (X - low) / (X.max(axis=0) - low), y
