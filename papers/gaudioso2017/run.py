#!/usr/bin/env python3
"""The experiments of gaudioso2017 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/gaudioso2017/run.py [--fewest PATH] [--only PART ...] [--sets NAME ...] [--grid-limit 2]

selection  Tables 4.2, 4.3: C in {0.1, 1, 10, 100} at D = 0 (`l1-svm`), tenfold on 90 % of the
           samples, and leave-one-out
grid       Tables 4.4 to 4.7: C = 1, D in {0.01, 0.1, 1, 10}, tenfold on 90 %, the paper's three sets
           that are to be had: the program as printed (`mbp --plain`, HiGHS), the heuristic as printed
           (`lagrangian --plain`), and both of ours, all at the same limit
u          `mbp` as in grid, at D of 0.01 and 1, with u of 5, 20 and 100 in the place of 10
limits     Tables 4.8 to 4.11: C = 1, D = 0.01, trained on 90 %, tested on 10 %: the same four at 5 and
           20 s, `mbp --plain` at 10 and 60 s, too; of the stand-ins at 5 s
literal    all of these with standardised features and u_k by the preprocessing as it is printed, which
           the paper's own tables refute
hard       standardised features, u the same for every feature, the largest of these u_k; all samples;
           `mbp --plain` and `mbp` at 60 s, `lagrangian` at 5

But in literal and hard every feature goes from -1 to 1 on the training part, and u is 10 for all but in `u`:
README.md says how the paper's tables tell. c1 is the share of samples right among those left out: the
fold, the sample, or the 10 %; c2 among those trained on. The pages are OUT/tables.md, OUT/literal.md and
OUT/hard.md. Needs numpy, pandas and scipy.
"""

import functools
import pathlib
import sys
import tempfile

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402
import paired  # noqa: E402
import printed  # noqa: E402
from common import gap, mean, number, table  # noqa: E402

# Carcinoma and Tumor2 are not to be had; breast and glioma stand in for them.
SETS = ("leukemia_5327", "dlbcl_shipp", "cns_pomeroy", "breast_west_er", "glioma_4434")
OURS = SETS[:3]  # sets of the paper
COSTS, PENALTIES = (0.1, 1, 10, 100), (0.01, 0.1, 1, 10)
SHARES = (0, 2, 4, 9)
PARTS = ("selection", "grid", "u", "limits", "literal", "hard")
GRID = ("mbp --plain", "lagrangian --plain", "mbp", "lagrangian")
# As the paper's tables have it: every gene in [-1, 1] on the training part, one u for all.
RANGE = {"scale": "range", "u": 10}
OTHER_U, AT_D = (5, 20, 100), (0.01, 1)
# Seconds of the literal preprocessing in grid, and the limits in `limits`: which methods at which.
LITERAL = {"mbp": 60, "lagrangian --plain": 5, "lagrangian": 60}
LIMITS = {"mbp --plain": (5, 10, 20, 60), "lagrangian --plain": (5, 20), "mbp": (5, 20), "lagrangian": (5, 20)}


class Set:
    """A data set, the tenth of it that is set apart, and the ten folds of the rest; stratified."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.table = pd.read_csv(common.data(f"{name}.csv.gz"))
        y = self.table.iloc[:, -1].to_numpy()
        draw = np.random.default_rng(0)
        fold = np.empty(len(y), int)
        for label in np.unique(y):
            at = draw.permutation(np.flatnonzero(y == label))
            fold[at] = np.arange(len(at)) % 10
        self.apart, self.rest = np.flatnonzero(fold == 9), np.flatnonzero(fold != 9)
        inner = np.empty(len(self.rest), int)
        for label in np.unique(y):
            at = draw.permutation(np.flatnonzero(y[self.rest] == label))
            inner[at] = np.arange(len(at)) % 10
        self.folds = [(self.rest[inner != k], self.rest[inner == k]) for k in range(10)]
        self.leave_one_out = [(np.delete(self.rest, i), self.rest[[i]]) for i in range(len(self.rest))]

    def files(self, split):
        """The files of a split, training and test."""
        paths = self.folder / "train.csv", self.folder / "test.csv"
        for rows, path in zip(split, paths):
            self.table.iloc[rows].to_csv(path, index=False)
        return paths

    def majority(self, split):
        """What a classifier without features gets right, of test and training."""
        y = self.table.iloc[:, -1].to_numpy()
        label = pd.Series(y[split[0]]).mode()[0]
        return [100 * float((y[rows] == label).mean()) for rows in reversed(split)]


def judged(fewest, data, split, files, words):
    """One classifier: its correctness, |w|_1, the shares of features, bounds, time."""
    train, test = files
    result = fewest.select(train, *words)
    machine = result.get("model")
    p = data.table.shape[1] - 1
    if machine or not result["selected"]:
        weights = np.abs(machine["machines"][0]["weights"] if machine else [])
        # Of the empty subset: the larger class.
        right = [100 * fewest.judged(result, path, data.folder) for path in (test, train)] if machine else data.majority(split)
        row = {"test": right[0], "train": right[1], "norm": float(weights.sum())}
        row |= {f"ft {x}": 100 * float((weights > 10.0**-x).sum()) / p for x in SHARES}
    else:  # stopped before it had a classifier of its subset
        row = dict.fromkeys(["test", "train", "norm", *(f"ft {x}" for x in SHARES)])
    told = ("status", "objective", "bound", "relaxation", "dual", "linear_programs", "program_seconds", "seconds")
    row |= {field: result.get(field) for field in (*told, "features_without_bound", "features_removed")}
    row |= {"features": len(result["selected"]), "nodes": result["counts"]["nodes"]}
    if "steps" in result:
        steps = result["steps"]
        row |= {"steps": len(steps), "serious": sum(s["serious"] for s in steps)}
        row |= {"monotone": all(a["lower"] <= b["lower"] for a, b in zip(steps, steps[1:]))}
    return row


def asked(part, name, method, D, limit, **more):
    """The key of a run; `method` with its options."""
    method, _, options = method.partition(" ")
    return {"part": part, "set": name, "method": method, "C": 1, "D": D, **more, "limit": limit, "options": options}


def words(key, *more):
    """The key as words of the command."""
    limit = ["--time-limit", f"{key['limit']:g}s"] if key["limit"] else []
    price = ["--penalty", key["D"]] if key["D"] else []
    # `hard` says its own u.
    price += ["--weight-bound", key.get("u", "paper")] if price and key["part"] != "hard" else []
    price += ["--scale", key["scale"]] if "scale" in key else []
    return ["-m", key["method"], "--cost", key["C"], *price, *key["options"].split(), *limit, *more]


def selection_key(name, kind, C, fold, form):
    return asked("selection", name, "l1-svm", 0, None, kind=kind, fold=fold, **{k: v for k, v in form.items() if k != "u"}) | {"C": C}


def grid_key(name, method, D, fold, limit, form):
    return asked("grid", name, method, D, limit, fold=fold, **form)


def u_key(name, D, fold, limit, u):
    return asked("u", name, "mbp", D, limit, fold=fold, scale="range", u=u)


def ask(fewest, rows, data, split, keys, *more):
    """The runs of one split; its files are made when the first is missing."""
    made = []
    for key in keys:

        def work():
            made[:] = made or [data.files(split)]
            return judged(fewest, data, split, made[0], words(key, *more))

        rows.get(key, work)


def run(fewest, rows, args):
    with tempfile.TemporaryDirectory() as folder:
        of = functools.cache(lambda name: Set(name, pathlib.Path(folder)))
        for part in args.only or PARTS:
            for name in args.sets or SETS:
                if part == "hard":
                    hard(fewest, rows, of(name), 60)
                elif part == "literal":
                    literal(fewest, rows, of(name), args)
                elif part == "selection":
                    selection(fewest, rows, of(name), args, RANGE)
                elif part == "limits":
                    runs = [(m, t) for m, limits in LIMITS.items() for t in limits if t in args.limits]
                    if name not in OURS:  # no numbers to compare with
                        runs = [(m, t) for m, t in runs if t == 5]
                    data = of(name)
                    ask(fewest, rows, data, (data.rest, data.apart), [asked("limits", name, m, 0.01, t, **RANGE) for m, t in runs])
            if part == "u":
                for name in args.sets or OURS:
                    for k in range(10)[: args.folds]:
                        keys = [u_key(name, D, k, args.grid_limit, u) for D in AT_D for u in OTHER_U]
                        ask(fewest, rows, of(name), of(name).folds[k], keys)
            if part == "grid":
                for k in range(10)[: args.folds]:
                    for name in args.sets or OURS:
                        keys = [grid_key(name, m, D, k, args.grid_limit, RANGE) for m in GRID for D in args.penalties]
                        ask(fewest, rows, of(name), of(name).folds[k], keys)


def selection(fewest, rows, data, args, form):
    """Tables 4.2 and 4.3; leave-one-out of the paper's sets."""
    kinds = [("tenfold", data.folds)] + ([("leave-one-out", data.leave_one_out)] if data.name in OURS or not form else [])
    for kind, splits in kinds:
        for k, split in list(enumerate(splits))[: args.folds]:
            ask(fewest, rows, data, split, [selection_key(data.name, kind, C, k, form) for C in args.costs])


def literal(fewest, rows, data, args):
    """All tables with standardised features and u_k by the preprocessing as it is printed."""
    selection(fewest, rows, data, args, {})
    for method, limit in LITERAL.items():
        for k, split in list(enumerate(data.folds))[: args.folds]:
            ask(fewest, rows, data, split, [grid_key(data.name, method, D, k, limit, {}) for D in args.penalties])
    runs = [("mbp --plain", t) for t in (5, 10, 1000)]
    runs += [(method, 1000) for method in ("mbp", "lagrangian", "lagrangian --plain")]
    ask(fewest, rows, data, (data.rest, data.apart), [asked("limits", data.name, m, 0.01, t) for m, t in runs])


def hard(fewest, rows, data, limit):
    whole = np.arange(len(data.table))

    def largest():
        """The largest u_k of the paper's preprocessing, to 6 digits."""
        train, _ = data.files((whole, whole[:2]))
        found = [fewest.select(train, "-m", "l1-svm", "--cost", C)["model"]["machines"][0]["weights"] for C in COSTS]
        return {"u": float(f"{max(max(map(abs, w)) for w in found):.6g}")}

    u = rows.get({"part": "hard", "set": data.name, "method": "u"}, largest)["u"]
    for D in PENALTIES:
        runs = [("lagrangian", 5), ("mbp", limit), ("mbp --plain", limit)]
        keys = [asked("hard", data.name, method, D, seconds) for method, seconds in runs]
        ask(fewest, rows, data, (whole, whole[:2]), keys, "--weight-bound", u, "--memory", "30G")


FOUND = ["c1", "c2", "norm", *(f"ft {x}" for x in SHARES), "time s", "LB", "UB"]


def found(runs):
    """Cells of FOUND, means over runs."""
    fields = [("test", 2), ("train", 2), ("norm", 2), *((f"ft {x}", 2) for x in SHARES), ("seconds", 2), ("bound", 4), ("objective", 4)]
    return [number(mean(r[field] for r in runs), digits) for field, digits in fields]


def labelled(row):
    return " ".join([row["key"]["method"], row["key"]["options"]]).strip()


def grid(rows, name, method, D, scale="range"):
    """The runs of a cell of Tables 4.4 to 4.7, by fold."""
    limit = GRID_LIMIT if scale else LITERAL[method]
    mine = rows.where(part="grid", set=name, D=D, limit=limit, scale=scale)
    return {r["key"]["fold"]: r for r in mine if labelled(r) == method}


def whole(rows, name, methods, scale="range"):
    """The folds of a set that all methods have at all D."""
    done = [set(grid(rows, name, m, D, scale)) for m in methods for D in PENALTIES]
    return sorted(set.intersection(*done))


def chosen(rows, kind, name, scale="range"):
    """The runs of Tables 4.2 and 4.3, for each C those of the splits that all C have."""
    runs = [{r["key"]["fold"]: r for r in rows.where(part="selection", kind=kind, set=name, C=C, scale=scale)} for C in COSTS]
    both = sorted(set.intersection(*map(set, runs)))
    return [[of[k] for k in both] for of in runs]


def single(rows, name, method, limit):
    """A run of Tables 4.8 to 4.11; None where it is missing."""
    return next((r for r in rows.where(part="limits", set=name, scale="range", limit=limit) if labelled(r) == method), None)


def selection_table(rows, kind, title, scale):
    mine = rows.where(part="selection", kind=kind, scale=scale)
    parts = ("c1", "c2", "norm")
    head = ["set", "splits", *(f"C = {C}: {part}" for C in COSTS for part in parts)]
    body = []
    for name in SETS:
        runs = chosen(rows, kind, name, scale)
        if runs[0]:
            body.append([name, len(runs[0]), *(number(mean(r[f] for r in rs), 2) for rs in runs for f in ("test", "train", "norm"))])
            if scale and name in OURS:
                body.append(["the paper's", "", *(f"{v:.2f}" for cell in printed.SELECTION[kind][name] for v in cell)])
    return [f"## {title}", "", *table(head, body), *common.source(mine, f"part selection, kind {kind}")] if body else []


def grid_table(rows, method, folds, scale, paper=None):
    """Tables 4.4 to 4.7 of a method; beside the paper's cells."""
    body = []
    for name, kept in folds.items():
        for at, D in enumerate(PENALTIES):
            runs = [grid(rows, name, method, D, scale)[k] for k in kept]
            if runs:
                proven = f"{sum(r['status'] == 'optimal' for r in runs)} of {len(runs)}"
                body.append([name, D, len(runs), *found(runs), proven])
                if paper:
                    c1, c2, norm, *ft = printed.GRID[paper][name][at]
                    body.append(
                        ["the paper's", D, 10, f"{c1:.2f}", f"{c2:g}", f"{norm:.2f}", *(f"{x:.2f}" for x in ft), "-", "-", "-", "-"]
                    )
    return table(["set", "D", "folds", *FOUND, "proven"], body)


def grid_tables(rows):
    folds = {name: whole(rows, name, GRID) for name in OURS}
    if not any(folds.values()):
        return []
    lines = [
        "## Tables 4.4 to 4.7: tenfold, C = 1",
        "",
        f"At most {GRID_LIMIT:g} s a run, of every method; the paper's Cplex has 1000 s.",
    ]
    lines += [
        "Means over the folds that all four have. `mbp --plain` is the program as printed, by HiGHS.",
        "LB or UB is - where a run has none; c1 of no subset is that of the larger class.",
        "",
    ]
    said = {
        "mbp --plain": ("Tables 4.4, 4.5: `mbp --plain`", "mbp"),
        "mbp": ("Tables 4.4, 4.5 by ours: `mbp`", "mbp"),
        "lagrangian --plain": ("Tables 4.6, 4.7: `lagrangian --plain`, LB is what the ascent has reached", "lagrangian"),
        "lagrangian": ("Tables 4.6, 4.7 by ours: `lagrangian`, LB is that of the linear relaxation", "lagrangian"),
    }
    for method, (title, paper) in said.items():
        lines += [f"### {title}", "", *grid_table(rows, method, folds, "range", paper)]
    return lines + common.source(rows.where(part="grid", scale="range"), "part grid")


def with_u(rows, name, D, u):
    """The folds of `mbp` with a u, as of `grid`."""
    if u == RANGE["u"]:
        return grid(rows, name, "mbp", D)
    return {r["key"]["fold"]: r for r in rows.where(part="u", set=name, D=D, u=u, limit=GRID_LIMIT)}


def u_table(rows):
    body = []
    for name in OURS:
        for D in AT_D:
            of = {u: with_u(rows, name, D, u) for u in (5, 10, 20, 100)}
            both = set.intersection(*map(set, of.values()))
            for u, runs in of.items():
                cells = [runs[k] for k in sorted(both)]
                body += [[name, D, u, len(cells), *(number(mean(r[f] for r in cells), d) for f, d in (("test", 2), ("norm", 2), ("ft 9", 2), ("bound", 4), ("objective", 4)))]] if cells else []
    lines = ["## Other u", "", f"`mbp` as in Tables 4.4 and 4.5, {GRID_LIMIT:g} s a run. In the linear relaxation a weight pays D / u, so that LB falls as u grows.", ""]
    return [*lines, *table(["set", "D", "u", "folds", "c1", "norm", "ft 9", "LB", "UB"], body), *common.source(rows.where(part="u"), "part u")] if body else []


def limits_table(rows, scale):
    mine = rows.where(part="limits", scale=scale)
    if not mine:
        return []
    order = lambda r: (SETS.index(r["key"]["set"]), r["key"]["limit"], labelled(r))
    head = ["set", "method", *FOUND, "gap %", "status"]
    lines = ["## Tables 4.8 to 4.11: C = 1, D = 0.01, trained on 90 %, tested on 10 %", ""]
    lines += ["4.8 to 4.10 are `mbp --plain` at three limits, 4.11 is `lagrangian --plain`. The 10 % are not the paper's.", ""]
    for limit in sorted({r["key"]["limit"] for r in mine}):
        body = []
        for r in sorted((r for r in mine if r["key"]["limit"] == limit), key=order):
            share = "-" if gap(r) is None else f"{100 * gap(r):.2f}"
            body.append([r["key"]["set"], labelled(r), *found([r]), share, r["status"]])
        lines += [f"### At most {limit:g} s", "", *table(head, body)]
    if scale:
        body = []
        for name in OURS:
            for (method, limit), cells in printed.SINGLE[name].items():
                c1, c2, norm, *ft, seconds, low, up = cells
                told = [f"{c1:.2f}", f"{c2:.2f}", f"{norm:.2f}", *(f"{x:.2f}" for x in ft), f"{seconds:.2f}", f"{low:.2f}", f"{up:.2f}"]
                body.append([name, f"Cplex, {limit} s" if limit else "heuristic", *told, f"{100 * (1 - low / up):.2f}", ""])
        lines += ["### The paper's", "", *table(head, body)]
    return lines + common.source(mine, "part limits")


def hard_runs(rows):
    """(set, D, runs by method), each method at its longest limit."""
    for name in SETS:
        for D in PENALTIES:
            best = {}
            for r in sorted(rows.where(part="hard", set=name, D=D), key=lambda r: r["key"]["limit"]):
                best[labelled(r)] = r
            if {"lagrangian", "mbp", "mbp --plain"} <= best.keys():
                yield name, D, best


def hard_page(rows):
    body = []
    for name, D, best in hard_runs(rows):
        cells = [name, D]
        for method in ("mbp --plain", "mbp"):
            r = best[method]
            cells += [number(r["objective"]), number(r["bound"]), f"{100 * gap(r):.2f}"]
        plain, ours = gap(best["mbp --plain"]), gap(best["mbp"])
        lag = best["lagrangian"]
        off = "-" if lag["dual"] is None else f"{abs(lag['dual'] - lag['relaxation']) / abs(lag['relaxation']):.0e}"
        share = "both 0" if max(plain, ours) < 1e-4 else f"{ours / plain:.2f}" if plain else "-"
        cells += [share, best["mbp"]["status"], number(lag["objective"]), f"{lag['seconds']:.2f}", off, lag["steps"]]
        body.append(cells)
    if not body:
        return []
    head = ["set", "D", "HiGHS: UB", "LB", "gap %", "`mbp`: UB", "LB", "gap %", "gap ratio", "status"]
    head += ["`lagrangian`: UB", "s", "dual off LP", "steps"]
    lines = ["# gaudioso2017: standardised features, u the same for every feature", ""]
    lines += [
        "u is the largest u_k of the literal preprocessing. A large u is what the paper's tables bear; the scaling is not the paper's."
    ]
    lines += ["All samples. HiGHS is `mbp --plain`. At most 60 s for HiGHS and `mbp`, 5 s for `lagrangian`.", ""]
    return lines + table(head, body) + common.source(rows.where(part="hard"), "part hard")


TITLES = (("tenfold", "Table 4.2: SVM without prices, tenfold"), ("leave-one-out", "Table 4.3: SVM without prices, leave-one-out"))
LEGEND = "c1: % right among the samples left out; c2: % right among those trained on; ft x: % of features with |w| > 10^-x."


def pages(rows):
    every = list(rows.rows.values())
    of = lambda scale: [r for r in every if r["key"].get("scale") == scale and r["key"]["part"] != "hard"]
    lines = ["# gaudioso2017: the tables of the paper, ours beside its own", ""]
    lines += [f"Written by `{common.command(HERE, OPTIONS)}`.", *common.about(of("range"))]
    lines += ["Every feature goes from -1 to 1 on the training part; u is 10 for all. " + LEGEND, ""]
    for kind, title in TITLES:
        lines += selection_table(rows, kind, title, "range")
    lines += grid_tables(rows) + u_table(rows) + limits_table(rows, "range")
    text = ["# gaudioso2017: the preprocessing as it is printed", ""]
    text += [f"Written by `{common.command(HERE, OPTIONS)}`.", *common.about(of(None))]
    text += [
        "Features are standardised; u_k is the largest weight that the relaxations with C in {0.1, 1, 10, 100} give, 0 of all others."
    ]
    text += ["The paper's own tables refute it: its norms rise with D, and its Cplex leaves the program open. " + LEGEND, ""]
    for kind, title in TITLES:
        text += selection_table(rows, kind, title, None)
    for method, limit in LITERAL.items():
        folds = {name: whole(rows, name, [method], None) for name in SETS}
        if any(folds.values()):
            text += [f"## Tables 4.4 to 4.7: tenfold, `{method}`, C = 1, at most {limit:g} s a run", ""]
            text += grid_table(rows, method, folds, None)
            text += common.source(
                [r for r in rows.where(part="grid", scale=None) if labelled(r) == method], f"part grid, method {method}"
            )
    literal_there = any(r["key"]["part"] != "hard" for r in of(None))
    return {
        "tables.md": lines if of("range") else [],
        "literal.md": text + limits_table(rows, None) if literal_there else [],
        "hard.md": hard_page(rows),
    }


def numbers(rows):
    """README: ours beside the paper's on three sets."""
    body = []
    for name in OURS:
        sel = chosen(rows, "leave-one-out", name)
        for at, C in enumerate(COSTS[:2]):
            if sel[at]:
                ours = [mean(r[f] for r in sel[at]) for f in ("test", "norm")]
                theirs = printed.SELECTION["leave-one-out"][name][at]
                body.append([name, "4.3", f"C = {C}", *(number(v, 2) for v in ours), "-", f"{theirs[0]:.2f}", f"{theirs[2]:.2f}", "-"])
        folds = whole(rows, name, GRID)
        for tables, method, paper in (("4.4, 4.5", "mbp", "mbp"), ("4.6, 4.7", "lagrangian --plain", "lagrangian")):
            for at, D in enumerate(PENALTIES):
                runs = [grid(rows, name, method, D)[k] for k in folds]
                if runs:
                    ours = [mean(r[f] for r in runs) for f in ("test", "norm", "ft 9")]
                    theirs = [f"{printed.GRID[paper][name][at][k]:.2f}" for k in (0, 2, 6)]
                    body.append([name, f"{tables}, `{method}`", f"D = {D}", *(number(v, 2) for v in ours), *theirs])
    head = ["set", "table", "", "c1, ours", "norm, ours", "ft 9, ours", "c1, paper", "norm, paper", "ft 9, paper"]
    return table(head, body)


def bounds(rows):
    """README: gaps of Tables 4.8 to 4.11."""
    body = []
    share = lambda r: "-" if r is None or gap(r) is None else f"{100 * gap(r):.2f}"
    asked_for = [("mbp --plain", 5), ("lagrangian --plain", 5), ("mbp", 5), ("lagrangian", 5), ("mbp --plain", 60)]
    for name in SETS:
        runs = [single(rows, name, method, limit) for method, limit in asked_for]
        if any(runs):
            values = [number(r and r["objective"], 4) for r in runs]
            theirs = printed.SINGLE.get(name, {})
            paper = [
                f"{100 * (1 - theirs[k][8] / theirs[k][9]):.2f}" if theirs else "-"
                for k in (("mbp", 5), ("lagrangian", None), ("mbp", 1000))
            ]
            body.append([name, *(f"{v} ({share(r)})" for v, r in zip(values, runs)), *paper])
    head = ["set", *(f"`{method}`, {limit} s" for method, limit in asked_for), "paper: Cplex 5 s", "its heuristic", "Cplex 1000 s"]
    return table(head, body)


def equal(rows):
    """README: ours against the forms as printed, at the same limit on the same folds."""
    body = []
    for ours, plain in (("mbp", "mbp --plain"), ("lagrangian", "lagrangian --plain")):
        for D in PENALTIES:
            pairs = [(grid(rows, n, ours, D)[k], grid(rows, n, plain, D)[k]) for n in OURS for k in whole(rows, n, GRID)]
            told = [(a["objective"], b["objective"]) for a, b in pairs if None not in (a["objective"], b["objective"])]
            none = len(pairs) - len(told)
            better = sum(a < b * (1 - 1e-6) for a, b in told)
            worse = sum(a > b * (1 + 1e-6) for a, b in told)
            off = mean(100 * (b / a - 1) for a, b in told)
            body.append(
                [f"`{ours}`", f"`{plain}`", D, len(told), better, len(told) - better - worse, worse, number(off, 2), none]
                if pairs
                else None
            )
    plain = [r for n in OURS for D in PENALTIES for r in grid(rows, n, "mbp --plain", D).values()]
    empty = sum(r["objective"] is not None and not r["features"] for r in plain)
    said = f"HiGHS has no subset at all after its {GRID_LIMIT:g} s in {sum(r['objective'] is None for r in plain)} of {len(plain)} runs, and the empty one in {empty}."
    return [
        *table(["ours", "as printed", "D", "folds", "better", "equal", "worse", "mean % that UB as printed is above", "no UB"], body),
        said,
    ]


def literal_optimum(rows):
    """README: of the literal preprocessing, how far the heuristic is from the optimum, at 5 s, and ours, at 60 s."""
    body = []
    for name in SETS:
        for D in PENALTIES:
            best = grid(rows, name, "mbp", D, None)
            cells = [name, D]
            for method in ("lagrangian --plain", "lagrangian"):
                runs = grid(rows, name, method, D, None)
                both = [(runs[k], best[k]) for k in sorted(runs.keys() & best.keys()) if best[k]["status"] == "optimal"]
                up = [100 * (a["objective"] / b["objective"] - 1) for a, b in both]
                down = [100 * (1 - a["bound"] / b["objective"]) for a, b in both]
                cells += [len(both), number(mean(up), 2), number(mean(down), 2), sum(u < 0.01 for u in up)]
            body.append(cells)
    said = {"lagrangian --plain": "`--plain`, 5 s", "lagrangian": "ours, 60 s"}
    return table(
        ["set", "D", *(f"{s}: {x}" for s in said.values() for x in ("folds", "UB above optimum %", "LB below %", "UB optimal"))], body
    )


def literal_single(rows):
    """README: Tables 4.8 to 4.11 with the literal preprocessing."""
    body = []
    for name in SETS:
        runs = {(labelled(r), r["key"]["limit"]): r for r in rows.where(part="limits", set=name, scale=None)}
        if runs:
            best, plain, program = runs["mbp", 1000], runs["lagrangian --plain", 1000], runs["mbp --plain", 1000]
            off = [100 * (plain[x] / best["objective"] - 1) for x in ("objective", "bound")]
            body.append(
                [name, program["status"], f"{program['seconds']:.1f}", f"{plain['seconds']:.1f}", f"{off[0]:+.3f}", f"{off[1]:+.2f}"]
            )
    return table(["set", "`mbp --plain`", "s", "`lagrangian --plain`: s", "UB off the optimum %", "LB off %"], body)


def blocks(rows):
    """The numbers of the README."""
    hards = list(hard_runs(rows))
    open_ = [b for _, _, b in hards if gap(b["mbp --plain"]) >= 1e-4]
    better = sum(b["lagrangian"]["objective"] <= b["mbp --plain"]["objective"] * (1 + 1e-6) for _, _, b in hards)
    above = sum(b["lagrangian"]["objective"] < b["mbp"]["objective"] * (1 - 1e-6) for _, _, b in hards)
    ratios = [gap(b["mbp"]) / gap(b["mbp --plain"]) for b in open_]
    said = (
        f"{len(hards)} problems; HiGHS leaves {len(open_)} of them open. There the gap of `mbp` is {min(ratios):.2f} to {max(ratios):.2f} "
        f"of HiGHS's, at the same 60 s. The value of `lagrangian` after 5 s is no worse than HiGHS's on {better} of {len(hards)}, "
        f"and better than that of `mbp` after 60 s on {above}."
    )
    late = [r for r in rows.where(part="grid", scale=None) if labelled(r) == "lagrangian --plain"]
    slow = [r["seconds"] for r in rows.where(part="grid", scale=None) if labelled(r) == "mbp"]
    cut = (
        f"`lagrangian --plain` is ended by its 5 s in {sum(r['status'] == 'time_limit' for r in late)} of {len(late)} runs; "
        f"`mbp` proves all, the last of them after {max(slow):.1f} s."
    )
    return {
        "numbers": "\n".join(numbers(rows)),
        "bounds": "\n".join(bounds(rows)),
        "equal": "\n".join(equal(rows)),
        "literal": "\n".join(literal_optimum(rows)),
        "literal-single": "\n".join(literal_single(rows)),
        "cut": cut,
        "hard": said,
    }


# Test samples of a fold, divided by those trained on.
FOLD = 1 / 9
POINTS = paired.PERCENT_POINTS
SHARE = paired.Measure("% of all", 0.05, digits=3)
NORM = paired.Measure("", 0.1)


def by_fold(rows, method, D, field, names=OURS):
    """{(set, fold): value} at a D."""
    found = {name: (grid(rows, name, method, D), whole(rows, name, GRID)) for name in names}
    return {(name, k): runs[k][field] for name, (runs, folds) in found.items() for k in folds}


def pooled(a, b):
    """a - b over the folds of the sets: the error is made of the variances inside the sets."""
    return paired.on_cases(a, b, FOLD, stratum=lambda case: case[0])


def claims(rows):
    """The paper's claims, from the rows of its own setting: genes in [-1, 1], u = 10."""
    at = lambda kind, C: {(name, k): r["test"] for name in OURS for k, r in enumerate(chosen(rows, kind, name)[COSTS.index(C)])}
    mbp = lambda D, field: by_fold(rows, "mbp", D, field)
    empty = [name for name in OURS if max(r["norm"] for r in chosen(rows, "tenfold", name)[0]) < 1e-6]
    left, right = at("leave-one-out", 1), at("leave-one-out", 0.1)
    up, down = sum(left[c] > right[c] for c in left), sum(left[c] < right[c] for c in left)
    good = paired.Claim(
        "G1", "C = 1 is a good choice at D = 0",
        "on the basis of the results we have obtained, we have decided to proceed setting C = 1", "Table 4.2, Table 4.3",
        paired.more("c1 at C = 1 against 0.1, tenfold", pooled(at("tenfold", 1), at("tenfold", 0.1)), POINTS),
        paired.wins("likewise, leave-one-out", up, down, len(left), f"right on {up} more samples, wrong on {down}"),
        paired.as_good("not below C = 10", pooled(at("tenfold", 1), at("tenfold", 10)), POINTS),
        paired.every("at C = 0.1 no gene is left on the paper's sets 2 and 4", sum(name in empty for name in OURS[1:]), len(OURS[1:]), ", ".join(empty) or "none"),
        why="Leave-one-out by the sign test on samples that one of both has right; the correction for folds has no basis there",
    )
    larger = paired.Claim(
        "G2", "larger D: fewer features, less accuracy, a smaller margin (a larger norm)",
        "increasing values of D result in deterioration of both classification correctness and margin, while we are better off with the number of significant features which reduces",
        "Table 4.4, Table 4.5",
        paired.more("features, D = 1 less D = 0.01", pooled(mbp(1, "ft 9"), mbp(0.01, "ft 9")), SHARE, -1),
        paired.more("c1, D = 1 less D = 0.01", pooled(mbp(1, "test"), mbp(0.01, "test")), POINTS, -1),
        paired.more("c1, D = 10 less D = 0.01", pooled(mbp(10, "test"), mbp(0.01, "test")), POINTS, -1),
        paired.more("norm, D = 1 less D = 0.01", pooled(mbp(1, "norm"), mbp(0.01, "norm")), NORM),
        paired.more("norm, D = 10 less D = 1, where the paper's tables have it fall", pooled(mbp(10, "norm"), mbp(1, "norm")), NORM),
        why=f"By `mbp`, {GRID_LIMIT:g} s a fold (the paper: 1000 s of Cplex)",
    )
    same = lambda D: paired.as_good(f"c1 at D = {D:g} not below that without prices", pooled(mbp(D, "test"), at("tenfold", 1)), POINTS)
    free = {(name, k): r["ft 9"] for name in OURS for k, r in enumerate(chosen(rows, "tenfold", name)[1])}
    few = paired.Claim(
        "G3", "MBP gives an acceptable tradeoff of accuracy and number of features",
        WORDS["tradeoff"], "Table 4.4, Table 4.5",
        *(paired.more(f"features at D = {D:g}, at least a quarter fewer than without prices", fewer(mbp(D, "ft 9"), free), HALF, -1, by=25) for D in PENALTIES[:3]),
        *map(same, PENALTIES[:3]),
        why="Acceptable: at one D both, fewer features and no loss of a point. A quarter and a point are our numbers",
    )
    five = {n: [single(rows, n, m, 5) for m in ("lagrangian --plain", "mbp --plain")] for n in SETS}
    last = {n: [single(rows, n, "lagrangian --plain", 5), single(rows, n, "mbp --plain", 60)] for n in OURS}
    ahead = sum(a["objective"] <= b["objective"] * (1 + 1e-6) for a, b in five.values())
    near = [100 * (a["objective"] / b["objective"] - 1) for a, b in last.values()]
    down = [100 * (1 - a["bound"] / b["bound"]) for a, b in last.values()]
    gaps = [[100 * gap(single(rows, n, m, t)) for m, t in (("lagrangian --plain", 5), ("mbp --plain", 60))] for n in OURS]
    heuristic = paired.Claim(
        "G4", "the Lagrangian heuristic gives good bounds at a reasonable effort", WORDS["bounds"], "Table 4.8, Table 4.9, Table 4.11",
        paired.every("D = 0.01: UB after 5 s no worse than that of the MIP solver after 5 s", ahead, len(five), f"on {ahead} of {len(five)} sets"),
        paired.every(f"LB after 5 s within {PRINTED_LB:.2f} % of the MIP solver's after 60 s, as the paper's worst is of 1000 s", sum(v < PRINTED_LB for v in down), len(down), ", ".join(f"{v:.2f} %" for v in down) + " below"),
        paired.every("UB after 5 s at most that of the MIP solver after 60 s", sum(v <= 1e-4 for v in near), len(near), ", ".join(f"{v:+.2f} %" for v in near)),
        paired.left_open("against 1000 s of the MIP solver", "not run: 60 s are the most"),
        paired.left_open("D of 0.1 and more", f"all {ended_late(rows)} runs end by their {GRID_LIMIT:g} s; the paper has no limit there"),
        why="Gaps of the heuristic after 5 s and HiGHS's after 60 s: " + "; ".join(f"{a:.1f} and {b:.1f} %" for a, b in gaps),
    )
    plain = [r for r in rows.where(part="limits", scale="range") if labelled(r) == "mbp --plain"]
    folds = [r for n in OURS for k, r in grid(rows, n, "mbp --plain", 0.01).items()]
    ended = lambda runs: sum(r["status"] == "optimal" for r in runs)
    of = lambda limit: [r for r in plain if r["key"]["limit"] == limit]
    reach = paired.Claim(
        "G5", "MBP is out of reach of the MIP solver at D = 0.01", WORDS["reach"], "Table 4.8, Table 4.9, Table 4.10",
        *(paired.out_of_reach(f"Table {k}", ended(of(t)), len(of(t)), t, theirs, f"HiGHS proves {ended(of(t))} of {len(of(t))}") for k, t, theirs in (("4.8", 5, 5), ("4.9", 10, 10), ("4.10", 60, 1000))),
        paired.out_of_reach("Table 4.4", ended(folds), len(folds), GRID_LIMIT, 1000, f"HiGHS proves {ended(folds)} of {len(folds)} folds"),
    )
    return [good, larger, few, heuristic, reach, lagrangian_tables(rows)]


HALF = paired.Measure("%", 10, digits=0)
PRINTED_LB = 100 * (3.13 - 3.03) / 3.13  # Tables 4.10 and 4.11, its set 1, where the heuristic's LB is furthest below
WORDS = {
    "tradeoff": "the MBP model is able to provide an acceptable tradeoff between classification quality and number of significant features",
    "bounds": "the results obtained by using our Lagrangian relaxation approach are of rather good quality in terms of lower and upper bounds and are obtained at a reasonable computational effort (see, in particular, table 4.9)",
    "reach": "We have run the Cplex code with a maximum time bound of 1000 seconds (reporting the best solution found at the stop).",
}
TABLES = "[tables](../papers/gaudioso2017/results/tables.md)"
SHOWN = [
    paired.Shown("Table 4.1", "leukemia, dlbcl, cns; breast and glioma for Carcinoma and Tumor2", "sizes of the data", "Three of five sets", "partly"),
    *(
        paired.Shown(f"Table 4.{k}", TABLES, theirs, why)
        for k, theirs, why in (
            (2, "C by tenfold cross-validation at D = 0", ""),
            (3, "C by leave-one-out", ""),
            (4, "MBP by Cplex, D = 0.01, 0.1, at most 1000 s", "Ours is `mbp` in 2 s"),
            (5, "MBP by Cplex, D = 1, 10", "Likewise"),
            (6, "Lagrangian heuristic, D = 0.01, 0.1", "2 s"),
            (7, "Lagrangian heuristic, D = 1, 10", "2 s"),
            (8, "MBP after 5 s: open", ""),
            (9, "MBP after 10 s: open", ""),
            (10, "MBP after 1000 s: open", "60 s"),
            (11, "Lagrangian heuristic at D = 0.01", "After 5 s"),
        )
    ),
]


def fewer(a, b):
    """Features of a in percent of those of b, less 100, by fold."""
    share = {case: 100 * a[case] / b[case] - 100 for case in a if b.get(case)}
    return pooled(share, dict.fromkeys(share, 0.0))


def ended_late(rows):
    """How many runs of the heuristic at D of 0.1 and more its limit ended, of all."""
    runs = [r for n in OURS for D in PENALTIES[1:] for r in grid(rows, n, "lagrangian --plain", D).values()]
    return f"{sum(r['status'] == 'time_limit' for r in runs)} of {len(runs)}"


def lagrangian_tables(rows):
    """Tables 4.6 and 4.7 beside 4.4 and 4.5."""
    of = lambda D, field: by_fold(rows, "lagrangian --plain", D, field)
    return paired.Claim(
        "G6", "by the heuristic, too, larger D gives fewer features, less accuracy and a larger norm",
        "similar experiments have been performed by replacing the Cplex solver by our Lagrangian relaxation approach", "Table 4.6, Table 4.7",
        paired.more("features, D = 0.1 less D = 0.01", pooled(of(0.1, "ft 9"), of(0.01, "ft 9")), SHARE, -1),
        paired.more("c1, D = 0.1 less D = 0.01", pooled(of(0.1, "test"), of(0.01, "test")), POINTS, -1),
        paired.more("norm, D = 0.1 less D = 0.01", pooled(of(0.1, "norm"), of(0.01, "norm")), NORM),
        paired.more("norm, D = 1 less D = 0.1", pooled(of(1, "norm"), of(0.1, "norm")), NORM),
    )


GRID_LIMIT = 2  # seconds of every method in grid
OPTIONS = common.parser(__doc__)
OPTIONS.add_argument("--sets", nargs="+", help="data sets [default: all; of grid those of the paper]")
OPTIONS.add_argument("--grid-limit", type=float, default=GRID_LIMIT, help="seconds of all methods in grid [default: %(default)s]")
OPTIONS.add_argument("--limits", type=int, nargs="+", default=[5, 10, 20, 60], help="those of limits [default: 5 10 20 60]")
OPTIONS.add_argument("--folds", type=int, help="only so many splits [default: all]")
OPTIONS.set_defaults(costs=COSTS, penalties=PENALTIES)


def main():
    args = OPTIONS.parse_args()
    if wrong := [part for part in args.only if part not in PARTS]:
        sys.exit(f"--only {wrong[0]}: the parts are {', '.join(PARTS)}")
    if args.quick:
        OPTIONS.set_defaults(sets=["leukemia_5327"], only=["selection", "grid"], folds=1, grid_limit=0.5)
        OPTIONS.set_defaults(costs=COSTS[1:2], penalties=PENALTIES[-1:])
    common.main(HERE, OPTIONS, run, pages, blocks, claims, lambda: SHOWN)


if __name__ == "__main__":
    main()
