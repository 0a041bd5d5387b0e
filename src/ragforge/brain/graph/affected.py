"""Narrow: of the files that may see a change, those that speak of what has changed.

A function that is added, removed or moved concerns only files in whose text its name stands, or
another name it was imported under. So the usual edit relates a handful of files anew, not
everything that imports the changed one through others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.files.content_check import decode
from ragforge.brain.graph.changes import ChangedNames, find_dependents
from ragforge.brain.graph.modules import Modules
from ragforge.brain.languages.table import find_family
from ragforge.brain.parse.file_scopes import MAX_SOURCE_CHARS
from ragforge.domain.code import File
from ragforge.ports.code import CodeStore

MANY_NAMES = 30
"""More changed names than this are looked for by relating everything that may see them."""

FindMentions: TypeAlias = Callable[[Collection[str]], Awaitable[set[str]]]
"""From names to the files in whose text one of them may stand."""


async def find_affected(
    changed: Mapping[str, ChangedNames | None],
    files: Mapping[str, File],
    modules: Modules,
    mention: FindMentions,
) -> set[str]:
    """Return the files whose relations may be others because of these changes.

    A change without names concerns whoever may see its file. Who may see the others is
    found out last: mostly nobody speaks of what is new.
    """

    async def find_all(paths: Collection[str]) -> set[str]:
        return await asyncio.to_thread(find_dependents, paths, files, modules)

    told = {path: names for path, names in changed.items() if names is not None}
    reached = await find_all(changed.keys() - told.keys())
    if not told:
        return reached
    words = _with_aliases({w for n in told.values() for w in n.words}, files)
    if len(words) > MANY_NAMES:
        return reached | await find_all(told.keys())
    code = {path for path, file in files.items() if find_family(file.language)}
    speaking = (await mention(words) & code).difference(reached, told)
    if not speaking:
        return reached | (told.keys() & files.keys())
    around = await find_all(told.keys())
    speaking &= around
    types = _with_aliases({w for n in told.values() for w in n.types}, files)
    if speaking and types and speaking & await mention(types):
        return reached | around
    return reached | speaking | (told.keys() & files.keys())


def make_mention_search(
    root: Path, code: CodeStore, project_id: str, files: Mapping[str, File]
) -> FindMentions:
    """Return a function that asks the store; what is too long to be all in there is read."""
    long = [path for path, file in files.items() if file.size > MAX_SOURCE_CHARS]

    async def mention(names: Collection[str]) -> set[str]:
        found = await code.files_holding(project_id, sorted(names))
        if found is None:
            return set(files)
        return found.union(path for path in long if _is_mentioned(root / path, names))

    return mention


def _is_mentioned(path: Path, names: Collection[str]) -> bool:
    try:
        text = decode(path.read_bytes())
    except OSError:
        return True  # better related once too often
    return any(name in text for name in names)


def _with_aliases(words: set[str], files: Mapping[str, File]) -> set[str]:
    """Return the words and every other name they were imported under."""
    renamed = [
        part.partition(" as ")[::2]
        for file in files.values()
        for line in file.imports
        if " as " in line
        for part in line.split("\t")[1:]
        if " as " in part
    ]
    found = set(words)
    while new := {local for name, local in renamed if name in found} - found:
        found |= new
    return found
