"""The manners of a scikit-learn estimator."""

import inspect
import json
import pickle
import re
import subprocess
import sys

import manyview
import numpy as np
import pytest


def test_attributes(planted, small):
    z = small.fit(planted.views).embedding_
    assert z.shape == (200, 16) and z.dtype == np.float32 and z.flags.c_contiguous and (z >= 0).all()
    assert small.view_names_ == ["view1", "view2", "view3"]
    assert small.view_weights_.shape == small.residual_.shape == (4, 3)
    assert small.view_weights_[0].sum() == pytest.approx(1)
    assert (np.diff(small.residual_, axis=0) <= 0).all() and (small.residual_[0] < 1).all()
    assert small.stages_[0]["kind"] == "consensus" and small.stages_[-1]["kind"] == "unique"
    assert small.n_iter_ == sum(stage["iterations"] for stage in small.stages_)
    names = small.get_feature_names_out()
    assert len(set(names)) == 16 and names[0] == "stage1_consensus_0" and names[-1].startswith("stage4_view3")


def test_parameters(small):
    params = small.get_params()
    assert params["dim"] == 16 and params["negative"] == 1.0
    assert small.set_params(dim=8).dim == 8
    with pytest.raises(ValueError, match="there is no parameter 'dims'"):
        small.set_params(dims=3)
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
    pipeline._repr_html_() if hasattr(pipeline, "_repr_html_") else None


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
    assert (copy.view_weights_ == small.view_weights_)[0].all() and copy.dim == 16
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
    assert set(ours) - {"node_ids"} == set(theirs)
    assert ours["config"].keys() == theirs["config"].keys()


def test_loading_what_does_not_belong_together(tmp_path, planted, small):
    small.fit(planted.views).save(tmp_path)
    (tmp_path / "nodes.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="do not belong together"):
        manyview.MNMF.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        manyview.MNMF.load(tmp_path / "nowhere")


def test_a_data_frame(planted, small):
    frame = small.fit(planted.views).to_frame()
    assert frame.shape == (200, 16) and frame.index[3] == 3 and frame.columns[0] == "stage1_consensus_0"


def test_presets():
    assert manyview.MNMF.preset("default").get_params() == manyview.MNMF().get_params()
    paper = manyview.MNMF.preset("paper", dim=64)
    assert (paper.solver, paper.negative, paper.dim) == ("mu", 5.0, 64)
    with pytest.raises(ValueError, match='preset = "best" is not one of default, paper, authors'):
        manyview.MNMF.preset("best")


def test_names_and_defaults_are_the_command_lines(command):
    """Every option of the method is a parameter, every parameter an option, and defaults agree."""
    text = command("embed", "--help")
    method = text[text.index("Method:") :]
    method = method[: method.index("\nOutput:")] if "\nOutput:" in method else method
    options = dict(re.findall(r"\n\s+--([a-z][a-z-]*)[^\n]*\n?((?:(?!\n\s+-).)*)", method, re.DOTALL))
    options = {name.replace("-", "_"): help_ for name, help_ in options.items()}
    parameters = {name: p.default for name, p in inspect.signature(manyview.MNMF).parameters.items()}
    around = {"directed", "duplicates", "max_memory", "progress", "verbose"}
    missing = set(parameters) - around - set(options)
    assert not missing, f"no option of the command line: {missing}"
    assert set(manyview._native.preset("default")) == set(parameters) - around
    for name, default in manyview._native.preset("default").items():
        assert parameters[name] == default, name


def test_optional_packages_are_not_imported():
    code = (
        "import sys, manyview; manyview.MNMF(dim=8, stages=2).fit(manyview.generate(nodes=80, communities=4).views); "
    )
    code += "optional = {'pandas', 'networkx', 'polars', 'pyarrow', 'sklearn', 'torch'}; print(sorted(optional & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
