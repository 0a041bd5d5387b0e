"""Recall: turns found by words and by vectors, in the scope that was asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.passages import PassageFilter, get_turn_id
from ragforge.domain.schema import CONVERSATION, PASSAGE, TURN
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    direction,
    exchange,
    tool_call,
    tool_result,
    user,
)

EVERYWHERE = MemoryFilter()
Recall: TypeAlias = Callable[[MemoryFilter, int], Awaitable[list[str]]]


@pytest.fixture(params=["words", "vector"])
def recall(request: pytest.FixtureRequest, store: Store) -> Recall:
    """Search for zebras, which all the turns of these tests are about."""

    async def by_words(where: MemoryFilter, limit: int) -> list[str]:
        return [
            m.id
            for m in (await store.index.search(TURN, "zebra", None, where, limit, read=0)).by_words
        ]

    async def by_vector(where: MemoryFilter, limit: int) -> list[str]:
        found = (await store.index.search(TURN, "", direction(0), where, limit, read=0)).by_vector
        return [match.id for match in found]

    return by_words if request.param == "words" else by_vector


async def plant(store: Store, name: str, turns: int = 1, project: str = "/p", angle: float = 5):
    """Store a conversation whose turns are about zebras, a minute apart."""
    await store.records.put(CONVERSATION, conversation(project, uuid=name))
    said = [user("zebra", uuid=f"{name}-{i}", timestamp=at(i)) for i in range(turns)]
    await store.timeline.append(name, said)
    await store.index.embed(TURN, {m.uuid: direction(angle) for m in said})


async def test_one_conversation_never_leaks_into_another(store: Store, recall: Recall) -> None:
    for name in ("a", "ab", "A", "a%", "a_", "*"):
        await plant(store, name)

    for name in ("a", "ab", "A", "a%", "a_", "*"):
        assert await recall(MemoryFilter(conversation_id=name), 9) == [f"{name}-0"]
    assert await recall(MemoryFilter(conversation_id="none"), 9) == []


async def test_one_project_never_leaks_into_another(store: Store, recall: Recall) -> None:
    projects = {"/p": "a", "/p2": "b", "/p/sub": "c", "/P": "d", "/_": "e", "/%": "f"}
    for path, name in projects.items():
        await plant(store, name, project=path)

    for path, name in projects.items():
        assert await recall(MemoryFilter(project_ids=[path]), 9) == [f"{name}-0"]
    assert await recall(MemoryFilter(project_ids=["/none"]), 9) == []
    assert len(await recall(EVERYWHERE, 9)) == 6


async def test_a_conversation_of_another_project_is_not_found(store: Store, recall: Recall) -> None:
    await plant(store, "a", project="/p")

    assert await recall(MemoryFilter("a", ["/p"]), 9) == ["a-0"]
    assert await recall(MemoryFilter("a", ["/q"]), 9) == []


async def test_filters_come_before_the_limit(store: Store, recall: Recall) -> None:
    await plant(store, "crowd", turns=400, project="/crowded", angle=0)
    await plant(store, "small", turns=1, project="/quiet", angle=80)

    assert await recall(MemoryFilter(conversation_id="small"), 1) == ["small-0"]
    assert await recall(MemoryFilter(project_ids=["/quiet"]), 1) == ["small-0"]
    late = MemoryFilter(since=at(399))
    assert await recall(late, 1) == ["crowd-399"]


async def test_dates_are_instants_and_both_ends_belong(store: Store, recall: Recall) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    moments = {"before": at(-1, 14), "start": at(0, -12), "end": at(60, 5.5), "after": at(61, -12)}
    said = [user("zebra", uuid=name, timestamp=moment) for name, moment in moments.items()]
    await store.timeline.append("c", said)
    await store.index.embed(TURN, {name: direction(5) for name in moments})

    assert set(await recall(MemoryFilter(since=at(0, 9), until=at(60, -8)), 9)) == {"start", "end"}
    assert set(await recall(MemoryFilter(since=at(60, 14)), 9)) == {"end", "after"}
    assert set(await recall(MemoryFilter(until=at(0, 14)), 9)) == {"before", "start"}
    assert await recall(MemoryFilter(since=at(62)), 9) == []


async def test_the_limit_is_kept(store: Store, recall: Recall) -> None:
    await plant(store, "a", turns=5)

    assert len(await recall(EVERYWHERE, 3)) == 3
    assert len(await recall(EVERYWHERE, 99)) == 5
    assert await recall(EVERYWHERE, 0) == []


async def test_a_turn_is_found_once_however_often_it_matches(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    said = [user("zebra", uuid="t"), assistant("zebra"), assistant("zebra zebra")]
    await store.timeline.append("c", said)

    [hit] = (await store.index.search(TURN, "zebra zebras", None, EVERYWHERE, 9, read=0)).by_words

    assert hit.id == "t"


async def test_a_turn_is_found_by_its_question_its_answers_and_its_tools(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    call = tool_call("read_giraffe", result=tool_result({"path": "lion.py"}))
    failed = tool_call("x", result=tool_result(None, success=False, error="walrus not found"))
    said = [user("zebra", uuid="t"), assistant("tiger", call, failed), assistant("elephant")]
    await store.timeline.append("c", said)
    await store.timeline.append("c", [user("nothing of the kind")])

    for word in ("zebra", "tiger", "elephant"):
        found = (await store.index.search(TURN, word, None, EVERYWHERE, 9, read=0)).by_words
        assert [match.id for match in found] == ["t"], word
    for word in ("giraffe", "lion", "walrus"):
        found = (await store.index.search(PASSAGE, word, None, PassageFilter(), 9)).by_words
        assert [get_turn_id(match.id) for match in found] == ["t"], word


async def test_a_turn_is_found_by_an_answer_that_came_later(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("zebra", uuid="t0"), user("lion", uuid="t1")])
    assert (await store.index.search(TURN, "walrus", None, EVERYWHERE, 9, read=0)).by_words == []

    await store.timeline.append("c", [assistant("walrus", turn_index=0)])

    for word in ("walrus", "zebra"):
        [hit] = (await store.index.search(TURN, word, None, EVERYWHERE, 9, read=0)).by_words
        assert hit.id == "t0", word


async def test_the_best_match_by_words_comes_first(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for name, text in (("weak", "zebra among many other quite different words"),):
        await store.timeline.append("c", [user(text, uuid=name)])
    await store.timeline.append("c", [user("zebra giraffe", uuid="strong")])
    for i in range(5):
        await store.timeline.append("c", exchange(f"filler {i}", "nothing here"))

    found = (await store.index.search(TURN, "giraffe zebra", None, EVERYWHERE, 9, read=0)).by_words

    assert [match.id for match in found] == ["strong", "weak"]
    assert found[0].score > found[1].score


async def test_what_precedes_the_first_question_is_not_a_hit(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [assistant("zebra"), user("lion")])

    assert (await store.index.search(TURN, "zebra", None, EVERYWHERE, 9, read=0)).by_words == []
