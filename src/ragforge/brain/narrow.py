"""Narrow: of the files that may see a change, those that speak of what has changed.

A function that is added, removed or moved concerns only files in whose text its name stands, or
another name it was imported under. So the usual edit relates a handful of files anew, not
everything that imports the changed one through others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.changes import Names, concerned
from ragforge.brain.look import decode
from ragforge.brain.modules import Modules
from ragforge.brain.relate import family_of
from ragforge.domain.code import File

MANY_NAMES = 30
"""More changed names than this are looked for by relating everything that may see them."""

Mention: TypeAlias = Callable[[Collection[str], Collection[str]], set[str]]
"""From paths and names to those of the paths in whose text one of the names stands."""


def narrowed(
    changed: Mapping[str, Names | None],
    files: Mapping[str, File],
    modules: Modules,
    mention: Mention,
) -> set[str]:
    """Return the files whose relations may be others because of these changes.

    A change without names concerns whoever may see its file. Who may see the others is
    found out last: mostly nobody speaks of what is new.
    """
    told = {path: names for path, names in changed.items() if names is not None}
    reached = concerned(changed.keys() - told.keys(), files, modules)
    if not told:
        return reached
    words = _with_aliases({w for n in told.values() for w in n.words}, files)
    if len(words) > MANY_NAMES:
        return reached | concerned(list(told), files, modules)
    code = {path for path, file in files.items() if family_of(file.language)}
    speaking = mention(code.difference(reached, told), words)
    if not speaking:
        return reached | (told.keys() & files.keys())
    around = concerned(list(told), files, modules)
    speaking &= around
    types = _with_aliases({w for n in told.values() for w in n.types}, files)
    if types and mention(speaking, types):
        return reached | around
    return reached | speaking | (told.keys() & files.keys())


def mention_in(root: Path) -> Mention:
    """Return a function that looks into the files of a project."""

    def mention(paths: Collection[str], names: Collection[str]) -> set[str]:
        wanted = [name.encode("utf-8", "replace") for name in names]
        return {path for path in paths if _speaks(os.path.join(root, path), wanted)}

    return mention


def _speaks(path: str, names: Collection[bytes]) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read()
    except OSError:
        return True  # better related once too often
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or not all(name.isascii() for name in names):
        data = decode(data).encode("utf-8", "replace")
    return any(name in data for name in names)


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
