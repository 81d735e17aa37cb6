#!/usr/bin/env python3
"""Builds the folder that FEWEST_DATA names, from files that others have published on GitHub.

    python3 data/prepare.py FOLDER [--only NAME ...] [--clones DIR]
    python3 data/prepare.py --check FOLDER

Each file is fetched at a fixed commit (`SETS` says which), prepared, and compared by its digest with
that of data/digests.json: sha256 of the shape, the values as doubles, and the labels. A file whose digest differs is not
written. `--check` compares the files of a folder. `--clones` takes files from local clones
DIR/OWNER+NAME/repo in place of the network. Needs numpy, scipy, rdata and
scikit-learn. Terms of use of the data: data/README.md.
"""

import argparse
import bz2
import csv
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

import numpy as np
from scipy import io as matlab
from scipy import sparse

HERE = pathlib.Path(__file__).resolve().parent
DIGESTS = HERE / "digests.json"

GEMS = (
    "SZU-AdvTech-2022/271-An-Evolutionary-Multitasking-based-"
    "Feature-Selection-Method-For-High-dimensional-Classification"
)
SCIKIT = "jundongl/scikit-feature"

# Where files come from, at which commit.
COMMITS = {
    "sudheerchalla/Hepatitis": "0ba6852a58da864e9fcdca6ce48ac8feb441ab9c",
    "meho99/datasets": "3fcdfd6f863aa988c9a6a75ddb67ec3e31cc499e",
    "pharmbio/KT_LUPI": "6941dad77a92ec9658061cceaf9f45ca4ee332e1",
    "vishwesh-D-kumar/NaiveBayesClassifier": "e6aea3b308f2d73ac09aef48dd4e649f744a556a",
    "tmazza/random_forests": "c539ef9c3ac8a128a599a6f5615bfa8193935d77",
    "jbrownlee/Datasets": "d20fcb6402ae34e653d4513b00f39257bb37ed7f",
    "KevinChittilapilly/Fairness-Research": "586a031c8777efe33042cb60c3b84595e8964c7d",
    "stepan-tarasenko/cyber_security": "5d5e9c255875934f259a34bb6a00767b5135d437",
    GEMS: "3401299d49c92c9f04e83da3e73f1cc47c6fd0f7",
    "sysbio-bioinf/sputnik": "38806bd588b258a94cf9684f544aa8d52c9f1f8c",
    "haihaolu/RGBM": "4cadaf0680043afc5294c96b731e60aae5d02216",
    "topipa/iter-mm-paper": "2fe967d710a753f08de40a6e81b89d45bbda8273",
    "dtera/fl_xgboost": "0abd2e16afeea63f53ff249f4e0ad15a8e5d663c",
    "unc-optimization/AccSPD": "d2f1f2c961e3401032649544445bb24ab63ab1c5",
    "wzkhan89/TOCDMB_Sourcecode": "55db6560b7974e63be50a5a6c981b5954f7657ad",
    "milicaamladenovic/farm-ads-text-classification": "38b448ba701b6c7d6184ac1f065918b4dcaef586",
    "ramhiser/datamicroarray": "a95f6f68ed3debf48ee54f198435fa12aa655b16",
    "VowpalWabbit/vowpal_wabbit": "872fd8da03677dbf83183890262a5d8f237ff3e0",
    SCIKIT: "48cffad4e88ff4b9d2f1c7baffb314d1b3303792",
}


class Sources:
    """Published files, each fetched once."""

    def __init__(self, clones=None):
        self.clones, self.known = clones, {}

    def bytes(self, repository, path):
        """The bytes of a file."""
        if (repository, path) not in self.known:
            commit = COMMITS[repository]
            if self.clones:
                clone = pathlib.Path(self.clones) / repository.replace("/", "+") / "repo"
                clone = clone / ".git" if (clone / ".git").exists() else clone
                done = subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], capture_output=True, check=True)
                self.known[repository, path] = done.stdout
            else:
                with urllib.request.urlopen(f"https://raw.githubusercontent.com/{repository}/{commit}/{path}") as answer:
                    self.known[repository, path] = answer.read()
        return self.known[repository, path]

    def lines(self, repository, path, skip=0):
        """The rows of a file with commas or blanks."""
        text = self.bytes(repository, path).decode().replace("\r\n", "\n").replace("\r", "\n")
        rows = [line.strip() for line in text.split("\n") if line.strip()][skip:]
        return [[cell.strip() for cell in (row.split(",") if "," in row else row.split())] for row in rows]

    def mat(self, repository, path):
        """The arrays of a file of MATLAB."""
        return matlab.loadmat(io.BytesIO(self.bytes(repository, path)))

    def microarray(self, name, part, positive):
        """X and labels of a set of datamicroarray."""
        import rdata

        with tempfile.NamedTemporaryFile(suffix=".RData") as file:
            file.write(self.bytes("ramhiser/datamicroarray", f"data/{name}.RData"))
            file.flush()
            found = rdata.read_rda(file.name)[part]
        return np.asarray(found["x"], float), signs(np.asarray(found["y"]) == positive)


def signs(positive):
    """Labels: +1 where true, else -1."""
    return np.where(np.asarray(positive).ravel(), 1, -1)


def numbers(rows):
    """Cells as doubles."""
    return np.array(rows, float)


# UCI: raw files, and tables made of them.
def hepatitis(sources):
    rows = sources.lines("sudheerchalla/Hepatitis", "hepatitis.data", skip=1)
    kept = [j for j in range(1, 20) if sum(row[j] == "?" for row in rows) <= 10]
    rows = [row for row in rows if all(row[j] != "?" for j in kept)]
    return numbers([[row[j] for j in kept] for row in rows]), signs([row[0] == "2" for row in rows])


def zoo(sources):
    rows = sources.lines("meho99/datasets", "zoo.data", skip=1)
    return numbers([row[1:17] for row in rows]), signs([row[17] in ("1", "2") for row in rows])


def parkinsons(sources):
    head, *rows = sources.lines("pharmbio/KT_LUPI", "data/parkinsons.data")
    status = head.index("status")
    kept = [j for j in range(1, len(head)) if j != status]
    return numbers([[row[j] for j in kept] for row in rows]), signs([row[status] == "1" for row in rows])


def soybean(sources):
    rows = sources.lines("vishwesh-D-kumar/NaiveBayesClassifier", "soybean-small.data", skip=1)
    columns = []
    for j in range(35):
        values = sorted({row[j] for row in rows})
        # A constant goes; two values are one column, of the second; more are one each.
        columns += [[row[j] == value for row in rows] for value in (values[1:] if len(values) <= 2 else values)]
    return numbers(columns).T, signs([row[35] in ("D1", "D4") for row in rows])


def ionosphere(sources):
    rows = sources.lines("pharmbio/KT_LUPI", "data/ionosphere.data")
    return numbers([row[:34] for row in rows]), signs([row[34] == "g" for row in rows])


def wpbc(sources):
    rows = [row for row in sources.lines("tmazza/random_forests", "data/wpbc.data") if "?" not in row]
    return numbers([row[2:] for row in rows]), signs([row[1] == "R" for row in rows])


def pima(sources):
    rows = sources.lines("jbrownlee/Datasets", "pima-indians-diabetes.csv")
    return numbers([row[:8] for row in rows]), signs([row[8] == "1" for row in rows])


def german(sources):
    rows = sources.lines("KevinChittilapilly/Fairness-Research", "german.data-numeric", skip=1)
    return numbers([row[:24] for row in rows]), signs([row[24] == "2" for row in rows])


def spambase(sources):
    rows = sources.lines("stepan-tarasenko/cyber_security", "spambase.data", skip=1)
    return numbers([row[:57] for row in rows]), signs([row[57] == "1" for row in rows])


def wdbc(sources):
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return found.data, signs(found.target == 0)


# Matrices of MATLAB; `positive` are the classes that are +1.
def matrix(repository, path, positive, rows=slice(None), x="X", y="Y"):
    def made(sources):
        found = sources.mat(repository, path)
        X = found[x][rows]
        return X.astype(float), signs(np.isin(found[y].ravel()[rows], positive))

    return made


def microarray(name, positive, part=None):
    return lambda sources: sources.microarray(name, part or name, positive)


def west_er(sources):
    text = sources.bytes("sysbio-bioinf/sputnik", "example-applications/feature-selection/data/west.csv").decode()
    rows = [row[1:] for row in csv.reader(io.StringIO(text))][1:]
    return numbers(rows[1:]).T, signs(numbers(rows[0]) == 1)


def epsilon(sources):
    rows = []
    for part in ("guest", "host", "test"):
        head, *more = sources.lines("dtera/fl_xgboost", f"data/homoData/epsilon_5k_homo_{part}.csv")
        rows += [[row[head.index("y")], *(v for v, name in zip(row, head, strict=True) if name not in ("id", "y"))] for row in more]
    found = numbers(rows)
    return found[:, 1:], signs(found[:, 0] == 1)


def svmlight(repository, path, p, unpack=bytes):
    """Rows of LIBSVM."""

    def made(sources):
        return sparse_rows(unpack(sources.bytes(repository, path)).decode().splitlines(), p)

    return made


def vowpal(path, p):
    def made(sources):
        lines = sources.bytes("VowpalWabbit/vowpal_wabbit", path).decode().splitlines()
        return sparse_rows([line.replace("|f", "") for line in lines], p)

    return made


def sparse_rows(lines, p):
    """X, compressed rows, and labels of lines `LABEL INDEX:VALUE ...`, indices from 1."""
    labels, at, values, start = [], [], [], [0]
    for line in filter(str.strip, lines):
        label, *cells = line.split()
        labels.append(float(label))
        pairs = [cell.split(":") for cell in cells if ":" in cell]
        at += [int(j) - 1 for j, _ in pairs]
        values += [float(x) for _, x in pairs]
        start.append(len(at))
    return sparse.csr_matrix((values, at, start), shape=(len(labels), p)), signs(np.array(labels) > 0)


def dorothea(x, labels):
    def made(sources):
        found = sources.mat("wzkhan89/TOCDMB_Sourcecode", "data/dorothea.mat")
        y = found["Y_train"] if labels is None else numbers(sources.lines("wzkhan89/TOCDMB_Sourcecode", labels))
        return sparse.csr_matrix(found[x]), signs(np.ravel(y) == 1)

    return made


def farm_ads(sources):
    here = "milicaamladenovic/farm-ads-text-classification"
    X = sparse.load_npz(io.BytesIO(sources.bytes(here, "artifacts_farm_ads/X_raw.npz")))
    y = np.load(io.BytesIO(sources.bytes(here, "artifacts_farm_ads/y_raw.npy")))
    return sparse.csr_matrix(X, dtype=float), signs(y == 1)


def basehock(sources):
    found = sources.mat(SCIKIT, "skfeature/data/BASEHOCK.mat")
    return sparse.csr_matrix(found["X"].astype(float)), signs(found["Y"] == 2)


SETS = {
    "hepatitis.csv": hepatitis,
    "zoo.csv": zoo,
    "parkinsons.csv": parkinsons,
    "soybean-small.csv": soybean,
    "wdbc.csv": wdbc,
    "ionosphere.csv": ionosphere,
    "wpbc.csv": wpbc,
    "pima-indians-diabetes.csv": pima,
    "german-numeric.csv": german,
    "spambase.csv": spambase,
    "madelon_train.csv.gz": matrix(SCIKIT, "skfeature/data/madelon.mat", [1], slice(2000)),
    "madelon_valid.csv.gz": matrix(SCIKIT, "skfeature/data/madelon.mat", [1], slice(2000, 2600)),
    "arcene.csv.gz": matrix(SCIKIT, "skfeature/data/arcene.mat", [1]),
    "leukemia_golub.csv.gz": microarray("golub", "AML"),
    "leukemia_golub_train.csv.gz": microarray("golub", "AML", "golub_train"),
    "leukemia_golub_test.csv.gz": microarray("golub", "AML", "golub_test"),
    "leukemia_5327.csv.gz": matrix(GEMS, "Leukemia1.mat", [2]),
    "dlbcl_shipp.csv.gz": microarray("shipp", "DLBCL"),
    "dlbcl_5469.csv.gz": matrix(GEMS, "DLBCL.mat", [2]),
    "cns_pomeroy.csv.gz": microarray("pomeroy", "died"),
    "breast_west_er.csv.gz": west_er,
    "breast_west_nodal.csv.gz": microarray("west", "positive"),
    "duke_breast.svm.gz": svmlight("haihaolu/RGBM", "dataset/duke.bz2", 7129, bz2.decompress),
    "huntington_borovecki.csv.gz": microarray("borovecki", "symptomatic"),
    "breast_gravier.csv.gz": microarray("gravier", "poor"),
    "glioma_4434.csv.gz": matrix(SCIKIT, "skfeature/data/GLIOMA.mat", [1, 3]),
    "ovarian_1536.csv.gz": matrix("topipa/iter-mm-paper", "data/ovarian.mat", [1], x="x", y="y"),
    "a9a.svm.gz": svmlight("haihaolu/RGBM", "dataset/a9a.txt", 123),
    "a9a.t.svm.gz": svmlight("dtera/fl_xgboost", "data/a9a.t", 123),
    "w8a.svm.gz": svmlight("unc-optimization/AccSPD", "data/w8a", 300),
    "dorothea_train.svm.gz": dorothea("X_train", None),
    "dorothea_valid.svm.gz": dorothea("X_valid", "data/dorothea_valid.labels"),
    "farm_ads.svm.gz": farm_ads,
    "rcv1_small_train.svm.gz": vowpal("test/train-sets/rcv1_small.dat", 47236),
    "rcv1_small_test.svm.gz": vowpal("test/test-sets/rcv1_small_test.data", 47236),
    "basehock.svm.gz": basehock,
    "epsilon_5k_100.csv.gz": epsilon,
}


def digest(X, y):
    """sha256 of the shape, the values as doubles by rows (of sparse data where they are, too), the labels."""
    out = hashlib.sha256(np.array(X.shape, "<i8").tobytes())
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=float)
        X.sort_indices()
        X.eliminate_zeros()
        out.update(X.indptr.astype("<i8").tobytes() + X.indices.astype("<i8").tobytes())
        X = X.data
    # -0 is 0.
    out.update((np.ascontiguousarray(X, "<f8") + 0.0).tobytes())
    out.update(np.asarray(y, "<i8").tobytes())
    return out.hexdigest()


def read(path, p=None):
    """A file of the folder."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        if ".svm" in path.name:
            return sparse_rows(file.read().splitlines(), p)
        rows = list(csv.reader(file))[1:]
    found = numbers(rows)
    return found[:, :-1], found[:, -1].astype(int)


def write(path, X, y, names):
    """As csv or LIBSVM text; a number is the shortest text that reads back the same."""
    short = lambda v: str(int(v)) if v == int(v) else repr(float(v))
    if sparse.issparse(X):
        X.sort_indices()
        at = lambda i: slice(X.indptr[i], X.indptr[i + 1])
        row = lambda i: zip(X.indices[at(i)], X.data[at(i)], strict=True)
        lines = [" ".join([f"{label:+d}", *(f"{j + 1}:{short(v)}" for j, v in row(i))]) for i, label in enumerate(y)]
    else:
        lines = [",".join([*names, "y"]), *(",".join([*map(short, x), str(label)]) for x, label in zip(X, y, strict=True))]
    text = "\n".join(lines) + "\n"
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as file:
        file.write(text)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--only", nargs="*", default=list(SETS))
    options.add_argument("--clones", help="a folder with clones, in place of the network")
    options.add_argument("--check", action="store_true", help="compare the files of the folder with the digests")
    args = options.parse_args()
    known = json.loads(DIGESTS.read_text())
    if unknown := sorted(set(args.only) - set(SETS)):
        sys.exit(f"there is no set {', '.join(unknown)}; there are {', '.join(SETS)}")
    sources, wrong = Sources(args.clones), 0
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        path, told = args.folder / name, known[name]
        try:
            X, y = read(path, told["p"]) if args.check else SETS[name](sources)
        except (OSError, subprocess.CalledProcessError) as error:
            wrong += 1
            print(f"{name}: {error}")
            continue
        same = digest(X, y) == told["digest"]
        wrong += not same
        said = "as it should be" if same else "NOT the data that the results were made with"
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {said}", flush=True)
        if same and not args.check:
            write(path, X, y, told.get("names") or [f"x{j + 1}" for j in range(X.shape[1])])
    if wrong:
        sys.exit(f"{wrong} of {len(args.only)} files are missing or differ")


if __name__ == "__main__":
    main()
