"""Hostile texts: whatever is in a field is stored exactly, and never obeyed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.code import (
    CodeFilter,
    CodeReference,
    File,
    FileMention,
    ParsedFile,
    Project,
    Relation,
    Scope,
)
from ragforge.domain.conversations import (
    Conversation,
    ConversationChanges,
    ConversationFilter,
    MemoryFilter,
    Message,
    MessagePlace,
)
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
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.turns import StoredTurn
from ragforge.domain.vectors import Vector
from ragforge.domain.work import Holder, NewJob
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    placed,
    project,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.code import (
    embed_scopes,
    find_named,
    find_nearest,
    list_directories,
    list_files,
    list_missing,
    read_file,
    relations_of,
)
from tests.fakes.copying import read_bookmark, set_bookmark
from tests.fakes.coverage import list_covered
from tests.fakes.hostile import HOSTILE
from tests.fakes.jobs import fail_job
from tests.fakes.projects import relate

MINUTE = timedelta(minutes=1)


TEXTS = {
    "characters": [
        "emoji",
        "right to left",
        "combining",
        "east asian",
        "newlines",
        "control",
        "NUL",
    ],
    "syntax": ["SQL", "Cypher", "quotes", "backslashes", "words syntax", "braces", "JSON"],
    "blank": ["spaces"],
    "long": ["long"],
}


@pytest.fixture(params=list(TEXTS))
def text(request: pytest.FixtureRequest) -> str:
    return " ".join(HOSTILE[name] for name in TEXTS[request.param])


@pytest.fixture
def name(text: str) -> str:
    """The text, short enough for an id."""
    return text[:500]


def talk_of(text: str, name: str, uuid: str) -> Conversation:
    return conversation(name, uuid=uuid, title=text, summary=text, tags=(text, "plain", text))


async def test_in_conversations(store: Store, text: str, name: str) -> None:
    given = talk_of(text, name, name)
    await store.records.put(CONVERSATION, given)
    await store.records.put(CONVERSATION, conversation(uuid="other", tags=("plain",)))

    assert await store.records.get(CONVERSATION, name) == given
    changes = ConversationChanges(title=text + "!", summary=text + "!", tags=(text,))
    changed = await store.records.update(CONVERSATION, name, changes)
    assert (changed.title, changed.summary, changed.tags) == (text + "!", text + "!", (text,))
    for where in (
        ConversationFilter(cwd=name),
        ConversationFilter(project_ids=[name]),
        ConversationFilter(tags=(text,)),
    ):
        assert await store.records.find(CONVERSATION, where) == [changed]
    await store.records.delete(CONVERSATION, name)
    assert [c.uuid for c in await store.records.find(CONVERSATION, ConversationFilter())] == [
        "other"
    ]


async def test_in_messages(store: Store, text: str, name: str) -> None:
    await store.records.put(CONVERSATION, talk_of(text, name, "c"))
    json: Any = {text: [text, {"nested": text}]}
    result = tool_result(json, uuid=name, error=text, success=False)
    call = tool_call(text, uuid=name, arguments=json, result=result)
    given: list[Message] = [
        user(text, uuid=name),
        assistant(text, call, reasoning=text, uuid=name[:-1] + "2"),
    ]
    appended = await store.timeline.append("c", given)

    assert appended == placed(given)
    assert await store.timeline.messages("c") == appended
    assert await store.timeline.turns([name]) == {name: StoredTurn("c", appended)}
    assert await store.records.get(MESSAGE_PLACE, name) == MessagePlace(name, "c")
    await store.index.embed(TURN, {name: direction(0, name)})
    [hit] = (
        await store.index.search(TURN, "", direction(0, name), MemoryFilter(), 9, read=0)
    ).by_vector
    assert hit.id == name
    branch = await store.timeline.branch(name, conversation(uuid="b" + name[:-1]))
    assert branch.message_count == 1


async def test_in_references(store: Store, text: str, name: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user(uuid="m")])
    given = CodeReference(name, text, text, text)
    await store.timeline.link(MESSAGE, "m", [given])

    assert await store.timeline.links(["m"]) == {"m": ([given], [])}
    for about in ({"scope_ids": [name]}, {"files": [text]}):
        [found] = await store.timeline.touches(**about)
        assert (found.conversation_id, found.name, found.hash) == ("c", text, text)


async def test_in_summaries(store: Store, text: str, name: str) -> None:
    await store.records.put(CONVERSATION, talk_of(text, name, name))
    await store.timeline.append(name, [user()])
    many = (text, "", text)
    given = Summary(
        conversation_id=name,
        level=1,
        conversation_summary=text,
        start_turn_index=0,
        end_turn_index=0,
        char_range_start=0,
        char_range_end=9,
        actions_summary=text,
        files_mentioned=many,
        key_findings=many,
        tools_used=many,
        topics=many,
        made_by=text,
        uuid=name,
    )
    upper = Summary(name, 2, "", 0, 0, 0, 9, parent_summaries=(name,), uuid="l2")
    for one in (given, given, upper):
        await store.timeline.save_summary(one)
    files, scopes = [FileMention(name, text, text)], [CodeReference(name, text, text, text)]
    await store.timeline.link(SUMMARY, name, scopes, files)

    assert await store.records.get(SUMMARY, name) == given
    assert await store.timeline.links([name]) == {name: (scopes, files)}
    assert await list_covered(store, name) == [0]
    assert await store.records.find(SUMMARY, SummaryFilter(name, outside_level_2=True)) == []
    assert given in await store.records.find(SUMMARY, SummaryFilter(name, [name], level=1))
    await store.records.delete(SUMMARY, name)
    assert await store.records.find(SUMMARY, SummaryFilter()) == []


async def test_in_code(store: Store, text: str, name: str) -> None:
    given = Project(name, text, uuid=name, state=text)
    file = File(name, text, uuid=name, language=text, state=text)
    scope = Scope(
        text,
        text,
        "function",
        name,
        1,
        9,
        source=text,
        hash=text,
        uuid=name,
        language=text,
        signature=text,
        docstring=text,
    )
    await store.records.put(PROJECT, given)
    for _ in range(2):  # the second time everything is known already
        await store.code.replace_files(name, [ParsedFile(file, (scope,))])
        await embed_scopes(store, {name: direction(0, name)}, text)

    assert await store.records.get(PROJECT, given.uuid) == given
    assert await read_file(store, name, name) == file
    assert await list_files(store, name, name) == [file]
    [told] = (await find_named(store, name, [text]))[text]
    stored = await store.records.get(SCOPE, name)
    assert (told.uuid, stored.embedding_hash) == (name, text)
    assert await store.records.get_many(SCOPE, [name]) == {name: stored}
    assert stored == Scope(**{**_fields(scope), "embedding_hash": text})
    assert await list_missing(store, name, name) == []
    library = Relation("USES_LIBRARY", name, name)
    await relate(store, name, [library, Relation("CONSUMES", name, name)])
    assert await relations_of(store, name, "in", ["USES_LIBRARY"]) == [library]
    [hit] = await find_nearest(store, direction(0, name), CodeFilter(name, name), 9)
    assert hit.id == name
    await store.code.remove_files(name, [name])
    assert await list_files(store, name) == []


def _fields(scope: Scope) -> dict[str, Any]:
    return {field: getattr(scope, field) for field in scope.__dataclass_fields__}


async def test_in_the_types_of_scopes_and_in_directories(store: Store, text: str) -> None:
    await store.records.put(PROJECT, project(uuid="p"))
    folder = text[:200].replace("/", "-").strip() or "blank"
    scope = Scope("f", "f", text, f"{folder}/x.py", 1, 9, "", "")
    file = ParsedFile(File(scope.file, ""), (scope,))
    await store.code.replace_files("p", [file])

    assert [d.path for d in await list_directories(store, "p")] == [folder]
    assert await store.records.get(SCOPE, scope.uuid) == scope
    assert await list_files(store, "p", folder) == [file.file]


async def test_in_jobs_and_locks(store: Store, text: str, name: str) -> None:
    holder = Holder(text, 1, 0.5, name)
    await store.jobs.enqueue([NewJob(name, name, {text: text})])
    job = await store.jobs.claim(holder, MINUTE, [name])
    assert job is not None
    assert (job.key, job.kind, job.payload) == (name, name, {text: text})
    await fail_job(store, name, holder, text, None)
    assert (await store.records.get(JOB, name)).error == text

    assert await store.locks.acquire(name, holder, MINUTE)
    lock = (await store.locks.held([name])).get(name)
    assert lock is not None
    assert (lock.name, lock.holder) == (name, holder)
    assert not await store.locks.acquire(name, this_process(), MINUTE)


async def test_in_models_of_conversations(store: Store, text: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    vector = Vector.of(text, [1, 2])
    await store.index.embed(CONVERSATION, {"c": vector})

    [hit] = (await store.index.search(CONVERSATION, "", vector, ConversationFilter(), 9)).by_vector
    assert hit.id == "c"


async def test_in_archived_records_and_bookmarks(store: Store, text: str, name: str) -> None:
    await store.records.put(CONVERSATION, talk_of(text, name, name))
    await set_bookmark(store, name, text)

    [(_, record)] = await store.archive.read("conversation", None, 9)
    assert (record["title"], record["tags"], record["uuid"]) == (text, [text, "plain", text], name)
    assert await read_bookmark(store, name) == text


async def test_in_filters_it_finds_nothing_that_is_not_there(store: Store, text: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("zebra", uuid="t")])

    for where in (MemoryFilter(conversation_id=text), MemoryFilter(project_ids=[text])):
        assert (await store.index.search(TURN, "zebra", None, where, 9, read=0)).by_words == []
    assert await store.timeline.turns([text]) == {}
    assert await list_files(store, text, text) == []
    assert await store.records.find(SUMMARY, SummaryFilter(text, [text])) == []
    assert await store.jobs.claim(this_process(), MINUTE, [text]) is None
