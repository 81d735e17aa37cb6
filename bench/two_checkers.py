"""Two checkers on random problems: `fewest verify` and tools/check_proof.py (exact, of its own).

    python3 bench/two_checkers.py [--cases 200] [--seed 1] [--fewest target/debug/fewest]

Each case is a small data set with random rules, loss, bias, weights, classes, scaling and method; the
command writes its proof and both checkers read it and the data file. They must say the same, with
the same counts, every objective and bound within 1e-9, and the exact bound must not be below that of
`verify`, nor the exact objective above. Every fourth proof is also damaged (a bit, or a number of its
header), and to each another is forged with its header and points but random records, which claims
nothing: both must refuse them, or prove the same (there the number of parts may differ: a feature that
is out, or two of one unit, in a record). Writes bench/results/two_checkers.md.
"""

import argparse
import collections
import gzip
import io
import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_proof  # noqa: E402


def data(random, folder):
    """A data file, its features, and how it is read; numbers on a grid, so that ties happen."""
    n, p = random.randint(8, 40), random.randint(2, 9)
    classes = random.choice([["-1", "1"]] * 5 + [["a", "b"], ["2", "10", "9"], ["red", "green", "blue", "no"]])
    names = [f"f{j}" for j in range(p)]
    sparse = random.random() < 0.15 and classes[0] in ("-1", "2")
    options, lines = [], []
    columns = {"w": not sparse and random.random() < 0.25, "site": not sparse and random.random() < 0.15}
    unit = [10.0 ** random.randint(-3, 3) if random.random() < 0.3 else 1.0 for _ in names]
    digits = random.choice([0, 1, 2, 5])
    for i in range(n):
        k = i % len(classes)
        cells = [round(random.gauss(0.6 * k * (j < 3), 1.0), digits) * unit[j] + (unit[j] if digits else 0) for j in range(p)]
        if sparse:
            lines.append(
                f"{classes[k]} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(cells) if x and (random.random() < 0.5 or i == 0))
            )
            continue
        row = [f"{x!r}" for x in cells]
        if columns["w"]:
            row.append(random.choice(["1", "2", "0.3", "0.1", "5", "0"] if i >= 2 * len(classes) else ["1", "0.7"]))
        if columns["site"]:
            row.append(("1", "10", "2")[i // len(classes) % 2])
        lines.append(",".join([*row, classes[k]]))
    if sparse:
        path, names = folder / "d.svm", [f"x{j + 1}" for j in range(p)]
    else:
        path = folder / "d.csv"
        lines.insert(0, ",".join(names + [name for name, there in columns.items() if there] + ["y"]))
    path.write_text("\n".join(lines) + "\n")
    if columns["w"]:
        options += ["--sample-weights", "w"]
    if columns["site"]:
        options += ["--tasks", "site"]
    return path, names, options, len(classes), columns["site"]


def some(random, names, least=1):
    return ",".join(random.sample(names, random.randint(least, max(least, min(len(names), 4)))))


def case(random, folder):
    path, names, options, classes, tasks = data(random, folder)
    several = classes > 2 or tasks
    method = random.choice(["exact"] * 4 + ["gbd"] + ([] if several else ["certify", "mbp", "mbp"]))
    options += ["--cost", random.choice(["0.01", "0.1", "1", "1", "10", "0.37"])]
    if method == "certify":
        options += ["-m", "rfe", "--certify"]
    else:
        options += ["-m", method]
    if method == "mbp" or (method == "exact" and random.random() < 0.2):
        options += ["--penalty", random.choice(["0.5", "0.1", "0.01"])]
    if method != "mbp":
        options += ["--max-features", str(random.randint(1, min(4, len(names))))]
    if method in ("exact", "gbd") and random.random() < 0.35:
        options += ["--loss", "squared-hinge"]
    if random.random() < 0.4:
        options += ["--bias", random.choice(["none", "1", "0.3", "7"])]
    if random.random() < 0.3:
        options += ["--class-weight", random.choice(["balanced", "cw2", "cw3"])]
    if classes > 2 and random.random() < 0.5:
        options += ["--multi-class", "one-vs-rest"]
    if (path.suffix == ".csv" and random.random() < 0.3) or random.random() < 0.1:
        options += ["--scale", random.choice(["none", "maxabs"] + (["standard"] if path.suffix == ".csv" else []))]
    if method != "certify" and random.random() < 0.25 and not several:
        options += ["--sign", f"{random.choice(names)}:{random.choice('+-')}"]
    if method != "certify" and random.random() < 0.15 and not several:
        bounds = folder / "bounds.csv"
        bounds.write_text("".join(f"{name},{random.choice(['-0.5', '0', ''])},{random.choice(['0.3', '1', ''])}\n" for name in names))
        options += ["--weight-bounds", str(bounds)]
    for option in ("--require", "--forbid"):
        if random.random() < 0.1:
            options += [option, random.choice(names)]
    for _ in range(random.choice([0, 0, 1, 2])):
        if len(names) > 2 and method != "mbp":
            kind = random.choice(["--at-most", "--at-least", "--together", "--implies"])
            group = some(random, names, 2)
            few = str(random.randint(1, 2))
            options += [kind, {"--together": group, "--implies": group.replace(",", ":", 1)}.get(kind, f"{few}:{group}")]
    if method != "mbp" and random.random() < 0.2:
        prices = folder / "prices.csv"
        prices.write_text("".join(f"{name},{random.choice(['1', '2', '0.1', '0.7', '3'])}\n" for name in names))
        options += ["--feature-costs", str(prices), "--budget", random.choice(["0.3", "1", "2.1", "5"])]
    if method == "exact" and random.random() < 0.2:
        options += random.choice([["--solutions", "3"], ["--within", "0.05"], ["--node-limit", "3"], ["--gap", "0.1"]])
    return path, options


def reads(proof, path, fewest):
    """What both say: whether it is verified, the fault, counts, numbers."""
    verdict = proof.with_suffix(".json")
    verdict.unlink(missing_ok=True)
    ran = subprocess.run([fewest, "verify", proof, path, "--json", verdict], capture_output=True, text=True)
    if ran.returncode in (0, 1) and verdict.exists():
        said = json.loads(verdict.read_text())
        first = [
            said["verdict"] in ("verified", "objective_only", "nothing"),
            said.get("reason"),
            tuple(said.get("counts", {}).values()),
        ]
        first += [[said.get(key) for key in ("objective", "bound", "rest")]]
        for entry in said.get("solutions", []):
            first[3] += [entry["objective"], entry["bound"]]
    else:
        first = [f"exit code {ran.returncode}", ran.stderr.strip()]
    try:
        with gzip.open(proof, "rb") as stream:
            found = check_proof.check(stream, str(path))
        numbers = [found[key] for key in ("objective", "bound", "rest")] + [x for entry in found["solutions"] for x in entry]
        second = [True, None, found["checked"], numbers]
    except (check_proof.Fault, EOFError, zlib.error) as fault:
        second = [False, str(fault)]
    except check_proof.Unable as fault:
        second = ["exit code 2", str(fault)]
    return first, second


def apart(first, second, widest, honest=False):
    """How two verdicts differ; none where they agree."""
    if first[0] != second[0]:
        return f"verify says {first[:2]}, the second {second[:2]}"
    if first[0] is not True:
        return None
    if first[2][: 2 + honest] != second[2][: 2 + honest] or len(first[3]) != len(second[3]):
        return f"records, points, parts: verify counts {first[2:]}, the second {second[2:]}"
    for k, (one, other) in enumerate(zip(first[3], second[3], strict=True)):
        name = ("objective", "bound", "bound")[k] if k < 3 else ("bound", "objective")[k % 2]
        other = None if other is None or math.isinf(other) else float(other)
        if (one is None) != (other is None):
            return f"{name} {k}: verify says {one}, the second {other}"
        if one is not None:
            size, above = max(abs(one), abs(other), 1e-300), one - other if name == "bound" else other - one
            widest[name] = max(widest[name], abs(one - other) / size)
            if abs(one - other) > 1e-9 * size or above > 4e-16 * size:
                return f"{name} {k}: verify says {one!r}, the second {other!r}"
    return None


def damaged(random, proof, to):
    body = gzip.decompress(proof.read_bytes())
    line, rest = body.split(b"\n", 1)
    if random.random() < 0.3:
        head = json.loads(line)
        key = random.choice(["cost", "max_features", "n", "loss"])
        if key == "cost":
            head["cost"] *= 1 + random.choice([0.5, -0.5, 1e-3])
        elif key == "max_features":
            head["rules"]["max_features"] = (head["rules"]["max_features"] or 0) + 1
        elif key == "n":
            head["n"] += 1
        else:
            head["loss"] = {"hinge": "squared-hinge"}.get(head["loss"], "hinge")
        line = json.dumps(head).encode()
    else:
        rest = bytearray(rest)
        for _ in range(random.choice([1, 1, 3])):
            rest[random.randrange(len(rest))] ^= 1 << random.randrange(8)
    to.write_bytes(gzip.compress(line + b"\n" + bytes(rest)))


def leb(value):
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes(found) + bytes([value])


def ascending(places):
    return leb(len(places)) + b"".join(leb(place - before) for place, before in zip(places, [0, *places], strict=False))


def pieces(body, p, problems):
    """The points and the listed subsets of a proof, as they stand in the file."""
    stream = io.BytesIO(body)
    reader, points, listed = check_proof.Reader(stream), [], []
    while (kind := reader.take(1)[0]) != 6:
        start = stream.tell()
        if kind == 5:
            features = reader.ascending(p)
            reader.take(16)
            for _ in range(problems):
                reader.take(8 * reader.integer() + 8)
            listed.append((features, body[start - 1 : stream.tell()]))
            continue
        reader.integer()
        if kind == 1:
            reader.integer()
            continue
        start = stream.tell()
        if reader.integer() == 1:
            reader.integer()
            for entry in (reader.integer, reader.integer, reader.integer, reader.number):
                for _ in range(reader.integer()):
                    entry()
            points.append(body[start : stream.tell()])
        for entry in [reader.integer, reader.integer if kind == 3 else reader.number] if kind > 2 else []:
            for _ in range(reader.integer()):
                entry()
    return points, listed


def forged(dice, proof, to):
    """Another proof with the header and the points of this one, and random records; whether there is one."""
    line, body = gzip.decompress(proof.read_bytes()).split(b"\n", 1)
    head = json.loads(line)
    p = head["p"]
    points, listed = pieces(body, p, head.get("problems", 1))
    if not points:
        return False
    caps = head["weight_bounds"] or [9.0] * p
    records, nodes, free, rounds = [], 1, [0], dice.randint(1, 14)
    for k in range(rounds + 99):
        if k >= rounds and (not free or rounds % 4 == 0):
            break
        kind = dice.choice([1, 1, 1, 2, 2, 3, 3] + [4, 4] * (head["gain"] == "l1"))
        kind = 2 if k >= rounds else kind
        place = dice.choice(free) if free and dice.random() < 0.99 else dice.randrange(nodes)
        node = leb(place)
        if kind < 3 and place in free:
            free.remove(place)
        if kind == 1:
            records.append(b"\1" + node + leb(dice.randrange(p)))
            free += [nodes, nodes + 1]
            nodes += 2
            continue
        point = b"\0" if len(records) > 3 and dice.random() < 0.3 else dice.choice(points)
        record = bytes([kind]) + node + point
        some = [sorted(dice.sample(range(p), dice.randint(0, 2))) for _ in range(2)]
        if kind == 3:
            record += ascending(some[0]) + ascending(some[1])
        elif kind == 4:
            inner = [caps[j] * dice.choice([0.0, 0.01, 0.5, 1.0]) for j in some[0]]
            record += ascending(some[0]) + leb(len(inner)) + struct.pack(f"<{len(inner)}d", *inner)
        records.append(record)
    records += [text for _, text in listed if dice.random() < 0.8]
    # Own bounds stand behind the objective: none is claimed
    for features, text in listed:
        place = 1 + len(ascending(features)) + 8
        records = [r if r != text else r[:place] + struct.pack("<d", -math.inf) + r[place + 8 :] for r in records]
    to.write_bytes(gzip.compress(line + b"\n" + b"".join(records) + b"\6" + struct.pack("<d", -math.inf) + b"\7stalled"))
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--fewest", default=str(ROOT / "target" / "debug" / "fewest"))
    options.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    options.add_argument("--forged", type=int, default=1, help="for each proof this many of random records")
    options.add_argument("--keep", help="folder for forged proofs on which they differ")
    given = options.parse_args()
    begun, seen, wrong, widest = time.time(), collections.Counter(), [], collections.Counter()
    kinds, refused = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        proof, other = folder / "p.proof", folder / "q.proof"
        for number in range(given.cases):
            if time.time() - begun > given.seconds:
                break
            dice = random.Random(f"{given.seed}/{number}")
            path, chosen = case(dice, folder)
            proof.unlink(missing_ok=True)
            command = [given.fewest, "select", str(path), *chosen, "--proof", str(proof), "--time-limit", "20"]
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode not in (0, 3, 4) or not proof.exists():
                seen["no proof"] += 1
                refused[re.sub(r"[\d\"'].*", "", ran.stderr.strip().split("\n")[0])[:70]] += 1
                continue
            seen["proofs"] += 1
            kinds.update(
                option
                for option in chosen
                if (option.startswith("--") and option != "--cost") or option in ("exact", "gbd", "mbp", "rfe")
            )
            first, second = reads(proof, path, given.fewest)
            seen["both verified"] += first[0] is True and second[0] is True
            if fault := apart(first, second, widest, True):
                wrong.append((number, " ".join(chosen), fault))
                print(number, " ".join(command), fault, sep="\n  ", flush=True)
            if number % 4 == 0:
                damaged(dice, proof, other)
                first, second = reads(other, path, given.fewest)
                seen["damaged"] += 1
                seen["damaged, refused by both"] += first[0] is False and second[0] is False
                seen["damaged, verified by both"] += first[0] is True and second[0] is True
                if fault := apart(first, second, collections.Counter()):
                    wrong.append((number, "damaged: " + " ".join(chosen), fault))
                    print(number, "damaged", " ".join(command), fault, sep="\n  ", flush=True)
            for _ in range(given.forged):
                if forged(dice, proof, other):
                    first, second = reads(other, path, given.fewest)
                    seen["forged"] += 1
                    seen["forged, refused by both"] += first[0] is False and second[0] is False
                    seen["forged, verified by both"] += first[0] is True and second[0] is True
                    if fault := apart(first, second, widest):
                        wrong.append((number, "forged: " + " ".join(chosen), fault))
                        print(number, "forged", " ".join(command), fault, sep="\n  ", flush=True)
                        if given.keep:
                            for kept in (other, path):
                                pathlib.Path(given.keep, f"{number}-{len(wrong)}{kept.suffix}").write_bytes(kept.read_bytes())
    seconds = time.time() - begun
    text = ["# Two checkers of proof files", ""]
    text += [f"    python3 bench/two_checkers.py --cases {number + 1} --seed {given.seed} --forged {given.forged}", ""]
    text += [
        "Random problems of 8 to 40 samples and 2 to 9 features. Their proofs are read by `fewest verify` and tools/check_proof.py.",
        "",
    ]
    text += ["| | number |", "| --- | --- |", f"| problems | {number + 1} |"]
    text += [f"| {name} | {seen[name]} |" for name in ("no proof", "proofs", "both verified")]
    text += [
        f"| {kind}{end} | {seen[kind + end]} |"
        for kind in ("damaged", "forged")
        for end in ("", ", refused by both", ", verified by both")
    ]
    text += [f"| disagreements | {len(wrong)} |", ""]
    text += ["No proof: options that do not go together, rules that no subset keeps. A damaged proof may still prove its claims"]
    text += [
        "(a bit of its status, a claim that is still reached); both must say the same then, too. A forged one has the header and the"
    ]
    text += ["points of a proof, random records and no claim: what both prove is compared, own bounds of listed subsets included.", ""]
    largest = ", ".join(f"{name} {widest[name]:.1e}" for name in ("objective", "bound"))
    text += [f"Largest relative difference of the proven numbers: {largest}"]
    text += [f"({'release' if 'release' in given.fewest else 'debug'} build, {os.cpu_count()} cores, {seconds:.0f} s).", ""]
    text += ["| option or method | proofs |", "| --- | --- |"]
    text += [f"| `{name}` | {times} |" for name, times in sorted(kinds.items())]
    text += ["", "## Disagreements", ""] + [f"- case {number}: `{chosen}`: {fault}" for number, chosen, fault in wrong or []]
    text += ["None."] * (not wrong)
    (ROOT / "bench" / "results" / "two_checkers.md").write_text("\n".join(text) + "\n")
    print(*seen.items(), f"disagreements {len(wrong)}", *refused.most_common(12), sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
