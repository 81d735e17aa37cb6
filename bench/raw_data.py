"""`exact` where proofs were wrong: raw columns, large C, a budget of equal costs; and the price of raw columns.

The second table solves raw data, the same problem in other units (columns times 1/s, C times s^2, s = 1000 / 3, so that no number is
the same), and standardised data at the C of a grid whose gap at the root is nearest. Every proof file is verified.

Usage: bench/raw_data.py [BINARY]     default target/release/fewest
Writes bench/results/raw_data.md. Data: $FEWEST_DATA, default ../shared/data. One thread.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared/data"))
BINARY = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/fewest")

CASES = {
    "wdbc, C = 10, budget 4 of unit costs": "wdbc.csv --cost 10 --budget 4 --feature-costs {ones}",
    "wdbc, C = 10, K = 4": "wdbc.csv --cost 10 --max-features 4",
    "wdbc, raw, C = 10, K = 3": "wdbc.csv --cost 10 --max-features 3 --scale none",
    "ionosphere, C = 1e4, K = 3": "ionosphere.csv --cost 1e4 --max-features 3",
    "german-numeric, raw, C = 1000, K = 3": "german-numeric.csv --cost 1000 --max-features 3 --scale none",
    "parkinsons, raw, C = 10, K = 3": "parkinsons.csv --cost 10 --max-features 3 --scale none",
    "spambase, raw, C = 1, K = 1": "spambase.csv --max-features 1 --scale none",
    "hepatitis, C = 1000, K = 3": "hepatitis.csv --cost 1000 --max-features 3",
}
# Raw data: C and K.
RAW = {
    "wdbc": (1, 3),
    "german-numeric": (10, 3),
    "ionosphere": (1, 3),
    "parkinsons": (10, 3),
    "pima-indians-diabetes": (1, 3),
}
UNIT = 1000 / 3
GRID = [10 ** (k / 2) for k in range(-8, 7)]


def run(arguments):
    """The result as JSON, and CPU seconds."""
    file, *rest = arguments.split()
    command = [
        BINARY,
        "select",
        str(DATA / file),
        "--method",
        "exact",
        *rest,
        "--time-limit",
        "60s",
    ]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([*command, "--threads", "1", "--quiet", "--json", "-"], stdout=out)
        _, _, usage = os.wait4(process.pid, 0)
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime


def in_other_units(file, folder):
    """A copy of a csv file whose columns are divided by UNIT, but for the target."""
    copy = Path(folder) / f"units-{file.name}"
    with file.open() as source, copy.open("w") as out:
        rows = csv.reader(source)
        header = next(rows)
        target = header.index("y") if "y" in header else len(header) - 1
        writer = csv.writer(out)
        writer.writerow(header)
        for row in rows:
            writer.writerow([x if at == target else repr(float(x) / UNIT) for at, x in enumerate(row)])
    return copy


def proven(arguments, data, folder):
    """As `run`, after a run with a proof, which is verified: its verdict."""
    proof = Path(folder) / "x.proof"
    run(f"{arguments} --proof {proof}")
    done = subprocess.run([BINARY, "verify", str(proof), str(data)], check=False, capture_output=True, text=True)
    return *run(arguments), "VERIFIED" if done.returncode == 0 else done.stdout.split("\n")[0]


def units(folder):
    """The rows of the second table."""
    for name, (cost, size) in RAW.items():
        file = DATA / f"{name}.csv"
        raw = f"{file} --cost {cost} --max-features {size} --scale none"
        root = run(f"{raw} --node-limit 1")[0]["gap"]
        found, seconds, verdict = proven(raw, file, folder)
        copy = in_other_units(file, folder)
        same, same_seconds, same_verdict = proven(
            f"{copy} --cost {cost * UNIT**2!r} --max-features {size} --scale none",
            copy,
            folder,
        )
        scaled = f"{file} --max-features {size} --cost "
        gaps = [(c, run(f"{scaled}{c!r} --node-limit 1")[0]["gap"]) for c in GRID]
        near, near_root = min(gaps, key=lambda known: abs(known[1] - root))
        _, near_seconds = run(f"{scaled}{near!r}")
        equal = "yes" if same["selected"] == found["selected"] else "no"
        yield (
            f"| {name}, C = {cost}, K = {size} | {found['status']} | {root:.2e} | {seconds:.2f} | {verdict} | {equal} |"
            f" {same_seconds:.2f} | {same_verdict} | {near:.3g} | {near_root:.2e} | {near_seconds:.2f} |"
        )


def main():
    lines = [
        "| case | status | objective | bound | gap | CPU s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        header = (DATA / "wdbc.csv").read_text().splitlines()[0].split(",")
        ones = Path(folder) / "ones.csv"
        ones.write_text("".join(f"{name},1\n" for name in header if name != "y"))
        for name, arguments in CASES.items():
            found, seconds = run(arguments.format(ones=ones))
            objective, bound, gap = found["objective"], found["bound"], found["gap"]
            row = f"| {name} | {found['status']} | {objective:.8g} | {bound:.8g} | {gap:.1e} | {seconds:.2f} |"
            print(row, flush=True)
            lines.append(row)
        lines += [
            "",
            "| raw data | status | gap at the root | CPU s | proof | same subset in other units | CPU s | proof |",
        ]
        lines[-1] += " standardised, C | gap at the root | CPU s |"
        lines.append("|" + " --- |" * 11)
        for row in units(folder):
            print(row, flush=True)
            lines.append(row)
    text = "# `exact` on raw columns and at large C\n\n`bench/raw_data.py`, one thread, 60 s a case.\n\n"
    (ROOT / "bench/results/raw_data.md").write_text(text + "\n".join(lines) + "\n")


main()
