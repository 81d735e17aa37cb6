"""Are limits kept? Every method on data of six shapes, the other commands, and a hard limit of memory. One command: `make limits`.

Each method and shape has two runs of the command, on one core: with a time limit, and without one but with a SIGINT after as long. The
table says how many seconds past the limit the first ended (0.3 s or 5 % are allowed), how many after the signal the second ended (0.5 s),
and the peak resident memory of both over `--memory` (1.5 is allowed: the program and its allocator count). A run that ends before its
limit has nothing to show there ("-"), and one that is refused (exit code 2) names its need. The second table has the same of the other
commands; those that know no time limit have the signal alone. For the third, each method runs in a process that the operating system
gives no more address space than 1.5 times `--memory` and PROGRAM: it may end or refuse, but not die. Results are kept one by one in
bench/.cache/limits by the program's date, so that a run that was stopped goes on; --again makes all of them.
"""
import argparse
import json
import os
import pathlib
import resource
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
PROGRAM = 96 << 20  # address space of the program itself: code, libraries, stacks, the allocator's reserve
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


def run(command, limit, interrupt, address_space=None):
    """Runs a command once: exit code, seconds, seconds after the signal, peak bytes, last line of standard error."""
    hard = None if address_space is None else (lambda: resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space)))
    start = time.monotonic()
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=hard, env={**os.environ, "MALLOC_ARENA_MAX": "1"}
    )
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
    # Ended by a signal: as shells have it.
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    for timer in timers:
        timer.cancel()
    said = errors.strip().splitlines()
    return {
        "code": code,
        "seconds": end - start,
        "after": end - sent[0] if sent else None,
        "peak": usage.ru_maxrss * 1024,
        "said": said[-1] if said else "",
    }


def both(binary, words, limit, memory, limited=True):
    """The two runs of a command; without a time limit where it knows none."""
    command = [binary, *words, "--memory", str(memory), "--threads", "1"]
    first = run([*command, "--time-limit", f"{limit}s"], limit, False) if limited else None
    return first, run(command, limit, True)


def select(method, path):
    """The words of a selection."""
    return ["select", str(path), "-m", method, "--max-features", "5", "--json", "/dev/null"]


def commands(binary, limit):
    """The other commands: name, words, and whether they know a time limit."""
    wide, long, sparse, small = (str(data(s)) for s in ("5,000 x 2,000", "50,000 x 50", "sparse 10,000 x 1 M", "300 x 3,000"))
    model = CACHE / "model.json"
    if not model.exists():
        fit = [binary, "fit", long, "--all-features", "--kernel", "rbf", "--time-limit", "8s", "--model", str(model), "--quiet"]
        subprocess.run(fit, check=False, stdout=subprocess.DEVNULL)
    out = str(CACHE / "out")
    rbf = ["--kernel", "rbf", "--model", f"{out}.json"]
    big = ["--samples", "20000", "--features", "2000", "--relevant", "5"]
    return [
        ("fit, rbf, 50,000 x 50", ["fit", long, "--all-features", *rbf], True),
        ("fit, sigest, 50,000 x 50", ["fit", long, "--all-features", *rbf, "--gamma", "sigest"], True),
        ("fit, linear, 5,000 x 2,000", ["fit", wide, "--all-features", "--model", f"{out}.json"], True),
        ("fit, linear, sparse", ["fit", sparse, "--all-features", "--model", f"{out}.json"], True),
        ("path, rfe, 5,000 x 2,000", ["path", wide, "-m", "rfe", "--max-features", "1..5", "--json", "/dev/null"], True),
        ("path, info-gain, 300 x 3,000", ["path", small, "-m", "info-gain", "--max-features", "1..5", "--json", "/dev/null"], True),
        ("evaluate, rfe, 5,000 x 2,000", ["evaluate", wide, "-m", "rfe", "--max-features", "5", "--cv", "5", "--json", "/dev/null"], True),
        ("evaluate, exact, 300 x 3,000", ["evaluate", small, "-m", "exact", "--max-features", "5", "--cv", "5", "--json", "/dev/null"], True),
        ("select --certify, 300 x 3,000", [*select("rfe", small), "--certify"], True),
        ("select --cost auto, 300 x 3,000", [*select("rfe", small), "--cost", "auto"], True),
        ("study, 300 x 3,000", ["study", small, "--max-features", "1..5", "--json", "/dev/null"], True),
        ("predict, rbf, 50,000 x 50", ["predict", str(model), long, "--out", f"{out}.csv"], False),
        ("convert, sparse to csc", ["convert", sparse, f"{out}.csc"], False),
        ("convert, 5,000 x 2,000 to csv", ["convert", wide, f"{out}.csv"], False),
        ("check, 5,000 x 2,000", ["check", wide], False),
        ("generate, 20,000 x 2,000", ["generate", "hyperplane", *big, "--out", f"{out}.csv"], False),
    ]


def command_row(name, first, second, limit, memory):
    """A row of the second table, and what it misses."""
    if first is None:
        misses = []
        if second["code"] not in (0, 3, 130):
            misses.append(f"exit code {second['code']} after SIGINT")
        if second["after"] is not None and second["after"] > 0.5:
            misses.append("SIGINT")
        after = "-" if second["after"] is None else f"{second['after']:.2f}"
        return [name, str(second["code"]), "-", after, f"{second['peak'] / memory:.2f}", ", ".join(misses)], misses
    cells, misses = row(name, "", first, second, limit, memory)
    return [cells[0], *cells[2:]], misses


def hard_row(binary, method, path, limit):
    """A row of the third table: exit codes with little memory and with more, each within 1.5 times as much, and PROGRAM."""
    stored = path.stat().st_size if path.suffix == ".npz" else 12 * 62 * 10_000 + 8_000_000
    cells, misses = [method], []
    for share in (1.3, 4.0):
        memory = int(share * stored) + (1 << 20)
        words = [*select(method, path), "--memory", str(memory), "--threads", "1", "--time-limit", f"{limit}s"]
        ran = run([binary, *words], limit, False, int(1.5 * memory) + PROGRAM)
        cells.append(str(ran["code"]))
        if ran["code"] not in (0, 2, 3) or (ran["code"] == 2 and "--memory" not in ran["said"]):
            misses.append(ran["said"] or str(ran["code"]))
    return [cells[0], path.stem, *cells[1:], ", ".join(misses)], misses


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


def kept(name, again, make):
    """What `make` gives, or gave before."""
    path = CACHE / f"{name}.json"
    if again or not path.exists():
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def table(heads, rows):
    return [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |", *[f"| {' | '.join(cells)} |" for cells in rows]]


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--methods", default=",".join(METHODS), help="methods, separated by commas")
    a.add_argument("--shapes", default=";".join(SHAPES), help="shapes, separated by semicolons")
    a.add_argument("--parts", default="methods,commands,hard", help="tables, separated by commas")
    a.add_argument("--limit", type=float, default=2.0, help="seconds")
    a.add_argument("--memory", type=int, default=2 << 30, help="bytes")
    a.add_argument("--binary", default=str(ROOT / "target" / "release" / "fewest"))
    a.add_argument("--again", action="store_true", help="make kept results once more")
    a.add_argument("--result", type=pathlib.Path, default=RESULT, help="where the tables go")
    a = a.parse_args()
    unknown = [shape for shape in a.shapes.split(";") if shape not in SHAPES]
    if unknown:
        raise SystemExit(f"no shape {unknown[0]!r}; there are {'; '.join(SHAPES)}")
    date = int(pathlib.Path(a.binary).stat().st_mtime)
    parts, stamp = a.parts.split(","), f"{a.limit:g}s-{a.memory}-{date}"
    methods, others, hard, missed, died = [], [], [], 0, 0
    for shape in a.shapes.split(";") if "methods" in parts else []:
        path = data(shape)
        for method in a.methods.split(","):
            words = select(method, path)
            limited, interrupted = kept(f"{method}-{path.stem}-{stamp}", a.again, lambda: both(a.binary, words, a.limit, a.memory))
            cells, misses = row(method, shape, limited, interrupted, a.limit, a.memory)
            methods.append(cells)
            missed += bool(misses)
            print(" | ".join(cells), limited["said"] if limited["code"] == 2 else "", flush=True)
    for name, words, limited in commands(a.binary, a.limit) if "commands" in parts else []:
        safe = "".join(c if c.isalnum() else "_" for c in name)
        first, second = kept(f"{safe}-{stamp}", a.again, lambda: both(a.binary, words, a.limit, a.memory, limited))
        cells, misses = command_row(name, first, second, a.limit, a.memory)
        others.append(cells)
        missed += bool(misses)
        print(" | ".join(cells), flush=True)
    for shape in a.shapes.split(";") if "hard" in parts else []:
        path = data(shape)
        for method in a.methods.split(","):
            cells, misses = kept(f"hard-{method}-{path.stem}-{date}", a.again, lambda: hard_row(a.binary, method, path, 0.5))
            cells[1] = shape
            hard.append(cells)
            died += bool(misses)
            print(" | ".join(cells), flush=True)
    heads = ["exit code", "s past the limit", "s after SIGINT", "peak / memory", "misses"]
    lines = [
        "# Limits",
        "",
        f"`make limits`: limit and SIGINT after {a.limit:g} s, `--memory` {a.memory / 2**30:g} GiB, `--threads 1`, at most 5 features; "
        f"{missed} of {len(methods) + len(others)} rows with a miss.",
        "Allowed: max(0.3 s, 5 %) past the limit, 0.5 s after SIGINT, 1.5 times the memory. Exit code 2: refused, as it does not fit.",
        "",
        *table(["method", "shape", *heads], methods),
        "",
        "The other commands, the same; exit code 130 (ended by SIGINT) is right where there is nothing to keep.",
        "",
        *table(["command", *heads], others),
    ]
    lines += [] if not hard else [
        "",
        "## Within a hard limit",
        "",
        "Each method with `--memory` 1.3 and 4 times the data, in a process that has no more address space than 1.5 times that and "
        f"{PROGRAM >> 20} MiB for the program: exit codes. {died} of {len(hard)} rows with a death.",
        "",
        *table(["method", "shape", "1.3 times the data", "4 times the data", "deaths"], hard),
    ]
    a.result.write_text("\n".join(lines) + "\n")
    print(f"{a.result} written; {missed} rows with a miss, {died} with a death")


if __name__ == "__main__":
    main()
