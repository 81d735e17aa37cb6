"""Text for the checker that is proven in Coq (verified/README.md says what its words mean and which questions it takes)."""

import math
from fractions import Fraction
from itertools import islice

from proof_table import able

# Values of features are rounded down to about this many bits below the sum of costs, which small integers hold.
BITS = 60


def suited(claim):
    """Whether the question is one of those that the theorem is about."""
    able(not claim.alignment, "--core: the proof is about alignments, and the theorem about linear SVMs")
    able(not claim.l1, "--core: the gain is l1, and the theorem is about ridge")
    able(claim.bias == "free", "--core: the bias is not free, and the theorem is about a free one")
    able(claim.t == 1, f"--core: the proof has {claim.t} problems, and the theorem is about one")
    beyond = [key for key in ("require", "implies", "at_most", "at_least", "together", "weights") if claim.rules.get(key)]
    beyond += ["budget"] if claim.rules.get("budget") is not None else []
    able(not beyond, f"--core: the rules have {', '.join(beyond)}, and the theorem is about a size and prices; forbidden features are left out")


class Core:
    """The records as a tree of boxes, taken as they are checked. Each box is masks of the features that are in and out."""

    def __init__(self, claim, problem, exponent):
        self.claim, self.problem, self.exponent = claim, problem, exponent
        forbidden = set(claim.rules.get("forbid", []))
        # Units are single features here; `place` is a unit's number among the columns that are written.
        self.kept = [j for j in range(claim.p) if j not in forbidden]
        self.place = {claim.unit[j]: k for k, j in enumerate(self.kept)}
        self.grain = max(0, BITS - sum(problem.costs).bit_length() - problem.low)
        self.boxes, self.words, self.ends = {0: (0, 0)}, {0: []}, {}
        self.points, self.point = [self.written(0, [0] * problem.n)], None

    def written(self, e, multiples):
        """A dual point as a line."""
        return f"{ratio(Fraction(2) ** e)} {1 << self.grain} {' '.join(map(str, multiples))}"

    def see(self, point):
        """The number of a point; its values of features are kept, in order and by place."""
        if point is self.point:
            return len(self.points) - 1
        self.point, self.value = point, []
        self.points.append(self.written(point.shift - self.exponent, map(abs, point.betas[0])))
        shift = point.base + self.grain
        for j in self.kept:
            value = point.part(j, self.claim.caps[j]) - point.rates.get(j, 0)
            self.value.append(value << shift if shift >= 0 else value >> -shift)
        self.order = sorted(range(len(self.value)), key=self.value.__getitem__)
        return len(self.points) - 1

    def price(self, taken, decided):
        """The price of a place where `taken` features are in: the value of the last free one that there is room for."""
        room = self.claim.room - taken
        if room <= 0:
            # Below every value, as no place is left to pay for.
            return min(self.value, default=0) - 1
        free = (self.value[k] for k in self.order if not decided >> k & 1)
        return min(next(islice(free, room - 1, None), 0), 0)

    def close(self, node, point):
        if node not in self.ends:
            number, (inside, outside) = self.see(point), self.boxes[node]
            self.ends[node] = f"close {number} {self.price(bin(inside).count('1'), inside | outside)}"

    def split(self, node, unit, first):
        """The children are numbered from `first`: the one with the unit in, the one with it out."""
        inside, outside = self.boxes[node]
        for child, taken in ((first, True), (first + 1, False)):
            one = 1 << self.place[unit] if unit in self.place else 0
            self.boxes[child] = (inside | one, outside & ~one) if taken else (inside & ~one, outside | one)
            self.words[child] = []
        self.ends.setdefault(node, (self.place.get(unit), first))

    def fix(self, node, point, put_in, put_out):
        """Lists of units. Decisions that contradict each other, or the box, leave nothing: the whole box is closed."""
        number, (inside, outside) = self.see(point), self.boxes[node]
        places = []
        for unit, taken in [(unit, True) for unit in put_in] + [(unit, False) for unit in put_out]:
            one = 1 << self.place[unit] if unit in self.place else 0
            if (taken and (not one or outside & one)) or (not taken and inside & one):
                self.close(node, point)
                return
            if one and not (inside | outside) & one:
                places.append((self.place[unit], taken))
                inside |= one * taken
        if node in self.ends:
            return
        inside, size, items = self.boxes[node][0], bin(self.boxes[node][0]).count("1"), []
        least = self.price(size + sum(taken for _, taken in places), inside | outside | sum(1 << k for k, taken in places if taken))
        # Of those put out, the ones above the price of a place go in one step; with no room left, all others are out anyway.
        room = size + sum(taken for _, taken in places) < self.claim.room
        for k, taken in places:
            if taken or (room and self.value[k] < least):
                items.append(f"{k} {int(taken)} {self.price(size + (not taken), inside | outside | 1 << k)}")
                inside, outside, size = (inside | 1 << k, outside, size + 1) if taken else (inside, outside | 1 << k, size)
        if items:
            self.words[node].append(f"fix {number} {len(items)} {' '.join(items)}")
        dropped = [self.value[k] for k, taken in places if room and not taken and self.value[k] >= least]
        if dropped:
            price = self.price(size, inside | outside)
            gap = max(0, min(dropped) - price)
            self.words[node].append(f"drop {number} {price} {gap}")
            kept = sum(1 << k for k, value in enumerate(self.value) if value < price + gap)
            outside |= ((1 << len(self.kept)) - 1) & ~inside & ~kept
        self.boxes[node] = inside, outside

    def text(self, bound):
        """Question, claim, points and tree; the claim is this bound, less what rounding of values may cost."""
        problem, low = self.problem, Fraction(2) ** self.problem.low
        # One for each feature that counts, and of the squared hinge for each sample.
        roundings = self.claim.room + 1 + problem.n * self.claim.squared
        claimed = Fraction(math.floor(bound * 2**self.grain) - roundings, 1 << self.grain)
        loss = "squared-hinge" if self.claim.squared else "hinge"
        yield f"question {problem.n} {len(self.kept)} {self.claim.room} {loss}\n{ratio(Fraction(2) ** self.exponent)}"
        yield " ".join(f"{y:.0f}" for y in problem.labels)
        yield " ".join(ratio(c * low) for c in problem.costs)
        yield " ".join(ratio(Fraction(self.claim.penalty[j])) for j in self.kept)
        for j in self.kept:
            column = [0] * problem.n
            for i, x in zip(*problem.columns[j]):
                column[i] = x
            yield " ".join(map(str, column))
        yield f"claimed {ratio(claimed)}\npoints {len(self.points)}"
        yield from self.points
        yield "tree"
        todo = [0]
        while todo:
            node = todo.pop()
            yield from self.words[node]
            # No record closes a box that was found empty: at the point of zeros it is empty, too.
            end = self.ends.get(node, "close 0 0")
            if isinstance(end, str):
                yield end
                continue
            place, first = end
            todo.append(first + 1)
            if place is not None:
                yield f"split {place}"
                todo.append(first)
            # Otherwise the feature is forbidden: it is out, and has no column.
        yield "end"


def ratio(x):
    return f"{x.numerator} {x.denominator}"
