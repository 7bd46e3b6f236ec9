"""The proximity matrix of one view."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check
from ._network import to_network


def proximity(
    adjacency: Any,
    window: int = 5,
    negative: float = 1.0,
    isolated: str = "zero",
    *,
    directed: bool | None = None,
    dtype: Any = None,
    threads: int | None = None,
) -> sp.csr_matrix:
    """How near each two nodes are: ``log(max(X, 1))`` with ``X = vol / (b T) (P + ... + P^T) D^-1``.

    Parameters
    ----------
    adjacency : sparse matrix, array of shape (n, n), graph, or any other form of one view
        Undirected unless ``directed`` (or a networkx ``DiGraph``): ``A + A.T`` is used, which is the same for a
        symmetric ``A``, since only ratios of weights count.
    window : int, default 5
        Steps of a random walk that count as near, T.
    negative : float, default 1
        Pairs that meet less than this many times as often as chance are dropped, b.
    isolated : {"zero", "loop"}, default "zero"
        What a node without edges looks like.
    directed : bool, optional
        Whether directions count.
    dtype : float32 or float64, optional
        By default that of a floating-point ``adjacency``, else float64.
    threads : int, optional
        All cores by default. Does not change the result.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n, n)
    """
    window = _check.whole("window", window)
    negative = _check.number("negative", negative)
    isolated = _check.text("isolated", isolated)
    threads = _check.whole_or_none("threads", threads)
    kind = np.dtype(dtype if dtype is not None else getattr(adjacency, "dtype", np.float64))
    if kind != np.float32 and dtype is None:
        kind = np.dtype(np.float64)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype = {kind} is not one of float32, float64")
    network = to_network(adjacency, directed=directed, threads=threads)
    if len(network.views) != 1:
        raise ValueError(f"proximity takes one view, got {len(network.views)}; call it for each")
    return network.proximity(network.views[0], window, negative, isolated, dtype=kind, threads=threads)
