"""Surroundings: an overview of a project for the model that chooses searches in it."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragforge.domain.code import File
from ragforge.domain.text import to_one_line
from ragforge.errors import StoreError

MAX_CHARS = 1_500
PLACE_CHARS = 300
"""The room for the root and the working directory."""
KEPT_SECONDS = 60.0
"""How long the overview is cached: a project hardly changes between two questions."""
DEPTH = 3
MAX_LANGUAGES = 8


@dataclass(slots=True)
class Surroundings:
    """Describes the project at a root, by the store's files or by a directory listing."""

    root: Path
    files: Callable[[], Awaitable[Sequence[File]]] | None = None  # of the store
    _tree: str = ""
    _until: float = 0.0

    async def describe(self, cwd: Path | None = None) -> str:
        """Return the root, the working directory, the languages and the top of the tree."""
        if time.monotonic() >= self._until:
            self._tree = await asyncio.to_thread(_describe_tree, self.root, await self._read())
            self._until = time.monotonic() + KEPT_SECONDS
        head = (
            f"root: {to_one_line(str(self.root))}\nworking directory: {_format_cwd(self.root, cwd)}"
        )
        return f"{head}\n{self._tree}"[:MAX_CHARS]

    async def _read(self) -> Sequence[File]:
        try:
            return () if self.files is None else await self.files()
        except StoreError:
            return ()  # the directory can still be listed


def _describe_tree(root: Path, files: Sequence[File]) -> str:
    """Return the languages and the top of the tree."""
    counts = Counter(file.language for file in files if file.language and file.kind == "code")
    languages = [f"{name} ({many})" for name, many in counts.most_common(MAX_LANGUAGES)]
    first_line = f"languages: {', '.join(languages)}\n" if languages else ""
    head = f"{first_line}top of the tree, with the number of files:\n"
    paths = [file.path for file in files] or _list_entries(root)
    return head + list_top_of_tree(paths, MAX_CHARS - PLACE_CHARS - len(head))


def list_top_of_tree(paths: Iterable[str], max_chars: int) -> str:
    """Return the folders with their numbers of files, and the files of the root, by path.

    A path that ends with `/` is a folder whose files are not known. If there is no room for all,
    outer folders come before inner ones and large ones before small ones.
    """
    counts: Counter[str] = Counter()
    for path in paths:
        *folders, name = path.split("/")
        above = ["/".join(folders[:depth]) + "/" for depth in range(1, len(folders) + 1)]
        counts.update(above if name else dict.fromkeys(above, 0))
        if not folders:
            counts[name] = 0

    def outer_first(entry: str) -> tuple[int, int, str]:
        return entry.count("/") if entry.endswith("/") else DEPTH + 1, -counts[entry], entry

    kept: list[str] = []
    for entry in sorted(counts, key=outer_first):
        name = to_one_line(entry)
        line = f"{name} {counts[entry]}" if counts[entry] else name
        if entry.count("/") <= DEPTH and max_chars > len(line):
            kept.append(line)
            max_chars -= len(line) + 1
    return "\n".join(sorted(kept))


def _format_cwd(root: Path, cwd: Path | None) -> str:
    try:
        return to_one_line((cwd or root).relative_to(root).as_posix()) + "/"
    except ValueError:
        return to_one_line(str(cwd))


def _list_entries(root: Path) -> list[str]:
    """Return the entries of a directory that are not hidden; folders end with `/`."""
    try:
        with os.scandir(root) as found:
            shown = [entry for entry in found if not entry.name.startswith(".")]
            return [f"{entry.name}/" if entry.is_dir() else entry.name for entry in shown]
    except OSError:
        return []
