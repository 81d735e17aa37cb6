"""What is left of a run that a limit or Ctrl-C ends? Random commands, methods, rules, limits and signals. One command: `make fuzz-limits`.

Each run is a command on a small file, with a time limit from 0 to 5 s or none, and in a third of the cases a SIGINT at a random moment. A
run must end with exit code 0, 3 or 4 (130 where the signal comes before it listens), write a result of JSON with a status (or, before
there is one, leave what stood at its place), leave no part of a file, and no figure of a result may be of parts that time cut: a mean is
over as many folds as there are, none without one, and an outer fold, a fold of `markers` or an elimination with the status `time_limit`
counts nowhere. The seed of a fault says it again: `bench/fuzz_limits.py --first SEED --runs 1`.
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "fuzz_limits.md"
METHODS = "info-gain l1-svm fsv rfe eb-rfe bit-flip gbd exact kta milp1 milp2 mbp lagrangian fgm".split()
SIGNED = {"exact", "rfe", "l1-svm", "fgm", "mbp", "lagrangian", "milp1", "milp2", "gbd"}
SEARCHES = {"exact", "kta", "mbp", "milp1", "milp2", "gbd"}
PATIENCE = 30.0


def data(folder):
    """Three files: two classes and 12 features, two classes and 300, four classes and 20; weights and groups."""
    for name, n, p, k in (("small.csv", 120, 12, 2), ("wide.csv", 80, 300, 2), ("many.csv", 160, 20, 4)):
        r = np.random.default_rng(p)
        y = np.arange(n) % k
        x = r.standard_normal((n, p))
        x[:, :3] += 0.8 * y[:, None]
        names = [f"f{j}" for j in range(p)] + ["w", "g", "y"]
        rows = [",".join(f"{v:.3f}" for v in x[i]) + f",{i % 3},g{i // 4 % 20},c{y[i]}" for i in range(n)]
        (folder / name).write_text(",".join(names) + "\n" + "\n".join(rows) + "\n")


def drawn(r):
    """A command, its data, and whether a signal ends it."""
    kind = r.choice(["select", "select", "path", "evaluate", "evaluate", "study", "study", "markers", "stability", "certify", "knockoffs"])
    file = r.choice(["many.csv"] if kind == "markers" else ["small.csv", "wide.csv"])
    words = [kind, file, "--target", "y", "--drop", "g"]
    method = r.choice(METHODS)
    if kind in ("select", "path", "evaluate", "stability", "knockoffs"):
        if kind == "knockoffs":
            method = r.choice(["rfe", "l1-svm", "info-gain"])
        words += ["-m", method]
        if kind == "path":
            words += ["--max-features", "1..4", *r.choice([[], ["--cv", "3"]])]
        elif kind != "knockoffs" and method not in ("l1-svm", "fsv"):
            words += ["--max-features", str(r.randint(1, 4))]
        if kind == "evaluate":
            words += ["--cv", r.choice(["3", "5"])]
    if kind == "study":
        words += ["--max-features", "1..4", *r.choice([[], ["--methods", "rfe,exact"]])]
    if kind == "markers":
        words += ["--max-features", str(r.randint(4, 8)), *r.choice([[], ["--require", "f4"], ["--per-class", "1"]])]
    if kind == "certify":
        words += ["--features", "f0,f7"]
    if (method in SIGNED or kind in ("study", "certify")) and kind not in ("markers", "knockoffs") and r.random() < 0.4:
        words += ["--sign", "f0:+,f1:-"]
    if kind not in ("markers", "knockoffs", "certify") and r.random() < 0.3:
        words += ["--require", "f5"]
    if r.random() < 0.3:
        words += ["--sample-weights", "w"]
    else:
        words += ["--drop", "w"]
    if r.random() < 0.2 and kind in ("evaluate", "study", "markers", "stability"):
        words[words.index("--drop") : words.index("--drop") + 2] = ["--groups", "g"]
    limit = r.choice([0, 0.1, 0.2, 0.5, 1, 2, 5])
    words += ["--time-limit", f"{limit}s"]
    return words, limit, r.uniform(0, 1.5) if r.random() < 0.33 else None


def cut(result, kind, method):
    """Figures of a result that are of parts that were cut, in words."""
    wrong = []
    folds = result.get("folds")
    if isinstance(folds, list):
        if kind == "markers" or (kind == "evaluate" and method not in SEARCHES):
            wrong += [f"the fold {fold['fold']} has the status time_limit" for fold in folds if fold["status"] == "time_limit"]
        summary = result.get("summary") or {}
        if not folds and any(of.get("mean") is not None for of in summary.values() if isinstance(of, dict)):
            wrong.append("a mean without a fold")
        frequency = result.get("frequency") or {}
        if not folds and frequency:
            wrong.append("frequencies without a fold")
    return wrong


def run(binary, seed, folder):
    r = random.Random(seed)
    words, limit, moment = drawn(r)
    out = folder / "r.json"
    before = '{"kept": true}\n'
    out.write_text(before)
    begun = time.monotonic()
    child = subprocess.Popen([binary, *words, "--json", "r.json", "--quiet"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if moment is not None:
        try:
            child.wait(moment)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
    try:
        _, err = child.communicate(timeout=limit + PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        return words, f"not ended {PATIENCE:.0f} s past the limit", 0.0
    late = time.monotonic() - begun - limit
    code, text = child.returncode, out.read_text()
    wrong = []
    if code not in (0, 3, 4) and not (moment is not None and code in (130, -2)):
        wrong.append(f"exit code {code}: {err.strip()[:300]}")
    if text == before:
        if code in (0, 3):
            wrong.append("no result was written")
    else:
        try:
            result = json.loads(text)
            method = words[words.index("-m") + 1] if "-m" in words else None
            of = result if "path" not in result else result["path"][0] if result["path"] else {"status": ""}
            if words[0] not in ("evaluate",) and "status" not in of:
                wrong.append("the result has no status")
            wrong += cut(result, words[0], method)
        except ValueError:
            wrong.append("the result is no JSON")
    others = {path.name for path in folder.iterdir()} - {"r.json", "small.csv", "wide.csv", "many.csv"}
    if others:
        wrong.append(f"left behind: {sorted(others)}")
    return words, "; ".join(wrong), late


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=lambda path: str(pathlib.Path(path).resolve()), default=str(ROOT / "target" / "release" / "fewest"))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write bench/results/fuzz_limits.md")
    args = parser.parse_args()
    faults, late, kinds = [], [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data(folder)
        for seed in range(args.first, args.first + args.runs):
            words, wrong, seconds = run(args.binary, seed, folder)
            late.append(seconds)
            kinds[words[0]] = kinds.get(words[0], 0) + 1
            if wrong:
                faults.append((seed, " ".join(words), wrong))
                print(f"seed {seed}: {' '.join(words)}\n    {wrong}", flush=True)
    late.sort()
    said = [
        f"{args.runs} runs ({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}), {len(faults)} with a fault.",
        f"Seconds past the limit: median {late[len(late) // 2]:.2f}, 99 of 100 {late[int(0.99 * len(late))]:.2f}, most {late[-1]:.2f}.",
    ]
    print("\n".join(said))
    if args.write:
        rows = "".join(f"\n- seed {seed}: `{words}`: {wrong}" for seed, words, wrong in faults)
        RESULT.write_text("# What a limit or Ctrl-C leaves\n\nWritten by `make fuzz-limits` (bench/fuzz_limits.py).\n\n" + "\n".join(said) + "\n" + rows + ("\n" if rows else ""))
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
