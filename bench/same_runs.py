"""The same runs by two builds of the command: does a change of walls leave every answer as it was?

    bench/same_runs.py keep FEWEST FILE       runs some 200 commands and writes what they said to FILE
    bench/same_runs.py compare FEWEST FILE    runs them again and tells where they say something else

Commands: every method with options of its kind on small data (data/wdbc.csv and generated ones: two classes, more classes, tasks, text columns,
missing values, sparse), with rules, paths, evaluate, study, stability, knockoffs, certify, fit and predict; no limit of time. Of each the
exit code, the text, the JSON and the proof are kept, without times, paths and versions. Twenty minutes on two cores.
"""

import gzip
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOCK = {
    "seconds",
    "elapsed",
    "version",
    "command",
    "time",
    "trace",
    "proof",
    "data",
    "model_seconds",
    "mkl_seconds",
    "separation_seconds",
    "program_seconds",
    "milliseconds",
    "reading",
}
TIMES = re.compile(r"\d+\.\d+ s\b|in \d+(\.\d+)? s|/tmp/\S+|(?<=  )\d+\.\d{3}(?=  )")

LINEAR = [
    "--max-features 4",
    "--max-features 3 --cost 0.05 --loss squared-hinge",
    "--max-features 4 --bias none --cost 0.3",
]
RULES = [
    "--max-features 4 --require x2 --forbid x5 --implies x1:x3",
    "--max-features 5 --together x1,x4 --at-most 1:x6,x7",
]
METHODS = {
    "exact": [
        *LINEAR,
        *RULES,
        "--penalty 2",
        "--max-features 3 --solutions 4",
        "--max-features 3 --within 1%",
        "--max-features 3 --sign x1:+",
    ],
    "gbd": [*LINEAR[:2], RULES[0], "--penalty 2", "--max-features 3 --plain"],
    "kta": [
        "--max-features 3",
        "--max-features 3 --gamma 0.1",
        "--max-features 2 --kernel laplace --solutions 3",
        RULES[0],
    ],
    "rfe": [
        *LINEAR,
        *RULES,
        "--max-features 4 --kernel rbf",
        "--max-features 4 --step half",
        "--max-features 4 --certify",
    ],
    "eb-rfe": [
        "--max-features 4 --costs 1 --cv 3",
        "--max-features 4 --costs 0.25,1 --cv 3 --kernel rbf",
    ],
    "bit-flip": ["--costs 1 --cv 3"],
    "attribute-flip": ["--max-features 3 --costs 1 --cv 3"],
    "fgm": [
        "--max-features 4",
        "--max-features 4 --mkl fast",
        "--subset-size 3",
        RULES[0],
    ],
    "qcqp-ssvm": ["--max-features 4"],
    "nmmkl": ["--max-features 4"],
    "l1-svm": [
        "--cost 0.1",
        "--cost 1 --loss squared-hinge",
        "--max-features 4 --cost 1",
    ],
    "fsv": ["--max-features 4", ""],
    "mbp": [
        "--penalty 0.5",
        "--penalty 0.5 --weight-bound 2",
        "--penalty 0.3 --solutions 3 --weight-bound 2",
    ],
    "lagrangian": ["--penalty 0.5"],
    "milp1": ["--max-features 3"],
    "milp2": ["--max-features 3"],
    "rmilo-k": ["--max-features 2 --gamma 0.1"],
    "milo-k": ["--max-features 2 --gamma 0.1"],
    "info-gain": ["--max-features 4", RULES[0]],
}
#: Seconds after which a run is given up, as in the other build, on this machine.
SLOW = 120
#: Methods that write programs of n^2 rows.
SMALL = {"milo-k", "rmilo-k"}
MORE = {"exact", "gbd", "kta", "rfe", "info-gain", "eb-rfe"}
PROVES = {"exact", "gbd", "mbp", "kta"}


def table(n, p, classes, seed, **more):
    """A csv: p features of a generator of our own, so that the files are the same everywhere."""
    state, names = seed, [f"x{j + 1}" for j in range(p)]

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) / 2**31 - 0.5

    lines = [",".join([*names, *more, "y"])]
    for i in range(n):
        k = i % len(classes)
        row = [
            f"{6 * (draw() + draw() + draw()) + (k if j < 3 else 0) * (1 + j / 3):.3f}"
            for j in range(p)
        ]
        if more.get("missing"):
            row = ["" if draw() > 0.45 else cell for cell in row]
        extra = [values[int((draw() + 0.5) * len(values))] for values in more.values()]
        lines.append(",".join([*row, *extra, classes[k]]))
    return "\n".join(lines) + "\n"


def files(folder):
    wdbc = (ROOT / "data" / "wdbc.csv").read_text().splitlines()
    renamed = ",".join([*(f"x{j + 1}" for j in range(30)), "y"])
    made = {
        "wdbc": "\n".join([renamed, *wdbc[1:161]]) + "\n",
        "two": table(60, 9, ["no", "yes"], 1),
        "wide": table(40, 120, ["no", "yes"], 2),
        "small": table(14, 7, ["no", "yes"], 3),
        "three": table(60, 8, ["a", "b", "c"], 4),
        "tasks": table(60, 8, ["no", "yes"], 5, site=["1", "10", "2"]),
        "text": table(60, 7, ["no", "yes"], 6, colour=["red", "green", "blue"]),
        "holes": table(60, 8, ["no", "yes"], 7, missing=["1", "2"]),
    }
    for name, text in made.items():
        (folder / f"{name}.csv").write_text(text)


def commands():
    for method, options in METHODS.items():
        data = (
            ["small"]
            if method in SMALL
            else ["wdbc", "two", "wide"]
            if method in ("exact", "rfe", "l1-svm", "fgm")
            else ["wdbc", "two"]
        )
        for name in data:
            for option in options:
                proof = (
                    f" --proof {method}.proof"
                    if method in PROVES and "--within" not in option and method != "kta"
                    else ""
                )
                yield f"select {name}.csv -m {method} {option}{proof} --json r.json"
        if method in MORE:
            yield f"select three.csv -m {method} {options[0]} --json r.json"
    for method, option in (("exact", ""), ("gbd", ""), ("fgm", ""), ("rfe", "")):
        yield f"select tasks.csv -m {method} --tasks site --max-features 3 {option} --json r.json"
    for method in ("exact", "rfe", "kta", "info-gain", "fgm"):
        yield f"select text.csv -m {method} --text colour --max-features 3 --json r.json"
        yield f"select holes.csv -m {method} --missing median --max-features 3 --json r.json"
        yield f"path two.csv -m {method} --max-features 1..4 --json r.json"
        yield f"evaluate two.csv -m {method} --max-features 3 --cv 3 --repeats 2 --json r.json"
        yield f"stability two.csv -m {method} --max-features 3 --pairs 10 --json r.json"
    for method in ("exact", "rfe", "l1-svm"):
        size = "" if method == "l1-svm" else "--max-features 3"
        yield f"select two.csv -m {method} --cost auto {size} --json r.json"
        yield f"evaluate holes.csv -m {method} {size} --missing mean --cost 0.1 --cv 4 --json r.json"
    yield "path two.csv -m exact --max-features 1..4 --cv 3 --json r.json"
    yield "path two.csv -m rfe --max-features 1..4 --certify --json r.json"
    yield "evaluate three.csv -m rfe --max-features 3 --cv 3 --nested --tune C=0.1,1 --json r.json"
    yield "evaluate tasks.csv -m exact --tasks site --max-features 3 --cv 3 --json r.json"
    yield "evaluate text.csv -m rfe --text colour --max-features 3 --leave-one-out --json r.json"
    yield "study two.csv --max-features 1..4 --repeats 1 --json r.json"
    yield "study holes.csv --max-features 1..3 --repeats 1 --methods exact,rfe --json r.json"
    yield "knockoffs wide.csv -m l1-svm --json r.json"
    yield "knockoffs two.csv -m rfe --json r.json"
    yield "certify wdbc.csv --features x1,x2,x3 --json r.json"
    yield "certify tasks.csv --features x1,x5 --tasks site --json r.json"
    for data, option in (
        ("two", ""),
        ("three", "--kernel rbf"),
        ("holes", "--missing mean"),
        ("text", "--text colour --cost 0.1"),
    ):
        yield f"fit {data}.csv --features x1,x2,x3 {option} --model m.json --json r.json"
        yield f"predict m.json {data}.csv --out r.json"
    for name in ("exact", "gbd", "mbp"):
        yield f"verify {name}.proof two.csv --json r.json"
    yield "check holes.csv --json r.json"


#: Kinds of results that builds before e259c153 did not tell.
LATER = {"selection", "path", "evaluation", "check"}


def without_times(value):
    if isinstance(value, dict):
        return {
            key: without_times(entry)
            for key, entry in value.items()
            if key not in CLOCK
            and not (key == "kind" and "schema" in value and entry in LATER)
        }
    return (
        [without_times(entry) for entry in value] if isinstance(value, list) else value
    )


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def said(fewest, command, folder):
    """What a command says: exit code, and digests of its text, JSON and proof."""
    (folder / "r.json").unlink(missing_ok=True)
    words = [
        fewest,
        *command.split(),
        *([] if command.startswith(("verify", "check")) else ["--threads", "2"]),
    ]
    try:
        ran = subprocess.run(
            words,
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SLOW,
        )
    except subprocess.TimeoutExpired:
        return ["slow"]
    text = "\n".join(
        line
        for line in (ran.stdout + ran.stderr).splitlines()
        if not line.startswith(("time ", "checked "))
    )
    found = [ran.returncode, digest(TIMES.sub("", text).encode())]
    result = folder / "r.json"
    if result.exists():
        raw = result.read_text()
        try:
            raw = json.dumps(without_times(json.loads(raw)), sort_keys=True)
        except json.JSONDecodeError:
            pass
        found.append(digest(raw.encode()))
    proof = re.search(r"--proof (\S+)", command)
    if proof and (folder / proof[1]).exists():
        line, body = gzip.decompress((folder / proof[1]).read_bytes()).split(b"\n", 1)
        header = json.loads(line)
        header.pop("made", None)
        found.append(digest(json.dumps(header, sort_keys=True).encode() + body))
    return found


def main():
    what, fewest, kept = sys.argv[1:4]
    fewest, kept = str(pathlib.Path(fewest).resolve()), pathlib.Path(kept)
    before = json.loads(kept.read_text()) if what == "compare" else {}
    now, apart = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files(folder)
        for command in commands():
            now[command] = said(fewest, command, folder)
            known = [before.get(command), now[command]]
            if what == "compare" and known[0] != known[1] and ["slow"] not in known:
                apart += 1
                print(
                    f"{command}\n  was {before.get(command)}\n  is  {now[command]}",
                    flush=True,
                )
    print(*(command for command, one in now.items() if one == ["slow"]), sep="\n")
    if what == "keep":
        kept.write_text(json.dumps(now, indent=0) + "\n")
    print(
        f"{len(now)} runs, {sum(one[0] not in (0, 3) for one in now.values())} of them refused, {apart} say something else"
    )
    sys.exit(bool(apart))


if __name__ == "__main__":
    main()
