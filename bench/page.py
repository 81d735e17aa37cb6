"""The page that checks proofs, in a browser and from the disk, beside the command: are words, codes and JSON the same?

    python3 bench/page.py [--cases 200] [--seed 1] [--fewest target/release/fewest] [--page target/page/verify.html] [--write]

Needs chromium (FEWEST_BROWSER, else the one on the path) and playwright (tests/requirements.txt). Random problems are those
of two_checkers.py: the proof of each, and by turns a damaged and a forged one. Real data are wdbc, and where $FEWEST_DATA is a folder those
in it: tables, sparse data, cells in h5ad, a matrix of several files; and a table of 60 MB is made. Then the page itself: nothing is
asked of the network, cancelling, dropping, one column on a phone, what a screen reader needs. `--write` writes bench/results/page.md.
"""

import argparse
import base64
import collections
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

import two_checkers
from pages import add_options, check, for_everyone, opened, prepared, same, shots
from two_checkers import DATA, ROOT, real

EXACT = ["-m", "exact", "--max-features"]
# What is proven of real data: the files, the options of `fewest select`.
REAL = [
    (["data/wdbc.csv"], [*EXACT, "3"]),
    (["data/wdbc.csv"], ["-m", "kta", "--max-features", "3", "--time-limit", "10s"]),
    (["data/wdbc.csv"], ["-m", "mbp", "--penalty", "5", "--time-limit", "10s"]),
    (["zoo.csv"], [*EXACT, "3", "--time-limit", "10s"]),
    (["pima-indians-diabetes.csv"], [*EXACT, "3", "--loss", "squared-hinge"]),
    (["ionosphere.csv"], [*EXACT, "3", "--cost", "0.1", "--time-limit", "10s"]),
    (["hepatitis.csv"], ["-m", "gbd", "--max-features", "2", "--time-limit", "10s"]),
    (["leukemia_golub.csv.gz"], ["-m", "rfe", "--max-features", "5", "--certify", "--time-limit", "10s"]),
    (["dorothea_train.svm.gz"], ["-m", "rfe", "--max-features", "20", "--certify", "--time-limit", "20s"]),
    (["a9a.svm.gz"], ["-m", "rfe", "--max-features", "10", "--certify", "--time-limit", "10s"]),
    (["cells/guo_qpcr.h5ad"], ["--target", "num_cells", *EXACT, "3", "--time-limit", "10s"]),
    (["cells/xin4.h5ad"], ["--target", "cell_type", "-m", "rfe", "--max-features", "5", "--certify", "--time-limit", "10s"]),
    (["cells/wang7.h5ad"], ["--target", "cell_type", "-m", "rfe", "--max-features", "8", "--certify", "--time-limit", "10s"]),
    (
        ["cells/starmap_mpfc16.loom"],
        ["--target", "Clusters", "--drop-unlabelled", "-m", "rfe", "--max-features", "8", "--certify", "--time-limit", "10s"],
    ),
]


class Case:
    """A proof, the data it is about, and options of `fewest verify`."""

    def __init__(self, name, folder, proof, data, options=()):
        self.name, self.folder, self.proof, self.data, self.options = name, folder, proof, data, list(options)


def masked(text):
    """Text without how long the check took."""
    return re.sub(r"(?m)^(checked .*), in \S+ \S+$", r"\1", text)


def by_command(case, fewest):
    """Exit code, text, errors, JSON and seconds of the command."""
    told = case.folder / "verdict.json"
    told.unlink(missing_ok=True)
    words = [fewest, "verify", "--json", told, *case.options, "--", case.proof, case.data[0]]
    begun = time.perf_counter()
    ran = subprocess.run(words, cwd=case.folder, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    return ran.returncode, ran.stdout, ran.stderr, told.read_text() if told.exists() else "", seconds


def by_page(tab, address, case):
    """The same of the page."""
    tab.goto(address)
    if case.options:
        tab.evaluate("document.querySelector('details').open = true")
        tab.fill("#options", " ".join(f"'{word}'" for word in case.options))
    tab.set_input_files("#proof", case.folder / case.proof)
    tab.set_input_files("#data", [case.folder / name for name in case.data])
    tab.locator("#verdict").wait_for(timeout=600_000)
    said = tab.evaluate("({ ...document.getElementById('verdict').dataset, seen: document.querySelector('#found p').textContent })")
    if "code" not in said:
        return None, said["seen"], "", "", 0.0
    return (
        int(said["code"]),
        said["out"],
        said["err"],
        said["json"],
        float(said["seconds"]),
        said["seen"],
        tab.locator("#found").inner_text(),
    )


# exp is another function there: bounds of alignments differ in their last digits, by this share at most.
ALIGNMENT = 1e-6


def apart(case, command, page):
    """How they differ; none where they do not."""
    if page[0] is None:
        return f"the page broke off: {page[1]}"
    if command[0] != page[0]:
        return f"exit codes {command[0]} and {page[0]}: {command[1]}{command[2]} / {page[1]}{page[2]}"
    for what, one, other in zip(("text", "errors"), map(masked, command[1:3]), map(masked, page[1:3]), strict=True):
        if one != other:
            return f"{what}: {one!r} and {other!r}"
    one, other = [{k: v for k, v in json.loads(told or "{}").items() if k != "seconds"} for told in (command[3], page[3])]
    if not same(one, other, ALIGNMENT if (one.get("question") or {}).get("gain") == "alignment" else 0.0):
        return f"JSON: {one} and {other}"
    # What is seen has the words of the text.
    squeezed = lambda text: re.sub(r"\s+", "", text)
    for line in masked(page[1]).splitlines():
        if squeezed(line) not in squeezed(page[6]):
            return f"the page does not show {line!r}"
    return None


def prove(fewest, path, options, proof):
    """Writes a proof; whether there is one."""
    words = [fewest, "select", str(path), *options, "--proof", str(proof), "-q"]
    subprocess.run(words, capture_output=True, text=True, timeout=600)
    return proof.exists()


def of_random(given, folder):
    for number in range(given.cases):
        dice, here = random.Random(f"{given.seed}/{number}"), folder / str(number)
        here.mkdir()
        drawn, chosen = two_checkers.case(dice, here, arrays())
        labels = pathlib.Path(drawn.labels.split(":")[0]) if drawn.labels else None
        # The page takes the largest file for the data; those of several files are real ones, below.
        if drawn.form == "mtx" or (labels and labels.stat().st_size >= drawn.path.stat().st_size):
            continue
        if not prove(given.fewest, drawn.path, [*chosen, "--time-limit", "20"], here / "p.proof"):
            continue
        data = [drawn.path.name, *([labels.name] if labels else [])]
        apart = ["--labels", drawn.labels.replace(f"{here}/", "")] if labels else []
        yield "random", Case(f"random {number}: {' '.join(chosen)}", here, "p.proof", data, apart)
        if number % 3 == 0:
            options = dice.choice([["--strict"], ["--cost", "2"], ["--max-features", "2"], ["--gap", "1e-9"], ["--no-such"]])
            yield "asked otherwise", Case(f"random {number} {options}", here, "p.proof", data, [*apart, *options])
        if number % 2 == 0:
            two_checkers.damaged(dice, here / "p.proof", here / "d.proof")
            yield "damaged", Case(f"damaged {number}", here, "d.proof", data, apart)
        elif two_checkers.forged(dice, here / "p.proof", here / "f.proof"):
            yield "forged", Case(f"forged {number}", here, "f.proof", data, apart)


def arrays():
    """Whether npz and HDF5 can be written here."""
    return all(importlib.util.find_spec(name) for name in ("numpy", "h5py"))


def of_real(given, folder):
    for number, (files, options) in enumerate(REAL):
        files = [real(name) for name in files]
        if given.only and given.only not in files[0].name:
            continue
        if not files[0].exists():
            print(f"skipped: {files[0]} is not there", flush=True)
            continue
        here = folder / f"real{number}"
        here.mkdir()
        for file in files:
            shutil.copy(file, here / file.name)
        name = f"{files[0].name} {' '.join(options)}"
        if not prove(given.fewest, here / files[0].name, options, here / "p.proof"):
            print(f"no proof: {name}", flush=True)
            continue
        yield "real", Case(name, here, "p.proof", [file.name for file in files])
    cells = DATA / "forms" / "10x_mtx_labelled"
    if cells.is_dir() and not given.only:
        here = folder / "several"
        shutil.copytree(cells, here)
        names = sorted((file.name for file in here.iterdir()), key=lambda name: not name.startswith("matrix"))
        labels = ["--labels", "labels.csv"]
        if prove(given.fewest, here / names[0], ["--labels", here / labels[1], *EXACT, "2", "--time-limit", "10s"], here / "p.proof"):
            yield "real", Case("10x_mtx_labelled, four files", here, "p.proof", names, labels)


def large(given, folder):
    """A table of 60 MB with a certificate."""
    here = folder / "large"
    here.mkdir()
    dice, rows, columns = random.Random(1), 2000, 3600
    with (here / "large.csv").open("w") as out:
        out.write(",".join(f"f{j}" for j in range(columns)) + ",y\n")
        for i in range(rows):
            y = i % 2
            out.write(",".join(f"{dice.gauss(y * (j < 5), 1):.5f}" for j in range(columns)) + f",{y}\n")
    size = (here / "large.csv").stat().st_size
    print(f"large.csv: {size:,} bytes", flush=True)
    options = ["-m", "rfe", "--max-features", "5", "--certify", "--time-limit", "40s"]
    if prove(given.fewest, here / "large.csv", options, here / "p.proof"):
        yield "real", Case(f"a table of {size / 1e6:.0f} MB, {' '.join(options)}", here, "p.proof", ["large.csv"])


def of_itself(tab, address, case, long, folder):
    """The page as a person and a screen reader have it."""
    tab.goto(address)
    shots(tab, folder, "empty")
    by_page(tab, address, case)
    shots(tab, folder, "verdict")
    for_everyone(tab)
    check(tab.evaluate("document.activeElement.id") == "verdict-h", "the verdict has not the focus")
    check(tab.locator("#said").inner_text().startswith("VERIFIED"), "the verdict is not said")
    # Two files dropped at once, the data first.
    tab.goto(address)
    files = [[name, base64.b64encode((case.folder / name).read_bytes()).decode()] for name in (case.data[0], case.proof)]
    tab.evaluate(
        """files => {
        const transfer = new DataTransfer();
        for (const [name, text] of files) transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }""",
        files,
    )
    tab.locator("#verdict").wait_for(timeout=60_000)
    check(tab.locator("#found p").first.inner_text().startswith("VERIFIED"), "dropped files are not checked")
    # By keyboard alone: from the options to a check.
    tab.locator("summary").focus()
    tab.keyboard.press("Enter")
    tab.locator("#options").focus()
    tab.keyboard.type("--cost 123")
    tab.keyboard.press("Enter")
    tab.locator("#verdict .warning").wait_for(timeout=60_000)
    check("another question" in tab.locator("#found p").first.inner_text(), "options are not asked")
    shots(tab, folder, "other")
    if long:
        tab.goto(address)
        tab.set_input_files("#proof", long.folder / long.proof)
        tab.set_input_files("#data", long.folder / long.data[0])
        time.sleep(0.7)
        shots(tab, folder, "course")
        tab.locator("#cancel").click()
        tab.locator("#verdict").wait_for(timeout=5_000)
        check("cancelled" in tab.locator("#found p").first.inner_text(), "a check cannot be cancelled")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    add_options(options, "verify.html")
    options.add_argument("--only", help="real data of this name alone")
    options.add_argument("--small", action="store_true", help="no table of 60 MB")
    given = prepared(options)
    seen, wrong, times, long = collections.Counter(), [], [], None
    with tempfile.TemporaryDirectory() as folder, opened(given.page) as browser:
        folder, tab, address = pathlib.Path(folder), browser.tab, browser.address
        groups = [of_real(given, folder), of_random(given, folder)] + ([] if given.small else [large(given, folder)])
        first = None
        for kind, case in (pair for group in groups for pair in group):
            # Real data are timed: the best of three, as other work may run.
            rounds = range(3 if kind == "real" else 1)
            command = min((by_command(case, given.fewest) for _ in rounds), key=lambda found: found[4])
            of_page = min((by_page(tab, address, case) for _ in rounds), key=lambda found: found[4])
            seen[kind] += 1
            verdict = json.loads(command[3])["verdict"] if command[3] else f"exit code {command[0]}"
            seen[f"{kind}: {verdict}"] += 1
            if fault := apart(case, command, of_page):
                wrong.append((case.name, fault))
                print(case.name, fault, sep="\n  ", flush=True)
            if kind == "real":
                bytes_ = sum((case.folder / name).stat().st_size for name in case.data)
                proof = (case.folder / case.proof).stat().st_size
                times.append((case.name, bytes_, proof, command[4], of_page[4], verdict))
                print(f"{case.name}: {verdict}, command {command[4]:.2f} s, page {of_page[4]:.2f} s", flush=True)
                first, long = first or case, case
        of_itself(tab, address, first, None if given.small else long, given.screenshots)
    print(json.dumps(seen, indent=1))
    print(f"{len(wrong)} differences")
    if given.write:
        write(given, seen, wrong, times, browser.version)
    raise SystemExit(len(wrong) > 0)


def write(given, seen, wrong, times, version):
    kinds = [kind for kind in seen if ":" not in kind]
    lines = [
        "# The page that checks proofs, beside the command",
        "",
        f"    python3 bench/page.py --cases {given.cases} --seed {given.seed} --write",
        "",
        f"`verify.html` ({given.page.stat().st_size:,} bytes), opened from the disk in Chromium {version} without a network, and `fewest verify`",
        "on the same files. Compared are exit code, text and messages, JSON (all but the time), and that every line of the text is seen.",
        "Bounds of alignments may differ by 1e-6 of their size (2.6e-8 was seen), as `exp` is another function there.",
        "",
        "| proofs | number | verdicts of both |",
        "| --- | --- | --- |",
    ]
    for kind in kinds:
        verdicts = ", ".join(f"{name.split(': ')[1]} {count}" for name, count in seen.items() if name.startswith(f"{kind}: "))
        lines.append(f"| {kind} | {seen[kind]} | {verdicts} |")
    lines += [f"| all | {sum(seen[kind] for kind in kinds)} | differences: {len(wrong)} |", ""]
    lines += [
        "Random, damaged and forged proofs are those of two_checkers.py. Below: seconds, the best of three, of the command",
        f"(release build, {os.cpu_count()} cores, shared with other work) from start to end, and of the page (one core) from the choice of the files",
        "to the verdict, the start of the checker included.",
        "",
        "| data and options | bytes of data | of the proof | command | page | times |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {n} | {b:,} | {p:,} | {c:.2f} | {q:.2f} | {q / c:.1f} |" for n, b, p, c, q, _ in times]
    (ROOT / "bench" / "results" / "page.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
