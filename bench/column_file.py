"""A column file larger than --memory: the same features as in memory, and how much memory it took.

Makes a set with `fewest generate text` straight into a .csc file (that takes 28 bytes a value while it is made), then runs fgm on it twice:
with --memory as small as asked, and with all of the matrix allowed to stay. VmHWM counts mapped pages of the file as well as memory of the
process; RssAnon is that memory alone. Both are read every 20 ms from /proc, VmHWM at the last reading.
"""
import json
import subprocess
import time

import common as c


def watched(words):
    """Seconds, largest VmHWM and RssAnon (bytes) and largest RssFile of a command."""
    start = time.perf_counter()
    child = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL)
    most = {"VmHWM": 0, "RssAnon": 0, "RssFile": 0}
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as f:
                for line in f:
                    key, _, rest = line.partition(":")
                    if key in most:
                        most[key] = max(most[key], 1024 * int(rest.split()[0]))
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(0.02)
    assert child.wait() == 0, words
    return time.perf_counter() - start, most


def main():
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        file=("", "a column file that is there already"),
        samples=(130_000, "documents"),
        words=(1_000_000, "words"),
        length=(3000, "draws a document"),
        features=(20, "B"),
        memory=("1G", "the smaller --memory"),
        large=("20G", "the larger one"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    fewest = c.TARGET / "release" / "fewest"
    path = c.pathlib.Path(a.file or c.CACHE / "large.csc")
    if not path.exists():
        c.CACHE.mkdir(parents=True, exist_ok=True)
        sizes = ["--samples", a.samples, "--words", a.words, "--length", a.length, "--memory", a.large]
        c.subprocess.run([str(w) for w in (fewest, "generate", "text", *sizes, "--out", path)], check=True)
    rows = []
    for memory in (a.memory, a.large):
        out = c.CACHE / "column_file.json"
        c.CACHE.mkdir(parents=True, exist_ok=True)
        words = [fewest, "select", path, "-m", "fgm", "--max-features", a.features, "--cost", 1, "--gap", "1e-3", "--scale", "none", "--threads", 1]
        seconds, most = watched([*words, "--memory", memory, "--quiet", "--json", out])
        found = json.loads(out.read_text())
        mib = lambda key: round(most[key] / 2**20)
        rows.append(
            {
                "--memory": memory,
                "file MiB": round(path.stat().st_size / 2**20),
                "features": len(found["selected"]),
                "objective": found["objective"],
                "gap": found["gap"],
                "select s": found["seconds"],
                "whole s": seconds,
                "VmHWM MiB": mib("VmHWM"),
                "RssAnon MiB": mib("RssAnon"),
                "RssFile MiB": mib("RssFile"),
                "selected": found["selected_indices"],
            }
        )
    same = rows[0]["selected"] == rows[1]["selected"]
    c.save("column_file", rows, [k for k in rows[0] if k != "selected"], {"same features": same, "note": a.note or "nothing else on the core"})
    assert same


if __name__ == "__main__":
    main()
