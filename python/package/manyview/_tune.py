"""The search for settings of MNMF that suit a network: ``manyview tune``."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _check, _labels, _native, _progress, _settings
from ._compare import _cell, _several
from ._model import MNMF
from ._network import Directed, to_network


class Tuning:
    """The result of :func:`tune`.

    Attributes
    ----------
    best_params_ : dict
        The settings with the best validation score of all searches: ``MNMF(**result.best_params_)``.
    best_score_ : float
        Their validation score.
    best_search_ : str
        The search that found them: "baseline", "grid", "bayes" or "early-stopping".
    table_ : list of dict
        One row per search: ``search``, ``stages``, ``consensus_stages``, ``dim``, ``score`` (validation), ``candidates``,
        ``cut``, ``failed``, ``left_out``, ``seconds``, and ``test``, a list with ``train`` (the training share), ``score``,
        ``micro_f1`` and ``macro_f1``, each with ``mean`` and ``std``.
    candidates_ : list of dict
        Every candidate: ``title``, ``chosen`` (the settings that were searched over), ``settings`` (all), ``score``,
        ``ending`` ("whole", "cut" or "failed"), ``seconds``, and ``stages``, the scores and errors after some of its stages.
    notes : list of str
        Notes on labels and scores.
    record : dict
        The content of ``tune.json``.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        best = record["best"]
        self.best_params_: dict[str, Any] = best["settings"]
        self.best_score_: float = best["score"]
        self.best_search_: str = best["search"]
        self.table_: list[dict[str, Any]] = record["searches"]
        self.candidates_: list[dict[str, Any]] = record["candidates"]
        self.notes: list[str] = record["notes"]

    @property
    def best_(self) -> MNMF:
        """An estimator with the best settings, not fitted."""
        return MNMF(**self.best_params_)

    def __repr__(self) -> str:
        names = [_column(test) for test in self.table_[0]["test"]]
        head = ["", "stages", "consensus", "dim", "validation", *names]
        rows = [
            [
                row["search"],
                *(str(row[name]) for name in ("stages", "consensus_stages", "dim")),
                _cell(row["score"], None),
                *(_cell(test["score"]["mean"], test["score"]["std"]) for test in row["test"]),
            ]
            for row in self.table_
        ]
        widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
            for row in [head, *rows]
        ]
        return "\n".join([f"{self.record['protocol']['score']}, percent", *lines])

    def to_frame(self) -> Any:
        """Returns the table as a pandas ``DataFrame``: one row per search."""
        import pandas as pd

        def row(found: dict[str, Any]) -> dict[str, Any]:
            tests = {_column(test): test["score"]["mean"] for test in found["test"]}
            stds = {f"{_column(test)} std": test["score"]["std"] for test in found["test"]}
            plain = {name: found[name] for name in ("stages", "consensus_stages", "dim", "score", "seconds")}
            return {**plain, "tried": len(found["candidates"]), "cut": found["cut"], **tests, **stds}

        return pd.DataFrame([row(found) for found in self.table_], index=[found["search"] for found in self.table_])


def tune(
    views: Any,
    labels: Any = None,
    search: str | Sequence[str] = "grid",
    over: str | Sequence[str] | Mapping[str, Any] = "stages",
    *,
    preset: str = "default",
    validation: float = 0.1,
    validation_rounds: int = 10,
    train: float | Sequence[float] = (0.3, 0.5, 0.7),
    repeats: int = 10,
    c: float | str = 1,
    hide: float = 0.2,
    trials: int = 12,
    patience: int = 1,
    cut: bool = True,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    directed: Directed = None,
    duplicates: str = "sum",
    max_memory: int | str | None = None,
    progress: bool | _progress.Callback = False,
    **settings: Any,
) -> Tuning:
    """Searches for settings of MNMF that suit a network, as ``manyview tune`` does.

    With labels, candidates are scored by classification of some labeled nodes, and the best of each search is tested on the
    others. Without labels, hidden edges score, which favors plans of few, wide stages; labels of some nodes are better.

    Parameters
    ----------
    views
        Anything that :meth:`MNMF.fit` accepts.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path to a label file, optional
        As in :func:`manyview.evaluate.classify`. None means that a node has no label.
    search : {"grid", "bayes", "early-stopping", "all"} or sequence of these
        How to search: all combinations; those that a Gaussian process expects to be better; or one stage after the other
        until the score falls.
    over : str, sequence of str, or dict
        The settings to search over: ``["stages", "window"]`` with their usual values, or ``{"stages": "2..64", "window": [3,
        5, 10], "consensus_stages": ["0%", "50%"], "joint": None}``, where None stands for the usual values.
    preset : {"default", "paper", "authors"}, default "default"
        The settings that are not searched over; ``**settings`` override it.
    validation : float
        The share of the labeled nodes that is validated on in each round; as many others are trained on.
    validation_rounds : int
        The number of rounds of a validation.
    train : float or sequence of float
        The shares of the other labeled nodes to train on in the final table.
    repeats : int
        The number of splits per share in the final table.
    c : float or "auto"
        The weight C of the classifier.
    hide : float
        Without labels: the share of the edges to hide, one half for the scores, the other for the final table.
    trials : int
        The number of candidates of a Bayesian search.
    patience : int
        Early stopping ends after this many stages in a row that score lower than the stage before.
    cut : bool
        Whether candidates that are clearly behind after half of their stages are cut off.
    folder : path, optional
        Keeps finished candidates in this folder. A later call computes only what is missing there.
    force : bool
        Starts over in the folder.
    directed, duplicates, max_memory
        As in :class:`MNMF`.
    progress : bool or callable
        Prints a line per candidate to standard error; or is called with dicts of ``phase``, ``search``, ``candidate``,
        ``number``, ``of``, ``done``, ``score`` and ``best``, of which unknown numbers are NaN.
    **settings
        Settings of MNMF that are not searched over: ``dim``, ``seed``, ``threads`` and others.
    """
    if not (callable(progress) or isinstance(progress, bool | np.bool_)):
        raise _check.InvalidParameter(f"progress={progress!r}: expected True, False or a callable")
    searches = [_check.text("search", name) for name in _several(search)]
    most_memory = _check.size_or_none("max_memory", max_memory)
    given: dict[str, Any] = {
        "search": ["grid", "bayes", "early-stopping"] if "all" in searches else searches,
        "over": _over(over),
        "validation": _check.number("validation", validation),
        "validation_rounds": _check.whole("validation_rounds", validation_rounds),
        "train": [_check.number("train", share) for share in _several(train)],
        "repeats": _check.whole("repeats", repeats),
        "c": c if isinstance(c, str) else repr(_check.number("c", c)),
        "hide": _check.number("hide", hide),
        "trials": _check.whole("trials", trials),
        "patience": _check.whole("patience", patience),
        "cut": _check.flag("cut", cut),
        "max_memory": most_memory,
    }
    model = _settings.model("mnmf", preset, settings)
    threads = json.loads(_native.resolve(model))["threads"]
    network = to_network(views, directed=directed, duplicates=duplicates, max_memory=max_memory, threads=threads)
    record = _native.tune(
        network._native,
        None if labels is None else _labels.of_nodes(labels, network.nodes),
        model,
        given,
        None if folder is None else os.fspath(folder),
        _check.flag("force", force),
        "manyview.tune",
        progress if callable(progress) else _print_candidate if progress else None,
    )
    return Tuning(json.loads(record))


def _over(over: Any) -> list[str]:
    """The settings to search over, in the notation of the command line."""
    if not isinstance(over, Mapping):
        return [_check.text("over", name) for name in _several(over)]
    return [
        str(name) if values is None else f"{name}={','.join(_value(value) for value in _values(name, values))}"
        for name, values in over.items()
    ]


def _values(name: str, values: Any) -> list[Any]:
    found = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if not found:
        raise _check.InvalidParameter(f"over: {name} has no values")
    return found


def _value(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return str(value)


def _print_candidate(now: dict[str, Any]) -> None:
    if now["phase"] in ("finished", "failed"):
        score = "failed" if now["phase"] == "failed" else f"{100 * now['score']:.1f}"
        best = "" if math.isnan(now["best"]) else f", best {100 * now['best']:.1f}"
        place = f"{now['search']} {now['number']} of {now['of']}"
        print(f"{place}: {now['candidate']}: {score}{best}", file=sys.stderr, flush=True)


def _column(test: dict[str, Any]) -> str:
    return "test" if test["train"] is None else f"train {test['train']}"
