"""Transcripts: what other agents wrote down is imported once, however often it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ragforge.domain.conversations import BEFORE_FIRST_TURN, ConversationFilter, MemoryFilter
from ragforge.domain.passages import PassageFilter, get_turn_id
from ragforge.domain.schema import CONVERSATION, MESSAGE, PASSAGE, TURN
from ragforge.domain.transcripts import (
    FORGOTTEN,
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    RetractedMessage,
    SessionUpdate,
    StoredIds,
    TokenCount,
    TranscriptCursor,
)
from ragforge.ports.store import Store
from tests.conftest import Reopen
from tests.fakes.authors import ANN, ANN_KEY, BOB_KEY
from tests.fakes.builders import (
    MODEL,
    SHOP,
    assistant,
    at,
    conversation,
    direction,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.engines import Engines, counts
from tests.fakes.whole import read_whole

CURSOR = TranscriptCursor("codex", "host", "/home/ann/rollout-1.jsonl", "", {"offset": 10})
CALL = tool_call("shell", uuid="call", result=None)
RESULT = replace(CALL, result=tool_result("3 passed", uuid="result"), duration_ms=7)


def begin(uuid: str = "talk", after: str | None = None, **fields: object) -> NewConversation:
    given = {"agent": "codex", "agent_session": "native", **fields}
    return NewConversation(conversation(uuid=uuid, **given), after)


def ask(uuid: str, text: str = "Run the tests.", into: str = "talk") -> NewMessage:
    return NewMessage(into, user(text, uuid=uuid, timestamp=at(1)))


def answer(uuid: str, into: str = "talk", text: str = "I run them.") -> NewMessage:
    return NewMessage(into, assistant(text, uuid=uuid, timestamp=at(2)))


def work(uuid: str = "step", into: str = "talk") -> NewMessage:
    return NewMessage(into, assistant("", CALL, uuid=uuid, timestamp=at(2)))


FIRST: Sequence[IntakeStep] = [begin(), ask("q0"), work(), CallResult("step", RESULT), answer("a0")]


async def take_in(store: Store, steps: Sequence[IntakeStep], revision: int = 0) -> bool:
    return await store.transcripts.take_in(replace(CURSOR, revision=revision), steps)


async def texts(store: Store, conversation_id: str = "talk") -> list[str]:
    return [one.content for one in await store.timeline.messages(conversation_id)]


async def test_what_is_imported_is_a_conversation_like_any_other(store: Store) -> None:
    assert await take_in(store, FIRST)

    [talk] = await store.records.find(CONVERSATION, ConversationFilter(agent="codex"))
    assert (talk.uuid, talk.agent_session, talk.message_count, talk.turn_count) == (
        *("talk", "native"),
        *(3, 1),
    )
    assert talk.updated_at == at(2)
    assert talk.total_chars == len("Run the tests.") + len("3 passed") + len("I run them.")
    question, step, said = await store.timeline.messages("talk")
    assert [question.position, step.position, said.position] == [0, 1, 2]
    assert {one.turn_index for one in (question, step, said)} == {0}
    assert step.tool_calls == (RESULT,)
    [found] = (
        await store.index.search(TURN, "tests passed", None, MemoryFilter(), 9, read=0)
    ).by_words
    assert found.id == "q0"
    assert list(await store.timeline.turns_to_link([SHOP], 9)) == ["q0"]
    assert await store.records.find(CONVERSATION, ConversationFilter(agent="ragforge")) == []


async def test_a_cursor_is_moved_with_what_it_covers(store: Store, reopen: Reopen) -> None:
    assert await store.transcripts.cursor("codex", "host", CURSOR.path) == replace(
        CURSOR, state=None
    )
    await take_in(store, FIRST)
    done = replace(CURSOR, stamp="12.1", state={"offset": 12, "early": ["ü"]}, revision=1)
    assert await store.transcripts.take_in(done, [])

    again = await reopen()
    assert await again.transcripts.cursor("codex", "host", CURSOR.path) == replace(done, revision=2)
    other = TranscriptCursor("gemini", "host", "/ü", "7")
    assert await again.transcripts.take_in(other, [])
    assert await again.transcripts.stamps("host") == {
        "codex": {CURSOR.path: "12.1"},
        "gemini": {"/ü": "7"},
    }
    assert await again.transcripts.stamps("another host") == {}


async def test_a_second_import_of_the_same_lines_changes_nothing(store: Store) -> None:
    await take_in(store, FIRST)
    before = await counts(store)
    for revision in (0, 2):
        assert not await take_in(store, [ask("q1")], revision)
    assert await counts(store) == before
    assert await take_in(store, [ask("q1")], 1)
    assert await texts(store) == ["Run the tests.", "", "I run them.", "Run the tests."]


async def test_one_of_many_concurrent_imports_of_the_same_turn_succeeds(
    store: Store, engine: str, engines: Engines
) -> None:
    others = [await engines.open(engine) for _ in range(4)]
    done = await asyncio.gather(*(take_in(one, FIRST) for one in others))
    assert sorted(done) == [False, False, False, True]
    assert len(await texts(store)) == 3


async def test_a_message_that_is_also_in_a_second_file_is_refused(store: Store) -> None:
    await take_in(store, FIRST)
    fork = replace(CURSOR, path="/home/ann/rollout-2.jsonl")
    steps = [begin("fork"), ask("q0", into="fork"), ask("f1", into="fork")]
    assert not await store.transcripts.take_in(fork, steps)
    assert (await store.transcripts.cursor("codex", "host", fork.path)).revision == 0
    assert (await counts(store))["conversation"] == 1


async def test_the_store_says_what_it_has(store: Store) -> None:
    await take_in(store, [*FIRST, ask("q1")])
    assert await store.transcripts.look_up(["q0", "a0", "new"], ["other"]) == StoredIds(
        {"q0": ("talk", 0), "a0": ("talk", 0)}, {"talk": 1}
    )
    await take_in(store, [begin("empty")], 1)
    assert await store.transcripts.look_up([], ["empty", "other"]) == StoredIds(
        {}, {"empty": BEFORE_FIRST_TURN}
    )


async def test_a_result_may_come_in_a_later_reading_and_the_first_one_stays(store: Store) -> None:
    await take_in(store, [begin(), ask("q0"), work()])
    assert await take_in(store, [CallResult("step", RESULT)], 1)
    other = replace(RESULT, result=tool_result("another", uuid="result-2"))
    assert await take_in(store, [CallResult("step", other), CallResult("nowhere", RESULT)], 2)

    [_, step] = await store.timeline.messages("talk")
    assert step.tool_calls == (RESULT,)
    talk = await store.records.get(CONVERSATION, "talk")
    assert talk.total_chars == len("Run the tests.") + len("3 passed")
    [found] = (await store.index.search(PASSAGE, "passed", None, PassageFilter(), 9)).by_words
    assert get_turn_id(found.id) == "q0"


PIECES: Sequence[IntakeStep] = [
    *[begin(), ask("q0"), work(), answer("a0"), ask("q1", "Deploy it."), answer("a1")],
    *[begin("branch", after="a0"), ask("b1", "Do not deploy.", "branch")],
    *[CallResult("step", RESULT), answer("b2", "branch"), answer("a2")],
    *[RetractedMessage("a1"), RetractedMessage("nowhere"), RetractedMessage("b2")],
    *[TokenCount("a2", 42), TokenCount("nowhere", 7)],
    *[SessionUpdate("talk", "2.0", "main", "Tests", None), SessionUpdate("talk", git_branch="x")],
]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
async def test_read_in_pieces_or_at_once_it_is_the_same(
    engine: str, engines: Engines, size: int
) -> None:
    whole = await engines.empty(engine)
    await take_in(whole, PIECES)
    expected = [await read_whole(whole, one) for one in ("talk", "branch")]
    said = await whole.timeline.messages("branch")
    assert [one.content for one in said] == [
        *("Run the tests.", "", "I run them."),
        *("Do not deploy.", ""),
    ]
    assert await texts(whole) == [
        "Run the tests.",
        "",
        "I run them.",
        "Deploy it.",
        "",
        "I run them.",
    ]
    assert expected[0].conversation.total_chars == sum(
        one.char_count for one in await whole.timeline.messages("talk")
    )
    assert [one.turn_index for one in said] == [0, 0, 0, 1, 1]
    assert (await whole.records.get(MESSAGE, "a2")).token_count == 42
    assert expected[0].conversation.title == "Tests"
    assert expected[0].conversation.git_branch == "x"
    assert expected[1].branch_of is not None

    pieces = await engines.empty(engine)
    for number, first in enumerate(range(0, len(PIECES), size)):
        assert await take_in(pieces, PIECES[first : first + size], number)
    assert [await read_whole(pieces, one) for one in ("talk", "branch")] == expected


async def test_a_title_that_the_user_gave_stays(store: Store) -> None:
    from ragforge.domain.conversations import ConversationChanges

    await take_in(store, [*FIRST, SessionUpdate("talk", title="Run the tests.")])
    await take_in(store, [SessionUpdate("talk", title="Tests", instead_of="Run the tests.")], 1)
    assert (await store.records.get(CONVERSATION, "talk")).title == "Tests"
    await store.records.update(CONVERSATION, "talk", ConversationChanges(title="Mine"))
    await take_in(store, [SessionUpdate("talk", title="Tests again", instead_of="Tests")], 2)
    assert (await store.records.get(CONVERSATION, "talk")).title == "Mine"


async def test_what_the_user_deleted_does_not_come_back(store: Store, reopen: Reopen) -> None:
    await take_in(store, FIRST)
    await store.records.delete(CONVERSATION, "talk")

    again = await reopen()
    known = await again.transcripts.look_up(["q0", "a0", "new"], ["talk"])
    nowhere = (FORGOTTEN, BEFORE_FIRST_TURN)
    assert known == StoredIds({"q0": nowhere, "a0": nowhere}, {"talk": BEFORE_FIRST_TURN})
    assert not await take_in(again, FIRST, 1)  # made before the deletion was seen
    more = [begin(), ask("q1"), CallResult("step", RESULT), SessionUpdate("talk", title="T")]
    assert await take_in(again, more, 1)
    assert (await counts(again))["message"] == 0

    # A fork that begins with the deleted messages has what came after them.
    fork = [begin("fork", after="a0"), ask("f0", "Now lint.", "fork")]
    assert await take_in(again, fork, 2)
    assert await texts(again, "fork") == ["Now lint."]


async def test_a_ragforge_conversation_is_deleted_without_a_trace(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="own"))
    await store.records.delete(CONVERSATION, "own")
    assert (await counts(store))["forgotten"] == 0


async def test_a_turn_that_grows_loses_what_was_made_of_it(store: Store) -> None:
    await take_in(store, [*FIRST, ask("q1"), answer("a1"), ask("q2")])
    await store.index.embed(TURN, {one: direction(1) for one in ("q0", "q1", "q2")})
    await store.timeline.set_link_pending(["q0", "q1", "q2"], False)
    for first, last in ((0, 0), (1, 2)):
        await store.timeline.save_summary(summary("talk", first, last, uuid=f"s{first}"))

    await take_in(store, [answer("a2")], 1)

    assert await store.index.pending(TURN, MODEL, 9) == ["q2"]
    assert list(await store.timeline.turns_to_link([SHOP], 9)) == ["q2"]
    assert [one.turn_index for one in await store.timeline.coverage("talk")] == [1, 2]


async def test_what_belongs_to_another_user_stays_theirs(engine: str, engines: Engines) -> None:
    await engines.empty(engine)
    ann, bob = await engines.open(engine, ANN_KEY), await engines.open(engine, BOB_KEY)
    private = begin(author=ANN, visibility="private")
    assert await take_in(ann, [private, *FIRST[1:]])
    assert await bob.transcripts.look_up(["q0"], ["talk"]) == StoredIds()

    # The same file, read by another user: a separate cursor, and nothing changes.
    assert await take_in(bob, [*FIRST, ask("q1")])
    assert len(await texts(ann)) == 3
    assert await bob.records.find(CONVERSATION, ConversationFilter()) == []
