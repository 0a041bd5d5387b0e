"""Conversations: made, found, changed and deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.conversations import Conversation, ConversationChanges, ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import ConversationNotFound, DuplicateId, InvalidId, InvalidTime
from ragforge.ports.store import Store
from tests.fakes.builders import START, assistant, at, conversation, exchange, user
from tests.fakes.engines import counts

ANY = ConversationFilter()


async def create(store: Store, *conversations: Conversation) -> None:
    for one in conversations:
        await store.records.put(CONVERSATION, one)


async def found(store: Store, where: ConversationFilter = ANY, **page: int) -> list[str]:
    return [c.uuid for c in await store.records.find(CONVERSATION, where, **page)]


async def test_a_conversation_comes_back_as_it_was_stored(store: Store) -> None:
    given = conversation(
        title="Refactor",
        summary="About carts.",
        tags=("b", "a", "b"),
        status="archived",
        created_at=at(1, 5.5),
        updated_at=at(2, -3),
    )
    await create(store, given)

    stored = await store.records.get(CONVERSATION, given.uuid)

    assert stored == given
    assert stored.created_at.isoformat() == given.created_at.isoformat()
    assert stored.updated_at.isoformat() == given.updated_at.isoformat()


@pytest.mark.parametrize("text", ["", None])
async def test_an_empty_title_is_not_a_missing_one(store: Store, text: str | None) -> None:
    await create(store, conversation(uuid="c", title=text, summary=text))

    stored = await store.records.get(CONVERSATION, "c")

    assert (stored.title, stored.summary, stored.tags) == (text, text, ())


async def test_counters_start_at_zero_whatever_was_given(store: Store) -> None:
    given = conversation(message_count=7, turn_count=8, total_chars=9)
    await create(store, given)

    stored = await store.records.get(CONVERSATION, given.uuid)

    assert (stored.message_count, stored.turn_count, stored.total_chars) == (0, 0, 0)


async def test_times_are_kept_to_the_millisecond(store: Store) -> None:
    given = conversation(created_at=START.replace(microsecond=123_987))
    await create(store, given)

    stored = await store.records.get(CONVERSATION, given.uuid)

    assert stored.created_at == START.replace(microsecond=123_000)


async def test_a_taken_id_is_refused_and_nothing_changes(store: Store) -> None:
    first = conversation(uuid="c", title="first")
    await create(store, first)

    with pytest.raises(DuplicateId) as refused:
        await create(store, conversation("/work/other", uuid="c", title="second"))

    assert refused.value.wanted == "c"
    assert await store.records.get(CONVERSATION, "c") == first
    assert await found(store) == ["c"]


@pytest.mark.parametrize("uuid", ["", "x" * 513])
async def test_an_id_is_neither_empty_nor_endless(store: Store, uuid: str) -> None:
    with pytest.raises(InvalidId):
        await create(store, conversation(uuid=uuid))
    assert await found(store) == []


async def test_the_longest_id_is_kept(store: Store) -> None:
    longest = "é" * 512
    await create(store, conversation(uuid=longest))
    assert await found(store) == [longest]


async def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(InvalidTime):
        await create(store, conversation(created_at=START.replace(tzinfo=None), updated_at=START))
    assert await found(store) == []


async def test_the_last_active_comes_first_and_ties_go_by_id(store: Store) -> None:
    await create(
        store,
        conversation(uuid="b", updated_at=at(0)),
        conversation(uuid="newest", updated_at=at(10, -11)),
        conversation(uuid="a", updated_at=at(0, 9)),
        conversation(uuid="oldest", updated_at=at(-10, 14)),
    )
    assert await found(store) == ["newest", "a", "b", "oldest"]


async def test_pages_follow_each_other_without_gaps(store: Store) -> None:
    await create(store, *(conversation(uuid=f"c{i}", updated_at=at(-i)) for i in range(7)))

    pages = [await found(store, limit=3, offset=offset) for offset in (0, 3, 6, 9)]

    assert pages == [["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"], []]


async def test_all_are_found_unless_told_otherwise(store: Store) -> None:
    await create(store, *(conversation(uuid=f"{i:02}") for i in range(52)))

    assert len(await found(store)) == 52
    assert len(await found(store, limit=50)) == 50
    assert await found(store, limit=0) == []


async def test_an_empty_store_finds_nothing(store: Store) -> None:
    assert await found(store) == []


async def test_directories_that_look_alike_are_not_mixed_up(store: Store) -> None:
    paths = ["/w/shop", "/w/shop2", "/w/shop/sub", "/w/Shop", "/w/sh_p", "/w/sh%", "/w/shop/"]
    await create(store, *(conversation(path, uuid=path) for path in paths))

    for path in paths:
        assert await found(store, ConversationFilter(cwd=path)) == [path]
        assert await found(store, ConversationFilter(project_ids=[path])) == [path]


async def test_directory_and_project_are_told_apart(store: Store) -> None:
    await create(store, conversation("/w/shop/sub", project_path="/w/shop", uuid="sub"))
    await create(store, conversation("/w/shop", project_path="/w", uuid="root"))

    assert await found(store, ConversationFilter(cwd="/w/shop")) == ["root"]
    assert await found(store, ConversationFilter(project_ids=["/w/shop"])) == ["sub"]


async def test_status_and_tags_narrow_what_is_found(store: Store) -> None:
    await create(
        store,
        conversation(uuid="a", tags=("auth", "api")),
        conversation(uuid="b", tags=("api",), status="archived"),
        conversation(uuid="c", tags=("authentic",)),
        conversation(uuid="d"),
    )
    assert await found(store, ConversationFilter(status="archived")) == ["b"]
    assert await found(store, ConversationFilter(status="active")) == ["a", "c", "d"]
    assert await found(store, ConversationFilter(tags=("auth",))) == ["a"]
    assert await found(store, ConversationFilter(tags=("authentic", "api"))) == ["a", "b", "c"]
    assert await found(store, ConversationFilter(tags=("api",), status="active")) == ["a"]
    assert await found(store, ConversationFilter(tags=("missing",))) == []


async def test_dates_are_instants_and_both_ends_belong(store: Store) -> None:
    await create(
        store,
        conversation(uuid="before", updated_at=at(-1, 14)),  # its text sorts last
        conversation(uuid="start", updated_at=at(0, -12)),  # its text sorts first
        conversation(uuid="end", updated_at=at(60, 5.5)),
        conversation(uuid="after", updated_at=at(61, -12)),
    )
    both = ConversationFilter(since=at(0, 9), until=at(60, -8))

    assert await found(store, both) == ["end", "start"]
    assert await found(store, ConversationFilter(since=at(60, -12))) == ["after", "end"]
    assert await found(store, ConversationFilter(until=at(0, 14))) == ["start", "before"]


async def test_only_what_is_given_is_changed(store: Store) -> None:
    given = conversation(uuid="c", title="old", summary="kept", tags=("a",))
    await create(store, given)

    changed = await store.records.update(CONVERSATION, "c", ConversationChanges(title="new"))

    assert replace(changed, updated_at=given.updated_at) == replace(given, title="new")
    assert await store.records.get(CONVERSATION, "c") == changed


async def test_texts_can_be_emptied_and_tags_removed(store: Store) -> None:
    await create(store, conversation(uuid="c", title="t", summary="s", tags=("a", "b")))

    changes = ConversationChanges(title="", summary="", tags=(), status="archived")
    changed = await store.records.update(CONVERSATION, "c", changes)

    assert (changed.title, changed.summary, changed.tags) == ("", "", ())
    assert await store.records.get(CONVERSATION, "c") == changed
    assert await found(store, ConversationFilter(tags=("a",))) == []
    assert await found(store, ConversationFilter(status="archived")) == ["c"]


async def test_a_change_leaves_messages_and_counters_alone(store: Store) -> None:
    await create(store, conversation(uuid="c"))
    said = await store.timeline.append("c", exchange("Who?", "Me."))

    changed = await store.records.update(CONVERSATION, "c", ConversationChanges(tags=("x",)))

    assert (changed.message_count, changed.turn_count, changed.total_chars) == (2, 1, 7)
    assert await store.timeline.messages("c") == said


async def test_activity_brings_a_conversation_to_the_front(store: Store) -> None:
    await create(store, conversation(uuid="quiet", updated_at=at(1)))
    await create(store, conversation(uuid="busy", updated_at=at(0)))

    await store.timeline.append("busy", [user("Hello", timestamp=at(5))])

    assert await found(store) == ["busy", "quiet"]
    assert (await store.records.get(CONVERSATION, "busy")).updated_at >= at(5)


async def test_counters_count_messages_turns_and_characters(store: Store) -> None:
    await create(store, conversation(uuid="c"))
    await store.timeline.append("c", exchange("12345", "123"))
    await store.timeline.append("c", [user("👍🏽"), assistant("")])

    stored = await store.records.get(CONVERSATION, "c")

    assert (stored.message_count, stored.turn_count, stored.total_chars) == (4, 2, 10)


async def test_an_unknown_conversation_cannot_be_changed(store: Store) -> None:
    with pytest.raises(ConversationNotFound):
        await store.records.update(CONVERSATION, "none", ConversationChanges(title="x"))
    assert set((await counts(store)).values()) == {0}


async def test_a_deleted_conversation_is_gone_and_its_id_free_again(store: Store) -> None:
    await create(store, conversation(uuid="c", title="first"), conversation(uuid="other"))
    await store.timeline.append("c", exchange("Who?", "Me."))

    await store.records.delete(CONVERSATION, "c")

    with pytest.raises(ConversationNotFound):
        await store.records.get(CONVERSATION, "c")
    with pytest.raises(ConversationNotFound):
        await store.records.delete(CONVERSATION, "c")
    assert await found(store) == ["other"]
    await create(store, conversation(uuid="c", title="second"))
    assert await store.timeline.messages("c") == []


async def test_conversations_are_found_by_how_their_id_starts(store: Store) -> None:
    for uuid in ("ab12", "ab", "ab1", "b12", "AB", "a%", "a_", "ab\U0010ffffz"):
        await store.records.put(CONVERSATION, conversation(uuid=uuid))

    async def starting(prefix: str, limit: int = 10) -> list[str]:
        return [
            one.uuid
            for one in await store.records.find(
                CONVERSATION, ConversationFilter(prefix=prefix), limit
            )
        ]

    assert await starting("ab1") == ["ab1", "ab12"]
    assert await starting("ab") == ["ab", "ab1", "ab12", "ab\U0010ffffz"]
    assert await starting("ab", limit=2) == ["ab", "ab1"]
    assert await starting("a%") == ["a%"]
    assert await starting("a_") == ["a_"]
    assert await starting("abc") == []
    assert len(await starting("")) == 8
