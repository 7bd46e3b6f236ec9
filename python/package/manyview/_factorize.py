"""One stage on given matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _native
from ._matrices import as_csr


@dataclass(frozen=True)
class Factorization:
    """What :func:`factorize` found."""

    #: The common left factor, of shape (n, dim).
    u: np.ndarray
    #: The right factor of each matrix, of shape (dim, m).
    v: list[np.ndarray]
    #: View weights after the last iteration, of shape (matrices,).
    weights: np.ndarray
    #: ``||R_k - U V_k||^2`` after each iteration, of shape (iterations, matrices).
    errors: np.ndarray
    #: The objective after each iteration.
    objective: np.ndarray
    #: Whether it ended by ``tol``, and not by ``max_iter``.
    converged: bool
    #: View weights after each iteration, of shape (iterations, matrices).
    weights_path: np.ndarray

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return len(self.objective)


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
    """Approximates matrices by a common left factor, ``R_k ~ U V_k`` with ``U, V_k >= 0``.

    Minimizes ``sum_k alpha_k^gamma ||R_k - U V_k||^2`` over the factors and weights ``alpha`` that sum to 1. One matrix
    gives plain NMF; ``solver="hals"`` is then scikit-learn's coordinate descent, iteration by iteration.

    Parameters
    ----------
    matrices : sparse matrix, array, or list of them, all of shape (n, m)
        Entries at least 0. The work is done in float32 if all are, else in float64.
    dim : int, optional
        Columns of U; that of ``init`` by default.
    gamma : float, default 5
        Exponent of the weights, above 0.
    solver : {"mu", "hals"}, default "mu"
    init : (U, [V, ...]), optional
        Factors to start from, (n, dim) and (dim, m); random of a fitting size by default.
    max_iter : int, default 20
    tol : float, default 0
        Ends when an iteration lowers the objective by less than this share of it.
    normalize : {"none", "residual"}, default "none"
        ``residual`` divides each error by ``||R_k||^2``.
    seed : int, default 0
        Of the random start.
    threads : int, optional
        All cores by default. Does not change the result.
    callback : callable, optional
        Called with a dict several times a second; what it raises ends the work.
    """
    given = [matrices] if sp.issparse(matrices) or isinstance(matrices, np.ndarray) else list(matrices)
    if not given:
        raise ValueError("no matrices were given; give at least one")
    csr = [_canonical(as_csr(matrix, f"matrices[{at}]")) for at, matrix in enumerate(given)]
    shapes = {matrix.shape for matrix in csr}
    if len(shapes) > 1:
        raise ValueError(f"matrices differ in shape: {', '.join(f'{n} x {m}' for n, m in sorted(shapes))}")
    shape = csr[0].shape
    if 0 in shape:
        raise ValueError(f"matrices of {shape[0]} x {shape[1]} have nothing to factorize")
    double = any(matrix.dtype == np.float64 for matrix in csr)
    kind = np.float64 if double else np.float32
    start = None
    if init is not None:
        start, dim = _start(init, dim, len(csr), kind)
    if dim is None:
        raise ValueError("dim is needed, or init, whose columns tell it")
    if normalize not in ("none", "residual"):
        raise ValueError(f"normalize = {normalize!r} is not one of none, residual")
    asked = {
        "shape": shape,
        "dim": _check.whole("dim", dim, least=1, most=2**20),
        "gamma": _positive("gamma", gamma),
        "solver": _check.text("solver", solver),
        "max_iter": _check.whole("max_iter", max_iter, least=1),
        "tol": _at_least_zero("tol", tol),
        "relative": normalize == "residual",
        "seed": _check.whole("seed", seed, most=2**64 - 1),
        "threads": _check.whole_or_none("threads", threads),
        "double": double,
    }
    if all(matrix.nnz == 0 for matrix in csr):
        raise ValueError("the matrices have no entries above 0; there is nothing to factorize")
    arrays = [(matrix.indptr, matrix.indices, matrix.data.astype(kind, copy=False)) for matrix in csr]
    found = _native.factorize(arrays, start, asked, callback)
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
    """Without zeros, duplicates and disorder; the caller's own matrix is left as it is."""
    if not (matrix.has_canonical_format and matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _start(init: Any, dim: int | None, count: int, kind: type) -> tuple[tuple[np.ndarray, list[np.ndarray]], int]:
    try:
        u, v = init
        v = [v] if isinstance(v, np.ndarray) and v.ndim == 2 else list(v)
        u, v = np.ascontiguousarray(u, dtype=kind), [np.ascontiguousarray(one, dtype=kind) for one in v]
    except (TypeError, ValueError):
        raise ValueError("init is a pair of U and a list with a V for each matrix") from None
    if u.ndim != 2 or any(one.ndim != 2 for one in v):
        raise ValueError("init: U and every V have two dimensions")
    if len(v) != count:
        raise ValueError(f"init has {len(v)} right factors for {count} matrices")
    if dim is not None and dim != u.shape[1]:
        raise ValueError(f"dim = {dim}, but U in init has {u.shape[1]} columns")
    return (u, v), u.shape[1]


def _positive(name: str, value: Any) -> float:
    value = _check.number(name, value)
    if not (0 < value < np.inf):
        raise ValueError(f"{name} = {value} is not above 0")
    return value


def _at_least_zero(name: str, value: Any) -> float:
    value = _check.number(name, value)
    if not (0 <= value < np.inf):
        raise ValueError(f"{name} = {value} is not a number from 0 on")
    return value
