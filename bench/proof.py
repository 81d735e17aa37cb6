"""Proofs against enumeration on many hard small problems, in blocks of seeds. One command: `make fuzz-proof`.

Each block is one run of crates/fewest/tests/it/proof.rs on one core; what it printed is kept in bench/.cache/proof, so that a run that
was stopped goes on with the first block that is missing. `gbd`, which costs most, runs on every fifth seed there; --gbd runs it
alone on every seed. The table of all blocks goes to bench/results/proof.md.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCKS = ROOT / "bench" / ".cache" / "proof"
RESULT = ROOT / "bench" / "results" / "proof.md"
BLOCK = 1000
TEST = "proof::no_answer_claims_more_than_is_true"
ROW = re.compile(r"^(\w+)\s+([\w-]+)\s+(\d+)\s+(\d+)\s+(\d+)$")
COUNT = re.compile(r"^(\d+) cases, (\d+) with a value known")


def built(profile):
    """A copy of the test's executable, so that later builds do not change a run under way, and its commit."""
    command = ["cargo", "test", "--profile", profile, "-p", "fewest", "--locked", "--test", "it", "--no-run", "--message-format", "json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    found = [json.loads(line) for line in lines if '"executable":"' in line]
    BLOCKS.mkdir(parents=True, exist_ok=True)
    copy = BLOCKS / "proof"
    copy.unlink(missing_ok=True)
    shutil.copy2(found[-1]["executable"], copy)
    changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    if changed:
        raise SystemExit(f"commit first, so that the rows can name what they ran:\n{changed}")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return copy, commit.stdout.strip()


def run(test, first, cases, methods):
    """The output of one block, from the cache where it is there."""
    name = f"{first}-{cases}-{methods or 'all'}.txt"
    kept = BLOCKS / name
    if kept.exists():
        return kept.read_text(), False
    env = {**os.environ, "FEWEST_PROOF_FIRST": str(first), "FEWEST_PROOF_CASES": str(cases), "RAYON_NUM_THREADS": "1"}
    env["RUST_BACKTRACE"] = "0"
    if methods:
        env["FEWEST_PROOF_METHODS"] = methods
    (executable, commit), start = test, time.monotonic()
    done = subprocess.run([executable, "--nocapture", "--exact", TEST], cwd=ROOT / "crates" / "fewest", env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not any(COUNT.match(line) for line in done.stdout.splitlines()):
        raise SystemExit(f"seeds {first} to {first + cases - 1} gave no table:\n{done.stdout}")
    text = f"{done.stdout}\nseconds {time.monotonic() - start:.1f}\ncommit {commit}\n"
    partial = kept.with_suffix(".part")
    partial.write_text(text)
    partial.rename(kept)
    return text, True


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--cases", type=int, default=100_000)
    a.add_argument("--first", type=int, default=0)
    a.add_argument("--gbd", action="store_true", help="gbd alone, on every seed")
    a.add_argument("--profile", choices=["dev", "release"], default="dev", help="both are optimised; dev is built for the tests anyway")
    a = a.parse_args()
    methods = "gbd" if a.gbd else ""
    test, commits = built(a.profile), set()
    table, faults, cases, unsure, seconds = {}, [], 0, 0, 0.0
    for first in range(a.first, a.first + a.cases, BLOCK):
        text, fresh = run(test, first, min(BLOCK, a.first + a.cases - first), methods)
        for line in text.splitlines():
            if row := ROW.match(line):
                sums = table.setdefault((row[1], row[2]), [0, 0, 0])
                for at in range(3):
                    sums[at] += int(row[3 + at])
            elif count := COUNT.match(line):
                cases, unsure = cases + int(count[1]), unsure + int(count[2])
            elif line.startswith("seed ") and line not in faults:
                faults.append(line)
            elif line.startswith("seconds "):
                seconds += float(line.split()[1])
            elif line.startswith("commit "):
                commits.add(line.split()[1])
        if fresh:
            print(f"seeds up to {min(first + BLOCK, a.first + a.cases) - 1}: {len(faults)} faults", flush=True)
    lines = [
        "# Proofs against enumeration",
        "",
        f"Seeds {a.first} to {a.first + a.cases - 1} of `crates/fewest/tests/it/proof.rs`, profile {a.profile}, {', '.join(sorted(commits))}, one core, {seconds:.0f} s; "
        f"{cases} cases have an allowed subset, in {unsure} the value is known to no better than 1e-6.",
        f"{'Methods: gbd on every seed. ' if methods else ''}{len(faults)} faults{':' if faults else '.'}",
        "",
        *[f"- {fault}" for fault in faults],
        *([""] if faults else []),
        "| data | method | optimal | stalled | faults |",
        "| --- | --- | --- | --- | --- |",
        *[f"| {kind} | {method} | {o} | {s} | {f} |" for (kind, method), (o, s, f) in sorted(table.items())],
    ]
    result = RESULT.with_name("proof_gbd.md") if methods else RESULT
    result.write_text("\n".join(lines) + "\n")
    print(f"{result.relative_to(ROOT)} written")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
