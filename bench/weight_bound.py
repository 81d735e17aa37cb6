"""Which u is the default of `mbp` and `lagrangian`? Rules and numbers, judged on samples that took no part.

    weight_bound.py [--sets SET ...] [--penalties D ...] [--fewest FILE] [--report]

Every form of --weight-bound is judged by `fewest evaluate` on the same stratified folds, C = 1, standard scaling, at each D of PENALTIES.
A fold ends at a proof, after NODES nodes, or after its share of the time. The gap is that of `fewest select` on all samples at the same limits. Rows are kept in
results/weight_bound.jsonl, and what is not yet there is run, by one thread. Writes results/weight_bound.md.
"""

import argparse
import itertools
import json
import statistics
import subprocess

import common as c

SETS = {
    **{name: f"{name}.csv" for name in ("hepatitis", "parkinsons", "wpbc", "ionosphere", "wdbc", "pima-indians-diabetes", "german-numeric")},
    **{
        name: f"{name}.csv.gz"
        for name in ("breast_gravier", "glioma_4434", "leukemia_5327", "dlbcl_shipp", "cns_pomeroy", "leukemia_golub", "breast_west_er", "huntington_borovecki")
    },
    "duke_breast": "duke_breast.svm.gz",
}
FORMS = ("paper", "none", "auto:1", "auto:2", "auto:5", "auto:10", "5", "20", "100")
PENALTIES = (1, 0.1)
FOLDS, SECONDS, NODES = 5, 2, 100


def asked(binary, words):
    """The JSON of a command that ended or came to a limit."""
    words = [str(word) for word in (binary, *words, "--threads", 1, "--json", "-", "--quiet")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run(a, kept, binary, version):
    for D, (name, file) in itertools.product(PENALTIES, SETS.items()):
        if name not in (a.sets or SETS) or D not in (a.penalties or {D}):
            continue
        for form in FORMS:
            case = f"{name}, mbp, D = {D}"
            if kept.get(form, case):
                continue
            words = [c.DATA / file, "--method", "mbp", "--cost", 1, "--penalty", D, "--weight-bound", form, "--node-limit", NODES]
            found = asked(binary, ["evaluate", *words, "--cv", FOLDS, "--seed", 0, "--time-limit", f"{FOLDS * SECONDS}s"])
            one = asked(binary, ["select", *words, "--time-limit", f"{SECONDS}s"])
            folds = found["folds"]
            row = {"accuracy": [fold["metrics"]["accuracy"] for fold in folds], "features": [fold["n_features"] for fold in folds]}
            row |= {"auc": [fold["metrics"]["auc"] for fold in folds], "proven": sum(fold["status"] == "optimal" for fold in folds)}
            row |= {"objective": one["objective"], "bound": one["bound"], "status": one["status"], "without": one["features_without_bound"]}
            row |= {"condition": one.get("proof_condition"), "version": version}
            kept.add(form, case, **row)
            print(case, form, f"{statistics.fmean(row['accuracy']):.4f}", row["features"], row["proven"], flush=True)


def page(kept):
    """The table of each D: forms by held-out accuracy, and each set."""
    lines = []
    for D in PENALTIES:
        cases = [case for case in (f"{name}, mbp, D = {D}" for name in SETS) if all(kept.get(form, case) for form in FORMS)]
        if not cases:
            continue
        rows = {form: [kept.get(form, case) for case in cases] for form in FORMS}
        accuracy = {form: [100 * statistics.fmean(row["accuracy"]) for row in of] for form, of in rows.items()}
        auc = {form: [100 * statistics.fmean(x for x in row["auc"] if x is not None) for row in of] for form, of in rows.items()}
        ranks = {form: [] for form in FORMS}
        for at in range(len(cases)):
            ordered = sorted(accuracy[form][at] for form in FORMS)
            for form in FORMS:
                same = [k + 1 for k, value in enumerate(ordered) if abs(value - accuracy[form][at]) < 1e-9]
                ranks[form].append(statistics.fmean(len(FORMS) + 1 - k for k in same))
        lines += [f"## D = {D}: {len(cases)} sets", ""]
        lines += ["| u | mean rank, accuracy | accuracy | AUC | less that of `paper`, points | features | folds proven | mean gap, all samples, % | sets with the least objective |"]
        lines += ["| --- |" + " --- |" * 8]
        gap = lambda row: 100 * (row["objective"] - row["bound"]) / max(abs(row["objective"]), 1e-10)
        least = [min(rows[form][at]["objective"] for form in FORMS) for at in range(len(cases))]
        for form in sorted(FORMS, key=lambda form: statistics.fmean(ranks[form])):
            paired = [x - y for x, y in zip(accuracy[form], accuracy["paper"], strict=True)]
            error = statistics.stdev(paired) / len(paired) ** 0.5 if len(paired) > 1 else 0.0
            features = statistics.fmean(statistics.fmean(row["features"]) for row in rows[form])
            proven = f"{sum(row['proven'] for row in rows[form])} of {FOLDS * len(cases)}"
            best = sum(row["objective"] <= value * (1 + 1e-4) + 1e-9 for row, value in zip(rows[form], least, strict=True))
            lines.append(
                f"| `{form}` | {statistics.fmean(ranks[form]):.2f} | {statistics.fmean(accuracy[form]):.2f} | {statistics.fmean(auc[form]):.2f} | "
                + ("-" if form == "paper" else f"{statistics.fmean(paired):+.2f} ± {error:.2f}")
                + f" | {features:.1f} | {proven} | {statistics.fmean(map(gap, rows[form])):.2f} | {best} |"
            )
        lines += ["", "Accuracy in %, and features kept:", "", "| set | " + " | ".join(f"`{form}`" for form in FORMS) + " |", "| --- |" + " --- |" * len(FORMS)]
        for at, case in enumerate(cases):
            cells = [f"{accuracy[form][at]:.1f}, {statistics.fmean(rows[form][at]['features']):.1f}" for form in FORMS]
            lines.append(f"| {case.split(',')[0]} | " + " | ".join(cells) + " |")
        lines.append("")
    head = ["# u of `mbp`", "", f"`bench/weight_bound.py`: {FOLDS} folds, C = 1, standard scaling; a fold ends at a proof, after {NODES} nodes or {SECONDS} s.", ""]
    (c.RESULTS / "weight_bound.md").write_text("\n".join(head + lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS)
    parser.add_argument("--penalties", nargs="+", type=float, choices=PENALTIES)
    parser.add_argument("--fewest", help="the command (target/release/fewest)")
    parser.add_argument("--report", action="store_true", help="only the page, from the rows kept")
    a = parser.parse_args()
    kept = c.Kept("weight_bound")
    if not a.report:
        run(a, kept, *c.program(a.fewest))
    page(kept)


if __name__ == "__main__":
    main()
