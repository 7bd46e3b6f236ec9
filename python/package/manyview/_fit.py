"""The fit of a network by any method: progress, warnings, and the record of the run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _check, _labels, _native, _progress, _settings
from ._network import Network
from ._warnings import warn


def fit(
    network: Network,
    model: _settings.Model,
    *,
    labels: Any = None,
    max_memory: int | str | None = None,
    progress: bool | _progress.Callback = False,
    verbose: bool = False,
    command: str,
    keep_model: bool = False,
) -> tuple[np.ndarray, dict[str, Any], _native.KeptModel | None]:
    """Embeds a network. Returns the vectors, the content of ``run.json``, and the model if it is kept."""
    _check.flag("verbose", verbose)
    _check.flag("keep_model", keep_model)
    if not (callable(progress) or isinstance(progress, bool | np.bool_)):
        raise _check.InvalidParameter(f"progress={progress!r}: expected True, False or a callable")
    limit = _check.size_or_none("max_memory", max_memory)
    given = None if labels is None else _labels.of_nodes(labels, network.nodes)
    if verbose:
        for note in network.notes:
            print(f"note: {note}")
    callback = _progress.chosen(progress, verbose)
    complete = False
    try:
        fitted = _native.fit(network._native, model, given, limit, command, keep_model, callback)
        vectors, record, told, kept = fitted
        complete = True
    finally:
        if isinstance(callback, _progress.Bar):
            callback.close(complete)
    warn(told)
    return vectors, json.loads(record), kept
