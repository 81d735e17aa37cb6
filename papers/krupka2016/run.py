#!/usr/bin/env python3
"""The experiments of krupka2016 with `fewest` on public sets: runs what is missing, then writes the tables.

    python3 papers/krupka2016/run.py [--fewest PATH] [--only models | genes | tuning | flips ...] [--sets NAME ...]

models  R1 to R5 (SVM-RFE, cost tuned at every step, best subset returned: `eb-rfe --candidates 1`)
        and EB3 to EB20 (R5 with 3, 5, 8, 12 and 20 candidates) on 18 sets
genes   R5 to EB20 on five sets with more features than samples
tuning  section 2.6: R5 with a linear kernel, without a variance threshold, with a larger one
flips   sections 2.8 and 3.5: Bit-Flip and Attribute-Flip from the subset of R5, and EB20 with a dynamic C

Each model is judged twice: by the thesis, where the 9 folds that choose the subset also give its
accuracy, and by nested cross-validation, 5 folds outside and 9 inside each. Then the thesis's tests
across data sets: relative improvements with one-sided t-tests; beside them Friedman's test,
Wilcoxon's signed ranks and the sign test. The claims of docs/reproduction.md are paired t-tests
across sets, two-sided.

The pages are OUT/tables.md, OUT/genes.md, OUT/tuning.md and OUT/flips.md. Needs numpy, scipy and scikit-learn.
"""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE), str(HERE.parent)]

import common  # noqa: E402

import numpy as np  # noqa: E402
import sets  # noqa: E402
from common import table  # noqa: E402
from paired import POINTS, Claim, Measure, Shown, as_good, every, left_open, more, most, on_cases, same  # noqa: E402
from scipy import stats  # noqa: E402

FIVE, SIX = "0.25,1,4,16,64", "0.0625,0.25,1,4,16,64"
RBF = "--kernel rbf --gamma 1/p --criterion input-weights"
# Candidates, variance threshold, class weights, costs: Table 2.2 and section 3.3.
MODELS = {
    "R1": (1, 0.05, "none", FIVE),
    "R2": (1, 0.05, "cw3", FIVE),
    "R3": (1, 0.05, "cw2", FIVE),
    "R4": (1, 0.02, "none", SIX),
    "R5": (1, 0.02, "cw3", SIX),
    "EB3": (3, 0.02, "cw3", SIX),
    "EB5": (5, 0.02, "cw3", SIX),
    "EB8": (8, 0.02, "cw3", SIX),
    "EB12": (12, 0.02, "cw3", SIX),
    "EB20": (20, 0.02, "cw3", SIX),
}
PRINTED = {"R1": (40, 72.96), "R2": (45, 72.68), "R3": (49, 71.62), "R4": (57, 73.63), "R5": (62, 73.62)}  # Table 2.2: # F, accuracy
TUNING = {
    "R5": (RBF, 0.02, "cw3"),
    "linear kernel": ("--kernel linear", 0.02, "cw3"),
    "no threshold": (RBF, 0, "cw3"),
    "threshold 0.05": (RBF, 0.05, "cw3"),
    "equal class weights": (RBF, 0.02, "none"),
}
CHAIN = ["R5", "EB3", "EB5", "EB8", "EB12", "EB20"]
# Section 2.8, from the subset of R5, and section 3.5: as many candidates as have nearly the smallest weight.
FLIPS = ("bit-flip", "attribute-flip")
RATIO = 1.5
ADAPTIVE = "EB20, dynamic"
PARTS = {"models": list(MODELS), "genes": CHAIN, "tuning": list(TUNING), "flips": [*FLIPS, ADAPTIVE]}
INNER, OUTER = 9, 5
NEAR = 0.005  # "very similar performances": so much less accuracy, for a smaller subset


def form(part, model):
    """(kernel, candidates, wanted threshold, class weights, costs) of a model."""
    if part == "tuning":
        kernel, threshold, weights = TUNING[model]
        return kernel, 1, threshold, weights, SIX
    if part == "flips":
        model = "EB20" if model == ADAPTIVE else "R5"
    candidates, threshold, weights, costs = MODELS[model]
    return RBF, candidates, threshold, weights, costs


def asked(part, name, model):
    """The key of a run; R5 of `tuning` is that of `models`."""
    kernel, candidates, threshold, weights, costs = form(part, model)
    candidates = f"{candidates} --adaptive {RATIO:g}" if model == ADAPTIVE else f"{candidates}, then {model}" if model in FLIPS else candidates
    options = f"{kernel} --candidates {candidates} --costs {costs} --class-weight {weights} --variance-threshold {threshold:g}, halved"
    return {"set": name, "options": options, "folds": f"{INNER}; nested {OUTER}, {INNER}"}


class Set:
    """One data set, as a file while the script runs."""

    def __init__(self, name, folder):
        source, features = sets.GENES.get(name, (name, sets.FEATURES))
        self.X, y = sets.prepared(sets.sources(common.data())[source], features)
        self.shape = [*self.X.shape, len(np.unique(y))]
        self.file = folder / "d.csv"
        header = ",".join([*(f"x{j + 1}" for j in range(self.X.shape[1])), "y"])
        lines = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(self.X, y)]
        self.file.write_text("\n".join([header, *lines]) + "\n")

    def threshold(self, wanted):
        """The variance threshold, halved until it leaves half of the features: the thesis's are made for rare binary features."""
        while wanted and np.mean(self.X.var(axis=0) > wanted) < 0.5:
            wanted /= 2
        return wanted


def judge(fewest, data, part, model):
    """One model on one set: by the thesis, and nested. Seconds are CPU seconds."""
    kernel, candidates, wanted, weights, costs = form(part, model)
    threshold = data.threshold(wanted)
    given = [data.file, "--text", "y", "--costs", costs, "--class-weight", weights, "--variance-threshold", threshold, "--threads", 1]
    words = [*given, "-m", "eb-rfe", *kernel.split(), "--candidates", candidates]
    words += ["--adaptive", RATIO] if model == ADAPTIVE else []
    start = common.cpu_seconds()
    found = fewest.json("select", *words, "--cv", INNER)
    if model in FLIPS:
        return flipped(fewest, data, model, found, given, kernel, threshold)
    middle = common.cpu_seconds()
    nested = fewest.json("evaluate", *words, "--cv", OUTER, "--inner-cv", INNER)
    best = next(step for step in found["curve"] if step["n_features"] == len(found["selected"]))
    # Section 3.3: where a smaller subset is nearly as good, the thesis lists that.
    near = min(step["n_features"] for step in found["curve"] if step["accuracy"] >= found["accuracy"] - NEAR)
    return {
        "shape": data.shape,
        "threshold": threshold,
        "accuracy": found["accuracy"],
        "features": len(found["selected"]),
        "cost": found["cost"],
        "folds": best["folds"],
        "near": near,
        "curve": [[step["n_features"], round(step["accuracy"], 6)] for step in found["curve"]],
        **took(start, middle, nested),
    }


def took(start, middle, nested):
    """Seconds of a model, and what it is worth nested."""
    return {
        "seconds": middle - start,
        "nested_accuracy": nested["summary"]["accuracy"]["mean"],
        "nested_features": nested["summary"]["n_features"]["mean"],
        "nested_seconds": common.cpu_seconds() - middle,
        "nested_confusion": nested["confusion"],
    }


def flipped(fewest, data, method, first, given, kernel, threshold):
    """A flip of the subset that R5 found, by the same folds. Nested, the start is that of `rfe` at as many features."""
    start = common.cpu_seconds()
    file = data.file.with_name("first.json")
    file.write_text(json.dumps(first))
    plain = kernel.split(" --criterion")[0].split()  # the criterion is that of the elimination
    found = fewest.json("select", *given, "-m", method, *plain, "--cv", INNER, "--start", file)
    middle = common.cpu_seconds()
    words = ["--max-features", len(first["selected"]), "--cv", OUTER, "--inner-cv", INNER]
    nested = fewest.json("evaluate", *given, "-m", method, *kernel.split(), *words)
    return {
        "shape": data.shape,
        "threshold": threshold,
        "start_accuracy": first["accuracy"],
        "start_features": len(first["selected"]),
        "accuracy": found["accuracy"],
        "features": len(found["selected"]),
        **took(start, middle, nested),
    }


def names_of(part):
    return list(sets.GENES) if part == "genes" else [name for name in sets.sources(common.DATA) if name != "breast-er"]


def run(fewest, rows, args):
    for part in args.only or PARTS:
        for name in args.sets or names_of(part):
            with tempfile.TemporaryDirectory() as folder:
                made = []
                for model in args.models or PARTS[part]:

                    def work():
                        made[:] = made or [Set(name, pathlib.Path(folder))]
                        return judge(fewest, made[0], part, model)

                    rows.get(asked(part, name, model), work, needs="nested_confusion")


def one_sided(values):
    """p of a one-sided t-test that the mean is above 0."""
    return stats.ttest_1samp(values, 0, alternative="greater").pvalue if np.ptp(values) > 0 else float("nan")


def signed(values):
    """p of Wilcoxon's one-sided signed rank test, exact, zeros left out; 1 when all are 0."""
    values = values[values != 0]
    ranks = np.rint(2 * stats.rankdata(np.abs(values))).astype(int)  # doubled: ties have half ranks
    ways = np.ones(1)  # by the sum of the ranks of those above 0
    for rank in ranks:
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    return float(ways[ranks[values > 0].sum() :].sum() / ways.sum())


def radius(folds):
    """Half of the 95 % confidence interval of the mean of the folds by a t-test: the column +- of Table 3.1."""
    return stats.t.ppf(0.975, len(folds) - 1) * np.std(folds, ddof=1) / len(folds) ** 0.5


def done(rows, part, models=None):
    """{set: {model: row}} of the sets that all models have, in the order of the sets."""
    models = models or PARTS[part]
    found = {name: {m: rows.find(asked(part, name, m)) for m in models} for name in names_of(part)}
    return {name: row for name, row in found.items() if all(row.values())}


def improvements(found, accuracy, features):
    """One table for each of the two claims of Table 3.1: improvements over R5 and over the model to the left, with tests across the sets."""
    lines = []
    for what, better in ((accuracy, "accuracy"), (features, "number of features, fewer is better")):
        # Rounded, so that equal means of the same folds are equal.
        values = {m: np.round([row[m][what] for row in found.values()], 9) for m in CHAIN}
        gain = (lambda a, b: 100 * (b - a) / a) if what == accuracy else (lambda a, b: 100 * (a - b) / a)
        lines += [f"Relative improvement in {better}, mean over {len(found)} sets in %; one-sided tests that it is above 0:", ""]
        body = []
        for at, m in enumerate(CHAIN):
            cells = [m, f"{100 * values[m].mean():.2f} %" if what == accuracy else f"{values[m].mean():.1f}"]
            if at == 0:
                cells += [""] * 6
            else:
                over = gain(values["R5"], values[m])
                up, down = int((over > 0).sum()), int((over < 0).sum())
                sign = stats.binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
                cells += [f"{gain(values[CHAIN[at - 1]], values[m]).mean():+.2f}", f"{over.mean():+.2f}", f"{one_sided(over):.2g}"]
                cells += [f"{signed(over):.2g}", f"{up}, {len(found) - up - down}, {down}", f"{sign:.2g}"]
            body.append(cells)
        lines += table(
            ["model", "mean", "over the one to the left", "over R5", "t-test p", "Wilcoxon p", "better, same, worse", "sign test p"],
            body,
        )
        if len(found) > 2:
            sides = [values[m] if what == accuracy else -values[m] for m in CHAIN]
            ranks = np.mean([stats.rankdata(-np.array(row)) for row in zip(*sides)], axis=0)
            test = stats.friedmanchisquare(*sides)
            told = ", ".join(f"{m} {r:.2f}" for m, r in zip(CHAIN, ranks))
            lines += [
                f"Friedman: chi-squared {test.statistic:.2f} with {len(CHAIN) - 1} degrees of freedom, p = {test.pvalue:.2g}; mean ranks (1 is best) {told}.",
                "",
            ]
    return lines


def by_set(found, models, nested, thresholds=True):
    accuracy, features = ("nested_accuracy", "nested_features") if nested else ("accuracy", "features")
    body = []
    for name, row in found.items():
        cells = [f"{100 * row[m][accuracy]:.1f}, {row[m][features]:.3g}" for m in models]
        if not nested:
            last = row[models[-1]]
            cells.append(f"{100 * radius(last['folds']):.1f}" if "folds" in last else "-")
            cells.append(str(last["near"]) if "near" in last else "-")
        shown = [" / ".join(sorted({f"{r['threshold']:g}" for r in row.values()}))] if thresholds else []
        body.append([name, ", ".join(map(str, row[models[0]]["shape"])), *shown, *cells])
    means = [
        f"{100 * np.mean([r[m][accuracy] for r in found.values()]):.2f}, {np.mean([r[m][features] for r in found.values()]):.1f}"
        for m in models
    ]
    body.append([f"mean of {len(found)}", "", *([""] if thresholds else []), *means, *(["", ""] if not nested else [])])
    more = [f"± of {models[-1]}", f"{models[-1]}: smallest within {100 * NEAR:g} points"] if not nested else []
    return table(["set", "n, p, classes", *(["thresholds used"] if thresholds else []), *models, *more], body)


def against_k(found):
    """CPU seconds by K."""
    total = {m: sum(row[m]["seconds"] for row in found.values()) for m in CHAIN}
    K = [MODELS[m][0] for m in CHAIN]
    body = [[m, k, f"{total[m]:.1f}", f"{total[m] / total['R5']:.1f}"] for m, k in zip(CHAIN, K)]
    return table(["model", "K", "CPU s, choosing by the thesis, all sets", "as much as R5"], body)


def chain_page(rows, part, title):
    found = done(rows, part)
    if not found:
        return [f"# krupka2016: {title}", "", "No set has all models yet."]
    models = PARTS[part]
    mine = [row for sets_ in found.values() for row in sets_.values()]
    lines = [f"# krupka2016: {title}", "", "Written by `papers/krupka2016/run.py`.", *common.about(mine)]
    lines += [
        f"Sets: {len(found)}, those that all models have. Accuracy in % and number of features, by the thesis: choosing and",
        f"judging by the same {INNER} folds. ±: half the 95 % confidence interval over these folds; thresholds: of the variance,",
        "halved until half of the features are left.",
        "",
    ]
    nested = f"By nested cross-validation ({OUTER} folds outside, {INNER} inside; features are a mean over the outer folds):"
    if part == "models":
        five = [m for m in models if m.startswith("R")]
        lines += ["## Table 2.1: R1 to R5", "", *by_set(found, five, nested=False), nested, "", *by_set(found, five, nested=True)]
        head = ["model", "variance threshold", "class weights", "costs", "# F", "accuracy %", "thesis: # F", "accuracy %"]
        mean = lambda m, what: np.mean([row[m][what] for row in found.values()])
        body = [[m, MODELS[m][1], MODELS[m][2], MODELS[m][3], f"{mean(m, 'features'):.1f}", f"{100 * mean(m, 'accuracy'):.2f}", *PRINTED[m]] for m in five]
        lines += ["## Table 2.2: their setups and means", "", *table(head, body)]
    lines += ["## Table 3.1: R5 and EB3 to EB20", "", *by_set(found, CHAIN, nested=False), nested, "", *by_set(found, CHAIN, nested=True)]
    for heading, accuracy, features in (("by the thesis", "accuracy", "features"), ("nested", "nested_accuracy", "nested_features")):
        lines += [f"## Table 3.1, improvements and probabilities, {heading}", "", *improvements(found, accuracy, features)]
    lines += ["## Time against K (section 3.4)", "", *against_k(found)]
    total = sum(row["seconds"] + row["nested_seconds"] for row in mine)
    return [
        *lines,
        f"All runs together: {total / 60:.1f} CPU minutes.",
        "",
        *common.source(mine, f"the sets and models above, part {part}"),
    ]


def tuning_means(found):
    body = []
    for m in TUNING:
        runs = [row[m] for row in found.values()]
        costs = 2 ** np.mean([np.log2(r["cost"]) for r in runs])
        figures = [f"{100 * np.mean([r[f] for r in runs]):.2f}" for f in ("accuracy", "nested_accuracy")]
        body.append(
            [
                m,
                len(runs),
                *figures,
                f"{np.mean([r['features'] for r in runs]):.1f}",
                f"{costs:.2f}",
                f"{sum(r['seconds'] for r in runs):.1f}",
            ]
        )
    return table(["R5 with", "sets", "accuracy by the thesis %", "nested %", "features", "cost chosen, geometric mean", "CPU s"], body)


# The least differences that matter.
FEATURES = Measure("features", 2, digits=1)
FEWER = Measure("%", 10, digits=1)
COST = Measure("doublings", 0.5)
TIME = Measure("%", 10, digits=0)
SOURCES = {"wine+noise": "wine"}  # sets of the same samples are one case


def source(name):
    return SOURCES.get(name, name)


def pair(found, a, b, what, scale=float):
    """Model a against model b over the sets."""
    of = lambda m: {name: float(scale(round(row[m][what], 9))) for name, row in found.items()}
    return on_cases(of(a), of(b), cluster=source)


def fewer(found, model, what="features"):
    """By how many % fewer features than R5, over the sets."""
    share = {name: 100 * (row["R5"][what] - row[model][what]) / row["R5"][what] for name, row in found.items()}
    return on_cases(share, dict.fromkeys(share, 0.0), cluster=source)


def seconds(found, a, b):
    """By how many % model a takes longer than b, by logarithms."""
    return pair(found, a, b, "seconds", lambda v: 100 * np.log(v))


def tuning_tests(found):
    """R5 against each change of it."""
    if len(found) < 2:
        return []
    body = []
    for m in (m for m in TUNING if m != "R5"):
        cells = [pair(found, "R5", m, what).text(POINTS) for what in ("accuracy", "nested_accuracy")]
        cells += [pair(found, "R5", m, "features").text(FEATURES), pair(found, "R5", m, "cost", np.log2).text(COST)]
        body.append([m, *cells, seconds(found, "R5", m).text(TIME)])
    head = ["R5 against", "accuracy by the thesis", "nested", "features", "log2 of the cost chosen", "CPU s, log scale"]
    return table(head, body)


def flips_page(rows):
    found = with_flips(rows)
    if not found:
        return []
    mine = [row[m] for row in found.values() for m in PARTS["flips"]]
    lines = ["# krupka2016: Bit-Flip, Attribute-Flip, a dynamic C", "", "Written by `papers/krupka2016/run.py`.", *common.about(mine)]
    lines += [
        "By the thesis the flips start from the subset of R5 and choose by the same 9 folds. Nested they start from `rfe` at as many",
        f"features as R5 keeps on all samples. {ADAPTIVE}: only features whose criterion is at most {RATIO:g} times the smallest are candidates.",
        "CPU s of a flip are without those of R5.",
        "",
        *flips_means(found),
        "By set, accuracy in % and number of features, by the thesis; nested:",
        "",
    ]
    cell = lambda r: f"{100 * r['accuracy']:.1f}, {r['features']}; {100 * r['nested_accuracy']:.1f}, {r['nested_features']:.3g}"
    models = ["R5", *PARTS["flips"], "EB20"]
    lines += table(["set", *models], [[name, *(cell(row[m]) for m in models)] for name, row in found.items()])
    return [*lines, *common.source(mine, "the sets above, part flips")]


def with_flips(rows):
    """{set: {model: row}} of the sets that have flips, R5 and EB20."""
    models, flips = done(rows, "models"), done(rows, "flips")
    return {name: models[name] | flips[name] for name in models if name in flips}


def flips_means(found):
    body = []
    for m in ["R5", *PARTS["flips"], "EB20"]:
        runs = [row[m] for row in found.values()]
        cells = [f"{100 * np.mean([r['accuracy'] for r in runs]):.2f}", f"{np.mean([r['features'] for r in runs]):.1f}"]
        cells += [f"{100 * np.mean([r['nested_accuracy'] for r in runs]):.2f}", f"{np.mean([r['nested_features'] for r in runs]):.1f}"]
        tests = [pair(found, m, "R5", what).text(POINTS) if m != "R5" and len(found) > 1 else "" for what in ("accuracy", "nested_accuracy")]
        body.append([m, *cells, *tests, f"{sum(r['seconds'] for r in runs):.1f}"])
    head = ["model", "accuracy by the thesis %", "features", "nested %", "features, nested", "against R5 by the thesis", "nested", "CPU s"]
    return [f"Means over {len(found)} sets:", "", *table(head, body)]


def recall_of_rarest(row):
    """(recall of the smallest class nested, its share) of a model on a set."""
    confusion = row["nested_confusion"]
    sizes = [sum(line) for line in confusion]
    k = sizes.index(min(sizes))
    return confusion[k][k] / sizes[k], sizes[k] / sum(sizes)


def rare(found):
    """The sets whose smallest class has less than half of its even share."""
    return {name: row for name, row in found.items() if "nested_confusion" in row["R4"] and recall_of_rarest(row["R4"])[1] < 0.5 / row["R4"]["shape"][2]}


def curvature(curve):
    """The quadratic coefficient of accuracy along the steps, by least squares."""
    return float(np.polyfit(np.arange(len(curve)), [accuracy for _, accuracy in curve], 2)[0]) if len(curve) > 3 else 0.0


def along(found, a, b):
    """Accuracy of model b at the size that model a returns, less that of model a, over the sets."""
    at = {name: dict(map(tuple, row[b]["curve"])).get(row[a]["features"]) for name, row in found.items() if "curve" in row[b]}
    have = {name: value for name, value in at.items() if value is not None}
    return on_cases(have, {name: found[name][a]["accuracy"] for name in have}, cluster=source)


def claims(rows):
    """What the rows bear of each claim: pairs are sets, each with one accuracy by either protocol."""
    models, genes, tuned = (done(rows, part) for part in ("models", "genes", "tuning"))
    flips = with_flips(rows)
    both = [(models, f"{len(models)} sets"), (genes, f"{len(genes)} sets of genes")]
    either = [("accuracy", "by the thesis"), ("nested_accuracy", "nested")]
    sizes = [("features", "by the thesis"), ("nested_features", "nested")]
    total = {m: sum(row[m]["seconds"] for row in models.values()) for m in CHAIN}
    times = [total[m] / total["R5"] for m in CHAIN]
    order = ["R4", "R5", "R1", "R2", "R3"]
    means = lambda what: {m: float(np.mean([row[m][what] for row in models.values()])) for m in order}
    listed = lambda what: " > ".join(f"{m} {100 * v:.2f}" for m, v in sorted(means(what).items(), key=lambda item: -item[1]))
    threshold = [("threshold 0.02", "R5"), ("threshold 0.05", "threshold 0.05")]
    cost = lambda a, b: pair(tuned, a, b, "cost", np.log2)
    lighter, unweighted = "no threshold", "equal class weights"
    few = rare(models)
    recall = lambda m: {name: recall_of_rarest(row[m])[0] for name, row in few.items()}
    missed = sum(r < recall_of_rarest(few[name]["R4"])[1] for name, r in recall("R4").items())
    curves = [row["R5"]["curve"] for row in models.values() if "curve" in row["R5"]]
    return [
        Claim(
            "K1", "EB-RFE is significantly more accurate than SVM-RFE", "A statistically significant performance gain of EB-RFE was proven during the performance experiments.", "Table 3.1",
            *(more(f"EB20 against R5 {how}, {which}", pair(found, "EB20", "R5", what), POINTS) for what, how in either for found, which in both),
        ),
        Claim(
            "K2", "the more so the larger K", "this bigger feature subset usually outperforms any of the smaller sets found with the smaller C settings", "Table 3.1",
            *(more(f"{b} against {a} by the thesis", pair(models, b, a, "accuracy"), POINTS) for a, b in zip(CHAIN, CHAIN[1:])),
            more("EB20 against EB3 nested", pair(models, "EB20", "EB3", "nested_accuracy"), POINTS),
        ),
        Claim(
            "K3", "EB-RFE finds much smaller subsets", "the EB-RFE routine has been able to produce much smaller feature subsets", "Table 3.1",
            *(more(f"EB20 against R5 {how}, {which}, fewer by", fewer(found, "EB20", what), FEWER) for what, how in sizes for found, which in both),
        ),
        Claim(
            "K4", "a larger K harms neither accuracy nor sparsity", "a higher C setting is not harmful neither to the accuracy, nor sparsity, of the resulting SVM classifier", "Table 3.1",
            *(as_good(f"EB20 against R5 nested, {which}, accuracy", pair(found, "EB20", "R5", "nested_accuracy"), POINTS) for found, which in both),
            *(as_good(f"{which}, fewer features by", fewer(found, "EB20", "nested_features"), FEWER) for found, which in both),
        ),
        Claim(
            "K5", "run time is proportional to K", "the computation runtime of all the 30 tasks is proportional to the C parameter", "",
            every("grows with every K", sum(a < b for a, b in zip(times, times[1:])), len(times) - 1, ", ".join(f"{t:.1f}" for t in times) + " times R5"),
            every("in proportion, within a quarter", 0.75 <= times[-1] / 20 <= 1.25, 1, f"{times[-1]:.1f} times at K = 20"),
        ),
        Claim(
            "K6", "EB-RFE outperforms the flips", "capable of producing SVM models that are more sparse and yet perform better in exchange for greater computational demands", "",
            *(more(f"EB20 against {m} {how}", pair(flips, "EB20", m, what), POINTS) for what, how in either for m in FLIPS if flips),
            why="The thesis has no numbers of the flips",
        ),
        Claim(
            "K7", "the radial kernel is better than the linear one", "The SVM kernel selection and cost and gamma parameters tuning results are independent on the other aspects of optimisation.", "",
            *(more(how, pair(tuned, "R5", "linear kernel", what), POINTS) for what, how in either),
            left_open("gamma = 1/p is the best", "one gamma was run"),
            left_open("the choice does not depend on pruning and weights", "one of each was run"),
        ),
        Claim(
            "K8", "R4 and R5 are the most accurate, then R1, R2, R3 (73.63, 73.62, 72.96, 72.68, 71.62)", "Five of the best performing SVM-RFE setups.", "Table 2.1, Table 2.2",
            *(more(f"{a} against {b} by the thesis", pair(models, a, b, "accuracy"), POINTS) for a, b in (("R5", "R1"), ("R1", "R2"), ("R2", "R3"), ("R4", "R3"))),
            same("R4 against R5 by the thesis", pair(models, "R4", "R5", "accuracy"), POINTS),
            *(more(f"{a} against {b} nested", pair(models, a, b, "nested_accuracy"), POINTS) for a, b in (("R5", "R1"), ("R4", "R3"))),
            why=f"Means by the thesis {listed('accuracy')}; nested {listed('nested_accuracy')}",
        ),
        Claim(
            "K9", "R1 keeps the fewest features, then R2, R3, R4, R5 (40, 45, 49, 57, 62)", "", "Table 2.2",
            *(more(f"{a} against {b}, fewer by", pair(models, b, a, "features"), FEATURES) for a, b in zip(("R1", "R2", "R3", "R4"), ("R2", "R3", "R4", "R5"))),
            why="Means " + ", ".join(f"{m} {np.mean([row[m]['features'] for row in models.values()]):.1f}" for m in sorted(order)),
        ),
        Claim(
            "K10", "R4 fails to predict rare classes, R5 does not", "An SVM model that is trained on the output of R4, usually fails completely even to try to predict the rare classes with the sensitivity being 0 or less than the proportion of such class.", "",
            *(
                [
                    most("R4's recall of the smallest class is below its share", missed, len(few), f"on {missed} of {len(few)} sets with a class of less than half of its even share"),
                    more("R5's recall of it against R4's, nested", on_cases(recall("R5"), recall("R4")), POINTS),
                ]
                if few
                else [left_open("", "no row has the counts by class yet")]
            ),
        ),
        Claim(
            "K11", "accuracy along the steps is concave, with one maximum", "The relation between the iteration number and the measured performance is usually concave, with one maximum.", "",
            most("the quadratic term of R5's curve is negative", sum(curvature(c) < 0 for c in curves), len(curves)) if curves else left_open("", "no row has its curve yet"),
        ),
        Claim(
            "K12", "a larger K finds its optimum sooner, with more features, and is still better at the size of the smaller K", "With the higher C settings, the algorithm is more likely to find its optimum sooner. ... as the \"higher C\" algorithm proceeds, it still produces better subsets", "",
            more("EB20 keeps more features than EB3", pair(models, "EB20", "EB3", "features"), FEATURES),
            more("EB20's accuracy at EB3's size against EB3's", along(models, "EB3", "EB20"), POINTS) if curves else left_open("", "no row has its curve yet"),
        ),
        Claim(
            "K13", "pruning by variance is not critical to accuracy", "For the final accuracy, it is not critical to prune the features drastically in the preprocessing phase.", "",
            *(same(f"{label} against none {how}", pair(tuned, m, lighter, what), POINTS) for label, m in threshold for what, how in either),
        ),
        Claim(
            "K14", "SVM-RFE runs much faster on pruned data", "However, with preprocessed data, the SVM-RFE runs much faster.", "",
            *(more(f"{label} against none, at least a third faster", seconds(tuned, m, lighter), TIME, -1, by=40) for label, m in threshold),
            why="CPU seconds on a log scale; thresholds leave half of the features at least",
        ),
        Claim(
            "K15", "pruned data give a smaller subset", "SVM-RFE is likely to produce a smaller feature subset with pruned data.", "",
            *(more(f"{label} against none", pair(tuned, m, lighter, "features"), FEATURES, -1) for label, m in threshold),
        ),
        Claim(
            "K16", "pruned data give a larger cost, a harder margin", "The cost tuning subroutine tends to choose higher cost values at each step, creating a harder margin model that is sensitive to outliers, when the provided data is pruned", "",
            *(more(f"{label} against none, log2 of the cost", cost(m, lighter), COST) for label, m in threshold),
        ),
        Claim(
            "K17", "weights for rare classes act as less pruning: a small gain, a softer margin, a larger subset", "small performance gain, significantly softer model at each step, larger output feature set", "",
            more("softer, log2 of the cost", cost("R5", unweighted), COST, -1),
            more("larger subset", pair(tuned, "R5", unweighted, "features"), FEATURES),
            *(more(f"gain {how}", pair(tuned, "R5", unweighted, what), POINTS) for what, how in either),
            more("less pruning is softer, too: none against 0.02", cost(lighter, "R5"), COST, -1),
        ),
    ]


CHAINED = "[R1 to EB20](../papers/krupka2016/results/tables.md), [genes](../papers/krupka2016/results/genes.md)"
SHOWN = [
    Shown("Figure 2.1", "none", "imbalance of its classes", "Data", "not available"),
    Shown("Table 2.1", CHAINED, "R1 to R5 beside the best tailored, 30 verbs", "Other data, no tailored models"),
    Shown("Table 2.2", CHAINED, "the setups of R1 to R5 and their means", "The setups are run as printed, on other data; thresholds are halved where they leave too little"),
    Shown("Table 3.1", CHAINED, "R5 and EB3 to EB20, ±, improvements, probabilities", "Other data"),
    Shown("Table 3.2", "explained there", "notation of Table 3.1", "", "same"),
]


def tuning_page(rows):
    found = done(rows, "tuning")
    if not found:
        return ["# krupka2016: the tuning of section 2.6", "", "No set has all models yet."]
    mine = [row for sets_ in found.values() for row in sets_.values()]
    lines = ["# krupka2016: the tuning of section 2.6", "", "Written by `papers/krupka2016/run.py`.", *common.about(mine)]
    lines += [*tuning_means(found), "R5 against each of the others, paired over the sets, two-sided:", "", *tuning_tests(found), "By set, accuracy in % by the thesis, cost chosen:", ""]
    body = [[name, *(f"{100 * row[m]['accuracy']:.1f}, {row[m]['cost']:g}" for m in TUNING)] for name, row in found.items()]
    return [*lines, *table(["set", *TUNING], body), *common.source(mine, "the sets and models above, part tuning")]


def pages(rows):
    return {
        "tables.md": chain_page(rows, "models", "18 public sets in the place of VPS-30-En"),
        "genes.md": chain_page(rows, "genes", "more features than samples"),
        "tuning.md": tuning_page(rows),
        "flips.md": flips_page(rows),
    }


def summary(found):
    """The rows of the README's table."""
    lines = []
    for label, what, scale, digits in (
        ("accuracy by the thesis, %", "accuracy", 100, 2),
        ("features by the thesis", "features", 1, 1),
        ("accuracy nested, %", "nested_accuracy", 100, 2),
        ("features nested", "nested_features", 1, 1),
    ):
        values = {m: np.round([row[m][what] for row in found.values()], 9) for m in CHAIN}
        fewer = "features" in what
        over = 100 * (values["EB20"] - values["R5"]) / values["R5"] * (-1 if fewer else 1)
        up, down = int((over > 0).sum()), int((over < 0).sum())
        sign = stats.binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
        cells = [label, *(f"{scale * v.mean():.{digits}f}" for v in values.values())]
        lines.append(
            [
                *cells,
                f"{over.mean():+.2f} %",
                f"{one_sided(over):.2g}, {signed(over):.2g}, {sign:.2g}",
                f"{up}, {len(over) - up - down}, {down}",
            ]
        )
    head = ["", *CHAIN, "EB20 over R5 (of features: fewer)", "p: t-test, Wilcoxon, sign", "better, same, worse"]
    return "\n".join([f"Sets: {len(found)}.", "", *table(head, lines)])


def blocks(rows):
    out = {}
    for part, name in (("models", "summary"), ("genes", "genes")):
        found = done(rows, part)
        out[name] = summary(found) if len(found) > 1 else "Too few rows yet."
    found = done(rows, "models")
    out["time"] = "\n".join(against_k(found)) if found else "No rows yet."
    have = [row["EB20"] for row in found.values() if "folds" in row["EB20"]]
    halves = sum(len({r["threshold"] for r in row.values()} - {0.02, 0.05}) > 0 for row in found.values())
    out["table31"] = "No rows with folds yet."
    if have:
        wide = [100 * radius(r["folds"]) for r in have]
        out["table31"] = (
            f"± of EB20: {min(wide):.1f} to {max(wide):.1f} points on {len(have)} sets; on {sum(r['near'] < r['features'] for r in have)} of them "
            f"a smaller subset is within {100 * NEAR:g} points. Thresholds had to be halved on {halves} of {len(found)} sets."
        )
    found = done(rows, "tuning")
    out["tuning"] = "\n".join([*tuning_means(found), *tuning_tests(found)]) if found else "No rows yet."
    found = with_flips(rows)
    out["flips"] = "\n".join(flips_means(found)) if found else "No rows yet."
    return out


def main():
    options = common.parser(__doc__)
    options.add_argument("--sets", nargs="+", help="sets [default: all of the part]")
    options.add_argument("--models", nargs="+", help="models [default: all of the part]")
    args = options.parse_args()
    if wrong := [part for part in args.only if part not in PARTS]:
        sys.exit(f"--only {wrong[0]}: the parts are {', '.join(PARTS)}")
    if args.quick:
        options.set_defaults(only=["models"], sets=["soybean-small"])
    common.main(HERE, options, run, pages, blocks, claims, lambda: SHOWN)


if __name__ == "__main__":
    main()
