"""All forms of networks."""

import manyview
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

LAYOUTS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.fixture(scope="module")
def expected(planted):
    return manyview.MNMF(dim=16, stages=4).fit_transform(planted.views)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(planted, small, expected, layout):
    views = {name: matrix.asformat(layout) for name, matrix in planted.views.items()}
    assert (small.fit_transform(views) == expected).all()


@pytest.mark.parametrize("kind", [bool, np.int8, np.int64, np.uint16, np.float16, np.float32, np.float64])
def test_every_type_of_number(planted, small, expected, kind):
    if kind is not np.float16:  # which SciPy does not have
        views = {name: matrix.astype(kind) for name, matrix in planted.views.items()}
        assert (small.fit_transform(views) == expected).all()
    dense = {name: matrix.toarray().astype(kind) for name, matrix in planted.views.items()}
    assert (small.fit_transform(dense) == expected).all()


def test_long_indices_and_sparse_arrays(planted, small, expected):
    views = {}
    for name, matrix in planted.views.items():
        long = sp.csr_array(matrix)
        long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
        views[name] = long
    assert (small.fit_transform(views) == expected).all()


def test_lists_stacks_and_halves(planted, small, expected):
    matrices = list(planted.views.values())
    assert (small.fit_transform(matrices) == expected).all()
    assert (small.fit_transform(np.stack([matrix.toarray() for matrix in matrices])) == expected).all()
    assert (small.fit_transform([sp.triu(matrix) for matrix in matrices]) == expected).all()
    assert small.view_names_ == ["view1", "view2", "view3"]


def test_the_callers_matrices_stay_as_they_are(planted, small):
    messy = sp.csr_matrix(planted.views["view1"])
    messy.indices, messy.has_sorted_indices = messy.indices[::1].copy(), False
    before = (messy.indptr.copy(), messy.indices.copy(), messy.data.copy())
    small.fit({"a": messy})
    manyview.factorize(messy, dim=3)
    for now, then in zip((messy.indptr, messy.indices, messy.data), before):
        assert (now == then).all()


def test_graphs(planted, small, expected):
    graphs = {name: nx.from_scipy_sparse_array(matrix) for name, matrix in planted.views.items()}
    assert (small.fit_transform(graphs) == expected).all()
    assert small.nodes_.tolist() == list(range(200))


def test_ids_of_any_hashable_type_come_back(small):
    ids = [("a", 1), ("b", 2), frozenset({3}), None.__class__, ("c",)]
    graph = nx.Graph()
    graph.add_edges_from((ids[a], ids[b]) for a in range(5) for b in range(a) if (a + b) % 3)
    small.set_params(dim=2, stages=2, window=1).fit({"x": graph})
    assert list(small.nodes_) == list(graph.nodes)
    assert small.nodes_[0] in graph


# Weights that all differ, so that none can be mistaken for another.
@pytest.mark.filterwarnings("ignore:.*look like ids or line numbers:manyview.ManyviewWarning")
def test_weights_and_directions_of_graphs(planted):
    matrix = sp.triu(planted.views["view1"]).tocsr()
    matrix.data = np.arange(1, matrix.nnz + 1, dtype=float)
    graph = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    network = manyview.Network.from_graphs({"x": graph})
    assert (network.adjacency("x") != matrix).nnz == 0
    both = manyview.Network.from_graphs({"x": graph}, directed=False).adjacency("x")
    assert (both != matrix + matrix.T).nnz == 0
    ones = manyview.Network.from_graphs({"x": graph}, weight=None).adjacency("x")
    assert set(ones.data) == {1.0}


def test_one_multigraph(planted, small, expected):
    by_attribute, by_key = nx.MultiGraph(), nx.MultiGraph()
    by_attribute.add_nodes_from(range(200))
    by_key.add_nodes_from(range(200))
    for name, matrix in planted.views.items():
        half = sp.triu(matrix).tocoo()
        edges = list(zip(half.row.tolist(), half.col.tolist()))
        by_attribute.add_edges_from(edges, relation=name)
        by_key.add_edges_from((u, v, name) for u, v in edges)
    assert (small.fit_transform(by_attribute) == expected).all()
    assert (small.fit_transform(by_key) == expected).all()
    assert small.view_names_ == list(planted.views)


def edge_table(planted):
    parts = []
    for name, matrix in planted.views.items():
        half = sp.triu(matrix).tocoo()
        parts.append(pd.DataFrame({"source": half.row, "target": half.col, "relation": name, "weight": half.data}))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    "make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_one_table(planted, small, make):
    table = edge_table(planted)
    z = small.fit_transform(make(table))
    assert small.view_names_ == list(planted.views)
    assert small.nodes_.dtype.kind == "i"
    # Nodes are numbered in order of first appearance, so the fit is that of the matrices in that order.
    order = small.nodes_
    moved = {name: matrix[order][:, order] for name, matrix in planted.views.items()}
    assert (z == manyview.MNMF(dim=16, stages=4).fit_transform(moved)).all()
    assert (z == small.fit_transform(table)).all()
    words = table.assign(source="n" + table.source.astype(str), target="n" + table.target.astype(str))
    assert (small.fit_transform(make(words)) == z).all()
    assert small.nodes_[0] == f"n{table.source[0]}"


def test_columns_of_other_names_and_categories(planted, small):
    table = edge_table(planted)
    z = small.fit_transform(table)
    renamed = table.rename(columns={"source": "u", "target": "v", "relation": "kind", "weight": "w"})
    renamed["kind"] = renamed["kind"].astype("category")
    network = manyview.Network.from_table(renamed, source="u", target="v", relation="kind", weight="w")
    assert (small.fit_transform(network) == z).all()


def test_a_table_for_each_view(planted, small):
    table = edge_table(planted)
    whole = small.fit_transform(table)
    parts = {name: part for name, part in table.groupby("relation", sort=False)}
    assert (small.fit_transform(parts) == whole).all()


def test_files_and_a_manifest(tmp_path, planted, small):
    paths = {}
    for name, part in edge_table(planted).groupby("relation"):
        paths[name] = tmp_path / f"{name}.tsv"
        part[["source", "target", "weight"]].to_csv(paths[name], sep="\t", index=False)
    z = small.fit_transform(paths)
    assert (small.fit_transform(list(paths.values())) == z).all()
    assert (small.fit_transform(str(tmp_path)) == z).all()
    (tmp_path / "network.toml").write_text("".join(f'[[view]]\npath = "{path.name}"\n' for path in paths.values()))
    assert (small.fit_transform(tmp_path / "network.toml") == z).all()
    network = manyview.read_network(paths, unweighted=True)
    assert network.views == tuple(paths) and len(network) == len(small.nodes_)
    assert any("view1" in note for note in network.notes)


def test_own_ids_for_matrices(planted):
    names = [f"gene{row}" for row in range(200)]
    network = manyview.Network.from_matrices(planted.views, nodes=names)
    assert network.nodes.tolist() == names
    assert "200 nodes" in repr(network)
    with pytest.raises(ValueError, match="twice"):
        manyview.Network.from_matrices(planted.views, nodes=["x"] * 200)
    with pytest.raises(ValueError, match="got 3 node ids"):
        manyview.Network.from_matrices(planted.views, nodes=["a", "b", "c"])
