"""How good vectors are: the functions of ``manyview evaluate``, with its names, defaults, splits and numbers.

Each returns a plain dict with the fields that the command line prints with ``--json``.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _check, _labels, _native
from ._embed import Embedding, as_json, mnmf_with
from ._model import MNMF
from ._network import Directed, to_network
from ._warnings import ManyviewWarning

__all__ = ["classify", "cluster", "links"]


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
    """Logistic regression on a share of the labeled nodes, F1 on the others.

    Parameters
    ----------
    z : MNMF, Embedding, DataFrame or array of shape (n, dim)
        A fitted model, the result of :func:`manyview.embed`, or vectors of any origin. The index of a pandas
        ``DataFrame`` has the ids of its nodes.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path to a label file
        A label may also be a set or list of labels. None or NaN: the node has none and is left out.

        - A sequence or array is taken in the order of rows.
        - A dict is looked up by the ids of the nodes. Nodes that it lacks have no label; ids that are no nodes are
          counted as ``unknown``.
        - A pandas ``Series`` is looked up by its index, as a dict, where ``z`` knows the ids of its nodes. It is taken
          in the order of rows where nobody knows better: ``z`` is an array without ``nodes``, or the index is the one
          that pandas gives by default (0 to n - 1).
        - An array or sparse matrix of 0 and 1 has a column for each label, as scikit-learn has it for several labels a
          node: labels are the columns' numbers, or, of a ``DataFrame``, their names. A row of 0 has no label.
    nodes : sequence of n ids, optional
        Of the rows of an array. Splits follow from ids, so that methods whose rows are ordered otherwise face the same.
    train : float or sequence of float
        Shares of the labeled nodes that train.
    repeats : int
        Splits for each share.
    c : float or "auto"
        Weight of the losses against the penalty; "auto" chooses it by cross-validation within the training nodes.
    l2norm, standardize : bool
        Scale vectors to length 1; bring columns to mean 0 and variance 1 on the training nodes.
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
    """k-means on the labeled nodes, and how well its clusters agree with the labels: NMI and AMI.

    ``z``, ``labels`` and ``nodes`` are those of :func:`classify`, with one label a node and two classes at least; ``k``
    is the number of labels by default.
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
    """Hides a share of the edges of a view (``of``, or all), embeds the rest, and scores hidden edges against others.

    ``views`` is anything that ``fit`` takes. ``method``, ``preset``, ``directed``, ``duplicates`` and the settings of
    the method, its seed too, are those of :func:`manyview.embed`; a ``model`` has all these itself and stays unfitted.
    """
    around: dict[str, Any] = {"directed": directed, "duplicates": duplicates}
    if model is not None:
        _check_alone(model, {**settings, "method": method, "preset": preset, **around})
    elif method == "mnmf":
        model = mnmf_with(preset, settings, around)
    chosen: dict[str, Any] | tuple[str, str, str]
    if model is not None:
        around = {"directed": model.directed, "duplicates": model.duplicates}
        chosen, threads = model._checked(), model.threads
    else:
        method, preset = _check.text("method", method), _check.text("preset", preset)
        chosen, threads = (method, preset, as_json(settings)), settings.get("threads")
    network = to_network(views, **around, threads=_check.whole_or_none("threads", threads))
    found, told = _native.links(
        network._native,
        chosen,
        _check.text_or_none("of", of),
        _check.number("hide", hide),
        _check.whole("repeats", repeats),
        _check.text("score", score),
        None,
    )
    for sentence in told:
        warnings.warn(sentence, ManyviewWarning, stacklevel=2)
    return json.loads(found)


def _check_alone(model: Any, given: dict[str, Any]) -> None:
    """Refuses what a model says already."""
    if not isinstance(model, MNMF):
        raise _check.InvalidParameter(f"model = {model!r} is no MNMF; other methods are chosen by method=")
    defaults = {"method": "mnmf", "preset": "default", "directed": None, "duplicates": "sum"}
    for name, value in given.items():
        if name not in defaults or value != defaults[name]:
            raise ValueError(f"{name}: the model has settings of its own; leave it out, or leave out the model")


def _together(z: Any, labels: Any, nodes: Sequence[Any] | None) -> tuple[np.ndarray, list[str], _labels.Given]:
    """Vectors, ids as text, and the label file or a list of labels for each row."""
    if isinstance(z, MNMF):
        z._check_fitted()
        z, nodes = z.embedding_, z.nodes_ if nodes is None else nodes
    elif isinstance(z, Embedding):
        z, nodes = z.vectors, z.nodes if nodes is None else nodes
    elif nodes is None:
        nodes = _labels.index_of(z)
    vectors = _vectors(z)
    rows = list(range(len(vectors))) if nodes is None else _labels.plain(nodes)
    if len(rows) != len(vectors):
        raise ValueError(f"{len(rows)} node ids were given for {len(vectors)} vectors")
    return vectors, [str(node) for node in rows], _labels.of_nodes(labels, rows, known=nodes is not None)


def _vectors(z: Any) -> np.ndarray:
    if sp.issparse(z):
        raise ValueError("z is a sparse matrix; vectors are rows of a dense array: give z.toarray()")
    try:
        given = np.asarray(z)
        if given.dtype.kind not in "biufO" or given.ndim == 0:
            raise TypeError
        vectors = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        found = type(z).__name__
        raise _check.InvalidParameter(
            f"z is of type {found} and no array of numbers; give a fitted MNMF, an Embedding, or an array with a row "
            "for each node (a folder is read by Embedding.load)"
        ) from None
    if vectors.ndim != 2:
        raise ValueError(f"z has {vectors.ndim} dimensions; vectors are rows of an array with 2")
    return vectors
