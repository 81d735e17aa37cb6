"""A column file larger than the memory of all Dask workers together: the result of one process, memory, a worker killed and one joined.

Makes a set with `fewest generate text` into a .csc file, or takes one that is there. `fgm` and `l1-svm` (squared hinge): on the file in this
process, then on its shards over a scheduler and workers, each started by Dask's command with so much memory (at 95 % of it the nanny kills its
worker); then with one machine killed (SIGKILL to worker and nanny) as a round begins, and another joined two rounds later. Largest resident memory of each worker is read every 50 ms from /proc: all of it, and what is memory
of the process without mapped pages of the file.

Runs in an environment with fewest[dask] and psutil.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import common as c
from on_dask import fitted

MEASURED = ("VmRSS", "RssAnon", "RssFile")


class Watch(threading.Thread):
    """Largest resident bytes of each worker."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.most, self.processes, self.going = client, {}, {}, True

    def run(self):
        while self.going:
            for pid in list(self.processes):
                try:
                    with open(f"/proc/{pid}/status") as f:
                        for line in f:
                            key, _, rest = line.partition(":")
                            if key in MEASURED:
                                most = self.most.setdefault(pid, dict.fromkeys(MEASURED, 0))
                                most[key] = max(most[key], 1024 * int(rest.split()[0]))
                except (FileNotFoundError, ProcessLookupError):
                    del self.processes[pid]
            time.sleep(0.05)

    def begin(self):
        self.most, self.processes = {}, dict.fromkeys(self.client.run(os.getpid).values())

    def mib(self, key):
        return [round(most[key] / 2**20) for most in self.most.values()]


class Machines:
    """A scheduler and workers with their nannies, each by Dask's own command in a session of its own."""

    def __init__(self, memory, folder):
        self.memory, self.folder, self.file, self.started = memory, folder, folder / "scheduler.json", []
        self.file.unlink(missing_ok=True)
        self.command("scheduler", "--port", "0", "--no-dashboard")
        while not self.file.exists():
            time.sleep(0.1)

    def command(self, what, *options):
        words = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file), *options]
        with open(self.folder / f"{what}{len(self.started)}.log", "w") as log:
            self.started.append(subprocess.Popen(words, start_new_session=True, stdout=log, stderr=log))
        return self.started[-1]

    def join(self):
        options = ["--nthreads", "1", "--memory-limit", self.memory, "--no-dashboard", "--local-directory", str(self.folder)]
        return self.command("worker", *options)

    def kill(self, pid):
        """The machine of this process: its nanny, too, so that no other comes in its place."""
        os.killpg(os.getsid(pid), signal.SIGKILL)

    def end(self):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def dying_and_joining(machines, client, watch, number):
    """Kills a machine as this round begins, and has another join two rounds later; returns what happened, and an end of it."""
    from fewest.dask import Source

    begin, happened = Source._begin, {}

    def watched(source):
        begin(source)
        if len(source.rounds) == number and "killed" not in happened:
            address, shards = max(client.has_what().items(), key=lambda has: len(has[1]))
            happened["killed"], happened["it held"] = client.run(os.getpid)[address], len(shards)
            machines.kill(happened["killed"])
        if len(source.rounds) == number + 2 and "joined" not in happened:
            before = set(client.ncores())
            machines.join()
            while not (new := set(client.ncores()) - before):
                time.sleep(0.1)
            happened["joined"] = new.pop()
            watch.processes[client.run(os.getpid)[happened["joined"]]] = None

    Source._begin = watched
    return happened, lambda: setattr(Source, "_begin", begin)


def main():
    a = c.arguments(
        __doc__,
        file=("", "a column file that is there already"),
        samples=(1_400_000, "documents"),
        words=(10_000_000, "words"),
        workers=(4, "workers, one thread each"),
        memory=("1.5GiB", "memory of each"),
        here=(2 << 30, "bytes of the file that may stay in memory of the one process"),
        features=(100, "B of fgm"),
        gap=(1e-3, "relative gap"),
        methods=(["fgm", "l1-svm"], "methods"),
        round=(3, "round in which a worker is killed"),
        name=("on_dask_disk", "of the results"),
        note=("", "what else was running"),
    )
    from distributed import Client

    from fewest import ColumnFile, FeatureGeneratingMachine, L1SVMSelector
    from fewest.dask import Shards

    path = c.pathlib.Path(a.file or c.CACHE / "larger.csc")
    if not path.exists():
        sizes = ["--samples", a.samples, "--words", a.words, "--memory", "2G"]
        command = [c.TARGET / "release" / "fewest", "generate", "text", *sizes, "--out", path]
        subprocess.run([str(word) for word in command], check=True)
    made_of = {
        "fgm": lambda: FeatureGeneratingMachine(subset_size=a.features, C=1.0, fit_intercept=False, gap=a.gap, n_jobs=1),
        "l1-svm": lambda: L1SVMSelector(C=1.0, loss="squared_hinge", fit_intercept=False, gap=a.gap, tol=a.gap, n_jobs=1),
    }
    rows, here = [], {}
    start = time.perf_counter()
    file = ColumnFile(path, max_memory=a.here)
    opening = time.perf_counter() - start
    for name in a.methods:
        here[name], row = fitted(f"{name}, one process", made_of[name](), file, file.target)
        rows.append(row)
        print(row, flush=True)
    shape, stored = file.shape, file.nnz
    del file
    c.CACHE.mkdir(parents=True, exist_ok=True)
    machines = Machines(a.memory, c.CACHE)
    try:
        [machines.join() for _ in range(a.workers)]
        client = Client(scheduler_file=str(machines.file))
        client.wait_for_workers(a.workers)
        watch = Watch(client)
        watch.start()
        memory = lambda: {f"{key} MiB": watch.mib(key) for key in MEASURED}
        watch.begin()
        time.sleep(0.5)
        empty = watch.mib("VmRSS")
        start = time.perf_counter()
        shards = Shards.from_files([path])
        mapping = time.perf_counter() - start
        mapped = memory()
        for name in a.methods:
            watch.begin()
            _, row = fitted(f"{name}, Dask", made_of[name](), shards, None, (here[name],), client)
            rows.append(row | memory())
            print(rows[-1], flush=True)
            watch.begin()
            happened, end = dying_and_joining(machines, client, watch, a.round)
            what = f"{name}, Dask, a worker killed in round {a.round}, one joined in round {a.round + 2}"
            _, row = fitted(what, made_of[name](), shards, None, (here[name],), client)
            end()
            has = {address: sum("shard" in str(key) for key in keys) for address, keys in client.has_what().items()}
            rows.append(row | memory() | {"it held": happened["it held"], "the one that joined has": has.get(happened.get("joined"))})
            print(rows[-1], flush=True)
        watch.going = False
        left = len(client.ncores())
        client.close()
    finally:
        machines.end()
    columns = [name for name in rows[-1] if name != "off first on Dask"]
    c.save(
        a.name,
        rows,
        columns,
        {
            "n, p, values": [*shape, stored],
            "file MiB": path.stat().st_size / 2**20,
            "workers, memory of each": [a.workers, a.memory],
            "workers at the end": left,
            "opening and checking in one process, s": opening,
            "cutting into shards and checking on the workers, s": mapping,
            "shards": len(shards.futures),
            "MiB of each worker before": empty,
            "and while it made its shards": [f"{key} {value}" for key, value in mapped.items()],
            "load at the end": list(os.getloadavg()),
            "note": a.note,
        },
    )
    for row in rows:
        assert all(bits == "yes" for bits in row["same bits as these"] or []), row


if __name__ == "__main__":
    main()
