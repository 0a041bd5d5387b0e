"""Modes: what the agent may do in a turn without asking."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ragforge.errors import InputError

Mode: TypeAlias = Literal["ask", "plan", "accept-edits", "auto"]
"""ask: the user is asked before each change. plan: nothing is changed, the answer is a plan.
accept-edits: edits inside the project need no yes, commands still do. auto: neither do commands in
a sandbox, without network; it needs one that works on this machine."""
MODES: tuple[Mode, ...] = get_args(Mode)


def parse_mode(name: str) -> Mode:
    """Return the mode with this name. Raises InputError if there is none."""
    for mode in MODES:
        if name == mode:
            return mode
    raise InputError(f"{name!r} is not a mode: write {', '.join(MODES[:-1])} or {MODES[-1]}.")


def next_mode(mode: Mode, has_auto: bool) -> Mode:
    """Return the mode that follows; the first follows the last that can be used."""
    modes = MODES if has_auto or mode == "auto" else MODES[: MODES.index("auto")]
    return modes[(modes.index(mode) + 1) % len(modes)]


_BY_RIGHTS: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "auto")


def choose_stricter(one: Mode, other: Mode) -> Mode:
    """Return the mode that allows less."""
    return min(one, other, key=_BY_RIGHTS.index)
