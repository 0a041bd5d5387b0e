"""Rescue: save what can still be read of a damaged store, session by session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragforge.domain.conversation_bundle import ConversationBundle
from ragforge.domain.conversations import Message
from ragforge.errors import InputError, StoreError, StoreFull
from ragforge.ports.archive import Archive
from ragforge.ports.store import Store

PAGE = 50


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
    ids: Sequence[str],
    target: Archive,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> RescueReport:
    """Save each session, or its readable messages, and the notes; code is ingested anew.

    Raises StoreFull if the target has no room.
    """
    report = RescueReport()
    for done, conversation_id in enumerate(ids):
        on_progress(done, len(ids))
        await _rescue_session(source, conversation_id, target, report)
    on_progress(len(ids), len(ids))
    await _rescue_notes(source.archive, target, report)
    return report


async def _rescue_session(
    source: Store, conversation_id: str, target: Archive, report: RescueReport
) -> None:
    try:
        await target.add_conversation(await source.archive.conversation(conversation_id))
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        await _rescue_messages(source, conversation_id, target, report)
    else:
        report.saved.append(conversation_id)


async def _rescue_messages(
    source: Store, conversation_id: str, target: Archive, report: RescueReport
) -> None:
    """Save the turns of a session that can be read, without what was made of them."""
    try:
        conversation = await source.conversations.get(conversation_id)
        turns = max(conversation.turn_count, 0)
        messages: list[Message] = []
        for turn in range(turns + 1):
            try:
                messages += await source.conversations.messages(conversation_id, turn, turn)
            except (StoreError, ValueError, TypeError):
                continue
        await target.add_conversation(ConversationBundle(conversation, tuple(messages)))
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        report.lost.append(conversation_id)
    else:
        report.partly[conversation_id] = len(messages)


async def _rescue_notes(source: Archive, target: Archive, report: RescueReport) -> None:
    after: str | None = None
    try:
        while page := await source.read("note", after, PAGE):
            await target.write("note", [record for _, record in page])
            after, report.notes = page[-1][0], report.notes + len(page)
    except StoreFull:
        raise
    except (StoreError, InputError, ValueError, TypeError):
        report.notes_lost = True
