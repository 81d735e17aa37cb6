"""SVM-RFE with more samples than features, beside scikit-learn's RFE(LinearSVC(dual=False)).

    python bench/rfe_shapes.py [FEWEST]        writes bench/results/rfe_shapes.md

Standardised `make_classification`, squared hinge, C = 1, to 10 features, one thread. Times are those
of the elimination alone; scikit-learn's tolerance is its default, ours the relative duality gap 1e-9.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEWEST = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "fewest")
SHAPES = [(5000, 200, 1), (2000, 500, 1), (2000, 500, 0.1), (5000, 500, 0.1), (1000, 800, 1), (20000, 100, 1)]
LIMIT = 60


def ours(path, step, loss, folder):
    result = folder / "result.json"
    command = [FEWEST, "select", path, "--method", "rfe", "--max-features", "10", "--loss", loss, "--scale", "none"]
    command += ["--step", str(step), "--threads", "1", "--time-limit", f"{LIMIT}s", "--json", result, "--quiet"]
    subprocess.run([str(word) for word in command], check=False, capture_output=True)
    found = json.loads(result.read_text())
    return found["seconds"], found["status"], set(found["selected_indices"])


def scikit_learn(X, y, step):
    """Seconds and support of scikit-learn's elimination; no support where it is not done in time."""

    def over(signum, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, over)
    signal.alarm(LIMIT)
    start = time.perf_counter()
    try:
        support = RFE(LinearSVC(dual=False), n_features_to_select=10, step=step).fit(X, y).support_
    except TimeoutError:
        support = None
    signal.alarm(0)
    return time.perf_counter() - start, support


def main():
    warnings.simplefilter("ignore")
    lines = [
        "# SVM-RFE with more samples than features",
        "",
        "`python bench/rfe_shapes.py`, one thread, to 10 features, C = 1.",
        "",
        "| n x p, step | squared hinge, s | hinge, s | RFE(LinearSVC), s | ratio, squared hinge | of 10 features shared |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n, p, step in SHAPES:
            X, y = make_classification(n, p, n_informative=min(20, p // 5), n_redundant=min(20, p // 5), random_state=0)
            X = StandardScaler().fit_transform(X)
            path = folder / "d.csv"
            header = ",".join([f"x{j}" for j in range(p)] + ["y"])
            np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.17g")
            squared, status, chosen = ours(path, step, "squared-hinge", folder)
            hinge, hinge_status, _ = ours(path, step, "hinge", folder)
            theirs, support = scikit_learn(X, y, step)
            shared = len(chosen & set(np.flatnonzero(support))) if support is not None else "-"
            more = "> " if support is None else ""
            say = lambda seconds, status: f"{seconds:.2f}" if status == "completed" else f"> {LIMIT} ({status})"  # noqa: E731
            lines.append(
                f"| {n} x {p}, {step} | {say(squared, status)} | {say(hinge, hinge_status)} | {more}{theirs:.2f} | {more}{theirs / squared:.1f} | {shared} |"
            )
            print(lines[-1], flush=True)
            (ROOT / "bench" / "results" / "rfe_shapes.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
