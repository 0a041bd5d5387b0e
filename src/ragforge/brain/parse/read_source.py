"""Read source: one file of a project, parsed and ready to be stored, in any process."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.compare import PARSED, mark_skipped
from ragforge.brain.files.exclusions import SkipReason, check_content, decode
from ragforge.brain.languages.language import Import
from ragforge.brain.languages.table import detect_language, find_language, has_grammar, is_document
from ragforge.brain.parse.documents import (
    FORMATS,
    NOTEBOOK,
    is_prose,
    outline_markdown,
    outline_notebook,
    outline_prose,
)
from ragforge.brain.parse.outline import (
    Outline,
    build_scopes,
    is_too_dense,
    make_scope_ids,
    outline_chunks,
)
from ragforge.brain.parse.tree import TooCostly, is_repetitive, outline_tree
from ragforge.domain.code import SECTION, File, ParsedFile, hash_content, make_id
from ragforge.records import dataclass

RECENT_SECONDS = 2.0
"""A file that changed so shortly before it was read may change again without another time: its
time is not stored, so that the next run reads it again."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read, or why it was not."""

    path: str
    parsed: ParsedFile | None = None
    outline: Outline | None = None  # None: not worth parsing
    ids: tuple[str, ...] = ()
    skipped: SkipReason | None = None


def make_file_id(project_id: str, path: str) -> str:
    return make_id(project_id, "file", path)


class NeedsFence(Exception):
    """A file must be parsed in a process that can be killed."""


def read_file(
    root: str,
    project_id: str,
    path: str,
    mtime_ns: int,
    known_hash: str | None = None,
    *,
    is_fenced: bool = True,
) -> ReadFile:
    """Read and parse a file. If it still has the known hash, it is not parsed.

    Raises NeedsFence for a file that may take forever, unless this process is fenced.
    """
    try:
        data = read_bytes(root, path)
    except OSError:
        return ReadFile(path, skipped="unreadable")
    found = hash_content(data)
    uuid, mtime = make_file_id(project_id, path), round_time(mtime_ns)
    if found == known_hash:
        same = File(path, found, uuid, size=len(data), mtime=mtime)
        return ReadFile(path, ParsedFile(same))
    if reason := check_content(path, data):
        skipped = File(path, found, uuid, size=len(data), mtime=mtime, state=mark_skipped(reason))
        return ReadFile(path, ParsedFile(skipped), skipped=reason)
    if not is_fenced and find_language(detect_language(path)) and is_repetitive(data):
        raise NeedsFence
    text = decode(data)
    outline = parse(path, text)
    reduced = outline.reduced
    if is_too_dense(outline, text):
        outline, reduced = _outline_plainly(outline.language, path, text), "outline"
    ids = tuple(make_scope_ids(project_id, path, outline))
    stored = File(
        path=path,
        hash=found,
        uuid=uuid,
        # So a later run with the grammar knows which files to read again.
        kind="document" if is_document(outline.language) or reduced == "no grammar" else "code",
        language=outline.language,
        size=len(data),
        mtime=mtime,
        state=PARSED,
        imports=tuple(format_import(found, outline) for found in outline.imports),
    )
    scopes = build_scopes(path, outline, text, ids)
    return ReadFile(path, ParsedFile(stored, scopes), outline, ids, reduced)


def _outline_plainly(language: str | None, path: str, text: str) -> Outline:
    """Return the outline of a file in chunks. Those of a document are found as its sections are."""
    if is_document(language):
        return outline_chunks(language or "text", path, text, SECTION)
    return outline_chunks("text", path, text)


def format_import(found: Import, outline: Outline) -> str:
    """Return an import as it is stored with its file: the module, and the names taken from it.

    It holds all that other files may see, so that a change of a re-export is noticed: the
    local names, and whether they hold in the whole file.
    """
    parts = [name if name == local else f"{name} as {local}" for name, local in found.names]
    if found.alias not in ("", found.module):
        parts.append(f" as {found.alias}")
    if found.wildcard:
        parts.append("*")
    inner = outline.definitions[1:]
    # A quick check first: most imports precede all definitions, which are sorted by line.
    if (
        inner[:1]
        and inner[0].start_line < found.line
        and any(scope.start_line < found.line <= scope.end_line for scope in inner)
    ):
        parts.append(" as inner")
    return "\t".join((found.module, *parts))


def round_time(mtime_ns: int) -> datetime | None:
    """Return a file's time, to the millisecond, or None if it is not reliable.

    It is not if it is too recent, in the future, or before 1970.
    """
    if not 0 <= mtime_ns / 1e9 <= time.time() - RECENT_SECONDS:
        return None
    return datetime.fromtimestamp(mtime_ns // 1_000_000 / 1000, UTC)


def parse(path: str, text: str) -> Outline:
    """Return the outline of a file. It never raises: any text has an outline."""
    name = detect_language(path) or "text"
    if name == "markdown":
        return outline_markdown(path, text)
    if name in FORMATS and is_prose(path):
        return outline_prose(name, path, text)
    if name == NOTEBOOK:
        return outline_notebook(path, text) or outline_chunks("json", path, text)
    language = find_language(name)
    if language is not None and language.detect_dialect is not None:
        language = find_language(language.detect_dialect(path, text))
    if language is None:
        return outline_chunks(name, path, text)
    if not has_grammar(language.name):
        return replace(outline_chunks(language.name, path, text), reduced="no grammar")
    try:
        return outline_tree(language, path, text)
    except TooCostly:
        return replace(outline_chunks("text", path, text), reduced="costly")
