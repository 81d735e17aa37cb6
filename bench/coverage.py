"""Do the 95 % intervals of held-out figures hold the truth in 95 % of runs? Data that are made up, with the truth from 5,000 other samples.

    coverage.py [--runs 200] [--kinds genes ...] [--report]

Four kinds of data with 8, 25 and 50 % of the second class, and one of three classes. Each run draws a training set, studies it with small settings (rfe and
info-gain, sizes 1 to 5, 5 folds once; three classes: `evaluate` of info-gain), and asks `fewest predict` what the classifier is worth on 5,000 other samples
and what it says of 150 others (an external file). Two truths: that of the procedure, which is its mean over the runs, and that of the classifier of the run.
Cross-validation is about the first; an external file is about the second. Runs that are not there yet are kept in bench/.cache/coverage.jsonl.
Writes results/coverage.md and .json.xz, from which a run in a fresh clone goes on.
"""

import argparse
import json
import lzma
import subprocess
import tempfile
from pathlib import Path

import benefit_report as b
import common as c
import numpy as np

KEPT = c.CACHE / "coverage.jsonl"
PAGE = c.RESULTS / "coverage.md"
SHARES = (0.08, 0.25, 0.5)
OTHERS, EXTERNAL = 5_000, 150
SMALL = ["--methods", "rfe,info-gain", "--max-features", "1..5", "--repeats", "1", "--cost-points", "4", "--node-limit", "0", "--solutions", "1"]


def by_class(random, n, share):
    """Labels of which this share is of the second class, as near as n allows."""
    labels = np.zeros(n, dtype=int)
    labels[random.permutation(n)[: round(share * n)]] = 1
    return labels


def genes(random, n, share):
    """Eight of 300 features that are shifted by the class."""
    y, X = by_class(random, n, share), random.standard_normal((n, 300))
    X[:, :8] += 0.55 * (2 * y[:, None] - 1) * np.where(np.arange(8) % 2 == 0, 1, -1)
    return X, y


def credit(random, n, share):
    """The second class by odds that six of 40 features give."""
    X = random.standard_normal((n, 40))
    odds = X[:, :6] @ np.array([1.0, -0.8, 0.7, 0.6, -0.5, 0.4])
    return X, (random.random(n) < 1 / (1 + np.exp(-odds - {0.08: -3.5, 0.25: -1.5, 0.5: 0.0}[share]))).astype(int)


def blocks(random, n, share):
    """Ten of 20 blocks of five alike features, three of which are shifted by the class."""
    y = by_class(random, n, share)
    centres = random.standard_normal((n, 20))
    centres[:, :3] += 0.9 * (2 * y[:, None] - 1)
    return np.repeat(centres, 5, axis=1) + 0.6 * random.standard_normal((n, 100)), y


def heavy_tails(random, n, share):
    """Values of Student's t with three degrees of freedom, five of 60 that are shifted."""
    y, X = by_class(random, n, share), random.standard_t(3, (n, 60))
    X[:, :5] += 0.8 * (2 * y[:, None] - 1)
    return X, y


def three(random, n, _):
    """Three classes, of 60, 30 and 10 %, each with three of 50 features of its own."""
    y, X = random.choice(3, n, p=[0.6, 0.3, 0.1]), random.standard_normal((n, 50))
    for of in range(3):
        X[:, 3 * of : 3 * of + 3] += 1.1 * (y[:, None] == of)
    return X, y


# kind: (data, samples, command)
KINDS = {"genes": (genes, 120), "credit": (credit, 300), "blocks": (blocks, 150), "heavy_tails": (heavy_tails, 200), "three": (three, 150)}


def write(file, X, y):
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    np.savetxt(file, np.column_stack([X, y]), delimiter=",", fmt="%.6g", comments="", header=header)


def run(words):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")


def one(binary, folder, kind, share, seed):
    """What a study says of itself, and what its classifier is worth on other samples."""
    make, n = KINDS[kind]
    random = np.random.default_rng([seed, n, round(100 * share)])
    train, other, external, model, found, worth = (folder / file for file in ("d.csv", "o.csv", "e.csv", "m.json", "s.json", "w.json"))
    for file, samples in ((train, n), (other, OTHERS), (external, EXTERNAL)):
        write(file, *make(random, samples, share))
    tail = ["--seed", seed, "--threads", 1, "--json", found, "--quiet"]
    if kind == "three":
        run([binary, "evaluate", train, "--method", "info-gain", "--max-features", 5, "--cv", 5, *tail])
        run([binary, "select", train, "--method", "info-gain", "--max-features", 5, "--quiet", "--model", model])
    else:
        run([binary, "study", train, *SMALL, "--model", model, *tail])
    study, said = json.loads(found.read_text()), {}
    row = {"kind": kind, "share": share, "seed": seed, "folds": [fold["confusion"] for fold in study["folds"]], "study": measures(study)}
    if not model.exists():
        # No feature is of use: the most frequent class is predicted.
        frequent = float(np.mean(np.loadtxt(other, delimiter=",", skiprows=1)[:, -1] == 0))
        return row | {"external": {}, "truth": {"accuracy": frequent, "balanced_accuracy": 0.5, "f1": 0.0, "sensitivity": 0.0, "specificity": 1.0}}
    for name, file in (("truth", other), ("external", external)):
        run([binary, "predict", model, file, "--out", folder / "p.csv", "--json", worth, "--quiet"])
        said[name] = json.loads(worth.read_text())
    model.unlink()
    return row | {"external": measures(said["external"]), "truth": {name: of["mean"] for name, of in measures(said["truth"]).items()}}


def measures(result):
    """By measure its mean and interval, recall by class among them."""
    of = result["summary"] | {f"recall of {name}": of for name, of in (result.get("recall") or {}).items() if len(result["recall"]) > 2 and of}
    return {name: {"mean": at["mean"], "ci95": at["ci95"]} for name, at in of.items() if name != "n_features"}


def rows():
    page = PAGE.with_suffix(".json.xz")
    if not KEPT.exists() and page.exists():
        KEPT.write_text("".join(json.dumps(row) + "\n" for row in json.loads(lzma.decompress(page.read_bytes()))["rows"]))
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def held(low, high, truth):
    return (np.asarray(low) <= truth + 1e-12) & (truth - 1e-12 <= np.asarray(high))


def page(found, version):
    lines = ["# How often intervals hold the truth", "", f"`bench/coverage.py`, whose first lines say how. {version}. 95 % are promised. The classifier of a run was made of all its samples, those of the folds of four fifths.", ""]
    kept = {}
    titles = (("study", True, "Held-out folds, the truth of the procedure"), ("study", False, "Held-out folds, the truth of the classifier"))
    for what, procedure, title in (*titles, ("external", False, f"{EXTERNAL} samples of another file, the truth of the classifier")):
        table = []
        for kind, share in sorted({(row["kind"], row["share"]) for row in found}):
            of = [row for row in found if (row["kind"], row["share"]) == (kind, share)]
            line = {}
            for name in sorted({name for row in of for name, at in row[what].items() if at["ci95"]}):
                known = [(row[what][name]["ci95"], row["truth"][name]) for row in of if row[what].get(name, {}).get("ci95") and name in row["truth"]]
                (low, high), truths = np.array([ends for ends, _ in known]).T, np.array([truth for _, truth in known])
                mean = float(np.mean(truths))
                line[name] = {"runs": len(known), "held": int(held(low, high, mean if procedure else truths).sum()), "length": float(np.mean(high - low)), "truth": mean,
                              "estimate": float(np.mean([row[what][name]["mean"] for row in of if name in row[what]]))}
            kept[f"{title}, {kind}, {share}"] = line
            table.append((kind, share, line))
        names = sorted({name for _, _, line in table for name in line})
        shown = lambda at: f"{100 * at['held'] / at['runs']:.1f} ({at['length']:.2f})" if at else "-"
        lines += [f"## {title}", "", "Share of runs in %, and in brackets the mean length.", ""]
        lines += b.grid(["data", "positives", "runs", *names], [[kind, "-" if kind == "three" else f"{share:.0%}", str(max(at["runs"] for at in line.values())), *(shown(line.get(name)) for name in names)] for kind, share, line in table])
        lines.append("")
    PAGE.write_text("\n".join([*lines, f"{c.cpu()}, {c.versions()}."]) + "\n")
    PAGE.with_suffix(".json.xz").write_bytes(lzma.compress(json.dumps({"table": kept, "rows": found}).encode(), preset=9))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="write the results of what is known, run nothing")
    a = parser.parse_args()
    binary, version = c.program(a.fewest)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    known = {(row["kind"], row["share"], row["seed"]) for row in rows()}
    places = [(kind, share, seed) for seed in range(0 if a.report else a.runs) for kind in a.kinds for share in (SHARES if kind != "three" else (0.5,))]
    with tempfile.TemporaryDirectory() as folder, KEPT.open("a") as file:
        for place in [place for place in places if place not in known]:
            file.write(json.dumps(one(binary, Path(folder), *place)) + "\n")
            file.flush()
    page(rows(), version)


if __name__ == "__main__":
    main()
