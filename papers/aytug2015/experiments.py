"""The problems of aytug2015 (sections 4): which there are, and how their three sets are made. Standard library only.

A problem's name is its place: `1/n500-p20/3` (experiment 1), `2/M100/0` (experiment 2), `3/wdbc` (experiment 3).
"""
import gzip
import pathlib
import random
from dataclasses import dataclass

SETS = ("train", "validation", "test")
TEST_SAMPLES = 5000  # of experiments 1 and 2; the paper does not say

# Experiment 3: binary sets of the shared data folder. The paper's 25 sets are named in a table that
# our text of it lacks, but for GINA, SYLVA and Leukemia; the first two could not be had.
REAL = {
    "hepatitis": "hepatitis.csv",
    "zoo": "zoo.csv",
    "parkinsons": "parkinsons.csv",
    "soybean-small": "soybean-small.csv",
    "wdbc": "wdbc.csv",
    "ionosphere": "ionosphere.csv",
    "wpbc": "wpbc.csv",
    "pima": "pima-indians-diabetes.csv",
    "german": "german-numeric.csv",
    "spambase": "spambase.csv",
    "madelon": "madelon_train.csv.gz",
    "leukemia": "leukemia_golub.csv.gz",
    "dlbcl": "dlbcl_shipp.csv.gz",
    "cns": "cns_pomeroy.csv.gz",
    "breast-er": "breast_west_er.csv.gz",
    "ovarian": "ovarian_1536.csv.gz",
    "arcene": "arcene.csv.gz",
}


@dataclass(frozen=True)
class Problem:
    """Three sets and the number of features to select."""

    name: str
    n: int = 0  # training samples; of real data counted when split
    p: int = 0
    M: int = 0  # of real data from onsvm.json
    seed: int = 0

    @property
    def experiment(self):
        return int(self.name[0])

    @property
    def scale(self):
        """Synthetic points fill the unit ball evenly: all features are on one scale, and weights of unscaled data compare
        with the truth as they are. Real data are standardised."""
        return "standard" if self.experiment == 3 else "none"


def experiment_1():
    """90 problems: n in {500, 1000, 5000}, p in {20, 50, 100}, 10 each.

    "M was selected randomly", about evenly over the range of M / p: problem k of 10 takes M from the k-th tenth of it."""
    out = []
    for n in (500, 1000, 5000):
        for p in (20, 50, 100):
            for k in range(10):
                seed = 100 * len(out) + 1
                share = (k + random.Random(seed).random()) / 10
                M = 1 + int(share * (p - 1))  # 1 ... p - 1
                out.append(Problem(f"1/n{n}-p{p}/{k}", n, p, M, seed))
    return out


def experiment_2():
    """25 problems: n = 1000, p = 800, M in {20, 100, 200, 400, 600}, 5 each."""
    return [
        Problem(f"2/M{M}/{k}", 1000, 800, M, 100_000 + 1000 * M + k) for M in (20, 100, 200, 400, 600) for k in range(5)
    ]


def experiment_3(sizes):
    """Real data; `sizes` gives M by name (see onsvm.py)."""
    return [Problem(f"3/{name}", M=sizes.get(name, 0), seed=1) for name in REAL]


def quick(problem):
    """Whether the problem is one of the few of --quick."""
    return problem.name in ("1/n500-p20/2", "3/zoo")


def generate(fewest, problem, folder):
    """Writes train.npz, validation.npz, test.npz and truth.json of a synthetic problem; the files by set."""
    files = {part: folder / f"{part}.npz" for part in SETS}
    words = ["generate", "hyperplane", "--samples", problem.n, "--features", problem.p, "--relevant", problem.M]
    words += ["--seed", problem.seed, "--out", files["train"], "--validation", files["validation"]]
    words += ["--test", files["test"], "--test-samples", TEST_SAMPLES, "--truth", folder / "truth.json"]
    fewest.text(*words)
    return files


def split(data, problem, folder):
    """Writes train.csv, validation.csv and test.csv of a real data set, 60/20/20 of each class; the files by set.

    Rows are drawn by the seed; their order in each file is that of the data."""
    path = pathlib.Path(data) / REAL[problem.name[2:]]
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        header, *lines = file.read().splitlines()
    by_class = {}
    for at, line in enumerate(lines):
        by_class.setdefault(line.rsplit(",", 1)[1], []).append(at)
    draw = random.Random(problem.seed)
    rows = {part: [] for part in SETS}
    for name in sorted(by_class):
        order = sorted(by_class[name], key=lambda _: draw.random())
        first, second = round(0.6 * len(order)), round(0.8 * len(order))
        for part, chosen in zip(SETS, (order[:first], order[first:second], order[second:])):
            rows[part] += chosen
    files = {}
    for part in SETS:
        files[part] = folder / f"{part}.csv"
        files[part].write_text("\n".join([header, *(lines[at] for at in sorted(rows[part]))]) + "\n")
    return files
