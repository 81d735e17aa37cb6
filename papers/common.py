"""The frame of the five scripts: the command, its rows, the tables. Standard library only.

A run is one line: {"key": ..., "run": ..., and what was found}. While a script runs, a line goes into
`rows.jsonl` as soon as it is there; at its end all lines are in `rows.jsonl.xz`, which is in git.

key  what was asked, as a dictionary: the data, the method, its options, its limit - all that
     decides the answer. A row answers this question and no other: an option whose default has
     changed since is spelt out, so that older rows answer no more.
run  how it was found: commit of these scripts, hash of the binary, its version, every command
     line, seed where there is one, CPU seconds, load of the machine at the start, processor.
     Older rows have null: commit, binary and command lines are unknown.

A script names what it asks and what its pages are; `main` here runs what is missing, and writes
pages and README from the rows, after Ctrl-C too.
"""

import argparse
import collections
import hashlib
import json
import lzma
import os
import pathlib
import platform
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEWEST_DATA", ROOT.parent / "shared" / "data"))


class Failed(Exception):
    """A command that gave no result."""


def processor():
    """Name of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def cpu_seconds():
    """CPU seconds of this process and of those it started that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def commit():
    """Commit of these scripts; with + where papers/ has other changes."""
    ask = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = ask("status", "--porcelain", "--untracked-files=no", "--", "papers/*.py")
    return (ask("rev-parse", "--short=10", "HEAD") or "unknown") + ("+" if changed else "")


class Fewest:
    """The binary, one thread."""

    def __init__(self, path):
        self.path = str(path)
        self.commands = []
        self.version = self.text("--version").split()[-1]
        self.hash = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:12]
        self.methods = {m["name"] for m in json.loads(self.text("methods", "--json", "-"))["methods"]}

    def text(self, *words, codes=(0,), patience=7200):
        """Standard output of a command that ends with one of these exit codes."""
        words = [str(word) for word in words]
        self.commands.append(" ".join(["fewest", *words]))
        try:
            done = subprocess.run([self.path, *words], capture_output=True, text=True, timeout=patience)
        except subprocess.TimeoutExpired:
            raise Failed(f"no answer after {patience} s: {self.commands[-1]}") from None
        if done.returncode not in codes:
            raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def json(self, *words, codes=(0,)):
        """What a command says in JSON."""
        return json.loads(self.text(*words, "--json", "-", "--quiet", codes=codes))

    def select(self, data, *words):
        """The result of `fewest select`, finished or stopped at a limit."""
        return self.json("select", data, *words, "--threads", 1, codes=(0, 3))

    def judged(self, result, data, folder):
        """Share of the samples of a file that the classifier of a result has right."""
        model = pathlib.Path(folder) / "judged.json"
        model.write_text(json.dumps(result))
        scored = self.json("predict", model, data, "--out", os.devnull)
        return scored["right"] / scored["scored"]


def gap(row):
    """What is open, as a share of the objective: the gap of all pages, whatever the binary's own. None without both."""
    objective, bound = row.get("objective"), row.get("bound")
    return None if None in (objective, bound) else abs(objective - bound) / max(abs(objective), 1e-10)


def name_of(key):
    """The key as text: what rows are told apart by. 60 and 60.0 are one."""
    same = lambda value: int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps({field: same(value) for field, value in key.items()}, sort_keys=True)


def line_of(row):
    """The line of a row."""
    return json.dumps(row, ensure_ascii=False) + "\n"


class Rows:
    """The rows of a folder: those of rows.jsonl.xz, then those of rows.jsonl, the last of a key counts."""

    def __init__(self, folder, fewest=None):
        self.path, self.packed, self.fewest = folder / "rows.jsonl", folder / "rows.jsonl.xz", fewest
        packed = lzma.decompress(self.packed.read_bytes()).decode() if self.packed.exists() else ""
        text = self.path.read_text() if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text and fewest:  # half a line, which a run that was killed has left
            self.path.write_text(whole)
        self.rows = {}
        for row in map(json.loads, (packed + whole).splitlines()):
            self.rows[name_of(row["key"])] = row
        self.about, self.asked = None, set()

    def drop(self):
        """Drops the rows that nothing has asked for; says how many."""
        gone = [name for name in self.rows if name not in self.asked]
        for name in gone:
            del self.rows[name]
        self.packed.unlink(missing_ok=True)
        self.path.write_text("".join(map(line_of, self.rows.values())))
        return len(gone)

    def pack(self):
        """Moves the lines of rows.jsonl into rows.jsonl.xz; reads both again, for rows of another run."""
        if not self.path.exists():
            return
        lines = [line_of(row) for row in Rows(self.path.parent).rows.values()]
        new = self.packed.with_suffix(".new")
        new.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
        new.replace(self.packed)
        self.path.unlink()

    def find(self, key):
        """The row of a key, None without one or where it failed."""
        row = self.rows.get(name_of(key))
        return None if row is None or "failed" in row else row

    def where(self, **fields):
        """The rows whose keys have these fields."""
        return [r for r in self.rows.values() if "failed" not in r and all(r["key"].get(f) == v for f, v in fields.items())]

    def get(self, key, make, needs=None):
        """The row of a key; `make` gives it where there is none, or one that failed, or an older one
        without the field it needs.
        """
        self.asked.add(name_of(key))
        if (known := self.find(key)) is not None and (needs is None or needs in known):
            return known
        if self.about is None:
            self.about = {"commit": commit(), "binary": self.fewest.hash, "version": self.fewest.version, "processor": processor()}
        run = self.about | {"load": round(os.getloadavg()[0], 2)}
        self.fewest.commands.clear()
        start = cpu_seconds()
        try:
            found = make()
        except Failed as error:
            found = {"failed": str(error)}
        # Folders that are gone afterwards have names that say nothing.
        run["commands"] = [line.replace(tempfile.gettempdir() + "/", "").replace(f"{DATA}/", "") for line in self.fewest.commands]
        run["cpu"] = round(cpu_seconds() - start, 3)
        run |= {"seed": key["seed"]} if "seed" in key else {}
        row = {"key": key, "run": run, **found}
        self.rows[name_of(key)] = row
        with open(self.path, "a") as file:
            file.write(line_of(row))
        said = {k: row[k] for k in ("status", "objective", "seconds", "accuracy", "failed", "refused") if row.get(k) is not None}
        print(*key.values(), said, flush=True)
        return row


def table(head, rows):
    """Lines of a table."""
    rows = [row for row in rows if row]
    return [
        "| " + " | ".join(map(str, head)) + " |",
        "|" + " --- |" * len(head),
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
        "",
    ]


def number(value, digits=4, sign=""):
    """A number as text, 0 without a minus; - without one."""
    text = "-" if value is None or value != value else f"{value:{sign}.{digits}f}"
    return text.replace("-", "") if text.strip("-0.") == "" and text != "-" else text


def mean(values):
    """The mean; None of nothing or where one is missing."""
    values = list(values)
    return statistics.fmean(values) if values and None not in values else None


def spread(values, digits=2, scale=1.0):
    """Mean and standard deviation."""
    if not values:
        return "-"
    more = f" ± {scale * statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{scale * statistics.fmean(values):.{digits}f}{more}"


def shared(done):
    """What a mean may be over. `done`: the cases of each method. Returns the methods with at least
    half of the cases that any method has, the cases that all of these have, and a line about it.
    """
    most = max(map(len, done.values()), default=0)
    kept = [method for method, cases in done.items() if cases and 2 * len(cases) >= most]
    common = set.intersection(*(set(done[m]) for m in kept)) if kept else set()
    said = f"Over the {len(common)} cases that all columns have."
    if few := [f"{m} ({len(cases)} of {most})" for m, cases in done.items() if m not in kept]:
        said += f" Left out, with a result on less than half of them: {', '.join(few)}."
    return kept, common, said


def source(rows, where):
    """The line below a table: where its rows are, and how many of them are older."""
    older = sum(row["run"] is None for row in rows)
    said = f"{len(rows)} rows of [rows.jsonl.xz](rows.jsonl.xz): {where}"
    return [said + (f"; {older} of them older, commit unknown." if older else "."), ""]


def about(rows):
    """What the rows of a page say of themselves."""
    told = [row["run"] for row in rows if row["run"]]
    named = lambda field: ", ".join(sorted({str(run[field]) for run in told})) or "-"
    lines = [f"{len(rows)} rows, {len(rows) - len(told)} of them older (commit, binary and command lines unknown)."]
    if told:
        lines += [
            f"The others: commit {named('commit')}; binary {named('binary')}; {named('processor')}; one thread; "
            f"{sum(run['cpu'] for run in told) / 60:.1f} CPU minutes in all; load of the machine "
            f"{min(run['load'] for run in told):.1f} to {max(run['load'] for run in told):.1f}."
        ]
    return [*lines, ""]


def cost(rows):
    """CPU minutes that rows took; of older ones the seconds that their solves say."""
    used = [row["run"]["cpu"] if row["run"] else (row.get("seconds") or 0) + (row.get("nested_seconds") or 0) for row in rows]
    return sum(used) / 60


def kind_of(key):
    """What a row is, in a word or two: its part and method."""
    part = key.get("part") or (f"experiment {key['problem'][0]}" if "problem" in key else "")
    return " ".join(filter(None, [part, key.get("method")]))


def machine_time():
    """The table of docs/reproduction.md: what all rows cost, and which of them are older."""
    body = []
    for path in sorted((ROOT / "papers").glob("*/results")):
        every = list(Rows(path).rows.values())
        told = [row["run"]["cpu"] for row in every if row["run"]]
        older = collections.Counter(kind_of(row["key"]) for row in every if not row["run"])
        listed = ", ".join(f"{kind} ({count})" for kind, count in sorted(older.items())) or "-"
        body.append([path.parent.name, len(every), len(told), f"{sum(told) / 60:.0f}", sum("failed" in row for row in every), sum(older.values()), listed])
    head = ["paper", "rows", "with commit and command", "CPU minutes of these", "failed", "older", "which these are"]
    return "\n".join(table(head, body))


def filled(text, blocks, others=False):
    """A page with its marked blocks filled: <!-- rows: name --> ... <!-- end -->. With `others` the
    page has blocks of other scripts, which stay.
    """
    marked = re.compile(r"(<!-- rows: ([\w-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)
    found = {name for _, name, _, _ in marked.findall(text)}
    if found != set(blocks) and not (others and found >= set(blocks)):
        raise ValueError(f"blocks of the page: {sorted(found)}; of the rows: {sorted(blocks)}")
    filling = lambda at: f"\n{blocks[at[2]].strip()}\n" if at[2] in blocks else at[3]
    return marked.sub(lambda at: at[1] + filling(at) + at[4], text)


def written(path, lines, check):
    """Writes a page, or says whether it stands as it would be written."""
    text = "\n".join(lines).rstrip() + "\n"
    same = path.exists() and path.read_text() == text
    if not check and not same:
        path.write_text(text)
        print(f"wrote {path}")
    return same


def data(*name):
    """A file of the data folder, or the folder; the script ends where there is no such folder. Generated data need none."""
    if not DATA.is_dir():
        sys.exit(f"there is no folder {DATA}; name the one with the data in FEWEST_DATA")
    return DATA.joinpath(*name)


def parser(doc):
    """The options that all scripts have."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    out = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    out.add_argument("--fewest", default=str(target / "release" / "fewest"), help="the binary [default: %(default)s]")
    out.add_argument("--only", action="append", default=[], help="a part; repeat freely [default: all]")
    out.add_argument("--out", help="folder of the results [default: results beside the script; .quick with --quick]")
    out.add_argument("--quick", action="store_true", help="a few of each kind in seconds, to see that all works")
    out.add_argument(
        "--fresh", action="store_true", help="all runs anew, into .fresh beside the script; says before how long that takes"
    )
    out.add_argument("--print", action="store_true", help="only print the pages, as the stored rows have them")
    out.add_argument("--tables", action="store_true", help="only write pages and README again")
    out.add_argument("--drop", action="store_true", help="drop the stored rows that a whole run asks for no more")
    out.add_argument("--check", action="store_true", help="only say whether pages and README are as the rows have them")
    return out


FRAME = ("help", "fewest", "only", "out", "quick", "fresh", "print", "tables", "drop", "check")


def command(here, options):
    """The command of a script with all that decides its rows: its own options, at their defaults."""
    told = [f"papers/{here.name}/run.py"]
    for action in options._actions:
        if action.dest not in FRAME and action.default not in (None, False):
            values = action.default if isinstance(action.default, (list, tuple)) else [action.default]
            told += [action.option_strings[-1], *(f"{value:g}" if isinstance(value, float) else str(value) for value in values)]
    return " ".join(told)


def states(text):
    """The table of docs/reproduction.md: how many claims of each paper have each state, as its lists say."""
    from paired import STATES as kinds  # which needs scipy

    body = []
    for paper, listed in re.findall(r"<!-- rows: claims-(\w+) -->(.*?)<!-- end -->", text, re.DOTALL):
        found = [line.split(" | ")[2].split(",")[0] for line in listed.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]
        body.append([paper, len(found), *map(found.count, kinds)])
    body.append(["all", *(sum(row[k] for row in body) for k in range(1, len(kinds) + 2))])
    return "\n".join(table(["paper", "claims", *kinds], body))


def main(here, options, run, pages, blocks, claims=None, shown=lambda: ()):
    """A script: `run(fewest, rows, args)` asks what is missing, `pages(rows)` gives the lines of
    each page by file name, `blocks(rows)` the numbers of the README by name, `claims(rows)` the
    claims of the paper ([`paired.Claim`]) and `shown()` its tables and figures ([`paired.Shown`]),
    which docs/reproduction.md lists.
    """
    args = options.parse_args()
    out = pathlib.Path(args.out or here / (".quick" if args.quick else ".fresh" if args.fresh else "results"))
    out.mkdir(parents=True, exist_ok=True)
    if args.print:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # into `head`
        for lines in pages(Rows(out)).values():
            print("\n".join(lines).rstrip() + "\n")
        return
    only_write = args.tables or args.check
    if args.drop and (args.only or args.quick or only_write):
        sys.exit("--drop goes with a whole run")
    if args.fresh:
        stored, there = Rows(here / "results").rows.values(), len(Rows(out).rows)
        print(
            f"python {command(here, options)}: {len(stored)} rows, about {cost(stored):.0f} CPU minutes; {there} are there in {out}",
            flush=True,
        )
    if not only_write and not pathlib.Path(args.fewest).is_file():
        sys.exit(f"{args.fewest} is missing: cargo build --release -p fewest-cli, or name the binary with --fewest PATH")
    rows = Rows(out, None if only_write else Fewest(args.fewest))
    # A run that is ended from outside writes what there is, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stopped = False
    try:
        if not only_write:
            run(rows.fewest, rows, args)
            if args.drop:
                print(f"dropped {rows.drop()} rows that this run did not ask for")
    except KeyboardInterrupt:
        stopped = True
        print("interrupted; the same command goes on from here")
    finally:
        if not only_write:
            rows.pack()
        told = {path: lines for name, lines in pages(rows).items() if lines for path in [out / name]}
        same = [written(path, lines, args.check) for path, lines in told.items()]
        if out.resolve() == (here / "results").resolve():
            page = here / "README.md"
            same.append(written(page, [filled(page.read_text(), blocks(rows))], args.check))
            page = ROOT / "docs" / "reproduction.md"
            told = {"time": machine_time()}
            if claims:
                drawn = claims(rows)
                head = ["", "claim, and the paper's words", "state", "its parts"]
                told[f"claims-{here.name}"] = "\n".join(table(head, [claim.row() for claim in drawn]))
                head = ["part", "ours", "the paper's", "state", "claims"]
                told[f"parts-{here.name}"] = "\n".join(table(head, [part.row(drawn) for part in shown()]))
            text = filled(page.read_text(), told, others=True)
            same.append(written(page, [filled(text, {"states": states(text)}, others=True)], args.check))
    failed = sum("failed" in row for row in rows.rows.values())
    if failed:
        print(f"{failed} rows are of runs that failed; the same command tries them again")
    if args.check and not all(same):
        sys.exit("pages or README are not as the rows have them: run with --tables")
    if stopped:
        sys.exit(130)
