"""How good are the features? Our methods and the peers of bench/benefit_peers.py on 15 shared sets, at most 5 and at most 10 features.

    benefit.py [--sets SET ...] [--methods METHOD ...] [--repeats R] [--report]

Runs what is not yet in bench/.cache/benefit.jsonl (a row for each set, method, size, repetition and fold), then writes results/benefit.md, .json.xz
and .svg; --report only writes. All methods have the same 5 stratified outer folds, and everything else is inside them: scaling, costs, selection,
the cost of the classifier. Seconds and limits are CPU seconds of one thread, so that other work on the machine changes nothing. A method that
exceeds its limit in a fold is not run on the rest of the set.
"""

import argparse
import gzip
import json
import os
import resource
import subprocess
import tempfile
import time

import benefit_report
import common as c
import numpy as np

SETS = [
    "leukemia_golub", "breast_west_er", "cns_pomeroy", "dlbcl_shipp", "glioma_4434", "ovarian_1536", "breast_west_nodal", "breast_gravier",
    "wpbc", "parkinsons", "ionosphere", "wdbc", "huntington_borovecki", "german-numeric", "arcene",
]
SIZES = [5, 10]
FOLDS = 5
KEPT = c.CACHE / "benefit.jsonl"
AUTO = ["--cost", "auto"]
# Subsets that are judged need no proof.
NODES = ["--node-limit", "200"]
# name: (command, options); {K} is the size.
OURS = {
    "study": ("study", ["--max-features", "1..{K}", "--repeats", "1", "--solutions", "1", "--node-limit", "0"]),
    "exact, auto": ("evaluate", ["--method", "exact", "--max-features", "{K}", *AUTO, *NODES]),
    "rfe, auto": ("evaluate", ["--method", "rfe", "--step", "0.1", "--max-features", "{K}", *AUTO]),
    "l1-svm, tuned": ("evaluate", ["--method", "l1-svm", "--loss", "squared-hinge", "--max-features", "{K}", "--tune", "C=0.02,0.05,0.1,0.3,1,3"]),
    "info-gain, auto": ("evaluate", ["--method", "info-gain", "--max-features", "{K}", *AUTO]),
    "exact, 0.01 and 0.1": ("evaluate", ["--method", "exact", "--max-features", "{K}", "--cost", "0.01", "--fit-cost", "0.1", *NODES]),
    "kta, auto": ("evaluate", ["--method", "kta", "--max-features", "{K}", *AUTO, *NODES]),
}
# kta searches every subset: small data only.
SMALL = {"kta, auto": 40}


def opened(name):
    """(path, the file as text)."""
    path = next(path for path in [c.DATA / f"{name}.csv.gz", c.DATA / f"{name}.csv"] if path.exists())
    return path, gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def data(name):
    """(path, X, y, names of the features)."""
    path, text = opened(name)
    with text as file:
        header = file.readline().strip().split(",")
        rows = np.loadtxt(file, delimiter=",")
    return path, rows[:, :-1], np.where(rows[:, -1] > 0, 1, -1), [name.strip('"') for name in header[:-1]]


def width(name):
    """Number of features, from the header."""
    _, text = opened(name)
    with text as file:
        return file.readline().count(",")


def command(binary, words, limit):
    """(JSON, CPU seconds), or None when it took more CPU seconds than its limit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [str(word) for word in [binary, *words, "--threads", "1", "--json", "-", "--quiet"]]
    bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=bound, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode < 0 and seconds > limit - 1:
        return None
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout), seconds


def outer(binary, X, y, repeat):
    """The samples held out in each fold: the folds of the command itself, reported by a study of one feature."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        varied = int(np.argmax(X.std(axis=0) > 0))
        file.write("x,y\n" + "".join(f"{a!r},{b}\n" for a, b in zip(X[:, varied].tolist(), y, strict=True)))
        file.flush()
        words = ["study", file.name, "--methods", "rfe", "--max-features", "1", "--inner-cv", "2", "--cost-points", "1", "--solutions", "1"]
        found, _ = command(binary, [*words, "--folds", FOLDS, "--repeats", "1", "--seed", repeat], 300)
    assert len(found["folds"]) == FOLDS, "a fold was not done"
    return [fold["test"] for fold in found["folds"]]


class Rows:
    """What was found, in a file that grows by a line for each."""

    def __init__(self, path=KEPT):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "a")
        self.known = {benefit_report.key(row) for row in benefit_report.rows(path)}

    def has(self, **place):
        return benefit_report.key(place) in self.known

    def add(self, **row):
        self.file.write(json.dumps({**row, "at": time.strftime("%Y-%m-%dT%H:%M:%S")}) + "\n")
        self.file.flush()
        self.known.add(benefit_report.key(row))


def ours(binary, version, rows, place, path, names, method, size, folds, limit):
    """All folds of one of our methods by one call of the command."""
    task, options = OURS[method]
    parts = len(folds) + (task == "study")
    words = [task, path, *(option.replace("{K}", str(min(size, len(names)))) for option in options), "--seed", place["repeat"], "--time-limit", "24h"]
    words += ["--folds", FOLDS] if task == "study" else ["--cv", FOLDS]
    found = command(binary, words, limit * parts)
    if found is None:
        return [rows.add(**place, method=method, size=size, fold=fold, status="limit") for fold in range(len(folds))]
    result, seconds = found
    index, done = {name: j for j, name in enumerate(names)}, {str(fold["fold"]): fold for fold in result["folds"]}
    for fold, test in enumerate(folds):
        one = done.get(f"{fold + 1}" if task == "study" else f"fold {fold + 1}")
        if one is None:
            rows.add(**place, method=method, size=size, fold=fold, status="limit")
            continue
        if "test" in one:
            assert sorted(one["test"]) == sorted(test), "the folds differ"
        row = {name: one["metrics"].get(name) for name in ("accuracy", "auc", "log_loss")} | {"selected": sorted(index[n] for n in one["selected"])}
        row |= {"cost": one.get("cost"), "fit_cost": one.get("fit_cost"), "chosen": one.get("method"), "seconds": seconds / parts}
        if method == "study":
            # The smallest panel is judged beside the best; where both are the same it is that.
            small = one["other"] or one | one["metrics"]
            kept = {name: small.get(name) for name in ("accuracy", "auc", "log_loss", "cost", "fit_cost")}
            kept |= {"selected": sorted(index[n] for n in small["selected"]), "chosen": small["method"], "seconds": seconds / parts}
            rows.add(**place, method="study, the smallest", size=size, fold=fold, status="done", version=version, **kept)
        rows.add(**place, method=method, size=size, fold=fold, status="done", ended=one["status"], limit=limit, version=version, **row)


def peers(rows, place, X, y, method, folds, limit, sizes=SIZES):
    """The folds of a peer, each in a process of its own."""
    import benefit_peers

    over = False
    for fold, test in enumerate(folds):
        if all(rows.has(**place, method=method, size=size, fold=fold) for size in sizes):
            continue
        train = np.setdiff1d(np.arange(len(y)), test)
        found = None if over else c.capped(benefit_peers.limited, None, limit, method, X, y, train, np.array(test), sizes)
        over = found is None
        for size in sizes:
            known = {"status": "limit"} if over else {"status": "done", **found[size]}
            rows.add(**place, method=method, size=size, fold=fold, limit=limit, **known)


def run(a):
    import benefit_peers

    binary, version = c.program(a.fewest)
    rows, trouble = Rows(), []
    for repeat in range(a.repeats):
        for name in a.sets:
            path, X, y, names = data(name)
            folds, place = outer(binary, X, y, repeat), {"set": name, "repeat": repeat}
            for method in a.methods or [*OURS, *benefit_peers.PEERS]:
                start = time.perf_counter()
                try:
                    if method not in OURS:
                        __import__(benefit_peers.PEERS[method].needs)
                        peers(rows, place, X, y, method, folds, a.limit)
                    elif X.shape[1] <= SMALL.get(method, np.inf):
                        for size in SIZES:
                            if not all(rows.has(**place, method=method, size=size, fold=fold) for fold in range(FOLDS)):
                                ours(binary, version, rows, place, path, names, method, size, folds, a.study if method == "study" else a.limit)
                except (RuntimeError, ImportError) as why:
                    trouble.append(f"{name}, {method}: {why}")
                    print(trouble[-1], flush=True)
                print(f"{repeat} {name} {method}: {time.perf_counter() - start:.1f} s", flush=True)
    return trouble


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--methods", nargs="*", help="a part of the methods, ours and the peers'")
    parser.add_argument("--repeats", type=int, default=2, help="times the outer folds are dealt")
    parser.add_argument("--limit", type=float, default=30, help="CPU seconds of a fold")
    parser.add_argument("--study", type=float, default=60, help="CPU seconds of a fold of `study`, of six with that of all samples")
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="write the results of what is known, run nothing")
    a = parser.parse_args()
    trouble = [] if a.report else run(a)
    benefit_report.write(KEPT, {name: width(name) for name in SETS}, SIZES, FOLDS, list(OURS))
    if trouble:
        raise SystemExit("\n".join(trouble))


if __name__ == "__main__":
    os.environ["PYTHONWARNINGS"] = "ignore"
    main()
