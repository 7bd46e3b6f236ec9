"""Which views a vector comes from, and who is near whom."""

from __future__ import annotations

from typing import Any

import numpy as np


def origin(stages: list[dict[str, Any]], a: np.ndarray, b: np.ndarray | None) -> dict[str, Any]:
    """Shares of the squared norm of ``a``, or of the cosine of ``a`` and ``b``, as ``manyview explain --json`` has it."""
    other = a if b is None else b
    x, y = a.astype(np.float64), other.astype(np.float64)
    products = x * y
    total = float(products.sum())
    if b is not None and total != 0:
        total = max(-1.0, min(1.0, total / float(np.sqrt((x @ x) * (y @ y)))))
    own = [float(products[slice(*stage["columns"])].sum()) for stage in stages]
    whole = sum(map(abs, own))
    parts = []
    for stage, product in zip(stages, own):
        share = product / whole if whole > 0 else 0.0
        part = {key: stage[key] for key in ("stage", "kind", "view", "columns")}
        parts.append({**part, "share": share})
    views: dict[str, float] = {}
    for part in parts:
        if part["view"] is not None:
            views[part["view"]] = views.get(part["view"], 0.0) + part["share"]
    return {
        "total": total,
        "consensus": sum((part["share"] for part in parts if part["view"] is None), 0.0),
        "views": sorted(
            ({"view": view, "share": share} for view, share in views.items()), key=lambda view: -view["share"]
        ),
        "parts": sorted(parts, key=lambda part: -part["share"]),
    }


def nearest(vectors: np.ndarray, row: int, count: int) -> list[tuple[int, float]]:
    """Rows with the highest cosine to a row, and these, highest first.

    Zero vectors are left out, and, where no number is below 0, rows with nothing in common.
    """
    norms = np.linalg.norm(vectors, axis=1)
    if norms[row] == 0:
        return []
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = vectors @ vectors[row] / (norms * norms[row])
    least = -2.0 if (vectors < 0).any() else 0.0
    cosines[(norms == 0) | (np.arange(len(norms)) == row)] = -np.inf
    order = np.argsort(-cosines, kind="stable")[:count]
    return [(int(at), max(-1.0, min(1.0, float(cosines[at])))) for at in order if cosines[at] > least]
