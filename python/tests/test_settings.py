"""One list of settings: the library's, in the signature, the docstring, presets and the command line."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import manyview
import numpy as np
import pytest
from manyview import _native, _settings
from manyview._parameters import SETTINGS

HERE = Path(__file__).resolve().parents[1]
OWN = ["directed", "duplicates", "max_memory", "progress", "verbose", "keep_model"]
POSITIONAL = [
    *("dim", "stages", "consensus_stages", "gamma", "window", "negative", "consensus", "solver", "max_iter", "tol"),
    *("share", "normalize", "scale", "seed", "threads"),
]


@pytest.fixture(scope="module")
def described():
    return json.loads(_native.describe("mnmf"))


@pytest.fixture(scope="module")
def parameters():
    return inspect.signature(manyview.MNMF).parameters


def test_the_generated_file_is_up_to_date():
    script = HERE / "generate_parameters.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_parameters_are_the_librarys_settings(described, parameters):
    names = {setting["name"] for setting in described}
    assert set(parameters) - set(OWN) == names == set(SETTINGS)
    for setting in described:
        default = parameters[setting["name"]].default
        assert default == setting["default"] and type(default) is type(setting["default"]), setting["name"]
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD] == POSITIONAL
    rare = [setting["rare"] for name in SETTINGS[len(POSITIONAL) :] for setting in described if setting["name"] == name]
    assert rare == sorted(rare), "rare settings are last"


def test_the_docstring_has_the_librarys_help(described):
    text = " ".join(inspect.getdoc(manyview.MNMF).replace("``", "`").split())
    for setting in described:
        assert f"{setting['name']} : " in text
        assert setting["help"] + "." in text, setting["name"]
        if setting["default"] is None:
            assert setting["default_text"] in text, setting["name"]
        for choice, meaning in setting["choices"] or []:
            assert f"- `{choice}`: {meaning}" in text, setting["name"]
    for name in OWN:
        assert f" {name} : " in text
    assert "{parameters}" not in text


def test_parameters_are_the_options_of_mnmf_and_the_options_are_parameters(command):
    text = command("embed", "--help")
    sections = re.split(r"^(?=\S.*:$)", text, flags=re.MULTILINE)
    own = [section for section in sections if re.match("(rarely used )?settings of mnmf", section, re.IGNORECASE)]
    assert len(own) == 2, "often and rarely used settings"
    options = re.findall(r"^ +--([a-z][a-z0-9-]*)", "".join(own), re.MULTILINE)
    assert sorted(name.replace("-", "_") for name in options) == sorted(SETTINGS)


def test_the_defaults_of_functions_are_the_librarys(described):
    defaults = {setting["name"]: setting["default"] for setting in described}
    for function in (manyview.proximity, manyview.Network.proximity, manyview.Network.summary):
        parameters = inspect.signature(function).parameters
        for name in ("window", "negative", "isolated"):
            assert parameters[name].default == defaults[name], (function, name)


def test_presets():
    assert manyview.MNMF.preset("default").get_params() == manyview.MNMF().get_params()
    paper = manyview.MNMF.preset("paper", dim=64, verbose=True)
    assert (paper.solver, paper.negative, paper.dim, paper.verbose) == ("mu", 5.0, 64, True)
    with pytest.raises(ValueError, match='preset="best": expected one of default, paper, authors'):
        manyview.MNMF.preset("best")
    with pytest.raises(ValueError, match="dim=0: expected"):
        manyview.MNMF.preset("paper", dim=0)


GIVEN = [
    {},
    {"stages": 6},
    {"solver": "hals"},
    {"max_iter": 7},
    {"stage_dims": [8, 4, 4]},
    {"stage_dims": [8, 4, 4], "consensus_stages": 1},
    {"stages": 8, "solver": "mu", "negative": 2, "unique_max_iter": 3},
    {"auto": True, "dim": 32, "seed": 3, "threads": 2},
]


@pytest.mark.parametrize("preset", ["default", "paper", "authors"])
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_a_preset_with_parameters_is_the_librarys(preset, given):
    wanted = json.loads(_native.resolve(_settings.model("mnmf", preset, given)))
    model = manyview.MNMF.preset(preset, **given)
    assert {name: getattr(model, name) for name in SETTINGS} == wanted
    assert json.loads(_native.resolve(model._model())) == wanted, "the fit uses the same"


def test_a_preset_with_parameters_is_the_command_lines(tmp_path, command):
    command("generate", "-o", tmp_path / "net", "--nodes", 100, "--communities", 4, "-q")
    words = ["--preset", "authors", "--stages", 6, "--dim", 24]
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "-q", *words)
    model = manyview.MNMF.preset("authors", stages=6, dim=24)
    z = model.fit_transform(tmp_path / "net")
    theirs = json.loads((tmp_path / "out" / "run.json").read_text())
    assert model.run_["settings"] == theirs["settings"] and model.run_["config"] == theirs["config"]
    assert model.run_["config"]["consensus_stages"] == 3
    assert model.run_["network"] == theirs["network"]
    assert z.tobytes() == np.load(tmp_path / "out" / "embedding.npy").tobytes()


@pytest.mark.parametrize("dims", [[8, 4, 4], (8, 4, 4), np.array([8, 4, 4])], ids=["list", "tuple", "array"])
def test_stage_dims_set_stages_and_dim(planted, dims):
    model = manyview.MNMF(stage_dims=dims).fit(planted.views)
    assert model.embedding_.shape == (200, 16)
    assert (model.run_["config"]["stages"], model.run_["config"]["dim"]) == (3, 16)


def test_numbers_of_numpy_are_numbers(planted, small):
    z = small.fit_transform(planted.views)
    small.set_params(
        dim=np.int64(16), stages=np.uint8(4), gamma=np.float32(5), seed=np.int32(0), auto=np.bool_(0)
    )
    assert (small.fit_transform(planted.views) == z).all()


def test_methods_are_described_in_order():
    methods = manyview.methods()
    assert next(iter(methods)) == "mnmf"
    assert list(methods["mnmf"]["settings"])[:3] == ["dim", "stages", "consensus_stages"]
    for name, entry in methods.items():
        assert entry["group"] and entry["help"] and {"dim", "seed", "threads"} <= set(entry["settings"]), name
