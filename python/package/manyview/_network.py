"""Networks with several kinds of edges over one set of nodes, from all accepted forms."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _graphs, _ids, _matrices, _native, _settings, _tables
from ._warnings import warn

Directed = bool | str | Iterable[str] | None


#: Whether a part of a network is read. Doubts about a whole one, such as many nodes without an edge, do not apply to it.
_PART: ContextVar[bool] = ContextVar("part", default=False)


class Network:
    """A network with several kinds of edges over one set of nodes.

    :func:`read_network` and the class methods create networks with other names of columns or attributes, or with ids,
    than ``fit`` assumes.

    Attributes
    ----------
    nodes : ndarray of shape (n,)
        Node ids as given, in row order.
    views : tuple of str
        The names of the views.
    notes : list of str
        How files and tables were interpreted, and what was dropped or merged.
    warnings : list of str
        What makes it likely that something else was meant, such as views without common nodes. They are also issued as
        :class:`ManyviewWarning` when the network is created.
    skipped_lines : int
        The number of lines of files that were left out because they could not be read.
    """

    def __init__(self, native: _native.Network, nodes: np.ndarray) -> None:
        self._native = native
        self.nodes = nodes
        self.views: tuple[str, ...] = tuple(native.names())
        self.notes: list[str] = native.notes()
        self.warnings: list[str] = [message for _, message in native.warnings()]
        self.skipped_lines: int = native.skipped()

    def __repr__(self) -> str:
        facts = zip(self.views, self._native.facts())
        views = ", ".join(f"{name}: {edges:,} edges" for name, (_, edges, _) in facts)
        return f"Network({len(self.nodes):,} nodes; {views})"

    def __len__(self) -> int:
        return len(self.nodes)

    @classmethod
    def from_matrices(
        cls,
        matrices: Mapping[str, Any] | Sequence[Any],
        nodes: Sequence[Any] | None = None,
        *,
        directed: Directed = None,
        threads: int | None = None,
    ) -> Network:
        """Creates a network from adjacency matrices: SciPy matrices of any format, or arrays. ``nodes`` are the ids of rows."""
        named = _named(matrices)
        size, views = _matrices.views(named)
        if nodes is None:
            ids = np.arange(size)
        else:
            _check.unmasked("nodes", nodes)
            (codes,), ids = _ids.index([_ids.as_array(list(nodes))])
            if len(codes) != size:
                raise ValueError(f"got {len(codes)} node ids for matrices with {size} rows")
            if len(ids) != size:
                raise ValueError("nodes: an id is given twice")
        return cls._build(ids, views, directed, by_rows=True, threads=threads)

    @classmethod
    def from_graphs(
        cls,
        graphs: Mapping[str, Any] | Sequence[Any],
        *,
        weight: str | None = "weight",
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """Creates a network from networkx graphs, one per view.

        ``weight`` is the edge attribute with the weights; with None, every edge counts 1. Views are directed if their
        graphs are, unless ``directed`` is given.
        """
        ids, views = _graphs.views(_named(graphs), weight)
        return cls._build(ids, views, directed, duplicates=duplicates, threads=threads)

    @classmethod
    def from_multigraph(
        cls,
        graph: Any,
        *,
        relation: str = "relation",
        weight: str | None = "weight",
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """Creates a network from one networkx ``MultiGraph``. The attribute ``relation`` of an edge, or its key, is its view."""
        ids, views = _graphs.split(graph, relation, weight)
        return cls._build(ids, views, directed, duplicates=duplicates, threads=threads)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        relation: str | int | None = None,
        weight: str | int | None = None,
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """Creates a network from one edge table of pandas, polars or pyarrow.

        Columns are given by name, or by number from 1. Those that are not given are found as in files: by usual names such
        as ``source`` and ``target``, ``caller`` and ``callee``, ``weight``, or because no others are left; what could only be
        guessed raises a ``ValueError`` that lists the columns. By default, ``relation`` is the column with this name, if it
        exists. Without a relation there is one view; without weights, every row counts 1. Blanks around ids are removed, as
        in files. ``notes`` of the result says which columns were taken.
        """
        chosen = {"source": source, "target": target, "relation": relation, "weight": weight}
        ids, views, notes = _tables.split(table, chosen)
        return cls._build(ids, views, directed, duplicates=duplicates, notes=notes, threads=threads)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, Any] | Sequence[Any],
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """Creates a network from edge tables of pandas, polars or pyarrow, one per view. Columns are found as by
        :meth:`from_table`, in each table by itself."""
        ids, views, notes = _tables.views(_named(tables), {"source": source, "target": target, "weight": weight})
        return cls._build(ids, views, directed, duplicates=duplicates, notes=notes, threads=threads)

    @classmethod
    def _build(
        cls,
        ids: np.ndarray,
        views: list[_matrices.ViewArrays],
        directed: Directed,
        *,
        by_rows: bool = False,
        duplicates: str = "sum",
        notes: Sequence[str] = (),
        threads: int | None = None,
    ) -> Network:
        names = [view.name for view in views]
        keeps = _directions(directed, names)
        for view in views:
            view.check_weights(ids, by_rows)
        given = [
            (view.name, view.directed if keeps is None else view.name in keeps, view.rows, view.cols, view.weights)
            for view in views
        ]
        duplicates = _check.text("duplicates", duplicates)
        threads = _check.whole_or_none("threads", threads)
        native = _native.Network.build(len(ids), _ids.texts(ids), given, by_rows, duplicates, list(notes), threads)
        return cls._told(native, ids)

    @classmethod
    def _told(cls, native: _native.Network, ids: np.ndarray) -> Network:
        """Returns a new network, after a warning for each doubt about it."""
        if not _PART.get():
            warn(native.warnings())
        return cls(native, ids)

    def _only(self, view: str) -> Network:
        """Returns the network with one of its views."""
        return Network(self._native.only(view), self.nodes)

    def adjacency(self, view: str) -> sp.csr_matrix:
        """Returns the weights of a view, of shape (n, n); symmetric unless directed."""
        return self._matrix(self._native.adjacency(view))

    def proximity(
        self,
        view: str,
        window: int = 5,
        negative: float = 1.0,
        isolated: str = "zero",
        *,
        source: str = "auto",
        walks: int | None = None,
        seed: int = 0,
        dtype: Any = np.float32,
        threads: int | None = None,
    ) -> sp.csr_matrix:
        """Returns the proximity matrix of a view; see :func:`manyview.proximity`."""
        double = np.dtype(dtype) == np.float64
        settings = {"window": window, "negative": negative, "isolated": isolated, "proximity": source, "walks": walks}
        seed, threads = _check.whole("seed", seed), _check.whole_or_none("threads", threads)
        return self._matrix(self._native.proximity(view, _settings.as_json(settings), double, seed, threads))

    def summary(
        self,
        proximity: bool = True,
        window: int = 5,
        negative: float = 1.0,
        isolated: str = "zero",
        *,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """Returns properties of the views and how far they agree, as ``manyview views --json`` prints.

        The dict contains ``nodes``, ``views`` (edges, isolated, degree, entries), ``overlap`` (for each pair of views,
        the share of nodes whose neighborhoods have a Jaccard coefficient above 0.5) and, with ``proximity``,
        ``correlation``.
        """
        settings = _settings.as_json({"window": window, "negative": negative, "isolated": isolated})
        with_proximity = _check.flag("proximity", proximity)
        threads = _check.whole_or_none("threads", threads)
        return json.loads(self._native.summary(settings if with_proximity else None, threads))

    def _matrix(self, arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> sp.csr_matrix:
        indptr, indices, data = arrays
        return sp.csr_matrix((data, indices, indptr), shape=(len(self), len(self)))


def read_network(
    network: Any,
    *,
    relation: str | int | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    unweighted: bool = False,
    decimal: str = "point",
    on_error: str = "stop",
    delimiter: str | None = None,
    header: str = "auto",
    directed: Directed = None,
    duplicates: str = "sum",
    nodes: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
) -> Network:
    """Reads a network as ``manyview embed`` does.

    Parameters
    ----------
    network : path, list of paths, or dict of name and path
        A folder, a ``network.toml``, edge lists (one per view), or, with ``relation``, one table with all views. Columns may
        follow the path of an edge list, as in ``"calls.csv:caller,callee,minutes"``.
    relation, source, target, weight : str or int, optional
        Columns, by name or by number from 1.
    unweighted : bool, default False
        Ignores weights, so that every edge counts 1.
    decimal : {"point", "comma"}, default "point"
        The decimal separator of weights. With "comma", points separate thousands.
    on_error : {"stop", "skip"}, default "stop"
        What to do with lines that cannot be read: an error with the line, or leave them out. ``skipped_lines`` of the result
        counts them.
    delimiter : {"tab", "comma", "semicolon", "space"}, optional
        Default: inferred from the file.
    header : {"auto", "yes", "no"}, default "auto"
        Whether the first line is a header with the names of the columns.
    directed : bool, name, or list of names, optional
        The directed views.
    duplicates : {"sum", "max"}, default "sum"
        How several edges between the same two nodes of a view are merged.
    nodes : path, optional
        A file with one node id per line, which fixes the nodes and their order.
    threads : int, optional
        The number of threads; does not affect the result. Default: all cores.
    max_memory : int or str, optional
        The maximum memory in bytes, or as text such as "8G". Edges that need more raise a ``MemoryError``. Default: the
        available memory.
    """
    options = {
        "relation": _column(relation),
        "source": _column(source),
        "target": _column(target),
        "weight": _column(weight),
        "decimal": _check.text("decimal", decimal),
        "on_error": _check.text("on_error", on_error),
        "unweighted": _check.flag("unweighted", unweighted),
        "delimiter": _check.text_or_none("delimiter", delimiter),
        "header": _check.text("header", header),
        "directed": names_or_flag(directed),
        "duplicates": _check.text("duplicates", duplicates),
        "nodes": None if nodes is None else os.fspath(nodes),
        "max_memory": _check.size_or_none("max_memory", max_memory),
    }
    threads = _check.whole_or_none("threads", threads)
    named: list[tuple[str, str | os.PathLike[str]]] | None = None
    paths: list[str | os.PathLike[str]] = []
    if isinstance(network, Mapping):
        named = [(_check.text("view", name), os.fspath(path)) for name, path in network.items()]
        if not named:
            raise ValueError("expected at least one view, got none")
    elif isinstance(network, str | os.PathLike):
        paths = [os.fspath(network)]
    else:
        paths = [os.fspath(path) for path in network]
    native = _native.read_network(named, paths, options, threads)
    return Network._told(native, _ids.as_array(native.ids()))


def part_of_network(views: Any, **how: Any) -> Network:
    """Like :func:`to_network`, for edges that are a part of a network, such as new ones."""
    token = _PART.set(True)
    try:
        return to_network(views, **how)
    finally:
        _PART.reset(token)


def to_network(
    views: Any,
    *,
    directed: Directed = None,
    duplicates: str = "sum",
    threads: int | None = None,
    max_memory: int | str | None = None,
) -> Network:
    """Creates a network from any of the forms that ``fit`` accepts. ``max_memory`` limits the reading of files."""
    if isinstance(views, Network):
        return views
    how: dict[str, Any] = {"directed": directed, "threads": threads}
    kind = _kind(views)
    if kind == "path":
        return read_network(views, duplicates=duplicates, max_memory=max_memory, **how)
    if kind == "matrix":
        stack = isinstance(views, np.ndarray) and views.ndim == 3
        return Network.from_matrices(list(views) if stack else [views], **how)
    if kind == "table":
        return Network.from_table(views, duplicates=duplicates, **how)
    if kind == "graph":
        if views.is_multigraph():
            return Network.from_multigraph(views, duplicates=duplicates, **how)
        return Network.from_graphs([views], duplicates=duplicates, **how)
    if not isinstance(views, Mapping | list | tuple):
        raise TypeError(
            "views: expected a dict or list of matrices, graphs, tables or paths, or a single graph, table or path, "
            f"not {type(views).__name__}"
        )
    kinds = {_kind(view) for view in (views.values() if isinstance(views, Mapping) else views)}
    if kinds == {"matrix"}:
        return Network.from_matrices(views, **how)
    if kinds == {"graph"}:
        return Network.from_graphs(views, duplicates=duplicates, **how)
    if kinds == {"table"}:
        return Network.from_tables(views, duplicates=duplicates, **how)
    if kinds == {"path"}:
        return read_network(views, duplicates=duplicates, max_memory=max_memory, **how)
    if not kinds:
        raise ValueError("expected at least one view, got none")
    if "other" in kinds:
        others = views.values() if isinstance(views, Mapping) else views
        found = next(type(view).__name__ for view in others if _kind(view) == "other")
        raise TypeError(f"views: expected a matrix, graph, table or path per view, not {found}")
    raise TypeError(
        f"views of different kinds ({', '.join(sorted(kinds))}) do not show which nodes are the same; use one kind"
    )


def _kind(view: Any) -> str:
    if sp.issparse(view) or isinstance(view, np.ndarray):
        return "matrix"
    if isinstance(view, str | os.PathLike):
        return "path"
    if hasattr(view, "is_multigraph") and hasattr(view, "edges"):
        return "graph"
    if _tables.is_table(view):
        return "table"
    return "other"


def _named(views: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Returns views by name; without names they are view1, view2, and so on."""
    if not isinstance(views, Mapping):
        views = {f"view{at + 1}": view for at, view in enumerate(views)}
    if not views:
        raise ValueError("expected at least one view, got none")
    names = {name: str(name) for name in views}
    if len(set(names.values())) < len(names):
        twice = next(text for text in names.values() if list(names.values()).count(text) > 1)
        raise ValueError(f"two views have the name {twice!r}; rename one")
    return {names[name]: view for name, view in views.items()}


def _column(column: str | int | None) -> str | None:
    """Returns a column by name, or by number as text."""
    return None if column is None else str(column)


def names_or_flag(directed: Directed) -> bool | list[str] | None:
    if directed is None or isinstance(directed, bool):
        return directed
    return [directed] if isinstance(directed, str) else list(directed)


def _directions(directed: Directed, names: list[str]) -> set[str] | None:
    """Returns the names of the directed views; None if it is not given."""
    if directed is None:
        return None
    if isinstance(directed, bool | np.bool_):
        return set(names) if directed else set()
    chosen = [directed] if isinstance(directed, str) else list(directed)
    for name in chosen:
        if name not in names:
            raise ValueError(f"directed: unknown view {name!r}; the views are {', '.join(names)}")
    return set(chosen)
