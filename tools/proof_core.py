"""Text for the checker that is proven in Coq (verified/README.md says what its words mean and which questions it takes)."""

import math
from collections import deque
from fractions import Fraction
from itertools import chain, islice

from proof_table import able

# Values of features are rounded down to about this many bits below the sum of costs, which small integers hold.
BITS = 60
# Objectives of listed subsets are rounded up to this many bits more.
FINER = 64


def suited(claim):
    """Whether the question is one of those that the theorem is about."""
    able(not claim.alignment, "--core: the proof is about alignments, and the theorem about linear SVMs")


class Row:
    """A rule as integers by feature: the terms of those that are in add up to at most `right`."""

    def __init__(self, terms, right):
        self.exponent = min(map(exponent_of, (*terms.values(), right)), default=0)
        self.terms = {j: int(Fraction(a) / Fraction(2) ** self.exponent) for j, a in sorted(terms.items()) if a}
        self.right, self.masks = int(Fraction(right) / Fraction(2) ** self.exponent), {}
        for j, a in self.terms.items():
            self.masks[a] = self.masks.get(a, 0) | 1 << j

    def left(self, inside, outside):
        """What the row leaves where the terms of a box are least."""
        return self.right - sum(a * bin(mask & (inside if a > 0 else ~outside)).count("1") for a, mask in self.masks.items())

    def forced(self, left, free):
        """The free features that the row puts in and out."""
        return [sum(mask for a, mask in self.masks.items() if sign * a > left) & free for sign in (-1, 1)]

    def size(self, p):
        """A multiplier and a divisor, and the largest number of features that they prove; None where the row says nothing of it."""
        if min(self.terms.values(), default=0) < 0:
            return None
        spent, terms = 0, sorted(self.terms.get(j, 0) for j in range(p))
        for k, a in enumerate(terms):
            spent += a
            if spent > self.right:
                return 1, a, k
        return None


def rows_of(claim):
    """The rows of the claim, then those of features that are together, required and forbidden; and who implies whom by which row."""
    rows, edges = [Row(*row) for row in claim.rows], {}
    for members in claim.rules.get("together", []):
        rows += [Row({members[k - 1]: 1, j: -1} if members[k - 1] != j else {}, 0) for k, j in enumerate(members)]
    for j in set(claim.rules.get("require", [])):
        rows.append(Row({j: -1}, -1))
    forbidden = set(claim.rules.get("forbid", []))
    rows += [Row(dict.fromkeys(forbidden, 1), 0)] if forbidden else []
    for r, row in enumerate(rows):
        if sorted(row.terms.values()) == [-1, 1] and row.right == 0:
            a, b = sorted(row.terms, key=row.terms.get, reverse=True)
            edges[a, b] = r
    return rows, edges


def routes(claim, edges):
    """For each member of a unit but its first one: who it is, the first one, and the rows that lead from and to that one."""
    found = []
    for members in claim.members:
        if len(members) > 1:
            ways = [reached(members, {edge[::turn]: r for edge, r in edges.items()}) for turn in (1, -1)]
            found += [(j, members[0], *(way[j] for way in ways)) for j in members[1:]]
    return found


def reached(members, edges):
    """The rows on a way from the first of these features to each."""
    ways, todo = {members[0]: []}, deque(members[:1])
    while todo:
        a = todo.popleft()
        for b in members:
            if b not in ways and (a, b) in edges:
                ways[b] = [*ways[a], edges[a, b]]
                todo.append(b)
    return ways


class Core:
    """The records as a tree of boxes, taken as they are checked. Each box is masks of the features that are in and out, or None."""

    def __init__(self, claim, problems, exponent):
        self.claim, self.problems, self.exponent = claim, problems, exponent
        self.rows, edges = rows_of(claim)
        self.routes, self.all = routes(claim, edges), (1 << claim.p) - 1
        self.several = [(u, members[0]) for u, members in enumerate(claim.members) if len(members) > 1]
        costs = sum((sum(problem.costs) * Fraction(2) ** problem.low for problem in problems), Fraction(0))
        self.grain = max(0, BITS - math.ceil(costs).bit_length())
        self.points, self.point, self.seen_with, self.ends, self.listed, self.beyond = [], None, None, {}, {}, math.inf
        words, room = [], claim.p
        for r, row in enumerate(self.rows):
            size = row.size(claim.p)
            if size and size[2] < room:
                words.append(f"size {r} {size[0]} {size[1]}")
                room = size[2]
        self.words, self.seen, self.boxes, self.caps = {0: words}, {0: None}, {0: (0, 0)}, {0: claim.caps}
        self.settle(0, claim.root)

    def see(self, node, point):
        """Makes a node's bounds those of a point; its values of features are kept, and their order."""
        caps = self.caps[node]
        if point is not self.point or caps is not self.seen_with:
            shift = point.base + self.grain
            parts = [point.part(j, cap) for j, cap in enumerate(caps)]
            able(None not in parts, "--core: a weight without a limit may gain without one")
            self.value = [part << shift if shift >= 0 else part >> -shift for part in parts]
            taus = {r: Fraction(tau) * Fraction(2) ** self.rows[r].exponent for r, tau in point.prices}
            # The first member of a unit stands for it: its value becomes that of the unit, and that of all others 0.
            for j, first, there, back in self.routes:
                moved = self.value[j]
                for r in there if moved > 0 else back:
                    taus[r] = taus.get(r, 0) + Fraction(abs(moved), 1 << self.grain)
                self.value[first], self.value[j] = self.value[first] + moved, 0
            self.order = sorted(range(self.claim.p), key=self.value.__getitem__)
            if point is not self.point:
                self.write(point, taus)
            self.point, self.seen_with = point, caps
        number = len(self.points) - 1
        if self.seen[node] != number:
            self.seen[node] = number
            self.words[node].append(f"at {number}")

    def write(self, point, taus):
        """Writes a point with prices of rows as a line."""
        charged = " ".join(f"{r} {ratio(tau)}" for r, tau in sorted(taus.items()))
        multiples = " ".join(map(str, map(abs, chain.from_iterable(point.betas))))
        self.points.append(f"{ratio(Fraction(2) ** (point.shift - self.exponent))} {1 << self.grain} {len(taus)} {charged} {multiples}")

    def price(self, inside, outside):
        """The price of a place in a box: the value of the last free feature that there is room for."""
        room = self.claim.room - bin(inside).count("1")
        if room <= 0:
            # Below every value, as no place is left to pay for.
            return min(self.value, default=0) - 1
        decided = inside | outside
        free = (self.value[j] for j in self.order if not decided >> j & 1)
        return min(next(islice(free, room - 1, None), 0), 0)

    def follow(self, words, box):
        """Decides what rows say of single features; returns the box, or None if a row leaves no subset in it."""
        (inside, outside), changed = box, self.all
        while changed:
            before, changed = inside | outside, 0
            for r, row in enumerate(self.rows):
                left = row.left(inside, outside)
                if left < 0:
                    words.append(f"empty {r}")
                    return None
                put_in, put_out = row.forced(left, self.all & ~inside & ~outside)
                if put_in | put_out:
                    words.append(f"propagate {r}")
                    inside, outside = inside | put_in, outside | put_out
            changed = (inside | outside) & ~before
        return inside, outside

    def settle(self, node, goal):
        """Follows the rows, also for whole units, where `goal` (masks of units, or None for an empty box) says more than they do of single features."""
        words, box = self.words[node], self.boxes[node] and self.follow(self.words[node], self.boxes[node])
        while box and self.several and (found := self.probe(box, goal)):
            first, taken, other = found
            words += [f"split {first} {int(not taken)}", *other]
            box = self.follow(words, decided(box, first, taken))
        able(box is None or goal is not None, "--core: the rows do not say of a unit what the rules do")
        self.boxes[node] = box
        if box is None:
            self.ends[node] = "", []

    def probe(self, box, goal):
        """A unit of several features that the rows decide: its first feature, the decision, and the words for the box without it."""
        for u, first in self.several:
            for taken in (True, False):
                if (goal is None or goal[not taken] >> u & 1) and not (box[0] | box[1]) >> first & 1:
                    words = []
                    if self.follow(words, decided(box, first, not taken)) is None:
                        return first, taken, words
        return None

    def subset(self, features, problems, objective):
        """Takes a listed subset: its features, and for each problem weights and a bias; `objective` is exact."""
        self.listed[sum(1 << j for j in features)] = features, problems, objective

    def closed(self, box):
        """The words that close a box at the last point; of one subset its features and its bound, as it may be a listed one."""
        if box[0] | box[1] != self.all:
            return f"close {self.price(*box)}"
        value = (self.point.value - self.point.right * Fraction(2) ** self.point.base) * 2**self.grain
        return box[0], math.floor(value) + sum(x for j, x in enumerate(self.value) if box[0] >> j & 1) - self.claim.n * self.claim.squared

    def close(self, node, point):
        if node not in self.ends:
            self.see(node, point)
            self.ends[node] = self.closed(self.boxes[node]), []

    def split(self, node, feature, first, goals):
        """The children are numbered from `first`: the one with the feature in, the one with it out; `goals` are what is known of their boxes."""
        children = [(first, True), (first + 1, False)]
        kept = [] if node in self.ends else [(child, taken) for child, taken in children if not self.boxes[node][taken] >> feature & 1]
        if len(kept) == 2:
            self.ends[node] = f"split {feature} 1", [first, first + 1]
        elif kept:
            self.ends[node] = "", [kept[0][0]]
        for (child, taken), goal in zip(children, goals):
            self.words[child], self.boxes[child], self.seen[child], self.caps[child] = [], None, self.seen[node], self.caps[node]
            if (child, taken) in kept:
                self.boxes[child] = decided(self.boxes[node], feature, taken)
                self.settle(child, goal)
            else:
                self.ends[child] = "", []

    def tighten(self, node, point, features, inner, caps, least):
        """Weights larger in size than `inner` are closed, and the box goes on with `caps`; no such part has a bound below `least`."""
        if node in self.ends:
            return
        able(not self.routes, "--core: a record tightens weights where features are in units")
        self.see(node, point)
        box, self.beyond = self.boxes[node], min(self.beyond, least)
        kept = [(j, u) for j, u in zip(features, inner) if not box[1] >> j & 1]
        items = [f"{j} {ratio(Fraction(u))} {self.price(*decided(box, j, True))}" for j, u in kept]
        self.words[node].append(f"tighten {len(items)} {' '.join(items)}")
        self.caps[node] = caps

    def fix(self, node, point, put_in, put_out, goal):
        """Lists of units. Decisions that contradict each other, or the box, leave nothing: the whole box is closed."""
        if node in self.ends:
            return
        self.see(node, point)
        box, units = self.boxes[node], []
        for u, taken in [(u, True) for u in put_in] + [(u, False) for u in put_out]:
            first = self.claim.members[u][0]
            if box[taken] >> first & 1 or (u, not taken) in units:
                self.close(node, point)
                return
            if not box[not taken] >> first & 1:
                units.append((u, taken))
        for u, taken in units:
            if len(self.claim.members[u]) > 1 and box:
                box = self.fix_unit(node, box, self.claim.members[u][0], taken)
        self.boxes[node] = box and self.fix_features(node, box, [(self.claim.members[u][0], taken) for u, taken in units if len(self.claim.members[u]) == 1])
        self.settle(node, goal)

    def fix_unit(self, node, box, first, taken):
        """A unit of several features is decided, and the box with the other decision closed; returns the box that is left."""
        if (box[0] | box[1]) >> first & 1:
            return box
        words = [f"split {first} {int(not taken)}"]
        other = self.follow(words, decided(box, first, not taken))
        words += [self.closed(other)] if other else []
        self.words[node] += words
        return self.follow(self.words[node], decided(box, first, taken))

    def fix_features(self, node, box, features):
        """Single features are decided, and each box with the other decision closed; returns the box that is left."""
        (inside, outside), items, words = box, [], self.words[node]
        features = [(j, taken) for j, taken in features if not (inside | outside) >> j & 1]
        put_in = sum(1 << j for j, taken in features if taken)
        room, least = bin(inside | put_in).count("1") < self.claim.room, self.price(inside | put_in, outside)
        # Of those put out, the ones above the price of a place go in one step; with no room left, all others are out anyway.
        for j, taken in features:
            other = decided((inside, outside), j, not taken)
            if other[0] | other[1] == self.all:
                words += fixed(items) + [f"split {j} {int(not taken)}", self.closed(other)]
                items = []
            elif taken or (room and self.value[j] < least):
                items.append(f"{j} {int(taken)} {self.price(*other)}")
            else:
                continue
            inside, outside = decided((inside, outside), j, taken)
        words += fixed(items)
        dropped = [self.value[j] for j, _ in features if room and not (inside | outside) >> j & 1]
        if dropped:
            price = self.price(inside, outside)
            gap = max(0, min(dropped) - price)
            words.append(f"drop {price} {gap}")
            kept = sum(1 << j for j, value in enumerate(self.value) if value < price + gap)
            outside |= self.all & ~inside & ~kept
        return inside, outside

    def text(self, rest):
        """Question, claim, listed subsets, points and tree; the claim is this bound, less what rounding of values may cost."""
        claim, rest = self.claim, min(rest, self.beyond)
        # One for each feature, and of the squared hinge for each sample. Where no other subset is left, any claim holds.
        least = math.floor(rest * 2**self.grain) - claim.p - claim.n * claim.squared if math.isfinite(rest) else 0
        numbers, owns, tree = {mask: k for k, mask in enumerate(self.listed)}, dict.fromkeys(self.listed, math.inf), []
        for words in self.tree():
            if isinstance(words, tuple):
                mask, own = words
                owns[mask] = min(own, owns.get(mask, math.inf))
                words = f"alone {numbers[mask]}" if mask in numbers else "close 0"
            tree.append(words)
        bias = claim.bias if claim.s is None else f"penalised {ratio(Fraction(claim.s))}"
        yield f"question {claim.p} {'l1' if claim.l1 else 'ridge'} {'squared-hinge' if claim.squared else 'hinge'} {bias} {ratio(Fraction(2) ** self.exponent)}"
        yield " ".join(ratio(Fraction(price)) for price in claim.penalty)
        limits = enumerate((max(low, -cap), min(high, cap)) for low, high, cap in zip(claim.low, claim.high, claim.caps))
        limits = {j: both for j, both in limits if any(map(math.isfinite, both))}
        yield f"limits {len(limits)} {' '.join(f'{j} {limit(low)} {limit(high)}' for j, (low, high) in limits.items())}"
        yield f"rows {len(self.rows)}"
        for row in self.rows:
            yield f"{row.right} {len(row.terms)} {' '.join(f'{j} {a}' for j, a in row.terms.items())}"
        yield f"problems {len(self.problems)}"
        for problem in self.problems:
            yield f"{problem.n} {' '.join(f'{y:.0f}' for y in problem.labels)}"
            yield " ".join(ratio(c * Fraction(2) ** problem.low) for c in problem.costs)
            for rows, values in problem.columns:
                column = [0] * problem.n
                for i, x in zip(rows, values):
                    column[i] = x
                yield " ".join(map(str, column))
        yield f"claimed {ratio(Fraction(least, 1 << self.grain))}\nlisted {len(self.listed)}"
        for mask, listed in self.listed.items():
            yield self.of_listed(*listed, Fraction(least if owns[mask] == math.inf else owns[mask], 1 << self.grain))
        yield f"points {len(self.points)}"
        yield from self.points
        yield "tree"
        yield from tree
        yield "end"

    def of_listed(self, features, problems, objective, own):
        """A listed subset as a line: weights are integers in a unit 2^low, biases and 1 in that times the scale."""
        claim, grain = self.claim, self.grain + FINER
        low = min(0, *(exponent_of(w) for weights, _ in problems for w in weights), *(exponent_of(b) for _, b in (*problems, (0, 1))))
        unit = Fraction(2) ** min(low, low - self.exponent)
        offset = unit * Fraction(2) ** self.exponent
        stated = Fraction(math.ceil(objective * 2**grain) + claim.n + claim.p, 1 << grain)
        words = [f"{1 << grain} {1 / offset} {ratio(unit)} {ratio(stated)} {ratio(own)} {len(features)}", *map(str, features)]
        for weights, bias in problems:
            words += [str(Fraction(w) / unit) for w in weights] + [str(Fraction(bias) / offset)]
        return " ".join(words)

    def tree(self):
        """The words of all records, in the order of the boxes."""
        todo = [0]
        while todo:
            node = todo.pop()
            yield from self.words[node]
            end, children = self.ends[node]
            yield from [end] if end else []
            todo += reversed(children)


def fixed(items):
    return [f"fix {len(items)} {' '.join(items)}"] if items else []


def exponent_of(x):
    """The exponent of the power of two that this double is an odd multiple of, at most 0."""
    return 1 - Fraction(x).denominator.bit_length()


def decided(box, j, taken):
    """The box with feature j in, or out."""
    inside, outside = box
    return (inside | 1 << j, outside) if taken else (inside, outside | 1 << j)


def limit(x):
    return f"at {ratio(Fraction(x))}" if math.isfinite(x) else "none"


def ratio(x):
    return f"{x.numerator} {x.denominator}"
