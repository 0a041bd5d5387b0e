"""Hooks of the agent in whole turns: real commands, a scripted model over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragforge.agent.rules import parse_rule
from ragforge.errors import Declined
from ragforge.events import Event, Noticed
from ragforge.permissions import PermissionRequest, Verdict
from tests.fakes.talking import call, talking
from tests.fakes.wires import Says

CODE = "def lease_seconds():\n    return 60\n"
WRITE = call("write_file", "call-1", path="leases.py", content="x = 1\n")
READ = call("read_file", "call-2", path="leases.py")
LOOK = call("run_command", "call-3", command="cat leases.py")
TOUCH = call("run_command", "call-4", command="touch made.txt")
TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def project(project: Path) -> Path:
    (project / "leases.py").write_text(CODE)
    return project


def set_hooks(environ: Mapping[str, str], **hooks: dict[str, object]) -> None:
    """Write hooks into the user's file."""
    Path(environ["RAGFORGE_CONFIG"]).write_text(json.dumps({"agent": {"hooks": hooks}}))


def results_of(asked: Any) -> list[str]:
    return [one["content"] for one in asked.body["messages"] if one["role"] == "tool"]


class Asked(list[PermissionRequest]):
    """A user who says yes, once, and remembers what was asked."""

    async def approve(self, request: PermissionRequest) -> Verdict:
        self.append(request)
        return Verdict("once")


def notices(events: list[Event]) -> str:
    return "\n".join(one.text for one in events if isinstance(one, Noticed))


async def test_a_hook_that_ends_with_two_blocks_a_tool_and_tells_the_model_why(
    environ: dict[str, str], project: Path
) -> None:
    command = "echo 'Generated files stay.' >&2; exit 2"
    guard = {"event": "before_tool", "tools": "write_file edit_*", "command": command}
    set_hooks(environ, guard=guard)
    async with talking(environ, project, [Says(calls=(WRITE, READ)), Says("No.")]) as (agent, chat):
        conversation = await agent.create_conversation()
        await conversation.send_message("Halve it", approve=Asked().approve)
        blocked, read = results_of(chat.asked_in_turns[1])

    assert "The hook guard blocked this: Generated files stay." in blocked
    assert "return 60" in read
    assert (project / "leases.py").read_text() == CODE


async def test_hooks_get_each_event_as_json(environ: dict[str, str], project: Path) -> None:
    log = project.parent / "log.jsonl"
    command = f"cat >> {log}; echo >> {log}"
    events = ("session_start", "prompt", "before_tool", "after_tool", "turn_end")
    set_hooks(environ, **{event: {"event": event, "command": command} for event in events})
    script = [Says(calls=(READ,)), Says("It is 60."), Says("Yes.")]
    async with talking(environ, project, script) as (agent, _):
        conversation = await agent.create_conversation()
        await conversation.send_message("How long is it?")
        await conversation.send_message("Is that so?")

    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one["event"] for one in told] == [*events, "prompt", "turn_end"]
    assert {one["session"] for one in told} == {conversation.id}
    assert {one["cwd"] for one in told} == {str(project)}
    start, prompt, before, after, end = told[:5]
    assert start["hook"] == "session_start"
    assert prompt["prompt"] == "How long is it?"
    assert (before["tool"], before["arguments"]) == ("read_file", {"path": "leases.py"})
    assert "return 60" in json.dumps(after["result"])
    assert end["answer"] == "It is 60."


async def test_what_prompt_and_start_hooks_print_is_in_the_request_and_not_stored(
    environ: dict[str, str], project: Path
) -> None:
    set_hooks(
        environ,
        start={"event": "session_start", "command": "echo 'The sprint ends on Friday.'"},
        branch={"event": "prompt", "command": """echo '{"context": "On branch leases."}'"""},
    )
    async with talking(environ, project, [Says("Soon."), Says("Now.")]) as (agent, chat):
        conversation = await agent.create_conversation()
        await conversation.send_message("When is it due?")
        await conversation.send_message("And then?")
        first, second = (one.body["messages"][-1]["content"] for one in chat.asked_in_turns)
        stored = "\n".join(message.content for message in await conversation.get_history())

    for asked in (first, second):
        before, _, after = asked.partition("The sprint ends on Friday.")
        assert "<hook-output-" in before
        assert "</hook-output-" in after
        assert "On branch leases." in after
    assert "sprint" not in stored
    assert "branch leases" not in stored


async def test_a_blocked_message_is_neither_stored_nor_sent(
    environ: dict[str, str], project: Path
) -> None:
    command = "grep -q password && echo 'No passwords.' >&2 && exit 2; exit 0"
    set_hooks(environ, privacy={"event": "prompt", "command": command})
    async with talking(environ, project, [Says("Fine.")]) as (agent, chat):
        conversation = await agent.create_conversation()
        with pytest.raises(Declined, match=r"The hook privacy blocked this: No passwords\."):
            await conversation.send_message("My password is sesame")
        assert await conversation.get_history() == []
        assert chat.asked_in_turns == []
        answer = await conversation.send_message("Hello, how are you?")

    assert answer.content == "Fine."


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ({"command": "echo broken >&2; exit 1"}, "it ended with exit code 1: broken"),
        ({"command": "there-is-no-such-program"}, "it ended with exit code 127"),
        ({"command": "cat; sleep 1000", "timeout": 0.1}, "it was ended after 0.1 seconds"),
    ],
)
async def test_a_hook_that_fails_is_a_warning_and_breaks_nothing(
    environ: dict[str, str], project: Path, hook: dict[str, object], why: str
) -> None:
    set_hooks(environ, **{event: {**hook, "event": event} for event in ("prompt", "before_tool")})
    events: list[Event] = []
    async with talking(environ, project, [Says(calls=(READ,)), Says("60.")]) as (agent, _):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("How long?", on_event=events.append)

    assert answer.content == "60."
    assert answer.tool_calls[0].success
    assert f"The hook prompt failed: {why}" in notices(events)
    assert f"The hook before_tool failed: {why}" in notices(events)


async def test_a_hook_allows_what_no_rule_forbids(environ: dict[str, str], project: Path) -> None:
    decision = '{"decision": "allow"}'
    set_hooks(environ, trust={"event": "before_tool", "command": f"echo '{decision}'"})
    script = [Says(calls=(WRITE, TOUCH)), Says("Done.")]
    async with talking(environ, project, script) as (agent, chat):
        agent.app.rules.add(parse_rule("deny", "run_command(touch *)"))
        conversation = await agent.create_conversation()
        await conversation.send_message("Halve it")  # no one could approve it
        written, touched = results_of(chat.asked_in_turns[1])

    assert (project / "leases.py").read_text() == "x = 1\n"
    assert "leases.py" in written
    assert "A permission rule forbids run_command" in touched
    assert not (project / "made.txt").exists()


async def test_a_hook_allows_nothing_in_plan_mode(environ: dict[str, str], project: Path) -> None:
    decision = '{"decision": "allow"}'
    set_hooks(environ, trust={"event": "before_tool", "command": f"echo '{decision}'"})
    async with talking(environ, project, [Says(calls=(TOUCH,)), Says("A plan.")]) as (agent, _):
        conversation = await agent.create_conversation()
        await conversation.send_message("Halve it", mode="plan")

    assert not (project / "made.txt").exists()


async def test_a_hook_has_the_user_asked_whatever_is_allowed(
    environ: dict[str, str], project: Path
) -> None:
    decision = '{"decision": "ask", "reason": "It is late."}'
    set_hooks(environ, late={"event": "before_tool", "command": f"echo '{decision}'"})
    asked, events = Asked(), list[Event]()
    script = [Says(calls=(WRITE, LOOK, READ)), Says("Done.")]
    async with talking(environ, project, script) as (agent, _):
        agent.app.rules.add(parse_rule("allow", "edit_file(**)"))
        conversation = await agent.create_conversation()
        await conversation.send_message(
            "Halve it", approve=asked.approve, mode="accept-edits", on_event=events.append
        )

    found = [(one.action, one.subject) for one in asked]
    assert found[0] == ("edit_file", "leases.py")
    assert ("run_command", "cat leases.py") in found
    assert ("tool", "read_file") in found
    assert "The hook late wants you to decide: It is late." in notices(events)


async def test_after_a_tool_a_hook_tells_the_model_what_is_wrong(
    environ: dict[str, str], project: Path
) -> None:
    command = f"echo 'leases.py has no docstring; {TOKEN}' >&2; exit 2"
    set_hooks(environ, lint={"event": "after_tool", "tools": "write_file", "command": command})
    async with talking(environ, project, [Says(calls=(WRITE,)), Says("Done.")]) as (agent, chat):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Halve it", mode="accept-edits")
        [result] = results_of(chat.asked_in_turns[1])
        stored = await conversation.get_history()

    assert "leases.py has no docstring" in result
    assert answer.tool_calls[0].success
    calls = [call for message in stored for call in message.tool_calls]
    kept = str(calls[0].result)
    assert "has no docstring" in kept
    assert TOKEN not in kept


async def test_calls_of_a_sub_agent_pass_the_hooks_too(
    environ: dict[str, str], project: Path
) -> None:
    guard = {
        "event": "before_tool",
        "tools": "read_file",
        "command": "echo 'Not that.' >&2; exit 2",
    }
    allow = {
        "event": "before_tool",
        "tools": "delegate",
        "command": """echo '{"decision":"allow"}'""",
    }
    set_hooks(environ, guard=guard, allow=allow)
    script = [
        Says(calls=(call("delegate", task="Read leases.py"),)),
        Says(calls=(READ,)),
        Says("I may not."),
        Says("Done."),
    ]
    async with talking(environ, project, script) as (agent, chat):
        conversation = await agent.create_conversation()
        await conversation.send_message("Look at it")

    [blocked] = results_of(chat.asked_in_turns[2])
    assert "The hook guard blocked this: Not that." in blocked


async def test_hooks_get_no_keys_of_models(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("MY_OWN", "mine")
    seen = project.parent / "seen.txt"
    set_hooks(environ, spy={"event": "prompt", "command": f"env > {seen}"})
    async with talking(environ, project, [Says("Fine.")]) as (agent, _):
        await (await agent.create_conversation()).send_message("Hello there")

    assert "MY_OWN=mine" in seen.read_text()
    assert "sk-canary" not in seen.read_text()
