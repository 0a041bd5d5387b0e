"""Silence: do prompts that deserve nothing get nothing?

The prompts are in `benchmarks/questions/desk_silence.jsonl`: small talk, approvals, git and CI
commands, general knowledge and questions about other projects, in four languages. They are asked at
three moments of the history, in a separate session.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.desk import scores
from benchmarks.desk.replay import CutOff, Desk
from benchmarks.desk.scores import Row
from benchmarks.desk.ways import make_hook_settings
from ragforge.app import App
from ragforge.app.hook.call import HookCall
from ragforge.app.hook.context import find_context
from ragforge.domain.conversations import MemoryFilter
from ragforge.memory.search.combined import find_relevant_history
from ragforge.transcripts.claude_code import CLAUDE_CODE

FILE = Path(__file__).parents[1] / "questions" / "desk_silence.jsonl"
SESSION = "00000000-0000-4000-8000-000000000000"
METRICS = ("hook", "hook chars", "memory", "code", "documents")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that deserves nothing."""

    half: str
    language: str
    kind: str
    prompt: str


def read_prompts(file: Path = FILE) -> list[Prompt]:
    return [Prompt(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


async def ask_silence(desk: Desk, cuts: Sequence[CutOff]) -> dict[str, dict[str, Row]]:
    """Return prompt → scores for each cut-off."""
    found = {}
    for cut in cuts:
        desk.show(cut.commit)
        async with desk.open(desk.find_store(cut)) as app:
            found[cut.moment] = {
                one.prompt: await ask(desk, app, cut, one.prompt) for one in read_prompts()
            }
    return found


async def ask(desk: Desk, app: App, cut: CutOff, prompt: str) -> Row:
    """Return what a prompt gets: 1 where it gets anything."""
    call = HookCall(CLAUDE_CODE.name, "UserPromptSubmit", SESSION, "", str(desk.tree), prompt)
    text = await find_context(call, make_hook_settings(desk, desk.find_store(cut)))
    where = MemoryFilter(project_ids=app.project.ids)
    said = await find_relevant_history(app.recall, prompt, where)
    code = await app.brain.find_relevant_code(prompt)
    documents = await app.brain.search_documents(prompt, app.cwd, relevant_only=True)
    return {
        "hook": float(bool(text)),
        "hook chars": float(len(text)),
        "memory": float(bool(said.hits)),
        "code": float(bool(code.hits)),
        "documents": float(bool(documents)),
    }


def report(found: Mapping[str, Mapping[str, Row]]) -> dict[str, Any]:
    """Print the shares of prompts that get anything, and return them."""
    prompts = {one.prompt: one for one in read_prompts()}
    groups: dict[str, list[Row]] = defaultdict(list)
    for moment, rows in found.items():
        for prompt, row in rows.items():
            one = prompts[prompt]
            for name in (one.half, one.kind, one.language, f"at {moment[:10]}"):
                groups[name].append(row)
    table = {
        name: scores.summarise({str(n): row for n, row in enumerate(rows)}, METRICS)
        for name, rows in sorted(groups.items())
    }
    scores.print_table("silence: the share of prompts that get anything", table)
    return table


def print_misses(found: Mapping[str, Mapping[str, Row]]) -> None:
    """Print the prompts for choosing that get anything at the last moment."""
    rows = list(found.values())[-1]
    for one in read_prompts():
        got = [name for name in ("hook", "memory", "code", "documents") if rows[one.prompt][name]]
        if got and one.half == "dev":
            print(f"{one.language} {one.kind}: {one.prompt}: {', '.join(got)}")
