"""The tables of tan2010 from the runs."""
from statistics import mean, stdev

METHODS = ["FGM", "FGM-B", "QCQP-SSVM", "NMMKL", "SVM-RFE", "L1", "SVM(all)", "SVM(ideal)"]


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "| " + " | ".join("---" for _ in headings) + " |"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def spread(values, scale=1.0, digits=2):
    if not values:
        return "-"
    more = f" ± {scale * stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{scale * mean(values):.{digits}f}{more}"


def composite(runs, by, what):
    """Rate, accuracy, features and time by the noise or the samples."""
    sizes = sorted({r[by] for r in runs})
    there = [m for m in METHODS if any(r["method"] == m for r in runs)]
    of = lambda size, method: [r for r in runs if r[by] == size and r["method"] == method]
    done = lambda rs: [r for r in rs if "refused" not in r]

    def rate(rs):
        # Of an L1 machine the two largest weights count; the others were asked for two features.
        pair = [set(r.get("first", r["selected"])) == {0, 1} for r in done(rs)]
        return f"{sum(pair)} of {len(pair)}" if pair else ("refused" if rs else "-")

    asked = [m for m in there if m in ("FGM-B", "QCQP-SSVM", "NMMKL", "SVM-RFE", "L1")]
    text = f"### {{x1, x2}} found exactly\n\nOf L1 the two largest weights are looked at.\n\n"
    text += table([what, *asked], [[s, *(rate(of(s, m)) for m in asked)] for s in sizes])
    for title, value, scale, digits in (
        ("Test accuracy in %", lambda r: r["accuracy"], 100, 1),
        ("Features of weight above 1e-4 of the largest", lambda r: r["kept"], 1, 1),
        ("Seconds", lambda r: r["seconds"], 1, 3),
    ):
        cell = lambda s, m: spread([value(r) for r in done(of(s, m))], scale, digits) if done(of(s, m)) else ("refused" if of(s, m) else "-")
        text += f"\n### {title}\n\n" + table([what, *there], [[s, *(cell(s, m) for m in there)] for s in sizes])
    return text


def small(runs):
    sets = list(dict.fromkeys(r["set"] for r in runs))
    text = ""
    for title, value, scale, digits in (
        ("Sparsity ratio in % (Table 2)", lambda r: 1 - r["kept"] / r["p"], 100, 2),
        ("Test accuracy in % (Table 3)", lambda r: r["accuracy"], 100, 2),
        ("Seconds (Table 4)", lambda r: r["seconds"], 1, 3),
    ):
        there = ["L1", "FGM", "FGM-B", "QCQP-SSVM", "NMMKL", "SVM-RFE"]
        rows = []
        for name in sets:
            sizes = sorted({r["B"] for r in runs if r["set"] == name and r["B"]})
            for B in sizes:
                row = [name, B]
                for m in there:
                    at = [r for r in runs if r["set"] == name and r["method"] == m and r["B"] in (B, 0)]
                    good = [value(r) for r in at if "refused" not in r]
                    row.append(spread(good, scale, digits) if good else ("refused" if at else "-"))
                rows.append(row)
        text += f"### {title}\n\n" + table(["set", "B", *there], rows) + "\n"
    return text


def large(runs):
    rows = []
    for r in runs:
        gap = "-" if r.get("gap") is None else f"{r['gap']:.1e}"
        seconds = f"{r['seconds']:.3f}" + ("" if r.get("converged", True) else " (not converged)")
        rows.append([r["set"], r["method"], r["B"] or "-", r["kept"], f"{100 * r['accuracy']:.2f}", seconds, gap, r.get("status", "-")])
    return table(["set", "method", "B", "kept", "accuracy %", "s", "gap", "status"], rows)


def text(part, runs):
    """The page of a part; empty without runs."""
    if not runs:
        return ""
    heads = {
        "figure2": "# Figure 2: composite features, noise grows (500 samples, B = 2, C = 0.1)\n\n",
        "figure3": "# Figure 3: composite features, samples grow (2000 noise features, B = 2, C = 0.1)\n\n",
        "tables": "# Tables 2 to 4: small sets\n\n",
        "figure4": "# Figures 4 and 5: large sets (C = 5; LIBLINEAR's L1 machine at C = 1)\n\n",
    }
    if part == "figure2":
        return heads[part] + composite(runs, "noise", "noise")
    if part == "figure3":
        return heads[part] + composite(runs, "n", "samples")
    return heads[part] + (small(runs) if part == "tables" else large(runs))
