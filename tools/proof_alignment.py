"""Proofs about kernel-target alignment (gain "alignment", method kta), for check_proof.py.

Written from docs/formats/proof.md. All numbers are integers times 2^-BITS: a number x is held as one
that differs from x 2^BITS by a known number of units; `Pairs.error` adds them up.

The bound of an expansion. Let e be the weights of pairs of samples times the kernels of the units in,
u the kernels of the units, r those of the centre, all as held here. For these numbers, whatever they
are (0 <= u, r <= 1), proof.md's model is an upper bound of diagonal + sum e prod u, term by term:
powers of |delta| and the weights s(r) are rounded up. What the held numbers are off by is added at the end:

- u, by one unit (`exponential`), and by `blur` units where pairs were merged (`merge`, 2^-40 at most, and as a rule
  what the rounding of the values makes of equal distances); w, by one; e, by one for w, and by |w| + 1 for each
  unit in; so diagonal + sum e prod u is off by at most N (1 + U) + W (U + k) (1 + blur) units, for N pairs, U units,
  k slots, and W = sum |w|;
- r^j by j units, as each product is rounded once; e r^j, with up to three deltas, by |e| j + 4; a sum over
  pairs of this product and one delta more by W k + 4 N, and one for its own rounding;
- a model has 1 + k + C(k, 2) + C(k, 3) terms, and each of the last has up to k - 3 terms more in order 4.

So (N + W) (U + k + 4) + 4 + W (U + k + 4) blur units for each of 2 + k + C(k, 2) + C(k, 3) (k + 1) terms are enough.
"""

import math
from collections import namedtuple
from fractions import Fraction
from operator import mul

from proof_table import need

BITS = 128
ONE, GUARD = 1 << BITS, 32
INFINITY = math.inf


def logarithm_of_2(bits):
    """ln 2 = 2 artanh(1/3), times 2^bits, at most 1 below."""
    power, total, k = (2 << (bits + 16)) // 3, 0, 1
    while power:
        total += power // k
        power, k = power // 9, k + 2
    return total >> 16


LN2 = logarithm_of_2(BITS + GUARD)
STEP, STEPS = BITS + GUARD - 12, {}


def series(x):
    """e^-x with GUARD bits more, for 0 <= x < 1: terms alternate, each is rounded once more than the one before."""
    term, total, i = 1 << (BITS + GUARD), 0, 0
    while term:
        total += term if i % 2 == 0 else -term
        i += 1
        term = (term * x >> (BITS + GUARD)) // i
    return total


def exponential(x, shift):
    """e^-(x 2^shift) for x >= 0, off by less than one unit.

    With GUARD bits more the argument is off by 1, k ln 2 by k < 2^8, each of at most 40 terms of a series by
    1 more than the one before, the product of two by 1: together less than 2^12 of 2^32.
    """
    shift += BITS + GUARD
    k, rest = divmod(x << shift if shift >= 0 else x >> -shift, LN2)
    if k > BITS + 2:
        return 0
    step = rest >> STEP
    if step not in STEPS:
        STEPS[step] = series(step << STEP)
    return STEPS[step] * series(rest & (1 << STEP) - 1) >> (BITS + 2 * GUARD + k)


def dot(one, other):
    return sum(map(mul, one, other)) >> BITS


def times(one, other):
    return [x * y >> BITS for x, y in zip(one, other)]


def floor(number):
    """A double in units, rounded down; infinities as they are."""
    return number if math.isinf(number) else math.floor(Fraction(number) * ONE)


def root_up(x):
    return math.isqrt(x - 1) + 1 if x > 0 else 0


class Pairs:
    """The pairs of samples: weights, and kernels on each unit."""

    def __init__(self, claim, problem):
        """`problem` has the columns as doubles, the classes as labels."""
        self.claim = claim
        root = claim.root or (0, claim.all)
        units = [u for u in range(len(claim.members)) if not root[1] >> u & 1]
        self.required, self.free = [u for u in units if root[0] >> u & 1], [u for u in units if not root[0] >> u & 1]
        alive = [j for u in units for j in claim.members[u]]
        values = {j: dict(zip(problem.columns[j][0], map(Fraction, problem.columns[j][1]))) for j in alive}
        need(all(abs(x) <= 1e70 for column in values.values() for x in column.values()), "header: a value is above 1e70 in size")
        weights, sizes = list(map(Fraction, problem.weights)), {}
        for label, weight in zip(problem.labels, weights):
            sizes[label] = sizes.get(label, 0) + weight
        classes = sorted(label for label, size in sizes.items() if size > 0)
        need(len(classes) > 1, "header: fewer than two classes have weight")
        # Samples that weigh and do not differ are one row, with its share of each class.
        shares = {}
        for i in filter(weights.__getitem__, range(problem.n)):
            key = tuple(values[j].get(i, 0) for j in alive)
            mine = shares.setdefault(key, [0] * len(classes))
            mine[classes.index(problem.labels[i])] += weights[i] / sizes[problem.labels[i]]
        rows, self.total = [dict(zip(alive, key)) for key in shares], 2 * len(classes) * (len(classes) - 1)
        parts, totals = list(shares.values()), [sum(of) for of in shares.values()]

        def weight(i, h):
            of_classes = sum(x * y for x, y in zip(parts[i], parts[h]) if x and y)
            return 2 * (len(classes) * of_classes - totals[i] * totals[h])

        # Shares are whole numbers over one for all: the sums stay exact, and fast.
        whole = math.lcm(*(x.denominator for of in parts for x in map(Fraction, of)))
        parts, totals = [[int(x * whole) for x in of] for of in parts], [int(x * whole) for x in totals]
        self.diagonal = -(-(sum(weight(i, i) for i in range(len(rows))) << BITS - 1) // (whole * whole))
        pairs = [(i, h) for i in range(len(rows)) for h in range(i)]
        self.all_weights = [(weight(i, h) << BITS) // (whole * whole) for i, h in pairs]
        kernels = {u: self.kernel(claim, rows, pairs, claim.members[u]) for u in units}
        self.all_kernels, self.count, self.blur = kernels, len(pairs), 0
        self.weights = self.inside_of(self.all_weights, kernels, self.required)
        self.kernels = {u: kernels[u] for u in self.free}
        if all(len({row[j] for row in rows}) <= 12 for j in alive):
            self.merge()
        self.centre = self.mean(self.free)
        favoured = [u for u in self.free if any(j in claim.centre for j in claim.members[u])]
        if favoured:
            self.centre = [(x + y) >> 1 for x, y in zip(self.centre, self.mean(favoured))]

    def kernel(self, claim, rows, pairs, features):
        """Distances are integers times 2^-scale."""
        gamma, kernel = claim.gamma
        columns = [[row[j] for row in rows] for j in features]
        finest = max((x.denominator.bit_length() - 1 for column in columns for x in map(Fraction, column)), default=0)
        columns = [[int(x * (1 << finest)) for x in column] for column in columns]
        scale = finest if kernel == "laplace" else 2 * finest
        shift = 1 - gamma.denominator.bit_length() - scale
        known, found = {}, []
        for i, h in pairs:
            distance = 0
            for j, column in zip(features, columns):
                apart = abs(column[i] - column[h])
                distance += (apart > 0) << scale if j in claim.categorical else apart if kernel == "laplace" else apart * apart
            if distance not in known:
                known[distance] = exponential(gamma.numerator * distance, shift) if distance else ONE
            found.append(known[distance])
        return found

    def merge(self):
        """Pairs whose kernels are equal on every free unit, up to the rounding of values by 2^-40, become one."""
        near, same = ONE >> 40, {}
        for u, kernels in self.kernels.items():
            one, first = {}, None
            for x in sorted(set(kernels)):
                first = x if first is None or x - first > near else first
                one[x] = first
                self.blur = max(self.blur, x - first)
            self.kernels[u] = [one[x] for x in kernels]
        for q, key in enumerate(zip(*self.kernels.values())) if self.kernels else ():
            same.setdefault(key, []).append(q)
        if same:
            self.weights = [sum(self.weights[q] for q in of) for of in same.values()]
            self.kernels = dict(zip(self.kernels, map(list, zip(*same))))

    def mean(self, units):
        if not units:
            return [0] * len(self.weights)
        return [sum(each) // len(units) for each in zip(*(self.kernels[u] for u in units))]

    def error(self, slots=0, blur=0):
        """Units by which a value, or a part of a model of `slots` slots, may be off."""
        units = len(self.claim.members) + slots + 4
        return (self.count + self.total) * units + 4 + self.total * units * blur

    def inside_of(self, weights, kernels, units):
        for u in units:
            weights = times(weights, kernels[u])
        return weights

    def inside(self, units):
        """Weights of pairs, with those that are required, times kernels of these units."""
        return self.inside_of(self.weights, self.kernels, [u for u in units if u not in self.required])

    def value(self, units):
        """f of a subset: from, to."""
        found = self.diagonal + sum(self.inside_of(self.all_weights, self.all_kernels, units))
        return found - self.error(), found + self.error()

    def limit(self, inside, free):
        """No subset with these units in, and some of the free ones, has a larger f."""
        weights = self.inside(inside)
        least = weights
        for u in free:
            least = times(least, self.kernels[u])
        return self.diagonal + sum(e if e > 0 else low for e, low in zip(weights, least)) + self.error(len(free), self.blur)


class Model:
    """The model of order 2, 3 or 4 of a box with one slot at least: number `none` stands for "no unit"."""

    def __init__(self, pairs, weights, free, slots, order):
        self.slots, self.none, k, r = slots, len(free), slots, pairs.centre
        powers = [[ONE] * len(r)]
        while len(powers) <= k:
            powers.append(times(powers[-1], r))
        deltas = [[u - x for u, x in zip(pairs.kernels[unit], r)] for unit in free] + [[ONE - x for x in r]]
        self.constant = pairs.diagonal + dot(weights, powers[k])
        first = times(weights, powers[k - 1])
        self.single = [dot(first, delta) for delta in deltas]
        self.pair, self.triple, order = {}, {}, min(order, k)
        places = range(len(free) + 1)
        if k >= 2:
            spread = [0] * len(r)
            for i in range(order + 1, k + 1):
                ways, of = math.comb(k - 2, i - 2), math.comb(i, 2)
                spread = [s + (x + k - i) * ways // of + 1 for s, x in zip(spread, powers[k - i])]
            sizes = [-(-abs(e) * s >> BITS) for e, s in zip(weights, spread)]
            second = times(weights, powers[k - 2])
            bent = [[root_up(abs(d) ** (order + 1) >> (order - 1) * BITS) + 1 for d in delta] for delta in deltas] if any(sizes) else None
            for a in places:
                left = times(second, deltas[a])
                wide = [-(-x * y >> BITS) for x, y in zip(sizes, bent[a])] if bent else None
                for b in range(a, self.none + 1):
                    value = dot(left, deltas[b]) + (dot(wide, bent[b]) + 1 if bent else 0)
                    self.pair[a, b] = self.pair[b, a] = value
        if order >= 3:
            self.find_triples(weights, powers, deltas, order)
        terms = 2 + k + math.comb(k, 2) + math.comb(k, 3) * (k + 1)
        self.constant += pairs.error(k, pairs.blur) * terms

    def find_triples(self, weights, powers, deltas, order):
        k, places = self.slots, range(self.none + 1)
        third = times(weights, powers[k - 3])
        fourth = times(weights, powers[k - 4]) if order == 4 else None
        quads = {}
        for a in places:
            one, other = times(third, deltas[a]), fourth and times(fourth, deltas[a])
            for b in places[a:]:
                two, both = times(one, deltas[b]), fourth and times(other, deltas[b])
                for c in places[b:]:
                    self.triple[a, b, c] = dot(two, deltas[c])
                    three = fourth and times(both, deltas[c])
                    for d in places[c:] if fourth else ():
                        quads[a, b, c, d] = dot(three, deltas[d])
        for key in self.triple if fourth else ():
            none = quads[(*key, self.none)]
            others = [quads[tuple(sorted((*key, d)))] for d in places[:-1] if d not in key]
            # "No unit" may be there as often as needed.
            largest = sorted((x for x in others if x > none), reverse=True)[: k - 3]
            self.triple[key] += (sum(largest) + none * (k - 3 - len(largest)) >> 2) + 1

    def third(self, a, b, c):
        return self.triple[tuple(sorted((a, b, c)))] if self.triple else 0

    def joined(self, chosen, a):
        """What this unit, or "no unit", adds to a set, its empty slots not counted."""
        value = self.single[a]
        for k, b in enumerate(chosen):
            value += self.pair[a, b]
            for c in chosen[:k] if self.triple else ():
                value += self.third(a, b, c)
        return value

    def filled(self, chosen, value):
        """The model of a set of this value, with its empty slots."""
        chosen = list(chosen)
        while len(chosen) < self.slots:
            value += self.joined(chosen, self.none)
            chosen.append(self.none)
        return value

    def most(self, chosen, value, candidates):
        """No set of these and some of the candidates has a larger model.

        Each of the slots left takes what it adds to the set, half of the largest terms with as many others as
        there are besides, and a third of the largest with two others for each two of them.
        """
        left, candidates = self.slots - len(chosen), [*candidates, self.none]
        if left == 0:
            return value
        gains = []
        for c in candidates:
            own = self.joined(chosen, c)
            if left > 1:
                with_one = [
                    self.pair[c, d] + sum(self.third(b, c, d) for b in chosen) if self.triple else self.pair[c, d]
                    for d in candidates
                    if d != c or c == self.none
                ]
                own += self.largest(with_one, left - 1) // 2 + 1
            if left > 2 and self.triple:
                own += self.of_two(c) * math.comb(left - 1, 2) // 3 + 1
            gains.append(own)
        return value + self.largest(gains, left)

    def largest(self, values, count):
        """The sum of the largest, the last of them as often as needed."""
        *some, none = values
        some = sorted((x for x in some if x > none), reverse=True)[:count]
        return sum(some) + none * (count - len(some))

    def of_two(self, c):
        """The largest term of this unit with two others."""
        if not hasattr(self, "best"):
            self.best = {}
            for key, value in self.triple.items():
                for a in key:
                    self.best[a] = max(value, self.best.get(a, value))
        return self.best[c]


Child = namedtuple("Child", "first bound partners")


class Expansion:
    """A box shared out: the sets above the level that belong to no child, and the largest model of each child."""

    def __init__(self, model, level, children, order):
        """`order` are the free units (numbers of the model) by position; None for a listed unit that is decided."""
        self.model, self.level, self.order = model, level, order
        self.apart, self.found = [], {}
        by_first = {child.first: child for child in children}
        for at, a in enumerate(order):
            if a is not None:
                child = by_first.get(at)
                self.search([a], model.constant + model.single[a], at, child, child is not None)

    def search(self, chosen, value, at, child, inside):
        """Sets that begin with these, up to this position; `inside`: all of them belong to the child."""
        model = self.model
        own = model.filled(chosen, value)
        if own > self.level:
            if inside:
                self.take(child, own)
            else:
                self.apart.append(list(chosen))
        if len(chosen) == model.slots:
            return
        later = [k for k in range(at + 1, len(self.order)) if self.order[k] is not None]
        partners = [k for k in later if inside and k in child.partners]
        most = model.most(chosen, value, [self.order[k] for k in later]) if len(later) > 1 else INFINITY
        if most <= self.level:
            return
        for k in later:
            a = self.order[k]
            self.search([*chosen, a], value + model.joined(chosen, a), k, child, inside and k in partners)

    def take(self, child, value):
        self.found[child.first] = max(value, self.found.get(child.first, value))
