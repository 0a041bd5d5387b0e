"""A model with a small window is offered the tools that matter most."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.agent.fit_tools import fit_tools
from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool


async def run(given: Mapping[str, Json]) -> Json:
    return None


TOOLS = [
    Tool(ToolSpec(name, "x" * 100, {}), run)
    for name in ("delegate", "plan", "read_file", "edit_file", "grep_files")
]


def offered(most: int | None) -> list[str]:
    return [tool.spec.name for tool in fit_tools(TOOLS, most)]


def test_all_tools_are_offered_where_the_window_is_not_known() -> None:
    assert len(offered(None)) == len(offered(10_000)) == 5


def test_what_matters_most_stays_in_its_order() -> None:
    assert offered(350) == ["read_file", "edit_file", "grep_files"]
    assert offered(150) == ["read_file"]
    assert offered(0) == []
