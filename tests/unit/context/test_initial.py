"""The initial-context agent: up to three searches of the files, at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge.context.excerpts import Location
from ragforge.context.initial import InitialContext
from ragforge.context.planner import Plan, PlannedSearch, Planner
from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool

MESSAGE = 'Where does `check_password` say "lease lost", and what is in src/cart.py?'
Run = Callable[[Mapping[str, Json]], Awaitable[Json]]


def match(file: str, line: int) -> Json:
    return {"matches": [{"file": file, "line": line, "similarity": 0.8}]}


def searching(root: Path, run: Run, seconds: float = 30) -> InitialContext:
    """Return an agent without a model, all of whose tools do the same."""

    async def known(words: Sequence[str]) -> Collection[str]:
        return ()

    names = ("grep_files", "search_files", "run_command")
    tools = {name: Tool(ToolSpec(name, "", {}), run) for name in names}
    return InitialContext(Planner(None, "", 1), lambda: tools, root, seconds, known)


async def test_all_searches_of_a_plan_run_at_the_same_time(tmp_path: Path) -> None:
    everybody = asyncio.Barrier(3)

    async def run(given: Mapping[str, Json]) -> Json:
        await everybody.wait()  # one after the other, they would wait for ever
        return match("a.py", 1)

    async with asyncio.timeout(30):
        locations, searches = await searching(tmp_path, run).search(MESSAGE)

    assert len(locations) == 3
    assert [search.state for search in searches] == ["ok"] * 4


async def test_a_search_that_fails_costs_only_its_own_hits(tmp_path: Path) -> None:
    async def run(given: Mapping[str, Json]) -> Json:
        if "lease" in str(given):
            raise InputError("No such luck.")
        return match("a.py", 7)

    locations, searches = await searching(tmp_path, run).search(MESSAGE)

    assert {(location.file, location.line) for location in locations} == {("a.py", 7)}
    assert [search.problem for search in searches if search.state == "failed"] == ["No such luck."]


@pytest.mark.parametrize("late", ["altogether", "in part"])
async def test_a_search_that_is_late_gives_what_it_has_and_says_so(
    tmp_path: Path, late: str
) -> None:
    async def run(given: Mapping[str, Json]) -> Json:
        if late == "altogether":
            await asyncio.sleep(60)
        return {**match("a.py", 7), "timed_out": True}

    locations, searches = await searching(tmp_path, run, seconds=0.2).search("`check_password`")

    assert [search.state for search in searches[1:]] == (
        ["late", "late", "late"] if late == "altogether" else ["ok", "ok", "ok"]
    )
    assert all(search.problem for search in searches[1:])
    assert bool(locations) == (late == "in part")


async def test_each_kind_of_search_has_its_score(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")

    async def run(given: Mapping[str, Json]) -> Json:
        if "command" in given:
            return {"stdout": "a.py:3:x = 1\na.py\n"}
        return match("a.py", 1)

    locations, _ = await searching(tmp_path, run).search("Explain a.py, please: pasword")

    assert Location("a.py", 1, 0.9, 0.8, "grep") in locations
    assert Location("a.py", 3, 0.85, 0.75, "command") in locations
    assert Location("a.py", 1, 0.7, 0.6, "command") in locations
    assert Location("a.py", 1, 0.8, 0.6, "fuzzy") in locations


async def test_a_command_in_a_directory_names_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "app.ts").write_text("start()\n")

    class OneCommand(Planner):
        async def plan(self, message: str, surroundings: str = "") -> Plan:
            given = {"command": "grep -n start app.ts", "cwd": "web"}
            return Plan((PlannedSearch("run_command", given),), "a model")

    async def run(given: Mapping[str, Json]) -> Json:
        return {"stdout": "app.ts:1:start()\n"}

    initial = replace(searching(tmp_path, run), planner=OneCommand(None, "", 1))

    locations, _ = await initial.search("Where is it started?")

    assert locations == [Location("web/app.ts", 1, 0.85, 0.75, "command")]
