"""What does a turn cost in addition to the model? And a question in a separate process?

    python -m benchmarks.agent [--stores FOLDER] [--turns 60] [--repos FOLDER]

Django, ingested, with 10,000 stored turns. Turns are taken in one process with a model that
answers at once: with no tools, and with two rounds of calls (grep_files, read_file and
search_code together, then search_memory and list_files). A turn lasts from the question to the
stored answer; what follows it in the background (its vector, links, a title) is measured by
itself. Of a session of 40 turns, most of them with tools, it is counted how many characters are
sent, and how many of them begin as the request before, which providers cache: next to the stored
turns, and in a project with no other session, where memory has less to bring to each question.
Commands run in fresh processes, with nothing configured but the store. CPU is user and system,
with children that have ended. Of the terminal, it is that of its process when its prompt is seen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.context import DJANGO, SPEED_QUESTIONS, TURNS, open_on, remember
from benchmarks.measure import save
from benchmarks.peers import add_places
from benchmarks.servers import measure_start
from ragforge import App
from ragforge.domain.chat import (
    AssistantMessage,
    ChatRequest,
    Reply,
    StreamEvent,
    TextDelta,
    ToolRequest,
    Usage,
)
from ragforge.domain.schema import TURN
from ragforge.llm.ask import ChatClient
from ragforge.memory.sessions import create_session

ASK_BAR, HELP_BAR, START_BAR = 1.5, 0.25, 0.35
RUNS = 7
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


class InstantModel:
    """Goes through its script at every turn, without thinking."""

    name = "instant:model"
    calls_tools = True
    window = None

    def __init__(self, script: Sequence[AssistantMessage]) -> None:
        self._script = script
        self.asked: list[ChatRequest] = []

    async def prepare(self) -> None:
        pass

    async def reply(self, request: ChatRequest) -> Reply:
        if request.schema is not None:  # which searches of the files come before the answer
            return Reply(AssistantMessage(PLAN), Usage(100, 50, 1, 0.0))
        self.asked.append(request)
        rounds = sum(
            isinstance(one, AssistantMessage) for one in request.messages[request.stable :]
        )
        return Reply(self._script[rounds], Usage(100, 50, 1, 0.0))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        reply = await self.reply(request)
        for word in reply.message.text.split(" "):
            yield TextDelta(f"{word} ")
        yield reply

    async def close(self) -> None:
        pass


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
            "p50_ms": _at(self.walls, 0.5),
            "p95_ms": _at(self.walls, 0.95),
            "cpu_p50_ms": _at(self.cpus, 0.5),
            "cpu_p95_ms": _at(self.cpus, 0.95),
        }


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[round(share * (len(ordered) - 1))], 1)


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def turns(app: App, script: Sequence[AssistantMessage], count: int) -> dict[str, Any]:
    """Take turns; what one left for the background is done before the next."""
    talker: App = replace(app, chat=ChatClient(InstantModel(script)))
    taken, settled = Costs(), Costs()
    session = (await create_session(app.store, app.cwd)).uuid
    for number in range(count + 1):
        question = f"{SPEED_QUESTIONS[number % len(SPEED_QUESTIONS)]} ({number})"
        begun, used = time.perf_counter(), cpu_seconds()
        answer = await talker.ask(question, session)
        wall, cpu = time.perf_counter() - begun, cpu_seconds() - used
        assert answer.problem is None
        assert all(call.success for call in answer.tool_calls), answer.tool_calls
        begun, used = time.perf_counter(), cpu_seconds()
        await app.jobs.wait(SETTLE_SECONDS)
        if number:  # the first one loads what all need
            taken.add(wall, cpu)
            settled.add(time.perf_counter() - begun, cpu_seconds() - used)
    return {**taken.as_json(), "afterwards_cpu_p50_ms": _at(settled.cpus, 0.5)}


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
    model = InstantModel(script)
    talker: App = replace(app, chat=ChatClient(model))
    session = (await create_session(app.store, app.cwd)).uuid
    rows: list[tuple[bool, int, int]] = []  # first of its turn, characters, of which as before
    before = ""
    for number in range(count):
        known = len(model.asked)
        question = f"{SPEED_QUESTIONS[number % len(SPEED_QUESTIONS)]} ({number})"
        await talker.ask(question, session)
        await app.jobs.wait(SETTLE_SECONDS)
        for at, request in enumerate(model.asked[known:]):
            text = sent(request)
            rows.append((at == 0, len(text), count_common(before, text)))
            before = text
    rows = rows[1:]  # nothing was sent before the first
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


async def in_process(root: Path, store: Path, count: int) -> dict[str, Any]:
    async with await open_on(root, store) as opened:
        app: App = opened
        if not await app.brain.is_ingested():
            await app.brain.ingest()
        if not (await app.store.index.count_pending(TURN, "any"))[1]:
            await remember(app)
        await app.jobs.wait(SETTLE_SECONDS)
        return {
            "without_tools": await turns(app, [AssistantMessage(ANSWER)], count),
            "two_rounds_of_tools": await turns(app, WITH_TOOLS, count),
            "session": await layout(app, WITH_TOOLS, SESSION_TURNS),
        }


async def first_session(root: Path, store: Path) -> dict[str, Any]:
    """Take the turns of `layout` in a project that has no session yet."""
    async with await open_on(root, store) as app:
        await app.brain.ingest()
        return await layout(app, WITH_TOOLS, SESSION_TURNS)


def command(root: Path, store: Path, arguments: Sequence[str]) -> dict[str, float]:
    """Run a command in fresh processes; the first run warms the caches of files."""
    environ = {name: value for name, value in os.environ.items() if "RAGFORGE" not in name}
    environ |= {"RAGFORGE_STORE": str(store), "RAGFORGE_CONFIG": "", "RAGFORGE_JOBS__DETACH": "0"}
    taken = Costs()
    for number in range(RUNS + 1):
        given = [f"{one} ({number})" if " " in one else one for one in arguments]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "ragforge", *given],
            cwd=root,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, arguments
        if number:
            taken.add(time.perf_counter() - begun, used.ru_utime + used.ru_stime)
    cpus = [milliseconds / 1_000 for milliseconds in taken.cpus]
    return {
        "cpu_s": round(statistics.median(cpus), 2),
        "best_cpu_s": round(min(cpus), 2),
        "worst_cpu_s": round(max(cpus), 2),
        "wall_s": round(statistics.median(taken.walls) / 1_000, 2),
    }


async def start_terminal() -> dict[str, float]:
    """Open the terminal in fresh processes, with a model that is never asked."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "project" / ".git").mkdir(parents=True)
        await measure_start(home, {})  # it makes the store
        cpus = [await measure_start(home, {}) for _ in range(RUNS)]
    return {
        "cpu_s": round(statistics.median(cpus), 2),
        "best_cpu_s": round(min(cpus), 2),
        "bar_cpu_s": START_BAR,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--stores", type=Path, help="keep the store here, for another run")
    parser.add_argument("--turns", type=int, default=60)
    add_places(parser)
    chosen = parser.parse_args()
    root = chosen.repos / DJANGO
    if not root.is_dir():
        sys.exit(f"{root} is missing: Django 5.1, as `python -m benchmarks.ingest` wants it.")
    with tempfile.TemporaryDirectory() as work:
        stores = chosen.stores or Path(work)
        stores.mkdir(parents=True, exist_ok=True)
        store = stores / f"{DJANGO}.db"
        results: dict[str, Any] = {"turns": TURNS}
        results |= asyncio.run(in_process(root, store, chosen.turns))
        results["first_session"] = asyncio.run(first_session(root, Path(work) / "new.db"))
        for name, bar, arguments in (
            ("ask", ASK_BAR, ["ask", SPEED_QUESTIONS[0]]),
            ("help", HELP_BAR, ["--help"]),
        ):
            results[name] = {**command(root, store, arguments), "bar_cpu_s": bar}
        results["start"] = asyncio.run(start_terminal())
    for name, result in results.items():
        print(name, result)
    print(f"saved to {save('agent', results)}")


if __name__ == "__main__":
    main()
