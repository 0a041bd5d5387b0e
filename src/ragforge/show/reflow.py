"""Reflow: how many rows drawn lines take after the window became narrower."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping


def rewraps_lines(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the terminal wraps lines again that no longer fit.

    Most terminals do; xterm, GNU screen and the Linux console cut them off.
    """
    if environ.get("TMUX"):
        return True
    cuts = environ.get("XTERM_VERSION") or environ.get("STY") or environ.get("TERM") == "linux"
    return not cuts


def count_rows(widths: Iterable[int], columns: int) -> int:
    """Return how many rows these lines have in a window of this many columns."""
    return sum(max(1, -(-width // max(columns, 1))) for width in widths)
