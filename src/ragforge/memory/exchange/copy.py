"""Copy: copy all records of a store into another one, whatever their engines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragforge.errors import CopyIncomplete
from ragforge.ports.archive import RECORD_KINDS, Archive, RecordKind

PAGE = 200


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """The progress of a copy with one kind of record."""

    kind: RecordKind
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a finished copy contains."""

    counts: Mapping[RecordKind, int]
    resumed: bool


@dataclass(frozen=True, slots=True)
class _Bookmark:
    """Where an earlier copy stopped: everything before it is copied."""

    kind: RecordKind
    after: str | None
    done: int


async def copy_store(
    source: Archive,
    target: Archive,
    name: str,
    on_progress: Callable[[CopyProgress], None],
) -> CopyReport:
    """Copy every record; an interrupted copy continues where it stopped.

    `name` identifies the copies of different sources.
    Raises CopyIncomplete if the destination lacks records in the end.
    """
    mark = await _read_bookmark(target, name)
    start = 0 if mark is None else RECORD_KINDS.index(mark.kind)
    for kind in RECORD_KINDS[start:]:
        begin = mark if mark is not None and mark.kind == kind else _Bookmark(kind, None, 0)
        await _copy_kind(source, target, name, begin, on_progress)
    counts = await _verify(source, target)
    await target.set_bookmark(name, None)
    return CopyReport(counts, resumed=mark is not None)


async def _copy_kind(
    source: Archive,
    target: Archive,
    name: str,
    begin: _Bookmark,
    on_progress: Callable[[CopyProgress], None],
) -> None:
    total = await source.count(begin.kind)
    after, done = begin.after, begin.done
    on_progress(CopyProgress(begin.kind, done, total))
    while page := await source.read(begin.kind, after, PAGE):
        await target.write(begin.kind, [record for _, record in page])
        after, done = page[-1][0], done + len(page)
        # After the records: a crash in between repeats a page, and loses none.
        await target.set_bookmark(name, json.dumps([begin.kind, after, done]))
        on_progress(CopyProgress(begin.kind, done, max(total, done)))


async def _verify(source: Archive, target: Archive) -> dict[RecordKind, int]:
    counts = {}
    for kind in RECORD_KINDS:
        wanted, found = await source.count(kind), await target.count(kind)
        if found < wanted:
            raise CopyIncomplete(
                f"The copy holds {found} of {wanted} {kind} records: the source changed "
                "meanwhile. Run the same copy again."
            )
        counts[kind] = wanted
    return counts


async def _read_bookmark(target: Archive, name: str) -> _Bookmark | None:
    text = await target.bookmark(name)
    if text is None:
        return None
    kind, after, done = json.loads(text)
    return _Bookmark(kind, after, done)
