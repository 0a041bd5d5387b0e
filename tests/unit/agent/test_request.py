"""A model with a small window is offered the tools that matter most."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.agent.request import fit_tools
from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool


async def run(given: Mapping[str, Json]) -> Json:
    return None


TOOLS = [
    Tool(ToolSpec(name, "x" * 100, {}), run)
    for name in ("delegate", "plan", "read_file", "edit_file", "grep_files")
]


def make_tool(name: str, description: str) -> Tool:
    field = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "description": "D"}
    return Tool(ToolSpec(name, description, {"properties": {"path": field}}), run)


def offered(maximum: int | None) -> list[str]:
    return [tool.spec.name for tool in fit_tools(TOOLS, maximum)]


def test_all_tools_are_offered_where_the_window_is_not_known() -> None:
    assert len(offered(None)) == len(offered(10_000)) == 5


def test_what_matters_most_stays_in_its_order() -> None:
    assert offered(400) == ["read_file", "edit_file", "grep_files"]
    assert offered(170) == ["read_file"]
    assert offered(0) == []


def test_tools_that_do_not_all_fit_are_described_in_a_sentence_each() -> None:
    long = "Read the file at a path.\nThere is much more to say. " + "x" * 500
    tools = [make_tool("read_file", long), make_tool("edit_file", long)]
    found = fit_tools(tools, 400)
    assert [tool.spec.description for tool in found] == ["Read the file at a path."] * 2
    assert found[0].spec.parameters["properties"] == {
        "path": {"type": "string", "description": "D"}
    }
    assert found[0].spec.parameters["required"] == ["path"]
