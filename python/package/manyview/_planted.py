"""Networks with planted communities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from . import _check, _native


@dataclass(frozen=True)
class Planted:
    """A network with known communities."""

    #: A symmetric matrix per view, by name.
    views: dict[str, sp.csr_matrix]
    #: The common community of each node.
    labels: np.ndarray
    #: The communities that are specific to each view.
    view_labels: dict[str, np.ndarray]


def generate(
    nodes: int = 1000,
    views: int = 3,
    communities: int = 10,
    degree: float | Sequence[float] = 10.0,
    noise: float | Sequence[float] = 0.1,
    consensus: float = 0.5,
    absent: float = 0.0,
    skew: float = 0.0,
    weighted: bool = False,
    seed: int = 0,
) -> Planted:
    """Generates a network whose views share communities and have their own, as ``manyview generate`` does.

    Parameters
    ----------
    nodes, views, communities : int
        The numbers of nodes, views and communities.
    degree : float or sequence with one per view
        The average degree of the nodes that are present in a view.
    noise : float or sequence with one per view
        The share of edges with random ends.
    consensus : float
        The share of the other edges that follow the common communities; the rest follow those of the view.
    absent : float
        The share of nodes missing from each view.
    skew : float
        With 0, all nodes are equally active. Above 0, the node of rank r has activity ``r ** -skew``.
    weighted : bool
        Whether edges have weights, which are exponentially distributed with mean 1 and carry no information.
    seed : int
        The random seed.
    """
    labels, made = _native.generate(
        _check.whole("nodes", nodes),
        _check.whole("views", views),
        _check.whole("communities", communities),
        _numbers("degree", degree),
        _numbers("noise", noise),
        _check.number("consensus", consensus),
        _check.number("absent", absent),
        _check.number("skew", skew),
        _check.flag("weighted", weighted),
        _check.whole("seed", seed, most=2**64 - 1),
    )
    matrices = {}
    for name, sources, targets, weights, _ in made:
        values = np.ones(len(sources), dtype=np.float32) if weights is None else weights
        half = sp.coo_matrix((values, (sources, targets)), shape=(nodes, nodes)).tocsr()
        matrices[name] = half + half.T
    return Planted(matrices, labels, {name: own for name, _, _, _, own in made})


def _numbers(name: str, values: float | Sequence[float]) -> list[float]:
    if isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str):
        return [_check.number(name, value) for value in values]
    return [_check.number(name, values)]
