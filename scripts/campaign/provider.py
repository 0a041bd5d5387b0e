"""Provider: one that breaks off, storms with errors, sends rubbish or says nothing."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

from scripts.campaign.report import Counts, Minimum, Report
from scripts.campaign.workplace import Running, environ_of, make_project, run_rounds
from tests.fakes.chat_server import Breaks, ChatServer, Dawdles, Fails, Garbles, Step
from tests.fakes.talking import TITLE, with_model
from tests.fakes.wires import Call, OpenAiWire, Says
from tests.faults.checks import look_for

WORDS = "All the words of the answer are here, and none is missing."
GOOD_ENDS = (0, 1, 3)
QUESTIONS = 3


async def trouble_turns(folder: Path, rounds: int, chance: random.Random, report: Report) -> None:
    """Ask questions of a provider in trouble."""
    played = [
        partial(play_round, folder / str(number), random.Random(chance.random()))
        for number in range(rounds)
    ]
    counts = await run_rounds(played)
    report.add("provider", counts, Minimum(acknowledged=rounds))


async def play_round(folder: Path, chance: random.Random) -> Counts:
    """Ask a few questions, then check that each is stored once and no answer is half true."""
    counts, project = Counts(), make_project(folder)
    acknowledged = []
    for number in range(QUESTIONS):
        script = [make_step(chance) for _ in range(chance.randint(1, 4))]
        question = f"What are all the words of number {number}?"
        async with ChatServer(OpenAiWire(), script, TITLE) as server:
            env = environ_of(folder, RAGFORGE_LLM__TIMEOUT_SECONDS="1")
            words = ["ragforge", "ask", "--json", question]
            running = Running(words, project, with_model(env, server))
            code = await running.end(seconds=240)
            heard = bool(server.asked_in_turns)
        line = f"{folder.name}: {script} ended with {code}"
        counts.note_errors(running.printed + running.errors, line)
        if code not in GOOD_ENDS:
            counts.problems.append(f"{line}: {running.errors[-300:]}")
        if heard:
            acknowledged.append(question)
        if code == 0:
            said = json.loads(running.printed)
            if said["model"] and WORDS not in said["content"]:
                counts.wrong_answers += 1
                counts.problems.append(f"{line}, and gave {said['content']!r} for an answer")
            acknowledged.append(said["content"])
    kept = await look_for(folder / "store.db", acknowledged)
    counts.acknowledged = len(acknowledged)
    counts.lost, counts.doubled = len(kept.lost), len(kept.doubled)
    counts.problems += kept.problems
    return counts


def make_step(chance: random.Random) -> Step:
    """Return one thing that the provider does."""
    good = Says(WORDS)
    looks = Says("I look.", calls=(Call("list_files", {}),))
    return chance.choice(
        [
            good,
            looks,
            Fails(chance.choice([500, 502, 503, 529]), headers={"retry-after": "0"}),
            Fails(429, headers={"retry-after": "0"}),
            Breaks(chance.choice([good, looks]), after=chance.randint(0, 12)),
            Garbles(),
            Garbles(b""),
            Garbles(b"<html>Bad gateway</html>"),
            Garbles(b'data: {"choices": "none"}\n\ndata: [DONE]\n\n'),
            Garbles(b"data: [1, 2\n\n\xff\xfe\x00"),
            Dawdles(good, seconds=3),
        ]
    )
