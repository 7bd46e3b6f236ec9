"""One factorization of given matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _native, _settings
from ._matrices import as_csr
from ._renamed import renamed


@dataclass(frozen=True)
class Factorization:
    """The result of :func:`factorize`."""

    #: The common left factor, of shape (n, dim).
    u: np.ndarray
    #: The right factor of each matrix, of shape (dim, m).
    v: list[np.ndarray]
    #: The weights of the matrices after the last iteration, of shape (matrices,).
    weights: np.ndarray
    #: ``||R_k - U V_k||^2`` after each iteration, of shape (iterations, matrices).
    errors: np.ndarray
    #: The objective after each iteration.
    objective: np.ndarray
    #: Whether it converged before ``max_iter``.
    converged: bool
    #: The weights of the matrices after each iteration, of shape (iterations, matrices).
    weights_path: np.ndarray

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.objective)


@renamed(normalise="normalize")
def factorize(
    matrices: Any,
    dim: int | None = None,
    gamma: float = 5.0,
    solver: str = "mu",
    init: tuple[Any, Sequence[Any]] | None = None,
    max_iter: int = 20,
    tol: float = 0.0,
    *,
    normalize: str = "none",
    seed: int = 0,
    threads: int | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> Factorization:
    """Approximates matrices with a common left factor, ``R_k ~ U V_k`` with ``U, V_k >= 0``.

    Minimizes ``sum_k alpha_k^gamma ||R_k - U V_k||^2`` over the factors and the weights ``alpha``, which sum to 1. One
    matrix is plain NMF; ``solver="hals"`` is then scikit-learn's coordinate descent, iteration by iteration.

    Parameters
    ----------
    matrices : sparse matrix, array, or list of them, all of shape (n, m)
        Non-negative matrices. The computation is in float32 if all are, else in float64.
    dim : int, optional
        The number of columns of U. Default: that of ``init``.
    gamma : float, default 5
        The exponent of the weights, above 0.
    solver : {"mu", "hals", "accelerated-hals"}, default "mu"
        How factors are updated.
    init : (U, [V, ...]), optional
        Initial factors of shape (n, dim) and (dim, m). Default: random factors of the scale of the matrices.
    max_iter : int, default 20
        The maximum number of iterations.
    tol : float, default 0
        It has converged when an iteration reduces the objective by less than this fraction.
    normalize : {"none", "residual"}, default "none"
        ``residual`` divides each error by ``||R_k||^2``.
    seed : int, default 0
        The random seed of the initial factors.
    threads : int, optional
        The number of threads; does not affect the result. Default: all cores.
    callback : callable, optional
        Receives a dict several times per second; an exception that it raises ends the computation.
    """
    given = [matrices] if sp.issparse(matrices) or isinstance(matrices, np.ndarray) else list(matrices)
    if not given:
        raise ValueError("expected at least one matrix, got none")
    csr = [_canonical(as_csr(matrix, f"matrices[{at}]")) for at, matrix in enumerate(given)]
    shapes = {matrix.shape for matrix in csr}
    if len(shapes) > 1:
        raise ValueError(f"the matrices differ in shape: {', '.join(f'{n} x {m}' for n, m in sorted(shapes))}")
    shape = csr[0].shape
    if 0 in shape:
        raise ValueError(f"the matrices are empty: {shape[0]} x {shape[1]}")
    double = any(matrix.dtype == np.float64 for matrix in csr)
    dtype = np.float64 if double else np.float32
    start = None
    if init is not None:
        start, dim = _start(init, dim, len(csr), dtype)
    if dim is None:
        raise ValueError("dim is missing; give dim or init")
    settings = {
        "dim": dim,
        "gamma": gamma,
        "solver": solver,
        "max_iter": max_iter,
        "tol": tol,
        "normalize": normalize,
    }
    if all(matrix.nnz == 0 for matrix in csr):
        raise ValueError("the matrices have no entries above 0")
    arrays = [(matrix.indptr, matrix.indices, matrix.data.astype(dtype, copy=False)) for matrix in csr]
    seed = _check.whole("seed", seed, most=2**64 - 1)
    threads = _check.whole_or_none("threads", threads)
    found = _native.factorize(arrays, shape, double, start, _settings.as_json(settings), seed, threads, callback)
    weights = np.array(found["weights"])
    return Factorization(
        u=found["u"],
        v=found["v"],
        weights=weights[-1],
        errors=np.array(found["errors"]),
        objective=np.array(found["objective"]),
        converged=found["converged"],
        weights_path=weights,
    )


def _canonical(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Removes zeros and duplicates, and sorts columns; in a copy if there is anything to change."""
    if not (matrix.has_canonical_format and matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _start(init: Any, dim: int | None, count: int, dtype: type) -> tuple[tuple[np.ndarray, list[np.ndarray]], int]:
    try:
        u, v = init
        v = [v] if isinstance(v, np.ndarray) and v.ndim == 2 else list(v)
    except (TypeError, ValueError):
        raise ValueError("init: expected a pair of U and a list with one V per matrix") from None
    for one in (u, *v):
        _check.unmasked("init", one)
    try:
        u, v = np.ascontiguousarray(u, dtype=dtype), [np.ascontiguousarray(one, dtype=dtype) for one in v]
    except (TypeError, ValueError):
        raise ValueError("init: expected a pair of U and a list with one V per matrix") from None
    if u.ndim != 2 or any(one.ndim != 2 for one in v):
        raise ValueError("init: U and every V must have two dimensions")
    if len(v) != count:
        raise ValueError(f"init: expected one V per matrix, got {len(v)} for {count} matrices")
    if dim is not None and dim != u.shape[1]:
        raise ValueError(f"dim={dim}, but U in init has {u.shape[1]} columns")
    return (u, v), u.shape[1]
