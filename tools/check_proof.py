"""The second checker of proof files: exact arithmetic, the standard library alone.

    python3 tools/check_proof.py PROOF DATA

DATA is the .csv, .svm or .libsvm file (also .gz) that the run read. Prints VERIFIED with what was
proven, or the first fault (exit code 1). What it cannot check, such as proofs of alignments, missing
values or text columns, it says (exit code 2).

Written from docs/proof.md alone, without reading `crates/fewest-verify`. Doubles are integers times
powers of two, so bounds and objectives are exact fractions: nothing is rounded, and no error analysis
is needed. It is for trust, not for speed: some hundred times slower than `fewest verify`.
"""

import csv
import gzip
import hashlib
import io
import json
import math
import struct
import sys
import zlib
from fractions import Fraction
from operator import mul

INFINITY = math.inf
RULES = ("max_features", "require", "forbid", "implies", "at_most", "at_least", "together", "budget", "costs", "weights")
HEADER = "format version n p problems fingerprint gain loss bias cost penalty weight_bounds rules made".split()


class Fault(Exception):
    """What a proof does not prove, or a format that it does not keep."""


class Unable(Exception):
    """What this checker does not do."""


def need(condition, fault):
    if not condition:
        raise Fault(fault)


def dyadic(x):
    """(m, e) with x = m 2^e, exactly."""
    m, d = x.as_integer_ratio()
    return m, 1 - d.bit_length()


def lowest(numbers):
    """The exponent at which all of these doubles are integers; infinities do not count."""
    return min((dyadic(x)[1] for x in numbers if math.isfinite(x)), default=0)


def at(x, exponent):
    """The double as an integer times 2^exponent; infinities as they are."""
    if math.isinf(x):
        return x
    m, e = dyadic(x)
    return m << (e - exponent)


def power(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def count(mask):
    return bin(mask).count("1")


def bits(mask):
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


# Data


def read_bytes(path):
    with open(path, "rb") as file:
        start = file.read(2)
    opener = gzip.open if start == b"\x1f\x8b" else open
    with opener(path, "rb") as file:
        return file.read()


def number(text):
    try:
        value = float(text)
    except ValueError:
        raise Unable(f"{text!r} is no number: this checker reads numbers alone") from None
    if not math.isfinite(value):
        raise Unable(f"{text!r}: missing values and infinities are not read here")
    return value


def name_of(text):
    """A class or task: numbers that are equal are one."""
    text = text.strip()
    try:
        value = float(text)
    except ValueError:
        return text
    return str(int(value)) if value == int(value) else repr(value)


def by_number(names):
    """Classes in ascending order, as numbers where all are."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names, key=lambda name: name.encode())


class Data:
    """Columns of doubles, the class, weight and task of each sample."""

    def __init__(self, path, how):
        plain = path[:-3] if path.endswith(".gz") else path
        text = read_bytes(path).decode("utf-8-sig")
        self.tasks = None
        if plain.endswith((".svm", ".libsvm")):
            self.sparse = True
            self.read_svm(text)
        elif plain.endswith(".csv"):
            self.sparse = False
            self.read_csv(text, how)
        else:
            raise Unable("data are a .csv, .svm or .libsvm file, also .gz")

    def read_svm(self, text):
        classes, rows = [], []
        for line in text.splitlines():
            cells = line.split("#")[0].split()
            if cells:
                classes.append(name_of(cells[0]))
                rows.append([cell.split(":") for cell in cells[1:]])
        p = max((int(j) for row in rows for j, _ in row), default=0)
        self.columns = [[0.0] * len(rows) for _ in range(p)]
        for i, row in enumerate(rows):
            for j, value in row:
                self.columns[int(j) - 1][i] = number(value)
        self.names = [f"x{j + 1}" for j in range(p)]
        self.classes, self.weights = classes, [1.0] * len(rows)

    def read_csv(self, text, how):
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        names = [name.strip() for name in rows[0]]
        table = {name: [row[k].strip() for row in rows[1:]] for k, name in enumerate(names)}
        if len(table) != len(names):
            raise Unable("two columns have one name")
        target = how.target if how.target is not None else names[-1]
        special = [name for name in (target, how.weights, how.tasks) if name is not None]
        for name in special + how.drop:
            if name not in table:
                raise Unable(f"the data have no column {name!r}")
        self.names = [name for name in names if name not in special and name not in how.drop]
        self.columns = [[number(cell) for cell in table[name]] for name in self.names]
        self.classes = [name_of(cell) for cell in table[target]]
        self.weights = [number(cell) for cell in table[how.weights]] if how.weights else [1.0] * len(self.classes)
        self.tasks = [name_of(cell) for cell in table[how.tasks]] if how.tasks else None

    def scale(self, rule):
        if rule == "standard":
            self.columns = [standard(column) for column in self.columns]
        elif rule == "maxabs":
            self.columns = [maxabs(column) for column in self.columns]
        elif rule != "none":
            raise Unable(f"scaling {rule!r} is not known here")

    def weigh(self, rule):
        """The weights times those of classes."""
        if rule in (None, "none"):
            return
        sizes = {name: self.classes.count(name) for name in set(self.classes)}
        if rule == "balanced":
            factors = {name: len(self.classes) / (len(sizes) * size) for name, size in sizes.items()}
        elif isinstance(rule, dict):
            factors = {name: 1.0 for name in sizes} | {name_of(name): float(factor) for name, factor in rule.items()}
        else:
            raise Unable(f"class weights {rule!r} are not known here")
        self.weights = [weight * factors[name] for weight, name in zip(self.weights, self.classes)]

    def problems(self, multi_class):
        """For each two-class problem its samples and their labels."""
        tasks = sorted(set(self.tasks), key=lambda name: name.encode()) if self.tasks else [None]
        for task in tasks:
            rows = [i for i in range(len(self.classes)) if task is None or self.tasks[i] == task]
            classes = by_number({self.classes[i] for i in rows if self.weights[i] > 0})
            need(len(classes) >= 2, f"header: the data have one class alone{'' if task is None else f' in task {task}'}")
            of = {name: [i for i in rows if self.classes[i] == name] for name in classes}
            if len(classes) == 2 and task is None or multi_class == "one-vs-rest":
                for name in classes if len(classes) > 2 else classes[1:]:
                    yield rows, [1.0 if self.classes[i] == name else -1.0 for i in rows]
            else:
                for a in range(len(classes)):
                    for b in range(a + 1, len(classes)):
                        first, second = of[classes[a]], of[classes[b]]
                        yield first + second, [-1.0] * len(first) + [1.0] * len(second)


def standard(column):
    """Less the mean, over the standard deviation: in doubles, sums in the order of the rows."""
    n, total, squares = len(column), 0.0, 0.0
    for x in column:
        total += x - column[0]
    mean = column[0] + total / n
    for x in column:
        squares += (x - mean) * (x - mean)
    deviation = math.sqrt(squares / n)
    return [(x - mean) / deviation for x in column] if deviation > 0 else [0.0] * n


def maxabs(column):
    largest = max(map(abs, column))
    return [x / largest for x in column] if largest > 0 else column


def fingerprint(problems, p):
    sha = hashlib.sha256()
    for problem in problems:
        sha.update(struct.pack("<QQ", len(problem.labels), p))
        for rows, values in problem.columns:
            sha.update(b"".join(struct.pack("<Id", i, x) for i, x in zip(rows, values)) + b"\xff" * 4)
        sha.update(struct.pack(f"<{len(problem.labels)}d", *problem.labels))
        sha.update(struct.pack(f"<{len(problem.labels)}d", *problem.weights))
    return "sha256:" + sha.hexdigest()


class TwoClass:
    """A problem: the entries of each column other than 0, first as doubles, then as integers."""

    def __init__(self, data, rows, labels):
        self.labels, self.n = labels, len(labels)
        self.weights = [data.weights[i] for i in rows]
        self.columns = []
        for column in data.columns:
            entries = [(k, column[i]) for k, i in enumerate(rows) if column[i] != 0]
            self.columns.append(([k for k, _ in entries], [x for _, x in entries]))

    def prepare(self, cost, exponent, squared):
        self.costs = [cost * weight for weight in self.weights]
        need(all(map(math.isfinite, self.costs)), "header: the cost of a sample is infinite")
        self.columns = [(rows, [at(x, exponent) for x in values]) for rows, values in self.columns]
        # C_i = c_i 2^low, the least common multiple of the c_i, and how often each is in it
        self.low = lowest(self.costs)
        self.scaled = [at(c, self.low) for c in self.costs]
        self.multiple = 1
        if squared:
            for c in set(self.scaled) - {0}:
                self.multiple = self.multiple // math.gcd(self.multiple, c) * c
            self.shares = [self.multiple // c if c else 0 for c in self.scaled]

    def dot(self, j, dense):
        rows, values = self.columns[j]
        return sum(map(mul, dense if len(rows) == self.n else map(dense.__getitem__, rows), values))


# The file


class Reader:
    """The bytes of the file after the header."""

    def __init__(self, stream):
        self.stream, self.buffer, self.place = stream, b"", 0

    def take(self, size):
        while len(self.buffer) - self.place < size:
            more = self.stream.read(1 << 20)
            need(more, "the file ends early")
            self.buffer = self.buffer[self.place :] + more
            self.place = 0
        self.place += size
        return self.buffer[self.place - size : self.place]

    def done(self):
        return self.place == len(self.buffer) and not self.stream.read(1)

    def integer(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            need(value < 1 << 64 and shift < 70, "an integer of more than 64 bits")
            if byte < 128:
                return value
            shift += 7

    def signed(self):
        value = self.integer()
        return (value >> 1) ^ -(value & 1)

    def number(self):
        value = struct.unpack("<d", self.take(8))[0]
        need(not math.isnan(value), "a number is NaN")
        return value

    def size(self, limit):
        size = self.integer()
        need(size <= limit, f"a list of {size} entries where {limit} are the most")
        return size

    def ascending(self, limit):
        found, last = [], -1
        for k in range(self.size(limit)):
            step = self.integer()
            need(k == 0 or step > 0, "a list does not ascend")
            last = step if k == 0 else last + step
            need(last < limit, f"index {last} where {limit} is the limit")
            found.append(last)
        return found

    def as_many(self, entry, size):
        need(self.integer() == size, "a list is not as long as the one that it belongs to")
        return [entry() for _ in range(size)]


def no_doubles(pairs):
    need(len(dict(pairs)) == len(pairs), "header: a key stands twice")
    return dict(pairs)


def a_number(value, what, low=-INFINITY):
    need(isinstance(value, (int, float)) and not isinstance(value, bool), f"header: {what} is no number")
    try:
        value = float(value)
    except OverflowError:
        raise Fault(f"header: {what} is too large") from None
    need(math.isfinite(value) and value >= low, f"header: {what} is {value}")
    return value


def an_integer(value, what, limit=1 << 64):
    need(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit, f"header: {what} is {value!r}")
    return value


def a_list(value, what, length=None):
    need(isinstance(value, list) and (length is None or len(value) == length), f"header: {what} is no list, or of another length")
    return value


class Row:
    """Sum of weights of units in: at most, or at least, a limit. Units by mask, one for each weight."""

    def __init__(self, weights, limit, least=False):
        self.limit, self.least, masks = limit, least, {}
        for unit, weight in weights.items():
            if weight:
                masks[weight] = masks.get(weight, 0) | 1 << unit
        self.masks = sorted(masks.items())


class Claim:
    """The header: the problem, the rules as units and rows."""

    def __init__(self, line):
        try:
            head = json.loads(line.decode(), object_pairs_hook=no_doubles, parse_constant=lambda text: need(False, f"header: {text}"))
        except (ValueError, RecursionError):
            raise Fault("header: no JSON") from None
        need(isinstance(head, dict) and head.get("format") == "fewest-proof", "header: not a proof file")
        need(head.get("version") == 1, f"header: version {head.get('version')!r}")
        if head.get("gain") == "alignment":
            raise Unable("proofs of alignments (kta) are not checked here")
        need(set(head) <= set(HEADER), f"header: keys that are not known: {sorted(set(head) - set(HEADER))}")
        missing = set(HEADER) - set(head) - {"problems", "made"}
        need(not missing, f"header: keys are missing: {sorted(missing)}")
        self.n, self.p = an_integer(head["n"], "n"), an_integer(head["p"], "p")
        self.t = an_integer(head.get("problems", 1), "problems")
        self.fingerprint, self.made = head["fingerprint"], head.get("made") or {}
        self.l1, self.squared = head["gain"] == "l1", head["loss"] == "squared-hinge"
        need(head["gain"] in ("ridge", "l1"), f"header: gain {head['gain']!r}")
        need(head["loss"] in ("hinge", "squared-hinge"), f"header: loss {head['loss']!r}")
        need(not self.l1 or not self.squared and self.t == 1, "header: gain l1 takes the hinge loss and one problem")
        self.bias, self.s = head["bias"], None
        if isinstance(self.bias, dict):
            need(set(self.bias) == {"penalised"}, "header: bias")
            self.s = a_number(self.bias["penalised"], "the size of the bias")
            need(self.s > 0, "header: the size of the bias is not above 0")
        else:
            need(self.bias in ("free", "none"), f"header: bias {self.bias!r}")
        self.cost = a_number(head["cost"], "cost", 0.0)
        need(self.cost > 0, "header: cost is not above 0")
        self.penalty = [a_number(x, "a penalty") for x in a_list(head["penalty"], "penalty")]
        self.penalty = self.penalty or [0.0] * min(self.p, 1 << 24)
        need(len(self.penalty) == self.p, "header: penalties are not as many as features")
        self.bounds = [a_number(x, "a weight bound", 0.0) for x in a_list(head["weight_bounds"], "weight_bounds")]
        need(not self.bounds or self.l1 and len(self.bounds) == self.p, "header: weight bounds")
        self.bounds, self.rules = self.bounds or [INFINITY] * len(self.penalty), head["rules"]

    def read_rules(self):
        """Units, rows and the root; only once p is that of the data."""
        rules = self.rules
        need(isinstance(rules, dict) and set(rules) <= set(RULES), "header: rules that are not known")
        p = self.p

        def feature(j):
            return an_integer(j, "a feature in the rules", p)

        def features(key):
            return [feature(j) for j in a_list(rules.get(key) or [], key)]

        def pairs(key):
            return [a_list(entry, f"an entry of {key}", 2) for entry in a_list(rules.get(key) or [], key)]

        def groups(key):
            return [(an_integer(m, key), {feature(j) for j in a_list(group, key)}) for m, group in pairs(key)]

        size = rules.get("max_features")
        size = None if size is None else an_integer(size, "max_features")
        implies = [(feature(a), feature(b)) for a, b in pairs("implies")]
        together = [[feature(j) for j in a_list(group, "together")] for group in a_list(rules.get("together") or [], "together")]
        at_most, at_least = groups("at_most"), groups("at_least")
        self.units(implies + [(group[k - 1], j) for group in together for k, j in enumerate(group)])
        self.implied = {(self.unit[a], self.unit[b]) for a, b in implies if self.unit[a] != self.unit[b]}
        budget = rules.get("budget")
        costs = [a_number(x, "a price", 0.0) for x in a_list(rules.get("costs") or [], "costs")] or [1.0] * p
        need(len(costs) == p, "header: prices are not as many as features")
        # Rows for prices: coefficients by feature and the right side, all as doubles; and rows for conclusions
        self.rows, self.limits, self.room = [], [], p
        if size is not None:
            self.add_row(dict.fromkeys(range(p), 1.0), float(size), Fraction(size))
            self.room = min(self.room, size)
        if budget is not None:
            allowed = a_number(budget, "budget", 0.0) * (1 + 1e-9)
            need(math.isfinite(allowed), "header: budget is too large")
            self.add_row(dict(enumerate(costs)), allowed, Fraction(allowed))
            spent, fit = Fraction(0), 0
            for cost in sorted(costs):
                spent += Fraction(cost)
                fit += spent <= Fraction(allowed)
            self.room = min(self.room, fit)
        for a, b in implies:
            self.rows.append(({a: 1.0, b: -1.0} if a != b else {}, 0.0))
        for m, group in at_most:
            self.add_row(dict.fromkeys(group, 1.0), float(m), Fraction(m))
            if len(group) == p:
                self.room = min(self.room, m)
        for m, group in at_least:
            self.rows.append((dict.fromkeys(group, -1.0), -float(m)))
            self.limits.append(Row(self.by_unit(dict.fromkeys(group, 1.0)), Fraction(m), True))
        self.lower, self.upper = [-INFINITY] * p, [INFINITY] * p
        for entry in a_list(rules.get("weights") or [], "weights"):
            need(isinstance(entry, dict) and set(entry) <= {"feature", "lower", "upper"}, "header: a bound on a weight")
            j = feature(entry.get("feature"))
            low, high = entry.get("lower"), entry.get("upper")
            if low is not None:
                self.lower[j] = max(self.lower[j], a_number(low, "a lower bound"))
            if high is not None:
                self.upper[j] = min(self.upper[j], a_number(high, "an upper bound"))
            need(self.lower[j] <= 0 <= self.upper[j], f"header: the bounds on weight {j} leave out 0")
        self.finest = lowest(self.lower + self.upper + self.bounds)
        self.root = self.conclude(self.mask(features("require")), self.mask(features("forbid")))

    def add_row(self, coefficients, right, limit):
        self.rows.append((coefficients, right))
        self.limits.append(Row(self.by_unit(coefficients), limit))

    def by_unit(self, coefficients):
        total = {}
        for j, a in coefficients.items():
            total[self.unit[j]] = total.get(self.unit[j], 0) + Fraction(a)
        return total

    def mask(self, features):
        mask = 0
        for j in features:
            mask |= 1 << self.unit[j]
        return mask

    def units(self, edges):
        """Features that imply each other in a circle: strongly connected parts (Kosaraju)."""
        forward, back = {}, {}
        for a, b in edges:
            forward.setdefault(a, []).append(b)
            back.setdefault(b, []).append(a)
        order, seen = [], set()
        for start in forward:
            stack = [(start, iter(forward[start]))] if start not in seen else []
            seen.add(start)
            while stack:
                at_node, ways = stack[-1]
                step = next((b for b in ways if b not in seen), None)
                if step is None:
                    order.append(stack.pop()[0])
                else:
                    seen.add(step)
                    stack.append((step, iter(forward.get(step, []))))
        head = {}
        for start in reversed(order):
            stack = [start] if start not in head else []
            while stack:
                a = stack.pop()
                if a not in head:
                    head[a] = start
                    stack += [b for b in back.get(a, []) if b in seen and b not in head]
        numbers = {}
        self.unit = [numbers.setdefault(head.get(j, j), len(numbers)) for j in range(self.p)]
        self.members = [[] for _ in numbers]
        for j, u in enumerate(self.unit):
            self.members[u].append(j)
        self.all = (1 << len(numbers)) - 1

    def conclude(self, inside, outside):
        """What follows from the rules, to a fixed point; None for a box that holds no subset."""
        while True:
            before = inside, outside
            for a, b in self.implied:
                if inside >> a & 1:
                    inside |= 1 << b
                if outside >> b & 1:
                    outside |= 1 << a
            if inside & outside:
                return None
            for row in self.limits:
                if row.least:
                    rest = sum(w * count(mask & ~outside) for w, mask in row.masks) - row.limit
                else:
                    rest = row.limit - sum(w * count(mask & inside) for w, mask in row.masks)
                if rest < 0:
                    return None
                for weight, mask in reversed(row.masks):
                    if weight <= rest:
                        break
                    free = mask & ~inside & ~outside
                    inside, outside = (inside | free, outside) if row.least else (inside, outside | free)
            if (inside, outside) == before:
                return before


# Points and their bounds


class Point:
    """A dual point of all problems and prices of rows: checked, with what it says of features."""

    def __init__(self, claim, problems, exponent, reader):
        self.claim, self.problems = claim, problems
        e = reader.signed()
        need(-1074 <= e <= 971, f"exponent {e}")
        samples = reader.ascending(claim.n)
        values = reader.as_many(reader.integer, len(samples))
        rows = reader.ascending(len(claim.rows))
        prices = reader.as_many(reader.number, len(rows))
        need(all(0 <= tau < INFINITY for tau in prices), "a price is below 0 or infinite")
        need(all(0 < k < 1 << 53 for k in values), "a multiplier is 0 or has more than 53 bits")
        # D, exactly, and signed multipliers of each problem
        self.betas, first, self.value = [], 0, Fraction(0)
        alphas = dict(zip(samples, values))
        for problem in problems:
            k = [alphas.get(i, 0) for i in range(first, first + problem.n)]
            first += problem.n
            self.feasible(problem, k, e)
        self.shift, self.priced = e + exponent, list(zip(rows, prices))
        self.refine()

    def refine(self):
        """Sets the scales: scores, bounds and 1 are integers at `fine`, all values at `base`."""
        claim, rows, prices = self.claim, [r for r, _ in self.priced], [tau for _, tau in self.priced]
        self.fine = min(self.shift, claim.finest, 0)
        coefficient = lowest([a for r in rows for a in claim.rows[r][0].values()])
        right = lowest([claim.rows[r][1] for r in rows])
        self.base = min(2 * self.fine - 1, lowest(claim.penalty), lowest(prices) + min(coefficient, right, 0))
        self.one = 1 << -self.fine
        self.rates, self.right = {}, 0
        for r, tau in self.priced:
            coefficients, right = claim.rows[r]
            m, low = dyadic(tau)
            for j, a in coefficients.items():
                self.rates[j] = self.rates.get(j, 0) + m * at(a, self.base - low)
            self.right += m * at(right, self.base - low)
        self.scores, self.parts = {}, {}

    def feasible(self, problem, k, e):
        claim = self.claim
        for value, c in zip(k, problem.scaled):
            if value:
                low = min(e, problem.low)
                need(c > 0 and (claim.squared or value << (e - low) <= c << (problem.low - low)), "a multiplier is above its cost")
        beta = [value if y > 0 else -value for value, y in zip(k, problem.labels)]
        total = sum(beta)
        need(claim.bias != "free" or total == 0, "the multipliers of the classes do not add up to the same")
        self.betas.append(beta)
        self.value += sum(k) * power(e)
        if claim.squared:
            share = sum(map(mul, map(mul, k, k), problem.shares))
            self.value -= Fraction(share, problem.multiple) * power(2 * e - problem.low - 2)
        if claim.s is not None:
            size = abs(total) * power(e) * Fraction(claim.s)
            if claim.l1:
                need(size <= 1, "the multipliers of the classes differ by more than the bias allows")
            else:
                self.value -= size * size / 2

    def score(self, j):
        """c_j of each problem, at `fine`."""
        if j not in self.scores:
            move = self.shift - self.fine
            self.scores[j] = [problem.dot(j, beta) << move for problem, beta in zip(self.problems, self.betas)]
        return self.scores[j]

    def gain(self, j, cap):
        """g_j at 2 fine - 1; infinite where nothing bounds the weight."""
        low, high = self.claim.lower[j], self.claim.upper[j]
        if not self.claim.l1:
            total = 0
            for c in self.score(j):
                w = max(at(low, self.fine), min(at(high, self.fine), c))
                total += 2 * c * w - w * w
            return total
        (c,) = self.score(j)
        best = 0
        for bound, over in ((min(cap, high), c - self.one), (min(cap, -low), -c - self.one)):
            if over > 0 and bound > 0:
                best = INFINITY if bound == INFINITY else max(best, 2 * at(bound, self.fine) * over)
        return best

    def part(self, j, cap):
        """The part of a feature that is in, at `base`; None for minus infinity."""
        key = j, cap
        if key not in self.parts:
            gain = self.gain(j, cap)
            self.parts[key] = None if gain == INFINITY else self.fixed(j) - (gain << (2 * self.fine - 1 - self.base))
        return self.parts[key]

    def fixed(self, j):
        return at(self.claim.penalty[j], self.base) + self.rates.get(j, 0)

    def beyond(self, j, inner, cap):
        """The part of a feature whose weight is beyond `inner`; False where there is no such weight."""
        (c,) = self.score(j)
        least = False
        for bound, room in ((min(cap, self.claim.upper[j]), self.one - c), (min(cap, -self.claim.lower[j]), self.one + c)):
            if bound > inner:
                w = inner if room >= 0 else bound
                if w == INFINITY:
                    return None
                side = 2 * at(w, self.fine) * room
                least = side if least is False else min(least, side)
        return least if least is False else self.fixed(j) + (least << (2 * self.fine - 1 - self.base))


class Sums:
    """The bound of a box at a point, and of the same box with one decision changed."""

    def __init__(self, point, box):
        self.claim, self.point, self.box = point.claim, point, box
        self.inside = self.value(box.inside)
        self.room = self.claim.room - sum(len(self.claim.members[u]) for u in bits(box.inside))
        self.below, self.endless = [], set()
        for u in bits(self.claim.all & ~box.inside & ~box.outside):
            value = self.value(1 << u)
            if value is None:
                self.endless.add(u)
            elif value < 0:
                self.below.append((value, u))
        self.below.sort()
        self.rank = {u: k for k, (_, u) in enumerate(self.below)}
        self.prefix = [0]
        for value, _ in self.below:
            self.prefix.append(self.prefix[-1] + value)

    def value(self, units):
        total = 0
        for u in bits(units):
            for j in self.claim.members[u]:
                part = self.point.part(j, self.box.cap(j))
                if part is None:
                    return None
                total += part
        return total

    def bound(self, inside, room, without=None):
        """D and `inside` and the smallest `room` free units, one of them left aside."""
        if inside is None or room > 0 and self.endless - {without}:
            return -INFINITY
        rank = self.rank.get(without)
        if rank is not None and rank < room:
            least = self.prefix[min(room + 1, len(self.below))] - self.below[rank][0]
        else:
            least = self.prefix[min(max(room, 0), len(self.below))]
        total = inside + least - self.point.right
        return self.point.value + total * power(self.point.base)

    def whole(self):
        return self.bound(self.inside, self.room)

    def changed(self, u, take):
        """The bound with this unit in, or out; None where that cannot be."""
        if (self.box.inside if take else self.box.outside) >> u & 1:
            return self.whole()
        if (self.box.outside if take else self.box.inside) >> u & 1:
            return None
        if not take:
            return self.bound(self.inside, self.room, u)
        room = self.room - len(self.claim.members[u])
        value = self.value(1 << u)
        if room < 0:
            return None
        return self.bound(None if None in (value, self.inside) else self.inside + value, room, u)

    def beyond(self, j, inner):
        """The bound of weights of a feature beyond `inner`; None where there are none."""
        claim, u = self.claim, self.claim.unit[j]
        if self.box.outside >> u & 1:
            return None
        part = self.point.beyond(j, inner, self.box.cap(j))
        if part is False:
            return None
        others = [part] + [self.point.part(i, self.box.cap(i)) for i in claim.members[u] if i != j]
        if self.box.inside >> u & 1:
            others.append(self.value(self.box.inside & ~(1 << u)))
            room = self.room
        else:
            others.append(self.inside)
            room = self.room - len(claim.members[u])
        if room < 0:
            return None
        return self.bound(None if None in others else sum(others), room, u)


class Box:
    """An open set of subsets: units in, units out, weight bounds that were tightened, what its parts prove."""

    def __init__(self, claim, inside, outside, caps, least):
        self.claim, self.inside, self.outside, self.caps, self.least = claim, inside, outside, caps, least

    def cap(self, j):
        return self.caps.get(j, self.claim.bounds[j])


# The check


class Check:
    def __init__(self, claim, problems, exponent):
        self.claim, self.problems, self.exponent, root = claim, problems, exponent, claim.root
        self.boxes = {0: None if root is None else Box(claim, *root, {}, INFINITY)}
        self.made, self.point, self.rest = 1, None, INFINITY
        self.alone, self.listed = {}, []
        self.points = self.parts = self.records = 0

    def close(self, box, bound, inside=None, outside=None):
        """A part that is closed: its bound is that of one subset, or of all others."""
        self.parts += 1
        inside, outside = box.inside if inside is None else inside, box.outside if outside is None else outside
        bound = min(bound, box.least)
        if inside | outside == self.claim.all:
            self.alone[inside] = max(bound, self.alone.get(inside, -INFINITY))
        else:
            self.rest = min(self.rest, bound)

    def box(self, node):
        need(node in self.boxes, f"box {node} was closed or split, or never made")
        return self.boxes[node]

    def read_point(self, reader):
        kind = reader.integer()
        need(kind in (0, 1), f"point of kind {kind}")
        if kind == 1:
            self.point = Point(self.claim, self.problems, self.exponent, reader)
            self.points += 1
        need(self.point is not None, "the same point as before, and there was none")

    def settle(self, node, inside, outside, caps, least):
        found = self.claim.conclude(inside, outside)
        self.boxes[node] = None if found is None else Box(self.claim, *found, caps, least)

    def record(self, reader):
        """One record; the text of the last."""
        claim, kind = self.claim, reader.take(1)[0]
        self.records += 1
        if kind == 5:
            return self.subset(reader)
        if kind == 6:
            claimed, size = reader.number(), reader.integer()
            need(size <= 4096, "the text of the last record is too long")
            try:
                return claimed, reader.take(size).decode()
            except UnicodeDecodeError:
                raise Fault("the text of the last record is no UTF-8") from None
        need(kind in (1, 2, 3) or kind == 4 and claim.l1, f"a record of kind {kind}")
        node = reader.integer()
        box = self.box(node)
        if kind == 1:
            j = reader.integer()
            need(j < claim.p, f"feature {j}")
            bit = 1 << claim.unit[j]
            for child, inside, outside in ((self.made, bit, 0), (self.made + 1, 0, bit)):
                if box is None:
                    self.boxes[child] = None
                else:
                    self.settle(child, box.inside | inside, box.outside | outside, box.caps, box.least)
            self.made += 2
            del self.boxes[node]
            return None
        self.read_point(reader)
        if kind == 2:
            if box is not None:
                self.close(box, Sums(self.point, box).whole())
                del self.boxes[node]
        elif kind == 3:
            self.fix(node, box, reader.ascending(claim.p), reader.ascending(claim.p))
        else:
            features = reader.ascending(claim.p)
            self.tighten(node, box, features, reader.as_many(reader.number, len(features)))
        return None

    def fix(self, node, box, put_in, put_out):
        if box is None:
            return
        sums = Sums(self.point, box)
        for take, features in ((False, put_in), (True, put_out)):
            for u in bits(self.claim.mask(features)):
                bound = sums.changed(u, take)
                if bound is not None:
                    self.close(box, bound, box.inside | (1 << u if take else 0), box.outside | (0 if take else 1 << u))
        self.settle(node, box.inside | self.claim.mask(put_in), box.outside | self.claim.mask(put_out), box.caps, box.least)

    def tighten(self, node, box, features, inner):
        need(all(u >= 0 for u in inner), "a weight bound is below 0")
        if box is None:
            return
        caps, least = dict(box.caps), box.least
        self.claim.finest = min(self.claim.finest, lowest(inner))
        if self.claim.finest < self.point.fine:
            self.point.refine()
        sums = Sums(self.point, box)
        for j, u in zip(features, inner):
            need(u <= box.cap(j), f"the weight bound of feature {j} grows")
            bound = sums.beyond(j, u)
            if bound is not None:
                self.parts += 1
                least = min(least, bound)
            caps[j] = u
        self.boxes[node] = Box(self.claim, box.inside, box.outside, caps, least)

    def subset(self, reader):
        claim = self.claim
        features = reader.ascending(claim.p)
        stated, own = reader.number(), reader.number()
        mask = claim.mask(features)
        need(sum(len(claim.members[u]) for u in bits(mask)) == len(features), "a listed subset parts what belongs together")
        need(claim.root is not None, "a listed subset where the rules allow none")
        need(claim.root[0] & ~mask == 0 and claim.root[1] & mask == 0, "a listed subset is not allowed")
        need(claim.conclude(mask, claim.all & ~mask) is not None, "a listed subset is not allowed")
        need(all(mask != other for other, *_ in self.listed), "a subset is listed twice")
        objective = sum((Fraction(claim.penalty[j]) for j in features), Fraction(0))
        for problem in self.problems:
            weights, bias = reader.as_many(reader.number, len(features)), reader.number()
            need(all(map(math.isfinite, weights)) and math.isfinite(bias), "a weight is infinite")
            need(claim.bias != "none" or bias == 0, "a bias where there is none")
            for j, w in zip(features, weights):
                need(claim.lower[j] <= w <= claim.upper[j], f"the weight of feature {j} is beyond its bounds")
                need(not claim.l1 or abs(w) <= claim.bounds[j], f"the weight of feature {j} is beyond its bound")
            objective += self.objective(problem, features, weights, bias)
        need(
            objective <= Fraction(stated) + abs(Fraction(stated)) / 10**7 if math.isfinite(stated) else stated > 0,
            "objective is above the stated one",
        )
        self.listed.append((mask, features, objective, own))

    def objective(self, problem, features, weights, bias):
        claim = self.claim
        low = min(lowest(weights) + self.exponent, lowest([bias]), 0)
        scores = [at(bias, low)] * problem.n
        for j, w in zip(features, weights):
            factor = at(w, low - self.exponent)
            for i, x in zip(*problem.columns[j]):
                scores[i] += factor * x
        loss = 0
        for score, y, c in zip(scores, problem.labels, problem.scaled):
            miss = (1 << -low) - (score if y > 0 else -score)
            if miss > 0:
                loss += c * (miss * miss if claim.squared else miss)
        total = loss * power(problem.low + (2 * low if claim.squared else low))
        if claim.s is not None:
            part = abs(Fraction(bias)) / Fraction(claim.s)
            total += part if claim.l1 else part * part / 2
        return total + sum(abs(Fraction(w)) if claim.l1 else Fraction(w) ** 2 / 2 for w in weights)

    def verdict(self, claimed):
        rest = self.rest if all(box is None for box in self.boxes.values()) else -INFINITY
        listed = {mask for mask, *_ in self.listed}
        for mask, bound in self.alone.items():
            if mask not in listed:
                rest = min(rest, bound)
        best = min(self.listed, key=lambda entry: entry[2], default=None)
        slack = abs(best[2] if best else Fraction(claimed) if math.isfinite(claimed) else Fraction(0)) / 10**7
        own = [self.alone.get(mask, rest) for mask, *_ in self.listed]
        for k, (proven, (_, _, _, stated)) in enumerate(zip(own, self.listed)):
            need(
                reaches(proven, stated, slack),
                f"subset {k}: the bound proven, {show(proven)}, does not reach the one claimed, {show(stated)}",
            )
        need(reaches(rest, claimed, slack), f"the bound proven, {show(rest)}, does not reach the one claimed, {show(claimed)}")
        return best, min([rest] + own), rest


def reaches(proven, claimed, slack):
    if proven == INFINITY or claimed == -INFINITY:
        return True
    return proven != -INFINITY and claimed != INFINITY and proven >= Fraction(claimed) - slack


def show(value):
    return f"{float(value):.12g}"


class How:
    """What `made` says of how the data were read, and refuses what is not read here."""

    def __init__(self, made):
        self.made = made


def check(proof, path):
    """What a proof proves of these data; raises Fault or Unable."""
    with gzip.open(proof, "rb") as stream:
        try:
            return read(stream, path)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Fault(f"the file cannot be unpacked: {error}") from None


def read(stream, path):
    line = stream.readline(1 << 26)
    need(line.endswith(b"\n"), "header: no line, or one of more than 64 MiB")
    claim = Claim(line)
    how = How(claim.made)
    data = Data(path, how)
    data.weigh(how.class_weight)
    data.scale(how.scale)
    problems = [TwoClass(data, rows, labels) for rows, labels in data.problems(how.multi_class)]
    n, p = sum(problem.n for problem in problems), len(data.columns)
    need(
        (n, p, len(problems)) == (claim.n, claim.p, claim.t),
        f"header: the data have {n} samples, {p} features, {len(problems)} problems",
    )
    found = fingerprint(problems, p)
    need(found == claim.fingerprint, f"header: the data's fingerprint is {found}, the proof's {claim.fingerprint}")
    claim.read_rules()
    exponent = min(lowest(values) for problem in problems for _, values in problem.columns)
    for problem in problems:
        problem.prepare(claim.cost, exponent, claim.squared)
    work, reader, end = Check(claim, problems, exponent), Reader(stream), None
    while end is None:
        try:
            end = work.record(reader)
        except Fault as fault:
            raise Fault(f"record {work.records}: {fault}") from None
    need(reader.done(), "something follows the last record")
    best, bound, rest = work.verdict(end[0])
    names = [data.names[j] for j in best[1]] if best else None
    found = {"selected": names, "objective": best[2] if best else None, "bound": bound, "rest": rest, "status": end[1], "features": p}
    return found | {"points": work.points, "parts": work.parts, "records": work.records, "solutions": len(work.listed)}


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    try:
        found = check(sys.argv[1], sys.argv[2])
    except Fault as fault:
        print(f"NOT VERIFIED  {fault}")
        return 1
    except (Unable, OSError, UnicodeDecodeError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        return 2
    objective, bound = found["objective"], found["bound"]
    print("VERIFIED")
    if objective is not None:
        print(f"selected   {len(found['selected'])} of {found['features']} features: {', '.join(found['selected'])}")
        print(f"objective  at most {show(objective)}")
    print(f"bound      {show(bound)}")
    if objective and math.isfinite(bound):
        print(f"gap        {float(max(objective - bound, 0) / objective):.3g}")
    if found["solutions"] > 1:
        print(f"listed     {found['solutions']} subsets, all others {show(found['rest'])}")
    print(f"status     {found['status']!r} (not checked)")
    print(f"checked    {found['records']} records, {found['points']} dual points, {found['parts']} parts, exactly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
