"""Wrong input: the exact class of exception, and a sentence that says what to do."""

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
    ({"a": np.ones((3, 4))}, ValueError, "view 'a' is 3 x 4; an adjacency matrix is square"),
    ({"a": changed(-1)}, ValueError, "view 'a': weight -1.0 of the edge 0 - 1"),
    ({"a": changed(np.nan)}, ValueError, "view 'a': weight nan of the edge 0 - 1"),
    ({"a": changed(np.inf)}, ValueError, "weight inf"),
    ({"a": GOOD.astype(complex)}, TypeError, "complex128; real numbers"),
    ({"a": sp.csr_matrix(GOOD.astype(complex))}, TypeError, "complex128; real numbers"),
    ({"a": GOOD.astype(object)}, TypeError, "object; real numbers"),
    ({"a": np.array([["x"]])}, TypeError, "real numbers"),
    ({"a": np.ones(4)}, ValueError, "1 dimensions"),
    ({}, ValueError, "no views were given"),
    ([], ValueError, "no views were given"),
    (np.zeros((4, 4)), ValueError, "has no edge"),
    (np.eye(4), ValueError, "edge"),
    (np.zeros((0, 0)), ValueError, "0 nodes"),
    ({1: GOOD, "1": GOOD}, ValueError, "two views are called '1'"),
    ({"": GOOD}, ValueError, "needs a name"),
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
    with pytest.raises(ValueError, match="no column 'source', only u, target"):
        fit(table.rename(columns={"source": "u"}))
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
    with pytest.raises(ValueError, match="delimiter = 'x' is not one of"):
        manyview.read_network(tmp_path / "bad.tsv", delimiter="x")
    with pytest.raises(ValueError, match="no views"):
        manyview.read_network({})


PARAMETERS = [
    ({"dim": 0}, "dim = 0"),
    ({"dim": "many"}, "dim = 'many' is not a whole number"),
    ({"dim": 2.5}, "dim = 2.5 is not a whole number"),
    ({"dim": True}, "dim = True"),
    ({"dim": -1}, "dim = -1"),
    ({"stages": 0}, "stages = 0"),
    ({"stages": 10**9}, "stages = 1000000000"),
    ({"consensus_stages": 9}, "consensus_stages = 9"),
    ({"gamma": 0}, "gamma = 0"),
    ({"gamma": float("nan")}, "gamma = NaN"),
    ({"gamma": "big"}, "gamma = 'big' is not a number"),
    ({"window": 0}, "window = 0"),
    ({"negative": -1}, "negative = -1"),
    ({"solver": "sgd"}, 'solver = "sgd" is not one of hals, mu'),
    ({"solver": None}, "solver = None is not text"),
    ({"consensus": "x"}, 'consensus = "x" is not one of pooled, shared'),
    ({"share": "x"}, "share"),
    ({"normalize": "x"}, "normalize"),
    ({"scale": "x"}, "scale"),
    ({"init": "x"}, "init"),
    ({"stop": "x"}, "stop"),
    ({"unique_solver": "x"}, "unique_solver"),
    ({"max_iter": 0}, "max_iter = 0"),
    ({"tol": -1}, "tol = -1"),
    ({"seed": -1}, "seed = -1"),
    ({"seed": 2**64}, "seed = 18446744073709551616"),
    ({"threads": 0}, "threads = 0"),
    ({"threads": 10**6}, "threads = 1000000"),
    ({"stage_dims": 3}, "stage_dims = 3"),
    ({"stage_dims": [1, "x"]}, "stage_dims = 'x'"),
    ({"unique_first": "yes"}, "unique_first"),
    ({"progress": 3}, "progress = 3"),
    ({"duplicates": "x"}, 'duplicates = "x" is not one of sum, max'),
    ({"directed": ["nobody"]}, "there is no view 'nobody'"),
    ({"max_memory": "1G"}, "max_memory = '1G'"),
]


@pytest.mark.parametrize("parameters, words", PARAMETERS)
def test_parameters_are_named(parameters, words):
    model = manyview.MNMF(**parameters)
    with pytest.raises(ValueError) as raised:
        model.fit({"a": nx.path_graph(6)})
    assert words in str(raised.value)
    assert "--" not in str(raised.value)


def test_a_view_that_says_nothing_gets_advice_in_pythons_words():
    with pytest.raises(ValueError, match="negative=") as raised:
        manyview.MNMF(dim=2, stages=2, negative=1000).fit({"a": nx.karate_club_graph()})
    assert "--" not in str(raised.value)


FACTORIZE = [
    (dict(matrices=[]), ValueError, "no matrices"),
    (dict(matrices=[GOOD, np.ones((2, 2))], dim=2), ValueError, "differ in shape"),
    (dict(matrices=GOOD), ValueError, "dim is needed"),
    (dict(matrices=-GOOD, dim=2), ValueError, "finite and at least 0"),
    (dict(matrices=changed(np.nan), dim=2), ValueError, "finite and at least 0"),
    (dict(matrices=GOOD * 0, dim=2), ValueError, "no entries"),
    (dict(matrices=GOOD[:0], dim=2), ValueError, "nothing to factorize"),
    (dict(matrices=GOOD, dim=0), ValueError, "dim = 0"),
    (dict(matrices=GOOD, dim=2, gamma=0), ValueError, "gamma"),
    (dict(matrices=GOOD, dim=2, solver="x"), ValueError, "solver"),
    (dict(matrices=GOOD, dim=2, max_iter=0), ValueError, "max_iter"),
    (dict(matrices=GOOD, dim=2, tol=-1), ValueError, "tol"),
    (dict(matrices=GOOD, dim=2, normalize="max"), ValueError, "normalize"),
    (dict(matrices=GOOD, init=3), ValueError, "init is a pair"),
    (dict(matrices=GOOD, init=(np.ones((4, 2)), [])), ValueError, "0 right factors"),
    (dict(matrices=GOOD, init=(np.ones((3, 2)), [np.ones((2, 4))])), ValueError, "U is 3 x 2, 4 x 2"),
    (dict(matrices=GOOD, init=(np.ones((4, 2)), [np.ones((4, 2))])), ValueError, "V\\[0\\] is 4 x 2, 2 x 4"),
    (dict(matrices=GOOD, init=(-np.ones((4, 2)), [np.ones((2, 4))])), ValueError, "U must be finite"),
    (dict(matrices=GOOD, dim=3, init=(np.ones((4, 2)), [np.ones((2, 4))])), ValueError, "dim = 3"),
    (dict(matrices=GOOD.astype(complex), dim=2), TypeError, "real numbers"),
]


@pytest.mark.parametrize("arguments, kind, words", FACTORIZE)
def test_factorize(arguments, kind, words):
    with pytest.raises(kind, match=words):
        manyview.factorize(**arguments)


def test_proximity_and_generate():
    with pytest.raises(ValueError, match="one view, got 2"):
        manyview.proximity([GOOD, GOOD])
    with pytest.raises(ValueError, match="window = 0"):
        manyview.proximity(GOOD, window=0)
    with pytest.raises(ValueError, match="negative = NaN"):
        manyview.proximity(GOOD, negative=float("nan"))
    with pytest.raises(ValueError, match="isolated"):
        manyview.proximity(GOOD, isolated="x")
    with pytest.raises(ValueError, match="dtype = int64"):
        manyview.proximity(GOOD, dtype=np.int64)
    with pytest.raises(ValueError, match="degree"):
        manyview.generate(nodes=10, degree=100)
    with pytest.raises(ValueError, match="nodes = -1"):
        manyview.generate(nodes=-1)


def test_broken_sparse_matrices_are_no_crash():
    broken = sp.csr_matrix(GOOD)
    broken.indices = broken.indices.copy()
    broken.indices[0] = 99
    for call in (lambda: manyview.MNMF(dim=2, stages=2).fit([broken]), lambda: manyview.factorize(broken, dim=2)):
        with pytest.raises((ValueError, IndexError)):
            call()
