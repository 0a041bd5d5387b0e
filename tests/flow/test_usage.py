"""Usage, from the answer of a provider or a transcript to the numbers that the user reads."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.app import App
from ragforge.app.features.usage import By
from ragforge.errors import InputError
from tests.fakes.chat_server import ChatServer, Fails, Step
from tests.fakes.transcripts.claude_code import Claude
from tests.fakes.transcripts.codex import Codex
from tests.fakes.wires import Call, OpenAiWire, Says
from tests.fakes.zygote import run_module

QUESTION = "How long is the lease of the okapi?"


async def count(app: App, *by: By) -> list[tuple[tuple[str, ...], int]]:
    """Return the keys and the number of requests of each group."""
    report = await app.usage.report(by)
    return [(group.keys, group.usage.requests) for group in report.groups]


def with_model(environ: dict[str, str], server: ChatServer) -> dict[str, str]:
    return {
        **environ,
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
        "RAGFORGE_AGENT__MEMORY__WRITE_BY": "rules",
    }


@pytest.mark.both_engines
async def test_a_turn_a_sub_agent_and_a_turn_that_broke_off_are_counted(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    steps: list[Step] = [
        Says("", calls=(Call("delegate", {"task": "Look for okapis."}),)),
        Says("There are none."),
        Says("Sixty seconds."),
        Says("", calls=(Call("list_files", {}),)),
        Fails(400),
    ]
    async with ChatServer(OpenAiWire(), steps) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        async with open_app(settings, project, work=False) as app:
            answer = await app.ask(QUESTION)
            assert answer.content == "Sixty seconds."
            whole = (await app.usage.report(["model"])).total.usage
            assert (whole.requests, whole.input_tokens) == (3, answer.usage.input_tokens)
            assert whole.output_tokens == answer.usage.output_tokens > 0
            broken = await app.ask("And the zebra?")
            assert broken.problem is not None
            assert await count(app, "agent") == [(("ragforge",), 4)]
            talk = (await app.sessions.ensure_current()).uuid
            assert (await app.usage.report(session=talk)).total.usage.requests == 4
            await app.sessions.delete(await app.sessions.load(talk))
            assert await count(app, "agent") == []


async def test_titles_that_a_model_writes_belong_to_their_session(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    steps: list[Step] = [Says("Sixty seconds."), Says('{"title": "Leases"}')]
    async with ChatServer(OpenAiWire(), steps) as server:
        chosen = with_model(environ, server) | {"RAGFORGE_AGENT__MEMORY__WRITE_BY": "model"}
        settings = load_settings(project, environ=chosen).settings
        async with open_app(settings, project, work=False) as app:
            await app.ask(QUESTION)
            await app.worker.drain()
            [session] = await app.sessions.find()
            assert session.title == "Leases"
            assert await count(app, "agent") == [(("ragforge",), 2)]


def run(environ: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_module("ragforge", *words, cwd=folder, env=environ)


def write_transcripts(home: Path, shop: Path) -> None:
    claude = Claude("s1", cwd=str(shop))
    claude.say("Why is the cart wrong?")
    for tokens in (3, 90):
        claude.answer("It skips one.", message="m1", requestId="r1", tokens=tokens)
        claude.lines[-1]["message"] |= {"model": "claude-sonnet-4-5"}
        claude.lines[-1]["message"]["usage"] |= {"cache_read_input_tokens": 997}
    claude.write(home)
    codex = Codex("c1")
    codex.begin_turn("t1")
    codex.say("And the tests?")
    codex.answer("They pass.")
    info = {"last_token_usage": {"input_tokens": 500, "output_tokens": 10}}
    codex.put("event_msg", type="token_count", info=info)
    moved = json.dumps(codex.lines).replace('"/work/shop"', json.dumps(str(shop)))
    codex.lines = json.loads(moved)
    codex.write(home)


def test_the_usage_of_other_agents_is_imported_once_and_shown(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    variables = {**environ, "HOME": str(home), "RAGFORGE_LLM__MODEL": "none"}
    write_transcripts(home, project)
    for _ in range(2):
        done = run(variables, project, "import")
        assert done.returncode == 0, done.stderr

    shown = run(variables, project, "usage", "--by", "agent", "--by", "model")
    assert shown.returncode == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[0] == ["AGENT", "MODEL", "REQUESTS", "INPUT", "FROM", "CACHE", "OUTPUT", "COST"]
    assert lines[1][:6] == ["claude-code", "claude-sonnet-4-5", "1", "1,000", "100%", "90"]
    assert lines[2][:6] == ["codex", "gpt-x", "1", "500", "0%", "10"]
    assert lines[3][:4] == ["Total", "2", "1,500", "66%"]
    assert "The price of 1 request is not known." in shown.stderr

    told = run(variables, project, "usage", "--by", "week", "--json")
    report = json.loads(told.stdout)
    [week] = report["groups"]
    assert week["week"] == "2026-03-02"
    assert {**week, "usd": None} == {"week": "2026-03-02", **report["total"], "usd": None}
    assert (week["input_tokens"], week["cached_tokens"]) == (1_500, 997)
    assert week["usd"] == pytest.approx((3 * 3 + 997 * 0.3 + 90 * 15) / 1e6, abs=1e-6)

    later = run(variables, project, "usage", "--since", "2026-03-03")
    assert "No usage is known. Try --all." in later.stderr
    elsewhere = run(variables, tmp_path, "usage", "--all", "--json")
    assert json.loads(elsewhere.stdout)["total"] == report["total"]


async def test_another_key_to_group_by_is_refused(environ: dict[str, str], project: Path) -> None:
    settings = load_settings(project, {"llm.model": "none"}, environ).settings
    async with open_app(settings, project, work=False) as app:
        with pytest.raises(InputError, match="'month' is not one of day, week, agent, model"):
            await app.usage.report(["month"])  # type: ignore[list-item]
