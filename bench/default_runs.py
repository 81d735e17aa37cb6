"""Does a run with no option but its method leave a person without a line for 5 s, or without an answer after 10 minutes? 20 files, four commands.

    default_runs.py [--sets SET ...] [--commands COMMAND ...] [--patience 100] [--report]

Each command runs at a terminal of its own. Noted are the longest silence on it (from the start, between two changes of the line of progress, to the end),
and when the answer came. After `--patience` seconds Ctrl-C is sent, and what the answer takes from there is noted: the limit of time ends a run the same
way. `--patience 660` waits for the limit itself. Rows are kept in results/default_runs.jsonl; writes results/default_runs.md.
"""

import argparse
import json
import os
import pty
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import benefit_report as b
import common as c

SETS = [
    "a9a.svm.gz", "arcene.csv.gz", "basehock.svm.gz", "breast_gravier.csv.gz", "cells/baron6.h5ad", "cells/cbmc_citeseq13.h5ad", "cells/ifnb13.h5ad", "cells/zeisel7.h5ad",
    "dlbcl_shipp.csv.gz", "epsilon_5k_100.csv.gz", "farm_ads.svm.gz", "german-numeric.csv", "huntington_borovecki.csv.gz", "leukemia_golub.csv.gz", "madelon_train.csv.gz",
    "rcv1_small_train.svm.gz", "spambase.csv", "w8a.svm.gz", "wdbc.csv", "wide",
]
TYPES = {"baron6": "cell_type", "cbmc_citeseq13": "cell_type", "ifnb13": "cell_type", "zeisel7": "cell_type"}
COMMANDS = {
    "select": ["select", "{data}", "--method", "exact", "--max-features", "10"],
    "evaluate": ["evaluate", "{data}", "--method", "exact", "--max-features", "10", "--cv", "5"],
    "study": ["study", "{data}"],
    "markers": ["markers", "{data}", "--max-features", "10"],
}
KEPT, PAGE = c.RESULTS / "default_runs.jsonl", c.RESULTS / "default_runs.md"


def wide(folder):
    """10,000 samples of 10,000 features, 2 % of them stored: the largest table that is promised."""
    import numpy as np

    file = folder / "wide.svm"
    if not file.exists():
        dice, weights = np.random.default_rng(0), np.zeros(10_000)
        weights[:40] = np.random.default_rng(1).standard_normal(40)
        with file.open("w") as out:
            for _ in range(10_000):
                columns = np.sort(dice.choice(10_000, 200, replace=False))
                values = dice.standard_normal(200)
                out.write(f"{1 if values @ weights[columns] + 0.3 * dice.standard_normal() > 0 else -1} " + " ".join(f"{j + 1}:{x:.4g}" for j, x in zip(columns, values, strict=True)) + "\n")
    return file


def watched(words, patience):
    """(seconds, longest silence, seconds from Ctrl-C to the end or none, exit code, last words) of a command at a terminal."""
    ours, theirs = pty.openpty()
    start = last = time.perf_counter()
    child = subprocess.Popen([str(word) for word in words], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"}, start_new_session=True)
    os.close(theirs)
    silence, stopped, said = 0.0, None, b""
    while True:
        now = time.perf_counter()
        if stopped is None and now - start > patience:
            child.send_signal(signal.SIGINT)
            stopped = now
        if select.select([ours], [], [], 0.05)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:
                part = b""
            if not part:
                break
            now = time.perf_counter()
            silence, last, said = max(silence, now - last), now, (said + part)[-2000:]
        if stopped and now - stopped > 120:
            child.kill()
    code, end = child.wait(), time.perf_counter()
    os.close(ours)
    return end - start, max(silence, end - last), None if stopped is None else end - stopped, code, said.decode(errors="replace")


def rows():
    found = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    return {(row["set"], row["command"]): row for row in found}


def page():
    found = rows()
    shown = lambda row: "-" if row is None else f"{row['silence']:.1f}, " + (f"{row['seconds']:.0f}" if row["stopped"] is None else f"Ctrl-C + {row['stopped']:.1f}") + (f" (exit {row['code']})" if row["code"] not in (0, 3) else "")
    lines = ["# Runs with no option but the method", "", "`bench/default_runs.py`: the longest silence at a terminal, and the seconds until the answer, or from Ctrl-C to it. Threads: all.", ""]
    lines += b.grid(["file", *COMMANDS], [[name, *(shown(found.get((name, command))) for command in COMMANDS)] for name in SETS])
    silent = [row for row in found.values() if row["silence"] > 5]
    late = [row for row in found.values() if row["seconds"] > 615 or (row["stopped"] or 0) > 10]
    lines += ["", f"{len(found)} runs; silent for more than 5 s: {len(silent)}; no answer 15 s after ten minutes, or 10 s after Ctrl-C: {len(late)}.", ""]
    lines += [f"{', '.join(sorted({row['version'] for row in found.values()}))}; {c.cpu()}, {os.cpu_count()} cores."]
    PAGE.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--patience", type=float, default=100)
    parser.add_argument("--fewest", default="", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="write the page of what is known, run nothing")
    a = parser.parse_args()
    binary, version = c.program(a.fewest)
    with tempfile.TemporaryDirectory() as folder, KEPT.open("a") as kept:
        for name in [] if a.report else a.sets:
            data = wide(Path(folder)) if name == "wide" else c.DATA / name
            of = TYPES.get(Path(name).stem)
            for command in a.commands:
                if (name, command) in rows():
                    continue
                words = [binary, *(word.replace("{data}", str(data)) for word in COMMANDS[command]), *(["--target", of] if of else [])]
                seconds, silence, stopped, code, said = watched(words, a.patience)
                kept.write(json.dumps({"set": name, "command": command, "seconds": round(seconds, 2), "silence": round(silence, 2), "stopped": stopped and round(stopped, 2), "code": code, "version": version}) + "\n")
                kept.flush()
                print(name, command, round(seconds, 1), round(silence, 2), stopped, code, said[-300:] if code not in (0, 3) else "", flush=True)
    page()


if __name__ == "__main__":
    main()
