"""Which views a vector comes from, and who is near whom."""

from __future__ import annotations

from typing import Any

import numpy as np


def origin(stages: list[dict[str, Any]], a: np.ndarray, b: np.ndarray | None) -> dict[str, Any]:
    """Shares of the squared norm of ``a``, or of the cosine of ``a`` and ``b``, as ``manyview explain --json`` has it."""
    other = a if b is None else b
    x, y = a.astype(np.float64), other.astype(np.float64)
    products = x * y
    whole = float(products.sum())
    total = whole
    if b is not None:
        total = min(1.0, whole / float(np.sqrt((x @ x) * (y @ y)))) if whole > 0 else 0.0
    parts = []
    for stage in stages:
        first, end = stage["columns"]
        share = float(products[first:end].sum()) / whole if whole > 0 else 0.0
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
    """Rows with the highest cosine to a row, and these, highest first; rows with nothing in common are left out."""
    norms = np.linalg.norm(vectors, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.nan_to_num(vectors @ vectors[row] / (norms * norms[row]))
    cosines[row] = 0
    order = np.argsort(-cosines, kind="stable")[:count]
    return [(int(at), min(1.0, float(cosines[at]))) for at in order if cosines[at] > 0]
