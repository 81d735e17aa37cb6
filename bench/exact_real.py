"""`fewest` exact on real data, standardised, hinge loss, free bias, gap 1e-4, one core. One command: `make bench-exact-real`.

wdbc: the path K = 1..10 for C in {0.1, 1}, as one run of `fewest path`. leukemia_golub: 5 of 7129 features for C = 0.01 and 1, 60 s
each. `rfe` is the objective of SVM-RFE's subset of that size under the same C: how far from the optimum a heuristic ends.
"""
import common as c


def rows_of(name, path, C, sizes, results, whole, binary):
    for K, found in zip(sizes, results, strict=True):
        rfe = c.fewest(binary, "select", path, method="rfe", max_features=K, cost=C)["objective"]
        row = {"set": name, "C": C, "K": K, **{v: found[v] for v in ("status", "objective", "bound", "gap", "seconds")}}
        yield row | {"nodes": found["counts"]["nodes"], "whole s": whole, "rfe": rfe, "selected": found["selected"]}


def main():
    a = c.arguments(
        __doc__,
        fewest=("", "the command (target/release/fewest)"),
        core=(1, "core to run on"),
        limit=(60.0, "seconds for each leukemia run; the wdbc path has ten times as many"),
    )
    c.pin(a.core)
    binary, digest = c.program(a.fewest)
    common = {"method": "exact", "loss": "hinge", "bias": "free", "gap": 1e-4}
    rows = []
    for C in (0.1, 1.0):
        path, limit = c.ROOT / "data" / "wdbc.csv", f"{10 * a.limit:g}s"
        run = lambda: c.fewest(binary, "path", path, **common, max_features="1..10", cost=C, time_limit=limit)
        found, (whole,) = c.repeat(run, 1)
        rows += rows_of("wdbc", path, C, range(1, 11), found["path"], whole, binary)
    for C in (0.01, 1.0):
        path, limit = c.DATA / c.FILES["leukemia_golub"][0], f"{a.limit:g}s"
        run = lambda: c.fewest(binary, "select", path, **common, max_features=5, cost=C, time_limit=limit)
        found, (whole,) = c.repeat(run, 1)
        rows += rows_of("leukemia_golub", path, C, [5], [found], whole, binary)
    for row in rows:
        if row["bound"] is not None and row["bound"] > min(row["objective"], row["rfe"]) * (1 + 1e-7):
            raise SystemExit(f"a bound is above an objective: {row}")
    summary = {"whole s": "the command with reading, all K of a path together", "binary": digest}
    columns = ["set", "C", "K", "status", "objective", "bound", "gap", "seconds", "whole s", "nodes", "rfe", "selected"]
    c.save("exact_real", rows, columns, summary)


if __name__ == "__main__":
    main()
