"""Store copy: copy all records of a store, or save what a damaged one still has."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, TypeAlias

from ragforge.domain.conversation_bundle import (
    Bundle,
    NamedSession,
    NewBundle,
    add_message,
    decode_messages,
)
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.kinds import Kind
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION, NOTE, REFERENCE, SUMMARY, list_parts
from ragforge.errors import CopyIncomplete, InputError, StoreError, StoreFull, StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Archive, Record, RecordKind, Store, list_record_kinds
from ragforge.records import dataclass

Translate: TypeAlias = Callable[[RecordKind, Record], Record]
"""Returns a record as the destination calls it."""

PAGE = 1_000
PASSES = 4
"""How often a source that changes is copied before giving up."""
_BOOKMARKS = ("bookmark", None, 1_000)
"""All bookmarks of a store: one for each copy that was interrupted."""


RESCUE_PAGE = 50
LOST_TITLE = "(the title is lost)"


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
    copy = _Copy(source, target, name, on_progress, translate)
    mark = await copy.read_bookmark()
    resumed = mark is not None
    for left in reversed(range(PASSES)):
        try:
            await copy.copy_all(mark)
            counts = await copy.verify()
        except StoreUnavailable:
            raise
        except StoreError as error:
            # The next pass, or the next run, starts over: what came meanwhile may be before
            # the bookmark.
            await copy.forget_bookmark()
            if not left:
                raise CopyIncomplete(f"The copy could not be completed. {error}") from error
            mark = None
        else:
            await copy.forget_bookmark()
            return CopyReport(counts, resumed)
    raise AssertionError("the last pass returns or raises")


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of one store to another."""

    source: Archive
    target: Archive
    name: str
    on_progress: Callable[[CopyProgress], None]
    translate: Translate

    async def copy_all(self, mark: _Bookmark | None) -> None:
        kinds = list_record_kinds()
        for kind in kinds[0 if mark is None else kinds.index(mark.kind) :]:
            begin = mark if mark is not None and mark.kind == kind else _Bookmark(kind, None, 0)
            await self._copy_kind(begin)

    async def _copy_kind(self, begin: _Bookmark) -> None:
        kind, after, done = begin.kind, begin.after, begin.done
        total = await self.source.count(kind)
        self.on_progress(CopyProgress(kind, done, total))
        if not total:
            return  # what comes meanwhile is missed by `verify`, and copied by a further pass
        while page := await self.source.read(kind, after, PAGE):
            records = [self.translate(kind, record) for _, record in page]
            after, done = page[-1][0], done + len(page)
            bookmark = {"name": self.name, "value": json.dumps([kind, after, done])}
            await self.target.write({kind: records, "bookmark": [bookmark]})
            self.on_progress(CopyProgress(kind, done, max(total, done)))

    async def verify(self) -> dict[RecordKind, int]:
        """Return how many records there are of each kind. Raises CopyIncomplete if some lack."""
        counts = {}
        for kind in list_record_kinds():
            wanted, found = await self.source.count(kind), await self.target.count(kind)
            if found < wanted:
                raise CopyIncomplete(
                    f"The copy holds {found} of {wanted} {kind} records: the source changed "
                    "meanwhile. Run the same copy again."
                )
            counts[kind] = wanted
        return counts

    async def read_bookmark(self) -> _Bookmark | None:
        for _, record in await self.target.read(*_BOOKMARKS):
            if record["name"] == self.name:
                return _Bookmark(*json.loads(str(record["value"])))
        return None

    async def forget_bookmark(self) -> None:
        await self.target.write({"bookmark": [{"name": self.name, "value": None}]})


@dataclass(slots=True)
class RescueReport:
    """What was saved of a damaged store, and what was not."""

    saved: list[str] = field(default_factory=list)  # ids of sessions that are whole
    partly: dict[str, int] = field(default_factory=dict)  # with how many messages were saved
    lost: list[str] = field(default_factory=list)
    notes: int = 0
    notes_lost: bool = False


async def rescue(
    source: Store,
    named: Mapping[str, NamedSession],
    target: Archive,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> RescueReport:
    """Save each session, or its readable messages, and the notes; code has to be ingested again.

    Raises StoreFull if the target has no room.
    """
    report = RescueReport()
    for done, (conversation_id, session) in enumerate(named.items()):
        on_progress(done, len(named))
        await _rescue_session(source, conversation_id, session, target, report)
    on_progress(len(named), len(named))
    await _rescue_notes(source.archive, target, report)
    return report


async def _rescue_session(
    source: Store,
    conversation_id: str,
    session: NamedSession,
    target: Archive,
    report: RescueReport,
) -> None:
    try:
        bundle = await source.archive.conversation(conversation_id)
        _check(bundle)
        await target.write(bundle, new=True)
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        await _rescue_messages(source, conversation_id, session, target, report)
    else:
        report.saved.append(conversation_id)


def _check(bundle: Bundle) -> None:
    """Raise a ValueError or TypeError if a record cannot be what it should be."""
    decode_messages(bundle)
    kinds: list[Kind[Any, Any]] = [CONVERSATION, SUMMARY, NOTE, REFERENCE, *list_parts()]
    for kind in kinds:
        for row in bundle[kind.name]:
            kind.decode(row)


async def _rescue_messages(
    source: Store,
    conversation_id: str,
    session: NamedSession,
    target: Archive,
    report: RescueReport,
) -> None:
    """Save the turns of a session that can be read, without what was made of them."""
    messages: list[Message] = []
    for turn_id in session.turn_ids:
        with suppress(StoreError, ValueError, TypeError):
            for turn in (await source.timeline.turns([turn_id])).values():
                messages += turn.messages
    messages.sort(key=lambda one: one.position or 0)
    try:
        conversation = await _read_or_invent(source, conversation_id, session, messages)
        talk = CONVERSATION.encode(conversation, REDACTOR)
        bundle: NewBundle = defaultdict(list, conversation=[talk])
        for one in messages:
            encoded = encode_message(one, REDACTOR)
            add_message(bundle, encoded.place(talk, one.turn_index or 0, one.position or 0))
        await target.write(bundle, new=True)
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        report.lost.append(conversation_id)
    else:
        report.partly[conversation_id] = len(messages)


async def _read_or_invent(
    source: Store, conversation_id: str, session: NamedSession, messages: Sequence[Message]
) -> Conversation:
    """Return a session, or a private one for messages whose session is lost. Raises StoreError."""
    try:
        return await source.records.get(CONVERSATION, conversation_id)
    except (StoreError, ValueError, TypeError):
        if not messages:
            raise
    author = next((one.author for one in messages if one.author), None)
    path = session.project_id
    with suppress(StoreError, ValueError, TypeError):
        for _, record in await source.archive.read("checkout", None, RESCUE_PAGE):
            if record["project_id"] == session.project_id:
                path = str(record["path"])
    return Conversation(
        cwd=path,
        project_path=path,
        project_id=session.project_id,
        title=LOST_TITLE,
        uuid=conversation_id,
        author=author,
        visibility="private" if author else "shared",
        created_at=messages[0].timestamp,
        updated_at=messages[-1].timestamp,
    )


async def _rescue_notes(source: Archive, target: Archive, report: RescueReport) -> None:
    after: str | None = None
    try:
        while page := await source.read("note", after, RESCUE_PAGE):
            await target.write({"note": [record for _, record in page]})
            after, report.notes = page[-1][0], report.notes + len(page)
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        report.notes_lost = True
