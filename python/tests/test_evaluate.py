"""Evaluation: the numbers of the command line, labels in all forms, and invalid input."""

import json

import numpy as np
import pytest

import manyview
from manyview import evaluate

QUICK = {"train": [0.5], "repeats": 2}


@pytest.fixture(scope="module")
def fitted(planted):
    return manyview.MNMF(dim=16, stages=4).fit(planted.views)


def test_the_command_lines_numbers(tmp_path, command):
    command("generate", "-o", tmp_path / "net", "--nodes", 200, "--communities", 4, "-q")
    command("embed", tmp_path / "net", "-o", tmp_path / "out", "--dim", 16, "--stages", 4, "-q")
    labels = tmp_path / "net" / "labels.tsv"
    model = manyview.MNMF.load(tmp_path / "out")

    def said(*words):
        return json.loads(command("evaluate", *words, "--json", "-q"))

    told = said("classify", tmp_path / "out", "--labels", labels, "--train", "0.5", "--repeats", 2)
    assert evaluate.classify(model, labels, **QUICK)["shares"] == told["shares"]
    by_node = dict(line.split("\t") for line in labels.read_text().splitlines())
    assert evaluate.classify(model, by_node, **QUICK)["shares"] == told["shares"]
    told = said("cluster", tmp_path / "out", "--labels", labels, "--repeats", 2)
    assert evaluate.cluster(model, labels, repeats=2)["runs"] == told["runs"]
    settings = ["--dim", 16, "--stages", 4]
    told = said("links", tmp_path / "net", *settings, "--of", "view1", "--repeats", 1)
    found = evaluate.links(tmp_path / "net", manyview.MNMF(dim=16, stages=4), of="view1", repeats=1)
    assert found["views"] == told["views"]


def test_good_vectors_score_high(planted, fitted):
    found = evaluate.classify(fitted, planted.labels, **QUICK)
    assert found["shares"][0]["micro_f1"]["mean"] > 0.9 and not found["multi_label"]
    assert evaluate.cluster(fitted, planted.labels, repeats=2)["nmi"]["mean"] > 0.7
    random = np.random.default_rng(0).random((200, 16))
    assert evaluate.classify(random, planted.labels, **QUICK)["shares"][0]["micro_f1"]["mean"] < 0.5


def test_labels_that_are_missing_or_several(planted, fitted):
    labels = [None if row % 10 == 0 else str(label) for row, label in enumerate(planted.labels)]
    assert evaluate.classify(fitted, labels, **QUICK)["labeled"] == 180
    several = [{str(label), f"x{label % 2}"} for label in planted.labels]
    found = evaluate.classify(fitted, several, **QUICK)
    assert found["multi_label"] and found["shares"][0]["known_micro_f1"]["mean"] > 0.8
    with pytest.raises(ValueError, match="several labels"):
        evaluate.cluster(fitted, several)


def test_bad_input(tmp_path, planted, fitted):
    with pytest.raises(ValueError, match="got 3 labels for 200 vectors"):
        evaluate.classify(fitted, ["a", "b", "c"])
    with pytest.raises(ValueError, match="needs at least two classes"):
        evaluate.classify(fitted, ["a"] * 200)
    with pytest.raises(ValueError, match='all 200 labeled nodes have the label "a"; .* two classes'):
        evaluate.cluster(fitted, ["a"] * 200)
    with pytest.raises(ValueError, match="train=None: expected a number"):
        evaluate.classify(fitted, planted.labels, train=None)
    with pytest.raises(ValueError, match="train=2 must be a fraction"):
        evaluate.classify(fitted, planted.labels, train=2.0)
    with pytest.raises(ValueError, match='c="best" must be a number greater than 0, or auto'):
        evaluate.classify(fitted, planted.labels, c="best")
    with pytest.raises(ValueError, match="nan|NaN"):
        evaluate.classify(np.full((200, 2), np.nan), planted.labels)
    with pytest.raises(ValueError, match="k=1000"):
        evaluate.cluster(fitted, planted.labels, k=1000)
    with pytest.raises(ValueError, match='average="mean": expected one of arithmetic'):
        evaluate.cluster(fitted, planted.labels, average="mean")
    with pytest.raises(FileNotFoundError):
        evaluate.classify(fitted, tmp_path / "nowhere.tsv")
    with pytest.raises(ValueError, match="hide=0 must be a fraction"):
        evaluate.links(planted.views, hide=0)
    with pytest.raises(ValueError, match="not fitted"):
        evaluate.classify(manyview.MNMF(), planted.labels)
