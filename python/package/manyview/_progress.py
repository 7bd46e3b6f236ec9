"""Progress bars for terminals and notebooks, and lines per stage."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Callback = Callable[[dict[str, Any]], None]
WIDTH = 30


def chosen(progress: bool | Callback, verbose: bool) -> Callback | None:
    """Returns the callback for the parameters ``progress`` and ``verbose``. A :class:`Bar` must be closed at the end."""
    if callable(progress):
        return progress
    if not (progress or verbose):
        return None
    return Bar(show_bar=bool(progress), say_stages=bool(verbose))


class Bar:
    """A progress bar that is redrawn at each call."""

    def __init__(self, show_bar: bool = True, say_stages: bool = False) -> None:
        self.say_stages = say_stages
        self.notebook = _display() if show_bar else None
        self.terminal = show_bar and self.notebook is None and sys.stderr.isatty()
        self.drawn = False

    def __call__(self, now: dict[str, Any]) -> None:
        if now["phase"] == "finished":
            if self.say_stages:
                self._line(_finished(now))
            return
        self._draw(_share(now), _words(now))

    def close(self, complete: bool) -> None:
        if complete:
            self._draw(1.0, "done")
        if self.drawn and self.terminal:
            print(file=sys.stderr)

    def _line(self, text: str) -> None:
        if self.drawn and self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
        print(text, file=sys.stderr, flush=True)

    def _draw(self, share: float, words: str) -> None:
        if self.notebook is not None:
            self.notebook(share, words)
        elif self.terminal:
            full = round(share * WIDTH)
            bar = "█" * full + "░" * (WIDTH - full)
            print(f"\r\x1b[K{bar} {share:4.0%}  {words}", end="", file=sys.stderr, flush=True)
            self.drawn = True


def _share(now: dict[str, Any]) -> float:
    if now["phase"] == "method":
        return now["done"]
    # The proximity takes the smaller part of most fits.
    return 0.2 * now["done"] if now["phase"] == "proximity" else 0.2 + 0.8 * now["done"]


def _words(now: dict[str, Any]) -> str:
    if now["phase"] == "method":
        return now["doing"] + (f" of {now['view']}" if now["view"] else "")
    if now["phase"] == "proximity":
        return f"proximity of {now['view']}"
    view = f" {now['view']}" if now["view"] else ""
    return f"stage {now['stage']} of {now['stages']}, {now['kind']}{view}: {now['error']:.1%} unexplained"


def _finished(now: dict[str, Any]) -> str:
    view = f" {now['view']}" if now["view"] else ""
    return (
        f"stage {now['stage']} {now['kind']}{view}: {now['columns']} columns, "
        f"{now['iteration']} iterations, {now['seconds']:.2f} s"
    )


def _display() -> Callable[[float, str], None] | None:
    """Returns a function that draws a bar in a notebook, or None outside of one."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # already imported

    if get_ipython() is None or "IPKernelApp" not in get_ipython().config:
        return None
    from html import escape

    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)

    def draw(share: float, words: str) -> None:
        handle.update(HTML(f'<progress value="{share:.3f}" max="1"></progress> {share:.0%} {escape(words)}'))

    return draw
