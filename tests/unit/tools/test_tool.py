"""Tools as a model is offered them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.domain.chat import ToolRequest
from ragforge.errors import InputError
from ragforge.llm.calls import run_calls
from ragforge.tools.grep_files import make_grep_tool
from ragforge.tools.toolbox import make_file_tools
from ragforge.tools.workspace import Workspace


def test_every_tool_has_a_name_a_description_and_described_arguments(root: Path) -> None:
    tools = make_file_tools(Workspace.at(root))

    names = [tool.spec.name for tool in tools]
    assert names == ["grep_files", "search_files", "read_file", "list_files", "glob_files"]
    for tool in tools:
        assert len(tool.spec.description) > 40
        assert not tool.modifies_files
        json.dumps(tool.spec.parameters)
        for field in tool.spec.parameters["properties"].values():
            assert field["description"]
            assert "title" not in field


def test_required_arguments_and_defaults_are_in_the_schema(root: Path) -> None:
    parameters = make_grep_tool(Workspace.at(root)).spec.parameters

    assert parameters["required"] == ["pattern", "regex"]
    assert parameters["properties"]["max_results"]["default"] == 100
    assert parameters["properties"]["context_lines"]["default"] == 0


async def test_a_fixed_argument_is_not_offered_and_always_applied(root: Path) -> None:
    tool = make_grep_tool(Workspace.at(root), fixed={"context_lines": 50})

    assert "context_lines" not in tool.spec.parameters["properties"]
    result = await tool.run({"pattern": "**", "regex": "import jwt"})
    assert result["matches"][0]["endLine"] == 9
    with pytest.raises(InputError, match="no argument 'context_lines'"):
        await tool.run({"pattern": "**", "regex": "x", "context_lines": 1})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"regex": "x"}, "pattern: Field required"),
        ({"pattern": "**", "regex": "x", "max_results": 0}, "max_results: "),
        ({"pattern": "**", "regex": ""}, "regex: "),
        ({"pattern": "**", "regex": "x", "glob": "y"}, "no argument 'glob'"),
    ],
)
async def test_wrong_arguments_are_named(root: Path, given: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        await make_grep_tool(Workspace.at(root)).run(given)


async def test_a_failing_call_tells_the_model_why(root: Path) -> None:
    requests = [
        ToolRequest("1", "grep_files", {"pattern": "**", "regex": "foo("}),
        ToolRequest("2", "read_file", {"path": "/etc/passwd"}),
        ToolRequest("3", "list_files", {}),
    ]

    bad, outside, good = await run_calls(make_file_tools(Workspace.at(root)), requests, 1)

    assert bad.error is not None
    assert "'foo(' cannot be used: unclosed group" in bad.error
    assert outside.error == "'/etc/passwd' is outside of the project."
    assert good.success
    assert good.result["entries"] == ["README.md", "src/"]
