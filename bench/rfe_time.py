"""SVM-RFE, one feature a step to 10 features, against scikit-learn's RFE(SVC(kernel="linear"), step=1), one thread.
One command: `make bench-rfe`.

scikit-learn runs twice: with SVC's default tolerance, which is what a user pays and what the time is compared with, and with
tol=1e-10, which is what the surviving set is compared with. These runs take up to hours; each is kept in bench/.cache and
runs again only with --again. Where the sets differ, the features that differ are listed with the step at which each left and
its criterion, so that ties can be distinguished from errors.
"""
import json

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

import common as c

KEEP = 10


def theirs(name, tol, again):
    """{"seconds", "selected", "ranking", "weights" of the survivors} of scikit-learn, from the cache if it is there."""
    path = c.CACHE / f"rfe_sklearn_{name}_{tol:g}.json"
    if path.exists() and not again:
        return json.loads(path.read_text())
    X, y = c.load(name)
    X = c.for_peer(X)
    rfe = RFE(SVC(kernel="linear", C=1.0, tol=tol, cache_size=1000), n_features_to_select=KEEP, step=1)
    fitted, seconds = c.repeat(lambda: rfe.fit(X, y), 1)
    found = {
        "seconds": seconds[0],
        "selected": np.flatnonzero(fitted.support_).tolist(),
        "ranking": fitted.ranking_.tolist(),
        "squared weights": (fitted.estimator_.coef_.ravel() ** 2).tolist(),
        "versions": c.versions(),
        "cpu": c.cpu(),
    }
    c.CACHE.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def differences(p, found, tight):
    """For each feature in one set only: when each program dropped it and our criterion then, with that of the next one."""
    step = {r["feature"]: r for r in found["ranking"]}
    ours_left = sorted((r for r in found["ranking"] if r["step"] is not None), key=lambda r: r["step"])
    at = {r["feature"]: i for i, r in enumerate(ours_left)}
    listed = []
    for j in sorted(set(found["selected"]) ^ set(tight["selected"])):
        mine = step[j]
        following = ours_left[at[j] + 1]["criterion"] if j in at and at[j] + 1 < len(ours_left) else None
        listed.append(
            {
                "feature": j,
                "in ours": j in found["selected"],
                "we dropped it at step": mine["step"],
                "criterion then": mine["criterion"],
                "criterion of the next to leave": following,
                "they dropped it at step": p - KEEP + 2 - tight["ranking"][j] if tight["ranking"][j] > 1 else None,
            }
        )
    return listed


def compare(name, again, only_cache):
    path, X, _ = c.prepared(name)
    runs = {}
    for tol in (1e-3, 1e-10):
        cached = (c.CACHE / f"rfe_sklearn_{name}_{tol:g}.json").exists()
        runs[tol] = theirs(name, tol, again) if cached or not only_cache else None
    found = c.ours("rfe", path, features=KEEP, step=1, cost=1.0, tolerance=1e-9, repeats=5, seconds=10.0)
    row = {"set": name, "n": X.shape[0], "p": X.shape[1], "ours s": min(found["seconds"]), "status": found["status"]}
    row["selected"] = found["selected"]
    if runs[1e-3]:
        row["sklearn s"] = runs[1e-3]["seconds"]
        row["times faster"] = row["sklearn s"] / row["ours s"]
        row["same as default tol"] = runs[1e-3]["selected"] == found["selected"]
    if runs[1e-10]:
        row["sklearn tight s"] = runs[1e-10]["seconds"]
        row["same as tol 1e-10"] = runs[1e-10]["selected"] == found["selected"]
        row["differences"] = differences(X.shape[1], found, runs[1e-10])
    return row


def main():
    a = c.arguments(
        __doc__,
        sets=(c.RFE_SETS, "data sets"),
        again=(False, "run scikit-learn again even if its result is kept"),
        cached=(False, "never run scikit-learn; compare with what is kept"),
    )
    c.build()
    rows = []
    for name in a.sets:
        rows.append(compare(name, a.again, a.cached))
        print({k: c.shown(v) for k, v in rows[-1].items()}, flush=True)
        for d in rows[-1].get("differences", []):
            print("   differs:", d, flush=True)
    columns = ["set", "n", "p", "sklearn s", "sklearn tight s", "ours s", "times faster"]
    summary = {"geometric mean of times faster": c.geometric_mean([r.get("times faster") for r in rows])}
    c.save("rfe_time", rows, [*columns, "same as default tol", "same as tol 1e-10", "differences"], summary)


if __name__ == "__main__":
    main()
