"""Instructions: a project's own rules for agents (AGENTS.md and the like)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.domain.text import Json, shorten, to_one_line
from ragforge.errors import InputError
from ragforge.memory.context_tags import fence
from ragforge.records import dataclass
from ragforge.tools.confine import Root

if TYPE_CHECKING:
    from ragforge.llm.calls import Tool

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
MAX_BYTES = 1_000_000
INNER_CHARS = 4_000
LEAD = (
    "The user's instructions for this project, from its own files. Follow them; where two of them "
    "contradict each other, the one from the inner directory applies."
)


@dataclass(frozen=True, slots=True)
class Instructions:
    """The instruction files of a project that apply in a directory."""

    text: str = ""  # ready for the system prompt; empty if there are none
    files: tuple[str, ...] = ()
    cut: bool = False


def read_instructions(root: Path, cwd: Path, max_chars: int, mark: str) -> Instructions:
    """Return the instructions of a project: the root's first, then those nearer to `cwd`.

    `mark` is that of the conversation's fences.
    Files with the same text count once. Text beyond the limit is cut. A file that cannot be read,
    or that is a link out of the project, is skipped.
    """
    try:
        place = Root.at(root)
    except InputError:
        return Instructions()
    found: dict[str, str] = {}
    for path in _list_paths(place, cwd):
        text = _read(place, path)
        if text and text not in found.values():
            found[path] = text
    if not found or max_chars <= 0:
        return Instructions()
    share = max_chars // len(found)
    bodies = [f"# {to_one_line(path)}\n\n{shorten(text, share)}" for path, text in found.items()]
    whole = fence("project-instructions", "\n\n".join(bodies), mark, LEAD)
    if len(whole) > max_chars:  # the fence and the names count too
        bodies = [shorten("\n\n".join(bodies), max(0, 2 * max_chars - len(whole)))]
        whole = fence("project-instructions", bodies[0], mark, LEAD)
    is_cut = any(len(text) > share for text in found.values())
    return Instructions(whole if len(whole) <= max_chars else "", tuple(found), is_cut)


def find_instruction_files(root: Path, cwd: Path) -> tuple[str, ...]:
    """Return the paths of the instruction files that would apply in a directory."""
    try:
        place = Root.at(root)
    except InputError:
        return ()
    return tuple(path for path in _list_paths(place, cwd) if _read(place, path))


class InnerInstructions:
    """The instructions of directories that a turn visits later, each returned once.

    Those from the root down to the working directory are part of the request already.
    """

    def __init__(self, root: Path, cwd: Path) -> None:
        self._root = Root.at(root)
        self._given = set(_list_paths(self._root, cwd))

    def read_new(self, path: str) -> dict[str, str]:
        """Return the instructions that apply to a path and are new, by file."""
        found: dict[str, str] = {}
        for place in _list_paths(self._root, Path(self._root.path, path)):
            if place not in self._given:
                self._given.add(place)
                if text := _read(self._root, place):
                    found[place] = shorten(text, INNER_CHARS)
        return found


def add_inner_instructions(tool: Tool, inner: InnerInstructions) -> Tool:
    """Return a tool that adds the instructions of the directory it was used in to its results."""

    async def run(arguments: Mapping[str, Json]) -> Json:
        result = await tool.run(arguments)
        path = arguments.get("path")
        if isinstance(path, str) and isinstance(result, dict):
            found = await asyncio.to_thread(inner.read_new, path)
            return {**result, "project_instructions": found} if found else result
        return result

    return replace(tool, run=run)


def _list_paths(root: Root, cwd: Path) -> Iterator[str]:
    """Yield where instruction files may be, from the root down to a directory."""
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
            return stream.read(MAX_BYTES).decode("utf-8", "replace").strip()
    except (OSError, InputError):
        return ""
