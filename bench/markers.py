"""Panels of genes for all types of cells: `fewest.markers` beside the selectors that single-cell work has, judged on cells that took no part.

    ../.cells/bin/python bench/markers.py [--sets wang7,pbmc68k --sizes 10,25,50 --peers]

Data          all sets of ../shared/data/cells with two types or more of six cells; counts become log1p of 10,000 a cell; genes of one value go.
Folds         three stratified ones; where donors, plates or conditions are named and each fold of them has all types, these stay together.
Judged        macro F1 of the cells held out by kNN (15), nearest centroid, and a linear SVM (C = 1, one against the rest) on the panel, each gene
              divided by its standard deviation in the cells learned from; the three means, and their mean.
Ours          `markers` with `gap=0.1, node_limit=1, time_limit=60`: cost chosen inside folds of the training cells, panel by `rfe` and `fgm`, the root
              of `exact` only where the bound leaves more than a tenth open.
Peers         ../shared/peers/cell_markers.py: scanpy's wilcoxon and t test (genes of each type in turn), cosg, SepSolve (LP), scGeneFit (centers),
              genecover (greedy), ANOVA, random forest. Python needs scanpy, anndata and these; `--peers` runs them.

Rows go to bench/results/markers.jsonl (stored rows are not run again), tables to bench/results/markers.md.
"""
import argparse
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, os.environ.get("FEWEST_PACKAGE", str(HERE.parent / "python")))

import anndata as ad
import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import LinearSVC

SHARED = HERE.parent.parent / "shared"
ROWS = HERE / "results" / "markers.jsonl"
PEERS = ["sk_anova", "scanpy_wilcoxon", "scanpy_t", "cosg", "sepsolve_lp", "sk_rf", "scgenefit_centers", "genecover_greedy"]
#: File, column of types, whether values are counts, matrix, column of groups.
SETS = {
    "wang7": ("wang7.h5ad", "cell_type", False, "X", None),
    "guo6": ("guo_qpcr.h5ad", "num_cells", False, "X", None),
    "tcga3": ("bulk_tcga_breast3.h5ad", "subtype", False, "X", None),
    "su4": ("bulk_su_tissue4.h5ad", "tissue", False, "X", None),
    "khan4": ("bulk_khan_srbct.h5ad", "tumour", False, "X", None),
    "xin4": ("xin4.h5ad", "cell_type", False, "X", None),
    "pbmc68k": ("pbmc68k_reduced.h5ad", "bulk_labels", False, "raw", None),
    "mixology5": ("mixology_celseq2_5cl.h5ad", "cell_line", True, "X", "plate"),
    "paul15": ("paul15_240.h5ad", "cell_type", True, "X", None),
    "starmap15": ("starmap_mpfc16.loom", "Clusters", True, "X", "BatchID"),
    "zilionis4": ("zilionis4.h5ad", "cell_type", False, "X", "animal"),
    "pbmc3k": ("pbmc3k.h5ad", "celltype", False, "X", None),
    "baron6": ("baron6.h5ad", "cell_type", True, "X", "donor"),
    "nci60": ("bulk_nci60.h5ad", "tumour", False, "X", None),
    "zeisel7": ("zeisel7.h5ad", "cell_type", True, "X", None),
    "bladder16": ("bladder16.h5ad", "cell_type", True, "X", None),
    "kidney11": ("kidney11.h5ad", "cell_type", True, "X", None),
    "cbmc13": ("cbmc_citeseq13.h5ad", "cell_type", True, "X", None),
    "ifnb13": ("ifnb13.h5ad", "cell_type", True, "X", "condition"),
}


def load(name):
    """(values, types, groups or None) of a set."""
    file, key, counts, layer, of_groups = SETS[name]
    path = SHARED / "data" / "cells" / file
    if file.endswith(".loom"):
        import h5py

        with h5py.File(path) as h:
            X = h["matrix"][:].T.astype(float)
            y = np.array([str(s.decode() if isinstance(s, bytes) else s) for s in h["col_attrs/" + key][:]])
            groups = np.array(h["col_attrs/" + of_groups][:]).ravel()
        known = y != "NA"
        X, y, groups = X[known], y[known], groups[known]
    else:
        a = ad.read_h5ad(path)
        b = a.raw.to_adata() if layer == "raw" else a
        X = (b.X.toarray() if sp.issparse(b.X) else np.asarray(b.X)).astype(float)
        y = a.obs[key].astype(str).values
        groups = a.obs[of_groups].astype(str).values if of_groups and of_groups in a.obs else None
    names, sizes = np.unique(y, return_counts=True)
    kept = np.isin(y, names[sizes >= 6])
    X, y, groups = X[kept], y[kept], None if groups is None else groups[kept]
    if counts:
        X = np.log1p(X / np.maximum(X.sum(1, keepdims=True), 1) * 1e4)
    return X[:, X.std(0) > 0], y, groups


def folds(X, y, groups, count=3):
    """(cells learned from, cells held out) of each fold."""
    if groups is not None and len(set(groups)) >= 2:
        found = []
        for train, test in StratifiedGroupKFold(min(count, len(set(groups)))).split(X, y, groups):
            found.append((train, test[np.isin(y[test], np.unique(y[train]))]))
        if all(len(set(y[train])) == len(set(y)) for train, _ in found):
            return found
    return list(StratifiedKFold(count, shuffle=True, random_state=0).split(X, y))


def judge(X, y, train, test, panel):
    """Macro F1 of kNN, nearest centroid, linear SVM."""
    A = X[:, panel]
    scale = A[train].std(0)
    scale[scale == 0] = 1
    A = (A - A[train].mean(0)) / scale
    there = np.unique(y[test])
    models = [KNeighborsClassifier(min(15, max(1, len(train) // 10))), NearestCentroid(), LinearSVC(C=1.0, dual=False, max_iter=3000)]
    return [f1_score(y[test], m.fit(A[train], y[train]).predict(A[test]), average="macro", labels=there) for m in models]


def ours(X, y, size, groups):
    """(panel, gap, chosen cost of a class)"""
    from fewest import markers

    inside = groups if groups is not None and len(set(groups)) >= 3 else None
    found = markers(X, y, size, gap=0.1, node_limit=1, time_limit=60, groups=inside, n_jobs=2)
    panel = found.result["panel"]
    return [marker["index"] for marker in panel["markers"]], found.gap, panel["class_cost"]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--sets", default=",".join(SETS))
    ask.add_argument("--sizes", default="10,25,50")
    ask.add_argument("--peers", action="store_true", help="run the peers, too")
    asked = ask.parse_args()
    done = {(r["set"], r["fold"], r["method"], r["n"]) for r in map(json.loads, open(ROWS))} if ROWS.exists() else set()
    peers = None
    if asked.peers:
        spec = importlib.util.spec_from_file_location("cell_markers", SHARED / "peers" / "cell_markers.py")
        peers = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(peers)
    for size in map(int, asked.sizes.split(",")):
        for name in asked.sets.split(","):
            X, y, groups = load(name)
            if size >= X.shape[1]:
                continue
            for at, (train, test) in enumerate(folds(X, y, groups)):
                for method in ["markers", *(PEERS if peers else [])]:
                    if (name, at, method, size) in done:
                        continue
                    start, row = time.time(), {"set": name, "fold": at, "method": method, "n": size}
                    try:
                        if method == "markers":
                            panel, gap, cost = ours(X[train], y[train], size, None if groups is None else groups[train])
                            row |= {"gap": gap, "class_cost": cost}
                        else:
                            panel = of_peer(peers, method, X[train], y[train], size)
                        row |= {"seconds": round(time.time() - start, 2), "score": judge(X, y, train, test, panel), "S": panel}
                    except Exception as error:
                        row |= {"error": f"{type(error).__name__}: {error}"[:150]}
                    with open(ROWS, "a") as out:
                        out.write(json.dumps(row) + "\n")
                    print(name, at, method, size, np.round(row.get("score", [np.nan]), 3), row.get("gap"), row.get("error", ""), flush=True)
    tables()


def of_peer(peers, method, X, y, size):
    """The panel of a peer."""
    import pandas as pd

    names = [f"f{j}" for j in range(X.shape[1])]
    obs = pd.DataFrame({"label": pd.Categorical(y)}, index=[str(i) for i in range(len(y))])
    a = ad.AnnData(sp.csr_matrix(X), obs=obs, var=pd.DataFrame(index=names))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return [int(gene[1:]) for gene in peers.METHODS[method](a, X, y, size)][:size]


def tables():
    """Means over folds by set, means and mean ranks over sets, as Markdown."""
    rows = [r for r in map(json.loads, open(ROWS)) if "score" in r]
    text = ["# Panels of genes for all types of cells", "", "`python bench/markers.py`; see there what is judged. Mean of macro F1 by kNN, centroid and linear SVM.", ""]
    for size in sorted({r["n"] for r in rows}):
        by = {}
        for r in rows:
            if r["n"] == size:
                by.setdefault(r["method"], {}).setdefault(r["set"], []).append(np.mean(r["score"]))
        sets = [s for s in SETS if len(by.get("markers", {}).get(s, [])) >= 2]
        if not sets:
            continue
        value = {m: np.array([np.mean(d[s]) if len(d.get(s, [])) >= 2 else np.nan for s in sets]) for m, d in by.items()}
        value = {m: v for m, v in value.items() if np.isfinite(v).mean() > 0.7}
        filled = {m: np.where(np.isnan(v), -1, v) for m, v in value.items()}
        rank = {m: np.mean([sum(o[i] > v[i] for o in filled.values()) + 1 + (sum(o[i] == v[i] for o in filled.values()) - 1) / 2 for i in range(len(sets))]) for m, v in filled.items()}
        gaps = {s: np.mean([r["gap"] for r in rows if r["n"] == size and r["set"] == s and r.get("gap") is not None]) for s in sets}
        near = 0
        for i, s in enumerate(sets):
            best = max((m for m in value if m != "markers"), key=lambda m: filled[m][i])
            own, other = np.array(by["markers"][s]), np.array(by[best].get(s, [np.nan]))
            error = own.std(ddof=1) / len(own) ** 0.5 if len(own) > 1 else 0.0
            near += own.mean() >= other.mean() - error
        text += [f"## {size} genes", "", f"Within one standard error of the best peer, or above, on {near} of {len(sets)} sets.", ""]
        text += ["| method | " + " | ".join(sets) + " | mean | mean rank |", "| --- |" + " --- |" * (len(sets) + 2)]
        for m in sorted(value, key=rank.get):
            cells = " | ".join("" if np.isnan(v) else f"{v:.3f}" for v in value[m])
            text.append(f"| {m} | {cells} | {np.nanmean(value[m]):.3f} | {rank[m]:.2f} |")
        text += ["| proven gap of the gain, % | " + " | ".join(f"{100 * gaps[s]:.2g}" for s in sets) + " | | |", ""]
    (HERE / "results" / "markers.md").write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
