"""`fewest.markers`: the command's answer, an AnnData and what is written into it, tables, what is refused."""

import importlib.util
import itertools
import json
import re
import sys
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import ctrl_c
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from test_annotated import Annotated
from test_untouched import Untouched

from fewest import Markers, Rules, _core, markers

matplotlib.use("Agg")


def cells(n=180, p=20, seed=0):
    """Counts of three types; genes 0 to 2 are high in one type each, genes 3 and 4 in two."""
    rng = np.random.default_rng(seed)
    types = np.array(["B", "NK", "T"])[rng.integers(0, 3, n)]
    mean = np.full((n, p), 1.0)
    for j, high in enumerate([["B"], ["NK"], ["T"], ["B", "T"], ["NK", "T"]]):
        mean[np.isin(types, high), j] = 4.0
    X = rng.poisson(mean).astype(float)
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(types), "donor": [f"d{i}" for i in rng.integers(0, 6, n)]},
        index=[f"cell{i}" for i in range(n)],
    )
    return X, obs, [f"g{j}" for j in range(p)]


def stand_in(form=np.array):
    """Built like an AnnData: logarithms in X, counts in a layer, raw with more genes."""
    X, obs, names = cells()
    adata = Annotated(form(np.log1p(X)), obs, names)
    adata.layers, adata.raw, adata.uns, adata.varm = {"counts": form(X)}, None, {}, {}
    adata.var = pd.DataFrame(index=names)
    return adata


def real(form=np.array):
    """The same by the package itself."""
    anndata = pytest.importorskip("anndata")
    X, obs, names = cells()
    return anndata.AnnData(form(np.log1p(X)), obs=obs, var=pd.DataFrame(index=names), layers={"counts": form(X)})


BUILDS = pytest.mark.parametrize("build", [stand_in, real])


def timeless(value):
    """Without what differs from run to run (iterations, by the last digit of a logarithm), and between a file and a frame."""
    left = {"seconds", "counts", "command", "data", "format", "reading", "threads", "warnings", "notes"}
    if isinstance(value, dict):
        return {key: timeless(entry) for key, entry in value.items() if key not in left}
    return [timeless(entry) for entry in value] if isinstance(value, list) else value


def close(ours, theirs, where="result"):
    """Equal, numbers up to rounding."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            close(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for at, pair in enumerate(zip(ours, theirs, strict=True)):
            close(*pair, f"{where}[{at}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), where
    else:
        assert ours == theirs, where


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], {}),
        (["--normalize-total", "100", "--log1p", "--groups", "donor"], {"normalize_total": 100.0, "log1p": True}),
        (
            ["--cost", "0.01", "--loss", "hinge", "--multi-class", "one-vs-rest", "--class-weight", "cw2", "--scale", "maxabs"],
            {"C": 0.01, "loss": "hinge", "multi_class": "ovr", "class_weight": "cw2", "scale": "maxabs"},
        ),
        (["--scale", "range:0..1"], {"scale": "range:0..1"}),
        (
            ["--per-class", "1", "--expression", "1.5..6", "--require", "g4", "--folds", "4", "--seed", "3", "--sample", "100"],
            {"per_class": 1, "expression": (1.5, 6.0), "rules": Rules(require=["g4"]), "cv": 4, "random_state": 3, "sample": 100},
        ),
    ],
    ids=["plain", "counts", "cost", "range", "rules"],
)
def test_it_is_what_the_command_says(tmp_path, options, given):
    X, obs, names = cells()
    frame = pd.DataFrame(X, columns=names)
    if "--groups" in options:
        given = {**given, "groups": pd.Series(obs["donor"].to_numpy(), name="donor")}
        frame["donor"] = obs["donor"].to_numpy()
    frame.assign(cell_type=obs["cell_type"].to_numpy()).to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "out.json"
    more = ["--target", "cell_type", "--max-features", "4", "--json", str(out), "--quiet"]
    assert _core.command(["fewest", "markers", str(tmp_path / "d.csv"), *options, *more]) == 0
    found = markers(pd.DataFrame(X, columns=names), pd.Series(obs["cell_type"].to_numpy(), name="cell_type"), 4, **given)
    theirs = json.loads(out.read_text())
    close(timeless(json.loads(found.to_json())), timeless(theirs))
    assert found.genes == theirs["panel"]["features"] and found.objective == pytest.approx(theirs["panel"]["objective"])


def test_the_tables_say_what_is_in_the_result():
    X, obs, names = cells()
    found = markers(pd.DataFrame(X, columns=names), obs["cell_type"].to_numpy(), 3)
    assert isinstance(found, Markers) and found.classes == ["B", "NK", "T"] and len(found.genes) == 3
    assert set(found.genes) <= set(names[:5]) and found.status == "completed"
    assert found.bound <= found.objective and 0 <= found.gap <= 0.01 and 0.7 < found.macro_f1["mean"] <= 1
    table = found.table()
    assert list(table.columns) == ["gene", "rank", "type", "mean", "share", "weight", "highest"] and len(table) == 9
    assert table["gene"].drop_duplicates().tolist() == found.genes and table["rank"].tolist() == [1] * 3 + [2] * 3 + [3] * 3
    for row in table.itertuples():
        values = X[(obs["cell_type"] == row.type).to_numpy(), names.index(row.gene)]
        assert row.mean == pytest.approx(values.mean()) and row.share == pytest.approx((values > 0).mean())
    assert table[table["highest"]].groupby("type")["gene"].apply(list).to_dict() == found.by_type()
    apart = found.apart()
    assert list(apart.columns) == ["gene", "high", "low", "share"] and ((apart["share"] > 0) & (apart["high"] != apart["low"])).all()
    types, confusion = found.types(), found.confusion()
    assert list(types.index) == list(confusion.index) == list(confusion.columns) == found.classes
    np.testing.assert_array_equal(confusion.sum(axis=1), types["samples"])
    np.testing.assert_allclose(np.diag(confusion) / types["samples"], types["recall"])
    assert list(found.confused().columns) == ["class", "taken_for", "samples", "share"]
    text = str(found)
    assert all(gene in text for gene in found.genes) and "macro F1" in text
    assert len(repr(found)) < 1000 and json.loads(found.to_json())["panel"]["features"] == found.genes
    drawn = found.plot_confusion()
    assert drawn.confusion_matrix.sum() == pytest.approx(300)
    assert {text.get_text() for text in drawn.text_.ravel()} <= {"", *map(str, range(1, 101))}
    matplotlib.pyplot.close(drawn.figure_)


def of_types(n_types, genes=1):
    """A result of this many types, with long names."""
    classes = [f"a type of cells {at}" for at in range(n_types)]
    confusion = (np.eye(n_types, dtype=int) * 80 + 3).tolist()
    panel = [
        {
            "feature": f"GENE{at}",
            "rank": at + 1,
            "highest": classes[-1 - at],
            "mean": dict(zip(classes, np.roll(np.linspace(0, 2, n_types), -at).tolist(), strict=True)),
            "share": dict(zip(classes, np.linspace(0.1, 1, n_types).tolist(), strict=True)),
        }
        for at in range(genes)
    ]
    result = {"panel": {"markers": panel}, "confusion": confusion, "target": "cell_type"}
    return Markers([m["feature"] for m in panel], classes, None, None, None, None, "completed", result)


@pytest.mark.parametrize("n_types", [2, 12, 25])
def test_numbers_and_names_of_a_confusion_do_not_run_into_each_other(n_types):
    drawn = of_types(n_types).plot_confusion()
    drawn.figure_.canvas.draw()
    row = [text.get_window_extent() for text in drawn.text_[0]]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(row))
    names = [label.get_window_extent() for label in drawn.ax_.get_yticklabels()]
    assert all(upper.y0 > lower.y1 for upper, lower in itertools.pairwise(names))
    assert drawn.im_.get_clim() == (0, 100) and drawn.ax_.get_xlabel() == "Predicted type"
    matplotlib.pyplot.close(drawn.figure_)


def test_markers_are_dots_along_the_diagonal():
    found = of_types(4, genes=3)
    ax = found.plot_dots(figsize="double")
    figure = ax.figure
    assert figure.get_size_inches()[0] == pytest.approx(170 / 25.4)
    dots = ax.collections[0]
    assert len(dots.get_offsets()) == 12
    assert [label.get_text() for label in ax.get_yticklabels()] == found.classes
    # The first gene is highest in the last type.
    assert [label.get_text() for label in ax.get_xticklabels()] == ["GENE2", "GENE1", "GENE0"]
    sizes, share = dots.get_sizes(), np.tile(np.linspace(0.1, 1, 4)[:, None], 3).ravel()
    assert sizes / sizes.max() == pytest.approx(share)
    colours = np.asarray(dots.get_array()).reshape(4, 3)
    assert colours.min(axis=0) == pytest.approx(0) and colours.max(axis=0) == pytest.approx(1)
    # Neighbours do not cover each other, and the legend covers no dot.
    figure.canvas.draw()
    step = np.diff(ax.transData.transform([[0, 0], [1, 0]])[:, 0])[0]
    assert np.sqrt(sizes.max()) * figure.dpi / 72 < step
    assert figure.legends[0].get_window_extent().y1 < ax.get_window_extent().y0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["25 %", "50 %", "100 % of samples above 0"]
    matplotlib.pyplot.close(figure)


def test_dots_are_those_of_the_panel_that_was_found():
    X, obs, names = cells()
    found = markers(pd.DataFrame(X, columns=names), obs["cell_type"], 4)
    ax = found.plot_dots()
    genes = [label.get_text() for label in ax.get_xticklabels()]
    shares = np.array(
        [[next(m["share"][name] for m in found._markers() if m["feature"] == gene) for gene in genes] for name in found.classes]
    )
    sizes = ax.collections[0].get_sizes()
    assert sorted(genes) == sorted(found.genes) and sizes / sizes.max() == pytest.approx(shares.ravel() / shares.max())
    matplotlib.pyplot.close(ax.figure)


def test_steps_of_markers_are_counted():
    X, obs, names = cells()
    seen = []
    markers(pd.DataFrame(X, columns=names), obs["cell_type"], 3, callback=lambda now: seen.append((now.event, now.done, now.total)))
    steps = [(done, total) for event, done, total in seen if event == "step" and total]
    # The folds, then elimination and halves; the search counts its own.
    assert steps[0] == (0, 6) and {(3, 6), (4, 6), (5, 6)} <= set(steps)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_scanpy_draws_what_was_analysed(monkeypatch, capsys):
    drawn = {}

    class Scanpy:
        class pl:
            @staticmethod
            def dotplot(adata, genes, groupby, **options):
                drawn.update(adata=adata, genes=genes, groupby=groupby, options=options)

    class Data:
        @staticmethod
        def AnnData(X, obs, var):
            made = Annotated(X, obs, var.index)
            made.var = var
            return made

    monkeypatch.setitem(sys.modules, "scanpy", Scanpy)
    monkeypatch.setitem(sys.modules, "anndata", Data)
    adata = stand_in()
    X, _, names = cells()
    found = markers(adata, "cell_type", 3, layer="counts", normalize_total=1e4, log1p=True, key_added=None)
    markers(adata, "cell_type", 3, layer="counts", log1p=True, key_added=None, verbose=1)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "[markers] 0 s, normalising 180 samples of 20 features" and re.match(
        r"\[markers\] \d s of at most 120 s, \d of 6 steps", said[1]
    )
    found.dotplot(adata, "cell_type", dendrogram=False)
    assert capsys.readouterr().out == ""
    want = np.log1p(X / X.sum(axis=1, keepdims=True) * 1e4)[:, [names.index(gene) for gene in found.genes]]
    np.testing.assert_allclose(drawn["adata"].X, want)
    assert drawn["adata"].var.index.tolist() == found.genes and drawn["genes"] == found.by_type()
    assert drawn["options"] == {"dendrogram": False, "use_raw": False}
    # A layer that is named is taken.
    found.dotplot(adata, "cell_type", layer="counts")
    assert drawn["adata"] is adata and drawn["options"] == {"layer": "counts"}


@BUILDS
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.csc_matrix])
def test_an_annotated_matrix_is_taken_and_written_to(build, form):
    adata = build(form)
    X, obs, names = cells()
    before = adata.X.copy()
    found = markers(adata, "cell_type", 3, scale="maxabs", groups="donor")
    want = markers(
        pd.DataFrame(np.log1p(X), columns=names), obs["cell_type"].to_numpy(), 3, scale="maxabs", groups=obs["donor"].to_numpy()
    )
    assert found.genes == want.genes and found.objective == pytest.approx(want.objective)
    assert found.result["target"] == "cell_type"
    assert found.result["command"].startswith("markers(adata, 'cell_type', ")
    assert (before != adata.X).sum() == 0
    assert adata.var.index[adata.var["fewest"]].tolist() == sorted(found.genes)
    assert adata.var["fewest_rank"].dropna().sort_values().index.tolist() == found.genes
    weights = adata.varm["fewest_weights"]
    assert weights.shape == (20, 3) and (np.abs(weights).sum(axis=1) > 0).sum() == 3
    told = found.table().pivot(index="gene", columns="type", values="weight")
    np.testing.assert_array_equal(told.loc[found.genes].to_numpy(), weights[[names.index(gene) for gene in found.genes]])
    kept = adata.uns["fewest"]
    assert list(kept["genes"]) == found.genes and list(kept["classes"]) == found.classes and kept["bound"] == found.bound
    assert json.loads(kept["json"]) == json.loads(found.to_json())


@BUILDS
def test_nothing_is_written_where_no_key_is_given(build):
    adata = build()
    with Untouched(np.asarray(adata.X), adata.layers["counts"], adata.obs["donor"].to_numpy()):
        markers(adata, "cell_type", 2, key_added=None, layer="counts", log1p=True, normalize_total=50)
    assert list(adata.var.columns) == [] and not adata.uns and not list(adata.varm)
    markers(adata, "cell_type", 2, key_added="panel", C=1e-3)
    assert list(adata.var.columns) == ["panel", "panel_rank"] and list(adata.uns) == ["panel"] and list(adata.varm) == ["panel_weights"]


@BUILDS
def test_layers_and_raw(build):
    adata = build()
    X, obs, names = cells()
    y = obs["cell_type"].to_numpy()
    counts = markers(adata, "cell_type", 3, layer="counts", C=1e-3)
    assert counts.objective == pytest.approx(markers(X, y, 3, C=1e-3).objective)
    logs = markers(adata, "cell_type", 3, C=1e-3)
    assert logs.objective == pytest.approx(markers(np.log1p(X), y, 3, C=1e-3).objective)
    wide = np.column_stack([X[:, ::-1], X[:, 0] + X[:, 3]])
    raw = Annotated(wide, obs, [*names[::-1], "extra"])
    if build is real:
        anndata = importlib.import_module("anndata")
        raw = anndata.AnnData(wide, obs=obs, var=pd.DataFrame(index=[*names[::-1], "extra"]))
    adata.raw = raw
    with pytest.warns(UserWarning, match=r"var of adata does not have are in uns\['fewest'\] alone: extra"):
        found = markers(adata, "cell_type", 2, C=1e-3, rules=Rules(require=["extra"]))
    assert "extra" in found.genes and list(adata.uns["fewest"]["genes"]) == found.genes
    assert adata.var.index[adata.var["fewest"]].tolist() == [gene for gene in found.genes if gene != "extra"]
    assert found.objective == pytest.approx(markers(wide, y, 2, C=1e-3, rules=Rules(require=[20])).objective)
    again = markers(adata, "cell_type", 3, C=1e-3, use_raw=False)
    assert again.objective == pytest.approx(logs.objective)
    assert markers(adata, "cell_type", 3, C=1e-3, layer="counts").objective == pytest.approx(counts.objective)
    with pytest.raises(ValueError, match="use_raw is True and layer is 'counts'; give one of them"):
        markers(adata, "cell_type", 3, layer="counts", use_raw=True)


def test_a_real_one_is_written_to_a_file(tmp_path):
    adata = real(sp.csr_matrix)
    adata.obs["cell_type"] = adata.obs["cell_type"].cat.rename_categories({"T": "CD4+/CD25 T"})
    found = markers(adata, "cell_type", 3)
    adata.write_h5ad(tmp_path / "with.h5ad")
    read = importlib.import_module("anndata").read_h5ad(tmp_path / "with.h5ad")
    assert list(read.uns["fewest"]["genes"]) == found.genes and "CD4+/CD25 T" in list(read.uns["fewest"]["classes"])
    np.testing.assert_array_equal(read.varm["fewest_weights"], adata.varm["fewest_weights"])


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sp.csr_matrix, sp.csc_array, sp.coo_array, pd.DataFrame])
def test_counts_are_normalised_on_a_copy(form):
    X, obs, _ = cells()
    X[7] = 0.0
    y = obs["cell_type"].to_numpy()
    sums = X.sum(axis=1, keepdims=True)
    first = np.log1p(X * np.divide(100.0, sums, out=np.ones_like(sums), where=sums > 0))
    # Sparse data are not centred.
    want = markers(sp.csr_array(first) if sp.issparse(form(X)) else first, y, 3)
    given = form(X)
    with Untouched(given, y):
        found = markers(given, y, 3, normalize_total=100, log1p=True)
    assert [int(gene.lstrip("x")) for gene in found.genes] == [int(gene.lstrip("x")) for gene in want.genes]
    assert found.objective == pytest.approx(want.objective, rel=1e-6)


def test_entries_in_parts_are_summed_before_logarithms():
    X, obs, _ = cells()
    half = sp.csr_array(X)
    parts = sp.csr_array((np.tile(half.data / 2, 1).repeat(2), half.indices.repeat(2), half.indptr * 2), shape=half.shape)
    y = obs["cell_type"].to_numpy()
    with Untouched(parts):
        found = markers(parts, y, 3, log1p=True)
    assert found.objective == pytest.approx(markers(half, y, 3, log1p=True).objective)


def test_sparse_and_dense_are_the_same_where_nothing_is_centred():
    X, obs, _ = cells()
    y = obs["cell_type"].to_numpy()
    for scale in ("none", "maxabs"):
        dense, sparse = (markers(form(X), y, 3, scale=scale) for form in (np.array, sp.csr_array))
        assert dense.genes == sparse.genes and dense.objective == pytest.approx(sparse.objective)
        assert dense.macro_f1 == sparse.macro_f1


def test_weights_and_groups_of_samples_of_weight_zero():
    X, obs, _ = cells()
    y, donor, weights = obs["cell_type"].to_numpy(), obs["donor"].to_numpy(), np.ones(len(X))
    weights[:30] = 0.0
    found = markers(X, y, 3, sample_weight=weights, groups=donor)
    want = markers(X[30:], y[30:], 3, groups=donor[30:])
    assert found.genes == want.genes and found.objective == pytest.approx(want.objective) and found.macro_f1 == want.macro_f1


def test_weights_of_types_go_by_their_labels():
    X, y = load_wine(return_X_y=True)
    plain = markers(X, y, 3, C=1e-3, class_weight=None)
    one = markers(X, y, 3, C=1e-3, class_weight={0: 1.0, 1: 1.0, 2: 1.0})
    other = markers(X, y, 3, C=1e-3, class_weight={2: 9.0})
    assert one.objective == pytest.approx(plain.objective) and other.objective > plain.objective
    assert plain.classes == ["0", "1", "2"]


def test_what_makes_no_sense_is_refused():
    adata = stand_in()
    X, obs, _ = cells()
    y = obs["cell_type"].to_numpy()
    for given, words in [
        ({"n_genes": None}, "say how many genes there may be: n_genes=50"),
        ({"n_genes": 0}, "'n_genes' parameter of markers must be"),
        ({"cv": 1}, "'cv' parameter of markers must be"),
        ({"C": -1.0}, "'C' parameter of markers must be"),
        ({"log1p": "yes"}, "'log1p' parameter of markers must be"),
        ({"multi_class": "crammer"}, "'multi_class' parameter of markers must be"),
        ({"scale": "robust"}, "`robust` is no scaling: standard, maxabs, none, range, or range:A..B"),
        ({"scale": "range:1..0"}, "`range:1..0` is no scaling"),
        ({"scale": True}, "'scale' parameter of markers must be"),
        ({"per_class": -1}, "'per_class' parameter of markers must be"),
        ({"random_state": "now"}, "'random_state' parameter of markers must be"),
        ({"expression": (3.0, 1.0)}, "3 to 1"),
        ({"expression": (3.0,)}, "must be a smallest and a largest value"),
        ({"layer": "logs"}, "layer is 'logs', but adata has no such layer; it has counts"),
        ({"layer": "counts", "use_raw": True}, "give one of them"),
        ({"use_raw": True}, "adata has no raw"),
        ({"groups": "patient"}, "groups is 'patient', but obs of adata has no such column; it has cell_type, donor"),
        ({"rules": Rules(require=["nobody"])}, "nobody"),
        ({"rules": Rules(max_features=4)}, "n_genes is 3, but rules say max_features=4"),
    ]:
        with pytest.raises(ValueError, match=words):
            markers(adata, "cell_type", **{"n_genes": 3, **given})
    with pytest.raises(ValueError, match="groupby is 'type', but obs of adata has no such column; it has cell_type, donor"):
        markers(adata, "type", 3)
    with pytest.raises(ValueError, match="groupby is 'cell_type', which names a column of an AnnData"):
        markers(X, "cell_type", 3)
    with pytest.raises(ValueError, match="layer and use_raw are of an AnnData"):
        markers(X, y, 3, layer="counts")
    for form in (np.array, sp.csr_array):
        with pytest.raises(ValueError, match="the smallest value is -2, but normalize_total and log1p are for counts"):
            markers(form(np.where(X == 3, -2.0, X)), y, 3, log1p=True)
        with pytest.raises(ValueError, match="X contains NaN"):
            markers(form(np.where(X == 3, np.nan, X)), y, 3, log1p=True)
    with pytest.raises(ValueError, match="holds texts"):
        markers(pd.DataFrame(X).assign(z=y), y, 3, log1p=True)
    with pytest.raises(TypeError, match="unexpected keyword"):
        markers(X, y, 3, n_top=5)
    with pytest.warns(UserWarning, match="n_genes is 30, but X has 20 features"):
        markers(X, y, 30, C=1e-3)
    adata.isbacked = True
    with pytest.raises(TypeError, match=r"on the disk; give adata.to_memory\(\)"):
        markers(adata, "cell_type", 3)
    adata.isbacked, adata.X = False, None
    with pytest.raises(ValueError, match="adata has no X; name a layer, of which there are 'counts'"):
        markers(adata, "cell_type", 3)


def large():
    rng = np.random.default_rng(0)
    return rng.normal(size=(1500, 400)), rng.integers(0, 6, 1500)


def test_a_limit_warns_and_returns_what_is_known():
    X, y = large()
    for seconds in (0.0, 0.5):
        with pytest.warns(ConvergenceWarning, match="markers stopped before its end: time_limit was reached"):
            found = markers(X, y, 20, time_limit=seconds, gap=0.0)
        assert found.status == "time_limit" and str(found) and json.loads(found.to_json())
        assert len(found.table()) == len(found.genes) * 6 and len(found.types()) == 6
        assert found.by_type() is not None and found.confusion().shape == (6, 6) and found.apart() is not None
        adata = Annotated(X, pd.DataFrame(index=range(len(y))), range(400))
        adata.var, adata.varm, adata.uns = pd.DataFrame(index=[str(j) for j in range(400)]), {}, {}
        if not found.genes:
            found.store(adata)
            assert not adata.var["fewest"].any()
    with pytest.warns(ConvergenceWarning, match="a callback stopped it"):
        assert markers(X, y, 20, callback=lambda progress: True).status == "cancelled"


def test_ctrl_c():
    X, y = large()
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        markers(X, y, 20, gap=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ctrl_c(0.5):
            assert markers(X, y, 20, gap=0.0, on_interrupt="keep").status == "cancelled"


def test_a_panel_has_a_page_its_rules_and_clear_refusals(tmp_path):
    adata = stand_in()
    found = markers(adata, "cell_type", 4, rules=Rules(require=["g7"], forbid=["/^g1./"]), time_limit=60)
    assert found.result["settings"]["require"] == ["g7"] and found.result["settings"]["forbid"] == [f"g{j}" for j in range(10, 20)]
    assert found.report().startswith("<!DOCTYPE html>") and "g7" in found.report()
    found.report(tmp_path / "m.html")
    assert (tmp_path / "m.html").read_text() == found.report()
    with pytest.raises(TypeError, match="time_limit is '10m', but must be a number of seconds"):
        markers(adata, "cell_type", 4, time_limit="10m")
    with pytest.raises(ValueError, match="g7 is required, but its largest mean of a class.*is outside expression 1.2..3"):
        markers(adata, "cell_type", 4, rules=Rules(require=["g7"]), expression=(1.2, 3))
    twice = stand_in()
    twice.var_names = ["g0", *twice.var_names[1:-1], "g0"]
    with pytest.raises(ValueError, match="var_names_make_unique"):
        markers(twice, "cell_type", 4)
    adata.X[0, 0] = np.nan
    with pytest.raises(ValueError, match="fill them in, or leave out"):
        markers(adata, "cell_type", 4)


def test_values_that_are_no_counts_and_counts_that_were_not_normalised_are_said():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(40, (60, 6)).astype(float), np.repeat([0, 1], 30)
    with pytest.warns(UserWarning, match="whole numbers, as counts are"):
        markers(X, y, n_genes=2, cv=2)
    with pytest.warns(UserWarning, match="no whole numbers: leave out normalize_total"):
        markers(np.log1p(X), y, n_genes=2, cv=2, normalize_total=1e4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        markers(X, y, n_genes=2, cv=2, normalize_total=1e4, log1p=True)
        markers(np.log1p(X), y, n_genes=2, cv=2)


def test_two_types_have_the_keys_of_the_command():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)) + np.arange(60)[:, None] % 2, np.arange(60) % 2
    result = markers(X, y, 2, C=0.01, cv=2).result
    assert (result["classes"], result["positive"]) == ({"-1": "0", "+1": "1"}, "1")
    assert result["class_counts"] == {"-1": 30, "+1": 30}


def counted():
    """Cells with counts in X, donors and lineages."""
    X, obs, names = cells(n=240)
    return (
        X,
        obs.assign(lineage=np.where(obs["cell_type"] == "B", "b", "other"), batch=obs["donor"].isin(["d0", "d1"]).astype(str)),
        names,
    )


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["--sum-by", "donor", "--normalize-total", "100", "--log1p"], {"normalize_total": 100, "log1p": True}),
        (["--hierarchy", "lineage", "--level-weights", "1,2"], {"level_weights": [1, 2]}),
        (["--hierarchy", "lineage,cell_type"], {}),
    ],
    ids=["sums", "weights", "levels"],
)
def test_sums_and_levels_are_those_of_the_command(tmp_path, options, given):
    X, obs, names = counted()
    frame = pd.DataFrame(X, columns=names)
    column = "donor" if "--sum-by" in options else "lineage"
    frame.assign(**{column: obs[column].to_numpy(), "cell_type": obs["cell_type"].to_numpy()}).to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "out.json"
    more = ["--target", "cell_type", "--max-features", "4", "--json", str(out), "--quiet"]
    assert _core.command(["fewest", "markers", str(tmp_path / "d.csv"), *options, *more]) == 0
    theirs = json.loads(out.read_text())
    adata = Annotated(X, obs, names)
    wanted = {"sum_by": "donor"} if column == "donor" else {"hierarchy": ["lineage", "cell_type"][: options[1].count(",") + 1]}
    found = markers(adata, "cell_type", 4, key_added=None, **wanted, **given)
    close(timeless(json.loads(found.to_json())), timeless(theirs))
    # The same of arrays: labels of each sample, or a dictionary of the types.
    y = pd.Series(obs["cell_type"].to_numpy(), name="cell_type")
    labels = {"sum_by": [pd.Series(obs["donor"].to_numpy(), name="donor")], "hierarchy": [{"B": "b", "NK": "other", "T": "other"}]}
    of_arrays = markers(frame, y, 4, **{key: labels[key] for key in wanted}, **given)
    assert of_arrays.genes == found.genes and of_arrays.objective == pytest.approx(found.objective)
    if column == "donor":
        sizes = obs.groupby(["donor", "cell_type"], observed=True).size()
        assert found.result["n_samples"] == len(sizes)
        assert found.result["summed"] == {"by": ["donor"], "samples": 240, "smallest": sizes.min()}
        assert f"240 summed up to {len(sizes)}" in str(found)
        sparse = markers(Annotated(sp.csr_matrix(X), obs, names), "cell_type", 4, key_added=None, scale="maxabs", **wanted, **given)
        dense = markers(adata, "cell_type", 4, key_added=None, scale="maxabs", **wanted, **given)
        assert sparse.objective == pytest.approx(dense.objective) and sparse.genes == dense.genes
    else:
        levels = found.result["levels"]
        assert [level["name"] for level in levels] == ["lineage", "cell_type"] and levels[1]["macro_f1"] == found.macro_f1


def test_what_has_no_sum_and_no_level_is_refused():
    X, obs, names = counted()
    adata = Annotated(X, obs, names)
    types = obs["cell_type"].to_numpy()
    for given, why in (
        ({"sum_by": "person"}, "sum_by is 'person', but obs of adata has no such column; it has cell_type, donor"),
        ({"sum_by": "batch", "groups": "donor"}, "another one of the same sum; sum by groups, too"),
        ({"hierarchy": "batch"}, "of batch, but a class is in one"),
        ({"hierarchy": {"B": "b", "T": "t"}}, "where class NK is in level 1"),
        ({"hierarchy": "lineage", "multi_class": "ovr"}, "one-vs-rest"),
        ({"hierarchy": "lineage", "level_weights": [1]}, "2 numbers above 0"),
        ({"level_weights": [1, 2]}, "no hierarchy"),
    ):
        with pytest.raises(ValueError, match=why):
            markers(adata, "cell_type", 2, key_added=None, **given)
    with pytest.raises(ValueError, match="a value is 1.09.*, but sums are of counts"):
        markers(Annotated(np.log1p(X), obs, names), "cell_type", 2, key_added=None, sum_by="donor")
    with pytest.raises(ValueError, match="sum_by has 2 entries, but X has 240 samples"):
        markers(X, types, 2, sum_by=[["a", "b"]])
    with pytest.raises(ValueError, match="sum_by is 'donor', which names a column of an AnnData"):
        markers(X, types, 2, sum_by="donor")
