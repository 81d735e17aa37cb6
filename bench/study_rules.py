"""Which rule of choice of a study does best? Every rule on the same candidates of the same outer folds of a half of the corpus (bench/corpus.py).

    study_rules.py --half first [--sets SET ...] [--workers 1] [--report]

`fewest-bench study` scores every candidate of a study (method, costs, size up to 10) on two deals of five inner folds, and on the samples of the outer
fold. This script keeps the tables (bench/.cache/study/SET.jsonl), applies the rules to them and writes results/study_rules_HALF.md. Rules differ by the
choice alone. The second half is opened once, when the rule stands. Nothing is timed.
"""

import concurrent.futures
import copy
import json
import math
import subprocess

import benefit_report as b
import common as c
import corpus
import numpy as np
from scipy import sparse

TABLES, SIZE, FOLDS, DEFAULT = c.CACHE / "study", 10, 5, "combined:shrunk by 0.01"
FITS = np.log([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0])
LINEAR = ("exact", "rfe")


def made(one, folder):
    """The tables of a set, by fold; run where they are missing."""
    file = TABLES / f"{one['name']}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    if len(lines) < FOLDS:
        TABLES.mkdir(parents=True, exist_ok=True)
        words = [c.BINARY, "study", folder / one["file"], "--size", min(SIZE, one["features"]), "--repeats", 1, "--inner-repeats", 2, "--out", file]
        done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True)
        if done.returncode:
            return f"{one['name']}: {done.stderr.strip()}"
    return None


class Fold:
    """Candidates of an outer fold: places (size, cost, fit, method), scores on inner splits (splits x candidates x 3: accuracy, AUC, hinge) and on
    the samples held out (candidates x 3), subsets on the training part."""

    def __init__(self, table, p):
        place = lambda key: (key["size"], key["cost"], key["fit"], key["method"])
        rows = [{place(key): scores for key, scores in row["scores"]} for row in [*table["inner"], table["outer"]]]
        keys = sorted(set.intersection(*map(set, rows)))
        values = np.array([[[math.nan if x is None else x for x in row[key]] for key in keys] for row in rows], dtype=float)
        self.keys, self.inner, self.outer, self.split = np.array(keys), values[:-1], values[-1], len(values) // 2
        self.size = np.array(table["sizes"])[self.keys[:, 0]]
        # Times the mean square of a feature.
        self.cost = np.linspace(math.log(max(1e-4, 1 / table["samples"])), math.log(1e2), len(table["costs"])) - math.log(p)
        self.method = np.array(table["methods"])[self.keys[:, 3]]
        self.linear = np.isin(self.method, LINEAR)
        subsets = {place(key): features for key, features in table["outer"]["subsets"]}
        self.subsets = [subsets.get((size, cost, 0, method), []) for size, cost, _, method in keys]
        self.near, self.places = self.neighbours(), np.arange(len(keys))

    def neighbours(self):
        """Mean over a candidate and its neighbours, as a matrix."""
        k, kind = self.keys, np.where(self.linear, -1, self.keys[:, 3])
        close = np.abs(self.size[:, None] - self.size) <= 1
        for column in (1, 2):
            close &= np.abs(k[:, None, column] - k[None, :, column]) <= 1
        close &= kind[:, None] == kind
        return sparse.csr_matrix(close / close.sum(1, keepdims=True))

    def thin(self):
        """Every second cost of the selection."""
        fold, keep = copy.copy(self), (self.keys[:, 1] % 2 == 1) | ~self.linear
        fold.keys, fold.inner, fold.outer, fold.size = self.keys[keep], self.inner[:, keep], self.outer[keep], self.size[keep]
        fold.keys[:, 1] //= 2
        fold.cost, fold.method, fold.linear, fold.places = self.cost[1::2], self.method[keep], self.linear[keep], np.flatnonzero(keep)
        fold.near = fold.neighbours()
        return fold

    def steps(self):
        """Steps of the grid between a candidate and C = 0.01 and 0.1 of the classifier, for standardised features."""
        selection = np.where(self.linear, np.abs(self.cost[self.keys[:, 1]] - math.log(0.01)) / (self.cost[1] - self.cost[0]), 1.0)
        fit = np.abs(FITS[self.keys[:, 2]] - np.log(self.size) - math.log(0.1)) / (FITS[1] - FITS[0])
        return selection + np.where(self.method == "kta", np.abs(self.keys[:, 2] - 3), fit)

    def fixed(self, largest=True):
        """Candidates of `exact` at the costs that need no data."""
        steps = np.where(self.method == "exact", self.steps(), np.inf)
        best = np.array([steps[self.size == size].min() for size in self.size])
        return (steps <= best + 1e-9) & np.isfinite(steps) & ((self.size == self.size.max()) | (not largest))


SCORES = {
    "accuracy": lambda s: s[..., 0],
    "auc": lambda s: s[..., 1],
    "hinge": lambda s: -s[..., 2],
    "accuracy + hinge": lambda s: (s[..., 0] + 1 - s[..., 2]) / 2,
    "auc + hinge": lambda s: (s[..., 1] + 1 - s[..., 2]) / 2,
    "combined": lambda s: (s[..., 0] + s[..., 1] + 1 - s[..., 2]) / 3,
}


def best(score="combined", smooth=True, weight=0.01, deals=1, of=None, small=0.0, thin=False):
    """The best mean; `of`: among these candidates alone; `small`: what a feature less than the most loses."""

    def rule(fold):
        fold = fold.thin() if thin else fold
        inner = SCORES[score](fold.inner[: fold.split * deals])
        values = np.nanmean(inner, 0)
        values = fold.near @ np.nan_to_num(values, nan=np.nanmin(values)) if smooth else values
        values = values - weight * fold.steps() - small * (fold.size.max() - fold.size)
        return int(fold.places[np.argmax(np.where(of(fold), values, -np.inf) if of else values)])

    return rule


RULES = {
    DEFAULT: best(),
    "the same, inner folds twice": best(deals=2),
    "combined:shrunk by 0.02": best(weight=0.02),
    "combined:shrunk by 0.02, twice": best(weight=0.02, deals=2),
    "combined:shrunk by 0.04": best(weight=0.04),
    "combined:shrunk by 0.04, twice": best(weight=0.04, deals=2),
    "by 0.03, twice": best(weight=0.03, deals=2),
    "by 0.06, twice": best(weight=0.06, deals=2),
    "by 0.02, twice, a feature less loses 0.002": best(weight=0.02, deals=2, small=0.002),
    "by 0.04, twice, a feature less loses 0.002": best(weight=0.04, deals=2, small=0.002),
    "every second cost, by 0.04": best(weight=0.04, thin=True),
    "every second cost, by 0.04, twice": best(weight=0.04, deals=2, thin=True),
    "every second cost, by 0.08, twice": best(weight=0.08, deals=2, thin=True),
    "by 0.01, twice, a feature less loses 0.002": best(deals=2, small=0.002),
    "by 0.01, twice, a feature less loses 0.005": best(deals=2, small=0.005),
    "by 0.04, twice, exact alone": best(weight=0.04, deals=2, of=lambda fold: fold.method == "exact"),
    "combined, not shrunk": best(weight=0),
    "combined, the best alone": best(smooth=False, weight=0),
    "hinge:shrunk": best("hinge"),
    "accuracy + hinge:shrunk": best("accuracy + hinge"),
    "auc + hinge:shrunk": best("auc + hinge"),
    "accuracy:shrunk": best("accuracy"),
    "auc:shrunk": best("auc"),
    "exact alone": best(of=lambda fold: fold.method == "exact"),
    "exact and rfe": best(of=lambda fold: fold.linear),
    "by 0.02, a feature less loses 0.002": best(weight=0.02, small=0.002),
    "by 0.02, a feature less loses 0.005": best(weight=0.02, small=0.005),
    "by 0.01, a feature less loses 0.002": best(small=0.002),
    "by 0.01, a feature less loses 0.005": best(small=0.005),
    "size alone, at fixed costs": best(of=lambda fold: fold.fixed(False)),
    "size alone, twice": best(deals=2, of=lambda fold: fold.fixed(False)),
    "the largest size, costs chosen": best(of=lambda fold: fold.size == fold.size.max()),
    "fixed costs, the largest size": best(of=lambda fold: fold.fixed()),
}


class Judged:
    """A rule on a set: means over the outer folds."""

    def __init__(self, folds, at, p):
        outer = np.array([fold.outer[i] for fold, i in zip(folds, at, strict=True)])
        self.accuracy, self.auc, self.hinge = np.nanmean(outer, 0)
        subsets = [fold.subsets[i] for fold, i in zip(folds, at, strict=True)]
        self.features, self.stability = np.mean([len(subset) for subset in subsets]), b.stability(subsets, p)


def judged(one):
    """By rule what it is worth on a set, or none where a fold has no candidate."""
    folds = [Fold(json.loads(line), one["features"]) for line in (TABLES / f"{one['name']}.jsonl").read_text().splitlines()]
    return {name: Judged(folds, [rule(fold) for fold in folds], one["features"]) for name, rule in RULES.items()}


def page(sets, half, trouble):
    table = {one["name"]: judged(one) for one in sets}
    ranks = {measure: b.ranked(table, list(RULES), measure, sign)[0] for measure, sign in {"accuracy": 1, "auc": 1, "hinge": -1}.items()}
    lines = [f"# Rules of choice, the {half} half of the corpus", "", f"    python3 bench/corpus.py; python3 bench/study_rules.py --half {half}", ""]
    lines += [f"{len(table)} sets, {FOLDS} outer folds, five inner folds, the candidates of a study up to {SIZE} features. Ranks over these rules, 1 is the best of a set, ties shared. "
              "A shrunk score is smoothed over neighbours and loses 0.01 (or as named) for each step of the grid from C = 0.01 and 0.1 of the classifier, for standardised features. "
              "Fixed costs are the places of `exact` on the grid next to these two.", ""]
    mean = lambda rule, what: b.mean([getattr(of[rule], what) for of in table.values()])
    rows = [[rule, *(b.shown(ranks[of][rule], 2) for of in ranks), *(b.shown(mean(rule, of), 4) for of in ranks), b.shown(mean(rule, "features"), 1), b.shown(mean(rule, "stability"))]
            for rule in sorted(RULES, key=lambda rule: ranks["accuracy"][rule] + ranks["auc"][rule])]
    lines += b.grid(["rule", "rank, accuracy", "rank, AUC", "rank, hinge", "accuracy", "AUC", "hinge", "features", "stability"], rows)
    lines += ["", f"Mean ranks differ at 5 % from {b.critical_difference(len(RULES), len(table)):.2f} on (Nemenyi, all pairs). Rows are in the order of the sum of the first two ranks.", ""]
    few = [DEFAULT, "combined:shrunk by 0.02", "size alone, at fixed costs", "fixed costs, the largest size"]
    lines += b.grid(["accuracy", *few], [[name, *(b.shown(of[rule].accuracy) for rule in few)] for name, of in sorted(table.items())])
    lines += ["", "Not done: " + ("; ".join(trouble) or "none") + ".", "", f"{c.cpu()}, {c.versions()}."]
    (c.RESULTS / f"study_rules_{half}.md").write_text("\n".join(lines) + "\n")


def main():
    parser = corpus.options(__doc__)
    parser.add_argument("--workers", type=int, default=1, help="sets at once, each by one thread")
    a = parser.parse_args()
    sets = corpus.of_half(a.folder, a.half, a.sets)
    trouble = []
    if not a.report:
        with concurrent.futures.ThreadPoolExecutor(a.workers) as pool:
            for one, why in zip(sets, pool.map(lambda one: made(one, a.folder), sets), strict=True):
                trouble += [why] if why else []
                print(why or one["name"], flush=True)
    whole = lambda one: (file := TABLES / f"{one['name']}.jsonl").exists() and len(file.read_text().splitlines()) == FOLDS
    page([one for one in sets if whole(one)], a.half, trouble)


if __name__ == "__main__":
    main()
