"""Models that live: new nodes, edges that change, new views, and fewer stages."""

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
    with pytest.raises(ValueError, match="unknown view"):
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


def matrix(nodes, pairs):
    made = np.zeros((nodes, nodes))
    for a, b in pairs:
        made[a, b] = 1
    return made


@pytest.fixture(scope="module")
def whole():
    """A network of matrices, whose nodes are their rows."""
    return {name: matrix(120, edges) for name, edges in edges_of(120, seed=1).items()}


@pytest.fixture(scope="module")
def kept(whole):
    return MNMF(**SETTINGS, keep_model=True).fit(whole)


def pair_without_edge(views, name):
    free = np.argwhere((views[name] + views[name].T + np.eye(120)) == 0)
    return tuple(free[0])


def test_edges_come_and_go(kept, whole, tmp_path):
    new = {"calls": matrix(120, [pair_without_edge(whole, "calls")])}
    later = kept.update(add=new, tolerance=0.06)
    told = later.run_["updated"]
    assert (told["edges_added"], told["edges_removed"], told["tolerance"]) == (1, 0, 0.06)
    assert told["fit"] == kept.run_["command"]
    moved = (later.embedding_ != kept.embedding_).any(axis=1)
    assert 0 < moved.sum() <= told["vectors"] < 120
    assert 0 <= told["median_moved"] <= told["most_moved"] <= 1
    assert told["drift"] == pytest.approx(1, abs=0.3)
    assert np.array_equal(kept.update(add=new, tolerance=1.0).embedding_[~moved], kept.embedding_[~moved])
    # The result is a model of the network after the change.
    after = {**whole, "calls": whole["calls"] + new["calls"]}
    assert np.array_equal(later.transform(after), later.embedding_)
    back = later.update(remove=new)
    assert np.array_equal(back.transform(whole), back.embedding_)
    later.save(tmp_path / "later")
    assert np.array_equal(MNMF.load(tmp_path / "later").transform(after), later.embedding_)
    assert "updated" not in kept.run_


def test_a_change_of_everything_is_worth_a_new_fit(kept, whole):
    random = np.random.default_rng(4)
    noise = np.triu(random.random((120, 120)) < 0.3, 1) * 1.0
    with pytest.warns(manyview.ManyviewWarning, match="a new fit is worth it"):
        kept.update(add={"calls": noise})


def test_changes_that_do_not_fit_are_refused(kept, whole):
    edge = matrix(120, [pair_without_edge(whole, "calls")])
    with pytest.raises(ValueError, match="no change given"):
        kept.update()
    with pytest.raises(ValueError, match="has no edge between .* that could be removed"):
        kept.update(remove={"calls": edge})
    with pytest.raises(ValueError, match='unknown view "sms"; the views are calls, mails'):
        kept.update(add={"sms": edge})
    for tolerance in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="tolerance="):
            kept.update(add={"calls": edge}, tolerance=tolerance)
    with pytest.raises(ValueError, match="does not have these nodes"):
        kept.update(add={"calls": matrix(121, [(0, 120)])})
    without = MNMF(**SETTINGS).fit(whole)
    with pytest.raises(ValueError, match="keep_model=True"):
        without.update(add={"calls": edge})
    with pytest.raises(ValueError, match="keep_model=True"):
        without.add_view({"sms": edge})


def test_a_view_is_added_and_the_old_columns_stay(kept, whole, tmp_path):
    sms = {"sms": matrix(120, edges_of(120, seed=2)["calls"])}
    wider = kept.add_view(sms, columns=6)
    assert wider.embedding_.shape == (120, 38)
    assert np.array_equal(wider.embedding_[:, :32], kept.embedding_)
    added = wider.run_["added_views"][0]
    assert (added["view"], added["stage"], added["columns"]) == ("sms", 5, [32, 38])
    assert 0 < added["explained"] < 1 - added["left"] < 1
    assert wider.view_names_ == ["calls", "mails", "sms"]
    assert list(wider.get_feature_names_out()[[32, 37]]) == ["stage5_sms_0", "stage5_sms_5"]
    assert wider.residual_[-1, 2] == added["left"]
    assert np.array_equal(wider.transform({**whole, **sms}), wider.embedding_)
    assert any(part["view"] == "sms" for part in wider.explain(3)["parts"])
    # It folds in, changes, is cut, and comes back from its folder.
    new = {"sms": matrix(121, [(0, 120), (4, 120), (8, 120)])}
    folded = wider.fold_in(new)
    assert folded.vectors.shape == (1, 38)
    wider.save(tmp_path / "wider")
    loaded = MNMF.load(tmp_path / "wider")
    assert np.array_equal(loaded.fold_in(new).vectors, folded.vectors)
    edge = {"sms": matrix(120, [pair_without_edge(sms, "sms")])}
    assert loaded.update(add=edge).run_["updated"]["edges_added"] == 1
    narrow = wider.truncate(stages=4)
    assert narrow.view_names_ == ["calls", "mails"]
    assert np.allclose(narrow.embedding_, kept.embedding_, atol=1e-5)
    assert np.array_equal(narrow.transform(whole), narrow.embedding_)
    with pytest.raises(ValueError, match="already has a view"):
        wider.add_view(sms)
    with pytest.raises(ValueError, match="one view is added at a time, and 2 were given"):
        kept.add_view(whole)
    with pytest.raises(ValueError, match="does not have these nodes"):
        kept.add_view({"sms": matrix(121, [(node, (node + 5) % 121) for node in range(121)])})
    with pytest.raises(ValueError, match="columns=0: expected a whole number from 1"):
        kept.add_view(sms, columns=0)


def test_a_directed_view_beside_undirected_ones(kept, whole):
    follows = {"follows": matrix(120, [(a, (a + 4) % 120) for a in range(120)] + [(a, (3 * a) % 120) for a in range(1, 60)])}
    wider = kept.add_view(follows, directed=True)
    assert wider.directed == ["follows"]
    assert np.array_equal(wider.transform({**whole, **follows}), wider.embedding_)
    # A part of the views can be given, as always.
    assert wider.fold_in({"calls": matrix(121, [(0, 120)])}).vectors.shape[0] == 1
