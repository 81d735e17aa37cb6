"""An atlas of cells: 50 genes for 15 types of cells, with a bound, from a column file that is as large as it comes.

    python bench/atlas.py [--cells 10000 --genes 10000] [--fewest PATH] [--multi_class one-vs-rest] ...

Makes an atlas with a fixed seed and selects genes with `fewest markers` (or a method), and tells seconds, CPU seconds, the largest memory, objective,
bound and gap, and how many of the genes selected differ between types at all, and are markers.

The atlas     types from 25 % to 0.3 % of the cells, in four lineages; the last two types differ in few genes. Means of genes are log-normal. Of
              60 genes a lineage and 25 a type the mean is another one (a factor of log-normal size); six markers a type are nearly silent elsewhere.
              A cell draws its transcripts from these means, its depth being log-normal, so that counts are Poisson; they are divided by the sum of
              the cell, times 10,000, then log(1 + x). Depth is such that `--filled` of all values are not 0.
Memory        a block of genes at a time; counts lie in a file beside until the sums of the cells are known (6 bytes a value), the column file
              has 12 bytes a value.
"""
import json
import struct
import time
import zlib

import common as c
import numpy as np

LINEAGE_GENES, TYPE_GENES, TWIN_GENES, MARKERS = 60, 25, 8, 6
#: Transcripts are drawn from a table with this many places a type, in which a cell has places by its depth.
PLACES = 1 << 20


def type_sizes(cells, types):
    """Cells of each type, from a quarter to 0.3 %."""
    shares = 0.25 * (0.003 / 0.25) ** (np.arange(types) / (types - 1))
    sizes = np.maximum(8, np.round(cells * shares / shares.sum())).astype(int)
    sizes[0] += cells - sizes.sum()
    return sizes


def expression(r, genes, types):
    """(mean of each gene in each type, genes that differ, markers): means add to about 1 in a type."""
    base = np.exp(2.0 * r.standard_normal(genes))
    base /= base.sum()
    factors = np.ones((types, genes))
    # Genes that differ are of the upper half: what no cell has tells nothing.
    open_ = r.permutation(np.argsort(base)[genes // 2 :])
    differ, markers, at = [], [], 0

    def take(count):
        nonlocal at
        at += count
        return open_[at - count : at]

    for lineage in range(4):
        own = take(LINEAGE_GENES)
        members = np.arange(types)[np.arange(types) % 4 == lineage]
        factors[np.ix_(members, own)] *= np.exp(1.2 * r.standard_normal(len(own)))
        differ.extend(own)
    for kind in range(types):
        twin = kind >= types - 2
        own = take(TWIN_GENES if twin else TYPE_GENES)
        factors[kind, own] *= np.exp(1.2 * r.standard_normal(len(own)))
        differ.extend(own)
        own = take(2 if twin else MARKERS)
        factors[:, own] *= 0.03
        factors[kind, own] *= 100.0 * np.exp(0.5 * r.standard_normal(len(own)))
        markers.extend(own)
    # Twins share their lineage, whatever their numbers.
    return factors * base, sorted(int(j) for j in differ), sorted(int(j) for j in markers)


def depth_for(means, shares, spread, filled):
    """Transcripts a cell such that this many values are not 0."""
    quantiles = np.exp(spread * np.linspace(-2, 2, 9))
    weights = np.exp(-0.5 * np.linspace(-2, 2, 9) ** 2)
    mean = shares @ means
    low, high = 1.0, 1e6
    for _ in range(40):
        depth = (low * high) ** 0.5
        share = sum(w * (1 - np.exp(-depth * q * mean)).mean() for q, w in zip(quantiles, weights, strict=True)) / weights.sum()
        low, high = (depth, high) if share < filled else (low, depth)
    return depth


class Section:
    """A section of a column file: its checksum grows as it is written."""

    def __init__(self, path, at):
        self.file, self.sum = open(path, "r+b"), 0  # noqa: SIM115  closed by `end`
        self.file.seek(at)

    def put(self, array):
        data = memoryview(np.ascontiguousarray(array)).cast("B")
        self.sum = zlib.crc32(data, self.sum)
        self.file.write(data)

    def end(self):
        self.file.close()
        return self.sum


def text_of(words):
    return b"".join(struct.pack("<I", len(word)) + word.encode() for word in words)


def counts_of(r, means, sizes, tables, depth, raw):
    """Draws the counts gene by gene into the file `raw`; (values of each gene, sum of each cell)."""
    cells, genes = sizes.sum(), means.shape[1]
    stored, sums = np.zeros(genes, "<u8"), np.zeros(cells)
    for j in range(genes):
        drawn = [table[r.integers(0, PLACES, n)] for table, n in zip(tables, r.poisson(depth * sizes * means[:, j]), strict=True)]
        drawn = np.concatenate(drawn)
        if len(drawn) > cells:
            counts = np.bincount(drawn, minlength=cells)
            rows = np.flatnonzero(counts).astype("<u4")
            counts = counts[rows]
        else:
            drawn.sort()
            first = np.flatnonzero(np.diff(drawn, prepend=-1))
            rows, counts = drawn[first].astype("<u4"), np.diff(first, append=len(drawn))
        stored[j] = len(rows)
        sums[rows] += counts
        rows.tofile(raw)
        np.minimum(counts, 65535).astype("<u2").tofile(raw)
    return stored, sums


def make(path, cells, genes, types, filled, seed):
    """Writes the column file and, beside it, what is true of it."""
    r = np.random.default_rng(seed)
    sizes, spread = type_sizes(cells, types), 0.4
    means, differ, markers = expression(r, genes, types)
    depth = depth_for(means, sizes / cells, spread, filled)
    # Cells stand in any order.
    order, tables, labels, at = r.permutation(cells).astype(np.int32), [], np.zeros(cells, "<u4"), 0
    for kind, size in enumerate(sizes):
        own = order[at : at + size]
        labels[own] = kind
        ends = np.cumsum(np.exp(spread * r.standard_normal(size)))
        tables.append(own[np.minimum(np.searchsorted(ends / ends[-1], (np.arange(PLACES) + 0.5) / PLACES), size - 1)])
        at += size
    raw_path, part = path.with_suffix(".raw"), path.with_suffix(".part")
    with open(raw_path, "wb") as raw:
        stored, sums = counts_of(r, means, sizes, tables, depth, raw)
    total = int(stored.sum())
    text = text_of(["type", *(f"t{kind:02}" for kind in range(types))])
    up = lambda at: -(-at // 64) * 64
    rows_at = up(128 + 8 * (genes + 1))
    values_at = up(rows_at + 4 * total)
    labels_at = up(values_at + 8 * total)
    text_at = up(labels_at + 4 * cells)
    with open(part, "wb") as out:
        out.truncate(text_at + len(text))
    sections = [Section(part, at) for at in (128, rows_at, values_at, labels_at, text_at)]
    sections[0].put(np.concatenate([[0], np.cumsum(stored)]).astype("<u8"))
    factor = 1e4 / np.maximum(sums, 1)
    with open(raw_path, "rb") as raw:
        for count in stored:
            rows = np.fromfile(raw, "<u4", int(count))
            counts = np.fromfile(raw, "<u2", int(count))
            sections[1].put(rows)
            sections[2].put(np.log1p(counts * factor[rows]).astype("<f8"))
    raw_path.unlink()
    sections[3].put(labels)
    sections[4].put(np.frombuffer(text, "u1"))
    header = b"FEWESTCC" + struct.pack("<II4QI", 1, types, cells, genes, total, len(text), 0)
    header += struct.pack("<5I", *(section.end() for section in sections))
    header = header.ljust(124, b"\0")
    with open(part, "r+b") as out:
        out.write(header + struct.pack("<I", zlib.crc32(header)))
    truth = {"values": total, "filled": total / cells / genes, "depth": depth, "differ": differ, "markers": markers, "sizes": sizes.tolist()}
    path.with_suffix(".json").write_text(json.dumps(truth))
    part.rename(path)


def main():
    a = c.arguments(
        __doc__,
        cells=(10_000, "cells"),
        genes=(10_000, "genes"),
        types=(15, "types"),
        filled=(0.07, "share of values that are not 0"),
        seed=(1, "of the atlas"),
        file=("", "the column file, made unless it is there"),
        method=("markers", "markers, or a method of `fewest select`"),
        keep=(50, "genes to keep"),
        cost=(1.0, "C"),
        gap=("1e-2", "gap at which to stop"),
        multi_class=("one-vs-one", "how types become problems"),
        threads=(2, "threads"),
        memory=("16G", "--memory"),
        fewest=("", "the command"),
        more=("", "more options, one string"),
    )
    fewest, digest = c.program(a.fewest)
    path = c.pathlib.Path(a.file or c.CACHE / f"atlas_{a.cells}_{a.genes}_{a.seed}.csc")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        make(path, a.cells, a.genes, a.types, a.filled, a.seed)
        print(f"made in {time.perf_counter() - start:.0f} s", flush=True)
    truth = json.loads(path.with_suffix(".json").read_text())
    out = path.with_suffix(".out.json")
    own = ["markers"] if a.method == "markers" else ["select", "-m", a.method, "--cost", a.cost, "--bias", "free"]
    words = [fewest, own[0], path, *own[1:], "--max-features", a.keep, "--gap", a.gap]
    words += ["--multi-class", a.multi_class, "--threads", a.threads, "--memory", a.memory, "--quiet", "--json", out, *a.more.split()]
    code, _, cpu, seconds, peak = c.measured(words)
    if code not in (0, 3):
        raise SystemExit(f"exit code {code}: {' '.join(map(str, words))}")
    found = json.loads(out.read_text())
    if a.method == "markers":
        f1 = found["macro_f1"] or {"mean": None}
        found = {**found, **(found["panel"] or {"objective": None, "bound": None, "gap": None, "markers": []}), "f1": f1["mean"]}
        found["selected_indices"] = [marker["index"] for marker in found["markers"]]
    chosen = set(found["selected_indices"])
    row = {
        "cells": a.cells,
        "genes": a.genes,
        "values": truth["values"],
        "how": f"{a.method}, {a.multi_class}" + ("" if a.method == "markers" else f", C = {a.cost}"),
        "s": round(seconds, 1),
        "CPU s": round(cpu, 1),
        "MiB": round(peak),
        "status": found["status"],
        **({"macro F1": found["f1"]} if "f1" in found else {}),
        "objective": found["objective"],
        "bound": found["bound"],
        "gap": found["gap"],
        "markers": len(chosen & set(truth["markers"])),
        "differ": len(chosen & {*truth["differ"], *truth["markers"]}),
        "binary": digest,
    }
    print(json.dumps(row), flush=True)
    kept = c.Kept("atlas")
    kept.add(digest, f"{a.cells} x {a.genes}, {row['how']}, {a.threads} threads, gap {a.gap} {a.more}".strip(), **row)


if __name__ == "__main__":
    main()
