"""Any method by name: MNMF and those it is compared with."""

from __future__ import annotations

import json
import math
import numbers
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _check, _folder, _ids, _labels, _look, _native, _progress
from ._model import MNMF
from ._network import Directed, to_network
from ._warnings import ManyviewWarning


class Embedding:
    """The result of :func:`embed`. ``numpy.asarray`` gives its vectors.

    Attributes
    ----------
    vectors : ndarray of shape (n, columns), float32
    nodes : ndarray of shape (n,)
        Node ids as they were given, in row order.
    parts : list of dict
        Which ``columns`` (first, end) are of which ``view``; None for columns of all views.
    run : dict
        Everything about the run, as in ``run.json``.
    """

    def __init__(self, nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any]) -> None:
        self.nodes = nodes
        self.vectors = vectors
        self.run = run
        told = run["parts"] if "parts" in run else run["stages"]
        self.parts = [{"view": part["view"], "columns": tuple(part["columns"])} for part in told]

    @property
    def method(self) -> str:
        return self.run["method"]

    def of_view(self, view: str) -> np.ndarray:
        """The columns of one view alone, of shape (n, columns)."""
        found = [part["columns"] for part in self.parts if part["view"] == view]
        if not found:
            views = sorted({part["view"] for part in self.parts if part["view"] is not None})
            raise ValueError(f"no columns are of view {view!r} alone; there are columns of {views or 'all views only'}")
        return np.hstack([self.vectors[:, first:end] for first, end in found])

    def neighbors(self, node: Any, count: int = 10) -> list[tuple[Any, float]]:
        """The nodes nearest to one, by cosine, and their cosines: ``manyview neighbors``."""
        found = _look.nearest(self.vectors, self._row(node), _check.whole("count", count))
        return [(self.nodes[row], near) for row, near in found]

    def explain(self, node: Any, other: Any = None) -> dict[str, Any]:
        """Which views a node's vector, or the similarity of two nodes, comes from: ``manyview explain``.

        As :meth:`MNMF.explain`. It tells most of methods whose columns are each of one view; see ``parts``.
        """
        beside = None if other is None else self.vectors[self._row(other)]
        return _look.origin(self._origins(), self.vectors[self._row(node)], beside)

    def _row(self, node: Any) -> int:
        return _ids.row(self.nodes, node, "nodes")

    def _origins(self) -> list[dict[str, Any]]:
        """Parts as stages: those of other methods than mnmf are all of one."""
        if "parts" not in self.run:
            return self.run["stages"]
        kind = {True: "consensus", False: "unique"}
        return [{"stage": 1, "kind": kind[part["view"] is None], **part} for part in self.run["parts"]]

    def to_frame(self) -> Any:
        """A pandas ``DataFrame`` of the vectors, with node ids as index."""
        import pandas

        return pandas.DataFrame(self.vectors, index=list(self.nodes))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``embedding.npy``, ``nodes.txt`` and ``run.json``, as the command line does."""
        _folder.save(folder, self.nodes, self.vectors, self.run)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Embedding:
        """The result in a folder of :meth:`save` or of ``manyview embed``."""
        return cls(*_folder.load(folder))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and dtype is not None and np.dtype(dtype) != self.vectors.dtype:
            raise ValueError(f"vectors are {self.vectors.dtype}; as {np.dtype(dtype)} they would be a copy")
        return np.array(self.vectors, dtype=dtype) if copy else np.asarray(self.vectors, dtype=dtype)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<Embedding of {len(self)} nodes by {self.method}: {self.vectors.shape[1]} columns>"


def methods() -> dict[str, dict[str, Any]]:
    """All methods: for each its ``group``, a line of ``help``, and its ``settings`` with their defaults."""
    return json.loads(_native.methods())


def embed(
    views: Any,
    method: str = "mnmf",
    *,
    preset: str = "default",
    view_only: str | None = None,
    labels: Any = None,
    directed: Directed = None,
    duplicates: str = "sum",
    progress: bool | _progress.Callback = False,
    **settings: Any,
) -> Embedding:
    """Embeds the nodes of a network by any method.

    Parameters
    ----------
    views
        Anything that :meth:`MNMF.fit` takes.
    method : str, default "mnmf"
        One of :func:`methods`. Methods of a single view are run on each view, side by side; ``parts`` and ``of_view``
        of the result tell their columns apart.
    preset : {"default", "paper", "authors"}, default "default"
        The settings to start from; "authors" is one of mnmf.
    view_only : str, optional
        Embed this view alone. All nodes have a vector, also those that only other views link.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path, optional
        Of nodes that may be learned from, in the forms of :func:`manyview.evaluate.classify`: ``mve`` with
        ``attention=True`` alone. None: the node has no label.
    directed, duplicates, progress
        As in :class:`MNMF`.
    **settings
        Of the method, by the names of the command line: ``dim``, ``seed``, ``threads`` and its own.
    """
    method, preset = _check.text("method", method), _check.text("preset", preset)
    if method == "mnmf":
        if labels is not None:
            raise ValueError("labels: mnmf learns from no labels; leave it out")
        around: dict[str, Any] = {"directed": directed, "duplicates": duplicates}
        model = mnmf_with(preset, settings, {**around, "progress": progress})
        if view_only is not None:
            network = to_network(views, **around, threads=_check.whole_or_none("threads", model.threads))
            views = network._only(_check.text("view_only", view_only))
        model.fit(views)
        return Embedding(model.nodes_, model.embedding_, model.run_)
    values = as_json(settings)
    threads = _check.whole_or_none("threads", settings.get("threads"))
    network = to_network(views, directed=directed, duplicates=duplicates, threads=threads)
    if view_only is not None:
        network = network._only(_check.text("view_only", view_only))
    given = None
    if labels is not None:
        given = (_labels.of_nodes(labels, network.nodes), list(map(str, network.nodes.tolist())))
    callback = _progress.chosen(progress, verbose=False)
    command = f"manyview.embed(method={method!r}, preset={preset!r})"
    complete = False
    try:
        vectors, record, told = _native.embed(network._native, method, preset, values, given, command, callback)
        complete = True
    finally:
        if isinstance(callback, _progress.Bar):
            callback.close(complete)
    for sentence in told:
        warnings.warn(sentence, ManyviewWarning, stacklevel=2)
    return Embedding(network.nodes, vectors, json.loads(record))


def mnmf_with(preset: str, settings: Mapping[str, Any], around: Mapping[str, Any]) -> MNMF:
    """An estimator with a preset's settings and given ones; unknown names are refused as other methods refuse them."""
    known = MNMF._parameters()
    for name in settings:
        if name not in known:
            raise _check.InvalidParameter(f"mnmf has no setting {name!r}; it has {', '.join(known)}")
    return MNMF.preset(_check.text("preset", preset), **settings, **around)


def as_json(settings: Mapping[str, Any]) -> str:
    """Settings of a method for the library, which knows their types."""
    return json.dumps({name: _plain(name, value) for name, value in settings.items()})


def _plain(name: str, value: Any) -> Any:
    """A value as JSON has it: numbers of NumPy and any sequence are fine, what is not finite is not."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            raise ValueError(f"{name} = {value} is not a finite number")
        return float(value)
    if isinstance(value, set | frozenset | Mapping) or not hasattr(value, "__iter__"):
        raise _check.InvalidParameter(f"{name} = {value!r} is not a value of a setting")
    return [_plain(name, one) for one in value]
