"""Methods on a Dask cluster of real processes: the result of one machine, also when a worker is killed."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import cross_validate

from fewest import (
    SVMRFE,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    InformationGain,
    L1SVMSelector,
    Rules,
    StabilityDisplay,
    Study,
    evaluate,
    knockoffs,
    stability,
)
from fewest.datasets import dump_columns

pytest.importorskip("distributed")
import dask
import dask.array as da
from dask import delayed
from distributed import Client, LocalCluster

from fewest.dask import Shards, Source, _parquet_shard


@pytest.fixture(scope="module", autouse=True)
def lost_workers_come_back():
    """Left alone, a LocalCluster gives a worker up finally if it is missing 15 seconds after one
    of its name died, as where it is killed again just then: without a worker, all wait.
    """
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}):
        yield


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    with (
        LocalCluster(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder)) as cluster,
        Client(cluster) as client,
    ):
        yield client


def text(n=300, p=5000, seed=0):
    """Rows of words, each class with its own."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, p, density=0.02, format="csc", random_state=rng, data_rvs=lambda size: rng.exponential(size=size))
    truth = np.zeros(p)
    truth[rng.choice(p, 40, replace=False)] = rng.normal(size=40)
    y = np.where(X @ truth + 0.1 * rng.normal(size=n) > 0, "spam", "ham")
    return X, y


def column_blocks(X, widths):
    """X as a Dask array whose blocks are some of the columns, made again where one is needed."""
    ends = np.cumsum([0, *widths])
    blocks = [da.from_delayed(delayed(sp.csc_matrix)(X[:, a:b]), shape=(X.shape[0], b - a), dtype=X.dtype) for a, b in pairwise(ends)]
    return da.concatenate(blocks, axis=1, allow_unknown_chunksizes=True)


def assert_same(there, here):
    """Not only to 1e-8: the sums are the same, so the bits are."""
    for name in ("support_", "coef_", "shares_", "scores_", "ranking_"):
        if hasattr(here, name):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    for name in ("objective_", "bound_", "status_", "n_iter_", "C_", "grid_"):
        assert getattr(there, name, None) == getattr(here, name, None)
    np.testing.assert_array_equal(there.classes_, here.classes_)


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 10},
        {"subset_size": 10, "intercept_scaling": None, "class_weight": "balanced"},
        {"rules": Rules(max_features=8, require=[4999, 7], forbid=[0, 2500])},
        {"rules": Rules(max_features=6, implies=[(3, 4)], at_most=[(1, range(100))])},
        {"n_features_to_select": 5, "plain": True, "gap": 1e-2},
    ],
)
def test_sparse_blocks_give_what_one_machine_gives(client, options):
    X, y = text()
    options = {"gap": 1e-3, **options}
    here = FeatureGeneratingMachine(**options).fit(X, y)
    there = FeatureGeneratingMachine(**options).fit(column_blocks(X, [1700, 300, 3000]), da.from_array(y))
    assert_same(there, here)
    assert here.n_iter_ > 1
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("chunks", [(200, 11), (70, 40), (200, 40)])
def test_dense_blocks_of_any_shape(client, order, chunks):
    rng = np.random.default_rng(1)
    X = np.asarray(rng.normal(size=(200, 40)), order=order)
    y = X[:, 3] + X[:, 30] - X[:, 17] + rng.normal(size=200) > 0
    here = FeatureGeneratingMachine(n_features_to_select=4, gap=1e-6).fit(X, y, np.linspace(0, 2, 200))
    blocks = da.from_array(X, chunks=chunks)
    there = FeatureGeneratingMachine(n_features_to_select=4, gap=1e-6).fit(blocks, y, np.linspace(0, 2, 200))
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-5)


def test_files_of_samples_are_turned_into_shards_of_features(client, tmp_path):
    X, y = text()
    # Digits that text keeps.
    X.data, y = np.round(X.data, 6), np.where(y == "spam", 1, -1)
    here = FeatureGeneratingMachine(n_features_to_select=10).fit(X, y)
    svm, npz = [], []
    for k, rows in enumerate(np.split(np.arange(300), [90, 250])):
        svm.append(tmp_path / f"part{k}.svm")
        dump_svmlight_file(X[rows], y[rows], str(svm[-1]), zero_based=False)
        npz.append(tmp_path / f"part{k}.npz")
        sp.save_npz(npz[-1], X[rows].tocsr())
    assert_same(FeatureGeneratingMachine(n_features_to_select=10).fit([str(f) for f in svm]), here)
    assert_same(FeatureGeneratingMachine(n_features_to_select=10).fit(npz, y), here)
    # Read once, fitted twice.
    shards = Shards.from_files(svm, n_features=5000)
    assert shards.shape == (300, 5000) and shards.stored == X.nnz and len(shards.futures) == 2
    for size in (4, 10):
        here = FeatureGeneratingMachine(n_features_to_select=size).fit(X, y)
        assert_same(FeatureGeneratingMachine(n_features_to_select=size).fit(shards), here)


def test_files_of_features_are_the_shards(client, tmp_path):
    X, y = text()
    files = [tmp_path / f"columns{k}.npz" for k in range(3)]
    for file, columns in zip(files, np.split(np.arange(5000), [1000, 1500]), strict=True):
        sp.save_npz(file, X[:, columns])
    shards = Shards.from_files(files, axis=1)
    assert len(shards.futures) == 3
    here = FeatureGeneratingMachine(n_features_to_select=10).fit(X, y)
    assert_same(FeatureGeneratingMachine(n_features_to_select=10).fit(shards, y), here)


def test_names_of_parquet_columns(client, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(120, 12)), columns=[f"gene{j}" for j in range(12)])
    frame["y"] = np.where(frame["gene3"] - frame["gene7"] > 0, 1, -1)
    files = [tmp_path / f"part{k}.parquet" for k in range(2)]
    frame[:50].to_parquet(files[0])
    frame[50:].to_parquet(files[1])
    rules = Rules(max_features=3, require=["gene0"])
    here = FeatureGeneratingMachine(rules=rules).fit(frame.drop(columns="y"), frame["y"])
    there = FeatureGeneratingMachine(rules=rules).fit(files)
    assert list(there.get_feature_names_out()) == list(here.get_feature_names_out())
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)


def test_parquet_is_read_by_row_groups_and_columns(client, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(120, 12)), columns=[f"gene{j}" for j in range(12)])
    y = np.where(frame["gene3"] - frame["gene7"] > 0, 1, -1)
    files = [tmp_path / f"part{k}.parquet" for k in range(2)]
    frame.assign(y=y)[:50].to_parquet(files[0], row_group_size=20)
    frame.assign(y=y)[50:].to_parquet(files[1], row_group_size=30)
    here = FeatureGeneratingMachine(n_features_to_select=3, gap=1e-6).fit(frame, y)
    assert_same(FeatureGeneratingMachine(n_features_to_select=3, gap=1e-6).fit(files, None), here)
    # Features in different files.
    parts = [tmp_path / f"columns{k}.parquet" for k in range(2)]
    frame.iloc[:, :5].assign(y=y).to_parquet(parts[0], row_group_size=50)
    frame.iloc[:, 5:].to_parquet(parts[1], row_group_size=70)
    shards = Shards.from_files(parts, axis=1)
    assert shards.feature_names == list(frame.columns)
    assert_same(FeatureGeneratingMachine(n_features_to_select=3, gap=1e-6).fit(shards, None), here)
    # What a shard reads.
    read, seen = parquet.ParquetFile.read_row_group, []
    monkeypatch.setattr(parquet.ParquetFile, "read", None)

    def watched(file, group, columns):
        seen.append((group, columns))
        return read(file, group, columns=columns)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", watched)
    names = ["gene4", "gene5"]
    shard = _parquet_shard(4, [str(file) for file in files], 120, names)
    assert seen == [(0, names), (1, names), (2, names), (0, names), (1, names), (2, names)]
    np.testing.assert_array_equal(shard.columns([4, 5]), frame[names])
    frame.assign(gene2=[{"size": 3, "values": [1.0]}] * 120, y=y).to_parquet(files[1])
    with pytest.raises(ValueError, match=r"column 'gene2' of .*part1.parquet holds struct<.*>, not numbers"):
        Shards.from_files(files)
    frame.drop(columns="gene2").assign(y=y).to_parquet(files[1])
    with pytest.raises(ValueError, match=r"part1.parquet has other columns than .*part0.parquet"):
        Shards.from_files(files)


def test_shards_of_column_files_stay_on_the_disk(client, tmp_path):
    X, y = text()
    file = tmp_path / "words.csc"
    dump_columns(file, X, y)
    shards = Shards.from_files([file])
    # More than there are workers, each of its column starts alone.
    assert 2 < len(shards.futures) <= 8 and shards.shape == X.shape and shards.stored == X.nnz
    sizes = client.gather(client.map(sys.getsizeof, shards.futures, pure=False))
    assert sum(sizes) < 8 * 5000 + 200 * len(sizes) < 12 * X.nnz / 8
    of = [
        lambda: FeatureGeneratingMachine(n_features_to_select=10, gap=1e-3),
        l1,
        lambda: InformationGain(n_features_to_select=10),
    ]
    # Two files of features, the second with names as the first.
    parts = [tmp_path / f"columns{k}.csc" for k in range(2)]
    for part, columns in zip(parts, np.split(np.arange(5000), [4000]), strict=True):
        dump_columns(part, X[:, columns], y, feature_names=[f"word{j}" for j in columns])
    named = Shards.from_files(parts, axis=1)
    assert named.feature_names == [f"word{j}" for j in range(5000)]
    for make in of:
        here = make().fit(X, y)
        assert_same(make().fit([file], None), here)
        assert_same(make().fit(named, None), here)
    np.testing.assert_array_equal(shards[:, [4999, 0, 7]].toarray(), X[:, [4999, 0, 7]].toarray())
    with pytest.raises(ValueError, match="2 column files: give axis=1"):
        Shards.from_files(parts)
    with pytest.raises(ValueError, match="different kinds"):
        Shards.from_files([file, tmp_path / "a.svm"])
    with pytest.raises(OSError, match="nowhere.csc: no such file"):
        Shards.from_files([tmp_path / "nowhere.csc"])


def test_a_changed_byte_of_a_column_file_is_found(client, tmp_path):
    X, y = text(n=50, p=100)
    file = tmp_path / "words.csc"
    dump_columns(file, X, y)
    data = bytearray(file.read_bytes())
    up = lambda at: -(-at // 64) * 64
    values = up(up(128 + 8 * 101) + 4 * X.nnz)
    # The lowest bit of a value: still a number, which only the checksum tells.
    data[values + 8 * 60] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match=r"words.csc is damaged, or workers see different files"):
        Shards.from_files([file])
    data[128 + 8 * 50] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match="the checksum of the column starts is wrong"):
        Shards.from_files([file])


def test_a_worker_killed_and_one_joined(tmp_path, monkeypatch):
    X, y = text(n=400, p=20000, seed=3)
    file = tmp_path / "words.csc"
    dump_columns(file, X, y)
    options = dict(processes=True, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path))
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        shards = Shards.from_files([file])
        killed = kill_one_in_round(monkeypatch, client, 3)
        joining = Source._begin

        def join(source):
            joining(source)
            if len(source.rounds) == 4:
                cluster.scale(3)
                client.wait_for_workers(3, timeout=120)

        monkeypatch.setattr(Source, "_begin", join)
        there = l1().fit(shards, None)
        assert len(killed) == 1 and len(client.ncores()) == 3
    assert len(there.traffic_["sent"]) > 4
    assert_same(there, l1().fit(X, y))


@pytest.mark.parametrize("victims", [1, 2])
def test_a_killed_worker_changes_nothing(client, victims):
    X, y = text(n=400, p=20000, seed=3)
    options = {"n_features_to_select": 10, "gap": 1e-3}
    here = FeatureGeneratingMachine(**options).fit(X, y)
    assert here.n_iter_ > 5
    killed = []

    def kill_in_round_3(progress):
        if progress.event == "step" and progress.done == 3 and not killed:
            pids = client.run(os.getpid)
            killed.extend(list(pids.values())[:victims])
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    there = FeatureGeneratingMachine(**options, callback=kill_in_round_3)
    there.fit(column_blocks(X, [12000, 8000]), y)
    assert len(killed) == victims and not set(killed) & set(client.run(os.getpid).values())
    assert_same(there, here)
    client.wait_for_workers(2, timeout=120)


def l1(**options):
    return L1SVMSelector(**{"C": 1.0, "loss": "squared_hinge", "gap": 1e-9, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False, "class_weight": "balanced", "C": 3.0},
        {"intercept_scaling": 2.0, "Cs": [0.3, 1.0, 3.0]},
        {"n_features_to_select": 10},
        {"rules": Rules(max_features=8, require=[4999, 7], forbid=[0, 2500])},
        {"rules": Rules(max_features=6, implies=[(3, 4)], at_most=[(1, range(100))])},
        {"rules": Rules(signs=dict.fromkeys(range(3000), 1) | dict.fromkeys(range(3000, 4000), -1), bounds={4500: (-0.1, 0.2)})},
    ],
)
def test_the_l1_svm_is_that_of_one_machine(client, options):
    X, y = text()
    here = l1(**options).fit(X, y)
    there = l1(**options).fit(column_blocks(X, [1700, 300, 3000]), da.from_array(y))
    assert_same(there, here)
    assert 0 < here.n_features_ < 300
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


@pytest.mark.parametrize("bins", [None, 4])
@pytest.mark.parametrize(
    "rules", [Rules(max_features=10), Rules(max_features=6, require=[4999], implies=[(3, 4)], at_most=[(1, range(100))])]
)
def test_information_gain_is_that_of_one_machine_to_the_last_bit(client, bins, rules):
    X, y = text()
    y = np.where(np.arange(300) % 5 == 0, "news", y)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    options = {"bins": bins, "rules": rules, "class_weight": {"ham": 2.0}}
    here = InformationGain(**options).fit(X, y, weight)
    there = InformationGain(**options).fit(column_blocks(X, [1700, 300, 3000]), y, weight)
    assert_same(there, here)
    assert len(there.classes_) == 3
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    # Classes and weights to two workers, a gain of each feature back; then the columns selected.
    assert there.traffic_["sent"][0] < 2 * 12 * 300 + 100 and there.traffic_["received"][0] == 8 * 5000


def rfe(**options):
    return SVMRFE(**{"n_features_to_select": 10, "step": 0.5, "step_of": "remaining", "tol": 1e-10, "max_memory": "8M", **options})


def genes(n=80, p=12000, seed=4):
    """Dense samples of which 8 MB of memory hold few columns."""
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(n, p)), order="F")
    return X, np.where(X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n) > 0, "sick", "well")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"step": 0.1, "step_of": "original", "loss": "squared_hinge", "class_weight": "balanced"},
        {"rules": Rules(max_features=6, require=[11999], implies=[(3, 4)]), "n_features_to_select": None, "start": range(0, 12000, 2)},
        {"step": 5000, "fit_intercept": False},
    ],
)
def test_an_elimination_is_that_of_one_machine(client, options):
    X, y = genes()
    weight = np.linspace(0, 2, 80)
    if "start" in options:
        options = {**options, "start": sorted({*options["start"], 3, 11999})}
    here = rfe(max_memory=None, **options).fit(X, y, weight)
    there = rfe(**options).fit(da.from_array(X, chunks=(80, 5000)), y, weight)
    assert here.elimination_steps_ == there.elimination_steps_
    np.testing.assert_array_equal(there.ranking_, here.ranking_)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    # Products and scores of rounds, then the columns of those that are left.
    received = there.traffic_["received"]
    assert len(received) >= 2 and received[0] == 8 * 80 * 81 / 2 and received[1] >= 8 * 12000


def test_an_elimination_of_three_classes(client):
    X, y = genes(p=5000)
    y = np.where(X[:, 9] > 1, "dead", y)
    here = rfe(max_memory=None).fit(X, y)
    there = rfe(max_memory="2M").fit(da.from_array(X, chunks=(40, 1700)), y)
    assert len(there.classes_) == 3 and len(there.traffic_["sent"]) > 3
    np.testing.assert_array_equal(there.ranking_, here.ranking_)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)


def test_an_elimination_of_samples_too_many_for_products_of_all_pairs(client, monkeypatch):
    X, y = genes(n=120, p=3000)
    # 19 KB of memory hold neither 120 x 120 numbers nor a copy of more than five features.
    options = {"loss": "squared_hinge", "C": 0.01, "n_features_to_select": 3}
    here = rfe(max_memory=None, **options).fit(X, y)
    there = rfe(max_memory="19K", **options).fit(da.from_array(X, chunks=(50, 1100)), y)
    np.testing.assert_array_equal(there.ranking_, here.ranking_)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    received = there.traffic_["received"]
    assert len(received) > 100 and set(received[:5]) == {8 * 120}
    killed = kill_one_in_round(monkeypatch, client, 30)
    again = rfe(max_memory="19K", **options).fit(da.from_array(X, chunks=(50, 1100)), y)
    assert len(killed) == 1
    assert_same(again, there)
    client.wait_for_workers(2, timeout=120)
    with pytest.raises(MemoryError, match="take the squared hinge"):
        rfe(max_memory="19K").fit(da.from_array(X, chunks=(50, 1100)), y)


def test_a_killed_worker_does_not_change_an_elimination(client, monkeypatch):
    X, y = genes()
    X = da.from_array(X, chunks=(80, 5000))
    first = rfe().fit(X, y)
    killed = kill_one_in_round(monkeypatch, client, 3)
    again = rfe().fit(X, y)
    assert len(killed) == 1 and killed[0] not in client.run(os.getpid).values()
    assert_same(again, first)
    np.testing.assert_array_equal(again.elimination_order_, first.elimination_order_)
    client.wait_for_workers(2, timeout=120)


def test_an_elimination_on_workers_refuses_what_it_does_not_do(client):
    shards = Shards.from_array(da.from_array(genes(p=100)[0], chunks=(80, 50)))
    y = genes(p=100)[1]
    for name, value in {
        "kernel": "rbf",
        "criterion": "margin",
        "cv": 3,
        "Cs": [1.0, 2.0],
        "impute": "mean",
        "scale": True,
        "resume": "state",
    }.items():
        with pytest.raises(ValueError, match=f"{name} is .*, but columns on workers are eliminated by"):
            SVMRFE(**{name: value}).fit(shards, y)
    with pytest.raises(TypeError, match="from samples in memory only; give a number"):
        SVMRFE(C="auto").fit(shards, y)


def kill_one_in_round(monkeypatch, client, number):
    """The worker with most of the shards is killed as this round begins; returns the list of those killed."""
    begin, killed = Source._begin, []

    def begin_and_kill(source):
        begin(source)
        if len(source.rounds) == number and not killed:
            most = max(client.has_what().items(), key=lambda has: len(has[1]))[0]
            killed.append(client.run(os.getpid)[most])
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Source, "_begin", begin_and_kill)
    return killed


def test_a_killed_worker_does_not_change_the_l1_svm(client, monkeypatch):
    X, y = text(n=400, p=20000, seed=3)
    blocks = column_blocks(X, [12000, 8000])
    killed = kill_one_in_round(monkeypatch, client, 3)
    there = l1().fit(blocks, y)
    assert len(killed) == 1 and killed[0] not in client.run(os.getpid).values()
    # In rounds, none of which brings all scores.
    assert len(there.traffic_["sent"]) > 4 and there.traffic_["received"].max() < 8 * 20000 / 2
    assert_same(there, l1().fit(X, y))
    client.wait_for_workers(2, timeout=120)


def test_a_killed_worker_does_not_change_information_gain(client, monkeypatch):
    X, y = text(n=400, p=20000, seed=3)
    here = InformationGain(n_features_to_select=10).fit(X, y)
    killed = kill_one_in_round(monkeypatch, client, 1)
    there = InformationGain(n_features_to_select=10).fit(column_blocks(X, [12000, 8000]), y)
    assert len(killed) == 1 and killed[0] not in client.run(os.getpid).values()
    assert_same(there, here)
    client.wait_for_workers(2, timeout=120)


def test_files_and_dense_blocks_of_the_other_methods(client, tmp_path):
    X, y = text()
    X.data, y = np.round(X.data, 6), np.where(y == "spam", 1, -1)
    files = []
    for k, rows in enumerate(np.split(np.arange(300), [90, 250])):
        files.append(tmp_path / f"part{k}.svm")
        dump_svmlight_file(X[rows], y[rows], str(files[-1]), zero_based=False)
    shards = Shards.from_files(files, n_features=5000)
    assert_same(l1().fit(shards, None), l1().fit(X, y))
    gain = lambda: InformationGain(n_features_to_select=10)
    assert_same(gain().fit(shards, None), gain().fit(X, y))
    dense = np.asarray(X[:, :200].toarray(), order="F")
    blocks = da.from_array(dense, chunks=(70, 90))
    assert_same(l1().fit(blocks, y), l1().fit(dense, y))
    assert_same(gain().fit(blocks, y), gain().fit(dense, y))


def test_what_the_other_methods_refuse(client):
    X, y = text(n=50, p=100)
    blocks = column_blocks(X, [60, 40])
    with pytest.raises(ValueError, match='loss="squared_hinge": the linear program of the hinge needs X in memory'):
        L1SVMSelector().fit(blocks, y)
    with pytest.raises(ValueError, match="Only binary"):
        l1().fit(blocks, np.arange(50) % 3)
    for selector in (l1(C="auto"), InformationGain(C="auto")):
        with pytest.raises(TypeError, match="from samples in memory only; give a number"):
            selector.fit(blocks, y)
    for selector in (l1(), InformationGain()):
        with pytest.raises(TypeError, match=r"path needs .* X.compute\(\)"):
            selector.path(blocks, y, [1, 2])
        with pytest.raises(TypeError, match=r"X.compute\(\)"):
            selector.fit(X, y).certify(blocks, y)
        with pytest.raises(ValueError, match="y is None"):
            selector.fit(blocks, None)
    with pytest.raises(ValueError, match="one class"):
        InformationGain().fit(blocks, np.ones(50))
    with pytest.raises(ValueError, match="fgm, l1-svm, rfe and info-gain, not for exact"):
        ExactOnShards(n_features_to_select=5).fit(blocks, y)
    with pytest.raises(TypeError, match=r"path needs .* X.compute\(\)"):
        SVMRFE().path(Shards.from_array(blocks), y, [1, 2])
    with pytest.raises(ValueError, match="bound weights, which this method does not obey"):
        SVMRFE(rules=Rules(max_features=3, signs={0: 1})).fit(blocks, y)


def test_what_takes_no_shards_says_so(client):
    X, y = text(n=50, p=100)
    shards = Shards.from_array(column_blocks(X, [60, 40]))
    for call in (
        lambda: EvaluationRFE().fit(shards, y),
        lambda: Study().fit(shards, y),
        lambda: InformationGain().fit(X, y).predict(shards),
    ):
        with pytest.raises(TypeError, match=r"needs the samples in memory here, not Shards; give shards\[:, features\]"):
            call()
    # The way that the page names.
    X, y = text()
    shards = Shards.from_array(column_blocks(X, [2600, 2400]))
    filtered = InformationGain(n_features_to_select=20).fit(shards, y)
    few = ExactSelector(n_features_to_select=5).fit(shards[:, filtered.support_], y)
    np.testing.assert_array_equal(few.support_, ExactSelector(n_features_to_select=5).fit(X[:, filtered.support_], y).support_)


class ExactOnShards(ExactSelector):
    """As if it could."""

    _tags = replace(ExactSelector._tags, shards="binary")


def test_what_is_sent(client):
    X, y = text()
    machine = FeatureGeneratingMachine(n_features_to_select=10).fit(column_blocks(X, [2500, 2500]), y)
    traffic = machine.traffic_
    # One round begins the run, each of the others ends with a pass.
    assert len(traffic["sent"]) == machine.n_iter_ + 1
    alpha = 8 * 300
    assert (traffic["sent"] >= 2 * alpha).all() and (traffic["sent"] <= 2 * alpha + 1000).all()
    # Two shards: the 10 best features with their scores, and at most two more for each current column;
    # and the columns that are generated, far from all of them.
    at_hand = np.array([0, *(round["columns"] for round in machine.rounds_)])
    beside = traffic["received"] - 2 * 16 * 10
    columns = np.maximum(beside - 2 * 16 * 2 * at_hand, 0)
    assert (beside >= 0).all() and 0 < columns.sum() < 12 * X.nnz / 10
    assert (traffic["seconds"] > 0).all()


def test_bad_input_says_what_is_wrong(client, tmp_path):
    X, y = text(n=50, p=100)
    X.data[70] = np.nan
    row, feature = X.indices[70], np.searchsorted(X.indptr, 70, side="right") - 1
    assert feature > 60
    machine = FeatureGeneratingMachine()
    with pytest.raises(ValueError, match=f"sample {row}, feature {feature} is NaN"):
        machine.fit(column_blocks(X, [60, 40]), y)
    X, y = text(n=50, p=100)
    blocks = column_blocks(X, [60, 40])
    with pytest.raises(ValueError, match="X has 50 samples, but y has 49"):
        machine.fit(blocks, y[1:])
    with pytest.raises(ValueError, match="Only binary"):
        machine.fit(blocks, np.arange(50) % 3)
    with pytest.raises(ValueError, match="one class"):
        machine.fit(blocks, np.ones(50))
    with pytest.raises(TypeError, match="turn texts into numbers"):
        machine.fit(["a text", "another"], [0, 1])
    with pytest.raises(TypeError, match=r"X.compute\(\)"):
        machine.fit(X, y).certify(blocks, y)
    with pytest.raises(ValueError, match="y is None"):
        machine.fit(blocks, None)
    with pytest.raises(FileNotFoundError, match="nowhere.svm"):
        machine.fit([tmp_path / "nowhere.svm"], None)
    with pytest.raises(ValueError, match="ending '.xls'"):
        machine.fit([tmp_path / "table.xls"], None)
    with pytest.raises(TypeError, match="files on workers end with .svm, .npz, .parquet or .csc"):
        machine.fit(["table.xls"], [0])


def test_the_page_s_first_lines_run_as_a_script(tmp_path):
    """Its workers import the script, which is not to start a cluster of theirs."""
    page = (Path(__file__).parents[1] / "docs" / "dask.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    small = "Client(n_workers=1, threads_per_worker=1, dashboard_address=None)"
    code = code.replace("Client() ", small).replace("50_000), chunks=(-1, 25_000", "500), chunks=(-1, 250").replace("40_000", "400")
    assert small in code and "400] > 0" in code
    script = tmp_path / "script.py"
    script.write_text(code)
    home = str(Path(__file__).parents[1])
    ran = subprocess.run([sys.executable, script], cwd=home, env={**os.environ, "PYTHONPATH": home}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "array([" in ran.stdout


def test_blocks_of_samples_are_classified_as_the_page_says(client):
    X, y = text(n=60, p=100)
    machine = FeatureGeneratingMachine(n_features_to_select=5).fit(X, y)
    spread = da.from_array(X.toarray(), chunks=(20, -1))
    line = "X.map_blocks(machine.predict, drop_axis=1, dtype=y.dtype)"
    assert line in (Path(__file__).parents[1] / "docs" / "dask.md").read_text()
    np.testing.assert_array_equal(eval(line, {"X": spread, "machine": machine, "y": y}).compute(), machine.predict(X))


SELECTORS = [FeatureGeneratingMachine(n_features_to_select=10), EvaluationRFE(Cs=(1.0,), candidates=1, cv=3, n_jobs=1)]


@pytest.mark.parametrize("selector", SELECTORS, ids=["generating", "evaluation"])
def test_cross_validation_through_joblib(client, selector):
    import joblib

    X, y = text(n=90, p=60)
    here = cross_validate(selector, X, y, cv=3)["test_score"]
    with joblib.parallel_config(backend="dask"):
        there = cross_validate(selector, X, y, cv=3, n_jobs=-1)["test_score"]
    np.testing.assert_array_equal(there, here)


def test_stability_through_joblib(client):
    import joblib

    X, y = text(n=90, p=60)
    of = lambda: StabilityDisplay.from_estimator(SVMRFE(n_features_to_select=5), X, y, n_splits=6, random_state=0, n_jobs=-1)
    here = of()
    with joblib.parallel_config(backend="dask"):
        np.testing.assert_array_equal(of().frequency, here.frequency)


DOORS = {
    "evaluate": lambda X, y, n_jobs: evaluate(SVMRFE(n_features_to_select=5), X, y, cv=4, n_jobs=n_jobs).summary["accuracy"],
    "stability": lambda X, y, n_jobs: stability(SVMRFE(n_features_to_select=5), X, y, n_pairs=3, n_jobs=n_jobs).frequency.tolist(),
    "knockoffs": lambda X, y, n_jobs: knockoffs(
        SVMRFE(n_features_to_select=5), X.toarray(), y, n_draws=2, n_jobs=n_jobs
    ).selected.tolist(),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_fans_out_by_joblib_runs_on_workers(client, door):
    import joblib

    X, y = text(n=90, p=60)
    here = DOORS[door](X, y, None)
    tasks = lambda: client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    before = tasks()
    with joblib.parallel_config(backend="dask"):
        assert DOORS[door](X, y, -1) == here
    assert tasks() > before


def test_a_study_is_one_task(client):
    X, y = text(n=60, p=60)
    study = Study(sizes=3, cv=3, n_repeats=1, inner_cv=3, n_Cs=2, methods=["rfe"])
    there = client.submit(study.fit, X, y, pure=False).result()
    np.testing.assert_array_equal(there.support_, study.fit(X, y).support_)
    assert there.summary_ == study.summary_
