"""Makes the HDF5 files beside it, with h5py alone but for newest.h5ad, which is of anndata 0.12: the forms of h5ad, 10x and loom, each some kB.

All hold the same table but for what their form cannot say: 6 cells, 4 genes, 3 types of cells, of
which one cell has none.

    pip install h5py anndata && python make.py
"""

import h5py
import numpy as np

CELLS = [f"cell{i}" for i in range(6)]
GENES = ["TP53", "Aβ", "MYC", "TP53"]
IDS = ["E1", "E2", "E3", "E4"]
X = np.array([[1, 0, 2.5, 0], [0, 0, 0, 3], [0, 7, 0, 0], [4, 0, 0, 0.25], [0, 0, 0, 0], [0, 5, 6, 0]])
TYPES, CODES = ["B", "T cell", "NK"], [0, 1, 0, 2, 1, -1]
TEXT = h5py.string_dtype()


def sparse(group, x, columns=False, index="i4", kind="f4", **form):
    slices = x.T if columns else x
    at = [np.flatnonzero(s) for s in slices]
    group["data"] = np.concatenate([s[a] for s, a in zip(slices, at)]).astype(kind)
    data = {"data": group["data"][:], "indices": np.concatenate(at).astype(index)}
    data["indptr"] = np.cumsum([0] + [len(a) for a in at]).astype(index)
    del group["data"]
    for key, values in data.items():
        group.create_dataset(key, data=values, **(form if key == "data" else {}))
    group.attrs["encoding-type"] = "csc_matrix" if columns else "csr_matrix"
    group.attrs["encoding-version"] = "0.1.0"
    group.attrs["shape"] = np.array(x.shape)


def frame(group, index, columns):
    group.attrs["encoding-type"], group.attrs["_index"] = "dataframe", "_index"
    group.attrs["column-order"] = np.array(columns, TEXT)
    group.create_dataset("_index", data=np.array(index, object), dtype=TEXT)


def obs(file, more):
    group = file.create_group("obs")
    frame(group, CELLS, ["cell_type", "depth", "ok", "batch"])
    kind = group.create_group("cell_type")
    kind.attrs["encoding-type"], kind.attrs["ordered"] = "categorical", False
    kind["codes"] = np.array(CODES, "i1")
    kind.create_dataset("categories", data=np.array(TYPES, object), dtype=TEXT)
    if not more:
        return
    group["depth"] = np.array([1.5, 2, np.nan, 4, 5, 0.1], "f4")
    group["ok"] = np.array([1, 0, 1, 1, 0, 1], bool)
    batch = group.create_group("batch")
    batch.attrs["encoding-type"] = "nullable-integer"
    batch["values"], batch["mask"] = np.array([1, 2, 1, 2, 1, 9]), np.array([0, 0, 0, 0, 0, 1], bool)


def h5ad(name, write, more=False, libver="earliest"):
    with h5py.File(name, "w", libver=libver) as file:
        file.attrs["encoding-type"] = "anndata"
        write(file)
        obs(file, more)
        frame(file.create_group("var"), ["TP53", "Aβ", "MYC", "GAPDH"], [])


def layers(file):
    file.create_dataset("X", data=X.astype("f4") - 1, chunks=(4, 3), compression="lzf", shuffle=True, fletcher32=True)
    sparse(file.create_group("layers/counts"), np.ceil(X), columns=True, kind="i8", index="i8")
    raw = file.create_group("raw")
    sparse(raw.create_group("X"), X)
    frame(raw.create_group("var"), ["a", "b", "c", "d"], [])


def old(name):
    """AnnData 0.5 to 0.6: tables are compounds, categories are in uns, the format in h5sparse."""
    with h5py.File(name, "w") as file:
        sparse(file.create_group("X"), X)
        for key in ("encoding-type", "encoding-version", "shape"):
            del file["X"].attrs[key]
        file["X"].attrs["h5sparse_format"], file["X"].attrs["h5sparse_shape"] = "csr", np.array(X.shape)
        rows = [(c.encode(), code, d) for c, code, d in zip(CELLS, CODES, [1.5, 2, 3, 4, 5, 0.1])]
        file["obs"] = np.array(rows, [("index", "S8"), ("cell_type", "i1"), ("depth", "f4")])
        file["var"] = np.array([(g.encode(),) for g in ("TP53", "Aβ", "MYC", "GAPDH")], [("index", "S8")])
        file["uns/cell_type_categories"] = np.array([t.encode() for t in TYPES], "S8")


def tenx(name, version):
    bytes_of = lambda texts: np.array([t.encode() for t in texts], "S18")
    with h5py.File(name, "w") as file:
        group = file.create_group("matrix" if version == 3 else "hg19")
        sparse(group, X, kind="i4", index="i8", compression="gzip", shuffle=True)
        for key in ("encoding-type", "encoding-version", "shape"):
            del group.attrs[key]
        group["shape"], group["barcodes"] = np.array(X.T.shape, "i4"), bytes_of(CELLS)
        if version == 3:
            group["features/id"], group["features/name"] = bytes_of(IDS), bytes_of(GENES)
            group["features/feature_type"] = bytes_of(["Gene Expression"] * 3 + ["Antibody Capture"])
        else:
            group["genes"], group["gene_names"] = bytes_of(IDS), bytes_of(GENES)


def loom(name):
    with h5py.File(name, "w") as file:
        file.create_dataset("matrix", data=X.T, chunks=(2, 4), compression="gzip", maxshape=(None, None))
        file.create_dataset("layers/spliced", data=2 * X.T.astype("f4"))
        file.create_dataset("row_attrs/Gene", data=np.array(GENES[:3] + ["GAPDH"], object), dtype=TEXT)
        file.create_dataset("col_attrs/CellID", data=np.array(CELLS, object), dtype=TEXT)
        texts = [TYPES[c] if c >= 0 else "NA" for c in CODES]
        file.create_dataset("col_attrs/cell_type", data=np.array(texts, object), dtype=TEXT)
        file["col_attrs/place"], file["col_attrs/depth"] = np.ones((6, 2)), np.arange(6.0).reshape(6, 1)


def gctx(name):
    with h5py.File(name, "w") as file:
        file.attrs["version"] = "GCTX1.0"
        file["0/DATA/0/matrix"] = X
        for kind, ids in (("ROW", ["TP53", "Abeta", "MYC", "GAPDH"]), ("COL", CELLS)):
            file[f"0/META/{kind}/id"] = np.array([i.encode() for i in ids], "S8")
        file["0/META/COL/cell_type"] = np.array([(TYPES + ["-666"])[c].encode() for c in CODES], "S8")


def newest(name):
    """Categories of pandas' text, a column with a slash, and what scanpy says of logarithms."""
    import anndata as ad
    import pandas as pd
    import scipy.sparse as sp

    kind = pd.Categorical.from_codes(CODES, pd.array(TYPES, "string"))
    obs = pd.DataFrame({"cell/type": kind, "cell_type": kind, "a/b/c": np.arange(6.0)}, index=CELLS)
    var = pd.DataFrame(index=["TP53", "Aβ", "MYC", "GAPDH"])
    ad.AnnData(sp.csr_array(X), obs, var, uns={"log1p": {"base": None}}, layers={"counts": X}).write_h5ad(name)
    # As anndata writes them with pandas 3.
    with ad.settings.override(allow_write_nullable_strings=True), h5py.File(name, "a") as file:
        del file["obs/cell_type/categories"]
        ad.io.write_elem(file["obs/cell_type"], "categories", pd.array(TYPES, "string"))


def main():
    form = {"compression": "gzip", "chunks": (3,)}
    h5ad("csr.h5ad", lambda file: sparse(file.create_group("X"), X, **form))
    h5ad("csc.h5ad", lambda file: sparse(file.create_group("X"), X, columns=True, kind="f8", index="i8"))
    h5ad("dense.h5ad", lambda file: file.create_dataset("X", data=X), more=True)
    h5ad("latest.h5ad", lambda file: sparse(file.create_group("X"), X, **form), more=True, libver="latest")
    h5ad("layers.h5ad", layers)
    old("old.h5ad")
    tenx("v2.h5", 2)
    tenx("v3.h5", 3)
    loom("tiny.loom")
    gctx("tiny.gctx")
    newest("newest.h5ad")


if __name__ == "__main__":
    main()
