"""The second checker of proof files: exact arithmetic, the standard library alone.

    python3 tools/check_proof.py PROOF DATA [SECONDS [GIB]]

Stops after SECONDS (3600) and at GIB of memory (8), where the system can limit them. DATA is the .csv, .svm or .libsvm file (also .gz) that the run read. Prints VERIFIED with what was
proven, or the first fault (exit code 1). What it does not check (proofs of alignments, missing values,
text columns, `--validate`) it says (exit code 2). Written from docs/formats/proof.md alone, without reading
`crates/fewest-verify`; proof_data.py reads the data. Doubles are integers times powers of two, so
bounds and objectives are exact fractions: nothing is rounded, and no error analysis is needed.
"""

import csv
import gzip
import hashlib
import json
import math
import os
import signal
import struct
import sys
import zlib
from collections import namedtuple
from fractions import Fraction
from operator import mul

from proof_data import Data, Fault, Unable, need, visible

try:
    import resource
except ImportError:
    # Windows has none.
    resource = None

INFINITY, TWO = math.inf, Fraction(2)
RULES = {"max_features", "require", "forbid", "implies", "at_most", "at_least", "together", "budget", "costs", "weights"}
STATUSES = {"optimal", "completed", "time_limit", "call_limit", "node_limit", "cancelled", "infeasible", "stalled"}
OF_ALIGNMENTS = {"kernel", "gamma", "categorical", "centre"}
HEADER = {"format", "version", "n", "p", "fingerprint", "gain", "loss", "bias", "cost", "rules"}


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


def bits(mask):
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


class Problem:
    """Two classes: the entries of each column other than 0, first as doubles, then as integers."""

    def __init__(self, data, rows, labels):
        self.labels, self.n, self.columns = labels, len(labels), []
        self.weights = [data.weights[i] for i in rows]
        for column in data.columns:
            values = [column[i] for i in rows]
            places = [k for k, x in enumerate(values) if x != 0]
            self.columns.append((places, [values[k] for k in places]))

    def feed(self, sha, p):
        sha.update(struct.pack("<QQ", self.n, p))
        for rows, values in self.columns:
            sha.update(b"".join(struct.pack("<Id", i, x) for i, x in zip(rows, values)) + b"\xff" * 4)
        sha.update(struct.pack(f"<{2 * self.n}d", *self.labels, *self.weights))

    def prepare(self, cost, exponent, squared):
        """Columns become integers times 2^exponent, costs `costs` times 2^low, 1 / costs `shares` over `multiple`."""
        self.columns = [(rows, [at(x, exponent) for x in values]) for rows, values in self.columns]
        costs = [cost * weight for weight in self.weights]
        need(cost <= 1e40 and max(self.weights) <= 1e30, "header: the cost is above 1e40, or a weight above 1e30")
        self.low, self.multiple = lowest(costs), 1
        self.costs = [at(c, self.low) for c in costs]
        if squared:
            for c in set(self.costs) - {0}:
                self.multiple = self.multiple // math.gcd(self.multiple, c) * c
            self.shares = [self.multiple // c if c else 0 for c in self.costs]

    def dot(self, j, dense):
        rows, values = self.columns[j]
        return sum(map(mul, dense if len(rows) == self.n else map(dense.__getitem__, rows), values))


class Reader:
    """The bytes of the file after the header."""

    def __init__(self, stream):
        self.stream = stream

    def take(self, size):
        taken = self.stream.read(size)
        need(len(taken) == size, "the file ends early")
        return taken

    def integer(self):
        value, shift, byte = 0, 0, 128
        while byte >= 128:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            need(value < 1 << 64 and shift <= 70, "an integer of more than 64 bits")
        return value

    def number(self):
        (value,) = struct.unpack("<d", self.take(8))
        need(not math.isnan(value), "a number is NaN")
        return value

    def ascending(self, limit):
        size, found = self.integer(), []
        need(size <= limit, f"a list of {size} entries where {limit} are the most")
        for k in range(size):
            step = self.integer()
            need(k == 0 or step > 0, "a list does not ascend")
            found.append(step + found[-1] if k else step)
            need(found[-1] < limit, f"index {found[-1]} where {limit} is the limit")
        return found

    def as_many(self, entry, others):
        need(self.integer() == len(others), "a list is not as long as the one that it belongs to")
        return [entry() for _ in others]


def no_doubles(pairs):
    need(len(dict(pairs)) == len(pairs), "header: a key stands twice")
    return dict(pairs)


def real(value, low=-INFINITY):
    need(type(value) in (int, float) and abs(value) <= sys.float_info.max and value >= low, f"header: {value!r} is no such number")
    return float(value)


def whole(value, limit=1 << 64):
    need(type(value) is int and 0 <= value < limit, f"header: {value!r} is no such integer")
    return value


def entries(value, entry):
    need(isinstance(value, list), f"header: {value!r} is no list")
    return [entry(x) for x in value]


class Claim:
    """The header: the problem, and the rules as units and rows."""

    def __init__(self, line):
        try:
            head = json.loads(line.decode(), object_pairs_hook=no_doubles, parse_constant=lambda text: need(False, f"header: {text}"))
        except (ValueError, RecursionError):
            raise Fault("header: no JSON") from None
        version = isinstance(head, dict) and head.get("format") == "fewest-proof" and head.get("version")
        need(type(version) is int and version == 1, "header: no proof file")
        if head.get("gain") == "alignment":
            raise Unable("proofs of alignments (kta) are not checked here")
        # Keys of alignments may be there, and say nothing.
        known = HEADER | {"problems", "penalty", "weight_bounds", "made"} | {key for key in OF_ALIGNMENTS if not head.get(key, 1)}
        need(HEADER <= set(head) <= known, "header: a key is missing, or not known")
        self.n, self.p, self.t = whole(head["n"]), whole(head["p"]), whole(head.get("problems", 1))
        need(len(line) <= (1 << 20) + 256 * self.p, "header: it is too long for its features")
        self.fingerprint, self.rules, self.made = head["fingerprint"], head["rules"], head.get("made") or {}
        need(head["gain"] in ("ridge", "l1") and head["loss"] in ("hinge", "squared-hinge"), "header: gain or loss")
        self.l1, self.squared = head["gain"] == "l1", head["loss"] == "squared-hinge"
        need(not self.l1 or (not self.squared and self.t == 1), "header: gain l1 takes the hinge loss and one problem")
        self.bias, self.s = head["bias"], None
        if isinstance(self.bias, dict) and set(self.bias) == {"penalised"}:
            self.s = real(self.bias["penalised"], math.ulp(0.0))
        else:
            need(self.bias in ("free", "none"), f"header: bias {self.bias!r}")
        self.cost, self.penalty = real(head["cost"], 1e-40), entries(head.get("penalty", []), lambda price: real(price, 0.0))
        self.caps = entries(head.get("weight_bounds", []), lambda u: real(u, 0.0))
        need(self.l1 or not self.caps, "header: weight bounds without gain l1")

    def read_rules(self):
        """Units, rows and the root; only once p is known to be that of the data."""
        rules, p = self.rules, self.p
        need(isinstance(rules, dict) and set(rules) <= RULES, "header: rules that are not known")
        self.penalty, self.caps = self.penalty or [0.0] * p, self.caps or [INFINITY] * p
        need(len(self.penalty) == len(self.caps) == p, "header: a list is not as long as features are many")

        def feature(j):
            return whole(j, p)

        def group(entry):
            need(isinstance(entry, list) and len(entry) == 2, f"header: {entry!r} is no pair")
            return whole(entry[0]), entries(entry[1], feature)

        lists = {"require": feature, "forbid": feature, "costs": lambda c: real(c, 0.0), "at_most": group, "at_least": group}
        lists |= {"implies": lambda pair: entries(pair, feature), "together": lambda members: entries(members, feature)}
        lists = {key: entries(rules.get(key, []), entry) for key, entry in lists.items()}
        need(len(lists["costs"]) in (0, p), "header: costs are not as many as features")
        need(all(len(pair) == 2 for pair in lists["implies"]), "header: an implication is no pair")
        self.find_units(lists["implies"] + [(members[k - 1], j) for members in lists["together"] for k, j in enumerate(members)])
        self.implied = {(self.unit[a], self.unit[b]) for a, b in lists["implies"] if self.unit[a] != self.unit[b]}
        # Rows: coefficients by feature, right side. Counts: units by weight, limit, its sense
        self.rows, self.counts, self.room = [], [], p
        if rules.get("max_features") is not None:
            self.room = min(p, whole(rules["max_features"]))
            self.add_row(dict.fromkeys(range(p), 1.0), float(rules["max_features"]))
        if rules.get("budget") is not None:
            budget, costs = real(rules["budget"], 0.0) * (1 + 1e-9), lists["costs"]
            need(budget < INFINITY and len(costs) == p, "header: budget or prices")
            self.add_row(dict(enumerate(costs)), budget)
            spent = Fraction(0)
            for k, cost in enumerate(sorted(costs)):
                spent += Fraction(cost)
                self.room = min(self.room, k) if spent > Fraction(budget) else self.room
        for a, b in lists["implies"]:
            self.rows.append(({a: 1.0, b: -1.0} if a != b else {}, 0.0))
        for m, members in lists["at_most"]:
            self.add_row(dict.fromkeys(members, 1.0), float(m))
            self.room = min(self.room, m) if len(set(members)) == p else self.room
        for m, members in lists["at_least"]:
            self.add_row(dict.fromkeys(members, -1.0), -float(m))
        self.low, self.high = [-INFINITY] * p, [INFINITY] * p
        for bound in entries(rules.get("weights", []), lambda bound: bound):
            need(isinstance(bound, dict) and set(bound) <= {"feature", "lower", "upper"}, "header: a bound on a weight")
            j, low, high = feature(bound.get("feature")), bound.get("lower"), bound.get("upper")
            self.low[j] = max(self.low[j], -INFINITY if low is None else real(low))
            self.high[j] = min(self.high[j], INFINITY if high is None else real(high))
            need(self.low[j] <= 0 <= self.high[j], f"header: the bounds on weight {j} leave out 0")
        self.finest = lowest(self.low + self.high + self.caps)
        self.root = self.conclude(self.mask(lists["require"]), self.mask(lists["forbid"]))

    def add_row(self, coefficients, right):
        self.rows.append((coefficients, right))
        weights, masks, least = {}, {}, right < 0 or min(coefficients.values(), default=0) < 0
        for j, a in coefficients.items():
            weights[self.unit[j]] = weights.get(self.unit[j], 0) + abs(Fraction(a))
        for u, weight in weights.items():
            masks[weight] = masks.get(weight, 0) | 1 << u
        self.counts.append((sorted(masks.items(), reverse=True), abs(Fraction(right)), least))

    def mask(self, features):
        mask = 0
        for j in features:
            mask |= 1 << self.unit[j]
        return mask

    def find_units(self, edges):
        """Units: features that imply each other, directly or through others."""
        reach, before = {j: 1 << j for edge in edges for j in edge}, None
        while before != reach:
            before = dict(reach)
            for a, b in edges:
                reach[a] |= reach[b]
        numbers = {}
        heads = [next((i for i in bits(reach[j]) if reach[i] >> j & 1), j) if j in reach else j for j in range(self.p)]
        self.unit = [numbers.setdefault(head, len(numbers)) for head in heads]
        self.members = [[] for _ in numbers]
        for j, u in enumerate(self.unit):
            self.members[u].append(j)
        self.all = (1 << len(numbers)) - 1

    def size(self, mask):
        return sum(len(self.members[u]) for u in bits(mask))

    def conclude(self, inside, outside):
        """What follows from the rules, to a fixed point; None for a box that holds no subset."""
        before = None
        while before != (inside, outside):
            before = inside, outside
            for a, b in self.implied:
                inside |= (inside >> a & 1) << b
                outside |= (outside >> b & 1) << a
            if inside & outside:
                return None
            for masks, limit, least in self.counts:
                counted = ~outside if least else inside
                rest = sum(weight * bin(mask & counted).count("1") for weight, mask in masks) - limit
                rest = rest if least else -rest
                if rest < 0:
                    return None
                for weight, mask in masks:
                    if weight <= rest:
                        break
                    free = mask & ~inside & ~outside
                    inside, outside = (inside | free, outside) if least else (inside, outside | free)
        return before


class Point:
    """A dual point of all problems and prices of rows: checked, with what it says of features."""

    def __init__(self, claim, problems, exponent, reader):
        self.claim, self.problems = claim, problems
        e = reader.integer()
        e = (e >> 1) ^ -(e & 1)
        need(-1074 <= e <= 971, f"exponent {e}")
        samples = reader.ascending(claim.n)
        alphas = dict(zip(samples, reader.as_many(reader.integer, samples)))
        rows = reader.ascending(len(claim.rows))
        self.prices = list(zip(rows, reader.as_many(reader.number, rows)))
        need(all(0 <= tau < INFINITY for _, tau in self.prices), "a price is below 0 or infinite")
        need(all(0 < k < 1 << 53 for k in alphas.values()), "a multiplier is 0 or has more than 53 bits")
        self.betas, self.value, first = [], Fraction(0), 0
        for problem in problems:
            self.add(problem, [alphas.get(first + i, 0) for i in range(problem.n)], e)
            first += problem.n
        self.shift = e + exponent
        self.refine()

    def add(self, problem, alpha, e):
        """Checks that the multipliers of a problem are feasible, and adds its D to `value`."""
        claim, low = self.claim, min(e, problem.low)
        for k, c in zip(alpha, problem.costs):
            if k:
                need(c > 0 and (claim.squared or k << (e - low) <= c << (problem.low - low)), "a multiplier is above its cost")
        self.betas.append([k if y > 0 else -k for k, y in zip(alpha, problem.labels)])
        total = sum(self.betas[-1])
        need(claim.bias != "free" or total == 0, "the multipliers of both classes do not add up to the same")
        self.value += sum(alpha) * TWO ** (e)
        if claim.squared:
            share = sum(map(mul, map(mul, alpha, alpha), problem.shares))
            self.value -= Fraction(share, problem.multiple) * TWO ** (2 * e - problem.low - 2)
        if claim.s is not None:
            size = abs(total) * TWO ** (e) * Fraction(claim.s)
            need(not claim.l1 or size <= 1, "the multipliers of the classes differ by more than the bias allows")
            self.value -= 0 if claim.l1 else size * size / 2

    def refine(self):
        """Sets the scales: scores, bounds and 1 are integers at `fine`, parts of features at `base`."""
        claim = self.claim
        self.fine = min(self.shift, claim.finest, 0)
        used = [a for r, _ in self.prices for a in (*claim.rows[r][0].values(), claim.rows[r][1])]
        self.base = min(2 * self.fine - 1, lowest(claim.penalty), lowest([tau for _, tau in self.prices]) + lowest(used))
        self.scores, self.parts, self.rates, self.right = {}, {}, {}, 0
        for r, tau in self.prices:
            m, e = dyadic(tau)
            for j, a in claim.rows[r][0].items():
                self.rates[j] = self.rates.get(j, 0) + m * at(a, self.base - e)
            self.right += m * at(claim.rows[r][1], self.base - e)

    def part(self, j, cap, inner=None):
        """The part of a feature that is in, or, of those with gain l1, of its weights beyond `inner`, at
        `base`; None where it is minus infinity, INFINITY where there are no such weights."""
        key, claim = (j, cap, inner), self.claim
        if key in self.parts:
            return self.parts[key]
        if j not in self.scores:
            self.scores[j] = [problem.dot(j, beta) << (self.shift - self.fine) for problem, beta in zip(self.problems, self.betas)]
        if claim.l1:
            (c,), one, least = self.scores[j], 1 << -self.fine, 0 if inner is None else INFINITY
            for bound, price in ((min(cap, claim.high[j]), one - c), (min(cap, -claim.low[j]), one + c)):
                if least is not None and bound > (inner or 0):
                    w = (inner or 0.0) if price >= 0 else bound
                    least = None if w == INFINITY else min(least, 2 * at(w, self.fine) * price)
        else:
            least, low, high = 0, at(claim.low[j], self.fine), at(claim.high[j], self.fine)
            for c in self.scores[j]:
                w = max(low, min(high, c))
                least += w * w - 2 * c * w
        if least not in (None, INFINITY):
            least = (least << (2 * self.fine - 1 - self.base)) + at(claim.penalty[j], self.base) + self.rates.get(j, 0)
        self.parts[key] = least
        return least


Box = namedtuple("Box", "inside outside caps least")  # units in and out, weight bounds, what closed parts of it prove


class Sums:
    """The bound of a box at a point, and of the same box with one unit decided otherwise."""

    def __init__(self, point, box):
        self.claim, self.point, self.box = point.claim, point, box
        self.room = self.claim.room - self.claim.size(box.inside)
        self.values = {u: self.value(u) for u in bits(self.claim.all & ~box.outside)}
        free = {u: value for u, value in self.values.items() if not box.inside >> u & 1}
        self.endless = {u for u, value in free.items() if value is None}
        self.below = sorted((value, u) for u, value in free.items() if value is not None and value < 0)
        self.rank = {u: k for k, (_, u) in enumerate(self.below)}
        self.prefix = [0]
        for value, _ in self.below:
            self.prefix.append(self.prefix[-1] + value)
        self.open = [u for u in bits(box.inside) if self.values[u] is None]
        self.inside = sum(self.values[u] for u in bits(box.inside) if self.values[u] is not None)

    def value(self, u, own=None, j=None):
        """The value of a unit, with `own` in place of the part of its feature j."""
        parts = [own if i == j else self.point.part(i, self.box.caps[i]) for i in self.claim.members[u]]
        return None if None in parts else sum(parts)

    def bound(self, without=None, value=0, room=None):
        """The bound of the box, with a unit left out and this value counted in its place."""
        room = min(max(self.room if room is None else room, 0), len(self.below))
        inside = self.inside
        if without is not None and self.box.inside >> without & 1:
            inside -= self.values[without] or 0
        if value is None or set(self.open) - {without} or (room > 0 and self.endless - {without}):
            return -INFINITY
        least = self.prefix[room]
        if self.rank.get(without, room) < room:
            least = self.prefix[min(room + 1, len(self.below))] - self.below[self.rank[without]][0]
        return self.point.value + (inside + value + least - self.point.right) * TWO ** (self.point.base)

    def changed(self, u, take, own=None, j=None):
        """The bound with this unit in, or out; None where that cannot be."""
        if (self.box.outside if take else self.box.inside) >> u & 1:
            return None
        if not take:
            return self.bound() if self.box.outside >> u & 1 else self.bound(u)
        value = self.values[u] if j is None else self.value(u, own, j)
        room = self.room - (0 if self.box.inside >> u & 1 else len(self.claim.members[u]))
        return self.bound(u, value, room) if room >= 0 else None


class Check:
    """The records in turn, on the boxes that are open."""

    def __init__(self, claim, problems, exponent):
        self.claim, self.problems, self.exponent = claim, problems, exponent
        self.boxes = {0: claim.root and Box(*claim.root, claim.caps, INFINITY)}  # None: found empty
        self.nodes, self.point, self.rest, self.alone, self.listed = 1, None, INFINITY, {}, []
        self.points = self.parts = self.records = 0

    def close(self, box, bound, inside=0, outside=0):
        """A part that is closed: its bound is that of one subset, or of all others."""
        self.parts += 1
        bound, inside, outside = min(bound, box.least), box.inside | inside, box.outside | outside
        if inside | outside == self.claim.all:
            self.alone[inside] = max(bound, self.alone.get(inside, -INFINITY))
        else:
            self.rest = min(self.rest, bound)

    def settle(self, node, box, inside, outside):
        found = box and self.claim.conclude(box.inside | inside, box.outside | outside)
        self.boxes[node] = found and Box(*found, box.caps, box.least)

    def record(self, reader):
        """Takes one record; returns the bound that the last one claims."""
        claim, kind = self.claim, reader.take(1)[0]
        self.records += 1
        if kind == 5:
            return self.subset(reader)
        if kind == 6:
            claimed, size = reader.number(), reader.integer()
            need(size <= 16 and reader.take(size).decode() in STATUSES, "a status that is not known")
            return claimed
        need(kind in (1, 2, 3) or (kind == 4 and claim.l1), f"a record of kind {kind}")
        node = reader.integer()
        need(node in self.boxes, f"box {node} was closed or split, or never made")
        box = self.boxes[node]
        if kind == 1:
            feature = reader.integer()
            need(feature < claim.p, f"feature {feature}")
            self.settle(self.nodes, box, claim.mask([feature]), 0)
            self.settle(self.nodes + 1, box, 0, claim.mask([feature]))
            self.nodes += 2
            del self.boxes[node]
            return
        new = reader.integer()
        need(new == 1 or (new == 0 and self.point), "a point of a kind that is not known, or the same as none")
        if new:
            self.point = Point(claim, self.problems, self.exponent, reader)
            self.points += 1
        if kind == 2:
            if box:
                self.close(box, Sums(self.point, box).bound())
            del self.boxes[node]
        elif kind == 3:
            put_in, put_out = claim.mask(reader.ascending(claim.p)), claim.mask(reader.ascending(claim.p))
            need(put_in | put_out, "a fix of no feature")
            sums = box and Sums(self.point, box)
            for take, mask in ((False, put_in), (True, put_out)) if box else ():
                for u in bits(mask):
                    bound = sums.changed(u, take)
                    if bound is not None:
                        self.close(box, bound, take << u, (not take) << u)
            self.settle(node, box, put_in, put_out)
        else:
            features = reader.ascending(claim.p)
            self.tighten(node, box, features, reader.as_many(reader.number, features))

    def tighten(self, node, box, features, bounds):
        need(bounds and all(u >= 0 for u in bounds), "no weight bound, or one below 0")
        if not box:
            return
        self.claim.finest = min(self.claim.finest, lowest(bounds))
        if self.claim.finest < self.point.fine:
            self.point.refine()
        sums, caps, least = Sums(self.point, box), list(box.caps), box.least
        for j, inner in zip(features, bounds):
            need(inner <= box.caps[j], f"the weight bound of feature {j} grows")
            caps[j], part = inner, self.point.part(j, box.caps[j], inner)
            bound = None if part == INFINITY else sums.changed(self.claim.unit[j], True, part, j)
            if bound is not None:
                self.parts += 1
                least = min(least, bound)
        self.boxes[node] = Box(box.inside, box.outside, caps, least)

    def subset(self, reader):
        claim, features = self.claim, reader.ascending(self.claim.p)
        stated, own, mask = reader.number(), reader.number(), claim.mask(features)
        allowed = claim.root and claim.conclude(claim.root[0] | mask, claim.all & ~mask)
        need(allowed and claim.root[1] & mask == 0 and claim.size(mask) == len(features), "a listed subset is not allowed")
        need(all(mask != other for other, *_ in self.listed), "a subset is listed twice")
        objective = sum(Fraction(claim.penalty[j]) for j in features)
        for problem in self.problems:
            weights, bias = reader.as_many(reader.number, features), reader.number()
            need(all(map(math.isfinite, [*weights, bias])), "a weight is infinite")
            need(claim.bias != "none" or bias == 0, "a bias where there is none")
            for j, w in zip(features, weights):
                need(claim.low[j] <= w <= claim.high[j] and abs(w) <= claim.caps[j], f"the weight of feature {j} is beyond its bounds")
            objective += self.objective(problem, features, weights, bias)
        need(math.isfinite(stated), "an objective is infinite")
        reached = objective <= Fraction(stated) + abs(Fraction(stated)) / 10**7
        need(reached, f"the objective is {show(objective)}, above the one stated, {show(stated)}")
        self.listed.append((mask, features, objective, own))

    def objective(self, problem, features, weights, bias):
        claim, low = self.claim, min(lowest(weights) + self.exponent, lowest([bias]), 0)
        scores, loss = [at(bias, low)] * problem.n, 0
        for j, w in zip(features, weights):
            factor = at(w, low - self.exponent)
            for i, x in zip(*problem.columns[j]):
                scores[i] += factor * x
        for score, y, c in zip(scores, problem.labels, problem.costs):
            miss = max((1 << -low) - (score if y > 0 else -score), 0)
            loss += c * (miss * miss if claim.squared else miss)
        total = loss * TWO ** (problem.low + (2 * low if claim.squared else low))
        weights = [Fraction(w) for w in weights] + ([] if claim.s is None else [Fraction(bias) / Fraction(claim.s)])
        return total + sum(abs(w) if claim.l1 else w * w / 2 for w in weights)

    def verdict(self, claimed):
        rest = -INFINITY if any(self.boxes.values()) else self.rest
        listed = {mask for mask, *_ in self.listed}
        rest = min([rest] + [bound for mask, bound in self.alone.items() if mask not in listed])
        best = min(self.listed, key=lambda entry: entry[2], default=None)
        slack = abs(best[2] if best else Fraction(claimed) if math.isfinite(claimed) else Fraction(0)) / 10**7
        own = [self.alone.get(mask, rest) for mask, *_ in self.listed]
        for proven, stated in [*zip(own, (entry[3] for entry in self.listed)), (rest, claimed)]:
            reached = proven == INFINITY or stated == -INFINITY
            reached = reached or (proven != -INFINITY and stated != INFINITY and proven >= Fraction(stated) - slack)
            need(reached, f"end: the bound proven, {show(proven)}, does not reach the one claimed, {show(stated)}")
        return best, min([rest, *own]), rest, [(entry[2], bound) for entry, bound in zip(self.listed, own)]


def show(value):
    return f"{float(value):.12g}" if abs(value) < 1 << 1000 else "-infinity" if value < 0 else "infinity"


def check(stream, path):
    """What a proof proves of these data; raises Fault or Unable."""
    line = stream.readline((1 << 26) + 1)
    need(line.endswith(b"\n"), "header: no line, or one of more than 64 MiB")
    claim = Claim(line)
    try:
        data = Data(path, claim.made)
        problems = [Problem(data, *taken) for taken in data.problems(claim.made.get("settings", {}).get("multi_class"))]
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, ZeroDivisionError, csv.Error) as error:
        raise Unable(f"the data are not as the proof says, or it says something else than proofs do ({error})") from None
    shape = sum(problem.n for problem in problems), len(data.columns), len(problems)
    need(shape == (claim.n, claim.p, claim.t), "header: the data have {} samples, {} features, {} problems".format(*shape))
    sha = hashlib.sha256()
    for problem in problems:
        problem.feed(sha, claim.p)
    need(claim.fingerprint == f"sha256:{sha.hexdigest()}", f"header: the data's fingerprint is sha256:{sha.hexdigest()}")
    claim.read_rules()
    exponent = min(lowest(values) for problem in problems for _, values in problem.columns)
    for problem in problems:
        problem.prepare(claim.cost, exponent, claim.squared)
    work, reader, end = Check(claim, problems, exponent), Reader(stream), None
    while end is None:
        try:
            end = work.record(reader)
        except (Fault, UnicodeDecodeError) as fault:
            raise Fault(f"record {work.records}: {fault}") from None
    need(not stream.read(1), "something follows the last record")
    best, bound, rest, listed = work.verdict(end)
    found = {"selected": [data.names[j] for j in best[1]], "objective": best[2]} if best else {"objective": None}
    counts = {"checked": (work.records, work.points, work.parts), "solutions": listed, "p": claim.p}
    return found | counts | {"bound": bound, "rest": rest}


def main():
    try:
        if len(sys.argv) not in (3, 4, 5):
            raise Unable("usage: python3 tools/check_proof.py PROOF DATA [SECONDS [GIB]]")
        limit(*map(float, sys.argv[3:]))
        with gzip.open(sys.argv[1], "rb") as stream:
            found = check(stream, sys.argv[2])
    except (Fault, EOFError, zlib.error, gzip.BadGzipFile) as fault:
        print(f"NOT VERIFIED  {visible(str(fault))}")
        return 1
    except (Unable, OSError, UnicodeDecodeError) as error:
        print(f"cannot be checked: {visible(str(error))}", file=sys.stderr)
        return 2
    except MemoryError:
        print("stopped at the limit of memory; nothing is proven, give more GIB", file=sys.stderr)
        return 3
    objective, bound = found["objective"], found["bound"]
    proven, why = math.isfinite(bound), "nothing is proven of other subsets"
    if proven and objective is not None and objective > bound and objective - bound >= abs(objective):
        proven, why = False, "the bound leaves all of the objective open"
    print("VERIFIED" + ("" if proven else f" objective only: {why}"))
    if objective is not None:
        print(f"selected   {len(found['selected'])} of {found['p']} features: {', '.join(map(visible, found['selected']))}")
        print(f"objective  at most {show(objective)}")
    print(f"bound      {show(bound)}")
    if objective and math.isfinite(bound):
        print(f"open       {float(max(objective - bound, 0) / objective):.3g} of the objective")
    if len(found["solutions"]) > 1:
        print(f"listed     {len(found['solutions'])} subsets, all others not below {show(found['rest'])}")
    print("checked    {} records, {} dual points, {} parts, exactly".format(*found["checked"]))
    return int(not proven)


def limit(seconds=3600.0, gib=8.0):
    """Stops this program after so long, and at so much memory: a file may be made to take both."""

    def over(*_):
        print("stopped at the limit of time; nothing is proven, give more SECONDS", file=sys.stderr, flush=True)
        os._exit(3)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, over)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    if resource is not None:
        most, hard = int(gib * 2**30), resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
