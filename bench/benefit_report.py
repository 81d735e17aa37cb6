"""Tables and picture of bench/benefit.py: means, mean ranks, the corrected test of Nadeau and Bengio, the critical difference of Nemenyi."""

import json
import lzma
import math
import pathlib
import sys

import common as c
import numpy as np
from scipy import stats

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "papers"))

from paired import Paired  # noqa: E402

# Peers that a set must have to be ranked.
CORE = ["ANOVA", "L1", "RFE", "random forest"]
FIRST = "study"
# The other panel of a study, by the same run.
SMALLEST = "study, the smallest"
# Samples judged over samples learned from, in five folds.
SHARE = 1 / 4


def rows(path):
    """The rows of a file; of those of one place the last."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        found[key(row)] = row
    return list(found.values())


def key(row):
    return row["set"], row["method"], row["size"], row["repeat"], row["fold"]


def stability(subsets, p):
    """How alike subsets of p features are: Nogueira, Sechidis and Brown 2018, equation (4)."""
    m, count = len(subsets), np.zeros(p)
    for subset in subsets:
        count[subset] += 1
    share, mean = count / m, sum(map(len, subsets)) / m / p
    if m < 2 or mean in (0, 1):
        return None
    return 1 - (m / (m - 1) * share * (1 - share)).mean() / (mean * (1 - mean))


class Cell:
    """One method on one set at one size."""

    def __init__(self, found, p):
        found = sorted(found, key=lambda row: (row["repeat"], row["fold"]))
        self.accuracies = np.array([row["accuracy"] for row in found])
        self.accuracy, self.auc = self.accuracies.mean(), np.mean([row["auc"] for row in found if row["auc"] is not None])
        self.log_loss = mean([row.get("log_loss") for row in found])
        self.se = self.accuracies.std(ddof=1) / math.sqrt(len(found))
        whole = "selected" in found[0]
        self.features = np.mean([len(row["selected"]) for row in found]) if whole else None
        self.stability = stability([row["selected"] for row in found], p) if whole else None
        self.seconds = np.mean([row["seconds"] for row in found]) if whole else None


def cells(found, size, folds, widths, deals=1):
    """{set: {method: cell}} of what is done in every fold of the first deals."""
    out = {}
    for row in found:
        if row["size"] == size and row["repeat"] < deals and row["status"] == "done" and row["fold"] >= 0:
            out.setdefault(row["set"], {}).setdefault(row["method"], []).append(row)
    whole = lambda methods, p: {method: Cell(list_, p) for method, list_ in methods.items() if len(list_) == folds * deals}
    return {name: whole(methods, widths[name]) for name, methods in out.items()}


def corrected(a, b):
    """p of the two-sided t-test that two methods are equal on folds that share training samples."""
    return Paired(a.accuracies, b.accuracies, SHARE).p


def ranked(table, methods, measure="accuracy", sign=1):
    """(mean rank by method, sets): 1 is the largest, or with `sign` -1 the smallest."""
    names = [name for name, known in table.items() if all(method in known for method in methods)]
    ranks = [stats.rankdata([-sign * round(getattr(table[name][method], measure), 9) for method in methods]) for name in names]
    return dict(zip(methods, np.mean(ranks, axis=0).tolist(), strict=True)) if ranks else {}, names


def critical_difference(methods, sets):
    """Difference of mean ranks of this many methods, on this many sets, that counts at 5 % (Nemenyi, all pairs)."""
    return stats.studentized_range.ppf(0.95, methods, np.inf) / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * sets))


def mean(values):
    values = [value for value in values if value is not None]
    return float(np.mean(values)) if values else None


def count(truths):
    return sum(map(bool, truths))


def shown(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def grid(headings, lines):
    return ["| " + " | ".join(row) + " |" for row in [headings, ["---"] * len(headings), *lines]]


def one_size(table, size, ours, deals):
    """Lines of the page, what is kept as JSON, and what the picture shows."""
    sets = [name for name, known in table.items() if all(method in known for method in [FIRST, *CORE])]
    own = {name: table[name] for name in sets}
    methods = sorted({method for known in own.values() for method in known})
    ranking, _ = ranked(own, [method for method in methods if all(method in known for known in own.values())])
    critical = critical_difference(len(ranking), len(sets)) if len(ranking) > 1 else None
    lines, kept = [], []
    for method in sorted(methods, key=lambda method: (ranking.get(method, np.inf), method)):
        at = [known[method] for known in own.values() if method in known]
        both = [(known[FIRST], known[method]) for known in own.values() if method in known]
        record = {
            "method": method, "ours": method in ours, "sets": len(at), "mean_rank": ranking.get(method),
            **{what: mean([getattr(cell, what) for cell in at]) for what in ("accuracy", "auc", "stability", "features", "seconds")},
            "study_better": count(a.accuracy > b.accuracy + 1e-9 for a, b in both), "study_worse": count(a.accuracy < b.accuracy - 1e-9 for a, b in both),
            "study_significantly": [count(corrected(a, b) < 0.05 and sign * (a.accuracy - b.accuracy) > 0 for a, b in both) for sign in (1, -1)],
        }
        kept.append(record)
        versus = "" if method == FIRST else f"{record['study_better']} : {record['study_worse']}"
        sure = "" if method == FIRST else "{} : {}".format(*record["study_significantly"])
        numbers = [shown(record["mean_rank"], 2), *(shown(record[what]) for what in ("accuracy", "auc", "stability"))]
        lines.append([f"**{method}**" if method in ours else method, str(len(at)), *numbers, shown(record["features"], 1), shown(record["seconds"], 2), versus, sure])
    page = [f"## At most {size} features: {len(sets)} sets, {deals} deal{'s' * (deals > 1)} of the folds", ""]
    page += grid(["method", "sets", "mean rank", "accuracy", "AUC", "stability", "features", "s / fold", "study better : worse", "at 5 %"], lines)
    near, best = 0, 0
    for known in own.values():
        peer = max((method for method in known if method not in ours), key=lambda method: known[method].accuracy)
        near += bool(known[FIRST].accuracy >= known[peer].accuracy - known[peer].se)
        best += bool(known[FIRST].accuracy >= known[peer].accuracy - 1e-9)
    page += ["", f"`study` is at least as accurate as the best peer of the set on {best} of {len(sets)} sets, and within one standard error (over its folds) of it on {near}."]
    if critical:
        page.append(f"Ranks are over the methods that are done on all of these sets; they differ at 5 % from {critical:.2f} on (Nemenyi).")
    page += ["", *grid(["accuracy", *sets], [[method, *(shown(own[name][method].accuracy) if method in own[name] else "-" for name in sets)] for method in methods]), ""]
    return page, {"size": size, "sets": sets, "critical_difference": critical, "within_one_se": near, "best": best, "methods": kept}, (ranking, critical)


def picture(panels, ours):
    """Critical-difference diagrams, one below the other: methods on the line of their mean rank, and a bar as long as ranks must differ."""
    out, top = [], 0
    for size, (ranking, critical) in panels:
        order = sorted(ranking, key=ranking.get)
        if not order:
            continue
        k, half = len(order), (len(order) + 1) // 2
        x = lambda rank, k=k: 210 + 420 * (rank - 1) / max(k - 1, 1)
        out.append(f'<text x="12" y="{top + 22}" font-weight="bold">At most {size} features: mean rank (1 is the most accurate)</text>')
        out.append(f'<path d="M{x(1)} {top + 66}H{x(k)}" stroke="#333333"/>')
        for rank in range(1, k + 1):
            out.append(f'<path d="M{x(rank):.1f} {top + 61}v5" stroke="#333333"/><text x="{x(rank):.1f}" y="{top + 56}" text-anchor="middle">{rank}</text>')
        if critical:
            end = x(1) + 420 * critical / max(k - 1, 1)
            out.append(f'<path d="M{x(1)} {top + 36}H{end:.1f}" stroke="#b04000" stroke-width="3"/><text x="{end + 6:.1f}" y="{top + 40}" fill="#b04000">critical difference {critical:.2f}</text>')
        for at, method in enumerate(order):
            left = at < half
            y = top + 88 + 18 * (at if left else k - 1 - at)
            edge, anchor = (200, "end") if left else (640, "start")
            weight = ' font-weight="bold"' if method in ours else ""
            out.append(f'<path d="M{x(ranking[method]):.1f} {top + 66}V{y - 4}H{edge}" stroke="#777777" fill="none"/>')
            out.append(f'<text x="{edge + (-4 if left else 4)}" y="{y}" text-anchor="{anchor}"{weight}>{method} {ranking[method]:.2f}</text>')
        top += 110 + 18 * half
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 {top}" width="840" height="{top}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="840" height="{top}" fill="#ffffff"/>', *out, "</svg>"]) + "\n"


def write(path, widths, sizes, folds, ours):
    """`widths`: by set its number of features."""
    found, page, kept, panels = rows(path), [], [], []
    late = sorted({f"{row['method']} on {row['set']}" for row in found if row["status"] == "limit"})
    most = 1 + max((row["repeat"] for row in found), default=0)
    for deals in sorted({1, most}):
        for size in sizes:
            lines, record, panel = one_size(cells(found, size, folds, widths, deals), size, ours, deals)
            page += lines
            kept.append(record | {"deals": deals})
            if deals == most:
                panels.append((size, panel))
    head = ["# Benefit", "", "`bench/benefit.py`, deals of five outer folds; ours in bold. Ranks by accuracy, ties shared. Times are CPU seconds of one thread. \"At 5 %\": sets on which `study` is better : worse by the corrected t-test of Nadeau and Bengio (2003).", ""]
    tail = ["Beyond its limit of CPU seconds: " + (", ".join(late) or "none") + ".", "", f"{c.cpu()}, {c.versions()}."]
    (c.RESULTS / "benefit.md").write_text("\n".join([*head, *page, *tail]) + "\n")
    shown = [row for row in found if "accuracy" in row or row["status"] == "limit"]
    text = json.dumps({"cpu": c.cpu(), "versions": c.versions(), "sizes": kept, "rows": shown}) + "\n"
    (c.RESULTS / "benefit.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))
    (c.RESULTS / "benefit.svg").write_text(picture(panels, ours))
