"""`fgm` and `l1-svm` from column files of growing size beside LIBLINEAR on the same file, and beside reading it.

Each size is a bag of words that `fewest generate text` writes as a column file (one that is there is taken as it is); the file is deleted
after its rows are taken. What is done is kept in bench/results/scale.jsonl by size and program, so that a run goes on where the last one
stopped; `--again` begins at the start. Seconds are CPU seconds: of the whole command for ours (opening and checking the file included), of `fit` alone
for LinearSVC; "whole s" of ours are those on the wall. LIBLINEAR is left out where its copy would take more than `--peer` bytes. Gaps are proven: of LinearSVC against our bound on the
same problem, without a bias. Peaks of ours have the file's pages in them that the system has mapped, and are this
script's, some 150 MiB, where they are less: the system counts what a process was before it became another program. `scale.svg` has the seconds and the memory over
the values that are not 0, with what they come to at the least: reading the file, and one copy of it in memory.
"""
import json
import math
import os
import resource
import sys
import time

import common as c
import numpy as np
from scipy import sparse

# Samples, words, draws a document. 847,000 x 359,000 is the shape of the patients of cuML's issue 7712, 99.9 % zeros.
SIZES = [
    (3000, 400_000, 455),
    (10_000, 1_355_191, 455),
    (40_000, 2_000_000, 455),
    (130_000, 1_000_000, 455),
    (847_000, 359_000, 400),
    (8_000_000, 500_000, 335),
    (1_000_000, 100_000_000, 1100),
    (1_000_000, 1_000_000_000, 2050),
]
PROGRAMS = ["read", "fgm", "l1-svm", "LIBLINEAR 0.1", "LIBLINEAR 0.001"]


def sizes_of(path):
    """Samples, words and stored values of a column file."""
    with open(path, "rb") as file:
        return [int(x) for x in np.frombuffer(file.read(40)[16:], np.uint64)]


def columns(path):
    """X (CSC, mapped) and y in -1, 1 of a column file: crates/fewest-data/src/formats/columns/mod.rs has its layout."""
    bytes_ = np.memmap(path, np.uint8, "r")
    n, p, stored = sizes_of(path)
    at, parts = 128, []
    for kind, count in ((np.uint64, p + 1), (np.uint32, stored), (np.float64, stored), (np.uint32, n)):
        size = np.dtype(kind).itemsize * count
        parts.append(bytes_[at : at + size].view(kind))
        at = -(-(at + size) // 64) * 64
    start, rows, values, codes = parts
    return sparse.csc_matrix((values, rows.astype(np.int32), start.astype(np.int64)), shape=(n, p)), 2.0 * codes - 1


def liblinear(path, tolerance):
    """One LinearSVC in a process of its own, so that its peak is its own."""
    from sklearn.svm import LinearSVC

    X, y = columns(path)
    X = X.tocsr()
    start = time.process_time()
    fit = LinearSVC(penalty="l1", dual=False, C=1.0, tol=tolerance, fit_intercept=False, random_state=0).fit(X, y)
    seconds = time.process_time() - start
    w = fit.coef_[0]
    objective = np.abs(w).sum() + (np.maximum(0, 1 - y * (X @ w)) ** 2).sum()
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"CPU s": seconds, "objective": objective, "features": int((w != 0).sum()), "peak MiB": peak / 2**20}))


def command(words):
    """CPU seconds, seconds, peak in MiB and output of a command. A limit of time is a result."""
    code, out, cpu, whole, peak = c.measured(words)
    assert code in (0, 3), words
    return cpu, whole, peak, out


def run(name, path, fewest, a):
    """What a row holds of one program on a file."""
    if name == "read":
        cpu, whole, _, _ = command(["sh", "-c", f"cat '{path}' | cat >/dev/null"])
        return {"CPU s": cpu, "whole s": whole}
    if name.startswith("LIBLINEAR"):
        return json.loads(command([sys.executable, __file__, "--liblinear", path, name.split()[1]])[3])
    asked = ["--max-features", 100, "--gap", "1e-4"] if name == "fgm" else ["--loss", "squared-hinge", "--bias", "none", "--time-limit", a.limit]
    words = [fewest, "select", path, "-m", name, *asked, "--cost", 1, "--scale", "none", "--threads", 1, "--memory", a.memory, "--quiet", "--json", "-"]
    cpu, whole, peak, out = command(words)
    found = json.loads(out)
    row = {"CPU s": cpu, "whole s": whole, "peak MiB": peak, "features": len(found["selected"])}
    row |= {key: found[key] for key in ("status", "objective", "bound", "gap")}
    if name == "fgm":
        last = found["rounds"][-1]
        row["gap"], row["rounds"] = (last["upper"] - last["lower"]) / abs(last["upper"]), len(found["rounds"])
    return row


# --- the picture ----------------------------------------------------------------------------------

COLOURS = {"read": "#888888", "fgm": "#1f6f43", "l1-svm": "#1f4e9c", "LIBLINEAR 0.1": "#d98b2b", "LIBLINEAR 0.001": "#b03a2e"}


def panel(x0, title, rows, value, floor):
    """Lines of each program over the non-zeros, both axes logarithmic; `floor` of a size is drawn grey."""
    width, height, left, top = 380, 260, 60, 40
    values = [(r["program"], r["non-zeros"], r[value]) for r in rows if r.get(value)]
    values += [("floor", at, floor[at]) for at in sorted(floor)]
    logs = [[math.log10(v[axis]) for v in values] for axis in (1, 2)]
    (low_x, high_x), (low_y, high_y) = [(math.floor(min(each)), math.ceil(max(each))) for each in logs]
    across = lambda v: x0 + left + (math.log10(v) - low_x) / (high_x - low_x) * width
    up = lambda v: top + height - (math.log10(v) - low_y) / (high_y - low_y) * height
    out = [f'<text x="{x0 + left}" y="24" font-weight="bold">{title}</text>']
    for power in range(low_x, high_x + 1):
        x = across(10**power)
        out.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{top + height}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x}" y="{top + height + 18}" text-anchor="middle" fill="#333333">1e{power}</text>')
    for power in range(low_y, high_y + 1):
        y = up(10**power)
        out.append(f'<line x1="{x0 + left}" y1="{y}" x2="{x0 + left + width}" y2="{y}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x0 + left - 8}" y="{y + 4}" text-anchor="end" fill="#333333">{10.0**power:g}</text>')
    for name in dict.fromkeys(v[0] for v in values):
        points = sorted((at, seen) for program, at, seen in values if program == name)
        colour, dash = COLOURS.get(name, "#888888"), ' stroke-dasharray="4 3"' if name in ("floor", "read") else ""
        line = " ".join(f"{across(at):.1f},{up(seen):.1f}" for at, seen in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{across(at):.1f}" cy="{up(seen):.1f}" r="3" fill="{colour}"/>' for at, seen in points]
    return out


def picture(rows):
    """Seconds with those of reading the file, and memory with the bytes of the file."""
    bytes_ = {r["non-zeros"]: r["file MiB"] for r in rows}
    out = panel(0, "CPU seconds over non-zeros", rows, "CPU s", {})
    out += panel(480, "peak in MiB over non-zeros", rows, "peak MiB", bytes_)
    for at, name in enumerate([*COLOURS, "file"]):
        x, dash = 60 + 140 * at, ' stroke-dasharray="4 3"' if name in ("file", "read") else ""
        out.append(f'<line x1="{x}" y1="338" x2="{x + 22}" y2="338" stroke="{COLOURS.get(name, "#888888")}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{x + 28}" y="342" fill="#333333">{name}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 356" width="940" height="356" font-family="sans-serif" font-size="12">'
    return "\n".join([head, '<rect width="940" height="356" fill="#ffffff"/>', *out, "</svg>"]) + "\n"


def law(rows, name):
    """`a z^b` of the CPU seconds of a program over its non-zeros z."""
    rows = [r for r in rows if r["program"] == name and r.get("status") != "memory_limit"]
    if len(rows) < 3:
        return "too few sizes"
    first, [power], _ = c.power_law([[r["non-zeros"] for r in rows]], [r["CPU s"] for r in rows])
    return f"{first:.3g} z^{power:.2f} s, {first * 2e9**power:.3g} s at z = 2e9"


def main():
    if sys.argv[1:2] == ["--liblinear"]:
        return liblinear(sys.argv[2], float(sys.argv[3]))
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        memory=("4G", "--memory of ours"),
        limit=("20min", "--time-limit of l1-svm"),
        peer=(8e9, "bytes that LIBLINEAR's copy may take"),
        most=(3e9, "draws at most of a size that is run"),
        programs=(PROGRAMS, "which to run"),
        again=(0, "1 begins at the start"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    fewest, digest = c.program("")
    kept = c.RESULTS / "scale.jsonl"
    c.CACHE.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() and not a.again else []
    for n, p, length in SIZES:
        size, path = f"{n} x {p}", c.CACHE / f"scale_{n}_{p}.csc"
        wanted = [name for name in a.programs if not any((r["size"], r["program"]) == (size, name) for r in rows)]
        if n * length > a.most or not wanted:
            continue
        if not path.exists():
            sizes = ["--samples", n, "--words", p, "--length", length]
            memory = max(8_000_000_000, 20 * p)
            command([fewest, "generate", "text", *sizes, "--memory", memory, "--out", path, "--quiet"])
        facts = {"size": size, "non-zeros": sizes_of(path)[2], "file MiB": path.stat().st_size / 2**20}
        for name in wanted:
            if name.startswith("LIBLINEAR") and 24 * facts["non-zeros"] + 16 * p > a.peer:
                continue
            row = {**facts, "program": name, **run(name, path, fewest, a)}
            row |= {"binary": digest, "load": os.getloadavg()[0], "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "note": a.note}
            rows.append(row)
            with kept.open("a" if len(rows) > 1 else "w") as f:
                f.write(json.dumps(row) + "\n")
            print(size, name, f"{row['CPU s']:.2f} CPU s", row.get("gap", ""), flush=True)
        path.unlink()
    bounds = {r["size"]: r["bound"] for r in rows if r["program"] == "l1-svm"}
    for row in rows:
        if row["program"].startswith("LIBLINEAR") and row["size"] in bounds:
            row["gap"] = (row["objective"] - bounds[row["size"]]) / row["objective"]
    names = ["size", "non-zeros", "file MiB", "program", "CPU s", "whole s", "features", "objective", "gap", "peak MiB", "load"]
    order = lambda r: (r["non-zeros"], PROGRAMS.index(r["program"]))
    table = [{name: row.get(name, "") for name in names} for row in sorted(rows, key=order)]
    summary = {"cost": 1, "--memory": a.memory, "gap of fgm": "that of its relaxation"}
    summary |= {f"law of {name}": law(rows, name) for name in ("fgm", "l1-svm", "LIBLINEAR 0.001")}
    c.save("scale", table, names, summary | {"notes": sorted({r["note"] for r in rows}) or "none"})
    (c.RESULTS / "scale.svg").write_text(picture(rows))


if __name__ == "__main__":
    main()
