"""Which form of a method is its default? Forms of fgm, eb-rfe, rfe, kta and stability, judged on samples that took no part.

    method_defaults.py [--topics TOPIC ...] [--sets SET ...] [--folder FOLDER] [--fewest FILE] [--report]

Every form of a topic is judged by `fewest evaluate`, on the same five stratified folds; what it chooses by itself it chooses inside each fold. Sets are
those of the first half of the corpus (bench/corpus.py), and for fgm the whole sparse files and generated texts. `stability` is run on generated sets,
whose relevant features are known. Rows are kept in bench/.cache/method_defaults.jsonl, and what is not yet there is run, by one thread and within a
limit of CPU seconds. Writes results/method_defaults.md.
"""

import argparse
import functools
import itertools
import json
import pathlib

import benefit
import benefit_report as b
import common as c
import corpus
import numpy as np

KEPT, CURVES, FALSE = (c.CACHE / f"method_defaults{end}.jsonl" for end in ("", "_curves", "_stability"))
FOLDER = c.CACHE / "method_defaults"
# Samples that fgm is judged at on draws from a whole file, draws, and samples that it is judged on at most.
COUNTS, DRAWS, TEST = (32, 50, 100, 200, 400, 550, 800, 1600, 3200), 3, 3000
# For fgm: files of shared/data in place of their 500 samples, texts of `fewest generate text` (samples and words), and dense sets of the corpus.
WHOLE = {
    "a9a": "a9a.svm.gz", "w8a": "w8a.svm.gz", "rcv1": "rcv1_small_train.svm.gz", "farm_ads": "farm_ads.svm.gz",
    "dorothea": "dorothea_train.svm.gz", "basehock": "basehock.svm.gz", "text": (3000, 100_000), "news20-like": (1200, 1_355_191),
}
DENSE = ("arcene", "breast_gravier", "breast_west_er", "breast_west_nodal", "glioma_4434", "huntington_borovecki", "bladder16_12")
SIZES, RFE = (5, 10, 20, 50, 100), ["--method", "rfe", "--step", "0.1"]
EB_RFE = {"plain": [], "three deals, 1 SE": ["--deals", "3", "--accuracy-loss", "se"]}
IMPROVE = ("rankings", "rfe", "exchanges", "both")
# topic: (default form, {form: options}, size, whether a set of the corpus takes part, CPU seconds of a fold).
TOPICS = {
    **{
        f"eb-rfe, K = {k}": (
            "plain", {form: ["--method", "eb-rfe", "--candidates", str(k), *options] for form, options in EB_RFE.items()}, None,
            lambda one: one["features"] <= 80, 240,
        )
        for k in (3, 20)
    },
    "rfe": (
        "C = 1",
        {
            **{f"C = {cost}": [*RFE, "--cost", cost] for cost in ("0.001", "0.01", "0.1", "1", "10")}, "auto": [*RFE, "--cost", "auto"],
            "0.01, classifier 0.1": [*RFE, "--cost", "0.01", "--fit-cost", "0.1"], "of three, inner folds": [*RFE, "--tune", "C=0.01,0.1,1"],
        },
        10, lambda one: True, 60,
    ),
    "kta": (
        "sigest", {gamma: ["--method", "kta", "--node-limit", "200", "--gamma", gamma] for gamma in ("sigest", "sigest:0.5", "sigest:2", "scale", "1/p")},
        5, lambda one: one["features"] <= 60, 60,
    ),
}
THRESHOLDS, MEASURES = (None, 0.6, 0.75, 0.9), ("accuracy", "auc")
# Samples of the smaller class for each feature: from where fgm improves its subset (tuning.rs), and the bands of the page.
ENOUGH, BANDS = 16, (0, 0.5, 1, 2, 4, 8, 16, 32, 64, 10**6)


def sets_of(topic, a):
    """(name, path) of the sets of a topic, the smallest first."""
    known = [one for one in corpus.of_half(a.folder, "first") if TOPICS[topic][3](one)]
    known.sort(key=lambda one: one["samples"] * one["features"])
    return [(one["name"], a.folder / one["file"]) for one in known if a.sets is None or one["name"] in a.sets]


def run(topic, a, binary, version):
    _, forms, size, _, limit = TOPICS[topic]
    rows = benefit.Rows(KEPT)
    for (name, path), (form, options) in itertools.product(sets_of(topic, a), forms.items()):
        place = {"set": name, "method": f"{topic}: {form}", "size": size, "repeat": 0}
        if rows.has(**place, fold=benefit.FOLDS - 1):
            continue
        words = ["evaluate", path, *options, *(["--max-features", size] if size else []), "--cv", benefit.FOLDS, "--seed", 0, "--time-limit", "24h"]
        found = benefit.command(binary, words, limit * benefit.FOLDS)
        if found is None:
            rows.add(**place, fold=benefit.FOLDS - 1, status="limit", limit=limit)
        for fold, one in enumerate(found[0]["folds"] if found else []):
            row = {measure: one["metrics"].get(measure) for measure in MEASURES} | {"selected": [int(feature[1:]) - 1 for feature in one["selected"]]}
            rows.add(**place, fold=fold, status="done", version=version, seconds=found[1] / benefit.FOLDS, **row)
        print(name, place["method"], "limit" if found is None else f"{found[1]:.1f} s", flush=True)


def drawn(X, y, samples, dice):
    """(training rows, test rows): this many samples, of each class its share, and at most TEST of the rest."""
    order = dice.permutation(len(y))
    train = np.concatenate([order[y[order] == of][: max(2, round(samples * np.mean(y == of)))] for of in (-1, 1)])
    return np.sort(train), np.sort(dice.permutation(np.setdiff1d(order, train))[:TEST])


def whole(binary, name, a):
    """(X, y) of a whole file, of a set of the corpus, or of a text, which is made once."""
    what = WHOLE.get(name)
    if what is None:
        rows = np.loadtxt(a.folder / f"{name}.csv.gz", delimiter=",", skiprows=1)
        return rows[:, :-1], rows[:, -1].astype(int)
    if isinstance(what, str):
        X, y = corpus.svmlight(what.removesuffix(".svm.gz"))
        return corpus.sparse.csr_matrix(X), y
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        words = ["generate", "text", "--samples", what[0], "--words", what[1], "--seed", 1, "--out", path]
        c.subprocess.run([str(word) for word in [binary, *words]], check=True)
    with np.load(path) as f:
        form = corpus.sparse.csc_matrix if f["format"] == b"csc" else corpus.sparse.csr_matrix
        return form((f["data"], f["indices"], f["indptr"]), shape=f["shape"]).tocsr(), np.where(f["y"] > 0, 1, -1)


def curves(a, binary, version):
    """Forms of fgm on draws of few and of many samples from the whole files, judged on the rest."""
    from sklearn.metrics import roc_auc_score

    known = CURVES.read_text().splitlines() if CURVES.exists() else []
    done = {tuple(row[key] for key in ("set", "draw", "samples", "size", "form")) for row in map(json.loads, known)}
    for name in (name for name in (*WHOLE, *DENSE) if a.sets is None or name in a.sets):
        X, y = whole(binary, name, a)
        for draw, samples in itertools.product(range(DRAWS), [m for m in COUNTS if m <= 0.7 * len(y)]):
            train, test = drawn(X, y, samples, np.random.default_rng([draw, samples]))
            file = corpus.write(FOLDER, "drawn", X[train], y[train])
            for size, form in itertools.product(SIZES, IMPROVE):
                if (name, draw, samples, size, form) in done:
                    continue
                found = benefit.command(binary, ["select", file, "--method", "fgm", "--improve", form, "--max-features", size, "--time-limit", "24h"], 120)
                smaller = int(min((y[train] > 0).sum(), (y[train] < 0).sum()))
                row = {"set": name, "draw": draw, "samples": samples, "smaller": smaller, "size": size, "form": form}
                if found is not None:
                    model = found[0]["model"]
                    scaled = [(model["scaling"].get("features") or {}).get(feature, {"centre": 0, "scale": 1}) for feature in model["features"]]
                    weights = np.array([model["weights"][f] / one["scale"] for f, one in zip(model["features"], scaled, strict=True)])
                    moved = model["intercept"] - weights @ np.array([one["centre"] for one in scaled])
                    score = X[test][:, model["feature_indices"]] @ weights + moved
                    row |= {"accuracy": float(np.mean((score > 0) == (y[test] > 0))), "auc": float(roc_auc_score(y[test], score))}
                    row |= {"seconds": found[1], "objective": found[0]["objective"], "version": version}
                with open(CURVES, "a") as kept:
                    kept.write(json.dumps(row) + "\n")
            file.unlink()
            print(name, draw, samples, flush=True)


def stability(a, binary, version):
    """False and relevant features among the stable ones, by threshold, on the generated sets."""
    done = {json.loads(line)["set"] for line in FALSE.read_text().splitlines()} if FALSE.exists() else set()
    for one in corpus.of_half(a.folder, "first"):
        if one["kind"] != "generated" or one["name"] in done:
            continue
        size = max(5, min(10, len(one["truth"])))
        result, _ = benefit.command(binary, ["stability", a.folder / one["file"], "--method", "rfe", "--max-features", size, "--time-limit", "24h"], 600)
        frequency, truth, row = result["frequency"], {f"x{j + 1}" for j in one["truth"]}, {}
        for threshold in THRESHOLDS:
            stable = {name for name, share in frequency.items() if share >= (threshold or result["threshold"]) - 1e-9}
            row[str(threshold)] = [len(stable - truth), len(stable & truth)]
        row = {"set": one["name"], "q": size, "threshold": result["threshold"], "relevant": len(truth), "found": row, "version": version}
        with open(FALSE, "a") as file:
            file.write(json.dumps(row) + "\n")
        print(one["name"], row, flush=True)


def forms_page(topic):
    """The table of a topic: forms by mean rank, and each set."""
    default, forms, size, *_ = TOPICS[topic]
    found = [row | {"method": row["method"].removeprefix(f"{topic}: ")} for row in b.rows(KEPT) if row["method"].startswith(f"{topic}: ")]
    table = b.cells(found, size, benefit.FOLDS, dict.fromkeys((row["set"] for row in found), 10**6))
    ranked = {name: of for name, of in table.items() if all(form in of for form in forms)}
    ranks = {measure: b.ranked(ranked, [*forms], measure)[0] for measure in MEASURES}
    page = [f"## {topic}", "", f"{len(ranked)} sets, on which all forms are done{f', at most {size} features' if size else ''}.", ""]
    lines = []
    for form in sorted(forms, key=lambda form: ranks["accuracy"][form]):
        of = lambda what, form=form: b.mean([getattr(known[form], what) for known in ranked.values()])
        paired = "-" if form == default else mean_error([100 * (known[form].accuracy - known[default].accuracy) for known in ranked.values()])
        cells = [*(b.shown(ranks[m][form], 2) for m in MEASURES), *(b.shown(of(m), 4) for m in MEASURES)]
        lines.append([form, *cells, paired, b.shown(of("features"), 1), b.shown(of("seconds"), 2)])
    heads = ["form", "rank, accuracy", "rank, AUC", "accuracy", "AUC", f"accuracy less that of {default}, points", "features", "CPU s / fold"]
    page += [*b.grid(heads, lines), "", f"Mean ranks differ at 5 % from {b.critical_difference(len(forms), len(ranked)):.2f} on (Nemenyi).", ""]
    each = [[name, *(f"{b.shown(of[f].accuracy)}, {b.shown(of[f].auc)}" if f in of else "-" for f in forms)] for name, of in sorted(table.items())]
    return [*page, *b.grid(["accuracy, AUC", *forms], each), ""]


def mean_error(values):
    return f"{np.mean(values):+.2f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.2f}"


def curves_page():
    """What each improvement of fgm's subset adds, by samples of the smaller class for each feature asked for."""
    at = {}
    for row in map(json.loads, CURVES.read_text().splitlines()):
        if "auc" in row:
            at.setdefault((row["set"], row["samples"], row["smaller"] / row["size"], row["size"], row["draw"]), {})[row["form"]] = row
    at = {key: of for key, of in at.items() if len(of) == len(IMPROVE)}
    names = sorted({key[0] for key in at}, key=corpus.digest)
    adds = {key: [100 * (of[form][m] - of["rankings"][m]) for form in IMPROVE[1:] for m in MEASURES] for key, of in at.items()}
    heads, lines = [f"{form}, {m}" for form in IMPROVE[1:] for m in MEASURES], []
    page = ["## fgm", "", f"{len(at)} selections by each form, on draws from {len(names)} sets, judged on the rest of the set. What each form adds to `--improve rankings`, in points", "(means over draws, then over sets, samples and sizes, ± one standard error), by samples of the smaller class for each feature.", ""]
    for low, high in itertools.pairwise(BANDS):
        cells = {}
        for key, add in adds.items():
            if low <= key[2] < high:
                cells.setdefault((key[0], key[1], key[3]), []).append(add)
        means = [np.mean(of, axis=0) for of in cells.values()]
        lines.append([f"{low} to {high}" if high < BANDS[-1] else f"{low} or more", str(len(cells)), *map(mean_error, zip(*means, strict=True))])
    page += [*b.grid(["smaller class / B", "cells", *heads], lines), "", "Where a form is used from a number of samples for each feature on, and `rankings` below: the mean over sets, and the set that loses most.", f"Sets are parted in two by the SHA-256 of their names: the number ({ENOUGH}) is the least power of 2 from which no set of the first part loses more than 0.1 points.", ""]
    for what, part in {"the first part": names[::2], "the second part": names[1::2]}.items():
        lines = []
        for least in BANDS[1:-1]:
            sets = {name: np.mean([[a * (key[2] >= least) for a in add] for key, add in adds.items() if key[0] == name], axis=0) for name in part}
            lines.append([str(least), *(f"{np.mean([of[k] for of in sets.values()]):+.2f}, {min(of[k] for of in sets.values()):+.2f}" for k in range(len(heads)))])
        page += [f"{what.capitalize()}, {', '.join(part)}:", "", *b.grid(["from", *heads], lines), ""]
    lines = []
    for name in names:
        near = {part: [add[-2:] for key, add in adds.items() if key[0] == name and (key[2] >= ENOUGH) == part] for part in (False, True)}
        shown = [cell for of in near.values() for cell in ([str(len(of)), *map(mean_error, zip(*of, strict=True))] if len(of) > 1 else ["0", "-", "-"])]
        lines.append([name, *shown])
    return [*page, f"What `both` adds on each set, below and from {ENOUGH} samples for each feature (± over draws):", "", *b.grid(["set", "below", "accuracy", "AUC", "from there", "accuracy", "AUC"], lines), ""]


def stability_page():
    rows = list(map(json.loads, FALSE.read_text().splitlines()))
    page = ["## stability", "", "Features that are stable by `rfe` at q features, false ones and relevant ones, by threshold; the default is the smallest that keeps `--max-false 1`.", ""]
    lines = [[row["set"], str(row["q"]), f"{row['threshold']:.2f}", str(row["relevant"]), *(f"{false}, {true}" for false, true in row["found"].values())] for row in rows]
    total = [", ".join(str(sum(row["found"][str(t)][k] for row in rows)) for k in (0, 1)) for t in THRESHOLDS]
    lines.append(["all", "", "", str(sum(row["relevant"] for row in rows)), *total])
    return [*page, *b.grid(["set", "q", "default threshold", "relevant", "default: false, relevant", *(str(t) for t in THRESHOLDS[1:])], lines), ""]


def report():
    page = ["# Defaults of methods", "", "    python3 bench/corpus.py; python3 bench/method_defaults.py", "", *curves_page()]
    page += [*(line for topic in TOPICS for line in forms_page(topic)), *stability_page()]
    builds = sorted({row["version"] for row in [*b.rows(KEPT), *map(json.loads, CURVES.read_text().splitlines())] if "version" in row})
    (c.RESULTS / "method_defaults.md").write_text("\n".join([*page, f"{c.cpu()}, {c.versions()}, builds {', '.join(builds)}."]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", nargs="*", default=["fgm", *TOPICS, "stability"], choices=["fgm", *TOPICS, "stability"])
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    parser.add_argument("--folder", type=pathlib.Path, default=corpus.FOLDER)
    parser.add_argument("--report", action="store_true", help="write the results of what is known, run nothing")
    a = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for topic in [] if a.report else a.topics:
        {"fgm": curves, "stability": stability}.get(topic, functools.partial(run, topic))(a, *c.program(a.fewest))
    report()


if __name__ == "__main__":
    main()
