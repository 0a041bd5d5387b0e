"""Settings of the memory do what they say, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ragforge import ConversationAgent
from ragforge.domain.code import CodeFilter
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import SummaryFilter
from tests.fakes.chat_server import ChatServer
from tests.fakes.code import find_nearest
from tests.fakes.talking import TITLE, with_model
from tests.fakes.wires import OpenAiWire, Says


@asynccontextmanager
async def opened(
    environ: dict[str, str], project: Path, **config: object
) -> AsyncIterator[ConversationAgent]:
    """Open an agent as a program of the plans does: with only the memory's own names."""
    from ragforge import load_settings

    settings = load_settings(project, config, environ=environ).settings
    async with await ConversationAgent.open(settings, project) as agent:
        yield agent


async def test_the_configured_number_of_messages_gets_a_summary_however_short_they_are(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project, summarizeEvery=4) as agent:
        talk = await agent.create_conversation()
        for number in range(5):
            await talk.store_turn(f"Question {number}?", "Yes.")
            await agent.app.jobs.wait(60)
        found = await agent.get_summaries_by_date_range(conversation=talk)

    ranges = [(one.start_turn_index, one.end_turn_index) for one in found]
    assert ranges == [(0, 1), (2, 3)], "four messages each, and two wait"


async def test_without_summarization_a_long_conversation_has_a_summary_only_when_asked(
    environ: dict[str, str], project: Path
) -> None:
    config = {"enableSummarization": False, "maxContextChars": 1_000, "summarizeEvery": 2}
    async with opened(environ, project, **config) as agent:
        talk = await agent.create_conversation()
        for number in range(4):
            await talk.store_turn(f"Question {number}?", "It is about leases. " * 20)
        await agent.app.jobs.wait(60)
        made = await agent.app.store.records.find(SUMMARY, SummaryFilter(talk.id))
        about = await talk.summarize()

    assert made == []
    assert "leases" in about


async def test_without_embedded_messages_words_find_them_and_code_keeps_its_vectors(
    environ: dict[str, str], project: Path
) -> None:
    (project / "lease.py").write_text("def renew_lease(job):\n    return job\n")
    async with opened(environ, project, embedMessages=False) as agent:
        talk = await agent.create_conversation()
        await talk.store_turn("How long is a lease?", "Sixty seconds.")
        await agent.remember("Leases end at night.")
        await agent.app.jobs.wait(60)
        document = await talk.export(with_embeddings=True)
        [hit] = await talk.search_history("lease")
        await agent.ingest()
        assert agent.app.brain.embedder is not None
        query = await agent.app.brain.embedder.embed_query("renew a lease")
        assert query is not None
        where = CodeFilter(agent.app.brain.project_id)
        near = await find_nearest(agent.app.store, query, where, 5)

    assert document["embeddings"] == []
    assert hit.found_by == ("words",)
    assert near


async def test_where_memory_is_only_written_the_agent_has_no_tools_to_recall_it(
    environ: dict[str, str], project: Path
) -> None:
    async with ChatServer(OpenAiWire(), [Says("Hello.")], TITLE) as server:
        asked = []
        for config in ({"enabled": False}, {"enabled": True}):
            async with opened(with_model(environ, server), project, **config) as agent:
                talk = await agent.create_conversation()
                await talk.send_message("Hello?")
                stored = await talk.get_history()
                asked.append(server.asked_in_turns[-1].text)
                assert [message.content for message in stored] == ["Hello?", "Hello."]

    without, usual = asked
    for tool in ('"search_memory"', '"read_memory"'):
        assert tool not in without
        assert tool in usual
    assert '"remember"' in without


async def test_where_memory_is_only_written_nothing_of_other_sessions_reaches_the_model(
    environ: dict[str, str], project: Path
) -> None:
    async with ChatServer(OpenAiWire(), [Says("Noted.")], TITLE) as server:
        asked = []
        for config in ({"enabled": True}, {"enabled": False}):
            async with opened(with_model(environ, server), project, **config) as agent:
                talk = await agent.create_conversation()
                await talk.store_turn("How long is a lease?", "Sixty-one seconds.")
                other = await agent.create_conversation()
                await other.store_turn("Is the harbour open?", "It is.")
                await other.send_message("How long does a lease last?")
                asked.append(server.asked_in_turns[-1].text)

    assert "Sixty-one seconds." in asked[0]
    assert "Sixty-one seconds." not in asked[1]
    assert "Is the harbour open?" in asked[1]


async def test_a_limit_of_messages_limits_the_latest_turns(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project, maxContextMessages=3) as agent:
        talk = await agent.create_conversation()
        for number in range(4):
            await talk.store_turn(f"Question {number}?", "Yes.")
        turns = await talk.get_recent_turns()

        context = await talk.build_enriched_context("And now?")

    assert [turn.user.content for turn in turns] == ["Question 2?", "Question 3?"]
    assert [turn.user.content for turn in context.recent_turns] == ["Question 2?", "Question 3?"]


async def test_memory_that_is_switched_off_says_so_and_not_that_nothing_is_relevant(
    environ: dict[str, str], project: Path
) -> None:
    off = environ | {"RAGFORGE_AGENT__MEMORY__ENABLED": "false"}
    async with opened(off, project) as agent:
        talk = await agent.create_conversation()
        await talk.store_turn("How long is a lease?", "Ten minutes.")
        answer = await agent.app.ask("lease", (await agent.create_conversation()).id)

    states = {search.name: (search.state, search.note) for search in answer.receipt.searches}
    for name in ("memory by words and meaning", "notes"):
        assert states[name] == ("skipped", "memory is switched off: agent.memory.enabled is false")
    assert "memory is switched off" in answer.content
