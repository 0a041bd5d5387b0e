"""Changes: what changed in files that were read again, and which relations must be made again.

A function that is added, removed or moved affects only files that mention its name, or another
name it was imported under. So a usual edit relates a handful of files again, not everything that
imports the changed file directly or through others.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.compare import PARSED, is_skipped
from ragforge.brain.files.exclusions import decode
from ragforge.brain.graph.name_index import Modules
from ragforge.brain.graph.values import read_return
from ragforge.brain.languages.table import find_family, find_language, is_manifest
from ragforge.brain.parse.outline import HOLDERS, MAX_SOURCE_CHARS
from ragforge.brain.parse.read_source import ReadFile
from ragforge.domain.code import MODULE, File, FileMark, Scope
from ragforge.ports.code_graph import CodeGraph
from ragforge.records import dataclass

_FIELD = re.compile(r"\s*[^\W\d][^(=:;]*(?:[=:]\s*[^\W\d]|;)")
_OWN_FIELD = re.compile(r"\s*(?:(?:self|this)\.|@)\w+[^=:]*[=:]\s*[^\W\d]")
_VARIABLE = re.compile(
    r"^(?:(?:export|const|let|var|val|static|pub|public)\s+)*(\w+)[ \t]*(?::[^=\n]*)?:?=[ \t]*"
    r"[^\W\d].*",
    re.MULTILINE,
)
MANY_NAMES = 30
"""With more changed names than this, every file that may see them is related again."""

FindMentions: TypeAlias = Callable[[Collection[str]], Awaitable[set[str]]]
"""Returns the files whose text may mention one of the given names."""


@dataclass(frozen=True, slots=True)
class ChangedNames:
    """The names of the definitions that changed in a file, without what is before the dot."""

    words: frozenset[str]
    types: frozenset[str]  # those of types: what they inherit may be passed on
    # Where a type implements interfaces without naming them:
    owners: frozenset[str] = frozenset()  # the types of changed methods
    has_interfaces: bool = False  # whether an interface changed


def find_changed_names(
    read: Iterable[ReadFile], known: Mapping[str, File], before: Iterable[Scope]
) -> dict[str, ChangedNames | None]:
    """Return the files that look different to other files than before.

    The value names what changed; it is None if names cannot describe the change, and for a
    file that an earlier run did not complete.
    """
    scopes: dict[str, list[Scope]] = defaultdict(list)
    for scope in before:
        scopes[scope.file].append(scope)
    changed: dict[str, ChangedNames | None] = {}
    for file in read:
        names = _compare_names(file, known.get(file.path), scopes[file.path])
        if names is None or names.words:
            changed[file.path] = names
    return changed


def _compare_names(
    file: ReadFile, old: File | None, before: Iterable[Scope]
) -> ChangedNames | None:
    if (
        file.parsed is None
        or file.outline is None
        or old is None
        or old.state == PARSED
        or is_skipped(old)
        or is_manifest(file.path)
        or file.parsed.file.imports != old.imports
    ):
        return None
    was, now = _describe_visible(before), _describe_visible(file.parsed.scopes)
    changed = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    seen = {name: (*was.get(name, ()), *now.get(name, ())) for name in changed}
    if any("default" in head for entries in seen.values() for _, head, _ in entries):
        return None  # other files may give it any name
    holders = (name for name in seen if any(kind in HOLDERS for kind, _, _ in seen[name]))
    words, types = frozenset(map(_get_last_name, changed)), frozenset(map(_get_last_name, holders))
    language = find_language(file.outline.language)
    if language is None or not language.names.implicit_interfaces:
        return ChangedNames(words, types)
    owners = frozenset(
        name.rpartition(".")[0]
        for name in seen
        if any(kind == "method" for kind, _, _ in seen[name])
    )
    kinds = {kind for entries in seen.values() for kind, _, _ in entries}
    return ChangedNames(words, types, owners, "interface" in kinds)


def _get_last_name(qualified_name: str) -> str:
    return qualified_name.rpartition(".")[2]


def _describe_visible(scopes: Iterable[Scope]) -> dict[str, list[tuple[str, str, int]]]:
    """Return what other files may see of definitions: all but the bodies of functions."""
    named: dict[str, list[Scope]] = defaultdict(list)
    for scope in sorted(scopes, key=lambda found: (found.start_line, -found.end_line, found.uuid)):
        named[scope.qualified_name].append(scope)
    seen = {
        # Of several definitions with one name the longest may count.
        name: [
            (s.type, _describe_head(s), s.end_line - s.start_line if len(same) > 1 else 0)
            for s in same
        ]
        for name, same in named.items()
    }
    for whole in (s for same in named.values() for s in same if s.type == MODULE):
        for found in _VARIABLE.finditer(whole.source):
            seen.setdefault(found[1], []).append(("variable", found[0], 0))
    return seen


def _describe_head(scope: Scope) -> str:
    language = find_language(scope.language)
    if scope.type not in HOLDERS:  # "export default", "def self."
        if language and language.names.implicit_interfaces and scope.type == "method":
            return scope.signature
        family = "" if language is None else language.names.family
        head = scope.signature.partition("(")[0]
        return f"{head} {read_return(scope.signature, scope.name, family)}"
    in_body = language is not None and language.names.bases_in_body
    text = scope.indexed_text if scope.signature and in_body else scope.signature
    return "\n".join((text, *_list_fields(scope)))


def _list_fields(scope: Scope) -> Iterator[str]:
    """Yield the lines of a type that may say what a field is."""
    first, *lines = scope.source.split("\n")
    edge = _measure_margin(first)
    margin = min((depth for line in lines if (depth := _measure_margin(line)) > edge), default=0)
    for line in lines:
        if _OWN_FIELD.match(line) or (_measure_margin(line) == margin and _FIELD.match(line)):
            yield line


def _measure_margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def find_moved_imports(
    gone: Collection[str], old: Mapping[str, File], before: Modules, after: Modules
) -> set[str]:
    """Return the files whose imports lead to other files, now that paths came or went."""
    if any(is_manifest(path) for path in gone):
        return set(old).difference(gone)
    moved = {
        path
        for path, file in old.items()
        if file.imports and _resolve_imports(before, file) != _resolve_imports(after, file)
    }
    sight = _Visibility(old, before)
    return moved.union(*map(sight.find_viewers, gone)).difference(gone)


def find_dependents(
    changed: Collection[str], files: Mapping[str, File], modules: Modules
) -> set[str]:
    """Return the files whose relations may have changed because these files changed.

    They are the changed files, all that see them, and all that see those: names are passed
    on and inherited.
    """
    if not changed:
        return set()
    if any(is_manifest(path) for path in changed) or len(changed) >= len(files):
        return set(files)
    sight = _Visibility(files, modules)
    reached = set(changed)
    waiting = list(changed)
    while waiting:
        seen = sight.find_viewers(waiting.pop()) - reached
        reached |= seen
        waiting += seen
    return reached.intersection(files)


def find_imported(modules: Modules, file: File) -> set[str]:
    """Return the files of the project that a file imports."""
    found: set[str] = set()
    language = file.language or ""
    for module, names in map(_split_import, file.imports):
        found.update(modules.find(file.path, language, module))
        for name in names:
            found.update(modules.find_submodule(file.path, language, module, name))
    return found


def _split_import(line: str) -> tuple[str, list[str]]:
    """Return the module and the names of an import, as `format_import` wrote them."""
    module, *parts = line.split("\t")
    names = [part.partition(" as ")[0] for part in parts]
    return module, [name for name in names if name and name != "*"]


def _resolve_imports(modules: Modules, file: File) -> tuple[set[str], list[str | None]]:
    """Return the files and the libraries that a file's imports lead to."""
    lines = [line.partition("\t")[0] for line in file.imports]
    return find_imported(modules, file), [
        modules.find_library(file.language or "", m) for m in lines
    ]


class _Visibility:
    """Which files may see the names of a file."""

    def __init__(self, files: Mapping[str, File], modules: Modules) -> None:
        self._files, self._modules = files, modules
        self._importers: dict[str, set[str]] = defaultdict(set)
        self._packages: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._everywhere: dict[str, set[str]] = defaultdict(set)
        for path, file in files.items():
            for target in find_imported(modules, file):
                self._importers[target].add(path)
            language = find_language(file.language)
            if language is None:
                continue
            names = language.names
            if names.package_names:
                self._packages[path.rpartition("/")[0], names.family].add(path)
            if names.project_types or names.path_names:  # which need no import
                self._everywhere[names.family].add(path)

    def find_viewers(self, path: str) -> set[str]:
        """Return the files that import a file, or see it without an import."""
        found = set(self._importers.get(path, ()))
        for package in self._modules.find_packages(path):
            found |= self._importers.get(package, set())
        file = self._files.get(path)
        language = find_language(file.language) if file else None
        if language is None:
            return found
        family = language.names.family
        if language.names.package_names:
            found |= self._packages.get((path.rpartition("/")[0], family), set())
            found.update(self._modules.find_siblings(path, language.name))
        # Once for each family: the first answer already has them all.
        return found | self._everywhere.pop(family, set())


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
    held = await mention(words) & code
    reached |= await _find_implementers(named, held, files, mention)
    mentioning = held.difference(reached, named)
    if not mentioning:
        return reached | (named.keys() & files.keys())
    around = await find_all_dependents(named.keys())
    mentioning &= around
    types = _with_aliases({w for n in named.values() for w in n.types}, files)
    if mentioning and types and mentioning & await mention(types):
        return reached | around
    return reached | mentioning | (named.keys() & files.keys())


async def _find_implementers(
    named: Mapping[str, ChangedNames],
    mentioning: Collection[str],
    files: Mapping[str, File],
    mention: FindMentions,
) -> set[str]:
    """Return the files of types that may implement other interfaces now, without naming them.

    A type and its methods may be in several files of a package.
    """
    found: set[str] = set()
    owners = {owner for names in named.values() for owner in names.owners}
    packages = {_get_place(files, path) for path, names in named.items() if names.owners}
    if owners:
        found |= {path for path in await mention(owners) if _get_place(files, path) in packages}
    changed = {path for path, names in named.items() if names.has_interfaces}
    if changed:
        packages = {_get_place(files, path) for path in (*mentioning, *changed)}
        found |= {path for path in files if _get_place(files, path) in packages}
    return found & files.keys()


def _get_place(files: Mapping[str, File], path: str) -> tuple[str, str | None]:
    """Return the directory of a file and the family of its language."""
    file = files.get(path)
    return path.rpartition("/")[0], find_family(file.language) if file else None


async def is_unmentioned(changed: Mapping[str, ChangedNames | None], mention: FindMentions) -> bool:
    """Tell whether no other file mentions what changed: then no other is affected.

    A file that imports one of these names under another mentions it there.
    """
    named = [names for names in changed.values() if names is not None]
    words = {word for names in named for word in names.words | names.owners}
    many = len(words) > MANY_NAMES
    if many or None in changed.values() or any(names.has_interfaces for names in named):
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
