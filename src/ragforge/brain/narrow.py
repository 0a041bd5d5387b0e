"""Narrow: of the files that may see a change, those that speak of what has changed.

A function that is added, removed or moved concerns only files in whose text its name stands, or
another name it was imported under. So the usual edit relates a handful of files anew, not
everything that imports the changed one through others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.changes import TYPES, concerned, face, is_manifest
from ragforge.brain.look import decode
from ragforge.brain.modules import Modules
from ragforge.brain.reading import RELATED, ReadFile
from ragforge.domain.code import File, Scope

MANY_NAMES = 30
"""More changed names than this are looked for by relating everything that may see them."""

Mention: TypeAlias = Callable[[Collection[str], Collection[str]], set[str]]
"""From paths and names to those of the paths in whose text one of the names stands."""


@dataclass(frozen=True, slots=True)
class Names:
    """What is other than before in a file, by its last name."""

    words: frozenset[str]
    types: frozenset[str]  # of these words: what they inherit may be passed on


def names_changed(file: ReadFile, old: File | None, before: Iterable[Scope]) -> Names | None:
    """Return the names by which a change can be told, or None if it goes further."""
    if (
        file.parsed is None
        or file.outline is None
        or old is None
        or old.state != RELATED
        or old.imports != file.parsed.file.imports
        or is_manifest(file.path)
    ):
        return None
    was, now = face(before), face(file.parsed.scopes)
    changed = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    seen = [entry for name in changed for entry in (*was.get(name, ()), *now.get(name, ()))]
    if any("default" in head for _, head, _ in seen):
        return None  # it may be known elsewhere by any name
    types = {
        name
        for name in changed
        if any(kind in TYPES for kind, _, _ in (*was.get(name, ()), *now.get(name, ())))
    }
    return Names(frozenset(map(_last, changed)), frozenset(map(_last, types)))


def narrowed(
    seeds: Collection[str],
    names: Mapping[str, Names],
    files: Mapping[str, File],
    modules: Modules,
    mention: Mention,
) -> set[str]:
    """Return the files whose relations may be others because of these changes."""
    told = {seed: names[seed] for seed in seeds if seed in names}
    reached = concerned([seed for seed in seeds if seed not in told], files, modules)
    if not told:
        return reached
    around = concerned(list(told), files, modules)
    words = _with_aliases({w for n in told.values() for w in n.words}, around, files)
    if len(words) > MANY_NAMES:
        return reached | around
    speaking = mention(around.difference(reached, told), words)
    types = _with_aliases({w for n in told.values() for w in n.types}, around, files)
    if types and mention(speaking, types):
        return reached | around
    return reached | speaking | (told.keys() & files.keys())


def mention_in(root: Path) -> Mention:
    """Return a function that looks into the files of a project."""

    def mention(paths: Collection[str], names: Collection[str]) -> set[str]:
        wanted = [name.encode("utf-8", "replace") for name in names]
        return {path for path in paths if _speaks(root / path, wanted)}

    return mention


def _speaks(path: Path, names: Collection[bytes]) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return True  # better related once too often
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or not all(name.isascii() for name in names):
        data = decode(data).encode("utf-8", "replace")
    return any(name in data for name in names)


def _with_aliases(words: set[str], paths: Iterable[str], files: Mapping[str, File]) -> set[str]:
    """Return the words and every other name they were imported under."""
    renamed = [
        part.partition(" as ")[::2]
        for path in paths
        for line in files[path].imports
        for part in line.split("\t")[1:]
        if " as " in part
    ]
    found = set(words)
    while new := {local for name, local in renamed if name in found} - found:
        found |= new
    return found


def _last(qualified_name: str) -> str:
    return qualified_name.rpartition(".")[2]
