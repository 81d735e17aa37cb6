"""Two builds of the command side by side: CPU seconds and their ratio, run by run.

Usage: bench/beside.py OLD NEW [--runs 7]     OLD, NEW: paths of two `fewest` binaries
Writes bench/results/beside.md. Data: $FEWEST_DATA, default ../shared/data. One thread, nothing else
running. Each run of NEW follows one of OLD; the ratio is taken pair by pair, its median is reported.
"""

import argparse
import os
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared/data"))

CASES = {
    "exact, wdbc, K = 5": "wdbc.csv --method exact --max-features 5",
    "exact, ionosphere, K = 3": "ionosphere.csv --method exact --max-features 3",
    "exact, leukemia_golub, K = 5, C = 0.03": "leukemia_golub.csv.gz --method exact --max-features 5 --cost 0.03",
    "kta, wdbc, K = 5": "wdbc.csv --method kta --max-features 5",
    "kta, ionosphere, K = 5": "ionosphere.csv --method kta --max-features 5",
    "rfe, leukemia_golub to 10": "leukemia_golub.csv.gz --method rfe --max-features 10 --tolerance 1e-6",
    "rfe, a9a to 20, step 0.1, squared hinge": "a9a.svm.gz --method rfe --max-features 20 --step 0.1 "
    "--loss squared-hinge --tolerance 1e-6",
    "rfe, madelon to 10, step 0.1": "madelon_train.csv.gz --method rfe --max-features 10 --step 0.1",
    "rfe, w8a to 30, step 0.05": "w8a.svm.gz --method rfe --max-features 30 --step 0.05",
    "rfe, wdbc with signs": "wdbc.csv --method rfe --max-features 5 --sign mean_radius:+,mean_area:+,worst_area:+,"
    "worst_texture:+,worst_concavity:-",
    "kta, 100 of arcene, K = 5": "arcene.csv.gz --method kta --max-features 5 --only x1??",
    "fgm, rcv1_small_train, 50": "rcv1_small_train.svm.gz --method fgm --max-features 50",
    "fgm, dorothea_train, 50": "dorothea_train.svm.gz --method fgm --max-features 50",
    "eb-rfe, wdbc, one cost": "wdbc.csv --method eb-rfe --max-features 5 --costs 1",
}


def seconds(binary, arguments):
    """CPU seconds of one run."""
    file, *rest = arguments.split()
    command = [binary, "select", str(DATA / file), *rest, "--threads", "1", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: exit status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    lines = ["| case | old, CPU s | new, CPU s | new / old |", "| --- | --- | --- | --- |"]
    for name, arguments in CASES.items():
        pairs = [(seconds(options.old, arguments), seconds(options.new, arguments)) for _ in range(options.runs + 1)]
        # The first pair warms the caches.
        pairs = pairs[1:]
        old, new = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        ratio = statistics.median(new / old for old, new in pairs)
        lines.append(f"| {name} | {old:.3f} | {new:.3f} | {ratio:.2f} |")
        print(lines[-1], flush=True)
    text = f"# Two builds side by side\n\n`bench/beside.py OLD NEW --runs {options.runs}`, one thread, medians.\n\n"
    (ROOT / "bench/results/beside.md").write_text(text + "\n".join(lines) + "\n")


main()
