"""Labels of nodes, however they are given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any


def of_nodes(labels: Any, nodes: Any) -> str | list[list[str]]:
    """The path of a label file, or a list of labels for each node."""
    if isinstance(labels, str | os.PathLike):
        return os.fspath(labels)
    rows = plain(nodes)
    if isinstance(labels, Mapping):
        return [_of_one(labels.get(node)) for node in rows]
    listed = plain(labels)
    if len(listed) != len(rows):
        raise ValueError(f"{len(listed)} labels were given for {len(rows)} vectors; give one for each, or a dict")
    return [_of_one(label) for label in listed]


def plain(values: Any) -> list[Any]:
    """Values as Python's own."""
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _of_one(label: Any) -> list[str]:
    if label is None or label != label:  # NaN differs from itself
        return []
    if isinstance(label, Iterable) and not isinstance(label, str):
        return [str(one) for one in label]
    return [str(label)]
