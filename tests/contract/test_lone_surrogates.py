"""Lone surrogates: text that is not Unicode is refused, and nothing changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.code import CodeReference, FileMention, Relation
from ragforge.domain.conversations import ConversationChanges, ConversationFilter
from ragforge.domain.schema import (
    CONVERSATION,
    JOB,
    MESSAGE,
    MESSAGE_PLACE,
    PROJECT,
    SCOPE,
    SUMMARY,
    TURN,
)
from ragforge.domain.vectors import Vector
from ragforge.domain.work import NewJob
from ragforge.errors import InputError, InvalidText, NotFound
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    parsed,
    project,
    scope,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.code import embed_scopes, find_named, list_files, read_file
from tests.fakes.copying import read_bookmark, set_bookmark
from tests.fakes.engines import counts
from tests.fakes.hostile import NOT_UNICODE as BAD
from tests.fakes.jobs import fail_job

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def unchanged(store: Store) -> AsyncIterator[None]:
    """A store with one of each, which is the same after the test."""
    await store.records.put(CONVERSATION, conversation(uuid="c", title="title"))
    await store.timeline.append("c", [user(uuid="m")])
    await store.timeline.save_summary(summary("c", uuid="s"))
    await store.records.put(PROJECT, project(uuid="p"))
    await store.code.replace_files("p", [parsed("a.py", scope("f", uuid="f"), uuid="F")])
    talk, before = await store.records.get(CONVERSATION, "c"), await counts(store)
    yield
    assert await counts(store) == before
    assert await store.records.find(CONVERSATION, ConversationFilter()) == [talk]


async def refused(write: Callable[[], Awaitable[object]], field: str) -> None:
    try:
        await write()
    except InvalidText:
        return
    pytest.fail(f"{field} was accepted")


async def test_in_a_conversation(store: Store, unchanged: None) -> None:
    for field in ("uuid", "title", "summary", "cwd", "project_path", "tags"):
        value: Any = ("fine", BAD) if field == "tags" else BAD
        bad = replace(conversation(), **{field: value})
        await refused(lambda b=bad: store.records.put(CONVERSATION, b), field)
        await refused(lambda b=bad: store.timeline.branch("m", b), field)


async def test_in_a_change(store: Store, unchanged: None) -> None:
    for field in ("title", "summary", "tags"):
        value: Any = ("fine", BAD) if field == "tags" else BAD
        changes = replace(ConversationChanges(status="archived"), **{field: value})
        await refused(lambda c=changes: store.records.update(CONVERSATION, "c", c), field)


async def test_in_a_message_with_its_calls(store: Store, unchanged: None) -> None:
    bad = {
        "message.uuid": user(uuid=BAD),
        "message.content": user(BAD),
        "message.reasoning": assistant(reasoning=BAD),
        "call.uuid": assistant("", tool_call(uuid=BAD)),
        "call.tool_name": assistant("", tool_call(BAD)),
        "result.uuid": assistant("", tool_call(result=tool_result(uuid=BAD))),
        "result.error": assistant("", tool_call(result=tool_result(error=BAD))),
    }
    for field, message in bad.items():
        good = user("good")
        await refused(lambda m=message, g=good: store.timeline.append("c", [g, m]), field)


async def test_inside_json_they_are_kept(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    json: Any = {BAD: [BAD, {"deep": f"é{BAD}"}]}
    calls = [tool_call(arguments=json), tool_call(result=tool_result(json, result_size_bytes=1))]
    calls += [tool_call(arguments=BAD, result=tool_result(BAD, result_size_bytes=1))]
    await store.timeline.append("c", [user(), assistant("", *calls)])
    await store.jobs.enqueue([NewJob("k", "embed", json)])

    [_, said] = await store.timeline.messages("c")
    assert list(said.tool_calls) == calls
    assert (await store.records.get(JOB, "k")).payload == json


async def test_in_a_summary(store: Store, unchanged: None) -> None:
    texts = ["uuid", "conversation_summary", "actions_summary", "made_by"]
    lists = ["files_mentioned", "key_findings", "tools_used", "topics"]
    for field in texts:
        bad = replace(summary("c"), **{field: BAD})
        await refused(lambda b=bad: store.timeline.save_summary(b), field)
    for field in lists:
        bad = replace(summary("c"), **{field: ("fine", BAD)})
        await refused(lambda b=bad: store.timeline.save_summary(b), field)


async def test_in_references_and_mentions(store: Store, unchanged: None) -> None:
    for field in ("scope_id", "file", "qualified_name", "hash"):
        good = CodeReference("id", "a.py", "f", "h")
        bad = replace(good, **{field: BAD})
        await refused(lambda b=bad, g=good: store.timeline.link(MESSAGE, "m", [g, b]), field)
        await refused(lambda b=bad: store.timeline.link(SUMMARY, "s", [b], []), field)
    for field in ("file_id", "path", "hash"):
        mention = replace(FileMention("id", "a.py", "h"), **{field: BAD})
        await refused(lambda m=mention: store.timeline.link(SUMMARY, "s", [], [m]), field)


async def test_in_code(store: Store, unchanged: None) -> None:
    for field in ("uuid", "path", "name", "state"):
        bad = replace(project("/new"), **{field: BAD})
        await refused(lambda b=bad: store.records.put(PROJECT, b), f"project.{field}")
    good = parsed("good.py", scope("g"))
    for field in ("uuid", "path", "hash", "language", "state"):
        one = parsed("bad.py")
        bad_file = replace(one, file=replace(one.file, **{field: BAD}))
        await refused(lambda b=bad_file: store.code.replace_files("p", [good, b]), field)
    fields = ["uuid", "name", "qualified_name", "type", "language", "signature", "docstring"]
    for field in (*fields, "source", "hash"):
        bad_scope = replace(scope("x"), **{field: BAD})
        one = parsed("bad.py", scope("fine"), bad_scope)
        await refused(lambda b=one: store.code.replace_files("p", [good, b]), f"scope.{field}")
    library = Relation("USES_LIBRARY", "F", BAD)
    await refused(lambda: store.code.relate_files("p", [], [library], "parsed"), "library")


async def test_in_a_hash_that_was_embedded(store: Store, unchanged: None) -> None:
    vectors = {"f": Vector.of("model", [1])}
    await refused(lambda: embed_scopes(store, vectors, BAD), "embedding_hash")


async def test_in_the_name_of_a_model(store: Store, unchanged: None) -> None:
    vector = Vector(BAD, Vector.of("model", [1]).data)
    for write in (
        lambda: store.index.embed(TURN, {"m": vector}),
        lambda: store.index.embed(CONVERSATION, {"c": vector}),
        lambda: store.index.embed(SUMMARY, {"s": vector}),
        lambda: embed_scopes(store, {"f": vector}),
    ):
        with pytest.raises(InputError):
            await write()


async def test_in_jobs_and_locks(store: Store, unchanged: None) -> None:
    for job in (NewJob(BAD, "embed"), NewJob("k", BAD)):
        await refused(lambda j=job: store.jobs.enqueue([NewJob("good", "embed"), j]), "job")
    await refused(lambda: store.locks.acquire(BAD, this_process(), MINUTE), "lock")


async def test_in_the_error_of_a_job(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    holder = this_process()
    claimed = await store.jobs.claim(holder, MINUTE)

    await refused(lambda: fail_job(store, "k", holder, BAD, None), "error")

    assert await store.records.get(JOB, "k") == claimed


async def test_in_the_host_of_a_holder(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    holder = replace(this_process(), host=BAD)

    await refused(lambda: store.jobs.claim(holder, MINUTE), "host")
    await refused(lambda: store.locks.acquire("ingestion", holder, MINUTE), "host")

    assert (await store.records.get(JOB, "k")).status == "pending"
    assert (await store.locks.held(["ingestion"])).get("ingestion") is None


async def test_in_a_bookmark(store: Store) -> None:
    await refused(lambda: set_bookmark(store, BAD, "x"), "name")
    await refused(lambda: set_bookmark(store, "name", BAD), "value")
    assert await read_bookmark(store, "name") is None


async def test_in_an_id_that_is_asked_for(store: Store, unchanged: None) -> None:
    for ask in (
        lambda: store.records.get(CONVERSATION, BAD),
        lambda: store.records.get(MESSAGE, BAD),
        lambda: store.archive.conversation(BAD),
        lambda: store.timeline.messages(BAD),
        lambda: store.records.delete(CONVERSATION, BAD),
        lambda: store.timeline.append(BAD, [user()]),
        lambda: store.records.get(SUMMARY, BAD),
        lambda: store.timeline.save_summary(summary(BAD)),
        lambda: store.records.get(PROJECT, BAD),
        lambda: read_file(store, "p", BAD),
        lambda: store.records.get(SCOPE, BAD),
        lambda: store.records.delete(PROJECT, BAD),
        lambda: store.records.get(JOB, BAD),
    ):
        with pytest.raises((InvalidText, NotFound)):
            await ask()


async def test_in_a_list_of_ids_or_a_filter_they_find_nothing(
    store: Store, unchanged: None
) -> None:
    for ask in (
        lambda: store.timeline.turns([BAD]),
        lambda: store.timeline.links([BAD]),
        lambda: store.records.get_many(MESSAGE_PLACE, [BAD]),
        lambda: store.records.find(CONVERSATION, ConversationFilter(cwd=BAD)),
        lambda: store.records.find(CONVERSATION, ConversationFilter(tags=(BAD,))),
        lambda: store.records.find(CONVERSATION, ConversationFilter(prefix=BAD), 10),
        lambda: store.timeline.touches(files=[BAD], scope_ids=[BAD]),
        lambda: store.timeline.touches(names=[BAD], project_ids=[BAD]),
        lambda: store.records.get_many(SCOPE, [BAD]),
        lambda: list_files(store, "p", BAD),
        lambda: find_named(store, "p", [BAD]),
    ):
        try:
            assert not await ask()
        except InvalidText:
            continue
