"""Calls: how long one took, without the time that the user took to allow it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragforge.agent.permissions import Permissions, Verdict
from ragforge.agent.rules import PermissionRules
from ragforge.domain.chat import ToolRequest, ToolSpec
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool, run_calls
from ragforge.tools.permission import PermissionRequest


async def test_the_time_that_the_user_takes_is_not_part_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)

    async def approve(request: PermissionRequest) -> Verdict:
        nonlocal now
        now += 60
        return Verdict("once")

    permissions = Permissions(PermissionRules(tmp_path / "rules.json", tmp_path), approve)

    async def run(arguments: Mapping[str, Json]) -> Json:
        nonlocal now
        await permissions.require_permission(PermissionRequest("run_command", "x", "$ x", ()))
        now += 2
        return None

    async def delegate(arguments: Mapping[str, Json]) -> Json:
        nonlocal now
        [inner] = await run_calls([tool], [ToolRequest("2", "inner", {})], 1)
        now += 1
        return inner.duration_ms

    tool = Tool(ToolSpec("inner", "", {}), run)
    outer = Tool(ToolSpec("outer", "", {}), delegate)
    [call] = await run_calls([outer], [ToolRequest("1", "outer", {})], 1)
    assert (call.result, call.duration_ms) == (2_000, 3_000)
