"""The checker proven in Coq (verified/) beside the two others: does it accept honest proofs, and refuse forged ones?

    make verified
    python3 bench/verified.py [--cases 200] [--larger 0] [--seed 1] [--fewest target/debug/fewest] [--core target/verified/core] [--write]

Random data and questions are those of two_checkers.py that the theorem is about: any rules, biases, limits of weights, classes
and tasks. All three checkers must accept the proof of each, and the bound that the core proves must not be above the objective. Of each
text come forged ones: a bound claimed that is higher by the least amount, a dual point that is not feasible, a tree cut short (to be
refused), and other numbers in the tree, the points and the listed subsets (to be refused, or to prove no more than is true). Then
questions of another kind: the second checker must say which, with exit code 2. Real data are wdbc, and where $FEWEST_DATA is a folder those in it. `--write` writes
bench/results/verified.md.
"""

import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

import two_checkers
from two_checkers import ROOT, check_proof, real

REAL = [
    ("data/wdbc.csv", ["-m", "exact", "--max-features", "3"]),
    ("data/wdbc.csv", ["-m", "exact", "--max-features", "3", "--loss", "squared-hinge"]),
    ("data/wdbc.csv", ["-m", "gbd", "--max-features", "3"]),
    ("data/wdbc.csv", ["-m", "exact", "--max-features", "5", "--cost", "0.1"]),
    ("data/wdbc.csv", ["-m", "exact", "--penalty", "2", "--cost", "0.1"]),
    ("ionosphere.csv", ["-m", "exact", "--max-features", "4"]),
    ("pima-indians-diabetes.csv", ["-m", "exact", "--max-features", "3"]),
    ("hepatitis.csv", ["-m", "exact", "--max-features", "4"]),
    ("leukemia_golub.csv.gz", ["-m", "rfe", "--certify", "--max-features", "5"]),
]
# Data of larger proofs, of two classes or more, and wide ones.
SMALL = ["data/wdbc.csv", "ionosphere.csv", "hepatitis.csv", "wpbc.csv", "german-numeric.csv", "zoo.csv", "soybean-small.csv"]
WIDE = ["ovarian_1536.csv.gz", "leukemia_golub_train.csv.gz"]
# A larger proof has at least this many dual points.
LARGER = 20
# Each of these is no question of the theorem.
OTHERS = [
    ["-m", "kta", "--max-features", "2"],
]


def selected(given, path, options, proof, seconds=10, command="select"):
    """Whether the command wrote a proof."""
    proof.unlink(missing_ok=True)
    subprocess.run([given.fewest, command, str(path), *options, "--proof", str(proof), "--time-limit", str(seconds)], capture_output=True, text=True)
    return proof.exists()


# What the three checkers say of a proof: the exit code of `verify`, what the second finds (which also writes the text), what the
# core answers; the seconds of each.
Said = collections.namedtuple("Said", "first found answer seconds")
# The core's exit code; the bound that it proves of subsets that are not listed, if there are any; the least of that and of the
# bounds of listed ones; the least objective of those.
Answer = collections.namedtuple("Answer", "code proven least best")


def judged(given, path, labels, proof, text):
    times, more = [time.time()], ["--labels", labels] if labels else []
    first = subprocess.run([given.fewest, "verify", proof, path, "--allow-unproven", *more], capture_output=True).returncode
    times.append(time.time())
    with check_proof.opened(proof) as stream:
        found = check_proof.check(stream, str(path), labels, text)
    times.append(time.time())
    answer = asked(given, text)
    times.append(time.time())
    return Said(first, found, answer, [after - before for before, after in zip(times, times[1:])])


def agreed(said):
    """Whether all three accept, and the core proves no more than is true."""
    return said.first == said.answer.code == 0 and not beyond(said.answer, said.found)


def beyond(answer, found):
    """Whether the core proves more than the objective that the second checker knows, or of listed subsets what cannot be."""
    objectives = [x for x in (found["objective"], answer.best) if x is not None]
    return answer.code == 0 and answer.least is not None and any(answer.least > x for x in objectives)


def asked(given, text):
    """What the core answers."""
    with open(text) as stream:
        ran = subprocess.run([given.core], stdin=stream, capture_output=True, text=True)
    numbers = collections.defaultdict(list)
    for line in ran.stdout.splitlines():
        if "(" in line:
            numbers[line.split()[0]].append(Fraction(line.split("(")[1].rstrip(")").replace(" ", "")))
    words = "VERIFIED" if ran.returncode == 0 else "NOT VERIFIED" if ran.returncode == 1 else ""
    if ran.returncode not in (0, 1, 2) or not ran.stdout.startswith(words):
        raise SystemExit(f"the core ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    proven = numbers["proven"][0] if numbers["proven"] else None
    return Answer(ran.returncode, proven, min(numbers["proven"] + numbers["own"], default=None), min(numbers["listed"], default=None))


class Text:
    """The lines of a text, and where its parts are."""

    def __init__(self, path):
        self.lines = path.read_text().splitlines()
        self.claim = next(k for k, line in enumerate(self.lines) if line.startswith("claimed"))
        self.tree = self.lines.index("tree") + 1
        self.points = next(k for k, line in enumerate(self.lines) if line.startswith("points")) + 1
        self.listed = range(self.claim + 2, self.points - 1)
        self.used = sorted({int(line.split()[1]) for line in self.lines[self.tree : -1] if line.startswith("at")})
        self.grain = int(self.lines[self.points].split()[2])
        self.free, self.squared = (word in self.lines[0].split() for word in ("free", "squared-hinge"))
        # The labels of each problem.
        at, p = next(k for k, line in enumerate(self.lines) if line.startswith("problems")), int(self.lines[0].split()[1])
        self.labels = [self.lines[k].split()[1:] for k in range(at + 1, self.claim, p + 2)]

    def with_line(self, k, line):
        return [*self.lines[:k], line, *self.lines[k + 1 :]]

    def point(self, dice, charged=False):
        """The line of a point that the tree uses, its words, and the number of those before the multiples; `charged` asks for one with a price of a row."""
        lines = [self.points + k for k in self.used]
        lines = [k for k in lines if not charged or self.lines[k].split()[3] != "0"]
        if not lines:
            return None
        words = self.lines[k := dice.choice(lines)].split()
        return k, words, 4 + 3 * int(words[3])

    def with_multiple(self, dice, change):
        """A point with one multiple changed."""
        k, words, first = self.point(dice)
        i = dice.randrange(first, len(words))
        words[i] = str(change(int(words[i])))
        return self.with_line(k, " ".join(words))

    def with_pair(self, dice, step):
        """A point with one multiple of each class changed by the same, so that both classes still add up to the same."""
        k, words, first = self.point(dice)
        problem = dice.randrange(len(self.labels))
        first += sum(map(len, self.labels[:problem]))
        places = [first + dice.choice([i for i, y in enumerate(self.labels[problem]) if y == label]) for label in ("-1", "1")]
        change = step(max(int(words[i]) for i in places))
        for i in places:
            words[i] = str(int(words[i]) + change)
        return self.with_line(k, " ".join(words))

    def with_price(self, dice):
        """A point with a price of a row that is below 0."""
        k, words, first = self.point(dice, True)
        i = dice.randrange(5, first, 3)
        words[i] = str(-1 - int(words[i]))
        return self.with_line(k, " ".join(words))

    def forged(self, dice, proven):
        """Kind, whether it must be refused, lines."""
        if proven is not None:
            higher = proven + Fraction(1, self.grain)
            yield "a bound claimed that is higher by 1 / grain", True, self.with_line(self.claim, f"claimed {higher.numerator} {higher.denominator}")
        if self.listed:
            lower, higher = Fraction(999_999, 1_000_000), Fraction(1_000_001, 1_000_000)
            yield "a listed objective that is lower by a millionth", True, self.with_fraction(k := dice.choice(self.listed), 4, lower)
            # A subset that is alone in no box has the bound of all others.
            alone = f"alone {k - self.listed[0]}" in self.lines
            yield "a bound of a listed subset that is higher by a millionth", alone, self.with_fraction(k, 6, higher)
            yield "another number in a listed subset", False, self.with_number(dice, *self.listed)
        if not self.used:
            return
        yield "two multipliers far too large", not self.squared, self.with_pair(dice, lambda larger: 1 << 200)
        yield "two multipliers smaller, one of them below 0", True, self.with_pair(dice, lambda larger: -larger - 1)
        # Without a free bias the point is feasible.
        yield "multipliers that do not add up", self.free, self.with_multiple(dice, lambda k: k - 1 if k else 1)
        if self.point(dice, True):
            yield "a price of a row below 0", True, self.with_price(dice)
        yield "a tree without one of its lines", True, self.without_closed(dice)
        yield "another number in the tree", False, self.with_number(dice)
        if tightened := [k for k in range(self.tree, len(self.lines)) if self.lines[k].startswith("tighten") and len(self.lines[k].split()) > 2]:
            yield "weights tightened to half as much", False, self.with_fraction(tightened[0], 3, Fraction(1, 2))
        yield "two lines of the tree exchanged", False, self.exchanged(dice)
        yield "the points in another order", False, self.shuffled(dice)

    def with_fraction(self, k, at, factor):
        """A line with a fraction, which stands at this word, times a factor."""
        words = self.lines[k].split()
        changed = Fraction(int(words[at]), int(words[at + 1])) * factor
        words[at : at + 2] = str(changed.numerator), str(changed.denominator)
        return self.with_line(k, " ".join(words))

    def without_closed(self, dice):
        k = dice.choice([k for k in range(self.tree, len(self.lines)) if self.lines[k].startswith(("close", "empty", "alone"))])
        return self.lines[:k] + self.lines[k + 1 :]

    def with_number(self, dice, *lines):
        """Another number in one of these lines; without any, in the tree."""
        k = dice.choice(lines or range(self.tree, len(self.lines) - 1))
        words = self.lines[k].split()
        i = dice.randrange(not lines, len(words))
        words[i] = str(int(words[i]) + dice.choice([-1, 1]) * dice.choice([1, 2, 1 << 30, 1 << 58]))
        return self.with_line(k, " ".join(words))

    def exchanged(self, dice):
        a, b = (dice.randrange(self.tree, len(self.lines) - 1) for _ in range(2))
        lines = list(self.lines)
        lines[a], lines[b] = lines[b], lines[a]
        return lines

    def shuffled(self, dice):
        points = self.lines[self.points : self.tree - 1]
        dice.shuffle(points)
        return self.lines[: self.points] + points + self.lines[self.tree - 1 :]


def random_cases(given, folder, seen, spent, wrong):
    proof, text, other = folder / "p.proof", folder / "p.txt", folder / "q.txt"
    number = 0
    while seen["honest proofs"] < given.cases:
        number += 1
        drawn, options = two_checkers.case(random.Random(f"{given.seed}/{number}"), folder, False)
        dice = random.Random(f"{given.seed}/{number}/forged")
        if "kta" in options:
            continue
        if not selected(given, drawn.path, options, proof, command=drawn.command):
            seen["no proof"] += 1
            continue
        seen["kind: markers"] += drawn.command == "markers"
        try:
            said = judged(given, drawn.path, drawn.labels, proof, text)
        except check_proof.Unable as reason:
            seen["no bound"] += "no bound" in str(reason)
            if "no bound" not in str(reason):
                wrong.append((number, options, f"the second checker: {reason}"))
            continue
        for part, seconds in zip(("first", "second", "core"), said.seconds):
            spent[part] += seconds
        seen["honest proofs"] += 1
        seen["accepted by all three"] += agreed(said)
        kinds_of(said, seen)
        if not agreed(said):
            wrong.append((number, options, f"verify {said.first}, core {said.answer}"))
        for kind, must, lines in Text(text).forged(dice, said.answer.proven):
            other.write_text("\n".join(lines) + "\n")
            began = time.time()
            answer = asked(given, other)
            spent["forged"] += time.time() - began
            seen[kind] += 1
            seen[f"{kind}, refused"] += answer.code != 0
            if (must and answer.code == 0) or beyond(answer, said.found):
                wrong.append((number, options, f"forged: {kind}: core {answer}"))


def kinds_of(said, seen):
    """Counts what a question has of each kind that the theorem covers."""
    claim = said.found["check"].claim
    seen["kind: gain l1"] += claim.l1
    seen["kind: no bias"] += claim.bias == "none"
    seen["kind: penalised bias"] += claim.s is not None
    seen["kind: squared hinge"] += claim.squared
    seen["kind: several problems"] += claim.t > 1
    seen["kind: units of several features"] += len(claim.members) < claim.p
    for rule in ("require", "forbid", "implies", "at_most", "at_least", "together", "budget", "weights"):
        seen[f"kind: {rule}"] += bool(claim.rules.get(rule))


def larger_cases(given, folder, seen, wrong):
    """Rows of a table: larger proofs of real data, with random questions."""
    proof, text, rows, number, data = folder / "p.proof", folder / "p.txt", [], 0, collections.defaultdict(list)
    names = [name for name in SMALL + WIDE if real(name).exists()]
    while sum(map(len, data.values())) < given.larger:
        number += 1
        dice = random.Random(f"{given.seed}/larger/{number}")
        name = dice.choice(names)
        path, options = real(name), ["--cost", dice.choice(["0.01", "0.1", "1", "10"])]
        features = two_checkers.check_proof.Data(str(path), {}, None).names
        several, wide = name in ("zoo.csv", "soybean-small.csv"), name in WIDE
        method = "rfe" if wide else "exact" if several else dice.choice(["exact", "exact", "gbd", "mbp"])
        options += ["-m", method] + ["--certify"] * wide
        if method == "mbp":
            options += ["--penalty", dice.choice(["0.5", "1", "2"])]
        else:
            options += ["--max-features", str(dice.randint(2, 5))]
        if method in ("exact", "gbd"):
            options += dice.choice([[], [], ["--loss", "squared-hinge"]]) + two_checkers.rules(dice, folder, features)
        options += dice.choice([[], [], ["--bias", "none"], ["--bias", "1"]]) + dice.choice([[], [], ["--class-weight", "balanced"]])
        options += dice.choice([[], ["--multi-class", "one-vs-rest"]]) if several else []
        options += ["--sign", f"{dice.choice(features)}:{dice.choice('+-')}"] if not several and not wide and dice.random() < 0.3 else []
        if not selected(given, path, options, proof, 1 if wide else 3):
            continue
        try:
            said = judged(given, path, None, proof, text)
        except check_proof.Unable as reason:
            if "no bound" not in str(reason):
                wrong.append((number, [name, *options], f"the second checker: {reason}"))
            continue
        if said.found["checked"][1] < LARGER:
            continue
        data[name].append(said)
        kinds_of(said, seen)
        if not agreed(said):
            wrong.append((number, [name, *options], f"verify {said.first}, core {said.answer}"))
        print(name, *options, said.found["checked"], [f"{seconds:.2f}" for seconds in said.seconds], flush=True)
    for name, all_said in sorted(data.items()):
        points, records = (sum(said.found["checked"][k] for said in all_said) for k in (1, 0))
        shown = [f"{sum(times):.1f} | {max(times):.2f}" for times in zip(*(said.seconds for said in all_said))]
        rows.append(f"| {name} | {len(all_said)} | {sum(map(agreed, all_said))} | {records} | {points} | {' | '.join(shown)} |")
    return rows


def other_questions(given, folder, wrong):
    rows, proof = [], folder / "p.proof"
    for options in OTHERS:
        if not selected(given, ROOT / "data/wdbc.csv", options, proof):
            raise SystemExit(f"no proof of {' '.join(options)}")
        command = [sys.executable, ROOT / "tools/check_proof.py", proof, ROOT / "data/wdbc.csv", "--core", folder / "no.txt"]
        ran = subprocess.run(command, capture_output=True, text=True)
        said = ran.stderr.strip()
        if ran.returncode != 2 or "--core: " not in said or (folder / "no.txt").exists():
            wrong.append((0, options, f"exit code {ran.returncode}: {said}"))
        rows.append(f"| `{' '.join(options)}` | {said.partition('--core: ')[2]} |")
    return rows


def real_cases(given, folder, wrong):
    rows, proof, text = [], folder / "p.proof", folder / "p.txt"
    for name, options in REAL:
        path = real(name)
        if not path.exists() or (given.small and "leukemia" in name):
            continue
        if not selected(given, path, options, proof):
            wrong.append((0, options, f"{name}: no proof"))
            continue
        said = judged(given, path, None, proof, text)
        if not agreed(said):
            wrong.append((0, options, f"{name}: verify {said.first}, core {said.answer}"))
        bounds = [f"{float(x):.15g}" for x in (said.found["rest"], said.answer.proven)]
        shown = [f"{seconds:.2f}" for seconds in said.seconds]
        size = f"{text.stat().st_size / 1e6:.1f}"
        rows.append(" ".join(["|", " | ".join([f"{path.name} {' '.join(options)}", str(said.found["checked"][1]), *bounds, size, *shown]), "|"]))
        print(rows[-1], flush=True)
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--larger", type=int, default=0, help="number of proofs of real data, with random questions")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--fewest", default=str(ROOT / "target/debug/fewest"))
    options.add_argument("--core", default=str(ROOT / "target/verified/core"))
    options.add_argument("--small", action="store_true", help="without leukemia, whose proof takes the second checker minutes")
    options.add_argument("--write", action="store_true", help="write bench/results/verified.md")
    given = options.parse_args()
    seen, spent, wrong = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        random_cases(given, folder, seen, spent, wrong)
        others = other_questions(given, folder, wrong)
        larger = larger_cases(given, folder, seen, wrong)
        rows = real_cases(given, folder, wrong)
    kinds = [kind for kind in seen if f"{kind}, refused" in seen]
    forged = sum(seen[kind] for kind in kinds)
    text = ["# The checker proven in Coq, beside the two others", "", f"    python3 bench/verified.py --cases {given.cases} --larger {given.larger} --seed {given.seed} --write", ""]
    text += [f"Of {seen['honest proofs']} random proofs all three checkers accept {seen['accepted by all three']}"]
    text += [f"({seen['no proof']} more problems gave no proof, {seen['no bound']} a proof without a bound)."]
    each = {part: f"{1000 * spent[part] / seen['honest proofs']:.0f} ms" for part in ("first", "second", "core")}
    text += [f"A random proof takes {each['first']} with `fewest verify`, {each['second']} with the second checker,"]
    text += [f"{each['core']} with the core; a forged text {1000 * spent['forged'] / max(forged, 1):.0f} ms.", ""]
    covered = [f"{kind[6:].replace('_', ' ')} {seen[kind]}" for kind in seen if kind.startswith("kind: ")]
    text += [f"Of these, and of the larger ones below: {', '.join(covered)}.", ""]
    text += ["| forged texts | number | refused |", "| --- | --- | --- |"]
    text += [f"| {kind} | {seen[kind]} | {seen[kind + ', refused']} |" for kind in kinds]
    text += ["", "Those that are not all refused may stay valid, as any order of boxes and any price of a place is a proof of something, and so may large multipliers of the squared hinge, where the boxes of a point hold no subset, and without a free bias multipliers need not add up. Nothing that was accepted proves more than the objective, or of listed subsets what cannot be.", ""]
    text += ["| question of another kind | the second checker says |", "| --- | --- |", *others, ""]
    if larger:
        text += [f"Larger proofs: real data with random questions, at least {LARGER} dual points, and at most 3 s of search (of wide data 1 s).", ""]
        text += ["| data | proofs | accepted by all three | records | points | s, `verify`: sum | most | s, second with `--core`: sum | most | s, core: sum | most |"]
        text += ["| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", *larger, ""]
    text += ["| real data and options | points | bound of all others, second checker | core | text, MB | s, `verify` | s, second with `--core` | s, core |"]
    text += ["| --- | --- | --- | --- | --- | --- | --- | --- |", *rows, ""]
    kind = "release" if "release" in given.fewest else "debug"
    text += [f"Seconds from start to end (the search had at most 10), on {os.cpu_count()} cores shared with other work; `verify` is a {kind} build.", "", "## Faults", ""]
    text += [f"- case {number}: `{' '.join(chosen)}`: {fault}" for number, chosen, fault in wrong] or ["None."]
    if given.write:
        (ROOT / "bench/results/verified.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
