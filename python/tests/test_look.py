"""Neighbours, explanations and summaries are the command line's."""

import json

import pytest

import manyview


@pytest.fixture(scope="module")
def made(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("look")
    command("generate", "-o", folder / "net", "--nodes", 150, "--communities", 4, "-q")
    command("embed", folder / "net", "-o", folder / "out", "--dim", 16, "--stages", 4, "-q")
    return folder


def close(found, told):
    assert type(found) is type(told)
    if isinstance(told, dict):
        assert found.keys() == told.keys()
        for key in told:
            close(found[key], told[key])
    elif isinstance(told, list):
        assert len(found) == len(told)
        for one, other in zip(found, told, strict=True):
            close(one, other)
    elif isinstance(told, float):
        assert found == pytest.approx(told, rel=1e-6, abs=1e-12)
    else:
        assert found == told


def test_explanations(made, command):
    model = manyview.MNMF.load(made / "out")
    for nodes in (["n3"], ["n3", "n7"]):
        told = json.loads(command("explain", made / "out", *nodes, "--json"))
        found = model.explain(*nodes)
        for key in found:
            close(found[key], told[key])
        assert found["consensus"] + sum(view["share"] for view in found["views"]) == pytest.approx(1)


def test_neighbours(made, command):
    model = manyview.MNMF.load(made / "out")
    told = json.loads(command("neighbors", made / "out", "n3", "--json"))["neighbors"]
    found = model.neighbors("n3", count=len(told))
    assert [node for node, _ in found] == [near["node"] for near in told]
    with pytest.raises(ValueError, match="there is no node 'nobody'"):
        model.neighbors("nobody")


def test_summaries(made, command):
    told = json.loads(command("views", made / "net", "--json", "-q"))
    found = manyview.read_network(made / "net").summary()
    close(found, told)
    assert manyview.read_network(made / "net").summary(proximity=False)["correlation"] == []
