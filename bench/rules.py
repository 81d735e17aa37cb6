"""`fgm` with rules on a million features: seconds of a pass with its most violated subset, and of the whole run.

Makes a bag of words (`fewest generate text`), random costs of 0.5 to 2 and random groups of ten, then runs `fgm` under groups, a budget,
both, and implications (nine of each ten need the first). CPU seconds are those of the whole command, reading of data and rules included.
"""
import json
import random
import resource
import subprocess
import time

import common as c


def rules(folder, p):
    """Files of costs, of groups of ten of which one at most, and of tens of which nine need the first."""
    draw = random.Random(1)
    order = list(range(1, p + 1))
    draw.shuffle(order)
    tens = [order[at : at + 10] for at in range(0, p, 10)]
    costs = "".join(f"x{j},{draw.uniform(0.5, 2):.4f}\n" for j in range(1, p + 1))
    (folder / "costs.csv").write_text("feature,cost\n" + costs)
    named = lambda ten: ",".join(f'"x{j}"' for j in ten)
    (folder / "groups.toml").write_text("".join(f"[[rule]]\nat_most = 1\nof = [{named(ten)}]\n" for ten in tens))
    pairs = ",".join(f'["x{j}","x{ten[0]}"]' for ten in tens for j in ten[1:])
    (folder / "implies.toml").write_text(f"implies = [{pairs}]\n")


def main():
    a = c.arguments(
        __doc__,
        core=(0, "core to run on"),
        samples=(10_000, "documents"),
        words=(1_000_000, "words"),
        features=(100, "B"),
        budget=(100, "budget"),
        limit=("60s", "--time-limit"),
        note=("", "what else was running"),
    )
    c.pin(a.core)
    fewest = c.TARGET / "release" / "fewest"
    folder = c.CACHE / f"rules_{a.samples}_{a.words}"
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "words.csc"
    if not data.exists():
        subprocess.run([str(w) for w in (fewest, "generate", "text", "--samples", a.samples, "--words", a.words, "--out", data)], check=True)
        rules(folder, a.words)
    size, groups = ("--max-features", a.features), ("--rules", folder / "groups.toml")
    money = ("--budget", a.budget, "--feature-costs", folder / "costs.csv")
    rows = []
    for name, options in {
        "size": size,
        "size, groups": size + groups,
        "budget": money,
        "size, budget": size + money,
        "budget, groups": money + groups,
        "size, implications": (*size, "--rules", folder / "implies.toml"),
    }.items():
        out = folder / "result.json"
        words = [fewest, "select", data, "-m", "fgm", *options, "--cost", 1, "--threads", 1, "--time-limit", a.limit, "--quiet", "--json", out]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        code = subprocess.run([str(w) for w in words], stdout=subprocess.DEVNULL).returncode
        whole, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert code in (0, 3), (name, code)
        found = json.loads(out.read_text())
        rounds = found["rounds"]
        rows.append(
            {
                "rules": name,
                "status": found["status"],
                "features": len(found["selected"]),
                "gap": found["gap"],
                "relaxation's gap": (rounds[-1]["upper"] - rounds[-1]["lower"]) / abs(rounds[-1]["upper"]),
                "rounds": len(rounds),
                "pass and subset s": sum(r["separation_seconds"] for r in rounds) / len(rounds),
                "select s": found["seconds"],
                "whole s": whole,
                "whole CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            }
        )
    c.save("rules", rows, list(rows[0]), {"samples": a.samples, "features": a.words, "note": a.note or "nothing else running"})


if __name__ == "__main__":
    main()
