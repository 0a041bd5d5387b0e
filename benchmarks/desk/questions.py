"""Questions: is the turn found that answers a question in other words?

The questions are in `benchmarks/questions/desk.jsonl`: one JSON object a line with the session, the
message that opens the turn, a hash of its prompt, the question and a short answer. They are asked
of the whole history. `dev` is for choosing, `held` for reports.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.desk import controls, scores
from benchmarks.desk.controls import Bm25
from benchmarks.desk.deeds import Turn
from benchmarks.desk.labels import History
from benchmarks.desk.replay import CutOff, Desk
from benchmarks.desk.scores import Row
from benchmarks.desk.ways import name_stored
from ragforge.app import App
from ragforge.context.build import ContextOptions

FILE = Path(__file__).parents[1] / "questions" / "desk.jsonl"
HALVES = ("dev", "held")
DEPTH = 20
METRICS = ("R@1", "R@5", "R@20", "MRR", "session@5", "gold words")
SIZES = (4_000, 7_230)
"""Characters of the contexts in which the gold answer's words are looked for."""
WORDS_OF = 5
"""How many of the first turns are searched for the words of the gold answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the turn that answers it, and the answer."""

    half: str
    session: str
    message: str
    prompt: str  # a hash
    question: str
    gold: str


def read_questions(turns: Sequence[Turn], file: Path = FILE) -> list[Question]:
    """Return the questions whose turn is in the history, and is the one they were written for."""
    hashes = {turn.id: hash_prompt(turn) for turn in turns}
    rows = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    some = [Question(**row) for row in rows]
    return [one for one in some if hashes.get(one.message) == one.prompt]


def hash_prompt(turn: Turn) -> str:
    return hashlib.sha256(turn.prompt.encode()).hexdigest()[:12]


async def ask_questions(desk: Desk, history: History, end: CutOff) -> dict[str, dict[str, Row]]:
    """Return way → question → scores."""
    questions = read_questions(history.turns)
    said, done = Bm25(), Bm25()
    said.add((turn.id, controls.tell_said(turn)) for turn in history.turns)
    done.add((turn.id, controls.tell_all(turn)) for turn in history.turns)
    by_stored = {name_stored(turn.id): turn.id for turn in history.turns}
    known = {turn.id: turn for turn in history.turns}
    rows: dict[str, dict[str, Row]] = {}
    desk.show(end.commit)
    async with desk.open(desk.find_store(end)) as app:
        for one in questions:
            found = {
                "memory search": await search(app, one.question, by_stored),
                "BM25": said.search(one.question, DEPTH),
                "BM25, edited lines indexed": done.search(one.question, DEPTH),
            }
            for way, ids in found.items():
                rows.setdefault(way, {})[one.question] = score(one, ids, known)
            for chars in SIZES:
                options = ContextOptions(max_chars=chars)
                built = await app.build_context(one.question, options, app.sessions.make_new())
                whole = (controls.tell_said(known[id_]) for id_ in found["BM25"])
                texts = {
                    f"context, {chars:,} characters": built.text,
                    f"BM25, whole turns, {chars:,}": "\n\n".join(controls.fill(whole, chars)),
                }
                for way, text in texts.items():
                    row: Row = {**dict.fromkeys(METRICS), "gold words": hold_gold(one, text)}
                    rows.setdefault(way, {})[one.question] = row
    return rows


async def search(app: App, question: str, by_stored: Mapping[str, str]) -> list[str]:
    hits: Sequence[Any] = await app.memory.search(
        question, max_results=DEPTH, levels=(0,), include_notes=False
    )
    return [by_stored.get(hit.turn.uuid, "") for hit in hits]


def score(one: Question, ids: Sequence[str], known: Mapping[str, Turn]) -> Row:
    rank = ids.index(one.message) + 1 if one.message in ids else None
    turns = [known[id_] for id_ in ids[:WORDS_OF] if id_ in known]
    text = " ".join(controls.show_turn(turn, 1_200) for turn in turns)
    return {
        **{f"R@{depth}": float(rank is not None and rank <= depth) for depth in (1, 5, 20)},
        "MRR": 1 / rank if rank else 0.0,
        "session@5": float(any(turn.session == one.session for turn in turns)),
        "gold words": hold_gold(one, text),
        "rank": float(rank or 0),
    }


def hold_gold(one: Question, text: str) -> float:
    """Return the share of the gold answer's words that a text holds."""
    wanted = _count_words(one.gold)
    return len(wanted & _count_words(text)) / len(wanted)


def _count_words(text: str) -> set[str]:
    return {word for word in controls.split_words(text) if len(word) > 2}


def report(rows: Mapping[str, Mapping[str, Row]], history: History) -> dict[str, Any]:
    """Print the tables of both halves and return them."""
    halves = {one.question: one.half for one in read_questions(history.turns)}
    results: dict[str, Any] = {"questions": dict(Counter(halves.values()))}
    for half in HALVES:
        table = {
            way: scores.summarise(some, METRICS, lambda one, half=half: halves[one] == half)
            for way, some in rows.items()
        }
        scores.print_table(f"questions, {half}", table)
        results[half] = table
    return results


def print_misses(rows: Mapping[str, Mapping[str, Row]], history: History) -> None:
    """Print the questions for choosing whose turn is not among the first five."""
    known = {turn.id: turn for turn in history.turns}
    for one in read_questions(history.turns):
        ranks = {
            way: int(some[one.question]["rank"] or 0)
            for way, some in rows.items()
            if "rank" in some[one.question]
        }
        if one.half == "dev" and not 1 <= ranks["memory search"] <= 5:
            prompt = " ".join(known[one.message].prompt.split())[:120]
            print(f"{one.question}\n    {ranks}\n    {prompt}")
