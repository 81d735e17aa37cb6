"""`exact` where proofs were wrong: raw columns, large C, a budget of equal costs.

Usage: bench/raw_data.py [BINARY]     default target/release/fewest
Writes bench/results/raw_data.md. Data: $FEWEST_DATA, default ../shared/data. One thread.
"""

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


def run(arguments):
    """The result as JSON, and CPU seconds."""
    file, *rest = arguments.split()
    command = [BINARY, "select", str(DATA / file), "--method", "exact", *rest, "--time-limit", "60s"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([*command, "--threads", "1", "--quiet", "--json", "-"], stdout=out)
        _, _, usage = os.wait4(process.pid, 0)
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime


def main():
    lines = ["| case | status | objective | bound | gap | CPU s |", "| --- | --- | --- | --- | --- | --- |"]
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
    text = "# `exact` on raw columns and at large C\n\n`bench/raw_data.py`, one thread, 60 s a case.\n\n"
    (ROOT / "bench/results/raw_data.md").write_text(text + "\n".join(lines) + "\n")


main()
