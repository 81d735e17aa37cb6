"""Which rule of choice does best: every rule on the same candidates of the same outer folds, on 15 shared sets at most 5 and 10 features.

    study_rules.py [--sets SET ...] [--deals 4] [--report]

`fewest-bench study` scores every candidate of a study (method, costs, size) on two deals of five inner folds and on the samples of the outer
fold; this script applies rules to these tables (bench/.cache/study/SET.jsonl, minutes a set; --report makes none) and writes
results/study_rules.md. Rules differ by the choice alone. Nothing is timed.
"""

import argparse
import json
import math
import subprocess

import common as c
import numpy as np
from scipy import sparse

SETS = [
    "leukemia_golub", "breast_west_er", "cns_pomeroy", "dlbcl_shipp", "glioma_4434", "ovarian_1536", "breast_west_nodal", "huntington_borovecki",
    "breast_gravier", "wpbc", "parkinsons", "ionosphere", "wdbc", "german-numeric", "arcene",
]
TABLES = c.CACHE / "study"
PAGE = c.RESULTS / "study_rules.md"
FITS = np.log([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0])
LINEAR = ("exact", "rfe")


def made(name, deals):
    """The tables of a set, by fold; run where they are missing."""
    file = TABLES / f"{name}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    if len(lines) < 5 * deals:
        TABLES.mkdir(parents=True, exist_ok=True)
        data = next(path for path in [c.DATA / f"{name}.csv.gz", c.DATA / f"{name}.csv"] if path.exists())
        words = [c.BINARY, "study", data, "--size", 10, "--repeats", deals, "--inner-repeats", 2, "--out", file]
        subprocess.run([str(word) for word in words], check=True, capture_output=True)
        lines = file.read_text().splitlines()
    return [json.loads(line) for line in lines]


class Fold:
    """Candidates of an outer fold up to a size: places (size, cost, fit, method), scores on inner splits (splits x candidates x 4: accuracy,
    AUC, log-loss, hinge) and on the samples held out (candidates x 4)."""

    def __init__(self, table, most):
        place = lambda key: (key["size"], key["cost"], key["fit"], key["method"])
        rows = [{place(key): scores for key, scores in row["scores"]} for row in [*table["inner"], table["outer"]]]
        keys = sorted(key for key in set.intersection(*map(set, rows)) if table["sizes"][key[0]] <= most)
        values = np.array([[[math.nan if x is None else x for x in row[key]] for key in keys] for row in rows])
        self.keys, self.inner, self.outer, self.most = np.array(keys), values[:-1], values[-1], most
        self.size = np.array(table["sizes"])[self.keys[:, 0]]
        self.cost = np.log(table["costs"])
        self.linear = np.isin(np.array(table["methods"])[self.keys[:, 3]], LINEAR)
        self.kernel = np.array(table["methods"])[self.keys[:, 3]] == "kta"
        self.near = {}

    def neighbours(self, methods):
        """Mean over a candidate and its neighbours, as a matrix; `methods`: linear ones are neighbours of each other."""
        if methods not in self.near:
            k = self.keys
            kind = np.where(self.linear, 0, 1 + k[:, 3]) if methods else k[:, 3]
            close = np.abs(self.size[:, None] - self.size) <= 1
            for column in (1, 2):
                close &= np.abs(k[:, None, column] - k[None, :, column]) <= 1
            close &= kind[:, None] == kind
            weights = close / close.sum(1, keepdims=True)
            self.near[methods] = sparse.csr_matrix(weights)
        return self.near[methods]

    def steps(self):
        """Steps of the grid between a candidate and C = 0.01, classifier 0.1, for standardised features."""
        selection = np.where(self.linear, np.abs(self.cost[self.keys[:, 1]] - math.log(0.01)) / (self.cost[1] - self.cost[0]), 1.0)
        fit = np.abs(FITS[self.keys[:, 2]] - np.log(self.size) - math.log(0.1)) / (FITS[1] - FITS[0])
        return selection + np.where(self.kernel, np.abs(self.keys[:, 2] - 3), fit)


SCORES = {
    "accuracy": lambda s: s[..., 0],
    "auc": lambda s: s[..., 1],
    "log-loss": lambda s: -s[..., 2],
    "hinge": lambda s: -s[..., 3],
    "accuracy + hinge": lambda s: (s[..., 0] + 1 - s[..., 3]) / 2,
    "combined": lambda s: (s[..., 0] + s[..., 1] + 1 - s[..., 3]) / 3,
}


def valued(fold, score, smooth, weight, deals):
    """Scores by split and candidate, as a pick compares them."""
    inner = SCORES[score](fold.inner[: 5 * deals])
    if smooth:
        inner = (fold.neighbours(smooth == "methods") @ np.nan_to_num(inner, nan=np.nanmin(inner)).T).T
    return inner - weight * fold.steps()


def best(score="combined", smooth="methods", weight=0.0, deals=1):
    def rule(fold):
        return int(np.argmax(np.nanmean(valued(fold, score, smooth, weight, deals), 0)))

    return rule


def smallest(most_lost=0.01, errors=1, corrected=True, weight=0.01, deals=1, unbroken=True, account=(0.005, 0.01)):
    """The smallest size within `errors` paired standard errors of the best that loses at most `most_lost` of accuracy, or that loses less
    accuracy and score than is of account."""

    def rule(fold):
        values = valued(fold, "combined", "methods", weight, deals)
        accuracy = valued(fold, "accuracy", "methods", 0.0, deals)
        means = np.nanmean(values, 0)
        top = last = int(np.argmax(means))
        for size in sorted({size for size in fold.size if size < fold.size[top]}, reverse=True):
            places = np.flatnonzero(fold.size == size)
            at = places[np.argmax(means[places])]
            lost = values[:, top] - values[:, at]
            error = lost.std(ddof=1) * math.sqrt(1 / len(lost) + (0.25 if corrected else 0))
            less = (accuracy[:, top] - accuracy[:, at]).mean()
            if (lost.mean() <= errors * error + 1e-12 and less <= most_lost) or (less <= account[0] and lost.mean() <= account[1]):
                last = at
            elif unbroken:
                break
        return last

    return rule


def untuned(fold):
    """`exact` at C = 0.01 with its classifier at 0.1, the largest size."""
    here = (fold.keys[:, 3] == 0) & (fold.size == fold.size.max())
    return int(np.argmin(np.where(here, fold.steps(), np.inf)))


RULES = {
    "combined:shrunk (the default)": best(weight=0.01),
    "the same, two deals of inner folds": best(weight=0.01, deals=2),
    "combined:shrunk by 0.005": best(weight=0.005),
    "combined:shrunk by 0.02": best(weight=0.02),
    "hinge:shrunk": best("hinge", weight=0.01),
    "accuracy + hinge:shrunk": best("accuracy + hinge", weight=0.01),
    "combined:smooth": best(),
    "combined:smooth, each method alone": best(smooth="alone"),
    "combined:best": best(smooth=None),
    "hinge:smooth, each method alone (until now)": best("hinge", "alone"),
    "accuracy:smooth": best("accuracy"),
    "auc:smooth": best("auc"),
    "log-loss:smooth": best("log-loss"),
    "untuned": untuned,
    "smallest (the default's)": smallest(),
    "smallest, two deals": smallest(deals=2),
    "smallest, any sure loss": smallest(account=(-1, -1)),
    "smallest, no account alone": smallest(errors=-1e9),
    "smallest, 1 % and 0.02 are of no account": smallest(account=(0.01, 0.02)),
    "smallest, error not corrected": smallest(corrected=False),
    "smallest, any loss within the error": smallest(1.0),
    "smallest, 2 errors": smallest(errors=2),
    "smallest, any size on the way": smallest(unbroken=False),
}
PANELS = {name: name for name in RULES if name.startswith("smallest")}


def ranks(values):
    return [1 + sum(v > value + 1e-12 for v in values) + 0.5 * (sum(abs(v - value) <= 1e-12 for v in values) - 1) for value in values]


def worse(best_of, small_of):
    """By how many corrected standard errors of the difference the first is more accurate (Nadeau, Bengio 2003)."""
    lost = np.array(best_of) - np.array(small_of)
    error = lost.std(ddof=1) * math.sqrt(1 / len(lost) + 0.25)
    return lost.mean() / error if error > 0 else 0.0


def page(found, deals):
    lines = ["# Rules of choice", "", f"`bench/study_rules.py`, {len(found)} sets, {deals} deals of 5 outer folds, 5 inner folds, the candidates of a study up to the size. "
             "Ranks by accuracy over all rules here, ties shared. A shrunk score is smoothed and loses 0.01 (or as said) for each step of the grid from "
             "C = 0.01 and 0.1 of the classifier. The smallest size is within one paired standard error (corrected for folds that share samples) and loses at most 1 % of accuracy inside the folds, or at most 0.5 % of accuracy and 0.01 of the score."]
    for most in (5, 10):
        table = {rule: [found[name][most][rule] for name in found] for rule in RULES}
        accuracy = {rule: [np.mean([f[0] for f in of]) for of in sets] for rule, sets in table.items()}
        ranked = np.array([ranks([accuracy[rule][at] for rule in RULES]) for at in range(len(found))])
        lines += ["", f"## At most {most} features", "", "| rule | accuracy | mean rank | AUC | features | smallest: worst set, in standard errors |", "| --- | --- | --- | --- | --- | --- |"]
        rows = []
        for at, (rule, sets) in enumerate(table.items()):
            tail = ""
            if rule in PANELS:
                base = "the same, two deals of inner folds" if "two deals" in rule else "combined:shrunk (the default)"
                said = [(worse([f[0] for f in found[name][most][base]], [f[0] for f in of]), name) for name, of in zip(found, sets, strict=True)]
                tail = "{1} {0:.2f}".format(*max(said))
            rows.append((np.mean(accuracy[rule]), f"| {rule} | {np.mean(accuracy[rule]):.4f} | {ranked[:, at].mean():.2f} | {np.mean([np.nanmean([f[1] for f in of]) for of in sets]):.4f} "
                         f"| {np.mean([np.mean([f[2] for f in of]) for of in sets]):.2f} | {tail} |"))
        lines += [text for _, text in sorted(rows, key=lambda row: -row[0])]
        lines += ["", "| accuracy | " + " | ".join(found) + " |", "| --- |" + " --- |" * len(found)]
        for rule in ("combined:shrunk (the default)", "smallest (the default's)", "hinge:smooth, each method alone (until now)", "untuned"):
            lines.append(f"| {rule} | " + " | ".join(f"{value:.3f}" for value in accuracy[rule]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--deals", type=int, default=4, help="times the outer folds are dealt")
    parser.add_argument("--report", action="store_true", help="write the results of the tables that are there, make none")
    a = parser.parse_args()
    found = {}
    for name in a.sets:
        if a.report and not (TABLES / f"{name}.jsonl").exists():
            continue
        found[name] = {5: {rule: [] for rule in RULES}, 10: {rule: [] for rule in RULES}}
        for table in made(name, a.deals):
            for most in (5, 10):
                fold = Fold(table, most)
                for rule, chosen in RULES.items():
                    at = chosen(fold)
                    found[name][most][rule].append((fold.outer[at, 0], fold.outer[at, 1], float(fold.size[at])))
        print(name, flush=True)
    PAGE.write_text(page(found, a.deals))


if __name__ == "__main__":
    main()
