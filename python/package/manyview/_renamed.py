"""Parameters that had another name in an earlier version."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(**names: str) -> Callable[[Function], Function]:
    """Lets a function accept keywords by their old names, with a ``FutureWarning``: ``renamed(old="new")``.

    The signature stays that of the function, so scikit-learn sees the new names only.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            return function(*args, **with_new_names(given, names))

        return call  # type: ignore[return-value]

    return decorate


def with_new_names(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Returns keywords with new names instead of old ones."""
    for old, new in names.items():
        if old in given:
            if new in given:
                raise TypeError(f"{old} is the old name of {new}; give {new} only")
            warnings.warn(f"{old} is now called {new}; the old name will be removed", FutureWarning, stacklevel=3)
            given = {new if name == old else name: value for name, value in given.items()}
    return given
