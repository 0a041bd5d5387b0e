"""Summaries: stored, found, replaced."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.errors import ConversationNotFound, InvalidTime, SummaryNotFound
from ragforge.memory.history import History
from ragforge.ports.store import Store
from tests.fakes.builders import (
    MODEL,
    START,
    at,
    conversation,
    direction,
    level_2,
    mention,
    reference,
    summary,
    user,
)
from tests.fakes.coverage import list_covered
from tests.fakes.engines import counts

ANY = SummaryFilter()


async def plant(store: Store, name: str = "c", turns: int = 6, path: str = "/p") -> None:
    await store.records.put(CONVERSATION, conversation(path, uuid=name))
    await store.timeline.append(name, [user(f"q{i}") for i in range(turns)])


async def save(store: Store, *summaries: Summary) -> None:
    for one in summaries:
        await store.timeline.save_summary(one)


async def found(store: Store, where: SummaryFilter = ANY, **page: int) -> list[str]:
    return [s.uuid for s in await store.records.find(SUMMARY, where, **page)]


async def test_a_summary_comes_back_as_it_was_stored(store: Store) -> None:
    await plant(store)
    given = summary(
        "c",
        0,
        2,
        actions_summary="Edited cart.py",
        files_mentioned=("b.py", "a.py", "b.py"),
        key_findings=("One.", "", "Two."),
        tools_used=("grep_files",),
        topics=("cart",),
        made_by="some-model",
        created_at=at(1, 5.5),
        char_range_start=3,
        char_range_end=5_000_000_000,
    )
    await save(store, given)

    stored = await store.records.get(SUMMARY, given.uuid)

    assert stored == given
    assert stored.created_at.isoformat() == given.created_at.isoformat()
    assert await store.records.find(SUMMARY, ANY) == [given]


async def test_a_summary_may_be_empty(store: Store) -> None:
    await plant(store)
    given = summary("c", conversation_summary="")
    await save(store, given)
    assert await store.records.get(SUMMARY, given.uuid) == given


async def test_a_second_level_keeps_its_parents_in_order(store: Store) -> None:
    await plant(store)
    first, second = summary("c", 0, 1, uuid="z"), summary("c", 2, 3, uuid="a")
    given = level_2([first, second], uuid="l2")
    await save(store, first, second, given)

    assert await store.records.get(SUMMARY, "l2") == given
    assert given.parent_summaries == ("z", "a")


async def test_saving_again_replaces_the_summary(store: Store) -> None:
    await plant(store)
    first = summary("c", 0, 1, uuid="s", topics=("old",), conversation_summary="zebra")
    second = replace(first, topics=(), conversation_summary="giraffe", made_by="better")
    await save(store, first, second)

    assert await store.records.get(SUMMARY, "s") == second
    assert await found(store) == ["s"]
    assert (await store.index.search(SUMMARY, "zebra", None, ANY, 9)).by_words == []
    assert [
        m.id for m in (await store.index.search(SUMMARY, "giraffe", None, ANY, 9)).by_words
    ] == ["s"]


async def test_saving_the_same_twice_changes_nothing(store: Store) -> None:
    await plant(store)
    given = summary("c", 0, 1, uuid="s")
    await save(store, given)
    before = await counts(store), await list_covered(store, "s")

    await save(store, given)

    assert (await counts(store), await list_covered(store, "s")) == before


async def test_a_summary_needs_its_conversation_and_its_parents(store: Store) -> None:
    await plant(store)
    first = summary("c", 0, 1)
    await save(store, first)
    before = await counts(store)

    with pytest.raises(ConversationNotFound):
        await save(store, summary("none"))
    with pytest.raises(SummaryNotFound):
        await save(store, level_2([first, summary("c", 2, 3)]))
    with pytest.raises(InvalidTime):
        await save(store, summary("c", 4, 4, created_at=START.replace(tzinfo=None)))

    assert await counts(store) == before
    assert await store.records.find(SUMMARY, SummaryFilter("c", outside_level_2=True)) == [first]


async def test_summaries_are_listed_oldest_range_first_within_a_conversation(store: Store) -> None:
    for name in ("c", "d"):
        await plant(store, name)
    await save(
        store,
        summary("c", 4, 5, uuid="c3", created_at=at(0)),
        summary("d", 2, 3, uuid="d2", created_at=at(1)),
        summary("c", 0, 1, uuid="c1", created_at=at(9)),
        summary("d", 0, 1, uuid="d1", created_at=at(3)),
        summary("c", 2, 3, uuid="c2", created_at=at(4)),
    )
    told = await found(store)

    assert [uuid for uuid in told if uuid[0] == "c"] == ["c1", "c2", "c3"]
    assert [uuid for uuid in told if uuid[0] == "d"] == ["d1", "d2"]
    pages = [uuid for start in (0, 2, 4) for uuid in await found(store, limit=2, offset=start)]
    assert pages == told
    assert await found(store, offset=9) == await found(store, limit=0) == []


async def test_filters_narrow_what_is_found(store: Store) -> None:
    for name, path in (("c", "/p"), ("d", "/p2"), ("e", "/p/sub")):
        await plant(store, name, path=path)
    first, second = summary("c", 0, 0, uuid="c1"), summary("c", 1, 1, uuid="c2")
    other, deep = summary("d", 0, 0, uuid="d1"), summary("e", 0, 0, uuid="e1")
    await save(store, first, second, level_2([first, second], uuid="l2"), other, deep)

    assert set(await found(store, SummaryFilter(conversation_id="c"))) == {"c1", "c2", "l2"}
    assert set(await found(store, SummaryFilter(project_ids=["/p"]))) == {"c1", "c2", "l2"}
    assert await found(store, SummaryFilter(project_ids=["/p2"])) == ["d1"]
    assert await found(store, SummaryFilter(level=2)) == ["l2"]
    assert await found(store, SummaryFilter("c", level=1)) == ["c1", "c2"]
    assert await found(store, SummaryFilter("c", level=1, first_turn=1)) == ["c2"]
    assert await found(store, SummaryFilter("c", "/p2")) == []
    assert await found(store, SummaryFilter("none")) == []


async def test_dates_are_instants_of_creation_and_both_ends_belong(store: Store) -> None:
    await plant(store)
    moments = [at(-1, 14), at(0, -12), at(60, 5.5), at(61, -12)]
    await save(
        store, *(summary("c", i, i, uuid=f"s{i}", created_at=m) for i, m in enumerate(moments))
    )
    assert await found(store, SummaryFilter(since=at(0, 9), until=at(60, -8))) == ["s1", "s2"]
    assert await found(store, SummaryFilter(since=at(60, 14))) == ["s2", "s3"]
    assert await found(store, SummaryFilter(until=at(0, 14))) == ["s0", "s1"]


async def test_those_that_mention_a_file_are_found(store: Store) -> None:
    await plant(store)
    await save(store, summary("c", uuid="s"), summary("c", 1, 1, uuid="t"))
    await store.timeline.link(SUMMARY, "s", [], [mention("a.py")])
    await store.timeline.link(SUMMARY, "t", [reference("1", "b.py", "x")], [])

    assert await found(store, SummaryFilter(file="a.py")) == ["s"]
    assert await found(store, SummaryFilter(file="b.py")) == ["t"]  # by something in it
    assert await found(store, SummaryFilter(file="b.py", level=2)) == []
    assert await found(store, SummaryFilter(file="c.py")) == []


async def test_summaries_of_several_conversations_are_found_together(store: Store) -> None:
    for talk in ("a", "b", "c"):
        await plant(store, talk)
        await save(store, summary(talk, 0, 0, uuid=f"of-{talk}"))

    assert await found(store, SummaryFilter(conversation_ids=["a", "c"])) == ["of-a", "of-c"]
    assert await found(store, SummaryFilter(conversation_ids=[])) == []


async def test_findings_are_unread_until_they_were_shown(store: Store) -> None:
    await plant(store)
    await save(
        store,
        summary("c", 0, 0, uuid="a", key_findings=("The sky is blue.",)),
        summary("c", 1, 1, uuid="b", key_findings=("",)),
        summary("c", 2, 2, uuid="nothing"),
    )
    unread = SummaryFilter(unread=True)
    assert await found(store, unread) == ["a", "b"]

    history = History(store)
    a, b = sorted(await history.get_unread_findings(), key=attrgetter("uuid"))
    await history.mark_findings_read([a, summary("c", 0, 0, uuid="nobody")])
    assert await found(store, unread) == ["b"]
    first = (await store.records.get(SUMMARY, "a")).read_at
    assert first is not None
    assert first.utcoffset() is not None
    await history.mark_findings_read([a, b])
    assert (await store.records.get(SUMMARY, "a")).read_at == first  # it was read then
    assert await found(store, unread) == []


async def test_mentions_are_set_and_returned_in_order(store: Store) -> None:
    await plant(store)
    await save(store, summary("c", uuid="s"), summary("c", 1, 1, uuid="t"))
    files = [mention("b.py"), mention("a.py")]
    scopes = [reference("1", "b.py", "x"), reference("2", "a.py", "z"), reference("3", "a.py", "y")]
    await store.timeline.link(SUMMARY, "s", scopes, files)

    assert await store.timeline.links(["s", "t", "nobody"]) == {
        "s": ([scopes[2], scopes[1], scopes[0]], files[::-1])
    }
    assert await store.timeline.links([]) == {}

    await store.timeline.link(SUMMARY, "s", [], [mention("c.py", "h2")])
    assert await store.timeline.links(["s"]) == {"s": ([], [mention("c.py", "h2")])}
    await store.timeline.link(SUMMARY, "s", [], [])
    assert await store.timeline.links(["s"]) == {}


async def test_what_messages_and_summaries_are_linked_to_is_returned_at_once(store: Store) -> None:
    await plant(store)
    await save(store, summary("c", uuid="s"))
    [said, *_] = await store.timeline.messages("c")
    scope = reference("1", "b.py", "x")
    await store.timeline.link(MESSAGE, said.uuid, [scope])
    await store.timeline.link(SUMMARY, "s", [scope], [mention("a.py")])
    assert await store.timeline.links([said.uuid, "s"]) == {
        said.uuid: ([scope], []),
        "s": ([scope], [mention("a.py")]),
    }


async def test_summaries_without_a_vector_are_listed_oldest_first(store: Store) -> None:
    await plant(store)
    for name, minute in (("b", 1), ("c", 2), ("a", 0)):
        await save(store, summary("c", minute, minute, uuid=name, created_at=at(minute)))
    await store.index.embed(SUMMARY, {"b": direction(0)})
    await store.index.embed(SUMMARY, {})

    assert await store.index.pending(SUMMARY, MODEL, 9) == ["a", "c"]
    assert await store.index.pending(SUMMARY, MODEL, 1) == ["a"]
    assert await store.index.pending(SUMMARY, "another", 9) == ["a", "b", "c"]


async def test_only_known_summaries_can_be_embedded_and_all_or_none_are(store: Store) -> None:
    await plant(store)
    await save(store, summary("c", uuid="s"))

    with pytest.raises(SummaryNotFound):
        await store.index.embed(SUMMARY, {"s": direction(0), "none": direction(1)})

    assert await store.index.pending(SUMMARY, MODEL, 9) == ["s"]
