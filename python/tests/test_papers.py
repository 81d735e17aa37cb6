"""The scripts of papers/: a few runs of each, the rows they write, and the pages made of them."""

import json
import lzma
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fewest import _core

ROOT = Path(__file__).parents[2]
PAPERS = ("aytug2015", "gaudioso2017", "krupka2016", "tamura2022", "tan2010")
DATA = Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))

pytestmark = pytest.mark.skipif(not (ROOT / "papers").is_dir(), reason="no papers/ beside the Python package")


@pytest.fixture(name="fewest")
def the_command(tmp_path):
    """The command, as the file that the scripts ask for: the one inside the module."""
    lines = [
        f"#!{sys.executable}",
        "import importlib.util, sys",
        f"spec = importlib.util.spec_from_file_location('_core', {_core.__file__!r})",
        "core = importlib.util.module_from_spec(spec)",
        "spec.loader.exec_module(core)",
        "sys.exit(core.command(['fewest', *sys.argv[1:]]))",
    ]
    file = tmp_path / "fewest"
    file.write_text("\n".join(lines) + "\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def script(path, *words):
    return subprocess.run([sys.executable, path, *map(str, words)], capture_output=True, text=True, check=False)


def rows_of(folder):
    assert not (folder / "rows.jsonl").exists()
    return [json.loads(line) for line in lzma.open(folder / "rows.jsonl.xz", "rt", encoding="utf-8")]


@pytest.fixture(name="common")
def the_frame(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "papers")
    import common

    yield common
    del sys.modules["common"]


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA}: FEWEST_DATA names the folder")
@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run_writes_whole_rows_and_pages_and_goes_on_where_it_was(paper, fewest, tmp_path):
    out, words = tmp_path / "out", ("--quick", "--fewest", fewest, "--out", tmp_path / "out")
    first = script(ROOT / "papers" / paper / "run.py", *words)
    assert first.returncode == 0, first.stdout + first.stderr
    rows = rows_of(out)
    assert not [row for row in rows if "failed" in row]
    for row in rows:
        assert row["run"].keys() >= {"commit", "binary", "version", "processor", "load", "commands", "cpu"}
        assert row["run"]["cpu"] > 0
        assert all(line.startswith("fewest ") for line in row["run"]["commands"])
        limit = row["key"].get("limit")
        solves = [line for line in row["run"]["commands"] if line.startswith("fewest select")]
        if limit and solves:
            assert any(f"--time-limit {limit:g}s" in line for line in solves), row
    assert list(out.glob("*.md"))
    again = script(ROOT / "papers" / paper / "run.py", *words)
    assert again.returncode == 0, again.stderr
    assert rows_of(out) == rows


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_and_readme_are_as_the_rows_have_them(paper):
    done = script(ROOT / "papers" / paper / "run.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("paper", PAPERS)
def test_the_pages_are_printed_from_stored_rows(paper):
    done = script(ROOT / "papers" / paper / "run.py", "--print")
    assert done.returncode == 0, done.stderr
    for page in (ROOT / "papers" / paper / "results").glob("*.md"):
        assert page.read_text().strip() in done.stdout


def test_a_fresh_run_says_its_flags_and_how_long_it_takes(common, fewest, tmp_path):
    row = {"key": {"a": 1}, "run": {"cpu": 120.0}}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "rows.jsonl").write_text(
        json.dumps(row) + "\n" + json.dumps({"key": {"a": 2}, "run": None, "seconds": 60}) + "\n"
    )
    lines = [
        "import pathlib, sys",
        f"sys.path.insert(0, {str(ROOT / 'papers')!r})",
        "import common",
        "options = common.parser('')",
        "options.add_argument('--limits', type=int, nargs='+', default=[5, 10])",
        "options.add_argument('--grid-limit', type=float, default=2)",
        "options.add_argument('--sets', nargs='+')",
        "run = lambda fewest, rows, args: rows.get({'a': 1}, lambda: {'value': 2})",
        "pages = lambda rows: {'page.md': [str(row['value']) for row in rows.rows.values()]}",
        f"common.main(pathlib.Path({str(tmp_path)!r}), options, run, pages, None)",
    ]
    (tmp_path / "run.py").write_text("\n".join(lines))
    done = script(tmp_path / "run.py", "--fewest", fewest, "--fresh")
    assert done.returncode == 0, done.stderr
    said = f"papers/{tmp_path.name}/run.py --limits 5 10 --grid-limit 2: 2 rows, about 3 CPU minutes; 0 are there"
    assert said in done.stdout
    assert (tmp_path / ".fresh" / "page.md").read_text() == "2\n"
    assert common.Rows(tmp_path / "results").find({"a": 1})["run"]["cpu"] == 120


def test_a_changed_number_is_found(common, tmp_path):
    page = tmp_path / "page.md"
    common.written(page, ["one 1"], check=False)
    assert common.written(page, ["one 1"], check=True)
    assert not common.written(page, ["one 2"], check=True)
    assert page.read_text() == "one 1\n"
    assert common.filled("<!-- rows: a -->\nold\n<!-- end -->", {"a": "new"}) == "<!-- rows: a -->\nnew\n<!-- end -->"
    with pytest.raises(ValueError, match="blocks of the page"):
        common.filled("no block", {"a": "new"})


def test_a_row_answers_no_other_question(common, tmp_path):
    def made(seconds):
        class Binary:
            hash, version, commands = "0", "0", []

        asked = []
        rows = common.Rows(tmp_path, Binary)
        row = rows.get({"set": "a", "limit": seconds}, lambda: asked.append(1) or {"value": seconds})
        return row["value"], len(asked)

    assert made(60) == (60, 1)
    assert made(60.0) == (60, 0)
    assert made(1000) == (1000, 1)
    assert made(60) == (60, 0)


def test_half_a_line_and_a_failed_run_are_asked_again(common, tmp_path):
    class Binary:
        hash, version, commands = "0", "0", []

    def fail():
        raise common.Failed("no")

    path = tmp_path / "rows.jsonl"
    assert common.Rows(tmp_path, Binary).get({"a": 1}, fail)["failed"] == "no"
    with path.open("a") as file:
        file.write('{"key": {"a": 2}, "ru')
    rows = common.Rows(tmp_path, Binary)
    assert [rows.find({"a": 1}), rows.find({"a": 2})] == [None, None]
    assert rows.get({"a": 1}, lambda: {"value": 3})["value"] == 3
    assert common.Rows(tmp_path).find({"a": 1})["value"] == 3


def test_packed_rows_are_those_of_all_runs(common, tmp_path):
    class Binary:
        hash, version, commands = "0", "0", []

    first, second = common.Rows(tmp_path, Binary), common.Rows(tmp_path, Binary)
    first.get({"a": 1}, lambda: {"value": "é"})
    first.pack()
    packed = (tmp_path / "rows.jsonl.xz").read_bytes()
    second.get({"a": 2}, lambda: {"value": 2})
    # A run that was killed has packed nothing: its lines are read beside the packed ones.
    assert len(common.Rows(tmp_path).rows) == 2
    second.pack()
    assert rows_of(tmp_path) == [first.find({"a": 1}), second.find({"a": 2})]
    both = (tmp_path / "rows.jsonl.xz").read_bytes()
    assert both != packed
    common.Rows(tmp_path, Binary).pack()
    assert (tmp_path / "rows.jsonl.xz").read_bytes() == both


def test_means_are_over_what_all_methods_have(common):
    kept, cases, said = common.shared({"a": {1, 2, 3, 4}, "b": {2, 3, 4}, "c": {4}})
    assert (kept, cases) == (["a", "b"], {2, 3, 4})
    assert "c (1 of 4)" in said


def test_tables_are_written_after_an_interrupt(fewest, tmp_path):
    lines = [
        "import pathlib, sys",
        f"sys.path.insert(0, {str(ROOT / 'papers')!r})",
        "import common",
        "def run(fewest, rows, args):",
        "    rows.get({'a': 1}, lambda: {'value': 2})",
        "    raise KeyboardInterrupt",
        "pages = lambda rows: {'page.md': [str(row['value']) for row in rows.rows.values()]}",
        f"common.DATA = pathlib.Path({str(tmp_path)!r})",
        "common.main(pathlib.Path('.'), common.parser(''), run, pages, None)",
    ]
    (tmp_path / "script.py").write_text("\n".join(lines))
    done = script(tmp_path / "script.py", "--fewest", fewest, "--out", tmp_path / "out")
    assert done.returncode == 130, done.stderr
    assert (tmp_path / "out" / "page.md").read_text() == "2\n"


def test_every_table_and_figure_has_its_row():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    parts = {
        "aytug2015": ["Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Figure 1", "Figure 2", "Figure 3"],
        "tamura2022": [f"Table {k}" for k in range(1, 10)],
        "gaudioso2017": [f"Table 4.{k}" for k in range(1, 12)],
        "krupka2016": ["Table 2.1", "Table 2.2", "Table 3.1", "Table 3.2", "Figure 2.1"],
        "tan2010": ["Table 1", "Table 2", "Table 3", "Table 4", "Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5"],
    }
    assert set(parts) == set(PAPERS)
    for paper, names in parts.items():
        section = page.split(f"## {paper}\n")[1].split("\n## ")[0]
        first = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
        assert not [name for name in names if name not in first], paper


@pytest.fixture(name="paired")
def the_comparisons(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "papers")
    import paired

    yield paired
    del sys.modules["paired"]


def test_a_claim_says_what_its_parts_bear(paired):
    yes, no, back, unsure, open_ = paired.OUTCOMES
    cases = {
        (yes, yes): "seen", (yes, open_): "seen", (yes, no): "partly", (yes, back): "partly", (yes, unsure): "partly",
        (no, no): "not seen", (no, back): "not seen", (no, unsure): "not seen", (back, unsure): "not seen",
        (back, back): "reversed", (unsure, unsure, open_): "undecided", (open_,): "not testable", (): "not testable",
    }  # fmt: skip
    for outcomes, state in cases.items():
        assert paired.state(outcomes) == state
        assert state in paired.STATES
    claim = paired.Claim(
        "A1", "a is better", "A is best.", "Table 1", paired.every("here", 4, 4), paired.every("there", 4, 5), why="Few sets."
    )
    assert claim.row() == [
        "A1", 'a is better "A is best."', "partly, 1 of 2", "*yes*: here: 4 of 4. *no*: there: 4 of 5. Few sets."
    ]  # fmt: skip


def test_a_table_has_the_state_of_all_parts_drawn_from_it(paired):
    good, bad = paired.every("a", 5, 5), paired.every("b", 4, 5)
    claims = [
        paired.Claim("A1", "", "", "Table 1, Table 2", good),
        paired.Claim("A2", "", "", "Table 2", bad),
        paired.Claim("A3", "", "", "Table 3", good, paired.left_open("c", "no time")),
        paired.Claim("A4", "", "", "Table 4", bad),
    ]
    told = [paired.Shown(f"Table {k}", "ours", "theirs").row(claims)[3:] for k in range(1, 6)]
    assert told[:4] == [
        ["same, 1 of 1", "A1."], ["partly, 1 of 2", "A1, A2."], ["partly, 1 of 1, 1 open", "A3."], ["not the same, 0 of 1", "A4."]
    ]  # fmt: skip
    assert told[4] == ["not testable", ""]
    assert paired.Shown("Table 5", "ours", "theirs", "No data", "not available").row(claims)[3:] == ["not available", "No data"]


def judged(paired, part):
    """The outcome of a part that is alone in its claim."""
    return paired.Claim("A1", "", "", "", part).parts[0].outcome


def test_a_part_has_a_margin_and_may_be_reversed(paired):
    measure = paired.Measure("points", 1.0)
    pair = lambda mean, spread, n=10: paired.Paired([mean + spread * (-1) ** k for k in range(n)], [0.0] * n)
    outcome = lambda test, found, **how: judged(paired, test("a", found, measure, **how))
    assert [outcome(paired.more, found) for found in (pair(3, 1), pair(-3, 1), pair(0.1, 0.5), pair(1, 5))] == [
        "yes", "reversed", "no", "undecided"
    ]  # fmt: skip
    assert outcome(paired.more, pair(-3, 1), claimed=-1) == "yes"
    # "Much": at least 5. 3 is more, but not much; 6 is.
    assert [outcome(paired.more, pair(mean, 1), by=5) for mean in (8, 3, -3)] == ["yes", "no", "reversed"]
    # A difference that is not significant is no proof of none.
    assert [outcome(paired.as_good, found) for found in (pair(0, 0.5), pair(-0.9, 5), pair(-3, 1), pair(2, 1))] == [
        "yes", "undecided", "reversed", "yes"
    ]  # fmt: skip
    assert [outcome(paired.same, found) for found in (pair(0, 0.5), pair(0, 5), pair(-3, 1), pair(3, 1))] == [
        "yes", "undecided", "reversed", "reversed"
    ]  # fmt: skip
    assert outcome(paired.more, pair(3, 0.1, 4)) == outcome(paired.more, None) == "open"
    count = lambda *found: judged(paired, paired.every("a", *found))
    assert [count(10, 10), count(9, 10), count(0, 10), count(0, 0)] == ["yes", "no", "reversed", "open"]
    assert judged(paired, paired.none("a", 0, 10)) == "yes"
    assert [judged(paired, paired.wins("a", *found)) for found in ((20, 2, 30), (2, 20, 30), (6, 4, 12), (50, 50, 400))] == [
        "yes", "reversed", "undecided", "no"
    ]  # fmt: skip


def test_one_rule_for_limits(paired):
    reach = lambda proven, ours: judged(paired, paired.out_of_reach("a", proven, 10, ours, 1000, ""))
    assert [reach(0, 60), reach(0, 1000), reach(10, 60), reach(1, 1000)] == ["open", "yes", "reversed", "no"]


def test_parts_of_a_claim_are_corrected_for_their_number(paired):
    assert paired.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    pair = paired.Paired([1.0, 2.0, 0.2, 1.5, 0.1, 0.9], [0.0] * 6)
    alone = pair.p
    assert 0.01 < alone < 0.05
    part = lambda: paired.more("a", pair, paired.Measure("", 0.01))
    assert judged(paired, part()) == "yes"
    five = paired.Claim("A1", "", "", "", *(part() for _ in range(5)))
    assert five.outcomes == ["undecided"] * 5
    assert f"p {paired.p_text(5 * alone)}" in five.row()[3]


def test_a_paired_comparison_is_the_t_test_of_the_differences(paired):
    stats = pytest.importorskip("scipy.stats")
    a, b = [1.0, 2.5, 3.0, 4.25, 4.0], [0.5, 2.0, 3.25, 3.0, 3.0]
    pair, test = paired.Paired(a, b), stats.ttest_rel(a, b)
    assert (pair.t, pair.p) == pytest.approx((test.statistic, test.pvalue))
    assert pair.interval == pytest.approx(tuple(test.confidence_interval()))
    assert (pair.more, pair.equal, pair.less) == (4, 0, 1)
    corrected = paired.Paired(a, b, share=1 / 4)
    assert corrected.error == pytest.approx(pair.error * (1 + 5 / 4) ** 0.5)
    assert paired.Paired([1, 1], [1, 1]).sign() == 0
    apart, welch = paired.Apart(a, b[:4]), stats.ttest_ind(a, b[:4], equal_var=False)
    assert (apart.t, apart.p) == pytest.approx((welch.statistic, welch.pvalue))


def test_sets_are_strata_and_cases_of_a_seed_are_one(paired):
    # Two sets far apart: the spread between them is no error of the mean over these two.
    a, sets = [10.0, 11.0, 12.0, 0.0, 1.0, 2.0], ["x"] * 3 + ["y"] * 3
    strata = paired.Paired(a, [0.0] * 6, strata=sets)
    assert strata.mean == pytest.approx(6.0)
    assert strata.error == pytest.approx((1 / 3 + 1 / 3) ** 0.5 / 2)
    assert strata.df == pytest.approx(4.0)
    assert strata.error < paired.Paired(a, [0.0] * 6).error / 4
    values = {(seed, copy): seed + 0.01 * copy for seed in range(5) for copy in range(3)}
    zero = dict.fromkeys(values, 0.0)
    assert paired.on_cases(values, zero).n == 15
    assert paired.on_cases(values, zero, cluster=lambda case: case[0]).n == 5


def test_a_changed_row_changes_the_word(common, paired, monkeypatch):
    """The state of a claim on the page is that of the rows: RFE's test errors made larger and smaller turn A1."""
    monkeypatch.syspath_prepend(ROOT / "papers" / "aytug2015")
    for name in ("claims", "tables", "methods"):
        sys.modules.pop(name, None)
    import claims

    rows = common.Rows(ROOT / "papers" / "aytug2015" / "results")
    before = claims.claims(rows)[0]
    page = (ROOT / "docs" / "reproduction.md").read_text()
    assert f"| {before.row()[1]} | {before.row()[2]} |" in page
    for by, state in ((0.1, "seen"), (-0.2, "reversed")):
        for row in rows.rows.values():
            if row["key"]["problem"].startswith("1/") and row["key"]["method"] == "RFE":
                row["test_error"] += by
        assert claims.claims(rows)[0].state == state
    for name in ("claims", "tables", "methods"):
        sys.modules.pop(name, None)


def test_the_summary_agrees_with_the_states():
    """docs/reproduction.md: what it says the papers got right is seen, what wrong is not."""
    page = (ROOT / "docs" / "reproduction.md").read_text()
    states = {}
    for line in page.splitlines():
        cells = line.split(" | ")
        if len(cells) > 3 and re.fullmatch(r"\| [A-Z]\d+", cells[0]):
            states[cells[0][2:]] = cells[2].split(",")[0]
    assert len(states) > 80
    summary = page.split("## What the papers got right and wrong")[1].split("<!--")[0]
    allowed = {
        "Holds": {"seen"}, "Half holds": {"partly"}, "Does not hold": {"reversed", "not seen"}, "Open": {"undecided", "not testable"}
    }  # fmt: skip
    points = summary.split("\n- **")[1:]
    assert [point.split("**")[0] for point in points] == list(allowed)
    for point in points:
        named = re.findall(r"\b([ATGKF]\d+)\b", point)
        assert named
        assert {claim: states[claim] for claim in named if states[claim] not in allowed[point.split("**")[0]]} == {}


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA}: FEWEST_DATA names the folder")
def test_the_data_are_those_of_the_digests(tmp_path):
    sets = ("zoo.csv", "leukemia_golub_train.csv.gz", "duke_breast.svm.gz")
    done = script(ROOT / "data" / "prepare.py", DATA, "--check", "--only", *sets)
    assert done.returncode == 0, done.stdout + done.stderr
    # One value changed is found.
    (tmp_path / "zoo.csv").write_text((DATA / "zoo.csv").read_text().replace("\n1,", "\n2,", 1))
    done = script(ROOT / "data" / "prepare.py", tmp_path, "--check", "--only", "zoo.csv")
    assert done.returncode == 1
    assert "NOT the data" in done.stdout
