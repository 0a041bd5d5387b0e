"""Affected: the files whose relations must be made again after a change.

A function that is added, removed or moved affects only files that mention its name, or another
name it was imported under. So a usual edit relates a handful of files again, not everything that
imports the changed file directly or through others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.compare import is_skipped
from ragforge.brain.files.content_check import decode
from ragforge.brain.graph.changes import ChangedNames, find_dependents
from ragforge.brain.graph.modules import Modules
from ragforge.brain.languages.table import find_family
from ragforge.brain.parse.file_scopes import MAX_SOURCE_CHARS
from ragforge.domain.code import File, FileMark
from ragforge.ports.code_graph import CodeGraph

MANY_NAMES = 30
"""With more changed names than this, every file that may see them is related again."""

FindMentions: TypeAlias = Callable[[Collection[str]], Awaitable[set[str]]]
"""Returns the files whose text may mention one of the given names."""


async def find_affected(
    changed: Mapping[str, ChangedNames | None],
    files: Mapping[str, File],
    modules: Modules,
    mention: FindMentions,
) -> set[str]:
    """Return the files whose relations may have changed.

    A change without names affects every file that may see the changed one. For the others,
    mentions are looked for first: usually no file mentions what is new.
    """

    async def find_all_dependents(paths: Collection[str]) -> set[str]:
        return await asyncio.to_thread(find_dependents, paths, files, modules)

    named = {path: names for path, names in changed.items() if names is not None}
    reached = await find_all_dependents(changed.keys() - named.keys())
    if not named:
        return reached
    words = _with_aliases({w for n in named.values() for w in n.words}, files)
    if len(words) > MANY_NAMES:
        return reached | await find_all_dependents(named.keys())
    code = {path for path, file in files.items() if find_family(file.language)}
    mentioning = (await mention(words) & code).difference(reached, named)
    if not mentioning:
        return reached | (named.keys() & files.keys())
    around = await find_all_dependents(named.keys())
    mentioning &= around
    types = _with_aliases({w for n in named.values() for w in n.types}, files)
    if mentioning and types and mentioning & await mention(types):
        return reached | around
    return reached | mentioning | (named.keys() & files.keys())


async def is_unmentioned(changed: Mapping[str, ChangedNames | None], mention: FindMentions) -> bool:
    """Tell whether no other file mentions what changed: then no other is affected.

    A file that imports one of these names under another mentions it there.
    """
    words = {w for names in changed.values() if names is not None for w in names.words}
    if None in changed.values() or len(words) > MANY_NAMES:
        return False
    return not words or await mention(words) <= changed.keys()


def make_mention_search(
    root: Path, code: CodeGraph, project_id: str, files: Mapping[str, File | FileMark]
) -> FindMentions:
    """Return a function that searches the store, and reads files too long to be stored whole."""
    long = [
        path
        for path, file in files.items()
        if file.size > MAX_SOURCE_CHARS and not is_skipped(file)
    ]

    async def mention(names: Collection[str]) -> set[str]:
        found = await code.files_holding(project_id, sorted(names))
        if found is None:
            return set(files)
        return found.union(path for path in long if _is_mentioned(root, path, names))

    return mention


def _is_mentioned(root: Path, path: str, names: Collection[str]) -> bool:
    try:
        text = decode(read_bytes(str(root), path))
    except OSError:
        return True  # related again to be safe
    return any(name in text for name in names)


def _with_aliases(words: set[str], files: Mapping[str, File]) -> set[str]:
    """Return the words and every alias they were imported under."""
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
