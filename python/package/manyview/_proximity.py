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
    source: str = "auto",
    walks: int | None = None,
    seed: int = 0,
    dtype: Any = None,
    threads: int | None = None,
) -> sp.csr_matrix:
    """Returns the proximity matrix of a view: ``log(max(X, 1))`` with ``X = vol / (b T) (P + ... + P^T) D^-1``.

    Parameters
    ----------
    adjacency : sparse matrix, array of shape (n, n), graph, or any other form of one view
        Undirected unless ``directed`` (or a networkx ``DiGraph``): ``A + A.T`` is used, which gives the same result for a
        symmetric ``A``, because only ratios of weights matter.
    window : int, default 5
        T, the number of steps of a random walk within which two nodes are considered close.
    negative : float, default 1
        b, the number of negative samples. Pairs that co-occur less than b times as often as expected by chance are
        dropped.
    isolated : {"zero", "loop"}, default "zero"
        How a node without edges is represented.
    directed : bool, optional
        Whether edges have directions.
    source : {"auto", "exact", "sampled"}, default "auto"
        How the matrix is computed: exactly, or estimated by random walks. "auto" is exact if that takes at most a few minutes of
        one core.
    walks : int, optional
        The number of walks from each node of a sampled matrix. Default: by the mean degree.
    seed : int, default 0
        The random seed of a sampled matrix.
    dtype : float32 or float64, optional
        Default: float32 for a float32 ``adjacency``, else float64.
    threads : int, optional
        The number of threads; does not affect the result. Default: all cores.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n, n)
    """
    threads = _check.whole_or_none("threads", threads)
    kind = np.dtype(dtype if dtype is not None else getattr(adjacency, "dtype", np.float64))
    if kind != np.float32 and dtype is None:
        kind = np.dtype(np.float64)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype={kind}: expected float32 or float64")
    network = to_network(adjacency, directed=directed, threads=threads)
    if len(network.views) != 1:
        raise ValueError(f"expected one view, got {len(network.views)}; call proximity for each")
    return network.proximity(
        network.views[0], window, negative, isolated, source=source, walks=walks, seed=seed, dtype=kind, threads=threads
    )
