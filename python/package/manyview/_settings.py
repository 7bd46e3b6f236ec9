"""Settings on their way to the library, which knows what values they accept."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from . import _check

#: A method, a preset, and the settings laid over it as JSON.
Model = tuple[str, str, str]


def model(method: Any, preset: Any, settings: Mapping[str, Any]) -> Model:
    return _check.text("method", method), _check.text("preset", preset), as_json(settings)


def as_json(settings: Mapping[str, Any]) -> str:
    return json.dumps({name: plain(value) for name, value in settings.items()})


def plain(value: Any) -> Any:
    """The value in JSON. Values that JSON does not have become text, which the library refuses."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if -(2**63) <= whole < 2**64 else str(whole)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Iterable) and not isinstance(value, Mapping | AbstractSet | bytes):
        return [plain(item) for item in value]
    return repr(value)
