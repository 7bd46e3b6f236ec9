"""Invalid input: the exact class of the exception, and a message that says what to do."""

import manyview
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

GOOD = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], dtype=float)


def changed(value):
    matrix = GOOD.copy()
    matrix[0, 1] = value
    return matrix


MATRICES = [
    ({"a": GOOD, "b": np.ones((3, 3))}, ValueError, "a has 4, b has 3"),
    ({"a": np.ones((3, 4))}, ValueError, "view 'a' is 3 x 4; expected a square matrix"),
    ({"a": changed(-1)}, ValueError, "view 'a': weight -1.0 of the edge 0 - 1"),
    ({"a": changed(np.nan)}, ValueError, "view 'a': weight nan of the edge 0 - 1"),
    ({"a": changed(np.inf)}, ValueError, "weight inf"),
    ({"a": GOOD.astype(complex)}, TypeError, "complex128; expected real numbers"),
    ({"a": sp.csr_matrix(GOOD.astype(complex))}, TypeError, "complex128; expected real numbers"),
    ({"a": GOOD.astype(object)}, TypeError, "object; expected real numbers"),
    ({"a": np.array([["x"]])}, TypeError, "real numbers"),
    ({"a": np.ones(4)}, ValueError, "1 dimensions"),
    ({}, ValueError, "expected at least one view"),
    ([], ValueError, "expected at least one view"),
    (np.zeros((4, 4)), ValueError, "has no edge"),
    (np.eye(4), ValueError, "edge"),
    (np.zeros((0, 0)), ValueError, "0 nodes"),
    ({1: GOOD, "1": GOOD}, ValueError, "two views have the name '1'"),
    ({"": GOOD}, ValueError, "the name of a view is empty"),
    ({"a": 3}, TypeError, "not int"),
    (3, TypeError, "not int"),
    (None, TypeError, "not NoneType"),
    ({"a": GOOD, "b": nx.path_graph(4)}, TypeError, "views of different kinds \\(graph, matrix\\)"),
]


@pytest.mark.parametrize("views, kind, words", MATRICES)
def test_matrices(views, kind, words):
    with pytest.raises(kind, match=words) as raised:
        manyview.MNMF(dim=2, stages=2).fit(views)
    assert raised.type is kind


def test_graphs_and_tables():
    fit = manyview.MNMF(dim=2, stages=2).fit
    with pytest.raises(ValueError, match="has no edge"):
        fit({"a": nx.empty_graph(5)})
    with pytest.raises(TypeError, match="mix text and numbers"):
        fit({"a": nx.path_graph(3), "b": nx.Graph([("0", "1"), ("1", "2")])})
    with pytest.raises(ValueError, match="'weight' of an edge is not a number"):
        fit({"a": nx.Graph([(0, 1, {"weight": "heavy"})])})
    with pytest.raises(ValueError, match="neither the attribute 'relation' nor a key"):
        fit(nx.MultiGraph([(0, 1), (1, 2)]))
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    with pytest.raises(ValueError, match="the columns are person, target, note; choose with source=\"COL\" and target=\"COL\""):
        fit(table.rename(columns={"source": "person"}).assign(note=["x", "y"]))
    with pytest.raises(ValueError, match="id is missing"):
        fit(table.assign(target=["b", None]))
    with pytest.raises(ValueError, match="id is missing"):
        fit(pd.DataFrame({"source": [1.0, np.nan], "target": [2.0, 3.0]}))
    with pytest.raises(ValueError, match="weight -2.0 of the edge b - c"):
        fit(table.assign(weight=[1, -2]))
    with pytest.raises(ValueError, match="a weight is not a number"):
        fit(table.assign(weight=["x", "y"]))
    with pytest.raises(TypeError, match="mix text and numbers"):
        fit({"a": table, "b": pd.DataFrame({"source": [1], "target": [2]})})
    with pytest.raises(TypeError, match="unhashable"):
        fit(pd.DataFrame({"source": [[1], [2]], "target": [[2], [3]]}))


def test_files(tmp_path):
    fit = manyview.MNMF(dim=2, stages=2).fit
    with pytest.raises(FileNotFoundError, match="nowhere"):
        fit(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere.tsv"):
        fit({"a": tmp_path / "nowhere.tsv"})
    (tmp_path / "bad.tsv").write_text("a\tb\t1\nb\tc\t-1\n")
    with pytest.raises(ValueError, match="bad.tsv:2"):
        fit({"a": tmp_path / "bad.tsv"})
    with pytest.raises(ValueError, match='delimiter="x": expected one of tab, comma'):
        manyview.read_network(tmp_path / "bad.tsv", delimiter="x")
    with pytest.raises(ValueError, match="at least one view"):
        manyview.read_network({})


PARAMETERS = [
    ({"dim": 0}, "dim=0: expected a whole number from 1 to 1048576; the usual choice is 256"),
    ({"dim": "many"}, 'dim="many": expected a whole number'),
    ({"dim": 2.5}, "dim=2.5: expected a whole number"),
    ({"dim": True}, "dim=True: expected a whole number"),
    ({"dim": -1}, "dim=-1: expected a whole number"),
    ({"stages": 0}, "stages=0: expected"),
    ({"stages": 10**9}, "stages=1000000000: expected"),
    ({"consensus_stages": 9}, "consensus_stages=9 exceeds stages=5"),
    ({"gamma": 0}, "gamma=0: expected a number above 0"),
    ({"gamma": float("nan")}, "gamma=nan: expected a number above 0"),
    ({"gamma": float("inf")}, "gamma=inf: expected a number above 0"),
    ({"gamma": "big"}, 'gamma="big": expected a number above 0'),
    ({"window": 0}, "window=0: expected"),
    ({"negative": -1}, "negative=-1: expected"),
    ({"solver": "sgd"}, 'solver="sgd": expected one of accelerated-hals, hals, mu'),
    ({"solver": None}, "solver=None: expected one of accelerated-hals, hals, mu"),
    ({"consensus": "x"}, 'consensus="x": expected one of pooled, shared'),
    ({"share": "x"}, 'share="x": expected one of'),
    ({"normalize": "x"}, 'normalize="x": expected one of'),
    ({"scale": "x"}, 'scale="x": expected one of'),
    ({"init": "x"}, 'init="x": expected one of'),
    ({"stop": "x"}, 'stop="x": expected one of'),
    ({"unique_solver": "x"}, 'unique_solver="x": expected one of'),
    ({"max_iter": 0}, "max_iter=0: expected"),
    ({"tol": -1}, "tol=-1: expected"),
    ({"seed": -1}, "seed=-1: expected a whole number"),
    ({"seed": 2**64}, "seed=18446744073709551616: expected a whole number"),
    ({"seed": False}, "seed=False: expected a whole number"),
    ({"threads": 0}, "threads=0: expected a whole number from 1 to 4096"),
    ({"threads": 10**6}, "threads=1000000: expected a whole number from 1 to 4096"),
    ({"stage_dims": 3}, "stage_dims=3: expected a list of whole numbers"),
    ({"stage_dims": [1, "x"]}, "expected a list of whole numbers"),
    ({"stage_dims": {1, 2}}, "expected a list of whole numbers"),
    ({"stage_dims": [8, 4], "dim": 20}, "stage_dims"),
    ({"auto": "yes"}, 'auto="yes": expected true or false'),
    ({"progress": 3}, "progress=3: expected True, False or a callable"),
    ({"verbose": 3}, "verbose=3: expected True or False"),
    ({"duplicates": "x"}, 'duplicates="x": expected one of sum, max'),
    ({"directed": ["nobody"]}, "unknown view 'nobody'"),
    ({"max_memory": "1"}, "max_memory='1': expected a number of bytes"),
    ({"max_memory": 0}, "max_memory=0: expected a whole number from 1"),
]


@pytest.mark.parametrize("parameters, words", PARAMETERS)
def test_parameters_are_named(parameters, words):
    model = manyview.MNMF(**parameters)
    with pytest.raises(ValueError) as raised:
        model.fit({"a": nx.path_graph(6)})
    assert words in str(raised.value)
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("value", ["many", 2.5, None, [3], object(), True])
def test_a_wrong_type_is_a_value_error_and_a_type_error(value):
    for call in (
        lambda: manyview.MNMF(dim=value).fit({"a": nx.path_graph(6)}),
        lambda: manyview.embed({"a": nx.path_graph(6)}, "netmf", dim=value),
        lambda: manyview.factorize(GOOD, dim=[value]),
    ):
        with pytest.raises(ValueError) as raised:
            call()
        assert issubclass(raised.type, TypeError)


def test_a_view_without_entries_gets_advice_in_the_notation_of_python():
    with pytest.raises(ValueError, match="negative=") as raised:
        manyview.MNMF(dim=2, stages=2, negative=1000).fit({"a": nx.karate_club_graph()})
    assert "--" not in str(raised.value)


FACTORIZE = [
    (dict(matrices=[]), ValueError, "at least one matrix"),
    (dict(matrices=[GOOD, np.ones((2, 2))], dim=2), ValueError, "differ in shape"),
    (dict(matrices=GOOD), ValueError, "dim is missing"),
    (dict(matrices=-GOOD, dim=2), ValueError, "finite and at least 0"),
    (dict(matrices=changed(np.nan), dim=2), ValueError, "finite and at least 0"),
    (dict(matrices=GOOD * 0, dim=2), ValueError, "no entries"),
    (dict(matrices=GOOD[:0], dim=2), ValueError, "empty: 0 x 4"),
    (dict(matrices=GOOD, dim=0), ValueError, "dim=0"),
    (dict(matrices=GOOD, dim=2, gamma=0), ValueError, "gamma"),
    (dict(matrices=GOOD, dim=2, solver="x"), ValueError, "solver"),
    (dict(matrices=GOOD, dim=2, max_iter=0), ValueError, "max_iter"),
    (dict(matrices=GOOD, dim=2, tol=-1), ValueError, "tol"),
    (dict(matrices=GOOD, dim=2, normalize="max"), ValueError, 'normalize="max": expected one of residual, none'),
    (dict(matrices=GOOD, init=3), ValueError, "init: expected a pair"),
    (dict(matrices=GOOD, init=(np.ones((4, 2)), [])), ValueError, "got 0 for 1 matrices"),
    (dict(matrices=GOOD, init=(np.ones((3, 2)), [np.ones((2, 4))])), ValueError, "U is 3 x 2, expected 4 x 2"),
    (dict(matrices=GOOD, init=(np.ones((4, 2)), [np.ones((4, 2))])), ValueError, "V\\[0\\] is 4 x 2, expected 2 x 4"),
    (dict(matrices=GOOD, init=(-np.ones((4, 2)), [np.ones((2, 4))])), ValueError, "U must be finite"),
    (dict(matrices=GOOD, dim=3, init=(np.ones((4, 2)), [np.ones((2, 4))])), ValueError, "dim=3"),
    (dict(matrices=GOOD.astype(complex), dim=2), TypeError, "real numbers"),
]


@pytest.mark.parametrize("arguments, kind, words", FACTORIZE)
def test_factorize(arguments, kind, words):
    with pytest.raises(kind, match=words):
        manyview.factorize(**arguments)


def test_proximity_and_generate():
    with pytest.raises(ValueError, match="one view, got 2"):
        manyview.proximity([GOOD, GOOD])
    with pytest.raises(ValueError, match="window=0"):
        manyview.proximity(GOOD, window=0)
    with pytest.raises(ValueError, match="negative=nan"):
        manyview.proximity(GOOD, negative=float("nan"))
    with pytest.raises(ValueError, match="isolated"):
        manyview.proximity(GOOD, isolated="x")
    with pytest.raises(ValueError, match="dtype=int64"):
        manyview.proximity(GOOD, dtype=np.int64)
    with pytest.raises(ValueError, match="degree"):
        manyview.generate(nodes=10, degree=100)
    with pytest.raises(ValueError, match="nodes=-1"):
        manyview.generate(nodes=-1)


def test_broken_sparse_matrices_do_not_crash():
    broken = sp.csr_matrix(GOOD)
    broken.indices = broken.indices.copy()
    broken.indices[0] = 99
    for call in (lambda: manyview.MNMF(dim=2, stages=2).fit([broken]), lambda: manyview.factorize(broken, dim=2)):
        with pytest.raises((ValueError, IndexError)):
            call()


def test_masked_arrays_are_refused():
    """Defect 7: the mask was lost silently, and the values under it were used."""
    masked = np.ma.masked_array(GOOD, mask=GOOD == 0)
    vectors = np.ma.masked_less(np.arange(8.0).reshape(4, 2), 1)
    plain, nodes = np.arange(8.0).reshape(4, 2), np.ma.masked_equal([0, 1, 2, 3], 2)
    calls = {
        "view 'a'": lambda: manyview.MNMF(dim=2, stages=2).fit({"a": masked}),
        "view ": lambda: manyview.MNMF(dim=2, stages=2).fit([GOOD, masked]),
        "nodes": lambda: manyview.Network.from_matrices([GOOD], nodes=nodes),
        "matri": lambda: manyview.factorize(masked, dim=2),
        "init": lambda: manyview.factorize(GOOD, init=(vectors, plain)),
        "z": lambda: manyview.evaluate.classify(vectors, ["x", "x", "y", "y"]),
        "labels": lambda: manyview.evaluate.classify(plain, np.ma.masked_equal([0, 0, 1, 1], 1)),
    }
    for what, call in calls.items():
        with pytest.raises(ValueError, match=f"{what}.* is an array with masked entries, and the mask would be lost"):
            call()
    # Nothing is lost if nothing is masked.
    manyview.MNMF(dim=2, stages=2, negative=1.0).fit({"a": np.ma.masked_array(GOOD)})


def test_two_writers_of_one_folder(tmp_path, planted, small):
    """Defect 6: a result is not saved into a folder that another process writes to."""
    fcntl = pytest.importorskip("fcntl")
    model = small.fit(planted.views)
    with (tmp_path / ".manyview.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another run of manyview is writing to this folder"):
            model.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".manyview.lock"]
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["embedding.npy", "nodes.txt", "run.json"]
