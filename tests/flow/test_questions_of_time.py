"""Questions that name a time, ask for several facts or for an order, on every engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ragforge.domain.conversations import MemoryFilter, Message, ToolCall
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from tests.contract.test_passages import EDIT
from tests.fakes.builders import assistant, conversation, user
from tests.flow.test_arrival import messages, new_session, opened


async def tell(store: Store, name: str, *said: tuple[str, datetime]) -> None:
    """Store a conversation of these messages; the id of each is its text."""
    await store.records.put(CONVERSATION, conversation(uuid=name))
    turns = [user(text, uuid=text, timestamp=when) for text, when in said]
    await store.timeline.append(name, turns)


async def search(store: Store, question: str, limit: int = 10) -> list[str]:
    memory = MemorySearch(store, None)
    hits = await search_conversation_history(memory, question, MemoryFilter(), max_results=limit)
    return [hit.turn.uuid for hit in hits if hit.type == "turn"]


def renew(message: Message, name: str) -> tuple[ToolCall, ...]:
    """Return the calls of a message with their own ids."""
    return tuple(
        replace(call, uuid=f"{name}-{call.uuid}", result=replace(call.result, uuid=f"{name}-r"))
        for call in message.tool_calls
        if call.result is not None
    )


def day(month: int, number: int = 1) -> datetime:
    return datetime(2024, month, number, 12, tzinfo=UTC)


async def test_the_turn_of_the_named_time_comes_first(store: Store) -> None:
    for name, month in (("a", 1), ("b", 3), ("c", 6)):
        await tell(store, name, (f"The cache size is {month}", day(month, 9)))

    assert (await search(store, "What was the cache size in March 2024?"))[0] == (
        "The cache size is 3"
    )
    assert (await search(store, "What was the cache size?"))[0] == "The cache size is 6"


async def test_inside_the_named_time_words_still_rank(store: Store) -> None:
    await tell(
        store,
        "a",
        ("The lunch menu is new", day(3, 9)),
        ("The cache has an index", day(3, 10)),
        ("The cache size is 3 and its index is full", day(3, 11)),
    )
    await tell(store, "b", ("The cache size is 6 and its index is full", day(6, 9)))

    for question in (
        "Why was the index of the cache size full in March 2024?",
        "Why was the index of the cache size full in the second week of March 2024?",
        "Why was the index of the cache size full the week before 13 March 2024?",
    ):
        found = await search(store, question)
        in_march = [one for one in found if one != "The cache size is 6 and its index is full"]
        assert found[0] == "The cache size is 3 and its index is full"
        assert in_march[1] == "The cache has an index"


async def test_inside_the_named_time_what_was_done_still_ranks(store: Store) -> None:
    for name, month in (("a", 3), ("b", 6)):
        done = [
            user("Please repair it", uuid=f"repair {month}", timestamp=day(month, 9)),
            assistant("Done.", EDIT, timestamp=day(month, 9)),
            user("Thanks, what else?", uuid=f"thanks {month}", timestamp=day(month, 10)),
            assistant("Nothing.", timestamp=day(month, 10)),
        ]
        edit = [replace(one, tool_calls=renew(one, name)) for one in done]
        await store.records.put(CONVERSATION, conversation(uuid=name))
        await store.timeline.append(name, edit)

    assert (await search(store, "Who edited cart.py in March 2024?"))[0] == "repair 3"
    assert (await search(store, "Who edited cart.py in June 2024?"))[0] == "repair 6"


async def test_a_german_and_a_spanish_question_name_their_time(store: Store) -> None:
    for name, month in (("a", 1), ("b", 3), ("c", 6)):
        await tell(store, name, (f"Cache {month}", day(month, 9)))

    assert (await search(store, "Was war mit dem Cache im März 2024?"))[0] == "Cache 3"
    assert (await search(store, "¿Qué pasó con cache en enero de 2024?"))[0] == "Cache 1"


async def test_what_was_said_before_an_event_comes_first(store: Store) -> None:
    await tell(store, "a", ("Our database is slow", day(1)))
    await tell(store, "b", ("We moved to Postgres", day(3)))
    await tell(store, "c", ("The database has an index, a database index", day(6)))

    question = "Which database did we have before we moved to Postgres?"
    found = [one for one in await search(store, question) if "database" in one]

    assert found[0] == "Our database is slow"


async def test_several_facts_are_taken_from_several_conversations(store: Store) -> None:
    await tell(store, "a", ("The parser breaks on tabs, as we saw", day(1)))
    await tell(store, "b", *((f"The parser breaks on comma {n}", day(2, n + 1)) for n in range(4)))

    one = await search(store, "Why did the parser break?", 3)
    several = await search(store, "List all the parser breaks", 3)

    assert all("comma" in text for text in one)
    assert any("tabs" in text for text in several)


async def test_an_order_of_events_is_shown_to_the_model_in_order_with_dates(
    environ: dict[str, str], project: Path
) -> None:
    said = ("harbour works: the gate", "harbour works: the pier", "harbour works: the lamp")
    async with opened(environ, project) as (app, server):
        for number, text in zip((3, 1, 6), said, strict=True):
            asked = Message("user", text, timestamp=day(number))
            reply = Message("assistant", "Noted.", timestamp=day(number))
            await app.recorder.store_turn(await new_session(app), [asked, reply])
        await app.jobs.wait(60)
        await app.ask("In what order did the harbour works happen?", await new_session(app))
        text = str(messages(server)[-1]["content"])

    places = [text.index(one) for one in (said[1], said[0], said[2])]
    assert places == sorted(places)
    assert text.index("2024-01-01") < text.index("2024-03-01") < text.index("2024-06-01")
