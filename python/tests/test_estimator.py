"""The interface of a scikit-learn estimator, and result folders."""

import json
import pickle
import subprocess
import sys

import manyview
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp


def test_attributes(planted, small):
    z = small.fit(planted.views).embedding_
    assert z.shape == (200, 16) and z.dtype == np.float32 and z.flags.c_contiguous and (z >= 0).all()
    assert small.view_names_ == ["view1", "view2", "view3"]
    assert small.view_weights_.shape == small.residual_.shape == (4, 3)
    joint = small.stages_[-1]["weights"]["joint"]
    assert joint > 0 and small.view_weights_[-1].sum() + joint == pytest.approx(1)
    without = manyview.MNMF(dim=16, stages=4, joint="off").fit(planted.views)
    assert without.view_weights_[-1].sum() == pytest.approx(1) and "joint" not in without.run_["network"]
    assert (np.diff(small.residual_, axis=0) <= 0).all()
    # Narrow stages take turns: a view is whole until it is its turn.
    assert sorted(small.residual_[0])[0] < 1 and sorted(small.residual_[0])[1:] == [1, 1] and (small.residual_[-1] < 1).all()
    assert [stage["kind"] for stage in small.stages_] == 3 * ["unique"] + ["consensus"]
    wider = manyview.MNMF(dim=32, stages=4).fit(planted.views)
    assert len(wider.stages_) == 3 * 2 + 1 and wider.stages_[-1]["kind"] == "consensus"
    assert {stage["view"] for stage in wider.stages_ if stage["kind"] == "unique"} == {"view1", "view2", "view3"}
    assert any(stage["kind"] == "joint" for stage in wider.stages_)
    assert small.n_iter_ == sum(stage["iterations"] for stage in small.stages_)
    names = small.get_feature_names_out()
    assert len(set(names)) == 16 and names[0] == "stage4_consensus_0" and names[-1] == "stage3_view3_2"


def test_parameters(small):
    params = small.get_params()
    assert params["dim"] == 16 and params["negative"] == 1.0
    assert small.set_params(dim=8).dim == 8
    for unknown in (lambda: small.set_params(dims=3), lambda: manyview.MNMF.preset("paper", dims=3)):
        with pytest.raises(ValueError, match="there is no parameter 'dims'; the parameters are dim, stages"):
            unknown()
    assert repr(manyview.MNMF()) == "MNMF()"
    assert repr(manyview.MNMF(dim=3, solver="mu")) == "MNMF(dim=3, solver='mu')"


def test_scikit_learn_takes_it(planted):
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = manyview.MNMF(dim=16, stages=4, seed=3)
    copy = clone(model)
    assert copy is not model and copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(planted.views)
    pipeline = make_pipeline(model, LogisticRegression())
    pipeline.fit(planted.views, planted.labels)
    assert pipeline.score(planted.views, planted.labels) > 0.9
    assert "MNMF" in repr(pipeline)
    assert "MNMF" in pipeline._repr_html_()


def test_transform_knows_its_own_views_only(planted, small):
    z = small.fit_transform(planted.views)
    assert (small.transform(planted.views) == z).all()
    other = {**planted.views, "view1": planted.views["view2"]}
    with pytest.raises(ValueError, match="not the views that were fitted"):
        small.transform(other)


def test_pickling(planted, small):
    small.fit(planted.views)
    copy = pickle.loads(pickle.dumps(small))
    assert (copy.embedding_ == small.embedding_).all() and copy.get_params() == small.get_params()
    assert (copy.transform(planted.views) == small.embedding_).all()


def test_saving_and_loading(tmp_path, planted, small, command):
    small.fit(planted.views).save(tmp_path / "model")
    copy = manyview.MNMF.load(tmp_path / "model")
    assert (copy.embedding_ == small.embedding_).all() and copy.nodes_.tolist() == small.nodes_.tolist()
    assert np.array_equal(copy.view_weights_, small.view_weights_, equal_nan=True) and copy.dim == 16
    command("generate", "-o", tmp_path / "net", "--nodes", 100, "--communities", 4, "-q")
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "--dim", 8, "--stages", 2, "-q")
    made = manyview.MNMF.load(tmp_path / "out")
    assert made.embedding_.shape == (100, 8) and made.nodes_[0] == "n0" and made.stages == 2
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["embedding.npy", "nodes.txt", "run.json"]


def test_run_json_is_the_command_lines(tmp_path, planted, small, command):
    small.fit(planted.views).save(tmp_path / "model")
    command("generate", "-o", tmp_path / "net", "--nodes", 100, "--communities", 4, "-q")
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "--dim", 8, "--stages", 2, "-q")
    ours = json.loads((tmp_path / "model" / "run.json").read_text())
    theirs = json.loads((tmp_path / "out" / "run.json").read_text())
    assert set(ours) - {"node_ids"} == set(theirs) - {"inputs"}, "arrays have no files"
    assert ours["config"].keys() == theirs["config"].keys()


def test_loading_what_does_not_belong_together(tmp_path, planted, small):
    small.fit(planted.views).save(tmp_path)
    (tmp_path / "nodes.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="do not belong together"):
        manyview.MNMF.load(tmp_path)
    (tmp_path / "nodes.txt").write_text("a\na\n")
    with pytest.raises(ValueError, match='nodes.txt:2: node "a" is already in line 1'):
        manyview.MNMF.load(tmp_path)
    (tmp_path / "nodes.txt").unlink()
    with pytest.raises(FileNotFoundError, match="nodes.txt is missing"):
        manyview.MNMF.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        manyview.MNMF.load(tmp_path / "nowhere")
    manyview.embed(planted.views, "netmf", dim=4).save(tmp_path)
    with pytest.raises(ValueError, match="the method is netmf, not mnmf; use Embedding.load"):
        manyview.MNMF.load(tmp_path)


def test_ids_that_nodes_txt_cannot_represent_are_refused(tmp_path):
    for ids in (["a\nb", "c", "d"], ["", "c", "d"], [("x",), "('x',)", "d"]):
        model = manyview.MNMF(dim=2, stages=1, window=1).fit({"x": nx.path_graph(ids, create_using=nx.Graph)})
        with pytest.raises(ValueError):
            model.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()


def test_a_data_frame(planted, small):
    frame = small.fit(planted.views).to_frame()
    assert frame.shape == (200, 16) and frame.index[3] == 3 and frame.columns[0] == "stage4_consensus_0"


def as_older_versions_wrote_it(folder):
    """Removes what older versions did not write to run.json."""
    run = json.loads((folder / "run.json").read_text())
    del run["settings"], run["network"]["fingerprint"]
    (folder / "run.json").write_text(json.dumps(run))


@pytest.mark.parametrize("older", [False, True])
def test_parameters_set_after_loading_have_an_effect(tmp_path, planted, small, older):
    small.fit(planted.views).save(tmp_path)
    if older:
        as_older_versions_wrote_it(tmp_path)
    model = manyview.MNMF.load(tmp_path)
    assert model.get_params() == small.get_params()
    assert model.set_params(dim=24).fit_transform(planted.views).shape == (200, 24)
    assert model.set_params(stages=2).fit(planted.views).stages_[-1]["stage"] == 2
    assert model.set_params(solver="mu", max_iter=3000).fit(planted.views).run_["config"]["unique_solver"] == "mu"


@pytest.mark.parametrize("older", [False, True])
def test_settings_that_were_given_are_loaded(tmp_path, planted, older):
    given = {"stage_dims": [6, 4, 4], "consensus_stages": 2, "unique_solver": "mu", "unique_max_iter": 3000, "seed": 5}
    manyview.MNMF(**given).fit(planted.views).save(tmp_path)
    if older:
        as_older_versions_wrote_it(tmp_path)
    model = manyview.MNMF.load(tmp_path)
    assert {name: getattr(model, name) for name in given} == given
    assert (model.stages, model.dim) == (3, 14)


def test_a_preset_of_the_command_line_is_loaded_with_its_settings(tmp_path, command):
    command("generate", "-o", tmp_path / "net", "--nodes", 100, "--communities", 4, "-q")
    words = ["--preset", "authors", "--stages", 4, "--dim", 16]
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "-q", *words)
    model = manyview.MNMF.load(tmp_path / "out")
    assert model.get_params() == manyview.MNMF.preset("authors", stages=4, dim=16).get_params()


def test_a_loaded_model_transforms_its_own_views(tmp_path, planted, small, command):
    z = small.fit_transform(planted.views)
    small.save(tmp_path / "model")
    loaded = manyview.MNMF.load(tmp_path / "model")
    assert (loaded.transform(planted.views) == z).all()
    with pytest.raises(ValueError, match="not the views that were fitted"):
        loaded.transform({**planted.views, "view1": planted.views["view2"]})
    names = [f"n{node}" for node in range(200)]
    with pytest.raises(ValueError, match="not the views that were fitted"):
        loaded.transform(manyview.Network.from_matrices(planted.views, names))

    command("generate", "-o", tmp_path / "net", "--nodes", 100, "--communities", 4, "-q")
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "--dim", 8, "--stages", 2, "-q")
    made = manyview.MNMF.load(tmp_path / "out")
    assert (made.transform(tmp_path / "net") == made.embedding_).all()

    as_older_versions_wrote_it(tmp_path / "out")
    with pytest.raises(ValueError, match="did not record its network"):
        manyview.MNMF.load(tmp_path / "out").transform(tmp_path / "net")


def test_a_loaded_model_remembers_how_views_were_read(tmp_path, planted):
    views = {"a": sp.triu(planted.views["view1"]).tocsr(), "b": planted.views["view2"]}
    model = manyview.MNMF(dim=8, stages=2, directed={"a"}).fit(views)
    model.save(tmp_path)
    assert (manyview.MNMF.load(tmp_path).transform(views) == model.embedding_).all()


def test_ids_of_a_loaded_model_are_compared_as_text(tmp_path):
    grid = nx.grid_2d_graph(6, 6)
    model = manyview.MNMF(dim=4, stages=2).fit({"grid": grid})
    model.save(tmp_path)
    assert (manyview.MNMF.load(tmp_path).transform({"grid": grid}) == model.embedding_).all()


def test_a_table_and_its_file_are_the_same_views(tmp_path):
    edges = pd.DataFrame({"source": ["a", "b", "c", "a"], "target": ["b", "c", "d", "d"]})
    edges.to_csv(tmp_path / "edges.csv", index=False)
    model = manyview.MNMF(dim=2, stages=1, window=1).fit({"x": edges})
    assert (model.transform({"x": tmp_path / "edges.csv"}) == model.embedding_).all()


def test_optional_packages_are_not_imported():
    code = (
        "import sys, manyview; manyview.MNMF(dim=8, stages=2).fit(manyview.generate(nodes=80, communities=4).views); "
    )
    code += "optional = {'pandas', 'networkx', 'polars', 'pyarrow', 'sklearn', 'torch'}; print(sorted(optional & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def authors(tmp_path, planted):
    """A model with the settings of a preset, loaded from a result folder."""
    manyview.MNMF.preset("authors", dim=64).fit(planted.views).save(tmp_path)
    return manyview.MNMF.load(tmp_path)


def test_parameters_set_after_loading_change_what_follows_from_them(authors, planted):
    """All settings of a result once counted as given, so that the first of these was refused."""
    assert authors.set_params(stages=6).consensus_stages == 3
    assert authors.fit(planted.views).run_["config"]["consensus_stages"] == 3
    authors.set_params(solver="mu", stage_dims=[12, 12])
    assert (authors.unique_solver, authors.stages, authors.dim, authors.consensus_stages) == (None, 2, 24, None)
    config = authors.fit(planted.views).run_["config"]
    assert (config["unique_solver"], config["dim"], config["stages"]) == ("mu", 24, 2)
    with pytest.raises(ValueError, match="the sum of stage_dims is 24, which is not dim=9"):
        authors.set_params(dim=9).fit(planted.views)


def test_set_params_keeps_what_was_chosen():
    model = manyview.MNMF(consensus_stages=1)
    assert model.set_params(stages=6).consensus_stages == 1
    model = manyview.MNMF.preset("authors")
    assert model.set_params(stages=6, consensus_stages=5).consensus_stages == 5
    # Values that are not accepted are reported by fit, as in scikit-learn.
    assert manyview.MNMF().set_params(dim="many").dim == "many"


def test_older_spellings_are_accepted_with_a_warning(planted):
    from sklearn.base import clone

    with pytest.warns(FutureWarning, match="normalise is now called normalize"):
        model = manyview.MNMF(normalise="max")
    assert model.normalize == "max" and "normalise" not in model.get_params()
    assert clone(model).normalize == "max"
    with pytest.warns(FutureWarning):
        assert manyview.MNMF.preset("paper", normalise="max").normalize == "max"
    with pytest.warns(FutureWarning):
        assert model.set_params(normalise="none").normalize == "none"
    with pytest.raises(TypeError, match="normalise is the old name of normalize; give normalize only"):
        manyview.MNMF(normalise="max", normalize="max")
    with pytest.warns(FutureWarning):
        old = manyview.factorize(planted.views["view1"], 2, normalise="residual", max_iter=2)
    assert (old.u == manyview.factorize(planted.views["view1"], 2, normalize="residual", max_iter=2).u).all()
    vectors = np.random.default_rng(0).random((200, 4))
    for score in (manyview.evaluate.classify, manyview.evaluate.cluster):
        with pytest.warns(FutureWarning, match="standardise is now called standardize"):
            old = score(vectors, planted.labels, repeats=1, standardise=True)
        assert old == score(vectors, planted.labels, repeats=1, standardize=True)


def test_a_directed_result_of_the_command_line_knows_its_views(tmp_path, command):
    edges = [f"n{a}\tn{(a * step + 1) % 60}" for a in range(60) for step in (3, 7, 7)]
    (tmp_path / "calls.tsv").write_text("\n".join(edges) + "\n")
    (tmp_path / "mail.tsv").write_text("\n".join(edges[:150]) + "\n")
    views = {name: tmp_path / f"{name}.tsv" for name in ("calls", "mail")}
    given = [word for name, path in views.items() for word in ("--view", f"{name}={path}")]
    small = ["--dim", 8, "--stages", 2, "-q"]
    for words, directed, duplicates in [
        (["--directed", "calls", "--duplicates", "max"], ["calls"], "max"),
        (["--directed", "all"], True, "sum"),
        ([], None, "sum"),
    ]:
        command("embed", *given, *words, *small, "--force", "-o", tmp_path / "out")
        model = manyview.MNMF.load(tmp_path / "out")
        assert (model.directed, model.duplicates) == (directed, duplicates)
        assert (model.transform(views) == model.embedding_).all()
