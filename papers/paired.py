"""Paired comparisons, and the rule by which docs/reproduction.md says of a claim what the rows bear.
The five scripts and bench/benefit use both. Needs scipy.

A claim has parts, each a comparison that the paper makes. Each part is +1 (as claimed), 0 (no
difference to be told), -1 (the other way round) or None (budgets or data differ, so that the rows
do not answer it). The state follows:

seen           every part that can be tested is +1
partly         some are +1, some are not
not seen       none is +1, some are 0
reversed       all are -1
not testable   there is no part that can be tested

A comparison of means is significant where the two-sided paired t-test has p < 0.05.
"""

import math
import statistics

from scipy import stats

STATES = ("seen", "partly", "not seen", "reversed", "not testable")


class Paired:
    """a - b over the same cases, in the same order.

    `share` is 0 where cases are independent (data sets, drawn problems). Where they are folds that
    share training samples it is the number of test samples divided by that of training samples, and
    the error is that of Nadeau and Bengio (Machine Learning 52, 2003): sqrt(s^2 (1 / n + share)).
    """

    def __init__(self, a, b, share=0.0):
        d = [x - y for x, y in zip(a, b, strict=True)]
        self.n = len(d)
        if self.n < 2:
            raise ValueError(f"{self.n} pairs: at least two are needed")
        self.mean = statistics.fmean(d)
        self.error = math.sqrt(statistics.variance(d) * (1 / self.n + share))
        self.t = self.mean / self.error if self.error else math.copysign(math.inf, self.mean) if self.mean else 0.0
        self.p = 2 * float(stats.t.sf(abs(self.t), self.n - 1))
        self.more, self.less = sum(x > 0 for x in d), sum(x < 0 for x in d)
        self.equal = self.n - self.more - self.less

    def sign(self):
        """1 or -1 where the mean is significantly above or below 0, else 0."""
        return 0 if self.p >= 0.05 else 1 if self.mean > 0 else -1

    def text(self, digits=2, scale=1.0, unit=""):
        """`+1.22 ± 0.47 points, t 2.6; 130 above, 40 equal, 70 below of 240`."""
        mean, error = (f"{scale * value:{sign}.{digits}f}" for value, sign in ((self.mean, "+"), (self.error, "")))
        t = "" if math.isinf(self.t) else f", t {self.t:.1f}"
        return f"{mean} ± {error}{unit and ' ' + unit}{t}; {self.more} above, {self.equal} equal, {self.less} below of {self.n}"


def on_cases(a, b, share=0.0):
    """a - b over the cases that both have, of values by case; None with fewer than two."""
    both = [case for case in a if case in b]
    return Paired([a[case] for case in both], [b[case] for case in both], share) if len(both) > 1 else None


def state(parts):
    """What may be said of a claim whose parts have these signs."""
    known = [sign for sign in parts if sign is not None]
    if not known:
        return "not testable"
    if all(sign > 0 for sign in known):
        return "seen"
    if any(sign > 0 for sign in known):
        return "partly"
    return "reversed" if all(sign < 0 for sign in known) else "not seen"


class Claim:
    """A claim of a paper. `parts` are (what is compared, sign, what the rows say): the sign is a number
    as above, or a truth value of something counted in the rows (True +1, False 0).
    """

    def __init__(self, text, *parts, why=""):
        self.text, self.why = text, why
        self.parts = [(label, None if sign is None else int(sign), said) for label, sign, said in parts]
        self.state = state([sign for _, sign, _ in self.parts])

    def row(self):
        """Its row of the page."""
        open_ = lambda sign: "(open) " if sign is None else ""
        told = [f"{open_(sign)}{label}: {said}" if label else said for label, sign, said in self.parts]
        return [self.text, self.state, ". ".join(filter(None, [*told, self.why]))]


def compared(label, pair, claimed=1, **how):
    """A part that compares means; `claimed` is -1 where the paper says that a is below b."""
    return label, claimed * pair.sign(), pair.text(**how)
