"""Any method by name: MNMF and those it is compared with."""

from __future__ import annotations

import json
from typing import Any

from . import _check, _fit, _native, _progress, _settings
from ._embedding import Embedding
from ._network import Directed, to_network


def methods() -> dict[str, dict[str, Any]]:
    """Returns all methods: the ``group`` of each, a line of ``help``, and its ``settings`` with their defaults."""
    found = {}
    for method in json.loads(_native.methods()):
        settings = json.loads(_native.describe(method["name"]))
        defaults = {setting["name"]: setting["default"] for setting in settings}
        found[method["name"]] = {"group": method["group"], "help": method["help"], "settings": defaults}
    return found


def embed(
    views: Any,
    method: str = "mnmf",
    *,
    preset: str = "default",
    view_only: str | None = None,
    labels: Any = None,
    directed: Directed = None,
    duplicates: str = "sum",
    max_memory: int | str | None = None,
    progress: bool | _progress.Callback = False,
    verbose: bool = False,
    **settings: Any,
) -> Embedding:
    """Embeds the nodes of a network by any method.

    Parameters
    ----------
    views
        Anything that :meth:`MNMF.fit` accepts.
    method : str, default "mnmf"
        One of :func:`methods`. Single-view methods run on each view, and their columns are concatenated; ``parts`` and
        ``of_view`` of the result show which columns belong to which view.
    preset : {"default", "paper", "authors"}, default "default"
        Set of settings that belong together; single settings override it. Only mnmf has "authors".
    view_only : str, optional
        Embeds this view alone. All nodes have a vector, including those without edges in this view.
    labels : sequence of n labels, dict of node and label, pandas Series, matrix, or path, optional
        Labels of training nodes, in the forms of :func:`manyview.evaluate.classify`. Only ``mve`` with
        ``attention=True`` uses them. None means that a node has no label.
    directed, duplicates, max_memory, progress, verbose
        As in :class:`MNMF`. Methods without proximity matrices do not accept ``max_memory``.
    **settings
        Settings of the method, by name: ``dim``, ``seed``, ``threads`` and others; see :func:`methods`.
    """
    model = _settings.model(method, preset, settings)
    values = json.loads(_native.resolve(model))
    how: dict[str, Any] = {"directed": directed, "duplicates": duplicates, "threads": values["threads"]}
    network = to_network(views, max_memory=max_memory, **how)
    if view_only is not None:
        network = network._only(_check.text("view_only", view_only))
    words = [f"method={method!r}", f"preset={preset!r}"] + [f"{name}={value!r}" for name, value in settings.items()]
    vectors, run, _ = _fit.fit(
        network,
        model,
        labels=labels,
        max_memory=max_memory,
        progress=progress,
        verbose=verbose,
        command=f"manyview.embed({', '.join(words)})",
    )
    return Embedding(network.nodes, vectors, run)
