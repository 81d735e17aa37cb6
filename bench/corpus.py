"""A corpus of two-class sets to choose defaults on, in two halves: one to tune on, one that is opened once.

    corpus.py [--folder FOLDER]    writes the sets (default: bench/.cache/corpus) and results/corpus.md

Real sets are those of the shared data, pairs of types of cells and tissues, and what scikit-learn bundles; the others are generated, of a kind and with a
known truth. A set has at most 500 samples (drawn by class), so that hours are enough for all of it. The half of a set follows from its kind and its
source alone, before anything was run on it: within a kind the sources are ordered by the SHA-256 of their names, and every second one is of the half "second".
Sets of one source share samples or a laboratory, and stay together; of two that are the same measurements one is left out.
"""

import argparse
import gzip
import hashlib
import json
import pathlib

import benefit
import common as c
import numpy as np
from scipy import sparse

FOLDER = c.CACHE / "corpus"
MOST = 500
CLINICAL = [
    "german-numeric", "hepatitis", "ionosphere", "parkinsons", "pima-indians-diabetes", "soybean-small", "spambase", "wdbc", "wpbc", "zoo", "epsilon_5k_100",
    "madelon_train",
]
EXPRESSION = [
    "arcene", "breast_gravier", "breast_west_er", "breast_west_nodal", "cns_pomeroy", "dlbcl_shipp", "glioma_4434", "huntington_borovecki",
    "leukemia_golub", "ovarian_1536",
]
SPARSE = ["a9a", "w8a", "rcv1_small_train", "farm_ads", "dorothea_train"]
# file: (column of the types, whether values are counts). Of each the two largest types, and the third and fourth.
CELLS = {
    "baron6": ("cell_type", True), "bladder16": ("cell_type", True), "bulk_khan_srbct": ("tumour", False), "bulk_su_tissue4": ("tissue", False),
    "bulk_tcga_breast3": ("subtype", False), "cbmc_citeseq13": ("cell_type", True), "ifnb13": ("cell_type", True), "kidney11": ("cell_type", True),
    "mixology_celseq2_5cl": ("cell_line", True), "paul15_240": ("cell_type", True), "pbmc3k": ("celltype", False), "wang7": ("cell_type", False),
    "xin4": ("cell_type", False), "zeisel7": ("cell_type", True),
}
# Types that are easy to tell apart say nothing: only these have a second pair.
TWO_PAIRS = ("bulk_khan_srbct", "cbmc_citeseq13", "ifnb13", "kidney11", "paul15_240", "zeisel7")


def drawn(X, y, dice):
    """At most MOST samples, of each class its share."""
    if len(y) <= MOST:
        return X, y
    rows = np.concatenate([dice.permutation(np.flatnonzero(y == of))[: max(10, round(MOST * np.mean(y == of)))] for of in (-1, 1)])
    rows.sort()
    return X[rows], y[rows]


def svmlight(name):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(c.DATA / f"{name}.svm.gz"))
    y = np.where(y > 0, 1, -1)
    return (X.toarray() if X.nnz > 0.5 * X.shape[0] * X.shape[1] else X.tocsr()), y


def pairs(name, column, counts):
    """(name, X, y) of pairs of types: logarithms of counts of 10,000 a cell, the 2,000 features of largest variance, which no label says."""
    import h5py

    with h5py.File(c.DATA / "cells" / f"{name}.h5ad") as file:
        X = file["X"]
        if isinstance(X, h5py.Group):
            form = sparse.csr_matrix if X.attrs["encoding-type"] == "csr_matrix" else sparse.csc_matrix
            X = form((X["data"][:], X["indices"][:], X["indptr"][:]), shape=tuple(X.attrs["shape"])).toarray()
        else:
            X = X[:]
        of = file["obs"][column]
        codes = of["codes"][:] if isinstance(of, h5py.Group) else np.unique(of[:], return_inverse=True)[1]
    X = X.astype(float)
    if counts:
        X = np.log1p(X * (1e4 / np.maximum(X.sum(axis=1), 1))[:, None])
    keep = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:2000])
    X = np.round(X[:, keep], 6)
    types, sizes = np.unique(codes[codes >= 0], return_counts=True)
    order = types[np.argsort(-sizes, kind="stable")]
    for a, b in [(0, 1), (2, 3)][: 1 + (name in TWO_PAIRS)]:
        rows = np.flatnonzero((codes == order[a]) | (codes == order[b]))
        yield f"{name}_{a + 1}{b + 1}", X[rows], np.where(codes[rows] == order[b], 1, -1)


def bundled():
    from sklearn import datasets

    digits, wine = datasets.load_digits(), datasets.load_wine()
    for a, b in [(3, 8), (1, 7), (4, 9)]:
        rows = np.isin(digits.target, (a, b))
        yield f"digits_{a}{b}", digits.data[rows], np.where(digits.target[rows] == b, 1, -1)
    rows = wine.target < 2
    yield "wine_12", wine.data[rows], np.where(wine.target[rows] == 1, 1, -1)


def blocks(dice, n, p, size, rho):
    """Normal features in blocks of `size` that correlate by rho."""
    common = np.repeat(dice.standard_normal((n, -(-p // size))), size, axis=1)[:, :p]
    return np.sqrt(rho) * common + np.sqrt(1 - rho) * dice.standard_normal((n, p))


def by(score, dice, share=0.5, noise=0.0):
    """Labels: the `share` of largest score is +1, a part `noise` of all is exchanged."""
    y = np.where(score > np.quantile(score, 1 - share), 1, -1)
    return np.where(dice.random(len(y)) < noise, -y, y)


def linear(n, p, k, *, share=0.5, noise=0.0, error=1.0, rho=0.0, size=10, tails=None, far=False):
    """The first features of the first k blocks say the class."""

    def make(dice):
        X = blocks(dice, n, p, size, rho) if rho else dice.standard_normal((n, p)) if tails is None else dice.standard_t(tails, (n, p))
        step = size if rho and k * size <= p else 1
        truth = list(range(0, k * step, step))
        weights = dice.choice([-1.0, 1.0], k) * (1 if k < p else dice.exponential(1, k))
        y = by(X[:, truth] @ weights + error * np.sqrt(k) * 0.5 * dice.standard_normal(n), dice, share, noise)
        if far:
            X = X * np.exp(dice.uniform(-9, 9, p)) + dice.uniform(-1e3, 1e3, p)
        return X, y, truth

    return make


def xor(n, p):
    def make(dice):
        X = dice.standard_normal((n, p))
        return X, np.where(X[:, 0] * X[:, 1] + 0.2 * dice.standard_normal(n) > 0, 1, -1), [0, 1]

    return make


def ring(n, p):
    def make(dice):
        X = dice.standard_normal((n, p))
        return X, by((X[:, :3] ** 2).sum(axis=1) + 0.3 * dice.standard_normal(n), dice), [0, 1, 2]

    return make


def mixed(n, p):
    """Two kinds of the positive class, each with features of its own."""

    def make(dice):
        X, y = dice.standard_normal((n, p)), np.where(dice.random(n) < 0.4, 1, -1)
        kind = dice.random(n) < 0.5
        X[np.ix_((y > 0) & kind, range(4))] += 1.2
        X[np.ix_((y > 0) & ~kind, range(4, 8))] += 1.2
        return X, y, list(range(8))

    return make


def binary(n, p, k):
    def make(dice):
        X = (dice.random((n, p)) < dice.uniform(0.05, 0.5, p)).astype(float)
        return X, by(X[:, :k] @ dice.uniform(1, 2, k) + 0.5 * dice.standard_normal(n), dice, 0.4), list(range(k))

    return make


def counts(n, p, k):
    """Counts of genes, of which k are twice as high in one class."""

    def make(dice):
        y, mean = np.where(dice.random(n) < 0.3, 1, -1), dice.lognormal(0, 1, p)
        rate = mean * np.where((y > 0)[:, None] & (np.arange(p) < k), 2.0, 1.0) * dice.lognormal(0, 0.3, n)[:, None]
        return np.round(np.log1p(dice.poisson(rate)), 6), y, list(range(k))

    return make


def copies(n, p, k):
    """Each feature of the truth has four near copies."""

    def make(dice):
        X = dice.standard_normal((n, p))
        for j in range(k):
            X[:, k + 4 * j : k + 4 * j + 4] = X[:, [j]] + 0.2 * dice.standard_normal((n, 4))
        return X, by(X[:, :k].sum(axis=1) + 0.7 * dice.standard_normal(n), dice), list(range(k))

    return make


def nothing(n, p):
    def make(dice):
        return dice.standard_normal((n, p)), np.where(dice.random(n) < 0.5, 1, -1), []

    return make


GENERATED = {
    "sparse": linear(150, 50, 5), "sparse_wide": linear(80, 2000, 5), "sparse_easy": linear(100, 500, 3, error=0.3), "sparse_hard": linear(200, 200, 10, error=2.0),
    "dense": linear(200, 30, 30), "dense_wide": linear(120, 300, 300), "blocks": linear(150, 100, 5, rho=0.9), "blocks_wide": linear(80, 2000, 5, rho=0.8, size=20),
    "one_factor": linear(200, 40, 4, rho=0.5, size=40), "few_positives": linear(300, 60, 4, share=0.08), "few_positives_wide": linear(150, 1000, 5, share=0.15),
    "noise_labels": linear(200, 60, 5, noise=0.15), "noise_labels_wide": linear(120, 800, 5, noise=0.1), "heavy_tails": linear(200, 60, 5, tails=2),
    "units_apart": linear(150, 40, 5, far=True), "xor": xor(250, 12), "ring": ring(250, 15), "mixed": mixed(250, 60), "binary": binary(250, 80, 6),
    "counts": counts(150, 800, 10), "copies": copies(150, 60, 4), "nothing": nothing(120, 100),
}


def source(name, kind):
    """Which measurements a set comes from."""
    return {"cells": lambda: name.rpartition("_")[0], "bundled": lambda: name.partition("_")[0]}.get(kind, lambda: name.replace("_nodal", "_er"))()


def sets():
    """(name, kind, X, y, truth or None) of each set that can be read here."""
    for name in CLINICAL:
        yield name, "clinical", *benefit.data(name)[1:3], None
    for name in EXPRESSION:
        yield name, "expression", *benefit.data(name)[1:3], None
    for name in SPARSE:
        yield name, "sparse", *svmlight(name), None
    for name, (column, whole) in CELLS.items():
        for pair, X, y in pairs(name, column, whole):
            yield pair, "cells", X, y, None
    for name, X, y in bundled():
        yield name, "bundled", X, y, None
    for name, make in GENERATED.items():
        yield name, "generated", *make(np.random.default_rng(int(digest(name)[:12], 16)))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def halves(rows):
    """Sets which half each set is of."""
    for kind in {row["kind"] for row in rows}:
        of_kind = [row for row in rows if row["kind"] == kind]
        ordered = sorted({source(row["name"], kind) for row in of_kind}, key=digest)
        for row in of_kind:
            row["half"] = ("first", "second")[ordered.index(source(row["name"], kind)) % 2]


def write(folder, name, X, y):
    """The file of a set; svmlight where it is sparse."""
    if sparse.issparse(X):
        lines = (f"{y[i]} " + " ".join(f"{j + 1}:{x!r}" for j, x in zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)) for i in range(len(y)))
        path, text = folder / f"{name}.svm.gz", "\n".join(lines) + "\n"
    else:
        lines = (",".join(map(repr, row)) + f",{label}" for row, label in zip(X.tolist(), y.tolist(), strict=True))
        path, text = folder / f"{name}.csv.gz", ",".join(f"x{j + 1}" for j in range(X.shape[1])) + ",y\n" + "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode(), 6, mtime=0))
    return path


def options(doc):
    """The options of a script that judges on a half."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["first", "second"], required=True)
    parser.add_argument("--sets", nargs="*", help="a part of the sets")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--report", action="store_true", help="write the results of what is known, run nothing")
    return parser


def of_half(folder, half, names=None):
    """The sets of a half, as sets.json has them; those of these names alone, if there are some."""
    return [one for one in json.loads((folder / "sets.json").read_text()) if one["half"] == half and (names is None or one["name"] in names)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    folder = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, kind, X, y, truth in sets():
        X, y = drawn(X, y, np.random.default_rng(int(digest(name)[:12], 16) + 1))
        path = write(folder, name, X, y)
        row = {"name": name, "kind": kind, "samples": len(y), "features": X.shape[1], "positive": int((y > 0).sum()), "file": path.name}
        rows.append(row | {"truth": truth, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    halves(rows)
    (folder / "sets.json").write_text(json.dumps(rows, indent=1) + "\n")
    report(rows)


def report(rows):
    halves_of = {half: sum(row["half"] == half for row in rows) for half in ("first", "second")}
    text = ["# The corpus that defaults are chosen on", "", "    python3 bench/corpus.py", ""]
    text += [f"{len(rows)} two-class sets, {halves_of['first']} of the first half (to tune on) and {halves_of['second']} of the second (opened once)."]
    text += ["The halves follow from kinds and sources alone; bench/corpus.py says how, and the digests of the files are in sets.json beside them.", ""]
    text += ["| set | kind | half | samples | of them + | features |", "| --- | --- | --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda row: (row["kind"], row["name"])):
        cells = [row[key] for key in ("name", "kind", "half", "samples", "positive", "features")]
        text.append("| " + " | ".join(map(str, cells)) + " |")
    (c.RESULTS / "corpus.md").write_text("\n".join(text) + "\n")
    print(f"{len(rows)} sets, {halves_of}")


if __name__ == "__main__":
    main()
