"""Do the estimators of the Python package keep their limits? One command: `make limits-python`.

Each estimator and shape has two fits in a process of its own, on one thread: with `time_limit`, and without one but with a SIGINT after
as long. The table says how many seconds past the limit the first ended (0.5 s or 5 % are allowed; the final classifier counts), and how
many after the signal the second raised KeyboardInterrupt (0.5 s). Making the data and importing are not counted. What is refused
(MemoryError) says so. Results are kept one by one in bench/.cache/limits by the module's date; --again makes all of them.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "bench" / ".cache" / "limits"
RESULT = ROOT / "bench" / "results" / "limits_python.md"
SHAPES = {"50,000 x 50": (50_000, 50), "5,000 x 2,000": (5_000, 2_000), "100 x 20,000": (100, 20_000)}
# To see that all of it runs.
SMALL = {"2,000 x 40": (2_000, 40)}
# Name in the table: class and parameters.
ESTIMATORS = {
    "SVMRFE": ("SVMRFE", {}),
    "EvaluationRFE": ("EvaluationRFE", {}),
    "FlipSelector": ("FlipSelector", {}),
    "ExactSelector": ("ExactSelector", {}),
    "BendersSelector": ("BendersSelector", {}),
    "AlignmentSelector": ("AlignmentSelector", {}),
    "FeatureGeneratingMachine": ("FeatureGeneratingMachine", {}),
    "L1SVMSelector": ("L1SVMSelector", {}),
    "FSVSelector": ("FSVSelector", {}),
    "MBPSelector": ("MBPSelector", {}),
    "LagrangianSelector": ("LagrangianSelector", {}),
    "InformationGain": ("InformationGain", {}),
    "MILOKSelector": ("MILOKSelector", {}),
    "RMILOKSelector": ("RMILOKSelector", {}),
    "MILP1Selector": ("MILP1Selector", {}),
    "MILP2Selector": ("MILP2Selector", {}),
    "QCQPSelector": ("QCQPSelector", {}),
    "NMMKLSelector": ("NMMKLSelector", {}),
    "SVMRFE, rbf": ("SVMRFE", {"kernel": "rbf"}),
    "SVMRFE, cv=3": ("SVMRFE", {"cv": 3}),
    "SVC": ("SVC", {"kernel": "rbf"}),
    "SVC, sigest": ("SVC", {"kernel": "rbf", "gamma": "sigest"}),
    "LinearSVC": ("LinearSVC", {}),
    "Study": ("Study", {}),
}
PATIENCE = 10.0  # seconds past the limit after which a fit that does not end is killed


def fit(name, n, p, limit, interrupt):
    """The fit itself, in a process of its own; prints what happened as JSON."""
    import warnings

    import numpy as np

    import fewest.papers

    r = np.random.default_rng(n + p)
    y = np.arange(n) % 2
    X = r.standard_normal((n, p))
    X[:, :5] += 0.5 * (2 * y[:, None] - 1)
    known, given = ESTIMATORS[name]
    model = (getattr(fewest, known, None) or getattr(fewest.papers, known))(n_jobs=1, time_limit=None if interrupt else limit, **given)
    if "n_features_to_select" in model.get_params():
        model.set_params(n_features_to_select=5)
    if interrupt:
        signal.setitimer(signal.ITIMER_REAL, limit)
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    start, said = time.monotonic(), "fitted"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            said = "interrupted"
        except (MemoryError, RuntimeError) as error:
            # RuntimeError: no gamma was found in time.
            said = f"refused: {error}"
    # A fit that ends before its signal has nothing to show.
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"seconds": time.monotonic() - start, "said": said}))


def measure(name, shape, limit, interrupt):
    """Seconds and the message; a fit that does not end is killed."""
    n, p = (SHAPES | SMALL)[shape]
    command = [sys.executable, __file__, "--fit", name, "--shape", shape, "--limit", str(limit)] + (["--interrupt"] if interrupt else [])
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=limit + PATIENCE + 10, check=False)
    except subprocess.TimeoutExpired:
        return {"seconds": limit + PATIENCE, "said": "killed"}
    if ran.returncode != 0:
        return {"seconds": 0.0, "said": f"died: {(ran.stderr.strip().splitlines() or [ran.returncode])[-1]}"}
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--estimators", default=";".join(ESTIMATORS), help="names, separated by semicolons")
    a.add_argument("--shapes", default=";".join(SHAPES), help=f"shapes, separated by semicolons; also {next(iter(SMALL))}, to see that all of it runs")
    a.add_argument("--limit", type=float, default=2.0, help="seconds")
    a.add_argument("--again", action="store_true", help="make kept results once more")
    a.add_argument("--result", type=pathlib.Path, default=RESULT, help="where the table goes")
    a.add_argument("--fit", help=argparse.SUPPRESS)
    a.add_argument("--shape", help=argparse.SUPPRESS)
    a.add_argument("--interrupt", action="store_true", help=argparse.SUPPRESS)
    a = a.parse_args()
    if a.fit:
        return fit(a.fit, *(SHAPES | SMALL)[a.shape], a.limit, a.interrupt)
    CACHE.mkdir(parents=True, exist_ok=True)
    date = int(max(file.stat().st_mtime for file in (ROOT / "python" / "fewest").glob("_core*.so")))
    rows, missed = [], 0
    for shape in a.shapes.split(";"):
        for name in a.estimators.split(";"):
            safe = "".join(c if c.isalnum() else "_" for c in f"python {name} {shape} {a.limit:g} {date}")
            path = CACHE / f"{safe}.json"
            if a.again or not path.exists():
                path.write_text(json.dumps([measure(name, shape, a.limit, interrupt) for interrupt in (False, True)]))
            limited, interrupted = json.loads(path.read_text())
            past, after = limited["seconds"] - a.limit, interrupted["seconds"] - a.limit
            misses = []
            if limited["said"].startswith(("killed", "died")) or past > max(0.5, 0.05 * a.limit):
                misses.append("limit")
            if interrupted["said"].startswith(("killed", "died")) or (interrupted["said"] == "interrupted" and after > 0.5):
                misses.append("SIGINT")
            cells = [name, shape, limited["said"].split(":")[0]]
            cells += [f"{past:.2f}" if past > -0.1 * a.limit else "-", f"{after:.2f}" if interrupted["said"] == "interrupted" else "-"]
            rows.append([*cells, ", ".join(misses)])
            missed += bool(misses)
            print(" | ".join(rows[-1]), "" if limited["said"] == "fitted" else limited["said"], flush=True)
    heads = ["estimator", "shape", "ended", "s past the limit", "s after SIGINT", "misses"]
    lines = [
        "# Limits of the estimators",
        "",
        f"`make limits-python`: `time_limit` and SIGINT after {a.limit:g} s, one thread, at most 5 features; {missed} of {len(rows)} rows with a miss.",
        "Allowed: max(0.5 s, 5 %) past the limit, 0.5 s after SIGINT. A fit that ends before its limit has nothing to show there (-).",
        "",
        f"| {' | '.join(heads)} |",
        f"| {' | '.join('---' for _ in heads)} |",
        *[f"| {' | '.join(cells)} |" for cells in rows],
    ]
    a.result.write_text("\n".join(lines) + "\n")
    print(f"{a.result} written; {missed} rows with a miss")
    return None


if __name__ == "__main__":
    main()
