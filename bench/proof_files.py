"""Proof files: what recording costs the search, how large they are, how long checking takes.

    python bench/proof_files.py [FEWEST]        writes bench/results/proof_files.md

Each run is made five times without and with `--proof`, alternately; times are the smallest. `select`
is the time of the search as the result tells it, `verify` that of the check without reading the data.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
FEWEST = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "fewest")
REPEATS = 5


def find(name):
    """The file of this name in the shared data, whatever its ending; none where it is missing."""
    return next((path for path in sorted(DATA.rglob(f"{name}.*")) if path.suffix in {".csv", ".svm", ".npz", ".arff", ".gz"}), None)


def runs():
    wdbc = ROOT / "data" / "wdbc.csv"
    for cost in ("0.1", "1"):
        for size in range(1, 11):
            yield "wdbc", wdbc, size, cost
    for name, size, cost in [
        ("ionosphere", 4, "0.1"),
        ("ionosphere", 4, "1"),
        ("sonar", 5, "0.03"),
        ("leukemia_golub", 5, "0.01"),
        ("leukemia_golub", 5, "0.03"),
    ]:
        if (path := find(name)) is not None:
            yield name, path, size, cost
        else:
            print(f"skipped: {name} is not below {DATA}")


def alignments():
    """The 24 problems of tamura2022 (bench/kta.py), at gap 0, and larger data."""
    for name in ("hepatitis", "zoo", "parkinsons", "soybean-small"):
        for size in (3, 5):
            for beta in ("0.25", "1", "4"):
                yield name, size, beta, "0"
    for name, size in (("ionosphere", 4), ("ionosphere", 5), ("wpbc", 5)):
        yield name, size, "1", "1e-4"


def all_runs():
    """Name, path, size, what is shown of the settings, options of the command."""
    for name, path, size, cost in runs():
        yield name, path, size, f"C = {cost}", ["--method", "exact", "--cost", cost]
    for name, size, beta, gap in alignments():
        path = DATA / f"{name}.csv"
        if path.exists():
            yield f"{name}, kta", path, size, f"beta = {beta}", ["--method", "kta", "--gamma", f"sigest:{beta}", "--gap", gap]
        else:
            print(f"skipped: {name} is not in {DATA}")


def select(path, size, options, folder, proof):
    result = folder / "result.json"
    command = [FEWEST, "select", path, "--max-features", size, *options, "--threads", "1"]
    command += ["--time-limit", "120s", "--json", result, "--quiet"] + (["--proof", folder / "x.proof"] if proof else [])
    subprocess.run([str(word) for word in command], check=False, capture_output=True)
    return json.loads(result.read_text())


def verify(path, folder):
    verdict = folder / "verdict.json"
    done = subprocess.run(
        [FEWEST, "verify", str(folder / "x.proof"), str(path), "--json", str(verdict), "--quiet", "--threads", "1"], check=False, capture_output=True
    )
    return done.returncode == 0, json.loads(verdict.read_text())


def main():
    lines = [
        "# Proof files",
        "",
        f"`python bench/proof_files.py`, one thread, smallest of {REPEATS} alternating runs.",
        "",
        "| data | K | settings | status | nodes | search, s | with --proof, s | ratio | file, bytes | verify, s | verdict | gap proven |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    total = {"exact": [0.0, 0.0, 0.0], "kta": [0.0, 0.0, 0.0]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for data, path, size, shown, options in all_runs():
            plain, kept, checks, verdict = [], [], [], None
            for _ in range(REPEATS):
                plain.append(select(path, size, options, folder, False)["seconds"])
                result = select(path, size, options, folder, True)
                kept.append(result["seconds"])
                fine, verdict = verify(path, folder)
                checks.append(verdict["seconds"])
            times = [min(plain), min(kept), min(checks)]
            sums = total[options[1]]
            sums[:] = [a + b for a, b in zip(sums, times, strict=True)]
            word = "VERIFIED" if fine else f"not verified: {verdict.get('reason')}"
            lines.append(
                f"| {data} | {size} | {shown} | {result['status']} | {result['counts']['nodes']} | {times[0]:.4f} | {times[1]:.4f} "
                f"| {times[1] / times[0]:.2f} | {(folder / 'x.proof').stat().st_size} | {times[2]:.4f} | {word} | {verdict.get('gap')} |"
            )
            print(lines[-1], flush=True)
    for method, (plain, kept, checked) in total.items():
        lines += ["", f"`{method}` in all: search {plain:.3f} s, with `--proof` {kept:.3f} s ({kept / plain:.2f}), verify {checked:.3f} s."]
    (ROOT / "bench" / "results" / "proof_files.md").write_text("\n".join(lines) + "\n")
    print(lines[-1])


if __name__ == "__main__":
    main()
