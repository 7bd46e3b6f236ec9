"""Models that live: new nodes, and fewer stages."""

import pickle

import numpy as np
import pytest

import manyview
from manyview import MNMF
from manyview._network import to_network

SETTINGS = {"dim": 32, "stages": 4, "max_iter": 30, "threads": 1}


def edges_of(nodes, seed, groups=4):
    """A network with planted groups, as lists of edges of two views."""
    random = np.random.default_rng(seed)
    views = {}
    for name in ("calls", "mails"):
        pairs = set()
        while len(pairs) < 5 * nodes:
            a, b = (int(x) for x in random.integers(0, nodes, 2))
            if a != b and (a % groups == b % groups or random.random() < 0.1):
                pairs.add((min(a, b), max(a, b)))
        views[name] = sorted(pairs)
    return views


def split(views, out):
    """The edges among the nodes that stay, and those of the nodes that are taken out."""
    stay = {name: [edge for edge in edges if not out & set(edge)] for name, edges in views.items()}
    new = {name: [edge for edge in edges if out & set(edge)] for name, edges in views.items()}
    return stay, new


def tables(views):
    pandas = pytest.importorskip("pandas")
    return {name: pandas.DataFrame(edges, columns=["source", "target"]) for name, edges in views.items()}


@pytest.fixture(scope="module")
def parts():
    return split(edges_of(120, seed=1), out={5, 17, 60, 93})


@pytest.fixture(scope="module")
def model(parts):
    return MNMF(**SETTINGS, keep_model=True).fit(tables(parts[0]))


def test_new_nodes_get_vectors_and_known_ones_keep_theirs(model, parts):
    new = model.fold_in(tables(parts[1]))
    assert sorted(new.nodes.tolist()) == [5, 17, 60, 93]
    assert new.vectors.shape == (4, 32)
    network = to_network(tables(parts[1]))
    rows = model.transform(network)
    assert rows.shape == (len(network.nodes), 32)
    known = {node: row for row, node in enumerate(model.nodes_.tolist())}
    folded = {node: row for row, node in enumerate(new.nodes.tolist())}
    for node, row in zip(network.nodes.tolist(), rows, strict=True):
        expected = model.embedding_[known[node]] if node in known else new.vectors[folded[node]]
        assert np.array_equal(row, expected)
    # Members of a group are near: the nearest nodes of a new one are mostly of its own.
    unit = model.embedding_ / np.linalg.norm(model.embedding_, axis=1, keepdims=True)
    for node, vector in zip(new.nodes, new.vectors, strict=True):
        nearest = model.nodes_[np.argsort(-unit @ vector)[:10]]
        assert np.mean(nearest % 4 == node % 4) >= 0.7
    assert np.array_equal(model.transform(tables(parts[0])), model.embedding_)


def test_a_saved_model_folds_in_the_same_vectors(model, parts, tmp_path):
    expected = model.fold_in(tables(parts[1]))
    model.save(tmp_path / "kept")
    assert (tmp_path / "kept" / "model.bin").exists()
    loaded = MNMF.load(tmp_path / "kept")
    assert np.array_equal(loaded.fold_in(tables(parts[1])).vectors, expected.vectors)
    model.save(tmp_path / "plain", model=False)
    assert not (tmp_path / "plain" / "model.bin").exists()
    with pytest.raises(ValueError, match="keep_model=True"):
        MNMF.load(tmp_path / "plain").fold_in(tables(parts[1]))
    expected.save(tmp_path / "new")
    assert manyview.Embedding.load(tmp_path / "new").nodes.tolist() == expected.nodes.tolist()


def test_a_fit_without_its_model_says_what_to_do(parts, tmp_path):
    fitted = MNMF(**SETTINGS).fit(tables(parts[0]))
    with pytest.raises(ValueError, match="keep_model=True"):
        fitted.fold_in(tables(parts[1]))
    with pytest.raises(ValueError, match="keep_model=True"):
        fitted.transform(tables(parts[1]))
    with pytest.raises(ValueError, match="was not kept"):
        fitted.save(tmp_path / "x", model=True)


def test_bad_edges_are_refused(model):
    pandas = pytest.importorskip("pandas")
    known = [int(node) for node in model.nodes_[:2]]
    with pytest.raises(ValueError, match="both ends of some edges"):
        model.fold_in({"calls": pandas.DataFrame({"source": known[:1] * 2, "target": [known[1], 999]})})
    with pytest.raises(ValueError, match="there is no view"):
        model.fold_in({"sms": pandas.DataFrame({"source": known[:1], "target": [999]})})
    with pytest.warns(manyview.ManyviewWarning, match="2 of 2 new nodes have vectors of zeros"):
        model.fold_in({"calls": pandas.DataFrame({"source": [998], "target": [999]})})


def test_a_pickle_has_the_vectors_without_the_model(model, parts):
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.embedding_, model.embedding_)
    with pytest.raises(ValueError, match="need the model"):
        copy.fold_in(tables(parts[1]))


def test_first_stages_are_a_shorter_estimator(model, parts):
    shorter = model.truncate(stages=3)
    assert shorter.embedding_.shape == (len(model.nodes_), shorter.dim)
    assert (shorter.stages, len(shorter.stage_dims)) == (3, 3)
    again = MNMF(**{**shorter.get_params(), "keep_model": False}).fit(tables(parts[0]))
    assert np.allclose(again.embedding_, shorter.embedding_, atol=1e-5)
    assert shorter.fold_in(tables(parts[1])).vectors.shape == (4, shorter.dim)
    assert model.truncate(dim=shorter.dim).dim == shorter.dim
    for wrong in ({}, {"stages": 1, "dim": 8}, {"stages": 0}, {"stages": 9}, {"dim": 1}):
        with pytest.raises(ValueError):
            model.truncate(**wrong)
