"""The page that selects, in a browser and from the disk, beside the command: are features, objectives, bounds and files the same?

    python3 bench/select_page.py [--fewest target/release/fewest] [--page target/page/fewest.html] [--only NAME] [--small] [--write]

Needs what page.py needs; with qemu-x86_64 (Debian's qemu-user) on the path the command runs a second time, as on a processor without AVX2 and
fused multiplication, to say whether the page is the same to the last bit. Ten data sets: wdbc, three that are made here, and, where $FEWEST_DATA is a folder, six of those in it; each with a
question, and wdbc with every question. The command has the words that the page shows, on the same files. Compared are exit code, text, JSON without times, model,
predictions and proof. Then the page itself: cancelling (also where a browser cannot make the command wait), a typing error, missing values, the keyboard, one column on a phone, what a screen
reader needs. `--small` leaves out what takes more than a few seconds; `--write` writes bench/results/select_page.md.
"""

import argparse
import base64
import gzip
import json
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import tempfile
import time

from pages import add_options, check, differences, for_everyone, opened, prepared, same, shots
from two_checkers import ROOT, real

# Keys of a result that say when something happened, on how many threads, and by which words.
OF_THE_RUN = {"seconds", "milliseconds", "trace", "threads", "command", "memory"}
# Keys that follow from objective and bound.
FOLLOWS = {"gap", "objective_gap"}
# Counts of what was done: they differ where digits do.
COUNTS = re.compile(r"\.counts\.|\.effort\.|certain_steps$")
# Differences up to this share are reported, not failed; of a bound, up to the gap that was asked for, at which searches end.
LAST_DIGITS = 1e-6
ASKED_GAP = 1e-4
# The vector instructions of a page are those of every x86-64; sums over wider vectors, and fused ones, differ in their last digits.
PLAIN = ["qemu-x86_64", "-cpu", "Nehalem"]


class Case:
    """A table, a question as the page asks it, and whether it takes long."""

    def __init__(self, table, ask="best", fields=None, files=(), long=False):
        self.table, self.ask, self.fields, self.files, self.long = table, ask, fields or {}, list(files), long

    def name(self):
        words = [f"{key} {value}" for key, value in self.fields.items() if key != "list"]
        return f"{self.table.name}: {self.ask}{', ' if words else ''}{', '.join(words)}"


def made(folder):
    """Three tables: text and missing values, sparse, three classes."""
    dice = random.Random(1)
    with (folder / "clinic.csv").open("w") as out:
        out.write("id;age;smoker;marker;noise;outcome\n")
        for i in range(120):
            ill = i % 2
            age, marker = f"{dice.gauss(50 + 8 * ill, 10):.1f}".replace(".", ","), f"{dice.gauss(ill, 1):.3f}".replace(".", ",")
            smoker = dice.choice(["yes", "no"] if ill else ["no", "no", "yes"])
            out.write(
                f"P{i};{age if dice.random() > 0.05 else ''};{smoker};{marker};{dice.random():.3f};{'ill' if ill else 'well'}\n".replace(
                    ".", ","
                )
            )
    with (folder / "words.svm").open("w") as out:
        for i in range(200):
            spam = i % 2
            cells = sorted({dice.randrange(1, 300) for _ in range(12)} | ({dice.randrange(1, 8)} if spam else set()))
            out.write(f"{1 if spam else -1} " + " ".join(f"{j}:{dice.randrange(1, 5)}" for j in cells) + "\n")
    with gzip.open(folder / "three.csv.gz", "wt") as out:
        out.write(",".join(f"g{j}" for j in range(12)) + ",kind\n")
        for i in range(90):
            out.write(",".join(f"{dice.gauss((i % 3) * (j < 3), 1):.4f}" for j in range(12)) + f",{'abc'[i % 3]}\n")


def cases(given, folder):
    made(folder)
    wdbc, worst = real("data/wdbc.csv"), "worst_area, mean_texture"
    found = [
        Case(wdbc, fields={"size": "3"}),
        Case(wdbc, fields={"method": "rfe", "size": "5"}),
        Case(wdbc, fields={"method": "kta", "size": "2"}),
        Case(wdbc, "list", {"list": worst}),
        Case(wdbc, "study", {"size": "3", "limit": "1h", "options": "--folds 3 --repeats 1 --methods exact,rfe"}, long=True),
        Case(wdbc, "apply"),
        Case(folder / "clinic.csv", fields={"reading": "--missing mean --drop id", "size": "2"}),
        Case(folder / "words.svm", fields={"size": "3"}),
        Case(folder / "three.csv.gz", fields={"size": "3", "cost": "0.1"}),
        Case(real("zoo.csv"), fields={"size": "3", "cost": "0.1"}),
        Case(real("pima-indians-diabetes.csv"), fields={"size": "3", "positive": "1"}),
        Case(real("hepatitis.csv"), fields={"size": "2"}),
        Case(real("ionosphere.csv"), fields={"size": "3", "cost": "0.1"}, long=True),
        Case(real("leukemia_golub.csv.gz"), fields={"method": "rfe", "size": "5", "cost": "0.01"}, long=True),
        Case(real("cells/guo_qpcr.h5ad"), fields={"target": "num_cells", "size": "3", "cost": "0.01"}, long=True),
    ]
    for case in found:
        if given.only and given.only not in case.table.name:
            continue
        if not case.table.exists():
            print(f"skipped: {case.table} is not there", flush=True)
        elif not (given.small and case.long):
            yield case


def choose(tab, address, case):
    """Puts table and question into the page, once the table was read."""
    tab.goto(address)
    fields = dict(case.fields)
    tab.set_input_files("#table", case.table)
    tab.wait_for_selector("#read[data-code]", state="attached", timeout=60_000)
    tab.check(f"input[name=ask][value={case.ask}]")
    if method := fields.pop("method", None):
        tab.check(f"input[name=method][value={method}]")
    for key, value in fields.items():
        again = key in ("target", "reading")
        if again:
            tab.evaluate("delete document.getElementById('read').dataset.code")
        if key in ("reading", "options"):
            tab.evaluate(f"document.getElementById('{key}').closest('details').open = true")
        (tab.select_option if key in ("limit", "positive") else tab.fill)(f"#{key}", value)
        if again:
            tab.locator(f"#{key}").blur()
            tab.wait_for_selector("#read[data-code]", state="attached", timeout=60_000)
    if case.files:
        tab.set_input_files("#model", case.files[0])


def given_back(tab, file):
    """What a button of the answer saves, by the name of the file."""
    buttons = {
        "report.html": "report",
        "result.json": "result",
        "model.json": "model",
        "fewest.proof": "proof",
        "predicted.csv": "predictions",
    }
    button = tab.get_by_role("button", name=re.compile(f"^Save the {buttons[file]}"))
    if not button.count():
        return None
    with tab.expect_download() as saved:
        button.click()
    return pathlib.Path(saved.value.path()).read_bytes()


FILES = ["result.json", "model.json", "fewest.proof", "predicted.csv", "report.html"]


def by_page(tab, address, case):
    """Exit code, text, seconds and files of the page, and the command that it shows."""
    choose(tab, address, case)
    line = tab.locator("#line").inner_text()
    tab.click("#run")
    tab.locator("#answer").wait_for(timeout=900_000)
    said = tab.evaluate("({ ...document.getElementById('answer').dataset })")
    check(said.get("json"), f"{case.name()}: the page has no result: {tab.locator('#found').inner_text()}")
    return int(said["code"]), said["out"], float(said["seconds"]), {name: given_back(tab, name) for name in FILES}, line


def by_command(case, line, fewest, folder):
    """The same of the command with these words; `fewest` is the words that start it."""
    here = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for file in [case.table, *case.files]:
        shutil.copy(file, here / file.name)
    words = [*fewest, *shlex.split(line)[1:]]
    begun = time.perf_counter()
    ran = subprocess.run(words, cwd=here, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    return ran.returncode, ran.stdout, seconds, {name: (here / name).read_bytes() if (here / name).exists() else None for name in FILES}


def lasting(value):
    """A result without what belongs to its run."""
    if isinstance(value, dict):
        return {key: lasting(inner) for key, inner in value.items() if key not in OF_THE_RUN | FOLLOWS}
    return [lasting(inner) for inner in value] if isinstance(value, list) else value


def allowed(place):
    """The share by which a number may differ."""
    return ASKED_GAP if place.endswith("bound") else LAST_DIGITS


def apart(case, page, command):
    """Faults, and places where digits differ with the largest share."""
    faults, digits = [], {}
    if page[0] != command[0]:
        faults.append(f"exit codes {page[0]} and {command[0]}: {page[1]} / {command[1]}")
    for name in FILES:
        one, other = page[3][name], command[3][name]
        if (one is None) != (other is None) and not (case.files and name == case.files[0].name):
            faults.append(f"{name}: only one has it")
        elif None not in (one, other) and name.endswith(".json"):
            for place, share in differences(*(lasting(json.loads(text)) for text in (one, other))):
                if not COUNTS.search(f".{place}") and (share is None or share > allowed(place)):
                    faults.append(f"{name}: {place} differs by {share}")
                else:
                    digits[f"{name}: {place}"] = max(share or 0.0, digits.get(f"{name}: {place}", 0.0))
        elif None not in (one, other) and name == "predicted.csv":
            cells = lambda text: [[float(cell) for cell in line.split(",")] for line in text.decode().splitlines()[1:]]
            if not same(cells(one), cells(other), LAST_DIGITS):
                faults.append("the predictions differ")
    return faults, digits


def proven(case, page, fewest, folder):
    """Faults of the proof that the page wrote, by the command."""
    if not page[3]["fewest.proof"]:
        return []
    proof = folder / "of-page.proof"
    proof.write_bytes(page[3]["fewest.proof"])
    ran = subprocess.run([fewest, "verify", proof, case.table], capture_output=True, text=True)
    return [] if ran.stdout.startswith("VERIFIED") else [f"the proof of the page: {ran.stdout}{ran.stderr}"]


def of_itself(tab, page, folder, shot):
    """The page as a person and a screen reader have it."""
    wdbc, address = Case(real("data/wdbc.csv"), fields={"size": "3"}), page.as_uri()
    tab.goto(address)
    shots(tab, shot, "fewest-empty")
    # A typing error has the words of the command.
    choose(tab, address, Case(wdbc.table, "list", {"list": "worst_aera"}))
    tab.click("#run")
    tab.locator("#answer").wait_for(timeout=60_000)
    check("worst_area" in tab.locator("#found").inner_text(), "an unknown feature is not named with the one that was meant")
    # Missing values, and the button that gets past them.
    lacking = folder / "lacking.csv"
    lacking.write_text("a,b,y\n" + "".join(f"{i % 7 if i % 9 else ''},{i % 5},{i % 2}\n" for i in range(60)))
    tab.goto(address)
    tab.set_input_files("#table", lacking)
    tab.get_by_role("button", name="Read it with --missing mean").click()
    tab.locator("#read .finding").wait_for(timeout=60_000)
    check(tab.input_value("#reading") == "--missing mean", "the button does not add its option")
    # Classes in a second file, one column of several.
    (folder / "values.csv").write_text("id,a,b\n" + "".join(f"s{i},{i % 7 + i % 2},{i % 5}\n" for i in range(60)))
    (folder / "labels.csv").write_text("id,site,y\n" + "".join(f"s{i},{i % 3},{'ab'[i % 2]}\n" for i in range(60)))
    tab.goto(address)
    tab.set_input_files("#table", folder / "values.csv")
    tab.wait_for_selector("#read[data-code]", state="attached", timeout=60_000)
    tab.fill("#target", "y")
    tab.set_input_files("#labels", folder / "labels.csv")
    tab.locator("#read .finding").wait_for(timeout=60_000)
    check("a (30), b (30)" in tab.locator("#read").inner_text(), f"classes of a second file: {tab.locator('#read').inner_text()}")
    check("--labels labels.csv:y" in tab.locator("#line").inner_text(), "the command does not name the second file")
    # A table that is dropped, then the keyboard alone.
    tab.goto(address)
    tab.evaluate(
        """text => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], "wdbc.csv"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }""",
        base64.b64encode(wdbc.table.read_bytes()).decode(),
    )
    tab.locator("#read .finding").wait_for(timeout=60_000)
    tab.locator("#size").focus()
    tab.keyboard.press("ControlOrMeta+a")
    tab.keyboard.type("3")
    tab.keyboard.press("Enter")
    tab.locator("#answer").wait_for(timeout=60_000)
    check(tab.evaluate("document.activeElement.id") == "answer-h", "the answer has not the focus")
    check(tab.locator("#said").inner_text().startswith("Proven"), "the answer is not said")
    frame = tab.frame_locator("iframe")
    check(frame.locator("h1").inner_text() != "", "the report is not shown")
    colours = frame.locator("body").evaluate("body => getComputedStyle(body).maxWidth")
    check(colours != "none", "the report has lost its style")
    shots(tab, shot, "fewest-answer")
    for_everyone(tab)
    # Cancelling: the best so far, from the command itself; then at once, from the events alone.
    hard = Case(real("data/wdbc.csv"), fields={"size": "12", "cost": "100", "limit": "10m"})
    choose(tab, address, hard)
    tab.click("#run")
    tab.locator("#gap").wait_for(timeout=60_000)
    time.sleep(2)
    shots(tab, shot, "fewest-course")
    begun = time.perf_counter()
    tab.click("#cancel")
    tab.locator("#answer").wait_for(timeout=60_000)
    waited = time.perf_counter() - begun
    said = tab.evaluate("({ ...document.getElementById('answer').dataset })")
    result = json.loads(said["json"])
    check(
        said["code"] == "3" and result["status"] == "cancelled" and result["selected"], f"cancelled: {said['code']}, {result['status']}"
    )
    check(result["bound"] is not None, "a cancelled search has no bound")
    print(f"cancelled after 2 s: answer in {waited:.1f} s, {len(result['selected'])} features, gap {result['gap']}", flush=True)
    # At once: by a second press, and by the first where a browser cannot make the command wait.
    old = folder / "old-browser.html"
    old.write_text(page.read_text().replace('typeof WebAssembly.Suspending === "function"', "false"))
    for where, presses in ((address, 2), (old.as_uri(), 1)):
        choose(tab, where, hard)
        tab.click("#run")
        tab.locator("#gap").wait_for(timeout=60_000)
        time.sleep(1)
        tab.evaluate("presses => { for (let k = 0; k < presses; k++) document.getElementById('cancel').click(); }", presses)
        tab.locator("#answer").wait_for(timeout=5_000)
        kept = json.loads(tab.evaluate("document.getElementById('answer').dataset.json"))
        check(kept["selected"] and kept["status"] == "stopped", f"stopped at once: {kept}")
    return waited


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(options, "fewest.html")
    options.add_argument("--only", help="tables of this name alone")
    options.add_argument("--small", action="store_true", help="without what takes more than a few seconds")
    given = prepared(options)
    rows, wrong, sets = [], [], set()
    with tempfile.TemporaryDirectory() as folder, opened(given.page) as browser:
        folder, tab, address = pathlib.Path(folder), browser.tab, browser.address
        model = None
        for case in cases(given, folder):
            if case.ask == "apply":
                if not model:
                    continue
                case.files = [model]
            page = by_page(tab, address, case)
            command = by_command(case, page[4], [given.fewest], folder)
            faults, digits = apart(case, page, command)
            faults += proven(case, page, given.fewest, folder)
            plain = None
            if shutil.which(PLAIN[0]) and not given.small:
                found, places = apart(case, page, by_command(case, f"{page[4]} --threads 1", [*PLAIN, given.fewest], folder))
                plain = [*found, *places]
            if page[3]["model.json"] and not model:
                model = folder / "model.json"
                model.write_bytes(page[3]["model.json"])
            result = json.loads(page[3]["result.json"])
            rows.append((case, result, command[2], page[2], digits, faults, plain))
            sets.add(case.table.name)
            wrong += [f"{case.name()}: {fault}" for fault in faults]
            without = "" if plain is None else f", {len(plain)} places differ without AVX2 {plain or ''}"
            print(
                f"{case.name()}: {result.get('status', result['kind'])}, command {command[2]:.2f} s, page {page[2]:.2f} s{without}",
                flush=True,
            )
            for fault in faults:
                print(f"  {fault}", flush=True)
            for place, share in digits.items():
                print(f"  {place} differs by {share:.1e}", flush=True)
        waited = of_itself(tab, given.page, folder, given.screenshots) if not given.only else None
    print(f"{len(sets)} data sets, {len(rows)} questions, {len(wrong)} differences")
    if given.write:
        write(given, rows, len(sets), waited, browser.version)
    raise SystemExit(len(wrong) > 0)


def write(given, rows, sets, waited, version):
    lines = [
        "# The page that selects, beside the command",
        "",
        "    python3 bench/select_page.py --write",
        "",
        f"`fewest.html` ({given.page.stat().st_size:,} bytes), opened from the disk in Chromium {version} without a network, and `fewest` with the words",
        f"that the page shows, on the same files: {sets} data sets, {len(rows)} questions, {sum(bool(row[5]) for row in rows)} of them with a difference. Compared are",
        "exit code, and every value of result and model as JSON but times, threads, memory and gaps (which follow from objective and bound): names and",
        f"words must be equal, numbers up to {LAST_DIGITS:.0e} of their size, bounds up to the gap that was asked for ({ASKED_GAP:.0e}), at which a search ends; counts of",
        "nodes and steps may differ. `fewest verify` verifies each proof of the page.",
        "",
        "Where digits differ, the reason is the processor: the command sums over the widest vectors that it finds, here of AVX-512, and a page over those of every",
        "browser. The last column but one counts the places of the JSON that differ from the command under `qemu-x86_64 -cpu Nehalem`, a processor without AVX2, on",
        "one thread: 0 says that page and command are the same to the last bit, counts included. The 1 of a study is its text on the methods, which quotes the",
        "command, there with `--threads 1`.",
        "",
        "Seconds, of one run each: of the command (a build for tests, two cores shared with other work) from start to end, of the page (one thread) from the click to",
        "the answer.",
        "",
        "| table and question | status | selected | objective | bound | command | page | without AVX2 | places that differ here, and by which share at most |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    shown = lambda value: "" if value is None else f"{value:.10g}"
    for case, result, command, page, digits, faults, plain in rows:
        selected = (result.get("panel") or {}).get("selected") or result.get("selected") or []
        largest = max(digits, key=digits.get) if digits else None
        worst = (
            f"{len(digits)}, {digits[largest]:.0e} (`{largest.split(': ')[1]}`)"
            if largest and digits[largest]
            else f"{len(digits)}, counts alone"
        )
        worst = worst if digits else "none"
        cells = [case.name(), result.get("status", ""), len(selected), shown(result.get("objective")), shown(result.get("bound"))]
        lines.append(
            "| "
            + " | ".join(
                map(str, [*cells, f"{command:.2f}", f"{page:.2f}", "" if plain is None else len(plain), "; ".join(faults) or worst])
            )
            + " |"
        )
    if waited is not None:
        lines += [
            "",
            "Cancel, pressed after two seconds of a search that takes longer (wdbc, 12 features, C = 100), gave status `cancelled`, a subset and a",
            f"bound after {waited:.1f} s. Cancel pressed twice stops at once, with the subset and the bound that were reported last.",
        ]
    (ROOT / "bench" / "results" / "select_page.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
