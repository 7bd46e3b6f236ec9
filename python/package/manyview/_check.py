"""Checks of parameters that are not settings of the library. The messages have the form of the library's."""

from __future__ import annotations

import numbers
import re
from typing import Any

import numpy as np

_UNITS = {"b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}b": size for unit, size in _UNITS.items() if unit != "b"}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class InvalidParameter(ValueError, TypeError):
    """A value that a parameter does not accept: a ``ValueError`` and, as in scikit-learn, also a ``TypeError``."""


def whole(name: str, value: Any, *, least: int = 0, most: int = 2**63 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(f"{name}={value!r}: expected a whole number")
    if not least <= int(value) <= most:
        raise InvalidParameter(f"{name}={value}: expected a whole number from {least} to {most}")
    return int(value)


def whole_or_none(name: str, value: Any) -> int | None:
    return None if value is None else whole(name, value)


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"{name}={value!r}: expected a number")
    return float(value)


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(f"{name}={value!r}: expected a string")
    return value


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, numbers.Integral)) or value not in (0, 1):
        raise InvalidParameter(f"{name}={value!r}: expected True or False")
    return bool(value)


def unmasked(what: str, value: Any) -> None:
    """Refuses NumPy arrays with masked entries: a conversion would silently use the values under the mask."""
    if np.ma.is_masked(value):
        raise InvalidParameter(
            f"{what} is an array with masked entries, and the mask would be lost; pass an array without a mask: "
            "value.filled(...) sets the masked entries, value.data ignores the mask"
        )


def size_or_none(name: str, value: Any) -> int | None:
    """A number of bytes, or text such as ``"8G"``, as on the command line."""
    if not isinstance(value, str):
        return None if value is None else whole(name, value, least=1)
    found = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([a-z]+)\s*", value, re.IGNORECASE)
    size = float(found[1]) * _UNITS.get(found[2].lower(), 0) if found else 0
    if size < 1:
        raise InvalidParameter(f"{name}={value!r}: expected a number of bytes, or text such as '8G', '500M' or '2GiB'")
    return int(size)
