"""Result folders, as ``manyview embed`` writes them. Ids that are not text are converted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _ids, _native


def save(folder: str | os.PathLike[str], nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any],
         model: _native.KeptModel | None = None) -> None:
    """Writes ``embedding.npy``, ``nodes.txt``, ``run.json`` and, if there is one, ``model.bin``."""
    ids = nodes.tolist()
    run = {name: value for name, value in run.items() if name != "model"}
    if model is not None:
        run["model"] = json.loads(model.record())
    run = {**run, "node_ids": "int" if set(map(type, ids)) == {int} else "text"}
    text = json.dumps(run, indent=2, ensure_ascii=False) + "\n"
    _native.save(os.fspath(folder), list(map(str, ids)), np.ascontiguousarray(vectors, dtype=np.float32), text, model)


def load(folder: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Reads nodes, vectors and the content of ``run.json``."""
    texts, vectors = _native.load(os.fspath(folder))
    run = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    ids = [int(text) for text in texts] if run.get("node_ids") == "int" else texts
    return _ids.as_array(ids), vectors, run
