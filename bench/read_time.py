"""Reading a generated svmlight file of 100 MB against sklearn.datasets.load_svmlight_file. One command: `make bench-read`.

Ours is timed in-process by `fewest-bench read`, with all threads (reading is parallel) and with one; both readers take the file
from the page cache, which a first read fills. The matrices are compared: same shape, same number of values, same sum. Peak
memory is that of the whole process, beside the bytes of the finished matrix.
"""
import os
import subprocess

import numpy as np
from sklearn.datasets import load_svmlight_file

import common as c


def generate(path, megabytes, seed=0):
    """Rows of about 100 of 50 000 features with four decimals, until the file has this size."""
    r = np.random.default_rng(seed)
    part = path.with_suffix(".part")
    with open(part, "w") as f:
        while f.tell() < megabytes * 1_000_000:
            lines = []
            for _ in range(500):
                columns = np.unique(r.integers(1, 50_001, 100))
                values = r.standard_normal(len(columns))
                cells = " ".join(f"{j}:{x:.4f}" for j, x in zip(columns, values))
                lines.append(f"{'+1' if r.random() < 0.5 else '-1'} {cells}\n")
            f.write("".join(lines))
    os.replace(part, path)


def main():
    a = c.arguments(__doc__, megabytes=(100, "size of the file"))
    c.build()
    c.CACHE.mkdir(parents=True, exist_ok=True)
    path = c.CACHE / f"read_{a.megabytes}.svm"
    if not path.exists():
        generate(path, a.megabytes)
    (X, _), theirs = c.repeat(lambda: load_svmlight_file(str(path)), 3, 60)
    X.eliminate_zeros()  # written as 0.0000; ours never stores them
    rows = []
    for threads in (os.cpu_count(), 1):
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        words = [str(c.BINARY), "read", str(path), "--repeats", "5", "--seconds", "60"]
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        found = c.json.loads(done.stdout)
        if (found["n"], found["stored"]) != (X.shape[0], X.nnz) or abs(found["sum"] - X.sum()) > 1e-6 * abs(X).sum():
            raise RuntimeError(f"the matrices differ: {found} against {X.shape}, {X.nnz} values, sum {X.sum()}")
        rows.append(
            {
                "threads": threads,
                "ours s": min(found["seconds"]),
                "sklearn s": min(theirs),
                "ratio": min(found["seconds"]) / min(theirs),
                "matrix MB": found["data_bytes"] / 1e6,
                "peak of one read MB": found["first_peak_bytes"] / 1e6,
                "peak / matrix": found["first_peak_bytes"] / found["data_bytes"],
            }
        )
    c.save("read_time", rows, list(rows[0]), {"file MB": path.stat().st_size / 1e6})


if __name__ == "__main__":
    main()
