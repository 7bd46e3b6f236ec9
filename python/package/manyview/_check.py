"""Checks of parameters. A message names the parameter, what was given, and what would do."""

from __future__ import annotations

import numbers
from typing import Any


class InvalidParameter(ValueError, TypeError):
    """A parameter of the wrong type: a ``ValueError`` and, as scikit-learn's, also a ``TypeError``."""


def whole(name: str, value: Any, *, least: int = 0, most: int = 2**63 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(f"{name} = {value!r} is not a whole number")
    if not least <= int(value) <= most:
        raise ValueError(f"{name} = {value} is out of range; use {least} to {most}")
    return int(value)


def whole_or_none(name: str, value: Any) -> int | None:
    return None if value is None else whole(name, value)


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"{name} = {value!r} is not a number")
    return float(value)


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(f"{name} = {value!r} is not text")
    return value


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, numbers.Integral)) or value not in (0, 1):
        raise InvalidParameter(f"{name} = {value!r} is neither True nor False")
    return bool(value)
