"""File scopes: the scopes of a file, with source, hash and stable id, ready to be stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from ragforge.brain.ids import hash_content, make_id
from ragforge.brain.parse.outline import Definition, Outline
from ragforge.domain.code import MODULE, SECTION, SMALL, Scope

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
