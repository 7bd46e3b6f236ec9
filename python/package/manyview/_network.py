"""Networks: several kinds of edges over one set of nodes, and the forms in which people have them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _graphs, _ids, _matrices, _native, _tables

Directed = bool | str | Iterable[str] | None


class Network:
    """Several kinds of edges over one set of nodes.

    Made by :func:`read_network`, or by one of the class methods here when the defaults of ``fit`` do not do: other
    names of columns or attributes, nodes in an order of their own.

    Attributes
    ----------
    nodes : ndarray of shape (n,)
        Node ids as they were given, in row order.
    views : tuple of str
        Names of the views.
    notes : list of str
        How files were understood, what was dropped or merged.
    """

    def __init__(self, native: _native.Network, nodes: np.ndarray) -> None:
        self._native = native
        self.nodes = nodes
        self.views: tuple[str, ...] = tuple(native.names())
        self.notes: list[str] = native.notes()

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
        """From adjacency matrices: SciPy's of any layout, or arrays; ``nodes`` are the ids of their rows."""
        named = _named(matrices)
        size, views = _matrices.views(named)
        if nodes is None:
            ids = np.arange(size)
        else:
            (codes,), ids = _ids.index([_ids.as_array(list(nodes))])
            if len(codes) != size:
                raise ValueError(f"{len(codes)} node ids were given for matrices of {size} rows")
            if len(ids) != size:
                raise ValueError("a node id is given twice")
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
        """From networkx graphs, one for each view. ``weight`` names the attribute of edges; None counts each 1.

        Graphs that are directed keep their directions unless ``directed`` says otherwise.
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
        """From one networkx ``MultiGraph``: the attribute ``relation`` of an edge, or else its key, names its view."""
        ids, views = _graphs.split(graph, relation, weight)
        return cls._build(ids, views, directed, duplicates=duplicates, threads=threads)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        source: str = "source",
        target: str = "target",
        relation: str | None = None,
        weight: str | None = None,
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """From one edge table of pandas, polars or pyarrow.

        ``relation`` and ``weight`` are columns called so where the table has them; without, there is one view, and each
        row counts 1.
        """
        ids, views = _tables.split(table, source, target, relation, weight)
        return cls._build(ids, views, directed, duplicates=duplicates, threads=threads)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, Any] | Sequence[Any],
        *,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: Directed = None,
        duplicates: str = "sum",
        threads: int | None = None,
    ) -> Network:
        """From edge tables of pandas, polars or pyarrow, one for each view."""
        ids, views = _tables.views(_named(tables), source, target, weight)
        return cls._build(ids, views, directed, duplicates=duplicates, threads=threads)

    @classmethod
    def _build(
        cls,
        ids: np.ndarray,
        views: list[_matrices.ViewArrays],
        directed: Directed,
        *,
        by_rows: bool = False,
        duplicates: str = "sum",
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
        return cls(_native.Network.build(len(ids), given, by_rows, duplicates, threads), ids)

    def _only(self, view: str) -> Network:
        """The same nodes with one of the views."""
        return Network(self._native.only(view), self.nodes)

    def adjacency(self, view: str) -> sp.csr_matrix:
        """Weights of a view, of shape (n, n); symmetric unless directed."""
        return self._matrix(self._native.adjacency(view))

    def proximity(
        self,
        view: str,
        window: int = 5,
        negative: float = 1.0,
        isolated: str = "zero",
        *,
        dtype: Any = np.float32,
        threads: int | None = None,
    ) -> sp.csr_matrix:
        """The proximity matrix of a view; see :func:`manyview.proximity`."""
        double = np.dtype(dtype) == np.float64
        return self._matrix(self._native.proximity(view, window, negative, isolated, double, threads))

    def summary(
        self,
        proximity: bool = True,
        window: int = 5,
        negative: float = 1.0,
        isolated: str = "zero",
        *,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """What the views are like and how far they agree, as ``manyview views --json`` prints it.

        A dict with ``nodes``, ``views`` (edges, isolated, degree, entries), ``overlap`` (for each two views the share of
        nodes whose neighborhoods have a Jaccard coefficient above 0.5) and, with ``proximity``, ``correlation``.
        """
        _check.flag("proximity", proximity)
        window, negative = _check.whole("window", window), _check.number("negative", negative)
        return json.loads(self._native.summary(proximity, window, negative, isolated, threads))

    def _matrix(self, arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> sp.csr_matrix:
        indptr, indices, data = arrays
        return sp.csr_matrix((data, indices, indptr), shape=(len(self), len(self)))


def read_network(
    network: Any,
    *,
    relation: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    delimiter: str | None = None,
    header: str = "auto",
    directed: Directed = None,
    duplicates: str = "sum",
    nodes: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Network:
    """Reads a network as ``manyview embed`` does.

    Parameters
    ----------
    network : path, list of paths, or dict of name and path
        A folder, a ``network.toml``, edge lists (each a view), or, with ``relation``, one table for all views.
    relation, source, target, weight : str, optional
        Columns by name or number from 1.
    unweighted : bool
        Every edge counts 1.
    delimiter : {"tab", "comma", "semicolon", "space"}, optional
        Told from the file by default.
    header : {"auto", "yes", "no"}
        Whether the first line names the columns.
    directed : bool, name, or list of names
        The views whose edges keep their directions.
    duplicates : {"sum", "max"}
        Several edges between the same two nodes of a view.
    nodes : path, optional
        A file with one node id a line: fixes the nodes and their order.
    """
    options = {
        "relation": relation,
        "source": source,
        "target": target,
        "weight": weight,
        "unweighted": _check.flag("unweighted", unweighted),
        "delimiter": _check.text_or_none("delimiter", delimiter),
        "header": _check.text("header", header),
        "directed": _names_or_flag(directed),
        "duplicates": _check.text("duplicates", duplicates),
        "nodes": None if nodes is None else os.fspath(nodes),
    }
    threads = _check.whole_or_none("threads", threads)
    named: list[tuple[str, str | os.PathLike[str]]] | None = None
    paths: list[str | os.PathLike[str]] = []
    if isinstance(network, Mapping):
        named = [(_check.text("view name", name), os.fspath(path)) for name, path in network.items()]
        if not named:
            raise ValueError("no views were given; give at least one")
    elif isinstance(network, str | os.PathLike):
        paths = [os.fspath(network)]
    else:
        paths = [os.fspath(path) for path in network]
    native = _native.read_network(named, paths, options, threads)
    return Network(native, _ids.as_array(native.ids()))


def to_network(
    views: Any, *, directed: Directed = None, duplicates: str = "sum", threads: int | None = None
) -> Network:
    """A network from any of the forms that ``fit`` takes."""
    if isinstance(views, Network):
        return views
    how: dict[str, Any] = {"directed": directed, "threads": threads}
    kind = _kind(views)
    if kind == "path":
        return read_network(views, duplicates=duplicates, **how)
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
            "views are a dict or list of matrices, graphs, tables or paths, a graph, a table or a path, "
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
        return read_network(views, duplicates=duplicates, **how)
    if not kinds:
        raise ValueError("no views were given; give at least one")
    if "other" in kinds:
        others = views.values() if isinstance(views, Mapping) else views
        found = next(type(view).__name__ for view in others if _kind(view) == "other")
        raise TypeError(f"a view is a matrix, a graph, a table or a path, not {found}")
    raise TypeError(
        f"views of different kinds ({', '.join(sorted(kinds))}) do not say which nodes are the same; use one kind"
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
    """Views with names: those given, or view1, view2, ..."""
    if not isinstance(views, Mapping):
        views = {f"view{at + 1}": view for at, view in enumerate(views)}
    if not views:
        raise ValueError("no views were given; give at least one")
    names = {name: str(name) for name in views}
    if len(set(names.values())) < len(names):
        twice = next(text for text in names.values() if list(names.values()).count(text) > 1)
        raise ValueError(f"two views are called {twice!r}; rename one")
    return {names[name]: view for name, view in views.items()}


def _names_or_flag(directed: Directed) -> bool | list[str] | None:
    if directed is None or isinstance(directed, bool):
        return directed
    return [directed] if isinstance(directed, str) else list(directed)


def _directions(directed: Directed, names: list[str]) -> set[str] | None:
    """The views that keep directions; None when each has its own way."""
    if directed is None:
        return None
    if isinstance(directed, bool | np.bool_):
        return set(names) if directed else set()
    chosen = [directed] if isinstance(directed, str) else list(directed)
    for name in chosen:
        if name not in names:
            raise ValueError(f"directed: there is no view {name!r}; the views are {', '.join(names)}")
    return set(chosen)
