"""The result of a fit by any method."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _check, _folder, _ids, _native


class Embedding:
    """The result of :func:`embed`. ``numpy.asarray`` returns its vectors.

    Attributes
    ----------
    vectors : ndarray of shape (n, columns), float32
    nodes : ndarray of shape (n,)
        Node ids as given, in row order.
    parts : list of dict
        The ``columns`` (first, end) of each ``view``; the view is None for columns of all views.
    run : dict
        The record of the run, as in ``run.json``.
    """

    def __init__(self, nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any]) -> None:
        self.nodes = nodes
        self.vectors = vectors
        self.run = run
        self.parts = [{"view": part["view"], "columns": tuple(part["columns"])} for part in self._origins()]

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.run["method"]

    def of_view(self, view: str) -> np.ndarray:
        """Returns the columns that belong to one view alone, of shape (n, columns)."""
        found = [part["columns"] for part in self.parts if part["view"] == view]
        if not found:
            views = sorted({part["view"] for part in self.parts if part["view"] is not None})
            known = ", ".join(views) or "all views together only"
            raise ValueError(f"no columns belong to view {view!r} alone; there are columns of {known}")
        return np.hstack([self.vectors[:, first:end] for first, end in found])

    def neighbors(self, node: Any, count: int = 10) -> list[tuple[Any, float]]:
        """Returns the nearest nodes by cosine similarity, and the similarities, as ``manyview neighbors`` does."""
        vectors = np.ascontiguousarray(self.vectors, dtype=np.float32)
        found = _native.neighbors(vectors, self._row(node), _check.whole("count", count))
        return [(self.nodes[row], similarity) for row, similarity in found]

    def explain(self, node: Any, other: Any = None) -> dict[str, Any]:
        """Returns the shares of stages and views in a vector, or in the similarity of two nodes, as ``manyview explain``.

        The dict contains ``total`` (the squared norm, or the cosine similarity) and the shares ``consensus``, ``joint``
        (paths through several views), ``views`` and ``parts``. Shares of different stages are comparable only with ``scale="balanced"``. For methods whose
        columns belong to all views, there is a single share; see ``parts``.
        """
        rows = [self._row(node)] + ([] if other is None else [self._row(other)])
        vectors = np.ascontiguousarray(self.vectors[rows], dtype=np.float32)
        return json.loads(_native.explain(vectors, json.dumps(self._origins())))

    def to_frame(self) -> Any:
        """Returns the vectors as a pandas ``DataFrame`` indexed by node id."""
        import pandas

        return pandas.DataFrame(self.vectors, index=list(self.nodes))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``embedding.npy``, ``nodes.txt`` and ``run.json``, as the command line does.

        An existing result is replaced. Ids are written as text; :meth:`load` restores whole numbers and text, and
        returns other ids as text.
        """
        _folder.save(folder, self.nodes, self.vectors, self.run)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Embedding:
        """Reads a folder written by :meth:`save` or by ``manyview embed``."""
        return cls(*_folder.load(folder))

    def _row(self, node: Any) -> int:
        return _ids.row(self.nodes, node)

    def _origins(self) -> list[dict[str, Any]]:
        """The stage, kind, view and columns of each part. Methods without stages have one stage."""
        if "stages" in self.run:
            return [{key: stage[key] for key in ("stage", "kind", "view", "columns")} for stage in self.run["stages"]]
        kind = {True: "consensus", False: "unique"}
        return [{"stage": 1, "kind": kind[part["view"] is None], **part} for part in self.run["parts"]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and dtype is not None and np.dtype(dtype) != self.vectors.dtype:
            raise ValueError(f"the vectors are {self.vectors.dtype}; {np.dtype(dtype)} requires a copy")
        return np.array(self.vectors, dtype=dtype) if copy else np.asarray(self.vectors, dtype=dtype)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<Embedding of {len(self)} nodes by {self.method}: {self.vectors.shape[1]} columns>"
