"""Notes: kept per project, found by words and meaning, superseded without being lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import CONVERSATION, NOTE
from ragforge.errors import DimensionMismatch, DuplicateId, InvalidText, NoteNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import MODEL, SHOP, at, conversation, direction, note, score_of, vector
from tests.fakes.engines import counts
from tests.fakes.whole import Whole, add_whole, read_whole

HERE = NoteFilter([SHOP])
EVERY = NoteFilter(with_superseded=True)


async def add(store: Store, *notes: Note) -> None:
    for one in notes:
        await store.records.put(NOTE, one)


async def found(store: Store, where: NoteFilter, limit: int = 50) -> list[str]:
    return [one.uuid for one in await store.records.find(NOTE, where, limit)]


async def test_a_note_comes_back_as_it_was_kept(store: Store) -> None:
    whole = note("Sécurité: no \x00 bytes.", uuid="n", tags=("a", "é"), conversation_id="gone")
    await add(store, whole)

    assert await store.records.get(NOTE, "n") == whole
    assert await store.records.get_many(NOTE, ["n", "unknown"]) == {"n": whole}
    assert await store.records.find(NOTE, NoteFilter(prefix="n"), 10) == [whole]
    assert await store.records.find(NOTE, NoteFilter(prefix="%"), 10) == []


async def test_notes_are_listed_newest_first_by_project_tag_time_text_and_conversation(
    store: Store,
) -> None:
    await add(
        store,
        note("one", uuid="a", tags=("x", "y"), created_at=at(1)),
        note("two", uuid="b", tags=("y",), created_at=at(2), conversation_id="c"),
        note("three", uuid="c", created_at=at(3, 5)),
        note("one", "/work/bank", uuid="d", created_at=at(4)),
    )

    assert await found(store, NoteFilter()) == ["d", "c", "b", "a"]
    assert await found(store, HERE) == ["c", "b", "a"]
    assert await found(store, HERE, limit=1) == ["c"]
    assert [one.uuid for one in await store.records.find(NOTE, HERE, 2, 1)] == ["b", "a"]
    assert await found(store, NoteFilter(tags=("x", "z"))) == ["a"]
    assert await found(store, NoteFilter([SHOP], text="one")) == ["a"]
    assert await found(store, NoteFilter(conversation_id="c")) == ["b"]
    assert await found(store, NoteFilter(since=at(2), until=at(3))) == ["c", "b"]


async def test_a_superseded_note_is_kept_and_found_only_on_request(
    store: Store,
) -> None:
    old, newer = note("deploy on Fridays", uuid="z"), note("deploy on Mondays", uuid="m")
    newest = note("deploy daily", uuid="a", supersedes="m", created_at=at(2))
    await add(store, old, replace(newer, supersedes="z", created_at=at(1)), newest)
    await store.index.embed(NOTE, {"z": direction(0), "m": direction(1), "a": direction(2)})

    assert await found(store, HERE) == ["a"]
    assert await found(store, EVERY) == ["a", "m", "z"]
    assert [m.id for m in (await store.index.search(NOTE, "deploy", None, HERE, 5)).by_words] == [
        "a"
    ]
    assert [
        m.id for m in (await store.index.search(NOTE, "", direction(0), HERE, 5)).by_vector
    ] == ["a"]
    assert {m.id for m in (await store.index.search(NOTE, "deploy", None, EVERY, 5)).by_words} == {
        "a",
        "m",
        "z",
    }

    await store.records.delete(NOTE, "a")
    assert await found(store, HERE) == ["m"], "what it superseded is found again"


async def test_what_a_note_supersedes_must_be_there(store: Store) -> None:
    before = await counts(store)
    with pytest.raises(NoteNotFound):
        await store.records.put(NOTE, note(supersedes="unknown"))
    assert await counts(store) == before


async def test_a_note_corrects_several_and_a_correction_is_undone(store: Store) -> None:
    await add(
        store,
        note("port 8080", uuid="z"),
        note("port 8081", uuid="y", created_at=at(1)),
        note("port 9090", uuid="n", corrects=("z", "y", "a turn"), created_at=at(2)),
        note("host db1", uuid="k", created_at=at(3)),
    )

    assert await found(store, HERE) == ["k", "n"]
    assert await found(store, EVERY) == ["k", "n", "y", "z"]
    assert [m.id for m in (await store.index.search(NOTE, "port", None, HERE, 5)).by_words] == ["n"]

    undone = await store.records.update(
        NOTE, "n", lambda one: replace(one, corrects=("z", "a turn"), keeps=("y",))
    )

    assert await store.records.get(NOTE, "n") == undone
    assert await found(store, HERE) == ["k", "n", "y"]
    await store.records.delete(NOTE, "n")
    assert await found(store, HERE) == ["k", "y", "z"]


async def test_rules_are_found_apart_from_other_notes(store: Store) -> None:
    await add(store, note(uuid="a"), note("Use tabs.", uuid="b", is_rule=True, created_at=at(1)))

    assert await found(store, NoteFilter([SHOP], is_rule=True)) == ["b"]
    assert await found(store, NoteFilter([SHOP], is_rule=False)) == ["a"]
    assert (await store.records.get(NOTE, "b")).is_rule


async def test_ids_are_taken_once_and_unknown_ones_are_named(store: Store) -> None:
    await add(store, note(uuid="n"))
    with pytest.raises(DuplicateId, match="'n'"):
        await store.records.put(NOTE, note("another", uuid="n"))
    for call in (store.records.get, store.records.delete):
        with pytest.raises(NoteNotFound, match="'nobody'"):
            await call(NOTE, "nobody")
    with pytest.raises(NoteNotFound):
        await store.index.embed(NOTE, {"n": direction(1), "nobody": direction(2)})
    assert await store.index.pending(NOTE, MODEL, 5) == ["n"]
    with pytest.raises(InvalidText):
        await store.records.put(NOTE, note("half \ud800 a pair"))


async def test_a_deleted_note_leaves_nothing_behind(store: Store) -> None:
    before = await counts(store)
    await add(store, note("zebras", uuid="n"))
    await store.index.embed(NOTE, {"n": direction(1)})

    await store.records.delete(NOTE, "n")

    assert await counts(store) == before
    assert (await store.index.search(NOTE, "zebras", None, NoteFilter(), 5)).by_words == []
    assert (await store.index.search(NOTE, "", direction(1), NoteFilter(), 5)).by_vector == []


async def test_words_and_tags_find_notes_after_the_filters(store: Store) -> None:
    await add(
        store,
        note("Leases last sixty seconds.", uuid="a"),
        note("Cookies have a path.", uuid="b", tags=("leasing", "lease")),
        note("Leases last an hour.", "/work/bank", uuid="c"),
    )

    assert {m.id for m in (await store.index.search(NOTE, "lease", None, HERE, 5)).by_words} == {
        "a",
        "b",
    }
    assert [
        m.id
        for m in (
            await store.index.search(NOTE, "lease", None, NoteFilter(["/work/bank"]), 1)
        ).by_words
    ] == ["c"]
    assert (await store.index.search(NOTE, "giraffe", None, HERE, 5)).by_words == []
    assert (await store.index.search(NOTE, "lease", None, HERE, 0)).by_words == []


async def test_vectors_find_only_notes_of_their_model(store: Store) -> None:
    await add(store, note(uuid="a"), note(uuid="b"), note(path="/work/bank", uuid="c"))
    await store.index.embed(NOTE, {"a": direction(0), "b": direction(90), "c": direction(1)})

    near = (await store.index.search(NOTE, "", direction(10), HERE, 5)).by_vector
    assert [match.id for match in near] == ["a", "b"]
    assert near[0].score == pytest.approx(score_of(direction(0), direction(10)), abs=1e-5)
    assert len((await store.index.search(NOTE, "", direction(10), HERE, 5, 0.9)).by_vector) == 1
    assert (
        await store.index.search(NOTE, "", vector(1, 0, model="other"), HERE, 5)
    ).by_vector == []
    assert await store.index.pending(NOTE, MODEL, 5) == []
    assert await store.index.pending(NOTE, "other", 2) == ["a", "b"]
    with pytest.raises(DimensionMismatch):
        await store.index.embed(NOTE, {"a": vector(1, 2, 3)})


async def test_the_notes_of_a_conversation_are_moved_with_it_and_outlive_it(
    store: Store,
) -> None:
    older = note("old", uuid="o", conversation_id="c", is_rule=True)
    newer = note(
        *("new",), uuid="n", conversation_id="c", corrects=("o",), keeps=("k",), created_at=at(1)
    )
    whole = Whole(conversation(uuid="c"), notes=(older, newer), note_vectors={"o": direction(3)})

    await add_whole(store, whole)

    assert (await read_whole(store, "c")).notes == (older, newer)
    assert (await read_whole(store, "c")).note_vectors == {"o": direction(3)}
    assert await found(store, HERE) == ["n"]
    await store.records.delete(CONVERSATION, "c")
    assert await found(store, HERE) == ["n"]
    changed = replace(newer, text="changed")
    await add_whole(store, replace(whole, notes=(older, changed)))
    assert (await store.records.get(NOTE, "n")).text == "new", "a note that is there stays as it is"
