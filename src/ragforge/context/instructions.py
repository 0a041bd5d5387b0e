"""Instructions: what a project asks of every agent that works in it (AGENTS.md and its kin)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragforge.errors import InputError
from ragforge.llm.task import shortened
from ragforge.memory.injected import fenced
from ragforge.tools.confine import Root

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
MOST_BYTES = 1_000_000
LEAD = (
    "The user's instructions for this project, from its own files. Follow them; where two of them "
    "differ, the one of the inner directory holds."
)


@dataclass(frozen=True, slots=True)
class Instructions:
    """The instruction files of a project that count in a directory."""

    text: str = ""  # ready for the system prompt; empty if there are none
    files: tuple[str, ...] = ()
    cut: bool = False


def read_instructions(root: Path, cwd: Path, most_chars: int) -> Instructions:
    """Return the instructions of a project: the root's first, then those nearer to `cwd`.

    Files that say the same count once. What is longer than allowed is cut; a file that cannot
    be read, or that a link leads out of the project, is passed over.
    """
    try:
        place = Root.at(root)
    except InputError:
        return Instructions()
    found: dict[str, str] = {}
    for path in _paths(place, cwd):
        text = _read(place, path)
        if text and text not in found.values():
            found[path] = text
    if not found or most_chars <= 0:
        return Instructions()
    share = most_chars // len(found)
    bodies = [f"# {path}\n\n{shortened(text, share)}" for path, text in found.items()]
    whole = fenced("project-instructions", "\n\n".join(bodies), LEAD)
    if len(whole) > most_chars:  # the fence and the names count too
        bodies = [shortened("\n\n".join(bodies), max(0, 2 * most_chars - len(whole)))]
        whole = fenced("project-instructions", bodies[0], LEAD)
    is_cut = any(len(text) > share for text in found.values())
    return Instructions(whole if len(whole) <= most_chars else "", tuple(found), is_cut)


def _paths(root: Root, cwd: Path) -> Iterator[str]:
    """Yield where instructions may be, from the root down to a directory."""
    try:
        inside = root.inside(str(cwd))
    except InputError:
        inside = ""
    steps = [step for step in inside.split("/") if step]
    for depth in range(len(steps) + 1):
        folder = "/".join(steps[:depth])
        for name in NAMES:
            yield f"{folder}/{name}" if folder else name


def _read(root: Root, path: str) -> str:
    try:
        if not os.path.isfile(root.full(path)):
            return ""
        with root.open(root.inside(path)) as stream:
            return stream.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except (OSError, InputError):
        return ""
