"""What an editor gets to see of calls, edits and requests, and what RagForge makes of its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("acp", reason="agent-client-protocol is not installed")

from acp import (
    audio_block,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)
from acp.schema import EnvVariable, McpServerStdio, SseMcpServer

from ragforge import events
from ragforge.acp.agent import list_specs
from ragforge.acp.permission import Permission, list_options, read_choice
from ragforge.acp.question import read_question
from ragforge.acp.updates import TurnUpdates, UpdateQueue, format_result, list_changes
from ragforge.domain.receipts import Receipt, SearchReport
from ragforge.errors import InputError
from ragforge.permissions import PermissionRequest
from ragforge.tools.edits.change import FileEdit
from ragforge.tools.permission import Action
from tests.fakes.editor import Editor

ROOT = Path("/work/shop")


def test_each_hunk_of_a_diff_is_a_separate_change() -> None:
    before = "".join(f"{number}\n" for number in range(30))
    after = before.replace("3\n", "three\n", 1).replace("27\n", "")
    change = FileEdit("a.py", before.encode(), after.encode())
    first, second = list_changes(ROOT / "a.py", change.whole_diff)
    assert first.path == "/work/shop/a.py"
    assert (first.old_text, first.new_text) == (
        "0\n1\n2\n3\n4\n5\n6\n",
        "0\n1\n2\nthree\n4\n5\n6\n",
    )
    assert "27\n" in (second.old_text or "")
    assert "27\n" not in second.new_text


def test_a_new_file_has_no_text_before() -> None:
    [change] = list_changes(ROOT / "a.py", FileEdit("a.py", None, b"x\n").whole_diff)
    assert (change.old_text, change.new_text) == (None, "x\n")


def test_half_a_character_in_a_result_does_not_break_the_update() -> None:
    [shown] = format_result(ROOT, {"stdout": "a\udcff", "exit_code": 1}, None)
    assert shown.content.text == "a?\nexit 1"


def test_editors_choose_by_kind_so_always_is_the_narrowest_rule_and_what_was_not_offered_a_no() -> (
    None
):
    request = PermissionRequest("run_command", "make", "make", ("make", "make *"))
    options = {one.kind: one.option_id for one in list_options(request)}
    assert len(list_options(request)) == len(options) == 3
    assert read_choice(options["allow_always"], request).pattern == "make"
    for chosen in ("always-1", "yes", "reject", ""):
        assert read_choice(chosen, request).answer == "deny"


@pytest.mark.parametrize(
    ("action", "tool", "subject", "title", "kind"),
    [
        ("edit_file", "write_file", "a.py", "Edit a.py", "edit"),
        ("run_command", "run_command", "make", "Run make", "execute"),
        ("mcp", "weather__today", "weather__today", "Call weather__today", "other"),
        ("fetch_url", "fetch_url", "x.org", "Read a page of x.org", "fetch"),
    ],
)
async def test_every_request_is_put_to_the_user_of_the_editor_with_its_call(
    action: Action, tool: str, subject: str, title: str, kind: str
) -> None:
    editor, sent = Editor(), list[Any]()
    editor.choices = ["allow_once"]
    updates = TurnUpdates(ROOT, sent.append)
    updates.on_event(events.ToolStarted("1", tool, {"url": "https://x.org/"}))
    async with UpdateQueue(editor, "s") as queue:  # type: ignore[arg-type]
        asking = Permission(editor, "s", ROOT, updates, queue)  # type: ignore[arg-type]
        verdict = await asking.approve(PermissionRequest(action, subject, "GET", (subject,)))

    [(call, _)] = editor.requests
    assert verdict.answer == "once"
    assert (call.title, call.kind, call.tool_call_id) == (title, kind, sent[0].tool_call_id)


def test_files_attached_to_a_question_are_named_and_unsaved_text_follows() -> None:
    blocks = [
        text_block("Compare "),
        resource_link_block("a.py", "file:///work/shop/src/a%20b.py"),
        text_block(" with "),
        resource_block(embedded_text_resource("file:///work/shop/c.py", "x = '```'\n")),
    ]
    question = read_question(blocks, ROOT)
    assert question.text.startswith(
        "Compare src/a b.py with c.py\n\nc.py in the editor:\n\n````\nx ="
    )


def test_images_are_where_the_user_put_them_and_sound_is_refused_with_a_sentence() -> None:
    shot = image_block("aGk=", "image/png", uri="file:///work/shop/shot.png")
    question = read_question([text_block("Is "), image_block("aGk=", "image/png"), shot], ROOT)
    assert question.text == "Is [image 1][shot.png]"
    assert [(one.name, one.data) for one in question.images] == [
        ("image 1", b"hi"),
        ("shot.png", b"hi"),
    ]
    with pytest.raises(InputError, match="cannot contain sound"):
        read_question([audio_block("aGk=", "audio/wav")], ROOT)
    with pytest.raises(InputError, match="cannot be read"):
        read_question([image_block("no base64!", "image/png")], ROOT)


def test_servers_of_an_editor_are_reached_as_those_of_its_user() -> None:
    started = McpServerStdio(
        name="My (files)", command="serve", args=["."], env=[EnvVariable(name="KEY", value="k")]
    )
    ours = McpServerStdio(name="memory", command="/bin/ragforge", args=["mcp"], env=[])
    streamed = SseMcpServer(name="events", url="http://127.0.0.1:1", headers=[], type="sse")
    wrong = McpServerStdio(name="", command="", args=[], env=[])
    files, memory, events, none = list_specs([started, ours, streamed, wrong], ROOT)
    assert (files.name, files.command, files.args) == ("My-files", "serve", (".",))
    assert (files.env, files.cwd, files.problem) == ({"KEY": "k"}, str(ROOT), "")
    assert memory.is_ignored
    assert events.problem == "MCP servers of the type sse cannot be used"
    assert (none.name, none.problem) == (
        "server",
        "the editor has the server 'server': it needs either a command or a url",
    )


def test_a_notice_is_said_and_a_retry_is_a_thought() -> None:
    sent: list[Any] = []
    updates = TurnUpdates(ROOT, sent.append)
    updates.on_event(events.Waiting("m"))
    updates.on_event(events.Noticed("shot.png is not sent: it is larger than 5 MB."))
    updates.on_event(events.Waiting("m", 2, "It is overloaded.", 3.2))
    assert [(one.session_update, one.content.text.strip()) for one in sent] == [
        ("agent_message_chunk", "shot.png is not sent: it is larger than 5 MB."),
        ("agent_thought_chunk", "It is overloaded. Attempt 2 follows in 3 s."),
    ]


def test_a_search_that_is_late_is_named_in_a_thought() -> None:
    sent: list[Any] = []
    updates = TurnUpdates(ROOT, sent.append)
    updates.on_event(events.ContextBuilt(Receipt(9, 0)))
    late = SearchReport("notes", "late", problem="took longer than 5 s")
    updates.on_event(events.ContextBuilt(Receipt(9, 0, searches=(late,))))
    assert [one.content.text.strip() for one in sent] == [
        "Could not search: notes (took longer than 5 s)."
    ]


def test_calls_with_the_same_id_in_two_rounds_are_two_calls_for_the_editor() -> None:
    sent: list[object] = []
    updates = TurnUpdates(ROOT, sent.append)
    for _ in range(2):
        updates.on_event(events.ToolStarted("call-1", "read_file", {"path": "a.py"}))
        updates.on_event(
            events.ToolFinished("call-1", "read_file", {}, {"content": "x"}, True, None, 1)
        )
    ids = [one.tool_call_id for one in sent]  # type: ignore[attr-defined]
    assert len(set(ids)) == 2
    assert ids[0] == ids[1]


def test_the_plan_tool_is_the_plan_of_the_editor_and_an_interrupted_call_has_failed() -> None:
    sent: list[object] = []
    updates = TurnUpdates(ROOT, sent.append)
    items = {"items": [{"text": "Look", "state": "done"}, {"text": "Write", "state": "doing"}]}
    updates.on_event(events.ToolStarted("1", "plan", items))
    updates.on_event(events.ToolFinished("1", "plan", items, items, True, None, 1))
    updates.on_event(events.ToolStarted("2", "run_command", {"command": "make"}))
    updates.end()
    plan, started, ended = sent
    assert [(one.content, one.status) for one in plan.entries] == [  # type: ignore[attr-defined]
        ("Look", "completed"),
        ("Write", "in_progress"),
    ]
    assert (started.kind, ended.status) == ("execute", "failed")  # type: ignore[attr-defined]


def test_what_a_running_command_prints_is_shown_with_its_call() -> None:
    sent: list[Any] = []
    updates = TurnUpdates(ROOT, sent.append)
    updates.on_event(events.ToolStarted("1", "run_command", {"command": "make"}))
    updates.on_event(events.CommandPrinted("step 1\n"))
    updates.on_event(events.CommandPrinted("step 2\n"))  # too soon: it comes with the result
    started, printed = sent
    assert printed.tool_call_id == started.tool_call_id
    assert printed.content[0].content.text == "step 1\n"
