"""Subjects: the code that a bare or qualified name, a path or a line means.

One subject may be written in several places: a type and its `impl` blocks, a method's overloads,
a class that several files extend, a declaration in a header and its definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragforge.brain.languages.table import detect_language, find_language
from ragforge.brain.parse.outline import HOLDERS, SPACES, TYPES
from ragforge.domain.code import (
    CHUNK,
    MODULE,
    SECTION,
    FileFilter,
    FileLine,
    ScopeFilter,
    ScopeName,
)
from ragforge.domain.schema import FILE, SCOPE_NAME
from ragforge.errors import InputError
from ragforge.ports.store import Store
from ragforge.records import dataclass

MAX_NEAREST = 5
MIN_LIKENESS = 75
"""Of 100: a name that is less similar is not offered."""
_LINE = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d*)(?:-\d+)?(?: .*)?")
_SEPARATOR = re.compile(r"::|#|->|\.")
_TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|specs|__tests__|testing|testdata|fixtures|examples?|benchmarks?)/"
    r"|(?:^|/)(?:test_|conftest)|(?:_test|_spec|[._-]test|\.spec|Tests?|Spec)\.\w+$"
)
_HEADER = (".h", ".hh", ".hpp", ".hxx", ".pyi")


@dataclass(frozen=True, slots=True)
class Subject:
    """A file, or one thing in the code with all places where it is written, the main one first."""

    parts: tuple[ScopeName, ...] = ()
    path: str = ""  # of a whole file; its parts are all scopes in it

    @property
    def ids(self) -> list[str]:
        return [part.uuid for part in self.parts]

    @property
    def is_type(self) -> bool:
        """Whether members belong to it."""
        return not self.path and any(part.type in HOLDERS for part in self.parts)


def is_test(path: str) -> bool:
    """Tell whether a file looks like one of tests, examples or benchmarks."""
    return _TEST.search(path) is not None


def is_whole_file(scope: ScopeName) -> bool:
    """Tell whether a scope is a whole file; modules in a file have the same type."""
    stem = scope.file.rpartition("/")[2].partition(".")[0]
    return scope.type == MODULE and scope.start_line == 1 and scope.name.startswith(stem)


def split_name(name: str) -> list[str]:
    """Return the parts of a qualified name of any language, without `()` and type arguments."""
    plain = re.sub(r"<[^<>]*>|\(.*\)$", "", name.strip())
    return [part for part in _SEPARATOR.split(plain) if part]


async def find_subjects(
    store: Store, project_id: str, name: str, file: str | None = None
) -> list[Subject]:
    """Return what a name may mean, the most likely first; perhaps only in a file.

    It is a name, a qualified name, a path, or `path:line`. Raises InputError if there is none.
    """
    if found := _LINE.fullmatch(name):
        return [await find_at(store, project_id, found["file"], int(found["line"]))]
    is_path = "/" in name or detect_language(name) is not None
    if is_path and (by_path := await _find_files(store, project_id, name)):
        return by_path
    words = split_name(name)
    if not words:
        raise _make_error(name)
    files = None if file is None else [file]
    where = ScopeFilter(project_id, files, {".".join(words), words[-1]})
    named = [
        scope
        for scope in await store.records.find(SCOPE_NAME, where)
        if scope.type not in (SECTION, CHUNK) and _fits(scope, words)
    ]
    if not named:
        every = await store.records.find(SCOPE_NAME, ScopeFilter(project_id, files))
        every = [scope for scope in every if scope.type not in (SECTION, CHUNK)]
        named = _find_endings(every, words)
        if not named:
            raise _make_error(name, _find_nearest(every, words[-1]))
    paths = [scope.file for scope in named if is_whole_file(scope)]
    inner = [scope for scope in named if not is_whole_file(scope)]
    if inner:
        return sorted(_join(inner), key=lambda subject: _rate(subject, words))
    return await _load_files(store, project_id, paths)


def _make_error(name: str, nearest: Sequence[str] = ()) -> InputError:
    similar = f" Similar names: {', '.join(nearest)}." if nearest else ""
    return InputError(f"No code is called {name!r}.{similar}")


async def find_at(store: Store, project_id: str, file: str, line: int) -> Subject:
    """Return what is at a line, with the other places where it is written.

    Raises InputError if there is none.
    """
    [scope] = await store.code.scopes_at(project_id, [FileLine(file, line)])
    if scope is None:
        raise InputError(f"There is no code at {file}:{line}.")
    same = await store.records.find(SCOPE_NAME, ScopeFilter(project_id, names=[scope.name]))
    [own] = [one for one in same if one.uuid == scope.uuid]
    if own.type in (SECTION, CHUNK) or is_whole_file(own):
        return Subject((own,))
    code = [one for one in same if one.type not in (SECTION, CHUNK) and not is_whole_file(one)]
    joined = [subject for subject in _join(code) if own.uuid in subject.ids]
    others = [part for part in joined[0].parts if part.uuid != own.uuid]
    return Subject((own, *others))


async def _find_files(store: Store, project_id: str, name: str) -> list[Subject]:
    path = name.removeprefix("./").rstrip("/")
    if await store.records.find(FILE, FileFilter(project_id, [path])):
        return await _load_files(store, project_id, [path])
    paths = await store.code.file_paths(project_id)
    ends = sorted(one for one in paths if one.endswith(f"/{path}"))
    return await _load_files(store, project_id, ends)


async def _load_files(store: Store, project_id: str, paths: Sequence[str]) -> list[Subject]:
    inner: dict[str, list[ScopeName]] = {path: [] for path in paths}
    if paths:
        for scope in await store.records.find(SCOPE_NAME, ScopeFilter(project_id, list(inner))):
            inner[scope.file].append(scope)
    return [Subject(tuple(scopes), path) for path, scopes in inner.items()]


def _find_endings(scopes: Iterable[ScopeName], words: Sequence[str]) -> list[ScopeName]:
    """Return the scopes whose names have dots and end like this one, or differ only in case."""
    count, ending = len(words), ".".join(words)
    found: list[ScopeName] = []
    alike: list[ScopeName] = []
    for scope in scopes:
        if scope.qualified_name.casefold().endswith(ending.casefold()):
            parts = _SEPARATOR.split(scope.qualified_name)[-count:]
            if parts == [*words]:
                found.append(scope)
            elif ".".join(parts).casefold() == ending.casefold():
                alike.append(scope)
    return found or alike


def _find_nearest(scopes: Iterable[ScopeName], name: str) -> list[str]:
    """Return the names of the project that are spelt most like one."""
    from rapidfuzz import fuzz, process, utils  # only for names that do not exist

    found = process.extract(
        name,
        sorted({scope.name for scope in scopes}),
        scorer=fuzz.ratio,
        processor=utils.default_process,
        limit=MAX_NEAREST,
        score_cutoff=MIN_LIKENESS,
    )
    return [near for near, _, _ in found]


def _fits(scope: ScopeName, words: Sequence[str]) -> bool:
    """Tell whether what precedes a name's last part is around the scope: types or modules."""
    outer = words[:-1]
    if not outer:
        return True
    around = _SEPARATOR.split(scope.qualified_name)[:-1]
    stem = scope.file.rpartition(".")[0]
    place = [part for part in stem.split("/") if part]
    return all(word in around or word in place for word in outer)


def _join(scopes: Iterable[ScopeName]) -> list[Subject]:
    """Return scopes of one name as subjects: each with all its places."""
    groups: dict[tuple[str, ...], list[ScopeName]] = {}
    for scope in scopes:
        groups.setdefault(_make_key(scope), []).append(scope)
    joined = [Subject(tuple(sorted(group, key=_order_parts))) for group in groups.values()]
    return _add_headers(_add_blocks(_leave_out_constructors(joined)))


def _make_key(scope: ScopeName) -> tuple[str, ...]:
    """Return a key that the places of one subject share."""
    language = find_language(detect_language(scope.file))
    if language is not None and scope.type in HOLDERS:
        rules = language.names
        anywhere = scope.type in SPACES or rules.partial_types or rules.modules_are_types
        if anywhere:
            return rules.family, scope.qualified_name
    return scope.file, scope.qualified_name


def _order_parts(scope: ScopeName) -> tuple[bool, bool, int, str, int]:
    """Return the order of a subject's places: the type before its blocks, then the longest."""
    lines = scope.start_line - scope.end_line
    is_header = scope.file.endswith(_HEADER)
    return scope.type not in TYPES, is_header, lines, scope.file, scope.start_line


def _leave_out_constructors(subjects: Sequence[Subject]) -> list[Subject]:
    """Add constructors to their types: they have the same name."""
    types = {(one.parts[0].file, one.parts[0].qualified_name): one for one in subjects}
    kept: dict[int, Subject] = {}
    extra: dict[int, list[ScopeName]] = {}
    for subject in subjects:
        main = subject.parts[0]
        outer = main.qualified_name.rpartition(".")[0]
        holder = types.get((main.file, outer))
        if holder is not None and outer.rpartition(".")[2] == main.name:
            extra.setdefault(id(holder), []).extend(subject.parts)
        else:
            kept[id(subject)] = subject
    return [
        Subject((*subject.parts, *extra.get(key, ()))) for key, subject in kept.items()
    ] or list(subjects)


def _add_blocks(subjects: Sequence[Subject]) -> list[Subject]:
    """Add the `impl` blocks of other files to the only type that they can belong to."""
    blocks = [one for one in subjects if all(part.type == "impl" for part in one.parts)]
    types = [one for one in subjects if one.parts[0].type in TYPES]
    kept, found = [one for one in subjects if one not in blocks], dict[int, list[ScopeName]]()
    for block in blocks:
        name = block.parts[0].qualified_name
        fits = [one for one in types if one.parts[0].qualified_name == name]
        near = [one for one in fits if _is_near(one.parts[0].file, block.parts[0].file)]
        if len(fits) == 1 or len(near) == 1:
            found.setdefault(id((near or fits)[0]), []).extend(block.parts)
        else:
            kept.append(block)
    return [Subject((*one.parts, *found.get(id(one), ()))) for one in kept]


def _is_near(one: str, other: str) -> bool:
    return one.partition("/")[0] == other.partition("/")[0]


def _add_headers(subjects: Sequence[Subject]) -> list[Subject]:
    """Join a declaration in a header with the only definition of that name."""
    groups: dict[str, list[Subject]] = {}
    for one in subjects:
        groups.setdefault(one.parts[0].qualified_name, []).append(one)
    joined: list[Subject] = []
    for group in groups.values():
        headers = [one for one in group if one.parts[0].file.endswith(_HEADER)]
        others = [one for one in group if one not in headers]
        if headers and len(others) <= 1 and len(headers) == 1:
            parts = [part for one in (*others, *headers) for part in one.parts]
            joined.append(Subject(tuple(sorted(parts, key=_order_parts))))
        else:
            joined += group
    return joined


def _rate(subject: Subject, words: Sequence[str]) -> tuple[bool, bool, bool, int, int, str]:
    """Return how likely a subject is meant; the lowest is the most likely."""
    main = subject.parts[0]
    exact = ".".join(words) == main.qualified_name
    depth = main.qualified_name.count(".")
    return (
        not exact,
        is_test(main.file),
        not subject.is_type,
        depth,
        main.file.count("/"),
        main.file,
    )


def is_clear(subjects: Sequence[Subject], name: str) -> bool:
    """Tell whether the first of the subjects of a name is clearly the one that is meant."""
    if len(subjects) < 2:
        return True
    if any(subject.path for subject in subjects):
        return False
    first, second = (_rate(subject, split_name(name))[:3] for subject in subjects[:2])
    return first < second
