"""Labels of nodes in all accepted forms."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check

#: A path; or the labels of each node, and the number of ids with labels that are not nodes.
Given = str | tuple[list[list[str]], int]


def of_nodes(labels: Any, nodes: Any, *, known: bool = True) -> Given:
    """Returns the path of a label file; or the labels of each node, and the number of ids that are not nodes.

    Without ``known``, nodes are row numbers, and the index of pandas is ignored.
    """
    if isinstance(labels, str | os.PathLike):
        return os.fspath(labels)
    _check.unmasked("labels", labels)
    rows = plain(nodes)
    if isinstance(labels, Mapping):
        return _by_id([(node, _of_one(label)) for node, label in labels.items()], rows)
    index, listed = _listed(labels)
    if index is not None and known and not _is_default(index, len(rows)):
        return _by_id(list(zip(plain(index), listed, strict=True)), rows)
    if len(listed) != len(rows):
        raise ValueError(f"got {len(listed)} labels for {len(rows)} vectors; give one per vector, or a dict")
    return _some(listed), 0


def plain(values: Any) -> list[Any]:
    """Returns a list of Python objects."""
    for name in ("tolist", "to_pylist"):
        if hasattr(values, name):
            return getattr(values, name)()
    return list(values)


def _by_id(pairs: list[tuple[Any, list[str]]], nodes: list[Any]) -> Given:
    """Assigns labels by node id. An id that appears twice has the labels of both."""
    found: dict[Any, list[str]] = {node: [] for node in nodes}
    unknown: dict[Any, None] = {}
    for node, labels in pairs:
        if node in found:
            found[node] = found[node] + labels
        elif labels:
            unknown[node] = None
    sets = [found[node] for node in nodes]
    if unknown and not any(sets):
        key, node = next(iter(unknown)), nodes[0] if nodes else None
        raise ValueError(
            f"none of the {len(unknown)} ids with labels is a node: they are such as {key!r}, and node ids are such as "
            f"{node!r}; use the same ids"
        )
    return _some(sets), len(unknown)


def _some(sets: list[list[str]]) -> list[list[str]]:
    if not any(sets):
        raise ValueError("no node has a label; give labels for some nodes")
    return sets


def _listed(labels: Any) -> tuple[Any, list[list[str]]]:
    """Returns the index of a pandas object, or None, and the labels of each row."""
    if sp.issparse(labels) and labels.ndim == 2:
        return None, _of_matrix(labels.tocsr())
    if _is_pandas(labels):
        if hasattr(labels, "columns"):
            columns = [str(name) for name in labels.columns]
            return labels.index, _of_matrix(labels.to_numpy(), columns)
        return labels.index, [_of_one(label) for label in labels.tolist()]
    dimensions = getattr(labels, "ndim", 1)
    if isinstance(labels, np.ndarray) and dimensions == 2:
        return None, _of_matrix(np.asarray(labels))
    if not isinstance(labels, Iterable) or dimensions not in (1, 2):
        raise _check.InvalidParameter(
            f"labels={labels!r}: expected one label per node, a dict of node and label, or the path of a label file"
        )
    listed = plain(labels)
    if _is_indicator(listed):
        return None, _of_matrix(np.array(listed))
    return None, [_of_one(label) for label in listed]


def _of_matrix(matrix: Any, names: list[str] | None = None) -> list[list[str]]:
    """Returns the labels of a 0/1 matrix with one column per label, as in scikit-learn."""
    rows, columns = matrix.shape
    if columns == 1:
        values = matrix.toarray() if sp.issparse(matrix) else matrix
        return [_of_one(label) for label in values.ravel().tolist()]
    if not sp.issparse(matrix) and matrix.dtype.kind not in "biuf":
        if names is None:
            return [_of_one(row) for row in matrix.tolist()]
        raise ValueError("labels: expected a table with one 0/1 column per label, or with a single column of labels")
    values = matrix.data if sp.issparse(matrix) else matrix
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise ValueError(
            f"labels: expected a matrix of 0 and 1 with one column per label, but it contains {wrong.flat[0]!s}"
        )
    found: list[list[str]] = [[] for _ in range(rows)]
    for row, column in zip(*(place.tolist() for place in matrix.nonzero()), strict=True):
        found[row].append(str(column) if names is None else names[column])
    return found


def _is_indicator(listed: list[Any]) -> bool:
    """Whether lists of 0 and 1 are a matrix with one column per label, and not lists of labels."""
    if not listed or not all(isinstance(row, list | tuple) for row in listed):
        return False
    lengths = set(map(len, listed))
    return len(lengths) == 1 and min(lengths) > 1 and all(value in (0, 1) for row in listed for value in row)


def _is_pandas(values: Any) -> bool:
    """Whether it is a Series or DataFrame; pandas need not be installed."""
    return type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "index")


def _is_default(index: Any, rows: int) -> bool:
    """Whether it is the default index of pandas, which counts the rows."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step, len(index)) == (0, 1, rows)


def index_of(values: Any) -> Any:
    """Returns the index of a pandas object, or None."""
    return values.index if _is_pandas(values) else None


def _of_one(label: Any) -> list[str]:
    if isinstance(label, Iterable) and not isinstance(label, str | bytes):
        return [str(one) for one in plain(label)]
    # NaN differs from itself; pandas.NA has no truth value in comparisons.
    if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
        return []
    return [str(label)]
