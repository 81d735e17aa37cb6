"""Comparisons on the same cases, and the rule by which docs/reproduction.md says of a claim what the rows bear.
The five scripts and bench/benefit_report.py use it. Needs scipy.

A claim has parts, each a comparison that the paper makes. A part is one of

yes        as claimed, at the 5 % level after Holm's correction for the parts of its claim
no         not as claimed: the 95 % interval lies within the least difference that matters, or a count falls short
reversed   the other way round, at the same level
undecided  neither: the interval holds both nothing and a difference that matters
open       budgets or data differ so much that the rows do not answer it, or there are fewer than five cases

and the state of the claim follows, k being the parts that are yes and m those that are not open:

seen       k = m
partly     0 < k < m
reversed   all m are reversed
undecided  k = 0 and all m are undecided
not seen   k = 0 otherwise
not testable   m = 0

What is "as good" or "the same" is tested against a margin, the least difference that matters
([`Measure.least`]), which is named before any row is read: two-sided at that margin, so that the 95 %
interval lies beyond it. What is "much" more is tested likewise against `by`.
"""

import math
import statistics
from dataclasses import dataclass

from scipy import stats

LEVEL, FEWEST = 0.05, 5
YES, NO, REVERSED, UNDECIDED, OPEN = OUTCOMES = ("yes", "no", "reversed", "undecided", "open")
STATES = ("seen", "partly", "not seen", "reversed", "undecided", "not testable")


@dataclass(frozen=True)
class Measure:
    """What is compared: its unit, the least difference that matters, in that unit, and how it is written."""

    unit: str
    least: float
    digits: int = 2
    scale: float = 1.0  # from the values to the unit

    def text(self, value, sign="+"):
        return f"{self.scale * value:{sign}.{self.digits}f}"

    @property
    def margin(self):
        """The least difference that matters, in the scale of the values."""
        return self.least / self.scale


# Accuracies as shares, and in percent.
POINTS = Measure("points", 1.0, scale=100)
PERCENT_POINTS = Measure("points", 1.0)


class Paired:
    """a - b over the same cases, in the same order.

    `share` is 0 where cases are independent (data sets, drawn problems). Where they are folds that
    share training samples it is the number of test samples divided by that of training samples, and
    the error is that of Nadeau and Bengio (Machine Learning 52, 2003): sqrt(s^2 (1 / n + share)).

    With `strata`, a label for each case (the data set of a fold), the mean is that of the strata's
    means, the error is made of the variances inside them, sqrt(sum_g s_g^2 (1 / n_g + share)) / G,
    and the degrees of freedom are Satterthwaite's.
    """

    def __init__(self, a, b, share=0.0, strata=None):
        d = [x - y for x, y in zip(a, b, strict=True)]
        self.n = len(d)
        groups = {}
        for label, value in zip(strata or [0] * self.n, d, strict=True):
            groups.setdefault(label, []).append(value)
        if self.n < 2 or min(map(len, groups.values())) < 2:
            raise ValueError(f"{self.n} pairs: at least two are needed, in each stratum")
        self.mean = statistics.fmean(statistics.fmean(of) for of in groups.values())
        parts = [statistics.variance(of) * (1 / len(of) + share) / len(groups) ** 2 for of in groups.values()]
        self.error = math.sqrt(sum(parts))
        freedom = sum(v * v / (len(of) - 1) for v, of in zip(parts, groups.values()))
        self.df = sum(parts) ** 2 / freedom if freedom else self.n - len(groups)
        self.more, self.less = sum(x > 0 for x in d), sum(x < 0 for x in d)
        self.equal = self.n - self.more - self.less

    def against(self, value):
        """t and two-sided p of the mean's being another than this value."""
        off = self.mean - value
        t = off / self.error if self.error else math.copysign(math.inf, off) if off else 0.0
        return t, min(1.0, 2 * float(stats.t.sf(abs(t), self.df)))

    @property
    def t(self):
        return self.against(0)[0]

    @property
    def p(self):
        return self.against(0)[1]

    @property
    def interval(self):
        """The 95 % interval of the mean."""
        half = float(stats.t.ppf(1 - LEVEL / 2, self.df)) * self.error
        return self.mean - half, self.mean + half

    def sign(self):
        """1 or -1 where the mean is significantly above or below 0, else 0."""
        return 0 if self.p >= LEVEL else 1 if self.mean > 0 else -1

    def size(self, measure):
        """`+1.22 points [0.36, 2.08]`."""
        low, high = (measure.text(end, "") for end in self.interval)
        return f"{measure.text(self.mean)}{measure.unit and ' ' + measure.unit} [{low}, {high}]"

    def counts(self):
        return f"{self.more} above, {self.equal} equal, {self.less} below of {self.n}"

    def text(self, measure):
        """`+1.22 points [0.36, 2.08], p .0061; 130 above, 40 equal, 70 below of 240`."""
        return f"{self.size(measure)}, p {p_text(self.p)}; {self.counts()}"


class Apart(Paired):
    """The mean of a less that of b over cases of their own, by Welch's test."""

    def __init__(self, a, b):
        self.n = len(a) + len(b)
        parts = [statistics.variance(of) / len(of) for of in (a, b)]
        self.mean, self.error = statistics.fmean(a) - statistics.fmean(b), math.sqrt(sum(parts))
        self.df = sum(parts) ** 2 / sum(v * v / (len(of) - 1) for v, of in zip(parts, (a, b))) if sum(parts) else self.n - 2

    def counts(self):
        return f"{self.n} cases, not paired"


def p_text(p):
    """`.012`, `2e-05`, `1`, `< 1e-9`."""
    return f"{p:.2g}".removeprefix("0") if p >= 0.001 else f"{p:.0e}" if p >= 1e-9 else "< 1e-9"


def on_cases(a, b, share=0.0, cluster=None, stratum=None):
    """a - b over the cases that both have, of values by case; None with fewer than two.

    Cases of the same `cluster(case)` share samples or a seed: they are one case, the mean of theirs.
    `stratum(case)` is the data set of a fold.
    """
    both = [case for case in a if case in b]
    groups = {}
    for case in both:
        groups.setdefault(cluster(case) if cluster else case, []).append(case)
    if len(groups) < 2:
        return None
    mean = lambda values, cases: statistics.fmean(values[case] for case in cases)
    strata = [stratum(cases[0]) for cases in groups.values()] if stratum else None
    return Paired([mean(a, of) for of in groups.values()], [mean(b, of) for of in groups.values()], share, strata)


class Part:
    """One comparison: its label, what the rows say, and how they decide. `p` belongs to the outcome
    `if_small`, which it is where p is small enough; else the outcome is `otherwise`.
    """

    def __init__(self, label, said, if_small=None, p=None, otherwise=UNDECIDED):
        self.label, self.said, self.if_small, self.p, self.otherwise = label, said, if_small, p, otherwise
        self.outcome = otherwise

    def decide(self, adjusted):
        """Its outcome where p is corrected for the parts of the claim."""
        self.outcome = self.if_small if adjusted < LEVEL else self.otherwise
        self.said = self.said.replace("{p}", p_text(adjusted))

    def text(self):
        return f"*{self.outcome}*: {self.label}{': ' if self.label and self.said else ''}{self.said}"


def left_open(label, said):
    """A part that the rows do not answer."""
    return Part(label, said, otherwise=OPEN)


def too_few(label, pair, measure):
    """The part of a comparison with fewer than five cases, else none."""
    if pair is not None and pair.n >= FEWEST:
        return None
    return left_open(label, f"{pair.size(measure)} on {pair.n} cases" if pair else "no pairs")


def described(pair, measure, margin=False):
    said = f"{pair.size(measure)}, p {{p}}; {pair.counts()}"
    return f"{said}; margin {measure.least:g} {measure.unit}".rstrip() if margin else said


def more(label, pair, measure, claimed=1, by=0.0):
    """A part: a is above b (`claimed` -1: below). `by` is how much at least, in the unit, where the paper says "much"."""
    if unanswered := too_few(label, pair, measure):
        return unanswered
    value, said = claimed * by / measure.scale, described(pair, measure)
    up = claimed * (pair.mean - value) > 0
    if by and not up and claimed * pair.mean > 0:  # the right way, but less than claimed
        return Part(label, f"{said} (of {by:g} {measure.unit})", NO, pair.against(value)[1])
    p = pair.against(value if up else 0)[1]
    low, high = pair.interval
    level = not by and -measure.margin < low and high < measure.margin
    return Part(label, said, YES if up else REVERSED, p, NO if level else UNDECIDED)


def as_good(label, pair, measure, claimed=1):
    """A part: a is not below b (`claimed` -1: not above) by the least difference that matters."""
    if unanswered := too_few(label, pair, measure):
        return unanswered
    margin = -claimed * measure.margin
    good = claimed * (pair.mean - margin) > 0
    return Part(label, described(pair, measure, margin=True), YES if good else REVERSED, pair.against(margin)[1])


def same(label, pair, measure):
    """A part: a and b differ by less than the least difference that matters, either way (two one-sided tests)."""
    if unanswered := too_few(label, pair, measure):
        return unanswered
    nearer = math.copysign(measure.margin, pair.mean)
    return Part(label, described(pair, measure, margin=True), YES if abs(pair.mean) < measure.margin else REVERSED, pair.against(nearer)[1])


WINS = Measure("of them", 0.2)  # the least excess of wins that matters, as a share of all cases


def wins(label, up, down, of, said=""):
    """A part: a is ahead on more cases than behind, by the sign test; the interval is of the excess, as a share of all."""
    said = said or f"ahead on {up}, behind on {down} of {of}"
    if of < FEWEST:
        return left_open(label, said)
    p = float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0
    excess, wide = (up - down) / of, 1.96 * math.sqrt(max((up + down) / of - ((up - down) / of) ** 2, 0) / of)
    level = excess - wide > -WINS.least and excess + wide < WINS.least
    ends = f"[{max(excess - wide, -1):.2f}, {min(excess + wide, 1):.2f}]"
    return Part(label, f"{said}, excess {excess:+.2f} {ends}, p {{p}}", YES if up > down else REVERSED, p, NO if level else UNDECIDED)


def trend(label, x, y, claimed=1):
    """A part: y grows with x, by Spearman's rank correlation; its interval by Fisher's transformation."""
    found = stats.spearmanr(x, y)
    r, wide = float(found.statistic), 1.96 * 1.03 / math.sqrt(len(x) - 3)
    low, high = math.tanh(math.atanh(r) - wide), math.tanh(math.atanh(r) + wide)
    level = -0.2 < low and high < 0.2
    said = f"correlation {r:+.2f} [{low:.2f}, {high:.2f}], p {{p}} ({len(x)} cases)"
    return Part(label, said, YES if claimed * r > 0 else REVERSED, float(found.pvalue), NO if level else UNDECIDED)


def every(label, good, of, said=""):
    """A part: something holds on every case. It is reversed where it fails on significantly more than half."""
    said = said or f"{good} of {of}"
    if good == of:
        return Part(label, said, otherwise=YES) if of else left_open(label, "no cases")
    failing = good < of / 2 and float(stats.binomtest(good, of).pvalue) < LEVEL
    return Part(label, said, otherwise=REVERSED if failing else NO)


def none(label, found, of, said=""):
    """A part: something holds on no case."""
    return every(label, of - found, of, said or f"{found} of {of}")


def most(label, good, of, said=""):
    """A part: something holds on more than half of the cases, by the sign test."""
    return wins(label, good, of - good, of, said or f"{good} of {of}")


def out_of_reach(label, proven, of, ours, theirs, said):
    """A part: a program is not solved within a limit. With a limit below the paper's a run that does not end says
    nothing; one that does end is evidence against the claim.
    """
    if ours < theirs and proven < of:
        return left_open(label, f"{said}; {ours:g} s, where the paper has {theirs:g} s")
    return none(label, proven, of, said)


def holm(values):
    """p-values corrected for their number (Holm 1979), in the order given."""
    out, least = [0.0] * len(values), 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=lambda k: values[k])):
        least = max(least, min(1.0, (len(values) - rank) * values[at]))
        out[at] = least
    return out


def state(outcomes):
    """What may be said of a claim whose parts have these outcomes."""
    known = [o for o in outcomes if o != OPEN]
    if not known:
        return "not testable"
    if all(o == YES for o in known):
        return "seen"
    if YES in known:
        return "partly"
    return known[0] if len(set(known)) == 1 and known[0] in (REVERSED, UNDECIDED) else "not seen"


def counted(outcomes):
    """`2 of 3`: the parts that are as claimed, of those that are not open."""
    known = [o for o in outcomes if o != OPEN]
    return f"{known.count(YES)} of {len(known)}" if known else "all open"


class Claim:
    """A claim of a paper: its number on the page, in one sentence what is claimed, the paper's own words, the
    tables and figures it is drawn from, and its parts.
    """

    def __init__(self, number, text, words, of, *parts, why=""):
        self.number, self.text, self.words, self.of, self.why = number, text, words, of.split(", "), why
        self.parts = parts
        tested = [part for part in parts if part.p is not None]
        for part, adjusted in zip(tested, holm([part.p for part in tested])):
            part.decide(adjusted)

    @property
    def outcomes(self):
        return [part.outcome for part in self.parts]

    @property
    def state(self):
        return state(self.outcomes)

    def row(self):
        """Its row of the page."""
        words = f" \"{self.words}\"" if self.words else ""
        told = ". ".join(filter(None, [*(part.text() for part in self.parts), self.why]))
        return [self.number, f"{self.text}{words}", f"{self.state}, {counted(self.outcomes)}", told]


@dataclass(frozen=True)
class Shown:
    """A table or figure of a paper: where ours is, what the paper's has, and why ours may differ. `fact` is its state
    where it is no result: implemented, not available.
    """

    name: str
    ours: str
    theirs: str
    why: str = ""
    fact: str = ""

    def row(self, claims):
        """Its row of the page: its state is that of all parts of the claims drawn from it."""
        mine = [claim for claim in claims if self.name in claim.of]
        outcomes = [o for claim in mine for o in claim.outcomes]
        whole = "partly" if OPEN in outcomes else "same"
        said = self.fact or {"seen": whole, "not seen": "not the same", "reversed": "not the same"}.get(state(outcomes), state(outcomes))
        still = f", {outcomes.count(OPEN)} open" if OPEN in outcomes and YES in outcomes else ""
        number = f", {counted(outcomes)}{still}" if mine else ""
        listed = ", ".join(claim.number for claim in mine)
        return [self.name, self.ours, self.theirs, said + number, " ".join(filter(None, [listed and f"{listed}.", self.why]))]
