"""Peak resident memory of each RFE run against twice the data matrix plus the Gram matrix. One command: `make bench-memory`.

The peak is VmHWM of fewest-bench from its start to the end of the run, reading included: the program, its allocator and the matrix. The
allowance is 2 x matrix + Gram matrix; the memory of the program before it reads anything is listed beside it, and the ratio is
given with and without it (on small sets the program itself is a large part).
"""
import common as c


def main():
    a = c.arguments(__doc__, sets=(c.RFE_SETS, "data sets"))
    c.build()
    rows = []
    for name in a.sets:
        path, _, _ = c.prepared(name)
        found = c.ours("rfe", path, features=10, step=1, cost=1.0, tolerance=1e-9)
        mebi = 1024.0 * 1024.0
        allowed = 2 * found["data_bytes"] + found["gram_bytes"]
        rows.append(
            {
                "set": name,
                "matrix MiB": found["data_bytes"] / mebi,
                "Gram MiB": found["gram_bytes"] / mebi,
                "program MiB": found["start_bytes"] / mebi,
                "peak MiB": found["peak_bytes"] / mebi,
                "allowed MiB": allowed / mebi,
                "peak / allowed": found["peak_bytes"] / allowed,
                "without program": (found["peak_bytes"] - found["start_bytes"]) / allowed,
            }
        )
    worst = max(r["peak / allowed"] for r in rows)
    c.save("memory", rows, list(rows[0]), {"worst peak / allowed": worst})
    raise SystemExit(worst > 1)


if __name__ == "__main__":
    main()
