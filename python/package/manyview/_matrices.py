"""Adjacency matrices as views. CSR of 32 or 64 bits goes through as it is; all else is copied once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass
class ViewArrays:
    """A view as arrays: sources, targets and weights, or, by rows, bounds, columns and weights."""

    name: str
    directed: bool
    rows: np.ndarray
    cols: np.ndarray
    weights: np.ndarray | None

    def check_weights(self, ids: np.ndarray, by_rows: bool) -> None:
        """Finite and at least 0, or a ValueError that names the first edge that is not."""
        weights = self.weights
        if weights is None or not len(weights) or (weights.min() >= 0 and np.isfinite(weights.max())):
            return
        at = int(np.argmin((weights >= 0) & np.isfinite(weights)))
        row = int(np.searchsorted(self.rows, at, side="right")) - 1 if by_rows else int(self.rows[at])
        source, target = ids[row], ids[int(self.cols[at])]
        raise ValueError(
            f"view {self.name!r}: weight {weights[at]} of the edge {source} - {target} "
            "is not a finite number of at least 0"
        )


def views(matrices: Mapping[str, Any]) -> tuple[int, list[ViewArrays]]:
    """The common number of nodes, and the views."""
    found, sizes = [], {}
    for name, matrix in matrices.items():
        csr = as_csr(matrix, f"view {name!r}")
        if csr.shape[0] != csr.shape[1]:
            raise ValueError(f"view {name!r} is {csr.shape[0]} x {csr.shape[1]}; an adjacency matrix is square")
        sizes[name] = csr.shape[0]
        found.append(ViewArrays(name, False, csr.indptr, csr.indices, csr.data))
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"views differ in their number of nodes: {told}; all matrices have the same rows")
    return next(iter(sizes.values())), found


def as_csr(matrix: Any, what: str) -> sp.csr_matrix:
    """By rows, with floats of 32 or 64 bits and contiguous arrays."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise ValueError(f"{what} has {matrix.ndim} dimensions; a matrix has 2")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"{what} holds values of type {matrix.dtype}; real numbers are needed")
    kind = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    # SciPy has no half precision, so arrays change their type before and sparse matrices after.
    csr = sp.csr_matrix(matrix if sp.issparse(matrix) else matrix.astype(kind, copy=False))
    data = np.ascontiguousarray(csr.data, dtype=kind)
    indptr, indices = np.ascontiguousarray(csr.indptr), np.ascontiguousarray(csr.indices)
    return sp.csr_matrix((data, indices, indptr), shape=csr.shape, copy=False)
