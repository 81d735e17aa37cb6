"""Two checkers on random problems: `fewest verify` and tools/check_proof.py (of its own arithmetic and reader).

    python3 bench/two_checkers.py [--cases 200] [--seed 1] [--fewest target/debug/fewest]

Each case is a small data file (csv, svmlight, npz, h5ad, a folder of Cell Ranger; numbers, text columns, missing
values, counts, classes in a second file) with random rules, loss, bias, kernel, weights, classes, preparation and
method; the command writes its proof and both checkers read it and the data. They must say the same in the same words,
with the same counts, every objective and bound within 1e-9, and the exact bound must not be below that of `verify`,
nor the exact objective above; of an alignment of few features no subset may be above what the second proves. To each proof come others that may be forged: its bytes (a bit, a cut, zeros behind
the gzip stream), a key of its header (another value, another type, twice, left out), and its records: random ones on
its own points and models, which claim nothing. Both must refuse them, or prove the same (of random records the number of parts
may differ: a feature that is out, or two of one unit, in a record; of random models the bound of `verify` may be weaker).
Files of h5ad and npz need NumPy and h5py. Writes bench/results/two_checkers.md.
"""

import argparse
import collections
import gzip
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
sys.path.insert(0, str(ROOT / "tools"))
import check_proof  # noqa: E402


WORDS = ["low", "mid", "high", "None", "Yes", "no", "10", "ü"]


def cells_of(dice, n, p, k_of, classes, counts):
    """A matrix of numbers on a grid, so that ties happen."""
    if counts:
        return [[float(max(0, int(dice.gauss(3 + 4 * k_of(i) * (j < 3), 4)))) for j in range(p)] for i in range(n)]
    span = 6 if dice.random() < 0.05 else 3
    unit, digits = [10.0 ** dice.randint(-span, span) if dice.random() < 0.3 else 1.0 for _ in range(p)], dice.choice([0, 1, 2, 5])
    if dice.random() < 0.2:
        return [[float(dice.randint(1, 3) if dice.random() < 0.7 else 1 + k_of(i)) for j in range(p)] for i in range(n)]
    return [[round(dice.gauss(0.6 * k_of(i) * (j < 3), 1.0), digits) * unit[j] + (unit[j] if digits else 0) for j in range(p)] for i in range(n)]


def write_h5ad(dice, path, matrix, names, classes, others, cells):
    """As anndata writes it: the matrix in X or a layer, dense or sparse; classes as codes of categories, or as text."""
    import h5py
    import numpy

    matrix = numpy.array(matrix, dtype=dice.choice(["f8", "f8", "f4"]))
    layer = dice.choice(["X"] * 5 + ["layers/counts"] * 2 + ["raw/X"])
    with h5py.File(path, "w") as file:
        for place, index in (("obs", cells), ("var", names)):
            group = file.create_group(place)
            group.attrs.update({"_index": "_index", "encoding-type": "dataframe", "encoding-version": "0.2.0", "column-order": list(others) if place == "obs" else []})
            group["_index"] = index
        for name, column in others.items():
            if dice.random() < 0.5:
                levels = dice.sample(sorted(set(column) - {""}), len(set(column) - {""}))
                group = file["obs"].create_group(name)
                group.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
                group["codes"] = numpy.array([levels.index(x) if x else -1 for x in column], dtype="i1")
                group["categories"] = levels
            elif set(column) <= {"True", "False"}:
                file["obs"][name] = numpy.array([x == "True" for x in column])
            elif all(re.fullmatch("-?[0-9]+(\\.[0-9]+)?", x) for x in column):
                file["obs"][name] = numpy.array([float(x) for x in column], dtype="f8")
            else:
                file["obs"][name] = column
        if layer != "X" and dice.random() < 0.5:
            file["X"] = matrix * 0 + 1
        if layer == "raw/X":
            file.copy("var", "raw/var")
        put_matrix(dice, file, layer, matrix)
    return {"X": [], "raw/X": ["--layer", "raw"]}.get(layer, ["--layer", "counts"])


def compressed(matrix, form):
    import numpy

    matrix = matrix if form == "csr" else matrix.T
    places = [numpy.flatnonzero(row) for row in matrix]
    start = numpy.cumsum([0] + [len(at) for at in places]).astype("i4")
    return numpy.concatenate([row[at] for row, at in zip(matrix, places, strict=True)]), numpy.concatenate(places).astype("i4"), start


def put_matrix(dice, file, where, matrix):
    form = dice.choice(["dense", "csr", "csc"])
    if form == "dense":
        file.create_dataset(where, data=matrix, compression=dice.choice([None, "gzip"]))
        return
    group = file.create_group(where)
    group.attrs.update({"encoding-type": f"{form}_matrix", "encoding-version": "0.1.0", "shape": list(matrix.shape)})
    for name, array in zip(("data", "indices", "indptr"), compressed(matrix, form), strict=True):
        group.create_dataset(name, data=array, chunks=(max(1, min(7, len(array))),), compression=dice.choice([None, "gzip"]))


def write_npz(dice, path, matrix, names, classes, others):
    import numpy

    matrix, arrays = numpy.array(matrix, dtype=dice.choice(["f8", "f8", "f4"])), {}
    form = dice.choice(["dense", "csr", "csc"])
    if form == "dense":
        arrays["X"] = numpy.asfortranarray(matrix) if dice.random() < 0.3 else matrix
    else:
        arrays |= dict(zip(("data", "indices", "indptr"), compressed(matrix, form), strict=True))
        arrays |= {"shape": numpy.array(matrix.shape), "format": numpy.array(form.encode())}
    if dice.random() < 0.8:
        arrays["names"] = numpy.array(names)
    numbers = all(re.fullmatch("-?[0-9]+", name) for name in classes)
    if classes:
        arrays["y"] = numpy.array([int(name) for name in classes] if numbers and dice.random() < 0.5 else classes)
        if set(classes) <= {"True", "False"} and dice.random() < 0.5:
            arrays["y"] = numpy.array([name == "True" for name in classes])
    for name, column in others.items():
        arrays[name] = numpy.array(column)
    (numpy.savez if dice.random() < 0.5 else numpy.savez_compressed)(path, **arrays)
    return names if "names" in arrays else [f"x{j + 1}" for j in range(len(names))]


def write_mtx(dice, folder, matrix, names, cells):
    """The folder of Cell Ranger: genes in rows."""
    path = folder / "cells"
    path.mkdir(exist_ok=True)
    for old in path.iterdir():
        old.unlink()
    entries = [f"{j + 1} {i + 1} {x:g}" for i, row in enumerate(matrix) for j, x in enumerate(row) if x]
    dice.shuffle(entries)
    head = f"%%MatrixMarket matrix coordinate integer general\n%\n{len(names)} {len(matrix)} {len(entries)}\n"
    pack = dice.random() < 0.5
    for name, text in (
        ("matrix.mtx", head + "\n".join(entries) + "\n"),
        ("features.tsv", "".join(f"G{j}\t{name}\tGene Expression\n" for j, name in enumerate(names))),
        ("barcodes.tsv", "".join(f"{cell}\n" for cell in cells)),
    ):
        (path / (name + ".gz" * pack)).write_bytes(gzip.compress(text.encode()) if pack else text.encode())
    return path


def write_10x(dice, folder, matrix, names, cells):
    """The HDF5 file of Cell Ranger 3."""
    import h5py
    import numpy

    path, matrix = folder / "cells.h5", numpy.array(matrix, dtype="i4")
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        values, index, start = compressed(matrix, "csr")
        for name, array in (("data", values), ("indices", index.astype("i8")), ("indptr", start.astype("i8"))):
            group[name] = array
        group["shape"] = numpy.array([len(names), len(cells)], dtype="i4")
        group["barcodes"] = numpy.array([cell.encode() for cell in cells])
        features = group.create_group("features")
        features["name"] = features["id"] = numpy.array([name.encode() for name in names])
        features["feature_type"] = numpy.array([b"Gene Expression"] * len(names))
    return path


class Drawn:
    """A data file, its features, and how it is read."""

    def __init__(self, dice, folder, arrays):
        self.n, p = dice.randint(8, 40), dice.randint(2, 9)
        self.labels, self.options = None, []
        self.form = dice.choice(["csv"] * 9 + ["svm"] * 2 + (["npz"] * 3 + ["h5ad"] * 3 + ["10x"] if arrays else []) + ["mtx"])
        self.cells = self.form in ("mtx", "10x")
        self.classes = dice.choice([["-1", "1"]] * 5 + [["a", "b"], ["False", "True"], ["2", "10", "9"], ["red", "green", "blue", "no"]])
        if self.form == "svm" and not re.fullmatch("-?[0-9]+", self.classes[0]):
            self.classes = ["-1", "1"]
        classes = [self.classes[i % len(self.classes)] for i in range(self.n)]
        self.counts = self.cells or dice.random() < 0.25
        sparse = self.form in ("svm", "mtx", "10x") or (self.form in ("npz", "h5ad") and dice.random() < 0.5)
        matrix = cells_of(dice, self.n, p, lambda i: i % len(self.classes), self.classes, self.counts)
        if sparse:
            matrix = [[x if dice.random() < 0.5 or i == 0 else 0.0 for x in row] for i, row in enumerate(matrix)]
        self.codes = [j for j in range(p) if all(row[j] == int(row[j]) and abs(row[j]) < 50 for row in matrix)]
        self.missing, self.codes_of_missing = not self.cells and dice.random() < 0.3, dice.random() < 0.2
        if self.missing:
            for _ in range(dice.randint(1, 6)):
                matrix[dice.randrange(self.n)][dice.randrange(p)] = math.nan
        names, self.text = [f"f{j}" for j in range(p)], []
        self.weights, self.tasks = self.form != "svm" and dice.random() < 0.25, self.form != "svm" and dice.random() < 0.15
        others = {}
        if self.weights:
            safe = 2 * len(self.classes)
            some = ["1", "2", "0.3", "0.1", "5", "0"] + (["1e6", "1e-6"] if dice.random() < 0.1 else [])
            others["w"] = [dice.choice(some if i >= safe else ["1", "0.7"]) for i in range(self.n)]
            self.options += ["--sample-weights", "w"]
        if self.tasks:
            others["site"] = [("1", "10", "2")[i // len(self.classes) % 3 if self.n > 24 else i // len(self.classes) % 2] for i in range(self.n)]
            self.options += ["--tasks", "site"]
        cells = [f"cell{i}-{i * 7 % 13}" for i in range(self.n)]
        apart = self.cells or dice.random() < 0.2
        if self.form != "svm" and dice.random() < 0.1:
            others_of = dice.sample(range(self.n), self.n // 5)
            classes = [("7" if self.classes[0] in ("-1", "2") else "zz") if i in others_of else c for i, c in enumerate(classes)]
            self.options += ["--classes", ",".join(self.classes)]
        if self.form != "svm" and dice.random() < 0.1:
            classes = ["" if i and i % len(self.classes) == 0 and dice.random() < 0.3 else c for i, c in enumerate(classes)]
            self.options += ["--drop-unlabelled"]
        if self.form == "csv":
            for name in ["g", "h"][: dice.choice([0, 0, 0, 1, 2])]:
                levels = dice.sample(WORDS, dice.randint(2, 4))
                column = [dice.choice(levels[: 1 + i % len(levels)] if dice.random() < 0.5 else levels) for i in range(self.n)]
                if self.missing:
                    column[dice.randrange(self.n)] = dice.choice(["", "NA", "?"])
                if len({x for x in column if x not in ("", "NA", "?")}) > 1 and sum(not x[:1].isdigit() for x in column) * 2 > self.n:
                    self.text.append((name, column))
        if self.missing:
            self.options += ["--missing", dice.choice(["mean", "median", "most-frequent", "indicator"])]
        if self.counts and dice.random() < 0.7:
            if not self.missing and dice.random() < 0.6:
                self.options += ["--normalize-total", dice.choice(["10", "1e4", "0.3"])]
            self.options += ["--log1p"] if dice.random() < 0.7 or len(self.options) < 2 or self.options[-2] != "--normalize-total" else []
        if apart:
            self.second_file(dice, folder, cells, classes, others)
        self.write(dice, folder, matrix, names, classes, others, cells)

    def second_file(self, dice, folder, cells, classes, others):
        """Classes, and perhaps weights and tasks, in a csv file of other order."""
        moved = {name: others.pop(name) for name in list(others) if self.cells or self.form == "svm" or dice.random() < 0.5}
        in_order = (self.form == "svm" or (self.form == "npz" and dice.random() < 0.5)) and all(classes)
        if in_order and not moved:
            path = folder / "labels.cls"
            kinds = list(dict.fromkeys(classes))
            path.write_text(f"{len(classes)} {len(kinds)} 1\n# {' '.join(kinds)}\n{' '.join(str(kinds.index(c)) for c in classes)}\n")
            self.labels = str(path)
        elif not in_order:
            path = folder / "labels.csv"
            rows = [[cells[i], *(column[i] for column in moved.values()), classes[i]] for i in range(self.n)]
            if "--drop-unlabelled" in self.options:
                rows = [row for row in rows if row[-1] or dice.random() < 0.5]
            rows += [["nowhere", *("1" for _ in moved), classes[0]]] * (dice.random() < 0.3)
            dice.shuffle(rows)
            key = dice.choice(["id", "who", "cell"])
            path.write_text("\n".join(",".join(row) for row in [[key, *moved, "diagnosis"], *rows]) + "\n")
            self.labels = f"{path}:diagnosis"
            others["name"] = cells
        else:
            others |= moved
            return
        self.options += ["--labels", self.labels]

    def write(self, dice, folder, matrix, names, classes, others, cells):
        self.names = names + [name for name, _ in self.text]
        inside = [] if self.labels else classes
        if self.form == "csv":
            self.path, rows = folder / "d.csv", []
            index = others.pop("name", None)
            words = dice.choice([["", "NA", "nan", "?", "-"], ["NA"]])
            if self.missing and self.codes_of_missing:
                words = ["-999", "-999.0", ""]
                self.options += ["--missing-codes", "-999"]
            for i, row in enumerate(matrix):
                cells_of_row = [index[i]] if index else []
                cells_of_row += [dice.choice(words) if x != x else repr(x) for x in row] + [column[i] for _, column in self.text]
                rows.append(",".join(cells_of_row + [column[i] for column in others.values()] + ([classes[i]] if inside else [])))
            head = ([dice.choice(["", "name"])] if index else []) + self.names + list(others) + (["y"] if inside else [])
            if index and head[0]:
                self.options += ["--id", "name"]
            self.put(dice, "\n".join([",".join(head), *rows]) + "\n")
        elif self.form == "svm":
            self.path, self.names = folder / "d.svm", [f"x{j + 1}" for j in range(len(names))]
            lines = [f"{classes[i]} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x) for i, row in enumerate(matrix)]
            self.put(dice, "\n".join(lines) + "\n")
        elif self.form == "npz":
            self.path = folder / "d.npz"
            if others.pop("name", None):
                others["name"] = cells
                self.options += ["--id", "name"]
            self.names = write_npz(dice, self.path, matrix, names, inside, others)
        elif self.form == "h5ad":
            self.path = folder / "d.h5ad"
            others.pop("name", None)
            others |= {"kind": classes} if inside else {}
            self.options += ["--target", "kind"] if inside else []
            self.options += write_h5ad(dice, self.path, matrix, names, inside, others, cells)
        else:
            others.pop("name", None)
            self.path = (write_mtx if self.form == "mtx" else write_10x)(dice, folder, matrix, names, cells)
        if self.missing and self.codes_of_missing and self.form in ("npz", "h5ad"):
            self.options += ["--missing-codes", "3,-999"]

    def put(self, dice, text):
        if dice.random() < 0.2:
            self.path = self.path.with_name(self.path.name + ".gz")
        self.path.write_bytes(gzip.compress(text.encode()) if self.path.suffix == ".gz" else text.encode())


def real(name):
    """A file of real data: of this repository, or of the shared ones."""
    return ROOT / name if name.startswith("data/") else DATA / name


def some(random, names, least=1):
    return ",".join(random.sample(names, random.randint(least, max(least, min(len(names), 4)))))


def rules(random, folder, names, taken=True):
    """Options of rules about groups of features, and of a budget."""
    options = []
    for _ in range(random.choice([0, 0, 1, 2])):
        if len(names) > 2 and taken:
            kind = random.choice(["--at-most", "--at-least", "--together", "--implies"])
            group = some(random, names, 2)
            few = str(random.randint(1, 2))
            options += [kind, {"--together": group, "--implies": group.replace(",", ":", 1)}.get(kind, f"{few}:{group}")]
    if taken and random.random() < 0.2:
        prices = folder / "prices.csv"
        prices.write_text("".join(f"{name},{random.choice(['1', '2', '0.1', '0.7', '3'])}\n" for name in names))
        options += ["--feature-costs", str(prices), "--budget", random.choice(["0.3", "1", "2.1", "5"])]
    return options


def case(random, folder, arrays):
    drawn = Drawn(random, folder, arrays)
    names, options = drawn.names, drawn.options
    several = len(drawn.classes) > 2 or drawn.tasks
    method = random.choice(["exact"] * 4 + ["gbd"] + ([] if drawn.tasks else ["kta"] * 3 + ["markers"]) + ([] if several else ["certify", "mbp", "mbp"]))
    svm, panel = method != "kta", method == "markers"
    drawn.command = "markers" if panel else "select"
    options += ["--cost", random.choice(["0.01", "0.1", "1", "1", "10", "0.37"] * 3 + ["1e-7", "1e7"])]
    if not panel:
        options += ["-m", "rfe", "--certify"] if method == "certify" else ["-m", method]
    if method == "mbp" or (method == "exact" and random.random() < 0.2):
        options += ["--penalty", random.choice(["0.5", "0.1", "0.01"])]
    if method != "mbp":
        options += ["--max-features", str(random.randint(1, min(6 if method == "kta" else 4, len(names))))]
    if panel:
        options += random.choice([[], ["--loss", "hinge"], ["--per-class", "1"], ["--expression", "-1..2"], ["--gap", "0.1"]])
    if method in ("exact", "gbd") and random.random() < 0.35:
        options += ["--loss", "squared-hinge"]
    if svm and not panel and random.random() < 0.4:
        options += ["--bias", random.choice(["none", "1", "0.3", "7"])]
    if method == "kta":
        options += random.choice([[], ["--kernel", "laplace"]]) + random.choice([[], ["--gamma", random.choice(["0.1", "0.5", "2", "sigest"])]])
        if drawn.codes and not drawn.cells and random.random() < 0.5:
            some_codes = random.sample(drawn.codes, random.randint(1, len(drawn.codes)))
            options += ["--categorical", ",".join(names[j] for j in some_codes)]
    if svm and random.random() < 0.3:
        options += ["--class-weight", random.choice(["balanced", "cw2", "cw3"])]
    if method == "gbd" and random.random() < 0.3 and not several:
        options += ["--validate", random.choice(["0.2", "0.35"]), "--seed", str(random.randint(0, 2**40))]
    if svm and len(drawn.classes) > 2 and random.random() < 0.5:
        options += ["--multi-class", "one-vs-rest"]
    if random.random() < 0.3:
        options += ["--scale", random.choice(["none", "maxabs", "standard"])]
    if len(drawn.classes) == 2 and random.random() < 0.15:
        options += ["--positive", random.choice(drawn.classes)]
    if svm and method not in ("certify", "markers") and random.random() < 0.25 and not several:
        options += ["--sign", f"{random.choice(names)}:{random.choice('+-')}"]
    if svm and method not in ("certify", "markers") and random.random() < 0.15 and not several:
        bounds = folder / "bounds.csv"
        bounds.write_text("".join(f"{name},{random.choice(['-0.5', '0', ''])},{random.choice(['0.3', '1', ''])}\n" for name in names))
        options += ["--weight-bounds", str(bounds)]
    for option in ("--require", "--forbid"):
        if random.random() < 0.1:
            options += [option, random.choice(names)]
    if drawn.labels is None and len(names) > 3 and random.random() < 0.1 and "--categorical" not in options and drawn.form != "svm":
        kept = names[1:]
        options += random.choice([["--drop", names[0]], ["--only", ",".join(kept)], ["--drop", f"*{names[0][-1]}"]])
        names = kept
    if drawn.form == "csv" and drawn.codes and random.random() < 0.1 and "--categorical" not in options:
        options += ["--text", drawn.names[random.choice(drawn.codes)]]
    options += rules(random, folder, names, method != "mbp")
    if method in ("exact", "kta") and random.random() < 0.25:
        options += random.choice([["--solutions", "3"], ["--within", "0.05"], ["--node-limit", "3"], ["--gap", "0.1"]])
    return drawn, options


REFUSED = ("not verified", "not read")


def reads(proof, path, fewest, labels=None):
    """What both say: the verdict, the fault, counts, numbers, the first line."""
    verdict, more = proof.with_suffix(".json"), ["--labels", labels] if labels else []
    verdict.unlink(missing_ok=True)
    ran = subprocess.run([fewest, "verify", proof, path, "--json", verdict, *more], capture_output=True, text=True)
    if ran.returncode in (0, 1) and verdict.exists():
        said = json.loads(verdict.read_text())
        word = "not verified" if said["verdict"] == "not_verified" else said["verdict"]
        first = [word, said.get("reason"), tuple(said.get("counts", {}).values())]
        first += [[said.get(key) for key in ("objective", "bound", "rest")], ran.stdout.split("\n")[0]]
        for entry in said.get("solutions", []):
            first[3] += [entry["objective"], entry["bound"]]
    else:
        first = ["not read" if ran.returncode == 2 else f"exit code {ran.returncode}", ran.stderr.strip()]
    try:
        with check_proof.opened(proof) as stream:
            found = check_proof.check(stream, str(path), labels)
        numbers = [found[key] for key in ("objective", "bound", "rest")] + [x for entry in found["solutions"] for x in entry]
        second = [found["verdict"], None, found["checked"], numbers, check_proof.first_line(found)]
        if found["alignment"] and (beyond := better(found)):
            second = ["unsound", beyond]
    except (check_proof.Fault, EOFError, zlib.error) as fault:
        second = ["not verified", str(fault)]
    except (check_proof.Unable, UnicodeDecodeError) as fault:
        second = ["not read", str(fault)]
    return first, second


def better(found):
    """An allowed subset whose alignment is above what the second checker proves of it: all are tried, of few units."""
    work, claim = found["check"], found["check"].claim
    if len(claim.members) > 9:
        return None
    for mask in range(claim.all + 1):
        if claim.root and work.allowed(mask):
            listed = [bound for (one, *_), (_, bound) in zip(work.listed, found["solutions"], strict=True) if one == mask]
            value = work.pairs.value(list(check_proof.bits(mask)))[0] / 2**check_proof.BITS
            if value > (listed or [found["rest"]])[0] + 1e-12:
                return f"subset {mask:b} has {value}, proven is {(listed or [found['rest']])[0]}"
    return None


def is_rounding(reason, l1, models):
    """Whether `verify` misses a claim by rounding alone: a score of 1 in size with an infinite u, or as far as numbers may differ."""
    found = re.search(r"bound proven (?:for .* )?is (\S+), below the (\S+) claimed", reason)
    found = found or re.search(r"its objective is (\S+), above the (\S+) stated", reason)
    if not found:
        return False
    proven, claimed = map(float, found.groups())
    size = max(abs(proven), abs(claimed), 1e-2 if models else 0.0)
    return l1 if math.isinf(proven) else abs(proven - claimed) <= 1e-9 * size


def words(line):
    """A first line without its numbers."""
    return re.sub(r"[0-9][0-9.e+-]*", "#", line)


def apart(first, second, widest, honest=False, models=False):
    """How two verdicts differ; none where they agree."""
    if first[0] in REFUSED and second[0] in REFUSED:
        return None
    if first[0] != second[0]:
        return f"verify says {first[:2]}, the second {second[:2]}"
    if words(first[4]) != words(second[4]):
        return f"verify says {first[4]!r}, the second {second[4]!r}"
    counted = 1 if models else 2 + honest
    if first[2][:counted] != second[2][:counted] or len(first[3]) != len(second[3]):
        return f"records, points, parts: verify counts {first[2:]}, the second {second[2:]}"
    for k, (one, other) in enumerate(zip(first[3], second[3], strict=True)):
        name = ("objective", "bound", "bound")[k] if k < 3 else ("bound", "objective")[k % 2]
        other = None if other is None or math.isinf(other) else float(other)
        if models and not honest and name == "bound" and None in (one, other):
            continue
        if (one is None) != (other is None):
            return f"{name} {k}: verify says {one}, the second {other}"
        if one is not None:
            # Alignments are maximised, and their terms add up to 4 in size, or more: so much rounding has a small one.
            one, other = (-one, -other) if models else (one, other)
            size, above = max(abs(one), abs(other), 1e-2 if models else 1e-300), one - other if name == "bound" else other - one
            kind = f"{name} of an alignment" if models else name
            widest[kind] = max(widest[kind], abs(one - other) / size)
            # A bound on models may be weaker than the exact one, as far as its file states one.
            near = abs(one - other) <= 1e-9 * size or (models and name == "bound")
            if not near or above > (4e-16 if not models else 1e-12) * size:
                return f"{name} {k}: verify says {one!r}, the second {other!r}"
    return None


def damaged(dice, proof, to):
    """The bytes of a proof, some of them others."""
    packed = bytearray(proof.read_bytes())
    kind = dice.choice(["body"] * 4 + ["packed", "cut", "zeros", "more", "twice", "two"])
    if kind in ("body", "two"):
        line, rest = gzip.decompress(packed).split(b"\n", 1)
        rest = bytearray(rest)
        for _ in range(dice.choice([1, 1, 3]) if kind == "body" else 0):
            rest[dice.randrange(len(rest))] ^= 1 << dice.randrange(8)
        whole = line + b"\n" + bytes(rest)
        half = dice.randrange(len(whole)) if kind == "two" else 0
        packed = gzip.compress(whole[:half]) + gzip.compress(whole[half:]) if half else gzip.compress(whole)
    elif kind == "packed":
        packed[dice.randrange(len(packed))] ^= 1 << dice.randrange(8)
    elif kind == "cut":
        packed = packed[: dice.randrange(len(packed))]
    else:
        packed += {"zeros": bytes(dice.randint(1, 9)), "more": b"x", "twice": bytes(packed)}[kind]
    to.write_bytes(packed)


VALUES = [None, [], {}, "", "x", True, False, 0, 1, 2, -1, 1.5, 1e300, -0.0, "none", "standard", "0", [0], [None], ["f1"], 3, 1e-300, [[0, [1]]]]


def header_forged(dice, proof, to):
    """One key of the header with another value, left out, twice, or new."""
    line, rest = gzip.decompress(proof.read_bytes()).split(b"\n", 1)
    head = json.loads(line)
    place, key = head, None
    while True:
        key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or dice.random() < 0.25:
            break
        place = inner
    kind = dice.choice(["value"] * 4 + ["near"] * 2 + ["left out", "twice", "new"])
    if kind == "near" and isinstance(place[key], int | float) and not isinstance(place[key], bool):
        place[key] = dice.choice([place[key] + 1, place[key] * 1.5, place[key] * (1 + 1e-12), -place[key], float(place[key])])
    elif kind == "left out":
        del place[key]
    elif kind == "new":
        if isinstance(place, dict):
            place[dice.choice(["x", "kernel", "gamma", "penalty", "centre", "loss", "budget", "weights"])] = dice.choice(VALUES)
        else:
            place.append(dice.choice(VALUES))
    else:
        place[key] = dice.choice(VALUES)
    text = json.dumps(head)
    if kind == "twice" and isinstance(place, dict):
        # Once more, at the end of its object.
        mark = "@here@"
        place[key], kept = mark, place[key]
        text = json.dumps(head).replace(json.dumps(mark), f"{json.dumps(kept)}, {json.dumps(key)}: {json.dumps(dice.choice([kept, *VALUES]))}")
    to.write_bytes(gzip.compress(text.encode() + b"\n" + rest))


def leb(value):
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes(found) + bytes([value])


def ascending(places):
    return leb(len(places)) + b"".join(leb(place - before) for place, before in zip(places, [0, *places], strict=False))


def pieces(body, p, problems):
    """The points and the listed subsets of a proof, as they stand in the file."""
    stream = io.BytesIO(body)
    reader, points, listed = check_proof.Reader(stream), [], []
    while (kind := reader.take(1)[0]) != 6:
        start = stream.tell()
        if kind == 5:
            features = reader.ascending(p)
            reader.take(16)
            for _ in range(problems):
                reader.take(8 * reader.integer() + 8)
            listed.append((features, body[start - 1 : stream.tell()]))
            continue
        reader.integer()
        if kind == 1:
            reader.integer()
            continue
        start = stream.tell()
        if reader.integer() == 1:
            reader.integer()
            for entry in (reader.integer, reader.integer, reader.integer, reader.number):
                for _ in range(reader.integer()):
                    entry()
            points.append(body[start : stream.tell()])
        for entry in [reader.integer, reader.integer if kind == 3 else reader.number] if kind > 2 else []:
            for _ in range(reader.integer()):
                entry()
    return points, listed


def forged(dice, proof, to):
    """Another proof with the header and the points of this one, and random records; whether there is one."""
    line, body = gzip.decompress(proof.read_bytes()).split(b"\n", 1)
    head = json.loads(line)
    p = head["p"]
    if head["gain"] == "alignment":
        return models_forged(dice, line, body, p, to)
    points, listed = pieces(body, p, head.get("problems", 1))
    if not points:
        return False
    caps = head["weight_bounds"] or [9.0] * p
    records, nodes, free, rounds = [], 1, [0], dice.randint(1, 14)
    for k in range(rounds + 99):
        if k >= rounds and (not free or rounds % 4 == 0):
            break
        kind = dice.choice([1, 1, 1, 2, 2, 3, 3] + [4, 4] * (head["gain"] == "l1"))
        kind = 2 if k >= rounds else kind
        place = dice.choice(free) if free and dice.random() < 0.99 else dice.randrange(nodes)
        node = leb(place)
        if kind < 3 and place in free:
            free.remove(place)
        if kind == 1:
            records.append(b"\1" + node + leb(dice.randrange(p)))
            free += [nodes, nodes + 1]
            nodes += 2
            continue
        point = b"\0" if len(records) > 3 and dice.random() < 0.3 else dice.choice(points)
        record = bytes([kind]) + node + point
        some = [sorted(dice.sample(range(p), dice.randint(0, 2))) for _ in range(2)]
        if kind == 3:
            record += ascending(some[0]) + ascending(some[1])
        elif kind == 4:
            inner = [caps[j] * dice.choice([0.0, 0.01, 0.5, 1.0]) for j in some[0]]
            record += ascending(some[0]) + leb(len(inner)) + struct.pack(f"<{len(inner)}d", *inner)
        records.append(record)
    records += [text for _, text in listed if dice.random() < 0.8]
    # Own bounds stand behind the objective: none is claimed
    for features, text in listed:
        place = 1 + len(ascending(features)) + 8
        records = [r if r != text else r[:place] + struct.pack("<d", -math.inf) + r[place + 8 :] for r in records]
    to.write_bytes(gzip.compress(line + b"\n" + b"".join(records) + b"\6" + struct.pack("<d", -math.inf) + b"\7stalled"))
    return True


def models_forged(dice, line, body, p, to):
    """Random records of an alignment, with levels and bounds as in its proof."""
    levels, listed = levels_of(body, p)
    if not levels:
        return False
    records, nodes, free, rounds = [], 1, [0], dice.randint(1, 10)
    for k in range(rounds + 60):
        if k >= rounds and (not free or rounds % 4 == 0):
            break
        place = dice.choice(free) if free and dice.random() < 0.99 else dice.randrange(nodes)
        node, kind = leb(place), dice.choice([1, 7, 8, 8, 9, 9, 9, 10, 10]) if k < rounds else dice.choice([7, 9, 9])
        if kind != 8 and place in free:
            free.remove(place)
        if kind in (1, 7, 8):
            records.append(bytes([kind]) + node + (leb(dice.randrange(p)) if kind == 1 else b""))
            made = 2 if kind == 1 else 0
        else:
            level = dice.choice([*levels, dice.choice(levels) * dice.random(), 0.0])
            order = dice.sample(range(p), dice.randint(0, p))
            firsts = sorted(dice.sample(range(len(order)), dice.randint(0, min(3, len(order)))))
            made = len(firsts) if k < rounds else 0
            firsts = firsts[:made]
            # A bound that a checker may not rest on.
            record = bytes([kind]) + node + (leb(dice.choice([3, 4])) if kind == 10 else b"") + struct.pack("<d", level) + leb(len(order))
            record += b"".join(map(leb, order)) + ascending(firsts) + leb(made) + struct.pack("<d", -math.inf) * made
            for first in firsts:
                later = range(first + 1, len(order))
                record += ascending(sorted(dice.sample(later, dice.randint(len(later) // 2, len(later)))))
            records.append(record)
        free += range(nodes, nodes + made)
        nodes += made
    for text in listed:
        if dice.random() < 0.8:
            records.append(text[:-8] + struct.pack("<d", -math.inf))
    to.write_bytes(gzip.compress(line + b"\n" + b"".join(records) + b"\6" + struct.pack("<d", -math.inf) + b"\7stalled"))
    return True


def levels_of(body, p):
    """The levels of the models of a proof, and its listed subsets."""
    stream = io.BytesIO(body)
    reader, levels, listed = check_proof.Reader(stream), [], []
    while (kind := reader.take(1)[0]) != 6:
        start = stream.tell() - 1
        if kind == 5:
            reader.ascending(p)
            reader.take(16)
            listed.append(body[start : stream.tell()])
            continue
        reader.integer()
        if kind == 1 or kind == 10:
            reader.integer()
        if kind in (9, 10):
            levels.append(reader.number())
            for _ in range(reader.integer()):
                reader.integer()
            children = len(reader.ascending(p))
            for _ in range(reader.integer()):
                reader.number()
            for _ in range(children):
                reader.ascending(p)
    return [level for level in levels if math.isfinite(level)], listed


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--fewest", default=str(ROOT / "target" / "debug" / "fewest"))
    options.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    options.add_argument("--forged", type=int, default=1, help="for each proof this many of random records, bytes and headers")
    options.add_argument("--keep", help="folder for proofs on which they differ")
    options.add_argument("--only", type=int, help="the case of this number alone, nothing written")
    given = options.parse_args()
    begun, seen, wrong, widest = time.time(), collections.Counter(), [], collections.Counter()
    kinds, refused = collections.Counter(), collections.Counter()
    arrays = all(importlib.util.find_spec(name) for name in ("numpy", "h5py"))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        proof, other = folder / "p.proof", folder / "q.proof"

        def judged(kind, drawn, chosen, honest=False, path=other):
            first, second = reads(path, drawn.path, given.fewest, drawn.labels)
            seen[kind] += 1
            seen[f"{kind}, refused by both"] += first[0] in REFUSED and second[0] in REFUSED
            seen[f"{kind}, proven by both"] += first[0] not in REFUSED and second[0] not in REFUSED
            seen[f"{kind}, with other exit codes"] += first[0] in REFUSED and second[0] in REFUSED and first[0] != second[0]
            rounded = second[0] not in REFUSED and first[0] == "not verified" and is_rounding(first[1], "mbp" in chosen, "kta" in chosen)
            seen["rounded"] += rounded
            fault = None if rounded else apart(first, second, widest if kind in ("proofs", "random records") else collections.Counter(), honest, "kta" in chosen)
            if os.environ.get("SHOW_CODES") and first[0] in REFUSED and second[0] in REFUSED and first[0] != second[0]:
                print("CODES", kind, first[:2], second[:2])
            if fault or (given.only is not None and first[0] != second[0]):
                wrong.append((number, f"{kind}: " + " ".join(chosen), fault))
                print(number, kind, drawn.form, " ".join(chosen), fault or f"{first[:2]} {second[:2]}", sep="\n  ", flush=True)
                if given.keep:
                    keep = pathlib.Path(given.keep, f"{number}-{len(wrong)}")
                    keep.mkdir(parents=True, exist_ok=True)
                    for kept in folder.iterdir():
                        (shutil.copytree if kept.is_dir() else shutil.copy)(kept, keep / kept.name)
                    (keep / "command").write_text(" ".join(map(str, ["verify", path.name, drawn.path.name, drawn.labels])))

        for number in range(given.cases) if given.only is None else [given.only]:
            if time.time() - begun > given.seconds:
                break
            dice = random.Random(f"{given.seed}/{number}")
            drawn, chosen = case(dice, folder, arrays)
            proof.unlink(missing_ok=True)
            command = [given.fewest, drawn.command, str(drawn.path), *chosen, "--proof", str(proof), "--time-limit", "20"]
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode not in (0, 3, 4) or not proof.exists():
                seen["no proof"] += 1
                why = [line for line in ran.stderr.split("\n") if line.startswith("fewest: ")] or ["nothing said"]
                refused[re.sub(r"[\d\"'`].*", "", why[0].replace(str(folder), ""))[:70]] += 1
                continue
            kinds.update([drawn.form, *["markers"] * (drawn.command == "markers"), *["text columns"] * bool(drawn.text), f"{len(drawn.classes)} classes"])
            kinds.update(x for x in chosen if (x.startswith("--") and x != "--cost") or x in ("exact", "gbd", "mbp", "rfe", "kta", "laplace"))
            judged("proofs", drawn, chosen, True, proof)
            for _ in range(given.forged):
                damaged(dice, proof, other)
                judged("other bytes", drawn, chosen)
                header_forged(dice, proof, other)
                judged("other headers", drawn, chosen)
                if forged(dice, proof, other):
                    judged("random records", drawn, chosen)
    if given.only is not None:
        sys.exit(bool(wrong))
    seconds = time.time() - begun
    text = ["# Two checkers of proof files", ""]
    text += [f"    python3 bench/two_checkers.py --cases {number + 1} --seed {given.seed} --forged {given.forged}", ""]
    text += [
        "Random problems of 8 to 40 samples and 2 to 9 features, and those that text columns and missing values add. Their proofs are read by `fewest verify` and tools/check_proof.py.",
        "",
    ]
    text += ["| | number |", "| --- | --- |", f"| problems | {number + 1} |", f"| no proof | {seen['no proof']} |"]
    text += [
        f"| {kind}{end} | {seen[kind + end]} |"
        for kind in ("proofs", "other bytes", "other headers", "random records")
        for end in ("", ", proven by both", ", refused by both")
    ]
    other_codes = sum(times for name, times in seen.items() if name.endswith("exit codes"))
    text += [f"| refused by `verify` alone, as its rounded bound or objective misses the one claimed | {seen['rounded']} |"]
    text += [f"| refused by both, with exit codes 1 and 2 | {other_codes} |", f"| disagreements | {len(wrong)} |", ""]
    text += ["No proof: options that do not go together, rules that no subset keeps. A proof of other bytes may still prove its claims"]
    text += ["(a bit of its status, a claim that is still reached), and so may one with another key in its header; both must say the same"]
    text += ["then, too, in the same words. One of random records has the header and the points or levels of a proof, and no claim: what both prove is"]
    text += ["compared, own bounds of listed subsets included. Weights of samples are at most 1e6, units of columns from 1e-6 to 1e6: beyond what"]
    text += ["doubles hold well the rounding of `verify` makes its numbers weaker (an objective by 0.2 % at C of 1e28; a bound to below 0 at values of 1e40), and its words with them.", ""]
    largest = ", ".join(f"{name} {size:.1e}" for name, size in sorted(widest.items()))
    text += [f"Largest relative difference of the proven numbers (of alignments, of 0.01 at least): {largest}"]
    text += [f"({'release' if 'release' in given.fewest else 'debug'} build, {os.cpu_count()} cores, {seconds:.0f} s).", ""]
    text += ["| option, method or format | proofs |", "| --- | --- |"]
    text += [f"| `{name}` | {times} |" for name, times in sorted(kinds.items())]
    text += ["", "## Disagreements", ""] + [f"- case {number}: `{chosen}`: {fault}" for number, chosen, fault in wrong or []]
    text += ["None."] * (not wrong)
    (ROOT / "bench" / "results" / "two_checkers.md").write_text("\n".join(text) + "\n")
    print(*seen.items(), f"disagreements {len(wrong)}", *refused.most_common(25), sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
