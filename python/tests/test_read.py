"""Files as the command reads them, and its messages in Python's words."""

import gzip
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fewest import ExactSelector, Table, read_table

FILES = Path(__file__).parent / "files"
FORMS = Path(os.environ.get("FEWEST_DATA", "/nowhere")) / "forms"


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return file


def test_semicolons_and_decimal_commas(tmp_path):
    # What write.csv2 of R writes.
    file = write(tmp_path, "a.csv", '"";"age";"colour";"y"\n"p1";1,5;"red";"no"\n"p2";NA;"blue";"yes"\n"p3";3,25;"red";"yes"\n')
    table = read_table(file)
    assert isinstance(table, Table) and repr(table) == "Table(3 samples, 2 features, 2 classes of 'y')"
    np.testing.assert_array_equal(table.X, [[1.5, 1.0], [np.nan, 0.0], [3.25, 1.0]])
    assert table.X.flags.f_contiguous and table.X.dtype == np.float64
    assert table.feature_names == ["age", "colour=red"] and table.sample_names == ["p1", "p2", "p3"]
    assert table.y.tolist() == ["no", "yes", "yes"] and table.target_name == "y"
    assert any("colour" in note for note in table.notes)
    frame = table.to_frame()
    assert list(frame.index) == table.sample_names and list(frame.columns) == table.feature_names
    np.testing.assert_array_equal(frame.to_numpy(), table.X)


def test_features_in_rows_and_labels_in_another_order(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 6))
    names, genes = [f"s{i}" for i in range(20)], [f"g{j}" for j in range(6)]
    rows = [",".join(["gene", *names])] + [",".join([gene, *map(repr, map(float, values[:, j]))]) for j, gene in enumerate(genes)]
    data = write(tmp_path, "expression.csv", "\n".join(rows) + "\n")
    order = np.random.default_rng(1).permutation(20)
    y = np.where(values[:, 2] > 0, "tumour", "normal")
    sheet = ["donor,sample,diagnosis,age"] + [f"d{i % 4},s{i},{y[i]},{30 + i}" for i in order]
    labels = write(tmp_path, "sheet.csv", "\n".join(sheet) + "\n")
    table = read_table(data, transpose=True, labels=(labels, "diagnosis"), by="sample", columns=["donor"])
    np.testing.assert_array_equal(table.X, values)
    assert table.feature_names == genes and table.sample_names == names
    assert table.y.tolist() == y.tolist()
    assert table.columns["donor"].tolist() == [f"d{i % 4}" for i in range(20)]
    assert ExactSelector(n_features_to_select=1).fit(table.to_frame(), table.y).get_feature_names_out().tolist() == ["g2"]
    bare = read_table(data, transpose=True)
    assert bare.y is None and bare.target_name is None and bare.X.shape == (20, 6)
    with pytest.raises(ValueError, match="say transpose=True, as features are in the rows"):
        read_table(data, labels=labels, id="gene")
    with pytest.raises(ValueError, match="name the column that holds them with id$"):
        read_table(data, labels=labels)
    with pytest.raises(ValueError, match="by is 'sample', but there are no labels"):
        read_table(data, by="sample")


def test_what_the_options_do(tmp_path):
    file = write(tmp_path, "a.txt", "# made\nid|a|b|b|y\n1|-9|2|3|1\n2|4|5|6|2\n3|7|8|9|2\n4|1|1|1|\n")
    table = read_table(
        file,
        comment="#",
        delimiter="|",
        id="id",
        missing_codes=[-9],
        unique_names=True,
        drop_unlabelled=True,
        drop="b.1",
        classes=[1, 2],
    )
    assert table.feature_names == ["a", "b"] and table.sample_names == ["1", "2", "3"]
    assert table.y.tolist() == [1, 2, 2] and table.y.dtype.kind == "i"
    assert np.isnan(table.X[0, 0]) and table.X[1:, 0].tolist() == [4.0, 7.0]
    assert read_table(file, unique_names=True, drop_unlabelled=True, text=["a"], only=["a"]).feature_names[0].startswith("a=")
    whole = read_table(file, unique_names=True, target="id", target_optional=True, header=True)
    assert whole.target_name == "id" and "y" in whole.feature_names
    plain = write(tmp_path, "b.csv", "1,2,0\n3,4,1\n")
    assert read_table(plain, header=False).feature_names == ["x1", "x2"]


def test_sparse_files_stay_sparse(tmp_path):
    file = write(tmp_path, "a.svm", "1 1:2.5 3:1\n2 2:-1\n1 4:3\n")
    table = read_table(file)
    assert isinstance(table.X, sp.csc_array) and "sparse" in repr(table)
    np.testing.assert_array_equal(table.X.toarray(), [[2.5, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 3]])
    assert table.y.tolist() == [1, 2, 1] and table.sample_names is None
    np.testing.assert_array_equal(table.to_frame().to_numpy(), table.X.toarray())
    zero = write(tmp_path, "b.svm", "1 0:2.5\n2 2:-1\n")
    with pytest.raises(ValueError, match="say zero_based=True if the file counts from 0"):
        read_table(zero)
    np.testing.assert_array_equal(read_table(zero, zero_based=True).X.toarray(), [[2.5, 0, 0], [0, 0, -1]])


def test_counts_are_normalised_as_the_formula_has_it(tmp_path):
    counts = np.array([[1.0, 5.0, 0.0], [2.0, 0.0, 4.0], [0.0, 0.0, 0.0], [6.0, 5.0, 2.0]])
    sums = np.where(counts.sum(axis=1) > 0, counts.sum(axis=1), 1.0)
    expected = np.log1p(counts / sums[:, None] * 1e4)
    rows = "".join(f"{','.join(str(x) for x in row)},{i % 2}\n" for i, row in enumerate(counts))
    file = write(tmp_path, "a.csv", "a,b,c,y\n" + rows)
    table = read_table(file, normalize_total=1e4, log1p=True, drop=["c"])
    np.testing.assert_allclose(table.X, expected[:, :2], rtol=1e-14)
    assert any("total over 3 features is 10000" in note for note in table.notes)
    sparse = write(tmp_path, "a.svm", "0 1:1 2:5\n1 1:2 3:4\n0\n1 1:6 2:5 3:2\n")
    np.testing.assert_allclose(read_table(sparse, normalize_total=1e4, log1p=True).X.toarray(), expected, rtol=1e-14)
    with pytest.raises(ValueError, match="row 1, column `b`.*leave out normalize_total if"):
        read_table(write(tmp_path, "b.csv", "a,b,y\n1,-2,0\n3,4,1\n"), normalize_total=1)
    with pytest.raises(ValueError, match="normalize_total is 0, but must be a number above 0"):
        read_table(file, normalize_total=0)


@pytest.mark.parametrize("file", ["small.xlsx", "small.ods", "small.feather"])
def test_sheets_and_arrow(file):
    table = read_table(FILES / file, id="name" if file.endswith("feather") else None)
    assert table.feature_names == ["age", "colour=red"] and table.sample_names == [f"p{i}" for i in range(6)]
    np.testing.assert_array_equal(table.X[:4], [[31.5, 1.0], [40.0, 0.0], [np.nan, 1.0], [52.0, np.nan]])
    assert table.y.tolist() == ["sick", "well", "sick", "well", "well", "sick"]


def test_files_of_statistics_packages():
    if importlib.util.find_spec("pyreadstat") is None:
        with pytest.raises(ImportError, match=r"pip install 'fewest\[stat\]'"):
            read_table(FILES / "small.sav")
        pytest.skip("pyreadstat is not installed")
    for file in ("small.sav", "small.dta"):
        table = read_table(FILES / file)
        assert table.feature_names == ["age", "colour=red", "income"]
        assert table.y.tolist() == ["sick", "well", "sick", "well", "well", "sick"]
        np.testing.assert_array_equal(table.X[:4, :2], [[31.5, 1.0], [40.0, 0.0], [np.nan, 1.0], [52.0, np.nan]])
    # 99 is what the file of SPSS calls missing.
    assert np.isnan(read_table(FILES / "small.sav").X[2, 2]) and table.X[2, 2] == 99.0
    assert read_table(FILES / "small.xpt").y.tolist() == [1, 0, 1, 0, 0, 1]
    with pytest.raises(ValueError, match=r"small.sav: there is no column `no`"):
        read_table(FILES / "small.sav", drop=["no"])


def test_what_is_missing_says_so(tmp_path):
    for name in ("no.csv", "no.sav", "no.zarr"):
        with pytest.raises(FileNotFoundError, match=f"{name}: no such file; check the path"):
            read_table(tmp_path / name)
    (tmp_path / "a.zarr").mkdir()
    if importlib.util.find_spec("anndata") is None:
        with pytest.raises(ImportError, match=r"pip install 'fewest\[zarr\]'"):
            read_table(tmp_path / "a.zarr")


@pytest.mark.parametrize(
    "text, asked, message",
    [
        ("a,b,y\n1,x,0\n2,3,1\n3,4,1\n4,4,0\n", {}, r"say missing_codes=\[\"x\"\] if it .* or text=\[\"b\"\] to read"),
        ("a,a,y\n1,2,0\n3,4,1\n", {}, r"rename one of them, or say unique_names=True"),
        ("a,b,y\n1,2,\n3,4,1\n5,6,0\n", {}, r"or say drop_unlabelled=True to leave"),
        ("a,b,y\n1,2,1\n3,4,1\n", {}, r"name another target$"),
        ("5.1,3.5,a\n4.9,3.0,a\n4.7,3.2,b\n4.6,3.1,b\n", {}, r"say header=False if it is, or header=True if these"),
        ("a,b,y\n1,2,0\n3,4,1\n", {"drop": ["q r"]}, r"no column `q r` to be the dropped column"),
        ("a b,y\n1,0\n2,1\n", {"format": "gif"}, r'format is "gif", but must be one of csv'),
        ("a b,y\n1,0\n2,1\n", {"thousands": "."}, r"thousands is \., but that is the decimal sign; name another decimal, too"),
        ("a b,y\n1,0\n2,1\n", {"delimiter": "xx"}, r'delimiter is "xx", but must be a sign'),
        ("a,y\n1,0\n2,1\n", {"max_memory": 8}, r"only 8 are allowed; allow more with max_memory$"),
        ("a,y\n1,0\n2,1\n", {"zero_based": True}, r"zero_based=True has a meaning for svmlight"),
    ],
)
def test_messages_name_parameters(text, asked, message, tmp_path):
    file = write(tmp_path, "a.csv", text)
    with pytest.raises(ValueError, match=message) as caught:
        read_table(file, **asked)
    assert " --" not in str(caught.value)


def test_a_name_with_blanks_and_quotes_in_a_message(tmp_path):
    rows = "".join(f"it {i},{i},{i % 2}\n" for i in range(60))
    file = write(tmp_path, "a.csv", f"\"the name, of 'it'\",b,y\n{rows}")
    with pytest.raises(ValueError, match=r"""drop=\["the name, of 'it'"\]"""):
        read_table(file)


def test_the_command_reads_the_same(tmp_path):
    """Features, values, classes and names are those of `fewest convert`."""
    text = "sample;size;weight;kind;y\n" + "".join(f"s{i};{'SML'[i % 3]};{i},5;{'ab'[i % 2]};{i % 2}\n" for i in range(12))
    file = write(tmp_path, "a.csv", text)
    out = tmp_path / "out.csv"
    code = "import sys; from fewest import _core; sys.exit(_core.command(['fewest', *sys.argv[1:]]))"
    asked = ["--id", "sample", "--decimal", ",", "--quiet"]
    subprocess.run([sys.executable, "-c", code, "convert", str(file), str(out), *asked], check=True, cwd=Path(__file__).parents[1])
    import pandas as pd

    table, wanted = read_table(file, id="sample", decimal=","), pd.read_csv(out)
    assert [*table.feature_names, "y"] == [name for name in wanted.columns if name != "sample"]
    np.testing.assert_array_equal(table.X, wanted[table.feature_names].to_numpy())
    assert table.y.tolist() == wanted["y"].tolist()


def test_the_file_is_not_written_to(tmp_path):
    for name in ("small.xlsx", "small.sav"):
        before = (FILES / name).read_bytes()
        try:
            read_table(FILES / name)
        except ImportError:
            continue
        assert (FILES / name).read_bytes() == before


@pytest.mark.data
@pytest.mark.skipif(not FORMS.is_dir(), reason="FEWEST_DATA names no folder with forms")
class TestForms:
    def test_gct_with_classes_beside_it(self):
        table = read_table(FORMS / "gct12_khan.gct", labels=FORMS / "gct12_khan.cls")
        assert table.X.shape == (83, 200) and len(np.unique(table.y)) == 4
        bare = read_table(FORMS / "gct12_khan.gct")
        assert bare.y is None and bare.sample_names == table.sample_names
        np.testing.assert_array_equal(bare.X, table.X)
        assert read_table(FORMS / "gct13_khan.gct").X.shape == (83, 200)

    def test_a_series_matrix(self):
        table = read_table(FORMS / "geo_series_matrix_made.txt.gz")
        assert table.X.shape == (83, 200) and len(table.sample_names) == 83

    def test_cells_by_genes_and_genes_by_cells_are_the_same(self):
        labels = FORMS / "csv_labels.csv"
        cells = read_table(FORMS / "csv_cells_x_genes.csv.gz", labels=labels)
        genes = read_table(FORMS / "tsv_genes_x_cells.tsv.gz", labels=labels, transpose=True)
        assert cells.feature_names == genes.feature_names and cells.sample_names == genes.sample_names
        np.testing.assert_array_equal(cells.X, genes.X)
        assert cells.y.tolist() == genes.y.tolist()
        with gzip.open(FORMS / "csv_cells_x_genes.csv.gz", "rt") as text:
            assert text.readline().rstrip("\n").split(",")[1:] == cells.feature_names

    @pytest.mark.parametrize("file", sorted(file.name for file in FORMS.glob("gct_*.gct")))
    def test_files_of_others(self, file):
        table = read_table(FORMS / file)
        assert table.X.shape == (len(table.sample_names), len(table.feature_names)) and table.y is None

    def test_cells(self):
        csr = read_table(FORMS / "h5ad_csr.h5ad", target="bulk_labels", columns=["louvain"])
        assert isinstance(csr.X, sp.csc_array) and csr.X.shape == (175, 200) and len(csr.columns["louvain"]) == 175
        labelled = read_table(FORMS / "10x_mtx_labelled", labels=(FORMS / "csv_labels.csv", "bulk_labels"))
        for other in (
            read_table(FORMS / "h5ad_csc.h5ad", target="bulk_labels"),
            read_table(FORMS / "h5ad_dense_f4.h5ad", target="bulk_labels"),
            read_table(FORMS / "loom_labelled.loom", target="bulk_labels"),
            labelled,
        ):
            assert other.feature_names == csr.feature_names and other.sample_names == csr.sample_names
            assert other.y.tolist() == csr.y.tolist()
            if other is not labelled:
                # Counts of 10x were made of it.
                np.testing.assert_allclose(other.to_frame().to_numpy(), csr.X.toarray(), rtol=1e-6)
        assert read_table(FORMS / "h5ad_csr.h5ad").y is None
        raw = read_table(FORMS / "h5ad_scaledX_raw_layers.h5ad", layer="raw", target="bulk_labels")
        assert raw.X.min() >= 0.0 > read_table(FORMS / "h5ad_scaledX_raw_layers.h5ad", target="bulk_labels").X.min()
        with pytest.raises(ValueError, match="say unique_names=True"):
            read_table(FORMS / "h5ad_duplicate_genes.h5ad")
        assert read_table(FORMS / "h5ad_duplicate_genes.h5ad", unique_names=True).X.shape == (175, 200)
        with pytest.raises(ValueError, match=r"say layer=\"another_genome\" or layer="):
            read_table(FORMS / "10x_v2_two_genomes.h5")

    @pytest.mark.parametrize("file", sorted(file.name for file in FORMS.glob("zarr_*")))
    def test_zarr(self, file):
        pytest.importorskip("anndata")
        table = read_table(FORMS / file)
        assert table.X.shape == (len(table.sample_names), len(table.feature_names))
        if file != "zarr_anndata_v0.7.0.zarr.zip":
            same = read_table(FORMS / "h5ad_csr.h5ad")
            assert table.feature_names == same.feature_names
            np.testing.assert_array_equal(table.X.toarray(), same.X.toarray())


def test_a_frame_of_a_statistics_package_follows_the_rules_of_text(tmp_path, monkeypatch):
    """The package that reads them is replaced: what it gives is a frame of labels, numbers, dates."""
    import pandas as pd

    asked = []

    class Pyreadstat:
        ReadstatError = OSError

        @staticmethod
        def read_dta(path, **options):
            asked.append((path, options))
            if b"broken" in Path(path).read_bytes():
                raise OSError("Invalid file")
            frame = pd.DataFrame({"sex": [1.0, 2.0, 2.0, np.nan], "age": [30.5, np.nan, 41.0, 28.0]})
            frame = frame.assign(kids=[0.0, 2.0, 0.0, 3.0], code=[0.0, 3.0, 0.0, 3.0], seen=pd.date_range("2024-01-01", periods=4))
            labels = {
                "sex": {1.0: "m", 2.0: "f"},
                "kids": {0.0: "none", 3.0: "3 or more"},
                "code": {0.0: "3", 3.0: "0"},
                "y": {"I": "ill", "W": "well"},
                "absent": {1.0: "one"},
            }
            return frame.assign(y=["I", "W", "I", "W"]), types.SimpleNamespace(variable_value_labels=labels)

        @staticmethod
        def read_xport(path):
            return Pyreadstat.read_dta(path)

    monkeypatch.setitem(sys.modules, "pyreadstat", Pyreadstat)
    file = write(tmp_path, "a.dta", "")
    table = read_table(file, columns=["age"])
    assert asked == [(str(file), {})]
    assert table.feature_names == ["sex=m", "kids", "code"] and table.y.tolist() == ["ill", "well", "ill", "well"]
    # A label of 0 alone, and labels that are other numbers, leave the numbers as they are.
    right = [[1.0, 0.0, 0.0], [0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [np.nan, 3.0, 3.0]]
    np.testing.assert_array_equal(table.X, right)
    assert any("`kids` keeps its values" in note and "0 (none), 3 (3 or more)" in note for note in table.notes)
    assert table.columns["age"].tolist() == ["30.5", "", "41.0", "28.0"]
    assert any("`seen` holds dates" in note for note in table.notes)
    np.testing.assert_array_equal(read_table(write(tmp_path, "a.xpt", "")).X[:, 1], [30.5, np.nan, 41.0, 28.0])
    with pytest.raises(
        ValueError, match=rf"^{file}: there is no column `no` to be the target; the columns are sex, age, kids, code, seen, y$"
    ):
        read_table(file, target="no")
    with pytest.raises(ValueError, match=r"b.dta: the file is damaged, or of another format \(Invalid file\)"):
        read_table(write(tmp_path, "b.dta", "broken"))
    # Labels may be in a file of this kind, too.
    data = write(tmp_path, "c.csv", ",a,b\n30.5,1,2\n41.0,3,4\n28.0,5,6\n")
    joined = read_table(data, labels=(file, "y"), by="age")
    assert joined.y.tolist() == ["ill", "ill", "well"] and joined.sample_names == ["30.5", "41.0", "28.0"]


def test_classes_that_are_large_integers_keep_their_digits(tmp_path):
    import pandas as pd

    y = np.array([2**53 + i % 3 for i in range(9)])
    for name, write_it in [("a.parquet", "to_parquet"), ("a.feather", "to_feather")]:
        for kind in (np.int64, np.uint64):
            getattr(pd.DataFrame({"a": np.arange(9.0), "y": y.astype(kind)}), write_it)(tmp_path / name)
            assert read_table(tmp_path / name).y.tolist() == y.tolist(), (name, kind)


def test_a_forked_process_reads_after_its_parent(tmp_path):
    if sys.platform == "win32":
        pytest.skip("there is no fork")
    file = write(tmp_path, "a.csv", "a,b,c,y\n" + "".join(f"{i},{i % 3},{i % 5},{i % 2}\n" for i in range(50)))
    read_table(file)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        tables = pool.map_async(read_table, [file] * 2).get(timeout=60)
        # Workers that end by themselves: one that starts while others are ended may outlive them.
        pool.close()
        pool.join()
    assert [table.X.shape for table in tables] == [(50, 3)] * 2
