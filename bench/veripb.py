"""Does VeriPB accept exported proofs, and how far does that scale? One command:

    VERIPB=/path/to/veripb python3 bench/veripb.py [--fewest target/debug/fewest] [--export target/debug/fewest-veripb] [--seconds 120] [--again]

Each case: `fewest select --proof` (at most --seconds), `fewest verify`, `fewest-veripb`, `veripb`. Numbers of each case are
kept in bench/results/veripb.jsonl as they come, so that a run that was stopped goes on (--again makes all of them);
bench/results/veripb.md is written from them. VeriPB: `cargo install veripb` (version 3, MIT or Apache-2.0).
"""

import argparse
import json
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
KEPT = ROOT / "bench" / "results" / "veripb.jsonl"
PAGE = ROOT / "bench" / "results" / "veripb.md"
EXACT = ["-m", "exact", "--max-features"]
CASES = {
    "wdbc, 3": ("wdbc.csv", [*EXACT, "3"]),
    "wdbc, 5": ("wdbc.csv", [*EXACT, "5"]),
    "wdbc, 5, gbd": ("wdbc.csv", ["-m", "gbd", "--max-features", "5"]),
    "wdbc, 8": ("wdbc.csv", [*EXACT, "8"]),
    "parkinsons, 5": ("parkinsons.csv", [*EXACT, "5"]),
    "parkinsons, mbp": ("parkinsons.csv", ["-m", "mbp", "--penalty", "0.5"]),
    "wdbc, mbp": ("wdbc.csv", ["-m", "mbp", "--penalty", "0.5"]),
    "ionosphere, 5": ("ionosphere.csv", [*EXACT, "5"]),
    "ionosphere, 8": ("ionosphere.csv", [*EXACT, "8"]),
    "ionosphere, 5, ten best": ("ionosphere.csv", [*EXACT, "5", "--solutions", "10"]),
    "ionosphere, 6, rules": (
        "ionosphere.csv",
        [*EXACT, "6", "--at-most", "2:x3,x5,x7,x9,x21", "--implies", "x5:x6", "--together", "x8,x14", "--at-least", "1:x1,x15"],
    ),
    "wpbc, 5": ("wpbc.csv", [*EXACT, "5"]),
    "wpbc, 8": ("wpbc.csv", [*EXACT, "8"]),
    "german-numeric, 5": ("german-numeric.csv", [*EXACT, "5"]),
    "spambase, 5": ("spambase.csv", [*EXACT, "5"]),
    "ovarian_1536, 3": ("ovarian_1536.csv.gz", [*EXACT, "3"]),
    "breast_gravier, 5, C = 0.001": ("breast_gravier.csv.gz", [*EXACT, "5", "--cost", "0.001"]),
    "leukemia_golub, 2": ("leukemia_golub.csv.gz", [*EXACT, "2"]),
    "leukemia_golub, 5, C = 0.001": ("leukemia_golub.csv.gz", [*EXACT, "5", "--cost", "0.001"]),
    "leukemia_golub, 5": ("leukemia_golub.csv.gz", [*EXACT, "5"]),
}


def timed(command, limit=None):
    """Seconds, peak memory in MB (of all children so far) and what it said."""
    start = time.time()
    ran = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return time.time() - start, peak, ran


def case(name, given, folder):
    file, options = CASES[name]
    data, proof, opb = DATA / file, folder / "x.proof", folder / "x.opb"
    found = {"case": name}
    select = [given.fewest, "select", data, *options, "--proof", proof, "--json", folder / "r.json"]
    select += ["--time-limit", f"{given.seconds}s"]
    found["select_s"], _, ran = timed(select)
    if not proof.exists():
        return found | {"verdict": "no proof: " + ran.stderr.strip()[:100]}
    result = json.loads((folder / "r.json").read_text())
    found |= {"status": result["status"], "nodes": result.get("counts", {}).get("nodes"), "proof_bytes": proof.stat().st_size}
    found["verify_s"], _, ran = timed([given.fewest, "verify", proof, data, "--json", folder / "v.json"])
    said = json.loads((folder / "v.json").read_text())
    found |= {key: said.get(key) for key in ("gap", "rest", "objective", "bound")}
    found["export_s"], _, ran = timed([given.export, opb, proof, data])
    if not opb.exists():
        return found | {"verdict": "no export: " + (ran.stderr.strip() or ran.stdout.strip())[:100]}
    pbp = opb.with_suffix(".pbp")
    with open(opb) as text:
        head = next(text).split()
        bound = next(line for line in text if line.startswith("* bound: "))
    found |= {"features": int(head[2]), "rows": int(head[4]), "exported": float(bound.split()[2])}
    with open(pbp) as text:
        found["steps"] = sum(line.startswith(("rup", "pol")) for line in text)
    found |= {"opb_bytes": opb.stat().st_size, "pbp_bytes": pbp.stat().st_size}
    try:
        found["veripb_s"], found["peak_mb"], ran = timed([given.veripb, opb, pbp], 3600)
    except subprocess.TimeoutExpired:
        return found | {"verdict": "not within an hour"}
    accepted = ran.returncode == 0 and "s VERIFIED UNSATISFIABLE" in ran.stdout
    return found | {"verdict": "accepted" if accepted else "refused: " + (ran.stdout + ran.stderr).strip()[-200:]}


def size(count):
    return f"{count / 1e6:.3g} MB"


def page(kept, version):
    text = ["# Exported proofs, by VeriPB", "", "    python3 bench/veripb.py", ""]
    text += [
        f"`fewest select --proof`, `fewest-veripb`, then VeriPB {version}, which the project has no part in.",
        "Rows: of rules, listed subsets and dual points. Steps: those of the cutting-plane proof (`rup`, `pol`). Lost: what rounding",
        "to integers takes from the bound that `verify` proves, as a share of what features can gain. Seconds are of one run each on",
        "a shared machine; export includes three checks.",
        "Raw numbers: `veripb.jsonl`.",
        "",
        "| data, features allowed | p | nodes | rows | steps | .opb | .pbp | gap proven | lost | verify s | export s | VeriPB s | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name in (name for name in CASES if name in kept):
        one = kept[name]
        if "rows" not in one:
            text.append(f"| {name} | | {one.get('nodes', '')} | | | | | | | | | | {one['verdict']} |")
            continue
        gain = (one["objective"] - one["bound"]) / one["gap"] if one["gap"] else float("nan")
        lost = (one["rest"] - one["exported"]) / gain
        cells = [name, one["features"], one["nodes"] or "", one["rows"], one["steps"], size(one["opb_bytes"]), size(one["pbp_bytes"])]
        cells += [f"{100 * one['gap']:.2g} %", f"{lost:.1e}", f"{one['verify_s']:.2f}", f"{one['export_s']:.2f}"]
        cells += [f"{one.get('veripb_s', float('nan')):.2f}", one["verdict"]]
        text.append("| " + " | ".join(map(str, cells)) + " |")
    accepted = sum(one["verdict"] == "accepted" for one in kept.values())
    text += ["", f"{accepted} of {len(kept)} accepted ({platform.machine()}, {os.cpu_count()} cores)."]
    PAGE.write_text("\n".join(text) + "\n")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--fewest", default=str(ROOT / "target" / "debug" / "fewest"))
    options.add_argument("--export", default=str(ROOT / "target" / "debug" / "fewest-veripb"))
    options.add_argument("--veripb", default=os.environ.get("VERIPB") or shutil.which("veripb"))
    options.add_argument("--seconds", type=int, default=120, help="for each search")
    options.add_argument("--again", action="store_true")
    given = options.parse_args()
    if not given.veripb:
        sys.exit("there is no veripb: `cargo install veripb`, or name it in VERIPB")
    version = subprocess.run([given.veripb, "--version"], capture_output=True, text=True).stdout.split()[-1]
    kept = {}
    if KEPT.exists() and not given.again:
        kept = {one["case"]: one for one in map(json.loads, KEPT.read_text().splitlines())}
    for name in CASES:
        if name not in kept:
            with tempfile.TemporaryDirectory() as folder:
                kept[name] = case(name, given, pathlib.Path(folder))
            print(name, kept[name]["verdict"], flush=True)
            KEPT.write_text("".join(json.dumps(kept[name]) + "\n" for name in CASES if name in kept))
        page(kept, version)


if __name__ == "__main__":
    main()
