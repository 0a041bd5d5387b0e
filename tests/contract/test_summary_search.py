"""Searching summaries: by words and by vectors, in the scope that was asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, direction, level_2, summary, user

ANY = SummaryFilter()
Search: TypeAlias = Callable[[SummaryFilter, int], Awaitable[list[str]]]


@pytest.fixture(params=["words", "vector"])
def search(request: pytest.FixtureRequest, store: Store) -> Search:
    """Search for zebras, which all the summaries of these tests are about."""

    async def by_words(where: SummaryFilter, limit: int) -> list[str]:
        return [
            m.id for m in (await store.index.search(SUMMARY, "zebra", None, where, limit)).by_words
        ]

    async def by_vector(where: SummaryFilter, limit: int) -> list[str]:
        return [
            m.id
            for m in (await store.index.search(SUMMARY, "", direction(0), where, limit)).by_vector
        ]

    return by_words if request.param == "words" else by_vector


async def talk(store: Store, name: str, path: str = "/p", turns: int = 1) -> None:
    await store.records.put(CONVERSATION, conversation(path, uuid=name))
    await store.timeline.append(name, [user() for _ in range(turns)])


async def plant(store: Store, name: str, turn: int, uuid: str, angle: float = 5, **f: Any) -> None:
    f.setdefault("conversation_summary", "zebra")
    await store.timeline.save_summary(summary(name, turn, turn, uuid=uuid, **f))
    await store.index.embed(SUMMARY, {uuid: direction(angle)})


async def test_scopes_never_leak(store: Store, search: Search) -> None:
    for name, path in (("c", "/p"), ("d", "/p2"), ("e", "/p/sub"), ("f", "/_")):
        await talk(store, name, path)
        await plant(store, name, 0, f"of {name}")

    for name, path in (("c", "/p"), ("d", "/p2"), ("e", "/p/sub"), ("f", "/_")):
        assert await search(SummaryFilter(conversation_id=name), 9) == [f"of {name}"]
        assert await search(SummaryFilter(project_ids=[path]), 9) == [f"of {name}"]
    assert len(await search(ANY, 9)) == 4
    assert await search(SummaryFilter("c", "/p2"), 9) == []


async def test_levels_and_dates_narrow_the_search(store: Store, search: Search) -> None:
    await talk(store, "c", turns=3)
    for i, moment in enumerate([at(-1, 14), at(0, -12), at(1, 5.5)]):
        await plant(store, "c", i, f"s{i}", created_at=moment)
    parents = [await store.records.get(SUMMARY, "s0"), await store.records.get(SUMMARY, "s1")]
    upper = level_2(parents, uuid="l2", conversation_summary="zebra", created_at=at(2))
    await store.timeline.save_summary(upper)
    await store.index.embed(SUMMARY, {"l2": direction(5)})

    assert await search(SummaryFilter(level=2), 9) == ["l2"]
    assert set(await search(SummaryFilter(level=1), 9)) == {"s0", "s1", "s2"}
    assert set(await search(SummaryFilter(since=at(0, 9), until=at(1, -9)), 9)) == {"s1", "s2"}
    assert await search(SummaryFilter(until=at(-1)), 9) == ["s0"]
    assert await search(SummaryFilter(level=2, until=at(1)), 9) == []


async def test_filters_come_before_the_limit(store: Store, search: Search) -> None:
    await talk(store, "crowd", "/crowded", turns=120)
    for i in range(120):
        await plant(store, "crowd", i, f"s{i}", angle=0, conversation_summary="zebra zebra")
    await talk(store, "small", "/quiet")
    await plant(store, "small", 0, "wanted", angle=80, conversation_summary="one zebra of many")

    assert await search(SummaryFilter(conversation_id="small"), 1) == ["wanted"]
    assert await search(SummaryFilter(project_ids=["/quiet"]), 1) == ["wanted"]
    assert len(await search(ANY, 5)) == 5


async def test_a_summary_is_found_by_all_its_texts(store: Store) -> None:
    await talk(store, "c")
    given = summary(
        "c",
        uuid="s",
        conversation_summary="zebra",
        actions_summary="giraffe",
        key_findings=("lion", "tiger"),
        topics=("walrus",),
        files_mentioned=("src/elephant.py",),
        tools_used=("read_otter",),
    )
    await store.timeline.save_summary(given)

    for word in ("zebra", "giraffe", "lion", "tiger", "walrus", "elephant", "otter"):
        found = (await store.index.search(SUMMARY, word, None, ANY, 9)).by_words
        assert [match.id for match in found] == ["s"], word
    assert (await store.index.search(SUMMARY, "badger", None, ANY, 9)).by_words == []


async def test_a_deleted_summary_is_not_found(store: Store, search: Search) -> None:
    await talk(store, "c", turns=2)
    await plant(store, "c", 0, "s0")
    await plant(store, "c", 1, "s1")

    await store.records.delete(SUMMARY, "s0")

    assert await search(ANY, 9) == ["s1"]


async def test_the_best_summary_comes_first(store: Store) -> None:
    await talk(store, "c", turns=3)
    await plant(store, "c", 0, "far", 60, conversation_summary="zebra and a lot of other words")
    await plant(store, "c", 1, "near", 1, conversation_summary="zebra giraffe")
    await plant(store, "c", 2, "none", 90, conversation_summary="nothing of the kind at all")

    by_words = (await store.index.search(SUMMARY, "giraffe zebra", None, ANY, 9)).by_words
    by_vector = (await store.index.search(SUMMARY, "", direction(0), ANY, 9)).by_vector

    assert [match.id for match in by_words] == ["near", "far"]
    assert [match.id for match in by_vector] == ["near", "far", "none"]
