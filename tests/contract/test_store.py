"""A whole store: health, durability, size."""

from __future__ import annotations

from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import CONVERSATION, JOB, MESSAGE, PASSAGE, TURN
from ragforge.domain.work import JobFilter
from ragforge.memory.history import History
from ragforge.ports.store import Store
from tests.conftest import Reopen
from tests.fakes.builders import assistant, conversation, placed, tool_call, tool_result, user
from tests.fakes.copying import everything, read_bookmark, set_bookmark
from tests.fakes.engines import counts
from tests.fakes.rich import fill

MEGABYTE = 1_000_000


async def test_a_healthy_store_says_what_it_is(store: Store, engine: str) -> None:
    health = await store.health()

    assert health.engine == engine
    assert health.version
    assert health.location
    assert health.schema >= 1
    assert health.problems == ()


async def test_a_store_describes_itself_without_a_check(store: Store) -> None:
    assert await store.health(check=False) == await store.health()


async def test_a_new_store_is_empty(store: Store) -> None:
    assert set((await counts(store)).values()) == {0}
    assert await store.records.find(CONVERSATION, ConversationFilter()) == []
    assert await store.archive.count("project") == 0
    assert await store.records.find(JOB, JobFilter()) == []


async def test_what_was_stored_is_there_when_it_is_opened_again(
    store: Store, reopen: Reopen
) -> None:
    await fill(store)
    expected = await everything(store)
    await set_bookmark(store, "copy", "here")
    await store.close()

    again = await reopen()

    assert await everything(again) == expected
    assert await read_bookmark(again, "copy") == "here"
    assert (await again.health()).problems == ()
    found = (await again.index.search(TURN, "zebras", None, MemoryFilter(), 9, read=0)).by_words
    assert {match.id for match in found} >= {"turn-0", "bill-0"}


async def test_what_one_store_acknowledges_another_sees_at_once(
    store: Store, reopen: Reopen
) -> None:
    other = await reopen()
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for i in range(5):
        await store.timeline.append("c", [user(f"q{i}")])
        [newest] = await other.timeline.messages("c", limit=1, newest=True)
        assert newest.content == f"q{i}"


async def test_closing_twice_is_fine_and_loses_nothing(store: Store, reopen: Reopen) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.close()
    await store.close()

    assert (await (await reopen()).records.get(CONVERSATION, "c")).uuid == "c"


async def test_a_result_of_ten_megabytes_comes_back_whole(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    text = "é line of output 👍 \x00\n" * (10 * MEGABYTE // 24)
    result = tool_result(text, result_size_bytes=len(text.encode()))
    given = [user("zebra"), assistant("giraffe", tool_call("run", result=result))]

    appended = await store.timeline.append("c", given)

    assert appended == placed(given)
    assert (await store.timeline.messages("c"))[1].tool_calls[0].result == result
    assert (await store.records.get(CONVERSATION, "c")).total_chars == len("zebragiraffe") + len(
        text
    )
    found = await store.index.search(PASSAGE, "line", None, PassageFilter(), 9)
    assert found.by_words
    for word in ("zebra", "giraffe"):
        assert (await store.index.search(TURN, word, None, MemoryFilter(), 9, read=0)).by_words, (
            word
        )


async def test_a_question_of_a_megabyte_is_stored_and_found(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    content = "zebra " + "x" * MEGABYTE
    [stored] = await store.timeline.append("c", [user(content)])

    assert await store.records.get(MESSAGE, stored.uuid) == stored
    [hit] = (await store.index.search(TURN, "zebra", None, MemoryFilter(), 9, read=0)).by_words
    assert hit.id == stored.uuid


async def test_a_conversation_of_thousands_of_messages_is_read_whole(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    given = [m for i in range(1_000) for m in (user(f"q{i}"), assistant(f"a{i}", tool_call()))]

    appended = await store.timeline.append("c", given)

    assert await store.timeline.messages("c") == appended
    assert len(await History(store).get_tool_calls("c")) == 1_000
    last = await store.timeline.messages("c", first_turn=999)
    assert [m.content for m in last] == ["q999", "a999"]
    assert len(await store.timeline.turns([m.uuid for m in given[::2]])) == 1_000
    assert len(await store.timeline.coverage("c")) == 1_000
