"""Evaluation of vectors: the functions of ``manyview evaluate``, with the same names, defaults, splits and scores.

Each function returns a dict with the fields that the command line prints with ``--json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _labels, _native, _settings
from ._embedding import Embedding
from ._model import MNMF
from ._network import Directed, to_network
from ._renamed import renamed
from ._warnings import warn

__all__ = ["classify", "cluster", "links"]


@renamed(standardise="standardize")
def classify(
    z: Any,
    labels: Any,
    *,
    nodes: Sequence[Any] | None = None,
    train: float | Sequence[float] = (0.3, 0.5, 0.7),
    repeats: int = 10,
    c: float | str = 1.0,
    l2norm: bool = False,
    standardize: bool = False,
    max_iter: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> dict[str, Any]:
    """Logistic regression on a fraction of the labeled nodes, F1 on the others.

    Parameters
    ----------
    z : MNMF, Embedding, DataFrame or array of shape (n, dim)
        A fitted model, the result of :func:`manyview.embed`, or vectors of any origin. The index of a pandas
        ``DataFrame`` contains the node ids.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path to a label file
        A label may also be a set or list of labels. None and NaN mean that a node has no label; it is ignored.

        - A sequence or array is in row order.
        - A dict is assigned by node id. Nodes that are missing have no label; ids that are not nodes are counted as
          ``unknown``.
        - A pandas ``Series`` is assigned by its index, like a dict, if ``z`` has node ids. It is in row order if ``z``
          is an array without ``nodes``, or if the index is pandas' default (0 to n - 1).
        - An array or sparse matrix of 0 and 1 has one column per label, as in scikit-learn's multilabel ``y``. Labels
          are the column numbers or, for a ``DataFrame``, the column names. A row of zeros has no label.
    nodes : sequence of n ids, optional
        The ids of the rows of an array. Splits depend on the ids, so that methods with different row orders are
        evaluated on the same splits.
    train : float or sequence of float
        The fractions of the labeled nodes to train on.
    repeats : int
        The number of splits per fraction.
    c : float or "auto"
        The weight C of the loss relative to the penalty; "auto" selects it by cross-validation on the training nodes.
    l2norm : bool
        Scales each vector to length 1 first.
    standardize : bool
        Scales each column to mean 0 and variance 1 on the training nodes.
    max_iter : int
        The maximum number of iterations per fit.
    seed : int
        The random seed of the splits.
    threads : int, optional
        The number of threads; does not affect the result. Default: all cores.
    """
    vectors, ids, sets = _together(z, labels, nodes)
    shares = list(train) if isinstance(train, Iterable) and not isinstance(train, str) else [train]
    given = {
        "train": [_check.number("train", share) for share in shares],
        "repeats": _check.whole("repeats", repeats),
        "c": c if isinstance(c, str) else repr(_check.number("c", c)),
        "l2norm": _check.flag("l2norm", l2norm),
        "standardize": _check.flag("standardize", standardize),
        "max_iter": _check.whole("max_iter", max_iter),
        "seed": _check.whole("seed", seed, most=2**64 - 1),
        "threads": _check.whole_or_none("threads", threads),
    }
    return json.loads(_native.classify(vectors, ids, sets, given))


@renamed(standardise="standardize")
def cluster(
    z: Any,
    labels: Any,
    *,
    nodes: Sequence[Any] | None = None,
    k: int | None = None,
    repeats: int = 10,
    restarts: int = 10,
    average: str = "arithmetic",
    l2norm: bool = False,
    standardize: bool = False,
    max_iter: int = 300,
    seed: int = 0,
    threads: int | None = None,
) -> dict[str, Any]:
    """k-means on the labeled nodes, and the agreement of its clusters with the labels: NMI and AMI.

    ``z``, ``labels`` and ``nodes`` are those of :func:`classify`, with one label per node and at least two classes. By
    default, ``k`` is the number of labels.
    """
    vectors, ids, sets = _together(z, labels, nodes)
    given = {
        "k": _check.whole_or_none("k", k),
        "repeats": _check.whole("repeats", repeats),
        "restarts": _check.whole("restarts", restarts),
        "average": _check.text("average", average),
        "l2norm": _check.flag("l2norm", l2norm),
        "standardize": _check.flag("standardize", standardize),
        "max_iter": _check.whole("max_iter", max_iter),
        "seed": _check.whole("seed", seed, most=2**64 - 1),
        "threads": _check.whole_or_none("threads", threads),
    }
    return json.loads(_native.cluster(vectors, ids, sets, given))


def links(
    views: Any,
    model: MNMF | None = None,
    *,
    method: str = "mnmf",
    preset: str = "default",
    of: str | None = None,
    hide: float = 0.2,
    repeats: int = 3,
    score: str = "cosine",
    directed: Directed = None,
    duplicates: str = "sum",
    **settings: Any,
) -> dict[str, Any]:
    """Hides a share of the edges of a view (``of``, or all), embeds the rest, and scores hidden edges against non-edges.

    ``views`` is anything that ``fit`` accepts. ``method``, ``preset``, ``directed``, ``duplicates`` and the settings of
    the method, including its seed, are those of :func:`manyview.embed`. A ``model`` has all of these; it is not fitted.
    """
    if model is not None:
        others = {"method": method, "preset": preset, "directed": directed, "duplicates": duplicates}
        _check_alone(model, {**settings, **others})
        given, directed, duplicates = model._model(), model.directed, model.duplicates
    else:
        given = _settings.model(method, preset, settings)
    threads = json.loads(_native.resolve(given))["threads"]
    network = to_network(views, directed=directed, duplicates=duplicates, threads=threads)
    found, told = _native.links(
        network._native,
        given,
        _check.text_or_none("of", of),
        _check.number("hide", hide),
        _check.whole("repeats", repeats),
        _check.text("score", score),
        None,
    )
    warn(told)
    return json.loads(found)


def _check_alone(model: Any, given: dict[str, Any]) -> None:
    """Refuses settings next to a model."""
    if not isinstance(model, MNMF):
        raise _check.InvalidParameter(f"model={model!r}: expected an MNMF; choose other methods by method=")
    defaults = {"method": "mnmf", "preset": "default", "directed": None, "duplicates": "sum"}
    for name, value in given.items():
        if name not in defaults or value != defaults[name]:
            raise ValueError(f"{name}: the model has its own settings; leave out {name} or the model")


def _together(z: Any, labels: Any, nodes: Sequence[Any] | None) -> tuple[np.ndarray, list[str], _labels.Given]:
    """Returns the vectors, the ids as text, and the label file or the labels of each row."""
    if isinstance(z, MNMF):
        z._check_fitted()
        z, nodes = z.embedding_, z.nodes_ if nodes is None else nodes
    elif isinstance(z, Embedding):
        z, nodes = z.vectors, z.nodes if nodes is None else nodes
    elif nodes is None:
        nodes = _labels.index_of(z)
    vectors = _vectors(z)
    _check.unmasked("nodes", nodes)
    rows = list(range(len(vectors))) if nodes is None else _labels.plain(nodes)
    if len(rows) != len(vectors):
        raise ValueError(f"got {len(rows)} node ids for {len(vectors)} vectors")
    return vectors, [str(node) for node in rows], _labels.of_nodes(labels, rows, known=nodes is not None)


def _vectors(z: Any) -> np.ndarray:
    if sp.issparse(z):
        raise ValueError("z is a sparse matrix; expected a dense array: use z.toarray()")
    _check.unmasked("z", z)
    try:
        given = np.asarray(z)
        if given.dtype.kind not in "biufO" or given.ndim == 0:
            raise TypeError
        vectors = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        found = type(z).__name__
        raise _check.InvalidParameter(
            f"z has type {found}; expected a fitted MNMF, an Embedding, or an array of numbers with one row per node "
            "(Embedding.load reads a folder)"
        ) from None
    if vectors.ndim != 2:
        raise ValueError(f"z has {vectors.ndim} dimensions; expected 2")
    return vectors
