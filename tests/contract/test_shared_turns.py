"""Shared turns: what a fork repeats of another agent's session is stored once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ragforge.domain.conversations import (
    ConversationFilter,
    MemoryFilter,
    copy_messages,
    name_copies,
)
from ragforge.domain.schema import CONVERSATION, MESSAGE_PLACE, TURN
from ragforge.domain.transcripts import IntakeStep, NewConversation, NewMessage, TranscriptCursor
from ragforge.ports.store import Store
from tests.fakes.builders import MODEL, assistant, at, conversation, direction, summary, user
from tests.fakes.engines import counts
from tests.fakes.whole import BranchPoint, Whole, add_whole, read_whole

CURSOR = TranscriptCursor("codex", "host", "/home/ann/rollout-1.jsonl", "", {"offset": 10})


def begin(uuid: str = "talk", after: str | None = None) -> NewConversation:
    return NewConversation(conversation(uuid=uuid, agent="codex"), after)


def ask(uuid: str, text: str, into: str = "talk") -> NewMessage:
    return NewMessage(into, user(text, uuid=uuid, timestamp=at(1)))


def answer(uuid: str, text: str, into: str = "talk") -> NewMessage:
    return NewMessage(into, assistant(text, uuid=uuid, timestamp=at(2)))


async def take_in(store: Store, steps: Sequence[IntakeStep], revision: int = 0) -> bool:
    return await store.transcripts.take_in(replace(CURSOR, revision=revision), steps)


async def texts(store: Store, conversation_id: str) -> list[str]:
    return [one.content for one in await store.timeline.messages(conversation_id)]


async def find(store: Store, words: str, inside: str | None = None) -> set[str]:
    where = MemoryFilter(conversation_id=inside)
    return {
        hit.id for hit in (await store.index.search(TURN, words, None, where, 9, read=0)).by_words
    }


TRUNK: Sequence[IntakeStep] = [
    *[begin(), ask("q0", "Feed the okapi."), answer("a0", "Fed."), ask("q1", "And the gnu?")],
    answer("a1", "The gnu sleeps."),
]
FORK: Sequence[IntakeStep] = [
    *[begin("fork", after="a0"), ask("f1", "And the yak?", "fork")],
    answer("g1", "The yak ate the okapi's hay.", "fork"),
]


async def test_a_turn_that_branches_share_is_stored_counted_and_found_once(store: Store) -> None:
    await take_in(store, [*TRUNK, *FORK])

    assert (await counts(store))["message"] == 6
    assert await store.index.count_pending(TURN, MODEL) == (3, 3)
    assert await find(store, "feed") == {"q0"}
    fork = await store.records.get(CONVERSATION, "fork")
    assert (fork.turn_count, fork.message_count) == (1, 2)


async def test_a_branch_has_the_turns_that_it_shares(store: Store) -> None:
    await take_in(store, [*TRUNK, *FORK])
    # A fork of the fork, after a turn that is the fork's own.
    twig = [begin("twig", after="g1"), ask("t2", "Who feeds the emu?", "twig")]
    await take_in(store, [*twig, answer("u2", "Nobody.", "twig")], 1)
    talks = store.timeline

    said = await talks.messages("twig")
    assert [one.uuid for one in said] == ["q0", "a0", "f1", "g1", "t2", "u2"]
    assert [one.turn_index for one in said] == [0, 0, 1, 1, 2, 2]
    assert await talks.messages("twig", 1, 1) == said[2:4]
    assert await talks.messages("twig", limit=3) == said[:3]
    assert await talks.messages("twig", limit=3, newest=True) == said[3:]
    assert await talks.messages("twig", 0, 1, limit=3, newest=True) == said[1:4]
    assert await talks.messages("twig", newest=True) == said
    assert (await talks.recent_past("twig", 5, 1)).messages == said[1:]
    assert [one.uuid for one in await talks.messages("talk")] == ["q0", "a0", "q1", "a1"]


async def test_a_search_in_a_branch_finds_what_it_shares_and_no_more(store: Store) -> None:
    await take_in(store, [*TRUNK, *FORK])
    inside = MemoryFilter(conversation_id="fork")
    await store.index.embed(TURN, {one: direction(1) for one in ("q0", "q1", "f1")})

    assert await find(store, "okapi gnu yak", "fork") == {"q0", "f1"}
    by_meaning = (await store.index.search(TURN, "", direction(1), inside, 9, read=0)).by_vector
    assert {hit.id for hit in by_meaning} == {"q0", "f1"}


async def test_a_branch_that_cuts_a_turn_has_its_own_version_of_it(store: Store) -> None:
    cut = [begin("cut", after="q1"), answer("c1", "The gnu wants a quagga.", "cut")]
    await take_in(store, [*TRUNK, *cut, ask("c2", "Why?", "cut")])
    talks = store.timeline

    said = await talks.messages("cut")
    assert [one.content for one in said] == [
        *("Feed the okapi.", "Fed."),
        *("And the gnu?", "The gnu wants a quagga.", "Why?"),
    ]
    assert [one.turn_index for one in said] == [0, 0, 1, 1, 2]
    [found] = await find(store, "quagga")
    assert (await store.records.get(MESSAGE_PLACE, found)).conversation_id == "cut"
    assert await find(store, "okapi") == {"q0"}
    assert await find(store, "sleeps") == {"q1"}


@pytest.mark.parametrize("size", [2, 5])
async def test_a_turn_that_continues_in_another_session_moves_there(
    store: Store, size: int
) -> None:
    steps = [
        *[begin(), ask("q0", "Feed the okapi."), begin("next", after="q0")],
        *[answer("n0", "Fed with a quagga.", "next"), ask("n1", "And the gnu?", "next")],
    ]
    for number, first in enumerate(range(0, len(steps), size)):
        assert await take_in(store, steps[first : first + size], number)

    assert (await counts(store))["message"] == 3
    assert await find(store, "okapi quagga") == {"q0"}
    assert await texts(store, "next") == ["Feed the okapi.", "Fed with a quagga.", "And the gnu?"]
    assert [one.uuid for one in await store.records.find(CONVERSATION, ConversationFilter())] == [
        "next"
    ]
    known = await store.transcripts.look_up(["q0"], [])
    assert known.messages == {"q0": ("next", 0)}


async def test_a_ragforge_branch_is_a_copy_of_shared_turns_too(store: Store) -> None:
    await take_in(store, [*TRUNK, *FORK])
    await store.timeline.branch("g1", conversation(uuid="own"))
    assert await texts(store, "own") == await texts(store, "fork")
    await store.records.delete(CONVERSATION, "talk")
    assert await texts(store, "fork") == ["And the yak?", "The yak ate the okapi's hay."]
    assert len(await texts(store, "own")) == 4


async def copy_as_before(store: Store, branch: str) -> None:
    """Put copies of what a branch shares into it, as earlier versions did."""
    own = await read_whole(store, branch)
    shared = (await store.timeline.messages(branch))[: -len(own.messages)]
    copies = copy_messages(shared, name_copies(branch))
    placed = [
        replace(copy, turn_index=one.turn_index, position=one.position)
        for copy, one in zip(copies, shared, strict=True)
    ]
    await store.records.delete(CONVERSATION, branch)
    await add_whole(store, replace(own, messages=(*placed, *own.messages)))


async def test_copies_that_an_earlier_version_stored_are_shared_by_a_repair(store: Store) -> None:
    await take_in(store, [*TRUNK, *FORK])
    expected = await read_whole(store, "fork")
    said = await store.timeline.messages("fork")
    await copy_as_before(store, "fork")
    await store.timeline.save_summary(summary("fork", 0, 1, uuid="both"))
    assert len(await find(store, "feed")) == 2
    assert (await counts(store))["message"] == 8

    assert await store.transcripts.share_copies() == 1

    assert await store.timeline.messages("fork") == said
    assert await find(store, "feed") == {"q0"}
    assert (await counts(store))["message"] == 6
    assert [one.turn_index for one in await store.timeline.coverage("fork")] == [1]
    assert (await read_whole(store, "fork")).messages == expected.messages
    assert (await store.records.get(CONVERSATION, "fork")).turn_count == 1
    assert await store.transcripts.share_copies() == 0


async def test_a_repair_moves_a_turn_to_the_session_where_it_continues(store: Store) -> None:
    question = ask("q0", "Feed the okapi.")
    await take_in(store, [begin(), question])
    copy, place = name_copies("next")("q0"), {"turn_index": 0, "position": 0}
    said = [replace(question.message, uuid=copy, **place)]
    said += [replace(answer("n0", "Fed.").message, turn_index=0, position=1)]
    await add_whole(
        store,
        Whole(
            conversation(uuid="next", agent="codex"),
            tuple(said),
            branch_of=BranchPoint("talk", "q0"),
        ),
    )
    assert await find(store, "okapi") == {"q0", copy}

    assert await store.transcripts.share_copies() == 1

    assert await find(store, "okapi") == {"q0"}
    assert [one.uuid for one in await store.timeline.messages("next")] == ["q0", "n0"]
    assert [one.uuid for one in await store.records.find(CONVERSATION, ConversationFilter())] == [
        "next"
    ]
    assert await store.transcripts.share_copies() == 0
