"""Traces: what tool calls leave behind, by what they take and give."""

from __future__ import annotations

from typing import Any

import pytest

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.text import Json
from ragforge.memory.code.traces import Trace, list_edited, read_edits, read_traces
from tests.fakes.builders import tool_call


def traces(name: str, arguments: Json, result: Json) -> list[Trace]:
    return read_traces(tool_call(name, arguments=arguments, result=ToolResult(True, result)))


def test_a_file_that_was_read_is_read_where_the_lines_are() -> None:
    page = {"file": "a.py", "content": "…", "startLine": 3, "endLine": 9, "total_lines": 20}
    assert traces("read_file", {"path": "a.py"}, page) == [Trace("read", "a.py", 3, 9)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"path": "a.py"}, Trace("read", "a.py", 1, None)),
        ({"path": "a.py", "start_line": 5}, Trace("read", "a.py", 5, None)),
        ({"path": "a.py", "start_line": 5, "end_line": 7}, Trace("read", "a.py", 5, 7)),
    ],
)
def test_a_result_that_was_cut_is_read_from_what_was_asked(arguments: Json, found: Trace) -> None:
    assert traces("read_file", arguments, '{"file": "a.py", [… cut here') == [found]


def test_hits_of_searches_are_found_at_their_line() -> None:
    match = {"file": "a.py", "line": 4, "startLine": 1, "endLine": 30}
    assert traces("grep_files", {}, {"matches": [match]}) == [Trace("found", "a.py", 4, 4)]
    hit = {"file": "b.py", "startLine": 2, "endLine": 8, "name": "f"}
    document = {"place": "README.md:3-9 Shop > Prices", "excerpt": "…"}
    assert traces("search_code", {"path": "src"}, {"code": [hit], "documents": [document]}) == [
        Trace("found", "b.py", 2, 8),
        Trace("found", "README.md", 3, 9),
    ]
    one = {"place": "b.py:2-8 f", "source": "…", "used_by": ["c.py:1-2 g"]}
    assert traces("explore_code", {"name": "f"}, one) == [Trace("found", "b.py", 2, 8)]
    several = {"several": 2, "answers": [{"place": "b.py:2-8 f", "callers": ["c.py: g:1"]}]}
    assert traces("explore_code", {"name": "f"}, several) == [Trace("found", "b.py", 2, 8)]


def test_the_output_of_a_command_is_found_line_by_line() -> None:
    output = "./src/a.py:12:x = 1\nsrc/b.py:3:y\nno place\n12:30:45 a time\n"
    found = traces("run_command", {"command": "git grep -n x"}, {"stdout": output, "exit_code": 0})
    assert [(trace.file, trace.first) for trace in found][:2] == [("src/a.py", 12), ("src/b.py", 3)]


def test_a_call_that_failed_or_was_declined_leaves_nothing() -> None:
    failed = ToolResult(False, None, "no such file")
    for name in ("read_file", "edit_file", "grep_files"):
        call = tool_call(name, arguments={"path": "a.py"}, result=failed, success=False)
        assert read_traces(call) == []
        assert read_edits(call) == []
        assert read_traces(tool_call(name, arguments={"path": "a.py"}, result=None)) == []


def test_an_edit_says_which_lines_it_wrote_and_what_the_file_became() -> None:
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n x\n+y\n z\n"
    result = {"file": "a.py", "diff": diff, "after_hash": "h"}
    [edit] = read_edits(tool_call("edit_file", result=ToolResult(True, result)))
    assert edit is not None
    assert (edit.file, edit.after_hash, [hunk.signs for hunk in edit.hunks]) == (
        "a.py",
        "h",
        [" + "],
    )


def test_the_files_of_edits_are_named_unless_something_else_may_have_changed() -> None:
    def edit(path: str, tool: str = "edit_file", **fields: Any) -> ToolCall:
        return tool_call(tool, result=ToolResult(True, {"file": path, "diff": ""}), **fields)

    read = tool_call("read_file")
    failed = tool_call("write_file", success=False, result=ToolResult(False, "", "no such file"))
    edits = [read, edit("a.py"), failed, edit("b.py", "write_file"), edit("a.py")]

    assert list_edited(edits) == ["a.py", "b.py"]
    for other in ("run_command", "delegate", "deploy"):
        assert list_edited([*edits, tool_call(other)]) == []
    assert list_edited([edit("a.py"), tool_call("write_file")]) == []  # which file is unknown
