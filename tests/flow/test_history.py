"""Searching history: turns and summaries together, through the store, on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragforge import load_settings, open_app
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import NOTHING_RELEVANT, SMALL_TALK, MemoryHit, RelevantHits
from ragforge.domain.kinds import Kind
from ragforge.domain.schema import CONVERSATION, SUMMARY, TURN
from ragforge.domain.summaries import format_summary_for_embedding
from ragforge.errors import InputError, ModelError
from ragforge.memory import embed
from ragforge.memory.embed import embed_missing
from ragforge.memory.search.combined import find_relevant_history, search_conversation_history
from ragforge.memory.search.turns import MemorySearch, TurnCandidate
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, at, conversation, level_2, summary, user

EMBEDDER = BundledEmbedder()
EVERYTHING = MemoryFilter()
TALK = [
    ("Where do we keep the invoices?", "In the archive bucket, one folder a month."),
    ("And who may read them?", "Only the accountants."),
    ("How is the queue drained?", "A worker takes one job after the other."),
    ("What is the weather like?", "I cannot know."),
    ("Tell me a joke.", "A photon checks into a hotel. No luggage: it travels light."),
    ("Which colour has the logo?", "Green."),
    ("How long do builds take?", "Nine minutes."),
    ("Who signs in with a password?", "Nobody since the tokens came."),
]


async def plant(store: Store, name: str, project: str = "/shop", first: int = 0) -> None:
    """Store a conversation, a turn a minute, with vectors."""
    await store.records.put(CONVERSATION, conversation(project, uuid=name))
    for n, (question, answer) in enumerate(TALK):
        asked = user(question, uuid=f"{name}-{n}", timestamp=at(first + n))
        await store.timeline.append(name, [asked, assistant(answer)])
    await embed_missing(store, EMBEDDER)


async def plant_summaries(store: Store, name: str) -> None:
    """Summarise a conversation: two of level 1, one of level 2 over them."""
    texts = ["Invoices lie in the archive bucket.", "Builds take nine minutes; green logo."]
    parts = [
        summary(name, 4 * n, 4 * n + 3, uuid=f"{name}-l1-{n}", conversation_summary=text)
        for n, text in enumerate(texts)
    ]
    whole = level_2(parts, uuid=f"{name}-l2", conversation_summary="Invoices, builds and a logo.")
    for one in (*parts, whole):
        await store.timeline.save_summary(one)


@pytest.fixture
def recall(store: Store) -> MemorySearch:
    return MemorySearch(store, EMBEDDER)


async def search(
    recall: MemorySearch, query: str, where: MemoryFilter = EVERYTHING, **wanted: Any
) -> list[MemoryHit]:
    return await search_conversation_history(recall, query, where, **wanted)


def names(hits: list[MemoryHit]) -> list[str]:
    return [hit.turn.uuid if hit.type == "turn" else hit.summary.uuid for hit in hits]


async def test_turns_without_vectors_are_listed_once_for_many_batches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To list them, an engine goes through all of its turns."""
    monkeypatch.setattr(embed, "BATCH", 2)
    list_items, listed = store.index.pending, []

    async def count(kind: Kind[Any, Any], model: str, limit: int, where: Any) -> list[str]:
        found = await list_items(kind, model, limit, where)
        listed.extend([found] if kind is TURN else [])
        return found

    monkeypatch.setattr(store.index, "pending", count)
    await plant(store, "c")

    assert [len(ids) for ids in listed] == [len(TALK), 0]


async def test_turns_that_are_a_little_shorter_than_estimated_are_read_at_once(
    store: Store, recall: MemorySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    said = [user("x" * 950, uuid=f"c-{n}") for n in range(100)]
    await store.timeline.append("c", said)
    read_turns, pages = store.timeline.turns, []

    async def count(ids: Sequence[str]) -> Any:
        pages.append(len(ids))
        return await read_turns(ids)

    monkeypatch.setattr(store.timeline, "turns", count)
    found = [TurnCandidate(one.uuid, 1.0, ()) for one in said]
    hits = await recall.read_turns(found, len(found), max_chars=60_000, usual_chars=1_000)

    assert pages == [len(hits)]
    assert sum(hit.turn.char_count for hit in hits) >= 60_000


@pytest.mark.both_engines
async def test_turns_and_summaries_are_found_with_their_confidence(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "c")
    await plant_summaries(store, "c")

    hits = await search(recall, "where are invoices kept?")

    found = dict(zip(names(hits), hits, strict=True))
    chosen = [found[name] for name in ("c-0", "c-l1-0", "c-l2")]
    assert names(hits)[0] == "c-0"
    assert [hit.type for hit in chosen] == ["turn", "summary", "summary"]
    assert [hit.level for hit in chosen] == [0, 1, 2]
    assert [hit.confidence for hit in chosen] == [1.0, 0.7, 0.5]
    assert [hit.turn_range for hit in chosen] == [(0, 0), (0, 3), (0, 7)]
    assert all(hit.conversation_id == "c" for hit in hits)
    assert all(0 <= hit.score <= 1 and hit.found_by for hit in hits)
    trusted = [hit.score * hit.confidence for hit in hits]
    assert trusted == sorted(trusted, reverse=True)


async def test_a_turn_is_found_by_what_its_neighbours_speak_of(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "c")

    hits = await search(recall, "who may read invoices", semantic=False)

    assert set(names(hits)[:2]) == {"c-0", "c-1"}
    found_by = {name: hit.found_by for name, hit in zip(names(hits), hits, strict=True)}
    assert found_by["c-1"] == ("words",)
    assert found_by["c-2"] == ("neighbours",)


async def test_neighbours_do_not_cross_conversations(store: Store, recall: MemorySearch) -> None:
    for name, text in (("a", "zebra"), ("b", "nothing of the kind"), ("c", "zebra too")):
        await store.records.put(CONVERSATION, conversation(uuid=name))
        await store.timeline.append(name, [user(text, uuid=f"{name}-0")])

    assert set(names(await search(recall, "zebra", semantic=False))) == {"a-0", "c-0"}


async def test_words_find_without_meaning_and_meaning_without_words(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "c")

    by_words = await search(recall, "invoices", semantic=False)
    by_meaning = await search(recall, "authentication of users")
    nothing = await search(recall, "authentication of users", semantic=False)

    assert names(by_words)[0] == "c-0"
    assert all("meaning" not in hit.found_by for hit in by_words)
    assert names(by_meaning)[0] == "c-7"
    assert by_meaning[0].found_by == ("meaning",)
    assert nothing == []


async def test_without_a_model_or_with_one_that_fails_words_are_enough(store: Store) -> None:
    class Failing(BundledEmbedder):
        async def embed_query(self, text: str) -> Any:
            raise ModelError("the model went away")

    await plant(store, "c")
    for embedder in (None, Failing()):
        recall = MemorySearch(store, embedder)
        assert names(await search(recall, "invoices"))[0] == "c-0"


async def test_summaries_have_a_vector_or_are_found_only_by_words(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "c")
    await plant_summaries(store, "c")
    [made] = await EMBEDDER.embed(
        [format_summary_for_embedding(await store.records.get(SUMMARY, "c-l1-1"))]
    )
    assert made is not None
    await store.index.embed(SUMMARY, {"c-l1-1": made})

    hits = await search(recall, "seven hours, blue", include_turns=False)
    by_words = await search(recall, "archive bucket", include_turns=False)

    assert names(hits) == ["c-l1-1"]
    assert hits[0].found_by == ("meaning",)
    assert names(by_words)[0] == "c-l1-0"
    assert by_words[0].found_by == ("words",)


async def test_levels_and_turns_are_chosen(store: Store, recall: MemorySearch) -> None:
    await plant(store, "c")
    await plant_summaries(store, "c")

    async def kinds(**wanted: Any) -> set[int]:
        hits = await search(recall, "invoices builds logo", max_results=30, **wanted)
        return {hit.level for hit in hits}

    assert await kinds() == {0, 1, 2}
    for chosen in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [2, 0, 1], []):
        assert await kinds(levels=chosen) == set(chosen)
        assert await kinds(levels=chosen, include_turns=False) == set(chosen) - {0}
    with pytest.raises(InputError, match="There is no level 3"):
        await kinds(levels=[1, 3])


async def test_what_scores_less_than_asked_for_is_left_out(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "c")
    every = await search(recall, "archive bucket invoices", max_results=30)
    border = sorted(hit.score for hit in every)[-3]

    good = await search(recall, "archive bucket invoices", max_results=30, min_score=border)

    assert 0 < len(good) < len(every)
    assert {name for name, hit in zip(names(every), every, strict=True) if hit.score >= border} == {
        *names(good)
    }
    assert await search(recall, "archive bucket invoices", min_score=1.01) == []


async def test_no_more_than_asked_for_are_returned(store: Store, recall: MemorySearch) -> None:
    await plant(store, "c")
    await plant_summaries(store, "c")

    assert len(await search(recall, "invoices builds", max_results=3)) == 3
    assert await search(recall, "invoices builds", max_results=0) == []


async def test_one_scope_never_leaks_into_another(store: Store, recall: MemorySearch) -> None:
    for name, project in (("a", "/shop"), ("b", "/shop"), ("c", "/other")):
        await plant(store, name, project)
        await plant_summaries(store, name)

    async def talks(where: MemoryFilter) -> set[str]:
        hits = await search(recall, "where are the invoices?", where, max_results=50)
        assert {hit.type for hit in hits} == {"turn", "summary"}
        return {hit.conversation_id for hit in hits}

    assert await talks(MemoryFilter(conversation_id="a")) == {"a"}
    assert await talks(MemoryFilter(project_ids=["/shop"])) == {"a", "b"}
    assert await talks(MemoryFilter(project_ids=["/other"])) == {"c"}
    assert await talks(EVERYTHING) == {"a", "b", "c"}
    nowhere = MemoryFilter(conversation_id="a", project_ids=["/other"])
    assert await search(recall, "where are the invoices?", nowhere) == []


@pytest.mark.both_engines
async def test_a_small_conversation_in_a_large_store_is_found(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "small", "/quiet")
    await store.records.put(CONVERSATION, conversation("/crowded", uuid="crowd"))
    said = [user(f"Where do we keep the invoices? {n}", timestamp=at(n)) for n in range(400)]
    await store.timeline.append("crowd", said)

    [hit] = await search(
        recall, "keep the invoices", MemoryFilter(conversation_id="small"), max_results=1
    )

    assert names([hit]) == ["small-0"]


async def test_dates_are_instants_whatever_their_offset(store: Store, recall: MemorySearch) -> None:
    await plant(store, "c")
    await plant_summaries(store, "c")  # made at minute 0

    async def found(since: float | None, until: float | None, hours: float) -> set[str]:
        where = MemoryFilter(
            since=None if since is None else at(since, hours),
            until=None if until is None else at(until, hours),
        )
        query = "invoices accountants queue weather joke logo builds password"
        return set(names(await search(recall, query, where, max_results=50)))

    summaries = {"c-l1-0", "c-l1-1", "c-l2"}
    for hours in (-12, 0, 5.5, 14):
        assert await found(3, None, hours) == {f"c-{n}" for n in range(3, 8)}
        assert await found(None, 2, hours) == {"c-0", "c-1", "c-2"} | summaries
        assert await found(3, 4, hours) == {"c-3", "c-4"}


async def test_a_session_is_named_by_the_start_of_its_id(
    environ: dict[str, str], project: Path
) -> None:
    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project) as app:
        answer = await app.ask("We keep invoices in the archive bucket")
        session = answer.conversation_id[:8]

        [hit, *_] = await app.memory.search("archive", conversation=session)

        assert hit.conversation_id == answer.conversation_id
        with pytest.raises(InputError, match="No session"):
            await app.memory.search("archive", conversation="no-such-id")


async def test_a_message_about_what_was_said_gets_it(store: Store, recall: MemorySearch) -> None:
    await plant(store, "old")

    found = await find_relevant_history(recall, "where are invoices kept?", EVERYTHING)

    assert names(list(found.hits))[0] == "old-0"
    assert found.reason == ""
    assert found.hits[0].relevance > 0.5


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ok", SMALL_TALK),
        ("Yes, please go on", SMALL_TALK),
        ("Merci beaucoup, bonne journée !", SMALL_TALK),
        ("How much butter and cinnamon goes into an apple pie?", NOTHING_RELEVANT),
    ],
)
async def test_a_message_about_something_else_gets_no_old_turns_and_the_reason(
    store: Store, recall: MemorySearch, message: str, reason: str
) -> None:
    await plant(store, "old")

    assert await find_relevant_history(recall, message, EVERYTHING) == RelevantHits((), reason)


async def test_a_question_about_the_past_gets_the_best_there_is(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "old")

    found = await find_relevant_history(recall, "What did we say about hotels?", EVERYTHING)

    assert "old-4" in names(list(found.hits))


async def test_a_person_who_searches_gets_hits_as_before(
    store: Store, recall: MemorySearch
) -> None:
    await plant(store, "old")
    query = "worker with butter and cinnamon in an apple pie"

    assert await search_conversation_history(recall, query, EVERYTHING) != []


@pytest.mark.parametrize(
    "query",
    [
        "where are the invoices kept",
        "où sont gardées les factures ?",
        "Wo werden die Rechnungen aufbewahrt?",
    ],
)
async def test_what_was_said_in_one_language_is_found_in_another(store: Store, query: str) -> None:
    await plant(store, "english")
    said = user("Dans quel dossier sont gardées nos factures ?", uuid="french", timestamp=at(99))
    await store.records.put(CONVERSATION, conversation("/shop", uuid="c"))
    await store.timeline.append("c", [said, assistant("Dans le seau des archives.")])
    recall = MemorySearch(store, None)

    hits = await search_conversation_history(recall, query, EVERYTHING, max_results=2)

    assert {hit.turn.uuid for hit in hits if hit.type == "turn"} == {"english-0", "french"}
    assert min(hit.score for hit in hits) > 0.4
