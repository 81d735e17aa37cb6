"""Opens every file of shared/data/forms by the command and by Python, and says what came out: `make bench-forms`.

Each file is opened as it is, and, where that is refused, with the options that the message names or that a user of that file
has (a target, labels). Both doors must give the same samples, features, classes and sum of values. Results: bench/results/forms.md.
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import common as c

FORMS = Path(__file__).resolve().parents[2] / "shared" / "data" / "forms"
RESULTS = Path(__file__).resolve().parent / "results" / "forms.md"

CELLS = {"target": "bulk_labels"}
# What a user of the file says besides its name.
OPTIONS = {
    "10x_mtx_intids": {"labels": "none"},
    "10x_mtx_labelled": {"labels": ("10x_mtx_labelled/labels.csv", None)},
    "10x_mtx_v2": {"labels": "none"},
    "10x_mtx_v3": {"labels": "none"},
    "10x_v2.h5": {"labels": "none"},
    "10x_v2_two_genomes.h5": {"labels": "none", "layer": "hg19_chr21"},
    "10x_v3.h5": {"labels": "none", "unique_names": True},
    "csv_cells_x_genes.csv.gz": {"labels": ("csv_labels.csv", None)},
    "csv_labels.csv": {"alone": "labels"},
    "gct12_khan.cls": {"alone": "labels"},
    "gct12_khan.gct": {"labels": ("gct12_khan.cls", None)},
    "gct13_khan.gct": {"target": "tumour"},
    "gct_test_p100.gct": {"target": "pert_iname", "missing": True},
    "geo_series_matrix_made.txt.gz": {"target": "tumour", "missing": True},
    "gctx_mini_n2x3.gctx": {"labels": "none"},
    "h5ad_anndata_v0.7.0.h5ad": {"labels": "none"},
    "h5ad_compound_obs_nan.h5ad": {"target": "louvain", "missing": True},
    "h5ad_duplicate_genes.h5ad": {**CELLS, "unique_names": True},
    "h5ad_krumsiek11_augmented_v0-8.h5ad": {"target": "cell_type"},
    "h5ad_krumsiek11_v0-7.h5ad": {"target": "cell_type"},
    "h5ad_noX_layer_only.h5ad": {**CELLS, "layer": "logcounts"},
    "loom_labelled.loom": CELLS,
    "loom_tiny.loom": {"target": "BatchID"},
    "tsv_genes_x_cells.tsv.gz": {"transpose": True, "labels": ("csv_labels.csv", None)},
}


def options(name):
    """The notes on a file; none where it is refused with any option."""
    if name in OPTIONS:
        return OPTIONS[name]
    if name.startswith("h5ad_"):
        return CELLS
    return {"labels": "none"} if name.startswith("gct_") else {}


def words(said):
    """The options of the command."""
    out = []
    for key, value in said.items():
        if key == "labels" and isinstance(value, tuple):
            out += ["--labels", str(FORMS / value[0])]
        elif key == "missing":
            out += ["--missing", "mean"]
        elif key != "labels":
            out += [f"--{key.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return out


def by_command(path, said):
    """What `fewest check` says: (outcome, facts)."""
    out = c.CACHE / "forms.json"
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [str(c.ROOT / "target/release/fewest"), "check", str(path), "--json", str(out), *words(said)], capture_output=True, text=True
    )
    if done.returncode == 0:
        found = json.loads(out.read_text())
        mean = sum(f["mean"] for f in found["features"])
        return "opens", (found["n_samples"], found["n_features"], len(found["target"]["classes"]), mean)
    lines = done.stderr.strip().splitlines()
    return "refused: " + lines[-1].replace(str(path), path.name).removeprefix("fewest: "), None


def by_python(path, said):
    """What `fewest.read_table` gives: (outcome, facts)."""
    import fewest

    asked = {key: value for key, value in said.items() if key not in ("labels", "missing")}
    if isinstance(said.get("labels"), tuple):
        asked["labels"] = str(FORMS / said["labels"][0])
    try:
        table = fewest.read_table(str(path), **asked)
    except (ValueError, ImportError, OSError) as error:
        return "refused: " + str(error).replace(str(path), path.name).splitlines()[-1], None
    X = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    n, p = X.shape
    return "opens", (n, p, None if table.y is None else len(set(table.y)), float(np.nanmean(X, axis=0).sum()))


def facts(found, others):
    """Samples, features, classes in words; whether both doors agree."""
    if found is None:
        return ""
    n, p, k, _ = found
    same = others is None or (found[:2] == others[:2] and abs(found[3] - others[3]) <= 1e-9 * (1 + abs(found[3])))
    return f"{n} x {p}" + ("" if k is None else f", {k} classes") + ("" if same else " DIFFERS")


def main():
    c.arguments(__doc__)
    c.CACHE.mkdir(parents=True, exist_ok=True)
    rows = []
    for path in sorted(FORMS.iterdir()):
        if path.name == "README.md":
            continue
        said = options(path.name)
        if "alone" in said:
            # Classes of another file here: it is opened there.
            rows.append((path.name, "", "by --labels", "", "by labels=", ""))
            continue
        command, in_command = by_command(path, said)
        python, in_python = by_python(path, said)
        shown = " ".join(words(said)).replace(str(FORMS) + "/", "")
        rows.append((path.name, shown, command, facts(in_command, in_python), python, facts(in_python, in_command)))
    opened = sum(row[2] == "opens" for row in rows), sum(row[4] == "opens" for row in rows)
    text = [
        "# Forms of files: what opens",
        "",
        f"`make bench-forms`: every file of `shared/data/forms`, by the command (`fewest check`) and by Python (`fewest.read_table`). {len(rows)} files; "
        f"{opened[0]} open in the command, {opened[1]} in Python, where a matrix without classes is enough. Where both open they agree in samples, features and the sum of all means.",
        "",
        "| file | options | command | | Python | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    text += ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows]
    RESULTS.write_text("\n".join(text) + "\n")
    print("\n".join(text))
    if any("DIFFERS" in cell for row in rows for cell in row):
        sys.exit("the doors differ")


if __name__ == "__main__":
    main()
