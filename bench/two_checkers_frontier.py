"""Two checkers on the proofs of the frontier: `fewest verify` and tools/check_proof.py (exact, of its own).

    bench/.venv or .venv: python3 bench/two_checkers_frontier.py [--fewest target/debug/fewest] [--cells 1000] [--seconds 3600]

The cells of bench/exact_frontier.py that are proven there, of at most this many thousand values, smallest first: each is searched again with
`--proof`, and both checkers read file and data (a csv of 17 digits). They must say the same, with the same counts, every number within
1e-9. One process for each check of the exact checker, which is stopped after ten minutes. Writes
bench/results/two_checkers_frontier.jsonl, a line for each cell (what is stored is not run again), and the table beside it.
"""

import argparse
import collections
import json
import math
import multiprocessing
import pathlib
import subprocess
import tempfile
import time

import common as c
import numpy as np
from exact_frontier import cases
from two_checkers import ROOT, apart, reads

TEN_MINUTES = 600
KEPT = ROOT / "bench" / "results" / "two_checkers_frontier.jsonl"


def proven():
    """The cells whose last record is a proof."""
    found = {}
    for line in (
        (ROOT / "bench" / "results" / "exact_frontier.jsonl").read_text().splitlines()
    ):
        record = json.loads(line)
        if record["who"] == "fewest":
            found[record["case"]] = record["status"] == "optimal"
    return [case for case in cases() if found.get(c.case_name(case))]


def csv(folder, p, n, k):
    path = folder / f"{p}_{n}_{k}.csv"
    if not path.exists():
        X, y = c.planted(p, n, k, 0)
        names = ",".join([*(f"x{j + 1}" for j in range(p)), "y"])
        np.savetxt(
            path,
            np.column_stack([X, y]),
            fmt=["%.17g"] * p + ["%d"],
            delimiter=",",
            header=names,
            comments="",
        )
    return path


def compare(proof, path, fewest, to):
    widest = collections.Counter()
    begun = time.perf_counter()
    first, second = reads(proof, path, fewest)
    fault = apart(first, second, widest, True)
    to.put(
        {
            "verified": [first[0], second[0]],
            "points": (first[2] or [0, 0])[1] if len(first) > 2 else None,
            "fault": fault,
        }
        | {"widest": dict(widest), "seconds": round(time.perf_counter() - begun, 1)}
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--fewest", default=str(ROOT / "target" / "debug" / "fewest"))
    options.add_argument(
        "--cells",
        type=float,
        default=1000,
        help="thousands of values of the largest data",
    )
    options.add_argument(
        "--seconds", type=float, default=math.inf, help="begin nothing after this time"
    )
    given, begun = options.parse_args(), time.time()
    done = (
        {json.loads(line)["case"] for line in KEPT.read_text().splitlines()}
        if KEPT.exists()
        else set()
    )
    wanted = sorted(proven(), key=lambda case: case["p"] * case["n"])
    wanted = [
        case
        for case in wanted
        if case["p"] * case["n"] <= 1000 * given.cells and c.case_name(case) not in done
    ]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in wanted:
            if time.time() - begun > given.seconds:
                break
            name, proof = c.case_name(case), folder / "p.proof"
            proof.unlink(missing_ok=True)
            path = csv(folder, case["p"], case["n"], case["k"])
            words = [
                "--scale",
                "none",
                "--max-features",
                str(case["k"]),
                "--cost",
                str(case["C"]),
                "--loss",
                case["loss"],
            ]
            select = [
                given.fewest,
                "select",
                str(path),
                "--method",
                "exact",
                *words,
                "--proof",
                str(proof),
                "--time-limit",
                "60",
                "-q",
            ]
            subprocess.run(select, capture_output=True, check=False)
            record = {
                "case": name,
                "bytes": proof.stat().st_size if proof.exists() else None,
            }
            if proof.exists():
                queue = multiprocessing.Queue()
                checking = multiprocessing.Process(
                    target=compare, args=(proof, path, given.fewest, queue)
                )
                checking.start()
                checking.join(TEN_MINUTES)
                if checking.is_alive():
                    checking.kill()
                    record["fault"] = "not done in ten minutes"
                else:
                    record |= queue.get()
            with KEPT.open("a") as stream:
                stream.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
    write_table()


def write_table():
    """bench/results/two_checkers_frontier.md, of all cells that are kept."""
    rows = [json.loads(line) for line in KEPT.read_text().splitlines()]
    both = sum(row.get("verified") == [True, True] for row in rows)
    apart = [row for row in rows if row.get("fault")]
    widest = max(max(row["widest"].values()) for row in rows if row.get("widest"))
    points = sum(row.get("points") or 0 for row in rows)
    size = sum(row["bytes"] or 0 for row in rows) / 1e6
    text = [
        "# Two checkers on the proofs of the frontier",
        "",
        "    python3 bench/two_checkers_frontier.py",
        "",
    ]
    text += [
        f"{len(rows)} of the {len(proven())} cells of exact_frontier.md that are proven there, smallest data first: {both} verified by both,"
    ]
    text += [
        f"with the same records, points and parts, {len(apart)} with a disagreement or not done in ten minutes. {points} dual points, {size:.0f} MB."
    ]
    text += [
        f"Largest relative difference of an objective or a bound: {widest:.1e}. Longest check by both: {max(row.get('seconds', 0) for row in rows):.0f} s."
    ]
    text += ["", *(f"- {row['case']}: {row['fault']}" for row in apart)]
    KEPT.with_suffix(".md").write_text("\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    main()
