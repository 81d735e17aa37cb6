"""SVM-RFE on a set whose scikit-learn run takes too long: the first --steps steps of scikit-learn's RFE(SVC(kernel="linear"),
step=1) against our run to the same number of features, and against our run all the way to 10. One thread.

The steps compared are the costliest of scikit-learn's run, which gets cheaper as features leave, but the rest is not measured: the
ratio for the whole run is therefore given as a lower bound, theirs for the first steps over ours for all of them.
"""
import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

import common as c


def main():
    a = c.arguments(__doc__, sets=(["arcene"], "data sets"), steps=(300, "steps of scikit-learn"), tol=(1e-3, "its tolerance"))
    c.build()
    rows = []
    for name in a.sets:
        path, X, y = c.prepared(name)
        p = X.shape[1]
        rfe = RFE(SVC(kernel="linear", C=1.0, tol=a.tol, cache_size=1000), n_features_to_select=p - a.steps, step=1)
        fitted, theirs = c.repeat(lambda: rfe.fit(c.for_peer(X), y), 1)
        same = c.ours("rfe", path, features=p - a.steps, step=1, cost=1.0, tolerance=1e-9, repeats=5, seconds=5.0)
        whole = c.ours("rfe", path, features=10, step=1, cost=1.0, tolerance=1e-9, repeats=3, seconds=5.0)
        differ = set(np.flatnonzero(fitted.support_).tolist()) ^ set(same["selected"])
        rows.append(
            {
                "set": name,
                "steps": a.steps,
                "sklearn s": theirs[0],
                "ours s, same steps": min(same["seconds"]),
                "times faster": theirs[0] / min(same["seconds"]),
                "ours s, all steps": min(whole["seconds"]),
                "times faster, at least": theirs[0] / min(whole["seconds"]),
                "features that differ": len(differ),
            }
        )
        print({k: c.shown(v) for k, v in rows[-1].items()}, flush=True)
    c.save(f"rfe_prefix_tol{a.tol:g}", rows, list(rows[0]), {})


if __name__ == "__main__":
    main()
