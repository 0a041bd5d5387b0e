"""Outline: the scopes of a file, ready to be stored, and the names that become relations.

Text without a grammar has an outline of chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePosixPath

from ragforge.brain.files.exclusions import SkipReason
from ragforge.brain.languages.language import Import
from ragforge.domain.code import CHUNK, MODULE, SECTION, SMALL, Scope, hash_content, make_id
from ragforge.records import dataclass

MAX_SIGNATURE_CHARS = 300
MAX_DOCSTRING_CHARS = 2_000

TYPES = frozenset(("class", "interface", "struct", "enum", "trait", "object", "type"))
"""Types of values; they may be inherited from."""
CONTAINERS = TYPES | {"impl"}
"""Definitions with members."""
SPACES = frozenset(("module", "namespace"))
"""Definitions that only hold names."""
HOLDERS = CONTAINERS | SPACES
"""Definitions that hold others."""

TARGET_LINES = 60
_SHORTEST, _LONGEST = 40, 80  # a blank line in this range is preferred to the target
MAX_SOURCE_CHARS = 100_000
MAX_SCOPES = 20_000
MAX_COPIES = 16
"""How often a file's text may be in the scopes of it, counting what is inside inner ones."""
SMALL_CHARS = 100_000
"""A file may always have this much text in its scopes."""
SCOPE_CHARS = 500
SECTION_CHARS = 2_000
"""What each scope counts in addition to its text. In a store it takes about 2,000 bytes: row,
indexes, vector. Of code less is counted, since a long list of declarations is worth it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines; they count from 1 and both ends are included.

    `calls` and `uses` are names in its own body, not in inner definitions. A function that is
    given as a value counts as a call. Their parts are
    joined by dots in every language. A name starts with a dot if what precedes it is
    computed: `f(x).save` gives `.save`.
    """

    name: str
    qualified_name: str
    type: str
    start_line: int  # of the decorators or the comment above it
    end_line: int
    signature: str = ""
    docstring: str = ""
    parent: int | None = None  # index of the enclosing definition in the outline
    bases: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()  # of variables and fields: `brain.parse.names`
    text: str | None = None  # its text, if that differs from the lines of the file


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file defines, imports and uses."""

    language: str | None
    definitions: tuple[Definition, ...]  # by start line, an outer one before its inner ones
    imports: tuple[Import, ...] = ()
    damaged: bool = False  # the file has syntax errors; the scopes around them are here
    reduced: SkipReason | None = None  # why something is missing


def outline_chunks(language: str, path: str, text: str, type_: str = CHUNK) -> Outline:
    """Return the outline of a text in chunks of about sixty lines, cut at blank lines."""
    lines = text.removeprefix("\ufeff").rstrip().split("\n")
    filename = PurePosixPath(path).name
    found: list[Definition] = []
    first = 0
    while first < len(lines):
        if not lines[first].strip():
            first += 1
            continue
        after = cut(lines, first)
        last = after - 1
        while not lines[last].strip():
            last -= 1
        found.append(_build_chunk(type_, filename, lines[first], first + 1, last + 1))
        first = after
    return Outline(language, tuple(found))


def cut(lines: Sequence[str], first: int) -> int:
    """Return the line at which the next chunk starts, counted from 0."""
    if len(lines) - first <= _LONGEST:
        return len(lines)
    target = first + TARGET_LINES
    blank = [line for line in range(first + _SHORTEST, first + _LONGEST) if not lines[line].strip()]
    return min(blank, key=lambda line: abs(line - target), default=target)


def _build_chunk(type_: str, filename: str, first_line: str, start: int, end: int) -> Definition:
    name = f"{filename}:{start}-{end}"
    return Definition(
        name=name,
        qualified_name=name,
        type=type_,
        start_line=start,
        end_line=end,
        signature=" ".join(first_line[: 4 * MAX_SIGNATURE_CHARS].split())[:MAX_SIGNATURE_CHARS],
    )


def is_too_dense(outline: Outline, text: str) -> bool:
    """Tell whether the scopes of a file would take far more room than its text.

    So it is with thousands of definitions on one line: each of them has the line as its source. And
    with headings without text: each is a row.
    """
    if len(outline.definitions) > MAX_SCOPES:
        return True
    is_document = any(found.type == SECTION for found in outline.definitions)
    each = SECTION_CHARS if is_document else SCOPE_CHARS
    ends = list(accumulate(map(len, text.split("\n")), initial=0))  # without the ends of lines
    lines = len(ends) - 1
    chars = sum(
        ends[last := min(found.end_line, lines)]
        - ends[first := min(found.start_line - 1, lines)]
        + last
        - first
        + len(found.qualified_name)
        + len(found.signature)
        + len(found.docstring)
        + each
        for found in outline.definitions
    )
    return chars > SMALL_CHARS + MAX_COPIES * len(text)


def make_scope_ids(project_id: str, path: str, outline: Outline) -> list[str]:
    """Return an id for each definition, made from its file, name and type.

    Definitions that share all of these are numbered in their order.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for definition in outline.definitions:
        key = (definition.qualified_name, definition.type)
        number = seen[key]
        seen[key] += 1
        ids.append(make_scope_id(project_id, path, *key, number))
    return ids


def make_scope_id(project_id: str, path: str, qualified_name: str, type: str, number: int) -> str:
    """Return the id of a scope; `number` counts those before it with the same name and type."""
    return make_id(project_id, path, qualified_name, type, str(number) if number else "")


def build_scopes(path: str, outline: Outline, text: str, ids: Sequence[str]) -> tuple[Scope, ...]:
    """Return the scopes of a file, in the order of its definitions."""
    lines = text.split("\n")
    inner = _list_children(outline.definitions)
    scopes = []
    for number, definition in enumerate(outline.definitions):
        first, last = definition.start_line, min(definition.end_line, len(lines))
        whole = "\n".join(lines[first - 1 : last])
        source = whole if definition.text is None else definition.text
        text = source
        if definition.text is None and inner[number]:
            text = _replace_inner(lines, definition, inner[number])
        signature = _format_signature(definition)
        scopes.append(
            Scope(
                name=definition.name,
                qualified_name=definition.qualified_name,
                type=definition.type,
                file=path,
                start_line=first,
                end_line=max(first, last),
                source=source[:MAX_SOURCE_CHARS],
                hash=hash_content("\0".join((whole, signature, definition.docstring, text))),
                uuid=ids[number],
                language=outline.language,
                signature=signature,
                docstring=definition.docstring,
                search_text=None if text == source else text[:MAX_SOURCE_CHARS],
            )
        )
    return tuple(scopes)


def _format_signature(definition: Definition) -> str:
    marks = " ".join(
        mark if mark[:1] in "@#[" else f"@{mark}" for mark in definition.decorators if mark
    )
    return f"{marks} {definition.signature}".strip()


def _list_children(definitions: Sequence[Definition]) -> list[list[Definition]]:
    """Return the definitions directly inside each one; a module holds the outermost."""
    inner: list[list[Definition]] = [[] for _ in definitions]
    module = next((n for n, d in enumerate(definitions) if d.type == MODULE), None)
    for number, definition in enumerate(definitions):
        parent = definition.parent
        if definition.type in SMALL:  # they keep their lines, with the comments above
            continue
        if parent is None and module is not None and number != module:
            parent = module
        if parent is not None:
            inner[parent].append(definition)
    return inner


def _replace_inner(
    lines: Sequence[str], definition: Definition, inner: Sequence[Definition]
) -> str:
    """Return the lines of a definition, with inner definitions reduced to their signatures.

    So a class or chapter is found by all it holds, and no line is indexed twice.
    """
    kept: list[str] = []
    outside: list[str] = []
    line = definition.start_line
    for child in sorted(inner, key=lambda found: found.start_line):
        if child.start_line > definition.end_line:  # a method outside of its type
            outside.append(child.signature)
            continue
        kept += lines[line - 1 : child.start_line - 1]
        if child.end_line >= line:
            kept.append(_indent(lines[child.start_line - 1], child.signature))
        line = max(line, child.end_line + 1)
    kept += lines[line - 1 : definition.end_line]
    return "\n".join(kept + outside)


def _indent(line: str, signature: str) -> str:
    return line[: len(line) - len(line.lstrip())] + signature
