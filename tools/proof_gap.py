"""What a proof leaves open of what features can gain, and the verdict in the words of `fewest verify`."""

import math
from fractions import Fraction

INFINITY = math.inf
# From this gap on all is open.
ALL = 1 - Fraction(1, 10**12)


def percent(share):
    x = 100 * share
    if x == 0:
        return "0 %"
    digits = 1 if 10 <= x < 1e6 else 2 if 0.1 <= x < 10 else 1 - math.floor(math.log10(x)) if 1e-4 <= x < 0.1 else None
    return f"{x:.1e} %" if digits is None else f"{x:.{digits}f} %" if x >= 0.1 else f"{x:.{digits}f}".rstrip("0") + " %"


def at_most(share):
    """A share in percent, rounded up to the digits shown."""
    rounded = float(share)
    while percent(rounded) != "0 %" and Fraction(percent(rounded)[:-2]) < 100 * share:
        rounded += rounded * 2.0**-12
    return percent(rounded)


class Gaps:
    """How much of the gain, and of the objective, the best listed subset may leave open; None where no number says."""

    def __init__(self, claim, best, bound, baseline):
        self.of_gain = self.of_objective = None
        self.loss = self.proves = self.nothing = False
        if best is None:
            self.proves = bound > -INFINITY
            return
        nothing = abs(baseline) / 10**9
        self.loss = not claim.alignment and best > baseline + nothing
        open_part = best - bound if math.isfinite(bound) else 0 if bound > 0 else INFINITY
        gain, price = abs(baseline - best), Fraction(min(claim.penalty, default=0))
        if best <= bound:
            self.of_gain = Fraction(0)
        elif math.isfinite(bound):
            if gain > nothing:
                self.of_gain = open_part / max(abs(baseline - bound), gain, price if best > baseline else 0)
            else:
                self.of_gain = open_part / price if price else Fraction(open_part > nothing)
        if best <= bound:
            self.of_objective = Fraction(0)
        elif math.isfinite(bound) and best:
            self.of_objective = open_part / abs(best)
        self.nothing = not claim.alignment and gain <= nothing and not price and self.of_gain == 0
        proven = bound > -INFINITY
        self.proves = proven and (best <= bound or (None not in (self.of_gain, self.of_objective) and max(self.of_gain, self.of_objective) < ALL))
        self.noun = "bound" if claim.alignment else "loss" if self.loss else "gain"

    def text(self):
        if None in (self.of_gain, self.of_objective):
            return None
        return f"{at_most(self.of_gain)} of the {self.noun} and {at_most(self.of_objective)} of the objective"


def baseline_of(claim, problems):
    """The least objective of a bias alone."""
    total = Fraction(0)
    for problem in problems if not claim.alignment else []:
        by_class = [sum(c for c, y in zip(problem.costs, problem.labels) if y == label) * Fraction(2) ** problem.low for label in (1, -1)]
        more, less = max(by_class), min(by_class)

        def loss(b, more=more, less=less):
            return more * (1 - b) ** (1 + claim.squared) + less * (1 + b) ** (1 + claim.squared)

        s = Fraction(claim.s) if claim.s is not None else None
        if more == 0:
            continue
        if claim.bias == "none":
            total += loss(0)
        elif claim.l1:
            total += min(loss(0), loss(1) + (1 / s if s else 0))
        else:
            of_bias = 1 / (s * s) if s else 0
            b = (more - less) / (more + less + of_bias / 2) if claim.squared else min(s * s * (more - less), 1) if s else int(more > less)
            total += loss(b) + b * b * of_bias / 2
    return total


def first_line(found):
    """The verdict, in the words of `fewest verify`."""
    gaps, within = found["gaps"], ", with weights within u" if found["within"] else ""
    if found["verdict"] == "nothing":
        return "VERIFIED nothing: no subset is listed and no bound is proven"
    text = gaps.text()
    if found["verdict"] == "objective_only":
        return "VERIFIED objective only: " + (f"the bound leaves {text} open" if text else "nothing is proven of other subsets")
    if text and gaps.nothing:
        of_objective = at_most(gaps.of_objective)
        return f"VERIFIED within {of_objective} of the objective: no allowed subset gains more than a billionth of the objective without features{within}"
    if text:
        return f"VERIFIED within {text}{within}"
    if found["objective"] is None:
        return f"VERIFIED a bound only: no subset is {'allowed' if found['infeasible'] else 'listed'}{within}"
    return f"VERIFIED objective and bound{within}"
