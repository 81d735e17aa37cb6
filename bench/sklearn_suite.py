"""scikit-learn's own tests of SVC, LinearSVC, RFE and RFECV, run against ours.

The test files are read from the installed package. In copies of them SVC and LinearSVC are ours, and
RFE and RFECV around a linear SVC are SVMRFE; nothing else is changed. A test counts where it makes one
of ours. Writes bench/results/sklearn_suite.md.

    PYTHONPATH=python .venv/bin/python bench/sklearn_suite.py
"""

from __future__ import annotations

import argparse
import ast
import functools
import os
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import fewest

FILES = ["svm/tests/test_svm.py", "feature_selection/tests/test_rfe.py", "feature_selection/tests/test_from_model.py"]
RESULT = Path(__file__).parent / "results" / "sklearn_suite.md"

#: Why a test differs, by its name. What is not here is a fault.
REASONS: dict[str, str] = {
    "test_bad_input": "SVC trained on dense samples refuses sparse ones, LIBSVM having two models; ours takes both.",
    "test_crammer_singer_binary": '`multi_class="crammer_singer"` is another problem, which is refused by name.',
    "test_libsvm_convergence_warnings": "the six samples are solved within the two passes of `max_iter=2`: nothing to warn of.",
    "test_libsvm_parameters": "the dual variables are compared to the last bit; ours are within 5e-14 of 1/4.",
    "test_linear_svm_convergence_warnings": "the ConvergenceWarning is there, in words of its own: it names `max_iter`, not LIBLINEAR.",
    "test_linearsvc_crammer_singer": "as `test_crammer_singer_binary`.",
    "test_svc_nusvc_probA_probB_deprecated": "`probA_` and `probB_` are deprecated there, and were not taken over.",
    "test_tweak_params": "sets the private `_dual_coef_`, which is scikit-learn's own.",
}

#: What stands after the imports of each copy.
ADAPTER = '''
import types as _types

import fewest as _fewest
import sklearn.feature_selection as _peer_selection
import sklearn.svm as _peer_svm

_kinds = (_fewest.SVC, _fewest.LinearSVC)


def _adapted(peer, cv):
    """RFE, or RFECV, with SVMRFE around a linear SVC."""

    def make(estimator=None, *, importance_getter="auto", **params):
        if not (type(estimator) is _fewest.SVC and estimator.kernel == "linear" and importance_getter == "auto"):
            return peer(estimator, importance_getter=importance_getter, **params)
        if cv:
            params.setdefault("cv", 5)
            params["cv"] = 5 if params["cv"] is None else params["cv"]
        return _fewest.SVMRFE(C=estimator.C, class_weight=estimator.class_weight, **params)

    return make


_SVC, _LinearSVC = _fewest.SVC, _fewest.LinearSVC
if "svm" in globals():
    svm = _types.SimpleNamespace(**{**vars(_peer_svm), "SVC": _SVC, "LinearSVC": _LinearSVC})
if "SVC" in globals():
    SVC = _SVC
if "LinearSVC" in globals():
    LinearSVC = _LinearSVC
if "RFE" in globals():
    RFE = _adapted(_peer_selection.RFE, False)
if "RFECV" in globals():
    RFECV = _adapted(_peer_selection.RFECV, True)
'''


def adapted(source: str) -> str:
    """The file with our classes in place of scikit-learn's."""
    tree = ast.parse(source)
    last = max(node.end_lineno for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))
    lines = source.split("\n")
    # Relative imports cannot be resolved in a copy.
    text = "\n".join([*lines[:last], ADAPTER, *lines[last:]])
    return text.replace("from ..", "from sklearn.")


class Collector:
    """Keeps how each test ended."""

    def __init__(self) -> None:
        self.outcome: dict[str, str] = {}
        self.said: dict[str, str] = {}
        self.ours: set[str] = set()
        self.made = 0

    def watch(self, cls: type) -> None:
        """Count the objects of a class that are made."""
        init = cls.__init__  # type: ignore[misc]

        @functools.wraps(init)
        def counted(made: object, *args: object, **options: object) -> None:
            self.made += 1
            init(made, *args, **options)

        cls.__init__ = counted  # type: ignore[misc]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.made = 0

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if self.made:
            self.ours.add(item.nodeid.split("::", 1)[1])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.split("::", 1)[1]
        if report.failed:
            self.outcome[name] = "differs"
            crash = getattr(report.longrepr, "reprcrash", None)
            self.said[name] = (crash.message if crash else str(report.longrepr)).split("\n")[0]
        elif report.when == "call":
            self.outcome.setdefault(name, "skipped" if report.skipped else "passed")


def run(folder: Path, file: str, collector: Collector) -> dict[str, str]:
    """How each test of a file that makes one of ours ended."""
    spec = find_spec("sklearn")
    assert spec is not None and spec.submodule_search_locations
    copy = folder / Path(file).name
    copy.write_text(adapted((Path(spec.submodule_search_locations[0]) / file).read_text()))
    collector.outcome.clear()
    collector.ours.clear()
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "sklearn.conftest", "--tb=short"]
    pytest.main([*options, str(copy)], plugins=[collector])
    return {name: end for name, end in collector.outcome.items() if name in collector.ours}


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    os.environ.setdefault("SKLEARN_TESTS_GLOBAL_RANDOM_SEED", "42")
    collector = Collector()
    for cls in (fewest.SVC, fewest.LinearSVC, fewest.SVMRFE):
        collector.watch(cls)
    lines, unknown, total = [], 0, {"passed": 0, "differs": 0, "skipped": 0}
    reasons: dict[str, list[tuple[str, str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            counted = run(Path(folder), file, collector)
            ends = list(counted.values())
            lines.append(f"| `{file}` | {len(ends)} | {ends.count('passed')} | {ends.count('differs')} | {ends.count('skipped')} |")
            for end in ends:
                total[end] += 1
            for name in sorted(name for name, end in counted.items() if end == "differs"):
                base = name.partition("[")[0]
                if base not in REASONS:
                    unknown += 1
                reasons.setdefault(base, []).append((name, collector.said[name]))
    version = metadata.version("scikit-learn")
    count = sum(total.values())
    text = f"""# scikit-learn's own tests against ours

`bench/sklearn_suite.py` with scikit-learn {version}: its test files, read from the installed package, with `SVC` and
`LinearSVC` replaced by ours, and `RFE` and `RFECV` around a linear `SVC` by `SVMRFE`. A test counts where it makes one of ours.

| file | tests | passed | differ | skipped |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}
| all | {count} | {total["passed"]} | {total["differs"]} | {total["skipped"]} |

## What differs, and why

"""
    for base, found in sorted(reasons.items()):
        text += f"- `{base}` ({len(found)}): {REASONS.get(base, 'not explained')}\n"
        if base not in REASONS:
            text += "".join(f"  - `{name}`: {said}\n" for name, said in found)
    RESULT.write_text(text)
    print(text)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
