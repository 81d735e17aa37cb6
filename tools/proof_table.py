"""What a data file holds, as tables of columns, for the readers of check_proof.py; and what they say where they cannot go on."""

import gzip
import math
import struct

# Names that a column of the classes usually has; places in a file that a column may be named with.
USUAL = ("y", "label", "class", "target")
PREFIXES = ("obs/", "col_attrs/", "cols/")


class Fault(Exception):
    """What a proof does not prove, or a format that it does not keep."""


class Unable(Exception):
    """What this checker does not do, and what is no proof file."""


def need(condition, fault):
    if not condition:
        raise Fault(fault)


def able(condition, reason):
    if not condition:
        raise Unable(reason)


def visible(text):
    """A text in one line, without what a terminal obeys."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def log1p(x):
    """ln(1 + x) as musl computes it (fdlibm, s_log1p.c), operation by operation: other libraries differ in the last bit."""
    of = (0.6666666666666735, 0.3999999999940942, 0.2857142874366239, 0.22222198432149784)
    of += (0.1818357216161805, 0.15313837699209373, 0.14798198605116586)
    high = struct.unpack("<q", struct.pack("<d", x))[0] >> 32
    k, c, f = 1, 0.0, x
    if math.isnan(x) or x == math.inf or abs(x) < 2.0**-53:
        return x
    able(x > -1, "a logarithm of a number below 0")
    if high < 0x3FDA827A and (high >= 0 or high & 0xFFFFFFFF <= 0xBFD2BEC4):
        k = 0
    if k:
        bits = struct.unpack("<Q", struct.pack("<d", 1 + x))[0]
        u, upper = 1 + x, (bits >> 32) + 0x3FF00000 - 0x3FE6A09E
        k = (upper >> 20) - 0x3FF
        c = (0.0 if k >= 54 else (1 - (u - x) if k >= 2 else x - (u - 1))) / u
        upper = (upper & 0xFFFFF) + 0x3FE6A09E
        f = struct.unpack("<d", struct.pack("<Q", upper << 32 | bits & 0xFFFFFFFF))[0] - 1
    half, s = 0.5 * f * f, f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (of[1] + w * (of[3] + w * of[5]))
    odd = z * (of[0] + w * (of[2] + w * (of[4] + w * of[6])))
    return s * (half + (odd + even)) + (k * 1.9082149292705877e-10 + c) - half + f + k * 0.6931471803691238


class Column:
    """A feature: the values that are stored, by ascending rows; of dense data all, else 0 where none is."""

    def __init__(self, values, rows=None):
        self.values, self.rows = list(values), rows

    def entries(self):
        return enumerate(self.values) if self.rows is None else zip(self.rows, self.values)

    def kept(self, place):
        """With the rows that have a place, at it."""
        if self.rows is None:
            return Column(x for x, to in zip(self.values, place) if to is not None)
        there = [(place[i], x) for i, x in zip(self.rows, self.values) if place[i] is not None]
        return Column([x for _, x in there], [i for i, _ in there])

    def at(self, rows):
        """Values at these rows."""
        if self.rows is None:
            return [self.values[i] for i in rows]
        there = dict(zip(self.rows, self.values))
        return [there.get(i, 0.0) for i in rows]

    def present(self, weights):
        """The values that are not missing, their weights, and that of the zeros that are not stored."""
        own = weights if self.rows is None else [weights[i] for i in self.rows]
        zeros = 0.0 if len(own) == len(weights) else sum(weights) - sum(own)
        there = [(x, w) for x, w in zip(self.values, own) if x == x]
        return [x for x, _ in there], [w for _, w in there], zeros

    def change(self, of):
        self.values = [of(i, x) for i, x in self.entries()]


class Table:
    """What a file holds: columns and names of features, and columns of text that describe the samples."""

    def __init__(self, n, columns, names, texts, samples=None):
        self.n, self.columns, self.names, self.samples = n, columns, names, samples
        # Texts of a column of this name, in which "" is missing; None where there is none.
        self.texts = texts
        # The features that a column of text became, by its name; the features that only count in totals.
        self.dummies, self.counted = {}, set()

    def described(self, name):
        """A column of samples, which may have the prefix of its place in the file."""
        for prefix in ("", *PREFIXES):
            found = self.texts(name[len(prefix) :]) if name.startswith(prefix) else None
            if found is not None:
                return found
        raise Unable(f"there is no column {name!r}, which the proof or an option names")

    def keep(self, rows):
        place = [None] * self.n
        for to, i in enumerate(rows):
            place[i] = to
        self.n, self.columns = len(rows), [column.kept(place) for column in self.columns]

    def select(self, features):
        to = {j: k for k, j in enumerate(features)}
        self.columns, self.names = [self.columns[j] for j in features], [self.names[j] for j in features]
        self.dummies = {name: [to[j] for j in of if j in to] for name, of in self.dummies.items()}

    def normalize(self, total, log):
        """Each sample brought to a total, then logarithms; columns made of text stay as they are."""
        of_text = {j for of in self.dummies.values() for j in of}
        numbers, sums = [c for j, c in enumerate(self.columns) if j not in of_text], [0.0] * self.n
        for column in numbers:
            for i, x in column.entries():
                able(not (x < 0 or math.isinf(x) or (x != x and total)), "counts are finite, 0 or more, and none is missing")
                sums[i] += x

        def normal(i, x):
            x = x / sums[i] * total if total and sums[i] > 0 else x
            return log1p(x) if log else x

        for column in numbers:
            column.change(normal)


def unique(names):
    """Equal names made different: TP53, TP53.1."""
    taken, seen, out = set(names), {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        other = name
        while seen[name] > 1 and name and other in taken:
            other = f"{name}.{seen[name] - 1}"
            seen[name] += other in taken
        taken.add(other)
        out.append(other)
    return out


def text_of(path):
    with open(path, "rb") as file:
        text = file.read()
    return (gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text).decode("utf-8-sig")
