"""`fewest` kta: the 24 optimal values of tamura2022's data, plain enumeration beside it, and larger data. One core. `make bench-kta`.

values: `fewest select` for each file, K and beta at gap 0, the whole command timed (start, reading, sigest, proof, SVM).
enumeration: `fewest-bench kta` and `fewest-bench enumerate` (depth first, one running product per pair) on the same matrix, K = 5, beta = 1.
large: `fewest select` with a time limit; gap 1e-4.
sizes: `fewest select` at larger K, 60 s each (madelon_train, spambase: 120 s), gap 1e-4; of another build, too, with --before: its own table, kta_sizes.md.
"""
import json
import pathlib
import resource
import tempfile

import common as c

VALUES = {
    ("hepatitis", 3): (0.235528, 0.411047, 0.488675),
    ("hepatitis", 5): (0.214935, 0.392316, 0.462882),
    ("zoo", 3): (0.302839, 0.915587, 1.445473),
    ("zoo", 5): (0.277512, 0.726015, 1.332669),
    ("parkinsons", 3): (0.308423, 0.443840, 0.457060),
    ("parkinsons", 5): (0.261697, 0.400477, 0.459090),
    ("soybean-small", 3): (0.316304, 0.925629, 1.450918),
    ("soybean-small", 5): (0.300279, 0.870497, 1.390897),
}
BETAS = (0.25, 1.0, 4.0)
BESIDE = ("ionosphere", "wdbc", "wpbc")
LARGE = (("madelon_train.csv.gz", 2), ("madelon_train.csv.gz", 3), ("madelon_train.csv.gz", 5), ("spambase.csv", 4))
SIZES = [(f"{name}.csv", K, 60) for K in (5, 8, 10) for name in ("ionosphere", "wdbc", "wpbc", "german-numeric")]
SIZES_LARGE = [("spambase.csv", 5, 120), ("spambase.csv", 6, 120), ("madelon_train.csv.gz", 4, 120)]
# When the value and bound of a large run are examined, seconds.
MOMENTS = (10, 60, 150, 300)


def row_of(part, name, K, beta, found, seconds):
    kept = {key: found.get(key) for key in ("status", "objective", "bound", "gap", "selected")}
    counts = found.get("counts") or {"nodes": found.get("nodes"), "solver_iterations": found.get("evaluations")}
    row = {"part": part, "set": name, "K": K, "beta": beta, **kept, "seconds": seconds}
    return row | {"nodes": counts["nodes"], "evaluations": counts["solver_iterations"]}


def moved(trace, seconds):
    """Objective and bound of a run when these seconds were over."""
    last = {}
    for event in map(json.loads, trace.read_text().splitlines()):
        if event.get("seconds", 0.0) > seconds:
            break
        last |= {key: event[key] for key in ("objective", "bound") if key in event}
    return f"{last['objective']:.6f}, {last['bound']:.6f}"


def sizes(builds):
    rows = []
    for name, K, limit in SIZES + SIZES_LARGE:
        for build, binary in builds.items():
            if (name, K, limit) in SIZES or build == "after":
                options = {"method": "kta", "max_features": K, "time_limit": f"{limit}s"}
                found, (seconds,) = c.repeat(lambda: c.fewest(binary, "select", c.DATA / name, **options), 1)
                rows.append(row_of("sizes", name.split(".")[0], K, 1.0, found, seconds) | {"build": build, "limit s": limit})
    digests = {f"binary {build}": c.program(binary)[1] for build, binary in builds.items()}
    columns = ["set", "K", "limit s", "build", "status", "objective", "bound", "gap", "seconds", "nodes", "evaluations"]
    c.save("kta_sizes", rows, columns, digests)


def main():
    a = c.arguments(
        __doc__,
        fewest=("", "the command (target/release/fewest)"),
        core=(1, "core to run on"),
        limit=(600.0, "seconds for each of the large runs"),
        parts=(["values", "enumeration", "large", "sizes"], "which parts to run"),
        before=("", "another build of the command, for sizes"),
    )
    c.pin(a.core)
    binary, digest = c.program(a.fewest)
    rows, summary = [], {"binary": digest}
    if "values" in a.parts:
        for (name, K), optima in VALUES.items():
            for beta, optimum in zip(BETAS, optima, strict=True):
                options = {"method": "kta", "max_features": K, "gamma": f"sigest:{beta:g}", "gap": 0.0}
                run = lambda: c.fewest(binary, "select", c.DATA / f"{name}.csv", **options)
                found, seconds = c.repeat(run, 3, 1.0)
                if found["status"] != "optimal" or abs(found["objective"] - optimum) > 1.5e-6:
                    raise SystemExit(f"{name}, K {K}, beta {beta:g}: {found['objective']} is not the optimum {optimum}")
                rows.append(row_of("values", name, K, beta, found, min(seconds)))
        summary["24 values, s"] = sum(row["seconds"] for row in rows)
    if "enumeration" in a.parts:
        c.FILES["wpbc"] = ("wpbc.csv", None)
        for name in BESIDE:
            path, _, _ = c.prepared(name)
            found = c.ours("kta", path, features=5, beta=1.0, repeats=3)
            plain = c.ours("enumerate", path, features=5, beta=1.0)
            if not found["objective"] <= plain["objective"] * (1 + 1e-9) <= found["bound"] * (1 + 2e-9):
                raise SystemExit(f"{name}: {found['objective']} and bound {found['bound']}, but enumeration {plain['objective']}")
            row = row_of("enumeration", name, 5, 1.0, found, min(found["seconds"]))
            rows.append(row | {"enumeration s": plain["seconds"][0], "times": plain["seconds"][0] / row["seconds"]})
    if "large" in a.parts:
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.jsonl"
            for name, K in LARGE:
                options = {"method": "kta", "max_features": K, "time_limit": f"{a.limit:g}s", "trace": trace}
                found, (seconds,) = c.repeat(lambda: c.fewest(binary, "select", c.DATA / name, **options), 1)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                row = row_of("large", name.split(".")[0], K, 1.0, found, seconds) | {"peak MiB so far": peak}
                rows.append(row | {f"at {t} s": moved(trace, t) for t in MOMENTS if t < seconds})
    if "sizes" in a.parts:
        sizes(({"before": a.before} if a.before else {}) | {"after": binary})
    if a.parts == ["sizes"]:
        return
    columns = ["part", "set", "K", "beta", "status", "objective", "bound", "gap", "seconds", "nodes", "evaluations"]
    c.save("kta", rows, [*columns, "enumeration s", "times", "peak MiB so far", *(f"at {t} s" for t in MOMENTS), "selected"], summary)


if __name__ == "__main__":
    main()
