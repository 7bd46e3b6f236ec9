"""The search for settings: the numbers of the command line, settings for MNMF, folders, errors."""

import json
import math

import manyview
import pytest

SMALL = {"dim": 16, "stages": 4, "validation_rounds": 3, "repeats": 2}


@pytest.fixture(scope="module")
def planted():
    return manyview.generate(nodes=120, views=2, communities=3, noise=0.3)


@pytest.fixture(scope="module")
def found(planted):
    return manyview.tune(planted.views, planted.labels, "all", {"stages": "2..4", "negative": [1, 5]}, trials=4, **SMALL)


def test_the_scores_are_those_of_the_command_line(planted, found, command, saved, tmp_path):
    network, labels = saved
    options = ["--dim", 16, "--stages", 4, "--validation-rounds", 3, "--repeats", 2, "--trials", 4]
    searched = ["--search", "all", "--over", "stages=2..4", "--over", "negative=1,5"]
    command("tune", network, "--labels", labels, "-o", tmp_path / "t", *options, *searched)
    record = json.loads((tmp_path / "t" / "tune.json").read_text())

    def scores(record):
        tests = [search["test"] for search in record["searches"]]
        return [candidate["score"] for candidate in record["candidates"]], tests, record["best"]["settings"]

    assert scores(found.record) == scores(record)
    again = manyview.tune(
        network, labels, "all", "stages=2..4,negative=1,5", trials=4, folder=tmp_path / "t", **SMALL,
        progress=_fail_if_embedded,
    )
    assert scores(again.record) == scores(record), "the folder of the command line is reused"


def _fail_if_embedded(now):
    assert now["phase"] in ("started", "finished"), now


def test_the_best_settings_are_parameters(planted, found):
    model = manyview.MNMF(**found.best_params_)
    assert model.get_params() == found.best_.get_params()
    assert model.fit(planted.views).embedding_.shape[1] == found.best_params_["dim"]
    assert found.best_score_ == max(row["score"] for row in found.table_)
    assert found.best_search_ in ("baseline", "grid", "bayes", "early-stopping")


def test_the_table_and_the_candidates_are_data(found):
    assert [row["search"] for row in found.table_] == ["baseline", "grid", "bayes", "early-stopping"]
    assert [test["train"] for test in found.table_[0]["test"]] == [0.3, 0.5, 0.7]
    grid = [one for one in found.candidates_ if "grid" in one["searches"]]
    # The settings as given are one of them, under the name of the baseline.
    assert {(one["settings"]["stages"], one["settings"]["negative"]) for one in grid} == {(2, 1), (2, 5), (4, 1), (4, 5)}
    assert "early-stopping" in repr(found) and "train 0.7" in repr(found)
    frame = pytest.importorskip("pandas") and found.to_frame()
    assert list(frame.index) == [row["search"] for row in found.table_]


def test_without_labels_hidden_edges_score(planted):
    found = manyview.tune(planted.views, over={"stages": [2, 4]}, **SMALL)
    assert found.record["protocol"]["score"] == "AUC of hidden edges"
    assert "favors plans of few, wide stages" in found.notes[0]
    assert found.table_[1]["test"][0]["train"] is None


def test_progress_has_the_best_so_far(planted):
    heard = []
    manyview.tune(planted.views, planted.labels, over={"stages": [2, 4]}, progress=heard.append, **SMALL)
    finished = [now for now in heard if now["phase"] == "finished"]
    assert [now["search"] for now in finished] == ["baseline", "grid", "grid"]
    assert all(not math.isnan(now["best"]) for now in finished)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"over": "stagess"}, "over stagess: there is no such setting"),
        ({"over": {"stages": []}}, "over: stages has no values"),
        ({"over": {"stages": [4]}}, "nothing to search"),
        ({"search": "random"}, 'search="random"'),
        ({"validation": 0.7}, "validation=0.7 must be"),
        ({"validation_rounds": 0}, "validation_rounds=0"),
        ({"progress": "yes"}, "progress='yes'"),
        ({"epochs": 3}, "epochs"),
    ],
)
def test_what_is_wrong_is_said(planted, changed, words):
    with pytest.raises(ValueError) as raised:
        manyview.tune(planted.views, planted.labels, **{**SMALL, **changed})
    assert words in str(raised.value)


def test_too_few_labels(planted):
    with pytest.raises(ValueError, match="too few labeled nodes"):
        manyview.tune(planted.views, planted.labels, validation=0.02, **SMALL)
