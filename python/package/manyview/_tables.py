"""Edge tables of pandas, polars and pyarrow as views. This module imports none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _ids
from ._graphs import by_kind
from ._matrices import ViewArrays


def is_table(thing: Any) -> bool:
    return type(thing).__module__.split(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(thing, "columns")


def split(
    table: Any, source: str, target: str, relation: str | None, weight: str | None
) -> tuple[np.ndarray, list[ViewArrays]]:
    """Returns the ids and the views of one table, whose column ``relation`` names the view of an edge."""
    (ends,), ids = _index_ends([_ends(table, source, target)])
    weights = _weights(table, weight, "the table")
    kinds = _optional(table, relation, "relation")
    if kinds is None:
        return ids, [ViewArrays("edges", False, *ends, weights)]
    (codes,), names = _ids.index([kinds])
    return ids, by_kind(codes, names, *ends, weights, directed=False)


def views(
    tables: Mapping[str, Any], source: str, target: str, weight: str | None
) -> tuple[np.ndarray, list[ViewArrays]]:
    """Returns the ids, and one view per table."""
    ends, ids = _index_ends([_ends(table, source, target) for table in tables.values()])
    found = [
        ViewArrays(name, False, *sides, _weights(table, weight, f"view {name!r}"))
        for (name, table), sides in zip(tables.items(), ends)
    ]
    return ids, found


def _ends(table: Any, source: str, target: str) -> tuple[np.ndarray, np.ndarray]:
    return _column(table, source, "source"), _column(table, target, "target")


def _index_ends(
    ends: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Numbers ids in order of first appearance, line by line, as the command line does."""
    together = []
    for sources, targets in ends:
        numbers = sources.dtype.kind in "iub" and targets.dtype.kind in "iub"
        both = np.empty(2 * len(sources), dtype=np.result_type(sources, targets) if numbers else object)
        both[0::2], both[1::2] = sources, targets
        together.append(both)
    codes, ids = _ids.index(together)
    return [(np.ascontiguousarray(both[0::2]), np.ascontiguousarray(both[1::2])) for both in codes], ids


def _weights(table: Any, weight: str | None, what: str) -> np.ndarray | None:
    column = _optional(table, weight, "weight")
    if column is None:
        return None
    try:
        return np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: a weight is not a number") from None


def _optional(table: Any, name: str | None, usual: str) -> np.ndarray | None:
    """Returns the column with this name; without a name, the one with the usual name if it exists."""
    if name is None and usual not in _names(table):
        return None
    return _column(table, usual if name is None else name, usual)


def _column(table: Any, name: str, parameter: str) -> np.ndarray:
    names = _names(table)
    if name not in names:
        told = ", ".join(map(str, names))
        raise ValueError(
            f"the table has no column {name!r}; its columns are {told}; use Network.from_table(..., {parameter}=...)"
        )
    column = table.column(name) if hasattr(table, "column_names") else table[name]
    return np.asarray(column.to_numpy())


def _names(table: Any) -> list[Any]:
    return list(table.column_names if hasattr(table, "column_names") else table.columns)
