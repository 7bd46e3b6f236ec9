"""Neighbors, explanations and summaries are those of the command line."""

import json

import manyview
import networkx as nx
import numpy as np
import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("inspect")
    command("generate", "-o", folder / "net", "--nodes", 150, "--communities", 4, "-q")
    command("embed", folder / "net", "-o", folder / "out", "--dim", 16, "--stages", 4, "-q")
    return folder


def as_single(neighbors):
    """The command line prints the shortest text of the library's 32-bit numbers."""
    return [(node, np.float32(similarity)) for node, similarity in neighbors]


def test_explanations(made, command):
    model = manyview.MNMF.load(made / "out")
    for nodes in (["n3"], ["n3", "n7"]):
        told = json.loads(command("explain", made / "out", *nodes, "--json"))
        found = model.explain(*nodes)
        assert found.keys() == {"total", "consensus", "joint", "views", "parts"}
        assert found == {key: told[key] for key in found}
        assert found["consensus"] + found["joint"] + sum(view["share"] for view in found["views"]) == pytest.approx(1)


def test_neighbors(made, command):
    model = manyview.MNMF.load(made / "out")
    told = json.loads(command("neighbors", made / "out", "n3", "--json"))["neighbors"]
    found = model.neighbors("n3", count=len(told))
    assert as_single(found) == as_single((near["node"], near["similarity"]) for near in told)
    with pytest.raises(ValueError, match="unknown node 'nobody'"):
        model.neighbors("nobody")


@pytest.mark.parametrize("method", ["mnmf", "nmf-con", "netmf"])
def test_results_of_all_methods(method, made, command, tmp_path):
    settings = {"dim": 16, "stages": 4} if method == "mnmf" else {"dim": 4}
    z = manyview.embed(made / "net", method, **settings)
    z.save(tmp_path / "out")
    for nodes in (["n3"], ["n3", "n7"], ["n3", "n3"]):
        told = json.loads(command("explain", tmp_path / "out", *nodes, "--json"))
        found = z.explain(*nodes)
        assert found == {key: told[key] for key in found}
    told = json.loads(command("neighbors", tmp_path / "out", "n3", "--json"))["neighbors"]
    found = z.neighbors("n3", count=len(told))
    assert as_single(found) == as_single((near["node"], near["similarity"]) for near in told)
    with pytest.raises(ValueError, match="unknown node 3; node ids are such as 'n"):
        z.neighbors(3)
    with pytest.raises(ValueError, match="unknown node 'nobody'"):
        z.explain("n3", "nobody")


def test_vectors_of_any_layout(made):
    z = manyview.MNMF.load(made / "out")._result()
    other = manyview.Embedding(z.nodes, np.asfortranarray(z.vectors, dtype=np.float64), z.run)
    assert other.neighbors("n3") == z.neighbors("n3") and other.explain("n3") == z.explain("n3")
    assert z.neighbors("n3", count=0) == [] and len(z.neighbors("n3", count=10**6)) < len(z)


def test_ids_may_be_tuples():
    grid = nx.grid_2d_graph(4, 5)
    z = manyview.embed({"grid": grid}, "netmf", dim=4)
    model = manyview.MNMF(dim=4, stages=2).fit({"grid": grid})
    for found in (z.neighbors((1, 2), count=3), model.neighbors((1, 2), count=3)):
        assert all(node in grid and node != (1, 2) for node, _ in found)
    assert z.explain((1, 2))["views"][0]["share"] == pytest.approx(1)


def test_an_unfitted_model_says_so():
    for look in (manyview.MNMF().neighbors, manyview.MNMF().explain):
        with pytest.raises(ValueError, match="not fitted"):
            look("n3")


def test_summaries(made, command):
    told = json.loads(command("views", made / "net", "--json", "-q"))
    found = manyview.read_network(made / "net").summary()
    assert found == told
    assert manyview.read_network(made / "net").summary(proximity=False)["correlation"] == []
