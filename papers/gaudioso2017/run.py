#!/usr/bin/env python3
"""The experiments of gaudioso2017 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/gaudioso2017/run.py [--fewest PATH] [--only selection|grid|limits|hard ...] [--limit 60] [--sets NAME ...]

selection  Tables 4.2 and 4.3: C in {0.1, 1, 10, 100} at D = 0 (`l1-svm`), tenfold on 90 % of the samples, and leave-one-out
grid       Tables 4.4 to 4.7: C = 1, D in {0.01, 0.1, 1, 10}, tenfold on 90 %: `mbp` (proven) and `lagrangian`
limits     Tables 4.8 to 4.11: C = 1, D = 0.01, trained on 90 %, tested on 10 %: the program as printed (`mbp --plain`, HiGHS) at 5, 10 and
           --limit seconds, `mbp`, `lagrangian`
hard       not in the paper: u the same for every feature, the largest of the paper's u_k, so that no feature is left out; all samples;
           `mbp --plain` and `mbp` at --limit seconds, `lagrangian` at 5

u is found as in the paper but in `hard`. Features are standardised. Every run is one line of OUT/runs.jsonl; an interrupted run goes on where it
was. Tables: OUT/tables.md. Needs numpy and pandas.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402

ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
# Carcinoma and Tumor2 are not to be had; breast and glioma stand in for them.
SETS = ("leukemia_5327", "dlbcl_shipp", "cns_pomeroy", "breast_west_er", "glioma_4434")
COSTS, PENALTIES = (0.1, 1, 10, 100), (0.01, 0.1, 1, 10)
SHARES = (0, 2, 4, 9)
PARTS = ("selection", "grid", "limits", "hard")


class Set:
    """A data set, the tenth of it that is set apart, and the ten folds of the rest; both stratified, seed 0."""

    def __init__(self, name):
        self.name = name
        self.table = pd.read_csv(DATA / f"{name}.csv.gz")
        y = self.table.iloc[:, -1].to_numpy()
        draw = np.random.default_rng(0)
        fold = np.empty(len(y), int)
        for label in np.unique(y):
            at = draw.permutation(np.flatnonzero(y == label))
            fold[at] = np.arange(len(at)) % 10
        self.apart, self.rest = np.flatnonzero(fold == 9), np.flatnonzero(fold != 9)
        inner = np.empty(len(self.rest), int)
        for label in np.unique(y):
            at = draw.permutation(np.flatnonzero(y[self.rest] == label))
            inner[at] = np.arange(len(at)) % 10
        self.folds = [(self.rest[inner != k], self.rest[inner == k]) for k in range(10)]
        self.leave_one_out = [(np.delete(self.rest, i), self.rest[[i]]) for i in range(len(self.rest))]


class Fewest:
    """The binary."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def run(self, words, codes=(0,)):
        done = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in codes:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def write(self, data, rows, name):
        path = self.folder / f"{name}.csv"
        data.table.iloc[rows].to_csv(path, index=False)
        return path

    def trained(self, path, options):
        """The result and the weights of a selection."""
        words = ["select", path, "--threads", 1, "--quiet", "--json", "-", *options]
        return json.loads(self.run(words, codes=(0, 3)))

    def correct(self, model, path):
        """Percentage of samples that a model has right."""
        out = self.folder / "predicted.csv"
        text = self.run(["predict", model, path, "-o", out, "--json", "-", "--quiet"])
        return 100 * json.loads(text)["accuracy"]

    def judged(self, data, train, test, options, paths=None):
        """One classifier: its correctness on both parts, |w|_1, the shares of features, bounds, time."""
        train, test = paths or (self.write(data, train, "train"), self.write(data, test, "test"))
        result = self.trained(train, options)
        model = self.folder / "result.json"
        model.write_text(json.dumps(result))
        machine = result.get("model")
        weights = np.abs(machine["machines"][0]["weights"] if machine else [])
        p = data.table.shape[1] - 1
        row = {"test": self.correct(model, test) if machine else None, "train": self.correct(model, train) if machine else None}
        row |= {"norm": float(weights.sum()), **{f"ft {x}": 100 * float((weights > 10.0**-x).sum()) / p for x in SHARES}}
        row |= {key: result.get(key) for key in ("status", "objective", "bound", "relaxation", "dual", "linear_programs", "program_seconds", "features_without_bound", "features_removed")}
        row |= {"seconds": result["seconds"], "features": len(result["selected"]), "nodes": result["counts"]["nodes"]}
        if "steps" in result:
            steps = result["steps"]
            row |= {"steps": len(steps), "serious": sum(s["serious"] for s in steps), "monotone": all(a["lower"] <= b["lower"] for a, b in zip(steps, steps[1:]))}
        return row

    def majority(self, data, train, test):
        """What a classifier without features gets right."""
        y = data.table.iloc[:, -1].to_numpy()
        label = pd.Series(y[train]).mode()[0]
        return 100 * float((y[test] == label).mean()), 100 * float((y[train] == label).mean())


class Log:
    """The lines of runs.jsonl."""

    def __init__(self, path):
        self.path = path
        self.rows = {row["key"]: row for row in map(json.loads, common.whole_lines(path))}

    def get(self, key, make):
        if key not in self.rows:
            self.rows[key] = {"key": key, **make()}
            with open(self.path, "a") as file:
                file.write(json.dumps(self.rows[key]) + "\n")
            print(key, {k: v for k, v in self.rows[key].items() if k in ("objective", "bound", "seconds", "test")}, flush=True)
        return self.rows[key]


def judged(fewest, data, split, options, paths=None):
    row = fewest.judged(data, *split, options, paths)
    if row["test"] is None:
        # The empty subset: the larger class.
        row["test"], row["train"] = fewest.majority(data, *split)
    return row


def selection(fewest, log, data):
    for kind, splits in (("tenfold", data.folds), ("leave-one-out", data.leave_one_out)):
        for k, split in enumerate(splits):
            keys = [f"selection {data.name} {kind} {C} {k}" for C in COSTS]
            if all(key in log.rows for key in keys):
                continue
            paths = fewest.write(data, split[0], "train"), fewest.write(data, split[1], "test")
            for key, C in zip(keys, COSTS):
                log.get(key, lambda: judged(fewest, data, split, ["-m", "l1-svm", "--cost", C], paths))


def grid(fewest, log, data):
    for k, split in enumerate(data.folds):
        keys = [(f"grid {data.name} {method} {D} {k}", method, D) for method in ("mbp", "lagrangian") for D in PENALTIES]
        if all(key[0] in log.rows for key in keys):
            continue
        paths = fewest.write(data, split[0], "train"), fewest.write(data, split[1], "test")
        for key, method, D in keys:
            log.get(key, lambda: judged(fewest, data, split, ["-m", method, "--penalty", D, "--time-limit", "60s"], paths))


def limits(fewest, log, data, limit):
    split = data.rest, data.apart
    runs = [(f"mbp --plain {t} s", ["-m", "mbp", "--plain", "--time-limit", f"{t}s"]) for t in (5, 10, limit)]
    runs += [("mbp", ["-m", "mbp", "--time-limit", f"{limit}s"]), ("lagrangian", ["-m", "lagrangian", "--time-limit", f"{limit}s"])]
    for label, options in runs:
        log.get(f"limits {data.name} {label}", lambda: judged(fewest, data, split, [*options, "--penalty", 0.01]))


def hard(fewest, log, data, limit):
    whole = np.arange(len(data.table))
    bound = lambda: {"u": largest_bound(fewest, data, whole)}  # noqa: E731
    u = log.get(f"hard {data.name} u", bound)["u"]
    for D in PENALTIES:
        runs = [("lagrangian", 5, []), ("mbp", limit, []), ("mbp --plain", limit, ["--plain"])]
        for label, seconds, more in runs:
            options = ["-m", label.split()[0], *more, "--penalty", D, "--weight-bound", u, "--time-limit", f"{seconds}s", "--memory", "30G"]
            log.get(f"hard {data.name} {D} {label}", lambda: judged(fewest, data, (whole, whole[:2]), options))


def largest_bound(fewest, data, rows):
    """The largest u_k of the paper's preprocessing, to 6 digits."""
    path = fewest.write(data, rows, "train")
    weights = [fewest.trained(path, ["-m", "l1-svm", "--cost", C])["model"]["machines"][0]["weights"] for C in COSTS]
    return float(f"{max(max(map(abs, w)) for w in weights):.6g}")


def mean(rows, key):
    values = [row[key] for row in rows if row.get(key) is not None]
    return sum(values) / len(values) if values else float("nan")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def tables(log, sets, limit):
    out = []
    of = lambda begun: [row for key, row in log.rows.items() if key.startswith(begun)]  # noqa: E731
    for kind, number in (("tenfold", "4.2"), ("leave-one-out", "4.3")):
        head = ["set"] + [f"C = {C}: {part}" for C in COSTS for part in ("c1", "c2", "norm")]
        rows = []
        for name in sets:
            runs = [of(f"selection {name} {kind} {C} ") for C in COSTS]
            if all(runs):
                rows.append([name] + [f"{mean(r, key):.2f}" for r in runs for key in ("test", "train", "norm")])
        if rows:
            out.append(f"## Table {number}: SVM without prices, {kind}\n\n" + table(head, rows))
    for method, number in (("mbp", "4.4, 4.5"), ("lagrangian", "4.6, 4.7")):
        head = ["set", "D", "c1", "c2", "norm", *(f"ft {x}" for x in SHARES), "time s", "LB", "UB", "proven"]
        rows = []
        for name in sets:
            for D in PENALTIES:
                runs = of(f"grid {name} {method} {D} ")
                if runs:
                    cells = [f"{mean(runs, k):.2f}" for k in ("test", "train", "norm", *(f"ft {x}" for x in SHARES))]
                    cells += [f"{mean(runs, 'seconds'):.2f}", f"{mean(runs, 'bound'):.4f}", f"{mean(runs, 'objective'):.4f}"]
                    rows.append([name, D, *cells, f"{sum(r['status'] == 'optimal' for r in runs)} of {len(runs)}"])
        if rows:
            out.append(f"## Tables {number}: tenfold, `{method}`, C = 1\n\n" + table(head, rows))
    rows = []
    for name in sets:
        for row in of(f"limits {name} "):
            cells = [f"{row[k]:.2f}" for k in ("test", "train", "norm", *(f"ft {x}" for x in SHARES))]
            rows.append([name, row["key"].split(" ", 2)[2], *cells, f"{row['seconds']:.2f}", f"{row['bound']:.4f}", f"{row['objective']:.4f}", row["status"]])
    if rows:
        head = ["set", "method", "c1", "c2", "norm", *(f"ft {x}" for x in SHARES), "time s", "LB", "UB", "status"]
        out.append("## Tables 4.8 to 4.11: C = 1, D = 0.01, trained on 90 %\n\n" + table(head, rows))
    rows = []
    for name in sets:
        for D in PENALTIES:
            found = {label: log.rows.get(f"hard {name} {D} {label}") for label in ("lagrangian", "mbp", "mbp --plain")}
            if not all(found.values()):
                continue
            gap = lambda r: (r["objective"] - r["bound"]) / max(abs(r["objective"]), 1e-10)  # noqa: E731
            lag, ours, plain = found["lagrangian"], found["mbp"], found["mbp --plain"]
            share = "both 0" if gap(plain) < 1e-4 and gap(ours) < 1e-4 else f"{gap(ours) / gap(plain):.2f}"
            off = abs(lag["dual"] - lag["relaxation"]) / abs(lag["relaxation"])
            rows.append([name, D, f"{plain['objective']:.4f}", f"{plain['bound']:.4f}", f"{100 * gap(plain):.2f}", f"{ours['objective']:.4f}", f"{ours['bound']:.4f}"])
            rows[-1] += [f"{100 * gap(ours):.2f}", share, ours["status"], f"{lag['objective']:.4f}", f"{lag['seconds']:.2f}", f"{off:.0e}", lag["steps"], lag["linear_programs"], f"{lag['program_seconds']:.2f}"]
    if rows:
        head = ["set", "D", "HiGHS UB", "LB", "gap %", "mbp UB", "LB", "gap %", "gap ratio", "status", "lagrangian UB", "s", "dual off LP", "steps", "LPs", "ascent LP s"]
        text = f"## u the same for every feature: HiGHS and `mbp` after {limit} s, `lagrangian` after 5 s\n\n"
        out.append(text + table(head, rows))
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fewest", default=str(ROOT / "target" / "release" / "fewest"))
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--limit", type=int, default=60, help="seconds for the longest runs; the paper has 1000")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    log = Log(arguments.out / "runs.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        fewest = Fewest(arguments.fewest, pathlib.Path(folder))
        for name in arguments.sets:
            data = Set(name)
            for part in arguments.only or PARTS:
                more = [arguments.limit] if part in ("limits", "hard") else []
                globals()[part](fewest, log, data, *more)
    head = f"# gaudioso2017 with fewest {fewest.version}\n\n{common.processor()}, one thread. `papers/gaudioso2017/run.py`, limit {arguments.limit} s.\n\n"
    (arguments.out / "tables.md").write_text(head + tables(log, arguments.sets, arguments.limit))


if __name__ == "__main__":
    main()
