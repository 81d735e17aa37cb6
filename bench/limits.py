"""Are limits kept? Every method on data of six shapes. One command: `make limits`.

Each method and shape has two runs of the command, on one core: with a time limit, and without one but with a SIGINT after as long. The
table says how many seconds past the limit the first ended (0.3 s or 5 % are allowed), how many after the signal the second ended (0.5 s),
and the peak resident memory of both over `--memory` (1.5 is allowed: the program and its allocator count). A run that ends before its
limit has nothing to show there ("-"), and one that is refused (exit code 2) names its need. Results are kept one by one in
bench/.cache/limits, so that a run that was stopped goes on; --again makes them anew.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "bench" / ".cache" / "limits"
RESULT = ROOT / "bench" / "results" / "limits.md"
SHAPES = {
    "50,000 x 50": (50_000, 50),
    "5,000 x 2,000": (5_000, 2_000),
    "300 x 3,000": (300, 3_000),
    "100 x 20,000": (100, 20_000),
    "12 x 100,000": (12, 100_000),
    "sparse 10,000 x 1 M": (10_000, 1_000_000),
}
METHODS = (
    "info-gain l1-svm fsv rfe eb-rfe bit-flip attribute-flip gbd exact kta milo-k rmilo-k milp1 milp2 mbp lagrangian fgm qcqp-ssvm nmmkl"
).split()
PATIENCE = 8.0  # seconds past the limit after which a run that does not end is killed


def data(shape):
    """The file of a shape, made once: standard normal values, five features carry the classes; sparse data are svmlight."""
    n, p = SHAPES[shape]
    sparse = shape.startswith("sparse")
    path = CACHE / f"{n}x{p}.{'svm' if sparse else 'npz'}"
    if path.exists():
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    r = np.random.default_rng(n + p)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    partial = path.with_suffix(".part" + path.suffix)
    if sparse:
        with open(partial, "w") as out:
            for i in range(n):
                columns = np.unique(np.concatenate([r.integers(1, p, 60), [1, p]]))
                values = r.random(len(columns)) + (y[i] > 0) * (columns < 6)
                out.write(f"{y[i]} " + " ".join(f"{j}:{v:.4f}" for j, v in zip(columns, values)) + "\n")
    else:
        X = r.standard_normal((n, p))
        X[:, :5] += 0.5 * y[:, None]
        np.savez(partial, X=X, y=y)
    partial.rename(path)
    return path


def measure(binary, method, path, limit, memory, interrupt):
    """Runs the command once: exit code, seconds, seconds after the signal, peak bytes, last line of standard error."""
    command = [binary, "select", str(path), "-m", method, "--max-features", "5", "--memory", str(memory), "--threads", "1"]
    command += ["--json", "/dev/null"] + ([] if interrupt else ["--time-limit", f"{limit}s"])
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    sent = []

    def send():
        sent.append(time.monotonic())
        child.send_signal(signal.SIGINT)

    timers = [threading.Timer(limit, send)] if interrupt else []
    timers.append(threading.Timer(limit + PATIENCE, child.kill))
    for timer in timers:
        timer.daemon = True
        timer.start()
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    end = time.monotonic()
    child.returncode = os.waitstatus_to_exitcode(status)
    for timer in timers:
        timer.cancel()
    said = errors.strip().splitlines()
    return {
        "code": child.returncode,
        "seconds": end - start,
        "after": end - sent[0] if sent else None,
        "peak": usage.ru_maxrss * 1024,
        "said": said[-1] if said else "",
    }


def row(method, shape, limited, interrupted, limit, memory):
    """The table's row, and what it misses."""
    misses = []
    code = limited["code"]
    past = max(0.0, limited["seconds"] - limit)
    after = interrupted["after"]
    peak = max(limited["peak"], interrupted["peak"]) / memory
    # Code 3 or 0 by a run that went on to its limit; anything else never got there.
    stopped = code in (0, 3) and limited["seconds"] > 0.9 * limit
    if code not in (0, 2, 3):
        misses.append(f"exit code {code}")
    if stopped and past > max(0.3, 0.05 * limit):
        misses.append("limit")
    if interrupted["code"] not in (0, 2, 3):
        misses.append(f"exit code {interrupted['code']} after SIGINT")
    if after is not None and after > 0.5:
        misses.append("SIGINT")
    if peak > 1.5:
        misses.append("memory")
    cells = [
        method,
        shape,
        str(code),
        f"{past:.2f}" if stopped else "-",
        f"{after:.2f}" if after is not None else "-",
        f"{peak:.2f}",
        ", ".join(misses),
    ]
    return cells, misses


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--methods", default=",".join(METHODS), help="methods, separated by commas")
    a.add_argument("--shapes", default=";".join(SHAPES), help="shapes, separated by semicolons")
    a.add_argument("--limit", type=float, default=5.0, help="seconds")
    a.add_argument("--memory", type=int, default=2 << 30, help="bytes")
    a.add_argument("--binary", default=str(ROOT / "target" / "release" / "fewest"))
    a.add_argument("--again", action="store_true", help="make kept results anew")
    a = a.parse_args()
    unknown = [shape for shape in a.shapes.split(";") if shape not in SHAPES]
    if unknown:
        raise SystemExit(f"no shape {unknown[0]!r}; there are {'; '.join(SHAPES)}")
    rows, missed = [], 0
    for shape in a.shapes.split(";"):
        path = data(shape)
        for method in a.methods.split(","):
            kept = CACHE / f"{method}-{path.stem}-{a.limit:g}s-{a.memory}.json"
            if a.again or not kept.exists():
                both = [measure(a.binary, method, path, a.limit, a.memory, interrupt) for interrupt in (False, True)]
                kept.write_text(json.dumps(both))
            limited, interrupted = json.loads(kept.read_text())
            cells, misses = row(method, shape, limited, interrupted, a.limit, a.memory)
            rows.append(cells)
            missed += bool(misses)
            print(" | ".join(cells), limited["said"] if limited["code"] == 2 else "", flush=True)
    lines = [
        "# Limits",
        "",
        f"`make limits`: limit and SIGINT after {a.limit:g} s, `--memory` {a.memory / 2**30:g} GiB, `--threads 1`, at most 5 features; "
        f"{missed} of {len(rows)} rows with a miss.",
        "Allowed: max(0.3 s, 5 %) past the limit, 0.5 s after SIGINT, 1.5 times the memory. Exit code 2: refused, as it does not fit.",
        "",
        "| method | shape | exit code | s past the limit | s after SIGINT | peak / memory | misses |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *[f"| {' | '.join(cells)} |" for cells in rows],
    ]
    RESULT.write_text("\n".join(lines) + "\n")
    print(f"{RESULT.relative_to(ROOT)} written; {missed} rows with a miss")


if __name__ == "__main__":
    main()
