#!/usr/bin/env python3
"""The experiments of tamura2022 with `fewest`: runs what is missing, then writes the tables.

    python3 papers/tamura2022/run.py [--fewest PATH] [--only real | inlo | ndcc | plane ...] [--milo-limit 5]

real   Tables 2 to 5: `kta` (proven, gap 0), `milo-k --plain` and `rmilo-k --plain` (as published,
       under --milo-limit), on the paper's data, beside the paper's numbers
inlo   Tables 2 to 5: INLO-K itself by SCIP, which has an `exp`, under --scip-limit; where
       pyscipopt is installed
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
from paired import Claim, Paired, compared, on_cases  # noqa: E402

FILES = {2: "hepatitis", 3: "zoo", 4: "parkinsons", 5: "soybean-small"}
BETAS = ("0.25", "1.00", "4.00")
# Table: expansion factor and number of relevant features.
NDCC = {6: (25, 3), 7: (25, 5), 8: (100, 3), 9: (100, 5)}
SAMPLES, FEATURES, REPEATS, TEST = (50, 100), (10, 20, 30), 10, 5000
MILO = {"MILO-K": ("milo-k", "--plain --lp interior"), "RMILO-K": ("rmilo-k", "--plain --lp interior")}
# Of tables 6 to 9: the paper's label, ours, method, options, limit. The paper's C = 1 leaves MILO-L
# no margin on overlapping classes, so it is 1.5 times the least there is, of n_c samples in the
# smaller class. Older rows of MILO-L have the SVM of that C as classifier.
SELECTORS = (
    ("RMILO-K", "kta", "kta", "--gap 0", None),
    ("RFE-K", "RFE-K", "rfe", "--kernel rbf --gamma sigest", None),
    ("MILO-L", "MILO-L", "milp2", "--cost 0.75/n_c, then LinearSVC", 60),
    ("MILO-L", "MILO-L, its own classifier", "milp2", "--cost 0.75/n_c", 60),
    ("MILO-L", "MILO-L, C = 1", "milp2", "--cost 1, then LinearSVC", 10),
    ("RFE-K", "RFE-K, size by CV", "rfe", "--kernel rbf --gamma sigest --cv 10", None),
)
PARTS = ("real", "inlo", "ndcc", "plane")
RADII, TURNED = (100, 300, 500), 0.1  # of `plane`: cubes, share of the clusters with the other class
SCIP = ("scip", "INLO-K, exp")


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
                kept = {k: found[k] for k in ("status", "objective", "bound", "gap", "selected", "seconds")}
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


def scip(name, theta, gamma, limit):
    """INLO-K, (27) to (29), by SCIP: one variable for each pair of samples, e = exp(-gamma sum_j z_j d_j)."""
    import pyscipopt

    X, psi = scaled(name)
    pairs = {}  # pairs of equal distances are one
    for i in range(len(X)):
        for h in range(i):
            d = tuple(round((a - b) ** 2, 12) for a, b in zip(X[i], X[h]))
            pairs[d] = pairs.get(d, 0.0) + 2 * psi[i] * psi[h]
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("timing/clocktype", 1)  # CPU seconds
    model.setParam("parallel/maxnthreads", 1)
    z = [model.addVar(vtype="B") for _ in X[0]]
    model.addCons(pyscipopt.quicksum(z) <= theta)
    total = [sum(v * v for v in psi)]
    for d, weight in pairs.items():
        if any(d):
            e = model.addVar(lb=math.exp(-gamma * sum(d)), ub=1)
            model.addCons(pyscipopt.exp(-gamma * pyscipopt.quicksum(v * x for v, x in zip(d, z) if v)) == e)
            total.append(weight * e)
        else:
            total.append(weight)
    model.setObjective(pyscipopt.quicksum(total), "maximize")
    model.optimize()
    found = {"status": model.getStatus(), "seconds": model.getSolvingTime(), "nodes": model.getNNodes()}
    found |= {"objective": None, "bound": None, "gap": None, "selected": [], "scip": pyscipopt.__version__, "pairs": len(pairs)}
    if abs(model.getDualbound()) < 1e19:
        found["bound"] = model.getDualbound()
    if model.getNSols():
        chosen = [j for j, x in enumerate(z) if model.getVal(x) > 0.5]
        # The value of its subset by the definition: SCIP's own is off by its tolerances.
        value = sum(w * math.exp(-gamma * sum(d[j] for j in chosen)) for d, w in pairs.items()) + sum(v * v for v in psi)
        value = 0.0 if abs(value) < 1e-12 else value
        found |= {"objective": value, "selected": chosen}
        if found["bound"] is not None and value > 1e-9:
            found["gap"] = (found["bound"] - value) / value
    return found


def inlo(fewest, rows, args):
    if not importlib.util.find_spec("pyscipopt"):
        print("inlo is left out: pyscipopt is not installed")
        return
    for _, name, theta, beta in settings([5] if args.quick else FILES):

        def solve():
            words = ["-m", "kta", "--max-features", theta, "--gamma", f"sigest:{beta}", "--gap", 0]
            gamma = fewest.select(common.data(f"{name}.csv"), *words)["settings"]["gamma"]
            return scip(name, theta, gamma, args.scip_limit)

        rows.get(real_key(name, theta, beta, *SCIP, args.scip_limit), solve)


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
                for _, label, method, options, limit in SELECTORS:
                    if "its own" not in label:
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
            "gap": found["gap"],
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
        return "refused: memory"
    if r["objective"] is None:
        return f"nothing in {r['key']['limit']:g} s"
    gap = "no bound" if r["gap"] is None else f"{100 * r['gap']:.1f} %"
    return f"{r['objective']:.6f}, {gap}, {r['seconds']:.1f}, {len(r['selected'])}"


PROGRAMS = (*MILO.values(), ("rmilo-k", "--lp interior"), SCIP)


def real_rows(rows):
    """(table, file, theta, beta, run of kta, runs of the programs)."""
    limits = {form: limit_of(rows, *form) for form in PROGRAMS}
    for table_, name, theta, beta in settings():
        ours = rows.find(real_key(name, theta, beta, "kta", "--gap 0", None))
        if ours:
            yield table_, name, theta, beta, ours, [rows.find(real_key(name, theta, beta, *form, limits[form])) for form in PROGRAMS]


def real_page(rows):
    paper, body = expected(), []
    for table_, name, theta, beta, ours, programs in real_rows(rows):
        printed = [paper[table_, str(theta), beta, method] for method in ("INLO-K", "MILO-K", "RMILO-K")]
        cells = [f"{r['value']}, {r['opt_gap_percent']} %, {r['seconds']}, {r['size']}" for r in printed]
        cells.append(f"{ours['objective']:.6f}, {ours['status']}, {ours['seconds']:.3f}, {len(ours['selected'])}")
        body.append([name, theta, beta, *cells, ours["nodes"], *map(program_cell, programs)])
    if not body:
        return []
    lines = ["# tamura2022, tables 2 to 5", "", "Written by `papers/tamura2022/run.py`.", *common.about(rows.where(part="real"))]
    lines += [
        "Each cell: value of f, gap or status, seconds (of older rows of `kta` with start and reading), number of features. HiGHS",
        "solves MILO-K and RMILO-K, by interior points as the paper does; CPLEX and Gurobi in the paper. `rmilo-k` without `--plain`",
        "starts from the local search of `kta`: its value is that start, not what HiGHS found. The head of a column has its limit: of",
        "HiGHS in seconds of the clock, of SCIP in CPU seconds; the paper's is 10 000 s.",
        "",
    ]
    head = [
        "file",
        "theta",
        "beta",
        *(f"paper: {m}" for m in ("INLO-K", "MILO-K", "RMILO-K")),
        "`kta`",
        "nodes",
        *(
            f"{name}, {limit_of(rows, *form) or 0:g} s"
            for name, form in zip(("`milo-k --plain`", "`rmilo-k --plain`", "`rmilo-k` from kta's start", "INLO-K by SCIP"), PROGRAMS)
        ),
    ]
    return lines + table(head, body) + common.source(rows.where(part="real"), "part real")


def ndcc_runs(rows, part, expansion, theta, n, p, selector):
    _, _, method, options, limit = selector
    return rows.where(part=part, expansion=expansion, theta=theta, n=n, p=p, method=method, options=options, limit=limit)


def ndcc_page(rows, part):
    paper, body = expected(), []
    for table_, expansion, theta, n, p in places():
        of = {s: ndcc_runs(rows, part, expansion, theta, n, p, s) for s in SELECTORS}
        for selector, runs in of.items():
            if runs:
                printed = paper[table_, str(n), str(p), selector[0]]
                error = lambda what: statistics.stdev(r[what] for r in runs) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
                both = lambda what: f"{statistics.mean(r[what] for r in runs):.3f} ({error(what):.3f})"
                open_ = sum(r["status"] == "time_limit" for r in runs)
                body.append(
                    [
                        table_,
                        n,
                        p,
                        selector[1],
                        len(runs),
                        both("accuracy"),
                        f"{printed['value']} ({printed['value_se']})",
                        both("set_f1"),
                        f"{printed['set_f1']} ({printed['set_f1_se']})",
                        f"{mean(r['size'] for r in runs):.1f}",
                        printed["size"],
                        sum(r["size"] == 0 for r in runs),
                        open_,
                        printed["opt_gap_percent"] or "-",
                        f"{mean(r['seconds'] for r in runs):.3f}",
                        printed["seconds"],
                    ]
                )
    if not body:
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
    head = [
        "table",
        "n",
        "p",
        "method",
        "runs",
        "ClsAcc",
        "paper",
        "SetF1",
        "paper",
        "size",
        "paper",
        "empty",
        "stopped",
        "paper's gap %",
        "s",
        "paper",
    ]
    return lines + table(head, body) + common.source(mine, f"part {part}")


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
        gaps = [100 * r["gap"] for _, r in have if r["gap"] is not None]
        limits = sorted({f"{r['key']['limit']:g}" for r in runs})
        spread = f"{min(gaps):.0f} to {max(gaps):.0f} %" if gaps else "-"
        name = "INLO-K by SCIP" if (method, options) == SCIP else f"`{method} {options}`"
        name += " from the start of `kta`" if method == "rmilo-k" and "--plain" not in options else ""
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
        ["program", "runs", "limit s", "proven", "refused (memory)", "no subset", "best subset found", "a gap at all"], lines
    )
    return {"optima": said, "programs": "\n".join(programs), "ndcc": ndcc_block(rows, "ndcc"), "plane": ndcc_block(rows, "plane")}


RIVALS = ((0, 5), (0, 1), (2, 0), (2, 5), (4, 0))


def pairs(rows, part, at, other, what, where=lambda expansion, theta, n: True):
    """Two methods on the same data. The data of one seed with 10, 20 and 30 features have the same clusters in
    `ndcc`: so a pair is the means over these three.
    """
    a, b = [], []
    for expansion, theta in NDCC.values():
        for n in SAMPLES:
            if where(expansion, theta, n):
                for mine, its in by_seed(rows, part, expansion, theta, n, at, other, what):
                    a.append(mine)
                    b.append(its)
    return Paired(a, b)


def by_seed(rows, part, expansion, theta, n, at, other, what):
    """(mean of one method, mean of the other) over p, for each seed that all have."""
    found = [
        {r["key"]["seed"]: r[what] for r in ndcc_runs(rows, part, expansion, theta, n, p, SELECTORS[k])}
        for k in (at, other)
        for p in FEATURES
    ]
    for seed in sorted(set.intersection(*(set(of) for of in found))):
        values = [of[seed] for of in found]
        yield mean(values[:3]), mean(values[3:])


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
                pairs(rows, part, at, other, what, lambda e, t, samples: samples == n).text(**how)
                for what, how in (("set_f1", F1), ("accuracy", POINTS))
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


F1 = {"digits": 3}
POINTS = {"digits": 2, "scale": 100, "unit": "points"}
FORMS = (("plane", "second form"), ("ndcc", "first form"))  # of the data


def claims(rows):
    """What the rows bear of each claim."""
    kta, theta_sized, linear, own, sized = 0, 1, 2, 4, 5  # of SELECTORS

    def part(label, form, at, other, what, claimed=1, where=lambda e, t, n: True):
        how = POINTS if what == "accuracy" else F1 if what == "set_f1" else {"digits": 2}
        return compared(label, pairs(rows, form, at, other, what, where), claimed=claimed, **how)

    def every(what, at, other, claimed=1, where=lambda e, t, n: True, label="{}"):
        return [part(label.format(said), form, at, other, what, claimed, where) for form, said in FORMS]

    def growing(form, what):
        """The lead with 50 samples against that with 100, by seed and setting."""
        gaps = [
            [mine - its for e, t in NDCC.values() for mine, its in by_seed(rows, form, e, t, n, kta, sized, what)] for n in SAMPLES
        ]
        return Paired(*gaps)

    small, large = (lambda e, t, n: n == 50), (lambda e, t, n: n == 100)
    have = list(real_rows(rows))
    limits = ", ".join(f"{name} {limit_of(rows, *form):g} s" for name, form in zip(("`milo-k`", "`rmilo-k`", "SCIP"), (*MILO.values(), SCIP)))
    short = f"limits are {limits}; the paper's is 10 000 s each"
    proven = sum(r is not None and r.get("status") == "optimal" for *_, programs in have for r in programs)
    return [
        Claim(
            "the MILO programs are solved much faster than INLO-K",
            ("", None, f"{short}. HiGHS has every pair of samples, SCIP the distinct ones. {proven} of the {len(have) * len(PROGRAMS)} runs prove their optimum"),
        ),
        Claim("RMILO-K is much faster than MILO-K", ("", None, f"no run of either ends; {short}")),
        Claim(
            "RMILO-K proves three of the four sets, MILO-K and INLO-K fewer",
            ("", None, f"{short}. `kta` proves all four, which is another algorithm, and has RMILO-K's values"),
        ),
        Claim("RMILO-K takes longest with five features and at beta = 1", ("", None, short)),
        Claim(
            "with 50 samples alignment finds a better subset than RFE-K",
            *every("set_f1", kta, sized, 1, small, "SetF1, {}, against RFE-K with its size by cross-validation"),
        ),
        Claim(
            "with 50 samples it classifies better than RFE-K",
            *every("accuracy", kta, sized, 1, small, "{}, against RFE-K with its size by cross-validation"),
            why="Against RFE-K at theta features, which the paper has not: "
            + "; ".join(f"{said} {pairs(rows, form, kta, theta_sized, 'accuracy', small).text(**POINTS)}" for form, said in FORMS),
        ),
        Claim(
            "its lead over RFE-K is larger with few samples",
            *(compared(f"SetF1, {said}, 50 less 100 samples", growing(form, "set_f1"), **F1) for form, said in FORMS),
            *(compared(f"accuracy, {said}", growing(form, "accuracy"), **POINTS) for form, said in FORMS),
        ),
        Claim(
            "with 100 samples RFE-K classifies as well or better",
            *(
                (said, test.sign() <= 0, test.text(**POINTS))
                for form, said in FORMS
                for test in [pairs(rows, form, kta, sized, "accuracy", large)]
            ),
        ),
        Claim(
            "alignment often classifies better than MILO-L, above all with few samples",
            *every("accuracy", kta, linear, 1, small, "50 samples, {}"),
            *every("accuracy", kta, linear, 1, large, "100 samples, {}"),
            why="MILO-L with a C made for the data",
        ),
        Claim(
            "MILO-L is the worst at expansion 25 with three features (Table 6)",
            *every("accuracy", linear, kta, -1, lambda e, t, n: (e, t) == (25, 3), "against alignment, {}"),
            *every("accuracy", linear, sized, -1, lambda e, t, n: (e, t) == (25, 3), "against RFE-K, {}"),
        ),
        Claim(
            "MILO-L classifies best at expansion 100 with three features (Table 8)",
            *every("accuracy", linear, kta, 1, lambda e, t, n: (e, t) == (100, 3), "against alignment, {}"),
            *every("accuracy", linear, sized, 1, lambda e, t, n: (e, t) == (100, 3), "against RFE-K, {}"),
            *every("accuracy", own, kta, 1, lambda e, t, n: (e, t) == (100, 3), "with the paper's C = 1 against alignment, {}"),
        ),
        Claim(
            "MILO-L has the best subset with five features and 100 samples (Tables 7, 9)",
            *every("set_f1", linear, kta, 1, lambda e, t, n: t == 5 and n == 100, "against alignment, {}"),
            *every("set_f1", linear, sized, 1, lambda e, t, n: t == 5 and n == 100, "against RFE-K, {}"),
        ),
        Claim(
            "alignment keeps fewer features than MILO-L",
            *every("size", kta, linear, -1, label="features, {}"),
            why="MILO-L selects nothing where its C leaves no margin, on the first form often",
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
    common.main(HERE, options, run, pages, blocks, claims)


if __name__ == "__main__":
    main()
