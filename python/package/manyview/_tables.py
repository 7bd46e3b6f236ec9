"""Edge tables of pandas, polars and pyarrow as views. This module imports none of them.

Columns are found by the rules for files, which the compiled library has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _ids, _native
from ._graphs import by_kind
from ._matrices import ViewArrays

#: The number of rows that are looked at to find the columns, as in files.
_SAMPLE = 100


class _Edges(NamedTuple):
    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    kinds: np.ndarray | None
    note: str


def is_table(thing: Any) -> bool:
    return type(thing).__module__.split(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(thing, "columns")


def split(table: Any, chosen: Mapping[str, Any]) -> tuple[np.ndarray, list[ViewArrays], list[str]]:
    """Returns the ids, the views of one table, whose column ``relation`` names the view of an edge, and notes."""
    if chosen.get("relation") is None and "relation" in _names(table):
        chosen = {**chosen, "relation": "relation"}
    edges = _read(table, chosen, "the table", lone=True)
    (ends,), ids = _index_ends([edges])
    if edges.kinds is None:
        return ids, [ViewArrays("edges", False, *ends, edges.weights)], [edges.note]
    (codes,), names = _ids.index([edges.kinds])
    return ids, by_kind(codes, names, *ends, edges.weights, directed=False), [edges.note]


def views(
    tables: Mapping[str, Any], chosen: Mapping[str, Any]
) -> tuple[np.ndarray, list[ViewArrays], list[str]]:
    """Returns the ids, one view per table, and notes."""
    read = [_read(table, chosen, f"view {name!r}", lone=False) for name, table in tables.items()]
    ends, ids = _index_ends(read)
    found = [ViewArrays(name, False, *sides, edges.weights) for name, edges, sides in zip(tables, read, ends)]
    return ids, found, [edges.note for edges in read]


def _read(table: Any, chosen: Mapping[str, Any], what: str, *, lone: bool) -> _Edges:
    options = {name: str(column) for name, column in chosen.items() if column is not None}
    try:
        source, target, weight, relation, note = _native.table_columns(_names(table), _sample(table), options, lone)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    sources, targets = _ends(table, source, "source", what), _ends(table, target, "target", what)
    return _Edges(
        sources,
        targets,
        None if weight is None else _weights(_column(table, weight), what),
        None if relation is None else _trimmed(_column(table, relation)),
        f"{what}: {note}",
    )


def _names(table: Any) -> list[str]:
    return [str(name) for name in (table.column_names if hasattr(table, "column_names") else table.columns)]


def _column(table: Any, at: int) -> np.ndarray:
    """Returns a column by number: names of pandas need not be unique."""
    if hasattr(table, "column_names"):
        column = table.column(at)
    else:
        column = table.iloc[:, at] if hasattr(table, "iloc") else table.to_series(at)
    return np.asarray(column.to_numpy())


def _sample(table: Any) -> list[list[str]]:
    """Returns the first rows as text."""
    head = table.slice(0, _SAMPLE) if hasattr(table, "column_names") else table.head(_SAMPLE)
    columns = [_column(head, at) for at in range(len(_names(table)))]
    # As text, because NumPy turns times into numbers otherwise.
    texts = [(column.astype(str) if column.dtype.kind in "mM" else column).tolist() for column in columns]
    return [[_text(value) for value in row] for row in zip(*texts)]


def _text(value: Any) -> str:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return "" if missing else str(value)


def _ends(table: Any, at: int, end: str, what: str) -> np.ndarray:
    ids = _trimmed(_column(table, at))
    if ids.dtype.kind in "OU" and "" in set(map(_hashable, ids.tolist())):
        raise ValueError(f"{what}: a {end} is empty; drop these rows, or give the nodes ids")
    return ids


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _trimmed(column: np.ndarray) -> np.ndarray:
    """Removes blanks around text, as they are removed in files."""
    if column.dtype.kind == "U":
        return np.char.strip(column, " \t")
    if column.dtype.kind != "O":
        return column
    return _ids.as_array([value.strip(" \t") if isinstance(value, str) else value for value in column.tolist()])


def _index_ends(read: list[_Edges]) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Numbers ids in order of first appearance, line by line, as the command line does."""
    together = []
    for sources, targets, *_ in read:
        numbers = sources.dtype.kind in "iub" and targets.dtype.kind in "iub"
        both = np.empty(2 * len(sources), dtype=np.result_type(sources, targets) if numbers else object)
        both[0::2], both[1::2] = sources, targets
        together.append(both)
    codes, ids = _ids.index(together)
    return [(np.ascontiguousarray(both[0::2]), np.ascontiguousarray(both[1::2])) for both in codes], ids


def _weights(column: np.ndarray, what: str) -> np.ndarray:
    try:
        return np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: a weight is not a number") from None
