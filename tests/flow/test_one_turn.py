"""One whole turn, end to end, on every engine: through the library and through the command.

Never skip or weaken this: what the turn does not reach is not part of the product.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import JOB, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import JobFilter
from ragforge.memory.sessions import get_sessions_by_cwd
from tests.fakes.zygote import run_module

pytestmark = pytest.mark.both_engines

STATEMENT = "We keep sessions apart by the exact path of their directory, see SessionKey"
QUESTION = "how do we keep sessions apart?"


@pytest.fixture
def ragforge(environ: dict[str, str], project: Path) -> Callable[..., str]:
    """Run the command in the project, each time in a separate process."""

    def run(*arguments: str) -> str:
        done = run_module("ragforge", *arguments, cwd=project, env=environ)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


async def test_a_turn_through_the_library(environ: dict[str, str], project: Path) -> None:
    settings = load_settings(project, environ=environ).settings

    async with open_app(settings, project) as app:
        first = await app.ask(STATEMENT)
        second = await app.ask(QUESTION)

    assert first.passages == ()
    assert (first.turn_index, second.turn_index) == (0, 1)
    assert second.conversation_id == first.conversation_id
    assert STATEMENT in second.passages[0].text
    assert f"turn 0 of session {first.conversation_id[:8]}" in second.content

    async with open_app(settings, project) as app:
        stored = await app.store.timeline.messages(first.conversation_id)
        assert [(m.role, m.content) for m in stored] == [
            ("user", STATEMENT),
            ("system", first.content),
            ("user", QUESTION),
            ("system", second.content),
        ]
        [hit, *_] = await app.memory.search(QUESTION, max_results=5, levels=(0,), everywhere=False)
        assert hit.conversation_id == first.conversation_id
        [session] = await get_sessions_by_cwd(app.store, app.cwd, 10)
        assert session.conversation.title == STATEMENT[:59].rsplit(" ", 1)[0] + "…"
        assert session.last_message == second.content
        jobs = await app.store.records.find(JOB, JobFilter())
        while {job.status for job in jobs} & {"pending", "running"}:  # a slow server has some left
            await asyncio.sleep(0.05)
            jobs = await app.store.records.find(JOB, JobFilter())
        assert {job.status for job in jobs} == {"done"}
        assert {"title", "embed_turns"} <= {job.kind for job in jobs}


async def test_many_turns_are_condensed_and_an_early_one_is_found_again(
    environ: dict[str, str], project: Path
) -> None:
    small = environ | {"RAGFORGE_AGENT__MEMORY__MAX_CONTEXT_CHARS": "4000"}
    settings = load_settings(project, environ=small).settings
    async with open_app(settings, project) as app:
        first = await app.ask(STATEMENT)
        for number in range(12):
            await app.ask(f"Number {number}: is the invoice of customer {number} paid? " + "x" * 80)
        await app.jobs.wait(60)
        summaries = await app.store.records.find(SUMMARY, SummaryFilter())
        again = await app.ask(QUESTION)

    assert {summary.level for summary in summaries} == {1, 2}
    assert {summary.made_by for summary in summaries} == {"extractive"}
    assert STATEMENT in again.passages[0].text
    assert f"turn 0 of session {first.conversation_id[:8]}" in again.content


async def test_a_turn_through_the_command(ragforge: Callable[..., str]) -> None:
    answer = json.loads(ragforge("ask", STATEMENT, "--json"))
    again = json.loads(ragforge("ask", QUESTION, "--json"))

    assert again["conversation_id"] == answer["conversation_id"]
    assert STATEMENT in again["passages"][0]["text"]

    found = json.loads(ragforge("search", "apart sessions", "--in", "memory", "--json"))
    assert STATEMENT in [hit["question"] for hit in found["hits"]]
    assert STATEMENT in ragforge("search", "session key", "--in", "memory")

    [session] = json.loads(ragforge("sessions", "list", "--json"))["sessions"]
    assert session["conversation_id"] == answer["conversation_id"]
    assert session["turn_count"] == 2
    assert answer["conversation_id"][:8] in ragforge("sessions", "list")


async def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(
    environ: dict[str, str], project: Path
) -> None:
    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project) as app:
        await app.ask("The invoice PDF is rendered by a headless browser")
        wanted = await app.ask("Authentication happens with a password and a token")

    async with open_app(settings, project) as app:
        [best, *_] = await app.memory.search(
            "signing in users", max_results=5, levels=(0,), everywhere=False
        )

    assert best.turn.user.turn_index == wanted.turn_index
    assert best.found_by == ("meaning",)


async def test_turns_from_before_a_model_was_chosen_are_embedded_later(
    environ: dict[str, str], project: Path
) -> None:
    without = {**environ, "RAGFORGE_EMBEDDINGS__MODEL": "none"}
    async with open_app(load_settings(project, environ=without).settings, project) as app:
        await app.ask("Authentication happens with a password and a token")
        assert (
            await app.memory.search(
                "signing in users", max_results=5, levels=(0,), everywhere=False
            )
            == []
        )

    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project):
        pass
    async with open_app(settings, project) as app:
        found = await app.memory.search(
            "signing in users", max_results=5, levels=(0,), everywhere=False
        )

    assert [hit.found_by for hit in found] == [("meaning",)]


async def test_a_directory_has_its_own_session_and_a_project_its_own_memory(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    settings = load_settings(project, environ=environ).settings
    below, elsewhere = project / "src", tmp_path / "project-2"
    below.mkdir()
    elsewhere.mkdir()

    async with open_app(settings, project) as app:
        here = await app.ask(STATEMENT)
    async with open_app(settings, below) as app:
        inside = await app.ask(QUESTION)
    async with open_app(settings, elsewhere) as app:
        outside = await app.ask(QUESTION)
        everywhere = await app.memory.search(STATEMENT, max_results=5, levels=(0,), everywhere=True)

    assert len({here.conversation_id, inside.conversation_id, outside.conversation_id}) == 3
    assert STATEMENT in inside.passages[0].text
    assert outside.passages == ()
    assert everywhere[0].conversation_id == here.conversation_id


async def test_the_question_survives_when_the_rest_of_the_turn_fails(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(project, environ=environ).settings

    async with open_app(settings, project) as app:

        async def fail(*_: object) -> None:
            raise OSError("the disk went away")

        with monkeypatch.context() as broken:
            broken.setattr("ragforge.context.build.ContextBuilder.build_enriched_context", fail)
            with pytest.raises(OSError, match="went away"):
                await app.ask(STATEMENT)

        found = (
            await app.store.index.search(TURN, STATEMENT, None, MemoryFilter(), 5, read=0)
        ).by_words
        later = await app.ask(QUESTION)

    assert len(found) == 1
    assert STATEMENT in later.passages[0].text


async def test_a_secret_is_not_stored_and_the_rest_of_the_words_is(
    environ: dict[str, str], project: Path
) -> None:
    settings = load_settings(project, environ=environ).settings
    secret = "hunter2" + "swordfish"

    async with open_app(settings, project) as app:
        answer = await app.ask(f"Why does postgres://shop:{secret}@db.local/shop refuse me?")
        stored = await app.store.timeline.messages(answer.conversation_id)
        [hit] = await app.memory.search(
            "postgres refuse", max_results=3, levels=(0,), everywhere=False
        )

    assert secret not in str(stored)
    assert "postgres://shop:[redacted: password]@db.local/shop" in hit.turn.user.content
