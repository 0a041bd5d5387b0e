"""Does what is remembered reach the model?

    python -m benchmarks.arrival [--data FOLDER] [--repos FOLDER] [--only memory,small-talk,long]

Memory: LoCoMo's conversations (snap-research, CC BY-NC 4.0: for measuring only) are past sessions
of one project, each utterance a turn, with their summaries. Each question is asked in a new
session; what counts is the share of its evidence whose words are in the text of the context, at
the default budget and at 20,000 characters.

Small talk: messages that have nothing to do with a project (`questions/off_topic.json`) are asked
in repositories; what counts is how many get any code.

Long: a session of 200 turns and 1,000,000 characters; at every tenth turn the request must hold
the last turn and, once there is one, a long-term summary, and stay within the budget.

Busy: `ragforge ask` with a chat model, in a fresh process while eight others keep the processors
busy; what counts is how many searches were late.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import clean_environ, make_parser, require, save
from benchmarks.memory_recall import Talk, load
from benchmarks.opening import open_project
from benchmarks.peers import add_places
from ragforge import App, load_settings, open_app
from ragforge.context.build import lay_out
from ragforge.context.replay import count_chars
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.schema import CONVERSATION
from tests.fakes.chat_server import ChatServer
from tests.fakes.wires import OpenAiWire, Says

BUDGETS = (100_000, 20_000)
ASKED_IN = ("requests", "gin", "trpc")
OFF_TOPIC = Path(__file__).parent / "questions" / "off_topic.json"
TURNS, TURN_CHARS = 200, 5_000
PARTS = ("memory", "small-talk", "long", "busy")
BUSY, ASKED_BUSY = 8, 4


def settings_of(root: Path, store: Path, maximum: int) -> Any:
    environ = {
        "RAGFORGE_STORE": str(store),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        "RAGFORGE_AGENT__MEMORY__MAX_CONTEXT_CHARS": str(maximum),
    }
    return load_settings(root, environ=environ).settings


async def fill(app: App, talks: Sequence[Talk]) -> None:
    """Store the conversations as past sessions of the project, with vectors and summaries."""
    place = str(app.project_path)
    for talk in talks:
        for number, said in itertools.groupby(talk.utterances, lambda one: one.session):
            session = Conversation(
                place, place, uuid=f"{talk.name}:{number}", project_id=app.project.id
            )
            await app.store.records.put(CONVERSATION, session)
            messages = [
                Message(
                    "user",
                    one.text,
                    uuid=f"{talk.name}:{one.id}",
                    timestamp=talk.dates[number] + timedelta(minutes=minute),
                )
                for minute, one in enumerate(said)
            ]
            await app.store.timeline.append(session.uuid, messages)
            await app.condenser.enqueue_due(session.uuid)
    await app.maintenance.embed_memory(lambda _: None)
    await app.jobs.wait(600)


async def measure_memory(talks: Sequence[Talk], work: Path) -> dict[str, Any]:
    """Return the share of evidence that is in the context, at each budget."""
    root = work / "project"
    (root / ".git").mkdir(parents=True)
    store = work / "memory.db"
    async with open_app(settings_of(root, store, BUDGETS[0]), root) as app:
        await fill(app, talks)
    results: dict[str, Any] = {}
    for maximum in BUDGETS:
        async with open_app(settings_of(root, store, maximum), root) as app:
            results[f"{maximum:,}"] = await _evidence_in_context(app, talks)
        print(f"memory within {maximum:,}: {results[f'{maximum:,}']}", flush=True)
    return results


async def _evidence_in_context(app: App, talks: Sequence[Talk]) -> dict[str, Any]:
    place = str(app.project_path)
    shares: list[float] = []
    by_category: dict[str, list[float]] = defaultdict(list)
    sizes: list[int] = []
    cpu = time.process_time()
    for talk in talks:
        said = {one.id: one.text for one in talk.utterances}
        for question in talk.questions:
            session = Conversation(place, place, project_id=app.project.id)
            context = await app.context.build_enriched_context(session, question.text)
            there = [said[one] in context.text for one in question.evidence]
            shares.append(statistics.mean(there))
            by_category[question.category].append(shares[-1])
            sizes.append(len(context.text))
    cpu = time.process_time() - cpu
    require(any(shares), "No context has the evidence of its question.")
    return {
        "questions": len(shares),
        "evidence_in_context": round(statistics.mean(shares), 3),
        "by_category": {name: round(statistics.mean(v), 3) for name, v in by_category.items()},
        "mean_chars": round(statistics.mean(sizes)),
        "cpu_ms": round(1_000 * cpu / len(shares), 1),
    }


async def measure_small_talk(repos: Path, work: Path) -> dict[str, Any]:
    """Return how many messages that have nothing to do with a project get any code."""
    every = json.loads(OFF_TOPIC.read_text("utf-8"))
    messages = [entry["text"] for entry in every if entry["split"] == "check"]
    results: dict[str, Any] = {"messages": len(messages)}
    for name in ASKED_IN:
        root = repos / name
        if not root.is_dir():
            continue
        async with open_project(root, work / f"{name}.db") as app:
            got = []
            for text in messages:
                context = await app.build_context(text)
                if context.code:
                    got.append(text)
        results[name] = {"with_code": len(got), "which": got}
        print(f"small talk in {name}: {results[name]}", flush=True)
    require(len(results) > 1, f"{repos} has none of {', '.join(ASKED_IN)}.")
    return results


async def measure_long_session(work: Path, turns: int = TURNS) -> dict[str, Any]:
    """Return what the requests of a very long session held."""
    root = work / "long"
    (root / ".git").mkdir(parents=True)
    maximum = BUDGETS[0]
    rows = []
    async with open_app(settings_of(root, work / "long.db", maximum), root) as app:
        session = (await app.sessions.create()).uuid
        for number in range(turns):
            await app.recorder.store_turn(session, _turn(number))
            if number % 10 != 9:
                continue
            await app.jobs.wait(120)
            conversation = await app.store.records.get(CONVERSATION, session)
            question = "What is the whole conversation about?"
            context = await app.context.build_enriched_context(conversation, question)
            laid_out = lay_out(context, "", question)
            sent = "\n".join(message.text for message in laid_out.request.messages)
            rows.append(
                {
                    "turn": number,
                    "last_turn": f"Question {number}:" in sent and f"Answer {number}:" in sent,
                    "level_2": len(context.level2_summaries),
                    "chars": sum(map(count_chars, laid_out.request.messages)) - len(question),
                }
            )
    require(all(row["last_turn"] for row in rows), "A request lacks the turn before it.")
    made = next((row["turn"] for row in rows if row["level_2"]), None)
    return {
        "most_chars": max(row["chars"] for row in rows),
        "budget": maximum,
        "always_the_last_turn": all(row["last_turn"] for row in rows),
        "first_level_2_at_turn": made,
        "level_2_ever_after": made is not None
        and all(row["level_2"] for row in rows if row["turn"] >= made),
        "rows": rows,
    }


def _turn(number: int) -> list[Message]:
    words = (
        f"The harbour's pier {number} needs {number * 7} planks and a lamp of kind {number % 9}. "
    )
    answer = f"Answer {number}: {words * 200}"[: TURN_CHARS - 60]
    return [
        Message("user", f"Question {number}: what does pier {number} need?"),
        Message("assistant", answer),
    ]


def keep_busy() -> list[subprocess.Popen[bytes]]:
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]


async def measure_busy(repos: Path, work: Path) -> dict[str, Any]:
    """Return how many searches of cold questions are late when the machine has no time."""
    root, store = repos / "requests", work / "busy.db"
    async with open_project(root, store):
        pass  # it is ingested
    late: list[str] = []
    answered, walls = 0, []
    loops = keep_busy()
    try:
        async with ChatServer(OpenAiWire(), [Says("In sessions.py.")], Says("{}")) as server:
            for number in range(ASKED_BUSY):
                begun = time.perf_counter()
                answer = await _ask(root, store, server, f"Where is the session made? ({number})")
                walls.append(round(time.perf_counter() - begun, 1))
                answered += answer["model"] is not None
                searches = answer["receipt"]["searches"]
                late += [one["name"] for one in searches if one["state"] in ("late", "failed")]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    require(answered, "No question was answered next to busy processes.")
    return {"asked": ASKED_BUSY, "answered": answered, "late": late, "wall_s": walls}


async def _ask(root: Path, store: Path, server: ChatServer, question: str) -> Any:
    environ = clean_environ(store.parent) | {
        "RAGFORGE_STORE": str(store),
        "RAGFORGE_LLM__MODEL": f"{server.wire.provider}:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
    }
    arguments = ("-m", "ragforge", "ask", question, "--output", "json")
    asking = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=root, env=environ, stdout=subprocess.PIPE
    )
    out, _ = await asking.communicate()
    return json.loads(out)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--turns", type=int, default=TURNS, help="of the long session")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    wanted = chosen.only.split(",")
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if "memory" in wanted:
            talks = load(chosen.data / "memory" / "locomo-dev.json")
            results["memory"] = asyncio.run(measure_memory(talks, work))
        if "small-talk" in wanted:
            results["small_talk"] = asyncio.run(measure_small_talk(chosen.repos, work))
        if "long" in wanted:
            results["long_session"] = asyncio.run(measure_long_session(work, chosen.turns))
            shown = {k: v for k, v in results["long_session"].items() if k != "rows"}
            print(f"long session: {shown}")
        if "busy" in wanted:
            results["busy"] = asyncio.run(measure_busy(chosen.repos, work))
            print(f"busy: {results['busy']}")
    save("arrival", results)


if __name__ == "__main__":
    main()
