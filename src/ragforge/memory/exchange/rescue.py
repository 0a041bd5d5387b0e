"""Rescue: save what can still be read of a damaged store, session by session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

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
from ragforge.errors import InputError, StoreError, StoreFull
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.archive import Archive
from ragforge.ports.store import Store

PAGE = 50
LOST_TITLE = "(the title is lost)"


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
    """Save each session, or its readable messages, and the notes; code is ingested anew.

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
    """Return a session, or one for messages whose session is lost. Raises StoreError.

    Whether it was private is lost too, so that it is.
    """
    try:
        return await source.records.get(CONVERSATION, conversation_id)
    except (StoreError, ValueError, TypeError):
        if not messages:
            raise
    author = next((one.author for one in messages if one.author), None)
    path = session.project_id
    with suppress(StoreError, ValueError, TypeError):
        for _, record in await source.archive.read("checkout", None, PAGE):
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
        while page := await source.read("note", after, PAGE):
            await target.write({"note": [record for _, record in page]})
            after, report.notes = page[-1][0], report.notes + len(page)
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        report.notes_lost = True
