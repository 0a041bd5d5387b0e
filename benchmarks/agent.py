"""What does a turn cost in addition to the model?

    python -m benchmarks.agent [--django FOLDER] [--stores FOLDER] [--turns 60] [--stored 10000]

Django, ingested, with 10,000 stored turns. Turns are taken in one process with a model that
answers at once: with no tools, and with two rounds of calls (grep_files, read_file and
search_code together, then search_memory and list_files). A turn lasts from the question to the
stored answer; what follows it in the background (its vector, links, a title) is measured by
itself. Of a session of 40 turns, most of them with tools, it is counted how many characters are
sent, and how many of them begin as the request before, which providers cache: next to the stored
turns, and in a project with no other session, where memory has less to bring to each question.
CPU is user and system, with children that have ended.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.context import SPEED_QUESTIONS, TURNS, remember
from benchmarks.measure import Row, cpu_seconds, make_parser, percentile, require, save
from benchmarks.opening import open_project
from benchmarks.peers import add_places
from ragforge import App
from ragforge.domain.chat import (
    AssistantMessage,
    ChatRequest,
    ToolRequest,
)
from ragforge.llm.ask import ChatClient
from ragforge.memory.sessions import create_session
from tests.fakes.scripted_model import ScriptedModel

SESSION_TURNS = 40
SETTLE_SECONDS = 60
ANSWER = "It is in `django/contrib/sessions/middleware.py`, in `process_response`. " * 4
PLAN = json.dumps({"calls": [{"tool": "grep_files", "pattern": "**/*.py", "regex": "set_cookie"}]})
LOOK = (
    ToolRequest("1", "grep_files", {"pattern": "**/*.py", "regex": "def process_response"}),
    ToolRequest("2", "read_file", {"path": "django/http/response.py", "end_line": 200}),
    ToolRequest("3", "search_code", {"query": "where is the session cookie set"}),
)
REMEMBER = (
    ToolRequest("4", "search_memory", {"query": "session cookie"}),
    ToolRequest("5", "list_files", {"path": "django/contrib/sessions"}),
)
WITH_TOOLS = [
    AssistantMessage("Let me look.", tool_requests=LOOK),
    AssistantMessage("And what was said.", tool_requests=REMEMBER),
    AssistantMessage(ANSWER),
]


def answer_at_once(script: Sequence[AssistantMessage]) -> ScriptedModel:
    """Return a model that goes through its script at every turn, without thinking."""

    def answer(request: ChatRequest) -> AssistantMessage:
        if request.schema is not None:  # which searches of the files come before the answer
            return AssistantMessage(PLAN)
        said = request.messages[request.stable :]
        return script[sum(isinstance(one, AssistantMessage) for one in said)]

    return ScriptedModel(answer)


@dataclass(slots=True)
class Costs:
    """Wall clock and CPU of the same thing, many times, in milliseconds."""

    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)

    def add(self, wall: float, cpu: float) -> None:
        self.walls.append(1_000 * wall)
        self.cpus.append(1_000 * cpu)

    def as_json(self) -> dict[str, float]:
        return {
            "p50_ms": round(percentile(self.walls, 0.5), 1),
            "p95_ms": round(percentile(self.walls, 0.95), 1),
            "cpu_p50_ms": round(percentile(self.cpus, 0.5), 1),
            "cpu_p95_ms": round(percentile(self.cpus, 0.95), 1),
        }


async def turns(app: App, script: Sequence[AssistantMessage], count: int) -> dict[str, Any]:
    """Take turns; what one left for the background is done before the next."""
    talker: App = replace(app, chat=ChatClient(answer_at_once(script)))
    taken, settled = Costs(), Costs()
    session = (await create_session(app.store, app.cwd)).uuid
    for number in range(count + 1):
        question = f"{SPEED_QUESTIONS[number % len(SPEED_QUESTIONS)]} ({number})"
        begun, used = time.perf_counter(), cpu_seconds()
        answer = await talker.ask(question, session)
        wall, cpu = time.perf_counter() - begun, cpu_seconds() - used
        require(answer.problem is None, f"A turn failed: {answer.problem}")
        failed = [call for call in answer.tool_calls if not call.success]
        require(not failed, f"Calls of tools failed: {failed}")
        begun, used = time.perf_counter(), cpu_seconds()
        await app.jobs.wait(SETTLE_SECONDS)
        if number:  # the first one loads what all need
            taken.add(wall, cpu)
            settled.add(time.perf_counter() - begun, cpu_seconds() - used)
    return {**taken.as_json(), "afterwards_cpu_p50_ms": round(percentile(settled.cpus, 0.5), 1)}


def sent(request: ChatRequest) -> str:
    """Return a request in the order in which providers read, and cache, it."""
    lines = [json.dumps([spec.name, spec.description, spec.parameters]) for spec in request.tools]
    lines.append(request.system)
    for message in request.messages:
        lines.append(f"{type(message).__name__}: {message.text}")
        if isinstance(message, AssistantMessage):
            lines += (f"{one.name} {json.dumps(one.arguments)}" for one in message.tool_requests)
    return "\n".join(lines)


def count_common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


async def layout(app: App, script: Sequence[AssistantMessage], count: int) -> dict[str, Any]:
    """Count how much of the requests of one session a provider has seen just before."""
    model = answer_at_once(script)
    talker: App = replace(app, chat=ChatClient(model))
    session = (await create_session(app.store, app.cwd)).uuid
    rows: list[tuple[bool, int, int]] = []  # first of its turn, characters, of which as before
    before = ""
    for number in range(count):
        known = len(model.asked)
        question = f"{SPEED_QUESTIONS[number % len(SPEED_QUESTIONS)]} ({number})"
        await talker.ask(question, session)
        await app.jobs.wait(SETTLE_SECONDS)
        asked = [one for one in model.asked[known:] if one.tools and one.schema is None]
        for at, request in enumerate(asked):
            text = sent(request)
            rows.append((at == 0, len(text), count_common(before, text)))
            before = text
    rows = rows[1:]  # nothing was sent before the first
    require(rows, "No requests were sent.")
    first = [(chars, same) for is_first, chars, same in rows if is_first]
    return {
        "turns": count,
        "requests": len(rows) + 1,
        "chars": sum(chars for _, chars, _ in rows),
        "as_before": round(sum(s for *_, s in rows) / sum(c for _, c, _ in rows), 3),
        "as_before_in_first_requests": round(
            sum(s for _, s in first) / sum(c for c, _ in first), 3
        ),
        "mean_chars_of_first_requests": round(statistics.mean(chars for chars, _ in first)),
    }


async def in_process(root: Path, store: Path, count: int, stored: int) -> dict[str, Any]:
    async with open_project(root, store) as app:
        await remember(app, stored)
        await app.jobs.wait(SETTLE_SECONDS)
        return {
            "without_tools": await turns(app, [AssistantMessage(ANSWER)], count),
            "two_rounds_of_tools": await turns(app, WITH_TOOLS, count),
            "session": await layout(app, WITH_TOOLS, min(count, SESSION_TURNS)),
        }


async def first_session(root: Path, store: Path, count: int) -> dict[str, Any]:
    """Take the turns of `layout` in a project that has no session yet."""
    async with open_project(root, store) as app:
        return await layout(app, WITH_TOOLS, count)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--stores", type=Path, help="keep the store here, for another run")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--stored", type=int, default=TURNS, help="turns of earlier sessions")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    root = chosen.django
    with tempfile.TemporaryDirectory() as work:
        stores = chosen.stores or Path(work)
        stores.mkdir(parents=True, exist_ok=True)
        store = stores / "django.db"
        results: dict[str, Any] = {"stored": chosen.stored}
        results |= asyncio.run(in_process(root, store, chosen.turns, chosen.stored))
        count = min(chosen.turns, SESSION_TURNS)
        results["first_session"] = asyncio.run(first_session(root, Path(work) / "new.db", count))
    rows = [
        Row(f"a turn, {name.replace('_', ' ')}, p50", results[name]["cpu_p50_ms"], "CPU ms")
        for name in ("without_tools", "two_rounds_of_tools")
    ]
    shared = results["session"]["as_before"]
    save("agent", results, [*rows, Row("share of requests that providers cache", shared, "")])


if __name__ == "__main__":
    main()
