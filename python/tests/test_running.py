"""Threads, forks, Ctrl-C, progress and warnings."""

import multiprocessing
import os
import signal
import sys
import threading
import time

import manyview
import numpy as np
import pytest
from manyview import _progress


@pytest.fixture(scope="module")
def large():
    return manyview.generate(nodes=4000, views=2, communities=30, degree=12)


def endless(**parameters):
    """A model that would take minutes."""
    return manyview.MNMF(dim=256, stages=2, tol=0.0, max_iter=10**6, **parameters)


@pytest.fixture
def ctrl_c():
    """Python's own handler of SIGINT. A shell that starts the tests in the background ignores the signal, and Python then
    installs no handler."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("delay", [0.05, 1.5])
def test_ctrl_c_ends_a_fit(large, delay, ctrl_c):
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        endless().fit(large.views)
    # A loaded machine may take a while; a fit that ignored the signal would take minutes.
    assert time.monotonic() - sent[0] < 20
    timer.join()


def test_a_callback_hears_and_may_end_it(large):
    heard = []

    class Enough(Exception):
        pass

    def callback(now):
        heard.append(now)
        if now["phase"] == "stages" and now["iteration"] > 3:
            raise Enough

    with pytest.raises(Enough):
        endless(progress=callback).fit(large.views)
    assert {now["phase"] for now in heard} >= {"stages"}
    assert all(0 <= now["done"] <= 1 for now in heard if "done" in now)


def test_the_lock_is_released(large):
    """Another thread goes on counting while a fit runs."""
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    manyview.MNMF(dim=32, stages=2).fit(large.views)
    took = time.monotonic() - began
    stop.set()
    thread.join()
    assert counts[0] > 20 * took


def test_two_fits_at_once(planted, small):
    expected = small.fit_transform(planted.views)
    found = [None, None]

    def fit(at):
        found[at] = manyview.MNMF(dim=16, stages=4, threads=2).fit_transform(planted.views)

    threads = [threading.Thread(target=fit, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all((z == expected).all() for z in found)


def _fit_in_child(queue, views):
    queue.put(manyview.MNMF(dim=16, stages=4).fit_transform(views).tobytes())


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_a_fit_does_not_hang(planted, small):
    manyview.generate(nodes=50, communities=3)
    expected = small.fit_transform(planted.views).tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue, planted.views))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(10)
    assert child.exitcode == 0


def test_not_converging_is_a_warning(planted):
    with pytest.warns(manyview.ConvergenceWarning, match="a higher max_iter may improve it"):
        manyview.MNMF(dim=16, stages=2, max_iter=2).fit(planted.views)
    with pytest.warns(manyview.ManyviewWarning, match="fully explained") as told:
        manyview.MNMF(dim=64, stages=16, window=1, max_iter=2000).fit([np.kron(np.eye(3), np.ones((3, 3)))])
    assert any(warning.category is manyview.ManyviewWarning for warning in told)


def test_a_bar_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = _progress.Bar()
    bar({"phase": "proximity", "view": "mail", "done": 0.5})
    bar(
        {
            "phase": "stages",
            "stage": 1,
            "stages": 4,
            "kind": "consensus",
            "view": "",
            "iteration": 3,
            "error": 0.5,
            "done": 0.5,
        }
    )
    bar.close(True)
    shown = capsys.readouterr().err
    assert "proximity of mail" in shown and "stage 1 of 4, consensus: 50.0% unexplained" in shown
    assert "100%" in shown and shown.endswith("\n")


def test_verbose_says_what_stages_did(capsys, planted):
    manyview.MNMF(dim=16, stages=4, verbose=True, progress=True).fit(planted.views)
    shown = capsys.readouterr().err
    assert "stage 4 consensus: 7 columns" in shown and "stage 3 unique view3" in shown


def test_too_much_memory_is_refused(planted):
    with pytest.raises(MemoryError, match="max_memory"):
        manyview.MNMF(max_memory=1000).fit(planted.views)
