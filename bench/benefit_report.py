"""Tables and picture of bench/benefit.py."""

import json


def rows(path):
    """The rows of a file; of those of one place the last."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        found[key(row)] = row
    return list(found.values())


def key(row):
    return row["set"], row["method"], row["size"], row["repeat"], row["fold"]


def write(path, sets, ours):
    pass
