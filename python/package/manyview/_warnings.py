"""Warnings: their categories, and how they are issued."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent) + os.sep


class ManyviewWarning(UserWarning):
    """Something that a user should know about a network or a result."""


class ConvergenceWarning(ManyviewWarning):
    """A factorization reached the maximum number of iterations. The result is usable; more iterations may improve it."""


def warn(told: list[tuple[bool, str]]) -> None:
    """Issues the library's warnings, at the line of the caller's own code."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    for about_convergence, message in told:
        category = ConvergenceWarning if about_convergence else ManyviewWarning
        warnings.warn(message, category, stacklevel=level)
