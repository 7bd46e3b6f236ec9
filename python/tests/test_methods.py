"""``manyview.embed``: any method by name."""

import json
import re

import manyview
import numpy as np
import pytest

QUICK = {
    "mnmf": {"dim": 8, "stages": 2},
    "boostne": {"dim": 8, "stages": 2},
    "nmf-con": {"dim": 4},
    "netmf": {"dim": 4},
    "netmf-sum": {"dim": 4},
    "netmf-concat": {"dim": 6},
    "netmf-union": {"dim": 4},
    "mashup": {"dim": 4},
    "mase": {"dim": 4},
    "grassmann": {"dim": 4},
    "multinmf": {"dim": 4, "rounds": 2, "inner": 2, "starts": 1},
    "deepwalk": {"dim": 4, "walks": 2, "length": 8, "window": 2},
    "metapath2vec": {"dim": 4, "walks": 2, "length": 8, "window": 2},
    "mne": {"dim": 4, "walks": 2, "length": 8, "epochs": 2, "view_epochs": 2, "extra": 2},
    "pte": {"dim": 4, "samples": 2000},
    "mtne-c": {"dim": 12, "samples": 2000},
    "mve": {"dim": 4, "walks": 2, "length": 8, "window": 2, "epochs": 2},
    "tucker": {"dim": 4, "epochs": 2, "relation_dim": 2},
}


@pytest.fixture(scope="module")
def folder(command, tmp_path_factory):
    """A small network as files."""
    place = tmp_path_factory.mktemp("methods") / "net"
    command("generate", "--nodes", 60, "--views", 3, "--communities", 4, "-q", "-o", place)
    return place


@pytest.fixture(scope="module")
def planted():
    return manyview.generate(nodes=60, views=3, communities=4)


def test_the_list_is_the_command_lines(command):
    known = manyview.methods()
    assert set(known) == set(QUICK)
    listed = [line.split()[0] for line in command("methods").splitlines() if line]
    for name, entry in known.items():
        assert name in listed
        said = command("embed", "--method", name, "--help")
        assert entry["help"] and entry["settings"]["dim"] == 256
        for setting in entry["settings"]:
            assert f"--{setting.replace('_', '-')} " in said or f"--{setting.replace('_', '-')}\n" in said, (
                name,
                setting,
            )


@pytest.mark.parametrize("method", QUICK)
def test_every_method_gives_the_bytes_of_the_command_line(method, folder, command, tmp_path):
    if method == "mtne-c":
        with pytest.warns(manyview.ManyviewWarning, match="mtne-c is a reconstruction"):
            z = manyview.embed(str(folder), method, seed=3, **QUICK[method])
    else:
        z = manyview.embed(str(folder), method, seed=3, **QUICK[method])
    assert z.vectors.shape[0] == len(z) == 60 and np.isfinite(z.vectors).all() and z.vectors.any()
    assert z.method == method and method in repr(z)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK[method].items()]
    theirs = tmp_path / "theirs"
    command("embed", folder, "-o", theirs, "-q", "--seed=3", f"--method={method}", *words)
    assert np.array_equal(np.load(theirs / "embedding.npy"), z.vectors)
    z.save(tmp_path / "ours")
    for other in (theirs, tmp_path / "ours"):
        again = manyview.Embedding.load(other)
        assert np.array_equal(again.vectors, z.vectors) and again.parts == z.parts
        assert again.nodes.tolist() == z.nodes.tolist()
    assert np.asarray(z).shape == z.vectors.shape


def test_views_are_told_apart(planted):
    z = manyview.embed(planted.views, "netmf", dim=4)
    names = list(planted.views)
    assert [part["view"] for part in z.parts] == names
    alone = manyview.embed({names[1]: planted.views[names[1]]}, "netmf", dim=4)
    # But for the length, which all vectors of a result have in common.
    columns = z.of_view(names[1])
    factor = np.linalg.norm(alone.vectors) / np.linalg.norm(columns)
    np.testing.assert_allclose(columns * factor, alone.vectors, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="no columns belong to view 'x' alone"):
        z.of_view("x")


def test_labels_are_for_who_learns_from_them(planted):
    settings = QUICK["mve"]
    labels = dict(enumerate(planted.labels.tolist()))
    told = [labels[node] if node < 30 else None for node in range(60)]
    z = manyview.embed(planted.views, "mve", labels=told, attention=True, **settings)
    assert np.isfinite(z.vectors).all()
    with pytest.raises(ValueError, match="needs labels"):
        manyview.embed(planted.views, "mve", attention=True, **settings)
    with pytest.raises(ValueError, match="labels: netmf does not use labels with these settings"):
        manyview.embed(planted.views, "netmf", labels=told)
    with pytest.raises(ValueError, match="labels: mnmf does not use labels with these settings"):
        manyview.embed(planted.views, labels=told)


def test_bad_settings_are_named(planted):
    with pytest.raises(ValueError, match='method="node2vec": expected one of mnmf'):
        manyview.embed(planted.views, "node2vec")
    with pytest.raises(ValueError, match="epochs: netmf has no such setting; it belongs to deepwalk"):
        manyview.embed(planted.views, "netmf", epochs=3)
    with pytest.raises(ValueError, match='dim="many": expected a whole number'):
        manyview.embed(planted.views, "netmf", dim="many")
    with pytest.raises(ValueError, match='factor="foo": expected one of svd, nmf'):
        manyview.embed(planted.views, "netmf", factor="foo")
    with pytest.raises(ValueError, match="weighted=3: expected true or false"):
        manyview.embed(planted.views, "deepwalk", weighted=3)
    for value in (float("nan"), np.float32("inf")):
        with pytest.raises(ValueError, match="negative=(nan|inf): expected a number"):
            manyview.embed(planted.views, "netmf", negative=value)
    with pytest.raises(ValueError, match="dropout=.*nan.*: expected a list of 3 numbers"):
        manyview.embed(planted.views, "tucker", dropout=[0.1, float("nan"), 0.1])
    with pytest.raises(ValueError, match="epochs: mnmf has no such setting"):
        manyview.embed(planted.views, epochs=3)
    with pytest.raises(ValueError, match="authors"):
        manyview.embed(planted.views, "netmf", preset="authors")
    with pytest.raises(TypeError):
        manyview.embed(planted.views, "netmf", dim=object())


@pytest.mark.parametrize("method", ["mnmf", "netmf", "nmf-con", "boostne", "multinmf", "netmf-sum"])
def test_memory_of_proximity_matrices_is_limited(planted, method):
    with pytest.raises(MemoryError, match="max_memory") as raised:
        manyview.embed(planted.views, method, max_memory=1000, **QUICK[method])
    assert "--" not in str(raised.value)
    z = manyview.embed(planted.views, method, max_memory="100G", **QUICK[method])
    assert z.run["memory"]["estimated_bytes"] > 0


@pytest.mark.parametrize("method", ["deepwalk", "pte", "tucker"])
def test_memory_that_is_not_known_in_advance_cannot_be_limited(planted, method):
    with pytest.raises(ValueError, match=f"max_memory: the memory of {method} is not known in advance"):
        manyview.embed(planted.views, method, max_memory="1G", **QUICK[method])


def test_the_advice_for_too_little_memory_can_be_followed(planted):
    with pytest.raises(MemoryError) as raised:
        manyview.embed(planted.views, dim=8, stages=2, max_memory=10**6)
    advice = re.search(r"max_memory=(\S+?)[,;]?(\s|$)", str(raised.value).rsplit("use ", 1)[1])
    manyview.embed(planted.views, dim=8, stages=2, max_memory=json.loads(advice[1]))


def test_every_method_writes_the_record_of_the_command_line(folder, command, tmp_path):
    for method in ("mnmf", "netmf", "deepwalk"):
        words = [f"--{name}={value}" for name, value in QUICK[method].items()]
        command("embed", folder, "-o", tmp_path / method, "-q", f"--method={method}", *words)
        theirs = json.loads((tmp_path / method / "run.json").read_text())
        ours = manyview.embed(folder, method, **QUICK[method]).run
        assert set(ours) == set(theirs)
        for field in ("method", "config", "settings", "network", "warnings", "ranks", "inputs", "platform"):
            assert ours[field] == theirs[field], field


def test_numbers_of_numpy_are_numbers(planted):
    a = manyview.embed(planted.views, "netmf", dim=np.int64(4), negative=np.float32(2))
    b = manyview.embed(planted.views, "netmf", dim=4, negative=2.0)
    assert np.array_equal(a, b)


def test_what_a_callback_raises_ends_the_work(planted):
    heard = []

    def stop(now):
        heard.append(now)
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        manyview.embed(planted.views, "deepwalk", dim=64, walks=2000, progress=stop)
    assert heard[0]["phase"] == "method" and 0 <= heard[0]["done"] <= 1


def test_evaluate_takes_the_result(planted):
    z = manyview.embed(planted.views, "netmf-sum", dim=8)
    labels = dict(zip(z.nodes.tolist(), planted.labels.tolist(), strict=True))
    found = manyview.evaluate.classify(z, labels, train=0.5, repeats=2)
    assert found["shares"][0]["micro_f1"]["mean"] > 0.5


@pytest.mark.parametrize("method", ["mnmf", "netmf-sum"])
def test_one_view_only(method, folder, command, tmp_path):
    z = manyview.embed(str(folder), method, view_only="view2", **QUICK[method])
    words = [f"--{name}={value}" for name, value in QUICK[method].items()]
    command("embed", folder, "-o", tmp_path / "theirs", "-q", f"--method={method}", "--view-only=view2", *words)
    assert np.array_equal(np.load(tmp_path / "theirs" / "embedding.npy"), z.vectors)
    assert [view["name"] for view in z.run["network"]["views"]] == ["view2"]
    with pytest.raises(ValueError, match='view_only: unknown view "x"; the views are view1, view2, view3'):
        manyview.embed(str(folder), method, view_only="x")
    with pytest.raises(ValueError, match="view_only=2: expected a string"):
        manyview.embed(str(folder), method, view_only=2)


def test_links_by_any_method(folder, command):
    for method in ("mnmf", "netmf-sum", "deepwalk"):
        words = [f"--{name}={value}" for name, value in QUICK[method].items()]
        said = command(
            "evaluate", "links", folder, "--json", "-q", f"--method={method}", "--seed=3", "--repeats=1", *words
        )
        found = manyview.evaluate.links(str(folder), method=method, seed=3, repeats=1, **QUICK[method])
        assert found["views"] == json.loads(said)["views"]
    with pytest.warns(manyview.ManyviewWarning, match="36 of 60 vectors of netmf-sum are zero although their nodes have edges"):
        paper = manyview.evaluate.links(str(folder), method="netmf-sum", preset="paper", dim=4, repeats=1)
    assert paper["views"] != manyview.evaluate.links(str(folder), method="netmf-sum", dim=4, repeats=1)["views"]


def test_links_refuse_what_is_wrong(planted):
    links, model = manyview.evaluate.links, manyview.MNMF(dim=8, stages=2)
    with pytest.raises(ValueError, match='method="node2vec": expected one of mnmf'):
        links(planted.views, method="node2vec")
    with pytest.raises(ValueError, match="epochs: netmf has no such setting"):
        links(planted.views, method="netmf", epochs=3)
    with pytest.raises(ValueError, match="epochs: mnmf has no such setting"):
        links(planted.views, epochs=3)
    with pytest.raises(ValueError, match="dim=0"):
        links(planted.views, method="netmf", dim=0)
    for twice in ({"method": "netmf"}, {"dim": 4}, {"preset": "paper"}, {"directed": True}):
        with pytest.raises(ValueError, match=f"{next(iter(twice))}: the model has its own settings"):
            links(planted.views, model, **twice)
    with pytest.raises(ValueError, match="model='netmf': expected an MNMF; choose other methods by method="):
        links(planted.views, "netmf")
    with pytest.warns(manyview.ManyviewWarning, match="attention learns from labels"):
        links(planted.views, method="mve", attention=True, repeats=2, **QUICK["mve"])
