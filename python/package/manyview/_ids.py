"""Node ids of any hashable type: numbered in order of first appearance, and returned unchanged."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._native import index_objects


def index(parts: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Numbers the ids of several arrays together. Returns the numbers of each array, and the distinct ids."""
    together = _joined(parts)
    if together.dtype.kind in "iub":
        codes, ids = _index_numbers(together)
    else:
        codes, found = index_objects(together.tolist())
        ids = as_array(found)
        _refuse_mixtures(found)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return np.split(codes, ends), ids


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    if {part.dtype.kind for part in parts} <= set("iub"):
        return np.concatenate(parts)
    # As objects, because NumPy would convert 7 to "7" next to text.
    return np.concatenate([as_array(part.tolist()) for part in parts])


def as_array(ids: Sequence[Any]) -> np.ndarray:
    """Returns ids as an array: of integers if all are, else of objects."""
    kinds = set(map(type, ids))
    if kinds == {int}:
        try:
            return np.array(ids, dtype=np.int64)
        except OverflowError:
            pass
    array = np.empty(len(ids), dtype=object)
    if kinds & {tuple, list}:
        # One by one, because NumPy would convert a list of pairs to a matrix.
        for at, value in enumerate(ids):
            array[at] = value
    else:
        array[:] = ids
    return array


def texts(ids: np.ndarray) -> list[str] | None:
    """Returns ids as text; None if they are row numbers, or cannot be encoded."""
    if ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids))):
        return None
    found = list(map(str, ids.tolist()))
    try:
        "".join(found).encode()
    except UnicodeEncodeError:
        return None
    return found


def row(nodes: np.ndarray, node: Any) -> int:
    """Returns the row of a node."""
    ids = nodes.tolist()
    try:
        # In a list, because a tuple would be compared with the elements of an array.
        return ids.index(node)
    except ValueError:
        raise ValueError(f"unknown node {node!r}; node ids are such as {ids[0]!r}") from None


def _index_numbers(numbers_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ids, first, codes = np.unique(numbers_, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[codes.reshape(-1)].astype(np.int64, copy=False), ids[order]


def _refuse_mixtures(ids: Sequence[Any]) -> None:
    kinds = set(map(type, ids))
    nothing = {kind.__name__ for kind in kinds} & {"NoneType", "NAType", "NaTType"}
    if nothing or any(issubclass(kind, float) for kind in kinds) and _has_nan(ids):
        raise ValueError("a node id is missing (None or NaN); drop these rows, or give the nodes ids")
    if any(issubclass(kind, str) for kind in kinds) and any(issubclass(kind, numbers.Number) for kind in kinds):
        text = next(value for value in ids if isinstance(value, str))
        number = next(value for value in ids if isinstance(value, numbers.Number))
        raise TypeError(
            f"node ids mix text and numbers ({text!r} and {number!r}); convert them to one type, "
            "so that no node appears twice"
        )


def _has_nan(ids: Sequence[Any]) -> bool:
    floats = np.array([value for value in ids if isinstance(value, float)])
    return bool(np.isnan(floats).any())
