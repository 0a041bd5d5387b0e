"""Match words: which turns contain a query's words, with the turns next to them."""

from __future__ import annotations

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import WordMatches
from ragforge.domain.schema import CONVERSATION
from ragforge.ports.store import Store
from tests.conftest import Reopen
from tests.fakes.builders import assistant, at, conversation, user

EVERYWHERE = MemoryFilter()
TALK = ["hello", "where is the zebra", "in the giraffe house", "thanks", "bye"]


async def plant(store: Store, name: str, *texts: str, project: str = "/p") -> None:
    """Store a conversation of one turn a text, a minute apart."""
    await store.records.put(CONVERSATION, conversation(project, uuid=name))
    said = [user(text, uuid=f"{name}-{i}", timestamp=at(i)) for i, text in enumerate(texts)]
    await store.timeline.append(name, said)


def held(found: WordMatches) -> dict[str, dict[str, int]]:
    return {match.id: dict(match.words) for match in found.matches}


async def test_turns_come_with_their_neighbours_and_what_they_hold(store: Store) -> None:
    await plant(store, "c", *TALK)

    found = (await store.index.match_turns("zebras", EVERYWHERE, 9, reach=1))[0]

    assert held(found) == {"c-0": {}, "c-1": {"zebra": 1}, "c-2": {}}
    assert found.counts == {"zebra": 1}
    assert found.turn_count == 5
    [match] = [match for match in found.matches if match.words]
    assert (match.conversation_id, match.turn_index, match.length) == ("c", 1, 4)


async def test_without_reach_there_are_no_neighbours(store: Store) -> None:
    await plant(store, "c", *TALK)

    found = (await store.index.match_turns("zebra", EVERYWHERE, 9, reach=0))[0]

    assert held(found) == {"c-1": {"zebra": 1}}


async def test_the_newest_come_first(store: Store) -> None:
    await plant(store, "c", "zebra", "zebra", "zebra")

    found = (await store.index.match_turns("zebra", EVERYWHERE, 9, reach=1))[0]

    assert list(held(found)) == ["c-2", "c-1", "c-0"]


async def test_a_word_that_occurs_more_than_once_is_counted_up_to_two(store: Store) -> None:
    await plant(store, "c", "zebra zebra zebra lion", *(f"filler {i}" for i in range(9)))
    await store.timeline.append("c", [assistant("lion", turn_index=0)])

    found = (await store.index.match_turns("lion zebra", EVERYWHERE, 9, reach=0))[0]

    assert held(found) == {"c-0": {"zebra": 2, "lion": 2}}


async def test_neighbours_are_never_of_another_conversation(store: Store) -> None:
    await plant(store, "a", "zebra")
    await plant(store, "b", "one", "two")
    await store.timeline.append("a", [user("next", uuid="a-1", timestamp=at(9))])

    found = (await store.index.match_turns("zebra", EVERYWHERE, 9, reach=4))[0]

    assert held(found).keys() == {"a-0", "a-1"}


async def test_what_does_not_pass_the_filter_is_neither_found_nor_counted(store: Store) -> None:
    await plant(store, "here", "zebra", "zebra", "other", project="/p")
    await plant(store, "there", "zebra", "zebra", "zebra", project="/q")

    async def matching(query: str, where: MemoryFilter, limit: int, reach: int) -> WordMatches:
        return (await store.index.match_turns(query, where, limit, reach))[0]

    project = await matching("zebra", MemoryFilter(project_ids=["/p"]), 9, reach=4)
    talk = await matching("zebra", MemoryFilter(conversation_id="there"), 9, reach=4)
    late = await matching("zebra", MemoryFilter("here", ["/p"], since=at(1)), 9, reach=4)
    none = await matching("zebra", MemoryFilter("here", ["/q"]), 9, reach=4)

    assert held(project).keys() == {"here-0", "here-1", "here-2"}
    assert (project.counts, project.turn_count) == ({"zebra": 2}, 3)
    assert held(talk).keys() == {"there-0", "there-1", "there-2"}
    assert held(late).keys() == {"here-1", "here-2"}
    assert (late.counts, late.turn_count) == ({"zebra": 1}, 2)
    assert held(none) == {}


async def test_only_one_project_is_searched_whatever_letters_its_id_has(store: Store) -> None:
    ids = ['/my shop"s', "shop*", "/my/shop OR *", "é:(/shop)", "a-b"]
    for number, project in enumerate(ids):
        await plant(store, f"c{number}", "zebra", "other", project=project)

    for number, project in enumerate(ids):
        where = MemoryFilter(project_ids=[project])
        found = (await store.index.match_turns("zebra", where, 9, reach=0))[0]
        assert held(found).keys() == {f"c{number}-0"}
        assert (found.counts, found.turn_count) == ({"zebra": 1}, 2)


async def test_the_limit_is_of_the_turns_that_hold_words(store: Store) -> None:
    await plant(store, "a", "zebra giraffe lion", *["filler"] * 20, "zebra", *["filler"] * 20)

    found = (await store.index.match_turns("zebra giraffe lion", EVERYWHERE, 1, reach=2))[0]

    assert held(found).keys() == {"a-0", "a-1", "a-2"}
    assert held((await store.index.match_turns("zebra", EVERYWHERE, 0, reach=2))[0]) == {}


async def test_what_another_process_stores_is_found_in_its_scope(
    store: Store, reopen: Reopen
) -> None:
    await plant(store, "c", "lion")
    there = await reopen()
    inside = MemoryFilter(project_ids=["/p"])

    for count in range(1, 6):
        await store.timeline.append("c", [user("zebra")])
        for _ in range(3):  # what is remembered of one search must not blind the next
            found = (await there.index.match_turns("zebra", inside, 9, reach=0))[0]
            assert (len(found.matches), found.turn_count) == (count, count + 1)


async def test_a_branch_has_its_own_neighbours(store: Store) -> None:
    await plant(store, "c", *TALK)
    await store.timeline.branch("c-1", conversation(uuid="branch"))

    found = (await store.index.match_turns("zebra", EVERYWHERE, 9, reach=2))[0]

    talks = [(match.conversation_id, match.turn_index) for match in found.matches]
    assert sorted(talks) == [("branch", 0), ("branch", 1), ("c", 0), ("c", 1), ("c", 2), ("c", 3)]


async def test_the_rarest_words_of_a_very_long_query_are_searched(store: Store) -> None:
    names = [f"name{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(60)]
    await plant(store, "c", " ".join(names), " ".join(names), "zebra")

    found = (await store.index.match_turns(" ".join([*names, "zebra"]), EVERYWHERE, 9, reach=0))[0]

    assert found.counts is not None
    assert found.counts["zebra"] == 1
    assert len(found.counts) < 60


async def test_a_query_without_known_words_finds_nothing(store: Store) -> None:
    await plant(store, "c", *TALK)

    for query in ("walrus", "", "?!", "\x00"):
        found = (await store.index.match_turns(query, EVERYWHERE, 9, reach=2))[0]
        assert found.matches == ()


async def test_the_most_common_of_many_words_are_skipped_and_named(store: Store) -> None:
    rare = [f"{letter}ox" for letter in "abcdefghijklmnopqrstuvwx"]
    await plant(store, "c", " ".join([*rare, "zebra"]), "zebra", "zebra")

    found = (
        await store.index.match_turns(" ".join(["zebra", *rare, "dodo"]), EVERYWHERE, 9, reach=0)
    )[0]

    assert found.too_common == {"zebra"}
    assert found.counts is not None
    assert "zebra" not in found.counts
    assert "dodo" not in found.counts
