"""`ragforge memory`: what users see of summaries and jobs, and do about them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from tests.fakes.engines import Engines
from tests.fakes.zygote import run_module

Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ragforge(environ: dict[str, str], project: Path) -> Run:
    """Run the command in the project, with a memory that condenses early."""
    small = environ | {"RAGFORGE_AGENT__MEMORY__MAX_CONTEXT_CHARS": "2000"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_module("ragforge", *arguments, cwd=project, env=small)

    return run


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_summaries_are_shown_trimmed_and_made_again(ragforge: Run) -> None:
    assert "There are no summaries" in ragforge("memory", "summaries").stderr
    for number in range(3):
        parsed(
            ragforge("ask", "--json", f"Is invoice {number} in src/billing.py paid? {'x' * 150}")
        )

    found = parsed(ragforge("memory", "summaries", "--json"))["summaries"]
    assert {one["level"] for one in found} >= {1}
    assert found[0]["files_mentioned"] == ["src/billing.py"]
    assert found[0]["made_by"] == "extractive"
    shown = ragforge("memory", "summaries", "--level", "1").stdout
    assert "L1  session" in shown
    assert "Is invoice 0" in shown
    assert parsed(ragforge("memory", "summaries", "--since", "1d", "--json"))["summaries"] == found
    assert parsed(ragforge("memory", "summaries", "--until", "1d", "--json"))["summaries"] == []

    of_file = parsed(ragforge("memory", "summaries", "--file", "src/billing.py", "--json"))
    assert of_file["summaries"] == []  # there is no such file in the project
    unread = parsed(ragforge("memory", "summaries", "--unread", "--json"))["summaries"]
    assert [one["summary_id"] for one in unread] == [
        one["summary_id"] for one in found if one["key_findings"]
    ]
    assert parsed(ragforge("memory", "summaries", "--unread", "--json"))["summaries"] == []

    refused = ragforge("memory", "trim", "--before", "0m")
    assert refused.returncode != 0
    assert "--yes" in refused.stderr
    gone = parsed(ragforge("memory", "trim", "--before", "0m", "--yes", "--json"))
    assert gone == {"deleted": len(found)}
    assert parsed(ragforge("memory", "summaries", "--json"))["summaries"] == []

    assert parsed(ragforge("memory", "rebuild", "--json"))["summaries"] == 0  # not by itself
    made = parsed(ragforge("memory", "rebuild", "--again", "--yes", "--json"))
    assert made == {"conversations": 1, "summaries": len(found), "failed_jobs": 0}
    again = parsed(ragforge("memory", "summaries", "--json"))["summaries"]
    assert [one["summary_id"] for one in again] == [one["summary_id"] for one in found]

    session = found[0]["conversation_id"]
    one_level = ("--level", "2", "--older-than", "0m", "--session", session[:8], "--yes", "--json")
    long_term = sum(one["level"] == 2 for one in found)
    assert parsed(ragforge("memory", "trim", *one_level)) == {"deleted": long_term}


def test_jobs_are_shown_with_their_problems_and_tried_again(ragforge: Run) -> None:
    parsed(ragforge("ask", "--json", "Is invoice 7 paid?"))

    done = parsed(ragforge("memory", "jobs", "--status", "done", "--json"))
    assert {"title", "settle_turn", "embed_turns"} <= {job["kind"] for job in done["jobs"]}
    assert done["counts"]["dead"] == 0
    shown = ragforge("memory", "jobs")
    assert shown.stdout == ""
    assert "0 pending" in shown.stderr
    assert parsed(ragforge("memory", "jobs", "--retry", "--json"))["revived"] == 0


def test_an_invalid_date_is_named(ragforge: Run) -> None:
    refused = ragforge("memory", "trim", "--before", "last week", "--yes")
    assert refused.returncode == 2
    assert "'last week' is neither a date" in " ".join(refused.stderr.split())


async def test_what_a_command_leaves_undone_is_done_by_a_separate_process(
    environ: dict[str, str], project: Path, engine: str, engines: Engines
) -> None:
    hurried = environ | {"RAGFORGE_JOBS__CLOSING_SECONDS": "0", "RAGFORGE_JOBS__DETACH": "true"}
    command = [sys.executable, "-m", "ragforge", "ask", "Hello?"]
    subprocess.run(command, cwd=project, env=hurried, check=True, timeout=120)

    store = await engines.open(engine)  # this looks, and does no work
    async with asyncio.timeout(60):
        while (await store.jobs.count()).by_status["done"] < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    [session] = await store.records.find(CONVERSATION, ConversationFilter())
    assert session.title == "Hello?"
