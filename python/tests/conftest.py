"""Fixtures: a small network, the numbers of the oracle, and the command line."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import manyview
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def planted():
    return manyview.generate(nodes=200, views=3, communities=5, degree=8, seed=1)


@pytest.fixture
def saved(planted, tmp_path):
    """The planted network of a test module as files: its folder, and the label file."""
    folder, labels = tmp_path / "net", tmp_path / "labels.tsv"
    folder.mkdir()
    (folder / "nodes.txt").write_text("".join(f"{node}\n" for node in range(len(planted.labels))))
    for name, matrix in planted.views.items():
        rows, columns = matrix.nonzero()
        edges = [f"{a}\t{b}\n" for a, b in zip(rows, columns, strict=True) if a < b]
        (folder / f"{name}.tsv").write_text("".join(edges))
    labels.write_text("".join(f"{node}\t{label}\n" for node, label in enumerate(planted.labels)))
    return folder, labels


@pytest.fixture(scope="session")
def oracle():
    return json.loads((ROOT / "data" / "oracle" / "tiny.json").read_text())


@pytest.fixture(scope="session")
def tiny_views(oracle):
    """The adjacency matrices of the oracle's views."""
    views = {}
    for name, edges in oracle["edges"].items():
        matrix = np.zeros((oracle["nodes"], oracle["nodes"]))
        for source, target, weight in edges:
            matrix[int(source), int(target)] += weight
            matrix[int(target), int(source)] += weight
        views[name] = matrix
    return views


@pytest.fixture(scope="session")
def command():
    """Runs the command line."""
    found = os.environ.get("MANYVIEW_BIN") or shutil.which("manyview") or ROOT / "target" / "release" / "manyview"
    if not Path(found).exists():
        pytest.fail("the command line is missing; set MANYVIEW_BIN, or run cargo build --release")

    def run(*words):
        done = subprocess.run([str(found), *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def small():
    """A model whose fit takes little time."""
    return manyview.MNMF(dim=16, stages=4, max_iter=200)
