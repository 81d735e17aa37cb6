"""What one subset for several problems costs `exact`, and what is proven of data with many classes.

    python bench/several.py [FEWEST]        writes bench/results/several.json and several.md

1. Cost: T copies of a set as T tasks, which have the same best subset as one, beside the plain problem.
2. Many classes: zoo (7 types), soybean-small (4 diseases) and glioma (4 groups), one-vs-one and one-vs-rest.

Standardised, one thread, until the gap is 1e-4 or 60 s have passed. The least of three times counts.
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import common as c

FEWEST = sys.argv[1] if len(sys.argv) > 1 else str(c.TARGET / "release" / "fewest")
PAGE = c.RESULTS / "several.md"
PLAIN = [("wdbc", 5, 1.0), ("ionosphere", 5, 1.0), ("german-numeric", 5, 0.1), ("parkinsons", 5, 1.0), ("leukemia_golub", 5, 0.03)]
COPIES = [2, 4, 8]
CLASSES = [("zoo", (3, 5, 8), 1.0), ("soybean-small", (3, 5, 8), 1.0), ("glioma", (3, 5), 0.001), ("glioma", (3, 5), 0.01), ("glioma", (5,), 0.1)]
#: Samples of the four groups of glioma, which stand one after the other in the source (README of the data).
GLIOMA = (14, 7, 14, 15)


def table(path):
    """Heading and rows of a csv file."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        heading, *rows = csv.reader(file)
    return heading, rows


def write(path, heading, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([heading, *rows])


def copies(name, count, path):
    """The set this many times, each copy a site of its own."""
    heading, rows = table(c.DATA / c.FILES.get(name, (f"{name}.csv", None))[0])
    sites = [[*row[:-1], f"s{site}", row[-1]] for site in range(count) for row in rows]
    write(path, [*heading[:-1], "site", heading[-1]], sites)


def raw(name):
    """Rows of a file without a heading."""
    with open(c.DATA / name) as file:
        return [row for row in csv.reader(file) if row]


def classes(name, path):
    """The set with all its classes; the number of them."""
    if name == "zoo":
        heading = table(c.DATA / "zoo.csv")[0]
        rows = [row[1:] for row in raw("zoo.data")]
    elif name == "soybean-small":
        heading, prepared = table(c.DATA / "soybean-small.csv")
        rows = [[*row[:-1], source[-1]] for row, source in zip(prepared, raw("soybean-small.data"), strict=True)]
    else:
        heading, prepared = table(c.DATA / "glioma_4434.csv.gz")
        groups = [f"g{group}" for group, count in enumerate(GLIOMA, start=1) for _ in range(count)]
        rows = [[*row[:-1], group] for row, group in zip(prepared, groups, strict=True)]
        assert all((float(row[-1]) > 0) == (group in ("g1", "g3")) for row, group in zip(prepared, groups, strict=True))
    write(path, heading, rows)
    return len({row[-1] for row in rows})


def select(folder, keep, cost, *more):
    command = [FEWEST, "select", folder / "d.csv", "--method", "exact", "--max-features", keep, "--cost", cost, "--threads", 1]
    command += ["--time-limit", "60s", "--json", folder / "r.json", "--quiet", *more]
    results = []
    for _ in range(3):
        subprocess.run([str(word) for word in command], check=False, capture_output=True)
        results.append(json.loads((folder / "r.json").read_text()))
        if results[-1]["seconds"] > 10:
            break
    best = min(results, key=lambda r: r["seconds"])
    found = {key: best[key] for key in ("seconds", "status", "objective", "gap", "selected")}
    return found | {"nodes": best["counts"]["nodes"], "problems": best.get("problems", {}).get("number", 1)}


def cell(found):
    more = "" if found["status"] == "optimal" else f", gap {100 * found['gap']:.1f} %"
    return f"{found['seconds']:.3g}, {found['nodes']}{more}"


def main():
    costs, proven = [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, keep, cost in PLAIN:
            row = {"set": name, "keep": keep, "cost": cost}
            for count in [1, *COPIES]:
                copies(name, count, folder / "d.csv")
                more = ["--tasks", "site"] if count > 1 else ["--drop", "site"]
                row[str(count)] = select(folder, keep, cost, *more)
            costs.append(row)
            print(name, *(f"T={count} {row[str(count)]['seconds']:.3f} s" for count in [1, *COPIES]), flush=True)
        for name, sizes, cost in CLASSES:
            count = classes(name, folder / "d.csv")
            for keep in sizes:
                for how in ("one-vs-one", "one-vs-rest"):
                    found = select(folder, keep, cost, "--multi-class", how)
                    proven.append({"set": name, "classes": count, "keep": keep, "cost": cost, "how": how, **found})
                    print(name, keep, how, f"{found['seconds']:.3f} s {found['status']}", flush=True)
    (c.RESULTS / "several.json").write_text(json.dumps({"copies": costs, "classes": proven}, indent=1) + "\n")
    lines = ["# One subset for several problems: cost, and many classes proven", "", "`python bench/several.py`, one thread, gap 1e-4 or 60 s.", ""]
    lines += ["T copies of a set as T tasks: seconds, nodes, and seconds over T times those of the plain problem.", ""]
    lines += ["| set, K, C | T = 1 | " + " | ".join(f"T = {count} | ratio" for count in COPIES) + " |"]
    lines += ["| --- | --- |" + " --- | --- |" * len(COPIES)]
    for row in costs:
        cells = [f"{row['set']}, {row['keep']}, {row['cost']}", cell(row["1"])]
        for count in COPIES:
            both = row[str(count)]["status"] == row["1"]["status"] == "optimal"
            ratio = row[str(count)]["seconds"] / (count * row["1"]["seconds"])
            cells += [cell(row[str(count)]), f"{ratio:.2f}" if both else "-"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "More than two classes.", ""]
    lines += ["| set, classes | K, C | problems | objective | s, nodes | selected |", "| --- | --- | --- | --- | --- | --- |"]
    for row in proven:
        name, size = f"{row['set']}, {row['classes']}", f"{row['keep']}, {row['cost']}"
        problems, chosen = f"{row['problems']}, {row['how']}", ", ".join(row["selected"])
        lines.append(f"| {name} | {size} | {problems} | {row['objective']:.6g} | {cell(row)} | {chosen} |")
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
