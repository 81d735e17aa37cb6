"""`fewest.compare`: the command's answer, forms of lists, what is refused."""

import html
import json

import numpy as np
import pandas as pd
import pytest

from fewest import _core, compare, markers


@pytest.fixture
def cells():
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b", "c"], [40, 30, 20])
    X = pd.DataFrame(rng.normal(size=(90, 8)), columns=[f"g{j}" for j in range(8)])
    for j, kind in enumerate("abc"):
        X.loc[y == kind, f"g{j}"] += 2.5
    return X, y


def test_it_is_the_answer_of_the_command(cells, tmp_path):
    X, y = cells
    lists = {"good": ["g0", "g1", "g2"], "bad": ["g5", "g6", "g7"], "short": ["g0"]}
    found = compare(X, y, lists)
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    typed = [f"{name}={','.join(genes)}" for name, genes in lists.items()]
    out = tmp_path / "c.json"
    assert _core.command(["fewest", "compare", str(tmp_path / "d.csv"), *typed, "--target", "y", "--json", str(out)]) == 0
    said = json.loads(out.read_text())
    for key in ("lists", "common", "rare", "model", "folds", "samples_in_folds", "status"):
        assert found.result[key] == said[key], key
    assert found.names == ["good", "bad", "short"]
    assert found.macro_f1["good"]["mean"] > found.macro_f1["bad"]["mean"] + 0.2
    assert found.difference["good"] is None
    assert found.difference["bad"]["ci95"][1] < 0
    assert found.gap["good"] < found.gap["bad"]
    assert found.result["command"] == "compare(X, y, lists)"
    assert found.report() in html.unescape(found._repr_html_())
    table = found.table()
    assert list(table.index) == found.names
    assert table.loc["good", "neighbours"] > table.loc["bad", "neighbours"]
    assert len(found.types()) == 9
    assert "argest macro F1: good" in str(found)
    assert "<html" in found.report()
    assert json.loads(found.to_json())["kind"] == "comparison"


def test_lists_are_names_results_or_columns_of_var(cells):
    anndata = pytest.importorskip("anndata")
    X, y = cells
    adata = anndata.AnnData(X.to_numpy(), obs=pd.DataFrame({"kind": y}, index=map(str, range(90))), var=pd.DataFrame(index=X.columns))
    panel = markers(adata, "kind", 3)
    adata.var["some"] = [True, True, False, True] + 4 * [False]
    found = compare(adata, "kind", {"found": panel, "stored": "fewest", "rank": "fewest_rank", "some": "some"})
    first, *same, some = found.result["lists"]
    for other in same:
        assert other["features"] == first["features"]
        assert other["objective"] == first["objective"]
    assert some["features"] == ["g0", "g1", "g3"]
    with pytest.raises(ValueError, match=r"adata\.var has no column 'none'"):
        compare(adata, "kind", {"a": "none", "b": ["g0"]})


def test_what_cannot_be_compared_is_refused(cells):
    X, y = cells
    with pytest.warns(UserWarning, match=r"1 of 2 genes are not in X, and count for nothing: x"):
        found = compare(X, y, [["g0", "x"], ["g1"]])
    assert found.result["lists"][0]["missing"] == ["x"]
    assert found.names == ["list 1", "list 2"]
    for lists, why in [
        ({"a": ["g0"]}, "two to ten"),
        ({"a": ["g0"], "b": ["x"]}, "X has no gene 'x'"),
        ({"a": ["g0", "g0"], "b": ["g1"]}, "names 'g0' twice"),
        ({"a": [], "b": ["g1"]}, "is empty"),
        ({"a": "g0", "b": ["g1"]}, "names a column of var"),
    ]:
        with pytest.raises(ValueError, match=why):
            compare(X, y, lists)
