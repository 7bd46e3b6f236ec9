"""networkx graphs as views. This module does not import networkx; callers with a graph have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _ids
from ._matrices import ViewArrays


def views(graphs: Mapping[str, Any], weight: str | None) -> tuple[np.ndarray, list[ViewArrays]]:
    """Returns the ids, in the order of the graphs' nodes, and the views."""
    nodes = [_ids.as_array(list(graph.nodes)) for graph in graphs.values()]
    edges = [_columns(graph.edges(data=weight, default=1), 3) for graph in graphs.values()]
    ends = [_ids.as_array(side) for sources, targets, _ in edges for side in (sources, targets)]
    codes, ids = _ids.index([*nodes, *ends])
    sides = codes[len(nodes) :]
    found = []
    for at, ((name, graph), (_, _, weights)) in enumerate(zip(graphs.items(), edges)):
        numbers = None if weight is None else _numbers(name, weight, weights)
        found.append(ViewArrays(name, graph.is_directed(), sides[2 * at], sides[2 * at + 1], numbers))
    return ids, found


def split(graph: Any, relation: str, weight: str | None) -> tuple[np.ndarray, list[ViewArrays]]:
    """Returns the ids and the views of one graph, whose edges name their view by an attribute or by their key."""
    multi = graph.is_multigraph()
    asked = {"keys": True} if multi else {}
    *ends, kinds = _columns(graph.edges(data=relation, default=None, **asked), 4 if multi else 3)
    weights = _columns(graph.edges(data=weight, default=1), 3)[2]
    sources, targets = ends[:2]
    if multi:
        # Integer keys are assigned by networkx and do not name a view.
        keys = [None if isinstance(key, int) else key for key in ends[2]]
        kinds = tuple(key if kind is None else kind for key, kind in zip(keys, kinds))
    if None in kinds:
        raise ValueError(
            f"an edge has neither the attribute {relation!r} nor a key that names its view; "
            "use Network.from_multigraph(graph, relation=...)"
        )
    (_, source_codes, target_codes), ids = _ids.index(
        [_ids.as_array(list(graph.nodes)), _ids.as_array(sources), _ids.as_array(targets)]
    )
    (kind_codes,), names = _ids.index([_ids.as_array(kinds)])
    numbers = None if weight is None else _numbers("graph", weight, weights)
    return ids, by_kind(kind_codes, names, source_codes, target_codes, numbers, graph.is_directed())


def by_kind(
    kinds: np.ndarray,
    names: np.ndarray,
    sources: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None,
    directed: bool,
) -> list[ViewArrays]:
    """Returns one view per kind, in order of first appearance."""
    order = np.argsort(kinds, kind="stable")
    bounds = np.searchsorted(kinds[order], np.arange(len(names) + 1))
    found = []
    for at, name in enumerate(names.tolist()):
        edges = order[bounds[at] : bounds[at + 1]]
        own = None if weights is None else weights[edges]
        found.append(ViewArrays(str(name), directed, sources[edges], targets[edges], own))
    return found


def _columns(rows: Any, width: int) -> list[tuple[Any, ...]]:
    return list(zip(*rows)) or [()] * width


def _numbers(name: str, attribute: str, values: Sequence[Any]) -> np.ndarray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"view {name!r}: the attribute {attribute!r} of an edge is not a number") from None
