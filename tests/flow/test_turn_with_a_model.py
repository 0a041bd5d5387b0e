"""Whole turns with a chat model, over real HTTP, on every engine."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.config.settings import Settings
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import ModelMissing
from ragforge.llm.executor import batch_analyze
from tests.fakes.chat_server import ChatServer, Fails, Step
from tests.fakes.wires import WIRES, OpenAiWire, Says, Wire
from tests.fakes.zygote import run_module

KEY = "sk-live-0123456789abcdef"
FACT = "The lease of a job lasts sixty seconds"
QUESTION = "How long does a lease last?"


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """The variables of a user who has keys as well."""
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
    return environ | dict.fromkeys(keys, KEY)


def with_model(environ: Mapping[str, str], server: ChatServer) -> dict[str, str]:
    return {
        **environ,
        "RAGFORGE_LLM__MODEL": f"{server.wire.provider}:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
    }


def settings_of(
    environ: Mapping[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, environ[name])
    return load_settings(project, environ=environ).settings


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
async def test_the_model_answers_with_what_is_remembered_before_it(
    wire: Wire, environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Step] = [Says("Noted."), Says('{"title": "Leases of jobs"}')]
    answers += [Says("Sixty seconds.", reasoning="It was said before.")]
    async with ChatServer(wire, answers) as server:
        settings = settings_of(with_model(environ, server), project, monkeypatch)
        async with open_app(settings, project) as app:
            first = await app.ask(FACT)
            await app.jobs.wait(60)
            second = await app.ask(QUESTION)
        asked = server.asked[-1].text

        async with open_app(settings, project) as app:
            stored = await app.store.timeline.messages(first.conversation_id)
            [session] = await app.store.records.find(CONVERSATION, ConversationFilter())

    assert (first.content, second.content) == ("Noted.", "Sixty seconds.")
    assert second.model == f"{wire.provider}:{wire.model}"
    assert second.reasoning == "It was said before."
    assert second.usage.output_tokens == 7
    assert FACT in asked
    assert QUESTION in asked
    assert asked.index(FACT) < asked.index("Noted.") < asked.index(QUESTION)
    assert [(m.role, m.content, m.reasoning) for m in stored] == [
        ("user", FACT, None),
        ("assistant", "Noted.", None),
        ("user", QUESTION, None),
        ("assistant", "Sixty seconds.", "It was said before."),
    ]
    # The user's words are estimated, the model's are as its provider counts.
    assert [m.token_count for m in stored] == [-(-len(FACT) // 4), 7, -(-len(QUESTION) // 4), 7]
    named = f"{wire.provider}:{wire.model}"
    assert [m.model for m in stored] == [None, named, None, named]
    assert (stored[2].usd, stored[3].usd) == (None, second.usage.usd)
    assert session.title == "Leases of jobs"
    assert KEY not in str(stored)


async def test_a_model_that_fails_leaves_what_was_found_and_the_reason(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ChatServer(OpenAiWire(), [Fails(401, f"bad key {KEY}")]) as server:
        settings = settings_of(with_model(environ, server), project, monkeypatch)
        async with open_app(settings, project) as app:
            await app.ask(FACT)
            answer = await app.ask(QUESTION)

    assert answer.model is None
    assert answer.problem is not None
    assert "OPENAI_API_KEY" in answer.problem
    assert KEY not in answer.problem
    assert FACT in answer.passages[0].text


async def test_a_model_answers_through_the_command(environ: dict[str, str], project: Path) -> None:
    async with ChatServer(OpenAiWire(), [Says("Sixty seconds.")]) as server:
        done = await run(["ask", QUESTION, "--json"], with_model(environ, server), project)

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["content"] == "Sixty seconds."
    assert answer["model"] == "openai:gpt-4o-mini"
    assert answer["usage"]["input_tokens"] == 11


async def test_a_missing_key_costs_the_model_and_not_the_turn(
    environ: dict[str, str], project: Path
) -> None:
    without = {**environ, "RAGFORGE_LLM__MODEL": "openai:gpt-4o-mini"}
    del without["OPENAI_API_KEY"]

    done = await run(["ask", FACT], without, project)

    assert done.returncode == 3, "a missing answer is not a success"
    assert "remembered from now on" in done.stdout
    assert "set OPENAI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


async def test_without_a_model_one_sentence_says_how_to_have_one(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = await run(["ask", FACT], environ, project)
    settings = settings_of(environ, project, monkeypatch)

    async with open_app(settings, project) as app:
        with pytest.raises(ModelMissing, match=r"set llm\.model"):
            await batch_analyze(app.executor, [1, 2], "Count.", {"count": {"type": "integer"}})

    assert "set llm.model" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


async def test_every_item_is_analysed_by_the_model(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [{"id": n, "output": {"topic": f"topic {n}"}} for n in range(2)]
    async with ChatServer(OpenAiWire(), [Says(json.dumps({"entries": entries}))]) as server:
        settings = settings_of(with_model(environ, server), project, monkeypatch)
        async with open_app(settings, project) as app:
            shape = {"topic": {"type": "string"}}
            result = await batch_analyze(app.executor, ["one", "two"], "Name the topic.", shape)

    assert [output.model_dump() for output in result.outputs if output] == [
        {"topic": "topic 0"},
        {"topic": "topic 1"},
    ]


async def test_another_embedding_model_takes_over_in_the_background(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings_of(environ, project, monkeypatch)
    async with open_app(before, project) as app:
        await app.ask("Authentication happens with a password and a token")
        await app.jobs.wait(60)
    after = load_settings(
        project, environ={**environ, "RAGFORGE_EMBEDDINGS__MODEL": "local"}
    ).settings

    async with open_app(after, project) as app:
        by_words = await app.memory.search(
            "password token", max_results=3, levels=(0,), everywhere=False
        )
        seen: list[int] = []
        embedded = await app.maintenance.embed_memory(seen.append)
        [hit] = await app.memory.search(
            "signing in users", max_results=3, levels=(0,), everywhere=False
        )

    assert by_words[0].turn.user.content.startswith("Authentication")
    assert (embedded.missing, embedded.turns) == (0, 1)
    assert hit.found_by == ("meaning",)


async def test_vectors_of_an_earlier_bundled_table_are_recomputed_in_the_background(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(environ, project, monkeypatch)
    with monkeypatch.context() as before:
        before.setattr(BundledEmbedder, "name", "wordllama-l2-supercat-256/words-1")
        async with open_app(settings, project) as app:
            await app.ask("Authentication happens with a password and a token")
            await app.jobs.wait(60)

    async with open_app(settings, project, work=False) as app:
        by_words = await app.memory.search(
            "password token", max_results=3, levels=(0,), everywhere=False
        )
        before_work = await app.maintenance.count_embedded()
    async with open_app(settings, project) as app, asyncio.timeout(60):
        while (await app.maintenance.count_embedded()).missing:  # noqa: ASYNC110 - of a worker
            await asyncio.sleep(0.05)

    assert by_words[0].turn.user.content.startswith("Authentication")
    assert by_words[0].found_by == ("words",)
    assert (before_work.missing, before_work.turns) == (1, 1)


async def test_the_command_gives_every_turn_a_vector_of_the_current_model(
    environ: dict[str, str], project: Path
) -> None:
    by_words = {**environ, "RAGFORGE_EMBEDDINGS__MODEL": "none"}
    await run(["ask", FACT], by_words, project)

    refused = await run(["memory", "embed"], by_words, project)
    done = await run(["memory", "embed", "--json"], environ, project)
    told = await run(["memory", "embed"], environ, project)

    assert refused.returncode == 1
    assert "embeddings.model is none" in refused.stderr
    assert json.loads(done.stdout)["embedded"] == 1
    assert "1 of 1 turns have vectors" in told.stderr


async def run(
    arguments: list[str], environ: Mapping[str, str], project: Path
) -> subprocess.CompletedProcess[str]:
    """Run the command while the local provider keeps serving."""
    return await asyncio.to_thread(run_module, "ragforge", *arguments, cwd=project, env=environ)
