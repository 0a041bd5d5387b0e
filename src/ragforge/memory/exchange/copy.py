"""Copy: copy all records of a store into another one, whatever their engines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ragforge.errors import CopyIncomplete, StoreError, StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.archive import Archive, Record, RecordKind, list_record_kinds
from ragforge.records import dataclass

Translate: TypeAlias = Callable[[RecordKind, Record], Record]
"""Returns a record as the destination calls it."""

PAGE = 1_000
PASSES = 4
"""How often a source that changes is copied before giving up."""
_BOOKMARKS = ("bookmark", None, 1_000)
"""All bookmarks of a store: one for each copy that was interrupted."""


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
    translate: Translate = lambda _, record: record,
) -> CopyReport:
    """Copy every record; an interrupted copy continues where it stopped.

    If the source changed meanwhile, what is missing is copied by a further pass.
    `name` identifies the copies of different sources.
    Raises CopyIncomplete if the destination lacks records in the end.
    """
    name = REDACTOR.redact(name)  # the address of a source may hold a password
    mark = await _read_bookmark(target, name)
    resumed = mark is not None
    for left in reversed(range(PASSES)):
        try:
            await _copy_all(source, target, name, mark, on_progress, translate)
            counts = await _verify(source, target)
        except StoreUnavailable:
            raise
        except StoreError as error:
            # The next pass, or the next run, begins anew: what came meanwhile may stand before
            # the bookmark.
            await _set_bookmark(target, name, None)
            if not left:
                raise CopyIncomplete(f"The copy could not be completed. {error}") from error
            mark = None
        else:
            await _set_bookmark(target, name, None)
            return CopyReport(counts, resumed)
    raise AssertionError("the last pass returns or raises")


async def _copy_all(
    source: Archive,
    target: Archive,
    name: str,
    mark: _Bookmark | None,
    on_progress: Callable[[CopyProgress], None],
    translate: Translate,
) -> None:
    kinds = list_record_kinds()
    for kind in kinds[0 if mark is None else kinds.index(mark.kind) :]:
        begin = mark if mark is not None and mark.kind == kind else _Bookmark(kind, None, 0)
        await _copy_kind(source, target, name, begin, on_progress, translate)


async def _copy_kind(
    source: Archive,
    target: Archive,
    name: str,
    begin: _Bookmark,
    on_progress: Callable[[CopyProgress], None],
    translate: Translate,
) -> None:
    total = await source.count(begin.kind)
    after, done = begin.after, begin.done
    on_progress(CopyProgress(begin.kind, done, total))
    if not total:
        return  # what comes meanwhile is missed when all is counted, and copied by a further pass
    while page := await source.read(begin.kind, after, PAGE):
        records = [translate(begin.kind, record) for _, record in page]
        after, done = page[-1][0], done + len(page)
        bookmark = {"name": name, "value": json.dumps([begin.kind, after, done])}
        await target.write({begin.kind: records, "bookmark": [bookmark]})
        on_progress(CopyProgress(begin.kind, done, max(total, done)))


async def _verify(source: Archive, target: Archive) -> dict[RecordKind, int]:
    counts = {}
    for kind in list_record_kinds():
        wanted, found = await source.count(kind), await target.count(kind)
        if found < wanted:
            raise CopyIncomplete(
                f"The copy holds {found} of {wanted} {kind} records: the source changed "
                "meanwhile. Run the same copy again."
            )
        counts[kind] = wanted
    return counts


async def _read_bookmark(target: Archive, name: str) -> _Bookmark | None:
    known = {record["name"]: record["value"] for _, record in await target.read(*_BOOKMARKS)}
    text = known.get(name)
    return None if text is None else _Bookmark(*json.loads(str(text)))


async def _set_bookmark(target: Archive, name: str, value: str | None) -> None:
    await target.write({"bookmark": [{"name": name, "value": value}]})
