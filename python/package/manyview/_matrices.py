"""Adjacency matrices as views. CSR matrices of float32 or float64 are not copied; others are copied once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check


@dataclass
class ViewArrays:
    """A view as arrays: sources, targets and weights; or indptr, indices and data of a CSR matrix."""

    name: str
    directed: bool
    rows: np.ndarray
    cols: np.ndarray
    weights: np.ndarray | None

    def check_weights(self, ids: np.ndarray, by_rows: bool) -> None:
        """Raises a ValueError for the first edge whose weight is not finite and non-negative."""
        weights = self.weights
        if weights is None or not len(weights) or (weights.min() >= 0 and np.isfinite(weights.max())):
            return
        at = int(np.argmin((weights >= 0) & np.isfinite(weights)))
        row = int(np.searchsorted(self.rows, at, side="right")) - 1 if by_rows else int(self.rows[at])
        source, target = ids[row], ids[int(self.cols[at])]
        raise ValueError(
            f"view {self.name!r}: weight {weights[at]} of the edge {source} - {target}; "
            "expected a finite number of at least 0"
        )


def views(matrices: Mapping[str, Any]) -> tuple[int, list[ViewArrays]]:
    """Returns the common number of nodes, and the views."""
    found, sizes = [], {}
    for name, matrix in matrices.items():
        csr = as_csr(matrix, f"view {name!r}")
        if csr.shape[0] != csr.shape[1]:
            raise ValueError(f"view {name!r} is {csr.shape[0]} x {csr.shape[1]}; expected a square matrix")
        sizes[name] = csr.shape[0]
        found.append(ViewArrays(name, False, csr.indptr, csr.indices, csr.data))
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"the views differ in their number of nodes: {told}")
    return next(iter(sizes.values())), found


def as_csr(matrix: Any, what: str) -> sp.csr_matrix:
    """Returns a CSR matrix of float32 or float64 with contiguous arrays."""
    _check.unmasked(what, matrix)
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise ValueError(f"{what} has {matrix.ndim} dimensions; expected 2")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"{what} has values of type {matrix.dtype}; expected real numbers")
    kind = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    # SciPy has no float16, so arrays are converted before, and sparse matrices after.
    csr = sp.csr_matrix(matrix if sp.issparse(matrix) else matrix.astype(kind, copy=False))
    data = np.ascontiguousarray(csr.data, dtype=kind)
    indptr, indices = np.ascontiguousarray(csr.indptr), np.ascontiguousarray(csr.indices)
    return sp.csr_matrix((data, indices, indptr), shape=csr.shape, copy=False)
