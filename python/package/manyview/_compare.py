"""The comparison of methods: the tables of ``manyview compare``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _check, _labels, _native, _progress
from ._network import Directed, to_network
from ._warnings import warn


@dataclass(frozen=True)
class Table:
    """A table of a comparison. Scores are fractions of 1."""

    #: The title.
    title: str
    #: The names of the columns.
    columns: list[str]
    #: One dict per row: ``section``, ``name``, ``oracle`` (whether the view or path was selected on the test nodes),
    #: ``failed`` (the reason, or None), and by column ``mean``, ``std``, ``best`` (whether it is the best of its column)
    #: and ``candidates`` (the views or paths that were selected).
    rows: list[dict[str, Any]]
    #: The relative gain of MNMF over the best row of another method that is not an oracle, by column; or None.
    gain: dict[str, float | None] | None
    #: The same as a difference of scores.
    gain_points: dict[str, float | None] | None

    def __str__(self) -> str:
        names = [row["name"] + " *" * row["oracle"] for row in self.rows]
        widest = max(map(len, [*names, "gain in points"]))
        lines = [f"{self.title}, percent", " " * widest + "".join(f"  {column:>12}" for column in self.columns)]
        section = None
        for row, name in zip(self.rows, names, strict=True):
            if row["section"] != section:
                section = row["section"]
                lines.append(f"-- {section}")
            scores = ((row["mean"][column], row["std"][column]) for column in self.columns)
            cells = (
                f"  failed: {row['failed']}" if row["failed"] else "".join(f"  {_cell(*score):>12}" for score in scores)
            )
            lines.append(f"{name:<{widest}}{cells}")
        for name, gains, unit in (("gain in points", self.gain_points, ""), ("gain of mnmf", self.gain, "%")):
            if gains is not None:
                shown = ("" if gain is None else f"{100 * gain:+.1f}{unit}" for gain in gains.values())
                lines.append(f"{name:<{widest}}" + "".join(f"  {gain:>12}" for gain in shown))
        if any(row["oracle"] for row in self.rows):
            lines.append("* selected on the test nodes, separately for each column, which is not possible in practice")
        return "\n".join(lines)


class Comparison:
    """The result of :func:`compare`.

    Attributes
    ----------
    tables : list of Table
        One table per C (two if nodes have several labels), and one of clusterings.
    failures : dict
        The reason for each failure, by method and view.
    notes : list of str
        Notes on labels and splits, and values of a sweep that are impossible.
    record : dict
        The content of ``compare.json``: also every single score.
    """

    def __init__(self, record: dict[str, Any], failures: dict[str, str], left_out: list[str]) -> None:
        self.record = record
        self.tables = [_table(table) for table in record["tables"]]
        self.failures = failures
        self.notes: list[str] = record["notes"] + left_out

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.tables))

    def to_frame(self, table: int = 0) -> Any:
        """Returns a table as a pandas ``DataFrame``: one row per section and name, and per score its mean and ``std``."""
        import pandas as pd

        found = self.tables[_check.whole("table", table, most=len(self.tables) - 1)]
        index = pd.MultiIndex.from_tuples(
            [(row["section"], row["name"]) for row in found.rows], names=["section", "name"]
        )
        scores = {
            (column, kind): [np.nan if row[kind][column] is None else row[kind][column] for row in found.rows]
            for column in found.columns
            for kind in ("mean", "std")
        }
        return pd.DataFrame(scores, index=index)


def compare(
    views: Any,
    labels: Any,
    methods: str | Sequence[str] | None = None,
    *,
    preset: str = "default",
    dim: int = 256,
    metapaths: str = "some",
    ablations: bool = False,
    sweep: str | Sequence[str] = (),
    train: float | Sequence[float] = (0.3, 0.5, 0.7),
    repeats: int = 10,
    c: float | str | Sequence[float | str] = (1, "auto"),
    seed: int = 0,
    threads: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    directed: Directed = None,
    duplicates: str = "sum",
    progress: bool | _progress.Callback = False,
) -> Comparison:
    """Embeds a network by several methods and scores all of them on the same splits, as ``manyview compare`` does.

    Parameters
    ----------
    views
        Anything that :meth:`MNMF.fit` accepts.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path to a label file
        As in :func:`manyview.evaluate.classify`.
    methods : sequence of str, optional
        Names of :func:`methods`. Default: all. A method that fails does not stop the others; see ``failures``.
    preset : {"default", "paper"}, default "default"
        The settings of all methods. "paper" takes hours.
    dim : int
        The number of columns of each embedding.
    metapaths : {"some", "all"}, default "some"
        The metapaths of metapath2vec.
    ablations : bool
        Adds rows of mnmf without one of its parts.
    sweep : str or sequence of str
        Adds rows of mnmf over ranges of settings: "dim", "gamma", "stages", "consensus_stages", "window", "negative" or
        "max_iter", alone or with values of your own, as in "dim=16,32".
    train : float or sequence of float
        The fractions of the labeled nodes to train on.
    repeats : int
        The number of splits per fraction, and of runs of k-means.
    c : float, "auto", or sequence of these
        The weights C of the classifier, with one table each; "auto" selects C by cross-validation on the training nodes.
    seed : int
        The random seed.
    threads : int, optional
        The number of threads; does not affect the result. Default: all cores.
    folder : path, optional
        Keeps embeddings and scores in this folder. A later call computes only what is missing there.
    force : bool
        Replaces results in the folder that are not from a comparison of the same network.
    directed, duplicates
        As in :class:`MNMF`.
    progress : bool or callable
        Prints a line per embedding to standard error; or is called with dicts of ``phase``, ``job``, ``number``, ``of``
        and ``done``.
    """
    if not (callable(progress) or isinstance(progress, bool | np.bool_)):
        raise _check.InvalidParameter(f"progress={progress!r}: expected True, False or a callable")
    given: dict[str, Any] = {
        "methods": [] if methods is None else [_check.text("methods", name) for name in _several(methods)],
        "preset": _check.text("preset", preset),
        "dim": _check.whole("dim", dim),
        "metapaths": _check.text("metapaths", metapaths),
        "ablations": _check.flag("ablations", ablations),
        "sweep": [_check.text("sweep", name) for name in _several(sweep)],
        "train": [_check.number("train", share) for share in _several(train)],
        "repeats": _check.whole("repeats", repeats),
        "c": [value if isinstance(value, str) else repr(_check.number("c", value)) for value in _several(c)],
        "seed": _check.whole("seed", seed, most=2**64 - 1),
        "threads": _check.whole_or_none("threads", threads),
    }
    if methods is not None and not given["methods"]:
        raise _check.InvalidParameter("methods is empty; give names of manyview.methods(), or None for all")
    network = to_network(views, directed=directed, duplicates=duplicates, threads=given["threads"])
    record, left_out, failures, told = _native.compare(
        network._native,
        _labels.of_nodes(labels, network.nodes),
        given,
        None if folder is None else os.fspath(folder),
        _check.flag("force", force),
        "manyview.compare",
        progress if callable(progress) else _print_job if progress else None,
    )
    warn(told)
    return Comparison(json.loads(record), dict(failures), left_out)


def _several(values: Any) -> list[Any]:
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


def _print_job(now: dict[str, Any]) -> None:
    if now["phase"] in ("started", "failed"):
        failed = " failed" if now["phase"] == "failed" else ""
        print(f"{now['job']} ({now['number']} of {now['of']}){failed}", file=sys.stderr, flush=True)


def _table(table: dict[str, Any]) -> Table:
    columns = table["columns"]

    def row(line: dict[str, Any]) -> dict[str, Any]:
        cells = dict(zip(columns, line["cells"], strict=True))
        return {
            **{name: line[name] for name in ("section", "name", "oracle", "failed")},
            "mean": {column: cell and cell["mean"] for column, cell in cells.items()},
            "std": {column: cell and cell["std"] for column, cell in cells.items()},
            "best": dict(zip(columns, line["best"], strict=True)),
            "candidates": dict(zip(columns, line["candidates"], strict=True)),
        }

    gain, points = (table[name] and dict(zip(columns, table[name], strict=True)) for name in ("gain", "gain_points"))
    return Table(table["title"], columns, [row(line) for line in table["lines"]], gain, points)


def _cell(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "-"
    return f"{100 * mean:.1f}" if std is None else f"{100 * mean:.1f} ± {100 * std:.1f}"
