"""Matrices as `fewest` reads them, for check_proof.py: h5ad and 10x (h5py), npz (NumPy), and mtx.

Numbers become doubles, those of half and single precision exactly; sparse matrices stay sparse.
"""

import math
import os

from proof_table import USUAL, Column, Table, able, text_of, unique


def library(name):
    """A library that only these files need."""
    try:
        return __import__(name)
    except ImportError:
        able(False, f"this file needs {name}: pip install {name}")


def reader_of(path):
    plain = path.lower()
    if os.path.isdir(path) or plain.removesuffix(".gz").endswith(".mtx"):
        return mtx
    for endings, reader in (((".h5ad", ".h5"), hdf5), ((".npz",), npz)):
        if plain.endswith(endings):
            return reader
    return None


def text(value):
    """A value as text: numbers in shortest form, "" for what is missing."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return "True" if value else "False"
    if type(value).__name__.startswith(("float", "half")):
        # NumPy has the shortest text of a number of single precision.
        return str(value) if math.isfinite(value) else ""
    return str(int(value))


def texts_of(array):
    """A column of texts; None where the array is none of one dimension."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    return None if array.ndim != 1 or array.dtype.kind not in "biufSUO" else [text(value) for value in array]


def dense(array):
    able(array.ndim == 2 and array.dtype.kind in "biuf", "the matrix is none of numbers")
    return [Column(column) for column in array.T.astype("f8").tolist()]


def compressed(n, p, values, index, start, by_rows):
    """Columns of a compressed matrix: zeros are left out, then values at one place added in the order of the file."""
    values, index, start = values.astype("f8").tolist(), index.tolist(), start.tolist()
    slices = n if by_rows else p
    able(len(start) == slices + 1 and start[0] == 0 and start[-1] == len(values) == len(index), "a sparse matrix is damaged")
    columns = [Column([], []) for _ in range(p)]
    for major in range(slices):
        found = {}
        for at in range(start[major], start[major + 1]):
            able(0 <= index[at] < (p if by_rows else n), "an index of a sparse matrix is too large")
            if values[at] != 0:
                found[index[at]] = found[index[at]] + values[at] if index[at] in found else values[at]
        for minor in sorted(found):
            i, j = (major, minor) if by_rows else (minor, major)
            columns[j].rows.append(i)
            columns[j].values.append(found[minor])
    return columns


def described(table, how, usual):
    """Finds the target of a matrix: the one asked for, else a usual name."""
    table.target = how.get("target")
    if table.target is None:
        there = [name for one in USUAL for name in usual if name.lower() == one]
        table.target = there[0] if there else None
    able(table.target or how["optional"], "the proof names no target, and no column of samples has a usual name")
    if how.get("id"):
        table.samples = table.texts(how["id"])
    able(not any(math.isinf(x) for column in table.columns for x in column.values), "a value is infinite")
    able(len(set(table.names)) == len(table.names), "two features have one name")
    return table


def numbered(p):
    return [f"x{j + 1}" for j in range(p)]


def npz(path, how):
    with library("numpy").load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    if "X" in arrays:
        (n, p), columns = arrays["X"].shape, dense(arrays["X"])
    else:
        able({"data", "indices", "indptr", "shape", "format"} <= set(arrays), "the archive has no matrix")
        (n, p), form = map(int, arrays["shape"]), text(arrays["format"].reshape(-1)[0])
        able(form in ("csr", "csc"), f"a sparse matrix of the form {form!r} is not read")
        columns = compressed(n, p, arrays["data"], arrays["indices"], arrays["indptr"], form == "csr")
    names = texts_of(arrays["names"]) if "names" in arrays else numbered(p)
    able(len(names) == p, "there are other names than features")

    def column(name):
        found = texts_of(arrays[name]) if name in arrays else None
        return found if found is not None and len(found) == n else None

    def of_target(name):
        # The array `y` may have another name in results.
        named = text(arrays["target_name"].reshape(-1)[0]) if "target_name" in arrays else "y"
        return column("y" if name == named and column(name) is None else name)

    return described(Table(n, columns, names, of_target), how, ["y"] if "y" in arrays else [])


def hdf5(path, how):
    h5py = library("h5py")
    library("numpy")
    with h5py.File(path, "r") as file:
        return described(*(tenx if "matrix" in file else h5ad)(file, how))


def strings(values):
    """A dataset as texts; None where it is none of one dimension."""
    kind, found = values.dtype, values[()]
    if kind.metadata and "enum" in kind.metadata:
        names = {value: name for name, value in kind.metadata["enum"].items()}
        if sorted(map(str.upper, names.values())) == ["FALSE", "TRUE"]:
            names = {value: name.capitalize() for value, name in names.items()}
        return [names.get(value, text(value)) for value in found.tolist()]
    return texts_of(found)


def frame(file, path):
    """The index of a table of AnnData, and a function of its columns as texts."""
    able(path in file, f"there is no table {path}")
    group = file[path]
    if not hasattr(group, "keys"):
        return records(file, group)

    def coded(codes, names):
        names = names if isinstance(names, list) else masked(names) if hasattr(names, "keys") else strings(names)
        codes = [int(code) for code in strings(codes)]
        able(all(code < len(names) for code in codes), "a code of a column has no category")
        return ["" if code < 0 else names[code] for code in codes]

    def masked(values):
        lacks = strings(values["mask"])
        return ["" if lack in ("True", "1") else x for x, lack in zip(strings(values["values"]), lacks)]

    def column(name):
        if name not in group or name == "__categories":
            return None
        found = group[name]
        if not hasattr(found, "keys"):
            old = group.get("__categories")
            return coded(found, old[name]) if old is not None and name in old else strings(found)
        if "codes" in found and "categories" in found:
            return coded(found["codes"], found["categories"])
        return masked(found) if "values" in found and "mask" in found else None

    index = group.attrs.get("_index") or next((name for name in group if name in ("_index", "index")), None)
    index = text(index) if index is not None else None
    return index, column, [name for name in group if name != index]


def records(file, table):
    """The same of an old table, an array of records, whose categories are in `uns`."""
    able(table.dtype.names, f"{table.name} is no table")
    values, names = table[()], list(table.dtype.names)

    def column(name):
        if name not in names:
            return None
        texts, categories = texts_of(values[name]), file.get(f"uns/{name}_categories")
        if values[name].dtype.kind in "iu" and categories is not None:
            categories = strings(categories)
            return ["" if int(code) < 0 else categories[int(code)] for code in texts]
        return texts

    index = next((name for name in names if name in ("_index", "index")), None)
    return index, column, [name for name in names if name != index]


def h5ad(file, how):
    layer = how.get("layer") or "X"
    raw = layer in ("raw", "raw/X", "raw.X")
    place = ("raw/X" if "raw/X" in file else "raw.X") if raw else "X" if layer == "X" else f"layers/{layer.removeprefix('layers/')}"
    able(place in file, f"there is no matrix {layer}")
    matrix, (index, column, others) = file[place], frame(file, "obs")
    genes, gene, _ = frame(file, f"{place.removesuffix('X')}var" if raw else "var")
    samples, names = column(index) if index else None, gene(genes) if genes else None
    if hasattr(matrix, "keys"):
        form = text(matrix.attrs.get("encoding-type", matrix.attrs.get("h5sparse_format", "")))
        n, p = (int(side) for side in matrix.attrs.get("shape", matrix.attrs.get("h5sparse_shape", ())))
        able(form.removesuffix("_matrix") in ("csr", "csc"), f"a matrix of the form {form!r} is not read")
        columns = compressed(n, p, matrix["data"][()], matrix["indices"][()], matrix["indptr"][()], form.startswith("csr"))
    else:
        (n, p), columns = matrix.shape, dense(matrix[()])
    names = numbered(p) if names is None else unique(names) if how.get("unique_names") else names
    able(len(names) == p and len(samples or [""] * n) == n, "the tables do not fit the matrix")
    named = {"cell" if name == "_index" else name: column(name) for name in [index, *others] if name}
    # A column a/b is in a group a, which is none.
    named |= {name: column(name) for name in [how.get("target"), how.get("id"), *how["apart"]] if name and name not in named}
    found = {name: x for name, x in named.items() if x is not None and len(x) == n}
    return Table(n, columns, names, found.get, samples), how, others


def tenx(file, how):
    matrix = file["matrix"]
    able("features" in matrix, "an HDF5 file of Cell Ranger before version 3 is not read here")
    names, samples = strings(matrix["features"]["name"]), strings(matrix["barcodes"])
    values = [matrix[name][()] for name in ("data", "indices", "indptr")]
    columns = compressed(len(samples), len(names), *values, True)
    kinds = strings(matrix["features"]["feature_type"]) if "feature_type" in matrix["features"] else []
    return genes(columns, names, kinds, samples, how), how, []


def genes(columns, names, kinds, samples, how):
    """The features of the type that is asked for, else those of genes, else all."""
    wanted = how.get("layer") or "Gene Expression"
    able(wanted in kinds or not how.get("layer"), f"there are no features of the type {wanted!r}")
    kept = [j for j in range(len(names)) if wanted not in kinds or kinds[j] == wanted]
    names = [names[j] for j in kept]
    n = len(samples)
    texts = {"barcode": samples}.get
    return Table(n, [columns[j] for j in kept], unique(names) if how.get("unique_names") else names, texts, samples)


def mtx(path, how):
    """A Matrix Market file: alone with samples in rows, or that of Cell Ranger with genes in rows."""
    if os.path.isdir(path):
        there = sorted(name for name in os.listdir(path) if name.lower().removesuffix(".gz").endswith(".mtx"))
        whole = [name for name in there if name in ("matrix.mtx", "matrix.mtx.gz")] or there
        able(len(whole) == 1 or whole[0][:10] == "matrix.mtx", "the folder holds no matrix, or several")
        path = os.path.join(path, whole[0])
    able(not path.lower().endswith((".zst", ".bz2")), "compressed files are read here where gzip made them")
    lines = text_of(path).splitlines()
    kind = lines[0].lower().split() if lines else []
    able(kind[:3] == ["%%matrixmarket", "matrix", "coordinate"] and kind[4:] == ["general"], "the matrix is no general one by coordinates")
    able(kind[3] in ("real", "integer", "pattern", "double"), f"entries of the kind {kind[3]} are not read")
    rows = [line.split() for line in lines[1:] if line.strip() and not line.startswith("%")]
    (tall, wide, count), entries = map(int, rows[0]), rows[1:]
    able(len(entries) == count, "the matrix has another number of entries than it says")
    names, kinds, samples = beside(path)
    turned = names is not None and len(names) == tall and (samples is None or len(samples) == wide)
    able(names is None or turned or (len(names) == wide and (samples is None or len(samples) == tall)), "the names do not fit the matrix")
    n, p = (wide, tall) if turned else (tall, wide)
    found = [{} for _ in range(p)]
    for row, column, *value in entries:
        able(0 < int(row) <= tall and 0 < int(column) <= wide, "an entry is beyond the matrix")
        i, j = (int(column) - 1, int(row) - 1) if turned else (int(row) - 1, int(column) - 1)
        x = float(value[0]) if value else 1.0
        if x != 0:
            found[j][i] = found[j][i] + x if i in found[j] else x
    columns = [Column([of[i] for i in sorted(of)], sorted(of)) for of in found]
    if names is None:
        able(not how.get("layer"), "a matrix alone has no layer")
        return described(Table(n, columns, numbered(p), lambda name: None), how, [])
    if samples is not None:
        return described(genes(columns, names, kinds, samples, how), how, [])
    table = genes(columns, names, kinds, [""] * n, how)
    table.texts, table.samples = lambda name: None, None
    return described(table, how, [])


def beside(path):
    """Names and types of the genes, and names of the cells, in files beside a matrix of Cell Ranger; None where there are none."""
    folder, name = os.path.split(path)
    stem = name[: name.lower().index(".mtx")]
    last = max(stem.rfind(sign) for sign in "_.-")
    for prefix in (stem.removesuffix("matrix"), stem[: last + 1], ""):
        files = []
        for names in (("features.tsv", "genes.tsv"), ("barcodes.tsv",)):
            all_names = [os.path.join(folder, f"{prefix}{name}{ending}") for name in names for ending in ("", ".gz")]
            files.append(next((file for file in all_names if os.path.isfile(file)), None))
        if files[0]:
            rows = [[cell.strip() for cell in line.split("\t")] for line in text_of(files[0]).splitlines() if line.strip()]
            kinds = [row[2] for row in rows if len(row) > 2]
            cells = [line.split("\t")[0] for line in text_of(files[1]).splitlines() if line.strip()] if files[1] else None
            return [row[1] if len(row) > 1 and row[1] else row[0] for row in rows], kinds if len(kinds) == len(rows) else [], cells
    return None, [], None
