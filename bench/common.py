"""What the bench scripts share: data sets, the binary matrix, our bench binary, objectives and gaps, time caps, results.

Matrix file (bench/src/matrix.rs reads it), little-endian:
    "FEWBENCH", u64 n, p, nnz, form (0 dense, 1 sparse); f64 x n labels;
    dense: f64 x n p column after column;  sparse: u64 x (p + 1) starts, f64 x nnz values, u32 x nnz rows (CSC).
"""
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"

import hashlib
import json
import math
import multiprocessing
import pathlib
import platform
import resource
import signal
import subprocess
import tempfile
import time

import numpy as np
from scipy import sparse

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
CACHE = ROOT / "bench" / ".cache"
RESULTS = ROOT / "bench" / "results"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = TARGET / "release" / "fewest-bench"

# name: (file, number of features of a sparse file)
FILES = {
    "wdbc": ("wdbc.csv", None),
    "ionosphere": ("ionosphere.csv", None),
    "german-numeric": ("german-numeric.csv", None),
    "spambase": ("spambase.csv", None),
    "a9a": ("a9a.svm.gz", 123),
    "w8a": ("w8a.svm.gz", 300),
    "leukemia_golub": ("leukemia_golub.csv.gz", None),
    "duke_breast": ("duke_breast.svm.gz", 7129),
    "rcv1_small": ("rcv1_small_train.svm.gz", 47236),
    "farm_ads": ("farm_ads.svm.gz", 54877),
    "madelon": ("madelon_train.csv.gz", None),
    "huntington_borovecki": ("huntington_borovecki.csv.gz", None),
    "arcene": ("arcene.csv.gz", None),
    "dorothea": ("dorothea_train.svm.gz", 100000),
}
ENGINE_SETS = list(FILES)[:11]
RFE_SETS = ["leukemia_golub", "huntington_borovecki", "arcene", "generated_500_1000"]
COSTS = [0.01, 1.0, 100.0]


def load(name):
    """(X, y): dense data standardised with the population variance (constant columns stay 0), sparse data divided by the
    largest absolute value of each column. duke_breast is stored as svmlight but has no zeros: it counts as dense."""
    if name == "generated_500_1000":  # the set of shared/peers/rfe_sklearn.py
        r = np.random.default_rng(0)
        X = r.standard_normal((500, 1000))
        y = np.where(r.random(500) < 0.65, 1, -1)
        X[:, :20] += 0.8 * y[:, None]
        return standardise(X), y.astype(float)
    file, p = FILES[name]
    if ".svm" in file:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(DATA / file), n_features=p)
        if X.nnz > 0.5 * X.shape[0] * X.shape[1]:
            return standardise(X.toarray()), np.where(y > 0, 1.0, -1.0)
        X = X.tocsc()
        X.sort_indices()
        largest = np.abs(X).max(axis=0).toarray().ravel()
        largest[largest == 0] = 1
        X = (X @ sparse.diags(1 / largest)).tocsc()
        X.sort_indices()
        return X, np.where(y > 0, 1.0, -1.0)
    import pandas

    table = pandas.read_csv(DATA / file)
    y = table["y"].to_numpy(float)
    return standardise(table.drop(columns="y").to_numpy(float)), np.where(y > 0, 1.0, -1.0)


def standardise(X):
    scale = X.std(axis=0)
    constant = scale <= 1e-12 * np.maximum(1, np.abs(X).max(axis=0))
    scale[constant] = 1
    X = (X - X.mean(axis=0)) / scale
    X[:, constant] = 0
    return np.ascontiguousarray(X)


def for_peer(X):
    """The layout scikit-learn, LIBSVM and LIBLINEAR take without a copy: C order, or CSR."""
    if sparse.issparse(X):
        X = X.tocsr()
        X.sort_indices()
        return X
    return np.ascontiguousarray(X)


def prepared(name):
    """(path of the matrix file, X, y); writes the file once."""
    X, y = load(name)
    path = CACHE / f"{name}.bin"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        write_matrix(path, X, y)
    return path, X, y


def write_matrix(path, X, y):
    part = path.with_suffix(".part")
    n, p = X.shape
    with open(part, "wb") as f:
        f.write(b"FEWBENCH")
        if sparse.issparse(X):
            np.array([n, p, X.nnz, 1], "<u8").tofile(f)
            y.astype("<f8").tofile(f)
            X.indptr.astype("<u8").tofile(f)
            X.data.astype("<f8").tofile(f)
            X.indices.astype("<u4").tofile(f)
        else:
            np.array([n, p, n * p, 0], "<u8").tofile(f)
            y.astype("<f8").tofile(f)
            np.ascontiguousarray(X.T).astype("<f8").tofile(f)
    os.replace(part, path)


def build():
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "fewest-bench"], cwd=ROOT, check=True)


def ours(command, path, timeout=None, **options):
    """Runs the bench binary; its JSON, or {"status": "timeout"}."""
    words = [str(BINARY), command, str(path)]
    for name, value in options.items():
        words += [f"--{name}", repr(value) if isinstance(value, float) else str(value)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"status": "timeout"}
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _child(pipe, function, arguments):
    try:
        pipe.send(("done", function(*arguments), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))
    except Exception as why:  # noqa: BLE001  handed to the parent, which raises it
        pipe.send(("failed", f"{type(why).__name__}: {why}", 0))


def capped(function, seconds, *arguments):
    """function(*arguments) in a process of its own: its result, or None when it takes longer than `seconds`."""
    here, there = multiprocessing.get_context("fork").Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(there, function, arguments))
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            return None
        kind, value, _ = here.recv()
    except EOFError as why:
        raise RuntimeError(f"{function.__name__} died (exit code {process.exitcode})") from why
    finally:
        process.terminate()
        process.join()
    if kind == "failed":
        raise RuntimeError(f"{function.__name__}: {value}")
    return value


def repeat(fit, repeats=5, budget=2.0):
    """(result of the last call, the seconds of each): up to `repeats` calls within about `budget` seconds."""
    seconds = []
    while True:
        start = time.perf_counter()
        result = fit()
        seconds.append(time.perf_counter() - start)
        if len(seconds) >= repeats or sum(seconds) >= budget:
            return result, seconds


def cpu_seconds(solve):
    """CPU seconds of one call. Peers of one thread are timed so: it is never more than what the clock on the wall says."""
    start = time.process_time()
    solve()
    return time.process_time() - start


def read_model(path, n, p, linear):
    """(bias, weights or None, decision values, beta) of `fewest-bench fit --out`."""
    numbers = np.fromfile(path, "<f8")
    weights = numbers[1 : 1 + p] if linear else None
    at = 1 + (p if linear else 0)
    return numbers[0], weights, numbers[at : at + n], numbers[at + n : at + 2 * n]


# --- exact selection: our command on one core, results that outlive an interruption ---------------


def pin(core):
    """This process and the ones it starts, ours and the peers, run on one core, one after the other."""
    os.sched_setaffinity(0, {core})


def npz(path, make):
    """Writes X (n x p, float64) and y of make() to path unless it is there; the path."""
    if not path.exists():
        X, y = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(part, X=np.asarray(X, "<f8"), y=np.asarray(y, "<f8"))
        os.replace(part, path)
    return path


def planted(p, n, k, seed):
    """(X, y): X standard normal, k true features of weight +-1, y = sign(X w + 0.5 e)."""
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, p))
    S, w = r.choice(p, k, replace=False), np.zeros(p)
    w[S] = np.where(r.random(k) < 0.5, -1, 1)
    return X, np.where(X @ w + 0.5 * r.standard_normal(n) > 0, 1.0, -1.0)


def fewest(binary, command, path, slack=300, **options):
    """JSON of `fewest COMMAND PATH --threads 1 --OPTION VALUE ...`. A run that hits its limit is a result (exit code 3);
    any other failure, or one that outlasts its time limit by `slack` seconds, raises."""
    words = [str(binary), command, str(path), "--threads", "1", "--quiet", "--json", "-"]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), repr(value) if isinstance(value, float) else str(value)]
    limit = float(options.get("time_limit", "600s").rstrip("s"))
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit + slack)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def exact(binary, path, limit, gap=1e-4, **options):
    """What the tables need of `fewest select PATH --method exact`. The seconds are those of the run, without reading."""
    return needed(fewest(binary, "select", path, method="exact", scale="none", time_limit=f"{limit:g}s", gap=gap, **options))


def needed(found):
    """What the tables need of a result."""
    kept = {name: found[name] for name in ("status", "objective", "bound", "gap", "seconds")}
    return {**kept, "nodes": found["counts"]["nodes"], "selected": found["selected_indices"]}


def measured(command, limit=math.inf):
    """(exit code, output, CPU seconds, seconds, peak in MiB) of a command and its children: Ctrl-C once it has taken `limit` CPU seconds."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out)
        told = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG if limit < math.inf else 0)
            if pid:
                break
            if not told and cpu_of(process.pid) >= limit:
                process.send_signal(signal.SIGINT)
                told = True
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, out.read(), usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024


def interrupted(binary, words, limit):
    """(JSON of `fewest WORDS`, its CPU seconds): with a limit of CPU seconds, other work on the machine changes little; a run that comes
    to it ends with what it has proven."""
    command = [binary, *words, "--json", "-"]
    code, out, cpu, *_ = measured(command, limit)
    if code not in (0, 3):
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {code}")
    return json.loads(out), cpu


def cpu_of(pid):
    """CPU seconds that a process has taken so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def program(path):
    """(path of the command `fewest`, a short digest of it): a result counts as new only for the binary it came from."""
    path = pathlib.Path(path or TARGET / "release" / "fewest").resolve()
    if not path.exists():
        raise SystemExit(f"{path} is missing: cargo build --release --locked -p fewest-cli, or name it with --fewest")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()[:12]


class Kept:
    """Results that outlive an interruption: bench/results/<name>.jsonl, one object a line; the last one of a (who, case) counts."""

    def __init__(self, name):
        self.path = RESULTS / f"{name}.jsonl"
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.found = {(r["who"], r["case"]): r for r in map(json.loads, lines)}

    def get(self, who, case):
        return self.found.get((who, case))

    def add(self, who, case, **record):
        record = {"who": who, "case": case, **record, "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "cpu": cpu()}
        RESULTS.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as f:
            f.write(json.dumps(record) + "\n")
        self.found[who, case] = record
        return record


def pair(kept, case, peer, run_ours, run_peer, digest, fresh, note):
    """(ours, the peer's) record of a case, kept or taken now: ours when its binary has changed, the peer's when there is none.
    `fresh` takes both, ours first, unless they were taken like that with this binary. digest None: the peer alone."""
    ours, theirs = kept.get("fewest", case), kept.get(peer, case)
    again = fresh and (theirs is None or theirs["beside"] != digest)
    if digest and (again or ours is None or ours["binary"] != digest):
        ours = kept.add("fewest", case, **run_ours(), binary=digest, note=note)
    if again or theirs is None:
        found = run_peer()
        if found is None:
            raise RuntimeError(f"{case}: {peer} did not stop at its time limit")
        theirs = kept.add(peer, case, **found, beside=digest, note=note)
    return ours, theirs


def side_by_side(ours, theirs):
    """Whether a pair was taken with one binary, one right after the other, and nothing else running."""
    return theirs["beside"] == ours["binary"] and not (theirs["note"] or ours["note"])


def pair_row(case, ours, theirs):
    """Row of a table of pairs."""
    row = {**case, "features": len(theirs.get("selected", [])), "peer s": theirs["seconds"], "peer gap": theirs["gap"], "peer nodes": theirs["nodes"]}
    row |= {"peer objective": theirs["objective"], "peer bound": theirs["bound"], "peer proven": is_proven(theirs)}
    if ours:
        row |= {"s": ours["seconds"], "gap": ours["gap"], "nodes": ours["nodes"], "objective": ours["objective"]}
        row |= {"bound": ours["bound"], "proven": is_proven(ours), "ratio": ours["seconds"] / theirs["seconds"]}
        row["side by side"] = side_by_side(ours, theirs)
    return row


PAIR_COLUMNS = ["peer s", "peer gap", "peer nodes", "s", "gap", "nodes", "ratio", "peer objective", "objective", "side by side"]


def pair_summary(rows, limit):
    """The summary of a table of pairs: only cases that the peer proves are compared in time."""
    solved = [r for r in rows if r["peer proven"]]
    compared = [r for r in solved if "ratio" in r]
    return {
        f"proven by the peer within {limit} s": f"{len(solved)} of {len(rows)}",
        "of these proven by ours": f"{sum(r['proven'] for r in compared)} of {len(compared)}",
        "geometric mean of ratios ours / peer on these": geometric_mean([r["ratio"] for r in compared]),
        "largest ratio": max((r["ratio"] for r in compared), default=None),
        "rows not taken side by side with nothing else running": sum(not r.get("side by side", False) for r in rows),
    }


def save_pairs(kept, peer, cases, limit, judge, columns):
    """Writes the table of all pairs kept so far, and fails if `judge(name, ours, theirs)` finds a contradiction in one."""
    pairs = [(case, kept.get("fewest", case_name(case)), kept.get(peer, case_name(case))) for case in cases]
    pairs = [(case, ours, theirs) for case, ours, theirs in pairs if theirs]
    wrong = [w for case, ours, theirs in pairs if (w := judge(case_name(case), ours, theirs))]
    rows = [pair_row(*pair) for pair in pairs]
    summary = {**pair_summary(rows, limit), "cases not run": len(cases) - len(pairs), "contradictions": wrong or "none"}
    save(kept.path.stem, rows, [*columns, *PAIR_COLUMNS], summary)
    if wrong:
        raise SystemExit("\n".join(wrong))


def contradiction(case, ours, theirs, rounding):
    """What contradicts what, or None: no bound may be above the other's objective. `rounding` is the possible error of the peer's bound."""
    if ours is None or theirs["objective"] is None:
        return None
    if ours["bound"] is not None and ours["bound"] > theirs["objective"] * (1 + 1e-7):
        return f"{case}: our bound {ours['bound']} is above the peer's objective {theirs['objective']}"
    if theirs["bound"] > ours["objective"] * (1 + rounding):
        return f"{case}: the peer's bound {theirs['bound']} is above our objective {ours['objective']}"
    return None


PAIR_OPTIONS = dict(
    fewest=("", "the command (target/release/fewest)"),
    only=("", 'a part of the cases, such as "p=50 C=1,32"'),
    core=(1, "core to run on"),
    fresh=(False, "run both again, side by side, unless this binary has been"),
    peer=(False, "the peer only"),
    note=("", "what else was running: kept with the times, which then count as provisional"),
)


def case_name(case):
    """The key of a case {"p": 20, "C": 0.25}: "p=20 C=0.25"."""
    return " ".join(f"{name}={value if isinstance(value, str) else format(value, 'g')}" for name, value in case.items())


def chosen(cases, only):
    """Cases that fit a filter like "p=20,50 loss=hinge"; all of them if it is empty."""
    wanted = {name: values.split(",") for name, values in (word.split("=") for word in only.split())}
    unknown = wanted.keys() - cases[0].keys()
    if unknown:
        raise SystemExit(f"--only: unknown {', '.join(sorted(unknown))}; a case has {', '.join(cases[0])}")
    fits = lambda value, texts: any(value == t if isinstance(value, str) else value == float(t) for t in texts)
    return [case for case in cases if all(fits(case[name], texts) for name, texts in wanted.items())]


def power_law(columns, values):
    """(a, powers, R^2) of values = a * product of each column to its power, by least squares of the logarithms."""
    logs = np.column_stack([np.ones(len(values)), *(np.log10(column) for column in columns)])
    values = np.log10(values)
    solved = np.linalg.lstsq(logs, values, rcond=None)[0]
    return 10 ** solved[0], solved[1:], 1 - (values - logs @ solved).var() / values.var()


def is_proven(record):
    return record["status"] == "optimal"


# --- results --------------------------------------------------------------------------------------


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def versions():
    import importlib.metadata as meta

    names = ["numpy", "scipy", "scikit-learn", "libsvm-official", "liblinear-official", "PySCIPOpt", "el0ps", "skglm", "celer", "numba"]
    return {n: meta.version(n) for n in names if any(d.metadata["Name"] == n for d in meta.distributions())}


def cpu():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def save(name, rows, columns, summary):
    """Writes bench/results/<name>.json and .md and prints the table."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    head = {"commit": commit(), "cpu": cpu(), "python": platform.python_version(), "versions": versions(), "threads": 1}
    (RESULTS / f"{name}.json").write_text(json.dumps({**head, "summary": summary, "rows": rows}, indent=1) + "\n")
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    for row in rows:
        lines.append("| " + " | ".join(shown(row.get(c)) for c in columns) + " |")
    about = [f"{k}: {shown(v)}" for k, v in summary.items()]
    about.append(f"commit {head['commit']}, {head['cpu']}, one thread, {head['versions']}")
    text = "\n".join(lines + [""] + about) + "\n"
    (RESULTS / f"{name}.md").write_text(text)
    print(text, flush=True)


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value)
    return str(value)


def geometric_mean(values):
    values = [v for v in values if v and np.isfinite(v)]
    return float(np.exp(np.mean(np.log(values)))) if values else None


def arguments(description, **defaults):
    """Command line of a script: --sets, --costs, --cap and what `defaults` adds."""
    import argparse

    parser = argparse.ArgumentParser(description=description)
    for name, (default, text) in defaults.items():
        if isinstance(default, list):
            parser.add_argument(f"--{name}", nargs="*", type=type(default[0]), default=default, help=text)
        elif isinstance(default, bool):
            parser.add_argument(f"--{name}", action="store_true", help=text)
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default, help=text)
    return parser.parse_args()
