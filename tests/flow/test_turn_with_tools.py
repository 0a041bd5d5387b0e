"""Whole turns in which the model uses tools, over real HTTP, on every engine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.agent.events import (
    CommandPrinted,
    ContextBuilt,
    Done,
    Event,
    QuestionStored,
    Reasoning,
    Text,
    ToolFinished,
    ToolStarted,
    Used,
)
from ragforge.agent.permissions import Verdict, allow_edits
from ragforge.agent.turn import TurnEnvironment, TurnLimits
from ragforge.domain.chat import ChatRequest, Reply
from ragforge.errors import InputError
from ragforge.llm.ask import ChatClient
from ragforge.tools.permission import PermissionRequest
from tests.fakes.chat_server import Breaks, ChatServer, Dawdles, Fails, Step
from tests.fakes.scripted_model import ScriptedModel, calls
from tests.fakes.wires import WIRES, Call, OpenAiWire, Says, Wire

TITLE = Says('{"title": "Leases"}')
CODE = "def lease_seconds():\n    return 60\n"


@pytest.fixture
def project(project: Path) -> Path:
    (project / ".git").rmdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / "leases.py").write_text(CODE)
    return project


@asynccontextmanager
async def opened(
    environ: Mapping[str, str],
    project: Path,
    script: Sequence[Step],
    wire: Wire | None = None,
    **more: str,
) -> AsyncIterator[tuple[App, ChatServer]]:
    async with ChatServer(wire or OpenAiWire(), script, aside=TITLE) as server:
        variables = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"{server.wire.provider}:{server.wire.model}",
            "RAGFORGE_LLM__BASE_URL": server.base_url,
            **more,
        }
        settings = load_settings(project, environ=variables).settings
        async with open_app(settings, project) as app:
            yield app, server


def call(name: str, id: str = "call-1", /, **arguments: object) -> Call:
    return Call(name, arguments, id)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
async def test_a_model_reads_a_file_and_answers_and_every_step_is_reported_and_stored(
    wire: Wire, environ: dict[str, str], project: Path
) -> None:
    events: list[Event] = []
    script = [
        Says("Let me look.", calls=(call("read_file", path="leases.py"),)),
        Says("Sixty seconds.", reasoning="It returns 60."),
    ]
    async with opened(environ, project, script, wire) as (app, server):
        answer = await app.ask("How long does a lease last?", on_event=events.append)
        stored = await app.store.timeline.messages(answer.conversation_id)
        told = server.asked_in_turns[1].text

    kinds = [type(event) for event in events]
    assert kinds[:2] == [QuestionStored, ContextBuilt]
    assert kinds[-1] is Done
    assert kinds.index(ToolStarted) < kinds.index(ToolFinished) < kinds.index(Reasoning)
    assert Used in kinds
    assert "".join(e.text for e in events if isinstance(e, Text)) == "Let me look.Sixty seconds."
    assert answer.content == "Sixty seconds."
    assert [c.tool_name for c in answer.tool_calls] == ["read_file"]
    assert answer.usage.requests == 2
    assert answer.context_used is answer.receipt
    assert "return 60" in told
    assert [(m.role, m.content, len(m.tool_calls)) for m in stored] == [
        ("user", "How long does a lease last?", 0),
        ("assistant", "Let me look.", 1),
        ("assistant", "Sixty seconds.", 0),
    ]
    assert stored[1].receipt is not None
    assert stored[1].tool_calls[0].result is not None
    assert "return 60" in stored[1].tool_calls[0].result.result["content"]


async def test_an_edit_is_shown_asked_for_made_and_taken_back(
    environ: dict[str, str], project: Path
) -> None:
    wishes: list[PermissionRequest] = []

    async def approve(wish: PermissionRequest) -> Verdict:
        wishes.append(wish)
        assert (project / "leases.py").read_text() == CODE, "it is asked before it is done"
        return Verdict("once")

    edit = call("edit_file", path="leases.py", old_text="return 60", new_text="return 90")
    script = [Says(calls=(edit,)), Says("Ninety now.")]
    async with opened(environ, project, script) as (app, _):
        answer = await app.ask("Make it ninety.", approve=approve)
        edited = (project / "leases.py").read_text()
        undone = await app.undo(answer.conversation_id)
        with pytest.raises(InputError, match="nothing to undo"):
            await app.undo(answer.conversation_id)
        with pytest.raises(InputError, match="is already answered"):
            await app.retry(answer.conversation_id)
        stored = await app.store.timeline.messages(answer.conversation_id)

    [wish] = wishes
    assert wish.subject == "leases.py"
    assert "-    return 60\n+    return 90\n" in wish.preview
    assert edited == CODE.replace("60", "90")
    assert (project / "leases.py").read_text() == CODE
    assert undone.file == "leases.py"
    result = answer.tool_calls[0].result
    assert result is not None
    assert result.result["before_hash"] != result.result["after_hash"]
    assert stored[-1].role == "system"
    assert "took back" in stored[-1].content


async def test_a_no_reaches_the_model_as_a_result_and_changes_nothing(
    environ: dict[str, str], project: Path
) -> None:
    async def approve(wish: PermissionRequest) -> Verdict:
        return Verdict("deny", reason="Keep it at sixty.")

    write = call("write_file", path="leases.py", content="x = 1\n")
    script = [Says(calls=(write,)), Says("As you like.")]
    async with opened(environ, project, script) as (app, server):
        answer = await app.ask("Rewrite it.", approve=approve)

    assert "Keep it at sixty." in server.asked_in_turns[1].text
    assert (project / "leases.py").read_text() == CODE
    assert not answer.tool_calls[0].success


async def test_without_a_user_the_answer_is_no_and_yes_to_edits_allows_only_edits(
    environ: dict[str, str], project: Path
) -> None:
    wanted = (
        call("write_file", "a", path="new.py", content="x = 1\n"),
        call("run_command", "b", command="touch made"),
    )
    async with opened(environ, project, [Says(calls=wanted), Says("Done.")]) as (app, _):
        alone = await app.ask("Do it.")
    assert [c.success for c in alone.tool_calls] == [False, False]

    async with opened(environ, project, [Says(calls=wanted), Says("Done.")]) as (app, _):
        edits = await app.ask("Do it.", approve=allow_edits)
    assert [c.success for c in edits.tool_calls] == [True, False]
    assert (project / "new.py").read_text() == "x = 1\n"
    assert not (project / "made").exists()


async def test_what_a_command_prints_comes_while_it_runs(
    environ: dict[str, str], project: Path
) -> None:
    os.mkfifo(project / "gate")
    line = "echo one; cat gate; echo three >&2"
    heard: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, CommandPrinted):
            heard.append(event.text)
            if event.text == "one\n":  # only now it continues
                (project / "gate").write_text("two\n")
        elif isinstance(event, ToolFinished):
            heard.append(event.name)

    async def approve(wish: PermissionRequest) -> Verdict:
        return Verdict("once")

    script = [Says(calls=(call("run_command", command=line),)), Says("Done.")]
    async with opened(environ, project, script) as (app, _):
        await app.ask("Run it.", approve=approve, on_event=listen)

    assert heard == ["one\n", "two\n", "three\n", "run_command"]


async def test_a_lasting_yes_is_asked_for_once_in_a_project(
    environ: dict[str, str], project: Path
) -> None:
    wishes: list[PermissionRequest] = []

    async def approve(wish: PermissionRequest) -> Verdict:
        wishes.append(wish)
        return Verdict("always", wish.always[-1])

    wanted = (
        call("run_command", "a", command="touch one"),
        call("run_command", "b", command="touch two"),
        call("run_command", "c", command="touch $(echo three)"),
    )
    async with opened(environ, project, [Says(calls=wanted), Says("Done.")]) as (app, _):
        await app.ask("Make them.", approve=approve)
        rules = [str(rule) for rule in app.rules.all()]

    assert [wish.subject for wish in wishes] == ["touch one", "touch $(echo three)"]
    assert "run_command(touch *)" in rules
    assert all((project / name).exists() for name in ("one", "two", "three"))


async def test_what_only_reads_runs_unasked_and_what_leads_outside_never(
    environ: dict[str, str], project: Path
) -> None:
    async def approve(wish: PermissionRequest) -> Verdict:
        raise AssertionError(f"the user should not be asked about {wish}")

    wanted = (
        call("run_command", "a", command="cat leases.py | wc -l"),
        call("git_status", "b"),
        call("write_file", "c", path="../outside.py", content="x"),
        call("write_file", "d", path=".git/hooks/pre-commit", content="x"),
        call("read_file", "e", path="/etc/passwd"),
        call("run_command", "f", command="touch x", cwd=".."),
    )
    async with opened(environ, project, [Says(calls=wanted), Says("Done.")]) as (app, _):
        answer = await app.ask("Look around.", approve=approve)

    assert [c.success for c in answer.tool_calls] == [True, True, False, False, False, False]
    assert not (project.parent / "outside.py").exists()
    assert not (project / ".git/hooks/pre-commit").exists()


@pytest.mark.both_engines
async def test_code_and_memory_are_searched_by_tools(
    environ: dict[str, str], project: Path
) -> None:
    wanted = (
        call("search_code", "a", query="how long a lease lasts"),
        call("explore_code", "b", name="lease_seconds"),
        call("search_memory", "c", query="Friday release"),
    )
    script = [Says("Noted."), Says(calls=wanted), Says("Found.")]
    async with opened(environ, project, script, RAGFORGE_JOBS__CLOSING_SECONDS="0") as (app, _):
        await app.brain.ingest()
        first = await app.ask("Remember: the Friday release is called Otter.")
        answer = await app.ask("What do you know?")
        turn = await app.store.timeline.messages(first.conversation_id)
    code, explored, memory = (c.result.result for c in answer.tool_calls if c.result)

    assert code["code"][0]["file"] == "leases.py"
    assert explored["place"] == "leases.py:1-2 lease_seconds"
    assert memory[0]["question"].startswith("Remember: the Friday release")
    assert memory[0]["id"] == turn[0].uuid


@pytest.mark.parametrize("limit", [8, 50])
async def test_documents_and_configuration_reach_the_model_after_the_code(
    environ: dict[str, str], project: Path, limit: int
) -> None:
    body = "".join(f'    print("hold \\"{n}\\" in place")\n' for n in range(90))
    functions = (f"def hold_value_{n}():\n{body}    return {n}\n" for n in range(60))
    (project / "many.py").write_text("\n\n".join(functions))
    (project / "ops.md").write_text("# Ops\n\n## Renewal\n\nWorkers renew their tickets hourly.\n")
    query = "hold value; ops.md: how often workers renew their tickets"
    wanted = call("search_code", query=query, limit=limit)
    async with opened(environ, project, [Says(calls=(wanted,)), Says("Sixty.")]) as (app, server):
        await app.brain.ingest()
        answer = await app.ask("How long?")
        [*_, sent] = server.asked_in_turns[-1].body["messages"]
    [done] = answer.tool_calls

    assert done.result is not None
    assert limit // 2 < len(done.result.result["code"]) <= limit
    seen = json.loads(sent["content"])
    assert seen == done.result.result
    places = [one["place"] for one in seen["documents"]]
    assert "ops.md:3-5 Ops > Renewal" in places
    assert "Workers renew their tickets hourly." in sent["content"]


async def test_a_sub_agent_looks_on_its_own_and_returns_what_it_found(
    environ: dict[str, str], project: Path
) -> None:
    events: list[Event] = []
    script = [
        Says(calls=(call("delegate", task="Read leases.py."),)),
        Says(calls=(call("read_file", path="leases.py"),)),
        Says("It returns 60."),
        Says("A sub-agent says it returns 60."),
    ]
    async with opened(environ, project, script) as (app, server):
        answer = await app.ask("Ask somebody.", on_event=events.append)
        offered = {tool["function"]["name"] for tool in server.asked_in_turns[1].body["tools"]}

    assert answer.content == "A sub-agent says it returns 60."
    assert [(e.name, e.depth) for e in events if isinstance(e, ToolStarted)] == [
        ("delegate", 0),
        ("read_file", 1),
    ]
    assert "delegate" in offered
    assert not {"write_file", "edit_file", "run_command"} & offered
    assert answer.usage.requests == 4


@pytest.mark.both_engines
async def test_an_interrupted_turn_is_kept_and_continued(
    environ: dict[str, str], project: Path
) -> None:
    look = Says("Let me look.", calls=(call("read_file", path="leases.py"),))
    script = [look, Dawdles(Says("never"), 60), Says("Sixty.")]
    async with opened(environ, project, script) as (app, server):
        read = asyncio.Event()

        def hear(event: Event) -> None:
            if isinstance(event, ToolFinished):
                read.set()

        conversation = await _new(app)
        asking = asyncio.create_task(app.ask("How long?", conversation, on_event=hear))
        await read.wait()
        async with asyncio.timeout(60):
            while len(server.asked_in_turns) < 2:  # noqa: ASYNC110  there is no event for it
                await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        kept = await app.store.timeline.messages(conversation)
        answer = await app.retry(conversation)
        stored = await app.store.timeline.messages(conversation)

    assert [(m.role, m.content) for m in kept] == [
        ("user", "How long?"),
        ("assistant", "Let me look."),
        ("system", "Interrupted by the user."),
    ]
    assert answer.content == "Sixty."
    assert answer.turn_index == 0
    assert stored[:3] == kept
    assert [(m.role, m.content) for m in stored[3:]] == [("assistant", "Sixty.")]
    assert "return 60" in server.asked_in_turns[-1].text


async def test_a_provider_that_dies_in_the_middle_leaves_what_was_done(
    environ: dict[str, str], project: Path
) -> None:
    look = Says("Let me look.", calls=(call("read_file", path="leases.py"),))
    script = [look, Breaks(Says("It lasts sixty seconds, as"), after=4), Says("Sixty.")]
    async with opened(environ, project, script) as (app, _):
        conversation = await _new(app)
        broken = await app.ask("How long?", conversation)
        kept = await app.store.timeline.messages(conversation)
        answer = await app.retry(conversation)
        stored = await app.store.timeline.messages(conversation)

    assert broken.stopped == "failed"
    assert broken.problem
    assert broken.content.startswith("It la")
    assert [m.role for m in kept] == ["user", "assistant", "assistant", "system"]
    assert "broke off" in kept[-1].content
    assert answer.content == "Sixty."
    assert [m.role for m in stored].count("user") == 1


async def test_the_steps_of_a_turn_are_limited_and_the_model_concludes(
    environ: dict[str, str], project: Path
) -> None:
    look = Says(calls=(call("read_file", path="leases.py"),))
    async with opened(
        environ, project, [look, look, Says("Enough.")], RAGFORGE_AGENT__TURN__MAX_STEPS="2"
    ) as (app, server):
        answer = await app.ask("Look forever.")

    assert answer.content == "Enough."
    assert len(server.asked_in_turns) == 3
    assert server.asked_in_turns[-1].body["tool_choice"] == "none"


async def test_the_time_of_a_turn_is_limited_and_what_was_done_stays(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project, [Says("never")]) as (app, _):
        script = [calls(("read_file", {"path": "leases.py"}), text="Looking."), "never"]
        model = ScriptedModel(script)
        first = model.reply

        async def reply(request: ChatRequest) -> Reply:
            if len(model.asked):
                await asyncio.sleep(600)
            return await first(request)

        model.reply = reply  # type: ignore[method-assign]
        agent = replace(app.agent, chat=ChatClient(model), limits=TurnLimits(seconds=3))
        answer = await agent.take_turn(TurnEnvironment(await _new(app)), "Look forever.")

    assert answer.stopped == "time"
    assert answer.content == "Looking."
    assert len(answer.tool_calls) == 1


async def test_a_model_that_cannot_call_tools_natively_uses_them_all_the_same(
    environ: dict[str, str], project: Path
) -> None:
    read = {"name": "read_file", "arguments": {"path": "leases.py"}}
    first = json.dumps({"tool_calls": [read], "answer": None})
    script = [Says(first), Says('{"tool_calls": [], "answer": "Sixty seconds."}')]
    events: list[Event] = []
    async with opened(environ, project, script, RAGFORGE_LLM__TOOLS="schema") as (app, server):
        answer = await app.ask("How long?", on_event=events.append)

    assert answer.content == "Sixty seconds."
    assert "return 60" in server.asked_in_turns[1].text
    assert [e.text for e in events if isinstance(e, Text)] == ["Sixty seconds."]


async def test_a_failure_before_the_first_word_is_tried_again_and_reported_once(
    environ: dict[str, str], project: Path
) -> None:
    events: list[Event] = []
    async with opened(environ, project, [Fails(503), Says("Sixty.")]) as (app, _):
        answer = await app.ask("How long?", on_event=events.append)

    assert answer.content == "Sixty."
    assert "".join(e.text for e in events if isinstance(e, Text)) == "Sixty."


async def _new(app: App) -> str:
    from ragforge.memory.sessions import create_session

    return (await create_session(app.store, app.cwd)).uuid
