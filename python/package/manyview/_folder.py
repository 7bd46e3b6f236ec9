"""Results as folders: the three files of ``manyview embed``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _ids


def save(folder: str | os.PathLike[str], nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any]) -> None:
    """Writes ``embedding.npy``, ``nodes.txt`` and ``run.json``."""
    kinds = set(map(type, nodes.tolist()))
    run = {**run, "node_ids": "int" if kinds == {int} else "text"}
    texts = list(map(str, nodes.tolist()))
    if any("\n" in text or "\r" in text or not text for text in texts):
        raise ValueError("a node id is empty or has a line break, which nodes.txt cannot hold")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    _write(target / "embedding.npy", lambda file: np.save(file, vectors))
    _write(target / "nodes.txt", lambda file: file.write("".join(text + "\n" for text in texts).encode()))
    _write(target / "run.json", lambda file: file.write(json.dumps(run, indent=2).encode() + b"\n"))


def load(folder: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Nodes, vectors and record."""
    source = Path(folder)
    vectors = np.load(source / "embedding.npy")
    texts = (source / "nodes.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    run = json.loads((source / "run.json").read_text(encoding="utf-8"))
    if vectors.ndim != 2 or len(texts) != len(vectors):
        raise ValueError(
            f"{source}: nodes.txt has {len(texts)} lines and embedding.npy the shape {vectors.shape}; "
            "they do not belong together"
        )
    ids = [int(text) for text in texts] if run.get("node_ids") == "int" else texts
    return _ids.as_array(ids), vectors, run


def _write(path: Path, write: Any) -> None:
    """Writes beside the file and then puts it in its place, so that no half file is left behind."""
    beside = path.with_name(f".{path.name}.tmp")
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
