#!/usr/bin/env python3
"""The experiments of tamura2022 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/tamura2022/run.py [--fewest PATH] [--only 2 --only 6 ...] [--milo-limit 60] [--quick]

Tables 2 to 5: `kta` (proven, gap 0) and `rmilo-k` under --milo-limit on the paper's data, beside the paper's numbers.
Tables 6 to 9: `kta`, which has the optimum of RMILO-K, and RFE-K (`rfe --kernel rbf`) on NDCC data, 10 repetitions; mean and standard error.
MILO-L is `milp2`; methods that the binary does not have are left out, and the tables say so.

Every run is one line of OUT/runs.jsonl; an interrupted run goes on where it was, when started again in the same way.
The tables are OUT/tables2-5.md and OUT/tables6-9.md. Standard library only.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402

ROOT = HERE.parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
FILES = {2: "hepatitis", 3: "zoo", 4: "parkinsons", 5: "soybean-small"}
BETAS = ("0.25", "1.00", "4.00")
# Table: expansion factor and number of relevant features.
NDCC = {6: (25, 3), 7: (25, 5), 8: (100, 3), 9: (100, 5)}
SAMPLES, FEATURES, REPEATS, TEST = (50, 100), (10, 20, 30), 10, 5000
# Label: method and options. gamma is that of eq. (54) for both kernel methods; C is the paper's 1,
# but in MILO-L, where that leaves no margin, 1.5 times the least there is (`Problem.run`).
SELECTORS = {
    "RMILO-K": ("kta", ("--gap", "0")),
    "RFE-K": ("rfe", ("--kernel", "rbf", "--gamma", "sigest")),
    "MILO-L": ("milp2", ("--time-limit", "60s")),
}


class Fewest:
    """The binary."""

    def __init__(self, path):
        self.path = path
        self.version = self.run(["--version"])[0].split()[-1]
        described = json.loads(self.run(["methods", "--json", "-"])[0])["methods"]
        self.kernels = {m["name"]: m["kernels"] for m in described}

    def run(self, words, codes=(0,)):
        """Standard output, and seconds from start to end."""
        start = time.perf_counter()
        done = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in codes:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout, time.perf_counter() - start

    def has(self, label):
        method = SELECTORS[label][0]
        return method in self.kernels and (label != "RFE-K" or "rbf" in self.kernels[method])

    def select(self, data, method, size, *options):
        words = ["select", data, "--method", method, "--max-features", size, "--threads", 1, "--quiet", "--json", "-"]
        text, seconds = self.run([*words, *options], codes=(0, 3))
        return json.loads(text), seconds


class Log:
    """The lines of runs.jsonl: one dictionary for each key."""

    def __init__(self, path):
        self.path = path
        self.rows = {row["key"]: row for row in map(json.loads, common.whole_lines(path))}

    def limits(self, begun):
        """The limits of the runs whose keys begin so."""
        return [float(key.split()[-1]) for key in self.rows if key.startswith(begun)]

    def get(self, key, make):
        if key not in self.rows:
            row = {"key": key, **make()}
            self.rows[key] = row
            with open(self.path, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(key, {k: v for k, v in row.items() if k in ("status", "objective", "gap", "seconds", "accuracy", "set_f1")}, flush=True)
        return self.rows[key]


def expected():
    with open(HERE / "expected.csv") as file:
        return {(int(r["table"]), r["a"], r["b"], r["method"]): r for r in csv.DictReader(file)}


def real(fewest, log, tables, limit, paper):
    """Tables 2 to 5; of rmilo-k the run with the longest limit counts."""
    lines = [
        "| file | theta | beta | paper: RMILO-K value, gap, s | kta value, status, s | nodes | "
        "rmilo-k (HiGHS) value, gap, s | paper's s / kta's |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    total = matches = 0
    for table in sorted(set(tables) & set(FILES)):
        name = FILES[table]
        for theta in (3, 5):
            for beta in BETAS:
                def solve(method, *options):
                    found, seconds = fewest.select(DATA / f"{name}.csv", method, theta, "--gamma", f"sigest:{beta}", *options)
                    kept = {k: found[k] for k in ("status", "objective", "bound", "gap", "selected")}
                    return {**kept, "nodes": found["counts"]["nodes"], "seconds": seconds}

                ours = log.get(f"{name} {theta} {beta} kta", lambda: solve("kta", "--gap", 0))
                begun = f"{name} {theta} {beta} rmilo-k "
                if "rmilo-k" in fewest.kernels and limit > max(log.limits(begun), default=0):
                    log.get(f"{begun}{limit:g}", lambda: solve("rmilo-k", "--lp", "interior", "--time-limit", f"{limit:g}s"))
                milo = log.rows.get(f"{begun}{max(log.limits(begun), default=0):g}")
                printed = paper[table, str(theta), beta, "RMILO-K"]
                total += ours["seconds"]
                solved = printed["opt_gap_percent"] == "0.0"
                matches += not solved or abs(ours["objective"] - float(printed["value"])) <= 6e-4
                cell = ""
                if milo:
                    gap = "no bound" if milo["gap"] is None else f"{100 * milo['gap']:.1f} %"
                    cell = f"{milo['objective']:.6f}, {gap}, {milo['seconds']:.1f}"
                lines.append(
                    f"| {name} | {theta} | {beta} | {printed['value']}, {printed['opt_gap_percent']} %, {printed['seconds']} | {ours['objective']:.6f}, "
                    f"{ours['status']}, {ours['seconds']:.3f} | {ours['nodes']} | {cell} | {float(printed['seconds'].strip('>')) / ours['seconds']:.0f} |"
                )
    lines += ["", f"All runs of kta together, start and reading included: {total:.2f} s. "
              f"Where the paper proves its value, ours agrees to its three digits in {matches} of {len(lines) - 2} rows (rows it does not prove count as agreeing)."]
    return lines


def synthetic(fewest, log, tables, repeats, paper):
    """Tables 6 to 9."""
    labels = [label for label in SELECTORS if fewest.has(label)]
    missing = [label for label in SELECTORS if label not in labels]
    lines = [f"Not in this version of fewest: {', '.join(missing)}.", ""] if missing else []
    lines += [
        "Mean and standard error over repetitions: accuracy on the test set (ClsAcc), F1 of the subset (SetF1), size, seconds.",
        "",
        "| table | n | p | method | ClsAcc | paper | SetF1 | paper | size | paper | s | paper |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for table in sorted(set(tables) & set(NDCC)):
        expansion, theta = NDCC[table]
        for n in SAMPLES:
            for p in FEATURES:
                runs = {label: [] for label in labels}
                for seed in range(1, repeats + 1):
                    with tempfile.TemporaryDirectory() as folder:
                        problem = Problem(fewest, pathlib.Path(folder), n, p, theta, expansion, seed)
                        for label in labels:
                            key = f"ndcc {expansion} {theta} {n} {p} {seed} {label}"
                            runs[label].append(log.get(key, lambda: problem.run(label)))
                for label in labels:
                    lines.append(row(table, n, p, label, runs[label], paper[table, str(n), str(p), label]))
    return lines


class Problem:
    """One NDCC problem; its files are made when the first method needs them."""

    def __init__(self, fewest, folder, n, p, theta, expansion, seed):
        self.fewest, self.folder, self.theta, self.truth = fewest, folder, theta, None
        self.words = ["generate", "ndcc", "--samples", n, "--features", p, "--relevant", theta, "--expansion", expansion, "--seed", seed]

    def run(self, label):
        train, test, truth, model = (self.folder / name for name in ("train.csv", "test.csv", "truth.json", "model.json"))
        if self.truth is None:
            self.fewest.run([*self.words, "--out", train, "--test", test, "--test-samples", TEST, "--truth", truth])
            self.truth = set(json.loads(truth.read_text())["support"])
        method, options = SELECTORS[label]
        labels = lambda file: [line.rsplit(",", 1)[1] for line in file.read_text().splitlines()[1:]]
        if label == "MILO-L":
            options += ("--cost", 0.75 / min(map(labels(train).count, ("-1", "1"))))
        model.unlink(missing_ok=True)
        found, seconds = self.fewest.select(train, method, self.theta, *options, "--model", model)
        chosen = set(found["selected"])
        both = len(chosen & self.truth)
        if model.exists():
            scored = json.loads(self.fewest.run(["predict", model, test, "--quiet", "--out", os.devnull, "--json", "-"])[0])
            accuracy = scored["right"] / scored["scored"]
        else:  # no feature was selected: the larger class of the training set
            larger = statistics.mode(labels(train))
            accuracy = statistics.mean(y == larger for y in labels(test))
        return {
            "status": found["status"], "accuracy": accuracy, "size": len(chosen), "seconds": seconds,
            "set_f1": 2 * both / (len(chosen) + len(self.truth)),  # the harmonic mean of recall and precision
        }


def row(table, n, p, label, runs, printed):
    def mean(what):
        values = [r[what] for r in runs]
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
        return f"{statistics.mean(values):.3f} ({error:.3f})"

    proven = "" if label != "RMILO-K" or all(r["status"] == "optimal" for r in runs) else " (not all proven)"
    return (
        f"| {table} | {n} | {p} | {label}{proven} | {mean('accuracy')} | {printed['value']} ({printed['value_se']}) | {mean('set_f1')} | "
        f"{printed['set_f1']} ({printed['set_f1_se']}) | {statistics.mean(r['size'] for r in runs):.1f} | {printed['size']} | "
        f"{statistics.mean(r['seconds'] for r in runs):.3f} | {printed['seconds']} |"
    )


def main():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fewest", default=str(target / "release" / "fewest"), help="the binary [default: %(default)s]")
    parser.add_argument("--only", action="append", type=int, default=[], help="a table, 2 to 9; repeat freely [default: all]")
    parser.add_argument("--milo-limit", type=float, default=60.0, help="seconds for each run of rmilo-k; 0 leaves it out [default: 60]")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="repetitions of tables 6 to 9 [default: %(default)s]")
    parser.add_argument("--out", help="folder of the results [default: results beside this file; .quick with --quick]")
    parser.add_argument("--quick", action="store_true", help="tables 5 and 6 with two repetitions and no rmilo-k, to see that all works")
    args = parser.parse_args()
    if args.quick:
        args.only, args.milo_limit, args.repeats = args.only or [5, 6], 0.0, 2
    tables = args.only or [*FILES, *NDCC]
    if unknown := [t for t in tables if t not in {**FILES, **NDCC}]:
        sys.exit(f"--only {unknown[0]}: the tables are 2 to 9")
    if set(tables) & set(FILES) and not DATA.is_dir():
        print(f"tables 2 to 5 are left out: there is no folder {DATA}; name one in FEWEST_DATA")
        tables = [t for t in tables if t not in FILES]
    if not pathlib.Path(args.fewest).is_file():
        sys.exit(f"{args.fewest} is missing: cargo build --release -p fewest-cli, or name the binary with --fewest PATH")
    out = pathlib.Path(args.out or HERE / (".quick" if args.quick else "results"))
    out.mkdir(parents=True, exist_ok=True)
    fewest, log, paper = Fewest(args.fewest), Log(out / "runs.jsonl"), expected()
    head = f"Written by `papers/tamura2022/run.py`, fewest {fewest.version}, one thread, {common.processor()}."
    try:
        for name, which, lines in (
            ("tables2-5", FILES, lambda: real(fewest, log, tables, args.milo_limit, paper)),
            ("tables6-9", NDCC, lambda: synthetic(fewest, log, tables, args.repeats, paper)),
        ):
            if set(tables) & set(which):
                (out / f"{name}.md").write_text("\n".join([f"# tamura2022, {name.replace('tables', 'tables ')}", "", head, "", *lines()]) + "\n")
                print(f"wrote {out / name}.md")
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on from here")


if __name__ == "__main__":
    main()
