"""The comparison of methods: the numbers of the command line, folders, failures, Ctrl-C."""

import json
import os
import signal
import sys
import threading
import time

import manyview
import numpy as np
import pytest

METHODS = ["mnmf", "netmf", "netmf-sum"]
SMALL = {"methods": METHODS, "dim": 16, "repeats": 2, "c": 1}


@pytest.fixture(scope="module")
def planted():
    return manyview.generate(nodes=80, views=2, communities=3)


@pytest.fixture(scope="module")
def found(planted):
    return manyview.compare(planted.views, planted.labels, **SMALL)


def test_the_tables_are_those_of_the_command_line(planted, found, command, saved, tmp_path):
    network, labels = saved
    options = ["--methods", ",".join(METHODS), "--dim", 16, "--repeats", 2, "--c", 1, "--no-pictures"]
    printed = command("compare", network, "--labels", labels, "-o", tmp_path / "c", *options)
    record = json.loads((tmp_path / "c" / "compare.json").read_text())
    assert found.record["tables"] == record["tables"]
    scores = [candidate["classify"] for method in record["methods"] for candidate in method["candidates"]]
    assert [one["classify"] for method in found.record["methods"] for one in method["candidates"]] == scores
    for table in found.tables:
        tables = [line for line in str(table).splitlines() if not line.startswith("* ")]
        assert "\n".join(tables) in printed

    again = manyview.compare(network, labels, **SMALL, folder=tmp_path / "c", progress=_fail_if_embedded)
    assert again.record["tables"] == record["tables"], "the folder of the command line is reused"


def _fail_if_embedded(now):
    assert now["phase"] == "started", now


def test_tables_are_data(found):
    assert [table.title for table in found.tables] == ["Classification, C = 1", "Clustering"]
    table = found.tables[0]
    assert table.columns == [
        "micro-F1 0.3",
        "micro-F1 0.5",
        "micro-F1 0.7",
        *(f"macro-F1 {x}" for x in (0.3, 0.5, 0.7)),
    ]
    assert [row["name"] for row in table.rows] == ["netmf, best view", "netmf, chosen view", "netmf-sum", "mnmf"]
    assert [row["oracle"] for row in table.rows] == [True, False, False, False]
    assert any(row["best"]["micro-F1 0.3"] for row in table.rows[1:]) and not any(table.rows[0]["best"].values())
    assert table.rows[0]["candidates"]["micro-F1 0.3"] in ("view1", "view2")
    ours, best = table.rows[3]["mean"], max(row["mean"]["micro-F1 0.3"] for row in table.rows[1:3])
    assert table.gain["micro-F1 0.3"] == pytest.approx(ours["micro-F1 0.3"] / best - 1)
    assert table.gain_points["micro-F1 0.3"] == pytest.approx(ours["micro-F1 0.3"] - best)
    assert found.failures == {} and found.notes == []
    text = repr(found)
    assert "netmf, best view *" in text and "gain of mnmf" in text and "* selected on the test nodes" in text


def test_a_frame_per_table(found):
    frame = found.to_frame()
    assert frame.loc[("ours", "mnmf"), ("micro-F1 0.3", "mean")] == found.tables[0].rows[3]["mean"]["micro-F1 0.3"]
    assert list(found.to_frame(1).columns) == [(score, kind) for score in ("NMI", "AMI") for kind in ("mean", "std")]
    with pytest.raises(ValueError, match="table=2: expected a whole number from 0 to 1"):
        found.to_frame(2)


def test_pandas_is_not_imported_without_a_frame():
    code = "import manyview, sys; assert 'pandas' not in sys.modules"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


def test_a_folder_is_continued_and_foreign_results_are_kept(planted, found, tmp_path):
    given = {**SMALL, "folder": tmp_path / "c"}
    heard = []
    first = manyview.compare(planted.views, planted.labels, **given)
    second = manyview.compare(planted.views, planted.labels, **given, progress=heard.append)
    assert first.record["tables"] == second.record["tables"] == found.record["tables"]
    assert [(now["phase"], now["number"], now["of"]) for now in heard] == [("started", k, 4) for k in (1, 2, 3, 4)]
    other = manyview.generate(nodes=80, views=2, communities=3, seed=5)
    with pytest.raises(ValueError, match="not from a comparison of this network; pass force=True to overwrite"):
        manyview.compare(other.views, other.labels, **given)
    manyview.compare(other.views, other.labels, **given, force=True)


@pytest.mark.filterwarnings("ignore::manyview.ManyviewWarning")
def test_failures_and_notes(planted):
    # Each view needs a column.
    methods = ["netmf-concat", "netmf-sum"]
    found = manyview.compare(planted.views, planted.labels, methods, dim=1, repeats=1, c="auto", train=0.5)
    assert set(found.failures) == {"netmf-concat"}
    failed = {row["name"]: row["failed"] for row in found.tables[0].rows}
    assert failed == {"netmf-sum": None, "netmf-concat": found.failures["netmf-concat"]}
    assert found.tables[0].title == "Classification, C chosen by cross-validation on the training nodes"
    assert np.isnan(found.to_frame().loc[("plain", "netmf-concat"), ("micro-F1 0.5", "mean")])
    assert "failed: " in repr(found)
    found = manyview.compare(planted.views, planted.labels, "mnmf", dim=16, repeats=1, c=1, sweep=["stages"])
    assert found.notes[0].startswith("mnmf over stages leaves out 16, 32")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"methods": ["x"]}, 'methods="x"'),
        ({"methods": []}, "methods is empty"),
        ({"sweep": "x"}, 'sweep="x"'),
        ({"dim": 0}, "dim=0"),
        ({"c": 0}, "c=0"),
        ({"c": ()}, "c is empty"),
        ({"train": 2}, "train=2"),
        ({"repeats": 0}, "repeats=0"),
        ({"progress": 1}, "progress=1"),
    ],
)
def test_bad_values_are_refused(planted, given, message):
    with pytest.raises(ValueError, match=message):
        manyview.compare(planted.views, planted.labels, **{**SMALL, **given})


def test_labels_of_one_class_are_refused(planted):
    with pytest.raises(ValueError, match="a comparison needs at least two classes"):
        manyview.compare(planted.views, ["x"] * 80, **SMALL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_comparison_and_other_threads_run(tmp_path):
    large = manyview.generate(nodes=2000, views=1, communities=10)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ticks = []

    def tick():
        while not done.wait(0.02):
            ticks.append(None)

    done = threading.Event()
    ticking = threading.Thread(target=tick)
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            ticking.start()
            timer.start()
            manyview.compare(large.views, large.labels, "mve", preset="paper", dim=64, folder=tmp_path / "c")
    finally:
        done.set()
        ticking.join()
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 20
    assert len(ticks) > 5, "the interpreter's lock is released"
    assert not (tmp_path / "c" / "mve-no-labels").exists(), "nothing unfinished is left"
