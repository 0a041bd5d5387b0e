"""Passages: the pieces of long turns, and what was done in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.conversation_bundle import copy_with_new_ids
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.passages import PassageFilter, make_file_key
from ragforge.domain.schema import CONVERSATION, PASSAGE
from ragforge.domain.transcripts import (
    IntakeStep,
    NewConversation,
    NewMessage,
    TranscriptCursor,
)
from ragforge.errors import PassageNotFound
from ragforge.ports.store import Store
from tests.fakes.authors import ANN, ANN_KEY, BOB_KEY
from tests.fakes.builders import (
    MODEL,
    assistant,
    at,
    conversation,
    direction,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.engines import Engines

ROOT = "/home/ann/shop"
DIFF = "@@ -1 +1 @@\n-total = price\n+total = price * quantity\n unchanged line\n"
EDIT = tool_call(
    "Edit",
    arguments={"file_path": f"{ROOT}/src/cart.py"},
    result=tool_result({"changes": [{"file": f"{ROOT}/src/cart.py", "diff": DIFF}]}),
)
RUN = tool_call(
    "Bash",
    arguments={"command": "make walrus"},
    result=tool_result(None, success=False, error="no rule"),
)
LONG = "\n\n".join(f"{word} " * 120 for word in ("zebra", "giraffe", "okapi"))


async def say(store: Store, *messages: object, uuid: str = "c", **more: object) -> None:
    talk = conversation(uuid=uuid, project_path=ROOT, cwd=ROOT, project_id="shop", **more)
    await store.records.put(CONVERSATION, talk)
    await store.timeline.append(uuid, list(messages))  # type: ignore[arg-type]


async def find(store: Store, words: str, where: PassageFilter | None = None) -> list[str]:
    found = await store.index.search(PASSAGE, words, None, where or PassageFilter(), 9)
    return [match.id for match in found.by_words]


async def test_a_long_turn_is_found_by_its_pieces(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG))

    assert await find(store, "okapi") == ["t:3"]
    assert (await store.records.get(PASSAGE, "t:3")).asked == "Which animals?"
    assert await find(store, "okapi", PassageFilter(kind="done")) == []
    assert len(await find(store, "animals")) == 4  # each piece is understood with its question


async def test_a_short_turn_has_no_passages(store: Store) -> None:
    await say(store, user("Where is the zebra?", uuid="t"), assistant("In the zoo."))

    assert await store.records.find(PASSAGE, PassageFilter()) == []


async def test_a_turn_with_the_longest_id_is_stored_without_passages(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t" * 512), assistant(LONG))
    await say(store, user("Which animals?", uuid="u" * 507), assistant(LONG, EDIT), uuid="d")

    assert set(await find(store, "okapi quantity")) == {f"{'u' * 507}:done", f"{'u' * 507}:3"}


async def test_what_was_done_is_found_by_files_lines_and_commands(store: Store) -> None:
    await say(store, user("Fix the sum", uuid="t"), assistant("Done.", EDIT, RUN))

    for words in ("quantity", "cart.py", "walrus", "rule", make_file_key("src/cart.py")):
        assert await find(store, words, PassageFilter(kind="done")) == ["t:done"], words
    assert await find(store, "unchanged") == []
    done = await store.records.get(PASSAGE, "t:done")
    assert done.files == ("src/cart.py",)
    assert done.text == "src/cart.py\nmake walrus"


async def test_passages_pass_the_filters_of_their_turns(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t", timestamp=at(5)), assistant(LONG))

    for where in (
        PassageFilter("c"),
        PassageFilter(project_ids=["shop"]),
        PassageFilter(since=at(5), until=at(5)),
        PassageFilter(turn_ids=["t"]),
        PassageFilter.of(MemoryFilter("c", ["shop"]), "said"),
    ):
        assert await find(store, "okapi", where) == ["t:3"], where
    for where in (
        PassageFilter("other"),
        PassageFilter(project_ids=["other"]),
        PassageFilter(since=at(6)),
        PassageFilter(turn_ids=["other"]),
    ):
        assert await find(store, "okapi", where) == [], where


async def test_passages_are_found_by_meaning_and_keep_their_vectors_while_a_turn_grows(
    store: Store,
) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG))
    said = PassageFilter(kind="said")
    pending = await store.index.pending(PASSAGE, MODEL, where=said)
    assert sorted(pending) == ["t:0", "t:1", "t:2", "t:3"]
    await store.index.embed(PASSAGE, {one: direction(n) for n, one in enumerate(pending)})

    await store.timeline.append("c", [assistant("walrus " * 200)])

    found = await store.index.search(PASSAGE, "", direction(0), PassageFilter(), 1)
    assert [match.id for match in found.by_vector] == [pending[0]]
    new = await store.index.pending(PASSAGE, MODEL, where=said)
    assert new
    assert not set(new) & set(pending)
    assert await find(store, "walrus")


async def test_hundreds_of_passages_are_embedded_and_found_both_ways_at_once(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant("\n\n".join([LONG] * 60)))
    pending = await store.index.pending(PASSAGE, MODEL, where=PassageFilter(kind="said"))
    assert len(pending) == 181

    await store.index.embed(PASSAGE, {one: direction(n / 9) for n, one in enumerate(pending)})

    assert await store.index.count_pending(PASSAGE, MODEL) == (0, 181)
    found = await store.index.search(PASSAGE, "okapi", direction(0), PassageFilter(), 5, 0.9)
    assert [match.id for match in found.by_vector] == pending[:5]
    assert len(found.by_words) == 5
    assert set(found.items) == {match.id for match in (*found.by_words, *found.by_vector)}


async def test_a_vector_needs_a_passage(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG))

    with pytest.raises(PassageNotFound):
        await store.index.embed(PASSAGE, {"t:0": direction(0), "t:9": direction(1)})

    assert "t:0" in await store.index.pending(PASSAGE, MODEL)


async def test_both_kinds_are_searched_unless_one_is_named(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG, EDIT))

    assert set(await find(store, "okapi quantity")) == {"t:3", "t:done"}
    assert await find(store, "okapi quantity", PassageFilter(kind="said")) == ["t:3"]
    assert await find(store, "okapi quantity", PassageFilter(kind="done")) == ["t:done"]


async def test_passages_of_a_turn_that_branches_share_are_found_in_each(store: Store) -> None:
    cursor = TranscriptCursor("codex", "host", "/home/ann/rollout.jsonl", "", {"offset": 1})
    trunk, fork = conversation(uuid="c", agent="codex"), conversation(uuid="f", agent="codex")
    said = [
        *(user("Which animals?", uuid="t"), assistant(LONG, uuid="a")),
        user("And then?", uuid="later"),
        assistant("\n\n".join(["walrus " * 120, "gnu " * 120, "yak " * 120]), uuid="b"),
    ]
    steps: list[IntakeStep] = [
        NewConversation(trunk, None),
        *(NewMessage("c", one) for one in said),
    ]
    steps += [NewConversation(fork, "a"), NewMessage("f", user("Why?", uuid="q"))]
    await store.transcripts.take_in(cursor, steps)

    assert await find(store, "okapi", PassageFilter("c")) == ["t:3"]
    assert await find(store, "okapi", PassageFilter("f")) == ["t:3"]
    assert await find(store, "walrus", PassageFilter("f")) == []


async def test_a_conversation_that_moves_keeps_the_vectors_of_its_passages(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG))
    await store.index.embed(PASSAGE, {"t:3": direction(0)})
    bundle = await store.archive.conversation("c")

    await store.archive.write(copy_with_new_ids(bundle), new=True)
    await store.records.delete(CONVERSATION, "c")
    await store.archive.write(bundle, new=True)

    found = await store.index.search(PASSAGE, "okapi", direction(0), PassageFilter(), 9)
    passages = [found.items[match.id] for match in found.by_vector]
    assert len(passages) == 2
    assert {one.uuid for one in passages} == {match.id for match in found.by_words}
    assert {one.text for one in passages} == {"okapi " * 119 + "okapi"}


async def test_passages_go_with_their_turn(store: Store) -> None:
    await say(store, user("Which animals?", uuid="t"), assistant(LONG, EDIT))

    await store.records.delete(CONVERSATION, "c")

    assert await store.records.find(PASSAGE, PassageFilter()) == []
    assert await find(store, "okapi quantity") == []


async def test_passages_are_as_private_as_their_conversation(
    store: Store, engine: str, engines: Engines
) -> None:
    place = engines.location(engine)
    ann = await engines.open_at(place, ANN_KEY)
    bob = await engines.open_at(place, BOB_KEY)
    await say(ann, user("Which?", uuid="t"), assistant(LONG), author=ANN, visibility="private")

    assert await find(ann, "okapi") == ["t:3"]
    assert await find(bob, "okapi") == []
    assert await bob.records.find(PASSAGE, PassageFilter()) == []
    await ann.records.update(CONVERSATION, "c", lambda talk: replace(talk, visibility="shared"))
    assert await find(bob, "okapi") == ["t:3"]
