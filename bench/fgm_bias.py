"""Which bias should `fgm` have by default: none, as the paper, or a penalised one? Accuracy and balanced accuracy in five folds, 8 features.

    bench/fgm_bias.py [FEWEST]        writes bench/results/fgm_bias.md; needs the shared data; a minute on one core
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))
SETS = [
    "parkinsons.csv",
    "german-numeric.csv",
    "hepatitis.csv",
    "wpbc.csv",
    "ionosphere.csv",
    "pima-indians-diabetes.csv",
    "spambase.csv",
    "wdbc.csv",
    "basehock.svm.gz",
    "farm_ads.svm.gz",
    "rcv1_small_train.svm.gz",
    "breast_gravier.csv.gz",
    "dlbcl_shipp.csv.gz",
]


def judged(fewest, data, bias):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder, "r.json")
        options = f"-m fgm --max-features 8 --missing median --cv 5 --bias {bias} --threads 1 --quiet --json {result}"
        subprocess.run([fewest, "evaluate", DATA / data, *options.split()], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads(result.read_text())["summary"]
    return [summary[name]["mean"] for name in ("accuracy", "balanced_accuracy")]


def main():
    fewest = sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "release" / "fewest"
    rows, wins = [], [0, 0]
    for data in SETS:
        none, one = judged(fewest, data, "none"), judged(fewest, data, "1")
        wins = [count + (a > b) for count, a, b in zip(wins, none, one, strict=True)]
        rows.append(f"| {data} | {none[0]:.3f} | {one[0]:.3f} | {none[1]:.3f} | {one[1]:.3f} |")
    (ROOT / "bench" / "results" / "fgm_bias.md").write_text(
        "# The default bias of `fgm`\n\n`bench/fgm_bias.py`: 8 features, 5 folds, the method's own classifier.\n\n"
        "| data | accuracy, no bias | bias 1 | balanced accuracy, no bias | bias 1 |\n| --- | --- | --- | --- | --- |\n"
        + "\n".join(rows)
        + f"\n\nNo bias is the better one in {wins[0]} of {len(SETS)} by accuracy and in {wins[1]} by balanced accuracy: neither is better in general, so\n"
        "the default is the paper's, in every door.\n"
    )


if __name__ == "__main__":
    main()
