"""Where a user still waits: eliminations with the hinge, with signs, wide `kta`, `lagrangian` and a study, by two builds.

Usage: bench/waits.py OLD NEW [--limit 60] [--only eliminations,signs,wide,lagrangian,study]
OLD, NEW: paths of two `fewest` binaries
Writes bench/results/waits.md, with --only the tables of those parts alone. CPU seconds of one thread, the whole
command; scikit-learn's RFE(LinearSVC) at its defaults (squared hinge, tolerance 1e-4) and with the hinge, CPU seconds
of `fit`. The sets are those of `rfe_shapes.py`; in the rows with signs every other feature has the sign of its weight
in a training on all. `kta`: 100 and 150 columns of arcene by a pattern of names, beta 1, gap 1e-4. `lagrangian`:
102 x 12,600 generated, 20 common factors, 60 features shifted by class, D = 0.01. The study is that of the README,
seconds on the wall, on the one core that `common.py` leaves. Data: $FEWEST_DATA.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import common as c
import numpy as np
import rfe_shapes as shapes
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

# n, p, share of the features at a step, C
SHAPES = [
    (4000, 1500, 0.1, 0.01),
    (1500, 400, 0.1, 1.0),
    (2000, 500, 0.1, 1.0),
    (6000, 700, 0.1, 0.01),
    (6000, 700, 0.1, 1.0),
    (6000, 700, 0.02, 1.0),
]
SIGNED = [(569, 100, 1, 1.0), (2000, 300, 0.1, 1.0)]
WIDE = [("x1??", 5), ("x1??,x20?,x21?,x22?,x23?,x24?", 5)]


def ours(binary, file, arguments, limit):
    """CPU seconds and the result of one run of the command."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [binary, "select", file, *arguments, "--threads", "1", "--quiet", "--time-limit", f"{limit}s", "--json", out.name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 3):
            raise SystemExit(f"{' '.join(command)}: status {status}")
        return usage.ru_utime + usage.ru_stime, json.loads(pathlib.Path(out.name).read_text())


def peer(X, y, step, C, loss):
    warnings.simplefilter("ignore")
    machine = LinearSVC(C=C, loss=loss, dual=loss == "hinge", random_state=0)
    return c.cpu_seconds(lambda: RFE(machine, n_features_to_select=10, step=step).fit(X, y))


def table(header, rows):
    """Lines of a table; its rows are printed as they come."""
    lines = [f"| {' | '.join(header)} |", "| --- " * len(header) + "|"]
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return lines


def eliminations(builds, folder, limit):
    for n, p, step, C in SHAPES:
        X, y = shapes.data(n, p)
        file = shapes.write(X, y, folder)
        base = ["-m", "rfe", "--max-features", "10", "--step", str(step), "--step-of", "original", "--cost", str(C), "--scale", "none"]
        old, new = (ours(binary, file, base, limit)[0] for binary in builds)
        squared = ours(builds[1], file, [*base, "--loss", "squared-hinge"], limit)[0]
        theirs, hinge = (peer(X, y, step, C, loss) for loss in ("squared_hinge", "hinge"))
        yield [f"{n} x {p}, {step}, {C}", *(f"{s:.3g}" for s in (old, new, old / new, squared, theirs, hinge, theirs / new))]


def signs(builds, folder, limit):
    for n, p, step, C in SIGNED:
        X, y = shapes.data(n, p)
        file = shapes.write(X, y, folder)
        base = ["-m", "rfe", "--max-features", "10", "--step", str(step), "--cost", str(C), "--scale", "none"]
        weights = LinearSVC(C=C, dual=False).fit(X, y).coef_.ravel()
        stated = ",".join(f"x{j + 1}:{'+' if weights[j] > 0 else '-'}" for j in range(0, p, 2))
        free = ours(builds[1], file, base, limit)[0]
        old, new = (ours(binary, file, [*base, "--sign", stated], limit) for binary in builds)
        if old[1]["status"] == new[1]["status"] == "completed" and old[1]["selected"] != new[1]["selected"]:
            print("other features:", old[1]["selected"], new[1]["selected"])
        yield [f"{n} x {p}, {step}, {C}", *(f"{s:.3g}" for s in (free, old[0], new[0], old[0] / new[0], new[0] / free))]


def wide(builds, limit):
    for only, size in WIDE:
        for name, binary in zip(("old", "new"), builds, strict=True):
            spent, found = ours(
                binary, str(c.DATA / "arcene.csv.gz"), ["-m", "kta", "--max-features", str(size), "--only", only], limit
            )
            values = [f"{found[key]:.5f}" for key in ("objective", "bound")]
            yield [f"{found['n_features']}, {size}", name, found["status"], *values, str(found["counts"]["nodes"]), f"{spent:.3g}"]


def lagrangian(builds, folder, limit):
    rng = np.random.default_rng(0)
    n, p = 102, 12_600
    factors, loadings = rng.normal(size=(n, 20)), rng.normal(size=(20, p))
    X = 0.5 * factors @ loadings + 2 * rng.normal(size=(n, p))
    y = (np.arange(n) < 52).astype(int)
    X[:, :60] += y[:, None] * X.std()
    file = shapes.write(X[:, rng.permutation(p)], y, folder)
    for name, binary in zip(("old", "new"), builds, strict=True):
        spent, found = ours(binary, file, ["-m", "lagrangian", "--penalty", "0.01"], limit)
        yield [name, f"{found['objective']:.5f}", f"{found['bound']:.5f}", f"{spent:.3g}"]


def study(builds):
    for name, binary in zip(("old", "new"), builds, strict=True):
        command = [binary, "study", str(c.DATA / "wdbc.csv"), "--repeats", "1", "--quiet"]
        begun = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        yield [name, f"{time.perf_counter() - begun:.3g}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="eliminations,signs,wide,lagrangian,study")
    asked = parser.parse_args()
    builds, limit = (asked.old, asked.new), asked.limit
    file = c.RESULTS / "waits.md"
    opening, *kept = (file.read_text() if file.exists() else "").split("\n## ")
    kept = dict(part.split("\n", 1) for part in kept)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = [
            (
                "Eliminations with the hinge",
                "n x p, step, C|old|new|old / new|squared hinge|LinearSVC|LinearSVC, hinge|LinearSVC / new",
                lambda: eliminations(builds, folder, limit),
            ),
            (
                "Eliminations with signs on weights",
                "n x p, step, C|no signs|signs, old|signs, new|old / new|new / no signs",
                lambda: signs(builds, folder, limit),
            ),
            ("Wide alignment", "columns of arcene, K|build|status|objective|bound|nodes|CPU s", lambda: wide(builds, limit)),
            ("Lagrangian relaxation of 102 x 12,600", "build|objective|bound|CPU s", lambda: lagrangian(builds, folder, limit)),
            ("The README's study", "build|s on one core", lambda: study(builds)),
        ]
        names = ["eliminations", "signs", "wide", "lagrangian", "study"]
        text = opening.strip() or "# Where a user still waits\n\n`bench/waits.py OLD NEW`, one thread, CPU seconds."
        for name, (title, header, rows) in zip(names, parts, strict=True):
            found = "\n".join(table(header.split("|"), rows())) if name in asked.only.split(",") else kept.get(title, "").strip()
            text += f"\n\n## {title}\n\n{found}" if found else ""
    file.write_text(text + "\n")


if __name__ == "__main__":
    main()
