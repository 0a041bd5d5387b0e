"""Notes: remembered, found together with turns, superseded and forgotten, on every engine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ragforge import ConversationAgent, load_settings
from ragforge.domain.hits import NoteHit
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import CONVERSATION, NOTE
from ragforge.errors import InputError, NoteNotFound
from ragforge.memory.notes import MAX_CHARS, Notebook, find_relevant_notes
from tests.fakes.talking import call, talking
from tests.fakes.wires import Says

KEY = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
async def agent(environ: dict[str, str], project: Path) -> AsyncIterator[ConversationAgent]:
    settings = load_settings(project, environ=environ).settings
    async with await ConversationAgent.open(settings, project) as agent:
        yield agent


async def test_an_insight_is_kept_found_and_superseded(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation(title="Releases")
    await talk.store_turn("Which colour has the logo?", "Green.")
    old = await agent.remember("We deploy on Fridays", tags=["deploy", " deploy "])
    new = await agent.remember("We deploy on Mondays", supersedes=old.uuid[:13], conversation=talk)
    await agent.app.jobs.wait(60)

    assert old.tags == ("deploy",)
    assert (new.supersedes, new.conversation_id) == (old.uuid, talk.id)
    assert await agent.notes() == [new]
    assert await agent.notes("on which day do we deploy?") == [new]
    assert {note.uuid for note in await agent.notes(with_superseded=True)} == {old.uuid, new.uuid}
    where = NoteFilter(agent.app.project.ids)
    [hit] = await Notebook(agent.app.store, agent.app.recall.embedder).search("deploy", where, 5)
    assert (hit.note, hit.type, hit.confidence) == (new, "note", 1.0)
    assert hit.found_by == ("words", "meaning"), "its vector was made in the background"

    assert await agent.forget_note(new.uuid[:13]) == new
    assert await agent.notes() == [old], "what it superseded is found again"
    with pytest.raises(NoteNotFound):
        await agent.forget_note(new.uuid)


async def test_a_note_in_other_words_comes_with_how_likely_it_is_meant(
    agent: ConversationAgent,
) -> None:
    note = await agent.remember("Retries: three with exponential backoff, for idempotent requests.")
    await agent.remember("The search index is rebuilt with `make reindex`.")
    await agent.app.jobs.wait(60)

    [hit] = await find_relevant(agent, "Add retries to the upload client")

    assert hit.note == note
    assert hit.relevance == hit.score > 0.4


async def test_a_note_is_found_by_its_words_before_it_has_a_vector(
    agent: ConversationAgent,
) -> None:
    place = agent.app.project
    await agent.remember("The customer portal must work in Safari 15.")
    await agent.app.jobs.wait(60)
    new = Note("Cranes are greased on Fridays.", place.path, project_id=place.id)
    await agent.app.store.records.put(NOTE, new)

    [hit] = await find_relevant(agent, "When are the cranes greased?")

    assert (hit.note, hit.found_by) == (new, ("words",))


@pytest.mark.parametrize(
    "message", ["commit this", "thanks, that's great", "What is the capital of Mongolia?"]
)
async def test_a_message_about_no_note_gets_none(agent: ConversationAgent, message: str) -> None:
    await agent.remember("Releases are tagged by the pipeline; commit messages give the version.")
    await agent.remember("The customer portal must work in Safari 15.")
    await agent.app.jobs.wait(60)

    assert not await find_relevant(agent, message)


async def find_relevant(agent: ConversationAgent, message: str) -> list[NoteHit]:
    app = agent.app
    return await find_relevant_notes(app.store, app.recall.embedder, message, app.project.ids, 5)


async def test_notes_are_found_in_one_ranking_with_turns_and_summaries(
    agent: ConversationAgent,
) -> None:
    talk = await agent.create_conversation()
    await talk.store_turn("How long is a lease?", "Sixty seconds.")
    here = await agent.remember("A lease lasts sixty seconds.", conversation=talk)
    other = await agent.remember("Lease terms are for lawyers.")
    search = agent.app.memory.search

    hits = await search("how long does a lease last")

    assert {hit.type for hit in hits} == {"turn", "note"}
    notes = [hit.note for hit in hits if isinstance(hit, NoteHit)]
    assert notes[0] == here
    relevances = [hit.relevance for hit in hits]
    assert relevances == sorted(relevances, reverse=True)
    of_talk = await search("lease", conversation=talk.id)
    assert [hit.note for hit in of_talk if isinstance(hit, NoteHit)] == [here]
    assert other in notes
    for wanted in ({"include_notes": False}, {"include_turns": False, "levels": (2,)}):
        assert not any(hit.type == "note" for hit in await search("lease", **wanted))
    alone = await search("lease", include_turns=False, include_notes=True, levels=())
    assert {hit.type for hit in alone} == {"note"}
    assert await agent.app.memory.find_changed_code(hits) == [[] for _ in hits]


async def test_a_question_in_another_language_is_compared_by_all_of_its_words(
    agent: ConversationAgent,
) -> None:
    await agent.remember("A backup is made every day.")
    await agent.remember("The database is stored on db1.")
    book, where = Notebook(agent.app.store, None), NoteFilter(agent.app.project.ids)

    [visit] = await book.search("Combien de jours pour voir Nice ?", where, 5)
    [database] = await book.search("où est stockée la base de données", where, 5)

    assert visit.score < 0.6, "of three words it holds one"
    assert database.score > 0.95, "of two words it holds both"


async def test_a_note_belongs_only_to_its_project(
    agent: ConversationAgent, environ: dict[str, str], tmp_path: Path
) -> None:
    ours = await agent.remember("Zebras go into the cart.")
    (tmp_path / "other" / ".git").mkdir(parents=True)
    settings = load_settings(tmp_path / "other", environ=environ).settings
    async with await ConversationAgent.open(settings, tmp_path / "other") as neighbour:
        assert await neighbour.notes() == []
        assert await neighbour.notes("zebras") == []
        assert await neighbour.notes("zebras", everywhere=True) == [ours]
        with pytest.raises(NoteNotFound):
            await neighbour.remember("Zebras stay outside.", supersedes=ours.uuid)


async def test_a_note_is_redacted_kept_once_and_of_a_sensible_size(
    agent: ConversationAgent,
) -> None:
    first = await agent.remember(f"The key is {KEY}.", tags=[KEY, ""])
    again = await agent.remember(f" The key is {KEY}. ")

    assert KEY not in first.text + "".join(first.tags)
    assert again == first
    for text in ("", " \n", "x" * (MAX_CHARS + 1)):
        with pytest.raises(InputError):
            await agent.remember(text)


async def test_a_conversation_takes_its_notes_along(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    await talk.store_turn("And?", "Yes.")
    note = await agent.remember("Zebras have stripes.", conversation=talk)
    document = json.loads(json.dumps(await talk.export()))
    await agent.app.store.records.delete(CONVERSATION, talk.id)
    await agent.forget_note(note.uuid)

    await agent.import_conversation(document)

    assert await agent.notes() == [note]
    assert len(await agent.notes("stripes")) == 1


async def test_the_agent_notes_what_the_user_asks_it_to_and_corrects_it(
    environ: dict[str, str], project: Path
) -> None:
    first = [
        Says(calls=(call("remember", text="We deploy on Fridays.", tags=["deploy"]),)),
        Says("Noted."),
        Says(calls=(call("search_memory", query="when do we deploy"),)),
    ]
    async with talking(environ, project, [*first, Says("On Fridays.")]) as (agent, _):
        talk = await agent.create_conversation()
        await talk.send_message("Remember that we deploy on Fridays.")
        [kept] = await agent.notes()
        answer = await talk.send_message("When do we deploy?")
        [search] = answer.tool_calls
        assert search.result is not None
        found = next(hit for hit in search.result.result if hit["type"] == "note")

    assert (kept.text, kept.conversation_id) == ("We deploy on Fridays.", talk.id)
    assert (found["id"], found["text"]) == (kept.uuid, kept.text)
    second = [
        Says(calls=(call("remember", text="We deploy on Mondays.", supersedes=found["id"]),)),
        Says(calls=(call("read_memory", "b", id=kept.uuid),)),
        Says("Corrected."),
    ]
    async with talking(environ, project, second) as (agent, _):
        fresh = await agent.create_conversation()
        answer = await fresh.send_message("It is Mondays now.")
        [corrected] = await agent.notes()

    assert corrected.text == "We deploy on Mondays."
    assert corrected.supersedes == kept.uuid
    read = answer.tool_calls[-1].result
    assert read is not None
    assert read.result["text"] == "We deploy on Fridays.", "the old one can still be read"
