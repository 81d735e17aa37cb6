"""When is exact selection easy, hard, hopeless? Nodes to the proof against n / (k ln p), by C and correlation: is a search long by nature or by our work?

    nature.py [--fewest FILE] [--report]

Data: X normal, features in a row with correlation rho^|i - j| (a pass from left to right), k true features of weight +-1 as far from each other as p allows,
y = sign(X w + e) with noise of a quarter of the signal's variance; hinge, free bias, at most k features, gap 1e-4, by one thread. n C is the cost of all samples together.
A search ends at a proof, after NODES nodes or SECONDS seconds. Two draws of each; a cell is that of more nodes, or of the larger gap.

Rows are kept in results/nature.jsonl, and what is not yet there is run. Writes results/nature.md and nature.svg.
"""

import argparse
import itertools
import math
import pathlib
import tempfile

import common as c
import numpy as np

RATIOS = (0.5, 1, 2, 4, 8, 16)
PS, KS, RHOS, TOTALS = (300, 3000), (5, 10), (0, 0.5, 0.9), (5, 50, 500)
NODES, SECONDS, SEEDS = 2000, 6, 2


def samples(p, k, ratio):
    return max(20, round(ratio * k * math.log(p)))


def drawn(p, n, k, rho, seed):
    """(X, y) of a draw."""
    r = np.random.default_rng([seed, p, n, k])
    X = r.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + math.sqrt(1 - rho * rho) * X[:, j]
    w = np.zeros(p)
    w[np.arange(k) * (p // k) + p // (2 * k)] = np.where(r.random(k) < 0.5, -1, 1)
    signal = X @ w
    return X, np.where(signal + 0.5 * signal.std() * r.standard_normal(n) > 0, 1.0, -1.0)


def run(kept, binary, version):
    with tempfile.TemporaryDirectory() as folder:
        for p, k, ratio, rho in itertools.product(PS, KS, RATIOS, RHOS):
            n = samples(p, k, ratio)
            for seed in range(SEEDS):
                cells = [(total, f"p = {p}, k = {k}, n = {n}, rho = {rho}, n C = {total}, draw {seed}") for total in TOTALS]
                if all(kept.get("exact", case) for _, case in cells):
                    continue
                path = c.npz(pathlib.Path(folder) / "drawn.npz", lambda: drawn(p, n, k, rho, seed))
                for total, case in cells:
                    limits = {"node_limit": NODES, "time_limit": f"{SECONDS}s", "gap": 1e-4}
                    found = c.fewest(binary, "select", path, method="exact", scale="none", max_features=k, cost=total / n, **limits)
                    row = {"p": p, "k": k, "n": n, "ratio": ratio, "rho": rho, "total": total, "seed": seed, "version": version}
                    row |= {"status": found["status"], "nodes": found["counts"]["nodes"], "gap": found["gap"], "seconds": found["seconds"]}
                    kept.add("exact", case, **row)
                path.unlink()
                print(cells[0][1], [kept.get("exact", case)["nodes"] for _, case in cells], [round(kept.get("exact", case)["gap"], 3) for _, case in cells], flush=True)


def cell(kept, p, k, ratio, rho, total):
    """The worse of the draws: (nodes, or none where one is open; the largest gap)."""
    rows = [kept.get("exact", f"p = {p}, k = {k}, n = {samples(p, k, ratio)}, rho = {rho}, n C = {total}, draw {seed}") for seed in range(SEEDS)]
    if not all(rows):
        return None
    proven = all(row["status"] in ("optimal", "completed") for row in rows)
    return (max(row["nodes"] for row in rows) if proven else None), max(row["gap"] for row in rows)


COLOURS = {5: "#0072b2", 50: "#e69f00", 500: "#d55e00"}


def picture(kept):
    """Panels by p and rho; nodes to the proof over n / (k ln p), both logarithmic; what is open is above the line, at its gap."""
    w, h, out = 250, 190, []
    top = math.log10(NODES)
    for row, p in enumerate(PS):
        for column, rho in enumerate(RHOS):
            x0, y0 = 60 + column * (w + 30), 60 + row * (h + 70)
            at_x = lambda ratio: x0 + w * (math.log2(ratio) + 1) / 5
            at_y = lambda nodes: y0 + h - 0.72 * h * math.log10(max(nodes, 1)) / top
            at_gap = lambda gap: y0 + 0.24 * h * (1 - gap)
            out += [f'<text x="{x0}" y="{y0 - 12}" font-weight="bold">p = {p:,}, correlation {rho}</text>']
            out += [f'<rect x="{x0}" y="{y0}" width="{w}" height="{h}" fill="none" stroke="#999999"/>']
            out += [f'<rect x="{x0}" y="{y0}" width="{w}" height="{0.24 * h}" fill="#eeeeee"/>']
            for ratio in RATIOS:
                out.append(f'<text x="{at_x(ratio)}" y="{y0 + h + 15}" text-anchor="middle">{ratio:g}</text>')
            for nodes in (1, 10, 100, 1000):
                out.append(f'<text x="{x0 - 6}" y="{at_y(nodes) + 4}" text-anchor="end">{nodes}</text>')
            for gap in (0, 1):
                out.append(f'<text x="{x0 - 6}" y="{at_gap(gap) + 4}" text-anchor="end">{100 * gap} %</text>')
            for k, total in itertools.product(KS, TOTALS):
                points = []
                for ratio in RATIOS:
                    if found := cell(kept, p, k, ratio, rho, total):
                        nodes, gap = found
                        points.append((at_x(ratio), at_y(nodes) if nodes is not None else at_gap(gap)))
                dash = ' stroke-dasharray="5 3"' if k == KS[1] else ""
                line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
                out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[total]}" stroke-width="1.5"{dash}/>')
                out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[total]}"/>' for x, y in points]
    height = 60 + len(PS) * (h + 70)
    out.append(f'<text x="60" y="24">nodes to the proof (white), or the gap left at {NODES} nodes or {SECONDS} s (grey), over n / (k ln p)</text>')
    x = 60
    for k, total in itertools.product(KS, TOTALS):
        dash = ' stroke-dasharray="5 3"' if k == KS[1] else ""
        out.append(f'<line x1="{x}" x2="{x + 24}" y1="{height - 6}" y2="{height - 6}" stroke="{COLOURS[total]}" stroke-width="1.5"{dash}/>')
        out.append(f'<text x="{x + 30}" y="{height - 2}">k = {k}, n C = {total}</text>')
        x += 140
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height + 14}" width="920" height="{height + 14}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="920" height="{height + 14}" fill="#ffffff"/>', *out, "</svg>"]) + "\n"


def page(kept):
    lines = ["# Easy, hard or hopeless by nature", "", __doc__.split("\n\n")[2].replace("\n", " ").replace("NODES", str(NODES)).replace("SECONDS", str(SECONDS)), ""]
    lines += ["![nodes to the proof](nature.svg)", ""]
    for rho in RHOS:
        lines += [f"## Correlation {rho}", "", "Nodes to the proof, or the gap left.", ""]
        lines += ["| p, k, n C | " + " | ".join(f"n / (k ln p) = {ratio:g}" for ratio in RATIOS) + " |", "| --- |" + " --- |" * len(RATIOS)]
        for p, k, total in itertools.product(PS, KS, TOTALS):
            cells = []
            for ratio in RATIOS:
                found = cell(kept, p, k, ratio, rho, total)
                cells.append("-" if found is None else f"{found[0]:,}" if found[0] is not None else f"{100 * found[1]:.0f} %")
            lines.append(f"| {p:,}, {k}, {total} | " + " | ".join(cells) + " |")
        lines.append("")
    (c.RESULTS / "nature.md").write_text("\n".join(lines).rstrip() + "\n")
    (c.RESULTS / "nature.svg").write_text(picture(kept))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fewest", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="only the page, from the rows kept")
    a = parser.parse_args()
    kept = c.Kept("nature")
    if not a.report:
        run(kept, *c.program(a.fewest))
    page(kept)


if __name__ == "__main__":
    main()
