"""Usage: what requests took is stored once, belongs to its session and travels with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragforge.domain.chat import UsageFilter, UsageRecord
from ragforge.domain.schema import CONVERSATION, USAGE
from ragforge.domain.transcripts import (
    IntakeStep,
    NewConversation,
    NewMessage,
    ReportedUsage,
    TranscriptCursor,
)
from ragforge.errors import ConversationNotFound, DuplicateId, NotAuthor
from ragforge.memory.export_format.reader import import_conversation
from ragforge.memory.export_format.writer import export_conversation, to_bytes
from ragforge.memory.store_copy import copy_store
from ragforge.ports.store import Store
from tests.fakes.authors import ANN, ANN_KEY, BOB, BOB_KEY
from tests.fakes.builders import at, conversation, user
from tests.fakes.engines import Engines
from tests.fakes.secrets import made

SECRET = "ghp_" + made(36)
EVERY = UsageFilter()


def request(uuid: str = "r1", talk: str = "talk", **more: object) -> UsageRecord:
    given = {"input_tokens": 900, "output_tokens": 40, "cached_tokens": 800, "usd": 0.25}
    given |= {"model": "gpt-5", "uuid": uuid, "created_at": at(0), **more}
    return UsageRecord(talk, **given)  # type: ignore[arg-type]


def report(uuid: str = "r1", talk: str = "talk", **more: object) -> ReportedUsage:
    return ReportedUsage(request(uuid, talk, **more))


async def test_it_is_stored_found_by_session_and_time_and_grows(store: Store) -> None:
    for name in ("talk", "other"):
        await store.records.put(CONVERSATION, conversation(uuid=name))
    first, second = request(), request("r2", "other", created_at=at(9), usd=None, model=None)
    await store.records.put(USAGE, second, first)

    find = store.records.find
    assert await find(USAGE, EVERY) == [first, second]
    assert await find(USAGE, UsageFilter(["other"])) == [second]
    assert await find(USAGE, UsageFilter(since=at(5))) == [second]
    assert await find(USAGE, UsageFilter(until=at(5))) == [first]
    grown = replace(first, output_tokens=70, requests=2)
    await store.records.put(USAGE, grown)
    assert await find(USAGE, EVERY) == [grown, second]
    with pytest.raises(ConversationNotFound):
        await store.records.put(USAGE, request("r3", "nowhere"))


async def test_it_is_deleted_with_its_session(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    await store.records.put(USAGE, request())
    await store.records.delete(CONVERSATION, "talk")
    assert await store.records.find(USAGE, EVERY) == []


async def test_it_is_private_with_its_session(store: Store, engine: str, engines: Engines) -> None:
    ann, bob = await engines.open(engine, ANN_KEY), await engines.open(engine, BOB_KEY)
    hidden = conversation(uuid="talk", author=ANN, visibility="private")
    await ann.records.put(CONVERSATION, hidden)
    await ann.records.put(USAGE, request())
    assert len(await ann.records.find(USAGE, EVERY)) == 1
    assert await bob.records.find(USAGE, EVERY) == []
    await ann.records.update(CONVERSATION, "talk", lambda talk: replace(talk, visibility="shared"))
    assert len(await bob.records.find(USAGE, EVERY)) == 1
    with pytest.raises(NotAuthor):
        await bob.records.put(USAGE, request("r2"))
    await bob.records.put(CONVERSATION, conversation(uuid="his", author=BOB))
    with pytest.raises(DuplicateId):
        await bob.records.put(USAGE, request("r1", "his"))


async def test_it_is_exported_and_imported_and_a_copy_costs_nothing(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    await store.records.put(USAGE, request())
    document = to_bytes(await export_conversation(store.archive, "talk"))

    copied = await import_conversation(store.archive, document, as_new=True)
    assert await store.records.find(USAGE, UsageFilter([copied.conversation.uuid])) == []
    await store.records.delete(CONVERSATION, "talk")
    await import_conversation(store.archive, document.replace(b"gpt-5", SECRET.encode()))

    [found] = await store.records.find(USAGE, EVERY)
    assert replace(found, model="gpt-5") == request()
    assert found.model == "[redacted: GitHub token]"


async def test_it_is_copied_to_another_store(
    store: Store, engines: Engines, tmp_path: Path
) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    await store.records.put(USAGE, request())
    (tmp_path / "there").mkdir()
    target = await engines.open_at(str(tmp_path / "there" / "copy.db"))
    counted = await copy_store(store.archive, target.archive, "copy", lambda _: None)
    assert counted.counts["usage"] == 1
    assert await target.records.find(USAGE, EVERY) == [request()]


async def take_in(store: Store, name: str, *steps: IntakeStep) -> None:
    cursor = TranscriptCursor("codex", "host", f"/home/ann/{name}", "", None)
    known = await store.transcripts.cursor("codex", "host", cursor.path)
    assert await store.transcripts.take_in(replace(cursor, revision=known.revision), steps)


def begin(talk: str) -> NewConversation:
    return NewConversation(conversation(uuid=talk, agent="codex"))


async def test_of_several_reports_the_largest_is_kept(store: Store) -> None:
    said = NewMessage("talk", user("Why?", uuid="m"))
    await take_in(store, "1", begin("talk"), said, report(output_tokens=1), report())
    await take_in(store, "1", report(output_tokens=7), report("r2", output_tokens=2))
    found = await store.records.find(USAGE, EVERY)
    assert [(one.uuid, one.output_tokens) for one in found] == [("r1", 40), ("r2", 2)]
    await take_in(store, "1", report(output_tokens=41))
    assert (await store.records.find(USAGE, EVERY))[0].output_tokens == 41


async def test_a_request_stays_with_the_session_that_had_it_first(store: Store) -> None:
    first = (begin("talk"), NewMessage("talk", user("Why?", uuid="m1")), report())
    fork = (begin("fork"), NewMessage("fork", user("And?", uuid="m2")))
    await take_in(store, "1", *first)
    await take_in(store, "2", *fork, report(talk="fork", output_tokens=99), report("r2", "fork"))
    found = await store.records.find(USAGE, EVERY)
    assert [(one.uuid, one.conversation_id) for one in found] == [("r1", "talk"), ("r2", "fork")]


async def test_what_was_deleted_or_is_another_authors_gets_no_usage(
    store: Store, engine: str, engines: Engines
) -> None:
    ann, bob = await engines.open(engine, ANN_KEY), await engines.open(engine, BOB_KEY)
    steps = (
        NewConversation(conversation(uuid="talk", agent="codex", author=ANN)),
        NewMessage("talk", user("Why?", uuid="m")),
    )
    await take_in(ann, "1", *steps)
    await take_in(bob, "2", report())
    await take_in(ann, "3", report("r2", "nowhere"), report(f"key {SECRET}", model=SECRET))
    [found] = await store.records.find(USAGE, EVERY)
    assert found.model == "[redacted: GitHub token]"
    await ann.records.delete(CONVERSATION, "talk")
    await take_in(ann, "4", report("r4"))
    assert await store.records.find(USAGE, EVERY) == []
