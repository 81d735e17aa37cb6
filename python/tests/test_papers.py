"""The scripts of papers/: a few runs of each, the rows they write, and the pages made of them."""

import json
import lzma
import os
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
    cases = {
        (1, 1): "seen", (1, None): "seen", (1, 0): "partly", (1, -1): "partly", (0, 0): "not seen",
        (0, -1): "not seen", (-1, -1): "reversed", (None,): "not testable", (): "not testable",
    }  # fmt: skip
    for signs, state in cases.items():
        assert paired.state(signs) == state
    claim = paired.Claim("a is better", ("here", True, "4 of 5"), ("there", False, "1 of 5"), why="Few sets.")
    assert claim.row() == ["a is better", "partly", "here: 4 of 5. there: 1 of 5. Few sets."]


def test_a_paired_comparison_is_the_t_test_of_the_differences(paired):
    stats = pytest.importorskip("scipy.stats")
    a, b = [1.0, 2.5, 3.0, 4.25, 4.0], [0.5, 2.0, 3.25, 3.0, 3.0]
    pair, test = paired.Paired(a, b), stats.ttest_rel(a, b)
    assert (pair.t, pair.p) == pytest.approx((test.statistic, test.pvalue))
    assert (pair.more, pair.equal, pair.less) == (4, 0, 1)
    corrected = paired.Paired(a, b, share=1 / 4)
    assert corrected.error == pytest.approx(pair.error * (1 + 5 / 4) ** 0.5)
    assert paired.compared("a", paired.Paired([2, 3, 2.5], [1, 2, 1.25]), claimed=-1)[1] == -1
    assert paired.Paired([1, 1], [1, 1]).sign() == 0


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
