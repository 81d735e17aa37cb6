#!/usr/bin/env python3
"""The experiments of tamura2022 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/tamura2022/run.py [--fewest PATH] [--only real | inlo | ndcc | plane ...] [--milo-limit 5]

real   Tables 2 to 5: `kta` (proven, gap 0), `milo-k --plain` and `rmilo-k --plain` (as published,
       under --milo-limit), on the paper's data, beside the paper's numbers
inlo   Tables 2 to 5: INLO-K itself by SCIP, which has an `exp`, and MILO-K with indicators, (30) to
       (35), under --scip-limit; where pyscipopt is installed
ndcc   Tables 6 to 9, on NDCC data, 10 repetitions, mean and standard error: `kta` in the place of
       RMILO-K, RFE-K (`rfe --kernel rbf`) at theta features and at the size of best
       cross-validation, MILO-L (`milp2`), whose classifier is LinearSVC's machine on what it chose
plane  the same on data whose clusters are classed by a random plane, with a share of them turned,
       which makes linear machines as accurate as in the paper

The pages are OUT/tables2-5.md, OUT/tables6-9.md and OUT/plane.md. Needs scipy, for the tests: of
tables 6 to 9 they pair the methods on the same data.
"""

import csv
import importlib.util
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import common  # noqa: E402
from common import mean, number, table  # noqa: E402
from paired import POINTS, Apart, Claim, Measure, Shown, as_good, every, left_open, more, on_cases  # noqa: E402

FILES = {2: "hepatitis", 3: "zoo", 4: "parkinsons", 5: "soybean-small"}
BETAS = ("0.25", "1.00", "4.00")
# Table: expansion factor and number of relevant features.
NDCC = {6: (25, 3), 7: (25, 5), 8: (100, 3), 9: (100, 5)}
SAMPLES, FEATURES, REPEATS, TEST = (50, 100), (10, 20, 30), 10, 5000
MILO = {"MILO-K": ("milo-k", "--plain --lp interior"), "RMILO-K": ("rmilo-k", "--plain --lp interior")}
# Of tables 6 to 9: the paper's label, ours, method, options, limit. The paper's C = 1 leaves MILO-L
# no margin on overlapping classes, so it is 1.5 times the least there is, of n_c samples in the
# smaller class.
SELECTORS = (
    ("RMILO-K", "kta", "kta", "--gap 0", None),
    ("RFE-K", "RFE-K", "rfe", "--kernel rbf --gamma sigest", None),
    ("MILO-L", "MILO-L", "milp2", "--cost 0.75/n_c, then LinearSVC", 60),
    ("MILO-L", "MILO-L, C = 1", "milp2", "--cost 1, then LinearSVC", 10),
    ("RFE-K", "RFE-K, size by CV", "rfe", "--kernel rbf --gamma sigest --cv 10", None),
)
PARTS = ("real", "inlo", "ndcc", "plane")
RADII, TURNED = (100, 300, 500), 0.1  # of `plane`: cubes, share of the clusters with the other class
INDICATORS = 1_000_000  # a program of more is not built: that alone takes minutes
SCIP, INDICATOR = ("scip", "INLO-K, exp"), ("scip", "MILO-K, indicators")


def expected():
    with open(HERE / "expected.csv") as file:
        return {(int(r["table"]), r["a"], r["b"], r["method"]): r for r in csv.DictReader(file)}


def real_key(name, theta, beta, method, options, limit):
    return {"part": "real", "file": name, "theta": theta, "beta": beta, "method": method, "options": options, "limit": limit}


def settings(tables=FILES):
    return [(number_, FILES[number_], theta, beta) for number_ in tables for theta in (3, 5) for beta in BETAS]


def real(fewest, rows, args):
    for _, name, theta, beta in settings([5] if args.quick else FILES):
        asked = [("kta", "--gap 0", None)]
        asked += [(*form, args.milo_limit) for form in MILO.values() if args.milo_limit]
        for method, options, limit in asked:

            def solve():
                more = ["--time-limit", f"{limit:g}s"] if limit else []
                words = ["-m", method, "--max-features", theta, "--gamma", f"sigest:{beta}", *options.split(), *more]
                try:
                    found = fewest.select(common.data(f"{name}.csv"), *words)
                except common.Failed as error:
                    if "--memory" not in str(error):
                        raise
                    return {"refused": str(error)}
                kept = {k: found[k] for k in ("status", "objective", "bound", "selected", "seconds")}
                return kept | {"nodes": found["counts"]["nodes"]}

            rows.get(real_key(name, theta, beta, method, options, limit), solve)


def scaled(name):
    """X, standardised as in (25), and psi of a file."""
    with open(common.data(f"{name}.csv")) as file:
        _, *lines = csv.reader(file)
    y = [1 if float(line[-1]) > 0 else -1 for line in lines]
    columns = [[float(v) for v in column] for column in zip(*(line[:-1] for line in lines))]
    columns = [[(v - statistics.fmean(c)) / statistics.pstdev(c) for v in c] for c in columns if statistics.pstdev(c) > 0]
    return list(zip(*columns)), [label / y.count(label) for label in y]


def scip(name, theta, gamma, limit, form):
    """INLO-K, (27) to (29), by SCIP: one variable for each pair of samples, e = exp(-gamma sum_j z_j d_j); or
    MILO-K with indicators, (30) to (35): one for each pair and feature.
    """
    import pyscipopt

    X, psi = scaled(name)
    pairs = {}  # pairs of equal distances are one
    for i in range(len(X)):
        for h in range(i):
            d = tuple(round((a - b) ** 2, 12) for a, b in zip(X[i], X[h]))
            pairs[d] = pairs.get(d, 0.0) + 2 * psi[i] * psi[h]
    if form == INDICATOR and (many := 4 * sum(v > 0 for d in pairs for v in d)) > INDICATORS:
        return {"refused": f"{many} indicator constraints"}
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("timing/clocktype", 1)  # CPU seconds
    model.setParam("parallel/maxnthreads", 1)
    z = [model.addVar(vtype="B") for _ in X[0]]
    model.addCons(pyscipopt.quicksum(z) <= theta)
    total = [sum(v * v for v in psi)]
    for d, weight in pairs.items():
        if any(d) and form == INDICATOR:
            before = 1.0
            for x, v in zip(z, d):
                if v:  # where both samples are equal (33) and (34) are one equation
                    e, share = model.addVar(lb=0, ub=1), math.exp(-gamma * v)
                    for factor, chosen in ((1.0, False), (share, True)):
                        model.addConsIndicator(e - factor * before <= 0, x, activeone=chosen)
                        model.addConsIndicator(factor * before - e <= 0, x, activeone=chosen)
                    before = e
            total.append(weight * before)
        elif any(d):
            e = model.addVar(lb=math.exp(-gamma * sum(d)), ub=1)
            model.addCons(pyscipopt.exp(-gamma * pyscipopt.quicksum(v * x for v, x in zip(d, z) if v)) == e)
            total.append(weight * e)
        else:
            total.append(weight)
    model.setObjective(pyscipopt.quicksum(total), "maximize")
    model.optimize()
    found = {"status": model.getStatus(), "seconds": model.getSolvingTime(), "nodes": model.getNNodes()}
    found |= {"objective": None, "bound": None, "selected": [], "scip": pyscipopt.__version__, "pairs": len(pairs)}
    if abs(model.getDualbound()) < 1e19:
        found["bound"] = model.getDualbound()
    if model.getNSols():
        chosen = [j for j, x in enumerate(z) if model.getVal(x) > 0.5]
        # The value of its subset by the definition: SCIP's own is off by its tolerances.
        value = sum(w * math.exp(-gamma * sum(d[j] for j in chosen)) for d, w in pairs.items()) + sum(v * v for v in psi)
        value = 0.0 if abs(value) < 1e-12 else value
        found |= {"objective": value, "selected": chosen}
    return found


def inlo(fewest, rows, args):
    if not importlib.util.find_spec("pyscipopt"):
        print("inlo is left out: pyscipopt is not installed")
        return
    for _, name, theta, beta in settings([5] if args.quick else FILES):

        for form in (SCIP, INDICATOR):

            def solve():
                words = ["-m", "kta", "--max-features", theta, "--gamma", f"sigest:{beta}", "--gap", 0]
                gamma = fewest.select(common.data(f"{name}.csv"), *words)["settings"]["gamma"]
                return scip(name, theta, gamma, args.scip_limit, form)

            rows.get(real_key(name, theta, beta, *form, args.scip_limit), solve)


def ndcc_key(part, expansion, theta, n, p, seed, method, options, limit):
    size = {"expansion": expansion, "theta": theta, "n": n, "p": p, "seed": seed}
    return {"part": part, **size, "method": method, "options": options, "limit": limit}


def places():
    """(table, expansion, theta, n, p) of tables 6 to 9."""
    return [(number_, *NDCC[number_], n, p) for number_ in NDCC for n in SAMPLES for p in FEATURES]


def ndcc(fewest, rows, args, part="ndcc"):
    for _, expansion, theta, n, p in places()[:1] if args.quick else places():
        for seed in range(1, args.repeats + 1):
            with tempfile.TemporaryDirectory() as folder:
                problem = Problem(fewest, pathlib.Path(folder), part, expansion, theta, n, p, seed)
                for _, _, method, options, limit in SELECTORS:
                    key = ndcc_key(part, expansion, theta, n, p, seed, method, options, limit)
                    rows.get(key, lambda: problem.run(method, options, limit))


def labels(path):
    return [line.rsplit(",", 1)[1] for line in path.read_text().splitlines()[1:]]


class Problem:
    """One NDCC problem; its files are made when the first method needs them."""

    def __init__(self, fewest, folder, part, expansion, theta, n, p, seed):
        self.fewest, self.folder, self.theta, self.truth = fewest, folder, theta, None
        self.plane = (expansion, theta, n, p, seed) if part == "plane" else None
        self.words = [
            "generate",
            "ndcc",
            "--samples",
            n,
            "--features",
            p,
            "--relevant",
            theta,
            "--expansion",
            expansion,
            "--seed",
            seed,
        ]

    def run(self, method, options, limit):
        train, test, truth = (self.folder / name for name in ("train.csv", "test.csv", "truth.json"))
        if self.truth is None and self.plane:
            self.truth = plane(*self.plane, train, test)
        elif self.truth is None:
            self.fewest.text(*self.words, "--out", train, "--test", test, "--test-samples", TEST, "--truth", truth)
            self.truth = set(json.loads(truth.read_text())["support"])
        options, _, then = options.partition(", then ")
        least = 0.75 / min(map(labels(train).count, ("-1", "1")))
        more = ["--time-limit", f"{limit}s"] if limit else []
        options = options.replace("0.75/n_c", str(least))
        if "--cv" in options:  # the size of best cross-validation
            start = time.perf_counter()
            path = self.fewest.json("path", train, "-m", method, "--max-features", f"1..{self.theta}", *options.split(), "--threads", 1)
            found = path["path"][path["cv"]["best_size"] - 1]
            found["seconds"] = time.perf_counter() - start
        else:
            found = self.fewest.select(train, "-m", method, "--max-features", self.theta, *options.split(), *more)
        chosen = set(found["selected"])
        result = found
        if then and chosen:
            # LinearSVC of scikit-learn: squared hinge, C = 1, a penalised bias.
            words = ["--features", ",".join(sorted(chosen)), "--cost", 1, "--loss", "squared-hinge", "--bias", 1]
            result = self.fewest.json("fit", train, *words)
        if chosen:
            accuracy = self.fewest.judged(result, test, self.folder)
        else:  # no feature was selected: the larger class of the training set
            larger = statistics.mode(labels(train))
            accuracy = statistics.mean(y == larger for y in labels(test))
        both = len(chosen & self.truth)
        return {
            "status": found["status"],
            "accuracy": accuracy,
            "size": len(chosen),
            "seconds": found["seconds"],
            "set_f1": 2 * both / (len(chosen) + len(self.truth)),  # the harmonic mean of recall and precision
        }


def plane(expansion, theta, n, p, seed, train, test):
    """NDCC data as `generate ndcc` makes them, but for the classes: a cluster is of the class of its centre's side of
    a random plane through the origin, a share TURNED of them of the other. Gives the relevant features.
    """
    rng = random.Random(f"{expansion} {theta} {n} {p} {seed}")
    support = sorted(rng.sample(range(p), theta))
    while True:
        normal = [rng.gauss(0, 1) for _ in range(theta)]
        clusters = []
        for at in range(2 * len(RADII) * theta):
            k, centre = at // 2 % theta, RADII[at // 2 // theta] * (1 if at % 2 == 0 else -1)
            side = (1 if centre * normal[k] > 0 else -1) * (-1 if rng.random() < TURNED else 1)
            root = [[expansion * rng.random() for _ in range(theta)] for _ in range(theta)]
            clusters.append((k, centre, side, root, rng.random()))
        written = []
        for path, samples in ((train, n), (test, TEST)):
            lines = [",".join([*(f"x{j + 1}" for j in range(p)), "y"])]
            for k, centre, side, root, _ in rng.choices(clusters, [c[-1] for c in clusters], k=samples):
                x = [rng.gauss(0, 1) for _ in range(p)]
                z = [x[j] for j in support]
                for c, j in enumerate(support):
                    x[j] = (centre if c == k else 0.0) + sum(root[r][c] * z[r] for r in range(theta))
                lines.append(",".join([*(f"{v:.6g}" for v in x), str(side)]))
            path.write_text("\n".join(lines) + "\n")
            written.append({line.rsplit(",", 1)[1] for line in lines[1:]})
        if all(len(found) == 2 for found in written):
            return {f"x{j + 1}" for j in support}


def run(fewest, rows, args):
    for part in args.only or PARTS:
        if part in ("ndcc", "plane"):
            ndcc(fewest, rows, args, part)
        else:
            {"real": real, "inlo": inlo}[part](fewest, rows, args)


def limit_of(rows, method, options):
    """The limit at which a program was run most, the longer one among equals: a column has one."""
    limits = [r["key"]["limit"] for r in rows.where(part="real", method=method, options=options)]
    return max(set(limits), key=lambda at: (limits.count(at), at), default=None)


def program_cell(r):
    if r is None:
        return "-"
    if "refused" in r:
        return "refused: size" if "indicator" in r["refused"] else "refused: memory"
    if r["objective"] is None:
        return f"nothing in {r['key']['limit']:g} s"
    gap = "no bound" if r["bound"] is None else f"{100 * common.gap(r):.1f} %" if r["objective"] > 1e-9 else "> 1000 %"
    return f"{r['objective']:.6f}, {gap}, {r['seconds']:.1f}, {len(r['selected'])}"


PROGRAMS = (*MILO.values(), INDICATOR, SCIP)
NAMES = dict(zip(PROGRAMS, ("`milo-k`", "`rmilo-k`", "the indicator form by SCIP", "INLO-K by SCIP")))


def real_rows(rows):
    """(table, file, theta, beta, run of kta, runs of the programs)."""
    limits = {form: limit_of(rows, *form) for form in PROGRAMS}
    for table_, name, theta, beta in settings():
        ours = rows.find(real_key(name, theta, beta, "kta", "--gap 0", None))
        if ours:
            yield table_, name, theta, beta, ours, [rows.find(real_key(name, theta, beta, *form, limits[form])) for form in PROGRAMS]


def real_page(rows):
    paper, bodies = expected(), {}
    for table_, name, theta, beta, ours, programs in real_rows(rows):
        printed = [paper[table_, str(theta), beta, method] for method in ("INLO-K", "MILO-K", "RMILO-K")]
        cells = [f"{r['value']}, {r['opt_gap_percent']} %, {r['seconds']}, {r['size']}" for r in printed]
        cells.append(f"{ours['objective']:.6f}, {ours['status']}, {ours['seconds']:.3f}, {len(ours['selected'])}")
        bodies.setdefault((table_, name), []).append([theta, beta, *cells, ours["nodes"], *map(program_cell, programs)])
    if not bodies:
        return []
    lines = ["# tamura2022, tables 2 to 5", "", "Written by `papers/tamura2022/run.py`.", *common.about(rows.where(part="real"))]
    lines += [
        "Each cell: value of f, gap or status, seconds, number of features. The gap is the paper's OptGap, the bound less the value over",
        "the value. HiGHS solves MILO-K and RMILO-K, by interior points as the paper does; CPLEX and Gurobi in the paper. The head of a",
        "column has its limit: of HiGHS in seconds of the clock, of SCIP in CPU seconds; the paper's is 10 000 s.",
        "",
    ]
    head = ["theta", "beta", *(f"paper: {m}" for m in ("INLO-K", "MILO-K", "RMILO-K")), "`kta`", "nodes"]
    head += [f"{name}, {limit_of(rows, *form) or 0:g} s" for form, name in NAMES.items()]
    for (table_, name), body in bodies.items():
        lines += [f"## Table {table_}: {name.capitalize()}", "", *table(head, body)]
    return lines + common.source(rows.where(part="real"), "part real")


def ndcc_runs(rows, part, expansion, theta, n, p, selector):
    _, _, method, options, limit = selector
    return rows.where(part=part, expansion=expansion, theta=theta, n=n, p=p, method=method, options=options, limit=limit)


def ndcc_page(rows, part):
    paper, bodies = expected(), {}
    for table_, expansion, theta, n, p in places():
        of = {s: ndcc_runs(rows, part, expansion, theta, n, p, s) for s in SELECTORS}
        for selector, runs in of.items():
            if runs:
                printed = paper[table_, str(n), str(p), selector[0]]
                error = lambda what: statistics.stdev(r[what] for r in runs) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
                both = lambda what: f"{statistics.mean(r[what] for r in runs):.3f} ({error(what):.3f})"
                cells = [n, p, selector[1], len(runs), both("accuracy"), f"{printed['value']} ({printed['value_se']})"]
                cells += [both("set_f1"), f"{printed['set_f1']} ({printed['set_f1_se']})", f"{mean(r['size'] for r in runs):.1f}", printed["size"]]
                cells += [sum(r["size"] == 0 for r in runs), sum(r["status"] == "time_limit" for r in runs), printed["opt_gap_percent"] or "-"]
                bodies.setdefault(table_, []).append([*cells, f"{mean(r['seconds'] for r in runs):.3f}", printed["seconds"]])
    if not bodies:
        return []
    mine = rows.where(part=part)
    title = {"ndcc": "tables 6 to 9", "plane": "tables 6 to 9, clusters classed by a plane"}[part]
    lines = [f"# tamura2022, {title}", "", "Written by `papers/tamura2022/run.py`.", *common.about(mine)]
    lines += [
        "Mean and standard error over the runs: accuracy on the test set (ClsAcc), F1 of the subset (SetF1), size, empty",
        "selections, runs stopped at their limit (the others have gap 0 or, of RFE-K, none), seconds. `kta` has the optimum that",
        "the paper's RMILO-K looks for, by another algorithm: its seconds are not those of RMILO-K.",
        "",
    ]
    head = ["n", "p", "method", "runs", "ClsAcc", "paper", "SetF1", "paper", "size", "paper", "empty", "stopped", "paper's gap %", "s", "paper"]
    for table_, body in bodies.items():
        lines += ["## Table {}: expansion {}, {} features".format(table_, *NDCC[table_]), "", *table(head, body)]
    return lines + common.source(mine, f"part {part}")


def pages(rows):
    return {"tables2-5.md": real_page(rows), "tables6-9.md": ndcc_page(rows, "ndcc"), "plane.md": ndcc_page(rows, "plane")}


def blocks(rows):
    """The numbers of the README."""
    paper, all_real = expected(), list(real_rows(rows))
    solved = [(ours, paper[t, str(theta), beta, "RMILO-K"]) for t, _, theta, beta, ours, _ in all_real]
    proved = [(ours, printed) for ours, printed in solved if printed["opt_gap_percent"] == "0.0"]
    same = sum(abs(ours["objective"] - float(printed["value"])) <= 6e-4 for ours, printed in proved)
    below = [ours["objective"] - float(printed["value"]) for ours, printed in solved if printed["opt_gap_percent"] != "0.0"]
    optimal = sum(ours["status"] == "optimal" for ours, _ in solved)
    said = (
        f"`kta` proves {optimal} of {len(solved)} optima in {sum(ours['seconds'] for ours, _ in solved):.2f} s in all. They agree with {same} of the {len(proved)} values that "
        f"the paper's RMILO-K proves, to the three digits it prints; of the other {len(below)} its values are {min(below):.2f} to {max(below):.2f} below."
    )
    lines = []
    for at, (method, options) in enumerate(PROGRAMS):
        runs = [programs[at] for *_, programs in all_real if programs[at]]
        refused = sum("refused" in r for r in runs)
        nothing = sum(r.get("objective") is None for r in runs) - refused
        have = [(ours, programs[at]) for *_, ours, programs in all_real if programs[at] and programs[at].get("objective") is not None]
        best = sum(abs(r["objective"] - ours["objective"]) < 1e-6 for ours, r in have)
        gaps = [100 * common.gap(r) for _, r in have if r["bound"] is not None and r["objective"] > 1e-9]
        limits = sorted({f"{r['key']['limit']:g}" for r in runs})
        spread = f"{min(gaps):.0f} to {max(gaps):.0f} %" if gaps else "-"
        name = NAMES[method, options]
        lines.append(
            [
                name,
                len(runs),
                " or ".join(limits),
                sum(r.get("status") == "optimal" for r in runs),
                refused,
                nothing,
                best,
                f"{len(gaps)}: {spread}",
            ]
        )
    programs = table(
        ["program", "runs", "limit s", "proven", "refused (memory, size)", "no subset", "best subset found", "a gap at all"], lines
    )
    return {"optima": said, "programs": "\n".join(programs), "ndcc": ndcc_block(rows, "ndcc"), "plane": ndcc_block(rows, "plane")}


RIVALS = ((0, 4), (0, 1), (2, 0), (2, 4), (3, 0))


def in_setting(rows, part, place, at, other, what):
    """Two methods in one setting, by seed; None with less than two."""
    a, b = ({r["key"]["seed"]: r[what] for r in ndcc_runs(rows, part, *place, SELECTORS[k])} for k in (at, other))
    return on_cases(a, b)


def ndcc_block(rows, part):
    """Paired comparisons, by setting and over all, and the means of every method."""
    body = []
    for at, other in RIVALS:
        cells = []
        for what in ("set_f1", "accuracy"):
            signs = [test.sign() for _, *place in places() if (test := in_setting(rows, part, place, at, other, what))]
            cells.append(", ".join(str(signs.count(sign)) for sign in (1, 0, -1)))
        if signs:
            cells += [
                against(rows, part, at, other, what, lambda e, t, samples: samples == n).text(measure)
                for what, measure in (("set_f1", F1), ("accuracy", POINTS))
                for n in SAMPLES
            ]
            body.append([SELECTORS[at][1], SELECTORS[other][1], len(signs), *cells])
    head = ["method", "against", "settings", "SetF1 better, level, worse", "ClsAcc likewise"]
    head += [f"{what}, n = {n}" for what in ("SetF1", "ClsAcc") for n in SAMPLES]
    lines = table(head, body)
    paper, told = expected(), []
    for selector in SELECTORS:
        by = {place: runs for place in places() if (runs := ndcc_runs(rows, part, *place[1:], selector))}
        if by:
            runs = [r for rs in by.values() for r in rs]
            cells = [selector[1], len(runs), sum(r["size"] == 0 for r in runs)]
            for expansion in (25, 100):
                of = [mean(r["accuracy"] for r in rs) for place, rs in by.items() if place[1] == expansion]
                printed = [
                    float(paper[t, str(n), str(p), selector[0]]["value"]) for t, e, _, n, p in places() if e == expansion
                ]
                cells += [f"{min(of):.2f} to {max(of):.2f}", f"{min(printed):.2f} to {max(printed):.2f}"]
            told.append([*cells, number(mean(r["size"] for r in runs), 1), number(mean(r["set_f1"] for r in runs), 3)])
    head = ["method", "runs", "empty selections"]
    head += [f"expansion {e}: ClsAcc by setting{of}" for e in (25, 100) for of in ("", ", paper")]
    return "\n".join(lines + table([*head, "size, mean", "SetF1, mean"], told)) if told else "No rows yet."


F1 = Measure("", 0.02, digits=3)
SIZE = Measure("features", 0.5)
FORMS = (("plane", "second form"), ("ndcc", "first form"))  # of the data
KTA, SAME_SIZE, LINEAR, FIXED, RFE = 0, 1, 2, 3, 4  # of SELECTORS


def values(rows, part, at, what, where=lambda expansion, theta, n: True):
    """{(expansion, theta, n, p, seed): value} of a method."""
    found = {}
    for _, expansion, theta, n, p in places():
        if where(expansion, theta, n):
            runs = ndcc_runs(rows, part, expansion, theta, n, p, SELECTORS[at])
            found |= {(expansion, theta, n, p, r["key"]["seed"]): r[what] for r in runs}
    return found


def cluster_of(part):
    """Cases that are no independent data. In the first form a seed gives the same clusters at both expansions, at 10, 20
    and 30 features, and the 50 samples are the first 50 of the 100. In the second every case has a seed of its own.
    """
    return (lambda case: (case[1], case[4])) if part == "ndcc" else None


def against(rows, part, at, other, what, where=lambda expansion, theta, n: True):
    """Two methods on the same data."""
    return on_cases(values(rows, part, at, what, where), values(rows, part, other, what, where), cluster=cluster_of(part))


def growing(rows, part, what):
    """The lead over RFE-K with 50 samples against that with 100."""
    lead = []
    for n in SAMPLES:
        mine, its = (values(rows, part, at, what, lambda e, t, m: m == n) for at in (KTA, RFE))
        lead.append({(e, t, p, seed): mine[e, t, n, p, seed] - its[e, t, n, p, seed] for e, t, _, p, seed in mine.keys() & its.keys()})
    if part == "ndcc":  # the same clusters, so that seeds are pairs
        return on_cases(*lead, cluster=lambda case: (case[1], case[3]))
    return Apart(*(list(of.values()) for of in lead))


def claims(rows):
    """What the rows bear of each claim."""

    def each(what, at, other, claimed=1, where=lambda e, t, n: True, label="{}", test=more):
        measure = {"accuracy": POINTS, "set_f1": F1, "size": SIZE}[what]
        return [test(label.format(said), against(rows, form, at, other, what, where), measure, claimed) for form, said in FORMS]

    small, large = (lambda e, t, n: n == 50), (lambda e, t, n: n == 100)
    at = lambda *place: lambda e, t, n: (e, t) == place
    rivals = (("RFE-K", RFE), ("MILO-L", LINEAR))
    have = list(real_rows(rows))
    runs = {form: [r for *_, programs in have for k, r in enumerate(programs) if PROGRAMS[k] == form and r] for form in PROGRAMS}
    ended = {form: sum(r.get("status") == "optimal" for r in of) for form, of in runs.items()}
    told = ", ".join(f"{name} {ended[form]} of {len(runs[form])} in {limit_of(rows, *form):g} s" for form, name in NAMES.items() if runs[form])
    reach = left_open("proven", f"{told}; the paper has 10 000 s")
    paper = expected()
    equal = {k: [] for k in FILES}
    for number_, _, theta, beta, ours, _ in have:
        printed = paper[number_, str(theta), beta, "RMILO-K"]
        if printed["opt_gap_percent"] == "0.0":
            equal[number_].append(abs(ours["objective"] - float(printed["value"])) <= 6e-4)
    values_of = lambda k: every("values of `kta`, all proven", sum(equal[k]), len(equal[k]), f"{sum(equal[k])} of {len(equal[k])} are RMILO-K's to the three digits printed")
    below = [ours["objective"] - float(paper[4, str(theta), beta, "RMILO-K"]["value"]) for number_, _, theta, beta, ours, _ in have if number_ == 4]
    return [
        Claim("T1", "Hepatitis: what RMILO-K proves is the optimum", WORDS["proven"].format("all the problem instances completely within the time limit"), "Table 2", values_of(2)),
        Claim("T2", "Zoo: likewise", "the differences in ObjVal among the three formulations were relatively small", "Table 3", values_of(3)),
        Claim(
            "T3", "Parkinsons: no program ends, so that its values are not the best", "the three formulations failed to finish computations within the time limit", "Table 4",
            every("the optimum is above RMILO-K's value", sum(b > 6e-4 for b in below), len(below), f"the optima of `kta` are {min(below):.2f} to {max(below):.2f} above"),
        ),
        Claim("T4", "Soybean: what RMILO-K proves is the optimum", WORDS["proven"].format("all the problem instances to optimality"), "Table 5", values_of(5)),
        Claim(
            "T5", "the MILO programs are solved much faster than INLO-K, and RMILO-K much faster than MILO-K",
            "our MILO problems were solved in much shorter times than was the original INLO problem, and the computational efficiency was improved by our reduced MILO formulation",
            "Table 2, Table 3, Table 4, Table 5", reach,
        ),
        Claim(
            "T6", "RMILO-K takes longer with more features, and longest at beta = 1",
            "the computation time of RMILO-K was often longest with beta = 1.00", "Table 2, Table 3, Table 5", reach,
        ),
        Claim(
            "T7", "with 50 samples alignment finds a better subset than RFE-K", WORDS["few"], "",
            *each("set_f1", KTA, RFE, 1, small, "SetF1, {}"),
        ),
        Claim(
            "T8", "with 50 samples it classifies better than RFE-K", WORDS["few"], "", *each("accuracy", KTA, RFE, 1, small),
            why="Against RFE-K at theta features, which the paper has not: "
            + "; ".join(f"{said} {pair.text(POINTS)}" for form, said in FORMS if (pair := against(rows, form, KTA, SAME_SIZE, "accuracy", small))),
        ),
        Claim(
            "T9", "its lead over RFE-K is larger with few samples", WORDS["few"], "",
            *(more(f"{label}, {said}, 50 less 100 samples", growing(rows, form, what), measure) for label, what, measure in (("SetF1", "set_f1", F1), ("accuracy", "accuracy", POINTS)) for form, said in FORMS),
        ),
        Claim(
            "T10", "with 100 samples RFE-K classifies as well or better",
            "When n = 100, RFE-K and MILO-L had the best accuracy for classification and subset selection, respectively.", "Table 7",
            *each("accuracy", RFE, KTA, 1, large, test=as_good),
        ),
        Claim(
            "T11", "alignment often classifies better than MILO-L, above all with few samples",
            "Our method often attained better classification accuracy than did the linear-SVM-based MILO formulation and recursive feature elimination, especially when there were relatively few data instances.", "",
            *each("accuracy", KTA, LINEAR, 1, small, "50 samples, {}"),
            *each("accuracy", KTA, LINEAR, 1, large, "100 samples, {}"),
            why="MILO-L with a C made for the data",
        ),
        Claim(
            "T12", "at expansion 25 with three features alignment classifies best and MILO-L worst", WORDS["six"], "Table 6",
            *(part for name, other in rivals for part in each("accuracy", KTA, other, 1, at(25, 3), f"alignment against {name}, {{}}")),
            *each("accuracy", LINEAR, RFE, -1, at(25, 3), "MILO-L against RFE-K, {}"),
        ),
        Claim(
            "T13", "with five features and 50 samples alignment keeps good accuracy of classes and subset",
            "When n = 50, RMILO-K maintained good accuracy for both classification and subset selection.", "Table 7",
            *(
                part
                for what in ("accuracy", "set_f1")
                for name, other in rivals
                for part in each(what, KTA, other, 1, lambda e, t, n: (e, t, n) == (25, 5, 50), f"{'accuracy' if what == 'accuracy' else 'SetF1'} not below that of {name}, {{}}", as_good)
            ),
        ),
        Claim(
            "T14", "MILO-L classifies best at expansion 100 with three features",
            "In this case, MILO-L outperformed the other kernel-based methods in terms of the classification accuracy.", "Table 8",
            *each("accuracy", LINEAR, KTA, 1, at(100, 3), "against alignment, {}"),
            *each("accuracy", LINEAR, RFE, 1, at(100, 3), "against RFE-K, {}"),
            *each("accuracy", FIXED, KTA, 1, at(100, 3), "with the paper's C = 1 against alignment, {}"),
        ),
        Claim(
            "T15", "there alignment is ahead of RFE-K in accuracy and subset",
            "the accuracy for classification and subset selection was higher for RMILO-K than for RFE-K overall", "Table 8",
            *each("accuracy", KTA, RFE, 1, at(100, 3), "accuracy, {}"), *each("set_f1", KTA, RFE, 1, at(100, 3), "SetF1, {}"),
        ),
        Claim(
            "T16", "with five features MILO-L has the best subset: at expansion 25 with 100 samples, at 100 overall",
            "As for the subset selection accuracy, although MILO-L had the overall best performance", "Table 7, Table 9",
            *(
                part
                for label, where in (("expansion 25, n = 100", lambda e, t, n: (e, t, n) == (25, 5, 100)), ("expansion 100, n = 50", lambda e, t, n: (e, t, n) == (100, 5, 50)), ("expansion 100, n = 100", lambda e, t, n: (e, t, n) == (100, 5, 100)))
                for name, other in (("alignment", KTA), ("RFE-K", RFE))
                for part in each("set_f1", LINEAR, other, 1, where, f"{label}, against {name}, {{}}")
            ),
        ),
        Claim(
            "T17", "there alignment has a better subset than RFE-K", "RMILO-K with fewer features outperformed RFE-K on the whole", "Table 9",
            *each("set_f1", KTA, RFE, 1, at(100, 5), "SetF1, {}"), *each("size", KTA, RFE, -1, at(100, 5), "features, {}"),
        ),
        Claim(
            "T18", "there alignment classifies well with 50 samples, RFE-K with 100",
            "RMILO-K and RFE-K attained good classification accuracy when n = 50 and n = 100, respectively", "Table 9",
            *each("accuracy", KTA, RFE, 1, lambda e, t, n: (e, t, n) == (100, 5, 50), "50 samples, alignment against RFE-K, {}"),
            *each("accuracy", RFE, KTA, 1, lambda e, t, n: (e, t, n) == (100, 5, 100), "100 samples, RFE-K against alignment, {}"),
        ),
        Claim(
            "T19", "alignment keeps fewer than half of MILO-L's features",
            "However, RMILO-K selected fewer than half the features selected by MILO-L.", "Table 7",
            *(more(f"share of MILO-L's, {said}, below a half", halves(rows, form), Measure("%", 5, digits=1), -1) for form, said in FORMS),
            *each("size", KTA, LINEAR, -1, at(25, 5), "features, {}"),
            why="MILO-L selects nothing where its C leaves no margin, on the first form often; those cases are left out of the shares",
        ),
    ]


def halves(rows, part):
    """Features of alignment in percent of MILO-L's, less 50, at expansion 25 with five features and 100 samples."""
    where = lambda e, t, n: (e, t, n) == (25, 5, 100)
    mine, its = values(rows, part, KTA, "size", where), values(rows, part, LINEAR, "size", where)
    share = {case: 100 * mine[case] / its[case] for case in mine if its.get(case)}
    return on_cases(share, dict.fromkeys(share, 50.0), cluster=cluster_of(part))


WORDS = {
    "proven": "RMILO-K solved {}",
    "few": "These results show that our MILO formulation delivers good prediction performance, especially when there are relatively few data instances.",
    "six": "When n = 50, our kernel-based MILO method (RMILO-K) achieved good accuracy for both classification (ClsAcc) and subset selection (SetF1) ... On the whole, the linear-SVM-based MILO method (MILO-L) performed the worst.",
}
SHOWN = [
    Shown("Table 1", "the same four sets", "sizes of the data", "All n and p agree", "same"),
    Shown("Table 2", "[tables 2 to 5](../papers/tamura2022/results/tables2-5.md)", "Hepatitis: INLO-K, MILO-K, RMILO-K", "Values by `kta`; times of the programs do not compare"),
    Shown("Table 3", "[tables 2 to 5](../papers/tamura2022/results/tables2-5.md)", "Zoo", "Likewise"),
    Shown("Table 4", "[tables 2 to 5](../papers/tamura2022/results/tables2-5.md)", "Parkinsons, where the paper proves nothing", "Likewise"),
    Shown("Table 5", "[tables 2 to 5](../papers/tamura2022/results/tables2-5.md)", "Soybean", "Likewise"),
    *(
        Shown(f"Table {k}", "[tables 6 to 9](../papers/tamura2022/results/tables6-9.md), [second form](../papers/tamura2022/results/plane.md)", f"NDCC, expansion {e}, {theta} features: MILO-L, RFE-K, RMILO-K", why)
        for (k, (e, theta)), why in zip(NDCC.items(), ("The generator is not available: ours is harder for linear machines, its second form about as hard; `kta` stands for RMILO-K", "Likewise", "Likewise", "Likewise"))
    ),
]


def main():
    options = common.parser(__doc__)
    options.add_argument(
        "--milo-limit",
        type=float,
        default=5.0,
        help="seconds for each run of milo-k and rmilo-k; 0 leaves them out [default: %(default)s]",
    )
    options.add_argument("--scip-limit", type=float, default=10.0, help="seconds for each run of SCIP [default: %(default)s]")
    options.add_argument("--repeats", type=int, default=REPEATS, help="repetitions of tables 6 to 9 [default: %(default)s]")
    args = options.parse_args()
    if wrong := [part for part in args.only if part not in PARTS]:
        sys.exit(f"--only {wrong[0]}: the parts are {', '.join(PARTS)}")
    if args.quick:
        options.set_defaults(only=["real", "ndcc"], milo_limit=0.2, repeats=2)
    common.main(HERE, options, run, pages, blocks, claims, lambda: SHOWN)


if __name__ == "__main__":
    main()
