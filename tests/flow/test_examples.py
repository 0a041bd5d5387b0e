"""The examples run unchanged, each in a separate process, on every engine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.chat_server import ChatServer
from tests.fakes.http_server import Asked
from tests.fakes.talking import TITLE, with_model
from tests.fakes.wires import OpenAiWire, Says

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_a_custom_agent_has_a_memory(environ: dict[str, str], project: Path) -> None:
    done = await run("memory_for_an_agent.py", environ, project)

    assert done.returncode == 0, done.stderr
    told, _, found = done.stdout.partition("Found again")
    assert "We deploy on Fridays, from the branch `release`." in told
    assert "We deploy on Fridays" in found


async def test_the_context_of_a_question_is_shown_with_its_receipt(
    environ: dict[str, str], project: Path
) -> None:
    (project / "lease.py").write_text('def renew_lease():\n    """Keep it."""\n    return 60\n')
    await run("memory_for_an_agent.py", environ, project)

    done = await run("context_for_a_question.py", environ, project, "Where is `renew_lease`?")
    bare = await run("context_for_a_question.py", environ)

    assert done.returncode == 0, done.stderr
    text, _, receipt = done.stdout.partition(" characters:\n")
    assert "def renew_lease" in text
    assert "lease.py:1-3" in receipt
    assert "memory by words and meaning" in receipt
    assert bare.returncode == 1
    assert "context_for_a_question.py" in bare.stderr


async def test_all_past_conversations_are_analysed_by_a_model(
    environ: dict[str, str], project: Path
) -> None:
    insight = {"main_topic": "deploying", "key_findings": ["On Fridays."], "action_items": ["Ask"]}

    def aside(asked: Asked) -> Says:
        return Says(json.dumps(insight)) if "main_topic" in asked.text else TITLE

    nothing = await run("learn_from_the_past.py", environ, project)
    await run("memory_for_an_agent.py", environ, project)
    without = await run("learn_from_the_past.py", environ, project)
    async with ChatServer(OpenAiWire(), [Says("")], aside) as server:
        done = await run("learn_from_the_past.py", with_model(environ, server), project)

    assert "no conversations in this directory yet" in nothing.stdout
    assert without.returncode == 1
    assert "set llm.model" in without.stderr
    assert "Traceback" not in without.stderr
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["deploying", "  On Fridays.", "  to do: Ask"]


def test_examples_are_short() -> None:
    programs = sorted(EXAMPLES.glob("*.py"))
    told = (EXAMPLES / "README.md").read_text()
    assert len(programs) == 3
    for program in programs:
        assert program.name in told
        assert len(program.read_text().splitlines()) < 60, program.name


async def run(
    name: str, environ: Mapping[str, str], project: Path | None = None, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run an example while the local provider keeps serving."""
    where = [] if project is None else [str(project)]
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(EXAMPLES / name), *arguments, *where],
        cwd=project,
        env=dict(environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
