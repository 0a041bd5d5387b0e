"""Line source: an agent that writes a line of JSON for each thing that happens."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.errors import TranscriptUnreadable
from ragforge.records import dataclass
from ragforge.transcripts.fields import BAD, parse_json, parse_line
from ragforge.transcripts.files import open_regular
from ragforge.transcripts.lines import MAX_LINE, TOO_LONG, Line, Lines, open_lines
from ragforge.transcripts.reader import SessionReader
from ragforge.transcripts.record import Entry
from ragforge.transcripts.source import Piece, SkippedLines, stamp_files

PIECE_BYTES = 1024 * 1024
"""A piece ends with the line that reaches this size."""
FORMAT = 2
"""The format of the state in a cursor; with another one, a file is read from its beginning."""

Unpack = Callable[[Json], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class LineSource:
    """Where an agent keeps its files of lines, and who reads one of them."""

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
        with open_lines(path, fields.get("position")) as lines:
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
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_LINE:
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


def _list_complete(lines: Lines) -> Iterator[Line]:
    """Yield the lines, also a last one without an end if it holds all of its object."""
    yield from lines
    rest = lines.rest
    if rest is not None and isinstance(parse_json(rest.data or b""), dict):
        yield rest


def _batch(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield lines in batches whose size is bounded."""
    batch: list[Line] = []
    for line in lines:
        if batch and line.end - batch[0].start > PIECE_BYTES:
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


def _read_line(line: Line, reader: SessionReader, skipped: SkippedLines) -> Iterator[Entry]:
    if line.data is None:
        skipped.add(line.number, TOO_LONG)
    elif line.data.strip():
        found = parse_line(line.data)
        if not found:
            skipped.add(line.number, "not JSON")
        for content in found:
            yield from reader.read(content)
