#!/usr/bin/env python3
"""The experiments of aytug2015 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/aytug2015/run.py [--fewest PATH] [--only 1 | --only '1/n500-*' ...] [--time-limit 60] [--quick]

Every solve is one line of OUT/solves.jsonl; an interrupted run goes on where it was, when started again in the same way.
The tables are OUT/experiment{1,2,3}.md. Standard library only.

For each problem and method: `fewest select` on the training set, at one cost C or several; of several, the classifier of lowest
validation error counts (the smallest C among equals), and its test error is reported, as in the paper. Methods that solve
the problem exactly are run at one C only, that of RFE (--tune all: at every C, as the paper does, eight times the time).
"""
import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402
import experiments  # noqa: E402
import tables  # noqa: E402

ROOT = HERE.parent.parent
DATA = os.environ.get("FEWEST_DATA", str(ROOT.parent / "shared" / "data"))
COSTS = [2.0**k for k in range(-2, 6)]  # the paper's
SHARES = [0.25, 1.0, 4.0]  # of the penalised form's first guess of lambda


@dataclass(frozen=True)
class Method:
    """How a method of the tables is run."""

    label: str
    name: str  # for --method
    experiments: tuple = (1, 2, 3)
    form: str = "M"  # "M": --max-features M; "lambda": --penalty; "free": neither
    tuned: bool = True  # at every C; else at the C that RFE chose
    options: tuple = ()


# The one list of methods. RFE comes first, as its C is used by others. What the binary does not
# know is left out, and said so.
METHODS = [
    Method("RFE", "rfe"),
    # WEKA, which the paper uses, cuts by the MDL rule and fills up to M with features of gain 0; 10
    # bins give all a gain.
    Method("InfoGain", "info-gain", options=("--binning", "10")),
    Method("ONSVM", "l1-svm", form="free"),
    Method("FSV", "fsv", form="free"),
    Method("GBD-M", "gbd", tuned=False, options=("--gap", "1e-4")),
    Method("GBD-M/plain", "gbd", experiments=(1,), tuned=False, options=("--gap", "1e-4", "--plain")),
    Method("exact", "exact", tuned=False, options=("--gap", "1e-4")),
    Method("GBD-λ", "gbd", experiments=(3,), form="lambda", tuned=False, options=("--gap", "1e-4")),
]


class Failed(Exception):
    """A command of fewest that gave no result."""


class Fewest:
    """The binary."""

    def __init__(self, path, time_limit, threads):
        self.path, self.time_limit, self.threads = path, time_limit, threads
        self.version = self.text(["--version"]).split()[-1]
        self.methods = {m["name"] for m in json.loads(self.text(["methods", "--json", "-"]))["methods"]}

    def text(self, words, codes=(0,)):
        """Standard output of a command that ends with one of these exit codes."""
        patience = 600 + 3 * self.time_limit
        try:
            done = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True, timeout=patience)
        except subprocess.TimeoutExpired:
            raise Failed(f"no answer after {patience:g} s: {' '.join(map(str, words))}") from None
        if done.returncode not in codes:
            raise Failed(f"exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def select(self, method, problem, files, cost, penalty, out):
        """The result of `fewest select`, also left in the file `out`."""
        words = ["select", files["train"], "--method", method.name, "--cost", cost, "--scale", problem.scale]
        words += {"M": ["--max-features", problem.M], "lambda": ["--penalty", penalty], "free": []}[method.form]
        words += ["--time-limit", f"{self.time_limit}s", "--threads", self.threads, "--quiet", "--json", out]
        self.text([*words, *method.options], codes=(0, 3))
        return json.loads(out.read_text())

    def error(self, model, file, folder):
        """Share of the samples of a file that a model misclassifies."""
        out = folder / "prediction.json"
        self.text(["predict", model, file, "--quiet", "--out", os.devnull, "--json", out])
        scored = json.loads(out.read_text())
        return (scored["scored"] - scored["right"]) / scored["scored"]

    def first_lambda(self, problem, files, cost, folder):
        """Half the squared M-th largest weight of the SVM on all features: by (15) of the paper, the lambda up to which the
        first cut keeps M features."""
        out = folder / "all.json"
        words = ["fit", files["train"], "--all-features", "--cost", cost, "--scale", problem.scale, "--quiet", "--json", out]
        self.text([*words, "--threads", self.threads])
        weights = json.loads(out.read_text())["model"]["weights"]
        squares = sorted((w * w for w in weights.values()), reverse=True)
        return squares[min(problem.M, len(squares)) - 1] / 2


def measures(result, truth):
    """Overlap (p minus the Hamming distance of the supports) and inner product of the normalised weights."""
    weights = {name: w for name, w in result["model"]["weights"].items() if w != 0.0}
    true = truth["weights"]
    overlap = truth["n_features"] - len(weights.keys() ^ true.keys())
    dot = sum(w * true.get(name, 0.0) for name, w in weights.items())
    norms = [sum(w * w for w in ws.values()) ** 0.5 for ws in (weights, true)]
    return {"overlap": overlap, "inner_product": dot / (norms[0] * norms[1]) if all(norms) else 0.0}


class Log:
    """The lines of solves.jsonl."""

    KEY = ("problem", "method", "cost", "share", "time_limit")

    def __init__(self, path):
        self.path = path
        self.records = {}
        for line in common.whole_lines(path):
            record = json.loads(line)
            self.records[self.key(record)] = record

    def key(self, record):
        return tuple(record[k] for k in self.KEY)

    def done(self, record):
        """The earlier record of the same solve; one that failed is tried again."""
        found = self.records.get(self.key(record))
        return found if found and "failed" not in found else None

    def add(self, record):
        self.records[self.key(record)] = record
        with open(self.path, "a") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


class Runner:
    """Runs the solves of one problem after the other."""

    def __init__(self, fewest, log, args):
        self.fewest, self.log, self.args = fewest, log, args
        self.failures = 0

    def problem(self, problem, methods, data):
        """All solves of a problem; its files are made when the first solve needs them."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            files = {}

            def sets():
                if not files and problem.experiment == 3:
                    files.update(experiments.split(data, problem, folder))
                elif not files:
                    files.update(experiments.generate(self.fewest.path, problem, folder))
                return files

            rfe_cost = None
            for method in methods:
                if problem.experiment not in method.experiments:
                    continue
                free = method.tuned or self.args.tune == "all"
                costs = self.args.costs if free else [rfe_cost]
                if costs == [None]:
                    continue  # RFE failed, so that there is no cost to use
                records = [r for cost in costs for r in self.costs(method, problem, sets, cost, folder)]
                if method.label == "RFE":
                    best = tables.chosen(r for r in records if "failed" not in r)
                    rfe_cost = best and best["cost"]

    def costs(self, method, problem, sets, cost, folder):
        """The solves at one cost: one, or one for each penalty, told apart by its share of the first guess."""
        shares = SHARES if method.form == "lambda" else [None]
        return [self.solve(method, problem, sets, cost, share, folder) for share in shares]

    def solve(self, method, problem, sets, cost, share, folder):
        record = {
            "problem": problem.name,
            "method": method.label,
            "cost": cost,
            "share": share,
            "time_limit": self.fewest.time_limit,
        }
        known = self.log.done(record)
        if known:
            return known
        try:
            record |= self.result(method, problem, sets(), cost, share, folder)
            say = f"{record['status']}, {record['seconds']:.2f} s, test error {record['test_error']:.4f}"
        except (Failed, RuntimeError) as error:
            record["failed"] = say = str(error)
            self.failures += 1
        print(f"{problem.name:14} {method.label:11} C {cost:<5g} {say}", flush=True)
        self.log.add(record)
        return record

    def result(self, method, problem, files, cost, share, folder):
        out = folder / "result.json"
        penalty = share and share * self.fewest.first_lambda(problem, files, cost, folder)
        result = self.fewest.select(method, problem, files, cost, penalty, out)
        if result["model"] is None:
            raise Failed(f"{method.name} selected no feature (status {result['status']})")
        record = {"n": result["n_samples"], "p": result["n_features"], "M": problem.M, "lambda": penalty}
        record |= {k: result[k] for k in ("status", "objective", "bound", "gap", "seconds", "counts")}
        record["n_selected"] = len(result["selected"])
        for part in ("validation", "test"):
            record[f"{part}_error"] = self.fewest.error(out, files[part], folder)
        if problem.experiment != 3:
            record |= measures(result, json.loads((folder / "truth.json").read_text()))
        return record | {"version": result["version"], "threads": self.fewest.threads}


def onsvm():
    """What onsvm.py found on the real data, by name."""
    return json.loads((HERE / "onsvm.json").read_text())


def stand_in(log, time_limit):
    """The results of onsvm.py as records of ONSVM, for the problems that other methods were run on."""
    ran = {r["problem"] for r in log.records.values() if r["method"] == "RFE"}
    fields = {"method": "ONSVM", "share": None, "time_limit": time_limit, "status": "optimal"}
    found = {f"3/{name}": entry for name, entry in onsvm().items()}
    return [fields | entry | {"problem": p, "n_selected": entry["M"]} for p, entry in found.items() if p in ran]


def problems(args):
    """The problems asked for."""
    every = experiments.experiment_1() + experiments.experiment_2()
    if pathlib.Path(args.data).is_dir():
        every += experiments.experiment_3({name: entry["M"] for name, entry in onsvm().items()})
    else:
        print(f"experiment 3 is left out: there is no folder {args.data}; name one with --data")
    if args.quick:
        every = [p for p in every if experiments.quick(p)]
    patterns = [f"{only}/*" if only in ("1", "2", "3") else only for only in args.only]
    chosen = [p for p in every if not patterns or any(fnmatch.fnmatch(p.name, pattern) for pattern in patterns)]
    if not chosen:
        sys.exit(f"--only {' '.join(args.only)} names no problem; names look like 1/n500-p20/0, 2/M100/0 and 3/wdbc")
    return chosen


def main():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fewest", default=str(target / "release" / "fewest"), help="the binary [default: %(default)s]")
    parser.add_argument("--only", action="append", default=[], help="1, 2 or 3, or a pattern of problem names such as '1/n500-*'")
    parser.add_argument("--methods", help="labels of the methods to run, with commas [default: all]")
    parser.add_argument("--time-limit", type=float, help="seconds for each solve [default: 60; 2 with --quick]")
    parser.add_argument("--tune", choices=("rfe", "all"), default="rfe", help="C of the exact methods [default: rfe]")
    parser.add_argument("--threads", type=int, default=1, help="threads of each solve [default: 1]")
    parser.add_argument("--data", default=DATA, help="folder of the real data [default: %(default)s]")
    parser.add_argument("--out", help="folder of the results [default: results beside this file; .quick with --quick]")
    parser.add_argument("--quick", action="store_true", help="seven small problems at two costs, to see that all works")
    parser.add_argument("--tables", action="store_true", help="only write the tables again")
    args = parser.parse_args()
    args.costs = [1.0, 32.0] if args.quick else COSTS
    args.time_limit = args.time_limit or (2.0 if args.quick else 60.0)
    out = pathlib.Path(args.out or HERE / (".quick" if args.quick else "results"))
    out.mkdir(parents=True, exist_ok=True)
    if not pathlib.Path(args.fewest).is_file():
        sys.exit(f"{args.fewest} is missing: cargo build --release -p fewest-cli, or name the binary with --fewest PATH")
    fewest = Fewest(args.fewest, args.time_limit, args.threads)
    labels = [m.label for m in METHODS]
    wanted = args.methods.split(",") if args.methods else labels
    if unknown := [w for w in wanted if w not in labels]:
        sys.exit(f"--methods {','.join(unknown)}: there are {', '.join(labels)}")
    methods = [m for m in METHODS if m.label in wanted]
    skipped = [f"{m.label} (`{m.name}`)" for m in methods if m.name not in fewest.methods]
    if skipped:
        print(f"left out, as this fewest does not have them: {', '.join(skipped)}")
    methods = [m for m in methods if m.name in fewest.methods]

    log = Log(out / "solves.jsonl")
    runner = Runner(fewest, log, args)
    try:
        if not args.tables:
            for problem in problems(args):
                runner.problem(problem, methods, args.data)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here")
    records = list(log.records.values())
    if "l1-svm" not in fewest.methods:
        records += stand_in(log, args.time_limit)
    for name in tables.write(out, records, labels, args.time_limit, skipped):
        print(f"wrote {name}")
    if runner.failures:
        sys.exit(f"{runner.failures} solves failed; see the lines above, and run again to retry them")


if __name__ == "__main__":
    main()
