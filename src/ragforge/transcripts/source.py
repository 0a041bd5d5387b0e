"""Source: where an agent keeps its transcripts, and how one of them is read.

What an importer may rely on, for every agent alike:

1. `SOURCES` in `sources.py` lists all agents. `find` lists the transcripts of one; it never
   raises. A transcript is a file: a session's lines, or a database of many sessions.
2. `stamp` is cheap. A transcript with the same stamp has nothing new and need not be read.
3. `read` yields pieces. Store the steps of a piece and its cursor in one transaction; give the
   cursor back to `read` the next time. Cursors are JSON and opaque. A cursor that does not fit
   the file any more (it was shortened, rewritten, or is another file) is not an error: it is
   read from its beginning, and what was stored before is known by its ids.
4. A piece holds at most about a megabyte of the transcript, or one line where that is longer
   (up to 64 MB). A file that is one piece of JSON is one piece. A piece without entries only
   moves the cursor. Different threads may read pieces, one after the other.
5. One `SessionBuilder` per transcript makes steps of the entries. Before it gets those of a
   piece, it is given what the store knows: see its `list_needs`. Its `save` belongs to the cursor.
6. Texts are valid Unicode, moments have a time zone, arguments and outputs are JSON.
7. `read` raises OSError for a file that is gone or may not be read, and TranscriptUnreadable with
   a sentence for one that cannot be understood at all. Everything else that is odd is counted in
   `unknown` and `skipped`, and reading continues.

Nothing here writes to a transcript, locks it or moves it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Protocol

from ragforge.domain.text import Json
from ragforge.errors import TranscriptUnreadable
from ragforge.records import dataclass
from ragforge.transcripts import files
from ragforge.transcripts.fields import BAD, parse_json, parse_line
from ragforge.transcripts.reader import SessionReader
from ragforge.transcripts.record import Entry

MAX_LISTED = 20
"""How many skipped lines a piece lists; it counts the others."""


PIECE_BYTES = 1024 * 1024
"""A piece ends with the line that reaches this size."""
FORMAT = 3
"""The format of the state in a cursor; with another one, a file is read from its beginning."""

Unpack = Callable[[Json], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that could not be read, and why."""

    number: int  # in the file, from 1; of the message where a file has no lines
    reason: str


class SkippedLines:
    """Collects the lines of a piece that could not be read."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.lines: list[SkippedLine] = []

    def add(self, number: int, reason: str) -> None:
        self.counts[reason] += 1
        if len(self.lines) < MAX_LISTED:
            self.lines.append(SkippedLine(number, reason))

    def list_after(self, count: int) -> tuple[SkippedLine, ...]:
        """Return the lines, which follow `count` others in the file."""
        return tuple(replace(one, number=count + one.number) for one in self.lines)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some entries of a transcript, and the cursor after them."""

    entries: tuple[Entry, ...] = ()
    cursor: Json = None
    size: int = 0  # bytes that were read for it, to show progress
    lines: int = 0  # or rows, or messages: what the agent wrote one of at a time
    unknown: Mapping[str, int] = field(default_factory=dict)  # kind of record → how many
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason → how many lines
    skipped_lines: tuple[SkippedLine, ...] = ()  # the first of them


class TranscriptSource(Protocol):
    """An agent and its transcripts."""

    @property
    def name(self) -> str:
        """The name that is typed and stored, such as `claude-code`."""

    @property
    def title(self) -> str:
        """The name that is shown, such as `Claude Code`."""

    def find(
        self, home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()
    ) -> Iterable[Path]:
        """Return the transcripts that are there, parents before their sub-agents.

        `projects` are folders that may hold some: aider keeps its history in them.
        """

    def fits(self, path: Path) -> bool:
        """Tell by its path whether a file may be one of them, in any folder."""

    def stamp(self, path: Path) -> str:
        """Return a value that changes whenever the transcript does. Raises OSError."""

    def read(self, path: Path, cursor: Json = None) -> Iterator[Piece]:
        """Yield the entries of a transcript after a cursor, or all of them.

        Raises OSError and TranscriptUnreadable.
        """


def stamp_files(*paths: Path) -> str:
    """Return size, time and identity of files; those after the first may be missing.

    Raises OSError if the first is gone or is not a regular file.
    """
    stamps = []
    for number, path in enumerate(paths):
        try:
            facts = os.stat(path)
            if number == 0:
                files.check_regular(path, facts)
        except OSError:
            if number == 0:
                raise
            continue
        stamps.append(f"{facts.st_size}.{facts.st_mtime_ns}.{facts.st_ino}")
    return "-".join(stamps)


@dataclass(frozen=True, slots=True)
class FileSource:
    """An agent whose files are read by a function."""

    name: str
    title: str
    find: Callable[..., Iterable[Path]]
    fits: Callable[[Path], bool]
    read: Callable[..., Iterator[Piece]]
    stamp: Callable[[Path], str] = stamp_files


@dataclass(frozen=True, slots=True)
class LineSource:
    """An agent that writes a line of JSON for each event, and how one file is read."""

    name: str
    title: str
    find: Callable[..., Iterable[Path]]
    fits: Callable[[Path], bool]
    open: Callable[[Path], SessionReader]
    unpack: Unpack | None = None  # a file that is one piece of JSON, as lines

    def stamp(self, path: Path) -> str:
        return stamp_files(path)

    def read(self, path: Path, cursor: Json = None) -> Iterator[Piece]:
        reader = self.open(path)
        if self.unpack is not None and path.suffix == ".json":
            yield _read_whole(path, reader, self.unpack)
            return
        fields = cursor if isinstance(cursor, dict) and cursor.get("format") == FORMAT else {}
        with files.open_lines(path, fields.get("position")) as lines:
            if lines.continues:
                reader.load(fields["state"])
            for batch in _batch(_list_complete(lines)):
                skipped = SkippedLines()
                entries = [e for line in batch for e in _read_line(line, reader, skipped)]
                unknown, reader.unknown = reader.unknown, Counter()
                position = lines.mark(batch[-1].end)
                state = {"format": FORMAT, "position": position, "state": reader.save()}
                size = batch[-1].end - batch[0].start
                listed = skipped.list_after(lines.count_before) if skipped.lines else ()
                yield Piece(
                    entries=tuple(entries),
                    cursor=state,
                    size=size,
                    lines=len(batch),
                    unknown=unknown,
                    skipped=skipped.counts,
                    skipped_lines=listed,
                )


def _read_whole(path: Path, reader: SessionReader, unpack: Unpack) -> Piece:
    """Return all of a file that is one piece of JSON; it is rewritten whenever it changes."""
    with files.open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > files.MAX_LINE:
            raise TranscriptUnreadable(path, "it is longer than 64 MB")
        value = parse_json(file.read())
    if value is BAD:
        raise TranscriptUnreadable(path, "it is not JSON, or not written to its end yet")
    entries: list[Entry] = []
    skipped = SkippedLines()
    count = 0
    for count, message in enumerate(unpack(value), 1):
        if isinstance(message, dict):
            entries += reader.read(message)
        else:
            skipped.add(count, "not an object")
    listed = skipped.list_after(0)
    return Piece(tuple(entries), None, size, count, reader.unknown, skipped.counts, listed)


def _list_complete(lines: files.Lines) -> Iterator[files.Line]:
    """Yield the lines, also a last one without an end if it holds all of its object."""
    yield from lines
    rest = lines.rest
    if rest is not None and isinstance(parse_json(rest.data or b""), dict):
        yield rest


def _batch(lines: Iterable[files.Line]) -> Iterator[list[files.Line]]:
    """Yield lines in batches whose size is bounded."""
    batch: list[files.Line] = []
    for line in lines:
        if batch and line.end - batch[0].start > PIECE_BYTES:
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


def _read_line(line: files.Line, reader: SessionReader, skipped: SkippedLines) -> Iterator[Entry]:
    if line.data is None:
        skipped.add(line.number, files.TOO_LONG)
    elif line.data.strip():
        found = parse_line(line.data)
        if not found:
            skipped.add(line.number, "not JSON")
        for content in found:
            yield from reader.read(content)
