"""Panels of genes for all types of cells: `fewest.markers` beside the selectors that single-cell work has, judged on cells that took no part.

    ../.cells/bin/python bench/markers.py [--sets wang7,pbmc68k --sizes 10,25,50,150 --peers]

Data          all sets of ../shared/data/cells with two types or more of six cells; counts become log1p of 10,000 a cell; genes of one value go.
Folds         three stratified ones; where donors, plates or conditions are named and each fold of them has all types, these stay together.
Judged        macro F1 of the cells held out by kNN (15), nearest centroid, and a linear SVM (C = 1, one against the rest) on the panel, each gene
              divided by its standard deviation in the cells learned from; the three means, and their mean.
Stability     mean Jaccard index of the panels of each two folds; folds share half of the cells that they learn from, or two thirds of the donors.
Ours          `markers` with `gap=0.1, node_limit=1`: panel by `rfe` and `fgm`, the root of `exact` only where the bound leaves more than a tenth open,
              then exchanges by what comes back on halves (slack 1 %). `markers_best` is without them (slack 0).
Peers         ../shared/peers/cell_markers.py: scanpy's wilcoxon and t test (genes of each type in turn), cosg, SepSolve (LP), scGeneFit (centers),
              genecover (greedy), ANOVA, random forest. Python needs scanpy, anndata and these; `--peers` runs them.

Clusters      `--clusters`: `fewest.compare` of the panels of the first fold, all methods, on the cells that it held out: neighbours of a cell's type, NMI and
              ARI of Leiden clusters by the panel alone, mean recall of rare types. Rows go to bench/results/markers_clusters.jsonl.

Halves        `--halves`: 25 genes from each of five random halves of all cells, as in the notebooks of SepSolve; stability is the mean Jaccard index of each
              two. Rows go to bench/results/markers_halves.jsonl.

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
# numba, which scanpy brings, asks for `coverage`: not for the script of this folder.
sys.path = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]
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
HALVES = HERE / "results" / "markers_halves.jsonl"
CLUSTERS = HERE / "results" / "markers_clusters.jsonl"
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


#: The settings of each row of ours.
OURS = {"markers": {}, "markers_best": {"slack": 0.0}}


def ours(X, y, size, groups, settings):
    """(panel, gap, macro F1 that it says of itself)"""
    from fewest import markers

    inside = groups if groups is not None and len(set(groups)) >= 3 else None
    found = markers(X, y, size, gap=0.1, node_limit=1, groups=inside, n_jobs=2, **settings)
    return [marker["index"] for marker in found.result["panel"]["markers"]], found.gap, found.macro_f1 and found.macro_f1["mean"]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--sets", default=",".join(SETS))
    ask.add_argument("--sizes", default="10,25,50,150")
    ask.add_argument("--ours", default="markers", help="rows of ours, of " + ", ".join(OURS))
    ask.add_argument("--peers", action="store_true", help="run the peers, too")
    ask.add_argument("--halves", action="store_true", help="panels of 25 genes from five random halves, of --sets, and run nothing else")
    ask.add_argument("--clusters", action="store_true", help="compare the panels that are there by clusters, and run nothing else")
    asked = ask.parse_args()
    if asked.clusters:
        clusters(list(map(int, asked.sizes.split(","))), asked.sets.split(","))
        return tables()
    done = {(r["set"], r["fold"], r["method"], r["n"]) for r in map(json.loads, open(ROWS))} if ROWS.exists() else set()
    peers = None
    if asked.peers or asked.halves:
        spec = importlib.util.spec_from_file_location("cell_markers", SHARED / "peers" / "cell_markers.py")
        peers = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(peers)
    if asked.halves:
        halves(asked.sets.split(","), peers)
        return tables()
    for size in map(int, asked.sizes.split(",")):
        for name in asked.sets.split(","):
            X, y, groups = load(name)
            if size >= X.shape[1]:
                continue
            for at, (train, test) in enumerate(folds(X, y, groups)):
                for method in [*filter(None, asked.ours.split(",")), *(PEERS if peers else [])]:
                    if (name, at, method, size) in done:
                        continue
                    start, row = time.time(), {"set": name, "fold": at, "method": method, "n": size}
                    try:
                        if method in OURS:
                            panel, gap, said = ours(X[train], y[train], size, None if groups is None else groups[train], OURS[method])
                            row |= {"gap": gap, "said": said}
                        else:
                            panel = of_peer(peers, method, X[train], y[train], size)
                        row |= {"seconds": round(time.time() - start, 2), "score": judge(X, y, train, test, panel), "S": panel}
                    except Exception as error:
                        row |= {"error": f"{type(error).__name__}: {error}"[:150]}
                    with open(ROWS, "a") as out:
                        out.write(json.dumps(row) + "\n")
                    print(name, at, method, size, np.round(row.get("score", [np.nan]), 3), row.get("gap"), row.get("error", ""), flush=True)
    tables()


def clusters(sizes, sets):
    """Rows of neighbours, NMI, ARI and recall of rare types of the stored panels."""
    from fewest import compare

    rows = [r for r in map(json.loads, open(ROWS)) if "S" in r and r["fold"] == 0]
    done = {(r["set"], r["n"]) for r in map(json.loads, open(CLUSTERS))} if CLUSTERS.exists() else set()
    for size in sizes:
        for name in sets:
            panels = {r["method"]: r["S"] for r in rows if r["set"] == name and r["n"] == size and r["method"] in ["markers", *PEERS]}
            if (name, size) in done or len(panels) < 2:
                continue
            X, y, groups = load(name)
            test = folds(X, y, groups)[0][1]
            kept = test[np.isin(y[test], [c for c, n in zip(*np.unique(y[test], return_counts=True)) if n >= 2])]
            names = [str(j) for j in range(X.shape[1])]
            import pandas as pd

            lists = {method: [str(j) for j in panel] for method, panel in panels.items()}
            found = compare(pd.DataFrame(X[kept], columns=names), y[kept], lists, gap=0.99, cv=2)
            with open(CLUSTERS, "a") as out:
                for of in found.result["lists"]:
                    rare = (of["rare_recall"] or {}).get("mean")
                    out.write(json.dumps({"set": name, "n": size, "method": of["name"], "rare": rare, **(of["clusters"] or {})}) + "\n")
            print(name, size, len(panels), flush=True)


def halves(sets, peers):
    """Rows of panels of 25 genes from five random halves."""
    done = {(r["set"], r["method"]) for r in map(json.loads, open(HALVES))} if HALVES.exists() else set()
    for name in sets:
        X, y, _ = load(name)
        drawn = [np.random.default_rng(seed).permutation(len(y))[: len(y) // 2] for seed in range(5)]
        for method in ["markers", *PEERS]:
            if (name, method) in done:
                continue
            panels = [
                ours(X[half], y[half], 25, None, {})[0] if method == "markers" else of_peer(peers, method, X[half], y[half], 25) for half in drawn
            ]
            with open(HALVES, "a") as out:
                out.write(json.dumps({"set": name, "method": method, "stability": jaccard(panels), "S": panels}) + "\n")
            print(name, method, round(jaccard(panels), 3), flush=True)


def of_peer(peers, method, X, y, size):
    """The panel of a peer."""
    import pandas as pd

    names = [f"f{j}" for j in range(X.shape[1])]
    obs = pd.DataFrame({"label": pd.Categorical(y)}, index=[str(i) for i in range(len(y))])
    a = ad.AnnData(sp.csr_matrix(X), obs=obs, var=pd.DataFrame(index=names))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return [int(gene[1:]) for gene in peers.METHODS[method](a, X, y, size)][:size]


#: Studentised range over sqrt 2 at 5 %, by the number of methods (Demsar, 2006).
CRITICAL = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164, 11: 3.219, 12: 3.268}


def ranks(by, sets):
    """Mean rank of each method, the largest value the first; a set without a value is the last."""
    filled = {m: np.array([v.get(s, -1.0) for s in sets]) for m, v in by.items()}
    of = lambda v, i: sum(o[i] > v[i] for o in filled.values()) + (sum(o[i] == v[i] for o in filled.values()) + 1) / 2
    return {m: float(np.mean([of(v, i) for i in range(len(sets))])) for m, v in filled.items()}


def jaccard(panels):
    """Mean over each two panels of what they share over what they hold together."""
    sets = [set(panel) for panel in panels]
    pairs = [(a, b) for at, a in enumerate(sets) for b in sets[at + 1 :]]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))


def tables():
    """Macro F1, stability, gap and seconds by size, as Markdown."""
    rows = [r for r in map(json.loads, open(ROWS)) if "score" in r]
    text = ["# Panels of genes for all types of cells", "", "`python bench/markers.py`; see there what is judged. Mean of macro F1 by kNN, centroid and linear SVM; stability: mean Jaccard index of the", "panels of each two folds. Ranks: 1 is the best; methods whose mean ranks differ by less than the critical difference (Nemenyi, 5 %) are not told apart.", "Neighbours, NMI, ARI and recall of rare types are of the cells that the first fold held out, by the panel alone (`--clusters`).", ""]
    for size in sorted({r["n"] for r in rows}):
        folds = {}
        for r in rows:
            if r["n"] == size:
                folds.setdefault(r["method"], {}).setdefault(r["set"], []).append(r)
        sets = [s for s in SETS if len(folds.get("markers", {}).get(s, [])) >= 2]
        if not sets:
            continue
        folds = {m: {s: d[s] for s in sets if len(d.get(s, [])) >= 2} for m, d in folds.items()}
        folds = {m: d for m, d in folds.items() if len(d) > 0.7 * len(sets)}
        f1 = {m: {s: float(np.mean([np.mean(r["score"]) for r in d[s]])) for s in d} for m, d in folds.items()}
        same = {m: {s: jaccard([r["S"] for r in d[s]]) for s in d} for m, d in folds.items()}
        seconds = {m: float(np.median([r["seconds"] for s in d for r in d[s]])) for m, d in folds.items()}
        by_f1, by_same = ranks(f1, sets), ranks(same, sets)
        k = len(folds)
        difference = CRITICAL[k] * (k * (k + 1) / (6 * len(sets))) ** 0.5 if k in CRITICAL else float("nan")
        near = 0
        for s in sets:
            best = max((m for m in f1 if m not in OURS), key=lambda m: f1[m].get(s, -1.0), default=None)
            own = np.array([np.mean(r["score"]) for r in folds["markers"][s]])
            near += best is None or own.mean() >= f1[best].get(s, -1.0) - own.std(ddof=1) / len(own) ** 0.5
        text += [f"## {size} genes", "", f"{len(sets)} sets; within one standard error of the best peer in F1, or above, on {near}. Critical difference of mean ranks {difference:.2f}.", ""]
        text += ["| method | mean F1 | rank | stability | rank | median s | neighbours | NMI | ARI | rare |", "| --- |" + " --- |" * 9]
        there = [r for r in map(json.loads, open(CLUSTERS)) if r["n"] == size] if CLUSTERS.exists() else []
        for m in sorted(f1, key=by_f1.get):
            mean = lambda v: float(np.mean(list(v[m].values())))
            of = lambda key: [r[key] for r in there if r["method"] == m and r.get(key) is not None]
            said = " | ".join(f"{np.mean(of(key)):.3f}" if of(key) else "" for key in ("neighbours", "nmi", "ari", "rare"))
            text.append(f"| {m} | {mean(f1):.3f} | {by_f1[m]:.2f} | {mean(same):.3f} | {by_same[m]:.2f} | {seconds[m]:.1f} | {said} |")
        text += ["", "| F1 | " + " | ".join(sets) + " |", "| --- |" + " --- |" * len(sets)]
        for m in sorted(f1, key=by_f1.get):
            text.append(f"| {m} | " + " | ".join(f"{f1[m][s]:.3f}" if s in f1[m] else "" for s in sets) + " |")
        gaps = {s: [r["gap"] for r in folds["markers"][s] if r.get("gap") is not None] for s in sets}
        text.append("| stability of markers | " + " | ".join(f"{same['markers'][s]:.2f}" for s in sets) + " |")
        text += ["| proven gap of the gain, % | " + " | ".join(f"{100 * np.mean(gaps[s]):.2g}" if gaps[s] else "" for s in sets) + " |", ""]
    if HALVES.exists():
        there = list(map(json.loads, open(HALVES)))
        sets = [s for s in SETS if any(r["set"] == s for r in there)]
        text += ["## 25 genes from five random halves of the cells", "", "| stability | " + " | ".join(sets) + " |", "| --- |" + " --- |" * len(sets)]
        for m in ["markers", *PEERS]:
            value = {r["set"]: r["stability"] for r in there if r["method"] == m}
            text.append(f"| {m} | " + " | ".join(f"{value[s]:.3f}" if s in value else "" for s in sets) + " |")
        text.append("")
    (HERE / "results" / "markers.md").write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
