"""How far `fewest select --method exact` proves: time to proof, or the gap left at the limit, over p, n, true features, C and loss.
One command: `make bench-exact-frontier` (up to four hours; `--quick` minutes; `--only "p=1000 C=0.01"` a part).

Data: X standard normal, k true features of weight +-1, y = sign(Xw + 0.5 e); at most k features, free bias, gap 1e-4, one core.
`--auto`: the costs that `fewest select --cost auto` chooses by cross-validation for these data, in the picture beside the rows.
`--proofs`: each proven cell is searched again with `--proof`, and `fewest verify` checks the file.
A cell is kept in bench/results/exact_frontier.jsonl and not run again unless --again or --limit asks for more; the table and
the picture exact_frontier.svg show every cell kept so far.
"""
import functools
import math
import pathlib
import tempfile

import common as c

GAP = 1e-4
LOSSES = ["hinge", "squared-hinge"]
COSTS = [0.01, 0.03, 0.1, 0.3, 1]
PROOF = 3  # a search that writes its proof may take this many limits
LARGE = 1 << 28  # files above this many bytes are removed when their cells are done


def cases():
    """Cells of one data set follow one another."""
    for p in (100, 1000, 10000, 50000):
        for n in (500, 1000, 5000):
            for k in (5, 10):
                for C in COSTS:
                    for loss in LOSSES:
                        yield {"p": p, "n": n, "k": k, "C": C, "loss": loss}


def enough(record, limit):
    """Whether a kept cell answers the question."""
    return record is not None and (c.is_proven(record) or record["limit"] >= limit)


def planted(folder, p, n, k):
    """The file of a data set, made where it is not there."""
    return c.npz(pathlib.Path(folder) / f"planted_{p}_{n}_{k}_0.npz", lambda: c.planted(p, n, k, 0))


def each(cells, a, work):
    """`work` of each cell and its file; the failures, reported at the end so that one does not cost the night."""
    failures = []
    for at, case in enumerate(cells):
        p, n, k, *_ = case.values()
        data = planted(a.data, p, n, k)
        try:
            work(case, data)
        except RuntimeError as why:
            failures.append(f"{c.case_name(case)}: {why}")
            print("FAILED", failures[-1], flush=True)
        following = cells[at + 1] if at + 1 < len(cells) else {}
        if data.stat().st_size > LARGE and any(case[key] != following.get(key) for key in ("p", "n", "k")):
            data.unlink()
    return failures


def run(cells, binary, digest, kept, a):
    """Runs the cells that are missing."""

    def missing(case):
        record = kept.get("fewest", c.case_name(case))
        again = a.again and not (record and record["binary"] == digest and record["limit"] == a.limit)
        return again or not enough(record, a.limit)

    def work(case, data):
        name = c.case_name(case)
        # The run has its limit beside the CPU seconds of reading.
        found, cpu = c.interrupted(binary, words(case, data), a.limit + reading_of(binary, data))
        # Seconds on the wall without reading, or CPU seconds with it: neither are fewer than it took.
        found = c.needed(found) | {"seconds": min(found["seconds"], cpu)}
        record = kept.add("fewest", name, **found, limit=a.limit, binary=digest, note=a.note)
        print(name, record["status"], text(record), f"{record['nodes']} nodes", flush=True)

    return each([case for case in cells if missing(case)], a, work)


def prove(cells, binary, digest, kept, a):
    """Writes a proof file of each proven cell that has none checked, and checks it; with `--again` those of other binaries, too."""

    def missing(case):
        found, record = kept.get("fewest", c.case_name(case)), kept.get("verify", c.case_name(case))
        return found and c.is_proven(found) and (record is None or (a.again and record["binary"] != digest))

    def work(case, data):
        name = c.case_name(case)
        with tempfile.TemporaryDirectory(dir=a.data) as folder:
            proof = pathlib.Path(folder) / "x.proof"
            found, _ = c.interrupted(binary, [*words(case, data), "--proof", proof], PROOF * a.limit + reading_of(binary, data))
            verdict, _ = c.interrupted(binary, ["verify", proof, data, "--threads", "1", "--quiet"], math.inf)
            size = proof.stat().st_size
        told = {key: verdict[key] for key in ("verified", "gap", "seconds")}
        record = kept.add("verify", name, **told, bytes=size, search=found["seconds"], nodes=found["counts"]["nodes"], binary=digest, note=a.note)
        print(name, record["verified"], record["gap"], f"{size} bytes", flush=True)

    return each([case for case in cells if missing(case)], a, work)


def words(case, data):
    """The command of a cell."""
    options = ["--method", "exact", "--scale", "none", "--gap", str(GAP), "--bias", "free", "--threads", "1", "--quiet"]
    return ["select", data, *options, "--max-features", case["k"], "--cost", case["C"], "--loss", case["loss"]]


@functools.cache
def reading_of(binary, data):
    return c.interrupted(binary, ["check", str(data)], math.inf)[1]


def choose(cells, binary, digest, kept, a):
    """Runs `--cost auto` for the data sets that have no row of it; of a run that comes to its limit before it has chosen, that."""
    for p, n, k in dict.fromkeys((case["p"], case["n"], case["k"]) for case in cells):
        name = c.case_name({"p": p, "n": n, "k": k})
        record = kept.get("auto", name)
        if record and (record["cost"] or record["limit"] >= a.limit):
            continue
        data = planted(a.data, p, n, k)
        words = ["--method", "exact", "--scale", "none", "--cost", "auto", "--max-features", str(k), "--threads", "1", "--quiet"]
        try:
            found, cpu = c.interrupted(binary, ["select", str(data), *words], a.limit)
            choice = found["cost_choice"] or {"cost": None, "fit_cost": None}
        except RuntimeError:
            # Ctrl-C before there is a choice and a subset.
            choice, cpu = {"cost": None, "fit_cost": None}, a.limit
        record = kept.add("auto", name, cost=choice["cost"], fit_cost=choice["fit_cost"], seconds=cpu, limit=a.limit, binary=digest, note=a.note)
        print(name, record["cost"], record["fit_cost"], f"{cpu:.1f} CPU s", flush=True)


def laws(found):
    """A line for each loss and for seconds and nodes, over proven cells of more than one node; the hard cells are not among them, so that
    a law says how proven ones grow."""
    lines = {}
    for loss in LOSSES:
        cells = [(case, r) for case, r in found if case["loss"] == loss and r and c.is_proven(r) and r["nodes"] > 1]
        columns = [[case[name] for case, _ in cells] for name in "pnkC"]
        for value in ("seconds", "nodes"):
            first, powers, fit = c.power_law(columns, [max(r[value], 1e-3) for _, r in cells])
            powers = " ".join(f"{name}^{power:.2f}" for name, power in zip("pnkC", powers))
            lines[f"{value}, {loss}"] = f"{first:.2g} {powers} (R^2 {fit:.2f}, {len(cells)} proven cells of more than one node)"
    return lines


def proofs(records):
    """A line on the proof files of the proven cells: what is known of each, none where it was not checked."""
    checked = [r for r in records if r and r["verified"]]
    if not checked:
        return "none"
    small = sum(r["gap"] <= GAP * (1 + 1e-9) for r in checked)
    largest, shares = max(r["bytes"] for r in checked) / 2**20, [r["seconds"] / max(r["search"], 1e-3) for r in checked]
    return (
        f"{len(checked)} of {len(records)} proven cells verified by `fewest verify`, {small} of them to a gap of {GAP:g}; "
        f"largest file {largest:.1f} MiB; a check takes {c.geometric_mean(shares):.2f} times the search (geometric mean), at most {max(shares):.1f}"
    )


def text(record):
    """A cell: the time to proof, or the gap at the limit."""
    if record is None:
        return ""
    if c.is_proven(record):
        s = record["seconds"]
        return f"{1000 * s:.0f} ms" if s < 0.1 else f"{s:.2g} s" if s < 10 else f"{s:.0f} s"
    if record["gap"] is None:
        return "no bound"
    return f"{100 * record['gap']:.2g} %" if record["gap"] < 0.1 else f"{100 * record['gap']:.0f} %"


# --- the picture ----------------------------------------------------------------------------------


def mix(low, high, share):
    share = min(max(share, 0), 1)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high))


def colour(record):
    """(fill, text): green, paler with the log of the time from 10 ms to 100 s; orange to red with the gap; grey, not run."""
    if record is None:
        return "#f1f1f1", "#000000"
    if c.is_proven(record):
        share = (math.log10(max(record["seconds"], 1e-3)) + 2) / 4
        return mix((22, 110, 62), (205, 238, 210), share), "#ffffff" if share < 0.4 else "#000000"
    share = 1 if record["gap"] is None else record["gap"]
    return mix((253, 225, 165), (190, 45, 30), share), "#ffffff" if share > 0.6 else "#000000"


def picture(found, auto):
    """Four panels, loss by number of true features; rows p and n, columns C, and the cost by cross-validation."""
    width, height, left, top, between = 64, 20, 100, 62, 24
    rows = sorted({(case["p"], case["n"]) for case, _ in found})
    record = {c.case_name(case): r for case, r in found}
    panel_w, panel_h = left + (len(COSTS) + 1) * width, top + len(rows) * height
    out, label = [], 'fill="#333333"'
    for across, k in enumerate((5, 10)):
        for down, loss in enumerate(LOSSES):
            x0, y0 = 12 + across * (panel_w + between), 8 + down * panel_h
            out.append(f'<text x="{x0 + left}" y="{y0 + 30}" font-weight="bold">{loss}, {k} features</text>')
            out.append(f'<text x="{x0}" y="{y0 + top - 8}" {label}>p, n</text>')
            for i, C in enumerate(COSTS):
                x = x0 + left + (i + 0.5) * width
                out.append(f'<text x="{x}" y="{y0 + top - 8}" text-anchor="middle" {label}>C = {C:g}</text>')
            x = x0 + left + (len(COSTS) + 0.5) * width
            out.append(f'<text x="{x}" y="{y0 + top - 8}" text-anchor="middle" {label}>C by CV</text>')
            for j, (p, n) in enumerate(rows):
                chosen = auto.get(c.case_name({"p": p, "n": n, "k": k}))
                if chosen and loss == "hinge":
                    out.append(f'<text x="{x}" y="{y0 + top + j * height + 13.5}" text-anchor="middle">{chosen:.1g}</text>')
                y = y0 + top + j * height
                out.append(f'<text x="{x0}" y="{y + 14}" {label}>{p}, {n}</text>')
                for i, C in enumerate(COSTS):
                    cell = record.get(c.case_name({"p": p, "n": n, "k": k, "C": C, "loss": loss}))
                    fill, ink = colour(cell)
                    x = x0 + left + i * width
                    out.append(f'<rect x="{x}" y="{y}" width="{width - 2}" height="{height - 2}" fill="{fill}"/>')
                    out.append(f'<text x="{x + width / 2 - 1}" y="{y + 13.5}" text-anchor="middle" fill="{ink}">{text(cell)}</text>')
    w, h = 12 + 2 * panel_w + between + 12, 8 + 2 * panel_h + 40
    note = "green: proven to 1e-4, seconds on one core; orange to red: gap left at the limit; grey: not run; C by CV: of `--cost auto`"
    out.append(f'<text x="12" y="{h - 14}" {label}>{note}</text>')
    size = f'viewBox="0 0 {w} {h}" width="{w}" height="{h}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="{w}" height="{h}" fill="#ffffff"/>', *out, "</svg>"]) + "\n"


def main():
    a = c.arguments(
        __doc__,
        fewest=("", "the command (target/release/fewest)"),
        only=("", 'a part of the cells, such as "p=100,1000 loss=hinge"'),
        quick=(False, "p up to 1000, n = 500, three values of C, 10 s each"),
        limit=(60.0, "CPU seconds of a cell"),
        core=(1, "core to run on"),
        data=("/tmp/fewest-frontier", "folder for the data, up to 2 GB at a time"),
        auto=(False, "run `--cost auto` for each data set in place of the cells"),
        proofs=(False, "write and check a proof file of each proven cell in place of running cells"),
        again=(False, "run the cells again, unless this binary has"),
        note=("", "what else was running: kept with the times, which then count as provisional"),
    )
    c.pin(a.core)
    binary, digest = c.program(a.fewest)
    everything, kept = list(cases()), c.Kept("exact_frontier")
    cells = c.chosen(everything, a.only)
    if a.quick:
        cells, a.limit = [x for x in cells if x["p"] <= 1000 and x["n"] == 500 and x["C"] in (0.01, 0.1, 1)], min(a.limit, 10)
    if a.auto:
        choose(cells, binary, digest, kept, a)
        failures = []
    elif a.proofs:
        failures = prove(cells, binary, digest, kept, a)
    else:
        failures = run(cells, binary, digest, kept, a)

    found = [(case, kept.get("fewest", c.case_name(case))) for case in everything]
    sizes = {(case["p"], case["n"]) for case, record in found if record}
    found = [(case, record) for case, record in found if (case["p"], case["n"]) in sizes]
    rows = {}
    for case, record in found:
        row = rows.setdefault((case["loss"], case["k"], case["p"], case["n"]), {n: case[n] for n in ("loss", "k", "p", "n")})
        row[f"C = {case['C']:g}"] = text(record)
    done = [r for _, r in found if r]
    summary = {
        "cell": "seconds to proof, else gap left",
        "proven": f"{sum(map(c.is_proven, done))} of {len(done)} run, of {len(everything)} cells",
        "limits in s": sorted({r["limit"] for r in done}),
        "cells from another binary than the one at hand": sum(r["binary"] != digest for r in done),
        "provisional, other work was running": sum(bool(r["note"]) for r in done),
        "proof files": proofs([kept.get("verify", c.case_name(case)) for case, r in found if r and c.is_proven(r)]),
        "failed": failures or "none",
    }
    summary |= laws(found)
    auto = {case: r["cost"] for (who, case), r in kept.found.items() if who == "auto"}
    summary["C by cross-validation"] = {case: f"{cost:.2g}" if cost else "none within the limit" for case, cost in auto.items()}
    ordered = sorted(rows.values(), key=lambda r: (r["loss"], r["k"], r["p"], r["n"]))
    c.save("exact_frontier", ordered, ["loss", "k", "p", "n", *(f"C = {C:g}" for C in COSTS)], summary)
    (c.RESULTS / "exact_frontier.svg").write_text(picture(found, auto))
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
