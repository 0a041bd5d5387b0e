"""Exact: the relations of files that the index of an exact indexer describes as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ragforge.brain.graph.name_index import OutlinedFile
from ragforge.brain.graph.scip import Document, is_local, split_symbol
from ragforge.brain.parse.outline import HOLDERS
from ragforge.domain.code import Relation

LookUp: TypeAlias = Callable[[str], OutlinedFile | None]
Place: TypeAlias = tuple[OutlinedFile, int]
"""A definition of a file: its number in the outline."""
_CONSTRUCTORS = ("<init>", "<constructor>")
_BY_NAMES = ("CONSUMES", "INHERITS_FROM")


class ExactRelations:
    """Relations from an index, for the files that have not changed since it was made."""

    def __init__(self, documents: Mapping[str, Document], fresh: Mapping[str, str]) -> None:
        self._documents = documents
        self._fresh = fresh  # the hashes of files when they fitted the index
        self._defined: dict[str, tuple[str, int]] = {}
        self._bases: dict[str, list[str]] = defaultdict(list)
        self._found: dict[str, Place | None] = {}
        self._named: dict[str, Mapping[str, Sequence[int]]] = {}
        for document in documents.values():
            for one in document.occurrences:
                if one.is_definition and not is_local(one.symbol):
                    self._defined.setdefault(one.symbol, (document.path, one.line))
            for symbol, base in document.bases:
                self._bases[symbol].append(base)

    def is_fresh(self, path: str, content_hash: str) -> bool:
        """Tell whether the index describes a file as it is."""
        return path in self._documents and self._fresh.get(path) == content_hash

    def replace(
        self,
        known: OutlinedFile,
        own: Sequence[Relation],
        look_up: LookUp,
        files: Mapping[str, str],
        is_fresh: Callable[[str], bool],
    ) -> list[Relation]:
        """Return the relations of a fresh file: what the index says takes the place of names.

        `own` are those that were found by names; of these only relations to files that the index
        does not describe remain. `files` has the files of their targets.
        """
        document = self._documents[known.path]
        owners = _list_owners(known)
        used: dict[int, dict[str, Place]] = defaultdict(dict)
        types: dict[int, str] = {}
        for one in document.occurrences:
            if is_local(one.symbol):
                continue
            if one.is_definition:
                place = self._find(one.symbol, look_up, is_fresh)
                if place is not None and place[0].path == known.path:
                    types.setdefault(place[1], one.symbol)
                continue
            target = self._find(one.symbol, look_up, is_fresh)
            if target is not None:
                owner = owners[one.line] if one.line < len(owners) else 0
                used[owner][_get_id(target)] = target
        inherited = {
            (known.ids[number], _get_id(base))
            for number, symbol in types.items()
            if known.outline.definitions[number].type in HOLDERS
            for base in self._find_bases(symbol, look_up, is_fresh)
        }
        consumed = {
            (known.ids[number], uuid)
            for number, targets in used.items()
            for uuid, target in targets.items()
            if not _holds(target, known, number)
        }
        kept = [
            one
            for one in own
            if one.kind not in _BY_NAMES or files.get(one.target) not in self._documents
        ]
        # The index of some languages does not say what a type implements.
        inherited |= {
            (one.source, one.target)
            for one in own
            if one.kind == "INHERITS_FROM" and (one.source, one.target) in consumed
        }
        found = {*kept}
        found.update(Relation("INHERITS_FROM", *ends) for ends in inherited)
        found.update(Relation("CONSUMES", *ends) for ends in consumed - inherited)
        return sorted(found, key=lambda one: (one.kind, one.source, one.target))

    def _find_bases(
        self, symbol: str, look_up: LookUp, is_fresh: Callable[[str], bool]
    ) -> Iterable[Place]:
        """Return the types that a type inherits from directly: an index may list all."""
        named = self._bases.get(symbol, [])
        further = {above for base in named for above in self._bases.get(base, ())}
        for base in named:
            place = None if base in further else self._find(base, look_up, is_fresh)
            if place is not None and place[0].outline.definitions[place[1]].type in HOLDERS:
                yield place

    def _find(self, symbol: str, look_up: LookUp, is_fresh: Callable[[str], bool]) -> Place | None:
        """Return the definition that a symbol means, if there is exactly one."""
        if symbol not in self._found:
            self._found[symbol] = self._look_for(symbol, look_up, is_fresh)
        return self._found[symbol]

    def _look_for(
        self, symbol: str, look_up: LookUp, is_fresh: Callable[[str], bool]
    ) -> Place | None:
        names = split_symbol(symbol)
        if not names or symbol not in self._defined:
            return None
        path, line = self._defined[symbol]
        known = look_up(path)
        if known is None:
            return None
        if path not in self._named:
            self._named[path] = _group_by_name(known)
        wanted = ("constructor", *names[-2:-1]) if names[-1] in _CONSTRUCTORS else names[-1:]
        named = [number for name in wanted for number in self._named[path].get(name, ())]
        if is_fresh(path):
            around = [number for number in named if _contains(known, number, line)]
            return (known, min(around, key=lambda n: _count_lines(known, n))) if around else None
        ending = f".{'.'.join(names)}"
        definitions = known.outline.definitions
        same = [n for n in named if f".{definitions[n].qualified_name}".endswith(ending)]
        return (known, same[0]) if len(same) == 1 else None


def _group_by_name(known: OutlinedFile) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, definition in enumerate(known.outline.definitions[1:], 1):  # the first is the file
        found[definition.name].append(number)
    return found


def _list_owners(known: OutlinedFile) -> list[int]:
    """Return the smallest definition that contains each line; 0 is the file."""
    definitions = known.outline.definitions
    owners = [0] * (max(one.end_line for one in definitions) + 1)
    numbers = range(1, len(definitions))
    for number in sorted(numbers, key=lambda number: -_count_lines(known, number)):
        first, last = definitions[number].start_line, definitions[number].end_line
        owners[first : last + 1] = [number] * (last + 1 - first)
    return owners


def _contains(known: OutlinedFile, number: int, line: int) -> bool:
    definition = known.outline.definitions[number]
    return definition.start_line <= line <= definition.end_line


def _count_lines(known: OutlinedFile, number: int) -> int:
    definition = known.outline.definitions[number]
    return definition.end_line - definition.start_line


def _holds(target: Place, known: OutlinedFile, number: int) -> bool:
    """Tell whether a target is a definition itself, or one of those around it."""
    if target[0].path != known.path:
        return False
    around: int | None = number
    while around is not None:
        if around == target[1]:
            return True
        around = known.outline.definitions[around].parent
    return False


def _get_id(place: Place) -> str:
    return place[0].ids[place[1]]
