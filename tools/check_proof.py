"""The second checker of proof files: arithmetic and a reader of its own.

    python3 tools/check_proof.py PROOF DATA [SECONDS [GIB]] [--labels FILE[:COLUMN]] [--core OUT]

DATA is the file that the run read: csv, svmlight, npz, h5ad, 10x or mtx. Classes in a second file need --labels:
no file that a proof names is opened. Stops after SECONDS (3600) and at GIB of memory (8), where the system can limit
them. Prints what was proven, in the words of `fewest verify`, or the first fault, and ends with its exit code (1 for a fault,
and where nothing is proven of other subsets). What it does not read, such as `--transpose`, it says (exit code 2). Written to
docs/formats/proof.md, and shares no code with `crates/fewest-verify`. Doubles are integers times powers of two, so
bounds and objectives are exact fractions: nothing is rounded, and no error analysis is needed (but for alignments).

| file | subject |
| --- | --- |
| check_proof.py | the bytes, the claim, its rules, the records in turn |
| proof_form.py | the form of the header |
| proof_data.py, proof_arrays.py, proof_table.py | the data: text; h5ad, 10x, npz and mtx; the tables that both make |
| proof_alignment.py | kernels, and models of alignments |
| proof_gap.py | gaps, and the verdict in words |
| proof_core.py | the text that --core writes for the checker proven in Coq (verified/) |
"""

import csv
import hashlib
import io
import math
import os
import signal
import struct
import sys
import zipfile
import zlib
from collections import namedtuple
from fractions import Fraction
from operator import mul

from proof_alignment import BITS, Child, Expansion, Model, Pairs, floor
from proof_core import Core, suited
from proof_data import Data
from proof_form import claim_of, header_of
from proof_gap import Gaps, baseline_of, first_line
from proof_table import Fault, Unable, able, need, visible

try:
    import resource
except ImportError:
    # Windows has none.
    resource = None

INFINITY, TWO = math.inf, Fraction(2)
USAGE = "usage: python3 tools/check_proof.py PROOF DATA [SECONDS [GIB]] [--labels FILE[:COLUMN]] [--core OUT]"
STATUSES = {"optimal", "completed", "time_limit", "call_limit", "node_limit", "cancelled", "infeasible", "stalled"}
# Keys that the header of a claim has in any case.
OF_SVMS, OF_ALIGNMENTS = {"loss", "bias", "cost"}, {"gamma"}


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
            values = column.at(rows)
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


class Members(io.RawIOBase):
    """The unpacked bytes of gzip members, after which nothing may follow: the module gzip passes over zeros there."""

    def __init__(self, path):
        self.file, self.packed, self.member, self.any, self.fault = open(path, "rb"), b"", None, False, None

    def readable(self):
        return True

    def close(self):
        self.file.close()
        super().close()

    def readinto(self, buffer):
        while True:
            self.packed = self.packed or self.file.read(1 << 16)
            if not self.packed and (self.member or not self.any):
                raise EOFError("the file ends within a gzip member")
            if not self.packed:
                return 0
            self.member, self.any = self.member or zlib.decompressobj(31), True
            # Never more than fits: a few bytes may unpack to very many.
            out = self.unpacked(len(buffer))
            self.packed = self.member.unused_data if self.member.eof else self.member.unconsumed_tail
            self.member = None if self.member.eof else self.member
            if self.fault and not out:
                raise self.fault
            if out:
                buffer[: len(out)] = out
                return len(out)


    def unpacked(self, size):
        """Bytes up to this size; those before a fault come first."""
        if self.fault:
            return b""
        before = self.member.copy()
        try:
            return self.member.decompress(self.packed, size)
        except zlib.error as fault:
            self.member, self.fault, out = before, fault, b""
        for byte in self.packed:
            try:
                out += self.member.decompress(bytes([byte]))
            except zlib.error:
                break
        return out[:size]


def opened(path):
    """The bytes of a proof file."""
    return io.BufferedReader(Members(path), 1 << 16)


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


def real(value, low=-INFINITY):
    need(value >= low, f"header: {value!r} is below {low!r}")
    return float(value)


def whole(value, limit):
    need(value < limit, f"header: {value!r} is not below {limit}")
    return value


def entries(value, entry):
    return [entry(x) for x in value]


class Claim:
    """The header: the problem, and the rules as units and rows."""

    def __init__(self, line):
        self.head, self.made = header_of(line)
        self.n, self.p, self.t = self.head["n"], self.head["p"], self.head.get("problems", 1)
        self.alignment, self.l1, self.s = self.head["gain"] == "alignment", self.head["gain"] == "l1", None

    def fits(self, data):
        """Data are prepared as a method prepares them for the problem: categories of alignments alone are not scaled."""
        named = self.head.get("categorical")
        named = named if isinstance(named, list) and all(type(j) is int and 0 <= j for j in named) else []
        need({j for j in named if j < len(data.names)} == data.categorical, "header: its settings leave other categories unscaled than the problem compares")

    def read_model(self):
        """What the objective is; only once the header is known to be about the data."""
        head = self.head
        mine, others = (OF_ALIGNMENTS, OF_SVMS) if self.alignment else (OF_SVMS, OF_ALIGNMENTS)
        strange = {"penalty", "weight_bounds"} if self.alignment else {"kernel", "categorical", "centre"}
        need(mine <= set(head) and not set(head) & (others | strange), "header: keys that do not go with its gain")
        self.penalty = entries(head.get("penalty", []), lambda price: real(price, 0.0))
        self.caps = entries(head.get("weight_bounds", []), lambda u: real(u, 0.0))
        self.bias, self.rules, self.squared = head.get("bias", "none"), head["rules"], head.get("loss") == "squared-hinge"
        if self.alignment:
            gamma, kernel = real(head["gamma"]), head.get("kernel", "rbf")
            need(1e-250 <= gamma <= 1e250 and self.t == 1, "header: gamma or problems")
            self.gamma = Fraction(gamma), kernel
            self.categorical, self.centre = (set(entries(head.get(key, []), lambda j: whole(j, self.p))) for key in ("categorical", "centre"))
            return
        need(not self.l1 or (not self.squared and self.t == 1), "header: gain l1 takes the hinge loss and one problem")
        if isinstance(self.bias, dict):
            self.s = real(self.bias["penalised"], math.ulp(0.0))
        self.cost = real(head["cost"], 1e-40)
        need(self.l1 or not self.caps, "header: weight bounds without gain l1")

    def read_rules(self):
        """Units, rows and the root; only once p is known to be that of the data."""
        rules, p = self.rules, self.p
        self.penalty, self.caps = self.penalty or [0.0] * p, self.caps or [INFINITY] * p
        need(len(self.penalty) == len(self.caps) == p, "header: a list is not as long as features are many")

        def feature(j):
            return whole(j, p)

        def group(entry):
            return entry[0], entries(entry[1], feature)

        lists = {"require": feature, "forbid": feature, "costs": lambda c: real(c, 0.0), "at_most": group, "at_least": group}
        lists |= {"implies": lambda pair: entries(pair, feature), "together": lambda members: entries(members, feature)}
        lists = {key: entries(rules.get(key, []), entry) for key, entry in lists.items()}
        need(len(lists["costs"]) in (0, p), "header: costs are not as many as features")
        self.find_units(lists["implies"] + [(members[k - 1], j) for members in lists["together"] for k, j in enumerate(members)])
        self.implied = {(self.unit[a], self.unit[b]) for a, b in lists["implies"] if self.unit[a] != self.unit[b]}
        # Rows: coefficients by feature, right side. Counts: units by weight, limit, its sense
        self.rows, self.counts, self.room = [], [], p
        if rules.get("max_features") is not None:
            self.room = min(p, rules["max_features"])
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
            j, low, high = feature(bound["feature"]), bound.get("lower"), bound.get("upper")
            self.low[j] = max(self.low[j], -INFINITY if low is None else real(low))
            self.high[j] = min(self.high[j], INFINITY if high is None else real(high))
            need(self.low[j] <= 0 <= self.high[j], f"header: the bounds on weight {j} leave out 0")
        need(not self.alignment or not rules.get("weights"), "header: bounds on weights of an alignment")
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
    """The records in turn, on the boxes that are open. `core` sees each, where there is one."""

    def __init__(self, claim, problems, exponent, core=None):
        self.claim, self.problems, self.exponent, self.core = claim, problems, exponent, core
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
        if claim.alignment and kind in (7, 8, 9, 10):
            return self.record_of(kind, reader)
        need(kind == 1 or (kind in (2, 3) and not claim.alignment) or (kind == 4 and claim.l1), f"a record of kind {kind}")
        node = reader.integer()
        need(node in self.boxes, f"box {node} was closed or split, or never made")
        box = self.boxes[node]
        if kind == 1:
            feature = reader.integer()
            need(feature < claim.p, f"feature {feature}")
            self.settle(self.nodes, box, claim.mask([feature]), 0)
            self.settle(self.nodes + 1, box, 0, claim.mask([feature]))
            if self.core:
                self.core.split(node, feature, self.nodes, [self.boxes[self.nodes], self.boxes[self.nodes + 1]])
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
                if self.core:
                    self.core.close(node, self.point)
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
            if self.core and box:
                self.core.fix(node, self.point, bits(put_in), bits(put_out), self.boxes[node])
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
        if self.core:
            self.core.tighten(node, self.point, features, bounds, caps, least)
        self.boxes[node] = Box(box.inside, box.outside, caps, least)

    def subset(self, reader):
        claim, features = self.claim, reader.ascending(self.claim.p)
        stated, own, mask = reader.number(), reader.number(), claim.mask(features)
        allowed = claim.root and claim.conclude(claim.root[0] | mask, claim.all & ~mask)
        need(allowed and claim.root[1] & mask == 0 and claim.size(mask) == len(features), "a listed subset is not allowed")
        objective, classifiers = sum(Fraction(claim.penalty[j]) for j in features), []
        for problem in self.problems:
            weights, bias = reader.as_many(reader.number, features), reader.number()
            need(all(map(math.isfinite, [*weights, bias])), "a weight is infinite")
            need(claim.bias != "none" or bias == 0, "a bias where there is none")
            for j, w in zip(features, weights):
                need(claim.low[j] <= w <= claim.high[j] and abs(w) <= claim.caps[j], f"the weight of feature {j} is beyond its bounds")
            objective += self.objective(problem, features, weights, bias)
            classifiers.append((weights, bias))
        if self.core:
            self.core.subset(features, classifiers, objective)
        self.list(mask, features, objective, stated, own)

    def list(self, mask, features, objective, stated, own):
        need(all(mask != other for other, *_ in self.listed), "a subset is listed twice")
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


class AlignmentCheck(Check):
    """Records of gain "alignment". `least` of a box is what is known of its subsets; objectives are minus alignments."""

    def __init__(self, claim, problem):
        self.pairs, self.coefficients = Pairs(claim, problem), []
        super().__init__(claim, [problem], 0)
        self.boxes = {0: claim.root and Box(*claim.root, None, -INFINITY)}
        for row, right in claim.rows:
            by_unit = {}
            for j, a in row.items():
                by_unit[claim.unit[j]] = by_unit.get(claim.unit[j], 0) + Fraction(a)
            self.coefficients.append((by_unit, Fraction(right)))

    def close(self, box, bound, inside=0, outside=0):
        super().close(box._replace(least=INFINITY), max(bound, box.least), inside, outside)

    def slots(self, box, free):
        """How many free units a subset adds at most."""
        most = len(free)
        for row, right in self.coefficients:
            left = right - sum(a for u, a in row.items() if box.inside >> u & 1)
            left -= sum(a for u, a in row.items() if a < 0 and not (box.inside | box.outside) >> u & 1)
            terms = sorted(row[u] for u in free if row.get(u, 0) > 0)
            fit = 0
            for a in terms:
                left -= a
                if left < 0:
                    break
                fit += 1
            most = min(most, len(free) - len(terms) + fit)
        return most

    def record_of(self, kind, reader):
        claim, node = self.claim, reader.integer()
        need(node in self.boxes, f"box {node} was closed or split, or never made")
        box = self.boxes[node]
        if kind == 7:
            if box:
                self.close(box, box.least)
            del self.boxes[node]
        elif kind == 8:
            if box:
                free = list(bits(claim.all & ~box.inside & ~box.outside))
                self.boxes[node] = box._replace(least=max(box.least, value_of(-self.pairs.limit(bits(box.inside), free))))
        else:
            order = 2 if kind == 9 else reader.integer()
            need(kind == 9 or order in (3, 4), f"a model of order {order}")
            self.expand(node, box, order, reader)

    def expand(self, node, box, order, reader):
        claim, level = self.claim, reader.number()
        size = reader.integer()
        need(size <= claim.p, "a list of features is longer than they are many")
        listed = [whole_index(reader.integer(), claim.p) for _ in range(size)]
        units = [claim.unit[j] for j in listed]
        need(len(set(units)) == len(units), "a unit is listed twice")
        firsts = reader.ascending(size)
        bounds = reader.as_many(reader.number, firsts)
        children = []
        for first, bound in zip(firsts, bounds):
            partners = reader.ascending(size)
            need(not partners or partners[0] > first, "a partner is not above the first unit of its child")
            children.append(Child(first, bound, set(partners)))
        del self.boxes[node]
        numbers = range(self.nodes, self.nodes + len(children))
        self.nodes += len(children)
        if not box:
            self.boxes.update(dict.fromkeys(numbers))
            return
        decided = box.inside | box.outside
        free = [u for u in units if not decided >> u & 1] + [u for u in bits(claim.all & ~decided) if u not in units]
        slots, weights, found = self.slots(box, free), self.pairs.inside(bits(box.inside)), {}
        apart = [[]]
        if slots:
            need(slots <= 64, "an expansion has more than 64 slots")
            self.points += 1
            place = {u: k for k, u in enumerate(free)}
            # Units that are not listed stand behind all others.
            positions = [place.get(u) for u in units] + [place[u] for u in free if u not in units]
            model = Model(self.pairs, weights, free, slots, order)
            expansion = Expansion(model, floor(level), children, positions)
            apart, found = apart + expansion.apart, expansion.found
        self.parts += 1
        self.rest = min(self.rest, max(box.least, -Fraction(level) if math.isfinite(level) else -level))
        for chosen in apart:
            mask = sum(1 << free[a] for a in chosen)
            most = self.pairs.value(bits(box.inside | mask))[1] if self.allowed(box.inside | mask) else -INFINITY
            if most > floor(level):
                self.close(box, value_of(-most), mask, claim.all & ~box.inside & ~mask)
        for number, child in zip(numbers, children):
            first = units[child.first]
            partners = claim.mask([listed[k] for k in child.partners])
            if decided >> first & 1:
                self.boxes[number] = None
                continue
            known = max(box.least, min(value_of(-found[child.first]) if child.first in found else INFINITY, -level))
            out = claim.all & ~decided & ~(1 << first) & ~partners
            self.settle(number, box._replace(least=known), 1 << first, out)

    def allowed(self, mask):
        root = self.claim.root
        return root[0] & ~mask == 0 and root[1] & mask == 0 and self.claim.conclude(mask, self.claim.all & ~mask) is not None

    def subset(self, reader):
        features = reader.ascending(self.claim.p)
        stated, own, mask = reader.number(), reader.number(), self.claim.mask(features)
        need(self.claim.root and self.allowed(mask) and self.claim.size(mask) == len(features), "a listed subset is not allowed")
        self.list(mask, features, value_of(-self.pairs.value(bits(mask))[0]), stated, own)


def value_of(units):
    """A number of units as a fraction; infinities as they are."""
    return units if isinstance(units, float) else Fraction(units, 1 << BITS)


def whole_index(value, end):
    need(value < end, f"index {value} where {end} is the limit")
    return value


def show(value):
    return f"{float(value):.12g}" if abs(value) < 1 << 1000 else "-infinity" if value < 0 else "infinity"


def check(stream, path, labels=None, core=None):
    """What a proof proves of these data, written to the path `core` for the program of verified/; raises Fault or Unable."""
    try:
        line = stream.readline((1 << 26) + 1)
    except (EOFError, zlib.error) as error:
        raise Unable(f"not a proof file: {error}") from None
    able(line.endswith(b"\n"), "not a proof file: header: no line, or one of more than 64 MiB")
    claim = Claim(line)
    try:
        data = Data(path, claim.made, labels)
        several = len(set(data.classes)) != 2 and not claim.alignment and claim.t == 1
        able(not several, "a proof of one linear SVM needs two classes")
        taken = [data.numbered()] if claim.alignment else data.problems(data.said.get("multi_class"))
        problems = [Problem(data, *of) for of in taken]
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, ZeroDivisionError, csv.Error, zipfile.BadZipFile) as error:
        raise Unable(f"the data are not as the proof says, or it says something else than proofs do ({error})") from None
    claim.fits(data)
    shape = sum(problem.n for problem in problems), len(data.columns), len(problems)
    need(shape == (claim.n, claim.p, claim.t), "header: the data have {} samples, {} features, {} problems".format(*shape))
    sha = hashlib.sha256()
    for problem in problems:
        problem.feed(sha, claim.p)
    claim.head = claim_of(claim.head)
    need(claim.head["fingerprint"] == f"sha256:{sha.hexdigest()}", f"header: the data's fingerprint is sha256:{sha.hexdigest()}")
    claim.read_model()
    claim.read_rules()
    if core:
        suited(claim)
    if claim.alignment:
        work = AlignmentCheck(claim, problems[0])
    else:
        exponent = min(lowest(values) for problem in problems for _, values in problem.columns)
        for problem in problems:
            problem.prepare(claim.cost, exponent, claim.squared)
        work = Check(claim, problems, exponent, Core(claim, problems, exponent) if core else None)
    reader, end = Reader(stream), None
    while end is None:
        try:
            end = work.record(reader)
        except (Fault, UnicodeDecodeError) as fault:
            raise Fault(f"record {work.records}: {fault}") from None
    need(not stream.read(1), "something follows the last record")
    best, bound, rest, listed = work.verdict(end)
    if core:
        able(rest > -INFINITY, "--core: no bound is proven")
        with open(core, "w") as out:
            out.writelines(f"{line}\n" for line in work.core.text(rest))
    gaps = Gaps(claim, best and best[2], bound, baseline_of(claim, problems))
    sign = -1 if claim.alignment else 1
    found = {"selected": [data.names[j] for j in best[1]], "objective": sign * best[2]} if best else {"objective": None}
    counts = {"checked": (work.records, work.points, work.parts), "solutions": [(sign * x, sign * y) for x, y in listed], "p": claim.p}
    said = {"gaps": gaps, "verdict": "verified" if gaps.proves else "objective_only" if best else "nothing"}
    said |= {"alignment": claim.alignment, "within": bool(claim.head.get("weight_bounds")), "infeasible": best is None and bound == INFINITY}
    return found | counts | said | {"bound": sign * bound, "rest": sign * rest, "check": work}


def arguments():
    """PROOF, DATA and limits; the files of --labels and --core."""
    words, named = sys.argv[1:], {}
    for option in ("--labels", "--core"):
        if option in words[:-1]:
            at = words.index(option)
            named[option] = words[at + 1]
            del words[at : at + 2]
    able(len(words) in (2, 3, 4) and not any(word.startswith("--") for word in words), USAGE)
    return words, named.get("--labels"), named.get("--core")


def main():
    try:
        words, labels, core = arguments()
        limit(*map(float, words[2:]))
        with opened(words[0]) as stream:
            found = check(stream, words[1], labels, core)
    except (Fault, EOFError, zlib.error) as fault:
        print(f"NOT VERIFIED  {visible(str(fault))}")
        return 1
    except (Unable, OSError, UnicodeDecodeError) as error:
        print(f"cannot be checked: {visible(str(error))}", file=sys.stderr)
        return 2
    except MemoryError:
        print("stopped at the limit of memory; nothing is proven, give more GIB", file=sys.stderr)
        return 3
    objective, bound, gaps = found["objective"], found["bound"], found["gaps"]
    print(first_line(found))
    if objective is not None:
        print(f"selected   {len(found['selected'])} of {found['p']} features: {', '.join(map(visible, found['selected']))}")
        print(f"objective  at {'least' if found['alignment'] else 'most'} {show(objective)}")
    print(f"bound      {show(bound)}")
    if gaps.text() and objective is not None:
        print(f"gap        {gaps.text()}")
    if gaps.loss:
        print("loss       the best listed subset is worse than no features")
    if len(found["solutions"]) > 1:
        print(f"listed     {len(found['solutions'])} subsets, all others not {'above' if found['alignment'] else 'below'} {show(found['rest'])}")
    points = "models" if found["alignment"] else "dual points"
    exactly = "in 128 bits" if found["alignment"] else "exactly"
    print("checked    {} records, {} {points}, {} parts, {exactly}".format(*found["checked"], points=points, exactly=exactly))
    return int(found["verdict"] != "verified")


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
